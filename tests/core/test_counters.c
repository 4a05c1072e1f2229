/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the table of counters: sums, names, and the pages that name counters. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/energy.h"
#include "core/result/metrics.h"
#include "tests/support/results.h"

static void parts_join_as_the_kind_says(void **state) {
  (void)state;
  const struct counter sum = {.offset = offsetof(struct hbm_totals, row_hits), .kind = KIND_SUM};
  const struct counter most = {.offset = offsetof(struct hbm_totals, row_misses),
                               .kind = KIND_MAXIMUM};
  struct hbm_totals whole = {0};
  static const struct hbm_totals parts[] = {{.row_hits = 3, .row_misses = 5},
                                            {.row_hits = 4, .row_misses = 2}};
  for (unsigned i = 0; i < 2; i++) {
    counter_join(&sum, &whole, &parts[i]);
    counter_join(&most, &whole, &parts[i]);
  }
  assert_int_equal(whole.row_hits, 3 + 4);
  assert_int_equal(whole.row_misses, 5);
}

/* Every path and type has a number of its own; the whole has three times as many, two of them at
 * once. */
static void sums_of_cores_have_every_path_and_type(void **state) {
  (void)state;
  struct core_result core = {0}, twice = {0}, sum = {0};
  for (unsigned path = 0; path < PATH_COUNT; path++) {
    core.path_bytes[path] = 1000 + path;
    core.path_instructions[path] = 2000 + path;
  }
  for (unsigned type = 0; type < DTYPE_COUNT; type++) {
    core.cube.busy_cycles[type] = 3000 + type;
    core.cube.instructions[type] = 4000 + type;
    core.vector.busy_cycles[type] = 5000 + type;
    core.vector.instructions[type] = 6000 + type;
  }
  counters_add_core(&twice, &core);
  counters_add_core(&twice, &core);
  counters_add_core(&sum, &core);
  counters_add_core(&sum, &twice);
  for (unsigned path = 0; path < PATH_COUNT; path++) {
    assert_int_equal(sum.path_bytes[path], 3 * (1000 + path));
    assert_int_equal(sum.path_instructions[path], 3 * (2000 + path));
  }
  for (unsigned type = 0; type < DTYPE_COUNT; type++) {
    assert_int_equal(sum.cube.busy_cycles[type], 3 * (3000 + type));
    assert_int_equal(sum.cube.instructions[type], 3 * (4000 + type));
    assert_int_equal(sum.vector.busy_cycles[type], 3 * (5000 + type));
    assert_int_equal(sum.vector.instructions[type], 3 * (6000 + type));
  }
}

static void set_counters(enum counter_group group, void *part) {
  const struct counter *row = NULL;
  for (uint64_t value = 1; (row = counter_next(row, group)); value++)
    *(uint64_t *)((char *)part + row->offset) = value;
}

/* Every field of a core is in its sum: a core added twice has twice of each. */
static void sums_of_cores_have_every_counter(void **state) {
  (void)state;
  struct vinci_result *result = mixed_result();
  set_counters(GROUP_L2, &result->cores[0].l2);
  set_counters(GROUP_CORE, &result->cores[0]);
  const struct core_result *core = &result->cores[0];
  struct core_result sum = {0};
  counters_add_core(&sum, core);
  counters_add_core(&sum, core);
  static const enum counter_group groups[] = {GROUP_CORE, GROUP_PATH, GROUP_L2};
  for (unsigned g = 0; g < sizeof groups / sizeof *groups; g++) {
    bool l2 = groups[g] == GROUP_L2;
    const struct counter *row = NULL;
    while ((row = counter_next(row, groups[g])))
      assert_int_equal(counter_value(row, l2 ? (void *)&sum.l2 : (void *)&sum),
                       2 * counter_value(row, l2 ? (const void *)&core->l2 : (const void *)core));
  }
  assert_int_equal(sum.path_bytes[PATH_L0C_GM], 2 << 15);
  assert_int_equal(sum.pipe[PIPE_M].stall_cycles[STALL_WAIT_FLAG], 200);
  assert_int_equal(sum.pipe[PIPE_FIX].busy_cycles, 2 * 1650);
  assert_int_equal(sum.cube.instructions[DTYPE_INT8], 4);
  vinci_result_free(result);
}

static const struct metric *find(const struct metric_list *list, const char *name) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->item[i].name, name) == 0)
      return &list->item[i];
  fail_msg("no metric %s", name);
  return NULL;
}

static void metrics_have_their_values(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint64_t value;
  } wanted[] = {
      {"total_cycles", RUN_CYCLES},
      {"duration_ps", 10000000},
      {"blocks", 2},
      {"pipe.V.wait_flag_cycles", 2 * 3300},
      {"pipe.V.total_cycles", 2 * RUN_CYCLES},
      {"utilization.V", 600000},
      {"vector.bank_conflict_cycles", 11},
      {"bytes.GM_UB", 2 << 20},
      {"bytes.gm_write", 2 << 19},
      {"l2.writebacks", 100},
      {"l2.hit_rate", 500000},
      {"hbm.write_bytes", 12800},
      {"noc.max_link_ppm", 123400},
  };
  struct metric_list list;
  struct vinci_result *result = vector_result();
  result->cores[0].vector_bank_cycles = 4;
  result->cores[1].vector_bank_cycles = 7;
  metrics_collect(result, &list);
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
    assert_int_equal(find(&list, wanted[i].name)->value, wanted[i].value);
  assert_true(find(&list, "pipe.M.busy_cycles")->unused);
  assert_false(find(&list, "pipe.V.busy_cycles")->unused);
  vinci_result_free(result);
}

static void names_are_the_same_without_a_result(void **state) {
  (void)state;
  struct metric_list list, names;
  struct vinci_result *result = vector_result();
  metrics_collect(result, &list);
  metrics_collect(NULL, &names);
  assert_int_equal(list.count, names.count);
  for (size_t i = 0; i < list.count; i++) {
    assert_string_equal(list.item[i].name, names.item[i].name);
    assert_ptr_equal(counter_find(list.item[i].name), list.item[i].counter);
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(list.item[k].name, list.item[i].name);
  }
  vinci_result_free(result);
}

static void names_tell_unit_and_direction(void **state) {
  (void)state;
  assert_int_equal(metric_better("l2.read_misses"), METRIC_LOWER);
  assert_int_equal(metric_better("l2.read_hits"), METRIC_NEUTRAL);
  assert_int_equal(metric_better("pipe.MTE2.idle_cycles"), METRIC_NEUTRAL);
  assert_int_equal(metric_better("bytes.L0C_GM"), METRIC_LOWER);
  assert_int_equal(metric_better("no_such_misses"), METRIC_NEUTRAL);
  assert_string_equal(metric_unit("pipe.MTE2.unit_flag_cycles"), "cycle");
  assert_string_equal(metric_unit("utilization.M"), "ppm");
  assert_string_equal(metric_unit("hbm.read_bytes"), "byte");
  assert_string_equal(metric_unit("critical.M.mmad.count"), "1");
  assert_null(counter_find("pipe.M"));
  assert_null(counter_find("pipe..busy_cycles"));
  assert_null(counter_find("l2.read_hits.more"));
}

/* The words of a phrase on both sides of its number. */
static bool says(const char *report, const char *phrase) {
  char before[80];
  const char *number = strchr(phrase, '#');
  if (!number)
    return strstr(report, phrase) != NULL;
  snprintf(before, sizeof before, "%.*s", (int)(number - phrase), phrase);
  return strstr(report, before) && strstr(report, number + 1);
}

/* No row promises a place that the writers do not have. */
static void rows_stand_where_they_say(void **state) {
  (void)state;
  size_t count;
  struct vinci_result *result = vector_result();
  char *json = written(result, vinci_result_write_json);
  char *report = written(result, vinci_result_write_text);
  const struct counter *rows = counter_rows(&count);
  for (size_t i = 0; i < count; i++) {
    const struct counter *row = &rows[i];
    char key[80];
    snprintf(key, sizeof key, "\"%s\": ", row->group == GROUP_PATH ? "bytes" : counter_key(row));
    if ((row->places & IN_SUMMARY && !strstr(json, key)) || !says(report, row->report))
      fail_msg("%s does not stand where its row says", row->name);
  }
  free(json);
  free(report);
  vinci_result_free(result);
}

/* Scripts rely on the keys; tests/traces/test_export.c takes them from the list. */
static void stalls_keep_their_keys(void **state) {
  (void)state;
  static const struct {
    enum stall stall;
    const char *key, *text;
  } known[] = {
      {STALL_WAIT_FLAG, "wait_flag", "waits for a flag of another pipe"},
      {STALL_BARRIER, "pipe_barrier", "drains for a barrier"},
      {STALL_CROSS_CORE, "cross_core", "waits for a flag of another core"},
      {STALL_CODE, "code_fetch", "the scalar unit waits for code of the kernel"},
      {STALL_QUEUE_FULL, "queue_full", "the scalar unit finds an issue queue full"},
      {STALL_UNIT_FLAG, "unit_flag",
       "waits for L0C blocks that mad or the fixpipe has not handed over"},
  };
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
    assert_string_equal(stall_key(known[i].stall), known[i].key);
    assert_string_equal(stall_text(known[i].stall), known[i].text);
  }
}

/* ---- pages -------------------------------------------------------------------------------- */

static bool same_family(const char *name, const char *word) {
  size_t family = strcspn(name, ".");
  return name[family] == '.' && strncmp(name, word, family + 1) == 0;
}

/* A word such as l2.read_hits is a counter or a number of the chip. */
static void check_word(const char *page, const char *word) {
  size_t count;
  bool counts = false, known = soc_param_find(word) < soc_param_count() || counter_find(word) ||
                               soc_name_by_key(word) != SOC_NAME_COUNT;
  const struct counter *rows = counter_rows(&count);
  if (strncmp(word, "energy.", strlen("energy.")) == 0)
    known |= energy_find(word + strlen("energy.")) < ENERGY_NUMBERS;
  for (size_t i = 0; i < count; i++) {
    counts |= same_family(rows[i].name, word);
    known |= strcmp(rows[i].printed, word) == 0;
  }
  if (counts && !known)
    fail_msg("%s names %s, which no counter and no number of a chip is called", page, word);
}

static void pages_name_counters_that_exist(void **state) {
  (void)state;
  static const char *const pages[] = {"cli/vinci.1", "scripts/LUA.md", "traces/FORMAT.md",
                                      "README.md"};
  const char *root = getenv("TESTS_SRCDIR");
  for (unsigned p = 0; p < sizeof pages / sizeof *pages; p++) {
    char path[4096], word[128];
    size_t length = 0;
    int c;
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", pages[p]);
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    do {
      c = fgetc(page);
      if (c != EOF && (isalnum(c) || c == '_' || c == '.') && length + 1 < sizeof word) {
        word[length++] = (char)c;
        continue;
      }
      while (length > 0 && word[length - 1] == '.')
        length--;
      word[length] = '\0';
      check_word(pages[p], word);
      length = 0;
    } while (c != EOF);
    fclose(page);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_join_as_the_kind_says),
      cmocka_unit_test(sums_of_cores_have_every_counter),
      cmocka_unit_test(sums_of_cores_have_every_path_and_type),
      cmocka_unit_test(metrics_have_their_values),
      cmocka_unit_test(names_are_the_same_without_a_result),
      cmocka_unit_test(names_tell_unit_and_direction),
      cmocka_unit_test(rows_stand_where_they_say),
      cmocka_unit_test(stalls_keep_their_keys),
      cmocka_unit_test(pages_name_counters_that_exist),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
