/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of busy cycles, by hand; causes on the critical path, and what turning a number saves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/critical.h"
#include "tests/support/results.h"
#include "tests/support/runs.h"

static const struct pipe_counters *pipe_of(const struct run *run, enum pipe pipe) {
  assert_int_equal(run->status, VINCI_OK);
  return &run->result->cores[0].pipe[pipe];
}

/* 23 cycles to fill the unit, once, and 4 for each repeat: start-ups of what follows are hidden. */
static void a_stream_of_vector_instructions_starts_up_once(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) AIV VADD(10) VADD(10) VADD(10));
  const struct pipe_counters *v = pipe_of(&run, PIPE_V);
  assert_int_equal(v->cause_cycles[CAUSE_VECTOR_STARTUP], 23);
  assert_int_equal(v->cause_cycles[CAUSE_VECTOR_REPEATS], 3 * 40);
  assert_int_equal(v->busy_cycles, 23 + 3 * 40);
  vinci_result_free(run.result);
}

static void a_copy_from_device_memory_starts_up_moves_and_waits(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct run run =
      runs_with(soc, HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n", NULL);
  const struct pipe_counters *mte2 = pipe_of(&run, PIPE_MTE2);
  uint64_t rate = (uint64_t)soc->path[PATH_GM_UB].mbytes_per_cycle;
  assert_int_equal(mte2->cause_cycles[CAUSE_STARTUP], 103);
  assert_in_range(mte2->cause_cycles[CAUSE_RATE], 4096 * 1000 / rate, 4096 * 1000 / rate + 1);
  assert_int_equal(mte2->cause_cycles[CAUSE_RATE] + mte2->cause_cycles[CAUSE_DRAM_ACCESS], 78);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

/* Twice the same lines: L2 holds them the second time. */
static void what_hits_waits_for_no_device_memory(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                                 "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n");
  const struct pipe_counters *mte2 = pipe_of(&run, PIPE_MTE2);
  assert_int_equal(mte2->cause_cycles[CAUSE_STARTUP], 2 * 103);
  assert_int_equal(mte2->cause_cycles[CAUSE_REFETCH], 0);
  assert_true(mte2->cause_cycles[CAUSE_RATE] > mte2->cause_cycles[CAUSE_DRAM_ACCESS]);
  assert_int_equal(run.result->l2.refetches, 0);
  vinci_result_free(run.result);
}

static void scalar_rows_are_work(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) AIV VADD(10) "scalar,cycles=500\n");
  const struct pipe_counters *scalar = pipe_of(&run, PIPE_S);
  assert_int_equal(scalar->cause_cycles[CAUSE_SCALAR_WORK], 500);
  assert_int_equal(scalar->cause_cycles[CAUSE_SCALAR_ISSUE], FIXTURE_ISSUE);
  vinci_result_free(run.result);
}

/* What was in flight when a run was cut short has a cause too: result_check() of the run says so.
 */
static void a_run_that_is_cut_short_adds_up(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  for (uint64_t cycles = FIXTURE_LAUNCH + 1; cycles < FIXTURE_LAUNCH + 400; cycles += 37) {
    struct vinci_run_options options = {
        .struct_size = sizeof options, .max_cycles = cycles, .memory = VINCI_MEMORY_FLAT};
    struct run run =
        runs_with(soc,
                  HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n" VADD(10)
                      VADD(10) "scalar,cycles=500\n",
                  &options);
    assert_int_equal(run.status, VINCI_E_LIMIT);
    vinci_result_free(run.result);
  }
  vinci_soc_free(soc);
}

static void the_critical_path_has_a_cause_for_each_cycle(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct vinci_run_options options = {
      .struct_size = sizeof options, .max_events = 1000, .memory = VINCI_MEMORY_FLAT};
  struct run run =
      runs_with(soc,
                HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=128\n"
                                    "set_flag,src=MTE2,dst=V,id=0\n"
                                    "wait_flag,src=MTE2,dst=V,id=0\n" VADD(10) VADD(10),
                &options);
  assert_int_equal(run.status, VINCI_OK);
  static struct critical_path path;
  struct vinci_diag diag = {0};
  assert_int_equal(critical_find(run.result, &path, &diag), VINCI_OK);
  uint64_t sum = path.code_cycles + path.scalar_cycles + path.hidden_cycles;
  for (unsigned rest = 0; rest < CRITICAL_RESTS; rest++)
    sum += path.rest[rest];
  for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
    for (unsigned member = 0; member < CAUSE_MEMBERS; member++)
      sum += path.cause[cause][member];
  assert_int_equal(sum, run.result->total_cycles);
  assert_int_equal(path.cause[CAUSE_STARTUP][PATH_GM_UB], 103);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

/* Half of the cycles, as long as no other pipe is busy longer: V is, 9900 of 16500 cycles. */
static void a_turn_saves_half_and_no_more_than_others_leave(void **state) {
  (void)state;
  struct vinci_result *result = new_result(1);
  vector_core(result->cores, 0, 0, 0);
  static struct critical_path path;
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  memset(&path, 0, sizeof path);
  path.cause[CAUSE_STARTUP][PATH_GM_UB] = 1000;
  path.cause[CAUSE_ACKNOWLEDGE][PATH_UB_GM] = 15000;
  assert_int_equal(critical_turns(result, &path, turns), 2);
  assert_int_equal(turns[0].cause, CAUSE_ACKNOWLEDGE);
  assert_string_equal(soc_param(turns[0].param)->key, "path.UB_GM.acknowledge_cycles");
  assert_int_equal(turns[0].saved_cycles, RUN_CYCLES - 9900);
  assert_string_equal(soc_param(turns[1].param)->key, "path.GM_UB.startup_cycles");
  assert_int_equal(turns[1].saved_cycles, 500);
  assert_ptr_equal(critical_best(turns, 2), &turns[0]);
  vinci_result_free(result);
}

/* What was measured wins over the estimate; a number that the chip cannot have is none to turn. */
static void a_measured_turn_saves_what_was_measured(void **state) {
  (void)state;
  struct vinci_result *result = new_result(1);
  vector_core(result->cores, 0, 0, 0);
  static struct critical_path path;
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  memset(&path, 0, sizeof path);
  path.cause[CAUSE_STARTUP][PATH_GM_UB] = 1000;
  path.cause[CAUSE_ACKNOWLEDGE][PATH_UB_GM] = 3000;
  path.cause[CAUSE_RATE][PATH_UB_GM] = 2000;
  result->savings[0] = (struct result_saving){
      .param = soc_param_find("path.UB_GM.acknowledge_cycles"), .cycles = RUN_CYCLES + 7};
  result->savings[1] =
      (struct result_saving){.param = soc_param_find("path.UB_GM.bytes_per_cycle")};
  result->savings[2] = (struct result_saving){.param = soc_param_find("path.GM_UB.startup_cycles"),
                                              .cycles = RUN_CYCLES - 40,
                                              .new_cycles = RUN_CYCLES - 50};
  result->saving_count = 3;
  assert_int_equal(critical_turns(result, &path, turns), 3);
  assert_true(turns[0].measured && !turns[0].lowered_anew);
  assert_int_equal(turns[0].saved_cycles, -7);
  assert_int_equal(turns[1].param, soc_param_count());
  assert_int_equal(turns[1].saved_cycles, 0);
  assert_true(turns[2].measured && turns[2].lowered_anew);
  assert_int_equal(turns[2].saved_cycles, 40);
  assert_int_equal(turns[2].anew_saved_cycles, 50);
  assert_ptr_equal(critical_best(turns, 3), &turns[2]);
  turns[0].measured = false; /* a large estimate */
  turns[0].saved_cycles = 1000;
  assert_ptr_equal(critical_best(turns, 3), &turns[2]);
  vinci_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stream_of_vector_instructions_starts_up_once),
      cmocka_unit_test(a_copy_from_device_memory_starts_up_moves_and_waits),
      cmocka_unit_test(what_hits_waits_for_no_device_memory),
      cmocka_unit_test(scalar_rows_are_work),
      cmocka_unit_test(a_run_that_is_cut_short_adds_up),
      cmocka_unit_test(the_critical_path_has_a_cause_for_each_cycle),
      cmocka_unit_test(a_turn_saves_half_and_no_more_than_others_leave),
      cmocka_unit_test(a_measured_turn_saves_what_was_measured),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
