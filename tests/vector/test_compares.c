/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons back to back against the microbenchmarks of msKPP (Ascend-mskpp,
 * csrc/prof_data/resource910b.cpp, 910b1 tables of vcmpv and vcmpvs): their bits fill whole blocks
 * of 32 bytes after every second repeat of fp16 and every fourth of fp32, and only there no
 * offset is paid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/chip/soc.h"
#include "tests/support/units.h"

static vinci_soc *soc;

static int set_up(void **state) {
  struct vinci_diag diag = {0};
  (void)state;
  return vinci_soc_load("Ascend910B1", NULL, &soc, &diag) == VINCI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  vinci_soc_free(soc);
  return 0;
}

static const struct {
  enum isa_op op;
  enum dtype type;
  int64_t repeats;
  double cycles;
} rows[] = {
    {OP_VCMPV_EQ, DTYPE_FP16, 1, 7.03},    {OP_VCMPV_EQ, DTYPE_FP16, 2, 4.03},
    {OP_VCMPV_EQ, DTYPE_FP16, 5, 15.03},   {OP_VCMPV_EQ, DTYPE_FP16, 6, 12.03},
    {OP_VCMPV_EQ, DTYPE_FP16, 12, 24.03},  {OP_VCMPV_EQ, DTYPE_FP16, 20, 40.03},
    {OP_VCMPV_EQ, DTYPE_FP16, 31, 68.03},  {OP_VCMPV_EQ, DTYPE_FP32, 1, 7.04},
    {OP_VCMPV_EQ, DTYPE_FP32, 2, 9.03},    {OP_VCMPV_EQ, DTYPE_FP32, 6, 17.03},
    {OP_VCMPV_EQ, DTYPE_FP32, 12, 24.02},  {OP_VCMPV_EQ, DTYPE_FP32, 15, 35.03},
    {OP_VCMPV_EQ, DTYPE_FP32, 20, 40.03},  {OP_VCMPVS_EQ, DTYPE_FP16, 2, 3.06},
    {OP_VCMPVS_EQ, DTYPE_FP16, 6, 6.03},   {OP_VCMPVS_EQ, DTYPE_FP16, 12, 12.03},
    {OP_VCMPVS_EQ, DTYPE_FP16, 20, 20.03}, {OP_VCMPVS_EQ, DTYPE_FP32, 2, 8.03},
    {OP_VCMPVS_EQ, DTYPE_FP32, 6, 12.03},  {OP_VCMPVS_EQ, DTYPE_FP32, 12, 12.03},
    {OP_VCMPVS_EQ, DTYPE_FP32, 20, 20.03},
};

/* Both sources begin in one group of banks, as buffers allotted in a row do. */
static double issue_cycles(enum isa_op op, enum dtype type, int64_t repeats) {
  struct inst inst = test_inst(op, type);
  struct inst_cost cost;
  bool two = op == OP_VCMPV_EQ;
  test_set(&inst, "repeat", repeats);
  test_set(&inst, two ? "src0" : "src", 0);
  if (two)
    test_set(&inst, "src1", 0x8000);
  test_set(&inst, "dst", 0x10000);
  registry_cost(op)(soc, &inst, &cost);
  return (double)cost.issue_cycles + (double)cost.issue_rest_mcycles / 1000;
}

static void offsets_are_paid_where_bits_end_within_a_block(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double error = issue_cycles(rows[i].op, rows[i].type, rows[i].repeats) / rows[i].cycles - 1;
    if (error > 0.05 || error < -0.05)
      fail_msg("row %zu, %lld repeats: %+.1f %%", i, (long long)rows[i].repeats, 100 * error);
  }
}

/* A sum that stays where it is waits for itself: soc key vector.accumulate_cycles. */
static void accumulations_take_two_cycles_a_repeat(void **state) {
  struct inst inst = test_inst(OP_VADD, DTYPE_FP32);
  struct inst_cost apart, same;
  (void)state;
  test_set(&inst, "repeat", 64);
  test_set(&inst, "src0", 0);
  test_set(&inst, "src1", 0x8100);
  test_set(&inst, "dst", 0x10000);
  registry_cost(OP_VADD)(soc, &inst, &apart);
  test_set(&inst, "dst", 0);
  test_set(&inst, "dst_repeat", 0);
  test_set(&inst, "src0_repeat", 0);
  registry_cost(OP_VADD)(soc, &inst, &same);
  assert_int_equal(apart.issue_cycles, 64);
  assert_int_equal(same.issue_cycles, 128);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(offsets_are_paid_where_bits_end_within_a_block),
      cmocka_unit_test(accumulations_take_two_cycles_a_repeat),
  };
  return cmocka_run_group_tests_name("compares", tests, set_up, tear_down);
}
