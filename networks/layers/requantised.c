/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers of bytes whose result is scaled on its way out of the cube, or added up as bytes: what
 * pass requantised makes. The fixpipe multiplies each int32 sum with the scale of its channel,
 * rounds to the nearest even number and adds the zero point. Of a scale it keeps 10 bits of
 * fraction, so a byte can be the neighbour of the one that the definition gives.
 */
#include "core/base/arith.h"
#include "networks/layers/conv.h"
#include "networks/layers/elementwise.h"
#include "networks/layers/quantised.h"

uint32_t fixpipe_scales(struct build *build, uint32_t scale, uint64_t channels, enum dtype dtype,
                        double zero) {
  if (scale == GRAPH_NONE)
    return scale;
  if (!build->offline[scale]) {
    build_refuse(build, "scales that the run computes");
    return GRAPH_NONE;
  }
  uint32_t words = build_temp(build, DTYPE_INT64, &channels, 1);
  build_offline_layer(build, "ScaleWords", scale, words, "offset=%d signed=%d", (int)zero,
                      dtype == DTYPE_INT8);
  return words;
}

uint32_t scale_between(struct build *build, uint32_t scale, unsigned input) {
  const struct graph_tensor *own = build_tensor(build, input);
  if (scale == GRAPH_NONE || !own || graph_elements(own) != 1)
    return build_refuse(build, "one scale for all of the result is needed"), GRAPH_NONE;
  uint64_t ones[GRAPH_RANK_MAX];
  unsigned rank = build_at(build, scale)->rank;
  for (unsigned d = 0; d < rank; d++)
    ones[d] = 1;
  uint32_t result = build_view(build, build_input(build, input, LAYOUT_ND), ones, rank);
  return elementwise_pair_new(build, "div", scale, build_cast(build, result, DTYPE_FP32));
}

/* ---- convolutions ---------------------------------------------------------------------------- */

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, BIAS, Y_SCALE, Y_ZERO };

/* Signed bytes with a known zero point, in a layout. */
static bool take_signed(struct build *build, unsigned input, unsigned zero, enum layout layout,
                        struct bytes *out) {
  const struct graph_tensor *own = build_tensor(build, input);
  out->zero = (struct zero){.known = true, .input = zero};
  if (!own || own->dtype != DTYPE_INT8 ||
      (build_tensor(build, zero) && !build_number(build, zero, 0, &out->zero.number)))
    return build_refuse(build, "int8 with a known zero point is needed");
  out->tensor = build_input(build, input, layout);
  return out->tensor != GRAPH_NONE;
}

/* On blocks of 32 channels, into the layer's result. */
static bool convolve(struct build *build, const struct bytes *x, const struct bytes *w,
                     uint32_t scale, double zero) {
  struct window window;
  struct image from, to;
  const struct graph_tensor *map = build_tensor(build, X), *y = build_result(build, 0);
  if (!window_take(build, map, &window) || !y || !build_image(map, map->rank, &from) ||
      !build_image(y, y->rank, &to))
    return build_refuse(build, "a map and a result of 3 or 4 dimensions are needed");
  uint64_t c0 = build_c0(y->dtype), all = round_up(to.c, c0);
  uint32_t terms = bytes_of_channels(build, x, w, to.c, BIAS);
  struct build_list inputs =
      BUILD_LIST(x->tensor, fractal_weights(build, w->tensor, from.c, all, &window));
  if (terms != GRAPH_NONE)
    inputs.items[inputs.count++] = terms;
  inputs.items[inputs.count++] = fixpipe_scales(build, scale, all, y->dtype, zero);
  build_kernel1(build, "conv2d", &inputs, build_output(build, 0, LAYOUT_5HD),
                "n=%llu c=%llu h=%llu w=%llu k=%llu %s dtype=int8 out_dtype=%s scales=1 bias=%d "
                "pad_value=%g%s",
                (unsigned long long)from.n, (unsigned long long)from.c, (unsigned long long)from.h,
                (unsigned long long)from.w, (unsigned long long)to.c, window_text(&window).text,
                dtype_name(y->dtype), terms != GRAPH_NONE, x->zero.number, relu_text(build));
  return true;
}

static bool take_operands(struct build *build, struct bytes *x, struct bytes *w) {
  if (!take_signed(build, X, X_ZERO, LAYOUT_5HD, x) || !take_signed(build, W, W_ZERO, LAYOUT_ND, w))
    return false;
  return zero_is_nought(&w->zero) || build_refuse(build, "weights with a zero point");
}

bool layer_scaled_conv(struct build *build) {
  struct bytes x, w;
  return take_operands(build, &x, &w) &&
         convolve(build, &x, &w, scale_product(build, X_SCALE, W_SCALE, 4, 1), 0);
}

bool layer_requantized_conv(struct build *build) {
  struct bytes x, w;
  double zero = 0;
  if (build_tensor(build, Y_ZERO) && !build_number(build, Y_ZERO, 0, &zero))
    return build_refuse(build, "a known zero point of the result is needed");
  if (!take_operands(build, &x, &w))
    return false;
  uint32_t scale = scale_product(build, X_SCALE, W_SCALE, 4, 1);
  return convolve(build, &x, &w, scale_between(build, scale, Y_SCALE), zero);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Bytes as real numbers of 16 bits. */
static uint32_t real_of(struct build *build, unsigned input, unsigned scale, unsigned zero) {
  struct bytes bytes;
  if (!take_signed(build, input, zero, build->layout, &bytes))
    return GRAPH_NONE;
  uint32_t real = bytes_without_zero(build, &bytes);
  uint32_t factor = build_view(build, build_input(build, scale, LAYOUT_ND), &(uint64_t){1}, 1);
  return elementwise_pair_new(build, "mul", real, build_cast(build, factor, DTYPE_FP16));
}

bool layer_requantized_add(struct build *build) {
  enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, SUM_SCALE, SUM_ZERO };
  double zero = 0;
  if (build_tensor(build, SUM_ZERO) && !build_number(build, SUM_ZERO, 0, &zero))
    return build_refuse(build, "a known zero point of the result is needed");
  uint32_t a = real_of(build, A, A_SCALE, A_ZERO), b = real_of(build, B, B_SCALE, B_ZERO);
  uint32_t sum = elementwise_pair_new(build, "add", a, b);
  if (*relu_text(build))
    sum = elementwise_new(build, "relu", sum, "");
  uint32_t scale = build_view(build, build_input(build, SUM_SCALE, LAYOUT_ND), &(uint64_t){1}, 1);
  quantise(build, sum, build_cast(build, scale, DTYPE_FP32), zero,
           build_output(build, 0, build->layout));
  return true;
}

/* ---- numbers that bytes of their own range stand for ----------------------------------------- */

/* The smallest or the largest number of a tensor and a bound, in fp32. */
static uint32_t end_of(struct build *build, uint32_t row, const char *kernel, const char *bound,
                       double limit) {
  uint64_t one = 1;
  if (row == GRAPH_NONE)
    return row;
  enum dtype dtype = build_at(build, row)->dtype;
  uint32_t end = build_temp(build, dtype, &one, 1);
  build_kernel1(build, kernel, &BUILD_LIST(row), end, "shape=%llu axis=0 dtype=%s",
                (unsigned long long)graph_elements(build_at(build, row)), dtype_name(dtype));
  end = build_cast(build, end, DTYPE_FP32);
  return elementwise_new(build, bound, end, alpha_text(limit).text);
}

/*
 * What DynamicQuantizeLinear and the numbers of its bytes come to: numbers rounded to steps of
 * 1/255 of their range, which 0 belongs to. Of numbers that are known to be at least 0 ("low=0")
 * the zero point is 0, and none is beyond the last step.
 */
bool layer_rounded_to_bytes(struct build *build) {
  enum { STEPS = 255 };
  const double least_range = 1e-20;
  const struct graph_tensor *y = build_result(build, 0);
  uint32_t x = build_input(build, 0, build->layout);
  bool positive = graph_arg_number(build->layer, "low", -1) == 0;
  if (!y || x == GRAPH_NONE)
    return build_refuse(build, "an input is needed");
  uint64_t count = graph_elements(build_at(build, x));
  uint32_t row = build_view(build, x, &count, 1), low = GRAPH_NONE;
  /* Zeros alone have a scale, too. */
  uint32_t range = end_of(build, row, "reduce_max", "maxs", least_range);
  if (!positive) {
    low = end_of(build, row, "reduce_min", "mins", 0);
    range = elementwise_pair_new(build, "sub", range, low);
  }
  uint32_t scale = elementwise_new(build, "muls", range, alpha_text(1.0 / STEPS).text);
  uint32_t real = elementwise_new(
      build, "round", elementwise_pair_new(build, "div", build_cast(build, x, DTYPE_FP32), scale),
      "");
  if (!positive) {
    uint32_t zero = elementwise_new(
        build, "round",
        elementwise_new(build, "neg", elementwise_pair_new(build, "div", low, scale), ""), "");
    real = elementwise_new(build, "maxs", elementwise_pair_new(build, "add", real, zero),
                           alpha_text(0).text);
    real = elementwise_pair_new(build, "sub",
                                elementwise_new(build, "mins", real, alpha_text(STEPS).text), zero);
  }
  real = build_cast(build, elementwise_pair_new(build, "mul", real, scale), y->dtype);
  build_view_output(build, 0, build->layout, real);
  return true;
}
