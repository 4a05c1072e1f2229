/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products, recurrent layers, quantisation, resizing. */
#include <math.h>
#include <string.h>

#include "networks/onnx/rules/rules.h"

/* ---- products -------------------------------------------------------------------------------- */

/* As numpy's matmul: a vector is a row of the left, a column of the right operand. */
static enum vinci_status product(struct onnx_call *call, struct onnx_value *a, struct onnx_value *b,
                                 enum onnx_type type) {
  struct onnx_value left = {.rank = a->rank > 2 ? a->rank - 2 : 0};
  struct onnx_value right = {.rank = b->rank > 2 ? b->rank - 2 : 0};
  struct onnx_value *both[2] = {&left, &right};
  uint64_t shape[GRAPH_RANK_MAX + 2];
  unsigned rank;
  memcpy(left.shape, a->shape, sizeof left.shape);
  memcpy(right.shape, b->shape, sizeof right.shape);
  uint64_t inner = a->rank ? a->shape[a->rank - 1] : 0;
  if (a->rank == 0 || b->rank == 0 || inner != b->shape[b->rank > 1 ? b->rank - 2 : 0] ||
      !onnx_broadcast(both, 2, shape, &rank))
    return onnx_fail(call, "%s times %s", onnx_shape_text(a).text, onnx_shape_text(b).text);
  if (a->rank > 1)
    shape[rank++] = a->shape[a->rank - 2];
  if (b->rank > 1)
    shape[rank++] = b->shape[b->rank - 1];
  return onnx_output(call, 0, type, shape, rank);
}

enum vinci_status onnx_rule_matmul(struct onnx_call *call) {
  return product(call, call->inputs[0], call->inputs[1], call->inputs[0]->type);
}

enum vinci_status onnx_rule_matmul_integer(struct onnx_call *call) {
  return product(call, call->inputs[0], call->inputs[1], ONNX_INT32);
}

enum vinci_status onnx_rule_qlinear_matmul(struct onnx_call *call) {
  return product(call, call->inputs[0], call->inputs[3], call->inputs[7]->type);
}

/* Weights of `bits` in blocks that share a scale, N rows of K: what ONNX Runtime contributes. */
enum vinci_status onnx_rule_matmul_nbits(struct onnx_call *call) {
  struct onnx_value *a = call->inputs[0];
  int64_t k = onnx_int(call, "K", 0), n = onnx_int(call, "N", 0);
  uint64_t shape[GRAPH_RANK_MAX];
  if (a->rank < 1 || k < 1 || n < 1 || a->shape[a->rank - 1] != (uint64_t)k)
    return onnx_fail(call, "rows %s times %lld x %lld weights", onnx_shape_text(a).text,
                     (long long)k, (long long)n);
  memcpy(shape, a->shape, sizeof shape);
  shape[a->rank - 1] = (uint64_t)n;
  onnx_arg_all(call);
  return onnx_output(call, 0, a->type, shape, a->rank);
}

enum vinci_status onnx_rule_gemm(struct onnx_call *call) {
  struct onnx_value *a = call->inputs[0], *b = call->inputs[1];
  bool trans_a = onnx_int(call, "transA", 0) != 0, trans_b = onnx_int(call, "transB", 0) != 0;
  if (a->rank != 2 || b->rank != 2 || a->shape[!trans_a] != b->shape[trans_b])
    return onnx_fail(call, "%s%s times %s%s", onnx_shape_text(a).text, trans_a ? " transposed" : "",
                     onnx_shape_text(b).text, trans_b ? " transposed" : "");
  uint64_t shape[2] = {a->shape[trans_a], b->shape[!trans_b]};
  onnx_arg_real(call, "alpha", onnx_real(call, "alpha", 1));
  onnx_arg_real(call, "beta", onnx_real(call, "beta", 1));
  onnx_arg_int(call, "trans_a", trans_a);
  onnx_arg_int(call, "trans_b", trans_b);
  return onnx_output(call, 0, a->type, shape, 2);
}

/* ---- recurrent layers ------------------------------------------------------------------------ */

/* The functions of gates, when they are not the operator's own: "Relu+Tanh". */
static void put_activations(struct onnx_call *call) {
  static const char *const own[][3] = {{"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh"}, {"Tanh"}};
  const Onnx__AttributeProto *given = onnx_attribute(call, "activations");
  unsigned kind = call->op[0] == 'L' ? 0 : call->op[0] == 'G' ? 1 : 2, each = 3 - kind;
  char text[64] = "";
  bool same = true;
  for (size_t i = 0; given && i < given->n_strings; i++) {
    const ProtobufCBinaryData *word = &given->strings[i];
    const char *usual = own[kind][i % each];
    size_t used = strlen(text);
    same = same && word->len == strlen(usual) && memcmp(word->data, usual, word->len) == 0;
    snprintf(text + used, sizeof text - used, "%s%.*s", i > 0 ? "+" : "", (int)word->len,
             (const char *)word->data);
  }
  if (!same)
    onnx_arg_text(call, "activations", text);
  if (onnx_attribute(call, "clip"))
    onnx_arg_real(call, "clip", onnx_real(call, "clip", 0));
  if (onnx_int(call, "input_forget", 0) != 0)
    onnx_arg_int(call, "input_forget", 1);
}

/* LSTM, GRU, RNN. Y: all steps; Y_h, Y_c: the last. Layout 1 has the batch first. */
enum vinci_status onnx_rule_recurrent(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *r = call->inputs[2];
  bool batch_first = onnx_int(call, "layout", 0) != 0;
  const char *direction = onnx_text(call, "direction", "forward");
  uint64_t directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
  if (x->rank != 3 || r->rank != 3)
    return onnx_fail(call, "input %s, recurrence weights %s; three dimensions each are needed",
                     onnx_shape_text(x).text, onnx_shape_text(r).text);
  uint64_t hidden = r->shape[2], steps = x->shape[batch_first], batch = x->shape[!batch_first];
  if (onnx_int(call, "hidden_size", (int64_t)hidden) != (int64_t)hidden)
    return onnx_fail(call, "hidden_size is not that of the recurrence weights %s",
                     onnx_shape_text(r).text);
  uint64_t all[4] = {steps, directions, batch, hidden}, last[3] = {directions, batch, hidden};
  uint64_t all_batch[4] = {batch, steps, directions, hidden};
  uint64_t last_batch[3] = {batch, directions, hidden};
  onnx_arg_int(call, "hidden_size", (int64_t)hidden);
  onnx_arg_text(call, "direction", direction);
  onnx_arg_int(call, "linear_before_reset", onnx_int(call, "linear_before_reset", 0));
  onnx_arg_int(call, "layout", batch_first);
  put_activations(call);
  enum vinci_status status = onnx_output(call, 0, x->type, batch_first ? all_batch : all, 4);
  for (uint32_t i = 1; i < call->output_count && status == VINCI_OK; i++)
    status = onnx_output(call, i, x->type, batch_first ? last_batch : last, 3);
  return status;
}

/* ---- quantisation ---------------------------------------------------------------------------- */

enum vinci_status onnx_rule_quantize(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  int64_t given = onnx_int(call, "output_dtype", 0); /* version 21 */
  enum onnx_type type = onnx_given(call, 2) ? call->inputs[2]->type
                        : given             ? (enum onnx_type)given
                                            : ONNX_UINT8;
  onnx_arg_int(call, "axis", onnx_int(call, "axis", 1));
  return onnx_output(call, 0, type, x->shape, x->rank);
}

enum vinci_status onnx_rule_dequantize(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  onnx_arg_int(call, "axis", onnx_int(call, "axis", 1));
  return onnx_output(call, 0, call->inputs[1]->type, x->shape, x->rank);
}

enum vinci_status onnx_rule_dynamic_quantize(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  enum vinci_status status = onnx_output(call, 0, ONNX_UINT8, x->shape, x->rank);
  if (status == VINCI_OK)
    status = onnx_output(call, 1, ONNX_FLOAT, NULL, 0);
  return status == VINCI_OK ? onnx_output(call, 2, ONNX_UINT8, NULL, 0) : status;
}

/* ---- resizing -------------------------------------------------------------------------------- */

/* What a Resize or Upsample is told: scales or sizes, of all dimensions or (version 18) of some. */
struct resizing {
  const struct onnx_value *scales, *sizes;
  struct onnx_ints axes;
  bool crop;
};

static enum vinci_status known_list(struct onnx_call *call, uint32_t input, unsigned count,
                                    const struct onnx_value **out) {
  *out = NULL;
  if (!onnx_given(call, input) ||
      (call->inputs[input]->shaped && onnx_elements(call->inputs[input]) == 0))
    return VINCI_OK;
  if (!onnx_known(call, input))
    return onnx_fail(call, "input %u (\"%s\"), its sizes, is computed in the run", input,
                     call->inputs[input]->name);
  if (onnx_elements(call->inputs[input]) != count)
    return onnx_fail(call, "input %u (\"%s\") has %llu numbers, not %u", input,
                     call->inputs[input]->name,
                     (unsigned long long)onnx_elements(call->inputs[input]), count);
  *out = call->inputs[input];
  return VINCI_OK;
}

/* Of tf_crop_and_resize the share of a dimension that is resized. */
static double share_of(const struct onnx_call *call, unsigned d) {
  const struct onnx_value *roi = call->inputs[1];
  unsigned rank = call->inputs[0]->rank;
  if (!onnx_known(call, 1) || onnx_elements(roi) != 2 * rank)
    return 1;
  return onnx_load_real(roi, rank + d) - onnx_load_real(roi, d);
}

static enum vinci_status resized(struct onnx_call *call, const struct resizing *how,
                                 uint64_t *shape) {
  const struct onnx_value *x = call->inputs[0];
  memcpy(shape, x->shape, sizeof x->shape);
  for (unsigned i = 0; i < (how->axes.given ? how->axes.count : x->rank); i++) {
    unsigned d = i;
    if (how->axes.given) {
      enum vinci_status status = onnx_axis(call, how->axes.list[i], x->rank, &d);
      if (status != VINCI_OK)
        return status;
    }
    double extent = how->sizes ? onnx_load_real(how->sizes, i)
                               : floor((double)x->shape[d] * (how->crop ? share_of(call, d) : 1) *
                                       onnx_load_real(how->scales, i));
    if (!(extent >= 1 && extent <= (double)ONNX_ELEMENTS_MAX))
      return onnx_fail(call, "dimension %u would have %g elements", d, extent);
    shape[d] = (uint64_t)extent;
  }
  return VINCI_OK;
}

/* The scale that a dimension was given; where sizes were given, what follows from them. */
static double scale_of(const struct onnx_call *call, const struct resizing *how,
                       const uint64_t *shape, unsigned d) {
  const struct onnx_value *x = call->inputs[0];
  for (unsigned i = 0; how->scales && i < (how->axes.given ? how->axes.count : x->rank); i++) {
    unsigned axis = i;
    if (how->axes.given)
      axis = (unsigned)(how->axes.list[i] + (how->axes.list[i] < 0 ? (int64_t)x->rank : 0));
    if (axis == d)
      return onnx_load_real(how->scales, i);
  }
  return (double)shape[d] / (double)x->shape[d];
}

static enum vinci_status put_resized(struct onnx_call *call, const struct resizing *how,
                                     const uint64_t *shape) {
  const struct onnx_value *x = call->inputs[0];
  double scales[GRAPH_RANK_MAX];
  for (unsigned d = 0; d < x->rank; d++)
    scales[d] = scale_of(call, how, shape, d);
  onnx_arg_reals(call, "scales", scales, x->rank);
  call->kept_inputs = 1;
  return onnx_output(call, 0, x->type, shape, x->rank);
}

/* keep_aspect_ratio_policy: the scale of all is the smallest or the largest. */
static enum vinci_status keep_aspect(struct onnx_call *call, const struct resizing *how,
                                     uint64_t *shape) {
  const char *policy = onnx_text(call, "keep_aspect_ratio_policy", "stretch");
  const struct onnx_value *x = call->inputs[0];
  bool larger = strcmp(policy, "not_smaller") == 0;
  unsigned count = how->axes.given ? how->axes.count : x->rank;
  double scale = larger ? 0 : INFINITY;
  if (!how->sizes || strcmp(policy, "stretch") == 0)
    return VINCI_OK;
  for (unsigned i = 0; i < count; i++) {
    unsigned d = i;
    enum vinci_status status =
        how->axes.given ? onnx_axis(call, how->axes.list[i], x->rank, &d) : VINCI_OK;
    if (status != VINCI_OK)
      return status;
    double each = onnx_load_real(how->sizes, i) / (double)x->shape[d];
    scale = larger ? fmax(scale, each) : fmin(scale, each);
  }
  for (unsigned i = 0; i < count; i++) {
    unsigned d = i;
    if (how->axes.given && onnx_axis(call, how->axes.list[i], x->rank, &d) != VINCI_OK)
      return VINCI_E_INPUT;
    shape[d] = (uint64_t)floor(scale * (double)x->shape[d] + 0.5);
  }
  return VINCI_OK;
}

enum vinci_status onnx_rule_resize(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  bool old = call->opset < 11; /* inputs x, scales */
  const char *coordinates =
      onnx_text(call, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  struct resizing how = {.crop = strcmp(coordinates, "tf_crop_and_resize") == 0};
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = call->opset >= 18 ? onnx_ints(call, "axes", &how.axes) : VINCI_OK;
  unsigned count = how.axes.given ? how.axes.count : x->rank;
  if (status == VINCI_OK && count > x->rank)
    return onnx_fail(call, "%u axes of a tensor with %u dimensions", count, x->rank);
  if (status == VINCI_OK)
    status = known_list(call, old ? 1 : 2, count, &how.scales);
  if (status == VINCI_OK && !old)
    status = known_list(call, 3, count, &how.sizes);
  if (status == VINCI_OK && !how.scales && !how.sizes)
    return onnx_fail(call, "neither scales nor sizes");
  onnx_arg_text(call, "mode", onnx_text(call, "mode", "nearest"));
  onnx_arg_text(call, "coordinates", coordinates);
  if (onnx_int(call, "antialias", 0) != 0)
    onnx_arg_int(call, "antialias", 1);
  onnx_arg_text(call, "nearest",
                onnx_text(call, "nearest_mode", old ? "floor" : "round_prefer_floor"));
  if (status == VINCI_OK)
    status = resized(call, &how, shape);
  if (status == VINCI_OK)
    status = keep_aspect(call, &how, shape);
  return status == VINCI_OK ? put_resized(call, &how, shape) : status;
}

enum vinci_status onnx_rule_upsample(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  const Onnx__AttributeProto *list = onnx_attribute(call, "scales");
  struct onnx_value scales = {.type = ONNX_FLOAT};
  struct resizing how = {.scales = &scales};
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = VINCI_OK;
  if (call->opset >= 9)
    status = known_list(call, 1, x->rank, &how.scales);
  else if (list && list->n_floats == x->rank)
    scales.data = list->floats;
  if (status != VINCI_OK)
    return status;
  if (!how.scales || !how.scales->data)
    return onnx_fail(call, "no scale for each dimension");
  bool nearest = strcmp(onnx_text(call, "mode", "nearest"), "nearest") == 0;
  onnx_arg_text(call, "mode", nearest ? "nearest" : "linear"); /* of set 1: bilinear */
  onnx_arg_text(call, "coordinates", "asymmetric");
  onnx_arg_text(call, "nearest", "floor");
  call->op = "Resize";
  status = resized(call, &how, shape);
  return status == VINCI_OK ? put_resized(call, &how, shape) : status;
}
