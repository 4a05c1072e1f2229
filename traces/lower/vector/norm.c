/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators along the last dimension that keep the shape: softmax, normalisations. A tile is some
 * whole rows, or a part of one (norm_long.c).
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "traces/lower/vector/norm.h"

typedef unsigned long long ull;

enum { FLOAT_BYTES = 4, WEIGHT_FLAG = 2, HALVINGS = 4 };

#define REDUCE(dst_, a_, reduction_)                                                               \
  { .kind = STEP_REDUCE, .dst = dst_, .a = a_, .reduction = reduction_ }
#define SPREAD(a_)                                                                                 \
  { .kind = STEP_SPREAD, .a = a_ }
#define WITH_COLUMN(inst_, dst_, a_)                                                               \
  { .kind = STEP_WITH_COLUMN, .inst = inst_, .dst = dst_, .a = a_ }
#define WITH_ROW(inst_, dst_, a_, b_)                                                              \
  { .kind = STEP_WITH_ROW, .inst = inst_, .dst = dst_, .a = a_, .b = b_ }
#define TILE(...)                                                                                  \
  { .kind = STEP_TILE, .vector = __VA_ARGS__ }
#define COLUMN(...)                                                                                \
  { .kind = STEP_COLUMN, .vector = __VA_ARGS__ }

static const struct step softmax_steps[] = {
    REDUCE(T1, X0, VROW_MAX), SPREAD(T1), WITH_COLUMN("vsub", T0, X0), TILE(U("vexp", T0, T0)),
    REDUCE(T1, T0, VROW_SUM), SPREAD(T1), WITH_COLUMN("vdiv", Y0, T0), {.kind = STEP_END}};
static const struct step log_softmax_steps[] = {REDUCE(T1, X0, VROW_MAX),
                                                SPREAD(T1),
                                                WITH_COLUMN("vsub", T0, X0),
                                                TILE(U("vexp", Y0, T0)),
                                                REDUCE(T1, Y0, VROW_SUM),
                                                COLUMN(U("vln", T1, T1)),
                                                SPREAD(T1),
                                                WITH_COLUMN("vsub", Y0, T0),
                                                {.kind = STEP_END}};
/* x: gradient, x1: the log-softmax: x - exp(x1) * sum(x). */
static const struct step log_softmax_grad_steps[] = {
    REDUCE(T1, X0, VROW_SUM),    SPREAD(T1),
    TILE(U("vexp", T0, X1)),     WITH_COLUMN("vmul", T0, T0),
    TILE(B("vsub", Y0, X0, T0)), {.kind = STEP_END}};
static const struct step rms_norm_steps[] = {TILE(B("vmul", T0, X0, X0)),
                                             REDUCE(T1, T0, VROW_SUM),
                                             COLUMN(P("vmuls", T1, T1, NUMBER_MEAN)),
                                             COLUMN(P("vadds", T1, T1, NUMBER_EPSILON)),
                                             COLUMN(U("vsqrt", T1, T1)),
                                             SPREAD(T1),
                                             WITH_COLUMN("vdiv", T0, X0),
                                             WITH_ROW("vmul", Y0, T0, X2),
                                             {.kind = STEP_END}};
static const struct step layer_norm_steps[] = {REDUCE(T1, X0, VROW_SUM),
                                               COLUMN(P("vmuls", T1, T1, NUMBER_MEAN)),
                                               SPREAD(T1),
                                               WITH_COLUMN("vsub", T0, X0),
                                               TILE(B("vmul", Y0, T0, T0)),
                                               REDUCE(T1, Y0, VROW_SUM),
                                               COLUMN(P("vmuls", T1, T1, NUMBER_MEAN)),
                                               COLUMN(P("vadds", T1, T1, NUMBER_EPSILON)),
                                               COLUMN(U("vsqrt", T1, T1)),
                                               SPREAD(T1),
                                               WITH_COLUMN("vdiv", T0, T0),
                                               WITH_ROW("vmul", T0, T0, X2),
                                               WITH_ROW("vadd", Y0, T0, X3),
                                               {.kind = STEP_END}};

/* ---- layout --------------------------------------------------------------------------------- */

static void lay_out(struct vnorm *norm) {
  struct vtile *tile = &norm->tile;
  if (norm_is_long(norm)) {
    norm_long_lay_out(norm);
    return;
  }
  uint64_t bytes = vtile_bytes(norm->type), cols = tile->space.cols;
  bool converts = norm->type != DTYPE_FP32;
  norm->pitch = vtile_pitch(cols, (unsigned)bytes);
  uint64_t elements = tile->rows * norm->pitch, slot = 0;
  for (unsigned k = 0; k < norm->norm->inputs; k++) {
    norm->in[k].pitch = norm->pitch;
    norm->in[k].address = vtile_reserve(&slot, elements * bytes);
  }
  norm->out.pitch = norm->pitch;
  norm->out.address = vtile_reserve(&slot, elements * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned k = 0; k < norm->norm->inputs && converts; k++)
    norm->address[X0 + k] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (converts)
    norm->address[Y0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  norm->address[T0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  norm->address[T1] = vtile_reserve(&used, ceil_div(tile->rows, 8) * BLOCK_BYTES);
  norm->accumulator = vtile_reserve(&used, tile->rows * VROW_LANES * FLOAT_BYTES);
  norm->blocks = vtile_reserve(&used, ceil_div(tile->rows, 8) * 8 * BLOCK_BYTES);
  for (unsigned k = 0; k < norm->norm->weights; k++)
    norm->address[X2 + k] = vtile_reserve(&used, norm->pitch * FLOAT_BYTES);
  norm->weight_raw =
      norm->norm->weights && converts ? vtile_reserve(&used, 2 * norm->pitch * bytes) : 0;
  norm->ub_bytes = used;
}

static bool candidate(struct lower_job *job, size_t index) {
  struct vnorm *norm = job->data;
  struct vtile *tile = &norm->tile;
  uint64_t low = 1, high = norm->pitch > VROW_PITCH_MAX ? 1 : min_u64(tile->space.rows, VROWS_MAX);
  if (index > HALVINGS)
    return false;
  tile->cols = tile->space.cols;
  tile->buffers = index == HALVINGS ? 1 : 2;
  tile->rows = 1;
  lay_out(norm);
  if (norm->ub_bytes > vtile_ub_bytes(job->soc)) {
    norm_long_split(job, norm, index % HALVINGS);
    vtile_fit(job, job->op->key_count - VTILE_KEYS, tile);
    vtile_give(job, job->op->key_count - VTILE_KEYS, tile);
    return true;
  }
  while (low < high) {
    tile->rows = low + (high - low + 1) / 2;
    lay_out(norm);
    if (norm->ub_bytes <= vtile_ub_bytes(job->soc))
      low = tile->rows;
    else
      high = tile->rows - 1;
  }
  vtile_split_rows(job->cores, tile, vtile_bytes(norm->type), max_u64(low >> index % HALVINGS, 1));
  vtile_fit(job, job->op->key_count - VTILE_KEYS, tile);
  vtile_give(job, job->op->key_count - VTILE_KEYS, tile);
  return true;
}

static uint64_t tile_cycles(const struct vinci_soc *soc, const struct vnorm *norm) {
  uint64_t repeats = norm->tile.rows * ceil_div(norm->pitch, VROW_LANES), sum = 0;
  for (const struct step *step = norm->norm->steps; step->kind != STEP_END; step++)
    if (step->kind == STEP_TILE)
      sum += repeats * vstep_mcycles(soc, &step->vector, DTYPE_FP32);
    else if (step->kind == STEP_REDUCE || step->kind >= STEP_WITH_COLUMN)
      sum += repeats * 2 * MILLI;
  if (norm->type != DTYPE_FP32)
    sum += repeats * MILLI * (norm->norm->inputs + 1);
  return sum / MILLI;
}

static enum kernel_code code_of(const struct vnorm *norm) {
  return norm->norm->weights || norm->norm->inputs > 1 ? KERNEL_NORM : KERNEL_REDUCE;
}

static bool cost(struct lower_job *job) {
  struct vnorm *norm = job->data;
  vtile_take(job, job->op->key_count - VTILE_KEYS, &norm->tile);
  if (!(isa_row(OP_COPY_GM_TO_UBUF_ALIGN_B8)->archs & 1u << job->soc->arch))
    return lower_refuse(job, "%s has no copies of single bytes", job->soc->name);
  if (!vtile_count(job, &norm->tile))
    return false;
  if (norm_is_long(norm) && (norm->tile.rows > 1 || norm->tile.cols % VROW_LANES != 0))
    return lower_refuse(job, "a tile is whole rows, or of one row a multiple of %d columns",
                        VROW_LANES);
  if (norm_is_long(norm) && norm->tile.blocks > norm->tile.space.rows)
    return lower_refuse(job, "there are only %llu rows for %llu cores", (ull)norm->tile.space.rows,
                        (ull)norm->tile.blocks);
  if (norm->tile.rows > 1 && (norm->pitch > VROW_PITCH_MAX || norm->tile.rows > VROWS_MAX))
    return lower_refuse(job, "tiles of more than one row have at most %d rows of %d columns",
                        VROWS_MAX, VROW_PITCH_MAX);
  lay_out(norm);
  if (norm->ub_bytes > vtile_ub_bytes(job->soc))
    return lower_refuse(job, "the tile takes %llu bytes of UB, there are %llu", (ull)norm->ub_bytes,
                        (ull)vtile_ub_bytes(job->soc));
  uint64_t bytes = norm->tile.rows * norm->tile.cols * vtile_bytes(norm->type);
  struct vtile_work work = {.in_bytes = bytes * norm->norm->inputs,
                            .out_bytes = bytes,
                            .in_copies = norm->norm->inputs,
                            .out_copies = 1,
                            .vector_cycles = tile_cycles(job->soc, norm),
                            .code = code_of(norm)};
  if (norm_is_long(norm)) {
    work.in_bytes *= norm_passes(norm);
    work.vector_cycles *= 2;
  }
  vtile_cost(job, &norm->tile, &work);
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_convert(struct vrows *rows, enum dtype from, enum dtype to, const char *dst,
                        const char *src) {
  struct emit *e = rows->machine.emit;
  emit_row(e, "%s,dst=%s,src=%s,repeat=1", vconvert_inst(e->soc, from, to), dst, src);
}

/* Weights are loaded once and stay. */
static void put_weights(struct emit *e, const struct vnorm *norm) {
  static const char *const names[] = {"gamma", "beta"};
  ull cols = norm->tile.space.cols, bytes = vtile_bytes(norm->type);
  if (norm->norm->weights == 0)
    return;
  ull pad = (BLOCK_BYTES - cols * bytes % BLOCK_BYTES) % BLOCK_BYTES / bytes;
  for (unsigned k = 0; k < norm->norm->weights; k++)
    emit_row(e, "%s,dst=%llu,src=%s,len_burst=%llu,right_pad=%llu",
             vtile_copy_name(false, norm->type),
             norm->weight_raw ? (ull)(norm->weight_raw + k * norm->pitch * bytes)
                              : (ull)norm->address[X2 + k],
             names[k], cols * bytes, pad);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "%d", WEIGHT_FLAG);
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "%d", WEIGHT_FLAG);
  if (!norm->weight_raw)
    return;
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)norm->pitch);
  for (unsigned k = 0; k < norm->norm->weights; k++)
    emit_row(e, "%s,dst=%llu,src=%llu,repeat=1", vconvert_inst(e->soc, norm->type, DTYPE_FP32),
             (ull)norm->address[X2 + k], (ull)(norm->weight_raw + k * norm->pitch * bytes));
}

/* Columns are spread 8 rows at a time; there may be fewer. */
static void put_columns(struct emit *e, const struct vnorm *norm) {
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)ceil_div(norm->tile.rows, 8) * 8);
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)norm->address[T1]);
}

static void put_step(struct vrows *rows, const struct step *step) {
  const char *const *reg = rows->machine.reg;
  switch (step->kind) {
  case STEP_REDUCE:
    vrow_reduce(rows, (enum vrow_reduction)step->reduction, step->dst, reg[step->dst], step->a,
                reg[step->a]);
    break;
  case STEP_SPREAD:
    vrow_spread(rows, step->a, reg[step->a]);
    break;
  case STEP_WITH_COLUMN:
    vrow_with_column(rows, step->inst, step->dst, reg[step->dst], step->a, reg[step->a]);
    break;
  case STEP_WITH_ROW:
    vrow_with_row(rows, step->inst, step->dst, reg[step->dst], step->a, reg[step->a], step->b,
                  reg[step->b]);
    break;
  case STEP_COLUMN:
    vrow_column(rows);
    vmachine_step(&rows->machine, &step->vector);
    break;
  default:
    vrow_all(rows);
    vmachine_step(&rows->machine, &step->vector);
    break;
  }
}

static void put_compute(struct emit *e, struct vnorm *norm) {
  struct vtile *tile = &norm->tile;
  struct vrows rows = {.machine = {.emit = e, .type = DTYPE_FP32},
                       .rows = tile->rows_text,
                       .single = tile->rows == 1,
                       .cols = tile->space.cols,
                       .pitch = norm->pitch,
                       .accumulator = norm->accumulator,
                       .blocks = norm->blocks};
  struct vmachine *machine = &rows.machine;
  machine->parameter[NUMBER_MEAN - 1] = 1.0 / (double)tile->space.cols;
  machine->parameter[NUMBER_EPSILON - 1] = norm->epsilon;
  /* What the tile before, and the weights, have left under way. */
  machine->written = (1u << VREGS) - 1;
  for (unsigned r = 0; r < VREGS; r++)
    if (norm->address[r])
      machine->reg[r] = emit_text(e, "%llu", (ull)norm->address[r]);
  for (unsigned k = 0; k < norm->norm->inputs; k++) {
    const char *raw = emit_text(e, "%s+%llu", tile->slot_text, (ull)norm->in[k].address);
    if (norm->type == DTYPE_FP32) {
      machine->reg[X0 + k] = raw;
      continue;
    }
    vmachine_count(machine, rows.single ? emit_text(e, "%llu", (ull)rows.cols)
                                        : emit_text(e, "%s*%llu", rows.rows, (ull)rows.pitch));
    vmachine_order(machine, 0, 1u << (X0 + k));
    put_convert(&rows, norm->type, DTYPE_FP32, machine->reg[X0 + k], raw);
  }
  const char *out = emit_text(e, "%s+%llu", tile->slot_text, (ull)norm->out.address);
  if (norm->type == DTYPE_FP32)
    machine->reg[Y0] = out;
  for (const struct step *step = norm->norm->steps; step->kind != STEP_END; step++)
    put_step(&rows, step);
  if (norm->type != DTYPE_FP32) {
    vrow_all(&rows);
    vmachine_order(machine, 1u << Y0, 0);
    put_convert(&rows, DTYPE_FP32, norm->type, out, machine->reg[Y0]);
  }
  vmachine_rest(machine);
}

static void emit(const struct lower_job *job, struct emit *e) {
  static const char *const weights[] = {"gamma", "beta"};
  struct vnorm *norm = job->data;
  struct vtile *tile = &norm->tile;
  const struct lower_value *shape = &job->value[0];
  vtile_take(job, job->op->key_count - VTILE_KEYS, tile);
  vtile_counts(tile);
  lay_out(norm);
  emit_kernel(e, job->op->name, (uint32_t)tile->blocks);
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    emit_tensor(e, norm->in[k].name, norm->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  for (unsigned k = 0; k < norm->norm->weights; k++)
    emit_vector(e, weights[k], norm->type, TENSOR_IN, tile->space.cols);
  emit_tensor(e, "y", norm->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  emit_buffer(e, "buf", SPACE_UB, norm->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, code_of(norm), tile->blocks);
  emit_row(e, "set_mask_count");
  if (norm_is_long(norm)) {
    norm_long_emit(e, norm);
    return;
  }
  put_weights(e, norm);
  put_columns(e, norm);
  vtile_open(e, tile);
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    vtile_load(e, tile, &norm->in[k]);
  vtile_loaded(e, tile);
  put_compute(e, norm);
  vtile_computed(e, tile);
  vtile_store(e, tile, &norm->out);
  vtile_close(e, tile);
}

/* ---- operators ------------------------------------------------------------------------------- */

enum { KEY_SHAPE, KEY_DTYPE, KEY_TILING, SOFTMAX_KEYS = KEY_TILING + VTILE_KEYS };
enum { KEY_EPSILON = KEY_TILING, KEY_NORM_TILING, NORM_KEYS = KEY_NORM_TILING + VTILE_KEYS };

static const struct lower_key softmax_keys[SOFTMAX_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x; along the last", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32", "type of x and y", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

static const struct lower_key norm_keys[NORM_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x; along the last", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32", "type of all", false},
    [KEY_EPSILON] = {"eps", LOWER_NUMBER, "1e-5", NULL, "added to the mean square", false},
    VTILE_KEY_ROWS_TABLE(KEY_NORM_TILING),
};

static enum vinci_status norm_setup(struct lower_job *job, const struct norm *func) {
  struct vnorm *norm = ARENA_NEW(job->arena, struct vnorm);
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  static const char *const names[] = {"x", "x1"};
  if (!norm)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  if (func->weights && job->value[KEY_EPSILON].number < 0)
    return lower_error(job, "eps is at least 0, not %.9g", job->value[KEY_EPSILON].number);
  job->data = norm;
  norm->norm = func;
  norm->type = job->value[KEY_DTYPE].dtype;
  norm->epsilon = job->value[KEY_EPSILON].number;
  norm->tile.prefix = "";
  norm->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  norm->tile.space.cols = shape->shape[shape->rank - 1];
  norm->tile.space.rows = lower_elements(shape->shape, shape->rank - 1);
  norm->pitch = vtile_pitch(norm->tile.space.cols, vtile_bytes(norm->type));
  norm->out = (struct vtile_operand){
      .name = "y", .dtype = norm->type, .row_stride = norm->tile.space.cols, .col_stride = 1};
  for (unsigned k = 0; k < func->inputs; k++) {
    norm->in[k] = norm->out;
    norm->in[k].name = names[k];
  }
  return VINCI_OK;
}

static bool call_norm(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

#define OPERATOR(id, vendor, summary, table, count, inputs_, weights_)                             \
  static enum vinci_status id##_setup(struct lower_job *job) {                                     \
    static const struct norm func = {.inputs = inputs_, .weights = weights_, .steps = id##_steps}; \
    return norm_setup(job, &func);                                                                 \
  }                                                                                                \
  const struct lower_op lower_##id = {                                                             \
      .name = #id,                                                                                 \
      .vendor_types = vendor,                                                                      \
      .text = summary,                                                                             \
      .keys = table,                                                                               \
      .key_count = count,                                                                          \
      .setup = id##_setup,                                                                         \
      .candidate = candidate,                                                                      \
      .cost = cost,                                                                                \
      .emit = emit,                                                                                \
      .from_tensors = call_norm,                                                                   \
  };

OPERATOR(softmax, "SoftmaxV2|Softmax", "y = exp(x - max) / sum", softmax_keys, SOFTMAX_KEYS, 1, 0)
OPERATOR(log_softmax, "LogSoftmaxV2|LogSoftmax", "y = x - max - ln(sum(exp(x - max)))",
         softmax_keys, SOFTMAX_KEYS, 1, 0)
OPERATOR(log_softmax_grad, "LogSoftmaxGrad", "y = x - exp(x1) * sum(x)", softmax_keys, SOFTMAX_KEYS,
         2, 0)
OPERATOR(rms_norm, "RmsNorm", "y = gamma * x / sqrt(mean(x * x) + eps)", norm_keys, NORM_KEYS, 1, 1)
OPERATOR(layer_norm, "LayerNorm|LayerNormV3|LayerNormV4",
         "y = gamma * (x - mean) / sqrt(variance + eps) + beta", norm_keys, NORM_KEYS, 1, 2)
