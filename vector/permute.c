/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector instructions that move elements: transposition, broadcast, gather, sort.
 * The sources of gathers depend on data and are not part of what they touch here.
 */
#include "vector/vector.h"

enum {
  TRANSPOSE_SIDE = 16,     /* vtranspose: rows and columns of 16-bit elements */
  NCHWCONV_BLOCKS = 16,    /* addresses in the lists of vnchwconv */
  ELEMENTS_PER_REPEAT = 8, /* vbrcb: elements, vgatherb: blocks per repeat */
  OFFSET_BITS = 32,        /* gather offsets and sort indices */
};

static unsigned bits_of(const struct inst *inst) { return dtype_bits(inst_dtype(inst)); }

void vec_transpose_cost(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_cost *cost) {
  vector_cost(soc, inst,
              (struct vector_work){.bits = bits_of(inst),
                                   .repeats = 1,
                                   .operations = TRANSPOSE_SIDE * TRANSPOSE_SIDE},
              cost);
}

unsigned vec_transpose_access(const struct vinci_soc *soc, const struct inst *inst,
                              struct inst_access *access) {
  (void)soc;
  uint64_t bytes = vector_size(TRANSPOSE_SIDE * TRANSPOSE_SIDE, bits_of(inst));
  unsigned count = inst_touch(inst, access, 0, TRANSPOSE_SRC, 0, bytes);
  return inst_touch(inst, access, count, TRANSPOSE_DST, 0, bytes);
}

unsigned vec_nchwconv_bits(const struct inst *inst) { return dtype_bits(inst_types(inst).src); }

void vec_nchwconv_cost(const struct vinci_soc *soc, const struct inst *inst,
                       struct inst_cost *cost) {
  unsigned bits = vec_nchwconv_bits(inst);
  uint64_t repeats = (uint64_t)inst->arg[NCHWCONV_REPEAT];
  uint64_t elements = NCHWCONV_BLOCKS * (BLOCK_BYTES / vector_size(1, bits));
  vector_cost(
      soc, inst,
      (struct vector_work){.bits = bits, .repeats = repeats, .operations = repeats * elements},
      cost);
}

/* A single repeat starts a stride behind the addresses (Ascend C documentation, TransDataTo5HD). */
uint64_t vec_nchwconv_offset(const struct inst *inst, unsigned stride, uint64_t repeat) {
  uint64_t bytes = (uint64_t)inst->arg[stride] * BLOCK_BYTES;
  return inst->arg[NCHWCONV_REPEAT] == 1 ? bytes : repeat * bytes;
}

/* 16 blocks per repeat, of 8-bit elements their lower or upper halves. */
static struct inst_runs nchwconv_runs(const struct inst *inst, unsigned step, unsigned repeat,
                                      unsigned high) {
  struct inst_runs runs = {
      .offset = vec_nchwconv_offset(inst, repeat, 0),
      .bytes = BLOCK_BYTES,
      .level = {{(uint64_t)inst->arg[NCHWCONV_REPEAT], (uint64_t)inst->arg[repeat] * BLOCK_BYTES},
                {NCHWCONV_BLOCKS, (uint64_t)inst->arg[step] * BLOCK_BYTES}},
  };
  if (vec_nchwconv_bits(inst) == dtype_bits(DTYPE_UINT8)) {
    runs.bytes = BLOCK_BYTES / 2;
    runs.offset += inst->arg[high] ? runs.bytes : 0;
  }
  return runs;
}

unsigned vec_nchwconv_access(const struct vinci_soc *soc, const struct inst *inst,
                             struct inst_access *access) {
  (void)soc;
  struct inst_runs src =
      nchwconv_runs(inst, NCHWCONV_SRC_STEP, NCHWCONV_SRC_REPEAT, NCHWCONV_SRC_HIGH);
  struct inst_runs dst =
      nchwconv_runs(inst, NCHWCONV_DST_STEP, NCHWCONV_DST_REPEAT, NCHWCONV_DST_HIGH);
  unsigned count = vector_touch_runs(inst, access, 0, NCHWCONV_SRC, src);
  return vector_touch_runs(inst, access, count, NCHWCONV_DST, dst);
}

/* The 8 blocks of each repeat that vbrcb and vgatherb write. */
static struct inst_runs blocks_runs(uint64_t repeats, uint64_t block_stride,
                                    int64_t repeat_stride) {
  return (struct inst_runs){
      .bytes = BLOCK_BYTES,
      .level = {{repeats, (uint64_t)repeat_stride * BLOCK_BYTES},
                {ELEMENTS_PER_REPEAT, block_stride * BLOCK_BYTES}},
  };
}

/* The same 8 blocks as rows of UB. */
static struct bank_operand blocks_written(const struct inst *inst, unsigned dst,
                                          uint64_t block_stride, int64_t repeat_stride) {
  return (struct bank_operand){
      .row = (uint64_t)inst->arg[dst] / BLOCK_BYTES,
      .block_stride = block_stride,
      .repeat_stride = (uint64_t)repeat_stride,
      .blocks = ELEMENTS_PER_REPEAT,
  };
}

void vec_broadcast_cost(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_cost *cost) {
  uint64_t repeats = (uint64_t)inst->arg[BROADCAST_REPEAT];
  struct bank_traffic traffic = {
      .write = blocks_written(inst, BROADCAST_DST, (uint64_t)inst->arg[BROADCAST_DST_BLOCK],
                              inst->arg[BROADCAST_DST_REPEAT]),
      .repeats = repeats,
  };
  vector_cost(soc, inst,
              (struct vector_work){.bits = bits_of(inst),
                                   .repeats = repeats,
                                   .operations = repeats * ELEMENTS_PER_REPEAT,
                                   .traffic = &traffic},
              cost);
}

unsigned vec_broadcast_access(const struct vinci_soc *soc, const struct inst *inst,
                              struct inst_access *access) {
  (void)soc;
  uint64_t repeats = (uint64_t)inst->arg[BROADCAST_REPEAT];
  unsigned count = inst_touch(inst, access, 0, BROADCAST_SRC, 0,
                              vector_size(repeats * ELEMENTS_PER_REPEAT, bits_of(inst)));
  return vector_touch_runs(inst, access, count, BROADCAST_DST,
                           blocks_runs(repeats, (uint64_t)inst->arg[BROADCAST_DST_BLOCK],
                                       inst->arg[BROADCAST_DST_REPEAT]));
}

struct vector_walks vec_gather_walks(const struct vinci_soc *soc, const struct inst *inst) {
  unsigned bits = bits_of(inst);
  return (struct vector_walks){
      .lanes = vector_lanes(soc, inst, inst->arg[GATHER_REPEAT], bits, VECTOR_MASKED),
      .operand = {{.arg = GATHER_DST,
                   .bits = bits,
                   .block_stride = 1,
                   .repeat_stride = (uint64_t)inst->arg[GATHER_DST_REPEAT]}},
      .count = 1,
      .bits = bits,
  };
}

void vec_gather_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  struct vector_walks walks = vec_gather_walks(soc, inst);
  vector_cost(soc, inst,
              (struct vector_work){.bits = walks.bits,
                                   .repeats = walks.lanes.repeats,
                                   .operations = walks.lanes.active},
              cost);
}

unsigned vec_gather_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  struct vector_walks walks = vec_gather_walks(soc, inst);
  struct vector_lanes lanes = walks.lanes;
  uint64_t offsets = lanes.tail_end ? (lanes.repeats - 1) * lanes.per_repeat + lanes.tail_end : 0;
  unsigned count = inst_touch(inst, access, 0, GATHER_OFFSET, 0,
                              lanes.repeats ? vector_size(offsets, OFFSET_BITS) : 0);
  return vector_touch_strided(inst, access, count, &lanes, walks.operand[0]);
}

uint64_t vec_gather_block_stride(const struct inst *inst) {
  return (uint64_t)inst->arg[GATHERB_DST_BLOCK] + (inst->arg[GATHERB_DST_BLOCK] == 0);
}

void vec_gather_block_cost(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_cost *cost) {
  unsigned bits = bits_of(inst);
  uint64_t repeats = (uint64_t)inst->arg[GATHERB_REPEAT];
  uint64_t elements = ELEMENTS_PER_REPEAT * (BLOCK_BYTES / vector_size(1, bits));
  uint64_t per_fetch = (uint64_t)soc->vector_bytes * BITS_PER_BYTE / OFFSET_BITS;
  uint64_t fetches = (repeats * ELEMENTS_PER_REPEAT + per_fetch - 1) / per_fetch;
  struct bank_traffic traffic = {
      .write = blocks_written(inst, GATHERB_DST, vec_gather_block_stride(inst),
                              inst->arg[GATHERB_DST_REPEAT]),
      .repeats = repeats,
  };
  vector_cost(soc, inst,
              (struct vector_work){.bits = bits,
                                   .repeats = repeats,
                                   .operations = repeats * elements,
                                   .extra_mcycles = fetches * (uint64_t)soc->offset_fetch_mcycles,
                                   .traffic = &traffic},
              cost);
}

unsigned vec_gather_block_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  (void)soc;
  uint64_t repeats = (uint64_t)inst->arg[GATHERB_REPEAT];
  unsigned count = inst_touch(inst, access, 0, GATHERB_OFFSET, 0,
                              vector_size(repeats * ELEMENTS_PER_REPEAT, OFFSET_BITS));
  return vector_touch_runs(
      inst, access, count, GATHERB_DST,
      blocks_runs(repeats, vec_gather_block_stride(inst), inst->arg[GATHERB_DST_REPEAT]));
}

void vec_bitsort_cost(const struct vinci_soc *soc, const struct inst *inst,
                      struct inst_cost *cost) {
  uint64_t repeats = (uint64_t)inst->arg[BITSORT_REPEAT];
  vector_cost(soc, inst,
              (struct vector_work){
                  .bits = bits_of(inst), .repeats = repeats, .operations = repeats * SORT_ELEMENTS},
              cost);
}

unsigned vec_bitsort_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  (void)soc;
  uint64_t elements = (uint64_t)inst->arg[BITSORT_REPEAT] * SORT_ELEMENTS;
  unsigned count =
      inst_touch(inst, access, 0, BITSORT_SRC0, 0, vector_size(elements, bits_of(inst)));
  count = inst_touch(inst, access, count, BITSORT_SRC1, 0, vector_size(elements, OFFSET_BITS));
  return inst_touch(inst, access, count, BITSORT_DST, 0, elements * SORT_ENTRY_BYTES);
}

/* Entries of all lists that take part in one repeat of a merge. */
uint64_t vec_merge_entries(const struct inst *inst) {
  uint64_t entries = 0;
  for (int64_t list = 0; list < inst->arg[MERGE_LISTS]; list++)
    entries += (uint64_t)inst->arg[MERGE_LENGTH0 + list];
  return entries;
}

unsigned vec_entry_bytes(const struct vinci_soc *soc, const struct inst *inst) {
  return arch_is_coupled(soc->arch) ? PROPOSAL_ELEMENTS * bits_of(inst) / BITS_PER_BYTE
                                    : SORT_ENTRY_BYTES;
}

/*
 * The measured 16 cycles per step are read as steps of 32 merged entries: then
 * both public tables of vmrgsort4 agree to a tenth (4 lists of 32 entries: 78
 * cycles in one, 64 in the other).
 */
void vec_merge_sort_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  uint64_t entries = (uint64_t)inst->arg[MERGE_REPEAT] * vec_merge_entries(inst);
  uint64_t steps = ceil_div(entries, SORT_ELEMENTS);
  vector_cost(soc, inst,
              (struct vector_work){.bits = bits_of(inst), .repeats = steps, .operations = entries},
              cost);
}

unsigned vec_merge_sort_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  unsigned count = 0, entry_bytes = vec_entry_bytes(soc, inst);
  uint64_t repeats = (uint64_t)inst->arg[MERGE_REPEAT];
  uint64_t all_bytes = vec_merge_entries(inst) * entry_bytes;
  for (unsigned list = 0; list < (unsigned)inst->arg[MERGE_LISTS]; list++) {
    uint64_t bytes = (uint64_t)inst->arg[MERGE_LENGTH0 + list] * entry_bytes;
    struct inst_runs runs = {.bytes = bytes, .level = {{repeats, all_bytes}}};
    count = vector_touch_runs(inst, access, count, MERGE_SRC0 + list, runs);
  }
  return inst_touch(inst, access, count, MERGE_DST, 0, repeats * all_bytes);
}

/* ---- region proposals ---- */

static void proposals_cost(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_cost *cost) {
  uint64_t repeats = (uint64_t)inst->arg[PROPOSAL_REPEAT];
  vector_cost(soc, inst,
              (struct vector_work){
                  .bits = bits_of(inst), .repeats = repeats, .operations = repeats * PROPOSALS},
              cost);
}

/* The proposals that an operand has; the element `field` of each. */
static struct inst_runs fields_of(const struct inst *inst) {
  uint64_t element = vector_size(1, bits_of(inst));
  uint64_t count = (uint64_t)inst->arg[PROPOSAL_REPEAT] * PROPOSALS;
  return (struct inst_runs){.offset = (uint64_t)inst->arg[PROPOSAL_FIELD] * element,
                            .bytes = element,
                            .level = {{count, PROPOSAL_ELEMENTS * element}}};
}

static uint64_t elements_bytes(const struct inst *inst, unsigned per_proposal) {
  return vector_size((uint64_t)inst->arg[PROPOSAL_REPEAT] * PROPOSALS * per_proposal,
                     bits_of(inst));
}

void vec_proposal_sort_cost(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_cost *cost) {
  proposals_cost(soc, inst, cost);
}

unsigned vec_proposal_sort_access(const struct vinci_soc *soc, const struct inst *inst,
                                  struct inst_access *access) {
  (void)soc;
  uint64_t bytes = elements_bytes(inst, PROPOSAL_ELEMENTS);
  unsigned count = inst_touch(inst, access, 0, PROPOSAL_SRC, 0, bytes);
  return inst_touch(inst, access, count, PROPOSAL_DST, 0, bytes);
}

void vec_concat_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  proposals_cost(soc, inst, cost);
}

unsigned vec_concat_access(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_access *access) {
  (void)soc;
  unsigned count = inst_touch(inst, access, 0, PROPOSAL_SRC, 0, elements_bytes(inst, 1));
  return vector_touch_runs(inst, access, count, PROPOSAL_DST, fields_of(inst));
}

void vec_extract_cost(const struct vinci_soc *soc, const struct inst *inst,
                      struct inst_cost *cost) {
  proposals_cost(soc, inst, cost);
}

unsigned vec_extract_access(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_access *access) {
  (void)soc;
  unsigned count = vector_touch_runs(inst, access, 0, PROPOSAL_SRC, fields_of(inst));
  return inst_touch(inst, access, count, PROPOSAL_DST, 0, elements_bytes(inst, 1));
}
