/* SPDX-License-Identifier: Apache-2.0 */
/* Layers along a dimension: softmax, norms, reductions, largest elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/isa/isa.h"
#include "networks/layers/build.h"

#define SCALE_ERROR 1e-6

/* ---- along the last dimension -------------------------------------------------------------- */

/* The order of dimensions that swaps one with the last; its own inverse. */
static void swap_order(unsigned rank, unsigned axis, unsigned *order) {
  for (unsigned i = 0; i < rank; i++)
    order[i] = i;
  order[axis] = rank - 1;
  order[rank - 1] = axis;
}

/* The order that puts a dimension behind all others, which keep theirs. */
static void last_order(unsigned rank, unsigned axis, unsigned *order) {
  for (unsigned i = 0; i + 1 < rank; i++)
    order[i] = i < axis ? i : i + 1;
  order[rank - 1] = axis;
}

/* The input with the layer's axis as the last dimension, in the order that `arrange` makes;
 * GRAPH_NONE when refused. */
static uint32_t axis_last(struct build *build,
                          void (*arrange)(unsigned rank, unsigned axis, unsigned *order),
                          unsigned *axis, unsigned *order) {
  const struct graph_tensor *x = build_tensor(build, 0);
  int64_t given = graph_arg_int(build->layer, "axis", -1);
  if (!x || x->rank == 0 || !build_result(build, 0)) {
    build_refuse(build, "an input of 1 dimension or more is needed");
    return GRAPH_NONE;
  }
  *axis = (unsigned)(given < 0 ? given + (int64_t)x->rank : given);
  if (*axis >= x->rank) {
    build_refuse(build, "axis %lld of %u dimensions", (long long)given, x->rank);
    return GRAPH_NONE;
  }
  arrange(x->rank, *axis, order);
  return build_transpose(build, build_input(build, 0, LAYOUT_ND), order);
}

bool layer_softmax(struct build *build) {
  unsigned axis, order[GRAPH_RANK_MAX];
  uint32_t in = axis_last(build, swap_order, &axis, order);
  if (in == GRAPH_NONE)
    return true;
  struct graph_tensor own = *build_at(build, in);
  uint64_t rows[2] = {build_extent(&own, 0, own.rank - 1), own.shape[own.rank - 1]};
  bool last = axis + 1 == own.rank;
  uint32_t out =
      last ? build_output(build, 0, LAYOUT_ND) : build_temp(build, own.dtype, own.shape, own.rank);
  build_kernel1(build, build->row->kernel, &BUILD_LIST(in), out, "shape=%s dtype=%s",
                shape_text(rows, 2).text, dtype_name(own.dtype));
  if (!last)
    build_view_output(build, 0, LAYOUT_ND, build_transpose(build, out, order));
  return true;
}

bool layer_layer_norm(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *gamma = build_tensor(build, 1);
  if (!x || !gamma || !build_result(build, 0))
    return build_refuse(build, "an input and a scale are needed");
  int64_t axis = graph_arg_int(build->layer, "axis", -1);
  axis += axis < 0 ? (int64_t)x->rank : 0;
  if (axis < 0 || axis >= (int64_t)x->rank)
    return build_refuse(build, "an axis beyond %u dimensions", x->rank);
  uint64_t rows[2] = {build_extent(x, 0, (unsigned)axis), build_extent(x, (unsigned)axis, x->rank)};
  struct build_list inputs =
      BUILD_LIST(build_input(build, 0, LAYOUT_ND),
                 build_cast(build, build_input(build, 1, LAYOUT_ND), x->dtype));
  if (build_tensor(build, 2)) {
    inputs.items[inputs.count++] = build_cast(build, build_input(build, 2, LAYOUT_ND), x->dtype);
  } else { /* the kernel adds a row: of zeros */
    uint32_t zeros = build_temp(build, x->dtype, &rows[1], 1);
    build_kernel1(build, "fill", &(struct build_list){.count = 0}, zeros,
                  "shape=%llu value=0 dtype=%s", (unsigned long long)rows[1], dtype_name(x->dtype));
    inputs.items[inputs.count++] = zeros;
  }
  build_kernel1(build, "layer_norm", &inputs, build_output(build, 0, LAYOUT_ND),
                "shape=%s dtype=%s eps=%.9g", shape_text(rows, 2).text, dtype_name(x->dtype),
                graph_arg_number(build->layer, "epsilon", 1e-5));
  return true;
}

bool layer_rms_norm(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *gamma = build_tensor(build, 1);
  if (!x || x->rank == 0 || !gamma || !build_result(build, 0))
    return build_refuse(build, "an input and a scale are needed");
  int64_t axis = graph_arg_int(build->layer, "axis", -1);
  if (axis != -1 && axis != (int64_t)x->rank - 1)
    return build_refuse(build, "more dimensions than the last");
  uint64_t rows[2] = {build_extent(x, 0, x->rank - 1), x->shape[x->rank - 1]};
  struct build_list inputs =
      BUILD_LIST(build_input(build, 0, LAYOUT_ND),
                 build_cast(build, build_input(build, 1, LAYOUT_ND), x->dtype));
  build_kernel1(build, "rms_norm", &inputs, build_output(build, 0, LAYOUT_ND),
                "shape=%s dtype=%s eps=%.9g", shape_text(rows, 2).text, dtype_name(x->dtype),
                graph_arg_number(build->layer, "epsilon", 1e-5));
  return true;
}

/* ---- statistics of channels ---------------------------------------------------------------- */

/* A running mean or variance, if the model has that result: momentum * what is given + the rest of
 * what the maps have. */
static void keep_running(struct build *build, unsigned input, unsigned output, uint32_t now) {
  const double momentum = graph_arg_number(build->layer, "momentum", 0.9);
  const struct graph_tensor *result = build_result(build, output);
  if (!result)
    return;
  uint32_t before = build_cast(build, build_input(build, input, LAYOUT_ND), DTYPE_FP32);
  struct graph_tensor row = *build_at(build, now);
  uint32_t kept = build_temp(build, DTYPE_FP32, row.shape, row.rank);
  build_kernel1(build, "chain", &BUILD_LIST(now, before), kept,
                "steps=a=muls:x:%.9g,b=muls:x1:%.9g,add:a:b shape=%llu dtype=fp32", 1 - momentum,
                momentum, (unsigned long long)graph_elements(&row));
  build_view_output(build, output, LAYOUT_ND, build_cast(build, kept, result->dtype));
}

/* training_mode=1: the statistics are those of the maps. */
static bool train_batch_norm(struct build *build) {
  enum { SCALE = 1, SHIFT, MEAN, VARIANCE };
  const struct graph_tensor *x = build_tensor(build, 0);
  const uint64_t channels = x->shape[1];
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  uint32_t scale = build_cast(build, build_input(build, SCALE, LAYOUT_ND), DTYPE_FP32);
  uint32_t shift = build_cast(build, build_input(build, SHIFT, LAYOUT_ND), DTYPE_FP32);
  uint32_t mean = build_temp(build, DTYPE_FP32, &channels, 1);
  uint32_t variance = build_temp(build, DTYPE_FP32, &channels, 1);
  build_kernel(build, "batch_norm_train", &BUILD_LIST(in, scale, shift),
               &BUILD_LIST(mean, variance, build_output(build, 0, LAYOUT_ND)),
               "shape=%s dtype=%s epsilon=%.9g", build_shape(build, in).text, dtype_name(x->dtype),
               graph_arg_number(build->layer, "epsilon", 1e-5));
  keep_running(build, MEAN, 1, mean);
  keep_running(build, VARIANCE, 2, variance);
  return true;
}

bool layer_batch_norm(struct build *build) {
  static const unsigned order[] = {3, 4, 1, 2}; /* the kernel has mean, variance, scale, shift */
  const struct graph_tensor *x = build_tensor(build, 0);
  struct image image;
  if (!x || !build_tensor(build, 4) || !build_result(build, 0))
    return build_refuse(build, "an input and four rows of numbers are needed");
  if (graph_arg_int(build->layer, "training_mode", 0) != 0)
    return train_batch_norm(build);
  bool blocks = build->layout == LAYOUT_5HD && build_image(x, x->rank, &image);
  uint32_t in = build_input(build, 0, build->layout);
  struct build_list inputs = BUILD_LIST(in);
  for (unsigned i = 0; i < 4; i++) {
    uint32_t row = build_cast(build, build_input(build, order[i], LAYOUT_ND), DTYPE_FP32);
    if (blocks && image.c % build_c0(x->dtype) != 0)
      return build_refuse(build, "%llu channels in blocks of %llu", (unsigned long long)image.c,
                          (unsigned long long)build_c0(x->dtype));
    inputs.items[inputs.count++] = row;
  }
  build_kernel1(build, "batch_norm", &inputs, build_output(build, 0, build->layout),
                "shape=%s format=%s dtype=%s epsilon=%.9g", build_shape(build, in).text,
                blocks ? "nc1hwc0" : "nchw", dtype_name(x->dtype),
                graph_arg_number(build->layer, "epsilon", 1e-5));
  return true;
}

/* ---- reductions ---------------------------------------------------------------------------- */

/* Dimensions to reduce as the kernel has them: a run from one, and one more. */
struct reduced {
  unsigned first, count;
  int more; /* -1: none */
};

static bool take_axes(struct build *build, unsigned rank, struct reduced *out) {
  int64_t axes[GRAPH_RANK_MAX];
  bool set[GRAPH_RANK_MAX] = {false};
  unsigned count = graph_arg_ints(build->layer, "axes", axes, GRAPH_RANK_MAX);
  for (unsigned i = 0; i < rank; i++)
    set[i] = count == 0;
  for (unsigned i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];
    if (axis < 0 || axis >= (int64_t)rank)
      return build_refuse(build, "axis %lld of %u dimensions", (long long)axes[i], rank);
    set[axis] = true;
  }
  *out = (struct reduced){.more = -1};
  unsigned at = 0;
  while (at < rank && !set[at])
    at++;
  out->first = at;
  for (; at < rank && set[at]; at++)
    out->count++;
  for (; at < rank; at++)
    if (set[at] && out->more >= 0)
      return build_refuse(build, "axes in more than two places");
    else if (set[at])
      out->more = (int)at;
  return true;
}

static void reduce(struct build *build, const char *kernel, uint32_t in, const struct reduced *axes,
                   uint32_t out) {
  char more[32] = "";
  if (in == GRAPH_NONE || out == GRAPH_NONE)
    return;
  if (axes->more >= 0)
    snprintf(more, sizeof more, " axis2=%d", axes->more);
  build_kernel1(build, kernel, &BUILD_LIST(in), out, "shape=%s axis=%u axes=%u%s dtype=%s",
                build_shape(build, in).text, axes->first, axes->count, more,
                dtype_name(build_at(build, in)->dtype));
}

/* The mean over each map in blocks of channels has a kernel of its own; the result is N, C1, 1, 1,
 * C0. */
static void reduce_maps(struct build *build, const char *kernel) {
  uint32_t in = build_input(build, 0, LAYOUT_5HD), out = build_output(build, 0, LAYOUT_5HD);
  if (in == GRAPH_NONE || out == GRAPH_NONE)
    return;
  struct shape_text shape = build_shape(build, in);
  const char *dtype = dtype_name(build_at(build, in)->dtype);
  if (strcmp(kernel, "reduce_mean") == 0 &&
      build_can(build, "global_avg_pool", "shape=%s dtype=%s", shape.text, dtype))
    build_kernel1(build, "global_avg_pool", &BUILD_LIST(in), out, "shape=%s dtype=%s", shape.text,
                  dtype);
  else
    reduce(build, kernel, in, &(struct reduced){2, 2, -1}, out);
}

/* Rows and columns of an image alone: the channels stay in their blocks. */
static bool is_spatial(const struct build *build, const struct graph_tensor *x) {
  int64_t axes[2];
  return x && x->rank == 4 && graph_arg_ints(build->layer, "axes", axes, 2) == 2 &&
         ((axes[0] == 2 && axes[1] == 3) || (axes[0] == -2 && axes[1] == -1)) &&
         graph_arg_int(build->layer, "keepdims", 1) != 0;
}

bool layer_reduce(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  struct reduced axes;
  if (!x || !build_result(build, 0))
    return build_refuse(build, "an input and a result are needed");
  if (build->layout == LAYOUT_5HD && is_spatial(build, x)) {
    reduce_maps(build, build->row->kernel);
    return true;
  }
  if (!take_axes(build, x->rank, &axes))
    return false;
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  if (axes.count == 0)
    build_view_output(build, 0, LAYOUT_ND, in);
  else
    reduce(build, build->row->kernel, in, &axes, build_output(build, 0, LAYOUT_ND));
  return true;
}

/* Sums of squares, and the roots of these. */
bool layer_reduce_square(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  bool root = strcmp(build->layer->op, "ReduceL2") == 0;
  struct reduced axes;
  if (!x || !y || !take_axes(build, x->rank, &axes))
    return build_refuse(build, "an input and a result are needed");
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  uint32_t squares = build_temp(build, x->dtype, x->shape, x->rank);
  build_kernel1(build, "square", &BUILD_LIST(in), squares, "shape=%llu dtype=%s",
                (unsigned long long)graph_elements(x), dtype_name(x->dtype));
  uint32_t out = build_output(build, 0, LAYOUT_ND);
  uint32_t sums = root ? build_temp(build, x->dtype, y->shape, y->rank) : out;
  reduce(build, "reduce_sum", squares, &axes, sums);
  if (root)
    build_kernel1(build, "sqrt", &BUILD_LIST(sums), out, "shape=%llu dtype=%s",
                  (unsigned long long)graph_elements(y), dtype_name(x->dtype));
  return true;
}

/* ---- where the largest are ----------------------------------------------------------------- */

bool layer_argmax(struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  unsigned axis, order[GRAPH_RANK_MAX];
  if (graph_arg_int(build->layer, "select_last_index", 0) != 0)
    return build_refuse(build, "select_last_index=1: the kernel finds the first of equal elements");
  uint32_t in = axis_last(build, last_order, &axis, order);
  if (in == GRAPH_NONE)
    return true;
  struct graph_tensor own = *build_at(build, in);
  uint64_t rows[2] = {build_extent(&own, 0, own.rank - 1), own.shape[own.rank - 1]};
  uint32_t found = build_temp(build, DTYPE_INT32, y->shape, y->rank);
  build_kernel1(build, build->row->kernel, &BUILD_LIST(in), found, "shape=%s dtype=%s",
                shape_text(rows, 2).text, dtype_name(own.dtype));
  build_view_output(build, 0, LAYOUT_ND, build_cast(build, found, y->dtype));
  return true;
}

bool layer_topk(struct build *build) {
  unsigned axis, order[GRAPH_RANK_MAX];
  const struct graph_tensor *y = build_result(build, 0), *where = build_result(build, 1);
  uint32_t in = axis_last(build, swap_order, &axis, order);
  if (in == GRAPH_NONE)
    return true;
  struct graph_tensor own = *build_at(build, in);
  if (axis + 1 != own.rank)
    return build_refuse(build, "an axis that is not the last");
  uint64_t rows[2] = {build_extent(&own, 0, own.rank - 1), own.shape[own.rank - 1]};
  uint32_t found = build_temp(build, DTYPE_INT32, y->shape, y->rank);
  build_kernel(build, "topk", &BUILD_LIST(in),
               &BUILD_LIST(build_output(build, 0, LAYOUT_ND), found),
               "shape=%s k=%llu dtype=%s largest=%lld", shape_text(rows, 2).text,
               (unsigned long long)y->shape[y->rank - 1], dtype_name(own.dtype),
               (long long)graph_arg_int(build->layer, "largest", 1));
  if (where)
    build_view_output(build, 1, LAYOUT_ND, build_cast(build, found, where->dtype));
  return true;
}

/* ---- windows ------------------------------------------------------------------------------- */

/* ONNX has the begins of both dimensions, then the ends; the kernel top, bottom, left, right. */
static void pool_sides(const struct build *build, unsigned sides, const char *key, int64_t fallback,
                       int64_t out[2]) {
  int64_t given[2] = {fallback, fallback};
  (void)graph_arg_ints(build->layer, key, given, sides);
  out[0] = sides == 2 ? given[0] : 1;
  out[1] = sides == 2 ? given[1] : given[0];
}

bool layer_pool(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  int64_t kernel[2], stride[2], dilation[2], pads[4] = {0};
  if (!x || (x->rank != 3 && x->rank != 4) || !build_result(build, 0))
    return build_refuse(build, "a map of 3 or 4 dimensions is needed");
  unsigned sides = x->rank - 2;
  pool_sides(build, sides, "kernel", 1, kernel);
  pool_sides(build, sides, "strides", 1, stride);
  pool_sides(build, sides, "dilations", 1, dilation);
  (void)graph_arg_ints(build->layer, "pads", pads, 2 * sides);
  if (dilation[0] != 1 || dilation[1] != 1)
    return build_refuse(build, "a window whose points lie apart");
  if (build_result(build, 1))
    return build_refuse(build, "places of the largest as a second result");
  int64_t top = sides == 2 ? pads[0] : 0, bottom = sides == 2 ? pads[2] : 0;
  int64_t left = sides == 2 ? pads[1] : pads[0], right = sides == 2 ? pads[3] : pads[1];
  uint32_t in = build_input(build, 0, LAYOUT_5HD);
  bool mean = strcmp(build->row->kernel, "avg_pool") == 0;
  build_kernel1(build, build->row->kernel, &BUILD_LIST(in), build_output(build, 0, LAYOUT_5HD),
                "shape=%s kernel=%lldx%lld stride=%lldx%lld pad=%lldx%lldx%lldx%lld ceil=%lld "
                "dtype=%s%s",
                build_shape(build, in).text, (long long)kernel[0], (long long)kernel[1],
                (long long)stride[0], (long long)stride[1], (long long)top, (long long)bottom,
                (long long)left, (long long)right,
                (long long)graph_arg_int(build->layer, "ceil", 0), dtype_name(x->dtype),
                !mean                                                 ? ""
                : graph_arg_int(build->layer, "count_include_pad", 0) ? " count_pad=1"
                                                                      : " count_pad=0");
  return true;
}

bool layer_global_pool(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  if (!x || x->rank < 3 || !build_result(build, 0))
    return build_refuse(build, "a map of 3 dimensions or more is needed");
  /* A chip that copies whole blocks of 32 bytes alone has no kernel for few results of a map. */
  bool rows = build_can(build, build->row->kernel, "shape=%s axis=2 axes=%u dtype=%s",
                        shape_text(x->shape, x->rank).text, x->rank - 2, dtype_name(x->dtype));
  if (build->layout == LAYOUT_5HD || (!rows && x->rank == 4)) {
    reduce_maps(build, build->row->kernel);
    return true;
  }
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  reduce(build, build->row->kernel, in, &(struct reduced){2, x->rank - 2, -1},
         build_output(build, 0, LAYOUT_ND));
  return true;
}

/* ---- other sizes --------------------------------------------------------------------------- */

/* Whether the kernel's nearest point, which is that before, is the one that ONNX asks for. */
static bool is_point_before(const struct build *build, const struct image *x,
                            const struct image *y) {
  const char *coordinates = graph_arg(build->layer, "coordinates");
  const char *nearest = graph_arg(build->layer, "nearest");
  bool asymmetric = coordinates && strcmp(coordinates, "asymmetric") == 0;
  bool half = coordinates && strstr(coordinates, "half_pixel") != NULL;
  bool whole = y->h % x->h == 0 && y->w % x->w == 0;
  /* Places are whole numbers, or at most in the middle between two. */
  bool taken = x->h % y->h == 0 && x->w % y->w == 0;
  bool doubled = whole && y->h <= 2 * x->h && y->w <= 2 * x->w;
  if (asymmetric)
    return taken || (nearest && strcmp(nearest, "floor") == 0) ||
           (doubled && nearest && strcmp(nearest, "round_prefer_floor") == 0);
  return half && whole && (!nearest || strncmp(nearest, "round_prefer", 12) == 0);
}

/* Whether the scales are exactly the extents' quotients: ONNX computes places with the scales. */
static bool scales_are_exact(const struct build *build, const struct image *x,
                             const struct image *y) {
  const char *text = graph_arg(build->layer, "scales");
  const char *coordinates = graph_arg(build->layer, "coordinates");
  double from[4] = {(double)x->n, (double)x->c, (double)x->h, (double)x->w};
  double to[4] = {(double)y->n, (double)y->c, (double)y->h, (double)y->w};
  for (unsigned i = 0; text && i < 4; i++) {
    char *end;
    double scale = strtod(text, &end);
    if (end == text || fabs(scale * from[i] - to[i]) > SCALE_ERROR * to[i])
      return false;
    text = *end == 'x' ? end + 1 : end;
  }
  bool single = (y->h == 1 && x->h > 1) || (y->w == 1 && x->w > 1);
  return !(single && coordinates && strcmp(coordinates, "pytorch_half_pixel") == 0);
}

bool layer_resize(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  const char *mode = graph_arg(build->layer, "mode");
  const char *coordinates = graph_arg(build->layer, "coordinates");
  struct image from, to;
  if (!x || !y || x->rank != 4 || !build_image(x, 4, &from) || !build_image(y, 4, &to))
    return build_refuse(build, "a map of 4 dimensions is needed");
  if (from.n != to.n || from.c != to.c)
    return build_refuse(build, "another number of images or channels");
  if (!scales_are_exact(build, &from, &to))
    return build_refuse(build, "scales that are not the quotients of the extents");
  bool bilinear = mode && strcmp(mode, "linear") == 0;
  bool corners = coordinates && strcmp(coordinates, "align_corners") == 0;
  if (!bilinear && !(mode && strcmp(mode, "nearest") == 0))
    return build_refuse(build, "mode %s; nearest and linear are possible", mode ? mode : "");
  bool asymmetric = coordinates && strcmp(coordinates, "asymmetric") == 0;
  bool half =
      coordinates && strstr(coordinates, "half_pixel") && strncmp(coordinates, "tf_", 3) != 0;
  if (graph_arg_int(build->layer, "antialias", 0) != 0)
    return build_refuse(build, "antialias=1");
  if (bilinear && !corners && !asymmetric && !half)
    return build_refuse(build, "linear with coordinates %s", coordinates ? coordinates : "");
  if (!bilinear && !is_point_before(build, &from, &to))
    return build_refuse(build, "nearest with coordinates %s", coordinates ? coordinates : "");
  /* Single elements want an instruction that gathers. */
  bool gathers = isa_row(OP_VGATHER)->archs & 1u << build->soc->arch;
  enum layout layout = gathers ? build->layout : LAYOUT_5HD;
  bool blocks = layout == LAYOUT_5HD;
  uint32_t in = build_input(build, 0, layout);
  build_kernel1(build, "resize", &BUILD_LIST(in), build_output(build, 0, layout),
                "shape=%s size=%llux%llu mode=%s corners=%d asymmetric=%d format=%s dtype=%s",
                build_shape(build, in).text, (unsigned long long)to.h, (unsigned long long)to.w,
                bilinear ? "bilinear" : "nearest", bilinear && corners, bilinear && asymmetric,
                blocks ? "nc1hwc0" : "nchw", dtype_name(x->dtype));
  return true;
}
