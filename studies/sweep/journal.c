/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals: DIR/journal/NAME.log, one line per finished point, "id TAB cells". Each worker appends
 * to its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/sweep/sweep.h"

enum { ID_DIGITS = 16, FILES_STEP = 64 };

/* ---- writing --------------------------------------------------------------------------- */

enum vinci_status sweep_journal_open(struct journal *journal, const char *folder, const char *name,
                                     struct vinci_diag *diag) {
  char path[JOURNAL_PATH_BYTES];
  *journal = (struct journal){.file = -1};
  int length = snprintf(path, sizeof path, "%s/journal/%s.log", folder, name);
  if (length >= (int)sizeof path)
    return diag_error(diag, VINCI_E_IO, "the name of the result folder is too long");
  return journal_open(journal, &(struct journal_request){.path = path}, diag);
}

bool sweep_journal_add(const struct journal *journal, uint64_t id, const char *cells) {
  char text[SWEEP_RECORD_MAX + ID_DIGITS + 2];
  snprintf(text, sizeof text, "%016" PRIx64 "\t%s", id, cells);
  return journal_add(journal, text);
}

enum vinci_status sweep_lock(const char *folder, const char *name, struct journal *lock,
                             struct vinci_diag *diag) {
  char path[JOURNAL_PATH_BYTES];
  snprintf(path, sizeof path, "%s/journal", folder);
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return file_error(diag, path, "make the folder");
  snprintf(path, sizeof path, "%s/journal/%s.lock", folder, name);
  struct journal_request request = {.path = path,
                                    .sharing = JOURNAL_ALONE,
                                    .busy = "another sweep is running in this folder",
                                    .busy_at = folder};
  return journal_open(lock, &request, diag);
}

/* ---- reading --------------------------------------------------------------------------- */

static const char crash[] = "crashed,";

static bool is_crash(const char *cells) { return strncmp(cells, crash, sizeof crash - 1) == 0; }

struct reading {
  struct sweep_records *out;
  size_t capacity;
  uint32_t file;
};

static bool add_record(void *context, char *text, uint64_t offset) {
  struct reading *reading = context;
  struct sweep_records *out = reading->out;
  size_t bytes = strlen(text);
  if (text[strspn(text, "0123456789abcdef")] != '\t' || strcspn(text, "\t") != ID_DIGITS ||
      bytes - ID_DIGITS - 1 >= SWEEP_RECORD_MAX)
    return true;
  if (out->count == reading->capacity) {
    size_t capacity = reading->capacity ? 2 * reading->capacity : 1024;
    struct sweep_record *items = realloc(out->items, capacity * sizeof *items);
    if (!items)
      return false;
    out->items = items;
    reading->capacity = capacity;
  }
  out->items[out->count++] = (struct sweep_record){.id = strtoull(text, NULL, 16),
                                                   .offset = offset + ID_DIGITS + 1,
                                                   .file = reading->file,
                                                   .bytes = (uint16_t)(bytes - ID_DIGITS - 1),
                                                   .crashed = is_crash(text + ID_DIGITS + 1)};
  return true;
}

/* By id; a result before a crash. */
static int compare_records(const void *left, const void *right) {
  const struct sweep_record *a = left, *b = right;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  return a->crashed - b->crashed;
}

/* Of records of one point that are alike, the smaller text, so that the order of files is nothing.
 */
static enum vinci_status keep_smaller(struct sweep_records *records, struct sweep_record *kept,
                                      const struct sweep_record *other, struct vinci_diag *diag) {
  char cells[SWEEP_RECORD_MAX], others[SWEEP_RECORD_MAX];
  enum vinci_status status = sweep_records_cells(records, kept, cells, diag);
  if (status == VINCI_OK)
    status = sweep_records_cells(records, other, others, diag);
  if (status == VINCI_OK && strcmp(others, cells) < 0)
    *kept = *other;
  return status;
}

/* Sorts, and keeps one record of each point. */
static enum vinci_status sort_records(struct sweep_records *records, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  size_t kept = 0;
  if (records->count == 0)
    return VINCI_OK;
  qsort(records->items, records->count, sizeof *records->items, compare_records);
  for (size_t i = 1; status == VINCI_OK && i < records->count; i++) {
    const struct sweep_record *record = &records->items[i];
    if (record->id != records->items[kept].id)
      records->items[++kept] = *record;
    else if (record->crashed == records->items[kept].crashed)
      status = keep_smaller(records, &records->items[kept], record, diag);
  }
  records->count = kept + 1;
  return status;
}

/* The name of the journal, kept with the records. */
static bool add_file(struct sweep_records *records, const char *path) {
  if (records->file_count % FILES_STEP == 0) {
    size_t bytes = (records->file_count + FILES_STEP) * sizeof *records->files;
    const char **files = realloc(records->files, bytes);
    if (!files)
      return false;
    records->files = files;
  }
  records->files[records->file_count] = arena_strdup(&records->arena, path);
  return records->files[records->file_count++] != NULL;
}

enum vinci_status sweep_records_read(const char *folder, struct sweep_records *out,
                                     struct vinci_diag *diag) {
  char path[1024];
  struct reading reading = {.out = out};
  enum vinci_status status = VINCI_OK;
  *out = (struct sweep_records){0};
  for (size_t i = 0; i < SWEEP_FILES_OPEN; i++)
    out->open[i].descriptor = -1;
  snprintf(path, sizeof path, "%s/journal", folder);
  DIR *journals = opendir(path);
  if (!journals)
    return errno == ENOENT ? VINCI_OK : file_error(diag, path, "read");
  for (struct dirent *entry; status == VINCI_OK && (entry = readdir(journals)) != NULL;) {
    size_t length = strlen(entry->d_name);
    if (length < 4 || strcmp(entry->d_name + length - 4, ".log") != 0)
      continue;
    snprintf(path, sizeof path, "%s/journal/%s", folder, entry->d_name);
    reading.file = (uint32_t)out->file_count;
    status = add_file(out, path) ? journal_read(path, add_record, &reading, &out->torn, diag)
                                 : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  closedir(journals);
  return status == VINCI_OK ? sort_records(out, diag) : status;
}

void sweep_records_free(struct sweep_records *records) {
  for (size_t i = 0; i < SWEEP_FILES_OPEN && records->files; i++)
    if (records->open[i].descriptor >= 0)
      close(records->open[i].descriptor);
  free(records->items);
  free(records->files);
  arena_free(&records->arena);
  *records = (struct sweep_records){0};
}

static int compare_id(const void *key, const void *item) {
  uint64_t id = *(const uint64_t *)key, other = ((const struct sweep_record *)item)->id;
  return id < other ? -1 : id > other;
}

const struct sweep_record *sweep_records_find(const struct sweep_records *records, uint64_t id) {
  return records->count > 0
             ? bsearch(&id, records->items, records->count, sizeof *records->items, compare_id)
             : NULL;
}

/* A journal is open in the place that its number gives; who was there before is closed. */
static int open_journal(struct sweep_records *records, uint32_t file) {
  struct sweep_open_file *place = &records->open[file % SWEEP_FILES_OPEN];
  if (place->descriptor >= 0 && place->file == file)
    return place->descriptor;
  if (place->descriptor >= 0)
    close(place->descriptor);
  *place = (struct sweep_open_file){file, open(records->files[file], O_RDONLY | O_CLOEXEC)};
  return place->descriptor;
}

enum vinci_status sweep_records_cells(struct sweep_records *records,
                                      const struct sweep_record *record,
                                      char cells[static SWEEP_RECORD_MAX],
                                      struct vinci_diag *diag) {
  int descriptor = open_journal(records, record->file);
  ssize_t got = -1;
  while (descriptor >= 0 &&
         (got = pread(descriptor, cells, record->bytes, (off_t)record->offset)) < 0 &&
         errno == EINTR)
    ;
  if (got == record->bytes) {
    cells[got] = '\0';
    return VINCI_OK;
  }
  if (got >= 0) /* shorter than it was */
    errno = EIO;
  return file_error(diag, records->files[record->file], "read");
}
