/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients and sums of squares that are several operators (composite.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lower/plan/composite.h"

#define FLOATS "fp16|fp32"

static uint64_t elements_of(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  return lower_elements(shape->shape, shape->rank);
}

static const char *type_of(const struct lower_job *job, const char *key) {
  return dtype_name(lower_get(job, key)->dtype);
}

/* ---- a number beside a tensor ---------------------------------------------------------------- */

static const struct lower_key extreme_keys[] = {
    SHAPE_KEY("extents of x, dz and dx"), DTYPE_KEY("fp32", FLOATS, "type of all"),
    WORD_KEY("largest", "0", "0|1", "gradient of max in place of min")};

static enum vinci_status extreme_setup(struct lower_job *job) {
  NAMES(parts, MINE("x", "x"), MINE("x1", "number"), MINE("x2", "dz"), MINE("y", "dx"),
        BETWEEN("y1", "others"));
  NAMES(sum, BETWEEN("x", "others"), {"y", "dnumber", EMIT_FLAT});
  const char *type = type_of(job, "dtype");
  enum vinci_status status = composite_add(
      job, "chain", parts,
      "steps=c=%s:x:x1,z=sub:x2:x2,y=where:c:x2:z,y1=sub:x2:y shape=%" PRIu64 " shape1=1 dtype=%s",
      lower_get(job, "largest")->word ? "greater_equal" : "less_equal", elements_of(job), type);
  if (status == VINCI_OK)
    status =
        composite_add(job, "reduce_sum", sum, "shape=%" PRIu64 " dtype=%s", elements_of(job), type);
  return status;
}

/* x, a number, the gradient of the result; one result for each of both. */
static bool call_extreme(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count < 3 || x->rank == 0 ||
      lower_elements(call->input[1].shape, call->input[1].rank) != 1)
    return lower_cannot(call, "a tensor, a number and a gradient are needed");
  lower_arg_elements(call, x);
  lower_arg(call, "largest=%d", strncmp(call->type, "Max", 3) == 0);
  return true;
}

static const struct lower_template extreme_template = COMPOSITE_TEMPLATE(extreme_setup);
LOWER_OPERATOR(extreme_grad, "MinimumGrad|MaximumGrad",
               "dx = x <= number ? dz : 0; dnumber = sum of what is not in dx", extreme_keys,
               &extreme_template, NULL, call_extreme)

/* ---- gamma and beta of a normalisation ------------------------------------------------------- */

static const struct lower_key weights_keys[] = {
    LOWER_KEY("rows", SIZE, NULL, NULL, "rows of dy and normal"),
    LOWER_KEY("cols", SIZE, NULL, NULL, "their columns"), DTYPE_KEY("fp16", FLOATS, "type of dy"),
    LOWER_KEY("dtype1", DTYPE, "fp32", FLOATS, "type of normal")};

static enum vinci_status weights_setup(struct lower_job *job) {
  NAMES(products, MINE("x", "dy"), MINE("x1", "normal"), BETWEEN("y", "products"));
  NAMES(gamma, BETWEEN("x", "products"), {"y", "dgamma", EMIT_FLAT});
  NAMES(beta, MINE("x", "dy"), {"y", "dbeta", EMIT_FLAT});
  uint64_t rows = lower_get(job, "rows")->size, cols = lower_get(job, "cols")->size;
  const char *type = type_of(job, "dtype");
  enum vinci_status status = composite_add(
      job, "mul", products, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s dtype1=%s out=fp32", rows, cols,
      type, type_of(job, "dtype1"));
  if (status == VINCI_OK)
    status = composite_add(job, "reduce_sum", gamma,
                           "shape=%" PRIu64 "x%" PRIu64 " axis=0 dtype=fp32", rows, cols);
  if (status == VINCI_OK)
    status =
        composite_add(job, "reduce_sum", beta,
                      "shape=%" PRIu64 "x%" PRIu64 " axis=0 dtype=%s out=fp32", rows, cols, type);
  return status;
}

/* dy and the normalised x; gamma tells how many columns a row has. */
static bool call_weights(struct lower_call *call) {
  lower_as_rows(call);
  const struct lower_tensor *dy = &call->input[0], *gamma = &call->output[0];
  if (call->input_count < 2 || call->output_count == 0 || dy->rank == 0)
    return lower_cannot(call, "dy, the normalised x and a result are needed");
  uint64_t all = lower_elements(dy->shape, dy->rank);
  uint64_t cols = lower_elements(gamma->shape, gamma->rank);
  if (cols == 0 || all % cols)
    return lower_cannot(call, "the result does not fit the rows");
  lower_arg(call, "rows=%" PRIu64, all / cols);
  lower_arg(call, "cols=%" PRIu64, cols);
  lower_arg_dtype(call, "dtype", dy);
  lower_arg_dtype(call, "dtype1", &call->input[1]);
  return true;
}

static const struct lower_template weights_template = COMPOSITE_TEMPLATE(weights_setup);
LOWER_OPERATOR(norm_weights_grad, "LayerNormBetaGammaBackpropV2",
               "dgamma = sum(dy * normal), dbeta = sum(dy), of each column", weights_keys,
               &weights_template, NULL, call_weights)

/* ---- sums of squares ------------------------------------------------------------------------- */

static const struct lower_key square_keys[] = {SHAPE_KEY("extents of x and y"),
                                               DTYPE_KEY("fp32", FLOATS, "type of all")};

static enum vinci_status square_setup(struct lower_job *job) {
  NAMES(copy, MINE("x", "x"), MINE("y", "y"));
  NAMES(sum, MINE("x", "x"), {"y", "square_sum", EMIT_FLAT});
  const char *type = type_of(job, "dtype");
  enum vinci_status status = composite_add(job, "lp_norm_reduce", sum, "shape=%" PRIu64 " dtype=%s",
                                           elements_of(job), type);
  if (status == VINCI_OK)
    status = composite_add(job, "copy", copy, "shape=%" PRIu64 " dtype=%s", elements_of(job), type);
  return status;
}

static bool call_square(struct lower_call *call) {
  if (call->input_count == 0 || call->input[0].rank == 0)
    return lower_cannot(call, "no shape");
  lower_arg_elements(call, &call->input[0]);
  return true;
}

static const struct lower_template square_template = COMPOSITE_TEMPLATE(square_setup);
LOWER_OPERATOR(square_sum_copy, "SquareSumV2", "square_sum = sum of the squares of x; y = x",
               square_keys, &square_template, NULL, call_square)
