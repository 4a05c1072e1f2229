/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that end with rows in 8 bits: normalisations and gated units. A program in single
 * precision leaves a tile in T0; then each row gets a scale of its own (its largest magnitude
 * becomes 127), or a row of scales divides all rows and a row of offsets is added. A tile is whole
 * rows, which UB has to hold.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/rows/column.h"
#include "lower/vector/rows/norm.h"
#include "lower/vector/rows/rowwise.h"

enum { FLOAT_BYTES = 4, SPREAD_ROWS = 8, LARGEST = 127, INPUTS = 2, WEIGHTS = 3, ROW_FLAG = 2 };

/* Tiles: X0, and X1 or T0, inputs in single precision; T0. Rows: X2, X3, X4, the weights, for which
 * X0 has no use any more: they are converted into that. Columns: T1; Y1, the scales that go out. */
struct vquant_func {
  unsigned inputs, weights;
  bool halves;   /* the inputs are the halves of each row of x, and so are weights */
  bool integers; /* x is int32, weights are fp32, and T1 begins as a number of each row */
  bool sum;      /* x + x1 goes out, in the type of x; x1 is in T0 */
  bool fixed;    /* scales are a weight */
  const struct vstep *steps;
  const char *const *names; /* of inputs, then weights */
};

struct vrows {
  struct vkernel kernel; /* first */
  const struct vquant_func *func;
  enum dtype type, weight_type;
  double epsilon;
  struct vtile_operand in[INPUTS], column, y, sum;
  unsigned weights;
  uint64_t weight[WEIGHTS]; /* where they stay */
  uint64_t scale;           /* in the buffer */
  uint64_t pitch;
  uint64_t address[VREGS];
};

static const double smallest = 1e-30; /* scale of a row of zeros */
enum { NUMBER_SMALLEST = NUMBER_EPSILON + 1 };
static const struct vstep dynamic_steps[] = {U("vabs", X0, T0),
                                             REDUCE(T1, X0, V_MAX),
                                             COLUMN(S_("vmuls", T1, T1, 1.0 / LARGEST)),
                                             COLUMN(P_("vmaxs", T1, T1, NUMBER_SMALLEST)),
                                             COLUMN(S_("vmuls", Y1, T1, 1)),
                                             SPREAD(T1),
                                             WITH_COLUMN("vdiv", T0, T0),
                                             END};
/* To the nearest whole number, by way of half precision. */
static const struct vstep narrowing[] = {C("vconv_f322f32", "r", T0, T0),
                                         C("vconv_f322f16", NULL, X0, T0),
                                         C("vconv_f162s8", "z", Y0, X0), END};

#define ROOT_OF_MEAN                                                                               \
  COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)), COLUMN(P_("vadds", T1, T1, NUMBER_EPSILON)),           \
      COLUMN(U_("vsqrt", T1, T1)), SPREAD(T1)
#define NORMALISE                                                                                  \
  B("vmul", T0, X0, X0), REDUCE(T1, T0, V_SUM), ROOT_OF_MEAN, WITH_COLUMN("vdiv", T0, X0),         \
      WITH_ROW("vmul", T0, T0, X2)
#define GATE                                                                                       \
  S("vmuls", T0, X0, -1), U("vexp", T0, T0), S("vadds", T0, T0, 1), B("vdiv", T0, X0, T0),         \
      B("vmul", T0, T0, X1)

static const struct vstep rms_steps[] = {NORMALISE, END};
static const struct vstep add_rms_fixed_steps[] = {NORMALISE, WITH_ROW("vdiv", T0, T0, X3),
                                                   WITH_ROW("vadd", T0, T0, X4), END};
static const struct vstep swiglu_steps[] = {GATE, END};
static const struct vstep dequant_swiglu_steps[] = {WITH_ROW("vmul", X0, X0, X2),
                                                    WITH_ROW("vmul", X1, X1, X3),
                                                    SPREAD(T1),
                                                    WITH_COLUMN("vmul", X0, X0),
                                                    WITH_COLUMN("vmul", X1, X1),
                                                    GATE,
                                                    END};

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_out(struct vtile *tile) {
  struct vrows *x = (struct vrows *)tile;
  const struct vquant_func *func = x->func;
  uint64_t elements = tile->rows * x->pitch, slot = 0, *address = x->address;
  uint64_t column = ceil_div(tile->rows, SPREAD_ROWS) * BLOCK_BYTES;
  for (unsigned k = 0; k < func->inputs; k++)
    x->in[k].address = vtile_reserve(&slot, elements * vtile_bytes(x->type));
  x->column.address = func->integers ? vtile_reserve(&slot, column) : 0;
  x->y.address = vtile_reserve(&slot, elements);
  x->scale = vtile_reserve(&slot, column);
  x->sum.address = func->sum ? vtile_reserve(&slot, elements * vtile_bytes(x->type)) : 0;
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  address[X0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[X1] = func->halves ? vtile_reserve(&used, elements * FLOAT_BYTES) : 0;
  address[T0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[T1] = vtile_reserve(&used, column);
  address[V_ACCUMULATOR] = vtile_reserve(&used, tile->rows * ROWWISE_LANES * FLOAT_BYTES);
  address[V_BLOCKS] = vtile_reserve(&used, column * SPREAD_ROWS);
  for (unsigned k = 0; k < x->weights; k++)
    x->weight[k] = vtile_reserve(&used, x->pitch * vtile_bytes(x->weight_type));
  tile->ub_bytes = used;
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct vrows *x = (const struct vrows *)kernel;
  const struct vtile *tile = &kernel->tile;
  return rowwise_walks(job, tile, x->pitch) &&
         (x->func->fixed || vcolumn_stores(job, tile, tile->rows * x->pitch * FLOAT_BYTES));
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where the inputs are in fp32 already, their buffers stay as they were loaded: programs write in
 * X0.
 */
static void copy(struct vunit *unit, uint32_t reads, uint32_t writes, enum dtype from,
                 enum dtype to, struct expr dst, struct expr src) {
  if (from != to)
    vunit_convert(unit, reads, writes, from, to, dst, src);
  else
    VROW(unit, reads, writes, "vadds", F("dst", dst), F("src", src), F("scalar", 0), F("repeat", 1),
         W("type", "fp32"));
}

static void load_registers(const struct vrows *x, struct rowwise *rows) {
  const struct vtile *tile = &x->kernel.tile;
  struct vunit *unit = &rows->unit;
  for (unsigned r = 0; r < VREGS; r++)
    unit->reg[r] = EXPR(x->address[r]);
  unit->parameter[NUMBER_MEAN - 1] = 1.0 / (double)tile->space.cols;
  unit->parameter[NUMBER_EPSILON - 1] = x->epsilon;
  unit->parameter[NUMBER_SMALLEST - 1] = smallest;
  unit->reg[Y0] = x_add(tile->slot, x->y.address);
  unit->reg[Y1] = x_add(tile->slot, x->scale);
  rowwise_all(rows);
  for (unsigned k = 0; k < x->func->inputs; k++) {
    unsigned reg = k == 0 ? X0 : x->func->sum ? T0 : X1;
    copy(unit, 0, V(reg), x->type, DTYPE_FP32, unit->reg[reg], x_add(tile->slot, x->in[k].address));
  }
  if (!x->func->integers)
    return;
  rowwise_column(rows);
  copy(unit, 0, V(T1), DTYPE_FP32, DTYPE_FP32, unit->reg[T1], x_add(tile->slot, x->column.address));
}

/* x + x1, which goes out. */
static void put_sum(const struct vrows *x, struct rowwise *rows) {
  struct vunit *unit = &rows->unit;
  rowwise_step(rows, &(struct vstep)B("vadd", X0, X0, T0));
  copy(unit, V(X0), 0, DTYPE_FP32, x->type, x_add(x->kernel.tile.slot, x->sum.address),
       unit->reg[X0]);
}

/* Steps with a weight take that from where it stays, or converted. */
static void put_steps(const struct vrows *x, struct rowwise *rows) {
  struct vunit *unit = &rows->unit;
  for (const struct vstep *step = x->func->steps; step->form != VFORM_END; step++) {
    struct vstep own = *step;
    if (own.form == VFORM_WITH_ROW && x->weight_type == DTYPE_FP32) {
      unit->reg[own.b] = EXPR(x->weight[own.b - X2]);
    } else if (own.form == VFORM_WITH_ROW) {
      vunit_count(unit, x->kernel.tile.space.cols);
      vunit_convert(unit, V(X0), V(X0), x->weight_type, DTYPE_FP32, unit->reg[X0],
                    EXPR(x->weight[own.b - X2]));
      own.b = X0;
    }
    rowwise_step(rows, &own);
  }
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct vrows *x = (struct vrows *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct rowwise rows = rowwise_of(e, tile, x->pitch);
  struct vunit *unit = &rows.unit;
  load_registers(x, &rows);
  if (x->func->sum)
    put_sum(x, &rows);
  put_steps(x, &rows);
  if (!x->func->fixed)
    rowwise_steps(&rows, dynamic_steps);
  rowwise_all(&rows);
  vunit_steps(unit, narrowing);
  vunit_rest(unit);
}

static void store(struct emit *e, struct vkernel *kernel) {
  const struct vrows *x = (struct vrows *)kernel;
  const struct vtile *tile = &kernel->tile;
  vtile_store(e, tile, &x->y);
  if (x->func->sum)
    vtile_store(e, tile, &x->sum);
  if (!x->func->fixed)
    vcolumn_store(e, tile, "scale", x->scale);
}

static void load(struct emit *e, struct vkernel *kernel) {
  const struct vrows *x = (struct vrows *)kernel;
  const struct vtile *tile = &kernel->tile;
  vkernel_load(e, kernel);
  if (x->func->integers)
    vtile_load_run(e, DTYPE_FP32, x_add(tile->slot, x->column.address),
                   x_add(x_name(e, x->column.name), x_mul(tile->row, FLOAT_BYTES)), tile->n_rows);
}

/* Weights are loaded once and stay. Half k of a row of weights begins there. */
static void put_weights(struct emit *e, const struct vrows *x) {
  uint64_t cols = x->kernel.tile.space.cols, bytes = vtile_bytes(x->weight_type);
  for (unsigned k = 0; k < x->weights; k++)
    vtile_load_run(e, x->weight_type, EXPR(x->weight[k]),
                   x_add(x_name(e, x->func->names[x->func->inputs + k]),
                         x->func->halves ? k * cols * bytes : 0),
                   EXPR(cols));
  emit_handshake(e, PIPE_MTE2, PIPE_V, ROW_FLAG);
}

/* Padding that no copy writes is cleared, all of UB that is in use. */
static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct vrows *x = (const struct vrows *)kernel;
  vmask_count(e, kernel->tile.ub_bytes / FLOAT_BYTES);
  vfill(e, 0, 0, "fp32");
  emit_barrier(e, PIPE_ALL);
  put_weights(e, x);
  vkernel_tiles(e, kernel);
  if (!x->func->fixed)
    vcolumn_end(e, &kernel->tile, "scale", x->address[T0]);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct vrows *x = (const struct vrows *)kernel;
  const struct vquant_func *func = x->func;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  uint64_t out[TENSOR_RANK_MAX], cols = kernel->tile.space.cols;
  memcpy(out, shape->shape, sizeof out);
  out[shape->rank - 1] = cols;
  for (unsigned k = 0; k < (func->halves ? 1 : func->inputs); k++)
    emit_tensor(e, func->names[k], x->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  for (unsigned k = 0; k < (func->halves ? x->weights / 2 : x->weights); k++)
    emit_vector(e, func->names[func->inputs + k], x->weight_type, TENSOR_IN,
                func->halves ? 2 * cols : cols);
  if (func->integers)
    emit_vector(e, x->column.name, DTYPE_FP32, TENSOR_IN, kernel->tile.space.rows);
  emit_tensor(e, "y", DTYPE_INT8, TENSOR_OUT, out, shape->rank, NULL);
  if (func->sum)
    emit_tensor(e, "y1", x->type, TENSOR_OUT, out, shape->rank, NULL);
  if (func->fixed)
    return;
  emit_vector(e, "scale", DTYPE_FP32, TENSOR_OUT, kernel->tile.space.rows);
  vcolumn_tensor(e, &kernel->tile);
}

/* ---- operators ------------------------------------------------------------------------------- */

#define FLOATS "fp16|bf16|fp32"
static const struct lower_key norm_keys[] = {
    SHAPE_KEY("extents of x; along the last"), DTYPE_KEY("fp16", FLOATS, "type of x and weights"),
    NUMBER_KEY("eps", "1e-5", "added to the mean square"), VTILE_KEYS_TABLE};
static const struct lower_key gate_keys[] = {SHAPE_KEY("extents of x; the last is even"),
                                             DTYPE_KEY("fp16", FLOATS, "type of x"),
                                             VTILE_KEYS_TABLE};
static const struct lower_key integer_keys[] = {SHAPE_KEY("extents of x; the last is even"),
                                                DTYPE_KEY("int32", "int32", "type of x"),
                                                VTILE_KEYS_TABLE};

static void set_operands(struct vrows *x) {
  struct vkernel *kernel = &x->kernel;
  const struct vquant_func *func = x->func;
  struct vtile_space *space = &kernel->tile.space;
  x->y = vtile_whole_rows("y", DTYPE_INT8, space, x->pitch);
  x->sum = vtile_whole_rows("y1", x->type, space, x->pitch);
  x->column.name = "token_scale";
  for (unsigned k = 0; k < func->inputs; k++) {
    x->in[k] = vtile_whole_rows(func->names[k], x->type, space, x->pitch);
    if (func->halves) {
      x->in[k].row_stride = 2 * space->cols;
      x->in[k].base = k * space->cols;
    }
    kernel->in[k] = &x->in[k];
  }
  kernel->out[0] = &x->y;
  kernel->out[1] = func->sum ? &x->sum : NULL;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .split = vcolumn_split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .load = load,
                                           .compute = compute,
                                           .store = store};
  const struct lower_value *shape = lower_get(job, "shape"), *epsilon = lower_get(job, "eps");
  struct vrows *x = vkernel_new(job, sizeof *x, &kind);
  if (!x)
    return VINCI_E_NOMEM;
  struct vtile_space *space = &x->kernel.tile.space;
  x->func = job->op->spec;
  space->cols = shape->shape[shape->rank - 1];
  if (x->func->halves && space->cols % 2)
    return lower_error(job, "the last extent of x is even");
  if (epsilon && epsilon->number < 0)
    return lower_error(job, "eps is at least 0, not %.9g", epsilon->number);
  space->cols /= x->func->halves ? 2 : 1;
  space->rows = lower_elements(shape->shape, shape->rank - 1);
  x->type = lower_get(job, "dtype")->dtype;
  x->weight_type = x->func->integers ? DTYPE_FP32 : x->type;
  x->weights = x->func->weights;
  x->epsilon = epsilon ? epsilon->number : 0;
  x->pitch = vtile_pitch(space->cols, 1);
  x->kernel.rows_max = rowwise_rows_max(&x->kernel.tile, x->pitch);
  x->kernel.element_bytes = vtile_bytes(x->type);
  x->kernel.code = KERNEL_FUSED;
  set_operands(x);
  return VINCI_OK;
}

static bool call_x(struct lower_call *call) {
  if (call->input_count == 0 || call->input[0].rank == 0)
    return lower_cannot(call, "no shape");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

/* x1, x2, gamma, then scales for smoothing (ops-nn, add_rms_norm_dynamic_quant). */
static bool call_dynamic_norm(struct lower_call *call) {
  const unsigned gamma = 2;
  for (unsigned i = gamma + 1; i < call->input_count; i++)
    if (call->input[i].rank > 0)
      return lower_cannot(call, "smoothing scales are not modelled");
  return call_x(call);
}

/* Scales of columns, of one group of rows; int32, or a gate without what comes before. */
static bool call_dequant(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count < 3 || x->rank == 0 || x->dtype != DTYPE_INT32)
    return lower_cannot(call, "x in int32, scales of columns and of rows are needed");
  if (lower_elements(call->input[1].shape, call->input[1].rank) != x->shape[x->rank - 1])
    return lower_cannot(call, "scales of one group are modelled");
  return call_x(call);
}

static const char *const norm_names[] = {"x", "gamma"};
static const char *const add_names[] = {"x", "x1", "gamma", "scales", "offsets"};
static const char *const gate_names[] = {"x", "x", "weight_scale", "weight_scale"};
static const struct lower_template template = VKERNEL_TEMPLATE(setup);

#define QUANT(id, vendor, summary, keys, call, ...)                                                \
  LOWER_OPERATOR(id, vendor, summary, keys, &template, (&(const struct vquant_func){__VA_ARGS__}), \
                 call)

QUANT(rms_norm_dynamic_quant, "RmsNormDynamicQuant",
      "rms_norm, then 8 bits: y = value / scale, scale = max(|value|) / 127 of each row", norm_keys,
      call_x, .inputs = 1, .weights = 1, .steps = rms_steps, .names = norm_names)
QUANT(add_rms_norm_dynamic_quant, "AddRmsNormDynamicQuant",
      "y1 = x + x1; rms_norm of that, then 8 bits with a scale of each row", norm_keys,
      call_dynamic_norm, .inputs = 2, .weights = 1, .sum = true, .steps = rms_steps,
      .names = add_names)
QUANT(add_rms_norm_quant, "AddRmsNormQuant",
      "y1 = x + x1; rms_norm of that, then y = value / scales + offsets to the nearest of 8 bits",
      norm_keys, call_x, .inputs = 2, .weights = 3, .sum = true, .fixed = true,
      .steps = add_rms_fixed_steps, .names = add_names)
QUANT(swiglu_quant, "SwiGluQuant", "swiglu, then 8 bits with a scale of each row", gate_keys,
      call_x, .inputs = 2, .halves = true, .steps = swiglu_steps, .names = gate_names)
QUANT(dequant_swiglu_quant, "DequantSwigluQuant",
      "swiglu of x * weight_scale * token_scale, then 8 bits with a scale of each row",
      integer_keys, call_dequant, .inputs = 2, .weights = 2, .halves = true, .integers = true,
      .steps = dequant_swiglu_steps, .names = gate_names)
