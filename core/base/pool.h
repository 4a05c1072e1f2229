/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of processes, made by fork() without exec(): they share what was loaded before, and take
 * numbers in order from memory that all see. A process that dies costs the number it had, and
 * another one takes its place. Call from a program with one thread.
 */
#ifndef VINCI_CORE_BASE_POOL_H
#define VINCI_CORE_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/vinci.h"

enum { POOL_JOBS_MAX = 1024 };
#define POOL_NONE SIZE_MAX

/* In memory that all processes see. */
struct pool_board {
  atomic_bool stop;                  /* no process takes another number */
  atomic_size_t next;                /* number to be taken */
  atomic_size_t held[POOL_JOBS_MAX]; /* by process; POOL_NONE: none */
};

struct pool_worker;
struct pool {
  size_t count;  /* of numbers: 0 .. count - 1 */
  unsigned jobs; /* at most POOL_JOBS_MAX */
  bool one_each; /* a process for each number */
  void *context; /* of all functions; those with a * may be NULL */
  /* In a new process: works on what pool_next() gives, and returns. */
  void (*work)(void *context, struct pool_worker *worker);
  /* In the first process. * Before a process is made; an error ends the run. */
  enum vinci_status (*prepare)(void *context, unsigned process);
  /* * A number was worked on, in the order in which that ended. */
  void (*ended)(void *context, unsigned process, size_t number);
  /* * A process died of a number; how: as waitpid() says. */
  void (*died)(void *context, unsigned process, size_t number, int how);
  /* * A process has ended, after the above, or could not be made. */
  void (*gone)(void *context, unsigned process);
  /* * At least five times a second; false: the run shall end. */
  bool (*tick)(void *context);
  struct pool_board *board; /* while the pool runs */
};

struct pool_worker {
  const struct pool *pool;
  unsigned process;
  int tell;
  size_t held;
  bool fresh; /* the number it was made for is not looked at */
};

/* Runs a pool until all numbers are done, or its end is asked for. An error: no process could be
 * made for a number, or prepare() failed. */
VINCI_MUST_CHECK enum vinci_status pool_run(struct pool *pool, struct vinci_diag *diag);
/* In a process: the one before is done; the next, or POOL_NONE. */
size_t pool_next(struct pool_worker *worker);
/* In died(), of a pool of one process: the numbers from here on are taken once more. */
void pool_go_back(const struct pool *pool, size_t number);
/* Zeroed memory that later processes share, for munmap(); NULL when memory is short. */
void *pool_memory(size_t bytes);

#endif
