/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QuantizeLinear and DequantizeLinear with scales of blocks, and of constants of 4 bits or of
 * floating point with 8: numbers out of their bytes, which is done before a run, and arithmetic.
 */
#include <inttypes.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"

#define KEEP "keep_fp32=1" /* what decides on a byte keeps its digits */

enum { QUANTISED_X, QUANTISED_SCALE, QUANTISED_ZERO };

/* How the scales lie on x: one for all, one for each element of an axis, one for each block there.
 */
struct scaling {
  uint64_t count, block; /* scales; block 0: none */
  unsigned axis;
};

static enum vinci_status take_scaling(const struct onnx_call *call, struct scaling *out) {
  const struct onnx_value *x = call->inputs[QUANTISED_X], *scale = call->inputs[QUANTISED_SCALE];
  int64_t block = onnx_int(call, "block_size", 0);
  *out = (struct scaling){.count = onnx_elements(scale), .block = (uint64_t)block};
  if (out->count == 1 && block == 0)
    return VINCI_OK;
  enum vinci_status status = onnx_axis(call, onnx_int(call, "axis", 1), x->rank, &out->axis);
  if (status != VINCI_OK)
    return status;
  if (block == 0)
    return scale->rank == 1 && out->count == x->shape[out->axis]
               ? VINCI_OK
               : onnx_fail(call, "%s scales for axis %u of %s", onnx_shape_text(scale).text,
                           out->axis, onnx_shape_text(x).text);
  bool fits = block > 0 && scale->rank == x->rank;
  for (unsigned d = 0; d < x->rank && fits; d++)
    fits = d == out->axis ? x->shape[d] == out->block * scale->shape[d]
                          : x->shape[d] == scale->shape[d];
  return fits ? VINCI_OK
              : onnx_fail(call,
                          "%s scales for blocks of %lld along axis %u of %s; whole blocks are "
                          "possible",
                          onnx_shape_text(scale).text, (long long)block, out->axis,
                          onnx_shape_text(x).text);
}

/* ---- numbers in bytes ------------------------------------------------------------------------ */

static const char *form_of(enum onnx_type type) {
  switch (type) {
  case ONNX_INT4:
    return "signed";
  case ONNX_UINT4:
    return "unsigned";
  case ONNX_FLOAT4E2M1:
    return "e2m1";
  case ONNX_FLOAT8E4M3FN:
    return "e4m3";
  case ONNX_FLOAT8E5M2:
    return "e5m2";
  default:
    return NULL;
  }
}

/* Of the layer that takes numbers out of bytes: the shape and type of its attributes. */
enum vinci_status onnx_rule_unpacked(struct onnx_call *call) {
  struct onnx_ints extents;
  uint64_t shape[GRAPH_RANK_MAX];
  enum vinci_status status = onnx_ints(call, "shape", &extents);
  if (status != VINCI_OK)
    return status;
  for (unsigned d = 0; d < extents.count && d < GRAPH_RANK_MAX; d++)
    shape[d] = (uint64_t)extents.list[d];
  onnx_arg_int(call, "bits", onnx_int(call, "bits", 8));
  onnx_arg_text(call, "form", onnx_text(call, "form", "unsigned"));
  return onnx_output(call, 0, (enum onnx_type)onnx_int(call, "to", ONNX_FLOAT), shape,
                     extents.count);
}

/* "to": input `input`, named "from" in the body, in the type of the scale. */
static void say_numbers(struct onnx_text *b, struct onnx_call *call, uint32_t input,
                        const char *from, const char *to, enum onnx_type type) {
  struct onnx_value *own = call->inputs[input];
  if (!own->bytes) {
    onnx_say(b, "Cast %s = %s to=%d;", to, from, (int)type);
    return;
  }
  onnx_say(b, "UnpackedNumbers %s = %s to=%d bits=%u form=%s shape=", to, from, (int)type,
           onnx_type_bits(own->type), form_of(own->type));
  for (unsigned d = 0; d < own->rank; d++)
    onnx_say(b, "%" PRIu64 ",", own->shape[d]);
  onnx_say(b, ";");
}

/* Constants of 4 bits that are too many for a fold. */
bool onnx_is_unpacked(const struct onnx_value *x, enum onnx_type type) {
  return x->bytes && onnx_type_bits(x->type) == 4 && onnx_elements(x) > ONNX_FOLD_MAX &&
         onnx_type_bits(type) >= 8 && type != ONNX_BOOL;
}

enum vinci_status onnx_cast_unpacked(struct onnx_call *call, enum onnx_type type) {
  struct onnx_text body = {.used = 0};
  say_numbers(&body, call, QUANTISED_X, "x", "y", type);
  call->inputs[QUANTISED_X] = call->inputs[QUANTISED_X]->bytes;
  call->input_count = 1; /* the second of CastLike is its type */
  return onnx_call_text(call, "x", "y", &body);
}

/* Whether numbers of this type come from bytes that are known, or by a cast. */
static bool can_read(const struct onnx_call *call, uint32_t input) {
  return !onnx_given(call, input) || call->inputs[input]->bytes ||
         onnx_type_bits(call->inputs[input]->type) >= 8;
}

/* What a body reads of constants of few bits is their bytes. */
static void take_bytes(struct onnx_call *call) {
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i] && call->inputs[i]->bytes)
      call->inputs[i] = call->inputs[i]->bytes;
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* "to": x with its blocks apart, or scales as they broadcast with that. */
static void say_apart(struct onnx_text *b, const struct onnx_value *x, const struct scaling *how,
                      bool scales, const char *from, const char *to, const char *keep) {
  if (how->block == 0 && !scales) {
    onnx_say(b, "Identity %s = %s;", to, from);
    return;
  }
  if (how->block == 0 && how->count == 1) {
    onnx_say(b, "Constant %s.s = value_ints=1,; Reshape %s = %s %s.s;", to, to, from, to);
    return;
  }
  onnx_say(b, "Constant %s.s = value_ints=", to);
  for (unsigned d = 0; d < x->rank; d++) {
    bool here = d == how->axis;
    if (here && how->block > 0)
      onnx_say(b, "%" PRIu64 ",%" PRIu64 ",", x->shape[d] / how->block, scales ? 1 : how->block);
    else
      onnx_say(b, "%" PRIu64 ",", scales && how->block == 0 && !here ? 1 : x->shape[d]);
  }
  onnx_say(b, "; Reshape %s = %s %s.s %s;", to, from, to, keep);
}

static void say_shape_again(struct onnx_text *b, const struct onnx_value *x, const char *from) {
  onnx_say_shape(b, "whole", x->shape, x->rank);
  onnx_say(b, "Reshape y = %s whole", from);
}

/* ---- DequantizeLinear ------------------------------------------------------------------------ */

enum vinci_status onnx_made_dequantize(struct onnx_call *call, bool *known) {
  struct onnx_value *x = call->inputs[QUANTISED_X];
  struct onnx_text body = {.used = 0};
  struct scaling how;
  enum onnx_type type = call->outputs[0]->type;
  bool unpacks =
      x->bytes || (onnx_given(call, QUANTISED_ZERO) && call->inputs[QUANTISED_ZERO]->bytes);
  *known = (unpacks || onnx_int(call, "block_size", 0) != 0) && can_read(call, QUANTISED_X) &&
           can_read(call, QUANTISED_ZERO) && x->rank < GRAPH_RANK_MAX;
  if (!*known)
    return VINCI_OK;
  enum vinci_status status = take_scaling(call, &how);
  if (status != VINCI_OK)
    return status;
  say_numbers(&body, call, QUANTISED_X, "x", "n", type);
  onnx_say(&body, "Cast f = s to=%d;", (int)type);
  say_apart(&body, x, &how, false, "n", "a", "");
  say_apart(&body, x, &how, true, "f", "g", "");
  if (onnx_given(call, QUANTISED_ZERO)) {
    say_numbers(&body, call, QUANTISED_ZERO, "z", "zn", type);
    say_apart(&body, x, &how, true, "zn", "zg", "");
    onnx_say(&body, "Sub d = a zg; Mul m = d g;");
  } else {
    onnx_say(&body, "Mul m = a g;");
  }
  say_shape_again(&body, x, "m");
  take_bytes(call);
  return onnx_call_text(call, "x s z", "y", &body);
}

/* ---- QuantizeLinear -------------------------------------------------------------------------- */

enum { LOW_INT4 = -8, HIGH_INT4 = 7, HIGH_UINT4 = 15 };

/* The smallest and the largest number of a type; false: of others. Numbers of 4 bits that a run
 * computes lie one to a byte: *held is the type that a tensor of them has. */
static bool limits_of(enum onnx_type type, double *low, double *high, enum onnx_type *held) {
  *held = type;
  switch (type) {
  case ONNX_INT4:
    *low = LOW_INT4, *high = HIGH_INT4, *held = ONNX_INT8;
    return true;
  case ONNX_UINT4:
    *low = 0, *high = HIGH_UINT4, *held = ONNX_UINT8;
    return true;
  case ONNX_INT8:
    *low = INT8_MIN, *high = INT8_MAX;
    return true;
  case ONNX_UINT8:
    *low = 0, *high = UINT8_MAX;
    return true;
  case ONNX_INT16:
    *low = INT16_MIN, *high = INT16_MAX;
    return true;
  default:
    return false;
  }
}

enum vinci_status onnx_made_quantize(struct onnx_call *call, bool *known) {
  struct onnx_value *x = call->inputs[QUANTISED_X];
  struct onnx_text body = {.used = 0};
  enum onnx_type type = call->outputs[0]->type;
  enum onnx_type held;
  struct scaling how;
  double low, high;
  *known = limits_of(type, &low, &high, &held) &&
           (onnx_int(call, "block_size", 0) != 0 || held != type) &&
           can_read(call, QUANTISED_ZERO) && x->rank < GRAPH_RANK_MAX;
  if (!*known)
    return VINCI_OK;
  enum vinci_status status = take_scaling(call, &how);
  if (status != VINCI_OK)
    return status;
  onnx_say(&body, "Cast n = x to=1; Cast f = s to=1;");
  say_apart(&body, x, &how, false, "n", "a", KEEP);
  say_apart(&body, x, &how, true, "f", "g", KEEP);
  onnx_say(&body, "Div q = a g " KEEP "; Round r = q " KEEP ";");
  if (onnx_given(call, QUANTISED_ZERO)) {
    say_numbers(&body, call, QUANTISED_ZERO, "z", "zn", ONNX_FLOAT);
    say_apart(&body, x, &how, true, "zn", "zg", KEEP);
    onnx_say(&body, "Add t = r zg " KEEP ";");
  } else {
    onnx_say(&body, "Identity t = r;");
  }
  onnx_say(&body,
           "Constant low = value_float=%.1f; Constant high = value_float=%.1f;"
           "Clip c = t low high " KEEP "; Cast b = c to=%d " KEEP ";",
           low, high, (int)held);
  say_shape_again(&body, x, "b");
  take_bytes(call);
  return onnx_call_text(call, "x s z", "y", &body);
}
