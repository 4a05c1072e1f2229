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
 *   tiling.c  what is legal, what it costs, candidates
 *   emit.c    the trace: header, tasks, and the stream of the cube core
 *   cube.c    what streams of cube cores share
 *   vector.c  the stream of the vector cores
 *   parts.c   a second kernel, when keys are split: the parts together
 *
 * flash_attention_grad walks the same tasks and steps; grad.c has more.
 */
#ifndef VINCI_TRACES_LOWER_ATTENTION_ATTENTION_H
#define VINCI_TRACES_LOWER_ATTENTION_ATTENTION_H

#include "traces/lower/lower.h"

typedef unsigned long long ull;

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
  ATTENTION_ROWS,
  ATTENTION_COLS,
  ATTENTION_PANEL,
  ATTENTION_SLICE,
  ATTENTION_DIAGONAL,
  ATTENTION_CORES,
  ATTENTION_STATISTICS, /* from here on not of the gradient */
  ATTENTION_SPLITS,
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
  bool causal, statistics, gradient;
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
  uint64_t splits, part; /* parts that the keys are split into; keys of one */
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
  uint64_t statistics; /* of the gradient: maximum, sum and delta of rows, eight times each */
  uint64_t maximum, sum, factor, fresh, column, accumulator, folded, blocks;
};

/* The keys that both operators have in common. */
#define ATTENTION_SHAPE_KEYS                                                                       \
  [ATTENTION_BATCH] = {"batch", LOWER_SIZE, "1", NULL, "independent sequences", false},            \
  [ATTENTION_HEADS] = {"heads", LOWER_SIZE, "1", NULL, "heads of Q", false},                       \
  [ATTENTION_KV_HEADS] = {"kv_heads",                                                              \
                          LOWER_SIZE,                                                              \
                          "",                                                                      \
                          NULL,                                                                    \
                          "heads of K and V, each for a group of those of Q; default: heads",      \
                          false},                                                                  \
  [ATTENTION_SEQ_Q] = {"seq_q", LOWER_SIZE, NULL, NULL, "queries of a sequence", false},           \
  [ATTENTION_SEQ_K] =                                                                              \
      {"seq_k", LOWER_SIZE, "", NULL, "keys of a sequence; default: seq_q", false},                \
  [ATTENTION_HEAD_DIM] = {"head_dim", LOWER_SIZE, "128", NULL, "elements of a head", false},       \
  [ATTENTION_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16", "type of all", false},           \
  [ATTENTION_LAYOUT] = {"layout",                                                                  \
                        LOWER_WORD,                                                                \
                        "BNSD",                                                                    \
                        "BNSD|BSND|BSH|SBH",                                                       \
                        "order of batch, heads (N), sequence; H is all heads of a row",            \
                        false},                                                                    \
  [ATTENTION_CAUSAL] = {"causal",                                                                  \
                        LOWER_WORD,                                                                \
                        "0",                                                                       \
                        "0|1",                                                                     \
                        "the last query sees all keys, each one before it one key less",           \
                        false},                                                                    \
  [ATTENTION_SCALE] = {                                                                            \
      "scale", LOWER_NUMBER, "", NULL, "factor of the scores; default: 1 / sqrt(head_dim)", false}
#define ATTENTION_TILING_KEYS                                                                      \
  [ATTENTION_ROWS] = {"rows", LOWER_SIZE, NULL, NULL, "queries of a task", true},                  \
  [ATTENTION_COLS] = {"cols", LOWER_SIZE, NULL, NULL, "keys of a step", true},                     \
  [ATTENTION_PANEL] = {"panel", LOWER_SIZE, NULL, NULL, "keys in L1 at once", true},               \
  [ATTENTION_SLICE] = {"slice", LOWER_SIZE, NULL, NULL, "rows in UB at once", true},               \
  [ATTENTION_DIAGONAL] = {"diagonal",                                                              \
                          LOWER_WORD,                                                              \
                          NULL,                                                                    \
                          "trim|whole",                                                            \
                          "keys of the last step that all rows of a causal task ignore: left "     \
                          "out, or computed and hidden",                                           \
                          true},                                                                   \
  [ATTENTION_CORES] = {"cores", LOWER_SIZE, NULL, NULL, "cube cores to use", true, false, true}

enum vinci_status attention_setup(struct lower_job *job, bool gradient);
/* Profiles name the shapes of both alike: those of Q and K, and the tensor with a row's numbers. */
bool attention_arguments(struct lower_call *call, const struct lower_tensor *rows);

/* Reads the tiling keys; false, with a reason, when they are not legal. */
bool attention_tiling(struct lower_job *job, struct attention_tiling *tiling);
bool attention_candidate(struct lower_job *job, size_t index);
bool attention_cost(struct lower_job *job);
void attention_emit(const struct lower_job *job, struct emit *emit);

/* Keys that all tasks of a head see together, and steps they take. */
void attention_work(const struct attention *at, const struct attention_tiling *tiling,
                    uint64_t *keys, uint64_t *steps);

#endif
