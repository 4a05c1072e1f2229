/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool_with_argmax and its gradient. Which point of its window is the largest is kept as a mask
 * for each point: a bit per channel, so 16 bits of each pixel of the result when C0 is 16. Among
 * equals the first point counts. Masks of a point are padded to whole fractals of 16 words, and
 * another fractal, as in the vendor's operators.
 *
 * The gradient goes the other way: it selects what each point gets, and adds it to the image.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/maps/pool.h"

enum { WORD_BYTES = 2, WORDS = 16, C0 = 16, BURST_GAP_MAX = 65535 };
enum { MASK_FLAG = 2 };

static const struct lower_key keys[] = {POOL_KEYS("fp16|fp32"), VTILE_KEYS_TABLE};
static const struct lower_key grad_keys[] = {
    POOL_KEYS("fp16|fp32"),
    WORD_KEY("masks", "all", "all|one",
             "come in together with x, or each when its point's turn is"),
    VTILE_KEYS_TABLE};

/* Rows of dy whose windows touch a tile. */
struct touched {
  struct expr first, rows, bytes; /* bytes: of their masks */
};

struct argmax {
  struct pool pool; /* first */
  bool backward, one_mask;
  uint64_t points, mask_words; /* of the window; words of a map's masks for one point */
  uint64_t masks;              /* in the buffer */
  uint64_t mask_pitch;         /* bytes of a tile's masks for one point */
  uint64_t column, spare, left_over, zero;
  /* Backward: columns and rows of the image that a tile's windows may touch. */
  uint64_t dy_rows, image_rows, image_cols, image;
  struct touched dy; /* of the text */
};

static uint64_t pixel_bytes(const struct argmax *argmax) {
  return pool_pixel_bytes(&argmax->pool, argmax->pool.type);
}

static void lay_out_forward(struct vtile *tile) {
  struct argmax *argmax = (struct argmax *)tile;
  struct pool *pool = &argmax->pool;
  uint64_t used = pool_lay_out(pool);
  /* The masks follow the result in each buffer, so what is behind the buffers moves on. */
  argmax->mask_pitch = vtile_pitch(tile->rows * tile->cols, WORD_BYTES) * (uint64_t)WORD_BYTES;
  uint64_t masks = vtile_align(argmax->points * argmax->mask_pitch);
  argmax->masks = tile->slot_bytes;
  tile->slot_bytes += masks;
  used += masks * tile->buffers;
  if (pool->folded)
    pool->folded += masks * tile->buffers;
  argmax->column = vtile_reserve(&used, tile->rows * tile->cols * pixel_bytes(argmax));
  argmax->spare = vtile_reserve(&used, argmax->mask_pitch);
  argmax->left_over = vtile_reserve(&used, argmax->mask_pitch);
  tile->ub_bytes = used;
}

/* Rows of dy whose windows touch a number of rows of the image. */
static uint64_t touching(uint64_t rows, uint64_t kernel, uint64_t stride, uint64_t all) {
  return min_u64((rows + kernel - 2) / stride + 1, all);
}

static void lay_out_backward(struct vtile *tile) {
  struct argmax *argmax = (struct argmax *)tile;
  struct pool *pool = &argmax->pool;
  uint64_t pixel = pixel_bytes(argmax), slot = 0;
  argmax->dy_rows = touching(tile->rows, pool->kh, pool->sh, pool->oh);
  argmax->image_rows = tile->rows + 2 * (pool->kh - 1);
  argmax->image_cols = max_u64(pool->left + pool->w, (pool->ow - 1) * pool->sw + pool->kw);
  argmax->mask_pitch = vtile_pitch(argmax->dy_rows * pool->ow, WORD_BYTES) * (uint64_t)WORD_BYTES;
  pool->in_rows = argmax->dy_rows;
  pool->in_cols = pool->ow;
  (void)vtile_reserve(&slot, argmax->dy_rows * pool->ow * pixel);
  argmax->masks =
      vtile_reserve(&slot, (argmax->one_mask ? 1 : argmax->points) * argmax->mask_pitch);
  argmax->image = vtile_reserve(&slot, argmax->image_rows * argmax->image_cols * pixel);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  argmax->column = vtile_reserve(&used, argmax->dy_rows * pool->ow * pixel);
  argmax->zero = vtile_reserve(&used, BLOCK_BYTES);
  tile->ub_bytes = used;
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct argmax *argmax = (const struct argmax *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t rows = (tile->space.rows - 1) % tile->rows + 1;
  uint64_t bytes = rows * argmax->pool.ow * WORD_BYTES;
  if (!argmax->backward && bytes < BLOCK_BYTES &&
      !select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B16))
    return lower_refuse(job, "%s copies whole blocks of %d bytes alone, the mask of a tile has %u",
                        job->soc->name, BLOCK_BYTES, (unsigned)bytes);
  return pool_walks(job, kernel);
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* Bytes of the masks of all maps before this one, and of the rows before one of its rows. */
static struct expr mask_offset(const struct argmax *argmax, struct expr row) {
  const struct pool *pool = &argmax->pool;
  return x_add(
      x_mul(pool->kernel.tile.outer_at[0], argmax->points * argmax->mask_words * WORD_BYTES),
      x_mul(row, pool->ow * WORD_BYTES));
}

/* Masks of a tile: a run of words for all points or for a single point. */
static void put_mask_copy(struct emit *e, const struct argmax *argmax, bool to_gm, struct expr gm,
                          struct expr bytes) {
  struct expr ub = x_add(argmax->pool.kernel.tile.slot, argmax->masks);
  bool one = !to_gm && argmax->one_mask;
  struct expr gm_gap = x_sub(argmax->mask_words * WORD_BYTES, bytes);
  struct expr ub_gap =
      x_div(x_sub(argmax->mask_pitch, x_round_up(bytes, BLOCK_BYTES)), BLOCK_BYTES);
  EMIT(e, vtile_copy_name(to_gm, DTYPE_UINT16), F("dst", to_gm ? gm : ub),
       F("src", to_gm ? ub : gm), F_IF(!one, "n_burst", argmax->points), F("len_burst", bytes),
       F_IF(!to_gm, "right_pad", vtile_pad(bytes, DTYPE_UINT16)),
       F_IF(!one, "src_gap", to_gm ? ub_gap : gm_gap),
       F_IF(!one, "dst_gap", to_gm ? gm_gap : ub_gap));
}

/* The lanes of a row that pool_each_row() takes at once. */
static uint64_t row_lanes(const struct pool *pool) {
  return pool->ow * pool->c0 / (pool->sw > 1 ? pool_blocks(pool, pool->type) : 1);
}

/* ---- forward --------------------------------------------------------------------------------- */

static void put_words(struct emit *e, const char *inst, struct expr dst, struct expr src0,
                      struct expr src1) {
  EMIT(e, inst, F("dst", dst), F("src0", src0), F("src1", src1), F("repeat", 1),
       W("type", "uint16"));
  emit_barrier(e, PIPE_V);
}

/*
 * For each point: its pixels as they stand in the result, their comparison with the largest, less
 * those that an earlier point was.
 */
static void put_masks(struct pool_walk *walk, const struct argmax *argmax) {
  struct emit *e = walk->e;
  const struct pool *pool = &argmax->pool;
  const struct vtile *tile = &pool->kernel.tile;
  uint64_t pixel = pixel_bytes(argmax);
  struct expr pixels = x_mul(tile->n_rows, pool->ow);
  struct expr spare = EXPR(argmax->spare), left_over = EXPR(argmax->left_over);
  vmask_count(e, pixels);
  vfill(e, left_over, 65535, "uint16");
  struct expr p = emit_for(e, "p", argmax->points);
  struct expr ki = emit_assigned(e, "ki", x_div(p, pool->kw));
  struct expr kj = emit_assigned(e, "kj", x_mod(p, pool->kw));
  struct expr mask =
      emit_named(e, "mask", x_add(x_add(tile->slot, argmax->masks), x_mul(p, argmax->mask_pitch)));
  struct expr row = x_add(x_mul(walk->r, pool->sh), ki);
  struct pool_row from = {x_add(walk->image, x_mul(x_add(x_mul(row, pool->in_cols), kj), pixel)),
                          true};
  struct pool_row to = {x_add(argmax->column, x_mul(walk->r, pool->ow * pixel)), false};
  vmask_count(e, row_lanes(pool));
  pool_each_row(walk, "vmax", tile->n_rows, to, from, from);
  emit_barrier(e, PIPE_V);
  vmask_count(e, x_mul(pixels, C0));
  EMIT(e, "vcmpv_eq", F("dst", mask), F("src0", argmax->column), F("src1", walk->result),
       F("repeat", 1), W("type", dtype_name(pool->type)));
  emit_barrier(e, PIPE_V);
  vmask_count(e, pixels);
  put_words(e, "vand", mask, mask, left_over);
  EMIT(e, "vnot", F("dst", spare), F("src", mask), F("repeat", 1), W("type", "uint16"));
  emit_barrier(e, PIPE_V);
  put_words(e, "vand", left_over, left_over, spare);
  emit_end(e);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  struct argmax *argmax = (struct argmax *)kernel;
  pool_compute(e, kernel);
  put_masks(&argmax->pool.walk, argmax);
}

static void store(struct emit *e, struct vkernel *kernel) {
  struct argmax *argmax = (struct argmax *)kernel;
  const struct vtile *tile = &kernel->tile;
  pool_store(e, kernel);
  struct expr bytes = emit_assigned(e, "bytes", x_mul(tile->n_rows, argmax->pool.ow * WORD_BYTES));
  put_mask_copy(e, argmax, true, x_add(x_name(e, "y1"), mask_offset(argmax, tile->row)), bytes);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Masks of all points, or of the one at an offset. */
static void put_mask_load(struct emit *e, const struct argmax *argmax, struct expr offset) {
  struct expr gm = x_add(x_name(e, "x1"), mask_offset(argmax, argmax->dy.first));
  put_mask_copy(e, argmax, false, x_add(gm, offset), argmax->dy.bytes);
}

static void load_gradient(struct emit *e, struct vkernel *kernel) {
  struct argmax *argmax = (struct argmax *)kernel;
  const struct pool *pool = &argmax->pool;
  const struct vtile *tile = &kernel->tile;
  uint64_t row = pool->ow * pixel_bytes(argmax);
  struct touched dy;
  int64_t reach = (int64_t)(pool->top + pool->sh) - (int64_t)pool->kh;
  dy.first = emit_assigned(e, "dy_first", x_div(x_max(0, x_add(tile->row, reach)), pool->sh));
  struct expr last = x_add(x_sub(x_add(tile->row, tile->n_rows), 1), pool->top);
  dy.rows = emit_assigned(e, "dy_rows",
                          x_sub(x_min(pool->oh, x_add(x_div(last, pool->sh), 1)), dy.first));
  dy.bytes = emit_assigned(e, "bytes", x_mul(dy.rows, pool->ow * WORD_BYTES));
  argmax->dy = dy;
  emit_if(e, "touched", x_gt(dy.rows, 0));
  struct expr from = x_mul(x_add(x_mul(tile->outer_at[0], pool->oh), dy.first), row);
  EMIT(e, "copy_gm_to_ubuf", F("dst", tile->slot), F("src", x_add(x_name(e, "x"), from)),
       F("len_burst", x_mul(dy.rows, row / BLOCK_BYTES)));
  if (!argmax->one_mask)
    put_mask_load(e, argmax, EXPR(0));
  emit_end(e);
}

static void scatter(struct emit *e, struct vkernel *kernel) {
  struct argmax *argmax = (struct argmax *)kernel;
  struct pool_walk *walk = &argmax->pool.walk;
  const struct pool *pool = &argmax->pool;
  const struct touched *dy = &argmax->dy;
  const struct vtile *tile = &kernel->tile;
  const char *type = dtype_name(pool->type);
  uint64_t pixel = pixel_bytes(argmax);
  struct expr image = x_add(tile->slot, argmax->image), masks = x_add(tile->slot, argmax->masks);
  emit_barrier(e, PIPE_V);
  vmask_count(e, argmax->image_rows * argmax->image_cols * C0);
  vfill(e, image, 0, type);
  /* Where the first window begins, in rows of the image, which has a window's overlap before. */
  struct expr start = emit_assigned(
      e, "start",
      x_add(x_sub(x_sub(x_mul(dy->first, pool->sh), pool->top), tile->row), pool->kh - 1));
  struct expr p = emit_for(e, "p", x_mul(argmax->points, x_gt(dy->rows, 0)));
  if (argmax->one_mask) {
    /* Its mask is fetched when a point's turn is, and waited for. */
    emit_handshake(e, PIPE_V, PIPE_MTE2, MASK_FLAG);
    put_mask_load(e, argmax, x_mul(p, argmax->mask_words * WORD_BYTES));
    emit_handshake(e, PIPE_MTE2, PIPE_V, MASK_FLAG);
  }
  vmask_count(e, x_mul(dy->rows, pool->ow * C0));
  EMIT(e, "vsel", F("dst", argmax->column), F("src0", tile->slot), F("src1", argmax->zero),
       F("mask", x_add(masks, x_mul(p, argmax->one_mask ? 0 : argmax->mask_pitch))), F("repeat", 1),
       W("mode", "scalar"), W("type", type));
  emit_barrier(e, PIPE_V);
  vmask_count(e, row_lanes(pool));
  struct expr row = x_add(x_add(start, x_mul(walk->r, pool->sh)), x_div(p, pool->kw));
  struct expr at = x_mul(x_add(x_mul(row, argmax->image_cols), x_mod(p, pool->kw)), pixel);
  struct pool_row to = {x_add(image, at), true};
  struct pool_row from = {x_add(argmax->column, x_mul(walk->r, pool->ow * pixel)), false};
  pool_each_row(walk, "vadd", dy->rows, to, to, from);
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

static void store_image(struct emit *e, struct vkernel *kernel) {
  struct argmax *argmax = (struct argmax *)kernel;
  const struct pool *pool = &argmax->pool;
  const struct vtile *tile = &kernel->tile;
  uint64_t pixel = pixel_bytes(argmax), blocks = pool_blocks(pool, pool->type);
  struct expr to = x_mul(x_add(x_mul(tile->outer_at[0], pool->h), tile->row), pool->w * pixel);
  uint64_t inside = ((pool->kh - 1) * argmax->image_cols + pool->left) * pixel;
  EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(x_name(e, "y"), to)),
       F("src", x_add(tile->slot, argmax->image + inside)), F("n_burst", tile->n_rows),
       F("len_burst", pool->w * blocks), F("src_gap", (argmax->image_cols - pool->w) * blocks));
}

/* ---- operators ------------------------------------------------------------------------------- */

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct argmax *argmax = (struct argmax *)kernel;
  const struct pool *pool = &argmax->pool;
  const uint64_t *shape = lower_get(kernel->job, "shape")->shape;
  const uint64_t masks[] = {shape[0], shape[1], argmax->points, argmax->mask_words / WORDS, WORDS};
  enum { MASK_RANK = sizeof masks / sizeof *masks };
  if (argmax->backward) {
    pool_tensor(e, pool, "x", TENSOR_IN, pool->oh, pool->ow);
    emit_tensor(e, "x1", DTYPE_UINT16, TENSOR_IN, masks, MASK_RANK, NULL);
    pool_tensor(e, pool, "y", TENSOR_OUT, pool->h, pool->w);
  } else {
    pool_tensor(e, pool, "x", TENSOR_IN, pool->h, pool->w);
    pool_tensor(e, pool, "y", TENSOR_OUT, pool->oh, pool->ow);
    emit_tensor(e, "y1", DTYPE_UINT16, TENSOR_OUT, masks, MASK_RANK, NULL);
  }
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  struct argmax *argmax = (struct argmax *)kernel;
  struct pool *pool = &argmax->pool;
  pool->walk = (struct pool_walk){.e = e, .pool = pool, .r = x_name(e, "r")};
  if (argmax->backward) {
    vmask_count(e, BLOCK_BYTES / vtile_bytes(pool->type));
    vfill(e, argmax->zero, 0, dtype_name(pool->type));
  }
  vkernel_tiles(e, kernel);
}

/* What both ways share; load, compute and store are their own. */
#define KIND(lay_out_, load_, compute_, store_)                                                    \
  {                                                                                                \
    .halvings = 4, .whole_rows = true, .lay_out = lay_out_, .split = pool_split, .walks = walks,   \
    .tensors = tensors, .rows = put_rows, .load = load_, .compute = compute_, .store = store_      \
  }
static const struct vkernel_kind forward = KIND(lay_out_forward, pool_load, compute, store);
static const struct vkernel_kind backward =
    KIND(lay_out_backward, load_gradient, scatter, store_image);

static enum vinci_status setup(struct lower_job *job) {
  const struct vkernel_kind *kind = job->op->spec;
  const struct lower_value *one = lower_get(job, "masks");
  struct argmax *argmax = vkernel_new(job, sizeof *argmax, kind);
  if (!argmax)
    return VINCI_E_NOMEM;
  struct pool *pool = &argmax->pool;
  argmax->backward = kind == &backward;
  argmax->one_mask = one && one->word == 1;
  pool->work = lower_get(job, "dtype")->dtype;
  enum vinci_status status = pool_geometry(job, pool);
  if (status != VINCI_OK)
    return status;
  if (pool->c0 != C0)
    return lower_error(job, "C0 is %d, as masks have a word for each pixel", C0);
  argmax->points = pool->kh * pool->kw;
  argmax->mask_words = (ceil_div(pool->oh * pool->ow, WORDS) + 1) * WORDS;
  if (argmax->backward)
    pool->kernel.tile.space = (struct vtile_space){1, {pool->units}, pool->h, pool->w};
  return VINCI_OK;
}

/*
 * The vendor's kernel takes a row of the result at a time and overlaps nothing: its MTE2 and MTE3
 * are busy for the latency of a copy per row, and the times of the pipes add up to its duration.
 */
static bool forward_call(struct lower_call *call) {
  if (call->input_count == 0 || call->output_count == 0)
    return lower_cannot(call, "no shapes");
  lower_arg(call, "rows=1");
  lower_arg(call, "buffers=1");
  return pool_call(call, &call->input[0], &call->output[0]);
}

/*
 * The vendor's operator has the map itself as its first input, which it does not read. Its MTE2 is
 * busy for ten copies per map: dy, and the masks of nine points, of which none overlaps with its
 * use.
 */
static bool backward_call(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "no shapes");
  lower_arg(call, "masks=one");
  lower_arg(call, "buffers=1");
  return pool_call(call, &call->input[0], &call->input[1]);
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(max_pool_with_argmax, "MaxPoolWithArgmax|MaxPoolWithArgmaxV1|MaxPoolWithArgmaxV2",
               "y = largest of each window of x; y1 = masks of where it is", keys, &template,
               &forward, forward_call)
LOWER_OPERATOR(
    max_pool_grad, "MaxPoolGradWithArgmax|MaxPoolGradWithArgmaxV1|MaxPoolGradWithArgmaxV2",
    "y = gradient of the map from that of the result, x, and masks x1; shape is that of y",
    grad_keys, &template, &backward, backward_call)
