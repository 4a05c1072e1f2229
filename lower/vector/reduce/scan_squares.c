/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running sums without gathers. A part of 64 pieces of 64 elements is turned by transpositions of
 * squares, 16 rows of 8 elements each, so that lanes are pieces. Such a transposition puts the
 * first 8 of its rows and the other 8 into blocks of their own, which lie half a line apart here:
 *
 *   blocks of a line     pieces 0-7, 16-23, 32-39, 48-55, 8-15, 24-31, 40-47, 56-63
 *   lines, 8 at a time   elements 0-7, 32-39, 8-15, 40-47, 16-23, 48-55, 24-31, 56-63
 *
 * With lines in that order, the same transpositions bring a part back in its own order. The sums
 * of pieces, one in each lane, become a block of equal lanes each, and are added one after the
 * other: 64 additions of a block.
 */
#include "core/chip/layout.h"
#include "lower/vector/reduce/scan.h"
#include "lower/vector/unit.h"

enum {
  BLOCKS = SCAN_SIDE / SCAN_BLOCK_LANES, /* of a line */
  GROUP = 16,                            /* rows of a square */
  GROUPS = SCAN_SIDE / GROUP,
  HALF_LINE = BLOCKS / 2, /* blocks */
  PAIR = 2                /* blocks that a square has for each of its columns */
};

void scan_squares_reserve(struct scan *x, uint64_t *used) {
  x->each = vtile_reserve(used, SCAN_SIDE * PAIR * BLOCK_BYTES);
  x->each_before = vtile_reserve(used, SCAN_SIDE * BLOCK_BYTES);
  x->blocks_of_16 = vtile_reserve(used, GROUPS * GROUP * BLOCK_BYTES);
}

/* ---- turning ------------------------------------------------------------------------------- */

void scan_squares_turn(struct emit *e, struct expr dst, struct expr src) {
  struct expr half = emit_for(e, "of_line", PAIR);
  struct expr column = emit_for(e, "column", HALF_LINE);
  struct expr place = x_add(x_mul(column, PAIR), half); /* of 8 lines, or of 8 pieces */
  struct expr block = x_add(x_mul(half, HALF_LINE), column);
  EMIT(e, "scatter_vnchwconv_b32",
       F("dst", x_add(dst, x_mul(place, SCAN_BLOCK_LANES * SCAN_ROW_BYTES))),
       F("src", x_add(src, x_mul(block, BLOCK_BYTES))), F("repeat", GROUPS),
       F("dst_step", HALF_LINE), F("src_step", BLOCKS), F("dst_repeat", 1),
       F("src_repeat", GROUP * BLOCKS));
  emit_end(e);
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

/* ---- sums ---------------------------------------------------------------------------------- */

static struct expr in_order(const struct scan *x, struct expr i) {
  return x->reverse ? x_sub(SCAN_SIDE - 1, i) : i;
}

/* Where the line of element i lies, in the order of adding. */
static struct expr line_at(const struct scan *x, uint64_t lines, struct expr i) {
  struct expr element = in_order(x, i), eight = x_div(element, SCAN_BLOCK_LANES);
  struct expr place = x_add(x_mul(x_mod(eight, HALF_LINE), PAIR), x_div(eight, HALF_LINE));
  struct expr line = x_add(x_mul(place, SCAN_BLOCK_LANES), x_mod(element, SCAN_BLOCK_LANES));
  return x_add(lines, x_mul(line, SCAN_ROW_BYTES));
}

/* Which lane piece i has, in the order of adding. */
static struct expr lane_of(const struct scan *x, struct expr i) {
  struct expr piece = in_order(x, i), eight = x_div(piece, SCAN_BLOCK_LANES);
  struct expr block = x_add(x_mul(x_mod(eight, PAIR), HALF_LINE), x_div(eight, PAIR));
  return x_add(x_mul(block, SCAN_BLOCK_LANES), x_mod(piece, SCAN_BLOCK_LANES));
}

static void put(struct emit *e, const struct scan *x, struct expr dst, struct expr a,
                struct expr b) {
  EMIT(e, x->func->inst, F("dst", dst), F("src0", a), F("src1", b), F("repeat", 1),
       W("type", "fp32"));
}

static void sum_lines(struct emit *e, const struct scan *x) {
  vmask_count(e, SCAN_SIDE);
  struct expr i = emit_for(e, "line", SCAN_SIDE - 1);
  struct expr to = emit_assigned(e, "to", line_at(x, x->turned, x_add(i, 1)));
  put(e, x, to, to, line_at(x, x->turned, i));
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

/* A block of equal lanes for each lane of the last line. */
static void spread(struct emit *e, const struct scan *x) {
  EMIT(e, "scatter_vnchwconv_b32", F("dst", x->each),
       F("src", line_at(x, x->turned, EXPR(SCAN_SIDE - 1))), F("repeat", BLOCKS), F("src_step", 0),
       F("dst_repeat", SCAN_BLOCK_LANES * PAIR), F("src_repeat", 1));
  emit_barrier(e, PIPE_V);
}

/* Lane by lane again: of each square the blocks of one column. */
static void join(struct emit *e, const struct scan *x) {
  EMIT(e, "scatter_vnchwconv_b32", F("dst", x->blocks_of_16), F("src", x->each_before),
       F("repeat", GROUPS), F("dst_repeat", GROUP), F("src_repeat", GROUP));
  emit_barrier(e, PIPE_V);
  EMIT(e, "copy_ubuf_to_ubuf", F("dst", x->before), F("src", x->blocks_of_16), F("n_burst", GROUPS),
       F("len_burst", PAIR), F("src_gap", GROUP - PAIR));
  emit_barrier(e, PIPE_V);
}

static void sum_pieces(struct emit *e, const struct scan *x) {
  spread(e, x);
  vmask_count(e, SCAN_BLOCK_LANES);
  EMIT(e, "copy_ubuf_to_ubuf",
       F("dst", x_add(x->each_before, x_mul(lane_of(x, EXPR(0)), BLOCK_BYTES))), F("src", x->carry),
       F("len_burst", 1));
  emit_barrier(e, PIPE_V);
  struct expr i = emit_for(e, "piece", SCAN_SIDE - 1);
  struct expr lane = emit_assigned(e, "lane", lane_of(x, i));
  put(e, x, x_add(x->each_before, x_mul(lane_of(x, x_add(i, 1)), BLOCK_BYTES)),
      x_add(x->each_before, x_mul(lane, BLOCK_BYTES)),
      x_add(x->each, x_mul(lane, PAIR * BLOCK_BYTES)));
  emit_barrier(e, PIPE_V);
  emit_end(e);
  struct expr last = lane_of(x, EXPR(SCAN_SIDE - 1));
  put(e, x, EXPR(x->carry), x_add(x->each_before, x_mul(last, BLOCK_BYTES)),
      x_add(x->each, x_mul(last, PAIR * BLOCK_BYTES)));
  join(e, x);
}

void scan_squares_sum(struct emit *e, const struct scan *x) {
  sum_lines(e, x);
  sum_pieces(e, x);
}

void scan_squares_exclude(struct emit *e, const struct scan *x) {
  vmask_count(e, SCAN_SIDE);
  EMIT(e, "copy_ubuf_to_ubuf", F("dst", line_at(x, x->sums, EXPR(0))), F("src", x->before),
       F("len_burst", BLOCKS));
  struct expr i = emit_for(e, "excluded", SCAN_SIDE - 1);
  put(e, x, line_at(x, x->sums, x_add(i, 1)), line_at(x, x->turned, i), EXPR(x->before));
  emit_end(e);
  emit_barrier(e, PIPE_V);
}
