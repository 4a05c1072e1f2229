/* SPDX-License-Identifier: Apache-2.0 */
/* flash_attention and its gradient: keys, the layouts of operands, and how profiles name them. */
#include "lower/attention/attention.h"

#include <inttypes.h>
#include <string.h>

#define KEY(id, name, kind, fallback, choices, tiling, text)                                       \
  {name, LOWER_##kind, fallback, choices, text, tiling, false, ATTENTION_##id == ATTENTION_CORES,  \
   false},
static const struct lower_key keys[ATTENTION_KEY_COUNT] = {ATTENTION_KEYS(KEY)};

static struct attention_strides strides(enum attention_layout layout, uint64_t batch,
                                        uint64_t heads, uint64_t rows, uint64_t depth) {
  switch (layout) {
  case LAYOUT_BNSD:
    return (struct attention_strides){heads * rows * depth, rows * depth, depth};
  case LAYOUT_SBH:
    return (struct attention_strides){heads * depth, depth, batch * heads * depth};
  default:
    return (struct attention_strides){rows * heads * depth, depth, heads * depth};
  }
}

/* 1 / sqrt(value) by Newton's method, which gives the same bits everywhere. */
static double inverse_root(double value) {
  double root = value;
  for (unsigned i = 0; i < 64; i++)
    root = 0.5 * (root + value / root);
  return 1.0 / root;
}

/* What the cores of a block hand each other takes signals, or one core that is both. */
static enum vinci_status check_cores(struct lower_job *job, const struct attention *at) {
  if (at->coupled)
    return attention_coupled_check(job, at);
  if (soc_core_count(job->soc, CORE_AIV) < 2 * soc_core_count(job->soc, CORE_AIC))
    return lower_error(job, "a block takes a cube core and two vector cores; %s has %u and %u",
                       job->soc->name, (unsigned)soc_core_count(job->soc, CORE_AIC),
                       (unsigned)soc_core_count(job->soc, CORE_AIV));
  int flags = (int)attention_l1_flags(at->gradient), signals = at->gradient ? 2 : 3;
  if (job->soc->flag_ids < flags)
    return lower_error(job, "takes %d flag ids between two pipes, %s has %d", flags, job->soc->name,
                       (int)job->soc->flag_ids);
  if (job->soc->cross_core_ids < signals || job->soc->cross_core_sets_max == 0)
    return lower_error(job, "takes %d flags between cores, each set once; %s has %d, set %d times",
                       signals, job->soc->name, (int)job->soc->cross_core_ids,
                       (int)job->soc->cross_core_sets_max);
  return VINCI_OK;
}

static enum vinci_status check(struct lower_job *job, const struct attention *at) {
  static const double scale_min = 1e-6, scale_max = 1e6; /* what is masked stays out of the way */
  const uint64_t depth_max = 256, depth_k_max = 640, depth_v_max = 512;
  enum vinci_status status = check_cores(job, at);
  if (status != VINCI_OK)
    return status;
  if (at->cube_mcycles == 0)
    return lower_error(job, "the cube of %s does not compute in %s", job->soc->name,
                       dtype_name(at->type));
  if (at->depth_k == at->depth && at->depth > depth_max)
    return lower_error(job, "head_dim is at most %u", (unsigned)depth_max);
  if (at->depth_k > depth_k_max || at->depth > depth_v_max)
    return lower_error(job, "head_dim is at most %u, and v_dim at most %u", (unsigned)depth_k_max,
                       (unsigned)depth_v_max);
  if (at->window && !at->causal && at->queries > 1)
    return lower_error(job, "window asks for causal=1, or one query");
  if (job->value[ATTENTION_CAUSAL].word && job->value[ATTENTION_SEQ_Q].size > at->keys)
    return lower_error(job, "causal needs at least as many keys as queries");
  if (!(at->scale >= scale_min && at->scale <= scale_max))
    return lower_error(job, "scale has to be between %g and %g", scale_min, scale_max);
  if (at->q.row > UINT16_MAX || at->kv.row > UINT16_MAX || at->v.row > UINT16_MAX)
    return lower_error(job, "rows of this layout are more than %d elements apart", UINT16_MAX);
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  bool gradient = job->op == &lower_flash_attention_grad;
  struct attention *at = ARENA_NEW(job->arena, struct attention);
  if (!at)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  uint64_t heads = value[ATTENTION_HEADS].size, queries = value[ATTENTION_SEQ_Q].size;
  uint64_t kv_heads = value[ATTENTION_KV_HEADS].present ? value[ATTENTION_KV_HEADS].size : heads;
  uint64_t seq_k = value[ATTENTION_SEQ_K].present ? value[ATTENTION_SEQ_K].size : queries;
  uint64_t depth_k = value[ATTENTION_HEAD_DIM].size, batch = value[ATTENTION_BATCH].size;
  uint64_t depth = value[ATTENTION_V_DIM].present ? value[ATTENTION_V_DIM].size : depth_k;
  enum attention_layout layout = (enum attention_layout)value[ATTENTION_LAYOUT].word;
  if (heads % kv_heads)
    return lower_error(job, "heads have to be a multiple of kv_heads");
  *at = (struct attention){
      .batch = batch,
      .heads = heads,
      .group = heads / kv_heads,
      .rows = queries,
      .keys = seq_k,
      .depth = depth,
      .depth_k = depth_k,
      .queries = queries,
      .type = value[ATTENTION_DTYPE].dtype,
      .causal = value[ATTENTION_CAUSAL].word && queries > 1,
      .statistics = !gradient && value[ATTENTION_STATISTICS].word,
      .gradient = gradient,
      .carried = !gradient && value[ATTENTION_CARRY].word,
      .scale = value[ATTENTION_SCALE].present ? value[ATTENTION_SCALE].number
                                              : inverse_root((double)depth_k),
      .q = strides(layout, batch, heads, queries, depth_k),
      .kv = strides(layout, batch, kv_heads, seq_k, depth_k),
      .v = strides(layout, batch, kv_heads, seq_k, depth),
      .o = strides(layout, batch, heads, queries, depth),
      .window = value[ATTENTION_WINDOW].present ? value[ATTENTION_WINDOW].size : 0,
      .masked = value[ATTENTION_MASK].word,
      .coupled = emit_cube_core(job->soc) == emit_vector_core(job->soc),
      .cube_mcycles = (uint64_t)soc_cube_mcycles(job->soc, value[ATTENTION_DTYPE].dtype),
  };
  if (queries == 1 && !gradient) {
    at->rows = at->group;
    at->heads = kv_heads;
    at->group = 1;
    at->q.head = heads / kv_heads * depth_k;
    at->q.row = depth_k;
    at->o.head = heads / kv_heads * depth;
    at->o.row = depth;
  }
  job->data = at;
  enum vinci_status status = VINCI_OK;
  if (job->op == &lower_paged_attention)
    status = attention_pages(job, at);
  return status == VINCI_OK ? check(job, at) : status;
}

/* ---- from a profile ---- */

/* Which extents of Q and K are batch and sequence; heads of Q. */
struct call_layout {
  const char *name;
  unsigned batch, row;
  uint64_t heads;
};

/* Three extents: whichever order fits the statistics is the layout. */
static bool rows_of_heads(const struct lower_call *call, const struct lower_tensor *max,
                          struct call_layout *layout) {
  const struct lower_tensor *q = &call->input[0], *k = &call->input[1];
  if (q->rank != 3 || k->rank != 3 || max->rank != 4)
    return false;
  bool sequence_first = q->shape[0] == max->shape[2] && q->shape[1] == max->shape[0];
  bool batch_first = q->shape[0] == max->shape[0] && q->shape[1] == max->shape[2];
  *layout = (struct call_layout){.name = batch_first ? "BSH" : "SBH",
                                 .batch = sequence_first,
                                 .row = !sequence_first,
                                 .heads = max->shape[1]};
  return (sequence_first || batch_first) && k->shape[layout->batch] == max->shape[0] &&
         layout->heads > 0;
}

/* Four extents: BNSD, unless only BSND fits. */
static bool heads_apart(const struct lower_call *call, const struct lower_tensor *out,
                        struct call_layout *layout) {
  const struct lower_tensor *q = &call->input[0], *k = &call->input[1];
  if (q->rank != 4 || k->rank != 4 || k->shape[0] != q->shape[0] || k->shape[3] != q->shape[3])
    return false;
  bool statistics = out->rank == 4 && out->shape[3] != q->shape[3];
  bool apart = statistics ? q->shape[1] == out->shape[1] : q->shape[1] % k->shape[1] == 0;
  *layout = (struct call_layout){
      .name = apart ? "BNSD" : "BSND", .row = apart ? 2 : 1, .heads = q->shape[apart ? 1 : 2]};
  return true;
}

/* Elements of all heads of a row. */
static uint64_t row_width(const struct lower_tensor *tensor, const struct call_layout *layout) {
  return tensor->rank == 3 ? tensor->shape[2] : tensor->shape[3 - layout->row] * tensor->shape[3];
}

enum { VENDOR_STEP = 512 };

/* `rows`: a tensor with the maxima of rows, [B, N, S, 8], or the result. What a mask hides is not
 * recorded: a matrix is taken for a causal mask. The vendor's kernel computes whole steps: its
 * measured cube times are those of steps of 512 keys. */
static bool put_arguments(struct lower_call *call, const struct lower_tensor *rows) {
  const struct lower_tensor *q = &call->input[0], *k = &call->input[1];
  struct call_layout s;
  if (call->input_count < 3 || call->output_count < 1 ||
      (!rows_of_heads(call, rows, &s) && !heads_apart(call, rows, &s)))
    return lower_cannot(call, "batch, heads and sequence cannot be told from the shapes");
  uint64_t width_q = row_width(q, &s), width_k = row_width(k, &s), depth = width_q / s.heads;
  if (depth == 0 || width_q % s.heads || width_k % depth)
    return lower_cannot(call, "%" PRIu64 " heads do not divide rows of %" PRIu64 " elements",
                        s.heads, width_q);
  bool masked = false;
  for (unsigned i = 3; i < call->input_count; i++)
    masked |= call->input[i].dtype == DTYPE_UINT8 && call->input[i].rank >= 2;
  const uint64_t sizes[] = {q->shape[s.batch], s.heads,         width_k / depth,
                            q->shape[s.row],   k->shape[s.row], depth};
  for (unsigned i = ATTENTION_BATCH; i <= ATTENTION_HEAD_DIM; i++)
    lower_arg(call, "%s=%" PRIu64, keys[i].name, sizes[i]);
  lower_arg_dtype(call, "dtype", q);
  lower_arg(call, "layout=%s", s.name);
  lower_arg(call, "causal=%d", masked && q->shape[s.row] <= k->shape[s.row]);
  lower_arg(call, "diagonal=whole");
  if (k->shape[s.row] >= VENDOR_STEP)
    lower_arg(call, "cols=%d", VENDOR_STEP);
  return true;
}

/* Where the table of blocks stands among the inputs of the vendor's types for serving
 * (ops-transformer, fused_infer_attention_score_def.cpp, incre_flash_attention_def.cpp). */
static unsigned table_of(const struct lower_call *call) {
  static const struct {
    const char *type;
    unsigned input;
  } tables[] = {{"FusedInferAttentionScore", 14}, {"IncreFlashAttention", 13}};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(call->type, tables[i].type) == 0 && tables[i].input < call->input_count &&
        call->input[tables[i].input].rank == 2)
      return tables[i].input;
  return 0;
}

/* Queries and keys in two parts, of which the second is turned, and V (ATB, RINGMLA). Both parts
 * are taken to be one row, and the tokens of all sequences a single sequence. Sums of rows are a
 * result, as another part of the keys needs them. */
static bool call_ring(struct lower_call *call) {
  enum { IN_QUERY, IN_QUERY_TURNED, IN_KEY, IN_KEY_TURNED, IN_VALUE };
  const struct lower_tensor *q = &call->input[IN_QUERY], *k = &call->input[IN_KEY];
  const struct lower_tensor *turned = &call->input[IN_QUERY_TURNED], *v = &call->input[IN_VALUE];
  if (call->input_count <= IN_VALUE || q->rank != 3 || turned->rank != 3 || k->rank != 3 ||
      v->rank != 3 || v->shape[0] != k->shape[0])
    return lower_cannot(call, "queries and keys in two parts, and values, are needed, with rows of "
                              "tokens and heads apart");
  lower_arg(call, "layout=BSND");
  lower_arg(call, "heads=%" PRIu64, q->shape[1]);
  lower_arg(call, "kv_heads=%" PRIu64, k->shape[1]);
  lower_arg(call, "seq_q=%" PRIu64, q->shape[0]);
  lower_arg(call, "seq_k=%" PRIu64, k->shape[0]);
  lower_arg(call, "head_dim=%" PRIu64, q->shape[2] + turned->shape[2]);
  lower_arg(call, "v_dim=%" PRIu64, v->shape[2]);
  lower_arg(call, "statistics=1");
  lower_arg_dtype(call, "dtype", q);
  return true;
}

/* FlashAttentionScore gives the maxima of rows first, the others the result. */
static bool from_tensors(struct lower_call *call) {
  unsigned table = table_of(call);
  if (strcmp(call->type, "RINGMLAPrefillBF16Kernel") == 0)
    return call_ring(call);
  if (table > 0)
    return attention_page_call(call, table);
  if (!put_arguments(call, &call->output[0]))
    return false;
  if (strcmp(call->type, "FlashAttentionScore") == 0) {
    lower_arg(call, "statistics=1");
    lower_arg(call, "carry=gm");
  }
  return true;
}

/* q, k, v, dy, mask, maxima and sums of rows, .. */
static bool gradient_from_tensors(struct lower_call *call) {
  const unsigned maxima = 5;
  if (call->input_count <= maxima)
    return lower_cannot(call, "the maxima of rows are needed");
  return put_arguments(call, &call->input[maxima]);
}

static const struct lower_template template = {setup, attention_candidate, attention_cost,
                                               attention_emit};
LOWER_OPERATOR_OF(
    flash_attention,
    "FlashAttentionScore|PromptFlashAttention|IncreFlashAttention|FusedInferAttentionScore|"
    "RINGMLAPrefillBF16Kernel",
    "O = softmax(scale Q K^T) V, cube and vector cores in one kernel", keys, ATTENTION_LENGTHS,
    &template, NULL, from_tensors)

/* The table stands behind Q, K and V; latent rows are K and V at once. */
static bool page_from_tensors(struct lower_call *call) {
  const unsigned table = 3;
  return attention_page_call(call, table);
}

LOWER_OPERATOR(paged_attention, "PagedAttention|PagedAttentionMaskNdKernel",
               "flash_attention with K and V in a cache of blocks, by a table of blocks", keys,
               &template, NULL, page_from_tensors)
LOWER_OPERATOR_OF(flash_attention_grad, "FlashAttentionScoreGrad",
                  "dQ, dK, dV of flash_attention from dY, O, and the maxima and sums of rows", keys,
                  ATTENTION_STATISTICS, &template, NULL, gradient_from_tensors)
