/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators of several inputs, with numpy's broadcast; fills; optimiser steps. */
#include "core/chip/layout.h"
#include "traces/lower/vector/elementwise.h"

#define FLOATS "fp16|bf16|fp32"
#define TYPES FLOATS "|int32|int16"

enum {
  KEY_SHAPE,
  KEY_SHAPE1,
  KEY_DTYPE,
  KEY_DTYPE1,
  KEY_OUT,
  KEY_TILING,
  BINARY_KEYS = KEY_TILING + VTILE_KEYS
};
enum { WHERE_SHAPE2 = 2, WHERE_DTYPE, WHERE_TILING, WHERE_KEYS = WHERE_TILING + VTILE_KEYS };
enum { FILL_DTYPE = 1, FILL_VALUE, FILL_TILING, FILL_KEYS = FILL_TILING + VTILE_KEYS };

static const struct lower_key binary_keys[BINARY_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x", false},
    [KEY_SHAPE1] = {"shape1", LOWER_SHAPE, "", NULL, "extents of x1; those of x", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", TYPES, "type of x", false},
    [KEY_DTYPE1] = {"dtype1", LOWER_DTYPE, "", TYPES, "type of x1; that of x", false},
    [KEY_OUT] = {"out", LOWER_DTYPE, "", TYPES, "type of y; fp32 when those of x and x1 differ",
                 false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

/* add has int64 too. */
static const struct lower_key add_keys[BINARY_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x", false},
    [KEY_SHAPE1] = {"shape1", LOWER_SHAPE, "", NULL, "extents of x1; those of x", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", TYPES "|int64", "type of x", false},
    [KEY_DTYPE1] = {"dtype1", LOWER_DTYPE, "", TYPES "|int64", "type of x1; that of x", false},
    [KEY_OUT] = {"out", LOWER_DTYPE, "", TYPES "|int64",
                 "type of y; fp32 when those of x and x1 differ", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

static const struct vstep add_steps[] = {B("vadd", Y0, X0, X1), END};
static const struct vstep sub_steps[] = {B("vsub", Y0, X0, X1), END};
static const struct vstep mul_steps[] = {B("vmul", Y0, X0, X1), END};
static const struct vstep div_steps[] = {B("vdiv", Y0, X0, X1), END};
static const struct vstep max_steps[] = {B("vmax", Y0, X0, X1), END};
static const struct vstep min_steps[] = {B("vmin", Y0, X0, X1), END};
static const struct vstep relu_grad_steps[] = {FILL(T1, 0), Q("vcmpvs_gt", T0, X1, 0),
                                               SELECT(Y0, X0, T1, T0), END};

static bool call_binary(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, call->input[1].rank);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  lower_arg_dtype(call, "dtype1", &call->input[1]);
  return true;
}

#define OPERATOR(id, vendor, summary, types_)                                                      \
  VEW_OP(id, vendor, summary, binary_keys, BINARY_KEYS, call_binary, vew_setup,                    \
         VFUNC(.inputs = 2, .outputs = 1, .types = types_, .steps = id##_steps))

#define NUMBER_TYPES (VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16)

static bool same_shape(const struct lower_value *a, const struct lower_value *b) {
  bool same = !b->present || a->rank == b->rank;
  for (unsigned i = 0; same && b->present && i < a->rank; i++)
    same = a->shape[i] == b->shape[i];
  return same;
}

static enum vinci_status add_setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  static const struct vfunc func = {
      .inputs = 2, .outputs = 1, .types = NUMBER_TYPES, .steps = add_steps};
  unsigned given = 0, longs = 0;
  for (unsigned key = KEY_DTYPE; key <= KEY_OUT; key++) {
    given += value[key].present;
    longs += value[key].present && value[key].dtype == DTYPE_INT64;
  }
  if (longs == 0)
    return vew_setup_func(job, &func);
  if (longs != given || !same_shape(&value[KEY_SHAPE], &value[KEY_SHAPE1]))
    return lower_error(job, "int64 is added to int64 of the same shape alone");
  return vew_setup_func(job, &vew_pairs);
}

VEW_OP(add, "Add|AddV2", "y = x + x1", add_keys, BINARY_KEYS, call_binary, add_setup, NULL)
OPERATOR(sub, "Sub", "y = x - x1", NUMBER_TYPES)
OPERATOR(mul, "Mul", "y = x * x1", NUMBER_TYPES)
OPERATOR(div, "RealDiv|Div", "y = x / x1", VTYPES_FP32)
OPERATOR(max, "Maximum", "y = max(x, x1)", NUMBER_TYPES)
OPERATOR(min, "Minimum", "y = min(x, x1)", NUMBER_TYPES)
OPERATOR(relu_grad, "ReluGrad", "y = x1 > 0 ? x : 0", VTYPES_FP16)

/* ---- x + alpha x1 ---------------------------------------------------------------------------- */

enum { AXPY_DTYPE = 1, AXPY_ALPHA, AXPY_TILING, AXPY_KEYS = AXPY_TILING + VTILE_KEYS };

static const struct lower_key axpy_keys[AXPY_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x and x1", false},
    [AXPY_DTYPE] = {"dtype", LOWER_DTYPE, "fp32", FLOATS, "type of all", false},
    [AXPY_ALPHA] = {"alpha", LOWER_NUMBER, "1", NULL, "the factor of x1", false},
    VTILE_KEY_ROWS_TABLE(AXPY_TILING),
};

static const struct vstep axpy_steps[] = {P("vmuls", T0, X1, 1), B("vadd", Y0, X0, T0), END};

static const char *const axpy_numbers[] = {"alpha", NULL};

/* Two lists of tensors, and alpha: as one tensor of as many elements. */
static bool call_axpy(struct lower_call *call) {
  unsigned long long elements = 0;
  unsigned tensors = call->input_count / 2;
  if (tensors == 0 || call->input_count == LOWER_TENSORS_MAX)
    return lower_cannot(call, "two lists of at most %d tensors together are needed",
                        LOWER_TENSORS_MAX - 1);
  for (unsigned i = 0; i < tensors; i++)
    elements += lower_elements(call->input[i].shape, call->input[i].rank);
  lower_arg(call, "shape=%llu", elements);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

VEW_OP(axpy, "ForeachAddList|Axpy|AxpyV2", "y = x + alpha * x1", axpy_keys, AXPY_KEYS, call_axpy,
       vew_setup,
       VFUNC(.inputs = 2, .outputs = 1, .types = VTYPES_FP16, .steps = axpy_steps,
             .parameters = axpy_numbers))

/* ---- where ---------------------------------------------------------------------------------- */

static const struct lower_key where_keys[WHERE_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x, the condition", false},
    [KEY_SHAPE1] = {"shape1", LOWER_SHAPE, "", NULL, "extents of x1; those of x", false},
    [WHERE_SHAPE2] = {"shape2", LOWER_SHAPE, "", NULL, "extents of x2; those of x", false},
    [WHERE_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", FLOATS, "type of x1, x2 and y", false},
    VTILE_KEY_ROWS_TABLE(WHERE_TILING),
};

static const struct vstep where_steps[] = {AS(DTYPE_FP16, 1, Q_("vcmpvs_ne", T0, X0, 0)),
                                           SELECT(Y0, X1, X2, T0), END};

static bool call_where(struct lower_call *call) {
  if (call->input_count < 3)
    return lower_cannot(call, "three inputs are needed");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "shape1", call->input[1].shape, call->input[1].rank);
  lower_arg_shape(call, "shape2", call->input[2].shape, call->input[2].rank);
  lower_arg_dtype(call, "dtype", &call->input[1]);
  return true;
}

VEW_OP(where, "Select|SelectV2", "y = x ? x1 : x2", where_keys, WHERE_KEYS, call_where, vew_setup,
       VFUNC(.inputs = 3, .outputs = 1, .types = VTYPES_FP16, .boolean = 1, .steps = where_steps))

/* ---- fill ----------------------------------------------------------------------------------- */

static const struct lower_key fill_keys[FILL_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of y", false},
    [FILL_DTYPE] = {"dtype", LOWER_DTYPE, "fp32", TYPES "|uint16|uint32", "type of y", false},
    [FILL_VALUE] = {"value", LOWER_NUMBER, "0", NULL, "the number", false},
    VTILE_KEY_ROWS_TABLE(FILL_TILING),
};

static const struct vstep fill_steps[] = {FILL_BY(Y0, 1), END};

static const char *const fill_numbers[] = {"value", NULL};

static bool call_fill(struct lower_call *call) {
  if (call->output_count == 0 && call->input_count == 0)
    return lower_cannot(call, "the row names no tensor, so its size is not known");
  const struct lower_tensor *y = call->output_count ? &call->output[0] : &call->input[0];
  lower_arg(call, "shape=%llu", (unsigned long long)lower_elements(y->shape, y->rank));
  lower_arg_dtype(call, "dtype", call->input_count ? &call->input[0] : y);
  return true;
}

VEW_OP(fill, "ZerosLike|OnesLike|Fill|MemSet", "y = value", fill_keys, FILL_KEYS, call_fill,
       vew_setup,
       VFUNC(.outputs = 1, .types = VTYPES_ANY, .steps = fill_steps, .parameters = fill_numbers))

/* ---- dropout -------------------------------------------------------------------------------- */

enum { DROP_DTYPE = 1, DROP_KEEP, DROP_TILING, DROP_KEYS = DROP_TILING + VTILE_KEYS };

static const struct lower_key dropout_keys[DROP_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x", false},
    [DROP_DTYPE] = {"dtype1", LOWER_DTYPE, "fp16", FLOATS, "type of x and y", false},
    [DROP_KEEP] = {"keep", LOWER_NUMBER, "0.5", NULL, "probability that an element stays", false},
    VTILE_KEY_ROWS_TABLE(DROP_TILING),
};

static const struct vstep dropout_steps[] = {FILL(T1, 0), P("vmuls", T0, X1, 1),
                                             SELECT(Y0, T0, T1, X0), END};

static void dropout_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  parameter[0] = 1 / job->value[DROP_KEEP].number;
}

static enum vinci_status dropout_setup(struct lower_job *job) {
  static const struct vfunc func = {.inputs = 2,
                                    .outputs = 1,
                                    .types = VTYPES_FP16,
                                    .bits = 1,
                                    .steps = dropout_steps,
                                    .numbers = dropout_numbers};
  double keep = job->value[DROP_KEEP].number;
  if (keep <= 0 || keep > 1)
    return lower_error(job, "keep is above 0 and at most 1, not %.9g", keep);
  return vew_setup_func(job, &func);
}

static bool call_dropout(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  lower_arg(call, "shape=%llu", (unsigned long long)lower_elements(x->shape, x->rank));
  lower_arg_dtype(call, "dtype1", x);
  return true;
}

VEW_OP(dropout, "DropOutDoMask", "y = bit of x ? x1 / keep : 0; x holds a bit for each element",
       dropout_keys, DROP_KEYS, call_dropout, dropout_setup, NULL)

/* ---- AdamW ---------------------------------------------------------------------------------- */

enum {
  ADAM_DTYPE = 1,
  ADAM_LR,
  ADAM_BETA1,
  ADAM_BETA2,
  ADAM_EPSILON,
  ADAM_DECAY,
  ADAM_STEP,
  ADAM_TILING,
  ADAM_KEYS = ADAM_TILING + VTILE_KEYS
};

static const struct lower_key adamw_keys[ADAM_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x and its companions", false},
    [ADAM_DTYPE] = {"dtype", LOWER_DTYPE, "fp32", FLOATS, "type of all", false},
    [ADAM_LR] = {"lr", LOWER_NUMBER, "0.001", NULL, "learning rate", false},
    [ADAM_BETA1] = {"beta1", LOWER_NUMBER, "0.9", NULL, "decay of the first moment", false},
    [ADAM_BETA2] = {"beta2", LOWER_NUMBER, "0.999", NULL, "decay of the second moment", false},
    [ADAM_EPSILON] = {"eps", LOWER_NUMBER, "1e-8", NULL, "added to the root", false},
    [ADAM_DECAY] = {"decay", LOWER_NUMBER, "0.01", NULL, "weight decay", false},
    [ADAM_STEP] = {"step", LOWER_SIZE, "1", NULL, "number of the step, from 1", false},
    VTILE_KEY_ROWS_TABLE(ADAM_TILING),
};

/*
 * x, m, v, g: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g;
 * x = (1 - lr decay) x - lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps).
 */
enum { AP_BETA1 = 1, AP_REST1, AP_BETA2, AP_REST2, AP_ROOT, AP_EPSILON, AP_KEEP, AP_RATE };
static const struct vstep adamw_steps[] = {
    P("vmuls", T0, X1, AP_BETA1),   P("vmuls", T1, X3, AP_REST1), B("vadd", Y1, T0, T1),
    B("vmul", T1, X3, X3),          P("vmuls", T1, T1, AP_REST2), P("vmuls", T0, X2, AP_BETA2),
    B("vadd", Y2, T0, T1),          P("vmuls", T0, Y2, AP_ROOT),  U("vsqrt", T0, T0),
    P("vadds", T0, T0, AP_EPSILON), B("vdiv", T0, Y1, T0),        P("vmuls", T0, T0, AP_RATE),
    P("vmuls", T1, X0, AP_KEEP),    B("vsub", Y0, T1, T0),        END};

/* By squaring: steps may be billions. */
static double power_of(double base, uint64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    power *= exponent % 2 ? base : 1;
  return power;
}

static void adamw_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  double b1 = job->value[ADAM_BETA1].number, b2 = job->value[ADAM_BETA2].number;
  uint64_t step = job->value[ADAM_STEP].size;
  double lr = job->value[ADAM_LR].number, power1 = power_of(b1, step), power2 = power_of(b2, step);
  parameter[AP_BETA1 - 1] = b1;
  parameter[AP_REST1 - 1] = 1 - b1;
  parameter[AP_BETA2 - 1] = b2;
  parameter[AP_REST2 - 1] = 1 - b2;
  parameter[AP_ROOT - 1] = 1 / (1 - power2);
  parameter[AP_EPSILON - 1] = job->value[ADAM_EPSILON].number;
  parameter[AP_KEEP - 1] = 1 - lr * job->value[ADAM_DECAY].number;
  parameter[AP_RATE - 1] = lr / (1 - power1);
}

static enum vinci_status adamw_setup(struct lower_job *job) {
  static const struct vfunc func = {
      .inputs = 4, .outputs = 3, .in_place = true, .steps = adamw_steps, .numbers = adamw_numbers};
  for (size_t i = ADAM_BETA1; i <= ADAM_BETA2; i++)
    if (job->value[i].number < 0 || job->value[i].number >= 1)
      return lower_error(job, "%s is at least 0 and below 1, not %.9g", adamw_keys[i].name,
                         job->value[i].number);
  if (job->value[ADAM_EPSILON].number < 0)
    return lower_error(job, "eps is at least 0, not %.9g", job->value[ADAM_EPSILON].number);
  return vew_setup_func(job, &func);
}

static bool call_adamw(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count < 4)
    return lower_cannot(call, "four inputs are needed");
  lower_arg(call, "shape=%llu", (unsigned long long)lower_elements(x->shape, x->rank));
  lower_arg_dtype(call, "dtype", x);
  return true;
}

VEW_OP(adamw, "ApplyAdamW|ApplyAdamWV2",
       "a step of AdamW: x, its moments x1 and x2, and the gradient x3", adamw_keys, ADAM_KEYS,
       call_adamw, adamw_setup, NULL)
