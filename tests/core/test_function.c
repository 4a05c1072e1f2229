/* SPDX-License-Identifier: Apache-2.0 */
/* The time of vector functions: those that were met before, and those too long to be recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/layout.h"
#include "core/sim/function.h"
#include "core/vinci.h"

static vinci_soc *soc;
static struct arena arena;

static int set_up(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  return vinci_soc_load("Ascend950PR_9589", NULL, &soc, &diag) == VINCI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  arena_free(&arena);
  vinci_soc_free(soc);
  return 0;
}

static struct vector_functions *functions_of_chip(void) {
  struct vector_functions *functions = functions_create(&arena, soc);
  assert_non_null(functions);
  return functions;
}

/* dst = dst + src, an instruction that waits for the last one with the same dst. */
static void add_sum(struct vector_functions *functions, unsigned dst, unsigned src) {
  struct inst inst = {.op = OP_REG_VADD, .arch = ARCH_C310};
  const struct isa_row *row = isa_row(OP_REG_VADD);
  unsigned registers = 0;
  for (unsigned i = 0; i < row->arg_count; i++)
    if (row->arg[i].kind == ARG_ADDRESS)
      inst.arg[i] = (int64_t)(registers++ == 2 ? src : dst) * REPEAT_BYTES;
  inst.arg[row->type_arg] = DTYPE_FP32;
  functions_add(functions, &inst);
}

/* The cycles of `count` sums, each `apart` registers from the one before. */
static uint64_t sums(struct vector_functions *functions, unsigned count, unsigned apart) {
  struct inst_cost cost;
  for (unsigned i = 0; i < count; i++)
    add_sum(functions, i * apart % 16, 20);
  functions_end(functions, &cost);
  return cost.latency_cycles;
}

static void what_was_met_takes_the_same(void **state) {
  (void)state;
  struct vector_functions *functions = functions_of_chip();
  uint64_t waits = sums(functions, 100, 0), free = sums(functions, 100, 1);
  assert_true(waits > free + 100); /* a sum waits more than a cycle for the one before */
  for (unsigned turn = 0; turn < 3; turn++) {
    assert_int_equal(sums(functions, 100, 0), waits);
    assert_int_equal(sums(functions, 100, 1), free);
  }
  assert_int_equal(sums(functions_of_chip(), 100, 1), free);
}

static void functions_of_any_length_are_scheduled(void **state) {
  (void)state;
  struct vector_functions *functions = functions_of_chip();
  const unsigned more = 1000, most = 200 * more; /* more than are recorded */
  uint64_t short_one = sums(functions, more, 0), next = sums(functions, 2 * more, 0);
  assert_int_equal(sums(functions, most, 0), short_one + (most / more - 1) * (next - short_one));
  assert_int_equal(sums(functions, more, 0), short_one);
}

static void a_function_without_instructions_starts_and_ends(void **state) {
  (void)state;
  struct inst_cost cost;
  struct vector_functions *functions = functions_of_chip();
  for (unsigned turn = 0; turn < 2; turn++) {
    functions_end(functions, &cost);
    assert_int_equal(cost.latency_cycles, soc->vf_start_cycles + soc->vf_end_cycles);
  }
}

/* ---- UB ---------------------------------------------------------------------------------------
 */

/* Operands by their names, with all lanes active; the rest as left out. */
static void add(struct vector_functions *functions, enum isa_op op, uint32_t row, const char *dst,
                int64_t at, const char *src, int64_t from, const char *more, int64_t value) {
  struct inst inst = {.op = op, .arch = ARCH_C310, .row = row};
  const struct isa_row *isa = isa_row(op);
  const struct {
    const char *name;
    int64_t value;
  } given[] = {{dst, at},  {src, from}, {more, value}, {"m0", -1},
               {"m1", -1}, {"m2", -1},  {"m3", -1}};
  for (unsigned i = 0; i < isa->arg_count; i++)
    for (unsigned k = 0; k < sizeof given / sizeof *given; k++)
      if (given[k].name && isa->arg[i].name_length == strlen(given[k].name) &&
          strncmp(isa->arg[i].name, given[k].name, isa->arg[i].name_length) == 0)
        inst.arg[i] = given[k].value;
  if (isa->type_arg >= 0)
    inst.arg[isa->type_arg] = DTYPE_FP32;
  functions_add(functions, &inst);
}

static uint64_t end_of(struct vector_functions *functions) {
  struct inst_cost cost;
  functions_end(functions, &cost);
  return cost.latency_cycles;
}

static uint64_t loads(struct vector_functions *functions, unsigned count, int64_t apart) {
  for (unsigned i = 0; i < count; i++)
    add(functions, OP_REG_VLDS, i, "dst", i % 8 * REPEAT_BYTES, "src", i * apart, NULL, 0);
  return end_of(functions);
}

/* All of 8 groups in one of two banks each: two a cycle from different banks, or the same. */
static void loads_wait_for_banks(void **state) {
  (void)state;
  struct vector_functions *functions = functions_of_chip();
  const unsigned count = 40;
  uint64_t alone = loads(functions, 1, 0);
  assert_int_equal(loads(functions, count, 2 * REPEAT_BYTES), alone + count - 1);
  assert_int_equal(loads(functions, count, REPEAT_BYTES), alone + count / 2 - 1);
  assert_int_equal(loads(functions, count, 0), alone + count / 2 - 1);
}

/* The most banks that a chip may have, and none. */
static void banks_of_any_number(void **state) {
  (void)state;
  static const char *const most[] = {"ub.bank_groups=16", "ub.banks_per_group=4", "ub.row_bytes=1"};
  vinci_soc *saved = soc;
  struct vinci_diag diag = {0};
  assert_int_equal(vinci_soc_load("Ascend950PR_9589", NULL, &soc, &diag), VINCI_OK);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(vinci_soc_set(soc, most[i], &diag), VINCI_OK);
  struct vector_functions *functions = functions_of_chip();
  /* 256 bytes go round 64 banks of one byte 4 times; the next load waits for all of them. */
  assert_int_equal(loads(functions, 11, REPEAT_BYTES), loads(functions, 1, 0) + 40);
  assert_int_equal(vinci_soc_set(soc, "ub.bank_groups=0", &diag), VINCI_OK);
  functions = functions_of_chip();
  assert_int_equal(loads(functions, 40, 2 * REPEAT_BYTES), loads(functions, 1, 0) + 19);
  vinci_soc_free(soc);
  soc = saved;
}

/* 8 blocks of one bank group are written one after the other, those of 8 groups at once. */
static void blocks_of_a_group_are_stored_one_by_one(void **state) {
  (void)state;
  struct vector_functions *functions = functions_of_chip();
  for (unsigned i = 0; i < 10; i++)
    add(functions, OP_REG_VSSTB, i, "dst", i * REPEAT_BYTES, "src", 0, "stride", 1);
  uint64_t side_by_side = end_of(functions);
  for (unsigned i = 0; i < 10; i++)
    add(functions, OP_REG_VSSTB, i, "dst", i * BLOCK_BYTES, "src", 0, "stride", 8);
  assert_int_equal(end_of(functions), side_by_side + 70);
}

/* What the alignment register holds goes from store to store. */
static void unaligned_stores_wait_for_each_other(void **state) {
  (void)state;
  struct vector_functions *functions = functions_of_chip();
  for (unsigned i = 0; i < 11; i++)
    add(functions, OP_REG_VSTUS, i, "align", 30 * REPEAT_BYTES, "src", 0, "dst", i * 4);
  uint64_t eleven = end_of(functions);
  add(functions, OP_REG_VSTUS, 0, "align", 30 * REPEAT_BYTES, "src", 0, "dst", 0);
  uint64_t each = (uint64_t)soc->register_class[REGISTER_STORE].store_cycles;
  assert_int_equal(eleven, end_of(functions) + 10 * each);
}

/* ---- loops and neighbours ------------------------------------------------------------------ */

/* Turns of an outer loop with 3 turns of an inner one, by rows; or the same without loops. */
static uint64_t nested(struct vector_functions *functions, unsigned turns, bool loops) {
  uint32_t row = 0;
  for (unsigned i = 0; i < turns; i++) {
    uint32_t outer = loops ? 1 : row++;
    add(functions, OP_REG_VLDS, outer, "dst", 0, "src", 0, NULL, 0);
    for (unsigned k = 0; k < 3; k++)
      add(functions, OP_REG_VLDS, loops ? 2 : row++, "dst", (k + 1) * REPEAT_BYTES, "src",
          (k + 1) * REPEAT_BYTES, NULL, 0);
  }
  return end_of(functions);
}

static void a_loop_takes_time_to_begin(void **state) {
  (void)state;
  struct vector_functions *functions = functions_of_chip();
  /* 4 loads take 2 cycles, less than an inner loop takes to begin. */
  uint64_t loops = nested(functions, 30, true) - nested(functions, 10, true);
  uint64_t plain = nested(functions, 30, false) - nested(functions, 10, false);
  assert_int_equal(plain, 20 * 2);
  assert_in_range(loops, 20 * (uint64_t)soc->vf_loop_cycles,
                  20 * ((uint64_t)soc->vf_loop_cycles + 2));
  /* One loop, however many turns it has. */
  struct vector_functions *others = functions_of_chip();
  for (unsigned i = 0; i < 40; i++)
    add(others, OP_REG_VLDS, 7, "dst", i % 8 * REPEAT_BYTES, "src", i * REPEAT_BYTES, NULL, 0);
  assert_in_range(end_of(others) - loads(functions, 40, REPEAT_BYTES), 0, soc->vf_loop_cycles);
}

static void the_next_function_starts_before_the_end(void **state) {
  (void)state;
  struct inst_cost cost;
  struct vector_functions *functions = functions_of_chip();
  add_sum(functions, 0, 20);
  functions_end(functions, &cost);
  assert_int_equal(cost.latency_cycles - cost.issue_cycles,
                   soc->vf_start_cycles + soc->vf_issue_cycles);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_wait_for_banks),
      cmocka_unit_test(banks_of_any_number),
      cmocka_unit_test(blocks_of_a_group_are_stored_one_by_one),
      cmocka_unit_test(unaligned_stores_wait_for_each_other),
      cmocka_unit_test(a_loop_takes_time_to_begin),
      cmocka_unit_test(the_next_function_starts_before_the_end),
      cmocka_unit_test(what_was_met_takes_the_same),
      cmocka_unit_test(functions_of_any_length_are_scheduled),
      cmocka_unit_test(a_function_without_instructions_starts_and_ends),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
