/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax and argmin along the last dimension: y = where the first of the largest (smallest) is. A
 * row comes in chunks, of which each 64 lanes leave their largest and its lane. At the end of the
 * row the largest of these is compared with all of them, and the smallest index among equals is the
 * result. Indices are computed in single precision, so rows have less than 2^24 elements.
 */
#include <inttypes.h>
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/plan/program.h"
#include "lower/select/select.h"
#include "lower/vector/kernel.h"
#include "lower/vector/reduce/argmax.h"
#include "lower/vector/unit.h"

enum {
  FLOAT_BYTES = 4,
  LANES = 64,
  PAIR = 2,         /* words of a value and its lane */
  CHUNK_UNIT = 512, /* so that the winners of a chunk fill whole blocks */
  HALVINGS = 3,
  BUFFERS = 2,
  OUT_FLAG = 2,
};

static const struct lower_key keys[] = {SHAPE_KEY("extents of x; along the last"),
                                        DTYPE_KEY("fp32", "fp16|bf16|fp32", "type of x"),
                                        TILING_KEY("chunk", "elements that come in at once"),
                                        BLOCKS_KEY("cores to use; 0: all that have a row")};

/* Which element of a row: lower_op.spec. */
struct argmost_func {
  bool smallest;
  bool with_value; /* y1: of each row the largest (smallest) itself */
};

static void lay_out(struct argmost *arg) {
  uint64_t used = 0, chunk = round_up(arg->chunk, LANES);
  arg->chunks = ceil_div(arg->columns, arg->chunk);
  arg->winners = arg->chunks * chunk / LANES;
  arg->per_block = ceil_div(arg->rows, arg->blocks);
  arg->slot_bytes = vtile_align(chunk * vtile_bytes(arg->type));
  (void)vtile_reserve(&used, BUFFERS * arg->slot_bytes);
  arg->x = arg->type == DTYPE_FP32 ? 0 : vtile_reserve(&used, chunk * FLOAT_BYTES);
  arg->pairs = vtile_reserve(&used, chunk / LANES * PAIR * FLOAT_BYTES);
  arg->values = vtile_reserve(&used, arg->winners * FLOAT_BYTES);
  arg->lanes = vtile_reserve(&used, arg->winners * FLOAT_BYTES);
  arg->starts = vtile_reserve(&used, (arg->winners + BLOCK_BYTES) * FLOAT_BYTES);
  arg->indices = vtile_reserve(&used, arg->winners * FLOAT_BYTES);
  arg->bits = vtile_reserve(&used, arg->winners / BITS_PER_BYTE + BLOCK_BYTES);
  arg->fold = vtile_reserve(&used, LANES * FLOAT_BYTES);
  arg->best = vtile_reserve(&used, LANES * FLOAT_BYTES);
  for (unsigned i = 0; i < arg->results; i++) {
    struct argmost_result *result = &arg->result[i];
    result->column = vtile_reserve(&used, 2 * arg->per_block * FLOAT_BYTES + 2 * BLOCK_BYTES);
    result->converted = result->column;
    if (result->type != DTYPE_FP32)
      result->converted += vtile_pitch(arg->per_block, FLOAT_BYTES) * FLOAT_BYTES;
  }
  arg->ub_bytes = used;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct argmost_func *func = job->op->spec;
  const struct lower_value *shape = lower_get(job, "shape");
  struct argmost *arg = lower_data(job, sizeof *arg);
  if (!arg)
    return VINCI_E_NOMEM;
  arg->smallest = func->smallest;
  arg->result[arg->results++] = (struct argmost_result){.tensor = "y", .type = DTYPE_INT32};
  arg->type = lower_get(job, "dtype")->dtype;
  if (func->with_value)
    arg->result[arg->results++] = (struct argmost_result){.tensor = "y1", .type = arg->type};
  arg->columns = shape->shape[shape->rank - 1];
  arg->rows = lower_elements(shape->shape, shape->rank - 1);
  if (arg->columns >= 1u << 24)
    return lower_error(job, "rows have less than 2^24 elements");
  return VINCI_OK;
}

/* Whether copies fill up rows with a value. */
static bool fills_up(const struct vinci_soc *soc) { return select_has(soc, OP_SET_MOV_PAD_VAL); }

static bool candidate(struct lower_job *job, size_t index) {
  if (!fills_up(job->soc))
    return argmost_rows_candidate(job, index);
  struct argmost *arg = job->data;
  uint64_t turns = ceil_div(arg->rows, job->cores), chunk = ARGMOST_CHUNK_MAX >> index;
  if (index > HALVINGS)
    return false;
  chunk = arg->columns <= chunk ? arg->columns : chunk;
  lower_choose(job, "chunk", chunk);
  lower_choose(job, "blocks", ceil_div(arg->rows, turns));
  return true;
}

static void take_tiling(const struct lower_job *job, struct argmost *arg) {
  arg->chunk = lower_get(job, "chunk")->size;
  arg->blocks = lower_get(job, "blocks")->size;
  (fills_up(job->soc) ? lay_out : argmost_rows_lay_out)(arg);
}

static bool cost(struct lower_job *job) {
  struct argmost *arg = job->data;
  const struct vinci_soc *soc = job->soc;
  unsigned cores = soc_core_count(soc, emit_vector_core(soc));
  take_tiling(job, arg);
  if (arg->blocks > cores || arg->blocks > arg->rows)
    return lower_refuse(job, "there are %u cores and %" PRIu64 " rows", cores, arg->rows);
  if (!fills_up(soc))
    return argmost_rows_cost(job);
  if (arg->chunk > ARGMOST_CHUNK_MAX || (arg->chunk < arg->columns && arg->chunk % CHUNK_UNIT != 0))
    return lower_refuse(job, "chunks are whole rows or multiples of %d, up to %d", CHUNK_UNIT,
                        ARGMOST_CHUNK_MAX);
  return vtile_ub_holds(job, "a row", arg->ub_bytes) && program_cost(job);
}

/* ---- rows ------------------------------------------------------------------------------------ */

double argmost_loser(const struct argmost *arg) {
  return arg->smallest ? (double)INFINITY : -(double)INFINITY;
}

/* Elements of a row from a chunk on; gives the buffer, and how many there are. */
static struct expr put_load(struct emit *e, const struct argmost *arg, struct expr row,
                            struct expr turn, struct expr chunk) {
  uint64_t bytes = vtile_bytes(arg->type), whole = round_up(arg->chunk, LANES);
  struct expr half = emit_named(e, "half", x_mod(turn, BUFFERS)),
              slot = x_mul(half, arg->slot_bytes);
  struct expr first = x_mul(chunk, arg->chunk);
  struct expr length = emit_assigned(e, "length", x_min(arg->chunk, x_sub(arg->columns, first)));
  emit_wait(e, PIPE_V, PIPE_MTE2, half);
  vtile_load_run(e, arg->type, slot,
                 x_add(x_name(e, "x"), x_mul(x_add(x_mul(row, arg->columns), first), bytes)),
                 length);
  emit_handshake(e, PIPE_MTE2, PIPE_V, half);
  /* Up to whole repeats of 64 elements. */
  if (arg->columns % whole != 0)
    vfill_tail(e, slot, length, whole, arg->type, argmost_loser(arg));
  return half;
}

/* The winner of each 64 elements of a chunk, and its lane. */
static void put_chunk(struct emit *e, const struct argmost *arg, struct expr row, struct expr u,
                      struct expr c) {
  uint64_t chunk = round_up(arg->chunk, LANES), repeats = chunk / LANES;
  struct vunit unit = {.emit = e};
  struct expr half = put_load(e, arg, row, x_add(x_mul(u, arg->chunks), c), c);
  struct expr x = x_mul(half, arg->slot_bytes), winners = x_mul(c, repeats * FLOAT_BYTES);
  vmask_count(e, chunk);
  if (arg->type != DTYPE_FP32) {
    emit_barrier(e, PIPE_V);
    vunit_convert(&unit, 0, 0, arg->type, DTYPE_FP32, EXPR(arg->x), x);
    x = EXPR(arg->x);
  }
  emit_barrier(e, PIPE_V);
  emit_plain(e, "set_mask_norm");
  EMIT(e, "set_vector_mask", F("high", 0), F("low", -1));
  EMIT(e, arg->smallest ? "vcmin" : "vcmax", F("dst", arg->pairs), F("src", x),
       F("repeat", repeats), W("type", "fp32"));
  emit_plain(e, "set_mask_count");
  emit_barrier(e, PIPE_V);
  emit_set(e, PIPE_V, PIPE_MTE2, half);
  vmask_count(e, repeats * PAIR);
  vunit_take_words(e, x_add(arg->values, winners), arg->pairs, 1);
  vunit_take_words(e, x_add(arg->lanes, winners), arg->pairs, 2);
  emit_barrier(e, PIPE_V);
}

/* 64 lanes of the best of all winners, then one number of them. */
static void put_fold(struct emit *e, const struct argmost *arg, bool smallest, double nothing,
                     uint64_t from, struct expr to) {
  vmask_count(e, LANES);
  vfill(e, arg->fold, vscalar(DTYPE_FP32, nothing), "fp32");
  emit_barrier(e, PIPE_V);
  vmask_count(e, arg->winners);
  EMIT(e, smallest ? "vmin" : "vmax", F("dst", arg->fold), F("src0", arg->fold), F("src1", from),
       F("repeat", 1), F("dst_repeat", 0), F("src0_repeat", 0), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, LANES);
  EMIT(e, smallest ? "vcmin" : "vcmax", F("dst", to), F("src", arg->fold), F("repeat", 1),
       W("order", "value"), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
}

/* The first of the winners that equal the best of them; `at`: bytes of a column. */
static void put_row(struct emit *e, const struct argmost *arg, struct expr at) {
  struct vunit unit = {.emit = e};
  vmask_count(e, arg->winners);
  EMIT(e, "vadd", F("dst", arg->indices), F("src0", arg->lanes), F("src1", arg->starts),
       F("repeat", 1), W("type", "int32"));
  emit_barrier(e, PIPE_V);
  vunit_convert(&unit, 0, 0, DTYPE_INT32, DTYPE_FP32, EXPR(arg->indices), EXPR(arg->indices));
  put_fold(e, arg, arg->smallest, argmost_loser(arg), arg->values, EXPR(arg->best));
  vmask_count(e, LANES);
  EMIT(e, "vbrcb", F("dst", arg->fold), F("src", arg->best), F("repeat", 1), W("type", "uint32"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, arg->winners);
  EMIT(e, "vcmpv_eq", F("dst", arg->bits), F("src0", arg->values), F("src1", arg->fold),
       F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0), W("type", "fp32"));
  vmask_count(e, FLOAT_BYTES * 2);
  vfill(e, arg->best, vscalar(DTYPE_FP32, (double)INFINITY), "fp32");
  emit_barrier(e, PIPE_V);
  vmask_count(e, arg->winners);
  EMIT(e, "vsel", F("dst", arg->indices), F("src0", arg->indices), F("src1", arg->best),
       F("mask", arg->bits), F("repeat", 1), W("mode", "scalar"), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  put_fold(e, arg, true, (double)INFINITY, arg->indices, x_add(arg->result[0].column, at));
}

/* What all rows share: where each 64 elements begin, and the lanes that are spread but not used. */
static void put_start(struct emit *e, const struct argmost *arg) {
  const struct vtable starts = vtable_series(arg->starts, LANES);
  EMIT(e, "set_mov_pad_val", F("value", vscalar(arg->type, argmost_loser(arg))));
  emit_comment(e, "Where each 64 elements begin.");
  vtables_fill(e, &starts, 1, arg->winners);
  emit_comment(e, "The lanes that are spread but not used.");
  vmask_count(e, LANES);
  vfill(e, arg->best, 0, "fp32");
  emit_barrier(e, PIPE_V);
}

void argmost_put_results(struct emit *e, const struct argmost *arg, struct expr first,
                         struct expr units) {
  const struct argmost_result *end = arg->result + arg->results;
  struct vunit unit = {.emit = e};
  vmask_count(e, units);
  for (const struct argmost_result *r = arg->result; r < end; r++)
    if (r->type != DTYPE_FP32)
      vunit_convert(&unit, 0, 0, DTYPE_FP32, r->type, EXPR(r->converted), EXPR(r->column));
  emit_handshake(e, PIPE_V, PIPE_MTE3, OUT_FLAG);
  for (const struct argmost_result *r = arg->result; r < end; r++)
    vtile_store_run(e, r->type, x_add(x_name(e, r->tensor), x_mul(first, vtile_bytes(r->type))),
                    EXPR(r->converted), units);
}

static void put_rows(struct emit *e, const struct argmost *arg) {
  struct expr first = x_mul(x_name(e, "blk"), arg->per_block);
  put_start(e, arg);
  emit_flags(e, "first", true, PIPE_V, PIPE_MTE2, BUFFERS);
  struct expr units =
      emit_named(e, "units", x_max(0, x_min(arg->per_block, x_sub(arg->rows, first))));
  struct expr u = emit_for(e, "u", units);
  struct expr row = emit_named(e, "row", x_add(first, u));
  put_chunk(e, arg, row, u, emit_for(e, "c", arg->chunks));
  emit_end(e);
  for (unsigned i = 1; i < arg->results; i++)
    put_fold(e, arg, arg->smallest, argmost_loser(arg), arg->values,
             x_add(arg->result[i].column, x_mul(u, FLOAT_BYTES)));
  put_row(e, arg, x_mul(u, FLOAT_BYTES));
  emit_end(e);
  emit_if(e, "any", x_gt(units, 0));
  argmost_put_results(e, arg, first, units);
  emit_end(e);
  emit_flags(e, "last", false, PIPE_V, PIPE_MTE2, BUFFERS);
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct argmost *arg = job->data;
  const struct lower_value *x = lower_get(job, "shape");
  const uint64_t one = 1;
  take_tiling(job, arg);
  emit_kernel(e, job->op->name, (uint32_t)arg->blocks);
  emit_tensor(e, "x", arg->type, TENSOR_IN, x->shape, x->rank, NULL);
  for (unsigned i = 0; i < arg->results; i++)
    emit_tensor(e, arg->result[i].tensor, arg->result[i].type, TENSOR_OUT,
                x->rank > 1 ? x->shape : &one, x->rank > 1 ? x->rank - 1 : 1, NULL);
  vkernel_stream(e, arg->ub_bytes, KERNEL_REDUCE);
  emit_plain(e, "set_mask_count");
  (fills_up(job->soc) ? put_rows : argmost_rows_put)(e, arg);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* The dimension is a value that profiles lack: the last, when y has the others. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0)
    return lower_cannot(call, "no shapes");
  bool last = lower_elements(y->shape, y->rank) == lower_elements(x->shape, x->rank - 1);
  for (unsigned i = 0; i + 1 < x->rank && i < y->rank; i++)
    last &= x->shape[i] == y->shape[i];
  if (!last)
    return lower_cannot(call, "only the last dimension can be searched");
  lower_arg_tensor(call, x);
  return true;
}

static const struct lower_template template = {setup, candidate, cost, emit};
#define ARGMOST(id, vendor, summary, ...)                                                          \
  LOWER_OPERATOR(id, vendor, summary, keys, &template,                                             \
                 (&(const struct argmost_func){__VA_ARGS__}), from_tensors)

ARGMOST(argmax, "ArgMax|ArgMaxD|ArgMaxV2", "y = where the largest of each row of x is, the first",
        .smallest = false)
ARGMOST(argmin, "ArgMin|ArgMinD|ArgMinV2", "y = where the smallest of each row of x is, the first",
        .smallest = true)
ARGMOST(argmax_with_value, "ArgMaxWithValue",
        "y = where the largest of each row of x is, the first; y1 = that element",
        .with_value = true)
ARGMOST(argmin_with_value, "ArgMinWithValue",
        "y = where the smallest of each row of x is, the first; y1 = that element",
        .smallest = true, .with_value = true)
