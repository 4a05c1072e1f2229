/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the points of a suite, each in a process of its own, so that a model that breaks on a
 * point is the verdict of that point. A child sends its rows through a file without a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "studies/gate/gate.h"

enum { CHILD_FAILED = 1 };

struct child {
  pid_t pid; /* 0: none */
  int fd;    /* of its rows */
  int alive; /* the end of a pipe that closes when the process ends */
  size_t task;
  double start_seconds;
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
  char text[1400];
  if (diag->path[0] && diag->line > 0)
    snprintf(text, sizeof text, "%s:%lu: %s", diag->path, diag->line, diag->text);
  else
    snprintf(text, sizeof text, "%s%s%s", diag->path, diag->path[0] ? ": " : "", diag->text);
  return add_failure(rows, point, vinci_status_exit_code(diag->status), text);
}

/* Runs a point and writes its rows. Repetitions shuffle what must not matter. */
static _Noreturn void measure(const struct gate_run *run, size_t task, int fd) {
  const struct gate_point *point = &run->suite->points[task % run->suite->count];
  struct gate_rows rows = {0};
  struct vinci_diag diag = {0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  enum vinci_status status =
      gate_measure(point, run->chips, task / run->suite->count, &rows, &diag);
  diag.status = status;
  if (status != VINCI_OK) {
    gate_rows_free(&rows);
    if (!add_diag(&rows, point->name, &diag))
      _exit(CHILD_FAILED);
  }
  gate_rows_sort(&rows);
  FILE *out = fdopen(fd, "w");
  if (!out)
    _exit(CHILD_FAILED);
  gate_rows_write(&rows, false, out);
  _exit(fclose(out) == 0 ? 0 : CHILD_FAILED);
}

/* ---- the parent ------------------------------------------------------------------------- */

static void close_child(struct child *child) {
  if (child->fd >= 0)
    close(child->fd);
  if (child->alive >= 0)
    close(child->alive);
  child->pid = 0;
}

static enum vinci_status start(const struct gate_run *run, struct child *child, size_t task,
                               struct vinci_diag *diag) {
  int pipes[2] = {-1, -1};
  child->fd = memfd_create("gate", MFD_CLOEXEC);
  child->task = task;
  child->start_seconds = now_seconds();
  bool opened = child->fd >= 0 && pipe2(pipes, O_CLOEXEC) == 0;
  child->alive = pipes[0];
  child->pid = opened ? fork() : -1;
  if (child->pid == 0)
    measure(run, task, child->fd);
  int error = errno;
  if (opened)
    close(pipes[1]);
  if (child->pid > 0)
    return VINCI_OK;
  close_child(child);
  return diag_error(diag, VINCI_E_NOMEM, "cannot start a process: %s", strerror(error));
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

static enum vinci_status read_child(const struct child *child, struct gate_rows *rows,
                                    struct vinci_diag *diag) {
  int fd = dup(child->fd);
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

/* What a child that has ended leaves behind. */
static enum vinci_status collect(struct gate_run *run, struct gate_rows *tasks, struct child *child,
                                 int status, struct vinci_diag *diag) {
  size_t point = child->task % run->suite->count;
  const char *name = run->suite->points[point].name;
  char text[128];
  if (child->task < run->suite->count)
    run->seconds[point] = now_seconds() - child->start_seconds;
  struct gate_rows *rows = &tasks[child->task];
  enum vinci_status result = VINCI_OK;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    result = read_child(child, rows, diag);
  } else {
    if (WIFSIGNALED(status))
      snprintf(text, sizeof text, "the process was ended by signal %d (%s)", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
      snprintf(text, sizeof text, "the process could not hand over its result");
    if (!add_failure(rows, name, vinci_status_exit_code(VINCI_E_INTERNAL), text))
      result = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  close_child(child);
  return result;
}

static struct child *find_idle(struct child *children, unsigned jobs) {
  for (unsigned i = 0; i < jobs; i++)
    if (children[i].pid == 0)
      return &children[i];
  return NULL;
}

/* Waits for the end of one of our processes; others of the caller's are not ours to wait for. */
static struct child *wait_for_child(struct child *children, unsigned jobs, int *ended) {
  struct pollfd ends[GATE_JOBS_MAX];
  for (unsigned i = 0; i < jobs; i++)
    ends[i] = (struct pollfd){.fd = children[i].pid ? children[i].alive : -1};
  if (poll(ends, jobs, -1) <= 0)
    return NULL;
  for (unsigned i = 0; i < jobs; i++) {
    if (ends[i].revents == 0)
      continue;
    pid_t waited = waitpid(children[i].pid, ended, 0);
    /* Where the caller ignores SIGCHLD there is no status, and the rows have to speak. */
    if (waited < 0 && errno == ECHILD)
      *ended = 0;
    if (waited == children[i].pid || (waited < 0 && errno == ECHILD))
      return &children[i];
  }
  return NULL;
}

static enum vinci_status run_tasks(struct gate_run *run, struct gate_rows *tasks, size_t count,
                                   struct vinci_diag *diag) {
  struct child children[GATE_JOBS_MAX] = {0};
  enum vinci_status status = VINCI_OK;
  size_t started = 0;
  unsigned alive = 0;
  while (alive > 0 || (status == VINCI_OK && started < count)) {
    struct child *idle = find_idle(children, run->jobs);
    if (status == VINCI_OK && started < count && idle) {
      status = start(run, idle, started++, diag);
      alive += status == VINCI_OK;
      continue;
    }
    int ended;
    struct child *child = wait_for_child(children, run->jobs, &ended);
    if (!child)
      continue;
    enum vinci_status collected = collect(run, tasks, child, ended, diag);
    status = status == VINCI_OK ? collected : status;
    alive--;
  }
  return status;
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
