/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transfer engines MTE1, MTE2, MTE3, the fixpipe, and copies of the vector unit: what
 * their instructions cost and touch. Copies between on-chip buffers take their
 * time here; of copies to or from GM this folder's memory model decides the end,
 * and the cost is start-up, bytes and addresses.
 */
#ifndef VINCI_MEMHIER_TRANSFER_TRANSFER_H
#define VINCI_MEMHIER_TRANSFER_TRANSFER_H

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/unit_functions.h"
#include "core/machine/values.h"

/* Numbers of the operands: TRANSFER_DST of all stems, TRANSFER_SRC of all but transfer_fill. */
enum { OPERANDS_TRANSFER(OPERAND_NUMBER, TRANSFER, "", "") };
enum { OPERANDS_BURST_CONVERT(OPERAND_NUMBER, BURST, "", "") };
enum { OPERANDS_BURST_SUB(OPERAND_NUMBER, BURST_SUB, "", "") };
enum { OPERANDS_L0C_RELU(OPERAND_NUMBER, L0C, "", "", "") };
enum { OPERANDS_ALIGN(OPERAND_NUMBER, ALIGN, "", "") };
enum { OPERANDS_NDDMA(OPERAND_NUMBER, NDDMA) };
enum { OPERANDS_ND2NZ(OPERAND_NUMBER, ND2NZ) };
enum { OPERANDS_DN2NZ(OPERAND_NUMBER, DN2NZ) };
enum { OPERANDS_LOAD2D_L1(OPERAND_NUMBER, LOAD2D, "") };
enum { OPERANDS_LOAD2DT(OPERAND_NUMBER, LOAD2DT, "") };
enum { OPERANDS_LOAD2DV2(OPERAND_NUMBER, LOAD2DV2, "") };
enum { OPERANDS_LOAD_SCALES(OPERAND_NUMBER, LOAD_SCALES, "") };
enum { OPERANDS_LOAD_SPARSE(OPERAND_NUMBER, LOAD_SPARSE) };
enum { OPERANDS_LOAD3D(OPERAND_NUMBER, LOAD3D, "") };
enum { OPERANDS_IMG2COL(OPERAND_NUMBER, IMG2COL, "") };
enum { OPERANDS_FILL(OPERAND_NUMBER, FILL, "") };
enum { OPERANDS_FIX_UB(OPERAND_NUMBER, FIX) };
/* Words of operands, in the order of their signatures. */
enum { L0C_CONVERT_NONE, L0C_CONVERT_F322F16, L0C_CONVERT_DEQF16 }; /* in: f162f32 is 1 */
enum { FIX_SPLIT_NONE, FIX_SPLIT_M, FIX_SPLIT_N };
enum {
  QUANT_NONE,
  QUANT_F322F16,
  QUANT_F322BF16,
  QUANT_DEQF16,
  QUANT_VDEQF16,
  QUANT_QF322B8,
  QUANT_VQF322B8,
  QUANT_REQ8,
  QUANT_VREQ8
};

enum { FIX_PARTS_MAX = 2 };
/* A row of 16 accumulators. */
enum { FIX_ROW_BYTES = L0C_FRACTAL_SIDE * ACCUMULATOR_BYTES };

/* Runs of bytes, a stride apart from start to start. */
struct transfer_runs {
  uint64_t count;
  uint64_t bytes;
  uint64_t stride_bytes;
};

/* The path between the spaces of the operands dst and src. */
enum path transfer_path(const struct inst *inst);
/* Address of an operand, as the memory system counts. */
uint64_t transfer_address(const struct inst *inst, unsigned arg);
/* From first to last byte of runs. */
uint64_t transfer_span(struct transfer_runs runs);

/* As inst_touch, for runs in up to three levels, outermost first: the bytes of each level but
 * the last follow from the next. */
unsigned transfer_touch(const struct inst *inst, struct inst_access *access, unsigned count,
                        unsigned arg, uint64_t offset, const struct transfer_runs *levels,
                        unsigned level_count);

/* One side of a copy by runs of blocks: TRANSFER_SRC or TRANSFER_DST. */
struct transfer_runs transfer_burst_runs(const struct inst *inst, unsigned arg);
/* Bytes of one element of the instructions that have a type. */
uint64_t transfer_element_bytes(const struct inst *inst);
/* Both sides of an unaligned copy, with pads. */
void transfer_align_runs(const struct inst *inst, struct transfer_runs *src,
                         struct transfer_runs *dst);
/* Rows of one matrix in GM. */
struct transfer_runs transfer_nd2nz_rows(const struct inst *inst);
/* Units of load2d on the source side, fractals or squares; the first one lies at the offset. */
struct transfer_runs transfer_load2d_src(const struct inst *inst, uint64_t unit_bytes);
uint64_t transfer_load2d_offset(const struct inst *inst, uint64_t unit_bytes);
/* Columns of fractals of load2dv2 on both sides; the first of the source lies at the offset. */
struct transfer_runs transfer_load2dv2_src(const struct inst *inst);
struct transfer_runs transfer_load2dv2_dst(const struct inst *inst);
uint64_t transfer_load2dv2_offset(const struct inst *inst);
/* Rows of fractals of scales; the first of the source lies at the offset. */
struct transfer_runs transfer_load_scales_rows(const struct inst *inst, unsigned stride_arg);
uint64_t transfer_load_scales_offset(const struct inst *inst);
/* Fractals of the square that is transposed at a time: 16 x 16 of 16 and 32 bits, 32 x 32 of 8,
 * 64 x 64 of 4. */
uint64_t transfer_square_fractals(const struct inst *inst);
/* Whether load3d turns rows into columns, and how many columns of blocks it then writes. */
bool transfer_load3d_transposes(const struct inst *inst);
uint64_t transfer_load3d_columns(const struct inst *inst);
/* Where its reads of L1 begin at the start again; 0: nowhere. */
uint64_t transfer_load3d_boundary(const struct inst *inst);
struct transfer_runs transfer_fill_runs(const struct inst *inst);
/* What a fixpipe instruction puts into one place: all, or a half for UB of one AIV. */
struct fix_part {
  struct inst inst; /* with the sizes and the source of the part */
  unsigned sub;     /* AIV of the block; of UB only */
  uint64_t column;  /* first column of the part */
};
unsigned transfer_fix_parts(const struct inst *inst, struct fix_part parts[FIX_PARTS_MAX]);

/* Matrices on both sides of the fixpipe. */
void transfer_fix_matrices(const struct inst *inst, struct transfer_runs *src,
                           struct transfer_runs *dst);
/* Bytes of one element after the conversion. */
uint64_t transfer_fix_element_bytes(const struct inst *inst);
/* Columns that lie together in NZ order: 16, or as many as fill 32 bytes when int8 channels
 * are merged or 32-bit channels split. */
uint64_t transfer_fix_column_width(const struct inst *inst);
/* Whether each column has its own word of quantisation; where those lie in FB. */
bool transfer_fix_by_column(const struct inst *inst);
uint64_t transfer_quant_address(const struct inst *inst);

/* Where an operand's bytes are, while a run keeps values. */
uint8_t *transfer_bytes(const struct inst *inst, const struct value_core *core, unsigned arg);
/* Writes bytes through the operand dst: into GM as the atomic registers say, else as they are. */
void transfer_store(const struct inst *inst, uint8_t *to, const uint8_t *from, uint64_t bytes);

/*
 * The law of a path, fitted to public measurements: bytes are through after
 *   max(start-up + bytes / rate, minimum, bytes / sustained rate)
 * where the start-up grows by path.*.spread_cycles each time the requests double: the copy
 * ends with the slowest of them. The first rate is that of a buffer on the way while the
 * buffer fills; the sustained rate is that of its other end.
 */
uint64_t transfer_startup_mcycles(const struct path_cost *path, uint64_t bytes);
uint64_t transfer_minimum_mcycles(const struct path_cost *path, uint64_t bytes);

/* Cost of a copy of bytes between on-chip buffers. */
void transfer_cost_local(const struct vinci_soc *soc, enum path path, uint64_t bytes,
                         struct inst_cost *cost);
/* Cost of a copy to or from GM: the GM side is the runs from gm_address on. */
void transfer_cost_gm(const struct vinci_soc *soc, enum path path, uint64_t gm_address,
                      struct transfer_runs runs, struct inst_cost *cost);
/* Lets the next copy of such a form start up while this one streams, where the path knows how. */
void transfer_overlap(const struct vinci_soc *soc, struct inst_cost *cost);
/*
 * A copy that reorders rows of GM on the way into L1: the engine takes each line of L2 that a row
 * touches, whole or in part, by itself. Short rows therefore cost as much as rows of a line.
 */
void transfer_reorder(const struct vinci_soc *soc, struct transfer_runs rows,
                      struct inst_cost *cost);

#endif
