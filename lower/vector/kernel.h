/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel over tiles (tiles.h) as values: its operands, its code, and what is special of its kind.
 * From them follow the candidate tilings, the largest tile that fits, the refusals and
 * the rows, from which estimates come (lower/plan/program.h). A kind of kernel has a struct of its
 * own that begins with a struct vkernel.
 */
#ifndef VINCI_LOWER_VECTOR_KERNEL_H
#define VINCI_LOWER_VECTOR_KERNEL_H

#include "lower/vector/tiles.h"

enum { VKERNEL_INPUTS = 6, VKERNEL_OUTPUTS = 3 };

struct vkernel;

/* What is special of a kind of kernel. Functions may be NULL where that is said. */
struct vkernel_kind {
  unsigned halvings; /* of the largest tile, with two buffers; then comes one buffer */
  bool whole_rows;   /* a tile takes whole rows */
  bool only_moves;   /* no vector instruction: the mask stays as it is */
  /* Sets all addresses, slot_bytes and ub_bytes for rows, cols and buffers. */
  void (*lay_out)(struct vtile *tile);
  /* Sets rows, cols and blocks of a candidate; NULL: vkernel_split_rows(). */
  void (*split)(const struct lower_job *job, struct vkernel *kernel, unsigned halvings);
  /* False, with a reason, for a tile that the kind cannot walk; NULL: there is none. */
  bool (*walks)(struct lower_job *job, const struct vkernel *kernel);
  void (*tensors)(struct emit *emit, struct vkernel *kernel);
  /* The rows behind the prologue; NULL: vkernel_tiles(). */
  void (*rows)(struct emit *emit, struct vkernel *kernel);
  /* The rows of one tile; NULL: all inputs, nothing, all outputs. */
  void (*load)(struct emit *emit, struct vkernel *kernel);
  void (*compute)(struct emit *emit, struct vkernel *kernel);
  void (*store)(struct emit *emit, struct vkernel *kernel);
};

struct vkernel {
  struct vtile tile; /* first: lay_out() is given its address */
  const struct lower_job *job;
  const struct vkernel_kind *kind;
  enum kernel_code code;
  uint64_t launched;      /* blocks; 0: those that have tiles */
  uint64_t rows_max;      /* of a tile; 0: no limit but UB */
  uint64_t element_bytes; /* what a core has to do for an element of the space */
  /* What tiles load and store; NULL behind the last. */
  const struct vtile_operand *in[VKERNEL_INPUTS + 1], *out[VKERNEL_OUTPUTS + 1];
};

/* A kernel that loads, computes and stores, in job->data; NULL, with an error, without memory. */
void *vkernel_new(struct lower_job *job, size_t size, const struct vkernel_kind *kind);

/* The template of a kind of kernel: VKERNEL_TEMPLATE(setup). */
#define VKERNEL_TEMPLATE(setup_)                                                                   \
  { setup_, vkernel_candidate, vkernel_cost, vkernel_emit }
bool vkernel_candidate(struct lower_job *job, size_t index);
/* Whether the kernel can have the tiling in job->value, or the reason why not. */
bool vkernel_is_legal(struct lower_job *job);
bool vkernel_cost(struct lower_job *job);
void vkernel_emit(const struct lower_job *job, struct emit *emit);

/* As many rows of the tile's columns as fit, halved; blocks for them. */
void vkernel_split_rows(const struct lower_job *job, struct vkernel *kernel, unsigned halvings);
/* Buffer, stream, start of the kernel. */
void vkernel_stream(struct emit *emit, uint64_t ub_bytes, enum kernel_code code);
/* The loop over the tiles; all inputs of a tile. */
void vkernel_tiles(struct emit *emit, struct vkernel *kernel);
void vkernel_load(struct emit *emit, const struct vkernel *kernel);
/* Zeros in all buffers, for padding that no copy writes but instructions read. */
void vkernel_clear(struct emit *emit, const struct vtile *tile);

#endif
