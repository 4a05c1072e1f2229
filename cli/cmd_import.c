/* SPDX-License-Identifier: Apache-2.0 */
/* vinci import: what vinci, the vendor's simulator and silicon say of a kernel, side by side. */
#include <stdlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/unread.h"
#include "core/chip/soc.h"
#include "traces/export/export.h"
#include "traces/import/import.h"

struct import_settings {
  const char *soc;
  const char *data;
  const char *op;
  const char *format;
  bool json, csv;
};

static const struct option_row import_option_rows[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct import_settings, soc, "NAME",
                    "the chip, whose clock makes times of the cycles of dumps"),
    OPTION_TEXT_ROW("op", 0, struct import_settings, op, "NAME",
                    "of profiles the rows with this name or type; the table has their mean"),
    OPTION_FLAG_ROW("json", 0, struct import_settings, json, "print JSON instead of the table"),
    OPTION_FLAG_ROW("csv", 0, struct import_settings, csv, "print CSV instead of the table"),
    /* What --json and --csv were once. */
    OPTION_TEXT_ROW("format", 0, struct import_settings, format, "FORMAT", NULL),
    OPTION_TEXT_ROW("data", 0, struct import_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
};

static enum vinci_status read_form(const struct import_settings *settings, enum import_form *form,
                                   struct vinci_diag *diag) {
  const char *word;
  enum vinci_status status = cli_form(settings->json, settings->csv, settings->format, &word, diag);
  *form = strcmp(word, "csv") == 0    ? IMPORT_CSV
          : strcmp(word, "json") == 0 ? IMPORT_JSON
                                      : IMPORT_TEXT;
  return status;
}

static enum vinci_status read_clock(const struct import_settings *settings, uint64_t *hz,
                                    struct vinci_diag *diag) {
  vinci_soc *soc;
  *hz = 0;
  if (!settings->soc)
    return VINCI_OK;
  enum vinci_status status = cli_load_soc(settings->soc, settings->data, NULL, &soc, diag);
  if (status != VINCI_OK)
    return status;
  *hz = (uint64_t)soc->core_hz;
  vinci_soc_free(soc);
  return VINCI_OK;
}

static enum vinci_status import_all(const struct import_settings *settings,
                                    const struct text_list *paths, struct vinci_diag *diag) {
  struct import_options options = {.op = settings->op};
  struct arena arena = {0};
  enum import_form form;
  if (paths->count == 0) {
    enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "nothing to import");
    diag_hint(diag, "give result folders of vinci, OPPROF_* folders, folders of dumps or profiles");
    return status;
  }
  enum vinci_status status = read_form(settings, &form, diag);
  if (status == VINCI_OK)
    status = read_clock(settings, &options.core_hz, diag);
  struct imported *sources = calloc(paths->count, sizeof *sources);
  if (status == VINCI_OK && !sources)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for %zu sources", paths->count);
  for (size_t i = 0; status == VINCI_OK && i < paths->count; i++)
    status = import_read(paths->items[i], &options, &arena, &sources[i], diag);
  if (status == VINCI_OK) {
    for (size_t i = 0; i < paths->count; i++)
      unread_warn(&sources[i].unread, diag);
    import_write(sources, paths->items, paths->count, form, stdout);
    status = export_flush(stdout, "the table", diag);
  }
  free(sources);
  arena_free(&arena);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct import_settings settings = {0};
  struct text_list paths = {0};
  struct vinci_diag diag = {.warn = cli_warn(false)};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &paths, &exit_code))
    exit_code = import_all(&settings, &paths, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&paths);
  return exit_code;
}

const struct cli_verb cli_verb_import = {
    .name = "import",
    .arguments = "PATH...",
    .summary = "Put results of vinci, of the vendor's simulator and of silicon side by side",
    .details =
        "What a path is follows from what is there:\n"
        "  a result folder of vinci or an OPPROF_* of 'msprof op': its tables\n"
        "  an OPPROF_* of 'msprof op simulator', or its trace.json: the timeline\n"
        "  core*.instr_popped_log.dump and core*.instr_log.dump: logs of the vendor's model\n"
        "  op_summary*.csv, kernel_details.csv, the databases ascend_pytorch_profiler*.db and\n"
        "    msprof_*.db, or a folder with one: rows of a profile\n"
        "  op_statistic*.csv, task_time*.csv, operator_details.csv: durations alone\n"
        "  trace_view.json, msprof_*.json: the timeline of a profile, durations of tasks alone\n"
        "Times of pipes are those of one core, the mean over the cores; cycles and bytes are\n"
        "those of all cores. What a source does not know stays empty.\n\n"
        "Example:\n"
        "  vinci import out OPPROF_20260101_A kernel_details.csv --op=MatMulV2 --csv\n",
    .options = {import_option_rows, sizeof import_option_rows / sizeof *import_option_rows},
    .run = run,
};
