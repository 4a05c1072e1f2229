/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of `vinci net` share: reading a graph, choosing by name. */
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "core/base/file.h"
#include "traces/graph/text.h"

enum { GRAPH_BYTES_MAX = 1 << 30 };

enum vinci_status net_load(const char *path, struct graph *out, struct vinci_diag *diag) {
  bool input = strcmp(path, "-") == 0;
  size_t length;
  *out = (struct graph){0};
  char *text = file_read(input ? "/dev/stdin" : path, GRAPH_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status =
      graph_text_read(input ? "standard input" : path, text, length, out, diag);
  free(text);
  return status;
}

enum vinci_status net_choose(const char *what, const char *word,
                             const char *(*name_at)(const void *, size_t), size_t count,
                             unsigned *out, struct vinci_diag *diag) {
  char names[160];
  size_t used = 0;
  for (unsigned i = 0; i < count; i++) {
    if (strcmp(name_at(NULL, i), word) == 0) {
      *out = i;
      return VINCI_OK;
    }
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                             name_at(NULL, i));
  }
  const char *nearest = diag_nearest(word, count, name_at, NULL);
  (void)diag_error(diag, VINCI_E_USAGE, "unknown %s '%s'", what, word);
  if (nearest)
    diag_hint(diag, "did you mean %s?", nearest);
  else
    diag_hint(diag, "one of %s", names);
  return VINCI_E_USAGE;
}

const char *net_plan_at(const void *context, size_t index) {
  (void)context;
  return graph_plan_name((enum graph_plan_policy)index);
}
