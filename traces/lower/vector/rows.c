/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along rows of a tile, and operations with one number per row or with a row. */
#include "traces/lower/vector/rows.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"

typedef unsigned long long ull;

enum { LANES_BYTES = VROW_LANES * 4, FLOAT_BYTES = 4, FLOATS_PER_BLOCK = BLOCK_BYTES / 4 };

const char *vrow_instruction(enum vrow_reduction reduction) {
  static const char *const names[] = {"vadd", "vmax", "vmin"};
  return names[reduction];
}

double vrow_identity(enum vrow_reduction reduction) {
  static const double values[] = {0, -3.4028234663852886e38, 3.4028234663852886e38};
  return values[reduction];
}

void vrow_all(struct vrows *rows) {
  struct emit *e = rows->machine.emit;
  if (rows->single)
    vmachine_count(&rows->machine, emit_text(e, "%llu", (ull)rows->cols));
  else
    vmachine_count(&rows->machine, emit_text(e, "%s*%llu", rows->rows, (ull)rows->pitch));
}

void vrow_column(struct vrows *rows) { vmachine_count(&rows->machine, rows->rows); }

/* 64 lanes of each repeat into one number, repeat by repeat. */
static void put_fold(struct vrows *rows, enum vrow_reduction reduction, const char *column,
                     const char *from, uint64_t stride_blocks) {
  static const char *const names[] = {"vcadd", "vcmax", "vcmin"};
  emit_row(rows->machine.emit, "%s,dst=%s,src=%s,repeat=%s,src_repeat=%llu%s,type=fp32",
           names[reduction], column, from, rows->rows, (ull)stride_blocks,
           reduction == VROW_SUM ? "" : ",order=value");
}

static void reduce_single(struct vrows *rows, enum vrow_reduction reduction, unsigned column_reg,
                          const char *column, unsigned tile_reg, const char *tile) {
  struct emit *e = rows->machine.emit;
  const char *acc = emit_text(e, "%llu", (ull)rows->accumulator);
  vmachine_lanes(&rows->machine, VROW_LANES);
  vmachine_order(&rows->machine, 0, 1u << VROW_ACCUMULATOR);
  emit_row(e, "vector_dup,dst=%s,scalar=%lld,repeat=1,type=fp32", acc,
           vscalar_bits(DTYPE_FP32, vrow_identity(reduction)));
  vrow_all(rows);
  vmachine_order(&rows->machine, 1u << tile_reg | 1u << VROW_ACCUMULATOR, 1u << VROW_ACCUMULATOR);
  emit_row(e, "%s,dst=%s,src0=%s,src1=%s,repeat=1,dst_repeat=0,src0_repeat=0,type=fp32",
           vrow_instruction(reduction), acc, acc, tile);
  vmachine_lanes(&rows->machine, VROW_LANES);
  vmachine_order(&rows->machine, 1u << VROW_ACCUMULATOR, 1u << column_reg);
  put_fold(rows, reduction, column, acc, FLOATS_PER_BLOCK);
}

/* accumulator op= lanes of the tile that begin at a byte of each row. */
static void put_accumulate(struct vrows *rows, enum vrow_reduction reduction, const char *first,
                           bool first_in_tile, const char *second, unsigned tile_reg) {
  struct emit *e = rows->machine.emit;
  ull stride = rows->pitch / FLOATS_PER_BLOCK;
  vmachine_order(&rows->machine, 1u << tile_reg | 1u << VROW_ACCUMULATOR, 1u << VROW_ACCUMULATOR);
  emit_row(e, "%s,dst=%llu,src0=%s,src1=%s,repeat=%s,src0_repeat=%llu,src1_repeat=%llu,type=fp32",
           vrow_instruction(reduction), (ull)rows->accumulator, first, second, rows->rows,
           first_in_tile ? stride : (ull)FLOATS_PER_BLOCK, stride);
}

static void reduce_many(struct vrows *rows, enum vrow_reduction reduction, unsigned column_reg,
                        const char *column, unsigned tile_reg, const char *tile) {
  struct emit *e = rows->machine.emit;
  uint64_t whole = rows->cols / VROW_LANES, rest = rows->cols % VROW_LANES;
  ull stride = rows->pitch / FLOATS_PER_BLOCK;
  const char *acc = emit_text(e, "%llu", (ull)rows->accumulator);
  if (whole + (rest > 0) == 1) {
    vmachine_lanes(&rows->machine, (unsigned)(whole ? VROW_LANES : rest));
    vmachine_order(&rows->machine, 1u << tile_reg, 1u << column_reg);
    put_fold(rows, reduction, column, tile, stride);
    return;
  }
  vmachine_lanes(&rows->machine, VROW_LANES);
  if (whole == 1) {
    vmachine_order(&rows->machine, 1u << tile_reg, 1u << VROW_ACCUMULATOR);
    emit_row(e, "vcopy,dst=%s,src=%s,repeat=%s,src_repeat=%llu,type=uint32", acc, tile, rows->rows,
             stride);
  } else {
    put_accumulate(rows, reduction, tile, true, emit_text(e, "%s+%d", tile, LANES_BYTES), tile_reg);
  }
  if (whole > 2) {
    const char *lane = emit_text(e, "part%u", rows->loops++);
    emit_loop(e, lane, "%llu", (ull)(whole - 2));
    put_accumulate(rows, reduction, acc, false,
                   emit_text(e, "%s+%d+%s*%d", tile, 2 * LANES_BYTES, lane, LANES_BYTES), tile_reg);
    emit_endloop(e);
  }
  if (rest > 0) {
    vmachine_lanes(&rows->machine, (unsigned)rest);
    put_accumulate(rows, reduction, acc, false,
                   emit_text(e, "%s+%llu", tile, (ull)(whole * LANES_BYTES)), tile_reg);
    vmachine_lanes(&rows->machine, VROW_LANES);
  }
  vmachine_order(&rows->machine, 1u << VROW_ACCUMULATOR, 1u << column_reg);
  put_fold(rows, reduction, column, acc, FLOATS_PER_BLOCK);
}

void vrow_reduce(struct vrows *rows, enum vrow_reduction reduction, unsigned column_reg,
                 const char *column, unsigned tile_reg, const char *tile) {
  if (rows->single)
    reduce_single(rows, reduction, column_reg, column, tile_reg, tile);
  else
    reduce_many(rows, reduction, column_reg, column, tile_reg, tile);
}

void vrow_spread(struct vrows *rows, unsigned column_reg, const char *column) {
  struct emit *e = rows->machine.emit;
  vmachine_order(&rows->machine, 1u << column_reg, 1u << VROW_BLOCKS);
  const char *repeats = rows->single ? "1" : emit_text(e, "(%s+7)/8", rows->rows);
  vmachine_count(&rows->machine, rows->rows);
  emit_row(e, "vbrcb,dst=%llu,src=%s,repeat=%s,type=uint32", (ull)rows->blocks, column, repeats);
}

/* dst = src op second, over columns of lanes; second moves with the columns when it is a row. */
static void put_columns(struct vrows *rows, const char *inst, const char *dst, const char *src,
                        const char *second, bool is_row) {
  struct emit *e = rows->machine.emit;
  /* With the padding of rows, which is as good as any number. */
  uint64_t whole = rows->pitch / VROW_LANES, rest = rows->pitch % VROW_LANES;
  ull stride = rows->pitch / FLOATS_PER_BLOCK;
  const char *strides =
      emit_text(e, "repeat=%s,dst_repeat=%llu,src0_repeat=%llu%s,type=fp32", rows->rows, stride,
                stride, is_row ? ",src1_repeat=0" : ",src1_block=0,src1_repeat=1");
  if (whole > 0) {
    const char *lane = emit_text(e, "part%u", rows->loops++), *step = "";
    vmachine_lanes(&rows->machine, VROW_LANES);
    if (whole > 1) {
      emit_loop(e, lane, "%llu", (ull)whole);
      step = emit_text(e, "+%s*%d", lane, LANES_BYTES);
    }
    emit_row(e, "%s,dst=%s%s,src0=%s%s,src1=%s%s,%s", inst, dst, step, src, step, second,
             is_row ? step : "", strides);
    if (whole > 1)
      emit_endloop(e);
  }
  if (rest > 0) {
    const char *step = emit_text(e, "+%llu", (ull)(whole * LANES_BYTES));
    vmachine_lanes(&rows->machine, (unsigned)rest);
    emit_row(e, "%s,dst=%s%s,src0=%s%s,src1=%s%s,%s", inst, dst, step, src, step, second,
             is_row ? step : "", strides);
  }
}

void vrow_with_column(struct vrows *rows, const char *inst, unsigned dst_reg, const char *dst,
                      unsigned src_reg, const char *src) {
  struct emit *e = rows->machine.emit;
  const char *blocks = emit_text(e, "%llu", (ull)rows->blocks);
  vmachine_order(&rows->machine, 1u << src_reg | 1u << VROW_BLOCKS, 1u << dst_reg);
  if (!rows->single) {
    put_columns(rows, inst, dst, src, blocks, false);
    return;
  }
  vrow_all(rows);
  emit_row(e, "%s,dst=%s,src0=%s,src1=%s,repeat=1,src1_block=0,src1_repeat=0,type=fp32", inst, dst,
           src, blocks);
}

void vrow_with_row(struct vrows *rows, const char *inst, unsigned dst_reg, const char *dst,
                   unsigned src_reg, const char *src, unsigned row_reg, const char *row) {
  vmachine_order(&rows->machine, 1u << src_reg | 1u << row_reg, 1u << dst_reg);
  if (!rows->single) {
    put_columns(rows, inst, dst, src, row, true);
    return;
  }
  vrow_all(rows);
  emit_row(rows->machine.emit, "%s,dst=%s,src0=%s,src1=%s,repeat=1,type=fp32", inst, dst, src, row);
}
