/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to start a kernel on many cores. */
#ifndef VINCI_TRACES_LOWER_LAUNCH_H
#define VINCI_TRACES_LOWER_LAUNCH_H

#include "core/chip/soc.h"

/* Cycles of the core clock from the launch of a kernel to the start of its last block. */
uint64_t launch_cycles(const struct vinci_soc *soc, uint64_t blocks);
/* The part of that which each block adds. */
uint64_t launch_spread_cycles(const struct vinci_soc *soc, uint64_t blocks);
/*
 * How many cores, at most `cores`, have equal pieces of work done first, each piece taking a core
 * so many cycles: every core more shares the work and takes its time to start.
 */
uint64_t launch_cores(const struct vinci_soc *soc, uint64_t cores, uint64_t pieces,
                      uint64_t piece_cycles);
/* Cycles of all that, the launch included. */
uint64_t launch_work_cycles(const struct vinci_soc *soc, uint64_t cores, uint64_t pieces,
                            uint64_t piece_cycles);

#endif
