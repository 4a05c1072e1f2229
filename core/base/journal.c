/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of lines with checksums. */
#include "core/base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"

enum { SUM_DIGITS = 16, TAIL_BYTES = SUM_DIGITS + 2, LOCK_TRIES = 30, LOCK_NS = 100000000 };

/* ---- lines ---- */

bool journal_add(const struct journal *journal, const char *text) {
  size_t length = strlen(text);
  char *line = malloc(length + TAIL_BYTES + 1);
  if (!line)
    return false;
  memcpy(line, text, length);
  snprintf(line + length, TAIL_BYTES + 1, "\t%016" PRIx64 "\n",
           digest_bytes(DIGEST_SEED, text, length));
  length += TAIL_BYTES;
  ssize_t written;
  while ((written = write(journal->file, line, length)) < 0 && errno == EINTR)
    ;
  free(line);
  if (written >= 0 && (size_t)written < length)
    errno = ENOSPC; /* a part: what a disk does that is full now */
  return written == (ssize_t)length;
}

/* Cuts the checksum off a line that is whole. */
static bool take_sum(char *line, size_t length) {
  char sum[SUM_DIGITS + 1];
  if (length < SUM_DIGITS + 1 || line[length - SUM_DIGITS - 1] != '\t')
    return false;
  length -= SUM_DIGITS + 1;
  snprintf(sum, sizeof sum, "%016" PRIx64, digest_bytes(DIGEST_SEED, line, length));
  if (memcmp(line + length + 1, sum, SUM_DIGITS) != 0 || strlen(line) < length)
    return false;
  line[length] = '\0';
  return true;
}

/* Reads the whole file, with a zero behind; NULL, with errno, when that failed. */
static char *read_all(int file, size_t *size) {
  off_t bytes = lseek(file, 0, SEEK_END);
  char *text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
  *size = 0;
  if (!text)
    return NULL;
  ssize_t got = lseek(file, 0, SEEK_SET) != 0 ? -1 : 1;
  while (got > 0 && *size < (size_t)bytes) {
    got = read(file, text + *size, (size_t)bytes - *size);
    *size += got > 0 ? (size_t)got : 0;
    got = got < 0 && errno == EINTR ? 1 : got;
  }
  if (got < 0) {
    free(text);
    return NULL;
  }
  text[*size] = '\0';
  return text;
}

/* The next line, cut off at its end; NULL behind the last. A line without an end is not whole. */
static char *next_line(char **at, const char *end, bool *whole) {
  char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));
  if (line == end)
    return NULL;
  *at = newline ? newline + 1 : line + (end - line);
  *whole = newline && take_sum(line, (size_t)(newline - line));
  return line;
}

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
}

enum vinci_status journal_read(const char *path,
                               bool (*take)(void *context, char *text, uint64_t offset),
                               void *context, size_t *torn, struct vinci_diag *diag) {
  FILE *in = fopen(path, "re");
  if (!in)
    return file_error(diag, path, "read");
  enum vinci_status status = VINCI_OK;
  char *line = NULL;
  size_t room = 0;
  uint64_t offset = 0;
  for (ssize_t bytes; status == VINCI_OK && (bytes = getline(&line, &room, in)) > 0;) {
    bool whole = line[bytes - 1] == '\n' && take_sum(line, (size_t)bytes - 1);
    *torn += !whole;
    if (whole && !take(context, line, offset))
      status = no_memory(diag);
    offset += (uint64_t)bytes;
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  free(line);
  fclose(in);
  return status;
}

/* ---- opening ---- */

/* A head ends with its identity, behind the second blank. */
static size_t kind_bytes(const char *head) {
  size_t bytes = strcspn(head, " ");
  return head[bytes] ? bytes + 1 + strcspn(head + bytes + 1, " ") : bytes;
}

static enum vinci_status refuse(const struct journal_request *request, struct vinci_diag *diag) {
  (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){request->path, 1, 1},
                      "the file is not a journal that this version of vinci writes, which begins "
                      "with \"%.*s\"",
                      (int)kind_bytes(request->head), request->head);
  diag_hint(diag, "remove the file, or finish with the version that made the file");
  return VINCI_E_INPUT;
}

/* Looks at the first line. *wanted: the lines behind are of this journal. */
static enum vinci_status check_head(const struct journal_request *request, char **at,
                                    const char *end, bool *wanted, struct vinci_diag *diag) {
  bool whole;
  const char *line = next_line(at, end, &whole);
  *wanted = line && strcmp(line, request->head) == 0;
  if (!line || *wanted)
    return VINCI_OK;
  /* A kill can tear the first line as well. */
  bool torn = !whole && strncmp(line, request->head, strlen(line)) == 0;
  size_t bytes = kind_bytes(request->head);
  bool other = whole && strncmp(line, request->head, bytes) == 0 && line[bytes] == ' ';
  return request->sharing == JOURNAL_ALONE && (torn || other) ? VINCI_OK : refuse(request, diag);
}

static enum vinci_status failed(const struct journal *journal, struct vinci_diag *diag) {
  return file_error(diag, journal->path, "keep the journal");
}

/* What a kill has torn ends where the next line begins. */
static bool end_last_line(int file) {
  char last;
  off_t end = lseek(file, 0, SEEK_END);
  return end == 0 || (end > 0 && pread(file, &last, 1, end - 1) == 1 &&
                      (last == '\n' || write(file, "\n", 1) == 1));
}

/* Where several find no first line, each of them may add the line. */
static enum vinci_status take_lines(struct journal *journal, const struct journal_request *request,
                                    char *text, const char *end, struct vinci_diag *diag) {
  bool wanted, whole;
  enum vinci_status status = check_head(request, &text, end, &wanted, diag);
  if (status != VINCI_OK)
    return status;
  if (!wanted)
    return ftruncate(journal->file, 0) == 0 && journal_add(journal, request->head)
               ? VINCI_OK
               : failed(journal, diag);
  for (char *line; (line = next_line(&text, end, &whole));)
    if (whole && strcmp(line, request->head) != 0 && !request->take(request->context, line))
      return no_memory(diag);
  return VINCI_OK;
}

/* File systems without locks do without. */
static bool take_lock(int file, enum journal_sharing sharing) {
  int kind = sharing == JOURNAL_ALONE ? LOCK_EX : LOCK_SH, locked = -1;
  if (sharing == JOURNAL_UNLOCKED)
    return true;
  while ((locked = flock(file, kind | LOCK_NB)) != 0 && errno == EINTR)
    ;
  return locked == 0 || errno != EWOULDBLOCK;
}

/* That of a killed process ends soon, but not in no time; who removes the file has it for a
 * moment. */
static enum vinci_status open_locked(struct journal *journal, const struct journal_request *request,
                                     struct vinci_diag *diag) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    journal->file = open(request->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->file < 0)
      return failed(journal, diag);
    if (take_lock(journal->file, request->sharing) && file_is_at(journal->file, request->path))
      return VINCI_OK;
    close(journal->file);
    journal->file = -1;
    nanosleep(&(struct timespec){.tv_nsec = LOCK_NS}, NULL);
  }
  return diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = request->busy_at}, "%s",
                       request->busy);
}

enum vinci_status journal_open(struct journal *journal, const struct journal_request *request,
                               struct vinci_diag *diag) {
  snprintf(journal->path, sizeof journal->path, "%s", request->path);
  enum vinci_status status = open_locked(journal, request, diag);
  if (status != VINCI_OK)
    return status;
  size_t size = 0;
  char *text = request->head ? read_all(journal->file, &size) : NULL;
  if ((request->head && !text) || !end_last_line(journal->file))
    status = failed(journal, diag);
  else if (text)
    status = take_lines(journal, request, text, text + size, diag);
  free(text);
  if (status != VINCI_OK)
    journal_close(journal, false);
  return status;
}

bool journal_sync(const struct journal *journal) {
  /* Files that cannot be synchronised, on some networks, are as good as they get. */
  return fdatasync(journal->file) == 0 || errno == EINVAL || errno == ENOSYS;
}

void journal_close(struct journal *journal, bool remove) {
  if (journal->file < 0)
    return;
  if (remove && flock(journal->file, LOCK_EX | LOCK_NB) == 0 &&
      file_is_at(journal->file, journal->path))
    (void)unlink(journal->path);
  (void)!journal_sync(journal);
  close(journal->file);
  journal->file = -1;
}
