/* SPDX-License-Identifier: Apache-2.0 */
/* Values of vector instructions, worked out by hand: rules that no random case shows clearly. */
#include "core/number.h"
#include "core/values.h"
#include "tests/units.h"

enum { UB_BYTES = 64 * 1024 };

static _Alignas(64) uint8_t ub[UB_BYTES];

static int set_up(void **state) {
  (void)state;
  memset(ub, 0, sizeof ub);
  return 0;
}

static void execute(const struct inst *inst) {
  struct value_core core = {.bytes[SPACE_UB] = ub};
  struct vinci_soc *soc = test_soc();
  soc->ub_bytes = UB_BYTES;
  registry_values((enum isa_op)inst->op)(soc, inst, &core);
}

static void put_fp32(unsigned address, float value) { store_fp32(ub + address, value); }
static float get_fp32(unsigned address) { return load_fp32(ub + address); }

static struct inst binary(enum isa_op op, enum dtype type, int64_t repeat) {
  struct inst inst = test_inst(op, type);
  test_set(&inst, "dst", 0x2000);
  test_set(&inst, "src0", 0);
  test_set(&inst, "src1", 0x1000);
  test_set(&inst, "repeat", repeat);
  return inst;
}

/* Nothing is written with repeat 0, nor in lanes that are not active. */
static void test_masks(void **state) {
  (void)state;
  for (unsigned lane = 0; lane < 128; lane++) {
    put_fp32(4 * lane, (float)lane);
    put_fp32(0x1000 + 4 * lane, 0.5f);
  }
  struct inst inst = binary(OP_VADD, DTYPE_FP32, 0);
  execute(&inst);
  assert_true(get_fp32(0x2000) == 0.0f);
  inst = binary(OP_VADD, DTYPE_FP32, 2);
  inst.mask = (struct vector_mask){.low = 0x8000000000000002u};
  execute(&inst);
  assert_true(get_fp32(0x2000) == 0.0f);
  assert_true(get_fp32(0x2004) == 1.5f);
  assert_true(get_fp32(0x2008) == 0.0f);
  assert_true(get_fp32(0x20fc) == 63.5f);
  assert_true(get_fp32(0x2104) == 65.5f);
  inst.mask = (struct vector_mask){.low = 66, .counter = true};
  execute(&inst);
  assert_true(get_fp32(0x2100) == 64.5f);
  assert_true(get_fp32(0x2108) == 0.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_masks, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
