/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says and no reader knows: columns, keys, members. Whoever reads a file keeps each of
 * them once, with its place; whoever asked for the file names them on the standard error output and
 * in the result. Columns of vendors' tables that vinci does not need are known to its readers and
 * are not kept here.
 */
#ifndef VINCI_CORE_BASE_UNREAD_H
#define VINCI_CORE_BASE_UNREAD_H

#include "core/base/arena.h"
#include "core/base/diag.h"

/* Kinds: id, what it is called, why it has no effect. */
#define UNREAD_LIST(X)                                                                             \
  X(COLUMN, "column", "is not known")                                                              \
  X(AGAIN, "column", "repeats another column")                                                     \
  X(OTHER, "column", "belongs to another kind of list")                                            \
  X(UNMODELLED, "column", "is not modelled")                                                       \
  X(CELLS, "column", "has no name in the header")                                                  \
  X(TYPE, "output type", "is not modelled")

enum unread_kind {
#define X(id, what, why) UNREAD_##id,
  UNREAD_LIST(X)
#undef X
};

enum { UNREAD_NAMES_MAX = 256, UNREAD_TEXT_BYTES = 4608 };

struct unread_name {
  struct unread_name *next;
  enum unread_kind kind;
  const char *path, *name;
  const char *meant;          /* the known name that is nearest; NULL: none is near */
  unsigned long line, column; /* 0: the file has no lines, or no columns */
};

/* In the order of the file. An all-zero one is empty; its memory is that of an arena. */
struct unread {
  struct unread_name *first, *last;
  size_t count, more; /* names; those beyond the first UNREAD_NAMES_MAX, counted alone */
};

/* What is not read: `length` bytes of a name; `meant` is NULL or the name that is near. */
struct unread_found {
  enum unread_kind kind;
  struct diag_position at;
  const char *name;
  size_t length;
  const char *meant;
};

/* Keeps a name, if nothing of that file and kind has it yet. False when memory is short. Control
 * characters become blanks. */
VINCI_MUST_CHECK bool unread_add(struct unread *unread, struct arena *arena,
                                 const struct unread_found *found);
/* "column", ..., and why it has no effect. */
const char *unread_what(enum unread_kind kind);
const char *unread_why(enum unread_kind kind);
/* "FILE:LINE:COLUMN: warning: column "Strids" is not known and has no effect; did you mean
 * "Strides"?" */
void unread_text(const struct unread_name *name, char *text, size_t size);
/* Tells such a warning for each name, and one for those beyond. */
void unread_warn(const struct unread *unread, const struct vinci_diag *diag);

#endif
