/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul: what its files share. C[m,n] = A[m,k] B[k,n] (+ bias), per batch.
 *
 * The result is cut into base blocks of bm x bn that fill L0C. For each of them the operands
 * stream through L1 in panels that are ka and kb deep, and through L0 in steps of bk. One of the
 * operands is the outer one: its panels are as deep as a whole number of the other's. A group is
 * what one outer panel serves, a turn what one inner panel does. With a resident operand the
 * outer panel holds all of k and stays in L1 from block to block. k may be split: each part is as
 * good as a block of its own, and the parts are added up at the end.
 */
#ifndef VINCI_LOWER_CUBE_MATMUL_H
#define VINCI_LOWER_CUBE_MATMUL_H

#include "core/chip/layout.h"
#include "lower/cube/matmul_parts.h"
#include "lower/kernel/lower.h"

enum matmul_key {
  MATMUL_M,
  MATMUL_K,
  MATMUL_N,
  MATMUL_DTYPE,
  MATMUL_OUT_DTYPE,
  MATMUL_TRANSPOSE_A,
  MATMUL_TRANSPOSE_B,
  MATMUL_BIAS,
  MATMUL_BATCH,
  MATMUL_SHARED,
  MATMUL_FORMAT_A,
  MATMUL_FORMAT_B,
  MATMUL_FORMAT_C,
  MATMUL_SCALE,
  MATMUL_SCALES,
  MATMUL_RELU,
  MATMUL_RESIDUAL,
  MATMUL_STEPS,
  MATMUL_OPERANDS,
  MATMUL_MIXED,
  MATMUL_GENERATION,
  MATMUL_SPLIT, /* convolutions share the keys from here on, other operators only those below */
  MATMUL_TILE,
  MATMUL_PANEL,
  MATMUL_RESIDENT,
  MATMUL_BAND,
  MATMUL_CORES,
  MATMUL_KEY_COUNT,
  MATMUL_TILING_KEYS = MATMUL_KEY_COUNT - MATMUL_TILE
};

/* Rows of the tiling keys, in the order above. */
/* clang-format off */
#define MATMUL_TILING_ROWS(first, tile_text, panel_text, resident_text)                            \
  [first] = {"tile", LOWER_SHAPE, NULL, NULL, tile_text, true},                                    \
  {"panel", LOWER_SHAPE, NULL, NULL, panel_text, true},                                            \
  {"resident", LOWER_WORD, NULL, "none|a|b", resident_text, true},                                 \
  {"band", LOWER_SIZE, NULL, NULL, "rows of blocks that the cores walk through together", true},   \
  {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true, false, true, false}
#define MATMUL_SPLIT_ROW                                                                           \
  {"split", LOWER_SIZE, NULL, NULL,                                                                \
   "parts of k that cores compute side by side and add up at the end", true}
/* clang-format on */

/* What the fixpipe multiplies int32 sums with on their way to fp16 or int8. */
enum matmul_scale { SCALE_NONE, SCALE_TENSOR, SCALE_COLUMNS };

enum { MATMUL_SCALE_BYTES = 8, MATMUL_SIDES_MAX = 14 };
enum matmul_resident { RESIDENT_NONE, RESIDENT_A, RESIDENT_B };

struct conv; /* conv.h */
struct matmul_tail;
/* The operator's problem: set once by setup(). */
struct matmul {
  const char *name; /* of the kernel */
  struct matmul_tensor a, b, c, r;
  uint64_t biases, scales;              /* elements of those tensors */
  size_t first_key;                     /* of the tiling keys, in the order of enum matmul_key */
  const struct conv *conv;              /* NULL: A is a matrix */
  const struct matmul_vectors *vectors; /* NULL: vector cores have no part */
  const void *own;                      /* what those need to know */
  const struct matmul_tail *tail;       /* NULL: results are those of the product */
  bool alone;                           /* the operator has no parts of k */
  const struct matmul_groups *groups;   /* NULL: all batches have m rows */
  uint64_t batch, m, k, n;
  uint64_t a_batches, b_batches; /* 1 where all batches share the operand */
  enum dtype type, out_type;
  uint64_t element_bytes, out_bytes;
  uint64_t c0; /* elements of a block of 32 bytes */
  bool trans_a, trans_b;
  bool nz_a, nz_b, nz_c;
  bool bias, bias_each; /* a row; one of its own for each product */
  bool residual;        /* r is added (matmul_residual.c) */
  bool mixed; /* rows of A and C are those of all batches in turn: [m,batch,k], [m,batch,n] */
  bool relu;  /* negative results become 0 on their way out of L0C */
  enum matmul_scale scale;
  bool shallow;                      /* panels of few steps only */
  bool library_block, library_loads; /* what the library has for the shape: see matmul_tiling.c */
  bool coupled;                      /* cube and vector unit are in the same core */
  uint64_t scale_word;               /* the same for all columns, as set_quant_pre takes a scale */
  uint64_t cube_mcycles;             /* per tile of the cube */
  bool k_align;                      /* k lies in whole fractals on both sides */
  uint64_t b_repeats;                /* how often B moves to L0B beyond once */
  uint64_t b_spill;                  /* k by which a load of B may go beyond its step */
  /* Rows and columns of the blocks that are candidates. */
  uint64_t tile_m[MATMUL_SIDES_MAX], tile_n[MATMUL_SIDES_MAX];
  size_t tile_m_count, tile_n_count;
};

/* One tiling, with the sizes and counts that follow from its keys. */
struct matmul_tiling {
  uint64_t bm, bk, bn; /* base block in L0, bm in whole fractals */
  uint64_t rows;       /* of the matrix from block to block: bm, or less when bm was rounded up */
  uint64_t ka, kb;     /* depth of the panels in L1 */
  enum matmul_resident resident;
  uint64_t split; /* parts of k */
  uint64_t k;     /* of the longest part */
  uint64_t band;  /* rows of blocks that cores walk together; 0 with a resident operand */
  uint64_t cores;
  bool early;   /* of a convolution: a read ahead of the scalar work of the kernel's start */
  bool by_rows; /* of a convolution: panels come with the copy for rows of matrices */
  bool a_outer, in_time; /* in_time: panels come where they are used, A's ahead of B's */
  uint64_t outer_slots;  /* panels of the outer operand in L1; of the inner one there are two */
  uint64_t outer_k, inner_k;
  uint64_t c_slots;       /* blocks in L0C */
  bool unit_flags;        /* cube and fixpipe hand L0C over fractal by fractal */
  uint64_t mt, nt;        /* blocks of m and n */
  uint64_t blocks_total;  /* of all batches and parts */
  uint64_t groups, turns; /* outer and inner panels of a block */
  uint64_t a_panel_bytes, b_panel_bytes;
};

/* Types and what follows from them, by the values of dtype and out_dtype; whether the cube computes
 * in that type. */
void matmul_types(const struct lower_job *job, struct matmul *mm, const struct lower_value *in,
                  const struct lower_value *out);
VINCI_MUST_CHECK enum vinci_status matmul_check_cube(struct lower_job *job,
                                                     const struct matmul *mm);
/* Reads the tiling keys; false, with a reason, when they are not legal. */
bool matmul_tiling(struct lower_job *job, struct matmul_tiling *tiling);
/* How a panel comes to L1: several copies where rows or columns are too far apart for one copy. */
enum matmul_way { COPY_AT_ONCE, COPY_BY_ROW, COPY_BY_COLUMN };
struct matmul_copies {
  enum matmul_way way;
  uint64_t count;                  /* for a full panel */
  uint64_t row_bytes;              /* of a row of the operand, as far as a panel takes the row */
  uint64_t stride_bytes;           /* from row to row */
  uint64_t run_bytes, piece_bytes; /* that a panel, a copy takes of a row; 0: all of the row */
};
struct matmul_copies matmul_copies(const struct vinci_soc *soc, const struct matmul *mm,
                                   const struct matmul_tiling *t, bool is_a);
/* What a panel of A takes in L1. */
uint64_t matmul_a_panel_bytes(const struct matmul *mm, uint64_t bm, uint64_t ka);
/* Whether a block and its steps fit L0 and one mad. */
bool matmul_fits_l0(struct lower_job *job, const struct matmul *mm, const struct matmul_tiling *t);
/* k in parts (matmul_split.c): whether it can be; how long adding them up takes. */
bool matmul_split_fits(struct lower_job *job, const struct matmul_tiling *tiling);
/* Parts are whole numbers of these: steps, or the blocks of channels of a panel. */
uint64_t matmul_part_unit(const struct matmul *mm, const struct matmul_tiling *tiling);
uint64_t matmul_split_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                             const struct matmul_tiling *tiling);
/* A residual (matmul_residual.c): whether there can be one; what it takes in L1, and L0A and L0B at
 * the least; products of a block of n columns. All 0 without a residual. */
enum vinci_status matmul_residual_check(struct lower_job *job, const struct matmul *mm);
uint64_t matmul_residual_l1_bytes(const struct matmul *mm, uint64_t bm, uint64_t bn);
uint64_t matmul_residual_l0_bytes(const struct matmul *mm);
uint64_t matmul_residual_steps(const struct matmul *mm, uint64_t n);
/* Cores that are cube and vector core in one (matmul_coupled.c): c100 and m200. */
bool matmul_is_coupled(const struct vinci_soc *soc);
enum vinci_status matmul_coupled_check(struct lower_job *job, const struct matmul *mm);
/* What N rows of a block take to leave that begin where blocks of 32 bytes do not: each has a copy
 * of its own, and one for its end. 0 for others. */
uint64_t matmul_coupled_line_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                                    uint64_t rows);
bool matmul_coupled_fits(struct lower_job *job, const struct matmul_tiling *tiling);
bool matmul_candidate(struct lower_job *job, size_t index);
/* The blocks among which matmul_candidate() chooses; the rest of the problem is set. */
void matmul_set_sides(const struct vinci_soc *soc, struct matmul *mm);
bool matmul_cost(struct lower_job *job);
void matmul_emit(const struct lower_job *job, struct emit *emit);
/* The template of operators whose trace is that of a matmul. */
#define MATMUL_TEMPLATE(candidate_)                                                                \
  { setup, candidate_, matmul_cost, matmul_emit }

/* hf32 is how the cube reads fp32. */
static inline enum dtype matmul_stored(enum dtype type) {
  return type == DTYPE_HF32 ? DTYPE_FP32 : type;
}

/* Columns of a block of an NZ result; int32 leaves as it lies in L0C, and so do all sums of coupled
 * cores. */
static inline uint64_t matmul_out_c0(const struct matmul *mm) {
  bool whole = mm->out_type == DTYPE_INT32 || (mm->coupled && mm->out_type == DTYPE_FP32);
  return whole ? FRACTAL_ROWS : BLOCK_BYTES / mm->out_bytes;
}

/* Sums of bytes leave as fp16 or int8, times one scale or one for each column. */
void matmul_set_scale(struct matmul *mm, double scale, bool columns);

/* Whether the vendor's library takes its one block for the shape on a chip. */
bool matmul_has_library_block(const struct vinci_soc *soc, const struct matmul *mm);
/* The deepest step that L0 holds twice, a multiple of the unit. */
uint64_t matmul_deepest_step(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                             uint64_t bn, uint64_t unit);
/* Blocks that L0C holds: two, if they fit. */
uint64_t matmul_c_slots(const struct vinci_soc *soc, const struct matmul_tiling *tiling);
/* From a step of A in L0A, or B in L0B, to the next; from a block in L0C to the next. */
static inline uint64_t matmul_a_step_bytes(const struct matmul *mm, const struct matmul_tiling *t) {
  return t->bm * t->bk * mm->element_bytes;
}

static inline uint64_t matmul_c_bytes(const struct matmul_tiling *t) {
  return t->bm * t->bn * ACCUMULATOR_BYTES;
}
static inline uint64_t matmul_b_step_bytes(const struct matmul *mm, const struct matmul_tiling *t) {
  return t->bn * (t->bk + mm->b_spill) * mm->element_bytes;
}

/* A tiling key, MATMUL_TILE to MATMUL_CORES; MATMUL_SPLIT unless the product is alone. */
static inline struct lower_value *matmul_key(struct lower_job *job, enum matmul_key key) {
  const struct matmul *mm = (const struct matmul *)job->data;
  return &job->value[mm->first_key + (size_t)key - MATMUL_TILE];
}
void matmul_set_tiling(struct lower_job *job, const uint64_t tile[3], uint64_t ka, uint64_t kb,
                       enum matmul_resident resident);
static inline struct lower_value matmul_size(uint64_t size) {
  return (struct lower_value){.present = true, .size = size};
}
static inline struct lower_value matmul_shape(unsigned rank, uint64_t a, uint64_t b, uint64_t c) {
  return (struct lower_value){.present = true, .rank = rank, .shape = {a, b, c}};
}
/*
 * MatMulV2 shares the columns of a few rows evenly, in whole fractals: profiles with 32 rows have
 * 16 cores for 4096 columns, 21 for 1000, 24 for 9216.
 */
static inline bool matmul_is_flat(const struct matmul *mm) {
  enum { FLAT_ROWS = 64 };
  return mm->shallow && mm->batch == 1 && mm->m <= FLAT_ROWS;
}
/* Columns of a tile, and k, come in such units. */
static inline uint64_t matmul_unit(const struct matmul *mm) {
  return mm->c0 > FRACTAL_ROWS ? mm->c0 : FRACTAL_ROWS;
}
/* Cores with a cube. */
static inline uint64_t matmul_cores(const struct vinci_soc *soc) {
  return soc_core_count(soc, emit_cube_core(soc));
}
/* A listed side, shrunk to what splits the extent into as many blocks of equal size. */
uint64_t matmul_even(uint64_t extent, uint64_t side, uint64_t unit);

#endif
