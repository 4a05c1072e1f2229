/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that few networks have: losses, sampling, sums of products by letters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/onnx/functions/contrib.h"

/* Without a reduction a number for each target; log_prob, the second output, is as the scores. */
enum vinci_status onnx_rule_loss(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *target = call->inputs[1];
  bool none = strcmp(onnx_text(call, "reduction", "mean"), "none") == 0;
  onnx_arg_all(call);
  enum vinci_status status = onnx_output(call, 0, x->type, target->shape, none ? target->rank : 0);
  return status == VINCI_OK ? onnx_output_like(call, 1, x) : status;
}

/* ---- attention ---------------------------------------------------------------------------------
 */

static bool take_heads(struct onnx_call *call, uint32_t input, const char *attribute,
                       struct onnx_heads *out) {
  const struct onnx_value *x = call->inputs[input];
  if (!x->shaped || (x->rank != 3 && x->rank != 4))
    return false;
  if (x->rank == 4) {
    *out = (struct onnx_heads){x->shape[0], x->shape[1], x->shape[2], x->shape[3]};
    return true;
  }
  int64_t count = onnx_int(call, attribute, 0);
  if (count < 1 || x->shape[2] % (uint64_t)count != 0)
    return false;
  *out =
      (struct onnx_heads){x->shape[0], (uint64_t)count, x->shape[1], x->shape[2] / (uint64_t)count};
  return true;
}

enum { ATTENTION_MASK = 3, ATTENTION_PAST = 4, ATTENTION_LAST = 6 };

/* What of an attention no kernel has; NULL: nothing. */
static const char *attention_lacks(const struct onnx_call *call) {
  for (uint32_t i = ATTENTION_PAST + 2; i <= ATTENTION_LAST; i++)
    if (onnx_given(call, i))
      return "lengths of keys that are an input";
  if (onnx_given(call, ATTENTION_PAST) != onnx_given(call, ATTENTION_PAST + 1))
    return "keys of the past without values";
  if (onnx_given(call, ATTENTION_PAST) &&
      (call->inputs[ATTENTION_PAST]->rank != 4 || call->inputs[ATTENTION_PAST + 1]->rank != 4))
    return "keys of the past that are not apart by heads";
  return call->output_count > 3 ? "the scores as a result" : NULL;
}

/* Whether layers beside the kernel are needed. ONNX hides keys behind the query of the same number,
 * the kernel behind the last query (`causal_end`): alike where there are as many keys as queries.
 */
static bool attention_is_made(const struct onnx_call *call) {
  return onnx_given(call, ATTENTION_MASK) || onnx_given(call, ATTENTION_PAST) ||
         call->output_count > 1 || onnx_real(call, "softcap", 0) != 0;
}

/* The layer's arguments are those of flash_attention. */
enum vinci_status onnx_rule_attention(struct onnx_call *call) {
  struct onnx_heads q, k, v;
  const struct onnx_value *x = call->inputs[0];
  if (!take_heads(call, 0, "q_num_heads", &q) || !take_heads(call, 1, "kv_num_heads", &k) ||
      !take_heads(call, 2, "kv_num_heads", &v) || q.depth != k.depth || k.count != v.count ||
      k.count == 0 || q.count % k.count != 0)
    return onnx_fail(call, "queries %s, keys %s, values %s", onnx_shape_text(x).text,
                     onnx_shape_text(call->inputs[1]).text, onnx_shape_text(call->inputs[2]).text);
  bool causal = onnx_int(call, "is_causal", 0) != 0;
  int64_t window = onnx_int(call, "window", 0);
  const char *lacks = attention_lacks(call);
  if (!lacks && causal && q.sequence != k.sequence && !onnx_given(call, ATTENTION_PAST))
    lacks = "is_causal with other numbers of keys than of queries";
  if (!lacks && attention_is_made(call))
    return onnx_made_attention(call, &q, &k, &v);
  if (lacks)
    onnx_arg_text(call, "lacks", lacks);
  onnx_arg_int(call, "batch", (int64_t)q.batch);
  onnx_arg_int(call, "heads", (int64_t)q.count);
  onnx_arg_int(call, "kv_heads", (int64_t)k.count);
  onnx_arg_int(call, "seq_q", (int64_t)q.sequence);
  onnx_arg_int(call, "seq_k", (int64_t)k.sequence);
  onnx_arg_int(call, "head_dim", (int64_t)q.depth);
  onnx_arg_int(call, "v_dim", (int64_t)v.depth);
  onnx_arg_text(call, "layout", x->rank == 3 ? "BSH" : "BNSD");
  onnx_arg_int(call, "causal", causal || onnx_int(call, "causal_end", 0) != 0);
  if (window > 0)
    onnx_arg_int(call, "window", window);
  double scale = onnx_real(call, "scale", 0); /* 0: of the depth, as in ONNX Runtime */
  onnx_arg_real(call, "scale", scale != 0 ? scale : 1 / sqrt((double)q.depth));
  uint64_t rows[3] = {q.batch, q.sequence, q.count * v.depth};
  uint64_t apart[4] = {q.batch, q.count, q.sequence, v.depth};
  return x->rank == 3 ? onnx_output(call, 0, x->type, rows, 3)
                      : onnx_output(call, 0, x->type, apart, 4);
}

/* ---- sampling ----------------------------------------------------------------------------------
 */

/* The grid has a point for each element of the result. */
enum vinci_status onnx_rule_grid_sample(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *grid = call->inputs[1];
  uint64_t shape[GRAPH_RANK_MAX];
  if (x->rank < 3 || grid->rank != x->rank)
    return onnx_fail(call, "input %s, grid %s", onnx_shape_text(x).text,
                     onnx_shape_text(grid).text);
  shape[0] = x->shape[0];
  shape[1] = x->shape[1];
  for (unsigned d = 2; d < x->rank; d++)
    shape[d] = grid->shape[d - 1];
  onnx_arg_all(call);
  return onnx_output(call, 0, x->type, shape, x->rank);
}

enum vinci_status onnx_rule_roi_align(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0], *rois = call->inputs[1];
  int64_t height = onnx_int(call, "output_height", 1), width = onnx_int(call, "output_width", 1);
  if (x->rank != 4 || rois->rank != 2 || height < 1 || width < 1)
    return onnx_fail(call, "input %s, regions %s, result %lldx%lld", onnx_shape_text(x).text,
                     onnx_shape_text(rois).text, (long long)height, (long long)width);
  uint64_t shape[4] = {rois->shape[0], x->shape[1], (uint64_t)height, (uint64_t)width};
  const char *way = "coordinate_transformation_mode";
  onnx_arg_all(call);
  if (!onnx_attribute(call, way))
    onnx_arg_text(call, way, call->opset < 16 ? "output_half_pixel" : "half_pixel");
  return onnx_output(call, 0, x->type, shape, 4);
}

/* How many boxes are kept is what the file notes, or --dim says; else as many as can be, which the
 * argument `assumed` tells. */
enum vinci_status onnx_rule_nms(struct onnx_call *call) {
  enum { MOST = 2, TRIPLE = 3 };
  const struct onnx_value *boxes = call->inputs[0], *scores = call->inputs[1], *noted = NULL;
  struct onnx_value *y = call->outputs[0];
  struct onnx_ints most = {.count = 1, .list = {0}};
  if (boxes->rank != 3 || scores->rank != 3)
    return onnx_fail(call, "boxes %s, scores %s", onnx_shape_text(boxes).text,
                     onnx_shape_text(scores).text);
  onnx_arg_all(call);
  if (call->scope->declared && y->name)
    noted = onnx_look_up(call->scope->declared, y->name);
  y->type = ONNX_INT64;
  if ((noted && noted->shaped) || (onnx_given(call, MOST) && !onnx_known(call, MOST)))
    return VINCI_OK;
  enum vinci_status status = onnx_given(call, MOST) ? onnx_ints_input(call, MOST, &most) : VINCI_OK;
  if (status != VINCI_OK)
    return status;
  if (most.count != 1 || most.list[0] < 1)
    return onnx_fail(call, "max_output_boxes_per_class keeps no boxes");
  uint64_t each = min_u64((uint64_t)most.list[0], scores->shape[2]);
  const uint64_t shape[] = {scores->shape[0] * scores->shape[1] * each, TRIPLE};
  onnx_arg_int(call, "assumed", (int64_t)shape[0]);
  return onnx_output(call, 0, ONNX_INT64, shape, 2);
}

enum vinci_status onnx_rule_mean_variance(struct onnx_call *call) {
  static const int64_t usual[] = {0, 2, 3};
  struct onnx_ints axes;
  enum vinci_status status = onnx_ints(call, "axes", &axes);
  if (status != VINCI_OK)
    return status;
  onnx_arg_ints(call, "axes", axes.given ? axes.list : usual, axes.given ? axes.count : 3);
  return onnx_output_like(call, 0, call->inputs[0]);
}

enum vinci_status onnx_rule_det(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  if (x->rank < 2)
    return onnx_fail(call, "matrices are needed, not %s", onnx_shape_text(x).text);
  return onnx_output(call, 0, x->type, x->shape, x->rank - 2);
}

/* ---- Einsum ---------------------------------------------------------------------------------- */

enum { LETTERS = 128 };

/* The extents of an operand's letters. */
static enum vinci_status take_letters(struct onnx_call *call, uint32_t input, const char *letters,
                                      size_t count, uint64_t *extents) {
  const struct onnx_value *x = onnx_given(call, input) ? call->inputs[input] : NULL;
  if (!x || !x->shaped || x->rank != count)
    return onnx_fail(call, "operand %u has not the %zu dimensions of \"%.*s\"", input, count,
                     (int)count, letters);
  for (size_t i = 0; i < count; i++) {
    uint64_t *extent = &extents[(unsigned char)letters[i] % LETTERS];
    if (*extent > 1 && x->shape[i] > 1 && *extent != x->shape[i])
      return onnx_fail(call, "letter %c stands for %llu and %llu", letters[i],
                       (unsigned long long)*extent, (unsigned long long)x->shape[i]);
    *extent = x->shape[i] > *extent ? x->shape[i] : *extent;
  }
  return VINCI_OK;
}

enum { EQUATION_MAX = 64 };
#define EINSUM_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Without "->": the letters that occur once, in their order. */
static void implicit_letters(const char *operands, char *out) {
  for (int letter = 'A'; letter <= 'z'; letter++) {
    const char *first = strchr(operands, letter);
    if (first && !strchr(first + 1, letter))
      *out++ = (char)letter;
  }
  *out = '\0';
}

/* The operands and the result of an equation, without blanks. */
static enum vinci_status take_equation(struct onnx_call *call, char *operands, char *result) {
  const char *text = onnx_text(call, "equation", "");
  size_t used = 0;
  for (const char *at = text; *at && used + 1 < EQUATION_MAX; at++)
    if (*at != ' ')
      operands[used++] = *at;
  operands[used] = '\0';
  char *arrow = strstr(operands, "->");
  if (arrow) {
    *arrow = '\0';
    snprintf(result, EQUATION_MAX, "%s", arrow + 2);
  } else {
    implicit_letters(operands, result);
  }
  if (used == 0 || used + 1 == EQUATION_MAX || operands[strspn(operands, EINSUM_LETTERS ",")] ||
      result[strspn(result, EINSUM_LETTERS)])
    return onnx_fail(call, "equation \"%.40s\"; this reader takes letters without \"...\"", text);
  for (const char *at = result; *at; at++)
    if (strchr(at + 1, *at))
      return onnx_fail(call, "letter %c stands twice in the result", *at);
  return VINCI_OK;
}

enum vinci_status onnx_rule_einsum(struct onnx_call *call) {
  char operands[EQUATION_MAX], result[EQUATION_MAX], whole[2 * EQUATION_MAX + 2];
  uint64_t extents[LETTERS] = {0}, shape[GRAPH_RANK_MAX];
  enum vinci_status status = take_equation(call, operands, result);
  if (status != VINCI_OK)
    return status;
  snprintf(whole, sizeof whole, "%s->%s", operands, result);
  onnx_arg_text(call, "equation", whole);
  const char *at = operands;
  size_t count = strlen(result), commas = 0;
  for (const char *comma = operands; *comma; comma++)
    commas += *comma == ',';
  if (commas + 1 != call->input_count)
    return onnx_fail(call, "%u inputs for the %zu operands of \"%s\"", call->input_count,
                     commas + 1, operands);
  for (uint32_t i = 0; i < call->input_count && status == VINCI_OK; i++) {
    size_t letters = strcspn(at, ",");
    status = take_letters(call, i, at, letters, extents);
    at += letters + (at[letters] == ',');
  }
  for (size_t i = 0; i < count && i < GRAPH_RANK_MAX && status == VINCI_OK; i++) {
    shape[i] = extents[(unsigned char)result[i] % LETTERS];
    if (shape[i] == 0)
      status = onnx_fail(call, "letter %c of the result stands in no operand", result[i]);
  }
  if (status != VINCI_OK)
    return status;
  return onnx_output(call, 0, call->inputs[0]->type, shape, (unsigned)count);
}
