/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the writer of matmul traces: matmul_emit.c has the stream, matmul_load.c the
 * copies to L1, matmul_step.c what follows from there on.
 */
#ifndef VINCI_TRACES_LOWER_CUBE_MATMUL_WRITER_H
#define VINCI_TRACES_LOWER_CUBE_MATMUL_WRITER_H

#include "traces/lower/cube/matmul.h"

typedef unsigned long long ull;

enum { FLAG_INNER = 2, FLAG_BIAS = 4, FLAG_BT = 2, L0_SLOTS = 2, L1_SLOTS = 2 };

/* What every part needs. */
struct writer {
  struct emit *e;
  const struct matmul *mm;
  struct matmul_tiling t;
};

static inline enum dtype matmul_accumulator(const struct matmul *mm) {
  return mm->type == DTYPE_INT8 ? DTYPE_INT32 : DTYPE_FP32;
}

/* hf32 is how the cube reads fp32. */
static inline enum dtype matmul_stored(enum dtype type) {
  return type == DTYPE_HF32 ? DTYPE_FP32 : type;
}

/* One operand as loaded: `side` is its extent besides k. */
struct matmul_operand {
  const char *tensor;
  const char *name;  /* "a" or "b": name1 and name0 are its buffers */
  const char *start; /* let that holds the first row or column of the block: "m", "n" */
  const char *count; /* let of its rows or columns: "cm", "cn" */
  bool rows_are_k;   /* given as [k, side] */
  bool nz;
  bool outer;
  bool is_a;
  bool shared; /* by all batches */
  uint64_t side, panel_bytes;
};

struct matmul_operand matmul_operand(const struct writer *w, bool is_a);

/* "count" rounded up, as an expression. */
const char *matmul_rounded(struct emit *e, const char *count, ull unit);

/* A panel from k on, `depth` deep, of the block whose lets end in `suffix`. */
void matmul_load_panel(const struct writer *w, const struct matmul_operand *x, const char *slot,
                       const char *k, const char *depth, const char *suffix);
/* The matrix of B, or the group of weights, that batch z uses. */
const char *matmul_weights_of(const struct writer *w, const char *suffix);
/* Of the gradient of a map: panels of the map with zeros between its points, and of weights as the
 * forward convolution has them, c and k changing places in L0B (conv_gradient.c). */
void conv_load_spread(const struct writer *w, const char *dst, const char *k, const char *depth,
                      const char *suffix);
void conv_load_turned(const struct writer *w, const char *dst, const char *k, const char *depth,
                      const char *suffix);
void conv_turned_to_l0b(const struct writer *w, const char *slot, const char *at);
/* Whether a panel of an operand may take more copies than queues have room for. */
bool matmul_many_copies(const struct writer *w, bool is_a);
/* The steps of a turn: loads to L0, and mads. */
void matmul_steps(const struct writer *w);
/* What a block goes through of k, as a number or a let; and where it begins in the operands. */
const char *matmul_depth(const struct writer *w, const char *suffix);
/* k in parts: AIV of a block, the workspace, buffers, and what follows the stream of the cube. */
unsigned matmul_split_vectors(const struct writer *w);
void matmul_split_tensor(const struct writer *w);
void matmul_split_buffers(const struct writer *w);
void matmul_split_sum(const struct writer *w);
/* The pipe that empties L0C. */
static inline enum pipe matmul_out_pipe(const struct writer *w) {
  return w->mm->coupled ? PIPE_V : PIPE_FIX;
}
/* On coupled cores: buffers, flags that say "free", the ways to L0 and out of L0C. */
void matmul_coupled_buffers(const struct writer *w);
void matmul_coupled_flags(const struct writer *w, bool set);
void matmul_coupled_to_l0a(const struct writer *w, const char *slot, const char *at);
void matmul_coupled_to_l0b(const struct writer *w, const char *slot, const char *at);
void matmul_coupled_store(const struct writer *w);
/* The registers of the fixpipe, once. */
const char *matmul_stored_columns(const struct writer *w, const char *suffix);
void matmul_scale(const struct writer *w);
/* After the last turn: the block leaves L0C. */
void matmul_store(const struct writer *w);

#endif
