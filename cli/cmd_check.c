/* SPDX-License-Identifier: Apache-2.0 */
/* vinci check: reads and checks traces without running them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "core/diag.h"
#include "core/program.h"

struct check_settings {
  const char *soc;
  const char *data;
  const char *normalize;
  struct text_list sets;
  bool quiet;
};

static const struct option_row check_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct check_settings, soc, "NAME",
                    "the chip the traces are meant for, such as Ascend910B4"),
    OPTION_LIST_ROW("set", 0, struct check_settings, sets, "KEY=VALUE",
                    "change a number of the chip, such as ub.size=256KiB; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct check_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_TEXT_ROW("normalize", 0, struct check_settings, normalize, "FILE",
                    "also write the trace in canonical form, '-' for standard output"),
    OPTION_FLAG_ROW("quiet", 'q', struct check_settings, quiet, "print errors only"),
};

static enum vinci_status write_trace(const vinci_trace *trace, const char *path,
                                     struct vinci_diag *diag) {
  if (strcmp(path, "-") == 0)
    return vinci_trace_write(trace, stdout, diag);
  struct diag_position target = {.path = path};
  FILE *out = fopen(path, "w");
  if (!out)
    return diag_error_at(diag, VINCI_E_IO, target, "cannot write the trace: %s", strerror(errno));
  struct vinci_diag problem = {0}; /* the writer does not know where it writes to */
  enum vinci_status status = vinci_trace_write(trace, out, &problem);
  if (status != VINCI_OK)
    (void)diag_error_at(diag, status, target, "%s", problem.text);
  errno = 0;
  if (fclose(out) != 0 && status == VINCI_OK)
    status = diag_error_at(diag, VINCI_E_IO, target, "cannot write the trace: %s",
                           errno ? strerror(errno) : "write error");
  return status;
}

static void print_count(uint64_t count, const char *what) {
  printf("%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static enum vinci_status check_trace(const struct check_settings *settings, const vinci_soc *soc,
                                     const char *path, bool several, struct vinci_diag *diag) {
  vinci_trace *trace;
  enum vinci_status status = vinci_trace_load(path, soc, &trace, diag);
  if (status != VINCI_OK)
    return status;
  bool to_stdout = settings->normalize && strcmp(settings->normalize, "-") == 0;
  if (settings->normalize)
    status = write_trace(trace, settings->normalize, diag);
  if (status == VINCI_OK && !settings->quiet && !to_stdout) {
    printf("%s%sok: ", several ? path : "", several ? ": " : "");
    print_count(trace->kernel_count, "kernel");
    fputs(", ", stdout);
    print_count(trace->row_count, "row");
    fputc('\n', stdout);
  }
  vinci_trace_free(trace);
  return status;
}

static enum vinci_status check_usage(const struct check_settings *settings,
                                     const struct text_list *traces, struct vinci_diag *diag) {
  if (settings->normalize && traces->count > 1)
    return diag_error(diag, VINCI_E_USAGE, "--normalize takes one trace, not %zu", traces->count);
  return cli_check_traces(traces, diag);
}

/* Every trace is checked; the exit code is that of the first one rejected. */
static int check_all(const struct check_settings *settings, const struct text_list *traces) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (check_usage(settings, traces, &diag) != VINCI_OK ||
      cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, &diag) != VINCI_OK)
    return cli_fail(&diag);
  int exit_code = 0;
  for (size_t i = 0; i < traces->count; i++) {
    struct vinci_diag trace_diag = {0};
    if (check_trace(settings, soc, traces->items[i], traces->count > 1, &trace_diag) == VINCI_OK)
      continue;
    int code = cli_fail(&trace_diag);
    exit_code = exit_code ? exit_code : code;
  }
  vinci_soc_free(soc);
  return exit_code;
}

static int check(const struct cli_verb *verb, int argc, char **argv) {
  struct check_settings settings = {0};
  struct text_list traces = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &traces, &exit_code))
    exit_code = check_all(&settings, &traces);
  text_list_free(&settings.sets);
  text_list_free(&traces);
  return exit_code;
}

const struct cli_verb cli_verb_check = {
    .name = "check",
    .arguments = "TRACE...",
    .summary = "Read traces and check them against a chip, without running them",
    .details = "Prints 'ok' with the number of kernels and rows of each trace. A trace that is\n"
               "rejected is reported with line and column; the exit code is then 3. '-' reads\n"
               "standard input.\n",
    .options = {check_options, sizeof check_options / sizeof *check_options},
    .run = check,
};
