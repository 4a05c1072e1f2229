/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather: rows of a table by a list of indices, which is copied to UB, waited for, and read by the
 * scalar unit. Times, which do not depend on values, take the indices to be a stated series, (first
 * + i * step) modulo the rows of the table.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/index/indexed.h"

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of the table: its rows first"),
    LOWER_KEY("count", SHAPE, NULL, NULL, "extents of the indices"),
    LOWER_KEY("first", SIZE, "0", "0", "the first index"),
    LOWER_KEY("step", SIZE, "7919", "0",
              "from one index to the next, modulo the rows of the table"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int8|uint8|int16|int32|int64", "type of x and y"),
    LOWER_KEY("dtype1", DTYPE, "int32", "int32|int64", "type of the indices"),
    LOWER_KEY("per", SIZE, "1", NULL, "indices that name one row of the table: row x1 / per"),
    VTILE_KEYS_TABLE};

struct gather {
  struct indexed_rows indexed; /* first */
  uint64_t out_shape[TENSOR_RANK_MAX];
  unsigned out_rank;
};

/* The indices, then a copy for each row: where it lies is known when the index is. */
static void load(struct emit *e, struct vkernel *kernel) {
  const struct indexed_rows *indexed = (struct indexed_rows *)kernel;
  const struct vtile *tile = &kernel->tile;
  vkernel_load(e, kernel);
  emit_handshake(e, PIPE_MTE2, PIPE_S, INDEXED_FLAG);
  struct expr r = emit_for(e, "r", tile->n_rows);
  struct expr place = indexed_place(e, indexed, "x", r);
  vtile_load_run(e, indexed->rows.dtype,
                 x_add(tile->slot, x_mul(r, indexed->rows.pitch * kernel->element_bytes)), place,
                 tile->n_cols);
  emit_end(e);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct gather *gather = (struct gather *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const struct lower_value *count = lower_get(kernel->job, "count");
  emit_tensor(e, "x", gather->indexed.rows.dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "x1", gather->indexed.index.dtype, TENSOR_IN, count->shape, count->rank, NULL);
  emit_tensor(e, "y", gather->indexed.rows.dtype, TENSOR_OUT, gather->out_shape, gather->out_rank,
              NULL);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 3,
                                           .only_moves = true,
                                           .lay_out = indexed_lay_out,
                                           .split = indexed_split,
                                           .tensors = tensors,
                                           .load = load};
  const struct lower_value *shape = lower_get(job, "shape"), *count = lower_get(job, "count");
  struct gather *gather = vkernel_new(job, sizeof *gather, &kind);
  if (!gather)
    return VINCI_E_NOMEM;
  gather->out_rank = count->rank + shape->rank - 1;
  if (gather->out_rank > TENSOR_RANK_MAX)
    return lower_error(job, "y has at most %d dimensions", TENSOR_RANK_MAX);
  memcpy(gather->out_shape, count->shape, count->rank * sizeof *count->shape);
  memcpy(gather->out_shape + count->rank, shape->shape + 1,
         (shape->rank - 1) * sizeof *shape->shape);
  const uint64_t indices[] = {shape->shape[0], lower_get(job, "per")->size};
  enum vinci_status status = lower_bounded(job, gather->out_shape, gather->out_rank);
  if (status == VINCI_OK)
    status = lower_bounded(job, indices, 2);
  if (status != VINCI_OK)
    return status;
  indexed_fill(job, &gather->indexed, "y", lower_elements(shape->shape + 1, shape->rank - 1));
  gather->indexed.per = lower_get(job, "per")->size;
  gather->indexed.kernel.out[0] = &gather->indexed.rows;
  return VINCI_OK;
}

/* Keys and values of blocks of two caches, one after the other: caches, then tables; the results
 * are rows. As one table of the blocks of both. */
static bool call_blocks(struct lower_call *call) {
  const struct lower_tensor *cache = &call->input[0], *y = &call->output[0];
  if (call->input_count < 3 || call->output_count < 1 || cache->rank < 3 || y->rank < 2)
    return lower_cannot(call, "two caches, a table and results are needed");
  uint64_t block = lower_elements(cache->shape + 1, cache->rank - 1);
  uint64_t blocks = ceil_div(lower_elements(y->shape, y->rank), block);
  lower_arg(call, "shape=%" PRIu64 "x%" PRIu64, 2 * cache->shape[0], block);
  lower_arg(call, "count=%" PRIu64, 2 * blocks);
  lower_arg_dtype(call, "dtype", cache);
  lower_arg(call, "dtype1=int32");
  return true;
}

/* The axis is a value that profiles lack; rows of the table are told by the shape of the result. */
static bool call_gather(struct lower_call *call) {
  enum { IN_LIST_INDEX = 3 }; /* of Index, behind two lists of numbers */
  if (strcmp(call->type, "PagedCacheLoadNdKernel") == 0)
    return call_blocks(call);
  unsigned at = strcmp(call->type, "Index") == 0 ? IN_LIST_INDEX : 1;
  const struct lower_tensor *x = &call->input[0], *index = &call->input[at], *y = &call->output[0];
  if (call->input_count <= at || call->output_count == 0 || x->rank == 0 || index->rank == 0)
    return lower_cannot(call, "no shapes");
  bool rows = y->rank == index->rank + x->rank - 1;
  for (unsigned i = 0; i < y->rank && rows; i++)
    rows = y->shape[i] == (i < index->rank ? index->shape[i] : x->shape[1 + i - index->rank]);
  if (!rows)
    return lower_cannot(call, "only rows of a table can be gathered");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "count", index->shape, index->rank);
  lower_arg_dtype(call, "dtype", x);
  lower_arg_dtype(call, "dtype1", index);
  /* The vendor's kernel moves a row at a time, as its MTE2 is busy for the latency of each; on the
   * coupled cores of the Ascend910B rows take a fifth of that latency, so that several are joined.
   */
  if (!call->soc || emit_cube_core(call->soc) != emit_vector_core(call->soc))
    lower_arg(call, "rows=1");
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(gather, "Gather|GatherV2|GatherV2D|GatherV3|Embedding|Index|PagedCacheLoadNdKernel",
               "y = rows of x by the indices x1, for times taken to be (first + i * step) % rows",
               keys, &template, NULL, call_gather)
