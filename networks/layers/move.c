/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that put elements elsewhere, unchanged. */
#include <stdio.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "networks/layers/build.h"

enum { CONCAT_MAX = 6 }; /* inputs of the kernel */

bool layer_reshape(struct build *build) {
  if (!build_tensor(build, 0) || !build_result(build, 0))
    return build_refuse(build, "an input and a result are needed");
  if (graph_elements(build_tensor(build, 0)) != graph_elements(build_result(build, 0)))
    return build_refuse(build, "another number of elements");
  build_view_output(build, 0, LAYOUT_ND, build_input(build, 0, LAYOUT_ND));
  return true;
}

bool layer_transpose(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  int64_t perm[GRAPH_RANK_MAX];
  unsigned order[GRAPH_RANK_MAX];
  unsigned count = graph_arg_ints(build->layer, "perm", perm, GRAPH_RANK_MAX);
  if (!x || count != x->rank)
    return build_refuse(build, "an order of %u dimensions for %u", count, x ? x->rank : 0);
  for (unsigned i = 0; i < count; i++) {
    if (perm[i] < 0 || perm[i] >= (int64_t)count)
      return build_refuse(build, "perm has dimension %lld", (long long)perm[i]);
    order[i] = (unsigned)perm[i];
  }
  build_view_output(build, 0, LAYOUT_ND,
                    build_transpose(build, build_input(build, 0, LAYOUT_ND), order));
  return true;
}

/* ---- parts --------------------------------------------------------------------------------- */

/* A part of a tensor that begins `begin` elements behind its first; a view when it is all. */
static void take_part(struct build *build, uint32_t in, const uint64_t *shape, uint64_t begin,
                      uint32_t out) {
  if (in == GRAPH_NONE || out == GRAPH_NONE)
    return;
  struct graph_tensor own = *build_at(build, in);
  build_kernel1(build, "slice", &BUILD_LIST(in), out, "shape=%s out=%s begin=%llu dtype=%s",
                shape_text(own.shape, own.rank).text, shape_text(shape, own.rank).text,
                (unsigned long long)begin, dtype_name(own.dtype));
}

/* The part of a map whose channels are whole blocks, in NC1HWC0. */
static bool block_part(struct build *build, unsigned output, const int64_t *starts) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, output);
  struct image from, to;
  uint64_t shape[5];
  uint64_t c0 = build_c0(x->dtype);
  if (!build_image(x, x->rank, &from) || !build_image(y, x->rank, &to))
    return build_refuse(build, "a map of 3 or 4 dimensions is needed");
  int64_t h = x->rank == 4 ? starts[2] : 0, w = starts[x->rank - 1];
  build_block_shape(&to, x->dtype, shape);
  uint64_t c1 = ceil_div(from.c, c0);
  uint64_t begin =
      ((((uint64_t)starts[0] * c1 + (uint64_t)starts[1] / c0) * from.h + (uint64_t)h) * from.w +
       (uint64_t)w) *
      c0;
  uint32_t in = build_input(build, 0, LAYOUT_5HD);
  take_part(build, in, shape, begin, build_output(build, output, LAYOUT_5HD));
  return true;
}

/* Each dimension that is stepped through becomes two: whole steps, and the place within a step. */
static bool stepped_part(struct build *build, const int64_t *starts, const int64_t *steps) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  uint64_t from[2 * GRAPH_RANK_MAX], to[2 * GRAPH_RANK_MAX], begin = 0;
  unsigned rank = 0;
  for (unsigned i = 0; i < x->rank; i++) {
    uint64_t step = steps[i] > 0 && y->shape[i] > 1 ? (uint64_t)steps[i] : 1;
    uint64_t start = (uint64_t)starts[i];
    if (steps[i] < 1 && y->shape[i] > 1)
      return build_refuse(build, "steps of %lld in dimension %u", (long long)steps[i], i);
    if (x->shape[i] % step != 0)
      return build_refuse(build, "steps of %lld over %llu elements in dimension %u",
                          (long long)step, (unsigned long long)x->shape[i], i);
    begin = begin * x->shape[i] + start;
    from[rank] = x->shape[i] / step;
    to[rank++] = y->shape[i];
    if (step > 1) {
      from[rank] = step;
      to[rank++] = 1;
    }
  }
  if (rank > GRAPH_RANK_MAX)
    return build_refuse(build, "steps in too many dimensions");
  uint32_t in = build_view(build, build_input(build, 0, LAYOUT_ND), from, rank);
  build_view_output(build, 0, LAYOUT_ND, build_part(build, in, to, begin));
  return true;
}

bool layer_slice(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  int64_t starts[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (!x || !y || graph_arg_ints(build->layer, "starts", starts, GRAPH_RANK_MAX) != x->rank)
    return build_refuse(build, "starts of all dimensions are needed");
  (void)graph_arg_ints(build->layer, "steps", steps, GRAPH_RANK_MAX);
  for (unsigned i = 0; i < x->rank; i++)
    if (steps[i] != 1 && y->shape[i] > 1)
      return stepped_part(build, starts, steps);
  if (build->layout == LAYOUT_5HD)
    return block_part(build, 0, starts);
  if (graph_elements(x) != graph_elements(y))
    return stepped_part(build, starts, steps);
  build_view_output(build, 0, LAYOUT_ND, build_input(build, 0, LAYOUT_ND));
  return true;
}

/* Whether a part of a tensor is one piece of its memory: all of the dimensions behind the first
 * that is cut, one of each before. */
static bool is_one_piece(const struct graph_tensor *whole, const uint64_t *shape) {
  unsigned cut = 0;
  while (cut < whole->rank && shape[cut] == 1)
    cut++;
  for (unsigned i = cut + 1; i < whole->rank; i++)
    if (whole->shape[i] != shape[i])
      return false;
  return true;
}

uint32_t build_part(struct build *build, uint32_t tensor, const uint64_t *shape, uint64_t begin) {
  if (tensor == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor own = *build_at(build, tensor);
  uint64_t skip = begin * dtype_bits(own.dtype) / 8;
  if (is_one_piece(&own, shape) && skip % GRAPH_ALIGNMENT_BYTES == 0 &&
      begin * dtype_bits(own.dtype) % 8 == 0)
    return build_view_part(build, tensor, shape, own.rank, skip);
  uint32_t out = build_temp(build, own.dtype, shape, own.rank);
  take_part(build, tensor, shape, begin, out);
  return out;
}

bool layer_split(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  int64_t axis = graph_arg_int(build->layer, "axis", 0), starts[GRAPH_RANK_MAX] = {0};
  if (!x || axis < 0 || axis >= (int64_t)x->rank)
    return build_refuse(build, "an axis of the input is needed");
  uint64_t inner = build_extent(x, (unsigned)axis + 1, x->rank);
  for (unsigned i = 0; i < build->layer->output_count; i++) {
    const struct graph_tensor *y = build_result(build, i);
    if (!y)
      continue;
    if (build->layout == LAYOUT_5HD && !block_part(build, i, starts))
      return false;
    if (build->layout == LAYOUT_ND)
      build_view_output(build, i, LAYOUT_ND,
                        build_part(build, build_input(build, 0, LAYOUT_ND), y->shape,
                                   (uint64_t)starts[axis] * inner));
    starts[axis] += (int64_t)y->shape[axis];
  }
  return true;
}

/* ---- joins --------------------------------------------------------------------------------- */

/* Inputs one after the other along a dimension of their stored shape. */
static uint32_t join(struct build *build, const struct build_list *parts, unsigned axis,
                     uint32_t out) {
  char text[1024] = "";
  size_t at = 0;
  for (uint32_t i = 0; i < parts->count && at < sizeof text; i++) {
    char key[24] = "shape";
    if (i > 0)
      snprintf(key, sizeof key, " shape%u", i);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s=%s", key,
                           build_shape(build, parts->items[i]).text);
  }
  build_kernel1(build, "concat", parts, out, "%s axis=%u dtype=%s", text, axis,
                dtype_name(build_at(build, parts->items[0])->dtype));
  return out;
}

/* More inputs than the kernel takes are joined in several steps. */
static void join_all(struct build *build, struct build_list *parts, unsigned axis, uint32_t out) {
  while (parts->count > CONCAT_MAX) {
    struct build_list next = {.count = 0};
    for (uint32_t i = 0; i < parts->count; i += CONCAT_MAX) {
      struct build_list some = {.count = 0};
      uint64_t extent = 0;
      for (uint32_t j = i; j < parts->count && j < i + CONCAT_MAX; j++) {
        some.items[some.count++] = parts->items[j];
        extent += build_at(build, parts->items[j])->shape[axis];
      }
      struct graph_tensor own = *build_at(build, some.items[0]);
      own.shape[axis] = extent;
      uint32_t joined =
          some.count == 1 ? some.items[0] : build_temp(build, own.dtype, own.shape, own.rank);
      if (joined == GRAPH_NONE)
        return;
      next.items[next.count++] = some.count == 1 ? joined : join(build, &some, axis, joined);
    }
    *parts = next;
  }
  if (out != GRAPH_NONE)
    join(build, parts, axis, out);
}

uint32_t build_join(struct build *build, struct build_list *parts, unsigned axis) {
  for (uint32_t i = 0; i < parts->count; i++)
    if (parts->items[i] == GRAPH_NONE)
      return GRAPH_NONE;
  if (parts->count == 1)
    return parts->items[0];
  struct graph_tensor own = *build_at(build, parts->items[0]);
  own.shape[axis] = 0;
  for (uint32_t i = 0; i < parts->count; i++)
    own.shape[axis] += build_at(build, parts->items[i])->shape[axis];
  uint32_t out = build_temp(build, own.dtype, own.shape, own.rank);
  join_all(build, parts, axis, out);
  return out;
}

bool layer_concat(struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  int64_t axis = graph_arg_int(build->layer, "axis", 0);
  struct build_list parts = {.count = 0};
  if (!y || axis < 0 || axis >= (int64_t)y->rank)
    return build_refuse(build, "an axis of the result is needed");
  if (build->layer->input_count > BUILD_INPUTS_MAX)
    return build_refuse(build, "more than %d inputs", BUILD_INPUTS_MAX);
  for (unsigned i = 0; i < build->layer->input_count; i++) {
    const struct graph_tensor *x = build_tensor(build, i);
    if (!x || graph_elements(x) == 0)
      continue;
    parts.items[parts.count] = build_input(build, i, build->layout);
    if (parts.items[parts.count++] == GRAPH_NONE)
      return true; /* the reason is known */
  }
  if (parts.count == 1)
    build_view_output(build, 0, build->layout, parts.items[0]);
  unsigned stored = (unsigned)axis;
  if (build->layout == LAYOUT_5HD && y->rank == 3 && axis == 2)
    stored = 3;
  if (parts.count > 1)
    join_all(build, &parts, stored, build_output(build, 0, build->layout));
  return true;
}

/* ---- more elements ------------------------------------------------------------------------- */

/* `count` elements of one row, from place `first` on by steps, as a row of their own. */
static uint32_t picked(struct build *build, uint32_t in, int64_t first, int64_t step,
                       uint64_t count) {
  uint64_t shape[GRAPH_RANK_MAX];
  struct graph_tensor places = {.name = "places", .dtype = DTYPE_INT32, .io = GRAPH_WEIGHT};
  int32_t *data = ARENA_ARRAY(&build->to->arena, int32_t, count);
  if (in == GRAPH_NONE)
    return in;
  build->no_memory = build->no_memory || !data;
  for (uint64_t i = 0; data && i < count; i++)
    store_i32((uint8_t *)(data + i), (int32_t)(first + (int64_t)i * step));
  graph_set_shape(&places, &count, 1);
  places.data = data;
  struct graph_tensor own = *build_at(build, in);
  memcpy(shape, own.shape, own.rank * sizeof *shape);
  shape[own.rank - 1] = count;
  uint32_t out = build_temp(build, own.dtype, shape, own.rank);
  build_kernel1(build, "gather", &BUILD_LIST(in, build_given(build, &places)), out,
                "shape=%llux1 count=%llu dtype=%s dtype1=int32",
                (unsigned long long)own.shape[own.rank - 1], (unsigned long long)count,
                dtype_name(own.dtype));
  return out;
}

/* One row, longer at its ends by its own elements: mirrored (reflect), or the outermost (edge). */
static bool pad_by_own(struct build *build, bool mirrored, const int64_t *pads) {
  const struct graph_tensor *x = build_tensor(build, 0);
  unsigned rank = x->rank;
  for (unsigned i = 0; i < rank; i++)
    if (i + 1 < rank ? x->shape[i] != 1 || pads[i] != 0 || pads[rank + i] != 0
                     : x->shape[i] > INT32_MAX)
      return build_refuse(build, "mode reflect or edge but along one row");
  int64_t last = rank > 0 ? (int64_t)x->shape[rank - 1] - 1 : -1, step = mirrored ? -1 : 0;
  if (last < 0)
    return build_refuse(build, "mode reflect or edge of no elements");
  int64_t before = pads[rank - 1], after = pads[2 * rank - 1];
  if (mirrored && (before > last || after > last))
    return build_refuse(build, "%lld and %lld elements more at the ends of %lld", (long long)before,
                        (long long)after, (long long)last + 1);
  uint32_t in = build_input(build, 0, LAYOUT_ND);
  struct build_list parts = {.count = 0};
  if (before > 0)
    parts.items[parts.count++] = picked(build, in, mirrored ? before : 0, step, (uint64_t)before);
  parts.items[parts.count++] = in;
  if (after > 0)
    parts.items[parts.count++] =
        picked(build, in, mirrored ? last - 1 : last, step, (uint64_t)after);
  build_view_output(build, 0, LAYOUT_ND, build_join(build, &parts, rank - 1));
  return true;
}

bool layer_pad(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  const char *mode = graph_arg(build->layer, "mode");
  int64_t pads[2 * GRAPH_RANK_MAX] = {0};
  uint64_t before[GRAPH_RANK_MAX + 1] = {0}, after[GRAPH_RANK_MAX + 1] = {0};
  unsigned count = graph_arg_ints(build->layer, "pads", pads, 2 * GRAPH_RANK_MAX);
  if (!x || !build_result(build, 0) || count != 2 * x->rank)
    return build_refuse(build, "pads of both sides of all dimensions are needed");
  for (unsigned i = 0; i < count; i++)
    if (pads[i] < 0)
      return build_refuse(build, "negative pads");
  if (mode && (strcmp(mode, "reflect") == 0 || strcmp(mode, "edge") == 0))
    return pad_by_own(build, strcmp(mode, "reflect") == 0, pads);
  if (mode && strcmp(mode, "constant") != 0)
    return build_refuse(build, "mode %s; constant, reflect and edge are possible", mode);
  unsigned rank = x->rank;
  for (unsigned i = 0; i < rank; i++) {
    unsigned at = build->layout == LAYOUT_5HD && rank == 3 && i == 2 ? 3 : i;
    before[at] = (uint64_t)pads[i];
    after[at] = (uint64_t)pads[rank + i];
  }
  uint32_t in = build_input(build, 0, build->layout);
  unsigned stored = build->layout == LAYOUT_5HD ? 5 : rank;
  build_kernel1(build, "pad", &BUILD_LIST(in), build_output(build, 0, build->layout),
                "shape=%s before=%s after=%s value=%.9g dtype=%s", build_shape(build, in).text,
                shape_text(before, stored).text, shape_text(after, stored).text,
                graph_arg_number(build->layer, "value", 0), dtype_name(x->dtype));
  return true;
}

/* Repeats whole dimensions: each of these becomes two, of which the first has extent 1. */
bool layer_expand(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  uint64_t from[2 * GRAPH_RANK_MAX], to[2 * GRAPH_RANK_MAX];
  unsigned rank = 0;
  if (!x || !y || x->rank > y->rank)
    return build_refuse(build, "a result of as many dimensions as the input, or more, is needed");
  for (unsigned i = 0; i < y->rank; i++) {
    uint64_t own = i < y->rank - x->rank ? 1 : x->shape[i - (y->rank - x->rank)];
    if (own == 0 || y->shape[i] % own != 0)
      return build_refuse(build, "dimension %u: %llu is not a multiple of %llu", i,
                          (unsigned long long)y->shape[i], (unsigned long long)own);
    if (own != 1 && own != y->shape[i]) {
      from[rank] = 1;
      to[rank++] = y->shape[i] / own;
    }
    from[rank] = own;
    to[rank++] = own != 1 ? own : y->shape[i];
  }
  if (rank > GRAPH_RANK_MAX)
    return build_refuse(build, "too many dimensions are repeated");
  uint32_t in = build_view(build, build_input(build, 0, LAYOUT_ND), from, rank);
  build_view_output(build, 0, LAYOUT_ND, build_broadcast(build, in, to, rank));
  return true;
}

/* ---- by index ------------------------------------------------------------------------------ */

/* Rows of the table [outer, extent, inner] by its middle dimension, which comes first meanwhile. */
static void gather_rows(struct build *build, unsigned axis, uint64_t inner) {
  static const unsigned turned[] = {1, 0, 2};
  const struct graph_tensor *x = build_tensor(build, 0), *indices = build_tensor(build, 1);
  uint64_t outer = build_extent(x, 0, axis), count = graph_elements(indices);
  uint32_t in = build_input(build, 0, LAYOUT_ND), by = build_input(build, 1, LAYOUT_ND);
  if (outer > 1)
    in = build_transpose(
        build, build_view(build, in, (uint64_t[]){outer, x->shape[axis], inner}, 3), turned);
  uint64_t table[2] = {x->shape[axis], outer * inner}, rows[3] = {count, outer, inner};
  uint32_t out =
      outer > 1 ? build_temp(build, x->dtype, rows, 3) : build_output(build, 0, LAYOUT_ND);
  build_kernel1(build, "gather", &BUILD_LIST(in, by), out, "shape=%s count=%llu dtype=%s dtype1=%s",
                shape_text(table, 2).text, (unsigned long long)count, dtype_name(x->dtype),
                dtype_name(indices->dtype));
  if (outer > 1)
    build_view_output(build, 0, LAYOUT_ND, build_transpose(build, out, turned));
}

bool layer_gather(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *indices = build_tensor(build, 1);
  const struct graph_tensor *y = build_result(build, 0);
  int64_t axis = graph_arg_int(build->layer, "axis", 0);
  double known;
  if (!x || !indices || !y || axis < 0 || axis >= (int64_t)x->rank)
    return build_refuse(build, "a table, indices and an axis of the table are needed");
  uint64_t inner = build_extent(x, (unsigned)axis + 1, x->rank);
  if (graph_elements(indices) == 1 && build_number(build, 1, 0, &known)) {
    int64_t row = (int64_t)known + (known < 0 ? (int64_t)x->shape[axis] : 0);
    uint64_t part[GRAPH_RANK_MAX];
    for (unsigned i = 0; i < x->rank; i++)
      part[i] = i == (unsigned)axis ? 1 : x->shape[i];
    build_view_output(
        build, 0, LAYOUT_ND,
        build_part(build, build_input(build, 0, LAYOUT_ND), part, (uint64_t)row * inner));
    return true;
  }
  for (uint64_t i = 0; i < graph_elements(indices) && build_number(build, 1, i, &known); i++)
    if (known < 0)
      return build_refuse(build, "index %lld; the kernel takes indices of at least 0",
                          (long long)known);
  gather_rows(build, (unsigned)axis, inner);
  return true;
}
