/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of detection: which boxes are kept, bins of regions. */
#include "core/base/arith.h"
#include "networks/layers/build.h"

/* ---- boxes that are kept --------------------------------------------------------------------- */

enum { NMS_MOST = 2, NMS_IOU, NMS_SCORE, NMS_COUNTS = 8, BOX_NUMBERS = 4, TRIPLE = 3 };

/* An input of one number; without the input the number stays as it is. False: not known. */
static bool take_number(const struct build *build, unsigned input, double *number) {
  const struct graph_tensor *given = build_tensor(build, input);
  return !given || build_number(build, input, 0, number);
}

/* Boxes and scores: images, classes, boxes of an image. */
static bool take_boxes(const struct build *build, uint64_t *images, uint64_t *classes,
                       uint64_t *count) {
  const struct graph_tensor *boxes = build_tensor(build, 0), *scores = build_tensor(build, 1);
  if (!boxes || !scores || boxes->rank != 3 || scores->rank != 3 ||
      boxes->shape[2] != BOX_NUMBERS || boxes->shape[0] != scores->shape[0] ||
      boxes->shape[1] != scores->shape[2])
    return false;
  *images = scores->shape[0];
  *classes = scores->shape[1];
  *count = scores->shape[2];
  return true;
}

/* How many are kept in all is what the file notes as the extent of the result, what --dim says, or
 * as many as can be. */
bool layer_nms(struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  double most = 0, iou = 0, score = 0;
  uint64_t images, classes, boxes;
  if (!take_boxes(build, &images, &classes, &boxes) || !y || y->rank != 2 || y->shape[1] != TRIPLE)
    return build_refuse(build, "boxes, their scores and rows of three are needed");
  if (!take_number(build, NMS_MOST, &most) || !take_number(build, NMS_IOU, &iou) ||
      !take_number(build, NMS_SCORE, &score))
    return build_refuse(build, "the numbers are not known before the run");
  uint64_t rows[2] = {images * classes, (uint64_t)(most < (double)boxes ? most : (double)boxes)};
  uint64_t counts[2] = {rows[0], NMS_COUNTS};
  if (!(most >= 1) || y->shape[0] == 0)
    return build_refuse(build, "no boxes are kept");
  char text[400];
  int length =
      snprintf(text, sizeof text,
               "boxes=%llu batches=%llu classes=%llu most=%llu count=%llu iou=%.9g "
               "center=%d dtype=%s",
               (unsigned long long)boxes, (unsigned long long)images, (unsigned long long)classes,
               (unsigned long long)rows[1], (unsigned long long)y->shape[0], iou,
               graph_arg_int(build->layer, "center_point_box", 0) != 0,
               dtype_name(build_tensor(build, 0)->dtype));
  if (build_tensor(build, NMS_SCORE))
    snprintf(text + length, sizeof text - (size_t)length, " score=%.9g", score);
  const char *made = y->dtype == DTYPE_INT32 ? "int32" : "int64";
  if (!build_can(build, "nms", "%s", text) ||
      !build_can(build, "nms_list", "batches=%llu classes=%llu most=%llu count=%llu out=%s",
                 (unsigned long long)images, (unsigned long long)classes,
                 (unsigned long long)rows[1], (unsigned long long)y->shape[0], made))
    return build_refuse(build, "%llu boxes, of which %llu are kept, are not modelled",
                        (unsigned long long)boxes, (unsigned long long)y->shape[0]);
  uint32_t kept = build_temp(build, DTYPE_INT32, rows, 2);
  uint32_t counted = build_temp(build, DTYPE_INT32, counts, 2);
  uint32_t scores =
      build_cast(build, build_input(build, 1, LAYOUT_ND), build_tensor(build, 0)->dtype);
  build_kernel(build, "nms", &BUILD_LIST(build_input(build, 0, LAYOUT_ND), scores),
               &BUILD_LIST(kept, counted), "%s", text);
  build_kernel1(build, "nms_list", &BUILD_LIST(kept, counted), build_output(build, 0, LAYOUT_ND),
                "batches=%llu classes=%llu most=%llu count=%llu out=%s", (unsigned long long)images,
                (unsigned long long)classes, (unsigned long long)rows[1],
                (unsigned long long)y->shape[0], made);
  return true;
}

/* ---- bins of regions ------------------------------------------------------------------------- */

/* Maps have their channels behind in the kernel, in whole blocks, and so have bins. */
bool layer_roi_align(struct build *build) {
  static const unsigned behind[] = {0, 2, 3, 1}, back[] = {0, 3, 1, 2};
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  const char *mode = graph_arg(build->layer, "mode"),
             *way = graph_arg(build->layer, "coordinate_transformation_mode");
  int64_t points = graph_arg_int(build->layer, "sampling_ratio", 0);
  if (!x || x->rank != 4 || !build_tensor(build, 1) || !build_tensor(build, 2) || !y)
    return build_refuse(build, "maps, regions and their images are needed");
  if (mode && strcmp(mode, "avg") != 0)
    return build_refuse(build, "mode %s", mode);
  if (points < 1)
    return build_refuse(build,
                        "sampling_ratio=0: how many points there are depends on each region");
  const uint64_t channels = x->shape[1], whole = round_up(channels, build_c0(x->dtype));
  const uint64_t map[4] = {x->shape[0], x->shape[2], x->shape[3], whole};
  const uint64_t bins[4] = {y->shape[0], y->shape[2], y->shape[3], whole},
                 cut[4] = {bins[0], bins[1], bins[2], channels};
  char text[400];
  snprintf(text, sizeof text,
           "shape=%s regions=%llu size=%llux%llu points=%lld scale=%.9g half_pixel=%d dtype=%s",
           shape_text(map, 4).text, (unsigned long long)bins[0], (unsigned long long)bins[1],
           (unsigned long long)bins[2], (long long)points,
           graph_arg_number(build->layer, "spatial_scale", 1),
           !way || strcmp(way, "half_pixel") == 0, dtype_name(x->dtype));
  if (!build_can(build, "roi_align", "%s", text))
    return build_refuse(build, "%llu channels of %s are not modelled", (unsigned long long)map[3],
                        dtype_name(x->dtype));
  uint32_t in = build_transpose(build, build_input(build, 0, LAYOUT_ND), behind);
  in = build_row_length(build, in, channels, whole);
  uint32_t out = build_temp(build, x->dtype, bins, 4);
  build_kernel1(build, "roi_align",
                &BUILD_LIST(in, build_cast(build, build_input(build, 1, LAYOUT_ND), DTYPE_FP32),
                            build_cast(build, build_input(build, 2, LAYOUT_ND), DTYPE_INT32)),
                out, "%s", text);
  out = build_view(build, build_row_length(build, out, whole, channels), cut, 4);
  build_view_output(build, 0, LAYOUT_ND, build_transpose(build, out, back));
  return true;
}
