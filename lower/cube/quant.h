/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of columns and rows of int32 products, which the vector cores of a block multiply with
 * (quant_matmul.c). */
#ifndef VINCI_LOWER_CUBE_QUANT_H
#define VINCI_LOWER_CUBE_QUANT_H

#include "lower/cube/matmul.h"

/* matmul.own of such a product. */
struct quant {
  enum dtype out;
  bool tokens; /* a scale for each row too */
};
extern const struct matmul_vectors quant_vectors;
/* An error unless the chip has the cores and the signals. */
VINCI_MUST_CHECK enum vinci_status quant_check(struct lower_job *job);

#endif
