/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How searches choose, on made spaces whose cycles are a formula: nothing is asked for twice, all
 * is asked for in the end, each strategy keeps the order that its description promises, and those
 * that learn come nearer to the best than chance does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "tune/tune.h"

enum { KNOBS = 3, COUNT_MAX = 1200, SEEDS = 12 };

/* A space of all combinations but some, its answers, and a search. */
struct made {
  struct vinci_space space;
  struct space_point point[COUNT_MAX];
  uint64_t truth[COUNT_MAX]; /* cycles by schedule */
  struct tune_search search;
  uint64_t cycles[COUNT_MAX], quick[COUNT_MAX], programs[COUNT_MAX];
  bool taken[COUNT_MAX];
  uint32_t cheapest[COUNT_MAX], sorted[COUNT_MAX];
};

static struct made *current; /* of the comparison functions of qsort() */

static int by_estimate(const void *a, const void *b) {
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  uint64_t x = current->point[one].estimate, y = current->point[other].estimate;
  return x != y ? (x > y) - (x < y) : (one > other) - (one < other);
}

static int by_choice(const void *a, const void *b) {
  const struct space_point *one = &current->point[*(const uint32_t *)a];
  const struct space_point *other = &current->point[*(const uint32_t *)b];
  for (size_t k = 0; k < KNOBS; k++)
    if (one->choice[k] != other->choice[k])
      return one->choice[k] < other->choice[k] ? -1 : 1;
  return 0;
}

/* The fastest is at (3, 7, 5); the estimate is right but for the first knob, which it takes in the
 * wrong order, or blind. */
static void make_with(struct made *made, uint64_t seed, bool blind) {
  static const size_t values[KNOBS] = {4, 17, 13};
  memset(made, 0, sizeof *made);
  size_t count = 0;
  uint64_t noise = seed;
  for (uint16_t a = 0; a < values[0]; a++)
    for (uint16_t b = 0; b < values[1]; b++)
      for (uint16_t c = 0; c < values[2]; c++) {
        if ((a + b + c) % 11 == 10) /* not all combinations are legal */
          continue;
        uint64_t away = (uint64_t)(abs(b - 7) * 40 + abs(c - 5) * 60 + b * c % 7 * 3);
        made->truth[count] = 1000 + away + (3 - a) * 300u;
        made->point[count] = (struct space_point){
            .estimate = blind ? 1000 + splitmix64_next(&noise) % 1000 : 1000 + away + a * 100u,
            .choice = {a, b, c}};
        count++;
      }
  for (size_t k = 0; k < KNOBS; k++)
    made->space.knob[k].count = values[k];
  made->space.knob_count = KNOBS;
  made->space.point = made->point;
  made->space.count = count;
  made->search = (struct tune_search){.space = &made->space,
                                      .count = count,
                                      .cycles = made->cycles,
                                      .quick = made->quick,
                                      .programs = made->programs,
                                      .taken = made->taken,
                                      .cheapest = made->cheapest,
                                      .sorted = made->sorted,
                                      .has_quick = true,
                                      .budget_parts = count * TUNE_QUICK_PARTS,
                                      .seed = seed};
  for (size_t i = 0; i < count; i++)
    made->cheapest[i] = made->sorted[i] = (uint32_t)i;
  current = made;
  qsort(made->cheapest, count, sizeof *made->cheapest, by_estimate);
  qsort(made->sorted, count, sizeof *made->sorted, by_choice);
}

static void make(struct made *made, uint64_t seed) { make_with(made, seed, false); }

/* The answers to a batch, as the engine of searches enters them. */
static void answer(struct made *made, const struct tune_batch *batch) {
  struct tune_search *search = &made->search;
  for (size_t i = 0; i < batch->count; i++) {
    size_t point = batch->point[i];
    search->parts += batch->quick ? 1 : TUNE_QUICK_PARTS;
    if (batch->quick) {
      search->quick[point] = made->truth[point] + 5;
      continue;
    }
    search->cycles[point] = made->truth[point];
    if (search->known == 0 || made->truth[point] < search->cycles[search->best])
      search->best = point;
    search->known++;
  }
}

static const struct tune_strategy *strategy(const char *name) {
  const struct tune_strategy *found;
  for (size_t i = 0; (found = tune_strategy(i)) != NULL; i++)
    if (strcmp(found->name, name) == 0)
      return found;
  fail_msg("no strategy %s", name);
  return NULL;
}

/* Asks until `most` schedules are known or none is proposed; returns the fewest cycles. */
static uint64_t search_for(struct made *made, const char *name, size_t most) {
  const struct tune_strategy *chosen = strategy(name);
  while (made->search.known < most) {
    struct tune_batch batch = {0};
    chosen->ask(&made->search, &batch);
    if (batch.count == 0)
      break;
    answer(made, &batch);
  }
  return made->search.cycles[made->search.best];
}

static uint64_t best_of(const struct made *made) {
  uint64_t best = UINT64_MAX;
  for (size_t i = 0; i < made->space.count; i++)
    best = min_u64(best, made->truth[i]);
  return best;
}

/* ---- all strategies -------------------------------------------------------------------------- */

static void nothing_is_asked_for_twice_and_all_in_the_end(void **state) {
  struct made *made = *state;
  const struct tune_strategy *chosen;
  for (size_t s = 0; (chosen = tune_strategy(s)) != NULL; s++) {
    static bool asked[2][COUNT_MAX];
    size_t count[2] = {0};
    memset(asked, 0, sizeof asked);
    make(made, 5);
    for (;;) {
      struct tune_batch batch = {0};
      chosen->ask(&made->search, &batch);
      if (batch.count == 0)
        break;
      for (size_t i = 0; i < batch.count; i++) {
        assert_true(batch.point[i] < made->space.count);
        if (asked[batch.quick][batch.point[i]])
          fail_msg("%s asks twice for %u", chosen->name, batch.point[i]);
        asked[batch.quick][batch.point[i]] = true;
        count[batch.quick]++;
      }
      answer(made, &batch);
    }
    bool halves = strcmp(chosen->name, "halving") == 0;
    assert_int_equal(count[false], made->space.count);
    assert_int_equal(count[true], halves ? made->space.count : 0);
  }
}

/* ---- single ones ----------------------------------------------------------------------------- */

static void the_estimate_is_followed_in_order(void **state) {
  struct made *made = *state;
  make(made, 1);
  size_t next = 0;
  for (unsigned batches = 0; batches < 20; batches++) {
    struct tune_batch batch = {0};
    strategy("estimate")->ask(&made->search, &batch);
    for (size_t i = 0; i < batch.count; i++)
      assert_int_equal(batch.point[i], made->cheapest[next++]);
    answer(made, &batch);
  }
}

/* Draws differ by seed, and each schedule has its chance. */
static void chance_is_even(void **state) {
  struct made *made = *state;
  size_t low = 0, all = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    struct tune_batch batch = {0};
    make(made, seed);
    strategy("random")->ask(&made->search, &batch);
    for (size_t i = 0; i < batch.count; i++, all++)
      low += made->point[batch.point[i]].choice[0] < 2;
  }
  /* half of 1600, within 5 standard deviations of 20 */
  assert_in_range(low, all / 2 - 100, all / 2 + 100);
}

/* Estimates may be wrong about all schedules of a kind: each value of the knob with the fewest is
 * tried in the first batch. 8 places of the first two batches and one of each batch behind these
 * are for values that are new, so that the 34 values of all knobs have been tried after 28 batches.
 */
static void genetic_search_tries_each_kind(void **state) {
  struct made *made = *state;
  bool seen[KNOBS][32] = {{false}};
  make(made, 2);
  for (unsigned generation = 0; generation < 28; generation++) {
    struct tune_batch batch = {0};
    strategy("genetic")->ask(&made->search, &batch);
    for (size_t i = 0; i < batch.count; i++)
      for (size_t k = 0; k < KNOBS; k++)
        seen[k][made->point[batch.point[i]].choice[k]] = true;
    answer(made, &batch);
    for (size_t v = 0; generation == 0 && v < made->space.knob[0].count; v++)
      assert_true(seen[0][v]);
  }
  size_t missing = 0;
  for (size_t k = 0; k < KNOBS; k++)
    for (size_t v = 0; v < made->space.knob[k].count; v++)
      missing += !seen[k][v];
  assert_int_equal(missing, 0);
}

/* With flat memory half of what is allowed, cheapest first by estimate; then with requests those
 * that flat memory found fastest. */
static void halving_takes_what_flat_memory_found(void **state) {
  struct made *made = *state;
  make(made, 3);
  made->search.budget_parts = 100 * TUNE_QUICK_PARTS;
  size_t quick = 0;
  uint64_t last = 0;
  while (made->search.parts < made->search.budget_parts) {
    struct tune_batch batch = {0};
    strategy("halving")->ask(&made->search, &batch);
    assert_true(batch.count > 0);
    for (size_t i = 0; i < batch.count; i++)
      if (batch.quick) {
        assert_int_equal(batch.point[i], made->cheapest[quick]);
        quick++;
      } else {
        assert_true(made->truth[batch.point[i]] >= last);
        last = made->truth[batch.point[i]];
      }
    answer(made, &batch);
  }
  assert_in_range(quick, 100 * TUNE_QUICK_PARTS / 2, 100 * TUNE_QUICK_PARTS / 2 + TUNE_BATCH);
}

/*
 * What learning is for: a tenth of the space, where the estimate has a knob the wrong way round,
 * and where it says nothing at all.
 */
static void learning_beats_chance(void **state) {
  struct made *made = *state;
  static const char *const learners[] = {"genetic", "tree"};
  for (unsigned blind = 0; blind < 2; blind++) {
    uint64_t chance = 0, found[2] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      make_with(made, seed, blind);
      size_t tenth = made->space.count / 10;
      uint64_t best = best_of(made);
      chance += search_for(made, "random", tenth) - best;
      for (size_t l = 0; l < 2; l++) {
        make_with(made, seed, blind);
        found[l] += search_for(made, learners[l], tenth) - best;
      }
    }
    for (size_t l = 0; l < 2; l++) {
      print_message("%s, %s: %llu cycles above the best in the mean, chance %llu\n", learners[l],
                    blind ? "no estimate" : "an estimate", (unsigned long long)found[l] / SEEDS,
                    (unsigned long long)chance / SEEDS);
      assert_true(2 * found[l] < chance);
    }
  }
}

/* ---- what is known --------------------------------------------------------------------------- */

static struct vinci_tuned tuned(const char *chip, enum vinci_memory memory, enum vinci_l2 l2) {
  static const char *const args[] = {"shape=64x512"};
  const struct vinci_tune_options options = {.struct_size = sizeof options,
                                             .evaluations = 4,
                                             .strategy = "estimate",
                                             .memory = memory,
                                             .l2_start = l2,
                                             .jobs = 1,
                                             .journal = "test_tune_strategies.journal"};
  vinci_soc *soc;
  struct vinci_tuned out;
  struct vinci_diag diag = {0};
  assert_int_equal(vinci_soc_load(chip, NULL, &soc, &diag), VINCI_OK);
  if (vinci_tune(soc, "softmax", args, 1, &options, &out, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  vinci_soc_free(soc);
  return out;
}

/* A journal has an answer for the same chip, memory and state of L2 alone. */
static void answers_belong_to_their_question(void **state) {
  (void)state;
  (void)unlink("test_tune_strategies.journal");
  struct vinci_tuned first = tuned("Ascend910B4", VINCI_MEMORY_FLAT, VINCI_L2_EMPTY);
  struct vinci_tuned again = tuned("Ascend910B4", VINCI_MEMORY_FLAT, VINCI_L2_EMPTY);
  assert_int_equal(first.known, 0);
  assert_int_equal(again.known, first.evaluations);
  assert_int_equal(again.cycles, first.cycles);
  assert_int_equal(tuned("Ascend910B1", VINCI_MEMORY_FLAT, VINCI_L2_EMPTY).known, 0);
  assert_int_equal(tuned("Ascend910B4", VINCI_MEMORY_CYCLE, VINCI_L2_EMPTY).known, 0);
  assert_int_equal(tuned("Ascend910B4", VINCI_MEMORY_FLAT, VINCI_L2_WARM).known, 0);
  (void)unlink("test_tune_strategies.journal");
}

static int set_up(void **state) {
  *state = calloc(1, sizeof(struct made));
  return *state ? 0 : -1;
}

static int tear_down(void **state) {
  free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_asked_for_twice_and_all_in_the_end),
      cmocka_unit_test(the_estimate_is_followed_in_order),
      cmocka_unit_test(chance_is_even),
      cmocka_unit_test(genetic_search_tries_each_kind),
      cmocka_unit_test(halving_takes_what_flat_memory_found),
      cmocka_unit_test(learning_beats_chance),
      cmocka_unit_test(answers_belong_to_their_question),
  };
  return cmocka_run_group_tests_name("tune strategies", tests, set_up, tear_down);
}
