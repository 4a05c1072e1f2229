/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what mad costs and touches. */
#include "cube/cube.h"
#include "tests/support/units.h"

static struct inst mad(enum dtype type, int64_t m, int64_t k, int64_t n) {
  struct inst inst = test_inst(OP_MAD, type);
  test_set(&inst, "m", m);
  test_set(&inst, "k", k);
  test_set(&inst, "n", n);
  test_set(&inst, "init", 1);
  return inst;
}

static void mad_costs_its_tiles(void **state) {
  (void)state;
  struct inst half = mad(DTYPE_FP16, 128, 64, 176), odd = mad(DTYPE_FP16, 17, 17, 17);
  assert_int_equal(test_cost(&half).issue_cycles, 8 * 4 * 11 + 2); /* 2.1 */
  assert_int_equal(test_cost(&half).issue_rest_mcycles, 100);
  assert_int_equal(test_cost(&half).latency_cycles, 8 * 4 * 11 + T_CUBE_STARTUP);
  assert_int_equal(test_cost(&half).operations, 128 * 64 * 176);
  assert_int_equal(test_cost(&odd).latency_cycles, 8 + T_CUBE_STARTUP);
  assert_int_equal(test_cost(&odd).operations, 17 * 17 * 17);
}

static void a_short_mad_has_a_least_time(void **state) {
  (void)state;
  struct vinci_soc soc = *test_soc();
  soc.cube_least_mcycles = 2000;
  soc.cube_minimum_mcycles = 4860;
  struct inst tile = mad(DTYPE_FP16, 16, 16, 16), three = mad(DTYPE_FP16, 16, 16, 48);
  struct inst_cost cost;
  cube_mad_cost(&soc, &tile, &cost);
  assert_int_equal(cost.issue_cycles * 1000 + cost.issue_rest_mcycles, 4860);
  assert_int_equal(cost.latency_cycles, 2 + T_CUBE_STARTUP);
  cube_mad_cost(&soc, &three, &cost);
  assert_int_equal(cost.issue_cycles * 1000 + cost.issue_rest_mcycles, 3000 + T_ISSUE_MCYCLES);
  assert_int_equal(cost.latency_cycles, 3 + T_CUBE_STARTUP);
}

static void mad_tiles_follow_the_type(void **state) {
  (void)state;
  struct inst single = mad(DTYPE_FP32, 16, 64, 16), byte = mad(DTYPE_INT8, 16, 64, 16),
              nibble = mad(DTYPE_INT4, 16, 64, 16);
  assert_int_equal(test_cost(&single).latency_cycles, 8 * 2 + T_CUBE_STARTUP);
  assert_int_equal(test_cost(&byte).latency_cycles, 2 + T_CUBE_STARTUP);
  assert_int_equal(test_cost(&nibble).latency_cycles, 1 + T_CUBE_STARTUP);
}

static void empty_mad_pays_the_start_up(void **state) {
  (void)state;
  const struct inst empty[] = {mad(DTYPE_FP16, 0, 16, 16), mad(DTYPE_FP16, 16, 0, 16),
                               mad(DTYPE_FP16, 16, 16, 0)};
  for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
    assert_int_equal(test_cost(&empty[i]).issue_cycles, T_CUBE_STARTUP);
    assert_int_equal(test_cost(&empty[i]).latency_cycles, T_CUBE_STARTUP);
    assert_int_equal(test_cost(&empty[i]).operations, 0);
    assert_int_equal(test_bytes(&empty[i], "c", WRITE), 0);
  }
}

static void mad_touches_whole_fractals(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 17, 20, 33);
  assert_int_equal(test_bytes(&inst, "a", READ), 2 * 2 * 512);
  assert_int_equal(test_bytes(&inst, "b", READ), 3 * 2 * 512);
  assert_int_equal(test_bytes(&inst, "c", WRITE), 2 * 3 * 1024);
  assert_int_equal(test_bytes(&inst, "c", READ), 0);
  assert_int_equal(test_access(&inst, "c", WRITE).alignment, 1024);
  test_set(&inst, "init", 0);
  assert_int_equal(test_bytes(&inst, "c", READ), 2 * 3 * 1024);
  test_set(&inst, "m", 1); /* a vector lies as it is */
  assert_int_equal(test_bytes(&inst, "a", READ), 64);
}

static void a_sparse_mad_takes_half_of_k(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_MAD_SP, DTYPE_INT8);
  test_set(&inst, "m", 17);
  test_set(&inst, "k", 160); /* 80 values in b */
  test_set(&inst, "n", 33);
  test_set(&inst, "init", 1);
  test_set(&inst, "b", 2048);
  assert_int_equal(test_cost(&inst).latency_cycles, 2 * 3 * 3 + T_CUBE_STARTUP);
  assert_int_equal(test_cost(&inst).operations, 17 * 80 * 33);
  assert_int_equal(test_bytes(&inst, "a", READ), 2 * 5 * 512);
  struct inst_access access[INST_ACCESS_MAX];
  assert_int_equal(cube_mad_access(test_soc(), &inst, access), 4);
  assert_int_equal(access[1].space, SPACE_L0B);
  assert_int_equal(access[1].bytes, 3 * 3 * 512);
  assert_int_equal(access[2].space, SPACE_IDX);
  assert_false(access[2].write);
  assert_int_equal(access[2].address, 512);
  assert_int_equal(access[2].bytes, 3 * 3 * 128);
  test_set(&inst, "m", 1); /* one row of fractals, not a vector */
  assert_int_equal(test_bytes(&inst, "a", READ), 5 * 512);
}

static void mad_reads_the_bias_when_told(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 16, 16, 40);
  test_set(&inst, "init", 0);
  test_set(&inst, "source", MAD_SOURCE_BT);
  test_set(&inst, "bias", 128);
  struct inst_access bias = test_access(&inst, "bias", READ);
  assert_int_equal(bias.space, SPACE_BT);
  assert_int_equal(bias.address, 128);
  assert_int_equal(bias.bytes, 160);
  assert_int_equal(test_bytes(&inst, "c", READ), 0);
}

static void forms_of_other_architectures(void **state) {
  (void)state;
  struct inst inst = mad(DTYPE_FP16, 17, 20, 33);
  test_set(&inst, "sums", MAD_SUMS_FP16);
  assert_int_equal(test_bytes(&inst, "c", WRITE), 2 * 3 * 512);
  assert_int_equal(test_access(&inst, "c", WRITE).alignment, 512);
  struct inst row = mad(DTYPE_FP16, 1, 20, 33);
  assert_int_equal(test_bytes(&row, "a", READ), 2 * 32);
  test_set(&row, "gemv", 0); /* one row of fractals */
  assert_int_equal(test_bytes(&row, "a", READ), 2 * 512);
  struct inst wide = mad(DTYPE_FP32, 16, 20, 16), fp8 = mad(DTYPE_FP8_E5M2, 16, 33, 16);
  assert_int_equal(test_bytes(&wide, "a", READ), 3 * 512);
  test_set(&wide, "k_align", 1);
  assert_int_equal(test_bytes(&wide, "a", READ), 4 * 512);
  assert_int_equal(test_bytes(&fp8, "a", READ), 2 * 512);
}

static void cycles_of_a_tile_are_those_of_the_type(void **state) {
  (void)state;
  struct vinci_soc soc = {.cube_fp16_mcycles = 1,
                          .cube_bf16_mcycles = 2,
                          .cube_fp32_mcycles = 3,
                          .cube_hf32_mcycles = 4,
                          .cube_int8_mcycles = 5,
                          .cube_int4_mcycles = 6,
                          .cube_fp8_mcycles = 7,
                          .cube_fp4_mcycles = 8};
  static const int64_t expected[DTYPE_COUNT] = {
      [DTYPE_FP16] = 1,     [DTYPE_BF16] = 2,     [DTYPE_FP32] = 3,    [DTYPE_HF32] = 4,
      [DTYPE_INT8] = 5,     [DTYPE_UINT8] = 5,    [DTYPE_INT4] = 6,    [DTYPE_FP8_E4M3] = 7,
      [DTYPE_FP8_E5M2] = 7, [DTYPE_FP4_E2M1] = 8, [DTYPE_FP4_E1M2] = 8};
  for (unsigned type = 0; type < DTYPE_COUNT; type++)
    assert_int_equal(soc_cube_mcycles(&soc, (enum dtype)type), expected[type]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mad_costs_its_tiles),
      cmocka_unit_test(a_short_mad_has_a_least_time),
      cmocka_unit_test(mad_tiles_follow_the_type),
      cmocka_unit_test(empty_mad_pays_the_start_up),
      cmocka_unit_test(mad_touches_whole_fractals),
      cmocka_unit_test(mad_reads_the_bias_when_told),
      cmocka_unit_test(a_sparse_mad_takes_half_of_k),
      cmocka_unit_test(forms_of_other_architectures),
      cmocka_unit_test(cycles_of_a_tile_are_those_of_the_type),
  };
  return cmocka_run_group_tests_name("cube", tests, NULL, NULL);
}
