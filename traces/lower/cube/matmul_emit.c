/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a matmul. Copies to L1 run one turn ahead of the loads to L0, and those one step
 * ahead of the cube. Names in the text: g counts groups, u turns of a group, s steps of a turn;
 * names that end in x belong to the next group.
 *
 * Flags: MTE1 to MTE2 and back, 0 and 1: panels of the outer operand, 2 and 3: of the inner one,
 * 4 and 5: rows of bias. M to MTE1 and back, 0 and 1: halves of L0; 2: the bias table. M to FIX
 * and back: blocks in L0C. FIX to MTE2 and back, 0 and 1: rows of scales. "Back" says filled, the
 * other direction free.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/arith.h"
#include "traces/lower/cube/matmul_writer.h"

enum { NAME_BYTES = 32 };

/* ---- header ---- */

static void matrix(const struct writer *w, const char *name, enum dtype type, enum tensor_io io,
                   uint64_t batches, uint64_t rows, uint64_t columns, bool nz) {
  uint64_t c0 = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(type);
  const uint64_t nd_shape[3] = {batches, rows, columns};
  const uint64_t nz_shape[5] = {batches, ceil_div(columns, c0), ceil_div(rows, FRACTAL_ROWS),
                                FRACTAL_ROWS, c0};
  unsigned skip = batches == 1;
  emit_tensor(w->e, name, type, io, (nz ? nz_shape : nd_shape) + skip, (nz ? 5 : 3) - skip,
              nz ? "FRACTAL_NZ" : NULL);
}

static void operand(const struct writer *w, bool is_a) {
  const struct matmul *mm = w->mm;
  uint64_t side = is_a ? mm->m : mm->n;
  bool by_k = is_a ? mm->trans_a : !mm->trans_b;
  matrix(w, is_a ? mm->a_name : mm->b_name, matmul_stored(mm->type), TENSOR_IN,
         is_a ? mm->a_batches : mm->b_batches, by_k ? mm->k : side, by_k ? side : mm->k,
         is_a ? mm->nz_a : mm->nz_b);
}

static void conv_operands(const struct writer *w) {
  const struct matmul *mm = w->mm;
  const struct conv *conv = mm->conv;
  bool gradient = conv->gradient;
  uint64_t c0 = mm->c0, groups = conv->groups;
  const uint64_t x[5] = {mm->batch / groups, groups * conv->c1, gradient ? conv->given_h : conv->h,
                         gradient ? conv->given_w : conv->w, conv->block};
  const uint64_t weights[4] = {groups * ceil_div(mm->k, c0), ceil_div(mm->n, FRACTAL_ROWS),
                               FRACTAL_ROWS, c0};
  /* The same weights as forward: there k and n have changed places. */
  const uint64_t turned[4] = {groups * ceil_div(mm->n, c0) * conv->kh * conv->kw,
                              ceil_div(conv->c1 * c0, FRACTAL_ROWS), FRACTAL_ROWS, c0};
  emit_tensor(w->e, mm->a_name, matmul_stored(mm->type), TENSOR_IN, x, 5, "NC1HWC0");
  emit_tensor(w->e, mm->b_name, matmul_stored(mm->type), TENSOR_IN, gradient ? turned : weights, 4,
              "FRACTAL_Z");
}

static void tensors(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct conv *conv = mm->conv;
  uint64_t c0 = matmul_out_c0(mm), c1 = conv ? conv->groups * ceil_div(mm->n, c0) : 0;
  if (conv) {
    conv_operands(w);
  } else {
    operand(w, true);
    operand(w, false);
  }
  if (mm->bias)
    emit_vector(e, "bias", matmul_accumulator(mm), TENSOR_IN, conv ? conv->channels : mm->n);
  if (mm->scale == SCALE_COLUMNS)
    emit_vector(e, "scales", DTYPE_INT64, TENSOR_IN, conv ? c1 * c0 : mm->n);
  if (conv) {
    const uint64_t y[5] = {mm->batch / conv->groups, c1, conv->ho, conv->wo, c0};
    emit_tensor(e, mm->c_name, mm->out_type, TENSOR_OUT, y, 5, "NC1HWC0");
  } else {
    matrix(w, mm->c_name, mm->out_type, TENSOR_OUT, mm->batch, mm->m, mm->n, mm->nz_c);
  }
  if (w->t.split > 1)
    matmul_split_tensor(w);
}

static uint64_t a_bytes(const struct matmul_tiling *t) {
  return t->a_panel_bytes * (t->a_outer ? t->outer_slots : L1_SLOTS);
}

void matmul_l1_buffers(const struct writer *w) {
  const struct matmul_tiling *t = &w->t;
  emit_buffer(w->e, "a1", SPACE_L1, a_bytes(t));
  emit_buffer(w->e, "b1", SPACE_L1, t->b_panel_bytes * (t->a_outer ? L1_SLOTS : t->outer_slots));
}

void matmul_l0_buffers(const struct writer *w) {
  const struct matmul_tiling *t = &w->t;
  emit_buffer(w->e, "a0", SPACE_L0A, matmul_a_step_bytes(w->mm, t) * L0_SLOTS);
  emit_buffer(w->e, "b0", SPACE_L0B, matmul_b_step_bytes(w->mm, t) * L0_SLOTS);
  emit_buffer(w->e, "c0", SPACE_L0C, matmul_c_bytes(t) * t->c_slots);
}

/* A row of values for the columns of a block, two of them in L1 and one where they are used. */
static void row_buffers(const struct writer *w, const char *in_l1, const char *in_use,
                        enum space space, uint64_t bytes) {
  emit_buffer(w->e, in_l1, SPACE_L1, w->t.bn * bytes * L1_SLOTS);
  emit_buffer(w->e, in_use, space, w->t.bn * bytes);
}

static void buffers(const struct writer *w) {
  matmul_l1_buffers(w);
  if (w->mm->bias)
    row_buffers(w, "bias1", "bias0", SPACE_BT, ACCUMULATOR_BYTES);
  if (w->mm->scale == SCALE_COLUMNS)
    row_buffers(w, "scales1", "scales0", SPACE_FB, MATMUL_SCALE_BYTES);
  matmul_l0_buffers(w);
  if (w->t.split > 1)
    matmul_split_buffers(w);
  if (w->mm->coupled)
    matmul_coupled_buffers(w);
}

void matmul_zeros(struct emit *e, struct expr dst, struct expr blocks) {
  EMIT(e, "create_cbuf_matrix", F("dst", dst), F("blocks", blocks));
}

/* What is loaded in whole blocks or squares, and no copy writes: zeros. */
static void fill_l1(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  bool squares = !mm->conv && mm->trans_a &&
                 ((mm->element_bytes == 1 && mm->k % mm->c0 != 0) ||
                  (mm->element_bytes == 4 && (mm->k % FRACTAL_ROWS || mm->m % FRACTAL_ROWS)));
  if (squares)
    matmul_zeros(e, x_name(e, "a1"), EXPR(a_bytes(&w->t) / BLOCK_BYTES));
  if (mm->bias)
    matmul_zeros(e, x_name(e, "bias1"), EXPR(w->t.bn * ACCUMULATOR_BYTES * L1_SLOTS / BLOCK_BYTES));
  if (squares || mm->bias)
    emit_barrier(e, PIPE_MTE2);
}

static void header(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  if (t->split > 1)
    emit_mixed_kernel(e, w->mm->name, (uint32_t)t->cores, matmul_split_vectors(w));
  else
    emit_kernel(e, w->mm->name, (uint32_t)t->cores);
  tensors(w);
  buffers(w);
  emit_stream(e, emit_cube_core(e->soc));
  emit_kernel_start(e, KERNEL_CUBE, t->cores);
  fill_l1(w);
}

/* ---- where a group lies ---- */

struct expr group_let(const struct group *g, const char *name, struct expr value) {
  char text[NAME_BYTES];
  snprintf(text, sizeof text, "%s%s", name, g->suffix);
  return emit_assigned(g->e, text, value);
}

struct expr group_for(const struct group *g, const char *name, struct expr count) {
  char text[NAME_BYTES];
  snprintf(text, sizeof text, "%s%s", name, g->suffix);
  return emit_for(g->e, text, count);
}

/* Batch and part of a block, and its range of k. */
static void put_part(const struct writer *w, struct group *g) {
  const struct matmul_tiling *t = &w->t;
  uint64_t per_batch = t->mt * t->nt, steps = ceil_div(w->mm->k, t->bk);
  g->z = group_let(g, "z", x_div(g->t, per_batch * t->split));
  g->part = g->from = EXPR(0);
  g->depth = EXPR(w->mm->k);
  if (t->split == 1)
    return;
  g->part = group_let(g, "part", x_mod(x_div(g->t, per_batch), t->split));
  g->from = group_let(g, "from", x_mul(x_div(x_mul(g->part, steps), t->split), t->bk));
  struct expr end = x_mul(x_div(x_mul(x_add(g->part, 1), steps), t->split), t->bk);
  g->depth = group_let(g, "depth", x_sub(x_min(w->mm->k, end), g->from));
}

/* Rows and columns of block r of a batch: along rows, along columns, or in bands of rows. */
static void put_sides(const struct writer *w, struct group *g) {
  const struct matmul_tiling *t = &w->t;
  struct expr r = group_let(g, "r", x_mod(g->t, t->mt * t->nt)), row, column;
  if (t->resident == RESIDENT_A || (t->resident == RESIDENT_NONE && t->band == 1)) {
    row = x_div(r, t->nt);
    column = x_mod(r, t->nt);
  } else if (t->resident == RESIDENT_B || t->band == t->mt) {
    row = x_mod(r, t->mt);
    column = x_div(r, t->mt);
  } else {
    struct expr band = group_let(g, "band", x_mul(x_div(r, t->band * t->nt), t->band));
    struct expr rows = group_let(g, "rows", x_min(t->band, x_sub(t->mt, band)));
    struct expr q = group_let(g, "q", x_sub(r, x_mul(band, t->nt)));
    row = x_add(band, x_mod(q, rows));
    column = x_div(q, rows);
  }
  g->m = group_let(g, "m", x_mul(row, t->rows));
  g->n = group_let(g, "n", x_mul(column, t->bn));
  g->cm = group_let(g, "cm", x_min(t->rows, x_sub(w->mm->m, g->m)));
  g->cn = group_let(g, "cn", x_min(t->bn, x_sub(w->mm->n, g->n)));
}

/* Of group `number` of the core. Outer panels are counted from 0 on each core. */
static struct group put_group(const struct writer *w, struct expr number, const char *suffix) {
  const struct matmul_tiling *t = &w->t;
  bool held = t->resident != RESIDENT_NONE;
  uint64_t run = t->resident == RESIDENT_A ? t->nt : t->mt;
  struct group g = {.e = w->e, .suffix = suffix};
  g.i = group_let(&g, "i", x_div(number, t->groups));
  g.t = group_let(&g, "t",
                  held ? x_add(g.i, w->first) : x_add(x_mul(g.i, t->cores), x_name(w->e, "blk")));
  g.k = group_let(&g, "k", x_mul(x_mod(number, t->groups), t->outer_k));
  put_part(w, &g);
  put_sides(w, &g);
  if (w->mm->conv) {
    g.oy = group_let(&g, "oy", x_div(g.m, w->mm->conv->wo));
    conv_put_map(w->mm->conv, &g, x_div(x_sub(x_add(g.m, g.cm), 1), w->mm->conv->wo));
  }
  g.outer = group_let(&g, "o", held ? x_sub(x_div(g.t, run), x_div(w->first, run)) : number);
  return g;
}

/* ---- GM to L1 ---- */

static struct expr depth_from(const struct group *g, uint64_t panel, struct expr k) {
  return x_min(panel, x_sub(g->depth, k));
}

static void load_outer(const struct writer *w, const struct group *g) {
  bool is_a = w->t.a_outer;
  struct expr slot = x_mod(g->outer, w->t.outer_slots);
  emit_wait(w->e, PIPE_MTE1, PIPE_MTE2, slot);
  matmul_load_panel(w, g, is_a, matmul_panel_slot(w, is_a, slot), x_add(g->from, g->k),
                    depth_from(g, w->t.outer_k, g->k));
  emit_set(w->e, PIPE_MTE2, PIPE_MTE1, slot);
}

/* The inner panel at `k`; `turn` is its number on this core. */
static void load_inner(const struct writer *w, const struct group *g, struct expr k,
                       struct expr turn) {
  bool is_a = !w->t.a_outer;
  struct expr slot = x_mod(turn, L1_SLOTS), id = x_add(FLAG_INNER, slot);
  emit_wait(w->e, PIPE_MTE1, PIPE_MTE2, id);
  matmul_load_panel(w, g, is_a, matmul_panel_slot(w, is_a, slot), x_add(g->from, k),
                    depth_from(g, w->t.inner_k, k));
  emit_set(w->e, PIPE_MTE2, PIPE_MTE1, id);
}

void matmul_row_to_l1(struct emit *e, struct expr dst, struct expr src, struct expr columns,
                      uint64_t extent) {
  EMIT(e, "copy_gm_to_cbuf_multi_nd2nz_b32s", F("dst", dst), F("src", src), F("n", 1),
       F("d", columns), F("src_d", min_u64(extent, UINT16_MAX)), F("dst_c0_stride", 1));
}

/* First column of a block among those of all groups. */
static struct expr first_column(const struct writer *w, const struct group *g) {
  const struct conv *conv = w->mm->conv;
  return conv ? x_add(x_mul(conv_weights_of(conv, g->z), w->mm->n), g->n) : g->n;
}

/*
 * Padding channels of a convolution get what lies behind the last bias: the copy ends it with zeros
 * up to 8 values, what an earlier block has left comes behind.
 */
static void clear_bias_tail(const struct writer *w, const struct group *g, struct expr dst,
                            struct expr count) {
  enum { BLOCK_VALUES = BLOCK_BYTES / ACCUMULATOR_BYTES };
  const struct conv *conv = w->mm->conv;
  uint64_t given = round_up(conv->channels, BLOCK_VALUES);
  if (given == conv->groups * round_up(w->mm->n, FRACTAL_ROWS))
    return;
  struct expr blocks = x_mul(x_ceil_div(g->cn, FRACTAL_ROWS), FRACTAL_ROWS / BLOCK_VALUES);
  struct expr tail = group_let(g, "tail", x_ceil_div(count, BLOCK_VALUES));
  group_for(g, "short", x_gt(blocks, tail));
  matmul_zeros(w->e, x_add(dst, x_mul(tail, BLOCK_BYTES)), x_sub(blocks, tail));
  emit_end(w->e);
}

static void load_bias(const struct writer *w, const struct group *g) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  struct expr first = first_column(w, g), count = g->cn, slot = x_mod(g->i, L1_SLOTS);
  struct expr dst = matmul_slot(e, "bias1", slot, w->t.bn * ACCUMULATOR_BYTES);
  if (conv)
    count = x_min(count, x_sub(conv->channels, first));
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_BIAS, slot));
  if (conv)
    clear_bias_tail(w, g, dst, count);
  matmul_row_to_l1(e, dst, x_add(x_name(e, "bias"), x_mul(first, ACCUMULATOR_BYTES)), count,
                   w->mm->n);
  emit_set(e, PIPE_MTE2, PIPE_MTE1, x_add(FLAG_BIAS, slot));
}

static void load_scales(const struct writer *w, const struct group *g) {
  struct emit *e = w->e;
  uint64_t words = MATMUL_SCALE_BYTES / sizeof(uint32_t);
  struct expr slot = x_mod(g->i, L1_SLOTS);
  emit_wait(e, PIPE_FIX, PIPE_MTE2, slot);
  matmul_row_to_l1(e, matmul_slot(e, "scales1", slot, w->t.bn * MATMUL_SCALE_BYTES),
                   x_add(x_name(e, "scales"), x_mul(first_column(w, g), MATMUL_SCALE_BYTES)),
                   x_mul(matmul_stored_columns(w, g), words), UINT16_MAX);
  emit_set(e, PIPE_MTE2, PIPE_FIX, slot);
}

/* What a new block has besides its panels. */
static void load_rows(const struct writer *w, const struct group *g) {
  if (w->mm->bias)
    load_bias(w, g);
  if (w->mm->scale == SCALE_COLUMNS)
    load_scales(w, g);
}

/* What the next group needs: its outer panel, unless it is there. */
static void load_next_outer(const struct writer *w) {
  if (w->t.resident != RESIDENT_NONE)
    emit_if(w->e, "another", x_gt(w->next.outer, w->now.outer));
  load_outer(w, &w->next);
  if (w->t.resident != RESIDENT_NONE)
    emit_end(w->e);
}

/* And its first inner panel. */
static void load_next_inner(const struct writer *w) {
  const struct group *next = &w->next;
  if (w->mm->bias || w->mm->scale == SCALE_COLUMNS) {
    emit_if(w->e, "new", x_eq(next->k, 0));
    load_rows(w, next);
    emit_end(w->e);
  }
  load_inner(w, next, next->k, x_add(x_mul(next->i, w->t.turns), x_div(next->k, w->t.inner_k)));
}

/* ---- the stream ---- */

/* The row of bias goes to its table; blocks of 8 bits have 32 columns. */
static void bias_to_bt(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t columns = w->mm->element_bytes == 1 ? 2 * FRACTAL_ROWS : FRACTAL_ROWS;
  struct expr slot = x_mod(w->now.i, L1_SLOTS);
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, x_add(FLAG_BIAS, slot));
  emit_wait(e, PIPE_M, PIPE_MTE1, FLAG_BT);
  EMIT(e, "copy_cbuf_to_bt", F("dst", x_name(e, "bias0")),
       F("src", matmul_slot(e, "bias1", slot, w->t.bn * ACCUMULATOR_BYTES)),
       F("len_burst",
         x_mul(x_ceil_div(w->now.cn, columns), columns * ACCUMULATOR_BYTES / BLOCK_BYTES)));
  emit_set(e, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_BIAS, slot));
}

static void begin_block(const struct writer *w) {
  emit_if(w->e, "begin", x_eq(w->ku, 0));
  emit_wait(w->e, matmul_out_pipe(w), PIPE_M, matmul_c_slot(w, w->now.i));
  if (w->mm->bias)
    bias_to_bt(w);
  emit_end(w->e);
}

struct expr matmul_free_slots(const struct writer *w, bool set, const char *name, uint64_t slots) {
  char text[NAME_BYTES];
  snprintf(text, sizeof text, "%s_%s", name, set ? "begin" : "end");
  return emit_for(w->e, text, slots);
}

static void free_flags(const struct writer *w, bool set) {
  struct emit *e = w->e;
  struct expr outer = matmul_free_slots(w, set, "outer", w->t.outer_slots);
  emit_flag_of(e, set, PIPE_MTE1, PIPE_MTE2, outer);
  emit_end(e);
  struct expr half = matmul_free_slots(w, set, "half", L1_SLOTS);
  emit_flag_of(e, set, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_INNER, half));
  emit_flag_of(e, set, PIPE_M, PIPE_MTE1, half);
  if (w->mm->bias)
    emit_flag_of(e, set, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_BIAS, half));
  if (w->mm->scale == SCALE_COLUMNS)
    emit_flag_of(e, set, PIPE_FIX, PIPE_MTE2, half);
  emit_end(e);
  if (w->mm->bias)
    emit_flag_of(e, set, PIPE_M, PIPE_MTE1, EXPR(FLAG_BT));
  struct expr block = matmul_free_slots(w, set, "block", w->t.c_slots);
  emit_flag_of(e, set, matmul_out_pipe(w), PIPE_M, block);
  emit_end(e);
  if (w->mm->coupled)
    matmul_coupled_flags(w, set);
}

/* The copies of a turn that have to be there for the next one. */
static void load_ahead(const struct writer *w, bool outer_first, bool outer_now) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  if (t->outer_k > t->inner_k) {
    emit_if(e, "ahead", x_lt(x_add(w->u, 1), w->turns));
    load_inner(w, &w->now, x_add(w->ku, t->inner_k), x_add(w->turn, 1));
    emit_end(e);
  }
  if (outer_first) {
    emit_if(e, "outer", x_mul(w->more, x_eq(w->u, 0)));
    load_next_outer(w);
    emit_end(e);
  }
  emit_if(e, "next", x_mul(w->more, x_eq(x_add(w->u, 1), w->turns)));
  if (outer_now)
    load_next_outer(w);
  load_next_inner(w);
  emit_end(e);
}

/* From the panels on: they are waited for, used, and given back. */
static void use_panels(struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  struct expr slot = x_mod(w->now.outer, t->outer_slots);
  struct expr inner = x_add(FLAG_INNER, x_mod(w->turn, L1_SLOTS));
  begin_block(w);
  emit_if(e, "filled", x_mul(w->fresh, x_eq(w->u, 0)));
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, slot);
  emit_end(e);
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, inner);
  matmul_steps(w);
  emit_set(e, PIPE_MTE1, PIPE_MTE2, inner);
  emit_if(e, "done", x_mul(w->last, x_eq(x_add(w->u, 1), w->turns)));
  emit_set(e, PIPE_MTE1, PIPE_MTE2, slot);
  emit_end(e);
}

static void put_turn(struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  bool late = t->outer_slots == 1;
  /* Copies that wait for room must not keep the loads that make it out of the scalar unit's way. */
  bool last = late && matmul_many_copies(w, t->a_outer);
  w->ku = emit_assigned(e, "ku", x_add(w->now.k, x_mul(w->u, t->inner_k)));
  w->du = emit_assigned(e, "du", depth_from(&w->now, t->inner_k, w->ku));
  w->turn = emit_assigned(e, "turn", x_add(x_mul(w->now.i, t->turns), x_div(w->ku, t->inner_k)));
  *(t->a_outer ? &w->db : &w->da) = emit_assigned(e, t->a_outer ? "db" : "da", w->du);
  load_ahead(w, !late, late && !last);
  use_panels(w);
  if (last) {
    emit_if(e, "room", x_mul(w->more, x_eq(x_add(w->u, 1), w->turns)));
    load_next_outer(w);
    emit_end(e);
  }
  matmul_store(w);
}

/* The groups of this core: of every cores-th block, or of a run of them. */
static struct expr share_of_core(struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  struct expr blk = x_name(e, "blk");
  uint64_t total = t->blocks_total, cores = t->cores;
  if (t->resident == RESIDENT_NONE) {
    emit_comment(e,
                 "Blocks blk, blk + %" PRIu64 ", ... of %" PRIu64 ", %" PRIu64
                 " rows of blocks at a time.",
                 cores, total, t->band);
    return emit_assigned(e, "groups",
                         x_mul(x_div(x_sub(total + cores - 1, blk), cores), t->groups));
  }
  emit_comment(e, "A run of the %" PRIu64 " blocks, so that %s stays in L1.", total,
               t->resident == RESIDENT_A ? "a panel of a" : "a panel of b");
  w->first = emit_assigned(e, "first", x_div(x_mul(blk, total), cores));
  return emit_assigned(e, "groups", x_sub(x_div(x_mul(x_add(blk, 1), total), cores), w->first));
}

static void first_panels(const struct writer *w, struct expr groups) {
  emit_comment(w->e, "The first panels.");
  emit_if(w->e, "start", w->t.split > 1 ? x_gt(groups, 0) : EXPR(1));
  struct group first = put_group(w, EXPR(0), "");
  load_outer(w, &first);
  load_rows(w, &first);
  load_inner(w, &first, first.k, EXPR(0));
  emit_end(w->e);
}

/* Where this group and the next one lie, and whether the outer panel changes between them. */
static void put_groups(struct writer *w, struct expr g, struct expr groups) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  bool held = t->resident != RESIDENT_NONE;
  uint64_t run = t->resident == RESIDENT_A ? t->nt : t->mt;
  w->now = put_group(w, g, "");
  w->more = emit_assigned(e, "more", x_lt(x_add(g, 1), groups));
  w->next = put_group(w, x_add(g, w->more), "x");
  struct expr changes = x_gt(w->next.outer, w->now.outer);
  w->fresh = emit_assigned(
      e, "fresh", held ? x_max(x_eq(w->now.t, w->first), x_eq(x_mod(w->now.t, run), 0)) : EXPR(1));
  w->last = emit_assigned(e, "last", held ? x_max(x_eq(w->more, 0), changes) : EXPR(1));
}

void matmul_emit(const struct lower_job *job, struct emit *e) {
  struct writer w = {.e = e, .mm = job->data};
  struct lower_job copy = *job;
  if (!matmul_tiling(&copy, &w.t))
    vinci_bug("matmul: %s", copy.reason);
  const struct matmul_tiling *t = &w.t;
  header(&w);
  struct expr groups = share_of_core(&w);
  free_flags(&w, true);
  matmul_scale(&w);
  first_panels(&w, groups);
  put_groups(&w, emit_for(e, "g", groups), groups);
  struct expr depth = depth_from(&w.now, t->outer_k, w.now.k);
  *(t->a_outer ? &w.da : &w.db) = emit_assigned(e, t->a_outer ? "da" : "db", depth);
  w.turns = emit_assigned(e, "turns", x_ceil_div(depth, t->inner_k));
  w.u = emit_for(e, "u", w.turns);
  put_turn(&w);
  emit_end(e);
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(&w, false);
  if (t->split > 1)
    matmul_split_sum(&w);
}
