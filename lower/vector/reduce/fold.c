/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of 64 lanes are folded to a block of 8 each by instructions on blocks. The blocks of 16 rows
 * are transposed to 8 lines, which are folded to one with a number for each row. Of a single row,
 * what is in the block is turned by 4, 2 and 1 words and folded with what it was, after which all
 * words are the result. Blocks are turned between two transpositions of 16-bit elements, the only
 * ones there are.
 */
#include "lower/vector/reduce/fold.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"

enum {
  ROWS = 8, /* that have a place where one is folded */
  SIDE = 16,
  SQUARE_BYTES = SIDE * BLOCK_BYTES,
  WORD_SQUARES = 6, /* of a transposition of words (select_put_squares()) */
  FOLD_BYTES = 256,
  FOLD_BLOCKS = FOLD_BYTES / BLOCK_BYTES,
  BLOCK_WORDS = BLOCK_BYTES / 4,
  ALL_LANES = 64
};

/* Addresses of what is kept in UB. */
struct fold {
  struct emit *e;
  const char *inst;
  uint64_t lanes, blocks, across, turned, back;
};

static void mask_lanes(struct emit *e, int64_t low) {
  EMIT(e, "set_vector_mask", F("high", 0), F("low", low));
}

static int64_t first_lanes(unsigned count) {
  return count == ALL_LANES ? -1 : (int64_t)((UINT64_C(1) << count) - 1);
}

/* Bits of the mask's lanes, as they are. */
static void copy_lanes(struct emit *e, struct expr dst, struct expr src, struct expr repeats,
                       uint64_t stride) {
  EMIT(e, "vmax", F("dst", dst), F("src0", src), F("src1", src), F("repeat", repeats),
       F("src0_repeat", stride), F("src1_repeat", stride), W("type", "int32"));
}

static void fold_with(const struct fold *f, uint64_t dst, uint64_t second, unsigned repeats) {
  EMIT(f->e, f->inst, F("dst", dst), F("src0", dst), F("src1", second), F("repeat", repeats),
       W("type", "fp32"));
  emit_barrier(f->e, PIPE_V);
}

static void transpose(const struct fold *f, uint64_t dst, uint64_t src) {
  EMIT(f->e, "scatter_vnchwconv_b16", F("dst", dst), F("src", src));
  emit_barrier(f->e, PIPE_V);
}

/* All words of a block become the largest of them. */
static void fold_blocks(const struct fold *f) {
  struct emit *e = f->e;
  mask_lanes(e, -1);
  for (unsigned words = BLOCK_WORDS / 2; words > 0; words /= 2) {
    uint64_t halves = 2 * words, rest = SIDE - halves;
    transpose(f, f->across, f->blocks);
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", f->turned), F("src", f->across + halves * BLOCK_BYTES),
         F("len_burst", rest));
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", f->turned + rest * BLOCK_BYTES), F("src", f->across),
         F("len_burst", halves));
    emit_barrier(e, PIPE_V);
    transpose(f, f->back, f->turned);
    fold_with(f, f->blocks, f->back, SQUARE_BYTES / FOLD_BYTES);
  }
}

/* The word of the block into its lane. */
static void put_result(const struct fold *f, struct expr dst) {
  struct expr block = x_mul(x_div(dst, BLOCK_BYTES), BLOCK_BYTES), lane = x_div(dst, sizeof(float));
  bool aligned = x_divided_by(dst, BLOCK_BYTES);
  for (unsigned i = 0; i < (aligned ? 1 : BLOCK_WORDS); i++) {
    if (!aligned)
      emit_if(f->e, "lane", x_eq(x_mod(lane, BLOCK_WORDS), i));
    mask_lanes(f->e, INT64_C(1) << i);
    copy_lanes(f->e, aligned ? dst : block, EXPR(f->blocks), EXPR(1), FOLD_BLOCKS);
    if (!aligned)
      emit_end(f->e);
  }
  emit_barrier(f->e, PIPE_V);
}

/* The given lanes of each row, the others with what changes nothing, down to a block of a row. */
static void fold_lanes(const struct fold *f, enum vreduction reduction, unsigned lanes_given,
                       struct expr src, struct expr count, uint64_t stride, unsigned rows) {
  struct emit *e = f->e;
  mask_lanes(e, -1);
  EMIT(e, "vector_dup", F("dst", f->lanes),
       F("scalar", vscalar(DTYPE_FP32, vreduction_identity(reduction))), F("repeat", rows),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  mask_lanes(e, first_lanes(lanes_given));
  copy_lanes(e, EXPR(f->lanes), src, count, stride);
  emit_barrier(e, PIPE_V);
  for (unsigned lanes = ALL_LANES / 2; lanes >= BLOCK_WORDS; lanes /= 2) {
    mask_lanes(e, first_lanes(lanes));
    fold_with(f, f->lanes, f->lanes + lanes * sizeof(float), rows);
  }
}

static void fold_one(const struct fold *f, enum vreduction reduction, unsigned lanes,
                     const struct vfold *fold) {
  struct emit *e = f->e;
  fold_lanes(f, reduction, lanes, fold->src, EXPR(1), fold->stride, ROWS);
  for (unsigned half = 0; half < SIDE / ROWS; half++)
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", f->blocks + half * ROWS * BLOCK_BYTES),
         F("src", f->lanes), F("n_burst", ROWS), F("len_burst", 1), F("src_gap", FOLD_BLOCKS - 1));
  emit_barrier(e, PIPE_V);
  fold_blocks(f);
  put_result(f, fold->dst);
}

/* 16 rows at a time. */
static void fold_many(const struct fold *f, enum vreduction reduction, unsigned lanes,
                      const struct vfold *fold) {
  struct emit *e = f->e;
  struct expr group = emit_for(e, "fold16", x_ceil_div(fold->rows, SIDE));
  struct expr first = x_mul(group, SIDE), count = x_min(SIDE, x_sub(fold->rows, first));
  struct expr src = x_add(fold->src, x_mul(first, fold->stride * BLOCK_BYTES));
  fold_lanes(f, reduction, lanes, src, count, fold->stride, SIDE);
  EMIT(e, "copy_ubuf_to_ubuf", F("dst", f->blocks), F("src", f->lanes), F("n_burst", SIDE),
       F("len_burst", 1), F("src_gap", FOLD_BLOCKS - 1));
  emit_barrier(e, PIPE_V);
  EMIT(e, "scatter_vnchwconv_b32", F("dst", f->across), F("src", f->blocks));
  emit_barrier(e, PIPE_V);
  for (unsigned words = BLOCK_WORDS / 2; words > 0; words /= 2) {
    mask_lanes(e, first_lanes(words * SIDE));
    fold_with(f, f->across, f->across + (uint64_t)words * SIDE * sizeof(float), 1);
  }
  emit_plain(e, "set_mask_count");
  vmask_count(e, count);
  copy_lanes(e, x_add(fold->dst, x_mul(first, sizeof(float))), EXPR(f->across), EXPR(1),
             FOLD_BLOCKS);
  emit_plain(e, "set_mask_norm");
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

void vfold_by_turns(struct vunit *unit, enum vreduction reduction, const struct vfold *fold) {
  uint64_t at = select_squares(unit->emit->soc);
  bool one = x_is(fold->rows, 1);
  /* Of several rows, transpositions of words have the first squares. */
  struct fold f = {unit->emit, vreduction_inst(reduction),
                   .lanes = one ? at : at + WORD_SQUARES * SQUARE_BYTES};
  f.blocks = f.lanes + (uint64_t)(one ? ROWS : SIDE) * FOLD_BYTES;
  f.across = f.blocks + SQUARE_BYTES;
  f.turned = f.across + SQUARE_BYTES;
  f.back = f.turned + SQUARE_BYTES;
  emit_barrier(unit->emit, PIPE_V);
  (one ? fold_one : fold_many)(&f, reduction, unit->lanes, fold);
  vunit_forget(unit);
}
