/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a matmul from GM to L1: panels of the operands, which end up in NZ order there. */
#include "core/base/arith.h"
#include "traces/lower/cube/matmul_writer.h"

enum { GAP_MAX = 65535, BURSTS_MAX = 4095 };

/* An operand as a matrix: rows and columns of all of it, and of a full panel. */
struct operand {
  bool is_a, nz, by_k; /* by_k: its rows are k */
  bool squares; /* 32-bit operands that are transposed on the way to L0A lie in L1 by 16 rows */
  uint64_t rows, columns, panel_rows, panel_columns;
};

static struct operand operand_of(const struct matmul *mm, const struct matmul_tiling *t,
                                 bool is_a) {
  uint64_t side = is_a ? mm->m : mm->n, depth = min_u64(is_a ? t->ka : t->kb, mm->k);
  uint64_t count = min_u64(is_a ? t->bm : t->bn, side);
  bool by_k = is_a ? mm->trans_a : !mm->trans_b;
  return (struct operand){
      .is_a = is_a,
      .nz = is_a ? mm->nz_a : mm->nz_b,
      .by_k = by_k,
      .squares = is_a && by_k && mm->element_bytes == 4,
      .rows = by_k ? mm->k : side,
      .columns = by_k ? side : mm->k,
      .panel_rows = by_k ? depth : count,
      .panel_columns = by_k ? count : depth,
  };
}

/* ---- what one copy can do ---- */

uint64_t matmul_copies(const struct matmul *mm, const struct matmul_tiling *t, bool is_a,
                       enum matmul_way way) {
  struct operand x = operand_of(mm, t, is_a);
  return way == COPY_AT_ONCE  ? 1
         : way == COPY_BY_ROW ? x.panel_rows
                              : ceil_div(x.panel_columns, mm->c0);
}

uint64_t matmul_run_bytes(const struct matmul *mm, const struct matmul_tiling *t, bool is_a) {
  struct operand x = operand_of(mm, t, is_a);
  bool whole = x.nz || (is_a && mm->conv) || x.panel_columns == x.columns;
  return whole ? 0 : x.panel_columns * mm->element_bytes;
}

/* ND rows at a distance that no copy can tell, or that are to be cut into squares. */
static enum matmul_way way_of_rows(const struct vinci_soc *soc, const struct matmul *mm,
                                   const struct operand *x) {
  uint64_t row_bytes = x->columns * mm->element_bytes, rows = x->panel_rows;
  if (x->columns <= UINT16_MAX || (rows == 1 && !x->squares))
    return COPY_AT_ONCE;
  if (x->squares || row_bytes % BLOCK_BYTES || row_bytes / BLOCK_BYTES > GAP_MAX ||
      rows > BURSTS_MAX)
    return COPY_BY_ROW;
  uint64_t by_row = rows * (uint64_t)soc->nd2nz_startup_mcycles;
  uint64_t columns = ceil_div(x->panel_columns, mm->c0);
  return by_row <= columns * (uint64_t)soc->path[PATH_GM_L1].startup_mcycles ? COPY_BY_ROW
                                                                             : COPY_BY_COLUMN;
}

enum matmul_way matmul_way(const struct vinci_soc *soc, const struct matmul *mm,
                           const struct matmul_tiling *t, bool is_a) {
  struct operand x = operand_of(mm, t, is_a);
  if (is_a && mm->conv)
    return COPY_AT_ONCE;
  /* The distance of columns of blocks has 16 bits, like that of rows. */
  if (x.nz)
    return x.squares || round_up(x.rows, FRACTAL_ROWS) > GAP_MAX ? COPY_BY_COLUMN : COPY_AT_ONCE;
  return mm->coupled ? COPY_BY_COLUMN : way_of_rows(soc, mm, &x);
}

/* Rows of 16 rows of k can be told in 16 bits. */
static bool squares_at_once(const struct operand *x) {
  return x->columns * FRACTAL_ROWS <= UINT16_MAX;
}

bool matmul_many_copies(const struct writer *w, bool is_a) {
  struct operand x = operand_of(w->mm, &w->t, is_a);
  return !w->mm->conv && (matmul_way(w->e->soc, w->mm, &w->t, is_a) != COPY_AT_ONCE ||
                          (x.squares && !squares_at_once(&x)));
}

/* ---- copies ---- */

/* One panel: its first row and column in the operand, its rows and columns, its place in L1. */
struct panel {
  const struct writer *w;
  struct operand x;
  struct expr batch, row, column, rows, columns, dst;
  struct expr pitch; /* rows of a column of blocks in L1 */
};

/* Names of loops end in that of the operand. */
static struct expr loop_over(const struct panel *p, const char *a, const char *b,
                             struct expr count) {
  return emit_for(p->w->e, p->x.is_a ? a : b, count);
}

static struct expr loop_over_rows(const struct panel *p) {
  return loop_over(p, "rowa", "rowb", p->rows);
}

static struct expr loop_over_columns(const struct panel *p) {
  return loop_over(p, "columna", "columnb", x_ceil_div(p->columns, p->w->mm->c0));
}

/* B as it is read takes whole fractals, transposed squares of 8 bits whole squares; load3d takes
 * rows as they come. */
static struct expr pitch_of(const struct panel *p) {
  const struct matmul *mm = p->w->mm;
  if (p->x.is_a && p->x.by_k && mm->element_bytes == 1)
    return x_round_up(p->rows, mm->c0);
  bool fractals = p->x.nz || mm->coupled || (!p->x.is_a && !p->x.by_k);
  return fractals ? x_round_up(p->rows, FRACTAL_ROWS) : p->rows;
}

static void copy_rows(const struct panel *p, struct expr dst, struct expr src, struct expr rows,
                      uint64_t src_d, struct expr stride) {
  static const char *const insts[] = {[1] = "copy_gm_to_cbuf_multi_nd2nz_b8",
                                      [2] = "copy_gm_to_cbuf_multi_nd2nz_b16",
                                      [4] = "copy_gm_to_cbuf_multi_nd2nz_b32s"};
  EMIT(p->w->e, insts[p->w->mm->element_bytes], F("dst", dst), F("src", src), F("n", rows),
       F("d", p->columns), F("src_d", src_d), F("dst_c0_stride", stride));
}

/* ---- operands in NZ ---- */

/* From the panel's column of blocks on. */
static struct expr nz_source(const struct panel *p, struct expr column) {
  uint64_t c0 = p->w->mm->c0, rows = round_up(p->x.rows, FRACTAL_ROWS);
  uint64_t bytes = rows * round_up(p->x.columns, c0) * p->w->mm->element_bytes;
  struct expr block = x_mul(x_add(x_div(p->column, c0), column), rows);
  const char *name = p->x.is_a ? p->w->mm->a.name : p->w->mm->b.name;
  return x_add(x_add(x_name(p->w->e, name), x_mul(p->batch, bytes)),
               x_mul(x_add(block, p->row), BLOCK_BYTES));
}

/* 16 rows of k after the other in L1: each column of blocks in pieces. */
static void load_nz_squares(const struct panel *p) {
  uint64_t c0 = p->w->mm->c0;
  struct expr column = loop_over_columns(p);
  struct expr height = x_div(x_round_up(p->columns, FRACTAL_ROWS), c0);
  EMIT(p->w->e, "copy_gm_to_cbuf", F("dst", x_add(p->dst, x_mul(column, FRACTAL_BYTES))),
       F("src", nz_source(p, column)), F("n_burst", x_ceil_div(p->rows, FRACTAL_ROWS)),
       F("len_burst", FRACTAL_ROWS), F("dst_gap", x_mul(x_sub(height, 1), FRACTAL_ROWS)));
  emit_end(p->w->e);
}

/* Whole columns of blocks, rows padded to 16. */
static void load_nz(const struct panel *p) {
  struct emit *e = p->w->e;
  uint64_t rows = round_up(p->x.rows, FRACTAL_ROWS);
  struct expr height = x_round_up(p->rows, FRACTAL_ROWS), src = nz_source(p, EXPR(0));
  if (matmul_way(e->soc, p->w->mm, &p->w->t, p->x.is_a) == COPY_AT_ONCE) {
    EMIT(e, "copy_gm_to_cbuf", F("dst", p->dst), F("src", src),
         F("n_burst", x_ceil_div(p->columns, p->w->mm->c0)), F("len_burst", height),
         F("src_gap", x_sub(rows, height)), F("dst_gap", x_sub(p->pitch, height)));
    return;
  }
  struct expr column = loop_over_columns(p);
  EMIT(e, "copy_gm_to_cbuf", F("dst", x_add(p->dst, x_mul(x_mul(column, p->pitch), BLOCK_BYTES))),
       F("src", x_add(src, x_mul(column, rows * BLOCK_BYTES))), F("len_burst", height));
  emit_end(e);
}

/* ---- operands in ND ---- */

static struct expr nd_source(const struct panel *p) {
  uint64_t bytes = p->w->mm->element_bytes;
  const char *name = p->x.is_a ? p->w->mm->a.name : p->w->mm->b.name;
  return x_add(x_add(x_name(p->w->e, name), x_mul(p->batch, p->x.rows * p->x.columns * bytes)),
               x_mul(x_add(x_mul(p->row, p->x.columns), p->column), bytes));
}

/* Rows of k by sixteens, each as columns of blocks: full ones together, the rest alone. */
static void load_squares(const struct panel *p, struct expr src) {
  struct emit *e = p->w->e;
  uint64_t side = p->x.columns, row_bytes = side * p->w->mm->element_bytes;
  struct expr height = x_round_up(p->columns, FRACTAL_ROWS), depth = p->rows;
  bool together = squares_at_once(&p->x);
  if (together)
    EMIT(e, "copy_gm_to_cbuf_multi_nd2nz_b32s", F("dst", p->dst), F("src", src),
         F("nd_num", x_div(depth, FRACTAL_ROWS)), F("n", FRACTAL_ROWS), F("d", p->columns),
         F("src_nd_stride", side * FRACTAL_ROWS), F("src_d", side),
         F("dst_c0_stride", FRACTAL_ROWS), F("dst_nd_stride", x_mul(height, FRACTAL_ROWS)));
  struct expr rest = together ? x_mod(depth, FRACTAL_ROWS) : depth;
  struct expr j = loop_over(p, "ja", "jb", x_ceil_div(rest, FRACTAL_ROWS));
  struct expr jr = emit_assigned(e, "jr", together ? x_div(depth, FRACTAL_ROWS) : j);
  copy_rows(p, x_add(p->dst, x_mul(x_mul(jr, height), FRACTAL_ROWS * p->w->mm->element_bytes)),
            x_add(src, x_mul(jr, FRACTAL_ROWS * row_bytes)),
            x_min(FRACTAL_ROWS, x_sub(depth, x_mul(jr, FRACTAL_ROWS))), side, EXPR(FRACTAL_ROWS));
  emit_end(e);
}

/* A row to the squares. */
static struct expr row_in_squares(const struct panel *p, struct expr row) {
  struct expr height = x_round_up(p->columns, FRACTAL_ROWS);
  struct expr square = x_mul(x_mul(x_div(row, FRACTAL_ROWS), height), FRACTAL_ROWS / p->w->mm->c0);
  return x_add(square, x_mod(row, FRACTAL_ROWS));
}

static void load_by_row(const struct panel *p, struct expr src) {
  struct expr row = loop_over_rows(p);
  struct expr place = p->x.squares ? row_in_squares(p, row) : row;
  copy_rows(p, x_add(p->dst, x_mul(place, BLOCK_BYTES)),
            x_add(src, x_mul(row, p->x.columns * p->w->mm->element_bytes)), EXPR(1), UINT16_MAX,
            p->x.squares ? EXPR(FRACTAL_ROWS) : p->pitch);
  emit_end(p->w->e);
}

static void load_by_column(const struct panel *p, struct expr src) {
  struct expr column = loop_over_columns(p);
  uint64_t row_blocks = p->x.columns * p->w->mm->element_bytes / BLOCK_BYTES;
  EMIT(p->w->e, "copy_gm_to_cbuf",
       F("dst", x_add(p->dst, x_mul(x_mul(column, p->pitch), BLOCK_BYTES))),
       F("src", x_add(src, x_mul(column, BLOCK_BYTES))), F("n_burst", p->rows), F("len_burst", 1),
       F("src_gap", row_blocks - 1));
  emit_end(p->w->e);
}

static void load_nd(const struct panel *p) {
  struct expr src = nd_source(p);
  enum matmul_way way = matmul_way(p->w->e->soc, p->w->mm, &p->w->t, p->x.is_a);
  if (way == COPY_BY_ROW)
    load_by_row(p, src);
  else if (way == COPY_BY_COLUMN)
    load_by_column(p, src);
  else if (p->x.squares)
    load_squares(p, src);
  else
    copy_rows(p, p->dst, src, p->rows, min_u64(p->x.columns, UINT16_MAX), p->pitch);
}

void matmul_load_panel(const struct writer *w, const struct group *g, bool is_a, struct expr dst,
                       struct expr k, struct expr depth) {
  const struct matmul *mm = w->mm;
  if (mm->conv && (is_a || mm->conv->gradient)) {
    conv_load_panel(w, g, is_a, dst, k, depth);
    return;
  }
  bool shared = (is_a ? mm->a_batches : mm->b_batches) == 1 && mm->batch > 1;
  struct operand x = operand_of(mm, &w->t, is_a);
  struct panel p = {
      .w = w,
      .x = x,
      .batch = mm->conv ? conv_weights_of(mm->conv, g->z)
               : shared ? EXPR(0)
                        : g->z,
      .row = x.by_k ? k
             : is_a ? g->m
                    : g->n,
      .column = !x.by_k ? k
                : is_a  ? g->m
                        : g->n,
      .rows = x.by_k ? depth
              : is_a ? g->cm
                     : g->cn,
      .columns = !x.by_k ? depth
                 : is_a  ? g->cm
                         : g->cn,
      .dst = dst,
  };
  p.pitch = pitch_of(&p);
  if (!x.nz)
    load_nd(&p);
  else if (x.squares)
    load_nz_squares(&p);
  else
    load_nz(&p);
}
