/* SPDX-License-Identifier: Apache-2.0 */
/* The time of vector functions: those that were met before, and those too long to be recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_met_takes_the_same),
      cmocka_unit_test(functions_of_any_length_are_scheduled),
      cmocka_unit_test(a_function_without_instructions_starts_and_ends),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
