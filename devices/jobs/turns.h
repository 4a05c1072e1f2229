/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a job can be turned without a change of its file: the algorithms of its collectives, and
 * how many bytes neighbouring sums may have together. job_levers_find() says what each saves.
 */
#ifndef VINCI_DEVICES_JOBS_TURNS_H
#define VINCI_DEVICES_JOBS_TURNS_H

#include "core/result/proven.h"
#include "devices/jobs/job.h"

/*
 * "all_reduce@dp=ring": collectives of this operation and group take this algorithm;
 * "all_reduce=ring" those of all groups, "gradients=ring" those of this name. VINCI_E_USAGE: the
 * job has no such collective, or the algorithm cannot do the operation.
 */
VINCI_MUST_CHECK enum vinci_status job_turn_algorithm(struct job *job, const char *text,
                                                      struct vinci_diag *diag);
/*
 * Sums of all ranks (all_reduce) of one group that follow each other in a stream, with nothing but
 * waits for events between, are made together while they have at most this many bytes. Returns how
 * many became a part of the next.
 */
size_t job_turn_buckets(struct job *job, uint64_t bytes);

/* Runs the job, which has taken end_ps, once for each lever; the job is as before then. */
VINCI_MUST_CHECK enum vinci_status
job_levers_find(struct job *job, uint64_t end_ps, struct proven_list *out, struct vinci_diag *diag);

#endif
