/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where hardware descriptions lie, and which SoCs there are.
 *
 * An installed program reads what was installed with it and knows no other place. A program of
 * a build folder reads the sources, whose path the file vinci-data.path of that folder holds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/place.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_host.h"

static bool holds_descriptions(const char *folder) {
  char path[SOC_PATH_MAX];
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/soc", folder);
  return length < (int)sizeof path && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static enum vinci_status use_folder(const char *folder, char *buffer, size_t size,
                                    struct vinci_diag *diag) {
  if ((size_t)snprintf(buffer, size, "%s", folder) >= size)
    return diag_error(diag, VINCI_E_IO, "the path of the data folder is too long");
  return VINCI_OK;
}

/* The data folder that the build folder names; false for an installed program. */
static bool build_data_dir(char *buffer, size_t size) {
  char path[SOC_PATH_MAX], marker[SOC_PATH_MAX];
  if (!place_build_folder(path, sizeof path))
    return false;
  if (snprintf(marker, sizeof marker, "%s/" PLACE_MARKER, path) >= (int)sizeof marker)
    return false;
  /* A stream would need memory, and without memory the folder would seem to be missing. */
  int file = open(marker, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, buffer, size - 1);
  if (file >= 0)
    close(file);
  if (length <= 0)
    return false;
  buffer[length] = '\0';
  buffer[strcspn(buffer, "\n")] = '\0';
  return true;
}

const char *soc_host_installed_dir(void) {
  char buffer[SOC_PATH_MAX];
  return build_data_dir(buffer, sizeof buffer) ? NULL : VINCI_DATADIR;
}

enum vinci_status soc_host_data_dir(const char *data_dir, char *buffer, size_t size,
                                    struct vinci_diag *diag) {
  const char *asked = data_dir ? data_dir : getenv("VINCI_DATA");
  if (asked && *asked) {
    if (holds_descriptions(asked))
      return use_folder(asked, buffer, size, diag);
    (void)diag_error(diag, VINCI_E_IO, "no folder '%s/soc'", asked);
    diag_hint(diag, "%s names the folder that holds soc/", data_dir ? "data_dir" : "VINCI_DATA");
    return VINCI_E_IO;
  }
  errno = 0;
  if (!build_data_dir(buffer, size)) {
    if (errno == ENOMEM)
      return diag_error(diag, VINCI_E_NOMEM, "out of memory looking for the hardware descriptions");
    enum vinci_status status = use_folder(VINCI_DATADIR, buffer, size, diag);
    if (status != VINCI_OK)
      return status;
  }
  if (holds_descriptions(buffer))
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_IO, "the hardware descriptions are missing: no folder '%s/soc'",
                   buffer);
  diag_hint(diag, "data_dir or VINCI_DATA names the folder that holds soc/");
  return VINCI_E_IO;
}

/* FIFOs, devices and folders are no descriptions; links that lead nowhere are broken ones. */
static bool is_file(const char *folder, const char *name) {
  char path[2 * SOC_PATH_MAX];
  struct stat info;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* "Name.lua" of a description: its length without the ending, 0 for other files. */
static size_t description_length(const char *file) {
  size_t length = strlen(file);
  const char ending[] = ".lua";
  size_t ending_length = sizeof ending - 1;
  if (length <= ending_length || strcmp(file + length - ending_length, ending) != 0 ||
      strcmp(file, "sources.lua") == 0)
    return 0;
  return length - ending_length;
}

static int compare_names(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static enum vinci_status add_name(struct soc_names *names, size_t *capacity, const char *file,
                                  size_t length) {
  if (names->count == *capacity) {
    size_t wanted = *capacity ? 2 * *capacity : 16;
    const char **items = ARENA_ARRAY(&names->arena, const char *, wanted);
    if (!items)
      return VINCI_E_NOMEM;
    if (names->count)
      memcpy(items, names->items, names->count * sizeof *items);
    names->items = items;
    *capacity = wanted;
  }
  const char *name = arena_strndup(&names->arena, file, length);
  if (!name)
    return VINCI_E_NOMEM;
  names->items[names->count++] = name;
  return VINCI_OK;
}

enum vinci_status soc_files_list(const char *folder, const char *kind, struct soc_names *names,
                                 struct vinci_diag *diag) {
  char path[SOC_PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", folder, kind) >= (int)sizeof path)
    return diag_error(diag, VINCI_E_IO, "the path of the data folder is too long");
  DIR *dir = opendir(path);
  if (!dir)
    return diag_error(diag, diag_status_of(errno), "cannot open folder '%s': %s", path,
                      strerror(errno));
  enum vinci_status status = VINCI_OK;
  size_t capacity = 0;
  const struct dirent *entry;
  while (status == VINCI_OK && (entry = readdir(dir)) != NULL) {
    size_t length = description_length(entry->d_name);
    if (length > 0 && is_file(path, entry->d_name))
      status = add_name(names, &capacity, entry->d_name, length);
  }
  closedir(dir);
  if (status != VINCI_OK)
    return diag_error(diag, status, "out of memory");
  if (names->count > 0)
    qsort(names->items, names->count, sizeof *names->items, compare_names);
  return VINCI_OK;
}

/* Adds the names of a folder of own chips that are not there yet. */
static enum vinci_status add_own(struct soc_names *names, const char *folder,
                                 struct vinci_diag *diag) {
  struct soc_names own = {0};
  char path[SOC_PATH_MAX];
  struct stat info;
  if (snprintf(path, sizeof path, "%s/soc", folder) >= (int)sizeof path || stat(path, &info) != 0)
    return VINCI_OK;
  enum vinci_status status = soc_files_list(folder, "soc", &own, diag);
  size_t capacity = names->count;
  for (size_t i = 0; status == VINCI_OK && i < own.count; i++) {
    size_t at = 0;
    while (at < names->count && strcmp(names->items[at], own.items[i]) != 0)
      at++;
    if (at == names->count)
      status = add_name(names, &capacity, own.items[i], strlen(own.items[i]));
  }
  soc_names_free(&own);
  return status;
}

enum vinci_status soc_host_list(const char *data_dir, struct soc_names *out,
                                struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX];
  *out = (struct soc_names){0};
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status == VINCI_OK)
    status = soc_files_list(folder, "soc", out, diag);
  char own[SOC_PATH_MAX];
  for (size_t i = 0; status == VINCI_OK && soc_own_folder(i, own, sizeof own); i++)
    status = add_own(out, own, diag);
  if (out->count > 0)
    qsort(out->items, out->count, sizeof *out->items, compare_names);
  size_t kept = 0;
  for (size_t i = 0; status == VINCI_OK && i < out->count; i++)
    if (!soc_file_is_abstract(folder, out->items[i]))
      out->items[kept++] = out->items[i];
  out->count = kept;
  return status;
}

void soc_names_free(struct soc_names *names) {
  arena_free(&names->arena);
  *names = (struct soc_names){0};
}
