/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks hold over time: levels, peaks and by what, streams that meet at one time, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "devices/jobs/job.h"
#include "devices/jobs/turns.h"
#include "devices/results/memory.h"

#define US UINT64_C(1000000)
#define HEAD "job,version=1,ranks=2\ngroup,name=all,ranks=0-1\nprogram,ranks=0-1\n"

static const struct group_system system_of_two = {.name = "two",
                                                  .devices = 2,
                                                  .level_count = 1,
                                                  .levels = {{.name = "link",
                                                              .join = GROUP_SWITCH,
                                                              .devices = 2,
                                                              .copy_rate = 1000000000,
                                                              .reduce_rate = 1000000000,
                                                              .send_rate = 1000000000}},
                                                  .slice_bytes = 1,
                                                  .hbm_bytes = 1000};

struct ran {
  struct job job;
  struct arena arena;
  struct group_result result;
  struct job_levels levels;
  struct vinci_diag diag;
};

static enum vinci_status run(const char *text, struct ran *out) {
  struct group_observer observer = {.context = &out->levels, .memory_held = job_keep_level};
  *out = (struct ran){0};
  enum vinci_status status = job_read("j.csv", text, strlen(text), &out->job, &out->diag);
  if (status != VINCI_OK)
    return status;
  out->job.job.system = &system_of_two;
  return group_run(&out->job.job, &observer, &out->arena, &out->result, &out->diag);
}

static void end(struct ran *ran) {
  job_levels_free(&ran->levels);
  job_free(&ran->job);
  arena_free(&ran->arena);
}

static void run_well(const char *text, struct ran *out) {
  if (run(text, out) != VINCI_OK)
    fail_msg("%s", out->diag.text);
}

static void levels_have_times_and_names(void **state) {
  (void)state;
  struct ran ran;
  run_well(HEAD "allocate,name=weights,bytes=100\n"
                "allocate,name=activations,bytes=30\n"
                "work,us=10\n"
                "allocate,name=activations,bytes=50\n"
                "work,us=5\n"
                "free,name=activations,bytes=80\n"
                "work,us=1\n"
                "allocate,name=update,bytes=80\n"
                "work,us=2\n"
                "free,name=update,bytes=80\n",
           &ran);
  static const struct group_held wanted[] = {{0, 0, 0, 100},      {0, 1, 0, 30},
                                             {0, 1, 10 * US, 80}, {0, 1, 15 * US, 0},
                                             {0, 2, 16 * US, 80}, {0, 2, 18 * US, 0}};
  const struct group_result *result = &ran.result;
  size_t of_first = 0;
  for (size_t i = 0; i < ran.levels.count; i++) {
    const struct group_held *held = &ran.levels.items[i];
    if (held->rank != 0)
      continue;
    assert_true(of_first < sizeof wanted / sizeof *wanted);
    assert_memory_equal(held, &wanted[of_first++], sizeof *held);
  }
  assert_int_equal(of_first, sizeof wanted / sizeof *wanted);
  assert_int_equal(result->end_ps, 18 * US);
  assert_int_equal(result->memory_count, 3);
  assert_string_equal(result->memories[1], "activations");
  assert_int_equal(result->device_bytes, 1000);
  for (unsigned rank = 0; rank < 2; rank++) {
    assert_int_equal(result->ranks[rank].peak_bytes, 180);
    assert_int_equal(result->ranks[rank].peak_ps, 10 * US); /* the first time of several */
    assert_int_equal(result->peak_held[3 * rank], 100);
    assert_int_equal(result->peak_held[3 * rank + 1], 80);
    assert_int_equal(result->peak_held[3 * rank + 2], 0);
    assert_int_equal(result->most_held[3 * rank + 2], 80);
  }
  end(&ran);
}

/* What is given back and taken at one time is not held together, in one stream or in two; what
 * takes no time is no level. */
static void the_level_is_that_behind_a_time(void **state) {
  (void)state;
  struct ran ran;
  run_well(HEAD "allocate,name=a,bytes=70\n"
                "work,us=10\n"
                "record,event=e\n"
                "allocate,name=a,bytes=500\n"
                "free,name=a,bytes=500\n"
                "work,us=10\n"
                "wait,event=e,stream=1\n"
                "allocate,name=b,bytes=60,stream=1\n"
                "free,name=a,bytes=70,stream=1\n"
                "work,us=3,stream=1\n",
           &ran);
  assert_int_equal(ran.result.ranks[1].peak_bytes, 70);
  assert_int_equal(ran.result.ranks[1].peak_ps, 0);
  assert_int_equal(ran.result.most_held[2 + 1], 60);
  assert_int_equal(ran.result.most_held[2], 70);
  end(&ran);
}

/* Sums are made together across rows of memory, and nothing of that is lost. */
static void sums_join_across_memory(void **state) {
  (void)state;
  struct job job;
  struct vinci_diag diag = {0};
  const char *text = HEAD "collective,op=all_reduce,group=all,bytes=8\n"
                          "allocate,name=a,bytes=7\n"
                          "collective,op=all_reduce,group=all,bytes=8\n";
  assert_int_equal(job_read("j.csv", text, strlen(text), &job, &diag), VINCI_OK);
  assert_int_equal(job_turn_buckets(&job, 100), 1);
  assert_int_equal(job.job.programs[0]->streams[0].ops[1].kind, GROUP_ALLOCATE);
  assert_int_equal(job.job.programs[0]->streams[0].ops[2].call.bytes, 16);
  job_free(&job);
}

/* What streams give back together is known in the run. */
static void too_much_is_given_back(void **state) {
  (void)state;
  struct ran ran;
  assert_int_equal(run(HEAD "allocate,name=a,bytes=10\n"
                            "work,us=4\n"
                            "record,event=e\n"
                            "wait,event=e,stream=1\n"
                            "free,name=a,bytes=9,stream=1\n"
                            "work,us=1,stream=1\n"
                            "free,name=a,bytes=2,stream=1\n",
                       &ran),
                   VINCI_E_INPUT);
  assert_string_equal(ran.diag.text,
                      "rank 0 gives back 1 bytes of 'a' more than it holds, at 5.0 us "
                      "(free 'a' in line 10)");
  assert_non_null(strstr(ran.diag.hint, "allocate,name=a,bytes=N stands before"));
  end(&ran);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(levels_have_times_and_names),
                                     cmocka_unit_test(the_level_is_that_behind_a_time),
                                     cmocka_unit_test(sums_join_across_memory),
                                     cmocka_unit_test(too_much_is_given_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
