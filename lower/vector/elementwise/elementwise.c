/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The template of elementwise operators. Operands are aligned as numpy does; dimensions that all
 * of them walk alike are merged, so that most calls are one long row. Otherwise a tile is some
 * rows, and operands that repeat along rows or columns are spread over it before computing.
 */
#include "lower/vector/elementwise/elementwise.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/select/select.h"

enum { REPEATS_MAX = 255, STRIDE_MAX = 255, WIDE_ROW_BYTES = 4096, WIDEST_ROW_BYTES = 16384 };

/* ---- types -------------------------------------------------------------------------- */

bool vew_computes_in(unsigned types, enum dtype type) {
  if (types & VTYPES_ANY)
    return type != DTYPE_BF16 || (types & VTYPES_BF16);
  switch (type) {
  case DTYPE_FP32:
    return true;
  case DTYPE_FP16:
    return types & VTYPES_FP16;
  case DTYPE_INT32:
    return types & VTYPES_INT32;
  case DTYPE_INT16:
    return types & VTYPES_INT16;
  case DTYPE_INT64:
    return types & VTYPES_PAIRS;
  default:
    return false;
  }
}

static bool is_byte(enum dtype type) { return type == DTYPE_INT8 || type == DTYPE_UINT8; }

/* The type of the registers and of the result. */
static enum vinci_status choose_type(struct lower_job *job, struct vew *ew) {
  const struct vfunc *func = &ew->func;
  unsigned masks = func->boolean | func->bits, first = masks & 1 ? 1 : 0;
  enum dtype widest = func->inputs ? ew->in[first].type : lower_get(job, "dtype")->dtype;
  bool same = true, bytes = is_byte(widest);
  for (unsigned i = first; i < func->inputs; i++) {
    enum dtype type = ew->in[i].type;
    if (masks & 1u << i)
      continue;
    same &= type == ew->in[first].type;
    bytes &= is_byte(type);
    if (type != widest)
      widest = DTYPE_FP32;
  }
  ew->type = same && vew_computes_in(func->types, widest) ? widest : DTYPE_FP32;
  if (bytes && (func->types & (VTYPES_BYTES | VTYPES_ANY)))
    ew->type = DTYPE_FP16;
  if (func->inputs == 0 && widest == DTYPE_INT64)
    ew->type = DTYPE_INT32;
  for (unsigned i = 0; i < func->inputs; i++) {
    struct vew_operand *in = &ew->in[i];
    in->computed = func->boolean & 1u << i ? DTYPE_FP16
                   : func->bits & 1u << i  ? in->type
                                           : ew->type;
    if (in->type != in->computed && !vconversion(job->soc, in->type, in->computed))
      return lower_error(job, "%s of %s is not supported on %s", job->op->name,
                         dtype_name(in->type), job->soc->name);
  }
  const struct lower_value *out = lower_get(job, "out");
  for (unsigned i = 0; i < func->outputs; i++) {
    struct vew_operand *result = &ew->out[i];
    result->computed = func->truth || func->bytes ? DTYPE_FP16 : ew->type;
    result->type = func->truth      ? DTYPE_UINT8
                   : func->bytes    ? DTYPE_INT8
                   : out            ? out->dtype
                   : func->in_place ? ew->in[i].type
                   : func->as_first ? ew->in[0].type
                                    : widest;
    if (result->type != result->computed && !vconversion(job->soc, result->computed, result->type))
      return lower_error(job, "there is no conversion from %s to %s on %s",
                         dtype_name(result->computed), dtype_name(result->type), job->soc->name);
  }
  return VINCI_OK;
}

/* ---- shapes --------------------------------------------------------------------------- */

/* The i-th extent from the right; 1 beyond the rank. */
static uint64_t extent(const uint64_t *shape, unsigned rank, unsigned i) {
  return i < rank ? shape[rank - 1 - i] : 1;
}

static enum vinci_status broadcast(struct lower_job *job, struct vew *ew) {
  if (ew->func.inputs == 0) {
    const struct lower_value *shape = lower_get(job, "shape");
    ew->out_rank = shape->rank;
    memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
    return VINCI_OK;
  }
  for (unsigned k = 0; k < ew->func.inputs; k++)
    ew->out_rank = ew->rank[k] > ew->out_rank ? ew->rank[k] : ew->out_rank;
  const struct lower_value *to = lower_get(job, "to"); /* of an operator that repeats */
  if (ew->func.words && to->rank + ew->halved > ew->out_rank)
    ew->out_rank = to->rank + ew->halved;
  for (unsigned i = 0; i < ew->out_rank; i++) {
    uint64_t out =
        ew->func.words && i >= ew->halved ? extent(to->shape, to->rank, i - ew->halved) : 1;
    for (unsigned k = 0; k < ew->func.inputs; k++) {
      uint64_t own = extent(ew->shape[k], ew->rank[k], i);
      if (own != 1 && out != 1 && own != out)
        return lower_error(job, "the shapes do not broadcast: %" PRIu64 " and %" PRIu64, out, own);
      out = own != 1 ? own : out;
    }
    ew->out_shape[ew->out_rank - 1 - i] = out;
  }
  return lower_bounded(job, ew->out_shape, ew->out_rank);
}

/* Dimensions from the right after merging, and each operand's strides in them. */
struct merged {
  unsigned count;
  uint64_t extent[TENSOR_RANK_MAX];
  uint64_t stride[VFUNC_INPUTS][TENSOR_RANK_MAX];
};

static void add_dimension(const struct vew *ew, struct merged *merged, uint64_t out,
                          const uint64_t *own, uint64_t *done) {
  unsigned inputs = ew->func.inputs, last = merged->count ? merged->count - 1 : 0;
  bool joins = merged->count > 0;
  for (unsigned k = 0; k < inputs; k++) {
    uint64_t stride = own[k] == 1 && out != 1 ? 0 : done[k];
    uint64_t below = merged->stride[k][last];
    joins &= stride == 0 ? below == 0 : below != 0 && stride == below * merged->extent[last];
  }
  if (joins) {
    merged->extent[last] *= out;
  } else {
    for (unsigned k = 0; k < inputs; k++)
      merged->stride[k][merged->count] = own[k] == 1 && out != 1 ? 0 : done[k];
    merged->extent[merged->count++] = out;
  }
  for (unsigned k = 0; k < inputs; k++)
    done[k] *= own[k];
}

static void merge(const struct vew *ew, struct merged *merged) {
  uint64_t done[VFUNC_INPUTS] = {1, 1, 1, 1, 1, 1}, own[VFUNC_INPUTS];
  *merged = (struct merged){0};
  for (unsigned i = 0; i < ew->out_rank; i++) {
    uint64_t out = extent(ew->out_shape, ew->out_rank, i);
    for (unsigned k = 0; k < ew->func.inputs; k++)
      own[k] = extent(ew->shape[k], ew->rank[k], i);
    if (out != 1)
      add_dimension(ew, merged, out, own, done);
  }
  if (merged->count == 0) {
    merged->count = 1;
    merged->extent[0] = 1;
    for (unsigned k = 0; k < ew->func.inputs; k++)
      merged->stride[k][0] = 1;
  }
}

enum vinci_status vew_set_space(struct lower_job *job, struct vew *ew) {
  struct merged merged;
  enum vinci_status status = broadcast(job, ew);
  if (status != VINCI_OK)
    return status;
  merge(ew, &merged);
  struct vtile_space *space = &ew->kernel.tile.space;
  if (merged.count > VTILE_OUTERS + 2)
    return lower_error(job, "the broadcast alternates too often");
  space->cols = merged.extent[0];
  space->rows = merged.count > 1 ? merged.extent[1] : 1;
  space->outers = merged.count > 2 ? merged.count - 2 : 0;
  uint64_t out_stride[TENSOR_RANK_MAX] = {1};
  for (unsigned d = 1; d < merged.count; d++)
    out_stride[d] = out_stride[d - 1] * merged.extent[d - 1];
  for (unsigned d = 2; d < merged.count; d++)
    space->outer[merged.count - 1 - d] = merged.extent[d];
  for (unsigned k = 0; k < ew->func.inputs + ew->func.outputs; k++) {
    bool in = k < ew->func.inputs;
    const uint64_t *stride = in ? merged.stride[k] : out_stride;
    struct vew_operand *operand = in ? &ew->in[k] : &ew->out[k - ew->func.inputs];
    operand->tile.dtype = operand->type;
    operand->tile.whole = !in;
    operand->tile.col_stride = stride[0];
    operand->tile.row_stride = merged.count > 1 ? stride[1] : 0;
    for (unsigned d = 2; d < merged.count; d++)
      operand->tile.outer_stride[merged.count - 1 - d] = stride[d];
    operand->kind = stride[0]
                        ? operand->tile.row_stride || space->rows == 1 ? VKIND_FULL : VKIND_ROW
                    : operand->tile.row_stride ? VKIND_COLUMN
                                               : VKIND_SCALAR;
  }
  return VINCI_OK;
}

/* ---- buffers ---------------------------------------------------------------------------- */

enum vkind vew_kind(const struct vew *ew, const struct vew_operand *operand) {
  if (ew->kernel.tile.rows > 1)
    return operand->kind;
  if (operand->kind == VKIND_COLUMN && ew->func.blocks)
    return VKIND_SCALAR;
  return operand->kind == VKIND_ROW ? VKIND_FULL : operand->kind;
}

/* What a step does with a register that is read again and again: it may be one of two sources. */
static bool takes_pattern(const struct vstep *step, unsigned reg) {
  bool two = step->form == VFORM_BINARY || step->form == VFORM_SELECT;
  return !(vstep_reads(step) & V(reg)) ||
         (two && step->type == 0 && !(step->form == VFORM_SELECT && step->c == reg));
}

bool vew_is_pattern(const struct vew *ew, unsigned input) {
  const struct vinci_soc *soc = ew->kernel.job->soc;
  const struct vew_operand *in = &ew->in[input];
  uint64_t row = ew->pitch * vtile_bytes(in->computed), repeat = (uint64_t)soc->vector_bytes;
  bool coupled = emit_cube_core(soc) == emit_vector_core(soc);
  if (!coupled || vew_kind(ew, in) != VKIND_ROW || repeat % row != 0 ||
      vtile_bytes(in->computed) != vtile_bytes(ew->type))
    return false;
  for (unsigned i = 0; i < ew->step_count; i++)
    if (!takes_pattern(&ew->steps[i], X0 + input))
      return false;
  return true;
}

static uint64_t raw_elements(const struct vew *ew, enum vkind kind) {
  switch (kind) {
  case VKIND_FULL:
    return ew->kernel.tile.rows * ew->pitch;
  case VKIND_ROW:
    return ew->pitch;
  case VKIND_COLUMN:
    return ew->kernel.tile.rows;
  default:
    return 1;
  }
}

/* What an input needs beside its buffer: converted, a block per row, spread over the tile. */
static void lay_out_input(struct vew *ew, unsigned input, uint64_t *used) {
  struct vew_operand *in = &ew->in[input];
  enum vkind kind = vew_kind(ew, in);
  uint64_t bytes = vtile_bytes(in->computed), whole = ew->kernel.tile.rows * ew->pitch * bytes;
  bool converts = in->type != in->computed;
  in->compact = in->block = in->spread = 0;
  if (kind == VKIND_FULL) {
    in->spread = converts ? vtile_reserve(used, whole) : 0;
    return;
  }
  if (converts)
    in->compact = vtile_reserve(used, (raw_elements(ew, kind) + VBRCB_ELEMENTS) * bytes);
  if (kind != VKIND_ROW)
    in->block = vtile_reserve(used, ceil_div(raw_elements(ew, kind), VBRCB_ELEMENTS) *
                                        VBRCB_ELEMENTS * BLOCK_BYTES);
  if (vew_is_pattern(ew, input))
    in->spread = vtile_reserve(used, (uint64_t)ew->kernel.job->soc->vector_bytes);
  else if (kind != VKIND_SCALAR)
    in->spread = vtile_reserve(used, whole);
}

/* The narrowest and the widest element of registers and operands. */
static void element_bytes(const struct vew *ew, unsigned *narrow, unsigned *wide) {
  *narrow = *wide = vtile_bytes(ew->type);
  for (unsigned k = 0; k < ew->func.inputs + ew->func.outputs; k++) {
    bool in = k < ew->func.inputs;
    unsigned bytes = vtile_bytes(in ? ew->in[k].type : ew->out[k - ew->func.inputs].type);
    *narrow = bytes < *narrow ? bytes : *narrow;
    *wide = bytes > *wide ? bytes : *wide;
  }
}

/* Registers that steps write, beside those that they go by way of. */
static uint32_t written(const struct vew *ew) {
  uint32_t regs = 0;
  for (unsigned i = 0; i < ew->step_count; i++) {
    const struct vstep *step = &ew->steps[i];
    regs |= V(step->dst) | (ew->whole > 1 && step->b >= T0 ? V(step->b) | V(step->c) : 0);
  }
  return regs;
}

static void lay_out(struct vtile *tile) {
  struct vew *ew = (struct vew *)tile;
  unsigned narrow, widest, wide = vtile_bytes(ew->type);
  element_bytes(ew, &narrow, &widest);
  ew->pitch = round_up(vtile_pitch(tile->cols, narrow), max_u64(ew->whole, 1));
  uint64_t slot = 0, whole = tile->rows * ew->pitch;
  for (unsigned k = 0; k < ew->func.inputs; k++) {
    struct vew_operand *in = &ew->in[k];
    in->tile.pitch = ew->pitch;
    in->tile.address =
        vtile_reserve(&slot, raw_elements(ew, vew_kind(ew, in)) * vtile_bytes(in->type));
  }
  for (unsigned k = 0; k < ew->func.outputs; k++) {
    ew->out[k].tile.pitch = ew->pitch;
    ew->out[k].tile.address = vtile_reserve(&slot, whole * vtile_bytes(ew->out[k].type));
  }
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned k = 0; k < ew->func.inputs; k++)
    lay_out_input(ew, k, &used);
  uint32_t needed = written(ew);
  for (unsigned r = Y0; r < VREGS; r++) {
    bool kept = r < T0 && ew->out[r - Y0].type == ew->out[r - Y0].computed;
    if ((needed & 1u << r) && !kept)
      ew->temp[r] = vtile_reserve(&used, whole * (ew->func.casts ? sizeof(uint64_t) : wide));
  }
  tile->ub_bytes = used;
}

/* ---- tilings ------------------------------------------------------------------------------ */

static bool is_run(const struct vtile_space *space) {
  uint64_t rows = space->rows;
  for (unsigned i = 0; i < space->outers; i++)
    rows *= space->outer[i];
  return rows == 1;
}

/* Whether operands are spread row by row, an instruction for a row or a column of lanes. */
static bool spreads(const struct vew *ew) {
  for (unsigned k = 0; k < ew->func.inputs; k++) {
    enum vkind kind = vew_kind(ew, &ew->in[k]);
    if ((kind == VKIND_ROW && !vew_is_pattern(ew, k)) || kind == VKIND_COLUMN)
      return true;
  }
  return false;
}

/* Long rows are cut into pieces of one row, short ones stay whole and go in groups. */
static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vew *ew = (struct vew *)kernel;
  struct vtile *tile = &ew->kernel.tile;
  const struct vtile_space *space = &tile->space;
  bool repeats = false;
  unsigned narrow, wide;
  element_bytes(ew, &narrow, &wide);
  for (unsigned k = 0; k < ew->func.inputs; k++)
    repeats |= ew->in[k].kind != VKIND_FULL;
  if (is_run(space)) {
    uint64_t most = vtile_most_cols(job, tile, 1, 0, space->cols) >> halvings;
    most = ew->func.tile ? min_u64(most, ew->func.tile) : most;
    vtile_split_run(job->soc, job->cores, tile, wide, max_u64(most, 1));
  } else if (space->rows == 1 ||
             space->cols * wide >= (repeats ? WIDE_ROW_BYTES : WIDEST_ROW_BYTES)) {
    uint64_t most = max_u64(vtile_most_cols(job, tile, 1, 0, space->cols) >> halvings, 1);
    uint64_t pieces = ceil_div(space->cols, most);
    tile->cols = min_u64(space->cols, round_up(ceil_div(space->cols, pieces), BLOCK_BYTES));
    tile->cols = vtile_long_rest(job->soc, space->cols, tile->cols, narrow);
    uint64_t rows = space->rows;
    for (unsigned i = 0; i < space->outers; i++)
      rows *= space->outer[i];
    uint64_t tiles = rows * ceil_div(space->cols, tile->cols);
    tile->blocks = ceil_div(tiles, ceil_div(tiles, min_u64(tiles, job->cores)));
  } else {
    tile->cols = space->cols;
    tile->rows = 2;
    lay_out(tile);
    uint64_t high = spreads(ew) ? REPEATS_MAX - 7 : space->rows;
    uint64_t most = vtile_most_rows(job, tile, 0, min_u64(space->rows, high));
    vtile_split_rows(job->soc, job->cores, tile, wide, max_u64(most >> halvings, 1));
  }
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct vew *ew = (const struct vew *)kernel;
  uint64_t rows = kernel->tile.rows, pitch_blocks = ew->pitch * vtile_bytes(ew->type) / BLOCK_BYTES;
  if (spreads(ew) && rows > 1 && (rows > REPEATS_MAX || pitch_blocks > STRIDE_MAX))
    return lower_refuse(job, "tiles of more than one row have at most %d rows of %d bytes",
                        REPEATS_MAX, STRIDE_MAX * BLOCK_BYTES);
  return true;
}

/* ---- setup ---------------------------------------------------------------------------------- */

static const char *const names[VFUNC_INPUTS] = {"x", "x1", "x2", "x3", "x4", "x5"};
static const char *const out_names[VFUNC_OUTPUTS] = {"y", "y1", "y2"};

enum vinci_status vew_read_operands(struct lower_job *job, struct vew *ew) {
  static const char *const shape_keys[] = {"shape",  "shape1", "shape2",
                                           "shape3", "shape4", "shape5"};
  static const char *const type_keys[] = {"dtype",  "dtype1", "dtype2",
                                          "dtype3", "dtype4", "dtype5"};
  for (unsigned k = 0; k < ew->func.inputs; k++) {
    const struct lower_value *shape = lower_get(job, shape_keys[k]),
                             *type = lower_get(job, type_keys[k]);
    shape = shape ? shape : lower_get(job, "shape");
    type = type ? type : lower_get(job, "dtype");
    ew->rank[k] = shape->rank;
    memcpy(ew->shape[k], shape->shape, sizeof ew->shape[k]);
    bool bits = (ew->func.boolean | ew->func.bits) & 1u << k;
    ew->in[k].type = bits ? DTYPE_UINT8 : type->dtype;
    if (ew->func.words && ew->in[k].type == DTYPE_INT64 && ew->rank[k] < TENSOR_RANK_MAX) {
      ew->halved = true;
      ew->in[k].type = DTYPE_INT32;
      ew->shape[k][ew->rank[k]++] = 2;
    }
  }
  return VINCI_OK;
}

/* A temporary that no step of the program touches; VREGS when there is none. */
static uint8_t unused_temporary(const struct vfunc *func) {
  uint32_t used = func->indexed ? V(T0) | V(T3) : 0;
  for (const struct vstep *step = func->steps; step->form != VFORM_END; step++)
    used |= V(step->dst) | vstep_reads(step);
  for (uint8_t r = T0; r < VREGS; r++)
    if (!(used & V(r)))
      return r;
  return VREGS;
}

/*
 * Rounding where fp32 is rounded by way of int32: what is beyond the numbers that have a fraction
 * stays as it is. What the rounding changes is added to the number.
 */
enum { ROUNDING_STEPS = 6 };
static void add_rounding(const struct vstep *step, uint8_t spare, struct vstep *out) {
  const double whole = 1 << 23;
  const struct vstep steps[ROUNDING_STEPS] = {
      S("vmins", spare, step->a, whole),
      S("vmaxs", spare, spare, -whole),
      C("vconv_f322s32", step->round, step->dst, spare),
      C("vconv_s322f32", NULL, step->dst, step->dst),
      B("vsub", step->dst, step->dst, spare),
      B("vadd", step->dst, step->dst, step->a),
  };
  memcpy(out, steps, sizeof steps);
}

/* The steps of the function, with roundings as the chip has them; false when memory is short. */
static bool take_steps(struct lower_job *job, struct vew *ew) {
  uint8_t spare = unused_temporary(&ew->func);
  unsigned count = 0;
  while (ew->func.steps[count].form != VFORM_END)
    count++;
  ew->steps = ew->func.steps;
  ew->step_count = count;
  if (select_has(job->soc, OP_VCONV_F322F32) || spare == VREGS)
    return true;
  struct vstep *steps = ARENA_ARRAY(job->arena, struct vstep, ROUNDING_STEPS * (count + 1));
  if (!steps)
    return false;
  ew->step_count = 0;
  for (const struct vstep *step = ew->func.steps; step->form != VFORM_END; step++) {
    bool rounds = step->inst && strcmp(step->inst, "vconv_f322f32") == 0 && step->dst != step->a;
    if (rounds)
      add_rounding(step, spare, steps + ew->step_count);
    else
      steps[ew->step_count] = *step;
    ew->step_count += rounds ? ROUNDING_STEPS : 1;
  }
  ew->steps = steps;
  return true;
}

/* Whether the chip's instructions take the integers that the steps work on. */
static enum vinci_status check_steps(struct lower_job *job, const struct vew *ew) {
  for (unsigned i = 0; i < ew->step_count; i++) {
    const struct vstep *step = &ew->steps[i];
    enum dtype type = step->type ? (enum dtype)(step->type - 1) : ew->type;
    bool computes = step->form == VFORM_BINARY || step->form == VFORM_SCALAR ||
                    step->form == VFORM_COMPARE || step->form == VFORM_SELECT;
    if (!computes || (type != DTYPE_INT16 && type != DTYPE_INT32))
      continue;
    if (!select_takes(job->soc, isa_find(step->inst, strlen(step->inst)), type))
      return lower_error(job, "%s of %s is not supported on %s: its %s takes no %s", job->op->name,
                         dtype_name(lower_get(job, "dtype")->dtype), job->soc->name, step->inst,
                         dtype_name(type));
  }
  return VINCI_OK;
}

static enum vinci_status set_program(struct lower_job *job, struct vew *ew) {
  if (ew->func.casts)
    return vew_set_cast(job, ew);
  if (!take_steps(job, ew))
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = choose_type(job, ew);
  if (status == VINCI_OK)
    status = check_steps(job, ew);
  const char *const *key = ew->func.parameters;
  enum dtype holds = is_byte(ew->out[0].type) ? ew->out[0].type : ew->type;
  for (; status == VINCI_OK && key && *key; key++)
    status = lower_fits(job, *key, holds, lower_get(job, *key)->number);
  return status;
}

void vew_name_operands(struct vew *ew) {
  const struct vfunc *func = &ew->func;
  ew->kernel.tile.parts = (func->inputs ? VTILE_LOADS : 0) | VTILE_COMPUTES | VTILE_STORES;
  for (unsigned k = 0; k < func->inputs; k++) {
    ew->kernel.in[k] = &ew->in[k].tile;
    ew->in[k].tile.name = func->names ? func->names[k] : names[k];
    ew->in[k].tile.bits = func->bits & 1u << k;
  }
  for (unsigned k = 0; k < func->outputs; k++) {
    ew->kernel.out[k] = &ew->out[k].tile;
    ew->out[k].tile.name = func->names      ? func->names[func->inputs + k]
                           : func->in_place ? names[k]
                                            : out_names[k];
  }
}

struct vew *vew_new(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = vew_tensors,
                                           .rows = vew_rows,
                                           .compute = vew_compute};
  return vkernel_new(job, sizeof(struct vew), &kind);
}

static enum vinci_status setup(struct lower_job *job) {
  struct vew *ew = vew_new(job);
  if (!ew)
    return VINCI_E_NOMEM;
  const struct vfunc *func = job->op->spec;
  ew->func = *func;
  ew->kernel.code = func->code;
  enum vinci_status status = func->choose ? func->choose(job, &ew->func) : VINCI_OK;
  if (status != VINCI_OK)
    return status;
  vew_name_operands(ew);
  status = (func->operands ? func->operands : vew_read_operands)(job, ew);
  if (status == VINCI_OK)
    status = set_program(job, ew);
  bool spaced = ew->kernel.tile.space.cols > 0;
  return status == VINCI_OK && !spaced ? vew_set_space(job, ew) : status;
}

const struct lower_template vew_template = VKERNEL_TEMPLATE(setup);
