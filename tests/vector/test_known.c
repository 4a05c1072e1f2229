/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the table of known instructions: over random instructions that come again and again,
 * more than the table has places for, each cost is what the cost function says; and whatever a
 * cost depends on tells instructions apart.
 */
#include "core/isa/known.h"
#include "tests/support/units.h"

enum { DISTINCT = 3 * KNOWN_ENTRIES, CALLS = 20000 };

static struct known *fresh(void) {
  static struct known known;
  memset(&known, 0, sizeof known);
  return &known;
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* The index-th of many instructions: types, repeats, places and masks differ. */
static struct inst inst_of(unsigned index) {
  static const enum isa_op ops[] = {OP_VADD, OP_VMUL, OP_VEXP};
  struct inst inst = test_inst(ops[index % 3], index & 4 ? DTYPE_FP16 : DTYPE_FP32);
  test_set(&inst, "repeat", 1 + index % 61);
  test_set(&inst, "dst", 32 * (int64_t)(index % 97));
  inst.row = index % 7;
  inst.mask.low = index & 8 ? UINT64_MAX : UINT64_MAX >> index % 50;
  return inst;
}

static void assert_cost(struct known *known, const struct vinci_soc *soc, const struct inst *inst) {
  struct inst_cost wanted, got;
  registry_cost((enum isa_op)inst->op)(soc, inst, &wanted);
  known_cost(known, soc, inst, &got);
  assert_int_equal(got.issue_cycles, wanted.issue_cycles);
  assert_int_equal(got.issue_rest_mcycles, wanted.issue_rest_mcycles);
  assert_int_equal(got.latency_cycles, wanted.latency_cycles);
  assert_int_equal(got.operations, wanted.operations);
  assert_int_equal(got.conflict_bank_cycles, wanted.conflict_bank_cycles);
}

static void costs_are_those_of_the_cost_function(void **state) {
  (void)state;
  struct known *known = fresh();
  uint64_t random = 20261122;
  for (unsigned i = 0; i < CALLS; i++) {
    struct inst inst = inst_of((unsigned)next_random(&random) % DISTINCT);
    assert_cost(known, test_soc(), &inst);
  }
}

/* The same operands on the same row, and another mask. */
static void masks_tell_instructions_apart(void **state) {
  (void)state;
  struct known *known = fresh();
  struct inst all = test_inst(OP_VADD, DTYPE_FP32), few = all, counted = all;
  few.mask.low = 7;
  counted.mask = (struct vector_mask){.low = 6400, .counter = true};
  assert_cost(known, test_soc(), &all);
  assert_cost(known, test_soc(), &few);
  assert_cost(known, test_soc(), &counted);
}

static void an_entry_is_kept_and_starts_empty(void **state) {
  (void)state;
  struct known *known = fresh();
  struct inst add = test_inst(OP_VADD, DTYPE_FP32), more = add;
  struct known_inst *entry = known_find(known, &add);
  assert_false(entry->in_range || entry->costed);
  entry->in_range = true;
  assert_ptr_equal(known_find(known, &add), entry);
  assert_true(entry->in_range);
  test_set(&more, "repeat", 9);
  assert_false(known_find(known, &more)->in_range);
}

static void copies_are_not_kept(void **state) {
  (void)state;
  struct inst copy = test_inst(OP_COPY_GM_TO_UBUF, DTYPE_COUNT);
  assert_null(known_find(fresh(), &copy));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(costs_are_those_of_the_cost_function),
      cmocka_unit_test(masks_tell_instructions_apart),
      cmocka_unit_test(an_entry_is_kept_and_starts_empty),
      cmocka_unit_test(copies_are_not_kept),
  };
  return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
