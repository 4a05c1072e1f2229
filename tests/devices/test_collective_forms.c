/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each row of devices/collective/algorithms.def has a closed form, and its list of steps meets that
 * form: turns in a row, and bytes of the rank that sends most. Steps are counted here, without
 * time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "devices/collective/collective.h"

enum { RANKS_MAX = 24, PART = 1 << 10 };

static uint64_t log2_up(uint64_t x) {
  uint64_t log = 0;
  while ((UINT64_C(1) << log) < x)
    log++;
  return log;
}

static uint64_t power_up_to(uint64_t x) {
  uint64_t power = 1;
  while (2 * power <= x)
    power *= 2;
  return power;
}

/* ---- the forms --------------------------------------------------------------------------------
 */

/* Names of the forms: what n, m, w, k and S stand for. */
struct sizes {
  uint64_t n, m, w, k, S;
};

#define LG(x) log2_up(x)
#define POWER(x) power_up_to(x)
#define COLLECTIVE(op, id, turns, bytes)                                                           \
  static uint64_t turns_##id##_##op(struct sizes z) {                                              \
    const uint64_t n = z.n, m = z.m, w = z.w, k = z.k, S = z.S;                                    \
    (void)n, (void)m, (void)w, (void)k, (void)S;                                                   \
    return turns;                                                                                  \
  }                                                                                                \
  static uint64_t bytes_##id##_##op(struct sizes z) {                                              \
    const uint64_t n = z.n, m = z.m, w = z.w, k = z.k, S = z.S;                                    \
    (void)n, (void)m, (void)w, (void)k, (void)S;                                                   \
    return bytes;                                                                                  \
  }
#include "devices/collective/algorithms.def"
#undef COLLECTIVE

static const struct {
  enum collective_op op;
  const char *id;
  uint64_t (*turns)(struct sizes sizes);
  uint64_t (*bytes)(struct sizes sizes);
} forms[] = {
#define COLLECTIVE(op, id, turns, bytes)                                                           \
  {COLLECTIVE_##op, #id, turns_##id##_##op, bytes_##id##_##op},
#include "devices/collective/algorithms.def"
#undef COLLECTIVE
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Ids of the algorithms, in the order of collective_algorithms(). */
static const char *const ids[] = {
#define ALGORITHM(id, name, outer, planes, steps, needs, text) #id,
#include "devices/collective/algorithms.def"
#undef ALGORITHM
};

/* ---- the steps --------------------------------------------------------------------------------
 */

struct counted {
  uint64_t turns, bytes;
};

/* Of one rank. Segments end where the planes join; the longest plane of each counts. */
static struct counted count_rank(const struct collective_call *call, uint32_t rank) {
  enum { SEGMENTS_MAX = 256, STEPS_MAX = 4096 };
  uint64_t longest[SEGMENTS_MAX] = {0};
  struct counted counted = {0};
  for (uint32_t plane = 0; plane < call->algorithm->planes(call); plane++) {
    uint64_t turns = 0;
    unsigned segment = 0;
    for (uint32_t index = 0;; index++) {
      assert_true(index < STEPS_MAX);
      struct group_step step = call->algorithm->step(call, rank, plane, index);
      bool ends = step.kind == STEP_END || step.kind == STEP_JOIN;
      if (step.kind == STEP_EXCHANGE) {
        turns++;
        counted.bytes += step.to == STEP_NOBODY ? 0 : step.bytes;
      }
      if (!ends)
        continue;
      if (turns > longest[segment])
        longest[segment] = turns;
      turns = 0;
      if (step.kind == STEP_END)
        break;
      segment++;
      assert_true(segment < SEGMENTS_MAX);
    }
  }
  for (unsigned segment = 0; segment < SEGMENTS_MAX; segment++)
    counted.turns += longest[segment];
  return counted;
}

static struct counted count_steps(const struct collective_call *call) {
  struct counted most = {0};
  for (uint32_t rank = 0; rank < call->ranks; rank++) {
    struct counted counted = count_rank(call, rank);
    most.turns = counted.turns > most.turns ? counted.turns : most.turns;
    most.bytes = counted.bytes > most.bytes ? counted.bytes : most.bytes;
  }
  return most;
}

/* ---- both -------------------------------------------------------------------------------------
 */

static size_t id_of(const char *id) {
  size_t at = 0;
  while (strcmp(ids[at], id) != 0)
    at++;
  return at;
}

/* Calls that the algorithm takes; returns how many. */
static unsigned check_form(size_t form, const struct collective_algorithm *algorithm) {
  unsigned checked = 0;
  struct vinci_diag diag;
  for (uint32_t n = 2; n <= RANKS_MAX; n++)
    for (uint32_t m = 1; m <= n; m++)
      for (unsigned adds_inline = 0; adds_inline < 2; adds_inline++) {
        struct sizes sizes = {n, m, m > 1, n / m, (uint64_t)n * PART};
        struct collective_call call = {.op = forms[form].op,
                                       .algorithm = algorithm,
                                       .ranks = n,
                                       .inner = m,
                                       .root = (n - 1) * (m % 2),
                                       .bytes = forms[form].op == COLLECTIVE_BARRIER ? 0 : sizes.S,
                                       .slice_bytes = 1,
                                       .adds_inline = adds_inline};
        diag = (struct vinci_diag){0};
        if (n % m != 0 || collective_check(&call, &diag) != VINCI_OK)
          continue;
        struct counted counted = count_steps(&call);
        uint64_t turns = forms[form].turns(sizes), bytes = forms[form].bytes(sizes);
        if (counted.turns != turns || counted.bytes != bytes)
          fail_msg("%s by %s, %u ranks, %u in a server: %llu turns of %llu bytes; the closed form "
                   "says %llu and %llu",
                   collective_op_name(call.op), algorithm->name, n, m,
                   (unsigned long long)counted.turns, (unsigned long long)counted.bytes,
                   (unsigned long long)turns, (unsigned long long)bytes);
        checked++;
      }
  return checked;
}

static void steps_meet_the_closed_forms(void **state) {
  (void)state;
  size_t count;
  const struct collective_algorithm *algorithms = collective_algorithms(&count);
  assert_int_equal(count, sizeof ids / sizeof *ids);
  for (size_t form = 0; form < FORMS; form++)
    if (check_form(form, &algorithms[id_of(forms[form].id)]) == 0)
      fail_msg("no call of %s by %s was tried", collective_op_name(forms[form].op), forms[form].id);
}

/* No row stands twice, and each algorithm does something; each operation has one that is chosen. */
static void the_rows_are_whole(void **state) {
  (void)state;
  size_t count;
  const struct collective_algorithm *algorithms = collective_algorithms(&count);
  for (size_t a = 0; a < count; a++) {
    unsigned done = 0;
    for (size_t form = 0; form < FORMS; form++)
      done += strcmp(forms[form].id, ids[a]) == 0;
    if (done == 0)
      fail_msg("%s does no operation: it has no row COLLECTIVE", algorithms[a].name);
    for (unsigned op = 0; op < COLLECTIVE_OPS; op++) {
      unsigned found = 0;
      for (size_t form = 0; form < FORMS; form++)
        found += forms[form].op == (enum collective_op)op && strcmp(forms[form].id, ids[a]) == 0;
      assert_int_equal(found, collective_can(&algorithms[a], (enum collective_op)op));
    }
  }
  for (unsigned op = 0; op < COLLECTIVE_OPS; op++)
    for (uint32_t inner = 1; inner <= 4; inner++) {
      struct collective_call call = {.op = (enum collective_op)op, .ranks = 4, .inner = inner};
      const struct collective_algorithm *chosen = collective_choose(&call);
      if (!chosen || !collective_can(chosen, call.op))
        fail_msg("row CHOSEN of %s", collective_op_name(call.op));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_meet_the_closed_forms),
      cmocka_unit_test(the_rows_are_whole),
  };
  return cmocka_run_group_tests_name("collective forms", tests, NULL, NULL);
}
