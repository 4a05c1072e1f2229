/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pad: x inside a larger y, with a constant around. One pass copies x; each side that grows is a
 * pass that stores the constant. They write different elements, so their order does not matter.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "traces/lower/vector/permute.h"

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("before", SHAPE, "", "0", "elements before x, as many numbers as extents; none"),
    LOWER_KEY("after", SHAPE, "", "0", "elements behind x; as many as before it"),
    NUMBER_KEY("value", "0", "the constant"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int8|uint8|int16|int32", "type of x and y"),
    VTILE_KEYS_TABLE};

static uint32_t fill_bits(enum dtype dtype, double value) {
  const uint32_t twice = 0x10001, four_times = 0x1010101;
  switch (dtype) {
  case DTYPE_FP32:
    return fp32_bits((float)value);
  case DTYPE_FP16:
    return fp16_from_fp32((float)value) * twice;
  case DTYPE_BF16:
    return bf16_from_fp32((float)value) * twice;
  case DTYPE_INT32:
    return (uint32_t)(int32_t)value;
  case DTYPE_INT16:
    return (uint16_t)(int16_t)value * twice;
  default:
    return (uint8_t)(int32_t)value * four_times;
  }
}

static uint64_t amount(const struct lower_value *numbers, unsigned i) {
  return numbers ? numbers->shape[i] : 0;
}

/* One side of dimension i: as wide as x in those before it, as y in those behind. */
static enum vinci_status add_side(struct lower_job *job, struct permute *permute, unsigned i,
                                  uint64_t extent, const struct pmap *inner, uint64_t first) {
  struct pmap map = *inner;
  map.fills = true;
  map.from_base = 0;
  map.to_base = first * map.to[i];
  for (unsigned d = 0; d < i; d++)
    map.to_base += amount(lower_get(job, "before"), d) * map.to[d];
  map.extent[i] = extent;
  for (unsigned d = i + 1; d < map.count; d++)
    map.extent[d] = permute->out_shape[d];
  memcpy(map.from, map.to, sizeof map.from);
  if (extent > 0 && permute->passes == PERMUTE_PASSES)
    return lower_error(job, "at most %d sides can grow", PERMUTE_PASSES - 1);
  return permute_add(job, permute, &map);
}

static enum vinci_status pad_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *before = lower_get(job, "before");
  const struct lower_value *after = lower_get(job, "after");
  enum dtype dtype = lower_get(job, "dtype")->dtype;
  double value = lower_get(job, "value")->number;
  if (!after)
    after = before;
  if ((before && before->rank != shape->rank) || (after && after->rank != shape->rank))
    return lower_error(job, "before and after need %u numbers", shape->rank);
  enum vinci_status status = lower_fits(job, "value", dtype, value);
  if (status != VINCI_OK)
    return status;
  struct permute *permute = permute_new(job);
  if (!permute)
    return VINCI_E_NOMEM;
  permute->fill = fill_bits(dtype, value);
  permute->in_rank = permute->out_rank = shape->rank;
  memcpy(permute->in_shape, shape->shape, sizeof permute->in_shape);
  for (unsigned i = 0; i < shape->rank; i++)
    permute->out_shape[i] = amount(before, i) + shape->shape[i] + amount(after, i);
  struct pmap map = {.count = shape->rank};
  memcpy(map.extent, shape->shape, sizeof shape->shape);
  permute_strides(shape->shape, shape->rank, map.from);
  permute_strides(permute->out_shape, shape->rank, map.to);
  for (unsigned i = 0; i < shape->rank; i++)
    map.to_base += amount(before, i) * map.to[i];
  status = permute_add(job, permute, &map);
  for (unsigned i = 0; i < shape->rank && status == VINCI_OK; i++) {
    status = add_side(job, permute, i, amount(before, i), &map, 0);
    if (status == VINCI_OK)
      status = add_side(job, permute, i, amount(after, i), &map, amount(before, i) + map.extent[i]);
  }
  return status;
}

/* Profiles lack the numbers: what y has more of a dimension goes half before x, half behind. */
static bool call_pad(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  uint64_t before[TENSOR_RANK_MAX], after[TENSOR_RANK_MAX];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || x->rank != y->rank)
    return lower_cannot(call, "no shapes of equal rank");
  for (unsigned i = 0; i < x->rank; i++) {
    if (y->shape[i] < x->shape[i])
      return lower_cannot(call, "the result is smaller");
    before[i] = (y->shape[i] - x->shape[i]) / 2;
    after[i] = y->shape[i] - x->shape[i] - before[i];
  }
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "before", before, x->rank);
  lower_arg_shape(call, "after", after, x->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

LOWER_OPERATOR(pad, "Pad|PadD|PadV2|PadV3|PadV3D",
               "y = x with a constant before and behind it in each dimension", keys,
               PERMUTE(pad_setup), NULL, call_pad)
