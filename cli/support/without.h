/* SPDX-License-Identifier: Apache-2.0 */
/* What-ifs of verbs with --without=LINES: a trace without some of its instructions. */
#ifndef VINCI_CLI_SUPPORT_WITHOUT_H
#define VINCI_CLI_SUPPORT_WITHOUT_H

#include "cli/support/options.h"
#include "core/vinci.h"

#define WITHOUT_OPTION_ROW(type, field)                                                            \
  OPTION_TEXT_ROW("without", 0, type, field, "LINES",                                              \
                  "what-if: leave out the instructions of these lines, such as 31,45: a barrier, " \
                  "flags; the report of --savings=all names lines")

/* NULL: the trace as it is. VINCI_E_USAGE: no list of lines, or a line without an instruction. */
VINCI_MUST_CHECK enum vinci_status without_take(const char *lines, vinci_trace *trace,
                                                struct vinci_diag *diag);

#endif
