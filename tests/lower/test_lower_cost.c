/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimates that choose a tiling: each number of the chip counts as often as the tiling says.
 * One number is raised on a chip on which the resource in question decides, and the estimate has to
 * rise by what the tiling needs of the resource, counted by hand. Some numbers of the kernels
 * themselves as well.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/estimate/estimate.h"
#include "tests/support/fixture.h"
#include "tests/support/words.h"

enum { TEXT_BYTES = 256 };

static struct vinci_tiling tiling_of(const vinci_soc *soc, const char *request) {
  char text[TEXT_BYTES];
  struct words words;
  struct vinci_tiling tiling;
  struct vinci_diag diag = {0};
  words_split(&words, request);
  if (vinci_op_tiling(soc, words.item[0], words.item + 1, words.count - 1, text, sizeof text,
                      &tiling, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  tiling.args = NULL; /* they lie in the text */
  return tiling;
}

static uint64_t estimate(const vinci_soc *soc, const char *request) {
  return tiling_of(soc, request).total_cycles;
}

/* 4 x 2 blocks of 128 x 256 on 4 cores: 2 each, of 8 steps of 64 and 2 panels of each operand. */
#define MATMUL                                                                                     \
  "matmul m=512 k=512 n=512 tile=128x64x256 panel=256x256 resident=none band=1 cores=4 split=1"
enum { BLOCKS = 2, STEPS = 8, PANELS = 2, CORES = 4, MORE = 1000 };

/* Device memory and L2 that decide nothing. */
static vinci_soc *chip(void) {
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  soc->hbm_bytes_per_second = soc->l2_bytes_per_second = INT64_C(1000000000000000);
  return soc;
}

static void cores_are_launched_one_after_the_other(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  uint64_t before = estimate(soc, MATMUL);
  soc->launch_cluster_ps += MORE * 1000; /* a cycle is 1000 ps */
  assert_int_equal(estimate(soc, MATMUL), before + (CORES - 1) * MORE);
  vinci_soc_free(soc);
}

static void every_mad_pays_its_issue(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->cube_fp16_mcycles = 100000;
  uint64_t before = estimate(soc, MATMUL);
  soc->cube_issue_mcycles += MORE * 1000;
  assert_int_equal(estimate(soc, MATMUL), before + BLOCKS * STEPS * MORE);
  vinci_soc_free(soc);
}

static void every_panel_pays_its_start(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_L1].startup_mcycles = 100000 * 1000;
  soc->path[PATH_GM_L1].overlap_issue_mcycles = 0;
  uint64_t before = estimate(soc, MATMUL);
  soc->path[PATH_GM_L1].startup_mcycles += MORE * 1000;
  /* Two panels a turn, one after the other from the first to the last. */
  assert_int_equal(estimate(soc, MATMUL), before + BLOCKS * PANELS * 2 * MORE);
  vinci_soc_free(soc);
}

static void operands_come_cold(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_L1].hbm_mbytes_per_cycle = 4000;
  uint64_t before = estimate(soc, MATMUL);
  soc->path[PATH_GM_L1].hbm_mbytes_per_cycle = 2000;
  /* A core's share of both operands, 2 x 512 x 512 halves over 4 cores, in twice the time. */
  assert_true(estimate(soc, MATMUL) >= before + 2 * 512 * 512 * 2 / CORES / 4);
  vinci_soc_free(soc);
}

static void one_block_in_l0c_leaves_before_the_next(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->cube_fp16_mcycles = 100000;
  soc->l0c_bytes = 128 << 10; /* one block of 128 x 256 fp32 */
  uint64_t one = estimate(soc, MATMUL);
  soc->l0c_bytes = 256 << 10;
  /* 113 + 128 x 256 halves at 107 a cycle = 612, and the cube's start-up of 19, for each block */
  assert_int_equal(one, estimate(soc, MATMUL) + BLOCKS * (113 + 612 + 19));
  vinci_soc_free(soc);
}

/* 8 tiles of 2048 on 2 cores: 4 each. */
#define MULS "muls shape=16384 rows=1 cols=2048 blocks=2 buffers="
enum { TILES = 4 };

static void vector_cores_are_launched_one_after_the_other(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  uint64_t before = estimate(soc, MULS "1");
  soc->launch_cluster_ps += MORE * 1000;
  assert_int_equal(estimate(soc, MULS "1"), before + MORE);
  vinci_soc_free(soc);
}

static void every_tile_pays_the_start_of_its_copies(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_UB].startup_mcycles = 5000 * 1000; /* the copy in takes longer */
  uint64_t before = estimate(soc, MULS "1");
  soc->path[PATH_GM_UB].startup_mcycles += MORE * 1000;
  assert_int_equal(estimate(soc, MULS "1"), before + TILES * MORE);
  vinci_soc_free(soc);
}

/* With one buffer too the next tile comes in while results go out, which have a place of their own:
 * the longer copy counts for each tile, and of the shorter the last. */
static void one_buffer_hides_the_shorter_copy(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_UB].startup_mcycles = 5000 * 1000;
  soc->path[PATH_UB_GM].startup_mcycles = 3000 * 1000;
  uint64_t before = estimate(soc, MULS "1");
  soc->path[PATH_UB_GM].startup_mcycles += MORE * 1000;
  assert_int_equal(estimate(soc, MULS "1"), before + MORE);
  vinci_soc_free(soc);
}

/* What comes in goes out from the same place: with one buffer the copies take turns. */
static void moves_with_one_buffer_take_turns(void **state) {
  (void)state;
  static const char move[] = "copy shape=16384 tile=4096 blocks=2 buffers=1";
  vinci_soc *soc = chip();
  uint64_t before = estimate(soc, move);
  soc->path[PATH_GM_UB].startup_mcycles += MORE * 1000;
  soc->path[PATH_UB_GM].startup_mcycles += MORE * 1000;
  assert_int_equal(estimate(soc, move), before + 2 * TILES * MORE);
  vinci_soc_free(soc);
}

static void two_buffers_hide_the_starts_of_copies(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->path[PATH_GM_UB].mbytes_per_cycle = soc->path[PATH_GM_UB].hbm_mbytes_per_cycle = 1000;
  uint64_t before = estimate(soc, MULS "2");
  soc->path[PATH_GM_UB].startup_mcycles += MORE * 1000;
  assert_int_equal(estimate(soc, MULS "2"), before + MORE);
  vinci_soc_free(soc);
}

/* 10 rows of 18 and of 40 bytes that lie apart: each takes a line of 128 bytes or more of L2. */
static void short_rows_take_whole_lines(void **state) {
  (void)state;
  static const char request[] = "pad shape=10x9 before=0x20 dtype=fp16 value=0 buffers=1";
  vinci_soc *soc = chip();
  uint64_t before = estimate(soc, request);
  soc->path[PATH_UB_GM].mbytes_per_cycle = soc->path[PATH_UB_GM].hbm_mbytes_per_cycle = 1000;
  assert_in_range(estimate(soc, request) - before, 2 * 10 * 128, 4 * 10 * 128);
  vinci_soc_free(soc);
}

/* A step of one task needs signals there and back; two steps are under way at a time. */
static void steps_of_attention_wait_for_signals(void **state) {
  (void)state;
  static const char request[] = "flash_attention seq_q=64 seq_k=2048 head_dim=64 rows=64 cols=128 "
                                "panel=64 slice=16 cores=1 splits=1";
  enum { KEY_STEPS = 2048 / 128, SIGNAL = 1000000 };
  vinci_soc *soc = chip();
  soc->cross_core_cycles = SIGNAL;
  uint64_t before = estimate(soc, request);
  soc->cross_core_cycles += MORE;
  /* Three signals a step, half of them hidden behind the other step, and one more that hands the
   * pair of steps on; three at the ends. */
  assert_int_equal(estimate(soc, request),
                   before + KEY_STEPS * 3 * MORE / 2 + KEY_STEPS * MORE + 3 * MORE);
  vinci_soc_free(soc);
}

static char *compiled(const char *request) {
  char *text = NULL;
  struct words words;
  struct vinci_diag diag = {0};
  words_split(&words, request);
  if (vinci_compile_text(fixture_shared, words.item[0], words.item + 1, words.count - 1, &text,
                         &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  return text;
}

/* 384 elements fit one tile, though they are no multiple of 512 bytes. */
static void what_one_tile_holds_is_not_cut(void **state) {
  (void)state;
  char *text = compiled("abs shape=8x48 dtype=fp16");
  assert_non_null(strstr(text, "len_burst=768"));
  vinci_text_free(text);
}

/* Cycles of the first row with this name. */
static uint64_t first_cycles(const char *text, const char *row_start) {
  const char *row = strstr(text, row_start);
  return row ? strtoull(row + strlen(row_start), NULL, 10) : 0;
}

/* The fixture has other numbers for each kind of kernel: 1009 + 503 i cycles of scalar work,
 * 151 + 89 i of waiting for code, whatever the number of blocks, and 3 + i for each instruction.
 * Requests come in the order of the kinds. */
static void each_kind_of_kernel_takes_its_time_to_start(void **state) {
  (void)state;
  static const struct {
    const char *request;
    uint64_t work, code, issue;
  } kinds[] = {
      {"muls shape=16384 rows=1 cols=2048 blocks=1 buffers=1", 1009, 128, 3},
      {"muls shape=16384 rows=1 cols=2048 blocks=4 buffers=1", 1009, 128, 3},
      {"slice shape=64x512 out=64x256 blocks=4", 1512, 192, 4},
      {"pows shape=64 alpha=0.5 dtype=fp32", 2015, 256, 5},
      {"lp_norm shape=4096 dtype=fp32", 2518, 320, 6},
      {"rms_norm shape=64x512 blocks=4", 3021, 384, 7},
      {"rms_norm_grad shape=64x512", 3524, 448, 8},
      {"softmax shape=64x512 blocks=4", 4027, 512, 9},
      {"transdata shape=1024x512 way=nd_to_fractal_nz blocks=4", 4530, 576, 10},
      {"transpose shape=64x512 perm=2x1 blocks=4", 5033, 640, 11},
      {"matmul m=32 k=64 n=64 cores=1", 5536, 704, 12},
      {MATMUL, 5536, 704, 12},
      {"conv2d n=1 c=16 h=8 w=8 k=16 kernel=3x3 pad=1x1", 6039, 768, 13},
      {"flash_attention seq_q=256 seq_k=256 head_dim=64", 6542, 832, 14},
  };
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char *text = compiled(kinds[i].request);
    uint64_t work = first_cycles(text, "scalar,cycles=");
    uint64_t code = first_cycles(text, "code_fetch,bytes=");
    uint64_t issue = first_cycles(text, "issue_cost,cycles=");
    if (work != kinds[i].work || code != kinds[i].code || issue != kinds[i].issue)
      fail_msg("%s: %" PRIu64 " cycles, %" PRIu64 " bytes and %" PRIu64 " cycles", kinds[i].request,
               work, code, issue);
    vinci_text_free(text);
  }
}

/* A tile of TransData with one buffer comes in once the tile before has been written. */
static void changes_of_format_take_turns(void **state) {
  (void)state;
  char *text = compiled("transdata shape=2x64x27x27 way=nc1hwc0_to_nchw dtype=fp32 buffers=1");
  assert_non_null(strstr(text, "wait_flag,src=MTE3,dst=MTE2"));
  assert_null(strstr(text, "wait_flag,src=MTE3,dst=V"));
  vinci_text_free(text);
}

/* 32 KiB on as many cores as have their share; a tile that takes all of a UB of 192 KiB. */
static void what_the_library_does_is_data_of_the_chip(void **state) {
  (void)state;
  static const char *const whole_ub[] = {"shape=49152", "rows=1", "cols=49152", "blocks=1",
                                         "buffers=1"};
  char text[TEXT_BYTES];
  struct vinci_tiling tiling;
  struct vinci_diag diag = {0};
  vinci_soc *soc = chip();
  soc->kernel_core_bytes = 4096;
  assert_int_equal(tiling_of(soc, "muls shape=16384 blocks=0").blocks, 8);
  soc->kernel_core_bytes = 16384;
  assert_int_equal(tiling_of(soc, "muls shape=16384 blocks=0").blocks, 2);
  assert_int_equal(vinci_op_tiling(soc, "muls", whole_ub, 5, text, sizeof text, &tiling, &diag),
                   VINCI_E_USAGE);
  soc->ub_reserved_bytes = 0;
  assert_int_equal(vinci_op_tiling(soc, "muls", whole_ub, 5, text, sizeof text, &tiling, &diag),
                   VINCI_OK);
  vinci_soc_free(soc);
}

/* Blocks are launched 101 cycles apart, and a turn takes as long as a piece. */
static void little_work_is_shared_by_few_cores(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->launch_cluster_ps = 101000;
  assert_int_equal(launch_spread_cycles(soc, CORE_AIV, 5), 4 * 101);
  assert_int_equal(launch_spread_cycles(soc, CORE_AIV, 39), 19 * 101);
  assert_int_equal(launch_spread_cycles(soc, CORE_AIV, 40), 39 * FIXTURE_BLOCK);
  assert_int_equal(launch_cores(soc, 40, 5, 700), 5);
  assert_int_equal(launch_cores(soc, 4, 5, 700), 3);  /* 202 + 1400, as 4 would be 303 + 1400 */
  assert_int_equal(launch_cores(soc, 40, 5, 150), 3); /* 202 + 300; 5: 404 + 150 is more */
  assert_int_equal(launch_cores(soc, 40, 5, 20), 1);
  vinci_soc_free(soc);
}

/* 8 blocks of a product and 4 tasks of attention, on 20 cores: one each, unless launches take
 * longer than the work. */
static void cube_operators_start_few_cores_when_launches_are_slow(void **state) {
  (void)state;
#define TILED "matmul m=512 k=512 n=512 tile=128x64x256 panel=256x256 resident=none band=1 split=1"
#define TASKS                                                                                      \
  "flash_attention seq_q=256 seq_k=256 head_dim=64 rows=64 cols=128 panel=64 slice=16 splits=1"
  vinci_soc *soc = chip();
  soc->launch_cluster_ps = 1000;
  assert_int_equal(tiling_of(soc, TILED).blocks, 8);
  assert_int_equal(tiling_of(soc, TASKS).blocks, 4);
  soc->launch_cluster_ps = 1000000000;
  assert_int_equal(tiling_of(soc, TILED).blocks, 1);
  assert_int_equal(tiling_of(soc, TASKS).blocks, 1);
  assert_int_equal(tiling_of(soc, TILED " cores=4").blocks, 4);
  vinci_soc_free(soc);
}

/* A tile of several rows takes more instructions for more columns, and their issue bounds the tile.
 */
static void estimates_count_the_issue_of_instructions(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->kernel[KERNEL_REDUCE].issue_cycles = MORE;
  soc->kernel[KERNEL_NORM].issue_cycles = MORE;
  uint64_t narrow = estimate(soc, "softmax shape=4x64 rows=4 blocks=1 buffers=1");
  uint64_t wide = estimate(soc, "softmax shape=4x1024 rows=4 blocks=1 buffers=1");
  /* 15 times 64 columns more: two reductions with barriers, and two steps with a column. */
  assert_in_range(wide - narrow, 15 * 6 * MORE, 15 * 6 * MORE + MORE);
  vinci_soc_free(soc);
}

/* Blocks between clusters and cores are handed out in the same time: fewer than all of these are
 * found beyond. */
static void the_search_for_fewer_cores_passes_the_plateau(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  soc->launch_block_ps = 1000000;
  soc->launch_cluster_ps = 1000000;
  assert_in_range(tiling_of(soc, "max shape=777x128 dtype=fp32").blocks, 1, soc->cube_cores);
  vinci_soc_free(soc);
}

static void estimates_count_the_start_of_a_kernel(void **state) {
  (void)state;
  vinci_soc *soc = chip();
  struct kernel_start *kernel = &soc->kernel[KERNEL_ELEMENTWISE];
  uint64_t before = estimate(soc, MULS "1");
  kernel->head_cycles += MORE;
  assert_int_equal(estimate(soc, MULS "1"), before + MORE);
  kernel->line_cycles += MORE; /* two lines of code */
  assert_int_equal(estimate(soc, MULS "1"), before + 3 * MORE);
  soc->code_first_cycles += MORE; /* two blocks, once for the other core */
  assert_int_equal(estimate(soc, MULS "1"), before + 4 * MORE);
  static const char gradient[] = "flash_attention_grad seq_q=64 seq_k=256 head_dim=64 cores=1";
  before = estimate(soc, gradient);
  soc->kernel[KERNEL_ATTENTION].head_cycles += MORE;
  assert_int_equal(estimate(soc, gradient), before + MORE);
  vinci_soc_free(soc);
}

/* Buffers start where the banks of UB and L1 repeat, however few bytes the one before has. */
static void buffers_start_at_bank_rows(void **state) {
  (void)state;
  char *text = compiled("matmul m=100 k=64 n=48 dtype=int8 out_dtype=fp16 bias=1 scales=1 "
                        "tile=32x64x32 panel=64x64");
  /* two slots of 32 words of the bias, and scales behind them */
  const char *bias = strstr(text, "space=L1,address=8192,size=256\n");
  assert_non_null(bias);
  assert_non_null(strstr(bias, "space=L1,address=8704,size=512\n"));
  vinci_text_free(text);
  /* two sources and a result of 200 bytes */
  text = compiled("add shape=100 rows=1 cols=100 blocks=1 buffers=1");
  assert_non_null(strstr(text, "space=UB,address=0,size=1536\n"));
  vinci_text_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cores_are_launched_one_after_the_other),
      cmocka_unit_test(every_mad_pays_its_issue),
      cmocka_unit_test(every_panel_pays_its_start),
      cmocka_unit_test(operands_come_cold),
      cmocka_unit_test(one_block_in_l0c_leaves_before_the_next),
      cmocka_unit_test(vector_cores_are_launched_one_after_the_other),
      cmocka_unit_test(every_tile_pays_the_start_of_its_copies),
      cmocka_unit_test(one_buffer_hides_the_shorter_copy),
      cmocka_unit_test(moves_with_one_buffer_take_turns),
      cmocka_unit_test(changes_of_format_take_turns),
      cmocka_unit_test(two_buffers_hide_the_starts_of_copies),
      cmocka_unit_test(short_rows_take_whole_lines),
      cmocka_unit_test(what_one_tile_holds_is_not_cut),
      cmocka_unit_test(steps_of_attention_wait_for_signals),
      cmocka_unit_test(each_kind_of_kernel_takes_its_time_to_start),
      cmocka_unit_test(estimates_count_the_start_of_a_kernel),
      cmocka_unit_test(estimates_count_the_issue_of_instructions),
      cmocka_unit_test(the_search_for_fewer_cores_passes_the_plateau),
      cmocka_unit_test(what_the_library_does_is_data_of_the_chip),
      cmocka_unit_test(little_work_is_shared_by_few_cores),
      cmocka_unit_test(cube_operators_start_few_cores_when_launches_are_slow),
      cmocka_unit_test(buffers_start_at_bank_rows),
  };
  return cmocka_run_group_tests_name("lower_cost", tests, fixture_set_up, fixture_tear_down);
}
