/* SPDX-License-Identifier: Apache-2.0 */
/* Signals between cores: groups and counters. */
#include "core/control/signals.h"

#include <string.h>

bool signals_create(struct signals *signals, struct arena *arena,
                    const struct placement *placement) {
  uint32_t cores = placement->core_count;
  signals->placement = placement;
  signals->flags = signals_flags(placement->soc);
  signals->limit = (uint32_t)placement->soc->cross_core_sets_max;
  signals->counts = ARENA_ARRAY(arena, struct signal_counts, (size_t)cores * signals->flags);
  signals->cores = ARENA_ARRAY(arena, uint32_t, cores);
  return signals->counts && signals->cores;
}

void signals_start_block(struct signals *signals, uint32_t core) {
  if (signals->flags > 0)
    memset(signals_at(signals, core, 0), 0, signals->flags * sizeof *signals->counts);
}

uint32_t signals_needed(const struct signals *signals, enum core_kind kind) {
  const struct program_kernel *kernel = signals->placement->kernel;
  return kernel->blocks * (kernel->mixed && kind == CORE_AIV ? kernel->vectors_per_cube : 1);
}

/* Lists the cores of a kind that have signalled an id in mode 0. */
static uint32_t list_waiting(const struct signals *signals, enum core_kind kind, uint32_t id,
                             uint32_t *list) {
  const struct placement *placement = signals->placement;
  uint32_t count = 0;
  for (uint32_t i = 0; i < placement->kind_count[kind]; i++) {
    uint32_t core = placement->first_core[kind] + i;
    if (signals_at(signals, core, id)->sent[CROSS_ALL] > 0)
      list[count++] = core;
  }
  return count;
}

/* Lists the cores of a kind in the block of a core. */
static uint32_t group(const struct signals *signals, uint32_t core, enum core_kind kind,
                      const uint32_t **list) {
  const struct placement *placement = signals->placement;
  const struct placement_unit *unit = &placement->units[placement->unit_of[core]];
  *list = kind == CORE_AIC ? unit->core : unit->core + 1;
  return kind == CORE_AIC ? 1 : unit->core_count - 1;
}

static bool refuse(struct misuse *misuse, enum misuse_kind kind, uint32_t mode, uint32_t id,
                   int64_t limit) {
  *misuse = (struct misuse){.kind = kind, .mode = mode, .id = id, .limit = limit};
  return false;
}

/* Between the AIC and one AIV: nobody else has to signal. */
static bool give_one(const struct signals *signals, uint32_t core, uint32_t id,
                     struct signal_delivery *delivery, struct misuse *misuse) {
  const struct placement *placement = signals->placement;
  const struct placement_unit *unit = &placement->units[placement->unit_of[core]];
  uint32_t from = 0, to = 0, behind = 0; /* places in the unit */
  while (unit->core[from] != core)
    from++;
  if (from == 0) {
    to = 1 + id / CROSS_SECOND;
    id %= CROSS_SECOND;
  } else {
    behind = (from - 1) * CROSS_SECOND;
  }
  if (to >= unit->core_count || (from > 0 && id >= CROSS_SECOND))
    return refuse(misuse, MISUSE_CROSS_NO_PARTNER, CROSS_ONE,
                  signals_id(placement->soc, delivery->flag), 0);
  delivery->arrives = signals_flag(placement->soc, CROSS_ONE, id + behind);
  delivery->senders = &unit->core[from];
  delivery->receivers = &unit->core[to];
  delivery->sender_count = delivery->receiver_count = 1;
  return true;
}

bool signals_give(struct signals *signals, uint32_t core, enum cross_mode mode, uint32_t id,
                  struct signal_delivery *delivery, struct misuse *misuse) {
  enum core_kind kind = placement_kind(signals->placement, core);
  uint32_t flag = signals_flag(signals->placement->soc, mode, id);
  uint32_t *sent = &signals_at(signals, core, flag)->sent[mode];
  *delivery = (struct signal_delivery){.flag = flag, .arrives = flag, .mode = mode};
  if (mode != CROSS_ALL && !signals->placement->kernel->mixed)
    return refuse(misuse, MISUSE_CROSS_NOT_MIXED, mode, id, 0);
  if (mode == CROSS_ONE)
    return give_one(signals, core, id, delivery, misuse);
  if (mode == CROSS_PAIR && kind == CORE_AIC)
    return refuse(misuse, MISUSE_CROSS_AIC_PAIR, mode, id, 0);
  if (*sent == signals->limit)
    return refuse(misuse, MISUSE_CROSS_AHEAD, mode, id, *sent);
  ++*sent;
  if (mode == CROSS_ALL) {
    delivery->senders = signals->cores;
    delivery->sender_count = list_waiting(signals, kind, id, signals->cores);
    if (delivery->sender_count < signals_needed(signals, kind))
      return true;
  } else {
    delivery->sender_count = group(signals, core, kind, &delivery->senders);
  }
  for (uint32_t i = 0; i < delivery->sender_count; i++)
    if (signals_at(signals, delivery->senders[i], id)->sent[mode] == 0)
      return true;
  for (uint32_t i = 0; i < delivery->sender_count; i++)
    signals_at(signals, delivery->senders[i], id)->sent[mode]--;
  if (mode == CROSS_BLOCK)
    kind = kind == CORE_AIC ? CORE_AIV : CORE_AIC;
  delivery->receivers = delivery->senders;
  delivery->receiver_count =
      mode == CROSS_ALL ? delivery->sender_count : group(signals, core, kind, &delivery->receivers);
  return true;
}

bool signals_arrive(struct signals *signals, uint32_t core, uint32_t flag, struct misuse *misuse) {
  uint32_t *arrived = &signals_at(signals, core, flag)->arrived;
  const struct vinci_soc *soc = signals->placement->soc;
  if (*arrived == signals->limit)
    return refuse(misuse, MISUSE_CROSS_UNTAKEN, signals_is_one(soc, flag) ? CROSS_ONE : 0,
                  signals_id(soc, flag), *arrived);
  ++*arrived;
  return true;
}

uint32_t signals_waiting(const struct signals *signals, enum core_kind kind, uint32_t id) {
  const struct placement *placement = signals->placement;
  uint32_t waiting = 0;
  for (uint32_t i = 0; i < placement->kind_count[kind]; i++)
    waiting += signals_at(signals, placement->first_core[kind] + i, id)->sent[CROSS_ALL] > 0;
  return waiting;
}
