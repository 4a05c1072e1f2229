/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of the abstract machine, shared by machine*.c. */
#ifndef VINCI_CORE_MACHINE_MACHINE_CORE_H
#define VINCI_CORE_MACHINE_MACHINE_CORE_H

#include "core/isa/unit_flag.h"
#include "core/machine/machine.h"
#include "core/sim/aicore.h" /* enum cross_mode, enum stall */
#include "core/sim/device.h" /* UNIT_CORES_MAX */

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

struct machine_flag {
  uint32_t line; /* of the set_flag; 0: not set */
};

struct machine_cross {
  uint32_t arrived;           /* signals not taken yet */
  uint32_t sent[CROSS_MODES]; /* by this core, and not used up yet */
};

struct machine_core {
  struct machine *machine;
  uint32_t index;
  enum core_kind kind;
  bool has_block;
  bool loaded;       /* inst holds an instruction that is not issued yet */
  bool ended;        /* of the stream */
  uint8_t wait;      /* enum stall of the scalar unit, or PIPE_NOT_STALLED */
  uint8_t wait_pipe; /* STALL_QUEUE_FULL, STALL_WAIT_FLAG */
  uint32_t wait_id;
  uint32_t block, sub, unit;
  uint64_t waits, issued;
  uint32_t filled;  /* set of pipes whose queues hold something */
  struct inst inst; /* its mask and registers are those of the core */
  struct stream stream;
  struct machine_pipe pipe[PIPE_COUNT];
  struct machine_flag *flags; /* [src][dst][id] */
  /* Of each unit of L0C the line of the mad that handed it over, 0: a mad may write. NULL when no
   * row of the trace has a unit flag. */
  uint32_t *handed_over;
  struct unit_set unit_set; /* room for one */
  struct machine_cross *cross;
};

struct machine_unit {
  uint32_t core[UNIT_CORES_MAX];
  uint32_t core_count;
  uint32_t running;
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
  struct machine_core *cores;
  uint32_t core_count;
  uint32_t first_core[CORE_KIND_COUNT];
  uint32_t kind_count[CORE_KIND_COUNT];
  struct machine_unit *units;
  uint32_t unit_count;
  uint32_t *turns;   /* walk_order_seed: who has which turn of a round; else NULL */
  uint32_t *blocks;  /* the same: which block is started when */
  uint32_t *members; /* room for the cores of a delivery: senders, then receivers */
  uint32_t kernel;
  uint32_t next_block;
  uint32_t blocks_done;
  uint64_t instructions;       /* issued */
  uint64_t instructions_total; /* that the trace has, nearly; for progress */
  uint64_t progress_rows;      /* rows since the last look at progress */
};

static inline bool machine_goes_on(const struct machine *machine) {
  return machine->status == VINCI_OK && !machine->stopped;
}

/* Pseudo-random numbers of the shuffled order. */
uint64_t machine_random(struct machine *machine);
/* Ends the run with an error at a trace line. */
void machine_fail(struct machine_core *core, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void machine_core_name(const struct machine *machine, uint32_t core, char *buffer, size_t size);
struct machine_step machine_step_of(const struct machine_core *core, const struct inst *inst,
                                    enum pipe pipe);
/* Tells observers of misuse; ends the run with `format` when none takes it. */
void machine_misused(struct machine_core *core, const struct machine_step *step,
                     enum machine_misuse misuse, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Tells the caller how far the run is, and ends it when that is wanted. */
void machine_show_progress(struct machine *machine);
/* A core signals a cross-core flag. */
void machine_signal(struct machine_core *core, const struct machine_step *step);

/* ---- one core (core/machine/machine_core.c) ---- */
bool machine_core_create(struct machine_core *core, struct machine *machine, uint32_t var_count);
void machine_core_start(struct machine_core *core, uint32_t block, uint32_t sub);
/* Goes on as far as it can; whether anything was executed or issued. */
bool machine_core_run(struct machine_core *core);
struct machine_flag *machine_core_flag(const struct machine_core *core, enum pipe src,
                                       enum pipe dst, uint32_t id);

/* ---- unit flags (core/machine/machine_units.c) ---- */
bool machine_units_create(struct machine_core *core);
void machine_units_start_block(struct machine_core *core);
/* The first unit of L0C that holds an instruction with a unit flag back; core->unit_set.units when
 * there is none. */
uint32_t machine_units_blocked(const struct machine_core *core, const struct inst *inst);
/* The units change sides: who reads them gives them back, who writes them hands them over. */
void machine_units_turn(struct machine_core *core, const struct inst *inst);

/* ---- what is said when nothing can go on (core/machine/machine_hang.c) ---- */
enum vinci_status machine_report_hang(const struct machine *machine);

#endif
