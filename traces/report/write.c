/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the public interface. */
#include <limits.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/vinci_timeline.h"
#include "traces/report/report.h"

/* Two folders are of one kind and one model: else their numbers say nothing about each other. */
static enum vinci_status check_pair(const struct report_folder *first,
                                    const struct report_folder *second, struct vinci_diag *diag) {
  if (first->kind != second->kind)
    return diag_error(diag, VINCI_E_USAGE,
                      "%s has results of a %s, %s of a %s: they cannot be "
                      "compared",
                      first->path, report_kind_name(first->kind), second->path,
                      report_kind_name(second->kind));
  if (strcmp(first->revision, second->revision) == 0)
    return VINCI_OK;
  enum vinci_status status =
      diag_error(diag, VINCI_E_INPUT,
                 "%s is of model revision %s, %s of model revision %s: they cannot be "
                 "compared",
                 first->path, first->revision, second->path, second->revision);
  diag_hint(diag, "run both again with one vinci");
  return status;
}

struct page {
  const struct report_folder *first, *second;
};

static void write_page(void *context, FILE *out) {
  const struct page *page = context;
  report_page_write(page->first, page->second, out);
}

static enum vinci_status write_report(const struct report_folder *first,
                                      const struct report_folder *second, const char *output,
                                      struct vinci_diag *diag) {
  char path[PATH_MAX];
  struct page page = {first, second};
  int length = output ? snprintf(path, sizeof path, "%s", output)
                      : snprintf(path, sizeof path, "%s/report.html", first->path);
  if (length < 0 || (size_t)length >= sizeof path)
    return diag_error(diag, VINCI_E_IO, "the path of the report is too long");
  return file_replace(path, write_page, &page, diag);
}

enum vinci_status vinci_report_write(const char *folder, const char *other, const char *output,
                                     struct vinci_diag *diag) {
  struct report_folder opened[2] = {0};
  enum vinci_status status = report_page_check(diag);
  if (status == VINCI_OK)
    status = report_open(folder, &opened[0], diag);
  if (status == VINCI_OK && other)
    status = report_open(other, &opened[1], diag);
  if (status == VINCI_OK && other)
    status = check_pair(&opened[0], &opened[1], diag);
  if (status == VINCI_OK)
    status = write_report(&opened[0], other ? &opened[1] : NULL, output, diag);
  report_close(&opened[0]);
  report_close(&opened[1]);
  return status;
}
