/* SPDX-License-Identifier: Apache-2.0 */
/* Options beside --memory=auto. */
#include "cli/run/automatic.h"

#include "cli/support/cli.h"
#include "core/base/diag.h"

bool automatic_fits(enum vinci_memory memory, const char *list, uint64_t error_bar_percent,
                    enum savings savings) {
  struct vinci_diag diag = {0};
  bool automatic = memory == VINCI_MEMORY_AUTO;
  if (error_bar_percent > 0 && (list || !automatic))
    (void)diag_error(&diag, VINCI_E_USAGE, "--error-bar is for single runs with --memory=auto");
  else if (automatic && savings != SAVINGS_NONE)
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "--savings measures less than the error bar of --memory=auto: choose cycle or "
                     "flat");
  return diag.status == VINCI_OK || cli_fail(&diag) == 0;
}
