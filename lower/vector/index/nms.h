/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nms: which boxes of each class are kept. One core does a class: all boxes and scores of the class
 * lie in its UB. In each turn the largest score is found by reductions of 64 lanes, three levels at
 * most, or by folds where a chip reduces no fp32 (nms_folds.c), the scalar unit reads where the
 * score lies, and the box is compared with all others at once: what overlaps with the box too much
 * gets the score of minus infinity. So the order of scores needs no sort, and a class costs its
 * kept boxes times all boxes.
 *
 * A box overlaps too much when inter > t * (area + area_of_kept) with t = iou / (1 + iou), which is
 * inter / union > iou without a division.
 *
 * How many boxes are kept is up to the data. Without values each class keeps its share of `count`.
 */
#ifndef VINCI_LOWER_VECTOR_INDEX_NMS_H
#define VINCI_LOWER_VECTOR_INDEX_NMS_H

#include "lower/vector/tiles.h"

enum {
  NMS_PLANES = 4, /* numbers of a box */
  NMS_LANES = 64, /* scores of a reduction */
  NMS_PAIRS = 32, /* pairs of a score and its lane in as many words */
  NMS_LEVELS = 3, /* of reductions: up to 64 * 32 * 32 boxes */
  NMS_SHARED = 8, /* words of y1 for each class: a whole block, as each has a core of its own */
  NMS_WORD = 4,   /* bytes */
};

struct nms {
  enum dtype type;
  bool center; /* boxes are middles and sides; else two opposite corners */
  bool planes; /* the first numbers of all boxes lie together, and so on */
  bool scored; /* there is a score that boxes have to exceed */
  bool areas;  /* UB holds the area of each box; else they are computed in each turn */
  bool folds;  /* the chip reduces no fp32 (nms_folds.c) */
  bool apart;  /* numbers of boxes come apart by transposition (nms_folds.c) */
  float iou, score;
  uint64_t batches, classes, boxes, most, count;
  uint64_t chunk, blocks, per_block; /* chunk: boxes that an instruction works on */
  unsigned levels;
  uint64_t winners[NMS_LEVELS]; /* of each level of reductions */
  /* Addresses in UB. */
  uint64_t plane[NMS_PLANES], scores, area, raw, temp[NMS_PLANES], bits, pairs[NMS_LEVELS];
  uint64_t list, number, nothing, ub_bytes;
  uint64_t places, beyond; /* where it folds: numbers of a chunk; a block beyond all boxes */
};

/* Classes of all images. */
static inline uint64_t nms_units(const struct nms *nms) { return nms->batches * nms->classes; }
/* The factor t above. */
float nms_share(const struct nms *nms);
/* Behind the header rows, in counter mode. */
void nms_emit_rows(struct emit *emit, const struct nms *nms);
/* Opens the loop over chunks: where a chunk begins, and how many boxes it has. */
struct expr nms_open_chunks(struct emit *emit, const struct nms *nms, struct expr *n);

/* By folds: what all classes share; the bits of the largest score, and the first box that has it,
 * which are taken to be `value` and `guess` for times. */
void nms_fold_start(struct emit *emit, const struct nms *nms);
struct expr nms_fold_best(struct emit *emit, const struct nms *nms, struct expr value);
struct expr nms_fold_box(struct emit *emit, const struct nms *nms, struct expr best,
                         struct expr guess);
/* The four numbers of the boxes of a chunk, which are in `raw` in single precision, as planes. */
void nms_put_apart(struct emit *emit, const struct nms *nms, struct expr n);

#endif
