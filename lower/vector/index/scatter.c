/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter: rows to where a list of indices says, in place of what is there or added to that. As for
 * gather, the scalar unit reads the list in UB, and for times the indices are a stated series,
 * (first + i * step) modulo the rows of the table. Sums are atomic stores: their order is open.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/select/select.h"
#include "lower/vector/index/indexed.h"

#define KEYS(step_, types_)                                                                        \
  {                                                                                                \
    SHAPE_KEY("extents of the table: its rows first"),                                             \
        LOWER_KEY("count", SHAPE, NULL, NULL, "extents of the indices"),                           \
        LOWER_KEY("first", SIZE, "0", "0", "the first index"),                                     \
        LOWER_KEY("step", SIZE, step_, "0",                                                        \
                  "from one index to the next, modulo the rows of the table"),                     \
        DTYPE_KEY("fp32", types_, "type of x and y"),                                              \
        LOWER_KEY("dtype1", DTYPE, "int32", "int32|int64", "type of the indices"),                 \
        VTILE_KEYS_TABLE                                                                           \
  }
static const struct lower_key update_keys[] =
    KEYS("1", "fp16|bf16|fp32|int8|uint8|int16|int32|int64");
static const struct lower_key add_keys[] = KEYS("7919", "fp16|bf16|fp32|int32");

struct scatter_func {
  bool adds;
};

struct scatter {
  struct indexed_rows indexed; /* first */
  const struct scatter_func *func;
};

/* A copy for each row. Of a row that ends inside a block the end is stored twice, which sums do
 * not bear. */
static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct scatter *scatter = (const struct scatter *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t row = tile->space.cols * kernel->element_bytes;
  uint64_t run = ((tile->space.cols - 1) % tile->cols + 1) * kernel->element_bytes;
  if (!select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) &&
      (scatter->func->adds ? row % BLOCK_BYTES != 0 : run < BLOCK_BYTES))
    return lower_refuse(job, "%s copies whole blocks of %d bytes alone, rows have %u",
                        job->soc->name, BLOCK_BYTES, (unsigned)row);
  return true;
}

static void load(struct emit *e, struct vkernel *kernel) {
  vkernel_load(e, kernel);
  emit_handshake(e, PIPE_MTE2, PIPE_S, INDEXED_FLAG);
}

static void store(struct emit *e, struct vkernel *kernel) {
  const struct indexed_rows *indexed = (struct indexed_rows *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct expr r = emit_for(e, "r", tile->n_rows);
  struct expr place = indexed_place(e, indexed, "y", r);
  vtile_store_run(e, indexed->rows.dtype, place,
                  x_add(tile->slot, x_mul(r, indexed->rows.pitch * kernel->element_bytes)),
                  tile->n_cols);
  emit_end(e);
}

static enum isa_op atomic_type(enum dtype type) {
  return type == DTYPE_FP32   ? OP_SET_ATOMIC_F32
         : type == DTYPE_FP16 ? OP_SET_ATOMIC_F16
         : type == DTYPE_BF16 ? OP_SET_ATOMIC_BF16
                              : OP_SET_ATOMIC_S32;
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct scatter *scatter = (struct scatter *)kernel;
  if (scatter->func->adds) {
    emit_plain(e, "set_atomic_add");
    emit_plain(e, isa_row(atomic_type(scatter->indexed.rows.dtype))->name);
  }
  vkernel_tiles(e, kernel);
  if (scatter->func->adds)
    emit_plain(e, "set_atomic_none");
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct scatter *scatter = (struct scatter *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const struct lower_value *count = lower_get(kernel->job, "count");
  const uint64_t rows[] = {kernel->tile.space.rows, kernel->tile.space.cols};
  emit_tensor(e, "x", scatter->indexed.rows.dtype, TENSOR_IN, rows, 2, NULL);
  emit_tensor(e, "x1", scatter->indexed.index.dtype, TENSOR_IN, count->shape, count->rank, NULL);
  emit_tensor(e, "y", scatter->indexed.rows.dtype, TENSOR_INOUT, shape->shape, shape->rank, NULL);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* Rows that two cores write, and do not add to, would hold the one or the other. */
static enum vinci_status check_rows(struct lower_job *job, const struct scatter *scatter) {
  uint64_t rows = scatter->indexed.table_rows, count = scatter->indexed.kernel.tile.space.rows;
  uint64_t different = rows / common_divisor(rows, lower_get(job, "step")->size % rows);
  if (!scatter->func->adds && count > different)
    return lower_error(job,
                       "%" PRIu64 " indices are more than the %" PRIu64 " rows that they differ in",
                       count, different);
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 3,
                                           .only_moves = true,
                                           .lay_out = indexed_lay_out,
                                           .split = indexed_split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .load = load,
                                           .store = store};
  const struct lower_value *shape = lower_get(job, "shape"), *count = lower_get(job, "count");
  struct scatter *scatter = vkernel_new(job, sizeof *scatter, &kind);
  if (!scatter)
    return VINCI_E_NOMEM;
  uint64_t cols = lower_elements(shape->shape + 1, shape->rank - 1);
  const uint64_t moved[] = {lower_elements(count->shape, count->rank), cols};
  enum vinci_status status = lower_bounded(job, moved, 2);
  if (status != VINCI_OK)
    return status;
  scatter->func = job->op->spec;
  enum dtype type = lower_get(job, "dtype")->dtype;
  if (scatter->func->adds && !select_has(job->soc, atomic_type(type)))
    return lower_error(job, "not for %s: its stores add no %s", arch_name(job->soc->arch),
                       dtype_name(type));
  indexed_fill(job, &scatter->indexed, "x", cols);
  scatter->indexed.kernel.in[1] = &scatter->indexed.rows;
  return check_rows(job, scatter);
}

/* Keys and values of some tokens into rows of both caches: key, value, caches, slots. As one table
 * of the rows of both caches. */
static bool call_caches(struct lower_call *call) {
  enum { IN_KEY, IN_VALUE, IN_KEYS, IN_VALUES, IN_SLOTS };
  const struct lower_tensor *key = &call->input[IN_KEY], *keys = &call->input[IN_KEYS];
  const struct lower_tensor *slots = &call->input[IN_SLOTS], *value = &call->input[IN_VALUE];
  if (call->input_count <= IN_SLOTS || key->rank < 2 || keys->rank < 3 || slots->rank == 0)
    return lower_cannot(call, "keys, values, two caches and slots are needed");
  uint64_t tokens = lower_elements(slots->shape, slots->rank);
  uint64_t width = lower_elements(key->shape + 1, key->rank - 1);
  if (key->shape[0] != tokens || lower_elements(value->shape, value->rank) != tokens * width ||
      lower_elements(keys->shape, keys->rank) % width)
    return lower_cannot(call, "keys and values of one width are modelled, a slot for each");
  lower_arg(call, "shape=%" PRIu64 "x%" PRIu64, 2 * lower_elements(keys->shape, keys->rank) / width,
            width);
  lower_arg(call, "count=%" PRIu64, 2 * tokens);
  lower_arg_dtype(call, "dtype", key);
  lower_arg(call, "dtype1=int32");
  return true;
}

/* The table, indices, rows; of IndexPutV2 the table, rows, two lists, indices; ScatterNdUpdate has
 * one index in each row of indices. */
static bool from_tensors(struct lower_call *call) {
  enum { IN_PUT_INDEX = 4 };
  bool put = strcmp(call->type, "IndexPutV2") == 0, nd = strstr(call->type, "ScatterNd") != NULL;
  if (strncmp(call->type, "ReshapeAndCache", sizeof "ReshapeAndCache" - 1) == 0)
    return call_caches(call);
  if (call->input_count < (put ? IN_PUT_INDEX + 1u : 3u) || call->input[0].rank == 0)
    return lower_cannot(call, "a table, indices and rows are needed");
  const struct lower_tensor *table = &call->input[0], *x = &call->input[put ? 1 : 2];
  struct lower_tensor *index = &call->input[put ? IN_PUT_INDEX : 1];
  if (nd && (index->rank < 2 || index->shape[index->rank - 1] != 1))
    return lower_cannot(call, "only whole rows of a table can be scattered");
  index->rank -= nd;
  if (index->rank == 0)
    return lower_cannot(call, "a table, indices and rows are needed");
  uint64_t count = lower_elements(index->shape, index->rank);
  if (lower_elements(x->shape, x->rank) !=
      count * lower_elements(table->shape + 1, table->rank - 1))
    return lower_cannot(call, "only whole rows of a table can be scattered");
  lower_arg_shape(call, "shape", table->shape, table->rank);
  lower_arg_shape(call, "count", index->shape, index->rank);
  lower_arg_dtype(call, "dtype", x);
  lower_arg_dtype(call, "dtype1", index);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);
#define SCATTER(id, vendor, summary, keys, ...)                                                    \
  LOWER_OPERATOR(id, vendor, summary, keys, &template,                                             \
                 (&(const struct scatter_func){__VA_ARGS__}), from_tensors)

SCATTER(
    scatter_update,
    "ScatterUpdate|InplaceUpdate|InplaceIndexCopy|ScatterNdUpdate|IndexPutV2|"
    "ReshapeAndCacheNdKernel|ReshapeAndCache",
    "rows of y by the indices x1, all different, become those of x; for times indices are taken to "
    "be (first + i * step) % rows",
    update_keys, .adds = false)
SCATTER(
    scatter_add, "ScatterAdd|InplaceIndexAdd",
    "rows of x are added to rows of y by the indices x1, for times taken to be (first + i * step) "
    "% rows",
    add_keys, .adds = true)
