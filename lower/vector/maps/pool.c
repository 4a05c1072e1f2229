/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling: geometry, layout of UB, tilings; max_pool and avg_pool. */
#include "lower/vector/maps/pool.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum { KERNEL_MAX = 255, REPEAT_STRIDE_MAX = 255, BLOCKS_PER_REPEAT = 8 };
enum { POOL_RANK = 5, BURST_GAP_MAX = 65535, BURSTS_MAX = 4095 };

static const struct lower_key max_keys[] = {POOL_KEYS("fp16|bf16|fp32"), VTILE_KEYS_TABLE};
static const struct lower_key avg_keys[] = {
    POOL_KEYS("fp16|bf16|fp32"), WORD_KEY("count_pad", "1", "0|1", "divides by padding too"),
    VTILE_KEYS_TABLE};

/* ---- geometry -------------------------------------------------------------------------------- */

static bool pair(const struct lower_value *value, uint64_t *a, uint64_t *b) {
  if (value->rank != 2 || value->shape[0] > KERNEL_MAX || value->shape[1] > KERNEL_MAX)
    return false;
  *a = value->shape[0];
  *b = value->shape[1];
  return true;
}

static bool read_pad(const struct lower_value *value, struct pool *pool) {
  if (!value)
    return true;
  if (value->rank != 2 && value->rank != 4)
    return false;
  const uint64_t *pad = value->shape;
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
  const struct lower_value *shape = lower_get(job, "shape"), *stride = lower_get(job, "stride");
  if (shape->rank != POOL_RANK)
    return lower_error(job, "shape has 5 extents: N, C1, H, W, C0");
  pool->type = lower_get(job, "dtype")->dtype;
  pool->units = shape->shape[0] * shape->shape[1];
  pool->h = shape->shape[2];
  pool->w = shape->shape[3];
  pool->c0 = shape->shape[4];
  if (pool->c0 * vtile_bytes(pool->type) % BLOCK_BYTES != 0)
    return lower_error(job, "C0 fills whole blocks of %d bytes", BLOCK_BYTES);
  if (!pair(lower_get(job, "kernel"), &pool->kh, &pool->kw))
    return lower_error(job, "kernel is HxW of up to %d", KERNEL_MAX);
  if (!stride) {
    pool->sh = pool->kh;
    pool->sw = pool->kw;
  } else if (!pair(stride, &pool->sh, &pool->sw)) {
    return lower_error(job, "stride is HxW of up to %d", KERNEL_MAX);
  }
  if (!read_pad(lower_get(job, "pad"), pool))
    return lower_error(job, "pad is HxW, or four numbers, each below the window's extent");
  bool ceil = lower_get(job, "ceil")->word == 1;
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
  /* A core is worth its start by what is read for a pixel of the result. */
  pool->kernel.element_bytes =
      max_u64(1, pool->h * pool->w / (pool->oh * pool->ow)) * pool_pixel_bytes(pool, pool->type);
  pool->kernel.tile.space = (struct vtile_space){1, {pool->units}, pool->oh, pool->ow};
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
  struct vtile *tile = &pool->kernel.tile;
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

void pool_split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  while (!vtile_fits(job, tile) && tile->cols > 1)
    tile->cols = ceil_div(tile->cols, 2);
  vkernel_split_rows(job, kernel, halvings);
}

bool pool_walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct pool *pool = (const struct pool *)kernel;
  if (pool->w * pool_blocks(pool, pool->type) > BURST_GAP_MAX)
    return lower_refuse(job, "rows of the map have more than %d blocks", BURST_GAP_MAX);
  if (pool->in_rows > BURSTS_MAX)
    return lower_refuse(job, "a copy has at most %d rows", BURSTS_MAX);
  return true;
}

/* ---- operators ------------------------------------------------------------------------------- */

void pool_tensor(struct emit *e, const struct pool *pool, const char *name, enum tensor_io io,
                 uint64_t rows, uint64_t cols) {
  uint64_t shape[POOL_RANK];
  memcpy(shape, lower_get(pool->kernel.job, "shape")->shape, sizeof shape);
  shape[2] = rows;
  shape[3] = cols;
  emit_tensor(e, name, pool->type, io, shape, POOL_RANK, "NC1HWC0");
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct pool *pool = (struct pool *)kernel;
  pool_tensor(e, pool, "x", TENSOR_IN, pool->h, pool->w);
  pool_tensor(e, pool, "y", TENSOR_OUT, pool->oh, pool->ow);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  struct pool *pool = (struct pool *)kernel;
  if (pool->heights) {
    emit_comment(e, "How many rows a window may have.");
    vmask_count(e, BLOCK_BYTES / sizeof(float));
    for (uint64_t i = 0; i < pool->kh; i++)
      vfill(e, pool->heights + i * BLOCK_BYTES, vscalar(DTYPE_FP32, (double)(i + 1)), "fp32");
  }
  pool->walk = (struct pool_walk){.e = e, .pool = pool, .r = x_name(e, "r")};
  vkernel_tiles(e, kernel);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .lay_out = lay_out,
                                           .split = pool_split,
                                           .walks = pool_walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .load = pool_load,
                                           .compute = pool_compute,
                                           .store = pool_store};
  const enum pool_kind *of = job->op->spec;
  const struct lower_value *count_pad = lower_get(job, "count_pad");
  struct pool *pool = vkernel_new(job, sizeof *pool, &kind);
  if (!pool)
    return VINCI_E_NOMEM;
  pool->kind = *of;
  pool->counts_pad = count_pad && count_pad->word == 1;
  enum dtype type = lower_get(job, "dtype")->dtype;
  pool->work = pool->kind == POOL_AVERAGE || type == DTYPE_BF16 ? DTYPE_FP32 : type;
  if (pool->work != type && !vconversion(job->soc, type, pool->work))
    return lower_error(job, "%s has no %s", job->soc->name, dtype_name(type));
  return pool_geometry(job, pool);
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

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(max_pool, "MaxPool|MaxPoolV2|MaxPoolV3|MaxPoolExt2",
               "y = largest of each window of x", max_keys, &template,
               &(const enum pool_kind){POOL_MAX}, from_tensors)
LOWER_OPERATOR(avg_pool, "AvgPool|AvgPoolV2", "y = mean of each window of x", avg_keys, &template,
               &(const enum pool_kind){POOL_AVERAGE}, from_tensors)
