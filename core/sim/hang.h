/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of a program of which nothing can go on: every waiting part, what it waits
 * for and the trace line. The device and the abstract machine show their cores in the same
 * way (struct hang_view).
 */
#ifndef VINCI_CORE_SIM_HANG_H
#define VINCI_CORE_SIM_HANG_H

#include "core/isa/program.h"

/* What one part of a core waits for. */
struct hang_wait {
  enum pipe pipe;
  unsigned reason; /* enum stall, or PIPE_NOT_STALLED: cannot start */
  uint16_t op;
  uint8_t id;
  uint8_t other; /* flags: the pipe that sets it; queues: whose */
  uint32_t line;
  uint32_t from_line; /* STALL_UNIT_FLAG: of the mad that handed the block over, 0: none has */
  uint64_t address;   /* and where the block lies in L0C */
};

enum { HANG_WAITS_MAX = PIPE_COUNT + 1 }; /* of one core */

/* How many cores have signalled a flag in mode 0 that all of them must signal. */
struct hang_senders {
  enum core_kind kind;
  unsigned sent;
  unsigned cores;
};

struct hang_view {
  const void *context;
  uint32_t core_count;
  unsigned (*find)(const void *context, uint32_t core, struct hang_wait *waits);
  void (*name)(const void *context, uint32_t core, char *buffer, size_t size);
  struct hang_senders (*senders)(const void *context, uint32_t core, uint32_t id);
  const struct vinci_trace *trace;
  const struct program_kernel *kernel;
  uint64_t blocks_done;
};

/* Fills the diagnostic; returns VINCI_E_DEADLOCK. */
enum vinci_status hang_report(const struct hang_view *view, struct vinci_diag *diag);

#endif
