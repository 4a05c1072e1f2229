// SPDX-License-Identifier: Apache-2.0
// c = a * b in fp16, sums in fp32: a is m x k, b is k x n, row by row in GM. Each block computes squares of
// 128 x 128; panels of depth 64 go through two buffers of L1 and of L0.
//
//   vinci cc --core=aic matmul.cpp -o matmul.so
//   vinci run matmul.so:matmul --blocks=4 --soc-version=Ascend910B4 --fill=random:1 \
//     --arg name=a,dtype=fp16,shape=256x256,io=in --arg name=b,dtype=fp16,shape=256x256,io=in \
//     --arg name=c,dtype=fp16,shape=256x256,io=out --arg value=256 --arg value=256 --arg value=256

constexpr int side = 128;              // of a square of c
constexpr int depth = 64;              // of a panel
constexpr int fractal = 16;            // rows and columns of a fractal of fp16
constexpr int panel = side * depth;    // elements
constexpr int fractals = panel / 256;

// Panels of a in fractals of L0A: rows of fractals, each as long as the panel is deep.
VINCI_CCE_INLINE void load_a(__ca__ half *to, __cbuf__ half *from) {
  for (int row = 0; row < side / fractal; row++)
    load_cbuf_to_ca(to + row * depth * fractal, from + row * 256, 0, depth / fractal, side / fractal, 0, 0,
                    false, inc);
}

// Panels of b: columns of fractals, transposed one by one.
VINCI_CCE_INLINE void load_b(__cb__ half *to, __cbuf__ half *from) {
  for (int row = 0; row < depth / fractal; row++)
    load_cbuf_to_cb(to + row * side * fractal, from + row * 256, 0, side / fractal, depth / fractal, 0, 0,
                    true, inc);
}

__global__ __aicore__ void matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t k, uint32_t n) {
  __gm__ half *from_a = (__gm__ half *)a, *from_b = (__gm__ half *)b, *to = (__gm__ half *)c;
  __cbuf__ half *l1 = (__cbuf__ half *)(uintptr_t)0;
  __ca__ half *l0a = (__ca__ half *)(uintptr_t)0;
  __cb__ half *l0b = (__cb__ half *)(uintptr_t)0;
  __cc__ float *l0c = (__cc__ float *)(uintptr_t)0;
  uint32_t across = n / side, squares = m / side * across;
  set_nd_para(1);
  for (int buffer = 0; buffer < 2; buffer++) {
    set_flag(PIPE_MTE1, PIPE_MTE2, buffer);
    set_flag(PIPE_M, PIPE_MTE1, buffer);
  }
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  for (uint32_t square = block_idx; square < squares; square += block_num) {
    uint32_t row = square / across * side, column = square % across * side;
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    for (uint32_t at = 0; at < k; at += depth) {
      int buffer = at / depth % 2;
      __cbuf__ half *panel_a = l1 + buffer * 2 * panel, *panel_b = panel_a + panel;
      wait_flag(PIPE_MTE1, PIPE_MTE2, buffer);
      copy_gm_to_cbuf_multi_nd2nz_b16(panel_a, from_a + row * k + at, 0, 1, side, depth, 0, k, side, 1, 0);
      copy_gm_to_cbuf_multi_nd2nz_b16(panel_b, from_b + at * n + column, 0, 1, depth, side, 0, n, depth, 1, 0);
      set_flag(PIPE_MTE2, PIPE_MTE1, buffer);
      wait_flag(PIPE_MTE2, PIPE_MTE1, buffer);
      wait_flag(PIPE_M, PIPE_MTE1, buffer);
      load_a(l0a + buffer * panel, panel_a);
      load_b(l0b + buffer * panel, panel_b);
      set_flag(PIPE_MTE1, PIPE_MTE2, buffer);
      set_flag(PIPE_MTE1, PIPE_M, buffer);
      wait_flag(PIPE_MTE1, PIPE_M, buffer);
      mad(l0c, l0a + buffer * panel, l0b + buffer * panel, side, depth, side, 0, false, false, at == 0);
      set_flag(PIPE_M, PIPE_MTE1, buffer);
    }
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    copy_matrix_cc_to_gm(to + row * n + column, l0c, 0, side, side, n, side, 0, F322F16, 0, false, true);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  for (int buffer = 0; buffer < 2; buffer++) {
    wait_flag(PIPE_MTE1, PIPE_MTE2, buffer);
    wait_flag(PIPE_M, PIPE_MTE1, buffer);
  }
}
