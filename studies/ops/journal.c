/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a list of operators. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "studies/ops/ops.h"

#define HEADER_FORMAT "vinci-ops 4 %016" PRIx64 "\n"
#define RECORD_FORMAT "%zu %u %u %zu %016" PRIx64 "\n"

enum { HEADER_BYTES = 64, RECORD_HEAD_BYTES = 96, LOCK_TRIES = 20, LOCK_NS = 100000000 };

static enum vinci_status failed(const struct ops_journal *journal, struct vinci_diag *diag) {
  struct diag_position at = {.path = journal->path};
  return diag_error_at(diag, diag_status_of(errno), at, "cannot keep the journal: %s",
                       strerror(errno));
}

/* What the record says is part of what is checked. */
static uint64_t checksum(const struct ops_record *record, const char *text, size_t length) {
  uint64_t words[] = {record->row, record->end, record->other_type, length};
  return digest_bytes(digest_bytes(DIGEST_SEED, words, sizeof words), text, length);
}

/* The record that begins here; returns its bytes, 0 when it is none or torn. The text is NULL when
 * memory is short. */
static size_t parse_record(const char *text, size_t size, struct ops_record *out) {
  size_t length;
  unsigned end;
  uint64_t sum;
  int head = 0;
  const char *newline = memchr(text, '\n', size);
  if (!newline ||
      sscanf(text, "%zu %u %u %zu %16" SCNx64 "%n", &out->row, &end, &out->other_type, &length,
             &sum, &head) != 5 ||
      text + head != newline || end == OPS_OPEN || end >= OPS_ENDS)
    return 0;
  size_t from = (size_t)head + 1;
  out->end = (enum ops_end)end;
  if (length > size - from || checksum(out, text + from, length) != sum)
    return 0;
  out->text = strndup(text + from, length);
  return from + length;
}

/* Reads the whole file, with a zero behind it; false, with errno, when it cannot. */
static bool read_all(int file, char **text, size_t *size) {
  off_t bytes = lseek(file, 0, SEEK_END);
  *size = 0;
  *text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
  if (!*text || lseek(file, 0, SEEK_SET) != 0)
    return false;
  ssize_t got;
  while ((got = read(file, *text + *size, (size_t)bytes - *size)) > 0 ||
         (got < 0 && errno == EINTR))
    *size += got > 0 ? (size_t)got : 0;
  (*text)[*size] = '\0';
  return got == 0;
}

/* Hands on what the file holds, and the bytes of it that are good. What cannot be read is not taken
 * for torn. */
static bool read_known(int file, const char *header, size_t *good,
                       void (*known)(void *context, struct ops_record record), void *context) {
  size_t size, at = strlen(header);
  char *text;
  bool readable = read_all(file, &text, &size);
  *good = 0;
  if (readable && size >= at && memcmp(text, header, at) == 0) {
    struct ops_record record;
    for (size_t bytes; readable && (bytes = parse_record(text + at, size - at, &record)) > 0;
         at += bytes)
      if ((readable = record.text != NULL))
        known(context, record);
    *good = at;
  }
  free(text);
  return readable;
}

static bool write_all(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written < 0 && errno != EINTR)
      return false;
    bytes += written > 0 ? written : 0;
    size -= written > 0 ? (size_t)written : 0;
  }
  return true;
}

/* File systems without locks do without. */
static bool take_lock(int file) {
  while (flock(file, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR)
      return errno != EWOULDBLOCK;
  return true;
}

/* The one who has had it may have removed it meanwhile. */
static bool is_removed(int file) {
  struct stat is;
  return fstat(file, &is) != 0 || is.st_nlink == 0;
}

/* Opens the file for this process alone. That of a killed run ends soon, but not in no time. */
static enum vinci_status open_alone(struct ops_journal *journal, const char *folder,
                                    struct vinci_diag *diag) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    journal->file = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal->file < 0)
      return failed(journal, diag);
    if (take_lock(journal->file) && !is_removed(journal->file))
      return VINCI_OK;
    close(journal->file);
    journal->file = -1;
    nanosleep(&(struct timespec){.tv_nsec = LOCK_NS}, NULL);
  }
  return diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = folder},
                       "another run is working in this folder");
}

enum vinci_status ops_journal_open(struct ops_journal *journal, const char *folder,
                                   uint64_t identity,
                                   void (*known)(void *context, struct ops_record record),
                                   void *context, struct vinci_diag *diag) {
  char header[HEADER_BYTES];
  snprintf(header, sizeof header, HEADER_FORMAT, identity);
  snprintf(journal->path, sizeof journal->path, "%s/op_summary.journal", folder);
  enum vinci_status status = open_alone(journal, folder, diag);
  if (status != VINCI_OK)
    return status;
  size_t good;
  if (!read_known(journal->file, header, &good, known, context) ||
      ftruncate(journal->file, (off_t)good) != 0 || lseek(journal->file, 0, SEEK_END) < 0 ||
      (good == 0 && !write_all(journal->file, header, strlen(header))))
    return failed(journal, diag);
  return VINCI_OK;
}

enum vinci_status ops_journal_add(struct ops_journal *journal, const struct ops_record *record,
                                  struct vinci_diag *diag) {
  size_t length = strlen(record->text);
  char *bytes = malloc(RECORD_HEAD_BYTES + length);
  if (!bytes)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  int head = snprintf(bytes, RECORD_HEAD_BYTES, RECORD_FORMAT, record->row, (unsigned)record->end,
                      record->other_type, length, checksum(record, record->text, length));
  memcpy(bytes + head, record->text, length);
  bool written = write_all(journal->file, bytes, (size_t)head + length);
  free(bytes);
  return written ? VINCI_OK : failed(journal, diag);
}

void ops_journal_close(struct ops_journal *journal, bool complete) {
  if (journal->file < 0)
    return;
  if (complete) /* while no other process can have the folder */
    unlink(journal->path);
  close(journal->file);
  journal->file = -1;
}
