/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the writers of results: summary, report, the vendor's tables, result folder. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/export_golden.h"
#include "tests/export_headers.h"
#include "tests/results.h"

static void check_lines(const char *text, const char *const *lines, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *line = strndup(text, strcspn(text, "\n"));
    assert_string_equal(line, lines[i]);
    free(line);
    text = strchr(text, '\n') + 1;
  }
  assert_string_equal(text, "");
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
  check_lines(text, golden_summary, sizeof golden_summary / sizeof *golden_summary);
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
    uint64_t busy, wait, barrier, cross, queue, idle;
    int fields = sscanf(at,
                        "{\"busy_cycles\": %" SCNu64 ", \"stall_cycles\": {\"wait_flag\": %" SCNu64
                        ", \"pipe_barrier\": %" SCNu64 ", \"cross_core\": %" SCNu64
                        ", \"queue_full\": %" SCNu64 "}, \"idle_cycles\": %" SCNu64,
                        &busy, &wait, &barrier, &cross, &queue, &idle);
    assert_int_equal(fields, 6);
    uint64_t cores = count < 3 * PIPE_COUNT ? 1 : 3;
    assert_int_equal(busy + wait + barrier + cross + queue + idle, cores * RUN_CYCLES);
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
  assert_ptr_equal(strstr(vector, "\"idle_cycles\": 27500, \"instructions\": 0, "
                                  "\"total_cycles\": 27500, \"utilization\""),
                   strstr(vector, "\"idle_cycles\""));
  assert_ptr_equal(strstr(cube, "\"idle_cycles\": 27500, \"instructions\": 0, "
                                "\"total_cycles\": 27500, \"utilization\""),
                   strstr(cube, "\"idle_cycles\""));
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
  free(text);
  result->hbm.row_hits = 875;
  result->hbm.row_misses = 125;
  result->noc_past_model = true;
  text = written(result, vinci_result_write_text);
  assert_non_null(strstr(text, " of the 800.0 GB/s peak, 87.5 % row hits\n"));
  assert_non_null(strstr(text, "\nNetwork   the busiest link is loaded past 60 %, where the packet "
                               "level is optimistic; use --network=flit\n"));
  free(text);
  text = written(result, vinci_result_write_json);
  assert_non_null(strstr(text, "\"past_model\": true,"));
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

/* ---- the vendor's tables ----------------------------------------------------------------- */

/* The text of a column (from 0) in a line (header is 0) of a CSV text without quotes. */
static char *csv_cell(const char *text, unsigned line, unsigned column, char *buffer, size_t size) {
  while (line-- > 0)
    text = strchr(text, '\n') + 1;
  while (column-- > 0)
    text += strcspn(text, ",\n") + 1;
  snprintf(buffer, size, "%.*s", (int)strcspn(text, ",\n"), text);
  return buffer;
}

/* The cell of a named column. */
static char *named_cell(const char *text, unsigned line, const char *name, char *buffer,
                        size_t size) {
  unsigned column = 0;
  while (strcmp(csv_cell(text, 0, column, buffer, size), name) != 0)
    column++;
  return csv_cell(text, line, column, buffer, size);
}

static void check_header(const char *text, const char *header) {
  char *line = strndup(text, strcspn(text, "\n"));
  assert_string_equal(line, header);
  free(line);
}

static void csv_headers_are_the_vendors(void **state) {
  (void)state;
  static const struct {
    enum arch arch;
    writer write;
    const char *header;
  } files[] = {
      {ARCH_C220, export_pipe_csv, header_pipe_a2},
      {ARCH_C220, export_memory_csv, header_memory_a2},
      {ARCH_C220, export_arithmetic_csv, header_arithmetic_a2},
      {ARCH_C220, export_basic_csv, header_basic_a2},
      {ARCH_C310, export_pipe_csv, header_pipe_a5},
      {ARCH_C310, export_memory_csv, header_memory_a5},
      {ARCH_C310, export_arithmetic_csv, header_arithmetic_a5},
      {ARCH_C310, export_basic_csv, header_basic_a2},
      {ARCH_M200, export_pipe_csv, header_pipe_310p},
      {ARCH_M200, export_memory_csv, header_memory_310p},
      {ARCH_M200, export_arithmetic_csv, header_arithmetic_310p},
      {ARCH_M200, export_basic_csv, header_basic_310p},
      {ARCH_C220, export_l2_csv, header_l2_a2},
      {ARCH_C220, export_l0_csv, header_l0_a2},
      {ARCH_C220, export_ub_csv, header_ub_a2},
      {ARCH_C220, export_conflict_csv, header_conflict_a2},
      {ARCH_C310, export_l2_csv, header_l2_a5},
      {ARCH_C310, export_l0_csv, header_l0_a5},
      {ARCH_C310, export_ub_csv, header_ub_a5},
      {ARCH_C310, export_conflict_csv, header_conflict_a5},
      {ARCH_M200, export_l2_csv, header_l2_310p},
      {ARCH_M200, export_l0_csv, header_l0_310p},
      {ARCH_M200, export_ub_csv, header_ub_310p},
      {ARCH_M200, export_conflict_csv, header_conflict_310p},
  };
  struct vinci_result *result = vector_result();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    result->soc->arch = files[i].arch;
    char *text = written(result, files[i].write);
    check_header(text, files[i].header);
    free(text);
  }
  vinci_result_free(result);
}

static void check_cell(const char *text, unsigned line, const char *column, const char *value) {
  char cell[128];
  assert_string_equal(named_cell(text, line, column, cell, sizeof cell), value);
}

static void csv_of_vector_kernel(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  char *pipe = written(result, export_pipe_csv);
  check_cell(pipe, 1, "block_id", "0"); /* sorted by block */
  check_cell(pipe, 2, "block_id", "1");
  check_cell(pipe, 1, "sub_block_id", "vector0");
  check_cell(pipe, 2, "sub_block_id", "vector0");
  check_cell(pipe, 1, "aic_time(us)", "NA");
  check_cell(pipe, 1, "aiv_time(us)", "8.000000");
  check_cell(pipe, 1, "aiv_total_cycles", "13200");
  check_cell(pipe, 1, "aiv_vec_time(us)", "6.000000");
  check_cell(pipe, 1, "aiv_vec_ratio", "0.750000");
  check_cell(pipe, 1, "aiv_icache_miss_rate", "");
  check_cell(pipe, 1, "aiv_scalar_wait_time(us)", "0.121212");
  /* 2^20 bytes in 4 us, in units of 2^30 */
  check_cell(pipe, 1, "aiv_mte2_active_bw(GB/s)", "244.140625");
  assert_null(strstr(strstr(pipe, "\n1,"), "\n2,"));
  free(pipe);

  char *memory = written(result, export_memory_csv);
  check_cell(memory, 1, "GM_to_UB_datas(KB)", "1024.000000");
  check_cell(memory, 1, "UB_to_GM_datas(KB)", "512.000000");
  check_cell(memory, 1, "read_main_memory_datas(KB)", "1024.000000");
  check_cell(memory, 1, "aiv_gm_to_ub_bw(GB/s)", "122.070313");
  check_cell(memory, 1, "GM_to_UB_bw_usage_rate(%)", "65.536000");
  check_cell(memory, 1, "UB_to_GM_bw_usage_rate(%)", ""); /* no peak known */
  check_cell(memory, 1, "GM_to_L1_datas(KB)", "NA");
  check_cell(memory, 1, "aiv_mte2_instructions", "32");
  free(memory);

  char *arithmetic = written(result, export_arithmetic_csv);
  check_cell(arithmetic, 1, "aiv_vec_fp16_ratio", "0.562500");
  check_cell(arithmetic, 1, "aiv_vec_fp32_ratio", "0.187500");
  check_cell(arithmetic, 1, "aiv_vec_misc_ratio", "0.000000");
  check_cell(arithmetic, 1, "aiv_vec_fops", "32768");
  free(arithmetic);

  char *basic = written(result, export_basic_csv);
  assert_string_equal(strchr(basic, '\n') + 1, "add_custom,vector,10.000000,2,NA,,,1650,1650\n");
  free(basic);
  vinci_result_free(result);
}

/* The core of block 0 is cores[1]; cores[0] only writes. */
static void count_l2(struct vinci_result *result) {
  result->cores[1].l2 =
      (struct l2_counters){.read_hits = 300, .read_misses = 100, .write_hits = 50};
  result->cores[0].l2 = (struct l2_counters){.write_hits = 150, .write_misses = 50};
}

static void csv_of_l2(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  char *text = written(result, export_l2_csv); /* counted for the chip alone */
  check_cell(text, 1, "aiv_write_cache_hit", "");
  check_cell(text, 1, "aiv_r0_read_cache_miss_allocate", "");
  check_cell(text, 1, "aiv_total_hit_rate(%)", "");
  free(text);
  count_l2(result);
  text = written(result, export_l2_csv);
  check_cell(text, 1, "aiv_total_cycles", "13200");
  check_cell(text, 1, "aiv_write_cache_hit", "50");
  check_cell(text, 1, "aiv_write_cache_miss_allocate", "0");
  check_cell(text, 1, "aiv_r0_read_cache_hit", "300");
  check_cell(text, 1, "aiv_r0_read_cache_miss_allocate", "100");
  check_cell(text, 1, "aiv_r1_read_cache_hit", "");
  check_cell(text, 1, "aiv_r1_read_cache_miss_allocate", "");
  check_cell(text, 1, "aiv_write_hit_rate(%)", "100.000000");
  check_cell(text, 1, "aiv_read_hit_rate(%)", "75.000000");
  check_cell(text, 1, "aiv_total_hit_rate(%)", "77.777778");
  check_cell(text, 1, "aic_write_cache_hit", "NA");
  check_cell(text, 2, "aiv_read_hit_rate(%)", "0.000000"); /* read nothing */
  check_cell(text, 2, "aiv_write_hit_rate(%)", "75.000000");
  free(text);
  result->soc->arch = ARCH_C310;
  text = written(result, export_l2_csv);
  check_cell(text, 1, "aiv_read_hit_rate(%)", "75.000000");
  check_cell(text, 2, "aiv_write_hit_rate(%)", "75.000000");
  check_cell(text, 1, "aiv_read_close_hit", "");
  free(text);
  vinci_result_free(result);
}

static void csv_of_l0_and_ub(void **state) {
  (void)state;
  struct vinci_result *result = mixed_result();
  struct core_result *cube = &result->cores[0];
  cube->path_bytes[PATH_L1_L0A] = 3 << 17;
  cube->path_bytes[PATH_GM_L0A] = 1 << 17;
  cube->path_bytes[PATH_L1_L0B] = 1 << 17;
  cube->path_bytes[PATH_GM_L0B] = 1 << 17;
  char *text = written(result, export_l0_csv);
  check_cell(text, 1, "aic_l0a_write_bw(GB/s)", "48.828125"); /* 2^19 bytes in 10 us */
  check_cell(text, 1, "aic_l0b_write_bw(GB/s)", "24.414063");
  check_cell(text, 1, "aic_l0a_read_bw(GB/s)", "");
  check_cell(text, 1, "aic_l0c_write_bw_cube(GB/s)", "");
  check_cell(text, 2, "aic_l0a_write_bw(GB/s)", "NA");
  free(text);
  text = written(result, export_ub_csv);
  check_cell(text, 1, "aiv_ub_read_bw_vector(GB/s)", "NA");
  check_cell(text, 2, "aiv_ub_read_bw_vector(GB/s)", "");
  check_cell(text, 2, "aiv_ub_write_bw_scalar(GB/s)", "");
  free(text);
  result->soc->arch = ARCH_C310;
  text = written(result, export_ub_csv);
  check_cell(text, 2, "aiv_ub_write_bw_gm(GB/s)", "97.656250"); /* 2^20 bytes in 10 us */
  check_cell(text, 2, "aiv_ub_read_bw_gm(GB/s)", "48.828125");
  free(text);
  vinci_result_free(result);
}

static void csv_of_conflicts(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  result->cores[1].vector_bankgroup_cycles = 3300;
  result->cores[1].vector_bank_cycles = 1650;
  char *text = written(result, export_conflict_csv);
  check_cell(text, 1, "aiv_vec_total_cflt_ratio", ""); /* no bank map, no knowledge */
  check_cell(text, 1, "aiv_vec_wait_ratio", "0.250000");
  check_cell(text, 1, "aiv_mte2_wait_ratio", "0.125000");
  check_cell(text, 1, "aiv_mte3_wait_ratio", "0.000000");
  check_cell(text, 1, "aic_cube_wait_ratio", "NA");
  free(text);
  result->soc->ub_bank_groups = 16;
  text = written(result, export_conflict_csv);
  check_cell(text, 1, "aiv_vec_total_cflt_ratio", "0.375000");
  check_cell(text, 1, "aiv_vec_bankgroup_cflt_ratio", "0.250000");
  check_cell(text, 1, "aiv_vec_bank_cflt_ratio", "0.125000");
  check_cell(text, 1, "aiv_vec_resc_cflt_ratio", "");
  check_cell(text, 1, "aiv_vec_mte_cflt_ratio", "");
  check_cell(text, 2, "aiv_vec_total_cflt_ratio", "0.000000");
  free(text);
  vinci_result_free(result);
  result = mixed_result(); /* over the whole task */
  text = written(result, export_conflict_csv);
  check_cell(text, 1, "aic_cube_wait_ratio", "0.006061");
  check_cell(text, 1, "aic_mte1_wait_ratio", "0.000000");
  check_cell(text, 2, "aiv_vec_wait_ratio", "0.200000");
  free(text);
  vinci_result_free(result);
}

/* Ratios and bandwidths of mixed kernels are over the whole task, as the vendor has them. */
static void csv_of_mixed_kernel(void **state) {
  (void)state;
  struct vinci_result *result = mixed_result();
  char *pipe = written(result, export_pipe_csv);
  check_cell(pipe, 1, "sub_block_id", "cube0");
  check_cell(pipe, 2, "sub_block_id", "vector0");
  check_cell(pipe, 3, "sub_block_id", "vector1");
  check_cell(pipe, 1, "aiv_time(us)", "NA");
  check_cell(pipe, 1, "aic_total_cycles", "14850");
  check_cell(pipe, 1, "aic_cube_ratio", "0.850000");
  check_cell(pipe, 1, "aic_cube_time(us)", "8.500000");
  check_cell(pipe, 1, "aic_mte3_active_bw(GB/s)", "NA"); /* never busy */
  check_cell(pipe, 1, "aic_fixpipe_active_bw(GB/s)", "30.517578");
  free(pipe);
  char *arithmetic = written(result, export_arithmetic_csv);
  check_cell(arithmetic, 1, "aic_cube_fp16_ratio", "0.637500");
  check_cell(arithmetic, 1, "aic_cube_int8_ratio", "0.212500");
  check_cell(arithmetic, 1, "aic_cube_fops", "8192000");
  check_cell(arithmetic, 1, "aic_cube_total_instr_number", "10");
  check_cell(arithmetic, 1, "aic_cube_fp_instr_number", "8");
  free(arithmetic);
  result->kernels->name = "mm,\"a\"";
  char *basic = written(result, export_basic_csv);
  assert_string_equal(strchr(basic, '\n') + 1, "\"mm,\"\"a\"\"\",mix,10.000000,1,2,,,1650,1650\n");
  free(basic);
  vinci_result_free(result);
}

/* OpBasicInfo counts blocks, not the cores that happened to run them. */
static void basic_csv_counts_blocks_of_every_kernel(void **state) {
  (void)state;
  struct vinci_result *result = mixed_result();
  struct kernel_result *kernels = ARENA_ARRAY(&result->arena, struct kernel_result, 3);
  kernels[0] = (struct kernel_result){"a", 30, true, 0, 4000000, CORE_AIC, 1};
  kernels[1] = (struct kernel_result){"b", 40, false, 4000000, 7000000, CORE_AIV, 0};
  kernels[2] = (struct kernel_result){"c", 50, false, 7000000, 9000000, CORE_AIC, 0};
  result->kernels = kernels;
  result->kernel_count = 3;
  result->soc->vector_hz = 1000000000;
  char *basic = written(result, export_basic_csv);
  assert_string_equal(strchr(basic, '\n') + 1, "a,mix,4.000000,30,30,,,1650,1650\n"
                                               "b,vector,3.000000,40,NA,,,1000,1000\n"
                                               "c,cube,2.000000,50,NA,,,1650,1650\n");
  free(basic);
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

/* Names of many kernels are neither cut nor allowed to bury the report. */
static void many_kernels_are_all_named(void **state) {
  (void)state;
  enum { KERNELS = 500 };
  struct vinci_result *result = vector_result();
  struct kernel_result *kernels = ARENA_ARRAY(&result->arena, struct kernel_result, KERNELS);
  char expected[KERNELS * 16] = "\"kernel\": \"";
  size_t length = strlen(expected);
  for (unsigned i = 0; i < KERNELS; i++) {
    char name[16];
    snprintf(name, sizeof name, "kernel%u", i);
    kernels[i] = *result->kernels;
    kernels[i].name = arena_strdup(&result->arena, name);
    length +=
        (size_t)snprintf(expected + length, sizeof expected - length, "%s%s", i ? "+" : "", name);
  }
  result->kernels = kernels;
  result->kernel_count = KERNELS;
  snprintf(expected + length, sizeof expected - length, "\",\n");
  char *json = written(result, vinci_result_write_json);
  assert_non_null(strstr(json, expected));
  free(json);
  char *text = written(result, vinci_result_write_text);
  static const char head[] = "kernel0+kernel1+kernel2+kernel3 and 496 more on ";
  assert_memory_equal(text, head, sizeof head - 1);
  free(text);
  vinci_result_free(result);
}

static void csv_of_coupled_chip_is_one_line(void **state) {
  (void)state;
  struct vinci_result *result = vector_result();
  result->soc->arch = ARCH_M200;
  for (unsigned i = 0; i < 3; i++) {
    result->cores[i].kind = CORE_AICORE;
    result->cores[i].cluster = i;
  }
  char *pipe = written(result, export_pipe_csv);
  check_header(pipe, header_pipe_310p);
  assert_string_equal(strchr(pipe, '\n') + 1,
                      "8.000000,26400,0.000000,0.000000,0.606061,0.075758,0.000000,0.000000,"
                      "4.000000,0.500000,2.000000,0.250000,,6.000000,0.750000\n");
  free(pipe);
  count_l2(result);
  char *l2 = written(result, export_l2_csv);
  assert_string_equal(l2, "aic_l2_cache_hit_rate(%)\n76.923077\n"); /* 500 of 650 */
  free(l2);
  result->soc->ub_bank_groups = 16;
  result->cores[0].vector_bankgroup_cycles = 1320;
  result->cores[1].vector_bankgroup_cycles = 3960;
  result->cores[1].vector_bank_cycles = 1320;
  char *conflict = written(result, export_conflict_csv);
  assert_string_equal(strchr(conflict, '\n') + 1,
                      "8.000000,26400,0.000000,0.250000,0.000000,0.125000,0.000000,0.250000,"
                      "0.200000,0.050000,,\n");
  free(conflict);
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
                                      "trace.json",
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
      cmocka_unit_test(csv_headers_are_the_vendors),
      cmocka_unit_test(csv_of_vector_kernel),
      cmocka_unit_test(csv_of_l2),
      cmocka_unit_test(csv_of_l0_and_ub),
      cmocka_unit_test(csv_of_conflicts),
      cmocka_unit_test(csv_of_mixed_kernel),
      cmocka_unit_test(basic_csv_counts_blocks_of_every_kernel),
      cmocka_unit_test(report_says_that_blocks_are_summed),
      cmocka_unit_test(many_kernels_are_all_named),
      cmocka_unit_test(csv_of_coupled_chip_is_one_line),
      cmocka_unit_test(folder_is_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
