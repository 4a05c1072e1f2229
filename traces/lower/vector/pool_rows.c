/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling, the rows of a tile: the image under its windows, the folds, averages. */
#include <math.h>

#include "core/chip/layout.h"
#include "traces/lower/vector/pool.h"

typedef unsigned long long ull;

enum { BLOCKS_PER_REPEAT = 8 };

static ull pixel_bytes(const struct pool *pool, enum dtype type) {
  return (ull)pool_pixel_bytes(pool, type);
}

static void put_count(struct emit *e, const char *pixels, ull per_pixel) {
  emit_row(e, "set_vector_mask,high=0,low=(%s)*%llu", pixels, per_pixel);
}

/* The image has its full width in every tile, so that its rows follow each other. */
static bool dense_image(const struct pool *pool) { return pool->tile.col_tiles == 1; }

/* ---- the image ------------------------------------------------------------------------------- */

/* What lies outside the map on both sides of one dimension, and what is inside. */
static void put_span(struct emit *e, const char *name, const char *first, const char *count,
                     uint64_t extent, uint64_t before, uint64_t stride, uint64_t kernel) {
  emit_let(e, emit_text(e, "%s_first", name), "%s*%llu-%llu", first, (ull)stride, (ull)before);
  emit_let(e, emit_text(e, "%s_all", name), "(%s-1)*%llu+%llu", count, (ull)stride, (ull)kernel);
  emit_let(e, emit_text(e, "%s_before", name), "max(0,0-%s_first)", name);
  emit_let(e, emit_text(e, "%s_behind", name), "max(0,%s_first+%s_all-%llu)", name, name,
           (ull)extent);
  emit_let(e, emit_text(e, "%s_in", name), "%s_all-%s_before-%s_behind", name, name, name);
}

void pool_load(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  const struct vtile *tile = &pool->tile;
  ull pixel = pixel_bytes(pool, pool->type), blocks = (ull)pool_blocks(pool, pool->type);
  walk->in = tile->slot_text;
  walk->out = emit_text(e, "%s+%llu", tile->slot_text, (ull)pool->out);
  put_span(e, "h", tile->row_text, tile->rows_text, pool->h, pool->top, pool->sh, pool->kh);
  put_span(e, "w", tile->col_text, tile->cols_text, pool->w, pool->left, pool->sw, pool->kw);
  walk->in_rows = "h_all";
  walk->in_cols = "w_all";
  const char *from = emit_text(e, "x+((%s*%llu+h_first+h_before)*%llu+w_first+w_before)*%llu",
                               tile->outer_text[0], (ull)pool->h, (ull)pool->w, pixel);
  bool whole = dense_image(pool) && pool->left == 0 && pool->in_cols == pool->w;
  if (whole)
    emit_row(e, "copy_gm_to_ubuf,dst=%s+h_before*%llu,src=%s,len_burst=h_in*%llu", walk->in,
             (ull)pool->in_cols * pixel, from, (ull)pool->w * blocks);
  else
    emit_row(e,
             "copy_gm_to_ubuf,dst=%s+(h_before*%llu+w_before)*%llu,src=%s,n_burst=h_in,"
             "len_burst=w_in*%llu,src_gap=(%llu-w_in)*%llu,dst_gap=(%llu-w_in)*%llu",
             walk->in, (ull)pool->in_cols, pixel, from, blocks, (ull)pool->w, blocks,
             (ull)pool->in_cols, blocks);
}

/* Fills pixels of the image from a row and a column on. */
static void put_fill(struct pool_walk *walk, const char *row, const char *col, const char *pixels) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  double value = pool->kind == POOL_MAX ? -(double)INFINITY : 0.0;
  put_count(e, pixels, pool->c0);
  emit_row(e, "vector_dup,dst=%s+((%s)*%llu+%s)*%llu,scalar=%lld,repeat=1,type=%s", walk->in, row,
           (ull)pool->in_cols, col, pixel_bytes(pool, pool->type), vscalar_bits(pool->type, value),
           dtype_name(pool->type));
}

/* Rows above and below the map, then what is left and right of it. */
static void put_borders(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  bool below = (pool->oh - 1) * pool->sh + pool->kh > pool->h + pool->top;
  bool right = (pool->ow - 1) * pool->sw + pool->kw > pool->w + pool->left;
  const char *cols = emit_text(e, "%llu", (ull)pool->in_cols);
  if (pool->top) {
    emit_loop(e, "above", "h_before>0");
    put_fill(walk, "0", "0", emit_text(e, "h_before*%s", cols));
    emit_endloop(e);
  }
  if (below) {
    emit_loop(e, "below", "h_behind>0");
    put_fill(walk, "h_before+h_in", "0", emit_text(e, "h_behind*%s", cols));
    emit_endloop(e);
  }
  if (pool->left) {
    emit_loop(e, "side", "h_in*(w_before>0)");
    put_fill(walk, "h_before+side", "0", "w_before");
    emit_endloop(e);
  }
  if (right) {
    emit_loop(e, "side", "h_in*(w_behind>0)");
    put_fill(walk, "h_before+side", "w_before+w_in", "w_behind");
    emit_endloop(e);
  }
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Converts rows of pixels; dense ones at once. */
static void put_convert(struct pool_walk *walk, bool dense, const char *rows, const char *cols,
                        uint64_t pitch, const char *dst, enum dtype to, const char *src,
                        enum dtype from) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  const char *inst = vconvert_inst(e->soc, from, to);
  size_t name = 0;
  while (inst[name] && inst[name] != ',')
    name++;
  if (dense) {
    put_count(e, emit_text(e, "%s*%llu", rows, (ull)pitch), pool->c0);
    emit_row(e, "%.*s,dst=%s,src=%s,repeat=1%s", (int)name, inst, dst, src, inst + name);
    return;
  }
  put_count(e, cols, pool->c0);
  emit_loop(e, "r", "%s", rows);
  emit_row(e, "%.*s,dst=%s+r*%llu,src=%s+r*%llu,repeat=1%s", (int)name, inst, dst,
           (ull)pitch * pixel_bytes(pool, to), src, (ull)pitch * pixel_bytes(pool, from),
           inst + name);
  emit_endloop(e);
}

/* ---- folds ----------------------------------------------------------------------------------- */

void pool_each_row(struct pool_walk *walk, const char *inst, const char *rows, struct pool_row dst,
                   struct pool_row a, struct pool_row b) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  ull blocks = (ull)pool_blocks(pool, pool->work), apart = blocks * pool->sw;
  bool strided = (dst.strided || a.strided || b.strided) && pool->sw > 1;
  const char *type = dtype_name(pool->work);
  emit_loop(e, "r", "%s", rows);
  if (!strided) {
    emit_row(e, "%s,dst=%s,src0=%s,src1=%s,repeat=1,type=%s", inst, dst.address, a.address,
             b.address, type);
    emit_endloop(e);
    return;
  }
  /* A block of each pixel per turn. */
  const char *part = blocks > 1 ? "+part*32" : "";
  if (blocks > 1)
    emit_loop(e, "part", "%llu", blocks);
  ull step[3];
  const struct pool_row *row[3] = {&dst, &a, &b};
  for (unsigned i = 0; i < 3; i++)
    step[i] = row[i]->strided ? apart : blocks;
  emit_row(e,
           "%s,dst=%s%s,src0=%s%s,src1=%s%s,repeat=1,dst_block=%llu,src0_block=%llu,"
           "src1_block=%llu,dst_repeat=%llu,src0_repeat=%llu,src1_repeat=%llu,type=%s",
           inst, dst.address, part, a.address, part, b.address, part, step[0], step[1], step[2],
           step[0] * BLOCKS_PER_REPEAT, step[1] * BLOCKS_PER_REPEAT, step[2] * BLOCKS_PER_REPEAT,
           type);
  if (blocks > 1)
    emit_endloop(e);
  emit_endloop(e);
}

static struct pool_row dense(const char *address) { return (struct pool_row){address, false}; }
static struct pool_row apart(const char *address) { return (struct pool_row){address, true}; }

/* Lanes of a row of results that one instruction of pool_each_row() takes. */
static void put_result_count(struct pool_walk *walk) {
  const struct pool *pool = walk->pool;
  ull parts = pool->sw > 1 ? (ull)pool_blocks(pool, pool->work) : 1;
  put_count(walk->e, walk->pool->tile.cols_text, pool->c0 / parts);
}

/* Rows of each window into one, over the whole width of the image. */
static void put_fold_rows(struct pool_walk *walk, const char *inst) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  ull row = (ull)pool->in_cols * pixel_bytes(pool, pool->work);
  const char *to = emit_text(e, "%llu+r*%llu", (ull)pool->folded, row);
  const char *from = emit_text(e, "%s+r*%llu", walk->image, row * pool->sh);
  if (pool->kh == 1)
    return;
  put_count(e, walk->in_cols, pool->c0);
  pool_each_row(walk, inst, pool->tile.rows_text, dense(to), dense(from),
                dense(emit_text(e, "%s+%llu", from, row)));
  emit_barrier(e, PIPE_V);
  if (pool->kh == 2)
    return;
  emit_loop(e, "ki", "%llu", (ull)pool->kh - 2);
  pool_each_row(walk, inst, pool->tile.rows_text, dense(to), dense(to),
                dense(emit_text(e, "%s+%llu+ki*%llu", from, 2 * row, row)));
  emit_barrier(e, PIPE_V);
  emit_endloop(e);
}

/* Columns of each window into one; a window of one column is copied as the larger of twice it. */
static void put_fold_cols(struct pool_walk *walk, const char *inst, const char *to,
                          const char *from, const char *rows) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  ull pixel = pixel_bytes(pool, pool->work);
  put_result_count(walk);
  if (pool->kw == 1) {
    pool_each_row(walk, "vmax", rows, dense(to), apart(from), apart(from));
    emit_barrier(e, PIPE_V);
    return;
  }
  pool_each_row(walk, inst, rows, dense(to), apart(from),
                apart(emit_text(e, "%s+%llu", from, pixel)));
  emit_barrier(e, PIPE_V);
  if (pool->kw == 2)
    return;
  emit_loop(e, "kj", "%llu", (ull)pool->kw - 2);
  pool_each_row(walk, inst, rows, dense(to), dense(to),
                apart(emit_text(e, "%s+%llu+kj*%llu", from, 2 * pixel, pixel)));
  emit_barrier(e, PIPE_V);
  emit_endloop(e);
}

/* ---- averages -------------------------------------------------------------------------------- */

/* Sums over how many columns each window has, then over how many rows. */
static void put_counts(struct pool_walk *walk, const char *result) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  ull pixel = pixel_bytes(pool, pool->work), row = (ull)pool->tile.cols * pixel;
  ull high = (ull)(pool->h + (pool->counts_pad ? pool->bottom : 0));
  ull wide = (ull)(pool->w + (pool->counts_pad ? pool->right : 0));
  const char *low = pool->counts_pad ? "" : "max(0,", *close = pool->counts_pad ? "" : ")";
  const char *skip = pool->counts_pad ? "0" : "w_before";
  put_count(e, walk->in_cols, pool->c0);
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)pool->ones);
  emit_barrier(e, PIPE_V);
  put_count(e, emit_text(e, "min(w_all,%llu-w_first)-%s", wide, skip), pool->c0);
  emit_row(e, "vector_dup,dst=%llu+%s*%llu,scalar=%lld,repeat=1,type=fp32", (ull)pool->ones, skip,
           pixel, vscalar_bits(DTYPE_FP32, 1.0));
  emit_barrier(e, PIPE_V);
  put_fold_cols(walk, "vadd", emit_text(e, "%llu", (ull)pool->counts),
                emit_text(e, "%llu", (ull)pool->ones), "1");
  put_count(e, pool->tile.cols_text, pool->c0);
  const char *to = emit_text(e, "%s+r*%llu", result, row);
  pool_each_row(walk, "vdiv", pool->tile.rows_text, dense(to), dense(to),
                dense(emit_text(e, "%llu", (ull)pool->counts)));
  emit_barrier(e, PIPE_V);
  emit_loop(e, "r", "%s", pool->tile.rows_text);
  emit_let(e, "top", "h_first+r*%llu", (ull)pool->sh);
  emit_let(e, "height", "min(top+%llu,%llu)-%stop%s", (ull)pool->kh, high, low, close);
  emit_row(e,
           "vdiv,dst=%s,src0=%s,src1=%llu+(height-1)*%d,repeat=1,src1_block=0,src1_repeat=0,"
           "type=fp32",
           to, to, (ull)pool->heights, BLOCK_BYTES);
  emit_endloop(e);
  emit_barrier(e, PIPE_V);
}

static void put_scale(struct pool_walk *walk, const char *result) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  ull row = (ull)pool->tile.cols * pixel_bytes(pool, pool->work);
  put_count(e, pool->tile.cols_text, pool->c0);
  emit_loop(e, "r", "%s", pool->tile.rows_text);
  emit_row(e, "vmuls,dst=%s+r*%llu,src=%s+r*%llu,scalar=%lld,repeat=1,type=fp32", result, row,
           result, row, vscalar_bits(DTYPE_FP32, 1.0 / (double)(pool->kh * pool->kw)));
  emit_endloop(e);
  emit_barrier(e, PIPE_V);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

void pool_compute(struct pool_walk *walk) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  const struct vtile *tile = &pool->tile;
  const char *inst = pool->kind == POOL_MAX ? "vmax" : "vadd";
  ull row = (ull)pool->in_cols * pixel_bytes(pool, pool->work);
  ull result = (ull)tile->cols * pixel_bytes(pool, pool->work);
  walk->image = pool->wide ? emit_text(e, "%llu", (ull)pool->wide) : walk->in;
  walk->result = pool->sums ? emit_text(e, "%llu", (ull)pool->sums) : walk->out;
  emit_barrier(e, PIPE_V);
  put_borders(walk);
  emit_barrier(e, PIPE_V);
  if (pool->wide) {
    put_convert(walk, dense_image(pool), "h_all", "w_all", pool->in_cols, walk->image, pool->work,
                walk->in, pool->type);
    emit_barrier(e, PIPE_V);
  }
  put_fold_rows(walk, inst);
  const char *from = pool->kh > 1 ? emit_text(e, "%llu+r*%llu", (ull)pool->folded, row)
                                  : emit_text(e, "%s+r*%llu", walk->image, row * pool->sh);
  put_fold_cols(walk, inst, emit_text(e, "%s+r*%llu", walk->result, result), from, tile->rows_text);
  if (pool->kind == POOL_AVERAGE && pool->ones)
    put_counts(walk, walk->result);
  else if (pool->kind == POOL_AVERAGE)
    put_scale(walk, walk->result);
  if (pool->sums)
    put_convert(walk, tile->col_tiles == 1, tile->rows_text, tile->cols_text, tile->cols, walk->out,
                pool->type, walk->result, pool->work);
}

void pool_store(struct pool_walk *walk, const char *tensor) {
  struct emit *e = walk->e;
  const struct pool *pool = walk->pool;
  const struct vtile *tile = &pool->tile;
  ull pixel = pixel_bytes(pool, pool->type), blocks = (ull)pool_blocks(pool, pool->type);
  const char *to = emit_text(e, "%s+((%s*%llu+%s)*%llu+%s)*%llu", tensor, tile->outer_text[0],
                             (ull)pool->oh, tile->row_text, (ull)pool->ow, tile->col_text, pixel);
  if (tile->col_tiles == 1)
    emit_row(e, "copy_ubuf_to_gm,dst=%s,src=%s,len_burst=%s*%llu", to, walk->out, tile->rows_text,
             (ull)pool->ow * blocks);
  else
    emit_row(e,
             "copy_ubuf_to_gm,dst=%s,src=%s,n_burst=%s,len_burst=%s*%llu,"
             "src_gap=(%llu-%s)*%llu,dst_gap=(%llu-%s)*%llu",
             to, walk->out, tile->rows_text, tile->cols_text, blocks, (ull)tile->cols,
             tile->cols_text, blocks, (ull)pool->ow, tile->cols_text, blocks);
}
