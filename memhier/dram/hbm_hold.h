/* SPDX-License-Identifier: Apache-2.0 */
/* How a command of a DRAM controller holds others back, by the rows of hbm_rules.def. Internal to
 * memhier/dram/hbm_channel.c. */
#ifndef VINCI_MEMHIER_DRAM_HBM_HOLD_H
#define VINCI_MEMHIER_DRAM_HBM_HOLD_H

#include "memhier/dram/hbm_choose.h"

/*
 * A command holds others back: each row of hbm_rules.def that begins with the command and is of the
 * level. `command` and `at` are constants, so that the rows of others are not there.
 */
enum level { LEVEL_bank, LEVEL_group, LEVEL_pseudo };
enum {
  COMMAND_act = HBM_ACT,
  COMMAND_pre = HBM_PRE,
  COMMAND_pre_all = HBM_PRE_ALL,
  COMMAND_read = HBM_READ,
  COMMAND_write = HBM_WRITE,
  COMMAND_refresh = HBM_REFRESH
};
/* What the code below and in hbm_channel.c would pass over. */
#define RULE(level, before, after, cycles)                                                         \
  _Static_assert(LEVEL_##level != LEVEL_group ||                                                   \
                     (COMMAND_##before != COMMAND_pre_all && COMMAND_##before != COMMAND_refresh), \
                 "a command of a whole pseudo-channel has no bank group");
#define WINDOW(level, command, count, cycles)                                                      \
  _Static_assert(LEVEL_##level == LEVEL_pseudo && COMMAND_##command == COMMAND_act,                \
                 "keep_window() knows this window alone");
#include "memhier/dram/hbm_rules.def"
#undef RULE
#undef WINDOW

#define OF_bank ch->bank[bank]
#define OF_group ch->group[bank >> ch->bank_shift]
#define OF_pseudo ch->pseudo[bank >> ch->pseudo_shift]
#define MAY_act act
#define MAY_pre pre
#define MAY_pre_all pre_all
#define MAY_read column[HBM_R]
#define MAY_write column[HBM_W]
#define MAY_refresh refresh

/* What a command holds back for its own kind comes later than what has held itself back. */
static inline __attribute__((always_inline)) void hold(uint64_t *time, uint64_t until, bool own) {
  *time = own ? until : later(*time, until);
}

static inline __attribute__((always_inline)) void
hold_back(struct hbm_channel *ch, enum level at, enum hbm_command_kind command, unsigned bank) {
  uint64_t now = ch->cycle;
#define RULE(level, before, after, cycles)                                                         \
  if (at == LEVEL_##level && (int)command == (int)COMMAND_##before)                                \
    hold(&OF_##level.MAY_##after, now + ch->distance.level##_##before##_##after,                   \
         (int)COMMAND_##before == (int)COMMAND_##after);
#define WINDOW(level, command, count, cycles)
#include "memhier/dram/hbm_rules.def"
#undef RULE
#undef WINDOW
}

static inline __attribute__((always_inline)) void
hold_back_all(struct hbm_channel *ch, enum hbm_command_kind command, unsigned bank) {
  hold_back(ch, LEVEL_pseudo, command, bank);
  hold_back(ch, LEVEL_group, command, bank);
  hold_back(ch, LEVEL_bank, command, bank);
}

#endif
