/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of a run went, cycle by cycle, each cycle once: along the chain of
 * instructions that leads to the end of the core that ends last. The parts sum to the total
 * exactly, so the difference of two runs splits into differences of parts.
 */
#ifndef VINCI_CORE_RESULT_CRITICAL_H
#define VINCI_CORE_RESULT_CRITICAL_H

#include "core/isa/isa.h"
#include "core/result/result.h"

/* What is no instruction: before the first one, between two, after the last. */
enum critical_rest { CRITICAL_LAUNCH, CRITICAL_IDLE, CRITICAL_END, CRITICAL_RESTS };

struct critical_part {
  uint64_t count;  /* instructions on the chain */
  uint64_t cycles; /* of the core clock, as total_cycles */
};

struct critical_path {
  uint32_t core; /* in result->cores; core_count when nothing was recorded */
  struct critical_part part[PIPE_COUNT][OP_COUNT];
  uint64_t rest[CRITICAL_RESTS];
  uint64_t cause[CAUSE_COUNT][CAUSE_MEMBERS];   /* of part[]: their cycles by cause and member */
  uint64_t pipe_cause[PIPE_COUNT][CAUSE_COUNT]; /* the same by pipe, */
  uint64_t pipe_hidden[PIPE_COUNT];             /* with hidden_cycles by pipe */
  uint64_t code_cycles;                         /* of part[]: waits for code */
  uint64_t scalar_cycles;                       /* of part[]: what else the scalar unit did */
  uint64_t hidden_cycles; /* of part[]: behind what was in flight before, so without a cause */
};

/* What the state that instructions have found costs on the critical path. */
struct critical_state {
  uint64_t code_cycles;      /* waits for code that the instruction cache does not hold */
  uint64_t cold_cycles;      /* device memory gives what L2 has not held before in the run */
  uint64_t refetch_cycles;   /* and what L2 has held and dropped */
  uint64_t scalar_cycles;    /* the scalar unit works: rows of the trace, accesses, issue */
  uint64_t dependent_cycles; /* the vector unit of the core drains before the next instruction;
                                these lie beside others of the path */
};
struct critical_state critical_state(const struct vinci_result *result,
                                     const struct critical_path *path);

/* A cause on the critical path, and what turning its number is expected to save. */
struct critical_turn {
  enum cause cause;
  unsigned member;
  size_t param;              /* soc_param_count(): no number of the chip */
  uint64_t cycles;           /* on the critical path, of the core clock */
  int64_t saved_cycles;      /* when the number is halved or doubled, as the cause's row says */
  bool measured;             /* saved_cycles are those of a run with the number turned */
  bool lowered_anew;         /* and the operator was lowered for the changed chip: */
  int64_t anew_saved_cycles; /* then its run saves these */
  enum pipe next_pipe;       /* the busiest pipe of the core then, by a replay, */
  unsigned next_permille;    /* and how much of the shorter run it is busy; 0: not known */
};
enum { CRITICAL_TURNS_MAX = SAVINGS_MAX };
const char *critical_turn_word(const struct critical_turn *turn); /* "halved" or "doubled" */

const char *critical_rest_name(enum critical_rest rest);

/*
 * Walks back from the end: to the instruction whose end let the last one go on, or that was
 * running then, and so on to the launch. Needs the event store (max_events of the run
 * options); events that were dropped are missing from the chain and count as idle.
 */
VINCI_MUST_CHECK enum vinci_status critical_find(const struct vinci_result *result,
                                                 struct critical_path *out,
                                                 struct vinci_diag *diag);

/* The same chain, from its end to its start: `visit` gets each instruction on the chain with its
 * cycles there. *core is that of the chain, core_count when nothing was recorded. */
VINCI_MUST_CHECK enum vinci_status
critical_each(const struct vinci_result *result,
              void (*visit)(void *context, const struct result_event *event, uint64_t cycles),
              void *context, uint32_t *core, struct vinci_diag *diag);
/*
 * The causes on the critical path, the longest first; returns their number. What turning a number
 * saves is known where the result has a measurement (result->savings). Elsewhere an estimate stands
 * in: a replay of the recorded instructions (core/result/replay.h), which knows what the other
 * pipes still have to do, and not how cores share L2 and device memory. Without recorded
 * instructions it is half of the cycles of all causes that have this number, as long as no other
 * pipe is busy longer.
 */
size_t critical_turns(const struct vinci_result *result, const struct critical_path *path,
                      struct critical_turn turns[CRITICAL_TURNS_MAX]);
/*
 * Whether a number is worth a measurement: its causes have the share of the run below which reports
 * say nothing. Small causes count: doubled memory bandwidth has been seen to save 12 % where waits
 * for memory were 1 % of the critical path.
 */
enum { CRITICAL_LEAST_PERMILLE = 5 };
bool critical_matters(const struct vinci_result *result, const struct critical_turn *turns,
                      size_t count, size_t param);
/* Of turns, the one that is measured or else expected to save most, the longest when none saves;
 * NULL of none. */
const struct critical_turn *critical_best(const struct critical_turn *turns, size_t count);
/*
 * Whether the pipes of the core on the critical path take turns, so that most of the time only one
 * is busy: then *saved_cycles are what the run would take less if they worked side by side, as with
 * two buffers of half the size for each tile: from a run with second buffers of the same size
 * (result->second_buffer_cycles), or else from what the busiest pipe leaves.
 */
bool critical_takes_turns(const struct vinci_result *result, const struct critical_path *path,
                          uint64_t *saved_cycles);

#endif
