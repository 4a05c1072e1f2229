/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling: geometry, layout of UB, tilings; max_pool and avg_pool. */
#include "traces/lower/vector/pool.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum { KERNEL_MAX = 255, REPEAT_STRIDE_MAX = 255, BLOCKS_PER_REPEAT = 8, HALVINGS = 4 };
enum { POOL_RANK = 5, BURST_GAP_MAX = 65535, BURSTS_MAX = 4095 };
enum { KEY_TILING = POOL_KEYS, MAX_KEYS = KEY_TILING + VTILE_KEYS };
enum { KEY_COUNT_PAD = POOL_KEYS, KEY_AVG_TILING, AVG_KEYS = KEY_AVG_TILING + VTILE_KEYS };

static const struct lower_key max_keys[MAX_KEYS] = {
    POOL_KEYS_TABLE("fp16|bf16|fp32"),
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

static const struct lower_key avg_keys[AVG_KEYS] = {
    POOL_KEYS_TABLE("fp16|bf16|fp32"),
    [KEY_COUNT_PAD] = {"count_pad", LOWER_WORD, "1", "0|1", "divides by padding too", false},
    VTILE_KEY_ROWS_TABLE(KEY_AVG_TILING),
};

/* ---- geometry -------------------------------------------------------------------------------- */

static bool pair(const struct lower_value *value, uint64_t *a, uint64_t *b) {
  if (value->rank != 2 || value->shape[0] > KERNEL_MAX || value->shape[1] > KERNEL_MAX)
    return false;
  *a = value->shape[0];
  *b = value->shape[1];
  return true;
}

static bool read_pad(const struct lower_value *value, struct pool *pool) {
  const uint64_t *pad = value->shape;
  if (!value->present)
    return true;
  if (value->rank != 2 && value->rank != 4)
    return false;
  bool sides = value->rank == 4;
  pool->top = pad[0];
  pool->bottom = pad[sides ? 1 : 0];
  pool->left = pad[sides ? 2 : 1];
  pool->right = pad[sides ? 3 : 1];
  return pool->top < pool->kh && pool->bottom < pool->kh && pool->left < pool->kw &&
         pool->right < pool->kw;
}

/* Windows along one dimension; 0: none fits. With ceil, one may start inside and end outside. */
static uint64_t windows(uint64_t extent, uint64_t before, uint64_t after, uint64_t kernel,
                        uint64_t stride, bool ceil) {
  uint64_t all = extent + before + after;
  if (all < kernel)
    return 0;
  uint64_t count = (all - kernel) / stride + 1;
  bool more = ceil && (all - kernel) % stride != 0 && count * stride < extent + before;
  return count + more;
}

enum vinci_status pool_geometry(struct lower_job *job, struct pool *pool) {
  const struct lower_value *value = job->value, *shape = &value[POOL_SHAPE];
  if (shape->rank != POOL_RANK)
    return lower_error(job, "shape has 5 extents: N, C1, H, W, C0");
  pool->type = value[POOL_DTYPE].dtype;
  pool->units = shape->shape[0] * shape->shape[1];
  pool->h = shape->shape[2];
  pool->w = shape->shape[3];
  pool->c0 = shape->shape[4];
  if (pool->c0 * vtile_bytes(pool->type) % BLOCK_BYTES != 0)
    return lower_error(job, "C0 fills whole blocks of %d bytes", BLOCK_BYTES);
  if (!pair(&value[POOL_KERNEL], &pool->kh, &pool->kw))
    return lower_error(job, "kernel is HxW of up to %d", KERNEL_MAX);
  if (!value[POOL_STRIDE].present) {
    pool->sh = pool->kh;
    pool->sw = pool->kw;
  } else if (!pair(&value[POOL_STRIDE], &pool->sh, &pool->sw)) {
    return lower_error(job, "stride is HxW of up to %d", KERNEL_MAX);
  }
  if (!read_pad(&value[POOL_PAD], pool))
    return lower_error(job, "pad is HxW, or four numbers, each below the window's extent");
  bool ceil = value[POOL_CEIL].word == 1;
  pool->oh = windows(pool->h, pool->top, pool->bottom, pool->kh, pool->sh, ceil);
  pool->ow = windows(pool->w, pool->left, pool->right, pool->kw, pool->sw, ceil);
  if (pool->oh == 0 || pool->ow == 0)
    return lower_error(job, "the window is larger than the padded map");
  if (pool->ow == 1) /* there is no next window */
    pool->sw = 1;
  uint64_t blocks = BLOCKS_PER_REPEAT * pool->sw * pool_blocks(pool, DTYPE_FP32);
  if (pool->sw > 1 && blocks > REPEAT_STRIDE_MAX)
    return lower_error(job, "windows are at most %" PRIu64 " columns apart",
                       pool->sw * REPEAT_STRIDE_MAX / blocks);
  pool->tile.prefix = "";
  pool->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  pool->tile.space = (struct vtile_space){1, {pool->units}, pool->oh, pool->ow};
  return VINCI_OK;
}

uint64_t pool_pixel_bytes(const struct pool *pool, enum dtype type) {
  return pool->c0 * vtile_bytes(type);
}

uint64_t pool_blocks(const struct pool *pool, enum dtype type) {
  return pool_pixel_bytes(pool, type) / BLOCK_BYTES;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Counts differ from window to window where padding does not count, or a window ends outside. */
static bool counts_differ(const struct pool *pool) {
  bool pads = pool->top + pool->bottom + pool->left + pool->right > 0;
  return pool->kind == POOL_AVERAGE &&
         ((pads && !pool->counts_pad) ||
          (pool->oh - 1) * pool->sh + pool->kh > pool->h + pool->top + pool->bottom ||
          (pool->ow - 1) * pool->sw + pool->kw > pool->w + pool->left + pool->right);
}

uint64_t pool_lay_out(struct pool *pool) {
  struct vtile *tile = &pool->tile;
  uint64_t raw = pool_pixel_bytes(pool, pool->type), pixel = pool_pixel_bytes(pool, pool->work);
  uint64_t slot = 0;
  pool->in_rows = (tile->rows - 1) * pool->sh + pool->kh;
  pool->in_cols = (tile->cols - 1) * pool->sw + pool->kw;
  (void)vtile_reserve(&slot, pool->in_rows * pool->in_cols * raw);
  pool->out = vtile_reserve(&slot, tile->rows * tile->cols * raw);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  bool converts = pool->work != pool->type;
  pool->wide = converts ? vtile_reserve(&used, pool->in_rows * pool->in_cols * pixel) : 0;
  pool->sums = converts ? vtile_reserve(&used, tile->rows * tile->cols * pixel) : 0;
  pool->folded = pool->kh > 1 ? vtile_reserve(&used, tile->rows * pool->in_cols * pixel) : 0;
  if (counts_differ(pool)) {
    pool->ones = vtile_reserve(&used, pool->in_cols * pixel);
    pool->counts = vtile_reserve(&used, tile->cols * pixel);
    pool->heights = vtile_reserve(&used, pool->kh * BLOCK_BYTES);
  }
  return used;
}

static void lay_out(struct vtile *tile) { tile->ub_bytes = pool_lay_out((struct pool *)tile); }

bool pool_candidate(struct lower_job *job, size_t index) {
  struct pool *pool = job->data;
  struct vtile *tile = &pool->tile;
  if (index > HALVINGS)
    return false;
  tile->buffers = index == HALVINGS ? 1 : 2;
  tile->rows = 1;
  tile->cols = tile->space.cols;
  while (!vtile_fits(job, tile) && tile->cols > 1)
    tile->cols = ceil_div(tile->cols, 2);
  uint64_t most = vtile_most_rows(job, tile, 1, tile->space.rows);
  /* What is read for a pixel of the result makes a core worth it. */
  uint64_t read = max_u64(1, pool->h * pool->w / (pool->oh * pool->ow));
  vtile_split_rows(job->soc, job->cores, tile,
                   (unsigned)(read * pool_pixel_bytes(pool, pool->type)),
                   max_u64(most >> index % HALVINGS, 1));
  vtile_fit(job, tile);
  vtile_give(job, tile);
  return true;
}

bool pool_legal(struct lower_job *job, struct pool *pool) {
  if (pool->w * pool_blocks(pool, pool->type) > BURST_GAP_MAX)
    return lower_refuse(job, "rows of the map have more than %d blocks", BURST_GAP_MAX);
  if (pool->in_rows > BURSTS_MAX)
    return lower_refuse(job, "a copy has at most %d rows", BURSTS_MAX);
  return vtile_ub_holds(job, "the tile", pool->tile.ub_bytes);
}

static uint64_t tile_cycles(const struct pool *pool) {
  uint64_t bytes = pool_pixel_bytes(pool, pool->work);
  uint64_t row = ceil_div(pool->in_cols * bytes, REPEAT_BYTES);
  uint64_t result = ceil_div(pool->tile.cols * bytes, REPEAT_BYTES);
  uint64_t folds = pool->kh > 1 ? (pool->kh - 1) * row : 0;
  return pool->tile.rows * 2 * (folds + pool->kw * result);
}

static bool cost(struct lower_job *job) {
  struct pool *pool = job->data;
  struct vtile *tile = &pool->tile;
  vtile_take(job, tile);
  if (!vtile_count(job, tile))
    return false;
  lay_out(tile);
  if (!pool_legal(job, pool))
    return false;
  uint64_t pixel = pool_pixel_bytes(pool, pool->type);
  struct vtile_work work = {.in_bytes = pool->in_rows * pool->in_cols * pixel,
                            .out_bytes = tile->rows * tile->cols * pixel,
                            .in_copies = 1,
                            .out_copies = 1,
                            .vector_cycles = tile_cycles(pool)};
  vtile_cost(job, tile, &work);
  return true;
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum vinci_status setup(struct lower_job *job) {
  const enum pool_kind kind = *(const enum pool_kind *)job->op->spec;
  struct pool *pool = ARENA_NEW(job->arena, struct pool);
  if (!pool)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  job->data = pool;
  pool->kind = kind;
  pool->tile.lay_out = lay_out;
  pool->counts_pad = kind == POOL_AVERAGE && job->value[KEY_COUNT_PAD].word == 1;
  enum dtype type = job->value[POOL_DTYPE].dtype;
  pool->work = kind == POOL_AVERAGE || type == DTYPE_BF16 ? DTYPE_FP32 : type;
  if (pool->work != type && !vconversion(job->soc, type, pool->work))
    return lower_error(job, "%s has no %s", job->soc->name, dtype_name(type));
  return pool_geometry(job, pool);
}

void pool_tensor(struct emit *e, const struct lower_job *job, const char *name, enum dtype type,
                 enum tensor_io io, uint64_t rows, uint64_t cols) {
  uint64_t shape[POOL_RANK];
  memcpy(shape, job->value[POOL_SHAPE].shape, sizeof shape);
  shape[2] = rows;
  shape[3] = cols;
  emit_tensor(e, name, type, io, shape, POOL_RANK, "NC1HWC0");
}

static void put_heights(struct emit *e, const struct pool *pool) {
  emit_comment(e, "How many rows a window may have.");
  vmask_count(e, BLOCK_BYTES / sizeof(float));
  for (uint64_t i = 0; i < pool->kh; i++)
    vfill(e, pool->heights + i * BLOCK_BYTES, vscalar(DTYPE_FP32, (double)(i + 1)), "fp32");
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct pool *pool = job->data;
  struct vtile *tile = &pool->tile;
  struct pool_walk walk = {.e = e, .pool = pool, .r = x_name(e, "r")};
  vtile_settle(job, tile);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  pool_tensor(e, job, "x", pool->type, TENSOR_IN, pool->h, pool->w);
  pool_tensor(e, job, "y", pool->type, TENSOR_OUT, pool->oh, pool->ow);
  vtile_stream(e, tile, KERNEL_ELEMENTWISE, tile->blocks);
  if (pool->heights)
    put_heights(e, pool);
  vtile_open(e, tile);
  pool_load(&walk);
  vtile_loaded(e, tile);
  pool_compute(&walk);
  vtile_computed(e, tile);
  pool_store(&walk, "y");
  vtile_close(e, tile);
}

bool pool_call(struct lower_call *call, const struct lower_tensor *x,
               const struct lower_tensor *y) {
  uint64_t kernel[2], stride[2];
  if (x->rank != POOL_RANK || y->rank != POOL_RANK)
    return lower_cannot(call, "only NC1HWC0 maps can be pooled");
  for (unsigned i = 0; i < 2; i++) {
    uint64_t in = x->shape[2 + i], out = y->shape[2 + i];
    if (out == 0 || in < out)
      return lower_cannot(call, "the result is larger than the map");
    stride[i] = in / out;
    kernel[i] = in - (out - 1) * stride[i];
  }
  lower_arg_shape(call, "shape", x->shape, POOL_RANK);
  lower_arg_shape(call, "kernel", kernel, 2);
  lower_arg_shape(call, "stride", stride, 2);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static bool from_tensors(struct lower_call *call) {
  if (call->input_count == 0 || call->output_count == 0)
    return lower_cannot(call, "no shapes");
  return pool_call(call, &call->input[0], &call->output[0]);
}

#define OPERATOR(id, vendor, summary, prefix, count, kind_)                                        \
  const struct lower_op lower_##id = {                                                             \
      .name = #id,                                                                                 \
      .vendor_types = vendor,                                                                      \
      .text = summary,                                                                             \
      .keys = prefix##_keys,                                                                       \
      .key_count = count,                                                                          \
      .spec = &(const enum pool_kind){kind_},                                                      \
      .setup = setup,                                                                              \
      .candidate = pool_candidate,                                                                 \
      .cost = cost,                                                                                \
      .emit = emit,                                                                                \
      .from_tensors = from_tensors,                                                                \
  };

OPERATOR(max_pool, "MaxPool|MaxPoolV2|MaxPoolV3|MaxPoolExt2", "y = largest of each window of x",
         max, MAX_KEYS, POOL_MAX)
OPERATOR(avg_pool, "AvgPool|AvgPoolV2", "y = mean of each window of x", avg, AVG_KEYS, POOL_AVERAGE)
