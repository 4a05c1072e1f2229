/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of threads of the 950. Cost: the unit has 4 schedulers of warps of 32 threads
 * (documentation of the vendor), each of which is taken to issue an instruction of a warp in each
 * cycle (assumed). Threads of a function are taken to be alike, so a warp has as many instructions
 * as a thread has on average; an instruction of the chip is taken to be one of the host (assumed).
 *
 * Left out: what it takes to start threads, branches that part a warp, waits for memory, and the
 * bytes of loads and stores.
 */
#include "vector/vector.h"

enum { WARP_THREADS = 32, WARP_SCHEDULERS = 4 };

void simt_call_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost) {
  (void)soc;
  uint64_t threads = (uint64_t)inst->arg[THREADS_COUNT];
  uint64_t each = ceil_div((uint64_t)inst->arg[THREADS_INSTRUCTIONS], threads);
  uint64_t rounds = ceil_div(threads, (uint64_t)WARP_THREADS * WARP_SCHEDULERS);
  *cost = (struct inst_cost){.path = PATH_NONE};
  cost->issue_cycles = cost->latency_cycles = max_u64(each * rounds, 1);
}

/* The code tells of its accesses itself (kernels/source/told.c). */
unsigned simt_call_access(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_access *access) {
  (void)soc, (void)inst, (void)access;
  return 0;
}
