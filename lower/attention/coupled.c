/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash_attention on a core that is cube and vector core in one (910A, 310P). One stream has the
 * work of both: the cube is a step ahead with Q K^T, and the vector unit with its probabilities.
 * Scores come from L0C straight to UB, in columns of 16, and so they stay: probabilities are in the
 * order of L1 when they are computed. V has a column of 16 ones behind its own, so that the product
 * with the probabilities has the sums of rows, too.
 *
 * There is no copy that brings ND to NZ: rows of Q come to L1 a column of 16 elements at a time,
 * and those of K and V through UB, from where copies of blocks put them in their places. All keys
 * of a head stay in L1 for all of its tasks, where they fit.
 *
 * The scalar unit issues what the cube does before what the vector unit does, whose queue is full
 * for most of the time: scores of the next step, the present product with V, then probabilities of
 * the next step, the present result.
 *
 * Flags, where "back" says filled and the other way free. MTE1 to MTE2 and back: rows of tasks of
 * even and odd number. MTE3 to MTE2 and back: two stages in UB. MTE1 to MTE3 and back: 0 and 1
 * steps of probabilities in L1, 2 keys, 3 values. M to MTE1 and back: halves of L0. V to M and
 * back: 0 and 1 tiles of scores, 2 the product with V. MTE3 to V and back: 0 probabilities, 1 the
 * result. V to MTE2 and back: the mask.
 */
#include "lower/attention/coupled.h"
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/writer.h"

enum { FLAG_KEYS = 2, FLAG_VALUES = 3, FLAG_PRODUCT = 2, FLAG_PROBABILITIES = 0, FLAG_MASK = 0 };
enum { COLUMN_BYTES = FRACTAL_ROWS * HALF_BYTES };

static struct expr fractals(struct expr extent) { return x_ceil_div(extent, FRACTAL_ROWS); }

/* ---- buffers ---- */

static uint64_t rows_bytes(const struct writer *w) { return w->t.rows * w->t.depth_k * HALF_BYTES; }
static uint64_t keys_bytes(const struct writer *w) {
  return w->t.panel * w->t.depth_k * HALF_BYTES;
}
static uint64_t ones_at(const struct writer *w) { return w->t.panel * w->t.depth * HALF_BYTES; }
static uint64_t step_bytes(const struct writer *w) { return w->t.rows * w->t.cols * HALF_BYTES; }

static void put_buffers(struct writer *w) {
  struct emit *e = w->e;
  emit_buffer(e, "q1", SPACE_L1, ATTENTION_PAIR * rows_bytes(w));
  emit_buffer(e, "k1", SPACE_L1, keys_bytes(w));
  emit_buffer(e, "v1", SPACE_L1, ones_at(w) + w->t.panel * COLUMN_BYTES);
  emit_buffer(e, "p1", SPACE_L1, ATTENTION_PAIR * step_bytes(w));
  if (w->at->paged)
    emit_buffer(e, "table1", SPACE_L1, attention_table_bytes(w->at));
  emit_buffer(e, "a0", SPACE_L0A, ATTENTION_PAIR * FA_TILE_BYTES);
  emit_buffer(e, "b0", SPACE_L0B, ATTENTION_PAIR * FA_TILE_BYTES);
  emit_buffer(e, "c0", SPACE_L0C, w->t.c_slots * w->t.c_bytes);
  emit_buffer(e, "o0", SPACE_L0C, w->t.rows * (w->t.depth + FRACTAL_ROWS) * ACCUMULATOR_BYTES);
  emit_buffer(e, "ub", SPACE_UB, w->t.ub_bytes);
}

/* Every flag that says "free". */
static void put_flags(struct writer *w, bool set) {
  static const struct {
    enum pipe src, dst;
    const char *loop;
    unsigned count;
  } flags[] = {{PIPE_MTE1, PIPE_MTE2, "rows_", ATTENTION_PAIR},
               {PIPE_MTE3, PIPE_MTE2, "stage_", ATTENTION_PAIR},
               {PIPE_MTE1, PIPE_MTE3, "l1_", 4},
               {PIPE_M, PIPE_MTE1, "l0_", ATTENTION_PAIR},
               {PIPE_V, PIPE_M, "c_", 3},
               {PIPE_MTE3, PIPE_V, "ub_", 2},
               {PIPE_V, PIPE_MTE2, "mask_", 1}};
  size_t kinds = sizeof flags / sizeof *flags - !w->at->masked;
  for (size_t i = 0; i < kinds; i++) {
    emit_flag_of(w->e, set, flags[i].src, flags[i].dst,
                 emit_slots(w->e, set, flags[i].loop, flags[i].count));
    emit_end(w->e);
  }
}

/* L1 is read in whole fractals: zeros before anything is there; the column of ones. */
static void fill_l1(struct writer *w) {
  struct emit *e = w->e;
  const uint64_t one = 0x3c003c00; /* fp16, twice */
  const struct {
    const char *name;
    uint64_t bytes;
  } zeros[] = {{"q1", ATTENTION_PAIR * rows_bytes(w)}, {"k1", keys_bytes(w)}, {"v1", ones_at(w)}};
  for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
    fa_zero_l1(e, zeros[i].name, zeros[i].bytes);
  EMIT(e, "create_cbuf_matrix", F("dst", x_add(x_name(e, "v1"), ones_at(w))),
       F("blocks", w->t.panel), F("value", one));
  emit_barrier(e, PIPE_MTE2);
}

/* ---- GM to L1 ---- */

static struct expr rows_at(struct writer *w, struct place *p) {
  return x_slot(w->e, "q1", p->odd, rows_bytes(w));
}

/* A column of 16 elements after the other. */
static void load_rows(struct writer *w, struct place *p) {
  const struct attention *at = w->at;
  struct expr dst = rows_at(w, p), src = fa_row(w, "q", &at->q, at->heads, 1, p->z, p->row);
  struct expr column = emit_for(w->e, "column", at->depth_k / FRACTAL_ROWS);
  EMIT(w->e, "copy_gm_to_cbuf", F("dst", x_add(dst, x_mul(column, w->t.rows * BLOCK_BYTES))),
       F("src", x_add(src, x_mul(column, COLUMN_BYTES))), F("n_burst", p->rows), F("len_burst", 1),
       F("src_gap", at->q.row * HALF_BYTES / BLOCK_BYTES - 1));
  emit_end(w->e);
}

/* Rows of the mask for the step; one for all rows, where those are the heads of one query. */
static void load_mask(struct writer *w, struct place *p) {
  const struct attention *at = w->at;
  bool alike = at->rows != at->queries || at->queries == 1;
  uint64_t pitch = w->t.cols / BLOCK_BYTES;
  struct expr dst = EXPR(w->t.coupled.mask), blocks = x_ceil_div(p->keys, BLOCK_BYTES);
  emit_wait(w->e, PIPE_V, PIPE_MTE2, FLAG_MASK);
  if (alike)
    dst = x_add(dst, x_mul(emit_for(w->e, "r", p->rows), w->t.cols));
  struct expr src = x_add(x_mul(alike ? EXPR(0) : p->row, at->keys), p->key);
  EMIT(w->e, "copy_gm_to_ubuf", F("dst", dst), F("src", x_add(x_name(w->e, "mask"), src)),
       F("n_burst", alike ? EXPR(1) : p->rows), F("len_burst", blocks),
       F_IF(!alike, "src_gap", x_sub(at->keys / BLOCK_BYTES, blocks)),
       F_IF(!alike, "dst_gap", x_sub(pitch, blocks)));
  if (alike)
    emit_end(w->e);
}

/* Rows of K or V to a panel of L1. */
static void load_panel_rows(struct writer *w, bool values, struct expr dst, struct expr src,
                            struct expr rows, struct expr turn) {
  const struct attention *at = w->at;
  const struct fa_matrix matrix = {.depth = values ? at->depth : at->depth_k,
                                   .row = (values ? &at->v : &at->kv)->row,
                                   .pitch = w->t.panel};
  fa_load_through_ub(w, &matrix, dst, src, rows, turn);
}

/* Keys of K or V: of the step, or of the head; of a cache block by block. */
static void load_keys(struct writer *w, struct place *p, bool values) {
  const struct attention *at = w->at;
  const char *tensor = values && !at->latent ? "v" : "k";
  const struct attention_strides *strides = values ? &at->v : &at->kv;
  uint64_t size = at->pages.size;
  bool resident = attention_is_resident(at, &w->t);
  struct expr key = resident ? EXPR(0) : p->key, count = resident ? p->length : p->keys;
  struct expr dst = x_name(w->e, values ? "v1" : "k1");
  if (!at->paged) {
    load_panel_rows(w, values, dst, fa_row(w, tensor, strides, at->heads, at->group, p->z, key),
                    count, EXPR(0));
    return;
  }
  struct expr first = emit_assigned(w->e, "offset", x_mod(key, size));
  struct expr block = emit_for(w->e, "block", x_ceil_div(x_add(first, count), size));
  struct expr from = emit_assigned(w->e, "from", x_max(0, x_sub(x_mul(block, size), first)));
  struct expr to = x_min(count, x_sub(x_mul(x_add(block, 1), size), first));
  load_panel_rows(w, values, x_add(dst, x_mul(from, BLOCK_BYTES)),
                  fa_page_row(w, tensor, strides, p->z, x_add(key, from)), x_sub(to, from), block);
  emit_end(w->e);
}

/* Whether a step is the first, or the last, with what is in L1: with all keys, of the tasks of a
 * head of K and V. */
static struct expr begins_panel(struct writer *w, struct place *p) {
  if (!attention_is_resident(w->at, &w->t))
    return EXPR(1);
  struct expr head = x_mul(x_eq(x_mod(p->z, w->at->group), 0), x_eq(p->row, 0));
  return x_mul(x_eq(p->step, 0), x_max(x_eq(p->index, 0), head));
}

static struct expr ends_panel(struct writer *w, struct place *p) {
  if (!attention_is_resident(w->at, &w->t))
    return EXPR(1);
  struct expr rows = x_lt(x_sub(w->at->rows, p->row), w->t.rows + 1);
  struct expr head = x_mul(x_eq(x_mod(x_add(p->z, 1), w->at->group), 0), rows);
  struct expr last = x_max(x_eq(x_add(p->index, 1), w->tasks), head);
  return x_mul(x_eq(x_add(p->step, 1), p->steps), last);
}

static void load_panel(struct writer *w, struct place *p, bool values) {
  int flag = values ? FLAG_VALUES : FLAG_KEYS;
  emit_if(w->e, "fresh", begins_panel(w, p));
  emit_wait(w->e, PIPE_MTE1, PIPE_MTE3, flag);
  load_keys(w, p, values);
  emit_handshake(w->e, PIPE_MTE3, PIPE_MTE1, flag);
  emit_end(w->e);
}

static void free_panel(struct writer *w, struct place *p, bool values) {
  emit_if(w->e, "stale", ends_panel(w, p));
  emit_set(w->e, PIPE_MTE1, PIPE_MTE3, values ? FLAG_VALUES : FLAG_KEYS);
  emit_end(w->e);
}

/* Fractals of a column of the panel before the step. */
static struct expr panel_from(struct writer *w, struct place *p) {
  return attention_is_resident(w->at, &w->t) ? x_div(p->key, FRACTAL_ROWS) : EXPR(0);
}

/* ---- ahead: scores ---- */

/* Opens the loop over parts of some columns; `number`: of the tile. Gives the extent of the part.
 */
static struct expr open_parts(struct writer *w, uint64_t columns, uint64_t part,
                              struct expr number) {
  uint64_t parts = ceil_div(columns, part);
  w->part = emit_for(w->e, "part", parts);
  struct expr extent = x_rest(part, columns, x_mul(w->part, part));
  w->l0 = emit_assigned(w->e, "l0", x_mod(x_add(x_mul(number, parts), w->part), ATTENTION_PAIR));
  emit_wait(w->e, PIPE_M, PIPE_MTE1, w->l0);
  return emit_assigned(w->e, "columns", extent);
}

/* A tile of scores in L0C, and then in UB. */
static void put_tile(struct writer *w, struct place *p, struct expr nt) {
  const int blocks = ATTENTION_SIDE / FRACTAL_ROWS;
  struct emit *e = w->e;
  uint64_t most = w->t.coupled.score_keys, tiles = ceil_div(w->t.cols, most);
  struct expr tall = p->tall, at_key = x_mul(nt, most);
  struct expr cn = emit_assigned(e, "cn", x_min(most, x_sub(p->keys, at_key)));
  struct expr wide = fractals(cn), at_column = x_mul(nt, most / FRACTAL_ROWS);
  struct expr number = emit_assigned(e, "tile", x_add(x_add(p->odd, x_mul(p->step, tiles)), nt));
  w->c = emit_assigned(e, "c", x_mod(number, w->t.c_slots));
  struct expr block = x_slot(e, "c0", w->c, w->t.c_bytes);
  emit_wait(e, PIPE_V, PIPE_M, w->c);
  struct expr kk = open_parts(w, w->at->depth_k, ATTENTION_SIDE, number);
  struct expr from = x_mul(w->part, blocks);
  fa_load_a(w, rows_at(w, p), EXPR(w->t.rows / FRACTAL_ROWS), tall, from, kk);
  struct expr base = x_add(x_mul(from, w->t.panel / FRACTAL_ROWS), panel_from(w, p));
  fa_load_b(w, x_name(e, "k1"), w->t.panel, x_add(base, at_column), kk, cn, false);
  fa_mad(w, block, x_mul(tall, FRACTAL_ROWS), kk, x_mul(wide, FRACTAL_ROWS), x_eq(w->part, 0));
  emit_end(e);
  emit_handshake(e, PIPE_M, PIPE_V, w->c);
  struct expr at = x_mul(at_column, x_mul(p->each, WORD_BYTES));
  EMIT(e, "copy_matrix_cc_to_ubuf", F("dst", x_add(w->t.coupled.scores, at)), F("src", block),
       F("len_burst", x_mul(tall, wide)), W("type", "fp32"));
  emit_set(e, PIPE_V, PIPE_M, w->c);
}

/* Two steps of probabilities in L1. */
static struct expr step_slot(struct place *p) {
  return x_mod(x_add(p->odd, p->step), ATTENTION_PAIR);
}

static void store_probabilities(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  struct expr slot = fa_let(w, p, "p", step_slot(p));
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG_PROBABILITIES);
  emit_wait(e, PIPE_MTE1, PIPE_MTE3, slot);
  EMIT(e, "copy_ubuf_to_cbuf", F("dst", x_slot(e, "p1", slot, step_bytes(w))),
       F("src", w->t.coupled.probabilities),
       F("len_burst", x_mul(x_mul(p->tall, FRACTAL_ROWS), p->wide)));
  emit_set(e, PIPE_MTE3, PIPE_V, FLAG_PROBABILITIES);
  emit_set(e, PIPE_MTE3, PIPE_MTE1, slot);
}

/* Scores of the step to come, in UB. */
static void put_scores(struct writer *w) {
  struct emit *e = w->e;
  struct place *p = &w->next;
  emit_if(e, "begin", x_eq(p->step, 0));
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, p->odd);
  if (w->at->paged)
    fa_load_table(w, p);
  load_rows(w, p);
  emit_handshake(e, PIPE_MTE2, PIPE_MTE1, p->odd);
  emit_end(e);
  load_panel(w, p, false);
  if (w->at->masked)
    load_mask(w, p);
  emit_barrier(e, PIPE_V); /* scores of the step before are read */
  put_tile(w, p, emit_for(e, "nt", x_ceil_div(p->keys, w->t.coupled.score_keys)));
  emit_end(e);
  emit_if(e, "done", x_eq(x_add(p->step, 1), p->steps));
  emit_set(e, PIPE_MTE1, PIPE_MTE2, p->odd);
  emit_end(e);
  free_panel(w, p, false);
}

/* ---- the present step: probabilities times V and ones ---- */

static void put_product(struct writer *w) {
  struct emit *e = w->e;
  struct place *p = &w->here;
  uint64_t most = w->t.coupled.value_keys, part = w->t.coupled.value_columns;
  struct expr tall = p->tall, slot = fa_let(w, p, "p", step_slot(p));
  emit_wait(e, PIPE_V, PIPE_M, FLAG_PRODUCT);
  emit_wait(e, PIPE_MTE3, PIPE_MTE1, slot);
  struct expr kt = emit_for(e, "kt", x_ceil_div(p->keys, most));
  struct expr kk = emit_assigned(e, "kk", x_min(most, x_sub(p->keys, x_mul(kt, most))));
  struct expr cn = open_parts(w, w->t.depth + FRACTAL_ROWS, part, kt);
  struct expr from = x_mul(kt, most / FRACTAL_ROWS), column = x_mul(w->part, part / FRACTAL_ROWS);
  fa_load_a(w, x_slot(e, "p1", slot, step_bytes(w)), tall, tall, from, kk);
  struct expr base = x_add(x_mul(column, w->t.panel / FRACTAL_ROWS), panel_from(w, p));
  fa_load_b(w, x_name(e, "v1"), w->t.panel, x_add(base, from), kk, cn, true);
  struct expr at =
      x_mul(x_mul(column, FRACTAL_ROWS * ACCUMULATOR_BYTES), x_mul(tall, FRACTAL_ROWS));
  fa_mad(w, x_add(x_name(e, "o0"), at), x_mul(tall, FRACTAL_ROWS), kk, cn, x_eq(kt, 0));
  emit_end(e);
  emit_end(e);
  emit_set(e, PIPE_MTE1, PIPE_MTE3, slot);
  free_panel(w, p, true);
  emit_handshake(e, PIPE_M, PIPE_V, FLAG_PRODUCT);
}

/* ---- the stream ---- */

static void put_probabilities(struct writer *w) {
  fa_coupled_softmax(w, &w->next);
  store_probabilities(w, &w->next);
}

/* Values of the step to come, in place of those of the present step. */
static void put_values(struct writer *w) { load_panel(w, &w->next, true); }

static void put_first(struct writer *w) {
  fa_measure(w, &w->next);
  put_scores(w);
  put_values(w);
  put_probabilities(w);
}

static void put_step(struct writer *w, struct expr more) {
  static fa_put *const turns[] = {put_scores, put_values, put_probabilities};
  fa_measure(w, &w->here);
  fa_measure(w, &w->next);
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
    emit_if(w->e, "ahead", more);
    turns[i](w);
    emit_end(w->e);
    if (turns[i] == put_scores)
      put_product(w);
  }
  fa_coupled_update(w, &w->here);
}

void fa_coupled_stream(struct writer *w) {
  put_buffers(w);
  emit_stream(w->e, CORE_AICORE);
  emit_kernel_start(w->e, KERNEL_ATTENTION);
  fa_count_tasks(w);
  fa_coupled_clear(w);
  fill_l1(w);
  fa_stream(w, "The first probabilities.", put_flags, put_first, put_step);
}
