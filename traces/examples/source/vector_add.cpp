// SPDX-License-Identifier: Apache-2.0
// z = x + y. Blocks share the elements; each takes `tiles` tiles of 2048 halves, through two buffers, so
// that one tile is copied while the other is computed.
//
//   vinci cc vector_add.cpp -o vector_add.so
//   vinci run vector_add.so:vector_add --blocks=8 --soc-version=Ascend910B4 --fill=random:1 \
//     --arg name=x,dtype=fp16,shape=65536,io=in --arg name=y,dtype=fp16,shape=65536,io=in \
//     --arg name=z,dtype=fp16,shape=65536,io=out --arg value=4

constexpr int tile = 2048;
constexpr int tile_blocks = tile * sizeof(half) / 32;
constexpr int repeats = tile / 128;

__global__ __aicore__ void vector_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t tiles) {
  int64_t first = block_idx * tiles * tile;
  __gm__ half *from0 = (__gm__ half *)x + first;
  __gm__ half *from1 = (__gm__ half *)y + first;
  __gm__ half *to = (__gm__ half *)z + first;
  set_mask_norm();
  set_vector_mask(-1, -1);
  for (int buffer = 0; buffer < 2; buffer++) {
    set_flag(PIPE_V, PIPE_MTE2, buffer);
    set_flag(PIPE_MTE3, PIPE_V, buffer);
  }
  for (uint32_t i = 0; i < tiles; i++) {
    int buffer = i % 2;
    __ubuf__ half *in0 = (__ubuf__ half *)(uintptr_t)(buffer * 3 * tile * sizeof(half));
    __ubuf__ half *in1 = in0 + tile, *out = in1 + tile;
    wait_flag(PIPE_V, PIPE_MTE2, buffer);
    copy_gm_to_ubuf(in0, from0 + i * tile, 0, 1, tile_blocks, 0, 0);
    copy_gm_to_ubuf(in1, from1 + i * tile, 0, 1, tile_blocks, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, buffer);
    wait_flag(PIPE_MTE2, PIPE_V, buffer);
    wait_flag(PIPE_MTE3, PIPE_V, buffer);
    vadd(out, in0, in1, repeats, 1, 1, 1, 8, 8, 8);
    set_flag(PIPE_V, PIPE_MTE2, buffer);
    set_flag(PIPE_V, PIPE_MTE3, buffer);
    wait_flag(PIPE_V, PIPE_MTE3, buffer);
    copy_ubuf_to_gm(to + i * tile, out, 0, 1, tile_blocks, 0, 0);
    set_flag(PIPE_MTE3, PIPE_V, buffer);
  }
  for (int buffer = 0; buffer < 2; buffer++) {
    wait_flag(PIPE_V, PIPE_MTE2, buffer);
    wait_flag(PIPE_MTE3, PIPE_V, buffer);
  }
}
