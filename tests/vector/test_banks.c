/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the banks of UB: the measured cases, the documented strides, and random operands
 * against a second model that looks at every block in every cycle.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/result/result.h"
#include "tests/support/bank_cases.h"
#include "tests/support/bank_reference.h"
#include "tests/support/fixture.h"
#include "tests/support/units.h"

enum {
  GROUPS = 16,
  BANK_STRIDE = 0x10000,
  BLOCKS_MAX = 8,
  REPEATS = 64,
  STARTUP = 22,
  RANDOM_CASES = 20000,
};

/* Maps and port rules of the two documented generations, and one without round numbers. */
static const struct map_case maps[] = {
    {GROUPS, 3, BANK_STRIDE, 1, 16},
    {8, 2, 256, 2, 0},
    {5, 3, 7 * 32, 1, 3},
    {16, 4, 512, 1, 31},
};
enum { MAP_COUNT = sizeof maps / sizeof maps[0] };

static struct vinci_soc *soc_with(const struct map_case *map) {
  struct vinci_soc *soc = test_soc();
  soc->ub_bank_groups = map->groups;
  soc->ub_banks_per_group = map->banks;
  soc->ub_bank_stride_bytes = map->stride;
  soc->ub_reads_per_group = map->reads;
  soc->ub_write_delay_cycles = map->delay;
  soc->ub_row_bytes = BLOCK_BYTES;
  for (int i = 0; i < VECTOR_CLASS_COUNT; i++)
    soc->vector_class[i].startup_mcycles = STARTUP * 1000;
  soc->vector_class[VECTOR_CLASS_TWO].per_repeat_mcycles = 1000;
  soc->vector_class[VECTOR_CLASS_EXP32].per_repeat_mcycles = 2000;
  return soc;
}

static struct inst_cost cost_on(const struct vinci_soc *soc, const struct inst *inst) {
  struct inst_cost cost;
  registry_cost((enum isa_op)inst->op)(soc, inst, &cost);
  return cost;
}

static struct inst_cost cost_of(const struct inst *inst) {
  return cost_on(soc_with(&maps[0]), inst);
}

static struct inst new_inst(enum isa_op op, enum dtype type, int64_t src, int64_t dst) {
  struct inst inst = test_inst(op, type);
  test_set(&inst, "repeat", REPEATS);
  test_set(&inst, op == OP_VADD ? "src0" : "src", src);
  test_set(&inst, "dst", dst);
  return inst;
}

/* ---- measured and documented ------------------------------------------------------- */

static struct inst case_inst(const struct bank_case *row) {
  struct inst inst = new_inst(OP_VADD, DTYPE_FP32, row->src0, row->dst);
  test_set(&inst, "src1", row->src1);
  test_set(&inst, "src0_block", row->src0_block);
  test_set(&inst, "src0_repeat", row->src0_repeat);
  return inst;
}

static void measured_cases_are_within_3_percent(void **state) {
  (void)state;
  for (unsigned i = 0; i < BANK_CASE_COUNT; i++) {
    struct inst inst = case_inst(&bank_cases[i]);
    double error = (double)cost_of(&inst).latency_cycles / bank_case_cycles(&bank_cases[i]) - 1;
    if (error > 0.03 || error < -0.03)
      fail_msg("%s: %+.1f %%", bank_cases[i].what, 100 * error);
  }
}

static void lost_cycles_are_told_apart(void **state) {
  (void)state;
  static const struct {
    uint64_t group, bank;
  } expected[BANK_CASE_COUNT] = {{0, 0},  {64, 0}, {64, 0},  {0, 0},
                                 {0, 48}, {0, 0},  {32, 14}, {0, 0}};
  for (unsigned i = 0; i < BANK_CASE_COUNT; i++) {
    struct inst inst = case_inst(&bank_cases[i]);
    struct inst_cost cost = cost_of(&inst);
    assert_int_equal(cost.conflict_bankgroup_cycles, expected[i].group);
    assert_int_equal(cost.conflict_bank_cycles, expected[i].bank);
    assert_int_equal(cost.issue_cycles, REPEATS + expected[i].group + expected[i].bank);
    assert_int_equal(cost.latency_cycles, cost.issue_cycles + STARTUP);
  }
}

/* Cycles per repeat of a copy whose blocks lie so far apart on one side. */
static uint64_t copy_cycles(const char *side, int64_t stride) {
  struct inst inst = new_inst(OP_VCOPY, DTYPE_INT16, 0, 0x20000);
  test_set(&inst, side, stride);
  test_set(&inst, "dst_repeat", 1);
  return cost_of(&inst).issue_cycles / REPEATS;
}

static void blocks_of_one_group_queue(void **state) {
  (void)state;
  assert_int_equal(copy_cycles("src_block", 16), 8);
  assert_int_equal(copy_cycles("src_block", 8), 4);
  assert_int_equal(copy_cycles("src_block", 4), 2);
  assert_int_equal(copy_cycles("src_block", 3), 1);
  assert_int_equal(copy_cycles("dst_block", 144), 8); /* the vendor's ND to NZ sample */
  assert_int_equal(copy_cycles("dst_block", 145), 1);
}

static void later_generation_reads_two_rows_of_a_group(void **state) {
  (void)state;
  struct inst add = new_inst(OP_VADD, DTYPE_FP32, 0, 0xa100), copy;
  test_set(&add, "src1", 0x5000);
  assert_int_equal(cost_on(soc_with(&maps[1]), &add).issue_cycles, REPEATS);
  copy = new_inst(OP_VCOPY, DTYPE_INT32, 0, 0x4100);
  assert_int_equal(cost_on(soc_with(&maps[1]), &copy).issue_cycles, REPEATS);
  test_set(&copy, "dst_block", 8); /* a column: one group */
  assert_int_equal(cost_on(soc_with(&maps[1]), &copy).issue_cycles, 8 * REPEATS);
  test_set(&copy, "dst_block", 1);
  test_set(&copy, "src_block", 8); /* read from both banks of a group */
  assert_int_equal(cost_on(soc_with(&maps[1]), &copy).issue_cycles, 4 * REPEATS);
}

static void masks_leave_blocks_out(void **state) {
  (void)state;
  struct inst inst = new_inst(OP_VADD, DTYPE_FP32, 0, 0x20000);
  test_set(&inst, "src1", 0x10080); /* four groups on */
  assert_int_equal(cost_of(&inst).conflict_bankgroup_cycles, REPEATS);
  inst.mask = (struct vector_mask){.low = UINT32_MAX}; /* 32 lanes: 4 blocks */
  assert_int_equal(cost_of(&inst).conflict_bankgroup_cycles, 0);
  inst.mask = (struct vector_mask){.low = 0};
  assert_int_equal(cost_of(&inst).conflict_bankgroup_cycles, 0);
}

static void what_all_repeats_share_is_read_once(void **state) {
  (void)state;
  struct inst inst = new_inst(OP_VADD, DTYPE_FP32, 0, 0x20000);
  test_set(&inst, "src1", 0x10000);
  test_set(&inst, "src1_repeat", 0);
  assert_int_equal(cost_of(&inst).conflict_bankgroup_cycles, 1);
}

static void results_added_to_are_a_source(void **state) {
  (void)state;
  struct inst inst = new_inst(OP_VAXPY, DTYPE_FP32, 0, 0x10000);
  assert_int_equal(cost_of(&inst).conflict_bankgroup_cycles, REPEATS);
  test_set(&inst, "dst", 0x10100);
  assert_int_equal(cost_of(&inst).conflict_bankgroup_cycles, 0);
}

static void slow_classes_hide_collisions(void **state) {
  (void)state;
  struct inst quick = new_inst(OP_VABS, DTYPE_FP32, 0, 0x4020);
  struct inst slow = new_inst(OP_VEXP, DTYPE_FP32, 0, 0x4020);
  assert_int_equal(cost_of(&quick).conflict_bank_cycles, 48);
  assert_int_equal(cost_of(&slow).conflict_bank_cycles, 0);
  test_set(&slow, "src_block", 8); /* 4 cycles instead of 2 */
  assert_int_equal(cost_of(&slow).conflict_bankgroup_cycles, 2 * REPEATS);
}

static void unknown_port_rules_cost_nothing(void **state) {
  (void)state;
  struct vinci_soc *soc = soc_with(&maps[0]);
  soc->ub_reads_per_group = 0;
  struct inst inst = case_inst(&bank_cases[1]);
  struct inst_cost cost = cost_on(soc, &inst);
  assert_int_equal(cost.issue_cycles, REPEATS);
  assert_int_equal(cost.conflict_bankgroup_cycles, 0);
}

/* ---- random operands ------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t start_seed(void) {
  const char *given = getenv("VINCI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 0) | 1 : UINT64_C(20240801);
  print_message("# VINCI_TEST_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

static uint64_t pick(uint64_t *seed, const uint64_t *values, uint64_t count, uint64_t below) {
  uint64_t choice = next_random(seed) % (count + 2);
  return choice < count ? values[choice] : next_random(seed) % below;
}

static struct bank_operand random_operand(uint64_t *seed) {
  static const uint64_t blocks[] = {1, 1, 1, 1, 0, 8, 16, 144, 145};
  static const uint64_t repeats[] = {8, 8, 8, 8, 8, 4, 1, 0, 16};
  static const uint64_t rows[] = {0, 0, 1, 8, 512, 2048, 2056, 4096};
  struct bank_operand operand = {
      .block_stride = pick(seed, blocks, sizeof blocks / sizeof *blocks, 40),
      .repeat_stride = pick(seed, repeats, sizeof repeats / sizeof *repeats, 32),
      .row = pick(seed, rows, sizeof rows / sizeof *rows, 6144),
      .blocks = next_random(seed) % 2 ? BLOCKS_MAX : next_random(seed) % (BLOCKS_MAX + 1),
  };
  return operand;
}

static struct bank_traffic random_traffic(uint64_t *seed) {
  struct bank_traffic traffic = {.reads = (unsigned)(next_random(seed) % (BANK_READS_MAX + 1))};
  for (unsigned i = 0; i < traffic.reads; i++)
    traffic.read[i] = random_operand(seed);
  if (next_random(seed) % 8 != 0)
    traffic.write = random_operand(seed);
  if (traffic.reads > 0 && next_random(seed) % 4 == 0)
    traffic.write = traffic.read[next_random(seed) % traffic.reads];
  traffic.repeats = next_random(seed) % (CASE_REPEATS_MAX + 1);
  return traffic;
}

static void print_operand(const char *name, const struct bank_operand *operand) {
  print_message("# %s row %llu block %llu repeat %llu blocks %llu\n", name,
                (unsigned long long)operand->row, (unsigned long long)operand->block_stride,
                (unsigned long long)operand->repeat_stride, (unsigned long long)operand->blocks);
}

static void shortcuts_agree_with_every_block_in_every_cycle(void **state) {
  (void)state;
  static const uint64_t slopes[] = {1000, 1000, 1000, 1059, 1247, 2000, 4000};
  uint64_t seed = start_seed();
  for (unsigned i = 0; i < RANDOM_CASES; i++) {
    const struct map_case *map = &maps[next_random(&seed) % 3 ? 0 : next_random(&seed) % MAP_COUNT];
    struct bank_traffic traffic = random_traffic(&seed);
    uint64_t slope = slopes[next_random(&seed) % (sizeof slopes / sizeof *slopes)];
    struct bank_loss found = banks_loss(soc_with(map), &traffic, slope);
    struct bank_loss expected = reference_loss(map, &traffic, slope);
    if (found.group_mcycles == expected.group_mcycles &&
        found.bank_mcycles == expected.bank_mcycles)
      continue;
    for (unsigned k = 0; k < traffic.reads; k++)
      print_operand("read", &traffic.read[k]);
    print_operand("write", &traffic.write);
    fail_msg("case %u, map %d, %llu repeats of %llu: groups %llu, not %llu; banks %llu, not %llu",
             i, (int)(map - maps), (unsigned long long)traffic.repeats, (unsigned long long)slope,
             (unsigned long long)found.group_mcycles, (unsigned long long)expected.group_mcycles,
             (unsigned long long)found.bank_mcycles, (unsigned long long)expected.bank_mcycles);
  }
}

/* ---- properties --------------------------------------------------------------------------- */

static struct inst random_inst(uint64_t *seed) {
  static const enum isa_op ops[] = {OP_VADD,  OP_VABS,          OP_VADDS,    OP_VSEL,  OP_VMLA,
                                    OP_VCADD, OP_VCONV_F322F16, OP_VCMPV_EQ, OP_VBRCB, OP_VGATHERB};
  enum isa_op op = ops[next_random(seed) % (sizeof ops / sizeof *ops)];
  struct inst inst = test_inst(op, DTYPE_FP32);
  const struct isa_row *row = isa_row(op);
  for (unsigned i = 0; i < row->arg_count; i++) {
    const struct isa_arg *arg = &row->arg[i];
    if (arg->kind == ARG_ADDRESS)
      inst.arg[i] = (int64_t)(next_random(seed) % 6144 * BLOCK_BYTES);
    else if (arg->kind == ARG_INTEGER && arg->high <= 65535 && next_random(seed) % 3 == 0)
      inst.arg[i] = (int64_t)(next_random(seed) % 24);
  }
  test_set(&inst, "repeat", (int64_t)(next_random(seed) % 256));
  return inst;
}

static void conflicts_never_make_anything_faster(void **state) {
  (void)state;
  uint64_t seed = start_seed();
  for (unsigned i = 0; i < RANDOM_CASES; i++) {
    struct inst inst = random_inst(&seed);
    struct vinci_soc *soc = soc_with(&maps[0]);
    struct inst_cost with = cost_on(soc, &inst);
    soc->ub_write_delay_cycles = 0;
    struct inst_cost groups = cost_on(soc, &inst);
    soc->ub_reads_per_group = 2;
    struct inst_cost wider = cost_on(soc, &inst);
    soc->ub_reads_per_group = 0;
    struct inst_cost without = cost_on(soc, &inst);
    assert_true(with.issue_cycles >= groups.issue_cycles);
    assert_true(groups.issue_cycles >= wider.issue_cycles);
    assert_true(wider.issue_cycles >= without.issue_cycles);
    assert_true(with.latency_cycles >= without.latency_cycles);
    assert_true(with.latency_cycles >= with.issue_cycles);
    /* whole cycles, while slopes have fractions; the shortest time hides some */
    assert_true(with.conflict_bankgroup_cycles + with.conflict_bank_cycles + 1 >=
                with.issue_cycles - without.issue_cycles);
  }
}

/* ---- counters ------------------------------------------------------------------------------- */

static void a_run_counts_what_its_cores_lost(void **state) {
  (void)state;
  static const char text[] = "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=1\n"
                             "stream,core=AIV\n"
                             "vadd,dst=131072,src0=0,src1=16384,repeat=10,type=fp32\n"
                             "vadd,dst=16416,src0=0,src1=65792,repeat=64,type=fp32\n";
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  soc->ub_bank_groups = GROUPS;
  soc->ub_banks_per_group = 3;
  soc->ub_bank_stride_bytes = BANK_STRIDE;
  soc->ub_row_bytes = BLOCK_BYTES;
  soc->ub_reads_per_group = 1;
  soc->ub_write_delay_cycles = 16;
  soc->vector_class[VECTOR_CLASS_TWO].per_repeat_mcycles = 1000;
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  assert_int_equal(vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag), VINCI_OK);
  vinci_result *result = NULL;
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT};
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_OK);
  assert_int_equal(result->cores[0].vector_bankgroup_cycles, 10);
  assert_int_equal(result->cores[0].vector_bank_cycles, 48);
  assert_int_equal(result->cores[1].vector_bank_cycles, 0);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measured_cases_are_within_3_percent),
      cmocka_unit_test(lost_cycles_are_told_apart),
      cmocka_unit_test(blocks_of_one_group_queue),
      cmocka_unit_test(later_generation_reads_two_rows_of_a_group),
      cmocka_unit_test(masks_leave_blocks_out),
      cmocka_unit_test(what_all_repeats_share_is_read_once),
      cmocka_unit_test(results_added_to_are_a_source),
      cmocka_unit_test(slow_classes_hide_collisions),
      cmocka_unit_test(unknown_port_rules_cost_nothing),
      cmocka_unit_test(shortcuts_agree_with_every_block_in_every_cycle),
      cmocka_unit_test(conflicts_never_make_anything_faster),
      cmocka_unit_test(a_run_counts_what_its_cores_lost),
  };
  return cmocka_run_group_tests_name("banks", tests, NULL, NULL);
}
