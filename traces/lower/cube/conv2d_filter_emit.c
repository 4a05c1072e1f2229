/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of conv2d_backprop_filter. Copies to L1 run one turn ahead of the loads to L0, and
 * those one step ahead of the cube.
 *
 * Flags: MTE1 to MTE2 and back, 0 and 1: panels. M to MTE1 and back, 0 and 1: halves of L0. M to
 * FIX and back: blocks in L0C. "Back" says filled, the other direction free.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "traces/lower/cube/conv2d_filter.h"
#include "traces/lower/cube/matmul_writer.h"

/* The block of a turn is the group `now` of the writer. */
struct filter_writer {
  struct writer w;
  const struct filter *op;
  const struct filter_tiling *t;
  struct expr group, count;  /* of channels; turns of the part */
  struct expr points;        /* of dy in the turn */
  struct expr first, groups; /* blocks of channels of x */
  struct expr cm16, cn16;
};

/* ---- header ---- */

static bool is_atomic(const struct filter_writer *f) {
  return f->t->t.split > 1 || f->op->accumulate;
}

static void result_tensor(const struct filter_writer *f, enum tensor_io io) {
  const struct filter *op = f->op;
  const uint64_t dw[4] = {op->conv.groups * op->mm.n / op->mm.c0, op->dw_rows / FRACTAL_ROWS,
                          FRACTAL_ROWS, op->mm.c0};
  emit_tensor(f->w.e, "dw", DTYPE_FP32, io, dw, 4, "FRACTAL_Z");
}

/* What parts of the sums are added to: zeros, written by a kernel of the vector cores. */
static void clear(const struct filter_writer *f) {
  struct emit *e = f->w.e;
  struct filter_clear by = filter_clear(e->soc, f->op);
  struct expr blk = x_name(e, "blk");
  emit_kernel(e, "clear", (uint32_t)by.cores);
  result_tensor(f, TENSOR_OUT);
  emit_buffer(e, "zeros", SPACE_UB, by.chunk_bytes);
  emit_stream(e, emit_vector_core(e->soc));
  struct expr zeros = x_name(e, "zeros");
  EMIT(e, "vector_dup", F("dst", zeros), F("scalar", 0), F("repeat", by.chunk_bytes / REPEAT_BYTES),
       W("type", "fp32"));
  emit_handshake(e, PIPE_V, PIPE_MTE3, 0);
  struct expr i = emit_for(e, "i", x_div(x_sub(by.chunks + by.cores - 1, blk), by.cores));
  struct expr at = emit_var(e, "at", x_mul(x_add(x_mul(i, by.cores), blk), by.chunk_bytes));
  struct expr bytes = x_min(by.chunk_bytes, x_sub(filter_bytes(f->op), at));
  EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(x_name(e, "dw"), at)), F("src", zeros),
       F("len_burst", x_div(bytes, BLOCK_BYTES)));
  emit_end(e);
}

static void header(const struct filter_writer *f) {
  struct emit *e = f->w.e;
  const struct filter *op = f->op;
  const struct conv *conv = &op->conv;
  enum dtype type = matmul_stored(op->mm.type);
  const uint64_t x[5] = {op->images, conv->groups * conv->c1, conv->h, conv->w, op->mm.c0};
  const uint64_t dy[5] = {op->images, conv->groups * op->k1, conv->ho, conv->wo, op->mm.c0};
  if (filter_clears(op, f->t))
    clear(f);
  emit_kernel(e, op->mm.name, (uint32_t)f->t->t.cores);
  emit_tensor(e, "x", type, TENSOR_IN, x, 5, "NC1HWC0");
  emit_tensor(e, "dy", type, TENSOR_IN, dy, 5, "NC1HWC0");
  result_tensor(f, is_atomic(f) ? TENSOR_INOUT : TENSOR_OUT);
  matmul_l1_buffers(&f->w);
  matmul_l0_buffers(&f->w);
  emit_stream(e, emit_cube_core(e->soc));
  emit_kernel_start(e, KERNEL_CUBE, f->t->t.cores);
  if (is_atomic(f)) {
    emit_plain(e, "set_atomic_add");
    emit_plain(e, "set_atomic_f32");
  }
}

/* ---- turns ---- */

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct writer *w, bool set) {
  struct expr half = matmul_free_slots(w, set, "half", L0_SLOTS);
  emit_flag_of(w->e, set, PIPE_MTE1, PIPE_MTE2, half);
  emit_flag_of(w->e, set, PIPE_M, PIPE_MTE1, half);
  emit_end(w->e);
  struct expr block = matmul_free_slots(w, set, "block", w->t.c_slots);
  emit_flag_of(w->e, set, PIPE_FIX, PIPE_M, block);
  emit_end(w->e);
}

/* Its rows of dy and of x. */
static void put_rows(struct filter_writer *f) {
  struct emit *e = f->w.e;
  const struct conv *conv = &f->op->conv;
  struct group *g = &f->w.now;
  struct expr panel = x_add(x_mul(g->part, f->t->t.turns), f->w.u);
  g->z = emit_var(e, "z", x_div(panel, f->t->chunks));
  g->oy = emit_var(e, "oy", x_mul(x_mod(panel, f->t->chunks), f->t->rows));
  struct expr rows = emit_var(e, "rows", x_min(f->t->rows, x_sub(conv->ho, g->oy)));
  f->points = emit_var(e, "points", x_mul(rows, conv->wo));
  conv_put_map(&f->w, conv, g, x_sub(x_add(g->oy, rows), 1));
  f->first = emit_var(e, "first", x_div(g->n, conv->window));
  struct expr last = x_div(x_sub(x_add(g->n, g->cn), 1), conv->window);
  f->groups = emit_var(e, "groups", x_add(x_sub(last, f->first), 1));
}

/* Turn number `turn` of the core: its block, its part of the sums, its rows. Opens a loop that
 * leaves out what is beyond the last turn of all. */
static void begin_turn(struct filter_writer *f, struct expr turn) {
  struct emit *e = f->w.e;
  const struct matmul_tiling *t = &f->t->t;
  struct group *g = &f->w.now;
  uint64_t per_group = t->mt * t->nt, blocks = f->op->conv.groups * per_group;
  g->suffix = "";
  g->i = emit_var(e, "i", x_div(turn, t->turns));
  f->w.u = emit_var(e, "u", x_mod(turn, t->turns));
  struct expr block = x_add(x_mul(g->i, t->cores), x_name(e, "blk"));
  g->part = emit_var(e, "part", x_div(block, blocks));
  struct expr r = emit_var(e, "r", x_mod(block, blocks));
  f->group = emit_var(e, "group", x_div(r, per_group));
  g->m = emit_var(e, "m", x_mul(x_div(x_mod(r, per_group), t->nt), t->bm));
  g->n = emit_var(e, "n", x_mul(x_mod(r, t->nt), t->bn));
  g->cm = emit_var(e, "cm", x_min(t->bm, x_sub(f->op->mm.m, g->m)));
  g->cn = emit_var(e, "cn", x_min(t->bn, x_sub(f->op->mm.n, g->n)));
  f->count =
      emit_var(e, "count", x_min(t->turns, x_sub(f->t->turns_all, x_mul(g->part, t->turns))));
  emit_if(e, "there", x_lt(f->w.u, f->count));
  put_rows(f);
}

/* From a point on of a block of channels of the group, of which there are c1. */
static struct expr source(const struct filter_writer *f, const char *name, uint64_t c1,
                          struct expr block, uint64_t map, struct expr point) {
  struct expr group = x_add(x_mul(f->w.now.z, f->op->conv.groups), f->group);
  struct expr first = x_mul(x_add(x_mul(group, c1), block), map);
  return x_add(x_name(f->w.e, name), x_mul(x_add(first, point), BLOCK_BYTES));
}

static void load(const struct filter_writer *f, struct expr slot) {
  struct emit *e = f->w.e;
  const struct conv *conv = &f->op->conv;
  const struct group *g = &f->w.now;
  uint64_t c0 = f->op->mm.c0, points = conv->ho * conv->wo, map = conv->h * conv->w;
  struct expr a1 = matmul_panel_slot(&f->w, true, slot), block = x_div(g->m, c0);
  struct expr count = x_div(g->cm, c0);
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, slot);
  conv_copy_lines(e, a1, source(f, "dy", f->op->k1, block, points, x_mul(g->oy, conv->wo)), count,
                  f->points, 1, points);
  if (f->op->mm.m % FRACTAL_ROWS) { /* half a fractal of channels */
    emit_if(e, "odd", x_div(x_mod(g->cm, FRACTAL_ROWS), c0));
    matmul_zeros(e, x_add(a1, x_mul(x_mul(count, f->points), BLOCK_BYTES)), f->points);
    emit_end(e);
  }
  conv_copy_lines(e, matmul_panel_slot(&f->w, false, slot),
                  source(f, "x", conv->c1, f->first, map, x_mul(g->up, conv->w)), f->groups,
                  g->height, conv->w, map);
  emit_set(e, PIPE_MTE2, PIPE_MTE1, slot);
}

static void to_l0(const struct filter_writer *f) {
  const struct writer *w = &f->w;
  const struct group *g = &w->now;
  struct expr deep = x_round_up(w->kk, FRACTAL_ROWS), at = x_mul(w->s, w->t.bk);
  const struct matmul_part dy = {.dst = w->a_dst,
                                 .src = w->a_src,
                                 .k_ext = f->cm16,
                                 .m_ext = deep,
                                 .m_start = at,
                                 .points = f->points,
                                 .channels = f->cm16,
                                 .transpose = true};
  const struct conv_part x = {.dst = w->b_dst,
                              .src = w->b_src,
                              .k_ext = f->cn16,
                              .m_ext = deep,
                              .k_start = x_sub(g->n, x_mul(f->first, f->op->conv.window)),
                              .m_start = at,
                              .channels = x_mul(f->groups, f->op->mm.c0)};
  matmul_load3d(w, "img2colv2_cbuf_to_ca", &dy);
  conv_load3d(w, &f->op->conv, "img2colv2_cbuf_to_cb", &x);
}

/* Columns of blocks as wide as those of x. */
static void store(const struct filter_writer *f) {
  const struct group *g = &f->w.now;
  uint64_t c0 = f->op->mm.c0, row_bytes = c0 * sizeof(float), high = f->op->dw_rows;
  struct expr column = x_add(x_mul(f->group, f->op->mm.n / c0), x_div(g->n, c0));
  struct expr row = x_add(x_mul(column, high), g->m);
  emit_if(f->w.e, "finish", x_eq(x_add(f->w.u, 1), f->count));
  matmul_fixpipe(&f->w, &(struct matmul_result){
                            .dst = x_add(x_name(f->w.e, "dw"), x_mul(row, row_bytes)),
                            .n = g->cn,
                            .m = f->cm16,
                            .height = f->cm16,
                            .stride = high * row_bytes / BLOCK_BYTES,
                            .channel_split = c0 < FRACTAL_ROWS,
                        });
  emit_end(f->w.e);
}

static void work(struct filter_writer *f, struct expr turn) {
  struct writer *w = &f->w;
  struct emit *e = w->e;
  struct expr slot = emit_var(e, "slot", x_mod(x_sub(turn, 1), L1_SLOTS));
  f->cm16 = emit_var(e, "cm16", x_round_up(w->now.cm, FRACTAL_ROWS));
  f->cn16 = emit_var(e, "cn16", x_round_up(w->now.cn, FRACTAL_ROWS));
  w->a_src = matmul_panel_slot(w, true, slot);
  w->b_src = matmul_panel_slot(w, false, slot);
  emit_if(e, "start", x_eq(w->u, 0));
  emit_wait(e, PIPE_FIX, PIPE_M, matmul_c_slot(w, w->now.i));
  emit_end(e);
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, slot);
  matmul_begin_step(w, f->points, turn, f->t->steps);
  to_l0(f);
  emit_handshake(e, PIPE_MTE1, PIPE_M, w->l0);
  struct expr step = x_add(w->u, w->s);
  matmul_mad_barrier(w, step, x_mul(x_div(f->cm16, FRACTAL_ROWS), x_div(f->cn16, FRACTAL_ROWS)));
  matmul_mad(w, f->cm16, f->cn16, x_eq(step, 0), false);
  matmul_end_step(w);
  emit_set(e, PIPE_MTE1, PIPE_MTE2, slot);
  store(f);
}

void filter_emit(const struct lower_job *job, struct emit *e) {
  struct filter_tiling tiling;
  struct lower_job copy = *job;
  if (!filter_tiling(&copy, &tiling))
    vinci_bug("conv2d_backprop_filter: %s", copy.reason);
  const struct matmul_tiling *t = &tiling.t;
  const struct filter *op = job->data;
  struct filter_writer f = {.w = {.e = e, .mm = &op->mm, .t = *t}, .op = op, .t = &tiling};
  header(&f);
  free_flags(&f.w, true);
  emit_comment(e,
               "Blocks blk, blk + %" PRIu64 ", ... of %" PRIu64 ": each %" PRIu64
               " turns, all blocks of a part first.",
               t->cores, t->blocks_total, t->turns);
  struct expr blocks = x_div(x_sub(t->blocks_total + t->cores - 1, x_name(e, "blk")), t->cores);
  struct expr turns = emit_var(e, "turns", x_mul(blocks, t->turns));
  struct expr turn = emit_for(e, "t", x_add(turns, 1));
  emit_if(e, "ahead", x_lt(turn, turns));
  begin_turn(&f, turn);
  load(&f, x_mod(turn, L1_SLOTS));
  emit_end(e);
  emit_end(e);
  emit_if(e, "behind", x_gt(turn, 0));
  begin_turn(&f, x_sub(turn, 1));
  work(&f, turn);
  emit_end(e);
  emit_end(e);
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(&f.w, false);
  if (is_atomic(&f))
    emit_plain(e, "set_atomic_none");
}
