/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that passes have estimated: compiled with the tiling that was found, they are what
 * vinci_compile() makes of the same request. A request of each operator is tried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "networks/passes/estimate.h"
#include "tests/support/words.h"

static const char *const requests[] = {
#define LOWER_COMPARED(op, format, inputs, bytes, least, most, args) #op " " args,
#include "lower/calls/compared.def"
#undef LOWER_COMPARED
    "matmul m=100 k=300 n=70 tile=16x32x16",
    "softmax shape=999x77 blocks=5",
    "conv2d n=2 c=33 h=13 w=9 cout=20 kernel=3x3 pad=1x1 stride=2x2 bias=1 relu=1",
};
enum { REQUESTS = sizeof requests / sizeof *requests };

static vinci_soc *load(const char *name) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load(name, NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return soc;
}

/* The digest of the program, after an estimate or without; 0: refused, and text says why. */
static uint64_t digest_of(struct estimates *estimates, const char *request, bool estimated,
                          char *text) {
  struct words words;
  struct vinci_diag diag = {0};
  struct kernel_estimate estimate;
  const vinci_trace *trace = NULL;
  vinci_trace *own = NULL;
  words_split(&words, request);
  const char *const *args = words.item + 1;
  size_t count = words.count - 1;
  if (estimated)
    assert_int_equal(estimate_kernel(estimates, words.item[0], args, count, &estimate, &diag),
                     VINCI_OK);
  enum vinci_status status =
      estimated ? estimate_compile(estimates, words.item[0], args, count, &trace, &diag)
                : vinci_compile(estimates->soc, words.item[0], args, count, &own, &diag);
  if (estimated)
    assert_int_equal(estimate.possible, status == VINCI_OK);
  if (status != VINCI_OK)
    assert_int_equal(status, VINCI_E_USAGE);
  strcpy(text, diag.text);
  uint64_t digest = status != VINCI_OK ? 0 : (estimated ? trace : own)->digest;
  vinci_trace_free(own);
  return digest;
}

static void programs_are_those_of_vinci_compile(void **state) {
  static const char *const chips[] = {"Ascend910B4", "Ascend310P3"};
  (void)state;
  for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
    vinci_soc *soc = load(chips[c]);
    struct estimates estimates;
    size_t made = 0;
    estimates_start(&estimates, soc);
    for (size_t i = 0; i < REQUESTS; i++) {
      char text[2][sizeof((struct vinci_diag *)0)->text];
      uint64_t digest = digest_of(&estimates, requests[i], true, text[0]);
      if (digest != digest_of(&estimates, requests[i], false, text[1]) ||
          strcmp(text[0], text[1]) != 0)
        fail_msg("%s on %s: another program: %s %s", requests[i], chips[c], text[0], text[1]);
      made += digest != 0;
    }
    assert_true(made > REQUESTS / 3);
    estimates_free(&estimates);
    vinci_soc_free(soc);
  }
}

/* Equal kernels have one program; others have their own, before and after the table has grown. */
static void equal_kernels_are_compiled_once(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4");
  struct estimates estimates;
  struct vinci_diag diag = {0};
  enum { KERNELS = 300 };
  const vinci_trace *first[KERNELS], *again;
  estimates_start(&estimates, soc);
  for (unsigned round = 0; round < 2; round++)
    for (unsigned i = 0; i < KERNELS; i++) {
      char shape[32];
      const char *args[] = {shape};
      snprintf(shape, sizeof shape, "shape=%u", i + 1);
      assert_int_equal(
          estimate_compile(&estimates, "relu", args, 1, round ? &again : &first[i], &diag),
          VINCI_OK);
      if (round)
        assert_ptr_equal(again, first[i]);
      assert_int_equal(first[i]->tensors[0].bytes, 2 * (i + 1));
    }
  estimates_free(&estimates);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_are_those_of_vinci_compile),
      cmocka_unit_test(equal_kernels_are_compiled_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
