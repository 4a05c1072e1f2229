/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of a user's library on the command line. */
#include "cli/support/library.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/support/operator.h"
#include "scripts/host/soc_host.h"

bool library_is_meant(const char *folders, const struct text_list *words) {
  const char *set = getenv("VINCI_LIBRARY");
  if (folders)
    return true;
  return set && *set && words->count > 0 && !strpbrk(words->items[0], "./=:") &&
         !operator_exists(words->items[0]) && access(words->items[0], F_OK) != 0;
}

enum vinci_status library_open_for(struct library *library, const char *folders, const char *data,
                                   const struct kernel_settings *kernel, struct vinci_diag *diag) {
  char path[PATH_MAX - 64];
  if (kernel && (kernel->blocks || kernel->args.count > 0))
    return diag_error(diag, VINCI_E_USAGE,
                      "--%s is for LIBRARY:KERNEL; of an operator of a library its tiling decides",
                      kernel->blocks ? "blocks" : "arg");
  enum vinci_status status = soc_host_data_dir(data, path, sizeof path, diag);
  return status == VINCI_OK ? library_open(library, folders, path, diag) : status;
}

enum vinci_status library_take(const struct library *library, const vinci_soc *soc,
                               const struct text_list *words, struct library_call *out) {
  struct library_operator which;
  *out = (struct library_call){0};
  if (words->count == 0) {
    (void)diag_error(library->diag, VINCI_E_USAGE, "--library needs an operator");
    diag_hint(library->diag, "'vinci library list' shows the names");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = library_find(library, words->items[0], &which);
  if (status == VINCI_OK)
    status = library_call(library, &which, soc, words->items + 1, words->count - 1, out);
  return status;
}
