/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of operators, one after the other or by several processes. Each row
 * is simulated on a fresh chip; what comes out depends on the row alone, so that op_summary.csv
 * has the same bytes for any number of jobs, and however often the run was ended and made
 * again. A process of the pool leaves its result in memory that all share. The first process
 * alone writes: into the journal at once, into the table in the order of the list. A row its
 * process dies of has failed, and another process goes on; the journal does not know it, so that
 * the same run tries it again.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/pool.h"
#include "studies/ops/passed.h"

/* In memory that the processes share. */
struct board {
  atomic_size_t launched; /* of a sequence: launches that are over, of all repeats */
  atomic_size_t skipped;  /* of a sequence: launches among these that were not simulated again */
  atomic_bool no_memory;  /* of a process, apart from what a row has asked for */
  atomic_size_t running;  /* of a sequence: the row whose launch runs */
  atomic_uint done_permille[OPS_JOBS_MAX]; /* of the row a process works on, by process */
  struct ops_outcome outcome[];
};

/* The run, as the first process sees the run. */
struct session {
  const struct vinci_ops_options *options;
  struct ops_request request;
  struct ops_library library;
  struct arena arena; /* of what is asked for */
  unsigned jobs;
  bool stopped; /* as the caller says */
  uint64_t told_permille;
  struct pool pool;
  struct call_list list;
  struct ops_launches launches; /* of a sequence */
  struct board *board;
  size_t board_bytes;
  struct ops_record *records; /* by row; open until kept, text is NULL once in the table */
  struct ops_equal *equal;    /* by row */
  size_t done, known, copied; /* rows with an end; those of an earlier run, of an equal row */
  size_t stored;              /* whose result was found */
  size_t written;             /* rows in the table */
  size_t ends[OPS_ENDS];
  uint64_t input_bytes, found_bytes, simulated_ps, measured_ps; /* of a sequence */
  struct vinci_ops_origin origins[VINCI_OPS_ORIGINS];
  FILE *table;
  const char *path, *folder;
  struct unread types; /* of results, which operators do not give */
  char table_path[PATH_MAX];
  struct journal journal;
  struct vinci_diag *diag;
  enum vinci_status status;
};

/* ---- what is kept ---- */

/* Whether a rerun may go on where this one ends: the same list, options, chips and model. */
static uint64_t identity_of(struct ops_worker *worker) {
  const struct ops_request *request = worker->request;
  const struct call_list *list = worker->list;
  const char *revision = vinci_model_revision();
  uint64_t numbers[] = {list->count,       request->memory,         request->network,
                        request->l2_given, request->l2_start,       request->spec.max_cycles,
                        request->sequence, request->code_found_ppm, request->code_profile,
                        request->interval, request->repeat};
  uint64_t digest = digest_bytes(DIGEST_SEED, numbers, sizeof numbers);
  digest = digest_bytes(digest, revision, strlen(revision));
  const char *last = NULL;
  uint64_t library = request->library ? ops_library_digest(request->library) : 0;
  digest = digest_bytes(digest, &library, sizeof library);
  for (size_t i = 0; i < list->count; i++) {
    const struct call_row *row = &list->rows[i];
    for (unsigned c = 0; c < CALL_COLUMN_COUNT; c++)
      digest = digest_bytes(digest, row->cell[c], strlen(row->cell[c]) + 1);
    const char *soc = ops_soc_of(request, row);
    if (last && strcmp(soc, last) == 0)
      continue;
    struct vinci_diag diag = {0};
    uint64_t chip = ops_take_soc(worker, soc, &diag) == VINCI_OK ? soc_digest(worker->soc) : 0;
    digest = digest_bytes(digest, &chip, sizeof chip);
    last = soc;
  }
  return digest;
}

static void table_failed(struct session *session) {
  struct diag_position target = {.path = session->table_path};
  if (session->status == VINCI_OK)
    session->status = diag_error_at(session->diag, diag_status_of(errno), target,
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
  if (session->request.sequence || record.row >= session->list.count ||
      session->records[record.row].text) {
    free(record.text);
    return;
  }
  session->records[record.row] = record;
  session->board->outcome[record.row].end = record.end;
  session->board->outcome[record.row].other_type = record.other_type;
  session->ends[record.end]++;
  session->known++;
  session->done++;
}

static void add_up(struct session *session, size_t row) {
  const struct ops_outcome *outcome = &session->board->outcome[row];
  uint64_t weight = session->list.rows[row].weight;
  session->input_bytes += outcome->l2_input_bytes * weight;
  session->found_bytes += outcome->l2_found_bytes * weight;
  if (outcome->end == OPS_OK) {
    struct vinci_ops_origin *origin = &session->origins[outcome->of_library];
    origin->rows++;
    origin->simulated_ps += outcome->times.duration_ps * weight;
    origin->measured_ps += session->list.rows[row].measured_ps * weight;
  }
  if (outcome->end != OPS_OK || session->list.rows[row].measured_ps == 0)
    return;
  session->simulated_ps += outcome->times.duration_ps * weight;
  session->measured_ps += session->list.rows[row].measured_ps * weight;
}

/* A type of a result that is simulated as another one is named once for its operator. */
static void note_type(struct session *session, size_t index) {
  const struct call_row *row = &session->list.rows[index];
  const struct ops_outcome *outcome = &session->board->outcome[index];
  char name[OPS_STATUS_BYTES];
  size_t length;
  if (outcome->end != OPS_OK || outcome->other_type == 0)
    return;
  const char *type = calls_part(row->cell[CALL_OUT_TYPES], outcome->other_type - 1, &length);
  snprintf(name, sizeof name, "%.*s of %.150s", (int)min_u64(length, 60), type,
           row->cell[CALL_TYPE]);
  struct unread_found found = {.kind = UNREAD_TYPE,
                               .at = {session->path, row->line, 0},
                               .name = name,
                               .length = strlen(name)};
  if (!unread_add(&session->types, &session->arena, &found))
    session->status = diag_error(session->diag, VINCI_E_NOMEM, "out of memory for the table");
}

/* Journal, then table. */
static void keep_one(struct session *session, size_t row) {
  const struct ops_outcome *outcome = &session->board->outcome[row];
  struct ops_record *record = &session->records[row];
  size_t length;
  FILE *out = open_memstream(&record->text, &length);
  if (out)
    ops_put_row(out, &session->list.rows[row], outcome, &session->request);
  if (!out || !file_close_text(out, &record->text)) {
    session->status = diag_error(session->diag, VINCI_E_NOMEM, "out of memory for the table");
    return;
  }
  record->row = row;
  record->end = outcome->end;
  record->other_type = outcome->other_type;
  session->ends[outcome->end]++;
  session->done++;
  add_up(session, row);
  if (session->status == VINCI_OK && record->end != OPS_CRASHED && !session->request.sequence)
    session->status = ops_journal_add(&session->journal, record, session->diag);
  write_lines(session);
}

/* A row has ended, and with that row those that ask for the same. */
static void keep_row(struct session *session, size_t row) {
  const struct ops_outcome *outcome = &session->board->outcome[row];
  session->stored += outcome->stored;
  keep_one(session, row);
  for (size_t i = session->equal[row].next; i != OPS_NO_ROW; i = session->equal[i].next) {
    session->board->outcome[i] = *outcome;
    session->copied++;
    keep_one(session, i);
  }
}

/* By launches, as the rows of a loop end together. In thousandths of a row. */
static uint64_t done_of_sequence(const struct session *session) {
  const struct board *board = session->board;
  uint64_t launches = (uint64_t)session->launches.list.count * ops_repeats(&session->request);
  uint64_t done = (uint64_t)board->launched * 1000 + board->done_permille[0];
  return launches == 0 ? 0 : done * session->list.count / launches;
}

/* Whether the run goes on, as far as the caller says. */
static bool tell(void *context) {
  struct session *session = context;
  const struct vinci_ops_options *options = session->options;
  struct vinci_ops_progress progress = {.done_permille = (uint64_t)session->done * 1000,
                                        .known = session->known,
                                        .operators = session->list.count};
  if (session->request.sequence)
    progress.done_permille = done_of_sequence(session);
  else
    for (size_t i = 0; i < OPS_JOBS_MAX; i++)
      progress.done_permille += session->board->done_permille[i];
  /* Counters are read one after the other, while a launch ends. */
  session->told_permille = max_u64(session->told_permille, progress.done_permille);
  progress.done_permille = session->told_permille;
  if (options->progress && !options->progress(options->progress_context, &progress))
    session->stopped = true;
  return session->status == VINCI_OK && !session->stopped;
}

/* ---- processes ---- */

/* Rows that were taken before: their instructions are not run again. */
static bool begin_sequence(struct session *session, struct ops_worker *worker, size_t first,
                           struct ops_passed *passed) {
  struct vinci_diag diag = {0};
  session->board->launched = 0;
  session->board->running = first;
  if (ops_sequence_create(worker, &diag) != VINCI_OK ||
      !ops_launches_pass(worker, &session->launches, session->board->outcome,
                         ops_repeats(&session->request) - 1, passed))
    return false;
  session->board->skipped = passed->skipped;
  return passed->last || ops_launches_skip(worker, &session->launches, first);
}

/* What a process does until there are no more rows, or the run shall end. */
static void work(void *context, struct pool_worker *pool) {
  struct session *session = context;
  struct board *board = session->board;
  bool sequence = session->request.sequence;
  struct ops_worker worker = {.request = &session->request,
                              .list = sequence ? &session->launches.list : &session->list,
                              .row = session->launches.row,
                              .stop = &pool->pool->board->stop,
                              .launched = &board->launched,
                              .running = &board->running,
                              .done_permille = &board->done_permille[pool->process]};
  struct ops_passed passed = {0};
  bool good = !sequence || begin_sequence(session, &worker, pool->held, &passed);
  for (size_t i; good && (i = pool_next(pool)) != POOL_NONE;) {
    struct ops_outcome *outcome = &board->outcome[i];
    if (outcome->end == OPS_OPEN && passed.last)
      *outcome = passed.outcomes[i];
    else if (outcome->end == OPS_OPEN && sequence)
      good = ops_launches_run(&worker, &session->launches, i, board->outcome);
    else if (outcome->end == OPS_OPEN && session->equal[i].first == i)
      ops_run_row(&worker, &session->list.rows[i], outcome);
  }
  board->no_memory |= !good && !*worker.stop;
  free(passed.outcomes);
  ops_sequence_free(worker.sequence);
  ops_drop_soc(&worker);
}

static enum vinci_status prepare(void *context, unsigned process) {
  struct session *session = context;
  session->board->done_permille[process] = 0;
  return VINCI_OK;
}

/* A row is open still that asks for the same as an earlier one, or was not finished. */
static void take_row(void *context, unsigned process, size_t row) {
  struct session *session = context;
  (void)process;
  if (session->records[row].end == OPS_OPEN && session->board->outcome[row].end != OPS_OPEN)
    keep_row(session, row);
}

/* A process that runs a loop of rows holds the first of them. The row that was running has failed,
 * and the others of the loop are run again without it: their number is taken once more. */
static size_t row_of_crash(struct session *session, size_t held) {
  size_t row = session->board->running;
  if (!session->request.sequence || session->records[row].end != OPS_OPEN)
    return held;
  pool_go_back(&session->pool, session->launches.place[held].first);
  return row;
}

static void fail_crashed(void *context, unsigned process, size_t held, int ended) {
  char reason[OPS_STATUS_BYTES];
  struct session *session = context;
  size_t row = row_of_crash(session, held);
  struct ops_outcome *outcome = &session->board->outcome[row];
  (void)process;
  if (session->records[row].end != OPS_OPEN || session->status != VINCI_OK || session->stopped)
    return;
  if (WIFSIGNALED(ended))
    snprintf(reason, sizeof reason, "its process ended by signal %d (%s)", WTERMSIG(ended),
             strsignal(WTERMSIG(ended)));
  else
    snprintf(reason, sizeof reason, "its process ended with exit code %d", WEXITSTATUS(ended));
  *outcome = (struct ops_outcome){0};
  snprintf(outcome->soc, sizeof outcome->soc, "%s",
           ops_soc_of(&session->request, &session->list.rows[row]));
  ops_end_row(outcome, OPS_CRASHED, reason);
  keep_row(session, row);
}

static void work_in_processes(struct session *session) {
  size_t left = session->list.count - session->done;
  session->pool = (struct pool){.count = session->list.count,
                                .jobs = left < session->jobs ? (unsigned)left : session->jobs,
                                .context = session,
                                .work = work,
                                .prepare = prepare,
                                .ended = take_row,
                                .died = fail_crashed,
                                .tick = tell};
  enum vinci_status status = pool_run(&session->pool, session->diag);
  if (session->status == VINCI_OK)
    session->status = status;
  if (session->done == session->list.count || session->status != VINCI_OK || session->stopped)
    return;
  session->status =
      session->board->no_memory
          ? diag_error(session->diag, VINCI_E_NOMEM, "out of memory in a process of this run")
          : diag_error(session->diag, VINCI_E_IO,
                       "the processes of this run end before they take a row; the same command "
                       "goes on");
}

/* ---- the whole ---- */

/* Memory that the processes share, and what is kept of rows. */
static enum vinci_status make_room(struct session *session) {
  size_t count = session->list.count;
  session->board_bytes = sizeof(struct board) + count * sizeof(struct ops_outcome);
  session->board = pool_memory(session->board_bytes);
  session->records = calloc(count, sizeof *session->records);
  return session->board && session->records
             ? VINCI_OK
             : diag_error(session->diag, VINCI_E_NOMEM, "out of memory");
}

/* Rows of a sequence find L2 each in a state of their own. */
static enum vinci_status find_equal(struct session *session, struct ops_worker *worker) {
  size_t count = session->list.count;
  bool *done = calloc(count, sizeof *done);
  session->equal = calloc(count, sizeof *session->equal);
  bool room = done && session->equal;
  for (size_t i = 0; room && i < count; i++)
    done[i] = session->request.sequence || session->records[i].end != OPS_OPEN;
  if (room)
    room = ops_find_equal(worker, done, session->equal);
  free(done);
  if (!room)
    session->status = diag_error(session->diag, VINCI_E_NOMEM, "out of memory");
  return session->status;
}

/* The journal with what it knows, and the table with as much of that as can stand there. */
static enum vinci_status open_files(struct session *session, const char *folder,
                                    uint64_t identity) {
  int length =
      snprintf(session->table_path, sizeof session->table_path, "%s/op_summary.csv", folder);
  if (length < 0 || (size_t)length >= sizeof session->table_path)
    return diag_error(session->diag, VINCI_E_USAGE, "the name of the result folder is too long");
  enum vinci_status status =
      ops_journal_open(&session->journal, folder, identity, keep_known, session, session->diag);
  if (status == VINCI_OK)
    status = folder_remove_command(folder, session->diag);
  if (status != VINCI_OK)
    return status;
  session->table = fopen(session->table_path, "w");
  if (!session->table) {
    table_failed(session);
    return session->status;
  }
  ops_put_header(session->table, &session->request);
  write_lines(session);
  return session->status;
}

/* Which blocks count: those of the profile, or those that the lowering chooses. */
static void choose_blocks(struct session *session, const char *path) {
  struct call_list *list = &session->list;
  char text[PATH_MAX + 128];
  list->as_launched = session->options->profile_blocks;
  if (!list->as_launched) {
    calls_withhold_blocks(list);
    return;
  }
  snprintf(text, sizeof text,
           "%s: warning: the list has no column \"Block Dim\", so that blocks are chosen", path);
  if (!list->has[CALL_BLOCKS])
    diag_warn(session->diag, text);
}

static enum vinci_status begin(struct session *session, const char *list, const char *folder) {
  session->journal.file = -1;
  session->path = list;
  session->folder = folder;
  enum vinci_status status =
      ops_take_options(session->options, &session->arena, &session->request, session->diag);
  if (status == VINCI_OK && session->options->library) {
    status = ops_library_open(&session->library, session->options->library,
                              session->options->overrides.data_dir, session->diag);
    session->request.library = &session->library;
  }
  session->jobs =
      session->request.sequence ? 1 : workload_jobs(session->options->jobs, OPS_JOBS_MAX);
  if (status == VINCI_OK)
    status = folder_make(folder, session->diag);
  if (status == VINCI_OK)
    status = calls_read(list, &session->list, session->diag);
  if (status == VINCI_OK && session->options->device)
    status = calls_keep_device(&session->list, list, session->options->device, session->diag);
  if (status == VINCI_OK)
    choose_blocks(session, list);
  if (status == VINCI_OK)
    status = ops_sequence_check(&session->request, &session->list, list, session->diag);
  if (status == VINCI_OK && session->request.sequence)
    status = ops_launches_create(&session->request, &session->list, list, &session->launches,
                                 session->diag);
  if (status == VINCI_OK)
    status = make_room(session);
  if (status != VINCI_OK)
    return status;
  struct ops_worker chips = {.request = &session->request, .list = &session->list};
  status = open_files(session, folder, identity_of(&chips));
  if (status == VINCI_OK)
    status = find_equal(session, &chips);
  ops_drop_soc(&chips);
  return status;
}

static void fill_result(const struct session *session, struct vinci_ops_result *out) {
  *out = (struct vinci_ops_result){.operators = session->list.count,
                                   .done = session->done,
                                   .known = session->known,
                                   .equal = session->copied,
                                   .stored = session->stored,
                                   .ok = session->ends[OPS_OK],
                                   .unsupported = session->ends[OPS_UNSUPPORTED],
                                   .failed = session->ends[OPS_FAILED],
                                   .limited = session->ends[OPS_LIMIT],
                                   .crashed = session->ends[OPS_CRASHED],
                                   .input_bytes = session->input_bytes,
                                   .found_bytes = session->found_bytes,
                                   .simulated_ps = session->simulated_ps,
                                   .measured_ps = session->measured_ps,
                                   .skipped = session->board->skipped};
  if (session->request.sequence)
    out->launches = session->launches.list.count * ops_repeats(&session->request);
  memcpy(out->origins, session->origins, sizeof out->origins);
}

/* What the caller has to know beside the table. */
static enum vinci_status judge(const struct session *session) {
  size_t count = session->list.count, crashed = session->ends[OPS_CRASHED];
  if (session->done < count)
    return diag_error(session->diag, VINCI_E_LIMIT,
                      "%s has %zu of %zu operators, and the same run %s", session->table_path,
                      session->done, count,
                      session->request.sequence ? "starts over" : "goes on from there");
  if (crashed > 0)
    return diag_error(session->diag, VINCI_E_INTERNAL,
                      "%s %zu %s died, or memory was short; %s says how, and the same command "
                      "tries %s again",
                      crashed == 1 ? "the process of" : "the processes of", crashed,
                      crashed == 1 ? "operator" : "operators", session->table_path,
                      crashed == 1 ? "it" : "them");
  if (session->ends[OPS_UNSUPPORTED] == count)
    return diag_error(session->diag, VINCI_E_INPUT,
                      "no operator of the list can be simulated; %s says why", session->table_path);
  return VINCI_OK;
}

/* Closes the table; a run that was ended leaves what it has, with holes. */
static void finish(struct session *session, struct vinci_ops_result *out) {
  bool complete = session->done == session->list.count;
  for (size_t i = session->written; session->status == VINCI_OK && i < session->list.count; i++)
    if (session->records[i].text)
      write_line(session, i);
  if (fclose(session->table) != 0)
    table_failed(session);
  session->table = NULL;
  journal_close(&session->journal,
                complete && session->status == VINCI_OK && session->ends[OPS_CRASHED] == 0);
  for (size_t i = 0; i < session->list.count; i++) /* in their order, whichever ended first */
    note_type(session, i);
  unread_warn(&session->types, session->diag);
  if (session->status == VINCI_OK) {
    struct ops_summary summary = {&session->list, &session->types, session->ends};
    session->status = ops_write_summary(session->folder, &summary, session->diag);
  }
  if (session->status != VINCI_OK)
    return;
  fill_result(session, out);
  session->status = judge(session);
}

static void free_session(struct session *session) {
  for (size_t i = 0; session->records && i < session->list.count; i++)
    free(session->records[i].text);
  free(session->records);
  free(session->equal);
  if (session->table)
    fclose(session->table);
  if (session->board)
    munmap(session->board, session->board_bytes);
  journal_close(&session->journal, false);
  ops_library_free(&session->library);
  ops_launches_free(&session->launches);
  arena_free(&session->list.arena);
  arena_free(&session->arena);
}

enum vinci_status vinci_ops_run(const char *list, const char *folder,
                                const struct vinci_ops_options *options,
                                struct vinci_ops_result *out, struct vinci_diag *diag) {
  static const struct vinci_ops_options defaults = {.struct_size = sizeof defaults};
  struct session session = {.options = options ? options : &defaults, .diag = diag};
  *out = (struct vinci_ops_result){0};
  session.status = begin(&session, list, folder);
  if (session.status == VINCI_OK) {
    work_in_processes(&session);
    finish(&session, out);
  }
  free_session(&session);
  return session.status;
}
