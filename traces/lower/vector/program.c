/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of straight-line vector programs; conversions between all types. */
#include "traces/lower/vector/program.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/isa/isa.h"

long long vscalar_bits(enum dtype type, double value) {
  switch (type) {
  case DTYPE_FP32:
    return (long long)fp32_bits((float)value);
  case DTYPE_FP16:
    return (long long)fp16_from_fp32((float)value);
  case DTYPE_BF16:
    return (long long)bf16_from_fp32((float)value);
  default:
    return (long long)value;
  }
}

void vmachine_order(struct vmachine *machine, uint32_t reads, uint32_t writes) {
  if ((machine->written & (reads | writes)) || (machine->read & writes)) {
    emit_barrier(machine->emit, PIPE_V);
    machine->written = machine->read = 0;
  }
  machine->read |= reads;
  machine->written |= writes;
}

static bool same_mask(struct vmachine *machine, const char *mask) {
  bool same = machine->mask && strcmp(machine->mask, mask) == 0;
  machine->mask = mask;
  return same;
}

void vmachine_count(struct vmachine *machine, const char *count) {
  if (machine->normal) {
    emit_row(machine->emit, "set_mask_count");
    machine->mask = NULL;
  }
  machine->normal = false;
  if (!same_mask(machine, count))
    emit_row(machine->emit, "set_vector_mask,high=0,low=%s", count);
}

void vmachine_lanes(struct vmachine *machine, unsigned lanes) {
  const unsigned half = 64;
  if (!machine->normal) {
    emit_row(machine->emit, "set_mask_norm");
    machine->mask = NULL;
  }
  machine->normal = true;
  unsigned low = lanes < half ? lanes : half, high = lanes - low;
  long long low_bits = low == half ? -1 : (long long)((UINT64_C(1) << low) - 1);
  long long high_bits = high == half ? -1 : (long long)((UINT64_C(1) << high) - 1);
  if (!same_mask(machine, emit_text(machine->emit, "%u lanes", lanes)))
    emit_row(machine->emit, "set_vector_mask,high=%lld,low=%lld", high_bits, low_bits);
}

void vmachine_rest(struct vmachine *machine) {
  if (machine->normal)
    emit_row(machine->emit, "set_mask_count");
  machine->normal = false;
  machine->mask = NULL;
}

static uint32_t reads_of(const struct vstep *step) {
  switch (step->form) {
  case VFORM_FILL:
    return 0;
  case VFORM_BINARY:
    return 1u << step->a | 1u << step->b;
  case VFORM_ACC:
    return 1u << step->a | 1u << step->b | 1u << step->dst;
  case VFORM_SELECT:
    return 1u << step->a | 1u << step->b | 1u << step->c;
  default:
    return 1u << step->a;
  }
}

static const char *stride(const struct vmachine *machine, unsigned reg, const char *text) {
  return machine->scalars & 1u << reg ? text : "";
}

void vmachine_step(struct vmachine *machine, const struct vstep *step) {
  struct emit *e = machine->emit;
  bool half = step->form == VFORM_COMPARE && (machine->halves & 1u << step->a);
  enum dtype computed = half ? DTYPE_FP16 : machine->type;
  const char *type = dtype_name(computed), *dst = machine->reg[step->dst];
  const char *a = machine->reg[step->a], *b = machine->reg[step->b];
  const char *a_block = stride(machine, step->a, ",src_block=0,src_repeat=0");
  double scalar = step->scalar * (step->parameter ? machine->parameter[step->parameter - 1] : 1.0);
  long long bits = vscalar_bits(computed, scalar);
  vmachine_order(machine, reads_of(step), 1u << step->dst);
  switch (step->form) {
  case VFORM_UNARY:
    emit_row(e, "%s,dst=%s,src=%s,repeat=1%s,type=%s", step->inst, dst, a, a_block, type);
    break;
  case VFORM_BINARY:
  case VFORM_ACC:
    emit_row(e, "%s,dst=%s,src0=%s,src1=%s,repeat=1%s%s,type=%s", step->inst, dst, a, b,
             stride(machine, step->a, ",src0_block=0,src0_repeat=0"),
             stride(machine, step->b, ",src1_block=0,src1_repeat=0"), type);
    break;
  case VFORM_SCALAR:
    emit_row(e, "%s,dst=%s,src=%s,scalar=%lld,repeat=1%s,type=%s", step->inst, dst, a, bits,
             a_block, type);
    break;
  case VFORM_FILL:
    emit_row(e, "vector_dup,dst=%s,scalar=%lld,repeat=1,type=%s", dst, bits, type);
    break;
  case VFORM_COMPARE:
    emit_row(e, "%s,dst=%s,src=%s,scalar=%lld,repeat=1%s,type=%s", step->inst, dst, a, bits,
             a_block, type);
    break;
  case VFORM_SELECT:
    emit_row(e, "vsel,dst=%s,src0=%s,src1=%s,mask=%s,repeat=1%s%s,type=%s", dst, a, b,
             machine->reg[step->c], stride(machine, step->a, ",src0_block=0,src0_repeat=0"),
             stride(machine, step->b, ",src1_block=0,src1_repeat=0"), type);
    break;
  case VFORM_CONVERT: {
    size_t name = strcspn(step->inst, ",");
    emit_row(e, "%.*s,dst=%s,src=%s,repeat=1%s", (int)name, step->inst, dst, a, step->inst + name);
    break;
  }
  default:
    vinci_bug("a vector step of form %d", (int)step->form);
  }
}

/* ---- conversions ---------------------------------------------------------------- */

/* Towards zero into integers, as casts of arrays do; to nearest even else. */
static const struct conversion {
  enum dtype from, to;
  enum isa_op op;
  const char *inst;
} conversions[] = {
    {DTYPE_FP32, DTYPE_FP16, OP_VCONV_F322F16, "vconv_f322f16"},
    {DTYPE_FP16, DTYPE_FP32, OP_VCONV_F162F32, "vconv_f162f32"},
    {DTYPE_FP32, DTYPE_BF16, OP_VCONV_F322BF16, "vconv_f322bf16"},
    {DTYPE_BF16, DTYPE_FP32, OP_VCONV_BF162F32, "vconv_bf162f32"},
    {DTYPE_FP32, DTYPE_INT32, OP_VCONV_F322S32, "vconv_f322s32,round=z"},
    {DTYPE_INT32, DTYPE_FP32, OP_VCONV_S322F32, "vconv_s322f32"},
    {DTYPE_FP32, DTYPE_INT16, OP_VCONV_F322S16, "vconv_f322s16,round=z"},
    {DTYPE_INT16, DTYPE_FP32, OP_VCONV_S162F32, "vconv_s162f32"},
    {DTYPE_FP32, DTYPE_INT64, OP_VCONV_F322S64, "vconv_f322s64,round=z"},
    {DTYPE_INT64, DTYPE_FP32, OP_VCONV_S642F32, "vconv_s642f32"},
    {DTYPE_FP16, DTYPE_INT32, OP_VCONV_F162S32, "vconv_f162s32,round=z"},
    {DTYPE_FP16, DTYPE_INT16, OP_VCONV_F162S16, "vconv_f162s16,round=z"},
    {DTYPE_INT16, DTYPE_FP16, OP_VCONV_S162F16, "vconv_s162f16"},
    {DTYPE_FP16, DTYPE_INT8, OP_VCONV_F162S8, "vconv_f162s8,round=z"},
    {DTYPE_INT8, DTYPE_FP16, OP_VCONV_S82F16, "vconv_s82f16"},
    {DTYPE_FP16, DTYPE_UINT8, OP_VCONV_F162U8, "vconv_f162u8,round=z"},
    {DTYPE_UINT8, DTYPE_FP16, OP_VCONV_U82F16, "vconv_u82f16"},
    {DTYPE_BF16, DTYPE_INT32, OP_VCONV_BF162S32, "vconv_bf162s32,round=z"},
    {DTYPE_INT32, DTYPE_INT16, OP_VCONV_S322S16, "vconv_s322s16"},
    {DTYPE_INT32, DTYPE_INT64, OP_VCONV_S322S64, "vconv_s322s64"},
    {DTYPE_INT64, DTYPE_INT32, OP_VCONV_S642S32, "vconv_s642s32"},
};

static const struct conversion *find_conversion(const struct vinci_soc *soc, enum dtype from,
                                                enum dtype to) {
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
    if (conversions[i].from == from && conversions[i].to == to)
      return isa_row(conversions[i].op)->archs & 1u << soc->arch ? &conversions[i] : NULL;
  return NULL;
}

const char *vconvert_inst(const struct vinci_soc *soc, enum dtype from, enum dtype to) {
  const struct conversion *found = find_conversion(soc, from, to);
  return found ? found->inst : NULL;
}

unsigned vconvert_chain(const struct vinci_soc *soc, enum dtype from, enum dtype to,
                        enum dtype hops[VCONVERT_HOPS]) {
  /* Wide types first, so that a detour loses nothing it need not lose. */
  static const enum dtype via[] = {DTYPE_FP32, DTYPE_INT32, DTYPE_FP16};
  enum { VIA = sizeof via / sizeof *via };
  hops[0] = to;
  if (find_conversion(soc, from, to))
    return 1;
  hops[1] = to;
  for (unsigned i = 0; i < VIA; i++) {
    hops[0] = via[i];
    if (find_conversion(soc, from, via[i]) && find_conversion(soc, via[i], to))
      return 2;
  }
  hops[2] = to;
  for (unsigned i = 0; i < VIA * VIA; i++) {
    hops[0] = via[i / VIA];
    hops[1] = via[i % VIA];
    if (find_conversion(soc, from, hops[0]) && find_conversion(soc, hops[0], hops[1]) &&
        find_conversion(soc, hops[1], to))
      return 3;
  }
  return 0;
}

/* ---- cost ------------------------------------------------------------------------- */

uint64_t vstep_mcycles(const struct vinci_soc *soc, const struct vstep *step, enum dtype type) {
  const char *inst = step->form == VFORM_FILL     ? "vector_dup"
                     : step->form == VFORM_SELECT ? "vsel"
                                                  : step->inst;
  const struct isa_row *row = isa_row(isa_find(inst, strcspn(inst, ",")));
  unsigned index = dtype_bits(type) <= dtype_bits(DTYPE_FP16) ? row->class16 : row->class32;
  uint64_t cycles = (uint64_t)soc->vector_class[index].per_repeat_mcycles;
  /* Two sources in buffers of one alignment take turns at the banks. */
  bool pair = step->form == VFORM_BINARY || step->form == VFORM_ACC || step->form == VFORM_SELECT;
  return pair && cycles < 2 * MILLI ? 2 * MILLI : cycles;
}
