/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle by cycle, where each instruction of a vector function finds a place. */
#include "core/sim/schedule.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum {
  /* Cycles that reservations reach behind the newest: more than any instruction waits. */
  WINDOW = 1024,
  PHYSICAL_MAX = 256,
  QUEUE_MAX = 256,
  UNITS_MAX = 2,
  UNMAPPED = UINT16_MAX
};

/* A register of a name: where its number comes from. */
struct producer {
  uint64_t cycle;    /* of issue */
  uint64_t read;     /* issue of the last reader */
  uint64_t used;     /* order of the last use, for code with more names than registers */
  uint16_t physical; /* UNMAPPED: has not been written in this function */
  uint8_t class;
};

struct execution_unit {
  uint64_t issued[WINDOW], result[WINDOW],
      special[WINDOW]; /* cycle + 1 that a place is taken for */
};

struct schedule {
  const struct vinci_soc *soc;
  struct producer name[REGISTER_NAMES + MASK_NAMES];
  uint64_t free_at[PHYSICAL_MAX]; /* UINT64_MAX: mapped */
  uint64_t queue[QUEUE_MAX];      /* when its places are free */
  struct execution_unit unit[UNITS_MAX];
  struct {
    uint64_t cycle;         /* + 1 */
    uint64_t read, written; /* banks */
    uint8_t loads, stores;
  } port[WINDOW];
  uint64_t dispatch, dispatched;    /* cycle of the last one, and how many in that */
  uint64_t end;                     /* of the instruction that ends last */
  uint64_t loaded, stored;          /* the same of loads and stores */
  uint64_t loads_from, stores_from; /* barriers */
  uint64_t operations, count, mapped;
};

struct schedule *schedule_create(struct arena *arena, const struct vinci_soc *soc) {
  struct schedule *at = ARENA_NEW(arena, struct schedule);
  if (at)
    schedule_begin(at, soc);
  return at;
}

void schedule_begin(struct schedule *at, const struct vinci_soc *soc) {
  *at = (struct schedule){.soc = soc};
  at->dispatch = (uint64_t)soc->vf_start_cycles;
  for (unsigned i = 0; i < REGISTER_NAMES + MASK_NAMES; i++)
    at->name[i].physical = UNMAPPED;
}

static const struct register_class_cost *cost_of(const struct schedule *at, unsigned class) {
  return &at->soc->register_class[class];
}

/* ---- registers ----------------------------------------------------------------------------- */

/* The old number of a name is of no use once its last reader has begun. */
static void unmap(struct schedule *at, struct producer *name) {
  if (name->physical == UNMAPPED)
    return;
  uint64_t last = max_u64(name->read, name->cycle);
  at->free_at[name->physical] = last + (uint64_t)at->soc->vf_release_cycles;
  name->physical = UNMAPPED;
  at->mapped--;
}

/* Of more names than code can have, the one that was not used for longest is no more. */
static void forget_eldest(struct schedule *at) {
  struct producer *eldest = NULL;
  for (unsigned i = 0; i < REGISTER_NAMES; i++) {
    struct producer *name = &at->name[i];
    if (name->physical != UNMAPPED && (!eldest || name->used < eldest->used))
      eldest = name;
  }
  if (eldest)
    unmap(at, eldest);
}

/* Gives a name a register of its own; when that is there. */
static uint64_t map(struct schedule *at, unsigned index, uint64_t cycle) {
  struct producer *name = &at->name[index];
  unsigned best = 0;
  if (index >= REGISTER_NAMES)
    return cycle; /* a mask */
  unmap(at, name);
  if (at->mapped >= (uint64_t)at->soc->vf_registers)
    forget_eldest(at);
  for (unsigned i = 1; i < (unsigned)at->soc->vf_physical; i++)
    best = at->free_at[i] < at->free_at[best] ? i : best;
  cycle = max_u64(cycle, at->free_at[best]);
  at->free_at[best] = UINT64_MAX;
  name->physical = (uint16_t)best;
  at->mapped++;
  return cycle;
}

/* ---- dispatch ------------------------------------------------------------------------------ */

static void dispatch_at(struct schedule *at, uint64_t cycle) {
  if (cycle > at->dispatch) {
    at->dispatch = cycle;
    at->dispatched = 0;
  } else if (at->dispatched == (uint64_t)at->soc->vf_width) {
    at->dispatch++;
    at->dispatched = 0;
  }
  at->dispatched++;
}

/* The place of the queue that is free first. */
static uint64_t *queue_place(struct schedule *at) {
  unsigned best = 0;
  for (unsigned i = 1; i < (unsigned)at->soc->vf_queue; i++)
    best = at->queue[i] < at->queue[best] ? i : best;
  return &at->queue[best];
}

/* ---- issue --------------------------------------------------------------------------------- */

static bool is_store(unsigned class) {
  return class == REGISTER_STORE || class == REGISTER_SCATTER;
}
static bool is_load(unsigned class) {
  return class == REGISTER_LOAD || class == REGISTER_GATHER || class == REGISTER_GATHER_BLOCKS;
}

/* Forwarding, from issue to issue. */
static uint64_t forwarded(const struct schedule *at, const struct producer *from, unsigned class) {
  const struct register_class_cost *cost = cost_of(at, from->class);
  bool special =
      cost_of(at, class)->interval_cycles > 0 || class == REGISTER_ABS || class == REGISTER_DUP;
  int64_t cycles = is_store(class) ? cost->store_cycles
                   : special       ? cost->special_cycles
                                   : cost->forward_cycles;
  return from->cycle + (uint64_t)cycles;
}

static uint64_t ready_at(const struct schedule *at, const struct function_step *step) {
  uint64_t cycle = 0;
  for (unsigned i = 0; i < step->reads; i++) {
    const struct producer *from = &at->name[step->name[i]];
    if (from->class != REGISTER_NONE)
      cycle = max_u64(cycle, forwarded(at, from, step->class));
  }
  return cycle;
}

static bool taken(const uint64_t *places, uint64_t cycle, int64_t cycles) {
  for (int64_t i = 0; i < cycles; i++, cycle++)
    if (places[cycle % WINDOW] == cycle + 1)
      return true;
  return false;
}

static void take(uint64_t *places, uint64_t cycle, int64_t cycles) {
  for (int64_t i = 0; i < cycles; i++, cycle++)
    places[cycle % WINDOW] = cycle + 1;
}

/*
 * Whether UB takes an access in one cycle. Loads: as many as there are ports, one less beside a
 * store; those that take two alone. No two of a cycle need one bank, unless they read the same; a
 * store has its bank group alone with one load of its other bank, which the number of ports sees
 * to.
 */
static bool has_place(struct schedule *at, const struct function_step *step, uint64_t cycle) {
  unsigned most = (unsigned)at->soc->vf_loads, place = cycle % WINDOW;
  bool store = is_store(step->class);
  if (at->port[place].cycle != cycle + 1) {
    at->port[place].cycle = cycle + 1;
    at->port[place].loads = at->port[place].stores = 0;
    at->port[place].read = at->port[place].written = 0;
  }
  unsigned used = at->port[place].loads + at->port[place].stores;
  unsigned needed = store ? 1 : step->ports;
  uint64_t busy = step->again ? 0 : at->port[place].read;
  if (used > 0 && used + needed > most)
    return false;
  return !(store && at->port[place].stores > 0) &&
         ((busy | at->port[place].written) & step->banks) == 0;
}

static void take_place(struct schedule *at, const struct function_step *step, uint64_t cycle) {
  unsigned place = cycle % WINDOW;
  if (is_store(step->class)) {
    at->port[place].stores++;
    at->port[place].written |= step->banks;
  } else {
    at->port[place].loads = (uint8_t)(at->port[place].loads + step->ports);
    at->port[place].read |= step->banks;
  }
}

/* An access that needs a bank several times takes as many cycles in a row. */
static uint64_t issue_at_port(struct schedule *at, const struct function_step *step,
                              uint64_t cycle) {
  uint64_t turns = max_u64(step->turns, 1), free = 0;
  for (; free < turns; cycle++)
    free = has_place(at, step, cycle) ? free + 1 : 0;
  cycle -= turns;
  for (uint64_t i = 0; i < turns; i++)
    take_place(at, step, cycle + i);
  return cycle;
}

static uint64_t issue_in_unit(struct schedule *at, unsigned class, uint64_t from) {
  const struct register_class_cost *cost = cost_of(at, class);
  bool special = cost->interval_cycles > 0;
  unsigned units = (unsigned)min_u64((uint64_t)cost->units, (uint64_t)at->soc->vf_units);
  for (uint64_t cycle = from;; cycle++)
    for (unsigned i = 0; i < units || i == 0; i++) {
      struct execution_unit *unit = &at->unit[i];
      uint64_t end = cycle + (uint64_t)cost->latency_cycles;
      if (taken(unit->issued, cycle, 1) || taken(unit->special, cycle, cost->interval_cycles) ||
          (!special && taken(unit->result, end, 1)))
        continue;
      take(unit->issued, cycle, 1);
      take(unit->special, cycle, cost->interval_cycles);
      if (!special)
        take(unit->result, end, 1);
      return cycle;
    }
}

static uint64_t issue(struct schedule *at, const struct function_step *step, uint64_t ready) {
  if (is_load(step->class))
    return issue_at_port(at, step, max_u64(ready, at->loads_from));
  if (is_store(step->class))
    return issue_at_port(at, step, max_u64(ready, at->stores_from));
  return issue_in_unit(at, step->class, ready);
}

/* ---- steps --------------------------------------------------------------------------------- */

static void take_barrier(struct schedule *at, const struct function_step *step) {
  uint64_t over = max_u64(step->waits == FUNCTION_STORES ? 0 : at->loaded,
                          step->waits == FUNCTION_LOADS ? 0 : at->stored);
  if (step->waiting != FUNCTION_STORES)
    at->loads_from = max_u64(at->loads_from, over);
  if (step->waiting != FUNCTION_LOADS)
    at->stores_from = max_u64(at->stores_from, over);
}

static void note(struct schedule *at, const struct function_step *step, uint64_t cycle) {
  uint64_t more = step->turns > 1 ? step->turns - 1 : 0;
  uint64_t end = cycle + more + (uint64_t)cost_of(at, step->class)->latency_cycles;
  for (unsigned i = 0; i < step->reads; i++) {
    struct producer *name = &at->name[step->name[i]];
    name->read = max_u64(name->read, cycle);
    name->used = at->count;
  }
  for (unsigned i = 0; i < step->writes; i++) {
    struct producer *name = &at->name[step->name[step->reads + i]];
    name->cycle = name->read = cycle + more;
    name->class = step->class;
    name->used = at->count;
  }
  at->end = max_u64(at->end, end);
  if (is_load(step->class))
    at->loaded = max_u64(at->loaded, end);
  if (is_store(step->class))
    at->stored = max_u64(at->stored, end);
}

void schedule_add(struct schedule *at, const struct function_step *step) {
  at->count++;
  if (step->waits != 0) {
    take_barrier(at, step);
    return;
  }
  bool queued = !is_load(step->class);
  if (step->loop)
    dispatch_at(at, at->dispatch + (uint64_t)at->soc->vf_loop_cycles);
  uint64_t *place = queued ? queue_place(at) : NULL;
  uint64_t cycle = max_u64(at->dispatch, place ? *place : 0);
  /* Sources first: an instruction may write what it reads. */
  uint64_t ready = ready_at(at, step);
  for (unsigned i = 0; i < step->reads; i++)
    at->name[step->name[i]].read = max_u64(at->name[step->name[i]].read, max_u64(ready, cycle));
  for (unsigned i = 0; i < step->writes; i++)
    cycle = map(at, step->name[step->reads + i], cycle);
  dispatch_at(at, cycle);
  ready = max_u64(ready, at->dispatch + (uint64_t)at->soc->vf_issue_cycles);
  uint64_t start = issue(at, step, ready);
  if (place)
    *place = ready + 1;
  note(at, step, start);
  at->operations += step->operations;
}

void schedule_end(const struct schedule *at, struct inst_cost *cost) {
  uint64_t start = (uint64_t)at->soc->vf_start_cycles;
  uint64_t cycles = max_u64(at->end, start) + (uint64_t)at->soc->vf_end_cycles;
  /* The next function starts while the last instructions end. */
  *cost = (struct inst_cost){
      .issue_cycles = cycles - min_u64(start + (uint64_t)at->soc->vf_issue_cycles, cycles - 1),
      .latency_cycles = cycles,
      .startup_cycles = start,
      .path = PATH_NONE,
      .operations = at->operations};
}
