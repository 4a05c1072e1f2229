/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a program that hangs: every waiting part, the reason of its wait, and the trace
 * line.
 */
#ifndef VINCI_CORE_CONTROL_HANG_H
#define VINCI_CORE_CONTROL_HANG_H

#include "core/control/signals.h"
#include "core/control/unit_flag.h"
#include "core/control/wait.h"

/* What one part of a core waits for. */
struct hang_wait {
  enum pipe pipe;
  unsigned reason; /* enum stall, or NOT_STALLED: cannot start */
  uint16_t op;
  uint8_t id;
  uint8_t other; /* flags: the pipe that sets it; queues: whose */
  uint32_t line;
  uint32_t from_line; /* STALL_UNIT_FLAG: of the mad that handed the block over, 0: none has */
  uint64_t address;   /* and where the block lies in L0C */
};

enum { HANG_WAITS_MAX = PIPE_COUNT + 1 }; /* of one core */

struct hang_view {
  const struct placement *placement;
  const struct signals *signals;
  const void *context;
  /* What the parts of a core wait for, and how many do. */
  unsigned (*find)(const void *context, uint32_t core, struct hang_wait *waits);
};

/* Why a part cannot execute or issue its next instruction. */
struct hang_wait hang_wait_of(const struct inst *inst, enum pipe pipe, unsigned reason);
/* Adds the unit of L0C that holds an instruction back; units->set.units: none does. */
void hang_add_unit(struct hang_wait *waiting, const struct unit_flags *units, uint32_t unit);
/* Fills the diagnostic; returns VINCI_E_DEADLOCK. */
enum vinci_status hang_report(const struct hang_view *view, struct vinci_diag *diag);

#endif
