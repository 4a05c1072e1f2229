/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the special registers: what writes them, what they hold after reset, what it costs. */
#include "tests/support/runs.h"
#include "tests/support/units.h"

/* The registers after a reset and one instruction with a pattern, if the instruction takes a
 * pattern. */
static struct inst after(enum isa_op op, uint64_t pattern) {
  struct inst inst = {0};
  inst_reset_registers(&inst);
  inst.op = (uint16_t)op;
  if (isa_row(op)->arg_count > 0)
    inst.arg[0] = (int64_t)pattern;
  inst_write_registers(&inst);
  return inst;
}

static void reset_leaves_plain_stores_and_all_lanes(void **state) {
  (void)state;
  struct inst inst = {0};
  memset(&inst, 0xa5, sizeof inst);
  inst_reset_registers(&inst);
  assert_int_equal(inst.registers.atomic, ATOMIC_NONE);
  assert_int_equal(inst.registers.atomic_type, DTYPE_FP16);
  assert_int_equal(inst.registers.quant_pre, 0);
  assert_int_equal(inst.registers.fpc, 0);
  assert_int_equal(inst.registers.deq_scale, 0);
  assert_int_equal(inst.registers.pad_value, 0);
  assert_int_equal(inst.registers.load3d_padding, 0);
  assert_int_equal(inst.registers.load3d_boundary, 0);
  assert_true(inst.mask.low == UINT64_MAX && inst.mask.high == UINT64_MAX && !inst.mask.counter);
}

static void patterns_are_kept_whole(void **state) {
  (void)state;
  const uint64_t pattern = UINT64_C(0x8000400020001003);
  assert_true(after(OP_SET_QUANT_PRE, pattern).registers.quant_pre == pattern);
  assert_true(after(OP_SET_FPC, pattern).registers.fpc == pattern);
  assert_true(after(OP_SET_DEQSCALE, pattern).registers.deq_scale == pattern);
  assert_true(after(OP_SET_MOV_PAD_VAL, pattern).registers.pad_value == pattern);
  assert_true(after(OP_SET_CTRL, 0).registers.saturates);
  assert_false(after(OP_SET_CTRL, INT64_C(1) << 48).registers.saturates);
  assert_true(after(OP_SET_PADDING, pattern).registers.load3d_padding == pattern);
  assert_true(after(OP_SET_L1_3D_SIZE, pattern).registers.load3d_boundary == pattern);
}

static void atomic_stores_have_an_operation_and_a_type(void **state) {
  (void)state;
  static const struct {
    enum isa_op op;
    int atomic; /* -1: as before */
    int type;
  } expected[] = {
      {OP_SET_ATOMIC_ADD, ATOMIC_ADD, -1},  {OP_SET_ATOMIC_MAX, ATOMIC_MAX, -1},
      {OP_SET_ATOMIC_MIN, ATOMIC_MIN, -1},  {OP_SET_ATOMIC_NONE, ATOMIC_NONE, -1},
      {OP_SET_ATOMIC_F32, -1, DTYPE_FP32},  {OP_SET_ATOMIC_F16, -1, DTYPE_FP16},
      {OP_SET_ATOMIC_BF16, -1, DTYPE_BF16}, {OP_SET_ATOMIC_S32, -1, DTYPE_INT32},
      {OP_SET_ATOMIC_S16, -1, DTYPE_INT16}, {OP_SET_ATOMIC_S8, -1, DTYPE_INT8},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct inst inst = {.op = (uint16_t)expected[i].op};
    inst.registers = (struct inst_registers){.atomic = 77, .atomic_type = 78, .fpc = 79};
    inst_write_registers(&inst);
    assert_int_equal(inst.registers.atomic, expected[i].atomic < 0 ? 77 : expected[i].atomic);
    assert_int_equal(inst.registers.atomic_type, expected[i].type < 0 ? 78 : expected[i].type);
    assert_int_equal(inst.registers.fpc, 79);
  }
}

static void other_instructions_leave_the_registers_alone(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    if (isa_row((enum isa_op)op)->pipe == PIPE_S)
      continue;
    struct inst inst = {.op = (uint16_t)op};
    memset(&inst.registers, 0x5a, sizeof inst.registers);
    memset(&inst.mask, 0, sizeof inst.mask);
    struct inst before = inst;
    inst_write_registers(&inst);
    assert_memory_equal(&inst, &before, sizeof inst);
  }
}

static void a_register_move_takes_one_issue(void **state) {
  (void)state;
  /* five moves, and the vadd of 23 + 4 x 10 is issued behind them */
  vinci_soc *soc = fixture_soc();
  assert_int_equal(runs_cycles(soc,
                               HEAD(1) AIV "set_atomic_add\nset_atomic_f32\n"
                                           "set_mov_pad_val,value=0x3f800000\n"
                                           "set_deqscale,value=15360\nset_atomic_none\n" VADD(10)),
                   FIXTURE_LAUNCH + 5 * FIXTURE_ISSUE + 63);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reset_leaves_plain_stores_and_all_lanes),
      cmocka_unit_test(patterns_are_kept_whole),
      cmocka_unit_test(atomic_stores_have_an_operation_and_a_type),
      cmocka_unit_test(other_instructions_leave_the_registers_alone),
      cmocka_unit_test(a_register_move_takes_one_issue),
  };
  return cmocka_run_group_tests_name("registers", tests, NULL, NULL);
}
