/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fused kernels of serving engines as several kernels (composite.h): gating by sigmoids, experts
 * with their gated unit, the cache of latent attention, sampling. Where the vendor's kernel does
 * more, the text of the operator says what is here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/plan/composite.h"

#define FLOATS "fp16|bf16|fp32"

static uint64_t size_of(const struct lower_job *job, const char *key) {
  return lower_get(job, key)->size;
}

static const char *type_of(const struct lower_job *job) {
  return dtype_name(lower_get(job, "dtype")->dtype);
}

/* "8x0x3" of a shape. */
static void shape_text(const struct lower_value *shape, char *text, size_t size) {
  size_t length = 0;
  for (unsigned i = 0; i < shape->rank && length < size; i++)
    length +=
        (size_t)snprintf(text + length, size - length, "%s%" PRIu64, i ? "x" : "", shape->shape[i]);
}

/* ---- gating by sigmoids ---------------------------------------------------------------------- */

static const struct lower_key gating_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of x"),
    LOWER_KEY("experts", SIZE, NULL, NULL, "columns of x"),
    LOWER_KEY("k", SIZE, NULL, NULL, "experts of a token"),
    DTYPE_KEY("fp32", FLOATS, "type of x, bias and y")};

static enum vinci_status gating_setup(struct lower_job *job) {
  static const struct emit_name sigmoid[] = {{"y", "scores", true}, {0}};
  static const struct emit_name add[] = {
      {"x", "scores", true}, {"x1", "bias", false}, {"y", "biased", true}, {0}};
  static const struct emit_name topk[] = {{"x", "biased", true}, {"y1", "expert", false}, {0}};
  uint64_t tokens = size_of(job, "tokens"), experts = size_of(job, "experts");
  char shape[80];
  snprintf(shape, sizeof shape, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s", tokens, experts,
           type_of(job));
  enum vinci_status status = composite_add(job, "sigmoid", sigmoid, "%s", shape);
  if (status == VINCI_OK)
    status = composite_add(job, "add", add, "%s shape1=%" PRIu64, shape, experts);
  if (status == VINCI_OK)
    status = composite_add(job, "topk", topk, "%s k=%" PRIu64, shape, size_of(job, "k"));
  return status;
}

/* x [tokens, experts], bias; y [tokens, k]. */
static bool call_gating(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank != 2 || y->rank != 2)
    return lower_cannot(call, "no shapes");
  lower_arg(call, "tokens=%" PRIu64, x->shape[0]);
  lower_arg(call, "experts=%" PRIu64, x->shape[1]);
  lower_arg(call, "k=%" PRIu64, y->shape[1]);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template gating_template = COMPOSITE_TEMPLATE(gating_setup);
LOWER_OPERATOR(moe_gating_top_k, "MoeGatingTopK",
               "y = the k largest of sigmoid(x) + bias, sorted; expert = where they were; experts "
               "are one group",
               gating_keys, &gating_template, NULL, call_gating)

/* ---- experts with their gated unit ----------------------------------------------------------- */

static const struct lower_key experts_keys[] = {
    LOWER_KEY("rows", SHAPE, NULL, "0", "rows of the groups in turn, as grouped_matmul has them"),
    LOWER_KEY("groups", SIZE, "", NULL, "groups; default: as many as rows says"),
    LOWER_KEY("k", SIZE, NULL, NULL, "columns of A, rows of each B"),
    LOWER_KEY("n", SIZE, NULL, NULL, "columns of each B, twice those of the result"),
    LOWER_KEY("transpose_b", WORD, "0", "0|1", "each B is given as [n,k]")};

static enum vinci_status experts_setup(struct lower_job *job) {
  static const struct emit_name product[] = {
      {"scale", "weight_scale", false}, {"c", "product", true}, {0}};
  static const struct emit_name gate[] = {{"x", "product", true}, {0}};
  const struct lower_value *rows = lower_get(job, "rows"), *groups = lower_get(job, "groups");
  uint64_t count = groups ? groups->size : rows->rank, all = 0;
  char text[200];
  for (uint64_t i = 0; i < rows->rank; i++)
    all += rows->shape[i] * (count / rows->rank + (i < count % rows->rank));
  if (all == 0 || all > LOWER_SIZE_MAX)
    return lower_error(job, "a group with rows is needed, and at most %d rows", LOWER_SIZE_MAX);
  shape_text(rows, text, sizeof text);
  enum vinci_status status = composite_add(job, "grouped_matmul", product,
                                           "rows=%s groups=%" PRIu64 " k=%" PRIu64 " n=%" PRIu64
                                           " dtype=int8 out_dtype=bf16 tokens=1 transpose_b=%u",
                                           text, count, size_of(job, "k"), size_of(job, "n"),
                                           lower_get(job, "transpose_b")->word);
  if (status == VINCI_OK)
    status = composite_add(job, "swiglu_quant", gate, "shape=%" PRIu64 "x%" PRIu64 " dtype=bf16",
                           all, size_of(job, "n"));
  return status;
}

/* x, weights, scales of columns, scales of rows (ops-transformer, grouped_matmul_swiglu_quant). */
static bool call_experts(struct lower_call *call) {
  const struct lower_tensor *a = &call->input[0], *b = &call->input[1];
  if (call->input_count < 2 || a->rank != 2 || b->rank != 3)
    return lower_cannot(call, "one x and one tensor of weights of all groups are needed");
  bool turned = b->shape[1] != a->shape[1];
  if (turned && b->shape[2] != a->shape[1])
    return lower_cannot(call, "the shapes do not fit together");
  if (!call->given || !strstr(call->given, "rows="))
    lower_arg(call, "rows=%" PRIu64, max_u64(1, a->shape[0] / max_u64(1, b->shape[0])));
  lower_arg(call, "groups=%" PRIu64, b->shape[0]);
  lower_arg(call, "k=%" PRIu64, a->shape[1]);
  lower_arg(call, "n=%" PRIu64, b->shape[turned ? 1 : 2]);
  lower_arg(call, "transpose_b=%d", turned);
  return true;
}

static const struct lower_template experts_template = COMPOSITE_TEMPLATE(experts_setup);
LOWER_OPERATOR(grouped_matmul_swiglu_quant, "GroupedMatmulSwigluQuant",
               "grouped_matmul of 8 bits with scales, then swiglu_quant", experts_keys,
               &experts_template, NULL, call_experts)

/* ---- the cache of latent attention ----------------------------------------------------------- */

static const struct lower_key cache_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows that are added to the caches"),
    LOWER_KEY("slots", SIZE, NULL, NULL, "rows of a cache"),
    LOWER_KEY("latent", SIZE, "512", NULL, "columns that are normalised"),
    LOWER_KEY("rope", SIZE, "64", NULL, "columns that are turned"),
    DTYPE_KEY("bf16", "fp16|bf16", "type of all")};

static enum vinci_status cache_setup(struct lower_job *job) {
  static const struct emit_name norm[] = {{"x", "latent", false}, {"y", "normal", true}, {0}};
  static const struct emit_name turn[] = {{"x", "key", false}, {"y", "turned", true}, {0}};
  static const struct emit_name latents[] = {
      {"x", "normal", true}, {"x1", "slot", false}, {"y", "latent_cache", false}, {0}};
  static const struct emit_name turned[] = {
      {"x", "turned", true}, {"x1", "slot", false}, {"y", "key_cache", false}, {0}};
  uint64_t tokens = size_of(job, "tokens"), slots = size_of(job, "slots");
  uint64_t latent = size_of(job, "latent"), rope = size_of(job, "rope");
  const char *type = type_of(job);
  enum vinci_status status =
      composite_add(job, "rms_norm", norm, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s eps=1e-6",
                    tokens, latent, type);
  if (status == VINCI_OK)
    status = composite_add(job, "rope", turn, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s", tokens,
                           rope, type);
  if (status == VINCI_OK)
    status = composite_add(job, "scatter_update", latents,
                           "shape=%" PRIu64 "x%" PRIu64 " count=%" PRIu64 " dtype=%s", slots,
                           latent, tokens, type);
  if (status == VINCI_OK)
    status = composite_add(job, "scatter_update", turned,
                           "shape=%" PRIu64 "x%" PRIu64 " count=%" PRIu64 " dtype=%s", slots, rope,
                           tokens, type);
  return status;
}

/* kv, gamma, cos, sin, index, the cache of keys, that of latents (ops-transformer,
 * kv_rms_norm_rope_cache). */
static bool call_cache(struct lower_call *call) {
  enum { IN_KV, IN_GAMMA, IN_COS, IN_SIN, IN_INDEX, IN_KEYS, IN_LATENTS };
  const struct lower_tensor *kv = &call->input[IN_KV], *latents = &call->input[IN_LATENTS];
  if (call->input_count <= IN_LATENTS || kv->rank == 0 || latents->rank < 2 ||
      call->input[IN_GAMMA].rank != 1)
    return lower_cannot(call, "rows, gamma and two caches are needed");
  uint64_t latent = call->input[IN_GAMMA].shape[0], width = kv->shape[kv->rank - 1];
  if (width <= latent || latents->shape[latents->rank - 1] != latent)
    return lower_cannot(call, "caches in other layouts than rows are not modelled");
  lower_arg(call, "tokens=%" PRIu64, lower_elements(kv->shape, kv->rank - 1));
  lower_arg(call, "slots=%" PRIu64, lower_elements(latents->shape, latents->rank - 1));
  lower_arg(call, "latent=%" PRIu64, latent);
  lower_arg(call, "rope=%" PRIu64, width - latent);
  lower_arg_dtype(call, "dtype", kv);
  return true;
}

static const struct lower_template cache_template = COMPOSITE_TEMPLATE(cache_setup);
LOWER_OPERATOR(kv_rms_norm_rope_cache, "KvRmsNormRopeCache",
               "rms_norm of the latent rows and rope of the others, into rows of two caches, taken "
               "to be one after the other; halves are turned, not pairs",
               cache_keys, &cache_template, NULL, call_cache)

/* ---- sampling -------------------------------------------------------------------------------- */

static const struct lower_key top_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of x"),
    LOWER_KEY("words", SIZE, NULL, NULL, "columns of x"),
    NUMBER_KEY("p", "0.9", "what the kept ones add up to, at least"),
    DTYPE_KEY("fp32", FLOATS, "type of all")};

static enum vinci_status top_setup(struct lower_job *job) {
  static const struct emit_name sort[] = {{"y", "sorted", true}, {"y1", "order", false}, {0}};
  static const struct emit_name softmax[] = {
      {"x", "sorted", true}, {"y", "probabilities", true}, {0}};
  static const struct emit_name cumsum[] = {{"x", "probabilities", true}, {"y", "sums", true}, {0}};
  static const struct emit_name mask[] = {{"x", "probabilities", true}, {"x1", "sums", true}, {0}};
  char shape[80];
  snprintf(shape, sizeof shape, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s", size_of(job, "tokens"),
           size_of(job, "words"), type_of(job));
  enum vinci_status status = composite_add(job, "sort", sort, "%s descending=1", shape);
  if (status == VINCI_OK)
    status = composite_add(job, "softmax", softmax, "%s", shape);
  if (status == VINCI_OK)
    status = composite_add(job, "cumsum", cumsum, "%s", shape);
  if (status == VINCI_OK)
    status =
        composite_add(job, "top_p_mask", mask, "%s p=%.9g", shape, lower_get(job, "p")->number);
  return status;
}

static bool call_top(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count == 0 || x->rank != 2)
    return lower_cannot(call, "rows of words are needed");
  lower_arg(call, "tokens=%" PRIu64, x->shape[0]);
  lower_arg(call, "words=%" PRIu64, x->shape[1]);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template top_template = COMPOSITE_TEMPLATE(top_setup);
LOWER_OPERATOR(top_k_top_p, "ApplyTopKTopPCustom|ApplyTopKTopPWithSorted",
               "y = softmax of x in descending order, 0 behind those that add up to p; order = "
               "where they were",
               top_keys, &top_template, NULL, call_top)

static const struct lower_key sample_keys[] = {LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of x"),
                                               LOWER_KEY("words", SIZE, NULL, NULL, "columns of x"),
                                               DTYPE_KEY("fp32", FLOATS, "type of all")};

static enum vinci_status sample_setup(struct lower_job *job) {
  static const struct emit_name divide[] = {{"x1", "noise", false}, {"y", "quotient", true}, {0}};
  static const struct emit_name argmax[] = {{"x", "quotient", true}, {0}};
  char shape[80];
  snprintf(shape, sizeof shape, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s", size_of(job, "tokens"),
           size_of(job, "words"), type_of(job));
  enum vinci_status status = composite_add(job, "div", divide, "%s", shape);
  return status == VINCI_OK ? composite_add(job, "argmax", argmax, "%s", shape) : status;
}

static const struct lower_template sample_template = COMPOSITE_TEMPLATE(sample_setup);
LOWER_OPERATOR(sample, "",
               "y = argmax(x / noise): a draw from x, where noise is drawn exponentially",
               sample_keys, &sample_template, NULL, NULL)
