/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads: the caller and others take numbers in order until there are no more. */
#ifndef VINCI_CORE_BASE_THREADS_H
#define VINCI_CORE_BASE_THREADS_H

#include <stddef.h>

/*
 * Calls work for each number 0 .. count - 1, in up to `jobs` threads, of which one is the caller's.
 * The others get no signals: these stay the caller's. Where no thread can be made, those that are
 * there do the work, so that nothing fails.
 */
void threads_run(size_t count, unsigned jobs, void (*work)(void *context, size_t number),
                 void *context);

#endif
