/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of misuse. */
#include "core/control/misuse.h"

#include <inttypes.h>

void misuse_text(const struct misuse *misuse, char *buffer, size_t size) {
  switch (misuse->kind) {
  case MISUSE_FLAG_SET_TWICE:
    snprintf(buffer, size,
             "set_flag %s->%s id %" PRIu32 " is set a second time before anyone waited for it; it "
             "was set in line %" PRIu32,
             pipe_name(misuse->from), pipe_name(misuse->to), misuse->id, misuse->line);
    break;
  case MISUSE_CROSS_UNTAKEN:
    snprintf(buffer, size,
             "cross-core flag %" PRIu32 " has %" PRId64 " signals that nobody took, its limit",
             misuse->id, misuse->limit);
    break;
  case MISUSE_CROSS_AHEAD:
    snprintf(buffer, size,
             "cross-core flag %" PRIu32 " is set %" PRId64 " times ahead of other cores, its limit",
             misuse->id, misuse->limit);
    break;
  case MISUSE_CROSS_NOT_MIXED:
    snprintf(buffer, size,
             "ffts_cross_core_sync mode %" PRIu32 " needs a kernel with AIC and AIV streams",
             misuse->mode);
    break;
  case MISUSE_CROSS_AIC_PAIR:
    snprintf(buffer, size, "ffts_cross_core_sync mode 1 orders the AIV of a block, not its AIC");
    break;
  case MISUSE_CROSS_NO_PARTNER:
    snprintf(buffer, size,
             "ffts_cross_core_sync mode 4, id %" PRIu32
             ": ids below 16 are those of the first AIV, and of an AIV itself; ids of the AIC from "
             "16 on "
             "those of the second AIV of the block",
             misuse->id);
    break;
  case MISUSE_NO_PATH:
    snprintf(buffer, size, "%s: %s has no path %s", isa_row(misuse->op)->name, misuse->soc,
             path_name(misuse->path));
    break;
  }
}
