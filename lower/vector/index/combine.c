/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_finalize_routing: for each token the sum of k rows of x, each times a weight. As for gather,
 * the scalar unit reads in UB which rows, and for times they are a stated series: row (first +
 * (token * k + j) * step) modulo the rows of x. Sums are in single precision.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/rows/rowwise.h"

enum { FLOAT_BYTES = 4, INDEX_FLAG = 2, COPY_BYTES = 32768, BRC_ELEMENTS = 8 };

static const struct lower_key keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of y"),
    LOWER_KEY("hidden", SIZE, NULL, NULL, "columns of x and y"),
    LOWER_KEY("k", SIZE, NULL, NULL, "rows of x for a token"),
    LOWER_KEY("x_rows", SIZE, "", NULL, "rows of x; default: tokens * k"),
    LOWER_KEY("first", SIZE, "0", "0", "row of x that is the first of the first token"),
    LOWER_KEY("step", SIZE, "7919", "0", "from one of those to the next, modulo the rows"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x and y"),
    LOWER_KEY("dtype1", DTYPE, "fp32", "fp16|bf16|fp32", "type of the weights"),
    VTILE_KEYS_TABLE};

/* A row of a tile: its k rows of x in the buffer, behind each other. */
struct combine {
  struct vkernel kernel; /* first */
  enum dtype type, weight_type;
  uint64_t k, x_rows, pitch, weights; /* weights: places of a tile, whole blocks */
  struct vtile_operand y;
  uint64_t x, index, weight; /* in the buffer */
  uint64_t wide, total, number, blocks;
};

static void lay_out(struct vtile *tile) {
  struct combine *c = (struct combine *)tile;
  uint64_t slot = 0, bytes = vtile_bytes(c->type);
  c->pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  c->weights = round_up(tile->rows * c->k, BRC_ELEMENTS);
  c->y.pitch = c->pitch;
  c->x = vtile_reserve(&slot, tile->rows * c->k * c->pitch * bytes);
  c->index = vtile_reserve(&slot, c->weights * FLOAT_BYTES);
  c->weight = vtile_reserve(&slot, c->weights * FLOAT_BYTES);
  c->y.address = vtile_reserve(&slot, tile->rows * c->pitch * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  c->wide = vtile_reserve(&used, c->pitch * FLOAT_BYTES);
  c->total = vtile_reserve(&used, tile->rows * c->pitch * FLOAT_BYTES);
  c->number = vtile_reserve(&used, c->weights * FLOAT_BYTES);
  c->blocks = vtile_reserve(&used, c->weights * BLOCK_BYTES);
  tile->ub_bytes = used;
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  const struct combine *c = (const struct combine *)kernel;
  struct vtile *tile = &kernel->tile;
  unsigned bytes = vtile_bytes(c->type);
  uint64_t most = max_u64(1, (uint64_t)(COPY_BYTES >> halvings) / bytes / c->k);
  tile->cols = min_u64(tile->space.cols, max_u64(most, BLOCK_BYTES));
  vtile_split_rows(job->soc, job->cores, tile, bytes,
                   max_u64(1, most / vtile_pitch(tile->cols, bytes)));
  vtile_fit(job, tile);
}

/* The indices and weights of a tile; then a copy for each row of x. */
static void load(struct emit *e, struct vkernel *kernel) {
  const struct combine *c = (struct combine *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t bytes = vtile_bytes(c->type), rows = c->x_rows;
  struct expr first = x_mul(tile->row, c->k), count = x_mul(tile->n_rows, c->k);
  vtile_load_run(e, DTYPE_INT32, x_add(tile->slot, c->index),
                 x_slot(e, "index", first, FLOAT_BYTES), count);
  vtile_load_run(e, c->weight_type, x_add(tile->slot, c->weight),
                 x_slot(e, "weight", first, vtile_bytes(c->weight_type)), count);
  emit_handshake(e, PIPE_MTE2, PIPE_S, INDEX_FLAG);
  struct expr r = emit_for(e, "r", count);
  struct expr place = x_mul(x_add(first, r), lower_get(kernel->job, "step")->size % rows);
  struct expr stated = x_mod(x_add(lower_get(kernel->job, "first")->size, place), rows);
  struct expr source = emit_read_index(
      e, "source", stated, x_at(x_add(tile->slot, c->index), r, FLOAT_BYTES), DTYPE_INT32, rows);
  struct expr at = x_add(x_mul(source, tile->space.cols), tile->col);
  vtile_load_run(e, c->type, x_add(x_add(tile->slot, c->x), x_mul(r, c->pitch * bytes)),
                 x_slot(e, "x", at, bytes), tile->n_cols);
  emit_end(e);
}

/* Row r of the tile gets its row number j of x, times the weight. */
static void put_row(struct vunit *unit, const struct combine *c, struct expr r, struct expr j) {
  enum { R_RAW = X0, R_WIDE = X1, R_TOTAL = Y0 };
  const struct vtile *tile = &c->kernel.tile;
  struct expr number = x_add(x_mul(r, c->k), j);
  struct expr raw = x_add(x_add(tile->slot, c->x), x_mul(number, c->pitch * vtile_bytes(c->type)));
  struct expr total = x_add(c->total, x_mul(r, c->pitch * FLOAT_BYTES)), wide = raw;
  vunit_count(unit, tile->n_cols);
  unit->written = V_ALL;
  if (c->type != DTYPE_FP32) {
    wide = EXPR(c->wide);
    vunit_convert(unit, V(R_RAW), V(R_WIDE), c->type, DTYPE_FP32, wide, raw);
  }
  VROW(unit, V(R_WIDE), V(R_WIDE), "vmul", F("dst", EXPR(c->wide)), F("src0", wide),
       F("src1", x_add(c->blocks, x_mul(number, BLOCK_BYTES))), F("repeat", 1), F("src1_block", 0),
       F("src1_repeat", 0), W("type", "fp32"));
  VROW(unit, V(R_WIDE), V(R_TOTAL), "vadd", F("dst", total), F("src0", total),
       F("src1", EXPR(c->wide)), F("repeat", 1), W("type", "fp32"));
}

static void compute(struct emit *e, struct vkernel *kernel) {
  enum { R_NUMBER = X2, R_BLOCKS = X3, R_TOTAL = Y0 };
  const struct combine *c = (struct combine *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct vunit unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL};
  struct expr numbers = x_add(tile->slot, c->weight);
  struct expr all = x_mul(tile->n_rows, c->pitch), weights = x_mul(tile->n_rows, c->k);
  if (c->weight_type != DTYPE_FP32) {
    vunit_count(&unit, weights);
    vunit_convert(&unit, 0, V(R_NUMBER), c->weight_type, DTYPE_FP32, EXPR(c->number), numbers);
    numbers = EXPR(c->number);
  }
  vunit_count(&unit, x_round_up(weights, BRC_ELEMENTS));
  VROW(&unit, V(R_NUMBER), V(R_BLOCKS), "vbrcb", F("dst", c->blocks), F("src", numbers),
       F("repeat", x_ceil_div(weights, BRC_ELEMENTS)), W("type", "uint32"));
  vunit_count(&unit, all);
  VROW(&unit, 0, V(R_TOTAL), "vector_dup", F("dst", c->total), F("scalar", 0), F("repeat", 1),
       W("type", "fp32"));
  struct expr r = emit_for(e, "row_of", tile->n_rows), j = emit_for(e, "j", c->k);
  vunit_forget(&unit);
  put_row(&unit, c, r, j);
  emit_end(e);
  emit_end(e);
  unit.written = V_ALL;
  vunit_forget(&unit);
  vunit_count(&unit, all);
  struct expr y = x_add(tile->slot, c->y.address);
  if (c->type != DTYPE_FP32)
    vunit_convert(&unit, V(R_TOTAL), 0, DTYPE_FP32, c->type, y, EXPR(c->total));
  else
    VROW(&unit, V(R_TOTAL), 0, "vadds", F("dst", y), F("src", c->total), F("scalar", 0),
         F("repeat", 1), W("type", "fp32"));
  vunit_rest(&unit);
}

/* Rows are padded in UB; places of weights are whole blocks. */
static void put_rows(struct emit *e, struct vkernel *kernel) {
  vmask_count(e, kernel->tile.ub_bytes / FLOAT_BYTES);
  vfill(e, 0, 0, "fp32");
  emit_barrier(e, PIPE_ALL);
  vkernel_tiles(e, kernel);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct combine *c = (const struct combine *)kernel;
  const struct vtile_space *space = &kernel->tile.space;
  const uint64_t x[] = {c->x_rows, space->cols}, y[] = {space->rows, space->cols};
  const uint64_t list[] = {space->rows, c->k};
  emit_tensor(e, "x", c->type, TENSOR_IN, x, 2, NULL);
  emit_tensor(e, "weight", c->weight_type, TENSOR_IN, list, 2, NULL);
  emit_tensor(e, "index", DTYPE_INT32, TENSOR_IN, list, 2, NULL);
  emit_tensor(e, "y", c->type, TENSOR_OUT, y, 2, NULL);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 3,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .load = load,
                                           .compute = compute};
  struct combine *c = vkernel_new(job, sizeof *c, &kind);
  if (!c)
    return VINCI_E_NOMEM;
  struct vkernel *kernel = &c->kernel;
  uint64_t tokens = lower_get(job, "tokens")->size, cols = lower_get(job, "hidden")->size;
  const struct lower_value *rows = lower_get(job, "x_rows");
  c->k = lower_get(job, "k")->size;
  const uint64_t moved[] = {tokens, c->k, cols};
  enum vinci_status status = lower_bounded(job, moved, 3);
  if (status != VINCI_OK)
    return status;
  c->x_rows = rows ? rows->size : tokens * c->k;
  c->type = lower_get(job, "dtype")->dtype;
  c->weight_type = lower_get(job, "dtype1")->dtype;
  kernel->tile.space.rows = tokens;
  kernel->tile.space.cols = cols;
  kernel->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  kernel->code = KERNEL_ELEMENTWISE;
  kernel->element_bytes = vtile_bytes(c->type) * c->k;
  c->y = vtile_whole_rows("y", c->type, &kernel->tile.space, cols);
  kernel->out[0] = &c->y;
  return VINCI_OK;
}

/* y [tokens, hidden]; the first input has the rows of the experts; what is left out are rows that
 * are added as they are. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank < 2 || y->rank != 2 ||
      x->shape[x->rank - 1] != y->shape[1] || y->shape[0] == 0)
    return lower_cannot(call, "rows of experts and a result are needed");
  uint64_t rows = lower_elements(x->shape, x->rank - 1);
  lower_arg(call, "tokens=%" PRIu64, y->shape[0]);
  lower_arg(call, "hidden=%" PRIu64, y->shape[1]);
  lower_arg(call, "k=%" PRIu64, max_u64(1, rows / y->shape[0]));
  lower_arg(call, "x_rows=%" PRIu64, rows);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);
LOWER_OPERATOR(
    moe_finalize_routing, "MoeFinalizeRouting|MoeFinalizeRoutingV2|MoeTokenUnpermute",
    "y = sum of weight * rows of x, k for each token, by the indices, for times taken to be "
    "(first + i * step) % rows",
    keys, &template, NULL, from_tensors)
