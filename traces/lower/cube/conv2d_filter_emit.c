/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of conv2d_backprop_filter. Copies to L1 run one turn ahead of the loads to L0, and
 * those one step ahead of the cube.
 *
 * Flags: MTE1 to MTE2 and back, 0 and 1: panels. M to MTE1 and back, 0 and 1: halves of L0. M to
 * FIX and back: blocks in L0C. "Back" says filled, the other direction free.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/conv2d_filter.h"

typedef unsigned long long ull;

struct writer {
  struct emit *e;
  const struct filter *op;
  struct filter_tiling t;
};

/* hf32 is how the cube reads fp32. */
static enum dtype stored(enum dtype type) { return type == DTYPE_HF32 ? DTYPE_FP32 : type; }

static bool is_atomic(const struct writer *w) { return w->t.split > 1 || w->op->accumulate; }

/* ---- header ---- */

static void result_tensor(const struct writer *w, enum tensor_io io) {
  const struct filter *op = w->op;
  const uint64_t dw[4] = {op->conv.groups * op->n / op->types.c0, op->dw_rows / FRACTAL_ROWS,
                          FRACTAL_ROWS, op->types.c0};
  emit_tensor(w->e, "dw", DTYPE_FP32, io, dw, 4, "FRACTAL_Z");
}

/* What parts of the sums are added to: zeros, written by a kernel of the vector cores. */
static void clear(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t total = w->op->conv.groups * w->op->n * w->op->dw_rows * sizeof(float);
  struct filter_clear by = filter_clear(e->soc, w->op);
  uint64_t chunk = by.chunk_bytes, chunks = by.chunks, cores = by.cores;
  emit_kernel(e, "clear", (uint32_t)cores);
  result_tensor(w, TENSOR_OUT);
  emit_buffer(e, "zeros", SPACE_UB, chunk);
  emit_stream(e, emit_vector_core(e->soc));
  emit_row(e, "vector_dup,dst=zeros,scalar=0,repeat=%llu,type=fp32", (ull)(chunk / REPEAT_BYTES));
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "0");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "0");
  emit_loop(e, "i", "(%llu-blk)/%llu", (ull)(chunks + cores - 1), (ull)cores);
  emit_let(e, "at", "(i*%llu+blk)*%llu", (ull)cores, (ull)chunk);
  emit_row(e, "copy_ubuf_to_gm,dst=dw+at,src=zeros,len_burst=min(%llu,%llu-at)/%d", (ull)chunk,
           (ull)total, BLOCK_BYTES);
  emit_endloop(e);
}

static void header(const struct writer *w) {
  struct emit *e = w->e;
  const struct filter *op = w->op;
  const struct conv *conv = &op->conv;
  const struct filter_tiling *t = &w->t;
  uint64_t c0 = op->types.c0, es = op->types.element_bytes;
  const uint64_t x[5] = {op->images, conv->groups * conv->c1, conv->h, conv->w, c0};
  const uint64_t dy[5] = {op->images, conv->groups * op->k1, conv->ho, conv->wo, c0};
  if (t->split > 1 && !op->accumulate)
    clear(w);
  emit_kernel(e, "conv2d_backprop_filter", (uint32_t)t->cores);
  emit_tensor(e, "x", stored(op->types.type), TENSOR_IN, x, 5, "NC1HWC0");
  emit_tensor(e, "dy", stored(op->types.type), TENSOR_IN, dy, 5, "NC1HWC0");
  result_tensor(w, is_atomic(w) ? TENSOR_INOUT : TENSOR_OUT);
  emit_buffer(e, "a1", SPACE_L1, t->a_bytes * 2);
  emit_buffer(e, "b1", SPACE_L1, t->b_bytes * 2);
  emit_buffer(e, "a0", SPACE_L0A, t->bm * t->bk * es * 2);
  emit_buffer(e, "b0", SPACE_L0B, t->bn * t->bk * es * 2);
  emit_buffer(e, "c0", SPACE_L0C, t->bm * t->bn * sizeof(float) * t->c_slots);
  emit_stream(e, emit_cube_core(e->soc));
  emit_kernel_start(e, KERNEL_CUBE, t->cores);
  if (is_atomic(w)) {
    emit_row(e, "set_atomic_add");
    emit_row(e, "set_atomic_f32");
  }
}

/* ---- turns ---- */

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct writer *w, bool set) {
  struct emit *e = w->e;
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "begin" : "end";
  emit_loop(e, emit_text(e, "half_%s", at), "2");
  flag(e, PIPE_MTE1, PIPE_MTE2, "half_%s", at);
  flag(e, PIPE_M, PIPE_MTE1, "half_%s", at);
  emit_endloop(e);
  emit_loop(e, emit_text(e, "block_%s", at), "%llu", (ull)w->t.c_slots);
  flag(e, PIPE_FIX, PIPE_M, "block_%s", at);
  emit_endloop(e);
}

/* Turn number `turn` of the core: its block, its part of the sums, its rows of dy and of x. Opens
 * a loop that leaves out what is beyond the last turn of all. */
static void begin_turn(const struct writer *w, const char *turn) {
  struct emit *e = w->e;
  const struct filter *op = w->op;
  const struct conv *conv = &op->conv;
  const struct filter_tiling *t = &w->t;
  ull blocks = conv->groups * t->mt * t->nt, window = conv->window;
  emit_let(e, "i", "(%s)/%llu", turn, (ull)t->turns);
  emit_let(e, "u", "(%s)%%%llu", turn, (ull)t->turns);
  emit_let(e, "part", "(i*%llu+blk)/%llu", (ull)t->cores, blocks);
  emit_let(e, "r", "(i*%llu+blk)%%%llu", (ull)t->cores, blocks);
  emit_let(e, "group", "r/%llu", (ull)(t->mt * t->nt));
  emit_let(e, "m", "r%%%llu/%llu*%llu", (ull)(t->mt * t->nt), (ull)t->nt, (ull)t->bm);
  emit_let(e, "n", "r%%%llu*%llu", (ull)t->nt, (ull)t->bn);
  emit_let(e, "cm", "min(%llu,%llu-m)", (ull)t->bm, (ull)op->m);
  emit_let(e, "cn", "min(%llu,%llu-n)", (ull)t->bn, (ull)op->n);
  emit_let(e, "count", "min(%llu,%llu-part*%llu)", (ull)t->turns, (ull)t->turns_all, (ull)t->turns);
  emit_loop(e, "there", "u<count");
  emit_let(e, "z", "(part*%llu+u)/%llu", (ull)t->turns, (ull)t->chunks);
  emit_let(e, "oy", "(part*%llu+u)%%%llu*%llu", (ull)t->turns, (ull)t->chunks, (ull)t->rows);
  emit_let(e, "rows", "min(%llu,%llu-oy)", (ull)t->rows, (ull)conv->ho);
  emit_let(e, "points", "rows*%llu", (ull)conv->wo);
  emit_let(e, "low", "(oy+rows-1)*%llu+%llu-%llu", (ull)conv->sh, (ull)((conv->kh - 1) * conv->dh),
           (ull)conv->top);
  emit_let(e, "up", "min(%llu,max(0,oy*%llu-%llu))", (ull)conv->h - 1, (ull)conv->sh,
           (ull)conv->top);
  emit_let(e, "height", "max(1,min(%llu,low)-up+1)", (ull)conv->h - 1);
  emit_let(e, "first", "n/%llu", window);
  emit_let(e, "groups", "(n+cn-1)/%llu-first+1", window);
}

static void load(const struct writer *w) {
  struct emit *e = w->e;
  const struct filter *op = w->op;
  const struct conv *conv = &op->conv;
  const struct filter_tiling *t = &w->t;
  ull c0 = op->types.c0, points = conv->ho * conv->wo, map = conv->h * conv->w;
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "t%%2");
  emit_row(e,
           "copy_gm_to_cbuf,dst=a1+t%%2*%llu,src=dy+(((z*%llu+group)*%llu+m/%llu)*%llu+oy*%llu)*%d,"
           "n_burst=cm/%llu,len_burst=points,src_gap=%llu-points",
           (ull)t->a_bytes, (ull)conv->groups, (ull)op->k1, c0, points, (ull)conv->wo, BLOCK_BYTES,
           c0, points);
  if (op->m % FRACTAL_ROWS) { /* half a fractal of channels */
    emit_loop(e, "odd", "cm%%%d/%llu", FRACTAL_ROWS, c0);
    emit_row(e, "create_cbuf_matrix,dst=a1+t%%2*%llu+cm/%llu*points*%d,blocks=points",
             (ull)t->a_bytes, c0, BLOCK_BYTES);
    emit_endloop(e);
  }
  emit_row(e,
           "copy_gm_to_cbuf,dst=b1+t%%2*%llu,src=x+(((z*%llu+group)*%llu+first)*%llu+up*%llu)*%d,"
           "n_burst=groups,len_burst=height*%llu,src_gap=%llu-height*%llu",
           (ull)t->b_bytes, (ull)conv->groups, (ull)conv->c1, map, (ull)conv->w, BLOCK_BYTES,
           (ull)conv->w, map, (ull)conv->w);
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "t%%2");
}

/* ---- steps ---- */

static void to_l0(const struct writer *w) {
  struct emit *e = w->e;
  const struct filter *op = w->op;
  const struct conv *conv = &op->conv;
  const struct filter_tiling *t = &w->t;
  ull es = op->types.element_bytes;
  const char *type = dtype_name(stored(op->types.type));
  emit_row(e,
           "img2colv2_cbuf_to_ca,dst=a0+l0*%llu,src=a1+slot*%llu,k_ext=cm16,m_ext=(kk+15)/16*16,"
           "m_start=s*%llu,filter_w=1,filter_h=1,l1_w=points,l1_h=1,channels=cm16,transpose=1,"
           "type=%s",
           (ull)(t->bm * t->bk * es), (ull)t->a_bytes, (ull)t->bk, type);
  emit_row(e,
           "img2colv2_cbuf_to_cb,dst=b0+l0*%llu,src=b1+slot*%llu,k_ext=cn16,m_ext=(kk+15)/16*16,"
           "k_start=n-first*%llu,m_start=s*%llu,stride_w=%llu,stride_h=%llu,filter_w=%llu,"
           "filter_h=%llu,dilation_w=%llu,dilation_h=%llu,pad_left=%llu,pad_right=%llu,"
           "pad_top=max(0,%llu-oy*%llu),pad_bottom=max(0,low-%llu),l1_w=%llu,l1_h=height,"
           "channels=groups*%llu,type=%s",
           (ull)(t->bn * t->bk * es), (ull)t->b_bytes, (ull)conv->window, (ull)t->bk, (ull)conv->sw,
           (ull)conv->sh, (ull)conv->kw, (ull)conv->kh, (ull)conv->dw, (ull)conv->dh,
           (ull)conv->left, (ull)conv->right, (ull)conv->top, (ull)conv->sh, (ull)conv->h - 1,
           (ull)conv->w, (ull)op->types.c0, type);
}

static void mad(const struct writer *w) {
  struct emit *e = w->e;
  const struct filter_tiling *t = &w->t;
  ull es = w->op->types.element_bytes;
  emit_loop(e, "small", "((u+s)>0)*(cm16/16*(cn16/16)<%d)", MAD_OVERLAP_TILES);
  emit_barrier(e, PIPE_M);
  emit_endloop(e);
  emit_row(e,
           "mad,c=c0+i%%%llu*%llu,a=a0+l0*%llu,b=b0+l0*%llu,m=cm16,k=kk,n=cn16,init=(u+s)==0%s,"
           "type=%s",
           (ull)t->c_slots, (ull)(t->bm * t->bn * sizeof(float)), (ull)(t->bm * t->bk * es),
           (ull)(t->bn * t->bk * es), es == sizeof(float) ? ",k_align=1" : "",
           dtype_name(w->op->types.type));
}

/* Columns of blocks as wide as those of x. */
static void store(const struct writer *w) {
  struct emit *e = w->e;
  const struct filter *op = w->op;
  const struct filter_tiling *t = &w->t;
  ull c0 = op->types.c0, row = c0 * sizeof(float), high = op->dw_rows;
  emit_loop(e, "finish", "u+1==count");
  emit_set_flag(e, PIPE_M, PIPE_FIX, "i%%%llu", (ull)t->c_slots);
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "i%%%llu", (ull)t->c_slots);
  emit_row(e,
           "copy_matrix_cc_to_gm,dst=dw+((group*%llu+n/"
           "%llu)*%llu+m)*%llu,src=c0+i%%%llu*%llu,n=cn,m=cm16,"
           "dst_stride=%llu,src_stride=cm16%s,type=fp32",
           (ull)op->n / c0, c0, high, row, (ull)t->c_slots, (ull)(t->bm * t->bn * sizeof(float)),
           high * row / BLOCK_BYTES, c0 < FRACTAL_ROWS ? ",channel_split=1" : "");
  emit_set_flag(e, PIPE_FIX, PIPE_M, "i%%%llu", (ull)t->c_slots);
  emit_endloop(e);
}

static void work(const struct writer *w) {
  struct emit *e = w->e;
  const struct filter_tiling *t = &w->t;
  emit_let(e, "slot", "(t-1)%%2");
  emit_let(e, "cm16", "(cm+15)/16*16");
  emit_let(e, "cn16", "(cn+15)/16*16");
  emit_loop(e, "start", "u==0");
  emit_wait_flag(e, PIPE_FIX, PIPE_M, "i%%%llu", (ull)t->c_slots);
  emit_endloop(e);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "slot");
  emit_loop(e, "s", "(points+%llu)/%llu", (ull)t->bk - 1, (ull)t->bk);
  emit_let(e, "kk", "min(%llu,points-s*%llu)", (ull)t->bk, (ull)t->bk);
  emit_let(e, "l0", "(t*%llu+s)%%2", (ull)t->steps);
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  to_l0(w);
  emit_set_flag(e, PIPE_MTE1, PIPE_M, "l0");
  emit_wait_flag(e, PIPE_MTE1, PIPE_M, "l0");
  mad(w);
  emit_set_flag(e, PIPE_M, PIPE_MTE1, "l0");
  emit_endloop(e);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "slot");
  store(w);
}

void filter_emit(const struct lower_job *job, struct emit *e) {
  struct writer w = {.e = e, .op = job->data};
  struct lower_job copy = *job;
  if (!filter_tiling(&copy, &w.t))
    vinci_bug("conv2d_backprop_filter: %s", copy.reason);
  const struct filter_tiling *t = &w.t;
  ull total = w.op->conv.groups * t->mt * t->nt * t->split;
  header(&w);
  free_flags(&w, true);
  emit_comment(e,
               "Blocks blk, blk + %llu, ... of %llu: each %llu turns, all blocks of a part first.",
               (ull)t->cores, total, (ull)t->turns);
  emit_let(e, "turns", "(%llu-blk)/%llu*%llu", total + t->cores - 1, (ull)t->cores, (ull)t->turns);
  emit_loop(e, "t", "turns+1");
  emit_loop(e, "ahead", "t<turns");
  begin_turn(&w, "t");
  load(&w);
  emit_endloop(e);
  emit_endloop(e);
  emit_loop(e, "behind", "t>0");
  begin_turn(&w, "t-1");
  work(&w);
  emit_endloop(e);
  emit_endloop(e);
  emit_endloop(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(&w, false);
  if (is_atomic(&w))
    emit_row(e, "set_atomic_none");
}
