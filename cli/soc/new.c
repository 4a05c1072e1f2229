/* SPDX-License-Identifier: Apache-2.0 */
/* vinci soc new: a description of one's own, to be changed in an editor. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/soc/new.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/chip/soc.h"

/* What is changed most. All others can be changed as well. */
static const char *const offered[] = {
    "device.cube_cores", "device.vector_cores", "clock.core", "l2.size", "l2.bandwidth",
    "hbm.size",          "hbm.bandwidth",       "l1.size",    "ub.size"};

/* Chips are words of command lines, files and tables. */
static enum vinci_status check_name(const char *name, struct vinci_diag *diag) {
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
  if (*name && !name[length] && *name != '-' && length < SOC_TEXT_MAX)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE,
                    "'%s' is not a name of a chip: letters, digits, '_' and '-' are", name);
}

/* The value as data files write it: 96 * MiB. */
static void write_value(int64_t value, enum soc_kind kind, FILE *out) {
  static const struct {
    enum soc_kind kind;
    int64_t unit;
    const char *word;
  } units[] = {{SOC_KIND_BYTES, INT64_C(1) << 30, "GiB"},
               {SOC_KIND_BYTES, INT64_C(1) << 20, "MiB"},
               {SOC_KIND_BYTES, INT64_C(1) << 10, "KiB"},
               {SOC_KIND_HZ, 1000000, "MHz"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (units[i].kind == kind && value > 0 && value % units[i].unit == 0) {
      fprintf(out, "%" PRId64 " * %s", value / units[i].unit, units[i].word);
      return;
    }
  fprintf(out, "%" PRId64, value);
}

static void write_offer(const vinci_soc *soc, const char *key, FILE *out) {
  size_t index = soc_param_find(key);
  if (index == soc_param_count() || !soc->provenance[index].given)
    return;
  enum soc_kind kind = soc_param(index)->kind;
  fprintf(out, "    -- %s = num(", strchr(key, '.') + 1);
  write_value(soc_get(soc, index), kind, out);
  fprintf(out, ", \"%s\", \"OWN\", \"assumed\", \"why\"),\n",
          kind == SOC_KIND_COUNT ? "count" : soc_kind_unit(kind));
}

static bool same_group(const char *a, const char *b) {
  size_t length = strcspn(a, ".") + 1;
  return a && b && strncmp(a, b, length) == 0;
}

struct writing {
  const vinci_soc *base;
  const char *name;
};

static void write_description(void *context, FILE *out) {
  const struct writing *writing = context;
  const char *base = vinci_soc_name(writing->base);
  fprintf(
      out,
      "-- %s with other numbers. 'vinci soc show %s' lists all of them, with their units.\n"
      "-- A number is num(value, unit, source, confidence, note). The confidence is documented,\n"
      "-- measured, derived or assumed; the source OWN says that the note tells more.\n"
      "return soc {\n  name = \"%s\",\n  base = \"%s\",\n  description = \"%s with other "
      "numbers\",\n\n"
      "  -- Take the dashes of a line away and change its number.\n",
      base, base, writing->name, base, base);
  for (size_t i = 0; i < sizeof offered / sizeof *offered; i++) {
    bool begins = i == 0 || !same_group(offered[i], offered[i - 1]);
    bool ends =
        i + 1 == sizeof offered / sizeof *offered || !same_group(offered[i], offered[i + 1]);
    if (begins)
      fprintf(out, "  %.*s = {\n", (int)strcspn(offered[i], "."), offered[i]);
    write_offer(writing->base, offered[i], out);
    if (ends)
      fputs("  },\n", out);
  }
  fputs("}\n", out);
}

enum vinci_status soc_new(const char *name, const char *base, const char *data, const char *output,
                          struct vinci_diag *diag) {
  char path[PATH_MAX];
  vinci_soc *soc = NULL, *taken = NULL;
  if (!base) {
    (void)diag_error(diag, VINCI_E_USAGE, "which chip to start from? --base=NAME is missing");
    diag_hint(diag, "'vinci soc list' shows the names");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = check_name(name, diag);
  if (status == VINCI_OK)
    status = vinci_soc_load(base, data, &soc, diag);
  if (status == VINCI_OK && vinci_soc_load(name, data, &taken, NULL) == VINCI_OK)
    status = diag_error(diag, VINCI_E_USAGE, "there is a chip '%s' already", name);
  struct writing writing = {soc, name};
  bool printed = output && strcmp(output, "-") == 0;
  snprintf(path, sizeof path, output ? "%s" : "%s.lua", output ? output : name);
  if (status == VINCI_OK && printed)
    write_description(&writing, stdout);
  if (status == VINCI_OK && !printed && access(path, F_OK) == 0)
    status = diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                           "is there already and is not written over");
  if (status == VINCI_OK && !printed)
    status = file_replace(path, write_description, &writing, diag);
  if (status == VINCI_OK && !printed)
    printf("%s: change it, then 'vinci run ... --soc-version=%s'\n", path, path);
  vinci_soc_free(soc);
  vinci_soc_free(taken);
  return status;
}
