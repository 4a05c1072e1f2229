/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerates the bytes that an instruction touches. */
#include "core/chip/layout.h"
#include "core/isa/inst.h"

enum { LANE_WORD_BITS = 64, BITS_OF_BYTE = 8 };

/* Brings levels to a form without single turns and without runs that adjoin. */
static void normalize(struct inst_runs *runs) {
  struct inst_level kept[INST_LEVELS];
  unsigned count = 0;
  for (unsigned i = INST_LEVELS; i-- > 0;) {
    struct inst_level level = runs->level[i];
    if (level.count <= 1 || level.stride_bytes == 0)
      continue;
    if (count == 0 && level.stride_bytes == runs->bytes)
      runs->bytes *= level.count;
    else
      kept[count++] = level; /* innermost first */
  }
  for (unsigned i = 0; i < INST_LEVELS; i++)
    runs->level[i] = i < count ? kept[i] : (struct inst_level){.count = 1};
}

void inst_join_runs(struct inst_access *access) {
  const struct inst_runs *runs = &access->runs;
  if (runs->bytes == 0 || runs->lane_bits != 0 || runs->offset != 0)
    return;
  uint64_t bytes = runs->bytes;
  for (unsigned i = INST_LEVELS; i-- > 0;) {
    struct inst_level level = runs->level[i];
    if (level.count <= 1 || level.stride_bytes == 0)
      continue;
    if (level.stride_bytes != bytes)
      return;
    bytes *= level.count;
  }
  if (bytes == access->bytes)
    access->runs.bytes = 0;
}

bool inst_runs_are_apart(const struct inst_access *access) {
  uint64_t span = access->runs.bytes;
  for (unsigned i = INST_LEVELS; i-- > 0 && span > 0;) {
    struct inst_level level = access->runs.level[i];
    if (level.count <= 1)
      continue;
    if (level.stride_bytes < span)
      return false;
    span += (level.count - 1) * level.stride_bytes;
  }
  return true;
}

static bool each_strided(struct inst_runs runs, int64_t address, inst_run_fn each, void *context) {
  normalize(&runs);
  address += (int64_t)runs.offset;
  for (uint64_t k = 0; k < runs.level[2].count; k++)
    for (uint64_t j = 0; j < runs.level[1].count; j++)
      for (uint64_t i = 0; i < runs.level[0].count; i++) {
        uint64_t at = k * runs.level[2].stride_bytes + j * runs.level[1].stride_bytes +
                      i * runs.level[0].stride_bytes;
        if (!each(context, address + (int64_t)at, runs.bytes))
          return false;
      }
  return true;
}

static bool lane_is_set(const struct inst_runs *runs, uint64_t lane, uint64_t end) {
  return lane < end && lane < LANE_WORD_BITS * INST_LANE_WORDS
             ? runs->lanes[lane / LANE_WORD_BITS] >> lane % LANE_WORD_BITS & 1
             : lane < end;
}

/* The runs of one block of one repeat: lanes from `lane` on. */
static bool each_of_block(const struct inst_runs *runs, int64_t address, uint64_t lane,
                          uint64_t end, inst_run_fn each, void *context) {
  uint64_t per_block = (uint64_t)BLOCK_BYTES * BITS_OF_BYTE / runs->lane_bits;
  for (uint64_t first = 0; first < per_block;) {
    if (!lane_is_set(runs, lane + first, end)) {
      first++;
      continue;
    }
    uint64_t last = first;
    while (last < per_block && lane_is_set(runs, lane + last, end))
      last++;
    uint64_t start = first * runs->lane_bits / BITS_OF_BYTE;
    uint64_t stop = (last * runs->lane_bits + BITS_OF_BYTE - 1) / BITS_OF_BYTE;
    if (!each(context, address + (int64_t)start, stop - start))
      return false;
    first = last;
  }
  return true;
}

static bool each_lane(const struct inst_runs *runs, int64_t address, inst_run_fn each,
                      void *context) {
  uint64_t per_block = (uint64_t)BLOCK_BYTES * BITS_OF_BYTE / runs->lane_bits;
  struct inst_level repeats = runs->level[INST_LEVELS - 2];
  struct inst_level blocks = runs->level[INST_LEVELS - 1];
  uint64_t whole = runs->end ? runs->end : per_block * blocks.count;
  uint64_t tail = runs->tail;
  if (repeats.stride_bytes == 0 && repeats.count > 1) { /* the first repeat touches it all */
    repeats.count = 1;
    tail = 0;
  }
  for (uint64_t r = 0; r < repeats.count; r++) {
    uint64_t end = tail && r == repeats.count - 1 ? tail : whole;
    for (uint64_t b = 0; b < blocks.count; b++) {
      uint64_t at = r * repeats.stride_bytes + b * blocks.stride_bytes;
      if (!each_of_block(runs, address + (int64_t)at, b * per_block, end, each, context))
        return false;
    }
  }
  return true;
}

bool inst_each_run(const struct inst_access *access, inst_run_fn each, void *context) {
  if (access->bytes == 0)
    return true;
  if (access->runs.bytes == 0)
    return each(context, access->address, access->bytes);
  if (access->runs.lane_bits == 0)
    return each_strided(access->runs, access->address, each, context);
  /* The hull begins at the first block that is touched; lanes count from the operand on. */
  return each_lane(&access->runs, access->address - (int64_t)access->runs.offset, each, context);
}
