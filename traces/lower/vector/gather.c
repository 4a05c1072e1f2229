/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather: rows of a table by a list of indices. Traces have no addresses that depend on data, so
 * the indices are a stated series, (first + i * step) modulo the rows of the table. The list is
 * copied to UB and waited for, as kernels do that read it, but what it holds changes nothing.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/vector/tiles.h"

enum { KEY_SHAPE, KEY_COUNT, KEY_FIRST, KEY_STEP, KEY_DTYPE, KEY_DTYPE1, KEY_TILING };
enum { GATHER_KEYS = KEY_TILING + VTILE_KEYS };
enum { COPY_BYTES = 65536, HALVINGS = 3, INDEX_FLAG = 2 };

static const struct lower_key keys[GATHER_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of the table: its rows first", false},
    [KEY_COUNT] = {"count", LOWER_SHAPE, NULL, NULL, "extents of the indices", false},
    [KEY_FIRST] = {"first", LOWER_SIZE, "0", "0", "the first index", false},
    [KEY_STEP] = {"step", LOWER_SIZE, "7919", "0",
                  "from one index to the next, modulo the rows of the table", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|int8|uint8|int16|int32|int64",
                   "type of x and y", false},
    [KEY_DTYPE1] = {"dtype1", LOWER_DTYPE, "int32", "int32|int64", "type of the indices", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

struct gather {
  struct vtile tile; /* first: lay_out() is given its address */
  struct vtile_operand index, out;
  uint64_t table_rows;
  uint64_t out_shape[TENSOR_RANK_MAX];
  unsigned out_rank;
};

static void lay_out(struct vtile *tile) {
  struct gather *gather = (struct gather *)tile;
  unsigned bytes = vtile_bytes(gather->out.dtype);
  gather->out.pitch = vtile_pitch(tile->cols, bytes);
  gather->index.address = vtile_align(tile->rows * gather->out.pitch * bytes);
  tile->slot_bytes =
      gather->index.address + vtile_align(tile->rows * vtile_bytes(gather->index.dtype));
  tile->ub_bytes = tile->slot_bytes * tile->buffers;
}

static enum vinci_status gather_setup(struct lower_job *job) {
  const struct lower_value *shape = &job->value[KEY_SHAPE], *count = &job->value[KEY_COUNT];
  struct gather *gather = ARENA_NEW(job->arena, struct gather);
  if (!gather)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  job->data = gather;
  gather->out_rank = count->rank + shape->rank - 1;
  if (gather->out_rank > TENSOR_RANK_MAX)
    return lower_error(job, "y has at most %d dimensions", TENSOR_RANK_MAX);
  memcpy(gather->out_shape, count->shape, count->rank * sizeof *count->shape);
  memcpy(gather->out_shape + count->rank, shape->shape + 1,
         (shape->rank - 1) * sizeof *shape->shape);
  uint64_t cols = lower_elements(shape->shape + 1, shape->rank - 1);
  gather->table_rows = shape->shape[0];
  gather->tile.space =
      (struct vtile_space){.rows = lower_elements(count->shape, count->rank), .cols = cols};
  gather->tile.prefix = "";
  gather->tile.lay_out = lay_out;
  gather->tile.parts = VTILE_LOADS | VTILE_STORES;
  gather->index =
      (struct vtile_operand){.name = "x1", .dtype = job->value[KEY_DTYPE1].dtype, .row_stride = 1};
  gather->out = (struct vtile_operand){
      .name = "y", .dtype = job->value[KEY_DTYPE].dtype, .row_stride = cols, .col_stride = 1};
  return VINCI_OK;
}

static bool candidate(struct lower_job *job, size_t index) {
  struct gather *gather = job->data;
  struct vtile *tile = &gather->tile;
  unsigned bytes = vtile_bytes(gather->out.dtype);
  uint64_t most = (uint64_t)(COPY_BYTES >> index % HALVINGS) / bytes;
  if (index > HALVINGS)
    return false;
  tile->buffers = index == HALVINGS ? 1 : 2;
  tile->cols = min_u64(tile->space.cols, most);
  vtile_split_rows(job->soc, job->cores, tile, bytes,
                   max_u64(1, most / vtile_pitch(tile->cols, bytes)));
  vtile_fit(job, tile);
  vtile_give(job, tile);
  return true;
}

static bool cost(struct lower_job *job) {
  struct gather *gather = job->data;
  struct vtile *tile = &gather->tile;
  vtile_take(job, tile);
  if (!vtile_copies_bytes(job) || !vtile_count(job, tile) || !vtile_in_ub(job, tile))
    return false;
  uint64_t bytes = tile->rows * tile->cols * vtile_bytes(gather->out.dtype);
  struct vtile_work work = {.in_bytes = bytes + tile->rows * vtile_bytes(gather->index.dtype),
                            .out_bytes = bytes,
                            .in_copies = tile->rows + 1,
                            .out_copies = 1,
                            .code = KERNEL_SLICE};
  vtile_cost(job, tile, &work);
  return true;
}

/* A copy for each row: where it lies is known when the index is. */
static void put_rows(const struct lower_job *job, struct emit *e, const struct gather *gather) {
  const struct vtile *tile = &gather->tile;
  const struct lower_value *value = job->value;
  enum dtype type = gather->out.dtype;
  uint64_t bytes = vtile_bytes(type);
  emit_handshake(e, PIPE_MTE2, PIPE_S, INDEX_FLAG);
  struct expr r = emit_for(e, "r", tile->n_rows);
  struct expr place = x_mul(x_add(tile->row, r), value[KEY_STEP].size % gather->table_rows);
  struct expr index =
      emit_assigned(e, "index", x_mod(x_add(value[KEY_FIRST].size, place), gather->table_rows));
  vtile_load_run(
      e, type, x_add(tile->slot, x_mul(r, gather->out.pitch * bytes)),
      x_add(x_add(x_name(e, "x"), x_mul(index, tile->space.cols * bytes)), x_mul(tile->col, bytes)),
      tile->n_cols);
  emit_end(e);
}

static void emit(const struct lower_job *job, struct emit *e) {
  const struct lower_value *shape = &job->value[KEY_SHAPE], *count = &job->value[KEY_COUNT];
  struct gather *gather = job->data;
  struct vtile *tile = &gather->tile;
  vtile_settle(job, tile);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  emit_tensor(e, "x", gather->out.dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "x1", gather->index.dtype, TENSOR_IN, count->shape, count->rank, NULL);
  emit_tensor(e, "y", gather->out.dtype, TENSOR_OUT, gather->out_shape, gather->out_rank, NULL);
  emit_buffer(e, "buf", SPACE_UB, tile->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, KERNEL_SLICE, tile->blocks);
  vtile_open(e, tile);
  vtile_load(e, tile, &gather->index);
  put_rows(job, e, gather);
  vtile_loaded(e, tile);
  vtile_computed(e, tile);
  vtile_store(e, tile, &gather->out);
  vtile_close(e, tile);
}

/* The axis is a value that profiles lack; rows of the table are told by the shape of the result. */
static bool call_gather(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *index = &call->input[1], *y = &call->output[0];
  if (call->input_count < 2 || call->output_count == 0 || x->rank == 0 || index->rank == 0)
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
  /* The vendor's kernel moves a row at a time, as its MTE2 is busy for the latency of each. */
  lower_arg(call, "rows=1");
  return true;
}

const struct lower_op lower_gather = {
    .name = "gather",
    .vendor_types = "Gather|GatherV2|GatherV2D|GatherV3|Embedding",
    .text = "y = rows of x by the indices x1, taken to be (first + i * step) % rows",
    .keys = keys,
    .key_count = GATHER_KEYS,
    .setup = gather_setup,
    .candidate = candidate,
    .cost = cost,
    .emit = emit,
    .from_tensors = call_gather,
};
