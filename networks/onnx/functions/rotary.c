/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary positions: functions of standard operators, whose bodies follow from the call. */
#include <inttypes.h>

#include "networks/onnx/functions/contrib.h"

void onnx_rotate(struct onnx_text *b, const char *x, const char *y, uint64_t depth, uint64_t turned,
                 bool neighbours) {
  uint64_t half = turned / 2, rest = depth - turned;
  if (rest != 0)
    onnx_say(
        b, "Constant %s.s = value_ints=%" PRIu64 ",%" PRIu64 "; Split %s.t %s.r = %s %s.s axis=-1;",
        y, turned, rest, y, y, x, y);
  else
    onnx_say(b, "Identity %s.t = %s;", y, x);
  if (neighbours)
    onnx_say(b,
             "Constant %s.h = value_ints=0,0,0,%" PRIu64
             ",2; Reshape %s.p = %s.t %s.h; Constant %s.i = value_ints=1,1;"
             "Split %s.a5 %s.b5 = %s.p %s.i axis=-1; Constant %s.j = value_ints=0,0,0,%" PRIu64 ";"
             "Reshape %s.a = %s.a5 %s.j; Reshape %s.b = %s.b5 %s.j;",
             y, half, y, y, y, y, y, y, y, y, y, half, y, y, y, y, y, y);
  else
    onnx_say(b,
             "Constant %s.h = value_ints=%" PRIu64 ",%" PRIu64
             "; Split %s.a %s.b = %s.t %s.h axis=-1;",
             y, half, half, y, y, y, y);
  onnx_say(b,
           "Mul %s.1 = %s.a cos; Mul %s.2 = %s.b sin; Sub %s.m = %s.1 %s.2;"
           "Mul %s.3 = %s.a sin; Mul %s.4 = %s.b cos; Add %s.n = %s.3 %s.4;",
           y, y, y, y, y, y, y, y, y, y, y, y, y, y);
  if (neighbours)
    onnx_say(b,
             "Constant %s.k = value_ints=0,0,0,%" PRIu64
             ",1; Reshape %s.m5 = %s.m %s.k; Reshape %s.n5 = %s.n %s.k;"
             "Concat %s.o5 = %s.m5 %s.n5 axis=-1; Constant %s.l = value_ints=0,0,0,%" PRIu64
             "; Reshape %s.o = %s.o5 %s.l;",
             y, half, y, y, y, y, y, y, y, y, y, y, turned, y, y, y);
  else
    onnx_say(b, "Concat %s.o = %s.m %s.n axis=-1;", y, y, y);
  if (rest != 0)
    onnx_say(b, "Concat %s = %s.o %s.r axis=-1;", y, y, y);
  else
    onnx_say(b, "Identity %s = %s.o;", y, y);
}

/* RotaryEmbedding of ONNX 23 (x, cos, sin, positions) and of ONNX Runtime (x, positions, cos, sin),
 * whose positions may be one number, that of the first row. */
enum vinci_status onnx_made_rotary(struct onnx_call *call, bool *known) {
  bool own = onnx_is_contributed(call);
  uint32_t cos_input = own ? 2 : 1, positions = own ? 1 : 3;
  const struct onnx_value *x = call->inputs[0], *cos = call->inputs[cos_input];
  bool apart = x->rank == 4;
  int64_t heads = onnx_int(call, "num_heads", 0),
          turned = onnx_int(call, "rotary_embedding_dim", 0);
  uint64_t depth;
  *known =
      (x->rank == 3 || apart) && cos->rank >= 2 && onnx_int(call, "is_packed_batching", 0) == 0;
  if (!*known)
    return VINCI_OK;
  if (apart)
    depth = x->shape[3];
  else if (heads > 0)
    depth = x->shape[2] / (uint64_t)heads;
  else
    depth = 2 * cos->shape[cos->rank - 1];
  if (turned == 0)
    turned = (int64_t)depth;
  if (turned < 2 || turned % 2 != 0 || (uint64_t)turned > depth ||
      (!apart && x->shape[2] % depth != 0))
    return onnx_fail(call, "rows %s with heads of %" PRIu64 " elements, of which %lld turn",
                     onnx_shape_text(x).text, depth, (long long)turned);
  struct onnx_text body = {.used = 0};
  bool placed = onnx_given(call, positions);
  bool one = placed && call->inputs[positions]->rank < 2;
  if (one)
    onnx_say(&body,
             "Constant from = value_int=0; Constant to = value_int=%" PRIu64
             "; Constant by = value_int=1;"
             "Range rows = from to by;"
             "Cast first = positions to=6; Cast next = rows to=6; Add at = first next;",
             x->shape[apart ? 2 : 1]);
  else if (placed)
    onnx_say(&body, "Identity at = positions;");
  if (placed)
    onnx_say(&body, "Gather cos.g = cosines at axis=0; Gather sin.g = sines at axis=0;");
  else
    onnx_say(&body, "Identity cos.g = cosines; Identity sin.g = sines;");
  /* of rows [batch, sequence, ..], or of [sequence, ..]: the heads come behind or before */
  if (apart && one)
    onnx_say(&body, "Identity cos = cos.g; Identity sin = sin.g;");
  else
    onnx_say(
        &body,
        "Constant axis = value_ints=%d,; Unsqueeze cos = cos.g axis; Unsqueeze sin = sin.g axis;",
        apart || one ? 1 : 2);
  if (apart)
    onnx_say(&body, "Identity x4 = x;");
  else
    onnx_say(&body, "Constant heads = value_ints=0,0,-1,%" PRIu64 "; Reshape x4 = x heads;", depth);
  onnx_rotate(&body, "x4", "y4", depth, (uint64_t)turned, onnx_int(call, "interleaved", 0) != 0);
  if (apart)
    onnx_say(&body, "Identity y = y4");
  else
    onnx_say(&body, "Constant flat = value_ints=0,0,%" PRIu64 "; Reshape y = y4 flat", x->shape[2]);
  return onnx_call_text(call, own ? "x positions cosines sines" : "x cosines sines positions", "y",
                        &body);
}
