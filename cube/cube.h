/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix unit: what mad costs and touches. It works through tiles of
 * cube.m x cube.k_bytes x cube.n, one after the other, on L0A, L0B and L0C.
 */
#ifndef VINCI_CUBE_CUBE_H
#define VINCI_CUBE_CUBE_H

#include "core/inst.h"
#include "core/values.h"

/* Operands of mad, in signature order. */
enum {
  MAD_C,
  MAD_A,
  MAD_B,
  MAD_M,
  MAD_K,
  MAD_N,
  MAD_INIT,
  MAD_UNIT_FLAG,
  MAD_SOURCE,
  MAD_BIAS,
  MAD_ARGS
};
enum { MAD_SOURCE_L0C, MAD_SOURCE_BT };

void cube_mad_cost(const struct vinci_soc *soc, const struct inst *inst, struct inst_cost *cost);
unsigned cube_mad_access(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_access *access);
void cube_mad_values(const struct vinci_soc *soc, const struct inst *inst, struct value_core *core);

#endif
