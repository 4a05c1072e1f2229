/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of large regions: folded into 64 lanes, or row by row into columns. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/reduce/reduce.h"

enum {
  FLOAT_BYTES = 4,
  LANES_BYTES = ROWWISE_LANES * 4,
  TILE_BYTES = 32768,     /* of x in single precision: large enough for the full rate of copies */
  ONE_CORE_BYTES = 16384, /* not worth the meeting of all cores */
  SOURCES = 2,            /* x, x1 */
  STORE_FLAG = 2,
  SYNC_FLAG = 0,
};

/* Tiles of columns of a region that keeps them. */
static uint64_t column_tiles(const struct vreduce *reduce) {
  return ceil_div(reduce->cols, reduce->tile.cols);
}

uint64_t vreduce_units(const struct vreduce *reduce) {
  if (reduce->form == VREDUCE_COLUMNS)
    return reduce->outer * column_tiles(reduce);
  return reduce->outer * reduce->segments;
}

static uint64_t units_per_block(const struct vreduce *reduce) {
  return ceil_div(vreduce_units(reduce), reduce->tile.blocks);
}

/* Segments only where there are too few units, and only on all cores, which then meet. */
static void set_segments(struct vreduce *reduce) {
  bool by_rows = reduce->rows > 1;
  uint64_t extent = by_rows ? reduce->rows : reduce->cols, cores = reduce->cores;
  uint64_t elements = reduce->outer * reduce->rows * reduce->cols;
  reduce->segments = 1;
  reduce->segment = extent;
  if (reduce->form != VREDUCE_FOLD || reduce->outer >= cores || reduce->tile.blocks != cores ||
      elements * FLOAT_BYTES <= ONE_CORE_BYTES)
    return;
  uint64_t unit = by_rows ? 1 : ROWWISE_LANES;
  reduce->segment = ceil_div(ceil_div(extent, cores / reduce->outer), unit) * unit;
  reduce->segments = ceil_div(extent, reduce->segment);
}

void vreduce_region_split(uint64_t cores, struct vreduce *reduce) {
  struct vtile *tile = &reduce->tile;
  uint64_t floats = TILE_BYTES / FLOAT_BYTES;
  tile->blocks = cores;
  if (reduce->form == VREDUCE_COLUMNS) {
    /* Columns for every core, as many as fit a bank row's walk. */
    uint64_t share = ceil_div(reduce->cols, max_u64(1, cores / reduce->outer));
    tile->cols = min_u64(ceil_div(share, ROWWISE_LANES) * ROWWISE_LANES,
                         ROWWISE_PITCH_MAX / ROWWISE_LANES * ROWWISE_LANES);
    tile->cols = min_u64(tile->cols, reduce->cols);
  } else {
    tile->cols =
        min_u64(reduce->cols,
                reduce->rows > 1 ? ROWWISE_PITCH_MAX / ROWWISE_LANES * ROWWISE_LANES : floats);
  }
  uint64_t high = reduce->packed * ROWWISE_ROWS_MAX;
  tile->rows = max_u64(1, min_u64(min_u64(reduce->rows, high), floats / tile->cols));
  tile->rows = max_u64(1, tile->rows / reduce->packed) * reduce->packed;
  set_segments(reduce);
  uint64_t units = vreduce_units(reduce);
  if (reduce->segments == 1)
    tile->blocks = ceil_div(units, ceil_div(units, min_u64(units, cores)));
}

void vreduce_region_lay_out(struct vreduce *reduce) {
  struct vtile *tile = &reduce->tile;
  uint64_t bytes = vtile_bytes(reduce->type);
  bool prepares = reduce->type != DTYPE_FP32 || reduce->squares || reduce->multiplies;
  set_segments(reduce);
  reduce->pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  reduce->second = vtile_align(tile->rows * reduce->pitch * bytes);
  tile->slot_bytes = reduce->second * (reduce->multiplies ? 2 : 1);
  uint64_t used = tile->slot_bytes * tile->buffers;
  reduce->converted = prepares ? vtile_reserve(&used, tile->rows * reduce->pitch * FLOAT_BYTES) : 0;
  if (reduce->multiplies)
    reduce->factor = vtile_reserve(&used, tile->rows * reduce->pitch * FLOAT_BYTES);
  bool keeps = reduce->form == VREDUCE_COLUMNS;
  uint64_t lanes = keeps ? round_up(reduce->pitch, ROWWISE_LANES) : (uint64_t)ROWWISE_LANES;
  reduce->accumulator = vtile_reserve(&used, lanes * FLOAT_BYTES);
  uint64_t results = keeps ? reduce->pitch : max_u64(units_per_block(reduce), reduce->outer) + 8;
  reduce->column = keeps ? reduce->accumulator : vtile_reserve(&used, results * FLOAT_BYTES);
  reduce->out = vreduce_narrows(reduce)
                    ? vtile_reserve(&used, results * vtile_bytes(reduce->result))
                    : reduce->column;
  tile->ub_bytes = used;
}

/* ---- one tile of a region -------------------------------------------------------------------- */

struct region {
  struct emit *e;
  struct vreduce *reduce;
  struct vunit unit; /* X0: the tile in single precision, T0: the accumulator, T1: the column */
  struct expr blk, unit_of_block;
};

/* Down all rows of 64 columns, or of the lanes of the last ones. */
static void put_lanes(struct region *region, struct expr to, struct expr from, unsigned lanes) {
  struct vunit *unit = &region->unit;
  const struct vreduce *reduce = region->reduce;
  bool keeps = reduce->form == VREDUCE_COLUMNS;
  struct expr dst = keeps ? x_add(unit->reg[T0], to) : unit->reg[T0];
  vunit_lanes(unit, lanes);
  VROW(unit, V(X0) | V(T0), V(T0), vreduction_inst(reduce->func->reduction), F("dst", dst),
       F("src0", dst), F("src1", x_add(unit->reg[X0], from)),
       F("repeat", x_div(reduce->tile.n_rows, reduce->packed)), F("dst_repeat", 0),
       F("src0_repeat", 0), F("src1_repeat", reduce->pitch * reduce->packed / 8),
       W("type", "fp32"));
}

static void put_accumulate(struct region *region) {
  struct emit *e = region->e;
  struct vunit *unit = &region->unit;
  const struct vreduce *reduce = region->reduce;
  const struct vtile *tile = &reduce->tile;
  struct expr sum = unit->reg[T0];
  if (tile->rows == 1 && reduce->form != VREDUCE_COLUMNS) {
    vunit_count(unit, tile->n_cols);
    VROW(unit, V(X0) | V(T0), V(T0), vreduction_inst(reduce->func->reduction), F("dst", sum),
         F("src0", sum), F("src1", unit->reg[X0]), F("repeat", 1), F("dst_repeat", 0),
         F("src0_repeat", 0), W("type", "fp32"));
    return;
  }
  if (reduce->packed > 1) {
    put_lanes(region, EXPR(0), EXPR(0), ROWWISE_LANES);
    return;
  }
  /* Outside of the loops, which may not turn at all. */
  vunit_lanes(unit, ROWWISE_LANES);
  struct expr part = emit_for(e, "part", x_div(tile->n_cols, ROWWISE_LANES));
  put_lanes(region, x_mul(part, LANES_BYTES), x_mul(part, LANES_BYTES), ROWWISE_LANES);
  emit_end(e);
  unsigned rest = (unsigned)(reduce->cols % ROWWISE_LANES);
  if (rest == 0)
    return;
  /* The lanes that are left are those of the last columns alone. */
  uint64_t in_last = (reduce->cols - 1) % tile->cols + 1;
  struct expr at = EXPR(in_last / ROWWISE_LANES * LANES_BYTES);
  emit_if(e, "tail", x_gt(x_mod(tile->n_cols, ROWWISE_LANES), 0));
  vunit_lanes(unit, rest);
  put_lanes(region, at, at, rest);
  emit_end(e);
  vunit_forget(unit);
}

/* Opens a loop over the tiles of an extent: where a tile starts. */
static struct expr open_tiles(struct emit *e, const char *counter, const char *start,
                              struct expr extent, uint64_t tile, struct expr *index) {
  *index = emit_for(e, counter, x_ceil_div(extent, tile));
  return emit_named(e, start, x_mul(*index, tile));
}

/* The loops over the tiles of a region. source: where it begins, in x1 too if that is a factor. */
static void put_region(struct region *region, struct expr rows, struct expr cols,
                       const struct expr source[SOURCES]) {
  struct emit *e = region->e;
  struct vreduce *reduce = region->reduce;
  struct vtile *tile = &reduce->tile;
  struct vunit *unit = &region->unit;
  struct vtile_operand x = {.at = source[0],
                            .dtype = reduce->type,
                            .row_stride = reduce->row_stride,
                            .col_stride = 1,
                            .pitch = reduce->pitch};
  bool keeps = reduce->form == VREDUCE_COLUMNS;
  uint64_t row_turns = ceil_div(reduce->rows, tile->rows);
  uint64_t col_turns = keeps ? 1 : ceil_div(reduce->cols, tile->cols);
  struct expr ri, ci;
  tile->row = open_tiles(e, "ri", "row", rows, tile->rows, &ri);
  tile->col = open_tiles(e, "ci", "col", cols, tile->cols, &ci);
  tile->n_rows = EXPR(1);
  if (tile->rows > 1)
    tile->n_rows = emit_named(e, "rows", x_min(tile->rows, x_sub(rows, tile->row)));
  tile->n_cols = emit_named(e, "cols", x_min(tile->cols, x_sub(cols, tile->col)));
  tile->flag_id = tile->slot = EXPR(0);
  if (tile->buffers > 1) {
    struct expr turn =
        x_add(x_add(x_mul(region->unit_of_block, row_turns * col_turns), x_mul(ri, col_turns)), ci);
    tile->flag_id = emit_named(e, "half", x_mod(turn, 2));
    tile->slot = x_mul(tile->flag_id, tile->slot_bytes);
  }
  /* No tile is a whole region. */
  struct vtile here = *tile;
  here.space = (struct vtile_space){.rows = 2 * tile->rows, .cols = 2 * tile->cols};
  here.row_tiles = here.col_tiles = 2;
  emit_wait(e, PIPE_V, PIPE_MTE2, tile->flag_id);
  vtile_load(e, &here, &x);
  if (reduce->multiplies) {
    x.at = source[1];
    x.address = reduce->second;
    vtile_load(e, &here, &x);
  }
  emit_handshake(e, PIPE_MTE2, PIPE_V, tile->flag_id);
  vunit_forget(unit);
  unit->written = V_ALL;
  unit->reg[X0] = vreduce_prepare(
      unit, reduce, tile->rows > 1 ? x_mul(tile->n_rows, reduce->pitch) : tile->n_cols);
  put_accumulate(region);
  vunit_rest(unit);
  emit_set(e, PIPE_V, PIPE_MTE2, tile->flag_id);
  emit_end(e);
  emit_end(e);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void put_identity(struct region *region, uint64_t count) {
  struct vunit *unit = &region->unit;
  unit->written = V_ALL;
  vunit_count(unit, count);
  VROW(unit, 0, V(T0), "vector_dup", F("dst", unit->reg[T0]),
       F("scalar", vscalar(DTYPE_FP32, vreduction_identity(region->reduce->func->reduction))),
       F("repeat", 1), W("type", "fp32"));
}

/* 64 lanes, or fewer, of each repeat into one number. */
static void put_fold(struct region *region, struct expr dst, struct expr src, struct expr repeats,
                     unsigned lanes, uint64_t stride) {
  struct vunit *unit = &region->unit;
  unit->written = V_ALL;
  vunit_lanes(unit, lanes);
  vunit_fold(unit, V(T0), V(T1), region->reduce->func->reduction, dst, src, repeats, stride);
}

/* Sums become means and norms, in their type: ready to be stored. */
static void put_results(struct region *region, struct expr count) {
  struct vunit *unit = &region->unit;
  vunit_count(unit, count);
  unit->written = V_ALL;
  vreduce_finish(unit, region->reduce, EXPR(region->reduce->out));
  vunit_rest(unit);
}

/* Rows that lay side by side, half of the lanes at a time. */
static void put_unpacked(struct region *region) {
  struct vunit *unit = &region->unit;
  const struct vreduce *reduce = region->reduce;
  struct expr sum = unit->reg[T0];
  for (uint64_t lanes = ROWWISE_LANES / 2; lanes >= reduce->cols; lanes /= 2) {
    unit->written = V_ALL;
    vunit_lanes(unit, (unsigned)lanes);
    VROW(unit, V(T0), V(T0), vreduction_inst(reduce->func->reduction), F("dst", sum),
         F("src0", sum), F("src1", x_add(sum, lanes * FLOAT_BYTES)), F("repeat", 1),
         W("type", "fp32"));
  }
}

static void put_store(struct emit *e, enum dtype type, struct expr to, uint64_t from,
                      struct expr count) {
  emit_handshake(e, PIPE_V, PIPE_MTE3, STORE_FLAG);
  EMIT(e, vtile_copy_name(true, type), F("dst", to), F("src", from),
       F("len_burst", x_mul(count, vtile_bytes(type))));
}

/* "tensor + index * elements" in bytes. */
static struct expr at_element(struct emit *e, const char *tensor, struct expr index,
                              uint64_t elements, enum dtype type) {
  return x_add(x_name(e, tensor), x_mul(index, elements * vtile_bytes(type)));
}

static const char *source_of(const struct vreduce *reduce, unsigned number) {
  return number > 0 && reduce->multiplies ? "x1" : reduce->source;
}

/* One kept index, or a segment of it, per turn; the results of a block leave together. */
static struct expr put_fold_units(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  bool by_rows = reduce->rows > 1;
  uint64_t per = units_per_block(reduce), extent = by_rows ? reduce->rows : reduce->cols;
  struct expr rows = EXPR(reduce->rows), cols = EXPR(reduce->cols), first = x_mul(region->blk, per);
  struct expr units =
      emit_named(e, "units", x_max(x_min(per, x_sub(vreduce_units(reduce), first)), 0));
  struct expr u = region->unit_of_block = emit_for(e, "u", units);
  struct expr index = emit_named(e, "unit", x_add(first, u));
  struct expr source[SOURCES];
  for (unsigned i = 0; i < SOURCES; i++)
    source[i] = at_element(e, source_of(reduce, i), x_div(index, reduce->segments),
                           reduce->unit_stride, reduce->type);
  if (reduce->segments > 1) {
    struct expr begin =
        emit_named(e, "begin", x_mul(x_mod(index, reduce->segments), reduce->segment));
    *(by_rows ? &rows : &cols) =
        emit_named(e, "extent", x_min(reduce->segment, x_sub(extent, begin)));
    for (unsigned i = 0; i < SOURCES; i++)
      source[i] = x_add(
          source[i], x_mul(begin, (by_rows ? reduce->row_stride : 1) * vtile_bytes(reduce->type)));
  }
  put_identity(region, ROWWISE_LANES);
  put_region(region, rows, cols, source);
  put_fold(region, x_add(reduce->column, x_mul(u, FLOAT_BYTES)), region->unit.reg[T0], EXPR(1),
           ROWWISE_LANES, 8);
  vunit_rest(&region->unit);
  emit_end(e);
  return units;
}

/* All cores have left their partial results; the first one folds them. */
static void put_last_fold(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  uint64_t segments = reduce->segments, pitch = vtile_pitch(segments, FLOAT_BYTES);
  struct expr outer = EXPR(reduce->outer);
  emit_comment(e, "All cores meet; the first one adds up what they have left in memory.");
  emit_meet(e, SYNC_FLAG);
  emit_if(e, "once", x_eq(region->blk, 0));
  emit_wait(e, PIPE_V, PIPE_MTE2, 0);
  EMIT(e, "copy_gm_to_ubuf_align_b32", F("dst", 0), F("src", x_name(e, reduce->partial)),
       F("n_burst", outer), F("len_burst", segments * FLOAT_BYTES),
       F("right_pad", pitch - segments));
  emit_handshake(e, PIPE_MTE2, PIPE_V, 0);
  /* The column has been stored before the cores met. */
  put_fold(region, region->unit.reg[T1], EXPR(0), outer, (unsigned)segments, pitch / 8);
  put_results(region, outer);
  put_store(e, reduce->result, x_name(e, reduce->target), reduce->out, outer);
  emit_set(e, PIPE_V, PIPE_MTE2, 0);
  emit_end(e);
}

static void put_fold_kernel(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  uint64_t per = units_per_block(reduce);
  bool cut = reduce->segments > 1;
  struct expr units = put_fold_units(region);
  emit_if(e, "any", x_gt(units, 0));
  if (!cut)
    put_results(region, units);
  enum dtype type = cut ? DTYPE_FP32 : reduce->result;
  put_store(e, type, at_element(e, cut ? reduce->partial : reduce->target, region->blk, per, type),
            cut ? reduce->column : reduce->out, units);
  emit_end(e);
  if (cut)
    put_last_fold(region);
}

/* A run of columns per turn, stored at once. */
static void put_column_kernel(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  uint64_t per = units_per_block(reduce), tiles = column_tiles(reduce);
  struct expr begin = x_mul(region->blk, per);
  emit_set(e, PIPE_MTE3, PIPE_V, STORE_FLAG);
  struct expr u = region->unit_of_block =
      emit_for(e, "u", x_min(per, x_sub(vreduce_units(reduce), begin)));
  struct expr index = emit_named(e, "unit", x_add(begin, u));
  struct expr first = emit_assigned(e, "first", x_mul(x_mod(index, tiles), reduce->tile.cols));
  struct expr width = emit_named(e, "width", x_min(reduce->tile.cols, x_sub(reduce->cols, first)));
  struct expr outer = x_div(index, tiles);
  emit_wait(e, PIPE_MTE3, PIPE_V, STORE_FLAG);
  put_identity(region, round_up(reduce->pitch, ROWWISE_LANES));
  struct expr source[SOURCES];
  for (unsigned i = 0; i < SOURCES; i++)
    source[i] = x_add(at_element(e, source_of(reduce, i), outer, reduce->unit_stride, reduce->type),
                      x_mul(first, vtile_bytes(reduce->type)));
  put_region(region, EXPR(reduce->rows), width, source);
  if (reduce->packed > 1)
    put_unpacked(region);
  put_results(region, width);
  put_store(e, reduce->result,
            x_add(at_element(e, reduce->target, outer, reduce->cols, reduce->result),
                  x_mul(first, vtile_bytes(reduce->result))),
            reduce->out, width);
  emit_set(e, PIPE_MTE3, PIPE_V, STORE_FLAG);
  emit_end(e);
  emit_wait(e, PIPE_MTE3, PIPE_V, STORE_FLAG);
}

void vreduce_region_emit(struct emit *e, struct vreduce *reduce) {
  const struct vtile *tile = &reduce->tile;
  struct region region = {
      .e = e, .reduce = reduce, .unit = {.emit = e, .type = DTYPE_FP32}, .blk = x_name(e, "blk")};
  region.unit.reg[T0] = EXPR(reduce->accumulator);
  region.unit.reg[T1] = EXPR(reduce->column);
  if (reduce->converted && tile->rows > 1 && reduce->cols % tile->cols != 0)
    vkernel_clear(e, tile); /* bytes between narrower rows, which are converted with them */
  emit_flags(e, "free", true, PIPE_V, PIPE_MTE2, tile->buffers);
  (reduce->form == VREDUCE_COLUMNS ? put_column_kernel : put_fold_kernel)(&region);
  emit_flags(e, "last", false, PIPE_V, PIPE_MTE2, tile->buffers);
}
