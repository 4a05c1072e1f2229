/* SPDX-License-Identifier: Apache-2.0 */
/* Random cases for tests/core/test_metamorphic.c: an operator, a chip, and how both are simulated.
 */
#ifndef VINCI_TESTS_SUPPORT_META_CASES_H
#define VINCI_TESTS_SUPPORT_META_CASES_H

#include "core/vinci.h"

enum { META_ARGS_BYTES = 256, META_WORDS_MAX = 20 };

struct meta_random {
  uint64_t state;
};

/* Whole numbers below count, which is not 0. */
unsigned meta_pick(struct meta_random *random, unsigned count);

struct meta_case {
  const char *chip;
  const char *op;
  char args[META_ARGS_BYTES]; /* "key=value key=value" */
  char text[META_ARGS_BYTES]; /* the same, cut into words */
  const char *words[META_WORDS_MAX];
  size_t word_count;
  enum vinci_memory memory;
  enum vinci_network network;
  enum vinci_l2 l2;
  bool elementwise; /* twice the rows are twice the work */
};

/* A function of the three numbers: attempts are for chips that cannot do what came out. */
void meta_case_make(struct meta_case *out, uint64_t seed, unsigned index, unsigned attempt);
/* Words from changed arguments. */
void meta_case_cut(struct meta_case *out);
/* As in `vinci run --memory=... --network=... --l2=...`. */
const char *meta_memory_name(enum vinci_memory memory);
const char *meta_network_name(enum vinci_network network);
const char *meta_l2_name(enum vinci_l2 l2);

#endif
