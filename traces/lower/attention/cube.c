/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the streams of cube cores of flash_attention and its gradient share: tasks and steps, copies
 * of panels to L1, tiles to L0, mads.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

const char *attention_rounded(struct emit *e, const char *count) {
  return emit_text(e, "((%s+15)/16*16)", count);
}

/* ---- tasks and steps ---- */

void attention_task(const struct attention_writer *w, const char *i, const char *x) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull cores = w->t.cores, blocks = w->t.row_blocks, heads = at->batch * at->heads;
  emit_let(e, emit_text(e, "odd%s", x), "(%s)%%2", i);
  ull splits = w->t.splits, part = w->t.part;
  emit_let(e, emit_text(e, splits > 1 ? "turn%s" : "u%s", x), "(%s)*%llu+blk+odd%s*(%llu-2*blk)", i,
           cores, x, cores - 1);
  if (splits > 1) {
    emit_let(e, emit_text(e, "u%s", x), "turn%s/%llu", x, splits);
    emit_let(e, emit_text(e, "piece%s", x), "turn%s%%%llu", x, splits);
  }
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
  else if (splits > 1)
    emit_let(e, emit_text(e, "limit%s", x), "min(%llu,(piece%s+1)*%llu)", (ull)at->keys, x, part);
  else
    emit_let(e, emit_text(e, "limit%s", x), "%llu", (ull)at->keys);
  const char *first = splits > 1 ? emit_text(e, "-piece%s*%llu", x, part) : "";
  emit_let(e, emit_text(e, "steps%s", x), "(limit%s%s+%llu)/%llu", x, first, cols - 1, cols);
}

void attention_step(const struct attention_writer *w, const char *s, const char *x) {
  struct emit *e = w->e;
  const char *first = w->t.splits > 1 ? emit_text(e, "piece%s*%llu+", x, (ull)w->t.part) : "";
  emit_let(e, emit_text(e, "key%s", x), "%s(%s)*%llu", first, s, (ull)w->t.cols);
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
void attention_count_tasks(const struct attention_writer *w) {
  ull rounds = w->t.tasks / w->t.cores, rest = w->t.tasks % w->t.cores, cores = w->t.cores;
  emit_let(w->e, "tasks", rounds % 2 ? "%llu+(%llu-blk<%llu)" : "%llu+(blk+%llu<%llu)", rounds,
           rounds % 2 ? cores - 1 : 0, rest);
}

/* ---- header ---- */

void attention_tensor(const struct lower_job *job, struct emit *e, const char *name, uint64_t heads,
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

/* ---- GM to L1 ---- */

void attention_nd2nz(const struct attention_writer *w, const char *dst, const char *src,
                     const char *rows, const char *cols, uint64_t src_stride,
                     const char *dst_rows) {
  emit_row(w->e,
           "copy_gm_to_cbuf_multi_nd2nz_b16,dst=%s,src=%s,n=%s,d=%s,src_d=%llu,"
           "dst_c0_stride=%s",
           dst, src, rows, cols, (ull)src_stride, dst_rows);
}

/* A panel of K or V: keys from `key` + at on, cw of them. */
void attention_load_kv(const struct attention_writer *w, const char *tensor, const char *buffer,
                       const char *flag, const char *x, bool columns) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%s", flag);
  attention_nd2nz(w, buffer,
                  emit_text(e, "%s+(z%s/%llu*%llu+z%s%%%llu/%llu*%llu+(key%s+at)*%llu)*2", tensor,
                            x, (ull)at->heads, (ull)at->kv.batch, x, (ull)at->heads, (ull)at->group,
                            (ull)at->kv.head, x, (ull)at->kv.row),
                  "cw", emit_text(e, "%llu", (ull)at->depth), at->kv.row,
                  columns ? attention_rounded(e, "cw") : "cw");
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%s", flag);
}

/* Rows of a task out of a tensor that lies as Q. */
void attention_load_rows(const struct attention_writer *w, const char *tensor, const char *buffer,
                         const char *x) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  attention_nd2nz(w, buffer,
                  emit_text(e, "%s+(z%s/%llu*%llu+z%s%%%llu*%llu+row%s*%llu)*2", tensor, x,
                            (ull)at->heads, (ull)at->q.batch, x, (ull)at->heads, (ull)at->q.head, x,
                            (ull)at->q.row),
                  emit_text(e, "cm%s", x), emit_text(e, "%llu", (ull)at->depth), at->q.row,
                  emit_text(e, "cm%s", x));
}

/* ---- L1 to L0, cube ---- */

/* A part of a panel whose rows are rows of A: columns from `start` on, `count` of them. */
void attention_rows_to_l0a(const struct attention_writer *w, const char *src, const char *rows,
                           const char *start, const char *count, const char *channels) {
  emit_row(w->e,
           "img2colv2_cbuf_to_ca,dst=a0+l0*%d,src=%s,k_ext=%s,m_ext=%s,k_start=%s,"
           "filter_w=1,filter_h=1,l1_w=%s,l1_h=1,channels=%s,type=%s",
           ATTENTION_TILE_BYTES, src, attention_rounded(w->e, count), attention_rounded(w->e, rows),
           start, rows, channels, dtype_name(w->at->type));
}

/* Of a panel whose rows are columns of B: columns of blocks from kd on, rows from nt on. */
void attention_columns_to_l0b(const struct attention_writer *w, const char *src) {
  struct emit *e = w->e;
  if (w->t.panel <= ATTENTION_SIDE) {
    emit_row(e,
             "load_cbuf_to_cb,dst=b0+l0*%d,src=%s,base=kd*8*((cn+15)/16),"
             "repeat=(kk+15)/16*((cn+15)/16)",
             ATTENTION_TILE_BYTES, src);
    return;
  }
  emit_loop(e, "column", "(kk+15)/16");
  emit_row(e,
           "load_cbuf_to_cb,dst=b0+l0*%d+column*((cn+15)/16)*%d,src=%s,"
           "base=(kd*8+column)*((cw+15)/16)+nt*8,repeat=(cn+15)/16",
           ATTENTION_TILE_BYTES, FRACTAL_BYTES, src);
  emit_endloop(e);
}

/* Of a panel whose rows are rows of B, `rows` of them: from `start` on kk, columns from nd on cn.
 */
void attention_rows_to_l0b(const struct attention_writer *w, const char *src, const char *rows,
                           const char *start) {
  struct emit *e = w->e;
  emit_row(e,
           "img2colv2_cbuf_to_cb,dst=b0+l0*%d,src=%s,k_ext=%s,m_ext=%s,k_start=nd*%d,m_start=%s,"
           "filter_w=1,filter_h=1,l1_w=%s,l1_h=1,channels=%llu,type=%s",
           ATTENTION_TILE_BYTES, src, attention_rounded(e, "cn"), attention_rounded(e, "kk"),
           ATTENTION_SIDE, start, rows, (ull)w->t.depth, dtype_name(w->at->type));
}

/* Small ones on the same accumulators need a barrier between them (Ascend C, Mmad). */
void attention_mad(const struct attention_writer *w, const char *c, const char *rows,
                   const char *first) {
  struct emit *e = w->e;
  emit_loop(e, "small", "(%s==0)*((%s+15)/16*((cn+15)/16)<%d)", first, rows, MAD_OVERLAP_TILES);
  emit_barrier(e, PIPE_M);
  emit_endloop(e);
  emit_row(e, "mad,c=%s,a=a0+l0*%d,b=b0+l0*%d,m=max(2,%s),k=kk,n=cn,init=%s,type=%s", c,
           ATTENTION_TILE_BYTES, ATTENTION_TILE_BYTES, rows, first, dtype_name(w->at->type));
  emit_set_flag(e, PIPE_M, PIPE_MTE1, "l0");
}

void attention_l0_filled(const struct attention_writer *w) {
  emit_set_flag(w->e, PIPE_MTE1, PIPE_M, "l0");
  emit_wait_flag(w->e, PIPE_MTE1, PIPE_M, "l0");
}

/* Lets of panel p of a step. */
void attention_panel(const struct attention_writer *w, const char *s, const char *x) {
  struct emit *e = w->e;
  emit_let(e, "at", "p*%llu", (ull)w->t.panel);
  emit_let(e, "cw", "min(%llu,cc%s-at)", (ull)w->t.panel, x);
  emit_let(e, "half", "(%s*%llu+p)%%%llu", s, (ull)(w->t.cols / w->t.panel), (ull)w->t.l1_slots);
}

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct attention_writer *w, unsigned l1_flags, bool set) {
  struct emit *e = w->e;
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "first" : "last";
  emit_loop(e, emit_text(e, "l1_%s", at), "%u", l1_flags);
  flag(e, PIPE_MTE1, PIPE_MTE2, "l1_%s", at);
  emit_endloop(e);
  emit_loop(e, emit_text(e, "l0_%s", at), "%d", ATTENTION_PAIR);
  flag(e, PIPE_M, PIPE_MTE1, "l0_%s", at);
  emit_endloop(e);
  emit_loop(e, emit_text(e, "c_%s", at), "%llu", (ull)w->t.c_slots);
  flag(e, PIPE_FIX, PIPE_M, "c_%s", at);
  emit_endloop(e);
}

void attention_cube_stream(const struct attention_writer *w, unsigned l1_flags,
                           attention_put *put_scores, attention_put *put_results) {
  struct emit *e = w->e;
  free_flags(w, l1_flags, true);
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
  put_results(w);
  emit_endloop(e);
  emit_endloop(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(w, l1_flags, false);
}
