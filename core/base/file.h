/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files: read, replaced; folders: made, locked. */
#ifndef VINCI_CORE_BASE_FILE_H
#define VINCI_CORE_BASE_FILE_H

#include <stdbool.h>

#include "core/vinci.h"

/* Reports "cannot DOING: REASON" of a path, as errno says; "write error" when errno is 0. */
enum vinci_status file_error(struct vinci_diag *diag, const char *path, const char *doing);
/* The bytes of a file of at most `maximum`, with a zero after them, for free(). NULL with a
 * diagnostic. */
char *file_read(const char *path, size_t maximum, size_t *length, struct vinci_diag *diag);
/* The bytes of the byte order mark that some editors put before UTF-8 text; 0 where none is. */
size_t file_text_mark(const char *text, size_t length);
/* file_read() of text: a byte order mark is left out. */
char *file_read_text(const char *path, size_t maximum, size_t *length, struct vinci_diag *diag);
/* The bytes of a file, which are read when they are looked at: those of a file that can be mapped
 * take no memory of their own. Of anything else, a pipe say, at most `maximum` are read. */
struct file_view {
  void *bytes;
  size_t length;
  bool mapped;
};
/* NULL is never in out->bytes after VINCI_OK. The caller closes the view. */
VINCI_MUST_CHECK enum vinci_status file_view_open(const char *path, size_t maximum,
                                                  struct file_view *out, struct vinci_diag *diag);
void file_view_close(struct file_view *view);
/* Writes path by a temporary name, so that a failure leaves what was there; writer gets context and
 * the open file. Of a symbolic link the file behind the link is replaced. Devices and pipes are
 * written into. */
VINCI_MUST_CHECK enum vinci_status file_replace(const char *path,
                                                void (*writer)(void *context, FILE *out),
                                                void *context, struct vinci_diag *diag);
/* The same with a text to write. */
VINCI_MUST_CHECK enum vinci_status file_replace_text(const char *path, const char *text,
                                                     struct vinci_diag *diag);
/* Whether getline() has stopped at the end: it also stops, with errno, when memory is short. */
VINCI_MUST_CHECK bool file_ended(FILE *in);
/* Closes a stream of open_memstream(); false, with *text freed and NULL, when memory was short. The
 * C library closes such a stream without an error and without a text. */
VINCI_MUST_CHECK bool file_close_text(FILE *out, char **text);
/* Makes a folder with its parents, one that exists is fine, and sees that files can be written
 * there. */
VINCI_MUST_CHECK enum vinci_status folder_make(const char *folder, struct vinci_diag *diag);
/* Makes a folder of its own with this name and an ending below $TMPDIR, or /tmp; folder gets its
 * path. */
VINCI_MUST_CHECK enum vinci_status folder_make_temporary(const char *name, char *folder,
                                                         size_t size, struct vinci_diag *diag);
/* Removes a folder with all that is in there, as far as that can be. */
void folder_remove(const char *folder);
/* Removes a file of a folder, which need not be there: one of earlier results. */
VINCI_MUST_CHECK enum vinci_status folder_remove_file(const char *folder, const char *name,
                                                      struct vinci_diag *diag);
/* Who begins to write results into a folder removes command.json first: the command of the results
 * before is not that of the new ones. The program writes its own once the results are there. */
VINCI_MUST_CHECK enum vinci_status folder_remove_command(const char *folder,
                                                         struct vinci_diag *diag);
/*
 * Takes an existing folder for this process until *lock, a file descriptor, is closed; -1 where
 * there is nothing to lock. VINCI_E_USAGE when another process has the folder, who being "another
 * run" or the like. The lock is that of the folder itself, so that no file is left behind; it
 * ends with the process, however that ends.
 */
VINCI_MUST_CHECK enum vinci_status folder_lock(const char *folder, const char *who, int *lock,
                                               struct vinci_diag *diag);
/*
 * The same for a file that is read, changed and replaced by file_replace(), made if it is not
 * there: waits up to 30 s for another process, whose replaced file counts then. Devices have no
 * lock.
 */
VINCI_MUST_CHECK enum vinci_status file_lock(const char *path, const char *who, int *lock,
                                             struct vinci_diag *diag);
/* Whether a path names an open file. */
bool file_is_at(int file, const char *path);

#endif
