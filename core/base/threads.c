/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that live as long as one call: they cost some 50 us each, a process a millisecond. */
#include "core/base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct crew {
  size_t count;
  atomic_size_t next;
  void (*work)(void *context, size_t number);
  void *context;
};

static void *take_numbers(void *given) {
  struct crew *crew = given;
  for (size_t number; (number = atomic_fetch_add(&crew->next, 1)) < crew->count;)
    crew->work(crew->context, number);
  return NULL;
}

void threads_run(size_t count, unsigned jobs, void (*work)(void *context, size_t number),
                 void *context) {
  struct crew crew = {.count = count, .work = work, .context = context};
  size_t most = jobs < count ? jobs : count, made = 0;
  pthread_t *others = most > 1 ? malloc((most - 1) * sizeof *others) : NULL;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (others && made < most - 1 && pthread_create(&others[made], NULL, take_numbers, &crew) == 0)
    made++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  take_numbers(&crew);
  for (size_t i = 0; i < made; i++)
    pthread_join(others[i], NULL);
  free(others);
}
