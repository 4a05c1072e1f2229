/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a matmul from GM to L1: panels of the operands, which end up in NZ order there. */
#include "core/base/arith.h"
#include "lower/cube/conv.h"
#include "lower/cube/matmul_writer.h"

enum { GAP_MAX = 65535, BURSTS_MAX = 4095 };

/* An operand as a matrix: rows and columns of all of it, and of a full panel. */
struct operand {
  bool nz, by_k; /* by_k: its rows are k */
  bool squares;  /* 32-bit operands that are transposed on the way to L0A lie in L1 by 16 rows */
  uint64_t rows, panel_rows, panel_columns;
  uint64_t columns; /* also from row to row */
};

static struct operand operand_of(const struct matmul *mm, const struct matmul_tiling *t,
                                 bool is_a) {
  uint64_t side = is_a ? mm->m : mm->n, depth = min_u64(is_a ? t->ka : t->kb, mm->k);
  uint64_t count = min_u64(is_a ? t->bm : t->bn, side);
  bool by_k = is_a ? mm->trans_a : !mm->trans_b;
  uint64_t apart = is_a && mm->mixed ? mm->batch * mm->k : by_k ? side : mm->k;
  return (struct operand){
      .nz = is_a ? mm->nz_a : mm->nz_b,
      .by_k = by_k,
      .squares = is_a && by_k && mm->element_bytes == 4,
      .rows = by_k ? mm->k : side,
      .columns = apart,
      .panel_rows = by_k ? depth : count,
      .panel_columns = by_k ? count : depth,
  };
}

/* ---- what one copy can do ---- */

/* ND rows at a distance that no copy can tell, or that are to be cut into squares. */
static enum matmul_way way_of_rows(const struct vinci_soc *soc, const struct matmul *mm,
                                   const struct operand *x) {
  uint64_t row_bytes = x->columns * mm->element_bytes, rows = x->panel_rows;
  if (x->columns <= UINT16_MAX || (rows == 1 && !x->squares))
    return COPY_AT_ONCE;
  if (x->squares || row_bytes % BLOCK_BYTES || row_bytes / BLOCK_BYTES > GAP_MAX ||
      rows > BURSTS_MAX)
    return COPY_BY_ROW;
  /* Copies of rows overlap, copies of columns of blocks do not. */
  const struct path_cost *path = &soc->path[PATH_GM_L1];
  int64_t next =
      path->overlap_issue_mcycles > 0 ? path->overlap_issue_mcycles : path->startup_mcycles;
  uint64_t columns = ceil_div(x->panel_columns, mm->c0);
  return rows * (uint64_t)next <= columns * (uint64_t)path->startup_mcycles ? COPY_BY_ROW
                                                                            : COPY_BY_COLUMN;
}

/* The distance of columns of blocks has 16 bits, like that of rows. */
static enum matmul_way way_of(const struct vinci_soc *soc, const struct matmul *mm,
                              const struct operand *x, bool is_map) {
  if (is_map)
    return conv_is_large(conv_map_blocks(mm->conv)) ? COPY_BY_COLUMN : COPY_AT_ONCE;
  if (x->nz)
    return x->squares || round_up(x->rows, FRACTAL_ROWS) > GAP_MAX ? COPY_BY_COLUMN : COPY_AT_ONCE;
  if (mm->coupled)
    return x->columns * mm->element_bytes % BLOCK_BYTES ? COPY_BY_ROW : COPY_BY_COLUMN;
  return way_of_rows(soc, mm, x);
}

/* Lines of a map that is spread come one by one where their points are apart too. */
static uint64_t map_copies(const struct conv *conv, const struct matmul_tiling *t,
                           uint64_t channels) {
  bool spread = conv->spread_h > 1 || conv->spread_w > 1;
  if (!conv->gradient || !spread)
    return conv_is_large(conv_map_blocks(conv)) ? channels : 1;
  return channels * (conv->spread_w > 1 ? ceil_div(conv_rows(conv, t->rows), conv->spread_h) : 1);
}

struct matmul_copies matmul_copies(const struct vinci_soc *soc, const struct matmul *mm,
                                   const struct matmul_tiling *t, bool is_a) {
  struct operand x = operand_of(mm, t, is_a);
  bool is_map = is_a && mm->conv, whole = x.nz || is_map || x.panel_columns == x.columns;
  enum matmul_way way = way_of(soc, mm, &x, is_map);
  bool in_blocks = way == COPY_BY_COLUMN && !x.nz && !is_map;
  uint64_t columns = ceil_div(x.panel_columns, is_map ? mm->conv->window : mm->c0);
  uint64_t row_bytes = x.panel_columns * mm->element_bytes;
  return (struct matmul_copies){
      .way = way,
      .count = is_map                ? map_copies(mm->conv, t, columns)
               : way == COPY_AT_ONCE ? 1
               : way == COPY_BY_ROW  ? x.panel_rows
                                     : columns,
      .row_bytes = row_bytes,
      .stride_bytes = x.columns * mm->element_bytes,
      .run_bytes = whole ? 0 : row_bytes,
      .piece_bytes = in_blocks && x.columns > mm->c0 ? BLOCK_BYTES : 0,
  };
}

/* Rows of 16 rows of k can be told in 16 bits. */
static bool squares_at_once(const struct operand *x) {
  return x->columns * FRACTAL_ROWS <= UINT16_MAX;
}

bool matmul_many_copies(const struct writer *w, bool is_a) {
  struct operand x = operand_of(w->mm, &w->t, is_a);
  if (w->mm->conv)
    return is_a && conv_is_large(conv_map_blocks(w->mm->conv));
  return way_of(w->e->soc, w->mm, &x, false) != COPY_AT_ONCE || (x.squares && !squares_at_once(&x));
}

/* Whether rows that pad fractals are to be cleared, before the copy. */
static bool has_padding(const struct matmul *mm, const struct operand *x, bool is_a) {
  bool loads_padding = !is_a || mm->coupled; /* load3d brings the rows of A that there are */
  return mm->nz_c && loads_padding && !x->by_k && !x->nz && x->rows % FRACTAL_ROWS != 0;
}

uint64_t matmul_panel_rows(const struct writer *w, bool is_a) {
  enum { WAIT_AND_SET = 2, SPREAD = 2 };
  const struct matmul *mm = w->mm;
  struct operand x = operand_of(mm, &w->t, is_a);
  uint64_t copies = matmul_copies(w->e->soc, mm, &w->t, is_a).count;
  if (mm->conv && mm->conv->gradient)
    return WAIT_AND_SET + (is_a ? SPREAD + copies : 1);
  if (w->t.by_rows)
    copies = 1;
  else if (x.squares && !x.nz && !(mm->conv && is_a))
    copies = squares_at_once(&x) ? 2 : max_u64(copies, ceil_div(x.panel_rows, FRACTAL_ROWS));
  uint64_t signal = !is_a && matmul_is_made(mm), zeros = has_padding(mm, &x, is_a);
  return WAIT_AND_SET + signal + zeros + copies;
}

/* ---- copies ---- */

/* Names of loops end in that of the operand. */
static struct expr over_rows(const struct matmul_panel *p) {
  return emit_for(p->w->e, p->is_a ? "rowa" : "rowb", p->rows);
}

static struct expr over_columns(const struct matmul_panel *p) {
  return emit_for(p->w->e, p->is_a ? "columna" : "columnb", x_ceil_div(p->columns, p->w->mm->c0));
}

/* Rows of a column of blocks in L1. B as it is read takes whole fractals, transposed squares of 8
 * bits whole squares; load3d takes rows as they come. */
static struct expr pitch_of(const struct matmul_panel *p, const struct operand *x) {
  const struct matmul *mm = p->w->mm;
  if (p->is_a && x->by_k && mm->element_bytes == 1)
    return x_round_up(p->rows, mm->c0);
  bool fractals = x->nz || mm->coupled || (!p->is_a && !x->by_k);
  return fractals ? padded(p->rows) : p->rows;
}

/* The copy for rows, by the bytes of an element. */
static const char *const row_insts[] = {[1] = "copy_gm_to_cbuf_multi_nd2nz_b8",
                                        [2] = "copy_gm_to_cbuf_multi_nd2nz_b16",
                                        [4] = "copy_gm_to_cbuf_multi_nd2nz_b32s"};

void matmul_copy_blocks(const struct matmul_panel *p, struct expr src, struct expr count,
                        struct expr blocks, uint64_t apart, struct expr pitch) {
  uint64_t c0 = p->w->mm->c0;
  EMIT(p->w->e, row_insts[p->w->mm->element_bytes], F("dst", p->dst), F("src", src), F("n", count),
       F("d", x_mul(blocks, c0)), F("src_d", apart * c0), F("dst_c0_stride", 1),
       F("dst_n_stride", pitch));
}

static void copy_rows(const struct matmul_panel *p, struct expr dst, struct expr src,
                      struct expr rows, uint64_t src_d, struct expr stride) {
  if (p->w->mm->coupled) { /* one row, and what fills its last block */
    p->w->e->tails = true;
    EMIT(p->w->e, "copy_gm_to_cbuf", F("dst", dst), F("src", src),
         F("n_burst", x_ceil_div(p->columns, p->w->mm->c0)), F("len_burst", 1),
         F("dst_gap", x_sub(stride, 1)));
    return;
  }
  EMIT(p->w->e, row_insts[p->w->mm->element_bytes], F("dst", dst), F("src", src), F("n", rows),
       F("d", p->columns), F("src_d", src_d), F("dst_c0_stride", stride));
}

/* The operand's matrix of the batch. */
static struct expr batch_of(const struct matmul_panel *p, uint64_t elements) {
  const struct matmul *mm = p->w->mm;
  bool shared = mm->batch > 1 && (p->is_a ? mm->a_batches : mm->b_batches) == 1;
  struct expr index = mm->conv ? conv_weights_of(mm->conv, p->g->z) : shared ? EXPR(0) : p->g->z;
  return matmul_slot(p->w->e, p->is_a ? mm->a.name : mm->b.name, index,
                     elements * mm->element_bytes);
}

/* ---- operands in NZ ---- */

/* From the panel's column of blocks on. */
static struct expr nz_source(const struct matmul_panel *p, const struct operand *x,
                             struct expr column) {
  uint64_t c0 = p->w->mm->c0, rows = round_up(x->rows, FRACTAL_ROWS);
  struct expr block = x_mul(x_add(x_div(p->column, c0), column), rows);
  return x_at(batch_of(p, rows * round_up(x->columns, c0)), x_add(block, p->row), BLOCK_BYTES);
}

/* 16 rows of k after the other in L1: each column of blocks in pieces. */
static void load_nz_squares(const struct matmul_panel *p, const struct operand *x) {
  struct expr column = over_columns(p);
  struct expr height = x_div(padded(p->columns), p->w->mm->c0);
  EMIT(p->w->e, "copy_gm_to_cbuf", F("dst", x_at(p->dst, column, FRACTAL_BYTES)),
       F("src", nz_source(p, x, column)), F("n_burst", fractals(p->rows)),
       F("len_burst", FRACTAL_ROWS), F("dst_gap", x_mul(x_sub(height, 1), FRACTAL_ROWS)));
  emit_end(p->w->e);
}

/* Whole columns of blocks, rows padded to 16. */
static void load_nz(const struct matmul_panel *p, const struct operand *x, bool at_once) {
  struct emit *e = p->w->e;
  uint64_t rows = round_up(x->rows, FRACTAL_ROWS);
  struct expr height = padded(p->rows), pitch = pitch_of(p, x);
  if (p->w->t.by_rows) {
    matmul_copy_blocks(p, nz_source(p, x, EXPR(0)), x_ceil_div(p->columns, p->w->mm->c0), height,
                       rows, pitch);
    return;
  }
  struct expr column = at_once ? EXPR(0) : over_columns(p);
  EMIT(e, "copy_gm_to_cbuf", F("dst", x_at(p->dst, x_mul(column, pitch), BLOCK_BYTES)),
       F("src", x_at(nz_source(p, x, EXPR(0)), column, rows * BLOCK_BYTES)),
       F_IF(at_once, "n_burst", x_ceil_div(p->columns, p->w->mm->c0)), F("len_burst", height),
       F_IF(at_once, "src_gap", x_sub(rows, height)),
       F_IF(at_once, "dst_gap", x_sub(pitch, height)));
  if (!at_once)
    emit_end(e);
}

/* ---- operands in ND ---- */

/* Rows of k by sixteens, each as columns of blocks: full ones together, the rest alone. */
static void load_squares(const struct matmul_panel *p, const struct operand *x, struct expr src) {
  struct emit *e = p->w->e;
  uint64_t es = p->w->mm->element_bytes, band = x->columns * FRACTAL_ROWS;
  struct expr height = padded(p->columns), depth = p->rows;
  bool together = squares_at_once(x);
  if (together)
    EMIT(e, "copy_gm_to_cbuf_multi_nd2nz_b32s", F("dst", p->dst), F("src", src),
         F("nd_num", x_div(depth, FRACTAL_ROWS)), F("n", FRACTAL_ROWS), F("d", p->columns),
         F("src_nd_stride", band), F("src_d", x->columns), F("dst_c0_stride", FRACTAL_ROWS),
         F("dst_nd_stride", x_mul(height, FRACTAL_ROWS)));
  struct expr rest = together ? x_mod(depth, FRACTAL_ROWS) : depth;
  struct expr j = emit_for(e, p->is_a ? "ja" : "jb", fractals(rest));
  struct expr jr = emit_assigned(e, "jr", together ? x_div(depth, FRACTAL_ROWS) : j);
  copy_rows(p, x_at(p->dst, x_mul(jr, height), FRACTAL_ROWS * es), x_at(src, jr, band * es),
            x_rest(FRACTAL_ROWS, depth, x_mul(jr, FRACTAL_ROWS)), x->columns, EXPR(FRACTAL_ROWS));
  emit_end(e);
}

/* Where a row lies in the squares. */
static struct expr row_in_squares(const struct matmul_panel *p, struct expr row) {
  struct expr height = padded(p->columns);
  struct expr band = x_mul(x_div(row, FRACTAL_ROWS), height);
  return x_add(x_mul(band, FRACTAL_ROWS / p->w->mm->c0), x_mod(row, FRACTAL_ROWS));
}

static void load_by_row(const struct matmul_panel *p, const struct operand *x, struct expr src) {
  struct expr row = over_rows(p), place = x->squares ? row_in_squares(p, row) : row;
  copy_rows(p, x_at(p->dst, place, BLOCK_BYTES),
            x_at(src, row, x->columns * p->w->mm->element_bytes), EXPR(1), UINT16_MAX,
            x->squares ? EXPR(FRACTAL_ROWS) : pitch_of(p, x));
  emit_end(p->w->e);
}

static void load_by_column(const struct matmul_panel *p, const struct operand *x, struct expr src) {
  struct expr column = over_columns(p);
  uint64_t row_blocks = x->columns * p->w->mm->element_bytes / BLOCK_BYTES;
  EMIT(p->w->e, "copy_gm_to_cbuf",
       F("dst", x_at(p->dst, x_mul(column, pitch_of(p, x)), BLOCK_BYTES)),
       F("src", x_at(src, column, BLOCK_BYTES)), F("n_burst", p->rows), F("len_burst", 1),
       F("src_gap", row_blocks - 1));
  emit_end(p->w->e);
}

/*
 * Rows of the result's padding: L0 takes whole fractals, and what an earlier panel has left in them
 * must not get into a result in NZ. The copy does not write these rows.
 */
static void clear_padding(const struct matmul_panel *p, const struct operand *x) {
  const struct matmul *mm = p->w->mm;
  struct expr pitch = pitch_of(p, x);
  if (!has_padding(mm, x, p->is_a))
    return;
  struct emit *e = p->w->e;
  emit_if(e, "padding", x_gt(pitch, p->rows));
  EMIT(e, "create_cbuf_matrix", F("dst", x_at(p->dst, p->rows, BLOCK_BYTES)),
       F("blocks", x_sub(pitch, p->rows)), F("repeat", x_ceil_div(p->columns, mm->c0)),
       F("dst_gap", p->rows));
  emit_end(e);
}

void matmul_load_panel(struct matmul_panel *p, struct expr k, struct expr depth) {
  const struct matmul *mm = p->w->mm;
  if (mm->conv && (p->is_a || mm->conv->gradient)) {
    conv_load_panel(p, k, depth);
    return;
  }
  struct operand x = operand_of(mm, &p->w->t, p->is_a);
  enum matmul_way way = way_of(p->w->e->soc, mm, &x, false);
  struct expr start = p->is_a ? p->g->m : p->g->n, count = p->is_a ? p->g->cm : p->g->cn;
  p->row = x.by_k ? k : start;
  p->column = x.by_k ? start : k;
  p->rows = x.by_k ? depth : count;
  p->columns = x.by_k ? count : depth;
  uint64_t elements = p->is_a && mm->mixed ? mm->k : x.rows * x.columns;
  struct expr src =
      x_at(batch_of(p, elements), x_add(x_mul(p->row, x.columns), p->column), mm->element_bytes);
  if (!p->is_a && matmul_is_made(mm)) {
    const struct matmul_tiling *t = &p->w->t;
    struct expr place = matmul_place(p->w, p->number, t->kb * t->bn * mm->element_bytes);
    copy_rows(p, p->dst, x_add(x_name(p->w->e, mm->b.name), place), p->rows, x.by_k ? t->bn : t->kb,
              pitch_of(p, &x));
    return;
  }
  clear_padding(p, &x);
  if (x.nz && x.squares)
    load_nz_squares(p, &x);
  else if (x.nz)
    load_nz(p, &x, way == COPY_AT_ONCE);
  else if (way == COPY_BY_ROW)
    load_by_row(p, &x, src);
  else if (way == COPY_BY_COLUMN)
    load_by_column(p, &x, src);
  else if (x.squares)
    load_squares(p, &x, src);
  else
    copy_rows(p, p->dst, src, p->rows, min_u64(x.columns, UINT16_MAX), pitch_of(p, &x));
}
