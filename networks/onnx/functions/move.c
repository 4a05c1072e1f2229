/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that put elements elsewhere: blocks of channels, steps, pads of a tensor's own. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

/* DepthToSpace and SpaceToDepth: each extent that changes becomes two, of which one moves. */
enum vinci_status onnx_made_blocks(struct onnx_call *call, bool *known) {
  enum { RANK = 4, APART = 6 };
  const uint64_t *from = call->inputs[0]->shape, *to = call->outputs[0]->shape;
  bool to_depth = strcmp(call->op, "SpaceToDepth") == 0;
  const char *mode = onnx_put_text(call, "mode");
  bool crd = mode && strcmp(mode, "CRD") == 0;
  int64_t b = onnx_put_int(call, "blocksize", 1), n = (int64_t)from[0], c = (int64_t)to[1];
  int64_t h = (int64_t)(to_depth ? to[2] : from[2]), w = (int64_t)(to_depth ? to[3] : from[3]);
  const int64_t columns_first[APART] = {n, b, b, c, h, w}, rows_first[APART] = {n, c, b, b, h, w};
  const int64_t space[APART] = {n, (int64_t)from[1], h, b, w, b};
  const int64_t result[RANK] = {(int64_t)to[0], c, (int64_t)to[2], (int64_t)to[3]};
  struct onnx_text body = {.used = 0};
  *known = true;
  onnx_say_ints(&body, "apart", to_depth ? space : crd ? rows_first : columns_first, APART);
  onnx_say_ints(&body, "shape", result, RANK);
  onnx_say(&body, "Reshape p = x apart; Transpose t = p perm=%s; Reshape y = t shape",
           to_depth ? "0,3,5,1,2,4"
           : crd    ? "0,1,4,2,5,3"
                    : "0,3,4,1,5,2");
  return onnx_call_text(call, "x", "y", &body);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What the text has made last. */
struct last {
  char name[16];
};

/* Elements i0, i1 .. of dimension 0, 1 .. */
static void say_gather(struct onnx_text *body, struct last *last, unsigned d) {
  onnx_say(body, "Gather v%u = %s i%u axis=%u;", d, last->name, d, d);
  snprintf(last->name, sizeof last->name, "v%u", d);
}

/* A dimension that is stepped through backwards, or does not end with a whole step, is gathered;
 * the layer takes other steps. */
enum vinci_status onnx_made_slice_steps(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0];
  int64_t starts[GRAPH_RANK_MAX], sizes[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX],
      ends[GRAPH_RANK_MAX];
  struct onnx_text body = {.used = 0};
  *known = false;
  if (onnx_put_ints(call, "starts", starts, GRAPH_RANK_MAX) != x->rank ||
      onnx_put_ints(call, "sizes", sizes, GRAPH_RANK_MAX) != x->rank ||
      onnx_put_ints(call, "steps", steps, GRAPH_RANK_MAX) != x->rank)
    return VINCI_OK;
  struct last last = {"x"};
  for (unsigned d = 0; d < x->rank; d++) {
    bool whole = steps[d] == 1 || (steps[d] > 1 && x->shape[d] % (uint64_t)steps[d] == 0);
    if (whole || sizes[d] <= 1) {
      steps[d] = sizes[d] <= 1 ? 1 : steps[d];
      ends[d] = starts[d] + (sizes[d] - 1) * steps[d] + 1;
      continue;
    }
    ends[d] = starts[d] + sizes[d] * steps[d];
    onnx_say(&body,
             "Constant f%u = value_int=%" PRId64 "; Constant t%u = value_int=%" PRId64
             "; Constant s%u = value_int=%" PRId64 "; Range i%u = f%u t%u s%u;",
             d, starts[d], d, ends[d], d, steps[d], d, d, d, d);
    say_gather(&body, &last, d);
    *known = true;
    starts[d] = 0;
    steps[d] = 1;
    ends[d] = sizes[d];
  }
  if (!*known)
    return VINCI_OK;
  onnx_say_ints(&body, "starts", starts, x->rank);
  onnx_say_ints(&body, "ends", ends, x->rank);
  onnx_say_ints(&body, "steps", steps, x->rank);
  onnx_say(&body, "Constant axes = value_ints=");
  for (unsigned d = 0; d < x->rank; d++)
    onnx_say(&body, "%u,", d);
  onnx_say(&body, "; Slice y = %s starts ends axes steps", last.name);
  return onnx_call_text(call, "x", "y", &body);
}

/* ---- pads ------------------------------------------------------------------------------------ */

/* The element of 0 .. extent - 1 that stands at a place around: its mirror image (the ends once),
 * the outermost, or as if the tensor repeated. */
static int64_t own_element(const char *mode, int64_t place, int64_t extent) {
  int64_t period = strcmp(mode, "reflect") == 0 ? 2 * (extent - 1) : extent;
  if (strcmp(mode, "edge") == 0 || period == 0)
    return place < 0 ? 0 : place >= extent ? extent - 1 : place;
  place = (place % period + period) % period;
  return place < extent ? place : period - place;
}

/* Pads of modes reflect, edge and wrap but along one row, which the layer does: each dimension is
 * gathered. */
enum vinci_status onnx_made_pad_by_own(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *y = call->outputs[0];
  int64_t pads[2 * GRAPH_RANK_MAX];
  const char *mode = onnx_put_text(call, "mode");
  bool wrap = mode && strcmp(mode, "wrap") == 0, row = mode && !wrap;
  struct onnx_text body = {.used = 0};
  *known = mode && (wrap || strcmp(mode, "reflect") == 0 || strcmp(mode, "edge") == 0) &&
           onnx_put_ints(call, "pads", pads, 2 * GRAPH_RANK_MAX) == 2 * x->rank;
  for (unsigned d = 0; d < x->rank && *known; d++) {
    row = row && (d + 1 == x->rank || (x->shape[d] == 1 && pads[d] == 0 && pads[x->rank + d] == 0));
    *known = pads[d] >= 0 && pads[x->rank + d] >= 0 && x->shape[d] > 0 &&
             (y->shape[d] == x->shape[d] || y->shape[d] <= ONNX_FOLD_MAX);
  }
  *known = *known && !row;
  if (!*known)
    return VINCI_OK;
  struct last last = {"x"};
  for (unsigned d = 0; d < x->rank; d++) {
    if (y->shape[d] == x->shape[d])
      continue;
    int64_t *places = onnx_say_list(call, &body, y->shape[d]);
    if (!places)
      return onnx_no_memory(call->import);
    for (uint64_t i = 0; i < y->shape[d]; i++)
      places[i] = own_element(mode, (int64_t)i - pads[d], (int64_t)x->shape[d]);
    onnx_say(&body, "Constant i%u = value_ints=$%u;", d, body.list_count - 1);
    say_gather(&body, &last, d);
  }
  onnx_say(&body, "Identity y = %s", last.name);
  return onnx_call_text(call, "x", "y", &body);
}

/* ---- ReverseSequence ------------------------------------------------------------------------- */

/* The first elements of each sequence in the other direction; lengths that are not known before a
 * run leave the layer. */
enum vinci_status onnx_made_reverse_sequence(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *lengths = call->inputs[1];
  int64_t time = onnx_int(call, "time_axis", 0);
  struct onnx_text body = {.used = 0};
  *known = x->rank >= 2 && onnx_known(call, 1) && (time == 0 || time == 1) &&
           onnx_int(call, "batch_axis", 1) == 1 - time;
  if (!*known)
    return VINCI_OK;
  uint64_t steps = x->shape[time], batch = x->shape[1 - time], rest = 1;
  for (unsigned d = 2; d < x->rank; d++)
    rest *= x->shape[d];
  *known = onnx_elements(lengths) == batch && steps * batch <= ONNX_FOLD_MAX;
  if (!*known)
    return VINCI_OK;
  int64_t *places = onnx_say_list(call, &body, steps * batch);
  if (!places)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < steps * batch; i++) {
    uint64_t b = time == 0 ? i % batch : i / steps, t = time == 0 ? i / batch : i % steps;
    int64_t length = onnx_load_int(lengths, b);
    uint64_t from = (int64_t)t < length && length <= (int64_t)steps ? (uint64_t)length - 1 - t : t;
    places[i] = (int64_t)(time == 0 ? from * batch + b : b * steps + from);
  }
  onnx_say(&body,
           "Constant rows = value_ints=%" PRIu64 ",%" PRIu64
           "; Reshape r = x rows; Constant i = value_ints=$0; Gather g = r i axis=0;"
           "Shape s = x; Reshape y = g s",
           steps * batch, rest);
  return onnx_call_text(call, "x lengths", "y", &body);
}
