// SPDX-License-Identifier: Apache-2.0
#if ORIG_DTYPE_X == DT_FLOAT
#define COPY_IN copy_gm_to_ubuf_align_b32
#define COPY_OUT copy_ubuf_to_gm_align_b32
#else
#define COPY_IN copy_gm_to_ubuf_align_b16
#define COPY_OUT copy_ubuf_to_gm_align_b16
#endif

extern "C" __global__ __aicore__ void scaled_add(GM_ADDR x, GM_ADDR b, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  GET_TILING_DATA(data, tiling);
  if (data.marks[0] != 1 || data.marks[2] != 3)
    trap();
  uint64_t begin = block_idx * data.part.each, end = begin + data.part.each;
  end = end < data.part.total ? end : data.part.total;
  __ubuf__ DTYPE_X *row = (__ubuf__ DTYPE_X *)(uintptr_t)0, *more = row + data.tile;
  set_mask_norm();
  set_vector_mask((uint64_t)-1, (uint64_t)-1);
  for (uint64_t at = begin; at < end; at += data.tile) {
    uint64_t count = end - at < data.tile ? end - at : data.tile, bytes = count * sizeof(DTYPE_X);
    uint8_t repeats = (bytes + 255) / 256;
    COPY_IN(row, (__gm__ DTYPE_X *)x + at, 0, 1, bytes, 0, 0, 0, 0);
    if (TILING_KEY_IS(1))
      COPY_IN(more, (__gm__ DTYPE_X *)b + at, 0, 1, bytes, 0, 0, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    vmuls(row, row, (DTYPE_X)data.alpha, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    if (TILING_KEY_IS(1))
      vadd(row, row, more, repeats, 1, 1, 1, 8, 8, 8);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    COPY_OUT((__gm__ DTYPE_X *)y + at, row, 0, 1, bytes, 0, 0, 0, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
}
