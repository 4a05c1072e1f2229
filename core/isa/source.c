/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of programs that are code. */
#include "core/isa/source.h"

#include <inttypes.h>
#include <stdio.h>

void program_cut_text(const struct program_cut *cut, enum isa_op op, char *out, size_t size) {
  snprintf(out, size,
           "operand \"%s\" of %s is %" PRId64 ", its field has %u bits: the core takes %" PRId64,
           isa_row(op)->arg[cut->arg].name, isa_row(op)->name, cut->value, cut->bits, cut->taken);
}

bool program_waits_in_memory(const struct program_source *source) {
  return source && (source->polls || source->passes);
}

void program_scalar_text(const struct program_scalar *scalar, const char *kernel, char *out,
                         size_t size) {
  uint64_t all = scalar->gm + scalar->ub;
  *out = '\0';
  if (scalar->uncounted)
    snprintf(out, size,
             "scalar accesses of kernel %s were not checked (not counted: compiled without that)",
             kernel);
  else if (all > 0 && !scalar->checked)
    snprintf(out, size,
             "%" PRIu64 " scalar access%s not checked (%" PRIu64 " of device memory, %" PRIu64
             " of UB)",
             all, all == 1 ? "" : "es", scalar->gm, scalar->ub);
}
