/* SPDX-License-Identifier: Apache-2.0 */
/* Operators as functions of others whose bodies are text (contrib.def has the syntax). */
#ifndef VINCI_NETWORKS_ONNX_CONTRIB_H
#define VINCI_NETWORKS_ONNX_CONTRIB_H

#include "networks/onnx/rules.h"

struct onnx_body {
  const char *inputs, *outputs; /* names with blanks between, as the call orders its operands */
  const char *text;
  int64_t opset; /* of the standard operators in the text; 0: that of the model */
};

/* The outputs of the call become those of the body. */
VINCI_MUST_CHECK enum vinci_status onnx_call_body(struct onnx_call *call,
                                                  const struct onnx_body *body);
/* A text that grows for one call. */
struct onnx_text {
  char text[16384];
  size_t used;
};
void onnx_say(struct onnx_text *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* onnx_call_body() of a text whose standard operators are those of set 21. */
VINCI_MUST_CHECK enum vinci_status onnx_call_text(struct onnx_call *call, const char *inputs,
                                                  const char *outputs,
                                                  const struct onnx_text *body);
/* Whether the call names the domain com.microsoft. */
bool onnx_is_contributed(const struct onnx_call *call);

/* Heads side by side in rows [batch, sequence, hidden], or apart: [batch, heads, sequence, depth].
 */
struct onnx_heads {
  uint64_t batch, count, sequence, depth;
};
/* Appends nodes that turn the first `turned` elements of each head of x, [.., .., .., depth], by
 * values cos and sin of the body, which are [.., turned / 2] and fit x otherwise: y. Neighbours
 * turn together, or the halves. */
void onnx_rotate(struct onnx_text *body, const char *x, const char *y, uint64_t depth,
                 uint64_t turned, bool neighbours);
/* Attention with a mask, keys of the past, results beside the first, or softcap. */
VINCI_MUST_CHECK enum vinci_status onnx_made_attention(struct onnx_call *call,
                                                       const struct onnx_heads *q,
                                                       const struct onnx_heads *k,
                                                       const struct onnx_heads *v);

/* Of CONTRIB_MADE: *known: the reader has what the call asks for; all inputs have shapes. */
#define CONTRIB(name, inputs, outputs, body)
#define CONTRIB_MADE(name, inputs_min, function)                                                   \
  VINCI_MUST_CHECK enum vinci_status onnx_made_##function(struct onnx_call *call, bool *known);
#include "networks/onnx/contrib.def"
#undef CONTRIB
#undef CONTRIB_MADE

#endif
