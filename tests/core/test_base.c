/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the base: status codes, diagnostics, arenas, clock domains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arena.h"
#include "core/base/cells.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/shell.h"
#include "core/base/unread.h"
#include "core/base/utf8.h"

static void status_exit_codes_are_the_contract(void **state) {
  (void)state;
  assert_int_equal(vinci_status_exit_code(VINCI_OK), 0);
  assert_int_equal(vinci_status_exit_code(VINCI_E_USAGE), 2);
  assert_int_equal(vinci_status_exit_code(VINCI_E_INPUT), 3);
  assert_int_equal(vinci_status_exit_code(VINCI_E_DEADLOCK), 6);
  assert_int_equal(vinci_status_exit_code(VINCI_E_LIMIT), 7);
  assert_int_equal(vinci_status_exit_code(VINCI_E_NOMEM), 8);
  assert_string_equal(vinci_status_text(VINCI_E_DEADLOCK), "the simulated program hangs");
}

static void first_error_stays(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  assert_int_equal(diag_error(&diag, VINCI_E_INPUT, "first %d", 1), VINCI_E_INPUT);
  assert_int_equal(diag_error(&diag, VINCI_E_USAGE, "second"), VINCI_E_USAGE);
  assert_string_equal(diag.text, "first 1");
  assert_int_equal(diag.status, VINCI_E_INPUT);
  assert_int_equal(diag_error(NULL, VINCI_E_USAGE, "nobody listens"), VINCI_E_USAGE);
}

static void printed_form(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct diag_position position = {.path = "a.csv", .line = 7, .column = 3};
  diag_error_at(&diag, VINCI_E_INPUT, position, "bad \"x\"");
  diag_hint(&diag, "say y");
  diag_hint(&diag, "not this one");
  diag_excerpt(&diag, "a,x\t=1", 6);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  vinci_diag_print(&diag, out);
  fclose(out);
  assert_string_equal(text, "a.csv:7:3: error: bad \"x\"\n  a,x =1\n    ^\nhint: say y\n");
  free(text);
}

static void excerpt_of_a_long_line_shows_the_column(void **state) {
  (void)state;
  char line[1000];
  memset(line, 'a', sizeof line);
  line[700] = 'X';
  struct vinci_diag diag = {0};
  diag_error_at(&diag, VINCI_E_INPUT, (struct diag_position){"f", 1, 701}, "here");
  diag_excerpt(&diag, line, sizeof line);
  assert_true(strlen(diag.excerpt) < sizeof diag.excerpt);
  assert_int_equal(diag.excerpt[diag.excerpt_column - 1], 'X');
}

static const char *candidate_at(const void *context, size_t index) {
  return ((const char *const *)context)[index];
}

static void nearest_name(void **state) {
  (void)state;
  static const char *const names[] = {"vadd", "vsub", "vmuls", "copy_gm_to_ubuf", NULL};
  assert_string_equal(diag_nearest("vaddd", 5, candidate_at, names), "vadd");
  assert_string_equal(diag_nearest("copy_gm_to_ub", 5, candidate_at, names), "copy_gm_to_ubuf");
  assert_null(diag_nearest("xyzzy", 5, candidate_at, names));
  assert_null(diag_nearest("", 0, candidate_at, names));
  static const char *const letters[] = {"s", "x", "it", "n", "k"};
  assert_string_equal(diag_nearest("N", 5, candidate_at, letters), "n");
  assert_null(diag_nearest("c", 5, candidate_at, letters)); /* each letter is one edit away */
}

static void add_unread(struct unread *unread, struct arena *arena, const char *name,
                       unsigned long line) {
  struct unread_found found = {.kind = UNREAD_COLUMN,
                               .at = {"a.csv", line, 7},
                               .name = name,
                               .length = strlen(name),
                               .meant = "strides"};
  assert_true(unread_add(unread, arena, &found));
}

/* Once each, in the order of the file, with nothing that a terminal would obey. */
static void unread_names(void **state) {
  (void)state;
  struct arena arena = {0};
  struct unread unread = {0};
  char text[UNREAD_TEXT_BYTES];
  add_unread(&unread, &arena, "Strids", 1);
  add_unread(&unread, &arena, "b\033[2J", 2);
  add_unread(&unread, &arena, "Strids", 3);
  assert_int_equal(unread.count, 2);
  unread_text(unread.first, text, sizeof text);
  assert_string_equal(text, "a.csv:1:7: warning: column \"Strids\" is not known and has no effect; "
                            "did you mean \"strides\"?");
  assert_string_equal(unread.first->next->name, "b [2J");
  for (int i = 0; i < UNREAD_NAMES_MAX; i++) {
    snprintf(text, sizeof text, "x%d", i);
    add_unread(&unread, &arena, text, 4);
  }
  assert_int_equal(unread.count, UNREAD_NAMES_MAX);
  assert_int_equal(unread.more, 2);
  arena_free(&arena);
}

static void arena_gives_zeroed_aligned_memory(void **state) {
  (void)state;
  struct arena arena = {0};
  for (size_t bytes = 1; bytes < 40000; bytes = bytes * 3 + 1) {
    unsigned char *memory = arena_alloc(&arena, bytes, 1);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 16, 0);
    for (size_t i = 0; i < bytes; i++)
      assert_int_equal(memory[i], 0);
    memset(memory, 0xff, bytes);
  }
  assert_null(arena_alloc(&arena, SIZE_MAX, 2));
  assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
  arena_free(&arena);
  assert_int_equal(arena.total_bytes, 0);
}

/* The same requests find the same memory, zeroed where that was asked for; others find room too. */
static void arena_rewinds(void **state) {
  (void)state;
  static const size_t sizes[] = {100, 40000, 3, 2000000, 500};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  struct arena arena = {0};
  unsigned char *memory[SIZES];
  for (size_t i = 0; i < SIZES; i++)
    memset(memory[i] = arena_alloc(&arena, sizes[i], 1), 0xa5, sizes[i]);
  size_t bytes = arena.total_bytes;
  for (unsigned round = 0; round < 3; round++) {
    arena_seal(&arena);
    arena_rewind(&arena);
    for (size_t i = 0; i < SIZES; i++) {
      bool room = i % 2 == round % 2;
      unsigned char *again =
          room ? arena_alloc_room(&arena, sizes[i], 1) : arena_alloc(&arena, sizes[i], 1);
      assert_ptr_equal(again, memory[i]);
      for (size_t b = 0; b < sizes[i]; b++)
        assert_int_equal(again[b], room ? 0xa5 : 0);
      memset(again, 0xa5, sizes[i]);
    }
    assert_int_equal(arena.total_bytes, bytes);
  }
  arena_rewind(&arena);
  for (size_t i = SIZES; i-- > 0;)
    assert_non_null(arena_alloc(&arena, sizes[i], 1));
  assert_non_null(arena_alloc(&arena, 5000000, 1));
  arena_free(&arena);
  assert_null(arena.spare);
}

static void arena_reports_shortage(void **state) {
  (void)state;
  struct arena arena = {0};
  arena_fail_after(1);
  assert_null(arena_alloc(&arena, 1, 1));
  assert_non_null(arena_alloc(&arena, 1, 1));
  arena_free(&arena);
}

/* Edge k at floor(k * 10^12 / f), in 128 bits whatever the size of k, up to the end of time. */
static void clock_edges_never_drift(void **state) {
  (void)state;
  static const uint64_t frequencies[] = {1650000000, 1850000000, 1060000000, 1000000000, 999999937};
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   3,
                                   32,
                                   33,
                                   1000003,
                                   UINT64_C(9007199254740),
                                   UINT64_C(200000000000003),
                                   UINT64_C(20000000000000000),
                                   UINT64_MAX};
  for (size_t f = 0; f < sizeof frequencies / sizeof *frequencies; f++) {
    struct clock_domain clock;
    clock_init(&clock, frequencies[f]);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
      uint128 exact = (uint128)edges[i] * PS_PER_SECOND / frequencies[f];
      uint64_t time_ps = clock_edge_ps(&clock, edges[i]);
      if (exact > TIME_END_PS) {
        assert_true(time_ps == TIME_END_PS);
        continue;
      }
      assert_true(time_ps == (uint64_t)exact);
      assert_true(clock_edge_at(&clock, time_ps) == edges[i]);
      if (time_ps < TIME_END_PS)
        assert_true(clock_edge_at(&clock, time_ps + 1) == edges[i] + 1);
    }
  }
}

static void decimals_are_read_as_they_are_written(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t value;
  } rows[] = {{"12.345", 12345}, {"12", 12000},     {"0.05", 50},
              {"7.", 7000},      {"1.23456", 1234}, {"18446744073709551.615", UINT64_MAX}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_true(decimal_read(rows[i].text, 3) == rows[i].value);
  for (uint64_t value = 1; value < UINT64_MAX / 7; value = value * 7 + 3)
    assert_true(decimal_read(decimal_exact(value, 6).text, 6) == value);
}

/* A number that is cut short would be another number. */
static void whole_numbers_are_digits_alone(void **state) {
  (void)state;
  static const char *const wrong[] = {"",   "0x10", "1e3",  "-1", "+1",  " 1",
                                      "1 ", "1.0",  "16KB", "x",  "1,0", "18446744073709551616"};
  uint64_t value;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(decimal_whole(wrong[i], &value));
  assert_true(decimal_whole("18446744073709551615", &value) && value == UINT64_MAX);
  assert_true(decimal_whole("010", &value) && value == 10);
  assert_string_equal(decimal_digits("12/34", &value), "/34");
  assert_true(value == 12);
}

static void utf8_characters_have_their_length(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t length;
  } rows[] = {
      {"a", 1},
      {"\x7f", 1},
      {"\xc3\xa9", 2},
      {"\xe2\x82\xac", 3},
      {"\xf4\x8f\xbf\xbf", 4},
      {"\x80", 0},
      {"\xc1\x81", 0},         /* overlong */
      {"\xe0\x9f\xbf", 0},     /* overlong */
      {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
      {"\xed\xa0\x80", 0},     /* surrogate */
      {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
      {"\xf5\x80\x80\x80", 0},
      {"\xe2\x82", 0}, /* ends early */
      {"\xc3", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(utf8_length(rows[i].text, UTF8_BYTES_MAX), rows[i].length);
  assert_int_equal(utf8_length("\xe2\x82\xac", 2), 0);
}

/* What a cell of a line is written as, and read back as. */
static void cells_are_read_as_they_are_written(void **state) {
  (void)state;
  static const struct {
    const char *text, *cell, *back; /* back: NULL: the text */
  } rows[] = {
      {"MatMulV2", "MatMulV2", NULL},
      {"", "", NULL},
      {"a b", "a b", NULL},
      {"1,2;3", "\"1,2;3\"", NULL},
      {"a\"b", "\"a\"\"b\"", NULL},
      {"a\nb", "\"a b\"", "a b"},
      {"a\rb", "\"a b\"", "a b"},
      {"=1+1", "'=1+1", NULL},
      {"+f", "'+f", NULL},
      {"-f", "'-f", NULL},
      {"@sum", "'@sum", NULL},
      {"\tx", "'\tx", NULL},
      {"=a,\"b", "\"'=a,\"\"b\"", NULL},
      {"'=1", "''=1", NULL},
      {"''@x", "'''@x", NULL},
      {"'x", "'x", NULL},
      {"'", "'", NULL},
      {"-1.5", "-1.5", NULL},
      {"+12.3", "+12.3", NULL},
      {"-2e-3", "-2e-3", NULL},
      {"'-1", "'-1", NULL},
      {"-1+cmd", "'-1+cmd", NULL},
      {"+-1", "'+-1", NULL},
      {"-", "-", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char line[64] = "", *cells[2];
    FILE *out = fmemopen(line, sizeof line, "w");
    assert_non_null(out);
    cell_write(out, rows[i].text);
    fclose(out);
    assert_string_equal(line, rows[i].cell);
    assert_int_equal(cells_split(line, cells, 2), 1);
    assert_string_equal(cells[0], rows[i].back ? rows[i].back : rows[i].text);
  }
}

/* What a field of a text of vinci is written as: nothing but quotes is added. */
static void fields_have_quotes_where_they_want_some(void **state) {
  (void)state;
  static const struct {
    const char *text, *field;
  } rows[] = {
      {"", ",k="},
      {"a b", ",k=a b"},
      {"=1+1", ",k==1+1"},
      {"a,b", ",\"k=a,b\""},
      {"a\"b", ",\"k=a\"\"b\""},
      {"a\rb", ",\"k=a\rb\""},
      {"a\nb", ",\"k=a\nb\""},
      {"a ", ",\"k=a \""},
      {"a\t", ",\"k=a\t\""},
      {"\"", ",\"k=\"\"\""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char line[64] = "";
    FILE *out = fmemopen(line, sizeof line, "w");
    assert_non_null(out);
    cell_write_field(out, "k", rows[i].text);
    fclose(out);
    assert_string_equal(line, rows[i].field);
  }
}

static void words_of_a_shell_come_back(void **state) {
  (void)state;
  static const struct {
    const char *word, *written;
  } cases[] = {{"all_reduce@dp=ring", "all_reduce@dp=ring"},
               {"", "''"},
               {"a b", "'a b'"},
               {"it's", "'it'\\''s'"},
               {"$(x)`y`", "'$(x)`y`'"},
               {"~/x", "'~/x'"},
               {"a\nb", "'a\nb'"},
               {"gr\xc3\xbcn", "'gr\xc3\xbcn'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[32], *put = NULL, command[64], back[32] = "";
    size_t length, size = strlen(cases[i].written) + 1;
    FILE *out = open_memstream(&put, &length);
    assert_non_null(out);
    shell_put_word(out, cases[i].word);
    fclose(out);
    assert_string_equal(put, cases[i].written);
    free(put);
    assert_true(shell_write_word(text, size, cases[i].word));
    assert_string_equal(text, cases[i].written);
    assert_false(shell_write_word(text, size - 1, cases[i].word));
    snprintf(command, sizeof command, "printf %%s %s", text);
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    size_t got = fread(back, 1, sizeof back - 1, shell);
    assert_int_equal(pclose(shell), 0);
    assert_int_equal(got, strlen(cases[i].word));
    assert_string_equal(back, cases[i].word);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_exit_codes_are_the_contract),
      cmocka_unit_test(first_error_stays),
      cmocka_unit_test(printed_form),
      cmocka_unit_test(excerpt_of_a_long_line_shows_the_column),
      cmocka_unit_test(nearest_name),
      cmocka_unit_test(unread_names),
      cmocka_unit_test(arena_gives_zeroed_aligned_memory),
      cmocka_unit_test(arena_rewinds),
      cmocka_unit_test(arena_reports_shortage),
      cmocka_unit_test(clock_edges_never_drift),
      cmocka_unit_test(decimals_are_read_as_they_are_written),
      cmocka_unit_test(whole_numbers_are_digits_alone),
      cmocka_unit_test(cells_are_read_as_they_are_written),
      cmocka_unit_test(fields_have_quotes_where_they_want_some),
      cmocka_unit_test(utf8_characters_have_their_length),
      cmocka_unit_test(words_of_a_shell_come_back),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
