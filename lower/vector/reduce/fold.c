/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of 64 lanes are folded to a block of 8 each by instructions on blocks. What is in a block is
 * turned by 4, 2 and 1 words and folded with what it was, after which all of its words are the
 * result. Blocks are turned between two transpositions of 16-bit elements, the only ones there are.
 */
#include "lower/vector/reduce/fold.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"

enum {
  ROWS = 8, /* that are folded together */
  SIDE = 16,
  SQUARE_BYTES = SIDE * BLOCK_BYTES,
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

/* A word of each block into the lane of its row. */
static void put_results(const struct fold *f, struct expr dst) {
  struct expr block = x_mul(x_div(dst, BLOCK_BYTES), BLOCK_BYTES), lane = x_div(dst, sizeof(float));
  bool aligned = x_divided_by(dst, BLOCK_BYTES);
  for (unsigned i = 0; i < ROWS; i++) {
    if (!aligned)
      emit_if(f->e, "lane", x_eq(x_mod(lane, BLOCK_WORDS), i));
    mask_lanes(f->e, INT64_C(1) << i);
    copy_lanes(f->e, aligned ? dst : block, EXPR(f->blocks + (aligned ? i : 0) * BLOCK_BYTES),
               EXPR(1), FOLD_BLOCKS);
    if (!aligned)
      emit_end(f->e);
  }
  emit_barrier(f->e, PIPE_V);
}

void vfold_by_turns(struct vunit *unit, enum vreduction reduction, const struct vfold *fold) {
  struct emit *e = unit->emit;
  uint64_t at = select_squares(e->soc);
  struct fold f = {e, vreduction_inst(reduction), at, .blocks = at + ROWS * FOLD_BYTES};
  f.across = f.blocks + SQUARE_BYTES;
  f.turned = f.across + SQUARE_BYTES;
  f.back = f.turned + SQUARE_BYTES;
  bool one = x_is(fold->rows, 1);
  emit_barrier(e, PIPE_V);
  struct expr group = one ? EXPR(0) : emit_for(e, "fold8", x_ceil_div(fold->rows, ROWS));
  struct expr first = x_mul(group, ROWS);
  mask_lanes(e, -1);
  EMIT(e, "vector_dup", F("dst", f.lanes),
       F("scalar", vscalar(DTYPE_FP32, vreduction_identity(reduction))), F("repeat", ROWS),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  mask_lanes(e, first_lanes(unit->lanes));
  copy_lanes(e, EXPR(f.lanes), x_add(fold->src, x_mul(first, fold->stride * BLOCK_BYTES)),
             one ? EXPR(1) : x_min(ROWS, x_sub(fold->rows, first)), fold->stride);
  emit_barrier(e, PIPE_V);
  for (unsigned lanes = ALL_LANES / 2; lanes >= BLOCK_WORDS; lanes /= 2) {
    mask_lanes(e, first_lanes(lanes));
    fold_with(&f, f.lanes, f.lanes + lanes * sizeof(float), ROWS);
  }
  for (unsigned half = 0; half < SIDE / ROWS; half++)
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", f.blocks + half * ROWS * BLOCK_BYTES), F("src", f.lanes),
         F("n_burst", ROWS), F("len_burst", 1), F("src_gap", FOLD_BLOCKS - 1));
  emit_barrier(e, PIPE_V);
  fold_blocks(&f);
  put_results(&f, one ? fold->dst : x_add(fold->dst, x_mul(group, BLOCK_BYTES)));
  if (!one)
    emit_end(e);
  vunit_forget(unit);
}
