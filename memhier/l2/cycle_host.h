/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory behind L2 that another simulator owns, for the cycle-level memory system. */
#ifndef VINCI_MEMHIER_L2_CYCLE_HOST_H
#define VINCI_MEMHIER_L2_CYCLE_HOST_H

#include "memhier/l2/cycle.h"

VINCI_MUST_CHECK bool cycle_host_create(struct memsys *memory, struct arena *arena,
                                        const struct memory_host *host);
/* How many requests granules of a line are. */
unsigned cycle_host_operations(uint32_t granules);
/* Sends those of a kind of operation; each ends as an operation of the request. */
void cycle_host_submit(struct memory_request *request, unsigned kind);
void cycle_host_answer(struct memsys *memory, uint64_t id, uint64_t at_ps);
uint64_t cycle_host_read_bytes(const struct memsys *memory);

#endif
