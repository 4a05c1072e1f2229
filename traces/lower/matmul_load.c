/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a matmul from GM to L1: panels of the operands, which end up in NZ order there. */
#include "core/arith.h"
#include "core/layout.h"
#include "traces/lower/matmul_writer.h"

struct matmul_operand matmul_operand(const struct writer *w, bool is_a) {
  const struct matmul *mm = w->mm;
  return (struct matmul_operand){
      .tensor = is_a ? mm->a_name : mm->b_name,
      .name = is_a ? "a" : "b",
      .start = is_a ? "m" : "n",
      .count = is_a ? "cm" : "cn",
      .rows_are_k = is_a ? mm->trans_a : !mm->trans_b,
      .nz = is_a ? mm->nz_a : mm->nz_b,
      .outer = is_a == w->t.a_outer,
      .is_a = is_a,
      .side = is_a ? mm->m : mm->n,
      .panel_bytes = is_a ? w->t.a_panel_bytes : w->t.b_panel_bytes,
  };
}

/* 32-bit operands that are transposed on the way to L0A lie in L1 by 16 rows. */
static bool by_squares(const struct writer *w, const struct matmul_operand *x) {
  return x->is_a && x->rows_are_k && w->mm->element_bytes == 4;
}

/* Rows of a column of blocks in L1: of B as it is read, whole fractals; of transposed squares of 8
 * bits, whole squares; load3d takes rows as they come. */
static const char *l1_rows(const struct writer *w, const struct matmul_operand *x,
                           const char *count) {
  if (x->is_a && x->rows_are_k && w->mm->element_bytes == 1)
    return matmul_rounded(w->e, count, w->mm->c0);
  if (x->nz || (!x->is_a && !x->rows_are_k))
    return matmul_rounded(w->e, count, FRACTAL_ROWS);
  return count;
}

static const char *nd2nz(const struct matmul *mm) {
  return mm->element_bytes == 1   ? "copy_gm_to_cbuf_multi_nd2nz_b8"
         : mm->element_bytes == 2 ? "copy_gm_to_cbuf_multi_nd2nz_b16"
                                  : "copy_gm_to_cbuf_multi_nd2nz_b32s";
}

/* NZ in GM: whole columns of blocks, rows padded to 16. */
static void load_nz(const struct writer *w, const struct matmul_operand *x, const char *dst,
                    const char *k, const char *depth, const char *suffix) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull rows = round_up(x->rows_are_k ? mm->k : x->side, FRACTAL_ROWS);
  ull columns = round_up(x->rows_are_k ? x->side : mm->k, mm->c0);
  const char *side = emit_text(e, "%s%s", x->count, suffix);
  const char *start = emit_text(e, "%s%s", x->start, suffix);
  const char *height = matmul_rounded(e, x->rows_are_k ? depth : side, FRACTAL_ROWS);
  emit_row(e,
           "copy_gm_to_cbuf,dst=%s,src=%s+z%s*%llu+(%s/%llu*%llu+%s)*%d,n_burst=(%s+%llu)/%llu,"
           "len_burst=%s,src_gap=%llu-%s,dst_gap=%s-%s",
           dst, x->tensor, suffix, mm->conv ? 0 : rows * columns * (ull)mm->element_bytes,
           x->rows_are_k ? start : k, (ull)mm->c0, rows, x->rows_are_k ? k : start, BLOCK_BYTES,
           x->rows_are_k ? side : depth, (ull)mm->c0 - 1, (ull)mm->c0, height, rows, height,
           l1_rows(w, x, x->rows_are_k ? depth : side), height);
}

/* Rows of k by sixteens, each as columns of blocks: full ones together, the rest alone. */
static void load_squares(const struct writer *w, const struct matmul_operand *x, const char *dst,
                         const char *src, const char *depth, const char *suffix) {
  struct emit *e = w->e;
  ull side = x->side;
  const char *count = emit_text(e, "%s%s", x->count, suffix);
  const char *band = emit_text(e, "%s*%d", matmul_rounded(e, count, FRACTAL_ROWS),
                               FRACTAL_ROWS * (int)w->mm->element_bytes);
  bool together = side * FRACTAL_ROWS <= UINT16_MAX;
  if (together)
    emit_row(e,
             "%s,dst=%s,src=%s,nd_num=%s/16,n=16,d=%s,src_nd_stride=%llu,src_d=%llu,"
             "dst_c0_stride=16,dst_nd_stride=%s*16",
             nd2nz(w->mm), dst, src, depth, count, side * FRACTAL_ROWS, side,
             matmul_rounded(e, count, FRACTAL_ROWS));
  emit_loop(e, emit_text(e, "j%s", x->name), together ? "(%s%%16+15)/16" : "(%s+15)/16", depth);
  emit_let(e, "jr", together ? "%s/16" : "j%s", together ? depth : x->name);
  emit_row(e, "%s,dst=%s+jr*%s,src=%s+jr*%llu,n=min(16,%s-jr*16),d=%s,src_d=%llu,dst_c0_stride=16",
           nd2nz(w->mm), dst, band, src, side * FRACTAL_ROWS * (ull)w->mm->element_bytes, depth,
           count, side);
  emit_endloop(e);
}

/* Rows of a feature map, of the channels that belong to k and so many columns of windows. */
static void load_map(const struct writer *w, const char *dst, const char *k, const char *depth,
                     const char *suffix) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  ull window = conv->window, row = conv->w, points = conv->h * conv->w;
  emit_row(
      e,
      "copy_gm_to_cbuf,dst=%s,src=%s+z%s*%llu+(%s/%llu*%llu+up%s*%llu)*%d,n_burst=(%s+%llu)/%llu,"
      "len_burst=height%s*%llu,src_gap=%llu-height%s*%llu",
      dst, w->mm->a_name, suffix, (ull)conv->c1 * points * BLOCK_BYTES, k, window, points, suffix,
      row, BLOCK_BYTES, depth, window - 1, window, suffix, row, points, suffix, row);
}

void matmul_load_panel(const struct writer *w, const struct matmul_operand *x, const char *slot,
                       const char *k, const char *depth, const char *suffix) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const char *dst = emit_text(e, "%s1+%s*%llu", x->name, slot, (ull)x->panel_bytes);
  if (x->is_a && mm->conv) {
    load_map(w, dst, k, depth, suffix);
    return;
  }
  if (x->nz) {
    load_nz(w, x, dst, k, depth, suffix);
    return;
  }
  ull es = mm->element_bytes, side = x->side, row = x->rows_are_k ? side : mm->k;
  const char *first = emit_text(e, "%s%s", x->start, suffix);
  const char *count = emit_text(e, "%s%s", x->count, suffix);
  const char *src =
      emit_text(e, "%s+z%s*%llu+(%s*%llu+%s)*%llu", x->tensor, suffix, side * (ull)mm->k * es,
                x->rows_are_k ? k : first, row, x->rows_are_k ? first : k, es);
  if (by_squares(w, x)) {
    load_squares(w, x, dst, src, depth, suffix);
    return;
  }
  const char *rows = x->rows_are_k ? depth : count, *columns = x->rows_are_k ? count : depth;
  emit_row(e, "%s,dst=%s,src=%s,n=%s,d=%s,src_d=%llu,dst_c0_stride=%s", nd2nz(mm), dst, src, rows,
           columns, row, l1_rows(w, x, rows));
}
