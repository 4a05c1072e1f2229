// SPDX-License-Identifier: Apache-2.0
// A list in device memory: bytes to the addresses first, the number of its last tensor in front of that one's extents.
#ifndef LIST_WORDS_H
#define LIST_WORDS_H

VINCI_CCE_INLINE __gm__ float *tensor_of(GM_ADDR list, uint32_t index) {
  __gm__ uint64_t *words = (__gm__ uint64_t *)list;
  return (__gm__ float *)words[words[0] / 8 + index];
}
// Rank and first extent of the first tensor.
VINCI_CCE_INLINE uint32_t rank_of(GM_ADDR list) { return (uint32_t)((__gm__ uint64_t *)list)[1]; }
VINCI_CCE_INLINE uint64_t extent_of(GM_ADDR list) { return ((__gm__ uint64_t *)list)[2]; }

#endif
