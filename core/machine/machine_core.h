/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of the abstract machine, shared by machine*.c. */
#ifndef VINCI_CORE_MACHINE_MACHINE_CORE_H
#define VINCI_CORE_MACHINE_MACHINE_CORE_H

#include "core/base/arith.h"
#include "core/control/flags.h"
#include "core/control/unit_flag.h"
#include "core/control/wait.h"
#include "core/isa/stream.h"
#include "core/machine/machine.h"

struct machine;

/* An instruction in a queue. */
struct machine_entry {
  uint64_t issue; /* how many instructions the scalar unit had issued before */
  uint64_t waits; /* machine_step.waits */
  struct inst inst;
};

struct machine_pipe {
  struct machine_entry *queue; /* a ring of `depth` */
  uint32_t depth, head, count;
};

struct machine_core {
  struct machine *machine;
  uint32_t index;
  enum core_kind kind;
  bool has_block;
  bool loaded;   /* inst holds an instruction that is not issued yet */
  bool ended;    /* of the stream */
  bool polls;    /* its code looks at memory that others may write */
  bool accessed; /* scalar code has, since the last instruction was loaded */
  uint8_t wait;  /* enum stall of the scalar unit, or NOT_STALLED */
  uint32_t block, sub;
  uint64_t waits, issued;
  uint32_t filled;    /* set of pipes whose queues hold something */
  struct inst inst;   /* its mask and registers are those of the core */
  struct inst access; /* of scalar code; its mask and registers are nothing */
  struct stream stream;
  struct machine_pipe pipe[PIPE_COUNT];
  struct flags flags;
  struct unit_flags units;
};

struct machine {
  const struct vinci_soc *soc;
  const struct vinci_trace *trace;
  struct machine_options options;
  const struct machine_observer *observers;
  size_t observer_count;
  struct vinci_diag *diag;
  struct arena arena;
  enum vinci_status status;
  bool stopped;  /* by an observer */
  bool tolerant; /* an observer takes misuse */
  uint64_t random;
  bool path_checked[OP_COUNT];
  struct placement placement;
  struct signals signals;
  struct machine_core *cores;  /* placement.core_count of them */
  uint32_t *turns;             /* walk_order_seed: who has which turn of a round; else NULL */
  uint32_t *blocks;            /* the same: which block is started when */
  uint64_t instructions;       /* issued */
  uint64_t instructions_total; /* that the trace has, nearly; for progress */
  unsigned looks;              /* rounds in which nothing went on but such looks */
  uint64_t progress_rows;      /* rows since the last look at progress */
};

/* Calls a function of all observers that have it; one that returns false stops the machine. */
#define MACHINE_TELL(machine, function, ...)                                                       \
  for (size_t i_ = 0; i_ < (machine)->observer_count; i_++) {                                      \
    const struct machine_observer *observer_ = &(machine)->observers[i_];                          \
    if (observer_->function && !observer_->function(observer_->context, __VA_ARGS__))              \
      (machine)->stopped = true;                                                                   \
  }

static inline bool machine_goes_on(const struct machine *machine) {
  return machine->status == VINCI_OK && !machine->stopped;
}

/* Ends the run with an error of a core at a trace line. */
void machine_fail(struct machine *machine, uint32_t core, uint32_t line,
                  const struct misuse *misuse);
struct machine_step machine_step_of(const struct machine_core *core, const struct inst *inst,
                                    enum pipe pipe);
/* Tells observers of misuse of a core in a step; ends the run when no observer takes the misuse. */
void machine_misused(struct machine *machine, uint32_t core, const struct machine_step *step,
                     const struct misuse *misuse);
/* Tells the caller how far the run is, and ends it when that is wanted. */
void machine_show_progress(struct machine *machine);
/* A core signals a cross-core flag. */
void machine_signal(struct machine_core *core, const struct machine_step *step);

/* ---- one core (core/machine/machine_core.c) ---- */
bool machine_core_create(struct machine_core *core, struct machine *machine, uint32_t var_count);
void machine_core_start(struct machine_core *core, uint32_t block, uint32_t sub);
/* Goes on as far as it can; whether anything was executed or issued. */
bool machine_core_run(struct machine_core *core);
/* The unit of L0C that holds an instruction with a unit flag back; core->units.set.units when there
 * is none. */
uint32_t machine_blocked_unit(const struct machine_core *core, const struct inst *inst);

/* ---- what is said when nothing can go on (core/machine/machine_hang.c) ---- */
enum vinci_status machine_report_hang(const struct machine *machine);

#endif
