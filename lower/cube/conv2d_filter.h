/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of conv2d_backprop_filter (conv2d_filter.c): what its loads share with the rest. */
#ifndef VINCI_LOWER_CUBE_CONV2D_FILTER_H
#define VINCI_LOWER_CUBE_CONV2D_FILTER_H

#include "lower/cube/matmul_writer.h"

/* Set once by setup(). */
struct filter {
  struct conv conv;
  struct matmul mm; /* A: dy, m its channels; B: x, n columns of its windows; of a joined group */
  uint64_t images;
  uint64_t k1;      /* blocks of channels of dy of one group */
  uint64_t dw_rows; /* of a column of blocks of dw */
  bool accumulate;  /* dw is added to */
  bool by_row;      /* the chip has load3d of the first version, and load2d that transposes */
};

struct filter_tiling {
  struct matmul_tiling t; /* its turns are those of a part of the sums */
  uint64_t rows;          /* of dy in a turn */
  uint64_t chunks;        /* turns of an image */
  uint64_t turns_all;     /* of all parts */
  uint64_t steps;         /* of a full turn */
};

/* The block of a turn is the group `now` of the writer. */
struct filter_writer {
  struct writer w;
  const struct filter *op;
  const struct filter_tiling *t;
  struct expr group, count;  /* of channels; turns of the part */
  struct expr points;        /* of dy in the turn */
  struct expr first, groups; /* blocks of channels of x */
  struct expr cm16, cn16;
};

/* Rows of dy and of x into a slot of L1; of those a step into L0. */
void filter_load(const struct filter_writer *f, struct expr slot);
void filter_to_l0(const struct filter_writer *f);

#endif
