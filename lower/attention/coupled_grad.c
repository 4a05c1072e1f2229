/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradient of flash_attention on a core that is cube and vector core in one: the second of its
 * three kernels. A task is some keys of a head of K and V, and its steps are blocks of rows of Q
 * and dY, of all heads that share these keys. dK and dV of a task grow in L0C over its steps and
 * leave once; dQ of a step is added to its sum in device memory. P and dS are rows times keys, in
 * columns of 16; for P^T dY and dS^T Q their fractals are turned on the way to L0A.
 *
 * All steps of a block are in one loop, which is a step ahead with what comes before P and dS in
 * L1. A causal mask leaves out the first blocks of rows, which do not see the keys.
 *
 * Flags, where "back" says filled and the other way free. MTE3 to MTE2 and back: two stages in UB.
 * MTE1 to MTE2 and back: rows of steps of even and odd number. MTE1 to MTE3 and back: 0 and 1 P and
 * dS of such steps; 2 and 3 keys of tasks of even and odd number. V to MTE2 and back: numbers of
 * rows of such steps. M to MTE1 and back: halves of L0. V to M and back: 0 scores,
 * 1 dP, 2 dQ, 3 dK and dV. MTE3 to V and back: 0 P and dS, 1 what goes out.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/coupled.h"
#include "lower/attention/writer.h"

enum { FLAG_STEP = 0, FLAG_KEYS = 2 };

/* ---- buffers ---- */

static uint64_t rows_bytes(const struct writer *w) { return w->t.rows * w->t.depth * HALF_BYTES; }
static uint64_t keys_bytes(const struct writer *w) { return w->t.cols * w->t.depth * HALF_BYTES; }
static uint64_t step_bytes(const struct writer *w) { return w->t.rows * w->t.cols * HALF_BYTES; }

/* Products in L0C: scores and dP, which are of a step; dQ of a step; dK and dV of a task. */
static void put_products(struct writer *w) {
  const struct attention_tiling *t = &w->t;
  emit_buffer(w->e, "s0", SPACE_L0C, t->rows * t->cols * ACCUMULATOR_BYTES);
  emit_buffer(w->e, "dp0", SPACE_L0C, t->rows * t->cols * ACCUMULATOR_BYTES);
  emit_buffer(w->e, "dq0", SPACE_L0C, t->rows * t->depth * ACCUMULATOR_BYTES);
  emit_buffer(w->e, "dk0", SPACE_L0C, t->cols * t->depth * ACCUMULATOR_BYTES);
  emit_buffer(w->e, "dv0", SPACE_L0C, t->cols * t->depth * ACCUMULATOR_BYTES);
}

static void put_buffers(struct writer *w) {
  struct emit *e = w->e;
  const struct {
    const char *name;
    uint64_t bytes; /* of one of two */
    bool cleared;   /* L1 is read in whole fractals: zeros before anything is there */
  } buffers[] = {{"q1", rows_bytes(w), true},  {"dy1", rows_bytes(w), true},
                 {"k1", keys_bytes(w), true},  {"v1", keys_bytes(w), true},
                 {"p1", step_bytes(w), false}, {"ds1", step_bytes(w), false}};
  size_t count = sizeof buffers / sizeof *buffers;
  for (size_t i = 0; i < count; i++)
    emit_buffer(e, buffers[i].name, SPACE_L1, ATTENTION_PAIR * buffers[i].bytes);
  emit_buffer(e, "a0", SPACE_L0A, ATTENTION_PAIR * FA_TILE_BYTES);
  emit_buffer(e, "b0", SPACE_L0B, ATTENTION_PAIR * FA_TILE_BYTES);
  put_products(w);
  emit_buffer(e, "ub", SPACE_UB, w->t.ub_bytes);
  emit_stream(e, CORE_AICORE);
  emit_kernel_start(e, KERNEL_ATTENTION);
  for (size_t i = 0; i < count; i++)
    if (buffers[i].cleared)
      fa_zero_l1(e, buffers[i].name, ATTENTION_PAIR * buffers[i].bytes);
  emit_barrier(e, PIPE_MTE2);
}

/* Every flag that says "free". */
static void put_flags(struct writer *w, bool set) {
  static const struct {
    enum pipe src, dst;
    const char *loop;
    unsigned count;
  } flags[] = {{PIPE_MTE3, PIPE_MTE2, "stage_", ATTENTION_PAIR},
               {PIPE_MTE1, PIPE_MTE2, "rows_", ATTENTION_PAIR},
               {PIPE_MTE1, PIPE_MTE3, "l1_", 4},
               {PIPE_V, PIPE_MTE2, "numbers_", ATTENTION_PAIR},
               {PIPE_M, PIPE_MTE1, "l0_", ATTENTION_PAIR},
               {PIPE_V, PIPE_M, "c_", 4},
               {PIPE_MTE3, PIPE_V, "ub_", 2}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    emit_flag_of(w->e, set, flags[i].src, flags[i].dst,
                 emit_slots(w->e, set, flags[i].loop, flags[i].count));
    emit_end(w->e);
  }
}

/* ---- steps ---- */

/* Blocks of rows of a task: of each head that shares its keys. */
static uint64_t steps_of(const struct writer *w) { return w->at->group * w->t.row_blocks; }

/* Step `n` of this block. */
static void take_step(struct writer *w, struct place *p, struct expr n) {
  const struct attention *at = w->at;
  const struct attention_tiling *t = &w->t;
  uint64_t kv_heads = at->batch * at->heads / at->group, hidden = at->keys - at->rows;
  struct expr task = fa_let(w, p, "task", x_div(n, steps_of(w)));
  p->odd = fa_let(w, p, "odd", x_mod(task, 2));
  p->slot = fa_let(w, p, "slot", x_mod(n, ATTENTION_PAIR));
  p->step = fa_let(w, p, "step", x_mod(n, steps_of(w)));
  struct expr u = fa_let(w, p, "u", fa_task_number(w, p, task));
  struct expr head = x_mul(x_mod(u, kv_heads), at->group);
  struct expr block = fa_let(w, p, "block", x_mod(p->step, t->row_blocks));
  p->z = fa_let(w, p, "z", x_add(head, x_div(p->step, t->row_blocks)));
  p->key = fa_let(w, p, "key", x_mul(x_div(u, kv_heads), t->cols));
  p->keys = fa_let(w, p, "cc", x_min(t->cols, x_sub(at->keys, p->key)));
  p->row = fa_let(w, p, "row", x_mul(block, t->rows));
  p->rows = fa_let(w, p, "cm", x_min(t->rows, x_sub(at->rows, p->row)));
  p->base = EXPR(0);
  p->live = EXPR(1);
  if (at->causal) {
    p->base = fa_let(w, p, "base", x_div(x_max(0, x_sub(p->key, hidden)), t->rows));
    p->live = fa_let(w, p, "live", x_lt(p->base, x_add(block, 1)));
  }
  fa_measure(w, p);
}

static struct expr is_first(struct place *p) { return x_eq(p->step, p->base); }
static struct expr is_last(struct writer *w, struct place *p) {
  return x_eq(x_add(p->step, 1), steps_of(w));
}

/* ---- ahead: P and dS ---- */

static struct expr in_l1(struct writer *w, const char *name, struct expr slot, uint64_t bytes) {
  return x_slot(w->e, name, slot, bytes);
}

/* Keys of a task, with the first of its steps. */
static void load_keys(struct writer *w, struct place *p) {
  static const char *const tensors[][2] = {{"k1", "k"}, {"v1", "v"}};
  const struct attention *at = w->at;
  const struct fa_matrix keys = {.depth = at->depth, .row = at->kv.row, .pitch = w->t.cols};
  struct expr flag = x_add(FLAG_KEYS, p->odd);
  emit_if(w->e, "fresh", is_first(p));
  emit_wait(w->e, PIPE_MTE1, PIPE_MTE3, flag);
  for (unsigned i = 0; i < 2; i++)
    fa_load_through_ub(w, &keys, in_l1(w, tensors[i][0], p->odd, keys_bytes(w)),
                       fa_row(w, tensors[i][1], &at->kv, at->heads, at->group, p->z, p->key),
                       p->keys, EXPR(0));
  emit_handshake(w->e, PIPE_MTE3, PIPE_MTE1, flag);
  emit_end(w->e);
}

/* Rows of Q and dY, a column of 16 elements after the other: so MTE3, which waits for P and dS, is
 * not on their way. */
static void load_rows(struct writer *w, struct place *p) {
  static const char *const tensors[][2] = {{"q1", "q"}, {"dy1", "dy"}};
  const struct attention *at = w->at;
  struct emit *e = w->e;
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, p->slot);
  for (unsigned i = 0; i < 2; i++) {
    struct expr dst = in_l1(w, tensors[i][0], p->slot, rows_bytes(w));
    struct expr src = fa_row(w, tensors[i][1], &at->q, at->heads, 1, p->z, p->row);
    struct expr column = emit_for(e, "column", at->depth / FRACTAL_ROWS);
    EMIT(e, "copy_gm_to_cbuf", F("dst", x_add(dst, x_mul(column, w->t.rows * BLOCK_BYTES))),
         F("src", x_add(src, x_mul(column, FRACTAL_ROWS * HALF_BYTES))), F("n_burst", p->rows),
         F("len_burst", 1), F("src_gap", at->q.row * HALF_BYTES / BLOCK_BYTES - 1));
    emit_end(e);
  }
  emit_handshake(e, PIPE_MTE2, PIPE_MTE1, p->slot);
}

/* Takes half `number` of L0. */
static void take_l0(struct writer *w, unsigned number) {
  w->l0 = EXPR(number % ATTENTION_PAIR);
  emit_wait(w->e, PIPE_M, PIPE_MTE1, w->l0);
}

/* Rows times keys: Q and K, or dY and V. */
static void put_scores(struct writer *w, struct place *p, unsigned number, const char *rows,
                       const char *keys, const char *product) {
  struct expr depth = EXPR(w->t.depth);
  emit_wait(w->e, PIPE_V, PIPE_M, number);
  take_l0(w, number);
  fa_load_a(w, in_l1(w, rows, p->slot, rows_bytes(w)), EXPR(w->t.rows / FRACTAL_ROWS), p->tall,
            EXPR(0), depth);
  fa_load_b(w, in_l1(w, keys, p->odd, keys_bytes(w)), w->t.cols, EXPR(0), depth, p->keys, false);
  fa_mad(w, x_name(w->e, product), x_mul(p->tall, FRACTAL_ROWS), depth,
         x_mul(p->wide, FRACTAL_ROWS), EXPR(1));
  emit_set(w->e, PIPE_M, PIPE_V, number);
}

/* P and dS to L1. */
static void store_answer(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  struct expr blocks = x_mul(x_mul(p->tall, FRACTAL_ROWS), p->wide);
  emit_handshake(e, PIPE_V, PIPE_MTE3, FA_GRAD_ANSWER);
  emit_wait(e, PIPE_MTE1, PIPE_MTE3, x_add(FLAG_STEP, p->slot));
  EMIT(e, "copy_ubuf_to_cbuf", F("dst", in_l1(w, "p1", p->slot, step_bytes(w))),
       F("src", w->t.coupled.probabilities), F("len_burst", blocks));
  EMIT(e, "copy_ubuf_to_cbuf", F("dst", in_l1(w, "ds1", p->slot, step_bytes(w))),
       F("src", w->t.coupled.gradients), F("len_burst", blocks));
  emit_set(e, PIPE_MTE3, PIPE_V, FA_GRAD_ANSWER);
  emit_set(e, PIPE_MTE3, PIPE_MTE1, x_add(FLAG_STEP, p->slot));
}

/* What the cube does for the step to come, and then the vector unit. */
static void put_scores_ahead(struct writer *w, struct place *p) {
  load_keys(w, p);
  load_rows(w, p);
  fa_grad_load_numbers(w, p);
  put_scores(w, p, FA_GRAD_SCORES, "q1", "k1", "s0");
  put_scores(w, p, FA_GRAD_PRODUCTS, "dy1", "v1", "dp0");
}

static void put_answer_ahead(struct writer *w, struct place *p) {
  fa_grad_answer(w, p);
  store_answer(w, p);
}

/* ---- behind: three products ---- */

/* P or dS, turned, times rows of dY or Q, added to what the task has. */
static void add_keys(struct writer *w, struct place *p, unsigned number, const char *answer,
                     const char *rows, const char *product) {
  struct expr depth = EXPR(w->t.depth);
  take_l0(w, number);
  fa_load_a_turned(w, in_l1(w, answer, p->slot, step_bytes(w)), p->tall, p->wide);
  fa_load_b(w, in_l1(w, rows, p->slot, rows_bytes(w)), w->t.rows, EXPR(0), p->rows, depth, true);
  fa_mad(w, x_name(w->e, product), x_mul(p->wide, FRACTAL_ROWS), p->rows, depth, is_first(p));
}

/* dS times K. */
static void put_rows(struct writer *w, struct place *p, unsigned number) {
  struct expr depth = EXPR(w->t.depth);
  emit_wait(w->e, PIPE_V, PIPE_M, FA_GRAD_ROWS);
  take_l0(w, number);
  fa_load_a(w, in_l1(w, "ds1", p->slot, step_bytes(w)), p->tall, p->tall, EXPR(0), p->keys);
  fa_load_b(w, in_l1(w, "k1", p->odd, keys_bytes(w)), w->t.cols, EXPR(0), p->keys, depth, true);
  fa_mad(w, x_name(w->e, "dq0"), x_mul(p->tall, FRACTAL_ROWS), p->keys, depth, EXPR(1));
}

/* The same for the present step. */
static void put_products_behind(struct writer *w, struct place *p) {
  struct emit *e = w->e;
  emit_if(e, "begin", is_first(p));
  emit_wait(e, PIPE_V, PIPE_M, FA_GRAD_KEYS);
  emit_end(e);
  emit_wait(e, PIPE_MTE3, PIPE_MTE1, x_add(FLAG_STEP, p->slot));
  add_keys(w, p, 0, "p1", "dy1", "dv0");
  add_keys(w, p, 1, "ds1", "q1", "dk0");
  put_rows(w, p, 2);
  emit_set(e, PIPE_M, PIPE_V, FA_GRAD_ROWS);
  emit_set(e, PIPE_MTE1, PIPE_MTE2, p->slot);
  emit_set(e, PIPE_MTE1, PIPE_MTE3, x_add(FLAG_STEP, p->slot));
  emit_if(e, "end", is_last(w, p));
  emit_set(e, PIPE_M, PIPE_V, FA_GRAD_KEYS);
  emit_set(e, PIPE_MTE1, PIPE_MTE3, x_add(FLAG_KEYS, p->odd));
  emit_end(e);
}

static void put_results_behind(struct writer *w, struct place *p) {
  fa_grad_add_rows(w, p);
  emit_if(w->e, "last", is_last(w, p));
  fa_grad_put_keys(w, p);
  emit_end(w->e);
}

/* ---- the stream ---- */

/* The scalar unit issues what the cube does before what the vector unit does, whose queue is full
 * for most of the time. */
void fa_coupled_grad_stream(struct writer *w) {
  static const struct {
    void (*put)(struct writer *w, struct place *p);
    bool ahead;
  } turns[] = {{put_scores_ahead, true},
               {put_products_behind, false},
               {put_answer_ahead, true},
               {put_results_behind, false}};
  struct emit *e = w->e;
  put_buffers(w);
  fa_count_tasks(w);
  emit_plain(e, "set_atomic_f32");
  fa_grad_clear(w);
  put_flags(w, true);
  struct expr all = emit_assigned(e, "all", x_mul(w->tasks, steps_of(w)));
  struct expr n = emit_for(e, "n", x_add(all, 1));
  take_step(w, &w->next, x_min(n, x_sub(all, 1)));
  take_step(w, &w->here, x_max(0, x_sub(n, 1)));
  struct expr more = emit_assigned(e, "more", x_mul(w->next.live, x_lt(n, all)));
  struct expr less = emit_assigned(e, "less", x_mul(w->here.live, x_gt(n, 0)));
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
    emit_if(e, turns[i].ahead ? "ahead" : "behind", turns[i].ahead ? more : less);
    turns[i].put(w, turns[i].ahead ? &w->next : &w->here);
    emit_end(e);
  }
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  put_flags(w, false);
}
