/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci run --ops: the operators of a list, one after the other or by several processes. Each row
 * is simulated on a fresh chip; what comes out depends on the row alone, so that op_summary.csv
 * has the same bytes for any number of jobs, and however often the command was ended and given
 * again. A process takes the next row from a counter in memory that all share, leaves its result
 * there and tells the first process, which alone writes: into the journal at once, into the table
 * in the order of the list.
 */
#include "cli/run_ops.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/monitor.h"
#include "cli/ops.h"
#include "core/diag.h"
#include "core/digest.h"
#include "core/program.h"
#include "traces/export/export.h"

enum { JOBS_MAX = 256, POLL_MS = 200 };

/* In memory that the processes share. */
struct board {
  atomic_size_t next;
  struct ops_outcome outcome[];
};

/* The run as the first process sees it. */
struct session {
  const struct run_ops *options;
  struct call_list list;
  struct board *board;
  size_t board_bytes;
  struct ops_record *records; /* by row; text is NULL once it is in the table */
  size_t done, known;         /* rows with an end; those of an earlier run */
  size_t written;             /* rows in the table */
  size_t ends[OPS_ENDS];
  FILE *table;
  char table_path[PATH_MAX];
  struct ops_journal journal;
  struct monitor monitor;
  struct vinci_diag diag;
  enum vinci_status status;
};

/* What a process needs to simulate rows. */
struct worker {
  const struct run_ops *options;
  const struct call_list *list;
  struct monitor *monitor;
  vinci_soc *soc;
  char soc_name[OPS_SOC_BYTES];
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

static const char *soc_of(const struct run_ops *options, const struct call_row *row) {
  if (*row->cell[CALL_SOC])
    return row->cell[CALL_SOC];
  return options->soc ? options->soc : "";
}

static void keep_args(const struct call_request *request, struct ops_outcome *outcome) {
  size_t used = (size_t)snprintf(outcome->args, sizeof outcome->args, "%s", request->op->name);
  for (size_t i = 0; i < request->arg_count && used < sizeof outcome->args; i++)
    used += (size_t)snprintf(outcome->args + used, sizeof outcome->args - used, " %s",
                             request->args[i]);
}

/* The line of progress is the first process's business. */
static bool goes_on(void *context, uint64_t cycles, unsigned done_permille) {
  (void)cycles;
  (void)done_permille;
  return monitor_goes_on(context);
}

static enum vinci_status simulate(const struct worker *worker, const struct call_row *row,
                                  const struct call_request *request, struct ops_outcome *outcome,
                                  struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .max_cycles = worker->options->max_cycles,
                                      .progress = goes_on,
                                      .progress_context = worker->monitor,
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

static void end_row(struct ops_outcome *outcome, enum ops_end end, const char *reason) {
  static const char *const words[OPS_ENDS] = {
      [OPS_OK] = "ok", [OPS_UNSUPPORTED] = "unsupported: ", [OPS_FAILED] = "failed: "};
  outcome->end = end;
  snprintf(outcome->status, sizeof outcome->status, "%s%.200s", words[end], reason);
}

/* Leaves the row open when the run shall end. */
static void run_row(struct worker *worker, const struct call_row *row,
                    struct ops_outcome *outcome) {
  struct vinci_diag diag = {0};
  struct arena arena = {0};
  struct call_request request = {0};
  const char *soc = soc_of(worker->options, row);
  snprintf(outcome->soc, sizeof outcome->soc, "%s", soc);
  if (take_soc(worker, soc, &diag) != VINCI_OK) {
    end_row(outcome, OPS_FAILED, diag.text);
  } else if (!calls_resolve(worker->list, row, worker->soc, &arena, &request)) {
    end_row(outcome, OPS_UNSUPPORTED, request.reason);
  } else {
    keep_args(&request, outcome);
    enum vinci_status status = simulate(worker, row, &request, outcome, &diag);
    if (status == VINCI_OK)
      end_row(outcome, OPS_OK, "");
    else if (status != VINCI_E_LIMIT || monitor_goes_on(worker->monitor))
      end_row(outcome, status == VINCI_E_USAGE ? OPS_UNSUPPORTED : OPS_FAILED, diag.text);
  }
  arena_free(&arena);
}

/* ---- what is kept ---- */

/* Whether a rerun may go on where this one ends: the same list, options, chips and model. */
static uint64_t identity_of(const struct run_ops *options, const struct call_list *list) {
  const char *revision = vinci_model_revision();
  uint64_t numbers[] = {list->count,       options->memory,   options->network,
                        options->l2_given, options->l2_start, options->max_cycles};
  uint64_t digest = digest_bytes(DIGEST_SEED, numbers, sizeof numbers);
  digest = digest_bytes(digest, revision, strlen(revision));
  struct worker worker = {.options = options, .list = list};
  const char *last = NULL;
  for (size_t i = 0; i < list->count; i++) {
    const struct call_row *row = &list->rows[i];
    for (unsigned c = 0; c < CALL_COLUMN_COUNT; c++)
      digest = digest_bytes(digest, row->cell[c], strlen(row->cell[c]) + 1);
    const char *soc = soc_of(options, row);
    if (last && strcmp(soc, last) == 0)
      continue;
    struct vinci_diag diag = {0};
    uint64_t chip = take_soc(&worker, soc, &diag) == VINCI_OK ? soc_digest(worker.soc) : 0;
    digest = digest_bytes(digest, &chip, sizeof chip);
    last = soc;
  }
  vinci_soc_free(worker.soc);
  return digest;
}

static void table_failed(struct session *session) {
  struct diag_position target = {.path = session->table_path};
  if (session->status == VINCI_OK)
    session->status = diag_error_at(&session->diag, VINCI_E_IO, target,
                                    "cannot write the table: %s", strerror(errno));
}

static void write_line(struct session *session, size_t row) {
  struct ops_record *record = &session->records[row];
  fputs(record->text, session->table);
  free(record->text);
  record->text = NULL;
}

/* What the table can have by now: all rows up to the first that is open. */
static void write_lines(struct session *session) {
  size_t before = session->written;
  while (session->written < session->list.count && session->records[session->written].text)
    write_line(session, session->written++);
  if (session->written > before && (fflush(session->table) != 0 || ferror(session->table)))
    table_failed(session);
}

static void keep_known(void *context, struct ops_record record) {
  struct session *session = context;
  if (record.row >= session->list.count || session->records[record.row].text) {
    free(record.text);
    return;
  }
  session->records[record.row] = record;
  session->board->outcome[record.row].end = record.end;
  session->ends[record.end]++;
  session->known++;
  session->done++;
}

/* A row has ended: journal, then table. */
static void keep_row(struct session *session, size_t row) {
  const struct ops_outcome *outcome = &session->board->outcome[row];
  struct ops_record *record = &session->records[row];
  size_t length;
  FILE *out = open_memstream(&record->text, &length);
  if (out)
    ops_put_row(out, &session->list.rows[row], outcome);
  if (!out || fclose(out) != 0) {
    session->status = diag_error(&session->diag, VINCI_E_NOMEM, "out of memory for the table");
    return;
  }
  record->row = row;
  record->end = outcome->end;
  session->ends[outcome->end]++;
  session->done++;
  if (session->status == VINCI_OK)
    session->status = ops_journal_add(&session->journal, record, &session->diag);
  write_lines(session);
}

static bool show_progress(struct session *session) {
  return session->status == VINCI_OK &&
         monitor_items(&session->monitor, session->done, session->known, session->list.count);
}

/* ---- by one process, or several ---- */

static void work_alone(struct session *session) {
  struct worker worker = {
      .options = session->options, .list = &session->list, .monitor = &session->monitor};
  for (size_t i = 0; i < session->list.count && show_progress(session); i++) {
    if (session->board->outcome[i].end != OPS_OPEN)
      continue;
    run_row(&worker, &session->list.rows[i], &session->board->outcome[i]);
    if (session->board->outcome[i].end != OPS_OPEN)
      keep_row(session, i);
  }
  vinci_soc_free(worker.soc);
}

/* A process of several; ends when nobody reads any more. */
static void work_as_one(struct session *session, int tell) {
  struct worker worker = {
      .options = session->options, .list = &session->list, .monitor = &session->monitor};
  session->monitor.terminal = false;
  for (size_t i; (i = atomic_fetch_add(&session->board->next, 1)) < session->list.count;) {
    struct ops_outcome *outcome = &session->board->outcome[i];
    if (outcome->end != OPS_OPEN)
      continue;
    if (!monitor_goes_on(&session->monitor))
      break;
    run_row(&worker, &session->list.rows[i], outcome);
    if (outcome->end != OPS_OPEN && write(tell, &i, sizeof i) != (ssize_t)sizeof i)
      break;
  }
  vinci_soc_free(worker.soc);
}

static size_t start_processes(struct session *session, pid_t *children, int ends[2]) {
  size_t count = 0;
  fflush(NULL);
  for (; count < session->options->jobs && count < JOBS_MAX; count++) {
    children[count] = fork();
    if (children[count] == 0) {
      close(ends[0]);
      work_as_one(session, ends[1]);
      _exit(0);
    }
    if (children[count] < 0)
      break;
  }
  close(ends[1]);
  return count;
}

/* Takes rows as they end, until all processes have. */
static void listen(struct session *session, const pid_t *children, size_t count, int from) {
  struct pollfd wanted = {.fd = from, .events = POLLIN};
  bool told = false;
  for (;;) {
    if (!show_progress(session) && !told) {
      for (size_t i = 0; i < count; i++)
        kill(children[i], SIGTERM);
      told = true;
    }
    size_t row;
    int ready = poll(&wanted, 1, POLL_MS);
    if (ready == 0 || (ready < 0 && errno == EINTR))
      continue;
    ssize_t got = ready < 0 ? -1 : read(from, &row, sizeof row);
    if (got == (ssize_t)sizeof row)
      keep_row(session, row);
    else if (got >= 0 || errno != EINTR)
      return;
  }
}

static void work_in_processes(struct session *session) {
  pid_t children[JOBS_MAX];
  int ends[2];
  if (pipe(ends) != 0) {
    session->status =
        diag_error(&session->diag, VINCI_E_IO, "cannot start processes: %s", strerror(errno));
    return;
  }
  size_t count = start_processes(session, children, ends);
  if (count == 0)
    session->status =
        diag_error(&session->diag, VINCI_E_IO, "cannot start a process: %s", strerror(errno));
  else
    listen(session, children, count, ends[0]);
  close(ends[0]);
  for (size_t i = 0; i < count; i++)
    while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
      ;
  if (session->status != VINCI_OK || !monitor_goes_on(&session->monitor))
    return;
  for (size_t i = 0; i < session->list.count; i++) {
    if (session->board->outcome[i].end != OPS_OPEN)
      continue;
    end_row(&session->board->outcome[i], OPS_FAILED, "its process ended early");
    keep_row(session, i);
  }
}

/* ---- the whole ---- */

static enum vinci_status begin(struct session *session) {
  const struct run_ops *options = session->options;
  session->journal.file = -1;
  enum vinci_status status =
      options->output ? export_make_folder(options->output, &session->diag)
                      : diag_error(&session->diag, VINCI_E_USAGE, "--ops needs --output=DIR");
  if (status == VINCI_OK)
    status = calls_read(options->list, &session->list, &session->diag);
  if (status != VINCI_OK)
    return status;
  size_t count = session->list.count;
  session->board_bytes = sizeof(struct board) + count * sizeof(struct ops_outcome);
  void *shared =
      mmap(NULL, session->board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  session->board = shared == MAP_FAILED ? NULL : shared;
  session->records = calloc(count, sizeof *session->records);
  if (!session->board || !session->records)
    return diag_error(&session->diag, VINCI_E_NOMEM, "out of memory");
  int length = snprintf(session->table_path, sizeof session->table_path, "%s/op_summary.csv",
                        options->output);
  if (length < 0 || (size_t)length >= sizeof session->table_path)
    return diag_error(&session->diag, VINCI_E_USAGE, "the name of the result folder is too long");
  status =
      ops_journal_open(&session->journal, options->output, identity_of(options, &session->list),
                       keep_known, session, &session->diag);
  if (status != VINCI_OK)
    return status;
  session->table = fopen(session->table_path, "w");
  if (!session->table) {
    table_failed(session);
    return session->status;
  }
  ops_put_header(session->table);
  write_lines(session);
  return session->status;
}

static void report(const struct session *session) {
  if (session->options->quiet)
    return;
  if (session->known > 0)
    printf("%zu operators were done by an earlier run of this command\n", session->known);
  printf("%zu of %zu operators simulated, %zu unsupported, %zu failed: %s\n", session->ends[OPS_OK],
         session->list.count, session->ends[OPS_UNSUPPORTED], session->ends[OPS_FAILED],
         session->table_path);
}

/* Closes the table; a run that was ended leaves what it has, with holes. */
static void finish(struct session *session) {
  bool complete = session->done == session->list.count;
  monitor_clear(&session->monitor);
  for (size_t i = session->written; session->status == VINCI_OK && i < session->list.count; i++)
    if (session->records[i].text)
      write_line(session, i);
  if (fclose(session->table) != 0)
    table_failed(session);
  session->table = NULL;
  ops_journal_close(&session->journal, complete && session->status == VINCI_OK);
  if (session->status != VINCI_OK)
    return;
  report(session);
  if (complete && session->ends[OPS_UNSUPPORTED] == session->list.count)
    session->status =
        diag_error(&session->diag, VINCI_E_INPUT,
                   "no operator of the list can be simulated; %s says why", session->table_path);
  if (!complete)
    session->status =
        diag_error(&session->diag, VINCI_E_LIMIT,
                   "%s; %s has %zu of %zu operators, and the same command goes on from there",
                   monitor_reason(), session->table_path, session->done, session->list.count);
}

static void free_session(struct session *session) {
  for (size_t i = 0; session->records && i < session->list.count; i++)
    free(session->records[i].text);
  free(session->records);
  if (session->table)
    fclose(session->table);
  if (session->board)
    munmap(session->board, session->board_bytes);
  ops_journal_close(&session->journal, false);
  arena_free(&session->list.arena);
}

int run_ops(const struct run_ops *options) {
  struct session session = {.options = options};
  session.status = begin(&session);
  if (session.status == VINCI_OK) {
    monitor_catch_interrupt();
    monitor_start(&session.monitor, options->list, options->timeout_minutes, options->quiet);
    if (options->jobs > 1)
      work_in_processes(&session);
    else
      work_alone(&session);
    finish(&session);
  }
  bool failed = session.ends[OPS_FAILED] > 0;
  int code = session.status != VINCI_OK ? cli_fail(&session.diag)
             : failed                   ? vinci_status_exit_code(VINCI_E_INPUT)
                                        : 0;
  free_session(&session);
  return code;
}
