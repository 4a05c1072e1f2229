/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with weights of 4 or 8 bits, whose blocks along k share a scale and a zero point:
 * y = a ((q - zero) scale)^T, q being N rows of K unsigned numbers. The vendor's kernel has signed
 * weights and adds an offset to them; where it has no such blocks, weights of 16 bits are made
 * before the network runs.
 */
#include "networks/layers/elementwise.h"
#include "networks/layers/layers.h"

enum { NB_A, NB_WEIGHTS, NB_SCALES, NB_ZEROS, NB_ORDER, NB_BIAS };

struct nbits {
  uint64_t m, k, n, block, groups;
  int64_t bits, middle; /* middle: the unsigned number that is 0 as a signed number */
  enum dtype type;
};

static bool take_nbits(struct build *build, struct nbits *out) {
  const struct graph_tensor *a = build_tensor(build, NB_A), *w = build_tensor(build, NB_WEIGHTS);
  const struct graph_tensor *scales = build_tensor(build, NB_SCALES);
  if (!a || !w || !scales || a->rank < 1)
    return build_refuse(build, "rows, weights and scales are needed");
  *out = (struct nbits){.m = build_extent(a, 0, a->rank - 1),
                        .k = a->shape[a->rank - 1],
                        .n = (uint64_t)graph_arg_int(build->layer, "N", 0),
                        .block = (uint64_t)graph_arg_int(build->layer, "block_size", 32),
                        .bits = graph_arg_int(build->layer, "bits", 4),
                        .type = a->dtype == DTYPE_BF16 ? DTYPE_BF16 : DTYPE_FP16};
  out->middle = INT64_C(1) << (out->bits - 1);
  if (out->bits != 4 && out->bits != 8)
    return build_refuse(build, "weights of %lld bits", (long long)out->bits);
  if (build_tensor(build, NB_ORDER))
    return build_refuse(build, "rows of weights in another order (g_idx)");
  if (out->block == 0 || out->k % out->block != 0)
    return build_refuse(build, "%llu columns in blocks of %llu", (unsigned long long)out->k,
                        (unsigned long long)out->block);
  out->groups = out->k / out->block;
  if (w->dtype != DTYPE_UINT8 || graph_elements(w) != out->n * out->k * (uint64_t)out->bits / 8 ||
      graph_elements(scales) != out->n * out->groups)
    return build_refuse(build, "weights or scales of another number of elements");
  return true;
}

/* A number for each row and block, [n, groups]; zero points in bytes are unpacked. */
static uint32_t of_blocks(struct build *build, const struct nbits *nb, unsigned input) {
  const uint64_t shape[] = {nb->n, nb->groups};
  uint32_t own = build_input(build, input, LAYOUT_ND);
  if (own == GRAPH_NONE || build_tensor(build, input)->dtype != DTYPE_UINT8)
    return build_cast(build, build_view(build, own, shape, 2), nb->type);
  uint32_t out = build_temp(build, nb->type, shape, 2);
  build_offline_layer(build, "UnpackedNumbers", own, out, "bits=%lld row=%llu", (long long)nb->bits,
                      (unsigned long long)nb->groups);
  return out;
}

/* The vendor's kernel: weights as they are, scales and offsets [groups, n]. */
static void by_kernel(struct build *build, const struct nbits *nb, uint32_t a, uint32_t out) {
  static const unsigned turned[] = {1, 0};
  const uint64_t bytes[] = {nb->n, nb->k * (uint64_t)nb->bits / 8};
  bool zeros = build_tensor(build, NB_ZEROS), bias = build_tensor(build, NB_BIAS);
  uint32_t w = build_temp(build, DTYPE_INT8, bytes, 2);
  build_offline_layer(build, "SignedWeights", build_input(build, NB_WEIGHTS, LAYOUT_ND), w,
                      "bits=%lld", (long long)nb->bits);
  struct build_list inputs = {.items = {a, w}, .count = 2};
  inputs.items[inputs.count++] = build_transpose(build, of_blocks(build, nb, NB_SCALES), turned);
  if (zeros) { /* (q - middle) + (middle - zero) */
    uint32_t zero = build_transpose(build, of_blocks(build, nb, NB_ZEROS), turned);
    uint32_t less = elementwise_new(build, "adds", zero, alpha_text((double)-nb->middle).text);
    inputs.items[inputs.count++] = elementwise_new(build, "neg", less, "");
  }
  if (bias)
    inputs.items[inputs.count++] =
        build_cast(build, build_input(build, NB_BIAS, LAYOUT_ND), DTYPE_FP32);
  build_kernel1(
      build, "weight_quant_matmul", &inputs, out,
      "m=%llu k=%llu n=%llu dtype=%s bits=%lld group=%llu transpose_b=1 offsets=%d bias=%d",
      (unsigned long long)nb->m, (unsigned long long)nb->k, (unsigned long long)nb->n,
      dtype_name(nb->type), (long long)nb->bits, (unsigned long long)nb->block, zeros, bias);
}

/* Weights of 16 bits, [n, groups, block], and a product with these. */
static void by_weights(struct build *build, const struct nbits *nb, uint32_t a, uint32_t out) {
  const uint64_t apart[] = {nb->n, nb->groups, nb->block}, one[] = {nb->n, nb->groups, 1};
  const uint64_t rows[] = {nb->n, nb->k};
  bool bias = build_tensor(build, NB_BIAS);
  uint32_t q = build_temp(build, nb->type, apart, 3);
  build_offline_layer(build, "UnpackedNumbers", build_input(build, NB_WEIGHTS, LAYOUT_ND), q,
                      "bits=%lld row=%llu", (long long)nb->bits, (unsigned long long)nb->k);
  uint32_t moved =
      build_tensor(build, NB_ZEROS)
          ? elementwise_pair_new(build, "sub", q,
                                 build_view(build, of_blocks(build, nb, NB_ZEROS), one, 3))
          : elementwise_new(build, "adds", q, alpha_text((double)-nb->middle).text);
  uint32_t w = elementwise_pair_new(build, "mul", moved,
                                    build_view(build, of_blocks(build, nb, NB_SCALES), one, 3));
  struct build_list inputs = {.items = {a, build_view(build, w, rows, 2)}, .count = 2};
  if (bias)
    inputs.items[inputs.count++] =
        build_cast(build, build_input(build, NB_BIAS, LAYOUT_ND), DTYPE_FP32);
  build_kernel1(build, "matmul", &inputs, out,
                "m=%llu k=%llu n=%llu dtype=%s transpose_b=1 bias=%d", (unsigned long long)nb->m,
                (unsigned long long)nb->k, (unsigned long long)nb->n, dtype_name(nb->type), bias);
}

bool layer_matmul_nbits(struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  struct nbits nb;
  if (!take_nbits(build, &nb))
    return false;
  const uint64_t rows[] = {nb.m, nb.k};
  uint32_t a = build_cast(build, build_input(build, NB_A, LAYOUT_ND), nb.type);
  a = build_view(build, a, rows, 2);
  uint32_t out = y->dtype == nb.type ? build_output(build, 0, LAYOUT_ND)
                                     : build_temp(build, nb.type, y->shape, y->rank);
  bool kernel =
      build_can(build, "weight_quant_matmul",
                "m=%llu k=%llu n=%llu dtype=%s bits=%lld group=%llu transpose_b=1",
                (unsigned long long)nb.m, (unsigned long long)nb.k, (unsigned long long)nb.n,
                dtype_name(nb.type), (long long)nb.bits, (unsigned long long)nb.block);
  (kernel ? by_kernel : by_weights)(build, &nb, a, out);
  if (y->dtype != nb.type)
    build_view_output(build, 0, LAYOUT_ND, build_cast(build, out, y->dtype));
  return true;
}

/* Numbers out of their bytes, before the network runs. */
bool layer_unpacked(struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  const char *form = graph_arg(build->layer, "form");
  if (!build_tensor(build, 0) || !y)
    return build_refuse(build, "bytes and a result are needed");
  build_offline_layer(build, "UnpackedNumbers", build_input(build, 0, LAYOUT_ND),
                      build_output(build, 0, LAYOUT_ND), "bits=%lld row=%llu form=%s",
                      (long long)graph_arg_int(build->layer, "bits", 8),
                      (unsigned long long)graph_elements(y), form ? form : "unsigned");
  return true;
}
