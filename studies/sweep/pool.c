/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a sweep: each runs points with the chips the parent has loaded, and appends to a
 * journal of its own. The parent tells progress and stops on Ctrl-C; the point a process died of
 * becomes a record.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/diag.h"
#include "core/base/pool.h"
#include "studies/sweep/sweep.h"

/* Shared by the parent and all workers. */
struct board {
  _Atomic size_t failed;
  _Atomic uint64_t busy_ns;   /* CPU time of points */
  _Atomic uint64_t waited_ns; /* of workers, for processors that others had */
};

struct parent {
  struct sweep_pool *pool;
  struct board *board;
  struct journal journals[SWEEP_JOBS_MAX]; /* shared with the worker that writes them */
  size_t done;
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

static bool stopped(void *context) { return ((struct pool_board *)context)->stop; }

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

static void work(void *context, struct pool_worker *worker) {
  const struct parent *parent = context;
  const struct sweep_pool *pool = parent->pool;
  struct board *board = parent->board;
  const struct journal *journal = &parent->journals[worker->process];
  char cells[SWEEP_RECORD_MAX];
  keep_memory();
  for (size_t index; (index = pool_next(worker)) != POOL_NONE;) {
    size_t point = pool->todo[index];
    uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!sweep_run_point(pool->study, pool->chips, point, stopped, worker->pool->board, cells,
                         sizeof cells))
      break;
    if (!sweep_journal_add(journal, pool->study->ids[point], cells))
      _exit(errno > 0 && errno < UINT8_MAX ? errno : EIO);
    board->busy_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
    board->failed += strncmp(cells, "ok,", 3) != 0;
  }
  board->waited_ns += waited_ns();
}

/* Before a process: the journal that it adds to. */
static enum vinci_status prepare(void *context, unsigned process) {
  struct parent *parent = context;
  char name[128];
  snprintf(name, sizeof name, "%s-%u", parent->pool->shard, process);
  return sweep_journal_open(&parent->journals[process], parent->pool->folder, name, parent->diag);
}

/* ---- progress -------------------------------------------------------------------------- */

/* ---- the parent ------------------------------------------------------------------------ */

static void fail_journal(struct parent *parent, const struct journal *journal, int error) {
  if (parent->status == VINCI_OK)
    parent->status = diag_error_at(parent->diag, diag_status_of(error),
                                   (struct diag_position){.path = journal->path},
                                   "cannot write: %s", strerror(error));
}

static void count_point(void *context, unsigned process, size_t index) {
  (void)process;
  (void)index;
  ((struct parent *)context)->done++;
}

/* The point a process died of becomes a record. One that could not write says so. */
static void note_death(void *context, unsigned process, size_t index, int how) {
  struct parent *parent = context;
  struct sweep_pool *pool = parent->pool;
  char cells[SWEEP_RECORD_MAX];
  if (WIFEXITED(how)) {
    fail_journal(parent, &parent->journals[process], WEXITSTATUS(how));
    return;
  }
  sweep_crash_cells(pool->study, WTERMSIG(how), cells, sizeof cells);
  if (!sweep_journal_add(&parent->crashes, pool->study->ids[pool->todo[index]], cells))
    fail_journal(parent, &parent->crashes, errno);
  parent->board->failed++;
  parent->done++;
}

static void close_journal(void *context, unsigned process) {
  journal_close(&((struct parent *)context)->journals[process], false);
}

/* Records survive a kill as soon as they are written, but a loss of power only when the disk has
 * them. Waiting for it is the parent's business, which has nothing else to do. */
static void sync_journals(struct parent *parent) {
  static const double sync_seconds = 1.0;
  size_t done = parent->done;
  if (done == parent->synced_done || now_seconds() - parent->synced_seconds < sync_seconds)
    return;
  for (unsigned i = 0; i < parent->pool->jobs; i++)
    if (parent->journals[i].file >= 0 && !journal_sync(&parent->journals[i]))
      fail_journal(parent, &parent->journals[i], errno);
  parent->synced_done = done;
  parent->synced_seconds = now_seconds();
}

static bool is_interrupted(const struct parent *parent) {
  int got = sigtimedwait(&parent->signals, NULL, &(struct timespec){0});
  return got == SIGINT || got == SIGTERM;
}

/* Asked before the first process too, so that whoever refuses at once finds no point simulated. */
static bool goes_on(void *context) {
  struct parent *parent = context;
  struct sweep_pool *pool = parent->pool;
  struct vinci_sweep_progress progress = {
      .points = pool->todo_count + pool->reused,
      .reused = pool->reused,
      .done = parent->done,
      .failed = parent->board->failed,
      .seconds = now_seconds() - parent->start_seconds,
  };
  sync_journals(parent);
  if (is_interrupted(parent) ||
      (pool->progress && !pool->progress(pool->progress_context, &progress)))
    pool->interrupted = true;
  return parent->status == VINCI_OK && !pool->interrupted;
}

static enum vinci_status run_workers(struct parent *parent) {
  struct sweep_pool *pool = parent->pool;
  char name[128];
  snprintf(name, sizeof name, "%s-crashes", pool->shard);
  enum vinci_status status = sweep_journal_open(&parent->crashes, pool->folder, name, parent->diag);
  if (status != VINCI_OK)
    return status;
  for (unsigned i = 0; i < SWEEP_JOBS_MAX; i++)
    parent->journals[i].file = -1;
  struct pool workers = {.count = pool->todo_count,
                         .jobs = pool->jobs,
                         .context = parent,
                         .work = work,
                         .prepare = prepare,
                         .ended = count_point,
                         .died = note_death,
                         .gone = close_journal,
                         .tick = goes_on};
  status = pool_run(&workers, parent->diag);
  journal_close(&parent->crashes, false);
  return parent->status == VINCI_OK ? status : parent->status;
}

enum vinci_status sweep_pool_run(struct sweep_pool *pool, struct vinci_diag *diag) {
  struct board *board = pool_memory(sizeof *board);
  struct parent *parent = calloc(1, sizeof *parent);
  if (!board || !parent) {
    if (board)
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
  sigprocmask(SIG_BLOCK, &parent->signals, &before);
  enum vinci_status status = run_workers(parent);
  sigprocmask(SIG_SETMASK, &before, NULL);
  pool->failed = board->failed;
  pool->done = parent->done;
  pool->seconds = now_seconds() - parent->start_seconds;
  pool->busy_seconds = 1e-9 * (double)board->busy_ns;
  pool->waited_seconds = 1e-9 * (double)board->waited_ns;
  munmap(board, sizeof *board);
  free(parent);
  return status;
}
