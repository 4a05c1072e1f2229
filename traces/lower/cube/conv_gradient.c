/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the writer of matmul traces: the loads of a gradient with respect to the map. It is the
 * convolution of the result's gradient, its points spread by the stride with zeros between them,
 * with the weights turned by half a turn, k and c changed; the way of the vendor's library.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/matmul_writer.h"

/* Points that are apart: zeros, and lines between them, each group of channels on its own. */
static void spread_lines(const struct writer *w, const char *dst, const char *src,
                         const char *groups, const char *rows, const char *suffix) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  ull high = conv->spread_h, wide = conv->spread_w, given = conv->given_w;
  ull points = conv->given_h * conv->given_w, line_bytes = conv->w * BLOCK_BYTES;
  emit_row(e, "create_cbuf_matrix,dst=%s,blocks=%llu", dst,
           (ull)(w->t.a_panel_bytes / BLOCK_BYTES));
  emit_barrier(e, PIPE_MTE2);
  emit_loop(e, emit_text(e, "group%s", suffix), "%s", groups);
  const char *to = emit_text(e, "%s+(group%s*height%s+line0%s*%llu-up%s)*%llu", dst, suffix, suffix,
                             suffix, high, suffix, line_bytes);
  const char *from = emit_text(e, "%s+group%s*%llu", src, suffix, points * BLOCK_BYTES);
  if (wide == 1) {
    emit_loop(e, emit_text(e, "any%s", suffix), "%s>0", rows);
    emit_row(e, "copy_gm_to_cbuf,dst=%s,src=%s,n_burst=%s,len_burst=%llu,dst_gap=%llu", to, from,
             rows, given, conv->w * (high - 1));
  } else {
    emit_loop(e, emit_text(e, "line%s", suffix), "%s", rows);
    emit_row(e,
             "copy_gm_to_cbuf,dst=%s+line%s*%llu,src=%s+line%s*%llu,n_burst=%llu,len_burst=1,"
             "dst_gap=%llu",
             to, suffix, high * line_bytes, from, suffix, given * BLOCK_BYTES, given, wide - 1);
  }
  emit_endloop(e);
  emit_endloop(e);
}

/*
 * Rows of the spread map from `up` on, `height` of them: of those only every spread_h-th is in GM,
 * and of its points every spread_w-th.
 */
void conv_load_spread(const struct writer *w, const char *dst, const char *k, const char *depth,
                      const char *suffix) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  ull high = conv->spread_h, window = conv->window, points = conv->given_h * conv->given_w;
  const char *line = emit_text(e, "line0%s", suffix), *rows = emit_text(e, "given%s", suffix);
  const char *src = emit_text(e, "%s+z%s*%llu+(%s/%llu*%llu+line0%s*%llu)*%d", w->mm->a_name,
                              suffix, (ull)conv->c1 * points * BLOCK_BYTES, k, window, points,
                              suffix, (ull)conv->given_w, BLOCK_BYTES);
  const char *groups = emit_text(e, "(%s+%llu)/%llu", depth, window - 1, window);
  emit_loop(e, emit_text(e, "spread%s", suffix), "1");
  emit_let(e, line, "(up%s+%llu)/%llu", suffix, high - 1, high);
  emit_let(e, rows, "(up%s+height%s-1)/%llu-%s+1", suffix, suffix, high, line);
  if (high == 1 && conv->spread_w == 1)
    emit_row(e, "copy_gm_to_cbuf,dst=%s,src=%s,n_burst=%s,len_burst=%s*%llu,src_gap=%llu-%s*%llu",
             dst, src, groups, rows, (ull)conv->w, points, rows, (ull)conv->w);
  else
    spread_lines(w, dst, src, groups, rows, suffix);
  emit_endloop(e);
}

/* Rows of k (whole fractals) that a panel `depth` deep has. */
static const char *panel_rows(const struct writer *w, const char *depth) {
  ull window = w->mm->conv->window;
  return matmul_rounded(
      w->e, emit_text(w->e, "(%s+%llu)/%llu*%llu", depth, window - 1, window, (ull)w->mm->c0),
      FRACTAL_ROWS);
}

/* Weights lie as [c1, kh * kw, rows of k, c0]; so do panels, with fewer rows. */
void conv_load_turned(const struct writer *w, const char *dst, const char *k, const char *depth,
                      const char *suffix) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct conv *conv = mm->conv;
  ull c0 = mm->c0, points = conv->kh * conv->kw, all = round_up(conv->c1 * c0, FRACTAL_ROWS);
  const char *rows = panel_rows(w, depth);
  emit_row(e,
           "copy_gm_to_cbuf,dst=%s,src=%s+(%s*%llu+n%s/%llu*%llu+%s/%llu*%llu)*%d,"
           "n_burst=(cn%s+%llu)/%llu*%llu,len_burst=%s,src_gap=%llu-%s",
           dst, mm->b_name, matmul_weights_of(w, suffix), ceil_div(mm->n, c0) * points * all,
           suffix, c0, points * all, k, (ull)conv->window, c0, BLOCK_BYTES, suffix, c0 - 1, c0,
           points, rows, all, rows);
}

/*
 * A step of k is blocks of c0 values of k at a point of the window, points in reverse order; each
 * block comes with one load that transposes. Of 32 bits load3d brings 16 values of k, twice as many
 * as a block has; the next block takes the place of the second half.
 */
void conv_turned_to_l0b(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull c0 = mm->c0, points = mm->conv->kh * mm->conv->kw;
  emit_loop(e, "piece", "(kk+%llu)/%llu", c0 - 1, c0);
  emit_let(e, "block", "%s/%llu+piece", at, c0);
  emit_let(e, "deep", "%s", panel_rows(w, "db"));
  const char *dst = emit_text(e, "b0+l0*%llu+piece*((cn+15)/16)*%d",
                              (ull)matmul_b_step_bytes(mm, &w->t), FRACTAL_BYTES);
  const char *src = emit_text(e, "b1+%s*%llu", slot, (ull)w->t.b_panel_bytes);
  const char *point = emit_text(e, "(%llu-block%%%llu)", points - 1, points);
  if (mm->element_bytes == sizeof(uint16_t)) {
    emit_row(e,
             "load_cbuf_to_cb,dst=%s,src=%s,base=%s*(deep/16)+block/%llu,repeat=(cn+15)/16,"
             "src_stride=deep/16*%llu,transpose=1",
             dst, src, point, points, points);
  } else {
    emit_loop(e, "again", "piece>0");
    emit_barrier(e, PIPE_MTE1);
    emit_endloop(e);
    emit_row(e,
             "img2colv2_cbuf_to_cb,dst=%s,src=%s,k_ext=%s,m_ext=%d,m_start=%s*deep+block/%llu*%llu,"
             "filter_w=1,filter_h=1,l1_w=deep*%llu,l1_h=1,channels=%s,type=%s",
             dst, src, matmul_rounded(e, "cn", FRACTAL_ROWS), FRACTAL_ROWS, point, points, c0,
             points, matmul_rounded(e, "cn", c0), dtype_name(matmul_stored(mm->type)));
  }
  emit_endloop(e);
}
