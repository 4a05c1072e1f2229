/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators along the last dimension that keep the shape: softmax, normalisations. A tile is some
 * whole rows, or a part of one (norm_long.c).
 */
#include "traces/lower/vector/norm.h"

#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum { FLOAT_BYTES = 4, WEIGHT_FLAG = 2, HALVINGS = 4, SPREAD_ROWS = 8 };

static const struct vstep softmax_steps[] = {
    REDUCE(T1, X0, V_MAX), SPREAD(T1), WITH_COLUMN("vsub", T0, X0), U("vexp", T0, T0),
    REDUCE(T1, T0, V_SUM), SPREAD(T1), WITH_COLUMN("vdiv", Y0, T0), END};
static const struct vstep log_softmax_steps[] = {REDUCE(T1, X0, V_MAX),
                                                 SPREAD(T1),
                                                 WITH_COLUMN("vsub", T0, X0),
                                                 U("vexp", Y0, T0),
                                                 REDUCE(T1, Y0, V_SUM),
                                                 COLUMN(U_("vln", T1, T1)),
                                                 SPREAD(T1),
                                                 WITH_COLUMN("vsub", Y0, T0),
                                                 END};
/* x: gradient, x1: the log-softmax: x - exp(x1) * sum(x). */
static const struct vstep log_softmax_grad_steps[] = {
    REDUCE(T1, X0, V_SUM), SPREAD(T1), U("vexp", T0, X1), WITH_COLUMN("vmul", T0, T0),
    B("vsub", Y0, X0, T0), END};
/* COLUMN(T1) = sqrt(COLUMN(T1) * mean + epsilon), spread. */
#define ROOT_OF_MEAN                                                                               \
  COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)), COLUMN(P_("vadds", T1, T1, NUMBER_EPSILON)),           \
      COLUMN(U_("vsqrt", T1, T1)), SPREAD(T1)
static const struct vstep rms_norm_steps[] = {
    B("vmul", T0, X0, X0),       REDUCE(T1, T0, V_SUM),        ROOT_OF_MEAN,
    WITH_COLUMN("vdiv", T0, X0), WITH_ROW("vmul", Y0, T0, X2), END};
static const struct vstep layer_norm_steps[] = {REDUCE(T1, X0, V_SUM),
                                                COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                SPREAD(T1),
                                                WITH_COLUMN("vsub", T0, X0),
                                                B("vmul", Y0, T0, T0),
                                                REDUCE(T1, Y0, V_SUM),
                                                ROOT_OF_MEAN,
                                                WITH_COLUMN("vdiv", T0, T0),
                                                WITH_ROW("vmul", T0, T0, X2),
                                                WITH_ROW("vadd", Y0, T0, X3),
                                                END};

/* ---- layout --------------------------------------------------------------------------------- */

/* Weights of long rows come part by part, in the buffers; those of whole rows stay. */
static void lay_out(struct vtile *tile) {
  struct vnorm *norm = (struct vnorm *)tile;
  unsigned inputs = norm->norm->inputs, weights = norm->norm->weights;
  bool converts = norm->type != DTYPE_FP32, is_long = norm_is_long(norm);
  uint64_t bytes = vtile_bytes(norm->type), *address = norm->address, slot = 0;
  uint64_t elements = is_long ? tile->cols : tile->rows * norm->pitch;
  for (unsigned k = 0; k < inputs; k++)
    norm->in[k].address = vtile_reserve(&slot, elements * bytes);
  for (unsigned k = 0; k < weights && is_long; k++)
    norm->weight[k].address = vtile_reserve(&slot, elements * bytes);
  norm->out.address = vtile_reserve(&slot, elements * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned k = 0; k < inputs && converts; k++)
    address[X0 + k] = vtile_reserve(&used, elements * FLOAT_BYTES);
  for (unsigned k = 0; k < weights && converts && is_long; k++)
    address[X2 + k] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (converts || is_long)
    address[Y0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[T0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[T1] = vtile_reserve(&used, ceil_div(tile->rows, SPREAD_ROWS) * BLOCK_BYTES);
  address[V_ACCUMULATOR] = vtile_reserve(&used, tile->rows * ROWWISE_LANES * FLOAT_BYTES);
  /* Long rows keep the numbers of both reductions, which 512 bytes hold. */
  address[V_BLOCKS] =
      vtile_reserve(&used, ceil_div(tile->rows, SPREAD_ROWS) * SPREAD_ROWS * BLOCK_BYTES);
  for (unsigned k = 0; k < weights && !is_long; k++)
    address[X2 + k] = vtile_reserve(&used, norm->pitch * FLOAT_BYTES);
  for (unsigned k = 0; k < weights && !is_long; k++)
    norm->weight[k].address = converts ? used + k * norm->pitch * bytes : address[X2 + k];
  if (weights && converts && !is_long)
    (void)vtile_reserve(&used, NORM_INPUTS * norm->pitch * bytes);
  tile->ub_bytes = used;
}

/* ---- tilings --------------------------------------------------------------------------------- */

static bool candidate(struct lower_job *job, size_t index) {
  struct vnorm *norm = job->data;
  struct vtile *tile = &norm->tile;
  if (index > HALVINGS)
    return false;
  tile->cols = tile->space.cols;
  tile->buffers = index == HALVINGS ? 1 : 2;
  tile->rows = 1;
  if (!vtile_fits(job, tile)) {
    norm_long_split(job, norm, index % HALVINGS);
  } else {
    uint64_t most = vtile_most_rows(job, tile, 1, rowwise_rows_max(tile, norm->pitch));
    vtile_split_rows(job->soc, job->cores, tile, vtile_bytes(norm->type),
                     max_u64(most >> index % HALVINGS, 1));
  }
  vtile_fit(job, tile);
  vtile_give(job, tile);
  return true;
}

/* Steps on columns are few instructions, but what follows waits for each. */
static uint64_t tile_cycles(const struct vinci_soc *soc, const struct vnorm *norm) {
  uint64_t repeats = norm->tile.rows * ceil_div(norm->pitch, ROWWISE_LANES), sum = 0;
  for (const struct vstep *step = norm->norm->steps; step->form != VFORM_END; step++)
    sum += repeats * (step->column ? 2 * MILLI : vstep_cost_mcycles(soc, step, DTYPE_FP32));
  if (norm->type != DTYPE_FP32)
    sum += repeats * MILLI * (norm->norm->inputs + 1);
  return sum / MILLI;
}

static enum kernel_code code_of(const struct vnorm *norm) {
  return norm->norm->weights || norm->norm->inputs > 1 ? KERNEL_NORM : KERNEL_REDUCE;
}

static bool cost(struct lower_job *job) {
  struct vnorm *norm = job->data;
  struct vtile *tile = &norm->tile;
  vtile_take(job, tile);
  if (!vtile_copies_bytes(job) || !vtile_count(job, tile))
    return false;
  if (norm_is_long(norm) && (tile->rows > 1 || tile->cols % ROWWISE_LANES != 0))
    return lower_refuse(job, "a tile is whole rows, or of one row a multiple of %d columns",
                        ROWWISE_LANES);
  if (norm_is_long(norm) && tile->blocks > tile->space.rows)
    return lower_refuse(job, "there are only %" PRIu64 " rows for %" PRIu64 " cores",
                        tile->space.rows, tile->blocks);
  if (!rowwise_walks(job, tile, norm->pitch) || !vtile_in_ub(job, tile))
    return false;
  uint64_t bytes = tile->rows * tile->cols * vtile_bytes(norm->type);
  uint64_t passes = norm_is_long(norm) ? norm_passes(norm->norm) : 1;
  struct vtile_work work = {.in_bytes = bytes * norm->norm->inputs * passes,
                            .out_bytes = bytes,
                            .in_copies = norm->norm->inputs,
                            .out_copies = 1,
                            .vector_cycles = tile_cycles(job->soc, norm) * (passes > 1 ? 2 : 1),
                            .code = code_of(norm)};
  vtile_cost(job, tile, &work);
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Weights are loaded once and stay. Columns are spread 8 rows at a time; there may be fewer. */
static void put_start(struct emit *e, const struct vnorm *norm) {
  const struct vtile *tile = &norm->tile;
  struct vunit unit = {.emit = e};
  uint64_t bytes = tile->space.cols * vtile_bytes(norm->type);
  unsigned weights = norm->norm->weights;
  for (unsigned k = 0; k < weights; k++)
    EMIT(e, vtile_copy_name(false, norm->type), F("dst", norm->weight[k].address),
         F("src", x_name(e, norm->weight[k].name)), F("len_burst", bytes),
         F("right_pad", vtile_pad(EXPR(bytes), norm->type)));
  if (weights)
    emit_handshake(e, PIPE_MTE2, PIPE_V, WEIGHT_FLAG);
  if (weights && norm->type != DTYPE_FP32) {
    vunit_count(&unit, norm->pitch);
    for (unsigned k = 0; k < weights; k++)
      vunit_convert(&unit, 0, 0, norm->type, DTYPE_FP32, EXPR(norm->address[X2 + k]),
                    EXPR(norm->weight[k].address));
  }
  vunit_forget(&unit);
  vunit_count(&unit, round_up(tile->rows, SPREAD_ROWS));
  EMIT(e, "vector_dup", F("dst", norm->address[T1]), F("scalar", 0), F("repeat", 1),
       W("type", "fp32"));
}

void norm_set_registers(const struct vnorm *norm, struct rowwise *rows, uint32_t inputs,
                        bool results) {
  const struct vtile *tile = &norm->tile;
  struct vunit *unit = &rows->unit;
  bool converts = norm->type != DTYPE_FP32;
  unit->parameter[NUMBER_MEAN - 1] = 1.0 / (double)tile->space.cols;
  unit->parameter[NUMBER_EPSILON - 1] = norm->epsilon;
  for (unsigned r = 0; r < VREGS; r++)
    unit->reg[r] = EXPR(norm->address[r]);
  if (results && !converts)
    unit->reg[Y0] = x_add(tile->slot, norm->out.address);
  for (unsigned r = X0; r <= X3; r++) {
    if (!(inputs & V(r)))
      continue;
    const struct vtile_operand *operand = r < X2 ? &norm->in[r - X0] : &norm->weight[r - X2];
    struct expr raw = x_add(tile->slot, operand->address);
    if (!converts) {
      unit->reg[r] = raw;
      continue;
    }
    rowwise_all(rows);
    vunit_convert(unit, 0, V(r), norm->type, DTYPE_FP32, unit->reg[r], raw);
  }
}

void norm_put_result(const struct vnorm *norm, struct rowwise *rows) {
  if (norm->type == DTYPE_FP32)
    return;
  rowwise_all(rows);
  vunit_convert(&rows->unit, V(Y0), 0, DTYPE_FP32, norm->type,
                x_add(norm->tile.slot, norm->out.address), rows->unit.reg[Y0]);
}

static void put_compute(struct emit *e, const struct vnorm *norm) {
  struct rowwise rows = rowwise_of(e, &norm->tile, norm->pitch);
  norm_set_registers(norm, &rows, V(X0 + norm->norm->inputs) - V(X0), true);
  for (const struct vstep *step = norm->norm->steps; step->form != VFORM_END; step++)
    rowwise_step(&rows, step);
  norm_put_result(norm, &rows);
  vunit_rest(&rows.unit);
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct vnorm *norm = job->data;
  struct vtile *tile = &norm->tile;
  const struct lower_value *shape = &job->value[0];
  vtile_settle(job, tile);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    emit_tensor(e, norm->in[k].name, norm->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  for (unsigned k = 0; k < norm->norm->weights; k++)
    emit_vector(e, norm->weight[k].name, norm->type, TENSOR_IN, tile->space.cols);
  emit_tensor(e, "y", norm->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  vtile_stream(e, tile, code_of(norm), tile->blocks);
  if (norm_is_long(norm)) {
    norm_long_emit(e, norm);
    return;
  }
  put_start(e, norm);
  vtile_open(e, tile);
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    vtile_load(e, tile, &norm->in[k]);
  vtile_loaded(e, tile);
  put_compute(e, norm);
  vtile_computed(e, tile);
  vtile_store(e, tile, &norm->out);
  vtile_close(e, tile);
}

/* ---- operators ------------------------------------------------------------------------------- */

enum { KEY_SHAPE, KEY_DTYPE, KEY_TILING, SOFTMAX_KEYS = KEY_TILING + VTILE_KEYS };
enum { KEY_EPSILON = KEY_TILING, KEY_NORM_TILING, NORM_KEYS = KEY_NORM_TILING + VTILE_KEYS };

static const struct lower_key softmax_keys[SOFTMAX_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x; along the last", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32", "type of x and y", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

static const struct lower_key norm_keys[NORM_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x; along the last", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32", "type of all", false},
    [KEY_EPSILON] = {"eps", LOWER_NUMBER, "1e-5", NULL, "added to the mean square", false},
    VTILE_KEY_ROWS_TABLE(KEY_NORM_TILING),
};

static enum vinci_status norm_setup(struct lower_job *job, const struct norm *func) {
  struct vnorm *norm = ARENA_NEW(job->arena, struct vnorm);
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  static const char *const names[] = {"x", "x1"}, *const weights[] = {"gamma", "beta"};
  if (!norm)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  if (func->weights && job->value[KEY_EPSILON].number < 0)
    return lower_error(job, "eps is at least 0, not %.9g", job->value[KEY_EPSILON].number);
  job->data = norm;
  norm->norm = func;
  norm->type = job->value[KEY_DTYPE].dtype;
  norm->epsilon = job->value[KEY_EPSILON].number;
  norm->tile = (struct vtile){.prefix = "",
                              .parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES,
                              .lay_out = lay_out,
                              .space = {.cols = shape->shape[shape->rank - 1],
                                        .rows = lower_elements(shape->shape, shape->rank - 1)}};
  norm->pitch = vtile_pitch(norm->tile.space.cols, vtile_bytes(norm->type));
  norm->out = (struct vtile_operand){.name = "y",
                                     .dtype = norm->type,
                                     .row_stride = norm->tile.space.cols,
                                     .col_stride = 1,
                                     .pitch = norm->pitch};
  for (unsigned k = 0; k < NORM_INPUTS; k++) {
    norm->in[k] = norm->weight[k] = norm->out;
    norm->in[k].name = names[k];
    norm->weight[k].name = weights[k];
    norm->weight[k].row_stride = 0;
  }
  return VINCI_OK;
}

static bool call_norm(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

#define OPERATOR(id, vendor, summary, table, count, inputs_, weights_)                             \
  static enum vinci_status id##_setup(struct lower_job *job) {                                     \
    static const struct norm func = {.inputs = inputs_, .weights = weights_, .steps = id##_steps}; \
    return norm_setup(job, &func);                                                                 \
  }                                                                                                \
  const struct lower_op lower_##id = {                                                             \
      .name = #id,                                                                                 \
      .vendor_types = vendor,                                                                      \
      .text = summary,                                                                             \
      .keys = table,                                                                               \
      .key_count = count,                                                                          \
      .setup = id##_setup,                                                                         \
      .candidate = candidate,                                                                      \
      .cost = cost,                                                                                \
      .emit = emit,                                                                                \
      .from_tensors = call_norm,                                                                   \
  };

OPERATOR(softmax, "SoftmaxV2|Softmax", "y = exp(x - max) / sum", softmax_keys, SOFTMAX_KEYS, 1, 0)
OPERATOR(log_softmax, "LogSoftmaxV2|LogSoftmax", "y = x - max - ln(sum(exp(x - max)))",
         softmax_keys, SOFTMAX_KEYS, 1, 0)
OPERATOR(log_softmax_grad, "LogSoftmaxGrad", "y = x - exp(x1) * sum(x)", softmax_keys, SOFTMAX_KEYS,
         2, 0)
OPERATOR(rms_norm, "RmsNorm", "y = gamma * x / sqrt(mean(x * x) + eps)", norm_keys, NORM_KEYS, 1, 1)
OPERATOR(layer_norm, "LayerNorm|LayerNormV3|LayerNormV4",
         "y = gamma * (x - mean) / sqrt(variance + eps) + beta", norm_keys, NORM_KEYS, 1, 2)
