/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of buffers (get_buf and rls_buf of dav-c310; Ascend C, Mutex). A pipe that takes a token
 * waits until all releases of the token by other pipes that stand before, in the order of the code,
 * are over; a release is over when what its pipe has done before is. So a token is a flag from the
 * pipe of each release to the pipe that takes, and becomes one: what runs, checks and shows flags
 * need not know of tokens. As pipes work in order, who has waited for a release of a pipe need not
 * wait for an earlier one, of any token, and one flag between two pipes is enough.
 *
 * The flag is set behind the release, when nobody knows yet who waits. A recording gets the place
 * of the release, and learns the sets there afterwards (log.c). The code that is executed has no
 * time, so its flag may be set late, right before the wait.
 */
#include <string.h>

#include "kernels/source/log.h"
#include "kernels/source/source.h"

void source_tokens_start(struct source_core *core) {
  memset(&core->tokens, 0, sizeof core->tokens);
}

bool source_tokens_release(struct source_core *core, enum pipe pipe, uint32_t id, uint32_t row) {
  struct source_tokens *tokens = &core->tokens;
  tokens->last[id][pipe] = ++tokens->releases;
  return core->source->recorded || source_log_release(core->source, &core->place, row, pipe);
}

/* The flag of two pipes: the highest number that the code has not used itself; false: none. */
static bool choose_flag(const struct source_core *core, enum pipe from, enum pipe to,
                        uint8_t *flag) {
  const struct source_tokens *tokens = &core->tokens;
  for (int64_t id = core->source->soc->flag_ids - 1; id >= 0; id--)
    if (!(tokens->used[from][to] >> id & 1)) {
      *flag = (uint8_t)id;
      return true;
    }
  return false;
}

bool source_tokens_take(struct source_core *core, enum pipe to, uint32_t id,
                        struct source_token_wait *wait) {
  struct source_tokens *tokens = &core->tokens;
  for (unsigned from = 0; from < PIPE_COUNT; from++) {
    uint32_t release = tokens->last[id][from];
    if (from == (unsigned)to || release <= tokens->seen[to][from])
      continue;
    uint8_t *flag = &tokens->flag[from][to];
    if (*flag == 0 && !choose_flag(core, (enum pipe)from, to, &wait->flag)) {
      wait->problem = SOURCE_TOKEN_NO_FLAG;
      return true;
    }
    *flag = *flag == 0 ? (uint8_t)(wait->flag + 1) : *flag;
    tokens->seen[to][from] = release;
    *wait = (struct source_token_wait){.from = (enum pipe)from, .flag = (uint8_t)(*flag - 1)};
    if (!core->source->recorded &&
        !source_log_set(core->source, &core->place, release, to, wait->flag))
      wait->problem = SOURCE_TOKEN_NO_MEMORY;
    return true;
  }
  return false;
}

bool source_tokens_flag(struct source_core *core, const struct inst *inst) {
  enum pipe from = (enum pipe)inst->arg[SET_FLAG_SRC], to = (enum pipe)inst->arg[SET_FLAG_DST];
  int64_t id = inst->arg[SET_FLAG_ID];
  if (from >= PIPE_COUNT || to >= PIPE_COUNT || id < 0 || id >= core->source->soc->flag_ids)
    return true; /* refused elsewhere */
  core->tokens.used[from][to] |= UINT32_C(1) << id;
  return core->tokens.flag[from][to] != id + 1;
}
