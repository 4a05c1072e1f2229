/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows a product inside its kernel: relu and a residual. Which bytes and instructions that
 * takes, what fusion is worth, errors. That the values are right is in tests/values/fused.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "tests/support/words.h"

static vinci_soc *load(const char *name) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load(name, NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return soc;
}

static enum vinci_status compile(const vinci_soc *soc, const char *request, vinci_trace **trace,
                                 struct vinci_diag *diag) {
  struct words words;
  words_split(&words, request);
  return vinci_compile(soc, words.item[0], words.item + 1, words.count - 1, trace, diag);
}

struct measured {
  uint64_t path_bytes[PATH_COUNT];
  uint64_t fixpipe; /* instructions of the pipe that are no flags */
  uint64_t ps;
};

static struct measured run(const vinci_soc *soc, const char *request, const char *more) {
  struct vinci_diag diag = {0};
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  char text[256];
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  snprintf(text, sizeof text, "%s %s", request, more);
  if (compile(soc, text, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", text, diag.text);
  struct measured measured = {.ps = result->kernels[0].end_ps - result->kernels[0].start_ps};
  for (uint32_t core = 0; core < result->core_count; core++) {
    for (unsigned path = 0; path < PATH_COUNT; path++)
      measured.path_bytes[path] += result->cores[core].path_bytes[path];
    measured.fixpipe += result->cores[core].pipe[PIPE_FIX].instructions;
  }
  vinci_result_free(result);
  vinci_trace_free(trace);
  return measured;
}

/* The fixpipe rectifies and converts in the same instruction that stores. */
static void relu_is_free(void **state) {
  (void)state;
  static const char *const requests[] = {
      "matmul m=300 k=512 n=520", "matmul m=300 k=512 n=520 bias=1 dtype=bf16",
      "matmul m=300 k=512 n=520 dtype=int8 out_dtype=fp16 scale=0.5",
      "conv2d n=2 c=64 h=28 w=28 k=64 kernel=3x3 pad=1x1 bias=1",
      "conv2d n=2 c=64 h=28 w=28 k=64 kernel=3x3 pad=1x1 dtype=int8 out_dtype=int8"};
  vinci_soc *soc = load("Ascend910B1");
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    struct measured plain = run(soc, requests[i], ""), relu = run(soc, requests[i], "relu=1");
    assert_memory_equal(plain.path_bytes, relu.path_bytes, sizeof plain.path_bytes);
    assert_int_equal(plain.fixpipe, relu.fixpipe);
    assert_int_equal(plain.ps, relu.ps);
  }
  vinci_soc_free(soc);
}

/* Of six passes over the feature map that convolution, sum and relu make one by one, two are left:
 * the residual comes in, the result goes out. */
static void a_residual_is_two_passes(void **state) {
  (void)state;
  static const char conv[] = "conv2d n=4 c=64 h=28 w=28 k=256 kernel=1x1 tile=112x64x128 "
                             "panel=64x64 resident=none cores=20";
  const uint64_t map = 4 * 256 * 28 * 28 * 2;
  vinci_soc *soc = load("Ascend910B1");
  struct measured plain = run(soc, conv, ""), fused = run(soc, conv, "residual=1 relu=1");
  struct measured add = run(soc, "add shape=4x256x28x28", "");
  struct measured relu = run(soc, "relu shape=4x256x28x28", "");
  uint64_t alone = plain.path_bytes[PATH_L0C_GM] + add.path_bytes[PATH_GM_UB] +
                   add.path_bytes[PATH_UB_GM] + relu.path_bytes[PATH_GM_UB] +
                   relu.path_bytes[PATH_UB_GM];
  assert_int_equal(alone, 6 * map);
  assert_int_equal(fused.path_bytes[PATH_L0C_GM], map);
  assert_int_equal(fused.path_bytes[PATH_GM_L1] - plain.path_bytes[PATH_GM_L1], map);
  assert_int_equal(fused.path_bytes[PATH_GM_UB] + fused.path_bytes[PATH_UB_GM], 0);
  vinci_soc_free(soc);
}

/* It pays where the map is large beside the work; not where few blocks have a deep k, which without
 * a residual is shared among cores. */
static void fusion_pays_but_for_a_split_k(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B1");
  static const char conv[] = "conv2d n=4 c=64 h=56 w=56 k=256 kernel=1x1";
  uint64_t alone = run(soc, conv, "").ps + run(soc, "add shape=4x256x56x56", "").ps +
                   run(soc, "relu shape=4x256x56x56", "").ps;
  assert_in_range(run(soc, conv, "residual=1 relu=1").ps, 0, alone * 3 / 4);
  static const char deep[] = "matmul m=256 k=16384 n=256";
  alone = run(soc, deep, "").ps + run(soc, "add shape=256x256", "").ps;
  assert_true(run(soc, deep, "residual=1").ps > alone);
  vinci_soc_free(soc);
}

/* On coupled cores the vector unit adds in UB, and steps of the chain are a part of the kernel. */
static void coupled_cores_work_on_results_in_ub(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend310P3");
  static const char conv[] = "conv2d n=4 c=64 h=56 w=56 k=256 kernel=1x1";
  uint64_t alone = run(soc, conv, "").ps + run(soc, "add shape=4x256x56x56", "").ps +
                   run(soc, "relu shape=4x256x56x56", "").ps;
  assert_in_range(run(soc, conv, "residual=1 relu=1").ps, 0, alone * 3 / 4);
  static const char product[] = "matmul m=1024 k=64 n=1024";
  alone = run(soc, product, "").ps + run(soc, "chain shape=1048576 steps=mul:x1,relu", "").ps;
  assert_in_range(run(soc, product, "steps=mul:x1,relu operands=fp16").ps, 0, alone * 9 / 10);
  assert_in_range(run(soc, "matmul_chain m=1024 k=64 n=1024 steps=mul:x1,relu", "").ps, 0,
                  alone * 9 / 10);
  vinci_soc_free(soc);
}

static void errors(void **state) {
  (void)state;
  static const struct {
    const char *soc, *request, *text;
  } rows[] = {
      {"Ascend910B1", "matmul m=16 k=16 n=16 residual=1 dtype=fp32",
       "matmul: a residual is for fp16 and bf16, which pass the cube as they are, not for fp32"},
      {"Ascend910B1", "conv2d c=16 h=4 w=4 k=16 kernel=1x1 residual=1 dtype=int8",
       "conv2d: a residual is for fp16 and bf16, which pass the cube as they are, not for int8"},
      {"Ascend910B1", "matmul m=16 k=16 n=65536 residual=1",
       "matmul: with a residual a row has at most 65535 columns"},
      {"Ascend910B1", "matmul m=64 k=4096 n=64 residual=1 split=4",
       "matmul: no legal tiling: k cannot be split for a residual"},
      {"Ascend910A", "matmul m=16 k=16 n=24 residual=1",
       "matmul: rows of a result with operands in its shape are whole blocks of 32 bytes on "
       "Ascend910A"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 residual=1 dtype=int8 transpose_b=1",
       "matmul: steps are for products of fp16, as fp16 or fp32"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 steps=relu residual=1",
       "matmul: either a residual or steps: add:x1 is a step"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 operands=fp16",
       "matmul: operands are those of steps, of which there are none"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 steps=add:x1 operands=bf16",
       "matmul: operand 'bf16' of the steps is not a type, fp16 or fp32, or one:fp16"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 steps=add:x1",
       "matmul: the steps name 1 tensors beside the product, operands= has 0"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 steps=y=relu,y1=exp",
       "matmul: steps behind a product have one result, and not 2"},
      {"Ascend310P3", "matmul m=16 k=16 n=16 steps=cast:int32",
       "matmul: steps behind a product compute in fp16 or fp32, and so is the result"},
      {"Ascend910B1", "matmul m=16 k=16 n=16 steps=relu",
       "matmul: steps are for cores that are cube and vector core in one, not for Ascend910B1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    vinci_trace *trace = NULL;
    vinci_soc *soc = load(rows[i].soc);
    assert_int_equal(compile(soc, rows[i].request, &trace, &diag), VINCI_E_USAGE);
    assert_string_equal(diag.text, rows[i].text);
    vinci_soc_free(soc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relu_is_free),
      cmocka_unit_test(a_residual_is_two_passes),
      cmocka_unit_test(fusion_pays_but_for_a_split_k),
      cmocka_unit_test(coupled_cores_work_on_results_in_ub),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
