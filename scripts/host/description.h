/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers of memories and of systems of devices share: a file of the data folder as a
 * description over its bases, with sources of its numbers. Internal to scripts/.
 */
#ifndef VINCI_SCRIPTS_HOST_DESCRIPTION_H
#define VINCI_SCRIPTS_HOST_DESCRIPTION_H

#include "scripts/host/soc_host.h"
#include "scripts/host/soc_lua.h"

struct description {
  struct sandbox box;
  struct arena scratch; /* texts of files, and keys */
  const struct description_kind *kind;
  const char *folder, *name; /* the data folder; what was asked for */
  unsigned depth;            /* of bases */
  bool is_abstract;          /* only a base of others */
  void *made;                /* what the file becomes, kind->bytes of zeros before begin() */
};

struct description_kind {
  const char *folder; /* below the data folder: "mem" */
  const char *word;   /* what a file returns: "memory", for memory { ... } */
  /* The functions are called inside sandbox_protect(). */
  void (*begin)(struct description *self);
  /* The arena of sources, which lives as long as the result. */
  struct arena *(*kept)(struct description *self);
  const char *const *texts; /* fields that are texts, besides name and base; ends with NULL */
  void (*text)(struct description *self, const char *field, const char *text);
  /* A table of the description, on top of the stack. */
  void (*table)(struct description *self, const char *field);
  void (*number)(struct description *self, const char *key, const struct sandbox_number *number);
  /* Refuses a description, not abstract, in which something is missing. */
  void (*complete)(struct description *self);
  const char *noun; /* what messages call a description: "system" */
  const char *list; /* the hint that says where all names stand */
  size_t bytes;     /* of what a file becomes */
  void (*release)(void *made);
};

/* Adds the names of a kind, sorted, without bases. data_dir: NULL for the installed folder. Free
 * with soc_names_free(). */
VINCI_MUST_CHECK enum vinci_status description_list(const struct description_kind *kind,
                                                    const char *data_dir, struct soc_names *out,
                                                    struct vinci_diag *diag);
/* What the file of a name becomes, for kind->release(). VINCI_E_USAGE when the data folder has no
 * file of this name and kind, with a hint at the name that may be meant, or a base of others alone.
 */
VINCI_MUST_CHECK enum vinci_status description_open(const struct description_kind *kind,
                                                    const char *name, const char *data_dir,
                                                    void **out, struct vinci_diag *diag);

/* memory, or leaves for lack of memory. */
void *description_checked(struct description *self, void *memory);
/* A copy of the text that lives as long as the result, or leaves for lack of memory. */
char *description_keep(struct description *self, const char *text);
/* A text field of the table at `at`, NULL when it is not there. */
const char *description_text(struct description *self, int at, const char *field);
/* Calls kind->number for each number of the table on top of the stack, as "PREFIX.KEY"; keys of
 * `skipped` (NULL: none, else ends with NULL) are no numbers. */
void description_numbers(struct description *self, const char *prefix, const char *const *skipped);

#endif
