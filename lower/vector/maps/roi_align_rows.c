/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of roi_align: tables of a region, then its bins, some of a row at a time. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/maps/roi_align.h"
#include "lower/vector/unit.h"

/* Flags 0 and 1 are those of the slots of patches. */
enum { READ_FLAG = 2, OUT_FLAG = 3 };
/* Blocks of one number each. */
enum { ZERO, BELOW, BEYOND_ROWS, BEYOND_COLUMNS, SHARE, CONSTANTS };

static int64_t bits_of(double value) { return vscalar(DTYPE_FP32, value); }

#define BINARY(e_, inst_, dst_, a_, b_)                                                            \
  EMIT(e_, inst_, F("dst", dst_), F("src0", a_), F("src1", b_), F("repeat", 1), W("type", "fp32"))
#define SCALAR(e_, inst_, dst_, a_, value_)                                                        \
  EMIT(e_, inst_, F("dst", dst_), F("src", a_), F("scalar", value_), F("repeat", 1),               \
       W("type", "fp32"))

static uint64_t constant(const struct roi_align *roi, unsigned which) {
  return roi->constants + which * BLOCK_BYTES;
}

/* ---- before all regions ---------------------------------------------------------------------- */

static void put_constants(struct emit *e, const struct roi_align *roi) {
  const double value[CONSTANTS] = {[BELOW] = -1,
                                   [BEYOND_ROWS] = (double)roi->axis[0].extent,
                                   [BEYOND_COLUMNS] = (double)roi->axis[1].extent,
                                   [SHARE] = 1 / (double)roi->points};
  vmask_count(e, BLOCK_BYTES / ROI_WORD);
  for (unsigned i = 0; i < CONSTANTS; i++)
    vfill(e, constant(roi, i), bits_of(value[i]), "fp32");
}

/* Of a map with one row or column no copy brings the neighbours behind, which count as zeros. */
static void put_zeros(struct emit *e, const struct roi_align *roi) {
  if (roi->axis[0].extent > 1 && roi->axis[1].extent > 1)
    return;
  vmask_count(e, ROI_SLOTS * roi->slot_bytes / ROI_WORD);
  vfill(e, roi->patches, 0, "fp32");
}

/* (i + 1/2) / points of the axis. */
static void put_shares(struct emit *e, const struct roi_align *roi, unsigned a) {
  const struct roi_axis *axis = &roi->axis[a];
  const struct vtable series = vtable_series(axis->shares, 1);
  vtables_fill(e, &series, 1, round_up(roi_points(roi, a), VTABLE_FIRST));
  emit_barrier(e, PIPE_V);
  vmask_count(e, roi_points(roi, a));
  EMIT(e, "vconv_s322f32", F("dst", axis->shares), F("src", axis->shares), F("repeat", 1));
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vadds", axis->shares, axis->shares, bits_of(0.5));
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vmuls", axis->shares, axis->shares, bits_of(1 / (double)roi_points(roi, a)));
  emit_barrier(e, PIPE_V);
}

/* Corners and images of the block's regions. */
static void put_regions(struct emit *e, const struct roi_align *roi, struct expr begin,
                        struct expr mine) {
  vtile_load_run(e, DTYPE_FP32, EXPR(roi->numbers),
                 x_at(x_name(e, "rois"), begin, ROI_NUMBERS * ROI_WORD), x_mul(mine, ROI_NUMBERS));
  vtile_load_run(e, DTYPE_INT32, EXPR(roi->indices), x_at(x_name(e, "index"), begin, ROI_WORD),
                 mine);
  emit_handshake(e, PIPE_MTE2, PIPE_S, READ_FLAG);
}

/* ---- tables of a region ---------------------------------------------------------------------- */

/* One number of the region, scaled, in all lanes. */
static void put_corner(struct emit *e, const struct roi_align *roi, uint64_t to, struct expr bits) {
  vfill(e, to, bits, "fp32");
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vmuls", to, to, bits_of((double)roi->scale));
  emit_barrier(e, PIPE_V);
  if (roi->half_pixel) {
    SCALAR(e, "vadds", to, to, bits_of(-0.5));
    emit_barrier(e, PIPE_V);
  }
}

/* temp 0: where the points lie. */
static void put_points(struct emit *e, const struct roi_align *roi, unsigned a, struct expr first,
                       struct expr last) {
  const uint64_t at = roi->temp[0], side = roi->temp[1];
  put_corner(e, roi, at, first);
  put_corner(e, roi, side, last);
  BINARY(e, "vsub", side, side, at);
  emit_barrier(e, PIPE_V);
  if (!roi->half_pixel) {
    SCALAR(e, "vmaxs", side, side, bits_of(1));
    emit_barrier(e, PIPE_V);
  }
  BINARY(e, "vmul", side, side, roi->axis[a].shares);
  emit_barrier(e, PIPE_V);
  BINARY(e, "vadd", at, at, side);
  emit_barrier(e, PIPE_V);
}

/* dst = points that compare with a constant ? src, a block or lanes : 0. */
static void put_where(struct emit *e, const struct roi_align *roi, const char *compare,
                      unsigned limit, uint64_t dst, uint64_t src, bool block) {
  EMIT(e, compare, F("dst", roi->bits), F("src0", roi->temp[0]), F("src1", constant(roi, limit)),
       F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vsel", F("dst", dst), F("src0", src), F("src1", constant(roi, ZERO)),
       F("mask", roi->bits), F("repeat", 1), F_IF(block, "src0_block", 0),
       F_IF(block, "src0_repeat", 0), F("src1_block", 0), F("src1_repeat", 0), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
}

/* Places and weights. A point beyond the last place lies all in the second of the last two; a point
 * that is outside by more than one has no weight. */
static void put_axis(struct emit *e, const struct roi_align *roi, unsigned a) {
  const struct roi_axis *axis = &roi->axis[a];
  const uint64_t at = roi->temp[0], weight = roi->temp[1], whole = roi->temp[2];
  put_where(e, roi, "vcmpv_ge", BELOW, weight, constant(roi, SHARE), true);
  put_where(e, roi, "vcmpv_le", BEYOND_ROWS + a, weight, weight, false);
  SCALAR(e, "vmaxs", at, at, bits_of(0));
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vmins", at, at, bits_of((double)(axis->extent - 1)));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vconv_f322s32", F("dst", axis->place), F("src", at), F("repeat", 1), W("round", "f"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vconv_s322f32", F("dst", whole), F("src", axis->place), F("repeat", 1));
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vmins", whole, whole, bits_of((double)(axis->extent - min_u64(axis->extent, 2))));
  emit_barrier(e, PIPE_V);
  BINARY(e, "vsub", at, at, whole);
  EMIT(e, "vconv_f322s32", F("dst", axis->place), F("src", whole), F("repeat", 1), W("round", "f"));
  emit_barrier(e, PIPE_V);
  BINARY(e, "vmul", axis->high, at, weight);
  emit_barrier(e, PIPE_V);
  BINARY(e, "vsub", axis->low, weight, axis->high);
  emit_barrier(e, PIPE_V);
}

/* Weights of all points: a row of points, then its four neighbours. */
static void put_weights(struct emit *e, const struct roi_align *roi) {
  const struct roi_axis *rows = &roi->axis[0], *columns = &roi->axis[1];
  const uint64_t pitch = roi_weight_row(roi);
  struct expr j = emit_for(e, "j", roi_points(roi, 0));
  struct expr word = x_mul(j, ROI_WORD);
  struct expr low = emit_read_word(e, "low", EXPR(0), x_add(rows->low, word), DTYPE_INT32);
  struct expr high = emit_read_word(e, "high", EXPR(0), x_add(rows->high, word), DTYPE_INT32);
  struct expr to = x_at(roi->weights, j, ROI_NEIGHBOURS * pitch);
  for (unsigned n = 0; n < ROI_NEIGHBOURS; n++)
    SCALAR(e, "vmuls", x_add(to, n * pitch), n % 2 ? columns->high : columns->low,
           n / 2 ? high : low);
  emit_end(e);
}

static void put_tables(struct emit *e, const struct roi_align *roi, struct expr r) {
  static const char *const names[] = {"x0", "y0", "x1", "y1"};
  struct expr number[ROI_NUMBERS];
  for (unsigned i = 0; i < ROI_NUMBERS; i++)
    number[i] = emit_read_word(e, names[i], EXPR(0),
                               x_add(roi->numbers + i * ROI_WORD, x_mul(r, ROI_NUMBERS * ROI_WORD)),
                               DTYPE_INT32);
  for (unsigned a = 0; a < ROI_AXES; a++) {
    vmask_count(e, roi_points(roi, a));
    put_points(e, roi, a, number[1 - a], number[3 - a]);
    put_axis(e, roi, a);
  }
  emit_handshake(e, PIPE_V, PIPE_S, READ_FLAG);
  put_weights(e, roi);
  emit_handshake(e, PIPE_V, PIPE_S, READ_FLAG);
}

/* ---- bins ------------------------------------------------------------------------------------ */

/* Some bins of a row: their row, the first one, how many, and which points of the axes. */
struct part {
  struct expr image, row, first, bins, j, slot;
};

static uint64_t point_bytes(const struct roi_align *roi) { return ROI_NEIGHBOURS * roi->channels; }

/* The neighbours of the points of a row of points: two runs for each. */
static void put_patches(struct emit *e, const struct roi_align *roi, const struct part *p) {
  const struct roi_axis *rows = &roi->axis[0], *columns = &roi->axis[1];
  const uint64_t bytes = vtile_bytes(roi->type), pixel = roi->channels * bytes;
  const uint64_t high = min_u64(rows->extent, 2), wide = min_u64(columns->extent, 2);
  struct expr y = emit_read_word(e, "y_at", x_mod(p->j, rows->extent - high + 1),
                                 x_add(rows->place, x_mul(p->j, ROI_WORD)), DTYPE_INT32);
  struct expr line = emit_assigned(
      e, "line",
      x_at(x_name(e, "x"), x_add(x_mul(p->image, rows->extent), y), columns->extent * pixel));
  struct expr s = emit_for(e, "s", x_mul(p->bins, roi->points));
  struct expr i = x_add(x_mul(p->first, roi->points), s);
  struct expr x = emit_read_word(e, "x_at", x_mod(i, columns->extent - wide + 1),
                                 x_add(columns->place, x_mul(i, ROI_WORD)), DTYPE_INT32);
  EMIT(e, vtile_copy_name(false, roi->type),
       F("dst", x_add(p->slot, x_mul(s, point_bytes(roi) * bytes))),
       F("src", x_add(line, x_mul(x, pixel))), F("n_burst", high), F("len_burst", wide * pixel),
       F("src_gap", (columns->extent - wide) * pixel),
       F("dst_gap", (2 - wide) * pixel / BLOCK_BYTES));
  emit_end(e);
}

/* sum of a bin += a weight * the neighbour, of one point of each bin after the other. */
static void put_neighbour(struct emit *e, const struct roi_align *roi, const struct part *p,
                          struct expr from, unsigned n, uint64_t point) {
  const uint64_t channels = roi->channels * ROI_WORD;
  struct expr b = emit_for(e, "b", p->bins);
  struct expr i = x_add(x_mul(x_add(p->first, b), roi->points), point);
  struct expr weight =
      emit_read_word(e, "weight", EXPR(0),
                     x_add(x_add(roi->weights + n * roi_weight_row(roi),
                                 x_mul(p->j, ROI_NEIGHBOURS * roi_weight_row(roi))),
                           x_mul(i, ROI_WORD)),
                     DTYPE_INT32);
  struct expr patch = x_mul(x_add(x_mul(b, roi->points), point), point_bytes(roi) * ROI_WORD);
  SCALAR(e, "vaxpy", x_add(roi->sum, x_mul(b, channels)), x_add(x_add(from, n * channels), patch),
         weight);
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

static void put_sums(struct emit *e, const struct roi_align *roi, const struct part *p) {
  struct expr from = p->slot;
  if (roi->type != DTYPE_FP32) {
    from = EXPR(roi->wide);
    vmask_count(e, x_mul(p->bins, roi->points * point_bytes(roi)));
    vunit_convert(&(struct vunit){.emit = e}, 0, 0, roi->type, DTYPE_FP32, from, p->slot);
    emit_barrier(e, PIPE_V);
  }
  vmask_count(e, roi->channels);
  for (unsigned n = 0; n < ROI_NEIGHBOURS; n++)
    for (uint64_t point = 0; point < roi->points; point++)
      if ((n < 2 || roi->axis[0].extent > 1) && (n % 2 == 0 || roi->axis[1].extent > 1))
        put_neighbour(e, roi, p, from, n, point);
}

static void put_store(struct emit *e, const struct roi_align *roi, const struct part *p,
                      struct expr region) {
  uint64_t from = roi->sum;
  struct expr elements = emit_assigned(e, "elements", x_mul(p->bins, roi->channels));
  if (roi->type != DTYPE_FP32) {
    from = roi->out;
    vmask_count(e, elements);
    vunit_convert(&(struct vunit){.emit = e}, 0, 0, DTYPE_FP32, roi->type, EXPR(from),
                  EXPR(roi->sum));
  }
  struct expr bin =
      x_add(x_mul(x_add(x_mul(region, roi->axis[0].bins), p->row), roi->axis[1].bins), p->first);
  emit_handshake(e, PIPE_V, PIPE_MTE3, OUT_FLAG);
  vtile_store_run(e, roi->type, x_at(x_name(e, "y"), bin, roi->channels * vtile_bytes(roi->type)),
                  EXPR(from), elements);
  emit_set(e, PIPE_MTE3, PIPE_V, OUT_FLAG);
}

/* All points of a part, a row of points at a time, which come in while the one before is summed. */
static void put_part(struct emit *e, const struct roi_align *roi, struct part *p,
                     struct expr region, struct expr number) {
  emit_wait(e, PIPE_MTE3, PIPE_V, OUT_FLAG);
  vmask_count(e, x_mul(p->bins, roi->channels));
  vfill(e, roi->sum, 0, "fp32");
  emit_barrier(e, PIPE_V);
  struct expr i = emit_for(e, "i", roi->points);
  struct expr half =
      emit_assigned(e, "half", x_mod(x_add(x_mul(number, roi->points), i), ROI_SLOTS));
  p->j = emit_assigned(e, "j", x_add(x_mul(p->row, roi->points), i));
  p->slot = emit_assigned(e, "slot", x_add(roi->patches, x_mul(half, roi->slot_bytes)));
  emit_wait(e, PIPE_V, PIPE_MTE2, half);
  put_patches(e, roi, p);
  emit_handshake(e, PIPE_MTE2, PIPE_V, half);
  put_sums(e, roi, p);
  emit_set(e, PIPE_V, PIPE_MTE2, half);
  emit_end(e);
  put_store(e, roi, p, region);
}

static void put_region(struct emit *e, const struct roi_align *roi, struct expr r,
                       struct expr region) {
  const uint64_t columns = roi->axis[1].bins, parts = ceil_div(columns, roi->bins);
  struct part part = {0};
  put_tables(e, roi, r);
  part.image = emit_read_word(e, "image", x_mod(region, roi->images),
                              x_add(roi->indices, x_mul(r, ROI_WORD)), DTYPE_INT32);
  part.row = emit_for(e, "row", roi->axis[0].bins);
  struct expr c = emit_for(e, "part", parts);
  part.first = emit_assigned(e, "first", x_mul(c, roi->bins));
  part.bins = emit_assigned(e, "bins", x_rest(roi->bins, columns, part.first));
  put_part(e, roi, &part, region, x_add(x_mul(part.row, parts), c));
  emit_end(e);
  emit_end(e);
}

void roi_align_emit_rows(struct emit *e, const struct roi_align *roi) {
  struct expr begin = emit_named(e, "begin", x_mul(x_name(e, "blk"), roi->per_block));
  struct expr mine = emit_named(e, "mine", x_max(0, x_rest(roi->per_block, roi->regions, begin)));
  put_constants(e, roi);
  put_zeros(e, roi);
  for (unsigned a = 0; a < ROI_AXES; a++)
    put_shares(e, roi, a);
  put_regions(e, roi, begin, mine);
  emit_flags(e, "free", true, PIPE_V, PIPE_MTE2, ROI_SLOTS);
  emit_set(e, PIPE_MTE3, PIPE_V, OUT_FLAG);
  struct expr r = emit_for(e, "r", mine);
  put_region(e, roi, r, emit_assigned(e, "region", x_add(begin, r)));
  emit_end(e);
  emit_wait(e, PIPE_MTE3, PIPE_V, OUT_FLAG);
  emit_flags(e, "taken", false, PIPE_V, PIPE_MTE2, ROI_SLOTS);
}
