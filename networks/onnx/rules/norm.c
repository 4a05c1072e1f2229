/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations, softmax and reductions. */
#include <string.h>

#include "networks/onnx/rules/rules.h"

/* ---- normalisations -------------------------------------------------------------------------- */

/* Further outputs, of training: numbers of each channel. */
enum vinci_status onnx_rule_batch_norm(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  if (x->rank < 2 || onnx_elements(call->inputs[1]) != x->shape[1])
    return onnx_fail(call, "input %s, scale %s", onnx_shape_text(x).text,
                     onnx_shape_text(call->inputs[1]).text);
  onnx_arg_real(call, "epsilon", onnx_real(call, "epsilon", 1e-5));
  if (onnx_int(call, "training_mode", 0) != 0) {
    onnx_arg_int(call, "training_mode", 1);
    onnx_arg_real(call, "momentum", onnx_real(call, "momentum", 0.9));
  }
  enum vinci_status status = onnx_output_like(call, 0, x);
  for (uint32_t i = 1; i < call->output_count && status == VINCI_OK; i++)
    status = onnx_output_like(call, i, call->inputs[1]);
  return status;
}

enum vinci_status onnx_rule_layer_norm(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned axis;
  enum vinci_status status = onnx_axis(call, onnx_int(call, "axis", -1), x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  onnx_arg_int(call, "axis", axis);
  onnx_arg_real(call, "epsilon", onnx_real(call, "epsilon", 1e-5));
  for (unsigned d = 0; d < x->rank; d++)
    shape[d] = d < axis ? x->shape[d] : 1;
  status = onnx_output_like(call, 0, x);
  for (uint32_t i = 1; i < call->output_count && status == VINCI_OK; i++)
    status = onnx_output(call, i, (enum onnx_type)onnx_int(call, "stash_type", ONNX_FLOAT), shape,
                         x->rank);
  return status;
}

enum vinci_status onnx_rule_instance_norm(struct onnx_call *call) {
  onnx_arg_int(call, "axis", 2);
  onnx_arg_real(call, "epsilon", onnx_real(call, "epsilon", 1e-5));
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_group_norm(struct onnx_call *call) {
  onnx_arg_int(call, "axis", 1);
  onnx_arg_real(call, "epsilon", onnx_real(call, "epsilon", 1e-5));
  onnx_arg_int(call, "groups", onnx_int(call, "num_groups", 1));
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_lrn(struct onnx_call *call) {
  onnx_arg_int(call, "size", onnx_int(call, "size", 1));
  onnx_arg_real(call, "alpha", onnx_real(call, "alpha", 1e-4));
  onnx_arg_real(call, "beta", onnx_real(call, "beta", 0.75));
  onnx_arg_real(call, "bias", onnx_real(call, "bias", 1));
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_lp_norm(struct onnx_call *call) {
  unsigned axis;
  enum vinci_status status =
      onnx_axis(call, onnx_int(call, "axis", -1), call->inputs[0]->rank, &axis);
  if (status != VINCI_OK)
    return status;
  onnx_arg_int(call, "axis", axis);
  onnx_arg_int(call, "p", onnx_int(call, "p", 2));
  return onnx_output_like(call, 0, call->inputs[0]);
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* Before version 13 all dimensions from the axis on are one: shown as a matrix in between. */
static enum vinci_status softmax_of_matrix(struct onnx_call *call, unsigned axis) {
  struct onnx_value *x = call->inputs[0];
  uint64_t matrix[2] = {1, 1};
  for (unsigned d = 0; d < x->rank; d++)
    matrix[d >= axis] *= x->shape[d];
  struct onnx_value *flat = onnx_reshaped(call, x, matrix, 2);
  struct onnx_value *soft = onnx_new_value(call->import, call->outputs[0]->name);
  struct onnx_call middle = *call;
  middle.inputs = &flat;
  middle.outputs = &soft;
  middle.input_count = middle.kept_inputs = middle.output_count = 1;
  if (!flat || !soft)
    return onnx_no_memory(call->import);
  onnx_arg_int(&middle, "axis", 1);
  enum vinci_status status = onnx_output(&middle, 0, x->type, matrix, 2);
  if (status == VINCI_OK)
    status = onnx_add_layer(&middle);
  if (status != VINCI_OK)
    return status;
  uint64_t shape[GRAPH_RANK_MAX];
  memcpy(shape, x->shape, sizeof shape);
  call->inputs[0] = soft;
  return onnx_reshape_to(call, shape, x->rank);
}

/* Softmax, LogSoftmax, Hardmax */
enum vinci_status onnx_rule_softmax(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  unsigned axis;
  uint64_t behind = 1;
  if (x->rank == 0)
    return onnx_fail(call, "a scalar");
  enum vinci_status status = onnx_axis(
      call, onnx_int(call, "axis", call->opset < 13 && x->rank > 1 ? 1 : -1), x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  for (unsigned d = axis + 1; d < x->rank; d++)
    behind *= x->shape[d];
  if (call->opset < 13 && behind != 1 && !x->constant)
    return softmax_of_matrix(call, axis);
  onnx_arg_int(call, "axis", axis);
  return onnx_output_like(call, 0, x);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Bits of the axes to reduce; none: no axis was given, and that means none at all. */
static enum vinci_status axes_of(struct onnx_call *call, const struct onnx_value *x,
                                 unsigned *out) {
  struct onnx_ints axes;
  bool sum = strcmp(call->op, "ReduceSum") == 0;
  enum vinci_status status = onnx_ints_either(call, "axes", sum ? 13 : 18, 1, &axes);
  *out = 0;
  for (unsigned i = 0; i < axes.count && status == VINCI_OK; i++) {
    unsigned axis;
    status = onnx_axis(call, axes.list[i], x->rank, &axis);
    if (status == VINCI_OK)
      *out |= 1u << axis;
  }
  if (axes.count == 0 && onnx_int(call, "noop_with_empty_axes", 0) == 0)
    *out = (1u << x->rank) - 1;
  return status;
}

unsigned onnx_reduced_axes(struct onnx_call *call) {
  unsigned bits;
  return axes_of(call, call->inputs[0], &bits) == VINCI_OK ? bits : 0;
}

enum vinci_status onnx_rule_reduce(struct onnx_call *call) {
  struct onnx_value *x = call->inputs[0];
  bool keep = onnx_int(call, "keepdims", 1) != 0;
  uint64_t shape[GRAPH_RANK_MAX];
  int64_t list[GRAPH_RANK_MAX];
  unsigned bits, rank = 0, count = 0;
  enum vinci_status status = axes_of(call, x, &bits);
  if (status != VINCI_OK)
    return status;
  call->kept_inputs = 1;
  if (bits == 0 && x->rank > 0)
    return onnx_rule_identity(call);
  for (unsigned d = 0; d < x->rank; d++) {
    bool gone = bits >> d & 1;
    if (gone)
      list[count++] = d;
    if (!gone || keep)
      shape[rank++] = gone ? 1 : x->shape[d];
  }
  onnx_arg_ints(call, "axes", list, count);
  onnx_arg_int(call, "keepdims", keep);
  return onnx_output(call, 0, x->type, shape, rank);
}

/* ArgMax, ArgMin */
enum vinci_status onnx_rule_arg(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  bool keep = onnx_int(call, "keepdims", 1) != 0;
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned axis, rank = 0;
  enum vinci_status status = onnx_axis(call, onnx_int(call, "axis", 0), x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  for (unsigned d = 0; d < x->rank; d++)
    if (d != axis || keep)
      shape[rank++] = d == axis ? 1 : x->shape[d];
  onnx_arg_int(call, "axis", axis);
  onnx_arg_int(call, "keepdims", keep);
  if (onnx_int(call, "select_last_index", 0) != 0)
    onnx_arg_int(call, "select_last_index", 1);
  return onnx_output(call, 0, ONNX_INT64, shape, rank);
}
