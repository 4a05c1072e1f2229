/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of trace.json, parsed back: one event a line, as the writer has them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/result/hotspots.h"
#include "tests/support/results.h"

/* Events of a timeline: bars, arrows, orders of lanes, and counters with a line a step. */
enum { SHOWN_MAX = 256 };

struct shown {
  char name[32], phase, core[32], lane[16], cat[32];
  uint64_t ts_ps, duration_ps, id;
};

static enum vinci_status chrome_of_all(const struct vinci_result *result, FILE *out,
                                       struct vinci_diag *diag) {
  struct timeline_choice all;
  assert_int_equal(timeline_choose(NULL, &all, diag), VINCI_OK);
  return export_chrome(result, &all, out, diag);
}

static uint64_t json_us(const char *line, const char *key) {
  const char *at = strstr(line, key);
  if (!at)
    return 0;
  uint64_t us, fraction;
  assert_int_equal(sscanf(at + strlen(key), "%" SCNu64 ".%6" SCNu64, &us, &fraction), 2);
  return us * 1000000 + fraction;
}

static size_t parse_timeline(const char *text, struct shown *shown, size_t size) {
  static const char head[] = "{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\","
                             "\"schemaVersion\":2,\"traceEvents\":[\n";
  assert_memory_equal(text, head, sizeof head - 1);
  size_t count = 0;
  for (const char *line = text + sizeof head - 1; *line == '{'; line = strchr(line, '\n') + 1) {
    assert_true(count < size);
    struct shown *event = &shown[count++];
    *event = (struct shown){0};
    assert_int_equal(sscanf(line,
                            "{\"name\":\"%31[^\"]\",\"ph\":\"%c\",\"pid\":\"%31[^\"]\",\"tid\":"
                            "\"%15[^\"]\"",
                            event->name, &event->phase, event->core, event->lane),
                     4);
    char *copy = strndup(line, strcspn(line, "\n"));
    event->ts_ps = json_us(copy, "\"ts\":");
    event->duration_ps = json_us(copy, "\"dur\":");
    const char *id = strstr(copy, "\"id\":\"");
    if (id)
      assert_int_equal(
          sscanf(id, "\"id\":\"%" SCNu64 "\",\"cat\":\"%31[^\"]", &event->id, event->cat), 2);
    free(copy);
  }
  return count;
}

static bool same_lane(const struct shown *a, const struct shown *b) {
  return strcmp(a->core, b->core) == 0 && strcmp(a->lane, b->lane) == 0;
}

static void timeline_lanes_do_not_overlap(void **state) {
  (void)state;
  struct shown shown[SHOWN_MAX];
  struct vinci_result *result = timeline_result();
  char *text = written(result, chrome_of_all);
  size_t count = parse_timeline(text, shown, SHOWN_MAX), bars = 0;
  uint64_t first_ps = UINT64_MAX;
  for (size_t i = 0; i < count; i++) {
    if (shown[i].phase != 'X')
      continue;
    bars++;
    first_ps = shown[i].ts_ps < first_ps ? shown[i].ts_ps : first_ps;
    for (size_t j = i + 1; j < count; j++)
      if (shown[j].phase == 'X' && same_lane(&shown[i], &shown[j]))
        assert_true(shown[j].ts_ps >= shown[i].ts_ps + shown[i].duration_ps ||
                    shown[j].duration_ps == 0);
  }
  assert_int_equal(bars, result->event_count);
  assert_int_equal(first_ps, 606); /* one cycle of 1650 MHz */
  free(text);
  vinci_result_free(result);
}

/* Bars of instructions add up to the time with at least one in flight, to the picosecond. */
static void timeline_bars_add_up_to_busy_time(void **state) {
  (void)state;
  struct shown shown[SHOWN_MAX];
  struct vinci_result *result = timeline_result();
  char *text = written(result, chrome_of_all);
  size_t count = parse_timeline(text, shown, SHOWN_MAX);
  struct clock_domain clock;
  clock_init(&clock, RUN_HZ);
  uint64_t mte2_ps = 0, vector_ps = 0, wait_ps = 0;
  for (size_t i = 0; i < count; i++) {
    if (shown[i].phase != 'X' || strcmp(shown[i].core, "core0.veccore0") != 0)
      continue;
    if (strcmp(shown[i].name, "copy_gm_to_ubuf") == 0)
      mte2_ps += shown[i].duration_ps;
    if (strcmp(shown[i].name, "vadd") == 0)
      vector_ps += shown[i].duration_ps;
    if (strcmp(shown[i].name, "wait_flag") == 0)
      wait_ps += shown[i].duration_ps;
  }
  assert_int_equal(mte2_ps, clock_edge_ps(&clock, 260) - clock_edge_ps(&clock, 100));
  assert_int_equal(vector_ps, clock_edge_ps(&clock, 240) - clock_edge_ps(&clock, 210));
  assert_int_equal(wait_ps, clock_edge_ps(&clock, 210) - clock_edge_ps(&clock, 50) +
                                clock_edge_ps(&clock, 305) - clock_edge_ps(&clock, 240));
  free(text);
  vinci_result_free(result);
}

/* Any schedule: a copy may end before an earlier one, waits and sets lie anywhere. */
static void random_lane(struct vinci_result *result, uint64_t seed, bool flags) {
  uint64_t start = 10;
  for (unsigned i = 0; i < 30; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    start += seed >> 60;
    uint64_t end = start + (seed >> 40 & 31);
    enum isa_op op = !flags || seed >> 33 & 1 ? OP_COPY_GM_TO_UBUF
                     : seed >> 34 & 1         ? OP_SET_FLAG
                                              : OP_WAIT_FLAG;
    add_event(result, 0, op, PIPE_MTE2, start, end, PIPE_V, 0);
  }
}

static void timeline_holds_for_any_schedule(void **state) {
  (void)state;
  struct shown shown[SHOWN_MAX];
  struct clock_domain clock;
  clock_init(&clock, RUN_HZ);
  for (uint64_t seed = 0; seed < 200; seed++) {
    struct vinci_result *result = timeline_result();
    bool flags = seed % 2;
    result->event_count = 0;
    random_lane(result, seed, flags);
    char *text = written(result, chrome_of_all);
    size_t count = parse_timeline(text, shown, SHOWN_MAX);
    uint64_t drawn_until = 0, drawn_ps = 0, busy_ps = 0, busy_until = 0;
    for (size_t i = 0; i < count; i++) {
      if (shown[i].phase != 'X' || shown[i].duration_ps == 0)
        continue;
      assert_true(shown[i].ts_ps >= drawn_until);
      drawn_until = shown[i].ts_ps + shown[i].duration_ps;
      drawn_ps += shown[i].duration_ps;
    }
    for (size_t i = 0; i < result->event_count; i++) {
      uint64_t start = result->events[i].start_cycle, end = result->events[i].end_cycle;
      start = start > busy_until ? start : busy_until;
      if (end > start) {
        busy_ps += clock_edge_ps(&clock, end) - clock_edge_ps(&clock, start);
        busy_until = end;
      }
    }
    if (!flags)
      assert_int_equal(drawn_ps, busy_ps);
    free(text);
    vinci_result_free(result);
  }
}

static void timeline_arrows_are_paired(void **state) {
  (void)state;
  struct shown shown[SHOWN_MAX];
  struct vinci_result *result = timeline_result();
  char *text = written(result, chrome_of_all);
  size_t count = parse_timeline(text, shown, SHOWN_MAX), starts = 0, ends = 0;
  for (size_t i = 0; i < count; i++) {
    starts += shown[i].phase == 's';
    ends += shown[i].phase == 't';
    if (shown[i].phase != 's')
      continue;
    const struct shown *to = &shown[i + 1];
    assert_int_equal(to->phase, 't');
    assert_int_equal(to->id, shown[i].id);
    assert_true(to->ts_ps >= shown[i].ts_ps);
    assert_string_equal(shown[i].cat, "MTE2ToVECTOR");
    assert_string_equal(shown[i].lane, "MTE2");
    assert_string_equal(to->lane, "VECTOR");
  }
  assert_int_equal(starts, 2); /* the set without a wait has none */
  assert_int_equal(ends, 2);
  free(text);
  vinci_result_free(result);
}

static void timeline_says_what_it_leaves_out(void **state) {
  (void)state;
  struct vinci_result *result = timeline_result();
  result->events_dropped = 5;
  char *text = written(result, chrome_of_all);
  assert_non_null(strstr(text, ",\"otherData\":{\"soc\":\"AscendTest\","
                               "\"first_event_us_after_launch\":0.030303,\"partial\":false,"
                               "\"events\":10,\"events_dropped\":5,\"note\":\"only the first "
                               "instructions of each core were recorded\"}}\n"));
  assert_non_null(
      strstr(text, "\"args\":{\"code\":\"add.csv:10\",\"detail\":\"MTE2 to V, id 3\","));
  assert_non_null(strstr(text, "\"tid\":\"MTE2\",\"args\":{\"sort_index\":6}}"));
  free(text);
  vinci_result_free(result);
}

/* Worked out by hand from the picture of timeline_result(): the chain goes from the end of the
 * third copy, 260, back to its start, then along the other two to cycle 100. */
static void hotspots_add_up(void **state) {
  (void)state;
  struct vinci_result *result = timeline_result();
  struct vinci_diag diag = {0};
  struct hotspots hotspots;
  result->events[5].bank_cycles = 7;
  result->events[5].queued_cycles = 11;
  result->events[9].queued_cycles = 2;
  assert_int_equal(hotspots_find(result, &hotspots, &diag), VINCI_OK);
  static const struct hotspot expected[] = {
      {.op = OP_COPY_GM_TO_UBUF,
       .pipe = PIPE_MTE2,
       .count = 3,
       .cycles = 280,
       .critical_cycles = 120 + 20 + 20},
      {.op = OP_WAIT_FLAG, .pipe = PIPE_V, .count = 2, .cycles = 235},
      {.op = OP_SET_FLAG, .pipe = PIPE_MTE2, .count = 2, .cycles = 70},
      {.op = OP_VADD,
       .pipe = PIPE_V,
       .count = 2,
       .cycles = 35,
       .bank_cycles = 7,
       .queued_cycles = 13},
      {.op = OP_SET_FLAG, .pipe = PIPE_V, .count = 1},
  };
  assert_int_equal(hotspots.count, sizeof expected / sizeof *expected);
  assert_int_equal(hotspots.core, 0);
  for (size_t i = 0; i < hotspots.count; i++) {
    const struct hotspot *row = &hotspots.rows[i];
    assert_int_equal(row->line, 10);
    assert_int_equal(row->op, expected[i].op);
    assert_int_equal(row->pipe, expected[i].pipe);
    assert_int_equal(row->count, expected[i].count);
    assert_int_equal(row->cycles, expected[i].cycles);
    assert_int_equal(row->critical_cycles, expected[i].critical_cycles);
    assert_int_equal(row->bank_cycles, expected[i].bank_cycles);
    assert_int_equal(row->queued_cycles, expected[i].queued_cycles);
    assert_int_equal(row->bytes, 64 * expected[i].count);
  }
  assert_int_equal(hotspots.rows[1].stall_cycles[STALL_WAIT_FLAG], 235);
  hotspots_free(&hotspots);
  vinci_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(timeline_lanes_do_not_overlap),
      cmocka_unit_test(timeline_bars_add_up_to_busy_time),
      cmocka_unit_test(timeline_holds_for_any_schedule),
      cmocka_unit_test(timeline_arrows_are_paired),
      cmocka_unit_test(timeline_says_what_it_leaves_out),
      cmocka_unit_test(hotspots_add_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
