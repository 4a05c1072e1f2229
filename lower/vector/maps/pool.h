/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling of NC1HWC0 maps. A unit is one map of C0 channels; a tile is some rows and columns of
 * its result. The part of the map under the windows of a tile is copied into UB as an image of
 * constant pitch, and what lies outside the map is filled there.
 *
 * Windows are folded along rows first, then along columns, as extremes and sums can be.
 * A pixel is one 32-byte block, or several: then strided instructions take one block of each
 * pixel at a time.
 */
#ifndef VINCI_LOWER_VECTOR_MAPS_POOL_H
#define VINCI_LOWER_VECTOR_MAPS_POOL_H

#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum pool_kind { POOL_MAX, POOL_AVERAGE };

/* Keys that all operators of pooling begin with. */
#define POOL_KEYS(types_)                                                                          \
  SHAPE_KEY("extents of the map: N, C1, H, W, C0"),                                                \
      LOWER_KEY("kernel", SHAPE, NULL, NULL, "window, such as 3x3"),                               \
      LOWER_KEY("stride", SHAPE, "", NULL, "distance of windows; the window"),                     \
      LOWER_KEY("pad", SHAPE, "", "0",                                                             \
                "padding: rows x columns, or top x bottom x left x right; none"),                  \
      WORD_KEY("ceil", "0", "0|1", "windows that reach beyond the padding count"),                 \
      DTYPE_KEY("fp16", types_, "type of x and y")

struct pool;

/* What lies outside the map on both sides of one dimension, and what is inside. */
struct pool_span {
  struct expr first, all, before, behind, in;
};

/* One core's way through its rows: the tile that is being walked. */
struct pool_walk {
  struct emit *e;
  const struct pool *pool;
  struct expr in, out; /* addresses of the buffer's image and result, as they were copied */
  struct expr image, result;
  struct pool_span h, w;
  struct expr r; /* the row of results, in the addresses of struct pool_row */
};

struct pool {
  struct vkernel kernel; /* first */
  enum pool_kind kind;
  enum dtype type, work; /* in device memory; of the computation */
  uint64_t units, h, w, c0;
  uint64_t kh, kw, sh, sw, top, bottom, left, right;
  uint64_t oh, ow;
  bool counts_pad; /* of averages: padding is part of the count */
  /* Of a tile: rows and columns of its image, addresses in UB. */
  uint64_t in_rows, in_cols;
  uint64_t out;        /* in the buffer */
  uint64_t wide, sums; /* the image and the result in the type of the computation; 0: as they are */
  uint64_t folded;     /* rows folded; 0: the window has one row */
  uint64_t ones, counts, heights;
  struct pool_walk walk; /* of the text */
};

/* Fills the geometry from the keys. */
enum vinci_status pool_geometry(struct lower_job *job, struct pool *pool);
uint64_t pool_pixel_bytes(const struct pool *pool, enum dtype type);
/* 32-byte blocks of a pixel, which strided instructions take singly. */
uint64_t pool_blocks(const struct pool *pool, enum dtype type);
/* Lays out image and result of the buffers and what the folds need; returns the bytes used. */
uint64_t pool_lay_out(struct pool *pool);
/* Of all kinds of pooling: refusals, and tiles of as many rows of the result as fit. */
bool pool_walks(struct lower_job *job, const struct vkernel *kernel);
void pool_split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings);

/* Rows: the image of a tile into the buffer; its result; the result as a part of y. */
void pool_load(struct emit *emit, struct vkernel *kernel);
void pool_compute(struct emit *emit, struct vkernel *kernel);
void pool_store(struct emit *emit, struct vkernel *kernel);
/*
 * For each row of the result: dst = op(a, b) over its pixels, where a and b are dense rows, or
 * strided ones of the image. An address may name walk->r.
 */
struct pool_row {
  struct expr address;
  bool strided; /* pixels lie stride columns apart */
};
void pool_each_row(struct pool_walk *walk, const char *inst, struct expr rows, struct pool_row dst,
                   struct pool_row a, struct pool_row b);
/* A tensor's shape N, C1, rows, columns, C0. */
void pool_tensor(struct emit *e, const struct pool *pool, const char *name, enum tensor_io io,
                 uint64_t rows, uint64_t cols);

/* Kernel and stride that a profile does not tell, from the extents of map and result: without
 * padding. */
bool pool_call(struct lower_call *call, const struct lower_tensor *x, const struct lower_tensor *y);

#endif
