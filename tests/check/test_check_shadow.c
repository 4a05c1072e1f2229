/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory against one history for each byte: random writes, readers and lines of bytes, so
 * that pages change between cells and numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "core/check/check_shadow_fine.h"

enum { SHIFT = 11, BYTES = 4 << SHIFT, ROWS = 7, STEPS = 40000, MANY_ROWS = 400 };

struct history {
  uint32_t write, reader;
};

static struct history bytes[BYTES];
static uint64_t random_state;

static uint32_t any(uint32_t count) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % count;
}

static struct order_tag tag_of(uint32_t row) { return (struct order_tag){.epoch = 1, .row = row}; }

static void compare(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  uint64_t *at = context;
  assert_int_equal(start, *at);
  for (*at = start; *at < end; ++*at) {
    assert_int_equal(cell->write.epoch ? cell->write.row : 0, bytes[*at].write);
    assert_int_equal(cell->other[0].epoch ? cell->other[0].row : 0, bytes[*at].reader);
    assert_int_equal(cell->more != 0, bytes[*at].reader % 3 == 2);
  }
}

static void compare_all(struct shadow *shadow, uint64_t start, uint64_t count) {
  uint64_t at = start;
  shadow_look(shadow, start, count, compare, &at);
  assert_int_equal(at, start + count);
}

struct reading {
  struct shadow *shadow;
  uint32_t row;
};

static void read_bytes(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  const struct reading *reading = context;
  assert_true(start < end);
  if (cell->more)
    shadow_drop_more(reading->shadow->pool, cell);
  struct order_tag tag = tag_of(reading->row);
  tag.flags = TAG_READ;
  cell->other[0] = tag;
  if (reading->row % 3 == 2) /* has a list */
    shadow_add_more(reading->shadow->pool, cell, tag);
}

static void write_line(struct shadow *shadow, uint32_t row) {
  uint64_t start = any(BYTES / SHADOW_LINE_BYTES) * SHADOW_LINE_BYTES;
  uint64_t mask = (uint64_t)any(UINT32_MAX) << any(32) | 1u << any(31);
  if (any(8) == 0)
    mask = UINT64_MAX;
  const struct shadow_cell *same = shadow_fine_same(shadow, start, mask);
  if (!same)
    return;
  for (unsigned i = 0; i < SHADOW_LINE_BYTES; i++)
    if (mask >> i & 1) {
      assert_int_equal(same->write.epoch ? same->write.row : 0, bytes[start + i].write);
      bytes[start + i] = (struct history){.write = row};
    }
  struct shadow_cell history = {.write = tag_of(row)};
  shadow_fine_set(shadow, start, mask, &history);
}

static void step(struct shadow *shadow, uint32_t rows) {
  uint32_t row = 1 + any(rows), kind = any(40);
  uint64_t start = any(BYTES), most = any(10) ? 16 : any(3) ? 600 : BYTES;
  uint64_t count = 1 + any((uint32_t)(most < BYTES - start ? most : BYTES - start));
  if (kind < 12) {
    shadow_write(shadow, start, count, tag_of(row));
    for (uint64_t i = start; i < start + count; i++)
      bytes[i] = (struct history){.write = row};
  } else if (kind < 20) {
    struct reading reading = {shadow, row};
    shadow_change(shadow, start, count, read_bytes, &reading);
    for (uint64_t i = start; i < start + count; i++)
      bytes[i].reader = row;
  } else if (kind < 39) {
    write_line(shadow, row);
  } else if (any(200) == 0) {
    shadow_clear(shadow);
    memset(bytes, 0, sizeof bytes);
  } else if (any(200) == 0) {
    shadow_settle(shadow, tag_of(row));
    for (uint64_t i = 0; i < BYTES; i++)
      bytes[i] = (struct history){.write = bytes[i].write ? row : 0};
  }
  compare_all(shadow, start, count);
}

static bool has_numbers(const struct shadow *shadow) {
  for (uint32_t i = 0; i < shadow->page_count; i++)
    if (shadow->pages[i].index)
      return true;
  return false;
}

static void run(uint32_t rows) {
  struct arena arena = {0};
  struct shadow_pool pool = {.bytes_max = UINT64_C(1) << 30};
  struct shadow shadow;
  unsigned with_numbers = 0;
  memset(bytes, 0, sizeof bytes);
  random_state = rows;
  assert_true(shadow_create(&shadow, &pool, &arena, BYTES, SHIFT));
  for (unsigned i = 0; i < STEPS; i++) {
    step(&shadow, rows);
    with_numbers += has_numbers(&shadow);
  }
  compare_all(&shadow, 0, BYTES);
  assert_false(pool.failed);
  assert_in_range(with_numbers, STEPS / 20, STEPS);
  shadow_free(&shadow);
  shadow_pool_free(&pool);
  arena_free(&arena);
}

static void test_few_histories(void **state) {
  (void)state;
  run(ROWS);
}

static void test_more_histories_than_numbers(void **state) {
  (void)state;
  run(MANY_ROWS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_histories),
      cmocka_unit_test(test_more_histories_than_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
