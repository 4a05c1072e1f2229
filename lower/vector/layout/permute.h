/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving elements to other places: any map between two tensors that is a stride per dimension on
 * both sides. Where the same dimension lies innermost on both, rows are copied; else tiles are
 * transposed in UB, 16 rows at a time, and leave row by row of the other side.
 */
#ifndef VINCI_LOWER_VECTOR_LAYOUT_PERMUTE_H
#define VINCI_LOWER_VECTOR_LAYOUT_PERMUTE_H

#include <string.h>

#include "lower/vector/kernel.h"

enum {
  PERMUTE_DIMENSIONS = 10,
  PERMUTE_PASSES = 6,
  PERMUTE_SIDE = 16, /* rows that one transposition takes */
  PERMUTE_CHUNK = 8, /* rows of 32-bit elements that make half a block row */
  PERMUTE_REPEATS_MAX = 255
};

struct pmap {
  unsigned count;
  uint64_t extent[PERMUTE_DIMENSIONS], from[PERMUTE_DIMENSIONS], to[PERMUTE_DIMENSIONS];
  uint64_t from_base, to_base;
  const char *source, *target; /* tensors; "x" and "y" */
  uint64_t padded;             /* of the innermost dimension of the target, filled with zeros */
  bool fills;                  /* the target gets permute->fill; strides of the source as its own */
};

/* One map, cut into tiles. */
struct ppass {
  struct vtile tile;
  struct vtile_operand in, out;
  bool transposes;
  bool fills;
  bool chunks; /* rows go to UB in turns of 8, see put_load() */
  uint64_t in_pitch, out_pitch;
  uint64_t wide;   /* of single bytes: where 16-bit numbers lie, rows, then columns */
  uint64_t padded; /* elements of a row of the result, or 0 */
  uint64_t groups; /* transpositions of a tile, whose rows and results follow each other */
  /* Pieces of a row of the result, which lie apart in the source, and their distance. */
  uint64_t fan, fan_stride;
  uint64_t
      kept; /* elements of such a row that the result has, the last piece being longer; 0: all */
  /* Not 0: short rows of this many elements (permute_lines.c), and whether they are the result. */
  uint64_t places, column_bytes;
  bool back;
};

/* Blocks of channels of NCHW, for permute_lines_add(). */
struct plines {
  uint64_t n, all_channels, places;
  uint64_t first_block, blocks, channels; /* of each block, up to 8 */
  bool back;                              /* FRACTAL_Z to NCHW */
};

struct permute {
  enum dtype type;
  unsigned passes;
  struct ppass pass[PERMUTE_PASSES];
  uint64_t in_shape[TENSOR_RANK_MAX], out_shape[TENSOR_RANK_MAX];
  unsigned in_rank, out_rank;
  const char *in_format, *out_format;
  enum kernel_code code;
  bool waits;      /* of the tiles (tiles.h) */
  uint32_t fill;   /* 4 bytes of whole elements */
  unsigned inputs; /* more than one: in_shapes, named x, x1, ... */
  uint64_t in_shapes[PERMUTE_PASSES][TENSOR_RANK_MAX];
  uint64_t buffers;
  uint64_t ub_bytes;
  bool whole;             /* one map of all of x to all of y, for permute_gathers() */
  struct vkernel *gather; /* a kernel of its own in place of passes; or NULL */
};

#define PERMUTE_TYPES "fp16|bf16|fp32|int8|uint8|int16|int32|int64"

static inline void permute_copy_shape(uint64_t *to, unsigned *rank,
                                      const struct lower_value *shape) {
  memcpy(to, shape->shape, sizeof shape->shape);
  *rank = shape->rank;
}

/* In job->data, of the type of the key dtype; NULL, with an error, without memory. */
struct permute *permute_new(struct lower_job *job);
/* Strides of a tensor without gaps. */
void permute_strides(const uint64_t *shape, unsigned rank, uint64_t *strides);
/* Adds the map; an empty one is left out. */
enum vinci_status permute_add(struct lower_job *job, struct permute *permute,
                              const struct pmap *map);
/* Whether short rows go in lines: the type, and what UB holds. */
bool permute_lines_fit(const struct lower_job *job, const struct permute *permute, uint64_t c0,
                       uint64_t places);
/* Adds the blocks of channels; none is left out. */
enum vinci_status permute_lines_add(struct lower_job *job, struct permute *permute,
                                    const struct plines *lines);
/* N of one core, as the vendor's kernels share it out: the fewest that leave a core free, and
 * at least 12 KiB. */
uint64_t permute_lines_rows(uint64_t n, uint64_t n_bytes, uint64_t cores);
void permute_lines_lay_out(struct ppass *pass);
void permute_lines_split(const struct vinci_soc *soc, struct ppass *pass);
void permute_lines_load(struct emit *emit, const struct ppass *pass);
void permute_lines_compute(struct emit *emit, const struct ppass *pass);
void permute_lines_store(struct emit *emit, const struct ppass *pass);
/* ND to FRACTAL_NZ or back on coupled cores (fractals.c), whose rows are whole blocks of 32 bytes:
 * permute->gather. */
VINCI_MUST_CHECK enum vinci_status permute_fractals(struct lower_job *job, struct permute *permute,
                                                    const struct lower_value *shape, uint64_t c0,
                                                    bool back);
/* A map, simplified and of whole tensors, becomes a gather of elements in UB (permute_gather.c) if
 * its rows are shorter than a block, and the chip can: permute->gather. */
VINCI_MUST_CHECK enum vinci_status permute_gathers(struct lower_job *job, struct permute *permute,
                                                   const struct pmap *map);
/* An input of a result whose rows, or pieces of them, are shorter than a block: rows of `row`
 * elements, of which the result has `columns` from `first` on, `base` elements behind the start. */
struct pshort_input {
  const char *name;
  uint64_t row, first, columns, base;
};
/* A result of N rows, each of which has the columns of the inputs one after another, by a gather in
 * UB where that is cheaper than the passes that were added before, and the chip can: permute->gather
 * (permute_short.c). */
VINCI_MUST_CHECK enum vinci_status permute_short_rows(struct lower_job *job,
                                                      struct permute *permute,
                                                      const struct pshort_input *inputs,
                                                      unsigned count, uint64_t rows);
bool permute_candidate(struct lower_job *job, size_t index);
bool permute_cost(struct lower_job *job);
/* The tiling that was chosen or given. Passes after the first are cut by the rule for as many
 * blocks, whatever rows and columns were given for the first. */
void permute_take_tiling(const struct lower_job *job, struct permute *permute);
/* The result of a pass as tiles store it: rows of the result are the columns of what is transposed.
 */
void permute_result(const struct ppass *pass, struct vtile *view, struct vtile_operand *out);
/* Whether rows lie in blocks of 32 bytes that follow each other, of which all bytes are read. */
bool permute_reads_blocks(const struct ppass *pass);
/* Elements of 1 and 8 bytes (permute_sizes.c): the rows that are transposed together; bytes of a
 * number in between, 0 where there is none; the transposition of a tile. */
uint64_t permute_side(uint64_t bytes);
uint64_t permute_wide_bytes(uint64_t bytes);
void permute_transpose_sizes(struct emit *emit, const struct ppass *pass);
/* Whether rows follow each other in the source and in UB (permute_rows.c). */
bool permute_loads_packed(const struct ppass *pass);
/* Rows (permute_rows.c). */
void permute_emit(const struct lower_job *job, struct emit *emit);

/* The template of an operator that moves elements: PERMUTE(setup). */
#define PERMUTE(setup_)                                                                            \
  (&(const struct lower_template){setup_, permute_candidate, permute_cost, permute_emit})

#endif
