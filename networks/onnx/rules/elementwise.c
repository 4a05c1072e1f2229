/* SPDX-License-Identifier: Apache-2.0 */
/* Operators element by element, broadcasting included. */
#include <math.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"
#include "networks/onnx/rules/rules.h"

bool onnx_broadcast(struct onnx_value *const *operands, uint32_t count,
                    uint64_t shape[static GRAPH_RANK_MAX], unsigned *rank) {
  *rank = 0;
  for (uint32_t i = 0; i < count; i++)
    *rank = operands[i] && operands[i]->rank > *rank ? operands[i]->rank : *rank;
  for (unsigned d = 0; d < *rank; d++)
    shape[d] = 1;
  for (uint32_t i = 0; i < count; i++)
    for (unsigned d = 0; operands[i] && d < operands[i]->rank; d++) {
      uint64_t extent = operands[i]->shape[d], *at = &shape[*rank - operands[i]->rank + d];
      if (*at != 1 && extent != 1 && *at != extent)
        return false;
      *at = extent == 1 ? *at : extent;
    }
  return true;
}

struct onnx_shape_text onnx_shape_text(const struct onnx_value *value) {
  struct onnx_shape_text out = {"scalar"};
  size_t used = 0;
  for (unsigned i = 0; i < value->rank && used < sizeof out.text; i++)
    used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%llu", i ? "x" : "",
                             (unsigned long long)value->shape[i]);
  return out;
}

/* ---- one operand ----------------------------------------------------------------------------- */

enum vinci_status onnx_rule_unary(struct onnx_call *call) {
  return onnx_output_like(call, 0, call->inputs[0]);
}

/* Their numbers and what they are when not given (ONNX operator specification). */
static const struct activation {
  const char *op, *attribute, *key;
  double fallback;
} activations[] = {
    {"LeakyRelu", "alpha", "alpha", 0.01},
    {"Elu", "alpha", "alpha", 1},
    {"Celu", "alpha", "alpha", 1},
    {"ThresholdedRelu", "alpha", "alpha", 1},
    {"Selu", "alpha", "alpha", 1.67326319217681884765625},
    {"Selu", "gamma", "gamma", 1.05070102214813232421875},
    {"HardSigmoid", "alpha", "alpha", 0.2},
    {"HardSigmoid", "beta", "beta", 0.5},
    {"Shrink", "bias", "bias", 0},
    {"Shrink", "lambd", "lambd", 0.5},
};

enum vinci_status onnx_rule_activation(struct onnx_call *call) {
  for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
    if (strcmp(activations[i].op, call->op) == 0)
      onnx_arg_real(call, activations[i].key,
                    onnx_real(call, activations[i].attribute, activations[i].fallback));
  if (strcmp(call->op, "Gelu") == 0)
    onnx_arg_text(call, "approximate", onnx_text(call, "approximate", "none"));
  return onnx_rule_unary(call);
}

/* IsNaN, IsInf */
enum vinci_status onnx_rule_truth(struct onnx_call *call) {
  onnx_arg_all(call);
  return onnx_output(call, 0, ONNX_BOOL, call->inputs[0]->shape, call->inputs[0]->rank);
}

/* An alias: the layers behind read the input. */
enum vinci_status onnx_rule_identity(struct onnx_call *call) {
  onnx_output_is(call, call->inputs[0]);
  return VINCI_OK;
}

/* Inference: nothing is dropped, and the mask holds ones. */
enum vinci_status onnx_rule_dropout(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  bool drops = !onnx_known(call, 1) || onnx_load_real(call->inputs[1], 0) != 0;
  if (onnx_known(call, 2) && onnx_load_int(call->inputs[2], 0) != 0 && drops)
    return onnx_fail(call, "training_mode is set; this reader takes models for inference");
  if (call->output_count > 1) {
    enum vinci_status status =
        onnx_output(call, 1, call->opset < 10 ? x->type : ONNX_BOOL, x->shape, x->rank);
    uint64_t elements = onnx_elements(x);
    struct onnx_value *mask = call->outputs[1];
    if (status != VINCI_OK)
      return status;
    mask->constant = true;
    unsigned bits = onnx_type_bits(mask->type);
    uint8_t *ones = elements <= ONNX_FOLD_MAX && bits >= 8 && onnx_can_store(mask->type)
                        ? arena_alloc(&call->import->arena, (size_t)elements * bits / 8 + 1, 1)
                        : NULL;
    for (uint64_t i = 0; ones && i < elements; i++)
      onnx_store_int(ones, mask->type, i, 1);
    mask->data = ones;
  }
  return onnx_rule_identity(call);
}

/* ---- several operands ------------------------------------------------------------------------ */

/* Before version 7 the second operand lies at an axis of the first: as trailing extents of 1. */
static enum vinci_status old_broadcast(struct onnx_call *call) {
  struct onnx_value *a = call->inputs[0], *b = call->inputs[1];
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned axis;
  if (!onnx_attribute(call, "axis") || b->rank >= a->rank || b->rank == 0)
    return VINCI_OK;
  enum vinci_status status = onnx_axis(call, onnx_int(call, "axis", 0), a->rank, &axis);
  if (status != VINCI_OK)
    return status;
  if (axis + b->rank > a->rank)
    return onnx_fail(call, "axis %u leaves no room for an operand with %u dimensions", axis,
                     b->rank);
  for (unsigned d = 0; d < a->rank - axis; d++)
    shape[d] = d < b->rank ? b->shape[d] : 1;
  if (axis + b->rank < a->rank)
    call->inputs[1] = onnx_reshaped(call, b, shape, a->rank - axis);
  return call->inputs[1] ? VINCI_OK : onnx_no_memory(call->import);
}

static enum vinci_status broadcast_to(struct onnx_call *call, uint32_t first, uint32_t count,
                                      enum onnx_type type) {
  uint64_t shape[GRAPH_RANK_MAX];
  unsigned rank;
  if (!onnx_broadcast(call->inputs + first, count, shape, &rank))
    return onnx_fail(call, "shapes %s and %s do not broadcast",
                     onnx_shape_text(call->inputs[first]).text,
                     onnx_shape_text(call->inputs[first + 1]).text);
  return onnx_output(call, 0, type, shape, rank);
}

static enum vinci_status two_operands(struct onnx_call *call, enum onnx_type type) {
  enum vinci_status status = call->opset < 7 ? old_broadcast(call) : VINCI_OK;
  return status == VINCI_OK ? broadcast_to(call, 0, 2, type) : status;
}

enum vinci_status onnx_rule_binary(struct onnx_call *call) {
  if (strcmp(call->op, "BitShift") == 0)
    onnx_arg_all(call);
  return two_operands(call, call->inputs[0]->type);
}

enum vinci_status onnx_rule_compare(struct onnx_call *call) {
  return two_operands(call, ONNX_BOOL);
}

enum vinci_status onnx_rule_mod(struct onnx_call *call) {
  onnx_arg_int(call, "fmod", onnx_int(call, "fmod", 0));
  return onnx_rule_binary(call);
}

/* Max, Min, Sum, Mean of one operand are that operand. */
enum vinci_status onnx_rule_variadic(struct onnx_call *call) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (!call->inputs[i])
      return onnx_fail(call, "input %u is missing", i);
    if (!call->inputs[i]->shaped) {
      call->outputs[0]->type = call->inputs[0]->type;
      return VINCI_OK;
    }
  }
  if (call->input_count == 1)
    return onnx_rule_identity(call);
  return broadcast_to(call, 0, call->input_count, call->inputs[0]->type);
}

/* The slope of each channel (dimension 1) may come without the dimensions behind. */
enum vinci_status onnx_rule_prelu(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *slope = call->inputs[1];
  uint64_t shape[GRAPH_RANK_MAX], merged[GRAPH_RANK_MAX];
  unsigned rank;
  bool fits = onnx_broadcast(call->inputs, 2, merged, &rank) && rank == x->rank;
  if (!fits && slope->rank == 1 && x->rank >= 2 && slope->shape[0] == x->shape[1]) {
    for (unsigned d = 0; d + 1 < x->rank; d++)
      shape[d] = d == 0 ? slope->shape[0] : 1;
    call->inputs[1] = onnx_reshaped(call, slope, shape, x->rank - 1);
    if (!call->inputs[1])
      return onnx_no_memory(call->import);
  }
  return onnx_output_like(call, 0, x);
}

enum vinci_status onnx_rule_where(struct onnx_call *call) {
  return broadcast_to(call, 0, 3, call->inputs[1]->type);
}

/* ---- Clip, Cast ------------------------------------------------------------------------------ */

/* A bound; one that nothing exceeds is none. */
static void clip_bound(struct onnx_call *call, const char *key, uint32_t input) {
  double bound = input == 1 ? -INFINITY : INFINITY;
  bool whole = !onnx_type_is_float(call->inputs[0]->type);
  if (call->opset < 11)
    bound = onnx_real(call, key, bound);
  else if (onnx_known(call, input) && onnx_elements(call->inputs[input]) == 1)
    bound = onnx_load_real(call->inputs[input], 0);
  else
    return;
  if (whole && fabs(bound) < 0x1p62)
    onnx_arg_int(call, key, (int64_t)bound);
  else if (fabs(bound) < 3.4028234e38) /* the largest fp32, which old exporters write for none */
    onnx_arg_real(call, key, bound);
}

/* Bounds that are computed in the run are an operator of their own each. */
enum vinci_status onnx_rule_clip(struct onnx_call *call) {
  for (uint32_t i = 1; i <= 2 && call->opset >= 11; i++)
    if (onnx_given(call, i) && !onnx_known(call, i)) {
      onnx_arg_text(call, "bounds", "inputs");
      return onnx_rule_unary(call);
    }
  clip_bound(call, "min", 1);
  clip_bound(call, "max", 2);
  call->kept_inputs = 1;
  return onnx_rule_unary(call);
}

static enum vinci_status cast_to(struct onnx_call *call, int64_t number) {
  enum onnx_type type = (enum onnx_type)number;
  if (number <= 0 || number >= ONNX_TYPE_COUNT)
    return onnx_fail(call,
                     "a cast to element type %lld, which is not a type of ONNX that is known "
                     "here",
                     (long long)number);
  call->op = "Cast";
  call->kept_inputs = 1;
  if (type == call->inputs[0]->type)
    return onnx_rule_identity(call);
  if (onnx_is_unpacked(call->inputs[0], type))
    return onnx_cast_unpacked(call, type);
  return onnx_output(call, 0, type, call->inputs[0]->shape, call->inputs[0]->rank);
}

enum vinci_status onnx_rule_cast(struct onnx_call *call) {
  return cast_to(call, onnx_int(call, "to", 0));
}

enum vinci_status onnx_rule_cast_like(struct onnx_call *call) {
  return cast_to(call, call->inputs[1]->type);
}
