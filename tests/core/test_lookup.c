/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table: all is found, in the order of adding, and memory that is short changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Whether the next calls of calloc() fail. */
static bool memory_is_short;

static void *faulty_calloc(size_t count, size_t bytes) {
  return memory_is_short ? NULL : calloc(count, bytes);
}

#define calloc faulty_calloc
#include "core/base/lookup.c"
#undef calloc

enum { ITEMS = 5000, EQUAL = 100 };

static uint64_t key_of(size_t item) { return item * item; }

static void all_is_found(void **state) {
  (void)state;
  struct lookup table = {0};
  assert_true(lookup_find(&table, 0) == LOOKUP_NONE);
  for (size_t i = 0; i < ITEMS; i++)
    assert_true(lookup_add(&table, NULL, key_of(i), i));
  for (size_t i = 0; i < ITEMS; i++)
    assert_int_equal(lookup_find(&table, key_of(i)), i);
  assert_true(lookup_find(&table, 2) == LOOKUP_NONE);
  assert_int_equal(table.count, ITEMS);
  lookup_free(&table);
  assert_true(lookup_find(&table, 0) == LOOKUP_NONE);
}

/* Equal keys stand between others, and the table grows several times. */
static void equal_keys_keep_their_order(void **state) {
  (void)state;
  struct arena arena = {0};
  struct lookup table = {0};
  for (size_t i = 0; i < EQUAL; i++) {
    assert_true(lookup_add(&table, &arena, 7, i));
    assert_true(lookup_add(&table, &arena, 1000 + key_of(i), 0));
    assert_true(lookup_add(&table, &arena, 9, 2 * i));
  }
  size_t looked = 0, other = 0;
  for (size_t i = 0; i < EQUAL; i++) {
    assert_int_equal(lookup_next(&table, 7, &looked), i);
    assert_int_equal(lookup_next(&table, 9, &other), 2 * i);
  }
  assert_true(lookup_next(&table, 7, &looked) == LOOKUP_NONE);
  assert_true(lookup_next(&table, 9, &other) == LOOKUP_NONE);
  arena_free(&arena);
}

/* What was there before stays, and can be added to once there is memory. */
static void memory_that_is_short_changes_nothing(void **state) {
  (void)state;
  struct lookup table = {0};
  size_t kept = 0;
  memory_is_short = true;
  assert_false(lookup_add(&table, NULL, 1, 1));
  memory_is_short = false;
  assert_true(lookup_add(&table, NULL, key_of(0), kept++));
  memory_is_short = true;
  while (lookup_add(&table, NULL, key_of(kept), kept))
    kept++;
  memory_is_short = false;
  assert_int_equal(table.count, kept);
  assert_true(lookup_find(&table, key_of(kept)) == LOOKUP_NONE);
  assert_true(lookup_add(&table, NULL, key_of(kept), kept));
  for (size_t i = 0; i <= kept; i++)
    assert_int_equal(lookup_find(&table, key_of(i)), i);
  lookup_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_is_found),
      cmocka_unit_test(equal_keys_keep_their_order),
      cmocka_unit_test(memory_that_is_short_changes_nothing),
  };
  return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
