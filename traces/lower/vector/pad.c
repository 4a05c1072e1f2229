/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pad: x inside a larger y, a constant around it. One pass copies x; each side that grows is a
 * pass that stores the constant. They write different elements, so their order does not matter.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "traces/lower/vector/permute.h"

enum { KEY_SHAPE, KEY_BEFORE, KEY_AFTER, KEY_VALUE, KEY_DTYPE, KEY_TILING };
enum { PAD_KEYS = KEY_TILING + VTILE_KEYS };

static const struct lower_key keys[PAD_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x", false},
    [KEY_BEFORE] = {"before", LOWER_SHAPE, "", "0",
                    "elements before x, as many numbers as extents; none", false},
    [KEY_AFTER] = {"after", LOWER_SHAPE, "", "0", "elements behind x; as many as before it", false},
    [KEY_VALUE] = {"value", LOWER_NUMBER, "0", NULL, "the constant", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|int8|uint8|int16|int32",
                   "type of x and y", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

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

static void strides_of(const uint64_t *shape, unsigned rank, uint64_t *strides) {
  uint64_t stride = 1;
  for (unsigned i = rank; i-- > 0; stride *= shape[i])
    strides[i] = stride;
}

static uint64_t amount(const struct lower_value *numbers, unsigned i) {
  return numbers->present ? numbers->shape[i] : 0;
}

/* One side of dimension i: as wide as x in those before it, as y in those behind. */
static enum vinci_status add_side(struct lower_job *job, struct permute *permute, unsigned i,
                                  uint64_t extent, const struct pmap *inner, uint64_t first) {
  struct pmap map = *inner;
  map.fills = true;
  map.from_base = 0;
  map.to_base = first * map.to[i];
  for (unsigned d = 0; d < i; d++)
    map.to_base += amount(&job->value[KEY_BEFORE], d) * map.to[d];
  map.extent[i] = extent;
  for (unsigned d = i + 1; d < map.count; d++)
    map.extent[d] = permute->out_shape[d];
  memcpy(map.from, map.to, sizeof map.from);
  if (extent > 0 && permute->passes == PERMUTE_PASSES)
    return lower_error(job, "at most %d sides can grow", PERMUTE_PASSES - 1);
  return permute_add(job, permute, &map);
}

static enum vinci_status pad_setup(struct lower_job *job) {
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  const struct lower_value *before = &job->value[KEY_BEFORE], *after = &job->value[KEY_AFTER];
  enum dtype dtype = job->value[KEY_DTYPE].dtype;
  if (!after->present)
    after = before;
  if ((before->present && before->rank != shape->rank) ||
      (after->present && after->rank != shape->rank))
    return lower_error(job, "before and after need %u numbers", shape->rank);
  enum vinci_status status = lower_fits(job, "value", dtype, job->value[KEY_VALUE].number);
  if (status != VINCI_OK)
    return status;
  struct permute *permute = permute_new(job, dtype);
  if (!permute)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  permute->fill = fill_bits(dtype, job->value[KEY_VALUE].number);
  permute->in_rank = permute->out_rank = shape->rank;
  memcpy(permute->in_shape, shape->shape, sizeof permute->in_shape);
  for (unsigned i = 0; i < shape->rank; i++)
    permute->out_shape[i] = amount(before, i) + shape->shape[i] + amount(after, i);
  struct pmap map = {.count = shape->rank};
  memcpy(map.extent, shape->shape, sizeof shape->shape);
  strides_of(shape->shape, shape->rank, map.from);
  strides_of(permute->out_shape, shape->rank, map.to);
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

const struct lower_op lower_pad = {
    .name = "pad",
    .vendor_types = "Pad|PadD|PadV2|PadV3|PadV3D",
    .text = "y = x with a constant before and behind it in each dimension",
    .keys = keys,
    .key_count = PAD_KEYS,
    .setup = pad_setup,
    .candidate = permute_candidate,
    .cost = permute_cost,
    .emit = permute_emit,
    .from_tensors = call_pad,
};
