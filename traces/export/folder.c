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

typedef enum vinci_status (*file_writer)(const struct vinci_result *result, FILE *out,
                                         struct vinci_diag *diag);

static const char summary_name[] = "summary.json";

static enum vinci_status write_temporary(const struct vinci_result *result, const char *path,
                                         file_writer writer, struct vinci_diag *diag) {
  errno = 0;
  FILE *out = fopen(path, "w");
  if (!out)
    return file_error(diag, path, "write");
  enum vinci_status status = writer(result, out, diag);
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

static enum vinci_status write_file(const struct vinci_result *result, const char *folder,
                                    const char *name, file_writer writer, struct vinci_diag *diag) {
  char path[PATH_MAX], temporary[PATH_MAX];
  int length = snprintf(temporary, sizeof temporary, "%s/%s.part", folder, name);
  if (length < 0 || (size_t)length >= sizeof temporary) {
    errno = ENAMETOOLONG;
    return file_error(diag, folder, "write into the folder");
  }
  snprintf(path, sizeof path, "%.*s", length - (int)strlen(".part"), temporary);
  enum vinci_status status = write_temporary(result, temporary, writer, diag);
  if (status == VINCI_OK && rename(temporary, path) != 0)
    status = file_error(diag, path, "write");
  if (status != VINCI_OK)
    remove(temporary);
  return status;
}

static enum vinci_status remove_summary(const char *folder, struct vinci_diag *diag) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", folder, summary_name);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return file_error(diag, folder, "write into the folder");
  }
  if (remove(path) != 0 && errno != ENOENT)
    return file_error(diag, path, "replace");
  return VINCI_OK;
}

enum vinci_status vinci_result_write_folder(const vinci_result *result, const char *folder,
                                            struct vinci_diag *diag) {
  static const struct {
    const char *name;
    file_writer writer;
  } files[] = {
      {"OpBasicInfo.csv", export_basic_csv},
      {"PipeUtilization.csv", export_pipe_csv},
      {"Memory.csv", export_memory_csv},
      {"MemoryL0.csv", export_l0_csv},
      {"MemoryUB.csv", export_ub_csv},
      {"L2Cache.csv", export_l2_csv},
      {"ArithmeticUtilization.csv", export_arithmetic_csv},
      {"ResourceConflictRatio.csv", export_conflict_csv},
      {"trace.json", export_timeline},
      {summary_name, vinci_result_write_json}, /* last: it stands for a complete folder */
  };
  enum vinci_status status = folder_make(folder, diag);
  if (status == VINCI_OK)
    status = remove_summary(folder, diag);
  for (size_t i = 0; status == VINCI_OK && i < sizeof files / sizeof *files; i++)
    status = write_file(result, folder, files[i].name, files[i].writer, diag);
  return status;
}
