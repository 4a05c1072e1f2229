/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the event engine: total order, cancelling, limits, hosting by SystemC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/sim/engine.h"

enum { EVENTS = 2000 };
#define SEED UINT64_C(0x5EED0001)

struct probe {
  struct engine_event event;
  struct engine *engine;
  struct probe **order;
  unsigned *fired;
};

static uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

static void fire_probe(struct engine_event *event, uint64_t now_ps) {
  struct probe *probe = (struct probe *)event;
  assert_true(now_ps == event->time_ps);
  assert_true(engine_now_ps(probe->engine) == now_ps);
  probe->order[(*probe->fired)++] = probe;
}

static int compare_probes(const void *a, const void *b) {
  const struct engine_event *x = &(*(struct probe *const *)a)->event;
  const struct engine_event *y = &(*(struct probe *const *)b)->event;
  if (x->time_ps != y->time_ps)
    return x->time_ps < y->time_ps ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

struct fixture {
  struct arena arena;
  struct engine *engine;
  struct probe *probes;
  struct probe **order;
  struct probe **expected;
  unsigned fired;
};

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  f->engine = engine_create(&f->arena);
  f->probes = calloc(EVENTS, sizeof *f->probes);
  f->order = calloc(EVENTS, sizeof(struct probe *));
  f->expected = calloc(EVENTS, sizeof(struct probe *));
  for (unsigned i = 0; i < EVENTS; i++) {
    struct probe *probe = &f->probes[i];
    probe->engine = f->engine;
    probe->order = f->order;
    probe->fired = &f->fired;
    probe->event.fire = fire_probe;
    probe->event.key = event_key((enum engine_phase)(i % 4), (i * 7919u) % EVENTS, i % 3);
    f->expected[i] = probe;
  }
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  arena_free(&f->arena);
  free(f->probes);
  free(f->order);
  free(f->expected);
  free(f);
  return 0;
}

/* Times in the same instant, in the wheel, and far beyond the wheel. */
static uint64_t random_time(uint64_t *seed) {
  static const uint64_t ranges[] = {4, 2000, 3000000, UINT64_C(5000000000000)};
  uint64_t r = random_next(seed);
  return random_next(seed) % ranges[r % 4];
}

static void schedule_all(struct fixture *f) {
  uint64_t seed = SEED;
  for (unsigned i = 0; i < EVENTS; i++)
    engine_schedule(f->engine, &f->probes[i].event, random_time(&seed));
}

static void check_order(struct fixture *f, unsigned count) {
  qsort(f->expected, count, sizeof *f->expected, compare_probes);
  assert_int_equal(f->fired, count);
  for (unsigned i = 0; i < count; i++)
    assert_ptr_equal(f->order[i], f->expected[i]);
}

static void events_fire_in_total_order(void **state) {
  struct fixture *f = *state;
  schedule_all(f);
  engine_run_until(f->engine, UINT64_MAX - 1);
  check_order(f, EVENTS);
  assert_true(engine_next_ps(f->engine) == UINT64_MAX);
  assert_true(engine_fired(f->engine) == EVENTS);
}

static void any_host_keeps_the_order(void **state) {
  struct fixture *f = *state;
  schedule_all(f);
  assert_int_equal(engine_run(f->engine, NULL), VINCI_OK);
  check_order(f, EVENTS);
}

static void cancelled_events_do_not_fire(void **state) {
  struct fixture *f = *state;
  schedule_all(f);
  unsigned kept = 0;
  for (unsigned i = 0; i < EVENTS; i++) {
    if (i % 3 == 0)
      engine_cancel(f->engine, &f->probes[i].event);
    else
      f->expected[kept++] = &f->probes[i];
  }
  engine_cancel(f->engine, &f->probes[0].event); /* not pending: no effect */
  engine_run_until(f->engine, UINT64_MAX - 1);
  check_order(f, kept);
}

static void earliest_time_wins(void **state) {
  struct fixture *f = *state;
  struct engine_event *event = &f->probes[0].event;
  engine_schedule_earliest(f->engine, event, 5000000);
  engine_schedule_earliest(f->engine, event, 900);
  engine_schedule_earliest(f->engine, event, 1000);
  assert_true(engine_next_ps(f->engine) == 900);
  engine_run_until(f->engine, UINT64_MAX - 1);
  assert_int_equal(f->fired, 1);
}

static void run_stops_at_its_limit(void **state) {
  struct fixture *f = *state;
  engine_schedule(f->engine, &f->probes[0].event, 100);
  engine_schedule(f->engine, &f->probes[1].event, 200);
  engine_run_until(f->engine, 150);
  assert_int_equal(f->fired, 1);
  assert_true(engine_next_ps(f->engine) == 200);
  /* Between the limit and the next event there is room for another. */
  engine_schedule(f->engine, &f->probes[2].event, 160);
  engine_run_until(f->engine, 200);
  assert_int_equal(f->fired, 3);
  assert_ptr_equal(f->order[1], &f->probes[2]);
}

/* What would come after the end of time does not come; what comes in its last instant does. */
static void time_has_an_end(void **state) {
  struct fixture *f = *state;
  engine_schedule(f->engine, &f->probes[0].event, ENGINE_END_PS);
  engine_schedule(f->engine, &f->probes[1].event, ENGINE_END_PS + 1);
  engine_schedule(f->engine, &f->probes[2].event, UINT64_MAX);
  assert_int_equal(engine_run(f->engine, NULL), VINCI_OK);
  assert_int_equal(f->fired, 1);
  assert_true(engine_at_end(f->engine));
  assert_true(engine_now_ps(f->engine) == ENGINE_END_PS);
  assert_true(engine_next_ps(f->engine) == UINT64_MAX);
}

/* A run goes up to the end of time when there is more to come, and no further than its last event
 * when there is not. */
static void the_present_is_the_end_of_time(void **state) {
  struct fixture *f = *state;
  engine_schedule(f->engine, &f->probes[0].event, 70);
  engine_schedule(f->engine, &f->probes[1].event, ENGINE_END_PS + 1);
  engine_run_until(f->engine, UINT64_MAX);
  assert_int_equal(f->fired, 1);
  assert_true(engine_at_end(f->engine));
  assert_true(engine_now_ps(f->engine) == ENGINE_END_PS);
}

/* SystemC's own time is used up by 2^9 runs of that length: those that follow run all the same. */
static void runs_outlast_systemc(void **state) {
  struct fixture *f = *state;
  for (unsigned run = 0; run < 1100; run++) {
    struct arena arena = {0};
    struct engine *engine = engine_create(&arena);
    f->probes[run].engine = engine;
    engine_schedule(engine, &f->probes[run].event, ENGINE_END_PS - run);
    assert_int_equal(engine_run(engine, NULL), VINCI_OK);
    assert_true(engine_now_ps(engine) == ENGINE_END_PS - run);
    assert_false(engine_at_end(engine));
    arena_free(&arena);
  }
  assert_int_equal(f->fired, 1100);
}

static void fire_and_stop(struct engine_event *event, uint64_t now_ps) {
  fire_probe(event, now_ps);
  engine_stop(((struct probe *)event)->engine);
}

static void stop_leaves_the_rest(void **state) {
  struct fixture *f = *state;
  f->probes[0].event.fire = fire_and_stop;
  engine_schedule(f->engine, &f->probes[0].event, 10);
  engine_schedule(f->engine, &f->probes[1].event, 10000);
  assert_int_equal(engine_run(f->engine, NULL), VINCI_OK);
  assert_int_equal(f->fired, 1);
  assert_true(engine_next_ps(f->engine) == UINT64_MAX);
}

/* Time in SystemC only grows; each run counts from its own start. */
static void runs_follow_one_another(void **state) {
  struct fixture *f = *state;
  for (unsigned run = 0; run < 50; run++) {
    struct arena arena = {0};
    struct engine *engine = engine_create(&arena);
    f->probes[run].engine = engine;
    engine_schedule(engine, &f->probes[run].event, 1000 + run);
    assert_int_equal(engine_run(engine, NULL), VINCI_OK);
    assert_true(engine_now_ps(engine) == 1000 + run);
    arena_free(&arena);
  }
  assert_int_equal(f->fired, 50);
}

static void an_unknown_host_is_an_error(void **state) {
  struct fixture *f = *state;
  struct vinci_diag diag = {0};
  assert_int_equal(engine_run(f->engine, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "VINCI_HOST is 'sistemc'");
  assert_non_null(strstr(diag.hint, "without"));
}

static int set_up_native(void **state) {
  setenv("VINCI_HOST", "native", 1);
  return set_up(state);
}

/* In a build without SystemC these are tests of the native host again. */
static int set_up_systemc(void **state) {
  setenv("VINCI_HOST", engine_has_systemc() ? "systemc" : "native", 1);
  return set_up(state);
}

static int set_up_unknown(void **state) {
  setenv("VINCI_HOST", "sistemc", 1);
  return set_up(state);
}

#define NATIVE(name) cmocka_unit_test_setup_teardown(name, set_up_native, tear_down)
#define IN_SYSTEMC(name)                                                                           \
  { "in SystemC: " #name, name, set_up_systemc, tear_down, NULL }
#define TEST(name) NATIVE(name), IN_SYSTEMC(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(events_fire_in_total_order),
      TEST(any_host_keeps_the_order),
      TEST(cancelled_events_do_not_fire),
      TEST(earliest_time_wins),
      TEST(run_stops_at_its_limit),
      TEST(stop_leaves_the_rest),
      TEST(runs_follow_one_another),
      TEST(time_has_an_end),
      TEST(runs_follow_one_another),
      TEST(the_present_is_the_end_of_time),
      TEST(runs_outlast_systemc),
      cmocka_unit_test_setup_teardown(an_unknown_host_is_an_error, set_up_unknown, tear_down),
  };
  return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
