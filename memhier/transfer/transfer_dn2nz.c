/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy of the 950 that transposes matrices on the way into NZ order: d rows of n elements in
 * GM become n rows of d elements in columns of blocks. Cost as of ND2NZ, for want of a
 * measurement. Left out: the mode for at most 4 rows.
 */
#include <string.h>

#include "memhier/transfer/transfer.h"

/* Rows of one matrix in GM. */
static struct transfer_runs rows_of(const struct inst *inst) {
  uint64_t element = transfer_element_bytes(inst);
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[DN2NZ_D],
      .bytes = (uint64_t)inst->arg[DN2NZ_N] * element,
      .stride_bytes = (uint64_t)inst->arg[DN2NZ_SRC_D] * element,
  };
}

/* Rows of further matrices are taken to follow at the row distance: bytes stay exact. */
void transfer_dn2nz_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  struct transfer_runs rows = rows_of(inst);
  rows.count *= (uint64_t)inst->arg[DN2NZ_NUMBER];
  transfer_cost_gm(soc, transfer_path(inst), transfer_address(inst, TRANSFER_SRC), rows, cost);
  transfer_reorder(soc, rows, cost);
}

unsigned transfer_dn2nz_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  (void)soc;
  uint64_t element = transfer_element_bytes(inst);
  uint64_t matrices = (uint64_t)inst->arg[DN2NZ_NUMBER];
  struct transfer_runs rows = rows_of(inst);
  struct transfer_runs src[] = {
      {.count = matrices, .stride_bytes = (uint64_t)inst->arg[DN2NZ_SRC_DN_STRIDE] * element},
      rows,
  };
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC, 0, src, 2);
  if (rows.count == 0 || rows.bytes == 0)
    return count;
  struct transfer_runs dst[] = {
      {.count = matrices, .stride_bytes = (uint64_t)inst->arg[DN2NZ_DST_NZ_STRIDE] * element},
      {.count = ceil_div(rows.count * element, BLOCK_BYTES),
       .stride_bytes = (uint64_t)inst->arg[DN2NZ_DST_C0_STRIDE] * BLOCK_BYTES},
      {.count = (uint64_t)inst->arg[DN2NZ_N],
       .bytes = BLOCK_BYTES,
       .stride_bytes = (uint64_t)inst->arg[DN2NZ_DST_N_STRIDE] * BLOCK_BYTES},
  };
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, dst, 3);
}

/* Row n of the result: a column of the source; what the last block lacks becomes 0. */
static void gather_row(const struct inst *inst, uint8_t *to, const uint8_t *column) {
  uint64_t element = transfer_element_bytes(inst), per_block = BLOCK_BYTES / element;
  uint64_t d = (uint64_t)inst->arg[DN2NZ_D];
  struct transfer_runs rows = rows_of(inst);
  for (uint64_t first = 0; first < d; first += per_block) {
    for (uint64_t i = 0; i < per_block; i++) {
      if (first + i < d)
        memcpy(to + i * element, column + (first + i) * rows.stride_bytes, element);
      else
        memset(to + i * element, 0, element);
    }
    to += (uint64_t)inst->arg[DN2NZ_DST_C0_STRIDE] * BLOCK_BYTES;
  }
}

void transfer_dn2nz_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core) {
  (void)soc;
  uint64_t element = transfer_element_bytes(inst);
  uint64_t row_bytes = (uint64_t)inst->arg[DN2NZ_DST_N_STRIDE] * BLOCK_BYTES;
  for (uint64_t matrix = 0; matrix < (uint64_t)inst->arg[DN2NZ_NUMBER]; matrix++) {
    const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC) +
                          matrix * (uint64_t)inst->arg[DN2NZ_SRC_DN_STRIDE] * element;
    uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST) +
                  matrix * (uint64_t)inst->arg[DN2NZ_DST_NZ_STRIDE] * element;
    for (uint64_t n = 0; n < (uint64_t)inst->arg[DN2NZ_N]; n++)
      gather_row(inst, to + n * row_bytes, from + n * element);
  }
}
