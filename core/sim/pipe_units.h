/* SPDX-License-Identifier: Apache-2.0 */
/* Unit flags of L0C in the timed core (core/control/unit_flag.h): what pipes M and FIX ask and
 * tell. */
#ifndef VINCI_CORE_SIM_PIPE_UNITS_H
#define VINCI_CORE_SIM_PIPE_UNITS_H

#include "core/sim/aicore.h"

bool pipe_units_create(struct aicore *core, struct arena *arena);
/* Keeps the units of an instruction that is put into a queue. */
void pipe_units_queue(struct pipe_unit *pipe, struct pipe_entry *entry, const struct inst *inst);
/* Whether the head of M or FIX may start at `now`; if not, it is woken when it may. */
bool pipe_units_allow(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t now);
/* The head has started, or a transfer out of L0C has ended: units change sides. */
void pipe_units_started(struct pipe_unit *pipe, const struct pipe_entry *entry, uint64_t start);
void pipe_units_moved(struct aicore *core, uint64_t first_cycle, uint64_t end_cycle);
/* The first unit that holds the head of a pipe back; units.set.units when there is none. */
uint32_t pipe_units_blocked(const struct pipe_unit *pipe);

#endif
