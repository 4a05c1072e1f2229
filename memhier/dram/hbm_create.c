/* SPDX-License-Identifier: Apache-2.0 */
/* Creation of a DRAM controller: timing parameters become distances between commands. */
#include "memhier/dram/hbm_state.h"

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

#define T(name) ((uint32_t)mem->name##_cycles)
#define LATE (T(act_bus) - 1)

static struct hbm_distances make_distances(const struct mem_spec *mem) {
  return (struct hbm_distances){
#define RULE(level, before, after, cycles) .level##_##before##_##after = cycles,
#define WINDOW(level, command, count, cycles) .level##_##command##_window = cycles,
#include "memhier/dram/hbm_rules.def"
#undef RULE
#undef WINDOW
      .column_end = {T(cl) + T(burst), T(cwl) + T(burst)},
      .act_bus = T(act_bus),
  };
}

/* To see whether a channel is idle takes about as long as a few refreshes. */
enum { LONG_IDLE_PERIODS = 16 };

static uint32_t log2_of(int64_t value) { return (uint32_t)__builtin_ctzll((uint64_t)value); }

/* Thresholds in whole writes: above and below are strict. */
static void set_drain_marks(struct hbm_channel *channel, const struct mem_spec *mem) {
  uint64_t ppm = (uint64_t)soc_kind_scale(SOC_KIND_RATIO);
  uint64_t depth = (uint64_t)mem->write_queue;
  channel->drain_above = (uint32_t)((uint64_t)mem->drain_high * depth / ppm);
  channel->drain_below = (uint32_t)(((uint64_t)mem->drain_low * depth + ppm - 1) / ppm);
  if (channel->drain_below == 0) /* at the latest when there is no write left */
    channel->drain_below = 1;
}

struct hbm_channel *hbm_channel_create(struct arena *arena, const struct mem_spec *mem,
                                       struct hbm_hooks hooks) {
  /* Arenas know nothing of lines of the host's cache. */
  char *room = ARENA_ARRAY(arena, char, sizeof(struct hbm_channel) + HBM_CACHE_LINE);
  if (!room)
    return NULL;
  room += HBM_CACHE_LINE - (uintptr_t)room % HBM_CACHE_LINE;
  struct hbm_channel *channel = (struct hbm_channel *)(void *)room;
  int64_t banks = mem->groups * mem->banks_per_group;
  channel->distance = make_distances(mem);
  channel->hooks = hooks;
  channel->pseudos = (uint32_t)mem->pseudo_channels;
  channel->groups = (uint32_t)mem->groups;
  channel->bank_shift = log2_of(mem->banks_per_group);
  channel->pseudo_shift = log2_of(banks);
  channel->pseudo_banks = (uint32_t)((UINT64_C(1) << banks) - 1);
  channel->depth[HBM_R] = (uint32_t)mem->read_queue;
  channel->depth[HBM_W] = (uint32_t)mem->write_queue;
  channel->protect_row_hits = mem->protect_row_hits != 0;
  channel->row_hit_cap = (uint32_t)mem->row_hit_cap;
  channel->plain_protection = channel->protect_row_hits && channel->row_hit_cap == 0;
  channel->streaks = channel->plain_protection && channel->pseudos == 1 && !hooks.command;
  set_drain_marks(channel, mem);
  channel->refi = (uint32_t)mem->refi_cycles;
  channel->refresh_due = channel->refi ? channel->refi : HBM_NEVER;
  channel->long_idle_cycles =
      channel->refi ? (uint64_t)LONG_IDLE_PERIODS * channel->refi : HBM_NEVER;
  channel->cycle = 1;
  channel->next = channel->refresh_due;
  channel->column = channel->row = (struct hbm_choice){HBM_NEVER, UINT64_MAX};
  channel->active_from = HBM_NEVER;
  channel->grows_at = HBM_GROWS_NOT;
  channel->turn_due = true; /* no read waits */
  for (unsigned d = 0; d < HBM_DIRECTIONS; d++) {
    struct hbm_hits *hits = &channel->by_order[d];
    hits->next[HBM_HITS_END] = hits->previous[HBM_HITS_END] = HBM_HITS_END;
    for (unsigned b = 0; b < HBM_BANKS_MAX; b++)
      channel->bank[b].list[d] = (struct hbm_list){HBM_NONE, HBM_NONE, HBM_NONE};
  }
  for (unsigned i = 0; i < HBM_RUNS_MAX; i++)
    channel->free_runs[i] = (uint16_t)i;
  channel->free_count = HBM_RUNS_MAX;
  return channel;
}
