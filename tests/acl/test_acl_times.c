/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of the host, of streams, events and copies of AscendCL, on a chip whose numbers are
 * round: each time is worked out by hand. All times are in microseconds, as differences of two
 * events, the first of which is recorded when the device has nothing to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "include/acl/acl.h"

/* To the device a byte in a nanosecond, two to the host, eight in device memory. */
static const char numbers[] =
    "host.copy=2us host.write_bandwidth=1GB/s host.read_bandwidth=2GB/s hbm.bandwidth=8GB/s "
    "host.copy_call=0ns host.copy_wait=7us host.record_call=0ns host.stream_wait_call=0ns";

enum { BYTES = 1000000, COPY = 2, WAIT = 7, UP = 1000, DOWN = 500, INSIDE = 250, FILL = 125 };

struct place {
  void *a, *b;
  char *host;
  aclrtStream one, two;
  aclrtEvent begin;
};

static void ok(aclError error) { assert_int_equal(error, ACL_SUCCESS); }

static int set_up(void **state) {
  static struct place place;
  setenv("VINCI_SOC", "Ascend910B4", 1);
  setenv("VINCI_SET", numbers, 1);
  setenv("VINCI_MEMORY", "flat", 1);
  setenv("VINCI_REPORT", "0", 1);
  ok(aclInit(NULL));
  ok(aclrtSetDevice(0));
  ok(aclrtMalloc(&place.a, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtMalloc(&place.b, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  place.host = calloc(1, BYTES);
  ok(aclrtCreateStream(&place.one));
  ok(aclrtCreateStream(&place.two));
  *state = &place;
  return place.host ? 0 : -1;
}

static int tear_down(void **state) {
  struct place *place = *state;
  ok(aclrtFree(place->a));
  ok(aclrtFree(place->b));
  ok(aclrtDestroyStream(place->one));
  ok(aclrtDestroyStream(place->two));
  free(place->host);
  return aclFinalize() == ACL_SUCCESS ? 0 : -1;
}

/* All is done; from here on times count. */
static struct place *begin(void **state) {
  struct place *place = *state;
  ok(aclrtSynchronizeDevice());
  ok(aclrtCreateEvent(&place->begin));
  ok(aclrtRecordEvent(place->begin, place->one));
  return place;
}

/* When a stream comes to this point. */
static double at(const struct place *place, aclrtStream stream) {
  aclrtEvent end;
  float milliseconds = -1;
  ok(aclrtCreateEvent(&end));
  ok(aclrtRecordEvent(end, stream));
  ok(aclrtEventElapsedTime(&milliseconds, place->begin, end));
  ok(aclrtDestroyEvent(end));
  return (double)milliseconds * 1000;
}

static void is(double found, double wanted) {
  if (found < wanted - 0.01 || found > wanted + 0.01)
    fail_msg("%g us, not %g", found, wanted);
}

static void up(const struct place *place, aclrtStream stream) {
  ok(aclrtMemcpyAsync(place->a, BYTES, place->host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

static void each_way_has_its_rate(void **state) {
  struct place *place = begin(state);
  double wanted = COPY + UP;
  up(place, place->one);
  is(at(place, place->one), wanted);
  ok(aclrtMemcpyAsync(place->host, BYTES, place->a, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, place->one));
  is(at(place, place->one), wanted += COPY + DOWN);
  /* Each byte is read and written. */
  ok(aclrtMemcpyAsync(place->b, BYTES, place->a, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, place->one));
  is(at(place, place->one), wanted += COPY + INSIDE);
  ok(aclrtMemsetAsync(place->b, BYTES, 1, BYTES, place->one));
  is(at(place, place->one), wanted += COPY + FILL);
  /* By the addresses. */
  ok(aclrtMemcpyAsync(place->host, BYTES, place->a, BYTES, ACL_MEMCPY_DEFAULT, place->one));
  is(at(place, place->one), wanted + COPY + DOWN);
}

static void copies_of_two_streams_take_turns(void **state) {
  struct place *place = begin(state);
  up(place, place->one);
  up(place, place->two);
  is(at(place, place->one), COPY + UP);
  is(at(place, place->two), 2 * (COPY + UP));
}

static void a_stream_waits_for_a_record_and_for_nothing_else(void **state) {
  struct place *place = begin(state);
  aclrtEvent event, never;
  ok(aclrtCreateEvent(&event));
  ok(aclrtCreateEvent(&never));
  up(place, place->one);
  ok(aclrtStreamWaitEvent(place->two, never)); /* was not recorded */
  is(at(place, place->two), 0);
  ok(aclrtRecordEvent(event, place->one));
  up(place, place->one); /* behind the record */
  ok(aclrtStreamWaitEvent(place->two, event));
  is(at(place, place->two), COPY + UP);
  ok(aclrtStreamWaitEvent(place->one, event)); /* long past there */
  is(at(place, place->one), 2 * (COPY + UP));
  ok(aclrtResetEvent(event, place->two));
  ok(aclrtDestroyEvent(event));
  ok(aclrtDestroyEvent(never));
}

static bool is_done(aclrtStream stream) {
  aclrtStreamStatus status;
  ok(aclrtStreamQuery(stream, &status));
  return status == ACL_STREAM_STATUS_COMPLETE;
}

static bool is_past(aclrtEvent event) {
  aclrtEventStatus status;
  ok(aclrtQueryEvent(event, &status));
  return status == ACL_EVENT_STATUS_COMPLETE;
}

/* A copy in a stream does not hold the host up; whoever waits for the stream is later. */
static void the_host_is_late_only_when_waiting(void **state) {
  struct place *place = begin(state);
  aclrtEvent event;
  ok(aclrtCreateEvent(&event));
  up(place, place->one);
  ok(aclrtRecordEvent(event, place->one));
  up(place, place->one);
  assert_false(is_done(place->one));
  assert_false(is_past(event));
  is(at(place, place->two), 0); /* nothing to do: the host's time */
  ok(aclrtSynchronizeEvent(event));
  assert_true(is_past(event));
  assert_false(is_done(place->one));
  is(at(place, place->two), COPY + UP);
  ok(aclrtSynchronizeStream(place->one));
  assert_true(is_done(place->one));
  is(at(place, place->two), 2 * (COPY + UP));
  up(place, place->one);
  ok(aclrtSynchronizeDevice());
  is(at(place, place->two), 3 * (COPY + UP));
  ok(aclrtDestroyEvent(event));
}

static void the_host_waits_for_its_own_copies(void **state) {
  struct place *place = begin(state);
  ok(aclrtMemcpy(place->a, BYTES, place->host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
  is(at(place, place->two), COPY + UP + WAIT);
  ok(aclrtMemset(place->a, BYTES, 0, BYTES / 2));
  is(at(place, place->two), COPY + UP + WAIT + COPY + FILL / 2.0 + WAIT);
}

/* Rows of a copy count without what lies between them. */
static void rows_count_without_gaps(void **state) {
  struct place *place = begin(state);
  ok(aclrtMemcpy2d(place->a, 1000, place->host, 1000, 100, 1000, ACL_MEMCPY_HOST_TO_DEVICE));
  is(at(place, place->two), COPY + UP / 10.0 + WAIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_way_has_its_rate),
      cmocka_unit_test(copies_of_two_streams_take_turns),
      cmocka_unit_test(a_stream_waits_for_a_record_and_for_nothing_else),
      cmocka_unit_test(the_host_is_late_only_when_waiting),
      cmocka_unit_test(the_host_waits_for_its_own_copies),
      cmocka_unit_test(rows_count_without_gaps),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
