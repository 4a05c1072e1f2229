/* SPDX-License-Identifier: Apache-2.0 */
/* Work against time: what the beginning of a run says about its rest, beside another run of the
 * same work. */
#include "core/sim/pace.h"

#include "core/base/arith.h"

enum { PPM = 1000000, FIRST_STEP_BYTES = 512 };

/*
 * The bar is a sum, with these weights in thousandths: a base, a part for the share of the run that
 * cycle memory has not simulated, and what the looks measure. They were chosen with one half of
 * random operators and checked with the other and with operators of another seed; tests/auto does
 * that and memhier/DESIGN.md has the figures.
 */
enum { BAR_BASE_PPM = 8000, BAR_REST = 13, BAR_RATIO = 120, BAR_DRIFT = 700, BAR_LAG = 1000 };
/* Each eighth of the work has an estimate, up to five of them; behind these the run goes on to its
 * end. More estimates would find more looks that happen to agree. The ratios need a sixteenth of
 * the work. */
enum { PARTS = 8, LAST_PART = 5, LEAST_PART = 16 };
/* What runs that settle keep of the drift of their beginning: less than one part of these. */
enum { DRIFT_LEFT = 4 };

bool pace_create(struct pace *pace, struct arena *arena, uint32_t cores, uint64_t look_bytes) {
  *pace = (struct pace){.core_count = cores, .look_bytes = look_bytes};
  pace->flat = ARENA_ARRAY(arena, struct pace_curve, cores);
  pace->cycle = ARENA_ARRAY(arena, struct pace_core, cores);
  pace->looks = ARENA_ARRAY(arena, struct pace_look, PACE_LOOKS + 1);
  struct pace_core *looks = ARENA_ARRAY(arena, struct pace_core, (size_t)cores * (PACE_LOOKS + 1));
  if (!pace->flat || !pace->cycle || !pace->looks || !looks)
    return false;
  for (uint32_t i = 0; i <= PACE_LOOKS; i++)
    pace->looks[i].cores = looks + (size_t)i * cores;
  return true;
}

/* ---- both runs ---- */

static void halve(struct pace_curve *curve) {
  for (uint32_t i = 0; i < PACE_MARKS / 2; i++)
    curve->time_ps[i] = curve->time_ps[2 * i + 1];
  curve->count = PACE_MARKS / 2;
  curve->step_bytes *= 2;
}

void pace_note_flat(struct pace *pace, uint32_t core, uint64_t bytes, uint64_t now_ps) {
  struct pace_curve *curve = &pace->flat[core];
  if (curve->step_bytes == 0)
    curve->step_bytes = FIRST_STEP_BYTES;
  pace->flat_bytes += bytes;
  pace->flat_last_ps = now_ps;
  curve->work_bytes += bytes;
  curve->last_ps = now_ps;
  while (curve->work_bytes / curve->step_bytes > curve->count) {
    if (curve->count == PACE_MARKS)
      halve(curve);
    else
      curve->time_ps[curve->count++] = now_ps;
  }
}

/* When transfers of these bytes had been started; between two marks in proportion. */
static uint64_t flat_time_ps(const struct pace_curve *curve, uint64_t bytes) {
  if (curve->work_bytes == 0 || bytes >= curve->work_bytes)
    return curve->last_ps;
  uint64_t step = bytes / curve->step_bytes, width = curve->step_bytes;
  uint64_t before_ps = step > 0 ? curve->time_ps[step - 1] : 0, after_ps = curve->last_ps;
  if (step < curve->count)
    after_ps = curve->time_ps[step];
  else
    width = curve->work_bytes - step * curve->step_bytes;
  uint64_t rest = bytes - step * curve->step_bytes;
  return before_ps + (uint64_t)((uint128)(after_ps - before_ps) * rest / width);
}

/* Leaves every second look out. */
static void thin_looks(struct pace *pace) {
  for (uint32_t i = 1; i <= PACE_LOOKS / 2; i++) {
    struct pace_look kept = pace->looks[2 * i];
    pace->looks[2 * i] = pace->looks[i]; /* its room for cores is used again */
    pace->looks[i] = kept;
  }
  pace->look = PACE_LOOKS / 2;
  pace->look_bytes *= 2;
}

bool pace_note_cycle(struct pace *pace, uint32_t core, uint64_t bytes, uint64_t now_ps) {
  pace->cycle_bytes += bytes;
  pace->cycle[core].bytes += bytes;
  pace->cycle[core].last_ps = now_ps;
  if (pace->cycle_bytes - pace->looks[pace->look].bytes < pace->look_bytes)
    return false;
  if (pace->look == PACE_LOOKS)
    thin_looks(pace);
  struct pace_look *look = &pace->looks[++pace->look];
  look->bytes = pace->cycle_bytes;
  look->time_ps = now_ps;
  for (uint32_t i = 0; i < pace->core_count; i++)
    look->cores[i] = pace->cycle[i];
  return true;
}

/* ---- what they say ---- */

static uint64_t share_ppm(uint64_t part, uint64_t whole) {
  return whole > 0 ? (uint64_t)((uint128)part * PPM / whole) : 0;
}

static uint64_t scaled(uint64_t value, uint64_t ppm) {
  return (uint64_t)((uint128)value * ppm / PPM);
}

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* From one look to another: time in cycle memory and, for the same work, in flat memory. */
struct span {
  uint64_t cycle_ps, flat_ps;
};

static struct span core_span(const struct pace *pace, uint32_t core, uint32_t from, uint32_t to) {
  const struct pace_core *first = &pace->looks[from].cores[core];
  const struct pace_core *last = &pace->looks[to].cores[core];
  const struct pace_curve *curve = &pace->flat[core];
  uint64_t before_ps = first->bytes > 0 ? flat_time_ps(curve, first->bytes) : 0;
  uint64_t after_ps = last->bytes > 0 ? flat_time_ps(curve, last->bytes) : 0;
  return (struct span){last->last_ps - first->last_ps, after_ps - before_ps};
}

/* How many times as long the cores took in cycle memory. */
static uint64_t ratio_ppm(const struct pace *pace, uint32_t from, uint32_t to) {
  struct span sum = {0};
  for (uint32_t i = 0; i < pace->core_count; i++) {
    struct span span = core_span(pace, i, from, to);
    sum.cycle_ps += span.cycle_ps;
    sum.flat_ps += span.flat_ps;
  }
  return share_ppm(sum.cycle_ps, sum.flat_ps);
}

/*
 * What is left of a ratio when its distance from 1 is weighed against what it changes between two
 * halves (James and Stein): flat memory is believed where the looks do not contradict it clearly.
 */
static uint64_t believed(uint64_t ratio, uint64_t weight) {
  return ratio > PPM ? PPM + scaled(ratio - PPM, weight) : PPM - scaled(PPM - ratio, weight);
}

static uint64_t weight_ppm(uint64_t away, uint64_t drift) {
  uint128 square = (uint128)away * away, all = square + (uint128)drift * drift;
  return all > 0 ? (uint64_t)(square * PPM / all) : PPM;
}

/* When the last core starts its last work: what is left of its flat run at the ratio of all cores,
 * or at the core's own. A core that the network or L2 serves worse than others is late by the
 * second alone. */
static uint64_t end_ps(const struct pace *pace, uint32_t from, uint32_t to, uint64_t ratio,
                       uint64_t weight, bool own) {
  uint64_t end_ps = pace->looks[to].time_ps;
  for (uint32_t i = 0; i < pace->core_count; i++) {
    const struct pace_core *core = &pace->looks[to].cores[i];
    uint64_t done_ps = core->bytes > 0 ? flat_time_ps(&pace->flat[i], core->bytes) : 0;
    struct span span = core_span(pace, i, from, to);
    uint64_t own_ppm = span.flat_ps > 0 ? share_ppm(span.cycle_ps, span.flat_ps) : ratio;
    own_ppm = min_u64(max_u64(own_ppm, ratio / 2), ratio * 2);
    uint64_t rest_ps =
        scaled(pace->flat[i].last_ps - done_ps, believed(own ? own_ppm : ratio, weight));
    end_ps = max_u64(end_ps, core->last_ps + rest_ps);
  }
  return end_ps + (pace->flat_ps - pace->flat_last_ps);
}

/* The first look, from `look` on, that has these bytes, or the last look. */
static uint32_t look_at(const struct pace *pace, uint32_t look, uint64_t bytes) {
  while (look < pace->look && pace->looks[look].bytes < bytes)
    look++;
  return look;
}

/* Whether another part of the work is done that is worth an estimate. */
static bool is_due(struct pace *pace) {
  uint64_t parts = pace->flat_bytes > 0 ? pace->cycle_bytes * PARTS / pace->flat_bytes : 0;
  if (parts <= pace->judged || parts > LAST_PART)
    return false;
  pace->judged = (uint32_t)parts;
  return true;
}

/* Where a span of looks is halved. */
static uint32_t middle_of(const struct pace *pace, uint32_t from, uint32_t to) {
  uint64_t before = pace->looks[from].bytes;
  return look_at(pace, from, before + (pace->looks[to].bytes - before) / 2);
}

/* How far the ratios of both halves are apart, of the ratio of all. */
static uint64_t drift_ppm(const struct pace *pace, uint32_t from, uint32_t to, uint64_t ratio) {
  uint32_t middle = middle_of(pace, from, to);
  return share_ppm(distance(ratio_ppm(pace, from, middle), ratio_ppm(pace, middle, to)), ratio);
}

bool pace_is_far(const struct pace *pace, uint64_t limit_ppm) {
  uint32_t to = pace->look, from = look_at(pace, 0, pace->looks[to].bytes / 4);
  uint64_t ratio = ratio_ppm(pace, from, to), drift = drift_ppm(pace, from, to, ratio);
  uint64_t unsure =
      BAR_REST * PPM + BAR_RATIO * distance(ratio, PPM) + BAR_DRIFT * drift / DRIFT_LEFT;
  return BAR_BASE_PPM + unsure / MILLI * (PARTS - LAST_PART) / PARTS > limit_ppm;
}

bool pace_estimate(struct pace *pace) {
  if (!is_due(pace))
    return false;
  uint32_t to = pace->look;
  uint64_t done = pace->looks[to].bytes;
  uint32_t from = look_at(pace, 0, max_u64(done / 4, pace->settled_bytes));
  if (done - pace->looks[from].bytes < pace->flat_bytes / LEAST_PART)
    return false;
  uint64_t ratio = ratio_ppm(pace, from, to);
  if (ratio == 0)
    return false;
  uint64_t drift = drift_ppm(pace, from, to, ratio);
  uint64_t away = distance(ratio, PPM), weight = weight_ppm(away, drift);
  uint64_t together_ps = end_ps(pace, from, to, ratio, weight, false);
  uint64_t apart_ps = end_ps(pace, from, to, ratio, weight, true);
  pace->estimate_ps = together_ps / 2 + apart_ps / 2;
  uint64_t share = PPM - min_u64(share_ppm(pace->looks[to].time_ps, pace->estimate_ps), PPM);
  uint64_t lag = share_ppm(distance(together_ps, apart_ps) / 2, pace->estimate_ps);
  uint64_t unsure = BAR_REST * PPM + BAR_RATIO * away + BAR_DRIFT * drift;
  pace->bar_ppm = BAR_BASE_PPM + BAR_LAG * lag / MILLI + scaled(unsure / MILLI, share);
  return true;
}
