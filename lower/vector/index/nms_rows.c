/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of nms: boxes and scores of a class into UB, and a turn for each box that is kept. */
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/index/nms.h"
#include "lower/vector/unit.h"

enum { LOAD_FLAG = 0, FREE_FLAG = 1, FOUND_FLAG = 2, STORE_FLAG = 3 };
enum { EVERY_FOURTH = 3 }; /* the first of the patterns of vreducev2 that take every fourth */
enum { ESTIMATE_STEP = 7919 };

static int64_t bits_of(double value) { return vscalar(DTYPE_FP32, value); }

#define BINARY(e_, inst_, dst_, a_, b_)                                                            \
  EMIT(e_, inst_, F("dst", dst_), F("src0", a_), F("src1", b_), F("repeat", 1), W("type", "fp32"))
#define SCALAR(e_, inst_, dst_, a_, scalar_)                                                       \
  EMIT(e_, inst_, F("dst", dst_), F("src", a_), F("scalar", scalar_), F("repeat", 1),              \
       W("type", "fp32"))
/* bits = a compared with b, and dst = the bit ? src : minus infinity; b, one block, is repeated. */
#define IN_A_BLOCK F("src1_block", 0), F("src1_repeat", 0)

static void put_select(struct emit *e, const struct nms *nms, struct expr dst, struct expr src) {
  EMIT(e, "vsel", F("dst", dst), F("src0", src), F("src1", nms->nothing), F("mask", nms->bits),
       F("repeat", 1), IN_A_BLOCK, W("type", "fp32"));
}

/* ---- into UB --------------------------------------------------------------------------------- */

/* A run of numbers, in single precision at an address; `raw` takes them in their own type. */
static void put_load(struct emit *e, const struct nms *nms, struct expr to, uint64_t raw,
                     struct expr from, struct expr count) {
  bool converts = nms->type != DTYPE_FP32;
  emit_handshake(e, PIPE_V, PIPE_MTE2, FREE_FLAG);
  vtile_load_run(e, nms->type, converts ? EXPR(raw) : to, from, count);
  emit_handshake(e, PIPE_MTE2, PIPE_V, LOAD_FLAG);
  if (!converts)
    return;
  vmask_count(e, count);
  vunit_convert(&(struct vunit){.emit = e}, 0, 0, nms->type, DTYPE_FP32, to, EXPR(raw));
  emit_barrier(e, PIPE_V);
}

/* The four numbers of the boxes of a chunk, each of them together. */
static void put_numbers(struct emit *e, const struct nms *nms, struct expr batch, struct expr first,
                        struct expr n) {
  uint64_t bytes = vtile_bytes(nms->type);
  struct expr image = x_at(x_name(e, "boxes"), batch, nms->boxes * NMS_PLANES * bytes);
  for (unsigned i = 0; i < NMS_PLANES && nms->planes; i++)
    put_load(e, nms, EXPR(nms->temp[i]), nms->raw, x_at(image, x_add(first, i * nms->boxes), bytes),
             n);
  if (nms->planes)
    return;
  put_load(e, nms, EXPR(nms->raw), nms->temp[0], x_at(image, first, NMS_PLANES * bytes),
           x_mul(n, NMS_PLANES));
  if (nms->apart) {
    nms_put_apart(e, nms, n);
    return;
  }
  vmask_count(e, x_mul(n, NMS_PLANES));
  for (unsigned i = 0; i < NMS_PLANES; i++)
    EMIT(e, "vreducev2", F("dst", nms->temp[i]), F("src0", nms->raw), F("src1", nms->raw),
         F("repeat", 1), F("pattern", EVERY_FOURTH + i), W("type", "uint32"));
  emit_barrier(e, PIPE_V);
}

/* The lower and the upper end of one side of the boxes, which are plane `i` and the one two
 * further on. */
static void put_ends(struct emit *e, const struct nms *nms, unsigned i, struct expr at) {
  uint64_t a = nms->temp[i], b = nms->temp[i + 2];
  if (nms->center) {
    SCALAR(e, "vmuls", b, b, bits_of(0.5));
    emit_barrier(e, PIPE_V);
  }
  BINARY(e, nms->center ? "vsub" : "vmin", x_add(nms->plane[i], at), a, b);
  BINARY(e, nms->center ? "vadd" : "vmax", x_add(nms->plane[i + 2], at), a, b);
}

/* dst = t * the areas of boxes. */
static void put_areas(struct emit *e, const struct nms *nms, struct expr dst, uint64_t temp,
                      struct expr at) {
  BINARY(e, "vsub", dst, x_add(nms->plane[2], at), x_add(nms->plane[0], at));
  BINARY(e, "vsub", temp, x_add(nms->plane[3], at), x_add(nms->plane[1], at));
  emit_barrier(e, PIPE_V);
  BINARY(e, "vmul", dst, dst, temp);
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vmuls", dst, dst, bits_of((double)nms_share(nms)));
  emit_barrier(e, PIPE_V);
}

struct expr nms_open_chunks(struct emit *e, const struct nms *nms, struct expr *n) {
  struct expr c = emit_for(e, "chunk", ceil_div(nms->boxes, nms->chunk));
  struct expr first = emit_assigned(e, "first", x_mul(c, nms->chunk));
  *n = emit_assigned(e, "n", x_rest(nms->chunk, nms->boxes, first));
  return first;
}

static void put_boxes(struct emit *e, const struct nms *nms, struct expr batch) {
  struct expr n, first = nms_open_chunks(e, nms, &n);
  struct expr at = emit_assigned(e, "at", x_mul(first, NMS_WORD));
  put_numbers(e, nms, batch, first, n);
  vmask_count(e, n);
  put_ends(e, nms, 0, at);
  put_ends(e, nms, 1, at);
  emit_barrier(e, PIPE_V);
  if (nms->areas)
    put_areas(e, nms, x_add(nms->area, at), nms->temp[0], at);
  emit_end(e);
}

/* Scores of a class; those that do not exceed the least one, and what lies behind, become minus
 * infinity. */
static void put_scores(struct emit *e, const struct nms *nms, struct expr unit) {
  uint64_t bytes = vtile_bytes(nms->type);
  struct expr n;
  emit_barrier(e, PIPE_V);
  vmask_count(e, round_up(nms->boxes, NMS_LANES));
  vfill(e, nms->scores, bits_of(-(double)INFINITY), "fp32");
  vmask_count(e, BLOCK_BYTES / NMS_WORD);
  vfill(e, nms->number, bits_of(nms->scored ? (double)nms->score : -(double)INFINITY), "fp32");
  emit_barrier(e, PIPE_V);
  struct expr first = nms_open_chunks(e, nms, &n);
  put_load(e, nms, EXPR(nms->temp[0]), nms->temp[1],
           x_at(x_name(e, "scores"), x_add(x_mul(unit, nms->boxes), first), bytes), n);
  vmask_count(e, n);
  EMIT(e, "vcmpv_gt", F("dst", nms->bits), F("src0", nms->temp[0]), F("src1", nms->number),
       F("repeat", 1), IN_A_BLOCK, W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  put_select(e, nms, x_add(nms->scores, x_mul(first, NMS_WORD)), EXPR(nms->temp[0]));
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

/* ---- the largest score ----------------------------------------------------------------------- */

/* All lanes of scores, then every second lane of pairs. For times, `value`. */
static struct expr put_best(struct emit *e, const struct nms *nms, struct expr value) {
  emit_plain(e, "set_mask_norm");
  for (unsigned i = 0; i < nms->levels; i++) {
    if (i < 2)
      EMIT(e, "set_vector_mask", F("high", 0), F("low", i == 0 ? -1 : 0x5555555555555555));
    EMIT(e, "vcmax", F("dst", nms->pairs[i]), F("src", i == 0 ? nms->scores : nms->pairs[i - 1]),
         F("repeat", nms->winners[i]), W("type", "fp32"));
    emit_barrier(e, PIPE_V);
  }
  emit_plain(e, "set_mask_count");
  emit_handshake(e, PIPE_V, PIPE_S, FOUND_FLAG);
  return emit_read_word(e, "best", value, EXPR(nms->pairs[nms->levels - 1]), DTYPE_INT32);
}

/* Where the largest score lies, from the last level to the first. For times, `guess`. */
static struct expr put_index(struct emit *e, const struct nms *nms, struct expr guess) {
  static const char *const names[] = {"lane", "lane1", "lane2"};
  struct expr index = EXPR(0);
  for (unsigned i = nms->levels; i-- > 0;) {
    uint64_t below = i == 0 ? 1 : NMS_LANES;
    for (unsigned k = 1; k < i; k++)
      below *= NMS_PAIRS;
    struct expr part = x_mod(x_div(guess, below), i == 0 ? NMS_LANES : NMS_PAIRS);
    struct expr lane =
        emit_read_word(e, names[i], x_mul(part, i == 0 ? 1 : 2),
                       x_add(nms->pairs[i] + NMS_WORD, x_mul(index, 2 * NMS_WORD)), DTYPE_INT32);
    index = i == 0 ? x_add(x_mul(index, NMS_LANES), lane)
                   : x_add(x_mul(index, NMS_PAIRS), x_div(lane, 2));
    index = emit_assigned(e, i == 0 ? "box" : i == 1 ? "pair1" : "pair2", index);
  }
  return index;
}

/* One word of UB becomes a number, which is known when the row is issued. */
static void put_word(struct emit *e, uint64_t words, struct expr index, struct expr value,
                     const char *type) {
  struct expr lane = x_mod(index, BLOCK_BYTES / NMS_WORD);
  struct expr bit =
      x_mul(x_mul(x_add(1, x_mod(lane, 2)), x_add(1, x_mul(x_mod(x_div(lane, 2), 2), 3))),
            x_add(1, x_mul(x_div(lane, 4), 15)));
  EMIT(e, "set_vector_mask", F("high", 0), F("low", bit));
  vfill(e, x_add(words, x_mul(x_div(index, BLOCK_BYTES / NMS_WORD), BLOCK_BYTES)), value, type);
}

/* ---- one kept box ---------------------------------------------------------------------------- */

/* t times the area of the kept box, of which UB holds none: computed for its block. */
static struct expr put_own_area(struct emit *e, const struct nms *nms, struct expr box) {
  const uint64_t lanes = BLOCK_BYTES / NMS_WORD;
  if (nms->areas)
    return emit_read_word(e, "own", EXPR(0), x_add(nms->area, x_mul(box, NMS_WORD)), DTYPE_INT32);
  struct expr at = emit_named(e, "block_at", x_mul(x_div(box, lanes), BLOCK_BYTES));
  vmask_count(e, lanes);
  put_areas(e, nms, EXPR(nms->temp[0]), nms->temp[1], at);
  emit_handshake(e, PIPE_V, PIPE_S, FOUND_FLAG);
  return emit_read_word(e, "own", EXPR(0), x_add(nms->temp[0], x_mul(x_mod(box, lanes), NMS_WORD)),
                        DTYPE_INT32);
}

/* The kept box against a chunk. The width is not negative, so that the product is negative where
 * only the height is, which overlaps with nothing. */
static void put_compare(struct emit *e, const struct nms *nms, const struct expr *side,
                        struct expr own, struct expr at) {
  const uint64_t *t = nms->temp;
  SCALAR(e, "vmaxs", t[0], x_add(nms->plane[0], at), side[0]);
  SCALAR(e, "vmins", t[1], x_add(nms->plane[2], at), side[2]);
  SCALAR(e, "vmaxs", t[2], x_add(nms->plane[1], at), side[1]);
  SCALAR(e, "vmins", t[3], x_add(nms->plane[3], at), side[3]);
  emit_barrier(e, PIPE_V);
  BINARY(e, "vsub", t[1], t[1], t[0]);
  BINARY(e, "vsub", t[3], t[3], t[2]);
  emit_barrier(e, PIPE_V);
  SCALAR(e, "vmaxs", t[1], t[1], bits_of(0));
  if (nms->areas)
    SCALAR(e, "vadds", t[2], x_add(nms->area, at), own);
  else
    put_areas(e, nms, EXPR(t[2]), t[0], at);
  emit_barrier(e, PIPE_V);
  BINARY(e, "vmul", t[1], t[1], t[3]);
  if (!nms->areas)
    SCALAR(e, "vadds", t[2], t[2], own);
  emit_barrier(e, PIPE_V);
  EMIT(e, "vcmpv_le", F("dst", nms->bits), F("src0", t[1]), F("src1", t[2]), F("repeat", 1),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  put_select(e, nms, x_add(nms->scores, at), x_add(nms->scores, at));
  emit_barrier(e, PIPE_V);
}

static void put_suppression(struct emit *e, const struct nms *nms, struct expr box) {
  static const char *const names[] = {"low0", "low1", "high0", "high1"};
  struct expr side[NMS_PLANES], n;
  for (unsigned i = 0; i < NMS_PLANES; i++)
    side[i] = emit_read_word(e, names[i], EXPR(0), x_add(nms->plane[i], x_mul(box, NMS_WORD)),
                             DTYPE_INT32);
  struct expr own = put_own_area(e, nms, box);
  struct expr first = nms_open_chunks(e, nms, &n);
  vmask_count(e, n);
  put_compare(e, nms, side, own, emit_assigned(e, "at", x_mul(first, NMS_WORD)));
  emit_end(e);
}

/* A turn: the largest score, unless nothing is left. */
static void put_turn(struct emit *e, const struct nms *nms, struct expr k, struct expr expected) {
  const int64_t none = (int32_t)(uint32_t)bits_of(-(double)INFINITY);
  struct expr value = x_mul(none, x_sub(1, x_lt(k, expected)));
  struct expr guess = x_mod(x_mul(k, ESTIMATE_STEP), nms->boxes);
  struct expr best = nms->folds ? nms_fold_best(e, nms, value) : put_best(e, nms, value);
  emit_change(e, "left", x_sub(1, x_eq(best, none)));
  emit_if(e, "found", x_name(e, "left"));
  struct expr box = nms->folds ? nms_fold_box(e, nms, best, guess) : put_index(e, nms, guess);
  emit_change(e, "kept", x_add(k, 1));
  emit_plain(e, "set_mask_norm");
  put_word(e, nms->list, k, box, "int32");
  put_word(e, nms->scores, box, EXPR(bits_of(-(double)INFINITY)), "fp32");
  emit_plain(e, "set_mask_count");
  emit_barrier(e, PIPE_V);
  emit_if(e, "more", x_lt(x_add(k, 1), nms->most));
  put_suppression(e, nms, box);
  emit_end(e);
  emit_end(e);
}

/* ---- a class --------------------------------------------------------------------------------- */

static void put_results(struct emit *e, const struct nms *nms, struct expr unit) {
  vmask_count(e, NMS_SHARED);
  vfill(e, nms->number, x_name(e, "kept"), "int32");
  emit_handshake(e, PIPE_V, PIPE_MTE3, STORE_FLAG);
  vtile_store_run(e, DTYPE_INT32, x_at(x_name(e, "y"), unit, nms->most * NMS_WORD), EXPR(nms->list),
                  EXPR(nms->most));
  vtile_store_run(e, DTYPE_INT32, x_at(x_name(e, "y1"), unit, NMS_SHARED * NMS_WORD),
                  EXPR(nms->number), EXPR(NMS_SHARED));
  emit_handshake(e, PIPE_MTE3, PIPE_V, STORE_FLAG);
}

static void put_class(struct emit *e, const struct nms *nms, struct expr unit) {
  struct expr expected = x_sub(x_div(x_mul(x_add(unit, 1), nms->count), nms_units(nms)),
                               x_div(x_mul(unit, nms->count), nms_units(nms)));
  put_scores(e, nms, unit);
  vmask_count(e, nms->most);
  vfill(e, nms->list, -1, "int32");
  emit_barrier(e, PIPE_V);
  emit_comment(e, "A turn for each box that is kept.");
  emit_assigned(e, "kept", EXPR(0));
  emit_assigned(e, "left", EXPR(1));
  expected = emit_assigned(e, "expected", expected);
  struct expr k = emit_for(e, "k", min_u64(nms->most, nms->boxes));
  emit_if(e, "goes", x_name(e, "left"));
  put_turn(e, nms, k, expected);
  emit_end(e);
  emit_end(e);
  put_results(e, nms, unit);
}

/* What stays as it is: minus infinity behind pairs, and in a block. */
static void put_start(struct emit *e, const struct nms *nms) {
  const int64_t nothing = bits_of(-(double)INFINITY);
  if (nms->folds)
    nms_fold_start(e, nms);
  if (nms->apart) { /* squares are whole, of which boxes may be a part */
    vmask_count(e, NMS_PLANES * nms->chunk);
    vfill(e, nms->raw, 0, "fp32");
  }
  for (unsigned i = 0; i < nms->levels; i++) {
    vmask_count(e, round_up(2 * nms->winners[i], NMS_LANES));
    vfill(e, nms->pairs[i], nothing, "fp32");
  }
  vmask_count(e, BLOCK_BYTES / NMS_WORD);
  vfill(e, nms->nothing, nothing, "fp32");
  emit_barrier(e, PIPE_V);
}

void nms_emit_rows(struct emit *e, const struct nms *nms) {
  struct expr begin = emit_named(e, "begin", x_mul(x_name(e, "blk"), nms->per_block));
  put_start(e, nms);
  struct expr u = emit_for(e, "u", x_max(0, x_rest(nms->per_block, nms_units(nms), begin)));
  struct expr unit = emit_assigned(e, "unit", x_add(begin, u));
  emit_if(e, "fresh", x_gt(x_add(x_eq(u, 0), x_eq(x_mod(unit, nms->classes), 0)), 0));
  put_boxes(e, nms, x_div(unit, nms->classes));
  emit_end(e);
  put_class(e, nms, unit);
  emit_end(e);
}
