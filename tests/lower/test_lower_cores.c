/* SPDX-License-Identifier: Apache-2.0 */
/* On how many cores vector and data-movement operators run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "tests/support/runs.h"
#include "tests/support/words.h"

enum { LINE_BYTES = 256 };

static uint32_t blocks_of(const vinci_soc *soc, const char *request) {
  struct vinci_diag diag = {0};
  struct vinci_tiling tiling;
  struct words words;
  char text[LINE_BYTES];
  words_split(&words, request);
  if (vinci_op_tiling(soc, words.item[0], words.item + 1, words.count - 1, text, sizeof text,
                      &tiling, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  return tiling.blocks;
}

static uint64_t dispatch_cycles(const vinci_soc *soc, uint32_t blocks) {
  uint64_t places = (uint64_t)soc->vector_cores;
  uint64_t ps = blocks > 0 ? soc_dispatch_ps(soc, places, blocks, blocks - 1) : 0;
  return (uint64_t)((uint128)ps * (uint64_t)soc->core_hz / PS_PER_SECOND);
}

struct simulated {
  uint64_t cycles;
  uint32_t blocks;
  uint64_t dispatch_cycles; /* of that many blocks */
  uint64_t same_cycles;     /* of as many blocks as on the chip before */
};

/* A run whose cores all start later; without what they start later. */
static uint64_t simulated_ps(vinci_soc *soc, const char *request, unsigned later_ns,
                             uint32_t *blocks) {
  struct vinci_diag diag = {0};
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = VINCI_MEMORY_CYCLE};
  vinci_result *result = NULL;
  const int64_t later_ps = later_ns * INT64_C(1000);
  soc->launch_base_ps += later_ps;
  vinci_trace *trace = runs_compile(soc, request);
  if (vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  uint64_t ps = result->total_ps - (uint64_t)later_ps;
  *blocks = result->kernels[0].blocks;
  soc->launch_base_ps -= later_ps;
  vinci_result_free(result);
  vinci_trace_free(trace);
  return ps;
}

/*
 * On a chip with N cube cores, and two vector cores beside each; the mean over times at which the
 * cores start, in nanoseconds. A run that ends just before DRAM refreshes takes 10 % less than one
 * that does not, whatever the chip has more of.
 */
static struct simulated simulate(const char *setting, unsigned cores, const char *request,
                                 uint32_t blocks_before) {
  static const unsigned later_ns[] = {557, 1123, 1709, 2269};
  enum { STARTS = sizeof later_ns / sizeof *later_ns };
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B1", NULL, &soc, &diag) != VINCI_OK ||
      vinci_soc_set(soc, setting, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  soc->cube_cores = cores;
  soc->vector_cores = 2 * cores;
  /* More cores wait for each other where they fetch the same code. */
  soc->launch_cluster_ps = 2 * soc->launch_block_ps;
  soc->code_first_cycles = 0;
  soc->code_arguments_cycles = 0;
  soc->first_read_cycles = 0;
  struct simulated out = {.same_cycles = dispatch_cycles(soc, blocks_before)};
  uint64_t ps = 0;
  for (unsigned i = 0; i < STARTS; i++)
    ps += simulated_ps(soc, request, later_ns[i], &out.blocks);
  out.cycles = (uint64_t)((uint128)(ps / STARTS) * (uint64_t)soc->core_hz / PS_PER_SECOND);
  out.dispatch_cycles = dispatch_cycles(soc, out.blocks);
  vinci_soc_free(soc);
  return out;
}

/*
 * More cores, or blocks that are handed out faster, cost nothing where the tiling may follow, but
 * for this: blocks that fill a chip leave cores of a larger chip free, and the dispatcher then
 * takes longer for the same blocks. Up to
 * 24 clusters: more of them share routers of the same mesh, which does slow the same blocks down.
 */
static void more_cores_and_faster_launches_are_not_slower(void **state) {
  (void)state;
  static const char *const requests[] = {"copy shape=2097152", "softmax shape=512x1024",
                                         "add shape=65536", "relu shape=1000x1000",
                                         "reduce_sum shape=512x1024"};
  static const struct {
    const char *launch;
    unsigned cores;
  } better[] = {
      {"launch.per_block=500ns", 10}, {"launch.per_block=200ns", 10}, {"launch.per_block=80ns", 10},
      {"launch.per_block=22ns", 10},  {"launch.per_block=22ns", 15},  {"launch.per_block=22ns", 20},
      {"launch.per_block=22ns", 24},  {"launch.per_block=22ns", 40},  {"launch.per_block=1ns", 40},
  };
  for (unsigned i = 0; i < sizeof requests / sizeof *requests; i++) {
    struct simulated before = {.cycles = UINT64_MAX / 204};
    for (unsigned k = 0; k < sizeof better / sizeof *better; k++) {
      struct simulated now =
          simulate(better[k].launch, better[k].cores, requests[i], before.blocks);
      uint64_t most = before.cycles;
      if (now.same_cycles > before.dispatch_cycles)
        most += now.same_cycles - before.dispatch_cycles;
      if (now.cycles * 100 > most * 102)
        fail_msg("%s: %llu cycles with %s and %u clusters, %llu before", requests[i],
                 (unsigned long long)now.cycles, better[k].launch, better[k].cores,
                 (unsigned long long)before.cycles);
      before = now;
    }
  }
}

/* Each core more fetches the code of a kernel, and each cluster more is launched later: little work
 * gets few cores. */
static void little_work_gets_few_cores(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_in_range(blocks_of(soc, "reduce_sum shape=1000x1000"), 5, 20);
  assert_in_range(blocks_of(soc, "reduce_sum shape=1000x1000 blocks=0"), 39, 40);
  assert_int_equal(blocks_of(soc, "reduce_sum shape=1000x1000 blocks=3"), 3);
  assert_in_range(blocks_of(soc, "transpose shape=1000x1000 perm=2x1"), 5, 36);
  assert_in_range(blocks_of(soc, "sin shape=8000x8000"), 30, 40);
  /* The second part has more tiles than the first: both follow one number. */
  assert_in_range(blocks_of(soc, "concat shape=96x4 shape1=96x1789 dtype=fp32"), 3, 20);
  assert_int_equal(blocks_of(soc, "concat shape=96x4 shape1=96x1789 dtype=fp32 blocks=23"), 23);
  /* 12 KiB: rows are shared out, however few they are, as the program of measured rows does. */
  assert_int_equal(blocks_of(soc, "concat shape=128x16 shape1=128x32 dtype=fp16 blocks=32"), 32);
  assert_int_equal(blocks_of(soc, "slice shape=96x64 out=96x32 begin=32 blocks=24"), 24);
  assert_in_range(blocks_of(soc, "argmax shape=173x160"), 5, 30);
  assert_int_equal(blocks_of(soc, "argmax shape=173x160 blocks=0"), 35);
  assert_in_range(blocks_of(soc, "sort shape=70x64"), 2, 20);
  assert_int_equal(blocks_of(soc, "sort shape=70x64 blocks=0"), 35);
  vinci_soc_free(soc);
}

/* Rows of 4 bytes, which copies of whole blocks cannot cut among 30 cores: one has all of them. */
static void coupled_cores_run_short_rows_with_any_number_of_blocks(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B", NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_int_equal(
      blocks_of(soc, "transdata shape=128x2 way=fractal_nz_to_nd dtype=fp16 blocks=30 idle=1"), 30);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(little_work_gets_few_cores),
      cmocka_unit_test(coupled_cores_run_short_rows_with_any_number_of_blocks),
      cmocka_unit_test(more_cores_and_faster_launches_are_not_slower),
  };
  return cmocka_run_group_tests_name("lower_cores", tests, NULL, NULL);
}
