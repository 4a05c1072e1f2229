/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of large regions: folded into 64 lanes, or row by row into columns. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/vector/reduce.h"

typedef unsigned long long ull;

enum {
  FLOAT_BYTES = 4,
  LANES_BYTES = VROW_LANES * 4,
  TILE_BYTES = 32768,     /* of x in single precision: large enough for the full rate of copies */
  ONE_CORE_BYTES = 16384, /* not worth the meeting of all cores */
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
  if (reduce->form != VREDUCE_FOLD || reduce->outer >= cores || reduce->tile.blocks < cores ||
      elements * FLOAT_BYTES <= ONE_CORE_BYTES)
    return;
  uint64_t unit = by_rows ? 1 : VROW_LANES;
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
    tile->cols =
        min_u64(ceil_div(share, VROW_LANES) * VROW_LANES, VROW_PITCH_MAX / VROW_LANES * VROW_LANES);
    tile->cols = min_u64(tile->cols, reduce->cols);
  } else {
    tile->cols =
        min_u64(reduce->cols, reduce->rows > 1 ? VROW_PITCH_MAX / VROW_LANES * VROW_LANES : floats);
  }
  tile->rows = max_u64(1, min_u64(min_u64(reduce->rows, VROWS_MAX), floats / tile->cols));
  set_segments(reduce);
  uint64_t units = vreduce_units(reduce);
  if (reduce->segments == 1)
    tile->blocks = ceil_div(units, ceil_div(units, min_u64(units, cores)));
}

void vreduce_region_lay_out(struct vreduce *reduce) {
  struct vtile *tile = &reduce->tile;
  uint64_t bytes = vtile_bytes(reduce->type);
  bool converts = reduce->type != DTYPE_FP32;
  set_segments(reduce);
  reduce->pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  reduce->slot_bytes = vtile_align(tile->rows * reduce->pitch * bytes);
  tile->slot_bytes = reduce->slot_bytes;
  uint64_t used = reduce->slot_bytes * tile->buffers;
  reduce->converted = converts || reduce->squares
                          ? vtile_reserve(&used, tile->rows * reduce->pitch * FLOAT_BYTES)
                          : 0;
  bool keeps = reduce->form == VREDUCE_COLUMNS;
  reduce->accumulator = vtile_reserve(
      &used, keeps ? ceil_div(reduce->pitch, VROW_LANES) * LANES_BYTES : (uint64_t)LANES_BYTES);
  uint64_t results = keeps ? reduce->pitch : max_u64(units_per_block(reduce), reduce->outer) + 8;
  reduce->column = keeps ? reduce->accumulator : vtile_reserve(&used, results * FLOAT_BYTES);
  reduce->out = vreduce_narrows(reduce)
                    ? vtile_reserve(&used, results * vtile_bytes(reduce->result))
                    : reduce->column;
  reduce->ub_bytes = used;
}

/* ---- one tile of a region -------------------------------------------------------------------- */

struct region {
  struct emit *e;
  struct vreduce *reduce;
  struct vmachine machine;
  const char *x; /* where the tile is, in single precision */
};

static void put_prepared(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  const struct vtile *tile = &reduce->tile;
  struct vmachine *machine = &region->machine;
  const char *converted = emit_text(e, "%llu", (ull)reduce->converted);
  region->x = tile->slot_text;
  if (reduce->type == DTYPE_FP32 && !reduce->squares)
    return;
  vmachine_count(machine, tile->rows > 1
                              ? emit_text(e, "%s*%llu", tile->rows_text, (ull)reduce->pitch)
                              : tile->cols_text);
  if (reduce->type != DTYPE_FP32) {
    vmachine_order(machine, 0, 1u << X0);
    emit_row(e, "%s,dst=%s,src=%s,repeat=1", vconvert_inst(e->soc, reduce->type, DTYPE_FP32),
             converted, region->x);
    region->x = converted;
  }
  if (reduce->squares) {
    vmachine_order(machine, 1u << X0, 1u << X0);
    emit_row(e, "vmul,dst=%s,src0=%s,src1=%s,repeat=1,type=fp32", converted, region->x, region->x);
    region->x = converted;
  }
}

/* Down all rows of 64 columns, or of the lanes of the last ones. */
static void put_lanes(struct region *region, const char *dst, const char *src, unsigned lanes) {
  struct vmachine *machine = &region->machine;
  vmachine_lanes(machine, lanes);
  vmachine_order(machine, 1u << X0 | 1u << T0, 1u << T0);
  emit_row(region->e,
           "%s,dst=%s,src0=%s,src1=%s,repeat=%s,dst_repeat=0,src0_repeat=0,src1_repeat=%llu,"
           "type=fp32",
           vrow_instruction(region->reduce->func->reduction), dst, dst, src,
           region->reduce->tile.rows_text, (ull)region->reduce->pitch / 8);
}

static void put_accumulate(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  const struct vtile *tile = &reduce->tile;
  bool keeps = reduce->form == VREDUCE_COLUMNS;
  const char *acc = emit_text(e, "%llu", (ull)reduce->accumulator);
  if (tile->rows == 1 && !keeps) {
    vmachine_count(&region->machine, tile->cols_text);
    vmachine_order(&region->machine, 1u << X0 | 1u << T0, 1u << T0);
    emit_row(e, "%s,dst=%s,src0=%s,src1=%s,repeat=1,dst_repeat=0,src0_repeat=0,type=fp32",
             vrow_instruction(reduce->func->reduction), acc, acc, region->x);
    return;
  }
  /* Outside of the loops, which may not turn at all. */
  vmachine_lanes(&region->machine, VROW_LANES);
  emit_loop(e, "part", "%s/%d", tile->cols_text, VROW_LANES);
  put_lanes(region, keeps ? emit_text(e, "%s+part*%d", acc, LANES_BYTES) : acc,
            emit_text(e, "%s+part*%d", region->x, LANES_BYTES), VROW_LANES);
  emit_endloop(e);
  uint64_t rest = reduce->cols % VROW_LANES;
  if (rest == 0)
    return;
  /* The lanes that are left are those of the last columns alone. */
  uint64_t in_last = (reduce->cols - 1) % tile->cols + 1, at = in_last / VROW_LANES * LANES_BYTES;
  emit_loop(e, "tail", "%s%%%d>0", tile->cols_text, VROW_LANES);
  vmachine_lanes(&region->machine, (unsigned)rest);
  put_lanes(region, keeps ? emit_text(e, "%s+%llu", acc, (ull)at) : acc,
            emit_text(e, "%s+%llu", region->x, (ull)at), (unsigned)rest);
  emit_endloop(e);
  region->machine.mask = NULL;
}

/* "min(tile,all-start)" of a variable extent. */
static const char *part_of(struct emit *e, const char *name, uint64_t tile, const char *all,
                           const char *start) {
  emit_let(e, name, "min(%llu,%s-%s)", (ull)tile, all, start);
  return name;
}

/* The loops over the tiles of a region, whose extents and start are names. */
static void put_region(struct region *region, const char *rows, const char *cols,
                       const char *source) {
  struct emit *e = region->e;
  struct vreduce *reduce = region->reduce;
  struct vtile *tile = &reduce->tile;
  bool keeps = reduce->form == VREDUCE_COLUMNS;
  struct vtile_operand x = {.name = source,
                            .dtype = reduce->type,
                            .row_stride = reduce->row_stride,
                            .col_stride = 1,
                            .pitch = reduce->pitch};
  uint64_t row_turns = ceil_div(reduce->rows, tile->rows);
  uint64_t col_turns = keeps ? 1 : ceil_div(reduce->cols, tile->cols);
  struct vtile here = *tile;
  here.space = (struct vtile_space){.rows = 2 * tile->rows, .cols = 2 * tile->cols};
  here.row_tiles = here.col_tiles = 2; /* no tile is a whole region */
  emit_loop(e, "ri", "(%s+%llu)/%llu", rows, (ull)(tile->rows - 1), (ull)tile->rows);
  emit_let(e, "row", "ri*%llu", (ull)tile->rows);
  emit_loop(e, "ci", "(%s+%llu)/%llu", cols, (ull)(tile->cols - 1), (ull)tile->cols);
  emit_let(e, "col", "ci*%llu", (ull)tile->cols);
  here.row_text = "row";
  here.col_text = "col";
  here.rows_text = tile->rows == 1 ? "1" : part_of(e, "rows", tile->rows, rows, "row");
  here.cols_text = part_of(e, "cols", tile->cols, cols, "col");
  here.slot_text = "0";
  const char *id = "0";
  if (tile->buffers > 1) {
    emit_let(e, "half", "(u*%llu+ri*%llu+ci)%%2", (ull)(row_turns * col_turns), (ull)col_turns);
    here.slot_text = emit_text(e, "half*%llu", (ull)tile->slot_bytes);
    id = "half";
  }
  here.row = x_name(e, here.row_text);
  here.col = x_name(e, here.col_text);
  here.n_rows = tile->rows == 1 ? EXPR(1) : x_name(e, here.rows_text);
  here.n_cols = x_name(e, here.cols_text);
  here.slot = x_name(e, here.slot_text);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "%s", id);
  vtile_load(e, &here, &x);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "%s", id);
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "%s", id);
  tile->rows_text = here.rows_text;
  tile->cols_text = here.cols_text;
  tile->slot_text = here.slot_text;
  region->machine.mask = NULL;
  region->machine.written = (1u << VREGS) - 1;
  put_prepared(region);
  put_accumulate(region);
  vmachine_rest(&region->machine);
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "%s", id);
  emit_endloop(e);
  emit_endloop(e);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void put_identity(struct region *region, const char *count) {
  struct vmachine *machine = &region->machine;
  machine->written = (1u << VREGS) - 1;
  vmachine_count(machine, count);
  vmachine_order(machine, 0, 1u << T0);
  emit_row(region->e, "vector_dup,dst=%llu,scalar=%lld,repeat=1,type=fp32",
           (ull)region->reduce->accumulator,
           vscalar_bits(DTYPE_FP32, vrow_identity(region->reduce->func->reduction)));
}

/* 64 lanes, or fewer, of each repeat into one number. */
static void put_fold(struct region *region, const char *dst, const char *src, const char *repeats,
                     unsigned lanes, uint64_t stride) {
  static const char *const names[] = {"vcadd", "vcmax", "vcmin"};
  enum vrow_reduction reduction = region->reduce->func->reduction;
  vmachine_lanes(&region->machine, lanes);
  vmachine_order(&region->machine, 1u << T0, 1u << T1);
  emit_row(region->e, "%s,dst=%s,src=%s,repeat=%s,src_repeat=%llu%s,type=fp32", names[reduction],
           dst, src, repeats, (ull)stride, reduction == VROW_SUM ? "" : ",order=value");
}

/* Sums become means and norms, in their type: ready to be stored. */
static void put_results(struct region *region, const char *count) {
  struct vmachine *machine = &region->machine;
  const struct vreduce *reduce = region->reduce;
  struct emit *e = region->e;
  const char *column = emit_text(e, "%llu", (ull)reduce->column);
  vmachine_count(machine, count);
  machine->written = (1u << VREGS) - 1;
  machine->reg[T1] = column;
  if (reduce->averages)
    vmachine_step(machine, &(struct vstep)S("vmuls", T1, T1, 1.0 / (double)reduce->count));
  if (reduce->roots)
    vmachine_step(machine, &(struct vstep)U("vsqrt", T1, T1));
  if (reduce->out != reduce->column) {
    vmachine_order(machine, 1u << T1, 0);
    emit_row(e, "%s,dst=%llu,src=%s,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, reduce->result),
             (ull)reduce->out, column);
  }
  vmachine_rest(machine);
}

static void put_store(struct emit *e, enum dtype type, const char *to, uint64_t from,
                      const char *count) {
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "%d", STORE_FLAG);
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "%d", STORE_FLAG);
  emit_row(e, "%s,dst=%s,src=%llu,len_burst=(%s)*%u", vtile_copy_name(true, type), to, (ull)from,
           count, vtile_bytes(type));
}

/* One kept index, or a segment of it, per turn; the results of a block leave together. */
static void put_fold_units(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  bool by_rows = reduce->rows > 1;
  ull segments = reduce->segments, per = units_per_block(reduce),
      extent = by_rows ? reduce->rows : reduce->cols;
  const char *rows = emit_text(e, "%llu", (ull)reduce->rows);
  const char *cols = emit_text(e, "%llu", (ull)reduce->cols), *source;
  emit_let(e, "units", "max(min(%llu,%llu-blk*%llu),0)", per, (ull)vreduce_units(reduce), per);
  emit_loop(e, "u", "units");
  emit_let(e, "unit", "blk*%llu+u", per);
  source = emit_text(e, "%s+unit/%llu*%llu", reduce->source, segments,
                     (ull)reduce->unit_stride * vtile_bytes(reduce->type));
  if (segments > 1) {
    emit_let(e, "begin", "unit%%%llu*%llu", segments, (ull)reduce->segment);
    emit_let(e, "extent", "min(%llu,%llu-begin)", (ull)reduce->segment, extent);
    rows = by_rows ? "extent" : rows;
    cols = by_rows ? cols : "extent";
    source = emit_text(e, "%s+begin*%llu", source,
                       (ull)(by_rows ? reduce->row_stride : 1) * vtile_bytes(reduce->type));
  }
  put_identity(region, emit_text(e, "%d", VROW_LANES));
  put_region(region, rows, cols, source);
  region->machine.written = (1u << VREGS) - 1;
  put_fold(region, emit_text(e, "%llu+u*%d", (ull)reduce->column, FLOAT_BYTES),
           emit_text(e, "%llu", (ull)reduce->accumulator), "1", VROW_LANES, 8);
  vmachine_rest(&region->machine);
  emit_endloop(e);
}

/* All cores have left their partial results; the first one folds them. */
static void put_last_fold(struct region *region) {
  struct emit *e = region->e;
  struct vreduce *reduce = region->reduce;
  ull segments = reduce->segments, pitch = vtile_pitch(segments, FLOAT_BYTES);
  ull pad = pitch - segments;
  emit_comment(e, "All cores meet; the first one adds up what they have left in memory.");
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=0,id=%d", SYNC_FLAG);
  emit_row(e, "wait_flag_dev,id=%d", SYNC_FLAG);
  emit_loop(e, "once", "blk==0");
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "0");
  emit_row(e, "copy_gm_to_ubuf_align_b32,dst=0,src=%s,n_burst=%llu,len_burst=%llu,right_pad=%llu",
           reduce->partial, (ull)reduce->outer, segments * FLOAT_BYTES, pad);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "0");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "0");
  /* The column has been stored before the cores met. */
  region->machine.written = (1u << VREGS) - 1;
  put_fold(region, emit_text(e, "%llu", (ull)reduce->column), "0",
           emit_text(e, "%llu", (ull)reduce->outer), (unsigned)segments, pitch / 8);
  put_results(region, emit_text(e, "%llu", (ull)reduce->outer));
  put_store(e, reduce->result, reduce->target, reduce->out,
            emit_text(e, "%llu", (ull)reduce->outer));
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "0");
  emit_endloop(e);
}

static void put_fold_kernel(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  ull per = units_per_block(reduce);
  put_fold_units(region);
  emit_loop(e, "any", "units>0");
  if (reduce->segments > 1) {
    put_store(e, DTYPE_FP32, emit_text(e, "%s+blk*%llu", reduce->partial, per * FLOAT_BYTES),
              reduce->column, "units");
  } else {
    put_results(region, "units");
    put_store(e, reduce->result,
              emit_text(e, "%s+blk*%llu", reduce->target, per * vtile_bytes(reduce->result)),
              reduce->out, "units");
  }
  emit_endloop(e);
  if (reduce->segments > 1)
    put_last_fold(region);
}

/* A run of columns per turn, stored at once. */
static void put_column_kernel(struct region *region) {
  struct emit *e = region->e;
  const struct vreduce *reduce = region->reduce;
  ull per = units_per_block(reduce), tiles = column_tiles(reduce);
  ull bytes = vtile_bytes(reduce->type), out_bytes = vtile_bytes(reduce->result);
  emit_set_flag(e, PIPE_MTE3, PIPE_V, "%d", STORE_FLAG);
  emit_loop(e, "u", "min(%llu,%llu-blk*%llu)", per, (ull)vreduce_units(reduce), per);
  emit_let(e, "unit", "blk*%llu+u", per);
  emit_let(e, "first", "unit%%%llu*%llu", tiles, (ull)reduce->tile.cols);
  emit_let(e, "width", "min(%llu,%llu-first)", (ull)reduce->tile.cols, (ull)reduce->cols);
  emit_wait_flag(e, PIPE_MTE3, PIPE_V, "%d", STORE_FLAG);
  put_identity(region, emit_text(e, "%llu", (ull)ceil_div(reduce->pitch, VROW_LANES) * VROW_LANES));
  put_region(region, emit_text(e, "%llu", (ull)reduce->rows), "width",
             emit_text(e, "%s+unit/%llu*%llu+first*%llu", reduce->source, tiles,
                       (ull)reduce->unit_stride * bytes, bytes));
  put_results(region, "width");
  put_store(e, reduce->result,
            emit_text(e, "%s+unit/%llu*%llu+first*%llu", reduce->target, tiles,
                      (ull)reduce->cols * out_bytes, out_bytes),
            reduce->out, "width");
  emit_set_flag(e, PIPE_MTE3, PIPE_V, "%d", STORE_FLAG);
  emit_endloop(e);
  emit_wait_flag(e, PIPE_MTE3, PIPE_V, "%d", STORE_FLAG);
}

/* Narrower tiles leave bytes between their rows, which are converted with them. */
static void put_gaps(struct emit *e, const struct vreduce *reduce) {
  ull floats = reduce->slot_bytes * reduce->tile.buffers / FLOAT_BYTES;
  emit_row(e, "set_vector_mask,high=0,low=%llu", floats);
  emit_row(e, "vector_dup,dst=0,scalar=0,repeat=1,type=fp32");
}

void vreduce_region_emit(const struct lower_job *job, struct emit *e, struct vreduce *reduce) {
  struct region region = {.e = e, .reduce = reduce, .machine = {.emit = e, .type = DTYPE_FP32}};
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, vreduce_code(reduce), reduce->tile.blocks);
  emit_row(e, "set_mask_count");
  if (reduce->converted && reduce->tile.rows > 1 && reduce->cols % reduce->tile.cols != 0)
    put_gaps(e, reduce);
  emit_loop(e, "free", "%llu", (ull)reduce->tile.buffers);
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "free");
  emit_endloop(e);
  if (reduce->form == VREDUCE_COLUMNS)
    put_column_kernel(&region);
  else
    put_fold_kernel(&region);
  emit_loop(e, "last", "%llu", (ull)reduce->tile.buffers);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "last");
  emit_endloop(e);
}
