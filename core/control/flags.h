/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flags between the pipes of a core: set_flag sets one, wait_flag waits until the flag is set
 * and clears that flag. Setting a flag that is set is undefined (Ascend C, SetFlag). A block starts
 * with all flags clear: what an earlier block left set is a mistake of that block.
 *
 * Flags of compiled kernels count. Queues of the Ascend C library (TQue) give an id out again when
 * its wait is issued, which may be long before the wait ends; as such kernels work on chips, a set
 * is not lost there.
 */
#ifndef VINCI_CORE_CONTROL_FLAGS_H
#define VINCI_CORE_CONTROL_FLAGS_H

#include <string.h>

#include "core/base/arena.h"
#include "core/control/misuse.h"
#include "core/isa/inst.h"

struct flags {
  uint32_t *line; /* [src][dst][id]: of the set_flag; 0: the flag is not set */
  uint8_t *again; /* how many more sets have not been waited for; NULL: flags do not count */
  uint8_t *spare; /* 1: the first set of the block counts twice; NULL: of no flag */
  uint32_t ids;
};

static inline size_t flags_count(const struct vinci_soc *soc) {
  return (size_t)PIPE_COUNT * PIPE_COUNT * (size_t)soc->flag_ids;
}

static inline bool flags_create(struct flags *flags, struct arena *arena,
                                const struct vinci_soc *soc, bool counted) {
  flags->ids = (uint32_t)soc->flag_ids;
  flags->line = ARENA_ARRAY(arena, uint32_t, flags_count(soc));
  flags->again = counted ? ARENA_ARRAY(arena, uint8_t, flags_count(soc)) : NULL;
  flags->spare = NULL;
  return flags->line && (flags->again || !counted);
}

/*
 * Whether a flag gives a buffer back: from a pipe to one before it on the way of the data, GM to L1
 * or UB, L1 to L0, cube or vector, and out.
 */
static inline bool flag_gives_back(enum pipe src, enum pipe dst) {
  static const uint8_t place[PIPE_COUNT] = {[PIPE_MTE2] = 1, [PIPE_MTE1] = 2, [PIPE_M] = 3,
                                            [PIPE_V] = 4,    [PIPE_FIX] = 4,  [PIPE_MTE3] = 5};
  return place[dst] > 0 && place[src] > place[dst];
}

/* What-if: as though each buffer were there twice. The first set of each flag that gives a buffer
 * back counts for two, so flags have to count. False when memory is short. */
static inline bool flags_add_spares(struct flags *flags, struct arena *arena,
                                    const struct vinci_soc *soc) {
  flags->spare = ARENA_ARRAY(arena, uint8_t, flags_count(soc));
  return flags->spare != NULL;
}

static inline void flags_start_block(struct flags *flags) {
  size_t count = (size_t)PIPE_COUNT * PIPE_COUNT * flags->ids;
  memset(flags->line, 0, sizeof *flags->line * count);
  for (size_t i = 0; flags->spare && i < count; i++) {
    size_t pair = i / flags->ids;
    flags->spare[i] =
        flag_gives_back((enum pipe)(pair / PIPE_COUNT), (enum pipe)(pair % PIPE_COUNT));
  }
  if (flags->again)
    memset(flags->again, 0, sizeof *flags->again * count);
}

/* Which of the flags it is. */
static inline size_t flags_index(const struct vinci_soc *soc, enum pipe src, enum pipe dst,
                                 uint32_t id) {
  return ((size_t)src * PIPE_COUNT + dst) * (size_t)soc->flag_ids + id;
}

/* The same of a set_flag or a wait_flag. */
static inline size_t flags_index_of(const struct vinci_soc *soc, const struct inst *inst) {
  return flags_index(soc, (enum pipe)inst->arg[SET_FLAG_SRC], (enum pipe)inst->arg[SET_FLAG_DST],
                     (uint32_t)inst->arg[SET_FLAG_ID]);
}

static inline bool flag_is_set(const struct flags *flags, size_t index) {
  return flags->line[index] != 0;
}

/* A set_flag in a line. False with *misuse when the flag is set, which the flag then stays. */
static inline bool flag_set(struct flags *flags, size_t index, uint32_t line,
                            struct misuse *misuse) {
  if (flags->spare && flags->spare[index]) {
    flags->spare[index] = 0;
    flags->again[index]++;
  }
  if (flag_is_set(flags, index) && flags->again && flags->again[index] < UINT8_MAX) {
    flags->again[index]++;
    return true;
  }
  if (flag_is_set(flags, index)) {
    size_t pair = index / flags->ids;
    *misuse = (struct misuse){.kind = MISUSE_FLAG_SET_TWICE,
                              .id = (uint32_t)(index % flags->ids),
                              .line = flags->line[index],
                              .from = (enum pipe)(pair / PIPE_COUNT),
                              .to = (enum pipe)(pair % PIPE_COUNT)};
    return false;
  }
  flags->line[index] = line;
  return true;
}

/* The end of a wait_flag. */
static inline void flag_take(struct flags *flags, size_t index) {
  if (flags->again && flags->again[index] > 0)
    flags->again[index]--;
  else
    flags->line[index] = 0;
}

#endif
