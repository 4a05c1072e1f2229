/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash_attention and flash_attention_grad: what their files share.
 *
 * O = softmax(scale * Q K^T) V per batch and head. Work is cut into tasks: some rows of Q of one
 * head. The cube core of a block multiplies them with K, `cols` keys at a time (a step), and leaves
 * the scores in device memory. The vector cores take half of the rows each: the running maximum,
 * exponentials and their running sum, and the probabilities go back through device memory. The cube
 * core multiplies those with V, and the vector cores rescale and add the products. The cube
 * core is one step ahead with the scores, the vector cores with the probabilities, also from one
 * task to the next.
 *
 * The gradient: with P = exp(scale Q K^T - max) / sum, dP = dY V^T and delta the sums of rows of
 * dY * O: dS = P * (dP - delta), dV = P^T dY, dK = scale dS^T Q, dQ = scale dS K. Three kernels:
 * the first clears the sums in single precision and computes delta; the second walks the same tasks
 * and steps, the cube cores a step ahead with Q K^T and dY V^T, then adding three products to the
 * sums in device memory; the third scales and converts them. On coupled cores a task is some keys,
 * so that only dQ is a sum in device memory.
 *
 *   attention.c    keys, layouts, and how profiles name the operators
 *   tiling.c       what is legal, candidates
 *   cost.c         what it costs
 *   writer.c       the traces: tensors, tasks and steps
 *   cube.c         the streams of the cube cores
 *   paged.c        keys and values in blocks of a cache
 *   vector.c       the streams of the vector cores
 *   hide.c         scores that masks and windows hide
 *   coupled*.c     all of that on cores that are cube and vector core in one: one stream, where
 *                  scores and probabilities never leave the core
 *   ends.c         kernels before and behind: parts of split keys, ends of the gradient
 */
#ifndef VINCI_LOWER_ATTENTION_ATTENTION_H
#define VINCI_LOWER_ATTENTION_ATTENTION_H

#include "lower/kernel/lower.h"

/* Keys of a cache in blocks (paged.c). */
/* clang-format off */
#define PAGED_KEYS(X) \
  X(LENGTHS, "lengths", SHAPE, "", NULL, false, \
    "keys of the sequences in turn: 100x7 has 100, 7, 100 ..; default: seq_k of each") \
  X(BLOCK_SIZE, "block_size", SIZE, "128", NULL, false, "keys of a block of the cache") \
  X(BLOCKS, "blocks", SIZE, "", NULL, false, \
    "of the cache; default: as many as all sequences have") \
  X(FIRST, "first", SIZE, "0", "0", false, "block of the first keys of the first sequence") \
  X(STEP, "step", SIZE, "7919", "0", false, \
    "from one block to the next in the table, modulo the blocks") \
  X(TABLE, "table", WORD, "data", "data|series", false, \
    "where blocks are: as the tensor says, where there are values, or as first and step say") \
  X(LATENT, "latent", WORD, "0", "0|1", false, \
    "V is the first v_dim elements of each row of K, as in multi-head latent attention")
/* clang-format on */
/* Keys: id, name, kind, default, choices, chosen by cost, text. The gradient has those up to
 * CORES, flash_attention those up to MASK, paged_attention all. */
/* clang-format off */
#define ATTENTION_KEYS(X) \
  X(BATCH, "batch", SIZE, "1", NULL, false, "independent sequences") \
  X(HEADS, "heads", SIZE, "1", NULL, false, "heads of Q") \
  X(KV_HEADS, "kv_heads", SIZE, "", NULL, false, \
    "heads of K and V, each for a group of those of Q; default: heads") \
  X(SEQ_Q, "seq_q", SIZE, NULL, NULL, false, "queries of a sequence") \
  X(SEQ_K, "seq_k", SIZE, "", NULL, false, "keys of a sequence; default: seq_q") \
  X(HEAD_DIM, "head_dim", SIZE, "128", NULL, false, "elements of a head") \
  X(DTYPE, "dtype", DTYPE, "fp16", "fp16|bf16", false, "type of all") \
  X(LAYOUT, "layout", WORD, "BNSD", "BNSD|BSND|BSH|SBH", false, \
    "order of batch, heads (N), sequence; H is all heads of a row") \
  X(CAUSAL, "causal", WORD, "0", "0|1", false, \
    "the last query sees all keys, each one before it one key less") \
  X(SCALE, "scale", NUMBER, "", NULL, false, "factor of the scores; default: 1 / sqrt(head_dim)") \
  X(ROWS, "rows", SIZE, NULL, NULL, true, "queries of a task") \
  X(COLS, "cols", SIZE, NULL, NULL, true, "keys of a step") \
  X(PANEL, "panel", SIZE, NULL, NULL, true, "keys in L1 at once") \
  X(SLICE, "slice", SIZE, NULL, NULL, true, "rows in UB at once") \
  X(DIAGONAL, "diagonal", WORD, NULL, "trim|whole", true, \
    "keys of the last step that all rows of a causal task ignore: left out, or computed and hidden") \
  X(CORES, "cores", SIZE, NULL, NULL, true, "cube cores to use") \
  X(STATISTICS, "statistics", WORD, "0", "0|1", false, \
    "gives row_max and row_sum too, eight times each, for the gradient") \
  X(SPLITS, "splits", SIZE, NULL, NULL, true, \
    "parts of the keys, for tasks of their own; a second kernel joins them") \
  X(CARRY, "carry", WORD, "ub", "ub|gm", false, \
    "where the values of rows wait for the next step: gm is how the vendor's kernel has them") \
  X(V_DIM, "v_dim", SIZE, "", NULL, false, "elements of a row of V and O; default: head_dim") \
  X(WINDOW, "window", SIZE, "", NULL, false, \
    "each query sees that many keys at most, up to the last that it would see without") \
  X(MASK, "mask", WORD, "", "0|1", false, \
    "a tensor of bytes, a row for each query, hides the keys where it is 1") \
  PAGED_KEYS(X)
#define ATTENTION_KEY(id, ...) ATTENTION_##id,
/* clang-format on */
enum attention_key { ATTENTION_KEYS(ATTENTION_KEY) ATTENTION_KEY_COUNT };

/* What a causal mask hides in the last step of a task. */
enum attention_diagonal { DIAGONAL_TRIM, DIAGONAL_WHOLE };

enum attention_layout { LAYOUT_BNSD, LAYOUT_BSND, LAYOUT_BSH, LAYOUT_SBH };

/* Distances in elements of one operand. */
struct attention_strides {
  uint64_t batch, head, row;
};

/* A cache in blocks: block `j` of sequence `s` is as the table says, for times (first + (s *
 * per_sequence + j) * step) modulo the blocks. */
struct attention_pages {
  uint64_t size, blocks, first, step;
  bool is_series;        /* whatever the table says */
  uint64_t per_sequence; /* entries that a sequence has in the table: whole blocks of 32 bytes */
  unsigned length_count;
  uint64_t length[TENSOR_RANK_MAX]; /* of the sequences in turn */
};

/* The problem: set once by setup(). One query per head is taken as rows of the head's group. */
struct attention {
  uint64_t batch, heads, group, rows, keys; /* group: query heads of a head of K and V */
  uint64_t depth, depth_k;                  /* elements of a row of V and O; of Q and K */
  uint64_t queries; /* of a head; its rows, unless heads are taken as rows */
  enum dtype type;
  bool causal, statistics, gradient;
  bool carried; /* values of rows go to device memory between steps */
  double scale;
  struct attention_strides q, kv, v, o;
  uint64_t window; /* keys that a query sees at most; 0: all */
  bool masked;     /* by a tensor */
  bool coupled;    /* a core is cube and vector core */
  bool paged, latent;
  struct attention_pages pages;
  uint64_t cube_mcycles; /* per tile of the cube */
};

enum {
  ATTENTION_SIDE = 128, /* of tiles in L0 */
  ATTENTION_SLOTS = 4,  /* of each kind in the workspace: two for odd tasks, two for even ones */
  ATTENTION_PAIR = 2,   /* on-chip buffers of each kind */
  ATTENTION_VECTORS = 2,
  ATTENTION_ROW_NUMBERS = 3,     /* of the gradient: maximum, sum and delta */
  ATTENTION_CLEAR_BYTES = 16384, /* of sums that one copy clears */
  ATTENTION_STAGE_BYTES = 16384, /* of copies to UB, which are not much faster when larger */
};
/* Units of both operators, whose tensors are of 16-bit types. */
enum { HALF_BYTES = 2, WORD_BYTES = 4, BLOCK_WORDS = 8 };

/* Keys of a product of a coupled core: of Q and K, of probabilities and V, where each has a part of
 * the columns; tiles of 64 columns have more keys than those of 128. Then addresses in UB, where
 * all lies in columns of 16: scores and probabilities of a step, its product with V, the values and
 * the result of a task, its maxima; maxima of the step, factors of two steps, numbers of rows in
 * half precision, the mask. Of the gradient: scores and dP, which is the product; P and dS; the
 * numbers of rows of two steps; the result, which is dQ of a step, dK or dV. */
struct attention_coupled {
  uint64_t score_keys, value_keys, value_columns, gradients;
  uint64_t scores, probabilities, product, values, result, maximum;
  uint64_t fresh, factor, half, numbers, mask, triangle, statistics;
  uint64_t stage, stage_bytes; /* two, in which rows of K and V are on their way to L1 */
};

/* A tiling and what follows: extents, tasks, addresses. */
struct attention_tiling {
  uint64_t rows, cols; /* of a step: queries of a task, keys */
  uint64_t panel;      /* keys that L1 takes at once */
  uint64_t slice;      /* rows that UB takes at once */
  uint64_t cores;
  uint64_t splits, part; /* parts that the keys are split into; keys of a part */
  uint64_t row_blocks, tasks;
  uint64_t task_keys; /* keys that take as long as what a task has beside its keys; 0: not known */
  uint64_t depth, depth_k; /* in whole fractals */
  uint64_t half;           /* rows of a vector core */
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
  uint64_t mask, mask_half, mask_words; /* bytes, two buffers; as numbers */
  struct attention_coupled coupled;
};

/* Reads the tiling keys; false, with a reason, when they are not legal. */
bool attention_tiling(struct lower_job *job, struct attention_tiling *tiling);
/* Of a candidate, a key that is not given. */
void attention_give(struct lower_job *job, enum attention_key key, uint64_t size);
bool attention_candidate(struct lower_job *job, size_t index);
/* Behind the last key that a block of rows sees under a causal mask. */
uint64_t attention_limit(const struct attention *at, const struct attention_tiling *tiling,
                         uint64_t block);
/* Keys that such a block computes with, from the step on in which the window begins. */
uint64_t attention_seen(const struct attention *at, const struct attention_tiling *tiling,
                        uint64_t block);
/*
 * Where a causal mask makes tasks differ, each core of flash_attention has a range of them, as in
 * the vendor's kernel (its gradient deals them out in turn). So does a coupled core, whose tasks of
 * a head then find K and V in L1.
 */
static inline bool attention_ranges(const struct attention *at) {
  return (at->causal || at->coupled) && !at->gradient;
}
/*
 * Tasks of the next core, from `first` on, when `cores` are left with it; *keys is what they see,
 * and task_keys of each. A core takes tasks until it has its share of all keys. The last core
 * takes 6 and 11 % longer than the mean then; it is 7 and 12 % on silicon (duration less launch
 * over mean core time; 16 heads on a 910B4, 8 heads on a 910B3, each of 4096 rows on 20 cores).
 */
uint64_t attention_range(const struct attention *at, const struct attention_tiling *tiling,
                         uint64_t first, uint64_t cores, uint64_t *keys);
/* Keys of a sequence, of those that lengths names. */
static inline uint64_t attention_length(const struct attention *at, uint64_t sequence) {
  const struct attention_pages *pages = &at->pages;
  return pages->length_count ? pages->length[sequence % pages->length_count] : at->keys;
}
/* paged.c. Completes the problem by the keys of a cache; bytes of L1 for the row of a sequence in
 * the table, 0 without; whether a panel is whole blocks, or an equal part of a block. */
enum vinci_status attention_pages(struct lower_job *job, struct attention *at);
/* A call with a table of blocks, which is input number `table`: arguments of paged_attention. */
bool attention_page_call(struct lower_call *call, unsigned table);
uint64_t attention_table_bytes(const struct attention *at);
bool attention_pages_fit(struct lower_job *job, const struct attention_tiling *tiling);
bool attention_cost(struct lower_job *job);
void attention_emit(const struct lower_job *job, struct emit *emit);

/* The same for coupled cores (coupled_tiling.c). */
enum vinci_status attention_coupled_check(struct lower_job *job, const struct attention *at);
bool attention_coupled_tiling(struct lower_job *job, struct attention_tiling *tiling);
bool attention_coupled_candidate(struct lower_job *job, size_t index);
bool attention_coupled_cost(struct lower_job *job);
/* Of these the gradient (coupled_grad_tiling.c). */
bool attention_coupled_grad_tiling(struct lower_job *job, struct attention_tiling *tiling);
bool attention_coupled_grad_candidate(struct lower_job *job, size_t index);
bool attention_coupled_grad_cost(struct lower_job *job);
/* Flag ids between MTE1 and MTE2. */
static inline unsigned attention_l1_flags(bool gradient) { return gradient ? 7 : 8; }

/* How the cores share a kernel before or behind: rows of a slice, and what it takes, the launch
 * included. */
struct attention_end {
  uint64_t slice, cores, cycles;
};
struct attention_end attention_join_end(const struct vinci_soc *soc, const struct attention *at,
                                        const struct attention_tiling *tiling, uint64_t rows);
/* The first or the last kernel of the gradient. */
struct attention_end attention_grad_end(const struct vinci_soc *soc, const struct attention *at,
                                        uint64_t depth, bool first);
/* Rows at once in these kernels, as UB allows; 0: it is too small. */
uint64_t attention_grad_slice(const struct vinci_soc *soc, uint64_t depth);
/* Bytes of UB for a row whose delta is computed. */
uint64_t attention_delta_bytes(uint64_t depth);

#endif
