/* SPDX-License-Identifier: Apache-2.0 */
/* Devices for tests: a system with distinct numbers, and runs of one collective or one program. */
#ifndef VINCI_TESTS_SUPPORT_DEVICES_H
#define VINCI_TESTS_SUPPORT_DEVICES_H

#include "devices/flow/run.h"

enum { RANKS_MAX = 64, US = 1000000 };

/* Distinct numbers, so that none can stand for another: a latency of 3 us, 50 ps for a byte between
 * devices, 7 ps for a byte that is added. */
enum { ALPHA = 3 * US, BETA = 50, GAMMA = 7 };
#define PER_BYTE(ps) (UINT64_C(1000000000000) / (ps))

/* 0, 1, 2 ... */
static inline const uint32_t *all_ranks(void) {
  static uint32_t ranks[RANKS_MAX];
  for (uint32_t i = 0; i < RANKS_MAX; i++)
    ranks[i] = i;
  return ranks;
}

static inline struct group_system simple_system(uint32_t devices) {
  struct group_system system = {.name = "simple",
                                .devices = devices,
                                .level_count = 1,
                                .slice_bytes = 1,
                                /* rounded up, so that a byte takes GAMMA at most */
                                .local_reduce_rate = PER_BYTE(GAMMA) + 1};
  system.levels[0] = (struct group_level){.name = "link",
                                          .join = GROUP_MESH,
                                          .devices = RANKS_MAX,
                                          .latency_ps = ALPHA,
                                          .copy_rate = PER_BYTE(BETA),
                                          .reduce_rate = PER_BYTE(BETA),
                                          .send_rate = PER_BYTE(BETA)};
  return system;
}

/* All ranks have the same program and are one group. */
static inline enum vinci_status
run_alike(const struct group_system *system, const struct group_program *program,
          const struct group_fault *faults, const struct group_observer *observer,
          struct arena *arena, struct group_result *result, struct vinci_diag *diag) {
  const struct group_program *programs[RANKS_MAX];
  for (uint32_t i = 0; i < system->devices; i++)
    programs[i] = program;
  struct group_ranks ranks = {all_ranks(), system->devices};
  struct group_family family = {"world", &ranks, 1};
  struct group_job job = {.system = system,
                          .programs = programs,
                          .ranks = system->devices,
                          .families = &family,
                          .family_count = 1,
                          .faults = faults};
  return group_run(&job, observer, arena, result, diag);
}

/* All ranks call the same collective at time 0. */
static inline enum vinci_status run_call(const struct group_system *system,
                                         const struct collective_call *call,
                                         const struct group_observer *observer, struct arena *arena,
                                         struct group_result *result, struct vinci_diag *diag) {
  struct group_op op = {.kind = GROUP_COLLECTIVE, .name = "call", .call = *call};
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  return run_alike(system, &program, NULL, observer, arena, result, diag);
}

#endif
