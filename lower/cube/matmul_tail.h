/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise steps on the result of a product on coupled cores: blocks leave L0C through UB, where
 * the vector unit works on them a few fractals at a time. What the steps take beside the product
 * comes to UB block by block, in the place that the block has in the result.
 */
#ifndef VINCI_LOWER_CUBE_MATMUL_TAIL_H
#define VINCI_LOWER_CUBE_MATMUL_TAIL_H

#include "lower/cube/matmul.h"
#include "lower/vector/unit.h"

enum { TAIL_INPUTS = 3 };

struct matmul_tail_input {
  struct matmul_tensor tensor;
  bool number; /* one element; else as large as the result */
};

struct matmul_tail {
  const struct vstep *steps;
  unsigned count;
  enum dtype type; /* of registers */
  enum dtype held; /* of the result's register */
  unsigned inputs;
  struct matmul_tail_input in[TAIL_INPUTS];
};

/* Of the operator chain's text, whose x is the product. operands: what x1, x2 ... are, as
 * "fp16,one:fp32". A result of another type becomes that of the product. */
VINCI_MUST_CHECK enum vinci_status matmul_tail_set(struct lower_job *job, const char *steps,
                                                   const char *operands);
/* [relu](product + residual). */
VINCI_MUST_CHECK enum vinci_status matmul_tail_residual(struct lower_job *job);

/* What the steps take of UB beside blocks of that many elements; their cycles for the elements of a
 * block; the bytes that an element of the result has in the operands. Without steps all are 0. */
uint64_t matmul_tail_ub_bytes(const struct matmul *mm, uint64_t elements);
uint64_t matmul_tail_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                            uint64_t elements);
uint64_t matmul_tail_read_bytes(const struct matmul *mm);

/* Tensors and buffers; numbers and what no copy writes, once; flags that say that the operands of
 * a block have been used; the operands of the block that is computed; its steps. */
void matmul_tail_tensors(const struct writer *w);
void matmul_tail_buffers(const struct writer *w);
void matmul_tail_start(const struct writer *w);
void matmul_tail_flags(const struct writer *w, bool set);
void matmul_tail_load(const struct writer *w);
void matmul_tail_put(const struct writer *w, struct expr out, struct expr sums);

#endif
