/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines of a trace, or of a kernel's source, take the time: the recorded instructions of all
 * cores, added up by line and instruction.
 */
#ifndef VINCI_CORE_RESULT_HOTSPOTS_H
#define VINCI_CORE_RESULT_HOTSPOTS_H

#include "core/result/result.h"

/* Cycles of each core's clock, but for the critical ones: those are of the chip's core clock. */
struct hotspot {
  uint32_t line; /* of the trace, or of the source of a compiled kernel */
  uint16_t op;   /* enum isa_op */
  uint8_t pipe;  /* enum pipe */
  uint64_t count;
  uint64_t cycles;                    /* from start to end, summed: instructions may overlap */
  uint64_t critical_cycles;           /* on the chain of core/result/critical.h */
  uint64_t stall_cycles[STALL_COUNT]; /* of waits and barriers, by what they wait for */
  uint64_t queued_cycles;             /* in the queue of the pipe, before the start */
  uint64_t held_cycles;               /* of these, at its head: unit flags, a transfer before */
  uint64_t bank_cycles;               /* lost to conflicts of the banks of UB */
  uint64_t bytes;                     /* moved */
};

struct hotspots {
  struct hotspot *rows; /* most critical cycles first, then most cycles, then by line */
  size_t count;
  uint32_t core; /* whose chain is the critical one; core_count: nothing was recorded */
};

/* Needs the event store (max_events of the run options). For hotspots_free(). */
VINCI_MUST_CHECK enum vinci_status hotspots_find(const struct vinci_result *result,
                                                 struct hotspots *out, struct vinci_diag *diag);
void hotspots_free(struct hotspots *hotspots);

#endif
