/* SPDX-License-Identifier: Apache-2.0 */
/* What the estimates of all templates share, in cycles of the core. */
#ifndef VINCI_LOWER_ESTIMATE_ESTIMATE_H
#define VINCI_LOWER_ESTIMATE_ESTIMATE_H

#include "core/chip/soc.h"

/* Cycles of the core clock from the launch of a kernel on cores of a kind to the start of its last
 * block. */
uint64_t launch_cycles(const struct vinci_soc *soc, enum core_kind kind, uint64_t blocks);
/* The part of that which each block adds. */
uint64_t launch_spread_cycles(const struct vinci_soc *soc, enum core_kind kind, uint64_t blocks);
/* The same of block `index`, from the start of the first. */
uint64_t launch_block_cycles(const struct vinci_soc *soc, enum core_kind kind, uint64_t blocks,
                             uint64_t index);
/*
 * How many vector cores, at most `cores`, have equal pieces of work done first, each piece taking a
 * core N cycles: every core more shares the work and takes its time to start.
 */
uint64_t launch_cores(const struct vinci_soc *soc, uint64_t cores, uint64_t pieces,
                      uint64_t piece_cycles);
/* Cycles of all that, the launch included. */
uint64_t launch_work_cycles(const struct vinci_soc *soc, uint64_t cores, uint64_t pieces,
                            uint64_t piece_cycles);

/* From the start of a block to its first copy: the wait for code that all cores fetch, and scalar
 * work. */
uint64_t estimate_start(const struct vinci_soc *soc, enum kernel_code code, uint64_t blocks);
/* What the first read from GM of each core waits for those of the others (core/sim/pipe.c). */
uint64_t estimate_first_read(const struct vinci_soc *soc, uint64_t blocks);
/* What an instruction of a kernel takes the scalar unit. */
uint64_t kernel_issue_cycles(const struct vinci_soc *soc, enum kernel_code code);
/* What more blocks than one on cores of the cube add: to the launch, and to the wait for code. */
uint64_t start_spread_cycles(const struct vinci_soc *soc, enum kernel_code code, uint64_t blocks);
/* What a copy that follows another of its core takes before its bytes move: the whole start-up,
 * unless copies of the path overlap. */
uint64_t estimate_next_mcycles(const struct path_cost *path);
/* Copies of one core that together move N bytes over a path; data come from device memory. */
uint64_t estimate_copies(const struct path_cost *path, uint64_t bytes, uint64_t copies);
/* Copies that reorder rows on the way into L1: what the engine takes for their lines. Rows
 * are `stride_bytes` apart, 0: that is not known. */
uint64_t estimate_reorder(const struct vinci_soc *soc, uint64_t rows, uint64_t row_bytes,
                          uint64_t stride_bytes);
/* Of all cores, what device memory takes: what is written stays in L2 as far as L2 can hold that.
 */
uint64_t estimate_memory(const struct vinci_soc *soc, uint64_t in_bytes, uint64_t out_bytes);
/*
 * Equal cores that read device memory, from the start of the first core up to when the last core
 * has read all and works on its last tile. A core that has device memory to itself reads its first
 * tile, `in_bytes` in `in_cycles`, then `rest_bytes` in `rest_cycles`, of these `ahead_bytes` at
 * once into a buffer that is free. In each turn of `turn_cycles` results go out in `out_cycles`, of
 * which `moving_cycles` move bytes, in `out_pieces` pieces. With one buffer `beside_cycles` is what
 * is done while the next tile comes in.
 */
enum { FLOW_PIECE_BYTES = 4096 }; /* that an engine moves at once (memhier/l2/flat.c) */
struct estimate_flow {
  enum core_kind kind;
  uint64_t launched; /* blocks of the kernel; 0: all cores start at once */
  uint64_t cores;    /* that have work */
  uint64_t in_bytes, in_cycles, ahead_bytes, rest_bytes, rest_cycles;
  uint64_t turn_cycles, out_cycles, moving_cycles, beside_cycles, out_pieces;
};
uint64_t estimate_flow(const struct vinci_soc *soc, const struct estimate_flow *flow);
/*
 * How long device memory, which takes `memory` for the work of all cores, is not fully at work as
 * these start one after the other over `spread`. A core with the memory to itself takes `alone`.
 */
uint64_t estimate_memory_idle(uint64_t memory, uint64_t spread, uint64_t alone);

#endif
