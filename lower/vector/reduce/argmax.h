/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the largest or smallest of each row is. argmax.c has the operators and the kernel of chips
 * whose copies fill up rows; argmax_rows.c the kernel of the others.
 */
#ifndef VINCI_LOWER_VECTOR_REDUCE_ARGMAX_H
#define VINCI_LOWER_VECTOR_REDUCE_ARGMAX_H

#include "lower/kernel/lower.h"

enum { ARGMOST_RESULTS = 2, ARGMOST_CHUNK_MAX = 8192 };

/* A number of each row, in single precision in a column of UB, and in its type behind that. */
struct argmost_result {
  const char *tensor;
  enum dtype type;
  uint64_t column, converted;
};

struct argmost {
  bool smallest;
  enum dtype type;
  uint64_t rows, columns, chunk, chunks, blocks, per_block;
  uint64_t winners; /* of a row: one of each 64 elements, in whole chunks */
  /* Addresses in UB. */
  uint64_t slot_bytes, x, pairs, values, lanes, starts, indices, bits, fold, best, ub_bytes;
  unsigned results;
  struct argmost_result result[ARGMOST_RESULTS];
  /* argmax_rows.c: rows and padded columns of a tile, rows whose results are kept; addresses. */
  uint64_t tile_rows, pitch, kept;
  uint64_t accumulator, spread, nothing;
};

/* What can not win. */
double argmost_loser(const struct argmost *arg);
/* The results of rows from `first` on, whose columns are complete. */
void argmost_put_results(struct emit *emit, const struct argmost *arg, struct expr first,
                         struct expr rows);

/* The kernel of tiles of rows, for chips whose copies do not fill up rows: a candidate's tiling,
 * its cost, the rows behind the prologue. */
bool argmost_rows_candidate(struct lower_job *job, size_t index);
bool argmost_rows_cost(struct lower_job *job);
/* Lays out UB for the tiling in `arg`. */
void argmost_rows_lay_out(struct argmost *arg);
void argmost_rows_put(struct emit *emit, const struct argmost *arg);

#endif
