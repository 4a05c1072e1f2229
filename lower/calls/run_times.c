/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a run as profilers give them, and as numbers that are kept (core/base/store.h). */
#include <string.h>

#include "core/base/clock.h"
#include "lower/calls/calls.h"

static uint64_t cycles_ps(uint64_t cycles, uint64_t hz) {
  return (uint64_t)((uint128)cycles * PS_PER_SECOND / hz);
}

/* "op@AIV": a profile's row of the part of a mixed kernel on one kind of core; CORE_KIND_COUNT: of
 * the whole. */
static enum core_kind part_of(const struct call_row *row) {
  const char *part = strchr(row->cell[CALL_TYPE], '@');
  if (!part)
    return CORE_KIND_COUNT;
  return strcmp(part, "@AIV") == 0   ? CORE_AIV
         : strcmp(part, "@AIC") == 0 ? CORE_AIC
                                     : CORE_KIND_COUNT;
}

/*
 * cube_utilization of the vendor's tables: the cycles that blocks took on cores with a cube, of
 * those that all such cores of the chip have in the duration. Rows of profiles agree to the last
 * digit: MatMulV3 with 20 blocks on a 910B4 for 165.835 of 170.4 us has 97.321 %, Conv2D with 16
 * blocks on 24 cores of a 910B2 for 312.164 of 313.886 us 66.301 %.
 */
static uint64_t cube_ppm(const struct vinci_result *result, enum core_kind kind,
                         uint64_t active_ps) {
  uint64_t cores = soc_core_count(result->soc, kind);
  return kind == CORE_AIV ? 0 : result_share_ppm(active_ps, cores * result->total_ps);
}

void calls_times(const struct vinci_result *result, const struct call_row *row,
                 struct call_times *out) {
  uint64_t read, written;
  result_gm_bytes(result, &read, &written);
  *out = (struct call_times){
      .duration_ps = result->total_ps, .gm_bytes = read + written, .bound = result_bound(result)};
  uint64_t cores[CORE_KIND_COUNT] = {0};
  uint64_t pipe_ps[CORE_KIND_COUNT][PIPE_COUNT] = {{0}}, active_ps[CORE_KIND_COUNT] = {0};
  uint64_t start_ps[CORE_KIND_COUNT] = {0};
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    if (core->blocks_run == 0)
      continue;
    cores[core->kind]++;
    active_ps[core->kind] += cycles_ps(core->active_cycles, core->hz);
    start_ps[core->kind] += cycles_ps(core->scalar_work_cycles, core->hz);
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      pipe_ps[core->kind][pipe] +=
          cycles_ps(result_profiled_cycles(&core->pipe[pipe], (enum pipe)pipe), core->hz);
  }
  out->kind = cores[CORE_AIC] ? CORE_AIC : cores[CORE_AICORE] ? CORE_AICORE : CORE_AIV;
  out->cube_ppm = cube_ppm(result, out->kind, active_ps[out->kind]);
  /* Also where the kernel has no work on that kind: such a part shows nothing of the other. */
  if (part_of(row) != CORE_KIND_COUNT && out->kind != CORE_AICORE)
    out->kind = part_of(row);
  if (cores[out->kind] == 0)
    return;
  out->core_ps = active_ps[out->kind] / cores[out->kind];
  out->start_ps = start_ps[out->kind] / cores[out->kind];
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    out->pipe_ps[pipe] = pipe_ps[out->kind][pipe] / cores[out->kind];
  if (out->kind == CORE_AIC && cores[CORE_AIV]) { /* an AIC has neither */
    out->pipe_ps[PIPE_V] = pipe_ps[CORE_AIV][PIPE_V] / cores[CORE_AIV];
    out->pipe_ps[PIPE_MTE3] = pipe_ps[CORE_AIV][PIPE_MTE3] / cores[CORE_AIV];
  }
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    out->code_miss_ppm[kind] = result_code_miss_ppm(result, (enum core_kind)kind);
  for (uint32_t i = 0; i < result->kernel_count; i++)
    out->blocks = result->kernels[i].blocks;
}

/* The numbers in their order; from PIPES on, one for each pipe, and then for each kind of core. */
enum { DURATION, CORE, START, KIND, BLOCKS, GM_BYTES, CUBE_PPM, BOUND, PIPES };
enum { MISSES = PIPES + PIPE_COUNT };
_Static_assert((int)MISSES + (int)CORE_KIND_COUNT == (int)CALL_TIMES_NUMBERS, "one for each field");

void call_times_write(const struct call_times *times, uint64_t *numbers) {
  numbers[DURATION] = times->duration_ps;
  numbers[CORE] = times->core_ps;
  numbers[START] = times->start_ps;
  numbers[KIND] = times->kind;
  numbers[BLOCKS] = times->blocks;
  numbers[GM_BYTES] = times->gm_bytes;
  numbers[CUBE_PPM] = times->cube_ppm;
  numbers[BOUND] = times->bound;
  memcpy(numbers + PIPES, times->pipe_ps, sizeof times->pipe_ps);
  memcpy(numbers + MISSES, times->code_miss_ppm, sizeof times->code_miss_ppm);
}

bool call_times_read(const uint64_t *numbers, struct call_times *out) {
  if (numbers[KIND] >= CORE_KIND_COUNT || numbers[BLOCKS] > UINT32_MAX ||
      numbers[BOUND] > BOUND_NONE)
    return false;
  *out = (struct call_times){.duration_ps = numbers[DURATION],
                             .core_ps = numbers[CORE],
                             .start_ps = numbers[START],
                             .kind = (enum core_kind)numbers[KIND],
                             .blocks = (unsigned)numbers[BLOCKS],
                             .gm_bytes = numbers[GM_BYTES],
                             .cube_ppm = numbers[CUBE_PPM],
                             .bound = (enum bound)numbers[BOUND]};
  memcpy(out->pipe_ps, numbers + PIPES, sizeof out->pipe_ps);
  memcpy(out->code_miss_ppm, numbers + MISSES, sizeof out->code_miss_ppm);
  return true;
}
