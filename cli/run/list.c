/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --ops: progress, report and exit code of a list of operators. */
#include "cli/run/list.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/run/table.h"
#include "cli/support/cli.h"
#include "cli/support/monitor.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/sheet.h"

#define PS_PER_MS UINT64_C(1000000000)
enum { TABLE_BYTES_MAX = 1 << 30 };

struct watching {
  const struct run_list *list;
  struct monitor monitor;
  bool begun; /* the list has been read: from there on signals leave partial results */
};

static bool watch(void *context, const struct vinci_ops_progress *progress) {
  struct watching *watching = context;
  const struct run_list *list = watching->list;
  if (!watching->begun) {
    monitor_catch_interrupt();
    monitor_start(&watching->monitor, list->list, list->timeout_minutes, list->quiet);
    watching->begun = true;
  }
  return monitor_items(&watching->monitor,
                       &(struct monitor_count){.done_permille = progress->done_permille,
                                               .before = progress->known,
                                               .all = progress->operators});
}

static void report_sequence(const struct vinci_ops_result *result, unsigned repeat) {
  if (result->skipped > 0)
    sheet_line(stdout,
               "%zu of %zu launches met a chip in a state seen before, with the same rows to come, "
               "and were not simulated again (--exact simulates all, with the same result)\n",
               result->skipped, result->launches);
  if (repeat > 1)
    printf("The last of %u times that the list ran on the chip, one after the other\n", repeat);
  printf("L2: without inputs before the first row%s; of %s GB that the rows read, %s %% were there "
         "when the row began (columns l2_found_bytes, l2_from)\n",
         repeat > 1 ? " of the first time" : "",
         decimal_ratio(result->input_bytes, 1000000000, 3).text,
         decimal_ratio(result->found_bytes * 100, result->input_bytes, 1).text);
  if (result->measured_ps == 0)
    return;
  bool less = result->simulated_ps < result->measured_ps;
  uint64_t apart = less ? result->measured_ps - result->simulated_ps
                        : result->simulated_ps - result->measured_ps;
  printf("Durations: %s ms simulated, %s ms measured (%s%s %%) in the rows that have both\n",
         decimal_ratio(result->simulated_ps, PS_PER_MS, 3).text,
         decimal_ratio(result->measured_ps, PS_PER_MS, 3).text, less ? "-" : "+",
         decimal_ratio(apart * 100, result->measured_ps, 1).text);
}

static void report_origins(const struct vinci_ops_result *result) {
  static const char *const names[VINCI_OPS_ORIGINS] = {
      [VINCI_OPS_LOWERED] = "lowering", [VINCI_OPS_OF_LIBRARY] = "library"};
  uint64_t simulated = 0, measured = 0;
  for (unsigned i = 0; i < VINCI_OPS_ORIGINS; i++) {
    simulated += result->origins[i].simulated_ps;
    measured += result->origins[i].measured_ps;
  }
  for (unsigned i = VINCI_OPS_ORIGINS; i-- > 0;) {
    const struct vinci_ops_origin *origin = &result->origins[i];
    printf("Programs of the %s: %zu operators, %s ms simulated (%s %%)", names[i], origin->rows,
           decimal_ratio(origin->simulated_ps, PS_PER_MS, 3).text,
           decimal_ratio(origin->simulated_ps * 100, simulated ? simulated : 1, 1).text);
    if (measured > 0)
      printf(", %s ms measured (%s %%)", decimal_ratio(origin->measured_ps, PS_PER_MS, 3).text,
             decimal_ratio(origin->measured_ps * 100, measured, 1).text);
    putchar('\n');
  }
  sheet_line(
      stdout,
      "Attributes that the list does not have are those of the operator's definition; column "
      "program says why a row is lowered that the library has\n");
}

static void report(const struct run_list *list, const struct vinci_ops_result *result) {
  const char *l2 = list->options.overrides.l2;
  if (result->known > 0)
    printf("%zu operators were done by an earlier run of this command\n", result->known);
  sheet_line(stdout, "%zu of %zu operators simulated, %zu unsupported, %zu failed%s%s%s\n",
             result->ok, result->operators, result->unsupported,
             result->failed + result->limited + result->crashed, list->keeps ? ": " : "",
             list->keeps ? list->output : "", list->keeps ? "/op_summary.csv" : "");
  if (result->equal > 0)
    printf("%zu of them ask for the same as one before, whose result they have\n", result->equal);
  if (list->options.results)
    printf("%zu of the others have a result from %s%s\n", result->stored, list->options.results,
           list->options.exact ? ", and were simulated all the same" : "");
  if (list->options.library)
    report_origins(result);
  if (list->options.sequence)
    report_sequence(result, list->options.repeat);
  else if (list->options.repeat > 1)
    sheet_line(stdout,
               "Each time is that of the last of %u launches in a row on a chip whose L2 was empty "
               "before the first\n",
               list->options.repeat);
  else if (l2)
    printf("L2 at the start: %s for all, as asked\n", l2);
  else
    sheet_line(
        stdout,
        "L2 at the start: assumed, by kind of operator, for each row in whatever place (columns "
        "l2_start, l2_owed_bytes%s); --l2=STATE chooses another%s\n",
        list->keeps ? "" : " of --output",
        list->options.interval ? "" : ", --interval gives the range");
  cli_summary("run operators=%zu ok=%zu unsupported=%zu failed=%zu", result->operators, result->ok,
              result->unsupported, result->failed + result->limited + result->crashed);
}

static enum vinci_status simulate(struct run_list *list, struct watching *watching,
                                  struct vinci_ops_result *result, struct vinci_diag *diag) {
  struct vinci_diag ended = {.warn = cli_warn(list->quiet)};
  list->options.progress = watch;
  list->options.progress_context = watching;
  enum vinci_status status =
      vinci_ops_run(list->list, list->output, &list->options, result, &ended);
  if (status == VINCI_E_LIMIT && result->operators > 0 && !list->keeps)
    return diag_error(diag, VINCI_E_LIMIT, "%s; %zu of %zu operators are done", monitor_reason(),
                      result->done, result->operators);
  if (status == VINCI_E_LIMIT && result->operators > 0)
    return diag_error(diag, VINCI_E_LIMIT,
                      "%s; %s/op_summary.csv has %zu of %zu operators, and the same command %s",
                      monitor_reason(), list->output, result->done, result->operators,
                      list->options.sequence ? "starts over" : "goes on from there");
  *diag = ended;
  return status;
}

/* The CSV table of the folder, on standard output. */
static enum vinci_status print_csv(const char *folder, struct vinci_diag *diag) {
  char path[PATH_MAX];
  size_t length;
  snprintf(path, sizeof path, "%.*s/op_summary.csv", PATH_MAX - 32, folder);
  char *text = file_read(path, TABLE_BYTES_MAX, &length, diag);
  if (text)
    fwrite(text, 1, length, stdout);
  free(text);
  return text ? VINCI_OK : diag->status;
}

/* The table goes with the folder, which nobody has asked for. */
static enum vinci_status print_and_remove(const struct run_list *list,
                                          const struct vinci_ops_result *result,
                                          enum vinci_status status, struct vinci_diag *diag) {
  if (result->operators > 0 && !list->quiet && !list->csv) {
    enum vinci_status printed = list_print_table(list->output, status == VINCI_OK ? diag : NULL);
    status = status == VINCI_OK ? printed : status;
    putchar('\n');
  }
  folder_remove(list->output);
  return status;
}

int run_list(struct run_list *list) {
  struct vinci_diag diag = {0};
  struct watching watching = {.list = list};
  struct vinci_ops_result result = {0};
  char folder[PATH_MAX];
  list->keeps = list->output != NULL;
  enum vinci_status status =
      list->keeps ? VINCI_OK : folder_make_temporary("vinci-ops", folder, sizeof folder, &diag);
  if (status != VINCI_OK)
    return cli_fail(&diag);
  if (!list->keeps)
    list->output = folder;
  status = simulate(list, &watching, &result, &diag);
  if (watching.begun)
    monitor_clear(&watching.monitor);
  if (result.operators > 0 && list->csv && status == VINCI_OK)
    status = print_csv(list->output, &diag);
  if (!list->keeps)
    status = print_and_remove(list, &result, status, &diag);
  else if (result.operators > 0 && (status == VINCI_OK || status == VINCI_E_LIMIT))
    cli_keep_command(list->command, list->output);
  if (result.operators > 0 && !list->quiet && !list->csv)
    report(list, &result);
  if (status != VINCI_OK)
    return cli_fail(&diag);
  return vinci_status_exit_code(result.failed > 0    ? VINCI_E_INPUT
                                : result.limited > 0 ? VINCI_E_LIMIT
                                                     : VINCI_OK);
}
