/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that stop: what happens in a simulation, one event after the other, with the state of the
 * cores and, when asked for, the values in their memories in between. The model is that of
 * vinci_run(): the debugger fires the events of the engine himself and looks on, so that a run has
 * the same cycles with and without a debugger. Nothing of this is there in other runs.
 *
 * Values change when an instruction ends. A program whose flags are right cannot tell; one that
 * reads too early reads what was there before, as on a chip that is slow to write. With values the
 * read rows of a trace follow the data, so that its times are those of the data; a run without a
 * debugger takes what the rows say.
 */
#ifndef VINCI_CORE_DEBUG_DEBUG_H
#define VINCI_CORE_DEBUG_DEBUG_H

#include "core/debug/slots.h"
#include "core/sim/device.h"

enum debug_kind {
  DEBUG_BLOCK, /* a block begins on a core */
  DEBUG_START, /* an instruction starts in a pipe; one that waits when its wait ends */
  DEBUG_END,   /* its result is there */
  DEBUG_STALL, /* a pipe, or the scalar unit, begins to wait */
};

struct debug_event {
  enum debug_kind kind;
  uint32_t core;    /* index into device.cores */
  enum pipe pipe;   /* of DEBUG_BLOCK: PIPE_S */
  uint64_t cycle;   /* of the core's clock */
  enum stall stall; /* DEBUG_STALL: why */
  struct inst inst; /* of DEBUG_STALL: the one that waits; of DEBUG_BLOCK: nothing, line is 0 */
};

enum debug_stop {
  DEBUG_STOP_EVENT,
  DEBUG_STOP_LIMIT, /* the time is reached, and nothing else happened */
  DEBUG_STOP_END,   /* nothing will happen any more: the run is over, hangs or has failed */
};

struct debug;

/*
 * Starts a run that stands at its beginning. values may be NULL: no bytes then; else the inputs are
 * there, and the caller keeps the values. options as for vinci_run(); max_events does not matter.
 * soc, trace, values and diag outlive the run.
 */
VINCI_MUST_CHECK enum vinci_status debug_open(const struct vinci_soc *soc,
                                              const struct vinci_trace *trace,
                                              struct vinci_values *values,
                                              const struct vinci_run_options *options,
                                              struct debug **out, struct vinci_diag *diag);
/* Whether there are values and rows that read them. */
bool debug_follows_data(const struct debug *debug);
/* Goes on to the next event, but not beyond a time in ps. */
enum debug_stop debug_next(struct debug *debug, uint64_t limit_ps, struct debug_event *event);
/* Frees the debugger. A run that is over gives its status and result as vinci_run() does; one that
 * is not is dropped: VINCI_OK without a result. */
VINCI_MUST_CHECK enum vinci_status debug_close(struct debug *debug, struct vinci_result **result);

/* ---- the state between two events ---- */
const struct device *debug_device(const struct debug *debug);
uint64_t debug_now_ps(const struct debug *debug);
uint64_t debug_cycle(const struct debug *debug, uint32_t core);
/* Instructions of a pipe that have not ended, the oldest first; NULL behind the last. Those of the
 * scalar unit, and issues, may lie ahead of now. */
const struct debug_slot *debug_slot(const struct debug *debug, uint32_t core, enum pipe pipe,
                                    size_t index);
/* Why a pipe that has work and executes nothing waits, since which cycle, and in which
 * instruction; NOT_STALLED when it does not. */
struct debug_wait {
  unsigned stall;
  uint64_t since_cycle;
  struct inst inst;
};
struct debug_wait debug_wait(const struct debug *debug, uint32_t core, enum pipe pipe);
/* The bytes of a memory as a core sees it; NULL: no values are kept, the core has no such memory,
 * or no block yet. */
const uint8_t *debug_bytes(const struct debug *debug, uint32_t core, enum space space);
/* Whether an instruction writes one of these bytes; remote buffers do not count. */
bool debug_writes(const struct debug *debug, const struct inst *inst, enum space space,
                  uint64_t address, uint64_t bytes);

#endif
