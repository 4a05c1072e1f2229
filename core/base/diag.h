/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporting of errors: the first one into a diagnostic stays. All functions
 * accept diag == NULL and return the status they were given, so that a caller
 * can write `return diag_error(...)`.
 */
#ifndef VINCI_CORE_BASE_DIAG_H
#define VINCI_CORE_BASE_DIAG_H

#include <stdarg.h>

#include "core/vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

struct diag_position {
  const char *path; /* may be NULL */
  unsigned long line;
  unsigned long column;
};

/* Reports an error without a position. */
enum vinci_status diag_error(struct vinci_diag *diag, enum vinci_status status, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
/* Reports an error at a position. */
enum vinci_status diag_error_at(struct vinci_diag *diag, enum vinci_status status,
                                struct diag_position position, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The status of a failed call of the system, by errno: a full host is not a fault of the file. */
enum vinci_status diag_status_of(int error);
/* Adds a hint to the error just reported; the first hint stays. */
void diag_hint(struct vinci_diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Tells a warning to whoever wants warnings. */
void diag_warn(const struct vinci_diag *diag, const char *text);
/* Keeps the offending line (length bytes) for the printed form, around diag->column. */
void diag_excerpt(struct vinci_diag *diag, const char *line, size_t length);

/*
 * The nearest of count names to `name` by edit distance, or NULL when none is
 * near enough (a third of the length) to be a likely slip. name_at(context, i)
 * gives the i-th candidate, NULL for a number to skip.
 */
const char *diag_nearest(const char *name, size_t count,
                         const char *(*name_at)(const void *context, size_t index),
                         const void *context);

/* Ends the program over a broken model (a bug in vinci, never the input). */
#define vinci_bug(...) vinci_bug_at(__FILE__, __LINE__, __VA_ARGS__)
void vinci_bug_at(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
