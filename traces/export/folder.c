/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result folder. Files are written under a temporary name and renamed when whole, so
 * that a reader never meets half a file. summary.json is there only while all other files
 * are of the same run: an earlier one is removed first, the new one is written last.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "traces/export/export.h"
#include "traces/export/opprof/opprof.h"
#include "traces/export/report/report.h"

/* A file of the folder: written from the result, or also from what a timeline is to show. */
struct output {
  const char *name;
  enum vinci_status (*table)(const struct vinci_result *result, FILE *out, struct vinci_diag *diag);
  enum vinci_status (*timeline)(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag);
};

/* What all files of a folder are written from. */
struct source {
  const struct vinci_result *result;
  const struct timeline_choice *choice;
  const char *folder;
};

static const char summary_name[] = "summary.json";

static enum vinci_status write_temporary(const char *path, export_writer writer,
                                         const void *context, struct vinci_diag *diag) {
  errno = 0;
  FILE *out = fopen(path, "w");
  if (!out)
    return file_error(diag, path, "write");
  enum vinci_status status = writer(context, out, diag);
  errno = 0;
  bool failed = fflush(out) != 0 || ferror(out);
  int error = errno;
  if (fclose(out) != 0 && !failed) {
    failed = true;
    error = errno;
  }
  errno = error;
  return status == VINCI_OK && failed ? file_error(diag, path, "write") : status;
}

enum vinci_status export_file(const char *folder, const char *name, export_writer writer,
                              const void *context, struct vinci_diag *diag) {
  char path[PATH_MAX], temporary[PATH_MAX];
  int length = snprintf(temporary, sizeof temporary, "%s/%s.part", folder, name);
  if (length < 0 || (size_t)length >= sizeof temporary) {
    errno = ENAMETOOLONG;
    return file_error(diag, folder, "write into the folder");
  }
  snprintf(path, sizeof path, "%.*s", length - (int)strlen(".part"), temporary);
  enum vinci_status status = write_temporary(temporary, writer, context, diag);
  if (status == VINCI_OK && rename(temporary, path) != 0)
    status = file_error(diag, path, "write");
  if (status != VINCI_OK)
    remove(temporary);
  return status;
}

struct job {
  const struct source *source;
  const struct output *output;
};

static enum vinci_status write_job(const void *context, FILE *out, struct vinci_diag *diag) {
  const struct job *job = context;
  return job->output->table
             ? job->output->table(job->source->result, out, diag)
             : job->output->timeline(job->source->result, job->source->choice, out, diag);
}

static enum vinci_status write_file(const struct source *source, const struct output *output,
                                    struct vinci_diag *diag) {
  return export_file(source->folder, output->name, write_job, &(struct job){source, output}, diag);
}

/* Those that are not chosen are removed: they would be of an earlier run. */
static enum vinci_status write_timelines(const struct source *source, struct vinci_diag *diag) {
  static const struct {
    enum timeline_format format;
    struct output output;
  } files[] = {
      {TIMELINE_PERFETTO, {"trace.pftrace", NULL, export_perfetto}},
      {TIMELINE_CHROME, {"trace.json", NULL, export_chrome}},
      {TIMELINE_VCD, {"trace.vcd", NULL, export_vcd}},
  };
  static const struct output slices = {"slices.json", NULL, export_slices};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof files / sizeof *files; i++)
    status = source->choice->formats & 1u << files[i].format
                 ? write_file(source, &files[i].output, diag)
                 : folder_remove_file(source->folder, files[i].output.name, diag);
  if (status == VINCI_OK) /* for `vinci report`, which shows what the other timelines show */
    status = source->choice->formats ? write_file(source, &slices, diag)
                                     : folder_remove_file(source->folder, slices.name, diag);
  if (status == VINCI_OK && source->choice->formats & 1u << TIMELINE_MSPROF)
    status = opprof_write(source->result, source->choice, source->folder, diag);
  return status;
}

enum vinci_status vinci_result_write_folder_with(const vinci_result *result, const char *folder,
                                                 const struct vinci_timeline_options *options,
                                                 struct vinci_diag *diag) {
  static const struct output tables[] = {
      {"OpBasicInfo.csv", export_basic_csv, NULL},
      {"PipeUtilization.csv", export_pipe_csv, NULL},
      {"Memory.csv", export_memory_csv, NULL},
      {"MemoryL0.csv", export_l0_csv, NULL},
      {"MemoryUB.csv", export_ub_csv, NULL},
      {"L2Cache.csv", export_l2_csv, NULL},
      {"ArithmeticUtilization.csv", export_arithmetic_csv, NULL},
      {"ResourceConflictRatio.csv", export_conflict_csv, NULL},
      {"hotspots.csv", export_hotspots_csv, NULL},
      {"critical.csv", export_critical_csv, NULL},
      {"report.json", NULL, export_report},
  };
  static const struct output summary = {summary_name, vinci_result_write_json, NULL};
  struct timeline_choice choice;
  struct source source = {result, &choice, folder};
  enum vinci_status status = timeline_choose(options, &choice, diag);
  if (status == VINCI_OK)
    status = folder_make(folder, diag);
  if (status == VINCI_OK)
    status = folder_remove_file(folder, summary_name, diag);
  if (status == VINCI_OK)
    status = folder_remove_command(folder, diag);
  if (status == VINCI_OK) /* `vinci report` has put its page there */
    status = folder_remove_file(folder, "report.html", diag);
  for (size_t i = 0; status == VINCI_OK && i < sizeof tables / sizeof *tables; i++)
    status = write_file(&source, &tables[i], diag);
  if (status == VINCI_OK)
    status = write_timelines(&source, diag);
  if (status == VINCI_OK) /* last: it stands for a complete folder */
    status = write_file(&source, &summary, diag);
  return status;
}

enum vinci_status vinci_result_write_folder(const vinci_result *result, const char *folder,
                                            struct vinci_diag *diag) {
  return vinci_result_write_folder_with(result, folder, NULL, diag);
}
