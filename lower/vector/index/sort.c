/* SPDX-License-Identifier: Apache-2.0 */
/* sort and topk: arguments, which way to sort, tilings. */
#include "lower/vector/index/sort.h"
#include "lower/plan/program.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"
#include "lower/vector/kernel.h"

enum { FLOAT_BYTES = 4, CHUNK_WHOLE = 8192, CHUNK_PAIRED = 4096, KEEP_MAX = 2048, HALVINGS = 3 };
#define SORT_TILING                                                                                \
  TILING_KEY("chunk", "elements that UB sorts at once"),                                           \
      BLOCKS_KEY("cores to use; 0: all that have something to sort")

static const struct lower_key sort_keys[] = {
    SHAPE_KEY("extents of x; along the last"),
    WORD_KEY("descending", "0", "0|1", "1: the largest first"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32", "type of x and y"), SORT_TILING};

static const struct lower_key topk_keys[] = {
    SHAPE_KEY("extents of x; along the last"), WORD_KEY("largest", "1", "0|1", "0: the smallest"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32", "type of x and y"),
    LOWER_KEY("k", SIZE, NULL, NULL, "how many of each row"), SORT_TILING};

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *k = lower_get(job, "k");
  struct sort *sort = lower_data(job, sizeof *sort);
  if (!sort)
    return VINCI_E_NOMEM;
  sort->type = lower_get(job, "dtype")->dtype;
  sort->descending = lower_get(job, k ? "largest" : "descending")->word == 1;
  sort->columns = shape->shape[shape->rank - 1];
  sort->rows = lower_elements(shape->shape, shape->rank - 1);
  sort->keep = k ? k->size : sort->columns;
  sort->work = DTYPE_FP32;
  sort->entry = SORT_ENTRY;
  sort->proposals = !select_has(job->soc, OP_VBITSORT);
  if (sort->proposals) {
    sort->work =
        isa_dtypes(OP_VBITSORT16, job->soc->arch) >> DTYPE_FP32 & 1 ? DTYPE_FP32 : DTYPE_FP16;
    sort->entry = PROPOSAL_ELEMENTS * vtile_bytes(sort->work);
    const char *reason = sort_proposals_cannot(sort);
    if (reason)
      return lower_error(job, "%s", reason);
  }
  if (sort->keep > sort->columns)
    return lower_error(job, "k is at most %" PRIu64 ", the last extent of x", sort->columns);
  return VINCI_OK;
}

/* ---- tilings --------------------------------------------------------------------------------- */

static uint64_t in_runs(uint64_t elements) { return round_up(elements, SORT_RUN); }

void sort_choose_form(struct sort *sort) {
  uint64_t cores = sort->blocks;
  sort->chunks = ceil_div(sort->columns, sort->chunk);
  sort->best = round_up(sort->keep, sort->proposals ? PROPOSALS : SORT_BEST_UNIT);
  sort->segments = 1;
  sort->form = sort->chunks == 1                                         ? SORT_WHOLE
               : sort->keep <= KEEP_MAX && 2 * sort->best <= sort->chunk ? SORT_RUNNING
                                                                         : SORT_NETWORK;
  if (sort->form == SORT_RUNNING && cores > sort->rows && !sort->proposals)
    sort->segments = min_u64(cores / sort->rows, sort->chunks);
}

static void lay_out(struct sort *sort) {
  uint64_t used = 0, entries = sort->chunk;
  sort_choose_form(sort);
  if (sort->proposals) {
    sort_proposals_lay_out(sort);
    return;
  }
  /* The network merges two chunks at once and needs the numbers no more by then. */
  sort->numbers_at = vtile_reserve(&used, sort->chunk * FLOAT_BYTES);
  sort->a_at = vtile_reserve(&used, entries * SORT_ENTRY);
  sort->b_at = vtile_reserve(&used, entries * SORT_ENTRY);
  sort->best_at = sort->form == SORT_RUNNING ? vtile_reserve(&used, sort->best * SORT_ENTRY) : 0;
  uint64_t paired = sort->form == SORT_NETWORK ? 4 * sort->chunk * SORT_ENTRY : 0;
  sort->ub_bytes = max_u64(used, paired);
}

/* Pieces of work that cores can share in the first phase. */
static uint64_t units(const struct sort *sort) {
  if (sort->form == SORT_RUNNING)
    return sort->rows * sort->segments;
  return sort->rows * (sort->form == SORT_NETWORK && !sort->proposals ? sort->chunks : 1);
}

/* All cores of the chip wait for each other, idle ones too. */
static bool meet(const struct sort *sort) {
  return !sort->proposals && (sort->form == SORT_NETWORK || sort->segments > 1);
}

/* The cores share the pieces evenly. Fewer than the chip has do not meet, where that can be. */
static uint64_t blocks_for(const struct lower_job *job, struct sort *sort, uint64_t cores) {
  uint64_t all = soc_core_count(job->soc, emit_vector_core(job->soc));
  sort->blocks = sort->form == SORT_RUNNING && cores < all ? min_u64(cores, sort->rows) : cores;
  sort_choose_form(sort);
  if (sort->proposals) {
    uint64_t least = sort_proposals_rows_min(sort);
    return ceil_div(sort->rows, round_up(ceil_div(sort->rows, cores), least));
  }
  return meet(sort) ? all : ceil_div(units(sort), ceil_div(units(sort), sort->blocks));
}

static bool candidate(struct lower_job *job, size_t index) {
  struct sort *sort = job->data;
  const struct lower_value *chunk = lower_get(job, "chunk");
  if (index > HALVINGS)
    return false;
  uint64_t longest =
      sort->columns <= CHUNK_WHOLE ? (uint64_t)CHUNK_WHOLE : (uint64_t)CHUNK_PAIRED >> index;
  if (sort->proposals)
    longest =
        sort_proposals_chunk(sort) >> (sort->columns <= sort_proposals_chunk(sort) ? 0 : index);
  sort->chunk = min_u64(in_runs(sort->columns), longest);
  if (chunk && chunk->given)
    sort->chunk = chunk->size;
  sort->blocks = job->cores;
  sort_choose_form(sort);
  while (sort->proposals && sort->chunk > 2 * SORT_RUN && !sort_proposals_stores(sort)) {
    sort->chunk -= 2 * SORT_RUN;
    sort_choose_form(sort);
  }
  sort->blocks = blocks_for(job, sort, job->cores);
  lower_choose(job, "chunk", sort->chunk);
  lower_choose(job, "blocks", sort->blocks);
  return true;
}

static void take_tiling(const struct lower_job *job, struct sort *sort) {
  sort->chunk = lower_get(job, "chunk")->size;
  sort->blocks = lower_get(job, "blocks")->size;
}

static bool cost(struct lower_job *job) {
  struct sort *sort = job->data;
  take_tiling(job, sort);
  uint64_t unit = sort->chunk < sort->columns ? 2 * SORT_RUN : SORT_RUN;
  if (sort->chunk % unit != 0 || sort->chunk > CHUNK_WHOLE)
    return lower_refuse(job, "chunks of %s are multiples of %" PRIu64 " up to %d",
                        sort->chunk < sort->columns ? "a row" : "whole rows", unit, CHUNK_WHOLE);
  if (!lower_has_cores(job, sort->blocks, emit_vector_core(job->soc)))
    return false;
  unsigned cores = soc_core_count(job->soc, emit_vector_core(job->soc));
  lay_out(sort);
  if (meet(sort) && sort->blocks != cores)
    return lower_refuse(job, "cores meet on the way, so all %u take part", cores);
  if (sort->proposals && sort->chunk > sort_proposals_chunk(sort))
    return lower_refuse(job, "chunks of %s have at most %" PRIu64 " elements", job->soc->name,
                        sort_proposals_chunk(sort));
  if (sort->proposals && !sort_proposals_stores(sort))
    return lower_refuse(job, "the last part of a row is less than a block of %d bytes",
                        BLOCK_BYTES);
  if (sort->form == SORT_NETWORK && sort->chunk > CHUNK_PAIRED)
    return lower_refuse(job, "chunks that are merged in pairs have at most %d elements",
                        CHUNK_PAIRED);
  return vtile_ub_holds(job, "the chunk", sort->ub_bytes) && program_cost(job);
}

/* ---- operators ------------------------------------------------------------------------------- */

static void emit(const struct lower_job *job, struct emit *e) {
  struct sort *sort = job->data;
  const struct lower_value *x = lower_get(job, "shape");
  uint64_t shape[TENSOR_RANK_MAX];
  take_tiling(job, sort);
  lay_out(sort);
  memcpy(shape, x->shape, sizeof shape);
  shape[x->rank - 1] = sort->keep;
  emit_kernel(e, job->op->name, (uint32_t)sort->blocks);
  emit_tensor(e, "x", sort->type, TENSOR_IN, x->shape, x->rank, NULL);
  emit_tensor(e, "y", sort->type, TENSOR_OUT, shape, x->rank, NULL);
  emit_tensor(e, "y1", DTYPE_INT32, TENSOR_OUT, shape, x->rank, NULL);
  uint64_t kept = sort->form == SORT_NETWORK ? sort->chunks * sort->chunk
                  : sort->segments > 1       ? sort->segments * sort->best
                                             : 0;
  if (kept > 0)
    emit_vector(e, "lists", DTYPE_UINT32, TENSOR_WORKSPACE,
                (sort->proposals ? sort->blocks : sort->rows) * kept * sort->entry / FLOAT_BYTES);
  vkernel_stream(e, sort->ub_bytes, KERNEL_ELEMENTWISE);
  emit_plain(e, "set_mask_count");
  sort_emit_rows(e, sort);
}

static bool call_sort(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count == 0 || x->rank == 0)
    return lower_cannot(call, "no shape");
  lower_arg_tensor(call, x);
  return true;
}

static bool call_topk(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->output_count == 0 || y->rank == 0 || y->rank != x->rank)
    return lower_cannot(call, "no shapes of equal rank");
  for (unsigned i = 0; i + 1 < x->rank; i++)
    if (x->shape[i] != y->shape[i])
      return lower_cannot(call, "only the last dimension can be sorted");
  lower_arg(call, "k=%" PRIu64, y->shape[y->rank - 1]);
  return call_sort(call);
}

static const struct lower_template template = {setup, candidate, cost, emit};

LOWER_OPERATOR(sort, "Sort",
               "y = x sorted along the last dimension; y1 = where it was; NaN comes first in both "
               "orders, which the vendor leaves open",
               sort_keys, &template, NULL, call_sort)
LOWER_OPERATOR(topk, "TopK|TopKV2|TopKD",
               "y = the k largest of each row of x, sorted; y1 = where they were; NaN comes "
               "first in both orders, which the vendor leaves open",
               topk_keys, &template, NULL, call_topk)
