/* SPDX-License-Identifier: Apache-2.0 */
/* What `vinci report` puts into its page, and the page. */
#ifndef VINCI_TRACES_REPORT_REPORT_H
#define VINCI_TRACES_REPORT_REPORT_H

#include "core/base/file.h"
#include "core/vinci.h"

/* ---- result folders ------------------------------------------------------------- */

/* What a folder is, by the files in the folder. The page has a view for each. */
enum report_kind {
  REPORT_RUN,
  REPORT_SWEEP,
  REPORT_LIST,
  REPORT_NETWORK,
  REPORT_JOB,
  REPORT_KINDS
};

/* One more than the most files of a folder that a page takes. */
enum { REPORT_FILES = 8, REPORT_REVISION_BYTES = 32 };

struct report_part {
  const char *key; /* in the data of the page */
  bool json;       /* else text, such as a CSV table */
  struct file_view view;
};

struct report_folder {
  const char *path;
  enum report_kind kind;
  char revision[REPORT_REVISION_BYTES]; /* of the model; "" where the folder does not say */
  struct report_part part[REPORT_FILES];
  size_t count;
};

const char *report_kind_name(enum report_kind kind);
/* Reads a folder. VINCI_E_USAGE when the folder is none or has no results, VINCI_E_INPUT when a
 * file is damaged or of another version. For report_close() in all cases. */
VINCI_MUST_CHECK enum vinci_status report_open(const char *path, struct report_folder *out,
                                               struct vinci_diag *diag);
void report_close(struct report_folder *folder);

/* ---- JSON ----------------------------------------------------------------------- */

/* Whether the bytes are a JSON value; else *wrong is where they stop to be JSON. */
bool report_json_valid(const char *bytes, size_t length, size_t *wrong);
/* The value of a key of the object itself, not of those inside, of a valid text: where the value
 * begins, NULL without the key. */
const char *report_json_find(const char *bytes, size_t length, const char *key);

/* ---- the page ------------------------------------------------------------------- */

/* Whether the page is in this build: it needs a library that npm fetches. */
bool report_page_available(void);
/* VINCI_E_USAGE, with the mend, where it is not. */
VINCI_MUST_CHECK enum vinci_status report_page_check(struct vinci_diag *diag);
/* Writes the page of one folder, or of two that are compared (second not NULL). Errors show in
 * ferror(). */
void report_page_write(const struct report_folder *first, const struct report_folder *second,
                       FILE *out);

#endif
