/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is short: the allocation with a given number finds none. The test is linked with
 * functions of its own instead of those of the C library. They count allocations, and how many of
 * these are not freed yet.
 */
#ifndef VINCI_TESTS_CORE_SHORTAGE_H
#define VINCI_TESTS_CORE_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

/* False where another C library or a sanitizer has the allocations: nothing is counted then. */
bool shortage_possible(void);

/* From here to shortage_end() allocations are counted from 1, and those fail that are asked for:
 * number `first`, and with `all` each one behind. 0: none fails. */
void shortage_begin(unsigned long first, bool all);
/* As shortage_begin(0, false), and keeps the number of the first allocation of each place: of each
 * chain of callers. */
void shortage_begin_places(void);
/* How many there were. */
unsigned long shortage_end(void);
/* By index below the count; they grow. */
size_t shortage_place_count(void);
unsigned long shortage_place(size_t index);

/* Allocations of this process that are not freed. */
long shortage_live(void);
/* The next failure writes who calls to standard error, as addresses for addr2line. */
void shortage_tell(void);

#endif
