/* SPDX-License-Identifier: Apache-2.0 */
/* concat: tensors one after another along a dimension. */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/vector/elementwise/elementwise.h"
#include "lower/vector/layout/permute.h"

#define MORE(name_) LOWER_KEY(name_, SHAPE, "", NULL, "extents of one more")
static const struct lower_key concat_keys[] = {
    SHAPE_KEY("extents of x"),
    MORE("shape1"),
    MORE("shape2"),
    MORE("shape3"),
    MORE("shape4"),
    MORE("shape5"),
    LOWER_KEY("pieces", SIZE, "", NULL,
              "inputs of this one shape, which lie one after the other in the memory of x"),
    LOWER_KEY("axis", SIZE, "", "0", "dimension along which they follow, from 0; the last"),
    DTYPE_KEY("fp16", PERMUTE_TYPES, "type of all"),
    VTILE_KEYS_TABLE};

/* Equal inputs as one tensor with a dimension more: a map in place of a pass for each. */
static enum vinci_status join_pieces(struct lower_job *job, struct permute *permute,
                                     uint64_t pieces, uint64_t axis) {
  struct pmap map = {.count = permute->in_rank + 1, .source = "x"};
  if (permute->in_rank == TENSOR_RANK_MAX || lower_get(job, "shape1"))
    return lower_error(job, "pieces are of one shape, of at most %d dimensions",
                       TENSOR_RANK_MAX - 1);
  if (pieces > UINT32_MAX / permute->out_shape[axis])
    return lower_error(job, "%" PRIu64 " pieces are too many", pieces);
  memmove(&permute->in_shape[1], permute->in_shape, permute->in_rank * sizeof *permute->in_shape);
  permute->in_shape[0] = pieces;
  permute->in_rank++;
  permute->inputs = 1;
  permute->out_shape[axis] *= pieces;
  memcpy(map.extent, permute->in_shape, sizeof permute->in_shape);
  permute_strides(permute->in_shape, permute->in_rank, map.from);
  permute_strides(permute->out_shape, permute->out_rank, &map.to[1]);
  map.to[0] = permute->in_shape[axis + 1] * map.to[axis + 1];
  return permute_add(job, permute, &map);
}

/* Rows of the result out of a piece of each input. */
static enum vinci_status join_columns(struct lower_job *job, struct permute *permute,
                                      const char *const *names, uint64_t axis) {
  struct pshort_input inputs[PERMUTE_PASSES];
  uint64_t rows = lower_elements(permute->out_shape, (unsigned)axis);
  unsigned count = permute->inputs;
  for (unsigned k = 0; k < count; k++) {
    uint64_t row = lower_elements(permute->in_shapes[k] + axis, permute->in_rank - (unsigned)axis);
    inputs[k] = (struct pshort_input){names[k], row, 0, row, 0};
  }
  return count < 2 ? VINCI_OK : permute_short_rows(job, permute, inputs, count, rows);
}

static enum vinci_status concat_setup(struct lower_job *job) {
  static const char *const names[PERMUTE_PASSES] = {"x", "x1", "x2", "x3", "x4", "x5"};
  struct permute *permute = permute_new(job);
  const struct lower_value *first = lower_get(job, "shape"), *given = lower_get(job, "axis");
  uint64_t axis = given ? given->size : first->rank - 1;
  if (!permute)
    return VINCI_E_NOMEM;
  if (axis >= first->rank)
    return lower_error(job, "the rank of x is only %u", first->rank);
  permute_copy_shape(permute->out_shape, &permute->out_rank, first);
  permute->in_rank = first->rank;
  permute->inputs = 0;
  permute->out_shape[axis] = 0;
  for (unsigned k = 0; k < PERMUTE_PASSES; k++) {
    const struct lower_value *shape = lower_get(job, concat_keys[k].name);
    if (!shape)
      continue;
    for (unsigned i = 0; i < first->rank; i++)
      if (shape->rank != first->rank || (i != axis && shape->shape[i] != first->shape[i]))
        return lower_error(job, "all shapes need to agree but for dimension %" PRIu64, axis);
    memcpy(permute->in_shapes[permute->inputs++], shape->shape, sizeof shape->shape);
    permute->out_shape[axis] += shape->shape[axis];
  }
  memcpy(permute->in_shape, permute->in_shapes[0], sizeof permute->in_shape);
  const struct lower_value *pieces = lower_get(job, "pieces");
  if (pieces && pieces->size > 1)
    return join_pieces(job, permute, pieces->size, axis);
  uint64_t before = 0;
  enum vinci_status status = VINCI_OK;
  for (unsigned k = 0; k < permute->inputs && status == VINCI_OK; k++) {
    struct pmap map = {.count = first->rank, .source = names[k]};
    permute_strides(permute->in_shapes[k], first->rank, map.from);
    permute_strides(permute->out_shape, first->rank, map.to);
    memcpy(map.extent, permute->in_shapes[k], sizeof permute->in_shapes[k]);
    map.to_base = before * map.to[axis];
    before += permute->in_shapes[k][axis];
    status = permute_add(job, permute, &map);
  }
  return status == VINCI_OK ? join_columns(job, permute, names, axis) : status;
}

/* Tensors of one shape, behind each other along a dimension more. */
static bool call_pack(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  unsigned axis = 0;
  if (call->output_count == 0 || y->rank != x->rank + 1)
    return lower_cannot(call, "the result has a dimension more than the inputs");
  while (axis < x->rank && x->shape[axis] == y->shape[axis] && y->shape[axis] != call->input_count)
    axis++;
  if (y->shape[axis] != call->input_count)
    return lower_cannot(call, "no dimension of the result counts the inputs");
  struct lower_tensor one = *x;
  one.rank = y->rank;
  memcpy(one.shape, y->shape, sizeof one.shape);
  one.shape[axis] = 1;
  for (unsigned k = 0; k < call->input_count; k++)
    lower_arg_shape(call, concat_keys[k].name, one.shape, one.rank);
  lower_arg(call, "axis=%u", axis);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

/* More inputs than have a pass each: of one shape, as many as the result has room for, since lists
 * tell the first ones alone. */
static bool call_pieces(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  unsigned axis = 0;
  for (unsigned k = 1; k < call->input_count; k++)
    if (call->input[k].rank != x->rank ||
        memcmp(call->input[k].shape, x->shape, x->rank * sizeof *x->shape) != 0)
      return lower_cannot(call, "up to %d inputs of different shapes can be joined",
                          PERMUTE_PASSES);
  while (axis < x->rank && axis < y->rank && y->shape[axis] == x->shape[axis])
    axis++;
  if (axis == x->rank || y->rank != x->rank || y->shape[axis] % x->shape[axis] != 0 ||
      y->shape[axis] / x->shape[axis] < call->input_count)
    return lower_cannot(call, "the result is not as long as its inputs");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "pieces=%" PRIu64, y->shape[axis] / x->shape[axis]);
  lower_arg(call, "axis=%u", axis);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static bool call_concat(struct lower_call *call) {
  const struct lower_tensor *y = &call->output[0];
  if (call->input_count > PERMUTE_PASSES && call->output_count > 0 &&
      strcmp(call->type, "Pack") != 0)
    return call_pieces(call);
  if (call->input_count > PERMUTE_PASSES || call->output_count == 0)
    return lower_cannot(call, "up to %d inputs can be joined", PERMUTE_PASSES);
  if (strcmp(call->type, "Pack") == 0)
    return call_pack(call);
  for (unsigned k = 0; k < call->input_count; k++)
    lower_arg_shape(call, concat_keys[k].name, call->input[k].shape, call->input[k].rank);
  for (unsigned i = 0; i < y->rank; i++)
    if (y->shape[i] != call->input[0].shape[i])
      lower_arg(call, "axis=%u", i);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

LOWER_OPERATOR(concat, "Concat|ConcatD|ConcatV2|Pack", "y = x, x1 ... one after the other",
               concat_keys, PERMUTE(concat_setup), NULL, call_concat)
