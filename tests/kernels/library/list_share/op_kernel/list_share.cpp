// SPDX-License-Identifier: Apache-2.0
// As built by the library: parts lie beside each other, without op_kernel between.
#include "../list_common/list_words.h"

extern "C" __global__ __aicore__ void list_share(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  GET_TILING_DATA(data, tiling);
  uint32_t count = data.elements[block_idx], blocks = count / 8;
  __ubuf__ float *row = (__ubuf__ float *)(uintptr_t)0, *sums = row + 16384;
  if (rank_of(x) < 1 || extent_of(x) == 0)
    trap();
  set_mask_count();
  set_vector_mask(0, count);
  copy_gm_to_ubuf(row, tensor_of(x, block_idx), 0, 1, blocks, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  vcadd(sums, row, 1, 1, 1, 8, true);
  set_flag(PIPE_V, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
  int64_t code = get_acc_val();
  float sum = *(float *)&code;
  vmuls(row, row, data.factor / sum, 1, 1, 1, 8, 8);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(tensor_of(y, block_idx), row, 0, 1, blocks, 0, 0);
}
