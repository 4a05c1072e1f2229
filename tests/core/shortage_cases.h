/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is short at any place is told as that: what is tried returns VINCI_E_NOMEM with a
 * text, or does without the memory; nothing leaks and nothing crashes.
 *
 * A case runs once to count. Then the first allocation of each chain of callers fails, alone and
 * with all that follow. SHORTAGE_EVERY=1 takes all allocations instead, SHORTAGE_EVERY=N each N-th.
 */
#ifndef VINCI_TESTS_CORE_SHORTAGE_CASES_H
#define VINCI_TESTS_CORE_SHORTAGE_CASES_H

#include <stdio.h>

#include "core/vinci.h"

/* What a case does, in the scratch folder, where "out" is not there. */
typedef enum vinci_status shortage_work(struct vinci_diag *diag);

/* Fails the test when a shortage is not told, leaks, or is taken for something else. */
void shortage_each(shortage_work *does);

extern vinci_soc *shortage_chip; /* Ascend910B4 */
extern FILE *shortage_nowhere;   /* for what is written */
const char *
shortage_source(const char *name); /* the path of a file of the sources, until the next call */
void shortage_file(const char *name, const char *text); /* a file of the scratch folder */
enum vinci_status
shortage_without(struct vinci_diag *diag); /* of functions that return NULL then */

/* The set-up and tear-down of a group: a scratch folder, which is the working folder meanwhile. */
int shortage_set_up(void **state);
int shortage_tear_down(void **state);

#endif
