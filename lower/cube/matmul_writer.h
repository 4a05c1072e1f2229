/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the writer of matmul traces: matmul_emit.c has the stream, matmul_load.c and
 * conv_load.c the copies to L1, matmul_step.c what follows from there on.
 */
#ifndef VINCI_LOWER_CUBE_MATMUL_WRITER_H
#define VINCI_LOWER_CUBE_MATMUL_WRITER_H

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/cube/conv.h"

enum { FLAG_INNER = 2, FLAG_BIAS = 4, FLAG_BT = 2, L0_SLOTS = 2, L1_SLOTS = 2 };

/* Where a group lies. Names of its variables in the trace end in `suffix`. */
struct group {
  struct emit *e;
  const char *suffix;
  struct expr i, t;           /* number of the block on this core, and of all */
  struct expr z, part;        /* batch and part of k */
  struct expr k, from, depth; /* first k within the part; the part's first k, and how many */
  struct expr m, n, cm, cn;   /* first row and column, and how many */
  struct expr outer;          /* number of the outer panel on this core */
  /* Of a convolution: first row of the result; rows of the map from `up` on, `height` of them, the
   * last that windows ask for being `low`. */
  struct expr oy, low, up, height;
};

/* What every part needs. */
struct writer {
  struct emit *e;
  const struct matmul *mm;
  struct matmul_tiling t;
  struct group now, next;
  struct expr first;              /* block of the core, with a resident operand */
  struct expr more, fresh, last;  /* a group follows; its outer panel is new; is used last */
  struct expr u, turns, turn;     /* of the group, how many it has, number on this core */
  struct expr ku, du;             /* first k of the turn, and how many */
  struct expr da, db;             /* depth of the panels in L1 */
  struct expr s, kk, l0;          /* step of the turn, its k, its half of L0 */
  struct expr a_src, a_at, a_dst; /* of a step: the panel, where in its k, the half of L0A */
  struct expr b_src, b_at, b_dst;
};

static inline enum dtype matmul_accumulator(const struct matmul *mm) {
  return mm->type == DTYPE_INT8 ? DTYPE_INT32 : DTYPE_FP32;
}

/* Fractals along N rows or columns, and the rows or columns of those. */
static inline struct expr fractals(struct expr count) { return x_ceil_div(count, FRACTAL_ROWS); }
static inline struct expr padded(struct expr count) { return x_round_up(count, FRACTAL_ROWS); }

/* Rows of a batch of the result, and elements, with what fills up blocks in NZ. */
static inline uint64_t matmul_out_rows(const struct matmul *mm) {
  return mm->nz_c && !mm->conv ? round_up(mm->m, FRACTAL_ROWS) : mm->m;
}

static inline uint64_t matmul_out_elements(const struct matmul *mm) {
  return matmul_out_rows(mm) * (mm->nz_c ? round_up(mm->n, matmul_out_c0(mm)) : mm->n);
}

/* The pipe that empties L0C. */
static inline enum pipe matmul_out_pipe(const struct writer *w) {
  return w->mm->coupled ? PIPE_V : PIPE_FIX;
}

/* Between the cores of a block: a panel of B is made, its place is free; a block of the result is
 * stored, its place is free. */
enum { MATMUL_SIGNAL_MADE, MATMUL_SIGNAL_FREE, MATMUL_SIGNAL_STORED, MATMUL_SIGNAL_TAKEN };
/* Vector cores of a block; places for panels of B, or for blocks of the result. */
enum { MATMUL_VECTORS = 2, MATMUL_PLACES = 4 };
static inline bool matmul_is_made(const struct matmul *mm) {
  return mm->vectors && mm->vectors->make_b;
}

/* Where one of this block's places lies in a workspace of such. */
static inline struct expr matmul_place(const struct writer *w, struct expr number, uint64_t bytes) {
  struct expr place = x_mod(number, MATMUL_PLACES);
  return x_mul(x_add(x_mul(x_name(w->e, "blk"), MATMUL_PLACES), place), bytes);
}

/* The address of a slot of a buffer whose slots have N bytes each. */
static inline struct expr matmul_slot(struct emit *e, const char *buffer, struct expr slot,
                                      uint64_t bytes) {
  return x_at(x_name(e, buffer), slot, bytes);
}

/* The same of an operand's panels in L1. */
static inline struct expr matmul_panel_slot(const struct writer *w, bool is_a, struct expr slot) {
  return matmul_slot(w->e, is_a ? "a1" : "b1", slot,
                     is_a ? w->t.a_panel_bytes : w->t.b_panel_bytes);
}

/* The slot of L0C that a block has. */
static inline struct expr matmul_c_slot(const struct writer *w, struct expr i) {
  return x_mod(i, w->t.c_slots);
}

/* ---- the stream (matmul_emit.c) ---- */

/* The groups of this core: of every cores-th block, or of a run of them, from w->first on. */
struct expr matmul_share(struct writer *w);
/* Of group `number` of the core. Outer panels are counted from 0 on each core. */
struct group matmul_group(const struct writer *w, struct expr number, const char *suffix);

/* Group, rows and columns of a block of grouped_matmul (grouped.c). */
void grouped_place(const struct writer *w, struct group *g);
/* Variables and loops of a group. */
struct expr group_let(const struct group *g, const char *name, struct expr value);
struct expr group_for(const struct group *g, const char *name, struct expr count);
void matmul_put_tensor(struct emit *e, const struct matmul_tensor *tensor, enum tensor_io io);
void matmul_buffers(const struct writer *w);
/* The loop over slots that sets every flag that says "free", or takes them back. */
struct expr matmul_free_slots(const struct writer *w, bool set, const char *name, uint64_t slots);
void matmul_zeros(struct emit *e, struct expr dst, struct expr blocks);

/* ---- to L1 (matmul_load.c, conv_load.c) ---- */

/* A panel of an operand, as it comes to a slot of L1. */
struct matmul_panel {
  const struct writer *w;
  const struct group *g;
  bool is_a;
  struct expr dst;
  struct expr number; /* among the panels of the operand on this core */
  /* From matmul_load_panel(): first row and column in the operand's matrix, and how many. */
  struct expr row, column, rows, columns;
};
/* From k on, `depth` deep. */
void matmul_load_panel(struct matmul_panel *panel, struct expr k, struct expr depth);
/* Runs of blocks as rows of a matrix whose columns of blocks follow each other in L1: `count` runs,
 * `apart` and `pitch` blocks from one to the next in GM and in L1. */
void matmul_copy_blocks(const struct matmul_panel *panel, struct expr src, struct expr count,
                        struct expr blocks, uint64_t apart, struct expr pitch);
/* What load3d fills the borders of maps with, unless that is 0, or A is a matrix. */
void conv_padding(const struct writer *w);
void conv_load_panel(const struct matmul_panel *panel, struct expr k, struct expr depth);
/* Whole lines of some blocks of channels; lines and maps in blocks of 32 bytes. Of large maps each
 * block of channels is a copy of its own, in a loop of that name. */
void conv_copy_lines(const struct group *g, const char *name, struct expr dst, struct expr src,
                     struct expr channels, struct expr lines, uint64_t line, uint64_t map);
/* Rows of the map under the windows of a block whose last row of the result is known. */
void conv_put_map(const struct conv *conv, struct group *g, struct expr last_row);
/* The group of weights that batch z uses. */
struct expr conv_weights_of(const struct conv *conv, struct expr z);
/* Whether a panel of an operand comes in one copy for each row or column. */
bool matmul_many_copies(const struct writer *w, bool is_a);
/* Instructions of MTE2 for a panel of an operand, at most: copies, flags around them, zeros. */
uint64_t matmul_panel_rows(const struct writer *w, bool is_a);

/* ---- from L1 on (matmul_step.c) ---- */

/* The steps of a turn: loads to L0, and mads. */
void matmul_steps(struct writer *w);
/* One of them, of a turn that is `depth` deep and has `steps`. In between: the loads, a handshake
 * of MTE1 and M, the mads. */
void matmul_begin_step(struct writer *w, struct expr depth, struct expr turn, uint64_t steps);
void matmul_end_step(const struct writer *w);
/* A barrier between mads of few fractals, behind the first of the block. */
void matmul_mad_barrier(const struct writer *w, struct expr step, struct expr tiles);
void matmul_mad(const struct writer *w, struct expr m, struct expr n, struct expr init,
                bool from_bias);

/* Fields of load3d: what it brings where; a matrix in L1, as a map that is one row of points with
 * channels; the windows of a block's map; the type. */
#define LOAD3D_PART(dst_, src_, k_ext_, m_ext_)                                                    \
  F("dst", dst_), F("src", src_), F("k_ext", k_ext_), F("m_ext", m_ext_)
#define LOAD3D_MATRIX(points_, channels_)                                                          \
  F("filter_w", 1), F("filter_h", 1), F("l1_w", points_), F("l1_h", 1), F("channels", channels_)
#define LOAD3D_WINDOWS(conv_, block_, channels_)                                                   \
  F("stride_w", (conv_)->sw), F("stride_h", (conv_)->sh), F("filter_w", (conv_)->kw),              \
      F("filter_h", (conv_)->kh), F("dilation_w", (conv_)->dw), F("dilation_h", (conv_)->dh),      \
      F("pad_left", (conv_)->left), F("pad_right", (conv_)->right),                                \
      F("pad_top", x_max(0, x_sub((conv_)->top, x_mul((block_)->oy, (conv_)->sh)))),               \
      F("pad_bottom", x_max(0, x_sub((block_)->low, (conv_)->h - 1))), F("l1_w", (conv_)->w),      \
      F("l1_h", (block_)->height), F("channels", channels_)
/* Of the first version: from one window on, counted from the first row of the result that the block
 * has; kblock: the block of channels and point of the filter. */
#define LOAD3D_ONE(conv_, block_, above_, window_, kblock_)                                        \
  F("first_x", x_sub(x_mul(x_mod(window_, (conv_)->wo), (conv_)->sw), (conv_)->left)),             \
      F("first_y", x_sub(x_mul(x_div(window_, (conv_)->wo), (conv_)->sh), above_)),                \
      F("c1", x_div(kblock_, (conv_)->kh *(conv_)->kw)),                                           \
      F("point_x", x_mod(kblock_, (conv_)->kw)),                                                   \
      F("point_y", x_mod(x_div(kblock_, (conv_)->kw), (conv_)->kh)), F("stride_w", (conv_)->sw),   \
      F("stride_h", (conv_)->sh), F("filter_w", (conv_)->kw), F("filter_h", (conv_)->kh),          \
      F("dilation_w", (conv_)->dw), F("dilation_h", (conv_)->dh), F("pad_left", (conv_)->left),    \
      F("pad_right", (conv_)->right), F("pad_top", above_), F("l1_w", (conv_)->w),                 \
      F("l1_h", (block_)->height)
#define LOAD3D_TYPE(mm_) W("type", dtype_name(matmul_stored((mm_)->type)))
void conv_windows_to_l0a(const struct writer *w);
void conv_turned_to_l0b(const struct writer *w);

/* Where the block begins, from a column on, in what lies as C does with elements of N bytes. */
struct expr matmul_place_in(const struct writer *w, struct expr base, struct expr column,
                            uint64_t bytes);
/* The same in C. */
struct expr matmul_c_at(const struct writer *w, struct expr column);
/* Out of L0C by the fixpipe: n x m values, of blocks of `height` rows, to rows that are `stride`
 * apart; the form is the field that turns them into it, or NULL. */
void matmul_fixpipe(const struct writer *w, struct expr dst, struct expr n, struct expr m,
                    struct expr height, uint64_t stride, const char *form);
/* Columns of a block that are stored. */
struct expr matmul_stored_columns(const struct writer *w, const struct group *g);
/* The registers of the fixpipe, once. */
void matmul_scale(const struct writer *w);
/* After the last turn: the block leaves L0C. */
void matmul_store(const struct writer *w);

/* ---- a residual (matmul_residual.c) ---- */

/* Buffers; the identity, once; flags that say that its panels are free; the copy of a block's part;
 * the products that a block begins with. */
void matmul_residual_buffers(const struct writer *w);
void matmul_residual_start(const struct writer *w);
void matmul_residual_flags(const struct writer *w, bool set, struct expr half);
void matmul_residual_load(const struct writer *w, const struct group *g);
/* Instructions of MTE2 for that copy, at most. */
uint64_t matmul_residual_rows(const struct writer *w);
void matmul_residual_begin(struct writer *w);

/* ---- k in parts (matmul_split.c) ---- */

/* AIV of a block, the workspace, buffers, and what follows the stream of the cube. */
unsigned matmul_split_vectors(const struct writer *w);
void matmul_split_tensor(const struct writer *w);
/* Where the block begins in the workspace. */
struct expr matmul_split_place(const struct writer *w);
void matmul_split_buffers(const struct writer *w);
void matmul_split_sum(const struct writer *w);

/* ---- coupled cores (matmul_coupled.c) ---- */

/* Buffers, flags that say "free", the ways to L0 and out of L0C. */
void matmul_coupled_buffers(const struct writer *w);
void matmul_coupled_flags(const struct writer *w, bool set);
void matmul_coupled_to_l0a(const struct writer *w);
void matmul_coupled_to_l0b(const struct writer *w);
void matmul_coupled_store(const struct writer *w);
/* The row of bias into UB; its part into the block of L0C; the scale on the way out. */
void matmul_coupled_bias_row(const struct writer *w);
void matmul_coupled_bias(const struct writer *w, const struct group *g);
/* Whether a block has its bias while the block before is computed, in another part of L0C. */
static inline bool matmul_bias_ahead(const struct writer *w) {
  return w->mm->bias && w->mm->coupled && w->t.c_slots > 1;
}
void matmul_coupled_scale(const struct writer *w);

#endif
