/* SPDX-License-Identifier: Apache-2.0 */
/* Functions are recorded, and scheduled at their end unless they are known. */
#include "core/sim/function.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"

enum {
  STEPS_MAX = 1 << 15, /* that are recorded; a longer function is scheduled while it comes */
  MET_MAX = 256,       /* functions that are kept */
  STEP_WORDS = sizeof(struct function_step) / sizeof(uint64_t)
};
_Static_assert(sizeof(struct function_step) % sizeof(uint64_t) == 0, "a step is whole words");

/* The operands of an instruction that name registers and masks. */
struct named {
  uint8_t count, arg[FUNCTION_OPERANDS];
  bool mask[FUNCTION_OPERANDS], read[FUNCTION_OPERANDS], written[FUNCTION_OPERANDS];
};

/* A function that was met before: two digests and the number of its steps tell which. */
struct met {
  uint64_t digest[2], steps;
  struct inst_cost cost;
};

struct vector_functions {
  const struct vinci_soc *soc;
  struct named named[OP_COUNT];
  struct function_step *step; /* STEPS_MAX of them */
  uint64_t steps, digest[2];  /* of the function that is being added */
  struct schedule *schedule;
  struct met met[MET_MAX]; /* by digest */
};

/* ---- what an instruction is ---------------------------------------------------------------- */

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

/* False: an instruction that takes no time. */
static bool step_of(const struct vector_functions *functions, const struct inst *inst,
                    struct function_step *step) {
  *step = (struct function_step){.class = REGISTER_NONE};
  if (inst->op == OP_REG_MEM_BAR) {
    step->waits = (uint8_t)(FUNCTION_LOADS + inst->arg[0]);
    step->waiting = (uint8_t)(FUNCTION_LOADS + inst->arg[1]);
    return true;
  }
  unsigned class = inst_register_class(inst);
  if (class == REGISTER_NONE)
    return false;
  enum dtype type = inst_dtype(inst);
  bool computes = class != REGISTER_LOAD && class != REGISTER_STORE && type < DTYPE_COUNT;
  step->class = (uint8_t) class;
  step->ports = inst->op == OP_REG_VLDS2 ? 2 : 1; /* two registers at once */
  step->operations = (uint16_t)(computes ? REPEAT_BYTES * BITS_PER_BYTE / dtype_bits(type) : 0);
  add_names(&functions->named[inst->op], inst, step);
  return true;
}

/* ---- functions ----------------------------------------------------------------------------- */

struct vector_functions *functions_create(struct arena *arena, const struct vinci_soc *soc) {
  struct vector_functions *functions = ARENA_NEW(arena, struct vector_functions);
  if (!functions)
    return NULL;
  memset(functions, 0, sizeof *functions);
  functions->soc = soc;
  functions->step = ARENA_ROOM(arena, struct function_step, STEPS_MAX);
  functions->schedule = schedule_create(arena, soc);
  for (unsigned op = 0; op < OP_COUNT; op++)
    if (isa_is_register((enum isa_op)op))
      find_named(&functions->named[op], isa_row((enum isa_op)op));
  return functions->step && functions->schedule ? functions : NULL;
}

/* Multipliers of two generators of pseudo-random numbers (Steele and Vigna, 2021). */
static void add_to_digest(uint64_t digest[2], const struct function_step *step) {
  uint64_t word[STEP_WORDS];
  memcpy(word, step, sizeof word);
  for (unsigned i = 0; i < STEP_WORDS; i++) {
    digest[0] = (digest[0] ^ word[i]) * UINT64_C(0xD1342543DE82EF95);
    digest[0] ^= digest[0] >> 32;
    digest[1] = (digest[1] + word[i]) * UINT64_C(0xAF251AF3B0F025B5);
    digest[1] ^= digest[1] >> 29;
  }
}

static void schedule_recorded(struct vector_functions *functions) {
  schedule_begin(functions->schedule, functions->soc);
  for (uint64_t i = 0; i < functions->steps && i < STEPS_MAX; i++)
    schedule_add(functions->schedule, &functions->step[i]);
}

void functions_add(struct vector_functions *functions, const struct inst *inst) {
  struct function_step step;
  if (!step_of(functions, inst, &step))
    return;
  if (functions->steps == STEPS_MAX)
    schedule_recorded(functions);
  if (functions->steps >= STEPS_MAX)
    schedule_add(functions->schedule, &step);
  else
    functions->step[functions->steps] = step;
  functions->steps++;
  add_to_digest(functions->digest, &step);
}

void functions_end(struct vector_functions *functions, struct inst_cost *cost) {
  struct met *met = &functions->met[functions->digest[0] % MET_MAX];
  bool known = met->steps == functions->steps &&
               memcmp(met->digest, functions->digest, sizeof met->digest) == 0;
  if (functions->steps <= STEPS_MAX && !(known && met->steps > 0))
    schedule_recorded(functions);
  if (!known || met->steps == 0) {
    schedule_end(functions->schedule, &met->cost);
    met->steps = functions->steps;
    memcpy(met->digest, functions->digest, sizeof met->digest);
  }
  *cost = met->cost;
  functions->steps = functions->digest[0] = functions->digest[1] = 0;
}
