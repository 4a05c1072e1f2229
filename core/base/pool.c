/* SPDX-License-Identifier: Apache-2.0 */
/* Each process has a pipe, on which it tells the numbers it has done; its end ends the pipe. */
#include "core/base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/diag.h"

enum { TICK_MS = 200 };

struct child {
  pid_t pid;   /* 0: none */
  int from;    /* the pipe; -1: none */
  size_t told; /* the last number */
};

struct run {
  struct pool *pool;
  struct child *children;
  struct pollfd *polled;
  unsigned alive;
  size_t left; /* the number of a process that could not be made; POOL_NONE: none */
  int error;   /* errno of that */
  enum vinci_status status;
};

void *pool_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* ---- a process ---- */

size_t pool_next(struct pool_worker *worker) {
  const struct pool *pool = worker->pool;
  struct pool_board *board = pool->board;
  if (worker->fresh) {
    worker->fresh = false;
    return worker->held;
  }
  if (write(worker->tell, &worker->held, sizeof worker->held) < 0)
    return POOL_NONE;
  board->held[worker->process] = POOL_NONE;
  if (board->stop || pool->one_each)
    return POOL_NONE;
  size_t number = atomic_fetch_add(&board->next, 1);
  if (number >= pool->count)
    return POOL_NONE;
  board->held[worker->process] = worker->held = number;
  return number;
}

/* It must not outlive a caller that is killed; requests to end are the caller's to handle. */
static _Noreturn void work(const struct pool *pool, unsigned process, pid_t starter, int tell) {
  struct pool_worker worker = {pool, process, tell, pool->board->held[process], true};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  if (getppid() == starter)
    pool->work(pool->context, &worker);
  _exit(0);
}

/* ---- the first process ---- */

/* False, with errno, when no process could be made. */
static bool fork_worker(struct run *run, unsigned process) {
  int ends[2];
  pid_t starter = getpid();
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  pid_t pid = fork();
  if (pid == 0)
    work(run->pool, process, starter, ends[1]);
  int error = errno;
  close(ends[1]);
  if (pid < 0)
    close(ends[0]);
  else
    run->children[process] = (struct child){pid, ends[0], POOL_NONE};
  run->alive += pid > 0;
  errno = error;
  return pid > 0;
}

/* A process for the next number, if any is left. A number without a process waits for another to
 * end. */
static void start(struct run *run, unsigned process) {
  const struct pool *pool = run->pool;
  struct pool_board *board = pool->board;
  size_t number = run->left != POOL_NONE ? run->left : atomic_fetch_add(&board->next, 1);
  if (number >= pool->count)
    return;
  run->left = number;
  if (pool->prepare && (run->status = pool->prepare(pool->context, process)) != VINCI_OK) {
    board->stop = true;
    return;
  }
  board->held[process] = number;
  if (fork_worker(run, process)) {
    run->left = POOL_NONE;
    return;
  }
  run->error = errno;
  if (pool->gone)
    pool->gone(pool->context, process);
}

/* Whether the run goes on, as far as the caller says. */
static bool may_go_on(const struct pool *pool) {
  if (pool->tick && !pool->tick(pool->context))
    pool->board->stop = true;
  return !pool->board->stop;
}

static void bury(struct run *run, unsigned process) {
  const struct pool *pool = run->pool;
  struct child *child = &run->children[process];
  size_t held = pool->board->held[process];
  int how = 0;
  /* Where the caller ignores SIGCHLD there is no status. */
  while (waitpid(child->pid, &how, 0) < 0 && errno == EINTR)
    ;
  close(child->from);
  bool died = how != 0 && held != POOL_NONE && held != child->told;
  *child = (struct child){.from = -1};
  run->alive--;
  if (died && pool->died)
    pool->died(pool->context, process, held, how);
  if (pool->gone)
    pool->gone(pool->context, process);
  if (may_go_on(pool))
    start(run, process);
}

static void hear(struct run *run, unsigned process) {
  const struct pool *pool = run->pool;
  struct child *child = &run->children[process];
  size_t number;
  ssize_t got = read(child->from, &number, sizeof number);
  if (got == (ssize_t)sizeof number) {
    child->told = number;
    if (pool->ended)
      pool->ended(pool->context, process, number);
  } else if (got >= 0 || errno != EINTR) {
    bury(run, process);
  }
}

static void listen(struct run *run) {
  const struct pool *pool = run->pool;
  while (may_go_on(pool), run->alive > 0) {
    for (unsigned i = 0; i < pool->jobs; i++)
      run->polled[i] = (struct pollfd){.fd = run->children[i].from, .events = POLLIN};
    int ready = poll(run->polled, pool->jobs, TICK_MS);
    for (unsigned i = 0; ready > 0 && i < pool->jobs; i++)
      if (run->polled[i].revents)
        hear(run, i);
  }
}

static enum vinci_status run_all(struct run *run, struct vinci_diag *diag) {
  const struct pool *pool = run->pool;
  for (unsigned i = 0; i < pool->jobs; i++)
    run->children[i].from = -1;
  for (unsigned i = 0; i < pool->jobs && run->left == POOL_NONE && may_go_on(pool); i++)
    start(run, i);
  listen(run);
  if (run->status == VINCI_OK && run->left != POOL_NONE && !pool->board->stop)
    run->status = diag_error(diag, diag_status_of(run->error), "cannot start a process: %s",
                             strerror(run->error));
  return run->status;
}

void pool_go_back(const struct pool *pool, size_t number) {
  atomic_store(&pool->board->next, number);
}

enum vinci_status pool_run(struct pool *pool, struct vinci_diag *diag) {
  struct run run = {.pool = pool,
                    .left = POOL_NONE,
                    .children = calloc(pool->jobs + 1, sizeof *run.children),
                    .polled = calloc(pool->jobs + 1, sizeof *run.polled)};
  pool->board = pool_memory(sizeof *pool->board);
  enum vinci_status status = run.children && run.polled && pool->board
                                 ? run_all(&run, diag)
                                 : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (pool->board)
    munmap(pool->board, sizeof *pool->board);
  pool->board = NULL;
  free(run.children);
  free(run.polled);
  return status;
}
