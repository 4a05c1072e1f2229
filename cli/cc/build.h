/* SPDX-License-Identifier: Apache-2.0 */
/* What `vinci cc` builds, and the commands of the compiler for that. */
#ifndef VINCI_CLI_CC_BUILD_H
#define VINCI_CLI_CC_BUILD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/diag.h"
#include "core/chip/arch.h"

/* Of a command of the compiler. CC_OWN_WORDS_MAX: those that the verb adds itself. */
enum { CC_WORDS_MAX = 512, CC_OWN_WORDS_MAX = 64, CC_SOURCES_MAX = 64, CC_LIBRARY_MAX = 8 };

struct cc_words {
  const char *item[CC_WORDS_MAX];
  size_t count;
};

static inline void cc_add(struct cc_words *words, const char *word) {
  if (words->count < CC_WORDS_MAX - 1)
    words->item[words->count++] = word;
}

enum cc_result { CC_PROGRAM, CC_SHARED, CC_KERNELS, CC_OBJECT };

struct cc_build {
  struct cc_words compile;            /* the user's words for each compilation */
  struct cc_words link;               /* for the last command */
  const char *source[CC_SOURCES_MAX]; /* none: only a link */
  size_t source_count;
  bool wanted[CORE_KIND_COUNT]; /* kinds of cores to compile for */
  bool deduced;                 /* nobody said which: those whose instructions the code has */
  enum cc_result result;
  const char *output;
  enum arch arch;
  bool tiling; /* the library of host functions instead */
  bool dry;    /* commands are printed, not run */
  bool sync;   /* vector instructions of kernels alone wait for those before that they depend on */
  bool parts;  /* an object whose device code calls, or is called by, that of other objects */
  size_t part_count[CORE_KIND_COUNT]; /* device code of such objects among the words of the link */
  char part_source[PATH_MAX];         /* the source of the part with kernels */
  char include[PATH_MAX], stand_ins[PATH_MAX + 32], runtime[PATH_MAX + 32]; /* folders */
  char library[CC_LIBRARY_MAX][PATH_MAX]; /* folders of the user's headers */
  size_t library_count;
  char folder[PATH_MAX]; /* for temporary files; empty: none is made yet */
  struct vinci_diag *diag;
};

/* Runs all commands. */
VINCI_MUST_CHECK enum vinci_status cc_build(struct cc_build *build);
/* The same for the library of host functions (tiling.c). */
VINCI_MUST_CHECK enum vinci_status cc_build_tiling(struct cc_build *build);

/* The compiler's name. */
const char *cc_compiler(void);
/*
 * The library's own structures are read before all else of it, as their header tells those of users
 * by what comes after (include/vinci/cce/library/register/tilingdata_base.h).
 */
void cc_add_structures(const struct cc_build *build, struct cc_words *words);
/* "FOLDER/aiv-3.o": a temporary file. */
enum { CC_NAME_BYTES = 64 };
struct cc_path {
  char text[PATH_MAX + CC_NAME_BYTES];
};
/* The object of a source for a kind of core; behind the sources, of a part. */
struct cc_path cc_object_path(const struct cc_build *build, enum core_kind kind, size_t index);

/* ---- device code in parts (parts.c) ---- */
/* The sections of an object with parts: an object for each kind, and the path of the source. */
extern const char *const cc_section_part[CORE_KIND_COUNT];
extern const char cc_section_part_source[];
/* Takes the parts out of the objects that are to be linked. */
VINCI_MUST_CHECK enum vinci_status cc_take_parts(struct cc_build *build);

/* Runs a command, whose messages go where ours go; `failed` says what did not come about. */
VINCI_MUST_CHECK enum vinci_status cc_run(const struct cc_build *build,
                                          const struct cc_words *words, const char *failed);
/* Starts a command; *child is 0 when that fails. */
VINCI_MUST_CHECK enum vinci_status cc_spawn(const struct cc_build *build,
                                            const struct cc_words *words, pid_t *child);
VINCI_MUST_CHECK enum vinci_status cc_make_folder(struct cc_build *build);

#endif
