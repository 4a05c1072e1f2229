/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of a run went, cycle by cycle, each cycle once: along the chain of
 * instructions that leads to the end of the core that ends last. The parts sum to the total
 * exactly, so the difference of two runs splits into differences of parts.
 */
#ifndef VINCI_CORE_RESULT_CRITICAL_H
#define VINCI_CORE_RESULT_CRITICAL_H

#include "core/isa/isa.h"
#include "core/result/result.h"

/* What is no instruction: before the first one, between two, after the last. */
enum critical_rest { CRITICAL_LAUNCH, CRITICAL_IDLE, CRITICAL_END, CRITICAL_RESTS };

struct critical_part {
  uint64_t count;  /* instructions on the chain */
  uint64_t cycles; /* of the core clock, as total_cycles */
};

struct critical_path {
  uint32_t core; /* in result->cores; core_count when nothing was recorded */
  struct critical_part part[PIPE_COUNT][OP_COUNT];
  uint64_t rest[CRITICAL_RESTS];
};

const char *critical_rest_name(enum critical_rest rest);

/*
 * Walks back from the end: to the instruction whose end let the last one go on, or that was
 * running then, and so on to the launch. Needs the event store (max_events of the run
 * options); events that were dropped are missing from the chain and count as idle.
 */
VINCI_MUST_CHECK enum vinci_status critical_find(const struct vinci_result *result,
                                                 struct critical_path *out,
                                                 struct vinci_diag *diag);

#endif
