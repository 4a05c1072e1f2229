/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax(scale * Q K^T) V as one kernel (flash attention), where a core, or a pair of cube and
 * vector cores, can run that and the estimate is below that of its parts. Heads are found as
 * exporters write them: Q, K, V of [B, N, S, D], often transposed from [B, S, N, D], which the
 * kernel can read too, so that the transpositions go.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "networks/passes/attention.h"

enum { MASKS_MAX = 8 };

/* Masks that were made: all layers of a network have the same. */
struct masks {
  uint32_t hidden[MASKS_MAX], bytes[MASKS_MAX];
  unsigned count;
};

/* A tensor times or over a known number: the tensor, the number multiplied into *scale. */
static struct graph_node *scaled(const struct rewrite *rewrite, const struct graph_node *reader,
                                 uint32_t *tensor, double *scale) {
  uint32_t input;
  double number;
  struct graph_node *node = rewrite_inner(rewrite, reader, *tensor, NULL);
  if (!node || !rewrite_with_number(rewrite, node, &input, &number))
    return NULL;
  bool mul = strcmp(node->op, "Mul") == 0;
  if (!mul && (strcmp(node->op, "Div") != 0 || node->inputs[0] != input || number == 0))
    return NULL;
  *scale *= mul ? number : 1 / number;
  *tensor = input;
  return node;
}

/* The order of four dimensions; three are such with an extent of 1 before them. */
static bool take_order(const struct graph_node *node, unsigned order[4]) {
  int64_t perm[4];
  unsigned rank = node ? graph_arg_ints(node, "perm", perm, 4) : 0;
  if (rank != 3 && rank != 4)
    return false;
  order[0] = 0;
  for (unsigned i = 0; i < rank; i++)
    order[4 - rank + i] = (unsigned)perm[i] + 4 - rank;
  return true;
}

static bool four(const struct graph_tensor *tensor, uint64_t shape[4]) {
  if (tensor->rank != 3 && tensor->rank != 4)
    return false;
  shape[0] = 1;
  memcpy(shape + 4 - tensor->rank, tensor->shape, tensor->rank * sizeof *shape);
  return true;
}

static bool is_order(const unsigned order[4], unsigned a, unsigned b, unsigned c, unsigned d) {
  return order[0] == a && order[1] == b && order[2] == c && order[3] == d;
}

/* (1 - mask) * -10000 with a number for each key: the tensor 1 - mask. */
static uint32_t hidden_keys(const struct rewrite *rewrite, uint32_t summand) {
  uint32_t input;
  double number;
  const struct graph_tensor *own = rewrite_tensor(rewrite, summand);
  const struct graph_node *mul = rewrite_writer(rewrite, summand, "Mul");
  if (!mul || !rewrite_with_number(rewrite, mul, &input, &number) ||
      number > ATTENTION_HIDDEN_BELOW || own->rank == 0 ||
      graph_elements(own) != own->shape[own->rank - 1])
    return GRAPH_NONE;
  const struct graph_node *sub = rewrite_writer(rewrite, input, "Sub");
  return sub && rewrite_number(rewrite, sub->inputs[0], &number) && number == 1 ? input
                                                                                : GRAPH_NONE;
}

/* Types that hold 0 and what hides keys: others turn a large negative number into another. */
static bool keeps_hidden(const struct rewrite *rewrite, uint32_t tensor) {
  enum dtype type = rewrite_tensor(rewrite, tensor)->dtype;
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32;
}

/* The tensor whose elements are all of a summand, in their order: without reshapes and casts. */
static uint32_t same_elements(const struct rewrite *rewrite, uint32_t tensor) {
  static const char *const views[] = {"Reshape", "Identity", "Cast", "Expand"};
  uint64_t elements = graph_elements(rewrite_tensor(rewrite, tensor));
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
    const struct graph_node *view = rewrite_writer(rewrite, tensor, views[i]);
    if (view && keeps_hidden(rewrite, view->inputs[0]) &&
        graph_elements(rewrite_tensor(rewrite, view->inputs[0])) == elements)
      return same_elements(rewrite, view->inputs[0]);
  }
  return tensor;
}

static bool hides(double number) { return number <= ATTENTION_HIDDEN_BELOW; }

/* One number in all elements, which hides keys. */
static bool all_hide(const struct rewrite *rewrite, uint32_t tensor) {
  double number;
  const struct graph_node *filled = rewrite_writer(rewrite, tensor, "Expand");
  const struct graph_tensor *values = rewrite_tensor(rewrite, filled ? filled->inputs[0] : tensor);
  uint64_t count = graph_elements(values);
  for (uint64_t i = 0; i < count; i++)
    if (!graph_number(values, i, &number) || !hides(number))
      return false;
  return count > 0;
}

/*
 * Whether a matrix for queries and keys, or one of all heads, is 0 up to the key of each query and
 * hides those behind: a constant, or the upper triangle of what hides. The last query sees all
 * keys.
 */
static bool hides_later_keys(const struct rewrite *rewrite, uint32_t summand) {
  uint32_t matrix = same_elements(rewrite, summand);
  const struct graph_tensor *own = rewrite_tensor(rewrite, summand),
                            *constant = rewrite_tensor(rewrite, matrix);
  uint64_t keys = own->rank < 2 ? 0 : own->shape[own->rank - 1], elements = graph_elements(own);
  uint64_t queries = own->rank < 2 ? 0 : own->shape[own->rank - 2];
  double number;
  if (queries < 2 || keys < queries || elements / keys != queries)
    return false;
  const struct graph_node *triangle = rewrite_writer(rewrite, matrix, "Trilu");
  if (triangle)
    return graph_arg_int(triangle, "upper", 1) == 1 &&
           graph_arg_int(triangle, "k", 0) == (int64_t)(keys - queries + 1) &&
           constant->shape[constant->rank - 1] == keys &&
           constant->shape[constant->rank - 2] == queries &&
           all_hide(rewrite, same_elements(rewrite, triangle->inputs[0]));
  for (uint64_t i = 0; i < elements; i++)
    if (!graph_number(constant, i, &number) ||
        (i % keys > i / keys + keys - queries ? !hides(number) : number != 0))
      return false;
  return true;
}

/* The sum before the softmax: of the scores with 0, or with what hides keys. */
static bool take_mask(const struct rewrite *rewrite, struct attention *out, uint32_t *scores) {
  uint32_t rest;
  double number;
  out->hidden = out->causal = GRAPH_NONE;
  out->masking = rewrite_inner(rewrite, out->softmax, *scores, "Add");
  if (!out->masking)
    return true;
  if (rewrite_with_number(rewrite, out->masking, &rest, &number)) {
    *scores = rest;
    return number == 0;
  }
  for (uint32_t i = 0; i < 2 && out->hidden == GRAPH_NONE && out->causal == GRAPH_NONE; i++) {
    uint32_t summand = out->masking->inputs[i];
    out->hidden = hidden_keys(rewrite, summand);
    if (out->hidden == GRAPH_NONE && hides_later_keys(rewrite, summand))
      out->causal = summand;
    *scores = out->masking->inputs[1 - i];
  }
  return out->hidden != GRAPH_NONE || out->causal != GRAPH_NONE;
}

/* The node is the product with V. */
static bool find(const struct rewrite *rewrite, struct graph_node *node, struct attention *out) {
  *out = (struct attention){.product = node, .scale = 1};
  if (strcmp(node->op, "MatMul") != 0 || node->input_count != 2)
    return false;
  unsigned rank = rewrite_tensor(rewrite, node->outputs[0])->rank;
  out->softmax = rewrite_inner(rewrite, node, node->inputs[0], "Softmax");
  int64_t axis = out->softmax ? graph_arg_int(out->softmax, "axis", -1) : 0;
  if (!out->softmax || (axis != -1 && axis != (int64_t)rank - 1))
    return false;
  uint32_t scores = out->softmax->inputs[0];
  if (!take_mask(rewrite, out, &scores))
    return false;
  const struct graph_node *after = out->masking ? out->masking : out->softmax;
  out->factor = scaled(rewrite, after, &scores, &out->scale);
  out->scores_scale = out->scale;
  out->scores = rewrite_inner(rewrite, out->factor ? out->factor : after, scores, "MatMul");
  if (!out->scores || out->scores->input_count != 2)
    return false;
  out->q = out->scores->inputs[0];
  out->v = node->inputs[1];
  out->o = node->outputs[0];
  uint32_t turned = out->scores->inputs[1];
  out->queries_factor = scaled(rewrite, out->scores, &out->q, &out->scale);
  out->keys_factor = scaled(rewrite, out->scores, &turned, &out->scale);
  const struct graph_node *reader = out->keys_factor ? out->keys_factor : out->scores;
  out->keys = rewrite_inner(rewrite, reader, turned, "Transpose");
  if (!take_order(out->keys, out->order) ||
      !(is_order(out->order, 0, 1, 3, 2) || is_order(out->order, 0, 2, 3, 1)))
    return false;
  out->k = out->keys->inputs[0];
  return true;
}

bool attention_keys_by_rows(const struct attention *a) { return is_order(a->order, 0, 2, 3, 1); }

/* The extents agree; heads of K and V are as many as those of Q. */
static bool take_extents(const struct rewrite *rewrite, struct attention *a) {
  enum dtype dtype = rewrite_tensor(rewrite, a->q)->dtype;
  uint64_t q[4], k[4], v[4];
  if (!four(rewrite_tensor(rewrite, a->q), q) || !four(rewrite_tensor(rewrite, a->k), k) ||
      !four(rewrite_tensor(rewrite, a->v), v) || dtype != rewrite_tensor(rewrite, a->k)->dtype ||
      dtype != rewrite_tensor(rewrite, a->v)->dtype || (dtype != DTYPE_FP16 && dtype != DTYPE_BF16))
    return false;
  bool turned = attention_keys_by_rows(a);
  a->batch = q[0];
  a->heads = q[1];
  a->queries = q[2];
  a->depth = q[3];
  a->count = k[turned ? 1 : 2];
  if (a->hidden != GRAPH_NONE && a->batch != 1)
    return false; /* the kernel has one mask for all sequences */
  const struct graph_tensor *causal =
      a->causal == GRAPH_NONE ? NULL : rewrite_tensor(rewrite, a->causal);
  if (causal && (causal->shape[causal->rank - 2] != a->queries ||
                 causal->shape[causal->rank - 1] != a->count))
    return false;
  return k[0] == a->batch && k[turned ? 2 : 1] == a->heads && k[3] == a->depth &&
         v[0] == a->batch && v[1] == a->heads && v[2] == a->count && v[3] == a->depth;
}

static struct graph_node *swapped(const struct rewrite *rewrite, const struct graph_node *reader,
                                  uint32_t tensor) {
  unsigned order[4];
  struct graph_node *node = reader ? rewrite_inner(rewrite, reader, tensor, "Transpose") : NULL;
  return node && take_order(node, order) && is_order(order, 0, 2, 1, 3) ? node : NULL;
}

/* ---- estimates ----------------------------------------------------------------------------- */

static void write_args(const struct attention *a, enum dtype dtype, bool by_rows, char *text,
                       size_t size) {
  snprintf(text, size,
           "batch=%llu heads=%llu seq_q=%llu seq_k=%llu head_dim=%llu scale=%.9g layout=%s "
           "dtype=%s mask=%d causal=%d",
           (unsigned long long)a->batch, (unsigned long long)a->heads,
           (unsigned long long)a->queries, (unsigned long long)a->count,
           (unsigned long long)a->depth, a->scale, by_rows ? "BSND" : "BNSD", dtype_name(dtype),
           a->hidden != GRAPH_NONE, a->causal != GRAPH_NONE);
}

static bool pays(struct pass_context *pass, const struct attention *a, const char *args) {
  enum dtype dtype = rewrite_tensor(&pass->rewrite, a->q)->dtype;
  unsigned long long batch = a->batch * a->heads, rows = a->queries, keys = a->count;
  bool possible, fused_possible;
  char text[256];
  uint64_t fused = pass_kernel_ps(pass, "flash_attention", args, &fused_possible), apart = 0;
  snprintf(text, sizeof text, "m=%llu k=%llu n=%llu batch=%llu dtype=%s", rows,
           (unsigned long long)a->depth, keys, batch, dtype_name(dtype));
  apart += pass_kernel_ps(pass, "batch_matmul", text, &possible);
  snprintf(text, sizeof text, "m=%llu k=%llu n=%llu batch=%llu dtype=%s", rows, keys,
           (unsigned long long)a->depth, batch, dtype_name(dtype));
  apart += pass_kernel_ps(pass, "batch_matmul", text, &possible);
  snprintf(text, sizeof text, "shape=%llux%llu dtype=%s", batch * rows, keys, dtype_name(dtype));
  apart += pass_kernel_ps(pass, "softmax", text, &possible);
  return pass_pays(pass, a->product, "flash attention", apart, fused, fused_possible);
}

/* ---- the change ---------------------------------------------------------------------------- */

static void take_parts(struct rewrite *rewrite, const struct attention *a) {
  struct graph_node *const parts[] = {a->scores,      a->factor, a->softmax, a->queries_factor,
                                      a->keys_factor, a->keys,   a->masking};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i])
      rewrite_take_away(rewrite, parts[i]);
}

/* A byte for each query and key: 1 where the key is hidden. */
static uint32_t mask_bytes(struct rewrite *rewrite, struct masks *masks,
                           const struct attention *a) {
  for (unsigned i = 0; i < masks->count; i++)
    if (masks->hidden[i] == a->hidden &&
        rewrite_tensor(rewrite, masks->bytes[i])->shape[0] == a->queries)
      return masks->bytes[i];
  uint64_t row[2] = {1, a->count}, all[2] = {a->queries, a->count};
  uint32_t flat = rewrite_insert(rewrite, a->product, "Reshape", &a->hidden, 1, "",
                                 rewrite_tensor(rewrite, a->hidden)->dtype, row, 2);
  uint32_t bytes = rewrite_insert(rewrite, a->product, "Cast", &flat, 1, "", DTYPE_UINT8, row, 2);
  uint32_t out = rewrite_insert(rewrite, a->product, "Expand", &bytes, 1, "", DTYPE_UINT8, all, 2);
  if (masks->count < MASKS_MAX) {
    masks->hidden[masks->count] = a->hidden;
    masks->bytes[masks->count++] = out;
  }
  return out;
}

/* Q, K, V as they were before their transpositions, and the result before its; false: they have
 * none. *refused: the parts cost less. */
static bool fuse_rows(struct pass_context *pass, struct masks *masks, struct attention *a,
                      bool *refused) {
  struct rewrite *rewrite = &pass->rewrite;
  const struct graph_node *q_reader = a->queries_factor ? a->queries_factor : a->scores;
  struct graph_node *q = swapped(rewrite, q_reader, a->q);
  struct graph_node *v = swapped(rewrite, a->product, a->v);
  struct graph_node *after = rewrite_reader(rewrite, a->o, "Transpose");
  unsigned order[4];
  char args[256];
  if (!q || !v || !is_order(a->order, 0, 2, 3, 1) || !take_order(after, order) ||
      !is_order(order, 0, 2, 1, 3))
    return false;
  write_args(a, rewrite_tensor(rewrite, a->q)->dtype, true, args, sizeof args);
  *refused = !pays(pass, a, args);
  if (*refused)
    return true; /* the other form costs more */
  uint32_t inputs[4] = {q->inputs[0], a->k, v->inputs[0], GRAPH_NONE};
  bool masked = a->hidden != GRAPH_NONE;
  if (masked)
    inputs[3] = mask_bytes(rewrite, masks, a);
  take_parts(rewrite, a);
  rewrite_take_away(rewrite, q);
  rewrite_take_away(rewrite, v);
  rewrite_take_away(rewrite, a->product);
  after->name = a->product->name;
  rewrite_become(rewrite, after, "Attention", inputs, masked ? 4 : 3, args);
  rewrite_done(rewrite, after, NULL);
  return true;
}

/* Whether the parts are one kernel now. */
static bool fuse_heads(struct pass_context *pass, struct masks *masks, struct attention *a) {
  struct rewrite *rewrite = &pass->rewrite;
  char args[256];
  struct graph_tensor k = *rewrite_tensor(rewrite, a->k);
  write_args(a, k.dtype, false, args, sizeof args);
  if (!pays(pass, a, args))
    return false;
  uint32_t keys = a->k;
  if (is_order(a->order, 0, 2, 3, 1)) {
    uint64_t shape[4] = {a->batch, a->heads, a->count, a->depth};
    bool wide = k.rank == 4;
    keys = rewrite_insert(rewrite, a->product, "Transpose", &keys, 1,
                          wide ? "perm=0x2x1x3" : "perm=1x0x2", k.dtype, wide ? shape : shape + 1,
                          k.rank);
  }
  uint32_t inputs[4] = {a->q, keys, a->v, GRAPH_NONE};
  bool masked = a->hidden != GRAPH_NONE;
  if (masked)
    inputs[3] = mask_bytes(rewrite, masks, a);
  take_parts(rewrite, a);
  rewrite_become(rewrite, a->product, "Attention", inputs, masked ? 4 : 3, args);
  rewrite_done(rewrite, a->product, NULL);
  return true;
}

void pass_attention(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  struct attention attention;
  struct masks masks = {.count = 0};
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    if (rewrite->gone[i] || node->kind != GRAPH_LAYER || node->input_count == 0)
      continue;
    bool refused = false;
    if (!find(rewrite, node, &attention) || !take_extents(rewrite, &attention))
      continue;
    if (!fuse_rows(pass, &masks, &attention, &refused))
      refused = !fuse_heads(pass, &masks, &attention);
    if (refused)
      attention_keep_scores(pass, &attention);
  }
}
