/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose result is known before a run, or comes from no tensor; and those that are
 * refused. */
#include <math.h>
#include <string.h>

#include "networks/onnx/rules/rules.h"

/* ---- constants ------------------------------------------------------------------------------- */

/* A constant that is one number or a list of them, in the arena. */
static enum vinci_status make_numbers(struct onnx_call *call, enum onnx_type type,
                                      const int64_t *ints, const float *reals, size_t count,
                                      bool list) {
  uint64_t extent = count;
  enum vinci_status status = onnx_output(call, 0, type, &extent, list);
  void *data = arena_alloc(&call->import->arena, count + 1, sizeof(int64_t));
  if (!data)
    return onnx_no_memory(call->import);
  for (size_t i = 0; i < count; i++)
    if (ints)
      onnx_store_int(data, type, i, ints[i]);
    else
      onnx_store_real(data, type, i, (double)reals[i]);
  call->outputs[0]->data = data;
  call->outputs[0]->constant = true;
  call->done = true;
  return status;
}

enum vinci_status onnx_rule_constant(struct onnx_call *call) {
  const Onnx__AttributeProto *value = onnx_attribute(call, "value");
  if (value && value->t) {
    call->done = true;
    return onnx_take_tensor(call->import, value->t, call->outputs[0]);
  }
  if ((value = onnx_attribute(call, "value_int")))
    return make_numbers(call, ONNX_INT64, &value->i, NULL, 1, false);
  if ((value = onnx_attribute(call, "value_float")))
    return make_numbers(call, ONNX_FLOAT, NULL, &value->f, 1, false);
  if ((value = onnx_attribute(call, "value_ints")))
    return make_numbers(call, ONNX_INT64, value->ints, NULL, value->n_ints, true);
  if ((value = onnx_attribute(call, "value_floats")))
    return make_numbers(call, ONNX_FLOAT, NULL, value->floats, value->n_floats, true);
  return onnx_fail(call, "a constant without a value that this reader takes (sparse, text)");
}

enum vinci_status onnx_rule_constant_of_shape(struct onnx_call *call) {
  struct onnx_import *import = call->import;
  const Onnx__AttributeProto *given = onnx_attribute(call, "value");
  struct onnx_value filler = {.type = ONNX_FLOAT, .data = "\0\0\0"};
  struct onnx_ints wanted;
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = onnx_ints_input(call, 0, &wanted);
  if (status == VINCI_OK && given && given->t) {
    filler.data = NULL; /* which a tensor without numbers leaves so */
    status = onnx_take_tensor(import, given->t, &filler);
  }
  if (status != VINCI_OK)
    return status;
  for (unsigned i = 0; i < wanted.count && i < GRAPH_RANK_MAX; i++) {
    if (wanted.list[i] < 0)
      return onnx_fail(call, "a shape with extent %lld", (long long)wanted.list[i]);
    shape[i] = (uint64_t)wanted.list[i];
  }
  status = onnx_output(call, 0, filler.type, shape, wanted.count);
  if (status != VINCI_OK)
    return status;
  struct onnx_value *out = call->outputs[0];
  uint64_t elements = onnx_elements(out);
  unsigned bytes = onnx_element_bytes(out->type);
  out->constant = call->done = true;
  if (elements > ONNX_FOLD_MAX || !filler.data || onnx_elements(&filler) < 1)
    return VINCI_OK; /* a weight of equal numbers: no values are kept */
  uint8_t *data = arena_alloc(&import->arena, (size_t)elements * bytes + 1, 1);
  if (!data)
    return onnx_no_memory(import);
  for (uint64_t i = 0; i < elements; i++)
    memcpy(data + i * bytes, filler.data, bytes);
  out->data = data;
  if (!onnx_pack(import, out))
    return onnx_no_memory(import);
  return VINCI_OK;
}

/* ---- what is known of a tensor --------------------------------------------------------------- */

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Extents from `start` to `end`, which may count from the end (version 15). */
enum vinci_status onnx_rule_shape(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  int64_t rank = x->rank, list[GRAPH_RANK_MAX];
  int64_t start = onnx_int(call, "start", 0), end = onnx_int(call, "end", rank);
  start = clamp(start < 0 ? start + rank : start, 0, rank);
  end = clamp(end < 0 ? end + rank : end, start, rank);
  for (int64_t d = start; d < end; d++)
    list[d - start] = (int64_t)x->shape[d];
  return make_numbers(call, ONNX_INT64, list, NULL, (size_t)(end - start), true);
}

enum vinci_status onnx_rule_size(struct onnx_call *call) {
  int64_t elements = (int64_t)onnx_elements(call->inputs[0]);
  return make_numbers(call, ONNX_INT64, &elements, NULL, 1, false);
}

enum vinci_status onnx_rule_range(struct onnx_call *call) {
  const struct onnx_value *start = call->inputs[0];
  for (uint32_t i = 0; i < 3; i++)
    if (!onnx_known(call, i)) {
      call->outputs[0]->type = start->type; /* its length is not known before a run */
      return VINCI_OK;
    }
  double delta = onnx_load_real(call->inputs[2], 0);
  double count = ceil((onnx_load_real(call->inputs[1], 0) - onnx_load_real(start, 0)) / delta);
  if (delta == 0 || !(count < (double)ONNX_ELEMENTS_MAX))
    return onnx_fail(call, "a range with %g elements", count);
  uint64_t extent = count > 0 ? (uint64_t)count : 0;
  return onnx_output(call, 0, start->type, &extent, 1);
}

enum vinci_status onnx_rule_eye_like(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  enum onnx_type type = (enum onnx_type)onnx_int(call, "dtype", (int64_t)x->type);
  if (x->rank != 2)
    return onnx_fail(call, "a matrix is needed, not %s", onnx_shape_text(x).text);
  onnx_arg_int(call, "k", onnx_int(call, "k", 0));
  return onnx_output(call, 0, type, x->shape, 2);
}

/* ---- random numbers -------------------------------------------------------------------------- */

enum vinci_status onnx_rule_random(struct onnx_call *call) {
  struct onnx_ints shape;
  uint64_t extents[GRAPH_RANK_MAX];
  enum vinci_status status = onnx_ints(call, "shape", &shape);
  if (status != VINCI_OK)
    return status;
  for (unsigned i = 0; i < shape.count && i < GRAPH_RANK_MAX; i++) {
    if (shape.list[i] < 1)
      return onnx_fail(call, "a shape with extent %lld", (long long)shape.list[i]);
    extents[i] = (uint64_t)shape.list[i];
  }
  onnx_arg_all(call);
  return onnx_output(call, 0, (enum onnx_type)onnx_int(call, "dtype", ONNX_FLOAT), extents,
                     shape.count);
}

enum vinci_status onnx_rule_random_like(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  onnx_arg_all(call);
  return onnx_output(call, 0, (enum onnx_type)onnx_int(call, "dtype", (int64_t)x->type), x->shape,
                     x->rank);
}

/* ---- refused --------------------------------------------------------------------------------- */

enum vinci_status onnx_rule_refused(struct onnx_call *call) {
  onnx_fail(call, "this reader does not take maps, optional values, texts, and sequences that are "
                  "computed in the run");
  diag_hint(call->import->diag, "export the model without them");
  return VINCI_E_INPUT;
}
