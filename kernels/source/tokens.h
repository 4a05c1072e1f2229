/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of buffers, which order the pipes of dav-c310 (token_flags.c). */
#ifndef VINCI_KERNELS_SOURCE_TOKENS_H
#define VINCI_KERNELS_SOURCE_TOKENS_H

#include "core/isa/inst.h"

struct source_core;

/* Of a block. */
enum { SOURCE_TOKENS = 32 };
struct source_tokens {
  uint32_t releases;                        /* so far */
  uint32_t last[SOURCE_TOKENS][PIPE_COUNT]; /* the last release by a pipe, counted from 1 */
  uint32_t seen[PIPE_COUNT][PIPE_COUNT];    /* by who waits: up to which release of a pipe */
  uint8_t flag[PIPE_COUNT][PIPE_COUNT];     /* number and 1 of the flag from, to; 0: none yet */
  uint32_t used[PIPE_COUNT][PIPE_COUNT];    /* bits of the flags that the code sets itself */
};

enum source_token_problem { SOURCE_TOKEN_FINE, SOURCE_TOKEN_NO_FLAG, SOURCE_TOKEN_NO_MEMORY };
/* A flag that takes the place of a token. */
struct source_token_wait {
  enum pipe from;
  uint8_t flag;
  enum source_token_problem problem;
};
void source_tokens_start(struct source_core *core);
/* A release in a row; false: out of memory. */
bool source_tokens_release(struct source_core *core, enum pipe pipe, uint32_t id, uint32_t row);
/* The next flag that a pipe has to wait for before it has a token; false: no more. */
bool source_tokens_take(struct source_core *core, enum pipe to, uint32_t id,
                        struct source_token_wait *wait);
/* The code sets or awaits a flag itself; false: tokens use the same. */
bool source_tokens_flag(struct source_core *core, const struct inst *inst);

#endif
