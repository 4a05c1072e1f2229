/* SPDX-License-Identifier: Apache-2.0 */
/* The exact bytes an instruction touches, as runs, against the bytes of their definition. */
#include "tests/support/units.h"

enum { SPACE_BYTES = 1 << 16, ORIGIN = 4096 };

/* Bytes of one access, by address. */
struct map {
  uint8_t touched[SPACE_BYTES];
  unsigned runs;
};

static bool mark(void *context, int64_t address, uint64_t bytes) {
  struct map *map = context;
  assert_true(bytes > 0 && address >= 0 && address + (int64_t)bytes <= SPACE_BYTES);
  for (uint64_t i = 0; i < bytes; i++)
    map->touched[address + (int64_t)i]++;
  map->runs++;
  return true;
}

/* The bytes an instruction touches through an operand, in one access or several; those of each lie
 * in its hull. */
static const struct map *touched(const struct inst *inst, const char *name, bool write) {
  static struct map map;
  struct inst_access access[INST_ACCESS_MAX];
  int index = isa_arg_find(isa_row((enum isa_op)inst->op), name, strlen(name));
  unsigned count = registry_access((enum isa_op)inst->op)(test_soc(), inst, access);
  memset(&map, 0, sizeof map);
  for (unsigned a = 0; a < count; a++) {
    static struct map one;
    memset(&one, 0, sizeof one);
    if (access[a].arg != index || access[a].write != write)
      continue;
    assert_true(inst_each_run(&access[a], mark, &one));
    for (int64_t i = 0; i < SPACE_BYTES; i++) {
      if (one.touched[i])
        assert_true(i >= access[a].address && i < access[a].address + (int64_t)access[a].bytes);
      map.touched[i] += one.touched[i];
    }
    map.runs += one.runs;
  }
  return &map;
}

static void expect_bytes(const struct map *map, const uint8_t *expected) {
  for (unsigned i = 0; i < SPACE_BYTES; i++)
    if ((map->touched[i] != 0) != (expected[i] != 0))
      fail_msg("byte %u is %s", i, expected[i] ? "left out" : "too much");
}

/* A vector destination by definition: lane by lane. */
static void lanes_by_definition(const struct inst *inst, unsigned repeats, unsigned per_repeat,
                                unsigned bytes_of_lane, unsigned block, unsigned repeat_stride,
                                uint8_t *expected) {
  memset(expected, 0, SPACE_BYTES);
  unsigned per_block = BLOCK_BYTES / bytes_of_lane;
  uint64_t left = inst->mask.low;
  for (unsigned r = 0; r < repeats; r++) {
    for (unsigned lane = 0; lane < per_repeat; lane++) {
      uint64_t word = lane < 64 ? inst->mask.low : inst->mask.high;
      bool active = inst->mask.counter ? left > 0 : (word >> lane % 64 & 1) != 0;
      if (inst->mask.counter && left > 0)
        left--;
      unsigned at = ORIGIN + (r * repeat_stride + lane / per_block * block) * BLOCK_BYTES +
                    lane % per_block * bytes_of_lane;
      for (unsigned i = 0; active && i < bytes_of_lane; i++)
        expected[at + i] = 1;
    }
  }
}

static struct inst dup_inst(enum dtype type, unsigned repeat, unsigned block, unsigned stride) {
  struct inst inst = test_inst(OP_VECTOR_DUP, type);
  test_set(&inst, "dst", ORIGIN);
  test_set(&inst, "repeat", repeat);
  test_set(&inst, "dst_block", block);
  test_set(&inst, "dst_repeat", stride);
  return inst;
}

static void test_masks_and_strides(void **state) {
  (void)state;
  static uint8_t expected[SPACE_BYTES];
  static const uint64_t masks[] = {UINT64_MAX,         0xffff,     0x3ff,
                                   0x5555555555555555, 0xfff0,     UINT64_C(1) << 63,
                                   0x00ff00ff00ff00ff, 0xfffffffe, 1};
  for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++)
    for (unsigned block = 1; block <= 3; block++)
      for (unsigned stride = 8; stride <= 24; stride += 8)
        for (unsigned wide = 0; wide < 2; wide++) {
          struct inst inst = dup_inst(wide ? DTYPE_FP32 : DTYPE_FP16, 3, block, stride);
          inst.mask = (struct vector_mask){.low = masks[m], .high = masks[m] >> 7};
          lanes_by_definition(&inst, 3, wide ? 64 : 128, wide ? 4 : 2, block, stride, expected);
          expect_bytes(touched(&inst, "dst", WRITE), expected);
        }
}

static void test_counter_mode(void **state) {
  (void)state;
  static uint8_t expected[SPACE_BYTES];
  for (unsigned count = 1; count < 400; count += 13)
    for (unsigned block = 1; block <= 2; block++) {
      struct inst inst = dup_inst(DTYPE_FP16, 1, block, 16);
      inst.mask = (struct vector_mask){.low = count, .counter = true};
      lanes_by_definition(&inst, (count + 127) / 128, 128, 2, block, 16, expected);
      expect_bytes(touched(&inst, "dst", WRITE), expected);
    }
}

static void test_contiguous_walks_are_one_run(void **state) {
  (void)state;
  struct inst inst = dup_inst(DTYPE_FP16, 100, 1, 8);
  assert_int_equal(touched(&inst, "dst", WRITE)->runs, 1);
  inst.mask = (struct vector_mask){.low = 0xff, .high = 0};
  assert_int_equal(touched(&inst, "dst", WRITE)->runs, 100);
}

static void test_bursts(void **state) {
  (void)state;
  static uint8_t expected[SPACE_BYTES];
  struct inst inst = test_inst(OP_COPY_GM_TO_UBUF, DTYPE_COUNT);
  test_set(&inst, "dst", ORIGIN);
  test_set(&inst, "n_burst", 5);
  test_set(&inst, "len_burst", 3);
  test_set(&inst, "dst_gap", 2);
  memset(expected, 0, sizeof expected);
  for (unsigned i = 0; i < 5; i++)
    memset(expected + ORIGIN + i * 5 * BLOCK_BYTES, 1, 3 * BLOCK_BYTES);
  const struct map *map = touched(&inst, "dst", WRITE);
  expect_bytes(map, expected);
  assert_int_equal(map->runs, 5);
  test_set(&inst, "dst_gap", 0);
  assert_int_equal(touched(&inst, "dst", WRITE)->runs, 1);
}

static void test_nd2nz(void **state) {
  (void)state;
  static uint8_t expected[SPACE_BYTES];
  struct inst inst = test_inst(OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B16, DTYPE_COUNT);
  test_set(&inst, "dst", ORIGIN);
  test_set(&inst, "nd_num", 2);
  test_set(&inst, "n", 5);
  test_set(&inst, "d", 40); /* two and a half blocks */
  test_set(&inst, "src_d", 64);
  test_set(&inst, "src_nd_stride", 1024);
  test_set(&inst, "dst_c0_stride", 16);
  test_set(&inst, "dst_n_stride", 2);
  test_set(&inst, "dst_nd_stride", 4096);
  memset(expected, 0, sizeof expected);
  for (unsigned nd = 0; nd < 2; nd++)
    for (unsigned row = 0; row < 5; row++)
      for (unsigned column = 0; column < 3; column++)
        memset(expected + ORIGIN + nd * 8192 + column * 16 * BLOCK_BYTES + row * 2 * BLOCK_BYTES, 1,
               BLOCK_BYTES);
  expect_bytes(touched(&inst, "dst", WRITE), expected);
  memset(expected, 0, sizeof expected);
  for (unsigned nd = 0; nd < 2; nd++)
    for (unsigned row = 0; row < 5; row++)
      memset(expected + nd * 2048 + row * 128, 1, 80);
  expect_bytes(touched(&inst, "src", READ), expected);
}

static void test_fixpipe_rows(void **state) {
  (void)state;
  static uint8_t expected[SPACE_BYTES];
  struct inst inst = test_inst(OP_COPY_MATRIX_CC_TO_GM, DTYPE_FP32);
  test_set(&inst, "n", 20);
  test_set(&inst, "m", 7);
  test_set(&inst, "dst_stride", 33);
  test_set(&inst, "src_stride", 16);
  test_set(&inst, "nz2nd", 1);
  memset(expected, 0, sizeof expected);
  for (unsigned row = 0; row < 7; row++)
    memset(expected + row * 33 * 4, 1, 20 * 4);
  expect_bytes(touched(&inst, "dst", WRITE), expected);
  memset(expected, 0, sizeof expected);
  memset(expected, 1, 7 * 64);
  for (unsigned row = 0; row < 7; row++) /* of the last fractal the 4 columns that are left of 20 */
    memset(expected + 16 * 64 + row * 64, 1, 4 * 4);
  expect_bytes(touched(&inst, "src", READ), expected);
}

static void test_halves_of_blocks(void **state) {
  (void)state;
  static uint8_t expected[SPACE_BYTES];
  struct inst inst = test_inst(OP_SCATTER_VNCHWCONV_B8, DTYPE_COUNT);
  test_set(&inst, "dst", ORIGIN);
  test_set(&inst, "dst_high", 1);
  memset(expected, 0, sizeof expected);
  for (unsigned i = 0; i < 16; i++)
    memset(expected + ORIGIN + i * BLOCK_BYTES + 16, 1, 16);
  expect_bytes(touched(&inst, "dst", WRITE), expected);
}

static bool stop_at_second(void *context, int64_t address, uint64_t bytes) {
  (void)address;
  (void)bytes;
  return ++*(unsigned *)context < 2;
}

static void test_can_be_stopped(void **state) {
  (void)state;
  struct inst inst = dup_inst(DTYPE_FP16, 4, 2, 32);
  struct inst_access access = test_access(&inst, "dst", WRITE);
  unsigned count = 0;
  assert_false(inst_each_run(&access, stop_at_second, &count));
  assert_int_equal(count, 2);
  inst.mask.low = 0x5555;
  access = test_access(&inst, "dst", WRITE);
  count = 0;
  assert_false(inst_each_run(&access, stop_at_second, &count));
  assert_int_equal(count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_masks_and_strides),
      cmocka_unit_test(test_counter_mode),
      cmocka_unit_test(test_contiguous_walks_are_one_run),
      cmocka_unit_test(test_bursts),
      cmocka_unit_test(test_nd2nz),
      cmocka_unit_test(test_fixpipe_rows),
      cmocka_unit_test(test_halves_of_blocks),
      cmocka_unit_test(test_can_be_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
