/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One core: a scalar unit that issues in order into one queue per pipe, and pipes
 * that run in order inside and in parallel to each other, ordered by flags and
 * barriers. One type covers AIC, AIV and coupled cores; which pipes it has is
 * core_has_pipe().
 *
 * "In order" is not "finished": a pipe may start its next instruction after the
 * issue distance of the last, while results of several are still on their way.
 * What must happen in order of completion (flags being set, transfers through the
 * memory system) waits in the pipe's retire ring.
 *
 * Time inside a core is counted in edges of its clock.
 */
#ifndef VINCI_CORE_SIM_AICORE_H
#define VINCI_CORE_SIM_AICORE_H

#include "core/base/clock.h"
#include "core/control/flags.h"
#include "core/control/unit_flag.h"
#include "core/isa/stream.h"
#include "core/result/result.h"
#include "core/sim/engine.h"
#include "core/sim/function.h"
#include "core/sim/memsys.h"

struct device;
struct aicore;
struct pipe_entry;

/* The end of an instruction that is not known at its start. */
#define OBSERVER_LATER UINT64_MAX

/*
 * Who wants to see instructions while a run is under way, as a debugger does (core/debug). It
 * changes nothing. The instructions of a pipe start in the order in which they were issued, and
 * those with OBSERVER_LATER retire in the order of their starts. Cycles may lie ahead of now.
 */
struct aicore_observer {
  void *context;
  void (*begin_block)(void *context, const struct aicore *core, const struct program_kernel *kernel,
                      uint32_t blk, uint32_t sub);
  /* The scalar unit has put an instruction into the queue of its pipe, or, with PIPE_S and
   * PIPE_ALL, has executed the instruction itself, up to scalar.cycle. */
  void (*issued)(void *context, const struct aicore *core, enum pipe pipe, const struct inst *inst);
  void (*started)(void *context, const struct aicore *core, enum pipe pipe, uint64_t start_cycle,
                  uint64_t end_cycle);
  void (*retired)(void *context, const struct aicore *core, enum pipe pipe, uint64_t end_cycle);
};

/* An instruction in an issue queue. */
struct pipe_entry {
  struct inst_cost cost;
  uint64_t issue_cycle; /* when the scalar unit put it there; may lie ahead of now */
  uint64_t ready_cycle; /* when it was first tried as the head of the queue */
  uint32_t line;
  uint16_t op;
  uint8_t dtype;
  uint8_t id;        /* flags */
  uint8_t other;     /* flags: the other pipe; cross-core: mode */
  uint8_t unit_flag; /* enum unit_flag */
};

enum retire_kind { RETIRE_TRANSFER, RETIRE_SET_FLAG, RETIRE_CROSS_CORE };

/* Something that takes effect when everything before it in the pipe has completed. */
struct retire_entry {
  uint8_t kind;   /* enum retire_kind */
  bool done;      /* RETIRE_TRANSFER: all bytes have arrived */
  uint64_t cycle; /* earliest cycle; RETIRE_TRANSFER: when its end is known to the pipe */
  uint64_t start_cycle;
  uint64_t reader_cycles;     /* a copy to L1: cycles that MTE1 had been busy at its start */
  uint64_t first_read_cycles; /* that the start was delayed by */
  uint64_t arrived_cycle;     /* RETIRE_TRANSFER: when the memory system was through */
  struct pipe_entry entry;
  struct gm_transfer transfer;
};

struct pipe_unit {
  struct aicore *core;
  enum pipe id;
  struct engine_event issue;
  struct engine_event retire;
  struct pipe_entry *queue;
  struct unit_use *unit_uses; /* by entry of the queue; NULL when no row has a unit flag */
  unsigned depth, head, count;
  struct retire_entry *ring;
  unsigned ring_depth, ring_head, ring_count;
  unsigned transfers;      /* in the ring */
  unsigned moving;         /* of these, not done */
  uint64_t moved_cycle;    /* when the last of those that are done had moved its last byte */
  bool streaming_overlaps; /* others may start behind the transfer that started last */
  uint64_t next_start_cycle;
  uint64_t owed_mcycles;   /* of the instructions in a row up to now, less than a cycle */
  uint64_t complete_cycle; /* by when all started instructions of known end complete */
  uint64_t retired_cycle;  /* end of the last retired transfer */
  uint64_t wait_cycle;     /* since when the head of the queue has been ready to go */
  bool head_tried;         /* wait_cycle belongs to the present head */
  uint64_t accounted_cycle;
  uint64_t caused_cycle; /* end of the busy cycles that have a cause */
  unsigned stall;        /* enum stall while the head is held back, else NOT_STALLED */
  struct pipe_counters *counters;
};

/* Signals of one id that have arrived at a core and have not been taken: a ring. */
struct arrivals {
  uint64_t *ps;       /* when, soc->cross_core_sets_max of them */
  uint32_t *delivery; /* as many: which delivery of the run */
  unsigned head;
};

struct scalar_unit {
  struct engine_event step;
  uint64_t cycle;      /* the unit's own time, at or ahead of the engine's */
  unsigned stall;      /* enum stall while the unit waits, else NOT_STALLED */
  enum pipe full_pipe; /* STALL_QUEUE_FULL: whose queue is full */
  uint64_t issue_cycles;
  struct inst_cost function_cost; /* of the vector function that vf_call calls */
  bool has_function;
  uint32_t delivery; /* the last signal that it took from another core */
  bool ended;        /* the stream; pipes may still work */
  bool loaded;       /* inst holds an instruction not issued yet */
  struct inst inst;  /* its mask and registers are those of the core */
  struct pipe_counters *counters;
};

struct aicore {
  struct device *device;
  struct core_result *result;
  uint32_t index;
  enum core_kind kind;
  struct clock_domain clock;
  struct stream stream;
  struct scalar_unit scalar;
  struct pipe_unit pipe[PIPE_COUNT];
  struct flags flags;
  uint64_t *flag_cycle; /* by flag: when it was set */
  struct unit_flags units;
  uint64_t *unit_cycle; /* by unit of L0C: from when on its state holds; may lie ahead of now */
  struct arrivals *arrivals; /* by flag of signals */
  uint64_t l1_wait_mcycles;  /* that loads of MTE1 have to wait for writes to L1 */
  struct engine_event finish;
  bool has_block;
  bool has_read;       /* from GM, in its block */
  bool reached_memory; /* by a read that L2 lacked, in the running kernel */
  /* Code of the block's kernel: lines asked for, and of these the ones that were not there. */
  bool code_there;  /* some lines were, when the block began */
  bool first_block; /* that the core executes of the running kernel */
  uint32_t launch;  /* number, from 1, of the kernel of its last block */
  uint32_t code_lines, code_missing;
  uint64_t start_cycle;
  const struct aicore_observer *observer; /* NULL: nobody looks */
  bool records;                           /* there is an event store */
  struct result_event *events;            /* this core's share of the event store */
  struct event_log *log;                  /* in their place, packed; or NULL */
  uint64_t event_count, event_capacity, events_dropped;
};

/* Prepares a core; part is its number in the total order of events. */
bool aicore_create(struct aicore *core, struct device *device, struct arena *arena, uint32_t index,
                   uint32_t part, uint32_t var_count);
/* Its number among the cores of its kind. */
uint32_t aicore_number(const struct aicore *core);
/* Starts a block at the engine's present time. */
void aicore_start(struct aicore *core, const struct program_kernel *kernel, uint32_t blk,
                  uint32_t sub);
/* Counts idle time up to the end of the run. */
void aicore_account(struct aicore *core, uint64_t end_ps);
/* Ends the run with an error at a trace line. */
void aicore_misused(struct aicore *core, uint32_t line, const struct misuse *misuse);
/* Puts an executed instruction into the event store, if one is kept; NULL: not kept. */
struct result_event *aicore_keep_event(struct aicore *core, enum pipe pipe,
                                       const struct pipe_entry *entry, uint64_t start_cycle,
                                       uint64_t end_cycle);
static inline struct result_event *aicore_record(struct aicore *core, enum pipe pipe,
                                                 const struct pipe_entry *entry,
                                                 uint64_t start_cycle, uint64_t end_cycle) {
  return core->records ? aicore_keep_event(core, pipe, entry, start_cycle, end_cycle) : NULL;
}
/* From which cycle on the waiting pipe sees a flag that is set. */
uint64_t aicore_flag_seen(const struct aicore *core, size_t flag);
/* The cycle from which a signal of another core can be taken; UINT64_MAX: none is there. */
uint64_t aicore_signal_seen(const struct aicore *core, uint32_t flag);
/* Takes the signal; the number of its delivery. */
uint32_t aicore_take_signal(struct aicore *core, uint32_t flag);
/* Sets a flag at a cycle and wakes who waits for the flag. */
void aicore_set_flag(struct aicore *core, enum pipe src, enum pipe dst, uint32_t id, uint32_t line,
                     uint64_t cycle);
/* Whether no pipe has anything queued or unfinished; *cycle = when the last completes. */
bool aicore_drained(const struct aicore *core, uint64_t *cycle);
/* A pipe has become empty: ends barriers, and the block when the stream has ended. */
void aicore_pipe_drained(struct aicore *core);

/* Schedules the finish of a block whose stream has ended when all pipes are done. */
void aicore_finish_if_done(struct aicore *core);

/* Edge of the core's clock at or after the engine's present time. */
uint64_t aicore_now(const struct aicore *core);

/* ---- scalar unit (core/sim/scalar.c) ---- */
void scalar_create(struct aicore *core, uint32_t part);
void scalar_start(struct aicore *core, uint64_t cycle);
/* Lets the scalar unit look again at what it waits for, not before a cycle. */
void scalar_wake(struct aicore *core, uint64_t cycle);

/* ---- pipes (core/sim/pipe.c) ---- */
bool pipe_create(struct aicore *core, struct arena *arena, enum pipe id, uint32_t part);
void pipe_start(struct pipe_unit *pipe, uint64_t cycle);
/* Space for one more entry, NULL when the queue is full; pipe_pushed() completes the entry. */
struct pipe_entry *pipe_push(struct pipe_unit *pipe);
void pipe_pushed(struct pipe_unit *pipe);
void pipe_wake(struct pipe_unit *pipe, uint64_t cycle);
void pipe_account(struct pipe_unit *pipe, uint64_t cycle);
/* Starts the head of M at a cycle that has passed while it waited for units of L0C. */
void pipe_start_late(struct pipe_unit *pipe, uint64_t cycle);

/* ---- causes of busy cycles (core/sim/pipe_causes.c) ---- */
/* An instruction that moves nothing from or to GM is in flight from one cycle to another;
 * wait_cycles of them it waits for the port of L1. */
void pipe_causes_unit(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t start_cycle,
                      uint64_t wait_cycles, uint64_t end_cycle);
/* The same for a transfer that has ended. */
void pipe_causes_transfer(struct pipe_unit *pipe, const struct retire_entry *slot);
/* A run was cut short: what was in flight then has causes too, or has too many. */
void pipe_causes_cut(struct pipe_counters *counters);

/* ---- the port of L1: MTE1 waits while MTE2 writes (core/sim/pipe_l1.c) ---- */
/* A copy has started, or ended at a cycle. */
void pipe_l1_copy_started(struct aicore *core, struct retire_entry *copy, uint64_t now);
void pipe_l1_copy_ended(struct aicore *core, const struct retire_entry *copy);
/* Cycles by which a load of MTE1 that takes `cycles` takes longer. */
uint64_t pipe_l1_wait(struct aicore *core, const struct inst_cost *cost, uint64_t cycles);

/* ---- unit flags of L0C: what pipes M and FIX ask and tell (core/sim/pipe_units.c) ---- */
bool pipe_units_create(struct aicore *core, struct arena *arena);
/* Keeps the units of an instruction that is put into a queue. */
void pipe_units_queue(struct pipe_unit *pipe, struct pipe_entry *entry, const struct inst *inst);
/* Whether the head of M or FIX may start at `now`; if not, it is woken when it may. */
bool pipe_units_allow(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now);
/* The head has started, or a transfer out of L0C has ended: units change sides. */
void pipe_units_started(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t start);
void pipe_units_moved(struct aicore *core, uint64_t first_cycle, uint64_t end_cycle);
/* The first unit that holds the head of a pipe back; units.set.units when there is none. */
uint32_t pipe_units_blocked(const struct pipe_unit *pipe);

#endif
