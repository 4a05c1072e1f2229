/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running sums and products (cumsum.c): a part of a row, and the forms that compute with a part.
 * Chips with gathers turn a part by tables; others by squares of 32-bit elements (scan_squares.c).
 */
#ifndef VINCI_LOWER_VECTOR_REDUCE_SCAN_H
#define VINCI_LOWER_VECTOR_REDUCE_SCAN_H

#include "lower/vector/kernel.h"

enum {
  SCAN_SIDE = 64, /* pieces of a part, elements of a piece */
  SCAN_PART = SCAN_SIDE * SCAN_SIDE,
  SCAN_WORD_BYTES = 4,
  SCAN_ROW_BYTES = SCAN_SIDE * SCAN_WORD_BYTES,
  SCAN_DOUBLINGS = 6,
  SCAN_BLOCK_LANES = 8
};

struct scan_func {
  const char *inst;
  double identity; /* the number that changes nothing */
};

/* Addresses in UB. */
struct scan {
  const struct scan_func *func;
  bool exclusive, reverse;
  bool squares;           /* no gathers */
  unsigned bytes;         /* of an element */
  uint64_t part;          /* elements of a part */
  uint64_t in, out, slot; /* two buffers */
  uint64_t wide, turned, sums, before, carry, end;
  uint64_t table, shift, last, total;       /* of gathers */
  uint64_t each, each_before, blocks_of_16; /* of squares: a block for each lane, see there */
};

/* The buffers of squares, behind the `used` bytes. */
void scan_squares_reserve(struct scan *x, uint64_t *used);
/* Pieces, as rows, become lanes; the same again makes the lanes rows in their order. */
void scan_squares_turn(struct emit *e, struct expr dst, struct expr src);
/* Sums within all pieces; then of the pieces before each, with x->carry, which gets the sum of all.
 */
void scan_squares_sum(struct emit *e, const struct scan *x);
/* Results without the element itself, from x->turned and x->before, to x->sums. */
void scan_squares_exclude(struct emit *e, const struct scan *x);

#endif
