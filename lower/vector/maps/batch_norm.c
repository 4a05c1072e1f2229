/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch normalisation of training: statistics of the input, the normalised input, gradients. Each
 * operator is a few others (composite.h) that read the maps, and small ones on a number for each
 * channel. Sums are in single precision; the variance is the mean square less the squared mean.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lower/plan/composite.h"
#include "lower/vector/elementwise/elementwise.h"

#define FLOATS "fp16|bf16|fp32"
#define EPSILON_KEY NUMBER_KEY("epsilon", "1e-5", "added to the variance")
#define COUNT_KEY LOWER_KEY("count", SIZE, NULL, NULL, "elements of a channel")
#define CHANNELS_KEY SHAPE_KEY("channels")
#define MAP_KEYS                                                                                   \
  SHAPE_KEY("extents of the maps as their format orders them"),                                    \
      WORD_KEY("format", "nchw", "nchw|nc1hwc0",                                                   \
               "where channels are: dimension 1 of any number, or 1 and 4 of 5"),                  \
      DTYPE_KEY("fp16", FLOATS, "type of the maps")

enum { BLOCKED_RANK = 5, TEXT_BYTES = 96, FORMAT_NC1HWC0 = 1 };
enum { NUMBER_SHARE = 1, NUMBER_EPSILON };

/* ---- numbers of channels --------------------------------------------------------------------- */

static const struct lower_key moments_keys[] = {
    CHANNELS_KEY, COUNT_KEY, DTYPE_KEY("fp32", "fp32", "type of all"), VTILE_KEYS_TABLE};
static const struct lower_key small_keys[] = {CHANNELS_KEY, COUNT_KEY,
                                              DTYPE_KEY("fp32", "fp32", "type of all"), EPSILON_KEY,
                                              VTILE_KEYS_TABLE};

static void set_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  const struct lower_value *epsilon = lower_get(job, "epsilon");
  parameter[NUMBER_SHARE - 1] = 1.0 / (double)lower_get(job, "count")->size;
  parameter[NUMBER_EPSILON - 1] = epsilon ? epsilon->number : 0;
}

static const char *const moments_names[] = {"sum", "square_sum", "mean", "var"};
static const struct vstep moments_steps[] = {P("vmuls", Y0, X0, NUMBER_SHARE),
                                             P("vmuls", T0, X1, NUMBER_SHARE),
                                             B("vmul", T1, Y0, Y0),
                                             B("vsub", T0, T0, T1),
                                             S("vmaxs", Y1, T0, 0),
                                             END};

/* T1 = 1 / sqrt(var + epsilon), by T0. */
#define SCALE_OF(var_)                                                                             \
  P("vadds", T0, var_, NUMBER_EPSILON), U("vsqrt", T0, T0), FILL(T1, 1), B("vdiv", T1, T1, T0)

static const struct lower_key scale_keys[] = {
    CHANNELS_KEY, DTYPE_KEY("fp32", "fp32", "type of all"), EPSILON_KEY, VTILE_KEYS_TABLE};
static const char *const scale_names[] = {"product_sum", "var", "dgamma"};
static const char *const scale_numbers[] = {"epsilon", NULL};
static const struct vstep scale_steps[] = {P("vadds", T0, X1, 1), U("vsqrt", T0, T0),
                                           B("vdiv", Y0, X0, T0), END};

/* dx = a * dy + b * x + c with s = 1 / sqrt(var + epsilon): a = gamma * s,
 * b = -a * s * dgamma / count, c = -a * dbeta / count - b * mean. */
static const char *const factor_names[] = {"dgamma", "dbeta", "mean", "var",
                                           "gamma",  "a",     "b",    "c"};
#define NEGATED_SHARE(dst_, a_)                                                                    \
  STEP(.inst = "vmuls", .form = VFORM_SCALAR, .dst = dst_, .a = a_, .scalar = -1,                  \
       .parameter = NUMBER_SHARE)
static const struct vstep factor_steps[] = {SCALE_OF(X3),          B("vmul", Y0, X4, T1),
                                            B("vmul", T0, T1, X0), B("vmul", T0, T0, Y0),
                                            NEGATED_SHARE(Y1, T0), B("vmul", T0, Y0, X1),
                                            NEGATED_SHARE(T0, T0), B("vmul", T1, Y1, X2),
                                            B("vsub", Y2, T0, T1), END};

/* y = a * x + b: a = gamma / sqrt(var + epsilon), b = beta - mean * a. */
static const char *const line_names[] = {"mean", "var", "gamma", "beta", "a", "b"};
static const struct vstep line_steps[] = {P("vadds", T0, X1, 1), U("vsqrt", T0, T0),
                                          B("vdiv", Y0, X2, T0), B("vmul", T0, X0, Y0),
                                          B("vsub", Y1, X3, T0), END};

VEW_OPERATOR(batch_norm_line_factors, "", "a = gamma / sqrt(var + epsilon); b = beta - mean * a",
             scale_keys, NULL, .inputs = 4, .outputs = 2, .names = line_names, .steps = line_steps,
             .parameters = scale_numbers)
VEW_OPERATOR(batch_norm_moments, "",
             "mean = sum / count; var = square_sum / count - mean * mean, at least 0", moments_keys,
             NULL, .inputs = 2, .outputs = 2, .names = moments_names, .steps = moments_steps,
             .numbers = set_numbers)
VEW_OPERATOR(batch_norm_scale_grad, "", "dgamma = product_sum / sqrt(var + epsilon)", scale_keys,
             NULL, .inputs = 2, .outputs = 1, .names = scale_names, .steps = scale_steps,
             .parameters = scale_numbers)
VEW_OPERATOR(batch_norm_factors, "",
             "a, b and c of batch_norm_apply from dgamma, dbeta, mean, var and gamma", small_keys,
             NULL, .inputs = 5, .outputs = 3, .names = factor_names, .steps = factor_steps,
             .numbers = set_numbers)

/* ---- maps ------------------------------------------------------------------------------------ */

/* What the parts are told of the maps. */
struct maps {
  char shape[TEXT_BYTES];   /* "shape=8x16x7x7" */
  char axes[TEXT_BYTES];    /* all that are not channels, for a reduction to single precision */
  char numbers[TEXT_BYTES]; /* channels, elements of a channel */
  char channels[TEXT_BYTES];
  const char *type, *format;
  bool coupled; /* of a chip whose cores are cube and vector core in one, in blocks of channels */
};

static enum vinci_status read_maps(struct lower_job *job, struct maps *maps) {
  const struct lower_value *shape = lower_get(job, "shape");
  bool blocked = lower_get(job, "format")->word == FORMAT_NC1HWC0;
  const uint64_t *s = shape->shape;
  size_t length = (size_t)snprintf(maps->shape, sizeof maps->shape, "shape=");
  if (blocked ? shape->rank != BLOCKED_RANK : shape->rank < 2)
    return lower_error(job, "shape has %s extents", blocked ? "5" : "at least 2");
  for (unsigned i = 0; i < shape->rank && length < sizeof maps->shape; i++)
    length += (size_t)snprintf(maps->shape + length, sizeof maps->shape - length, "%s%" PRIu64,
                               i ? "x" : "", s[i]);
  maps->type = dtype_name(lower_get(job, "dtype")->dtype);
  unsigned inner = blocked ? 2 : shape->rank - 2;
  if (inner == 0)
    snprintf(maps->axes, sizeof maps->axes, "axis=0 out=fp32");
  else
    snprintf(maps->axes, sizeof maps->axes, "axis=2 axes=%u axis2=0 out=fp32", inner);
  maps->format = blocked ? "nc1hwc0" : "nchw";
  maps->coupled = blocked && emit_cube_core(job->soc) == emit_vector_core(job->soc);
  uint64_t channels = blocked ? s[1] * s[4] : s[1];
  snprintf(maps->channels, sizeof maps->channels, "shape=%" PRIu64, channels);
  snprintf(maps->numbers, sizeof maps->numbers, "shape=%" PRIu64 " count=%" PRIu64, channels,
           lower_elements(s, shape->rank) / channels);
  return VINCI_OK;
}

static enum vinci_status add_reduction(struct lower_job *job, const struct maps *maps,
                                       const char *op, const char *type,
                                       const struct emit_name *names) {
  return composite_add(job, op, names, "%s %s dtype=%s", maps->shape, maps->axes, type);
}

/* ---- forward --------------------------------------------------------------------------------- */

static const struct lower_key reduce_keys[] = {MAP_KEYS};
static const struct lower_key norm_keys[] = {MAP_KEYS, EPSILON_KEY};

/* The sums are results, or workspaces. */
static enum vinci_status add_sums(struct lower_job *job, const struct maps *maps, bool hidden) {
  static const struct emit_name shown[][2] = {{{"y", "sum", EMIT_FLAT}, {0}},
                                              {{"y", "square_sum", EMIT_FLAT}, {0}}};
  static const struct emit_name inner[][2] = {{{"y", "sum", EMIT_HIDDEN}, {0}},
                                              {{"y", "square_sum", EMIT_HIDDEN}, {0}}};
  enum vinci_status status =
      add_reduction(job, maps, "reduce_sum", maps->type, hidden ? inner[0] : shown[0]);
  if (status == VINCI_OK)
    status = add_reduction(job, maps, "lp_norm_reduce", maps->type, hidden ? inner[1] : shown[1]);
  return status;
}

static enum vinci_status add_norm(struct lower_job *job, const struct maps *maps, bool hidden,
                                  const char *last) {
  static const struct emit_name same[] = {{0}}, line[] = {{"a", "a", true}, {"b", "b", true}, {0}};
  static const struct emit_name inner[] = {
      {"sum", "sum", true}, {"square_sum", "square_sum", true}, {0}};
  enum vinci_status status =
      composite_add(job, "batch_norm_moments", hidden ? inner : same, "%s", maps->numbers);
  if (status == VINCI_OK)
    status = composite_add(job, "batch_norm_line_factors", line, "%s epsilon=%.9g", maps->channels,
                           lower_get(job, "epsilon")->number);
  if (status == VINCI_OK)
    status = composite_add(job, last, line, "%s format=%s dtype=%s", maps->shape, maps->format,
                           maps->type);
  return status;
}

static enum vinci_status reduce_setup(struct lower_job *job) {
  struct maps maps;
  enum vinci_status status = read_maps(job, &maps);
  return status == VINCI_OK ? add_sums(job, &maps, false) : status;
}

static enum vinci_status add_update(struct lower_job *job, const char *last) {
  struct maps maps;
  enum vinci_status status = read_maps(job, &maps);
  return status == VINCI_OK ? add_norm(job, &maps, false, last) : status;
}

static enum vinci_status update_setup(struct lower_job *job) {
  return add_update(job, "batch_norm_line");
}

static enum vinci_status update_relu_setup(struct lower_job *job) {
  return add_update(job, "batch_norm_line_relu");
}

static enum vinci_status update_residual_setup(struct lower_job *job) {
  return add_update(job, "batch_norm_residual_relu");
}

static enum vinci_status train_setup(struct lower_job *job) {
  struct maps maps;
  enum vinci_status status = read_maps(job, &maps);
  if (status == VINCI_OK)
    status = add_sums(job, &maps, true);
  return status == VINCI_OK ? add_norm(job, &maps, true, "batch_norm_line") : status;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* dbeta = sum(dy), dgamma by way of sum(dy * x) - mean * dbeta: the products of maps are not
 * stored, as by the vendor's kernel, whose one pass is two here. */
static enum vinci_status add_update_grad_dot(struct lower_job *job, const struct maps *maps) {
  NAMES(sum, MINE("x", "dy"), {"y", "dbeta", EMIT_FLAT});
  NAMES(dot, MINE("x", "dy"), MINE("x1", "x"), {"y", "product_sum", EMIT_HIDDEN});
  NAMES(scale, {"x", "product_sum", EMIT_HIDDEN}, {"x1", "dbeta", EMIT_FLAT}, MINE("x2", "mean"),
        MINE("x3", "var"), MINE("y", "dgamma"));
  enum vinci_status status = add_reduction(job, maps, "reduce_sum", maps->type, sum);
  PART(status, job, "reduce_sum", dot, "%s %s dtype=%s times=1", maps->shape, maps->axes,
       maps->type);
  PART(status, job, "chain", scale,
       "steps=m=mul:x1:x2,d=sub:x:m,v=adds:x3:%.9g,r=sqrt:v,y=div:d:r %s dtype=fp32",
       lower_get(job, "epsilon")->number, maps->channels);
  return status;
}

/* dbeta = sum(dy), dgamma by way of sum(dy * (x - mean)). */
static enum vinci_status add_update_grad(struct lower_job *job, const struct maps *maps) {
  static const struct emit_name sum[] = {{"x", "dy", false}, {"y", "dbeta", EMIT_FLAT}, {0}};
  static const struct emit_name multiply[] = {{"y", "products", true}, {0}};
  static const struct emit_name dot[] = {
      {"x", "products", true}, {"y", "product_sum", EMIT_HIDDEN}, {0}};
  static const struct emit_name scale[] = {{"product_sum", "product_sum", true}, {0}};
  if (maps->coupled)
    return add_update_grad_dot(job, maps);
  enum vinci_status status = add_reduction(job, maps, "reduce_sum", maps->type, sum);
  if (status == VINCI_OK)
    status = composite_add(job, "batch_norm_products", multiply, "%s format=%s dtype=%s",
                           maps->shape, maps->format, maps->type);
  if (status == VINCI_OK)
    status = add_reduction(job, maps, "reduce_sum", "fp32", dot);
  if (status == VINCI_OK)
    status = composite_add(job, "batch_norm_scale_grad", scale, "%s epsilon=%.9g", maps->channels,
                           lower_get(job, "epsilon")->number);
  return status;
}

static enum vinci_status add_reduce_grad(struct lower_job *job, const struct maps *maps) {
  static const struct emit_name factors[] = {
      {"a", "a", true}, {"b", "b", true}, {"c", "c", true}, {0}};
  enum vinci_status status = composite_add(job, "batch_norm_factors", factors, "%s epsilon=%.9g",
                                           maps->numbers, lower_get(job, "epsilon")->number);
  if (status == VINCI_OK)
    status = composite_add(job, "batch_norm_apply", factors, "%s format=%s dtype=%s", maps->shape,
                           maps->format, maps->type);
  return status;
}

static enum vinci_status update_grad_setup(struct lower_job *job) {
  struct maps maps;
  enum vinci_status status = read_maps(job, &maps);
  return status == VINCI_OK ? add_update_grad(job, &maps) : status;
}

static enum vinci_status reduce_grad_setup(struct lower_job *job) {
  struct maps maps;
  enum vinci_status status = read_maps(job, &maps);
  return status == VINCI_OK ? add_reduce_grad(job, &maps) : status;
}

static enum vinci_status grad_setup(struct lower_job *job) {
  struct maps maps;
  enum vinci_status status = read_maps(job, &maps);
  if (status == VINCI_OK)
    status = add_update_grad(job, &maps);
  return status == VINCI_OK ? add_reduce_grad(job, &maps) : status;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* The first input is a map. */
static bool call_maps(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count == 0 || x->rank < 2)
    return lower_cannot(call, "a map is needed");
  bool blocked = strcmp(x->format, "NC1HWC0") == 0;
  if (blocked ? x->rank != BLOCKED_RANK : strcmp(x->format, "NHWC") == 0)
    return lower_cannot(call, "channels of %s are not supported", x->format);
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "format=%s", blocked ? "nc1hwc0" : "nchw");
  lower_arg_dtype(call, "dtype", x);
  return true;
}

#define MAPS(id, vendor, summary, keys, setup_)                                                    \
  static const struct lower_template id##_template = COMPOSITE_TEMPLATE(setup_);                   \
  LOWER_OPERATOR(id, vendor, summary, keys, &id##_template, NULL, call_maps)

MAPS(batch_norm_reduce, "BNTrainingReduce", "sum and square_sum of each channel of x", reduce_keys,
     reduce_setup)
MAPS(batch_norm_update, "BNTrainingUpdate|BNTrainingUpdateV2|BNTrainingUpdateV3",
     "batch_norm with mean and var from sum and square_sum; running means are not kept", norm_keys,
     update_setup)
MAPS(batch_norm_update_relu, "FusionOp_BNTrainingUpdate_ReLUV2|FusionOp_BNTrainingUpdate_ReLU",
     "batch_norm_update, then relu; which results were positive is not stored", norm_keys,
     update_relu_setup)
MAPS(batch_norm_update_residual_relu, "FusionOp_BNTrainingUpdate_Add_ReLUV2",
     "relu of batch_norm_update and another map r; which results were positive is not stored",
     norm_keys, update_residual_setup)
MAPS(batch_norm_train, "BatchNormV3", "batch_norm with mean and var of x, which are results too",
     norm_keys, train_setup)
MAPS(batch_norm_update_grad, "BNTrainingUpdateGrad",
     "dbeta = sum(dy); dgamma = sum(dy * (x - mean)) / sqrt(var + epsilon), per channel", norm_keys,
     update_grad_setup)
MAPS(batch_norm_reduce_grad, "BNTrainingReduceGrad",
     "dx = gamma / sqrt(var + epsilon) * (dy - (dbeta + n * dgamma) / count), n being the "
     "normalised x",
     norm_keys, reduce_grad_setup)
MAPS(batch_norm_grad, "BatchNormGrad|BatchNormGradV3",
     "batch_norm_update_grad, then batch_norm_reduce_grad", norm_keys, grad_setup)
