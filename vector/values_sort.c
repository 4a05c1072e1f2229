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

/* Stable, by insertion: repeats have 32 elements. */
static void sort_repeat(enum dtype type, const uint8_t *scores, const uint8_t *indices,
                        uint8_t *entries) {
  size_t element = dtype_bits(type) / BITS_PER_BYTE;
  float keys[SORT_ELEMENTS];
  unsigned order[SORT_ELEMENTS];
  for (unsigned i = 0; i < SORT_ELEMENTS; i++) {
    float key = score_at(type, scores + i * element);
    unsigned at = i;
    for (; at > 0 && goes_before(key, keys[at - 1]); at--) {
      keys[at] = keys[at - 1];
      order[at] = order[at - 1];
    }
    keys[at] = key;
    order[at] = i;
  }
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
    if (best == merge->lists || goes_before(score_at(merge->type, merge->next[list]),
                                            score_at(merge->type, merge->next[best])))
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
  (void)soc;
  uint8_t *ub = core->bytes[SPACE_UB];
  uint8_t *dst = ub + (uint64_t)inst->arg[MERGE_DST];
  unsigned lists = (unsigned)inst->arg[MERGE_LISTS];
  uint64_t entries = vec_merge_entries(inst);
  for (uint64_t repeat = 0; repeat < (uint64_t)inst->arg[MERGE_REPEAT]; repeat++) {
    struct merge merge = {
        .type = inst_dtype(inst), .lists = lists, .stop = inst->arg[MERGE_STOP] != 0};
    uint64_t offset = repeat * entries * SORT_ENTRY_BYTES;
    for (unsigned list = 0; list < lists; list++) {
      merge.next[list] = ub + (uint64_t)inst->arg[MERGE_SRC0 + list] + offset;
      merge.left[list] = (uint64_t)inst->arg[MERGE_LENGTH0 + list];
    }
    uint8_t *to = dst + offset;
    for (unsigned list; (list = merge_choose(&merge)) < lists; to += SORT_ENTRY_BYTES) {
      memmove(to, merge.next[list], SORT_ENTRY_BYTES);
      merge.next[list] += SORT_ENTRY_BYTES;
      merge.left[list]--;
    }
    if (core->registers)
      core->registers->merged = entries_taken(inst, &merge);
  }
}
