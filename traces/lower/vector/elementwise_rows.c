/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of an elementwise operator: loading, spreading, computing and storing one tile. */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/vector/elementwise.h"

typedef unsigned long long ull;

/* ---- rows ------------------------------------------------------------------------------------ */

/* Unsigned type of the same size, in which anything can be moved. */
static const char *bits_name(enum dtype type) {
  return vtile_bytes(type) == 4 ? "uint32" : "uint16";
}

static const char *at(struct emit *e, uint64_t address) {
  return emit_text(e, "%llu", (ull)address);
}

/* Repeats a row, or the block of each row, over the tile: a column of lanes per instruction. */
static void put_spread(struct vmachine *machine, const struct vew *ew, unsigned k,
                       const char *source, enum vkind kind) {
  struct emit *e = machine->emit;
  const struct vew_operand *in = &ew->in[k];
  uint64_t bytes = vtile_bytes(in->computed), row = ew->pitch * bytes;
  const uint64_t repeat_bytes = (uint64_t)e->soc->vector_bytes;
  const char *strides = emit_text(e,
                                  kind == VKIND_ROW ? ",dst_repeat=%llu,src_repeat=0"
                                                    : ",src_block=0,dst_repeat=%llu,src_repeat=1",
                                  (ull)(row / BLOCK_BYTES));
  vmachine_order(machine, 1u << (X0 + k), 1u << (X0 + k));
  uint64_t whole = row / repeat_bytes, rest = row % repeat_bytes;
  if (whole > 0) {
    const char *lane = emit_text(e, "lanes%u", k), *step = "";
    vmachine_lanes(machine, (unsigned)(repeat_bytes / bytes));
    if (whole > 1) {
      emit_loop(e, lane, "%llu", (ull)whole);
      step = emit_text(e, "+%s*%llu", lane, (ull)repeat_bytes);
    }
    emit_row(e, "vcopy,dst=%llu%s,src=%s%s,repeat=%s%s,type=%s", (ull)in->spread, step, source,
             kind == VKIND_ROW ? step : "", ew->tile.rows_text, strides, bits_name(in->computed));
    if (whole > 1)
      emit_endloop(e);
  }
  if (rest > 0) {
    vmachine_lanes(machine, (unsigned)(rest / bytes));
    emit_row(e, "vcopy,dst=%llu,src=%s%s,repeat=%s%s,type=%s",
             (ull)(in->spread + whole * repeat_bytes), source,
             kind == VKIND_ROW ? emit_text(e, "+%llu", (ull)(whole * repeat_bytes)) : "",
             ew->tile.rows_text, strides, bits_name(in->computed));
  }
}

/* Loaded bytes into a register: converted, spread. */
static void put_input(struct vmachine *machine, struct vew *ew, unsigned k, const char *count) {
  struct emit *e = machine->emit;
  const struct vew_operand *in = &ew->in[k];
  enum vkind kind = vew_kind(ew, in);
  const char *now = in->tile.address
                        ? emit_text(e, "%s+%llu", ew->tile.slot_text, (ull)in->tile.address)
                        : ew->tile.slot_text;
  /* Blocks are made of 8 elements at a time; what lies behind the last is padding. */
  const char *own = kind == VKIND_FULL  ? count
                    : kind == VKIND_ROW ? at(e, ew->pitch)
                    : kind == VKIND_COLUMN
                        ? emit_text(e, "(%s+%d)/%d*%d", ew->tile.rows_text, VBRCB_ELEMENTS - 1,
                                    VBRCB_ELEMENTS, VBRCB_ELEMENTS)
                        : at(e, VBRCB_ELEMENTS);
  machine->reg[X0 + k] = now;
  if (in->type != in->computed) {
    struct vstep step = {vconvert_inst(e->soc, in->type, in->computed),
                         VFORM_CONVERT,
                         (uint8_t)(X0 + k),
                         (uint8_t)(X0 + k),
                         0,
                         0,
                         0,
                         0};
    vmachine_count(machine, own);
    vmachine_order(machine, 0, 1u << (X0 + k));
    size_t name = strcspn(step.inst, ",");
    const char *to = at(e, kind == VKIND_FULL ? in->spread : in->compact);
    emit_row(e, "%.*s,dst=%s,src=%s,repeat=1%s", (int)name, step.inst, to, now, step.inst + name);
    machine->reg[X0 + k] = now = to;
  }
  if (kind == VKIND_COLUMN || kind == VKIND_SCALAR) {
    vmachine_count(machine, own);
    vmachine_order(machine, 1u << (X0 + k), 1u << (X0 + k));
    emit_row(e, "vbrcb,dst=%llu,src=%s,repeat=%s,type=%s", (ull)in->block, now,
             kind == VKIND_SCALAR ? "1"
                                  : emit_text(e, "(%s+%d)/%d", ew->tile.rows_text,
                                              VBRCB_ELEMENTS - 1, VBRCB_ELEMENTS),
             bits_name(in->computed));
    machine->reg[X0 + k] = now = at(e, in->block);
    machine->scalars |= kind == VKIND_SCALAR ? 1u << (X0 + k) : 0;
  }
  if (kind == VKIND_ROW || kind == VKIND_COLUMN) {
    put_spread(machine, ew, k, now, kind);
    machine->reg[X0 + k] = at(e, in->spread);
  }
}

static void put_outputs(struct vmachine *machine, struct vew *ew) {
  struct emit *e = machine->emit;
  for (unsigned k = 0; k < ew->func.outputs; k++) {
    const struct vew_operand *out = &ew->out[k];
    if (out->type == out->computed)
      continue;
    const char *inst = vconvert_inst(e->soc, out->computed, out->type);
    size_t name = strcspn(inst, ",");
    vmachine_order(machine, 1u << (Y0 + k), 0);
    emit_row(e, "%.*s,dst=%s+%llu,src=%s,repeat=1%s", (int)name, inst, ew->tile.slot_text,
             (ull)out->tile.address, machine->reg[Y0 + k], inst + name);
  }
}

static void put_compute(const struct lower_job *job, struct emit *e, struct vew *ew) {
  struct vmachine machine = {.emit = e, .type = ew->type, .halves = ew->func.boolean};
  for (unsigned i = 0; ew->func.parameters && ew->func.parameters[i]; i++)
    machine.parameter[i] = vkey(job, ew->func.parameters[i])->number;
  if (ew->func.numbers)
    ew->func.numbers(job, machine.parameter);
  /* What the tile before has left under way. */
  for (unsigned r = 0; r < VREGS; r++)
    if (r < VFUNC_INPUTS ? ew->in[r].spread || ew->in[r].compact || ew->in[r].block : ew->temp[r])
      machine.written |= 1u << r;
  const struct vtile *tile = &ew->tile;
  const char *count = tile->cols_text;
  if (tile->rows > 1 && *tile->rows_text >= '0' && *tile->rows_text <= '9')
    count = emit_text(e, "%llu", (ull)(tile->rows * ew->pitch));
  else if (tile->rows > 1)
    count = emit_text(e, "%s*%llu", tile->rows_text, (ull)ew->pitch);
  for (unsigned k = 0; k < ew->func.inputs; k++)
    put_input(&machine, ew, k, count);
  for (unsigned k = 0; k < ew->func.outputs; k++)
    machine.reg[Y0 + k] = emit_text(e, "%s+%llu", tile->slot_text, (ull)ew->out[k].tile.address);
  for (unsigned r = Y0; r < VREGS; r++)
    if (ew->temp[r])
      machine.reg[r] = at(e, ew->temp[r]);
  vmachine_count(&machine, count);
  bool pairs = ew->type == DTYPE_INT64 && !ew->func.casts; /* casts have steps of their own */
  if (pairs)
    vew_put_pairs(&machine, count);
  for (unsigned i = 0; i < ew->step_count && !pairs; i++)
    vmachine_step(&machine, &ew->steps[i]);
  put_outputs(&machine, ew);
  vmachine_rest(&machine);
}

static void put_tensors(struct emit *e, const struct vew *ew) {
  const struct vfunc *func = &ew->func;
  for (unsigned k = 0; k < func->inputs; k++) {
    uint64_t elements = lower_elements(ew->shape[k], ew->rank[k]);
    if (func->bits & 1u << k)
      emit_vector(e, ew->in[k].tile.name, DTYPE_UINT8, TENSOR_IN,
                  (elements + BITS_PER_BYTE - 1) / BITS_PER_BYTE);
    else if (ew->rank[k] > 0)
      emit_tensor(e, ew->in[k].tile.name, ew->in[k].type,
                  func->in_place && k < func->outputs ? TENSOR_INOUT : TENSOR_IN, ew->shape[k],
                  ew->rank[k], NULL);
  }
  for (unsigned k = 0; k < func->outputs && !func->in_place; k++)
    if (k == 0 || strcmp(ew->out[k].tile.name, ew->out[k - 1].tile.name) != 0)
      emit_tensor(e, ew->out[k].tile.name, ew->out[k].type, TENSOR_OUT, ew->out_shape, ew->out_rank,
                  NULL);
}

/* Copies pad rows to 32 bytes; a pitch that narrower operands ask for may be more than that. */
static bool has_gaps(const struct vew *ew) {
  for (unsigned k = 0; k < ew->func.inputs; k++)
    if (ew->tile.rows > 1 && vtile_pitch(ew->tile.cols, vtile_bytes(ew->in[k].type)) < ew->pitch)
      return true;
  return false;
}

static void put_gaps(struct emit *e, const struct vew *ew) {
  ull floats = ew->tile.slot_bytes * ew->tile.buffers / sizeof(float);
  emit_comment(e, "Padding that no copy writes.");
  emit_row(e, "set_vector_mask,high=0,low=%llu", floats);
  emit_row(e, "vector_dup,dst=0,scalar=0,repeat=1,type=fp32");
}

void vew_emit(const struct lower_job *job, struct emit *e) {
  struct vew *ew = job->data;
  struct vtile *tile = &ew->tile;
  vtile_take(job, tile);
  vtile_counts(tile);
  vew_lay_out(ew);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  put_tensors(e, ew);
  emit_buffer(e, "buf", SPACE_UB, ew->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE, tile->blocks);
  emit_row(e, "set_mask_count");
  if (has_gaps(ew))
    put_gaps(e, ew);
  if (ew->type == DTYPE_INT64 && !ew->func.casts)
    vew_put_pair_tables(e, ew);
  vtile_open(e, tile);
  for (unsigned k = 0; k < ew->func.inputs; k++)
    vtile_load(e, tile, &ew->in[k].tile);
  vtile_loaded(e, tile);
  put_compute(job, e, ew);
  vtile_computed(e, tile);
  for (unsigned k = 0; k < ew->func.outputs; k++)
    vtile_store(e, tile, &ew->out[k].tile);
  vtile_close(e, tile);
}
