/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The middle kernel of flash_attention_grad: header and the stream of the cube core.
 *
 * Flags: MTE1 to MTE2 and back: 0 and 1 Q and dY of tasks of even and odd number; one each: 2 K, 3
 * V, 4 K as rows, 5 probabilities, 6 dS. M to MTE1 and back: halves of L0. M to FIX and back:
 * blocks in L0C.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/grad.h"

enum { FLAG_ROWS = 0, FLAG_K = 2, FLAG_V, FLAG_K_ROWS, FLAG_P, FLAG_DS, FLAG_COUNT };
enum { HALF_BYTES = 2, WORD_BYTES = 4 };

/* ---- header ---- */

void attention_grad_workspace(const struct attention_writer *w) {
  const struct attention *at = w->at;
  uint64_t q[3] = {at->batch * at->heads, at->rows, at->depth};
  uint64_t kv[3] = {at->batch * at->heads / at->group, at->keys, at->depth};
  uint64_t rows[3] = {at->batch * at->heads, at->rows, BLOCK_BYTES / WORD_BYTES};
  emit_tensor(w->e, "dq_sum", DTYPE_FP32, TENSOR_WORKSPACE, q, 3, NULL);
  emit_tensor(w->e, "dk_sum", DTYPE_FP32, TENSOR_WORKSPACE, kv, 3, NULL);
  emit_tensor(w->e, "dv_sum", DTYPE_FP32, TENSOR_WORKSPACE, kv, 3, NULL);
  emit_tensor(w->e, "delta", DTYPE_FP32, TENSOR_WORKSPACE, rows, 3, NULL);
}

static void header(const struct attention_writer *w, const struct lower_job *job) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  const struct attention_tiling *t = &w->t;
  const uint64_t scores[3] = {t->cores * ATTENTION_SLOTS, t->rows, t->cols};
  const uint64_t rows[4] = {at->batch, at->heads, at->rows, BLOCK_BYTES / WORD_BYTES};
  uint64_t kv_heads = at->heads / at->group;
  emit_mixed_kernel(e, job->op->name, (uint32_t)t->cores, 2);
  attention_tensor(job, e, "q", at->heads, at->rows, TENSOR_IN);
  attention_tensor(job, e, "k", kv_heads, at->keys, TENSOR_IN);
  attention_tensor(job, e, "v", kv_heads, at->keys, TENSOR_IN);
  attention_tensor(job, e, "dy", at->heads, at->rows, TENSOR_IN);
  emit_tensor(e, "row_max", DTYPE_FP32, TENSOR_IN, rows, 4, NULL);
  emit_tensor(e, "row_sum", DTYPE_FP32, TENSOR_IN, rows, 4, NULL);
  attention_grad_workspace(w);
  emit_tensor(e, "scores", DTYPE_FP32, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "products", DTYPE_FP32, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "probs", at->type, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "ds", at->type, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_buffer(e, "q1", SPACE_L1, ATTENTION_PAIR * t->rows * t->depth * HALF_BYTES);
  emit_buffer(e, "dy1", SPACE_L1, ATTENTION_PAIR * t->rows * t->depth * HALF_BYTES);
  emit_buffer(e, "k1", SPACE_L1, t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "v1", SPACE_L1, t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "kr1", SPACE_L1, t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "p1", SPACE_L1, t->panel * t->rows * HALF_BYTES);
  emit_buffer(e, "ds1", SPACE_L1, t->panel * t->rows * HALF_BYTES);
  emit_buffer(e, "a0", SPACE_L0A, ATTENTION_PAIR * ATTENTION_TILE_BYTES);
  emit_buffer(e, "b0", SPACE_L0B, ATTENTION_PAIR * ATTENTION_TILE_BYTES);
  emit_buffer(e, "c0", SPACE_L0C, t->c_slots * t->c_bytes);
  emit_buffer(e, "ub", SPACE_UB, t->ub_bytes);
}

/* Q or dY of the task with the suffix, in L1. */
static const char *task_rows(const struct attention_writer *w, const char *name, const char *x) {
  return emit_text(w->e, "%s1+odd%s*%llu", name, x, (ull)(w->t.rows * w->t.depth * HALF_BYTES));
}

/* ---- what the vector cores wait for: step sx of task x ---- */

/* 128 keys, as columns, times rows of the task; to the slot of a workspace. */
static void row_product(const struct attention_writer *w, const char *rows, const char *columns,
                        const char *result) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  ull depths = ceil_div(w->at->depth, ATTENTION_SIDE);
  emit_loop(e, "nt", "(cw+%d)/%d", ATTENTION_SIDE - 1, ATTENTION_SIDE);
  emit_let(e, "cn", "min(%d,cw-nt*%d)", ATTENTION_SIDE, ATTENTION_SIDE);
  emit_let(e, "c", "nt%%%llu", (ull)t->c_slots);
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_loop(e, "kd", "%llu", depths);
  emit_let(e, "kk", "min(%d,%llu-kd*%d)", ATTENTION_SIDE, (ull)w->at->depth, ATTENTION_SIDE);
  emit_let(e, "l0", "(nt*%llu+kd)%%2", depths);
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  attention_rows_to_l0a(w, task_rows(w, rows, "x"), "cmx", emit_text(e, "kd*%d", ATTENTION_SIDE),
                        "kk", emit_text(e, "%llu", (ull)t->depth));
  attention_columns_to_l0b(w, columns);
  attention_l0_filled(w);
  attention_mad(w, emit_text(e, "c0+c*%llu", (ull)t->c_bytes), "cmx", "(kd==0)");
  emit_endloop(e);
  emit_set_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_row(e,
           "copy_matrix_cc_to_gm,dst=%s+slotx*%llu+(at+nt*%d)*4,src=c0+c*%llu,n=cn,m=cmx,"
           "src_stride=%s,dst_stride=%llu,nz2nd=1,type=fp32",
           result, (ull)(t->rows * t->cols * WORD_BYTES), ATTENTION_SIDE, (ull)t->c_bytes,
           attention_rounded(e, "cmx"), (ull)t->cols);
  emit_set_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_endloop(e);
}

static void put_scores(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_loop(e, "begin", "sx==0");
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+oddx", FLAG_ROWS);
  attention_load_rows(w, "q", task_rows(w, "q", "x"), "x");
  attention_load_rows(w, "dy", task_rows(w, "dy", "x"), "x");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+oddx", FLAG_ROWS);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+oddx", FLAG_ROWS);
  emit_endloop(e);
  emit_loop(e, "p", "(ccx+%llu)/%llu", (ull)w->t.panel - 1, (ull)w->t.panel);
  attention_panel(w, "sx", "x");
  attention_load_kv(w, "k", "k1", emit_text(e, "%d", FLAG_K), "x", true);
  attention_load_kv(w, "v", "v1", emit_text(e, "%d", FLAG_V), "x", true);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d", FLAG_K);
  row_product(w, "q", "k1", "scores");
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d", FLAG_K);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d", FLAG_V);
  row_product(w, "dy", "v1", "products");
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d", FLAG_V);
  emit_endloop(e);
  emit_row(e, "ffts_cross_core_sync,pipe=FIX,mode=2,id=%d", SIGNAL_SCORES);
}

/* ---- sums, of step s of task i ---- */

static void load_panel(const struct attention_writer *w, const char *tensor, const char *buffer,
                       int flag) {
  struct emit *e = w->e;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d", flag);
  attention_nd2nz(
      w, buffer,
      emit_text(e, "%s+slot*%llu+at*2", tensor, (ull)(w->t.rows * w->t.cols * HALF_BYTES)), "cm",
      "cw", w->t.cols, "cm");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d", flag);
}

/* The block in L0C, `rows` of it, is added to a sum that begins at `dst`. */
static void add_to_sum(const struct attention_writer *w, const char *dst, const char *rows) {
  struct emit *e = w->e;
  emit_set_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_row(e, "set_atomic_add");
  emit_row(e,
           "copy_matrix_cc_to_gm,dst=%s,src=c0+c*%llu,n=%llu,m=%s,src_stride=%s,dst_stride=%llu,"
           "nz2nd=1,type=fp32",
           dst, (ull)w->t.c_bytes, (ull)w->at->depth, rows, attention_rounded(e, rows),
           (ull)w->at->depth);
  emit_row(e, "set_atomic_none");
  emit_set_flag(e, PIPE_FIX, PIPE_M, "c");
}

/* Part nd of the block of the result: as many rows as `rows` says. */
static const char *block_part(const struct attention_writer *w, const char *rows) {
  return emit_text(w->e, "c0+c*%llu+nd*%d*%s", (ull)w->t.c_bytes,
                   ATTENTION_SIDE * ACCUMULATOR_BYTES, attention_rounded(w->e, rows));
}

/* Columns of P or dS, turned, times rows of dY or Q: for 128 keys a block of dV or dK. */
static void key_sums(const struct attention_writer *w, const char *panel, const char *rows,
                     const char *sum) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull depths = ceil_div(at->depth, ATTENTION_SIDE);
  emit_loop(e, "kt", "(cw+%d)/%d", ATTENTION_SIDE - 1, ATTENTION_SIDE);
  emit_let(e, "mk", "min(%d,cw-kt*%d)", ATTENTION_SIDE, ATTENTION_SIDE);
  emit_let(e, "kk", "cm");
  emit_let(e, "c", "kt%%%llu", (ull)w->t.c_slots);
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_loop(e, "nd", "%llu", depths);
  emit_let(e, "cn", "min(%d,%llu-nd*%d)", ATTENTION_SIDE, (ull)at->depth, ATTENTION_SIDE);
  emit_let(e, "l0", "(kt*%llu+nd)%%2", depths);
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  emit_row(e,
           "img2colv2_cbuf_to_ca,dst=a0+l0*%d,src=%s,k_ext=%s,m_ext=%s,k_start=kt*%d,"
           "filter_w=1,filter_h=1,l1_w=cm,l1_h=1,channels=%s,transpose=1,type=%s",
           ATTENTION_TILE_BYTES, panel, attention_rounded(e, "mk"), attention_rounded(e, "cm"),
           ATTENTION_SIDE, attention_rounded(e, "cw"), dtype_name(at->type));
  attention_rows_to_l0b(w, task_rows(w, rows, ""), "cm", "0");
  attention_l0_filled(w);
  attention_mad(w, block_part(w, "mk"), "mk", "1");
  emit_endloop(e);
  add_to_sum(w,
             emit_text(e, "%s+(z/%llu*%llu+key+at+kt*%d)*%llu", sum, (ull)at->group, (ull)at->keys,
                       ATTENTION_SIDE, (ull)at->depth * WORD_BYTES),
             "mk");
  emit_endloop(e);
}

/* dS times rows of K: a block of dQ. */
static void row_sums(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull depths = ceil_div(at->depth, ATTENTION_SIDE);
  emit_let(e, "c", "p%%%llu", (ull)w->t.c_slots);
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_loop(e, "kt", "(cw+%d)/%d", ATTENTION_SIDE - 1, ATTENTION_SIDE);
  emit_let(e, "kk", "min(%d,cw-kt*%d)", ATTENTION_SIDE, ATTENTION_SIDE);
  emit_loop(e, "nd", "%llu", depths);
  emit_let(e, "cn", "min(%d,%llu-nd*%d)", ATTENTION_SIDE, (ull)at->depth, ATTENTION_SIDE);
  emit_let(e, "l0", "(kt*%llu+nd)%%2", depths);
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  attention_rows_to_l0a(w, "ds1", "cm", emit_text(e, "kt*%d", ATTENTION_SIDE), "kk",
                        attention_rounded(e, "cw"));
  attention_rows_to_l0b(w, "kr1", "cw", emit_text(e, "kt*%d", ATTENTION_SIDE));
  attention_l0_filled(w);
  attention_mad(w, block_part(w, "cm"), "cm", "(kt==0)");
  emit_endloop(e);
  emit_endloop(e);
  add_to_sum(w,
             emit_text(e, "dq_sum+(z*%llu+row)*%llu", (ull)at->rows, (ull)at->depth * WORD_BYTES),
             "cm");
}

static void put_sums(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_loop(e, "p", "(cc+%llu)/%llu", (ull)w->t.panel - 1, (ull)w->t.panel);
  attention_panel(w, "s", "");
  attention_load_kv(w, "k", "kr1", emit_text(e, "%d", FLAG_K_ROWS), "", false);
  emit_loop(e, "ready", "p==0");
  emit_row(e, "wait_flag_dev,id=%d", SIGNAL_PROBABILITIES);
  emit_endloop(e);
  load_panel(w, "probs", "p1", FLAG_P);
  load_panel(w, "ds", "ds1", FLAG_DS);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d", FLAG_P);
  key_sums(w, "p1", "dy", "dv_sum");
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d", FLAG_P);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d", FLAG_DS);
  key_sums(w, "ds1", "q", "dk_sum");
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d", FLAG_K_ROWS);
  row_sums(w);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d", FLAG_DS);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d", FLAG_K_ROWS);
  emit_endloop(e);
  emit_loop(e, "done", "s+1==steps");
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+odd", FLAG_ROWS);
  emit_endloop(e);
}

/* ---- the kernel ---- */

void attention_grad_emit(const struct lower_job *job, struct emit *e) {
  struct attention_writer w = {.e = e, .at = job->data};
  struct lower_job copy = *job;
  if (!attention_tiling(&copy, &w.t))
    vinci_bug("flash_attention_grad: %s", copy.reason);
  attention_grad_first(&w, job);
  header(&w, job);
  emit_stream(e, CORE_AIC);
  attention_count_tasks(&w);
  emit_row(e, "set_atomic_f32");
  attention_cube_stream(&w, FLAG_COUNT, put_scores, put_sums);
  emit_stream(e, CORE_AIV);
  attention_count_tasks(&w);
  attention_grad_vector_stream(&w);
  attention_grad_last(&w, job);
}
