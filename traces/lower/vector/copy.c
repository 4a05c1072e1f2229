/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: a tensor from one place in device memory to another, through UB. Each core takes a
 * run of tiles, two of which are on their way at any time, or one.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/estimate.h"
#include "traces/lower/launch.h"
#include "traces/lower/lower.h"

enum { KEY_SHAPE, KEY_DTYPE, KEY_TILE, KEY_BLOCKS, KEY_BUFFERS, KEY_COUNT };
enum { BUFFERS_MAX = 2, COPY_TILE_MIN = 2048 };

static const struct lower_key keys[KEY_COUNT] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of the tensor", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|int8|int16|int32|int64",
                   "type of its elements", false},
    [KEY_TILE] = {"tile", LOWER_SIZE, NULL, NULL, "bytes that one copy moves", true},
    [KEY_BLOCKS] = {"blocks", LOWER_SIZE, NULL, "0", "cores to use; 0: all that have a tile", true,
                    true},
    [KEY_BUFFERS] = {"buffers", LOWER_SIZE, NULL, NULL, "1: in and out take turns; 2: they overlap",
                     true},
};

/* Coupled cores copy whole blocks only. */
static bool has_bytes(const struct lower_job *job) {
  return emit_cube_core(job->soc) != emit_vector_core(job->soc);
}

static uint64_t total_bytes(const struct lower_job *job) {
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  return lower_elements(shape->shape, shape->rank) * dtype_bits(job->value[KEY_DTYPE].dtype) /
         BITS_PER_BYTE;
}

/* Equal runs for the cores, in tiles of equal size: as large as fits, then halved. */
static bool candidate(struct lower_job *job, size_t index) {
  uint64_t buffers = job->value[KEY_BUFFERS].given ? job->value[KEY_BUFFERS].size : BUFFERS_MAX;
  uint64_t most =
      ((uint64_t)job->soc->ub_bytes / max_u64(buffers, 1) >> index) / FRACTAL_BYTES * FRACTAL_BYTES;
  if (most < COPY_TILE_MIN)
    return false;
  uint64_t run = max_u64(ceil_div(total_bytes(job), job->cores), COPY_TILE_MIN);
  uint64_t tile = round_up(ceil_div(run, ceil_div(run, most)), FRACTAL_BYTES);
  uint64_t blocks = ceil_div(total_bytes(job), tile * ceil_div(run, tile));
  job->value[KEY_TILE] = (struct lower_value){.present = true, .size = tile};
  job->value[KEY_BUFFERS] = (struct lower_value){.present = true, .size = BUFFERS_MAX};
  job->value[KEY_BLOCKS] = (struct lower_value){.present = true, .size = blocks};
  return true;
}

static bool cost(struct lower_job *job) {
  const struct vinci_soc *soc = job->soc;
  uint64_t bytes = total_bytes(job), tile = job->value[KEY_TILE].size;
  uint64_t blocks = job->value[KEY_BLOCKS].size;
  if (!has_bytes(job) && bytes % BLOCK_BYTES)
    return lower_refuse(job, "%s copies whole blocks of %d bytes between device memory and UB",
                        arch_name(soc->arch), BLOCK_BYTES);
  uint64_t buffers = job->value[KEY_BUFFERS].size;
  if (buffers < 1 || buffers > BUFFERS_MAX)
    return lower_refuse(job, "buffers is 1 or 2");
  if (tile % BLOCK_BYTES != 0 || tile * buffers > (uint64_t)soc->ub_bytes)
    return lower_refuse(job, "tile has to be a multiple of %d up to %s UB", BLOCK_BYTES,
                        buffers > 1 ? "half of" : "all of");
  if (blocks > soc_core_count(soc, emit_vector_core(soc)))
    return lower_refuse(job, "there are only %u cores", soc_core_count(soc, emit_vector_core(soc)));
  uint64_t turns = ceil_div(ceil_div(bytes, tile), blocks), run = min_u64(tile, bytes);
  job->cost.blocks = (uint32_t)blocks;
  job->cost.gm_bytes = 2 * bytes;
  job->cost.mte2_cycles = turns * estimate_copies(&soc->path[PATH_GM_UB], run, 1);
  job->cost.mte3_cycles = turns * estimate_copies(&soc->path[PATH_UB_GM], run, 1);
  /* The first tile comes in and the last goes out alone. */
  uint64_t longest = max_u64(job->cost.mte2_cycles, job->cost.mte3_cycles);
  uint64_t other = min_u64(job->cost.mte2_cycles, job->cost.mte3_cycles);
  uint64_t pipes = buffers > 1 ? longest : longest + other;
  job->cost.total_cycles =
      estimate_start(soc, KERNEL_ELEMENTWISE, blocks) + launch_spread_cycles(soc, blocks) +
      max_u64(pipes, estimate_memory(soc, bytes, bytes)) + (buffers > 1 ? other / turns : 0);
  return true;
}

static void emit(const struct lower_job *job, struct emit *e) {
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  enum dtype dtype = job->value[KEY_DTYPE].dtype;
  uint64_t bytes = total_bytes(job), tile = job->value[KEY_TILE].size;
  uint64_t blocks = job->value[KEY_BLOCKS].size, buffers = job->value[KEY_BUFFERS].size;
  bool any_length = has_bytes(job);
  emit_kernel(e, "copy", (uint32_t)blocks);
  emit_tensor(e, "x", dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "y", dtype, TENSOR_OUT, shape->shape, shape->rank, NULL);
  emit_buffer(e, "buf", SPACE_UB, tile * buffers);
  emit_stream(e, emit_vector_core(job->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE, blocks);
  emit_comment(e, "Flags MTE3 to MTE2: half free; MTE2 to MTE3: half filled.");
  emit_set(e, PIPE_MTE3, PIPE_MTE2, emit_for(e, "h", buffers));
  emit_end(e);
  struct expr i = emit_for(e, "i", ceil_div(ceil_div(bytes, tile), blocks));
  struct expr at = emit_named(e, "at", x_mul(x_add(x_mul(i, blocks), x_name(e, "blk")), tile));
  struct expr half = emit_assigned(e, "half", x_mod(i, buffers));
  struct expr length = emit_named(e, "len", x_min(tile, x_sub(bytes, at)));
  struct expr in_ub = x_add(x_name(e, "buf"), x_mul(half, tile));
  struct expr run = any_length ? length : x_div(length, BLOCK_BYTES);
  emit_if(e, "some", x_gt(length, 0));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, half);
  EMIT(e, any_length ? "copy_gm_to_ubuf_align_b8" : "copy_gm_to_ubuf", F("dst", in_ub),
       F("src", x_add(x_name(e, "x"), at)), F("len_burst", run));
  emit_handshake(e, PIPE_MTE2, PIPE_MTE3, half);
  EMIT(e, any_length ? "copy_ubuf_to_gm_align_b8" : "copy_ubuf_to_gm",
       F("dst", x_add(x_name(e, "y"), at)), F("src", in_ub), F("len_burst", run));
  emit_set(e, PIPE_MTE3, PIPE_MTE2, half);
  emit_end(e);
  emit_end(e);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, emit_for(e, "g", buffers));
  emit_end(e);
}

/*
 * Shape and type are those of the first output, or of the first input. The vendor's kernel has one
 * buffer: in profiles the times of its MTE2 and MTE3 add up to its own.
 */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *tensor = call->output_count ? &call->output[0] : &call->input[0];
  if (tensor->rank == 0)
    return lower_cannot(call, "no shape");
  lower_arg(call, "shape=%llu", (unsigned long long)lower_elements(tensor->shape, tensor->rank));
  lower_arg_dtype(call, "dtype", tensor);
  lower_arg(call, "buffers=1");
  return true;
}

const struct lower_op lower_copy = {
    .name = "copy",
    .vendor_types = "TensorMove",
    .text = "y = x",
    .keys = keys,
    .key_count = KEY_COUNT,
    .candidate = candidate,
    .cost = cost,
    .emit = emit,
    .from_tensors = from_tensors,
};
