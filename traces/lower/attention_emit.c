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
#include "core/arith.h"
#include "core/layout.h"
#include "traces/lower/attention.h"

enum { FLAG_Q = 0, FLAG_K = 2, FLAG_V = 4, FLAG_P = 6, MAD_OVERLAP_TILES = 10 };
enum { HALF_BYTES = 2, WORD_BYTES = 4 };
enum { TILE_BYTES = ATTENTION_SIDE * ATTENTION_SIDE * HALF_BYTES };

static const char *rounded(struct emit *e, const char *count) {
  return emit_text(e, "((%s+15)/16*16)", count);
}

/* ---- tasks and steps ---- */

void attention_task(const struct attention_writer *w, const char *i, const char *x) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull cores = w->t.cores, blocks = w->t.row_blocks, heads = at->batch * at->heads;
  emit_let(e, emit_text(e, "odd%s", x), "(%s)%%2", i);
  emit_let(e, emit_text(e, "u%s", x), "(%s)*%llu+blk+odd%s*(%llu-2*blk)", i, cores, x, cores - 1);
  /* The longest tasks first. */
  emit_let(e, emit_text(e, "z%s", x), at->causal ? "u%s%%%llu" : "u%s/%llu", x,
           at->causal ? heads : blocks);
  if (at->causal)
    emit_let(e, emit_text(e, "row%s", x), "(%llu-u%s/%llu)*%llu", blocks - 1, x, heads,
             (ull)w->t.rows);
  else
    emit_let(e, emit_text(e, "row%s", x), "u%s%%%llu*%llu", x, blocks, (ull)w->t.rows);
  emit_let(e, emit_text(e, "cm%s", x), "min(%llu,%llu-row%s)", (ull)w->t.rows, (ull)at->rows, x);
  ull cols = w->t.cols, more = at->keys - at->rows;
  if (at->causal && w->t.diagonal == DIAGONAL_WHOLE)
    emit_let(e, emit_text(e, "limit%s", x), "min(%llu,(row%s+cm%s+%llu)/%llu*%llu)", (ull)at->keys,
             x, x, more + cols - 1, cols, cols);
  else if (at->causal)
    emit_let(e, emit_text(e, "limit%s", x), "row%s+cm%s+%llu", x, x, more);
  else
    emit_let(e, emit_text(e, "limit%s", x), "%llu", (ull)at->keys);
  emit_let(e, emit_text(e, "steps%s", x), "(limit%s+%llu)/%llu", x, cols - 1, cols);
}

void attention_step(const struct attention_writer *w, const char *s, const char *x) {
  struct emit *e = w->e;
  emit_let(e, emit_text(e, "key%s", x), "(%s)*%llu", s, (ull)w->t.cols);
  emit_let(e, emit_text(e, "cc%s", x), "min(%llu,limit%s-key%s)", (ull)w->t.cols, x, x);
  emit_let(e, emit_text(e, "slot%s", x), "blk*%d+odd%s*2+(%s)%%2", ATTENTION_SLOTS, x, s);
}

void attention_open(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_loop(e, "i", "tasks");
  attention_task(w, "i", "");
  emit_loop(e, "s", "steps");
  attention_step(w, "s", "");
  emit_let(e, "same", "s+1<steps");
  emit_let(e, "more", "max(same,i+1<tasks)");
  emit_let(e, "ix", "min(tasks-1,i+1-same)");
  emit_let(e, "sx", "(s+1)*same");
  attention_task(w, "ix", "x");
  attention_step(w, "sx", "x");
}

/* Rounds of all cores, each the other way round, and what is left for the last one. */
static void count_tasks(const struct attention_writer *w) {
  ull rounds = w->t.tasks / w->t.cores, rest = w->t.tasks % w->t.cores, cores = w->t.cores;
  emit_let(w->e, "tasks", rounds % 2 ? "%llu+(%llu-blk<%llu)" : "%llu+(blk+%llu<%llu)", rounds,
           rounds % 2 ? cores - 1 : 0, rest);
}

/* ---- header ---- */

static void operand(const struct lower_job *job, struct emit *e, const char *name, uint64_t heads,
                    uint64_t rows, enum tensor_io io) {
  const struct lower_value *value = job->value;
  uint64_t batch = value[ATTENTION_BATCH].size, depth = value[ATTENTION_HEAD_DIM].size;
  uint64_t shape[4] = {batch, heads, rows, depth};
  unsigned rank = 4;
  switch ((enum attention_layout)value[ATTENTION_LAYOUT].word) {
  case LAYOUT_BSND:
    shape[1] = rows;
    shape[2] = heads;
    break;
  case LAYOUT_BSH:
  case LAYOUT_SBH:
    rank = 3;
    bool first = value[ATTENTION_LAYOUT].word == LAYOUT_BSH;
    shape[0] = first ? batch : rows;
    shape[1] = first ? rows : batch;
    shape[2] = heads * depth;
    break;
  default:
    break;
  }
  emit_tensor(e, name, value[ATTENTION_DTYPE].dtype, io, shape, rank, NULL);
}

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
  operand(job, e, "q", heads, queries, TENSOR_IN);
  operand(job, e, "k", kv_heads, at->keys, TENSOR_IN);
  operand(job, e, "v", kv_heads, at->keys, TENSOR_IN);
  operand(job, e, "o", heads, queries, TENSOR_OUT);
  emit_tensor(e, "scores", DTYPE_FP32, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "probs", at->type, TENSOR_WORKSPACE, scores, 3, NULL);
  emit_tensor(e, "partial", DTYPE_FP32, TENSOR_WORKSPACE, partial, 3, NULL);
  emit_buffer(e, "q1", SPACE_L1, ATTENTION_PAIR * t->rows * t->depth * HALF_BYTES);
  emit_buffer(e, "k1", SPACE_L1, t->l1_slots * t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "v1", SPACE_L1, t->l1_slots * t->panel * t->depth * HALF_BYTES);
  emit_buffer(e, "p1", SPACE_L1, t->l1_slots * t->panel * t->rows * HALF_BYTES);
  emit_buffer(e, "a0", SPACE_L0A, ATTENTION_PAIR * TILE_BYTES);
  emit_buffer(e, "b0", SPACE_L0B, ATTENTION_PAIR * TILE_BYTES);
  emit_buffer(e, "c0", SPACE_L0C, t->c_slots * t->c_bytes);
  emit_buffer(e, "ub", SPACE_UB, t->ub_bytes);
}

/* ---- GM to L1 ---- */

static void nd2nz(const struct attention_writer *w, const char *dst, const char *src,
                  const char *rows, const char *cols, uint64_t src_stride, const char *dst_rows) {
  emit_row(w->e,
           "copy_gm_to_cbuf_multi_nd2nz_b16,dst=%s,src=%s,n=%s,d=%s,src_d=%llu,"
           "dst_c0_stride=%s",
           dst, src, rows, cols, (ull)src_stride, dst_rows);
}

static void load_q(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+oddx", FLAG_Q);
  nd2nz(w, emit_text(e, "q1+oddx*%llu", (ull)(w->t.rows * w->t.depth * HALF_BYTES)),
        emit_text(e, "q+(zx/%llu*%llu+zx%%%llu*%llu+rowx*%llu)*2", (ull)at->heads, (ull)at->q.batch,
                  (ull)at->heads, (ull)at->q.head, (ull)at->q.row),
        "cmx", emit_text(e, "%llu", (ull)at->depth), at->q.row, "cmx");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+oddx", FLAG_Q);
}

/* A panel of K or V: keys from k + at on. K gives columns: its rows lie in whole fractals. */
static void load_kv(const struct attention_writer *w, const char *name, int flag, const char *x) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half", flag);
  nd2nz(w, emit_text(e, "%s1+half*%llu", name, (ull)(w->t.panel * w->t.depth * HALF_BYTES)),
        emit_text(e, "%s+(z%s/%llu*%llu+z%s%%%llu/%llu*%llu+(key%s+at)*%llu)*2", name, x,
                  (ull)at->heads, (ull)at->kv.batch, x, (ull)at->heads, (ull)at->group,
                  (ull)at->kv.head, x, (ull)at->kv.row),
        "cw", emit_text(e, "%llu", (ull)at->depth), at->kv.row,
        flag == FLAG_K ? rounded(e, "cw") : "cw");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+half", flag);
}

static void load_probabilities(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half", FLAG_P);
  nd2nz(w, emit_text(e, "p1+half*%llu", (ull)(w->t.panel * w->t.rows * HALF_BYTES)),
        emit_text(e, "probs+slot*%llu+at*2", (ull)(w->t.rows * w->t.cols * HALF_BYTES)), "cm", "cw",
        w->t.cols, "cm");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+half", FLAG_P);
}

/* ---- L1 to L0, cube ---- */

/* A part of a panel whose rows are rows of A. */
static void to_l0a(const struct attention_writer *w, const char *src, const char *rows,
                   const char *start, const char *count, const char *channels) {
  emit_row(w->e,
           "img2colv2_cbuf_to_ca,dst=a0+l0*%d,src=%s,k_ext=%s,m_ext=%s,k_start=%s,"
           "filter_w=1,filter_h=1,l1_w=%s,l1_h=1,channels=%s,type=%s",
           TILE_BYTES, src, rounded(w->e, count), rounded(w->e, rows), start, rows, channels,
           dtype_name(w->at->type));
}

/* Tile of K: columns of blocks from kd on, keys from nt on. */
static void k_to_l0b(const struct attention_writer *w) {
  struct emit *e = w->e;
  ull panel = w->t.panel * w->t.depth * HALF_BYTES;
  if (w->t.panel <= ATTENTION_SIDE) {
    emit_row(e,
             "load_cbuf_to_cb,dst=b0+l0*%d,src=k1+half*%llu,base=kd*8*((cn+15)/16),"
             "repeat=(kk+15)/16*((cn+15)/16)",
             TILE_BYTES, panel);
    return;
  }
  emit_loop(e, "column", "(kk+15)/16");
  emit_row(e,
           "load_cbuf_to_cb,dst=b0+l0*%d+column*((cn+15)/16)*%d,src=k1+half*%llu,"
           "base=(kd*8+column)*((cw+15)/16)+nt*8,repeat=(cn+15)/16",
           TILE_BYTES, FRACTAL_BYTES, panel);
  emit_endloop(e);
}

static void v_to_l0b(const struct attention_writer *w) {
  emit_row(w->e,
           "img2colv2_cbuf_to_cb,dst=b0+l0*%d,src=v1+half*%llu,k_ext=%s,m_ext=%s,k_start=nd*%d,"
           "m_start=kt*%d,filter_w=1,filter_h=1,l1_w=cw,l1_h=1,channels=%llu,type=%s",
           TILE_BYTES, (ull)(w->t.panel * w->t.depth * HALF_BYTES), rounded(w->e, "cn"),
           rounded(w->e, "kk"), ATTENTION_SIDE, ATTENTION_SIDE, (ull)w->t.depth,
           dtype_name(w->at->type));
}

/* Small ones on the same accumulators need a barrier between them (Ascend C, Mmad). */
static void mad(const struct attention_writer *w, const char *c, const char *rows,
                const char *first) {
  struct emit *e = w->e;
  emit_loop(e, "small", "(%s==0)*((%s+15)/16*((cn+15)/16)<%d)", first, rows, MAD_OVERLAP_TILES);
  emit_barrier(e, PIPE_M);
  emit_endloop(e);
  emit_row(e, "mad,c=%s,a=a0+l0*%d,b=b0+l0*%d,m=max(2,%s),k=kk,n=cn,init=%s,type=%s", c, TILE_BYTES,
           TILE_BYTES, rows, first, dtype_name(w->at->type));
  emit_set_flag(e, PIPE_M, PIPE_MTE1, "l0");
}

static void l0_filled(const struct attention_writer *w) {
  emit_set_flag(w->e, PIPE_MTE1, PIPE_M, "l0");
  emit_wait_flag(w->e, PIPE_MTE1, PIPE_M, "l0");
}

/* Lets of panel p of a step. */
static void panel(const struct attention_writer *w, const char *s, const char *x) {
  struct emit *e = w->e;
  emit_let(e, "at", "p*%llu", (ull)w->t.panel);
  emit_let(e, "cw", "min(%llu,cc%s-at)", (ull)w->t.panel, x);
  emit_let(e, "half", "(%s*%llu+p)%%%llu", s, (ull)(w->t.cols / w->t.panel), (ull)w->t.l1_slots);
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
  to_l0a(w, emit_text(e, "q1+oddx*%llu", (ull)(t->rows * t->depth * HALF_BYTES)), "cmx",
         emit_text(e, "kd*%d", ATTENTION_SIDE), "kk", emit_text(e, "%llu", (ull)t->depth));
  k_to_l0b(w);
  l0_filled(w);
  mad(w, emit_text(e, "c0+c*%llu", (ull)t->c_bytes), "cmx", "(kd==0)");
  emit_endloop(e);
  emit_set_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "c");
  emit_row(e,
           "copy_matrix_cc_to_gm,dst=scores+slotx*%llu+(at+nt*%d)*4,src=c0+c*%llu,n=cn,m=cmx,"
           "src_stride=%s,dst_stride=%llu,nz2nd=1,type=fp32",
           (ull)(t->rows * t->cols * WORD_BYTES), ATTENTION_SIDE, (ull)t->c_bytes,
           rounded(e, "cmx"), (ull)t->cols);
  emit_set_flag(e, PIPE_FIX, PIPE_M, "c");
}

static void put_scores(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_loop(e, "begin", "sx==0");
  load_q(w);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+oddx", FLAG_Q);
  emit_endloop(e);
  emit_loop(e, "p", "(ccx+%llu)/%llu", (ull)w->t.panel - 1, (ull)w->t.panel);
  panel(w, "sx", "x");
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
  to_l0a(w, emit_text(e, "p1+half*%llu", (ull)(t->rows * t->panel * HALF_BYTES)), "cm",
         emit_text(e, "kt*%d", ATTENTION_SIDE), "kk", rounded(e, "cw"));
  v_to_l0b(w);
  l0_filled(w);
  mad(w,
      emit_text(e, "c0+c*%llu+nd*%d*%s", (ull)t->c_bytes, ATTENTION_SIDE * ACCUMULATOR_BYTES,
                rounded(e, "cm")),
      "cm", "(tile==0)");
  emit_endloop(e);
}

static void put_values(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  emit_let(e, "c", "s%%%llu", (ull)t->c_slots);
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_loop(e, "p", "(cc+%llu)/%llu", (ull)t->panel - 1, (ull)t->panel);
  panel(w, "s", "");
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
           rounded(e, "cm"), (ull)w->at->depth);
  emit_set_flag(e, PIPE_FIX, PIPE_M, "c");
  emit_row(e, "ffts_cross_core_sync,pipe=FIX,mode=2,id=%d", SIGNAL_PARTIAL);
}

/* ---- the stream ---- */

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct attention_writer *w, bool set) {
  struct emit *e = w->e;
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "first" : "last";
  emit_loop(e, emit_text(e, "l1_%s", at), "%d", FLAG_P + ATTENTION_PAIR);
  flag(e, PIPE_MTE1, PIPE_MTE2, "l1_%s", at);
  emit_endloop(e);
  emit_loop(e, emit_text(e, "l0_%s", at), "%d", ATTENTION_PAIR);
  flag(e, PIPE_M, PIPE_MTE1, "l0_%s", at);
  emit_endloop(e);
  emit_loop(e, emit_text(e, "c_%s", at), "%llu", (ull)w->t.c_slots);
  flag(e, PIPE_FIX, PIPE_M, "c_%s", at);
  emit_endloop(e);
}

static void cube_stream(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_stream(e, CORE_AIC);
  count_tasks(w);
  free_flags(w, true);
  emit_comment(e, "The first scores.");
  emit_loop(e, "start", "1");
  attention_task(w, "0", "x");
  emit_let(e, "sx", "0");
  attention_step(w, "0", "x");
  put_scores(w);
  emit_endloop(e);
  attention_open(w);
  emit_loop(e, "ahead", "more");
  put_scores(w);
  emit_endloop(e);
  put_values(w);
  emit_endloop(e);
  emit_endloop(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(w, false);
}

void attention_emit(const struct lower_job *job, struct emit *e) {
  struct attention_writer w = {.e = e, .at = job->data};
  struct lower_job copy = *job;
  if (!attention_tiling(&copy, &w.t))
    vinci_bug("flash_attention: %s", copy.reason);
  header(&w, job);
  cube_stream(&w);
  emit_stream(e, CORE_AIV);
  count_tasks(&w);
  attention_vector_stream(&w);
}
