/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The abstract machine: executes the kernels of a trace instruction by instruction in an
 * order that queues, flags and barriers allow, without time. Values and checks are
 * observers of it, which is why neither can depend on the timing model nor change it.
 *
 * Each core issues its stream in order into one queue per pipe. A pipe executes its queue
 * in order; wait_flag holds it until the flag is set. Among the pipes that could go on the
 * one farthest down the data's way goes first (MTE3 before V before MTE2), so that a
 * consumer whose flag is missing really runs too early.
 */
#ifndef VINCI_CORE_MACHINE_H
#define VINCI_CORE_MACHINE_H

#include "core/program.h"

/* One executed instruction; valid during the call. */
struct machine_step {
  const struct inst *inst;
  const struct program_kernel *kernel;
  uint32_t core; /* physical core, numbered as in results */
  enum core_kind kind;
  uint32_t block;
  uint32_t sub;
  enum pipe pipe; /* that executes it: of flags the side that sets or waits; PIPE_ALL: all */
};

/* Members may be NULL. Each returns false to stop the machine (the observer keeps why). */
struct machine_observer {
  void *context;
  bool (*begin_kernel)(void *context, const struct program_kernel *kernel);
  bool (*begin_block)(void *context, const struct machine_step *step); /* inst is NULL */
  bool (*execute)(void *context, const struct machine_step *step);
  bool (*end_block)(void *context, const struct machine_step *step);
};

/*
 * Runs all kernels. VINCI_E_DEADLOCK when nothing can go on, with who waits for what and the
 * trace line in the diagnostic; VINCI_E_INPUT when an instruction is illegal; VINCI_OK also
 * when an observer stopped it.
 */
enum vinci_status machine_run(const struct vinci_soc *soc, const struct vinci_trace *trace,
                              const struct machine_observer *observers, size_t observer_count,
                              struct vinci_diag *diag);

#endif
