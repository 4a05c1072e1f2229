/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fused kernels of engines that serve models with sparse or latent attention, as several kernels
 * (composite.h): the index of sparse attention, attention over the keys that it names, what comes
 * before latent attention, queries and keys with norms, the gated unit with scales of groups. Where
 * the vendor's kernel does more, the text of the operator says what is here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/plan/composite.h"

#define FLOATS "fp16|bf16|fp32"
#define HALVES "fp16|bf16"
#define N PRIu64

static uint64_t size_of(const struct lower_job *job, const char *key) {
  return lower_get(job, key)->size;
}

static const char *type_of(const struct lower_job *job) {
  return dtype_name(lower_get(job, "dtype")->dtype);
}

/* ---- lightning_indexer ----------------------------------------------------------------------- */

static const struct lower_key indexer_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "queries"),
    LOWER_KEY("keys", SIZE, NULL, NULL, "keys, which all queries see"),
    LOWER_KEY("heads", SIZE, "64", NULL, "heads of a query"),
    LOWER_KEY("head_dim", SIZE, "128", NULL, "elements of a head and of a key"),
    LOWER_KEY("k", SIZE, "2048", NULL, "keys that are chosen for a query"),
    DTYPE_KEY("bf16", HALVES, "type of queries, keys, weights, and of scores on their way")};

static enum vinci_status indexer_setup(struct lower_job *job) {
  NAMES(scores, MINE("a", "query"), MINE("b", "key"), BETWEEN("c", "scores"));
  NAMES(totals, MINE("a", "weight"), BETWEEN("b", "scores"), BETWEEN("c", "totals"));
  NAMES(topk, BETWEEN("x", "totals"), MINE("y1", "index"));
  uint64_t tokens = size_of(job, "tokens"), heads = size_of(job, "heads");
  uint64_t keys = size_of(job, "keys"), depth = size_of(job, "head_dim");
  enum vinci_status status = VINCI_OK;
  if (tokens * heads > LOWER_SIZE_MAX)
    return lower_error(job, "the heads of all queries are too many");
  PART(status, job, "batch_matmul", scores,
       "batch=%" N " m=%" N " k=%" N " n=%" N " shared=b transpose_b=1 relu=1 dtype=%s", tokens,
       heads, depth, keys, type_of(job));
  PART(status, job, "batch_matmul", totals,
       "batch=%" N " m=1 k=%" N " n=%" N " dtype=%s out_dtype=fp32", tokens, heads, keys,
       type_of(job));
  PART(status, job, "topk", topk, "shape=%" N "x%" N " k=%" N, tokens, keys, size_of(job, "k"));
  return status;
}

/* query [.., heads, head_dim], key, weights; the result has the chosen keys last
 * (ops-transformer, attention/lightning_indexer). */
static bool call_indexer(struct lower_call *call) {
  const struct lower_tensor *q = &call->input[0], *k = &call->input[1], *y = &call->output[0];
  if (call->input_count < 3 || call->output_count == 0 || q->rank < 3 || k->rank < 2 ||
      y->rank == 0)
    return lower_cannot(call, "queries, keys, weights and a result are needed");
  uint64_t depth = q->shape[q->rank - 1];
  if (depth == 0 || k->shape[k->rank - 1] != depth)
    return lower_cannot(call, "queries and keys differ in the elements of a head");
  const char *given = call->given ? call->given : "";
  if (k->rank == 4 && !strstr(given, "keys="))
    return lower_cannot(call, "how many keys of a cache a query sees is a value, which profiles "
                              "lack; say keys=... in a column args");
  lower_arg(call, "tokens=%" N, lower_elements(q->shape, q->rank - 2));
  lower_arg(call, "heads=%" N, q->shape[q->rank - 2]);
  lower_arg(call, "head_dim=%" N, depth);
  if (!strstr(given, "keys="))
    lower_arg(call, "keys=%" N, lower_elements(k->shape, k->rank - 1));
  lower_arg(call, "k=%" N, y->shape[y->rank - 1]);
  lower_arg_dtype(call, "dtype", q);
  return true;
}

static const struct lower_template indexer_template = COMPOSITE_TEMPLATE(indexer_setup);
LOWER_OPERATOR(lightning_indexer, "LightningIndexer",
               "index = the k keys of each query with the largest sums of weight * relu(query key) "
               "over its heads; y = those sums",
               indexer_keys, &indexer_template, NULL, call_indexer)

/* ---- sparse_flash_attention ------------------------------------------------------------------ */

static const struct lower_key sparse_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "queries"),
    LOWER_KEY("slots", SIZE, NULL, NULL, "rows of the cache"),
    LOWER_KEY("heads", SIZE, "128", NULL, "heads of a query"),
    LOWER_KEY("k", SIZE, "2048", NULL, "keys of a query, a multiple of 128"),
    LOWER_KEY("latent", SIZE, "512", NULL, "columns of a row that are K and V"),
    LOWER_KEY("rope", SIZE, "64", NULL, "columns behind those that are K alone"),
    LOWER_KEY("first", SIZE, "0", "0", "the first index"),
    LOWER_KEY("step", SIZE, "7919", "0", "from one index to the next, modulo the rows"),
    NUMBER_KEY("scale", "0.0721688", "factor of the scores; the default is 1 / sqrt(192)"),
    DTYPE_KEY("bf16", HALVES, "type of all")};

static enum vinci_status sparse_setup(struct lower_job *job) {
  NAMES(gather, MINE("x", "cache"), MINE("x1", "chosen"), BETWEEN("y", "chosen_rows"));
  NAMES(attention, BETWEEN("k", "chosen_rows"));
  /* Rows of a table of blocks are whole blocks of UB; only then blocks of all queries are dense. */
  const uint64_t block_max = 128, entries = BLOCK_BYTES / sizeof(uint32_t);
  uint64_t tokens = size_of(job, "tokens"), k = size_of(job, "k"), block = block_max;
  uint64_t width = size_of(job, "latent") + size_of(job, "rope");
  enum vinci_status status = VINCI_OK;
  if (k % (entries * FRACTAL_ROWS))
    return lower_error(job, "k has to be a multiple of %d", (int)entries * FRACTAL_ROWS);
  if (tokens * k > LOWER_SIZE_MAX)
    return lower_error(job, "the keys of all queries are too many");
  while (k % (entries * block))
    block /= 2;
  PART(status, job, "gather", gather,
       "shape=%" N "x%" N " count=%" N " first=%" N " step=%" N " dtype=%s", size_of(job, "slots"),
       width, tokens * k, size_of(job, "first"), size_of(job, "step"), type_of(job));
  PART(status, job, "paged_attention", attention,
       "batch=%" N " heads=%" N " kv_heads=1 seq_q=1 seq_k=%" N " head_dim=%" N " v_dim=%" N
       " latent=1 layout=BSND block_size=%" N " blocks=%" N
       " first=0 step=1 table=series scale=%.9g dtype=%s",
       tokens, size_of(job, "heads"), k, width, size_of(job, "latent"), block, tokens * k / block,
       lower_get(job, "scale")->number, type_of(job));
  return status;
}

/* query, key, value, indices, table, lengths of queries and keys, the turned parts of query and key
 * (ops-transformer, attention/sparse_flash_attention). */
static bool call_sparse(struct lower_call *call) {
  enum { IN_QUERY, IN_KEY, IN_INDEX = 3, IN_TURNED = 7 };
  const struct lower_tensor *q = &call->input[IN_QUERY], *key = &call->input[IN_KEY];
  const struct lower_tensor *index = &call->input[IN_INDEX], *turned = &call->input[IN_TURNED];
  if (call->input_count <= IN_TURNED || q->rank < 3 || key->rank < 2 || index->rank == 0 ||
      turned->rank == 0)
    return lower_cannot(call, "queries, a cache, indices and turned queries are needed");
  uint64_t latent = q->shape[q->rank - 1];
  if (latent == 0 || lower_elements(key->shape, key->rank) % latent)
    return lower_cannot(call, "queries and the cache differ in their columns");
  lower_arg(call, "tokens=%" N, lower_elements(q->shape, q->rank - 2));
  lower_arg(call, "slots=%" N, lower_elements(key->shape, key->rank) / latent);
  lower_arg(call, "heads=%" N, q->shape[q->rank - 2]);
  lower_arg(call, "k=%" N, index->shape[index->rank - 1]);
  lower_arg(call, "latent=%" N, latent);
  lower_arg(call, "rope=%" N, turned->shape[turned->rank - 1]);
  lower_arg_dtype(call, "dtype", q);
  return true;
}

static const struct lower_template sparse_template = COMPOSITE_TEMPLATE(sparse_setup);
LOWER_OPERATOR(
    sparse_flash_attention, "SparseFlashAttention",
    "latent attention over k rows of a cache for each query: the rows that chosen names, for times "
    "taken to be (first + i * step) % slots, are gathered into a workspace first",
    sparse_keys, &sparse_template, NULL, call_sparse)

/* ---- split_qkv_rms_norm_rope ----------------------------------------------------------------- */

static const struct lower_key split_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of x"),
    LOWER_KEY("heads", SIZE, NULL, NULL, "heads of queries"),
    LOWER_KEY("kv_heads", SIZE, NULL, NULL, "heads of keys, and of values"),
    LOWER_KEY("head_dim", SIZE, "128", NULL, "elements of a head"),
    NUMBER_KEY("eps", "1e-6", "added to the mean square"),
    DTYPE_KEY("bf16", HALVES, "type of all")};

/* Columns of x from `begin` on, of some heads, with a norm for each head, turned. */
static enum vinci_status add_heads(struct lower_job *job, const struct emit_name *const names[3],
                                   uint64_t begin, uint64_t heads) {
  uint64_t tokens = size_of(job, "tokens"), depth = size_of(job, "head_dim");
  uint64_t width = (size_of(job, "heads") + 2 * size_of(job, "kv_heads")) * depth;
  enum vinci_status status = VINCI_OK;
  PART(status, job, "slice", names[0],
       "shape=%" N "x%" N " out=%" N "x%" N " begin=%" N " dtype=%s", tokens, width, tokens,
       heads * depth, begin, type_of(job));
  if (!names[1])
    return status;
  PART(status, job, "rms_norm", names[1], "shape=%" N "x%" N "x%" N " dtype=%s eps=%.9g", tokens,
       heads, depth, type_of(job), lower_get(job, "eps")->number);
  PART(status, job, "rope", names[2], "shape=%" N "x%" N "x%" N " dtype=%s", tokens, heads, depth,
       type_of(job));
  return status;
}

static enum vinci_status split_setup(struct lower_job *job) {
  NAMES(slice_q, BETWEEN("y", "queries"));
  NAMES(norm_q, BETWEEN("x", "queries"), MINE("gamma", "gamma_q"), BETWEEN("y", "normal_q"));
  NAMES(turn_q, BETWEEN("x", "normal_q"), MINE("y", "q"));
  NAMES(slice_k, BETWEEN("y", "keys"));
  NAMES(norm_k, BETWEEN("x", "keys"), MINE("gamma", "gamma_k"), BETWEEN("y", "normal_k"));
  NAMES(turn_k, BETWEEN("x", "normal_k"), MINE("y", "k"));
  NAMES(slice_v, MINE("y", "v"));
  static const struct emit_name *const queries[] = {slice_q, norm_q, turn_q};
  static const struct emit_name *const keys[] = {slice_k, norm_k, turn_k};
  static const struct emit_name *const values[] = {slice_v, NULL, NULL};
  uint64_t depth = size_of(job, "head_dim"), heads = size_of(job, "heads");
  uint64_t kv_heads = size_of(job, "kv_heads");
  if ((heads + 2 * kv_heads) * depth > LOWER_SIZE_MAX)
    return lower_error(job, "a row of all heads is too long");
  enum vinci_status status = add_heads(job, queries, 0, heads);
  if (status == VINCI_OK)
    status = add_heads(job, keys, heads * depth, kv_heads);
  if (status == VINCI_OK)
    status = add_heads(job, values, (heads + kv_heads) * depth, kv_heads);
  return status;
}

/* x; the results are queries, keys and values, a row for each token; a weight of the norms has the
 * elements of a head. */
static bool call_split(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *q = &call->output[0], *k = &call->output[1];
  uint64_t depth = 0;
  if (call->input_count == 0 || call->output_count < 3 || x->rank != 2 || q->rank < 2 ||
      k->rank < 2)
    return lower_cannot(call, "rows of queries, keys and values, and three results are needed");
  for (unsigned i = 1; i < call->input_count; i++)
    if (call->input[i].rank == 1 && depth == 0)
      depth = call->input[i].shape[0];
  uint64_t tokens = max_u64(1, x->shape[0]);
  uint64_t q_width = lower_elements(q->shape, q->rank) / tokens;
  uint64_t k_width = lower_elements(k->shape, k->rank) / tokens;
  if (depth == 0 || q_width % depth || k_width % depth || q_width + 2 * k_width != x->shape[1])
    return lower_cannot(call, "heads cannot be told from the weights of the norms");
  lower_arg(call, "tokens=%" N, x->shape[0]);
  lower_arg(call, "heads=%" N, q_width / depth);
  lower_arg(call, "kv_heads=%" N, k_width / depth);
  lower_arg(call, "head_dim=%" N, depth);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template split_template = COMPOSITE_TEMPLATE(split_setup);
LOWER_OPERATOR(
    split_qkv_rms_norm_rope, "split_qkv_rmsnorm_rope_kernel",
    "q and k = rope of rms_norm of their heads in the rows of x; v = its heads as they are",
    split_keys, &split_template, NULL, call_split)

/* ---- swiglu_group_quant ---------------------------------------------------------------------- */

static const struct lower_key group_keys[] = {
    LOWER_KEY("rows", SIZE, NULL, NULL, "rows of x and y"),
    LOWER_KEY("cols", SIZE, NULL, NULL, "columns of x, twice those of y"),
    LOWER_KEY("group", SIZE, "128", NULL, "columns of y that have a scale in common"),
    DTYPE_KEY("bf16", FLOATS, "type of x")};

static enum vinci_status group_setup(struct lower_job *job) {
  NAMES(gate, BETWEEN("y", "gated"));
  NAMES(quant, BETWEEN("x", "gated"));
  uint64_t rows = size_of(job, "rows"), cols = size_of(job, "cols"), group = size_of(job, "group");
  enum vinci_status status = VINCI_OK;
  if (cols % (2 * group))
    return lower_error(job, "cols has to be a multiple of twice the group");
  if (rows * (cols / 2 / group) > LOWER_SIZE_MAX)
    return lower_error(job, "there are too many groups");
  PART(status, job, "swiglu", gate, "shape=%" N "x%" N " dtype=%s", rows, cols, type_of(job));
  PART(status, job, "dynamic_quant", quant, "shape=%" N "x%" N "x%" N " dtype=%s", rows,
       cols / 2 / group, group, type_of(job));
  return status;
}

static bool call_group(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count == 0 || x->rank == 0)
    return lower_cannot(call, "no shape");
  lower_arg(call, "rows=%" N, lower_elements(x->shape, x->rank - 1));
  lower_arg(call, "cols=%" N, x->shape[x->rank - 1]);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template group_template = COMPOSITE_TEMPLATE(group_setup);
LOWER_OPERATOR(
    swiglu_group_quant, "SwigluGroupQuant",
    "swiglu, then 8-bit integers with a scale of each group of columns; floats of 8 bits "
    "take as many bytes",
    group_keys, &group_template, NULL, call_group)
