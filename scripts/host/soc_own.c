/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chips of one's own, beside those that are installed: a file by its path, or a name that is looked
 * for in the folders of $VINCI_PATH and in $XDG_DATA_HOME/vinci (XDG Base Directory Specification;
 * ~/.local/share/vinci when that is not set). Installed chips come first, so that their names mean
 * the same for everybody.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/diag.h"
#include "scripts/host/soc_files.h"

static const char ending[] = ".lua";

bool soc_own_is_file(const char *name) {
  size_t length = strlen(name), tail = sizeof ending - 1;
  return length > tail && strcmp(name + length - tail, ending) == 0;
}

bool soc_own_folder(size_t index, char *folder, size_t size) {
  const char *list = getenv("VINCI_PATH"), *at = list ? list : "";
  for (; *at; at += *at == ':') {
    size_t length = strcspn(at, ":");
    if (length > 0 && index-- == 0)
      return (size_t)snprintf(folder, size, "%.*s", (int)length, at) < size;
    at += length;
  }
  if (index > 0)
    return false;
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  if (data && *data == '/') /* a relative one is invalid by the specification */
    return (size_t)snprintf(folder, size, "%s/vinci", data) < size;
  return home && *home && (size_t)snprintf(folder, size, "%s/.local/share/vinci", home) < size;
}

/* A link that leads nowhere is there: reading tells. */
static bool is_there(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

bool soc_file_find(const char *folder, const char *beside, const char *name, char *path,
                   size_t size, bool *own) {
  char other[SOC_PATH_MAX];
  *own = false;
  if (*name == '\0' || strchr(name, '/'))
    return false;
  if ((size_t)snprintf(path, size, "%s/soc/%s%s", folder, name, ending) < size && is_there(path))
    return true;
  *own = true;
  if (beside && (size_t)snprintf(path, size, "%s/%s%s", beside, name, ending) < size &&
      is_there(path))
    return true;
  for (size_t i = 0; soc_own_folder(i, other, sizeof other); i++)
    if ((size_t)snprintf(path, size, "%s/soc/%s%s", other, name, ending) < size && is_there(path))
      return true;
  return false;
}

static bool is_same_file(const char *a, const char *b) {
  struct stat one, other;
  return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

enum vinci_status soc_own_open(const char *folder, const char *path, struct soc_own *out,
                               struct vinci_diag *diag) {
  char installed[SOC_PATH_MAX];
  bool own;
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  int stem = (int)(strlen(file) - (sizeof ending - 1));
  int before = slash ? (int)(slash - path) : 1;
  if (stem >= (int)sizeof out->name ||
      snprintf(out->folder, sizeof out->folder, "%.*s", slash == path ? 1 : before,
               slash ? path : ".") >= (int)sizeof out->folder)
    return diag_error(diag, VINCI_E_USAGE, "the path of the chip is too long: %s", path);
  snprintf(out->name, sizeof out->name, "%.*s", stem, file);
  if (!is_there(path))
    return diag_error_at(diag, VINCI_E_IO, (struct diag_position){.path = path},
                         "there is no such description of a chip");
  if (!soc_file_find(folder, NULL, out->name, installed, sizeof installed, &own) || own ||
      is_same_file(path, installed))
    return VINCI_OK;
  (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                      "'%s' is the name of an installed chip", out->name);
  diag_hint(diag, "rename the file, and the name in it");
  return VINCI_E_USAGE;
}
