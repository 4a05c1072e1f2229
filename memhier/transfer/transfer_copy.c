/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies that leave data as it is, by runs of blocks or of bytes, and the copy that
 * turns ND matrices into NZ order on the way to L1.
 */
#include "memhier/transfer/transfer.h"

uint64_t transfer_element_bytes(const struct inst *inst) {
  return dtype_bits(inst_types(inst).src) / BITS_PER_BYTE;
}

struct transfer_runs transfer_burst_runs(const struct inst *inst, unsigned arg) {
  unsigned gap = arg == TRANSFER_SRC ? BURST_SRC_GAP : BURST_DST_GAP;
  uint64_t bytes = (uint64_t)inst->arg[BURST_LENGTH] * BLOCK_BYTES;
  /* fp16 on its way to the bias table doubles in size. */
  if (arg == TRANSFER_DST && inst->op == OP_COPY_CBUF_TO_BT && inst->arg[BURST_CONVERT])
    bytes *= 2;
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[BURST_COUNT],
      .bytes = bytes,
      .stride_bytes = bytes + (uint64_t)inst->arg[gap] * BLOCK_BYTES,
  };
}

/* The side of a path that lies in GM: its operand, or -1. */
static int gm_operand(enum path path) {
  if (path_from(path) == SPACE_GM)
    return TRANSFER_SRC;
  return path_to(path) == SPACE_GM ? TRANSFER_DST : -1;
}

void transfer_burst_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  enum path path = transfer_path(inst);
  struct transfer_runs src = transfer_burst_runs(inst, TRANSFER_SRC);
  switch (gm_operand(path)) {
  case TRANSFER_SRC:
    transfer_cost_gm(soc, path, transfer_address(inst, TRANSFER_SRC), src, cost);
    if (!(isa_row(OP_COPY_GM_TO_UBUF_ALIGN_B8)->archs & 1u << soc->arch))
      transfer_overlap(soc, cost); /* the form that stands for both */
    break;
  case TRANSFER_DST:
    transfer_cost_gm(soc, path, transfer_address(inst, TRANSFER_DST),
                     transfer_burst_runs(inst, TRANSFER_DST), cost);
    break;
  default:
    transfer_cost_local(soc, path, src.count * src.bytes, cost);
    break;
  }
}

unsigned transfer_burst_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  (void)soc;
  struct transfer_runs src = transfer_burst_runs(inst, TRANSFER_SRC);
  struct transfer_runs dst = transfer_burst_runs(inst, TRANSFER_DST);
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC, 0, &src, 1);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, &dst, 1);
}

/* Between UB and L1: on the 950 the target belongs to a core beside. */
void transfer_beside_cost(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_cost *cost) {
  transfer_burst_cost(soc, inst, cost);
}

unsigned transfer_beside_access(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_access *access) {
  unsigned count = transfer_burst_access(soc, inst, access);
  bool into_cube = inst->op == OP_COPY_UBUF_TO_CBUF;
  for (unsigned i = 0; i < count && inst->arch == ARCH_C310; i++)
    if (access[i].write)
      access[i].remote = into_cube ? ACCESS_CUBE : (uint8_t)(inst->arg[BURST_SUB_SUB] + 1);
  return count;
}

/* The GM side: runs and gaps to the byte. */
static struct transfer_runs align_gm_runs(const struct inst *inst, unsigned gap) {
  uint64_t bytes = (uint64_t)inst->arg[ALIGN_LENGTH];
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[ALIGN_COUNT],
      .bytes = bytes,
      .stride_bytes = bytes + (uint64_t)inst->arg[gap],
  };
}

/* The UB side: each run starts on a block, with padding when it is written. */
static struct transfer_runs align_ub_runs(const struct inst *inst, unsigned gap, bool padded) {
  uint64_t bytes = (uint64_t)inst->arg[ALIGN_LENGTH];
  if (padded)
    bytes += (uint64_t)(inst->arg[ALIGN_LEFT_PAD] + inst->arg[ALIGN_RIGHT_PAD]) *
             transfer_element_bytes(inst);
  uint64_t blocks = ceil_div(bytes, BLOCK_BYTES);
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[ALIGN_COUNT],
      .bytes = padded ? blocks * BLOCK_BYTES : bytes,
      .stride_bytes = (blocks + (uint64_t)inst->arg[gap]) * BLOCK_BYTES,
  };
}

static bool align_reads_gm(const struct inst *inst) {
  return path_from(transfer_path(inst)) == SPACE_GM;
}

void transfer_align_runs(const struct inst *inst, struct transfer_runs *src,
                         struct transfer_runs *dst) {
  if (align_reads_gm(inst)) {
    *src = align_gm_runs(inst, ALIGN_SRC_GAP);
    *dst = align_ub_runs(inst, ALIGN_DST_GAP, true);
  } else {
    *src = align_ub_runs(inst, ALIGN_SRC_GAP, false);
    *dst = align_gm_runs(inst, ALIGN_DST_GAP);
  }
}

/*
 * A burst that begins or ends inside a block of 32 bytes takes the engine some cycles by itself,
 * also where it follows the one before without a gap: the rows of TransData that these cycles are
 * derived from do.
 */
static void cost_unaligned(const struct vinci_soc *soc, struct transfer_runs bursts,
                           struct inst_cost *cost) {
  const struct path_cost *path = &soc->path[cost->path];
  uint64_t stride = bursts.count > 1 ? bursts.stride_bytes : 0;
  if (!cost->uses_gm || path->unaligned_mcycles == 0 ||
      (cost->gm_address | bursts.bytes | stride) % BLOCK_BYTES == 0)
    return;
  uint64_t mcycles = bursts.count * (uint64_t)path->unaligned_mcycles +
                     cost->bytes * MILLI * MILLI / (uint64_t)path->mbytes_per_cycle;
  cost->minimum_cycles = max_u64(cost->minimum_cycles, cost->latency_cycles + mcycles / MILLI);
}

void transfer_align_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  bool from_gm = align_reads_gm(inst);
  struct transfer_runs bursts = align_gm_runs(inst, from_gm ? ALIGN_SRC_GAP : ALIGN_DST_GAP);
  transfer_cost_gm(soc, transfer_path(inst),
                   transfer_address(inst, from_gm ? TRANSFER_SRC : TRANSFER_DST), bursts, cost);
  cost_unaligned(soc, bursts, cost);
  transfer_overlap(soc, cost);
}

unsigned transfer_align_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  (void)soc;
  struct transfer_runs src, dst;
  transfer_align_runs(inst, &src, &dst);
  if (src.bytes == 0)
    return 0;
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC, 0, &src, 1);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, &dst, 1);
}

struct transfer_runs transfer_nd2nz_rows(const struct inst *inst) {
  uint64_t element = transfer_element_bytes(inst);
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[ND2NZ_N],
      .bytes = (uint64_t)inst->arg[ND2NZ_D] * element,
      .stride_bytes = (uint64_t)inst->arg[ND2NZ_SRC_D] * element,
  };
}

/*
 * The GM side as runs at one distance. Exact for one matrix, for matrices without
 * gaps between rows and for matrices of one row; else rows of further matrices are
 * taken to follow at the row distance: bytes stay exact, addresses do not.
 */
static struct transfer_runs nd2nz_gm_runs(const struct inst *inst) {
  struct transfer_runs rows = transfer_nd2nz_rows(inst);
  uint64_t matrices = (uint64_t)inst->arg[ND2NZ_NUMBER];
  uint64_t distance = (uint64_t)inst->arg[ND2NZ_SRC_ND_STRIDE] * transfer_element_bytes(inst);
  if (rows.count && (rows.count == 1 || rows.stride_bytes == rows.bytes))
    return (struct transfer_runs){
        .count = matrices, .bytes = rows.count * rows.bytes, .stride_bytes = distance};
  rows.count *= matrices;
  return rows;
}

void transfer_nd2nz_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  transfer_cost_gm(soc, transfer_path(inst), transfer_address(inst, TRANSFER_SRC),
                   nd2nz_gm_runs(inst), cost);
  struct transfer_runs rows = transfer_nd2nz_rows(inst);
  rows.count *= (uint64_t)inst->arg[ND2NZ_NUMBER];
  transfer_reorder(soc, rows, cost);
}

unsigned transfer_nd2nz_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  (void)soc;
  uint64_t element = transfer_element_bytes(inst);
  struct transfer_runs rows = transfer_nd2nz_rows(inst);
  uint64_t matrices = (uint64_t)inst->arg[ND2NZ_NUMBER];
  struct transfer_runs src[] = {
      {.count = matrices, .stride_bytes = (uint64_t)inst->arg[ND2NZ_SRC_ND_STRIDE] * element},
      rows,
  };
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC, 0, src, 2);
  if (rows.count == 0 || rows.bytes == 0)
    return count;
  /* L1: rows of blocks, one column of blocks after the other; the last is filled up. */
  struct transfer_runs dst[] = {
      {.count = matrices, .stride_bytes = (uint64_t)inst->arg[ND2NZ_DST_ND_STRIDE] * element},
      {.count = ceil_div(rows.bytes, BLOCK_BYTES),
       .stride_bytes = (uint64_t)inst->arg[ND2NZ_DST_C0_STRIDE] * BLOCK_BYTES},
      {.count = rows.count,
       .bytes = BLOCK_BYTES,
       .stride_bytes = (uint64_t)inst->arg[ND2NZ_DST_N_STRIDE] * BLOCK_BYTES},
  };
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, dst, 3);
}
