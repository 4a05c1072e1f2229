/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes before multi-head latent attention, as several kernels (composite.h): the vendor has
 * one kernel, MlaPreprocess of serving engines and MlaProlog of the library. Weights and results
 * are halves here, where the vendor's kernels also multiply 8-bit integers with scales. The columns
 * of the first product are latent rows, rows to turn, queries, as vLLM-Ascend joins its weights.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/kernel/emit.h"
#include "lower/plan/composite.h"

#define N PRIu64

static const struct lower_key keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of x"),
    LOWER_KEY("hidden", SIZE, "7168", NULL, "columns of x"),
    LOWER_KEY("heads", SIZE, NULL, NULL, "heads of queries"),
    LOWER_KEY("slots", SIZE, NULL, NULL, "rows of a cache"),
    LOWER_KEY("q_rank", SIZE, "1536", NULL, "columns that queries are made from"),
    LOWER_KEY("latent", SIZE, "512", NULL, "columns of a latent row of the cache"),
    LOWER_KEY("nope", SIZE, "128", NULL, "elements of a head of queries that are not turned"),
    LOWER_KEY("rope", SIZE, "64", NULL,
              "elements of a head of queries, and of keys, that are turned"),
    LOWER_KEY("form", WORD, "half", "half|interleaved|sorted", "what turns together, as of rope"),
    LOWER_KEY("norm", WORD, "1", "0|1", "x is normalised first"),
    LOWER_KEY("step", SIZE, "1", "0", "from one row of the caches to the next, modulo the rows"),
    NUMBER_KEY("eps", "1e-6", "added to the mean square"),
    DTYPE_KEY("bf16", "fp16|bf16", "type of all")};

/* The keys of a job. */
struct latent {
  struct lower_job *job;
  uint64_t tokens, hidden, heads, slots, q_rank, latent, nope, rope;
  const char *type, *form;
  double eps;
};

static uint64_t size_of(const struct lower_job *job, const char *key) {
  return lower_get(job, key)->size;
}

static struct latent latent_of(struct lower_job *job) {
  static const char *const forms[] = {"half", "interleaved", "sorted"};
  return (struct latent){.job = job,
                         .tokens = size_of(job, "tokens"),
                         .hidden = size_of(job, "hidden"),
                         .heads = size_of(job, "heads"),
                         .slots = size_of(job, "slots"),
                         .q_rank = size_of(job, "q_rank"),
                         .latent = size_of(job, "latent"),
                         .nope = size_of(job, "nope"),
                         .rope = size_of(job, "rope"),
                         .type = dtype_name(lower_get(job, "dtype")->dtype),
                         .form = forms[lower_get(job, "form")->word],
                         .eps = lower_get(job, "eps")->number};
}

/* Rows of x, all columns of the first product: "down". */
static enum vinci_status add_down(const struct latent *l) {
  NAMES(norm, MINE("gamma", "gamma_x"), BETWEEN("y", "normal_x"));
  NAMES(normal, BETWEEN("a", "normal_x"), MINE("b", "weight_down"), BETWEEN("c", "down"));
  NAMES(plain, MINE("a", "x"), MINE("b", "weight_down"), BETWEEN("c", "down"));
  enum vinci_status status = VINCI_OK;
  bool norms = lower_get(l->job, "norm")->word;
  if (norms)
    PART(status, l->job, "rms_norm", norm, "shape=%" N "x%" N " dtype=%s eps=%.9g", l->tokens,
         l->hidden, l->type, l->eps);
  PART(status, l->job, "matmul", norms ? normal : plain,
       "m=%" N " k=%" N " n=%" N " transpose_b=1 dtype=%s", l->tokens, l->hidden,
       l->latent + l->rope + l->q_rank, l->type);
  return status;
}

/* Columns of "down". */
static enum vinci_status add_columns(const struct latent *l, const struct emit_name *names,
                                     uint64_t begin, uint64_t count) {
  return composite_add(l->job, "slice", names,
                       "shape=%" N "x%" N " out=%" N "x%" N " begin=%" N " dtype=%s", l->tokens,
                       l->latent + l->rope + l->q_rank, l->tokens, count, begin, l->type);
}

/* The first elements of heads times a matrix for each head. The fixpipe writes rows of all
 * heads at once when they are not further apart than it knows; else heads come first on the way. */
static enum vinci_status add_product(const struct latent *l) {
  NAMES(mixed, BETWEEN("a", "nope_part"), MINE("b", "weight_key"), MINE("c", "q_latent"));
  NAMES(turn, BETWEEN("x", "nope_part"), BETWEEN("y", "heads_first"));
  NAMES(product, BETWEEN("a", "heads_first"), MINE("b", "weight_key"), BETWEEN("c", "heads_q"));
  NAMES(back, BETWEEN("x", "heads_q"), MINE("y", "q_latent"));
  enum vinci_status status = VINCI_OK;
  bool at_once = l->heads * max_u64(l->latent, l->nope) <= UINT16_MAX &&
                 emit_cube_core(l->job->soc) != emit_vector_core(l->job->soc);
  if (!at_once)
    PART(status, l->job, "transpose", turn, "shape=%" N "x%" N "x%" N " perm=2x1x3 dtype=%s",
         l->tokens, l->heads, l->nope, l->type);
  PART(status, l->job, "batch_matmul", at_once ? mixed : product,
       "batch=%" N " m=%" N " k=%" N " n=%" N " mixed=%d dtype=%s", l->heads, l->tokens, l->nope,
       l->latent, at_once, l->type);
  if (!at_once)
    PART(status, l->job, "transpose", back, "shape=%" N "x%" N "x%" N " perm=2x1x3 dtype=%s",
         l->heads, l->tokens, l->latent, l->type);
  return status;
}

/* Heads of queries: the first elements of each go into the space of latent rows, the others are
 * turned. */
static enum vinci_status add_queries(const struct latent *l) {
  NAMES(slice, BETWEEN("x", "down"), BETWEEN("y", "query_part"));
  NAMES(norm, BETWEEN("x", "query_part"), MINE("gamma", "gamma_q"), BETWEEN("y", "normal_q"));
  NAMES(up, BETWEEN("a", "normal_q"), MINE("b", "weight_up"), BETWEEN("c", "up"));
  NAMES(first, BETWEEN("x", "up"), BETWEEN("y", "nope_part"));
  NAMES(rest, BETWEEN("x", "up"), BETWEEN("y", "unturned_q"));
  NAMES(turn, BETWEEN("x", "unturned_q"), MINE("y", "q_rope"));
  const uint64_t depth = l->nope + l->rope;
  enum vinci_status status = add_columns(l, slice, l->latent + l->rope, l->q_rank);
  PART(status, l->job, "rms_norm", norm, "shape=%" N "x%" N " dtype=%s eps=%.9g", l->tokens,
       l->q_rank, l->type, l->eps);
  PART(status, l->job, "matmul", up, "m=%" N " k=%" N " n=%" N " transpose_b=1 dtype=%s", l->tokens,
       l->q_rank, l->heads * depth, l->type);
  PART(status, l->job, "slice", first,
       "shape=%" N "x%" N "x%" N " out=%" N "x%" N "x%" N " dtype=%s", l->tokens, l->heads, depth,
       l->tokens, l->heads, l->nope, l->type);
  if (status == VINCI_OK)
    status = add_product(l);
  PART(status, l->job, "slice", rest,
       "shape=%" N "x%" N "x%" N " out=%" N "x%" N "x%" N " begin=%" N " dtype=%s", l->tokens,
       l->heads, depth, l->tokens, l->heads, l->rope, l->nope, l->type);
  PART(status, l->job, "rope", turn, "shape=%" N "x%" N "x%" N " form=%s dtype=%s", l->tokens,
       l->heads, l->rope, l->form, l->type);
  return status;
}

/* Rows of a cache by the slots. */
static enum vinci_status add_rows(const struct latent *l, const struct emit_name *names,
                                  uint64_t width) {
  return composite_add(l->job, "scatter_update", names,
                       "shape=%" N "x%" N " count=%" N " step=%" N " dtype=%s", l->slots, width,
                       l->tokens, size_of(l->job, "step"), l->type);
}

/* Latent rows and turned rows, into the caches. */
static enum vinci_status add_caches(const struct latent *l) {
  NAMES(latents, BETWEEN("x", "down"), BETWEEN("y", "latent_rows"));
  NAMES(norm, BETWEEN("x", "latent_rows"), MINE("gamma", "gamma_latent"),
        BETWEEN("y", "normal_latent"));
  NAMES(put, BETWEEN("x", "normal_latent"), MINE("x1", "slot"), MINE("y", "latent_cache"));
  NAMES(key, BETWEEN("x", "down"), BETWEEN("y", "key_part"));
  NAMES(turn, BETWEEN("x", "key_part"), BETWEEN("y", "turned_key"));
  NAMES(put_key, BETWEEN("x", "turned_key"), MINE("x1", "slot"), MINE("y", "key_cache"));
  enum vinci_status status = add_columns(l, latents, 0, l->latent);
  PART(status, l->job, "rms_norm", norm, "shape=%" N "x%" N " dtype=%s eps=%.9g", l->tokens,
       l->latent, l->type, l->eps);
  if (status == VINCI_OK)
    status = add_rows(l, put, l->latent);
  if (status == VINCI_OK)
    status = add_columns(l, key, l->latent, l->rope);
  PART(status, l->job, "rope", turn, "shape=%" N "x%" N " form=%s dtype=%s", l->tokens, l->rope,
       l->form, l->type);
  if (status == VINCI_OK)
    status = add_rows(l, put_key, l->rope);
  return status;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct latent l = latent_of(job);
  const uint64_t extents[] = {l.heads, l.nope + l.rope};
  const uint64_t columns[] = {l.latent + l.rope + l.q_rank};
  enum vinci_status status = lower_bounded(job, extents, 2);
  if (status == VINCI_OK)
    status = lower_bounded(job, columns, 1);
  if (status == VINCI_OK && l.heads * (l.nope + l.rope) > LOWER_SIZE_MAX)
    return lower_error(job, "a row of all heads is too long");
  if (status == VINCI_OK && l.tokens > l.slots)
    return lower_error(job, "%" N " tokens need a row each of a cache, which has %" N, l.tokens,
                       l.slots);
  if (status == VINCI_OK)
    status = add_down(&l);
  if (status == VINCI_OK)
    status = add_queries(&l);
  return status == VINCI_OK ? add_caches(&l) : status;
}

/* ---- from a profile ---- */

/* Where a kernel has its tensors. */
struct places {
  unsigned down, gamma_q, gamma_latent, cos, weight_key, latents, keys;
};

/* input, gamma0, beta0, two numbers, wdqkv, scale, bias, gamma1, beta1, two numbers, wuq, scale,
 * bias, gamma2, cos, sin, wuk, kvCache, kvCacheRope, slotmapping (ops-transformer, MlaPreprocess).
 */
static const struct places preprocess = {5, 8, 15, 16, 18, 19, 20};
/* tokenX, weightDq, weightUqQr, weightUk, weightDkvKr, two gammas, sin, cos, cacheIndex, kvCache,
 * krCache (ops-transformer, MlaProlog). */
static const struct places prolog = {1, 5, 6, 8, 3, 10, 11};

static bool put_sizes(struct lower_call *call, const struct places *at) {
  const struct lower_tensor *in = call->input, *x = &in[0], *key = &in[at->weight_key];
  uint64_t latent = in[at->gamma_latent].shape[0];
  uint64_t rows = lower_elements(in[at->latents].shape, in[at->latents].rank);
  if (rows % latent)
    return lower_cannot(call, "the cache has no rows of %" N " elements", latent);
  lower_arg(call, "tokens=%" N, lower_elements(x->shape, x->rank - 1));
  lower_arg(call, "hidden=%" N, x->shape[x->rank - 1]);
  lower_arg(call, "heads=%" N, key->shape[0]);
  lower_arg(call, "slots=%" N, rows / latent);
  lower_arg(call, "q_rank=%" N, in[at->gamma_q].shape[0]);
  lower_arg(call, "latent=%" N, latent);
  /* In NZ the rows stand behind the columns of 16. */
  lower_arg(call, "nope=%" N, key->shape[key->rank == 3 ? 1 : 2]);
  lower_arg(call, "rope=%" N, in[at->cos].shape[in[at->cos].rank - 1]);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static bool from_tensors(struct lower_call *call) {
  bool is_prolog = strstr(call->type, "Prolog") != NULL;
  const struct places *at = is_prolog ? &prolog : &preprocess;
  const struct lower_tensor *in = call->input;
  if (call->input_count <= at->keys || in[0].rank < 2 || in[at->gamma_q].rank != 1 ||
      in[at->gamma_latent].rank != 1 || in[at->cos].rank == 0 || in[at->weight_key].rank < 3 ||
      in[at->latents].rank < 2)
    return lower_cannot(call, "x, weights, gammas, cos and two caches are needed");
  if (in[at->keys].rank < 2)
    return lower_cannot(call, "caches that are joined are not modelled");
  if (in[at->down].dtype == DTYPE_INT8)
    return lower_cannot(call, "weights of 8 bits are not modelled");
  if (is_prolog) {
    lower_arg(call, "norm=0");
    lower_arg(call, "form=interleaved");
  }
  return put_sizes(call, at);
}

static const struct lower_template template = COMPOSITE_TEMPLATE(setup);
LOWER_OPERATOR(
    mla_preprocess, "mla_preprocess_0_mix_aic|MlaPreprocess|MlaPreprocessV2|MlaProlog|MlaPrologV2",
    "q_latent and q_rope = heads of queries before latent attention; latent rows and turned "
    "keys go to the rows of two caches that slot names, for times taken to be i * step",
    keys, &template, NULL, from_tensors)
