/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DRAM controller of memhier/dram/hbm_channel.h once more, the simple way: it looks at all
 * requests in every cycle and asks the checker whether a command may be issued. Slow and
 * plain; the event-driven controller must issue the same commands in the same cycles.
 */
#ifndef VINCI_TESTS_SUPPORT_HBM_TICKING_H
#define VINCI_TESTS_SUPPORT_HBM_TICKING_H

#include "tests/support/hbm_checker.h"

enum { TICKING_REQUESTS = 256 };

struct ticking_request {
  struct hbm_command column; /* the command that serves the burst; cycle is not used */
  uint64_t offered;
  uint64_t opened; /* number of the ACT issued for it, 0 = still queued */
};

struct ticking {
  const struct mem_spec *mem;
  struct hbm_checker checker;
  struct ticking_request request[TICKING_REQUESTS]; /* in the order of the offers */
  unsigned request_count;
  bool draining;
  unsigned refreshes_due;
  uint64_t acts;
  int64_t hit_run[CHECKER_PSEUDOS][CHECKER_GROUPS][CHECKER_BANKS]; /* since the ACT */
  void *context;
  void (*command)(void *context, const struct hbm_command *command);
};

void ticking_init(struct ticking *ticking, const struct mem_spec *mem);
/* As hbm_channel_offer; takes effect in the tick of the cycle after. */
bool ticking_offer(struct ticking *ticking, const struct hbm_place *place, bool write,
                   uint64_t cycle);
/* Every cycle from 1 on, in order. */
void ticking_tick(struct ticking *ticking, uint64_t cycle);

#endif
