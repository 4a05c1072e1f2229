/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what transfer instructions cost and touch. */
#include "memhier/transfer/transfer.h"
#include "tests/support/units.h"

/* Durations in the test SoC. */
static uint64_t local_cycles(uint64_t bytes) { return T_LOCAL_STARTUP + (bytes + 127) / T_RATE; }

static struct inst burst(enum isa_op op, int64_t count, int64_t blocks) {
  struct inst inst = test_inst(op, DTYPE_COUNT);
  test_set(&inst, "n_burst", count);
  test_set(&inst, "len_burst", blocks);
  return inst;
}

static void gm_copy_names_its_runs(void **state) {
  (void)state;
  struct inst inst = burst(OP_COPY_GM_TO_UBUF, 3, 4);
  test_set(&inst, "src", 0x10000);
  test_set(&inst, "src_gap", 2);
  struct inst_cost cost = test_cost(&inst);
  assert_true(cost.uses_gm);
  assert_false(cost.gm_write);
  assert_false(cost.overlaps);
  assert_int_equal(cost.path, PATH_GM_UB);
  assert_int_equal(cost.bytes, 3 * 128);
  assert_int_equal(cost.latency_cycles, T_GM_STARTUP);
  assert_int_equal(cost.issue_cycles, T_GM_STARTUP);
  assert_int_equal(cost.gm_address, 0x10000);
  assert_int_equal(cost.gm_bursts, 3);
  assert_int_equal(cost.gm_burst_bytes, 128);
  assert_int_equal(cost.gm_stride_bytes, 192);
  assert_int_equal(cost.line_mcycles, 0);
  assert_int_equal(test_bytes(&inst, "src", READ), 2 * 192 + 128);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 384);
}

static void runs_without_gaps_are_one(void **state) {
  (void)state;
  struct inst inst = burst(OP_COPY_UBUF_TO_GM, 16, 8);
  test_set(&inst, "dst", 4096);
  test_set(&inst, "src_gap", 8);
  struct inst_cost cost = test_cost(&inst);
  assert_true(cost.gm_write);
  assert_int_equal(cost.path, PATH_UB_GM);
  assert_int_equal(cost.gm_address, 4096);
  assert_int_equal(cost.gm_bursts, 1);
  assert_int_equal(cost.gm_burst_bytes, 4096);
  assert_int_equal(test_bytes(&inst, "src", READ), 15 * 512 + 256);
}

static void copy_of_nothing_leaves_memory_alone(void **state) {
  (void)state;
  struct inst no_runs = burst(OP_COPY_GM_TO_CBUF, 0, 4), empty = burst(OP_COPY_GM_TO_CBUF, 4, 0);
  assert_false(test_cost(&no_runs).uses_gm);
  assert_false(test_cost(&empty).uses_gm);
  assert_int_equal(test_cost(&empty).bytes, 0);
  assert_int_equal(test_cost(&empty).latency_cycles, T_GM_STARTUP);
  assert_int_equal(test_bytes(&empty, "dst", WRITE), 0);
  struct inst local = burst(OP_COPY_UBUF_TO_UBUF, 0, 4);
  assert_int_equal(test_cost(&local).issue_cycles, T_LOCAL_STARTUP);
}

static void largest_copy_counts_every_byte(void **state) {
  (void)state;
  struct inst inst = burst(OP_COPY_GM_TO_CBUF, 4095, 65535);
  assert_int_equal(test_cost(&inst).bytes, UINT64_C(4095) * 65535 * 32);
}

static void on_chip_copies_take_start_up_and_bytes(void **state) {
  (void)state;
  struct inst inst = burst(OP_COPY_UBUF_TO_UBUF, 3, 1);
  struct inst_cost cost = test_cost(&inst);
  assert_int_equal(cost.issue_cycles, 3); /* 2 + 0.75 */
  assert_int_equal(cost.latency_cycles, 3);
  assert_int_equal(cost.bytes, 96);
  assert_int_equal(cost.path, PATH_UB_UB);
  assert_false(cost.uses_gm);
  assert_int_equal(cost.minimum_cycles, 0);
  struct vinci_soc *soc = test_soc();
  soc->path[PATH_UB_UB].minimum_mcycles = 10500;
  transfer_burst_cost(soc, &inst, &cost);
  assert_int_equal(cost.issue_cycles, 11); /* 10.5, start-up included */
}

static void buffers_on_the_way_fill(void **state) {
  (void)state;
  struct vinci_soc *soc = test_soc();
  soc->path[PATH_UB_UB].sustained_mbytes_per_cycle = 32000;
  soc->path[PATH_UB_GM].sustained_mbytes_per_cycle = 32000;
  struct inst_cost cost;
  struct inst little = burst(OP_COPY_UBUF_TO_UBUF, 1, 1), much = burst(OP_COPY_UBUF_TO_UBUF, 1, 64);
  transfer_burst_cost(soc, &little, &cost);
  assert_int_equal(cost.issue_cycles, 2); /* 2 + 32 / 128, to the nearest */
  transfer_burst_cost(soc, &much, &cost);
  assert_int_equal(cost.issue_cycles, 64); /* 2048 / 32, not 2 + 2048 / 128 */
  struct inst store = burst(OP_COPY_UBUF_TO_GM, 1, 640);
  transfer_burst_cost(soc, &store, &cost);
  assert_int_equal(cost.latency_cycles, T_GM_STARTUP);
  assert_int_equal(cost.minimum_cycles, 640);
  soc->path[PATH_UB_GM].minimum_mcycles = 1000000;
  transfer_burst_cost(soc, &store, &cost);
  assert_int_equal(cost.minimum_cycles, 1000);
}

static void start_up_grows_with_doublings_of_requests(void **state) {
  (void)state;
  struct vinci_soc *soc = test_soc();
  soc->path[PATH_GM_UB].request_bytes = 128;
  soc->path[PATH_GM_UB].spread_mcycles = 10000;
  const struct path_cost *path = &soc->path[PATH_GM_UB];
  assert_int_equal(transfer_startup_mcycles(path, 0), T_GM_STARTUP * 1000);
  assert_int_equal(transfer_startup_mcycles(path, 32), T_GM_STARTUP * 1000);
  assert_int_equal(transfer_startup_mcycles(path, 128), T_GM_STARTUP * 1000);
  assert_int_equal(transfer_startup_mcycles(path, 129), T_GM_STARTUP * 1000 + 10000);
  assert_int_equal(transfer_startup_mcycles(path, 1024), T_GM_STARTUP * 1000 + 30000);
  assert_int_equal(transfer_startup_mcycles(path, 1536), T_GM_STARTUP * 1000 + 35000);
  uint64_t before = 0;
  for (uint64_t bytes = 0; bytes < 100000; bytes += 32) {
    uint64_t startup = transfer_startup_mcycles(path, bytes);
    assert_true(startup >= before);
    before = startup;
  }
}

static void bias_doubles_when_it_becomes_fp32(void **state) {
  (void)state;
  struct inst inst = burst(OP_COPY_CBUF_TO_BT, 1, 4);
  assert_int_equal(test_cost(&inst).path, PATH_L1_BT);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 128);
  test_set(&inst, "conv", 1);
  assert_int_equal(test_bytes(&inst, "src", READ), 128);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 256);
}

static void paths_follow_the_operands(void **state) {
  (void)state;
  static const struct {
    enum isa_op op;
    enum path path;
  } expected[] = {
      {OP_COPY_CBUF_TO_FBUF, PATH_L1_FB},     {OP_COPY_CBUF_TO_GM, PATH_L1_GM},
      {OP_COPY_UBUF_TO_CBUF, PATH_UB_L1},     {OP_COPY_CBUF_TO_UBUF, PATH_L1_UB},
      {OP_LOAD_CBUF_TO_CA, PATH_L1_L0A},      {OP_LOAD_CBUF_TO_CB, PATH_L1_L0B},
      {OP_LOAD_GM_TO_CA, PATH_GM_L0A},        {OP_LOAD_GM_TO_CB, PATH_GM_L0B},
      {OP_COPY_MATRIX_CC_TO_GM, PATH_L0C_GM}, {OP_COPY_MATRIX_CC_TO_CBUF, PATH_L0C_L1},
      {OP_COPY_MATRIX_CC_TO_UB, PATH_L0C_UB},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct inst inst = test_inst(expected[i].op, DTYPE_FP32);
    assert_int_equal(transfer_path(&inst), expected[i].path);
    assert_int_equal(path_pipe(expected[i].path), isa_row(expected[i].op)->pipe);
  }
}

static void aligned_forms_overlap_and_pad(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_GM_TO_UBUF_ALIGN_B16, DTYPE_COUNT);
  test_set(&inst, "src", 7);
  test_set(&inst, "n_burst", 3);
  test_set(&inst, "len_burst", 50);
  test_set(&inst, "right_pad", 8); /* 16 bytes: 66 of 3 blocks */
  test_set(&inst, "src_gap", 14);
  test_set(&inst, "dst_gap", 1);
  assert_false(test_cost(&inst).overlaps); /* the test SoC knows no overlap */
  struct vinci_soc *soc = test_soc();
  soc->path[PATH_GM_UB].overlap_issue_mcycles = 20600;
  struct inst_cost cost;
  transfer_align_cost(soc, &inst, &cost);
  assert_true(cost.overlaps);
  assert_int_equal(cost.issue_cycles, 21);
  assert_int_equal(cost.latency_cycles, T_GM_STARTUP);
  assert_int_equal(cost.bytes, 150);
  assert_int_equal(cost.gm_address, 7);
  assert_int_equal(cost.gm_stride_bytes, 64);
  assert_int_equal(test_bytes(&inst, "src", READ), 2 * 64 + 50);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 2 * 128 + 96);
}

/* Of 5 bursts of 96 bytes: 11 cycles each, when any of them begins or ends inside a block. */
static uint64_t unaligned_minimum(int64_t src, int64_t length, int64_t gap) {
  struct vinci_soc *soc = test_soc();
  struct inst inst = test_inst(OP_COPY_GM_TO_UBUF_ALIGN_B8, DTYPE_COUNT);
  struct inst_cost cost;
  soc->path[PATH_GM_UB].unaligned_mcycles = 11000;
  test_set(&inst, "src", src);
  test_set(&inst, "n_burst", 5);
  test_set(&inst, "len_burst", length);
  test_set(&inst, "src_gap", gap);
  transfer_align_cost(soc, &inst, &cost);
  return cost.minimum_cycles;
}

static void bursts_that_cut_blocks_take_the_engine_longer(void **state) {
  (void)state;
  assert_int_equal(unaligned_minimum(0, 96, 32), 0);
  uint64_t whole = T_GM_STARTUP + 5 * 11;
  assert_int_equal(unaligned_minimum(2, 96, 32), whole + 5 * 96 / T_RATE);
  assert_int_equal(unaligned_minimum(0, 96, 31), whole + 5 * 96 / T_RATE);
  assert_int_equal(unaligned_minimum(0, 95, 33), whole + 5 * 95 / T_RATE);
  assert_int_equal(unaligned_minimum(0, 95, 0), whole + 5 * 95 / T_RATE);
  assert_int_equal(unaligned_minimum(0, 96, 0), 0);
}

static void aligned_store_writes_bytes_exactly(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_UBUF_TO_GM_ALIGN_B8, DTYPE_COUNT);
  test_set(&inst, "n_burst", 2);
  test_set(&inst, "len_burst", 33);
  test_set(&inst, "dst_gap", 5);
  assert_true(test_cost(&inst).gm_write);
  assert_int_equal(test_cost(&inst).bytes, 66);
  assert_int_equal(test_bytes(&inst, "src", READ), 64 + 33);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 38 + 33);
  test_set(&inst, "len_burst", 0);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 0);
}

static void nd2nz_counts_lines_of_rows(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B16, DTYPE_COUNT);
  test_set(&inst, "n", 100);
  test_set(&inst, "d", 40);
  test_set(&inst, "src_d", 2048);
  test_set(&inst, "dst_c0_stride", 112);
  struct inst_cost cost = test_cost(&inst);
  assert_int_equal(cost.path, PATH_GM_L1);
  assert_int_equal(cost.bytes, 8000);
  assert_int_equal(cost.gm_bursts, 100);
  assert_int_equal(cost.gm_burst_bytes, 80);
  assert_int_equal(cost.gm_stride_bytes, 4096);
  assert_int_equal(cost.latency_cycles, T_GM_STARTUP);
  assert_int_equal(cost.issue_cycles, T_GM_STARTUP);
  assert_int_equal(cost.minimum_cycles, 0);
  assert_int_equal(cost.line_mcycles, T_ND2NZ_LINE * 1000);
  assert_false(cost.overlaps); /* the test SoC knows no overlap */
  assert_int_equal(test_bytes(&inst, "src", READ), 99 * 4096 + 80);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 2 * 112 * 32 + 100 * 32);
}

static void nd2nz_copies_overlap(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B16, DTYPE_COUNT);
  test_set(&inst, "n", 3);
  test_set(&inst, "d", 64);
  test_set(&inst, "src_d", 100);
  struct vinci_soc *soc = test_soc();
  soc->path[PATH_GM_L1].overlap_issue_mcycles = 20600;
  struct inst_cost cost;
  transfer_nd2nz_cost(soc, &inst, &cost);
  assert_true(cost.overlaps);
  assert_int_equal(cost.issue_cycles, 21);
  assert_int_equal(cost.latency_cycles, T_GM_STARTUP);
}

static void nd2nz_of_several_matrices(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B32S, DTYPE_COUNT);
  test_set(&inst, "nd_num", 4);
  test_set(&inst, "n", 16);
  test_set(&inst, "d", 8);
  test_set(&inst, "src_d", 8);
  test_set(&inst, "src_nd_stride", 256);
  test_set(&inst, "dst_c0_stride", 16);
  test_set(&inst, "dst_nd_stride", 128);
  struct inst_cost cost = test_cost(&inst);
  assert_int_equal(cost.bytes, 4 * 512);
  assert_int_equal(cost.gm_bursts, 4); /* rows of a matrix follow without gap */
  assert_int_equal(cost.gm_burst_bytes, 512);
  assert_int_equal(cost.gm_stride_bytes, 1024);
  assert_int_equal(cost.line_mcycles, 16 * T_ND2NZ_LINE * 1000); /* 16 rows of 32 bytes in a line */
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 4 * 512);
  test_set(&inst, "n", 0);
  assert_false(test_cost(&inst).uses_gm);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 0);
}

static struct inst load2d(enum isa_op op, enum dtype type, int64_t repeat) {
  struct inst inst = test_inst(op, type);
  test_set(&inst, "base", 2);
  test_set(&inst, "repeat", repeat);
  test_set(&inst, "src_stride", 4);
  test_set(&inst, "dst_gap", 1);
  return inst;
}

static void load2d_moves_fractals(void **state) {
  (void)state;
  struct inst inst = load2d(OP_LOAD_CBUF_TO_CA, DTYPE_COUNT, 3);
  assert_int_equal(test_cost(&inst).bytes, 3 * 512);
  assert_int_equal(test_cost(&inst).issue_cycles, local_cycles(3 * 512));
  assert_int_equal(test_access(&inst, "src", READ).address, 1024);
  assert_int_equal(test_bytes(&inst, "src", READ), (2 * 4 + 1) * 512);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), (2 * 2 + 1) * 512);
  struct inst none = load2d(OP_LOAD_CBUF_TO_CB, DTYPE_COUNT, 0);
  struct inst most = load2d(OP_LOAD_CBUF_TO_CB, DTYPE_COUNT, 255);
  assert_int_equal(test_cost(&none).issue_cycles, T_LOCAL_STARTUP);
  assert_int_equal(test_bytes(&none, "src", READ), 0);
  assert_int_equal(test_cost(&most).bytes, 255 * 512);
  struct inst gm = load2d(OP_LOAD_GM_TO_CB, DTYPE_COUNT, 3);
  test_set(&gm, "src", 512);
  assert_int_equal(test_cost(&gm).gm_address, 512 + 1024);
  assert_int_equal(test_cost(&gm).gm_stride_bytes, 2048);
}

static void transposing_load_moves_squares(void **state) {
  (void)state;
  struct inst half = load2d(OP_LOAD_CBUF_TO_CB_TRANSPOSE, DTYPE_FP16, 3);
  assert_int_equal(test_cost(&half).bytes, 3 * 512);
  struct inst byte = load2d(OP_LOAD_CBUF_TO_CB_TRANSPOSE, DTYPE_INT8, 3);
  test_set(&byte, "dst_gap", 0);
  test_set(&byte, "frac_gap", 2);
  assert_int_equal(test_cost(&byte).bytes, 3 * 1024);
  assert_int_equal(test_access(&byte, "src", READ).address, 2 * 1024);
  assert_int_equal(test_bytes(&byte, "src", READ), (2 * 4 + 1) * 1024);
  assert_int_equal(test_bytes(&byte, "dst", WRITE), (2 + 3 + 1) * 512);
  struct inst nibble = load2d(OP_LOAD_CBUF_TO_CB_TRANSPOSE, DTYPE_INT4, 3);
  test_set(&nibble, "dst_gap", 0);
  assert_int_equal(test_cost(&nibble).bytes, 3 * 2048);
  assert_int_equal(test_access(&nibble, "src", READ).address, 2 * 2048);
  assert_int_equal(test_bytes(&nibble, "src", READ), (2 * 4 + 1) * 2048);
  assert_int_equal(test_bytes(&nibble, "dst", WRITE), (2 + 4) * 512);
}

static void indices_go_beside_their_values(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_LOAD_CBUF_TO_CB_SP, DTYPE_COUNT);
  test_set(&inst, "dst", 4096);
  test_set(&inst, "src", 8192);
  test_set(&inst, "index", 1024);
  test_set(&inst, "base", 2);
  test_set(&inst, "repeat", 3);
  assert_int_equal(test_cost(&inst).bytes, 3 * 512);
  assert_int_equal(test_cost(&inst).path, PATH_L1_L0B);
  assert_int_equal(test_cost(&inst).issue_cycles, local_cycles(3 * 512));
  struct inst_access access[INST_ACCESS_MAX];
  static const struct {
    enum space space;
    int64_t address;
    uint64_t bytes;
    bool write;
  } expected[] = {{SPACE_L1, 8192 + 1024, 1536, false},
                  {SPACE_L1, 1024 + 256, 384, false},
                  {SPACE_L0B, 4096, 1536, true},
                  {SPACE_IDX, 1024, 384, true}};
  assert_int_equal(transfer_load_sparse_access(test_soc(), &inst, access), 4);
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(access[i].space, expected[i].space);
    assert_int_equal(access[i].address, expected[i].address);
    assert_int_equal(access[i].bytes, expected[i].bytes);
    assert_int_equal(access[i].write, expected[i].write);
  }
}

/* 3 x 3 windows over 14 x 14 pixels of 64 channels, padded by 1: 196 x 576. */
static struct inst load3d(int64_t m_start, int64_t m_ext, int64_t k_start, int64_t k_ext) {
  struct inst inst = test_inst(OP_IMG2COLV2_CBUF_TO_CA, DTYPE_FP16);
  static const char *const names[] = {"filter_w",   "filter_h", "pad_left", "pad_right", "pad_top",
                                      "pad_bottom", "l1_w",     "l1_h",     "channels",  "m_start",
                                      "m_ext",      "k_start",  "k_ext"};
  const int64_t values[] = {3, 3, 1, 1, 1, 1, 14, 14, 64, m_start, m_ext, k_start, k_ext};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    test_set(&inst, names[i], values[i]);
  return inst;
}

static void load3d_moves_the_windows_it_makes(void **state) {
  (void)state;
  struct inst inst = load3d(0, 100, 0, 150);
  uint64_t bytes = 7 * 10 * 512; /* 100 rows of 16, 150 columns of 16 */
  assert_int_equal(test_cost(&inst).bytes, bytes);
  assert_int_equal(test_cost(&inst).issue_cycles, local_cycles(bytes));
  assert_int_equal(test_bytes(&inst, "dst", WRITE), bytes);
  struct inst none = load3d(0, 0, 0, 16);
  assert_int_equal(test_cost(&none).bytes, 0);
  assert_int_equal(test_bytes(&none, "src", READ), 0);
}

static void load3d_reads_the_rows_under_its_windows(void **state) {
  (void)state;
  enum { ROW = 14 * 32, GROUP = 14 * ROW };
  struct inst whole = load3d(0, 196, 0, 576);
  assert_int_equal(test_bytes(&whole, "src", READ), 4 * GROUP);
  struct inst top = load3d(0, 14, 0, 144); /* one output row, one channel group */
  assert_int_equal(test_access(&top, "src", READ).address, 0);
  assert_int_equal(test_bytes(&top, "src", READ), 2 * ROW);
  struct inst inner = load3d(28, 14, 144, 144); /* output row 2, group 1 */
  assert_int_equal(test_access(&inner, "src", READ).address, GROUP + ROW);
  assert_int_equal(test_bytes(&inner, "src", READ), 3 * ROW);
}

static void load3d_reads_from_the_start_of_l1_behind_its_boundary(void **state) {
  (void)state;
  enum { ROW = 14 * 32, GROUP = 14 * ROW, SRC = 1024 };
  struct inst_access access[INST_ACCESS_MAX];
  struct inst inst = load3d(0, 14, 0, 144); /* two rows from SRC on */
  test_set(&inst, "src", SRC);
  inst.registers.load3d_boundary = SRC + 2 * ROW;
  assert_int_equal(transfer_load3d_access(test_soc(), &inst, access), 2);
  assert_int_equal(access[0].address, SRC);
  assert_int_equal(access[0].bytes, 2 * ROW);
  inst.registers.load3d_boundary = SRC + ROW + 32;
  assert_int_equal(transfer_load3d_access(test_soc(), &inst, access), 3);
  assert_int_equal(access[0].address, SRC);
  assert_int_equal(access[0].bytes, ROW + 32);
  assert_int_equal(access[1].address, 0);
  assert_int_equal(access[1].bytes, ROW - 32);
  assert_false(access[1].write);
  assert_true(access[2].write);
  struct inst inner = load3d(28, 14, 144, 144); /* three rows, all of them behind the boundary */
  inner.registers.load3d_boundary = GROUP;
  assert_int_equal(transfer_load3d_access(test_soc(), &inner, access), 2);
  assert_int_equal(access[0].address, ROW);
  assert_int_equal(access[0].bytes, 3 * ROW);
  struct inst whole = load3d(0, 196, 0, 576);
  test_set(&whole, "src", SRC);
  whole.registers.load3d_boundary = 2048;
  assert_int_equal(transfer_load3d_access(test_soc(), &whole, access), 2);
  assert_int_equal(access[0].address, 0);
  assert_int_equal(access[0].bytes, 2048);
  assert_int_equal(access[0].runs.bytes, 0);
}

/* The same map and windows by load3d of the first version: windows from output row y on. */
static struct inst img2col(int64_t repeat, int64_t y, int64_t c1) {
  struct inst inst = test_inst(OP_IMG2COL_CBUF_TO_CA, DTYPE_FP16);
  static const char *const names[] = {"filter_w", "filter_h",   "pad_left", "pad_right",
                                      "pad_top",  "pad_bottom", "l1_w",     "l1_h"};
  static const int64_t values[] = {3, 3, 1, 1, 1, 1, 14, 14};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    test_set(&inst, names[i], values[i]);
  test_set(&inst, "repeat", repeat);
  test_set(&inst, "first_x", -1);
  test_set(&inst, "first_y", y - 1);
  test_set(&inst, "c1", c1);
  return inst;
}

static void img2col_moves_a_fractal_per_repeat(void **state) {
  (void)state;
  enum { ROW = 14 * 32, GROUP = 14 * ROW, WINDOWS = 1 };
  struct inst top = img2col(9, 0, 0); /* 16 windows: output rows 0 and 1, map rows 0 to 2 */
  assert_int_equal(test_cost(&top).bytes, 9 * 512);
  assert_int_equal(test_cost(&top).issue_cycles, local_cycles(9 * 512));
  assert_int_equal(test_bytes(&top, "dst", WRITE), 9 * 512);
  assert_int_equal(test_access(&top, "src", READ).address, 0);
  assert_int_equal(test_bytes(&top, "src", READ), 3 * ROW);
  struct inst apart = img2col(3, 5, 1); /* map rows 4 to 7 of group 1 */
  test_set(&apart, "jump", 4);
  assert_int_equal(test_bytes(&apart, "dst", WRITE), (2 * 4 + 1) * 512);
  assert_int_equal(test_access(&apart, "src", READ).address, GROUP + 4 * ROW);
  assert_int_equal(test_bytes(&apart, "src", READ), 4 * ROW);
  struct inst groups = img2col(10, 5, 1); /* the tenth repeat is of group 2 */
  assert_int_equal(test_bytes(&groups, "src", READ), GROUP + 4 * ROW);
  struct inst windows = img2col(2, 5, 1); /* 32 windows: output rows 5 to 7 */
  test_set(&windows, "mode", WINDOWS);
  assert_int_equal(test_bytes(&windows, "src", READ), 5 * ROW);
  test_set(&windows, "first_y", -1);
  test_set(&windows, "repeat", 7); /* 112 windows, 14 in a row: output rows 0 to 7 */
  assert_int_equal(test_bytes(&windows, "src", READ), 9 * ROW);
}

static void fills_write_and_move_nothing(void **state) {
  (void)state;
  struct inst l0 = test_inst(OP_CREATE_CA_MATRIX, DTYPE_COUNT);
  test_set(&l0, "blocks", 4);
  test_set(&l0, "repeat", 3);
  test_set(&l0, "dst_gap", 2);
  assert_int_equal(test_cost(&l0).bytes, 0);
  assert_int_equal(test_cost(&l0).path, PATH_NONE);
  assert_int_equal(test_cost(&l0).issue_cycles, 12 * 512 / T_RATE);
  assert_int_equal(test_bytes(&l0, "dst", WRITE), (2 * 6 + 4) * 512);
  struct inst l1 = test_inst(OP_CREATE_CBUF_MATRIX, DTYPE_COUNT);
  test_set(&l1, "blocks", 8);
  assert_int_equal(test_bytes(&l1, "dst", WRITE), 256);
  assert_false(test_cost(&l1).uses_gm);
  test_set(&l1, "blocks", 0);
  assert_int_equal(test_cost(&l1).issue_cycles, 1);
}

static struct inst fix(enum isa_op op, int64_t m, int64_t n, int64_t quant) {
  struct inst inst = test_inst(op, DTYPE_FP32);
  test_set(&inst, "m", m);
  test_set(&inst, "n", n);
  test_set(&inst, "src_stride", (m + 15) / 16 * 16);
  test_set(&inst, "quant", quant);
  return inst;
}

static void fixpipe_writes_rows(void **state) {
  (void)state;
  struct inst inst = fix(OP_COPY_MATRIX_CC_TO_GM, 100, 64, QUANT_F322F16);
  test_set(&inst, "nz2nd", 1);
  test_set(&inst, "dst_stride", 2048);
  struct inst_cost cost = test_cost(&inst);
  assert_int_equal(cost.bytes, 100 * 64 * 2);
  assert_true(cost.gm_write);
  assert_int_equal(cost.gm_bursts, 100);
  assert_int_equal(cost.gm_burst_bytes, 128);
  assert_int_equal(cost.gm_stride_bytes, 4096);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 99 * 4096 + 128);
  assert_int_equal(test_bytes(&inst, "src", READ), 3 * 112 * 64 + 100 * 64);
  test_set(&inst, "quant", QUANT_REQ8);
  assert_int_equal(test_cost(&inst).bytes, 100 * 64);
  test_set(&inst, "quant", QUANT_NONE);
  assert_int_equal(test_cost(&inst).bytes, 100 * 64 * 4);
  test_set(&inst, "m", 0);
  assert_false(test_cost(&inst).uses_gm);
  assert_int_equal(test_bytes(&inst, "src", READ), 0);
}

static void fixpipe_writes_columns_of_blocks(void **state) {
  (void)state;
  struct inst half = fix(OP_COPY_MATRIX_CC_TO_CBUF, 32, 64, QUANT_F322BF16);
  test_set(&half, "dst_stride", 32);
  assert_int_equal(test_cost(&half).bytes, 32 * 64 * 2);
  assert_int_equal(test_cost(&half).issue_cycles, local_cycles(32 * 64 * 2));
  assert_int_equal(test_bytes(&half, "dst", WRITE), 32 * 64 * 2);
  struct inst byte = fix(OP_COPY_MATRIX_CC_TO_GM, 32, 64, QUANT_QF322B8);
  test_set(&byte, "dst_stride", 40);
  assert_int_equal(test_cost(&byte).gm_bursts, 2); /* channels merged to 32 */
  assert_int_equal(test_cost(&byte).gm_burst_bytes, 1024);
  assert_int_equal(test_cost(&byte).gm_stride_bytes, 1280);
  struct inst split = fix(OP_COPY_MATRIX_CC_TO_GM, 32, 64, QUANT_NONE);
  test_set(&split, "channel_split", 1);
  test_set(&split, "dst_stride", 40);
  assert_int_equal(test_cost(&split).gm_bursts, 8);
  assert_int_equal(test_cost(&split).gm_burst_bytes, 1024);
}

/* 32 x 64 words at 24 bytes a cycle, 342 cycles, to device memory as to L1; only where columns are
 * split. */
static void split_columns_have_a_rate_of_their_own(void **state) {
  (void)state;
  enum { BYTES = 32 * 64 * 4, RATE = 24, CYCLES = (BYTES + RATE - 1) / RATE };
  struct vinci_soc *soc = test_soc();
  struct inst to_gm = fix(OP_COPY_MATRIX_CC_TO_GM, 32, 64, QUANT_NONE);
  struct inst to_l1 = fix(OP_COPY_MATRIX_CC_TO_CBUF, 32, 64, QUANT_NONE);
  struct inst_cost cost;
  soc->split_mbytes_per_cycle = RATE * 1000;
  test_set(&to_gm, "dst_stride", 40);
  test_set(&to_l1, "dst_stride", 40);
  transfer_fix_cost(soc, &to_gm, &cost);
  assert_int_equal(cost.minimum_cycles, 0);
  test_set(&to_gm, "channel_split", 1);
  test_set(&to_l1, "channel_split", 1);
  transfer_fix_cost(soc, &to_gm, &cost);
  assert_int_equal(cost.minimum_cycles, CYCLES);
  transfer_fix_cost(soc, &to_l1, &cost);
  assert_int_equal(cost.latency_cycles, CYCLES);
  soc->split_mbytes_per_cycle = 0;
  transfer_fix_cost(soc, &to_gm, &cost);
  assert_int_equal(cost.minimum_cycles, 0);
}

static void fixpipe_of_several_matrices(void **state) {
  (void)state;
  struct inst inst = fix(OP_COPY_MATRIX_CC_TO_GM, 16, 16, QUANT_F322F16);
  test_set(&inst, "nz2nd", 1);
  test_set(&inst, "dst_stride", 64);
  test_set(&inst, "nd_num", 3);
  test_set(&inst, "src_nd_stride", 2);
  test_set(&inst, "dst_nd_stride", 1024);
  assert_int_equal(test_cost(&inst).bytes, 3 * 512);
  assert_int_equal(test_bytes(&inst, "src", READ), 2 * 2048 + 1024);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 2 * 2048 + 15 * 128 + 32);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gm_copy_names_its_runs),
      cmocka_unit_test(runs_without_gaps_are_one),
      cmocka_unit_test(copy_of_nothing_leaves_memory_alone),
      cmocka_unit_test(largest_copy_counts_every_byte),
      cmocka_unit_test(on_chip_copies_take_start_up_and_bytes),
      cmocka_unit_test(buffers_on_the_way_fill),
      cmocka_unit_test(start_up_grows_with_doublings_of_requests),
      cmocka_unit_test(bias_doubles_when_it_becomes_fp32),
      cmocka_unit_test(paths_follow_the_operands),
      cmocka_unit_test(aligned_forms_overlap_and_pad),
      cmocka_unit_test(bursts_that_cut_blocks_take_the_engine_longer),
      cmocka_unit_test(aligned_store_writes_bytes_exactly),
      cmocka_unit_test(nd2nz_counts_lines_of_rows),
      cmocka_unit_test(nd2nz_copies_overlap),
      cmocka_unit_test(nd2nz_of_several_matrices),
      cmocka_unit_test(load2d_moves_fractals),
      cmocka_unit_test(transposing_load_moves_squares),
      cmocka_unit_test(indices_go_beside_their_values),
      cmocka_unit_test(load3d_moves_the_windows_it_makes),
      cmocka_unit_test(load3d_reads_the_rows_under_its_windows),
      cmocka_unit_test(load3d_reads_from_the_start_of_l1_behind_its_boundary),
      cmocka_unit_test(img2col_moves_a_fractal_per_repeat),
      cmocka_unit_test(fills_write_and_move_nothing),
      cmocka_unit_test(fixpipe_writes_rows),
      cmocka_unit_test(fixpipe_writes_columns_of_blocks),
      cmocka_unit_test(split_columns_have_a_rate_of_their_own),
      cmocka_unit_test(fixpipe_of_several_matrices),
  };
  return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
