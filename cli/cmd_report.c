/* SPDX-License-Identifier: Apache-2.0 */
/* vinci report: a page with pictures of a result folder, in one file that needs nothing else. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report/report.h"
#include "core/base/diag.h"

struct report_settings {
  const char *output;
  bool quiet;
};

static const struct option_row report_options[] = {
    OPTION_TEXT_ROW("output", 'o', struct report_settings, output, "FILE",
                    "the page to write (default: report.html in the first folder)"),
    OPTION_FLAG_ROW("quiet", 'q', struct report_settings, quiet, "print errors only"),
};

/* Two folders are of one kind and one model: else their numbers say nothing about each other. */
static enum vinci_status check_pair(const struct report_folder *first,
                                    const struct report_folder *second, struct vinci_diag *diag) {
  if (first->kind != second->kind)
    return diag_error(diag, VINCI_E_USAGE,
                      "%s has results of a %s, %s of a %s: they cannot be "
                      "compared",
                      first->path, report_kind_name(first->kind), second->path,
                      report_kind_name(second->kind));
  if (first->kind != REPORT_RUN)
    return diag_error(diag, VINCI_E_USAGE,
                      "two folders are compared when both are of runs, not of "
                      "a %s",
                      report_kind_name(first->kind));
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

static enum vinci_status write_report(const struct report_settings *settings,
                                      const struct report_folder *first,
                                      const struct report_folder *second, struct vinci_diag *diag) {
  char path[PATH_MAX];
  struct page page = {first, second};
  int length = settings->output ? snprintf(path, sizeof path, "%s", settings->output)
                                : snprintf(path, sizeof path, "%s/report.html", first->path);
  if (length < 0 || (size_t)length >= sizeof path)
    return diag_error(diag, VINCI_E_IO, "the path of the report is too long");
  enum vinci_status status = file_replace(path, write_page, &page, diag);
  if (status == VINCI_OK && !settings->quiet)
    printf("%s: open the file in a browser; nothing else is needed\n", path);
  return status;
}

static enum vinci_status execute(const struct report_settings *settings,
                                 const struct text_list *arguments, struct vinci_diag *diag) {
  struct report_folder folder[2] = {0};
  size_t count = arguments->count;
  if (count < 1 || count > 2) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_USAGE, "%zu result folders were given, not one or two", count);
    diag_hint(diag, "'vinci run TRACE --output=DIR' writes one");
    return status;
  }
  enum vinci_status status = report_page_check(diag);
  for (size_t i = 0; status == VINCI_OK && i < count; i++)
    status = report_open(arguments->items[i], &folder[i], diag);
  if (status == VINCI_OK && count == 2)
    status = check_pair(&folder[0], &folder[1], diag);
  if (status == VINCI_OK)
    status = write_report(settings, &folder[0], count == 2 ? &folder[1] : NULL, diag);
  report_close(&folder[0]);
  report_close(&folder[1]);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct report_settings settings = {0};
  struct text_list arguments = {0};
  struct vinci_diag diag = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &arguments, &exit_code))
    exit_code = execute(&settings, &arguments, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&arguments);
  return exit_code;
}

const struct cli_verb cli_verb_report = {
    .name = "report",
    .arguments = "DIR [DIR2]",
    .summary = "Turn a result folder into a page with pictures: one HTML file",
    .details =
        "DIR is a folder that --output of 'vinci run', 'vinci sweep run', 'vinci sensitivity',\n"
        "'vinci run --ops', 'vinci net run' or 'vinci group run' has written. With DIR2, the page\n"
        "compares two runs. A browser loads nothing but the page. The same results give the same\n"
        "bytes.\n",
    .options = {report_options, sizeof report_options / sizeof *report_options},
    .run = run,
};
