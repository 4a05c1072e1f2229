/* SPDX-License-Identifier: Apache-2.0 */
/* The lowering framework: arguments, errors, tilings, and that its traces load and run. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/calls/calls.h"
#include "lower/kernel/lower.h"
#include "tests/support/fixture.h"

static void an_error_says(const char *op, const char *const *args, size_t count, const char *text,
                          const char *hint) {
  struct vinci_diag diag = {0};
  char *out;
  assert_int_equal(vinci_compile_text(fixture_shared, op, args, count, &out, &diag), VINCI_E_USAGE);
  assert_null(out);
  assert_string_equal(diag.text, text);
  assert_string_equal(diag.hint, hint);
}
#define ERROR(op, text, hint, ...)                                                                 \
  an_error_says(op, (const char *const[]){__VA_ARGS__},                                            \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), text, hint)

static void errors_name_the_key(void **state) {
  (void)state;
  const char *help = "'vinci compile copy --help' explains its keys";
  ERROR("copi", "unknown operator 'copi'", "did you mean 'copy'?", "shape=4");
  ERROR("copy", "copy has no key 'shap'", "did you mean 'shape'?", "shap=4");
  ERROR("copy", "copy has no key 'zzzzz'", "'vinci compile copy --help' lists its keys", "zzzzz=4");
  ERROR("copy", "copy: shape is missing: extents of the tensor", help, "dtype=fp16");
  ERROR("copy", "copy: arguments are key=value, not 'shape'", help, "shape");
  ERROR("copy", "copy: shape is given twice", help, "shape=4", "shape=4");
  ERROR("copy", "copy: shape takes 1 to 8 extents such as 8x128x512, not '4x'", help, "shape=4x");
  ERROR("copy", "copy: shape takes 1 to 8 extents such as 8x128x512, not '0'", help, "shape=0");
  ERROR("copy", "copy: dtype takes fp16|bf16|fp32|int8|int16|int32|int64, not 'fp8'", help,
        "shape=4", "dtype=fp8");
  ERROR("copy", "copy: tile takes a whole number from 1 to 2147483647, not '-1'", help, "shape=4",
        "tile=-1");
  ERROR("copy", "copy: no legal tiling: tile has to be a multiple of 32 up to half of UB", help,
        "shape=4", "tile=33");
}

static struct vinci_result *run(const char *op, const char *const *args, size_t count) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  vinci_result *result = NULL;
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  if (vinci_compile(fixture_shared, op, args, count, &trace, &diag) != VINCI_OK ||
      vinci_run(fixture_shared, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s %s: line %lu: %s", op, args[0], diag.line, diag.text);
  vinci_trace_free(trace);
  return result;
}

static void a_copy_moves_its_bytes_once(void **state) {
  (void)state;
  static const char *const shapes[] = {"shape=1",   "shape=15",       "shape=17",
                                       "shape=127", "shape=100003x7", "shape=8x1024x1024"};
  static const uint64_t elements[] = {1, 15, 17, 127, 700021, 8388608};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    vinci_result *result = run("copy", (const char *const[]){shapes[i], "dtype=fp16"}, 2);
    uint64_t in = 0, out = 0;
    for (uint32_t core = 0; core < result->core_count; core++) {
      in += result->cores[core].path_bytes[PATH_GM_UB];
      out += result->cores[core].path_bytes[PATH_UB_GM];
    }
    assert_int_equal(in, 2 * elements[i]);
    assert_int_equal(out, 2 * elements[i]);
    vinci_result_free(result);
  }
}

static void the_same_request_gives_the_same_text(void **state) {
  (void)state;
  const char *const args[] = {"shape=333x77"};
  char *one, *two;
  assert_int_equal(vinci_compile_text(fixture_shared, "copy", args, 1, &one, NULL), VINCI_OK);
  assert_int_equal(vinci_compile_text(fixture_shared, "copy", args, 1, &two, NULL), VINCI_OK);
  assert_string_equal(one, two);
  vinci_text_free(one);
  vinci_text_free(two);
}

struct tilings {
  unsigned count;
  uint64_t least;
};

static bool count_tiling(void *context, const struct vinci_tiling *tiling) {
  struct tilings *tilings = context;
  if (tilings->count++ == 0 || tiling->total_cycles < tilings->least)
    tilings->least = tiling->total_cycles;
  return true;
}

/* Fewer cores are chosen where they save half a per cent. */
static void the_chosen_tiling_is_the_cheapest(void **state) {
  (void)state;
  const char *const args[] = {"shape=4096x4096"};
  struct tilings tilings = {0};
  struct vinci_tiling chosen;
  char text[256];
  assert_int_equal(vinci_op_tilings(fixture_shared, "copy", args, 1, count_tiling, &tilings, NULL),
                   VINCI_OK);
  assert_int_equal(
      vinci_op_tiling(fixture_shared, "copy", args, 1, text, sizeof text, &chosen, NULL), VINCI_OK);
  assert_true(tilings.count > 2);
  assert_in_range(chosen.total_cycles, tilings.least, tilings.least + tilings.least / 200);
}

/* Every row of the table is complete, and all its words fit. */
static void the_table_is_sound(void **state) {
  (void)state;
  char word[WORD_BYTES_MAX];
  for (size_t i = 0; i < lower_op_count(); i++) {
    const struct lower_op *op = lower_op(i);
    assert_true(op->key_count <= LOWER_KEYS_MAX);
    assert_ptr_equal(lower_find(op->name), op);
    assert_true(*op->text != '\0' && op->template->cost && op->template->emit);
    for (unsigned j = 0; words_nth(op->vendor_types, j, word); j++)
      assert_ptr_equal(lower_find_vendor(word), op);
    for (size_t j = 0; j < op->key_count; j++) {
      const struct lower_key *key = &op->keys[j];
      assert_non_null(key->text);
      assert_true(!key->tiling || op->template->candidate);
      if (key->kind != LOWER_DTYPE && key->kind != LOWER_WORD)
        continue;
      for (unsigned k = 0; words_nth(key->choices, k, word); k++)
        assert_true(key->kind == LOWER_WORD || dtype_by_name(word) != DTYPE_COUNT);
    }
  }
}

/* Names of frameworks stand for types that are there, and a name of the vendor's for its operator,
 * however its letters are written. */
static void names_of_frameworks_are_sound(void **state) {
  (void)state;
  static const struct {
    const char *name, *type, *order;
  } names[] = {
#define FRAMEWORK_NAME(name, type, order) {name, type, order},
#include "lower/calls/frameworks.def"
#undef FRAMEWORK_NAME
  };
  const char *order;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct lower_call call = {0};
    assert_int_equal(calls_take_name(names[i].name, &call, &order), names[i].type != NULL);
    if (!names[i].type)
      continue;
    assert_string_equal(call.type, names[i].type);
    assert_non_null(lower_find_vendor(call.type));
    for (const char *digit = names[i].order; *digit; digit++)
      assert_in_range(*digit, '0', '9');
  }
  char word[WORD_BYTES_MAX], lower[WORD_BYTES_MAX];
  for (size_t i = 0; i < lower_op_count(); i++)
    for (unsigned j = 0; words_nth(lower_op(i)->vendor_types, j, word); j++) {
      struct lower_call call = {0};
      for (size_t k = 0; k <= strlen(word); k++)
        lower[k] = (char)tolower((unsigned char)word[k]);
      assert_true(calls_take_name(lower, &call, &order));
      assert_ptr_equal(lower_find_vendor(call.type), lower_op(i));
    }
}

/* A what-if of the bandwidth is in estimates, too: as a slower memory of the same speed. */
static void estimates_know_the_bandwidth(void **state) {
  (void)state;
  static const char *const ops[] = {"matmul", "relu"};
  static const char *const sizes[][3] = {{"m=64", "k=256", "n=262144"}, {"shape=4194304"}};
  const size_t counts[] = {3, 1};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    uint64_t cycles[3];
    for (size_t what = 0; what < 3; what++) {
      vinci_soc *soc = fixture_soc();
      char text[512];
      struct vinci_tiling tiling;
      assert_non_null(soc);
      soc->hbm_bytes_per_second /= what == 1 ? 8 : 1;
      soc->hbm_bandwidth_scale /= what == 2 ? 8 : 1;
      assert_int_equal(
          vinci_op_tiling(soc, ops[i], sizes[i], counts[i], text, sizeof text, &tiling, NULL),
          VINCI_OK);
      cycles[what] = tiling.total_cycles;
      vinci_soc_free(soc);
    }
    assert_true(cycles[1] > 2 * cycles[0]);
    assert_int_equal(cycles[2], cycles[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_name_the_key),
      cmocka_unit_test(a_copy_moves_its_bytes_once),
      cmocka_unit_test(the_same_request_gives_the_same_text),
      cmocka_unit_test(the_chosen_tiling_is_the_cheapest),
      cmocka_unit_test(estimates_know_the_bandwidth),
      cmocka_unit_test(the_table_is_sound),
      cmocka_unit_test(names_of_frameworks_are_sound),
  };
  return cmocka_run_group_tests_name("lower", tests, fixture_set_up, fixture_tear_down);
}
