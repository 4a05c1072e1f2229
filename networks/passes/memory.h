/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors do not lie in device memory all their life (memory.c), and how the graph changes
 * for that (memory_change.c). */
#ifndef VINCI_NETWORKS_PASSES_MEMORY_H
#define VINCI_NETWORKS_PASSES_MEMORY_H

#include "networks/passes/pass.h"

enum way { RECOMPUTE, SWAP };
/* Of a memory: it is there in all the run; it stays where it is; it has been moved. */
enum { FIXED = 1, STAYS = 2, MOVED = 4 };

/* A memory between two of its uses, which nobody writes later. */
struct wait {
  uint32_t memory, before, next; /* the tensor; nodes: the last use before, the next */
  uint32_t from, to;             /* nodes at which the memory is another's, both included */
  uint64_t bytes, cost_ps;
  enum way way;
};

struct relief {
  struct pass_context *pass;
  struct rewrite *rewrite;
  uint64_t limit;
  bool may[2];
  uint64_t *alive;            /* by node: bytes */
  uint64_t *ps;               /* by node: its estimate, and the gap */
  uint64_t *copies[2];        /* by node: of that, covers copies to the host, to the device */
  uint32_t *uses, *use_start; /* of each memory: nodes in their order, without repetition */
  uint8_t *state;             /* by memory */
  uint32_t *written;          /* by memory: the last node that writes there */
  struct wait *chosen;
  uint32_t chosen_count;
};

/* Whether a node that is no view writes into a memory. */
bool relief_writes(const struct relief *relief, uint32_t index, uint32_t memory);
/* Changes the graph for what was chosen of one way. */
void relief_apply(const struct relief *relief, enum way way);

#endif
