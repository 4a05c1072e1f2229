/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax and argmin along the last dimension: y = where the first of the largest (smallest) is. A
 * row comes in chunks, of which each 64 lanes leave their largest and its lane. At the end of the
 * row the largest of these is compared with all of them, and the smallest index among equals is the
 * result. Indices are computed in single precision, so rows have less than 2^24 elements.
 */
#include <math.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "traces/lower/estimate.h"
#include "traces/lower/launch.h"
#include "traces/lower/vector/program.h"
#include "traces/lower/vector/tiles.h"

typedef unsigned long long ull;

enum { KEY_SHAPE, KEY_DTYPE, KEY_CHUNK, KEY_BLOCKS, ARG_KEYS };
enum {
  FLOAT_BYTES = 4,
  LANES = 64,
  PAIR = 2, /* words of a value and its lane */
  CHUNK_MAX = 8192,
  CHUNK_UNIT = 512, /* so that the winners of a chunk fill whole blocks */
  HALVINGS = 3,
  BUFFERS = 2,
  OUT_FLAG = 2,
};

static const struct lower_key keys[ARG_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x; along the last", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp32", "fp16|bf16|fp32", "type of x", false},
    [KEY_CHUNK] = {"chunk", LOWER_SIZE, NULL, NULL, "elements that come in at once", true},
    [KEY_BLOCKS] = {"blocks", LOWER_SIZE, NULL, "0", "cores to use; 0: all that have a row", true,
                    true},
};

struct argmost {
  bool smallest;
  enum dtype type;
  uint64_t rows, columns, chunk, chunks, blocks, per_block;
  uint64_t winners; /* of a row: one of each 64 elements, in whole chunks */
  /* Addresses in UB. */
  uint64_t slot_bytes, x, pairs, values, lanes, starts, indices, bits, fold, best, out, ub_bytes;
};

static void lay_out(struct argmost *arg) {
  uint64_t used = 0, chunk = ceil_div(arg->chunk, LANES) * LANES;
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
  arg->out = vtile_reserve(&used, 2 * arg->per_block * FLOAT_BYTES + 2 * BLOCK_BYTES);
  arg->ub_bytes = used;
}

static enum vinci_status setup(struct lower_job *job, bool smallest) {
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  struct argmost *arg = ARENA_NEW(job->arena, struct argmost);
  if (!arg)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  job->data = arg;
  arg->smallest = smallest;
  arg->type = job->value[KEY_DTYPE].dtype;
  arg->columns = shape->shape[shape->rank - 1];
  arg->rows = lower_elements(shape->shape, shape->rank - 1);
  if (arg->columns >= 1u << 24)
    return lower_error(job, "rows have less than 2^24 elements");
  return VINCI_OK;
}

static bool candidate(struct lower_job *job, size_t index) {
  struct argmost *arg = job->data;
  uint64_t turns = ceil_div(arg->rows, job->cores), chunk = CHUNK_MAX >> index;
  if (index > HALVINGS)
    return false;
  chunk = arg->columns <= chunk ? arg->columns : chunk;
  job->value[KEY_CHUNK] = (struct lower_value){.present = true, .size = chunk};
  job->value[KEY_BLOCKS] =
      (struct lower_value){.present = true, .size = ceil_div(arg->rows, turns)};
  return true;
}

static void take_tiling(const struct lower_job *job, struct argmost *arg) {
  arg->chunk = job->value[KEY_CHUNK].size;
  arg->blocks = job->value[KEY_BLOCKS].size;
  lay_out(arg);
}

static bool cost(struct lower_job *job) {
  struct argmost *arg = job->data;
  const struct vinci_soc *soc = job->soc;
  unsigned cores = soc_core_count(soc, emit_vector_core(soc));
  take_tiling(job, arg);
  if (!(isa_row(OP_VREDUCEV2)->archs & 1u << soc->arch))
    return lower_refuse(job, "%s has no instruction that takes pairs apart", soc->name);
  if (arg->blocks > cores || arg->blocks > arg->rows)
    return lower_refuse(job, "there are %u cores and %llu rows", cores, (ull)arg->rows);
  if (arg->chunk > CHUNK_MAX || (arg->chunk < arg->columns && arg->chunk % CHUNK_UNIT != 0))
    return lower_refuse(job, "chunks are whole rows or multiples of %d, up to %d", CHUNK_UNIT,
                        CHUNK_MAX);
  if (arg->ub_bytes > vtile_ub_bytes(soc))
    return lower_refuse(job, "a row takes %llu bytes of UB, there are %llu", (ull)arg->ub_bytes,
                        (ull)vtile_ub_bytes(soc));
  uint64_t bytes = arg->columns * vtile_bytes(arg->type);
  const struct path_cost *in = &soc->path[PATH_GM_UB];
  uint64_t copies = arg->chunks * (uint64_t)in->startup_mcycles / MILLI +
                    bytes * MILLI / (uint64_t)in->mbytes_per_cycle;
  uint64_t step = (uint64_t)soc->vector_class[VECTOR_CLASS_SEVEN].per_repeat_mcycles;
  enum { ROW_CYCLES = 400, CHUNK_CYCLES = 100 }; /* of the instructions that look at winners */
  uint64_t vector = arg->winners * (step + MILLI) / MILLI + ROW_CYCLES + arg->chunks * CHUNK_CYCLES;
  uint64_t start =
      launch_spread_cycles(soc, arg->blocks) + estimate_start(soc, KERNEL_REDUCE, arg->blocks);
  job->cost = (struct lower_cost){
      .total_cycles = start + arg->per_block * max_u64(vector, copies) + min_u64(vector, copies),
      .vector_cycles = arg->per_block * vector,
      .mte2_cycles = arg->per_block * copies,
      .gm_bytes = arg->rows * (bytes + FLOAT_BYTES),
      .blocks = (uint32_t)arg->blocks,
  };
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_count(struct emit *e, const char *count) {
  emit_row(e, "set_vector_mask,high=0,low=%s", count);
}

static void put_count_of(struct emit *e, uint64_t count) {
  put_count(e, emit_text(e, "%llu", (ull)count));
}

/* Where each 64 elements begin: eight numbers by hand, then twice as many again and again. */
static void put_starts(struct emit *e, const struct argmost *arg) {
  const ull by_hand = 8;
  emit_comment(e, "Where each 64 elements begin.");
  emit_row(e, "set_mask_norm");
  for (ull lane = 0; lane < by_hand; lane++) {
    emit_row(e, "set_vector_mask,high=0,low=%llu", 1ull << lane);
    emit_row(e, "vector_dup,dst=%llu,scalar=%llu,repeat=1,type=int32", (ull)arg->starts,
             lane * LANES);
  }
  emit_row(e, "set_mask_count");
  for (ull count = by_hand; count < arg->winners; count *= 2) {
    emit_barrier(e, PIPE_V);
    put_count_of(e, min_u64(count, arg->winners - count));
    emit_row(e, "vadds,dst=%llu,src=%llu,scalar=%llu,repeat=1,type=int32",
             (ull)arg->starts + count * FLOAT_BYTES, (ull)arg->starts, count * LANES);
  }
}

/* What can not win, in the type of x or in single precision. */
static long long loser_bits(const struct argmost *arg, enum dtype type) {
  return vscalar_bits(type, arg->smallest ? (double)INFINITY : -(double)INFINITY);
}

static void put_load(struct emit *e, const struct argmost *arg) {
  ull bytes = vtile_bytes(arg->type);
  emit_let(e, "half", "(u*%llu+c)%%%d", (ull)arg->chunks, BUFFERS);
  emit_let(e, "length", "min(%llu,%llu-c*%llu)", (ull)arg->chunk, (ull)arg->columns,
           (ull)arg->chunk);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "half");
  emit_row(e,
           "%s,dst=half*%llu,src=x+(row*%llu+c*%llu)*%llu,len_burst=length*%llu,"
           "right_pad=(%d-length*%llu%%%d)%%%d/%llu",
           vtile_copy_name(false, arg->type), (ull)arg->slot_bytes, (ull)arg->columns,
           (ull)arg->chunk, bytes, bytes, BLOCK_BYTES, bytes, BLOCK_BYTES, BLOCK_BYTES, bytes);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "half");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "half");
}

/* Behind the blocks that were loaded, up to whole repeats of 64 elements. */
static void put_tail(struct emit *e, const struct argmost *arg, ull chunk) {
  ull bytes = vtile_bytes(arg->type), per_block = BLOCK_BYTES / bytes;
  if (arg->columns % chunk == 0)
    return;
  emit_let(e, "filled", "(length+%llu)/%llu*%llu", per_block - 1, per_block, per_block);
  emit_loop(e, "tail", "filled<%llu", chunk);
  put_count(e, emit_text(e, "%llu-filled", chunk));
  emit_row(e, "vector_dup,dst=half*%llu+filled*%llu,scalar=%lld,repeat=1,type=%s",
           (ull)arg->slot_bytes, bytes, loser_bits(arg, arg->type), dtype_name(arg->type));
  emit_endloop(e);
  emit_barrier(e, PIPE_V);
}

/* The winner of each 64 elements of a chunk, and its lane. */
static void put_chunk(struct emit *e, const struct argmost *arg) {
  ull chunk = ceil_div(arg->chunk, LANES) * LANES, repeats = chunk / LANES;
  const char *x = emit_text(e, "half*%llu", (ull)arg->slot_bytes);
  put_load(e, arg);
  put_tail(e, arg, chunk);
  put_count_of(e, chunk);
  if (arg->type != DTYPE_FP32) {
    emit_barrier(e, PIPE_V);
    emit_row(e, "%s,dst=%llu,src=%s,repeat=1", vconvert_inst(e->soc, arg->type, DTYPE_FP32),
             (ull)arg->x, x);
    x = emit_text(e, "%llu", (ull)arg->x);
  }
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_mask_norm");
  emit_row(e, "set_vector_mask,high=0,low=-1");
  emit_row(e, "%s,dst=%llu,src=%s,repeat=%llu,type=fp32", arg->smallest ? "vcmin" : "vcmax",
           (ull)arg->pairs, x, repeats);
  emit_row(e, "set_mask_count");
  emit_barrier(e, PIPE_V);
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "half");
  put_count_of(e, repeats * PAIR);
  emit_row(e, "vreducev2,dst=%llu+c*%llu,src0=%llu,src1=%llu,repeat=1,pattern=1,type=uint32",
           (ull)arg->values, repeats * FLOAT_BYTES, (ull)arg->pairs, (ull)arg->pairs);
  emit_row(e, "vreducev2,dst=%llu+c*%llu,src0=%llu,src1=%llu,repeat=1,pattern=2,type=uint32",
           (ull)arg->lanes, repeats * FLOAT_BYTES, (ull)arg->pairs, (ull)arg->pairs);
  emit_barrier(e, PIPE_V);
}

/* 64 lanes of the best of all winners, then one number of them. */
static void put_fold(struct emit *e, const struct argmost *arg, bool smallest, long long loser,
                     ull from, const char *to) {
  put_count_of(e, LANES);
  emit_row(e, "vector_dup,dst=%llu,scalar=%lld,repeat=1,type=fp32", (ull)arg->fold, loser);
  emit_barrier(e, PIPE_V);
  put_count_of(e, arg->winners);
  emit_row(e, "%s,dst=%llu,src0=%llu,src1=%llu,repeat=1,dst_repeat=0,src0_repeat=0,type=fp32",
           smallest ? "vmin" : "vmax", (ull)arg->fold, (ull)arg->fold, from);
  emit_barrier(e, PIPE_V);
  put_count_of(e, LANES);
  emit_row(e, "%s,dst=%s,src=%llu,repeat=1,order=value,type=fp32", smallest ? "vcmin" : "vcmax", to,
           (ull)arg->fold);
  emit_barrier(e, PIPE_V);
}

/* The first of the winners that equal the best of them. */
static void put_row(struct emit *e, const struct argmost *arg) {
  put_count_of(e, arg->winners);
  emit_row(e, "vadd,dst=%llu,src0=%llu,src1=%llu,repeat=1,type=int32", (ull)arg->indices,
           (ull)arg->lanes, (ull)arg->starts);
  emit_barrier(e, PIPE_V);
  emit_row(e, "vconv_s322f32,dst=%llu,src=%llu,repeat=1", (ull)arg->indices, (ull)arg->indices);
  put_fold(e, arg, arg->smallest, loser_bits(arg, DTYPE_FP32), (ull)arg->values,
           emit_text(e, "%llu", (ull)arg->best));
  put_count_of(e, LANES);
  emit_row(e, "vbrcb,dst=%llu,src=%llu,repeat=1,type=uint32", (ull)arg->fold, (ull)arg->best);
  emit_barrier(e, PIPE_V);
  put_count_of(e, arg->winners);
  emit_row(e, "vcmpv_eq,dst=%llu,src0=%llu,src1=%llu,repeat=1,src1_block=0,src1_repeat=0,type=fp32",
           (ull)arg->bits, (ull)arg->values, (ull)arg->fold);
  put_count_of(e, FLOAT_BYTES * 2);
  emit_row(e, "vector_dup,dst=%llu,scalar=%lld,repeat=1,type=fp32", (ull)arg->best,
           vscalar_bits(DTYPE_FP32, (double)INFINITY));
  emit_barrier(e, PIPE_V);
  put_count_of(e, arg->winners);
  emit_row(e, "vsel,dst=%llu,src0=%llu,src1=%llu,mask=%llu,repeat=1,mode=scalar,type=fp32",
           (ull)arg->indices, (ull)arg->indices, (ull)arg->best, (ull)arg->bits);
  emit_barrier(e, PIPE_V);
  put_fold(e, arg, true, vscalar_bits(DTYPE_FP32, (double)INFINITY), (ull)arg->indices,
           emit_text(e, "%llu+u*%d", (ull)arg->out, FLOAT_BYTES));
}

static void put_rows(struct emit *e, const struct argmost *arg) {
  ull out = (ull)(arg->out + vtile_pitch(arg->per_block, FLOAT_BYTES) * FLOAT_BYTES);
  emit_row(e, "set_mov_pad_val,value=%lld", loser_bits(arg, arg->type));
  put_starts(e, arg);
  emit_comment(e, "The lanes that are spread but not used.");
  put_count_of(e, LANES);
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)arg->best);
  emit_barrier(e, PIPE_V);
  emit_loop(e, "first", "%d", BUFFERS);
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "first");
  emit_endloop(e);
  emit_let(e, "units", "max(0,min(%llu,%llu-blk*%llu))", (ull)arg->per_block, (ull)arg->rows,
           (ull)arg->per_block);
  emit_loop(e, "u", "units");
  emit_let(e, "row", "blk*%llu+u", (ull)arg->per_block);
  emit_loop(e, "c", "%llu", (ull)arg->chunks);
  put_chunk(e, arg);
  emit_endloop(e);
  put_row(e, arg);
  emit_endloop(e);
  emit_loop(e, "any", "units>0");
  put_count(e, "units");
  emit_row(e, "vconv_f322s32,dst=%llu,src=%llu,repeat=1,round=z", out, (ull)arg->out);
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "%d", OUT_FLAG);
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "%d", OUT_FLAG);
  emit_row(e, "copy_ubuf_to_gm_align_b32,dst=y+blk*%llu,src=%llu,len_burst=units*%d",
           (ull)arg->per_block * FLOAT_BYTES, out, FLOAT_BYTES);
  emit_endloop(e);
  emit_loop(e, "last", "%d", BUFFERS);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "last");
  emit_endloop(e);
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct argmost *arg = job->data;
  const struct lower_value *x = &job->value[KEY_SHAPE];
  const uint64_t one = 1;
  take_tiling(job, arg);
  emit_kernel(e, job->op->name, (uint32_t)arg->blocks);
  emit_tensor(e, "x", arg->type, TENSOR_IN, x->shape, x->rank, NULL);
  emit_tensor(e, "y", DTYPE_INT32, TENSOR_OUT, x->rank > 1 ? x->shape : &one,
              x->rank > 1 ? x->rank - 1 : 1, NULL);
  emit_buffer(e, "buf", SPACE_UB, arg->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, KERNEL_REDUCE, arg->blocks);
  emit_row(e, "set_mask_count");
  put_rows(e, arg);
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum vinci_status argmax_setup(struct lower_job *job) { return setup(job, false); }
static enum vinci_status argmin_setup(struct lower_job *job) { return setup(job, true); }

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
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

#define OPERATOR(id, vendor, summary)                                                              \
  const struct lower_op lower_##id = {                                                             \
      .name = #id,                                                                                 \
      .vendor_types = vendor,                                                                      \
      .text = summary,                                                                             \
      .keys = keys,                                                                                \
      .key_count = ARG_KEYS,                                                                       \
      .setup = id##_setup,                                                                         \
      .candidate = candidate,                                                                      \
      .cost = cost,                                                                                \
      .emit = emit,                                                                                \
      .from_tensors = from_tensors,                                                                \
  };

OPERATOR(argmax, "ArgMax|ArgMaxD|ArgMaxV2", "y = where the largest of each row of x is, the first")
OPERATOR(argmin, "ArgMin|ArgMinD|ArgMinV2", "y = where the smallest of each row of x is, the first")
