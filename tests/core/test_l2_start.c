/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in L2 when a run starts, seen from the size of L2: twice as large an L2 is not slower,
 * by more than 2 %, and has no more to write back than kernels before have written. For operators
 * that are small, that fill the L2 of these tests, and that are larger; all states; both memory
 * models. All sizes run the same program, that of the chip as it is: the choice of a tiling depends
 * on L2, too, and another tiling is quicker or slower for reasons of its own.
 */
#include <inttypes.h>

#include "tests/support/checks.h"

#include "core/chip/soc.h"
#include "core/result/result.h"

enum { MIB = 1 << 20, OWED_MIB = 8, ARGS_MAX = 8 };

static const char *const chips[] = {"Ascend910B1", "Ascend910B4", "Ascend950PR_9589"};

struct request {
  const char *op, *args[ARGS_MAX];
};

static const struct request cases[] = {
    {"matmul", {"m=8", "k=512", "n=1024", "dtype=fp16"}},
    {"matmul", {"m=8", "k=2048", "n=2048", "dtype=bf16"}},
    {"matmul", {"m=8", "k=2048", "n=6144", "dtype=bf16"}},
    {"add", {"shape=1572864", "dtype=fp16"}},
    {"add", {"shape=6291456", "dtype=fp16"}},
    {"relu", {"shape=4194304", "dtype=fp16"}},
};

/* The text of a program for the chip as it is; free it with vinci_text_free(). */
static char *compiled(const char *chip, const struct request *request) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  char *text = NULL;
  size_t count = 0;
  while (count < ARGS_MAX && request->args[count])
    count++;
  if (vinci_soc_load(chip, NULL, &soc, &diag) != VINCI_OK ||
      vinci_compile_text(soc, request->op, request->args, count, &text, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  vinci_soc_free(soc);
  return text;
}

static struct vinci_result *run_text(const char *chip, const char *text, unsigned size_mib,
                                     const struct vinci_run_options *options) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  char size[32], owed[32];
  snprintf(size, sizeof size, "l2.size=%uMiB", size_mib);
  snprintf(owed, sizeof owed, "l2.owed=%dMiB", OWED_MIB);
  if (vinci_soc_load(chip, NULL, &soc, &diag) != VINCI_OK ||
      vinci_soc_set(soc, size, &diag) != VINCI_OK || vinci_soc_set(soc, owed, &diag) != VINCI_OK ||
      vinci_trace_parse("case", text, strlen(text), soc, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, options, &result, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return result;
}

/* Doubles L2 from a quarter of what is owed to eight times as much. */
static void check_sizes(const char *chip, const struct request *request, const char *text,
                        enum vinci_l2 start, enum vinci_memory memory) {
  struct vinci_run_options options = {
      .struct_size = sizeof options,
      .memory = memory,
      .l2_start = start,
      .code_found_ppm = VINCI_CODE_WARM}; /* no wait for code beside that for L2 */
  uint64_t before_ps = UINT64_MAX / 200, before_owed = UINT64_MAX;
  for (unsigned size_mib = OWED_MIB / 4; size_mib <= OWED_MIB * 8; size_mib *= 2) {
    struct vinci_result *result = run_text(chip, text, size_mib, &options);
    if (result->total_ps * 100 > before_ps * 102)
      fail_msg("%s, %s %s, %s, memory %d: %" PRIu64 " ps with %u MiB of L2, %" PRIu64 " with half",
               chip, request->op, request->args[0], result_l2_name(start), (int)memory,
               result->total_ps, size_mib, before_ps);
    assert_true(result->l2_start_owed_bytes <= (uint64_t)OWED_MIB * MIB);
    assert_true(result->l2_start_owed_bytes <= before_owed);
    before_ps = result->total_ps;
    before_owed = result->l2_start_owed_bytes;
    vinci_result_free(result);
  }
}

static void a_larger_l2_is_never_slower(void **state) {
  (void)state;
  for (unsigned chip = 0; chip < sizeof chips / sizeof *chips; chip++)
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
      char *text = compiled(chips[chip], &cases[i]);
      for (unsigned start = VINCI_L2_EMPTY; start <= VINCI_L2_DIRTY; start++) {
        check_sizes(chips[chip], &cases[i], text, (enum vinci_l2)start, VINCI_MEMORY_FLAT);
        if (chip == 0)
          check_sizes(chips[chip], &cases[i], text, (enum vinci_l2)start, VINCI_MEMORY_CYCLE);
      }
      vinci_text_free(text);
    }
}

/* A product whose 24 MiB of weights do not fit: nothing but what is owed is written back. */
static void no_more_is_written_back_than_was_written(void **state) {
  (void)state;
  static const enum vinci_memory memories[] = {VINCI_MEMORY_FLAT, VINCI_MEMORY_CYCLE};
  char *text = compiled(chips[0], &cases[2]);
  for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++)
    for (uint64_t written = 0; written <= 6; written += 3) {
      struct vinci_run_options options = {.struct_size = sizeof options,
                                          .memory = memories[i],
                                          .l2_start = VINCI_L2_DIRTY,
                                          .l2_written_given = true,
                                          .l2_written_bytes = written * MIB};
      struct vinci_result *result = run_text(chips[0], text, OWED_MIB, &options);
      uint64_t own = 8 * 6144 * sizeof(uint16_t), back = result->l2.writebacks * 128;
      assert_int_equal(result->l2_start_owed_bytes, written * MIB);
      assert_in_range(back, written * MIB, written * MIB + own);
      vinci_result_free(result);
    }
  vinci_text_free(text);
}

/* 8 MiB are read and 8 MiB written: beside 8 MiB of other kernels they have room in 24 MiB, and
 * what finds no room pushes out as much. */
static void what_has_room_is_not_written_back(void **state) {
  (void)state;
  static const struct {
    unsigned size, owed;
  } rows[] = {{4, 8}, {16, 8}, {19, 5}, {23, 1}, {24, 0}};
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT, .l2_start = VINCI_L2_DIRTY};
  char *text = compiled(chips[0], &cases[5]);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_result *result = run_text(chips[0], text, rows[i].size, &options);
    assert_int_equal(result->l2_start_owed_bytes, (uint64_t)rows[i].owed * MIB);
    vinci_result_free(result);
  }
  vinci_text_free(text);
}

/* A third of the weights is there, and half of that is pushed out before its use. */
static void inputs_that_are_there_are_clean(void **state) {
  (void)state;
  static const enum vinci_memory memories[] = {VINCI_MEMORY_FLAT, VINCI_MEMORY_CYCLE};
  char *text = compiled(chips[0], &cases[2]);
  for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++) {
    struct vinci_run_options options = {
        .struct_size = sizeof options, .memory = memories[i], .l2_start = VINCI_L2_WARM};
    struct vinci_result *result = run_text(chips[0], text, 16, &options);
    assert_in_range(result->l2.writebacks, 0, 8 * 6144 * sizeof(uint16_t) / 128);
    vinci_result_free(result);
  }
  vinci_text_free(text);
}

/*
 * Of an input that does not quite fit a part is there: no size of L2 changes all at once. All cores
 * go down the 24 MiB of weights side by side, each with columns of its own, so that the weights are
 * read in the order of their addresses and no line that is there leaves before its use.
 */
static void inputs_fade_with_their_size(void **state) {
  (void)state;
  static const struct request rows = {"matmul",
                                      {"m=8", "k=2048", "n=6144", "dtype=bf16", "tile=16x64x256",
                                       "panel=64x256", "cores=24", "split=1"}};
  char *text = compiled(chips[0], &rows);
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT, .l2_start = VINCI_L2_WARM};
  uint64_t before = UINT64_MAX, misses_of[4];
  static const unsigned sizes[] = {12, 16, 20, 25};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct vinci_result *result = run_text(chips[0], text, sizes[i], &options);
    misses_of[i] = result->l2.read_misses;
    assert_true(misses_of[i] < before);
    before = misses_of[i];
    vinci_result_free(result);
  }
  uint64_t granules = UINT64_C(24) * MIB / 128;
  assert_in_range(misses_of[0], granules - granules / 50, granules + granules / 50);
  assert_in_range(misses_of[1], granules * 3 / 5, granules * 4 / 5);
  assert_in_range(misses_of[2], granules / 4, granules * 2 / 5);
  assert_int_equal(misses_of[3], 0);
  vinci_text_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_larger_l2_is_never_slower),
      cmocka_unit_test(no_more_is_written_back_than_was_written),
      cmocka_unit_test(what_has_room_is_not_written_back),
      cmocka_unit_test(inputs_that_are_there_are_clean),
      cmocka_unit_test(inputs_fade_with_their_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
