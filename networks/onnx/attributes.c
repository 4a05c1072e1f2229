/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of ONNX operators, and the arguments of layers that they become. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "networks/onnx/import.h"

/* ---- reading --------------------------------------------------------------------------------- */

const Onnx__AttributeProto *onnx_attribute(const struct onnx_call *call, const char *name) {
  for (size_t i = 0; i < call->node->n_attribute; i++)
    if (call->node->attribute[i]->name && strcmp(call->node->attribute[i]->name, name) == 0)
      return onnx_refer(call, call->node->attribute[i]);
  return NULL;
}

int64_t onnx_int(const struct onnx_call *call, const char *name, int64_t fallback) {
  const Onnx__AttributeProto *attribute = onnx_attribute(call, name);
  return attribute && attribute->has_i ? attribute->i : fallback;
}

double onnx_real(const struct onnx_call *call, const char *name, double fallback) {
  const Onnx__AttributeProto *attribute = onnx_attribute(call, name);
  return attribute && attribute->has_f ? (double)attribute->f : fallback;
}

/* The bytes of a text attribute, zero-terminated in the arena; an empty one stands for the default,
 * as some exporters write all attributes. */
const char *onnx_text(const struct onnx_call *call, const char *name, const char *fallback) {
  const Onnx__AttributeProto *attribute = onnx_attribute(call, name);
  if (!attribute || !attribute->has_s || attribute->s.len == 0)
    return fallback;
  const char *text =
      arena_strndup(&call->import->arena, (const char *)attribute->s.data, attribute->s.len);
  return text ? text : fallback;
}

enum vinci_status onnx_ints(const struct onnx_call *call, const char *name, struct onnx_ints *out) {
  const Onnx__AttributeProto *attribute = onnx_attribute(call, name);
  size_t most = sizeof out->list / sizeof *out->list;
  *out = (struct onnx_ints){.given = attribute != NULL};
  if (!attribute)
    return VINCI_OK;
  if (attribute->n_ints > most)
    return onnx_fail(call, "attribute %s has %zu numbers; more than %zu are not possible", name,
                     attribute->n_ints, most);
  for (size_t i = 0; i < attribute->n_ints; i++)
    out->list[i] = attribute->ints[i];
  out->count = (unsigned)attribute->n_ints;
  return VINCI_OK;
}

bool onnx_given(const struct onnx_call *call, uint32_t input) {
  return input < call->input_count && call->inputs[input];
}

bool onnx_known(const struct onnx_call *call, uint32_t input) {
  return onnx_given(call, input) && call->inputs[input]->constant && call->inputs[input]->shaped &&
         call->inputs[input]->data;
}

enum vinci_status onnx_ints_input(const struct onnx_call *call, uint32_t input,
                                  struct onnx_ints *out) {
  size_t most = sizeof out->list / sizeof *out->list;
  *out = (struct onnx_ints){.given = onnx_given(call, input)};
  if (!out->given)
    return VINCI_OK;
  const struct onnx_value *value = call->inputs[input];
  if (!onnx_known(call, input)) {
    onnx_fail(call, "input %u (\"%s\") has to be known before a run, and is computed in the run",
              input, value->name);
    onnx_hint_input(call, input);
    return VINCI_E_INPUT;
  }
  if (value->rank > 1 || onnx_elements(value) > most)
    return onnx_fail(call, "input %u (\"%s\") is a list of up to %zu numbers", input, value->name,
                     most);
  out->count = (unsigned)onnx_elements(value);
  for (unsigned i = 0; i < out->count; i++)
    out->list[i] = onnx_load_int(value, i);
  return VINCI_OK;
}

enum vinci_status onnx_ints_either(const struct onnx_call *call, const char *name, int64_t since,
                                   uint32_t input, struct onnx_ints *out) {
  return call->opset < since ? onnx_ints(call, name, out) : onnx_ints_input(call, input, out);
}

enum vinci_status onnx_axis(const struct onnx_call *call, int64_t axis, unsigned rank,
                            unsigned *out) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return onnx_fail(call, "axis %lld of a tensor with %u dimensions", (long long)axis, rank);
  *out = (unsigned)(axis < 0 ? axis + (int64_t)rank : axis);
  return VINCI_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { REAL_BYTES = 40, REAL_DIGITS_MAX = 17 };

/* "d.ddde-x": printf's digits, whatever its locale puts between. */
static void put_digits(char text[static REAL_BYTES], double value, int digits) {
  char wide[REAL_BYTES * 2], mantissa[REAL_BYTES];
  int length = 0;
  snprintf(wide, sizeof wide, "%.*e", digits - 1, value);
  const char *exponent = strchr(wide, 'e');
  for (const char *at = wide; at < exponent && length < REAL_DIGITS_MAX; at++)
    if (*at >= '0' && *at <= '9')
      mantissa[length++] = *at;
  while (length > 1 && mantissa[length - 1] == '0')
    length--;
  long power = strtol(exponent + 1, NULL, 10);
  const char *sign = value < 0 ? "-" : "";
  if (power >= 0 && power < length) /* 12.5 */
    snprintf(text, REAL_BYTES, "%s%.*s%s%.*s", sign, (int)power + 1, mantissa,
             length > power + 1 ? "." : "", length - (int)power - 1, mantissa + power + 1);
  else if (power < 0 && power >= -4) /* 0.0125 */
    snprintf(text, REAL_BYTES, "%s0.%.*s%.*s", sign, (int)-power - 1, "000", length, mantissa);
  else if (power >= 0 && power < 7) /* 1200 */
    snprintf(text, REAL_BYTES, "%s%.*s%.*s", sign, length, mantissa, (int)power + 1 - length,
             "0000000");
  else
    snprintf(text, REAL_BYTES, "%s%.1s%s%.*se%ld", sign, mantissa, length > 1 ? "." : "",
             length - 1, mantissa + 1, power);
}

/* The shortest decimal that is this fp32 number again. */
static void put_real(char text[static REAL_BYTES], double value) {
  double again;
  if (isnan(value) || isinf(value)) {
    snprintf(text, REAL_BYTES, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  for (int digits = 1; digits <= REAL_DIGITS_MAX; digits++) {
    put_digits(text, value, digits);
    if (decimal_parse(text, &again) && (float)again == (float)value)
      return;
  }
}

static void add_arg(struct onnx_call *call, const char *key, const char *value) {
  size_t size = strlen(key) + strlen(value) + 2;
  char *text = arena_alloc(&call->import->arena, size, 1);
  if (!text || call->arg_count == GRAPH_ARGS_MAX)
    return;
  snprintf(text, size, "%s=%s", key, value);
  call->args[call->arg_count++] = text;
}

void onnx_arg_int(struct onnx_call *call, const char *key, int64_t value) {
  onnx_arg_ints(call, key, &value, 1);
}

void onnx_arg_real(struct onnx_call *call, const char *key, double value) {
  char text[REAL_BYTES];
  put_real(text, value);
  add_arg(call, key, text);
}

void onnx_arg_reals(struct onnx_call *call, const char *key, const double *list, unsigned count) {
  char text[GRAPH_RANK_MAX * (REAL_BYTES + 1) + 1] = "";
  size_t used = 0;
  for (unsigned i = 0; i < count && i < GRAPH_RANK_MAX; i++) {
    if (i > 0)
      text[used++] = 'x';
    put_real(text + used, list[i]);
    used += strlen(text + used);
  }
  add_arg(call, key, text);
}

/* Arguments stand between blanks. */
void onnx_arg_text(struct onnx_call *call, const char *key, const char *value) {
  char text[64];
  snprintf(text, sizeof text, "%s", value);
  for (char *at = text; *at; at++)
    if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f || *at == '"')
      *at = '_';
  add_arg(call, key, text);
}

void onnx_arg_ints(struct onnx_call *call, const char *key, const int64_t *list, unsigned count) {
  char text[2 * GRAPH_RANK_MAX * (DECIMAL_TEXT_BYTES + 1) + 1];
  size_t used = 0, most = 2 * GRAPH_RANK_MAX;
  text[0] = '\0';
  for (unsigned i = 0; i < count && i < most; i++) {
    if (i > 0)
      text[used++] = 'x';
    used += decimal_put(text + used, list[i]);
  }
  add_arg(call, key, text);
}

void onnx_arg_all(struct onnx_call *call) {
  for (size_t i = 0; i < call->node->n_attribute; i++) {
    const Onnx__AttributeProto *named = call->node->attribute[i];
    const Onnx__AttributeProto *attribute = onnx_refer(call, named);
    char key[64];
    struct onnx_ints ints;
    snprintf(key, sizeof key, "%s", named->name ? named->name : "");
    for (char *at = key; *at; at++)
      if ((unsigned char)*at <= ' ' || strchr("=\",", *at) || (unsigned char)*at >= 0x7f)
        *at = '_';
    if (!*key || !attribute)
      continue;
    if (attribute->has_i)
      onnx_arg_int(call, key, attribute->i);
    else if (attribute->has_f)
      onnx_arg_real(call, key, (double)attribute->f);
    else if (attribute->has_s)
      onnx_arg_text(call, key, onnx_text(call, named->name, ""));
    else if (attribute->n_ints > 0 && attribute->n_ints <= sizeof ints.list / sizeof *ints.list)
      onnx_arg_ints(call, key, attribute->ints, (unsigned)attribute->n_ints);
  }
}
