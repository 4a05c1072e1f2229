/* SPDX-License-Identifier: Apache-2.0 */
/* The result folder of a run with its timelines. */
#include "cli/run/output.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/support/cli.h"
#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "core/result/events.h"
#include "core/result/result.h"

enum { WINDOW_TEXT_BYTES = 48 };

enum vinci_status output_check(const struct output_settings *settings, struct vinci_diag *diag) {
  if (settings->timeline.window && (settings->kernel_name || settings->launch_count))
    return diag_error(diag, VINCI_E_USAGE,
                      "--window chooses cycles, and so do --kernel-name and --launch-count: give "
                      "one of them");
  return vinci_timeline_check(&settings->timeline, diag);
}

/* ---- kernels ------------------------------------------------------------------ */

/* A pattern ends with its text or at '|'; what follows in the name does not matter. */
static bool begins_as(const char *pattern, const char *name) {
  for (; *pattern && *pattern != '|'; pattern++, name++) {
    if (*pattern == '*')
      return begins_as(pattern + 1, name) || (*name && begins_as(pattern, name + 1));
    if (*pattern != *name)
      return false;
  }
  return true;
}

static bool is_named(const char *patterns, const char *name) {
  for (const char *at = patterns; at;) {
    if (begins_as(at, name))
      return true;
    at = strchr(at, '|');
    at = at ? at + 1 : NULL;
  }
  return !patterns;
}

/* From the start of the first kernel to the end of the last one, as cycles of the chip. */
static enum vinci_status find_window(const struct output_settings *settings,
                                     const vinci_result *result, char *window,
                                     struct vinci_diag *diag) {
  uint64_t found = 0, first_ps = 0, last_ps = 0;
  for (uint32_t i = 0; i < result->kernel_count; i++) {
    const struct kernel_result *kernel = &result->kernels[i];
    if (!is_named(settings->kernel_name, kernel->name) ||
        (settings->launch_count && found == settings->launch_count))
      continue;
    first_ps = found++ ? first_ps : kernel->start_ps;
    last_ps = kernel->end_ps;
  }
  if (found == 0)
    return diag_error(diag, VINCI_E_USAGE,
                      "no kernel of the run has a name that begins with '%s'; the first is '%s'",
                      settings->kernel_name, result->kernels[0].name);
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)result->soc->core_hz);
  snprintf(window, WINDOW_TEXT_BYTES, "%" PRIu64 ":%" PRIu64, clock_edge_at(&clock, first_ps),
           clock_edge_at(&clock, last_ps));
  return VINCI_OK;
}

/* ---- the trace ------------------------------------------------------------------- */

/* The lines that hot spots and timelines name. */
static enum vinci_status keep_trace(const struct output_operator *lowered, const char *text,
                                    const char *folder, struct vinci_diag *diag) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s.csv", folder, lowered->op) >= (int)sizeof path)
    return diag_error(diag, VINCI_E_IO, "the path %s is too long", folder);
  return file_replace_text(path, text, diag);
}

/* The text of a trace that was given, for free(); NULL where there is no file to read again, as of
 * standard input or a compiled kernel. The report does without, and says so. */
static char *read_again(const char *path) {
  struct stat file;
  struct vinci_diag none = {0};
  size_t length;
  if (!path || stat(path, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < 0)
    return NULL;
  char *text = file_read(path, (size_t)file.st_size, &length, &none);
  if (!text || strlen(text) == length)
    return text;
  free(text); /* no text */
  return NULL;
}

/* ---- the folder ----------------------------------------------------------------- */

enum vinci_status output_write(const struct output_settings *settings, const vinci_result *result,
                               const struct output_operator *lowered, const char *folder,
                               struct vinci_diag *diag) {
  struct vinci_timeline_options timeline = settings->timeline;
  char window[WINDOW_TEXT_BYTES];
  enum vinci_status status = VINCI_OK;
  if (settings->kernel_name || settings->launch_count) {
    status = find_window(settings, result, window, diag);
    timeline.window = window;
  }
  char *text = NULL, *again = lowered->op ? NULL : read_again(result->trace_path);
  if (status == VINCI_OK && lowered->op)
    status = vinci_compile_text(lowered->soc, lowered->op, lowered->args->items,
                                lowered->args->count, &text, diag);
  timeline.source = lowered->op ? text : again;
  if (status == VINCI_OK)
    status = vinci_result_write_folder_with(result, folder, &timeline, diag);
  if (status == VINCI_OK && lowered->op)
    status = keep_trace(lowered, text, folder, diag);
  vinci_text_free(text);
  free(again);
  return status;
}

void output_sum_up(const vinci_result *result) {
  enum { US_DIGITS = 6 };
  char reason[512];
  enum bound bound = result_bound_explain(result, reason, sizeof reason);
  cli_summary("run cycles=%" PRIu64 " us=%s bound=%s partial=%s", result->total_cycles,
              decimal_exact(result->total_ps, US_DIGITS).text, bound_name(bound),
              result->partial ? "yes" : "no");
}

/* Viewers take long for large JSON. The same of Perfetto has a tenth of the bytes: 9 MB instead of
 * 92 for a product of 4096. */
enum { LARGE_JSON_MIB = 8, MIB = 1 << 20 };

static void print_large_json(FILE *out, const char *folder) {
  char path[PATH_MAX];
  struct stat file;
  int length = snprintf(path, sizeof path, "%s/trace.json", folder);
  if (length < (int)sizeof path && stat(path, &file) == 0 &&
      file.st_size >= (off_t)LARGE_JSON_MIB * MIB)
    fprintf(out,
            "          trace.json has %lld MiB: --timeline=perfetto writes a tenth, and "
            "--window=FROM:TO a part\n",
            (long long)file.st_size / MIB);
}

void output_tell_lines(const vinci_result *result, const char *op) {
  if (event_total(result) > 0)
    sheet_line(stdout,
               "Trace     the lines above are those of DIR/%s.csv, which --output=DIR writes\n",
               op);
}

void output_print(const struct output_settings *settings, const struct output_operator *lowered,
                  const char *folder) {
  const char *formats = settings->timeline.formats ? settings->timeline.formats : "perfetto";
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  if (lowered->op)
    fprintf(out, "Trace     %s/%s.csv: the lines above are its lines\n", folder, lowered->op);
  fprintf(out, "Results   in %s: summary.json, CSV tables%s%s%s%s\n", folder,
          strstr(formats, "perfetto") ? ", trace.pftrace for ui.perfetto.dev" : "",
          strstr(formats, "chrome") ? ", trace.json for chrome://tracing or MindStudio Insight"
                                    : "",
          strstr(formats, "msprof") ? ", OPPROF_* for MindStudio Insight" : "",
          strstr(formats, "vcd") ? ", trace.vcd for GTKWave" : "");
  if (strstr(formats, "chrome"))
    print_large_json(out, folder);
  fprintf(out, "          vinci report %s makes a page with pictures of them\n", folder);
  sheet_lines_end(&lines);
}
