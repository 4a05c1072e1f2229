/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices in one simulation. Each rank has streams of operations: work of the device with a
 * duration that is given, collectives with other ranks, and events between streams. Ranks with the
 * same program share that.
 *
 * A collective of a rank is its step list (collective.h): transfers that share links, notifies
 * that take time, copies within the device. It begins on each rank when the stream gets there; what
 * depends on others waits for these, step by step.
 *
 * Transfers take bandwidth of the memory at both ends. Work that is bound by memory advances
 * meanwhile at (B - r) / B of its speed, where B is the memory's bandwidth and r what transfers
 * take (assumed, as for copies of one device: networks/graph/queue.h). A copy within a device takes
 * its rate while it starts up, too. Transfers are not slowed by work.
 *
 * Faults: work of a slow device takes longer, transfers over a slow link get less. A device that is
 * down does nothing: its work and its transfers stand still, and go on when it is back. Ranks that
 * are longer in a collective meanwhile than collective.timeout give up, which ends the run.
 *
 * Memory: programs say what a rank takes of the memory of its device and gives back, by name.
 * Nothing of that takes time, so that times are those of the job without (run_memory.c).
 */
#ifndef VINCI_DEVICES_FLOW_RUN_H
#define VINCI_DEVICES_FLOW_RUN_H

#include "devices/collective/collective.h"
#include "devices/flow/system.h"

/* HOST is a time of the host's thread, such as the issue of a kernel: the device does nothing then.
 */
enum group_op_kind {
  GROUP_WORK,
  GROUP_COLLECTIVE,
  GROUP_RECORD,
  GROUP_WAIT,
  GROUP_HOST,
  GROUP_ALLOCATE,
  GROUP_FREE
};

/* Ranks that have collectives with each other, in the order of their numbers there. */
struct group_ranks {
  const uint32_t *ranks;
  uint32_t count;
};

/*
 * Groups of one kind, such as all groups of data parallel ranks: a rank is in one of these at most.
 * Operations name the family, so that ranks of different groups share a program.
 */
struct group_family {
  const char *name;
  const struct group_ranks *groups;
  uint32_t count;
};

struct group_op {
  enum group_op_kind kind;
  const char *name;
  unsigned long line;    /* where it was written, for messages; 0: nowhere */
  uint64_t duration_ps;  /* WORK, HOST */
  uint32_t memory_milli; /* WORK: thousandths of the duration that are bound by memory */
  uint32_t event;        /* RECORD, WAIT: its number in the rank */
  /* COLLECTIVE: call.ranks and call.inner are filled by the run; the algorithm NULL: the chosen. */
  struct collective_call call;
  uint32_t family;      /* COLLECTIVE: of its group */
  uint64_t earliest_ps; /* the host has issued the operation by then */
  uint64_t bytes;       /* ALLOCATE, FREE: of the memory with that name */
  uint32_t memory;      /* ALLOCATE, FREE: the name, by its number in the job */
};

struct group_stream {
  const struct group_op *ops;
  uint32_t count;
};

struct group_program {
  const struct group_stream *streams;
  uint32_t stream_count, event_count;
};

/* From a time to a time, devices or a link do less, or nothing. */
struct group_fault {
  const struct group_fault *next;
  const uint32_t *devices; /* by rank; NULL: a link */
  uint32_t device_count;
  const char *link;        /* a name of group_limit_name() */
  uint32_t speed_milli;    /* thousandths that are left; 0: down */
  uint64_t from_ps, to_ps; /* UINT64_MAX: for good */
  unsigned long line;      /* as of group_op */
};

struct group_job {
  const struct group_system *system;
  const struct group_program *const *programs; /* by rank */
  uint32_t ranks;
  const struct group_family *families;
  uint32_t family_count;
  const struct group_fault *faults; /* NULL: none */
  const uint32_t *devices;     /* of the system, by rank, all different; NULL: rank r is device r */
  bool unfolded;               /* simulate each step of each collective (run_fold.h) */
  const char *const *memories; /* names of memory that programs take; NULL: none */
  uint32_t memory_count;
};

/* What happened, in the order of the ends. */
struct group_moment {
  uint32_t rank, stream;
  const struct group_op *op;
  uint64_t start_ps, end_ps;
  /* Of a collective: the algorithm that ran, the group by its number among those of all families,
   * and which collective of that group it is. */
  const struct collective_algorithm *algorithm;
  uint32_t group, turn;
};

/* Bytes that a rank has sent to another one, or has copied or added within its device. */
struct group_transfer {
  uint32_t from, to;    /* ranks; the same: within the device */
  uint32_t group, turn; /* the collective, as in struct group_moment */
  const struct group_step *step;
  uint64_t start_ps, end_ps;
};

/* From a time on, a rank holds as many bytes of a name. */
struct group_held {
  uint32_t rank, memory;
  uint64_t time_ps, bytes;
};

struct group_observer {
  void *context;
  /* NULL: nobody listens. Operations, as they end. */
  void (*op_ended)(void *context, const struct group_moment *moment);
  /* Transfers and copies, as they end. */
  void (*transfer_ended)(void *context, const struct group_transfer *transfer);
  /* What a rank holds has changed: of each rank in the order of times, and of different ranks in no
   * order of times. What is taken and given back at one time is no change. */
  void (*memory_held)(void *context, const struct group_held *held);
};

/* Of one rank. busy + exposed + idle is the time of the run. */
struct group_rank_result {
  uint64_t work_ps;    /* at work */
  uint64_t comm_ps;    /* in collectives, at work or not */
  uint64_t exposed_ps; /* in collectives and not at work */
  uint64_t bubble_ps;  /* in receives and not at work: a part of exposed_ps */
  uint64_t idle_ps;    /* neither */
  uint64_t slowed_ps;  /* that work took longer because of transfers and faults */
  uint64_t end_ps;
  uint64_t peak_bytes; /* the most that it holds of all memory */
  uint64_t peak_ps;    /* when that is so first */
};

struct group_result {
  uint64_t end_ps;
  struct group_rank_result *ranks; /* of the caller's arena */
  uint64_t transfers, transfer_bytes;
  uint64_t *limit_bytes; /* by limit of the system */
  uint64_t folded;       /* collectives that were not simulated step by step (run_fold.h) */
  /* Names of memory, and by rank and name what a rank holds at its peak, and at most. */
  const char *const *memories;
  uint32_t memory_count;
  uint64_t *peak_held, *most_held;
  uint64_t device_bytes; /* of a device's memory; 0: not known */
};

static inline uint32_t group_device_of(const struct group_job *job, uint32_t rank) {
  return job->devices ? job->devices[rank] : rank;
}

/* Fills what of a call depends on system and ranks, and the algorithm when that is NULL. */
void group_complete_call(const struct group_job *job, const struct group_ranks *group,
                         struct collective_call *call);

/*
 * Runs a job. Errors: what contradicts itself (VINCI_E_INPUT: ranks that call different collectives
 * of a group at the same turn, named with both lines; a fault of a link that the system lacks), and
 * a job that never ends (VINCI_E_DEADLOCK, with what ranks wait for).
 */
VINCI_MUST_CHECK enum vinci_status group_run(const struct group_job *job,
                                             const struct group_observer *observer,
                                             struct arena *arena, struct group_result *out,
                                             struct vinci_diag *diag);

#endif
