/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a configuration. It is one of many texts, so it is kept beside a short key of all
 * that it depends on: while the key is the same, the digest is.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/digest.h"
#include "core/chip/energy.h"
#include "core/chip/mem.h"
#include "core/chip/soc_digest.h"

/* Threads that share a SoC find the same key and write the same digest. The digest is written
 * before its key, and a SoC that somebody changes has no other users (core/vinci.h). */
struct soc_digest_kept {
  _Atomic uint64_t key, digest; /* all zero: nothing is kept */
};

static uint64_t digest_text(uint64_t digest, const char *text) {
  return digest_bytes(digest, text, strlen(text));
}

static uint64_t digest_number(uint64_t digest, int64_t value) {
  char text[DECIMAL_TEXT_BYTES];
  size_t length = decimal_put(text, value);
  return digest_bytes(digest_text(digest, "="), text, length);
}

/* Of the whole text of the configuration. */
static uint64_t digest_of(const struct vinci_soc *soc) {
  uint64_t digest = DIGEST_SEED;
  digest = digest_text(digest, soc->name);
  digest = digest_text(digest, "\n");
  digest = digest_text(digest, arch_name(soc->arch));
  for (size_t i = 0; i < soc_param_count(); i++) {
    /* Chips without vector functions keep the digests that they had before there were any. */
    if (soc_get(soc, i) == 0 && strncmp(soc_param(i)->key, "vf.", 3) == 0)
      continue;
    digest = digest_text(digest, "\n");
    digest = digest_text(digest, soc_param(i)->key);
    digest = digest_number(digest, soc_get(soc, i));
  }
  for (size_t i = 0; soc->memory && i < mem_param_count(); i++) {
    digest = digest_text(digest, "\nmemory.");
    digest = digest_text(digest, mem_param(i)->key);
    digest = digest_number(digest, mem_get(soc->memory, i));
  }
  /* Energies change no result but their own account: only what somebody sets is another chip. */
  for (size_t i = 0; soc->energy && i < ENERGY_NUMBERS; i++) {
    if (!soc->energy->provenance[i].overridden)
      continue;
    digest = digest_text(digest, "\nenergy.");
    digest = digest_text(digest, energy_param(i)->key);
    digest = digest_number(digest, soc->energy->value[i]);
  }
  digest = digest_text(digest, soc->choices[SOC_MEMORY_MAP].name);
  digest = digest_text(digest, soc->choices[SOC_TOPOLOGY].name);
  /* Configurations keep the digests that they had when there was one policy. */
  const char *policy = soc->choices[SOC_L2_POLICY].name;
  bool usual = *policy == '\0' || strcmp(policy, soc_l2_policy(0)) == 0;
  return usual ? digest : digest_text(digest_text(digest, "\nl2.policy="), policy);
}

/* Of the numbers of a SoC, from vector_class on, and of nothing else. */
enum {
  NUMBERS_BYTES = offsetof(struct vinci_soc, provenance) - offsetof(struct vinci_soc, vector_class)
};

static uint64_t key_of_words(uint64_t key, const void *words, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof key) {
    uint64_t word;
    memcpy(&word, (const char *)words + at, sizeof word);
    key = digest_word(key, word);
  }
  return key;
}

/* Changes with all that the digest is of; never 0. */
static uint64_t key_of(const struct vinci_soc *soc) {
  uint64_t key = digest_word(digest_string(DIGEST_SEED, soc->name), soc->arch);
  key = key_of_words(key, soc->vector_class, NUMBERS_BYTES);
  if (soc->memory)
    key = key_of_words(key, (const char *)soc->memory + mem_param(0)->offset,
                       mem_param_count() * sizeof(int64_t));
  for (size_t i = 0; soc->energy && i < ENERGY_NUMBERS; i++)
    if (soc->energy->provenance[i].overridden)
      key = digest_word(digest_word(key, i), (uint64_t)soc->energy->value[i]);
  key = digest_string(key, soc->choices[SOC_MEMORY_MAP].name);
  key = digest_string(key, soc->choices[SOC_TOPOLOGY].name);
  key = digest_string(key, soc->choices[SOC_L2_POLICY].name);
  return key != 0 ? key : 1;
}

bool soc_keep_digest(struct vinci_soc *soc) {
  soc->kept = ARENA_NEW(&soc->arena, struct soc_digest_kept);
  return soc->kept != NULL;
}

uint64_t soc_digest(const struct vinci_soc *soc) {
  struct soc_digest_kept *kept = soc->kept;
  if (!kept)
    return digest_of(soc);
  uint64_t key = key_of(soc);
  if (atomic_load_explicit(&kept->key, memory_order_acquire) == key)
    return atomic_load_explicit(&kept->digest, memory_order_relaxed);
  uint64_t digest = digest_of(soc);
  atomic_store_explicit(&kept->digest, digest, memory_order_relaxed);
  atomic_store_explicit(&kept->key, key, memory_order_release);
  return digest;
}
