// SPDX-License-Identifier: Apache-2.0
#include "block_product_key.h"

constexpr int side = 64, fractal = 16;
using number = TypeFromId<DT_FLOAT16>::type;

template <int depth> VINCI_CCE_INLINE void load(__cbuf__ half *a, __cbuf__ half *b, __ca__ half *l0a, __cb__ half *l0b) {
  for (int row = 0; row < side / fractal; row++)
    load_cbuf_to_ca(l0a + row * depth * fractal, a + row * 256, 0, depth / fractal, side / fractal, 0, 0, false, inc);
  for (int row = 0; row < depth / fractal; row++)
    load_cbuf_to_cb(l0b + row * side * fractal, b + row * 256, 0, side / fractal, depth / fractal, 0, 0, true, inc);
}

#ifdef ON_A_HOST
extern "C" __global__ __aicore__ void block_product(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling) {}
#else
template <int depth, typename result>
__global__ __aicore__ void block_product(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(BlockProductTiling);
  GET_TILING_DATA_WITH_STRUCT(BlockProductTiling, data, tiling);
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  __cbuf__ number *panel_a = (__cbuf__ number *)(uintptr_t)0, *panel_b = panel_a + side * depth;
  uint32_t across = data.n / side;
  set_nd_para(1);
  for (uint32_t square = block_idx; square < data.m / side * across; square += block_num) {
    uint32_t row = square / across * side, column = square % across * side;
    for (uint32_t at = 0; at < data.k; at += depth) {
      copy_gm_to_cbuf_multi_nd2nz_b16(panel_a, (__gm__ half *)a + row * data.k + at, 0, 1, side, depth, 0, data.k, side, 1, 0);
      copy_gm_to_cbuf_multi_nd2nz_b16(panel_b, (__gm__ half *)b + at * data.n + column, 0, 1, depth, side, 0, data.n, depth, 1, 0);
      pipe_barrier(PIPE_ALL);
      load<depth>(panel_a, panel_b, (__ca__ half *)(uintptr_t)0, (__cb__ half *)(uintptr_t)0);
      pipe_barrier(PIPE_ALL);
      mad((__cc__ float *)(uintptr_t)0, (__ca__ half *)(uintptr_t)0, (__cb__ half *)(uintptr_t)0, side, depth, side, 0, false,
          false, at == 0);
      pipe_barrier(PIPE_ALL);
    }
    copy_matrix_cc_to_gm((__gm__ result *)c + row * data.n + column, (__cc__ float *)(uintptr_t)0, 0, side, side, data.n, side, 0,
                         sizeof(result) == 2 ? F322F16 : NoQuant, 0, false, true);
    pipe_barrier(PIPE_ALL);
  }
}
#endif
