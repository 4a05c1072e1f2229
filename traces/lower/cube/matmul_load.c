/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a matmul from GM to L1: panels of the operands, which end up in NZ order there. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/matmul_writer.h"

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
      .shared = !mm->conv && mm->batch > 1 && (is_a ? mm->a_batches : mm->b_batches) == 1,
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
  if (x->nz || w->mm->coupled || (!x->is_a && !x->rows_are_k))
    return matmul_rounded(w->e, count, FRACTAL_ROWS);
  return count;
}

/* ---- rows too long for one copy ---- */

enum { GAP_MAX = 65535, BURSTS_MAX = 4095 };

static bool rows_are_k(const struct matmul *mm, bool is_a) {
  return is_a ? mm->trans_a : !mm->trans_b;
}

uint64_t matmul_copies(const struct matmul *mm, const struct matmul_tiling *t, bool is_a,
                       enum matmul_way way) {
  uint64_t depth = min_u64(is_a ? t->ka : t->kb, mm->k);
  uint64_t count = min_u64(is_a ? t->bm : t->bn, is_a ? mm->m : mm->n);
  if (way == COPY_AT_ONCE)
    return 1;
  if (way == COPY_BY_ROW)
    return rows_are_k(mm, is_a) ? depth : count;
  return ceil_div(rows_are_k(mm, is_a) ? count : depth, mm->c0);
}

uint64_t matmul_run_bytes(const struct matmul *mm, const struct matmul_tiling *t, bool is_a) {
  bool by_k = rows_are_k(mm, is_a);
  uint64_t side = is_a ? mm->m : mm->n, row = by_k ? side : mm->k;
  uint64_t part = by_k ? (is_a ? t->bm : t->bn) : is_a ? t->ka : t->kb;
  if ((is_a ? mm->nz_a : mm->nz_b) || (is_a && mm->conv) || part >= row)
    return 0;
  return part * mm->element_bytes;
}

enum matmul_way matmul_way(const struct vinci_soc *soc, const struct matmul *mm,
                           const struct matmul_tiling *t, bool is_a) {
  if (is_a && mm->conv)
    return COPY_AT_ONCE;
  uint64_t side = is_a ? mm->m : mm->n;
  bool nz = is_a ? mm->nz_a : mm->nz_b, by_k = rows_are_k(mm, is_a);
  bool squares = is_a && by_k && mm->element_bytes == 4;
  /* The distance of columns of blocks has 16 bits, like that of rows. */
  if (nz)
    return squares || round_up(by_k ? mm->k : side, FRACTAL_ROWS) > GAP_MAX ? COPY_BY_COLUMN
                                                                            : COPY_AT_ONCE;
  if (mm->coupled)
    return COPY_BY_COLUMN;
  uint64_t row = by_k ? side : mm->k, row_bytes = row * mm->element_bytes;
  uint64_t rows = matmul_copies(mm, t, is_a, COPY_BY_ROW);
  if (row <= UINT16_MAX || (rows == 1 && !squares))
    return COPY_AT_ONCE;
  if (squares || row_bytes % BLOCK_BYTES || row_bytes / BLOCK_BYTES > GAP_MAX || rows > BURSTS_MAX)
    return COPY_BY_ROW;
  uint64_t by_row = rows * (uint64_t)soc->nd2nz_startup_mcycles;
  uint64_t columns = matmul_copies(mm, t, is_a, COPY_BY_COLUMN);
  return by_row <= columns * (uint64_t)soc->path[PATH_GM_L1].startup_mcycles ? COPY_BY_ROW
                                                                             : COPY_BY_COLUMN;
}

static const char *nd2nz(const struct matmul *mm) {
  return mm->element_bytes == 1   ? "copy_gm_to_cbuf_multi_nd2nz_b8"
         : mm->element_bytes == 2 ? "copy_gm_to_cbuf_multi_nd2nz_b16"
                                  : "copy_gm_to_cbuf_multi_nd2nz_b32s";
}

/* Rows of 16 rows of k can be told in 16 bits. */
static bool squares_at_once(uint64_t side) { return side * FRACTAL_ROWS <= UINT16_MAX; }

bool matmul_many_copies(const struct writer *w, bool is_a) {
  const struct matmul *mm = w->mm;
  struct matmul_operand x = matmul_operand(w, is_a);
  if (mm->conv)
    return false;
  return matmul_way(w->e->soc, mm, &w->t, is_a) != COPY_AT_ONCE ||
         (by_squares(w, &x) && !squares_at_once(x.side));
}

/* The index of an operand's matrix. */
static const char *batch_of(const struct writer *w, const struct matmul_operand *x,
                            const char *suffix) {
  if (w->mm->conv)
    return matmul_weights_of(w, suffix);
  return x->shared ? "0" : emit_text(w->e, "z%s", suffix);
}

/* NZ in GM, 16 rows of k after the other in L1: each column of blocks in pieces. */
static void load_nz_squares(const struct writer *w, const struct matmul_operand *x, const char *dst,
                            const char *k, const char *depth, const char *suffix) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull rows = round_up(mm->k, FRACTAL_ROWS), c0 = mm->c0;
  const char *count = emit_text(e, "%s%s", x->count, suffix);
  const char *column = emit_text(e, "column%s", x->name);
  emit_loop(e, column, "(%s+%llu)/%llu", count, c0 - 1, c0);
  emit_row(e,
           "copy_gm_to_cbuf,dst=%s+%s*%d,src=%s+%s*%llu+((%s%s/%llu+%s)*%llu+%s)*%d,"
           "n_burst=(%s+15)/16,len_burst=16,dst_gap=(%s/%llu-1)*16",
           dst, column, FRACTAL_BYTES, x->tensor, batch_of(w, x, suffix),
           rows * round_up(x->side, c0) * (ull)mm->element_bytes, x->start, suffix, c0, column,
           rows, k, BLOCK_BYTES, depth, matmul_rounded(e, count, FRACTAL_ROWS), c0);
  emit_endloop(e);
}

const char *matmul_weights_of(const struct writer *w, const char *suffix) {
  const struct conv *conv = w->mm->conv;
  return conv->groups == 1 ? "0" : emit_text(w->e, "(z%s%%%llu)", suffix, (ull)conv->groups);
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
  const char *width =
      emit_text(e, "(%s+%llu)/%llu", x->rows_are_k ? side : depth, (ull)mm->c0 - 1, (ull)mm->c0);
  const char *pitch = l1_rows(w, x, x->rows_are_k ? depth : side);
  const char *src =
      emit_text(e, "%s+%s*%llu+(%s/%llu*%llu+%s)*%d", x->tensor, batch_of(w, x, suffix),
                rows * columns * (ull)mm->element_bytes, x->rows_are_k ? start : k, (ull)mm->c0,
                rows, x->rows_are_k ? k : start, BLOCK_BYTES);
  if (matmul_way(e->soc, mm, &w->t, x->is_a) == COPY_AT_ONCE) {
    emit_row(e,
             "copy_gm_to_cbuf,dst=%s,src=%s,n_burst=%s,len_burst=%s,src_gap=%llu-%s,dst_gap=%s-%s",
             dst, src, width, height, rows, height, pitch, height);
    return;
  }
  const char *column = emit_text(e, "column%s", x->name);
  emit_loop(e, column, "%s", width);
  emit_row(e, "copy_gm_to_cbuf,dst=%s+%s*%s*%d,src=%s+%s*%llu,len_burst=%s", dst, column, pitch,
           BLOCK_BYTES, src, column, rows * BLOCK_BYTES, height);
  emit_endloop(e);
}

/* Rows of k by sixteens, each as columns of blocks: full ones together, the rest alone. */
static void load_squares(const struct writer *w, const struct matmul_operand *x, const char *dst,
                         const char *src, const char *depth, const char *suffix) {
  struct emit *e = w->e;
  ull side = x->side;
  const char *count = emit_text(e, "%s%s", x->count, suffix);
  const char *band = emit_text(e, "%s*%d", matmul_rounded(e, count, FRACTAL_ROWS),
                               FRACTAL_ROWS * (int)w->mm->element_bytes);
  bool together = squares_at_once(side);
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

/* The same, row by row. */
static void load_squares_by_row(const struct writer *w, const struct matmul_operand *x,
                                const char *dst, const char *src, const char *depth,
                                const char *suffix) {
  struct emit *e = w->e;
  const char *count = emit_text(e, "%s%s", x->count, suffix);
  const char *row = emit_text(e, "row%s", x->name);
  emit_loop(e, row, "%s", depth);
  emit_row(e, "%s,dst=%s+(%s/16*%s+%s%%16)*%d,src=%s+%s*%llu,n=1,d=%s,src_d=%d,dst_c0_stride=16",
           nd2nz(w->mm), dst, row,
           emit_text(e, "%s*%llu", matmul_rounded(e, count, FRACTAL_ROWS),
                     (ull)(FRACTAL_ROWS / w->mm->c0)),
           row, BLOCK_BYTES, src, row, x->side * (ull)w->mm->element_bytes, count, UINT16_MAX);
  emit_endloop(e);
}

/* ND rows at a distance that no copy can tell: one copy each, or one for each column of blocks. */
static void load_wide(const struct writer *w, const struct matmul_operand *x, const char *dst,
                      const char *src, const char *rows, const char *columns) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull row_bytes = (x->rows_are_k ? x->side : mm->k) * mm->element_bytes;
  const char *pitch = l1_rows(w, x, rows);
  if (matmul_way(e->soc, mm, &w->t, x->is_a) == COPY_BY_ROW) {
    const char *row = emit_text(e, "row%s", x->name);
    emit_loop(e, row, "%s", rows);
    emit_row(e, "%s,dst=%s+%s*%d,src=%s+%s*%llu,n=1,d=%s,src_d=%d,dst_c0_stride=%s", nd2nz(mm), dst,
             row, BLOCK_BYTES, src, row, row_bytes, columns, UINT16_MAX, pitch);
    emit_endloop(e);
    return;
  }
  const char *column = emit_text(e, "column%s", x->name);
  emit_loop(e, column, "(%s+%llu)/%llu", columns, (ull)mm->c0 - 1, (ull)mm->c0);
  emit_row(e, "copy_gm_to_cbuf,dst=%s+%s*%s*%d,src=%s+%s*%d,n_burst=%s,len_burst=1,src_gap=%llu",
           dst, column, pitch, BLOCK_BYTES, src, column, BLOCK_BYTES, rows,
           row_bytes / BLOCK_BYTES - 1);
  emit_endloop(e);
}

/* Rows of a feature map, of the channels that belong to k and so many columns of windows. */
static void load_map(const struct writer *w, const char *dst, const char *k, const char *depth,
                     const char *suffix) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  ull window = conv->window, row = conv->w * conv->point_bytes / BLOCK_BYTES;
  ull map = conv->h * row;
  emit_row(
      e,
      "copy_gm_to_cbuf,dst=%s,src=%s+z%s*%llu+(%s/%llu*%llu+up%s*%llu)*%d,n_burst=(%s+%llu)/%llu,"
      "len_burst=height%s*%llu,src_gap=%llu-height%s*%llu",
      dst, w->mm->a_name, suffix, (ull)conv->c1 * map * BLOCK_BYTES, k, window, map, suffix, row,
      BLOCK_BYTES, depth, window - 1, window, suffix, row, map, suffix, row);
}

void matmul_load_panel(const struct writer *w, const struct matmul_operand *x, const char *slot,
                       const char *k, const char *depth, const char *suffix) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const char *dst = emit_text(e, "%s1+%s*%llu", x->name, slot, (ull)x->panel_bytes);
  if (mm->conv && mm->conv->gradient) {
    (x->is_a ? conv_load_spread : conv_load_turned)(w, dst, k, depth, suffix);
    return;
  }
  if (x->is_a && mm->conv) {
    load_map(w, dst, k, depth, suffix);
    return;
  }
  if (x->nz) {
    (by_squares(w, x) ? load_nz_squares : load_nz)(w, x, dst, k, depth, suffix);
    return;
  }
  ull es = mm->element_bytes, side = x->side, row = x->rows_are_k ? side : mm->k;
  const char *first = emit_text(e, "%s%s", x->start, suffix);
  const char *count = emit_text(e, "%s%s", x->count, suffix);
  const char *src = emit_text(e, "%s+%s*%llu+(%s*%llu+%s)*%llu", x->tensor, batch_of(w, x, suffix),
                              side * (ull)mm->k * es, x->rows_are_k ? k : first, row,
                              x->rows_are_k ? first : k, es);
  bool wide = matmul_way(e->soc, mm, &w->t, x->is_a) != COPY_AT_ONCE;
  const char *rows = x->rows_are_k ? depth : count, *columns = x->rows_are_k ? count : depth;
  if (by_squares(w, x))
    (wide ? load_squares_by_row : load_squares)(w, x, dst, src, depth, suffix);
  else if (wide)
    load_wide(w, x, dst, src, rows, columns);
  else
    emit_row(e, "%s,dst=%s,src=%s,n=%s,d=%s,src_d=%llu,dst_c0_stride=%s", nd2nz(mm), dst, src, rows,
             columns, (ull)min_u64(row, UINT16_MAX), l1_rows(w, x, rows));
}
