/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools, by what they begin with: what they are, and what to give instead. */
#ifndef VINCI_TRACES_FORMAT_KNOWN_FILES_H
#define VINCI_TRACES_FORMAT_KNOWN_FILES_H

#include "core/vinci.h"

struct known_file {
  const char *what, *instead;
};

/* In `instead`: the tables with a row for each launch, which are told by name where they are. */
#define KNOWN_LAUNCHES "kernel_details.csv or op_summary*.csv"
#define KNOWN_HAS_ROWS " has a row for each launch, with shapes"

/* What a file is; NULL: it cannot be read, or is nothing of known_files.def. */
const struct known_file *known_file(const char *path);
/*
 * Refuses a file that a reader could not make anything of: "is WHAT, not WANTED", such as "a list
 * of operators", and what to give instead. False, and nothing is reported, when it is not known.
 */
bool known_file_refuse(const char *path, const char *wanted, struct vinci_diag *diag);

/* The folder of a profile: how many tables with a row for each launch are in there. */
bool known_is_folder(const char *path);
enum { KNOWN_PATH_MAX = 4096 };
/*
 * The one kernel_details*.csv, or else the one op_summary*.csv, or else the one database of a
 * profiler, in a folder or below. VINCI_E_INPUT says what else the folder holds.
 */
VINCI_MUST_CHECK enum vinci_status known_profile_in(const char *folder, char path[KNOWN_PATH_MAX],
                                                    struct vinci_diag *diag);
/* The same in the folder of a file, and not below; false: there is none, or several. */
bool known_profile_beside(const char *file, char path[KNOWN_PATH_MAX]);

#endif
