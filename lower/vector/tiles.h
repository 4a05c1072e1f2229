/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop that all vector and data-movement operators share: an iteration space is cut into
 * tiles, each core takes a run of them, and every tile is copied to UB, computed and copied
 * back, with as many buffers as the tiling says.
 *
 * A space has outer dimensions, rows and columns. A tile is rows x cols of one outer index. An
 * operand lies in device memory with a stride per dimension; stride 0 repeats it (broadcast).
 * In UB its rows follow each other at a pitch of whole 32-byte blocks.
 *
 * Between vtile_open() and vtile_close() rows may use the expressions of struct vtile.
 */
#ifndef VINCI_LOWER_VECTOR_TILES_H
#define VINCI_LOWER_VECTOR_TILES_H

#include "lower/kernel/lower.h"

enum { VTILE_OUTERS = 6 };

/* What a pass over the tiles does; flags are placed accordingly. */
enum vtile_parts {
  VTILE_LOADS = 1,
  VTILE_COMPUTES = 2,
  VTILE_STORES = 4,
};

struct vtile_space {
  unsigned outers;
  uint64_t outer[VTILE_OUTERS]; /* the first varies slowest */
  uint64_t rows, cols;
};

struct vtile {
  struct vtile_space space;
  uint64_t rows, cols; /* of a tile */
  uint64_t blocks;
  uint64_t buffers;
  unsigned parts;     /* enum vtile_parts */
  unsigned flag;      /* first flag id, when a kernel has more than one pass */
  const char *prefix; /* of its names; "" unless a kernel has more than one pass */
  bool waits;         /* with one buffer: a tile comes in once the tile before has been written */
  bool lends; /* the kernel says when inputs and outputs are free: vtile_read(), vtile_writes() */
  uint64_t slot_bytes;   /* from one buffer to the next */
  uint64_t slot_address; /* of the first buffer */
  uint64_t ub_bytes;     /* that the kernel takes */
  /* Sets all addresses, slot_bytes and ub_bytes for rows, cols and buffers. */
  void (*lay_out)(struct vtile *tile);
  /* From vtile_count(). */
  uint64_t row_tiles, col_tiles, tiles, per_block;
  /* From vtile_open(), of the tile that is being walked: its extents, where it starts, its buffer
   * and the flag id of that. */
  struct expr n_rows, n_cols, row, col, outer_at[VTILE_OUTERS], slot, flag_id;
};

struct vtile_operand {
  const char *name; /* of the tensor; NULL: the operand begins at `at` */
  struct expr at;
  enum dtype dtype;
  uint64_t base; /* elements before the first */
  uint64_t outer_stride[VTILE_OUTERS];
  uint64_t row_stride, col_stride; /* elements; the latter 0 or 1 */
  uint64_t address;                /* in the buffer */
  uint64_t pitch;                  /* elements of UB from row to row */
  bool bits;                       /* bytes hold a bit for each of 8 columns; one row only */
  bool whole;                      /* the space is all of the tensor, in its order */
};

/* A tensor of whole rows of a space, at a pitch of UB. */
static inline struct vtile_operand vtile_whole_rows(const char *name, enum dtype dtype,
                                                    const struct vtile_space *space,
                                                    uint64_t pitch) {
  return (struct vtile_operand){.name = name,
                                .dtype = dtype,
                                .row_stride = space->cols,
                                .col_stride = 1,
                                .pitch = pitch,
                                .whole = true};
}

/* Fills the counts; false, with a reason, when the tiling does not fit the space or the chip. */
bool vtile_count(struct lower_job *job, struct vtile *tile);
/* The reason "more cores than tiles: M and N", and false; true where the key idle is given. */
bool vtile_too_few(struct lower_job *job, uint64_t tiles, uint64_t cores);
/* The same without a check, for tilings that have been checked. */
void vtile_counts(struct vtile *tile);
/*
 * The usual split for at most N cores: at least kernel.core_bytes_min for each core, runs that
 * start at multiples of 512 bytes, tiles as large as elements_max allows and of nearly equal size.
 * For spaces of one row.
 */
void vtile_split_run(const struct vinci_soc *soc, uint64_t cores, struct vtile *tile,
                     unsigned element_bytes, uint64_t elements_max);
/* The same for rows: whole rows, at most rows_max of them in a tile. */
void vtile_split_rows(const struct vinci_soc *soc, uint64_t cores, struct vtile *tile,
                      unsigned element_bytes, uint64_t rows_max);

/* Lays out the tile; whether UB holds what the kernel takes. */
bool vtile_fits(const struct lower_job *job, struct vtile *tile);
/* Lays out the tile; false, with a reason, when UB cannot hold what the kernel takes. */
bool vtile_in_ub(struct lower_job *job, struct vtile *tile);
/* "WHAT takes N bytes of UB, there are M", or true. */
bool vtile_ub_holds(struct lower_job *job, const char *what, uint64_t bytes);
/*
 * Whether tiles can store the operand, or the reason. Chips that copy whole blocks alone store no
 * runs of less than a block, unless a run is the end of its tensor.
 */
bool vtile_stores(struct lower_job *job, const struct vtile *tile,
                  const struct vtile_operand *operand);
/*
 * The side of tiles next below the given one, or else above, of which the last tile has enough of
 * the extent for a block of 32 bytes; the given one where the chip copies single bytes.
 */
uint64_t vtile_long_rest(const struct vinci_soc *soc, uint64_t extent, uint64_t side,
                         unsigned element_bytes);
/* "a tile takes whole rows", or true. */
bool vtile_has_whole_rows(struct lower_job *job, const struct vtile *tile);
/* The largest number from low to high of rows, or of units of columns, for which UB holds the tile;
 * low when none does. */
uint64_t vtile_most_rows(const struct lower_job *job, struct vtile *tile, uint64_t low,
                         uint64_t high);
uint64_t vtile_most_cols(const struct lower_job *job, struct vtile *tile, uint64_t unit,
                         uint64_t low, uint64_t high);
/* The tiling as it was chosen or given, counted and laid out. */
void vtile_settle(const struct lower_job *job, struct vtile *tile);
/* Sets the flags that say that buffers are free, or takes them back at the end. */
void vtile_ends(struct emit *emit, const struct vtile *tile, bool start);
/* Opens the loop over the tiles of this block; the rows up to vtile_loaded() copy in. */
void vtile_open(struct emit *emit, struct vtile *tile);
void vtile_loaded(struct emit *emit, struct vtile *tile);
/* The rows up to here compute; those up to vtile_close() copy out. */
void vtile_computed(struct emit *emit, struct vtile *tile);
/* Where a tile lends: the inputs are free for the next tile; the outputs are written from here on.
 */
void vtile_read(struct emit *emit, const struct vtile *tile);
void vtile_writes(struct emit *emit, const struct vtile *tile);
void vtile_close(struct emit *emit, struct vtile *tile);

/* Copies an operand's part of the tile in or out. */
void vtile_load(struct emit *emit, const struct vtile *tile, const struct vtile_operand *operand);
void vtile_store(struct emit *emit, const struct vtile *tile, const struct vtile_operand *operand);
/* A name within the loop over the tiles, with the prefix of the pass. */
const char *vtile_name(struct emit *emit, const struct vtile *tile, const char *name);
/* A run of elements into UB, padded to whole blocks; out of UB. */
void vtile_load_run(struct emit *emit, enum dtype dtype, struct expr dst, struct expr src,
                    struct expr elements);
void vtile_store_run(struct emit *emit, enum dtype dtype, struct expr dst, struct expr src,
                     struct expr elements);
/* Elements of right_pad that fill the last block of a burst. */
struct expr vtile_pad(struct expr bytes, enum dtype dtype);
/* Where the operand's part begins in device memory. */
struct expr vtile_offset(struct emit *emit, const struct vtile *tile,
                         const struct vtile_operand *operand);

/* Bytes of an element, elements of a 32-byte block, the pitch of a row of N elements. */
static inline unsigned vtile_bytes(enum dtype dtype) { return dtype_bits(dtype) / 8; }
uint64_t vtile_pitch(uint64_t cols, unsigned element_bytes);
/* UB that operators use. */
uint64_t vtile_ub_bytes(const struct vinci_soc *soc);
/* Next multiple of the bytes at which banks repeat. */
uint64_t vtile_align(uint64_t bytes);
/* Takes N bytes of UB, rounded up as above, behind those used; returns their address. */
uint64_t vtile_reserve(uint64_t *used, uint64_t bytes);
/* "copy_gm_to_ubuf_align_b16" and the like. */
const char *vtile_copy_name(bool to_gm, enum dtype dtype);

/* The tiling keys of operators that walk tiles. */
#define VTILE_KEYS_TABLE                                                                           \
  TILING_KEY("rows", "rows of a tile"), TILING_KEY("cols", "columns of a tile"),                   \
      BLOCKS_KEY(                                                                                  \
          "cores to use; 0: all that have 4 KiB to do, as the vendor's library takes them"),       \
      TILING_KEY("buffers", "1: copies and computing take turns; 2: they overlap")
/* Tiling from and to the values of those keys. */
void vtile_take(const struct lower_job *job, struct vtile *tile);
void vtile_give(struct lower_job *job, const struct vtile *tile);
/* A candidate takes the rows and columns that were given, and no more cores than it has tiles. */
void vtile_fit(const struct lower_job *job, struct vtile *tile);

#endif
