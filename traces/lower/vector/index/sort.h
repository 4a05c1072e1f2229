/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting along the last dimension: sort and topk. UB sorts a chunk of a row: runs of 32 become
 * entries of score and index, which are merged four lists at a time. Then
 *
 * - whole: a row is one chunk.
 *
 * - running: a row is more, but only its first entries are wanted: each chunk is merged with the
 *   best so far; with fewer rows than cores a row is cut into segments, whose lists meet in device
 *   memory.
 *
 * - network: all of a long row: its sorted chunks lie in device memory, and two at a time are
 *   merged and put back as a lower and an upper chunk. Which two is Batcher's odd-even merge sort,
 * as traces have no addresses that depend on data; a stage ends when all cores are through.
 */
#ifndef VINCI_TRACES_LOWER_VECTOR_SORT_H
#define VINCI_TRACES_LOWER_VECTOR_SORT_H

#include "traces/lower/vector/tiles.h"
#include "traces/lower/vector/unit.h"

enum sort_form { SORT_WHOLE, SORT_RUNNING, SORT_NETWORK };

struct sort {
  enum sort_form form;
  enum dtype type;
  bool descending;
  uint64_t rows, columns;
  uint64_t keep;     /* of each row */
  uint64_t chunk;    /* entries that UB sorts at once: of the tiling */
  uint64_t blocks;   /* of the tiling */
  uint64_t chunks;   /* of a row */
  uint64_t segments; /* running: parts of a row that cores work on side by side */
  uint64_t best;     /* running: entries of a list of the best, in whole blocks of scores */
  /* Addresses in UB: the numbers 0, 1, 2 ...; two buffers of entries; the best so far. */
  uint64_t numbers_at, a_at, b_at, best_at, ub_bytes;
};

enum { SORT_RUN = 32, SORT_ENTRY = 8 };

void sort_emit_rows(struct emit *emit, const struct sort *sort);
/* Stages of the network for N chunks, one by one: pairs lie `distance` apart in groups of
 * 2 * distance, from chunk `first` on, and none crosses a multiple of `span`. False: no more. */
struct sort_stage {
  uint64_t half, distance;     /* of the walk; both 0 before the first */
  uint64_t first, span, pairs; /* pairs: to be tried, some are none */
};
bool sort_next_stage(uint64_t chunks, struct sort_stage *stage);

#endif
