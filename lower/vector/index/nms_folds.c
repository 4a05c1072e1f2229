/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nms on chips that reduce no fp32, nor take numbers apart.
 *
 * The largest score: chunks of scores, then halves of what is left, leave the larger of each two
 * numbers, down to the 8 of a block, of which the scalar unit takes the largest. Where that score
 * lies: each score that equals the largest has the number of its box, all others a number beyond
 * all boxes, and the smallest of these is the first box.
 *
 * The numbers of boxes: 128 boxes are 64 blocks of 32 bytes, two boxes in each. Every fourth block
 * is a row of a square of 16 blocks. Transposed, a half of a number of a box is a row, so that rows
 * of the same number of all four squares are a square of their own, which is transposed back.
 */
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/index/nms.h"
#include "lower/vector/unit.h"

enum {
  FOUND_FLAG = 2,
  LANES = BLOCK_BYTES / NMS_WORD,
  SIDE = 16, /* blocks of a square */
  SQUARE_BYTES = SIDE * BLOCK_BYTES,
  SQUARES = 4, /* of a turn, a block of each in turns */
  TURN_BOXES = SQUARES * SQUARE_BYTES / NMS_WORD / NMS_PLANES,
  PAIR = 2,                  /* halves of a number; boxes of a block */
  HALVES_APART = SIDE / PAIR /* rows from one box of a block to the next */
};

/* What is left of a chunk: the largest scores, or the smallest numbers of boxes. */
struct fold {
  const char *inst, *type;
  uint64_t at;
};

static void put_fold(struct emit *e, const struct fold *fold, struct expr from) {
  EMIT(e, fold->inst, F("dst", fold->at), F("src0", fold->at), F("src1", from), F("repeat", 1),
       W("type", fold->type));
  emit_barrier(e, PIPE_V);
}

static void put_first(struct emit *e, const struct nms *nms, const struct fold *fold,
                      int64_t loser) {
  vmask_count(e, nms->chunk);
  vfill(e, fold->at, loser, fold->type);
  emit_barrier(e, PIPE_V);
}

/* Down to the first block; the scalar unit may read what is left. */
static void put_folds(struct emit *e, const struct nms *nms, const struct fold *fold) {
  for (uint64_t left = nms->chunk; left > LANES;) {
    uint64_t kept = round_up(ceil_div(left, 2), LANES);
    vmask_count(e, left - kept);
    put_fold(e, fold, EXPR(fold->at + kept * NMS_WORD));
    left = kept;
  }
  emit_handshake(e, PIPE_V, PIPE_S, FOUND_FLAG);
}

/* ---- the largest score ----------------------------------------------------------------------- */

/* The bits of a number of single precision as an integer in the order of numbers, and back: those
 * of negative numbers are counted the other way. */
static struct expr turned(struct expr bits) {
  return x_add(bits, x_mul(x_lt(bits, 0), x_sub(INT32_MIN, x_mul(bits, 2))));
}

struct expr nms_fold_best(struct emit *e, const struct nms *nms, struct expr value) {
  const struct fold fold = {"vmax", "fp32", nms->temp[0]};
  struct expr n;
  put_first(e, nms, &fold, vscalar(DTYPE_FP32, -(double)INFINITY));
  struct expr first = nms_open_chunks(e, nms, &n);
  vmask_count(e, n);
  put_fold(e, &fold, x_add(nms->scores, x_mul(first, NMS_WORD)));
  emit_end(e);
  put_folds(e, nms, &fold);
  struct expr largest = emit_assigned(e, "largest", EXPR(INT32_MIN));
  struct expr lane = emit_for(e, "lane", LANES);
  struct expr word = emit_read_word(e, "word", value, x_at(fold.at, lane, NMS_WORD), DTYPE_INT32);
  emit_change(e, "largest", x_max(largest, turned(word)));
  emit_end(e);
  return emit_assigned(e, "best", turned(largest));
}

struct expr nms_fold_box(struct emit *e, const struct nms *nms, struct expr best,
                         struct expr guess) {
  const struct fold fold = {"vmin", "int32", nms->temp[0]};
  const uint64_t part = nms->temp[1];
  struct expr n;
  vmask_count(e, LANES);
  vfill(e, nms->number, best, "fp32");
  put_first(e, nms, &fold, INT32_MAX);
  struct expr first = nms_open_chunks(e, nms, &n);
  vmask_count(e, n);
  EMIT(e, "vcmpv_eq", F("dst", nms->bits), F("src0", x_add(nms->scores, x_mul(first, NMS_WORD))),
       F("src1", nms->number), F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vsel", F("dst", part), F("src0", nms->places), F("src1", nms->beyond),
       F("mask", nms->bits), F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vadds", F("dst", part), F("src", part), F("scalar", first), F("repeat", 1),
       W("type", "int32"));
  emit_barrier(e, PIPE_V);
  put_fold(e, &fold, EXPR(part));
  emit_end(e);
  put_folds(e, nms, &fold);
  struct expr box = emit_assigned(e, "box", EXPR(INT32_MAX));
  struct expr lane = emit_for(e, "lane", LANES);
  struct expr word = emit_read_word(e, "word", guess, x_at(fold.at, lane, NMS_WORD), DTYPE_INT32);
  emit_change(e, "box", x_min(box, word));
  emit_end(e);
  return box;
}

void nms_fold_start(struct emit *e, const struct nms *nms) {
  const struct vtable places = vtable_series(nms->places, 1);
  vtables_fill(e, &places, 1, nms->chunk);
  vmask_count(e, LANES);
  vfill(e, nms->beyond, vscalar(DTYPE_FP32, (double)INFINITY), "fp32");
}

/* ---- numbers of boxes ------------------------------------------------------------------------ */

/* Blocks of squares: block i of turn r lies at i * step + r * next blocks. */
static void transpose(struct emit *e, struct expr turns, uint64_t dst, uint64_t dst_next,
                      uint64_t src, uint64_t src_step, uint64_t src_next) {
  /* The strides of a single repeat would be added to its addresses. */
  struct expr more = x_gt(turns, 1);
  EMIT(e, "scatter_vnchwconv_b16", F("dst", dst), F("src", src), F("repeat", turns),
       F("dst_step", 1), F("src_step", src_step), F("dst_repeat", x_mul(more, dst_next)),
       F("src_repeat", x_mul(more, src_next)));
}

void nms_put_apart(struct emit *e, const struct nms *nms, struct expr n) {
  struct expr turns = emit_named(e, "turns", x_ceil_div(n, TURN_BOXES));
  const uint64_t rows = nms->temp[0], raw = nms->raw, plane = nms->chunk * NMS_WORD;
  for (uint64_t i = 0; i < SQUARES; i++)
    transpose(e, turns, rows + i * SQUARE_BYTES, SQUARES * SIDE, raw + i * BLOCK_BYTES, SQUARES,
              SQUARES * SIDE);
  emit_barrier(e, PIPE_V);
  for (uint64_t i = 0; i < NMS_PLANES; i++)
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", raw + i * plane), F("src", rows + i * PAIR * BLOCK_BYTES),
         F("n_burst", x_mul(turns, SQUARES * PAIR)), F("len_burst", PAIR),
         F("src_gap", HALVES_APART - PAIR), F("dst_gap", 0));
  emit_barrier(e, PIPE_V);
  for (uint64_t i = 0; i < NMS_PLANES; i++)
    transpose(e, turns, nms->temp[i], SIDE, raw + i * plane, 1, SIDE);
  emit_barrier(e, PIPE_V);
}
