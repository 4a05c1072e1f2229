/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector work on tiles of rows in single precision: reductions along rows, and operations of a
 * tile with one number per row or with one row. A tile of several rows is walked by columns of 64
 * lanes, each instruction going down all rows; so a pitch has at most 255 blocks and a tile at
 * most 255 rows. A tile of one row may be of any length.
 */
#ifndef VINCI_TRACES_LOWER_VECTOR_ROWS_H
#define VINCI_TRACES_LOWER_VECTOR_ROWS_H

#include "traces/lower/vector/program.h"
#include "traces/lower/vector/tiles.h"

enum { VROWS_MAX = 248, VROW_LANES = 64, VROW_PITCH_MAX = 255 * 8 };

enum vrow_reduction { VROW_SUM, VROW_MAX, VROW_MIN };

struct vrows {
  struct vmachine machine; /* its registers are the caller's, for the order of instructions */
  const char *rows;        /* of this tile */
  bool single;             /* tiles of one row */
  uint64_t cols, pitch;
  uint64_t accumulator; /* 256 bytes per row */
  uint64_t blocks;      /* 32 bytes per row */
  unsigned loops;       /* for names of loop counters */
};

/* Registers for vmachine_order beyond the caller's. */
enum { VROW_ACCUMULATOR = T2, VROW_BLOCKS = T3 };

const char *vrow_instruction(enum vrow_reduction reduction);
double vrow_identity(enum vrow_reduction reduction);
/* One number per row at column, from a tile; both addresses as texts. */
void vrow_reduce(struct vrows *rows, enum vrow_reduction reduction, unsigned column_reg,
                 const char *column, unsigned tile_reg, const char *tile);
/* The numbers of a column as one block per row, for vrow_with_column(). */
void vrow_spread(struct vrows *rows, unsigned column_reg, const char *column);
/* dst = src op the spread column; dst = src op a row. */
void vrow_with_column(struct vrows *rows, const char *inst, unsigned dst_reg, const char *dst,
                      unsigned src_reg, const char *src);
void vrow_with_row(struct vrows *rows, const char *inst, unsigned dst_reg, const char *dst,
                   unsigned src_reg, const char *src, unsigned row_reg, const char *row);
/* Counter mode over the whole tile; over one number per row. */
void vrow_all(struct vrows *rows);
void vrow_column(struct vrows *rows);

#endif
