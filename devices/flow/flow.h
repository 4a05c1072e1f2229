/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers that share limits: at each moment every transfer has its max-min fair rate (no transfer
 * can get more without taking from one that has no more). Integers throughout: the work that is
 * left is held in bytes times picoseconds a second, so rates times times are exact.
 */
#ifndef VINCI_DEVICES_FLOW_FLOW_H
#define VINCI_DEVICES_FLOW_FLOW_H

#include "core/base/clock.h"
#include "devices/flow/system.h"

struct flows;

/* A time after now; TIME_END_PS, which no run reaches, for all times from there on. */
static inline uint64_t time_after(uint64_t now_ps, uint128 wait_ps) {
  return wait_ps < TIME_END_PS - now_ps ? now_ps + (uint64_t)wait_ps : TIME_END_PS;
}

#define FLOW_NONE UINT32_MAX

/* The rate of a transfer changes at now_ps: bytes a second; 0 before the start and after the end.
 */
typedef void (*flow_changed_fn)(void *context, void *user, uint64_t now_ps, uint64_t old_rate,
                                uint64_t new_rate);

/* NULL when memory is short. The system must outlive the flows; changed may be NULL. */
struct flows *flows_new(const struct group_system *system, flow_changed_fn changed, void *context);
void flows_free(struct flows *flows);

/*
 * Starts a transfer at now_ps; the times of calls do not decrease. Its rate, and those of others,
 * are found by flow_share(). Returns its number, which is free again once the transfer has ended;
 * FLOW_NONE when memory is short.
 */
uint32_t flow_start(struct flows *flows, uint64_t now_ps, const struct group_path *path,
                    uint64_t bytes, void *user);
/*
 * Finds all rates anew after starts and ends, which all were at now_ps: to be called before time
 * goes on.
 */
void flow_share(struct flows *flows, uint64_t now_ps);
/* The next transfer to end and when, FLOW_NONE when none moves. Without flow_share() before, only
 * a transfer that ends now is right. */
uint32_t flow_next(const struct flows *flows, uint64_t *end_ps);
/* Ends a transfer whose time has come; returns what flow_start() was given. */
void *flow_end(struct flows *flows, uint32_t flow);
/*
 * From now on a limit, and each transfer that passes the limit, has at most `milli` thousandths of
 * its rate. 0: these transfers stand still.
 */
void flow_set_speed(struct flows *flows, uint64_t now_ps, uint32_t limit, uint32_t milli);
/* Bytes a second of a transfer that is under way. */
uint64_t flow_rate(const struct flows *flows, uint32_t flow);
/* What has passed a limit since the start, by transfers that have ended. */
uint64_t flow_bytes(const struct flows *flows, uint32_t limit);
/* Of transfers that took place elsewhere. */
void flow_count(struct flows *flows, uint32_t limit, uint64_t bytes);

#endif
