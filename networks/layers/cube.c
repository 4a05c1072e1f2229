/* SPDX-License-Identifier: Apache-2.0 */
/* Layers for the cube: convolutions and matrix products. */
#include <stdio.h>

#include "core/base/arith.h"
#include "lower/cube/conv.h"
#include "networks/layers/conv.h"

/* A coupled core has no fp32. */
enum dtype cube_type(const struct build *build, enum dtype dtype) {
  return arch_is_coupled(build->soc->arch) && dtype == DTYPE_FP32 ? DTYPE_FP16 : dtype;
}

const char *relu_text(const struct build *build) {
  return graph_arg_int(build->layer, "relu", 0) != 0 ? " relu=1" : "";
}

/* ---- convolutions -------------------------------------------------------------------------- */

bool window_take(struct build *build, const struct graph_tensor *map, struct window *out) {
  static const int64_t ones[] = {1, 1};
  int64_t pads[4] = {0};
  unsigned rank = map ? map->rank : 0;
  unsigned sides = graph_arg_ints(build->layer, "kernel", out->kernel, 2);
  if ((rank != 3 && rank != 4) || sides != rank - 2)
    return build_refuse(build,
                        "a window of %u dimensions on a tensor of %u: 1 on 3 and 2 on 4 are "
                        "possible",
                        sides, rank);
  memcpy(out->stride, ones, sizeof ones);
  memcpy(out->dilation, ones, sizeof ones);
  (void)graph_arg_ints(build->layer, "strides", out->stride, 2);
  (void)graph_arg_ints(build->layer, "dilations", out->dilation, 2);
  (void)graph_arg_ints(build->layer, "pads", pads, 4);
  out->pad[0] = pads[0];
  out->pad[1] = pads[sides];
  out->pad[2] = sides == 2 ? pads[1] : pads[0];
  out->pad[3] = pads[2 * sides - 1];
  if (sides == 1) {
    out->pad[0] = out->pad[1] = 0;
    out->kernel[1] = out->kernel[0];
    out->stride[1] = out->stride[0];
    out->dilation[1] = out->dilation[0];
    out->kernel[0] = out->stride[0] = out->dilation[0] = 1;
  }
  out->groups = (uint64_t)graph_arg_int(build->layer, "group", 1);
  return true;
}

struct window_text window_text(const struct window *window) {
  struct window_text out;
  snprintf(out.text, sizeof out.text,
           "kernel=%lldx%lld stride=%lldx%lld pad=%lldx%lldx%lldx%lld dilation=%lldx%lld "
           "groups=%llu",
           (long long)window->kernel[0], (long long)window->kernel[1], (long long)window->stride[0],
           (long long)window->stride[1], (long long)window->pad[0], (long long)window->pad[1],
           (long long)window->pad[2], (long long)window->pad[3], (long long)window->dilation[0],
           (long long)window->dilation[1], (unsigned long long)window->groups);
  return out;
}

uint32_t fractal_weights(struct build *build, uint32_t weights, uint64_t c, uint64_t k,
                         const struct window *window) {
  if (weights == GRAPH_NONE)
    return GRAPH_NONE;
  enum dtype dtype = build_at(build, weights)->dtype;
  uint64_t c0 = build_c0(dtype), cj = c, kj = k, groups = window->groups;
  uint64_t points = (uint64_t)(window->kernel[0] * window->kernel[1]);
  if (groups == 0 || c % groups != 0 || k % groups != 0) {
    build_refuse(build, "channels that are not a multiple of %llu groups",
                 (unsigned long long)groups);
    return GRAPH_NONE;
  }
  if (groups > 1 && !build->offline[weights]) {
    build_refuse(build, "weights of groups that are computed by the network");
    return GRAPH_NONE;
  }
  uint64_t parts = groups > 1 ? conv_join(groups, c0, c0, &cj, &kj) : 1;
  uint64_t shape[4] = {parts * ceil_div(cj, c0) * points, ceil_div(kj, FRACTAL_ROWS), FRACTAL_ROWS,
                       c0};
  uint32_t out = build_temp(build, dtype, shape, 4);
  if (out == GRAPH_NONE)
    return out;
  snprintf(build->to->tensors[out].format, sizeof build->to->tensors[out].format, "FRACTAL_Z");
  if (build->offline[weights])
    build_offline_layer(build, "FractalWeights", weights, out, "group=%llu",
                        (unsigned long long)groups);
  else
    build_kernel1(build, "transdata", &BUILD_LIST(weights), out,
                  "shape=%llux%llux%lldx%lld way=nchw_to_fractal_z dtype=%s", (unsigned long long)k,
                  (unsigned long long)c, (long long)window->kernel[0], (long long)window->kernel[1],
                  dtype_name(dtype));
  return out;
}

/* The map as the cube reads maps: NC1HWC0, in its type. */
static uint32_t cube_map(struct build *build, enum dtype type, const struct image *image) {
  if (build_tensor(build, 0)->dtype == type)
    return build_input(build, 0, LAYOUT_5HD);
  return build_to_blocks(build, build_cast(build, build_input(build, 0, LAYOUT_ND), type), image);
}

/* Where the cube puts the result: the layer's, or a tensor for give_map(). */
static uint32_t map_result(struct build *build, enum dtype type, const struct image *image) {
  uint64_t shape[5];
  if (build_result(build, 0)->dtype == type)
    return build_output(build, 0, LAYOUT_5HD);
  build_block_shape(image, type, shape);
  return build_temp(build, type, shape, 5);
}

static void give_map(struct build *build, uint32_t computed, enum dtype type,
                     const struct image *image) {
  enum dtype wanted = build_result(build, 0)->dtype;
  if (wanted != type)
    build_view_output(build, 0, LAYOUT_ND,
                      build_cast(build, build_from_blocks(build, computed, image), wanted));
}

void add_bias(struct build *build, struct build_list *inputs) {
  inputs->items[inputs->count++] = build_cast(build, build_input(build, 2, LAYOUT_ND), DTYPE_FP32);
}

enum { PATCH_POINTS_MIN = 64 };

/* Windows that lie side by side, so large that the unfolding on the way into L0 has no room for
 * them: patches of an image. */
static bool are_patches(const struct window *window, const struct image *x) {
  return window->groups == 1 && window->kernel[0] == window->stride[0] &&
         window->kernel[1] == window->stride[1] && window->dilation[0] == 1 &&
         window->dilation[1] == 1 &&
         (window->pad[0] | window->pad[1] | window->pad[2] | window->pad[3]) == 0 &&
         x->h % (uint64_t)window->kernel[0] == 0 && x->w % (uint64_t)window->kernel[1] == 0 &&
         window->kernel[0] * window->kernel[1] >= PATCH_POINTS_MIN;
}

/* As one product: a row for each patch, in the order of its elements. */
static bool conv_of_patches(struct build *build, const struct window *window, const struct image *x,
                            const struct image *y) {
  static const unsigned to_rows[] = {0, 2, 4, 1, 3, 5}, to_channels[] = {0, 2, 1};
  enum dtype own = build_tensor(build, 0)->dtype, type = cube_type(build, own);
  uint64_t ph = (uint64_t)window->kernel[0], pw = (uint64_t)window->kernel[1];
  uint64_t split[6] = {x->n, x->c, y->h, ph, y->w, pw}, depth = x->c * ph * pw;
  uint64_t points = y->h * y->w, product[3] = {x->n, points, y->c};
  uint32_t in = build_view(build, build_input(build, 0, LAYOUT_ND), split, 6);
  in = build_transpose(build, build_cast(build, in, type), to_rows);
  uint32_t weights = build_cast(build, build_input(build, 1, LAYOUT_ND), type);
  struct build_list inputs = BUILD_LIST(in, weights);
  bool biased = build_tensor(build, 2) != NULL;
  if (biased)
    add_bias(build, &inputs);
  uint32_t out = build_temp(build, type, product, 3);
  build_kernel1(build, "matmul", &inputs, out,
                "m=%llu k=%llu n=%llu transpose_b=1 dtype=%s bias=%d%s",
                (unsigned long long)(x->n * points), (unsigned long long)depth,
                (unsigned long long)y->c, dtype_name(type), biased, relu_text(build));
  out = build_transpose(build, build_cast(build, out, own), to_channels);
  build_view_output(build, 0, LAYOUT_ND, out);
  return true;
}

/* Whether the operator takes such windows. */
static bool can_unfold(struct build *build, const struct window *window, const struct image *x,
                       const struct image *y, enum dtype type) {
  return build_can(build, "conv2d", "n=%llu c=%llu h=%llu w=%llu k=%llu %s dtype=%s",
                   (unsigned long long)x->n, (unsigned long long)x->c, (unsigned long long)x->h,
                   (unsigned long long)x->w, (unsigned long long)y->c, window_text(window).text,
                   dtype_name(type));
}

bool layer_conv(struct build *build) {
  struct image x, y;
  struct window window;
  const struct graph_tensor *map = build_tensor(build, 0), *result = build_result(build, 0);
  if (!window_take(build, map, &window) || !build_image(map, map->rank, &x) ||
      !build_image(result, result->rank, &y))
    return build_refuse(build, "a map and a result of 3 or 4 dimensions are needed");
  if (are_patches(&window, &x))
    return conv_of_patches(build, &window, &x, &y);
  const char *algorithm = graph_arg(build->layer, "algorithm");
  if (algorithm && strcmp(algorithm, "pixels") == 0)
    return conv_of_pixels(build, &window, &x, &y);
  if (algorithm && strcmp(algorithm, "winograd") == 0)
    return conv_of_winograd(build, &window, &x, &y);
  enum dtype type = cube_type(build, map->dtype);
  if (are_frames(&window, &x) && !can_unfold(build, &window, &x, &y, type))
    return conv_of_frames(build, &window, &x, &y, type);
  uint32_t in = cube_map(build, type, &x);
  uint32_t weights = build_cast(build, build_input(build, 1, LAYOUT_ND), type);
  struct build_list inputs = BUILD_LIST(in, fractal_weights(build, weights, x.c, y.c, &window));
  bool biased = build_tensor(build, 2) != NULL;
  if (biased)
    add_bias(build, &inputs);
  uint32_t out = map_result(build, type, &y);
  build_kernel1(build, "conv2d", &inputs, out,
                "n=%llu c=%llu h=%llu w=%llu k=%llu %s dtype=%s bias=%d%s", (unsigned long long)x.n,
                (unsigned long long)x.c, (unsigned long long)x.h, (unsigned long long)x.w,
                (unsigned long long)y.c, window_text(&window).text, dtype_name(type), biased,
                relu_text(build));
  give_map(build, out, type, &y);
  return true;
}

uint32_t wide_row(struct build *build, uint32_t row, uint64_t channels, uint64_t all) {
  if (row == GRAPH_NONE || channels == all)
    return row;
  enum dtype dtype = build_at(build, row)->dtype;
  uint32_t wide = build_temp(build, dtype, &all, 1);
  build_kernel1(build, "pad", &BUILD_LIST(row), wide, "shape=%llu before=0 after=%llu dtype=%s",
                (unsigned long long)channels, (unsigned long long)(all - channels),
                dtype_name(dtype));
  return wide;
}

/* A row of numbers, one for each channel, added to a map in blocks. */
static uint32_t added_row(struct build *build, uint32_t map, uint32_t row, uint64_t channels) {
  if (map == GRAPH_NONE || row == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor own = *build_at(build, map);
  uint64_t blocks[5] = {1, own.shape[1], 1, 1, own.shape[4]}, all = own.shape[1] * own.shape[4];
  row = wide_row(build, row, channels, all);
  row = build_view(build, row, blocks, 5);
  uint32_t out = build_temp(build, own.dtype, own.shape, 5);
  build_kernel1(build, "add", &BUILD_LIST(map, row), out, "shape=%s shape1=%s dtype=%s",
                shape_text(own.shape, 5).text, shape_text(blocks, 5).text, dtype_name(own.dtype));
  return out;
}

/* A transposed convolution is the gradient of a convolution for its map. */
bool layer_conv_transpose(struct build *build) {
  struct image x, y;
  struct window window;
  const struct graph_tensor *map = build_tensor(build, 0), *result = build_result(build, 0);
  if (!window_take(build, map, &window) || !build_image(map, map->rank, &x) ||
      !build_image(result, result->rank, &y))
    return build_refuse(build, "a map and a result of 3 or 4 dimensions are needed");
  enum dtype type = cube_type(build, map->dtype);
  uint32_t in = cube_map(build, type, &x);
  uint32_t weights = build_cast(build, build_input(build, 1, LAYOUT_ND), type);
  weights = fractal_weights(build, weights, y.c, x.c, &window);
  uint64_t shape[5];
  build_block_shape(&y, type, shape);
  uint32_t out = build_temp(build, type, shape, 5);
  build_kernel1(build, "conv2d_backprop_input", &BUILD_LIST(in, weights), out,
                "n=%llu c=%llu h=%llu w=%llu k=%llu %s dtype=%s", (unsigned long long)x.n,
                (unsigned long long)y.c, (unsigned long long)y.h, (unsigned long long)y.w,
                (unsigned long long)x.c, window_text(&window).text, dtype_name(type));
  if (build_tensor(build, 2))
    out = added_row(build, out, build_cast(build, build_input(build, 2, LAYOUT_ND), type), y.c);
  if (build_result(build, 0)->dtype == type)
    build_is_output(build, 0, LAYOUT_5HD, out);
  give_map(build, out, type, &y);
  return true;
}

/* ---- products ------------------------------------------------------------------------------ */

struct product {
  uint64_t m, k, n, batch;
  bool transpose_a, transpose_b, bias;
  const char *shared;
};

static void put_product(struct build *build, const struct product *product, enum dtype type,
                        const struct build_list *inputs, uint32_t out) {
  build_kernel1(build, product->batch > 1 ? "batch_matmul" : "matmul", inputs, out,
                "m=%llu k=%llu n=%llu batch=%llu shared=%s transpose_a=%d transpose_b=%d dtype=%s "
                "bias=%d%s",
                (unsigned long long)product->m, (unsigned long long)product->k,
                (unsigned long long)product->n, (unsigned long long)product->batch, product->shared,
                product->transpose_a, product->transpose_b, dtype_name(type), product->bias,
                relu_text(build));
}

/* The result in the layer's type. */
static void finish_product(struct build *build, const struct product *product, enum dtype type,
                           const struct build_list *inputs) {
  const struct graph_tensor *y = build_result(build, 0);
  uint32_t out = y->dtype == type ? build_output(build, 0, LAYOUT_ND)
                                  : build_temp(build, type, y->shape, y->rank);
  put_product(build, product, type, inputs, out);
  if (y->dtype != type)
    build_view_output(build, 0, LAYOUT_ND, build_cast(build, out, y->dtype));
}

bool layer_gemm(struct build *build) {
  const struct graph_tensor *a = build_tensor(build, 0), *b = build_tensor(build, 1);
  const struct graph_tensor *c = build_tensor(build, 2);
  if (!a || !b || a->rank != 2 || b->rank != 2)
    return build_refuse(build, "operands of 2 dimensions are needed");
  bool ta = graph_arg_int(build->layer, "trans_a", 0) != 0;
  bool tb = graph_arg_int(build->layer, "trans_b", 0) != 0;
  if (graph_arg_number(build->layer, "alpha", 1) != 1 ||
      (c && graph_arg_number(build->layer, "beta", 1) != 1))
    return build_refuse(build, "alpha and beta other than 1");
  struct product product = {.m = a->shape[ta],
                            .k = a->shape[!ta],
                            .n = b->shape[!tb],
                            .batch = 1,
                            .transpose_a = ta,
                            .transpose_b = tb,
                            .shared = "none"};
  enum dtype type = cube_type(build, a->dtype);
  product.bias = c && graph_elements(c) == product.n && c->shape[c->rank - 1] == product.n;
  if (c && !product.bias)
    return build_refuse(build, "a third operand that is not a row of %llu numbers",
                        (unsigned long long)product.n);
  struct build_list inputs = BUILD_LIST(build_cast(build, build_input(build, 0, LAYOUT_ND), type),
                                        build_cast(build, build_input(build, 1, LAYOUT_ND), type));
  if (product.bias)
    inputs.items[inputs.count++] = build_cast(build, build_input(build, 2, LAYOUT_ND), DTYPE_FP32);
  finish_product(build, &product, type, &inputs);
  return true;
}

/* Leading dimensions that both operands have, or one of them; false when both differ in part. */
static bool batches(const struct graph_tensor *a, const struct graph_tensor *b, uint64_t *a_batch,
                    uint64_t *b_batch) {
  *a_batch = a->rank > 2 ? build_extent(a, 0, a->rank - 2) : 1;
  *b_batch = b->rank > 2 ? build_extent(b, 0, b->rank - 2) : 1;
  if (*a_batch == 1 || *b_batch == 1)
    return true;
  if (a->rank != b->rank)
    return false;
  return memcmp(a->shape, b->shape, (a->rank - 2) * sizeof *a->shape) == 0;
}

/* An operand repeated until it has the leading dimensions of the result. */
static uint32_t repeated(struct build *build, unsigned input) {
  const struct graph_tensor *own = build_tensor(build, input), *y = build_result(build, 0);
  uint64_t shape[GRAPH_RANK_MAX];
  for (unsigned i = 0; i < y->rank; i++)
    shape[i] = i + 2 < y->rank ? y->shape[i] : own->shape[own->rank - (y->rank - i)];
  return build_broadcast(build, build_input(build, input, LAYOUT_ND), shape, y->rank);
}

bool layer_matmul(struct build *build) {
  const struct graph_tensor *a = build_tensor(build, 0), *b = build_tensor(build, 1);
  const struct graph_tensor *y = build_result(build, 0);
  uint64_t a_batch, b_batch;
  if (!a || !b || a->rank < 1 || b->rank < 1)
    return build_refuse(build, "two operands are needed");
  struct product product = {.batch = 1,
                            .shared = "none",
                            .k = a->shape[a->rank - 1],
                            .m = 1,
                            .n = 1,
                            .transpose_b = graph_arg_int(build->layer, "trans_b", 0) != 0,
                            .bias = build_tensor(build, 2) != NULL};
  enum dtype type = cube_type(build, a->dtype);
  struct build_list inputs = {.count = 2};
  if (a->rank == 1 || b->rank == 1) { /* a vector is one row or one column */
    product.m = a->rank == 1 ? 1 : build_extent(a, 0, a->rank - 1);
    product.n = b->rank == 1 ? 1 : b->shape[b->rank - 1];
    if (b->rank > 2 || (b->rank == 2 && a->rank > 1))
      return build_refuse(build, "a vector times a tensor of %u dimensions", b->rank);
    inputs.items[0] = build_input(build, 0, LAYOUT_ND);
    inputs.items[1] = build_input(build, 1, LAYOUT_ND);
  } else {
    product.m = a->shape[a->rank - 2];
    product.n = b->shape[b->rank - (product.transpose_b ? 2 : 1)];
    bool same = batches(a, b, &a_batch, &b_batch);
    inputs.items[0] = same ? build_input(build, 0, LAYOUT_ND) : repeated(build, 0);
    inputs.items[1] = same ? build_input(build, 1, LAYOUT_ND) : repeated(build, 1);
    product.batch = y->rank > 2 ? build_extent(y, 0, y->rank - 2) : 1;
    if (same && b_batch == 1) { /* all rows of a times one matrix */
      product.m *= product.batch;
      product.batch = 1;
    } else if (same && a_batch == 1 && product.batch > 1) {
      product.shared = "a";
    }
  }
  inputs.items[0] = build_cast(build, inputs.items[0], type);
  inputs.items[1] = build_cast(build, inputs.items[1], type);
  if (product.bias)
    inputs.items[inputs.count++] = build_cast(build, build_input(build, 2, LAYOUT_ND), DTYPE_FP32);
  finish_product(build, &product, type, &inputs);
  return true;
}

/* Of models and of pass attention: the arguments are the kernel's. Models say no type, and the
 * kernel has those of 16 bits. */
bool layer_attention(struct build *build) {
  char text[512] = "";
  size_t used = 0;
  const struct graph_tensor *q = build_tensor(build, 0), *y = build_result(build, 0);
  const char *lacks = graph_arg(build->layer, "lacks");
  if (!q || !build_tensor(build, 2) || !y)
    return build_refuse(build, "queries, keys and values are needed");
  if (lacks)
    return build_refuse(build, "%s", lacks);
  for (uint32_t i = 0; i < build->layer->arg_count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s ", build->layer->args[i]);
  enum dtype type = q->dtype == DTYPE_FP32 ? DTYPE_FP16 : q->dtype;
  if (!graph_arg(build->layer, "dtype") && used < sizeof text)
    snprintf(text + used, sizeof text - used, "dtype=%s", dtype_name(type));
  struct build_list inputs = {.count = 3};
  for (unsigned i = 0; i < inputs.count; i++)
    inputs.items[i] = build_cast(build, build_input(build, i, LAYOUT_ND), type);
  if (build_tensor(build, 3))
    inputs.items[inputs.count++] = build_input(build, 3, LAYOUT_ND);
  uint32_t out = y->dtype == type ? build_output(build, 0, LAYOUT_ND)
                                  : build_temp(build, type, y->shape, y->rank);
  build_kernel1(build, "flash_attention", &inputs, out, "%s", text);
  if (y->dtype != type)
    build_view_output(build, 0, LAYOUT_ND, build_cast(build, out, y->dtype));
  return true;
}
