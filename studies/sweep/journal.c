/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals: DIR/journal/NAME.log, one line per finished point, "id TAB cells". Each worker appends
 * to its own.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/sweep/sweep.h"

enum { ID_DIGITS = 16 };

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

static bool is_crash(const char *cells) { return strncmp(cells, "crashed,", 8) == 0; }

struct reading {
  struct sweep_records *out;
  size_t capacity;
};

static bool add_record(void *context, char *text) {
  struct reading *reading = context;
  struct sweep_records *out = reading->out;
  struct sweep_record record;
  if (text[strspn(text, "0123456789abcdef")] != '\t' || strcspn(text, "\t") != ID_DIGITS)
    return true;
  if (out->count == reading->capacity) {
    size_t capacity = reading->capacity ? 2 * reading->capacity : 1024;
    struct sweep_record *items = realloc(out->items, capacity * sizeof *items);
    if (!items)
      return false;
    out->items = items;
    reading->capacity = capacity;
  }
  record.id = strtoull(text, NULL, 16);
  record.cells = arena_strdup(&out->arena, text + ID_DIGITS + 1);
  if (!record.cells)
    return false;
  out->items[out->count++] = record;
  return true;
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
  struct reading reading = {.out = out};
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
    status = journal_read(path, add_record, &reading, &out->torn, diag);
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
