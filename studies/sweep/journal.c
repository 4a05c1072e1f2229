/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals: DIR/journal/NAME.log, one line per finished point, "id TAB cells TAB checksum".
 * Each worker appends to its own by one write() per line, so a process that is killed leaves
 * whole lines and at most one that is torn, which the checksum tells.
 */
#include <dirent.h>
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
#include "core/base/file.h"
#include "studies/sweep/sweep.h"

enum { ID_DIGITS = 16, LOCK_TRIES = 30 };

/* ---- writing --------------------------------------------------------------------------- */

/* A line that a killed process left without an end gets its line end. */
static bool end_torn_line(int fd) {
  char last;
  off_t end = lseek(fd, 0, SEEK_END);
  if (end <= 0 || pread(fd, &last, 1, end - 1) != 1 || last == '\n')
    return true;
  return write(fd, "\n", 1) == 1;
}

enum vinci_status sweep_journal_open(struct sweep_journal *journal, const char *folder,
                                     const char *name, struct vinci_diag *diag) {
  *journal = (struct sweep_journal){.fd = -1};
  int length = snprintf(journal->path, sizeof journal->path, "%s/journal/%s.log", folder, name);
  if (length >= (int)sizeof journal->path)
    return diag_error(diag, VINCI_E_IO, "the name of the result folder is too long");
  journal->fd = open(journal->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (journal->fd < 0 || !end_torn_line(journal->fd))
    return file_error(diag, journal->path, "write");
  return VINCI_OK;
}

bool sweep_journal_add(struct sweep_journal *journal, uint64_t id, const char *cells) {
  char line[SWEEP_RECORD_MAX + 2 * ID_DIGITS + 8];
  int length = snprintf(line, sizeof line, "%016" PRIx64 "\t%s", id, cells);
  if (length < 0 || (size_t)length >= sizeof line - ID_DIGITS - 2) {
    errno = EMSGSIZE;
    return false;
  }
  uint64_t checksum = digest_bytes(DIGEST_SEED, line, (size_t)length);
  length += snprintf(line + length, sizeof line - (size_t)length, "\t%016" PRIx64 "\n", checksum);
  ssize_t written = write(journal->fd, line, (size_t)length);
  if (written >= 0 && written < length)
    errno = ENOSPC; /* a part: what a disk does that is full now */
  return written == length;
}

bool sweep_journal_sync(const struct sweep_journal *journal) {
  /* Files that cannot be synchronised, on some networks, are as good as they get. */
  return fdatasync(journal->fd) == 0 || errno == EINVAL || errno == ENOSYS;
}

void sweep_journal_close(struct sweep_journal *journal) {
  if (journal->fd < 0)
    return;
  (void)sweep_journal_sync(journal);
  close(journal->fd);
  journal->fd = -1;
}

enum vinci_status sweep_lock(const char *folder, const char *name, int *fd,
                             struct vinci_diag *diag) {
  char path[512];
  snprintf(path, sizeof path, "%s/journal", folder);
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return file_error(diag, path, "make the folder");
  snprintf(path, sizeof path, "%s/journal/%s.lock", folder, name);
  *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*fd < 0)
    return file_error(diag, path, "write");
  /* Workers of a killed sweep end at once, but not in no time. */
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
      return VINCI_OK;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  close(*fd);
  return diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = folder},
                       "another sweep is running in this folder");
}

/* ---- reading --------------------------------------------------------------------------- */

static bool parse_hex(const char *text, uint64_t *out) {
  char *end, copy[ID_DIGITS + 1];
  memcpy(copy, text, ID_DIGITS);
  copy[ID_DIGITS] = '\0';
  if (strspn(copy, "0123456789abcdef") != ID_DIGITS)
    return false;
  *out = strtoull(copy, &end, 16);
  return true;
}

/* A line without its end; changed in place. */
static bool parse_line(char *line, size_t length, struct sweep_record *record) {
  uint64_t checksum;
  if (length < 2 * ID_DIGITS + 2 || line[ID_DIGITS] != '\t' || line[length - ID_DIGITS - 1] != '\t')
    return false;
  size_t body = length - ID_DIGITS - 1;
  if (!parse_hex(line, &record->id) || !parse_hex(line + body + 1, &checksum) ||
      digest_bytes(DIGEST_SEED, line, body) != checksum)
    return false;
  line[body] = '\0';
  record->cells = line + ID_DIGITS + 1;
  return true;
}

static bool is_crash(const char *cells) { return strncmp(cells, "crashed,", 8) == 0; }

struct reading {
  struct sweep_records *out;
  size_t capacity;
  struct vinci_diag *diag;
};

static enum vinci_status add_record(struct reading *reading, struct sweep_record record) {
  struct sweep_records *out = reading->out;
  if (out->count == reading->capacity) {
    size_t capacity = reading->capacity ? 2 * reading->capacity : 1024;
    struct sweep_record *items = realloc(out->items, capacity * sizeof *items);
    if (!items)
      return diag_error(reading->diag, VINCI_E_NOMEM, "out of memory");
    out->items = items;
    reading->capacity = capacity;
  }
  record.cells = arena_strdup(&out->arena, record.cells);
  if (!record.cells)
    return diag_error(reading->diag, VINCI_E_NOMEM, "out of memory");
  out->items[out->count++] = record;
  return VINCI_OK;
}

static enum vinci_status read_journal(struct reading *reading, const char *path) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  enum vinci_status status = VINCI_OK;
  FILE *in = fopen(path, "r");
  if (!in)
    return file_error(reading->diag, path, "read");
  while (status == VINCI_OK && (length = getline(&line, &capacity, in)) > 0) {
    struct sweep_record record;
    bool whole = line[length - 1] == '\n';
    if (whole && parse_line(line, (size_t)length - 1, &record))
      status = add_record(reading, record);
    else
      reading->out->torn++;
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(reading->diag, path, "read");
  free(line);
  fclose(in);
  return status;
}

/* By id; a result before a crash, else the smaller text, so that the order of files is nothing. */
static int compare_records(const void *left, const void *right) {
  const struct sweep_record *a = left, *b = right;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  if (is_crash(a->cells) != is_crash(b->cells))
    return is_crash(a->cells) ? 1 : -1;
  return strcmp(a->cells, b->cells);
}

static void sort_records(struct sweep_records *records) {
  if (records->count == 0)
    return;
  qsort(records->items, records->count, sizeof *records->items, compare_records);
  size_t kept = 1;
  for (size_t i = 1; i < records->count; i++)
    if (records->items[i].id != records->items[kept - 1].id)
      records->items[kept++] = records->items[i];
  records->count = kept;
}

enum vinci_status sweep_records_read(const char *folder, struct sweep_records *out,
                                     struct vinci_diag *diag) {
  char path[1024];
  struct reading reading = {.out = out, .diag = diag};
  enum vinci_status status = VINCI_OK;
  *out = (struct sweep_records){0};
  snprintf(path, sizeof path, "%s/journal", folder);
  DIR *journals = opendir(path);
  if (!journals)
    return errno == ENOENT ? VINCI_OK : file_error(diag, path, "read");
  for (struct dirent *entry; status == VINCI_OK && (entry = readdir(journals)) != NULL;) {
    size_t length = strlen(entry->d_name);
    if (length < 4 || strcmp(entry->d_name + length - 4, ".log") != 0)
      continue;
    snprintf(path, sizeof path, "%s/journal/%s", folder, entry->d_name);
    status = read_journal(&reading, path);
  }
  closedir(journals);
  if (status == VINCI_OK)
    sort_records(out);
  return status;
}

void sweep_records_free(struct sweep_records *records) {
  free(records->items);
  arena_free(&records->arena);
  *records = (struct sweep_records){0};
}

static int compare_id(const void *key, const void *item) {
  uint64_t id = *(const uint64_t *)key, other = ((const struct sweep_record *)item)->id;
  return id < other ? -1 : id > other;
}

const char *sweep_records_find(const struct sweep_records *records, uint64_t id) {
  const struct sweep_record *record =
      records->count > 0
          ? bsearch(&id, records->items, records->count, sizeof *records->items, compare_id)
          : NULL;
  return record ? record->cells : NULL;
}
