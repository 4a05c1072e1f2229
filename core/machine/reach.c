/* SPDX-License-Identifier: Apache-2.0 */
#include "core/machine/reach.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum {
  INDICES_MAX = 128,
  WORDS_MAX = 4, /* subbanks that a block of 32 bytes takes */
  SUBBANKS_MAX = 256,
  NONE = UINT16_MAX
};

/* Rows by subbank, each once. */
struct rows {
  uint64_t row[INDICES_MAX * WORDS_MAX];
  uint16_t next[INDICES_MAX * WORDS_MAX];
  uint16_t first[SUBBANKS_MAX];
  uint16_t count[SUBBANKS_MAX];
  unsigned used;
};

static uint32_t add_row(struct rows *rows, unsigned subbank, uint64_t row) {
  for (uint16_t i = rows->first[subbank]; i != NONE; i = rows->next[i])
    if (rows->row[i] == row)
      return 0;
  rows->row[rows->used] = row;
  rows->next[rows->used] = rows->first[subbank];
  rows->first[subbank] = (uint16_t)rows->used++;
  return ++rows->count[subbank];
}

/* Of a chip whose map is not known: 0. */
static unsigned subbanks_of(const struct vinci_soc *soc) {
  int64_t banks = soc->ub_bank_groups * soc->ub_banks_per_group;
  return soc->vf_subbank_bytes > 0
             ? (unsigned)min_u64((uint64_t)(banks * soc->ub_row_bytes / soc->vf_subbank_bytes),
                                 SUBBANKS_MAX)
             : 0;
}

static uint32_t take(struct rows *rows, const struct vinci_soc *soc, unsigned subbanks,
                     uint64_t from, unsigned bytes) {
  uint64_t width = (uint64_t)soc->vf_subbank_bytes, end = (from + bytes - 1) / width;
  uint32_t most = 0;
  for (uint64_t word = from / width; word <= end && rows->used < INDICES_MAX * WORDS_MAX; word++)
    most = (uint32_t)max_u64(most, add_row(rows, (unsigned)(word % subbanks), word / subbanks));
  return most;
}

struct reach reach_of(const struct vinci_soc *soc, const struct reach_indices *indices) {
  struct reach reach = {.first = UINT64_MAX, .turns = 1};
  unsigned subbanks = subbanks_of(soc);
  struct rows rows = {.used = 0};
  for (unsigned i = 0; i < subbanks; i++)
    rows.first[i] = NONE;
  for (unsigned i = 0; i < indices->count; i++) {
    unsigned byte = i * indices->index_bytes;
    if (!(indices->mask[byte / 64] >> (byte % 64) & 1))
      continue;
    uint64_t index = load_low(indices->index + byte, indices->index_bytes);
    uint64_t from = indices->base + index * indices->unit_bytes;
    reach.first = min_u64(reach.first, index);
    reach.last = max_u64(reach.last, index);
    if (subbanks > 0)
      reach.turns =
          (uint32_t)max_u64(reach.turns, take(&rows, soc, subbanks, from, indices->bytes));
  }
  reach.first = min_u64(reach.first, reach.last);
  return reach;
}
