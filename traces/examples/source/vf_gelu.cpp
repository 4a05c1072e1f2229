// SPDX-License-Identifier: Apache-2.0
// y = x / (1 + exp(-1.595769 x - 0.071405 x^3)), GELU by way of a sigmoid: fp16 in device memory, fp32 in registers.
// One vector function keeps what is between in registers. For the 950.
//
//   vinci cc --kernel-only --npu-arch=dav-3510 vf_gelu.cpp -o vf_gelu.so
//   vinci run vf_gelu.so:vf_gelu --blocks=4 -s Ascend950PR_9589 --fill=random:1 \
//     --arg name=x,dtype=fp16,shape=16384,io=in --arg name=y,dtype=fp16,shape=16384,io=out --arg value=4096

constexpr int lanes = 256 / sizeof(float);

extern "C" __global__ __vector__ void vf_gelu(__gm__ half *x, __gm__ half *y, uint32_t count) {
  __ubuf__ half *in = (__ubuf__ half *)0, *out = (__ubuf__ half *)65536;
  const uint16_t bursts = count * sizeof(half) / 32, turns = count / lanes;
  copy_gm_to_ubuf(in, x + block_idx * count, 0, 1, bursts, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  __VEC_SCOPE__ {
    vector_f16 narrow;
    vector_f32 a, b, c;
    vector_bool all = pset_b32(PAT_ALL);
    for (uint16_t i = 0; i < turns; i++) {
      vlds(narrow, in, i * lanes, UNPK_B16); // each number at the even places
      vcvt(a, narrow, all, PART_EVEN, MODE_ZEROING);
      vmul(b, a, a, all, MODE_ZEROING);
      vmul(b, b, a, all, MODE_ZEROING);
      vmuls(b, b, -0.071405f, all, MODE_ZEROING);
      vaxpy(b, a, -1.595769f, all, MODE_ZEROING);
      vexp(b, b, all, MODE_ZEROING);
      vadds(b, b, 1.0f, all, MODE_ZEROING);
      vdiv(c, a, b, all, MODE_ZEROING);
      vcvt(narrow, c, all, ROUND_R, RS_DISABLE, PART_EVEN, MODE_ZEROING);
      vsts(narrow, out, i * lanes, PK_B32, all);
    }
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(y + block_idx * count, out, 0, 1, bursts, 0, 0);
}
