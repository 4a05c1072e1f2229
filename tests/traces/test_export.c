/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the writers of results: summary, report, result folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/export_golden.h"
#include "tests/support/results.h"

/* One of the words of tests/support/export_golden.h. */
static void write_causes(FILE *out, const char *pipe_and_value) {
  unsigned pipe = 0;
  const char *separator = "", *value = strchr(pipe_and_value, ' ') + 1;
  while (
      strncmp(pipe_name((enum pipe)pipe), pipe_and_value, (size_t)(value - pipe_and_value - 1)) ||
      pipe_name((enum pipe)pipe)[value - pipe_and_value - 1])
    pipe++;
  for (unsigned i = 0; i < CAUSE_COUNT; i++) {
    if (!cause_is_of((enum cause)i, (enum pipe)pipe))
      continue;
    fprintf(out, "%s\"%s\": %s", separator, cause_row((enum cause)i)->key,
            i + 1 == CAUSE_COUNT ? value : "0");
    separator = ", ";
  }
}

static void write_word(FILE *out, const char *word) {
  if (strncmp(word, "reasons ", strlen("reasons ")) == 0) {
    write_causes(out, strchr(word, ' ') + 1);
    return;
  }
  const char *value = strchr(word, ' ');
  for (unsigned i = 0; i < STALL_COUNT; i++) {
    const char *key = stall_key((enum stall)i), *first = i == 0 && value ? value + 1 : NULL;
    size_t widest = strlen(i == 0 ? "20.0 %" : "0.0 %"); /* of the cells below the name */
    int width = (int)(strlen(key) < widest ? widest : strlen(key));
    if (*word == 's')
      fprintf(out, "%s\"%s\": %s", i ? ", " : "", key, first ? first : "0");
    else if (*word == 'h')
      fprintf(out, "  %*s", width, key);
    else if (*word == 'c')
      fprintf(out, "  %*s", width, first ? first : "0.0 %");
    else
      fprintf(out, "%s  %-13s %s", i ? "\n" : "", key, stall_text((enum stall)i));
  }
}

static char *expanded(const char *const *lines, size_t count) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  for (size_t i = 0; i < count; i++) {
    char *line = strdup(lines[i]), *rest = line, *part;
    for (bool word = false; (part = strsep(&rest, "$")); word = !word)
      word ? write_word(out, part) : (void)fputs(part, out);
    fputc('\n', out);
    free(line);
  }
  assert_int_equal(fclose(out), 0);
  return text;
}

static void check_lines(const char *text, const char *const *lines, size_t count) {
  char *wanted = expanded(lines, count), *rest = wanted;
  while (*rest) {
    char *line = strndup(text, strcspn(text, "\n"));
    assert_string_equal(line, strsep(&rest, "\n"));
    free(line);
    text = strchr(text, '\n') + 1;
  }
  assert_string_equal(text, "");
  free(wanted);
}

/* ---- decimals, JSON ------------------------------------------------------------------ */

static void decimals_round_half_up(void **state) {
  (void)state;
  assert_string_equal(decimal_ratio(1, 3, 6).text, "0.333333");
  assert_string_equal(decimal_ratio(2, 3, 6).text, "0.666667");
  assert_string_equal(decimal_ratio(1, 2, 0).text, "1");
  assert_string_equal(decimal_ratio(999, 1000, 1).text, "1.0");
  assert_string_equal(decimal_ratio(12345, 10, 3).text, "1234.500");
  assert_string_equal(decimal_ratio(5, 0, 2).text, "0.00");
  uint128 large = (uint128)UINT64_MAX * UINT64_MAX;
  assert_string_equal(decimal_ratio(large, large, 6).text, "1.000000");
  assert_string_equal(decimal_exact(1378090000, 6).text, "1378.09");
  assert_string_equal(decimal_exact(1, 6).text, "0.000001");
  assert_string_equal(decimal_exact(2000000, 6).text, "2.0");
  assert_string_equal(decimal_exact(0, 6).text, "0.0");
  assert_string_equal(decimal_exact(UINT64_MAX, 0).text, "18446744073709551615");
}

static void json_text_is_escaped(void **state) {
  (void)state;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  json_string(out, "a\"b\\c\n\x01 \xc3\xa9 \xff\xc3 \xed\xa0\x80");
  fclose(out);
  assert_string_equal(text, "\"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9 \\ufffd\\ufffd "
                            "\\ufffd\\ufffd\\ufffd\"");
  free(text);
}

/* ---- summary and report ----------------------------------------------------------------- */

static void summary_is_exact(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  result->core_count = 1;
  char *text = written(result, vinci_result_write_json);
  enum { LINES = sizeof golden_summary / sizeof *golden_summary };
  const char *lines[LINES];
  char host[300];
  memcpy(lines, golden_summary, sizeof lines);
  snprintf(host, sizeof host,
           "  \"host\": {\"version\": \"%s\", \"commit\": \"%s\", \"cpu_seconds\": 0.25, "
           "\"peak_rss_bytes\": 16777216, \"executed_instructions\": 256}",
           vinci_version(), vinci_commit());
  lines[LINES - 2] = host;
  check_lines(text, lines, LINES);
  free(text);
  vinci_result_free(result);
}

/* Each core has all pipes and each pipe accounts for the core's whole time. */
static void summary_has_all_pipes_of_all_cores(void **state) {
  (void)state;
  struct vinci_result *result = mixed_result();
  char *text = written(result, vinci_result_write_json);
  unsigned count = 0;
  for (const char *at = text; (at = strstr(at, "{\"busy_cycles\": ")); count++) {
    const char *end = strstr(at, ", \"instructions\": ");
    uint64_t sum = 0;
    unsigned fields = 0;
    assert_non_null(end);
    for (const char *value = at; (value = strstr(value, ": ")) < end; value++) {
      bool number = value[2] != '{';
      sum += number ? strtoull(value + 2, NULL, 10) : 0;
      fields += number;
    }
    assert_int_equal(fields, STALL_COUNT + 2); /* busy and idle */
    uint64_t cores = count < 3 * PIPE_COUNT ? 1 : 3;
    assert_int_equal(sum, cores * RUN_CYCLES);
    at++;
  }
  assert_int_equal(count, 4 * PIPE_COUNT);
  free(text);
  vinci_result_free(result);
}

/* Cores of another clock account for the time of their own; sums add what cores say. */
static void summary_tells_the_clock_of_each_core(void **state) {
  (void)state;
  struct vinci_result *result = new_result(2);
  idle_core(&result->cores[0], CORE_AICORE, 0, 0);
  idle_core(&result->cores[1], CORE_AIV, 0, 0);
  result->cores[1].hz = RUN_HZ / 3 * 2;
  result->cores[1].total_cycles = RUN_CYCLES / 3 * 2;
  result->cores[1].pipe[PIPE_V].idle_cycles = RUN_CYCLES / 3 * 2;
  char *text = written(result, vinci_result_write_json);
  assert_non_null(strstr(text, "\"total_cycles\": 16500,\n  \"duration_us\""));
  assert_non_null(strstr(text, "veccore0\",\n      \"clock_hz\": 1100000000,\n"
                               "      \"total_cycles\": 11000,\n"));
  const char *sums = strstr(text, "\n  \"pipes\": {");
  assert_non_null(sums);
  const char *vector = strstr(sums, "    \"V\": {"), *cube = strstr(sums, "    \"M\": {");
  assert_ptr_equal(strstr(vector, "\"idle_cycles\": 27500, \"instructions\": 0, "),
                   strstr(vector, "\"idle_cycles\""));
  assert_ptr_equal(strstr(vector, "\"total_cycles\": 27500, \"utilization\""),
                   strstr(vector, "\"total_cycles\""));
  assert_ptr_equal(strstr(cube, "\"idle_cycles\": 27500, \"instructions\": 0, "),
                   strstr(cube, "\"idle_cycles\""));
  assert_ptr_equal(strstr(cube, "\"total_cycles\": 27500, \"utilization\""),
                   strstr(cube, "\"total_cycles\""));
  free(text);
  vinci_result_free(result);
}

static void report_is_exact(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  char *text = written(result, vinci_result_write_text);
  check_lines(text, golden_report, sizeof golden_report / sizeof *golden_report);
  free(text);
  vinci_result_free(result);
}

static void report_says_what_is_missing(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  result->partial = true;
  result->partial_reason = "the limit of 16500 cycles was reached";
  result->event_count = 0;
  result->events_dropped = 7;
  char *text = written(result, vinci_result_write_text);
  assert_non_null(strstr(text, "latency bound, PARTIAL\n"));
  assert_non_null(strstr(text, "PARTIAL   the limit of 16500 cycles was reached; "
                               "all numbers are up to that point\n"));
  assert_non_null(strstr(text, "Timeline  holds 0 instructions, the first of each core; 7 later "
                               "ones are not in it (--timeline-events)\n"));
  free(text);
  vinci_result_free(result);
}

static void report_says_how_rows_and_links_fared(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  char *text = written(result, vinci_result_write_text);
  assert_null(strstr(text, "row hits"));
  assert_null(strstr(text, "packet level"));
  assert_null(strstr(text, "Waits"));
  free(text);
  result->hbm.row_hits = 875;
  result->hbm.row_misses = 125;
  result->noc_past_model = result->waits_left_out = true;
  text = written(result, vinci_result_write_text);
  assert_non_null(strstr(text, " of the 800.0 GB/s peak, 87.5 % row hits\n"));
  assert_non_null(strstr(text, "\nNetwork   the busiest link is loaded past 60 %, where the packet "
                               "level is optimistic; use --network=flit\n"));
  assert_non_null(strstr(text,
                         "\nWaits     scalar code waits for other cores through memory (dcci); "
                         "the time of these waits is left out\n"));
  free(text);
  text = written(result, vinci_result_write_json);
  assert_non_null(strstr(text, "\"past_model\": true,"));
  assert_non_null(strstr(text, "\"waits_left_out\": true,"));
  free(text);
  vinci_result_free(result);
}

static void report_does_not_list_many_cores(void **state) {
  (void)state;
  struct vinci_result *result = new_result(24);
  for (uint32_t i = 0; i < 24; i++)
    vector_core(&result->cores[i], i / 2, i % 2, i);
  result->cores[23].active_cycles = 16500;
  char *text = written(result, vinci_result_write_text);
  assert_non_null(strstr(text, "\n  core3.veccore1 "));
  assert_null(strstr(text, "\n  core4.veccore0 "));
  assert_non_null(strstr(text, "\n  ... 16 more, active 80.0 to 100.0 % of the time\n"));
  free(text);
  vinci_result_free(result);
}

static void report_says_that_blocks_are_summed(void **state) {
  (void)state;
  static const char note[] = "  The blocks of a core are summed, here and in the CSV tables, whose "
                             "block_id is the first of them.\n";
  struct vinci_result *result = vector_result();
  char *text = written(result, vinci_result_write_text);
  assert_null(strstr(text, note));
  free(text);
  result->cores[1].blocks_run = 2;
  text = written(result, vinci_result_write_text);
  assert_non_null(strstr(text, note));
  free(text);
  vinci_result_free(result);
}

static void failed_writes_are_reported(void **state) {
  (void)state;
  FILE *full = fopen("/dev/full", "w");
  if (!full)
    skip();
  struct vinci_result *result = vector_result();
  struct vinci_diag diag = {0};
  assert_int_equal(vinci_result_write_json(result, full, &diag), VINCI_E_IO);
  assert_string_equal(diag.text, "cannot write the summary: No space left on device");
  fclose(full);
  vinci_result_free(result);
}

/* ---- folder --------------------------------------------------------------------------------- */

static void folder_is_complete(void **state) {
  (void)state;
  static const char *const names[] = {"summary.json",
                                      "PipeUtilization.csv",
                                      "Memory.csv",
                                      "MemoryL0.csv",
                                      "MemoryUB.csv",
                                      "L2Cache.csv",
                                      "hotspots.csv",
                                      "critical.csv",
                                      "report.json",
                                      "slices.json",
                                      "trace.pftrace",
                                      "OpBasicInfo.csv",
                                      "ArithmeticUtilization.csv",
                                      "ResourceConflictRatio.csv"};
  char parent[] = "test_export.XXXXXX", folder[64], path[128];
  assert_non_null(mkdtemp(parent));
  snprintf(folder, sizeof folder, "%s/a/b/", parent);
  struct vinci_result *result = timeline_result();
  struct vinci_diag diag = {0};
  assert_int_equal(vinci_result_write_folder(result, folder, &diag), VINCI_OK);
  assert_int_equal(vinci_result_write_folder(result, folder, &diag), VINCI_OK); /* replaces */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct stat info;
    snprintf(path, sizeof path, "%s%s", folder, names[i]);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 0);
    if (i == 0) { /* a folder cannot be made where a file lies */
      assert_int_equal(vinci_result_write_folder(result, path, &diag), VINCI_E_IO);
      assert_string_equal(diag.path, path);
      assert_string_equal(diag.text, "cannot make the folder: Not a directory");
    }
    assert_int_equal(remove(path), 0);
  }
  assert_int_equal(rmdir(folder), 0); /* nothing else was left */
  snprintf(folder, sizeof folder, "%s/a", parent);
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(rmdir(parent), 0);
  vinci_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decimals_round_half_up),
      cmocka_unit_test(json_text_is_escaped),
      cmocka_unit_test(summary_is_exact),
      cmocka_unit_test(summary_has_all_pipes_of_all_cores),
      cmocka_unit_test(summary_tells_the_clock_of_each_core),
      cmocka_unit_test(report_is_exact),
      cmocka_unit_test(report_says_what_is_missing),
      cmocka_unit_test(report_says_how_rows_and_links_fared),
      cmocka_unit_test(report_does_not_list_many_cores),
      cmocka_unit_test(failed_writes_are_reported),
      cmocka_unit_test(report_says_that_blocks_are_summed),
      cmocka_unit_test(folder_is_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
