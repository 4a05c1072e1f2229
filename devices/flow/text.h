/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs as text, for those who see core/ alone: read and run in one call. The text and the function
 * are in devices/jobs (GROUP.md).
 */
#ifndef VINCI_DEVICES_FLOW_TEXT_H
#define VINCI_DEVICES_FLOW_TEXT_H

#include "devices/flow/run.h"

/*
 * Gives the system of a job: the one that the job names, or NULL, with as many devices as the job
 * has ranks. soc, unless NULL: also the chip of its devices, on which operators of the job are
 * simulated (VINCI_MEMORY_FLAT). Both live until the job has run.
 */
typedef enum vinci_status group_find_system(void *context, const char *name, uint32_t devices,
                                            const struct group_system **out, const vinci_soc **soc,
                                            struct vinci_diag *diag);

struct proven_list;
struct job_kernel_options;

/* What is turned in a job (devices/jobs/turns.h), whether levers are wanted, and how work is
 * simulated (devices/jobs/kernels.h). */
struct group_text_turns {
  const char *const *algorithms;
  size_t algorithm_count;
  uint64_t bucket_bytes;
  struct proven_list *levers;             /* NULL: not wanted */
  const struct job_kernel_options *timed; /* how work is simulated, on the chip that is found; NULL:
                                             each operator alone with flat memory */
};

/*
 * Runs the job of a text; `path` names it in messages. What `out` holds belongs to the arena, which
 * the caller frees, after errors too. turns NULL: none. Errors: those of find_system, of
 * group_run(), and VINCI_E_INPUT with line and column.
 */
VINCI_MUST_CHECK enum vinci_status
group_run_text(const char *path, const char *text, size_t length, group_find_system *find_system,
               void *context, const struct group_text_turns *turns, struct arena *arena,
               uint32_t *ranks, struct group_result *out, struct vinci_diag *diag);

#endif
