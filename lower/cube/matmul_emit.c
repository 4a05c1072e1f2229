/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a matmul. Copies to L1 run one turn ahead of the loads to L0, unless they are in the
 * library's order, and those one step ahead of the cube. Names in the text: g counts groups, u
 * turns of a group, s steps of a turn; names that end in x belong to the next group.
 *
 * Flags: MTE1 to MTE2 and back, 0 and 1: panels of the outer operand, 2 and 3: of the inner one,
 * 4 and 5: rows of bias, 6 and 7: residuals. M to MTE1 and back, 0 and 1: halves of L0; 2: the bias
 * table. M to FIX and back: blocks in L0C, unless unit flags hand these over. FIX to MTE2 and back,
 * 0 and 1: rows of scales. "Back" says filled, the other direction free.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/arith.h"
#include "lower/cube/matmul_tail.h"
#include "lower/cube/matmul_writer.h"

enum { NAME_BYTES = 32, ROWS_MAX = 2 };

/* Values for the columns of a block, two rows of them in L1 and one where they are used. */
struct row {
  const char *name, *in_l1, *in_use;
  uint64_t bytes; /* of a value */
  enum space space;
  enum pipe user; /* takes them from L1 */
  unsigned flag;
};

/* Those that a matmul has. */
static unsigned rows_of(const struct matmul *mm, struct row rows[ROWS_MAX]) {
  unsigned count = 0;
  if (mm->coupled) /* matmul_coupled.c */
    return 0;
  if (mm->bias)
    rows[count++] =
        (struct row){"bias", "bias1", "bias0", ACCUMULATOR_BYTES, SPACE_BT, PIPE_MTE1, FLAG_BIAS};
  if (mm->scale == SCALE_COLUMNS)
    rows[count++] =
        (struct row){"scales", "scales1", "scales0", MATMUL_SCALE_BYTES, SPACE_FB, PIPE_FIX, 0};
  return count;
}

/* ---- header ---- */

void matmul_put_tensor(struct emit *e, const struct matmul_tensor *tensor, enum tensor_io io) {
  emit_tensor(e, tensor->name, tensor->type, io, tensor->shape, tensor->rank, tensor->format);
}

void matmul_buffers(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  struct row rows[ROWS_MAX];
  unsigned row_count = rows_of(w->mm, rows);
  emit_buffer(e, "a1", SPACE_L1, t->a_panel_bytes * (t->a_outer ? t->outer_slots : L1_SLOTS));
  emit_buffer(e, "b1", SPACE_L1, t->b_panel_bytes * (t->a_outer ? L1_SLOTS : t->outer_slots));
  for (unsigned i = 0; i < row_count; i++) {
    emit_buffer(e, rows[i].in_l1, SPACE_L1, t->bn * rows[i].bytes * L1_SLOTS);
    emit_buffer(e, rows[i].in_use, rows[i].space, t->bn * rows[i].bytes);
  }
  uint64_t least = matmul_residual_l0_bytes(w->mm);
  if (w->mm->residual)
    matmul_residual_buffers(w);
  emit_buffer(e, "a0", SPACE_L0A, max_u64(matmul_a_step_bytes(w->mm, t) * L0_SLOTS, least));
  emit_buffer(e, "b0", SPACE_L0B, max_u64(matmul_b_step_bytes(w->mm, t) * L0_SLOTS, least));
  emit_buffer(e, "c0", SPACE_L0C, matmul_c_bytes(t) * t->c_slots);
  if (t->early)
    emit_buffer(e, "early", SPACE_L1, BLOCK_BYTES);
}

void matmul_zeros(struct emit *e, struct expr dst, struct expr blocks) {
  EMIT(e, "create_cbuf_matrix", F("dst", dst), F("blocks", blocks));
}

/* What is loaded in whole blocks or squares, and no copy writes: zeros. */
static void fill_l1(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct matmul_tiling *t = &w->t;
  bool squares = !mm->conv && mm->trans_a &&
                 ((mm->element_bytes == 1 && mm->k % mm->c0 != 0) ||
                  (mm->element_bytes == 4 && (mm->k % FRACTAL_ROWS || mm->m % FRACTAL_ROWS)));
  uint64_t a_bytes = t->a_panel_bytes * (t->a_outer ? t->outer_slots : L1_SLOTS);
  if (squares)
    matmul_zeros(e, x_name(e, "a1"), EXPR(a_bytes / BLOCK_BYTES));
  if (mm->bias && !mm->coupled)
    matmul_zeros(e, x_name(e, "bias1"), EXPR(t->bn * ACCUMULATOR_BYTES * L1_SLOTS / BLOCK_BYTES));
  if (squares || (mm->bias && !mm->coupled))
    emit_barrier(e, PIPE_MTE2);
}

/* The wait of the first read of a core may pass while the scalar unit works. */
static void start(const struct writer *w) {
  struct emit *e = w->e;
  enum kernel_code code = w->mm->conv ? KERNEL_CONV : KERNEL_CUBE;
  emit_kernel_code(e, code);
  if (w->t.early) {
    emit_comment(e, "A read ahead of all others: the first of a core takes long.");
    EMIT(e, "copy_gm_to_cbuf", W("dst", "early"), F("src", x_name(e, w->mm->a.name)),
         F("len_burst", 1));
  }
  emit_kernel_head(e, code);
}

static void header(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct matmul_tiling *t = &w->t;
  if (mm->vectors)
    emit_mixed_kernel(e, mm->name, (uint32_t)t->cores, MATMUL_VECTORS);
  else if (t->split > 1)
    emit_mixed_kernel(e, mm->name, (uint32_t)t->cores, matmul_split_vectors(w));
  else
    emit_kernel(e, mm->name, (uint32_t)t->cores);
  matmul_put_tensor(e, &mm->a, TENSOR_IN);
  if (!matmul_is_made(mm))
    matmul_put_tensor(e, &mm->b, TENSOR_IN);
  if (mm->vectors)
    mm->vectors->tensors(w);
  if (mm->bias)
    emit_vector(e, "bias", matmul_accumulator(mm), TENSOR_IN, mm->biases);
  if (mm->scale == SCALE_COLUMNS)
    emit_vector(e, "scales", DTYPE_INT64, TENSOR_IN, mm->scales);
  if (mm->residual)
    matmul_put_tensor(e, &mm->r, TENSOR_IN);
  if (mm->tail)
    matmul_tail_tensors(w);
  matmul_put_tensor(e, &mm->c, TENSOR_OUT);
  if (t->split > 1)
    matmul_split_tensor(w);
  matmul_buffers(w);
  if (t->split > 1)
    matmul_split_buffers(w);
  if (mm->vectors)
    mm->vectors->buffers(w);
  if (mm->coupled)
    matmul_coupled_buffers(w);
  emit_stream(e, emit_cube_core(e->soc));
  start(w);
  fill_l1(w);
  if (mm->residual)
    matmul_residual_start(w);
}

/* ---- where a group lies ---- */

static const char *name_in(char text[NAME_BYTES], const char *name, const char *suffix) {
  snprintf(text, NAME_BYTES, "%s%s", name, suffix);
  return text;
}

struct expr group_let(const struct group *g, const char *name, struct expr value) {
  char text[NAME_BYTES];
  return emit_assigned(g->e, name_in(text, name, g->suffix), value);
}

struct expr group_for(const struct group *g, const char *name, struct expr count) {
  char text[NAME_BYTES];
  return emit_for(g->e, name_in(text, name, g->suffix), count);
}

/* Batch and part of a block, and its range of k. */
static void put_part(const struct writer *w, struct group *g) {
  const struct matmul_tiling *t = &w->t;
  uint64_t per_batch = t->mt * t->nt, unit = matmul_part_unit(w->mm, t);
  uint64_t units = ceil_div(w->mm->k, unit);
  g->z = group_let(g, "z", x_div(g->t, per_batch * t->split));
  g->part = g->from = EXPR(0);
  g->depth = EXPR(w->mm->k);
  if (t->split == 1)
    return;
  g->part = group_let(g, "part", x_mod(x_div(g->t, per_batch), t->split));
  g->from = group_let(g, "from", x_mul(x_div(x_mul(g->part, units), t->split), unit));
  struct expr end = x_mul(x_div(x_mul(x_add(g->part, 1), units), t->split), unit);
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
    struct expr rows = group_let(g, "rows", x_rest(t->band, t->mt, band));
    struct expr q = group_let(g, "q", x_sub(r, x_mul(band, t->nt)));
    row = x_add(band, x_mod(q, rows));
    column = x_div(q, rows);
  }
  g->m = group_let(g, "m", x_mul(row, t->rows));
  g->n = group_let(g, "n", x_mul(column, t->bn));
  g->cm = group_let(g, "cm", x_rest(t->rows, w->mm->m, g->m));
  g->cn = group_let(g, "cn", x_rest(t->bn, w->mm->n, g->n));
}

struct group matmul_group(const struct writer *w, struct expr number, const char *suffix) {
  const struct matmul_tiling *t = &w->t;
  bool held = t->resident != RESIDENT_NONE;
  uint64_t run = t->resident == RESIDENT_A ? t->nt : t->mt;
  struct group g = {.e = w->e, .suffix = suffix};
  g.i = group_let(&g, "i", x_div(number, t->groups));
  g.t = group_let(&g, "t",
                  held ? x_add(g.i, w->first) : x_add(x_mul(g.i, t->cores), x_name(w->e, "blk")));
  g.k = group_let(&g, "k", x_mul(x_mod(number, t->groups), t->outer_k));
  if (w->mm->groups) {
    grouped_place(w, &g);
  } else {
    put_part(w, &g);
    put_sides(w, &g);
  }
  if (w->mm->conv) {
    g.oy = group_let(&g, "oy", x_div(g.m, w->mm->conv->wo));
    conv_put_map(w->mm->conv, &g, x_div(x_sub(x_add(g.m, g.cm), 1), w->mm->conv->wo));
  }
  g.outer = group_let(&g, "o", held ? x_sub(x_div(g.t, run), x_div(w->first, run)) : number);
  return g;
}

/* ---- GM to L1 ---- */

/* A panel from k on; an inner one is number `turn` on this core. */
static void load_panel(const struct writer *w, const struct group *g, bool outer, struct expr k,
                       struct expr turn) {
  const struct matmul_tiling *t = &w->t;
  bool is_a = outer == t->a_outer;
  struct expr slot = outer ? x_mod(g->outer, t->outer_slots) : x_mod(turn, L1_SLOTS);
  struct expr id = outer ? slot : x_add(FLAG_INNER, slot);
  struct expr depth = x_rest(outer ? t->outer_k : t->inner_k, g->depth, k);
  bool made = !is_a && matmul_is_made(w->mm);
  if (made)
    EMIT(w->e, "wait_flag_dev", F("id", MATMUL_SIGNAL_MADE));
  emit_wait(w->e, PIPE_MTE1, PIPE_MTE2, id);
  struct matmul_panel panel = {w, g, is_a, .dst = matmul_panel_slot(w, is_a, slot),
                               .number = outer ? g->outer : turn};
  matmul_load_panel(&panel, x_add(g->from, k), depth);
  emit_set(w->e, PIPE_MTE2, PIPE_MTE1, id);
  if (made)
    EMIT(w->e, "ffts_cross_core_sync", W("pipe", "MTE2"), F("mode", 2),
         F("id", MATMUL_SIGNAL_FREE));
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
  struct expr blocks = x_mul(fractals(g->cn), FRACTAL_ROWS / BLOCK_VALUES);
  struct expr tail = group_let(g, "tail", x_ceil_div(count, BLOCK_VALUES));
  group_for(g, "short", x_gt(blocks, tail));
  matmul_zeros(w->e, x_at(dst, tail, BLOCK_BYTES), x_sub(blocks, tail));
  emit_end(w->e);
}

/* The first column is counted among those of all groups of channels. */
static void load_row(const struct writer *w, const struct group *g, const struct row *row) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  bool is_bias = row->space == SPACE_BT;
  struct expr slot = x_mod(g->i, L1_SLOTS), first = g->n, count = g->cn;
  struct expr dst = matmul_slot(e, row->in_l1, slot, w->t.bn * row->bytes);
  if (conv)
    first = x_add(x_mul(conv_weights_of(conv, g->z), w->mm->n), g->n);
  if (is_bias && w->mm->bias_each)
    first = x_add(x_mul(g->z, w->mm->n), g->n);
  if (conv && is_bias)
    count = x_rest(count, conv->channels, first);
  emit_wait(e, row->user, PIPE_MTE2, x_add(row->flag, slot));
  if (conv && is_bias)
    clear_bias_tail(w, g, dst, count);
  uint64_t words = MATMUL_SCALE_BYTES / sizeof(uint32_t);
  EMIT(e, "copy_gm_to_cbuf_multi_nd2nz_b32s", F("dst", dst),
       F("src", matmul_slot(e, row->name, first, row->bytes)), F("n", 1),
       F("d", is_bias ? count : x_mul(matmul_stored_columns(w, g), words)),
       F("src_d", is_bias ? min_u64(w->mm->n, UINT16_MAX) : UINT16_MAX), F("dst_c0_stride", 1));
  emit_set(e, PIPE_MTE2, row->user, x_add(row->flag, slot));
}

/* What a new block has besides its panels. */
static void load_rows(const struct writer *w, const struct group *g) {
  struct row rows[ROWS_MAX];
  unsigned count = rows_of(w->mm, rows);
  for (unsigned i = 0; i < count; i++)
    load_row(w, g, &rows[i]);
  if (w->mm->residual)
    matmul_residual_load(w, g);
}

/* The outer panel of the next group, unless it is there. */
static void load_next_outer(const struct writer *w) {
  bool held = w->t.resident != RESIDENT_NONE;
  if (held)
    emit_if(w->e, "another", x_gt(w->next.outer, w->now.outer));
  load_panel(w, &w->next, true, w->next.k, EXPR(0));
  if (held)
    emit_end(w->e);
}

/* Its first inner panel. */
static void load_next_inner(const struct writer *w) {
  const struct group *next = &w->next;
  bool rows = w->mm->bias || w->mm->scale == SCALE_COLUMNS || w->mm->residual;
  if (w->mm->coupled ? matmul_bias_ahead(w) : rows) {
    emit_if(w->e, "new", x_eq(next->k, 0));
    load_rows(w, next);
    if (w->mm->coupled)
      matmul_coupled_bias(w, next);
    emit_end(w->e);
  }
  load_panel(w, next, false, next->k,
             x_add(x_mul(next->i, w->t.turns), x_div(next->k, w->t.inner_k)));
}

/* ---- the stream ---- */

/* The row of bias goes to its table; blocks of 8 bits have 32 columns. */
static void bias_to_bt(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t columns = w->mm->element_bytes == 1 ? 2 * FRACTAL_ROWS : FRACTAL_ROWS;
  uint64_t blocks = columns * ACCUMULATOR_BYTES / BLOCK_BYTES;
  struct expr slot = x_mod(w->now.i, L1_SLOTS), id = x_add(FLAG_BIAS, slot);
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, id);
  emit_wait(e, PIPE_M, PIPE_MTE1, FLAG_BT);
  EMIT(e, "copy_cbuf_to_bt", W("dst", "bias0"),
       F("src", matmul_slot(e, "bias1", slot, w->t.bn * ACCUMULATOR_BYTES)),
       F("len_burst", x_mul(x_ceil_div(w->now.cn, columns), blocks)));
  emit_set(e, PIPE_MTE1, PIPE_MTE2, id);
}

struct expr matmul_free_slots(const struct writer *w, bool set, const char *name, uint64_t slots) {
  char text[NAME_BYTES];
  return emit_for(w->e, name_in(text, name, set ? "_begin" : "_end"), slots);
}

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct writer *w, bool set) {
  struct emit *e = w->e;
  struct row rows[ROWS_MAX];
  unsigned row_count = rows_of(w->mm, rows);
  emit_flag_of(e, set, PIPE_MTE1, PIPE_MTE2, matmul_free_slots(w, set, "outer", w->t.outer_slots));
  emit_end(e);
  struct expr half = matmul_free_slots(w, set, "half", L1_SLOTS);
  emit_flag_of(e, set, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_INNER, half));
  emit_flag_of(e, set, PIPE_M, PIPE_MTE1, half);
  for (unsigned i = 0; i < row_count; i++)
    emit_flag_of(e, set, rows[i].user, PIPE_MTE2, x_add(rows[i].flag, half));
  if (w->mm->residual)
    matmul_residual_flags(w, set, half);
  emit_end(e);
  bool coupled_bias = w->mm->bias && w->mm->coupled; /* says itself when a block is free */
  if (w->mm->bias && !w->mm->coupled)
    emit_flag_of(e, set, PIPE_M, PIPE_MTE1, EXPR(FLAG_BT));
  if (!w->t.unit_flags && !coupled_bias) {
    emit_flag_of(e, set, matmul_out_pipe(w), PIPE_M,
                 matmul_free_slots(w, set, "block", w->t.c_slots));
    emit_end(e);
  }
  if (w->mm->coupled)
    matmul_coupled_flags(w, set);
}

/* The copies of a turn that have to be there for the next turn. */
static void load_ahead(const struct writer *w, bool outer_first, bool outer_now) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  if (t->outer_k > t->inner_k) {
    emit_if(e, "ahead", x_lt(x_add(w->u, 1), w->turns));
    load_panel(w, &w->now, false, x_add(w->ku, t->inner_k), x_add(w->turn, 1));
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
  struct expr slot = x_mod(w->now.outer, w->t.outer_slots);
  struct expr inner = x_add(FLAG_INNER, x_mod(w->turn, L1_SLOTS));
  emit_if(e, "begin", x_eq(w->ku, 0));
  if (w->mm->bias && w->mm->coupled && !matmul_bias_ahead(w))
    matmul_coupled_bias(w, &w->now);
  if (!w->t.unit_flags)
    emit_wait(e, matmul_out_pipe(w), PIPE_M, matmul_c_slot(w, w->now.i));
  if (w->mm->bias && !w->mm->coupled)
    bias_to_bt(w);
  if (w->mm->residual)
    matmul_residual_begin(w);
  if (w->mm->residual && w->mm->bias)
    emit_set(e, PIPE_M, PIPE_MTE1, FLAG_BT);
  emit_end(e);
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

/*
 * With room for one outer panel in L1, the copies of the next one wait for loads of this turn,
 * which the scalar unit issues behind them. While they wait, all that MTE2 is given before these
 * loads has to stand in its queue; where that has less room, the scalar unit would never reach the
 * loads.
 */
static bool outer_comes_last(const struct writer *w) {
  enum { ROW = 4 }; /* of bias or scales: wait, zeros, copy, set */
  struct row rows[ROWS_MAX];
  uint64_t waiting = matmul_panel_rows(w, true) + matmul_panel_rows(w, false) +
                     rows_of(w->mm, rows) * ROW + matmul_residual_rows(w);
  return w->t.outer_slots == 1 &&
         (matmul_many_copies(w, w->t.a_outer) || waiting > soc_queue_depth(w->e->soc, PIPE_MTE2));
}

static void load_outer_now(const struct writer *w) {
  emit_if(w->e, "outer", x_eq(w->u, 0));
  load_panel(w, &w->now, true, w->now.k, EXPR(0));
  emit_end(w->e);
}

/* What this turn uses, A's panel ahead of B's. */
static void load_now(const struct writer *w) {
  if (w->t.a_outer)
    load_outer_now(w);
  load_panel(w, &w->now, false, w->ku, w->turn);
  if (!w->t.a_outer)
    load_outer_now(w);
  if (!w->mm->bias)
    return;
  emit_if(w->e, "new", x_eq(w->ku, 0));
  load_rows(w, &w->now);
  emit_end(w->e);
}

static void put_turn(struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  bool late = t->outer_slots == 1;
  bool last = outer_comes_last(w);
  w->ku = emit_assigned(e, "ku", x_add(w->now.k, x_mul(w->u, t->inner_k)));
  w->du = emit_assigned(e, "du", x_rest(t->inner_k, w->now.depth, w->ku));
  w->turn = emit_assigned(e, "turn", x_add(x_mul(w->now.i, t->turns), x_div(w->ku, t->inner_k)));
  *(t->a_outer ? &w->db : &w->da) = emit_assigned(e, t->a_outer ? "db" : "da", w->du);
  if (w->mm->tail)
    matmul_tail_load(w);
  if (t->in_time)
    load_now(w);
  else
    load_ahead(w, !late, late && !last);
  use_panels(w);
  if (last) {
    emit_if(e, "room", x_mul(w->more, x_eq(x_add(w->u, 1), w->turns)));
    load_next_outer(w);
    emit_end(e);
  }
  matmul_store(w);
}

struct expr matmul_share(struct writer *w) {
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
  struct group first = matmul_group(w, EXPR(0), "");
  load_panel(w, &first, true, first.k, EXPR(0));
  load_rows(w, &first);
  if (w->mm->bias && w->mm->coupled)
    matmul_coupled_bias_row(w);
  if (w->mm->tail)
    matmul_tail_start(w);
  if (matmul_bias_ahead(w))
    matmul_coupled_bias(w, &first);
  load_panel(w, &first, false, first.k, EXPR(0));
  emit_end(w->e);
}

/* Where this group and the next one lie, and whether the outer panel changes between them. */
static void put_groups(struct writer *w, struct expr g, struct expr groups) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  bool held = t->resident != RESIDENT_NONE;
  uint64_t run = t->resident == RESIDENT_A ? t->nt : t->mt;
  w->now = matmul_group(w, g, "");
  w->fresh = w->last = EXPR(1);
  if (t->in_time)
    return;
  w->more = emit_assigned(e, "more", x_lt(x_add(g, 1), groups));
  w->next = matmul_group(w, x_add(g, w->more), "x");
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
  struct expr groups = matmul_share(&w);
  free_flags(&w, true);
  matmul_scale(&w);
  conv_padding(&w);
  if (!t->in_time)
    first_panels(&w, groups);
  put_groups(&w, emit_for(e, "g", groups), groups);
  struct expr depth = x_rest(t->outer_k, w.now.depth, w.now.k);
  *(t->a_outer ? &w.da : &w.db) = emit_assigned(e, t->a_outer ? "da" : "db", depth);
  w.turns = emit_assigned(e, "turns", x_ceil_div(depth, t->inner_k));
  w.u = emit_for(e, "u", w.turns);
  put_turn(&w);
  emit_end(e);
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(&w, false);
  if (w.mm->vectors && !w.mm->vectors->make_b) {
    (void)emit_for(e, "places", x_min(x_div(groups, t->groups), MATMUL_PLACES));
    EMIT(e, "wait_flag_dev", F("id", MATMUL_SIGNAL_TAKEN));
    emit_end(e);
  }
  if (t->split > 1)
    matmul_split_sum(&w);
  if (w.mm->vectors)
    w.mm->vectors->stream(&w);
}
