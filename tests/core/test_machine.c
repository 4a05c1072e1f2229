/* SPDX-License-Identifier: Apache-2.0 */
/* The abstract machine: what it executes, in which orders, and what it says when stuck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/control/flags.h"
#include "core/machine/machine.h"
#include "tests/support/runs.h"

enum { LOG_MAX = 400 };

#define CONSUMERS ((struct machine_options){.order = MACHINE_CONSUMERS_FIRST})

struct log {
  struct {
    uint32_t line, core, block, sub;
    enum pipe pipe;
    uint64_t waits;
  } step[LOG_MAX];
  unsigned count, blocks, blocks_ended, kernels, deliveries, misuses;
  enum misuse_kind misuse;
  uint32_t misuse_line;
  unsigned stop_after;
};

static bool log_kernel(void *context, const struct program_kernel *kernel) {
  assert_non_null(kernel->name);
  ((struct log *)context)->kernels++;
  return true;
}

static bool log_begin(void *context, const struct machine_step *step) {
  assert_null(step->inst);
  ((struct log *)context)->blocks++;
  return true;
}

static bool log_end(void *context, const struct machine_step *step) {
  assert_null(step->inst);
  ((struct log *)context)->blocks_ended++;
  return true;
}

static bool log_execute(void *context, const struct machine_step *step) {
  struct log *log = context;
  assert_true(log->count < LOG_MAX);
  log->step[log->count].line = step->inst->line;
  log->step[log->count].core = step->core;
  log->step[log->count].block = step->block;
  log->step[log->count].sub = step->sub;
  log->step[log->count].pipe = step->pipe;
  log->step[log->count++].waits = step->waits;
  return log->stop_after == 0 || log->count < log->stop_after;
}

static bool log_delivery(void *context, const struct signal_delivery *delivery) {
  assert_true(delivery->sender_count > 0 && delivery->receiver_count > 0);
  ((struct log *)context)->deliveries++;
  return true;
}

static bool log_misuse(void *context, const struct machine_step *step,
                       const struct misuse *misuse) {
  struct log *log = context;
  assert_non_null(step->inst);
  log->misuses++;
  log->misuse = misuse->kind;
  log->misuse_line = misuse->line;
  return true;
}

static enum vinci_status run_logged(const char *text, struct machine_options options,
                                    struct log *log, bool tolerant, struct vinci_diag *diag) {
  struct machine_observer observer = {
      .context = log,
      .begin_kernel = log_kernel,
      .begin_block = log_begin,
      .execute = log_execute,
      .end_block = log_end,
      .deliver = log_delivery,
      .misuse = tolerant ? log_misuse : NULL,
  };
  vinci_trace *trace = runs_parse(text, fixture_shared);
  enum vinci_status status = machine_run_with(fixture_shared, trace, &options, &observer, 1, diag);
  vinci_trace_free(trace);
  return status;
}

static struct log run_well(const char *text, struct machine_options options) {
  struct log log = {0};
  struct vinci_diag diag = {0};
  if (run_logged(text, options, &log, false, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return log;
}

/* Place of a line in the log, the n-th time. */
static unsigned place(const struct log *log, uint32_t line, unsigned nth) {
  for (unsigned i = 0; i < log->count; i++)
    if (log->step[i].line == line && nth-- == 0)
      return i;
  fail_msg("line %u was not executed", line);
  return 0;
}

/* A shuffled walk changes who is first, and nothing of what one core does. */
static void test_walk_order(void **state) {
  (void)state;
  static const char text[] = HEAD(41) TENSORS AIV
      "copy_gm_to_ubuf,dst=8192,src=x,len_burst=8\nset_flag,src=MTE2,dst=V,id=0\n"
      "vector_dup,dst=0,scalar=0,repeat=1,type=fp16\n"
      "wait_flag,src=MTE2,dst=V,id=0\n" VADD(1);
  enum { BLOCKS = 41, LINES = 5, SEEDS = 8 };
  unsigned begun_by_another = 0, interrupted = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct log log = run_well(
        text, (struct machine_options){.order = MACHINE_PROGRAM_ORDER, .walk_order_seed = seed});
    unsigned done[BLOCKS] = {0};
    assert_int_equal(log.count, BLOCKS * LINES);
    for (unsigned i = 0; i < log.count; i++) {
      assert_int_equal(log.step[i].line, 6 + done[log.step[i].block]++);
      interrupted += seed && i > 0 && log.step[i].block != log.step[i - 1].block &&
                     done[log.step[i - 1].block] < LINES;
    }
    begun_by_another += log.step[0].block != 0;
  }
  assert_in_range(begun_by_another, SEEDS - 2, SEEDS - 1);
  assert_true(interrupted > SEEDS);
}

#define COPY_IN "copy_gm_to_ubuf,dst=8192,src=x,len_burst=8\n"
#define COPY_OUT "copy_ubuf_to_gm,dst=y,src=0,len_burst=8\n"
#define FLAG(kind, from, to) kind "_flag,src=" #from ",dst=" #to ",id=0\n"

/* Lines: 6 copy in, 7 set, 8 wait, 9 vadd, 10 set, 11 wait, 12 copy out. */
#define IN_ORDER                                                                                   \
  HEAD(1)                                                                                          \
  TENSORS AIV COPY_IN FLAG("set", MTE2, V) FLAG("wait", MTE2, V) VADD(1) FLAG("set", V, MTE3)      \
      FLAG("wait", V, MTE3) COPY_OUT

static void test_flags_order_pipes(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    for (int order = MACHINE_PROGRAM_ORDER; order <= MACHINE_SHUFFLED; order++) {
      struct log log = run_well(
          IN_ORDER, (struct machine_options){.order = (enum machine_order)order, .seed = seed});
      assert_int_equal(log.count, 7);
      assert_true(place(&log, 6, 0) < place(&log, 7, 0));
      assert_true(place(&log, 7, 0) < place(&log, 8, 0));
      assert_true(place(&log, 8, 0) < place(&log, 9, 0));
      assert_true(place(&log, 9, 0) < place(&log, 10, 0));
      assert_true(place(&log, 10, 0) < place(&log, 11, 0));
      assert_true(place(&log, 11, 0) < place(&log, 12, 0));
    }
  }
}

static void test_a_missing_flag_lets_the_consumer_run_first(void **state) {
  (void)state;
  static const char text[] = HEAD(1) TENSORS AIV COPY_IN VADD(1) COPY_OUT;
  struct log log = run_well(text, (struct machine_options){.order = MACHINE_CONSUMERS_FIRST});
  assert_true(place(&log, 8, 0) < place(&log, 7, 0));
  assert_true(place(&log, 7, 0) < place(&log, 6, 0));
  log = run_well(text, (struct machine_options){.order = MACHINE_PROGRAM_ORDER});
  assert_true(place(&log, 6, 0) < place(&log, 7, 0));
  assert_true(place(&log, 7, 0) < place(&log, 8, 0));
  log = run_well(text, (struct machine_options){.order = MACHINE_PRODUCERS_FIRST});
  assert_true(place(&log, 6, 0) < place(&log, 7, 0));
  assert_true(place(&log, 7, 0) < place(&log, 8, 0));
}

static void test_barrier_of_all_waits_for_every_queue(void **state) {
  (void)state;
  struct log log =
      run_well(HEAD(1) TENSORS AIV COPY_IN "pipe_barrier,pipe=ALL\n" COPY_OUT, CONSUMERS);
  assert_int_equal(place(&log, 6, 0), 0);
  assert_int_equal(place(&log, 7, 0), 1);
  assert_int_equal(log.step[1].pipe, PIPE_ALL);
  assert_int_equal(log.step[0].waits, 0);
  assert_int_equal(log.step[2].waits, 1);
}

static void test_registers_are_those_of_the_issue(void **state) {
  (void)state;
  struct log log = run_well(
      HEAD(1) AIV "set_vector_mask,high=0,low=1\n" VADD(1) "set_vector_mask,high=0,low=3\n" VADD(1),
      CONSUMERS);
  assert_int_equal(log.count, 4);
  assert_int_equal(log.step[0].pipe, PIPE_S);
}

/* More instructions than the queue holds: the scalar unit waits for room. */
static void test_queues_are_bounded(void **state) {
  (void)state;
  struct log log = run_well(HEAD(1) TENSORS AIV "loop,i,40\n" VADD(1) "endloop\n"
                                                                      "scalar,cycles=1\n",
                            (struct machine_options){.order = MACHINE_CONSUMERS_FIRST});
  assert_int_equal(log.count, 41);
  assert_true(place(&log, 9, 0) < 40);
  assert_true(place(&log, 9, 0) >= 8);
}

static void test_blocks_beyond_the_cores_wait(void **state) {
  (void)state;
  struct log log = run_well(HEAD(100) TENSORS AIV VADD(1), CONSUMERS);
  assert_int_equal(log.blocks, 100);
  assert_int_equal(log.blocks_ended, 100);
  unsigned on_core[40] = {0};
  for (unsigned i = 0; i < log.count; i++)
    on_core[log.step[i].core]++;
  for (unsigned i = 0; i < 40; i++)
    assert_int_equal(on_core[i], i < 20 ? 3 : 2);
}

#define MIXED(blocks) "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=" #blocks "\n"
#define SIGNAL(pipe, mode) "ffts_cross_core_sync,pipe=" #pipe ",mode=" #mode ",id=3\n"
#define TAKE "wait_flag_dev,id=3\n"

static void test_mixed_blocks_run_together(void **state) {
  (void)state;
  /* Lines: 4 AIC signals, 5 waits; 7 AIV wait, 8 signal. */
  struct log log = run_well(MIXED(2) "stream,core=AIC\n" SIGNAL(FIX, 2) TAKE
                            "stream,core=AIV\n" TAKE SIGNAL(MTE3, 2),
                            CONSUMERS);
  assert_int_equal(log.blocks, 6);
  assert_int_equal(log.deliveries, 4);
  assert_int_equal(log.count, 12);
  for (unsigned i = 0; i < log.count; i++)
    if (log.step[i].line >= 7)
      assert_int_equal(log.step[i].core, 20 + 2 * log.step[i].block + log.step[i].sub);
}

static void test_mode_0_needs_every_block(void **state) {
  (void)state;
  struct log log = run_well(HEAD(40) AIV SIGNAL(MTE3, 0) TAKE, CONSUMERS);
  assert_int_equal(log.deliveries, 1);
  log = run_well(HEAD(3) AIV SIGNAL(MTE3, 0) TAKE, CONSUMERS);
  assert_int_equal(log.deliveries, 1);
  struct vinci_diag diag = {0};
  log = (struct log){0};
  assert_int_equal(run_logged(HEAD(41) AIV SIGNAL(MTE3, 0) TAKE, CONSUMERS, &log, false, &diag),
                   VINCI_E_DEADLOCK);
  assert_int_equal(diag.line, 5);
  assert_string_equal(diag.text,
                      "the simulated program hangs in kernel \"k\" after 0 of 41 blocks:\n"
                      "  core0.veccore0 S (and 39 more cores) waits for cross-core flag 3, line 5; "
                      "40 of the 41 AIV cores of all blocks have signalled it in mode 0");
}

static void test_deadlock_says_what_the_timing_run_says(void **state) {
  (void)state;
  static const char text[] = HEAD(2) TENSORS AIV FLAG("wait", MTE2, V) VADD(1)
      COPY_IN FLAG("wait", V, S) FLAG("set", MTE2, V);
  struct vinci_diag diag = {0};
  struct log log = {0};
  assert_int_equal(run_logged(text, CONSUMERS, &log, false, &diag), VINCI_E_DEADLOCK);
  struct run timed = runs_text(text);
  assert_int_equal(timed.status, VINCI_E_DEADLOCK);
  assert_string_equal(diag.text, timed.diag.text);
  assert_int_equal(diag.line, timed.diag.line);
  vinci_result_free(timed.result);
}

static void test_deadlock_in_every_order(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct vinci_diag diag = {0};
    struct log log = {0};
    assert_int_equal(run_logged(HEAD(3) TENSORS AIV COPY_IN FLAG("wait", V, MTE3) COPY_OUT,
                                (struct machine_options){.order = MACHINE_SHUFFLED, .seed = seed},
                                &log, false, &diag),
                     VINCI_E_DEADLOCK);
    assert_int_equal(log.count, 3);
  }
}

static void test_ranges_are_checked(void **state) {
  (void)state;
  static const char text[] = HEAD(1) TENSORS AIV "loop,i,2\ncopy_gm_to_ubuf,dst=i*196608,src=x,"
                                                 "len_burst=8\nendloop\n";
  struct vinci_diag diag = {0};
  struct log log = {0};
  assert_int_equal(run_logged(text, CONSUMERS, &log, false, &diag), VINCI_E_INPUT);
  assert_int_equal(diag.line, 7);
  log = run_well(text, (struct machine_options){.unchecked_ranges = true});
  assert_int_equal(log.count, 2);
}

static void expect_misuse(const char *text, enum misuse_kind misuse, uint32_t line,
                          const char *message) {
  struct vinci_diag diag = {0};
  struct log log = {0};
  assert_int_equal(run_logged(text, CONSUMERS, &log, false, &diag), VINCI_E_INPUT);
  assert_non_null(strstr(diag.text, message));
  log = (struct log){0};
  memset(&diag, 0, sizeof diag);
  (void)run_logged(text, CONSUMERS, &log, true, &diag);
  assert_true(log.misuses > 0);
  assert_int_equal(log.misuse, misuse);
  assert_int_equal(log.misuse_line, line);
}

static void test_misuse(void **state) {
  (void)state;
  expect_misuse(HEAD(1) AIV FLAG("set", MTE2, V) FLAG("set", MTE2, V), MISUSE_FLAG_SET_TWICE, 4,
                "set_flag MTE2->V id 0 is set a second time before anyone waited for it; it was "
                "set in line 4, on core0.veccore0");
  expect_misuse(HEAD(1) AIV SIGNAL(MTE3, 2), MISUSE_CROSS_NOT_MIXED, 0,
                "mode 2 needs a kernel with AIC and AIV streams");
  expect_misuse(MIXED(1) "stream,core=AIC\n" SIGNAL(FIX, 1) "stream,core=AIV\n",
                MISUSE_CROSS_AIC_PAIR, 0, "mode 1 orders the AIV of a block, not its AIC");
  expect_misuse(HEAD(2) AIV "loop,i,16*(blk==0)\n" SIGNAL(MTE3, 0) "endloop\n", MISUSE_CROSS_AHEAD,
                0, "is set 15 times ahead of other cores, its limit");
  expect_misuse(MIXED(1) "stream,core=AIC\nloop,i,16\n" SIGNAL(FIX, 2) "endloop\nstream,core=AIV\n",
                MISUSE_CROSS_UNTAKEN, 0,
                "has 15 signals that nobody took, its limit, on core0.veccore0");
}

static void test_an_observer_stops_it(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct log log = {.stop_after = 3};
  assert_int_equal(run_logged(IN_ORDER, CONSUMERS, &log, false, &diag), VINCI_OK);
  assert_int_equal(log.count, 3);
  assert_int_equal(log.blocks_ended, 0);
}

static void test_paths_the_chip_lacks(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  soc->path[PATH_GM_UB].mbytes_per_cycle = 0;
  vinci_trace *trace = runs_parse(HEAD(1) TENSORS AIV COPY_IN, soc);
  struct vinci_diag diag = {0};
  assert_int_equal(machine_run(soc, trace, NULL, 0, &diag), VINCI_E_INPUT);
  assert_string_equal(diag.text,
                      "copy_gm_to_ubuf: fixture220 has no path GM->UB, on core0.veccore0");
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

struct looks {
  unsigned count, last_permille;
  uint64_t last_instructions;
  unsigned stop_at;
};

static bool look(void *context, uint64_t instructions, unsigned done_permille) {
  struct looks *looks = context;
  assert_true(instructions >= looks->last_instructions && done_permille <= 1000);
  assert_true(done_permille >= looks->last_permille);
  looks->last_instructions = instructions;
  looks->last_permille = done_permille;
  return ++looks->count != looks->stop_at;
}

/* What is known of a trace's length before it runs. */
static void test_lengths(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t executed, at_most_off;
  } cases[] = {
      {HEAD(3) AIV "loop,i,1000\nscalar\nloop,j,7\nscalar\nendloop\nendloop\n", 24000, 0},
      {HEAD(1) AIV "loop,i,1000\nloop,first,i==0\nscalar\nendloop\nscalar\nendloop\n", 1001, 0},
      {HEAD(1) AIV "loop,i,1000\nloop,odd,i%2\nscalar\nendloop\nendloop\n", 500, 1},
      {HEAD(1) AIV "loop,i,1000\nloop,j,i\nscalar\nendloop\nendloop\n", 499500, 1000},
      {HEAD(10) AIV "let,n,blk+1\nloop,i,n\nscalar\nendloop\n", 55, 10},
      {HEAD(2) AIV "loop,i,1000000000\nloop,j,4000000000\nscalar\nendloop\nendloop\n",
       UINT64_C(8000000000000000000), 0},
      {HEAD(9) AIV "loop,i,1000000000\nloop,j,4000000000\nscalar\nendloop\nendloop\n", UINT64_MAX,
       0},
      {HEAD(1) AIV "loop,a,9\nloop,b,a+2\nloop,c,b+2\nloop,d,c+2\nloop,e,d+2\nloop,f,e+2\n"
                   "loop,g,f+2\nloop,h,g+2\nscalar\nendloop\nendloop\nendloop\nendloop\nendloop\n"
                   "endloop\nendloop\nendloop\n",
       12345, UINT64_MAX}, /* in no time */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t variables[32] = {0};
    vinci_trace *trace = runs_parse(cases[i].text, fixture_shared);
    uint64_t told = program_instructions(trace, variables), executed = cases[i].executed;
    uint64_t off = told > executed ? told - executed : executed - told;
    if (off > cases[i].at_most_off)
      fail_msg("%llu instructions instead of %llu in\n%s", (unsigned long long)told,
               (unsigned long long)executed, cases[i].text);
    vinci_trace_free(trace);
  }
}

/* Loops without instructions count, too. */
static void test_progress(void **state) {
  (void)state;
  vinci_trace *trace =
      runs_parse(HEAD(100) AIV "loop,i,1000\nscalar\nendloop\n"
                               "loop,i,100000\nlet,a,i\nendloop\nscalar\n"
                               "kernel,name=k2,arch=dav-c220,blocks=100\n" AIV "scalar\n",
                 fixture_shared);
  struct looks looks = {0};
  struct machine_options options = {.progress = look, .progress_context = &looks};
  struct vinci_diag diag = {0};
  assert_int_equal(machine_run_with(fixture_shared, trace, &options, NULL, 0, &diag), VINCI_OK);
  assert_true(looks.count >= 100);
  assert_in_range(looks.last_permille, 980, 1000); /* the second kernel has few instructions */
  looks = (struct looks){.stop_at = 3};
  assert_int_equal(machine_run_with(fixture_shared, trace, &options, NULL, 0, &diag),
                   VINCI_E_LIMIT);
  assert_int_equal(looks.count, 3);
  assert_string_equal(diag.text, "t.csv: stopped by the caller");
  vinci_trace_free(trace);
}

/* Flags of compiled kernels: each set needs a wait of its own, and a block starts with none. */
/* A flag that gives a buffer back counts twice at the first set of a block, another flag does not.
 */
static void spare_buffers_are_given_once(void **state) {
  (void)state;
  struct arena arena = {0};
  struct flags flags = {0};
  struct misuse misuse;
  size_t back = flags_index(fixture_shared, PIPE_V, PIPE_MTE2, 1);
  size_t on = flags_index(fixture_shared, PIPE_MTE2, PIPE_V, 1);
  assert_true(flags_create(&flags, &arena, fixture_shared, true));
  assert_true(flags_add_spares(&flags, &arena, fixture_shared));
  for (unsigned block = 0; block < 2; block++) {
    flags_start_block(&flags);
    assert_true(flag_set(&flags, back, 5, &misuse) && flag_set(&flags, on, 6, &misuse));
    flag_take(&flags, back);
    flag_take(&flags, on);
    assert_true(flag_is_set(&flags, back) && !flag_is_set(&flags, on));
    assert_true(flag_set(&flags, back, 7, &misuse)); /* the second set counts once */
    flag_take(&flags, back);
    flag_take(&flags, back);
    assert_false(flag_is_set(&flags, back));
  }
  arena_free(&arena);
}

static void test_flags_that_count(void **state) {
  (void)state;
  struct arena arena = {0};
  struct flags plain, counted;
  struct misuse misuse;
  assert_true(flags_create(&plain, &arena, fixture_shared, false));
  assert_true(flags_create(&counted, &arena, fixture_shared, true));
  size_t flag = flags_index(fixture_shared, PIPE_MTE2, PIPE_V, 3);
  assert_true(flag_set(&plain, flag, 5, &misuse));
  assert_false(flag_set(&plain, flag, 6, &misuse));
  assert_int_equal(misuse.line, 5);
  for (unsigned sets = 0; sets < 3; sets++)
    assert_true(flag_set(&counted, flag, 7, &misuse));
  for (unsigned waits = 0; waits < 3; waits++) {
    assert_true(flag_is_set(&counted, flag));
    flag_take(&counted, flag);
  }
  assert_false(flag_is_set(&counted, flag));
  assert_true(flag_set(&counted, flag, 8, &misuse));
  assert_true(flag_set(&counted, flag, 9, &misuse));
  flags_start_block(&counted);
  assert_false(flag_is_set(&counted, flag));
  assert_true(flag_set(&counted, flag, 10, &misuse));
  flag_take(&counted, flag);
  assert_false(flag_is_set(&counted, flag));
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flags_order_pipes),
      cmocka_unit_test(test_lengths),
      cmocka_unit_test(test_walk_order),
      cmocka_unit_test(test_a_missing_flag_lets_the_consumer_run_first),
      cmocka_unit_test(test_barrier_of_all_waits_for_every_queue),
      cmocka_unit_test(test_registers_are_those_of_the_issue),
      cmocka_unit_test(test_queues_are_bounded),
      cmocka_unit_test(test_blocks_beyond_the_cores_wait),
      cmocka_unit_test(test_mixed_blocks_run_together),
      cmocka_unit_test(test_mode_0_needs_every_block),
      cmocka_unit_test(test_deadlock_says_what_the_timing_run_says),
      cmocka_unit_test(test_deadlock_in_every_order),
      cmocka_unit_test(test_ranges_are_checked),
      cmocka_unit_test(test_flags_that_count),
      cmocka_unit_test(spare_buffers_are_given_once),
      cmocka_unit_test(test_misuse),
      cmocka_unit_test(test_an_observer_stops_it),
      cmocka_unit_test(test_paths_the_chip_lacks),
      cmocka_unit_test(test_progress),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
