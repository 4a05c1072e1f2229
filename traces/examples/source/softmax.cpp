// SPDX-License-Identifier: Apache-2.0
// y = softmax(x) along rows of 64 fp32. The largest element and the sum of a row are read by scalar code,
// so what the kernel does next depends on values that instructions have computed.
//
//   vinci cc softmax.cpp -o softmax.so
//   vinci run softmax.so:softmax --blocks=4 --soc-version=Ascend910B4 --fill=random:1 \
//     --arg name=x,dtype=fp32,shape=32x64,io=in --arg name=y,dtype=fp32,shape=32x64,io=out --arg value=8

constexpr int columns = 64;
constexpr int row_blocks = columns * sizeof(float) / 32;

__global__ __aicore__ void softmax(GM_ADDR x, GM_ADDR y, uint32_t rows) {
  __gm__ float *from = (__gm__ float *)x + block_idx * rows * columns;
  __gm__ float *to = (__gm__ float *)y + block_idx * rows * columns;
  __ubuf__ float *row = (__ubuf__ float *)(uintptr_t)0;
  __ubuf__ float *result = row + columns;
  set_mask_norm();
  set_vector_mask(0, -1);
  for (uint32_t i = 0; i < rows; i++) {
    copy_gm_to_ubuf(row, from + i * columns, 0, 1, row_blocks, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    vcmax(result, row, 1, 1, 1, 8, ONLY_VALUE);
    set_flag(PIPE_V, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
    float largest = *result;
    vadds(row, row, -largest, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vexp(row, row, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vcadd(result, row, 1, 1, 1, 8, false);
    set_flag(PIPE_V, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
    float sum = *result;
    vmuls(row, row, 1.0f / sum, 1, 1, 1, 8, 8);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(to + i * columns, row, 0, 1, row_blocks, 0, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
}
