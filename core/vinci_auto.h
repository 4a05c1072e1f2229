/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: durations with an error bar. With VINCI_MEMORY_AUTO a run takes cycle memory, and flat
 * memory beside it where that may say the duration before the run has ended:
 *
 *     struct vinci_run_options options = {.struct_size = sizeof options, .memory =
 * VINCI_MEMORY_AUTO}; struct vinci_auto_bar bar; if (vinci_run(soc, trace, &options, &result,
 * &diag) == VINCI_OK && vinci_result_auto(result, &bar)) printf("%" PRIu64 " cycles, +- %" PRIu64 "
 * ppm\n", vinci_result_total_cycles(result), bar.error_bar_ppm);
 *
 * The bar is a distance from the run in cycle memory: inside lie 99 of 100 random operators, and 8
 * to 9 of 10 of those that are not all in cycle memory (make auto). It says nothing of the distance
 * from silicon.
 */
#ifndef VINCI_AUTO_H
#define VINCI_AUTO_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the duration is from. Counters of all parts are those of one run, see counters_of_flat. */
enum vinci_auto_from {
  VINCI_AUTO_FLAT,   /* flat memory: little waits for memory, or all of that is hidden */
  VINCI_AUTO_PREFIX, /* flat memory, corrected by the first part of the run in cycle memory */
  VINCI_AUTO_CYCLE,  /* the whole run in cycle memory: the bar is 0 */
};

struct vinci_auto_bar {
  enum vinci_auto_from from;
  uint64_t error_bar_ppm; /* of the duration, to both sides */
  uint64_t flat_cycles;   /* duration with flat memory; 0: it was not asked, or of no use */
  uint64_t simulated_ppm; /* share of the traffic with GM that cycle memory has simulated */
  bool counters_of_flat; /* pipes, cores, bytes, L2 and device memory: flat_cycles is their total */
};

/* False: the run was not one of VINCI_MEMORY_AUTO. */
VINCI_API bool vinci_result_auto(const vinci_result *result, struct vinci_auto_bar *out);
/* "flat", "prefix", "cycle" */
VINCI_API const char *vinci_auto_from_name(enum vinci_auto_from from);

#ifdef __cplusplus
}
#endif

#endif
