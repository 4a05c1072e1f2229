/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci run --ops: the operators of a list, one after the other or by several processes. Each row
 * is simulated on a fresh chip; what comes out depends on the row alone, so that op_summary.csv
 * has the same bytes for any number of jobs. A process takes the next row from a counter in memory
 * that all share, and leaves its result there.
 */
#include "cli/run_ops.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/diag.h"
#include "core/program.h"
#include "traces/export/export.h"
#include "traces/lower/calls.h"

enum { OP_STATUS_BYTES = 240, OP_ARGS_BYTES = 512, JOBS_MAX = 256 };

/* What is known of a row after its run. */
struct outcome {
  bool done;
  bool simulated;
  char status[OP_STATUS_BYTES]; /* "ok", "unsupported: reason", "failed: reason" */
  char soc[64];
  char args[OP_ARGS_BYTES]; /* "matmul m=4 ..." */
  struct call_times times;
};

/* In memory that the processes share. */
struct board {
  atomic_size_t next;
  struct outcome outcome[];
};

struct worker {
  const struct run_ops *options;
  const struct call_list *list;
  vinci_soc *soc;
  char soc_name[64];
};

/* ---- one row ---- */

static enum vinci_status take_soc(struct worker *worker, const char *name,
                                  struct vinci_diag *diag) {
  if (worker->soc && strcmp(worker->soc_name, name) == 0)
    return VINCI_OK;
  vinci_soc_free(worker->soc);
  worker->soc = NULL;
  snprintf(worker->soc_name, sizeof worker->soc_name, "%s", name);
  return cli_load_soc(*name ? name : NULL, worker->options->data, worker->options->sets,
                      &worker->soc, diag);
}

static void keep_args(const struct call_request *request, struct outcome *outcome) {
  size_t used = (size_t)snprintf(outcome->args, sizeof outcome->args, "%s", request->op->name);
  for (size_t i = 0; i < request->arg_count && used < sizeof outcome->args; i++)
    used += (size_t)snprintf(outcome->args + used, sizeof outcome->args - used, " %s",
                             request->args[i]);
}

static enum vinci_status simulate(const struct worker *worker, const struct call_row *row,
                                  const struct call_request *request, struct outcome *outcome,
                                  struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = worker->options->memory,
                                      .network = worker->options->network,
                                      .l2_start = worker->options->l2_given
                                                      ? worker->options->l2_start
                                                      : calls_l2_start(row, request)};
  enum vinci_status status = vinci_compile(worker->soc, request->op->name, request->args,
                                           request->arg_count, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(worker->soc, trace, &options, &result, diag);
  if (status == VINCI_OK)
    calls_times(result, &outcome->times);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

static void run_row(struct worker *worker, const struct call_row *row, struct outcome *outcome) {
  struct vinci_diag diag = {0};
  struct arena arena = {0};
  struct call_request request = {0};
  const char *soc = *row->cell[CALL_SOC] ? row->cell[CALL_SOC] : worker->options->soc;
  snprintf(outcome->soc, sizeof outcome->soc, "%s", soc ? soc : "");
  if (take_soc(worker, soc ? soc : "", &diag) != VINCI_OK) {
    snprintf(outcome->status, sizeof outcome->status, "failed: %.200s", diag.text);
  } else if (!calls_resolve(worker->list, row, worker->soc, &arena, &request)) {
    snprintf(outcome->status, sizeof outcome->status, "unsupported: %.200s", request.reason);
  } else {
    keep_args(&request, outcome);
    enum vinci_status status = simulate(worker, row, &request, outcome, &diag);
    outcome->simulated = status == VINCI_OK;
    snprintf(outcome->status, sizeof outcome->status, "%s%.200s",
             status == VINCI_OK        ? "ok"
             : status == VINCI_E_USAGE ? "unsupported: "
                                       : "failed: ",
             status == VINCI_OK ? "" : diag.text);
  }
  arena_free(&arena);
  outcome->done = true;
}

static void work(const struct run_ops *options, const struct call_list *list, struct board *board) {
  struct worker worker = {.options = options, .list = list};
  for (size_t i; (i = atomic_fetch_add(&board->next, 1)) < list->count;)
    run_row(&worker, &list->rows[i], &board->outcome[i]);
  vinci_soc_free(worker.soc);
}

/* ---- processes ---- */

static enum vinci_status work_in_processes(const struct run_ops *options,
                                           const struct call_list *list, struct board *board,
                                           struct vinci_diag *diag) {
  pid_t children[JOBS_MAX];
  size_t count = 0;
  fflush(NULL);
  for (; count < options->jobs && count < JOBS_MAX; count++) {
    children[count] = fork();
    if (children[count] == 0) {
      work(options, list, board);
      _exit(0);
    }
    if (children[count] < 0)
      break;
  }
  if (count == 0)
    return diag_error(diag, VINCI_E_IO, "cannot start a process: %s", strerror(errno));
  for (size_t i = 0; i < count; i++)
    while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
      ;
  for (size_t i = 0; i < list->count; i++)
    if (!board->outcome[i].done)
      snprintf(board->outcome[i].status, OP_STATUS_BYTES, "failed: its process ended early");
  return VINCI_OK;
}

/* ---- the table ---- */

static void put_text(FILE *out, const char *text) {
  bool quoted = strpbrk(text, ",\"\n\r") != NULL;
  fputs(quoted ? "\"" : "", out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc(*text, out);
  }
  fputs(quoted ? "\"," : ",", out);
}

static void put_us(FILE *out, const struct outcome *outcome, uint64_t ps) {
  if (outcome->simulated)
    fputs(decimal_ratio(ps, PS_PER_SECOND / 1000000, 3).text, out);
  else
    fputs("N/A", out);
  fputc(',', out);
}

static void put_ratio(FILE *out, const struct outcome *outcome, uint64_t part, uint64_t whole) {
  if (outcome->simulated && whole > 0)
    fputs(decimal_ratio(part, whole, 3).text, out);
  else
    fputs("N/A", out);
  fputc(',', out);
}

static void put_measured(FILE *out, uint64_t ps) {
  if (ps > 0)
    fputs(decimal_ratio(ps, PS_PER_SECOND / 1000000, 3).text, out);
  fputc(',', out);
}

/* (simulated - measured) / measured, signed. */
static void put_error(FILE *out, const struct outcome *outcome, uint64_t simulated,
                      uint64_t measured, char end) {
  if (outcome->simulated && measured > 0 && simulated > 0) {
    bool less = simulated < measured;
    fprintf(out, "%s%s", less ? "-" : "",
            decimal_ratio(less ? measured - simulated : simulated - measured, measured, 4).text);
  }
  fputc(end, out);
}

static const enum pipe table_pipes[] = {PIPE_M,    PIPE_V,    PIPE_S,  PIPE_MTE1,
                                        PIPE_MTE2, PIPE_MTE3, PIPE_FIX};
static const char *const table_names[] = {"mac",  "vec",  "scalar", "mte1",
                                          "mte2", "mte3", "fixpipe"};
enum { TABLE_PIPES = sizeof table_pipes / sizeof *table_pipes };

static void put_header(FILE *out) {
  fputs("Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types,"
        "Input Formats,Output Shapes,Output Data Types,Output Formats,aicore_time(us)",
        out);
  for (unsigned i = 0; i < TABLE_PIPES; i++)
    fprintf(out, ",%s_time(us),%s_ratio", table_names[i], table_names[i]);
  fputs(",status,sim_duration_us,sim_mac_us,sim_vec_us,sim_mte2_us,measured_duration_us,"
        "duration_error,measured_mac_us,mac_error,soc,lowered\n",
        out);
}

static void put_row(FILE *out, const struct call_row *row, const struct outcome *outcome) {
  static const enum call_column texts[] = {CALL_IN_SHAPES,  CALL_IN_TYPES,  CALL_IN_FORMATS,
                                           CALL_OUT_SHAPES, CALL_OUT_TYPES, CALL_OUT_FORMATS};
  const struct call_times *times = &outcome->times;
  put_text(out, *row->cell[CALL_NAME] ? row->cell[CALL_NAME] : row->cell[CALL_TYPE]);
  put_text(out, row->cell[CALL_TYPE]);
  put_text(out, row->cell[CALL_CORE]);
  put_us(out, outcome, times->duration_ps);
  if (outcome->simulated)
    fprintf(out, "%u", times->blocks);
  fputc(',', out);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    put_text(out, row->cell[texts[i]]);
  put_us(out, outcome, times->core_ps);
  for (unsigned i = 0; i < TABLE_PIPES; i++) {
    put_us(out, outcome, times->pipe_ps[table_pipes[i]]);
    put_ratio(out, outcome, times->pipe_ps[table_pipes[i]], times->core_ps);
  }
  put_text(out, outcome->status);
  put_us(out, outcome, times->duration_ps);
  put_us(out, outcome, times->pipe_ps[PIPE_M]);
  put_us(out, outcome, times->pipe_ps[PIPE_V]);
  put_us(out, outcome, times->pipe_ps[PIPE_MTE2]);
  put_measured(out, row->measured_ps);
  put_error(out, outcome, times->duration_ps, row->measured_ps, ',');
  put_measured(out, row->measured_mac_ps);
  put_error(out, outcome, times->pipe_ps[PIPE_M], row->measured_mac_ps, ',');
  put_text(out, outcome->soc);
  fprintf(out, "%s\n", outcome->args);
}

static enum vinci_status write_table(const struct run_ops *options, const struct call_list *list,
                                     const struct board *board, struct vinci_diag *diag) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/op_summary.csv", options->output);
  struct diag_position target = {.path = path};
  FILE *out = fopen(path, "w");
  if (!out)
    return diag_error_at(diag, VINCI_E_IO, target, "cannot write the table: %s", strerror(errno));
  put_header(out);
  for (size_t i = 0; i < list->count; i++)
    put_row(out, &list->rows[i], &board->outcome[i]);
  bool failed = ferror(out) != 0;
  failed |= fclose(out) != 0;
  if (failed)
    return diag_error_at(diag, VINCI_E_IO, target, "cannot write the table");
  return VINCI_OK;
}

/* ---- the whole ---- */

static void report(const struct run_ops *options, const struct call_list *list,
                   const struct board *board) {
  size_t ok = 0, unsupported = 0;
  for (size_t i = 0; i < list->count; i++) {
    ok += board->outcome[i].simulated;
    unsupported += strncmp(board->outcome[i].status, "unsupported", 11) == 0;
  }
  if (!options->quiet)
    printf("%zu of %zu operators simulated, %zu unsupported, %zu failed: %s/op_summary.csv\n", ok,
           list->count, unsupported, list->count - ok - unsupported, options->output);
}

static bool any_failed(const struct call_list *list, const struct board *board) {
  for (size_t i = 0; i < list->count; i++)
    if (strncmp(board->outcome[i].status, "failed", 6) == 0)
      return true;
  return false;
}

int run_ops(const struct run_ops *options) {
  struct vinci_diag diag = {0};
  struct call_list list = {0};
  enum vinci_status status = options->output
                                 ? export_make_folder(options->output, &diag)
                                 : diag_error(&diag, VINCI_E_USAGE, "--ops needs --output=DIR");
  if (status == VINCI_OK)
    status = calls_read(options->list, &list, &diag);
  if (status != VINCI_OK)
    return cli_fail(&diag);
  size_t bytes = sizeof(struct board) + list.count * sizeof(struct outcome);
  struct board *board =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (board == MAP_FAILED) {
    arena_free(&list.arena);
    (void)diag_error(&diag, VINCI_E_NOMEM, "out of memory");
    return cli_fail(&diag);
  }
  if (options->jobs > 1)
    status = work_in_processes(options, &list, board, &diag);
  else
    work(options, &list, board);
  if (status == VINCI_OK)
    status = write_table(options, &list, board, &diag);
  bool failed = false;
  if (status == VINCI_OK) {
    report(options, &list, board);
    failed = any_failed(&list, board);
  }
  munmap(board, bytes);
  arena_free(&list.arena);
  if (status != VINCI_OK)
    return cli_fail(&diag);
  return failed ? vinci_status_exit_code(VINCI_E_INPUT) : 0;
}
