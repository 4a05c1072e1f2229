/* SPDX-License-Identifier: Apache-2.0 */
/* vinci check: reads traces and checks what their programs do, without time. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "cli/support/checks.h"
#include "cli/support/cli.h"
#include "cli/support/isolate.h"
#include "cli/support/kernel.h"
#include "cli/support/without.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "core/isa/program.h"

struct check_settings {
  const char *soc;
  const char *data;
  const char *normalize;
  const char *output, *without;
  struct text_list sets;
  struct text_list tools;
  unsigned checks; /* what they name, 0 = all */
  uint64_t timeout_minutes;
  struct kernel_settings kernel;
  struct isolate_settings isolate;
  struct values_settings values; /* of kernels, which are executed to know their instructions */
  bool json;
  bool quiet;
};

enum { TIMEOUT_MINUTES_MAX = 2880 };

static const struct option_row check_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct check_settings, soc, "NAME",
                    "the chip the traces are meant for, such as Ascend910B4"),
    OPTION_LIST_ROW("set", 0, struct check_settings, sets, "KEY=VALUE",
                    "change a number of the chip, such as ub.size=256KiB; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct check_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_LIST_ROW("tool", 't', struct check_settings, tools, "NAME",
                    "memcheck, racecheck, initcheck or synccheck; may be repeated (default all)"),
    OPTION_TEXT_ROW("output", 'o', struct check_settings, output, "DIR",
                    "write check.json into a result folder"),
    OPTION_FLAG_ROW("json", 0, struct check_settings, json,
                    "print check.json instead of the report; for several traces an array"),
    OPTION_TEXT_ROW("normalize", 0, struct check_settings, normalize, "FILE",
                    "also write the trace in canonical form, '-' for standard output"),
    WITHOUT_OPTION_ROW(struct check_settings, without),
    OPTION_NUMBER_ROW("timeout", 0, struct check_settings, timeout_minutes, "MINUTES", 1,
                      TIMEOUT_MINUTES_MAX,
                      "end each trace after this time with partial findings (exit code 7)"),
    OPTION_TEXT_ROW("blocks", 0, struct check_settings, kernel.blocks, "N",
                    "with LIBRARY:KERNEL: the number of blocks (default 1)"),
    KERNEL_ARG_ROW(struct check_settings, kernel),
    KERNEL_INPUT_ROWS(struct check_settings, values),
    ISOLATE_ROWS(struct check_settings, isolate),
    OPTION_FLAG_ROW("quiet", 'q', struct check_settings, quiet, "print errors only"),
};

static enum vinci_status write_trace(const vinci_trace *trace, const char *path,
                                     struct vinci_diag *diag) {
  if (strcmp(path, "-") == 0)
    return vinci_trace_write(trace, stdout, diag);
  struct diag_position target = {.path = path};
  FILE *out = fopen(path, "w");
  if (!out)
    return diag_error_at(diag, diag_status_of(errno), target, "cannot write the trace: %s",
                         strerror(errno));
  struct vinci_diag problem = {0}; /* the writer does not know where it writes to */
  enum vinci_status status = vinci_trace_write(trace, out, &problem);
  if (status != VINCI_OK)
    (void)diag_error_at(diag, status, target, "%s", problem.text);
  errno = 0;
  if (fclose(out) != 0 && status == VINCI_OK)
    status = diag_error_at(diag, diag_status_of(errno), target, "cannot write the trace: %s",
                           errno ? strerror(errno) : "write error");
  return status;
}

static void print_count(uint64_t count, const char *what, FILE *out) {
  fprintf(out, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

/* The traces of a command. */
struct check_batch {
  const struct check_settings *settings;
  const struct text_list *traces;
  const vinci_soc *soc;
  unsigned printed;       /* entries of the JSON array */
  struct monitor monitor; /* of the trace at hand */
};

static enum vinci_status check_program(struct check_batch *batch, const vinci_trace *trace,
                                       const char *path, bool stdout_taken,
                                       char unchecked[CHECKS_UNCHECKED_BYTES],
                                       struct vinci_diag *diag) {
  const struct check_settings *settings = batch->settings;
  char folder[PATH_MAX];
  if (settings->output) {
    enum vinci_status status = cli_result_folder(settings->output, path, batch->traces->count > 1,
                                                 folder, sizeof folder, diag);
    if (status != VINCI_OK)
      return status;
  }
  if (settings->json && batch->printed++ > 0)
    fputs(",\n", stdout);
  FILE *report = settings->json ? NULL : stdout_taken ? stderr : stdout;
  return checks_run(batch->soc, trace, settings->checks, &batch->monitor, report,
                    settings->json ? stdout : NULL, settings->output ? folder : NULL, unchecked,
                    diag);
}

/* unchecked: what this "ok" does not stand for. */
static void print_ok(const vinci_trace *trace, const char *path, bool several,
                     const char *unchecked) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "%s%sok: ", several ? path : "", several ? ": " : "");
  print_count(trace->kernel_count, "kernel", out);
  fputs(", ", out);
  print_count(program_row_count(trace), "row", out);
  fprintf(out, "%s%s\n", *unchecked ? "; " : "", unchecked);
  sheet_lines_end(&lines);
}

static enum vinci_status check_trace(struct check_batch *batch, const char *path,
                                     struct vinci_diag *diag) {
  const struct check_settings *settings = batch->settings;
  char unchecked[CHECKS_UNCHECKED_BYTES] = "";
  vinci_trace *trace;
  if (monitor_interrupted())
    return diag_error(diag, VINCI_E_LIMIT, "interrupted before %s was checked", path);
  monitor_start(&batch->monitor, path, settings->timeout_minutes, settings->quiet);
  monitor_begin_reading(&batch->monitor, path, "was checked",
                        settings->json && batch->traces->count > 1 ? "\n]\n" : "");
  enum vinci_status status = kernel_is_named(path)
                                 ? kernel_load(path, &settings->kernel, &settings->values,
                                               batch->soc, &batch->monitor, &trace, diag)
                                 : vinci_trace_load(path, batch->soc, &trace, diag);
  monitor_end_reading();
  if (status != VINCI_OK)
    return status;
  status = without_take(settings->without, trace, diag);
  bool to_stdout = settings->normalize && strcmp(settings->normalize, "-") == 0;
  if (status == VINCI_OK && settings->normalize)
    status = write_trace(trace, settings->normalize, diag);
  if (status == VINCI_OK)
    status = check_program(batch, trace, path, to_stdout, unchecked, diag);
  if (status == VINCI_OK && !settings->quiet && !settings->json && !to_stdout)
    print_ok(trace, path, batch->traces->count > 1, unchecked);
  fflush(stdout);
  vinci_trace_free(trace);
  return status;
}

static enum vinci_status check_usage(struct check_settings *settings,
                                     const struct text_list *traces, struct vinci_diag *diag) {
  settings->kernel.checked = settings->kernel.apart = true;
  if (settings->normalize && traces->count > 1)
    return diag_error(diag, VINCI_E_USAGE, "--normalize takes one trace, not %zu", traces->count);
  if (settings->normalize && traces->count == 1 && kernel_is_named(traces->items[0])) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_USAGE, "--normalize takes a trace, not a kernel");
    diag_hint(diag, "--record=FILE writes what a kernel issues as a trace");
    return status;
  }
  if (settings->json && settings->normalize && strcmp(settings->normalize, "-") == 0)
    return diag_error(diag, VINCI_E_USAGE, "--json and --normalize=- both need standard output");
  if (checks_choose(&settings->tools, &settings->checks, diag) != VINCI_OK)
    return VINCI_E_USAGE;
  return cli_check_folders(settings->output, traces, diag);
}

/* Every trace is checked; the exit code is that of the first one rejected. */
static int check_all(struct check_settings *settings, const struct text_list *traces) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (check_usage(settings, traces, &diag) != VINCI_OK ||
      values_check(&settings->values, traces->count, &diag) != VINCI_OK ||
      kernel_check(&settings->kernel, traces, false, &diag) != VINCI_OK ||
      cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, &diag) != VINCI_OK ||
      cli_make_folders(settings->output, traces, &diag) != VINCI_OK ||
      isolate_begin(&settings->isolate, settings->output, settings->kernel.record, settings->quiet,
                    &diag) != VINCI_OK) {
    vinci_soc_free(soc);
    return cli_fail(&diag);
  }
  struct check_batch batch = {.settings = settings, .traces = traces, .soc = soc};
  bool array = settings->json && traces->count > 1;
  int exit_code = 0;
  size_t failed = 0;
  monitor_catch_interrupt();
  if (array)
    fputs("[\n", stdout);
  for (size_t i = 0; i < traces->count; i++) {
    struct vinci_diag trace_diag = {0};
    if (check_trace(&batch, traces->items[i], &trace_diag) == VINCI_OK)
      continue;
    int code = cli_fail(&trace_diag);
    failed++;
    exit_code = exit_code ? exit_code : code;
  }
  if (array)
    fputs("]\n", stdout);
  bool to_stdout = settings->normalize && strcmp(settings->normalize, "-") == 0;
  if (!settings->json && !settings->quiet && !to_stdout)
    cli_summary("check traces=%zu ok=%zu failed=%zu exit=%d", traces->count, traces->count - failed,
                failed, exit_code);
  vinci_soc_free(soc);
  return exit_code;
}

static int check(const struct cli_verb *verb, int argc, char **argv) {
  struct check_settings settings = {0};
  struct text_list traces = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &traces, &exit_code))
    exit_code = isolate_end(&settings.isolate, check_all(&settings, &traces));
  values_settings_free(&settings.values);
  text_list_free(&settings.kernel.args);
  text_list_free(&settings.sets);
  text_list_free(&settings.tools);
  text_list_free(&traces);
  return exit_code;
}

const struct cli_verb cli_verb_check = {
    .name = "check",
    .arguments = "TRACE... | LIBRARY:KERNEL",
    .summary = "Read traces, and check what their programs do on a chip, without time",
    .details =
        "A trace that is rejected is reported with line and column; the exit code is then 3.\n"
        "Else its kernels are executed without time and checked, whatever order things\n"
        "happen to run in:\n"
        "  memcheck   accesses out of range, misaligned or to the wrong memory\n"
        "  racecheck  accesses without an order: in a pipe, between pipes and between cores\n"
        "  initcheck  reads of bytes that nothing has written\n"
        "  synccheck  flags that do not pair, signals between cores\n"
        "and any program that hangs. Errors are printed with the lines of the trace, each\n"
        "pair of lines once; the exit code is then 5. Warnings and notes leave it as it is:\n"
        "registers that a kernel uses and never set, which silicon keeps from kernel to\n"
        "kernel, and behaviour that is undefined on some boards (the table of FORMAT.md).\n"
        "Of a compiled kernel, loads and stores of its scalar code are checked too; a line says\n"
        "how many are not, in libraries of an older 'vinci cc'. A kernel that leaves the process\n"
        "by exit() or a signal, or uses the system of the host, is an error, exit code 3;\n"
        "--isolate is for kernels of others.\n"
        "Without errors 'ok' is printed with the number of kernels and rows. '-' reads\n"
        "standard input.\n"
        "Checks that are stopped early report their findings so far; exit code 7.\n"
        "Example:\n"
        "  vinci check traces/examples/add1_tile2048.csv -s Ascend910B4\n",
    .options = {check_options, sizeof check_options / sizeof *check_options},
    .run = check,
};
