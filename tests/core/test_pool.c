/* SPDX-License-Identifier: Apache-2.0 */
/* The pools of processes and of threads: every number once, for any number of jobs, whatever the
 * processes do. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How many calls of fork() fail, after how many that do not. */
static struct { unsigned good, bad; } forks;

static pid_t faulty_fork(void) {
  if (forks.good > 0) {
    forks.good--;
  } else if (forks.bad > 0) {
    forks.bad--;
    errno = ENOMEM;
    return -1;
  }
  return fork();
}

#define fork faulty_fork
#include "core/base/pool.c"
#undef fork
#include "core/base/threads.h"

enum { NUMBERS = 200, JOBS = 7 };

struct test {
  unsigned *seen; /* by number, of all processes */
  pid_t *worker;  /* by number: its process */
  size_t dies;    /* of this number; and of every number: NUMBERS */
  size_t stops;   /* the run ends after this number of numbers */
  size_t ended, died, prepared, gone;
  int how;
  enum vinci_status refuses;
};

static void count_numbers(void *context, struct pool_worker *worker) {
  const struct test *test = context;
  for (size_t i; (i = pool_next(worker)) != POOL_NONE;) {
    if (test->dies == i || test->dies == NUMBERS)
      raise(SIGKILL);
    if (test->dies == NUMBERS + 1 + i)
      _exit(3);
    test->seen[i]++;
    test->worker[i] = getpid();
  }
}

static enum vinci_status prepare(void *context, unsigned process) {
  struct test *test = context;
  assert_true(process < JOBS);
  test->prepared++;
  return test->refuses;
}

static void ended(void *context, unsigned process, size_t number) {
  struct test *test = context;
  assert_true(process < JOBS);
  assert_int_equal(test->seen[number], 1);
  test->ended++;
}

static void died(void *context, unsigned process, size_t number, int how) {
  struct test *test = context;
  assert_true(process < JOBS && number < NUMBERS);
  test->how = how;
  test->died++;
}

static void gone(void *context, unsigned process) {
  struct test *test = context;
  assert_true(process < JOBS);
  test->gone++;
}

static bool tick(void *context) {
  const struct test *test = context;
  return test->ended < test->stops;
}

static struct test new_test(void) {
  struct test test = {.seen = pool_memory(NUMBERS * sizeof *test.seen),
                      .worker = pool_memory(NUMBERS * sizeof *test.worker),
                      .dies = SIZE_MAX,
                      .stops = SIZE_MAX};
  assert_true(test.seen && test.worker);
  return test;
}

static enum vinci_status run(struct test *test, unsigned jobs, bool one_each) {
  struct vinci_diag diag = {0};
  struct pool pool = {.count = NUMBERS,
                      .jobs = jobs,
                      .one_each = one_each,
                      .context = test,
                      .work = count_numbers,
                      .prepare = prepare,
                      .ended = ended,
                      .died = died,
                      .gone = gone,
                      .tick = tick};
  return pool_run(&pool, &diag);
}

/* Every number but the ones that are missing was worked on once. */
static void finish(struct test *test, size_t missing) {
  size_t count = 0;
  for (size_t i = 0; i < NUMBERS; i++)
    count += test->seen[i] == 1;
  assert_int_equal(count, NUMBERS - missing);
  assert_int_equal(test->ended, NUMBERS - missing);
  assert_int_equal(test->gone, test->prepared);
  munmap(test->seen, NUMBERS * sizeof *test->seen);
  munmap(test->worker, NUMBERS * sizeof *test->worker);
}

static void every_number_once(void **state) {
  (void)state;
  for (unsigned jobs = 1; jobs <= JOBS; jobs += 3) {
    struct test test = new_test();
    assert_int_equal(run(&test, jobs, false), VINCI_OK);
    assert_true(test.prepared <= jobs);
    finish(&test, 0);
  }
}

static void a_process_for_each_number(void **state) {
  (void)state;
  struct test test = new_test();
  assert_int_equal(run(&test, 2, true), VINCI_OK);
  assert_int_equal(test.prepared, NUMBERS);
  for (size_t i = 1; i < NUMBERS; i++)
    assert_int_not_equal(test.worker[i], test.worker[i - 1]);
  finish(&test, 0);
}

static void a_death_costs_one_number(void **state) {
  (void)state;
  for (size_t dies = 0; dies < NUMBERS; dies += NUMBERS - 1)
    for (unsigned jobs = 1; jobs <= JOBS; jobs += 3) {
      struct test test = new_test();
      test.dies = dies;
      assert_int_equal(run(&test, jobs, false), VINCI_OK);
      assert_int_equal(test.died, 1);
      assert_true(WIFSIGNALED(test.how) && WTERMSIG(test.how) == SIGKILL);
      finish(&test, 1);
    }
}

static void an_exit_code_is_told(void **state) {
  (void)state;
  struct test test = new_test();
  test.dies = NUMBERS + 1 + 50;
  assert_int_equal(run(&test, 2, false), VINCI_OK);
  assert_int_equal(test.died, 1);
  assert_true(WIFEXITED(test.how) && WEXITSTATUS(test.how) == 3);
  finish(&test, 1);
}

static void all_may_die(void **state) {
  (void)state;
  struct test test = new_test();
  test.dies = NUMBERS;
  assert_int_equal(run(&test, 2, false), VINCI_OK);
  assert_int_equal(test.died, NUMBERS);
  finish(&test, NUMBERS);
}

static void who_asks_ends_the_run(void **state) {
  (void)state;
  struct test test = new_test();
  test.stops = 0;
  assert_int_equal(run(&test, 2, false), VINCI_OK);
  assert_int_equal(test.prepared, 0);
  finish(&test, NUMBERS);
  test = new_test();
  test.stops = 10;
  assert_int_equal(run(&test, 1, true), VINCI_OK);
  finish(&test, NUMBERS - 10);
}

/* The others do what a process would have done that could not be made. */
static void fewer_processes_do_the_same(void **state) {
  (void)state;
  struct test test = new_test();
  forks.good = 1;
  forks.bad = 1;
  assert_int_equal(run(&test, JOBS, false), VINCI_OK);
  finish(&test, 0);
}

static void no_process_is_an_error(void **state) {
  (void)state;
  struct test test = new_test();
  forks.good = 0;
  forks.bad = 1;
  assert_int_equal(run(&test, JOBS, false), VINCI_E_NOMEM);
  assert_int_equal(test.ended, 0);
  munmap(test.seen, NUMBERS * sizeof *test.seen);
  munmap(test.worker, NUMBERS * sizeof *test.worker);
}

static void what_cannot_be_prepared_is_an_error(void **state) {
  (void)state;
  struct test test = new_test();
  test.refuses = VINCI_E_IO;
  assert_int_equal(run(&test, JOBS, false), VINCI_E_IO);
  assert_int_equal(test.prepared, 1);
  assert_int_equal(test.ended, 0);
  munmap(test.seen, NUMBERS * sizeof *test.seen);
  munmap(test.worker, NUMBERS * sizeof *test.worker);
}

/* There is no status of a process then, but all is done. */
static void a_caller_may_ignore_children(void **state) {
  (void)state;
  struct test test = new_test();
  signal(SIGCHLD, SIG_IGN);
  enum vinci_status status = run(&test, 3, false);
  signal(SIGCHLD, SIG_DFL);
  assert_int_equal(status, VINCI_OK);
  finish(&test, 0);
}

/* ---- threads ---- */

static void count_number(void *context, size_t number) {
  atomic_int *seen = context;
  atomic_fetch_add(&seen[number], 1);
}

static void threads_take_every_number_once(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  for (unsigned jobs = 0; jobs <= 4; jobs++)
    for (size_t count = 0; count <= COUNT; count += COUNT / 2 - 1) {
      static atomic_int seen[COUNT];
      memset(seen, 0, sizeof seen);
      threads_run(count, jobs, count_number, seen);
      for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], i < count);
    }
}

static atomic_int with_signals;
static void look_at_signals(void *context, size_t number) {
  sigset_t blocked;
  (void)number;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (!sigismember(&blocked, SIGINT) && !pthread_equal(pthread_self(), *(pthread_t *)context))
    atomic_fetch_add(&with_signals, 1);
}

static void signals_are_the_callers(void **state) {
  (void)state;
  pthread_t caller = pthread_self();
  sigset_t blocked;
  threads_run(100, 3, look_at_signals, &caller);
  assert_int_equal(with_signals, 0);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  assert_false(sigismember(&blocked, SIGINT));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_once),
      cmocka_unit_test(a_process_for_each_number),
      cmocka_unit_test(a_death_costs_one_number),
      cmocka_unit_test(an_exit_code_is_told),
      cmocka_unit_test(all_may_die),
      cmocka_unit_test(who_asks_ends_the_run),
      cmocka_unit_test(fewer_processes_do_the_same),
      cmocka_unit_test(no_process_is_an_error),
      cmocka_unit_test(what_cannot_be_prepared_is_an_error),
      cmocka_unit_test(a_caller_may_ignore_children),
      cmocka_unit_test(threads_take_every_number_once),
      cmocka_unit_test(signals_are_the_callers),
  };
  return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
