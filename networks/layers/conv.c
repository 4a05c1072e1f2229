/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions as products. */
#include "networks/layers/conv.h"

#include <stdio.h>

#include "core/base/arith.h"

/* Square windows of that side, a pixel apart. */
static bool is_window(const struct window *window, int64_t side) {
  bool is = true;
  for (unsigned i = 0; i < 2; i++)
    is = is && window->kernel[i] == side && window->stride[i] == 1 &&
         (side == 1 || window->dilation[i] == 1);
  return is;
}

bool conv_of_pixels(struct build *build, const struct window *window, const struct image *x,
                    const struct image *y) {
  uint64_t pixels = x->h * x->w, weights_shape[2] = {y->c, x->c};
  enum dtype type = build_tensor(build, 0)->dtype;
  if (window->groups != 1 || !is_window(window, 1) ||
      (window->pad[0] | window->pad[1] | window->pad[2] | window->pad[3]) != 0 ||
      pixels % FRACTAL_ROWS != 0 || dtype_bits(type) != 16)
    return build_refuse(build,
                        "only 1 x 1 windows without padding, on maps of %d pixels and their "
                        "multiples and in 16 bits, are a product",
                        FRACTAL_ROWS);
  uint32_t weights = build_cast(build, build_input(build, 1, LAYOUT_ND), type);
  struct build_list inputs =
      BUILD_LIST(build_input(build, 0, LAYOUT_5HD), build_view(build, weights, weights_shape, 2));
  bool biased = build_tensor(build, 2) != NULL;
  char batch[48];
  snprintf(batch, sizeof batch, " batch=%llu shared=b", (unsigned long long)x->n);
  if (biased)
    add_bias(build, &inputs);
  build_kernel1(build, x->n > 1 ? "batch_matmul" : "matmul", &inputs,
                build_output(build, 0, LAYOUT_5HD),
                "m=%llu k=%llu n=%llu%s transpose_b=1 format_a=NZ format_c=NZ dtype=%s bias=%d%s",
                (unsigned long long)pixels, (unsigned long long)x->c, (unsigned long long)y->c,
                x->n > 1 ? batch : "", dtype_name(type), biased, relu_text(build));
  return true;
}

bool are_frames(const struct window *window, const struct image *x) {
  return window->groups == 1 && x->c == 1 && x->h == 1 && window->kernel[0] == 1 &&
         window->dilation[1] == 1 && window->pad[2] == 0 && window->pad[3] == 0;
}

/* The numbers that whole steps cover: cut off, or zeros behind. */
static uint32_t whole_steps(struct build *build, uint32_t in, uint64_t rows, uint64_t own,
                            uint64_t all) {
  uint64_t shape[2] = {rows, all};
  if (in == GRAPH_NONE || own == all)
    return in;
  if (own > all)
    return build_part(build, in, shape, 0);
  enum dtype dtype = build_at(build, in)->dtype;
  uint32_t out = build_temp(build, dtype, shape, 2);
  build_kernel1(build, "pad", &BUILD_LIST(in), out,
                "shape=%llux%llu before=0x0 after=0x%llu dtype=%s", (unsigned long long)rows,
                (unsigned long long)own, (unsigned long long)(all - own), dtype_name(dtype));
  return out;
}

/* A frame is some steps of numbers: the numbers as rows of a step each, beside the same one row
 * later and so on. */
static uint32_t frames_of(struct build *build, uint32_t in, uint64_t count, uint64_t frames,
                          uint64_t step, uint64_t steps) {
  uint64_t rows[3] = {count, frames + steps - 1, step}, part[3] = {count, frames, step};
  struct build_list parts = {.count = 0};
  in = build_view(build, in, rows, 3);
  for (uint64_t i = 0; i < steps && i < BUILD_INPUTS_MAX; i++)
    parts.items[parts.count++] = build_part(build, in, part, i * step);
  return build_join(build, &parts, 2);
}

bool conv_of_frames(struct build *build, const struct window *window, const struct image *x,
                    const struct image *y, enum dtype type) {
  static const unsigned to_channels[] = {0, 2, 1};
  uint64_t step = (uint64_t)window->stride[1], size = (uint64_t)window->kernel[1];
  uint64_t steps = ceil_div(size, step), all = (y->w + steps - 1) * step;
  uint64_t line[2] = {x->n, x->w}, table[2] = {y->c, size}, product[3] = {x->n, y->w, y->c};
  enum dtype own = build_tensor(build, 0)->dtype;
  uint32_t in = build_view(build, build_input(build, 0, LAYOUT_ND), line, 2);
  in = whole_steps(build, build_cast(build, in, type), x->n, x->w, all);
  uint32_t weights = build_cast(build, build_input(build, 1, LAYOUT_ND), type);
  weights = whole_steps(build, build_view(build, weights, table, 2), y->c, size, steps * step);
  struct build_list inputs = BUILD_LIST(frames_of(build, in, x->n, y->w, step, steps), weights);
  bool biased = build_tensor(build, 2) != NULL;
  if (biased)
    add_bias(build, &inputs);
  uint32_t out = build_temp(build, type, product, 3);
  build_kernel1(build, "matmul", &inputs, out,
                "m=%llu k=%llu n=%llu transpose_b=1 dtype=%s bias=%d%s",
                (unsigned long long)(x->n * y->w), (unsigned long long)(steps * step),
                (unsigned long long)y->c, dtype_name(type), biased, relu_text(build));
  out = build_transpose(build, build_cast(build, out, own), to_channels);
  build_view_output(build, 0, LAYOUT_ND, out);
  return true;
}

enum { WINOGRAD_WINDOW = 3, WINOGRAD_SIDE = 2, WINOGRAD_POINTS = 16 };

/* The bias that winograd_output adds: fp16, for whole blocks of channels. */
static uint32_t winograd_bias(struct build *build, uint64_t channels, uint64_t all) {
  uint32_t bias = build_cast(build, build_input(build, 2, LAYOUT_ND), DTYPE_FP16);
  return wide_row(build, bias, channels, all);
}

bool conv_of_winograd(struct build *build, const struct window *window, const struct image *x,
                      const struct image *y) {
  uint64_t c0 = build_c0(DTYPE_FP16), blocks[5], c = x->c, k = y->c;
  uint64_t tiles = x->n * ceil_div(y->h, WINOGRAD_SIDE) * ceil_div(y->w, WINOGRAD_SIDE);
  bool suits = window->groups == 1 && is_window(window, WINOGRAD_WINDOW);
  for (unsigned i = 0; i < 4; i++)
    suits = suits && window->pad[i] >= 0 && window->pad[i] <= 1;
  uint32_t weights = build_input(build, 1, LAYOUT_ND);
  if (!suits || build_tensor(build, 0)->dtype != DTYPE_FP16 || weights == GRAPH_NONE ||
      !build->offline[weights] || build_at(build, weights)->rank != 4)
    return build_refuse(build,
                        "Winograd's algorithm is for fp16 convolutions of one group, with "
                        "3 x 3 windows of known weights, a pixel apart, and padding of 0 or 1");
  uint64_t v_shape[5] = {WINOGRAD_POINTS, ceil_div(c, c0), ceil_div(tiles, FRACTAL_ROWS),
                         FRACTAL_ROWS, c0};
  uint64_t m_shape[5] = {WINOGRAD_POINTS, ceil_div(k, c0), v_shape[2], FRACTAL_ROWS, c0};
  uint64_t g_shape[3] = {WINOGRAD_POINTS, c, k};
  uint32_t g = build_temp(build, DTYPE_FP16, g_shape, 3);
  build_offline_layer(build, "WinogradWeights", weights, g, "points=%d", WINOGRAD_POINTS);
  uint32_t v = build_temp(build, DTYPE_FP16, v_shape, 5),
           m = build_temp(build, DTYPE_FP16, m_shape, 5);
  build_block_shape(x, DTYPE_FP16, blocks);
  build_kernel1(build, "winograd_input", &BUILD_LIST(build_input(build, 0, LAYOUT_5HD)), v,
                "shape=%s pad=%lldx%lldx%lldx%lld", shape_text(blocks, 5).text,
                (long long)window->pad[0], (long long)window->pad[1], (long long)window->pad[2],
                (long long)window->pad[3]);
  build_kernel1(build, "batch_matmul", &BUILD_LIST(v, g), m,
                "m=%llu k=%llu n=%llu batch=%d format_a=NZ format_c=NZ dtype=fp16",
                (unsigned long long)tiles, (unsigned long long)c, (unsigned long long)k,
                WINOGRAD_POINTS);
  build_block_shape(y, DTYPE_FP16, blocks);
  struct build_list inputs = BUILD_LIST(m);
  bool biased = build_tensor(build, 2) != NULL;
  if (biased)
    inputs.items[inputs.count++] = winograd_bias(build, k, blocks[1] * c0);
  build_kernel1(build, "winograd_output", &inputs, build_output(build, 0, LAYOUT_5HD),
                "shape=%s bias=%d%s", shape_text(blocks, 5).text, biased, relu_text(build));
  return true;
}
