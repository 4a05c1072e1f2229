/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The space of an operator: its legal schedules as values of knobs. Legality is what cost() of the
 * template says, which refuses whatever emit() could not write, so that no schedule of a space
 * fails to compile.
 */
#include "lower/plan/space.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "lower/plan/choice.h"
#include "lower/plan/plan.h"

enum { DEFAULT_MOST = 2000, FIRST_ROOM = 256 };

/* ---- values of knobs ------------------------------------------------------------------------ */

static const struct lower_key *key_of(const struct vinci_space *space,
                                      const struct space_knob *knob) {
  return &space->job.op->keys[knob->key];
}

static uint64_t *part_of(const struct lower_key *key, struct lower_value *value, unsigned part,
                         uint64_t *word) {
  switch (key->kind) {
  case LOWER_SHAPE:
    return &value->shape[part];
  case LOWER_WORD:
    *word = value->word;
    return word;
  default:
    return &value->size;
  }
}

static uint64_t value_in(const struct vinci_space *space, const struct lower_job *job,
                         const struct space_knob *knob) {
  struct lower_value copy = job->value[knob->key];
  uint64_t word;
  return *part_of(key_of(space, knob), &copy, knob->part, &word);
}

static void put_value(const struct vinci_space *space, const struct space_knob *knob,
                      uint64_t value, struct lower_job *job) {
  uint64_t word;
  struct lower_value *to = &job->value[knob->key];
  *part_of(key_of(space, knob), to, knob->part, &word) = value;
  if (key_of(space, knob)->kind == LOWER_WORD)
    to->word = (unsigned)value;
}

/* Keeps values ascending. A value beyond the room of a knob is none of its values. */
static void add_value(struct space_knob *knob, uint64_t value) {
  size_t at = 0;
  while (at < knob->count && knob->value[at] < value)
    at++;
  if ((at < knob->count && knob->value[at] == value) || knob->count == SPACE_VALUES_MAX)
    return;
  memmove(&knob->value[at + 1], &knob->value[at], (knob->count - at) * sizeof *knob->value);
  knob->value[at] = value;
  knob->count++;
}

/* SIZE_MAX: the knob has no such value. */
static size_t find_value(const struct space_knob *knob, uint64_t value) {
  size_t low = 0, high = knob->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (knob->value[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low < knob->count && knob->value[low] == value ? low : SIZE_MAX;
}

/* ---- points --------------------------------------------------------------------------------- */

static uint64_t key_of_choice(const struct vinci_space *space, const uint16_t *choice) {
  return digest_bytes(DIGEST_SEED, choice, space->knob_count * sizeof *choice);
}

/* The index of an equal point; LOOKUP_NONE where there is none. */
static size_t find_point(const struct vinci_space *space, const uint16_t *choice) {
  uint64_t key = key_of_choice(space, choice);
  size_t looked = 0;
  for (size_t at; (at = lookup_next(&space->known, key, &looked)) != LOOKUP_NONE;)
    if (memcmp(space->point[at].choice, choice, space->knob_count * sizeof *choice) == 0)
      return at;
  return LOOKUP_NONE;
}

static bool make_room(struct vinci_space *space) {
  if (space->count < space->room)
    return true;
  size_t room = space->room ? 2 * space->room : FIRST_ROOM;
  struct space_point *points = realloc(space->point, room * sizeof *points);
  if (!points)
    return false;
  space->point = points;
  space->room = room;
  return true;
}

/* Adds a point unless the space has an equal one; returns its index, SIZE_MAX without memory. */
static size_t add_point(struct vinci_space *space, const uint16_t *choice, uint64_t estimate) {
  size_t known = find_point(space, choice);
  if (known != LOOKUP_NONE)
    return known;
  if (!make_room(space) ||
      !lookup_add(&space->known, NULL, key_of_choice(space, choice), space->count)) {
    space->no_memory = true;
    return SIZE_MAX;
  }
  struct space_point *point = &space->point[space->count];
  *point = (struct space_point){.estimate = estimate};
  memcpy(point->choice, choice, space->knob_count * sizeof *choice);
  return space->count++;
}

static bool is_known(const struct vinci_space *space, const uint16_t *choice) {
  return find_point(space, choice) != LOOKUP_NONE;
}

static void put_point(const struct vinci_space *space, const uint16_t *choice,
                      struct lower_job *job) {
  for (size_t k = 0; k < space->knob_count; k++)
    put_value(space, &space->knob[k], space->knob[k].value[choice[k]], job);
}

/* The choices of a tiling; false when a value is none of a knob's. */
static bool take_point(const struct vinci_space *space, const struct lower_job *job,
                       uint16_t *choice) {
  for (size_t k = 0; k < space->knob_count; k++) {
    size_t value = find_value(&space->knob[k], value_in(space, job, &space->knob[k]));
    if (value == SIZE_MAX)
      return false;
    choice[k] = (uint16_t)value;
  }
  return true;
}

/* ---- the schedules that the lowering chooses from ------------------------------------------- */

/* The knobs are those of the first schedule; one of another form has no place among them. */
static void add_knobs(struct vinci_space *space, const struct lower_job *job) {
  for (size_t i = 0; i < job->op->key_count; i++) {
    const struct lower_key *key = &job->op->keys[i];
    const struct lower_value *value = &job->value[i];
    bool many = key->kind == LOWER_SHAPE;
    if (!key->tiling || value->given || !value->present ||
        (!many && key->kind != LOWER_SIZE && key->kind != LOWER_WORD))
      continue;
    for (unsigned part = 0; part < (many ? value->rank : 1); part++) {
      if (space->knob_count == SPACE_KNOBS_MAX)
        return;
      struct space_knob *knob = &space->knob[space->knob_count++];
      knob->key = i;
      knob->part = part;
      if (many)
        snprintf(knob->name, sizeof knob->name, "%s.%u", key->name, part);
      else
        snprintf(knob->name, sizeof knob->name, "%s", key->name);
    }
  }
}

static bool has_form(const struct vinci_space *space, const struct lower_job *job) {
  for (size_t i = 0; i < job->op->key_count; i++)
    if (job->op->keys[i].tiling && (job->value[i].present != space->job.value[i].present ||
                                    job->value[i].rank != space->job.value[i].rank))
      return false;
  return true;
}

static bool add_values(struct lower_job *job, void *context) {
  struct vinci_space *space = context;
  if (space->knob_count == 0) {
    add_knobs(space, job);
    memcpy(space->job.value, job->value, sizeof job->value);
  }
  for (size_t k = 0; has_form(space, job) && k < space->knob_count; k++)
    add_value(&space->knob[k], value_in(space, job, &space->knob[k]));
  return space->knob_count > 0;
}

static uint64_t cost_digest(const struct lower_cost *cost) {
  const uint64_t numbers[] = {cost->total_cycles, cost->cube_cycles,   cost->vector_cycles,
                              cost->mte1_cycles,  cost->scalar_cycles, cost->mte2_cycles,
                              cost->mte3_cycles,  cost->fix_cycles,    cost->gm_bytes,
                              cost->blocks,       cost->shares,        cost->share_cycles};
  return digest_bytes(DIGEST_SEED, numbers, sizeof numbers);
}

/* SIZE_MAX: without memory. */
static size_t add_known(struct vinci_space *space, const struct lower_job *job,
                        const uint16_t *choice) {
  size_t added = add_point(space, choice, job->cost.total_cycles);
  if (added != SIZE_MAX)
    space->point[added].cost = cost_digest(&job->cost);
  return added;
}

static bool add_schedule(struct lower_job *job, void *context) {
  struct vinci_space *space = context;
  uint16_t choice[SPACE_KNOBS_MAX];
  if (!has_form(space, job) || !take_point(space, job, choice) || job->cost.wasteful)
    return true;
  return add_known(space, job, choice) != SIZE_MAX;
}

/* The schedules so far, each with the other words of keys that the default leaves alone. */
static void add_words(struct vinci_space *space, size_t k) {
  struct lower_job job = space->job;
  size_t count = space->count;
  if (!key_of(space, &space->knob[k])->for_tuners)
    return;
  for (size_t i = 0; i < count; i++)
    for (size_t word = 0; !space->no_memory && word < space->knob[k].count; word++) {
      uint16_t choice[SPACE_KNOBS_MAX];
      memcpy(choice, space->point[i].choice, sizeof choice);
      choice[k] = (uint16_t)word;
      if (is_known(space, choice))
        continue;
      put_point(space, choice, &job);
      job.cost = (struct lower_cost){0};
      job.enough_cycles = UINT64_MAX;
      if (job.op->template->cost(&job))
        (void)add_known(space, &job, choice);
    }
}

/*
 * What the lowering never asks for: of words all, of cores every number, of parts of k small
 * numbers, of other sizes a half and twice of what is there.
 */
static void widen(struct vinci_space *space, struct space_knob *knob) {
  enum { SPLITS = 8 };
  const struct lower_key *key = key_of(space, knob);
  struct space_knob own = *knob;
  char word[WORD_BYTES_MAX];
  if (key->kind == LOWER_WORD) {
    for (unsigned i = 0; words_nth(key->choices, i, word); i++)
      add_value(knob, i);
  } else if (key->cores || key->cube_cores) {
    for (uint64_t i = 1; i <= own.value[own.count - 1]; i++)
      add_value(knob, i);
  } else if (key->kind == LOWER_SIZE && strncmp(key->name, "split", strlen("split")) == 0) {
    for (uint64_t i = 1; i <= SPLITS; i++)
      add_value(knob, i);
  } else {
    for (size_t i = 0; i < own.count; i++) {
      if (own.value[i] % 2 == 0)
        add_value(knob, own.value[i] / 2);
      add_value(knob, own.value[i] * 2);
    }
  }
}

/* ---- what lies a change of one knob away ---------------------------------------------------- */

/* Cores without work make the schedule that of fewer cores, which is another point. */
static bool has_idle_cores(const struct vinci_space *space, const struct lower_job *job) {
  for (size_t k = 0; k < space->knob_count; k++) {
    const struct lower_key *key = key_of(space, &space->knob[k]);
    if ((key->cores || key->cube_cores) && value_in(space, job, &space->knob[k]) > job->cost.blocks)
      return true;
  }
  return false;
}

/* Some values come to the same: more rows than there are, a band of more than all blocks. Such a
 * schedule has the cost of its neighbour, and then the same program. */
static bool is_symmetric(struct vinci_space *space, struct lower_job *job, uint32_t neighbour) {
  struct space_point *other = &space->point[neighbour];
  if (other->cost != cost_digest(&job->cost))
    return false;
  uint64_t own = lower_program_digest(job);
  if (other->program == 0) {
    struct lower_job again = *job;
    put_point(space, other->choice, &again);
    if (again.op->template->cost(&again))
      other->program = lower_program_digest(&again);
  }
  return own != 0 && own == other->program;
}

/* Points that wait to be walked from, as a heap: the cheapest first, of equal ones the oldest. */
struct frontier {
  uint32_t *point;
  size_t count, room;
};

static bool comes_before(const struct vinci_space *space, uint32_t one, uint32_t other) {
  uint64_t a = space->point[one].estimate, b = space->point[other].estimate;
  return a != b ? a < b : one < other;
}

/* The heap grows with the space: the most that a caller asks for may be any number. */
static void push(struct vinci_space *space, struct frontier *frontier, uint32_t point) {
  if (frontier->count == frontier->room) {
    size_t room = frontier->room ? 2 * frontier->room : 64;
    uint32_t *grown = realloc(frontier->point, room * sizeof *grown);
    if (!grown) {
      space->no_memory = true;
      return;
    }
    frontier->point = grown;
    frontier->room = room;
  }
  size_t at = frontier->count++;
  for (; at > 0 && comes_before(space, point, frontier->point[(at - 1) / 2]); at = (at - 1) / 2)
    frontier->point[at] = frontier->point[(at - 1) / 2];
  frontier->point[at] = point;
}

static uint32_t pop(const struct vinci_space *space, struct frontier *frontier) {
  uint32_t first = frontier->point[0], last = frontier->point[--frontier->count];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < frontier->count; at = child) {
    if (child + 1 < frontier->count &&
        comes_before(space, frontier->point[child + 1], frontier->point[child]))
      child++;
    if (!comes_before(space, frontier->point[child], last))
      break;
    frontier->point[at] = frontier->point[child];
  }
  frontier->point[at] = last;
  return first;
}

static void add_neighbours(struct vinci_space *space, struct lower_job *job, uint32_t point,
                           size_t most, struct frontier *frontier) {
  uint16_t choice[SPACE_KNOBS_MAX];
  memcpy(choice, space->point[point].choice, sizeof choice);
  for (size_t k = 0; k < space->knob_count; k++) {
    uint16_t own = choice[k];
    for (size_t v = 0; v < space->knob[k].count && space->count < most; v++) {
      choice[k] = (uint16_t)v;
      if (v == own || is_known(space, choice))
        continue;
      put_point(space, choice, job);
      job->cost = (struct lower_cost){0};
      job->enough_cycles = UINT64_MAX;
      if (!job->op->template->cost(job) || job->cost.wasteful || has_idle_cores(space, job) ||
          is_symmetric(space, job, point))
        continue;
      size_t added = add_known(space, job, choice);
      if (added == SIZE_MAX)
        return;
      push(space, frontier, (uint32_t)added);
    }
    choice[k] = own;
  }
}

/* However many schedules the lowering chooses from: half of `most` at least are others. */
static void close_space(struct vinci_space *space, size_t most) {
  struct lower_job job = space->job;
  struct frontier frontier = {0};
  most = max_u64(most, space->count + most / 2);
  for (size_t i = 0; i < space->count; i++)
    push(space, &frontier, (uint32_t)i);
  while (!space->no_memory && frontier.count > 0 && space->count < most)
    add_neighbours(space, &job, pop(space, &frontier), most, &frontier);
  space->closed = frontier.count == 0 && space->count < most;
  free(frontier.point);
}

/* ---- a space -------------------------------------------------------------------------------- */

/* The schedule that the lowering takes, whose values are among those of the knobs then. */
static enum vinci_status plan_default(struct vinci_space *space, struct lower_job *job,
                                      const char *const *args, size_t count) {
  enum vinci_status status = lower_plan(job, args, count);
  if (status == VINCI_OK && space->knob_count == 0)
    return diag_error(job->diag, VINCI_E_USAGE,
                      "%s has no choice of schedules: its tiling keys are given, or there are none",
                      job->op->name);
  if (status == VINCI_OK && !has_form(space, job))
    return diag_error(job->diag, VINCI_E_USAGE,
                      "the schedules of %s have different keys, which are not knobs",
                      job->op->name);
  for (size_t k = 0; status == VINCI_OK && k < space->knob_count; k++)
    add_value(&space->knob[k], value_in(space, job, &space->knob[k]));
  return status;
}

static enum vinci_status fill(struct vinci_space *space, struct lower_job *chosen, const char *op,
                              const char *const *args, size_t count, size_t most) {
  struct lower_job *job = &space->job;
  enum vinci_status status = lower_start(job, chosen->soc, op, &space->arena, chosen->diag);
  if (status == VINCI_OK)
    status = lower_prepare(job, args, count);
  if (status != VINCI_OK)
    return status;
  struct lower_job walk = *job;
  status = lower_each_tiling(&walk, false, add_values, space);
  if (status == VINCI_OK)
    status = lower_start(chosen, job->soc, op, &space->arena, job->diag);
  if (status == VINCI_OK)
    status = plan_default(space, chosen, args, count);
  if (status != VINCI_OK)
    return status;
  for (size_t k = 0; k < space->knob_count; k++)
    widen(space, &space->knob[k]);
  walk = *job;
  status = lower_each_tiling(&walk, false, add_schedule, space);
  if (status != VINCI_OK)
    return status;
  if (!add_schedule(chosen, space) || space->count == 0)
    space->no_memory = true;
  uint16_t choice[SPACE_KNOBS_MAX];
  if (!space->no_memory && take_point(space, chosen, choice))
    space->chosen = add_known(space, chosen, choice);
  for (size_t k = 0; k < space->knob_count; k++)
    add_words(space, k);
  if (!space->no_memory)
    close_space(space, most ? most : DEFAULT_MOST);
  job->diag = NULL;
  return space->no_memory
             ? diag_error(chosen->diag, VINCI_E_NOMEM, "out of memory for the schedules of %s", op)
             : VINCI_OK;
}

enum vinci_status vinci_space_open(const vinci_soc *soc, const char *op, const char *const *args,
                                   size_t arg_count, size_t most, vinci_space **out,
                                   struct vinci_diag *diag) {
  struct vinci_space *space = calloc(1, sizeof *space);
  *out = NULL;
  if (!space)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the schedules of %s", op);
  struct lower_job chosen = {.soc = soc, .diag = diag};
  enum vinci_status status = fill(space, &chosen, op, args, arg_count, most);
  if (status == VINCI_OK)
    *out = space;
  else
    vinci_space_free(space);
  return status;
}

void vinci_space_free(vinci_space *space) {
  if (!space)
    return;
  arena_free(&space->arena);
  free(space->point);
  lookup_free(&space->known);
  free(space);
}

size_t vinci_space_knob_count(const vinci_space *space) { return space->knob_count; }

const char *vinci_space_knob_name(const vinci_space *space, size_t knob) {
  return space->knob[knob].name;
}

size_t vinci_space_value_count(const vinci_space *space, size_t knob) {
  return space->knob[knob].count;
}

void vinci_space_value(const vinci_space *space, size_t knob, size_t value, char *text,
                       size_t size) {
  const struct lower_key *key = key_of(space, &space->knob[knob]);
  uint64_t number = space->knob[knob].value[value];
  char word[WORD_BYTES_MAX];
  if (key->kind == LOWER_WORD && words_nth(key->choices, (unsigned)number, word))
    snprintf(text, size, "%s", word);
  else
    snprintf(text, size, "%llu", (unsigned long long)number);
}

size_t vinci_space_count(const vinci_space *space) { return space->count; }
bool vinci_space_is_closed(const vinci_space *space) { return space->closed; }
size_t vinci_space_default(const vinci_space *space) { return space->chosen; }

size_t vinci_space_choice(const vinci_space *space, size_t index, size_t knob) {
  return space->point[index].choice[knob];
}

uint64_t vinci_space_estimate(const vinci_space *space, size_t index) {
  return space->point[index].estimate;
}

void vinci_space_schedule(const vinci_space *space, size_t index, char *text, size_t size) {
  struct lower_job job = space->job;
  struct vinci_tiling tiling;
  put_point(space, space->point[index].choice, &job);
  /* Callers put the schedule behind the arguments, which have the keys that were given. */
  for (size_t i = 0; i < job.op->key_count; i++)
    job.value[i].present &= !job.value[i].given;
  lower_fill_tiling(&job, text, size, &tiling);
}
