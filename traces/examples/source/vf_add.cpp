// SPDX-License-Identifier: Apache-2.0
// z = x + y, of any number of elements: the last turn of the vector function is under a mask. For the 950.
//
//   vinci cc --kernel-only --npu-arch=dav-3510 vf_add.cpp -o vf_add.so
//   vinci run vf_add.so:vf_add --blocks=4 -s Ascend950PR_9589 --fill=random:1 --arg name=x,dtype=fp32,shape=4000,io=in \
//     --arg name=y,dtype=fp32,shape=4000,io=in --arg name=z,dtype=fp32,shape=4000,io=out --arg value=1000

constexpr int lanes = 256 / sizeof(float);

__simd_vf__ inline void add(__ubuf__ float *x, __ubuf__ float *y, __ubuf__ float *z, uint32_t count) {
  vector_f32 a, b;
  const uint16_t turns = (count + lanes - 1) / lanes;
  for (uint16_t i = 0; i < turns; i++) {
    vector_bool mask = plt_b32(count, POST_UPDATE);
    vlds(a, x, i * lanes, NORM);
    vlds(b, y, i * lanes, NORM);
    vadd(a, a, b, mask, MODE_ZEROING);
    vsts(a, z, i * lanes, NORM_B32, mask);
  }
}

extern "C" __global__ __vector__ void vf_add(__gm__ float *x, __gm__ float *y, __gm__ float *z, uint32_t count) {
  __ubuf__ float *a = (__ubuf__ float *)0, *b = (__ubuf__ float *)65536, *c = (__ubuf__ float *)131072;
  const uint16_t bursts = count * sizeof(float) / 32;
  copy_gm_to_ubuf(a, x + block_idx * count, 0, 1, bursts, 0, 0);
  copy_gm_to_ubuf(b, y + block_idx * count, 0, 1, bursts, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  add(a, b, c, count);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(z + block_idx * count, c, 0, 1, bursts, 0, 0);
}
