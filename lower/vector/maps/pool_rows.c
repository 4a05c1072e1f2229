/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling, the rows of a tile: the image under its windows, the folds, averages. */
#include <math.h>
#include <stdio.h>

#include "core/chip/layout.h"
#include "lower/vector/maps/pool.h"

enum { BLOCKS_PER_REPEAT = 8, NAME_MAX_BYTES = 16 };

static uint64_t raw_bytes(const struct pool *pool) { return pool_pixel_bytes(pool, pool->type); }
static uint64_t work_bytes(const struct pool *pool) { return pool_pixel_bytes(pool, pool->work); }

/* The image has its full width in every tile, so that its rows follow each other. */
static bool dense_image(const struct pool *pool) { return pool->kernel.tile.col_tiles == 1; }

/* ---- the image ------------------------------------------------------------------------------- */

static struct expr assigned(struct emit *e, const char *prefix, const char *name,
                            struct expr value) {
  char text[NAME_MAX_BYTES];
  snprintf(text, sizeof text, "%s_%s", prefix, name);
  return emit_assigned(e, text, value);
}

static struct pool_span put_span(struct emit *e, const char *name, struct expr start,
                                 struct expr count, uint64_t extent, uint64_t before,
                                 uint64_t stride, uint64_t kernel) {
  struct pool_span span;
  span.first = assigned(e, name, "first", x_sub(x_mul(start, stride), before));
  span.all = assigned(e, name, "all", x_add(x_mul(x_sub(count, 1), stride), kernel));
  span.before = assigned(e, name, "before", x_max(0, x_sub(0, span.first)));
  span.behind = assigned(e, name, "behind", x_max(0, x_sub(x_add(span.first, span.all), extent)));
  span.in = assigned(e, name, "in", x_sub(x_sub(span.all, span.before), span.behind));
  return span;
}

/* The first pixel of the map that is copied. */
static struct expr first_pixel(struct pool_walk *walk) {
  const struct pool *pool = walk->pool;
  struct expr row =
      x_add(x_add(x_mul(pool->kernel.tile.outer_at[0], pool->h), walk->h.first), walk->h.before);
  struct expr pixel = x_add(x_add(x_mul(row, pool->w), walk->w.first), walk->w.before);
  return x_add(x_name(walk->e, "x"), x_mul(pixel, raw_bytes(pool)));
}

void pool_load(struct emit *e, struct vkernel *kernel) {
  struct pool *pool = (struct pool *)kernel;
  struct pool_walk *walk = &pool->walk;
  const struct vtile *tile = &kernel->tile;
  uint64_t pixel = raw_bytes(pool), blocks = pool_blocks(pool, pool->type);
  walk->in = tile->slot;
  walk->out = x_add(tile->slot, pool->out);
  walk->h = put_span(e, "h", tile->row, tile->n_rows, pool->h, pool->top, pool->sh, pool->kh);
  walk->w = put_span(e, "w", tile->col, tile->n_cols, pool->w, pool->left, pool->sw, pool->kw);
  struct expr from = first_pixel(walk), rows = walk->h.in, cols = walk->w.in;
  struct expr at = x_mul(walk->h.before, pool->in_cols);
  if (dense_image(pool) && pool->left == 0 && pool->in_cols == pool->w)
    EMIT(e, "copy_gm_to_ubuf", F("dst", x_add(walk->in, x_mul(at, pixel))), F("src", from),
         F("len_burst", x_mul(rows, pool->w * blocks)));
  else
    EMIT(e, "copy_gm_to_ubuf", F("dst", x_add(walk->in, x_mul(x_add(at, walk->w.before), pixel))),
         F("src", from), F("n_burst", rows), F("len_burst", x_mul(cols, blocks)),
         F("src_gap", x_mul(x_sub(pool->w, cols), blocks)),
         F("dst_gap", x_mul(x_sub(pool->in_cols, cols), blocks)));
}

/* Fills pixels of the image from a row and a column on. */
static void put_fill(struct pool_walk *walk, struct expr row, struct expr col, struct expr pixels) {
  const struct pool *pool = walk->pool;
  double value = pool->kind == POOL_MAX ? -(double)INFINITY : 0.0;
  struct expr at = x_mul(x_add(x_mul(row, pool->in_cols), col), raw_bytes(pool));
  vmask_count(walk->e, x_mul(pixels, pool->c0));
  vfill(walk->e, x_add(walk->in, at), vscalar(pool->type, value), dtype_name(pool->type));
}

/* Rows above and below the map, then the columns at both sides. */
static void put_borders(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  const struct pool_span *h = &walk->h, *w = &walk->w;
  bool below = (pool->oh - 1) * pool->sh + pool->kh > pool->h + pool->top;
  bool right = (pool->ow - 1) * pool->sw + pool->kw > pool->w + pool->left;
  if (pool->top) {
    emit_if(e, "above", x_gt(h->before, 0));
    put_fill(walk, EXPR(0), EXPR(0), x_mul(h->before, pool->in_cols));
    emit_end(e);
  }
  if (below) {
    emit_if(e, "below", x_gt(h->behind, 0));
    put_fill(walk, x_add(h->before, h->in), EXPR(0), x_mul(h->behind, pool->in_cols));
    emit_end(e);
  }
  if (pool->left) {
    struct expr side = emit_for(e, "side", x_mul(h->in, x_gt(w->before, 0)));
    put_fill(walk, x_add(h->before, side), EXPR(0), w->before);
    emit_end(e);
  }
  if (right) {
    struct expr side = emit_for(e, "side", x_mul(h->in, x_gt(w->behind, 0)));
    put_fill(walk, x_add(h->before, side), x_add(w->before, w->in), w->behind);
    emit_end(e);
  }
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Converts rows of pixels; dense ones at once. */
static void put_convert(struct pool_walk *walk, bool dense, struct expr rows, struct expr cols,
                        uint64_t pitch, struct expr dst, enum dtype to, struct expr src,
                        enum dtype from) {
  const struct pool *pool = walk->pool;
  struct vunit unit = {.emit = walk->e};
  vmask_count(walk->e, x_mul(dense ? x_mul(rows, pitch) : cols, pool->c0));
  if (dense) {
    vunit_convert(&unit, 0, 0, from, to, dst, src);
    return;
  }
  struct expr r = emit_for(walk->e, "r", rows);
  vunit_convert(&unit, 0, 0, from, to, x_add(dst, x_mul(r, pitch * pool_pixel_bytes(pool, to))),
                x_add(src, x_mul(r, pitch * pool_pixel_bytes(pool, from))));
  emit_end(walk->e);
}

/* ---- folds ----------------------------------------------------------------------------------- */

void pool_each_row(struct pool_walk *walk, const char *inst, struct expr rows, struct pool_row dst,
                   struct pool_row a, struct pool_row b) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  const uint64_t blocks = pool_blocks(pool, pool->work), apart = blocks * pool->sw;
  bool strided = (dst.strided || a.strided || b.strided) && pool->sw > 1;
  uint64_t to = dst.strided ? apart : blocks, one = a.strided ? apart : blocks;
  uint64_t two = b.strided ? apart : blocks;
  struct expr part = EXPR(0);
  (void)emit_for(e, "r", rows);
  /* A block of each pixel per turn. */
  if (strided && blocks > 1)
    part = x_mul(emit_for(e, "part", blocks), BLOCK_BYTES);
  EMIT(e, inst, F("dst", x_add(dst.address, part)), F("src0", x_add(a.address, part)),
       F("src1", x_add(b.address, part)), F("repeat", 1), F_IF(strided, "dst_block", to),
       F_IF(strided, "src0_block", one), F_IF(strided, "src1_block", two),
       F_IF(strided, "dst_repeat", to * BLOCKS_PER_REPEAT),
       F_IF(strided, "src0_repeat", one * BLOCKS_PER_REPEAT),
       F_IF(strided, "src1_repeat", two * BLOCKS_PER_REPEAT), W("type", dtype_name(pool->work)));
  if (strided && blocks > 1)
    emit_end(e);
  emit_end(e);
}

static struct pool_row dense(struct expr address) { return (struct pool_row){address, false}; }
static struct pool_row apart(struct expr address) { return (struct pool_row){address, true}; }

/* The lanes of a row of results that one instruction of pool_each_row() takes. */
static void put_result_count(struct pool_walk *walk) {
  const struct pool *pool = walk->pool;
  uint64_t parts = pool->sw > 1 ? pool_blocks(pool, pool->work) : 1;
  vmask_count(walk->e, x_mul(pool->kernel.tile.n_cols, pool->c0 / parts));
}

/*
 * Points of a window in one direction, `step` bytes apart, into one: the first two, then the
 * others singly. Of a single point nothing is left to be done.
 */
static void put_fold(struct pool_walk *walk, const char *inst, const char *counter, uint64_t points,
                     struct expr rows, struct expr to, struct pool_row from, uint64_t step) {
  struct emit *e = walk->e;
  struct pool_row next = {x_add(from.address, step), from.strided};
  if (points == 1)
    return;
  pool_each_row(walk, inst, rows, dense(to), from, next);
  emit_barrier(e, PIPE_V);
  if (points == 2)
    return;
  struct expr turn = emit_for(e, counter, points - 2);
  next.address = x_add(x_add(from.address, 2 * step), x_mul(turn, step));
  pool_each_row(walk, inst, rows, dense(to), dense(to), next);
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

/* Columns of each window into one; a window of one column is copied as the larger of itself and
 * itself. */
static void put_fold_cols(struct pool_walk *walk, const char *inst, struct expr to,
                          struct expr from, struct expr rows) {
  const struct pool *pool = walk->pool;
  put_result_count(walk);
  if (pool->kw == 1) {
    pool_each_row(walk, "vmax", rows, dense(to), apart(from), apart(from));
    emit_barrier(walk->e, PIPE_V);
  }
  put_fold(walk, inst, "kj", pool->kw, rows, to, apart(from), work_bytes(pool));
}

/* ---- averages -------------------------------------------------------------------------------- */

/* How many columns each window has: a row of ones where the map is, folded as the map. */
static void put_widths(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  uint64_t wide = pool->w + (pool->counts_pad ? pool->right : 0);
  struct expr skip = pool->counts_pad ? EXPR(0) : walk->w.before;
  vmask_count(e, x_mul(walk->w.all, pool->c0));
  vfill(e, pool->ones, 0, "fp32");
  emit_barrier(e, PIPE_V);
  vmask_count(e, x_mul(x_sub(x_min(walk->w.all, x_sub(wide, walk->w.first)), skip), pool->c0));
  vfill(e, x_add(pool->ones, x_mul(skip, work_bytes(pool))), vscalar(DTYPE_FP32, 1.0), "fp32");
  emit_barrier(e, PIPE_V);
  put_fold_cols(walk, "vadd", EXPR(pool->counts), EXPR(pool->ones), EXPR(1));
}

/* Sums over how many columns each window has, then over how many rows. */
static void put_counts(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  uint64_t high = pool->h + (pool->counts_pad ? pool->bottom : 0);
  struct expr to = x_add(walk->result, x_mul(walk->r, pool->kernel.tile.cols * work_bytes(pool)));
  put_widths(walk);
  vmask_count(e, x_mul(pool->kernel.tile.n_cols, pool->c0));
  pool_each_row(walk, "vdiv", pool->kernel.tile.n_rows, dense(to), dense(to),
                dense(EXPR(pool->counts)));
  emit_barrier(e, PIPE_V);
  (void)emit_for(e, "r", pool->kernel.tile.n_rows);
  struct expr top = emit_assigned(e, "top", x_add(walk->h.first, x_mul(walk->r, pool->sh)));
  struct expr inside = pool->counts_pad ? top : x_max(0, top);
  struct expr height = emit_assigned(e, "height", x_sub(x_min(x_add(top, pool->kh), high), inside));
  EMIT(e, "vdiv", F("dst", to), F("src0", to),
       F("src1", x_add(pool->heights, x_mul(x_sub(height, 1), BLOCK_BYTES))), F("repeat", 1),
       F("src1_block", 0), F("src1_repeat", 0), W("type", "fp32"));
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

static void put_scale(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  struct expr at = x_add(walk->result, x_mul(walk->r, pool->kernel.tile.cols * work_bytes(pool)));
  vmask_count(e, x_mul(pool->kernel.tile.n_cols, pool->c0));
  (void)emit_for(e, "r", pool->kernel.tile.n_rows);
  EMIT(e, "vmuls", F("dst", at), F("src", at),
       F("scalar", vscalar(DTYPE_FP32, 1.0 / (double)(pool->kh * pool->kw))), F("repeat", 1),
       W("type", "fp32"));
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

void pool_compute(struct emit *e, struct vkernel *kernel) {
  struct pool *pool = (struct pool *)kernel;
  struct pool_walk *walk = &pool->walk;
  const struct vtile *tile = &kernel->tile;
  const char *inst = pool->kind == POOL_MAX ? "vmax" : "vadd";
  uint64_t row = pool->in_cols * work_bytes(pool), result = tile->cols * work_bytes(pool);
  walk->image = pool->wide ? EXPR(pool->wide) : walk->in;
  walk->result = pool->sums ? EXPR(pool->sums) : walk->out;
  emit_barrier(e, PIPE_V);
  put_borders(walk);
  emit_barrier(e, PIPE_V);
  if (pool->wide) {
    put_convert(walk, dense_image(pool), walk->h.all, walk->w.all, pool->in_cols, walk->image,
                pool->work, walk->in, pool->type);
    emit_barrier(e, PIPE_V);
  }
  struct expr from = x_add(walk->image, x_mul(walk->r, row * pool->sh));
  if (pool->kh > 1) {
    struct expr folded = x_add(pool->folded, x_mul(walk->r, row));
    vmask_count(e, x_mul(walk->w.all, pool->c0));
    put_fold(walk, inst, "ki", pool->kh, tile->n_rows, folded, dense(from), row);
    from = folded;
  }
  put_fold_cols(walk, inst, x_add(walk->result, x_mul(walk->r, result)), from, tile->n_rows);
  if (pool->kind == POOL_AVERAGE)
    (pool->ones ? put_counts : put_scale)(walk);
  if (pool->sums)
    put_convert(walk, tile->col_tiles == 1, tile->n_rows, tile->n_cols, tile->cols, walk->out,
                pool->type, walk->result, pool->work);
}

void pool_store(struct emit *e, struct vkernel *kernel) {
  struct pool *pool = (struct pool *)kernel;
  struct pool_walk *walk = &pool->walk;
  const struct vtile *tile = &kernel->tile;
  uint64_t blocks = pool_blocks(pool, pool->type);
  struct expr row = x_add(x_mul(tile->outer_at[0], pool->oh), tile->row), cols = tile->n_cols;
  struct expr pixel = x_mul(x_add(x_mul(row, pool->ow), tile->col), raw_bytes(pool));
  struct expr to = x_add(x_name(e, "y"), pixel);
  if (tile->col_tiles == 1)
    EMIT(e, "copy_ubuf_to_gm", F("dst", to), F("src", walk->out),
         F("len_burst", x_mul(tile->n_rows, pool->ow * blocks)));
  else
    EMIT(e, "copy_ubuf_to_gm", F("dst", to), F("src", walk->out), F("n_burst", tile->n_rows),
         F("len_burst", x_mul(cols, blocks)), F("src_gap", x_mul(x_sub(tile->cols, cols), blocks)),
         F("dst_gap", x_mul(x_sub(pool->ow, cols), blocks)));
}
