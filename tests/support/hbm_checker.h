/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checker of DRAM command logs, written from the parameter table (core/chip/mem.def) alone: it
 * knows nothing of the controller and shares no code with the controller. All times count from the
 * last bus cycle of a command, which for a two-cycle ACT is the second.
 */
#ifndef VINCI_TESTS_SUPPORT_HBM_CHECKER_H
#define VINCI_TESTS_SUPPORT_HBM_CHECKER_H

#include "memhier/dram/hbm_channel.h"

/* Rules, in the order of the parameters that state them. */
#define HBM_RULE_LIST(X)                                                                           \
  X(TIME, "commands in order of time")                                                             \
  X(ROW_BUS, "one row command at a time, an ACT takes its bus cycles")                             \
  X(COLUMN_BUS, "one column command a cycle")                                                      \
  X(DATA_BUS, "one burst at a time on the data bus")                                               \
  X(STATE, "ACT of a closed bank, column command to the open row, REF with all banks closed")      \
  X(RCDRD, "ACT to RD")                                                                            \
  X(RCDWR, "ACT to WR")                                                                            \
  X(RP, "PRE to ACT and REF")                                                                      \
  X(RAS, "ACT to PRE")                                                                             \
  X(RC, "ACT to ACT of a bank, ACT to REF")                                                        \
  X(CCDS, "column commands")                                                                       \
  X(CCDL, "column commands of a bank group")                                                       \
  X(RRDS, "ACT to ACT")                                                                            \
  X(RRDL, "ACT to ACT of a bank group")                                                            \
  X(FAW, "four ACT")                                                                               \
  X(WTRS, "write data to RD")                                                                      \
  X(WTRL, "write data to RD of a bank group")                                                      \
  X(RTW, "RD to WR")                                                                               \
  X(RTP, "RD to PRE")                                                                              \
  X(WR, "write data to PRE")                                                                       \
  X(REFI, "at most eight refreshes late, none early")                                              \
  X(RFC, "REF to ACT and REF")

enum hbm_rule {
#define X(id, text) HBM_RULE_##id,
  HBM_RULE_LIST(X)
#undef X
      HBM_RULES
};

enum { CHECKER_PSEUDOS = 2, CHECKER_GROUPS = 8, CHECKER_BANKS = 8, CHECKER_FAW = 4 };

struct checked_bank {
  bool open;
  uint32_t row;
  int64_t act, pre, rd, wr;
};

struct checked_group {
  struct checked_bank bank[CHECKER_BANKS];
  int64_t act, rd, wr;
};

struct checked_pseudo {
  struct checked_group group[CHECKER_GROUPS];
  int64_t act[CHECKER_FAW]; /* the last four, [act_count % 4] the oldest */
  uint64_t act_count;
  int64_t rd, wr, pre, ref;
  int64_t data_from, data_to; /* the latest burst */
  uint64_t refreshes;
};

struct hbm_checker {
  const struct mem_spec *mem;
  struct checked_pseudo pseudo[CHECKER_PSEUDOS];
  int64_t now;
  int64_t row_bus;    /* first free cycle */
  int64_t column_bus; /* first free cycle */
  uint64_t commands;
  uint64_t violations[HBM_RULES];
};

void hbm_checker_init(struct hbm_checker *checker, const struct mem_spec *mem);
/* The rules that a command would break, one bit each; nothing is noted. */
uint32_t hbm_checker_test(const struct hbm_checker *checker, const struct hbm_command *command);
/* Notes a command, whether it breaks rules or not. */
void hbm_checker_add(struct hbm_checker *checker, const struct hbm_command *command);
/* All violations so far, and what the first broken rule is about. */
uint64_t hbm_checker_violations(const struct hbm_checker *checker);
const char *hbm_rule_text(enum hbm_rule rule);

#endif
