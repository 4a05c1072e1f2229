/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a program, and where their results go. */
#include "cli/support/checks.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/base/diag.h"

static const struct {
  unsigned bit;
  const char *name;
} known_checks[] = {
#define X(id, bit, name, text) {bit, name},
    VINCI_CHECK_LIST(X)
#undef X
};

enum { KNOWN_CHECKS = sizeof known_checks / sizeof *known_checks };

static const char *check_name_at(const void *context, size_t index) {
  (void)context;
  return known_checks[index].name;
}

enum vinci_status checks_choose(const struct text_list *names, unsigned *checks,
                                struct vinci_diag *diag) {
  *checks = 0;
  for (size_t i = 0; i < names->count; i++) {
    size_t k = 0;
    while (k < KNOWN_CHECKS && strcmp(names->items[i], known_checks[k].name) != 0)
      k++;
    if (k < KNOWN_CHECKS) {
      *checks |= known_checks[k].bit;
      continue;
    }
    const char *nearest = diag_nearest(names->items[i], KNOWN_CHECKS, check_name_at, NULL);
    (void)diag_error(diag, VINCI_E_USAGE,
                     "--tool takes memcheck, racecheck, initcheck or synccheck, not '%s'",
                     names->items[i]);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

static enum vinci_status write_file(const vinci_findings *findings, const char *folder,
                                    struct vinci_diag *diag) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/check.json", folder);
  struct diag_position target = {.path = path};
  if (length < 0 || (size_t)length >= sizeof path)
    return diag_error(diag, VINCI_E_USAGE, "the name of the result folder is too long");
  FILE *out = fopen(path, "w");
  if (!out)
    return diag_error_at(diag, diag_status_of(errno), target, "cannot write it: %s",
                         strerror(errno));
  enum vinci_status status = vinci_findings_write_json(findings, out, diag);
  errno = 0;
  if (fclose(out) != 0 && status == VINCI_OK)
    status = diag_error_at(diag, diag_status_of(errno), target, "cannot write it: %s",
                           errno ? strerror(errno) : "write error");
  return status;
}

enum vinci_status checks_run(const vinci_soc *soc, const vinci_trace *trace, unsigned checks,
                             struct monitor *monitor, FILE *report, FILE *json, const char *folder,
                             char unchecked[CHECKS_UNCHECKED_BYTES], struct vinci_diag *diag) {
  struct vinci_check_options options = {.struct_size = sizeof options,
                                        .checks = checks,
                                        .progress = monitor_check_progress,
                                        .progress_context = monitor};
  struct vinci_diag found = {0};
  vinci_findings *findings;
  enum vinci_status result = vinci_check(soc, trace, &options, &findings, &found);
  monitor_clear(monitor);
  if (result == VINCI_E_LIMIT && !monitor_goes_on(monitor)) {
    found = (struct vinci_diag){0};
    (void)diag_error(&found, result, "%s before the checks were through; findings are partial",
                     monitor_reason());
  }
  enum vinci_status status = VINCI_OK;
  if (findings && result == VINCI_OK && unchecked)
    snprintf(unchecked, CHECKS_UNCHECKED_BYTES, "%s", vinci_findings_unchecked(findings));
  if (findings && report && (result != VINCI_OK || vinci_findings_warnings(findings) > 0))
    status = vinci_findings_write_text(findings, report, diag);
  if (findings && json && status == VINCI_OK)
    status = vinci_findings_write_json(findings, json, diag);
  if (findings && folder && status == VINCI_OK)
    status = write_file(findings, folder, diag);
  vinci_findings_free(findings);
  if (status == VINCI_OK && result != VINCI_OK) {
    *diag = found;
    status = result;
  }
  return status;
}
