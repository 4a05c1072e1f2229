/* SPDX-License-Identifier: Apache-2.0 */
/* Databases of the vendor's profilers (SQLite), as the table of launches that the profilers also
 * write. */
#ifndef VINCI_TRACES_FORMAT_KNOWN_DATABASE_H
#define VINCI_TRACES_FORMAT_KNOWN_DATABASE_H

#include "core/vinci.h"

/* Whether this build reads databases. */
bool known_databases_are_read(void);
/* Whether a file begins as a database does. */
bool known_is_database(const char *path);
/*
 * The launches of ascend_pytorch_profiler*.db or msprof_*.db as text: a header, then rows in the
 * order of their starts, in the columns of kernel_details.csv that a database has: no pipe times.
 * The caller frees *text. VINCI_E_INPUT says which table is missing.
 */
VINCI_MUST_CHECK enum vinci_status known_database_text(const char *path, char **text,
                                                       size_t *length, struct vinci_diag *diag);

#endif
