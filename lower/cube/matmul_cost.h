/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of estimates that operators of the cube share (matmul_cost.c). */
#ifndef VINCI_LOWER_CUBE_MATMUL_COST_H
#define VINCI_LOWER_CUBE_MATMUL_COST_H

#include "lower/cube/matmul.h"

/* What a core does again and again: a block, or a part of a block. */
struct cube_round {
  uint64_t count; /* of the busiest core */
  uint64_t m, n, k_tiles, steps;
  uint64_t panels;           /* of both operands */
  uint64_t a_bytes, b_bytes; /* to L0A and L0B */
  bool at_once;              /* a load brings all of a step, on coupled cores too */
};
/* Cycles of the cube and of MTE1. */
void cube_cost_rounds(struct lower_job *job, const struct matmul *mm,
                      const struct cube_round *round);
/* Cycles for bytes at a rate of thousandths of a byte per cycle. */
uint64_t cube_cycles_at(uint64_t bytes, uint64_t mbytes_per_cycle);
/* The rate of one core's path, or its share of what L2 gives to all cores. */
uint64_t cube_rate(const struct vinci_soc *soc, enum path path, uint64_t cores);
/* What the fixpipe takes at least for fp32 in columns of 8. */
uint64_t cube_split_cycles(const struct vinci_soc *soc, uint64_t bytes);
uint64_t cube_store_cycles(const struct vinci_soc *soc, enum path path, uint64_t bytes,
                           uint64_t cores);
/* How the busiest core's work is cut: all its blocks, groups, turns, and steps in L0. */
struct cube_line {
  uint64_t blocks, groups, turns, steps;
  uint64_t depth, outer_k, inner_k; /* of a block, and of its panels */
  uint64_t first_cycles;            /* of the panels that the first turn waits for */
  uint64_t group_cycles;            /* of the inner panels of a group */
  uint64_t device_cycles;           /* of device memory for the bytes of all cores */
  bool is_cut;                      /* the last block is smaller than others */
  uint64_t block_start; /* cycles of the cube for each block that begins with an empty L0C */
};
/* The busiest pipe of the busiest core, its first panels and its last block, and the launch. */
uint64_t cube_total_cycles(const struct lower_job *job, const struct matmul_tiling *t,
                           const struct cube_line *line);

#endif
