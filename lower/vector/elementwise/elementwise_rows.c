/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of an elementwise operator: loading, spreading, computing and storing one tile. */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/elementwise/elementwise.h"
#include "lower/vector/rows/rowfunc.h"

/* Unsigned type of the same size, in which anything can be moved. */
static const char *bits_name(enum dtype type) {
  return vtile_bytes(type) == 4 ? "uint32" : "uint16";
}

/* A row, or the block of each row, repeated over the tile: a column of lanes per instruction. */
struct spread {
  const struct vew *ew;
  const struct vew_operand *in;
  struct expr source;
  bool row;
  struct expr rows; /* of the tile; of one repeat of the vector unit */
};

static void put_lanes(struct emit *e, const struct spread *spread, struct expr at) {
  uint64_t pitch = spread->ew->pitch * vtile_bytes(spread->in->computed);
  bool row = spread->row;
  EMIT(e, "vcopy", F("dst", x_add(spread->in->spread, at)),
       F("src", row ? x_add(spread->source, at) : spread->source), F("repeat", spread->rows),
       F_IF(!row, "src_block", 0), F("dst_repeat", pitch / BLOCK_BYTES), F("src_repeat", !row),
       W("type", bits_name(spread->in->computed)));
}

/* The number of the only row, in all columns. */
static void put_number(struct vunit *unit, const struct spread *spread) {
  vunit_count(unit, spread->ew->kernel.tile.n_cols);
  EMIT(unit->emit, "vcopy", F("dst", spread->in->spread), F("src", spread->source), F("repeat", 1),
       F("src_block", 0), F("src_repeat", 0), W("type", bits_name(spread->in->computed)));
}

static void put_spread(struct vunit *unit, const struct spread *spread, unsigned reg) {
  static const char *const counters[] = {"lanes0", "lanes1", "lanes2",
                                         "lanes3", "lanes4", "lanes5"};
  struct emit *e = unit->emit;
  uint64_t bytes = vtile_bytes(spread->in->computed), row = spread->ew->pitch * bytes;
  const uint64_t repeat_bytes = (uint64_t)e->soc->vector_bytes;
  uint64_t whole = row / repeat_bytes, rest = row % repeat_bytes;
  struct expr at = EXPR(0);
  vunit_order(unit, V(reg), V(reg));
  if (spread->ew->kernel.tile.rows == 1) {
    put_number(unit, spread);
    return;
  }
  if (whole > 0) {
    vunit_lanes(unit, (unsigned)(repeat_bytes / bytes));
    if (whole > 1)
      at = x_mul(emit_for(e, counters[reg - X0], whole), repeat_bytes);
    put_lanes(e, spread, at);
    if (whole > 1)
      emit_end(e);
  }
  if (rest > 0) {
    vunit_lanes(unit, (unsigned)(rest / bytes));
    put_lanes(e, spread, EXPR(whole * repeat_bytes));
  }
}

/* Blocks are made of `unit` elements at a time; what lies behind the last is padding. */
static struct expr loaded_elements(const struct vew *ew, enum vkind kind, struct expr count,
                                   uint64_t unit) {
  return kind == VKIND_FULL     ? count
         : kind == VKIND_ROW    ? EXPR(ew->pitch)
         : kind == VKIND_COLUMN ? x_round_up(ew->kernel.tile.n_rows, unit)
                                : EXPR(unit);
}

/* Elements that a conversion has to write: where squares stand for vbrcb, a whole block is read. */
static uint64_t converted_unit(const struct vunit *unit, const struct vew_operand *in) {
  uint64_t block = BLOCK_BYTES / vtile_bytes(in->computed);
  bool squares = !select_has(unit->emit->soc, OP_VBRCB);
  return squares && vtile_bytes(in->type) * block <= BLOCK_BYTES ? max_u64(block, VBRCB_ELEMENTS)
                                                                 : VBRCB_ELEMENTS;
}

/* Loaded bytes into a register: converted, spread. */
static void put_input(struct vunit *unit, const struct vew *ew, unsigned k, struct expr count) {
  const struct vew_operand *in = &ew->in[k];
  enum vkind kind = vew_kind(ew, in);
  unsigned reg = X0 + k;
  struct expr own = loaded_elements(ew, kind, count, VBRCB_ELEMENTS);
  struct expr now = x_add(ew->kernel.tile.slot, in->tile.address);
  if (in->type != in->computed) {
    struct expr to = EXPR(kind == VKIND_FULL ? in->spread : in->compact);
    vunit_count(unit, loaded_elements(ew, kind, count, converted_unit(unit, in)));
    vunit_convert(unit, 0, V(reg), in->type, in->computed, to, now);
    now = to;
  }
  if (kind == VKIND_COLUMN || kind == VKIND_SCALAR) {
    vunit_count(unit, own);
    VROW(unit, V(reg), V(reg), "vbrcb", F("dst", in->block), F("src", now),
         F("repeat",
           kind == VKIND_SCALAR ? EXPR(1) : x_ceil_div(ew->kernel.tile.n_rows, VBRCB_ELEMENTS)),
         W("type", bits_name(in->computed)));
    now = EXPR(in->block);
    unit->scalars |= kind == VKIND_SCALAR ? V(reg) : 0;
  }
  if (kind == VKIND_ROW || kind == VKIND_COLUMN) {
    bool pattern = vew_is_pattern(ew, k);
    uint64_t row = ew->pitch * vtile_bytes(in->computed);
    struct expr rows =
        pattern ? EXPR((uint64_t)unit->emit->soc->vector_bytes / row) : ew->kernel.tile.n_rows;
    put_spread(unit, &(struct spread){ew, in, now, kind == VKIND_ROW, rows}, reg);
    unit->patterns |= pattern ? V(reg) : 0;
    now = EXPR(in->spread);
  }
  unit->reg[reg] = now;
}

static void put_outputs(struct vunit *unit, const struct vew *ew) {
  for (unsigned k = 0; k < ew->func.outputs; k++) {
    const struct vew_operand *out = &ew->out[k];
    if (out->type != out->computed)
      vunit_convert(unit, V(Y0 + k), 0, out->computed, out->type,
                    x_add(ew->kernel.tile.slot, out->tile.address), unit->reg[Y0 + k]);
  }
}

static void set_parameters(const struct lower_job *job, const struct vfunc *func,
                           double parameter[VPARAM_MAX]) {
  for (unsigned i = 0; func->parameters && func->parameters[i]; i++)
    parameter[i] = lower_get(job, func->parameters[i])->number;
  if (func->numbers)
    func->numbers(job, parameter);
}

/* What the tile before has left under way. */
static uint32_t under_way(const struct vew *ew) {
  uint32_t regs = 0;
  for (unsigned r = 0; r < VREGS; r++)
    if (r < VFUNC_INPUTS ? ew->in[r].spread || ew->in[r].compact || ew->in[r].block : ew->temp[r])
      regs |= V(r);
  return regs;
}

/* ---- as a vector function -------------------------------------------------------------------- */

static bool is_float(enum dtype type) {
  return type == DTYPE_FP32 || type == DTYPE_FP16 || type == DTYPE_BF16;
}

/* Several steps in single precision on whole operands; one step gains nothing. */
static bool is_function(const struct vew *ew) {
  const struct vfunc *func = &ew->func;
  bool whole = ew->type == DTYPE_FP32 && ew->step_count > 1 && !func->indexed && !func->serial &&
               !func->bits;
  for (unsigned k = 0; k < func->inputs; k++)
    whole = whole && vew_kind(ew, &ew->in[k]) == VKIND_FULL && is_float(ew->in[k].type);
  for (unsigned k = 0; k < func->outputs; k++)
    whole = whole && is_float(ew->out[k].type);
  return whole && rowfunc_knows(ew->kernel.job->soc, ew->steps);
}

static void put_function(struct emit *e, const struct vew *ew, uint64_t elements) {
  double parameter[VPARAM_MAX] = {0};
  struct expr slot = ew->kernel.tile.slot;
  struct rowfunc function = {
      .emit = e, .steps = ew->steps, .parameter = parameter, .n_rows = EXPR(1), .cols = elements};
  set_parameters(ew->kernel.job, &ew->func, parameter);
  for (unsigned k = 0; k < ew->func.inputs; k++)
    function.value[X0 + k] =
        (struct rowfunc_rows){x_add(slot, ew->in[k].tile.address), 0, ew->in[k].type};
  for (unsigned k = 0; k < ew->func.outputs; k++)
    function.result[k] =
        (struct rowfunc_rows){x_add(slot, ew->out[k].tile.address), 0, ew->out[k].type};
  rowfunc_put(&function);
}

/* The masks of a function are numbers, so that the last tile has one of its own. */
static void put_functions(struct emit *e, const struct vew *ew, struct expr count) {
  const struct vtile *tile = &ew->kernel.tile;
  bool many = tile->rows > 1;
  uint64_t whole = many ? tile->rows * ew->pitch : tile->cols;
  uint64_t rest = many ? tile->space.rows % tile->rows * ew->pitch : tile->space.cols % tile->cols;
  emit_barrier(e, PIPE_V);
  if (x_is_number(count)) {
    put_function(e, ew, (uint64_t)count.number);
    return;
  }
  emit_if(e, "whole", x_eq(count, whole));
  put_function(e, ew, whole);
  emit_end(e);
  emit_if(e, "rest", x_eq(count, rest));
  put_function(e, ew, rest);
  emit_end(e);
}

void vew_compute(struct emit *e, struct vkernel *kernel) {
  const struct vew *ew = (struct vew *)kernel;
  const struct vtile *tile = &ew->kernel.tile;
  struct vunit unit = {.emit = e, .type = ew->type, .written = under_way(ew)};
  struct expr count = tile->rows > 1 ? x_mul(tile->n_rows, ew->pitch) : tile->n_cols;
  if (is_function(ew)) {
    put_functions(e, ew, count);
    return;
  }
  set_parameters(kernel->job, &ew->func, unit.parameter);
  for (unsigned k = 0; k < ew->func.inputs; k++)
    put_input(&unit, ew, k, count);
  for (unsigned r = Y0; r < VREGS; r++)
    unit.reg[r] = ew->temp[r] || r >= T0 ? EXPR(ew->temp[r])
                                         : x_add(tile->slot, ew->out[r - Y0].tile.address);
  if (ew->func.indexed) {
    vunit_count_of(&unit, count);
    VROW(&unit, V(T3), V(T0), "vadds", F("dst", unit.reg[T0]), F("src", unit.reg[T3]),
         F("scalar", tile->col), F("repeat", 1), W("type", "int32"));
  }
  for (unsigned i = 0; i < ew->step_count; i++) {
    vunit_count(&unit, x_mul(count, max_u64(ew->steps[i].per, 1)));
    if (ew->func.serial)
      unit.written = V_ALL;
    vunit_step(&unit, &ew->steps[i]);
  }
  put_outputs(&unit, ew);
  vunit_rest(&unit);
}

void vew_tensors(struct emit *e, struct vkernel *kernel) {
  const struct vew *ew = (const struct vew *)kernel;
  const struct vfunc *func = &ew->func;
  for (unsigned k = 0; k < func->inputs; k++) {
    uint64_t elements = lower_elements(ew->shape[k], ew->rank[k]);
    if (func->bits & 1u << k)
      emit_vector(e, ew->in[k].tile.name, DTYPE_UINT8, TENSOR_IN,
                  ceil_div(elements, BITS_PER_BYTE));
    else if (ew->rank[k] > 0)
      emit_tensor(e, ew->in[k].tile.name, ew->halved ? DTYPE_INT64 : ew->in[k].type,
                  func->in_place && k < func->outputs ? TENSOR_INOUT : TENSOR_IN, ew->shape[k],
                  ew->rank[k] - ew->halved, NULL);
  }
  for (unsigned k = 0; k < func->outputs && !func->in_place; k++)
    if (k == 0 || strcmp(ew->out[k].tile.name, ew->out[k - 1].tile.name) != 0)
      emit_tensor(e, ew->out[k].tile.name, ew->halved ? DTYPE_INT64 : ew->out[k].type, TENSOR_OUT,
                  ew->out_shape, ew->out_rank - ew->halved, NULL);
}

/* Copies pad rows to 32 bytes; a pitch that narrower operands ask for may be more than that, as may
 * be the VBRCB_ELEMENTS of a column in wide elements, and squares that are transposed. */
static bool has_gaps(const struct vew *ew) {
  if (ew->whole > 1)
    return true;
  for (unsigned k = 0; k < ew->func.inputs; k++) {
    enum vkind kind = vew_kind(ew, &ew->in[k]);
    if ((kind == VKIND_COLUMN || kind == VKIND_SCALAR) &&
        vtile_bytes(ew->in[k].type) * VBRCB_ELEMENTS > BLOCK_BYTES)
      return true;
    if (ew->kernel.tile.rows > 1 &&
        vtile_pitch(ew->kernel.tile.cols, vtile_bytes(ew->in[k].type)) < ew->pitch)
      return true;
  }
  return false;
}

/* Whether squares of whole repeats take what a conversion has left in a register. */
static bool has_short_registers(const struct vew *ew) {
  return ew->func.casts && ew->whole > 1 && ew->in[0].type != DTYPE_INT32 &&
         ew->in[0].type != DTYPE_INT64;
}

void vew_rows(struct emit *e, struct vkernel *kernel) {
  const struct vew *ew = (struct vew *)kernel;
  if (has_short_registers(ew)) {
    emit_comment(e, "Registers behind the last element, and padding that no copy writes.");
    vmask_count(e, kernel->tile.ub_bytes / sizeof(float));
    vfill(e, 0, 0, "fp32");
  } else if (has_gaps(ew)) {
    emit_comment(e, "Padding that no copy writes.");
    vkernel_clear(e, &kernel->tile);
  }
  if (ew->func.start)
    ew->func.start(e, ew);
  vkernel_tiles(e, kernel);
}
