/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The abstract machine: executes the kernels of a trace instruction by instruction in an
 * order that queues, flags and barriers allow, without time. Values and checks are
 * observers of the machine: they can neither depend on the timing model nor change its times.
 *
 * Each core issues its stream in order into one queue per pipe. A pipe executes its queue
 * in order; wait_flag holds it until the flag is set, and a unit flag holds mad and the fixpipe
 * until the other has done with their part of L0C. Which of several pipes that could go
 * on goes first is a choice (enum machine_order): a correct program computes the same in
 * every order, and a missing flag shows in some.
 */
#ifndef VINCI_CORE_MACHINE_MACHINE_H
#define VINCI_CORE_MACHINE_MACHINE_H

#include "core/control/signals.h"

struct stream_data;

/* One executed instruction; valid during the call. */
struct machine_step {
  const struct inst *inst;
  const struct program_kernel *kernel;
  uint32_t core; /* numbered as in struct placement */
  enum core_kind kind;
  uint32_t block;
  uint32_t sub;
  enum pipe pipe; /* that executes it: of flags the side that sets or waits; PIPE_ALL: all */
  /* Waits of the scalar unit in this block (wait_flag to S, wait_flag_dev, pipe_barrier ALL; read
   * rows, whose value is there before anything else is issued) that had ended when the instruction
   * was issued, and how many had ended when the oldest instruction still in a queue of the core was
   * issued: earlier waits matter to no instruction that is still to come. */
  uint64_t waits;
  uint64_t oldest_waits;
};

/* Members may be NULL. Each returns false to stop the machine (the observer keeps why). */
struct machine_observer {
  void *context;
  bool (*begin_kernel)(void *context, const struct program_kernel *kernel);
  bool (*begin_block)(void *context, const struct machine_step *step); /* inst is NULL */
  bool (*execute)(void *context, const struct machine_step *step);
  bool (*end_block)(void *context, const struct machine_step *step);
  /* A read row: inst has OP_READ_ROW, its operands and nothing else, pipe is PIPE_S. */
  bool (*read)(void *context, const struct machine_step *step);
  /* What scalar code of a compiled kernel does itself: inst has OP_SCALAR_... and its operands. */
  bool (*access)(void *context, const struct machine_step *step);
  /* Behind one or several of them, before the next instruction. */
  bool (*end_access)(void *context, const struct machine_step *step);
  /* After the execute of the signal that completed the set. */
  bool (*deliver)(void *context, const struct signal_delivery *delivery);
  /* When an observer has this, misuse does not end the run: a flag stays set, a signal that
   * finds no room is lost. */
  bool (*misuse)(void *context, const struct machine_step *step, const struct misuse *misuse);
};

enum machine_order {
  MACHINE_PROGRAM_ORDER,   /* as the stream has them, as far as flags allow */
  MACHINE_CONSUMERS_FIRST, /* MTE3 before V before MTE2: who lacks a wait runs too early */
  MACHINE_PRODUCERS_FIRST, /* MTE2 first: who lacks a wait for a free buffer overwrites data */
  MACHINE_SHUFFLED,        /* at random, a few instructions at a time, also among cores */
};

struct machine_options {
  enum machine_order order;
  uint64_t seed;         /* of MACHINE_SHUFFLED */
  bool unchecked_ranges; /* the observers look at ranges themselves */
  /* With MACHINE_SHUFFLED: "in order" is not "finished". What stands between two instructions
   * of a pipe that synchronise runs in any order; but for mads, whose sums depend on theirs. */
  bool relaxed;
  /* With MACHINE_PROGRAM_ORDER, other than 0: which block and which core is walked first, and how
   * far at a time, is shuffled. What one core does, it still does as written. */
  uint64_t walk_order_seed;
  /* Called now and then with the instructions that were issued and the share of all of them that
   * is done (0..1000); false ends the run with VINCI_E_LIMIT. May be NULL. */
  bool (*progress)(void *context, uint64_t instructions, unsigned done_permille);
  void *progress_context;
  /* What read rows of a core read, once a block has begun there; NULL: they take what they say. */
  struct stream_data (*data)(void *context, uint32_t core);
  void *data_context;
};

/*
 * Runs all kernels. VINCI_E_DEADLOCK when nothing can go on, with who waits for what and the
 * trace line in the diagnostic; VINCI_E_INPUT when an instruction is illegal; VINCI_OK also
 * when an observer stopped the run. options may be NULL: consumers first, ranges checked.
 */
enum vinci_status machine_run_with(const struct vinci_soc *soc, const struct vinci_trace *trace,
                                   const struct machine_options *options,
                                   const struct machine_observer *observers, size_t observer_count,
                                   struct vinci_diag *diag);

static inline enum vinci_status machine_run(const struct vinci_soc *soc,
                                            const struct vinci_trace *trace,
                                            const struct machine_observer *observers,
                                            size_t observer_count, struct vinci_diag *diag) {
  return machine_run_with(soc, trace, NULL, observers, observer_count, diag);
}

#endif
