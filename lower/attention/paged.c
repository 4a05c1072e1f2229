/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: keys and values in a cache of blocks, as engines for serving keep them
 * ([blocks, block_size, kv_heads, head_dim], the layout of vLLM-Ascend). A table has the blocks of
 * each sequence, which the scalar unit reads; for times the table is a stated series. The cube
 * cores copy the row of a sequence to L1 and wait for that before they use its blocks, as if the
 * scalar unit read from there. The lengths of sequences are known on the host, as they are for
 * FusedInferAttentionScore (actualSeqLengthsKv, an array of the host; CANN, aclnn reference).
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/attention/writer.h"

enum { TABLE_FLAG = 0 };

/* ---- the problem ---- */

enum vinci_status attention_pages(struct lower_job *job, struct attention *at) {
  const struct lower_value *value = job->value, *lengths = &value[ATTENTION_LENGTHS];
  struct attention_pages *pages = &at->pages;
  uint64_t kv_heads = at->heads / at->group;
  at->paged = true;
  at->latent = value[ATTENTION_LATENT].word;
  at->kv = (struct attention_strides){0, at->depth_k, kv_heads * at->depth_k};
  at->v = at->latent ? at->kv : (struct attention_strides){0, at->depth, kv_heads * at->depth};
  if (lengths->present && value[ATTENTION_SEQ_K].present)
    return lower_error(job, "seq_k is the longest of lengths: give one of them");
  for (unsigned i = 0; lengths->present && i < lengths->rank; i++) {
    pages->length[pages->length_count++] = lengths->shape[i];
    at->keys = i == 0 ? lengths->shape[i] : max_u64(at->keys, lengths->shape[i]);
  }
  if (lengths->present && lengths->rank > 1 && (at->causal || at->masked))
    return lower_error(job, "causal and mask ask for sequences of one length");
  if (at->latent && at->depth > at->depth_k)
    return lower_error(job, "v_dim is at most head_dim, as V is a part of K");
  pages->size = value[ATTENTION_BLOCK_SIZE].size;
  if (pages->size % FRACTAL_ROWS)
    return lower_error(job, "block_size has to be a multiple of %d", FRACTAL_ROWS);
  uint64_t each = ceil_div(at->keys, pages->size);
  pages->blocks = value[ATTENTION_BLOCKS].present ? value[ATTENTION_BLOCKS].size : at->batch * each;
  pages->per_sequence = round_up(each, BLOCK_WORDS);
  pages->first = value[ATTENTION_FIRST].size % pages->blocks;
  pages->step = value[ATTENTION_STEP].size % pages->blocks;
  pages->is_series = value[ATTENTION_TABLE].word;
  const uint64_t cache[] = {pages->blocks, pages->size, at->kv.row};
  return lower_bounded(job, cache, 3);
}

uint64_t attention_table_bytes(const struct attention *at) {
  return at->paged ? vtile_align(at->pages.per_sequence * WORD_BYTES) : 0;
}

bool attention_pages_fit(struct lower_job *job, const struct attention_tiling *t) {
  uint64_t size = ((const struct attention *)job->data)->pages.size;
  if (t->panel % size && size % t->panel)
    return lower_refuse(job,
                        "a panel of %" PRIu64 " keys is neither blocks of %" PRIu64
                        " keys nor an equal part of one",
                        t->panel, size);
  return true;
}

/* ---- rows ---- */

static struct expr sequence_of(struct writer *w, struct expr z) { return x_div(z, w->at->heads); }

struct expr fa_length(struct writer *w, struct place *p) {
  const struct attention_pages *pages = &w->at->pages;
  struct expr length = EXPR(0);
  if (pages->length_count < 2)
    return EXPR(w->at->keys);
  struct expr turn = x_mod(sequence_of(w, p->z), pages->length_count);
  for (unsigned i = 0; i < pages->length_count; i++)
    length = x_add(length, x_mul(pages->length[i], x_eq(turn, i)));
  return fa_let(w, p, "len", length);
}

struct expr fa_page_row(struct writer *w, const char *tensor,
                        const struct attention_strides *strides, struct expr z, struct expr key) {
  const struct attention *at = w->at;
  const struct attention_pages *pages = &at->pages;
  struct expr entry = x_add(x_mul(sequence_of(w, z), pages->per_sequence), x_div(key, pages->size));
  entry = emit_assigned(w->e, "entry", entry);
  struct expr stated = x_mod(x_add(pages->first, x_mul(entry, pages->step)), pages->blocks);
  struct expr block =
      pages->is_series
          ? stated
          : emit_read_index(w->e, "page", stated, x_slot(w->e, "block_table", entry, WORD_BYTES),
                            DTYPE_INT32, pages->blocks);
  struct expr row = x_add(x_mul(block, pages->size), x_mod(key, pages->size));
  struct expr head = x_mul(x_div(x_mod(z, at->heads), at->group), strides->head);
  return x_slot(w->e, tensor, x_add(x_mul(row, strides->row), head), HALF_BYTES);
}

void fa_page_tensors(struct writer *w) {
  const struct attention *at = w->at;
  const struct attention_pages *pages = &at->pages;
  uint64_t kv_heads = at->heads / at->group;
  const uint64_t k[] = {pages->blocks, pages->size, kv_heads, at->depth_k};
  const uint64_t v[] = {pages->blocks, pages->size, kv_heads, at->depth};
  const uint64_t table[] = {at->batch, pages->per_sequence};
  emit_tensor(w->e, "k", at->type, TENSOR_IN, k, 4, NULL);
  if (!at->latent)
    emit_tensor(w->e, "v", at->type, TENSOR_IN, v, 4, NULL);
  emit_tensor(w->e, "block_table", DTYPE_INT32, TENSOR_IN, table, 2, NULL);
}

void fa_load_table(struct writer *w, struct place *p) {
  uint64_t row = w->at->pages.per_sequence * WORD_BYTES;
  EMIT(w->e, "copy_gm_to_cbuf", F("dst", x_name(w->e, "table1")),
       F("src", x_slot(w->e, "block_table", sequence_of(w, p->z), row)),
       F("len_burst", row / BLOCK_BYTES));
  emit_handshake(w->e, PIPE_MTE2, PIPE_S, TABLE_FLAG);
}

/* ---- from a profile ---- */

/* Q as [tokens, heads, head_dim], or with an extent of one query more; heads, elements of a head.
 */
static bool page_query(const struct lower_tensor *q, uint64_t sequences, uint64_t *heads,
                       uint64_t *depth) {
  *depth = q->rank > 0 ? q->shape[q->rank - 1] : 0;
  if (q->rank == 3)
    *heads = q->shape[1];
  else if (q->rank == 4 && (q->shape[1] == 1 || q->shape[2] == 1))
    *heads = q->shape[1] * q->shape[2];
  else
    return false;
  return q->shape[0] == sequences && *heads > 0 && *depth > 0;
}

/* Blocks of rows of all heads, or with heads behind or before the keys of a block. */
static bool page_cache(const struct lower_tensor *k, uint64_t heads, uint64_t depth,
                       uint64_t *kv_heads, uint64_t *size) {
  if (k->rank == 3 && k->shape[2] % depth == 0) {
    *kv_heads = k->shape[2] / depth;
    *size = k->shape[1];
  } else if (k->rank == 4 && k->shape[3] == depth) {
    bool behind = k->shape[1] % FRACTAL_ROWS == 0 && heads % k->shape[2] == 0;
    *kv_heads = k->shape[behind ? 2 : 1];
    *size = k->shape[behind ? 1 : 2];
  } else {
    return false;
  }
  return heads % *kv_heads == 0;
}

bool attention_page_call(struct lower_call *call, unsigned table) {
  const struct lower_tensor *q = &call->input[0], *k = &call->input[1];
  uint64_t heads, depth, kv_heads, size;
  if (call->input_count <= table || call->input[table].rank != 2)
    return lower_cannot(call, "a table of blocks is needed");
  uint64_t sequences = call->input[table].shape[0];
  if (!page_query(q, sequences, &heads, &depth))
    return lower_cannot(call, "one query of each sequence is needed, with heads apart");
  if (!page_cache(k, heads, depth, &kv_heads, &size))
    return lower_cannot(call, "heads and blocks cannot be told from the shape of the cache");
  const char *given = call->given ? call->given : "";
  if (!strstr(given, "lengths=") && !strstr(given, "seq_k="))
    return lower_cannot(call, "the lengths of sequences are values, which profiles lack; say "
                              "lengths=... in a column args");
  call->op = &lower_paged_attention;
  lower_arg(call, "batch=%" PRIu64, sequences);
  lower_arg(call, "heads=%" PRIu64, heads);
  lower_arg(call, "kv_heads=%" PRIu64, kv_heads);
  lower_arg(call, "seq_q=1");
  lower_arg(call, "head_dim=%" PRIu64, depth);
  lower_arg(call, "layout=BSND");
  lower_arg_dtype(call, "dtype", q);
  lower_arg(call, "block_size=%" PRIu64, size);
  lower_arg(call, "blocks=%" PRIu64, k->shape[0]);
  return true;
}
