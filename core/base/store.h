/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that are kept from run to run: a folder with a small text file for each.
 *
 *   KIND VERSION DIGEST                    of all that the result depends on
 *   NUMBER ...                             the result
 *   CHECKSUM                               of the lines before
 *
 * The name of a file is its digest, so that several processes may find and keep at the same time:
 * they would write the same bytes, and a file is there whole or not at all. A file that is torn, or
 * of another digest, is no result.
 */
#ifndef VINCI_CORE_BASE_STORE_H
#define VINCI_CORE_BASE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/vinci.h"

enum { STORE_NUMBERS_MAX = 64 };

/* What a folder holds of one kind. */
struct store_kind {
  const char *head;   /* "vinci-result 1" */
  const char *suffix; /* of the file: "result" */
  size_t count;       /* numbers of a result, at most STORE_NUMBERS_MAX */
};

/* Fills numbers with those of a digest; false when the folder has none that can be trusted. */
bool store_find(const struct store_kind *kind, const char *folder, uint64_t digest,
                uint64_t *numbers);
/* Keeps numbers in a folder that exists. */
VINCI_MUST_CHECK enum vinci_status store_keep(const struct store_kind *kind, const char *folder,
                                              uint64_t digest, const uint64_t *numbers,
                                              struct vinci_diag *diag);

#endif
