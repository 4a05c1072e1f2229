/* SPDX-License-Identifier: Apache-2.0 */
/* The result folder of each of several traces; folders that one process has for itself. */
#include <limits.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/file.h"

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

enum vinci_status cli_make_folders(const char *output, const struct text_list *traces,
                                   struct vinci_diag *diag) {
  char folder[PATH_MAX];
  int lock; /* stays open up to the end of the process */
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; output && status == VINCI_OK && i < traces->count; i++) {
    status =
        cli_result_folder(output, traces->items[i], traces->count > 1, folder, sizeof folder, diag);
    if (status == VINCI_OK)
      status = folder_make(folder, diag);
    if (status == VINCI_OK)
      status = folder_lock(folder, "another run", &lock, diag);
  }
  return status;
}
