/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reader of JSON: values with their ways, escapes, and what is no JSON (RFC 8259). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/json.h"

enum { TEXT_SIZE = 4096 };

/* All values as "WAY=TEXT;" in their order. */
static void collect(void *context, const char *path, const char *text) {
  char *all = context;
  size_t used = strlen(all);
  snprintf(all + used, TEXT_SIZE - used, "%s=%s;", path, text);
}

static enum vinci_status read_text(const char *text, char *all, struct vinci_diag *diag) {
  char copy[TEXT_SIZE];
  *all = '\0';
  *diag = (struct vinci_diag){0};
  snprintf(copy, sizeof copy, "%s", text);
  return json_read("f.json", copy, strlen(copy), collect, all, diag);
}

static void values_come_with_their_ways(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"7", "=7;"},
      {" {} ", ""},
      {"[]", ""},
      {"{\"a\": 1, \"b\": {\"c\": \"x\", \"d\": [true, null, [2.5e-3]]}}",
       "a=1;b.c=x;b.d.0=true;b.d.1=null;b.d.2.0=2.5e-3;"},
      {"{\"GM->UB\": -0, \"\": \"\"}", "GM->UB=-0;=;"},
      {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"",
       "=\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80;"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char all[TEXT_SIZE];
    struct vinci_diag diag;
    assert_int_equal(read_text(rows[i][0], all, &diag), VINCI_OK);
    assert_string_equal(all, rows[i][1]);
  }
}

static void what_is_no_json_is_refused_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    unsigned long line, column;
  } rows[] = {
      {"", 1, 1},           {"{\"a\": 1,}", 1, 9}, {"{\"a\" 1}", 1, 6}, {"[1 2]", 1, 4},
      {"[1,\n  01]", 2, 3}, {"tru", 1, 1},         {"\"a", 1, 3},       {"1 2", 1, 3},
      {"+1", 1, 1},         {"1.", 1, 1},          {"\"\\x\"", 1, 4},   {"\"\\ud83d\"", 1, 8},
      {"{a: 1}", 1, 2},     {"[1}", 1, 3},         {"\"\n\"", 2, 1},    {"NaN", 1, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char all[TEXT_SIZE];
    struct vinci_diag diag;
    assert_int_equal(read_text(rows[i].text, all, &diag), VINCI_E_INPUT);
    assert_int_equal(diag.line, rows[i].line);
    assert_int_equal(diag.column, rows[i].column);
    assert_string_equal(diag.path, "f.json");
  }
}

static void depth_is_bounded(void **state) {
  (void)state;
  char text[TEXT_SIZE], all[TEXT_SIZE];
  struct vinci_diag diag;
  memset(text, '[', JSON_NESTED_MAX + 1);
  text[JSON_NESTED_MAX + 1] = '\0';
  assert_int_equal(read_text(text, all, &diag), VINCI_E_INPUT);
  assert_int_equal(diag.column, JSON_NESTED_MAX + 1);
}

static void words_that_readers_share(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool known;
    unsigned code;
    size_t length;
  } escapes[] = {
      {"n0", true, '\n', 1},
      {"u00E9x", true, 0xe9, 5},
      {"ud83d\\ude00", true, 0x1f600, 11},
      {"ud83d\\u0041", true, 0xd83d, 5},
      {"ude00", true, 0xde00, 5},
      {"u0000", true, 0, 5},
      {"u12g4", false, 0, 0},
      {"u123", false, 0, 0},
      {"x", false, 0, 0},
      {"", false, 0, 0},
  };
  for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
    const char *at = escapes[i].text;
    unsigned code = 0;
    assert_int_equal(json_escape(&at, at + strlen(at), &code), escapes[i].known);
    assert_int_equal(at - escapes[i].text, escapes[i].length);
    if (escapes[i].known)
      assert_int_equal(code, escapes[i].code);
  }
  static const struct {
    const char *text;
    size_t length;
  } literals[] = {{"-0.5e+3,", 7}, {"null]", 4}, {"10", 2}, {"01", 0}, {"1.", 0},
                  {"2e", 0},       {"-", 0},     {".5", 0}, {"", 0},   {"nul", 0}};
  for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
    assert_int_equal(json_literal(literals[i].text, literals[i].text + strlen(literals[i].text)),
                     literals[i].length);
  assert_true(json_is_half(0xd800) && json_is_half(0xdfff));
  assert_false(json_is_half(0xd7ff) || json_is_half(0xe000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_come_with_their_ways),
      cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(words_that_readers_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
