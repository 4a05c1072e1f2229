// SPDX-License-Identifier: Apache-2.0
// y = max(a * b, 0) + 1 with a cube core and its two vector cores: the cube writes a * b (128 x 128 of fp32)
// to a workspace, signals, and the vector cores take half of the rows each.
//
//   vinci cc --core=mix matmul_relu.cpp -o matmul_relu.so
//   vinci run matmul_relu.so:matmul_relu --blocks=2 --soc-version=Ascend910B4 --fill=random:1 \
//     --arg name=a,dtype=fp16,shape=2x128x64,io=in --arg name=b,dtype=fp16,shape=2x64x128,io=in \
//     --arg name=w,dtype=fp32,shape=2x128x128,io=workspace --arg name=y,dtype=fp32,shape=2x128x128,io=out

constexpr int side = 128, depth = 64, fractal = 16;
constexpr int between = 2;                                // mode of a signal: AIC and its AIV
constexpr int ready = 3;                                  // the flag
constexpr uint64_t signal = 1 | between << 4 | ready << 8; // as the signal takes them

#ifdef __DAV_C220_CUBE__
VINCI_CCE_INLINE void multiply(__gm__ half *a, __gm__ half *b, __gm__ float *to) {
  __cbuf__ half *panel_a = (__cbuf__ half *)(uintptr_t)0, *panel_b = panel_a + side * depth;
  __ca__ half *l0a = (__ca__ half *)(uintptr_t)0;
  __cb__ half *l0b = (__cb__ half *)(uintptr_t)0;
  __cc__ float *l0c = (__cc__ float *)(uintptr_t)0;
  copy_gm_to_cbuf_multi_nd2nz_b16(panel_a, a, 0, 1, side, depth, 0, depth, side, 1, 0);
  copy_gm_to_cbuf_multi_nd2nz_b16(panel_b, b, 0, 1, depth, side, 0, side, depth, 1, 0);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  for (int row = 0; row < side / fractal; row++)
    load_cbuf_to_ca(l0a + row * depth * fractal, panel_a + row * 256, 0, depth / fractal, side / fractal, 0, 0,
                    false, inc);
  for (int row = 0; row < depth / fractal; row++)
    load_cbuf_to_cb(l0b + row * side * fractal, panel_b + row * 256, 0, side / fractal, depth / fractal, 0, 0,
                    true, inc);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  mad(l0c, l0a, l0b, side, depth, side, 0, false, false, true);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  set_nd_para(1);
  copy_matrix_cc_to_gm(to, l0c, 0, side, side, side, side, 0, NoQuant, 0, false, true);
  ffts_cross_core_sync(PIPE_FIX, signal);
}
#else
VINCI_CCE_INLINE void finish(__gm__ float *from, __gm__ float *to) {
  constexpr int elements = side * side / 2, blocks = elements * sizeof(float) / 32, repeats = elements / 64;
  __ubuf__ float *rows = (__ubuf__ float *)(uintptr_t)0;
  wait_flag_dev(ready);
  from += get_subblockid() * elements;
  to += get_subblockid() * elements;
  copy_gm_to_ubuf(rows, from, 0, 1, blocks, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  set_mask_norm();
  set_vector_mask(0, -1);
  vrelu(rows, rows, repeats, 1, 1, 8, 8);
  pipe_barrier(PIPE_V);
  vadds(rows, rows, 1.0f, repeats, 1, 1, 8, 8);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(to, rows, 0, 1, blocks, 0, 0);
}
#endif

__global__ __aicore__ void matmul_relu(GM_ADDR a, GM_ADDR b, GM_ADDR w, GM_ADDR y) {
  __gm__ float *sums = (__gm__ float *)w + block_idx * side * side;
#ifdef __DAV_C220_CUBE__
  multiply((__gm__ half *)a + block_idx * side * depth, (__gm__ half *)b + block_idx * side * depth, sums);
#else
  finish(sums, (__gm__ float *)y + block_idx * side * side);
#endif
}
