/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector unit: what its instructions cost and touch. Memory to memory on UB,
 * one repeat after the other; the numbers per repeat are the cost classes of the
 * SoC.
 */
#ifndef VINCI_VECTOR_VECTOR_H
#define VINCI_VECTOR_VECTOR_H

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/unit_functions.h"
#include "core/machine/values.h"
#include "vector/banks.h"

/* Numbers of the operands. */
enum { OPERANDS_BINARY(OPERAND_NUMBER, BINARY, "", "", "") };
enum { OPERANDS_SELECT(OPERAND_NUMBER, SELECT) };
enum { OPERANDS_COMPARE(OPERAND_NUMBER, COMPARE) };
enum { OPERANDS_COMPARER(OPERAND_NUMBER, COMPARER) };
enum { OPERANDS_COMPARES(OPERAND_NUMBER, COMPARES) };
enum { OPERANDS_COMPARE_MASK(OPERAND_NUMBER, COMPARE_MASK, "") };
enum { OPERANDS_UNARY(OPERAND_NUMBER, UNARY, "", "") };
enum { OPERANDS_CONVERT_ROUND(OPERAND_NUMBER, CONVERT, "", "", "") };
enum { OPERANDS_CONVERT_SCALES(OPERAND_NUMBER, CONVERT_HALF) };
enum { OPERANDS_SCALAR(OPERAND_NUMBER, SCALAR, "", "") };
enum { OPERANDS_DUP(OPERAND_NUMBER, DUP) };
enum { OPERANDS_REDUCE_INDEX(OPERAND_NUMBER, REDUCE) };
enum { OPERANDS_COMPACT(OPERAND_NUMBER, COMPACT, "") };
enum { OPERANDS_TRANSPOSE(OPERAND_NUMBER, TRANSPOSE) };
enum { OPERANDS_NCHWCONV_HIGH(OPERAND_NUMBER, NCHWCONV) };
enum { OPERANDS_BROADCAST(OPERAND_NUMBER, BROADCAST) };
enum { OPERANDS_GATHER(OPERAND_NUMBER, GATHER) };
enum { OPERANDS_GATHERB(OPERAND_NUMBER, GATHERB) };
enum { OPERANDS_BITSORT(OPERAND_NUMBER, BITSORT) };
enum { OPERANDS_PROPOSAL_FIELD(OPERAND_NUMBER, PROPOSAL) };
enum { OPERANDS_MERGE(OPERAND_NUMBER, MERGE) };
enum { OPERANDS_VF_BINARY(OPERAND_NUMBER, VF_BINARY) };
enum { OPERANDS_VF_SCALAR(OPERAND_NUMBER, VF_SCALAR) };
enum { OPERANDS_VF_UNARY(OPERAND_NUMBER, VF_UNARY) };
enum { OPERANDS_VF_DUP(OPERAND_NUMBER, VF_DUP) };
/* Words of operands, in the order of their signatures. */
enum { SELECT_MODE_REGISTER, SELECT_MODE_SCALAR, SELECT_MODE_TENSOR, SELECT_MODE_HELD };
enum { REDUCE_VALUE_INDEX, REDUCE_INDEX_VALUE, REDUCE_VALUE, REDUCE_INDEX };

/* The lanes at work: how many repeats, and which lanes in each. */
struct vector_lanes {
  uint64_t repeats;
  uint64_t per_repeat; /* lanes of a whole repeat */
  uint64_t first;      /* first active lane */
  uint64_t end;        /* one past the last active lane of a repeat */
  uint64_t tail_end;   /* the same for the last repeat */
  uint64_t active;     /* lane operations of the whole instruction */
};

/* An operand that walks through UB by blocks and repeats. */
struct vector_operand {
  unsigned arg;           /* its address */
  unsigned bits;          /* of one element */
  uint64_t block_stride;  /* in 32-byte blocks */
  uint64_t repeat_stride; /* in 32-byte blocks */
};

/* The walks through UB of one instruction, in the order the ports serve them, and its lanes. */
struct vector_walks {
  struct vector_lanes lanes;
  struct vector_operand operand[BANK_READS_MAX];
  unsigned count;
  unsigned bits; /* that choose the cost class */
};

struct vector_walks vec_binary_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_binary_convert_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_select_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_compare_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_compare_scalar_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_compare_register_walks(const struct vinci_soc *soc,
                                               const struct inst *inst);
struct vector_walks vec_unary_walks(const struct vinci_soc *soc, const struct inst *inst);
/* A repeat of vcopy in counter mode, as an instruction of its own: block after block. */
struct inst vec_copy_repeat(const struct vinci_soc *soc, const struct inst *inst, uint64_t repeat);
struct vector_walks vec_scalar_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_dup_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_convert_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_convert_half_walks(const struct vinci_soc *soc, const struct inst *inst);
/* Which half of a block the results go to, in bytes from its start. */
uint64_t vec_convert_half_offset(const struct inst *inst);
/* Scale words in UB, by element of a block, and where they lie; 0: the register has the only scale.
 */
uint64_t vec_convert_half_scales(const struct inst *inst, uint64_t *address);
struct vector_walks vec_reduce_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_compact_walks(const struct vinci_soc *soc, const struct inst *inst);
struct vector_walks vec_gather_walks(const struct vinci_soc *soc, const struct inst *inst);
/* The destination stride of vgatherb in blocks, where 0 stands for 1. */
uint64_t vec_gather_block_stride(const struct inst *inst);
/* Width of the elements of vnchwconv, and where a repeat starts, by its operand of the stride. */
unsigned vec_nchwconv_bits(const struct inst *inst);
uint64_t vec_nchwconv_offset(const struct inst *inst, unsigned stride, uint64_t repeat);
/* Entries of all lists that take part in one repeat of a merge. */
uint64_t vec_merge_entries(const struct inst *inst);
/* Bytes of such an entry: a score and its index, or on coupled cores a region proposal. */
unsigned vec_entry_bytes(const struct vinci_soc *soc, const struct inst *inst);
/* Bytes that vcmax and vcmin leave per repeat. */
uint64_t vec_index_result_bytes(const struct inst *inst);

/* Whether the mask register chooses lanes; counter mode always counts elements. */
enum vector_masking { VECTOR_MASKED, VECTOR_WHOLE };

/* Lanes of an instruction with elements of `bits` bits (the wider side's). */
struct vector_lanes vector_lanes(const struct vinci_soc *soc, const struct inst *inst,
                                 int64_t repeat, unsigned bits, enum vector_masking masking);
/* The few instructions whose repeats count in counter mode too: as many elements in each as the
 * mask says, which may be more than the unit is wide. */
struct vector_lanes vector_lanes_counted(const struct inst *inst, int64_t repeat);

/* What the cost of an instruction depends on. */
struct vector_work {
  unsigned bits; /* of the elements that choose the class */
  uint64_t repeats;
  uint64_t operations;
  uint64_t extra_mcycles;             /* besides the class's numbers */
  bool whole_result;                  /* the class's offset is for results that end in a block */
  const struct bank_traffic *traffic; /* in UB; NULL: not looked at */
};

/* Fills a cost from the class of the instruction and the banks of UB. */
void vector_cost(const struct vinci_soc *soc, const struct inst *inst, struct vector_work work,
                 struct inst_cost *cost);
/* Adds an operand that walks through UB to the traffic of an instruction, as its signature
 * says: read, written or both. */
void vector_traffic(struct bank_traffic *traffic, const struct inst *inst,
                    const struct vector_lanes *lanes, struct vector_operand operand);

/* As inst_touch, for an operand that walks by blocks and repeats. */
unsigned vector_touch_strided(const struct inst *inst, struct inst_access *access, unsigned count,
                              const struct vector_lanes *lanes, struct vector_operand operand);
/* Cost of an instruction whose operands all walk, with the banks they meet in. */
void vector_walks_cost(const struct vinci_soc *soc, const struct inst *inst,
                       const struct vector_walks *walks, struct inst_cost *cost);
/* As inst_touch, for all operands that walk. */
unsigned vector_walks_access(const struct inst *inst, const struct vector_walks *walks,
                             struct inst_access *access);
/* The functions of a stem of core/isa/isa.def whose cost, or accesses, are those of stem_walks. */
#define VECTOR_WALKS_COST(stem)                                                                    \
  void stem##_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) { \
    struct vector_walks walks = stem##_walks(soc, inst);                                           \
    vector_walks_cost(soc, inst, &walks, cost);                                                    \
  }
#define VECTOR_WALKS_ACCESS(stem)                                                                  \
  unsigned stem##_access(const struct vinci_soc *soc, const struct inst *inst,                     \
                         struct inst_access *access) {                                             \
    struct vector_walks walks = stem##_walks(soc, inst);                                           \
    return vector_walks_access(inst, &walks, access);                                              \
  }

/* As inst_touch, for runs; the hull begins at the operand's address. */
unsigned vector_touch_runs(const struct inst *inst, struct inst_access *access, unsigned count,
                           unsigned arg, struct inst_runs runs);
/* Bytes of n elements, or of n runs of `bytes` a stride apart (0 for no run). */
uint64_t vector_size(uint64_t elements, unsigned bits);
uint64_t vector_span(uint64_t runs, uint64_t stride_bytes, uint64_t bytes);

#endif
