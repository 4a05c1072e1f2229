/* SPDX-License-Identifier: Apache-2.0 */
/* --without=LINES of vinci run and vinci check. */
#include "cli/support/without.h"

#include <ctype.h>
#include <stdlib.h>

#include "core/base/diag.h"
#include "core/vinci_tables.h"

enum { DECIMAL = 10 };

enum vinci_status without_take(const char *lines, vinci_trace *trace, struct vinci_diag *diag) {
  for (const char *at = lines; at;) {
    char *end;
    uint64_t line = isdigit((unsigned char)*at) ? strtoull(at, &end, DECIMAL) : 0;
    if (line == 0 || (*end != ',' && *end != '\0'))
      return diag_error(diag, VINCI_E_USAGE,
                        "--without is a list of lines with commas, such as 31,45, not '%s'", lines);
    enum vinci_status status = vinci_trace_leave_out(trace, &line, 1, diag);
    if (status != VINCI_OK)
      return status;
    at = *end ? end + 1 : NULL;
  }
  return VINCI_OK;
}
