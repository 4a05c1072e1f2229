/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along rows of a tile, and operations with one number per row or with a row. */
#include "lower/vector/rows/rowwise.h"

#include <stdio.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/vector/reduce/fold.h"

enum { FLOATS_PER_BLOCK = BLOCK_BYTES / (int)sizeof(float) };
enum { ROW_GROUP = 8, READ_FLAG = 0 };
enum { LANES_BYTES = ROWWISE_LANES * (int)sizeof(float) };

uint64_t rowwise_rows_max(const struct vtile *tile, uint64_t pitch) {
  return pitch > ROWWISE_PITCH_MAX ? 1 : min_u64(tile->space.rows, ROWWISE_ROWS_MAX);
}

bool rowwise_walks(struct lower_job *job, const struct vtile *tile, uint64_t pitch) {
  if (tile->rows > 1 && (pitch > ROWWISE_PITCH_MAX || tile->rows > ROWWISE_ROWS_MAX))
    return lower_refuse(job, "tiles of more than one row have at most %d rows of %d columns",
                        ROWWISE_ROWS_MAX, ROWWISE_PITCH_MAX);
  return true;
}

struct rowwise rowwise_of(struct emit *e, const struct vtile *tile, uint64_t pitch) {
  bool single = tile->rows == 1;
  return (struct rowwise){.unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL},
                          .n_rows = tile->n_rows,
                          .single = EXPR(single ? tile->space.cols : 0),
                          .cols = tile->space.cols,
                          .pitch = pitch};
}

static bool is_single(const struct rowwise *rows) { return !x_is(rows->single, 0); }

void rowwise_all(struct rowwise *rows) {
  vunit_count(&rows->unit, is_single(rows) ? rows->single : x_mul(rows->n_rows, rows->pitch));
}

void rowwise_column(struct rowwise *rows) { vunit_count(&rows->unit, rows->n_rows); }

/* ---- reductions ----------------------------------------------------------------------------- */

void vunit_fold(struct vunit *unit, uint32_t reads, uint32_t writes, enum vreduction reduction,
                struct expr dst, struct expr src, struct expr repeats, uint64_t stride) {
  static const char *const names[] = {"vcadd", "vcmax", "vcmin"};
  if (reduction != V_SUM && !(isa_dtypes(OP_VCMAX, unit->emit->soc->arch) >> DTYPE_FP32 & 1)) {
    vunit_order(unit, reads, writes);
    vfold_by_turns(unit, reduction, &(struct vfold){dst, src, repeats, stride});
    return;
  }
  VROW(unit, reads, writes, names[reduction], F("dst", dst), F("src", src), F("repeat", repeats),
       F("src_repeat", stride), W_IF(reduction != V_SUM, "order", "value"), W("type", "fp32"));
}

static void put_fold(struct rowwise *rows, const struct vstep *step, unsigned src,
                     uint64_t stride) {
  struct vunit *unit = &rows->unit;
  vunit_fold(unit, V(src), V(step->dst), step->reduction, unit->reg[step->dst], unit->reg[src],
             rows->n_rows, stride);
}

void rowwise_clear(struct rowwise *rows, enum vreduction reduction) {
  struct vunit *unit = &rows->unit;
  vunit_lanes(unit, ROWWISE_LANES);
  VROW(unit, 0, V(V_ACCUMULATOR), "vector_dup", F("dst", unit->reg[V_ACCUMULATOR]),
       F("scalar", vscalar(DTYPE_FP32, vreduction_identity(reduction))), F("repeat", 1),
       W("type", "fp32"));
}

void rowwise_accumulate(struct rowwise *rows, enum vreduction reduction, unsigned src) {
  struct vunit *unit = &rows->unit;
  struct expr sum = unit->reg[V_ACCUMULATOR];
  rowwise_all(rows);
  VROW(unit, V(src) | V(V_ACCUMULATOR), V(V_ACCUMULATOR), vreduction_inst(reduction), F("dst", sum),
       F("src0", sum), F("src1", unit->reg[src]), F("repeat", 1), F("dst_repeat", 0),
       F("src0_repeat", 0), W("type", "fp32"));
}

static void reduce_single(struct rowwise *rows, const struct vstep *step) {
  rowwise_clear(rows, step->reduction);
  rowwise_accumulate(rows, step->reduction, step->a);
  vunit_lanes(&rows->unit, ROWWISE_LANES);
  put_fold(rows, step, V_ACCUMULATOR, FLOATS_PER_BLOCK);
}

/* accumulator = first op lanes of the tile; the first is the accumulator or in the tile too. */
static void put_lanes(struct rowwise *rows, const struct vstep *step, struct expr first,
                      bool in_tile, struct expr second) {
  struct vunit *unit = &rows->unit;
  uint64_t stride = rows->pitch / FLOATS_PER_BLOCK;
  VROW(unit, V(step->a) | V(V_ACCUMULATOR), V(V_ACCUMULATOR), vreduction_inst(step->reduction),
       F("dst", unit->reg[V_ACCUMULATOR]), F("src0", first), F("src1", second),
       F("repeat", rows->n_rows), F("src0_repeat", in_tile ? stride : (uint64_t)FLOATS_PER_BLOCK),
       F("src1_repeat", stride), W("type", "fp32"));
}

/* A loop over columns of lanes: the byte of a row at which they begin. */
static struct expr open_lanes(struct rowwise *rows, uint64_t count) {
  char name[16];
  snprintf(name, sizeof name, "part%u", rows->loops++);
  return x_mul(emit_for(rows->unit.emit, name, count), LANES_BYTES);
}

/* Lane sums that begin with zeros: an addition for every 64 columns. */
static void sum_from_zero(struct rowwise *rows, const struct vstep *step) {
  struct vunit *unit = &rows->unit;
  uint64_t whole = rows->cols / ROWWISE_LANES, rest = rows->cols % ROWWISE_LANES;
  struct expr sum = unit->reg[V_ACCUMULATOR], tile = unit->reg[step->a];
  vunit_count(unit, x_mul(rows->n_rows, ROWWISE_LANES));
  VROW(unit, 0, V(V_ACCUMULATOR), "vector_dup", F("dst", sum), F("scalar", 0), F("repeat", 1),
       W("type", "fp32"));
  for (uint64_t part = 0; part < whole; part++) {
    vunit_lanes(unit, ROWWISE_LANES);
    put_lanes(rows, step, sum, false, x_add(tile, part * LANES_BYTES));
  }
  if (rest > 0) {
    vunit_lanes(unit, (unsigned)rest);
    put_lanes(rows, step, sum, false, x_add(tile, whole * LANES_BYTES));
    vunit_lanes(unit, ROWWISE_LANES);
  }
  put_fold(rows, step, V_ACCUMULATOR, FLOATS_PER_BLOCK);
}

static void reduce_many(struct rowwise *rows, const struct vstep *step) {
  struct vunit *unit = &rows->unit;
  uint64_t whole = rows->cols / ROWWISE_LANES, rest = rows->cols % ROWWISE_LANES;
  uint64_t stride = rows->pitch / FLOATS_PER_BLOCK;
  struct expr sum = unit->reg[V_ACCUMULATOR], tile = unit->reg[step->a];
  if (step->from_zero) {
    sum_from_zero(rows, step);
    return;
  }
  if (whole + (rest > 0) == 1) {
    vunit_lanes(unit, (unsigned)(whole ? ROWWISE_LANES : rest));
    put_fold(rows, step, step->a, stride);
    return;
  }
  vunit_lanes(unit, ROWWISE_LANES);
  if (whole == 1)
    VROW(unit, V(step->a), V(V_ACCUMULATOR), "vcopy", F("dst", sum), F("src", tile),
         F("repeat", rows->n_rows), F("src_repeat", stride), W("type", "uint32"));
  else
    put_lanes(rows, step, tile, true, x_add(tile, LANES_BYTES));
  if (whole > 2) {
    struct expr at = open_lanes(rows, whole - 2);
    put_lanes(rows, step, sum, false, x_add(x_add(tile, 2 * LANES_BYTES), at));
    emit_end(unit->emit);
  }
  if (rest > 0) {
    vunit_lanes(unit, (unsigned)rest);
    put_lanes(rows, step, sum, false, x_add(tile, whole * LANES_BYTES));
    vunit_lanes(unit, ROWWISE_LANES);
  }
  put_fold(rows, step, V_ACCUMULATOR, FLOATS_PER_BLOCK);
}

/* ---- with a column, with a row --------------------------------------------------------------- */

static void put_spread(struct rowwise *rows, const struct vstep *step) {
  struct vunit *unit = &rows->unit;
  vunit_order(unit, V(step->a), V(V_BLOCKS));
  rowwise_column(rows);
  EMIT(unit->emit, "vbrcb", F("dst", unit->reg[V_BLOCKS]), F("src", unit->reg[step->a]),
       F("repeat", is_single(rows) ? EXPR(1) : x_ceil_div(rows->n_rows, FLOATS_PER_BLOCK)),
       W("type", "uint32"));
}

/* The block of each row over its columns: one instruction goes down all rows, for all 64 columns.
 */
static void put_tile_column(struct rowwise *rows, const struct vstep *step) {
  struct vunit *unit = &rows->unit;
  uint64_t pitch = rows->pitch, stride = pitch / FLOATS_PER_BLOCK;
  vunit_order(unit, V(V_BLOCKS), V(step->dst));
  if (is_single(rows)) {
    rowwise_all(rows);
    EMIT(unit->emit, "vcopy", F("dst", unit->reg[step->dst]), F("src", unit->reg[V_BLOCKS]),
         F("repeat", 1), F("src_block", 0), F("src_repeat", 0), W("type", "uint32"));
    return;
  }
  for (uint64_t col = 0; col < pitch; col += ROWWISE_LANES) {
    vunit_lanes(unit, (unsigned)min_u64(ROWWISE_LANES, pitch - col));
    EMIT(unit->emit, "vcopy", F("dst", x_add(unit->reg[step->dst], col * sizeof(float))),
         F("src", unit->reg[V_BLOCKS]), F("repeat", rows->n_rows), F("src_block", 0),
         F("dst_repeat", stride), F("src_repeat", 1), W("type", "uint32"));
  }
}

/* One block of the row after the other, to the same place of as many rows as the mask has blocks.
 */
static void put_row_blocks(struct rowwise *rows, const struct vstep *step, struct expr first_row) {
  struct expr row = rows->unit.reg[step->a];
  uint64_t stride = rows->pitch / FLOATS_PER_BLOCK;
  EMIT(rows->unit.emit, "vor",
       F("dst", x_add(rows->unit.reg[step->dst], x_mul(first_row, rows->pitch * sizeof(float)))),
       F("src0", row), F("src1", row), F("repeat", stride), F("dst_block", stride),
       F("src0_block", 0), F("src1_block", 0), F("dst_repeat", 1), F("src0_repeat", 1),
       F("src1_repeat", 1), W("type", "uint16"));
}

/* Rows 8 at a time, then those that are left (BroadCast of the first dimension in Ascend C). */
static void put_tile_row(struct rowwise *rows, const struct vstep *step) {
  const unsigned block_lanes = BLOCK_BYTES / 2;
  struct vunit *unit = &rows->unit;
  vunit_order(unit, V(step->a), V(step->dst));
  if (is_single(rows)) {
    rowwise_all(rows);
    EMIT(unit->emit, "vcopy", F("dst", unit->reg[step->dst]), F("src", unit->reg[step->a]),
         F("repeat", 1), W("type", "uint32"));
    return;
  }
  vunit_lanes(unit, ROW_GROUP * block_lanes);
  struct expr group = emit_for(unit->emit, "group", x_div(rows->n_rows, ROW_GROUP));
  put_row_blocks(rows, step, x_mul(group, ROW_GROUP));
  emit_end(unit->emit);
  vunit_lanes(unit, block_lanes);
  struct expr rest = x_mod(rows->n_rows, ROW_GROUP);
  struct expr row = emit_for(unit->emit, "left", rest);
  put_row_blocks(rows, step, x_add(x_sub(rows->n_rows, rest), row));
  emit_end(unit->emit);
}

/* dst = a op second on lanes from a byte of each row on; a row moves with the lanes. */
static void put_columns(struct rowwise *rows, const struct vstep *step, struct expr at) {
  struct vunit *unit = &rows->unit;
  bool column = step->form == VFORM_WITH_COLUMN;
  uint64_t stride = rows->pitch / FLOATS_PER_BLOCK;
  struct expr second = column ? unit->reg[V_BLOCKS] : x_add(unit->reg[step->b], at);
  EMIT(unit->emit, step->inst, F("dst", x_add(unit->reg[step->dst], at)),
       F("src0", x_add(unit->reg[step->a], at)), F("src1", second), F("repeat", rows->n_rows),
       F("dst_repeat", stride), F("src0_repeat", stride), F_IF(column, "src1_block", 0),
       F("src1_repeat", column), W("type", "fp32"));
}

static void put_with(struct rowwise *rows, const struct vstep *step) {
  struct vunit *unit = &rows->unit;
  bool column = step->form == VFORM_WITH_COLUMN;
  vunit_order(unit, V(step->a) | (column ? V(V_BLOCKS) : V(step->b)), V(step->dst));
  if (is_single(rows)) {
    rowwise_all(rows);
    EMIT(unit->emit, step->inst, F("dst", unit->reg[step->dst]), F("src0", unit->reg[step->a]),
         F("src1", unit->reg[column ? V_BLOCKS : step->b]), F("repeat", 1),
         F_IF(column, "src1_block", 0), F_IF(column, "src1_repeat", 0), W("type", "fp32"));
    return;
  }
  /* With the padding of rows, whose results nobody reads. */
  uint64_t whole = rows->pitch / ROWWISE_LANES, rest = rows->pitch % ROWWISE_LANES;
  if (whole > 0) {
    vunit_lanes(unit, ROWWISE_LANES);
    put_columns(rows, step, whole > 1 ? open_lanes(rows, whole) : EXPR(0));
    if (whole > 1)
      emit_end(unit->emit);
    else
      rows->loops++; /* names of counters do not depend on the length of rows */
  }
  if (rest > 0) {
    vunit_lanes(unit, (unsigned)rest);
    put_columns(rows, step, EXPR(whole * LANES_BYTES));
  }
}

/* Row after row, as each sum waits for the one before. */
static void put_add_rows(struct rowwise *rows, const struct vstep *step) {
  struct vunit *unit = &rows->unit;
  struct expr sum = unit->reg[step->dst];
  vunit_count(unit, is_single(rows) ? rows->cols : rows->pitch);
  vunit_order(unit, V(step->a) | V(step->dst), V(step->dst));
  struct expr line = emit_for(unit->emit, "line", is_single(rows) ? EXPR(1) : rows->n_rows);
  EMIT(unit->emit, "vadd", F("dst", sum), F("src0", sum),
       F("src1", x_add(unit->reg[step->a], x_mul(line, rows->pitch * sizeof(float)))),
       F("repeat", 1), W("type", "fp32"));
  emit_barrier(unit->emit, PIPE_V);
  emit_end(unit->emit);
}

void rowwise_step(struct rowwise *rows, const struct vstep *step) {
  switch (step->form) {
  case VFORM_REDUCE:
    (is_single(rows) ? reduce_single : reduce_many)(rows, step);
    break;
  case VFORM_READ:
    emit_handshake(rows->unit.emit, PIPE_V, PIPE_S, EXPR(READ_FLAG));
    emit_handshake(rows->unit.emit, PIPE_S, PIPE_V, EXPR(READ_FLAG));
    rows->unit.written = rows->unit.read = 0;
    break;
  case VFORM_SPREAD:
    put_spread(rows, step);
    break;
  case VFORM_TILE_COLUMN:
    put_tile_column(rows, step);
    break;
  case VFORM_TILE_ROW:
    put_tile_row(rows, step);
    break;
  case VFORM_WITH_COLUMN:
  case VFORM_WITH_ROW:
    put_with(rows, step);
    break;
  case VFORM_ADD_ROWS:
    put_add_rows(rows, step);
    break;
  default:
    (step->column ? rowwise_column : rowwise_all)(rows);
    vunit_step(&rows->unit, step);
    break;
  }
}

void rowwise_steps(struct rowwise *rows, const struct vstep *steps) {
  for (const struct vstep *step = steps; step->form != VFORM_END; step++)
    rowwise_step(rows, step);
}
