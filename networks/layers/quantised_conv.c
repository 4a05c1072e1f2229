/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of integers of 8 bits; quantised.c has the method. */
#include "networks/layers/conv.h"
#include "networks/layers/elementwise.h"
#include "networks/layers/quantised.h"

enum { SUM_CHANNELS = 16, REAL_CHANNELS = 8 }; /* of a block of int32, fp32 from the fixpipe */

/* The map with its edges filled by the byte that stands for 0: the cube's own padding is byte 0. */
static uint32_t padded(struct build *build, const struct bytes *x, struct image *image,
                       struct window *window) {
  const int64_t *pad = window->pad;
  uint64_t from[4] = {image->n, image->c, image->h, image->w};
  image->h += (uint64_t)(pad[0] + pad[1]);
  image->w += (uint64_t)(pad[2] + pad[3]);
  uint32_t map = bytes_movable(build, build_view(build, x->tensor, from, 4));
  if (map == GRAPH_NONE)
    return map;
  enum dtype dtype = build_at(build, map)->dtype;
  uint32_t out = build_temp(build, dtype, (uint64_t[]){image->n, image->c, image->h, image->w}, 4);
  build_kernel1(build, "pad", &BUILD_LIST(map), out,
                "shape=%s before=0x0x%lldx%lld after=0x0x%lldx%lld value=%g dtype=%s",
                shape_text(from, 4).text, (long long)pad[0], (long long)pad[2], (long long)pad[1],
                (long long)pad[3], x->zero.number, dtype_name(dtype));
  memset(window->pad, 0, sizeof window->pad);
  return build_cast(build, out, DTYPE_INT8);
}

static uint32_t byte_blocks(struct build *build, uint32_t map, const struct image *image) {
  uint64_t shape[4] = {image->n, image->c, image->h, image->w};
  return build_to_blocks(build, build_view(build, map, shape, 4), image);
}

uint32_t bytes_of_channels(struct build *build, const struct bytes *x, const struct bytes *w,
                           uint64_t channels, unsigned bias) {
  if (zero_is_nought(&x->zero) || w->tensor == GRAPH_NONE)
    return build_tensor(build, bias) ? build_input(build, bias, LAYOUT_ND) : GRAPH_NONE;
  uint64_t each = graph_elements(build_at(build, w->tensor)) / channels;
  return bytes_terms(build, bytes_sums(build, w->tensor, channels, each, 1), x, bias);
}

struct convolution {
  struct window window;
  struct image in, out;
  enum dtype type; /* that the cube multiplies */
};

/* The kernel, and its sums as the network orders them. */
static uint32_t convolve(struct build *build, const struct convolution *conv,
                         struct build_list *inputs) {
  const struct image *x = &conv->in, *y = &conv->out;
  bool bytes = conv->type == DTYPE_INT8;
  enum dtype dtype = bytes ? DTYPE_INT32 : DTYPE_FP32;
  uint64_t c0 = bytes ? SUM_CHANNELS : REAL_CHANNELS, c1 = (y->c + c0 - 1) / c0;
  uint64_t shape[4] = {y->n, y->c, y->h, y->w};
  uint32_t sums = build_temp(build, dtype, (uint64_t[]){y->n, c1, y->h, y->w, c0}, 5);
  build_kernel1(build, "conv2d", inputs, sums,
                "n=%llu c=%llu h=%llu w=%llu k=%llu %s dtype=%s out_dtype=%s bias=%d",
                (unsigned long long)x->n, (unsigned long long)x->c, (unsigned long long)x->h,
                (unsigned long long)x->w, (unsigned long long)y->c, window_text(&conv->window).text,
                dtype_name(conv->type), dtype_name(dtype), inputs->count > 2);
  uint32_t out = build_temp(build, dtype, shape, 4);
  build_kernel1(build, "transdata", &BUILD_LIST(sums), out,
                "shape=%s way=nc1hwc0_to_nchw c0=%llu dtype=%s", shape_text(shape, 4).text,
                (unsigned long long)c0, dtype_name(dtype));
  return out;
}

/* On bytes: the zero point of the weights is 0. */
static uint32_t conv_of_bytes(struct build *build, struct convolution *conv, const struct bytes *x,
                              const struct bytes *w, bool pads, unsigned bias) {
  uint32_t map =
      pads && !zero_is_nought(&x->zero) ? padded(build, x, &conv->in, &conv->window) : x->tensor;
  uint32_t terms = bytes_of_channels(build, x, w, conv->out.c, bias);
  struct build_list inputs =
      BUILD_LIST(byte_blocks(build, map, &conv->in),
                 fractal_weights(build, w->tensor, conv->in.c, conv->out.c, &conv->window));
  if (terms != GRAPH_NONE)
    inputs.items[inputs.count++] = terms;
  return convolve(build, conv, &inputs);
}

/* On numbers of 16 bits without their zero points: their sums are exact below 2^24. */
static uint32_t conv_of_numbers(struct build *build, struct convolution *conv,
                                const struct bytes *x, const struct bytes *w, unsigned bias) {
  conv->type = DTYPE_FP16;
  uint32_t map = build_to_blocks(build, bytes_without_zero(build, x), &conv->in);
  uint32_t weights =
      fractal_weights(build, bytes_without_zero(build, w), conv->in.c, conv->out.c, &conv->window);
  uint32_t sums = convolve(build, conv, &BUILD_LIST(map, weights));
  sums = build_cast(build, sums, DTYPE_INT32);
  if (!build_tensor(build, bias) || sums == GRAPH_NONE)
    return sums;
  uint64_t each[4] = {1, conv->out.c, 1, 1};
  return elementwise_pair_new(build, "add", sums,
                              build_view(build, build_input(build, bias, LAYOUT_ND), each, 4));
}

/* Sums in int32, as the network orders them. */
static uint32_t integer_conv(struct build *build, struct bytes *x, struct bytes *w, unsigned bias,
                             const struct graph_tensor *map) {
  struct convolution conv = {.type = DTYPE_INT8};
  const struct graph_tensor *result = build_result(build, 0);
  if (!window_take(build, map, &conv.window))
    return GRAPH_NONE;
  if (!result || !build_image(map, map->rank, &conv.in) ||
      !build_image(result, result->rank, &conv.out)) {
    build_refuse(build, "a map and a result of 3 or 4 dimensions are needed");
    return GRAPH_NONE;
  }
  const int64_t *pad = conv.window.pad;
  bool pads = (pad[0] | pad[1] | pad[2] | pad[3]) != 0;
  if (zero_is_nought(&w->zero) && (!pads || x->zero.known))
    return conv_of_bytes(build, &conv, x, w, pads, bias);
  return conv_of_numbers(build, &conv, x, w, bias);
}

bool layer_conv_integer(struct build *build) {
  enum { X, W, X_ZERO, W_ZERO, NONE };
  struct bytes x, w;
  if (!bytes_take(build, X, X_ZERO, &x) || !bytes_take(build, W, W_ZERO, &w))
    return false;
  build_view_output(build, 0, LAYOUT_ND, integer_conv(build, &x, &w, NONE, build_tensor(build, X)));
  return true;
}

/* Scaled sums of inputs in the order of QLinearConv, as the network orders them. */
static uint32_t real_conv(struct build *build, unsigned bias, enum dtype dtype) {
  enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO };
  struct bytes x, w;
  if (!bytes_take(build, X, X_ZERO, &x) || !bytes_take(build, W, W_ZERO, &w))
    return GRAPH_NONE;
  uint32_t scale = scale_product(build, X_SCALE, W_SCALE, 4, 1);
  uint32_t sums = integer_conv(build, &x, &w, bias, build_tensor(build, X));
  return scaled_sums(build, sums, scale, dtype);
}

bool layer_qlinear_conv(struct build *build) {
  enum { Y_SCALE = 6, Y_ZERO, BIAS };
  return give_quantised(build, real_conv(build, BIAS, DTYPE_FP32), Y_SCALE, Y_ZERO);
}

/* What pass quantised makes. */
bool layer_dequantized_conv(struct build *build) {
  enum { BIAS = 6 };
  return give_real(build, real_conv(build, BIAS, type_of_result(build)));
}
