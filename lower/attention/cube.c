/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of the cube cores. Ahead: Q K^T, and for the gradient dY V^T, which the vector cores
 * wait for. Then what follows from their answer: probabilities times V, or three products that are
 * added to the gradient's sums.
 *
 * Flags: MTE1 to MTE2 and back: 0 and 1 rows of tasks of even and odd number, from 2 on panels in
 * L1. M to MTE1 and back: halves of L0. M to FIX and back: blocks in L0C. "Back" says filled, the
 * other way free. Between the cores no flag says "free": what a core writes for the other one takes
 * the place of what was read before the signal it has waited for.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/writer.h"

/* Operands in L1: keys of K and V, those of K once more as rows, and what the vector cores give. */
enum panel { PANEL_K, PANEL_V, PANEL_K_ROWS, PANEL_P, PANEL_DS, PANEL_COUNT };
static const struct {
  const char *buffer, *tensor;
  unsigned flag[2]; /* forward, with one for each half of L1, and gradient; 0: not there */
} panels[PANEL_COUNT] = {
    [PANEL_K] = {"k1", "k", {2, 2}},       [PANEL_V] = {"v1", "v", {4, 3}},
    [PANEL_K_ROWS] = {"kr1", "k", {0, 4}}, [PANEL_P] = {"p1", "probs", {6, 5}},
    [PANEL_DS] = {"ds1", "ds", {0, 6}},
};

static struct expr tiles(struct expr extent) { return x_ceil_div(extent, ATTENTION_SIDE); }
static struct expr fractals(struct expr extent) { return x_ceil_div(extent, FRACTAL_ROWS); }
static struct expr rounded(struct expr extent) { return x_round_up(extent, FRACTAL_ROWS); }

/* Extent of tile `i`, with a name. */
static struct expr tile_extent(struct writer *w, const char *name, struct expr extent,
                               struct expr i) {
  struct expr rest = x_sub(extent, x_mul(i, ATTENTION_SIDE));
  return emit_assigned(w->e, name, x_min(ATTENTION_SIDE, rest));
}

/* ---- buffers ---- */

static uint64_t rows_bytes(struct writer *w) { return w->t.rows * w->t.depth_k * HALF_BYTES; }

static uint64_t panel_bytes(struct writer *w, enum panel panel) {
  uint64_t depth = panel == PANEL_V ? w->t.depth : w->t.depth_k;
  return w->t.panel * (panel < PANEL_P ? depth : w->t.rows) * HALF_BYTES;
}

static void put_buffers(struct writer *w) {
  struct emit *e = w->e;
  emit_buffer(e, "q1", SPACE_L1, ATTENTION_PAIR * rows_bytes(w));
  if (w->at->gradient)
    emit_buffer(e, "dy1", SPACE_L1, ATTENTION_PAIR * rows_bytes(w));
  for (unsigned i = 0; i < PANEL_COUNT; i++)
    if (panels[i].flag[w->at->gradient])
      emit_buffer(e, panels[i].buffer, SPACE_L1, w->t.l1_slots * panel_bytes(w, (enum panel)i));
  if (w->at->paged)
    emit_buffer(e, "table1", SPACE_L1, attention_table_bytes(w->at));
  emit_buffer(e, "a0", SPACE_L0A, ATTENTION_PAIR * FA_TILE_BYTES);
  emit_buffer(e, "b0", SPACE_L0B, ATTENTION_PAIR * FA_TILE_BYTES);
  emit_buffer(e, "c0", SPACE_L0C, w->t.c_slots * w->t.c_bytes);
  emit_buffer(e, "ub", SPACE_UB, w->t.ub_bytes);
}

/* Rows of the task in L1: of "q1" or "dy1". */
static struct expr task_rows(struct writer *w, struct place *p, const char *buffer) {
  return x_slot(w->e, buffer, p->odd, rows_bytes(w));
}

static struct expr panel_at(struct writer *w, enum panel panel) {
  return x_slot(w->e, panels[panel].buffer, w->half, panel_bytes(w, panel));
}

static struct expr panel_flag(struct writer *w, enum panel panel) {
  return x_add(panels[panel].flag[w->at->gradient], w->half);
}

static struct expr block_at(struct writer *w) { return x_slot(w->e, "c0", w->c, w->t.c_bytes); }

/* Every flag that says "free". */
static void put_flags(struct writer *w, bool set) {
  struct emit *e = w->e;
  emit_flag_of(e, set, PIPE_MTE1, PIPE_MTE2,
               emit_slots(e, set, "l1_", attention_l1_flags(w->at->gradient)));
  emit_end(e);
  emit_flag_of(e, set, PIPE_M, PIPE_MTE1, emit_slots(e, set, "l0_", ATTENTION_PAIR));
  emit_end(e);
  emit_flag_of(e, set, PIPE_FIX, PIPE_M, emit_slots(e, set, "c_", w->t.c_slots));
  emit_end(e);
}

/* ---- GM to L1 ---- */

static void nd2nz(struct writer *w, struct expr dst, struct expr src, struct expr rows,
                  struct expr cols, uint64_t src_stride, struct expr dst_rows) {
  EMIT(w->e, "copy_gm_to_cbuf_multi_nd2nz_b16", F("dst", dst), F("src", src), F("n", rows),
       F("d", cols), F("src_d", src_stride), F("dst_c0_stride", dst_rows));
}

static void load_rows(struct writer *w, struct place *p, const char *tensor, const char *buffer) {
  const struct attention *at = w->at;
  nd2nz(w, task_rows(w, p, buffer), fa_row(w, tensor, &at->q, at->heads, 1, p->z, p->row), p->rows,
        EXPR(at->depth_k), at->q.row, p->rows);
}

/* Keys of K or V; of a cache block by block, of which a panel has several; or a panel is a part of
 * a block. */
static void load_keys(struct writer *w, struct place *p, enum panel panel, struct expr dst,
                      struct expr dst_rows) {
  const struct attention *at = w->at;
  const char *tensor = at->latent ? "k" : panels[panel].tensor;
  const struct attention_strides *strides = panel == PANEL_V ? &at->v : &at->kv;
  uint64_t depth = panel == PANEL_V ? at->depth : at->depth_k, size = at->pages.size;
  struct expr key = x_add(p->key, w->at_key), count = w->keys;
  if (at->paged && size < w->t.panel) {
    struct expr block = emit_for(w->e, "block", x_ceil_div(w->keys, size));
    struct expr begin = emit_assigned(w->e, "begin", x_mul(block, size));
    key = x_add(key, begin);
    count = x_min(size, x_sub(w->keys, begin));
    dst = x_add(dst, x_mul(begin, BLOCK_BYTES));
  }
  struct expr src = at->paged ? fa_page_row(w, tensor, strides, p->z, key)
                              : fa_row(w, tensor, strides, at->heads, at->group, p->z, key);
  nd2nz(w, dst, src, count, EXPR(depth), strides->row, dst_rows);
  if (at->paged && size < w->t.panel)
    emit_end(w->e);
}

static void load_panel(struct writer *w, struct place *p, enum panel panel) {
  const struct attention *at = w->at;
  const char *tensor = panels[panel].tensor;
  struct expr flag = panel_flag(w, panel), dst = panel_at(w, panel);
  bool columns = panel == PANEL_K || (panel == PANEL_V && at->gradient);
  emit_wait(w->e, PIPE_MTE1, PIPE_MTE2, flag);
  if (panel < PANEL_P) {
    load_keys(w, p, panel, dst, columns ? rounded(w->keys) : w->keys);
  } else {
    struct expr slot = x_mul(p->slot, w->t.rows * w->t.cols * HALF_BYTES);
    struct expr src = x_add(x_add(x_name(w->e, tensor), slot), x_mul(w->at_key, HALF_BYTES));
    nd2nz(w, dst, src, p->rows, w->keys, w->t.cols, p->rows);
  }
  emit_set(w->e, PIPE_MTE2, PIPE_MTE1, flag);
}

static void wait_panel(struct writer *w, enum panel panel) {
  emit_wait(w->e, PIPE_MTE2, PIPE_MTE1, panel_flag(w, panel));
}

static void free_panel(struct writer *w, enum panel panel) {
  emit_set(w->e, PIPE_MTE1, PIPE_MTE2, panel_flag(w, panel));
}

/* Opens the loop over the panels of a step. */
static void open_panels(struct writer *w, struct place *p) {
  const struct attention_tiling *t = &w->t;
  w->panel = emit_for(w->e, "p", x_ceil_div(p->keys, t->panel));
  w->at_key = emit_assigned(w->e, "at", x_mul(w->panel, t->panel));
  w->keys = emit_assigned(w->e, "cw", x_min(t->panel, x_sub(p->keys, w->at_key)));
  struct expr number = x_add(x_mul(p->step, t->cols / t->panel), w->panel);
  struct expr half = emit_assigned(w->e, "half", x_mod(number, t->l1_slots));
  w->half = w->at->gradient ? EXPR(0) : half;
}

/* ---- L1 to L0, cube, L0C to GM ---- */

/* An operand in L1: its rows lie beside each other, block by block of channels. */
struct matrix {
  struct expr at, rows, channels;
};

static struct matrix task_matrix(struct writer *w, struct place *p, const char *buffer) {
  return (struct matrix){task_rows(w, p, buffer), p->rows, EXPR(w->t.depth_k)};
}

static struct matrix panel_matrix(struct writer *w, struct place *p, enum panel panel) {
  bool scores = panel >= PANEL_P;
  return (struct matrix){panel_at(w, panel), scores ? p->rows : w->keys,
                         scores ? rounded(w->keys) : EXPR(w->t.depth)};
}

/* Part of an operand: `k` channels from k_start and `m` rows from m_start on. */
static void load_l0(struct writer *w, bool a, struct matrix from, struct expr k,
                    struct expr k_start, struct expr m, struct expr m_start, bool transpose) {
  struct expr dst = x_slot(w->e, a ? "a0" : "b0", w->l0, FA_TILE_BYTES);
  EMIT(w->e, a ? "img2colv2_cbuf_to_ca" : "img2colv2_cbuf_to_cb", F("dst", dst), F("src", from.at),
       F("k_ext", rounded(k)), F("m_ext", rounded(m)), F("k_start", k_start),
       F_IF(!a, "m_start", m_start), F("filter_w", 1), F("filter_h", 1), F("l1_w", from.rows),
       F("l1_h", 1), F("channels", from.channels), F_IF(transpose, "transpose", 1),
       W("type", dtype_name(w->at->type)));
}

/* Of a panel whose rows are columns of B: kk columns of part kd, rows of tile nt, cn of them. */
static void load_columns(struct writer *w, struct expr src, struct expr kd, struct expr kk,
                         struct expr nt, struct expr cn) {
  const int blocks = ATTENTION_SIDE / FRACTAL_ROWS;
  struct expr dst = x_slot(w->e, "b0", w->l0, FA_TILE_BYTES);
  struct expr first = x_mul(kd, blocks), count = fractals(cn);
  if (w->t.panel <= ATTENTION_SIDE) {
    EMIT(w->e, "load_cbuf_to_cb", F("dst", dst), F("src", src), F("base", x_mul(first, count)),
         F("repeat", x_mul(fractals(kk), count)));
    return;
  }
  struct expr column = emit_for(w->e, "column", fractals(kk));
  struct expr base = x_mul(x_add(first, column), fractals(w->keys));
  EMIT(w->e, "load_cbuf_to_cb", F("dst", x_add(dst, x_mul(x_mul(column, count), FRACTAL_BYTES))),
       F("src", src), F("base", x_add(base, x_mul(nt, blocks))), F("repeat", count));
  emit_end(w->e);
}

/* Opens the loop over parts of the depth; `number`: of the product in its block. Gives the extent
 * of the part. */
static struct expr open_parts(struct writer *w, const char *loop, const char *extent,
                              uint64_t depth, struct expr number) {
  uint64_t depths = ceil_div(depth, ATTENTION_SIDE);
  w->part = emit_for(w->e, loop, depths);
  struct expr count = tile_extent(w, extent, EXPR(depth), w->part);
  w->l0 = emit_assigned(w->e, "l0", x_mod(x_add(x_mul(number, depths), w->part), ATTENTION_PAIR));
  emit_wait(w->e, PIPE_M, PIPE_MTE1, w->l0);
  return count;
}

/* Small products on the same accumulators need a barrier between them (Ascend C, Mmad). */
void fa_mad(struct writer *w, struct expr c, struct expr m, struct expr k, struct expr n,
            struct expr first) {
  struct emit *e = w->e;
  /* Without an earlier product the loop has no turn; its rows stay, so that programs are the same
   * as those of earlier versions. */
  struct expr again = x_is_number(first) ? x_name(e, "0") : x_eq(first, 0);
  struct expr few = x_lt(x_mul(fractals(m), fractals(n)), MAD_OVERLAP_TILES);
  emit_handshake(e, PIPE_MTE1, PIPE_M, w->l0);
  emit_if(e, "small", x_mul(again, few));
  emit_barrier(e, PIPE_M);
  emit_end(e);
  EMIT(e, "mad", F("c", c), F("a", x_slot(e, "a0", w->l0, FA_TILE_BYTES)),
       F("b", x_slot(e, "b0", w->l0, FA_TILE_BYTES)), F("m", x_max(2, m)), F("k", k), F("n", n),
       F("init", first), W("type", dtype_name(w->at->type)));
  emit_set(e, PIPE_M, PIPE_MTE1, w->l0);
}

/* Takes a block of L0C. */
static void take_block(struct writer *w, struct expr number) {
  w->c = emit_assigned(w->e, "c", x_mod(number, w->t.c_slots));
  emit_wait(w->e, PIPE_FIX, PIPE_M, w->c);
}

/* The block of m rows goes out, or is added to what is there. */
static void put_block(struct writer *w, struct expr dst, struct expr n, struct expr m,
                      uint64_t stride, bool add) {
  struct emit *e = w->e;
  emit_handshake(e, PIPE_M, PIPE_FIX, w->c);
  if (add)
    emit_plain(e, "set_atomic_add");
  EMIT(e, "copy_matrix_cc_to_gm", F("dst", dst), F("src", block_at(w)), F("n", n), F("m", m),
       F("src_stride", rounded(m)), F("dst_stride", stride), F("nz2nd", 1), W("type", "fp32"));
  if (add)
    emit_plain(e, "set_atomic_none");
  emit_set(e, PIPE_FIX, PIPE_M, w->c);
}

/* Number of tile `i` of the present panel in the step; that of the gradient begins anew in each. */
static struct expr tile_number(struct writer *w, struct expr i) {
  uint64_t tiles_of_panel = ceil_div(w->t.panel, ATTENTION_SIDE);
  if (w->at->gradient)
    return i;
  return emit_assigned(w->e, "tile", x_add(x_mul(w->panel, tiles_of_panel), i));
}

/* ---- ahead ---- */

/* Rows of the task times a panel's keys, 128 at a time, to the slot of a workspace. */
static void put_scores(struct writer *w, const char *rows, enum panel panel, const char *result) {
  const struct attention_tiling *t = &w->t;
  struct place *p = &w->next;
  struct expr nt = emit_for(w->e, "nt", tiles(w->keys));
  struct expr cn = tile_extent(w, "cn", w->keys, nt), tile = tile_number(w, nt);
  take_block(w, tile);
  struct expr kk = open_parts(w, "kd", "kk", w->at->depth_k, tile), kd = w->part;
  load_l0(w, true, task_matrix(w, p, rows), kk, x_mul(kd, ATTENTION_SIDE), p->rows, EXPR(0), false);
  load_columns(w, panel_at(w, panel), kd, kk, nt, cn);
  fa_mad(w, block_at(w), p->rows, kk, cn, x_eq(kd, 0));
  emit_end(w->e);
  struct expr slot = x_mul(p->slot, t->rows * t->cols * WORD_BYTES);
  struct expr key = x_mul(x_add(w->at_key, x_mul(nt, ATTENTION_SIDE)), WORD_BYTES);
  put_block(w, x_add(x_add(x_name(w->e, result), slot), key), cn, p->rows, t->cols, false);
  emit_end(w->e);
}

/* Behind the last step of a task its rows in L1 are free. */
static void free_rows(struct emit *e, struct place *p) {
  emit_if(e, "done", x_eq(x_add(p->step, 1), p->steps));
  emit_set(e, PIPE_MTE1, PIPE_MTE2, p->odd);
  emit_end(e);
}

static void put_ahead(struct writer *w) {
  static const struct {
    const char *rows, *result;
    enum panel panel;
  } products[] = {{"q1", "scores", PANEL_K}, {"dy1", "products", PANEL_V}};
  struct emit *e = w->e;
  struct place *p = &w->next;
  unsigned count = w->at->gradient ? 2 : 1;
  emit_if(e, "begin", x_eq(p->step, 0));
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, p->odd);
  if (w->at->paged)
    fa_load_table(w, p);
  load_rows(w, p, "q", "q1");
  if (w->at->gradient)
    load_rows(w, p, "dy", "dy1");
  emit_handshake(e, PIPE_MTE2, PIPE_MTE1, p->odd);
  emit_end(e);
  open_panels(w, p);
  for (unsigned i = 0; i < count; i++)
    load_panel(w, p, products[i].panel);
  for (unsigned i = 0; i < count; i++) {
    wait_panel(w, products[i].panel);
    put_scores(w, products[i].rows, products[i].panel, products[i].result);
    free_panel(w, products[i].panel);
  }
  emit_end(e);
  if (!w->at->gradient)
    free_rows(e, p);
  fa_signal(e, PIPE_FIX, SIGNAL_SCORES);
}

/* ---- the present step ---- */

/* k rows of B from `first` on, beside A in L0; the part of c[m, depth]. */
static void close_parts(struct writer *w, struct matrix b, struct expr k, struct expr first,
                        struct expr n, struct expr m, struct expr is_first) {
  load_l0(w, false, b, n, x_mul(w->part, ATTENTION_SIDE), k, first, false);
  struct expr part = x_mul(x_mul(w->part, ATTENTION_SIDE * ACCUMULATOR_BYTES), rounded(m));
  fa_mad(w, x_add(block_at(w), part), m, k, n, is_first);
  emit_end(w->e);
}

/* A panel of scores times rows of another panel, 128 keys at a time. */
static void put_rows(struct writer *w, enum panel scores, enum panel rows) {
  struct place *p = &w->here;
  struct expr kt = emit_for(w->e, "kt", tiles(w->keys)), key = x_mul(kt, ATTENTION_SIDE);
  struct expr kk = tile_extent(w, "kk", w->keys, kt), number = tile_number(w, kt);
  struct expr cn = open_parts(w, "nd", "cn", w->at->depth, number);
  load_l0(w, true, panel_matrix(w, p, scores), kk, key, p->rows, EXPR(0), false);
  close_parts(w, panel_matrix(w, p, rows), kk, key, cn, p->rows, x_eq(number, 0));
  emit_end(w->e);
}

/* Columns of P or dS, turned, times rows of dY or Q: for 128 keys a block of dV or dK. */
static void add_keys(struct writer *w, enum panel scores, const char *rows, const char *sum) {
  const struct attention *at = w->at;
  struct place *p = &w->here;
  struct expr kt = emit_for(w->e, "kt", tiles(w->keys)), key = x_mul(kt, ATTENTION_SIDE);
  struct expr mk = tile_extent(w, "mk", w->keys, kt), kk = emit_assigned(w->e, "kk", p->rows);
  take_block(w, kt);
  struct expr cn = open_parts(w, "nd", "cn", w->at->depth, kt);
  load_l0(w, true, panel_matrix(w, p, scores), mk, key, p->rows, EXPR(0), true);
  close_parts(w, task_matrix(w, p, rows), kk, EXPR(0), cn, mk, EXPR(1));
  struct expr head = x_mul(x_div(p->z, at->group), at->keys);
  struct expr row = x_add(x_add(x_add(head, p->key), w->at_key), key);
  put_block(w, x_slot(w->e, sum, row, at->depth * WORD_BYTES), EXPR(at->depth), mk, at->depth,
            true);
  emit_end(w->e);
}

/* Waits for the answer of the vector cores before the first panel of scores. */
static void await_probabilities(struct writer *w) {
  emit_if(w->e, "ready", x_eq(w->panel, 0));
  fa_await(w->e, SIGNAL_PROBABILITIES);
  emit_end(w->e);
}

/* Probabilities times V. */
static void put_values(struct writer *w) {
  struct place *p = &w->here;
  uint64_t depth = w->at->depth;
  take_block(w, p->step);
  open_panels(w, p);
  load_panel(w, p, PANEL_V);
  await_probabilities(w);
  load_panel(w, p, PANEL_P);
  wait_panel(w, PANEL_V);
  wait_panel(w, PANEL_P);
  put_rows(w, PANEL_P, PANEL_V);
  free_panel(w, PANEL_V);
  free_panel(w, PANEL_P);
  emit_end(w->e);
  struct expr slot = x_mul(p->slot, w->t.rows * depth * WORD_BYTES);
  put_block(w, x_add(x_name(w->e, "partial"), slot), EXPR(depth), p->rows, depth, false);
  fa_signal(w->e, PIPE_FIX, SIGNAL_PARTIAL);
}

/* P^T dY, dS^T Q and dS K, added to the sums. */
static void put_sums(struct writer *w) {
  struct place *p = &w->here;
  uint64_t depth = w->at->depth;
  open_panels(w, p);
  load_panel(w, p, PANEL_K_ROWS);
  await_probabilities(w);
  load_panel(w, p, PANEL_P);
  load_panel(w, p, PANEL_DS);
  wait_panel(w, PANEL_P);
  add_keys(w, PANEL_P, "dy1", "dv_sum");
  free_panel(w, PANEL_P);
  wait_panel(w, PANEL_DS);
  add_keys(w, PANEL_DS, "q1", "dk_sum");
  wait_panel(w, PANEL_K_ROWS);
  take_block(w, w->panel);
  put_rows(w, PANEL_DS, PANEL_K_ROWS);
  put_block(w, fa_number(w, "dq_sum", w->at->rows, p->z, p->row, depth * WORD_BYTES), EXPR(depth),
            p->rows, depth, true);
  free_panel(w, PANEL_DS);
  free_panel(w, PANEL_K_ROWS);
  emit_end(w->e);
  free_rows(w->e, p);
}

static void put_step(struct writer *w, struct expr more) {
  emit_if(w->e, "ahead", more);
  put_ahead(w);
  emit_end(w->e);
  (w->at->gradient ? put_sums : put_values)(w);
}

void fa_cube_stream(struct writer *w) {
  put_buffers(w);
  emit_stream(w->e, CORE_AIC);
  emit_kernel_start(w->e, KERNEL_ATTENTION);
  fa_count_tasks(w);
  if (w->at->gradient)
    emit_plain(w->e, "set_atomic_f32");
  fa_stream(w, "The first scores.", put_flags, put_ahead, put_step);
}
