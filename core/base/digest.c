/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a over bytes: the same on every host, in whatever pieces the bytes come. */
#include "core/base/digest.h"

#define FNV_PRIME UINT64_C(0x00000100000001b3)

uint64_t digest_bytes(uint64_t seed, const void *bytes, size_t length) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < length; i++)
    seed = (seed ^ at[i]) * FNV_PRIME;
  return seed;
}
