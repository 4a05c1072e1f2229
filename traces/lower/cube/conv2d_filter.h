/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_backprop_filter: what its files share. dw[k, (c1, kh, kw, c0)] is a product over all
 * points of dy of all images: M are the channels of dy, N the columns that load3d makes of x, and K
 * is cut into turns of some rows of dy of an image each. A block of the result takes a part of the
 * turns.
 */
#ifndef VINCI_TRACES_LOWER_CUBE_CONV2D_FILTER_H
#define VINCI_TRACES_LOWER_CUBE_CONV2D_FILTER_H

#include "traces/lower/cube/conv.h"

enum filter_key {
  FILTER_ACCUMULATE = CONV_KEYS,
  FILTER_TILE,
  FILTER_ROWS,
  FILTER_SPLIT,
  FILTER_CORES,
  FILTER_KEY_COUNT
};

/* Set once by setup(). */
struct filter {
  struct conv conv;
  struct matmul mm; /* m: channels of dy, n: columns of x's windows, of one joined group */
  uint64_t images;
  uint64_t k1;      /* blocks of channels of dy of one group */
  uint64_t dw_rows; /* of a column of blocks of dw */
  bool accumulate;  /* dw is added to */
};

struct filter_tiling {
  struct matmul_tiling t; /* its turns are those of a part of the sums */
  uint64_t rows;          /* of dy in a turn */
  uint64_t chunks;        /* turns of an image */
  uint64_t turns_all;     /* of all parts */
  uint64_t steps;         /* of a full turn */
  uint64_t map_rows;      /* of x under a turn */
  uint64_t groups;        /* of channels of x under a block, at most */
};

/* How dw is cleared before parts are added to it: in so many chunks, by so many vector cores. */
struct filter_clear {
  uint64_t chunk_bytes, chunks, cores;
  uint64_t cycles;
};
struct filter_clear filter_clear(const struct vinci_soc *soc, const struct filter *op);

/* Reads the tiling keys; false, with a reason, when they are not legal. */
bool filter_tiling(struct lower_job *job, struct filter_tiling *tiling);
/* Bytes of dw; whether parts are added to what it holds, and have to be cleared first. */
uint64_t filter_bytes(const struct filter *op);
bool filter_clears(const struct filter *op, const struct filter_tiling *t);
void filter_emit(const struct lower_job *job, struct emit *emit);

#endif
