/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rms_norm_grad: what a normalisation by the root of the mean square passes back. With x' = x *
 * rstd and g = dy * gamma, rows of dx are rstd * (g - x' * mean(g * x')), and dgamma sums dy * x'
 * over all rows: each core over its own, then added in device memory. The first core clears
 * dgamma, and all vector cores wait for that before they add, so the kernel is launched on all of
 * them, as the vendor's is.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "traces/lower/vector/rows.h"

typedef unsigned long long ull;

enum { FLOAT_BYTES = 4, HALVINGS = 4, WEIGHT_FLAG = 2, CLEARED = 0 };

enum { KEY_SHAPE, KEY_WEIGHTS, KEY_DTYPE, KEY_TILING, GRAD_KEYS = KEY_TILING + VTILE_KEYS };

static const struct lower_key keys[GRAD_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of dy, x and dx", false},
    [KEY_WEIGHTS] = {"axes", LOWER_SIZE, "1", NULL, "how many dimensions, the last, are normalised",
                     false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32",
                   "type of dy, x, gamma, dx; rstd and dgamma are fp32", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

/* Registers: X0 dy, X1 x, X2 gamma, X3 dgamma, X4 rstd, T0, T1 a column. */
enum { R_DY = X0, R_X = X1, R_GAMMA = X2, R_DGAMMA = X3, R_RSTD = X4, R_SUM = T1 };

struct vgrad {
  enum dtype type;
  struct vtile tile;
  struct vtile_operand dy, x, dx;
  uint64_t pitch;
  uint64_t rstd; /* in the buffer */
  uint64_t address[VREGS];
  uint64_t raw_gamma, accumulator, blocks, ub_bytes;
};

/* ---- layout --------------------------------------------------------------------------------- */

static void lay_out(struct vgrad *grad) {
  struct vtile *tile = &grad->tile;
  uint64_t bytes = vtile_bytes(grad->type), slot = 0, used;
  uint64_t elements = tile->rows * grad->pitch, floats = elements * FLOAT_BYTES;
  uint64_t column = ceil_div(tile->rows, 8) * BLOCK_BYTES;
  bool converts = grad->type != DTYPE_FP32;
  grad->dy.address = vtile_reserve(&slot, elements * bytes);
  grad->x.address = vtile_reserve(&slot, elements * bytes);
  grad->dx.address = vtile_reserve(&slot, elements * bytes);
  grad->rstd = vtile_reserve(&slot, column);
  tile->slot_bytes = slot;
  used = slot * tile->buffers;
  grad->address[R_DY] = converts ? vtile_reserve(&used, floats) : 0;
  grad->address[R_X] = converts ? vtile_reserve(&used, floats) : 0;
  grad->address[T0] = vtile_reserve(&used, floats);
  grad->address[R_SUM] = vtile_reserve(&used, column);
  grad->address[R_GAMMA] = vtile_reserve(&used, grad->pitch * FLOAT_BYTES);
  grad->address[R_DGAMMA] = vtile_reserve(&used, grad->pitch * FLOAT_BYTES);
  grad->raw_gamma = converts ? vtile_reserve(&used, grad->pitch * bytes) : 0;
  grad->accumulator = vtile_reserve(&used, tile->rows * VROW_LANES * FLOAT_BYTES);
  grad->blocks = vtile_reserve(&used, column * 8);
  grad->ub_bytes = used;
}

static enum vinci_status setup(struct lower_job *job) {
  struct vgrad *grad = ARENA_NEW(job->arena, struct vgrad);
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  if (!grad)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  uint64_t axes = job->value[KEY_WEIGHTS].size;
  if (axes > shape->rank)
    return lower_error(job, "x has only %u dimensions", shape->rank);
  if (job->soc->arch == ARCH_C100 || job->soc->arch == ARCH_M200)
    return lower_error(job, "not for %s: no signals between its cores", arch_name(job->soc->arch));
  unsigned rows = shape->rank - (unsigned)axes;
  job->data = grad;
  grad->type = job->value[KEY_DTYPE].dtype;
  grad->tile.prefix = "";
  grad->tile.parts = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  grad->tile.space.rows = lower_elements(shape->shape, rows);
  grad->tile.space.cols = lower_elements(shape->shape + rows, (unsigned)axes);
  grad->pitch = vtile_pitch(grad->tile.space.cols, vtile_bytes(grad->type));
  grad->dy = (struct vtile_operand){.name = "dy",
                                    .dtype = grad->type,
                                    .row_stride = grad->tile.space.cols,
                                    .col_stride = 1,
                                    .pitch = grad->pitch};
  grad->x = grad->dx = grad->dy;
  grad->x.name = "x";
  grad->dx.name = "dx";
  return VINCI_OK;
}

/* ---- tiling and cost ------------------------------------------------------------------------- */

static bool candidate(struct lower_job *job, size_t index) {
  struct vgrad *grad = job->data;
  struct vtile *tile = &grad->tile;
  uint64_t low = 1, high = grad->pitch > VROW_PITCH_MAX ? 1 : min_u64(tile->space.rows, VROWS_MAX);
  if (index > HALVINGS)
    return false;
  tile->cols = tile->space.cols;
  tile->buffers = index == HALVINGS ? 1 : 2;
  while (low < high) {
    tile->rows = low + (high - low + 1) / 2;
    lay_out(grad);
    if (grad->ub_bytes <= vtile_ub_bytes(job->soc))
      low = tile->rows;
    else
      high = tile->rows - 1;
  }
  vtile_split_rows(job->cores, tile, vtile_bytes(grad->type), max_u64(low >> index % HALVINGS, 1));
  vtile_fit(job, tile);
  vtile_give(job, tile);
  return true;
}

/* Passes over a tile: seven products and differences of two sources each, a reduction, and a
 * conversion for each operand; and a sum for each row, which waits for the one before. */
static uint64_t tile_cycles(const struct vinci_soc *soc, const struct vgrad *grad) {
  const uint64_t two_sources = 8, operands = 3;
  uint64_t repeats = grad->tile.rows * ceil_div(grad->pitch, VROW_LANES);
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  return 2 * repeats + grad->tile.rows * start +
         repeats * (2 * two_sources + (grad->type != DTYPE_FP32 ? operands : 0));
}

static bool cost(struct lower_job *job) {
  struct vgrad *grad = job->data;
  struct vtile *tile = &grad->tile;
  vtile_take(job, tile);
  if (!vtile_count(job, tile))
    return false;
  if (tile->cols != tile->space.cols)
    return lower_refuse(job, "a tile takes whole rows, of %llu columns", (ull)tile->space.cols);
  if (tile->rows > 1 && (grad->pitch > VROW_PITCH_MAX || tile->rows > VROWS_MAX))
    return lower_refuse(job, "tiles of more than one row have at most %d rows of %d columns",
                        VROWS_MAX, VROW_PITCH_MAX);
  lay_out(grad);
  if (grad->ub_bytes > vtile_ub_bytes(job->soc))
    return lower_refuse(job, "the tile takes %llu bytes of UB, there are %llu", (ull)grad->ub_bytes,
                        (ull)vtile_ub_bytes(job->soc));
  uint64_t bytes = tile->rows * tile->cols * vtile_bytes(grad->type);
  struct vtile_work work = {.in_bytes = 2 * bytes + tile->rows * FLOAT_BYTES,
                            .out_bytes = bytes,
                            .in_copies = 3,
                            .out_copies = 1,
                            .vector_cycles = tile_cycles(job->soc, grad),
                            .code = KERNEL_NORM,
                            .launched = soc_core_count(job->soc, CORE_AIV)};
  vtile_cost(job, tile, &work);
  job->cost.blocks = (uint32_t)work.launched;
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_convert(struct emit *e, enum dtype from, enum dtype to, const char *dst,
                        const char *src) {
  emit_row(e, "%s,dst=%s,src=%s,repeat=1", vconvert_inst(e->soc, from, to), dst, src);
}

/* gamma stays; the sums and what will be spread begin with 0, and so does dgamma. */
static void put_start(struct emit *e, const struct vgrad *grad) {
  ull cols = grad->tile.space.cols, bytes = vtile_bytes(grad->type);
  ull pad = (BLOCK_BYTES - cols * bytes % BLOCK_BYTES) % BLOCK_BYTES / bytes;
  ull gamma = grad->raw_gamma ? grad->raw_gamma : grad->address[R_GAMMA];
  emit_row(e, "%s,dst=%llu,src=gamma,len_burst=%llu,right_pad=%llu",
           vtile_copy_name(false, grad->type), gamma, cols * bytes, pad);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "%d", WEIGHT_FLAG);
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)ceil_div(grad->tile.rows, 8) * 8);
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)grad->address[R_SUM]);
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)grad->pitch);
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)grad->address[R_DGAMMA]);
  emit_loop(e, "clear", "blk==0");
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "%d", WEIGHT_FLAG);
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "%d", WEIGHT_FLAG);
  emit_row(e, "copy_ubuf_to_gm_align_b32,dst=dgamma,src=%llu,len_burst=%llu",
           (ull)grad->address[R_DGAMMA], cols * FLOAT_BYTES);
  emit_set_flag(e, PIPE_MTE3, PIPE_V, "%d", WEIGHT_FLAG);
  emit_wait_flag(e, PIPE_MTE3, PIPE_V, "%d", WEIGHT_FLAG);
  emit_endloop(e);
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=0,id=%d", CLEARED);
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "%d", WEIGHT_FLAG);
  if (grad->raw_gamma)
    put_convert(e, grad->type, DTYPE_FP32, emit_text(e, "%llu", (ull)grad->address[R_GAMMA]),
                emit_text(e, "%llu", gamma));
}

static void load_rstd(struct emit *e, const struct vgrad *grad) {
  const struct vtile *tile = &grad->tile;
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=%s+%llu,src=rstd+%s*4,len_burst=%s*4,"
           "right_pad=(8-%s%%8)%%8",
           tile->slot_text, (ull)grad->rstd, tile->row_text, tile->rows_text, tile->rows_text);
}

/* dgamma += rows of T0, one after the other, as the vendor's kernel does it. */
static void put_column_sums(struct vrows *rows) {
  struct vmachine *machine = &rows->machine;
  struct emit *e = machine->emit;
  const char *sum = machine->reg[R_DGAMMA], *tile = machine->reg[T0];
  vmachine_count(machine, emit_text(e, "%llu", (ull)(rows->single ? rows->cols : rows->pitch)));
  vmachine_order(machine, 1u << T0 | 1u << R_DGAMMA, 1u << R_DGAMMA);
  emit_loop(e, "line", "%s", rows->single ? "1" : rows->rows);
  emit_row(e, "vadd,dst=%s,src0=%s,src1=%s+line*%llu,repeat=1,type=fp32", sum, sum, tile,
           (ull)rows->pitch * FLOAT_BYTES);
  emit_barrier(e, PIPE_V);
  emit_endloop(e);
}

static void put_gradient(struct vrows *rows) {
  struct vmachine *machine = &rows->machine;
  const char *const *reg = machine->reg;
  const struct vstep dy_x = B("vmul", T0, R_DY, R_X), difference = B("vsub", R_DY, R_DY, T0);
  const struct vstep mean = P("vmuls", R_SUM, R_SUM, 1);
  vrow_spread(rows, R_RSTD, reg[R_RSTD]);
  vrow_with_column(rows, "vmul", R_X, reg[R_X], R_X, reg[R_X]);
  vrow_all(rows);
  vmachine_step(machine, &dy_x);
  put_column_sums(rows);
  vrow_with_row(rows, "vmul", R_DY, reg[R_DY], R_DY, reg[R_DY], R_GAMMA, reg[R_GAMMA]);
  vrow_all(rows);
  vmachine_step(machine, &dy_x);
  vrow_reduce(rows, VROW_SUM, R_SUM, reg[R_SUM], T0, reg[T0]);
  vrow_column(rows);
  vmachine_step(machine, &mean);
  vrow_spread(rows, R_SUM, reg[R_SUM]);
  vrow_with_column(rows, "vmul", T0, reg[T0], R_X, reg[R_X]);
  vrow_all(rows);
  vmachine_step(machine, &difference);
  vrow_spread(rows, R_RSTD, reg[R_RSTD]);
  vrow_with_column(rows, "vmul", Y0, reg[Y0], R_DY, reg[R_DY]);
}

/* The buffers as registers; narrow operands are converted. */
static void put_compute(struct emit *e, struct vgrad *grad) {
  const struct vtile *tile = &grad->tile;
  struct vrows rows = {.machine = {.emit = e, .type = DTYPE_FP32},
                       .rows = tile->rows_text,
                       .single = tile->rows == 1,
                       .cols = tile->space.cols,
                       .pitch = grad->pitch,
                       .accumulator = grad->accumulator,
                       .blocks = grad->blocks};
  struct vmachine *machine = &rows.machine;
  const struct vtile_operand *operands[] = {&grad->dy, &grad->x};
  machine->parameter[0] = 1.0 / (double)tile->space.cols;
  machine->written = (1u << VREGS) - 1;
  for (unsigned r = 0; r < VREGS; r++)
    if (grad->address[r])
      machine->reg[r] = emit_text(e, "%llu", (ull)grad->address[r]);
  machine->reg[R_RSTD] = emit_text(e, "%s+%llu", tile->slot_text, (ull)grad->rstd);
  const char *out = emit_text(e, "%s+%llu", tile->slot_text, (ull)grad->dx.address);
  bool converts = grad->type != DTYPE_FP32;
  vrow_all(&rows);
  for (unsigned k = 0; k < 2; k++) {
    const char *raw = emit_text(e, "%s+%llu", tile->slot_text, (ull)operands[k]->address);
    if (!converts) {
      machine->reg[R_DY + k] = raw;
      continue;
    }
    vmachine_order(machine, 0, 1u << (R_DY + k));
    put_convert(e, grad->type, DTYPE_FP32, machine->reg[R_DY + k], raw);
  }
  machine->reg[Y0] = converts ? machine->reg[T0] : out;
  put_gradient(&rows);
  if (converts) {
    vrow_all(&rows);
    vmachine_order(machine, 1u << Y0 | 1u << T0, 0);
    put_convert(e, DTYPE_FP32, grad->type, out, machine->reg[Y0]);
  }
  vmachine_rest(machine);
}

/* Once dgamma is clear, every core adds its sums. */
static void put_sums(struct emit *e, const struct vgrad *grad) {
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "%d", WEIGHT_FLAG);
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "%d", WEIGHT_FLAG);
  emit_row(e, "wait_flag_dev,id=%d", CLEARED);
  emit_row(e, "set_atomic_add");
  emit_row(e, "set_atomic_f32");
  emit_row(e, "copy_ubuf_to_gm_align_b32,dst=dgamma,src=%llu,len_burst=%llu",
           (ull)grad->address[R_DGAMMA], (ull)grad->tile.space.cols * FLOAT_BYTES);
  emit_row(e, "set_atomic_none");
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct vgrad *grad = job->data;
  struct vtile *tile = &grad->tile;
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  unsigned cores = soc_core_count(job->soc, CORE_AIV);
  unsigned outer = shape->rank - (unsigned)job->value[KEY_WEIGHTS].size;
  vtile_take(job, tile);
  vtile_counts(tile);
  lay_out(grad);
  emit_kernel(e, job->op->name, cores);
  emit_tensor(e, "dy", grad->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "x", grad->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_vector(e, "rstd", DTYPE_FP32, TENSOR_IN, tile->space.rows);
  emit_tensor(e, "gamma", grad->type, TENSOR_IN, shape->shape + outer, shape->rank - outer, NULL);
  emit_tensor(e, "dx", grad->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  emit_tensor(e, "dgamma", DTYPE_FP32, TENSOR_OUT, shape->shape + outer, shape->rank - outer, NULL);
  emit_buffer(e, "buf", SPACE_UB, grad->ub_bytes);
  emit_stream(e, CORE_AIV);
  emit_kernel_start(e, KERNEL_NORM, cores);
  emit_row(e, "set_mask_count");
  put_start(e, grad);
  emit_loop(e, "busy", "blk<%llu", (ull)tile->blocks);
  vtile_open(e, tile);
  load_rstd(e, grad);
  vtile_load(e, tile, &grad->dy);
  vtile_load(e, tile, &grad->x);
  vtile_loaded(e, tile);
  put_compute(e, grad);
  vtile_computed(e, tile);
  vtile_store(e, tile, &grad->dx);
  vtile_close(e, tile);
  emit_endloop(e);
  put_sums(e, grad);
}

/* dy, x, rstd, gamma, whose extents are the last ones of x. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count < 4 || call->input[3].rank == 0 || call->input[3].rank > x->rank)
    return lower_cannot(call, "gradient, x, rstd and gamma are needed");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "axes=%u", call->input[3].rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

const struct lower_op lower_rms_norm_grad = {
    .name = "rms_norm_grad",
    .vendor_types = "RmsNormGrad",
    .text =
        "dx = rstd * (g - x' * mean(g * x')), dgamma = sum(dy * x'); g = dy * gamma, x' = x * rstd",
    .keys = keys,
    .key_count = GRAD_KEYS,
    .setup = setup,
    .candidate = candidate,
    .cost = cost,
    .emit = emit,
    .from_tensors = from_tensors,
};
