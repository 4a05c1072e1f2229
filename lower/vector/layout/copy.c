/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: a tensor from one place in device memory to another, through UB. Each core takes a
 * run of tiles, of which one or two are on their way at any time.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/plan/program.h"
#include "lower/select/select.h"
#include "lower/vector/elementwise/elementwise.h"

enum { BUFFERS_MAX = 2, COPY_TILE_MIN = 2048 };

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of the tensor"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int8|int16|int32|int64", "type of its elements"),
    TILING_KEY("tile", "bytes that one copy moves"),
    BLOCKS_KEY("cores to use; 0: all that have a tile"),
    TILING_KEY("buffers", "1: in and out take turns; 2: they overlap")};

static uint64_t total_bytes(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  return lower_elements(shape->shape, shape->rank) * vtile_bytes(lower_get(job, "dtype")->dtype);
}

/* UB for the tiles. Where a chip copies whole blocks alone, ends of runs take a part. */
static uint64_t ub_of(const struct lower_job *job) {
  return (uint64_t)job->soc->ub_bytes -
         (total_bytes(job) % BLOCK_BYTES ? select_ub_bytes(job->soc) : 0);
}

/* Equal runs for the cores, in tiles of equal size: as large as fits, then halved. */
static bool candidate(struct lower_job *job, size_t index) {
  const struct lower_value *given = lower_get(job, "buffers");
  uint64_t buffers = given && given->given ? given->size : BUFFERS_MAX;
  uint64_t most = (ub_of(job) / max_u64(buffers, 1) >> index) / FRACTAL_BYTES * FRACTAL_BYTES;
  if (most < COPY_TILE_MIN)
    return false;
  uint64_t run = max_u64(ceil_div(total_bytes(job), job->cores), COPY_TILE_MIN);
  uint64_t tile = round_up(ceil_div(run, ceil_div(run, most)), FRACTAL_BYTES);
  uint64_t blocks = ceil_div(total_bytes(job), tile * ceil_div(run, tile));
  lower_choose(job, "tile", tile);
  lower_choose(job, "buffers", BUFFERS_MAX);
  lower_choose(job, "blocks", blocks);
  return true;
}

static bool cost(struct lower_job *job) {
  uint64_t tile = lower_get(job, "tile")->size;
  uint64_t blocks = lower_get(job, "blocks")->size;
  uint64_t buffers = lower_get(job, "buffers")->size;
  if (buffers < 1 || buffers > BUFFERS_MAX)
    return lower_refuse(job, "buffers is 1 or 2");
  if (tile % BLOCK_BYTES != 0 || tile * buffers > ub_of(job))
    return lower_refuse(job, "tile has to be a multiple of %d up to %s UB", BLOCK_BYTES,
                        buffers > 1 ? "half of" : "all of");
  if (!lower_has_cores(job, blocks, emit_vector_core(job->soc)))
    return false;
  return program_cost(job);
}

static void emit(const struct lower_job *job, struct emit *e) {
  const struct lower_value *shape = lower_get(job, "shape");
  enum dtype dtype = lower_get(job, "dtype")->dtype;
  uint64_t bytes = total_bytes(job), tile = lower_get(job, "tile")->size;
  uint64_t blocks = lower_get(job, "blocks")->size, buffers = lower_get(job, "buffers")->size;
  bool any_length = select_has(job->soc, OP_COPY_GM_TO_UBUF_ALIGN_B8) || bytes % BLOCK_BYTES;
  emit_kernel(e, "copy", (uint32_t)blocks);
  emit_tensor(e, "x", dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "y", dtype, TENSOR_OUT, shape->shape, shape->rank, NULL);
  vkernel_stream(e, tile * buffers, KERNEL_ELEMENTWISE);
  emit_comment(e, "Flags MTE3 to MTE2: half free; MTE2 to MTE3: half filled.");
  emit_flags(e, "h", true, PIPE_MTE3, PIPE_MTE2, buffers);
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
  emit_flags(e, "g", false, PIPE_MTE3, PIPE_MTE2, buffers);
}

/* A run of whole blocks of 32 bytes for each core, as far as there are blocks: of 12 kernels of
 * TensorMove on the 30-core Ascend910B of 2019 those of 16, 32 and 64 numbers of 4 bytes have 2, 4
 * and 8 blocks, and those from 12,000 numbers on have 30. */
static void call_all_cores(struct lower_call *call, const struct lower_tensor *tensor) {
  uint64_t bytes = lower_elements(tensor->shape, tensor->rank) * vtile_bytes(tensor->dtype);
  uint64_t cores = soc_core_count(call->soc, emit_vector_core(call->soc));
  uint64_t blocks = min_u64(cores, ceil_div(bytes, BLOCK_BYTES));
  uint64_t run = round_up(ceil_div(bytes, max_u64(blocks, 1)), BLOCK_BYTES);
  if (bytes == 0 || run > (uint64_t)call->soc->ub_bytes / BUFFERS_MAX)
    return;
  lower_arg(call, "tile=%" PRIu64, run);
  lower_arg(call, "blocks=%" PRIu64, ceil_div(bytes, run));
}

/*
 * Shape and type are those of the first output, or of the first input. The vendor's kernel has one
 * buffer: in profiles the times of its MTE2 and MTE3 add up to its own.
 */
static bool from_tensors(struct lower_call *call) {
  if (vew_is_list(call))
    return vew_call_lists(call, 1);
  const struct lower_tensor *tensor = call->output_count ? &call->output[0] : &call->input[0];
  bool assigns = call->input_count > 1 && tensor->dtype != DTYPE_COUNT; /* a variable: a number */
  if (tensor->rank == 0 && !assigns)
    return lower_cannot(call, "no shape");
  if (tensor->rank == 0) {
    bool byte = vtile_bytes(tensor->dtype) == 1;
    lower_arg(call, "shape=1");
    lower_arg(call, "dtype=%s", byte ? "int8" : dtype_name(tensor->dtype));
    return true;
  }
  lower_arg_elements(call, tensor);
  lower_arg(call, "buffers=1");
  if (call->soc->arch == ARCH_C100 && tensor->dtype < DTYPE_COUNT)
    call_all_cores(call, tensor);
  return true;
}

static const struct lower_template template = {NULL, candidate, cost, emit};

LOWER_OPERATOR(copy, "TensorMove|ForeachCopy", "y = x", keys, &template, NULL, from_tensors)
