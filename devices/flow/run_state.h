/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a run of devices: ranks with their streams, collectives under way, and the planes
 * of those. Internal to devices/flow.
 */
#ifndef VINCI_DEVICES_FLOW_RUN_STATE_H
#define VINCI_DEVICES_FLOW_RUN_STATE_H

#include "devices/flow/flow.h"
#include "devices/flow/posts.h"
#include "devices/flow/run.h"
#include "devices/flow/run_fold.h"

enum moment_kind {
  MOMENT_STREAM,
  MOMENT_WORK_ENDS,
  MOMENT_PLANE,
  MOMENT_READY,
  MOMENT_DONE,
  MOMENT_FAULT,   /* what is left of devices and links changes */
  MOMENT_TIMEOUT, /* a collective is given up */
  MOMENT_FOLDED   /* a member of a folded collective has ended: who, of the instance `instance` */
};

/*
 * Something that is due. Equal times go by the time at which they were noted; of one device, then
 * by how far the device that noted them is in the group, and at last by the order in which they
 * were noted. So what a device does depends on no number of a rank, and ranks that are alike in all
 * else have the same times. The order of devices decides nothing.
 */
struct due {
  uint64_t time_ps, noted_ps;
  uint64_t whose;      /* due_whose(); 0: of no device, which is first */
  uint64_t instance;   /* READY, DONE; WORK_ENDS: the version; TIMEOUT: the operation */
  uint64_t order : 56; /* in which they were noted */
  enum moment_kind kind : 8;
  uint32_t who; /* a stream or a plane by number; READY, DONE: the sending rank */
  uint32_t to;  /* READY, DONE: the receiving rank */
};

/* Of READY and DONE, `distance` is the members of the group from the receiver to the sender. */
static inline uint64_t due_whose(uint32_t rank, uint32_t distance) {
  return ((uint64_t)rank + 1) << 32 | distance;
}

struct stream {
  const struct group_stream *ops;
  uint32_t rank, number; /* of the stream within its rank */
  uint32_t index;        /* of the operation that runs or waits */
  bool running;          /* the operation has begun */
  bool waits;            /* for an event */
  uint64_t start_ps;
  /* Work: what is left, in picoseconds times a million, and how fast it goes, in millionths. */
  uint128 left;
  uint64_t since_ps, speed, version;
};

struct rank {
  uint32_t first_stream, stream_count;
  bool *events;
  uint32_t working, communicating, receiving; /* streams; receiving: those in a receive */
  uint64_t since_ps;                          /* the counters below are right up to there */
  uint64_t issue_free_ps;                     /* when the device can issue the next notify */
  uint64_t taken_rate;                        /* of the memory, by transfers and copies */
  uint32_t speed_milli;                       /* 0: down */
  uint64_t up_ps;                             /* of a device that is down: when it is back */
  struct group_rank_result result;
};

/* A collective: the same turn of the same group on all ranks. */
struct instance {
  struct instance *next;
  uint64_t number; /* distinct over the run */
  const struct group_ranks *group;
  uint32_t family, group_number; /* of the group in the list of all groups */
  uint32_t turn;
  uint32_t come, ended; /* ranks */
  uint64_t chunks;
  struct collective_call call;
  const struct group_op *first_op;
  uint32_t first_rank;
  bool is_folded;
  struct member {
    uint32_t stream;         /* of the whole run */
    uint32_t planes, joined; /* that have not ended; of these, that wait for the others */
    uint32_t first_joined;   /* a chain through next_joined */
    uint64_t chunk;
    uint64_t came_ps; /* of a folded collective */
  } members[];
};

/* Where a rank is in a family. */
struct place {
  const struct group_ranks *group; /* NULL: in none of its groups */
  uint32_t group_number, member;
  uint32_t turns; /* collectives that it has come to */
};

enum plane_phase {
  PLANE_STEP,  /* goes on to its next step */
  PLANE_READY, /* waits until the receiver is ready */
  PLANE_START, /* the transfer starts now */
  PLANE_MOVES, /* the transfer is under way */
  PLANE_DONE,  /* waits for what comes from the other */
  PLANE_JOIN   /* waits for the other planes of the rank */
};

struct plane {
  struct instance *instance;
  struct group_path path; /* of the transfer */
  uint32_t member, number, index;
  uint32_t next_joined;
  enum plane_phase phase;
  uint64_t local_rate; /* of the memory, while it copies within the device */
  uint64_t start_ps;
  struct group_step step;
};

struct memories;

struct group_sim {
  const struct group_job *job;
  const struct group_observer *observer;
  struct vinci_diag *diag;
  enum vinci_status status;
  uint64_t now_ps, order, instances_made;
  struct rank *ranks;
  struct stream *streams;
  uint32_t stream_count;
  struct place *places;       /* by family and rank */
  struct instance **of_group; /* by number of the group, the oldest first */
  uint32_t group_count;
  struct plane *planes;
  uint32_t plane_count, plane_capacity, free_plane;
  struct flows *flows;
  struct posts posts;
  struct due *dues; /* a heap */
  size_t due_count, due_capacity;
  struct due *now_dues; /* noted now for now: behind what was noted before, in order */
  size_t now_first, now_count, now_capacity;
  bool may_go_down;       /* a device or a link, by a fault */
  uint32_t *limit_speeds; /* while faults change: by limit, thousandths; NULL without faults */
  uint64_t transfers, transfer_bytes;
  struct memories *memories; /* NULL: the job has no memory */
  struct folds *folds;       /* NULL: nothing is folded */
  struct fold_part *part;    /* NULL: not the run of a part of a collective */
  uint32_t stand_ins; /* members of a group, of which each stands for all that are a multiple of
                       * as many behind; 0: each for itself */
};

static inline const struct group_op *sim_op_of(const struct stream *stream) {
  return &stream->ops->ops[stream->index];
}

static inline struct place *sim_place_of(const struct group_sim *sim, uint32_t family,
                                         uint32_t rank) {
  return &sim->places[(size_t)family * sim->job->ranks + rank];
}

/* The rank, and so the state of the device, of a member of a collective. */
static inline uint32_t sim_device(const struct instance *instance, uint32_t member) {
  return instance->group->ranks[member];
}

static inline uint32_t sim_stand_in(const struct group_sim *sim, uint32_t member) {
  return sim->stand_ins ? member % sim->stand_ins : member;
}

/* The collective of a group at a turn, NULL: nobody has come, or all have ended. */
static inline struct instance *sim_find_instance(const struct group_sim *sim, uint32_t group_number,
                                                 uint32_t turn) {
  struct instance *instance = sim->of_group[group_number];
  while (instance && instance->turn != turn)
    instance = instance->next;
  return instance;
}

void sim_note(struct group_sim *sim, struct due due);
/* The first of the heap, which is not empty. */
struct due sim_take_due(struct group_sim *sim);
void sim_fail(struct group_sim *sim, enum vinci_status status, const char *text);

/* A stream has come to a collective: its planes begin. */
void sim_collective_begin(struct group_sim *sim, uint32_t stream);
/* All planes of a member have ended; the stream goes on. */
void sim_collective_ended(struct group_sim *sim, struct instance *instance, uint32_t member);
/* The planes of a member, for one chunk of the collective. */
void sim_planes_begin(struct group_sim *sim, struct instance *instance, uint32_t member);
void sim_plane_goes_on(struct group_sim *sim, uint32_t plane);
void sim_notify_came(struct group_sim *sim, const struct due *due);
/* A transfer has ended: its plane. */
void sim_transfer_ended(struct group_sim *sim, uint32_t plane);
/* Work of a rank goes on at the speed of now. */
void sim_work_speed(struct group_sim *sim, uint32_t rank);
void sim_place_text(const struct group_op *op, char *out, size_t size);

/* The call of the chunk that a member is at. */
struct collective_call sim_chunk_call(const struct instance *instance, uint64_t chunk);
/* What a copy or a sum within a device takes, beside waits. */
uint64_t sim_local_ps(const struct group_system *system, const struct group_step *step);

/* A run in parts (run.c): sim_begin(), streams noted, sim_run(); then sim_end(). */
void sim_begin(struct group_sim *sim);
void sim_note_stream(struct group_sim *sim, uint32_t stream, uint64_t time_ps);
void sim_run(struct group_sim *sim);
void sim_end(struct group_sim *sim);

/* No more is due: all streams have ended, or the job hangs, which is an error (run_hang.c). */
void sim_check_ended(struct group_sim *sim);

/* Faults (run_faults.c): all that begin and end, as things that are due. */
void sim_faults_begin(struct group_sim *sim);
void sim_fault_changes(struct group_sim *sim);
/* Whether the device of what is due is down: then this happens when the device is back. */
bool sim_is_put_off(struct group_sim *sim, const struct due *due);
/* A stream begins a collective; it gives up after the timeout when a device may be down. */
void sim_note_timeout(struct group_sim *sim, uint32_t stream);
void sim_timeout(struct group_sim *sim, const struct due *due);
/* "device 3 is down from 10.0 us on (line 4)", or nothing. */
void sim_down_text(const struct group_sim *sim, char *out, size_t size);

/* What ranks hold (run_memory.c). False when memory of the host is short. */
bool sim_memory_begin(struct group_sim *sim);
void sim_memory_end(struct group_sim *sim);
/* A rank takes or gives back, now. */
void sim_memory_changes(struct group_sim *sim, uint32_t rank, const struct group_op *op);
/* All that happens has happened: peaks of all ranks. False when memory of the host is short. */
bool sim_memory_results(struct group_sim *sim, struct arena *arena, struct group_result *out);

/* The memory of a device gives more or less to transfers from now on. */
void sim_memory_taken(struct group_sim *sim, uint32_t device, uint64_t old_rate, uint64_t new_rate);

#endif
