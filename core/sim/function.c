/* SPDX-License-Identifier: Apache-2.0 */
/* Functions are recorded, and scheduled at their end unless they are known. */
#include "core/sim/function.h"

#include <string.h>

#include "core/sim/steps.h"

enum {
  STEPS_MAX = 1 << 15, /* that are recorded; a longer function is scheduled while it comes */
  MET_MAX = 256,       /* functions that are kept */
  STEP_WORDS = sizeof(struct function_step) / sizeof(uint64_t)
};
_Static_assert(sizeof(struct function_step) % sizeof(uint64_t) == 0, "a step is whole words");

/* A function that was met before: two digests and the number of its steps tell which. */
struct met {
  uint64_t digest[2], steps;
  struct inst_cost cost;
};

struct vector_functions {
  const struct vinci_soc *soc;
  struct steps *reader;
  struct function_step *step; /* STEPS_MAX of them */
  uint64_t steps, digest[2];  /* of the function that is being added */
  struct schedule *schedule;
  struct met met[MET_MAX]; /* by digest */
};

/* ---- functions ----------------------------------------------------------------------------- */

struct vector_functions *functions_create(struct arena *arena, const struct vinci_soc *soc) {
  struct vector_functions *functions = ARENA_NEW(arena, struct vector_functions);
  if (!functions)
    return NULL;
  memset(functions, 0, sizeof *functions);
  functions->soc = soc;
  functions->step = ARENA_ROOM(arena, struct function_step, STEPS_MAX);
  functions->schedule = schedule_create(arena, soc);
  functions->reader = steps_create(arena, soc);
  return functions->step && functions->schedule && functions->reader ? functions : NULL;
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
  if (!steps_next(functions->reader, inst, &step))
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
  steps_end(functions->reader);
}
