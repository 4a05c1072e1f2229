/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators with numbers per channel: batch normalisation of inference, and what that
 * of training does with whole maps. */
#include <string.h>

#include "core/base/arith.h"
#include "lower/vector/elementwise/elementwise.h"

enum { FORMAT_NCHW, FORMAT_NC1HWC0 };
enum { BLOCKED_RANK = 5, NUMBER_EPSILON = 1, CHANNEL_INPUTS = 5, CALL_GAMMA = 1 };

static const struct lower_key batch_norm_keys[] = {
    SHAPE_KEY("extents of x as its format orders them"),
    WORD_KEY("format", "nchw", "nchw|nc1hwc0",
             "where channels are: dimension 1 of any number, or 1 and 4 of 5"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x and y"),
    LOWER_KEY("dtype1", DTYPE, "fp32", "fp16|bf16|fp32", "type of mean, var, gamma and beta"),
    NUMBER_KEY("epsilon", "1e-5", "added to var"),
    VTILE_KEYS_TABLE};

/* X0: x, X1: mean, X2: var, X3: gamma, X4: beta. */
static const struct vstep batch_norm_steps[] = {P("vadds", T0, X2, NUMBER_EPSILON),
                                                U("vsqrt", T0, T0),
                                                B("vsub", T1, X0, X1),
                                                B("vdiv", T1, T1, T0),
                                                B("vmul", T1, T1, X3),
                                                B("vadd", Y0, T1, X4),
                                                END};

/* Where x lies: images or blocks of channels outside; rows of channels or columns of them. */
struct channels {
  struct vtile_space space;
  enum vkind kind; /* of the numbers */
  uint64_t count, outer_stride[VTILE_OUTERS];
};

static struct channels find_channels(const struct lower_value *shape, bool blocked) {
  const uint64_t *s = shape->shape;
  if (blocked)
    return (struct channels){
        .space = {.outers = 2, .outer = {s[0], s[1]}, .rows = s[2] * s[3], .cols = s[4]},
        .kind = VKIND_ROW,
        .count = s[1] * s[4],
        .outer_stride = {0, s[4]}};
  uint64_t inner = lower_elements(s + 2, shape->rank - 2);
  if (inner == 1)
    return (struct channels){
        .space = {.rows = s[0], .cols = s[1]}, .kind = VKIND_ROW, .count = s[1]};
  return (struct channels){.space = {.outers = 1, .outer = {s[0]}, .rows = s[1], .cols = inner},
                           .kind = VKIND_COLUMN,
                           .count = s[1]};
}

/* x and y follow the space without a gap. */
static void set_whole(struct vew_operand *operand, enum dtype dtype,
                      const struct vtile_space *space) {
  struct vtile_operand *tile = &operand->tile;
  uint64_t stride = space->rows * space->cols;
  operand->type = tile->dtype = dtype;
  operand->kind = VKIND_FULL;
  tile->row_stride = space->cols;
  tile->col_stride = 1;
  for (unsigned i = space->outers; i-- > 0; stride *= space->outer[i])
    tile->outer_stride[i] = stride;
}

static void set_numbers(struct vew *ew, unsigned input, const char *name, enum dtype dtype,
                        const struct channels *channels) {
  struct vew_operand *operand = &ew->in[input];
  ew->rank[input] = 1;
  ew->shape[input][0] = channels->count;
  operand->type = dtype;
  operand->kind = channels->kind;
  operand->tile.name = name;
  operand->tile.dtype = dtype;
  operand->tile.row_stride = channels->kind == VKIND_COLUMN;
  operand->tile.col_stride = channels->kind == VKIND_ROW;
  memcpy(operand->tile.outer_stride, channels->outer_stride, sizeof channels->outer_stride);
}

/* The first inputs are as large as the result; the others are numbers, with these names. Results of
 * a type of their own have the key `out`. */
static enum vinci_status set_operands(struct lower_job *job, struct vew *ew, unsigned whole,
                                      const char *const *numbers) {
  const struct lower_value *shape = lower_get(job, "shape");
  enum dtype dtype = lower_get(job, "dtype")->dtype;
  bool blocked = lower_get(job, "format")->word == FORMAT_NC1HWC0;
  if (blocked ? shape->rank != BLOCKED_RANK : shape->rank < 2)
    return lower_error(job, "shape has %s extents", blocked ? "5" : "at least 2");
  struct channels channels = find_channels(shape, blocked);
  ew->kernel.tile.space = channels.space;
  const struct lower_value *out = lower_get(job, "out");
  set_whole(&ew->out[0], out ? out->dtype : dtype, &channels.space);
  ew->out_rank = shape->rank;
  memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
  for (unsigned k = 0; k < whole; k++) {
    set_whole(&ew->in[k], dtype, &channels.space);
    ew->rank[k] = shape->rank;
    memcpy(ew->shape[k], shape->shape, sizeof ew->shape[k]);
  }
  for (unsigned k = whole; k < ew->func.inputs; k++)
    set_numbers(ew, k, numbers[k - whole], lower_get(job, "dtype1")->dtype, &channels);
  return VINCI_OK;
}

static enum vinci_status batch_norm_operands(struct lower_job *job, struct vew *ew) {
  static const char *const numbers[] = {"mean", "var", "gamma", "beta"};
  double epsilon = lower_get(job, "epsilon")->number;
  if (epsilon < 0)
    return lower_error(job, "epsilon is at least 0, not %.9g", epsilon);
  return set_operands(job, ew, 1, numbers);
}

/* With mean and variance among the inputs it is the form of inference. */
static bool call_batch_norm(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count < CHANNEL_INPUTS || call->input[CHANNEL_INPUTS - 1].rank == 0)
    return lower_cannot(call, "mean and variance are not inputs");
  bool blocked = strcmp(x->format, "NC1HWC0") == 0;
  if (blocked ? x->rank != BLOCKED_RANK : strcmp(x->format, "NHWC") == 0)
    return lower_cannot(call, "channels of %s are not supported", x->format);
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "format=%s", blocked ? "nc1hwc0" : "nchw");
  lower_arg_dtype(call, "dtype", x);
  lower_arg_dtype(call, "dtype1", &call->input[CALL_GAMMA]);
  return true;
}

static const char *const parameters[] = {"epsilon", NULL};

VEW_OPERATOR(batch_norm, "BNInfer|BNInferD|BNInferenceD|BatchNorm",
             "y = (x - mean) / sqrt(var + epsilon) * gamma + beta, per channel", batch_norm_keys,
             call_batch_norm, .inputs = CHANNEL_INPUTS, .outputs = 1, .as_first = true,
             .blocks = true, .steps = batch_norm_steps, .parameters = parameters,
             .operands = batch_norm_operands)

/* ---- training -------------------------------------------------------------------------------- */

static const struct lower_key apply_keys[] = {
    SHAPE_KEY("extents of dy, x and dx as their format orders them"),
    WORD_KEY("format", "nchw", "nchw|nc1hwc0",
             "where channels are: dimension 1 of any number, or 1 and 4 of 5"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of dy, x and dx"),
    LOWER_KEY("dtype1", DTYPE, "fp32", "fp16|bf16|fp32", "type of a, b and c"), VTILE_KEYS_TABLE};
static const char *const apply_names[] = {"dy", "x", "a", "b", "c", "dx"};
static const struct vstep batch_norm_apply_steps[] = {B("vmul", T0, X0, X2), B("vmul", T1, X1, X3),
                                                      B("vadd", T0, T0, T1), B("vadd", Y0, T0, X4),
                                                      END};

static enum vinci_status apply_operands(struct lower_job *job, struct vew *ew) {
  return set_operands(job, ew, 2, apply_names + 2);
}

static const struct lower_key products_keys[] = {
    SHAPE_KEY("extents of dy, x and y as their format orders them"),
    WORD_KEY("format", "nchw", "nchw|nc1hwc0",
             "where channels are: dimension 1 of any number, or 1 and 4 of 5"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of dy and x"),
    LOWER_KEY("dtype1", DTYPE, "fp32", "fp16|bf16|fp32", "type of mean"),
    LOWER_KEY("out", DTYPE, "fp32", "fp16|bf16|fp32", "type of y"),
    VTILE_KEYS_TABLE};
static const char *const products_names[] = {"dy", "x", "mean", "y"};
static const struct vstep batch_norm_products_steps[] = {B("vsub", T0, X1, X2),
                                                         B("vmul", Y0, X0, T0), END};

static enum vinci_status products_operands(struct lower_job *job, struct vew *ew) {
  return set_operands(job, ew, 2, products_names + 2);
}

VEW_OPERATOR(batch_norm_products, "", "y = dy * (x - mean), per channel", products_keys, NULL,
             .inputs = 3, .outputs = 1, .blocks = true, .names = products_names,
             .steps = batch_norm_products_steps, .operands = products_operands)
static const struct lower_key line_keys[] = {
    SHAPE_KEY("extents of x and y as their format orders them"),
    WORD_KEY("format", "nchw", "nchw|nc1hwc0",
             "where channels are: dimension 1 of any number, or 1 and 4 of 5"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x and y"),
    LOWER_KEY("dtype1", DTYPE, "fp32", "fp16|bf16|fp32", "type of a and b"), VTILE_KEYS_TABLE};
static const char *const line_names[] = {"x", "a", "b", "y"};
static const struct vstep batch_norm_line_steps[] = {B("vmul", T0, X0, X1), B("vadd", Y0, T0, X2),
                                                     END};

static const struct vstep batch_norm_line_relu_steps[] = {
    B("vmul", T0, X0, X1), B("vadd", T0, T0, X2), S("vmaxs", Y0, T0, 0), END};
/* X0: x, X1: r, X2: a, X3: b. */
static const char *const residual_names[] = {"x", "r", "a", "b", "y"};
static const struct vstep batch_norm_residual_steps[] = {
    B("vmul", T0, X0, X2), B("vadd", T0, T0, X3), B("vadd", T0, T0, X1), S("vmaxs", Y0, T0, 0),
    END};

static enum vinci_status residual_operands(struct lower_job *job, struct vew *ew) {
  return set_operands(job, ew, 2, residual_names + 2);
}

static enum vinci_status line_operands(struct lower_job *job, struct vew *ew) {
  return set_operands(job, ew, 1, line_names + 1);
}

VEW_OPERATOR(batch_norm_line, "", "y = a * x + b, per channel", line_keys, NULL, .inputs = 3,
             .outputs = 1, .as_first = true, .blocks = true, .names = line_names,
             .steps = batch_norm_line_steps, .operands = line_operands)
VEW_OPERATOR(batch_norm_line_relu, "", "y = max(a * x + b, 0), per channel", line_keys, NULL,
             .inputs = 3, .outputs = 1, .as_first = true, .blocks = true, .names = line_names,
             .steps = batch_norm_line_relu_steps, .operands = line_operands)
VEW_OPERATOR(batch_norm_residual_relu, "", "y = max(a * x + b + r, 0), a and b per channel",
             line_keys, NULL, .inputs = 4, .outputs = 1, .as_first = true, .blocks = true,
             .names = residual_names, .steps = batch_norm_residual_steps,
             .operands = residual_operands)
VEW_OPERATOR(batch_norm_apply, "", "dx = a * dy + b * x + c, per channel", apply_keys, NULL,
             .inputs = CHANNEL_INPUTS, .outputs = 1, .as_first = true, .blocks = true,
             .names = apply_names, .steps = batch_norm_apply_steps, .operands = apply_operands)
