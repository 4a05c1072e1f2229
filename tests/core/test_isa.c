/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the instruction table: parsing, and look-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/soc.h"
#include "core/isa/isa.h"

static void every_name_finds_its_row(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    char padded[80] = {0};
    strncpy(padded, row->name, sizeof padded - 2);
    size_t length = strlen(row->name);
    padded[length] = '_'; /* what follows the name does not count */
    assert_int_equal(isa_find(padded, length), op);
    assert_int_equal(isa_find(padded, length + 1), OP_COUNT);
    assert_int_equal(isa_find(row->name, length - 1) == op, 0);
  }
}

static void unknown_names_are_not_found(void **state) {
  (void)state;
  assert_int_equal(isa_find("", 0), OP_COUNT);
  assert_int_equal(isa_find("vaddd", 5), OP_COUNT);
  assert_int_equal(isa_find("loop", 4), OP_COUNT);
}

/* Every signature, printed from what was parsed, must be the text of the table. */
static void print_arg(const struct isa_arg *arg, char *out, size_t size) {
  char word[64];
  int used = snprintf(out, size, "%s:", arg->name);
  char *at = out + used;
  size_t left = size - (size_t)used;
  switch (arg->kind) {
  case ARG_ADDRESS:
    used = snprintf(at, left, "%s:%s%s", space_name((enum space)arg->space), arg->reads ? "r" : "",
                    arg->writes ? "w" : "");
    break;
  case ARG_INTEGER:
    used = snprintf(at, left, "%lld..%lld", (long long)arg->low, (long long)arg->high);
    if (arg->has_gap)
      used += snprintf(at + used, left - (size_t)used, "!%lld", (long long)arg->gap);
    break;
  case ARG_WORD:
    used = snprintf(at, left, "{%.*s", (int)strcspn(arg->words, "}") + 1, arg->words);
    break;
  default:
    used = snprintf(at, left, "%s", arg->kind == ARG_DTYPE ? "dtype" : "pipe");
    break;
  }
  if (!arg->has_default)
    return;
  if (arg->kind == ARG_WORD)
    isa_word_text(arg, arg->default_value, word, sizeof word);
  else if (arg->kind == ARG_DTYPE)
    snprintf(word, sizeof word, "%s", dtype_name((enum dtype)arg->default_value));
  else if (arg->kind == ARG_PIPE)
    snprintf(word, sizeof word, "%s", pipe_name((enum pipe)arg->default_value));
  else
    snprintf(word, sizeof word, "%lld", (long long)arg->default_value);
  used += snprintf(at + used, left - (size_t)used, "=%s", word);
  const char *mark = "@";
  for (unsigned i = 0; arg->archs != (1u << ARCH_COUNT) - 1 && i < ARCH_COUNT; i++) {
    if ((arg->archs >> i & 1) == 0)
      continue;
    used += snprintf(at + used, left - (size_t)used, "%s%s", mark, arch_name((enum arch)i));
    mark = "|";
  }
}

static void parsed_signatures_print_as_written(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    char text[2048] = "";
    for (unsigned i = 0; i < row->arg_count; i++) {
      char arg[128];
      print_arg(&row->arg[i], arg, sizeof arg);
      strcat(text, i ? " " : "");
      strcat(text, arg);
    }
    assert_string_equal(text, row->signature);
  }
}

static void operands_of_vadd(void **state) {
  (void)state;
  const struct isa_row *row = isa_row(OP_VADD);
  assert_string_equal(row->name, "vadd");
  assert_int_equal(row->pipe, PIPE_V);
  int dst = isa_arg_find(row, "dst", 3);
  int repeat = isa_arg_find(row, "repeat=4", 6);
  int type = isa_arg_find(row, "type", 4);
  assert_int_equal(dst, 0);
  assert_int_equal(row->arg[dst].kind, ARG_ADDRESS);
  assert_int_equal(row->arg[dst].space, SPACE_UB);
  assert_true(row->arg[dst].writes && !row->arg[dst].reads);
  assert_int_equal(row->arg[repeat].kind, ARG_INTEGER);
  assert_int_equal(row->arg[repeat].low, 0);
  assert_int_equal(row->arg[repeat].high, 255);
  assert_false(row->arg[repeat].has_default);
  assert_int_equal(row->type_arg, type);
  assert_int_equal(isa_arg_find(row, "ds", 2), -1);
  assert_int_equal(isa_arg_find(row, "dst0", 4), -1);
}

static void types_and_type_operands_go_together(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    assert_int_equal(row->type_arg >= 0, row->dtypes != 0);
    assert_true(row->archs != 0 && row->archs < 1u << ARCH_COUNT);
    assert_true(strlen(row->text) > 0 && strlen(row->source) > 0);
    assert_true(row->class16 < VECTOR_CLASS_COUNT && row->class32 < VECTOR_CLASS_COUNT);
  }
}

static void words_have_numbers(void **state) {
  (void)state;
  struct isa_arg arg = {.kind = ARG_WORD, .words = "none|relu|prelu} more:{x}"};
  char text[8];
  assert_int_equal(isa_word_find(&arg, "none", 4), 0);
  assert_int_equal(isa_word_find(&arg, "relu", 4), 1);
  assert_int_equal(isa_word_find(&arg, "prelu", 5), 2);
  assert_int_equal(isa_word_find(&arg, "rel", 3), -1);
  assert_int_equal(isa_word_find(&arg, "x", 1), -1);
  isa_word_text(&arg, 2, text, sizeof text);
  assert_string_equal(text, "prelu");
  isa_word_text(&arg, 0, text, 3);
  assert_string_equal(text, "no");
  isa_word_text(&arg, 3, text, sizeof text);
  assert_string_equal(text, "");
}

static void types_by_architecture(void **state) {
  (void)state;
  for (unsigned dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    bool small = dtype == DTYPE_FP8_E4M3 || dtype == DTYPE_FP8_E5M2 || dtype == DTYPE_FP4_E2M1 ||
                 dtype == DTYPE_FP4_E1M2;
    assert_int_equal(arch_has_dtype(ARCH_C220, (enum dtype)dtype), !small);
    assert_true(arch_has_dtype(ARCH_C310, (enum dtype)dtype) || dtype == DTYPE_INT4);
  }
  assert_true(isa_dtypes(OP_MAD, ARCH_C100) >> DTYPE_UINT8 & 1);
  assert_false(isa_dtypes(OP_MAD, ARCH_C220) >> DTYPE_UINT8 & 1);
  assert_true(isa_dtypes(OP_MAD, ARCH_C310) >> DTYPE_FP8_E4M3 & 1);
  assert_int_equal(isa_dtypes(OP_SET_FLAG, ARCH_C310), 0);
  assert_false(arch_has_dtype(ARCH_C100, DTYPE_BF16));
  assert_false(arch_has_dtype(ARCH_M200, DTYPE_BF16));
  assert_false(arch_has_dtype(ARCH_C100, DTYPE_HF32));
  assert_false(arch_has_dtype(ARCH_C100, DTYPE_INT4));
  assert_true(arch_has_dtype(ARCH_M200, DTYPE_INT4));
  assert_false(arch_has_dtype(ARCH_C310, DTYPE_INT4));
  assert_true(arch_has_dtype(ARCH_C310, DTYPE_BF16));
  assert_true(arch_has_dtype(ARCH_C100, DTYPE_FP32));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_name_finds_its_row),
      cmocka_unit_test(unknown_names_are_not_found),
      cmocka_unit_test(parsed_signatures_print_as_written),
      cmocka_unit_test(operands_of_vadd),
      cmocka_unit_test(types_and_type_operands_go_together),
      cmocka_unit_test(words_have_numbers),
      cmocka_unit_test(types_by_architecture),
  };
  return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
