/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM controller that looks at everything in every cycle. */
#include "tests/support/hbm_ticking.h"

#include <string.h>

void ticking_init(struct ticking *ticking, const struct mem_spec *mem) {
  memset(ticking, 0, sizeof *ticking);
  ticking->mem = mem;
  hbm_checker_init(&ticking->checker, mem);
}

static bool is_write(const struct ticking_request *request) {
  return request->column.kind == HBM_WRITE;
}

static unsigned queued(const struct ticking *ticking, bool write) {
  unsigned count = 0;
  for (unsigned i = 0; i < ticking->request_count; i++)
    count += !ticking->request[i].opened && is_write(&ticking->request[i]) == write;
  return count;
}

static bool same_burst(const struct hbm_command *a, const struct hbm_command *b) {
  return a->pseudo == b->pseudo && a->group == b->group && a->bank == b->bank && a->row == b->row &&
         a->column == b->column;
}

bool ticking_offer(struct ticking *ticking, const struct hbm_place *place, bool write,
                   uint64_t cycle) {
  struct ticking_request request = {
      .column = {.kind = write ? HBM_WRITE : HBM_READ,
                 .pseudo = (uint8_t)(place->channel % (uint32_t)ticking->mem->pseudo_channels),
                 .group = place->group,
                 .bank = place->bank,
                 .row = place->row,
                 .column = place->column},
      .offered = cycle,
  };
  for (unsigned i = 0; i < ticking->request_count; i++) {
    const struct ticking_request *other = &ticking->request[i];
    if (is_write(other) && !other->opened && same_burst(&other->column, &request.column))
      return true;
  }
  uint64_t depth = (uint64_t)(write ? ticking->mem->write_queue : ticking->mem->read_queue);
  if (queued(ticking, write) == depth)
    return false;
  ticking->request[ticking->request_count++] = request;
  return true;
}

static const struct checked_bank *bank_of(const struct ticking *ticking,
                                          const struct ticking_request *request) {
  const struct hbm_command *column = &request->column;
  return &ticking->checker.pseudo[column->pseudo].group[column->group].bank[column->bank];
}

static bool hits(const struct ticking *ticking, const struct ticking_request *request) {
  const struct checked_bank *bank = bank_of(ticking, request);
  return bank->open && bank->row == request->column.row;
}

static int64_t *hit_run_of(struct ticking *ticking, const struct hbm_command *command) {
  return &ticking->hit_run[command->pseudo][command->group][command->bank];
}

static void issue(struct ticking *ticking, const struct hbm_command *command) {
  if (command->kind == HBM_ACT)
    *hit_run_of(ticking, command) = 0;
  *hit_run_of(ticking, command) += command->kind == HBM_READ || command->kind == HBM_WRITE;
  hbm_checker_add(&ticking->checker, command);
  if (ticking->command)
    ticking->command(ticking->context, command);
}

static void remove_request(struct ticking *ticking, unsigned at) {
  ticking->request_count--;
  memmove(&ticking->request[at], &ticking->request[at + 1],
          (ticking->request_count - at) * sizeof ticking->request[0]);
}

static void take_turn(struct ticking *ticking) {
  uint64_t depth = (uint64_t)ticking->mem->write_queue, scale = 1000000;
  uint64_t writes = queued(ticking, true), reads = queued(ticking, false);
  if (!ticking->draining)
    ticking->draining = writes * scale > depth * (uint64_t)ticking->mem->drain_high || reads == 0;
  else
    ticking->draining = !(writes * scale < depth * (uint64_t)ticking->mem->drain_low && reads != 0);
}

static bool in_turn(const struct ticking *ticking, const struct ticking_request *request) {
  return !request->opened && is_write(request) == ticking->draining;
}

/* The order of requests whose row was opened for them: offer, then ACT. */
static bool goes_before(const struct ticking_request *a, const struct ticking_request *b) {
  return a->offered != b->offered ? a->offered < b->offered : a->opened < b->opened;
}

static void tick_column(struct ticking *ticking, uint64_t cycle) {
  unsigned best = TICKING_REQUESTS;
  for (unsigned i = 0; i < ticking->request_count; i++) {
    struct ticking_request *request = &ticking->request[i];
    request->column.cycle = cycle;
    if (request->opened && hbm_checker_test(&ticking->checker, &request->column) == 0 &&
        (best == TICKING_REQUESTS || goes_before(request, &ticking->request[best])))
      best = i;
  }
  if (best == TICKING_REQUESTS && !ticking->refreshes_due) {
    take_turn(ticking);
    for (unsigned i = 0; i < ticking->request_count && best == TICKING_REQUESTS; i++) {
      struct ticking_request *request = &ticking->request[i];
      if (in_turn(ticking, request) && hits(ticking, request) &&
          hbm_checker_test(&ticking->checker, &request->column) == 0)
        best = i;
    }
  }
  if (best == TICKING_REQUESTS)
    return;
  struct hbm_command command = ticking->request[best].column;
  remove_request(ticking, best);
  issue(ticking, &command);
}

static bool same_bank(const struct ticking_request *a, const struct ticking_request *b) {
  return a->column.pseudo == b->column.pseudo && a->column.group == b->column.group &&
         a->column.bank == b->column.bank;
}

/* Whether a request may close the open row of its bank, were timing the only matter. */
static bool may_close(struct ticking *ticking, const struct ticking_request *request) {
  int64_t cap = ticking->mem->row_hit_cap;
  bool capped = cap > 0 && *hit_run_of(ticking, &request->column) >= cap;
  for (unsigned i = 0; i < ticking->request_count; i++) {
    const struct ticking_request *other = &ticking->request[i];
    if (!same_bank(request, other))
      continue;
    if (other->opened)
      return false;
    if (ticking->mem->protect_row_hits && !capped && in_turn(ticking, other) &&
        hits(ticking, other) && other->offered <= request->offered)
      return false;
  }
  return true;
}

static void tick_refresh(struct ticking *ticking, uint64_t cycle) {
  unsigned pseudos = (unsigned)ticking->mem->pseudo_channels;
  unsigned pseudo = (pseudos - ticking->refreshes_due % pseudos) % pseudos;
  struct hbm_command command = {.cycle = cycle, .kind = HBM_REFRESH, .pseudo = (uint8_t)pseudo};
  for (unsigned g = 0; g < CHECKER_GROUPS; g++)
    for (unsigned b = 0; b < CHECKER_BANKS; b++)
      if (ticking->checker.pseudo[pseudo].group[g].bank[b].open)
        command.kind = HBM_PRE_ALL;
  for (unsigned i = 0; i < ticking->request_count; i++)
    if (ticking->request[i].opened && ticking->request[i].column.pseudo == pseudo)
      return;
  if (hbm_checker_test(&ticking->checker, &command) != 0)
    return;
  issue(ticking, &command);
  ticking->refreshes_due -= command.kind == HBM_REFRESH;
}

static void tick_row(struct ticking *ticking, uint64_t cycle) {
  if (ticking->refreshes_due) {
    tick_refresh(ticking, cycle);
    return;
  }
  take_turn(ticking);
  for (unsigned i = 0; i < ticking->request_count; i++) {
    struct ticking_request *request = &ticking->request[i];
    if (!in_turn(ticking, request) || hits(ticking, request))
      continue;
    struct hbm_command command = request->column;
    command.cycle = cycle;
    command.column = 0;
    command.kind = bank_of(ticking, request)->open ? HBM_PRE : HBM_ACT;
    if (command.kind == HBM_PRE && !may_close(ticking, request))
      continue;
    if (hbm_checker_test(&ticking->checker, &command) != 0)
      continue;
    if (command.kind == HBM_ACT)
      request->opened = ++ticking->acts;
    else
      command.row = bank_of(ticking, request)->row;
    issue(ticking, &command);
    return;
  }
}

void ticking_tick(struct ticking *ticking, uint64_t cycle) {
  uint64_t refi = (uint64_t)ticking->mem->refi_cycles;
  if (refi > 0 && cycle % refi == 0)
    ticking->refreshes_due += (unsigned)ticking->mem->pseudo_channels;
  tick_column(ticking, cycle);
  tick_row(ticking, cycle);
}
