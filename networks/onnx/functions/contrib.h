/* SPDX-License-Identifier: Apache-2.0 */
/* Operators as functions of others whose bodies are text (contrib.def has the syntax). */
#ifndef VINCI_NETWORKS_ONNX_FUNCTIONS_CONTRIB_H
#define VINCI_NETWORKS_ONNX_FUNCTIONS_CONTRIB_H

#include "networks/onnx/rules/rules.h"

/* Numbers of an attribute, whole or real, that a text names "$0", "$1" .. */
struct onnx_list {
  int64_t *ints;
  float *reals;
  size_t count;
};

struct onnx_body {
  const char *inputs, *outputs; /* names with blanks between, as the call orders its operands */
  const char *text;
  int64_t opset; /* of the standard operators in the text; 0: that of the model */
  const struct onnx_list *lists;
};

/* The outputs of the call become those of the body. */
VINCI_MUST_CHECK enum vinci_status onnx_call_body(struct onnx_call *call,
                                                  const struct onnx_body *body);
/* A text that grows for one call. */
enum { ONNX_LISTS_MAX = 8 };
struct onnx_text {
  char text[32768];
  size_t used;
  struct onnx_list lists[ONNX_LISTS_MAX];
  unsigned list_count;
};
void onnx_say(struct onnx_text *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Append "Constant NAME = value_ints=..;". */
void onnx_say_ints(struct onnx_text *body, const char *name, const int64_t *list, unsigned count);
void onnx_say_shape(struct onnx_text *body, const char *name, const uint64_t *shape, unsigned rank);
/* Room for a list of the text, whose attribute is "$" and the number of the list; NULL: memory is
 * short. */
int64_t *onnx_say_list(struct onnx_call *call, struct onnx_text *body, size_t count);
float *onnx_say_reals(struct onnx_call *call, struct onnx_text *body, size_t count);
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

/* Whether a Cast to a type is that of a constant of 4 bits with more elements than a fold takes;
 * and the nodes of such a call (quantised.c). */
bool onnx_is_unpacked(const struct onnx_value *x, enum onnx_type type);
VINCI_MUST_CHECK enum vinci_status onnx_cast_unpacked(struct onnx_call *call, enum onnx_type type);

/* ---- arguments that the rule of a call has put, of functions of standard operators ---- */

unsigned onnx_put_ints(const struct onnx_call *call, const char *key, int64_t *out, unsigned most);
int64_t onnx_put_int(const struct onnx_call *call, const char *key, int64_t fallback);
double onnx_put_real(const struct onnx_call *call, const char *key, double fallback);
const char *onnx_put_text(const struct onnx_call *call, const char *key);

/* Of CONTRIB_MADE: *known: the reader has what the call asks for; all inputs have shapes. */
#define CONTRIB(name, inputs, outputs, body)
#define CONTRIB_MADE(name, inputs_min, function)                                                   \
  VINCI_MUST_CHECK enum vinci_status onnx_made_##function(struct onnx_call *call, bool *known);
#include "networks/onnx/functions/contrib.def"
#undef CONTRIB
#undef CONTRIB_MADE
/* Of STANDARD_MADE, after the rule: *known: the function does what no layer does. */
#define STANDARD(name, inputs, outputs, body)
#define STANDARD_MADE(name, function)                                                              \
  VINCI_MUST_CHECK enum vinci_status onnx_made_##function(struct onnx_call *call, bool *known);
#include "networks/onnx/functions/standard.def"
#undef STANDARD
#undef STANDARD_MADE

#endif
