/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the description host share. Internal to scripts/. */
#ifndef VINCI_SCRIPTS_SOC_FILES_H
#define VINCI_SCRIPTS_SOC_FILES_H

#include <stdbool.h>

enum { SOC_PATH_MAX = 4096 };

/* Whether folder/soc/name.lua is a base for others; false also when it cannot be read. */
bool soc_file_is_abstract(const char *folder, const char *name);

#endif
