/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals: a file of lines "TEXT TAB CHECKSUM", each added by one write. A process that is killed
 * leaves whole lines, and at most one that is torn, which the checksum tells. Who opens the journal
 * again gets the whole lines and goes on behind them.
 */
#ifndef VINCI_CORE_BASE_JOURNAL_H
#define VINCI_CORE_BASE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/vinci.h"

enum { JOURNAL_PATH_BYTES = 4096 };

struct journal {
  int file; /* -1: not open */
  char path[JOURNAL_PATH_BYTES];
};

enum journal_sharing {
  JOURNAL_UNLOCKED, /* something else sees to it that there is one writer */
  JOURNAL_SHARED,   /* several may add lines at a time */
  JOURNAL_ALONE
};

struct journal_request {
  const char *path;
  enum journal_sharing sharing;
  const char *busy, *busy_at; /* what is said when another has the journal, and of which path */
  /* The first line, "KIND VERSION IDENTITY" or less; NULL: there is none, and nothing is read. Who
   * is alone gives up a journal with another identity. Another kind or version is refused. */
  const char *head;
  /* Gets each whole line behind, which may be changed; false when memory is short. */
  bool (*take)(void *context, char *text);
  void *context;
};

/* Opens a journal, made where there is none. VINCI_E_USAGE: another has the journal. */
VINCI_MUST_CHECK enum vinci_status journal_open(struct journal *journal,
                                                const struct journal_request *request,
                                                struct vinci_diag *diag);
/* Hands on the whole lines of a journal, each with where it begins, in bytes; counts the torn ones.
 * Memory holds one line at a time. `take` returns false when memory is short. */
VINCI_MUST_CHECK enum vinci_status
journal_read(const char *path, bool (*take)(void *context, char *text, uint64_t offset),
             void *context, size_t *torn, struct vinci_diag *diag);
/* Adds a line of a text without line ends; false, with errno, when that failed. */
VINCI_MUST_CHECK bool journal_add(const struct journal *journal, const char *text);
/* Waits until the disk has the journal; false, with errno, when that failed. */
VINCI_MUST_CHECK bool journal_sync(const struct journal *journal);
/* Closes a journal. `remove`: and removes the file, unless others have the journal. */
void journal_close(struct journal *journal, bool remove);

#endif
