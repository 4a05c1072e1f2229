/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as what it was: kernels one after the other on one chip. The tensors of its rows are
 * matched, so that an input is the output of a row before where it was that on the chip, and each
 * tensor gets a place in device memory.
 *
 * A profile has shapes and types, and no addresses. What decides which tensor an input is:
 *
 *   gradient   the type of the row is that of another row with Grad behind the name, or a product
 *              that gives the gradient of a weight: inputs that the latest such row has read or
 *              written, and no gradient has taken, are those. That is how a backward pass goes
 *              through the layers: the last one first.
 *   parameter  weights, tables, what optimizers update: not seen before, unless a row that changes
 *              types or layouts has just made it, or the gradient says which it is
 *   others     of the same type and number of bytes (a view has another shape): the latest output
 *              that no row has read; else the one of the same shape that was used last; else the
 *              one that was used last
 *
 * In a loop (turn_before of struct call_row) an input that the turn before was the first to see is
 * a new tensor too, unless a row has just written such a tensor.
 *
 * Outputs are new tensors, but for updates in place: Inplace in the name, Apply..., and sums of two
 * types, which accumulate gradients; and but for what a MemSet has cleared for the row.
 */
#ifndef VINCI_LOWER_CALLS_SEQUENCE_H
#define VINCI_LOWER_CALLS_SEQUENCE_H

#include "lower/calls/calls.h"

#define SEQUENCE_NONE SIZE_MAX

struct sequence_tensor {
  uint64_t bytes;
  enum dtype dtype;
  uint64_t address;
  bool placed; /* has an address */
  bool pooled; /* freed after its last use; else its memory stays its own */
  size_t last; /* row that uses the tensor */
  /* While rows are matched: */
  unsigned rank, view_rank; /* of the new tensor, and of the view of the last row */
  uint64_t shape[TENSOR_RANK_MAX], view[TENSOR_RANK_MAX];
  size_t writer;    /* the row that wrote last; SEQUENCE_NONE: no row of the list */
  size_t touched;   /* the row that used it last */
  unsigned readers; /* rows that have read what was written last */
  bool parameter;
  bool saved;   /* a result beside the main one, of another type: kept for the gradient */
  bool spent;   /* a gradient has read the tensor */
  size_t older; /* the one before with as many bytes of this type */
};

/* What a tensor of a row is. */
struct sequence_use {
  size_t tensor; /* SEQUENCE_NONE: absent, a scalar, or of a type without a size */
  size_t before; /* the row that used it last before this one, SEQUENCE_NONE: none */
  bool written;  /* by that row */
  bool fresh;    /* the row fills the tensor and does not read what was there */
};

struct sequence_row {
  size_t first_use; /* of the inputs, then of the outputs */
  unsigned inputs, outputs;
  size_t same_type; /* the row of the same type before */
  uint8_t taken;    /* by which kinds of gradients */
};

struct sequence_pool;

struct sequence {
  struct arena arena;
  const struct call_list *list;
  struct sequence_row *rows;
  struct sequence_use *uses;
  struct sequence_tensor *tensors;
  size_t use_count, tensor_count;
  struct sequence_pool *pool;
};

/* Matches the tensors of a profile; the list has to stay. The caller frees the result. */
VINCI_MUST_CHECK enum vinci_status sequence_create(const struct call_list *list,
                                                   struct sequence *out, struct vinci_diag *diag);
void sequence_free(struct sequence *sequence);

/* Part of sequence_create() (sequence_pool.c). */
VINCI_MUST_CHECK bool sequence_pool_create(struct sequence *sequence);

/*
 * Device memory, row by row in order. PyTorch's caching allocator is assumed: what has been freed
 * is given out again, the smallest block that is large enough first, so that L2 may still hold the
 * lines. A tensor is freed after its last row. Tensors that no row has written stay
 * where they are.
 */
VINCI_MUST_CHECK bool sequence_begin_row(struct sequence *sequence, size_t row);
/* Memory of a row beside its tensors, until the end of the row; 0 when memory is short. */
uint64_t sequence_scratch(struct sequence *sequence, uint64_t bytes);
void sequence_end_row(struct sequence *sequence, size_t row);

#endif
