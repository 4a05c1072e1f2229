/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector operators against silicon: cycles that the vector pipe is busy for 64 elements. Measured
 * on a 910B4 (relu_grad: 910B2), kernel_details.csv of Ascend/msinsight, rows of
 * tests/reference/silicon_calibration.csv: time of the pipe * clock * blocks * 64 / elements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "tests/support/words.h"

enum { LANES = 64, BLOCKS = 40 };

static vinci_soc *soc;

static int set_up(void **state) {
  struct vinci_diag diag = {0};
  (void)state;
  return vinci_soc_load("Ascend910B4", NULL, &soc, &diag) == VINCI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  vinci_soc_free(soc);
  return 0;
}

/* Busy cycles of the vector pipe, of all cores together; on as many blocks as those measured. */
static double busy_cycles(const char *request) {
  struct vinci_diag diag = {0};
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  struct pipe_counters sum;
  struct words words;
  uint64_t total;
  vinci_trace *trace;
  vinci_result *result;
  char measured[128];
  (void)snprintf(measured, sizeof measured, "%s blocks=%d", request, BLOCKS);
  words_split(&words, measured);
  if (vinci_compile(soc, words.item[0], words.item + 1, words.count - 1, &trace, &diag) !=
          VINCI_OK ||
      vinci_run(soc, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  result_sum_kind(result, CORE_AIV, PIPE_V, &sum, &total);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return (double)sum.busy_cycles;
}

static void repeats_take_what_silicon_takes(void **state) {
  static const struct {
    const char *request;
    double elements, cycles;
  } rows[] = {
      {"fill shape=8388608 dtype=bf16", 8388608, 2.53},
      {"relu_grad shape=6195200 dtype=fp32", 6195200, 3.60},
      {"div shape=400x151936 shape1=400x1 dtype=fp32", 400.0 * 151936, 5.77},
      {"mul shape=400x151936 shape1=400x1 dtype=fp32", 400.0 * 151936, 3.71},
      {"lp_norm shape=6291456", 6291456, 6.31},
      {"adamw shape=4194304", 4194304, 31.12},
      {"rms_norm shape=4096x8x128 dtype=bf16", 4096 * 1024, 18.12},
      {"rms_norm shape=4096x1024 dtype=bf16", 4096 * 1024, 15.54},
      {"rms_norm_grad shape=4096x8x128 dtype=bf16", 4096 * 1024, 53.73},
      {"rms_norm_grad shape=4096x1024 dtype=bf16", 4096 * 1024, 38.90},
      {"rope shape=4096x16x128 dtype=bf16", 4096 * 2048, 12.20},
      {"rope shape=4096x8x128 dtype=bf16", 4096 * 1024, 12.46},
      {"rope_grad shape=4096x16x128 dtype=bf16", 4096 * 2048, 12.47},
  };
  const double limit = 0.17;
  unsigned wrong = 0;
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double cycles = busy_cycles(rows[i].request) * LANES / rows[i].elements;
    double error = cycles / rows[i].cycles - 1;
    bool good = error < limit && error > -limit;
    wrong += !good;
    print_message("%-48s %6.2f measured %6.2f %+5.1f %%%s\n", rows[i].request, cycles,
                  rows[i].cycles, 100 * error, good ? "" : "  WRONG");
  }
  assert_int_equal(wrong, 0);
}

/* Instructions of a kind in the text of a kernel. */
static unsigned rows_of(const char *request, const char *inst) {
  struct vinci_diag diag = {0};
  struct words words;
  unsigned found = 0;
  words_split(&words, request);
  char *text = NULL;
  if (vinci_compile_text(soc, words.item[0], words.item + 1, words.count - 1, &text, &diag) !=
      VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  for (const char *at = strstr(text, inst); at; at = strstr(at + 1, inst))
    found++;
  vinci_text_free(text);
  return found;
}

/* What the published kernels issue for a tile: rms_norm of 128 columns an addition for each 64 of
 * them, rope two copies of halves, adamw six products with a number; before the tiles, adamw
 * takes two powers. */
static void kernels_have_the_published_steps(void **state) {
  (void)state;
  assert_int_equal(rows_of("rms_norm shape=4096x8x128 dtype=bf16", "\n  vadd,"), 2);
  assert_int_equal(rows_of("rms_norm shape=4096x8x128 dtype=bf16", "\n  vcadd,"), 1);
  assert_int_equal(rows_of("rms_norm shape=4096x8x128 dtype=bf16", "\n  vmul,"), 3);
  assert_int_equal(rows_of("rope shape=4096x8x128 dtype=bf16", "\n    copy_ubuf_to_ubuf,"), 2);
  assert_int_equal(rows_of("rope shape=4096x8x128 dtype=bf16", "\n    vmul,"), 2);
  assert_int_equal(rows_of("adamw shape=4194304", "\n  vmuls,"), 6);
  assert_int_equal(rows_of("adamw shape=4194304", "\n  vdiv,"), 1);
  assert_int_equal(rows_of("adamw shape=4194304", "\nvexp,"), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repeats_take_what_silicon_takes),
      cmocka_unit_test(kernels_have_the_published_steps),
  };
  return cmocka_run_group_tests_name("lower_vendor", tests, set_up, tear_down);
}
