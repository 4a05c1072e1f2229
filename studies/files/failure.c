/* SPDX-License-Identifier: Apache-2.0 */
/* What tables and baselines keep of a run that failed. */
#include "studies/files/failure.h"

#include <stdio.h>
#include <string.h>

void failure_text(const struct vinci_diag *diag, char *out, size_t size) {
  char place[sizeof diag->path + 24] = "";
  if (diag->path[0] && diag->line > 0)
    snprintf(place, sizeof place, "%s:%lu: ", diag->path, diag->line);
  else if (diag->path[0])
    snprintf(place, sizeof place, "%s: ", diag->path);
  snprintf(out, size, "%s%s", place, diag->text);
  size_t length = strlen(out), more = strlen(diag->hint) + strlen(" ()");
  if (diag->hint[0] && length + more < size)
    snprintf(out + length, size - length, " (%s)", diag->hint);
}
