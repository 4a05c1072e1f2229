/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals between cores (ffts_cross_core_sync, wait_flag_dev). A signal has an id and a mode; the
 * mode says which cores have to give their signal before any core gets a signal. When the last of
 * them has, one signal of each sender is used up and each receiver gets a signal. Both counters of
 * a core have a limit, soc->cross_core_sets_max. A block starts with no signals. Mode 4 has flags
 * of its own.
 */
#ifndef VINCI_CORE_CONTROL_SIGNALS_H
#define VINCI_CORE_CONTROL_SIGNALS_H

#include "core/control/placement.h"
#include "core/isa/signal_flags.h"

/* One flag of a core. */
struct signal_counts {
  uint32_t arrived;           /* signals that the core has not taken yet */
  uint32_t sent[CROSS_MODES]; /* by the core, and still to be met by others of its group */
};

struct signals {
  const struct placement *placement;
  uint32_t flags; /* of a core */
  uint32_t limit;
  struct signal_counts *counts; /* [core][flag] */
  uint32_t *cores;              /* room for the group of a signal in mode 0 */
};

/* Signals that were used up together, and who gets a signal. */
struct signal_delivery {
  const uint32_t *senders;
  const uint32_t *receivers;
  uint32_t sender_count;
  uint32_t receiver_count; /* 0: a sender has not signalled yet */
  uint32_t flag;           /* of the senders, and */
  uint32_t arrives;        /* of the receivers */
  uint32_t mode;
};

bool signals_create(struct signals *signals, struct arena *arena,
                    const struct placement *placement);
void signals_start_block(struct signals *signals, uint32_t core);
static inline struct signal_counts *signals_at(const struct signals *signals, uint32_t core,
                                               uint32_t flag) {
  return &signals->counts[(size_t)core * signals->flags + flag];
}
/* A core signals. False with *misuse when the signal has no meaning, or finds its counter full. */
bool signals_give(struct signals *signals, uint32_t core, enum cross_mode mode, uint32_t id,
                  struct signal_delivery *delivery, struct misuse *misuse);
/* A receiver gets its signal. False with *misuse when its counter is full: the signal is lost. */
bool signals_arrive(struct signals *signals, uint32_t core, uint32_t flag, struct misuse *misuse);
/* Cores of a kind that mode 0 waits for: those of all blocks of the running kernel. Blocks beyond
 * the number of cores have none, and the wait does not end (Ascend C SyncAll: no more blocks than
 * cores). */
uint32_t signals_needed(const struct signals *signals, enum core_kind kind);
/* Cores of a kind that have signalled an id in mode 0 and wait for the others. */
uint32_t signals_waiting(const struct signals *signals, enum core_kind kind, uint32_t id);

#endif
