/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that compute each element for itself, for layers that are made of several. */
#ifndef VINCI_NETWORKS_LAYERS_ELEMENTWISE_H
#define VINCI_NETWORKS_LAYERS_ELEMENTWISE_H

#include "networks/layers/build.h"

struct number_text {
  char text[48];
};
/* "alpha=1.5", the argument of kernels with a number. */
struct number_text alpha_text(double alpha);
/* An intermediate tensor of the same type and shape. */
uint32_t elementwise_room(struct build *build, uint32_t tensor);
/* A kernel of one input; `more` are its further arguments. */
void elementwise(struct build *build, const char *kernel, uint32_t in, uint32_t out,
                 const char *more);
/* A kernel of two inputs of one type, of which the second broadcasts. */
void elementwise_pair(struct build *build, const char *kernel, uint32_t x, uint32_t y,
                      uint32_t out);
/* The same two into a new intermediate tensor, which they give. */
uint32_t elementwise_new(struct build *build, const char *kernel, uint32_t in, const char *more);
uint32_t elementwise_pair_new(struct build *build, const char *kernel, uint32_t x, uint32_t y);

#endif
