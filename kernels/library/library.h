/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of a user's library: host code with a tiling function and a kernel in Ascend C. Of
 * each, the host code becomes a program that answers a call (include/vinci/library/main.cpp), and
 * the kernel a library for `vinci run LIBRARY:KERNEL`. Both are kept in a cache folder.
 */
#ifndef VINCI_KERNELS_LIBRARY_H
#define VINCI_KERNELS_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/diag.h"
#include "core/vinci.h"

enum {
  LIBRARY_FOLDERS_MAX = 16,
  LIBRARY_NAME_BYTES = 96,
  LIBRARY_WHY_BYTES = 200,
  LIBRARY_WORDS_BYTES = 400
};

struct command {
  char **items; /* each for free() */
  size_t count, capacity;
  bool no_memory;
};
void command_add(struct command *words, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
void command_free(struct command *words);
bool command_has(const struct command *words, const char *word);

/* Where things are. */
struct library {
  const char
      *folders[LIBRARY_FOLDERS_MAX]; /* of the library; the first that has an operator counts */
  size_t folder_count;
  char room[4 * PATH_MAX]; /* what `folders` points into: whole paths, as compilers run elsewhere */
  const char *headers;     /* of Ascend C, or NULL */
  char include[PATH_MAX];  /* with vinci/library */
  char program[PATH_MAX];  /* vinci */
  char cache[PATH_MAX];
  const char *family; /* of the chip: library_family(); NULL: that of the 910B */
  bool no_sync; /* kernels without the barriers of the chip's compiler ($VINCI_AUTO_SYNC is off) */
  unsigned trial; /* of the calls that a tiling takes, when none is given */
  /* [LIBRARY_WHY_BYTES]: takes the first error of a compiler or a tiling, whose messages are not
   * printed then; NULL: they are printed. */
  char *why;
  struct vinci_diag *diag;
};

enum { LIBRARY_FAMILIES = 2 };
struct library_place {
  char folder[PATH_MAX]; /* with op_host and op_kernel */
  bool suits;            /* the definition there names the family */
};
struct library_operator {
  char name[LIBRARY_NAME_BYTES];
  char folder[PATH_MAX]; /* of those below, that of the 910B, or which library_choose() has taken */
  struct library_place place[LIBRARY_FAMILIES]; /* by families of chips */
};

/* A call of an operator as a call of a kernel. */
struct library_call {
  char kernel[PATH_MAX]; /* "FILE:NAME" */
  char blocks[16];
  struct command args;             /* of the kernel, as --arg takes them */
  char words[LIBRARY_WORDS_BYTES]; /* of a call that was chosen */
};

/* folders: "DIR:DIR", or NULL for $VINCI_LIBRARY; data: the folder of the program's data. */
VINCI_MUST_CHECK enum vinci_status library_open(struct library *library, const char *folders,
                                                const char *data, struct vinci_diag *diag);

/* All operators, by name; for free(). */
VINCI_MUST_CHECK enum vinci_status library_operators(const struct library *library,
                                                     struct library_operator **out, size_t *count);
/* An operator of a name may lie in one folder for each family: takes that of a family (NULL: 910B).
 */
void library_choose(struct library_operator *which, const char *family);
/* The operator of a name: its own, or as aclnn and files spell that ("aclnnRmsNorm", "rms_norm");
 * NULL: none. */
const struct library_operator *library_match(const struct library_operator *operators, size_t count,
                                             const char *name);
/* VINCI_E_USAGE, with the nearest name, when there is no such operator. */
VINCI_MUST_CHECK enum vinci_status library_find(const struct library *library, const char *name,
                                                struct library_operator *out);

/*
 * Compiles what is not in the cache yet and asks the operator's tiling. Words are NAME=VALUE, or
 * "#2=bf16:8x4" for input 2 and "@0=bf16:8x4" for output 0, as lists of calls give them: what is
 * empty there, "#2=", is not given. Without words (NULL) the host program chooses some, of those
 * that the tiling takes number library->trial: calls of the library's own tests, then a few shapes
 * with the attributes of the definition. For library_call_free(), also when it fails.
 */
VINCI_MUST_CHECK enum vinci_status library_call(const struct library *library,
                                                const struct library_operator *which,
                                                const vinci_soc *soc, const char *const *words,
                                                size_t word_count, struct library_call *out);
void library_call_free(struct library_call *call);

/* What is known of an operator without a call: whether its host code was compiled, and the chips
 * that its definition has kernels for ("ascend910b,ascend950"). */
VINCI_MUST_CHECK enum vinci_status library_chips(const struct library *library,
                                                 const struct library_operator *which, char *chips,
                                                 size_t size);
/* "ascend910b" of "Ascend910B4"; NULL: no kernels of libraries for the chip are modelled. */
const char *library_family(const char *chip);
/* Whether the chip is of the 950, whose host code and kernels lie apart. */
bool library_has_registers(const struct library *library);

/* ---- within the room ---- */

/* The folder of an operator in the cache. */
VINCI_MUST_CHECK enum vinci_status library_cache_folder(const struct library *library,
                                                        const struct library_operator *which,
                                                        char *out, size_t size);
/* Takes a folder of the cache for this process, until *lock is closed (-1: nothing to close). */
VINCI_MUST_CHECK enum vinci_status library_lock(const struct library *library, const char *folder,
                                                int *lock);
/* What all host programs have in common (shared.c): the header that is read first, compiled where
 * the compiler can do that, and objects. */
enum { LIBRARY_SHARED_OBJECTS = 4 };
struct library_shared {
  char header[PATH_MAX];
  char object[LIBRARY_SHARED_OBJECTS][PATH_MAX];
};
/* files: gets the names of those that these were made of. */
VINCI_MUST_CHECK enum vinci_status
library_share(const struct library *library, struct library_shared *shared, struct command *files);
const char *library_compiler(void);
/* The host functions of the headers (VINCI_TILING); NULL: not given. */
const char *library_tiling(void);
/* Words of the compiler of host code, in this order: itself and its options, folders of our
 * headers, those that an operator's code includes from, those of Ascend C. */
void library_add_words(const struct library *library, struct command *words);
void library_add_includes(const struct library *library, struct command *words);
void library_add_headers(const struct library *library, struct command *words);
void library_add_folders(const struct library *library, const struct library_operator *which,
                         struct command *words);
/* The parts of the library by name (parts.c): makes LAYOUT/kernel/NAME and LAYOUT/host/NAME. */
VINCI_MUST_CHECK enum vinci_status library_layout(const struct library *library, char *out,
                                                  size_t size);
/* By which a kernel finds "../NAME/header.h". */
void library_add_layout(const char *layout, struct command *words);
/* Folders of host code that an operator's own build description names. */
VINCI_MUST_CHECK enum vinci_status library_depends(const struct library *library,
                                                   const struct library_operator *which,
                                                   const char *layout, struct command *folders);
/* The host program of an operator, compiled if it is not there or its sources are others. */
VINCI_MUST_CHECK enum vinci_status library_host(const struct library *library,
                                                const struct library_operator *which, char *program,
                                                size_t size);
/* The same with the tests of its tiling, whose calls "try" takes. */
VINCI_MUST_CHECK enum vinci_status library_trials(const struct library *library,
                                                  const struct library_operator *which,
                                                  char *program, size_t size);

/* Answers of the host program, a line each: "key 3". */
struct answer {
  struct command lines;
};
/* What stands behind "WORD " in line number `from` or later; *from becomes the line behind. */
const char *answer_next(const struct answer *answer, const char *word, size_t *from);
const char *answer_text(const struct answer *answer, const char *word);

/* The kernel for an answer, compiled if it is not there: "FILE:NAME". */
VINCI_MUST_CHECK enum vinci_status library_kernel(const struct library *library,
                                                  const struct library_operator *which,
                                                  const struct answer *answer, char *out,
                                                  size_t size);

/* Runs a command; its output goes to files, both to one when the names are the same. *ended: its
 * exit code. */
VINCI_MUST_CHECK enum vinci_status library_run(const struct library *library,
                                               const struct command *command, const char *output,
                                               const char *errors, int *ended);
/* As many commands at a time as there are cores; ended[i] is the exit code of each. */
struct library_job {
  struct command command;
  char errors[PATH_MAX]; /* file for its messages */
  int ended;
};
VINCI_MUST_CHECK enum vinci_status library_run_all(const struct library *library,
                                                   struct library_job *jobs, size_t count);
/* Prints the first lines of a file of messages on standard error, or keeps the first error. */
void library_show(const struct library *library, const char *path, unsigned lines);

/* The files that a file of dependencies (-M) names. */
VINCI_MUST_CHECK enum vinci_status library_read_depends(const struct library *library,
                                                        const char *path, struct command *files);
/* Whether a product was made of files as they are now, by what stands in its manifest. */
bool library_is_new(const char *manifest, const char *product);
VINCI_MUST_CHECK enum vinci_status library_write_manifest(const struct library *library,
                                                          const char *manifest,
                                                          const struct command *files);

#endif
