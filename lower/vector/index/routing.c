/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing of tokens to experts: which experts a token takes, and its rows in the order of experts.
 * Sums of what the experts give are in combine.c. Both operators are several kernels, where the
 * vendor's library has a single kernel.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/arith.h"
#include "lower/plan/composite.h"

#define FLOATS "fp16|bf16|fp32"

/* ---- gating ---------------------------------------------------------------------------------- */

static const struct lower_key gating_keys[] = {
    SHAPE_KEY("extents of x; the experts last"), DTYPE_KEY("fp16", FLOATS, "type of x and y"),
    LOWER_KEY("k", SIZE, NULL, NULL, "experts of a token")};

/* "8x128" of a shape. */
static const char *shape_text(const struct lower_job *job, const char *key, char *text,
                              size_t size) {
  const struct lower_value *shape = lower_get(job, key);
  size_t length = 0;
  for (unsigned i = 0; i < shape->rank && length < size; i++)
    length +=
        (size_t)snprintf(text + length, size - length, "%s%" PRIu64, i ? "x" : "", shape->shape[i]);
  return text;
}

static enum vinci_status gating_setup(struct lower_job *job) {
  static const struct emit_name softmax[] = {{"y", "probabilities", true}, {0}};
  static const struct emit_name topk[] = {
      {"x", "probabilities", true}, {"y1", "expert", false}, {0}};
  const char *dtype = dtype_name(lower_get(job, "dtype")->dtype);
  char text[200];
  (void)shape_text(job, "shape", text, sizeof text);
  enum vinci_status status =
      composite_add(job, "softmax", softmax, "shape=%s dtype=%s", text, dtype);
  if (status == VINCI_OK)
    status = composite_add(job, "topk", topk, "shape=%s dtype=%s k=%" PRIu64, text, dtype,
                           lower_get(job, "k")->size);
  return status;
}

/* x, and what is left out; y has the experts of a token last (ops-transformer,
 * moe_gating_top_k_softmax). */
static bool call_gating(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || y->rank != x->rank)
    return lower_cannot(call, "no shapes");
  lower_arg_tensor(call, x);
  lower_arg(call, "k=%" PRIu64, y->shape[y->rank - 1]);
  return true;
}

static const struct lower_template gating_template = COMPOSITE_TEMPLATE(gating_setup);
LOWER_OPERATOR(moe_gating_top_k_softmax, "MoeGatingTopKSoftmax|MoeGatingTopKSoftmaxV2",
               "y = the k largest of softmax(x), sorted; expert = where they were", gating_keys,
               &gating_template, NULL, call_gating)

/* ---- rows in the order of experts ------------------------------------------------------------ */

static const struct lower_key routing_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of x"),
    LOWER_KEY("hidden", SIZE, NULL, NULL, "columns of x and y"),
    LOWER_KEY("k", SIZE, "1", NULL, "experts of a token"),
    LOWER_KEY("first", SIZE, "0", "0", "row of x that is the first of y"),
    LOWER_KEY("step", SIZE, "7919", "0", "from one row of y to the next, modulo the tokens"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int8", "type of x and y")};

/* Numbers of experts are sorted as fp32, which holds them exactly, with where they were; the
 * experts of a token lie one after the other, so that place / k is the token. */
static enum vinci_status routing_setup(struct lower_job *job) {
  static const struct emit_name to_floats[] = {
      {"x", "expert", false}, {"y", "expert_fp32", true}, {0}};
  static const struct emit_name sort[] = {
      {"x", "expert_fp32", true}, {"y", "sorted_fp32", true}, {"y1", "order", true}, {0}};
  static const struct emit_name to_integers[] = {
      {"x", "sorted_fp32", true}, {"y", "sorted", false}, {0}};
  static const struct emit_name gather[] = {{"x1", "order", true}, {0}};
  uint64_t tokens = lower_get(job, "tokens")->size, k = lower_get(job, "k")->size;
  uint64_t count = tokens * k;
  if (count > LOWER_SIZE_MAX)
    return lower_error(job, "the tokens and their experts are too many");
  enum vinci_status status =
      composite_add(job, "cast", to_floats, "shape=%" PRIu64 " dtype=int32 to=fp32", count);
  if (status == VINCI_OK)
    status = composite_add(job, "sort", sort, "shape=%" PRIu64, count);
  if (status == VINCI_OK)
    status =
        composite_add(job, "cast", to_integers, "shape=%" PRIu64 " to=int32 dtype=fp32", count);
  if (status == VINCI_OK)
    status =
        composite_add(job, "gather", gather,
                      "shape=%" PRIu64 "x%" PRIu64 " count=%" PRIu64 " first=%" PRIu64
                      " step=%" PRIu64 " per=%" PRIu64 " dtype=%s",
                      tokens, lower_get(job, "hidden")->size, count, lower_get(job, "first")->size,
                      lower_get(job, "step")->size, k, dtype_name(lower_get(job, "dtype")->dtype));
  return status;
}

/* x [tokens, hidden]; the first result has a row for each of a token's experts. */
static bool call_routing(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank != 2 || y->rank < 2 ||
      y->shape[y->rank - 1] != x->shape[1] || x->shape[0] == 0)
    return lower_cannot(call, "x and the rows in the order of experts are needed");
  lower_arg(call, "tokens=%" PRIu64, x->shape[0]);
  lower_arg(call, "hidden=%" PRIu64, x->shape[1]);
  lower_arg(call, "k=%" PRIu64, max_u64(1, lower_elements(y->shape, y->rank - 1) / x->shape[0]));
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template routing_template = COMPOSITE_TEMPLATE(routing_setup);
LOWER_OPERATOR(
    moe_init_routing, "MoeInitRouting|MoeInitRoutingV2|MoeTokenPermute",
    "sorted = numbers of experts in order; y = rows of x of their tokens, for times taken to "
    "be (first + i * step) % tokens",
    routing_keys, &routing_template, NULL, call_routing)
