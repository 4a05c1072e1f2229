/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of flash_attention: header, tasks and steps, and the stream of the cube core. Names
 * that end in x belong to the step after the present one, maybe of the next task.
 *
 * Flags: MTE1 to MTE2 and back, two each: 0 Q, 2 K, 4 V, 6 probabilities in L1. M to MTE1 and
 * back: halves of L0. M to FIX and back: blocks in L0C. "Back" says filled, the other way free.
 * Between the cores no flag says "free": what a core writes for the other one takes the place of
 * what was read before the signal it has waited for.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

enum { FLAG_Q = 0, FLAG_K = 2, FLAG_V = 4, FLAG_P = 6 };
enum { HALF_BYTES = 2, WORD_BYTES = 4 };

/* ---- header ---- */

static void header(const struct attention_writer *w, const struct lower_job *job) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  const struct attention_tiling *t = &w->t;
  const struct lower_value *value = job->value;
  uint64_t heads = value[ATTENTION_HEADS].size, queries = value[ATTENTION_SEQ_Q].size;
  uint64_t kv_heads = value[ATTENTION_KV_HEADS].present ? value[ATTENTION_KV_HEADS].size : heads;
  uint64_t scores[3] = {t->cores * ATTENTION_SLOTS, t->rows, t->cols};
  uint64_t partial[3] = {t->cores * ATTENTION_SLOTS, t->rows, at->depth};
  emit_mixed_kernel(e, job->op->name, (uint32_t)t->cores, 2);
  attention_tensor(job, e, "q", heads, queries, TENSOR_IN);
  attention_tensor(job, e, "k", kv_heads, at->keys, TENSOR_IN);
  attention_tensor(job, e, "v", kv_heads, at->keys, TENSOR_IN);
  if (t->splits > 1)
    attention_parts_workspace(w);
  else
    attention_tensor(job, e, "o", heads, queries, TENSOR_OUT);
  const uint64_t rows[4] = {value[ATTENTION_BATCH].size, heads, queries, BLOCK_BYTES / WORD_BYTES};
  if (at->statistics) {
    emit_tensor(e, "row_max", DTYPE_FP32, TENSOR_OUT, rows, 4, NULL);
    emit_tensor(e, "row_sum", DTYPE_FP32, TENSOR_OUT, rows, 4, NULL);
  }
  emit_tensor(e, "scores", DTYPE_FP32, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "probs", at->type, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "partial", DTYPE_FP32, TENSOR_WORKSPACE, partial, 3, NULL);
  emit_buffer(e, "q1", SPACE_L1, ATTENTION_PAIR * t->rows * t->depth * HALF_BYTES);
  emit_buffer(e, "k1", SPACE_L1, t->l1_slots * t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "v1", SPACE_L1, t->l1_slots * t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "p1", SPACE_L1, t->l1_slots * t->panel * t->rows * HALF_BYTES);
  emit_buffer(e, "a0", SPACE_L0A, ATTENTION_PAIR * ATTENTION_TILE_BYTES);
  emit_buffer(e, "b0", SPACE_L0B, ATTENTION_PAIR * ATTENTION_TILE_BYTES);
  emit_buffer(e, "c0", SPACE_L0C, t->c_slots * t->c_bytes);
  emit_buffer(e, "ub", SPACE_UB, t->ub_bytes);
}

/* ---- GM to L1 ---- */

static void load_q(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+oddx", FLAG_Q);
  attention_load_rows(
      w, "q", emit_text(e, "q1+oddx*%llu", (ull)(w->t.rows * w->t.depth * HALF_BYTES)), "x");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+oddx", FLAG_Q);
}

static void load_kv(const struct attention_writer *w, const char *name, int flag, const char *x) {
  struct emit *e = w->e;
  const char *buffer =
      emit_text(e, "%s1+half*%llu", name, (ull)(w->t.panel * w->t.depth * HALF_BYTES));
  attention_load_kv(w, name, buffer, emit_text(e, "%d+half", flag), x, flag == FLAG_K);
}

static void load_probabilities(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half", FLAG_P);
  attention_nd2nz(w, emit_text(e, "p1+half*%llu", (ull)(w->t.panel * w->t.rows * HALF_BYTES)),
                  emit_text(e, "probs+slot*%llu+at*2", (ull)(w->t.rows * w->t.cols * HALF_BYTES)),
                  "cm", "cw", w->t.cols, "cm");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+half", FLAG_P);
}

/* ---- scores of step sx of task x ---- */

static void score_tile(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  ull depths = ceil_div(w->at->depth, ATTENTION_SIDE), tiles = ceil_div(t->panel, ATTENTION_SIDE);
  emit_let(e, "cn", "min(%d,cw-nt*%d)", ATTENTION_SIDE, ATTENTION_SIDE);
  emit_let(e, "tile", "p*%llu+nt", tiles);
  emit_let(e, "c", "tile%%%llu", (ull)t->c_slots);
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_loop(e, "kd", "%llu", depths);
  emit_let(e, "kk", "min(%d,%llu-kd*%d)", ATTENTION_SIDE, (ull)w->at->depth, ATTENTION_SIDE);
  emit_let(e, "l0", "(tile*%llu+kd)%%2", depths);
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  attention_rows_to_l0a(w, emit_text(e, "q1+oddx*%llu", (ull)(t->rows * t->depth * HALF_BYTES)),
                        "cmx", emit_text(e, "kd*%d", ATTENTION_SIDE), "kk",
                        emit_text(e, "%llu", (ull)t->depth));
  attention_columns_to_l0b(w,
                           emit_text(e, "k1+half*%llu", (ull)(t->panel * t->depth * HALF_BYTES)));
  attention_l0_filled(w);
  attention_mad(w, emit_text(e, "c0+c*%llu", (ull)t->c_bytes), "cmx", "(kd==0)");
  emit_endloop(e);
  emit_set_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_row(e,
           "copy_matrix_cc_to_gm,dst=scores+slotx*%llu+(at+nt*%d)*4,src=c0+c*%llu,n=cn,m=cmx,"
           "src_stride=%s,dst_stride=%llu,nz2nd=1,type=fp32",
           (ull)(t->rows * t->cols * WORD_BYTES), ATTENTION_SIDE, (ull)t->c_bytes,
           attention_rounded(e, "cmx"), (ull)t->cols);
  emit_set_flag(e, PIPE_FIX, PIPE_M, "c");
}

static void put_scores(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_loop(e, "begin", "sx==0");
  load_q(w);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+oddx", FLAG_Q);
  emit_endloop(e);
  emit_loop(e, "p", "(ccx+%llu)/%llu", (ull)w->t.panel - 1, (ull)w->t.panel);
  attention_panel(w, "sx", "x");
  load_kv(w, "k", FLAG_K, "x");
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+half", FLAG_K);
  emit_loop(e, "nt", "(cw+%d)/%d", ATTENTION_SIDE - 1, ATTENTION_SIDE);
  score_tile(w);
  emit_endloop(e);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half", FLAG_K);
  emit_endloop(e);
  emit_loop(e, "done", "sx+1==stepsx");
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+oddx", FLAG_Q);
  emit_endloop(e);
  emit_row(e, "ffts_cross_core_sync,pipe=FIX,mode=2,id=%d", SIGNAL_SCORES);
}

/* ---- probabilities of step s of task i times V ---- */

static void value_tile(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  ull depths = ceil_div(w->at->depth, ATTENTION_SIDE), tiles = ceil_div(t->panel, ATTENTION_SIDE);
  emit_let(e, "kk", "min(%d,cw-kt*%d)", ATTENTION_SIDE, ATTENTION_SIDE);
  emit_let(e, "tile", "p*%llu+kt", tiles);
  emit_loop(e, "nd", "%llu", depths);
  emit_let(e, "cn", "min(%d,%llu-nd*%d)", ATTENTION_SIDE, (ull)w->at->depth, ATTENTION_SIDE);
  emit_let(e, "l0", "(tile*%llu+nd)%%2", depths);
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  attention_rows_to_l0a(w, emit_text(e, "p1+half*%llu", (ull)(t->rows * t->panel * HALF_BYTES)),
                        "cm", emit_text(e, "kt*%d", ATTENTION_SIDE), "kk",
                        attention_rounded(e, "cw"));
  attention_rows_to_l0b(w, emit_text(e, "v1+half*%llu", (ull)(t->panel * t->depth * HALF_BYTES)),
                        "cw", emit_text(e, "kt*%d", ATTENTION_SIDE));
  attention_l0_filled(w);
  attention_mad(w,
                emit_text(e, "c0+c*%llu+nd*%d*%s", (ull)t->c_bytes,
                          ATTENTION_SIDE * ACCUMULATOR_BYTES, attention_rounded(e, "cm")),
                "cm", "(tile==0)");
  emit_endloop(e);
}

static void put_values(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  emit_let(e, "c", "s%%%llu", (ull)t->c_slots);
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_loop(e, "p", "(cc+%llu)/%llu", (ull)t->panel - 1, (ull)t->panel);
  attention_panel(w, "s", "");
  load_kv(w, "v", FLAG_V, "");
  emit_loop(e, "ready", "p==0");
  emit_row(e, "wait_flag_dev,id=%d", SIGNAL_PROBABILITIES);
  emit_endloop(e);
  load_probabilities(w);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+half", FLAG_V);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+half", FLAG_P);
  emit_loop(e, "kt", "(cw+%d)/%d", ATTENTION_SIDE - 1, ATTENTION_SIDE);
  value_tile(w);
  emit_endloop(e);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half", FLAG_V);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half", FLAG_P);
  emit_endloop(e);
  emit_set_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_row(e,
           "copy_matrix_cc_to_gm,dst=partial+slot*%llu,src=c0+c*%llu,n=%llu,m=cm,src_stride=%s,"
           "dst_stride=%llu,nz2nd=1,type=fp32",
           (ull)(t->rows * w->at->depth * WORD_BYTES), (ull)t->c_bytes, (ull)w->at->depth,
           attention_rounded(e, "cm"), (ull)w->at->depth);
  emit_set_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_row(e, "ffts_cross_core_sync,pipe=FIX,mode=2,id=%d", SIGNAL_PARTIAL);
}

/* ---- the kernel ---- */

void attention_emit(const struct lower_job *job, struct emit *e) {
  struct attention_writer w = {.e = e, .at = job->data};
  struct lower_job copy = *job;
  if (!attention_tiling(&copy, &w.t))
    vinci_bug("flash_attention: %s", copy.reason);
  header(&w, job);
  emit_stream(e, CORE_AIC);
  attention_count_tasks(&w);
  attention_cube_stream(&w, FLAG_P + ATTENTION_PAIR, put_scores, put_values);
  emit_stream(e, CORE_AIV);
  attention_count_tasks(&w);
  attention_vector_stream(&w);
  if (w.t.splits > 1)
    attention_join(&w, job);
}
