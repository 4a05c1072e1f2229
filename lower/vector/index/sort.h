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
#ifndef VINCI_LOWER_VECTOR_INDEX_SORT_H
#define VINCI_LOWER_VECTOR_INDEX_SORT_H

#include "lower/vector/tiles.h"
#include "lower/vector/unit.h"

enum sort_form { SORT_WHOLE, SORT_RUNNING, SORT_NETWORK };

struct sort {
  enum sort_form form;
  enum dtype type;
  bool descending;
  bool proposals;  /* of coupled cores (sort_proposals.c), else entries of score and index */
  enum dtype work; /* of the scores while they are sorted */
  uint64_t entry;  /* bytes of an entry */
  uint64_t rows, columns;
  uint64_t keep;     /* of each row */
  uint64_t chunk;    /* entries that UB sorts at once: of the tiling */
  uint64_t blocks;   /* of the tiling */
  uint64_t chunks;   /* of a row */
  uint64_t segments; /* running: parts of a row that cores work on side by side */
  uint64_t best;     /* running: entries of a list of the best, in whole blocks of scores */
  /* Addresses in UB: the numbers 0, 1, 2 ...; two buffers of entries; the best so far. */
  uint64_t numbers_at, a_at, b_at, best_at, ub_bytes;
  /* Of proposals: elements of x, their scores, chunk numbers; results of rows that leave together,
   * and how far these are apart in elements. */
  uint64_t raw_at, scores_at, high_at, parts_at, y_at, y1_at, kept_rows, result_pitch;
};

enum { SORT_RUN = 32, SORT_ENTRY = 8, SORT_BEST_UNIT = 8 };

/* Which way the rows of the tiling go. */
void sort_choose_form(struct sort *sort);
/* The same functions of coupled cores: why they cannot sort (NULL: they can), their longest
 * chunk, UB, rows of the trace. */
const char *sort_proposals_cannot(const struct sort *sort);
uint64_t sort_proposals_chunk(const struct sort *sort);
void sort_proposals_lay_out(struct sort *sort);
/* Whether the last part of a long row is a block of device memory. */
bool sort_proposals_stores(const struct sort *sort);
/* The fewest rows of a core whose results are a block of device memory. */
uint64_t sort_proposals_rows_min(const struct sort *sort);
void sort_proposals_emit(struct emit *emit, const struct sort *sort);

/* Sorted runs of a chunk in buffer a or b become one list; returns its buffer. */
uint64_t sort_put_levels(struct emit *emit, const struct sort *sort, uint64_t from, uint64_t run);
/* One instruction that merges up to four lists which follow each other; a single one is copied. */
void sort_put_merge(struct emit *emit, const struct sort *sort, uint64_t dst, uint64_t src,
                    uint64_t list, uint64_t entries, uint64_t repeat);
/* The best so far, which come first among equals, and a list; the very first list is the best. */
void sort_put_better(struct emit *emit, const struct sort *sort, struct expr is_first,
                     uint64_t list);
/* Entries between buffers of UB, or from and to device memory. */
void sort_put_entries(struct emit *emit, const struct sort *sort, const char *copy, struct expr dst,
                      struct expr src, uint64_t entries);
/* Two sorted chunks of device memory into a lower and an upper one, `distance` chunks apart. */
void sort_put_pair(struct emit *emit, const struct sort *sort, struct expr lower,
                   uint64_t distance);
/* An element of a row of a tensor, in bytes; rows have `columns` elements. */
struct expr sort_at_element(struct emit *emit, const char *tensor, struct expr row,
                            uint64_t columns, struct expr first, uint64_t bytes);

void sort_emit_rows(struct emit *emit, const struct sort *sort);
/* Stages of the network for N chunks, one by one: pairs lie `distance` apart in groups of
 * 2 * distance, from chunk `first` on, and none crosses a multiple of `span`. False: no more. */
struct sort_stage {
  uint64_t half, distance;     /* of the walk; both 0 before the first */
  uint64_t first, span, pairs; /* pairs: to be tried, some are none */
};
bool sort_next_stage(uint64_t chunks, struct sort_stage *stage);

#endif
