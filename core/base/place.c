/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/place.h"

/* The file this code was loaded from: the program, the library or the module of a language. */
static bool own_path(char *buffer, size_t size) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char *line = NULL;
  size_t capacity = 0;
  bool found = false;
  while (maps && !found && getline(&line, &capacity, maps) > 0) {
    uintmax_t start, end;
    int at = 0;
    if (sscanf(line, "%jx-%jx %*s %*s %*s %*s %n", &start, &end, &at) != 2 ||
        (uintptr_t)own_path < start || (uintptr_t)own_path >= end || line[at] != '/')
      continue;
    line[strcspn(line, "\n")] = '\0';
    found = (size_t)snprintf(buffer, size, "%s", line + at) < size;
  }
  free(line);
  if (maps)
    fclose(maps);
  return found;
}

static void cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (slash)
    *slash = '\0';
}

/* Folders of a build folder in which programs and libraries lie. No installed file lies there. */
static bool is_inside_build(const char *path) {
  static const char *const names[] = {".libs", "scripts", "tests", "core", "fuzz", "values"};
  const char *slash = strrchr(path, '/');
  for (size_t i = 0; slash && i < sizeof names / sizeof *names; i++)
    if (strcmp(slash + 1, names[i]) == 0)
      return true;
  return false;
}

bool place_build_folder(char *buffer, size_t size) {
  char marker[PATH_MAX];
  if (!own_path(buffer, size))
    return false;
  cut_last(buffer);
  while (is_inside_build(buffer))
    cut_last(buffer);
  int length = snprintf(marker, sizeof marker, "%s/" PLACE_MARKER, buffer);
  return length < (int)sizeof marker && access(marker, R_OK) == 0;
}
