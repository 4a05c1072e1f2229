/* SPDX-License-Identifier: Apache-2.0 */
/* Packed events are those of the array, and what reports make of them is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/critical.h"
#include "core/result/events.h"
#include "tests/support/fixture.h"
#include "tests/support/words.h"

static struct vinci_result *run(const char *op, const char *text, bool packed, uint64_t max_cycles,
                                uint64_t max_events) {
  struct words words;
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  vinci_result *result = NULL;
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = VINCI_MEMORY_FLAT,
                                      .max_cycles = max_cycles,
                                      .max_events = max_events,
                                      .pack_events = packed};
  words_split(&words, text);
  assert_int_equal(vinci_compile(fixture_shared, op, words.item, words.count, &trace, &diag),
                   VINCI_OK);
  enum vinci_status status = vinci_run(fixture_shared, trace, &options, &result, &diag);
  assert_int_equal(status, max_cycles ? VINCI_E_LIMIT : VINCI_OK);
  vinci_trace_free(trace);
  return result;
}

static void assert_same(const struct result_event *a, const struct result_event *b) {
  assert_true(a && b);
  assert_true(a->start_cycle == b->start_cycle && a->end_cycle == b->end_cycle);
  assert_true(a->core == b->core && a->line == b->line && a->op == b->op && a->pipe == b->pipe);
  assert_true(a->id == b->id && a->other == b->other && a->path == b->path);
  assert_true(a->member == b->member && a->bytes == b->bytes && a->delivery == b->delivery);
  assert_memory_equal(a->cause, b->cause, sizeof a->cause);
  assert_memory_equal(a->cause_cycles, b->cause_cycles, sizeof a->cause_cycles);
  assert_true(a->queued_cycles == b->queued_cycles && a->held_cycles == b->held_cycles);
  assert_int_equal(a->bank_cycles, b->bank_cycles);
}

static void compare(const char *op, const char *text, uint64_t max_cycles, uint64_t max_events) {
  struct vinci_result *array = run(op, text, false, max_cycles, max_events);
  struct vinci_result *packed = run(op, text, true, max_cycles, max_events);
  struct event_walk one = {.result = array, .core = array->core_count};
  struct event_walk two = {.result = packed, .core = packed->core_count};
  assert_null(packed->events);
  assert_true(array->event_count > 0);
  assert_int_equal(event_total(packed), array->event_count);
  assert_int_equal(packed->events_dropped, array->events_dropped);
  for (uint64_t i = 0; i < array->event_count; i++)
    assert_same(event_walk_next(&two), event_walk_next(&one));
  assert_null(event_walk_next(&one));
  assert_null(event_walk_next(&two));
  static struct critical_path paths[2];
  assert_int_equal(critical_find(array, &paths[0], NULL), VINCI_OK);
  assert_int_equal(critical_find(packed, &paths[1], NULL), VINCI_OK);
  assert_memory_equal(&paths[0], &paths[1], sizeof paths[0]);
  vinci_result_free(array);
  vinci_result_free(packed);
}

static void packed_events_are_those_of_the_array(void **state) {
  (void)state;
  compare("matmul", "m=300 k=700 n=260", 0, 100000);
  compare("softmax", "shape=200x900", 0, 100000);
  compare("flash_attention", "heads=2 seq_q=300", 0, 100000);
}

static void so_they_are_where_the_run_or_the_store_ends(void **state) {
  (void)state;
  compare("matmul", "m=300 k=700 n=260", 6000, 100000);
  compare("matmul", "m=1000 k=700 n=1000", 0, 900);
}

/* All fields at their largest, and starts that go back. */
static void any_event_fits(void **state) {
  (void)state;
  static uint8_t bytes[4 * EVENT_PACKED_MAX];
  static struct event_log log = {.bytes = bytes};
  struct vinci_result result = {.core_count = 1, .logs = &log};
  struct result_event most, least = {0};
  memset(&most, 0xff, sizeof most);
  most.start_cycle = 1;
  most.core = 0;
  for (unsigned i = 0; i < 4; i++)
    *event_log_add(&log) = i % 2 ? least : most;
  event_log_end(&log, UINT64_MAX);
  assert_true(log.size <= sizeof bytes);
  struct event_walk walk = {.result = &result};
  for (unsigned i = 0; i < 4; i++)
    assert_same(event_walk_next(&walk), i % 2 ? &least : &most);
  assert_null(event_walk_next(&walk));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packed_events_are_those_of_the_array),
      cmocka_unit_test(so_they_are_where_the_run_or_the_store_ends),
      cmocka_unit_test(any_event_fits),
  };
  return cmocka_run_group_tests_name("events", tests, fixture_set_up, fixture_tear_down);
}
