/* SPDX-License-Identifier: Apache-2.0 */
/* { folder = "kernels" } in a suite: a point for each trace of a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/gate/suite_reader.h"

static bool is_trace(const char *name) {
  size_t length = strlen(name), tail = strlen(".csv");
  return *name != '.' && length > tail && strcmp(name + length - tail, ".csv") == 0;
}

static int compare_names(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool add(struct gate_folder *folder, const char *name) {
  char **more = realloc(folder->names, (folder->count + 1) * sizeof *more);
  if (!more)
    return false;
  folder->names = more;
  folder->names[folder->count] = strdup(name);
  return folder->names[folder->count] && ++folder->count;
}

enum vinci_status gate_folder_open(struct gate_reader *reader, const char *path,
                                   struct gate_folder *out) {
  struct vinci_diag *diag = reader->common.diag;
  enum vinci_status status = VINCI_OK;
  *out = (struct gate_folder){0};
  DIR *files = opendir(path);
  if (!files)
    return lua_file_error(&reader->common.file, diag, "folder '%s' cannot be read: %s", path,
                          strerror(errno));
  for (struct dirent *entry; status == VINCI_OK && (entry = readdir(files)) != NULL;)
    if (is_trace(entry->d_name) && !add(out, entry->d_name))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  closedir(files);
  if (status == VINCI_OK && out->count == 0)
    status = lua_file_error(&reader->common.file, diag,
                            "folder '%s' has no traces: no file ends in .csv", path);
  if (status == VINCI_OK)
    qsort(out->names, out->count, sizeof *out->names, compare_names);
  else
    gate_folder_close(out);
  return status;
}

void gate_folder_close(struct gate_folder *folder) {
  for (size_t i = 0; i < folder->count; i++)
    free(folder->names[i]);
  free(folder->names);
  *folder = (struct gate_folder){0};
}
