/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool_with_argmax and its gradient. Which point of its window is the largest is kept as a mask
 * for each point: a bit per channel, so 16 bits of each pixel of the result when C0 is 16. Among
 * equals the first point counts. Masks of a point are padded to whole fractals of 16 words, and one
 * more, as the vendor's operators have it.
 *
 * The gradient goes the other way: it selects what each point gets, and adds it to the image.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "traces/lower/vector/pool.h"

typedef unsigned long long ull;

enum { WORD_BYTES = 2, WORDS = 16, C0 = 16, BURST_GAP_MAX = 65535 };
enum { KEY_TILING = POOL_KEYS, ARGMAX_KEYS = KEY_TILING + VTILE_KEYS };
enum { KEY_MASKS = POOL_KEYS, GRAD_KEYS = KEY_MASKS + 1 + VTILE_KEYS, MASK_FLAG = 2 };

static const struct lower_key keys[ARGMAX_KEYS] = {
    POOL_KEYS_TABLE("fp16|fp32"),
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

static const struct lower_key grad_keys[GRAD_KEYS] = {
    POOL_KEYS_TABLE("fp16|fp32"),
    [KEY_MASKS] = {"masks", LOWER_WORD, "all", "all|one",
                   "come in together with x, or each when its point's turn is", false},
    VTILE_KEY_ROWS_TABLE(KEY_MASKS + 1),
};

struct argmax {
  struct pool pool; /* first: pool_candidate() knows no more */
  bool backward, one_mask;
  uint64_t points, mask_words; /* of the window; words of a map's masks for one point */
  uint64_t masks;              /* in the buffer */
  uint64_t mask_pitch;         /* bytes of a tile's masks for one point */
  uint64_t column, spare, left_over, zero;
  /* Backward: columns and rows of the image that a tile's windows may touch. */
  uint64_t dy_rows, image_rows, image_cols, image;
};

static uint64_t pixel_bytes(const struct argmax *argmax) {
  return pool_pixel_bytes(&argmax->pool, argmax->pool.type);
}

static void lay_out_forward(struct pool *pool) {
  struct argmax *argmax = (struct argmax *)pool;
  struct vtile *tile = &pool->tile;
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
  pool->ub_bytes = used;
}

/* Rows of dy whose windows touch so many rows of the image. */
static uint64_t touching(uint64_t rows, uint64_t kernel, uint64_t stride, uint64_t all) {
  return min_u64((rows + kernel - 2) / stride + 1, all);
}

static void lay_out_backward(struct pool *pool) {
  struct argmax *argmax = (struct argmax *)pool;
  struct vtile *tile = &pool->tile;
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
  pool->ub_bytes = used;
}

static void lay_out(struct pool *pool) {
  if (((struct argmax *)pool)->backward)
    lay_out_backward(pool);
  else
    lay_out_forward(pool);
}

static bool candidate(struct lower_job *job, size_t index) {
  struct argmax *argmax = job->data;
  return pool_candidate(job, &argmax->pool, index, lay_out);
}

static uint64_t tile_cycles(const struct argmax *argmax) {
  const struct pool *pool = &argmax->pool;
  uint64_t pixels = argmax->backward ? argmax->dy_rows * pool->ow : pool->tile.rows * pool->ow;
  uint64_t repeats = ceil_div(pixels * pixel_bytes(argmax), REPEAT_BYTES);
  return argmax->points * repeats * 6;
}

static bool cost(struct lower_job *job) {
  struct argmax *argmax = job->data;
  struct pool *pool = &argmax->pool;
  struct vtile *tile = &pool->tile;
  vtile_take(job, tile);
  if (!(isa_row(OP_COPY_GM_TO_UBUF_ALIGN_B8)->archs & 1u << job->soc->arch))
    return lower_refuse(job, "%s has no copies of single bytes", job->soc->name);
  if (!vtile_count(job, tile))
    return false;
  if (tile->cols != tile->space.cols)
    return lower_refuse(job, "a tile takes whole rows, of %llu columns", (ull)tile->space.cols);
  lay_out(pool);
  if (!pool_legal(job, pool))
    return false;
  uint64_t pixel = pixel_bytes(argmax), masks = argmax->points * argmax->mask_pitch;
  struct vtile_work work = {.in_copies = 1, .out_copies = 1, .vector_cycles = tile_cycles(argmax)};
  work.in_bytes = pool->in_rows * pool->in_cols * pixel + (argmax->backward ? masks : 0);
  work.out_bytes = tile->rows * tile->cols * pixel + (argmax->backward ? 0 : masks);
  vtile_cost(job, tile, &work);
  return true;
}

/* ---- forward --------------------------------------------------------------------------------- */

static void put_words(struct emit *e, const char *inst, const char *dst, const char *src0,
                      const char *src1) {
  if (src1)
    emit_row(e, "%s,dst=%s,src0=%s,src1=%s,repeat=1,type=uint16", inst, dst, src0, src1);
  else
    emit_row(e, "%s,dst=%s,src=%s,repeat=1,type=uint16", inst, dst, src0);
}

/*
 * For each point: its pixels as they stand in the result, their comparison with the largest, less
 * those that an earlier point was.
 */
static void put_masks(struct pool_walk *walk, const struct argmax *argmax) {
  struct emit *e = walk->e;
  const struct pool *pool = &argmax->pool;
  ull pixel = pixel_bytes(argmax), blocks = pool_blocks(pool, pool->type);
  const char *pixels = emit_text(e, "%s*%llu", pool->tile.rows_text, (ull)pool->ow);
  const char *column = emit_text(e, "%llu", (ull)argmax->column);
  const char *spare = emit_text(e, "%llu", (ull)argmax->spare);
  const char *left_over = emit_text(e, "%llu", (ull)argmax->left_over);
  struct pool_row from = {emit_text(e, "%s+((r*%llu+ki)*%llu+kj)*%llu", walk->image, (ull)pool->sh,
                                    (ull)pool->in_cols, pixel),
                          true};
  struct pool_row to = {emit_text(e, "%s+r*%llu", column, (ull)pool->ow * pixel), false};
  emit_row(e, "set_vector_mask,high=0,low=%s", pixels);
  emit_row(e, "vector_dup,dst=%s,scalar=65535,repeat=1,type=uint16", left_over);
  emit_loop(e, "p", "%llu", (ull)argmax->points);
  emit_let(e, "ki", "p/%llu", (ull)pool->kw);
  emit_let(e, "kj", "p%%%llu", (ull)pool->kw);
  emit_let(e, "mask", "%s+%llu+p*%llu", pool->tile.slot_text, (ull)argmax->masks,
           (ull)argmax->mask_pitch);
  emit_row(e, "set_vector_mask,high=0,low=%llu",
           (ull)pool->ow * pool->c0 / (pool->sw > 1 ? blocks : 1));
  pool_each_row(walk, "vmax", pool->tile.rows_text, to, from, from);
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%s*%d", pixels, C0);
  emit_row(e, "vcmpv_eq,dst=mask,src0=%s,src1=%s,repeat=1,type=%s", column, walk->result,
           dtype_name(pool->type));
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%s", pixels);
  put_words(e, "vand", "mask", "mask", left_over);
  emit_barrier(e, PIPE_V);
  put_words(e, "vnot", spare, "mask", NULL);
  emit_barrier(e, PIPE_V);
  put_words(e, "vand", left_over, left_over, spare);
  emit_barrier(e, PIPE_V);
  emit_endloop(e);
}

/* Masks of a tile: a run of words for each point. */
static void put_mask_copy(struct emit *e, const struct argmax *argmax, bool to_gm, const char *gm,
                          const char *ub, const char *bytes) {
  ull points = argmax->points;
  if (!to_gm && argmax->one_mask) {
    emit_row(e, "copy_gm_to_ubuf_align_b16,dst=%s,src=%s,len_burst=%s,right_pad=(32-%s%%32)%%32/2",
             ub, gm, bytes, bytes);
    return;
  }
  emit_row(e, "%s,dst=%s,src=%s,n_burst=%llu,len_burst=%s,src_gap=%s,dst_gap=%s",
           to_gm ? "copy_ubuf_to_gm_align_b16" : "copy_gm_to_ubuf_align_b16", to_gm ? gm : ub,
           to_gm ? ub : gm, points,
           to_gm ? bytes : emit_text(e, "%s,right_pad=(32-%s%%32)%%32/2", bytes, bytes),
           to_gm ? emit_text(e, "(%llu-(%s+31)/32*32)/32", (ull)argmax->mask_pitch, bytes)
                 : emit_text(e, "%llu-%s", (ull)argmax->mask_words * WORD_BYTES, bytes),
           to_gm ? emit_text(e, "%llu-%s", (ull)argmax->mask_words * WORD_BYTES, bytes)
                 : emit_text(e, "(%llu-(%s+31)/32*32)/32", (ull)argmax->mask_pitch, bytes));
}

static void put_forward(struct pool_walk *walk, struct argmax *argmax) {
  struct emit *e = walk->e;
  struct vtile *tile = &argmax->pool.tile;
  vtile_open(e, tile);
  pool_load(walk);
  vtile_loaded(e, tile);
  pool_compute(walk);
  put_masks(walk, argmax);
  vtile_computed(e, tile);
  pool_store(walk, "y");
  emit_let(e, "bytes", "%s*%llu", tile->rows_text, (ull)argmax->pool.ow * WORD_BYTES);
  put_mask_copy(e, argmax, true,
                emit_text(e, "y1+%s*%llu+%s*%llu", tile->outer_text[0],
                          (ull)(argmax->points * argmax->mask_words * WORD_BYTES), tile->row_text,
                          (ull)argmax->pool.ow * WORD_BYTES),
                emit_text(e, "%s+%llu", tile->slot_text, (ull)argmax->masks), "bytes");
  vtile_close(e, tile);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Masks of all points, or of the one at an offset. */
static void put_mask_load(struct pool_walk *walk, const struct argmax *argmax, const char *offset) {
  struct emit *e = walk->e;
  const struct pool *pool = &argmax->pool;
  const struct vtile *tile = &pool->tile;
  put_mask_copy(e, argmax, false,
                emit_text(e, "x1+%s*%llu+dy_first*%llu%s", tile->outer_text[0],
                          (ull)(argmax->points * argmax->mask_words * WORD_BYTES),
                          (ull)pool->ow * WORD_BYTES, offset),
                emit_text(e, "%s+%llu", tile->slot_text, (ull)argmax->masks), "bytes");
}

/* Rows of dy whose windows touch the tile, and their masks. */
static void put_load(struct pool_walk *walk, const struct argmax *argmax) {
  struct emit *e = walk->e;
  const struct pool *pool = &argmax->pool;
  const struct vtile *tile = &pool->tile;
  ull pixel = pixel_bytes(argmax), row = (ull)pool->ow * pixel;
  emit_let(e, "dy_first", "max(0,%s+%lld)/%llu", tile->row_text,
           (long long)(pool->top + pool->sh) - (long long)pool->kh, (ull)pool->sh);
  emit_let(e, "dy_rows", "min(%llu,(%s+%s-1+%llu)/%llu+1)-dy_first", (ull)pool->oh, tile->row_text,
           tile->rows_text, (ull)pool->top, (ull)pool->sh);
  emit_let(e, "bytes", "dy_rows*%llu", (ull)pool->ow * WORD_BYTES);
  emit_loop(e, "touched", "dy_rows>0");
  emit_row(e, "copy_gm_to_ubuf,dst=%s,src=x+(%s*%llu+dy_first)*%llu,len_burst=dy_rows*%llu",
           tile->slot_text, tile->outer_text[0], (ull)pool->oh, row, row / BLOCK_BYTES);
  if (!argmax->one_mask)
    put_mask_load(walk, argmax, "");
  emit_endloop(e);
}

/* Its mask is fetched when a point's turn is, and waited for. */
static void put_one_mask(struct pool_walk *walk, const struct argmax *argmax) {
  struct emit *e = walk->e;
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "%d", MASK_FLAG);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "%d", MASK_FLAG);
  put_mask_load(walk, argmax, emit_text(e, "+p*%llu", (ull)argmax->mask_words * WORD_BYTES));
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "%d", MASK_FLAG);
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "%d", MASK_FLAG);
}

static void put_scatter(struct pool_walk *walk, const struct argmax *argmax) {
  struct emit *e = walk->e;
  const struct pool *pool = &argmax->pool;
  const char *slot = pool->tile.slot_text, *type = dtype_name(pool->type);
  ull pixel = pixel_bytes(argmax), blocks = pool_blocks(pool, pool->type);
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%llu",
           (ull)(argmax->image_rows * argmax->image_cols * C0));
  emit_row(e, "vector_dup,dst=%s+%llu,scalar=0,repeat=1,type=%s", slot, (ull)argmax->image, type);
  /* Where the first window begins, in rows of the image, which has a window's overlap before. */
  emit_let(e, "start", "dy_first*%llu-%llu-%s+%llu", (ull)pool->sh, (ull)pool->top,
           pool->tile.row_text, (ull)pool->kh - 1);
  emit_loop(e, "p", "%llu*(dy_rows>0)", (ull)argmax->points);
  if (argmax->one_mask)
    put_one_mask(walk, argmax);
  emit_row(e, "set_vector_mask,high=0,low=dy_rows*%llu", (ull)pool->ow * C0);
  emit_row(e, "vsel,dst=%llu,src0=%s,src1=%llu,mask=%s+%llu+p*%llu,repeat=1,mode=scalar,type=%s",
           (ull)argmax->column, slot, (ull)argmax->zero, slot, (ull)argmax->masks,
           argmax->one_mask ? 0 : (ull)argmax->mask_pitch, type);
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%llu",
           (ull)pool->ow * pool->c0 / (pool->sw > 1 ? blocks : 1));
  struct pool_row to = {emit_text(e, "%s+%llu+((start+r*%llu+p/%llu)*%llu+p%%%llu)*%llu", slot,
                                  (ull)argmax->image, (ull)pool->sh, (ull)pool->kw,
                                  (ull)argmax->image_cols, (ull)pool->kw, pixel),
                        true};
  struct pool_row from = {emit_text(e, "%llu+r*%llu", (ull)argmax->column, (ull)pool->ow * pixel),
                          false};
  pool_each_row(walk, "vadd", "dy_rows", to, to, from);
  emit_barrier(e, PIPE_V);
  emit_endloop(e);
}

static void put_backward(struct pool_walk *walk, struct argmax *argmax) {
  struct emit *e = walk->e;
  struct pool *pool = &argmax->pool;
  struct vtile *tile = &pool->tile;
  ull pixel = pixel_bytes(argmax), blocks = pool_blocks(pool, pool->type);
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)BLOCK_BYTES / vtile_bytes(pool->type));
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=%s", (ull)argmax->zero,
           dtype_name(pool->type));
  vtile_open(e, tile);
  put_load(walk, argmax);
  vtile_loaded(e, tile);
  put_scatter(walk, argmax);
  vtile_computed(e, tile);
  emit_row(e,
           "copy_ubuf_to_gm,dst=y+(%s*%llu+%s)*%llu,src=%s+%llu,n_burst=%s,len_burst=%llu,"
           "src_gap=%llu",
           tile->outer_text[0], (ull)pool->h, tile->row_text, (ull)pool->w * pixel, tile->slot_text,
           (ull)argmax->image + ((ull)(pool->kh - 1) * argmax->image_cols + pool->left) * pixel,
           tile->rows_text, (ull)pool->w * blocks, (ull)(argmax->image_cols - pool->w) * blocks);
  vtile_close(e, tile);
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum vinci_status setup(struct lower_job *job, bool backward) {
  struct argmax *argmax = ARENA_NEW(job->arena, struct argmax);
  if (!argmax)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  struct pool *pool = &argmax->pool;
  job->data = argmax;
  argmax->backward = backward;
  argmax->one_mask = backward && job->value[KEY_MASKS].word == 1;
  pool->work = job->value[POOL_DTYPE].dtype;
  enum vinci_status status = pool_geometry(job, pool);
  if (status != VINCI_OK)
    return status;
  if (pool->c0 != C0)
    return lower_error(job, "C0 is %d, as masks have a word for each pixel", C0);
  argmax->points = pool->kh * pool->kw;
  argmax->mask_words = (ceil_div(pool->oh * pool->ow, WORDS) + 1) * WORDS;
  if (backward)
    pool->tile.space = (struct vtile_space){1, {pool->units}, pool->h, pool->w};
  return VINCI_OK;
}

static enum vinci_status forward_setup(struct lower_job *job) { return setup(job, false); }
static enum vinci_status backward_setup(struct lower_job *job) { return setup(job, true); }

static void emit(const struct lower_job *job, struct emit *e) {
  struct argmax *argmax = job->data;
  struct pool *pool = &argmax->pool;
  struct vtile *tile = &pool->tile;
  const uint64_t *shape = job->value[POOL_SHAPE].shape;
  const uint64_t masks[] = {shape[0], shape[1], argmax->points, argmax->mask_words / WORDS, WORDS};
  enum { MASK_RANK = sizeof masks / sizeof *masks };
  struct pool_walk walk = {.e = e, .pool = pool, .machine = {.emit = e, .type = pool->work}};
  vtile_take(job, tile);
  vtile_counts(tile);
  lay_out(pool);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  if (argmax->backward) {
    pool_tensor(e, job, "x", pool->type, TENSOR_IN, pool->oh, pool->ow);
    emit_tensor(e, "x1", DTYPE_UINT16, TENSOR_IN, masks, MASK_RANK, NULL);
    pool_tensor(e, job, "y", pool->type, TENSOR_OUT, pool->h, pool->w);
  } else {
    pool_tensor(e, job, "x", pool->type, TENSOR_IN, pool->h, pool->w);
    pool_tensor(e, job, "y", pool->type, TENSOR_OUT, pool->oh, pool->ow);
    emit_tensor(e, "y1", DTYPE_UINT16, TENSOR_OUT, masks, MASK_RANK, NULL);
  }
  emit_buffer(e, "buf", SPACE_UB, pool->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE, tile->blocks);
  emit_row(e, "set_mask_count");
  if (argmax->backward)
    put_backward(&walk, argmax);
  else
    put_forward(&walk, argmax);
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

#define OPERATOR(id, vendor, summary, table, count, way)                                           \
  const struct lower_op lower_##id = {                                                             \
      .name = #id,                                                                                 \
      .vendor_types = vendor,                                                                      \
      .text = summary,                                                                             \
      .keys = table,                                                                               \
      .key_count = count,                                                                          \
      .setup = way##_setup,                                                                        \
      .candidate = candidate,                                                                      \
      .cost = cost,                                                                                \
      .emit = emit,                                                                                \
      .from_tensors = way##_call,                                                                  \
  };

OPERATOR(max_pool_with_argmax, "MaxPoolWithArgmax|MaxPoolWithArgmaxV1|MaxPoolWithArgmaxV2",
         "y = largest of each window of x; y1 = masks of where it is", keys, ARGMAX_KEYS, forward)
OPERATOR(max_pool_grad, "MaxPoolGradWithArgmax|MaxPoolGradWithArgmaxV1|MaxPoolGradWithArgmaxV2",
         "y = gradient of the map from that of the result, x, and masks x1; shape is that of y",
         grad_keys, GRAD_KEYS, backward)
