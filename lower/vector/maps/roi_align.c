/* SPDX-License-Identifier: Apache-2.0 */
/* roi_align: arguments, tilings, cost. */
#include "lower/vector/maps/roi_align.h"
#include "lower/plan/program.h"

#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { X_RANK = 4, CONSTANT_BYTES = 256, VECTOR_LANES = 64, BITS_PER_WORD = 32 };

static const struct lower_key keys[] = {
    LOWER_KEY("shape", SHAPE, NULL, NULL, "extents of x: images, rows, columns, channels"),
    LOWER_KEY("regions", SIZE, NULL, NULL, "regions; each names its image"),
    LOWER_KEY("size", SHAPE, NULL, NULL, "rows x columns of bins of a region"),
    LOWER_KEY("points", SIZE, "2", NULL, "points of a bin along each side"),
    NUMBER_KEY("scale", "1", "from the numbers of regions to those of the map"),
    WORD_KEY("half_pixel", "0", "0|1",
             "1: whole numbers are the middles of squares; 0: they are places, and regions have "
             "sides of 1 at least"),
    DTYPE_KEY("fp16", "fp16|fp32", "type of x and y"),
    TILING_KEY("bins", "bins of a row that are worked on at once"),
    BLOCKS_KEY("cores to use; 0: all that have a region")};

static enum vinci_status setup(struct lower_job *job) {
  struct roi_align *roi = lower_data(job, sizeof *roi);
  const struct lower_value *shape = lower_get(job, "shape"), *size = lower_get(job, "size");
  if (!roi)
    return VINCI_E_NOMEM;
  if (shape->rank != X_RANK || size->rank != ROI_AXES)
    return lower_error(job, "shape has four extents, size two");
  roi->type = lower_get(job, "dtype")->dtype;
  roi->half_pixel = lower_get(job, "half_pixel")->word == 1;
  roi->scale = (float)lower_get(job, "scale")->number;
  roi->images = shape->shape[0];
  roi->channels = shape->shape[X_RANK - 1];
  roi->regions = lower_get(job, "regions")->size;
  roi->points = lower_get(job, "points")->size;
  for (unsigned a = 0; a < ROI_AXES; a++)
    roi->axis[a] = (struct roi_axis){.extent = shape->shape[1 + a], .bins = size->shape[a]};
  const uint64_t result[] = {roi->regions, size->shape[0], size->shape[1], roi->channels},
                 points[] = {roi->points, roi->points, size->shape[0], size->shape[1]};
  enum vinci_status status = lower_bounded(job, result, X_RANK);
  if (status == VINCI_OK)
    status = lower_bounded(job, points, X_RANK);
  if (status == VINCI_OK && roi->channels * vtile_bytes(roi->type) % BLOCK_BYTES != 0)
    return lower_error(job, "channels are whole blocks of %d bytes", BLOCK_BYTES);
  if (status == VINCI_OK && job->soc->arch == ARCH_C100)
    return lower_error(job, "not for %s: it rounds no fp32 down", arch_name(job->soc->arch));
  return status;
}

/* ---- tilings --------------------------------------------------------------------------------- */

static void lay_out(const struct lower_job *job, struct roi_align *roi) {
  roi->bins = lower_get(job, "bins")->size;
  roi->blocks = lower_get(job, "blocks")->size;
  roi->per_block = ceil_div(roi->regions, roi->blocks);
  const uint64_t points = roi->bins * roi->points * ROI_NEIGHBOURS * roi->channels;
  const uint64_t bytes = vtile_bytes(roi->type),
                 longest = max_u64(roi_points(roi, 0), roi_points(roi, 1));
  uint64_t used = 0;
  bool converts = roi->type != DTYPE_FP32;
  roi->slot_bytes = vtile_align(points * bytes);
  roi->patches = vtile_reserve(&used, ROI_SLOTS * roi->slot_bytes);
  roi->wide = converts ? vtile_reserve(&used, points * ROI_WORD) : 0;
  roi->sum = vtile_reserve(&used, roi->bins * roi->channels * ROI_WORD);
  roi->out = converts ? vtile_reserve(&used, roi->bins * roi->channels * bytes) : 0;
  roi->numbers = vtile_reserve(&used, roi->per_block * ROI_NUMBERS * ROI_WORD);
  roi->indices = vtile_reserve(&used, roi->per_block * ROI_WORD);
  roi->weights = vtile_reserve(&used, roi_points(roi, 0) * ROI_NEIGHBOURS * roi_weight_row(roi));
  for (unsigned i = 0; i < 3; i++)
    roi->temp[i] = vtile_reserve(&used, longest * ROI_WORD);
  for (unsigned a = 0; a < ROI_AXES; a++) {
    struct roi_axis *axis = &roi->axis[a];
    uint64_t *tables[] = {&axis->shares, &axis->place, &axis->low, &axis->high};
    for (unsigned i = 0; i < 4; i++)
      *tables[i] = vtile_reserve(&used, round_up(roi_points(roi, a), VTABLE_FIRST) * ROI_WORD);
  }
  roi->bits = vtile_reserve(&used, longest / BITS_PER_BYTE + BLOCK_BYTES);
  roi->constants = vtile_reserve(&used, CONSTANT_BYTES);
  roi->ub_bytes = used;
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct roi_align *roi = job->data;
  uint64_t columns = roi->axis[1].bins;
  if (index > 0 && (index >= BITS_PER_WORD || columns <= UINT64_C(1) << (index - 1)))
    return false;
  lower_choose(job, "bins", ceil_div(columns, UINT64_C(1) << index));
  lower_choose(job, "blocks", ceil_div(roi->regions, ceil_div(roi->regions, job->cores)));
  return true;
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Of a region: copies of points, sums of neighbours, and the rows of tables. */
static bool cost(struct lower_job *job) {
  struct roi_align *roi = job->data;
  const struct vinci_soc *soc = job->soc;
  lay_out(job, roi);
  if (roi->bins > roi->axis[1].bins)
    return lower_refuse(job, "a row has %" PRIu64 " bins", roi->axis[1].bins);
  if (!lower_has_cores(job, roi->blocks, emit_vector_core(soc)) ||
      (roi->blocks > roi->regions && !vtile_too_few(job, roi->regions, roi->blocks)) ||
      !vtile_ub_holds(job, "a row of points", roi->ub_bytes))
    return false;
  return program_cost(job);
}

/* ---- the operator ---------------------------------------------------------------------------- */

static void emit(const struct lower_job *job, struct emit *e) {
  struct roi_align *roi = job->data;
  lay_out(job, roi);
  const uint64_t *rows = lower_get(job, "shape")->shape;
  const uint64_t corners[] = {roi->regions, ROI_NUMBERS};
  const uint64_t bins[] = {roi->regions, roi->axis[0].bins, roi->axis[1].bins, roi->channels};
  emit_kernel(e, job->op->name, (uint32_t)roi->blocks);
  emit_tensor(e, "x", roi->type, TENSOR_IN, rows, X_RANK, NULL);
  emit_tensor(e, "rois", DTYPE_FP32, TENSOR_IN, corners, 2, NULL);
  emit_vector(e, "index", DTYPE_INT32, TENSOR_IN, roi->regions);
  emit_tensor(e, "y", roi->type, TENSOR_OUT, bins, X_RANK, NULL);
  vkernel_stream(e, roi->ub_bytes, KERNEL_ELEMENTWISE);
  emit_plain(e, "set_mask_count");
  roi_align_emit_rows(e, roi);
}

/* Maps and results as the vendor's lists have them: images, channels, rows, columns, or blocks of
 * channels behind. Lists lack the attributes: a bin is taken to have 2 x 2 points, as detectors
 * usually have. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *rois = &call->input[1], *y = &call->output[0];
  bool blocks = x->rank == X_RANK + 1;
  if (call->input_count < 2 || call->output_count < 1 || (x->rank != X_RANK && !blocks) ||
      y->rank != x->rank || rois->rank == 0)
    return lower_cannot(call, "maps, regions and bins of four dimensions are needed");
  uint64_t channels = x->shape[1] * (blocks ? x->shape[X_RANK] : 1);
  lower_arg(call, "shape=%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64, x->shape[0], x->shape[2],
            x->shape[3], channels);
  lower_arg(call, "regions=%" PRIu64, y->shape[0]);
  lower_arg(call, "size=%" PRIu64 "x%" PRIu64, y->shape[2], y->shape[3]);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template template = {setup, candidate, cost, emit};
LOWER_OPERATOR(roi_align, "ROIAlign|RoiAlign",
               "y = bins of regions of maps, each the mean of points that are mixed of their four "
               "neighbours; rois = two corners x, y of each, index = its image",
               keys, &template, NULL, from_tensors)
