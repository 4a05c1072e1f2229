/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of copies that leave data as it is, of the pads of unaligned copies, of ND2NZ and of
 * fills; and what is written to GM, where atomics change the result.
 */
#include "core/base/diag.h"
#include "core/base/number.h"
#include "memhier/transfer/transfer.h"

uint8_t *transfer_bytes(const struct inst *inst, const struct value_core *core, unsigned arg) {
  return core->bytes[isa_row((enum isa_op)inst->op)->arg[arg].space] + inst->arg[arg];
}

/* ---- atomics ---- */

static float combine_floats(enum atomic_op op, float old, float value) {
  if (op == ATOMIC_ADD)
    return fp32_result(old + value);
  if (old != old || value != value)
    return fp32_from_bits(NUMBER_FP32_NAN);
  if (old == value) /* +0 is larger than -0 */
    return fp32_from_bits(op == ATOMIC_MAX ? fp32_bits(old) & fp32_bits(value)
                                           : fp32_bits(old) | fp32_bits(value));
  return (op == ATOMIC_MAX) == (old > value) ? old : value;
}

/* Sums of integers wrap around; the caller keeps the low bits. */
static int64_t combine_integers(enum atomic_op op, int64_t old, int64_t value) {
  if (op == ATOMIC_ADD)
    return old + value;
  return (op == ATOMIC_MAX) == (old > value) ? old : value;
}

static void combine_element(enum atomic_op op, enum dtype type, bool saturates, uint8_t *to,
                            const uint8_t *from) {
  uint16_t code;
  switch (type) {
  case DTYPE_FP32:
    store_fp32(to, combine_floats(op, load_fp32(to), load_fp32(from)));
    break;
  case DTYPE_FP16:
    code = fp16_from_fp32(
        combine_floats(op, fp16_to_fp32(load_u16(to)), fp16_to_fp32(load_u16(from))));
    store_u16(to, saturates ? fp16_saturate(code) : code);
    break;
  case DTYPE_BF16:
    code = bf16_from_fp32(
        combine_floats(op, bf16_to_fp32(load_u16(to)), bf16_to_fp32(load_u16(from))));
    store_u16(to, code);
    break;
  case DTYPE_INT32:
    store_u32(to, (uint32_t)combine_integers(op, load_i32(to), load_i32(from)));
    break;
  case DTYPE_INT16:
    store_u16(to, (uint16_t)combine_integers(op, load_i16(to), load_i16(from)));
    break;
  case DTYPE_INT8:
    *to = (uint8_t)combine_integers(op, (int8_t)*to, (int8_t)*from);
    break;
  default:
    vinci_bug("no atomics on %s", dtype_name(type));
  }
}

void transfer_store(const struct inst *inst, uint8_t *to, const uint8_t *from, uint64_t bytes) {
  const struct inst_registers *registers = &inst->registers;
  enum space space = (enum space)isa_row((enum isa_op)inst->op)->arg[TRANSFER_DST].space;
  if (registers->atomic == ATOMIC_NONE || space != SPACE_GM) {
    memmove(to, from, bytes);
    return;
  }
  enum dtype type = (enum dtype)registers->atomic_type;
  uint64_t element = dtype_bits(type) / BITS_PER_BYTE;
  for (uint64_t i = 0; i + element <= bytes; i += element)
    combine_element((enum atomic_op)registers->atomic, type, inst_saturates(inst), to + i,
                    from + i);
}

/* ---- copies ---- */

/* fp16 to fp32 on the way to the bias table. */
static void copy_widened(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes / sizeof(uint16_t); i++)
    store_fp32(to + i * sizeof(float), fp16_to_fp32(load_u16(from + i * sizeof(uint16_t))));
}

static void copy_bursts(const struct inst *inst, uint8_t *to, const uint8_t *from) {
  struct transfer_runs src = transfer_burst_runs(inst, TRANSFER_SRC);
  struct transfer_runs dst = transfer_burst_runs(inst, TRANSFER_DST);
  for (uint64_t i = 0; i < src.count; i++) {
    if (dst.bytes == src.bytes)
      transfer_store(inst, to, from, src.bytes);
    else
      copy_widened(to, from, src.bytes);
    to += dst.stride_bytes;
    from += src.stride_bytes;
  }
}

void transfer_burst_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core) {
  (void)soc;
  copy_bursts(inst, transfer_bytes(inst, core, TRANSFER_DST),
              transfer_bytes(inst, core, TRANSFER_SRC));
}

void transfer_beside_values(const struct vinci_soc *soc, const struct inst *inst,
                            struct value_core *core) {
  uint8_t *beside = core->aic_l1;
  if (inst->op == OP_COPY_CBUF_TO_UBUF)
    beside = core->aiv_ub[inst->arg[BURST_SUB_SUB]];
  if (inst->arch == ARCH_C310)
    copy_bursts(inst, beside + inst->arg[TRANSFER_DST], transfer_bytes(inst, core, TRANSFER_SRC));
  else
    transfer_burst_values(soc, inst, core);
}

/* Bytes of the pad value from one on to another; elements start at 0. */
static void fill_pad(uint8_t *to, uint64_t first, uint64_t end, uint64_t value, uint64_t element) {
  for (uint64_t i = first; i < end; i++)
    to[i] = (uint8_t)(value >> (i % element * BITS_PER_BYTE));
}

/*
 * One run into UB. The pads, and what is missing of the last block, take the pad value; without
 * any pads the last block is filled up with the first element of the run.
 */
static void pad_run(const struct inst *inst, uint8_t *to, const uint8_t *from, uint64_t bytes,
                    uint64_t padded_bytes) {
  uint64_t element = transfer_element_bytes(inst);
  uint64_t left = (uint64_t)inst->arg[ALIGN_LEFT_PAD] * element;
  bool pads = inst->arg[ALIGN_LEFT_PAD] || inst->arg[ALIGN_RIGHT_PAD];
  uint64_t value = inst->registers.pad_value;
  if (!pads)
    value = load_low(from, bytes < element ? bytes : element);
  memmove(to + left, from, bytes);
  fill_pad(to, 0, left, value, element);
  fill_pad(to, left + bytes, padded_bytes, value, element);
}

void transfer_align_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core) {
  (void)soc;
  struct transfer_runs src, dst;
  transfer_align_runs(inst, &src, &dst);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC);
  bool reads_gm = path_from(transfer_path(inst)) == SPACE_GM;
  for (uint64_t i = 0; i < src.count && src.bytes; i++) {
    if (reads_gm)
      pad_run(inst, to, from, src.bytes, dst.bytes);
    else
      transfer_store(inst, to, from, src.bytes);
    to += dst.stride_bytes;
    from += src.stride_bytes;
  }
}

/* One row into the columns of blocks; what the last block lacks becomes 0. */
static void scatter_row(const struct inst *inst, uint8_t *to, const uint8_t *from, uint64_t bytes) {
  uint64_t column_bytes = (uint64_t)inst->arg[ND2NZ_DST_C0_STRIDE] * BLOCK_BYTES;
  for (uint64_t done = 0; done < bytes; done += BLOCK_BYTES) {
    uint64_t part = bytes - done < BLOCK_BYTES ? bytes - done : BLOCK_BYTES;
    memcpy(to, from + done, part);
    memset(to + part, 0, BLOCK_BYTES - part);
    to += column_bytes;
  }
}

void transfer_nd2nz_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core) {
  (void)soc;
  uint64_t element = transfer_element_bytes(inst);
  struct transfer_runs rows = transfer_nd2nz_rows(inst);
  uint64_t matrices = (uint64_t)inst->arg[ND2NZ_NUMBER];
  uint64_t row_bytes = (uint64_t)inst->arg[ND2NZ_DST_N_STRIDE] * BLOCK_BYTES;
  for (uint64_t matrix = 0; matrix < matrices; matrix++) {
    const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC) +
                          matrix * (uint64_t)inst->arg[ND2NZ_SRC_ND_STRIDE] * element;
    uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST) +
                  matrix * (uint64_t)inst->arg[ND2NZ_DST_ND_STRIDE] * element;
    for (uint64_t row = 0; row < rows.count; row++)
      scatter_row(inst, to + row * row_bytes, from + row * rows.stride_bytes, rows.bytes);
  }
}

void transfer_fill_values(const struct vinci_soc *soc, const struct inst *inst,
                          struct value_core *core) {
  (void)soc;
  struct transfer_runs runs = transfer_fill_runs(inst);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  uint32_t value = (uint32_t)inst->arg[FILL_VALUE];
  for (uint64_t i = 0; i < runs.count; i++, to += runs.stride_bytes)
    for (uint64_t at = 0; at < runs.bytes; at += sizeof value)
      store_u32(to + at, value);
}
