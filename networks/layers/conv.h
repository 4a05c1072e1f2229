/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of layers for the cube share (cube.c, conv.c). */
#ifndef VINCI_NETWORKS_LAYERS_CONV_H
#define VINCI_NETWORKS_LAYERS_CONV_H

#include "core/chip/layout.h"
#include "networks/layers/build.h"

/* A window of two dimensions; those of three-dimensional tensors have one row. */
struct window {
  int64_t kernel[2], stride[2], dilation[2], pad[4]; /* top, bottom, left, right */
  uint64_t groups;
};

/* The layer's window on that map; false: refused. */
bool window_take(struct build *build, const struct graph_tensor *map, struct window *out);
struct window_text {
  char text[256];
};
/* As the arguments of conv2d. */
struct window_text window_text(const struct window *window);
/*
 * Weights [k, c / groups, kh, kw] as FRACTAL_Z: laid out offline, or by a kernel when the network
 * computes them. No kernel lays joined groups out.
 */
uint32_t fractal_weights(struct build *build, uint32_t weights, uint64_t c, uint64_t k,
                         const struct window *window);
/* The type that the cube multiplies for tensors of a type. */
enum dtype cube_type(const struct build *build, enum dtype dtype);
/* What pass epilogue has put behind the product. */
const char *relu_text(const struct build *build);
/* Bias of a convolution: fp32, as the cube adds. */
void add_bias(struct build *build, struct build_list *inputs);
/* A row of numbers, one for each channel, with zeros behind: `all` of them. */
uint32_t wide_row(struct build *build, uint32_t row, uint64_t channels, uint64_t all);

/*
 * Ways other than conv2d, which pass algorithm asks for ("algorithm=pixels", "algorithm=winograd").
 * False, with a reason, for a convolution that they do not suit.
 *
 * One product with a row for each pixel, of 1 x 1 windows: a map in blocks of channels is a matrix
 * in NZ where the pixels of an image fill fractals.
 */
bool conv_of_pixels(struct build *build, const struct window *window, const struct image *x,
                    const struct image *y);
/* Winograd's F(2x2, 3x3): 16 products of transformed tiles and weights. fp16 between the steps. */
bool conv_of_winograd(struct build *build, const struct window *window, const struct image *x,
                      const struct image *y);

/* Whether a convolution cuts one row of numbers into frames: a spectrum. */
bool are_frames(const struct window *window, const struct image *x);
/* One product with a row for each frame, in the type of the cube: for windows that the unfolding on
 * the way into L0 does not take. */
bool conv_of_frames(struct build *build, const struct window *window, const struct image *x,
                    const struct image *y, enum dtype type);

#endif
