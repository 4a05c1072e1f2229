// SPDX-License-Identifier: Apache-2.0
// y = how often x has each of the numbers 0 to 15, by scalar code. Each core counts its part of x, gives its line of
// counts up by dcci, and signals; the first core adds the lines up. A line of the data cache has 64 bytes, 16 counts.
//
//   vinci cc histogram.cpp -o histogram.so
//   vinci run histogram.so:histogram --blocks=4 --soc-version=Ascend910B4 --fill=random:1 \
//     --arg name=x,dtype=int32,shape=4x256,io=in --arg name=counts,dtype=int32,shape=4x16,io=workspace \
//     --arg name=y,dtype=int32,shape=16,io=out --arg value=256

constexpr int kinds = 16, tile = 64, tile_blocks = tile * sizeof(int32_t) / 32;
constexpr uint64_t all = 0, ready = 3;                   // a signal to all vector cores, and its flag
constexpr uint64_t signal = 1 | all << 4 | ready << 8;   // as the signal takes them

__global__ __aicore__ __vector__ void histogram(GM_ADDR x, GM_ADDR counts, GM_ADDR y, uint32_t part) {
  __gm__ int32_t *from = (__gm__ int32_t *)x + block_idx * part;
  __gm__ int32_t *own = (__gm__ int32_t *)counts + block_idx * kinds;
  __ubuf__ int32_t *numbers = (__ubuf__ int32_t *)(uintptr_t)0;
  __ubuf__ int32_t *sums = numbers + tile;
  for (int i = 0; i < kinds; i++)
    own[i] = 0;
  for (uint32_t at = 0; at < part; at += tile) {
    copy_gm_to_ubuf(numbers, from + at, 0, 1, tile_blocks, 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    for (int i = 0; i < tile; i++)
      own[numbers[i] & (kinds - 1)]++;
    set_flag(PIPE_S, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID0);
  }
  dcci(own, SINGLE_CACHE_LINE);
  ffts_cross_core_sync(PIPE_MTE3, signal);
  wait_flag_dev(ready);
  if (block_idx != 0)
    return;
  for (int i = 0; i < kinds; i++) {
    sums[i] = 0;
    for (int core = 0; core < block_num; core++)
      sums[i] += own[core * kinds + i];
  }
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm((__gm__ int32_t *)y, sums, 0, 1, kinds * sizeof(int32_t) / 32, 0, 0);
}
