/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group run: the files of --output. */
#include <stdio.h>

#include "cli/group/outcome.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "devices/jobs/kernels.h"
#include "devices/results/classes.h"
#include "devices/results/path.h"

enum { PATH_BYTES = 4096 };

static void write_summary(void *context, FILE *out) {
  const struct group_outcome *outcome = context;
  job_put_summary(outcome->job, &outcome->result, outcome->energy, outcome->levers, out);
}
static void write_step_trace(void *context, FILE *out) {
  const struct group_outcome *outcome = context;
  job_put_step_trace(&outcome->job->job, &outcome->result, out);
}
static void write_collectives(void *context, FILE *out) {
  const struct group_outcome *outcome = context;
  job_put_collectives(&outcome->profile.moments, out);
}
static void write_timeline(void *context, FILE *out) {
  const struct group_outcome *outcome = context;
  job_put_timeline(&outcome->job->job, &outcome->profile.moments, out);
}

static void write_classes(void *context, FILE *out) {
  struct group_outcome *outcome = context;
  outcome->short_of_memory |=
      !job_put_classes(&outcome->job->job, &outcome->result, &outcome->profile.moments, out);
}

static void write_loads(void *context, FILE *out) {
  const struct group_outcome *outcome = context;
  job_put_loads(&outcome->loads, outcome->result.end_ps, out);
}

static void write_levels(void *context, FILE *out) {
  struct group_outcome *outcome = context;
  outcome->short_of_memory |=
      !job_put_levels(&outcome->job->job, &outcome->result, &outcome->levels, out);
}

static void write_path(void *context, FILE *out) {
  struct group_outcome *outcome = context;
  outcome->short_of_memory |=
      !job_put_path(&outcome->job->job, &outcome->result, &outcome->profile.moments, out);
}

static void write_kernels(void *context, FILE *out) {
  const struct group_outcome *outcome = context;
  job_put_kernels(outcome->job, out);
}

enum vinci_status group_outcome_write(const char *folder, struct group_outcome *outcome,
                                      struct vinci_diag *diag) {
  const struct {
    const char *name;
    void (*write)(void *context, FILE *out);
    bool there;
  } files[] = {{"summary.json", write_summary, true},
               {"step_trace_time.csv", write_step_trace, true},
               {"collectives.csv", write_collectives, true},
               {"trace.json", write_timeline, true},
               {"timeline.csv", write_classes, true},
               {"path.csv", write_path, true},
               {"links.csv", write_loads, true},
               {"memory.csv", write_levels, outcome->job->job.memory_count > 0},
               {"kernels.csv", write_kernels, outcome->job->kernels != NULL}};
  enum vinci_status status = folder_remove_command(folder, diag);
  for (size_t i = 0; i < sizeof files / sizeof *files && status == VINCI_OK; i++) {
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", folder, files[i].name) >= (int)sizeof path)
      return diag_error(diag, VINCI_E_USAGE, "the name of the folder is too long");
    status = files[i].there ? file_replace(path, files[i].write, outcome, diag)
                            : folder_remove_file(folder, files[i].name, diag); /* of another job */
  }
  if (status == VINCI_OK && outcome->short_of_memory)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  return status;
}
