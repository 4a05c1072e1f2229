/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What estimates say of a kernel against what the kernel is: each pipe's work bounds the time that
 * a pipe is busy, and the instructions and bytes that the estimate of attention counts are those of
 * the program that is emitted.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/result/result.h"
#include "networks/passes/estimate.h"
#include "tests/support/fixture.h"
#include "tests/support/words.h"

enum { MILLI_CYCLES = 1000, SLOW = 1000 };

/* A chip whose memory and L2 decide nothing. */
static vinci_soc *chip(void) {
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  soc->hbm_bytes_per_second = soc->l2_bytes_per_second = INT64_C(1000000000000000);
  return soc;
}

/* ---- pipes --------------------------------------------------------------------------------- */

static struct kernel_estimate estimate(const vinci_soc *soc, const char *request) {
  struct words words;
  struct estimates estimates;
  struct kernel_estimate out;
  struct vinci_diag diag = {0};
  words_split(&words, request);
  estimates_start(&estimates, soc);
  if (estimate_kernel(&estimates, words.item[0], words.item + 1, words.count - 1, &out, &diag) !=
      VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  assert_true(out.possible);
  estimates_free(&estimates);
  return out;
}

/* A byte in a cycle. */
static void slow_path(vinci_soc *soc, enum path path) {
  soc->path[path].mbytes_per_cycle = MILLI_CYCLES;
}

static void slow_vector(vinci_soc *soc, enum path path) {
  (void)path;
  for (unsigned i = 0; i < VECTOR_CLASS_COUNT; i++)
    soc->vector_class[i].per_repeat_mcycles = SLOW * MILLI_CYCLES;
}

static void slow_cube(vinci_soc *soc, enum path path) {
  (void)path;
  soc->cube_fp16_mcycles = SLOW * MILLI_CYCLES;
}

#define PRODUCT "matmul m=256 k=256 n=256 cores=1"
#define RELU "relu shape=65536 blocks=1"

/* One core does all. A pipe is busy at least as long as its slow resource is needed. */
static void each_pipe_bounds_the_time_of_a_busy_pipe(void **state) {
  static const struct {
    const char *request;
    void (*slow)(vinci_soc *soc, enum path path);
    enum path path;
    uint64_t cycles;
  } pipes[] = {
      {PRODUCT, slow_path, PATH_L0C_GM, UINT64_C(256) * 256 * 2},     /* results in fp16 */
      {PRODUCT, slow_path, PATH_GM_L1, UINT64_C(2) * 256 * 256 * 2},  /* both operands */
      {PRODUCT, slow_path, PATH_L1_L0A, UINT64_C(256) * 256 * 2},     /* the left one, once */
      {PRODUCT, slow_cube, PATH_NONE, UINT64_C(16) * 16 * 16 * SLOW}, /* tiles of 16 x 16 x 16 */
      {RELU, slow_path, PATH_GM_UB, UINT64_C(65536) * 2},
      {RELU, slow_path, PATH_UB_GM, UINT64_C(65536) * 2},
      {RELU, slow_vector, PATH_NONE, UINT64_C(65536) / 128 * SLOW}, /* 128 halves a repeat */
  };
  (void)state;
  for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
    vinci_soc *soc = chip();
    uint64_t before = estimate(soc, pipes[i].request).busy_ps;
    pipes[i].slow(soc, pipes[i].path);
    struct kernel_estimate slow = estimate(soc, pipes[i].request);
    uint64_t least = pipes[i].cycles * (PS_PER_SECOND / (uint64_t)soc->core_hz);
    if (slow.busy_ps < least || before >= least)
      fail_msg("case %zu: %" PRIu64 " ps busy, before %" PRIu64 ", at least %" PRIu64, i,
               slow.busy_ps, before, least);
    vinci_soc_free(soc);
  }
}

/* ---- attention ------------------------------------------------------------------------------- */

static struct vinci_result *run(const vinci_soc *soc, const char *request) {
  struct words words;
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  struct vinci_result *result = NULL;
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  words_split(&words, request);
  if (vinci_compile(soc, words.item[0], words.item + 1, words.count - 1, &trace, &diag) !=
          VINCI_OK ||
      vinci_run(soc, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  vinci_trace_free(trace);
  return result;
}

/* Of the core of a kind that executes most. */
static uint64_t instructions(const vinci_soc *soc, const char *request, enum core_kind kind) {
  struct vinci_result *result = run(soc, request);
  uint64_t most = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    if (result->cores[i].kind == kind && result->cores[i].pipe[PIPE_S].instructions > most)
      most = result->cores[i].pipe[PIPE_S].instructions;
  vinci_result_free(result);
  return most;
}

/* Cycles by the estimate, on a chip on which the issue of instructions decides. */
static uint64_t issue_cycles(const vinci_soc *soc, const char *request) {
  return estimate(soc, request).ps / (PS_PER_SECOND / (uint64_t)soc->core_hz);
}

static vinci_soc *slow_issue(void) {
  vinci_soc *soc = chip();
  soc->kernel[KERNEL_ATTENTION].issue_cycles = SLOW;
  return soc;
}

enum { KEYS = 2048 };

static void request_of(char text[256], const char *form, unsigned cols, unsigned keys) {
  snprintf(text, 256, "%s seq_q=64 seq_k=%u rows=64 cols=%u cores=1", form, keys, cols);
}

/* What more keys add to the instructions of the program, the estimate adds as well: within 9 per
 * cent, as a panel has instructions that the estimate counts by tile. */
static void instructions_of_the_gradient_are_those_that_are_emitted(void **state) {
  static const struct {
    const char *form;
    unsigned cols;
    enum core_kind kind; /* whose scalar unit decides */
  } cases[] = {
      {"flash_attention_grad head_dim=64 panel=128 slice=32", 128, CORE_AIC},
      {"flash_attention_grad head_dim=64 panel=128 slice=32", 256, CORE_AIC},
      {"flash_attention_grad head_dim=64 panel=256 slice=32", 256, CORE_AIC},
      {"flash_attention_grad head_dim=256 panel=128 slice=32", 256, CORE_AIC},
      {"flash_attention_grad head_dim=64 panel=128 slice=8", 128, CORE_AIV},
      {"flash_attention_grad head_dim=64 panel=64 slice=8", 64, CORE_AIV},
  };
  vinci_soc *soc = slow_issue();
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char less[256], more[256];
    request_of(less, cases[i].form, cases[i].cols, KEYS);
    request_of(more, cases[i].form, cases[i].cols, 2 * KEYS);
    uint64_t emitted =
        instructions(soc, more, cases[i].kind) - instructions(soc, less, cases[i].kind);
    uint64_t told = (issue_cycles(soc, more) - issue_cycles(soc, less)) / SLOW;
    uint64_t apart = told > emitted ? told - emitted : emitted - told;
    if (100 * apart > 9 * emitted)
      fail_msg("%s: %" PRIu64 " instructions are emitted, %" PRIu64 " estimated", more, emitted,
               told);
  }
  vinci_soc_free(soc);
}

struct slice_rows {
  uint64_t once, of_part; /* for each 64 keys */
};

/* Instructions in the last loop over slices of a program's softmax. Rows that are there for keys
 * that fill no part, or for steps narrower than this one, are left out. */
static struct slice_rows rows_of_slice(const char *text) {
  struct slice_rows rows = {0, 0};
  const char *line = NULL, *found = text;
  while ((found = strstr(found, "loop,slice,(minex")) != NULL)
    line = found++;
  assert_non_null(line);
  unsigned depth = 1, left_out = 0, part = 0; /* the depth of what is left out, or of parts */
  while (depth > 0) {
    line = strchr(line, '\n');
    assert_non_null(line);
    line += 1 + strspn(line + 1, " ");
    if (strncmp(line, "loop,", 5) == 0) {
      depth++;
      part = strncmp(line, "loop,part,", 10) == 0 ? depth : part;
      bool out = strncmp(line, "loop,pad,", 9) == 0 || strncmp(line, "loop,narrow,", 12) == 0;
      left_out = out ? depth : left_out;
    } else if (strncmp(line, "endloop", 7) == 0) {
      part = part == depth ? 0 : part;
      left_out = left_out == depth ? 0 : left_out;
      depth--;
    } else if (strncmp(line, "let,", 4) != 0 && line[0] != '#' && !left_out) {
      *(part ? &rows.of_part : &rows.once) += 1;
    }
  }
  return rows;
}

static void instructions_of_softmax_are_those_that_are_emitted(void **state) {
  static const unsigned shapes[][2] = {{512, 8}, {512, 16}, {256, 32}, {128, 8}}; /* keys, rows */
  enum { ROWS = 64 / 2 }; /* of a vector core */
  vinci_soc *soc = slow_issue();
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    unsigned cols = shapes[i][0], slice = shapes[i][1];
    char form[128], less[256], more[256], *text = NULL;
    struct words words;
    struct vinci_diag diag = {0};
    snprintf(form, sizeof form, "flash_attention head_dim=64 splits=1 panel=64 slice=%u", slice);
    request_of(less, form, cols, KEYS);
    request_of(more, form, cols, 2 * KEYS);
    words_split(&words, more);
    assert_int_equal(
        vinci_compile_text(soc, words.item[0], words.item + 1, words.count - 1, &text, &diag),
        VINCI_OK);
    struct slice_rows rows = rows_of_slice(text);
    uint64_t slices = KEYS / cols * (ROWS / slice);
    uint64_t emitted = slices * (rows.once + cols / 64 * rows.of_part);
    uint64_t told = (issue_cycles(soc, more) - issue_cycles(soc, less)) / SLOW;
    if (told < emitted || 100 * told > 108 * emitted) /* and what the pipes take */
      fail_msg("%s: %" PRIu64 " + %" PRIu64 " a part are emitted, %" PRIu64
               " in all; estimated %" PRIu64,
               more, rows.once, rows.of_part, emitted, told);
    vinci_text_free(text);
  }
  vinci_soc_free(soc);
}

/* All that passes between the cores and memory; of the gradient also what its short kernels at both
 * ends move, which the estimate leaves out. */
static void bytes_of_attention_are_those_that_are_moved(void **state) {
  static const char *const requests[] = {
      "flash_attention heads=2 seq_q=2048 seq_k=2048 head_dim=64 rows=128 cols=256 panel=256 "
      "splits=1",
      "flash_attention heads=2 seq_q=2048 seq_k=2048 head_dim=256 rows=64 cols=128 panel=128 "
      "splits=1",
      "flash_attention_grad heads=2 seq_q=2048 seq_k=2048 head_dim=64 rows=128 cols=256 panel=256",
      "flash_attention_grad heads=2 seq_q=2048 seq_k=2048 head_dim=256 rows=64 cols=128 panel=128",
  };
  static const enum path paths[] = {PATH_GM_L1, PATH_L0C_GM, PATH_GM_UB, PATH_UB_GM};
  (void)state;
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    struct vinci_result *result = run(fixture_shared, requests[i]);
    uint64_t moved = 0, told = estimate(fixture_shared, requests[i]).gm_bytes;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++)
      moved += result_path_bytes(result, paths[p]);
    vinci_result_free(result);
    if (100 * told < 93 * moved || 100 * told > 107 * moved)
      fail_msg("%s: %" PRIu64 " bytes are moved, %" PRIu64 " estimated", requests[i], moved, told);
  }
}

/* ---- vector operators ------------------------------------------------------------------------ */

/* Estimates run the program: with one core, and a memory that decides nothing, they are the time of
 * the simulation, less the launch. */
static void estimates_of_vector_operators_are_their_times(void **state) {
  static const struct {
    const char *request;
    unsigned percent;
  } rows[] = {
      {"relu shape=262144 blocks=1", 3},
      {"gelu shape=100003 blocks=1 buffers=1", 3},
      {"adamw shape=65536 blocks=1", 3},
      {"softmax shape=128x1000 blocks=1", 3},
      {"reduce_sum shape=300x700 blocks=1", 3},
      {"transpose shape=512x256 perm=2x1 blocks=1", 3},
      {"where shape=117x1009 blocks=1", 3},
      /* What its turns keep adds up, and is read again by its second pass. */
      {"masked_select shape=1024x256 count=131072 blocks=1", 5},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vinci_soc *soc = chip();
    struct words words;
    char text[256];
    struct vinci_tiling tiling;
    struct vinci_diag diag = {0};
    words_split(&words, rows[i].request);
    if (vinci_op_tiling(soc, words.item[0], words.item + 1, words.count - 1, text, sizeof text,
                        &tiling, &diag) != VINCI_OK)
      fail_msg("%s: %s", rows[i].request, diag.text);
    struct vinci_result *result = run(soc, rows[i].request);
    uint64_t cycle_ps = PS_PER_SECOND / (uint64_t)soc->core_hz;
    uint64_t cycles = (result->total_ps - (uint64_t)soc->launch_base_ps) / cycle_ps;
    if (tiling.total_cycles * 100 < cycles * (100 - rows[i].percent) ||
        tiling.total_cycles * 100 > cycles * (100 + rows[i].percent))
      fail_msg("%s: %" PRIu64 " cycles, estimated %" PRIu64, rows[i].request, cycles,
               tiling.total_cycles);
    vinci_result_free(result);
    vinci_soc_free(soc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_pipe_bounds_the_time_of_a_busy_pipe),
      cmocka_unit_test(instructions_of_the_gradient_are_those_that_are_emitted),
      cmocka_unit_test(instructions_of_softmax_are_those_that_are_emitted),
      cmocka_unit_test(bytes_of_attention_are_those_that_are_moved),
      cmocka_unit_test(estimates_of_vector_operators_are_their_times),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
