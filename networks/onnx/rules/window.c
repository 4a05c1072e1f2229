/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with a window that moves over the spatial dimensions: convolutions and pooling. */
#include <string.h>

#include "networks/onnx/rules/rules.h"

enum { SPATIAL_MAX = GRAPH_RANK_MAX - 2 };
#define WINDOW_MAX INT32_MAX /* of kernels, strides, dilations, pads */

struct window {
  unsigned dims; /* spatial */
  int64_t kernel[SPATIAL_MAX], strides[SPATIAL_MAX], dilations[SPATIAL_MAX];
  int64_t pads[2 * SPATIAL_MAX], output_padding[SPATIAL_MAX];
  const char *automatic;
};

/* A list with an entry for each dimension, or the same number for all. */
static enum vinci_status take_list(struct onnx_call *call, const char *name, unsigned count,
                                   int64_t fallback, int64_t least, int64_t *out) {
  struct onnx_ints list;
  enum vinci_status status = onnx_ints(call, name, &list);
  if (status != VINCI_OK)
    return status;
  if (list.count != 0 && list.count != count)
    return onnx_fail(call, "%s has %u numbers, not %u", name, list.count, count);
  for (unsigned i = 0; i < count; i++) {
    out[i] = list.count ? list.list[i] : fallback;
    if (out[i] < least || out[i] > WINDOW_MAX)
      return onnx_fail(call, "%s has %lld", name, (long long)out[i]);
  }
  return VINCI_OK;
}

/* `weights`: without kernel_shape, the kernel is as large as this tensor. */
static enum vinci_status take_window(struct onnx_call *call, const struct onnx_value *weights,
                                     struct window *out) {
  const struct onnx_value *x = call->inputs[0];
  *out = (struct window){.dims = x->rank - 2, .automatic = onnx_text(call, "auto_pad", "NOTSET")};
  if (x->rank < 3 || (weights && weights->rank != x->rank))
    return onnx_fail(call,
                     "input %s%s%s; batch, channels and one to six further dimensions are "
                     "needed",
                     onnx_shape_text(x).text, weights ? " with weights " : "",
                     weights ? onnx_shape_text(weights).text : "");
  if (!weights && !onnx_attribute(call, "kernel_shape"))
    return onnx_fail(call, "no kernel_shape");
  enum vinci_status status = take_list(call, "kernel_shape", out->dims, 1, 1, out->kernel);
  for (unsigned d = 0; weights && d < out->dims && status == VINCI_OK; d++) {
    if (weights->shape[d + 2] > WINDOW_MAX || weights->shape[d + 2] == 0 ||
        (onnx_attribute(call, "kernel_shape") && out->kernel[d] != (int64_t)weights->shape[d + 2]))
      return onnx_fail(call, "weights %s and kernel_shape differ", onnx_shape_text(weights).text);
    out->kernel[d] = (int64_t)weights->shape[d + 2];
  }
  if (status == VINCI_OK)
    status = take_list(call, "strides", out->dims, 1, 1, out->strides);
  if (status == VINCI_OK)
    status = take_list(call, "dilations", out->dims, 1, 1, out->dilations);
  if (status == VINCI_OK)
    status = take_list(call, "pads", 2 * out->dims, 0, 0, out->pads);
  return status;
}

static int64_t span(const struct window *window, unsigned d) {
  return window->dilations[d] * (window->kernel[d] - 1) + 1;
}

static bool is_same(const struct window *window) {
  return strncmp(window->automatic, "SAME_", 5) == 0;
}

/* Half on each side; what is odd goes behind, or before of SAME_LOWER. */
static void split_pads(struct window *window, unsigned d, int64_t total, bool more_behind) {
  total = total > 0 ? total : 0;
  int64_t less = total / 2;
  window->pads[d] = more_behind ? less : total - less;
  window->pads[window->dims + d] = total - window->pads[d];
}

static enum vinci_status extent_of(struct onnx_call *call, struct window *window, unsigned d,
                                   bool ceil, uint64_t *out) {
  int64_t extent = (int64_t)call->inputs[0]->shape[d + 2], stride = window->strides[d];
  if (is_same(window)) {
    int64_t wanted = (extent + stride - 1) / stride;
    split_pads(window, d, (wanted - 1) * stride + span(window, d) - extent,
               strcmp(window->automatic, "SAME_UPPER") == 0);
  } else if (strcmp(window->automatic, "VALID") == 0) {
    window->pads[d] = window->pads[window->dims + d] = 0;
  }
  int64_t before = window->pads[d];
  int64_t room = extent + before + window->pads[window->dims + d] - span(window, d);
  if (room < 0)
    return onnx_fail(call, "a window of %lld over %lld elements and their pads",
                     (long long)span(window, d), (long long)extent);
  int64_t steps = (room + (ceil ? stride - 1 : 0)) / stride;
  /* The last window has to begin in the tensor or in the pads before. */
  if (ceil && steps * stride >= extent + before)
    steps--;
  *out = (uint64_t)steps + 1;
  return VINCI_OK;
}

static void put_window(struct onnx_call *call, const struct window *window) {
  onnx_arg_ints(call, "kernel", window->kernel, window->dims);
  onnx_arg_ints(call, "strides", window->strides, window->dims);
  onnx_arg_ints(call, "pads", window->pads, 2 * window->dims);
  onnx_arg_ints(call, "dilations", window->dilations, window->dims);
}

/* ---- convolutions ---------------------------------------------------------------------------- */

static enum vinci_status convolve(struct onnx_call *call, const struct onnx_value *w,
                                  enum onnx_type type) {
  const struct onnx_value *x = call->inputs[0];
  struct window window;
  uint64_t shape[GRAPH_RANK_MAX];
  int64_t group = onnx_int(call, "group", 1);
  enum vinci_status status = take_window(call, w, &window);
  if (status != VINCI_OK)
    return status;
  if (group < 1 || x->shape[1] % (uint64_t)group || w->shape[0] % (uint64_t)group ||
      w->shape[1] != x->shape[1] / (uint64_t)group)
    return onnx_fail(call, "input %s, weights %s and group %lld do not fit",
                     onnx_shape_text(x).text, onnx_shape_text(w).text, (long long)group);
  shape[0] = x->shape[0];
  shape[1] = w->shape[0];
  for (unsigned d = 0; d < window.dims && status == VINCI_OK; d++)
    status = extent_of(call, &window, d, false, &shape[d + 2]);
  if (status != VINCI_OK)
    return status;
  put_window(call, &window);
  onnx_arg_int(call, "group", group);
  return onnx_output(call, 0, type, shape, x->rank);
}

enum vinci_status onnx_rule_conv(struct onnx_call *call) {
  return convolve(call, call->inputs[1], call->inputs[0]->type);
}

enum vinci_status onnx_rule_conv_integer(struct onnx_call *call) {
  return convolve(call, call->inputs[1], ONNX_INT32);
}

enum vinci_status onnx_rule_qlinear_conv(struct onnx_call *call) {
  return convolve(call, call->inputs[3], call->inputs[7]->type);
}

/* The wanted extent is given, or that of the input times the stride: the pads follow. */
static int64_t wanted_extent(const struct onnx_call *call, const struct window *window,
                             const struct onnx_ints *given, unsigned d) {
  if (given->count == window->dims)
    return given->list[d];
  if (given->count == window->dims + 2)
    return given->list[d + 2];
  return is_same(window) ? (int64_t)call->inputs[0]->shape[d + 2] * window->strides[d] : -1;
}

enum vinci_status onnx_rule_conv_transpose(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *w = call->inputs[1];
  struct window window;
  struct onnx_ints given;
  uint64_t shape[GRAPH_RANK_MAX];
  int64_t group = onnx_int(call, "group", 1);
  enum vinci_status status = take_window(call, w, &window);
  if (status == VINCI_OK)
    status = take_list(call, "output_padding", window.dims, 0, 0, window.output_padding);
  if (status == VINCI_OK)
    status = onnx_ints(call, "output_shape", &given);
  if (status != VINCI_OK)
    return status;
  if (group < 1 || x->shape[1] % (uint64_t)group || w->shape[0] != x->shape[1] ||
      (uint64_t)group > ONNX_ELEMENTS_MAX / (w->shape[1] ? w->shape[1] : 1))
    return onnx_fail(call, "input %s, weights %s and group %lld do not fit",
                     onnx_shape_text(x).text, onnx_shape_text(w).text, (long long)group);
  shape[0] = x->shape[0];
  shape[1] = w->shape[1] * (uint64_t)group;
  for (unsigned d = 0; d < window.dims; d++) {
    if (x->shape[d + 2] > WINDOW_MAX)
      return onnx_fail(call, "input %s is too large", onnx_shape_text(x).text);
    int64_t full = window.strides[d] * ((int64_t)x->shape[d + 2] - 1) + window.output_padding[d] +
                   span(&window, d);
    int64_t wanted = wanted_extent(call, &window, &given, d);
    if (wanted >= 0)
      split_pads(&window, d, full - wanted, strcmp(window.automatic, "SAME_UPPER") == 0);
    else
      wanted = full - window.pads[d] - window.pads[window.dims + d];
    if (wanted < 1)
      return onnx_fail(call, "its pads are larger than its result");
    shape[d + 2] = (uint64_t)wanted;
  }
  put_window(call, &window);
  onnx_arg_int(call, "group", group);
  onnx_arg_ints(call, "output_padding", window.output_padding, window.dims);
  return onnx_output(call, 0, x->type, shape, x->rank);
}

/* ---- pooling --------------------------------------------------------------------------------- */

enum vinci_status onnx_rule_pool(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct window window;
  uint64_t shape[GRAPH_RANK_MAX];
  bool ceil = onnx_int(call, "ceil_mode", 0) != 0;
  enum vinci_status status = take_window(call, NULL, &window);
  if (status != VINCI_OK)
    return status;
  shape[0] = x->shape[0];
  shape[1] = x->shape[1];
  for (unsigned d = 0; d < window.dims && status == VINCI_OK; d++)
    status = extent_of(call, &window, d, ceil, &shape[d + 2]);
  if (status != VINCI_OK)
    return status;
  put_window(call, &window);
  onnx_arg_int(call, "ceil", ceil);
  onnx_arg_int(call, "count_include_pad", onnx_int(call, "count_include_pad", 0));
  if (strcmp(call->op, "LpPool") == 0)
    onnx_arg_int(call, "p", onnx_int(call, "p", 2));
  if (call->output_count > 1)
    onnx_arg_int(call, "storage_order", onnx_int(call, "storage_order", 0));
  status = onnx_output(call, 0, x->type, shape, x->rank);
  return status == VINCI_OK ? onnx_output(call, 1, ONNX_INT64, shape, x->rank) : status;
}

enum vinci_status onnx_rule_global_pool(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  uint64_t shape[GRAPH_RANK_MAX];
  if (x->rank < 2)
    return onnx_fail(call, "input %s; batch and channels are needed", onnx_shape_text(x).text);
  for (unsigned d = 0; d < x->rank; d++)
    shape[d] = d < 2 ? x->shape[d] : 1;
  if (strcmp(call->op, "GlobalLpPool") == 0)
    onnx_arg_int(call, "p", onnx_int(call, "p", 2));
  return onnx_output(call, 0, x->type, shape, x->rank);
}
