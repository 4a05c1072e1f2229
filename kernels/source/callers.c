/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of the user's source that has called a function of a library which the compiler has not
 * put in line. The calls that are under way are found by the unwind tables of the code.
 */
#include <unwind.h>

#include "kernels/source/source.h"

struct walk {
  const struct source_core *core;
  uint32_t line;
};

static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *argument) {
  struct walk *walk = argument;
  const struct source_core *core = walk->core;
  uint64_t code = (uint64_t)_Unwind_GetIP(context);
  if (code > core->base) /* in front of the place where the call comes back */
    walk->line = source_line(&core->source->image[core->place.kind], core->source->trace->path,
                             code - 1 - core->base);
  return walk->line != 0 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

uint32_t source_line_of_callers(const struct source_core *core) {
  struct walk walk = {.core = core};
  (void)_Unwind_Backtrace(look_at, &walk);
  return walk.line;
}
