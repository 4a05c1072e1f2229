/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash_attention: what its files share. O = softmax(scale * Q K^T) V per batch and head.
 *
 * Work is cut into tasks: so many rows of Q of one head. The cube core of a block multiplies them
 * with K, `cols` keys at a time (a step), and leaves the scores in device memory. The vector cores
 * take half of the rows each: the running maximum, exponentials and their running sum, and the
 * probabilities go back through device memory. The cube core multiplies those with V, and the
 * vector cores rescale and add what comes of it. The cube core is one step ahead with the scores,
 * the vector cores with the probabilities, also from one task to the next.
 *
 *   attention.c         keys, layouts, and how profiles name the operator
 *   attention_tiling.c  what is legal, what it costs, candidates
 *   attention_emit.c    the trace: header, tasks, and the stream of the cube core
 *   attention_vector.c  the stream of the vector cores
 */
#ifndef VINCI_TRACES_LOWER_ATTENTION_H
#define VINCI_TRACES_LOWER_ATTENTION_H

#include "traces/lower/lower.h"

enum attention_key {
  ATTENTION_BATCH,
  ATTENTION_HEADS,
  ATTENTION_KV_HEADS,
  ATTENTION_SEQ_Q,
  ATTENTION_SEQ_K,
  ATTENTION_HEAD_DIM,
  ATTENTION_DTYPE,
  ATTENTION_LAYOUT,
  ATTENTION_CAUSAL,
  ATTENTION_SCALE,
  ATTENTION_STATISTICS,
  ATTENTION_ROWS,
  ATTENTION_COLS,
  ATTENTION_PANEL,
  ATTENTION_SLICE,
  ATTENTION_DIAGONAL,
  ATTENTION_CORES,
  ATTENTION_KEY_COUNT
};

/* What a causal mask hides in the last step of a task. */
enum attention_diagonal { DIAGONAL_TRIM, DIAGONAL_WHOLE };

enum attention_layout { LAYOUT_BNSD, LAYOUT_BSND, LAYOUT_BSH, LAYOUT_SBH };

/* Distances in elements of one operand. */
struct attention_strides {
  uint64_t batch, head, row;
};

/* The problem: set once by setup(). One query per head is taken as rows of the head's group. */
struct attention {
  uint64_t batch, heads, group, rows, keys, depth; /* group: query heads of a head of K and V */
  enum dtype type;
  bool causal, statistics;
  double scale;
  struct attention_strides q, kv;
  uint64_t cube_mcycles; /* per tile of the cube */
};

enum {
  ATTENTION_SIDE = 128, /* of tiles in L0 */
  ATTENTION_SLOTS = 4,  /* of each kind in the workspace: two for tasks of odd, even number each */
  ATTENTION_PAIR = 2,   /* on-chip buffers of each kind */
};

/* One tiling, with what follows from it. */
struct attention_tiling {
  uint64_t rows, cols; /* of a step: queries of a task, keys */
  uint64_t panel;      /* keys that L1 takes at once */
  uint64_t slice;      /* rows that UB takes at once */
  uint64_t cores;
  uint64_t row_blocks, tasks;
  uint64_t depth; /* of heads, in whole fractals */
  uint64_t half;  /* rows of a vector core */
  enum attention_diagonal diagonal;
  uint64_t l1_slots; /* panels of each operand in L1 */
  uint64_t c_bytes;  /* of a slot in L0C */
  uint64_t c_slots;
  uint64_t buffer_bytes; /* of one of two in UB, for scores and partial values */
  uint64_t ub_bytes;
  /* Addresses in UB. */
  uint64_t buffers, result;
  uint64_t maximum, sum, factor, fresh, column, accumulator, folded, blocks;
};

/* Reads the tiling keys; false, with a reason, when they are not legal. */
bool attention_tiling(struct lower_job *job, struct attention_tiling *tiling);
bool attention_candidate(struct lower_job *job, size_t index);
bool attention_cost(struct lower_job *job);
void attention_emit(const struct lower_job *job, struct emit *emit);

/* ---- inside of the writer ---- */

typedef unsigned long long ull;

/* Signals between the cores of a block. */
enum { SIGNAL_SCORES, SIGNAL_PROBABILITIES, SIGNAL_PARTIAL };

struct attention_writer {
  struct emit *e;
  const struct attention *at;
  struct attention_tiling t;
};

/* What attention_cube.c has for every stream. */
enum { ATTENTION_HALF_BYTES = 2 };
enum { ATTENTION_TILE_BYTES = ATTENTION_SIDE * ATTENTION_SIDE * ATTENTION_HALF_BYTES };
const char *attention_rounded(struct emit *e, const char *count); /* to whole fractals */
void attention_tensor(const struct lower_job *job, struct emit *e, const char *name, uint64_t heads,
                      uint64_t rows, enum tensor_io io);
void attention_nd2nz(const struct attention_writer *w, const char *dst, const char *src,
                     const char *rows, const char *cols, uint64_t src_stride, const char *dst_rows);
void attention_load_kv(const struct attention_writer *w, const char *tensor, const char *buffer,
                       const char *flag, const char *x, bool columns);
void attention_load_rows(const struct attention_writer *w, const char *tensor, const char *buffer,
                         const char *x);
void attention_rows_to_l0a(const struct attention_writer *w, const char *src, const char *rows,
                           const char *start, const char *count, const char *channels);
void attention_columns_to_l0b(const struct attention_writer *w, const char *src);
void attention_rows_to_l0b(const struct attention_writer *w, const char *src, const char *rows,
                           const char *start);
void attention_l0_filled(const struct attention_writer *w);
/* c[rows, cn] of tiles in L0; `first`: nothing is there yet. */
void attention_mad(const struct attention_writer *w, const char *c, const char *rows,
                   const char *first);
/* Lets of panel p of a step: keys from at on, cw of them, half of L1. */
void attention_panel(const struct attention_writer *w, const char *s, const char *x);

void attention_count_tasks(const struct attention_writer *w);
/* Lets of task number `i` of this core, their names ending in `x`. */
void attention_task(const struct attention_writer *w, const char *i, const char *x);
/* Lets of step `s` of the task with the suffix; keys from `key` on, cc of them; slot of workspace.
 */
void attention_step(const struct attention_writer *w, const char *s, const char *x);
/* Opens the loops over tasks and steps with what is known of the next step, ending in "x". */
void attention_open(const struct attention_writer *w);
void attention_vector_stream(const struct attention_writer *w);

#endif
