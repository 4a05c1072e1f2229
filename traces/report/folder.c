/* SPDX-License-Identifier: Apache-2.0 */
/* Result folders: what they are, by the files in them, and the files that a page takes. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "traces/export/report/report.h"
#include "traces/report/report.h"

/* A page of more would not open in a browser. */
#define FILE_BYTES_MAX ((size_t)1 << 30)

struct file_row {
  const char *name, *key;
  bool json, needed;
};

/* The first kind whose needed files are all there is the folder's. */
static const struct {
  const char *name;
  struct file_row files[REPORT_FILES];
} kinds[REPORT_KINDS] = {
    [REPORT_RUN] = {"run",
                    {{"report.json", "report", true, true},
                     {"summary.json", NULL, true, true}, /* stands for a whole folder */
                     {"slices.json", "slices", true, false},
                     {"command.json", "command", true, false}}},
    [REPORT_SWEEP] = {"sweep",
                      {{"results.csv", "table", false, true},
                       {"study.json", "study", true, false},
                       {"command.json", "command", true, false}}},
    [REPORT_LIST] = {"list",
                     {{"op_summary.csv", "table", false, true},
                      {"list.json", "list", true, false},
                      {"command.json", "command", true, false}}},
    [REPORT_NETWORK] = {"network",
                        {{"summary.json", "summary", true, true},
                         {"nodes.csv", "table", false, true},
                         {"memory_record.csv", "memory", false, false},
                         {"command.json", "command", true, false}}},
    [REPORT_JOB] = {"job",
                    {{"summary.json", "summary", true, true},
                     {"collectives.csv", "table", false, true},
                     {"timeline.csv", "timeline", false, false},
                     {"path.csv", "path", false, false},
                     {"links.csv", "links", false, false},
                     {"memory.csv", "memory", false, false},
                     {"command.json", "command", true, false}}},
};

const char *report_kind_name(enum report_kind kind) { return kinds[kind].name; }

static enum vinci_status path_of(const char *folder, const char *name, char *path,
                                 struct vinci_diag *diag) {
  if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
    return VINCI_OK;
  errno = ENAMETOOLONG;
  return file_error(diag, folder, "read");
}

static bool has_file(const char *folder, const char *name) {
  char path[PATH_MAX];
  struct vinci_diag none = {0};
  return path_of(folder, name, path, &none) == VINCI_OK && access(path, F_OK) == 0;
}

static enum vinci_status find_kind(struct report_folder *folder, struct vinci_diag *diag) {
  for (unsigned kind = 0; kind < REPORT_KINDS; kind++) {
    bool complete = true;
    for (const struct file_row *file = kinds[kind].files; file->name; file++)
      complete = complete && (!file->needed || has_file(folder->path, file->name));
    if (complete) {
      folder->kind = (enum report_kind)kind;
      return VINCI_OK;
    }
  }
  enum vinci_status status;
  if (has_file(folder->path, "OpBasicInfo.csv")) {
    bool old = !has_file(folder->path, "report.json");
    status = diag_error(diag, VINCI_E_INPUT, "%s is the result folder of a run, but has no %s",
                        folder->path, old ? "report.json" : "summary.json");
    diag_hint(diag, old ? "an older vinci wrote the folder: run again with --output"
                        : "the run did not end: run again with --output");
    return status;
  }
  status = diag_error(diag, VINCI_E_USAGE,
                      "%s is not a result folder: no files of a run, a sweep, a list of "
                      "operators, a network or a job are there",
                      folder->path);
  diag_hint(diag, "'vinci run TRACE --output=DIR' writes a result folder");
  return status;
}

static void take_text(const char *value, const char *end, char *out, size_t size) {
  size_t length = 0;
  if (value && *value == '"')
    for (value++; value < end && *value != '"' && length + 1 < size; value++)
      out[length++] = *value;
  out[length] = '\0';
}

/* Well formed, and of this program's version of the files that it writes for reports. */
static enum vinci_status check_json(struct report_folder *folder, const char *path,
                                    const struct report_part *part, struct vinci_diag *diag) {
  const char *bytes = part->view.bytes;
  size_t length = part->view.length, wrong;
  if (!report_json_valid(bytes, length, &wrong)) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_INPUT, "%s is damaged: no JSON from byte %zu on", path, wrong);
    diag_hint(diag, "write the folder again");
    return status;
  }
  const char *schema = report_json_find(bytes, length, "schema");
  long found = schema ? strtol(schema, NULL, 10) : 0;
  if (folder->kind == REPORT_RUN && part->key && found != REPORT_SCHEMA) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_INPUT, "%s has version %ld of its keys, this program reads %d",
                   path, found, REPORT_SCHEMA);
    diag_hint(diag, "run again with this program, or use the vinci that wrote the folder");
    return status;
  }
  const char *revision = report_json_find(bytes, length, "model_revision");
  if (revision)
    take_text(revision, bytes + length, folder->revision, sizeof folder->revision);
  return VINCI_OK;
}

static enum vinci_status read_part(struct report_folder *folder, const struct file_row *file,
                                   struct vinci_diag *diag) {
  char path[PATH_MAX];
  struct report_part *part = &folder->part[folder->count];
  enum vinci_status status = path_of(folder->path, file->name, path, diag);
  if (status == VINCI_OK)
    status = file_view_open(path, FILE_BYTES_MAX, &part->view, diag);
  if (status != VINCI_OK)
    return status;
  folder->count++;
  part->key = file->key;
  part->json = file->json;
  return file->json ? check_json(folder, path, part, diag) : VINCI_OK;
}

enum vinci_status report_open(const char *path, struct report_folder *out,
                              struct vinci_diag *diag) {
  struct stat about;
  *out = (struct report_folder){.path = path};
  if (stat(path, &about) != 0)
    return file_error(diag, path, "read the result folder");
  if (!S_ISDIR(about.st_mode))
    return diag_error(diag, VINCI_E_USAGE, "%s is a file, not a result folder", path);
  if (access(path, R_OK | X_OK) != 0)
    return file_error(diag, path, "read the result folder");
  enum vinci_status status = find_kind(out, diag);
  if (status != VINCI_OK)
    return status;
  for (const struct file_row *file = kinds[out->kind].files; status == VINCI_OK && file->name;
       file++)
    if (file->key && (file->needed || has_file(path, file->name)))
      status = read_part(out, file, diag);
  return status;
}

void report_close(struct report_folder *folder) {
  for (size_t i = 0; i < folder->count; i++)
    file_view_close(&folder->part[i].view);
  folder->count = 0;
}
