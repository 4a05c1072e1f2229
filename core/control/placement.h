/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which physical cores a trace uses, which of them a block of a kernel occupies, and how far the
 * blocks of the running kernel are. When a block starts and which free unit takes the block is up
 * to the user.
 */
#ifndef VINCI_CORE_CONTROL_PLACEMENT_H
#define VINCI_CORE_CONTROL_PLACEMENT_H

#include "core/control/misuse.h"
#include "core/isa/program.h"

/* What a block occupies: one core, or in a mixed kernel an AIC and its AIV. */
enum { UNIT_CORES_MAX = 3 };

struct placement_unit {
  uint32_t core[UNIT_CORES_MAX]; /* the AIC comes first */
  uint32_t core_count;
  uint32_t running; /* cores that have not finished the present block */
};

/* Cores are numbered as in results: kinds follow each other in the order of their enum. */
struct placement {
  const struct vinci_soc *soc;
  const struct vinci_trace *trace;
  uint32_t core_count;
  uint32_t first_core[CORE_KIND_COUNT];
  uint32_t kind_count[CORE_KIND_COUNT];
  const struct program_kernel *kernel; /* the running one; NULL before the first */
  struct placement_unit *units;        /* of the running kernel */
  uint32_t unit_count;
  uint32_t *unit_of; /* by core: the unit it belongs to */
  uint32_t next_block;
  uint32_t blocks_done;
};

/* Counts the cores; nothing else is there then. */
void placement_count(struct placement *placement, const struct vinci_soc *soc,
                     const struct vinci_trace *trace);
/* Counts the cores and makes room for units. The trace must be one that the chip can run. */
enum vinci_status placement_create(struct placement *placement, struct arena *arena,
                                   const struct vinci_soc *soc, const struct vinci_trace *trace,
                                   struct vinci_diag *diag);
enum core_kind placement_kind(const struct placement *placement, uint32_t core);
/* "core0.cubecore0", as the vendor's tools name cores. */
void placement_core_name(const struct placement *placement, uint32_t core, char *buffer,
                         size_t size);
/* Kind of the cores that count the blocks of a kernel: the AIC of a mixed kernel. */
enum core_kind placement_kernel_kind(const struct program_kernel *kernel);
/* Launches a kernel: unit u is the u-th core or cluster, and all are free. */
void placement_launch(struct placement *placement, const struct program_kernel *kernel);
/* Gives the next block to a free unit; the block's place in the order of blocks. */
uint32_t placement_take(struct placement *placement, struct placement_unit *unit);
/* A core has finished its block; whether all cores of the unit have. */
bool placement_core_done(struct placement *placement, uint32_t core);
/* Reports what a core did in a line; returns VINCI_E_INPUT. */
enum vinci_status placement_report(const struct placement *placement, uint32_t core, uint32_t line,
                                   const struct misuse *misuse, struct vinci_diag *diag);

#endif
