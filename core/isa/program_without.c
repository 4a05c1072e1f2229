/* SPDX-License-Identifier: Apache-2.0 */
/* What-ifs: a program without some of its instructions. */
#include <inttypes.h>

#include "core/base/digest.h"
#include "core/isa/program.h"
#include "core/vinci_tables.h"

bool program_leave_out(struct vinci_trace *trace, uint32_t line) {
  bool found = false;
  for (uint64_t i = 0; i < trace->row_count; i++) {
    struct program_row *row = &trace->rows[i];
    if (row->line != line || row->kind != ROW_INST)
      continue;
    row->kind = ROW_LEFT_OUT;
    found = true;
  }
  if (found)
    trace->digest = digest_word(trace->digest, line);
  return found;
}

enum vinci_status vinci_trace_leave_out(vinci_trace *trace, const uint64_t *lines, size_t count,
                                        struct vinci_diag *diag) {
  if (trace->source && count > 0)
    return diag_error(diag, VINCI_E_USAGE,
                      "instructions of a compiled kernel cannot be left out: its code decides");
  for (size_t i = 0; i < count; i++)
    if (lines[i] > UINT32_MAX || !program_leave_out(trace, (uint32_t)lines[i]))
      return diag_error(diag, VINCI_E_USAGE,
                        "line %" PRIu64 " of %s has no instruction that could be left out",
                        lines[i], trace->path);
  return VINCI_OK;
}
