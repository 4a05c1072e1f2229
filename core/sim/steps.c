/* SPDX-License-Identifier: Apache-2.0 */
/* Names of registers, banks of UB and loops of register instructions. */
#include "core/sim/steps.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "core/isa/operands_register.h"

/* The operands of an instruction that name registers and masks. */
struct named {
  uint8_t count, arg[FUNCTION_OPERANDS];
  bool mask[FUNCTION_OPERANDS], read[FUNCTION_OPERANDS], written[FUNCTION_OPERANDS];
};

/*
 * Loops are seen from their jumps back to an earlier row. A loop that begins anew takes time, its
 * further turns do not. A loop of a single turn is not seen.
 */
enum { LOOPS_MAX = 8, NO_ROW = UINT32_MAX };
struct loop {
  uint32_t head, tail; /* rows */
};
struct loops {
  struct loop active[LOOPS_MAX];
  unsigned depth;
  uint32_t last; /* row */
  bool begun;    /* by an instruction that takes no time */
};

struct steps {
  const struct vinci_soc *soc;
  struct named named[OP_COUNT];
  struct loops loops;
  int64_t read; /* address that the last load has read */
};

/* ---- names --------------------------------------------------------------------------------- */

/* Masks by the names of their operands: pd and pd1 are written, pg and p0 to p2 read. */
static bool is_mask(const struct isa_arg *arg) {
  return arg->kind == ARG_INTEGER && arg->name[0] == 'p' && arg->name_length <= 3 &&
         (arg->name[1] == 'd' || arg->name[1] == 'g' ||
          (arg->name[1] >= '0' && arg->name[1] <= '2'));
}

static void find_named(struct named *named, const struct isa_row *row) {
  for (unsigned i = 0; i < row->arg_count; i++) {
    const struct isa_arg *arg = &row->arg[i];
    bool mask = is_mask(arg), is_register = arg->kind == ARG_ADDRESS && arg->space == SPACE_VR;
    if ((!is_register && !mask) || named->count == FUNCTION_OPERANDS)
      continue;
    unsigned k = named->count++;
    named->arg[k] = (uint8_t)i;
    named->mask[k] = mask;
    named->written[k] = mask ? arg->name[1] == 'd' : arg->writes;
    named->read[k] = mask ? arg->name[1] != 'd' : arg->reads;
  }
}

/* The number of an operand's name; false: a mask operand that names none. */
static bool name_of(const struct inst *inst, const struct named *named, unsigned k,
                    uint16_t *name) {
  int64_t value = inst->arg[named->arg[k]];
  if (!named->mask[k]) {
    *name = (uint16_t)(value / REPEAT_BYTES % REGISTER_NAMES);
    return true;
  }
  *name = (uint16_t)(REGISTER_NAMES + value);
  return value > 0 && value < MASK_NAMES;
}

static void add_names(const struct named *named, const struct inst *inst,
                      struct function_step *step) {
  unsigned count = 0;
  for (unsigned k = 0; k < named->count; k++)
    count +=
        named->read[k] && count < FUNCTION_OPERANDS && name_of(inst, named, k, &step->name[count]);
  step->reads = (uint8_t)count;
  for (unsigned k = 0; k < named->count; k++)
    count += named->written[k] && count < FUNCTION_OPERANDS &&
             name_of(inst, named, k, &step->name[count]);
  step->writes = (uint8_t)(count - step->reads);
  for (; count < FUNCTION_OPERANDS; count++)
    step->name[count] = 0;
}

/* ---- loops --------------------------------------------------------------------------------- */

/* Leaves the loops that a step forward to a row is behind. */
static void leave_loops(struct loops *loops, uint32_t row) {
  while (loops->depth > 0 && row > loops->active[loops->depth - 1].tail)
    loops->depth--;
}

/* Whether a jump back leads to the second turn of a loop; later turns are told as false. */
static bool jump_begins(struct loops *loops, uint32_t from, uint32_t to) {
  while (loops->depth > 0 && loops->active[loops->depth - 1].head > to)
    loops->depth--;
  const struct loop *inner = &loops->active[loops->depth > 0 ? loops->depth - 1 : 0];
  if (loops->depth > 0 && inner->head == to && inner->tail <= from)
    return false;
  if (loops->depth == LOOPS_MAX)
    return false;
  loops->active[loops->depth++] = (struct loop){.head = to, .tail = from};
  return true;
}

static bool loop_begins(struct loops *loops, uint32_t row) {
  uint32_t last = loops->last;
  loops->last = row;
  if (last == NO_ROW)
    return false;
  if (row <= last)
    return jump_begins(loops, last, row);
  leave_loops(loops, row);
  return false;
}

/* ---- banks --------------------------------------------------------------------------------- */

/* How often each bank and each bank group of UB is needed. */
enum { BANKS_MAX = 64 }; /* the bits of function_step.banks */
struct needed {
  const struct vinci_soc *soc;
  uint16_t bank[BANKS_MAX], group[BANKS_MAX];
};

/* Addresses of UB are row, bank, group and byte (scripts/soc/ascend950.lua). */
static bool need_run(void *context, int64_t address, uint64_t bytes) {
  struct needed *needed = context;
  uint64_t row = (uint64_t)needed->soc->ub_row_bytes,
           groups = (uint64_t)needed->soc->ub_bank_groups;
  uint64_t all = groups * (uint64_t)needed->soc->ub_banks_per_group;
  uint64_t from = (uint64_t)address / row, end = ((uint64_t)address + bytes - 1) / row;
  for (; from <= end; from++) {
    needed->bank[from % all]++;
    needed->group[from % groups]++;
  }
  return true;
}

/* Of scatters the operands have the same places. */
enum { OPERANDS_REGGATHER(OPERAND_NUMBER, REGGATHER) };
static bool is_indexed(unsigned class) {
  return class == REGISTER_GATHER || class == REGISTER_GATHER_BLOCKS || class == REGISTER_SCATTER;
}

/* Numbers by index come through all banks: where they lie is not known here, how often is. */
static void add_turns(const struct inst *inst, struct function_step *step) {
  step->banks = UINT64_MAX;
  step->turns = (uint32_t)inst->arg[REGGATHER_TURNS];
}

/* A bank is read or written once a cycle; of a group, one bank is written. */
static void add_banks(struct steps *steps, const struct inst *inst, struct function_step *step) {
  const struct vinci_soc *soc = steps->soc;
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access((enum isa_op)inst->op)(soc, inst, access);
  unsigned banks = (unsigned)(soc->ub_bank_groups * soc->ub_banks_per_group);
  bool store = step->class == REGISTER_STORE;
  if (banks == 0 || soc->ub_row_bytes == 0)
    return; /* the map is not known */
  for (unsigned i = 0; i < count; i++) {
    struct needed needed = {.soc = soc};
    if (access[i].space != SPACE_UB || access[i].bytes == 0)
      continue;
    inst_each_run(&access[i], need_run, &needed);
    for (unsigned bank = 0; bank < banks; bank++) {
      step->banks |= needed.bank[bank] > 0 ? UINT64_C(1) << bank : 0;
      step->turns = (uint32_t)max_u64(step->turns, store ? needed.group[bank] : needed.bank[bank]);
    }
    step->again = !store && access[i].address == steps->read;
    steps->read = store ? steps->read : access[i].address;
  }
}

/* ---- steps --------------------------------------------------------------------------------- */

bool steps_next(struct steps *steps, const struct inst *inst, struct function_step *step) {
  *step = (struct function_step){.class = REGISTER_NONE};
  if (inst->op == OP_REG_MEM_BAR) {
    step->waits = (uint8_t)(FUNCTION_LOADS + inst->arg[0]);
    step->waiting = (uint8_t)(FUNCTION_LOADS + inst->arg[1]);
    return true;
  }
  unsigned class = inst_register_class(inst);
  steps->loops.begun |= loop_begins(&steps->loops, inst->row);
  if (class == REGISTER_NONE)
    return false;
  step->loop = steps->loops.begun;
  steps->loops.begun = false;
  enum dtype type = inst_dtype(inst);
  bool moves = class == REGISTER_LOAD || class == REGISTER_STORE || is_indexed(class);
  bool computes = !moves && type < DTYPE_COUNT;
  step->class = (uint8_t) class;
  step->ports = inst->op == OP_REG_VLDS2 ? 2 : 1; /* two registers at once */
  step->operations = (uint16_t)(computes ? REPEAT_BYTES * BITS_PER_BYTE / dtype_bits(type) : 0);
  add_names(&steps->named[inst->op], inst, step);
  if (is_indexed(class))
    add_turns(inst, step);
  else if (moves)
    add_banks(steps, inst, step);
  return true;
}

void steps_end(struct steps *steps) {
  steps->loops.depth = 0;
  steps->loops.last = NO_ROW;
  steps->loops.begun = false;
  steps->read = -1;
}

struct steps *steps_create(struct arena *arena, const struct vinci_soc *soc) {
  struct steps *steps = ARENA_NEW(arena, struct steps);
  if (!steps)
    return NULL;
  memset(steps, 0, sizeof *steps);
  steps->soc = soc;
  for (unsigned op = 0; op < OP_COUNT; op++)
    if (isa_is_register((enum isa_op)op))
      find_named(&steps->named[op], isa_row((enum isa_op)op));
  steps_end(steps);
  return steps;
}
