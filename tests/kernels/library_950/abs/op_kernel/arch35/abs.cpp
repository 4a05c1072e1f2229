// SPDX-License-Identifier: Apache-2.0
#include "abs_tiling_data.h"

// Not the kernel: its name is not that of the operator.
template <typename number> __global__ __aicore__ void abs_part(__gm__ number *x, __gm__ number *y, uint32_t count) {
  __ubuf__ number *tile = (__ubuf__ number *)(uintptr_t)0;
  const int64_t bytes = count * sizeof(number);
  get_buf(PIPE_MTE2, 3, 0);
  copy_gm_to_ubuf_align_v2(tile, x, 0, 1, bytes, 0, 0, false, 0, bytes, bytes);
  rls_buf(PIPE_MTE2, 3, 0);
  get_buf(PIPE_V, 3, 0);
  __VEC_SCOPE__ {
    vector_f32 a;
    for (uint16_t i = 0; i < (uint16_t)get_repeat_ceiling(count, 64); i++) {
      uint32_t left = count - i * 64;
      vector_bool mask = plt_b32(left, POST_UPDATE);
      vlds(a, tile, i * 64, NORM);
      vabs(a, a, mask, MODE_ZEROING);
      vsts(a, tile, i * 64, NORM_B32, mask);
    }
  }
  rls_buf(PIPE_V, 3, 0);
  get_buf(PIPE_MTE3, 3, 0);
  copy_ubuf_to_gm_align_v2(y, tile, 0, 1, bytes, 0, bytes, bytes);
  rls_buf(PIPE_MTE3, 3, 0);
}

extern "C" __global__ __aicore__ void abs(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(AbsTilingData);
  GET_TILING_DATA_PTR_WITH_STRUCT(AbsTilingData, data, tiling);
  if (TILING_KEY_IS(1)) {
    uint64_t begin = block_idx * data->each, left = data->total - begin;
    abs_part((__gm__ DTYPE_X *)x + begin, (__gm__ DTYPE_X *)y + begin, (uint32_t)(left < data->each ? left : data->each));
  }
}
