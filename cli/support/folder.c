/* SPDX-License-Identifier: Apache-2.0 */
/* The result folder of each of several traces; folders that one process has for itself. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/base/diag.h"
#include "traces/export/export.h"

enum vinci_status cli_result_folder(const char *output, const char *trace, bool several,
                                    char *folder, size_t size, struct vinci_diag *diag) {
  const char *base = strrchr(trace, '/');
  base = base ? base + 1 : trace;
  size_t length = strlen(base);
  if (length > 4 && strcmp(base + length - 4, ".csv") == 0)
    length -= 4;
  bool outside = length == 0 || (length == 1 && base[0] == '.') ||
                 (length == 2 && base[0] == '.' && base[1] == '.');
  if (several && outside)
    return diag_error(diag, VINCI_E_USAGE,
                      "the result folder of %s would be '%.*s' in %s, which "
                      "is not a folder of its own; give the trace another name",
                      trace, (int)length, base, output);
  int written = several ? snprintf(folder, size, "%s/%.*s", output, (int)length, base)
                        : snprintf(folder, size, "%s", output);
  if (written < 0 || (size_t)written >= size)
    return diag_error(diag, VINCI_E_USAGE, "the name of the result folder is too long");
  return VINCI_OK;
}

enum vinci_status cli_check_folders(const char *output, const struct text_list *traces,
                                    struct vinci_diag *diag) {
  char first[PATH_MAX], second[PATH_MAX];
  enum vinci_status status = cli_check_traces(traces, diag);
  for (size_t i = 0; output && status == VINCI_OK && i < traces->count; i++) {
    status =
        cli_result_folder(output, traces->items[i], traces->count > 1, first, sizeof first, diag);
    for (size_t j = 0; status == VINCI_OK && j < i; j++) {
      status = cli_result_folder(output, traces->items[j], true, second, sizeof second, diag);
      if (status == VINCI_OK && strcmp(first, second) == 0)
        status = diag_error(diag, VINCI_E_USAGE, "%s and %s would both write to %s",
                            traces->items[j], traces->items[i], first);
    }
  }
  return status;
}

/* The lock is that of the folder itself, so that no file is left behind; it ends with the process,
 * however that ends. File systems without locks do without. */
enum vinci_status cli_lock_folder(const char *folder, const char *who, struct vinci_diag *diag) {
  int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return VINCI_OK;
  int locked = flock(file, LOCK_EX | LOCK_NB);
  if (locked == 0 || errno != EWOULDBLOCK)
    return VINCI_OK; /* stays open up to the end of the process */
  close(file);
  (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = folder},
                      "%s is working in this folder", who);
  diag_hint(diag, "wait for its end, or name another one");
  return VINCI_E_USAGE;
}

enum vinci_status cli_make_folders(const char *output, const struct text_list *traces,
                                   struct vinci_diag *diag) {
  char folder[PATH_MAX];
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; output && status == VINCI_OK && i < traces->count; i++) {
    status =
        cli_result_folder(output, traces->items[i], traces->count > 1, folder, sizeof folder, diag);
    if (status == VINCI_OK)
      status = export_make_folder(folder, diag);
    if (status == VINCI_OK)
      status = cli_lock_folder(folder, "another run", diag);
  }
  return status;
}
