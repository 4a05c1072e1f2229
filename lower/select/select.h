/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that a chip lacks, in those that it has. Operators write the instructions of the
 * split cores; on chips without some of these, each such row becomes the rows that do the same:
 *
 * - Copies of single bytes: whole blocks of 32 bytes. A load rounds up, and reads what lies behind.
 *   A store never writes what lies behind: the whole blocks go out, then the last 32 bytes of each
 *   run once more, which a round through device memory brings to the start of a block (the
 *   workspace "seamN"). Runs shorter than a block are for the end of a tensor alone, where its tail
 *   takes what is too much; operators see to that (select_stores()).
 * - Transpositions of 32-bit elements: of their halves.
 * - Forms with a scalar: the scalar in all lanes, then the form with two sources.
 */
#ifndef VINCI_LOWER_SELECT_SELECT_H
#define VINCI_LOWER_SELECT_SELECT_H

#include "lower/kernel/emit.h"

/* Whether the architecture has an instruction. */
bool select_has(const struct vinci_soc *soc, enum isa_op op);
/* Whether the instruction, or the rows that replace a form with a scalar, takes the type. */
bool select_takes(const struct vinci_soc *soc, enum isa_op op, enum dtype type);
/* What replaces rows on a chip; NULL where none has to be. */
const struct emit_selection *select_for(const struct vinci_soc *soc);
/* Bytes at the end of UB that replaced rows use. */
uint64_t select_ub_bytes(const struct vinci_soc *soc);
/* Where the part of them begins that 8 repeats of a vbrcb, squares of 16 blocks and short rows
 * have, 17 squares in all; also for other rows that stand for an instruction which such a chip
 * lacks. */
uint64_t select_squares(const struct vinci_soc *soc);

enum { SELECT_SQUARES_BYTES = 17 * 512 };

/*
 * Rows of a few bytes that follow each other in device memory (select_pack.c): `count` of them at a
 * pitch in UB become one run, or come from a run. How many rows go at once; 0: the vector unit
 * cannot move rows of this size.
 */
struct select_rows {
  struct expr ub, count;
  uint64_t bytes, pitch;
};
uint64_t select_packed_rows(const struct vinci_soc *soc, uint64_t bytes);
/* The run's address in UB. Others of its bytes are of no use, and what is behind the rows too. */
uint64_t select_run(const struct vinci_soc *soc, uint64_t bytes);
/* From rows to the run, whose address is returned; back. Other pipes keep away. */
uint64_t select_pack(struct emit *emit, const struct select_rows *rows);
void select_unpack(struct emit *emit, const struct select_rows *rows);

/* Operands of scatter_vnchwconv_b32, strides and steps in blocks, and the rows that do the same on
 * a chip that lacks the instruction, in the place of select_squares(). */
struct select_squares {
  struct expr dst, src, repeat, dst_step, src_step, dst_repeat, src_repeat;
};
void select_put_squares(struct emit *emit, const struct select_squares *squares);

#endif
