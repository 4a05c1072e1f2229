/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of scores of attention: scaled, with a mask added, which rows or blocks of rows share.
 * The mask has numbers, such as 0 and -10000; a mask of bytes is not modelled.
 */
#include <string.h>

#include "lower/vector/rows/norm.h"

#define FLOATS "fp16|bf16|fp32"
#define SCALE_KEY NUMBER_KEY("scale", "1", "what x is multiplied with first")

static const struct lower_key masked_keys[] = {
    SHAPE_KEY("extents of x; along the last"),
    LOWER_KEY("shape1", SHAPE, "", NULL,
              "extents of the mask x1: those of x, or 1 for any but the last"),
    DTYPE_KEY("fp16", FLOATS, "type of all"), SCALE_KEY, VTILE_KEYS_TABLE};
static const struct lower_key grad_keys[] = {SHAPE_KEY("extents of all; along the last"),
                                             DTYPE_KEY("fp16", FLOATS, "type of all"), SCALE_KEY,
                                             VTILE_KEYS_TABLE};

#define SOFTMAX_OF_T0                                                                              \
  REDUCE(T1, T0, V_MAX), SPREAD(T1), WITH_COLUMN("vsub", T0, T0), U("vexp", T0, T0),               \
      REDUCE(T1, T0, V_SUM), SPREAD(T1), WITH_COLUMN("vdiv", Y0, T0), END
static const struct vstep tile_steps[] = {P("vmuls", T0, X0, NUMBER_SCALE), B("vadd", T0, T0, X1),
                                          SOFTMAX_OF_T0};
static const struct vstep row_steps[] = {P("vmuls", T0, X0, NUMBER_SCALE),
                                         WITH_ROW("vadd", T0, T0, X1), SOFTMAX_OF_T0};
static const struct vstep grad_steps[] = {B("vmul", T0, X0, X1),
                                          REDUCE(T1, T0, V_SUM),
                                          SPREAD(T1),
                                          WITH_COLUMN("vsub", T0, X1),
                                          B("vmul", T0, T0, X0),
                                          P("vmuls", Y0, T0, NUMBER_SCALE),
                                          END};

static const struct norm by_tiles = {.inputs = 2, .steps = tile_steps};
static const struct norm by_rows = {.inputs = 2, .steps = row_steps};
static const struct norm gradient = {.inputs = 2, .steps = grad_steps};

/* The mask's extents, as many as x has. */
static enum vinci_status read_mask(struct lower_job *job, uint64_t mask[TENSOR_RANK_MAX]) {
  const struct lower_value *x = lower_get(job, "shape"), *given = lower_get(job, "shape1");
  unsigned rank = given ? given->rank : x->rank;
  const uint64_t *extents = given ? given->shape : x->shape;
  if (rank > x->rank)
    return lower_error(job, "the mask has more dimensions than x: %u and %u", rank, x->rank);
  for (unsigned i = 0; i < x->rank; i++) {
    unsigned missing = x->rank - rank;
    mask[i] = i < missing ? 1 : extents[i - missing];
    bool last = i + 1 == x->rank;
    if (mask[i] != x->shape[i] && (last || mask[i] != 1))
      return lower_error(job, "extent %u of the mask is %llu, where x has %llu", i + 1,
                         (unsigned long long)mask[i], (unsigned long long)x->shape[i]);
  }
  return VINCI_OK;
}

/*
 * Rows of a space either have a row of the mask each, or share a row. What is above,
 * dimension by dimension, repeats the mask or not.
 */
static enum vinci_status set_space(struct lower_job *job, struct vnorm *norm) {
  const struct lower_value *x = lower_get(job, "shape");
  struct vtile_space *space = &norm->kernel.tile.space;
  struct vtile_operand *mask = &norm->in[1];
  uint64_t extents[TENSOR_RANK_MAX], mask_rows = 1;
  enum vinci_status status = read_mask(job, extents);
  if (status != VINCI_OK)
    return status;
  unsigned i = x->rank - 1;
  while (i > 0 && x->shape[i - 1] == 1)
    i--;
  bool repeats = i > 0 && extents[i - 1] == 1;
  space->rows = 1;
  for (; i > 0 && (x->shape[i - 1] == 1 || (extents[i - 1] == 1) == repeats); i--) {
    space->rows *= x->shape[i - 1];
    mask_rows *= extents[i - 1];
  }
  if (i > VTILE_OUTERS)
    return lower_error(job, "the mask repeats too often");
  space->outers = i;
  mask->row_stride = repeats ? 0 : space->cols;
  uint64_t own = mask_rows * space->cols, all = space->rows * space->cols;
  for (; i > 0; i--) {
    space->outer[i - 1] = x->shape[i - 1];
    norm->in[0].outer_stride[i - 1] = norm->out.outer_stride[i - 1] = all;
    mask->outer_stride[i - 1] = extents[i - 1] == 1 ? 0 : own;
    own *= extents[i - 1];
    all *= x->shape[i - 1];
  }
  norm->norm = repeats ? &by_rows : &by_tiles;
  return VINCI_OK;
}

static enum vinci_status masked_setup(struct lower_job *job) {
  enum vinci_status status = norm_setup(job);
  return status == VINCI_OK ? set_space(job, job->data) : status;
}

static const struct lower_template masked_template = VKERNEL_TEMPLATE(masked_setup);
static const struct lower_template grad_template = VKERNEL_TEMPLATE(norm_setup);

static bool call_masked(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  const struct lower_tensor *x = &call->input[0], *mask = &call->input[1];
  if (mask->dtype != x->dtype)
    return lower_cannot(call, "a mask of another type than x is not modelled");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "shape1", mask->shape, mask->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static bool call_gradient(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

LOWER_OPERATOR(masked_softmax, "ScaledMaskedSoftmax|ScaledMaskedSoftmaxV2",
               "y = softmax(x * scale + x1), x1 being a mask that rows or blocks of rows share",
               masked_keys, &masked_template, &by_tiles, call_masked)
LOWER_OPERATOR(masked_softmax_grad, "ScaledMaskedSoftmaxGrad|ScaledMaskedSoftmaxGradV2",
               "y = scale * x * (x1 - sum(x * x1)), x being the masked softmax", grad_keys,
               &grad_template, &gradient, call_gradient)
