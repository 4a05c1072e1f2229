/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rms_norm_grad: what a normalisation by the root of the mean square passes back. With x' = x *
 * rstd and g = dy * gamma, rows of dx are rstd * (g - x' * mean(g * x')), and dgamma sums dy * x'
 * over all rows: each core over its own, then added in device memory. The first core clears
 * dgamma, and all vector cores wait for that before they add, so the kernel is launched on all of
 * them, as the vendor's is. Coupled cores do not wait for each other: there a kernel of its own
 * clears dgamma before. layer_norm_grad has x' = (x - mean) * rstd, takes the mean of g from rows
 * of dx too, and sums dy into dbeta.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"
#include "lower/vector/kernel.h"
#include "lower/vector/rows/rowwise.h"

enum { FLOAT_BYTES = 4, WEIGHT_FLAG = 2, CLEARED = 0, SPREAD_ROWS = 8 };

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of dy, x and dx"),
    LOWER_KEY("axes", SIZE, "1", NULL, "how many dimensions, the last, are normalised"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of dy, x, gamma, dx; the others are fp32"),
    VTILE_KEYS_TABLE};

/* Columns: rstd, the mean and sums; rows: gamma, dgamma and dbeta. */
enum {
  R_DY = X0,
  R_X = X1,
  R_GAMMA = X2,
  R_DGAMMA = X3,
  R_RSTD = X4,
  R_MEAN = X5,
  R_DBETA = Y1,
  R_MEAN_SUM = Y2,
  R_SUM = T1
};

/* The vendor's kernel takes rows of up to SMALL_COLS in tiles, with the UB below for an element, a
 * column and a row of them; longer ones one by one, and its scalar unit reads rstd and the mean of
 * each (ops-nn, norm/rms_norm_grad, split_n_high_precision). */
enum {
  SMALL_COLS = 640,
  ELEMENT_BYTES = 24,
  COLUMN_BYTES = 10,
  ROW_BYTES = 268,
  UB_BYTES = 195584
};

static const struct vstep small_steps[] = {SPREAD(R_RSTD),
                                           TILE_COLUMN(T0),
                                           B("vmul", R_X, R_X, T0),
                                           B("vmul", T0, R_DY, R_X),
                                           ADD_ROWS(R_DGAMMA, T0),
                                           TILE_ROW(T0, R_GAMMA),
                                           B("vmul", R_DY, R_DY, T0),
                                           B("vmul", T0, R_DY, R_X),
                                           SUM_FROM_ZERO(R_SUM, T0),
                                           COLUMN(P_("vmuls", R_SUM, R_SUM, 1)),
                                           SPREAD(R_SUM),
                                           TILE_COLUMN(T0),
                                           B("vmul", T0, R_X, T0),
                                           B("vsub", T0, R_DY, T0),
                                           SPREAD(R_RSTD),
                                           TILE_COLUMN(R_DY),
                                           B("vmul", Y0, T0, R_DY),
                                           END};
static const struct vstep row_steps[] = {READ(R_RSTD),
                                         SPREAD(R_RSTD),
                                         WITH_COLUMN("vmul", R_X, R_X),
                                         B("vmul", T0, R_DY, R_X),
                                         ADD_ROWS(R_DGAMMA, T0),
                                         WITH_ROW("vmul", R_DY, R_DY, R_GAMMA),
                                         B("vmul", T0, R_DY, R_X),
                                         REDUCE(R_SUM, T0, V_SUM),
                                         COLUMN(P_("vmuls", R_SUM, R_SUM, 1)),
                                         READ(R_SUM),
                                         SPREAD(R_SUM),
                                         WITH_COLUMN("vmul", T0, R_X),
                                         B("vsub", R_DY, R_DY, T0),
                                         SPREAD(R_RSTD),
                                         WITH_COLUMN("vmul", Y0, R_DY),
                                         END};
static const struct vstep layer_steps[] = {SPREAD(R_MEAN),
                                           WITH_COLUMN("vsub", R_X, R_X),
                                           SPREAD(R_RSTD),
                                           WITH_COLUMN("vmul", R_X, R_X),
                                           ADD_ROWS(R_DBETA, R_DY),
                                           B("vmul", T0, R_DY, R_X),
                                           ADD_ROWS(R_DGAMMA, T0),
                                           WITH_ROW("vmul", R_DY, R_DY, R_GAMMA),
                                           B("vmul", T0, R_DY, R_X),
                                           REDUCE(R_SUM, T0, V_SUM),
                                           COLUMN(P_("vmuls", R_SUM, R_SUM, 1)),
                                           REDUCE(R_MEAN_SUM, R_DY, V_SUM),
                                           COLUMN(P_("vmuls", R_MEAN_SUM, R_MEAN_SUM, 1)),
                                           SPREAD(R_SUM),
                                           WITH_COLUMN("vmul", T0, R_X),
                                           B("vsub", R_DY, R_DY, T0),
                                           SPREAD(R_MEAN_SUM),
                                           WITH_COLUMN("vsub", R_DY, R_DY),
                                           SPREAD(R_RSTD),
                                           WITH_COLUMN("vmul", Y0, R_DY),
                                           END};

struct norm_grad {
  bool centred; /* by the mean of a row, with beta */
};

struct vgrad {
  struct vkernel kernel; /* first */
  bool centred;
  enum dtype type;
  struct vtile_operand dy, x, dx;
  uint64_t pitch;
  uint64_t rstd, mean; /* in the buffer */
  uint64_t address[VREGS];
  uint64_t raw_gamma;
  const struct vstep *steps;
};

static bool meets(const struct vinci_soc *soc) { return select_has(soc, OP_FFTS_CROSS_CORE_SYNC); }

static bool converts(const struct vgrad *grad) { return grad->type != DTYPE_FP32; }

/* ---- layout --------------------------------------------------------------------------------- */

static void lay_out(struct vtile *tile) {
  struct vgrad *grad = (struct vgrad *)tile;
  uint64_t bytes = vtile_bytes(grad->type), elements = tile->rows * grad->pitch, slot = 0;
  uint64_t column = ceil_div(tile->rows, SPREAD_ROWS) * BLOCK_BYTES, *address = grad->address;
  grad->dy.address = vtile_reserve(&slot, elements * bytes);
  grad->x.address = vtile_reserve(&slot, elements * bytes);
  grad->dx.address = vtile_reserve(&slot, elements * bytes);
  grad->rstd = vtile_reserve(&slot, column);
  if (grad->centred)
    grad->mean = vtile_reserve(&slot, column);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  if (converts(grad)) {
    address[R_DY] = vtile_reserve(&used, elements * FLOAT_BYTES);
    address[R_X] = vtile_reserve(&used, elements * FLOAT_BYTES);
  }
  address[T0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[R_SUM] = vtile_reserve(&used, column);
  address[R_GAMMA] = vtile_reserve(&used, grad->pitch * FLOAT_BYTES);
  address[R_DGAMMA] = vtile_reserve(&used, grad->pitch * FLOAT_BYTES);
  if (grad->centred) {
    address[R_DBETA] = vtile_reserve(&used, grad->pitch * FLOAT_BYTES);
    address[R_MEAN_SUM] = vtile_reserve(&used, column);
  }
  grad->raw_gamma = converts(grad) ? vtile_reserve(&used, grad->pitch * bytes) : address[R_GAMMA];
  address[V_ACCUMULATOR] = vtile_reserve(&used, tile->rows * ROWWISE_LANES * FLOAT_BYTES);
  address[V_BLOCKS] = vtile_reserve(&used, column * SPREAD_ROWS);
  tile->ub_bytes = used;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  return rowwise_walks(job, &kernel->tile, ((const struct vgrad *)kernel)->pitch);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_zeros(struct emit *e, uint64_t count, uint64_t address) {
  vmask_count(e, count);
  vfill(e, address, 0, "fp32");
}

/* Chips that copy whole blocks write those behind the row too: its end would be added twice. */
static void store_row(struct emit *e, const struct vgrad *grad, const char *name,
                      uint64_t address) {
  uint64_t bytes = grad->kernel.tile.space.cols * FLOAT_BYTES;
  if (!select_has(e->soc, OP_COPY_UBUF_TO_GM_ALIGN_B32)) {
    e->tails = true;
    EMIT(e, "copy_ubuf_to_gm", F("dst", x_name(e, name)), F("src", address),
         F("len_burst", ceil_div(bytes, BLOCK_BYTES)));
    return;
  }
  EMIT(e, "copy_ubuf_to_gm_align_b32", F("dst", x_name(e, name)), F("src", address),
       F("len_burst", bytes));
}

static void store_sums(struct emit *e, const struct vgrad *grad) {
  store_row(e, grad, "dgamma", grad->address[R_DGAMMA]);
  if (grad->centred)
    store_row(e, grad, "dbeta", grad->address[R_DBETA]);
}

/* gamma stays; the sums and what will be spread begin with 0, and so do dgamma and dbeta. */
static void put_start(struct emit *e, const struct vgrad *grad) {
  uint64_t bytes = grad->kernel.tile.space.cols * vtile_bytes(grad->type);
  struct vunit unit = {.emit = e};
  EMIT(e, vtile_copy_name(false, grad->type), F("dst", grad->raw_gamma),
       F("src", x_name(e, "gamma")), F("len_burst", bytes),
       F("right_pad", vtile_pad(EXPR(bytes), grad->type)));
  emit_set(e, PIPE_MTE2, PIPE_V, WEIGHT_FLAG);
  uint64_t column = round_up(grad->kernel.tile.rows, SPREAD_ROWS);
  put_zeros(e, column, grad->address[R_SUM]);
  put_zeros(e, grad->pitch, grad->address[R_DGAMMA]);
  if (grad->centred) {
    put_zeros(e, column, grad->address[R_MEAN_SUM]);
    put_zeros(e, grad->pitch, grad->address[R_DBETA]);
  }
  if (meets(e->soc)) {
    emit_if(e, "clear", x_eq(x_name(e, "blk"), 0));
    emit_handshake(e, PIPE_V, PIPE_MTE3, WEIGHT_FLAG);
    store_sums(e, grad);
    emit_handshake(e, PIPE_MTE3, PIPE_V, WEIGHT_FLAG);
    emit_end(e);
    EMIT(e, "ffts_cross_core_sync", W("pipe", "MTE3"), F("mode", 0), F("id", CLEARED));
  }
  emit_wait(e, PIPE_MTE2, PIPE_V, WEIGHT_FLAG);
  if (converts(grad))
    vunit_convert(&unit, 0, 0, grad->type, DTYPE_FP32, EXPR(grad->address[R_GAMMA]),
                  EXPR(grad->raw_gamma));
}

static void load_column(struct emit *e, const struct vtile *tile, const char *name,
                        uint64_t address) {
  EMIT(e, "copy_gm_to_ubuf_align_b32", F("dst", x_add(tile->slot, address)),
       F("src", x_add(x_name(e, name), x_mul(tile->row, FLOAT_BYTES))),
       F("len_burst", x_mul(tile->n_rows, FLOAT_BYTES)),
       F("right_pad", x_pad(tile->n_rows, SPREAD_ROWS)));
}

static void load(struct emit *e, struct vkernel *kernel) {
  const struct vgrad *grad = (struct vgrad *)kernel;
  load_column(e, &kernel->tile, "rstd", grad->rstd);
  if (grad->centred)
    load_column(e, &kernel->tile, "mean", grad->mean);
  vkernel_load(e, kernel);
}

/* The buffers as registers; narrow operands are converted. */
static void compute(struct emit *e, struct vkernel *kernel) {
  const struct vgrad *grad = (struct vgrad *)kernel;
  const struct vtile *tile = &grad->kernel.tile;
  struct rowwise rows = rowwise_of(e, tile, grad->pitch);
  struct vunit *unit = &rows.unit;
  const struct vtile_operand *operands[] = {&grad->dy, &grad->x};
  struct expr out = x_add(tile->slot, grad->dx.address);
  unit->parameter[0] = 1.0 / (double)tile->space.cols;
  for (unsigned r = 0; r < VREGS; r++)
    unit->reg[r] = EXPR(grad->address[r]);
  unit->reg[R_RSTD] = x_add(tile->slot, grad->rstd);
  unit->reg[R_MEAN] = x_add(tile->slot, grad->mean);
  rowwise_all(&rows);
  for (unsigned k = 0; k < 2; k++) {
    struct expr raw = x_add(tile->slot, operands[k]->address);
    if (converts(grad))
      vunit_convert(unit, 0, V(R_DY + k), grad->type, DTYPE_FP32, unit->reg[R_DY + k], raw);
    else
      unit->reg[R_DY + k] = raw;
  }
  unit->reg[Y0] = converts(grad) ? unit->reg[T0] : out;
  rowwise_steps(&rows, grad->steps);
  if (converts(grad)) {
    rowwise_all(&rows);
    vunit_convert(unit, V(Y0) | V(T0), 0, DTYPE_FP32, grad->type, out, unit->reg[Y0]);
  }
  vunit_rest(unit);
}

/* Once dgamma and dbeta are clear, every core adds its sums. */
static void put_sums(struct emit *e, const struct vgrad *grad) {
  emit_handshake(e, PIPE_V, PIPE_MTE3, WEIGHT_FLAG);
  if (meets(e->soc))
    EMIT(e, "wait_flag_dev", F("id", CLEARED));
  emit_plain(e, "set_atomic_add");
  emit_plain(e, "set_atomic_f32");
  store_sums(e, grad);
  emit_plain(e, "set_atomic_none");
}

static void sum_tensors(struct emit *e, const struct vkernel *kernel, enum tensor_io io) {
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  unsigned axes = (unsigned)lower_get(kernel->job, "axes")->size;
  const uint64_t *last = shape->shape + shape->rank - axes;
  emit_tensor(e, "dgamma", DTYPE_FP32, io, last, axes, NULL);
  if (((const struct vgrad *)kernel)->centred)
    emit_tensor(e, "dbeta", DTYPE_FP32, io, last, axes, NULL);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct vgrad *grad = (const struct vgrad *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  unsigned axes = (unsigned)lower_get(kernel->job, "axes")->size;
  const uint64_t *last = shape->shape + shape->rank - axes;
  emit_tensor(e, "dy", grad->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "x", grad->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_vector(e, "rstd", DTYPE_FP32, TENSOR_IN, kernel->tile.space.rows);
  if (grad->centred)
    emit_vector(e, "mean", DTYPE_FP32, TENSOR_IN, kernel->tile.space.rows);
  emit_tensor(e, "gamma", grad->type, TENSOR_IN, last, axes, NULL);
  emit_tensor(e, "dx", grad->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  sum_tensors(e, kernel, meets(e->soc) ? TENSOR_OUT : TENSOR_INOUT);
}

/* A kernel before, of one core: dgamma and dbeta begin with 0. */
static void put_clear(struct emit *e, struct vkernel *kernel) {
  const struct vgrad *grad = (const struct vgrad *)kernel;
  emit_kernel(e, "clear_sums", 1);
  sum_tensors(e, kernel, TENSOR_OUT);
  vkernel_stream(e, kernel->tile.ub_bytes, KERNEL_FUSED);
  emit_plain(e, "set_mask_count");
  put_zeros(e, grad->pitch, grad->address[R_DGAMMA]);
  if (grad->centred)
    put_zeros(e, grad->pitch, grad->address[R_DBETA]);
  emit_handshake(e, PIPE_V, PIPE_MTE3, WEIGHT_FLAG);
  store_sums(e, grad);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct vgrad *grad = (struct vgrad *)kernel;
  put_start(e, grad);
  emit_if(e, "busy", x_lt(x_name(e, "blk"), kernel->tile.blocks));
  vkernel_tiles(e, kernel);
  emit_end(e);
  put_sums(e, grad);
}

/* ---- the operator ---------------------------------------------------------------------------- */

static void set_rows(struct vgrad *grad) {
  uint64_t pitch = grad->pitch, most = grad->centred ? ROWWISE_ROWS_MAX : 1;
  if (!grad->centred && pitch <= SMALL_COLS)
    most = (UB_BYTES - pitch * COLUMN_BYTES) / (pitch * ELEMENT_BYTES + ROW_BYTES);
  grad->steps = grad->centred ? layer_steps : pitch <= SMALL_COLS ? small_steps : row_steps;
  grad->kernel.rows_max = min_u64(rowwise_rows_max(&grad->kernel.tile, pitch), most);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .load = load,
                                           .compute = compute};
  struct vgrad *grad = vkernel_new(job, sizeof *grad, &kind);
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t axes = lower_get(job, "axes")->size;
  if (!grad)
    return VINCI_E_NOMEM;
  if (axes > shape->rank)
    return lower_error(job, "the rank of x is only %u", shape->rank);
  unsigned rows = shape->rank - (unsigned)axes;
  struct vkernel *kernel = &grad->kernel;
  grad->centred = ((const struct norm_grad *)job->op->spec)->centred;
  grad->type = lower_get(job, "dtype")->dtype;
  kernel->tile.space.rows = lower_elements(shape->shape, rows);
  kernel->tile.space.cols = lower_elements(shape->shape + rows, (unsigned)axes);
  grad->pitch = vtile_pitch(kernel->tile.space.cols, vtile_bytes(grad->type));
  set_rows(grad);
  kernel->element_bytes = vtile_bytes(grad->type);
  kernel->code = grad->steps == small_steps ? KERNEL_TILED : KERNEL_FUSED;
  kernel->launched = meets(job->soc) ? soc_core_count(job->soc, CORE_AIV) : 0;
  const struct vtile_space *space = &kernel->tile.space;
  kernel->in[0] = &grad->dy;
  kernel->in[1] = &grad->x;
  kernel->out[0] = &grad->dx;
  grad->dy = vtile_whole_rows("dy", grad->type, space, grad->pitch);
  grad->x = vtile_whole_rows("x", grad->type, space, grad->pitch);
  grad->dx = vtile_whole_rows("dx", grad->type, space, grad->pitch);
  return VINCI_OK;
}

/* dy, x, rstd, (mean,) gamma, whose extents are the last ones of x. */
static bool from_gradient(struct lower_call *call, unsigned gamma_at) {
  const struct lower_tensor *x = &call->input[0], *gamma = &call->input[gamma_at];
  if (call->input_count <= gamma_at || gamma->rank == 0 || gamma->rank > x->rank)
    return lower_cannot(call, "gradient, x, %s and gamma are needed",
                        gamma_at > 3 ? "rstd, mean" : "rstd");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "axes=%u", gamma->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static bool call_rms(struct lower_call *call) { return from_gradient(call, 3); }

static bool call_layer(struct lower_call *call) {
  lower_as_rows(call);
  const struct lower_tensor *input = call->input;
  if (call->input_count > 4 && input[4].dtype != input[0].dtype && input[4].dtype != DTYPE_COUNT)
    return lower_cannot(call, "gamma of another type than x is not modelled");
  return from_gradient(call, 4);
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct vkernel *kernel = job->data;
  if (!meets(job->soc)) {
    e->shared = true;
    vtile_settle(job, &kernel->tile);
    put_clear(e, kernel);
  }
  vkernel_emit(job, e);
}

static const struct lower_template template = {setup, vkernel_candidate, vkernel_cost, emit};
#define NORM_GRAD(id, vendor, summary, call, ...)                                                  \
  LOWER_OPERATOR(id, vendor, summary, keys, &template, (&(const struct norm_grad){__VA_ARGS__}),   \
                 call)

NORM_GRAD(
    rms_norm_grad, "RmsNormGrad",
    "dx = rstd * (g - x' * mean(g * x')), dgamma = sum(dy * x'); g = dy * gamma, x' = x * rstd",
    call_rms, .centred = false)
NORM_GRAD(layer_norm_grad, "LayerNormGradV3|LayerNormXBackpropV2",
          "dx = rstd * (g - mean(g) - x' * mean(g * x')), dgamma = sum(dy * x'), dbeta = sum(dy); "
          "g = dy * gamma, x' = (x - mean) * rstd",
          call_layer, .centred = true)
