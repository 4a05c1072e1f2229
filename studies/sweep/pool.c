/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: forked workers that take points by index from memory they share, run them with
 * the chips the parent has loaded, and append to a journal each. The parent tells progress,
 * passes on Ctrl-C, and replaces workers that die; the point one died of becomes a record.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "studies/sweep/sweep.h"

enum { NO_POINT = -1, TICK_NS = 200000000 };

/* Shared by the parent and all workers. */
struct board {
  _Atomic size_t next;
  _Atomic size_t done;
  _Atomic size_t failed;
  _Atomic uint64_t busy_ns;   /* CPU time of points */
  _Atomic uint64_t waited_ns; /* of workers, for processors that others had */
  _Atomic bool stop;
  _Atomic int64_t running[SWEEP_JOBS_MAX]; /* index into todo, by worker */
};

struct parent {
  struct sweep_pool *pool;
  struct board *board;
  pid_t workers[SWEEP_JOBS_MAX];
  struct journal journals[SWEEP_JOBS_MAX]; /* shared with the worker that writes them */
  unsigned alive;
  sigset_t signals;
  double start_seconds;
  double synced_seconds;
  size_t synced_done;
  struct journal crashes;
  enum vinci_status status; /* the first error, and what it says */
  struct vinci_diag *diag;
};

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double now_seconds(void) { return 1e-9 * (double)clock_ns(CLOCK_MONOTONIC); }

/* ---- a worker -------------------------------------------------------------------------- */

static bool stopped(void *context) { return ((struct board *)context)->stop; }

/* Points take and give back the same few MiB: kept, they need not be cleared for every point. */
static void keep_memory(void) {
#ifdef __GLIBC__
  enum { LARGEST_BYTES = 32 << 20 /* that glibc takes */, KEPT_BYTES = 1 << 30 };
  mallopt(M_MMAP_THRESHOLD, LARGEST_BYTES);
  mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

/* How long this process was ready to run, and others ran; 0 where Linux does not tell. */
static uint64_t waited_ns(void) {
  unsigned long long running = 0, waiting = 0;
  FILE *in = fopen("/proc/self/schedstat", "r");
  if (!in)
    return 0;
  if (fscanf(in, "%llu %llu", &running, &waiting) != 2)
    waiting = 0;
  fclose(in);
  return waiting;
}

static _Noreturn void work(const struct sweep_pool *pool, struct board *board,
                           struct journal *journal, unsigned worker) {
  char cells[SWEEP_RECORD_MAX];
  keep_memory();
  while (!board->stop) {
    size_t index = atomic_fetch_add(&board->next, 1);
    if (index >= pool->todo_count)
      break;
    size_t point = pool->todo[index];
    uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    board->running[worker] = (int64_t)index;
    if (!sweep_run_point(pool->study, pool->chips, point, stopped, board, cells, sizeof cells))
      break;
    if (!sweep_journal_add(journal, pool->study->ids[point], cells))
      _exit(errno > 0 && errno < UINT8_MAX ? errno : EIO);
    board->running[worker] = NO_POINT;
    board->busy_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
    board->failed += strncmp(cells, "ok,", 3) != 0;
    board->done++;
  }
  board->waited_ns += waited_ns();
  _exit(0);
}

static enum vinci_status start_worker(struct parent *parent, unsigned worker) {
  char name[128];
  parent->board->running[worker] = NO_POINT;
  snprintf(name, sizeof name, "%s-%u", parent->pool->shard, worker);
  struct journal *journal = &parent->journals[worker];
  enum vinci_status status = sweep_journal_open(journal, parent->pool->folder, name, parent->diag);
  if (status != VINCI_OK)
    return status;
  pid_t starter = getpid();
  pid_t child = fork();
  if (child < 0) {
    status = diag_error(parent->diag, VINCI_E_NOMEM, "cannot start a worker: %s", strerror(errno));
    journal_close(journal, false);
    return status;
  }
  if (child == 0) {
    /* A worker must not outlive a parent that is killed; Ctrl-C is the parent's to handle. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != starter)
      _exit(0);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &parent->signals, NULL);
    work(parent->pool, parent->board, journal, worker);
  }
  parent->workers[worker] = child;
  parent->alive++;
  return VINCI_OK;
}

/* ---- progress -------------------------------------------------------------------------- */

/* Whether the run goes on. */
static bool tell(const struct parent *parent) {
  const struct sweep_pool *pool = parent->pool;
  struct vinci_sweep_progress progress = {
      .points = pool->todo_count + pool->reused,
      .reused = pool->reused,
      .done = parent->board->done,
      .failed = parent->board->failed,
      .seconds = now_seconds() - parent->start_seconds,
  };
  return !pool->progress || pool->progress(pool->progress_context, &progress);
}

/* ---- the parent ------------------------------------------------------------------------ */

static void fail(struct parent *parent, enum vinci_status status) {
  if (parent->status == VINCI_OK)
    parent->status = status;
  parent->board->stop = true;
}

static void fail_journal(struct parent *parent, const struct journal *journal, int error) {
  if (parent->status == VINCI_OK)
    fail(parent, diag_error_at(parent->diag, diag_status_of(error),
                               (struct diag_position){.path = journal->path}, "cannot write: %s",
                               strerror(error)));
}

/* The point a worker died of becomes a record; somebody else goes on with the rest. */
static void bury(struct parent *parent, unsigned worker, int status) {
  struct sweep_pool *pool = parent->pool;
  struct board *board = parent->board;
  parent->alive--;
  parent->workers[worker] = 0;
  journal_close(&parent->journals[worker], false);
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) != 0)
      fail_journal(parent, &parent->journals[worker], WEXITSTATUS(status));
    return;
  }
  int64_t index = board->running[worker];
  if (index != NO_POINT) {
    char cells[SWEEP_RECORD_MAX];
    sweep_crash_cells(parent->pool->study, WTERMSIG(status), cells, sizeof cells);
    if (!sweep_journal_add(&parent->crashes, pool->study->ids[pool->todo[index]], cells))
      fail_journal(parent, &parent->crashes, errno);
    board->failed++;
    board->done++;
  }
  if (!board->stop) {
    enum vinci_status started = start_worker(parent, worker);
    if (started != VINCI_OK)
      fail(parent, started);
  }
}

static void reap(struct parent *parent) {
  for (unsigned i = 0; i < parent->pool->jobs; i++) {
    int status = 0;
    if (parent->workers[i] <= 0)
      continue;
    pid_t waited = waitpid(parent->workers[i], &status, WNOHANG);
    /* Where the caller ignores SIGCHLD there is no status; what the worker finished is recorded. */
    if (waited > 0 || (waited < 0 && errno == ECHILD))
      bury(parent, i, waited > 0 ? status : 0);
  }
}

/* Records survive a kill as soon as they are written, but a loss of power only when the disk has
 * them. Waiting for it is the parent's business, which has nothing else to do. */
static void sync_journals(struct parent *parent) {
  static const double sync_seconds = 1.0;
  size_t done = parent->board->done;
  if (done == parent->synced_done || now_seconds() - parent->synced_seconds < sync_seconds)
    return;
  for (unsigned i = 0; i < parent->pool->jobs; i++)
    if (parent->workers[i] > 0 && !journal_sync(&parent->journals[i]))
      fail_journal(parent, &parent->journals[i], errno);
  parent->synced_done = done;
  parent->synced_seconds = now_seconds();
}

static void stop(struct parent *parent) {
  parent->board->stop = true;
  parent->pool->interrupted = true;
}

static void watch(struct parent *parent) {
  const struct timespec tick = {.tv_nsec = TICK_NS};
  while (parent->alive > 0) {
    int got = sigtimedwait(&parent->signals, NULL, &tick);
    if (got == SIGINT || got == SIGTERM)
      stop(parent);
    reap(parent);
    sync_journals(parent);
    if (!tell(parent))
      stop(parent);
  }
}

static enum vinci_status run_workers(struct parent *parent) {
  struct sweep_pool *pool = parent->pool;
  char name[128];
  snprintf(name, sizeof name, "%s-crashes", pool->shard);
  enum vinci_status status = sweep_journal_open(&parent->crashes, pool->folder, name, parent->diag);
  if (status != VINCI_OK)
    return status;
  /* Asked before the first worker, so that whoever refuses at once finds no point simulated. */
  if (!tell(parent))
    stop(parent);
  for (unsigned i = 0; i < pool->jobs && !parent->board->stop; i++)
    if ((status = start_worker(parent, i)) != VINCI_OK)
      fail(parent, status);
  watch(parent);
  journal_close(&parent->crashes, false);
  return parent->status;
}

enum vinci_status sweep_pool_run(struct sweep_pool *pool, struct vinci_diag *diag) {
  struct board *board =
      mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct parent *parent = calloc(1, sizeof *parent);
  if (board == MAP_FAILED || !parent) {
    if (board != MAP_FAILED)
      munmap(board, sizeof *board);
    free(parent);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  *parent =
      (struct parent){.pool = pool, .board = board, .start_seconds = now_seconds(), .diag = diag};
  sigset_t before;
  parent->synced_seconds = parent->start_seconds;
  if (pool->jobs > pool->todo_count)
    pool->jobs = (unsigned)pool->todo_count;
  sigemptyset(&parent->signals);
  sigaddset(&parent->signals, SIGINT);
  sigaddset(&parent->signals, SIGTERM);
  sigaddset(&parent->signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &parent->signals, &before);
  enum vinci_status status = run_workers(parent);
  sigprocmask(SIG_SETMASK, &before, NULL);
  pool->failed = board->failed;
  pool->done = board->done;
  pool->seconds = now_seconds() - parent->start_seconds;
  pool->busy_seconds = 1e-9 * (double)board->busy_ns;
  pool->waited_seconds = 1e-9 * (double)board->waited_ns;
  munmap(board, sizeof *board);
  free(parent);
  return status;
}
