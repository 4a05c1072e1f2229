/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that give elements another shape or order. */
#include <string.h>

#include "networks/onnx/rules/rules.h"

/* ---- the same elements in another shape ------------------------------------------------------ */

static struct onnx_value *constant_as(struct onnx_import *import, const struct onnx_value *value,
                                      const uint64_t *shape, unsigned rank) {
  struct onnx_value *copy = onnx_new_value(import, value->name);
  if (!copy)
    return NULL;
  copy->type = value->type;
  copy->constant = copy->shaped = true;
  copy->data = value->data;
  copy->borrowed = value->borrowed;
  copy->bytes = value->bytes;
  copy->rank = rank;
  if (rank > 0)
    memcpy(copy->shape, shape, rank * sizeof *shape);
  return copy;
}

struct onnx_value *onnx_reshaped(struct onnx_call *call, struct onnx_value *value,
                                 const uint64_t *shape, unsigned rank) {
  if (value->constant)
    return constant_as(call->import, value, shape, rank);
  struct onnx_value *copy = onnx_new_value(call->import, value->name);
  struct onnx_call reshape = {.import = call->import,
                              .node = call->node,
                              .op = "Reshape",
                              .inputs = &value,
                              .outputs = &copy,
                              .input_count = 1,
                              .output_count = 1,
                              .kept_inputs = 1};
  if (!copy || onnx_output(&reshape, 0, value->type, shape, rank) != VINCI_OK ||
      onnx_add_layer(&reshape) != VINCI_OK)
    return NULL;
  return copy;
}

enum vinci_status onnx_reshape_to(struct onnx_call *call, const uint64_t *shape, unsigned rank) {
  struct onnx_value *x = call->inputs[0];
  uint64_t elements = 1;
  call->op = "Reshape";
  call->kept_inputs = 1;
  enum vinci_status status = onnx_output(call, 0, x->type, shape, rank);
  if (status != VINCI_OK)
    return status;
  for (unsigned i = 0; i < rank; i++)
    elements *= shape[i];
  if (elements != onnx_elements(x))
    return onnx_fail(call, "%llu elements (%s) into %s", (unsigned long long)onnx_elements(x),
                     onnx_shape_text(x).text, onnx_shape_text(call->outputs[0]).text);
  if (rank == x->rank && (rank == 0 || memcmp(shape, x->shape, rank * sizeof *shape) == 0)) {
    onnx_output_is(call, x);
  } else if (x->constant) {
    struct onnx_value *copy = constant_as(call->import, x, shape, rank);
    if (!copy)
      return onnx_no_memory(call->import);
    copy->name = call->outputs[0]->name;
    onnx_output_is(call, copy);
  }
  return VINCI_OK;
}

/* Extents with 0 (as in the input) and -1 (what is left). */
static enum vinci_status resolve(struct onnx_call *call, const struct onnx_ints *wanted,
                                 uint64_t *shape) {
  const struct onnx_value *x = call->inputs[0];
  bool zero_is_zero = call->opset >= 14 && onnx_int(call, "allowzero", 0) != 0;
  unsigned open = GRAPH_RANK_MAX;
  uint64_t elements = 1;
  if (wanted->count > GRAPH_RANK_MAX)
    return onnx_fail(call, "a shape of %u dimensions; this reader takes up to %d", wanted->count,
                     GRAPH_RANK_MAX);
  for (unsigned i = 0; i < wanted->count; i++) {
    int64_t extent = wanted->list[i];
    if (extent == 0 && !zero_is_zero && i < x->rank)
      extent = (int64_t)x->shape[i];
    if (extent < -1 || (extent == -1 && open < GRAPH_RANK_MAX) ||
        (uint64_t)(extent < 0 ? 0 : extent) > ONNX_ELEMENTS_MAX)
      return onnx_fail(call, "the wanted shape has extent %lld at dimension %u",
                       (long long)wanted->list[i], i);
    if (extent == -1)
      open = i;
    shape[i] = extent == -1 ? 1 : (uint64_t)extent;
    if (shape[i] > 0 && elements > ONNX_ELEMENTS_MAX / shape[i])
      return onnx_fail(call, "the wanted shape has more than 2^42 elements");
    elements *= shape[i];
  }
  if (open < GRAPH_RANK_MAX && elements > 0)
    shape[open] = onnx_elements(x) / elements;
  else if (open < GRAPH_RANK_MAX)
    shape[open] = 0;
  return VINCI_OK;
}

enum vinci_status onnx_rule_reshape(struct onnx_call *call) {
  struct onnx_ints wanted;
  uint64_t shape[GRAPH_RANK_MAX];
  if (call->opset >= 5 && onnx_given(call, 1) && !onnx_known(call, 1)) {
    call->outputs[0]->type = call->inputs[0]->type; /* computed in the run: no shape */
    return VINCI_OK;
  }
  enum vinci_status status = onnx_ints_either(call, "shape", 5, 1, &wanted);
  if (status == VINCI_OK)
    status = resolve(call, &wanted, shape);
  return status == VINCI_OK ? onnx_reshape_to(call, shape, wanted.count) : status;
}

enum vinci_status onnx_rule_flatten(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  int64_t axis = onnx_int(call, "axis", 1);
  uint64_t shape[2] = {1, 1};
  if (axis < -(int64_t)x->rank || axis > (int64_t)x->rank)
    return onnx_fail(call, "axis %lld of a tensor with %u dimensions", (long long)axis, x->rank);
  axis = axis < 0 ? axis + (int64_t)x->rank : axis;
  for (unsigned d = 0; d < x->rank; d++)
    shape[d >= (unsigned)axis] *= x->shape[d];
  return onnx_reshape_to(call, shape, 2);
}

/* A bit for each axis. */
static enum vinci_status axis_bits(struct onnx_call *call, const struct onnx_ints *axes,
                                   unsigned rank, unsigned *out) {
  *out = 0;
  for (unsigned i = 0; i < axes->count; i++) {
    unsigned axis;
    enum vinci_status status = onnx_axis(call, axes->list[i], rank, &axis);
    if (status != VINCI_OK)
      return status;
    if (*out >> axis & 1)
      return onnx_fail(call, "axis %u stands twice", axis);
    *out |= 1u << axis;
  }
  return VINCI_OK;
}

enum vinci_status onnx_rule_squeeze(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints axes;
  unsigned bits, rank = 0;
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = onnx_ints_either(call, "axes", 13, 1, &axes);
  if (status == VINCI_OK)
    status = axis_bits(call, &axes, x->rank, &bits);
  if (status != VINCI_OK)
    return status;
  for (unsigned d = 0; d < x->rank; d++) {
    bool gone = axes.given ? bits >> d & 1 : x->shape[d] == 1;
    if (gone && x->shape[d] != 1)
      return onnx_fail(call, "dimension %u of %s is not 1", d, onnx_shape_text(x).text);
    if (!gone)
      shape[rank++] = x->shape[d];
  }
  return onnx_reshape_to(call, shape, rank);
}

enum vinci_status onnx_rule_unsqueeze(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints axes;
  unsigned bits, from = 0;
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = onnx_ints_either(call, "axes", 13, 1, &axes);
  unsigned rank = x->rank + axes.count;
  if (status == VINCI_OK && rank > GRAPH_RANK_MAX)
    return onnx_fail(call, "its result has %u dimensions; this reader takes up to %d", rank,
                     GRAPH_RANK_MAX);
  if (status == VINCI_OK)
    status = axis_bits(call, &axes, rank, &bits);
  if (status != VINCI_OK)
    return status;
  for (unsigned d = 0; d < rank; d++)
    shape[d] = bits >> d & 1 ? 1 : x->shape[from++];
  return onnx_reshape_to(call, shape, rank);
}

/* ---- another order --------------------------------------------------------------------------- */

enum vinci_status onnx_rule_transpose(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints perm;
  unsigned seen = 0, axis;
  uint64_t shape[GRAPH_RANK_MAX];
  bool same = true;
  enum vinci_status status = onnx_ints(call, "perm", &perm);
  if (status == VINCI_OK && perm.given && perm.count != x->rank)
    return onnx_fail(call, "perm has %u numbers, the tensor %u dimensions", perm.count, x->rank);
  for (unsigned d = 0; d < x->rank && status == VINCI_OK; d++) {
    if (!perm.given)
      perm.list[d] = (int64_t)(x->rank - 1 - d);
    status = onnx_axis(call, perm.list[d], x->rank, &axis);
    if (status != VINCI_OK)
      return status;
    if (seen >> axis & 1)
      return onnx_fail(call, "perm has axis %u twice", axis);
    seen |= 1u << axis;
    perm.list[d] = axis;
    shape[d] = x->shape[axis];
    same = same && axis == d;
  }
  if (status != VINCI_OK)
    return status;
  if (same) {
    onnx_output_is(call, call->inputs[0]);
    return VINCI_OK;
  }
  onnx_arg_ints(call, "perm", perm.list, x->rank);
  return onnx_output(call, 0, x->type, shape, x->rank);
}

static enum vinci_status blocks(struct onnx_call *call, bool to_depth) {
  const struct onnx_value *x = call->inputs[0];
  int64_t side = onnx_int(call, "blocksize", 0);
  if (x->rank != 4 || side < 1 || side > 1024)
    return onnx_fail(call, "blocksize %lld of a tensor with %u dimensions", (long long)side,
                     x->rank);
  uint64_t b = (uint64_t)side, squared = b * b;
  if (to_depth ? x->shape[2] % b || x->shape[3] % b : x->shape[1] % squared != 0)
    return onnx_fail(call, "%s cannot be divided into blocks of %lld", onnx_shape_text(x).text,
                     (long long)side);
  uint64_t shape[4] = {x->shape[0], to_depth ? x->shape[1] * squared : x->shape[1] / squared,
                       to_depth ? x->shape[2] / b : x->shape[2] * b,
                       to_depth ? x->shape[3] / b : x->shape[3] * b};
  onnx_arg_int(call, "blocksize", side);
  onnx_arg_text(call, "mode", to_depth ? "DCR" : onnx_text(call, "mode", "DCR"));
  return onnx_output(call, 0, x->type, shape, 4);
}

enum vinci_status onnx_rule_depth_to_space(struct onnx_call *call) { return blocks(call, false); }

enum vinci_status onnx_rule_space_to_depth(struct onnx_call *call) { return blocks(call, true); }

/* ---- copies ---------------------------------------------------------------------------------- */

enum vinci_status onnx_rule_expand(struct onnx_call *call) {
  struct onnx_value *x = call->inputs[0];
  struct onnx_value wanted = {.shaped = true};
  struct onnx_value *both[2] = {x, &wanted};
  struct onnx_ints list;
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned rank;
  enum vinci_status status = onnx_ints_input(call, 1, &list);
  if (status != VINCI_OK)
    return status;
  if (list.count > GRAPH_RANK_MAX)
    return onnx_fail(call, "a shape of %u dimensions", list.count);
  wanted.rank = list.count;
  for (unsigned i = 0; i < list.count; i++) {
    if (list.list[i] < 0)
      return onnx_fail(call, "a shape with extent %lld", (long long)list.list[i]);
    wanted.shape[i] = (uint64_t)list.list[i];
  }
  if (!onnx_broadcast(both, 2, shape, &rank))
    return onnx_fail(call, "%s does not expand to %s", onnx_shape_text(x).text,
                     onnx_shape_text(&wanted).text);
  call->kept_inputs = 1;
  if (rank == x->rank && (rank == 0 || memcmp(shape, x->shape, rank * sizeof *shape) == 0)) {
    onnx_output_is(call, x);
    return VINCI_OK;
  }
  return onnx_output(call, 0, x->type, shape, rank);
}

enum vinci_status onnx_rule_tile(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints repeats;
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = onnx_ints_input(call, 1, &repeats);
  if (status == VINCI_OK && call->opset < 6) { /* one axis: tiles, axis */
    struct onnx_ints axis;
    status = onnx_ints_input(call, 2, &axis);
    int64_t tiles = repeats.list[0], at = axis.list[0];
    if (status == VINCI_OK && (at < 0 || at >= (int64_t)x->rank))
      return onnx_fail(call, "axis %lld of a tensor with %u dimensions", (long long)at, x->rank);
    repeats.count = x->rank;
    for (unsigned d = 0; d < x->rank; d++)
      repeats.list[d] = (int64_t)d == at ? tiles : 1;
  }
  if (status != VINCI_OK)
    return status;
  if (repeats.count != x->rank)
    return onnx_fail(call, "%u repeats of a tensor with %u dimensions", repeats.count, x->rank);
  for (unsigned d = 0; d < x->rank; d++) {
    uint64_t most = ONNX_ELEMENTS_MAX / (x->shape[d] ? x->shape[d] : 1);
    if (repeats.list[d] < 0 || (uint64_t)repeats.list[d] > most)
      return onnx_fail(call, "%lld repeats", (long long)repeats.list[d]);
    shape[d] = (uint64_t)repeats.list[d] * x->shape[d];
  }
  onnx_arg_ints(call, "repeats", repeats.list, repeats.count);
  call->kept_inputs = 1;
  return onnx_output(call, 0, x->type, shape, x->rank);
}
