/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state that an instruction finds costs: code that the cache does not hold, an L2 that has
 * not held the data, or has dropped that, scalar work that others wait for, a vector unit that
 * drains before the next instruction. Accounts and timelines have the same names.
 */
#ifndef VINCI_CORE_RESULT_STATE_H
#define VINCI_CORE_RESULT_STATE_H

#include "core/result/result.h"

enum state_part {
  STATE_CODE,
  STATE_COLD_L2,
  STATE_REFETCH,
  STATE_SCALAR,
  STATE_DEPENDENT_VECTOR,
  STATE_PARTS
};

/* "code_cycles", as in report.json, in timelines and in the documentation. */
const char *state_key(enum state_part part);
/* Whether cycles of this cause, on this path, are device memory that gives what L2 has not held. */
bool state_is_cold(enum cause cause, unsigned path);
/* Cycles of one recorded instruction; `drawn` is the length of its bar, which for a wait or a
 * barrier begins where the pipe has run dry. */
uint64_t state_of_event(const struct result_event *event, uint64_t drawn, enum state_part part);

#endif
