/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory that outlives a run: what passes is there whenever somebody asks, in the order in
 * which it passed, and the digest tells histories apart without asking.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/chip/soc.h"
#include "core/sim/kept.h"

#define MIB (UINT64_C(1) << 20)

static const enum vinci_memory models[] = {VINCI_MEMORY_CYCLE, VINCI_MEMORY_FLAT};

static vinci_soc *load(const char *l2) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK ||
      vinci_soc_set(soc, l2, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return soc;
}

static struct kept_memory *create(const vinci_soc *soc, enum vinci_memory model) {
  struct vinci_diag diag = {0};
  struct kept_memory *kept = NULL;
  if (kept_create(soc, model, &kept, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return kept;
}

static void what_passes_is_there(void **state) {
  (void)state;
  vinci_soc *soc = load("l2.size=16MiB");
  for (size_t i = 0; i < 2; i++) {
    struct kept_memory *kept = create(soc, models[i]), *copy = create(soc, models[i]);
    assert_int_equal(kept_find(kept, 0, MIB).valid, 0);
    kept_pass(kept, 0, MIB, false);
    kept_pass(kept, 2 * MIB, MIB, true);
    struct kept_bytes read = kept_find(kept, 0, MIB), written = kept_find(kept, 2 * MIB, MIB);
    assert_int_equal(read.valid, MIB);
    assert_int_equal(read.dirty, 0);
    assert_int_equal(written.valid, MIB);
    assert_int_equal(written.dirty, MIB);
    kept_pass(kept, 4 * MIB, MIB, true);
    kept_copy(copy, kept); /* with what has passed since the last question */
    assert_int_equal(kept_find(copy, 4 * MIB, MIB).dirty, MIB);
    kept_pass(copy, 6 * MIB, MIB, true);
    kept_copy(copy, kept); /* and without what had passed through the copy alone */
    assert_int_equal(kept_find(copy, 6 * MIB, MIB).valid, 0);
    kept_clean(kept);
    assert_int_equal(kept_find(kept, 4 * MIB, MIB).dirty, 0);
    assert_int_equal(kept_find(kept, 4 * MIB, MIB).valid, MIB);
    kept_free(copy);
    kept_free(kept);
  }
  vinci_soc_free(soc);
}

/* Three times as much as L2 holds: the last is there and the first is not. */
static void the_order_of_passes_counts(void **state) {
  (void)state;
  vinci_soc *soc = load("l2.size=16MiB");
  for (size_t i = 0; i < 2; i++) {
    struct kept_memory *kept = create(soc, models[i]);
    for (uint64_t at = 0; at < 48; at++)
      kept_pass(kept, at * MIB, MIB, false);
    assert_int_equal(kept_find(kept, 0, 8 * MIB).valid, 0);
    assert_int_equal(kept_find(kept, 40 * MIB, 8 * MIB).valid, 8 * MIB);
    kept_free(kept);
  }
  vinci_soc_free(soc);
}

/* Ranges that pass side by side: the halves of both that came last stay. */
static void ranges_pass_side_by_side(void **state) {
  (void)state;
  vinci_soc *soc = load("l2.size=16MiB");
  struct kept_memory *kept = create(soc, VINCI_MEMORY_FLAT);
  const struct kept_range both[] = {{0, 16 * MIB, false}, {64 * MIB, 16 * MIB, false}};
  kept_pass_ranges(kept, both, 2);
  assert_int_equal(kept_find(kept, 0, 7 * MIB).valid, 0);
  assert_int_equal(kept_find(kept, 9 * MIB, 7 * MIB).valid, 7 * MIB);
  assert_int_equal(kept_find(kept, 73 * MIB, 7 * MIB).valid, 7 * MIB);
  kept_free(kept);
  vinci_soc_free(soc);
}

static uint64_t digest_after(const vinci_soc *soc, enum vinci_memory model,
                             const struct kept_range *ranges, size_t count, bool together) {
  struct kept_memory *kept = create(soc, model);
  for (size_t i = 0; i < count; i += together ? count : 1)
    kept_pass_ranges(kept, ranges + i, together ? count : 1);
  uint64_t before = kept_digest(kept);
  (void)kept_find(kept, 0, MIB); /* a question changes nothing */
  assert_int_equal(kept_digest(kept), before);
  kept_free(kept);
  return before;
}

static void digests_tell_histories_apart(void **state) {
  (void)state;
  vinci_soc *soc = load("l2.size=16MiB"), *other = load("l2.size=32MiB");
  const struct kept_range a[] = {{0, MIB, false}, {MIB, MIB, false}};
  const struct kept_range turned[] = {{MIB, MIB, false}, {0, MIB, false}};
  const struct kept_range longer[] = {{0, MIB + 512, false}, {MIB, MIB, false}};
  const struct kept_range written[] = {{0, MIB, true}, {MIB, MIB, false}};
  const uint64_t digests[] = {
      digest_after(soc, VINCI_MEMORY_CYCLE, a, 2, false),
      digest_after(soc, VINCI_MEMORY_CYCLE, a, 2, true),
      digest_after(soc, VINCI_MEMORY_CYCLE, a, 1, false),
      digest_after(soc, VINCI_MEMORY_CYCLE, a, 0, false),
      digest_after(soc, VINCI_MEMORY_CYCLE, turned, 2, false),
      digest_after(soc, VINCI_MEMORY_CYCLE, longer, 2, false),
      digest_after(soc, VINCI_MEMORY_CYCLE, written, 2, false),
      digest_after(soc, VINCI_MEMORY_FLAT, a, 2, false),
      digest_after(other, VINCI_MEMORY_CYCLE, a, 2, false),
  };
  for (size_t i = 0; i < sizeof digests / sizeof *digests; i++)
    for (size_t j = 0; j < i; j++)
      assert_int_not_equal(digests[i], digests[j]);
  assert_int_equal(digests[0], digest_after(soc, VINCI_MEMORY_CYCLE, a, 2, false));

  struct kept_memory *kept = create(soc, VINCI_MEMORY_CYCLE);
  struct kept_memory *copy = create(soc, VINCI_MEMORY_CYCLE);
  kept_pass(kept, 0, MIB, true);
  kept_copy(copy, kept);
  assert_int_equal(kept_digest(copy), kept_digest(kept));
  kept_clean(copy);
  assert_int_not_equal(kept_digest(copy), kept_digest(kept));
  kept_free(copy);
  kept_free(kept);
  vinci_soc_free(other);
  vinci_soc_free(soc);
}

/* The same ranges again leave the same lines in the same order, by then in other ways. */
static void states_tell_what_is_there_and_not_how_it_came(void **state) {
  (void)state;
  vinci_soc *soc = load("l2.size=16MiB");
  for (size_t i = 0; i < 2; i++) {
    struct kept_memory *kept = create(soc, models[i]);
    uint64_t empty = kept_state(kept), states[2];
    for (size_t turn = 0; turn < 2; turn++) {
      kept_pass(kept, 0, 47 * MIB + 512, true);
      states[turn] = kept_state(kept);
    }
    assert_true(states[0] != empty);
    assert_true(states[0] == states[1]);
    kept_clean(kept);
    assert_true(kept_state(kept) != states[0]);
    kept_pass(kept, 0, 47 * MIB + 512, true);
    assert_true(kept_state(kept) == states[0]);
    kept_pass(kept, 20 * MIB, 512, true);
    assert_true(kept_state(kept) != states[0]);
    kept_free(kept);
  }
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_passes_is_there),
      cmocka_unit_test(the_order_of_passes_counts),
      cmocka_unit_test(ranges_pass_side_by_side),
      cmocka_unit_test(digests_tell_histories_apart),
      cmocka_unit_test(states_tell_what_is_there_and_not_how_it_came),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
