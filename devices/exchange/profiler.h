/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a job as folders of the vendor's profiler, one for each rank: RANK_ascend_pt with
 * ASCEND_PROFILER_OUTPUT/communication.json, communication_matrix.json and step_trace_time.csv, and
 * profiler_metadata.json with the groups. Fields and units are those of profiles of torch_npu
 * (Ascend/msinsight, test data of level 1 and 2); msprof-analyze reads these folders.
 */
#ifndef VINCI_DEVICES_EXCHANGE_PROFILER_H
#define VINCI_DEVICES_EXCHANGE_PROFILER_H

#include "devices/results/result.h"

/* What a rank has sent or copied in one collective. */
struct profile_move {
  uint32_t rank, group, turn, peer; /* peer: the other rank; the rank itself for copies */
  uint64_t bytes, start_ps, end_ps;
};

/* All that a run tells; an observer's context. Ranks of the job lie in families as given. */
struct job_profile {
  struct job_moments moments;
  struct profile_move *moves;
  size_t move_count, move_capacity;
};

void profile_keep_moment(void *context, const struct group_moment *moment);
void profile_keep_move(void *context, const struct group_transfer *moved);
void profile_free(struct job_profile *profile);

/*
 * Writes the folders below `folder`, which exists. Sorts what the profile holds. Errors: no memory,
 * and files that cannot be written.
 */
VINCI_MUST_CHECK enum vinci_status profile_write(struct job_profile *profile, const char *folder,
                                                 const struct group_job *job,
                                                 const struct group_result *result,
                                                 struct vinci_diag *diag);

/* ---- between the files of the writer -----------------------------------------------------------
 */

/* Kinds of links as the profiler names these, by the name of the level; SDMA: the sum of those that
 * its engine drives. Local copies are in the matrix alone. */
enum profile_link {
  LINK_RDMA,
  LINK_HCCS,
  LINK_PCIE,
  LINK_SDMA,
  LINK_SIO,
  LINKS,
  LINK_LOCAL = LINKS
};
extern const char *const profile_link_names[LINKS + 1];

/* A collective of the rank that is written. */
struct profile_call {
  const struct group_moment *moment;
  const struct profile_move *moves; /* by start */
  size_t move_count;
  const struct group_ranks *group;
  uint32_t member; /* of the rank in the group */
  bool p2p;
  char name[96]; /* "hcom_allReduce__097_4_1" */
  char type[32]; /* "allreduce" */
  uint64_t hash; /* of the group */
};

struct profile_rank {
  const struct group_job *job;
  const struct group_result *result;
  uint32_t rank;
  const struct group_moment *moments; /* of the rank, by start */
  size_t moment_count;
  struct profile_call *calls; /* by start */
  size_t call_count;
};

enum profile_link profile_link_of(const struct group_job *job, const struct profile_move *move);
void profile_put_communication(const struct profile_rank *rank, FILE *out);
/* Sets *short_of_memory when the table could not be made. */
void profile_put_matrix(const struct profile_rank *rank, FILE *out, bool *short_of_memory);
void profile_put_steps(const struct profile_rank *rank, FILE *out);

#endif
