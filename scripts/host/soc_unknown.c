/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a name that no chip has: the family, or the one that was meant. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/diag.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_host.h"

static const char *name_at(const void *context, size_t index) {
  const struct soc_names *names = context;
  return names->items[index];
}

const char *soc_names_nearest(const struct soc_names *names, const char *name) {
  return diag_nearest(name, names->count, name_at, names);
}

/* The SoC somebody may have meant: one slip of the pen away, or the name without its front. */
static const char *nearest_soc(const struct soc_names *names, const char *name) {
  const char *nearest = soc_names_nearest(names, name);
  size_t length = strlen(name);
  for (size_t i = 0; !nearest && length > 0 && i < names->count; i++) {
    size_t whole = strlen(names->items[i]);
    if (whole > length && strcasecmp(names->items[i] + whole - length, name) == 0)
      nearest = names->items[i];
  }
  return nearest;
}

enum { HINT_MAX = 256 };

static bool is_of_family(const char *chip, const char *name) {
  size_t length = strlen(name);
  return length > 0 && strlen(chip) > length && strncasecmp(chip, name, length) == 0;
}

/* "there are A, B and C": all chips whose names begin like that; false when there is none. */
static bool hint_family(const struct soc_names *names, const char *name, struct vinci_diag *diag) {
  char list[HINT_MAX] = "";
  size_t used = 0, found = 0;
  for (size_t i = 0; i < names->count; i++)
    found += is_of_family(names->items[i], name);
  for (size_t i = 0, left = found; left > 0 && used < sizeof list; i++) {
    if (!is_of_family(names->items[i], name))
      continue;
    const char *separator = left == found ? "" : left == 1 ? " and " : ", ";
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", separator, names->items[i]);
    left--;
  }
  if (found == 0 || used >= sizeof list)
    return false;
  diag_hint(diag, "%s %s", found == 1 ? "there is" : "there are", list);
  return true;
}

enum vinci_status soc_unknown(const char *folder, const char *name, struct vinci_diag *diag) {
  struct soc_names names = {0};
  (void)diag_error(diag, VINCI_E_USAGE, "unknown SoC '%s'", name);
  const char *nearest = NULL;
  bool told = false;
  if (soc_host_list(folder, &names, NULL) == VINCI_OK) {
    told = hint_family(&names, name, diag);
    nearest = nearest_soc(&names, name);
  }
  if (told) {
    soc_names_free(&names);
    return VINCI_E_USAGE;
  }
  if (nearest)
    diag_hint(diag, "did you mean '%s'? `vinci soc list` shows all", nearest);
  else
    diag_hint(diag, "`vinci soc list` shows all");
  soc_names_free(&names);
  return VINCI_E_USAGE;
}
