/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that cut tensors, join them, or go along an axis. */
#include <string.h>

#include "networks/onnx/rules/rules.h"

/* ---- Slice ----------------------------------------------------------------------------------- */

struct cut {
  int64_t start, size, step;
};

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Bounds count from the end when negative, and are cut to the tensor (specification of Slice). */
static struct cut cut_of(int64_t start, int64_t end, int64_t step, int64_t extent) {
  struct cut cut = {.step = step};
  start = start < 0 && start >= -extent ? start + extent : start;
  end = end < 0 && end >= -extent ? end + extent : end;
  if (step > 0) {
    cut.start = clamp(start, 0, extent);
    end = clamp(end, 0, extent);
    cut.size = end > cut.start ? (end - cut.start - 1) / step + 1 : 0;
  } else {
    cut.start = clamp(start, -1, extent - 1);
    end = clamp(end, -1, extent - 1);
    /* the magnitude of the smallest step of all is no int64 */
    cut.size =
        cut.start > end ? (int64_t)((uint64_t)(cut.start - end - 1) / -(uint64_t)step) + 1 : 0;
  }
  return cut;
}

static enum vinci_status bounds(struct onnx_call *call, struct onnx_ints *starts,
                                struct onnx_ints *ends, struct onnx_ints *axes,
                                struct onnx_ints *steps) {
  enum vinci_status status = onnx_ints_either(call, "starts", 10, 1, starts);
  if (status == VINCI_OK)
    status = onnx_ints_either(call, "ends", 10, 2, ends);
  if (status == VINCI_OK)
    status = onnx_ints_either(call, "axes", 10, 3, axes);
  if (status == VINCI_OK)
    status = onnx_ints_either(call, "steps", 10, 4, steps);
  if (status == VINCI_OK &&
      (starts->count != ends->count || (axes->given && axes->count != starts->count) ||
       (steps->given && steps->count != starts->count)))
    status = onnx_fail(call, "%u starts, %u ends, %u axes, %u steps", starts->count, ends->count,
                       axes->count, steps->count);
  return status;
}

enum vinci_status onnx_rule_slice(struct onnx_call *call) {
  struct onnx_value *x = call->inputs[0];
  struct onnx_ints starts, ends, axes, steps;
  int64_t at[GRAPH_RANK_MAX], sizes[GRAPH_RANK_MAX], step[GRAPH_RANK_MAX];
  uint64_t shape[GRAPH_RANK_MAX];
  bool whole = true;
  enum vinci_status status = bounds(call, &starts, &ends, &axes, &steps);
  for (unsigned d = 0; d < x->rank; d++) {
    at[d] = 0;
    step[d] = 1;
    sizes[d] = (int64_t)x->shape[d];
  }
  for (unsigned i = 0; i < starts.count && status == VINCI_OK; i++) {
    unsigned axis;
    int64_t by = steps.given ? steps.list[i] : 1;
    status = onnx_axis(call, axes.given ? axes.list[i] : (int64_t)i, x->rank, &axis);
    if (status == VINCI_OK && by == 0)
      status = onnx_fail(call, "a step of 0");
    if (status != VINCI_OK)
      return status;
    struct cut cut = cut_of(starts.list[i], ends.list[i], by, (int64_t)x->shape[axis]);
    at[axis] = cut.start;
    sizes[axis] = cut.size;
    step[axis] = cut.step;
  }
  if (status != VINCI_OK)
    return status;
  for (unsigned d = 0; d < x->rank; d++) {
    shape[d] = (uint64_t)sizes[d];
    whole = whole && at[d] == 0 && step[d] == 1 && shape[d] == x->shape[d];
  }
  call->kept_inputs = 1;
  if (whole) {
    onnx_output_is(call, x);
    return VINCI_OK;
  }
  onnx_arg_ints(call, "starts", at, x->rank);
  onnx_arg_ints(call, "sizes", sizes, x->rank);
  onnx_arg_ints(call, "steps", step, x->rank);
  return onnx_output(call, 0, x->type, shape, x->rank);
}

/* ---- Split, Concat --------------------------------------------------------------------------- */

enum vinci_status onnx_rule_split(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  const Onnx__AttributeProto *sizes = call->opset < 13 ? onnx_attribute(call, "split") : NULL;
  const struct onnx_value *list = call->opset >= 13 && onnx_given(call, 1) ? call->inputs[1] : NULL;
  uint64_t shape[GRAPH_RANK_MAX], sum = 0;
  unsigned axis;
  enum vinci_status status = onnx_axis(call, onnx_int(call, "axis", 0), x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  uint64_t extent = x->shape[axis], count = call->output_count;
  if (list && !onnx_known(call, 1))
    return onnx_fail(call, "the sizes of its parts are computed in the run");
  if ((list && onnx_elements(list) != count) || (sizes && sizes->n_ints != count))
    return onnx_fail(call, "another number of sizes than of outputs");
  uint64_t even = (extent + count - 1) / count;
  memcpy(shape, x->shape, sizeof shape);
  for (uint32_t i = 0; i < count && status == VINCI_OK; i++) {
    int64_t size = list    ? onnx_load_int(list, i)
                   : sizes ? sizes->ints[i]
                           : (int64_t)(extent - sum < even ? extent - sum : even);
    if (size < 0 || (uint64_t)size > extent - sum)
      return onnx_fail(call, "its parts are larger than dimension %u of %s", axis,
                       onnx_shape_text(x).text);
    sum += shape[axis] = (uint64_t)size;
    status = onnx_output(call, i, x->type, shape, x->rank);
  }
  if (status == VINCI_OK && sum != extent)
    return onnx_fail(call, "its parts are smaller than dimension %u of %s", axis,
                     onnx_shape_text(x).text);
  onnx_arg_int(call, "axis", axis);
  call->kept_inputs = 1;
  return status;
}

/* Leaves out what has no elements, such as an empty cache. */
static void drop_empty(struct onnx_call *call) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (onnx_elements(call->inputs[i]) > 0)
      call->inputs[kept++] = call->inputs[i];
  if (kept > 0)
    call->input_count = call->kept_inputs = kept;
}

enum vinci_status onnx_rule_concat(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned axis;
  enum vinci_status status =
      onnx_axis(call, onnx_int(call, "axis", call->opset < 4 ? 1 : 0), x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  memcpy(shape, x->shape, sizeof shape);
  shape[axis] = 0;
  for (uint32_t i = 0; i < call->input_count; i++) {
    const struct onnx_value *part = call->inputs[i];
    if (!part)
      return onnx_fail(call, "input %u is missing", i);
    if (!part->shaped) {
      call->outputs[0]->type = x->type;
      return VINCI_OK;
    }
    for (unsigned d = 0; d < x->rank; d++)
      if (part->rank != x->rank || (d != axis && part->shape[d] != x->shape[d]))
        return onnx_fail(call, "input %u is %s, the first %s; they are joined at dimension %u", i,
                         onnx_shape_text(part).text, onnx_shape_text(x).text, axis);
    shape[axis] += part->shape[axis];
  }
  drop_empty(call);
  if (call->input_count == 1)
    return onnx_rule_identity(call);
  onnx_arg_int(call, "axis", axis);
  return onnx_output(call, 0, x->type, shape, x->rank);
}

/* ---- Pad ------------------------------------------------------------------------------------- */

/* Pads of the given axes (version 18) as pads of all. */
static enum vinci_status all_pads(struct onnx_call *call, struct onnx_ints *pads) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints axes = {0}, given = *pads;
  enum vinci_status status = call->opset >= 18 ? onnx_ints_input(call, 3, &axes) : VINCI_OK;
  if (status != VINCI_OK || !axes.given) {
    if (status == VINCI_OK && pads->count != 2 * x->rank)
      return onnx_fail(call, "%u pads of a tensor with %u dimensions", pads->count, x->rank);
    return status;
  }
  if (given.count != 2 * axes.count)
    return onnx_fail(call, "%u pads of %u axes", given.count, axes.count);
  *pads = (struct onnx_ints){.given = true, .count = 2 * x->rank};
  for (unsigned i = 0; i < axes.count && status == VINCI_OK; i++) {
    unsigned axis;
    status = onnx_axis(call, axes.list[i], x->rank, &axis);
    if (status != VINCI_OK)
      break;
    pads->list[axis] = given.list[i];
    pads->list[x->rank + axis] = given.list[axes.count + i];
  }
  return status;
}

enum vinci_status onnx_rule_pad(struct onnx_call *call) {
  struct onnx_value *x = call->inputs[0];
  struct onnx_ints pads;
  uint64_t shape[GRAPH_RANK_MAX];
  bool none = true;
  enum vinci_status status =
      onnx_ints_either(call, call->opset < 2 ? "paddings" : "pads", 11, 1, &pads);
  if (status == VINCI_OK)
    status = all_pads(call, &pads);
  for (unsigned d = 0; d < x->rank && status == VINCI_OK; d++) {
    int64_t before = pads.list[d], after = pads.list[x->rank + d];
    int64_t most = (int64_t)ONNX_ELEMENTS_MAX, extent = (int64_t)x->shape[d];
    if (before < -most || before > most || after < -most || after > most ||
        extent + before + after < 0)
      return onnx_fail(call, "pads %lld and %lld of dimension %u of %s", (long long)before,
                       (long long)after, d, onnx_shape_text(x).text);
    shape[d] = (uint64_t)(extent + before + after);
    none = none && before == 0 && after == 0;
  }
  if (status != VINCI_OK)
    return status;
  if (none) {
    onnx_output_is(call, x);
    return VINCI_OK;
  }
  onnx_arg_ints(call, "pads", pads.list, pads.count);
  const char *mode = onnx_text(call, "mode", "constant");
  onnx_arg_text(call, "mode", mode);
  double value = call->opset < 11 ? onnx_real(call, "value", 0) : 0;
  if (call->opset >= 11 && onnx_known(call, 2) && onnx_elements(call->inputs[2]) == 1)
    value = onnx_load_real(call->inputs[2], 0);
  else if (call->opset >= 11 && onnx_given(call, 2) && strcmp(mode, "constant") == 0)
    return onnx_fail(call, "the value of its pads, \"%s\", is computed in the run",
                     call->inputs[2]->name);
  onnx_arg_real(call, "value", value);
  call->kept_inputs = 1;
  return onnx_output(call, 0, x->type, shape, x->rank);
}

/* ---- along an axis --------------------------------------------------------------------------- */

enum vinci_status onnx_rule_cumsum(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_ints axes;
  unsigned axis;
  enum vinci_status status = onnx_ints_input(call, 1, &axes);
  if (status == VINCI_OK)
    status = onnx_axis(call, axes.list[0], x->rank, &axis);
  if (status != VINCI_OK)
    return status;
  onnx_arg_int(call, "axis", axis);
  onnx_arg_int(call, "exclusive", onnx_int(call, "exclusive", 0));
  onnx_arg_int(call, "reverse", onnx_int(call, "reverse", 0));
  call->kept_inputs = 1;
  return onnx_output_like(call, 0, x);
}

enum vinci_status onnx_rule_trilu(struct onnx_call *call) {
  struct onnx_ints k = {0};
  if (call->inputs[0]->rank < 2)
    return onnx_fail(call, "matrices are needed, not %s", onnx_shape_text(call->inputs[0]).text);
  enum vinci_status status = onnx_ints_input(call, 1, &k);
  if (status != VINCI_OK)
    return status;
  onnx_arg_int(call, "k", k.given ? k.list[0] : 0);
  onnx_arg_int(call, "upper", onnx_int(call, "upper", 1));
  call->kept_inputs = 1;
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_reverse(struct onnx_call *call) {
  onnx_arg_int(call, "batch_axis", onnx_int(call, "batch_axis", 1));
  onnx_arg_int(call, "time_axis", onnx_int(call, "time_axis", 0));
  return onnx_output_like(call, 0, call->inputs[0]);
}
