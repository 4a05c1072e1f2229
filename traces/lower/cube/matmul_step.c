/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a matmul from L1 on: loads to L0, mads, and the way out of L0C. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/matmul_writer.h"

const char *matmul_rounded(struct emit *e, const char *count, ull unit) {
  return emit_text(e, "((%s+%llu)/%llu*%llu)", count, unit - 1, unit, unit);
}

/* ---- L1 to L0 ---- */

/*
 * Transposed squares into L0A. Of 8 bits: 32 x 32, two fractals below each other. Of 32 bits:
 * 16 x 16, two fractals beside each other. At an edge the second may be one too many; it lands on
 * the place of a fractal of another square, which therefore comes later, behind a barrier.
 */
static void to_l0a_transposed(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  bool bytes = mm->element_bytes == 1, nz = e->soc->arch == ARCH_C310;
  ull half = w->t.bm * w->t.bk * mm->element_bytes;
  emit_let(e, "kf", "(kk+%llu)/%llu", (ull)mm->c0 - 1, (ull)mm->c0); /* fractals along k */
  emit_let(e, "mf", "(cm+15)/16");
  emit_let(e, "ksq", bytes ? "kf" : "(kk+15)/16");
  emit_let(e, "msq", bytes ? "(cm+31)/32" : "mf");
  emit_loop(e, "back", "ksq");
  emit_let(e, "j", nz ? "back" : "ksq-1-back");
  /* ZZ: the next row of fractals, of 32 bits; NZ: the next column, of 8 bits. */
  if (bytes == nz) {
    emit_loop(e, "over", "(%s%%2)*(back>0)", nz ? "mf" : "kf");
    emit_barrier(e, PIPE_MTE1);
    emit_endloop(e);
  }
  const char *column = nz ? "mf" : "1"; /* from a fractal to the next along k */
  const char *row = nz ? "1" : "kf";    /* and along m */
  emit_row(e,
           "load_cbuf_to_ca_transpose,dst=a0+l0*%llu+j*%s*%d,src=a1+%s*%llu,base=%s,repeat=msq,"
           "src_stride=%s,dst_gap=%s%s-1,frac_gap=%s-1,type=%s",
           half, column, bytes ? FRACTAL_BYTES : 2 * FRACTAL_BYTES, slot, (ull)w->t.a_panel_bytes,
           bytes ? emit_text(e, "%s/32+j", at) : emit_text(e, "(%s/16+j)*msq", at),
           bytes ? "(da+31)/32" : "1", row, bytes ? "*2" : "", bytes ? row : column,
           dtype_name(matmul_stored(mm->type)));
  emit_endloop(e);
}

/* Windows of a map whose rows from `top` on lie in L1. */
static void windows_to_l0a(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct conv *conv = mm->conv;
  ull sh = conv->sh;
  emit_row(e,
           "img2colv2_cbuf_to_ca,dst=a0+l0*%llu,src=a1+%s*%llu,k_ext=%s,m_ext=%s,k_start=%s,"
           "m_start=m-oy*%llu,stride_w=%llu,stride_h=%llu,filter_w=%llu,filter_h=%llu,"
           "dilation_w=%llu,dilation_h=%llu,pad_left=%llu,pad_right=%llu,"
           "pad_top=max(0,%llu-oy*%llu),pad_bottom=max(0,low-%llu),l1_w=%llu,l1_h=height,"
           "channels=(da+%llu)/%llu*%llu,type=%s",
           (ull)(w->t.bm * w->t.bk * mm->element_bytes), slot, (ull)w->t.a_panel_bytes,
           matmul_rounded(e, "kk", mm->c0), matmul_rounded(e, "cm", FRACTAL_ROWS), at,
           (ull)conv->wo, (ull)conv->sw, sh, (ull)conv->kw, (ull)conv->kh, (ull)conv->dw,
           (ull)conv->dh, (ull)conv->left, (ull)conv->right, (ull)conv->top, sh, (ull)conv->h - 1,
           (ull)conv->w, (ull)conv->window - 1, (ull)conv->window, (ull)conv->block,
           dtype_name(matmul_stored(mm->type)));
}

/* Step of a at `at` in its panel, which is da deep. */
static void to_l0a(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull es = mm->element_bytes, half = w->t.bm * w->t.bk * es;
  const char *type = dtype_name(matmul_stored(mm->type));
  const char *cm = matmul_rounded(e, "cm", FRACTAL_ROWS);
  if (mm->conv)
    windows_to_l0a(w, slot, at);
  else if (mm->coupled)
    matmul_coupled_to_l0a(w, slot, at);
  else if (!mm->trans_a)
    emit_row(e,
             "img2colv2_cbuf_to_ca,dst=a0+l0*%llu,src=a1+%s*%llu,k_ext=%s,m_ext=%s,k_start=%s,"
             "filter_w=1,filter_h=1,l1_w=%s,l1_h=1,channels=%s,type=%s",
             half, slot, (ull)w->t.a_panel_bytes, matmul_rounded(e, "kk", mm->c0), cm, at,
             mm->nz_a ? cm : "cm", matmul_rounded(e, "da", mm->c0), type);
  else if (es == 2)
    emit_row(e,
             "img2colv2_cbuf_to_ca,dst=a0+l0*%llu,src=a1+%s*%llu,k_ext=%s,m_ext=%s,m_start=%s,"
             "filter_w=1,filter_h=1,l1_w=%s,l1_h=1,channels=%s,transpose=1,type=%s",
             half, slot, (ull)w->t.a_panel_bytes, cm, matmul_rounded(e, "kk", FRACTAL_ROWS), at,
             mm->nz_a ? matmul_rounded(e, "da", FRACTAL_ROWS) : "da", cm, type);
  else
    to_l0a_transposed(w, slot, at);
}

static void to_l0b(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull half = matmul_b_step_bytes(mm, &w->t), c0 = mm->c0;
  if (mm->conv && mm->conv->gradient)
    conv_turned_to_l0b(w, slot, at);
  else if (mm->trans_b)
    emit_row(e,
             "load_cbuf_to_cb,dst=b0+l0*%llu,src=b1+%s*%llu,base=%s/%llu*((cn+15)/16),"
             "repeat=(kk+%llu)/%llu*((cn+15)/16)",
             half, slot, (ull)w->t.b_panel_bytes, at, c0, c0 - 1, c0);
  else if (mm->coupled)
    matmul_coupled_to_l0b(w, slot, at);
  else
    emit_row(e,
             "img2colv2_cbuf_to_cb,dst=b0+l0*%llu,src=b1+%s*%llu,k_ext=%s,m_ext=%s,m_start=%s,"
             "filter_w=1,filter_h=1,l1_w=%s,l1_h=1,channels=%s,type=%s",
             half, slot, (ull)w->t.b_panel_bytes,
             matmul_rounded(e, "cn", max_u64(c0, FRACTAL_ROWS)),
             matmul_rounded(e, "kk", max_u64(c0, FRACTAL_ROWS)), at,
             mm->nz_b ? matmul_rounded(e, "db", FRACTAL_ROWS) : "db", matmul_rounded(e, "cn", c0),
             dtype_name(matmul_stored(mm->type)));
}

/* ---- cube ---- */

static uint64_t least_fractals(uint64_t extent, uint64_t side) {
  uint64_t tail = extent % side;
  return ceil_div(tail ? tail : side, FRACTAL_ROWS);
}

/* Ascend C documentation, Mmad: small ones on the same accumulators need a barrier between them. */
static void mad_barrier(const struct writer *w) {
  struct emit *e = w->e;
  if (w->t.k <= w->t.bk ||
      least_fractals(w->mm->m, w->t.rows) * least_fractals(w->mm->n, w->t.bn) >= MAD_OVERLAP_TILES)
    return;
  emit_loop(e, "small", "((ku+s)>0)*((cm+15)/16*((cn+15)/16)<%d)", MAD_OVERLAP_TILES);
  emit_barrier(e, PIPE_M);
  emit_endloop(e);
}

static void mad(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  ull es = w->mm->element_bytes;
  /* NZ results are whole fractals, with zeros (rows: the bias) where they pad. With m = 1 the cube
   * would take A for a plain row. */
  const char *m = t->rows == 1 || w->mm->m % t->rows == 1 ? "max(2,cm)" : "cm";
  if (w->mm->nz_c && !w->mm->conv)
    m = matmul_rounded(e, "cm", FRACTAL_ROWS);
  /* load3d brings whole blocks of columns, as weights in FRACTAL_Z have; coupled cores store what
   * pads the last block. */
  const char *n = w->mm->nz_c                  ? matmul_rounded(e, "cn", FRACTAL_ROWS)
                  : es == 1 && !w->mm->trans_b ? matmul_rounded(e, "cn", w->mm->c0)
                                               : "cn";
  const char *operands =
      emit_text(e, "c=c0+i%%%llu*%llu,a=a0+l0*%llu,b=b0+l0*%llu,m=%s,k=kk,n=%s", (ull)t->c_slots,
                (ull)(t->bm * t->bn * ACCUMULATOR_BYTES), (ull)(t->bm * t->bk * es),
                (ull)matmul_b_step_bytes(w->mm, t), m, n);
  const char *type = dtype_name(w->mm->type);
  if (!w->mm->bias) {
    emit_row(e, "mad,%s,init=(ku+s)==0,type=%s", operands, type);
    return;
  }
  bool parts = t->split > 1; /* the first begins with the bias, the others with 0 */
  emit_loop(e, "from_bias", parts ? "((ku+s)==0)*(part==0)" : "(ku+s)==0");
  emit_row(e, "mad,%s,init=0,source=bt,bias=bias0,type=%s", operands, type);
  emit_set_flag(e, PIPE_M, PIPE_MTE1, "%d", FLAG_BT);
  emit_endloop(e);
  emit_loop(e, "from_l0c", parts ? "(ku+s+part)>0" : "(ku+s)>0");
  emit_row(e, "mad,%s,init=%s,type=%s", operands, parts ? "(ku+s)==0" : "0", type);
  if (parts) {
    emit_loop(e, "unused", "(ku+s)==0");
    emit_set_flag(e, PIPE_M, PIPE_MTE1, "%d", FLAG_BT);
    emit_endloop(e);
  }
  emit_endloop(e);
}

void matmul_steps(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  const char *outer_at = emit_text(e, "(u*%llu+s*%llu)", (ull)t->inner_k, (ull)t->bk);
  const char *inner_at = emit_text(e, "s*%llu", (ull)t->bk);
  const char *outer_slot = emit_text(e, "o%%%llu", (ull)t->outer_slots), *inner_slot = "turn%2";
  emit_loop(e, "s", "(du+%llu)/%llu", (ull)t->bk - 1, (ull)t->bk);
  emit_let(e, "kk", "min(%llu,du-s*%llu)", (ull)t->bk, (ull)t->bk);
  emit_let(e, "l0", "(turn*%llu+s)%%2", (ull)ceil_div(t->inner_k, t->bk));
  emit_wait_flag(e, PIPE_M, PIPE_MTE1, "l0");
  to_l0a(w, t->a_outer ? outer_slot : inner_slot, t->a_outer ? outer_at : inner_at);
  to_l0b(w, t->a_outer ? inner_slot : outer_slot, t->a_outer ? inner_at : outer_at);
  emit_set_flag(e, PIPE_MTE1, PIPE_M, "l0");
  emit_wait_flag(e, PIPE_MTE1, PIPE_M, "l0");
  mad_barrier(w);
  mad(w);
  emit_set_flag(e, PIPE_M, PIPE_MTE1, "l0");
  emit_endloop(e);
}

static const char *quantisation(const struct writer *w) {
  const struct matmul *mm = w->mm;
  if (w->t.split > 1)
    return "";
  if (mm->scale != SCALE_NONE)
    return emit_text(w->e, ",quant=%s%s", mm->scale == SCALE_COLUMNS ? "v" : "",
                     mm->out_type == DTYPE_INT8 ? "req8" : "deqf16");
  return mm->out_type == DTYPE_FP16   ? ",quant=f322f16"
         : mm->out_type == DTYPE_BF16 ? ",quant=f322bf16"
                                      : "";
}

/* Of NZ results whole blocks are stored; of matmul's own scales there are no more than columns. */
const char *matmul_stored_columns(const struct writer *w, const char *suffix) {
  const char *count = emit_text(w->e, "cn%s", suffix);
  const struct matmul *mm = w->mm;
  return mm->nz_c && (mm->conv || mm->scale != SCALE_COLUMNS)
             ? matmul_rounded(w->e, count, matmul_out_c0(w->mm))
             : count;
}

/* FB begins with the scales: set_fpc counts from there. */
void matmul_scale(const struct writer *w) {
  if (w->mm->scale == SCALE_TENSOR)
    emit_row(w->e, "set_quant_pre,value=%llu", (ull)w->mm->scale_word);
  else if (w->mm->scale == SCALE_COLUMNS)
    emit_row(w->e, "set_fpc,value=0");
}

/* Words of the block's columns to where the fixpipe looks for them. */
static void scales_to_fb(const struct writer *w) {
  struct emit *e = w->e;
  emit_wait_flag(e, PIPE_MTE2, PIPE_FIX, "i%%2");
  emit_barrier(e, PIPE_FIX);
  emit_row(e, "copy_cbuf_to_fbuf,dst=scales0,src=scales1+i%%2*%llu,len_burst=(%s*%d+%d)/%d",
           (ull)w->t.bn * MATMUL_SCALE_BYTES, matmul_stored_columns(w, ""), MATMUL_SCALE_BYTES,
           BLOCK_BYTES - 1, BLOCK_BYTES);
  emit_set_flag(e, PIPE_FIX, PIPE_MTE2, "i%%2");
  emit_barrier(e, PIPE_FIX);
}

static void store_by_fixpipe(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull ob = mm->out_bytes, block = w->t.bm * w->t.bn * ACCUMULATOR_BYTES;
  const char *slot = emit_text(e, "i%%%llu", (ull)w->t.c_slots);
  emit_set_flag(e, PIPE_M, PIPE_FIX, "%s", slot);
  emit_wait_flag(e, PIPE_M, PIPE_FIX, "%s", slot);
  if (mm->scale == SCALE_COLUMNS)
    scales_to_fb(w);
  /* NZ has whole blocks of columns; what is beyond n comes from the padding of the weights. */
  ull c0 = matmul_out_c0(mm), row = c0 * ob,
      rows = mm->conv ? mm->m : round_up(mm->m, FRACTAL_ROWS);
  const char *common = emit_text(
      e, "src=c0+%s*%llu,n=%s,m=%s,src_stride=%s%s,type=%s", slot, block,
      matmul_stored_columns(w, ""),
      mm->nz_c && !mm->conv ? matmul_rounded(e, "cm", FRACTAL_ROWS) : "cm",
      matmul_rounded(e, "cm", FRACTAL_ROWS), quantisation(w), dtype_name(matmul_accumulator(mm)));
  if (w->t.split > 1)
    emit_row(e,
             "copy_matrix_cc_to_gm,dst=parts+((part*%llu+z)*%llu+m*%llu+n)*%d,%s,dst_stride=%llu,"
             "nz2nd=1",
             (ull)mm->batch, (ull)(mm->m * mm->n), (ull)mm->n, ACCUMULATOR_BYTES, common,
             (ull)mm->n);
  else if (mm->nz_c)
    emit_row(e, "copy_matrix_cc_to_gm,dst=%s+z*%llu+(n/%llu*%llu+m)*%d,%s,dst_stride=%llu%s",
             mm->c_name, rows * round_up(mm->n, c0) * ob, c0, rows, (int)row, common,
             rows * row / BLOCK_BYTES,
             ob == 4 && mm->out_type == DTYPE_FP32 ? ",channel_split=1" : "");
  else
    emit_row(e, "copy_matrix_cc_to_gm,dst=%s+z*%llu+(m*%llu+n)*%llu,%s,dst_stride=%llu,nz2nd=1",
             mm->c_name, (ull)(mm->m * mm->n) * ob, (ull)mm->n, ob, common, (ull)mm->n);
  emit_set_flag(e, PIPE_FIX, PIPE_M, "%s", slot);
}

void matmul_store(const struct writer *w) {
  emit_comment(w->e, "After the last turn the block leaves.");
  emit_loop(w->e, "finish", "(ku+du)==%s", matmul_depth(w, ""));
  (w->mm->coupled ? matmul_coupled_store : store_by_fixpipe)(w);
  emit_endloop(w->e);
}
