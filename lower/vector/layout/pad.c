/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pad: x inside a larger y, with a constant around, and between its elements where they lie a step
 * apart. One pass copies x; each side that grows, and the gaps of each dimension, are a pass that
 * stores the constant. They write different elements, so their order does not matter.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "lower/vector/layout/permute.h"

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("before", SHAPE, "", "0", "elements before x, as many numbers as extents; none"),
    LOWER_KEY("after", SHAPE, "", "0", "elements behind x; as many as before it"),
    LOWER_KEY("step", SHAPE, "", NULL,
              "from one element of x to the next in y, as many numbers; 1"),
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

/* Where the elements of x lie in y, and the strides of y itself. */
struct place {
  struct pmap map;
  uint64_t plain[TENSOR_RANK_MAX];
};

static uint64_t step_of(const struct lower_job *job, unsigned i) {
  const struct lower_value *step = lower_get(job, "step");
  return step ? step->shape[i] : 1;
}

/* Elements of y from the first to the last of x along a dimension. */
static uint64_t span_of(const struct lower_job *job, unsigned i) {
  return (lower_get(job, "shape")->shape[i] - 1) * step_of(job, i) + 1;
}

/* Part of dimension i, from an element of that on: as wide as x in those before the dimension, as y
 * in those behind; `turns` such parts, a step apart. */
static enum vinci_status add_fill(struct lower_job *job, struct permute *permute, unsigned i,
                                  const struct place *place, uint64_t first, uint64_t extent,
                                  uint64_t turns) {
  struct pmap map = place->map;
  if (extent == 0 || turns == 0)
    return VINCI_OK;
  map.fills = true;
  map.to_base = first * place->plain[i];
  for (unsigned d = 0; d < i; d++)
    map.to_base += amount(lower_get(job, "before"), d) * place->plain[d];
  map.extent[i] = turns;
  map.count++;
  map.extent[i + 1] = extent;
  map.to[i + 1] = place->plain[i];
  for (unsigned d = i + 1; d < permute->out_rank; d++) {
    map.extent[d + 1] = permute->out_shape[d];
    map.to[d + 1] = place->plain[d];
  }
  memcpy(map.from, map.to, sizeof map.from);
  if (permute->passes == PERMUTE_PASSES)
    return lower_error(job, "at most %d sides and dimensions can grow", PERMUTE_PASSES - 1);
  return permute_add(job, permute, &map);
}

/* What the constant takes of dimension i: before x, behind x, between the elements of x. */
static enum vinci_status add_fills(struct lower_job *job, struct permute *permute, unsigned i,
                                   const struct place *place) {
  uint64_t before = amount(lower_get(job, "before"), i), end = before + span_of(job, i);
  enum vinci_status status = add_fill(job, permute, i, place, 0, before, 1);
  if (status == VINCI_OK)
    status = add_fill(job, permute, i, place, end, permute->out_shape[i] - end, 1);
  if (status == VINCI_OK)
    status =
        add_fill(job, permute, i, place, before + 1, step_of(job, i) - 1, place->map.extent[i] - 1);
  return status;
}

static enum vinci_status check_numbers(struct lower_job *job) {
  static const char *const names[] = {"before", "after", "step"};
  unsigned rank = lower_get(job, "shape")->rank;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    const struct lower_value *numbers = lower_get(job, names[i]);
    if (numbers && numbers->rank != rank)
      return lower_error(job, "%s needs %u numbers", names[i], rank);
  }
  return lower_fits(job, "value", lower_get(job, "dtype")->dtype, lower_get(job, "value")->number);
}

static enum vinci_status pad_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *before = lower_get(job, "before");
  const struct lower_value *after = lower_get(job, "after");
  enum vinci_status status = check_numbers(job);
  if (status != VINCI_OK)
    return status;
  struct permute *permute = permute_new(job);
  if (!permute)
    return VINCI_E_NOMEM;
  permute->fill = fill_bits(permute->type, lower_get(job, "value")->number);
  permute->in_rank = permute->out_rank = shape->rank;
  memcpy(permute->in_shape, shape->shape, sizeof permute->in_shape);
  for (unsigned i = 0; i < shape->rank; i++)
    permute->out_shape[i] = amount(before, i) + span_of(job, i) + amount(after ? after : before, i);
  status = lower_bounded(job, permute->out_shape, shape->rank);
  if (status != VINCI_OK)
    return status;
  struct place place = {.map = {.count = shape->rank}};
  struct pmap *map = &place.map;
  memcpy(map->extent, shape->shape, sizeof shape->shape);
  permute_strides(shape->shape, shape->rank, map->from);
  permute_strides(permute->out_shape, shape->rank, place.plain);
  for (unsigned i = 0; i < shape->rank; i++) {
    map->to[i] = step_of(job, i) * place.plain[i];
    map->to_base += amount(before, i) * place.plain[i];
  }
  status = permute_add(job, permute, map);
  for (unsigned i = 0; i < shape->rank && status == VINCI_OK; i++)
    status = add_fills(job, permute, i, &place);
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
               "y = x with a constant before, behind and, with a step, between its elements", keys,
               PERMUTE(pad_setup), NULL, call_pad)
