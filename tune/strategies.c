/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a search chooses the next schedules. All strategies choose members of the space, so that
 * whatever they ask for is legal. Ties go to the smaller estimate, then to the earlier schedule.
 */
#include <math.h>
#include <string.h>

#include "core/base/arith.h"
#include "tune/tune.h"

static bool is_full(const struct tune_batch *batch) { return batch->count == TUNE_BATCH; }

/* The index-th of the schedules by estimate that were not asked for; SIZE_MAX: there are fewer. */
static size_t cheapest_left(const struct tune_search *search, size_t index) {
  for (size_t i = 0; i < search->count; i++)
    if (!search->taken[search->cheapest[i]] && index-- == 0)
      return search->cheapest[i];
  return SIZE_MAX;
}

static size_t count_left(const struct tune_search *search) {
  size_t left = 0;
  for (size_t i = 0; i < search->count; i++)
    left += !search->taken[i];
  return left;
}

/* ---- all, and by chance ---------------------------------------------------------------------- */

static void ask_all(struct tune_search *search, struct tune_batch *batch) {
  for (size_t i = 0; i < search->count && !is_full(batch); i++)
    if (!search->taken[i])
      tune_propose(search, batch, i);
}

static void ask_random(struct tune_search *search, struct tune_batch *batch) {
  for (size_t left; !is_full(batch) && (left = count_left(search)) > 0;)
    tune_propose(search, batch, cheapest_left(search, tune_draw(search, left)));
}

static void ask_estimate(struct tune_search *search, struct tune_batch *batch) {
  for (size_t next; !is_full(batch) && (next = cheapest_left(search, 0)) != SIZE_MAX;)
    tune_propose(search, batch, next);
}

/* ---- genetic: crossing the best -------------------------------------------------------------- */

enum { PARENTS = 8, CHILDREN = 12, MUTATIONS = 4 /* of 4 knobs 1 */ };

/* Takes out of the parents one with the same value of a knob; false when that is as fast. */
static bool replaces_equal(const struct tune_search *search, size_t parent[PARENTS], size_t *count,
                           size_t point, size_t knob) {
  const struct space_point *points = search->space->point;
  for (size_t i = 0; i < *count; i++) {
    if (points[parent[i]].choice[knob] != points[point].choice[knob])
      continue;
    if (search->cycles[parent[i]] <= search->cycles[point])
      return false;
    memmove(&parent[i], &parent[i + 1], (--*count - i) * sizeof *parent);
    return true;
  }
  return true;
}

/* The fastest schedules that are known, the fastest first; returns their number. With a knob, one
 * for each of its values: kinds of schedules that start slower get their turn. */
static size_t find_parents(const struct tune_search *search, size_t knob, size_t parent[PARENTS]) {
  size_t count = 0;
  for (size_t i = 0; i < search->count; i++) {
    uint64_t cycles = search->cycles[i];
    if (cycles == 0 || cycles == TUNE_FAILED ||
        (knob < search->space->knob_count && !replaces_equal(search, parent, &count, i, knob)))
      continue;
    size_t at = count < PARENTS ? count++ : PARENTS;
    for (; at > 0 && search->cycles[parent[at - 1]] > cycles; at--)
      if (at < PARENTS)
        parent[at] = parent[at - 1];
    if (at < PARENTS)
      parent[at] = i;
  }
  return count;
}

/* How far apart two schedules are: for each knob 1 and the part of its range between. */
static uint64_t distance(const struct vinci_space *space, const uint16_t *one,
                         const uint16_t *other) {
  enum { UNIT = 1024 };
  uint64_t sum = 0;
  for (size_t k = 0; k < space->knob_count; k++) {
    uint64_t steps = one[k] > other[k] ? one[k] - other[k] : other[k] - one[k];
    sum += steps ? UNIT + UNIT * steps / space->knob[k].count : 0;
  }
  return sum;
}

/* The schedule nearest to a wish that was not asked for; SIZE_MAX: all were. */
static size_t nearest_left(const struct tune_search *search, const uint16_t *wish) {
  size_t nearest = SIZE_MAX;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < search->count; i++) {
    size_t point = search->cheapest[i];
    uint64_t away = distance(search->space, search->space->point[point].choice, wish);
    if (!search->taken[point] && away < least) {
      least = away;
      nearest = point;
    }
  }
  return nearest;
}

/* A child of two parents, the better ones more often; some knobs move a step or anywhere. */
static void make_child(struct tune_search *search, const size_t *parent, size_t count,
                       uint16_t *child) {
  const struct vinci_space *space = search->space;
  size_t mother = parent[tune_draw(search, 1 + tune_draw(search, count))];
  size_t father = parent[tune_draw(search, 1 + tune_draw(search, count))];
  for (size_t k = 0; k < space->knob_count; k++) {
    size_t values = space->knob[k].count;
    child[k] = space->point[tune_draw(search, 2) ? mother : father].choice[k];
    if (tune_draw(search, MUTATIONS) > 0)
      continue;
    uint64_t way = tune_draw(search, 4);
    if (way == 0 && child[k] > 0)
      child[k]--;
    else if (way == 1 && child[k] + 1u < values)
      child[k]++;
    else if (way > 1)
      child[k] = (uint16_t)tune_draw(search, values);
  }
}

/* The cheapest schedule with a value of a knob that none that was asked for has; SIZE_MAX: none. */
static size_t cheapest_new_of(const struct tune_search *search, size_t knob) {
  const struct space_point *points = search->space->point;
  bool used[SPACE_VALUES_MAX] = {false};
  for (size_t i = 0; i < search->count; i++)
    if (search->taken[i])
      used[points[i].choice[knob]] = true;
  for (size_t i = 0; i < search->count; i++)
    if (!used[points[search->cheapest[i]].choice[knob]])
      return search->cheapest[i];
  return SIZE_MAX;
}

/* The same of any knob, those with the fewest values first: these say of which kind a schedule is.
 */
static size_t cheapest_new(const struct tune_search *search) {
  const struct vinci_space *space = search->space;
  size_t count = 0, next;
  do {
    next = SIZE_MAX;
    for (size_t k = 0; k < space->knob_count; k++) {
      size_t point = space->knob[k].count == count ? cheapest_new_of(search, k) : SIZE_MAX;
      if (point != SIZE_MAX)
        return point;
      if (space->knob[k].count > count && space->knob[k].count < next)
        next = space->knob[k].count;
    }
    count = next;
  } while (next != SIZE_MAX);
  return SIZE_MAX;
}

/* What a schedule is expected to take: its estimate, as far off as that of the nearest known
 * schedule. */
static uint64_t expected_cycles(const struct tune_search *search, size_t point) {
  const struct space_point *points = search->space->point;
  size_t nearest = point;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < search->count; i++) {
    if (search->cycles[i] == 0 || search->cycles[i] == TUNE_FAILED)
      continue;
    uint64_t away = distance(search->space, points[i].choice, points[point].choice);
    if (away < least) {
      least = away;
      nearest = i;
    }
  }
  return (uint64_t)((uint128)points[point].estimate * search->cycles[nearest] /
                    max_u64(1, points[nearest].estimate));
}

/* Of some children the one that is expected to be the fastest; SIZE_MAX: all were asked for. */
static size_t choose_child_of(struct tune_search *search, const size_t *parent, size_t count,
                              unsigned children) {
  size_t best = SIZE_MAX;
  uint64_t least = UINT64_MAX;
  for (unsigned i = 0; i < children; i++) {
    uint16_t child[SPACE_KNOBS_MAX] = {0};
    make_child(search, parent, count, child);
    size_t point = nearest_left(search, child);
    uint64_t expected = point == SIZE_MAX ? UINT64_MAX : expected_cycles(search, point);
    if (expected < least) {
      least = expected;
      best = point;
    }
  }
  return best;
}

/*
 * The first generation is the cheapest by estimate and, in turns with these, the cheapest with a
 * value that is new, as estimates may be wrong about all schedules of a kind. Then most places of a
 * batch go to the most promising of a dozen children, two to any child, the last to what is new.
 * Every other generation has for parents the fastest of each value of a knob, the knobs in turns.
 */
static void ask_genetic(struct tune_search *search, struct tune_batch *batch) {
  enum { FIRST = 2 * TUNE_BATCH, PROMISING = TUNE_BATCH - 3 };
  size_t generation = search->known / TUNE_BATCH, knobs = search->space->knob_count;
  size_t parent[PARENTS];
  size_t count = find_parents(search, generation % 2 ? generation / 2 % knobs : knobs, parent);
  bool first = search->known < FIRST || count < 2;
  while (!is_full(batch)) {
    bool fresh = first ? batch->count % 2 != 0 : batch->count == TUNE_BATCH - 1;
    size_t point = fresh ? cheapest_new(search) : SIZE_MAX;
    if (point == SIZE_MAX)
      point = first
                  ? cheapest_left(search, 0)
                  : choose_child_of(search, parent, count, batch->count < PROMISING ? CHILDREN : 1);
    if (point == SIZE_MAX)
      return;
    tune_propose(search, batch, point);
  }
}

/* ---- tree: Monte-Carlo tree search over knobs ------------------------------------------------ */

/*
 * The schedules in the order of their knobs are the leaves of a tree; a node is a range with equal
 * first knobs. A descent takes the child with the largest
 *
 *     best in the child + EXPLORE * prior * sqrt(visits of the node) / (1 + visits of the child)
 *
 * (PUCT, Silver et al., Nature 550, 2017), where the best and the prior are between 0 and 1: the
 * fastest known or the cheapest estimate over that of the child. Legal schedules are the only
 * leaves, so that no descent ends in a dead end.
 */
struct child {
  size_t low, high; /* in search->sorted */
  size_t visits, left;
  uint64_t cycles, estimate; /* least; UINT64_MAX: none */
};

static void look_at(const struct tune_search *search, struct child *child) {
  child->visits = child->left = 0;
  child->cycles = child->estimate = UINT64_MAX;
  for (size_t i = child->low; i < child->high; i++) {
    size_t point = search->sorted[i];
    child->visits += search->taken[point];
    child->left += !search->taken[point];
    if (search->cycles[point] > 0)
      child->cycles = min_u64(child->cycles, search->cycles[point]);
    if (!search->taken[point])
      child->estimate = min_u64(child->estimate, search->space->point[point].estimate);
  }
}

static double score(const struct tune_search *search, const struct child *child, size_t visits,
                    uint64_t cheapest) {
  const double explore = 0.25;
  double fastest = search->known > 0 ? (double)search->cycles[search->best] : 0;
  double reward = child->cycles < TUNE_FAILED ? fastest / (double)child->cycles : 0;
  double prior = (double)cheapest / (double)max_u64(1, child->estimate);
  return reward + explore * prior * sqrt((double)visits) / (1 + (double)child->visits);
}

/* The child of a node that a descent takes, by knob number `depth`. */
static struct child choose_child(const struct tune_search *search, const struct child *node,
                                 size_t depth) {
  struct child best = {0}, child;
  double most = -1;
  for (size_t low = node->low; low < node->high; low = child.high) {
    uint16_t value = search->space->point[search->sorted[low]].choice[depth];
    child = (struct child){.low = low, .high = low};
    while (child.high < node->high &&
           search->space->point[search->sorted[child.high]].choice[depth] == value)
      child.high++;
    look_at(search, &child);
    double found = child.left > 0 ? score(search, &child, node->visits, node->estimate) : -1;
    if (found > most) {
      most = found;
      best = child;
    }
  }
  return best;
}

/* Below a node that nobody has visited: mostly what is cheapest by estimate, else by chance. */
static size_t roll_out(struct tune_search *search, const struct child *node) {
  enum { CHANCE = 4 };
  bool by_chance = tune_draw(search, CHANCE) == 0;
  uint64_t index = by_chance ? tune_draw(search, node->left) : 0;
  for (size_t i = node->low; i < node->high; i++) {
    size_t point = search->sorted[i];
    if (search->taken[point])
      continue;
    if (by_chance ? index-- == 0 : search->space->point[point].estimate == node->estimate)
      return point;
  }
  return SIZE_MAX;
}

static void ask_tree(struct tune_search *search, struct tune_batch *batch) {
  while (!is_full(batch)) {
    struct child node = {.low = 0, .high = search->count};
    look_at(search, &node);
    if (node.left == 0)
      return;
    for (size_t depth = 0; depth < search->space->knob_count && node.visits > 0; depth++)
      node = choose_child(search, &node, depth);
    tune_propose(search, batch, roll_out(search, &node));
  }
}

/* ---- halving: three fidelities --------------------------------------------------------------- */

/* The fastest with flat memory that was not simulated with requests. */
static size_t quickest_left(const struct tune_search *search) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < search->count; i++) {
    size_t point = search->cheapest[i];
    if (search->quick[point] > 0 && search->quick[point] < TUNE_FAILED && !search->taken[point] &&
        (best == SIZE_MAX || search->quick[point] < search->quick[best]))
      best = point;
  }
  return best;
}

static size_t cheapest_not_quick(const struct tune_search *search) {
  for (size_t i = 0; i < search->count; i++)
    if (search->quick[search->cheapest[i]] == 0)
      return search->cheapest[i];
  return SIZE_MAX;
}

/* Half of what is allowed goes to flat memory, for the cheapest by estimate; the rest to those that
 * are fastest there. */
static void ask_halving(struct tune_search *search, struct tune_batch *batch) {
  size_t next;
  if (!search->has_quick) {
    ask_estimate(search, batch);
    return;
  }
  batch->quick = search->parts < search->budget_parts / 2 && cheapest_not_quick(search) != SIZE_MAX;
  while (!is_full(batch) &&
         (next = batch->quick ? cheapest_not_quick(search) : quickest_left(search)) != SIZE_MAX)
    tune_propose(search, batch, next);
}

static const struct tune_strategy strategies[] = {
    {"exhaustive", "all schedules, in the order of the space", ask_all},
    {"random", "by chance", ask_random},
    {"estimate", "the cheapest by the closed-form estimate", ask_estimate},
    {"genetic", "crosses and changes the fastest that are known", ask_genetic},
    {"tree", "Monte-Carlo tree search over the knobs", ask_tree},
    {"halving", "the estimate chooses for flat memory, flat memory for requests", ask_halving},
};

const struct tune_strategy *tune_strategy(size_t index) {
  return index < sizeof strategies / sizeof *strategies ? &strategies[index] : NULL;
}

bool vinci_tune_strategy(size_t index, const char **name, const char **text) {
  const struct tune_strategy *strategy = tune_strategy(index);
  *name = strategy ? strategy->name : NULL;
  *text = strategy ? strategy->text : NULL;
  return strategy != NULL;
}
