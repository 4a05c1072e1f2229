/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates for the tilings of a convolution and of its gradient with respect to the map. */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/cube/conv.h"

enum { SLOTS = 2, KIND_COUNT = 3 };

/* Sides of blocks: of points, and of channels. */
struct sides {
  const uint16_t *points, *channels;
  size_t point_count, channel_count;
};

#define COUNT(list) (sizeof(list) / sizeof *(list))
static const uint16_t all_sides[] = {512, 384, 320, 256, 224, 192, 176, 160, 144,
                                     128, 112, 96,  80,  64,  48,  32,  16};
static const struct sides forward = {all_sides, all_sides, COUNT(all_sides), COUNT(all_sides)};
/*
 * Profiles of the vendor's library tell by the times of cube and MTE1 that its blocks of a gradient
 * are up to about 128 points of dx, whole rows, and as many channels as fit. All of those are of
 * fp32, with 64 to 432 channels: what is the same for other types is assumed to be the bytes in
 * L0A, of a depth that the channels of one block of 32 bytes have.
 */
enum { GRADIENT_POINT_BYTES = 128 * 4 };
static const uint16_t point_sides[] = {512, 256, 128, 96, 64, 48, 32, 16};
static const uint16_t channel_sides[] = {256, 224, 192, 160, 128, 96, 64, 48, 32, 16};
static const struct sides gradient = {point_sides, channel_sides, COUNT(point_sides),
                                      COUNT(channel_sides)};

/*
 * First layers, with a single block of channels: profiles of the vendor's library tell by the times
 * of MTE2 and cube that a block is a row of the result or so, and that the weights are read for
 * each.
 */
enum { FIRST_POINTS = 64, FIRST_POINTS_MAX = 512 };

static bool is_first_layer(const struct conv *conv) {
  return !conv->gradient && conv->c1 == 1 && conv->groups == 1 && conv->kh * conv->kw > 1 &&
         conv->wo <= FIRST_POINTS_MAX;
}

/* Points of a block: of a gradient, rows that make up to `side` points, or a part of a row. */
static uint64_t points_of(const struct matmul *mm, uint64_t side) {
  const struct conv *conv = mm->conv;
  if (is_first_layer(conv))
    return min_u64(conv->ho, max_u64(1, FIRST_POINTS / conv->wo)) * conv->wo;
  if (!conv->gradient || side < conv->wo)
    return matmul_even(mm->m, side, FRACTAL_ROWS);
  return matmul_even(conv->ho, min_u64(side / conv->wo, conv->ho), 1) * conv->wo;
}

/* As deep a step as L0 holds twice, dividing the panel into equal ones. */
static uint64_t step_of(const struct vinci_soc *soc, const struct matmul *mm, uint64_t points,
                        uint64_t bn, uint64_t panel) {
  uint64_t bm = round_up(points, FRACTAL_ROWS);
  return matmul_even(panel, matmul_deepest_step(soc, mm, bm, bn, mm->c0), mm->c0);
}

/* Blocks of channels, evenly, so that a panel of them takes at most `room`. */
static uint64_t groups_in(const struct conv *conv, uint64_t group_bytes, uint64_t room) {
  return matmul_even(conv->c1, max_u64(1, min_u64(conv->c1, room / group_bytes)), 1);
}

/* The same where weights come along; those of a gradient are whole fractals. */
static uint64_t weight_groups_in(const struct matmul *mm, uint64_t group_bytes, uint64_t room) {
  uint64_t groups = groups_in(mm->conv, group_bytes, room);
  if (!mm->conv->gradient || groups == mm->conv->c1)
    return groups;
  return round_up(groups, max_u64(FRACTAL_ROWS / mm->c0, 1));
}

/* The depth of weights of which two panels take at most `room`, evenly. */
static uint64_t weights_depth(const struct matmul *mm, uint64_t bn, uint64_t room) {
  uint64_t element = bn * mm->element_bytes, window = mm->conv->window;
  if (mm->conv->gradient)
    return weight_groups_in(mm, element * window * SLOTS, room) * window;
  uint64_t most = min_u64(mm->k, room / SLOTS / element) / mm->c0 * mm->c0;
  return matmul_even(mm->k, max_u64(mm->c0, most), mm->c0);
}

static uint64_t left_of(uint64_t room, uint64_t held) { return held < room ? room - held : 0; }

/*
 * The cores that the vendor's library gives a forward convolution: those that take whole images,
 * the same number each, where there are as many images as cores. All five profiled layers of 32
 * images have 16 of 24 cores, also where parts of the channels would have filled all of them.
 */
static void share_images(struct lower_job *job) {
  const struct matmul *mm = job->data;
  struct lower_value *cores = matmul_key(job, MATMUL_CORES);
  if (mm->conv->gradient || mm->batch < cores->size)
    return;
  while (mm->batch % cores->size)
    cores->size--;
}

/* L1, without what bias and a residual take. */
static uint64_t room_of(const struct lower_job *job, uint64_t points, uint64_t bn) {
  const struct matmul *mm = job->data;
  uint64_t room =
      (uint64_t)job->soc->l1_bytes - (mm->bias ? SLOTS * (uint64_t)job->soc->bt_bytes : 0);
  return left_of(room, matmul_residual_l1_bytes(mm, points, bn));
}

/* What the vendor's library does of what knobs choose among. */
static void put_knobs(struct lower_job *job) {
  for (unsigned knob = 0; knob < CONV_KNOBS; knob++)
    *conv_knob(job, knob) = (struct lower_value){.present = true};
}

/* The copy tells the distance of rows in elements, in 16 bits. */
bool conv_rows_fit(struct lower_job *job) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  uint64_t weights = round_up(mm->n, FRACTAL_ROWS) * mm->c0;
  if (mm->coupled || conv->gradient || conv->block != mm->c0)
    return lower_refuse(job, "copies=rows is for maps in NC1HWC0, forward, and for cube cores");
  return max_u64(conv_map_blocks(conv) * mm->c0, weights) <= UINT16_MAX ||
         lower_refuse(job, "blocks of channels are too far apart for copies=rows");
}

/* ---- parts of k ---- */

static const uint16_t part_points[] = {256, 128, 64, 32}, part_channels[] = {256, 128, 64, 32};
enum { PART_SHAPES = COUNT(part_points) * COUNT(part_channels) };

/* Parts of the channels, as many as are asked for. Each has panels of the same depth, as few as L1
 * allows. */
static bool part_candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  if (index >= (size_t)PART_SHAPES)
    return false;
  uint64_t points = points_of(mm, part_points[index / COUNT(part_channels)]);
  uint64_t bn = matmul_even(mm->n, part_channels[index % COUNT(part_channels)], matmul_unit(mm));
  uint64_t split = matmul_key(job, MATMUL_SPLIT)->size;
  uint64_t map = conv_rows(conv, points) * conv->w * conv->point_bytes;
  uint64_t weights = bn * conv->window * mm->element_bytes;
  uint64_t part = ceil_div(conv->c1, split);
  uint64_t panel = weight_groups_in(mm, (map + weights) * SLOTS, room_of(job, points, bn));
  panel = ceil_div(part, ceil_div(part, panel)) * conv->window;
  const uint64_t tile[3] = {points, step_of(job->soc, mm, points, bn, panel), bn};
  matmul_set_tiling(job, tile, panel, panel, RESIDENT_NONE);
  *matmul_key(job, MATMUL_SPLIT) = matmul_size(split);
  put_knobs(job);
  matmul_key(job, MATMUL_CORES)->size = matmul_cores(job->soc);
  return true;
}

bool conv_candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  bool first = is_first_layer(conv);
  const struct sides *sides = conv->gradient ? &gradient : &forward;
  size_t kinds = first ? 1 : KIND_COUNT, side = index / kinds;
  bool parts = matmul_key(job, MATMUL_SPLIT)->given && matmul_key(job, MATMUL_SPLIT)->size > 1;
  size_t whole = parts ? 0 : (first ? 1 : sides->point_count) * sides->channel_count;
  if (side >= whole)
    return parts && part_candidate(job, index);
  uint64_t most = conv->gradient ? GRADIENT_POINT_BYTES / mm->element_bytes : UINT64_MAX;
  uint64_t points = points_of(mm, min_u64(most, sides->points[side / sides->channel_count]));
  uint64_t bn = matmul_even(mm->n, sides->channels[side % sides->channel_count], matmul_unit(mm));
  uint64_t room = room_of(job, points, bn);
  /* Of one block of channels: */
  uint64_t map = conv_rows(conv, points) * conv->w * conv->point_bytes;
  uint64_t weights = bn * conv->window * mm->element_bytes;
  uint64_t ka, kb;
  enum matmul_resident resident = (enum matmul_resident)(index % kinds);
  if (first || resident == RESIDENT_A) {
    kb = weights_depth(mm, bn, left_of(room, map * (first ? SLOTS : conv->c1)));
    ka = round_up(mm->k, kb);
  } else if (resident == RESIDENT_B) {
    uint64_t unit = conv->gradient ? FRACTAL_ROWS / mm->c0 : 1;
    uint64_t held = weights * round_up(conv->c1, unit);
    ka = groups_in(conv, map * SLOTS, left_of(room, held)) * conv->window;
    kb = round_up(mm->k, ka);
  } else {
    ka = kb = weight_groups_in(mm, (map + weights) * SLOTS, room) * conv->window;
  }
  uint64_t panel = first ? kb : min_u64(ka, kb);
  const uint64_t tile[3] = {points, step_of(job->soc, mm, points, bn, panel), bn};
  matmul_set_tiling(job, tile, ka, kb, resident);
  *matmul_key(job, MATMUL_SPLIT) = matmul_size(1);
  put_knobs(job);
  share_images(job);
  return true;
}
