// SPDX-License-Identifier: Apache-2.0
// Sums are read by scalar code. Rows that do not fit are read twice, part by part.
constexpr uint32_t lanes = 64;

// The squares of `count` numbers in `row`, summed up; a repeat at a time, each into one number.
VINCI_CCE_INLINE float square_sum(__ubuf__ float *row, __ubuf__ float *squares, __ubuf__ float *sums, uint32_t count) {
  float sum = 0;
  vmul(squares, row, row, count / lanes, 1, 1, 1, 8, 8, 8);
  pipe_barrier(PIPE_V);
  vcadd(sums, squares, count / lanes, 1, 1, 8, false);
  set_flag(PIPE_V, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
  for (uint32_t i = 0; i < count / lanes; i++)
    sum += sums[i];
  return sum;
}

VINCI_CCE_INLINE void read_part(__ubuf__ float *row, __gm__ float *from, uint32_t count) {
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  copy_gm_to_ubuf(row, from, 0, 1, count / 8, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
}

VINCI_CCE_INLINE void write_part(__gm__ float *to, __ubuf__ float *row, float scale, uint32_t count) {
  vmuls(row, row, scale, count / lanes, 1, 1, 8, 8);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(to, row, 0, 1, count / 8, 0, 0);
}

VINCI_CCE_INLINE void write_scale(__gm__ float *to, __ubuf__ float *eight, float scale) {
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  vector_dup(eight, scale, 1, 1, 1, 8, 0);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(to, eight, 0, 1, 1, 0, 0);
}

extern "C" __global__ __aicore__ void row_norm_rows(GM_ADDR x, GM_ADDR y, GM_ADDR scale, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  GET_TILING_DATA(data, tiling);
  __ubuf__ float *row = (__ubuf__ float *)(uintptr_t)0, *sums = row + 32768, *eight = sums + 1024;
  set_mask_norm();
  set_vector_mask(0, (uint64_t)-1);
  for (uint32_t r = block_idx; r < data.rows; r += block_num) {
    __gm__ float *from = (__gm__ float *)x + (uint64_t)r * data.columns, *to = (__gm__ float *)y + (uint64_t)r * data.columns;
    float sum = 0;
    if (TILING_KEY_IS(1)) {
      read_part(row, from, data.columns);
      sum = square_sum(row, row + data.columns, sums, data.columns);
    }
#if TILING_KEY_VAR == 2
    for (uint32_t at = 0; at < data.columns; at += data.part) {
      uint32_t count = data.columns - at < data.part ? data.columns - at : data.part;
      read_part(row, from + at, count);
      sum += square_sum(row, row + data.part, sums, count);
    }
#endif
    float root = 1.0f / sqrtf(sum / data.columns + data.eps);
    if (TILING_KEY_IS(1))
      write_part(to, row, root, data.columns);
#if TILING_KEY_VAR == 2
    for (uint32_t at = 0; at < data.columns; at += data.part) {
      uint32_t count = data.columns - at < data.part ? data.columns - at : data.part;
      read_part(row, from + at, count);
      write_part(to + at, row, root, count);
    }
#endif
    write_scale((__gm__ float *)scale + (uint64_t)r * 8, eight, root);
  }
}
