/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that are several others, kernel behind kernel in one trace. What one part hands to the
 * next is a workspace; tensors of the parts get the names that they have in the whole. The vendor's
 * library has one kernel where such an operator has several, so that the launches and starts
 * between them are too much.
 */
#ifndef VINCI_LOWER_PLAN_COMPOSITE_H
#define VINCI_LOWER_PLAN_COMPOSITE_H

#include "lower/kernel/lower.h"

/* From setup(): one part more, by its operator, its arguments "m=4 n=4", and its names. The names
 * end with one whose `from` is NULL, and live as long as the program. */
VINCI_MUST_CHECK enum vinci_status composite_add(struct lower_job *job, const char *op,
                                                 const struct emit_name *names, const char *format,
                                                 ...) __attribute__((format(printf, 4, 5)));
/* The same without a message where it is not possible, and no part then. */
bool composite_try(struct lower_job *job, const char *op, const struct emit_name *names,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
bool composite_cost(struct lower_job *job);
void composite_emit(const struct lower_job *job, struct emit *emit);

/* Adds a part unless an earlier one has failed. */
#define PART(status_, ...)                                                                         \
  do {                                                                                             \
    if ((status_) == VINCI_OK)                                                                     \
      (status_) = composite_add(__VA_ARGS__);                                                      \
  } while (0)
/* Names of a part's tensors: MINE is the operator's, BETWEEN a workspace. */
#define NAMES(id_, ...) static const struct emit_name id_[] = {__VA_ARGS__, {0}}
#define MINE(from_, to_)                                                                           \
  { from_, to_, false }
#define BETWEEN(from_, to_)                                                                        \
  { from_, to_, true }

#define COMPOSITE_TEMPLATE(setup_)                                                                 \
  { setup_, NULL, composite_cost, composite_emit }

#endif
