/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ND and FRACTAL_NZ on coupled cores, whose copies take whole blocks of 32 bytes alone: rows and
 * columns of fractals both move as long runs, and the vector unit puts blocks in their order by its
 * strides of blocks and repeats: eight rows of a column of blocks a repeat, or of the 16 rows of a
 * fractal eight blocks of a row, whose columns may then be many.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/layout/permute.h"
#include "lower/vector/unit.h"

enum {
  STRIDE_MAX = 255,
  REPEATS_MAX = 255,
  REPEAT_ROWS = 8,
  COLUMNS_MAX = STRIDE_MAX / REPEAT_ROWS,
  HALVINGS = 4,
  WIDE_COLUMNS = 256, /* of rows that end within a block: worth a copy */
  ROUNDING = 4096     /* bytes of UB, at most, between operands and buffers */
};

struct fractals {
  struct vkernel kernel; /* first */
  const struct permute *permute;
  struct vtile_operand plain; /* the tensor in ND */
  uint64_t fractal;           /* address of the part in fractals */
  uint64_t bytes;             /* of an element */
  uint64_t blocks;            /* of 32 bytes in a row of a fractal */
  uint64_t all_rows;          /* of a column of fractals */
  uint64_t high;              /* rows of a column in UB */
  bool back;
};

/* Whether a tile goes row by row. */
static bool by_rows(const struct fractals *own) {
  return own->high == FRACTAL_ROWS && own->blocks == 1;
}

static uint64_t in_fractals(uint64_t rows) { return round_up(rows, FRACTAL_ROWS); }

/* ---- tilings --------------------------------------------------------------------------------- */

static void lay_out(struct vtile *tile) {
  struct fractals *own = (struct fractals *)tile;
  uint64_t columns = in_fractals(tile->cols), slot = 0;
  own->high = in_fractals(tile->rows);
  own->plain.pitch = round_up(tile->cols * own->bytes, BLOCK_BYTES) / own->bytes;
  own->plain.address = vtile_reserve(&slot, own->high * own->plain.pitch * own->bytes);
  own->fractal = vtile_reserve(&slot, own->high * columns * own->bytes);
  tile->slot_bytes = slot;
  tile->ub_bytes = slot * tile->buffers;
}

static void share(const struct lower_job *job, struct vtile *tile, uint64_t strips) {
  uint64_t tiles = strips * ceil_div(tile->space.rows, tile->rows);
  tile->blocks = ceil_div(tiles, ceil_div(tiles, min_u64(tiles, job->cores)));
  vtile_fit(job, tile);
}

/* The rows of a fractal, and as many columns as UB holds, or as there are for all cores. */
static void split_rows(const struct lower_job *job, struct fractals *own) {
  struct vtile *tile = &own->kernel.tile;
  const struct vtile_space *space = &tile->space;
  tile->rows = min_u64(space->rows, FRACTAL_ROWS);
  uint64_t row = 2 * FRACTAL_ROWS * own->bytes * tile->buffers;
  uint64_t strips = space->outer[0] * ceil_div(space->rows, tile->rows);
  uint64_t parts = ceil_div(space->cols * row, vtile_ub_bytes(job->soc) - ROUNDING);
  parts = max_u64(parts, ceil_div(job->cores, strips));
  tile->cols = min_u64(space->cols, in_fractals(ceil_div(space->cols, parts)));
  share(job, tile, space->outer[0] * ceil_div(space->cols, tile->cols));
}

/* Columns that the strides reach, in parts of equal size; rows for all cores. The last tiling goes
 * row by row. */
static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct fractals *own = (struct fractals *)kernel;
  struct vtile *tile = &kernel->tile;
  const struct vtile_space *space = &tile->space;
  if (halvings == HALVINGS && own->blocks == 1) {
    split_rows(job, own);
    return;
  }
  uint64_t widest = COLUMNS_MAX * BLOCK_BYTES / own->bytes / FRACTAL_ROWS * FRACTAL_ROWS;
  uint64_t parts = ceil_div(space->cols, widest);
  tile->cols = min_u64(space->cols, in_fractals(ceil_div(space->cols, parts)));
  uint64_t high = min_u64(space->rows, REPEATS_MAX * REPEAT_ROWS);
  uint64_t strips = space->outer[0] * ceil_div(space->cols, tile->cols);
  uint64_t part = in_fractals(ceil_div(space->rows * strips, job->cores));
  uint64_t most = vtile_most_rows(job, tile, 1, high) >> halvings;
  most = max_u64(most / FRACTAL_ROWS, 1) * FRACTAL_ROWS;
  tile->rows = min_u64(space->rows, min_u64(most, part));
  share(job, tile, strips);
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct fractals *own = (const struct fractals *)kernel;
  const struct vtile *tile = &kernel->tile;
  bool whole_rows = tile->rows % FRACTAL_ROWS == 0 || tile->rows == tile->space.rows;
  bool whole_columns = tile->cols % FRACTAL_ROWS == 0 || tile->cols == tile->space.cols;
  if (!whole_rows || !whole_columns)
    return lower_refuse(job, "a tile is whole fractals");
  return by_rows(own) ||
         (own->high <= REPEATS_MAX * REPEAT_ROWS &&
          own->plain.pitch * own->bytes <= COLUMNS_MAX * BLOCK_BYTES) ||
         lower_refuse(job, "a tile has at most %d rows of %d bytes", REPEATS_MAX * REPEAT_ROWS,
                      COLUMNS_MAX * BLOCK_BYTES);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct permute *permute = ((const struct fractals *)kernel)->permute;
  emit_tensor(e, "x", permute->type, TENSOR_IN, permute->in_shape, permute->in_rank,
              permute->in_format);
  emit_tensor(e, "y", permute->type, TENSOR_OUT, permute->out_shape, permute->out_rank,
              permute->out_format);
}

static struct expr rows_of(const struct fractals *own) {
  return x_round_up(own->kernel.tile.n_rows, FRACTAL_ROWS);
}

static struct expr columns_of(const struct fractals *own) {
  return x_ceil_div(own->kernel.tile.n_cols, FRACTAL_ROWS);
}

/* Columns of fractals, between UB and device memory. */
static void put_columns(struct emit *e, const struct fractals *own, bool to_gm) {
  const struct vtile *tile = &own->kernel.tile;
  uint64_t row_bytes = own->blocks * BLOCK_BYTES, column_bytes = own->all_rows * row_bytes;
  uint64_t per_batch = ceil_div(tile->space.cols, FRACTAL_ROWS) * column_bytes;
  struct expr rows = rows_of(own), ub = x_add(tile->slot, own->fractal);
  struct expr gm = x_add(x_name(e, to_gm ? "y" : "x"), x_mul(tile->outer_at[0], per_batch));
  gm = x_add(
      gm, x_add(x_mul(x_div(tile->col, FRACTAL_ROWS), column_bytes), x_mul(tile->row, row_bytes)));
  const char *inst = to_gm ? "copy_ubuf_to_gm" : "copy_gm_to_ubuf";
  struct expr count = columns_of(own);
  bool at_once = own->all_rows * own->blocks <= UINT16_MAX;
  if (!at_once) { /* the gap of a copy has 16 bits */
    struct expr column = emit_for(e, "column", count);
    gm = x_add(gm, x_mul(column, column_bytes));
    ub = x_add(ub, x_mul(column, own->high * row_bytes));
    count = EXPR(1);
  }
  struct expr gm_gap = at_once ? x_mul(x_sub(own->all_rows, rows), own->blocks) : EXPR(0);
  struct expr ub_gap = at_once ? x_mul(x_sub(own->high, rows), own->blocks) : EXPR(0);
  EMIT(e, inst, F("dst", to_gm ? gm : ub), F("src", to_gm ? ub : gm), F("n_burst", count),
       F("len_burst", x_mul(rows, own->blocks)), F("src_gap", to_gm ? ub_gap : gm_gap),
       F("dst_gap", to_gm ? gm_gap : ub_gap));
  if (!at_once)
    emit_end(e);
}

/* Zeros in the rows and in the half of a column that the tensor in ND lacks. */
static void put_zeros(struct emit *e, const struct fractals *own) {
  const struct vtile *tile = &own->kernel.tile;
  uint64_t row = own->plain.pitch * own->bytes;
  struct expr rows = rows_of(own), plain = x_add(tile->slot, own->plain.address);
  if (tile->space.rows % FRACTAL_ROWS) {
    emit_if(e, "lacks", x_lt(tile->n_rows, rows));
    vmask_count(e, x_mul(x_sub(rows, tile->n_rows), row / sizeof(float)));
    vfill(e, x_add(plain, x_mul(tile->n_rows, row)), 0, "fp32");
    emit_end(e);
    emit_barrier(e, PIPE_V);
  }
  if (tile->space.cols % FRACTAL_ROWS && own->blocks > 1) {
    emit_if(e, "open", x_gt(x_mod(tile->n_cols, FRACTAL_ROWS), 0));
    vmask_count(e, own->high * FRACTAL_ROWS * own->bytes / sizeof(float));
    vfill(e,
          x_add(x_add(tile->slot, own->fractal),
                x_mul(x_div(tile->n_cols, FRACTAL_ROWS), own->high * FRACTAL_ROWS * own->bytes)),
          0, "fp32");
    emit_end(e);
    emit_barrier(e, PIPE_V);
  }
}

static void load(struct emit *e, struct vkernel *kernel) {
  const struct fractals *own = (const struct fractals *)kernel;
  if (own->back)
    put_columns(e, own, false);
  else
    vtile_load(e, &kernel->tile, &own->plain);
}

/* A column of blocks at a time: in ND a row apart, in fractals one behind the other, or two. */
static void put_blocks(struct emit *e, const struct fractals *own) {
  const struct vtile *tile = &own->kernel.tile;
  uint64_t pitch = own->plain.pitch * own->bytes / BLOCK_BYTES, blocks = own->blocks;
  emit_plain(e, "set_mask_norm");
  EMIT(e, "set_vector_mask", F("high", -1), F("low", -1));
  emit_barrier(e, PIPE_V);
  struct expr u = emit_for(e, "u", x_ceil_div(x_mul(tile->n_cols, own->bytes), BLOCK_BYTES));
  struct expr plain = x_add(x_add(tile->slot, own->plain.address), x_mul(u, BLOCK_BYTES));
  struct expr column = x_add(x_mul(x_div(u, blocks), own->high * blocks), x_mod(u, blocks));
  struct expr fractal = x_add(x_add(tile->slot, own->fractal), x_mul(column, BLOCK_BYTES));
  struct expr from = own->back ? fractal : plain;
  uint64_t to_block = own->back ? pitch : blocks, from_block = own->back ? blocks : pitch;
  EMIT(e, "vmax", F("dst", own->back ? plain : fractal), F("src0", from), F("src1", from),
       F("repeat", x_div(rows_of(own), REPEAT_ROWS)), F("dst_block", to_block),
       F("src0_block", from_block), F("src1_block", from_block),
       F("dst_repeat", to_block * REPEAT_ROWS), F("src0_repeat", from_block * REPEAT_ROWS),
       F("src1_repeat", from_block * REPEAT_ROWS), W("type", "int32"));
  emit_end(e);
}

/* A row at a time, whose blocks are the rows of a fractal apart. */
static void put_rows(struct emit *e, const struct fractals *own) {
  const struct vtile *tile = &own->kernel.tile;
  struct expr blocks = columns_of(own), row = EXPR(0);
  vmask_count(e, x_mul(blocks, BLOCK_BYTES / sizeof(float)));
  emit_barrier(e, PIPE_V);
  row = emit_for(e, "line", own->back ? tile->n_rows : EXPR(FRACTAL_ROWS));
  struct expr plain =
      x_add(tile->slot, x_add(x_mul(row, own->plain.pitch * own->bytes), own->plain.address));
  struct expr fractal = x_add(x_add(tile->slot, own->fractal), x_mul(row, BLOCK_BYTES));
  struct expr from = own->back ? fractal : plain;
  uint64_t to_block = own->back ? 1 : FRACTAL_ROWS, from_block = own->back ? FRACTAL_ROWS : 1;
  EMIT(e, "vmax", F("dst", own->back ? plain : fractal), F("src0", from), F("src1", from),
       F("repeat", 1), F("dst_block", to_block), F("src0_block", from_block),
       F("src1_block", from_block), F("dst_repeat", to_block * REPEAT_ROWS),
       F("src0_repeat", from_block * REPEAT_ROWS), F("src1_repeat", from_block * REPEAT_ROWS),
       W("type", "int32"));
  emit_end(e);
}

/* Zeros behind the last column of a tensor that ends within a block of 16-bit elements. */
static void put_tail(struct emit *e, const struct fractals *own) {
  const struct vtile *tile = &own->kernel.tile;
  uint64_t rest = tile->space.cols % FRACTAL_ROWS, lanes = 0;
  if (rest == 0 || own->blocks > 1)
    return;
  for (unsigned lane = 0; lane < UINT64_WIDTH; lane++)
    lanes |= (uint64_t)(lane % FRACTAL_ROWS >= rest) << lane;
  emit_if(e, "ends", x_gt(x_mod(tile->n_cols, FRACTAL_ROWS), 0));
  emit_barrier(e, PIPE_V);
  emit_plain(e, "set_mask_norm");
  EMIT(e, "set_vector_mask", F("high", (int64_t)lanes), F("low", (int64_t)lanes));
  struct expr column = x_mul(x_div(tile->n_cols, FRACTAL_ROWS), own->high * BLOCK_BYTES);
  EMIT(e, "vector_dup", F("dst", x_add(x_add(tile->slot, own->fractal), column)), F("scalar", 0),
       F("repeat", own->high / REPEAT_ROWS), W("type", "uint16"));
  emit_end(e);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct fractals *own = (const struct fractals *)kernel;
  if (!own->back)
    put_zeros(e, own);
  (by_rows(own) ? put_rows : put_blocks)(e, own);
  if (!own->back)
    put_tail(e, own);
  emit_plain(e, "set_mask_count");
}

static void store(struct emit *e, struct vkernel *kernel) {
  const struct fractals *own = (const struct fractals *)kernel;
  if (own->back)
    vtile_store(e, &kernel->tile, &own->plain);
  else
    put_columns(e, own, true);
}

enum vinci_status permute_fractals(struct lower_job *job, struct permute *permute,
                                   const struct lower_value *shape, uint64_t c0, bool back) {
  static const struct vkernel_kind kind = {.halvings = HALVINGS + 1,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .load = load,
                                           .compute = compute,
                                           .store = store};
  const uint64_t *end = shape->shape + shape->rank;
  uint64_t bytes = vtile_bytes(permute->type), rows = end[-2], cols = end[-1];
  bool coupled = emit_cube_core(job->soc) == emit_vector_core(job->soc);
  bool whole = cols * bytes % BLOCK_BYTES == 0;
  bool worth = whole || (!back && bytes == 2 && cols >= WIDE_COLUMNS);
  if (!coupled || c0 != FRACTAL_ROWS || bytes < 2 || !worth)
    return VINCI_OK;
  struct fractals *own = vkernel_new(job, sizeof *own, &kind);
  job->data = permute;
  if (!own)
    return VINCI_E_NOMEM;
  struct vtile_space *space = &own->kernel.tile.space;
  own->permute = permute;
  own->bytes = bytes;
  own->blocks = FRACTAL_ROWS * bytes / BLOCK_BYTES;
  own->all_rows = in_fractals(rows);
  own->back = back;
  own->kernel.code = permute->code;
  own->kernel.element_bytes = bytes;
  space->outers = 1;
  space->outer[0] = lower_elements(shape->shape, shape->rank - 2);
  space->rows = rows;
  space->cols = cols;
  own->plain = (struct vtile_operand){.name = back ? "y" : "x",
                                      .dtype = permute->type,
                                      .outer_stride = {rows * cols},
                                      .row_stride = cols,
                                      .col_stride = 1};
  permute->gather = &own->kernel;
  return VINCI_OK;
}
