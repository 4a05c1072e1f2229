/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose elements are chosen by indices. */
#include <string.h>

#include "networks/onnx/rules/rules.h"

static enum vinci_status put_axis(struct onnx_call *call, int64_t fallback, unsigned rank,
                                  unsigned *axis) {
  enum vinci_status status = onnx_axis(call, onnx_int(call, "axis", fallback), rank, axis);
  if (status == VINCI_OK)
    onnx_arg_int(call, "axis", *axis);
  return status;
}

enum vinci_status onnx_rule_gather(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  uint64_t shape[2 * GRAPH_RANK_MAX];
  unsigned axis, rank = 0;
  enum vinci_status status = put_axis(call, 0, x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  for (unsigned d = 0; d < axis; d++)
    shape[rank++] = x->shape[d];
  for (unsigned d = 0; d < indices->rank; d++)
    shape[rank++] = indices->shape[d];
  for (unsigned d = axis + 1; d < x->rank; d++)
    shape[rank++] = x->shape[d];
  return onnx_output(call, 0, x->type, shape, rank);
}

enum vinci_status onnx_rule_gather_elements(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  unsigned axis;
  enum vinci_status status = put_axis(call, 0, x->rank, &axis);
  if (status == VINCI_OK && indices->rank != x->rank)
    return onnx_fail(call, "indices %s for data %s", onnx_shape_text(indices).text,
                     onnx_shape_text(x).text);
  return status == VINCI_OK ? onnx_output(call, 0, x->type, indices->shape, indices->rank) : status;
}

enum vinci_status onnx_rule_gather_nd(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *indices = call->inputs[1];
  int64_t batch = onnx_int(call, "batch_dims", 0);
  uint64_t shape[2 * GRAPH_RANK_MAX];
  unsigned rank = 0;
  uint64_t depth = indices->rank ? indices->shape[indices->rank - 1] : 0;
  if (indices->rank == 0 || batch < 0 || batch >= indices->rank ||
      depth > (uint64_t)x->rank - (uint64_t)(batch < x->rank ? batch : x->rank))
    return onnx_fail(call, "indices %s for data %s with batch_dims %lld",
                     onnx_shape_text(indices).text, onnx_shape_text(x).text, (long long)batch);
  for (unsigned d = 0; d < (unsigned)batch; d++)
    if (indices->shape[d] != x->shape[d])
      return onnx_fail(call, "indices %s for data %s differ in one of the first %lld dimensions",
                       onnx_shape_text(indices).text, onnx_shape_text(x).text, (long long)batch);
  for (unsigned d = 0; d + 1 < indices->rank; d++)
    shape[rank++] = indices->shape[d];
  for (uint64_t d = (uint64_t)batch + depth; d < x->rank; d++)
    shape[rank++] = x->shape[d];
  onnx_arg_int(call, "batch_dims", batch);
  return onnx_output(call, 0, x->type, shape, rank);
}

/* Scatter and ScatterElements */
enum vinci_status onnx_rule_scatter(struct onnx_call *call) {
  unsigned axis;
  enum vinci_status status = put_axis(call, 0, call->inputs[0]->rank, &axis);
  if (status != VINCI_OK)
    return status;
  call->op = "ScatterElements";
  onnx_arg_text(call, "reduction", onnx_text(call, "reduction", "none"));
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_scatter_nd(struct onnx_call *call) {
  onnx_arg_text(call, "reduction", onnx_text(call, "reduction", "none"));
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_one_hot(struct onnx_call *call) {
  const struct onnx_value *indices = call->inputs[0];
  struct onnx_ints depth;
  uint64_t shape[GRAPH_RANK_MAX + 1];
  unsigned axis;
  enum vinci_status status = onnx_ints_input(call, 1, &depth);
  if (status == VINCI_OK)
    status = put_axis(call, -1, indices->rank + 1, &axis);
  if (status != VINCI_OK)
    return status;
  if (depth.count != 1 || depth.list[0] < 0)
    return onnx_fail(call, "its depth is not one number from 0 on");
  for (unsigned d = 0; d <= indices->rank; d++)
    shape[d] = d == axis ? (uint64_t)depth.list[0] : indices->shape[d - (d > axis)];
  onnx_arg_int(call, "depth", depth.list[0]);
  return onnx_output(call, 0, call->inputs[2]->type, shape, indices->rank + 1);
}

enum vinci_status onnx_rule_topk(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints k;
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned axis;
  enum vinci_status status;
  if (call->opset < 10) {
    k = (struct onnx_ints){.count = 1, .list = {onnx_int(call, "k", -1)}};
    status = VINCI_OK;
  } else {
    status = onnx_ints_input(call, 1, &k);
  }
  if (status == VINCI_OK)
    status = onnx_axis(call, onnx_int(call, "axis", -1), x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  if (k.count != 1 || k.list[0] < 0 || (uint64_t)k.list[0] > x->shape[axis])
    return onnx_fail(call, "the %lld largest of %llu", k.count ? (long long)k.list[0] : -1LL,
                     (unsigned long long)x->shape[axis]);
  memcpy(shape, x->shape, sizeof shape);
  shape[axis] = (uint64_t)k.list[0];
  onnx_arg_int(call, "k", k.list[0]);
  onnx_arg_int(call, "axis", axis);
  onnx_arg_int(call, "largest", onnx_int(call, "largest", 1));
  onnx_arg_int(call, "sorted", onnx_int(call, "sorted", 1));
  call->kept_inputs = 1;
  status = onnx_output(call, 0, x->type, shape, x->rank);
  return status == VINCI_OK ? onnx_output(call, 1, ONNX_INT64, shape, x->rank) : status;
}

/* Of how many elements depends on the values. */
enum vinci_status onnx_rule_non_zero(struct onnx_call *call) {
  onnx_arg_all(call);
  call->outputs[0]->type = strcmp(call->op, "Compress") == 0 ? call->inputs[0]->type : ONNX_INT64;
  return VINCI_OK;
}
