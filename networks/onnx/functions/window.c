/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of three dimensions as windows of two, which the layers have. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"

enum { VOLUME_RANK = 5, SPATIAL = 3 };

struct window3 {
  int64_t kernel[SPATIAL], strides[SPATIAL], dilations[SPATIAL], pads[2 * SPATIAL];
};

static bool take_window3(const struct onnx_call *call, struct window3 *out) {
  return call->inputs[0]->rank == VOLUME_RANK &&
         onnx_put_ints(call, "kernel", out->kernel, SPATIAL) == SPATIAL &&
         onnx_put_ints(call, "strides", out->strides, SPATIAL) == SPATIAL &&
         onnx_put_ints(call, "dilations", out->dilations, SPATIAL) == SPATIAL &&
         onnx_put_ints(call, "pads", out->pads, 2 * SPATIAL) == 2 * SPATIAL;
}

/* The attributes of the window in the last two dimensions. */
static void say_plane(struct onnx_text *b, const struct window3 *w) {
  onnx_say(b, " strides=%" PRId64 ",%" PRId64 " pads=%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
           w->strides[1], w->strides[2], w->pads[1], w->pads[2], w->pads[4], w->pads[5]);
}

/*
 * Each depth of the result is an image, whose channels are those of all depths that its window
 * sees, one group behind another.
 */
enum vinci_status onnx_made_conv_3d(struct onnx_call *call, bool *known) {
  enum { WINDOW_DEPTH_MAX = 9 }; /* of what a Concat of a body takes */
  const struct onnx_value *x = call->inputs[0], *w = call->inputs[1], *y = call->outputs[0];
  struct window3 window;
  struct onnx_text body = {.used = 0};
  *known = take_window3(call, &window) && window.kernel[0] <= WINDOW_DEPTH_MAX;
  if (!*known)
    return VINCI_OK;
  uint64_t groups = (uint64_t)onnx_put_int(call, "group", 1), kd = (uint64_t)window.kernel[0];
  uint64_t n = x->shape[0], c = x->shape[1], depth = y->shape[2], h = x->shape[3], wd = x->shape[4];
  onnx_say(&body,
           "Constant pads = value_ints=0,0,%" PRId64 ",0,0,0,0,%" PRId64
           ",0,0; Pad p = x pads; Constant axes = value_ints=2,;"
           "Constant steps = value_ints=%" PRId64 ",; Constant apart = value_ints=%" PRIu64
           ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ";",
           window.pads[0], window.pads[SPATIAL], window.strides[0], n * depth, groups, c / groups,
           h, wd);
  for (uint64_t k = 0; k < kd; k++) {
    int64_t from = (int64_t)k * window.dilations[0];
    onnx_say(&body,
             "Constant f%" PRIu64 " = value_ints=%" PRId64 ",; Constant t%" PRIu64
             " = value_ints=%" PRId64 ",; Slice s%" PRIu64 " = p f%" PRIu64 " t%" PRIu64
             " axes steps; Transpose v%" PRIu64 " = s%" PRIu64 " perm=0,2,1,3,4; Reshape g%" PRIu64
             " = v%" PRIu64 " apart;",
             k, from, k, from + (int64_t)(depth - 1) * window.strides[0] + 1, k, k, k, k, k, k, k);
  }
  onnx_say(&body, "Concat all =");
  for (uint64_t k = 0; k < kd; k++)
    onnx_say(&body, " g%" PRIu64, k);
  onnx_say(&body,
           " axis=2; Constant image = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Reshape i = all image; Transpose u = w perm=0,2,1,3,4; Constant filter = "
           "value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "; Reshape f = u filter;",
           n * depth, kd * c, h, wd, w->shape[0], kd * w->shape[1], w->shape[3], w->shape[4]);
  onnx_say(&body, "Conv r = i f b group=%" PRIu64 " dilations=%" PRId64 ",%" PRId64, groups,
           window.dilations[1], window.dilations[2]);
  say_plane(&body, &window);
  onnx_say(&body,
           "; Constant volume = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Reshape o = r volume; Transpose y = o perm=0,2,1,3,4",
           n, depth, y->shape[1], y->shape[3], y->shape[4]);
  return onnx_call_text(call, "x w b", "y", &body);
}

/*
 * First over the last two dimensions of all depths, then over the depths. That holds for means,
 * too: a window, cut at the edges, is a box, so that all means of its planes count alike.
 */
enum vinci_status onnx_made_pool_3d(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *y = call->outputs[0];
  bool mean = strcmp(call->op, "AveragePool") == 0;
  int ceil = (int)onnx_put_int(call, "ceil", 0);
  struct window3 w;
  struct onnx_text body = {.used = 0};
  *known = take_window3(call, &w) && !(mean && ceil);
  for (unsigned d = 0; d < SPATIAL && *known; d++)
    *known = w.dilations[d] == 1 || w.kernel[d] == 1;
  if (!*known)
    return VINCI_OK;
  char more[64] = "";
  if (mean)
    snprintf(more, sizeof more, " count_include_pad=%d",
             (int)onnx_put_int(call, "count_include_pad", 0));
  else
    snprintf(more, sizeof more, " ceil_mode=%d", ceil);
  uint64_t n = x->shape[0], c = x->shape[1], depth = x->shape[2];
  onnx_say(&body,
           "Constant planes = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Reshape p = x planes; %s q = p%s kernel_shape=%" PRId64 ",%" PRId64,
           n, c * depth, x->shape[3], x->shape[4], call->op, more, w.kernel[1], w.kernel[2]);
  say_plane(&body, &w);
  onnx_say(&body,
           "; Constant lines = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Reshape l = q lines; %s r = l%s kernel_shape=%" PRId64 ",1 strides=%" PRId64
           ",1 pads=%" PRId64 ",0,%" PRId64 ",0; Constant shape = value_ints=%" PRIu64 ",%" PRIu64
           ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "; Reshape y = r shape",
           n, c, depth, y->shape[3] * y->shape[4], call->op, more, w.kernel[0], w.strides[0],
           w.pads[0], w.pads[SPATIAL], n, c, y->shape[2], y->shape[3], y->shape[4]);
  return onnx_call_text(call, "x", "y", &body);
}
