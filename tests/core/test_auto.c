/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that choose their model of memory: the pace of two runs of the same work, whose durations
 * are known here, and where durations, bars and counters of real runs are from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/sim/pace.h"
#include "core/vinci_auto.h"
#include "tests/support/runs.h"

enum { CORES = 3, TRANSFERS = 640, BYTES = 4096, FLAT_PS = 1000 };
/* Where the run in cycle memory is looked at. */
enum { LOOKS = 64, LOOK_BYTES = CORES * TRANSFERS * BYTES / LOOKS };

/* What transfer `i` of a core takes in cycle memory, in thousandths of its time in flat memory. */
typedef uint64_t permille_of(uint32_t core, uint32_t i);

struct both {
  struct arena arena;
  struct pace pace;
  uint64_t truth_ps;
};

/* All cores work side by side; the end is that of the last transfer of the slowest. */
static void run_flat_with(struct both *both, uint64_t look_bytes) {
  assert_true(pace_create(&both->pace, &both->arena, CORES, look_bytes));
  for (uint32_t i = 0; i < TRANSFERS; i++)
    for (uint32_t core = 0; core < CORES; core++)
      pace_note_flat(&both->pace, core, BYTES, (i + 1) * FLAT_PS);
  both->pace.flat_ps = (TRANSFERS + 1) * FLAT_PS;
}

static void run_flat(struct both *both) { run_flat_with(both, LOOK_BYTES); }

/* The other run up to a share of the work, in 64ths, in the order of time. */
static void run_cycle(struct both *both, permille_of *permille, uint32_t share) {
  uint64_t now_ps[CORES] = {0}, last_ps = 0;
  uint32_t done[CORES] = {0};
  for (uint32_t n = 0; n < CORES * TRANSFERS; n++) {
    uint32_t next = CORES;
    for (uint32_t core = 0; core < CORES; core++)
      if (done[core] < TRANSFERS &&
          (next == CORES ||
           now_ps[core] + permille(core, done[core]) < now_ps[next] + permille(next, done[next])))
        next = core;
    now_ps[next] += permille(next, done[next]++);
    last_ps = now_ps[next];
    if (both->pace.cycle_bytes < (uint64_t)share * LOOK_BYTES)
      (void)pace_note_cycle(&both->pace, next, BYTES, last_ps);
  }
  both->truth_ps = last_ps + FLAT_PS;
}

static uint64_t half_as_long_again(uint32_t core, uint32_t i) {
  (void)core;
  (void)i;
  return 1500;
}
static uint64_t slower_later(uint32_t core, uint32_t i) {
  (void)core;
  return i < TRANSFERS / 4 ? 1000 : 1200;
}
static uint64_t one_lags(uint32_t core, uint32_t i) {
  (void)i;
  return core == 1 ? 1300 : 1000;
}

static uint64_t distance_ppm(const struct both *both) {
  uint64_t a = both->pace.estimate_ps, b = both->truth_ps;
  return (a > b ? a - b : b - a) * 1000000 / b;
}

static void a_steady_pace_says_the_end(void **state) {
  (void)state;
  struct both both = {0};
  run_flat(&both);
  run_cycle(&both, half_as_long_again, LOOKS / 4);
  assert_true(pace_estimate(&both.pace));
  assert_true(distance_ppm(&both) < 2000);
  assert_true(distance_ppm(&both) <= both.pace.bar_ppm);
  arena_free(&both.arena);
}

/* At half of the work both paces are there to see, so that the bar has to be wide. */
static void a_pace_that_changes_widens_the_bar(void **state) {
  (void)state;
  struct both steady = {0}, changing = {0};
  run_flat(&steady);
  run_flat(&changing);
  run_cycle(&steady, half_as_long_again, LOOKS / 2);
  run_cycle(&changing, slower_later, LOOKS / 2);
  assert_true(pace_estimate(&steady.pace) && pace_estimate(&changing.pace));
  assert_true(changing.pace.bar_ppm > 20000);
  assert_true(distance_ppm(&changing) <= changing.pace.bar_ppm);
  /* What L2 had room for is left out: then the pace is steady again. */
  uint64_t wide = changing.pace.bar_ppm;
  changing.pace.settled_bytes = changing.pace.flat_bytes * 5 / 16;
  changing.pace.judged = 0;
  assert_true(pace_estimate(&changing.pace));
  assert_true(changing.pace.bar_ppm + 10000 < wide);
  assert_true(distance_ppm(&changing) < 5000);
  arena_free(&steady.arena);
  arena_free(&changing.arena);
}

/* All cores together are a tenth slower, and the run is three tenths longer. */
static void a_core_that_lags_ends_last(void **state) {
  (void)state;
  struct both both = {0};
  run_flat(&both);
  run_cycle(&both, one_lags, LOOKS / 2);
  assert_true(pace_estimate(&both.pace));
  assert_true(both.pace.estimate_ps > (uint64_t)TRANSFERS * FLAT_PS * 115 / 100);
  assert_true(distance_ppm(&both) <= both.pace.bar_ppm);
  arena_free(&both.arena);
}

static void each_eighth_has_one_estimate_and_the_last_have_none(void **state) {
  (void)state;
  static const struct {
    uint32_t share;
    bool due;
  } rows[] = {{1, false},
              {LOOKS / 8 - 1, false},
              {LOOKS / 8, true},
              {LOOKS * 5 / 8, true},
              {LOOKS * 3 / 4, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct both both = {0};
    run_flat(&both);
    run_cycle(&both, half_as_long_again, rows[i].share);
    assert_int_equal(pace_estimate(&both.pace), rows[i].due);
    assert_false(pace_estimate(&both.pace));
    arena_free(&both.arena);
  }
}

/* Nobody knows how much work there will be when the run in cycle memory begins. */
static void looks_are_few_however_long_the_run(void **state) {
  (void)state;
  struct both both = {0};
  run_flat_with(&both, BYTES);
  run_cycle(&both, half_as_long_again, LOOKS / 2);
  assert_in_range(both.pace.look, PACE_LOOKS / 2, PACE_LOOKS);
  for (uint32_t i = 1; i <= both.pace.look; i++)
    assert_true(both.pace.looks[i].bytes > both.pace.looks[i - 1].bytes &&
                both.pace.looks[i].time_ps >= both.pace.looks[i - 1].time_ps);
  assert_true(pace_estimate(&both.pace));
  assert_true(distance_ppm(&both) < 2000);
  arena_free(&both.arena);
}

/* ---- real runs ---- */

static struct vinci_auto_bar run_auto(const vinci_soc *soc, const char *request, uint32_t bar_ppm,
                                      vinci_result **out) {
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = VINCI_MEMORY_AUTO, .error_bar_ppm = bar_ppm};
  vinci_trace *trace = runs_compile(soc, request);
  struct vinci_diag diag = {0};
  struct vinci_auto_bar bar;
  if (vinci_run(soc, trace, &options, out, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_true(vinci_result_auto(*out, &bar));
  vinci_trace_free(trace);
  return bar;
}

static uint64_t cycles_with(const vinci_soc *soc, const char *request, enum vinci_memory memory) {
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  vinci_trace *trace = runs_compile(soc, request);
  struct vinci_diag diag = {0};
  struct vinci_auto_bar bar;
  vinci_result *result;
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_OK);
  assert_false(vinci_result_auto(result, &bar));
  uint64_t cycles = vinci_result_total_cycles(result);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return cycles;
}

static vinci_soc *load_chip(void) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return soc;
}

static void durations_are_of_the_run_that_is_named(void **state) {
  (void)state;
  static const char small[] = "softmax shape=64x512", large[] = "softmax shape=4096x4096";
  vinci_soc *soc = load_chip();
  vinci_result *result;
  struct vinci_auto_bar bar = run_auto(soc, small, 0, &result);
  assert_int_equal(bar.from, VINCI_AUTO_CYCLE);
  assert_int_equal(bar.error_bar_ppm, 0);
  assert_false(bar.counters_of_flat);
  assert_int_equal(vinci_result_total_cycles(result), cycles_with(soc, small, VINCI_MEMORY_CYCLE));
  vinci_result_free(result);

  bar = run_auto(soc, large, 0, &result);
  uint64_t truth = cycles_with(soc, large, VINCI_MEMORY_CYCLE);
  uint64_t found = vinci_result_total_cycles(result);
  assert_int_equal(bar.from, VINCI_AUTO_PREFIX);
  assert_true(bar.counters_of_flat && bar.error_bar_ppm <= 20000);
  assert_true(bar.simulated_ppm > 120000 && bar.simulated_ppm < 640000);
  assert_int_equal(bar.flat_cycles, cycles_with(soc, large, VINCI_MEMORY_FLAT));
  assert_true((found > truth ? found - truth : truth - found) * 1000000 / truth <=
              bar.error_bar_ppm);
  vinci_result_free(result);

  /* With a wide bar flat memory is good enough. */
  bar = run_auto(soc, large, 900000, &result);
  assert_int_equal(bar.from, VINCI_AUTO_FLAT);
  assert_true(bar.simulated_ppm > 0 && bar.simulated_ppm < 300000); /* until flat memory is asked */
  assert_int_equal(vinci_result_total_cycles(result), bar.flat_cycles);
  vinci_result_free(result);
  /* With the least nothing but the whole run is. */
  bar = run_auto(soc, large, 1, &result);
  assert_int_equal(bar.from, VINCI_AUTO_CYCLE);
  assert_int_equal(vinci_result_total_cycles(result), truth);
  vinci_result_free(result);
  vinci_soc_free(soc);
}

static void limits_hold_for_both_runs(void **state) {
  (void)state;
  vinci_soc *soc = load_chip();
  uint64_t flat = cycles_with(soc, "add shape=4194304", VINCI_MEMORY_FLAT);
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = VINCI_MEMORY_AUTO, .max_cycles = flat / 2};
  vinci_trace *trace = runs_compile(soc, "add shape=4194304");
  struct vinci_diag diag = {0};
  vinci_result *result;
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_E_LIMIT);
  assert_int_equal(vinci_result_total_cycles(result), flat / 2);
  vinci_result_free(result);
  options.max_cycles = flat + 1; /* cycle memory takes longer */
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_E_LIMIT);
  vinci_result_free(result);
  options.max_cycles = 0;
  options.repeat = 2;
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_E_USAGE);
  assert_non_null(strstr(diag.text, "flat or cycle, not auto"));
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

struct told {
  uint64_t cycles; /* the last time */
  bool refused, told_again;
};

/* The run in cycle memory stands still while flat memory runs: that is when it is refused. */
static bool refuse_while_flat_runs(void *context, uint64_t cycles, unsigned done_permille) {
  struct told *told = context;
  (void)done_permille;
  told->told_again |= told->refused;
  told->refused |= told->cycles == cycles;
  told->cycles = cycles;
  return !told->refused;
}

static void who_refuses_while_flat_memory_runs_ends_the_run(void **state) {
  (void)state;
  vinci_soc *soc = load_chip();
  struct told told = {.cycles = UINT64_MAX};
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = VINCI_MEMORY_AUTO,
                                      .progress = refuse_while_flat_runs,
                                      .progress_context = &told};
  vinci_trace *trace = runs_compile(soc, "softmax shape=8192x8192");
  struct vinci_diag diag = {0};
  vinci_result *result;
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_E_LIMIT);
  assert_true(told.refused && !told.told_again);
  assert_int_equal(vinci_result_total_cycles(result), told.cycles);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_steady_pace_says_the_end),
      cmocka_unit_test(a_pace_that_changes_widens_the_bar),
      cmocka_unit_test(a_core_that_lags_ends_last),
      cmocka_unit_test(each_eighth_has_one_estimate_and_the_last_have_none),
      cmocka_unit_test(looks_are_few_however_long_the_run),
      cmocka_unit_test(durations_are_of_the_run_that_is_named),
      cmocka_unit_test(limits_hold_for_both_runs),
      cmocka_unit_test(who_refuses_while_flat_memory_runs_ends_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
