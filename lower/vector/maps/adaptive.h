/* SPDX-License-Identifier: Apache-2.0 */
/* What adaptive_avg_pool and its gradient share: extents of maps, and windows of one size. */
#ifndef VINCI_LOWER_VECTOR_MAPS_ADAPTIVE_H
#define VINCI_LOWER_VECTOR_MAPS_ADAPTIVE_H

#include "lower/kernel/lower.h"

/* Images, three extents, channels. */
enum { ADAPTIVE_RANK = 5, ADAPTIVE_MAPS = 3, ADAPTIVE_FIRST = 1, ADAPTIVE_CHANNELS = 4 };

#define ADAPTIVE_KEYS                                                                              \
  SHAPE_KEY("extents of the map: images, depth, height, width, channels"),                         \
      LOWER_KEY("out", SHAPE, NULL, NULL,                                                          \
                "depth, height, width of the result, which divide the map"),                       \
      DTYPE_KEY("fp32", "fp16|bf16|fp32", "type of x and y")

/* VINCI_E_USAGE where the extents are not those, or do not divide. */
VINCI_MUST_CHECK enum vinci_status adaptive_check(struct lower_job *job);

#endif
