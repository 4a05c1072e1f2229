/* SPDX-License-Identifier: Apache-2.0 */
/* masked_select and nonzero: what their files share. compact.c says how they work. */
#ifndef VINCI_LOWER_VECTOR_INDEX_COMPACT_H
#define VINCI_LOWER_VECTOR_INDEX_COMPACT_H

#include "lower/vector/kernel.h"

enum {
  COMPACT_WORD = 4, /* bytes */
  COMPACT_HALF = 2,
  COMPACT_PITCH = 64, /* bytes from the count of a block to the next one's, as the vendor has */
  COMPACT_MOVE_FLAG = 2,
  COMPACT_CHUNK = 2048, /* proposals of a tile at most: numbers that fp16 tells apart */
};

struct compact {
  struct vkernel kernel; /* first */
  bool selects;      /* elements of x by a mask; else the numbers of elements of x that are not 0 */
  bool coupled;      /* in two kernels (compact_coupled.c) */
  enum dtype packed; /* what the workspace holds */
  uint64_t count;
  struct vtile_operand x, mask;
  uint64_t out; /* of a slot: the packed elements */
  /* Behind the slots. */
  uint64_t wide, bits, table, numbers, thin, counts;
  /* Behind the meeting, in place of all but the counts. */
  uint64_t index, at, quotient, rest;
  struct expr base; /* of the block: where its part of the workspace begins */
  /* Of coupled cores: what is kept as 1 and 0, sums of these, how many; blocks of one number. */
  uint64_t ones, sums, kept, one, none;
  /* Of these too: proposals of a tile, scores and halves of elements, and those in
   * squares; two buffers of proposals. */
  uint64_t chunk, scores, parts, last, halves, squares, proposals[2];
  uint64_t pairs, longs;    /* of indices in squares, and beside their signs */
  uint64_t joined, joiners; /* elements of y that come together at a time; cores that join */
};

static inline bool compact_is_byte(enum dtype type) {
  return type == DTYPE_INT8 || type == DTYPE_UINT8;
}
/* The slot of a tile of as many columns: its bytes. */
uint64_t compact_lay_out_slot(struct compact *c, uint64_t cols);
/* dst = src in another type; a barrier behind. */
void compact_convert(struct emit *emit, enum dtype from, enum dtype to, struct expr dst,
                     struct expr src);
/* All tiles of the block: "done" becomes how many elements they keep. */
void compact_put_tiles(struct emit *emit, struct compact *c);
/* The counts of all blocks into UB. */
void compact_load_counts(struct emit *emit, const struct compact *c);
/* Of block b, from there. */
struct expr compact_read_count(struct emit *emit, const struct compact *c, struct expr b);
/* Numbers of elements become an index for each dimension, which leave for y from `place` on. */
void compact_put_indices(struct emit *emit, const struct compact *c, struct expr place,
                         struct expr count);

/* What has been loaded to c->at leaves for y from `place` on, as elements or as indices; the flag
 * orders this with the loads. */
void compact_put_moved(struct emit *emit, const struct compact *c, struct expr place,
                       struct expr count, uint64_t flag);

/* Bits of what is kept of the tile: of its mask, or of x in a type that can be compared. */
void compact_put_bits(struct emit *emit, const struct compact *c);

/* ---- coupled cores (compact_coupled.c) ---- */

void compact_coupled_lay_out(struct vtile *tile);
bool compact_coupled_walks(struct lower_job *job, const struct vkernel *kernel);
/* A number of elements of UB goes behind those that the block has stored. */
void compact_put_part(struct emit *emit, const struct compact *c, struct expr from,
                      struct expr kept);
void compact_coupled_emit(const struct lower_job *job, struct emit *emit);

/* ---- their tiles (compact_sorted.c) ---- */

void compact_sorted_lay_out(struct vtile *tile);
/* What all tiles share. */
void compact_sorted_start(struct emit *emit, const struct compact *c);
/* Sums of the two bytes of 16-bit elements of the tile, which are 0 for 0 alone. */
struct expr compact_put_bytes(struct emit *emit, const struct compact *c, struct expr x);
/* What a tile keeps, packed in the slot, and how many these are. */
void compact_squeeze(struct emit *emit, const struct compact *c);
struct expr compact_read_kept(struct emit *emit, const struct compact *c, struct expr expected);

#endif
