// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of fp32, each row in one vector function: largest element, exponentials and their sum, quotients.
// A row has any length; its last part is under a mask. For the 950.
//
//   vinci cc --kernel-only --npu-arch=dav-3510 vf_softmax.cpp -o vf_softmax.so
//   vinci run vf_softmax.so:vf_softmax --blocks=8 -s Ascend950PR_9589 --fill=random:1 \
//     --arg name=x,dtype=fp32,shape=64x1000,io=in --arg name=y,dtype=fp32,shape=64x1000,io=out --arg value=8 --arg value=1000

constexpr int lanes = 256 / sizeof(float);

__simd_vf__ inline void softmax_row(__ubuf__ float *x, __ubuf__ float *y, uint32_t columns) {
  const uint16_t turns = (columns + lanes - 1) / lanes;
  vector_f32 a, most, sum;
  vector_bool all = pset_b32(PAT_ALL), one = pset_b32(PAT_VL1);
  vbr(most, -3.4028235e38f);
  vbr(sum, 0.0f);
  uint32_t left = columns;
  for (uint16_t i = 0; i < turns; i++) {
    vector_bool mask = plt_b32(left, POST_UPDATE);
    vlds(a, x, i * lanes, NORM);
    vmax(a, a, most, mask, MODE_ZEROING);
    vsel(most, a, most, mask);
  }
  vcmax(most, most, all, MODE_ZEROING);
  vdup(most, most, all, POS_LOWEST, MODE_ZEROING);
  left = columns;
  for (uint16_t i = 0; i < turns; i++) {
    vector_bool mask = plt_b32(left, POST_UPDATE);
    vlds(a, x, i * lanes, NORM);
    vsub(a, a, most, mask, MODE_ZEROING);
    vexp(a, a, mask, MODE_ZEROING); // 0 in the other lanes
    vsts(a, y, i * lanes, NORM_B32, mask);
    vadd(sum, sum, a, all, MODE_ZEROING);
  }
  vcadd(sum, sum, all, MODE_ZEROING);
  vdup(sum, sum, all, POS_LOWEST, MODE_ZEROING);
  mem_bar(VST_VLD); // what has been stored is loaded again
  left = columns;
  for (uint16_t i = 0; i < turns; i++) {
    vector_bool mask = plt_b32(left, POST_UPDATE);
    vlds(a, y, i * lanes, NORM);
    vdiv(a, a, sum, mask, MODE_ZEROING);
    vsts(a, y, i * lanes, NORM_B32, mask);
  }
}

extern "C" __global__ __vector__ void vf_softmax(__gm__ float *x, __gm__ float *y, uint32_t rows, uint32_t columns) {
  __ubuf__ float *in = (__ubuf__ float *)0, *out = (__ubuf__ float *)65536;
  const uint16_t bursts = columns * sizeof(float) / 32;
  for (uint32_t i = 0; i < rows; i++) {
    const uint64_t at = (block_idx * rows + i) * columns;
    copy_gm_to_ubuf(in, x + at, 0, 1, bursts, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    softmax_row(in, out, columns);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(y + at, out, 0, 1, bursts, 0, 0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1); // the rows may be filled again
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
  }
}
