/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests that identify inputs and configurations: FNV-1a, 64 bits. Good for
 * telling files apart, not against an adversary.
 */
#ifndef VINCI_CORE_BASE_DIGEST_H
#define VINCI_CORE_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Seed of a new digest: the FNV-1a offset basis (RFC 9923). */
#define DIGEST_SEED UINT64_C(0xcbf29ce484222325)

/* Digest of more bytes: seed is DIGEST_SEED or the digest of the bytes before. */
uint64_t digest_bytes(uint64_t seed, const void *bytes, size_t length);
/* The same of a text with its zero, so that two texts in a row are not one longer text. */
static inline uint64_t digest_string(uint64_t seed, const char *text) {
  return digest_bytes(seed, text, strlen(text) + 1);
}
/* The same of one number, faster: a multiplication and a fold, as splitmix64 ends. */
static inline uint64_t digest_word(uint64_t seed, uint64_t word) {
  uint64_t mixed = (seed ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
  return (mixed ^ mixed >> 31) + UINT64_C(0x9e3779b97f4a7c15);
}

#endif
