/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of training and their like that are several others (composite.h): losses,
 * normalisations with statistics of the input, gradients. The vendor's library has one kernel for
 * most of them, so that what goes between the parts through device memory is too much here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lower/plan/composite.h"

#define FLOATS "fp16|bf16|fp32"
enum { TEXT_BYTES = 96 };

struct shape_words {
  char text[TEXT_BYTES];
};

/* "8x128" of extents. */
static struct shape_words words_of(const uint64_t *shape, unsigned rank) {
  struct shape_words out = {"1"};
  size_t length = 0;
  for (unsigned i = 0; i < rank && length < sizeof out.text; i++)
    length += (size_t)snprintf(out.text + length, sizeof out.text - length, "%s%" PRIu64,
                               i ? "x" : "", shape[i]);
  return out;
}

static struct shape_words shape_of(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  return words_of(shape->shape, shape->rank);
}

static const char *type_of(const struct lower_job *job, const char *key) {
  return dtype_name(lower_get(job, key)->dtype);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static const struct lower_key loss_keys[] = {SHAPE_KEY("extents of x, x1 and dx; classes last"),
                                             DTYPE_KEY("fp32", FLOATS, "type of all")};
static const struct lower_key sparse_keys[] = {
    SHAPE_KEY("extents of x and dx; classes last"), DTYPE_KEY("fp32", FLOATS, "type of x and dx"),
    LOWER_KEY("dtype1", DTYPE, "int32", "int32|int64", "type of the classes x1")};

/* The labels are x1, or a workspace. */
static enum vinci_status add_loss(struct lower_job *job, const struct emit_name *rows) {
  static const struct emit_name sum[] = {{"x", "terms", true}, {"y", "loss", false}, {0}};
  struct shape_words shape = shape_of(job);
  const char *type = type_of(job, "dtype");
  enum vinci_status status =
      composite_add(job, "cross_entropy_rows", rows, "shape=%s dtype=%s", shape.text, type);
  if (status == VINCI_OK)
    status = composite_add(job, "reduce_sum", sum, "shape=%s dtype=%s", shape.text, type);
  return status;
}

static enum vinci_status loss_setup(struct lower_job *job) {
  static const struct emit_name rows[] = {{"y", "dx", false}, {"y1", "terms", true}, {0}};
  return add_loss(job, rows);
}

static enum vinci_status sparse_setup(struct lower_job *job) {
  static const struct emit_name labels[] = {{"x", "x1", false}, {"y", "labels", EMIT_HIDDEN}, {0}};
  static const struct emit_name rows[] = {
      {"x1", "labels", EMIT_HIDDEN}, {"y", "dx", false}, {"y1", "terms", true}, {0}};
  const struct lower_value *shape = lower_get(job, "shape");
  enum vinci_status status =
      composite_add(job, "one_hot", labels, "shape=%s depth=%" PRIu64 " dtype=%s out=%s",
                    words_of(shape->shape, shape->rank - 1).text, shape->shape[shape->rank - 1],
                    type_of(job, "dtype1"), type_of(job, "dtype"));
  return status == VINCI_OK ? add_loss(job, rows) : status;
}

static bool call_loss(struct lower_call *call) {
  if (call->input_count < 2 || call->input[0].rank == 0)
    return lower_cannot(call, "x and labels are needed");
  lower_arg_tensor(call, &call->input[0]);
  if (strncmp(call->type, "Sparse", sizeof "Sparse" - 1) == 0)
    lower_arg_dtype(call, "dtype1", &call->input[1]);
  return true;
}

static const struct lower_template loss_template = COMPOSITE_TEMPLATE(loss_setup);
static const struct lower_template sparse_template = COMPOSITE_TEMPLATE(sparse_setup);
LOWER_OPERATOR(softmax_cross_entropy, "SoftmaxCrossEntropyWithLogits",
               "loss = -sum(x1 * log_softmax(x)) of each row; dx = softmax(x) - x1", loss_keys,
               &loss_template, NULL, call_loss)
LOWER_OPERATOR(sparse_softmax_cross_entropy, "SparseSoftmaxCrossEntropyWithLogits",
               "softmax_cross_entropy of the one_hot of the classes x1", sparse_keys,
               &sparse_template, NULL, call_loss)

/* ---- normalisation in groups of channels ----------------------------------------------------- */

static const struct lower_key group_keys[] = {
    SHAPE_KEY("extents of x and y: images, channels, others"),
    LOWER_KEY("groups", SIZE, NULL, NULL, "of channels"), DTYPE_KEY("fp16", FLOATS, "type of all"),
    NUMBER_KEY("eps", "1e-5", "added to the variance")};
static const struct lower_key instance_keys[] = {
    SHAPE_KEY("extents of x and y: images, channels, others"),
    DTYPE_KEY("fp16", FLOATS, "type of all"), NUMBER_KEY("eps", "1e-5", "added to the variance")};

static enum vinci_status group_setup(struct lower_job *job) {
  static const struct emit_name norm[] = {{"y", "normal", EMIT_HIDDEN}, {0}};
  static const struct emit_name scale[] = {
      {"x", "beta", false}, {"x1", "normal", EMIT_HIDDEN}, {"x2", "gamma", false}, {0}};
  const struct lower_value *shape = lower_get(job, "shape"), *given = lower_get(job, "groups");
  const char *type = type_of(job, "dtype");
  if (shape->rank < 2)
    return lower_error(job, "shape has at least 2 extents");
  uint64_t channels = shape->shape[1], groups = given ? given->size : channels;
  if (channels % groups)
    return lower_error(job, "%" PRIu64 " channels are no %" PRIu64 " equal groups", channels,
                       groups);
  uint64_t rows = shape->shape[0] * groups, all = lower_elements(shape->shape, shape->rank);
  const uint64_t merged[] = {shape->shape[0], channels, all / shape->shape[0] / channels};
  enum vinci_status status = composite_add(job, "mean_variance_norm", norm,
                                           "shape=%" PRIu64 "x%" PRIu64 " dtype=%s eps=%.9g", rows,
                                           all / rows, type, lower_get(job, "eps")->number);
  if (status == VINCI_OK)
    status = composite_add(job, "addcmul", scale,
                           "shape=%" PRIu64 "x1 shape1=%s shape2=%" PRIu64 "x1 dtype=%s", channels,
                           words_of(merged, 3).text, channels, type);
  return status;
}

/* x, gamma, beta; how many groups is an attribute, which profiles do not tell. */
static bool call_group(struct lower_call *call) {
  if (call->input_count < 3 || call->input[0].rank < 2)
    return lower_cannot(call, "x, gamma and beta are needed");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

static const struct lower_template group_template = COMPOSITE_TEMPLATE(group_setup);
LOWER_OPERATOR(group_norm, "GroupNorm|GroupNormV2",
               "y = gamma * (x - mean) / sqrt(variance + eps) + beta, with mean and variance of "
               "each group of channels, gamma and beta of each channel",
               group_keys, &group_template, NULL, call_group)
LOWER_OPERATOR(instance_norm, "InstanceNorm|InstanceNormV2|InstanceNormV3",
               "group_norm with a group for each channel", instance_keys, &group_template, NULL,
               call_group)

/* ---- gradients of lookups and parts ---------------------------------------------------------- */

static const struct lower_key embedding_keys[] = {
    SHAPE_KEY("extents of the table's gradient y: its rows first"),
    LOWER_KEY("count", SHAPE, NULL, NULL, "extents of the indices"),
    LOWER_KEY("first", SIZE, "0", "0", "the first index"),
    LOWER_KEY("step", SIZE, "7919", "0", "from one index to the next, modulo the rows"),
    DTYPE_KEY("fp32", FLOATS, "type of x and y"),
    LOWER_KEY("dtype1", DTYPE, "int32", "int32|int64", "type of the indices")};

static enum vinci_status embedding_setup(struct lower_job *job) {
  static const struct emit_name same[] = {{0}};
  const struct lower_value *count = lower_get(job, "count");
  struct shape_words shape = shape_of(job);
  const char *type = type_of(job, "dtype");
  enum vinci_status status =
      composite_add(job, "fill", same, "shape=%s dtype=%s value=0", shape.text, type);
  if (status == VINCI_OK)
    status = composite_add(
        job, "scatter_add", same,
        "shape=%s count=%s first=%" PRIu64 " step=%" PRIu64 " dtype=%s dtype1=%s", shape.text,
        words_of(count->shape, count->rank).text, lower_get(job, "first")->size,
        lower_get(job, "step")->size, type, type_of(job, "dtype1"));
  return status;
}

/*
 * x, to which segment each of its rows goes; segments. On coupled cores clearing them is a row of
 * its own in profiles: no kernel of those times could write all of them.
 */
static bool call_segments(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *index = &call->input[1], *y = &call->output[0];
  if (call->input_count < 2 || call->output_count == 0 || index->rank == 0 || y->rank == 0)
    return lower_cannot(call, "x, indices and a result are needed");
  lower_arg_shape(call, "shape", y->shape, y->rank);
  lower_arg_shape(call, "count", index->shape, index->rank);
  lower_arg_dtype(call, "dtype", x);
  lower_arg_dtype(call, "dtype1", index);
  if (call->soc && emit_cube_core(call->soc) == emit_vector_core(call->soc))
    call->op = lower_find("scatter_add");
  return true;
}

static const struct lower_template embedding_template = COMPOSITE_TEMPLATE(embedding_setup);
/* No name of the vendor: EmbeddingDenseGradV2 of tests/reference/silicon_calibration.csv takes 135
 * us with a table of 622 MB, which no kernel fills in that time. */
LOWER_OPERATOR(embedding_grad, "UnsortedSegmentSum|UnsortedSegmentSumD",
               "y = sums of the rows of x with one index, 0 where there are none; the indices x1 "
               "are for times taken to be (first + i * step) % rows",
               embedding_keys, &embedding_template, NULL, call_segments)

static const struct lower_key slice_keys[] = {
    SHAPE_KEY("extents of x, the gradient of the part"),
    LOWER_KEY("out", SHAPE, NULL, NULL, "extents of y, the gradient of the whole"),
    LOWER_KEY("begin", SHAPE, "", "0", "where the part begins; at the first element"),
    LOWER_KEY("step", SHAPE, "", NULL, "from one element of the part to the next in y; 1"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int32", "type of x and y")};

static enum vinci_status slice_setup(struct lower_job *job) {
  static const struct emit_name same[] = {{0}};
  const struct lower_value *x = lower_get(job, "shape"), *out = lower_get(job, "out");
  const struct lower_value *begin = lower_get(job, "begin"), *step = lower_get(job, "step");
  uint64_t before[TENSOR_RANK_MAX] = {0}, after[TENSOR_RANK_MAX] = {0}, by[TENSOR_RANK_MAX];
  if (out->rank != x->rank || (begin && begin->rank != x->rank) || (step && step->rank != x->rank))
    return lower_error(job, "shape, out, begin and step have as many numbers as each other");
  for (unsigned i = 0; i < x->rank; i++) {
    before[i] = begin ? begin->shape[i] : 0;
    by[i] = step ? step->shape[i] : 1;
    /* Whether the last of x lies in y, without a product that could be too large. */
    if (before[i] >= out->shape[i] || x->shape[i] - 1 > (out->shape[i] - before[i] - 1) / by[i])
      return lower_error(job,
                         "dimension %u: %" PRIu64 " elements from %" PRIu64 " on, %" PRIu64
                         " apart, end behind the whole, which has %" PRIu64,
                         i + 1, x->shape[i], before[i], by[i], out->shape[i]);
    after[i] = out->shape[i] - before[i] - (x->shape[i] - 1) * by[i] - 1;
  }
  return composite_add(job, "pad", same, "shape=%s before=%s after=%s step=%s dtype=%s",
                       shape_of(job).text, words_of(before, x->rank).text,
                       words_of(after, x->rank).text, words_of(by, x->rank).text,
                       type_of(job, "dtype"));
}

/* The gradient comes behind the shape, begin, end and strides, whose numbers profiles lack. */
static bool call_slice(struct lower_call *call) {
  const struct lower_tensor *y = &call->output[0];
  const struct lower_tensor *x = &call->input[call->input_count ? call->input_count - 1 : 0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || x->rank != y->rank)
    return lower_cannot(call, "no shapes of equal rank");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "out", y->shape, y->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template slice_template = COMPOSITE_TEMPLATE(slice_setup);
LOWER_OPERATOR(slice_grad, "StridedSliceGrad|StridedSliceGradD|SliceGrad",
               "y = x where a slice has taken it from, and 0 elsewhere; elements of the part may "
               "lie a step apart",
               slice_keys, &slice_template, NULL, call_slice)
