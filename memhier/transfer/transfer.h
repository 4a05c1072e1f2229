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
#include "core/isa/inst.h"
#include "core/machine/values.h"

#define TRANSFER_STEMS(X)                                                                          \
  X(transfer_burst)                                                                                \
  X(transfer_align)                                                                                \
  X(transfer_nd2nz)                                                                                \
  X(transfer_dn2nz)                                                                                \
  X(transfer_load2d)                                                                               \
  X(transfer_load2dt)                                                                              \
  X(transfer_load3d)                                                                               \
  X(transfer_fill)                                                                                 \
  X(transfer_fix)                                                                                  \
  X(transfer_cc_to_ub)                                                                             \
  X(transfer_ub_to_cc)                                                                             \
  X(transfer_ub_row_to_cc)

#define X(stem)                                                                                    \
  void stem##_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost);  \
  unsigned stem##_access(const struct vinci_soc *soc, const struct inst *inst,                     \
                         struct inst_access *access);                                              \
  void stem##_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core);
TRANSFER_STEMS(X)
#undef X

/* Operands of each stem, in signature order. */
enum {
  TRANSFER_DST, /* of all stems */
  TRANSFER_SRC  /* of all but transfer_fill */
};
enum {
  BURST_COUNT = TRANSFER_SRC + 1,
  BURST_LENGTH,
  BURST_SRC_GAP,
  BURST_DST_GAP,
  BURST_CONVERT, /* copy_cbuf_to_bt only */
  BURST_ARGS
};
/* Between L0C and UB: as bursts, and */
enum { L0C_CONVERT = BURST_DST_GAP + 1, L0C_IN_ARGS, L0C_RELU = L0C_IN_ARGS, L0C_OUT_ARGS };
enum { L0C_CONVERT_NONE, L0C_CONVERT_F322F16, L0C_CONVERT_DEQF16 }; /* in: f162f32 is 1 */
enum {
  ALIGN_COUNT = TRANSFER_SRC + 1,
  ALIGN_LENGTH,
  ALIGN_LEFT_PAD,
  ALIGN_RIGHT_PAD,
  ALIGN_SRC_GAP,
  ALIGN_DST_GAP,
  ALIGN_ARGS
};
enum {
  ND2NZ_NUMBER = TRANSFER_SRC + 1,
  ND2NZ_N,
  ND2NZ_D,
  ND2NZ_SRC_ND_STRIDE,
  ND2NZ_SRC_D,
  ND2NZ_DST_C0_STRIDE,
  ND2NZ_DST_N_STRIDE,
  ND2NZ_DST_ND_STRIDE,
  ND2NZ_ARGS
};
enum {
  DN2NZ_NUMBER = TRANSFER_SRC + 1,
  DN2NZ_N,
  DN2NZ_D,
  DN2NZ_SRC_DN_STRIDE,
  DN2NZ_SRC_D,
  DN2NZ_DST_C0_STRIDE,
  DN2NZ_DST_N_STRIDE,
  DN2NZ_DST_NZ_STRIDE,
  DN2NZ_ARGS
};
enum {
  LOAD2D_BASE = TRANSFER_SRC + 1,
  LOAD2D_REPEAT,
  LOAD2D_SRC_STRIDE,
  LOAD2D_DST_GAP,
  LOAD2D_TRANSPOSE, /* from L1 only */
  LOAD2D_ARGS,
  LOAD2DT_FRAC_GAP = LOAD2D_TRANSPOSE, /* transfer_load2dt */
  LOAD2DT_ARGS = LOAD2D_ARGS
};
enum {
  LOAD3D_K_EXT = TRANSFER_SRC + 1,
  LOAD3D_M_EXT,
  LOAD3D_K_START,
  LOAD3D_M_START,
  LOAD3D_STRIDE_W,
  LOAD3D_STRIDE_H,
  LOAD3D_FILTER_W,
  LOAD3D_FILTER_H,
  LOAD3D_DILATION_W,
  LOAD3D_DILATION_H,
  LOAD3D_PAD_LEFT,
  LOAD3D_PAD_RIGHT,
  LOAD3D_PAD_TOP,
  LOAD3D_PAD_BOTTOM,
  LOAD3D_L1_W,
  LOAD3D_L1_H,
  LOAD3D_CHANNELS,
  LOAD3D_TRANSPOSE,
  LOAD3D_ARGS
};
enum { FILL_BLOCKS = TRANSFER_DST + 1, FILL_REPEAT, FILL_DST_GAP, FILL_VALUE, FILL_ARGS };
enum {
  FIX_N = TRANSFER_SRC + 1,
  FIX_M,
  FIX_DST_STRIDE,
  FIX_SRC_STRIDE,
  FIX_QUANT,
  FIX_RELU,
  FIX_UNIT_FLAG,
  FIX_NZ2ND,
  FIX_CHANNEL_SPLIT,
  FIX_ND_NUMBER,
  FIX_SRC_ND_STRIDE,
  FIX_DST_ND_STRIDE,
  FIX_NZ2DN,
  FIX_ARGS,
  FIX_SPLIT = FIX_ARGS, /* into UB only */
  FIX_SUB,
  FIX_UB_ARGS
};
enum { FIX_SPLIT_NONE, FIX_SPLIT_M, FIX_SPLIT_N };
enum { FIX_PARTS_MAX = 2 };
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
/* Both sides of an unaligned copy, with pads; bytes of one element of the forms _b8 to _b32. */
void transfer_align_runs(const struct inst *inst, struct transfer_runs *src,
                         struct transfer_runs *dst);
uint64_t transfer_align_element_bytes(const struct inst *inst);
/* Rows of one matrix in GM, and bytes of one element. */
struct transfer_runs transfer_nd2nz_rows(const struct inst *inst);
uint64_t transfer_nd2nz_element_bytes(const struct inst *inst);
/* Units of load2d on the source side, fractals or squares; the first one lies at the offset. */
struct transfer_runs transfer_load2d_src(const struct inst *inst, uint64_t unit_bytes);
uint64_t transfer_load2d_offset(const struct inst *inst, uint64_t unit_bytes);
/* Fractals of the square that is transposed at a time: 16 x 16 of 16 and 32 bits, 32 x 32 of 8. */
uint64_t transfer_square_fractals(const struct inst *inst);
/* Whether load3d turns rows into columns, and how many columns of blocks it then writes. */
bool transfer_load3d_transposes(const struct inst *inst);
uint64_t transfer_load3d_columns(const struct inst *inst);
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

#endif
