/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files: read, replaced; folders: made, locked. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"

enum vinci_status file_error(struct vinci_diag *diag, const char *path, const char *doing) {
  int error = errno;
  return diag_error_at(diag, diag_status_of(error), (struct diag_position){.path = path},
                       "cannot %s: %s", doing, error ? strerror(error) : "write error");
}

/* Reads to the end of a stream; NULL with errno when that fails, E2BIG beyond the maximum. */
static char *read_all(FILE *in, size_t maximum, size_t *length) {
  size_t capacity = 4096;
  char *text = malloc(capacity);
  *length = 0;
  while (text) {
    *length += fread(text + *length, 1, capacity - *length, in);
    if (*length < capacity && !ferror(in)) {
      text[*length] = '\0';
      return text;
    }
    int error = ferror(in) ? (errno ? errno : EIO) : *length > maximum ? E2BIG : 0;
    char *more = error || capacity > SIZE_MAX / 2 ? NULL : realloc(text, capacity *= 2);
    if (!more) {
      free(text);
      errno = error ? error : ENOMEM;
    }
    text = more;
  }
  return NULL;
}

char *file_read(const char *path, size_t maximum, size_t *length, struct vinci_diag *diag) {
  FILE *in = fopen(path, "r");
  char *text = in ? read_all(in, maximum, length) : NULL;
  int error = text ? 0 : errno;
  if (in)
    fclose(in);
  struct diag_position position = {.path = path};
  if (text && *length > maximum) {
    free(text);
    text = NULL;
    error = E2BIG;
  }
  if (error == E2BIG)
    (void)diag_error_at(diag, VINCI_E_USAGE, position, "is longer than %zu MiB", maximum >> 20);
  else if (error)
    (void)diag_error_at(diag, diag_status_of(error), position, "cannot read: %s", strerror(error));
  if (error == EISDIR)
    diag_hint(diag, "give a file of that folder");
  return text;
}

size_t file_text_mark(const char *text, size_t length) {
  static const char mark[] = "\xef\xbb\xbf";
  enum { MARK_BYTES = sizeof mark - 1 };
  return length >= MARK_BYTES && memcmp(text, mark, MARK_BYTES) == 0 ? MARK_BYTES : 0;
}

char *file_read_text(const char *path, size_t maximum, size_t *length, struct vinci_diag *diag) {
  char *text = file_read(path, maximum, length, diag);
  size_t mark = text ? file_text_mark(text, *length) : 0;
  if (mark) {
    *length -= mark;
    memmove(text, text + mark, *length + 1);
  }
  return text;
}

enum vinci_status file_view_open(const char *path, size_t maximum, struct file_view *out,
                                 struct vinci_diag *diag) {
  struct stat info;
  *out = (struct file_view){0};
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return file_error(diag, path, "read");
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED)
      *out = (struct file_view){bytes, (size_t)info.st_size, true};
  }
  close(file);
  if (!out->bytes)
    out->bytes = file_read(path, maximum, &out->length, diag);
  return out->bytes ? VINCI_OK : diag ? diag->status : VINCI_E_IO;
}

void file_view_close(struct file_view *view) {
  if (view->mapped)
    munmap(view->bytes, view->length);
  else
    free(view->bytes);
  *view = (struct file_view){0};
}

/* Closes what was written; true when all of the text is out. A pipe has nothing to bring to a disk.
 */
static bool close_written(FILE *out, bool to_disk) {
  int error = errno; /* of the writer, when its writes have failed */
  bool failed = ferror(out);
  if (!failed) {
    errno = 0;
    failed = fflush(out) != 0 || (to_disk && fsync(fileno(out)) != 0);
    error = errno;
  }
  if (fclose(out) != 0 && !failed)
    return false;
  errno = error;
  return !failed;
}

/* A device, a pipe or a socket has no earlier content to protect, and a file that took its name
 * would destroy what other programs use under that name. Nor has a link to what is not there. */
static enum vinci_status write_special(const char *path, void (*writer)(void *context, FILE *out),
                                       void *context, struct vinci_diag *diag) {
  FILE *out = fopen(path, "w");
  if (!out)
    return file_error(diag, path, "write");
  errno = 0;
  writer(context, out);
  return close_written(out, false) ? VINCI_OK : file_error(diag, path, "write");
}

bool file_ended(FILE *in) { return feof(in) && !ferror(in); }

bool file_close_text(FILE *out, char **text) {
  bool whole = !ferror(out) && fflush(out) == 0;
  whole = fclose(out) == 0 && whole && *text;
  if (!whole) {
    free(*text);
    *text = NULL;
  }
  return whole;
}

enum vinci_status file_replace(const char *path, void (*writer)(void *context, FILE *out),
                               void *context, struct vinci_diag *diag) {
  char target[PATH_MAX], temporary[PATH_MAX + sizeof ".part" + 24];
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return write_special(path, writer, context, diag);
  /* Of a symbolic link the file behind the link is replaced, or made where there is none yet. */
  bool is_link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
  char *found = realpath(path, target);
  if (!found && is_link)
    return write_special(path, writer, context, diag);
  if (!found && snprintf(target, sizeof target, "%s", path) >= (int)sizeof target) {
    errno = ENAMETOOLONG;
    return file_error(diag, path, "write");
  }
  /* Others may replace the same file now. */
  snprintf(temporary, sizeof temporary, "%s.%ld.part", target, (long)gettid());
  FILE *out = fopen(temporary, "w");
  if (!out)
    return file_error(diag, path, "write");
  errno = 0;
  writer(context, out);
  if (close_written(out, true) && rename(temporary, target) == 0)
    return VINCI_OK;
  enum vinci_status status = file_error(diag, path, "write");
  remove(temporary);
  return status;
}

static void write_text(void *context, FILE *out) { fputs(context, out); }

enum vinci_status file_replace_text(const char *path, const char *text, struct vinci_diag *diag) {
  return file_replace(path, write_text, (void *)(uintptr_t)text, diag);
}

enum vinci_status folder_make(const char *folder, struct vinci_diag *diag) {
  char path[PATH_MAX];
  size_t length = strlen(folder);
  if (length == 0 || length >= sizeof path)
    return diag_error(diag, VINCI_E_IO, "the name of the result folder is %s",
                      length == 0 ? "empty" : "too long");
  for (size_t i = 1; i <= length; i++) {
    if (i < length && folder[i] != '/')
      continue;
    memcpy(path, folder, i);
    path[i] = '\0';
    struct stat info;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      return file_error(diag, path, "make the folder");
    if (stat(path, &info) != 0)
      return file_error(diag, path, "make the folder");
    if (!S_ISDIR(info.st_mode)) {
      errno = ENOTDIR;
      return file_error(diag, path, "make the folder");
    }
  }
  if (access(folder, W_OK | X_OK) != 0)
    return file_error(diag, folder, "write into the folder");
  return VINCI_OK;
}

enum vinci_status folder_remove_file(const char *folder, const char *name,
                                     struct vinci_diag *diag) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return file_error(diag, folder, "write into the folder");
  }
  if (remove(path) != 0 && errno != ENOENT)
    return file_error(diag, path, "replace");
  return VINCI_OK;
}

enum vinci_status folder_remove_command(const char *folder, struct vinci_diag *diag) {
  return folder_remove_file(folder, "command.json", diag);
}

/* File systems without locks do without. */
enum vinci_status folder_lock(const char *folder, const char *who, int *lock,
                              struct vinci_diag *diag) {
  *lock = -1;
  int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return VINCI_OK;
  int locked = flock(file, LOCK_EX | LOCK_NB);
  if (locked == 0 || errno != EWOULDBLOCK) {
    *lock = file;
    return VINCI_OK;
  }
  close(file);
  (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = folder},
                      "%s is working in this folder", who);
  diag_hint(diag, "wait for its end, or name another folder");
  return VINCI_E_USAGE;
}

bool file_is_at(int file, const char *path) {
  struct stat opened, there;
  return fstat(file, &opened) == 0 && stat(path, &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

enum vinci_status file_lock(const char *path, const char *who, int *lock, struct vinci_diag *diag) {
  enum { TRIES = 600, WAIT_NS = 50000000 };
  struct stat info;
  *lock = -1;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    return VINCI_OK;
  for (int i = 0; i < TRIES; i++) {
    int file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
      return file_error(diag, path, "write");
    int locked = flock(file, LOCK_EX | LOCK_NB);
    bool free = locked == 0 || errno != EWOULDBLOCK; /* file systems without locks do without */
    if (free && file_is_at(file, path)) {
      *lock = file;
      return VINCI_OK;
    }
    close(file); /* another file has taken its place, or will */
    if (!free)
      nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
  }
  return diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                       "%s has kept this file locked for %d s", who,
                       TRIES / (1000000000 / WAIT_NS));
}

enum vinci_status folder_make_temporary(const char *name, char *folder, size_t size,
                                        struct vinci_diag *diag) {
  const char *parent = getenv("TMPDIR");
  parent = parent && *parent ? parent : "/tmp";
  int length = snprintf(folder, size, "%s/%s-XXXXXX", parent, name);
  if (length > 0 && (size_t)length < size && mkdtemp(folder))
    return VINCI_OK;
  return diag_error(diag, VINCI_E_IO, "no folder for results can be made in %s", parent);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status;
  (void)kind;
  (void)walk;
  return remove(path);
}

void folder_remove(const char *folder) {
  enum { OPEN_FOLDERS_MAX = 16 };
  (void)nftw(folder, remove_entry, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
}
