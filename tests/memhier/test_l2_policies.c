/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replacement policies of L2: what each does in one set, by hand, and that both memory models ask
 * the policy of the chip. A policy without such a row fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/result/result.h"
#include "memhier/l2/l2_policies.h"
#include "memhier/memhier.h"

enum { LINE = L2_FLAT_LINE_BYTES, WAYS = L2_FLAT_WAYS, LEAVE = 3, GRANULES = LINE / 128 };

/* In a set of 16 lines, after lines 0 to 15 came in and 0, 3 and 1 were asked for again: which
 * leave. */
static const struct {
  const char *name;
  uint64_t leave[LEAVE];
} rows[] = {
    {"fifo", {0, 1, 2}},
    {"lru", {2, 4, 5}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void every_policy_has_a_row(void **state) {
  (void)state;
  size_t count = 0;
  for (; soc_l2_policy(count); count++) {
    size_t at = 0;
    while (at < ROWS && strcmp(rows[at].name, soc_l2_policy(count)) != 0)
      at++;
    if (at == ROWS)
      fail_msg("no row of this test for policy '%s'", soc_l2_policy(count));
  }
  assert_int_equal(count, ROWS);
  assert_null(l2_policy_find("none"));
  assert_ptr_equal(l2_policy_find(""), l2_policy_find(soc_l2_policy(0)));
}

static struct l2_tags one_set(struct arena *arena, const char *policy) {
  struct l2_tags l2 = {0};
  struct l2_geometry geometry = {.capacity_bytes = (uint64_t)WAYS * LINE,
                                 .line_bytes = LINE,
                                 .ways = WAYS,
                                 .policy = l2_policy_find(policy)};
  assert_non_null(geometry.policy);
  assert_true(l2_create(&l2, arena, geometry, UINT64_C(1) << 30));
  return l2;
}

/* Lines are written, so that those which leave are told. */
static struct l2_outcome ask(struct l2_tags *l2, uint64_t line, bool passes) {
  return l2_access(l2, line * LINE, LINE, true, passes);
}

static void lines_leave_in_the_order_of_the_policy(void **state) {
  (void)state;
  static const uint64_t again[] = {0, 3, 1};
  for (size_t i = 0; i < ROWS; i++) {
    struct arena arena = {0};
    struct l2_tags l2 = one_set(&arena, rows[i].name);
    for (uint64_t line = 0; line < WAYS; line++)
      assert_int_equal(ask(&l2, line, false).written_back, 0);
    for (size_t k = 0; k < sizeof again / sizeof *again; k++)
      assert_int_equal(l2_count(ask(&l2, again[k], false).hits), GRANULES);
    assert_int_equal(l2_count(ask(&l2, 2, true).hits),
                     GRANULES); /* passes: no policy hears of this */
    for (uint64_t k = 0; k < LEAVE; k++) {
      struct l2_outcome outcome = ask(&l2, WAYS + k, false);
      assert_int_equal(l2_count(outcome.written_back), GRANULES);
      assert_int_equal(outcome.victim, rows[i].leave[k]);
    }
    arena_free(&arena);
  }
}

/* Whatever is asked for: victims are ways, and of N lines in turn as many stay as there is room
 * for. */
static void a_set_stays_full(void **state) {
  (void)state;
  enum { ASKED = 5000, LINES = 40 };
  for (size_t i = 0; i < ROWS; i++) {
    struct arena arena = {0};
    struct l2_tags l2 = one_set(&arena, rows[i].name);
    uint32_t random = 1;
    for (unsigned k = 0; k < ASKED; k++) {
      random = random * 1664525 + 1013904223;
      (void)ask(&l2, (random >> 16) % LINES, false);
    }
    uint64_t valid = 0, dirty = 0;
    for (uint64_t line = 0; line < LINES; line++) {
      struct l2_place place = l2_place_of(&l2, line);
      l2_find(&l2, &place, UINT32_MAX, &valid, &dirty);
    }
    assert_int_equal(valid, WAYS * LINE);
    assert_int_equal(dirty, WAYS * LINE);
    arena_free(&arena);
  }
}

/* The digest of a set after lines 0 to 16, line 0 `again` or not, so that the ways of what comes
 * later differ, and then lines 0 to 15, from `first` on and around. */
static uint64_t digest_after(const char *policy, bool again, uint64_t first) {
  struct arena arena = {0};
  struct l2_tags l2 = one_set(&arena, policy);
  for (uint64_t line = 0; line <= WAYS; line++)
    (void)ask(&l2, line + WAYS, false);
  if (again)
    (void)ask(&l2, WAYS, false);
  for (uint64_t i = 0; i < WAYS; i++)
    (void)ask(&l2, (first + i) % WAYS, false);
  uint64_t digest = l2_digest(&l2, 0);
  arena_free(&arena);
  return digest;
}

static void ways_do_not_tell_sets_apart_that_go_on_alike(void **state) {
  (void)state;
  for (size_t i = 0; i < ROWS; i++) {
    const char *name = rows[i].name;
    assert_true(digest_after(name, false, 0) == digest_after(name, false, 0));
    assert_true(digest_after(name, false, 0) != digest_after(name, false, 1));
    if (l2_policy_find(name)->order)
      assert_true(digest_after(name, false, 0) == digest_after(name, true, 0));
  }
}

/* One set after lines 0 to 16 came in and line 2 was asked for again, or not: its digest, and which
 * lines leave for the next ones. */
struct kept {
  uint64_t digest;
  uint64_t leave[WAYS];
};

static struct kept kept_after(const char *policy, bool again) {
  struct arena arena = {0};
  struct l2_tags l2 = one_set(&arena, policy);
  for (uint64_t line = 0; line <= WAYS; line++)
    (void)ask(&l2, line, false);
  if (again)
    (void)ask(&l2, 2, false);
  struct kept kept = {.digest = l2_digest(&l2, 0)};
  for (uint64_t i = 0; i < WAYS; i++)
    kept.leave[i] = ask(&l2, WAYS + 1 + i, false).victim;
  arena_free(&arena);
  return kept;
}

/* Sets of one digest: what leaves for the lines to come is the same. A hit is what fifo does not
 * hear of and lru does; of a policy to come, this asks what it does itself. */
static void a_digest_knows_what_a_policy_keeps(void **state) {
  (void)state;
  for (size_t i = 0; i < ROWS; i++) {
    struct kept plain = kept_after(rows[i].name, false), hit = kept_after(rows[i].name, true);
    bool same_leave = memcmp(plain.leave, hit.leave, sizeof plain.leave) == 0;
    assert_int_equal(plain.digest == hit.digest, same_leave);
    if (strcmp(rows[i].name, "lru") == 0)
      assert_false(same_leave);
    if (strcmp(rows[i].name, "fifo") == 0)
      assert_true(same_leave);
  }
}

static void a_digest_knows_what_is_to_be_written(void **state) {
  (void)state;
  for (size_t i = 0; i < ROWS; i++) {
    struct arena arena = {0};
    struct l2_tags l2 = one_set(&arena, rows[i].name);
    for (uint64_t line = 0; line < WAYS; line++)
      (void)ask(&l2, line, false);
    uint64_t before = l2_digest(&l2, 0);
    l2_clean(&l2);
    assert_true(l2_digest(&l2, 0) != before);
    arena_free(&arena);
  }
}

/* ---- in runs --------------------------------------------------------------------------------- */

#define READ(line) "copy_gm_to_ubuf,dst=0,src=x+" line ",len_burst=128\npipe_barrier,pipe=MTE2\n"

/* Granules that miss in an L2 of 64 KiB: 16 times 4 KiB come in, the first is read again, others
 * come in, and the first is read once more. In both models the 4 KiB are a line of each set. */
static uint64_t misses(vinci_soc *soc, enum vinci_memory memory) {
  static const char text[] =
      "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=1\n"
      "tensor,name=x,dtype=fp16,shape=8388608,io=in\nstream,core=AIV\n"
      "loop,i,16\n" READ("i*4096") "endloop\n" READ("0") READ("65536") READ("0");
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = memory, .l2_start = VINCI_L2_EMPTY};
  if (vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
    fail_msg("line %lu: %s", diag.line, diag.text);
  uint64_t found = result->l2.read_misses;
  vinci_result_free(result);
  vinci_trace_free(trace);
  return found;
}

static void both_models_ask_the_policy_of_the_chip(void **state) {
  (void)state;
  static const enum vinci_memory memories[] = {VINCI_MEMORY_CYCLE, VINCI_MEMORY_FLAT};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  soc->l2_slices = 8;
  soc->l2_ways = WAYS;
  soc->l2_bytes = (int64_t)WAYS * LINE;
  for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
    assert_int_equal(vinci_soc_set(soc, "l2.policy=fifo", &diag), VINCI_OK);
    assert_int_equal(misses(soc, memories[i]), (WAYS + 2) * GRANULES);
    assert_int_equal(vinci_soc_set(soc, "l2.policy=lru", &diag), VINCI_OK);
    assert_int_equal(misses(soc, memories[i]), (WAYS + 1) * GRANULES);
  }
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_policy_has_a_row),
      cmocka_unit_test(lines_leave_in_the_order_of_the_policy),
      cmocka_unit_test(a_set_stays_full),
      cmocka_unit_test(ways_do_not_tell_sets_apart_that_go_on_alike),
      cmocka_unit_test(a_digest_knows_what_a_policy_keeps),
      cmocka_unit_test(a_digest_knows_what_is_to_be_written),
      cmocka_unit_test(both_models_ask_the_policy_of_the_chip),
  };
  return cmocka_run_group_tests_name("l2 policies", tests, NULL, NULL);
}
