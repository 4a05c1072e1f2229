/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: forked workers that take points by index from memory they share, run them with
 * the chips the parent has loaded, and append to a journal each. The parent shows progress,
 * passes on Ctrl-C, and replaces workers that die; the point one died of becomes a record.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/sweep.h"
#include "core/diag.h"

enum { NO_POINT = -1, WORKER_IO = 3, TICK_NS = 200000000 };

/* Shared by the parent and all workers. */
struct board {
  _Atomic size_t next;
  _Atomic size_t done;
  _Atomic size_t failed;
  _Atomic bool stop;
  _Atomic int64_t running[SWEEP_JOBS_MAX]; /* index into todo, by worker */
};

struct parent {
  struct sweep_pool *pool;
  struct board *board;
  pid_t workers[SWEEP_JOBS_MAX];
  unsigned alive;
  sigset_t signals;
  double start_seconds;
  double shown_seconds;
  bool terminal;
  bool shown;
  struct sweep_journal crashes;
  bool journal_failed;
};

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- a worker -------------------------------------------------------------------------- */

static bool stopped(void *context) { return ((struct board *)context)->stop; }

static _Noreturn void work(const struct sweep_pool *pool, struct board *board, unsigned worker) {
  char name[128], cells[SWEEP_RECORD_MAX];
  struct sweep_journal journal;
  snprintf(name, sizeof name, "%s-%u", pool->shard, worker);
  if (sweep_journal_open(&journal, pool->folder, name, NULL) != VINCI_OK)
    _exit(WORKER_IO);
  while (!board->stop) {
    size_t index = atomic_fetch_add(&board->next, 1);
    if (index >= pool->todo_count)
      break;
    size_t point = pool->todo[index];
    board->running[worker] = (int64_t)index;
    if (!sweep_run_point(pool->study, pool->chips, point, stopped, board, cells, sizeof cells))
      break;
    if (!sweep_journal_add(&journal, pool->study->ids[point], cells))
      _exit(WORKER_IO);
    board->running[worker] = NO_POINT;
    board->failed += strncmp(cells, "ok,", 3) != 0;
    board->done++;
  }
  sweep_journal_close(&journal);
  _exit(0);
}

static bool start_worker(struct parent *parent, unsigned worker) {
  parent->board->running[worker] = NO_POINT;
  pid_t starter = getpid();
  pid_t child = fork();
  if (child < 0)
    return false;
  if (child == 0) {
    /* A worker must not outlive a parent that is killed; Ctrl-C is the parent's to handle. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != starter)
      _exit(0);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &parent->signals, NULL);
    work(parent->pool, parent->board, worker);
  }
  parent->workers[worker] = child;
  parent->alive++;
  return true;
}

/* ---- progress -------------------------------------------------------------------------- */

static void show(struct parent *parent, bool last) {
  static const double terminal_seconds = 0.2, file_seconds = 10.0;
  const struct sweep_pool *pool = parent->pool;
  double now = now_seconds(), elapsed = now - parent->start_seconds;
  double period = parent->terminal ? terminal_seconds : file_seconds;
  size_t done = parent->board->done;
  if (pool->quiet || (!last && now - parent->shown_seconds < period) || done == 0 || elapsed <= 0)
    return;
  double rate = (double)done / elapsed;
  double left = (double)(pool->todo_count - done) / rate;
  size_t total = pool->todo_count + pool->reused;
  fprintf(stderr, "%s%zu of %zu points, %zu failed, %.1f/s, %.0f s left%s",
          parent->terminal ? "\r\033[K" : "", done + pool->reused, total,
          (size_t)parent->board->failed, rate, left, parent->terminal && !last ? "" : "\n");
  fflush(stderr);
  parent->shown = true;
  parent->shown_seconds = now;
}

/* ---- the parent ------------------------------------------------------------------------ */

/* The point a worker died of becomes a record; somebody else goes on with the rest. */
static void bury(struct parent *parent, unsigned worker, int status) {
  struct sweep_pool *pool = parent->pool;
  struct board *board = parent->board;
  parent->alive--;
  parent->workers[worker] = 0;
  if (WIFEXITED(status)) {
    parent->journal_failed |= WEXITSTATUS(status) != 0;
    board->stop = board->stop || parent->journal_failed;
    return;
  }
  int64_t index = board->running[worker];
  if (index != NO_POINT) {
    char cells[SWEEP_RECORD_MAX];
    sweep_crash_cells(WTERMSIG(status), cells, sizeof cells);
    if (!sweep_journal_add(&parent->crashes, pool->study->ids[pool->todo[index]], cells))
      parent->journal_failed = board->stop = true;
    board->failed++;
    board->done++;
  }
  if (!board->stop && !start_worker(parent, worker))
    parent->journal_failed = board->stop = true;
}

static void reap(struct parent *parent) {
  for (unsigned i = 0; i < parent->pool->jobs; i++) {
    int status;
    if (parent->workers[i] > 0 && waitpid(parent->workers[i], &status, WNOHANG) > 0)
      bury(parent, i, status);
  }
}

static void watch(struct parent *parent) {
  const struct timespec tick = {.tv_nsec = TICK_NS};
  while (parent->alive > 0) {
    int got = sigtimedwait(&parent->signals, NULL, &tick);
    if (got == SIGINT || got == SIGTERM) {
      parent->board->stop = true;
      parent->pool->interrupted = true;
    }
    reap(parent);
    show(parent, false);
  }
}

static enum vinci_status run_workers(struct parent *parent, struct vinci_diag *diag) {
  struct sweep_pool *pool = parent->pool;
  char name[128];
  snprintf(name, sizeof name, "%s-crashes", pool->shard);
  enum vinci_status status = sweep_journal_open(&parent->crashes, pool->folder, name, diag);
  if (status != VINCI_OK)
    return status;
  fflush(stdout);
  for (unsigned i = 0; i < pool->jobs && !parent->board->stop; i++)
    if (!start_worker(parent, i)) {
      status = diag_error(diag, VINCI_E_NOMEM, "cannot start a worker: %s", strerror(errno));
      parent->board->stop = true;
    }
  watch(parent);
  if (parent->shown)
    show(parent, true);
  sweep_journal_close(&parent->crashes);
  if (status == VINCI_OK && parent->journal_failed)
    status = diag_error(diag, VINCI_E_IO, "cannot write the journal in %s/journal", pool->folder);
  return status;
}

enum vinci_status sweep_pool_run(struct sweep_pool *pool, struct vinci_diag *diag) {
  struct board *board =
      mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (board == MAP_FAILED)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  struct parent parent = {.pool = pool,
                          .board = board,
                          .start_seconds = now_seconds(),
                          .terminal = isatty(STDERR_FILENO)};
  sigset_t before;
  parent.shown_seconds = parent.start_seconds;
  if (pool->jobs > pool->todo_count)
    pool->jobs = (unsigned)pool->todo_count;
  sigemptyset(&parent.signals);
  sigaddset(&parent.signals, SIGINT);
  sigaddset(&parent.signals, SIGTERM);
  sigaddset(&parent.signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &parent.signals, &before);
  enum vinci_status status = run_workers(&parent, diag);
  sigprocmask(SIG_SETMASK, &before, NULL);
  pool->failed = board->failed;
  munmap(board, sizeof *board);
  return status;
}
