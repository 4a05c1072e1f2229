/* SPDX-License-Identifier: Apache-2.0 */
/* What the state that instructions find costs, by instruction. */
#include "core/result/state.h"

#include <string.h>

#include "core/isa/isa.h"

const char *state_key(enum state_part part) {
  static const char *const keys[STATE_PARTS] = {"code_cycles", "cold_l2_cycles", "refetch_cycles",
                                                "scalar_cycles", "dependent_vector_cycles"};
  return keys[part];
}

bool state_is_cold(enum cause cause, unsigned path) {
  static const char reads[] = "GM->"; /* what is written need not have been there */
  switch (cause) {
  case CAUSE_DRAM_ACCESS:
  case CAUSE_DRAM_ROW:
  case CAUSE_DRAM_TURN:
  case CAUSE_DRAM_REFRESH:
  case CAUSE_DRAM_QUEUE:
    return path < PATH_COUNT && strncmp(path_name((enum path)path), reads, sizeof reads - 1) == 0;
  default:
    return false;
  }
}

static uint64_t of_causes(const struct result_event *event, enum state_part part) {
  uint64_t cycles = 0;
  for (unsigned i = 0; i < EVENT_CAUSES; i++) {
    enum cause cause = (enum cause)event->cause[i];
    if (part == STATE_REFETCH ? cause == CAUSE_REFETCH : state_is_cold(cause, event->member))
      cycles += event->cause_cycles[i];
  }
  return cycles;
}

uint64_t state_of_event(const struct result_event *event, uint64_t drawn, enum state_part part) {
  uint64_t own = event->end_cycle - event->start_cycle;
  switch (part) {
  case STATE_CODE:
    return event->op == OP_CODE_FETCH ? own : 0;
  case STATE_SCALAR:
    return event->op == OP_SCALAR ? own : 0;
  case STATE_DEPENDENT_VECTOR:
    return event->op == OP_PIPE_BARRIER && event->pipe == PIPE_V ? drawn : 0;
  default:
    return of_causes(event, part);
  }
}
