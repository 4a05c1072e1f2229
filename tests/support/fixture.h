/* SPDX-License-Identifier: Apache-2.0 */
/* A small split-core SoC built in code, for tests that want fixed numbers and no data files. */
#ifndef VINCI_TESTS_SUPPORT_FIXTURE_H
#define VINCI_TESTS_SUPPORT_FIXTURE_H

#include "core/chip/soc.h"

/* Cycles of the fixture that hand-derived expectations are made of. */
enum {
  FIXTURE_ISSUE = 3,
  FIXTURE_FLAG = 7,
  FIXTURE_BARRIER = 13,
  FIXTURE_CROSS = 251,
  FIXTURE_LAUNCH = 1009,
  FIXTURE_BLOCK = 101,  /* from block to block, where all cores get blocks */
  FIXTURE_CLUSTER = 83, /* from cluster to cluster, where cores are left free */
};

/*
 * "fixture220": dav-c220, 20 AIC and 40 AIV, buffers of the 910B family, 32 GiB of
 * device memory, 8 flag ids, 16 cross-core ids; its cube has no hf32. All latencies are
 * different primes, and no two paths or vector classes are alike. NULL when memory is short;
 * vinci_soc_free frees the chip.
 */
vinci_soc *fixture_soc(void);
/* "fixture100": dav-c100, 32 coupled cores, 4 flag ids, no cross-core flags, no bf16, int4. */
vinci_soc *fixture_soc_coupled(void);

/* Group set-up and tear-down of tests that share one fixture_soc(). */
extern vinci_soc *fixture_shared;
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

#endif
