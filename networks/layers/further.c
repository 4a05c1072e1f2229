/* SPDX-License-Identifier: Apache-2.0 */
/* Further layers: triangles, rows with one number set, running sums, remainders, norms of groups.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/layers/build.h"

/* ---- triangles, sums ----------------------------------------------------------------------- */

bool layer_trilu(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  bool upper = graph_arg_int(build->layer, "upper", 1) != 0;
  const char *kernel = upper ? "triu" : "tril";
  int64_t diagonal = graph_arg_int(build->layer, "k", 0);
  if (!x || x->rank < 2 || !build_result(build, 0))
    return build_refuse(build, "matrices are needed");
  if (graph_elements(x) == 0)
    return build_refuse(build, "matrices without elements");
  struct shape_text shape = shape_text(x->shape, x->rank);
  if (!build_can(build, kernel, "shape=%s dtype=%s diagonal=%lld", shape.text, dtype_name(x->dtype),
                 (long long)diagonal))
    return build_refuse(build, "%s of %s is not modelled", kernel, dtype_name(x->dtype));
  build_kernel1(build, kernel, &BUILD_LIST(build_input(build, 0, LAYOUT_ND)),
                build_output(build, 0, LAYOUT_ND), "shape=%s dtype=%s diagonal=%lld", shape.text,
                dtype_name(x->dtype), (long long)diagonal);
  return true;
}

/* The order of dimensions that swaps one with the last; its own inverse. */
static void swap_with_last(unsigned rank, unsigned axis, unsigned *order) {
  for (unsigned i = 0; i < rank; i++)
    order[i] = i;
  order[axis] = rank - 1;
  order[rank - 1] = axis;
}

bool layer_cumsum(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  unsigned order[GRAPH_RANK_MAX];
  if (!x || x->rank == 0 || !build_result(build, 0))
    return build_refuse(build, "an input of 1 dimension or more is needed");
  const char *ends = graph_arg_int(build->layer, "exclusive", 0) != 0 ? " exclusive=1" : "";
  const char *way = graph_arg_int(build->layer, "reverse", 0) != 0 ? " reverse=1" : "";
  unsigned axis = (unsigned)graph_arg_int(build->layer, "axis", 0);
  swap_with_last(x->rank, axis, order);
  uint32_t in = build_transpose(build, build_input(build, 0, LAYOUT_ND), order);
  if (in == GRAPH_NONE)
    return true;
  struct graph_tensor own = *build_at(build, in);
  struct shape_text shape = build_shape(build, in);
  if (!build_can(build, "cumsum", "shape=%s dtype=%s%s%s", shape.text, dtype_name(own.dtype), ends,
                 way))
    return build_refuse(build, "sums of %s are not modelled", dtype_name(own.dtype));
  uint32_t out = build_temp(build, own.dtype, own.shape, own.rank);
  build_kernel1(build, "cumsum", &BUILD_LIST(in), out, "shape=%s dtype=%s%s%s", shape.text,
                dtype_name(own.dtype), ends, way);
  build_view_output(build, 0, LAYOUT_ND, build_transpose(build, out, order));
  return true;
}

/* ---- elements by index --------------------------------------------------------------------- */

/* Indices as int32, by a kernel more where they are not known to be 0 or above: negative ones count
 * from the end. */
static uint32_t counted_from_start(struct build *build, unsigned input, uint64_t extent) {
  const struct graph_tensor *indices = build_tensor(build, input);
  uint64_t count = graph_elements(indices), at = 0;
  double known;
  while (at < count && build_number(build, input, at, &known) && known >= 0)
    at++;
  uint32_t in = build_cast(build, build_input(build, input, LAYOUT_ND), DTYPE_INT32);
  if (at == count)
    return in;
  uint32_t out = build_temp(build, DTYPE_INT32, indices->shape, indices->rank);
  build_kernel1(build, "linear_index", &BUILD_LIST(in), out, "shape=%llu sizes=%llu",
                (unsigned long long)count, (unsigned long long)extent);
  return out;
}

bool layer_gather_elements(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *indices = build_tensor(build, 1);
  unsigned order[GRAPH_RANK_MAX];
  if (!x || !indices || !build_result(build, 0) || x->rank == 0 || indices->rank != x->rank)
    return build_refuse(build, "a tensor and indices of as many dimensions are needed");
  unsigned axis = (unsigned)graph_arg_int(build->layer, "axis", 0);
  for (unsigned i = 0; i < x->rank; i++)
    if (i != axis && indices->shape[i] != x->shape[i])
      return build_refuse(build, "indices of %llu in dimension %u, the tensor has %llu",
                          (unsigned long long)indices->shape[i], i,
                          (unsigned long long)x->shape[i]);
  swap_with_last(x->rank, axis, order);
  uint32_t in = build_transpose(build, build_input(build, 0, LAYOUT_ND), order);
  uint32_t by = build_transpose(build, counted_from_start(build, 1, x->shape[axis]), order);
  if (in == GRAPH_NONE || by == GRAPH_NONE)
    return true;
  struct graph_tensor own = *build_at(build, in), indexed = *build_at(build, by);
  struct shape_text shape = build_shape(build, in);
  unsigned long long count = indexed.shape[x->rank - 1];
  if (!build_can(build, "gather_elements", "shape=%s count=%llu dtype=%s", shape.text, count,
                 dtype_name(own.dtype)))
    return build_refuse(build, "elements of %s by index are not modelled", dtype_name(own.dtype));
  uint32_t out = build_temp(build, own.dtype, indexed.shape, x->rank);
  build_kernel1(build, "gather_elements", &BUILD_LIST(in, by), out, "shape=%s count=%llu dtype=%s",
                shape.text, count, dtype_name(own.dtype));
  build_view_output(build, 0, LAYOUT_ND, build_transpose(build, out, order));
  return true;
}

/* ---- one_hot ------------------------------------------------------------------------------- */

/* Indices, depth, the two numbers: off, on. */
bool layer_one_hot(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  double off, on;
  unsigned order[GRAPH_RANK_MAX];
  if (!x || !y || y->rank < 2)
    return build_refuse(build, "indices of 1 dimension or more are needed");
  if (!build_number(build, 2, 0, &off) || !build_number(build, 2, 1, &on))
    return build_refuse(build, "the numbers are not known before the run");
  if (x->dtype == DTYPE_INT8 || x->dtype == DTYPE_UINT8)
    return build_refuse(build, "indices of %s", dtype_name(x->dtype));
  enum dtype made = y->dtype == DTYPE_INT64 ? DTYPE_INT32 : y->dtype;
  unsigned last = y->rank - 1, axis = (unsigned)graph_arg_int(build->layer, "axis", last);
  uint64_t depth = y->shape[axis], shape[GRAPH_RANK_MAX];
  for (unsigned i = 0; i < y->rank; i++)
    order[i] = i < axis ? i : i == axis ? last : i - 1;
  for (unsigned i = 0; i < last; i++)
    shape[i] = x->shape[i];
  shape[last] = depth;
  uint32_t in = build_cast(build, build_input(build, 0, LAYOUT_ND), DTYPE_INT32);
  uint32_t out = build_temp(build, made, shape, y->rank);
  build_kernel1(build, "one_hot", &BUILD_LIST(in), out,
                "shape=%llu depth=%llu out=%s on=%.9g off=%.9g wrap=1",
                (unsigned long long)graph_elements(x), (unsigned long long)depth, dtype_name(made),
                on, off);
  build_view_output(build, 0, LAYOUT_ND,
                    build_cast(build, build_transpose(build, out, order), y->dtype));
  return true;
}

/* ---- remainders ---------------------------------------------------------------------------- */

bool layer_mod(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *x1 = build_tensor(build, 1);
  const char *kernel = graph_arg_int(build->layer, "fmod", 0) != 0 ? "mod" : "floor_mod";
  if (!x || !x1 || x->dtype != x1->dtype || !build_result(build, 0))
    return build_refuse(build, "two inputs of one type are needed");
  struct shape_text shape = x->rank ? shape_text(x->shape, x->rank) : (struct shape_text){"1"};
  struct shape_text shape1 = x1->rank ? shape_text(x1->shape, x1->rank) : (struct shape_text){"1"};
  if (!build_can(build, kernel, "shape=%s shape1=%s dtype=%s", shape.text, shape1.text,
                 dtype_name(x->dtype)))
    return build_refuse(build, "remainders of %s are not modelled", dtype_name(x->dtype));
  build_kernel1(build, kernel,
                &BUILD_LIST(build_input(build, 0, LAYOUT_ND), build_input(build, 1, LAYOUT_ND)),
                build_output(build, 0, LAYOUT_ND), "shape=%s shape1=%s dtype=%s", shape.text,
                shape1.text, dtype_name(x->dtype));
  return true;
}

/* ---- norms of groups of channels ----------------------------------------------------------- */

/* InstanceNormalization: a group for each channel. A scale and a shift for each channel, before
 * version 21 of GroupNormalization for each group. */
bool layer_group_norm(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *gamma = build_tensor(build, 1);
  if (!x || x->rank < 2 || !gamma || !build_tensor(build, 2) || !build_result(build, 0))
    return build_refuse(build, "an input, a scale and a shift are needed");
  uint64_t channels = x->shape[1], all = graph_elements(x);
  uint64_t groups = (uint64_t)graph_arg_int(build->layer, "groups", (int64_t)channels);
  if (groups == 0 || channels == 0 || channels % groups || all == 0)
    return build_refuse(build, "%llu channels in %llu groups", (unsigned long long)channels,
                        (unsigned long long)groups);
  uint64_t scales = graph_elements(gamma);
  if (scales != channels && scales != groups)
    return build_refuse(build, "%llu scales for %llu channels", (unsigned long long)scales,
                        (unsigned long long)channels);
  uint64_t rows[2] = {x->shape[0] * groups, all / x->shape[0] / groups};
  uint64_t whole[3] = {x->shape[0], scales, all / x->shape[0] / scales};
  const char *type = dtype_name(x->dtype);
  uint32_t normal = build_temp(build, x->dtype, rows, 2);
  build_kernel1(build, "mean_variance_norm", &BUILD_LIST(build_input(build, 0, LAYOUT_ND)), normal,
                "shape=%s dtype=%s eps=%.9g", shape_text(rows, 2).text, type,
                graph_arg_number(build->layer, "epsilon", 1e-5));
  build_kernel1(build, "addcmul",
                &BUILD_LIST(build_cast(build, build_input(build, 2, LAYOUT_ND), x->dtype), normal,
                            build_cast(build, build_input(build, 1, LAYOUT_ND), x->dtype)),
                build_output(build, 0, LAYOUT_ND), "shape=%llux1 shape1=%s shape2=%llux1 dtype=%s",
                (unsigned long long)scales, shape_text(whole, 3).text, (unsigned long long)scales,
                type);
  return true;
}

/* ---- losses of classes --------------------------------------------------------------------- */

/* A weight of each class that the network has, or 1. */
static uint32_t class_weights(struct build *build, enum dtype dtype, uint64_t classes) {
  if (build_tensor(build, 2))
    return build_cast(build, build_input(build, 2, LAYOUT_ND), dtype);
  uint32_t ones = build_temp(build, dtype, &classes, 1);
  build_kernel1(build, "fill", &(struct build_list){.count = 0}, ones,
                "shape=%llu value=1 dtype=%s", (unsigned long long)classes, dtype_name(dtype));
  return ones;
}

/* Scores by class, in dimension 1, and the class of each. The loss of SoftmaxCrossEntropyLoss is of
 * the log_softmax of the scores, which is a second result. */
bool layer_class_loss(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *target = build_tensor(build, 1);
  const char *given = graph_arg(build->layer, "reduction"), *reduction = given ? given : "mean";
  unsigned order[GRAPH_RANK_MAX], back[GRAPH_RANK_MAX];
  if (!x || x->rank < 2 || !target || !build_result(build, 0))
    return build_refuse(build, "scores of 2 dimensions or more and classes are needed");
  int64_t ignored = graph_arg_int(build->layer, "ignore_index", -1);
  if (ignored >= 0 && ignored < (int64_t)x->shape[1])
    return build_refuse(build, "ignore_index=%lld is one of the classes", (long long)ignored);
  for (unsigned i = 0; i < x->rank; i++) {
    order[i] = i == 0 ? 0 : i + 1 < x->rank ? i + 1 : 1;
    back[order[i]] = i;
  }
  uint64_t rows[2] = {graph_elements(x) / x->shape[1], x->shape[1]};
  const char *type = dtype_name(x->dtype);
  struct shape_text shape = shape_text(rows, 2);
  if (!build_can(build, "nll_loss", "shape=%s dtype=%s dtype1=%s reduction=%s", shape.text, type,
                 dtype_name(target->dtype), reduction))
    return build_refuse(build, "losses of %s and classes of %s are not modelled", type,
                        dtype_name(target->dtype));
  uint32_t scores = build_transpose(build, build_input(build, 0, LAYOUT_ND), order);
  if (strcmp(build->layer->op, "SoftmaxCrossEntropyLoss") == 0) {
    struct graph_tensor own = *build_at(build, scores);
    uint32_t logs = build_temp(build, own.dtype, own.shape, own.rank);
    build_kernel1(build, "log_softmax", &BUILD_LIST(scores), logs, "shape=%s dtype=%s", shape.text,
                  type);
    if (build_result(build, 1))
      build_view_output(build, 1, LAYOUT_ND, build_transpose(build, logs, back));
    scores = logs;
  }
  const uint64_t one = 1;
  uint32_t weights = class_weights(build, x->dtype, rows[1]);
  build_kernel(build, "nll_loss", &BUILD_LIST(scores, build_input(build, 1, LAYOUT_ND), weights),
               &BUILD_LIST(build_temp(build, x->dtype, &one, 1), build_output(build, 0, LAYOUT_ND)),
               "shape=%s dtype=%s dtype1=%s reduction=%s", shape.text, type,
               dtype_name(target->dtype), reduction);
  return true;
}

/* ---- norms over any dimensions, over neighbouring channels --------------------------------- */

/* The standard deviation gets 1e-9 in the model of the format, so the variance its square. */
bool layer_mean_variance(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  int64_t axes[GRAPH_RANK_MAX] = {0};
  unsigned order[GRAPH_RANK_MAX], back[GRAPH_RANK_MAX];
  if (!x || x->rank == 0 || !build_result(build, 0))
    return build_refuse(build, "an input of 1 dimension or more is needed");
  unsigned count = graph_arg_ints(build->layer, "axes", axes, GRAPH_RANK_MAX);
  uint32_t normed = 0;
  for (unsigned i = 0; i < count; i++) {
    int64_t axis = axes[i] + (axes[i] < 0 ? (int64_t)x->rank : 0);
    if (axis < 0 || axis >= (int64_t)x->rank)
      return build_refuse(build, "axis %lld of %u dimensions", (long long)axes[i], x->rank);
    normed |= 1u << axis;
  }
  uint64_t rows[2] = {1, 1};
  unsigned at = 0;
  for (unsigned turn = 0; turn < 2; turn++)
    for (unsigned i = 0; i < x->rank; i++)
      if ((normed >> i & 1) == turn) {
        rows[turn] *= x->shape[i];
        back[i] = at;
        order[at++] = i;
      }
  uint32_t in = build_transpose(build, build_input(build, 0, LAYOUT_ND), order);
  struct graph_tensor own = *build_at(build, in);
  uint32_t out = build_temp(build, own.dtype, own.shape, own.rank);
  build_kernel1(build, "mean_variance_norm", &BUILD_LIST(in), out, "shape=%s dtype=%s eps=1e-18",
                shape_text(rows, 2).text, dtype_name(own.dtype));
  build_view_output(build, 0, LAYOUT_ND, build_transpose(build, out, back));
  return true;
}

/* x / (bias + alpha / size * the squares of `size` channels around)^beta. The sums are those of a
 * pooling over a map of channels and points, whose innermost points are its blocks; maps of other
 * points grow. */
bool layer_lrn(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  if (!x || x->rank < 3 || !build_result(build, 0))
    return build_refuse(build, "channels of 1 dimension or more are needed");
  unsigned long long size = (unsigned long long)graph_arg_int(build->layer, "size", 1);
  uint64_t c0 = build_c0(x->dtype), points = build_extent(x, 2, x->rank), all = graph_elements(x);
  uint64_t whole = round_up(points, c0);
  const char *type = dtype_name(x->dtype);
  uint64_t map[5] = {x->shape[0], 1, x->shape[1], whole / c0, c0};
  struct shape_text shape = shape_text(map, 5);
  char window[96];
  snprintf(window, sizeof window, "kernel=%llux1 stride=1x1 pad=%llux%llux0x0", size,
           (size - 1) / 2, size - 1 - (size - 1) / 2);
  if (!build_can(build, "avg_pool", "shape=%s %s dtype=%s", shape.text, window, type))
    return build_refuse(build, "sums of %llu channels of %s are not modelled", size, type);
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  const struct graph_tensor own = *build_at(build, in);
  uint32_t squares = build_temp(build, own.dtype, own.shape, own.rank),
           means = build_temp(build, own.dtype, map, 5);
  build_kernel1(build, "square", &BUILD_LIST(in), squares, "shape=%llu dtype=%s",
                (unsigned long long)all, type);
  squares = build_row_length(build, squares, points, whole);
  build_kernel1(build, "avg_pool", &BUILD_LIST(squares), means, "shape=%s %s dtype=%s", shape.text,
                window, type);
  means = build_row_length(build, means, whole, points);
  build_kernel1(
      build, "chain", &BUILD_LIST(means, in), build_output(build, 0, LAYOUT_ND),
      "steps=a=muls:x:%.9g,b=adds:a:%.9g,c=ln:b,d=muls:c:%.9g,e=exp:d,mul:e:x1 shape=%llu "
      "dtype=%s",
      graph_arg_number(build->layer, "alpha", 1e-4), graph_arg_number(build->layer, "bias", 1),
      -graph_arg_number(build->layer, "beta", 0.75), (unsigned long long)all, type);
  return true;
}

/* Indices of the elements that are not 0, a row for each dimension. How many there are is what the
 * file notes as the extent of the result, or --dim says. */
bool layer_non_zero(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  if (!x || !y || y->rank != 2 || x->rank == 0 || y->shape[0] != x->rank)
    return build_refuse(build, "a row of indices for each dimension is needed");
  struct shape_text shape = shape_text(x->shape, x->rank);
  unsigned long long count = (unsigned long long)y->shape[1];
  const char *type = dtype_name(x->dtype);
  if (!build_can(build, "nonzero", "shape=%s count=%llu dtype=%s", shape.text, count, type))
    return build_refuse(build, "%llu elements that are not 0, of %s %s, are not modelled", count,
                        type, shape.text);
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  uint32_t out = build_temp(build, DTYPE_INT64, y->shape, 2);
  build_kernel1(build, "nonzero", &BUILD_LIST(in), out, "shape=%s count=%llu dtype=%s", shape.text,
                count, type);
  build_view_output(build, 0, LAYOUT_ND, build_cast(build, out, y->dtype));
  return true;
}
