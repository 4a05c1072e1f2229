/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of straight-line vector programs; conversions between all types. */
#include "lower/vector/unit.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"

int64_t vscalar(enum dtype type, double value) {
  switch (type) {
  case DTYPE_FP32:
    return fp32_bits((float)value);
  case DTYPE_FP16:
    return fp16_from_fp32((float)value);
  case DTYPE_BF16:
    return bf16_from_fp32((float)value);
  default:
    return (int64_t)value;
  }
}

void vunit_order(struct vunit *unit, uint32_t reads, uint32_t writes) {
  if ((unit->written & (reads | writes)) || (unit->read & writes)) {
    emit_barrier(unit->emit, PIPE_V);
    unit->written = unit->read = 0;
  }
  unit->read |= reads;
  unit->written |= writes;
}

/* ---- the mask ----------------------------------------------------------------------- */

static void put_mode(struct vunit *unit, bool lanes) {
  if ((unit->lanes > 0) == lanes)
    return;
  emit_plain(unit->emit, lanes ? "set_mask_norm" : "set_mask_count");
  unit->masked = false;
}

void vunit_count_of(struct vunit *unit, struct expr count) {
  put_mode(unit, false);
  if (!unit->masked || !x_same(unit->count, count))
    EMIT(unit->emit, "set_vector_mask", F("high", 0), F("low", count));
  unit->masked = true;
  unit->lanes = 0;
  unit->count = count;
}

/* The lowest bits of a mask word. */
static int64_t low_bits(unsigned bits) {
  return bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1);
}

void vunit_lanes(struct vunit *unit, unsigned lanes) {
  unsigned low = lanes < 64 ? lanes : 64;
  put_mode(unit, true);
  if (!unit->masked || unit->lanes != lanes)
    EMIT(unit->emit, "set_vector_mask", F("high", low_bits(lanes - low)), F("low", low_bits(low)));
  unit->masked = true;
  unit->lanes = lanes;
}

void vunit_forget(struct vunit *unit) { unit->masked = false; }

void vunit_rest(struct vunit *unit) {
  put_mode(unit, false);
  unit->lanes = 0;
  unit->masked = false;
}

/* ---- steps -------------------------------------------------------------------------- */

static bool has_two_sources(enum vform form) {
  return form == VFORM_BINARY || form == VFORM_SELECT || form == VFORM_WITH_ROW ||
         form == VFORM_GATHER;
}

uint32_t vstep_reads(const struct vstep *step) {
  if (step->form == VFORM_FILL || step->form == VFORM_TILE_COLUMN)
    return 0;
  return V(step->a) | (has_two_sources(step->form) ? V(step->b) : 0) |
         (step->form == VFORM_SELECT ? V(step->c) : 0);
}

void vunit_step(struct vunit *unit, const struct vstep *step) {
  enum vform form = step->form;
  bool gather = form == VFORM_GATHER, two = has_two_sources(form) && !gather;
  bool one = !two && form != VFORM_FILL;
  bool scalar = form == VFORM_SCALAR || form == VFORM_FILL || form == VFORM_COMPARE;
  bool a_block = unit->scalars & V(step->a), b_block = two && unit->scalars & V(step->b);
  bool a_again = two && unit->patterns & V(step->a), b_again = two && unit->patterns & V(step->b);
  enum dtype type = step->type ? (enum dtype)(step->type - 1) : unit->type;
  double value = step->scalar * (step->parameter ? unit->parameter[step->parameter - 1] : 1.0);
  struct expr a = unit->reg[step->a], b = unit->reg[step->b];
  if (form == VFORM_HELD)
    return;
  if (form == VFORM_LOW_WORDS || form == VFORM_TO_LONGS) {
    vwords_put(unit, step);
    return;
  }
  VROW(unit, vstep_reads(step), V(step->dst), step->inst, F("dst", unit->reg[step->dst]),
       F_IF(gather, "offset", b), F_IF(one, "src", a), F_IF(two, "src0", a), F_IF(two, "src1", b),
       F_IF(form == VFORM_SELECT, "mask", unit->reg[step->c]),
       F_IF(scalar, "scalar", vscalar(type, value)), F("repeat", 1),
       F_IF(one && a_block, "src_block", 0), F_IF(one && a_block, "src_repeat", 0),
       F_IF(two && a_block, "src0_block", 0), F_IF((two && a_block) || a_again, "src0_repeat", 0),
       F_IF(b_block, "src1_block", 0), F_IF(b_block || b_again, "src1_repeat", 0),
       W_IF(step->round, "round", step->round),
       W_IF(form != VFORM_CONVERT, "type", dtype_name(type)));
}

void vunit_steps(struct vunit *unit, const struct vstep *steps) {
  for (; steps->form != VFORM_END; steps++)
    vunit_step(unit, steps);
}

void vunit_convert(struct vunit *unit, uint32_t reads, uint32_t writes, enum dtype from,
                   enum dtype to, struct expr dst, struct expr src) {
  const struct vconversion *found = vconversion(unit->emit->soc, from, to);
  VROW(unit, reads, writes, found->inst, F("dst", dst), F("src", src), F("repeat", 1),
       W_IF(found->round, "round", found->round));
}

void vunit_take_words(struct emit *e, struct expr dst, uint64_t pairs, unsigned pattern) {
  EMIT(e, "vreducev2", F("dst", dst), F("src0", pairs), F("src1", pairs), F("repeat", 1),
       F("pattern", pattern), W("type", "uint32"));
}

/* ---- reductions ------------------------------------------------------------------------ */

const char *vreduction_inst(enum vreduction reduction) {
  static const char *const names[] = {"vadd", "vmax", "vmin"};
  return names[reduction];
}

double vreduction_identity(enum vreduction reduction) {
  static const double values[] = {0, -3.4028234663852886e38, 3.4028234663852886e38};
  return values[reduction];
}

/* ---- tables and tails ------------------------------------------------------------- */

enum { WORD_BYTES = 4 };

struct vtable vtable_series(uint64_t address, uint64_t step) {
  struct vtable table = {.address = address, .step = step};
  for (unsigned lane = 0; lane < VTABLE_FIRST; lane++)
    table.first[lane] = lane * step;
  return table;
}

void vtables_fill(struct emit *e, const struct vtable *tables, unsigned count, uint64_t words) {
  emit_plain(e, "set_mask_norm");
  for (unsigned lane = 0; lane < VTABLE_FIRST; lane++) {
    vmask_count(e, 1 << lane);
    for (unsigned i = 0; i < count; i++)
      vfill(e, tables[i].address, tables[i].first[lane], "int32");
  }
  emit_plain(e, "set_mask_count");
  for (uint64_t filled = VTABLE_FIRST; filled < words; filled *= 2) {
    emit_barrier(e, PIPE_V);
    vmask_count(e, min_u64(filled, words - filled));
    for (unsigned i = 0; i < count; i++)
      EMIT(e, "vadds", F("dst", tables[i].address + filled * WORD_BYTES),
           F("src", tables[i].address), F("scalar", filled * tables[i].step), F("repeat", 1),
           W("type", "int32"));
  }
}

void vfill_tail(struct emit *e, struct expr address, struct expr length, uint64_t all,
                enum dtype type, double value) {
  unsigned bytes = dtype_bits(type) / 8;
  struct expr filled = emit_named(e, "filled", x_round_up(length, BLOCK_BYTES / bytes));
  emit_if(e, "tail", x_lt(filled, all));
  vmask_count(e, x_sub(all, filled));
  vfill(e, x_add(address, x_mul(filled, bytes)), vscalar(type, value), dtype_name(type));
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

/* ---- conversions ---------------------------------------------------------------- */

static const struct vconversion conversions[] = {
    {DTYPE_FP32, DTYPE_FP16, OP_VCONV_F322F16, "vconv_f322f16", NULL},
    {DTYPE_FP16, DTYPE_FP32, OP_VCONV_F162F32, "vconv_f162f32", NULL},
    {DTYPE_FP32, DTYPE_BF16, OP_VCONV_F322BF16, "vconv_f322bf16", NULL},
    {DTYPE_BF16, DTYPE_FP32, OP_VCONV_BF162F32, "vconv_bf162f32", NULL},
    {DTYPE_FP32, DTYPE_INT32, OP_VCONV_F322S32, "vconv_f322s32", "z"},
    {DTYPE_INT32, DTYPE_FP32, OP_VCONV_S322F32, "vconv_s322f32", NULL},
    {DTYPE_FP32, DTYPE_INT16, OP_VCONV_F322S16, "vconv_f322s16", "z"},
    {DTYPE_INT16, DTYPE_FP32, OP_VCONV_S162F32, "vconv_s162f32", NULL},
    {DTYPE_FP32, DTYPE_INT64, OP_VCONV_F322S64, "vconv_f322s64", "z"},
    {DTYPE_INT64, DTYPE_FP32, OP_VCONV_S642F32, "vconv_s642f32", NULL},
    {DTYPE_FP16, DTYPE_INT32, OP_VCONV_F162S32, "vconv_f162s32", "z"},
    {DTYPE_FP16, DTYPE_INT16, OP_VCONV_F162S16, "vconv_f162s16", "z"},
    {DTYPE_INT16, DTYPE_FP16, OP_VCONV_S162F16, "vconv_s162f16", NULL},
    {DTYPE_FP16, DTYPE_INT8, OP_VCONV_F162S8, "vconv_f162s8", "z"},
    {DTYPE_INT8, DTYPE_FP16, OP_VCONV_S82F16, "vconv_s82f16", NULL},
    {DTYPE_FP16, DTYPE_UINT8, OP_VCONV_F162U8, "vconv_f162u8", "z"},
    {DTYPE_UINT8, DTYPE_FP16, OP_VCONV_U82F16, "vconv_u82f16", NULL},
    {DTYPE_BF16, DTYPE_INT32, OP_VCONV_BF162S32, "vconv_bf162s32", "z"},
    {DTYPE_INT32, DTYPE_INT16, OP_VCONV_S322S16, "vconv_s322s16", NULL},
    {DTYPE_INT32, DTYPE_INT64, OP_VCONV_S322S64, "vconv_s322s64", NULL},
    {DTYPE_INT64, DTYPE_INT32, OP_VCONV_S642S32, "vconv_s642s32", NULL},
};

const struct vconversion *vconversion(const struct vinci_soc *soc, enum dtype from, enum dtype to) {
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
    if (conversions[i].from == from && conversions[i].to == to)
      return isa_row(conversions[i].op)->archs & 1u << soc->arch ? &conversions[i] : NULL;
  return NULL;
}

unsigned vconversion_chain(const struct vinci_soc *soc, enum dtype from, enum dtype to,
                           enum dtype hops[VCONVERT_HOPS]) {
  /* Wide types first, so that a detour loses nothing it need not lose. */
  static const enum dtype via[] = {DTYPE_FP32, DTYPE_INT32, DTYPE_FP16};
  enum { VIA = sizeof via / sizeof *via };
  hops[0] = to;
  if (vconversion(soc, from, to))
    return 1;
  hops[1] = to;
  for (unsigned i = 0; i < VIA; i++) {
    hops[0] = via[i];
    if (vconversion(soc, from, via[i]) && vconversion(soc, via[i], to))
      return 2;
  }
  hops[2] = to;
  for (unsigned i = 0; i < VIA * VIA; i++) {
    hops[0] = via[i / VIA];
    hops[1] = via[i % VIA];
    if (vconversion(soc, from, hops[0]) && vconversion(soc, hops[0], hops[1]) &&
        vconversion(soc, hops[1], to))
      return 3;
  }
  return 0;
}

/* ---- cost ------------------------------------------------------------------------- */

uint64_t vstep_cost_mcycles(const struct vinci_soc *soc, const struct vstep *step,
                            enum dtype type) {
  /* Two sources in buffers of one alignment take turns at the banks. */
  const uint64_t two_sources = 2 * MILLI;
  if (step->form == VFORM_SPREAD || step->form == VFORM_READ || step->form == VFORM_ADD_ROWS ||
      step->column)
    return 0; /* a number per row is little beside a tile; rows one by one are counted elsewhere */
  if (step->form == VFORM_TILE_COLUMN)
    return (uint64_t)soc->vector_class[VECTOR_CLASS_ONE].per_repeat_mcycles;
  if (!step->inst || step->form == VFORM_WITH_COLUMN || step->form == VFORM_WITH_ROW)
    return two_sources;
  const struct isa_row *row = isa_row(isa_find(step->inst, strlen(step->inst)));
  unsigned index = dtype_bits(type) <= dtype_bits(DTYPE_FP16) ? row->class16 : row->class32;
  uint64_t cycles = (uint64_t)soc->vector_class[index].per_repeat_mcycles;
  return has_two_sources(step->form) ? max_u64(cycles, two_sources) : cycles;
}
