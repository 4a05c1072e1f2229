/* SPDX-License-Identifier: Apache-2.0 */
/* Lowered cube operators: every trace loads and runs, does its arithmetic once, and moves no
 * more bytes than its tiling says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "tests/support/fixture.h"
#include "tests/support/words.h"

static struct vinci_result *run_on(const vinci_soc *soc, const char *op, const char *text) {
  struct words words;
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  vinci_result *result = NULL;
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  words_split(&words, text);
  if (vinci_compile(soc, op, words.item, words.count, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s %s: line %lu: %s", op, text, diag.line, diag.text);
  vinci_findings *findings = NULL;
  if (vinci_check(soc, trace, NULL, &findings, &diag) != VINCI_OK)
    fail_msg("%s %s: %s", op, text, diag.text);
  vinci_findings_free(findings);
  vinci_trace_free(trace);
  return result;
}

static struct vinci_result *run(const char *op, const char *text) {
  return run_on(fixture_shared, op, text);
}

static uint64_t operations(const struct vinci_result *result) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    sum += result->cores[i].pipe[PIPE_M].operations;
  return sum;
}

/* Whole blocks of columns are computed, and at least two rows; of NZ results whole fractals. */
static void every_shape_runs(void **state) {
  (void)state;
  static const uint64_t shapes[][3] = {{1, 1, 1},      {15, 17, 127},   {127, 15, 17},
                                       {17, 127, 1},   {131, 257, 263}, {33, 1009, 509},
                                       {300, 80, 1031}};
  static const char *const forms[] = {"",
                                      "dtype=fp32 transpose_b=1",
                                      "dtype=fp32 transpose_a=1",
                                      "dtype=int8 transpose_a=1 transpose_b=1",
                                      "dtype=bf16 transpose_a=1 bias=1",
                                      "dtype=bf16 bias=1 cores=2",
                                      "format_a=NZ format_b=NZ format_c=NZ",
                                      "dtype=fp32 format_c=NZ",
                                      "resident=a",
                                      "resident=b transpose_b=1",
                                      "out_dtype=fp32 cores=3",
                                      "format_a=NZ transpose_a=1 dtype=fp32",
                                      "dtype=int8 out_dtype=fp16 scale=0.125 bias=1",
                                      "dtype=int8 out_dtype=fp16 scales=1 format_c=NZ"};
  char text[256];
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t j = 0; j < sizeof forms / sizeof *forms; j++)
      for (unsigned batch = 1; batch <= 3; batch += 2) {
        const uint64_t *s = shapes[i];
        snprintf(text, sizeof text, "m=%d k=%d n=%d batch=%u %s", (int)s[0], (int)s[1], (int)s[2],
                 batch, forms[j]);
        struct vinci_result *result = run("matmul", text);
        uint64_t exact = batch * s[0] * s[1] * s[2];
        assert_in_range(operations(result), exact,
                        (strstr(forms[j], "format_c=NZ") ? 256 : 64) * exact);
        vinci_result_free(result);
      }
}

/* Rows longer than the 16 bits of nd2nz are copied one by one, or column of blocks by column. */
static void long_rows_are_copied_in_parts(void **state) {
  (void)state;
  static const struct {
    const char *args;
    uint64_t bytes;
  } cases[] = {
      {"m=3 k=65552 n=2", 65552 * 5 * 2},
      {"m=40 k=65551 n=17 cores=1", 65551 * (40 + 17) * 2},
      {"m=48 k=65552 n=32 transpose_b=1 cores=1", 65552 * (48 + 32) * 2},
      {"m=65600 k=32 n=16 transpose_a=1", (65600 + 16) * 32 * 2},
      {"m=65552 k=33 n=5 transpose_a=1 dtype=fp32", (65552 + 5) * 33 * 4},
      {"m=4096 k=1000 n=128 transpose_a=1 dtype=fp32 resident=a bias=1", 4096 * 1000 * 4},
      {"m=16 k=65552 n=64 format_b=NZ", 65552 * (16 + 64) * 2},
      {"m=17 k=65553 n=64 format_a=NZ transpose_a=1 dtype=fp32", 65553 * (17 + 64) * 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct vinci_result *result = run("matmul", cases[i].args);
    assert_true(result_path_bytes(result, PATH_GM_L1) >= cases[i].bytes);
    vinci_result_free(result);
  }
}

/* Copies of the next panel that wait for loads of this one have room in the queue, or come later.
 */
static void no_queue_fills_behind_a_wait(void **state) {
  (void)state;
  static const struct {
    const char *op, *args, *queue;
  } cases[] = {
      {"conv2d_backprop_input",
       "kernel=3x3 stride=2x2 n=2 c=128 h=16 w=16 k=384 cores=1 resident=a", NULL},
      {"conv2d_backprop_input", "kernel=3x3 stride=2x2 n=2 c=32 h=9 w=9 k=32", "queue.MTE2=1"},
      {"conv2d", "n=4 c=256 h=40 w=40 k=256 kernel=3x3 pad=1x1 resident=b", "queue.MTE2=1"},
      {"matmul", "m=600 k=2048 n=600 resident=a bias=1", "queue.MTE2=2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vinci_soc *soc = fixture_soc();
    assert_non_null(soc);
    if (cases[i].queue)
      assert_int_equal(vinci_soc_set(soc, cases[i].queue, NULL), VINCI_OK);
    vinci_result_free(run_on(soc, cases[i].op, cases[i].args));
    vinci_soc_free(soc);
  }
}

static void convolutions_run(void **state) {
  (void)state;
  static const char *const forms[] = {
      "c=3 h=9 w=11 k=5 kernel=3x3 pad=1x1",
      "n=3 c=40 h=15 w=16 k=70 kernel=5x3 stride=2x1 pad=2x1x0x1 dtype=fp32",
      "n=2 c=24 h=19 w=23 k=33 kernel=3x2 stride=1x2 dilation=2x3 bias=1 dtype=bf16",
      "n=4 c=256 h=14 w=14 k=512 kernel=1x1 resident=b",
      "n=2 c=130 h=56 w=56 k=200 kernel=3x3 pad=1x1 resident=none cores=7",
      "n=2 c=40 h=15 w=16 k=70 kernel=3x3 dtype=int8 bias=1",
      "n=2 c=40 h=15 w=16 k=70 kernel=3x3 dtype=int8 out_dtype=int8 scales=1"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    vinci_result_free(run("conv2d", forms[i]));
  /* Packed channels: 4 for 16. */
  struct vinci_result *result = run("conv2d", "c=3 h=32 w=32 k=64 kernel=8x8 c04=1");
  assert_int_equal(operations(result), 25 * 25 * 64 * 8 * 8 * 4);
  vinci_result_free(result);
  result = run("conv2d", "n=2 c=64 h=16 w=32 k=96 kernel=3x3 pad=1x1");
  assert_int_equal(operations(result), UINT64_C(2) * 16 * 32 * 96 * 64 * 9);
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 2 * 16 * 32 * 96 * 2);
  vinci_result_free(result);
}

/* Groups of 8 and 24 channels are joined by pairs, depthwise ones by sixteens. */
static void groups_are_joined_to_whole_blocks(void **state) {
  (void)state;
  struct vinci_result *result = run("conv2d", "c=96 h=16 w=16 k=288 kernel=1x1 groups=12");
  assert_int_equal(operations(result), UINT64_C(256) * 6 * (16 * 48));
  vinci_result_free(result);
  result = run("conv2d", "n=2 c=64 h=16 w=16 k=64 kernel=3x3 pad=1x1 groups=64 bias=1");
  assert_int_equal(operations(result), UINT64_C(2) * 256 * 64 * 9 * 16);
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 2 * 256 * 64 * 2);
  vinci_result_free(result);
  result = run("conv2d_backprop_input", "n=2 c=64 h=16 w=16 k=64 kernel=3x3 pad=1x1 groups=64");
  assert_int_equal(operations(result), UINT64_C(2) * 256 * 64 * 9 * 16);
  vinci_result_free(result);
  result = run("conv2d_backprop_filter", "n=2 c=64 h=16 w=16 k=64 kernel=3x3 pad=1x1 groups=64");
  assert_int_equal(operations(result), UINT64_C(2) * 256 * 64 * 9 * 16);
  vinci_result_free(result);
}

/* With stride 1 and blocks of whole fractals, as much arithmetic as forward. */
static void gradients_of_maps_run(void **state) {
  (void)state;
  static const char *const forms[] = {
      "c=3 h=9 w=11 k=5 kernel=3x3 pad=1x1",
      "n=3 c=40 h=15 w=16 k=70 kernel=5x3 stride=2x1 pad=2x1x0x1 dtype=fp32",
      "n=2 c=24 h=19 w=23 k=33 kernel=3x2 stride=1x2 dilation=2x3 dtype=bf16",
      "n=4 c=256 h=14 w=14 k=512 kernel=1x1 resident=b",
      "n=2 c=130 h=56 w=56 k=200 kernel=3x3 pad=1x1 resident=none cores=7"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    vinci_result_free(run("conv2d_backprop_input", forms[i]));
  struct vinci_result *result =
      run("conv2d_backprop_input", "n=2 c=96 h=16 w=32 k=64 kernel=3x3 pad=1x1");
  assert_int_equal(operations(result), UINT64_C(2) * 16 * 32 * 96 * 64 * 9);
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 2 * 16 * 32 * 96 * 2);
  vinci_result_free(result);
}

/* Split sums are stored once for each part, and cleared before. */
static void gradients_of_weights_run(void **state) {
  (void)state;
  static const char *const forms[] = {
      "c=3 h=9 w=11 k=5 kernel=3x3 pad=1x1",
      "n=3 c=40 h=15 w=16 k=70 kernel=5x3 stride=2x1 pad=2x1x0x1 dtype=fp32",
      "n=2 c=24 h=19 w=23 k=33 kernel=3x2 stride=1x2 dilation=2x3 dtype=bf16 accumulate=1",
      "n=4 c=256 h=14 w=14 k=512 kernel=1x1 split=1",
      "n=2 c=130 h=56 w=56 k=200 kernel=3x3 pad=1x1 cores=7"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    vinci_result_free(run("conv2d_backprop_filter", forms[i]));
  struct vinci_result *result =
      run("conv2d_backprop_filter",
          "n=4 c=64 h=16 w=32 k=96 kernel=3x3 pad=1x1 tile=96x64x96 rows=8 split=4");
  assert_int_equal(operations(result), UINT64_C(4) * 16 * 32 * 96 * 64 * 9);
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 4 * 9 * 64 * 96 * 4);
  assert_int_equal(result_path_bytes(result, PATH_UB_GM), 9 * 64 * 96 * 4);
  vinci_result_free(result);
}

static void aligned_shapes_are_computed_once(void **state) {
  (void)state;
  struct vinci_result *result = run("matmul", "m=320 k=1040 n=720 batch=2");
  assert_int_equal(operations(result), 2 * 320 * 1040 * 720);
  vinci_result_free(result);
}

static void the_result_is_written_once(void **state) {
  (void)state;
  struct vinci_result *result = run("matmul", "m=333 k=64 n=517");
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 333 * 517 * 2);
  vinci_result_free(result);
  result = run("matmul", "m=333 k=64 n=517 out_dtype=fp32");
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 333 * 517 * 4);
  vinci_result_free(result);
}

/* A given tiling is used unchanged: each operand is read once per block of the other operand. */
static void operands_are_read_as_the_tiling_says(void **state) {
  (void)state;
  struct vinci_result *result =
      run("matmul", "m=512 k=256 n=768 tile=128x64x256 panel=128x128 resident=none cores=5");
  uint64_t a = 512 * 256 * 2, b = 256 * 768 * 2;
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), a * 3 + b * 4);
  vinci_result_free(result);
  result = run("matmul", "m=512 k=256 n=768 tile=128x64x256 panel=256x128 resident=a cores=2");
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), a + b * 4);
  vinci_result_free(result);
}

/* 4 x 3 blocks, two panels of each operand, four steps of k. */
static void instructions_are_counted_in_closed_form(void **state) {
  (void)state;
  struct vinci_result *result =
      run("matmul", "m=512 k=256 n=768 tile=128x64x256 panel=128x128 resident=none cores=5");
  uint64_t counts[PATH_COUNT] = {0};
  for (uint32_t i = 0; i < result->core_count; i++)
    for (unsigned path = 0; path < PATH_COUNT; path++)
      counts[path] += result->cores[i].path_instructions[path];
  assert_int_equal(counts[PATH_L1_L0A], 4 * 12);
  assert_int_equal(counts[PATH_L1_L0B], 4 * 12);
  assert_int_equal(counts[PATH_GM_L1], 2 * 2 * 12);
  assert_int_equal(counts[PATH_L0C_GM], 12);
  vinci_result_free(result);
}

/* Instructions by path, over all cores. */
static uint64_t moves(const struct vinci_result *result, enum path path) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    count += result->cores[i].path_instructions[path];
  return count;
}

/*
 * Blocks that the published tiling of MatMulV3 takes when each core gets one: each panel of A
 * serves the columns of its block, each panel of B the rows, and a step loads both. Panels are 512
 * deep for the shorter side, 256 for the other.
 */
static void blocks_are_those_of_the_library(void **state) {
  static const struct {
    const char *args;
    uint64_t bm, bn;
  } cases[] = {
      {"m=2048 k=1024 n=4096 transpose_a=0 transpose_b=0", 128, 256},
      {"m=2048 k=1024 n=4096 transpose_a=1 transpose_b=1", 256, 128},
      {"m=4096 k=1024 n=1024 transpose_a=0 transpose_b=1", 256, 128},
      {"m=1024 k=1024 n=4096 transpose_a=1 transpose_b=0", 128, 256},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t m, n, ka = cases[i].bm == 128 ? 512 : 256, kb = 768 - ka;
    assert_int_equal(sscanf(cases[i].args, "m=%lu k=1024 n=%lu", &m, &n), 2);
    struct vinci_result *result = run("matmul", cases[i].args);
    uint64_t blocks = m / cases[i].bm * (n / cases[i].bn);
    assert_int_equal(moves(result, PATH_L0C_GM), blocks);
    assert_int_equal(moves(result, PATH_L1_L0A), blocks * 1024 / 64);
    assert_int_equal(moves(result, PATH_GM_L1), blocks * (1024 / ka + 1024 / kb));
    assert_int_equal(result_path_bytes(result, PATH_GM_L1),
                     blocks * (cases[i].bm + cases[i].bn) * 1024 * 2);
    vinci_result_free(result);
  }
}

/*
 * The library loads panels where they are used, A's ahead of B's: the same loads. Where B has the
 * deeper panels its load waits behind one of A, which takes time from all other pipes.
 */
static void the_library_loads_a_ahead_of_b(void **state) {
  static const struct {
    const char *args;
    bool deep_b;
  } cases[] = {
      {"m=4096 k=3072 n=1024 transpose_b=1 dtype=bf16", true},
      {"m=2048 k=2048 n=2048 dtype=bf16", false},
      {"m=2048 k=1024 n=2048 dtype=bf16 bias=1", false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text, "%s generation=library", cases[i].args);
    struct vinci_result *ahead = run("matmul", cases[i].args), *late = run("matmul", text);
    assert_int_equal(moves(late, PATH_GM_L1), moves(ahead, PATH_GM_L1));
    assert_int_equal(result_path_bytes(late, PATH_GM_L1), result_path_bytes(ahead, PATH_GM_L1));
    assert_int_equal(operations(late), operations(ahead));
    double ratio = (double)late->total_cycles / (double)ahead->total_cycles;
    assert_true(cases[i].deep_b ? ratio > 1.08 && ratio < 1.2 : ratio > 0.98 && ratio < 1.02);
    vinci_result_free(ahead);
    vinci_result_free(late);
  }
}

static unsigned cores_at_work(const struct vinci_result *result) {
  unsigned count = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    count += result->cores[i].blocks_run > 0;
  return count;
}

/* Of the 20 cores: 16 share 32 images, or 256 fractals of columns, evenly; 63 fractals nine. */
static void work_is_shared_evenly_where_the_library_does(void **state) {
  static const struct {
    const char *op, *args;
    unsigned cores;
  } cases[] = {
      {"conv2d", "n=32 c=64 h=13 w=13 k=64 kernel=3x3 pad=1x1", 16},
      {"matmul", "m=32 k=512 n=4096 dtype=fp32 generation=2", 16},
      {"matmul", "m=32 k=512 n=1000 dtype=fp32 generation=2", 9},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct vinci_result *result = run(cases[i].op, cases[i].args);
    assert_int_equal(cores_at_work(result), cases[i].cores);
    vinci_result_free(result);
  }
}

/* 4096 deep, 16 blocks: mads of 16. */
static void the_older_generation_has_short_steps_in_single_precision(void **state) {
  (void)state;
  struct vinci_result *result =
      run("matmul", "m=32 k=4096 n=4096 dtype=fp32 cores=16 split=1 generation=2");
  assert_int_equal(moves(result, PATH_L1_L0B), 16 * 4096 / 16);
  vinci_result_free(result);
}

/* 16 blocks of 256 columns; panels of four steps of 32 are 32 for each operand. */
static void the_older_generation_has_shallow_panels(void **state) {
  (void)state;
  struct vinci_result *result =
      run("matmul", "m=32 k=4096 n=4096 dtype=fp32 cores=16 split=1 generation=2");
  uint64_t copies = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    copies += result->cores[i].path_instructions[PATH_GM_L1];
  assert_int_equal(copies, 16 * 2 * 32);
  vinci_result_free(result);
}

/* Parts of k go through the workspace once, on their way in and out. */
static void parts_of_k_are_added_up(void **state) {
  (void)state;
  struct vinci_result *result = run("matmul", "m=48 k=5000 n=80 batch=2 split=5 bias=1");
  uint64_t parts = UINT64_C(2) * 5 * 48 * 80 * 4, sums = 2 * 48 * 80 * 2;
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), parts);
  /* Each of 40 vector cores reads an element of A before. */
  assert_int_equal(result_path_bytes(result, PATH_GM_UB), parts + 40 * 2);
  assert_int_equal(result_path_bytes(result, PATH_UB_GM), sums);
  assert_int_equal(operations(result), 2 * 48 * 5000 * 80);
  vinci_result_free(result);
  /* In NZ with what fills up 40 rows and 72 columns to fractals. */
  result = run("matmul", "m=40 k=512 n=72 split=2 format_c=NZ");
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 2 * 48 * 80 * 4);
  vinci_result_free(result);
}

/* One block of the result and much to add up: only parts of k give every core something to do. */
static void the_default_splits_k_where_blocks_are_few(void **state) {
  (void)state;
  struct vinci_result *result = run("matmul", "m=128 k=65536 n=128");
  struct vinci_result *whole = run("matmul", "m=128 k=65536 n=128 split=1");
  assert_true(result_path_bytes(result, PATH_GM_UB) > 0);
  assert_true(result->total_ps * 3 < whole->total_ps);
  vinci_result_free(result);
  vinci_result_free(whole);
  result = run("matmul", "m=2048 k=1024 n=2048");
  assert_int_equal(result_path_bytes(result, PATH_GM_UB), 0);
  vinci_result_free(result);
}

static void an_error_on_says(const vinci_soc *soc, const char *op, const char *text,
                             const char *expected) {
  struct words words;
  struct vinci_diag diag = {0};
  char *out;
  words_split(&words, text);
  assert_int_equal(vinci_compile_text(soc, op, words.item, words.count, &out, &diag),
                   VINCI_E_USAGE);
  assert_string_equal(diag.text, expected);
}

static void an_error_says(const char *op, const char *text, const char *expected) {
  an_error_on_says(fixture_shared, op, text, expected);
}

/* The result leaves L0C once, in its own type through UB. */
static void coupled_cores_multiply_through_ub(void **state) {
  (void)state;
  static const char *const names[] = {"Ascend910A", "Ascend310P3"};
  static const char *const shapes[] = {
      "m=1 k=16 n=16", "m=333 k=1040 n=528 transpose_a=1 format_a=NZ out_dtype=fp32",
      "m=48 k=127 n=96 transpose_a=1",
      "m=131 k=257 n=263 batch=2 format_a=NZ format_b=NZ format_c=NZ",
      "m=131 k=288 n=136 dtype=int8 transpose_b=1 resident=b"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct vinci_diag diag = {0};
    vinci_soc *soc = NULL;
    assert_int_equal(vinci_soc_load(names[i], NULL, &soc, &diag), VINCI_OK);
    for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
      vinci_result_free(run_on(soc, "matmul", shapes[j]));
    vinci_result_free(run_on(soc, "copy", "shape=50000"));
    struct vinci_result *result = run_on(soc, "matmul", "m=320 k=1040 n=704 batch=2");
    assert_int_equal(operations(result), 2 * 320 * 1040 * 704);
    assert_int_equal(result_path_bytes(result, PATH_UB_GM), 2 * 320 * 704 * 2);
    vinci_result_free(result);
    vinci_soc_free(soc);
  }
}

static void coupled_cores_say_what_they_lack(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  assert_int_equal(vinci_soc_load("Ascend910A", NULL, &soc, &diag), VINCI_OK);
  an_error_on_says(soc, "matmul", "m=4 k=32 n=16 dtype=int8 out_dtype=fp16 transpose_b=1 scales=1",
                   "matmul: on dav-c100 int32 sums leave with one scale, as fp16");
  an_error_on_says(
      soc, "matmul", "m=4 k=32 n=32 dtype=int8",
      "matmul: on dav-c100 int8 takes [m,k] and [n,k]: load2d transposes 16 bits only");
  an_error_on_says(soc, "conv2d", "c=16 h=4 w=4 k=16 kernel=1x1 out_dtype=fp32",
                   "conv2d: on dav-c100 fp32 results are ND only");
  an_error_on_says(
      soc, "matmul", "m=64 k=64 n=64 split=2",
      "matmul: no legal tiling: Ascend910A has no vector cores that could add up parts "
      "of k");
  an_error_on_says(soc, "conv2d",
                   "c=3 h=9 w=16 k=4 kernel=3x3 dtype=int8 out_dtype=fp16 scale=1e-7",
                   "conv2d: on dav-c100 a scale is an fp16, which cannot hold 9.99426e-08");
  an_error_on_says(soc, "conv2d", "c=3 h=9 w=16 k=4 kernel=3x3 c04=1",
                   "conv2d: c04 is not for dav-c100: its load3d takes whole blocks of channels");
  an_error_on_says(soc, "conv2d", "c=3 h=9 w=9 k=4 kernel=3x3 dtype=int8 out_dtype=int8",
                   "conv2d: on dav-c100 int32 sums leave with one scale, as fp16");
  an_error_on_says(soc, "pad", "shape=9x40 before=0x3",
                   "pad: no legal tiling: Ascend910A copies whole blocks of 32 bytes alone, and a "
                   "tile of \"y\" has runs of 6 bytes with others behind");
  vinci_soc_free(soc);
}

static void errors_say_what_is_not_possible(void **state) {
  (void)state;
  an_error_says("matmul", "m=4 k=4 n=4 dtype=hf32",
                "matmul: the cube of fixture220 does not compute in hf32");
  an_error_says("matmul", "m=4 k=4 n=4 dtype=int8 out_dtype=fp32", "matmul: int8 gives no fp32");
  an_error_says("matmul", "m=4 k=4 n=4 scale=2",
                "matmul: only fp16 and int8 results of int8 have scales");
  an_error_says("matmul", "m=4 k=4 n=4 dtype=int8 out_dtype=fp16 scales=1 scale=2",
                "matmul: either one scale or one for each column");
  an_error_says("matmul", "m=512 k=512 n=512 tile=512x64x512",
                "matmul: no legal tiling: two tiles of an operand do not fit L0A or L0B");
  an_error_says("matmul", "m=512 k=512 n=512 tile=128x60x128",
                "matmul: no legal tiling: the tile's k has to be a multiple of 16");
  an_error_says(
      "matmul", "m=512 k=512 n=512 split=2 cores=9",
      "matmul: no legal tiling: parts of k need all cores, which meet before they are added "
      "up");
  an_error_says("conv2d", "c=16 h=8 w=8 k=16 kernel=3x3 split=2",
                "conv2d: no legal tiling: parts of k have to have the same number of panels");
  an_error_says("matmul", "m=64 k=512 n=64 split=2 dtype=int8 out_dtype=fp16",
                "matmul: no legal tiling: k cannot be split for a result that scales convert");
  an_error_says("matmul", "m=64 k=512 n=64 split=2 resident=a",
                "matmul: no legal tiling: k cannot be split for a resident operand");
  an_error_says("matmul", "m=64 k=64 n=64 split=40",
                "matmul: no legal tiling: parts of k have to have the same number of panels");
  an_error_says("matmul", "m=4 k=4 n=4 dtype=int8 format_c=NZ",
                "matmul: an int32 result is ND only");
  an_error_says("conv2d", "c=3 h=9 w=9 k=4 kernel=3", "conv2d: kernel is HxW of up to 511");
  an_error_says("conv2d", "c=3 h=9 w=9 k=4 kernel=10x3",
                "conv2d: the window is larger than the map");
  an_error_says("conv2d", "c=3 h=9 w=9 k=4 kernel=3x3 pad=3x3", "conv2d: more padding than window");
  an_error_says("conv2d", "c=3 h=3 w=32768 k=4 kernel=3x3",
                "conv2d: rows of the map have more than 32767 points");
  an_error_says("conv2d_backprop_input", "c=3 h=3 w=32767 k=4 kernel=1x3 pad=0x0x2x2",
                "conv2d_backprop_input: the gradient would need rows of more than 32767 points");
  an_error_says("conv2d_backprop_input", "c=3 h=3 w=8192 k=4 kernel=1x1 stride=1x2",
                "conv2d_backprop_input: rows of dy have more than 4095 points");
  an_error_says("conv2d_backprop_input", "c=3 h=9 w=9 k=4 kernel=3x3 pad=1x1x3x1",
                "conv2d_backprop_input: more padding than window");
  an_error_says("conv2d_backprop_input", "c=3 h=300 w=9 k=4 kernel=300x3",
                "conv2d_backprop_input: the gradient would need pads of more than 255");
  an_error_says("conv2d", "c=6 h=9 w=9 k=4 kernel=3x3 dtype=int8 out_dtype=fp32",
                "conv2d: int8 gives no fp32");
  an_error_says("conv2d", "c=6 h=9 w=9 k=4 kernel=3x3 out_dtype=int8",
                "conv2d: fp16 gives no int8");
  an_error_says("conv2d", "c=6 h=9 w=9 k=4 kernel=3x3 dtype=int8 scale=0.5",
                "conv2d: only fp16 and int8 results of int8 have scales");
  an_error_says("conv2d", "c=6 h=9 w=9 k=4 kernel=3x3 dtype=int8 out_dtype=int8 scale=0.5 scales=1",
                "conv2d: either one scale or one for each channel");
  an_error_says("conv2d", "c=6 h=9 w=16 k=4 kernel=3x3 c04=1",
                "conv2d: c04 is for up to 4 channels");
  an_error_says("conv2d", "c=3 h=9 w=15 k=4 kernel=3x3 c04=1",
                "conv2d: c04 is for maps whose rows are a multiple of 32 bytes");
  an_error_says("conv2d", "c=2048 h=7 w=7 k=64 kernel=7x7 pad=3x3 resident=a",
                "conv2d: no legal tiling: the resident operand needs the deeper panel");
  an_error_says("conv2d", "c=70000 h=1 w=1 k=64 kernel=1x1 tile=16x64x16 panel=70016x64 resident=a",
                "conv2d: no legal tiling: panels are too deep for one copy");
  an_error_says("conv2d_backprop_input", "c=16 h=1 w=1 k=70000 kernel=1x1",
                "conv2d_backprop_input: more than 65535 channels of y are not supported");
  an_error_says("conv2d", "c=6 h=9 w=9 k=4 kernel=3x3 groups=3",
                "conv2d: c and k have to be multiples of the groups");
  an_error_says("conv2d_backprop_filter", "c=3 h=9 w=9 k=4 kernel=3x3 tile=16x8x16",
                "conv2d_backprop_filter: no legal tiling: tiles are whole fractals");
  an_error_says("conv2d_backprop_filter", "c=3 h=5 w=9000 k=4 kernel=3x3",
                "conv2d_backprop_filter: no legal tiling: the panels do not fit L1");
  an_error_says("conv2d_backprop_input", "c=3 h=9 w=9 k=4 kernel=3x3 tile=9x16x16 panel=16x16",
                "conv2d_backprop_input: no legal tiling: panels of the map have to be multiples of "
                "144");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_runs),
      cmocka_unit_test(long_rows_are_copied_in_parts),
      cmocka_unit_test(no_queue_fills_behind_a_wait),
      cmocka_unit_test(convolutions_run),
      cmocka_unit_test(groups_are_joined_to_whole_blocks),
      cmocka_unit_test(gradients_of_maps_run),
      cmocka_unit_test(gradients_of_weights_run),
      cmocka_unit_test(aligned_shapes_are_computed_once),
      cmocka_unit_test(the_result_is_written_once),
      cmocka_unit_test(operands_are_read_as_the_tiling_says),
      cmocka_unit_test(instructions_are_counted_in_closed_form),
      cmocka_unit_test(blocks_are_those_of_the_library),
      cmocka_unit_test(the_library_loads_a_ahead_of_b),
      cmocka_unit_test(work_is_shared_evenly_where_the_library_does),
      cmocka_unit_test(the_older_generation_has_short_steps_in_single_precision),
      cmocka_unit_test(the_older_generation_has_shallow_panels),
      cmocka_unit_test(parts_of_k_are_added_up),
      cmocka_unit_test(the_default_splits_k_where_blocks_are_few),
      cmocka_unit_test(coupled_cores_multiply_through_ub),
      cmocka_unit_test(coupled_cores_say_what_they_lack),
      cmocka_unit_test(errors_say_what_is_not_possible),
  };
  return cmocka_run_group_tests_name("lower_cube", tests, fixture_set_up, fixture_tear_down);
}
