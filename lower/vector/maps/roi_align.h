/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roi_align: regions of maps, each as a grid of bins; a bin is the mean of `points` x `points`
 * points, and a point is mixed of its four neighbours in the map. Channels lie together, so that
 * the neighbours of a point are one copy of two rows, and an instruction works on all channels.
 *
 * For a region the vector unit computes where its points lie, and the weights of the neighbours,
 * in tables of a few lanes. The scalar unit reads places and weights. Without values places are
 * those of the first points of the map, which are as far apart as any.
 */
#ifndef VINCI_LOWER_VECTOR_MAPS_ROI_ALIGN_H
#define VINCI_LOWER_VECTOR_MAPS_ROI_ALIGN_H

#include "lower/vector/tiles.h"

enum { ROI_WORD = 4, ROI_AXES = 2, ROI_NUMBERS = 4, ROI_NEIGHBOURS = 4, ROI_SLOTS = 2 };

/* Rows (0) and columns (1): extent of the map, bins, and addresses of tables in UB. */
struct roi_axis {
  uint64_t extent, bins;
  uint64_t shares;           /* (i + 1/2) / points of the axis */
  uint64_t place, low, high; /* int32; weights of the neighbour before and behind */
};

struct roi_align {
  enum dtype type;
  bool half_pixel;
  float scale;
  uint64_t images, channels, regions, points;
  struct roi_axis axis[ROI_AXES];
  uint64_t bins, blocks, per_block; /* of the tiling: bins of a row that are worked on at once */
  /* Addresses in UB. */
  uint64_t patches, slot_bytes, wide, sum, out, numbers, indices, weights;
  uint64_t temp[3], bits, constants, ub_bytes;
};

static inline uint64_t roi_points(const struct roi_align *roi, unsigned axis) {
  return roi->axis[axis].bins * roi->points;
}
/* Bytes of the weights of one neighbour of a row of points. */
static inline uint64_t roi_weight_row(const struct roi_align *roi) {
  return vtile_align(roi_points(roi, 1) * ROI_WORD);
}
/* Behind the header rows, in counter mode. */
void roi_align_emit_rows(struct emit *emit, const struct roi_align *roi);

#endif
