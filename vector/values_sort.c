/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of sorting: by descending score, equal scores in the order they came in (Ascend C
 * documentation, Sort32 and MrgSort). A NaN comes before all numbers. Entries have 8 bytes: the
 * score, of fp16 in the low half of its 4 bytes, then the index.
 */
#include "vector/math.h"
#include "vector/values.h"

enum { INDEX_AT = 4 };

static bool goes_before(float a, float b) { return a > b || (a != a && b == b); }

static float score_at(enum dtype type, const uint8_t *bytes) {
  return type == DTYPE_FP16 ? fp16_to_fp32(load_u16(bytes)) : load_fp32(bytes);
}

/* Stable, by insertion: the order of up to 32 scores that lie `step` bytes apart. */
static void find_order(enum dtype type, const uint8_t *scores, size_t step, unsigned count,
                       unsigned order[SORT_ELEMENTS]) {
  float keys[SORT_ELEMENTS];
  for (unsigned i = 0; i < count; i++) {
    float key = score_at(type, scores + i * step);
    unsigned at = i;
    for (; at > 0 && goes_before(key, keys[at - 1]); at--) {
      keys[at] = keys[at - 1];
      order[at] = order[at - 1];
    }
    keys[at] = key;
    order[at] = i;
  }
}

static void sort_repeat(enum dtype type, const uint8_t *scores, const uint8_t *indices,
                        uint8_t *entries) {
  size_t element = dtype_bits(type) / BITS_PER_BYTE;
  unsigned order[SORT_ELEMENTS];
  find_order(type, scores, element, SORT_ELEMENTS, order);
  memset(entries, 0, SORT_ELEMENTS * SORT_ENTRY_BYTES);
  for (unsigned i = 0; i < SORT_ELEMENTS; i++) {
    uint8_t *entry = entries + (size_t)i * SORT_ENTRY_BYTES;
    memcpy(entry, scores + order[i] * element, element);
    memcpy(entry + INDEX_AT, indices + (size_t)order[i] * sizeof(uint32_t), sizeof(uint32_t));
  }
}

void vec_bitsort_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  (void)soc;
  uint8_t *ub = core->bytes[SPACE_UB];
  enum dtype type = inst_dtype(inst);
  size_t element = dtype_bits(type) / BITS_PER_BYTE;
  for (uint64_t repeat = 0; repeat < (uint64_t)inst->arg[BITSORT_REPEAT]; repeat++) {
    uint64_t first = repeat * SORT_ELEMENTS;
    uint8_t entries[SORT_ELEMENTS * SORT_ENTRY_BYTES];
    sort_repeat(type, ub + (uint64_t)inst->arg[BITSORT_SRC0] + first * element,
                ub + (uint64_t)inst->arg[BITSORT_SRC1] + first * sizeof(uint32_t), entries);
    memcpy(ub + (uint64_t)inst->arg[BITSORT_DST] + first * SORT_ENTRY_BYTES, entries,
           sizeof entries);
  }
}

struct merge {
  enum dtype type;
  size_t score_at; /* bytes into an entry */
  unsigned lists;
  bool stop; /* once a list is used up */
  const uint8_t *next[4];
  uint64_t left[4];
};

/* The list whose next entry comes first; the number of lists when there is none. */
static unsigned merge_choose(const struct merge *merge) {
  unsigned best = merge->lists;
  for (unsigned list = 0; list < merge->lists; list++) {
    if (merge->left[list] == 0) {
      if (merge->stop)
        return merge->lists;
      continue;
    }
    if (best == merge->lists ||
        goes_before(score_at(merge->type, merge->next[list] + merge->score_at),
                    score_at(merge->type, merge->next[best] + merge->score_at)))
      best = list;
  }
  return best;
}

/*
 * Entry by entry: lists and result may not overlap (Ascend C documentation, MrgSort), so that
 * nothing has to be held back.
 */
/* What was taken of each list, 16 bits each. */
static uint64_t entries_taken(const struct inst *inst, const struct merge *merge) {
  uint64_t taken = 0;
  for (unsigned list = 0; list < merge->lists; list++)
    taken |= ((uint64_t)inst->arg[MERGE_LENGTH0 + list] - merge->left[list]) << 16 * list;
  return taken;
}

void vec_merge_sort_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core) {
  uint8_t *ub = core->bytes[SPACE_UB];
  uint8_t *dst = ub + (uint64_t)inst->arg[MERGE_DST];
  unsigned lists = (unsigned)inst->arg[MERGE_LISTS];
  uint64_t entries = vec_merge_entries(inst);
  size_t entry_bytes = vec_entry_bytes(soc, inst);
  bool proposals = entry_bytes != SORT_ENTRY_BYTES;
  for (uint64_t repeat = 0; repeat < (uint64_t)inst->arg[MERGE_REPEAT]; repeat++) {
    struct merge merge = {.type = inst_dtype(inst),
                          .score_at =
                              proposals ? entry_bytes / PROPOSAL_ELEMENTS * PROPOSAL_SCORE : 0,
                          .lists = lists,
                          .stop = inst->arg[MERGE_STOP] != 0};
    uint64_t offset = repeat * entries * entry_bytes;
    for (unsigned list = 0; list < lists; list++) {
      merge.next[list] = ub + (uint64_t)inst->arg[MERGE_SRC0 + list] + offset;
      merge.left[list] = (uint64_t)inst->arg[MERGE_LENGTH0 + list];
    }
    uint8_t *to = dst + offset;
    for (unsigned list; (list = merge_choose(&merge)) < lists; to += entry_bytes) {
      memmove(to, merge.next[list], entry_bytes);
      merge.next[list] += entry_bytes;
      merge.left[list]--;
    }
    if (core->registers)
      core->registers->merged = entries_taken(inst, &merge);
  }
}

/* ---- region proposals ------------------------------------------------------------------------ */

void vec_proposal_sort_values(const struct vinci_soc *soc, const struct inst *inst,
                              struct value_core *core) {
  uint8_t *ub = core->bytes[SPACE_UB], sorted[PROPOSALS * PROPOSAL_ELEMENTS * sizeof(uint32_t)];
  enum dtype type = inst_dtype(inst);
  size_t bytes = vec_entry_bytes(soc, inst), score = bytes / PROPOSAL_ELEMENTS * PROPOSAL_SCORE;
  for (uint64_t repeat = 0; repeat < (uint64_t)inst->arg[PROPOSAL_REPEAT]; repeat++) {
    uint64_t at = repeat * PROPOSALS * bytes;
    const uint8_t *src = ub + (uint64_t)inst->arg[PROPOSAL_SRC] + at;
    unsigned order[SORT_ELEMENTS];
    find_order(type, src + score, bytes, PROPOSALS, order);
    for (unsigned i = 0; i < PROPOSALS; i++)
      memcpy(sorted + i * bytes, src + order[i] * bytes, bytes);
    memcpy(ub + (uint64_t)inst->arg[PROPOSAL_DST] + at, sorted, PROPOSALS * bytes);
  }
}

/* The elements of proposals on one side, and packed elements on the other. */
struct elements {
  uint8_t *field, *packed;
  size_t bytes;
  uint64_t count;
};

static struct elements elements_of(const struct inst *inst, struct value_core *core,
                                   unsigned proposals, unsigned packed) {
  size_t bytes = dtype_bits(inst_dtype(inst)) / BITS_PER_BYTE;
  uint8_t *ub = core->bytes[SPACE_UB];
  return (struct elements){.field = ub + (uint64_t)inst->arg[proposals] +
                                    (uint64_t)inst->arg[PROPOSAL_FIELD] * bytes,
                           .packed = ub + (uint64_t)inst->arg[packed],
                           .bytes = bytes,
                           .count = (uint64_t)inst->arg[PROPOSAL_REPEAT] * PROPOSALS};
}

void vec_concat_values(const struct vinci_soc *soc, const struct inst *inst,
                       struct value_core *core) {
  (void)soc;
  struct elements e = elements_of(inst, core, PROPOSAL_DST, PROPOSAL_SRC);
  for (uint64_t i = 0; i < e.count; i++)
    memcpy(e.field + i * PROPOSAL_ELEMENTS * e.bytes, e.packed + i * e.bytes, e.bytes);
}

void vec_extract_values(const struct vinci_soc *soc, const struct inst *inst,
                        struct value_core *core) {
  (void)soc;
  struct elements e = elements_of(inst, core, PROPOSAL_SRC, PROPOSAL_DST);
  for (uint64_t i = 0; i < e.count; i++)
    memcpy(e.packed + i * e.bytes, e.field + i * PROPOSAL_ELEMENTS * e.bytes, e.bytes);
}
