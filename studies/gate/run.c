/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the points of a suite, each in a process of its own, so that a model that breaks on a
 * point is the verdict of that point. A child sends its rows through a file without a name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/pool.h"
#include "studies/files/failure.h"
#include "studies/gate/gate.h"

enum { CHILD_FAILED = 1 };

struct process {
  int file; /* without a name: the rows of its point */
  double start_seconds;
};

struct session {
  struct gate_run *run;
  struct gate_rows *tasks; /* points, as often as they are run */
  struct process process[GATE_JOBS_MAX];
  struct vinci_diag *diag;
  enum vinci_status status;
};

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the child -------------------------------------------------------------------------- */

static bool add_failure(struct gate_rows *rows, const char *point, int exit_code,
                        const char *text) {
  char code[16], kept[1400];
  snprintf(code, sizeof code, "%d", exit_code);
  snprintf(kept, sizeof kept, "%s", text);
  for (char *c = kept; *c; c++)
    *c = (unsigned char)*c < ' ' ? ' ' : *c;
  return gate_rows_add(rows, point, "failure.exit_code", code, "1", "failure") &&
         gate_rows_add(rows, point, "failure.text", kept, "text", "failure");
}

static bool add_diag(struct gate_rows *rows, const char *point, const struct vinci_diag *diag) {
  char text[FAILURE_BYTES];
  failure_text(diag, text, sizeof text);
  return add_failure(rows, point, vinci_status_exit_code(diag->status), text);
}

/* Runs a point and writes its rows. Repetitions shuffle what must not matter. */
static void measure(const struct gate_run *run, size_t task, int file) {
  const struct gate_point *point = &run->suite->points[task % run->suite->count];
  struct gate_rows rows = {0};
  struct vinci_diag diag = {0};
  enum vinci_status status =
      gate_measure(point, run->chips, run->steps, task / run->suite->count, &rows, &diag);
  diag.status = status;
  if (status != VINCI_OK) {
    gate_rows_free(&rows);
    if (!add_diag(&rows, point->name, &diag))
      _exit(CHILD_FAILED);
  }
  gate_rows_sort(&rows);
  FILE *out = fdopen(file, "w");
  if (!out)
    _exit(CHILD_FAILED);
  gate_rows_write(&rows, false, out);
  if (fclose(out) != 0)
    _exit(CHILD_FAILED);
}

static void work(void *context, struct pool_worker *worker) {
  const struct session *session = context;
  for (size_t task; (task = pool_next(worker)) != POOL_NONE;)
    measure(session->run, task, session->process[worker->process].file);
}

/* ---- the parent ------------------------------------------------------------------------- */

static void close_file(void *context, unsigned process) {
  struct session *session = context;
  close(session->process[process].file);
}

static enum vinci_status open_file(void *context, unsigned process) {
  struct session *session = context;
  int file = memfd_create("gate", MFD_CLOEXEC);
  session->process[process] = (struct process){file, now_seconds()};
  return file >= 0 ? VINCI_OK
                   : diag_error(session->diag, VINCI_E_NOMEM, "cannot start a process: %s",
                                strerror(errno));
}

/* Rows of a repetition against those of the first run. */
static bool same_rows(const struct gate_rows *first, const struct gate_rows *again,
                      const char *point) {
  size_t count;
  size_t from = gate_rows_of(first, point, &count);
  if (count != again->count)
    return false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(first->items[from + i].metric, again->items[i].metric) != 0 ||
        strcmp(first->items[from + i].value, again->items[i].value) != 0)
      return false;
  return true;
}

static enum vinci_status read_rows(int file, struct gate_rows *rows, struct vinci_diag *diag) {
  int fd = dup(file);
  FILE *in = fd < 0 || lseek(fd, 0, SEEK_SET) != 0 ? NULL : fdopen(fd, "r");
  if (!in) {
    int error = errno;
    if (fd >= 0)
      close(fd);
    return diag_error(diag, diag_status_of(error), "cannot read what a process wrote: %s",
                      strerror(error));
  }
  enum vinci_status status = gate_rows_parse(rows, in, "rows of a point", false, diag);
  fclose(in);
  return status;
}

static bool append(struct gate_rows *to, const struct gate_rows *from) {
  for (size_t i = 0; i < from->count; i++) {
    const struct gate_row *row = &from->items[i];
    if (!gate_rows_add(to, row->point, row->metric, row->value, row->unit, row->kind))
      return false;
  }
  return true;
}

static void keep_seconds(const struct session *session, unsigned process, size_t task) {
  if (task < session->run->suite->count)
    session->run->seconds[task] = now_seconds() - session->process[process].start_seconds;
}

static void collect(void *context, unsigned process, size_t task) {
  struct session *session = context;
  keep_seconds(session, process, task);
  if (session->status == VINCI_OK)
    session->status =
        read_rows(session->process[process].file, &session->tasks[task], session->diag);
}

static void note_death(void *context, unsigned process, size_t task, int how) {
  struct session *session = context;
  size_t points = session->run->suite->count;
  char text[128] = "the process could not hand over its result";
  keep_seconds(session, process, task);
  if (WIFSIGNALED(how))
    snprintf(text, sizeof text, "the process was ended by signal %d (%s)", WTERMSIG(how),
             strsignal(WTERMSIG(how)));
  if (!add_failure(&session->tasks[task], session->run->suite->points[task % points].name,
                   vinci_status_exit_code(VINCI_E_INTERNAL), text))
    session->status = diag_error(session->diag, VINCI_E_NOMEM, "out of memory");
}

static bool goes_on(void *context) { return ((struct session *)context)->status == VINCI_OK; }

static enum vinci_status run_tasks(struct gate_run *run, struct gate_rows *tasks, size_t count,
                                   struct vinci_diag *diag) {
  struct session session = {.run = run, .tasks = tasks, .diag = diag};
  struct pool pool = {.count = count,
                      .jobs = run->jobs,
                      .one_each = true,
                      .context = &session,
                      .work = work,
                      .prepare = open_file,
                      .ended = collect,
                      .died = note_death,
                      .gone = close_file,
                      .tick = goes_on};
  enum vinci_status status = pool_run(&pool, diag);
  return session.status == VINCI_OK ? status : session.status;
}

enum vinci_status gate_run_all(struct gate_run *run, struct vinci_diag *diag) {
  size_t points = run->suite->count, count = points * run->repeat;
  struct gate_rows *tasks = calloc(count, sizeof *tasks);
  run->differs = calloc(points, sizeof *run->differs);
  run->seconds = calloc(points, sizeof *run->seconds);
  enum vinci_status status = tasks && run->differs && run->seconds
                                 ? VINCI_OK
                                 : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  /* Chips are loaded before there are children, which then share them; what cannot be loaded is
   * the failure of its points. */
  for (size_t i = 0; status == VINCI_OK && i < points; i++) {
    const vinci_soc *chip;
    const char *soc = run->suite->points[i].spec.soc;
    if (!soc || chip_cache_get(run->chips, soc, &chip, NULL) != VINCI_OK)
      continue;
  }
  if (status == VINCI_OK)
    status = run_tasks(run, tasks, count, diag);
  for (size_t i = 0; status == VINCI_OK && i < points; i++)
    if (!append(&run->rows, &tasks[i]))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  gate_rows_sort(&run->rows);
  for (size_t i = points; status == VINCI_OK && i < count; i++)
    if (!same_rows(&run->rows, &tasks[i], run->suite->points[i % points].name))
      run->differs[i % points] = true;
  for (size_t i = 0; tasks && i < count; i++)
    gate_rows_free(&tasks[i]);
  free(tasks);
  return status;
}

void gate_run_free(struct gate_run *run) {
  gate_rows_free(&run->rows);
  free(run->differs);
  free(run->seconds);
}
