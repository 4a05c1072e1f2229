/* SPDX-License-Identifier: Apache-2.0 */
/* nms: arguments, tilings, cost. */
#include "lower/vector/index/nms.h"
#include "lower/plan/program.h"

#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { CHUNK_MAX = 2048, CHUNK_UNIT = 128, WINNERS_MAX = 255 };

static const struct lower_key keys[] = {
    LOWER_KEY("boxes", SIZE, NULL, NULL, "boxes of an image"),
    LOWER_KEY("batches", SIZE, "1", NULL, "images, each with boxes of its own"),
    LOWER_KEY("classes", SIZE, "1", NULL, "classes, each with scores of its own for all boxes"),
    LOWER_KEY("most", SIZE, NULL, NULL, "boxes that are kept of a class at most"),
    LOWER_KEY(
        "count", SIZE, "", "0",
        "how many boxes are taken to be kept in all, for times; without it as many as can be"),
    NUMBER_KEY("iou", "0.5", "boxes are kept apart whose overlap is a larger part of their union"),
    NUMBER_KEY("score", "", "boxes need a larger score; without it any score will do"),
    WORD_KEY("center", "0", "0|1", "0: boxes are two opposite corners; 1: middle and sides"),
    WORD_KEY("planes", "0", "0|1",
             "1: the first numbers of all boxes lie together, then the second, and so on"),
    DTYPE_KEY("fp32", "fp16|fp32", "type of boxes and scores"),
    TILING_KEY("chunk", "boxes that an instruction works on"),
    BLOCKS_KEY("cores to use; 0: one for each class")};

float nms_share(const struct nms *nms) { return nms->iou / (1.0f + nms->iou); }

/* ---- arguments ------------------------------------------------------------------------------- */

/* What a class can keep. */
static uint64_t can_keep(const struct nms *nms) { return min_u64(nms->most, nms->boxes); }

static enum vinci_status check(struct lower_job *job, const struct nms *nms) {
  const uint64_t boxes[] = {nms_units(nms), nms->boxes, NMS_PLANES},
                 kept[] = {nms_units(nms), nms->most};
  enum vinci_status status = lower_bounded(job, boxes, 3);
  if (status == VINCI_OK)
    status = lower_bounded(job, kept, 2);
  if (status != VINCI_OK)
    return status;
  if (!(nms->iou >= 0.0f && nms->iou <= 1.0f))
    return lower_error(job, "iou is from 0 to 1");
  if (nms->count > nms_units(nms) * can_keep(nms))
    return lower_error(job, "count is at most %" PRIu64 ", what all classes can keep",
                       nms_units(nms) * can_keep(nms));
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  struct nms *nms = lower_data(job, sizeof *nms);
  if (!nms)
    return VINCI_E_NOMEM;
  const struct lower_value *count = lower_get(job, "count"), *score = lower_get(job, "score");
  nms->type = lower_get(job, "dtype")->dtype;
  nms->center = lower_get(job, "center")->word == 1;
  nms->planes = lower_get(job, "planes")->word == 1;
  nms->folds = !select_takes(job->soc, OP_VCMAX, DTYPE_FP32);
  nms->apart =
      !nms->planes && !select_has(job->soc, OP_VREDUCEV2) && !select_has(job->soc, OP_VREDUCE);
  nms->iou = (float)lower_get(job, "iou")->number;
  nms->scored = score != NULL;
  nms->score = score ? (float)score->number : 0.0f;
  nms->boxes = lower_get(job, "boxes")->size;
  nms->batches = lower_get(job, "batches")->size;
  nms->classes = lower_get(job, "classes")->size;
  nms->most = lower_get(job, "most")->size;
  const uint64_t classes[] = {nms->batches, nms->classes, can_keep(nms)};
  enum vinci_status status = lower_bounded(job, classes, 3);
  if (status != VINCI_OK)
    return status;
  nms->count = count ? count->size : nms_units(nms) * can_keep(nms);
  return check(job, nms);
}

/* ---- tilings --------------------------------------------------------------------------------- */

static void reserve_pairs(struct nms *nms, uint64_t *used) {
  uint64_t winners = round_up(nms->boxes, NMS_LANES) / NMS_LANES;
  do {
    nms->winners[nms->levels] = winners;
    nms->pairs[nms->levels++] = vtile_reserve(used, round_up(2 * winners, NMS_LANES) * NMS_WORD);
    winners = ceil_div(winners, NMS_PAIRS);
  } while (nms->winners[nms->levels - 1] > 1 && nms->levels < NMS_LEVELS);
}

static void reserve(struct nms *nms, bool areas) {
  uint64_t used = 0, words = round_up(nms->boxes, NMS_LANES) * NMS_WORD;
  uint64_t chunk = nms->chunk * NMS_WORD;
  for (unsigned i = 0; i < NMS_PLANES; i++)
    nms->plane[i] = vtile_reserve(&used, words);
  nms->scores = vtile_reserve(&used, words);
  nms->areas = areas;
  nms->area = areas ? vtile_reserve(&used, words) : 0;
  /* Boxes come in before scores, whose room they take where it is enough. */
  nms->raw = NMS_PLANES * chunk <= words ? nms->scores : vtile_reserve(&used, NMS_PLANES * chunk);
  for (unsigned i = 0; i < NMS_PLANES; i++)
    nms->temp[i] = vtile_reserve(&used, chunk);
  nms->bits = vtile_reserve(&used, nms->chunk / BITS_PER_BYTE + BLOCK_BYTES);
  nms->levels = 0;
  if (nms->folds) {
    nms->places = vtile_reserve(&used, chunk);
    nms->beyond = vtile_reserve(&used, BLOCK_BYTES);
  } else {
    reserve_pairs(nms, &used);
  }
  nms->list = vtile_reserve(&used, nms->most * NMS_WORD);
  nms->number = vtile_reserve(&used, BLOCK_BYTES);
  nms->nothing = vtile_reserve(&used, BLOCK_BYTES);
  nms->ub_bytes = used;
}

static void lay_out(const struct lower_job *job, struct nms *nms) {
  nms->chunk = lower_get(job, "chunk")->size;
  nms->blocks = lower_get(job, "blocks")->size;
  nms->per_block = ceil_div(nms_units(nms), nms->blocks);
  reserve(nms, true);
  if (nms->ub_bytes > vtile_ub_bytes(job->soc))
    reserve(nms, false);
}

/* Chips without copies of single bytes store whole blocks: what is behind a short list is written,
 * too, and has to be of the same core, which writes that later. */
static bool stores_more(const struct lower_job *job) {
  const struct nms *nms = job->data;
  return !select_has(job->soc, OP_COPY_GM_TO_UBUF_ALIGN_B8) && nms->most * NMS_WORD < BLOCK_BYTES;
}

static bool candidate(struct lower_job *job, size_t index) {
  static const uint64_t chunks[] = {CHUNK_MAX, 1024, 768, 512, 384, 256, CHUNK_UNIT};
  const struct nms *nms = job->data;
  if (index >= sizeof chunks / sizeof *chunks)
    return false;
  uint64_t units = nms_units(nms), turns = ceil_div(units, job->cores);
  lower_choose(job, "chunk", min_u64(round_up(nms->boxes, CHUNK_UNIT), chunks[index]));
  lower_choose(job, "blocks", stores_more(job) ? 1 : ceil_div(units, turns));
  return true;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static bool cost(struct lower_job *job) {
  struct nms *nms = job->data;
  const struct vinci_soc *soc = job->soc;
  lay_out(job, nms);
  if (nms->chunk % CHUNK_UNIT != 0 || nms->chunk > CHUNK_MAX)
    return lower_refuse(job, "chunks are multiples of %d up to %d", CHUNK_UNIT, CHUNK_MAX);
  if (!lower_has_cores(job, nms->blocks, emit_vector_core(soc)))
    return false;
  if (nms->blocks > nms_units(nms))
    return lower_refuse(job, "more cores than classes: %" PRIu64 " and %" PRIu64, nms->blocks,
                        nms_units(nms));
  if (nms->blocks > 1 && stores_more(job))
    return lower_refuse(job,
                        "%s stores blocks of %d bytes: with fewer than %d kept boxes, blocks=1",
                        soc->name, BLOCK_BYTES, BLOCK_BYTES / NMS_WORD);
  if (nms->boxes > WINNERS_MAX * NMS_LANES)
    return lower_refuse(job, "a class has at most %d boxes", WINNERS_MAX * NMS_LANES);
  return vtile_ub_holds(job, "a class", nms->ub_bytes) && program_cost(job);
}

/* ---- the operator ---------------------------------------------------------------------------- */

static void emit(const struct lower_job *job, struct emit *e) {
  struct nms *nms = job->data;
  lay_out(job, nms);
  const uint64_t points[] = {nms->batches, nms->boxes, NMS_PLANES};
  const uint64_t planes[] = {nms->batches, NMS_PLANES, nms->boxes};
  const uint64_t scores[] = {nms->batches, nms->classes, nms->boxes};
  const uint64_t kept[] = {nms_units(nms), nms->most}, counts[] = {nms_units(nms), NMS_SHARED};
  emit_kernel(e, job->op->name, (uint32_t)nms->blocks);
  emit_tensor(e, "boxes", nms->type, TENSOR_IN, nms->planes ? planes : points, 3, NULL);
  emit_tensor(e, "scores", nms->type, TENSOR_IN, scores, 3, NULL);
  emit_tensor(e, "y", DTYPE_INT32, TENSOR_OUT, kept, 2, NULL);
  emit_tensor(e, "y1", DTYPE_INT32, TENSOR_OUT, counts, 2, NULL);
  vkernel_stream(e, nms->ub_bytes, KERNEL_ELEMENTWISE);
  emit_plain(e, "set_mask_count");
  nms_emit_rows(e, nms);
}

/* Boxes [n, 4] and scores [n], or with images and classes before; the result has the indices. The
 * vendor's V4 pads its result, so that all of it counts as kept. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *boxes = &call->input[0], *scores = &call->input[1],
                            *y = &call->output[0];
  if (call->input_count < 2 || call->output_count < 1 || boxes->rank < 2 || boxes->rank > 3 ||
      scores->rank == 0 || y->rank == 0 || boxes->shape[boxes->rank - 1] != NMS_PLANES)
    return lower_cannot(call, "boxes of four numbers, scores and a result are needed");
  uint64_t count = boxes->shape[boxes->rank - 2], images = boxes->rank == 3 ? boxes->shape[0] : 1;
  uint64_t all = lower_elements(scores->shape, scores->rank);
  uint64_t kept = y->shape[0];
  if (count == 0 || images == 0 || kept == 0 || all % (count * images) != 0 || all == 0)
    return lower_cannot(call, "a score for each box, and results, are needed");
  uint64_t classes = all / count / images;
  lower_arg(call, "boxes=%" PRIu64, count);
  lower_arg(call, "batches=%" PRIu64, images);
  lower_arg(call, "classes=%" PRIu64, classes);
  lower_arg(call, "most=%" PRIu64, min_u64(count, kept));
  lower_arg(call, "count=%" PRIu64, min_u64(kept, classes * images * min_u64(count, kept)));
  lower_arg_dtype(call, "dtype", boxes);
  return true;
}

static const struct lower_template template = {setup, candidate, cost, emit};
LOWER_OPERATOR(nms,
               "NonMaxSuppression|NonMaxSuppressionV2|NonMaxSuppressionV3|NonMaxSuppressionV4|"
               "NonMaxSuppressionV6",
               "y = of each class the boxes that overlap with none of a larger score, the largest "
               "first, then -1; y1 = how many, eight times",
               keys, &template, NULL, from_tensors)
