/* SPDX-License-Identifier: Apache-2.0 */
/* A core in execution, and what becomes of its faults (faults.c). */
#ifndef VINCI_KERNELS_SOURCE_FIBER_H
#define VINCI_KERNELS_SOURCE_FIBER_H

#include <stdint.h>

#include "kernels/source/code.h"
#include "kernels/source/switch.h"

/* A frame of the kernel that is larger than the stack meets closed pages too. */
enum { STACK_BYTES = 1 << 20, GUARD_BYTES = 1 << 26 };

struct source_fiber {
  struct vinci_cce_host host; /* first: intrinsics come back with its address */
  struct source_core core;
  struct source_code loaded;
  char *stack;
  struct source_switch code, caller;
  bool ended, failed, paused;
  uint64_t heap;       /* bytes of the host that the code has asked for */
  const char *refused; /* what the host has refused, and the code has gone on; NULL: nothing */
  uint32_t refused_line;
};

/* The text of a run for the time alone whose code needs what was left out. */
#define TEXT_UNKNOWN "the code reads what a run without values does not compute"
#define HINT_UNKNOWN "run with values (VINCI_VALUES=1): the way of this kernel depends on them"

#define TEXT_LEFT "kernel %s left the process"

/* For each block: the stack of handlers is that of a thread, and another kernel may have switched
 * the clock off. */
bool source_faults_start(struct source *source);
void source_faults_end(void);
/* Whose faults they are from now on; NULL: nobody's. */
void source_faults_of(struct source_fiber *fiber);
/* Reports what the host has refused; false when that is nothing. */
bool source_faults_refused(struct source_fiber *fiber);
/* The line of the source of a place in the code; 0: not known. */
uint32_t source_fiber_line(const struct source_fiber *fiber, uint64_t address);

#endif
