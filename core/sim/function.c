/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of a vector function: function.h says what is modelled. */
#include "core/sim/function.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum {
  /* Cycles that reservations reach behind the newest: more than any instruction waits. */
  WINDOW = 1024,
  PHYSICAL_MAX = 256,
  QUEUE_MAX = 256,
  UNITS_MAX = 2,
  UNMAPPED = UINT16_MAX,
  OPERANDS_MAX = 6,
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

struct vector_function {
  const struct vinci_soc *soc;
  struct producer name[REGISTER_NAMES + MASK_NAMES];
  uint64_t free_at[PHYSICAL_MAX]; /* UINT64_MAX: mapped */
  uint64_t queue[QUEUE_MAX];      /* when its places are free */
  struct execution_unit unit[UNITS_MAX];
  struct {
    uint64_t cycle; /* + 1 */
    uint8_t loads, stores;
  } port[WINDOW];
  uint64_t dispatch, dispatched;    /* cycle of the last one, and how many in that */
  uint64_t end;                     /* of the instruction that ends last */
  uint64_t loaded, stored;          /* the same of loads and stores */
  uint64_t loads_from, stores_from; /* barriers */
  uint64_t operations, count, mapped;
};

/* What an instruction reads and writes: numbers of names. */
struct operands {
  uint16_t read[OPERANDS_MAX], write[OPERANDS_MAX];
  unsigned reads, writes;
};

static void reset(struct vector_function *function) {
  const struct vinci_soc *soc = function->soc;
  *function = (struct vector_function){.soc = soc};
  function->dispatch = (uint64_t)soc->vf_start_cycles;
  for (unsigned i = 0; i < REGISTER_NAMES + MASK_NAMES; i++)
    function->name[i].physical = UNMAPPED;
}

struct vector_function *function_create(struct arena *arena, const struct vinci_soc *soc) {
  struct vector_function *function = ARENA_NEW(arena, struct vector_function);
  if (function) {
    function->soc = soc;
    reset(function);
  }
  return function;
}

/* ---- what an instruction is ---------------------------------------------------------------- */

static const struct register_class_cost *cost_of(const struct vector_function *function,
                                                 unsigned class) {
  return &function->soc->register_class[class];
}

static void add_name(uint16_t *names, unsigned *count, int64_t name) {
  if (*count < OPERANDS_MAX)
    names[(*count)++] = (uint16_t)name;
}

/* Masks by the names of their operands: pd and pd1 are written, pg and p0 to p2 read; 0 is none. */
static void add_mask(struct operands *operands, const struct isa_arg *arg, int64_t value) {
  if (arg->name[0] != 'p' || value <= 0 || value >= MASK_NAMES || arg->name_length > 3 ||
      arg->kind != ARG_INTEGER)
    return;
  if (arg->name[1] == 'd')
    add_name(operands->write, &operands->writes, REGISTER_NAMES + value);
  else if (arg->name[1] == 'g' || (arg->name[1] >= '0' && arg->name[1] <= '2'))
    add_name(operands->read, &operands->reads, REGISTER_NAMES + value);
}

static struct operands operands_of(const struct inst *inst) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  struct operands operands = {.reads = 0};
  for (unsigned i = 0; i < row->arg_count; i++) {
    const struct isa_arg *arg = &row->arg[i];
    if (arg->kind != ARG_ADDRESS || arg->space != SPACE_VR) {
      add_mask(&operands, arg, inst->arg[i]);
      continue;
    }
    int64_t name = inst->arg[i] / REPEAT_BYTES % REGISTER_NAMES;
    if (arg->reads)
      add_name(operands.read, &operands.reads, name);
    if (arg->writes)
      add_name(operands.write, &operands.writes, name);
  }
  return operands;
}

/* ---- registers ----------------------------------------------------------------------------- */

/* The old number of a name is of no use once its last reader has begun. */
static void unmap(struct vector_function *function, struct producer *name) {
  if (name->physical == UNMAPPED)
    return;
  uint64_t last = max_u64(name->read, name->cycle);
  function->free_at[name->physical] = last + (uint64_t)function->soc->vf_release_cycles;
  name->physical = UNMAPPED;
  function->mapped--;
}

/* Of more names than code can have, the one that was not used for longest is no more. */
static void forget_eldest(struct vector_function *function) {
  struct producer *eldest = NULL;
  for (unsigned i = 0; i < REGISTER_NAMES; i++) {
    struct producer *name = &function->name[i];
    if (name->physical != UNMAPPED && (!eldest || name->used < eldest->used))
      eldest = name;
  }
  if (eldest)
    unmap(function, eldest);
}

/* Gives a name a register of its own; when that is there. */
static uint64_t map(struct vector_function *function, unsigned index, uint64_t cycle) {
  struct producer *name = &function->name[index];
  unsigned best = 0;
  if (index >= REGISTER_NAMES)
    return cycle; /* a mask */
  unmap(function, name);
  if (function->mapped >= (uint64_t)function->soc->vf_registers)
    forget_eldest(function);
  for (unsigned i = 1; i < (unsigned)function->soc->vf_physical; i++)
    best = function->free_at[i] < function->free_at[best] ? i : best;
  cycle = max_u64(cycle, function->free_at[best]);
  function->free_at[best] = UINT64_MAX;
  name->physical = (uint16_t)best;
  function->mapped++;
  return cycle;
}

/* ---- dispatch ------------------------------------------------------------------------------ */

static void dispatch_at(struct vector_function *function, uint64_t cycle) {
  if (cycle > function->dispatch) {
    function->dispatch = cycle;
    function->dispatched = 0;
  } else if (function->dispatched == (uint64_t)function->soc->vf_width) {
    function->dispatch++;
    function->dispatched = 0;
  }
  function->dispatched++;
}

/* The place of the queue that is free first. */
static uint64_t *queue_place(struct vector_function *function) {
  unsigned best = 0;
  for (unsigned i = 1; i < (unsigned)function->soc->vf_queue; i++)
    best = function->queue[i] < function->queue[best] ? i : best;
  return &function->queue[best];
}

/* ---- issue --------------------------------------------------------------------------------- */

static bool is_store(unsigned class) { return class == REGISTER_STORE; }

/* Forwarding, from issue to issue. */
static uint64_t forwarded(const struct vector_function *function, const struct producer *from,
                          unsigned class) {
  const struct register_class_cost *cost = cost_of(function, from->class);
  bool special = cost_of(function, class)->interval_cycles > 0 || class == REGISTER_ABS ||
                 class == REGISTER_DUP;
  int64_t cycles = is_store(class) ? cost->store_cycles
                   : special       ? cost->special_cycles
                                   : cost->forward_cycles;
  return from->cycle + (uint64_t)cycles;
}

static uint64_t ready_at(struct vector_function *function, const struct operands *operands,
                         unsigned class, uint64_t cycle) {
  for (unsigned i = 0; i < operands->reads; i++) {
    const struct producer *from = &function->name[operands->read[i]];
    if (from->class != REGISTER_NONE)
      cycle = max_u64(cycle, forwarded(function, from, class));
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

/* Loads: as many a cycle as there are ports, one less beside a store; those that take two alone. */
static uint64_t issue_at_port(struct vector_function *function, bool store, unsigned ports,
                              uint64_t cycle) {
  unsigned most = (unsigned)function->soc->vf_loads;
  for (;; cycle++) {
    unsigned place = cycle % WINDOW;
    if (function->port[place].cycle != cycle + 1) {
      function->port[place].cycle = cycle + 1;
      function->port[place].loads = function->port[place].stores = 0;
    }
    unsigned used = function->port[place].loads + function->port[place].stores;
    if (used + ports > most || (store && function->port[place].stores > 0))
      continue;
    if (store)
      function->port[place].stores++;
    else
      function->port[place].loads = (uint8_t)(function->port[place].loads + ports);
    return cycle;
  }
}

static uint64_t issue_in_unit(struct vector_function *function, unsigned class, uint64_t from) {
  const struct register_class_cost *cost = cost_of(function, class);
  bool special = cost->interval_cycles > 0;
  unsigned units = (unsigned)min_u64((uint64_t)cost->units, (uint64_t)function->soc->vf_units);
  for (uint64_t cycle = from;; cycle++)
    for (unsigned i = 0; i < units || i == 0; i++) {
      struct execution_unit *unit = &function->unit[i];
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

/* Those that move two registers at once. */
static unsigned ports_of(const struct inst *inst) { return inst->op == OP_REG_VLDS2 ? 2 : 1; }

static uint64_t issue(struct vector_function *function, const struct inst *inst, unsigned class,
                      uint64_t ready) {
  if (class == REGISTER_LOAD)
    return issue_at_port(function, false, ports_of(inst), max_u64(ready, function->loads_from));
  if (is_store(class))
    return issue_at_port(function, true, 1, max_u64(ready, function->stores_from));
  return issue_in_unit(function, class, ready);
}

/* ---- functions ----------------------------------------------------------------------------- */

static void take_barrier(struct vector_function *function, const struct inst *inst) {
  enum { LOADS, STORES, ALL }; /* the words of the operands */
  int64_t waits = inst->arg[0], waiting = inst->arg[1];
  uint64_t over =
      max_u64(waits == STORES ? 0 : function->loaded, waits == LOADS ? 0 : function->stored);
  if (waiting != STORES)
    function->loads_from = max_u64(function->loads_from, over);
  if (waiting != LOADS)
    function->stores_from = max_u64(function->stores_from, over);
}

static void note(struct vector_function *function, const struct operands *operands, unsigned class,
                 uint64_t cycle) {
  uint64_t end = cycle + (uint64_t)cost_of(function, class)->latency_cycles;
  for (unsigned i = 0; i < operands->reads; i++) {
    struct producer *name = &function->name[operands->read[i]];
    name->read = max_u64(name->read, cycle);
    name->used = function->count;
  }
  for (unsigned i = 0; i < operands->writes; i++) {
    struct producer *name = &function->name[operands->write[i]];
    name->cycle = name->read = cycle;
    name->class = (uint8_t) class;
    name->used = function->count;
  }
  function->end = max_u64(function->end, end);
  if (class == REGISTER_LOAD)
    function->loaded = max_u64(function->loaded, end);
  if (is_store(class))
    function->stored = max_u64(function->stored, end);
}

void function_add(struct vector_function *function, const struct inst *inst) {
  function->count++;
  if (inst->op == OP_REG_MEM_BAR) {
    take_barrier(function, inst);
    return;
  }
  unsigned class = inst_register_class(inst);
  if (class == REGISTER_NONE)
    return;
  struct operands operands = operands_of(inst);
  bool queued = class != REGISTER_LOAD;
  uint64_t *place = queued ? queue_place(function) : NULL;
  uint64_t cycle = max_u64(function->dispatch, place ? *place : 0);
  /* Sources first: an instruction may write what it reads. */
  uint64_t ready = ready_at(function, &operands, class, 0);
  for (unsigned i = 0; i < operands.reads; i++)
    function->name[operands.read[i]].read =
        max_u64(function->name[operands.read[i]].read, max_u64(ready, cycle));
  for (unsigned i = 0; i < operands.writes; i++)
    cycle = map(function, operands.write[i], cycle);
  dispatch_at(function, cycle);
  ready = max_u64(ready, function->dispatch + (uint64_t)function->soc->vf_issue_cycles);
  uint64_t start = issue(function, inst, class, ready);
  if (place)
    *place = ready + 1;
  note(function, &operands, class, start);
  enum dtype type = inst_dtype(inst);
  if (class != REGISTER_LOAD && !is_store(class) && type < DTYPE_COUNT)
    function->operations += REPEAT_BYTES * BITS_PER_BYTE / dtype_bits(type);
}

void function_end(struct vector_function *function, struct inst_cost *cost) {
  uint64_t start = (uint64_t)function->soc->vf_start_cycles;
  uint64_t cycles = max_u64(function->end, start) + (uint64_t)function->soc->vf_end_cycles;
  *cost = (struct inst_cost){.issue_cycles = cycles,
                             .latency_cycles = cycles,
                             .startup_cycles = start,
                             .path = PATH_NONE,
                             .operations = function->operations};
  reset(function);
}
