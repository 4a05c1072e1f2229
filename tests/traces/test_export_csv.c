/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the vendor's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/export_headers.h"
#include "tests/support/results.h"

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
  kernels[0] = (struct kernel_result){.name = "a",
                                      .blocks = 30,
                                      .mixed = true,
                                      .start_ps = 0,
                                      .end_ps = 4000000,
                                      .kind = CORE_AIC,
                                      .vectors_per_cube = 1,
                                      .places = 30};
  kernels[1] = (struct kernel_result){.name = "b",
                                      .blocks = 40,
                                      .start_ps = 4000000,
                                      .end_ps = 7000000,
                                      .kind = CORE_AIV,
                                      .places = 40};
  kernels[2] = (struct kernel_result){.name = "c",
                                      .blocks = 50,
                                      .start_ps = 7000000,
                                      .end_ps = 9000000,
                                      .kind = CORE_AIC,
                                      .places = 50};
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csv_headers_are_the_vendors),
      cmocka_unit_test(csv_of_vector_kernel),
      cmocka_unit_test(csv_of_l2),
      cmocka_unit_test(csv_of_l0_and_ub),
      cmocka_unit_test(csv_of_conflicts),
      cmocka_unit_test(csv_of_mixed_kernel),
      cmocka_unit_test(basic_csv_counts_blocks_of_every_kernel),
      cmocka_unit_test(many_kernels_are_all_named),
      cmocka_unit_test(csv_of_coupled_chip_is_one_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
