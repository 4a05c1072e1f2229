/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores as a tensor, for chips that have no attention kernel, or shapes for which the kernel does
 * not pay. The transposition that exporters write before the product goes into the product. Chips
 * that copy whole blocks of 32 bytes alone store rows of other lengths one by one: there a few keys
 * more are cheaper than rows that begin inside a block.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "networks/passes/attention.h"

enum { TEXT_BYTES = 256 };

#define FP16_LOWEST (-65504.0)

typedef unsigned long long number;

/* ---- estimates ----------------------------------------------------------------------------- */

struct weighing {
  struct pass_context *pass;
  const struct attention *attention;
  uint64_t ps;
  bool possible;
};

static void add_kernel(struct weighing *weighing, const char *op, const char *args) {
  bool possible;
  weighing->ps += pass_kernel_ps(weighing->pass, op, args, &possible);
  weighing->possible &= possible;
}

static const char *type_of(const struct weighing *weighing) {
  return dtype_name(rewrite_tensor(&weighing->pass->rewrite, weighing->attention->q)->dtype);
}

/* perm: of [B, S, N, D], or of [B, N, S, D]. */
static void add_transpose(struct weighing *weighing, const char *perm) {
  const struct attention *a = weighing->attention;
  char text[TEXT_BYTES];
  bool by_rows = attention_keys_by_rows(a);
  snprintf(text, sizeof text, "shape=%llux%llux%llux%llu perm=%s dtype=%s", (number)a->batch,
           (number)(by_rows ? a->count : a->heads), (number)(by_rows ? a->heads : a->count),
           (number)a->depth, perm, type_of(weighing));
  add_kernel(weighing, "transpose", text);
}

static void add_parts(struct weighing *weighing, uint64_t keys, bool turned, bool bias) {
  const struct attention *a = weighing->attention;
  number batch = a->batch * a->heads, rows = a->queries;
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "m=%llu k=%llu n=%llu batch=%llu transpose_b=%d bias=%d dtype=%s",
           rows, (number)a->depth, (number)keys, batch, turned, bias, type_of(weighing));
  add_kernel(weighing, "batch_matmul", text);
  snprintf(text, sizeof text, "shape=%llux%llu dtype=%s", batch * rows, (number)keys,
           type_of(weighing));
  add_kernel(weighing, "softmax", text);
  snprintf(text, sizeof text, "m=%llu k=%llu n=%llu batch=%llu dtype=%s", rows, (number)keys,
           (number)a->depth, batch, type_of(weighing));
  add_kernel(weighing, "batch_matmul", text);
}

static void add_pad(struct weighing *weighing, uint64_t keys) {
  const struct attention *a = weighing->attention;
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "shape=%llux%llux%llu before=0x0x0 after=0x%llux0 dtype=%s",
           (number)(a->batch * a->heads), (number)a->count, (number)a->depth,
           (number)(keys - a->count), type_of(weighing));
  add_kernel(weighing, "pad", text);
}

static struct weighing as_it_is(struct pass_context *pass, const struct attention *a) {
  struct weighing weighing = {pass, a, 0, true};
  add_transpose(&weighing, attention_keys_by_rows(a) ? "1x3x4x2" : "1x2x4x3");
  add_parts(&weighing, a->count, false, false);
  return weighing;
}

static struct weighing with_keys(struct pass_context *pass, const struct attention *a,
                                 uint64_t keys) {
  struct weighing weighing = {pass, a, 0, true};
  bool more = keys > a->count;
  if (attention_keys_by_rows(a))
    add_transpose(&weighing, "1x3x2x4");
  for (unsigned i = 0; i < (more ? 2 : 0); i++)
    add_pad(&weighing, keys);
  add_parts(&weighing, keys, true, more);
  return weighing;
}

/* ---- the change ---------------------------------------------------------------------------- */

/* 0 for each key that there is, and what hides the others. */
static uint32_t hiding_row(struct rewrite *rewrite, const struct attention *a, uint64_t keys) {
  void *data = arena_alloc(&rewrite->graph->arena, keys, sizeof(float));
  uint32_t out = rewrite_new_tensor(rewrite, a->scores->name, DTYPE_FP32, &keys, 1);
  if (!data || out == GRAPH_NONE) {
    rewrite->no_memory = true;
    return GRAPH_NONE;
  }
  for (uint64_t i = 0; i < keys; i++)
    (void)graph_put_number(DTYPE_FP32, data, i, i < a->count ? 0 : FP16_LOWEST);
  rewrite->graph->tensors[out].io = GRAPH_WEIGHT;
  rewrite->graph->tensors[out].data = data;
  rewrite->constant[out] = true;
  return out;
}

/* A layer before `before` on [B, N, S, D], of which S may become another. */
static uint32_t put(struct rewrite *rewrite, const struct graph_node *before, const char *op,
                    uint32_t in, const char *args, const uint64_t *shape) {
  struct graph_tensor own = *rewrite_tensor(rewrite, in);
  return rewrite_insert(rewrite, before, op, &in, 1, args, own.dtype, shape, own.rank);
}

static uint32_t put_pad(struct rewrite *rewrite, const struct graph_node *before, uint32_t in,
                        uint64_t keys) {
  if (in == GRAPH_NONE)
    return in;
  struct graph_tensor own = *rewrite_tensor(rewrite, in);
  char text[TEXT_BYTES];
  bool wide = own.rank == 4;
  number more = keys - own.shape[own.rank - 2];
  own.shape[own.rank - 2] = keys;
  snprintf(text, sizeof text, "pads=%s0x0x0x%s0x%llux0 mode=constant value=0", wide ? "0x" : "",
           wide ? "0x" : "", more);
  return put(rewrite, before, "Pad", in, text, own.shape);
}

/* K as [B, N, S, D], scaled where K^T was. */
static uint32_t put_keys(struct rewrite *rewrite, const struct attention *a, uint64_t keys) {
  struct graph_tensor own = *rewrite_tensor(rewrite, a->k);
  uint64_t shape[4] = {a->batch, a->heads, a->count, a->depth}, *from = shape + 4 - own.rank;
  uint32_t out = a->k;
  if (attention_keys_by_rows(a))
    out = put(rewrite, a->scores, "Transpose", out, own.rank == 4 ? "perm=0x2x1x3" : "perm=1x0x2",
              from);
  if (keys > a->count)
    out = put_pad(rewrite, a->scores, out, keys);
  if (!a->keys_factor || out == GRAPH_NONE)
    return out;
  uint32_t inputs[2] = {a->keys_factor->inputs[0], a->keys_factor->inputs[1]};
  inputs[inputs[0] == a->keys->outputs[0] ? 0 : 1] = out;
  shape[2] = keys;
  return rewrite_insert(rewrite, a->scores, a->keys_factor->op, inputs, 2, "", own.dtype, from,
                        own.rank);
}

static void widen(struct rewrite *rewrite, const struct graph_node *node, uint64_t keys) {
  struct graph_tensor *out = node ? &rewrite->graph->tensors[node->outputs[0]] : NULL;
  if (out)
    out->shape[out->rank - 1] = keys;
}

static void change(struct rewrite *rewrite, const struct attention *a, uint64_t keys) {
  bool more = keys > a->count;
  uint32_t scores[3] = {a->scores->inputs[0], put_keys(rewrite, a, keys),
                        more ? hiding_row(rewrite, a, keys) : GRAPH_NONE};
  uint32_t values = more ? put_pad(rewrite, a->product, a->v, keys) : a->v;
  if (rewrite->no_memory)
    return;
  if (a->keys_factor)
    rewrite_take_away(rewrite, a->keys_factor);
  rewrite_take_away(rewrite, a->keys);
  rewrite_become(rewrite, a->scores, "MatMul", scores, more ? 3 : 2, "trans_b=1");
  widen(rewrite, a->scores, keys);
  widen(rewrite, a->factor, keys);
  widen(rewrite, a->masking, keys);
  widen(rewrite, a->softmax, keys);
  if (more)
    rewrite_become(rewrite, a->product, "MatMul",
                   (const uint32_t[]){a->softmax->outputs[0], values}, 2, "");
  rewrite_done(rewrite, a->scores,
               more ? "scores by K, with keys up to whole blocks" : "scores by K");
}

void attention_keep_scores(struct pass_context *pass, const struct attention *a) {
  enum dtype dtype = rewrite_tensor(&pass->rewrite, a->q)->dtype;
  uint64_t keys = round_up(a->count, BLOCK_BYTES / (dtype_bits(dtype) / 8));
  struct weighing now = as_it_is(pass, a), plain = with_keys(pass, a, a->count), best = plain;
  bool hides = FP16_LOWEST * a->scores_scale <= ATTENTION_HIDDEN_BELOW;
  /* A mask has as many numbers as there are keys; 0 is added to any. */
  bool masked = a->hidden != GRAPH_NONE || a->causal != GRAPH_NONE;
  if (keys > a->count && dtype == DTYPE_FP16 && !masked && hides) {
    struct weighing wide = with_keys(pass, a, keys);
    if (wide.possible && (!plain.possible || wide.ps < plain.ps))
      best = wide;
    else
      keys = a->count;
  } else {
    keys = a->count;
  }
  if (pass_pays(pass, a->scores, "scores by K", now.possible ? now.ps : UINT64_MAX, best.ps,
                best.possible))
    change(&pass->rewrite, a, keys);
}
