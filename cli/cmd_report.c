/* SPDX-License-Identifier: Apache-2.0 */
/* vinci report: a page with pictures of a result folder, in one file that needs nothing else. */
#include <stdio.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "core/vinci_timeline.h"

struct report_settings {
  const char *output;
  bool quiet;
};

static const struct option_row report_options[] = {
    OPTION_TEXT_ROW("output", 'o', struct report_settings, output, "FILE",
                    "the page to write (default: report.html in the first folder)"),
    OPTION_FLAG_ROW("quiet", 'q', struct report_settings, quiet, "print errors only"),
};

static enum vinci_status execute(const struct report_settings *settings,
                                 const struct text_list *arguments, struct vinci_diag *diag) {
  size_t count = arguments->count;
  if (count < 1 || count > 2) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_USAGE, "%zu result folders were given, not one or two", count);
    diag_hint(diag, "'vinci run TRACE --output=DIR' writes one");
    return status;
  }
  enum vinci_status status = vinci_report_write(
      arguments->items[0], count == 2 ? arguments->items[1] : NULL, settings->output, diag);
  if (status == VINCI_OK && !settings->quiet)
    sheet_line(stdout, "%s%s: open the file in a browser; nothing else is needed\n",
               settings->output ? settings->output : arguments->items[0],
               settings->output ? "" : "/report.html");
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
        "compares two runs, sweeps, lists, networks or jobs. A browser loads nothing but the page. "
        "The same results give the same\n"
        "bytes.\n"
        "Examples:\n"
        "  vinci run matmul m=512 k=512 n=512 -s Ascend910B4 --output=out\n"
        "  vinci report out\n"
        "  vinci report before after -o both.html\n",
    .options = {report_options, sizeof report_options / sizeof *report_options},
    .run = run,
};
