/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators of several inputs, with numpy's broadcast; fills; optimiser steps. */
#include <math.h>

#include "lower/select/select.h"
#include "lower/vector/elementwise/elementwise.h"

#define FLOATS "fp16|bf16|fp32"
#define TYPES FLOATS "|int32|int16"

#define BINARY_KEYS(types_)                                                                        \
  {                                                                                                \
    SHAPE_KEY("extents of x"), SHAPE1_KEY, DTYPE_KEY("fp16", types_, "type of x"),                 \
        LOWER_KEY("dtype1", DTYPE, "", types_, "type of x1; that of x"),                           \
        LOWER_KEY("out", DTYPE, "", types_, "type of y; fp32 when those of x and x1 differ"),      \
        VTILE_KEYS_TABLE                                                                           \
  }
static const struct lower_key binary_keys[] = BINARY_KEYS(TYPES);
static const struct lower_key long_keys[] = BINARY_KEYS(TYPES "|int64");

static const struct vstep add_steps[] = {B("vadd", Y0, X0, X1), END};
static const struct vstep sub_steps[] = {B("vsub", Y0, X0, X1), END};
static const struct vstep mul_steps[] = {B("vmul", Y0, X0, X1), END};
static const struct vstep div_steps[] = {B("vdiv", Y0, X0, X1), END};
static const struct vstep max_steps[] = {B("vmax", Y0, X0, X1), END};
static const struct vstep min_steps[] = {B("vmin", Y0, X0, X1), END};
static const struct vstep relu_grad_steps[] = {HELD(T1), Q("vcmpvs_gt", T0, X1, 0),
                                               SELECT(Y0, X0, T1, T0), END};
static const struct vstep relu_grad_chained[] = {FILL(T1, 0), Q("vcmpvs_gt", T0, X1, 0),
                                                 SELECT(Y0, X0, T1, T0), END};

/* The zeros that steps select from are the same for all tiles. */
static void put_zeros(struct emit *e, const struct vew *ew) {
  vmask_count(e, ew->kernel.tile.rows * ew->pitch);
  vfill(e, ew->temp[T1], 0, dtype_name(ew->type));
}

/* Whether selections take their bits from the comparison register alone, which holds those of one
 * repeat. Source: public operators of the vendor, which fill it before the selection of each. */
static bool selects_by_register(const struct vinci_soc *soc) { return soc->arch == ARCH_C100; }

/* There x times 0 or 1 takes less, as in the vendor's operator: the smallest positive number of the
 * type, or 0, becomes 1 or 0 by powers of two. */
static const struct vstep relu_grad_halves[] = {
    FILL(T1, 0x1p-24),     B("vmin", T0, X1, T1), FILL(T1, 0),
    B("vmax", T0, T0, T1), FILL(T1, 0x1p12),      B("vmul", T0, T0, T1),
    B("vmul", T0, T0, T1), B("vmul", Y0, X0, T0), END};

static enum vinci_status choose_relu_grad(struct lower_job *job, struct vfunc *func) {
  const struct lower_value *second = lower_get(job, "dtype1");
  bool halves =
      lower_get(job, "dtype")->dtype == DTYPE_FP16 && (!second || second->dtype == DTYPE_FP16);
  if (!selects_by_register(job->soc) || !halves)
    return VINCI_OK;
  func->steps = relu_grad_halves;
  func->start = NULL;
  return VINCI_OK;
}

bool vew_call_binary(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 2);
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, call->input[1].rank);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  lower_arg_dtype(call, "dtype1", &call->input[1]);
  return true;
}

#define BINARY(id, vendor, summary, types_)                                                        \
  VEW_OPERATOR(id, vendor, summary, binary_keys, vew_call_binary, .inputs = 2, .outputs = 1,       \
               .types = types_, .steps = id##_steps)

#define NUMBER_TYPES (VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16)

static enum vinci_status choose_pairs(struct lower_job *job, struct vfunc *func,
                                      const struct vfunc *pairs) {
  if (vew_longs(job) > 0 && !select_has(job->soc, OP_VSHR)) /* of carries */
    return lower_error(job, "int64 is not supported on %s: it has no instruction that shifts",
                       job->soc->name);
  if (vew_longs(job) == 0)
    return VINCI_OK;
  *func = *pairs;
  return vew_same_longs(job);
}

static enum vinci_status choose_add(struct lower_job *job, struct vfunc *func) {
  return choose_pairs(job, func, &vew_add_pairs);
}

static enum vinci_status choose_sub(struct lower_job *job, struct vfunc *func) {
  return choose_pairs(job, func, &vew_sub_pairs);
}

VEW_OPERATOR(add, "Add|AddV2", "y = x + x1", long_keys, vew_call_binary, .inputs = 2, .outputs = 1,
             .types = NUMBER_TYPES, .steps = add_steps, .choose = choose_add)
VEW_OPERATOR(sub, "Sub", "y = x - x1", long_keys, vew_call_binary, .inputs = 2, .outputs = 1,
             .types = NUMBER_TYPES, .steps = sub_steps, .choose = choose_sub)
BINARY(mul, "Mul|ForeachMulList", "y = x * x1", NUMBER_TYPES)
BINARY(div, "RealDiv|Div|ForeachDivList", "y = x / x1", VTYPES_FP32)
BINARY(max, "Maximum|ForeachMaximumList", "y = max(x, x1)", NUMBER_TYPES)
BINARY(min, "Minimum|ForeachMinimumList", "y = min(x, x1)", NUMBER_TYPES)
VEW_OPERATOR(relu_grad, "ReluGrad", "y = x1 > 0 ? x : 0", binary_keys, vew_call_binary, .inputs = 2,
             .outputs = 1, .types = VTYPES_FP16, .steps = relu_grad_steps,
             .chained = relu_grad_chained, .start = put_zeros, .choose = choose_relu_grad)

/* ---- x + alpha x1 ---------------------------------------------------------------------------- */

static const struct lower_key axpy_keys[] = {
    SHAPE_KEY("extents of x and x1"), DTYPE_KEY("fp32", FLOATS, "type of all"),
    NUMBER_KEY("alpha", "1", "the factor of x1"), VTILE_KEYS_TABLE};

static const struct vstep axpy_steps[] = {P("vmuls", T0, X1, 1), B("vadd", Y0, X0, T0), END};

static const char *const axpy_numbers[] = {"alpha", NULL};

/* Two lists of tensors, and alpha: as one tensor of as many elements. */
static bool call_axpy(struct lower_call *call) { return vew_call_lists(call, 2); }

VEW_OPERATOR(axpy, "ForeachAddList|ForeachSubList|Axpy|AxpyV2", "y = x + alpha * x1", axpy_keys,
             call_axpy, .inputs = 2, .outputs = 1, .types = VTYPES_FP16, .steps = axpy_steps,
             .parameters = axpy_numbers)

/* ---- where ---------------------------------------------------------------------------------- */

static const struct lower_key where_keys[] = {
    SHAPE_KEY("extents of x, the condition"), SHAPE1_KEY,
    LOWER_KEY("shape2", SHAPE, "", NULL, "extents of x2; those of x"),
    DTYPE_KEY("fp16", TYPES "|int8|uint8", "type of x1, x2 and y"), VTILE_KEYS_TABLE};

#define CONDITION AS(DTYPE_FP16, 1, Q_("vcmpvs_ne", T0, X0, 0))
static const struct vstep where_steps[] = {CONDITION, SELECT(Y0, X1, X2, T0), END};
/* The unit selects floats; bits are what they are. */
static const struct vstep where_words[] = {CONDITION, AS(DTYPE_FP32, 1, SELECT_(Y0, X1, X2, T0)),
                                           END};
static const struct vstep where_halves[] = {CONDITION, AS(DTYPE_FP16, 1, SELECT_(Y0, X1, X2, T0)),
                                            END};

static enum vinci_status choose_where(struct lower_job *job, struct vfunc *func) {
  enum dtype type = lower_get(job, "dtype")->dtype;
  if (type == DTYPE_INT32)
    func->steps = where_words;
  if (type == DTYPE_INT16)
    func->steps = where_halves;
  return VINCI_OK;
}

static bool call_where(struct lower_call *call) {
  if (call->input_count < 3)
    return lower_cannot(call, "three inputs are needed");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, call->input[1].rank);
  lower_arg_shape(call, "shape2", call->input[2].shape, call->input[2].rank);
  lower_arg_dtype(call, "dtype", &call->input[1]);
  return true;
}

VEW_OPERATOR(where, "Select|SelectV2", "y = x ? x1 : x2", where_keys, call_where, .inputs = 3,
             .outputs = 1, .types = NUMBER_TYPES | VTYPES_BYTES, .boolean = 1, .steps = where_steps,
             .choose = choose_where)

/* ---- fill ----------------------------------------------------------------------------------- */

static const struct lower_key fill_keys[] = {
    SHAPE_KEY("extents of y"),
    DTYPE_KEY("fp32", TYPES "|uint16|uint32|int8|uint8|int64", "type of y"),
    NUMBER_KEY("value", "0", "the number"), VTILE_KEYS_TABLE};

static const struct vstep fill_steps[] = {FILL_BY(Y0, 1), END};

static const char *const fill_numbers[] = {"value", NULL};

static bool call_fill(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 1);
  if (call->output_count == 0 && call->input_count == 0)
    return lower_cannot(call, "the row names no tensor, so its size is not known");
  lower_arg_elements(call, call->output_count ? &call->output[0] : &call->input[0]);
  return true;
}

VEW_OPERATOR(fill, "ZerosLike|OnesLike|Fill|MemSet|ForeachZeroInplace", "y = value", fill_keys,
             call_fill, .outputs = 1, .types = VTYPES_ANY, .steps = fill_steps,
             .parameters = fill_numbers)

/* ---- dropout -------------------------------------------------------------------------------- */

static const struct lower_key dropout_keys[] = {
    SHAPE_KEY("extents of x"), LOWER_KEY("dtype1", DTYPE, "fp16", FLOATS, "type of x and y"),
    NUMBER_KEY("keep", "0.5", "probability that an element stays"), VTILE_KEYS_TABLE};

static const struct vstep dropout_steps[] = {FILL(T1, 0), P("vmuls", T0, X1, 1),
                                             SELECT(Y0, T0, T1, X0), END};

static void dropout_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  parameter[0] = 1 / lower_get(job, "keep")->number;
}

static enum vinci_status check_keep(struct lower_job *job, struct vfunc *func) {
  double keep = lower_get(job, "keep")->number;
  (void)func;
  if (keep <= 0 || keep > 1)
    return lower_error(job, "keep is above 0 and at most 1, not %.9g", keep);
  return VINCI_OK;
}

static bool call_dropout(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  lower_arg(call, "shape=%llu", (unsigned long long)lower_elements(x->shape, x->rank));
  lower_arg_dtype(call, "dtype1", x);
  if (strcmp(call->type, "ReluGradV2") == 0) /* the mask says where x was positive */
    lower_arg(call, "keep=1");
  else if (selects_by_register(call->soc)) /* the vendor's kernel works in place, in one buffer */
    lower_arg(call, "buffers=1");
  return true;
}

VEW_OPERATOR(dropout, "DropOutDoMask|ReluGradV2",
             "y = bit of x ? x1 / keep : 0; x holds a bit for each element", dropout_keys,
             call_dropout, .inputs = 2, .outputs = 1, .types = VTYPES_FP16, .bits = 1,
             .steps = dropout_steps, .numbers = dropout_numbers, .choose = check_keep)

/* ---- a sum behind a mask --------------------------------------------------------------------- */

static const struct lower_key masked_sum_keys[] = {
    SHAPE_KEY("extents of x, r and y"),
    LOWER_KEY("dtype1", DTYPE, "fp16", FLOATS, "type of x and r"),
    LOWER_KEY("dtype2", DTYPE, "fp16", FLOATS, "type of r"), VTILE_KEYS_TABLE};
static const char *const masked_sum_names[] = {"mask", "x", "r", "y"};
static const struct vstep masked_sum_steps[] = {FILL(T1, 0), B("vadd", T0, X1, X2),
                                                SELECT(Y0, T0, T1, X0), END};

VEW_OPERATOR(masked_sum, "", "y = bit of mask ? x + r : 0; mask holds a bit for each element",
             masked_sum_keys, NULL, .inputs = 3, .outputs = 1, .types = VTYPES_FP16, .bits = 1,
             .names = masked_sum_names, .steps = masked_sum_steps)

/* ---- AdamW ---------------------------------------------------------------------------------- */

static const struct lower_key adamw_keys[] = {
    SHAPE_KEY("extents of x and its companions"),
    DTYPE_KEY("fp32", FLOATS, "type of all"),
    NUMBER_KEY("lr", "0.001", "learning rate"),
    NUMBER_KEY("beta1", "0.9", "decay of the first moment"),
    NUMBER_KEY("beta2", "0.999", "decay of the second moment"),
    NUMBER_KEY("eps", "1e-8", "added to the root"),
    NUMBER_KEY("decay", "0.01", "weight decay"),
    LOWER_KEY("step", SIZE, "1", NULL, "number of the step, from 1"),
    VTILE_KEYS_TABLE};

/*
 * x, m, v, g: x = (1 - lr decay) x; m = m + (1 - b1) (g - m); v = b2 v + (1 - b2) g g;
 * x = x - lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps). The steps, the barrier behind each
 * and the elements of a tile are those of the vendor's kernel (ops-nn, optim/apply_adam_w_v2).
 */
enum { AP_KEEP = 1, AP_REST1, AP_BETA2, AP_REST2, AP_ROOT, AP_EPSILON, AP_RATE };
enum { ADAMW_TILE = 2432 };
static const struct vstep adamw_steps[] = {
    P("vmuls", Y0, X0, AP_KEEP),  B("vsub", T0, X3, X1),          P("vmuls", T1, T0, AP_REST1),
    B("vadd", Y1, T1, X1),        P("vmuls", T1, X2, AP_BETA2),   B("vmul", T0, X3, X3),
    P("vmuls", T0, T0, AP_REST2), B("vadd", Y2, T1, T0),          U("vsqrt", T1, Y2),
    P("vmuls", T0, T1, AP_ROOT),  P("vadds", T1, T0, AP_EPSILON), B("vdiv", T0, Y1, T1),
    P("vmuls", T1, T0, AP_RATE),  B("vsub", Y0, Y0, T1),          END};

/*
 * The vendor's kernel computes b1^t and b2^t itself, by Power of Ascend C on a block (asc-devkit,
 * adv_api/detail/math/power, float): T0 is the base, T1 the power; then the sign, and whether the
 * result is 1 or not a number, each waiting for the step before. The scalar unit reads the result.
 */
#define BITS(...) AS(DTYPE_UINT16, 1, __VA_ARGS__)
static const struct vstep power_steps[] = {
    FILL(T3, 1), FILL(T3, 0), FILL(T3, 1),
    /* The power. */
    U("vabs", T1, T0), U("vln", T1, T1), P("vmuls", T1, T1, 1), U("vexp", T1, T1),
    /* Whether the exponent is odd. */
    U("vabs", T2, T3), C("vconv_f322f32", "r", T2, T2), S("vmuls", T3, T2, 0.5),
    C("vconv_f322f32", "f", T3, T3), S("vmuls", T3, T3, 2), B("vsub", T2, T2, T3),
    S("vmuls", T2, T2, -2), S("vadds", T2, T2, 1), C("vconv_f322f32", "r", T2, T2),
    /* Whether it is a whole number, and the base negative. */
    U("vabs", T3, T2), C("vconv_f322f32", "r", T3, T3), B("vsub", T3, T3, T2), U("vabs", T3, T3),
    Q("vcmpvs_eq", T3, T3, 0), BITS(B_("vand", T3, T3, T3)), FILL(T2, 1), B("vmul", T1, T1, T2),
    /* Whether the result is 1. */
    U("vabs", T2, T1), Q("vcmpvs_eq", T3, T2, 1), Q("vcmpvs_eq", T3, T2, 0),
    BITS(B_("vand", T3, T3, T3)), Q("vcmpvs_eq", T3, T2, 1), Q("vcmpvs_eq", T3, T2, 0),
    BITS(B_("vor", T3, T3, T3)), BITS(B_("vand", T3, T3, T3)), FILL(T3, 0), SELECT(T2, T2, T2, T3),
    /* Whether the result is not a number. */
    U("vabs", T2, T1), Q("vcmpvs_eq", T3, T2, 1), BITS(B_("vor", T3, T3, T3)),
    Q("vcmpvs_eq", T3, T2, 1), Q("vcmpvs_eq", T3, T2, 0), BITS(B_("vor", T3, T3, T3)),
    BITS(B_("vor", T3, T3, T3)), FILL(T3, 0), SELECT(T2, T2, T2, T3), END};

static void put_powers(struct emit *e, const struct vew *ew) {
  enum { BLOCK = 64, LANES = 8 };
  static const char *const bases[] = {"beta1", "beta2"};
  struct vunit unit = {.emit = e, .type = DTYPE_FP32};
  for (unsigned i = 0; i < 4; i++)
    unit.reg[T0 + i] = EXPR(ew->temp[T0] + (uint64_t)(i * BLOCK));
  unit.parameter[0] = (double)lower_get(ew->kernel.job, "step")->size;
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
    const struct vstep base = FILL(T0, lower_get(ew->kernel.job, bases[i])->number);
    unit.written = V_ALL;
    vunit_count(&unit, LANES);
    vunit_step(&unit, &base);
    for (const struct vstep *step = power_steps; step->form != VFORM_END; step++) {
      unit.written = V_ALL;
      vunit_step(&unit, step);
    }
    emit_handshake(e, PIPE_V, PIPE_S, EXPR(0));
    emit_handshake(e, PIPE_S, PIPE_V, EXPR(0));
  }
}

/* By squaring: steps may be billions. */
static double power_of(double base, uint64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    power *= exponent % 2 ? base : 1;
  return power;
}

static void adamw_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  double b1 = lower_get(job, "beta1")->number, b2 = lower_get(job, "beta2")->number;
  double lr = lower_get(job, "lr")->number;
  uint64_t step = lower_get(job, "step")->size;
  parameter[AP_REST1 - 1] = 1 - b1;
  parameter[AP_BETA2 - 1] = b2;
  parameter[AP_REST2 - 1] = 1 - b2;
  parameter[AP_ROOT - 1] = 1 / sqrt(1 - power_of(b2, step));
  parameter[AP_EPSILON - 1] = lower_get(job, "eps")->number;
  parameter[AP_KEEP - 1] = 1 - lr * lower_get(job, "decay")->number;
  parameter[AP_RATE - 1] = lr / (1 - power_of(b1, step));
}

static enum vinci_status check_adamw(struct lower_job *job, struct vfunc *func) {
  static const char *const decays[] = {"beta1", "beta2"};
  (void)func;
  for (size_t i = 0; i < sizeof decays / sizeof *decays; i++) {
    double decay = lower_get(job, decays[i])->number;
    if (decay < 0 || decay >= 1)
      return lower_error(job, "%s is at least 0 and below 1, not %.9g", decays[i], decay);
  }
  double epsilon = lower_get(job, "eps")->number;
  if (epsilon < 0)
    return lower_error(job, "eps is at least 0, not %.9g", epsilon);
  return VINCI_OK;
}

static bool call_adamw(struct lower_call *call) {
  if (call->input_count < 4)
    return lower_cannot(call, "four inputs are needed");
  lower_arg_elements(call, &call->input[0]);
  return true;
}

VEW_OPERATOR(adamw, "ApplyAdamW|ApplyAdamWV2",
             "a step of AdamW: x, its moments x1 and x2, and the gradient x3", adamw_keys,
             call_adamw, .inputs = 4, .outputs = 3, .in_place = true, .serial = true,
             .tile = ADAMW_TILE, .steps = adamw_steps, .numbers = adamw_numbers,
             .choose = check_adamw, .start = put_powers)
