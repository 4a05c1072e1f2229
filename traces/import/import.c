/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what a path holds, and has that read; numbers and names that the readers share. */
#include "traces/import/import.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "traces/format/known_files.h"

static bool scale(uint64_t *number, int power) {
  for (; power > 0; power--) {
    if (*number > UINT64_MAX / 10)
      return false;
    *number *= 10;
  }
  for (; power < 0 && *number > 0; power++)
    *number /= 10;
  return true;
}

/* The exponent behind a number, at most of four digits; *at moves behind. */
static bool read_exponent(const char *text, size_t length, size_t *at, int *out) {
  enum { EXPONENT_MAX = 9999 };
  bool minus = *at < length && text[*at] == '-';
  if (*at < length && (minus || text[*at] == '+'))
    ++*at;
  size_t start = *at;
  for (*out = 0; *at < length && text[*at] >= '0' && text[*at] <= '9'; ++*at)
    *out = *out < EXPONENT_MAX ? *out * 10 + (text[*at] - '0') : *out;
  *out = minus ? -*out : *out;
  return *at > start;
}

bool import_decimal(const char *text, size_t length, unsigned decimals, uint64_t *out) {
  enum { DIGITS_MAX = 18 };
  size_t i = 0, digits = 0, kept = 0;
  int power = (int)decimals;
  bool point = false;
  *out = 0;
  for (; i < length; i++) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9')
      break;
    digits++;
    if (kept < DIGITS_MAX) {
      *out = *out * 10 + (uint64_t)(text[i] - '0');
      kept += *out > 0;
      power -= point;
    } else if (!point) {
      power++;
    }
  }
  if (digits == 0)
    return false;
  if (i < length && (text[i] == 'e' || text[i] == 'E')) {
    int exponent;
    i++;
    if (!read_exponent(text, length, &i, &exponent))
      return false;
    power += exponent;
  }
  return i == length && (*out == 0 || scale(out, power));
}

void import_add(struct import_cell *cell, uint64_t value) {
  cell->known = true;
  cell->value += value;
}

enum import_row import_row_of(enum core_kind kind, enum pipe pipe) {
  static const enum import_row aic[PIPE_COUNT] = {
      [PIPE_S] = IMPORT_AIC_SCALAR,   [PIPE_V] = IMPORT_AIC_VEC,     [PIPE_M] = IMPORT_AIC_CUBE,
      [PIPE_MTE1] = IMPORT_AIC_MTE1,  [PIPE_MTE2] = IMPORT_AIC_MTE2, [PIPE_MTE3] = IMPORT_AIC_MTE3,
      [PIPE_FIX] = IMPORT_AIC_FIXPIPE};
  static const enum import_row aiv[PIPE_COUNT] = {
      [PIPE_S] = IMPORT_AIV_SCALAR, [PIPE_V] = IMPORT_AIV_VEC,     [PIPE_M] = IMPORT_ROWS,
      [PIPE_MTE1] = IMPORT_ROWS,    [PIPE_MTE2] = IMPORT_AIV_MTE2, [PIPE_MTE3] = IMPORT_AIV_MTE3,
      [PIPE_FIX] = IMPORT_ROWS};
  if (pipe >= PIPE_COUNT || !core_has_pipe(kind, pipe))
    return IMPORT_ROWS;
  return kind == CORE_AIV ? aiv[pipe] : aic[pipe];
}

bool import_core_kind(const char *name, enum core_kind *kind) {
#define X(id, type, instance)                                                                      \
  if (strstr(name, instance)) {                                                                    \
    *kind = CORE_##id;                                                                             \
    return true;                                                                                   \
  }
  CORE_LIST(X)
#undef X
  return false;
}

/* ---- what is there ---- */

static bool has_file(const char *folder, const char *name) {
  char path[PATH_MAX];
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return stat(path, &status) == 0;
}

/* The first name in a folder, in the order of bytes, that has a beginning and an end; false: none
 * has. */
static bool find_name(const char *folder, const char *begin, const char *end, char *name,
                      size_t size) {
  DIR *dir = opendir(folder);
  bool found = false;
  const struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    size_t length = strlen(entry->d_name), tail = strlen(end);
    if (strncmp(entry->d_name, begin, strlen(begin)) != 0 || length < tail || length >= size ||
        strcmp(entry->d_name + length - tail, end) != 0 ||
        (found && strcmp(entry->d_name, name) >= 0))
      continue;
    snprintf(name, size, "%s", entry->d_name);
    found = true;
  }
  if (dir)
    closedir(dir);
  return found;
}

static enum vinci_status read_folder(const char *folder, const struct import_options *options,
                                     struct imported *out, struct vinci_diag *diag) {
  char path[PATH_MAX], name[256];
  if (has_file(folder, "PipeUtilization.csv"))
    return import_tables(folder, out, diag);
  if (has_file(folder, "simulator/trace.json")) {
    snprintf(path, sizeof path, "%s/simulator/trace.json", folder);
    return import_timeline(path, options, out, diag);
  }
  if (find_name(folder, "core", ".dump", name, sizeof name))
    return import_dumps(folder, options, out, diag);
  if (has_file(folder, "dump")) {
    snprintf(path, sizeof path, "%s/dump", folder);
    return import_dumps(path, options, out, diag);
  }
  if (find_name(folder, "op_summary", ".csv", name, sizeof name) ||
      find_name(folder, "kernel_details", ".csv", name, sizeof name)) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return import_profile(path, options, out, diag);
  }
  struct vinci_diag own = {0};
  if (known_profile_in(folder, path, &own) == VINCI_OK)
    return import_profile(path, options, out, diag);
  enum vinci_status status =
      diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){folder, 0, 0}, "%s", own.text);
  diag_hint(diag,
            "%s; folders with PipeUtilization.csv, simulator/trace.json, core*.dump or dump/ are "
            "read, too",
            own.hint);
  return status;
}

enum vinci_status import_read(const char *path, const struct import_options *options,
                              struct arena *arena, struct imported *out, struct vinci_diag *diag) {
  struct stat status;
  *out = (struct imported){.samples = 1, .kind = "", .arena = arena};
  if (stat(path, &status) != 0)
    return diag_error_at(diag, diag_status_of(errno), (struct diag_position){path, 0, 0},
                         "cannot read: %s", strerror(errno));
  if (S_ISDIR(status.st_mode))
    return read_folder(path, options, out, diag);
  size_t length = strlen(path);
  if (length > 5 && strcmp(path + length - 5, ".json") == 0)
    return import_timeline(path, options, out, diag);
  return import_profile(path, options, out, diag);
}
