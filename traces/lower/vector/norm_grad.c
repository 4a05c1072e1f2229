/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rms_norm_grad: what a normalisation by the root of the mean square passes back. With x' = x *
 * rstd and g = dy * gamma, rows of dx are rstd * (g - x' * mean(g * x')), and dgamma sums dy * x'
 * over all rows: each core over its own, then added in device memory. The first core clears
 * dgamma, and all vector cores wait for that before they add, so the kernel is launched on all of
 * them, as the vendor's is.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/vector/rowwise.h"

enum { FLOAT_BYTES = 4, HALVINGS = 4, WEIGHT_FLAG = 2, CLEARED = 0, SPREAD_ROWS = 8 };

enum { KEY_SHAPE, KEY_WEIGHTS, KEY_DTYPE, KEY_TILING, GRAD_KEYS = KEY_TILING + VTILE_KEYS };

static const struct lower_key keys[GRAD_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of dy, x and dx", false},
    [KEY_WEIGHTS] = {"axes", LOWER_SIZE, "1", NULL, "how many dimensions, the last, are normalised",
                     false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32",
                   "type of dy, x, gamma, dx; rstd and dgamma are fp32", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

/* Columns: rstd and a sum; rows: gamma and dgamma. */
enum { R_DY = X0, R_X = X1, R_GAMMA = X2, R_DGAMMA = X3, R_RSTD = X4, R_SUM = T1 };

static const struct vstep steps[] = {SPREAD(R_RSTD),
                                     WITH_COLUMN("vmul", R_X, R_X),
                                     B("vmul", T0, R_DY, R_X),
                                     ADD_ROWS(R_DGAMMA, T0),
                                     WITH_ROW("vmul", R_DY, R_DY, R_GAMMA),
                                     B("vmul", T0, R_DY, R_X),
                                     REDUCE(R_SUM, T0, V_SUM),
                                     COLUMN(P_("vmuls", R_SUM, R_SUM, 1)),
                                     SPREAD(R_SUM),
                                     WITH_COLUMN("vmul", T0, R_X),
                                     B("vsub", R_DY, R_DY, T0),
                                     SPREAD(R_RSTD),
                                     WITH_COLUMN("vmul", Y0, R_DY),
                                     END};

struct vgrad {
  struct vtile tile; /* first: lay_out() is given its address */
  enum dtype type;
  struct vtile_operand dy, x, dx;
  uint64_t pitch;
  uint64_t rstd; /* in the buffer */
  uint64_t address[VREGS];
  uint64_t raw_gamma;
};

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
  grad->raw_gamma = converts(grad) ? vtile_reserve(&used, grad->pitch * bytes) : address[R_GAMMA];
  address[V_ACCUMULATOR] = vtile_reserve(&used, tile->rows * ROWWISE_LANES * FLOAT_BYTES);
  address[V_BLOCKS] = vtile_reserve(&used, column * SPREAD_ROWS);
  tile->ub_bytes = used;
}

static enum vinci_status setup(struct lower_job *job) {
  struct vgrad *grad = ARENA_NEW(job->arena, struct vgrad);
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  if (!grad)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  uint64_t axes = job->value[KEY_WEIGHTS].size;
  if (axes > shape->rank)
    return lower_error(job, "x has only %u dimensions", shape->rank);
  if (job->soc->arch == ARCH_C100 || job->soc->arch == ARCH_M200)
    return lower_error(job, "not for %s: no signals between its cores", arch_name(job->soc->arch));
  unsigned rows = shape->rank - (unsigned)axes;
  job->data = grad;
  grad->type = job->value[KEY_DTYPE].dtype;
  grad->tile =
      (struct vtile){.prefix = "",
                     .parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES,
                     .lay_out = lay_out,
                     .space = {.rows = lower_elements(shape->shape, rows),
                               .cols = lower_elements(shape->shape + rows, (unsigned)axes)}};
  grad->pitch = vtile_pitch(grad->tile.space.cols, vtile_bytes(grad->type));
  grad->dy = (struct vtile_operand){.name = "dy",
                                    .dtype = grad->type,
                                    .row_stride = grad->tile.space.cols,
                                    .col_stride = 1,
                                    .pitch = grad->pitch};
  grad->x = grad->dx = grad->dy;
  grad->x.name = "x";
  grad->dx.name = "dx";
  return VINCI_OK;
}

/* ---- tiling and cost ------------------------------------------------------------------------- */

static bool candidate(struct lower_job *job, size_t index) {
  struct vgrad *grad = job->data;
  struct vtile *tile = &grad->tile;
  if (index > HALVINGS)
    return false;
  tile->cols = tile->space.cols;
  tile->buffers = index == HALVINGS ? 1 : 2;
  uint64_t most = vtile_most_rows(job, tile, 1, rowwise_rows_max(tile, grad->pitch));
  vtile_split_rows(job->soc, job->cores, tile, vtile_bytes(grad->type),
                   max_u64(most >> index % HALVINGS, 1));
  vtile_fit(job, tile);
  vtile_give(job, tile);
  return true;
}

/* The steps, a conversion for each operand, and a sum for each row, which waits for the one
 * before. */
static uint64_t tile_cycles(const struct vinci_soc *soc, const struct vgrad *grad) {
  const uint64_t operands = 3, add_rows = 2;
  uint64_t repeats = grad->tile.rows * ceil_div(grad->pitch, ROWWISE_LANES), sum = 0;
  for (const struct vstep *step = steps; step->form != VFORM_END; step++)
    sum += vstep_cost_mcycles(soc, step, DTYPE_FP32);
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  return repeats * (sum / MILLI + add_rows + (converts(grad) ? operands : 0)) +
         grad->tile.rows * start;
}

static bool cost(struct lower_job *job) {
  struct vgrad *grad = job->data;
  struct vtile *tile = &grad->tile;
  vtile_take(job, tile);
  if (!vtile_count(job, tile) || !vtile_has_whole_rows(job, tile) ||
      !rowwise_walks(job, tile, grad->pitch) || !vtile_in_ub(job, tile))
    return false;
  uint64_t bytes = tile->rows * tile->cols * vtile_bytes(grad->type);
  struct vtile_work work = {.in_bytes = 2 * bytes + tile->rows * FLOAT_BYTES,
                            .out_bytes = bytes,
                            .in_copies = 3,
                            .out_copies = 1,
                            .vector_cycles = tile_cycles(job->soc, grad),
                            .code = KERNEL_NORM,
                            .launched = soc_core_count(job->soc, CORE_AIV)};
  vtile_cost(job, tile, &work);
  job->cost.blocks = (uint32_t)work.launched;
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_zeros(struct emit *e, uint64_t count, uint64_t address) {
  EMIT(e, "set_vector_mask", F("high", 0), F("low", count));
  EMIT(e, "vector_dup", F("dst", address), F("scalar", 0), F("repeat", 1), W("type", "fp32"));
}

static void store_dgamma(struct emit *e, const struct vgrad *grad) {
  EMIT(e, "copy_ubuf_to_gm_align_b32", F("dst", x_name(e, "dgamma")),
       F("src", grad->address[R_DGAMMA]), F("len_burst", grad->tile.space.cols * FLOAT_BYTES));
}

/* gamma stays; the sums and what will be spread begin with 0, and so does dgamma. */
static void put_start(struct emit *e, const struct vgrad *grad) {
  uint64_t bytes = grad->tile.space.cols * vtile_bytes(grad->type);
  struct vunit unit = {.emit = e};
  EMIT(e, vtile_copy_name(false, grad->type), F("dst", grad->raw_gamma),
       F("src", x_name(e, "gamma")), F("len_burst", bytes),
       F("right_pad", vtile_pad(EXPR(bytes), grad->type)));
  emit_set(e, PIPE_MTE2, PIPE_V, WEIGHT_FLAG);
  put_zeros(e, round_up(grad->tile.rows, SPREAD_ROWS), grad->address[R_SUM]);
  put_zeros(e, grad->pitch, grad->address[R_DGAMMA]);
  emit_if(e, "clear", x_eq(x_name(e, "blk"), 0));
  emit_handshake(e, PIPE_V, PIPE_MTE3, WEIGHT_FLAG);
  store_dgamma(e, grad);
  emit_handshake(e, PIPE_MTE3, PIPE_V, WEIGHT_FLAG);
  emit_end(e);
  EMIT(e, "ffts_cross_core_sync", W("pipe", "MTE3"), F("mode", 0), F("id", CLEARED));
  emit_wait(e, PIPE_MTE2, PIPE_V, WEIGHT_FLAG);
  if (converts(grad))
    vunit_convert(&unit, 0, 0, grad->type, DTYPE_FP32, EXPR(grad->address[R_GAMMA]),
                  EXPR(grad->raw_gamma));
}

static void load_rstd(struct emit *e, const struct vgrad *grad) {
  const struct vtile *tile = &grad->tile;
  EMIT(e, "copy_gm_to_ubuf_align_b32", F("dst", x_add(tile->slot, grad->rstd)),
       F("src", x_add(x_name(e, "rstd"), x_mul(tile->row, FLOAT_BYTES))),
       F("len_burst", x_mul(tile->n_rows, FLOAT_BYTES)),
       F("right_pad", x_pad(tile->n_rows, SPREAD_ROWS)));
}

/* The buffers as registers; narrow operands are converted. */
static void put_compute(struct emit *e, const struct vgrad *grad) {
  const struct vtile *tile = &grad->tile;
  struct rowwise rows = rowwise_of(e, tile, grad->pitch);
  struct vunit *unit = &rows.unit;
  const struct vtile_operand *operands[] = {&grad->dy, &grad->x};
  struct expr out = x_add(tile->slot, grad->dx.address);
  unit->parameter[0] = 1.0 / (double)tile->space.cols;
  for (unsigned r = 0; r < VREGS; r++)
    unit->reg[r] = EXPR(grad->address[r]);
  unit->reg[R_RSTD] = x_add(tile->slot, grad->rstd);
  rowwise_all(&rows);
  for (unsigned k = 0; k < 2; k++) {
    struct expr raw = x_add(tile->slot, operands[k]->address);
    if (converts(grad))
      vunit_convert(unit, 0, V(R_DY + k), grad->type, DTYPE_FP32, unit->reg[R_DY + k], raw);
    else
      unit->reg[R_DY + k] = raw;
  }
  unit->reg[Y0] = converts(grad) ? unit->reg[T0] : out;
  for (const struct vstep *step = steps; step->form != VFORM_END; step++)
    rowwise_step(&rows, step);
  if (converts(grad)) {
    rowwise_all(&rows);
    vunit_convert(unit, V(Y0) | V(T0), 0, DTYPE_FP32, grad->type, out, unit->reg[Y0]);
  }
  vunit_rest(unit);
}

/* Once dgamma is clear, every core adds its sums. */
static void put_sums(struct emit *e, const struct vgrad *grad) {
  emit_handshake(e, PIPE_V, PIPE_MTE3, WEIGHT_FLAG);
  EMIT(e, "wait_flag_dev", F("id", CLEARED));
  emit_plain(e, "set_atomic_add");
  emit_plain(e, "set_atomic_f32");
  store_dgamma(e, grad);
  emit_plain(e, "set_atomic_none");
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct vgrad *grad = job->data;
  struct vtile *tile = &grad->tile;
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  unsigned cores = soc_core_count(job->soc, CORE_AIV);
  unsigned outer = shape->rank - (unsigned)job->value[KEY_WEIGHTS].size;
  vtile_settle(job, tile);
  emit_kernel(e, job->op->name, cores);
  emit_tensor(e, "dy", grad->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "x", grad->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_vector(e, "rstd", DTYPE_FP32, TENSOR_IN, tile->space.rows);
  emit_tensor(e, "gamma", grad->type, TENSOR_IN, shape->shape + outer, shape->rank - outer, NULL);
  emit_tensor(e, "dx", grad->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  emit_tensor(e, "dgamma", DTYPE_FP32, TENSOR_OUT, shape->shape + outer, shape->rank - outer, NULL);
  vtile_stream(e, tile, KERNEL_NORM, cores);
  put_start(e, grad);
  emit_if(e, "busy", x_lt(x_name(e, "blk"), tile->blocks));
  vtile_open(e, tile);
  load_rstd(e, grad);
  vtile_load(e, tile, &grad->dy);
  vtile_load(e, tile, &grad->x);
  vtile_loaded(e, tile);
  put_compute(e, grad);
  vtile_computed(e, tile);
  vtile_store(e, tile, &grad->dx);
  vtile_close(e, tile);
  emit_end(e);
  put_sums(e, grad);
}

/* dy, x, rstd, gamma, whose extents are the last ones of x. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count < 4 || call->input[3].rank == 0 || call->input[3].rank > x->rank)
    return lower_cannot(call, "gradient, x, rstd and gamma are needed");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "axes=%u", call->input[3].rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

const struct lower_op lower_rms_norm_grad = {
    .name = "rms_norm_grad",
    .vendor_types = "RmsNormGrad",
    .text =
        "dx = rstd * (g - x' * mean(g * x')), dgamma = sum(dy * x'); g = dy * gamma, x' = x * rstd",
    .keys = keys,
    .key_count = GRAD_KEYS,
    .setup = setup,
    .candidate = candidate,
    .cost = cost,
    .emit = emit,
    .from_tensors = from_tensors,
};
