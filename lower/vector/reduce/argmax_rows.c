/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax and argmin on chips whose copies bring whole blocks and do not fill up rows. A tile has
 * whole rows, or a chunk of a row. The largest number of each row is compared with all of the row;
 * the places of those that are equal stay, all others become infinite, and the smallest is the
 * result. Chunks of a row leave their largest number and its place in a block each, of which the
 * first lane counts; these blocks are then a row of the same kind.
 */
#include <inttypes.h>
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/plan/program.h"
#include "lower/vector/reduce/argmax.h"
#include "lower/vector/rows/rowwise.h"

enum {
  FLOAT_BYTES = 4,
  BLOCK_WORDS = BLOCK_BYTES / FLOAT_BYTES,
  LANE_BITS_BYTES = ROWWISE_LANES / BITS_PER_BYTE,
  ROW_UNIT = 8, /* rows whose numbers are whole blocks */
  KEPT_MAX = 2048,
  BUFFERS = 2,
  OUT_FLAG = 2,
  HALVINGS = 3,
};

/* ---- tilings --------------------------------------------------------------------------------- */

static uint64_t pitch_of(const struct argmost *arg, uint64_t columns) {
  return round_up(columns, BLOCK_BYTES / vtile_bytes(arg->type));
}

/* Rows whose results are whole blocks. */
static uint64_t block_rows(const struct argmost *arg) {
  uint64_t rows = 0;
  for (unsigned i = 0; i < arg->results; i++)
    rows = max_u64(rows, BLOCK_BYTES / vtile_bytes(arg->result[i].type));
  return rows;
}

/* Rows of a tile: as many as the chunk has room for, in units whose results are whole blocks. */
static uint64_t rows_of_tile(const struct argmost *arg) {
  uint64_t pitch = pitch_of(arg, arg->columns), rows = arg->chunk / pitch / ROW_UNIT * ROW_UNIT;
  if (pitch > ROWWISE_PITCH_MAX || rows == 0)
    return 1;
  return min_u64(rows, ROWWISE_ROWS_MAX / ROW_UNIT * ROW_UNIT);
}

void argmost_rows_lay_out(struct argmost *arg) {
  uint64_t used = 0, at_once = min_u64(arg->chunk, arg->columns);
  arg->per_block = ceil_div(arg->rows, arg->blocks);
  arg->tile_rows = rows_of_tile(arg);
  arg->chunks = ceil_div(arg->columns, arg->chunk);
  arg->pitch = pitch_of(arg, at_once);
  arg->kept = min_u64(round_up(arg->per_block, arg->tile_rows),
                      round_up(KEPT_MAX, arg->tile_rows * ROW_UNIT));
  uint64_t tile = arg->tile_rows * arg->pitch, winners = arg->chunks * BLOCK_WORDS;
  uint64_t longest = max_u64(arg->pitch, winners);
  /* Comparisons read whole repeats: behind the last row nothing may come in meanwhile. */
  uint64_t read = tile - arg->pitch + round_up(arg->pitch, ROWWISE_LANES);
  arg->slot_bytes = vtile_align((arg->type == DTYPE_FP32 ? read : tile) * vtile_bytes(arg->type));
  (void)vtile_reserve(&used, BUFFERS * arg->slot_bytes);
  arg->x = arg->type == DTYPE_FP32 ? 0 : vtile_reserve(&used, tile * FLOAT_BYTES);
  arg->lanes = vtile_reserve(&used, longest * FLOAT_BYTES);
  arg->values = vtile_reserve(&used, winners * FLOAT_BYTES);
  arg->indices = vtile_reserve(&used, winners * FLOAT_BYTES);
  arg->starts = vtile_reserve(&used, (winners + BLOCK_WORDS) * FLOAT_BYTES);
  arg->bits = vtile_reserve(
      &used, max_u64(longest / BITS_PER_BYTE, arg->tile_rows * LANE_BITS_BYTES) + BLOCK_BYTES);
  arg->nothing = vtile_reserve(&used, ROWWISE_LANES * FLOAT_BYTES);
  arg->accumulator = vtile_reserve(&used, arg->tile_rows * ROWWISE_LANES * FLOAT_BYTES);
  arg->best = vtile_reserve(&used, arg->tile_rows * FLOAT_BYTES + BLOCK_BYTES);
  arg->spread = vtile_reserve(&used, round_up(arg->tile_rows, BLOCK_WORDS) * BLOCK_BYTES);
  for (unsigned i = 0; i < arg->results; i++) {
    struct argmost_result *result = &arg->result[i];
    result->column = vtile_reserve(&used, arg->kept * FLOAT_BYTES);
    result->converted = result->column;
    if (result->type != DTYPE_FP32)
      result->converted = vtile_reserve(&used, arg->kept * FLOAT_BYTES);
  }
  arg->ub_bytes = used;
}

bool argmost_rows_candidate(struct lower_job *job, size_t index) {
  const struct argmost *arg = job->data;
  if (index > HALVINGS)
    return false;
  uint64_t unit = block_rows(arg), most = ceil_div(arg->rows, unit);
  uint64_t per_block = round_up(ceil_div(arg->rows, min_u64(job->cores, most)), unit);
  lower_choose(job, "chunk", ARGMOST_CHUNK_MAX >> index);
  lower_choose(job, "blocks", ceil_div(arg->rows, per_block));
  return true;
}

bool argmost_rows_cost(struct lower_job *job) {
  struct argmost *arg = job->data;
  if (arg->chunk > ARGMOST_CHUNK_MAX || (arg->chunk < arg->columns && arg->chunk % BLOCK_WORDS))
    return lower_refuse(job, "chunks are whole rows or multiples of %d, up to %d", BLOCK_WORDS,
                        ARGMOST_CHUNK_MAX);
  if (!vtile_ub_holds(job, "a tile", arg->ub_bytes))
    return false;
  if (arg->blocks > 1 && arg->per_block < block_rows(arg))
    return lower_refuse(job, "a core has %" PRIu64 " rows or more, whose results are whole blocks",
                        block_rows(arg));
  return program_cost(job);
}

/* ---- one row, or several --------------------------------------------------------------------- */

/* Numbers in rows, the place of each column, and where the results of the rows go. */
struct search {
  struct rowwise rows;
  struct expr places, place_at;
};

static struct rowwise rowwise_for(struct emit *e, const struct argmost *arg, struct expr x,
                                  struct expr n_rows, struct expr single) {
  struct rowwise rows = {.unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL},
                         .n_rows = n_rows,
                         .single = single,
                         .cols = arg->columns,
                         .pitch = arg->pitch};
  rows.unit.reg[X0] = x;
  rows.unit.reg[T0] = EXPR(arg->best);
  rows.unit.reg[Y0] = EXPR(arg->bits);
  rows.unit.reg[V_ACCUMULATOR] = EXPR(arg->accumulator);
  rows.unit.reg[V_BLOCKS] = EXPR(arg->spread);
  return rows;
}

static void put_reduction(struct search *search, struct expr dst, enum vreduction reduction) {
  const struct vstep step = REDUCE(T1, X0, V_MAX);
  struct vstep wanted = step;
  wanted.reduction = reduction;
  search->rows.unit.reg[T1] = dst;
  rowwise_step(&search->rows, &wanted);
}

/* Places of the numbers of 64 columns, or of a whole row, that equal the number of their row. */
static void put_equal(struct search *search, const struct argmost *arg, uint64_t column,
                      struct expr repeats, uint64_t stride) {
  struct vunit *unit = &search->rows.unit;
  struct expr x = x_add(unit->reg[X0], column * FLOAT_BYTES);
  bool several = stride > 0;
  VROW(unit, V(X0) | V(V_BLOCKS), V(Y0), "vcmpv_eq", F("dst", unit->reg[Y0]), F("src0", x),
       F("src1", unit->reg[V_BLOCKS]), F("repeat", repeats), F("src1_block", 0),
       F_IF(several, "src0_repeat", stride), F("src1_repeat", several), W("type", "fp32"));
  VROW(unit, V(Y0), V(X0), "vsel", F("dst", x),
       F("src0", x_add(search->places, column * FLOAT_BYTES)), F("src1", arg->nothing),
       F("mask", unit->reg[Y0]), F("repeat", repeats), F_IF(several, "dst_repeat", stride),
       F_IF(several, "src0_repeat", 0), F("src1_repeat", 0), W("type", "fp32"));
}

/* The first place of the largest of each row, at place_at. */
static void put_search(struct search *search, const struct argmost *arg) {
  static const struct vstep spread = SPREAD(T0);
  struct rowwise *rows = &search->rows;
  put_reduction(search, rows->unit.reg[T0], arg->smallest ? V_MIN : V_MAX);
  rows->unit.written |= V(T0);
  rowwise_step(rows, &spread);
  if (x_is(rows->single, 0)) {
    for (uint64_t column = 0; column < arg->columns; column += ROWWISE_LANES) {
      vunit_lanes(&rows->unit, (unsigned)min_u64(ROWWISE_LANES, arg->columns - column));
      put_equal(search, arg, column, rows->n_rows, arg->pitch / BLOCK_WORDS);
    }
  } else {
    rowwise_all(rows);
    put_equal(search, arg, 0, EXPR(1), 0);
  }
  put_reduction(search, search->place_at, V_MIN);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Rows of x, or elements of a row, in single precision; gives their address. */
static struct expr put_load(struct emit *e, const struct argmost *arg, struct expr at,
                            struct expr rows, struct expr length, struct expr half) {
  uint64_t bytes = vtile_bytes(arg->type);
  struct expr slot = x_mul(half, arg->slot_bytes), run = x_mul(length, bytes);
  struct vunit unit = {.emit = e};
  bool packed = arg->pitch == arg->columns;
  emit_wait(e, PIPE_V, PIPE_MTE2, half);
  struct expr count = packed ? EXPR(1) : rows;
  EMIT(e, vtile_copy_name(false, arg->type), F("dst", slot),
       F("src", x_add(x_name(e, "x"), x_mul(at, bytes))), F_IF(!x_is(count, 1), "n_burst", count),
       F("len_burst", packed ? x_mul(rows, run) : run), F("right_pad", vtile_pad(run, arg->type)));
  emit_handshake(e, PIPE_MTE2, PIPE_V, half);
  if (arg->type == DTYPE_FP32)
    return slot;
  vmask_count(e, x_is(rows, 1) ? length : x_mul(rows, arg->pitch));
  emit_barrier(e, PIPE_V);
  vunit_convert(&unit, 0, 0, arg->type, DTYPE_FP32, EXPR(arg->x), slot);
  emit_barrier(e, PIPE_V);
  return EXPR(arg->x);
}

/* Several whole rows; `kept`: the first of them among those whose results are kept. */
static void put_rows(struct emit *e, const struct argmost *arg, struct expr first, struct expr kept,
                     struct expr count, struct expr half) {
  struct expr row = x_add(first, kept), at = x_mul(kept, FLOAT_BYTES);
  struct expr x = put_load(e, arg, x_mul(row, arg->columns), count, EXPR(arg->columns), half);
  struct search search = {rowwise_for(e, arg, x, count, EXPR(0)), EXPR(arg->lanes),
                          x_add(arg->result[0].column, at)};
  if (arg->results > 1)
    search.rows.unit.reg[T0] = x_add(arg->result[1].column, at);
  put_search(&search, arg);
  vunit_rest(&search.rows.unit);
  emit_barrier(e, PIPE_V);
  emit_set(e, PIPE_V, PIPE_MTE2, half);
}

/* A row in chunks: the blocks of their winners, then the winner of these. */
static void put_row(struct emit *e, const struct argmost *arg, struct expr row, struct expr kept,
                    struct expr half) {
  struct expr chunk = emit_for(e, "c", arg->chunks), from = x_mul(chunk, arg->chunk);
  struct expr turn = emit_named(e, "buffer", x_mod(x_add(half, chunk), BUFFERS));
  struct expr length = emit_named(e, "length", x_min(arg->chunk, x_sub(arg->columns, from)));
  struct expr x = put_load(e, arg, x_add(x_mul(row, arg->columns), from), EXPR(1), length, turn);
  struct expr block = x_mul(chunk, BLOCK_BYTES);
  struct search search = {rowwise_for(e, arg, x, EXPR(1), length), EXPR(arg->lanes),
                          x_add(arg->indices, block)};
  search.rows.unit.reg[T0] = x_add(arg->values, block);
  put_search(&search, arg);
  vunit_rest(&search.rows.unit);
  emit_set(e, PIPE_V, PIPE_MTE2, turn);
  emit_end(e);
  uint64_t winners = arg->chunks * BLOCK_WORDS;
  emit_barrier(e, PIPE_V);
  vmask_count(e, winners);
  EMIT(e, "vadd", F("dst", arg->indices), F("src0", arg->indices), F("src1", arg->starts),
       F("repeat", 1), W("type", "fp32"));
  struct search last = {rowwise_for(e, arg, EXPR(arg->values), EXPR(1), EXPR(winners)),
                        EXPR(arg->indices), x_add(arg->result[0].column, x_mul(kept, FLOAT_BYTES))};
  if (arg->results > 1)
    put_reduction(&last, x_add(arg->result[1].column, x_mul(kept, FLOAT_BYTES)),
                  arg->smallest ? V_MIN : V_MAX);
  put_search(&last, arg);
  vunit_rest(&last.rows.unit);
  emit_barrier(e, PIPE_V);
}

/* Lanes of blocks of winners that never win, whose first lanes are written row by row. */
static void put_losers(struct emit *e, const struct argmost *arg) {
  vmask_count(e, arg->chunks * BLOCK_WORDS);
  vfill(e, arg->values, vscalar(DTYPE_FP32, argmost_loser(arg)), "fp32");
  vfill(e, arg->indices, vscalar(DTYPE_FP32, (double)INFINITY), "fp32");
  emit_barrier(e, PIPE_V);
}

/* What all rows share: the place of each column, where chunks begin, infinite places. */
static void put_start(struct emit *e, const struct argmost *arg) {
  uint64_t winners = arg->chunks * BLOCK_WORDS;
  const struct vtable places = vtable_series(arg->lanes, 1);
  const struct vtable starts = {.address = arg->starts, .step = arg->chunk / BLOCK_WORDS};
  struct vunit unit = {.emit = e};
  /* Comparisons read whole repeats and columns are spread by 8: what lies behind is zero. */
  vmask_count(e, arg->ub_bytes / FLOAT_BYTES);
  vfill(e, 0, 0, "fp32");
  emit_barrier(e, PIPE_V);
  emit_comment(e, "The place of each column.");
  vtables_fill(e, &places, 1, arg->pitch);
  emit_barrier(e, PIPE_V);
  vmask_count(e, arg->pitch);
  vunit_convert(&unit, 0, 0, DTYPE_INT32, DTYPE_FP32, EXPR(arg->lanes), EXPR(arg->lanes));
  vmask_count(e, ROWWISE_LANES);
  vfill(e, arg->nothing, vscalar(DTYPE_FP32, (double)INFINITY), "fp32");
  if (arg->tile_rows == 1) {
    emit_comment(e, "Where each chunk begins.");
    vtables_fill(e, &starts, 1, winners);
    emit_barrier(e, PIPE_V);
    vmask_count(e, winners);
    vunit_convert(&unit, 0, 0, DTYPE_INT32, DTYPE_FP32, EXPR(arg->starts), EXPR(arg->starts));
  }
  emit_barrier(e, PIPE_V);
}

/* The rows whose results are kept, from `first` on. */
static void put_group(struct emit *e, const struct argmost *arg, struct expr first,
                      struct expr units) {
  uint64_t step = arg->tile_rows;
  struct expr t = emit_for(e, "t", step > 1 ? x_ceil_div(units, step) : units);
  struct expr half = emit_named(e, "half", x_mod(step > 1 ? t : x_mul(t, arg->chunks), BUFFERS));
  if (step > 1) {
    struct expr kept = emit_named(e, "kept", x_mul(t, step));
    struct expr count = emit_named(e, "count", x_min(step, x_sub(units, kept)));
    put_rows(e, arg, first, kept, count, half);
  } else {
    put_losers(e, arg);
    put_row(e, arg, emit_named(e, "row", x_add(first, t)), t, half);
  }
  emit_end(e);
  argmost_put_results(e, arg, first, units);
}

void argmost_rows_put(struct emit *e, const struct argmost *arg) {
  struct expr begin = x_mul(x_name(e, "blk"), arg->per_block);
  put_start(e, arg);
  emit_flags(e, "first", true, PIPE_V, PIPE_MTE2, BUFFERS);
  struct expr all = emit_named(e, "all", x_max(0, x_min(arg->per_block, x_sub(arg->rows, begin))));
  struct expr group = emit_for(e, "group", x_ceil_div(all, arg->kept));
  struct expr done = x_mul(group, arg->kept);
  struct expr units = emit_named(e, "units", x_min(arg->kept, x_sub(all, done)));
  struct expr first = emit_named(e, "first_row", x_add(begin, done));
  put_group(e, arg, first, units);
  /* The results have left before others take their place. */
  emit_handshake(e, PIPE_MTE3, PIPE_V, OUT_FLAG);
  emit_end(e);
  emit_flags(e, "last", false, PIPE_V, PIPE_MTE2, BUFFERS);
}
