/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIR/manifest.csv, the points of the study in order, and DIR/results.csv, the same lines
 * completed from the records. Both are written aside and renamed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cells.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/sweep/sweep.h"

enum { ID_DIGITS = 16, PATH_SIZE = 1024 };

struct table {
  FILE *out;
  char path[PATH_SIZE];
  char temporary[PATH_SIZE];
};

/* A temporary name of its own where others may write the same table. */
static FILE *open_shared(char *path) {
  enum { READ_BY_ALL = 0644 };
  int fd = mkstemp(path);
  if (fd >= 0)
    (void)fchmod(fd, READ_BY_ALL);
  return fd < 0 ? NULL : fdopen(fd, "w");
}

static enum vinci_status table_open(struct table *table, const char *folder, const char *name,
                                    bool shared, struct vinci_diag *diag) {
  int length = snprintf(table->temporary, sizeof table->temporary, "%s/%s.%s", folder, name,
                        shared ? "XXXXXX" : "part");
  if (length >= (int)sizeof table->temporary)
    return diag_error(diag, VINCI_E_IO, "the name of the result folder is too long");
  snprintf(table->path, sizeof table->path, "%s/%s", folder, name);
  table->out = shared ? open_shared(table->temporary) : fopen(table->temporary, "w");
  return table->out ? VINCI_OK : file_error(diag, table->temporary, "write");
}

/* Closes; with keep the file takes its name. */
static enum vinci_status table_close(struct table *table, bool keep, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  errno = 0;
  bool failed = fflush(table->out) != 0 || ferror(table->out);
  failed |= fclose(table->out) != 0;
  if (failed || (keep && rename(table->temporary, table->path) != 0))
    status = file_error(diag, table->path, "write");
  if (!keep || status != VINCI_OK)
    remove(table->temporary);
  return status;
}

/* Whether a file has the bytes of another. */
static bool same_file(const char *path, const char *other) {
  FILE *a = fopen(path, "r"), *b = fopen(other, "r");
  bool same = a && b;
  for (int c = 0; same && c != EOF;) {
    c = fgetc(a);
    same = c == fgetc(b);
  }
  if (a)
    fclose(a);
  if (b)
    fclose(b);
  return same;
}

/* A table of another study than the manifest's is removed. */
static void remove_stale(const struct table *manifest, const char *folder) {
  char path[PATH_SIZE];
  if (fflush(manifest->out) != 0 || same_file(manifest->temporary, manifest->path))
    return;
  snprintf(path, sizeof path, "%s/results.csv", folder);
  remove(path);
}

/* ---- manifest -------------------------------------------------------------------------- */

static bool write_point(const struct sweep_study *study, size_t point, FILE *out) {
  struct arena scratch = {0};
  struct workload workload;
  char *text = NULL;
  fprintf(out, "%016" PRIx64, study->ids[point]);
  for (size_t p = 0; p < study->param_count; p++) {
    const char *value = study->values[point * study->param_count + p];
    fputc(',', out);
    cell_write(out, value ? value : "");
  }
  if (sweep_workload(study, point, &scratch, &workload))
    text = workload_text(&workload, &scratch);
  fputc(',', out);
  if (text)
    cell_write(out, text);
  fputc('\n', out);
  arena_free(&scratch);
  return text != NULL;
}

enum vinci_status sweep_write_manifest(const struct sweep_study *study, const char *folder,
                                       bool shared, struct vinci_diag *diag) {
  struct table table;
  enum vinci_status status = table_open(&table, folder, "manifest.csv", shared, diag);
  if (status != VINCI_OK)
    return status;
  fputs("point", table.out);
  for (size_t p = 0; p < study->param_count; p++) {
    fputc(',', table.out);
    cell_write(table.out, study->keys[p]);
  }
  fprintf(table.out, ",%s\n",
          study->spec.workload.net  ? SWEEP_NETWORK_COLUMN
          : sweep_is_of_jobs(study) ? SWEEP_JOB_COLUMN
                                    : "workload");
  for (size_t i = 0; status == VINCI_OK && i < study->point_count; i++)
    if (!write_point(study, i, table.out))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    remove_stale(&table, folder);
  enum vinci_status closed = table_close(&table, status == VINCI_OK, diag);
  return status == VINCI_OK ? closed : status;
}

/* ---- results --------------------------------------------------------------------------- */

/* Copies the lines of the manifest with what the records add to them. */
static enum vinci_status merge(FILE *in, const char *path, struct sweep_records *records, FILE *out,
                               struct vinci_sweep_counts *counts, struct vinci_diag *diag) {
  char *line = NULL, cells[SWEEP_RECORD_MAX];
  size_t capacity = 0;
  ssize_t length;
  unsigned long number = 0;
  enum vinci_status status = VINCI_OK;
  while (status == VINCI_OK && (length = getline(&line, &capacity, in)) > 0) {
    line[length - 1] = '\0';
    if (number++ == 0) {
      fprintf(out, "%s,", line);
      sweep_record_header(sweep_columns_of(line), out);
      fputc('\n', out);
      continue;
    }
    char *end;
    uint64_t id = strtoull(line, &end, 16);
    if (end != line + ID_DIGITS || *end != ',') {
      status = diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){path, number, 1},
                             "not a line of a manifest");
      break;
    }
    const struct sweep_record *record = sweep_records_find(records, id);
    cells[0] = '\0';
    if (record)
      status = sweep_records_cells(records, record, cells, diag);
    counts->points++;
    counts->done += record != NULL;
    counts->failed += record && strncmp(cells, "ok,", 3) != 0;
    fprintf(out, "%s,%s\n", line, cells);
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  free(line);
  return status;
}

static enum vinci_status write_results(const char *folder, struct sweep_records *records, FILE *in,
                                       const char *path, bool write,
                                       struct vinci_sweep_counts *counts, struct vinci_diag *diag) {
  struct table table;
  enum vinci_status status = VINCI_OK;
  if (write)
    status = table_open(&table, folder, "results.csv", true, diag);
  else if ((table.out = fopen("/dev/null", "w")) == NULL)
    status = file_error(diag, "/dev/null", "write");
  if (status != VINCI_OK)
    return status;
  status = merge(in, path, records, table.out, counts, diag);
  bool complete = status == VINCI_OK && counts->done == counts->points;
  if (!write) {
    fclose(table.out);
    return status;
  }
  enum vinci_status closed = table_close(&table, complete, diag);
  if (status != VINCI_OK || closed != VINCI_OK || complete)
    return status != VINCI_OK ? status : closed;
  (void)diag_error(diag, VINCI_E_LIMIT, "%zu of %zu points are missing in %s",
                   counts->points - counts->done, counts->points, folder);
  diag_hint(diag, "run the study again; it goes on where it was left");
  return VINCI_E_LIMIT;
}

enum vinci_status vinci_sweep_collect(const char *folder, bool write,
                                      struct vinci_sweep_counts *counts, struct vinci_diag *diag) {
  char path[PATH_SIZE];
  struct sweep_records records;
  *counts = (struct vinci_sweep_counts){0};
  snprintf(path, sizeof path, "%s/manifest.csv", folder);
  FILE *in = fopen(path, "r");
  if (!in) {
    if (errno == ENOMEM)
      return file_error(diag, path, "read");
    (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = folder},
                        "is not the folder of a sweep: %s", strerror(errno));
    diag_hint(diag, "sweep makes such a folder");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = sweep_records_read(folder, &records, diag);
  if (status == VINCI_OK)
    status = write_results(folder, &records, in, path, write, counts, diag);
  sweep_records_free(&records);
  fclose(in);
  return status;
}

/* ---- reading back ------------------------------------------------------------------------ */

struct table_reader {
  FILE *in;
  struct diag_position position;
  char *columns_line, *line; /* which hold the cells */
  size_t columns_size, size;
  char **columns, **cells;
  size_t count;
};

static enum vinci_status refuse_row(const struct table_reader *reader, struct vinci_diag *diag) {
  return diag_error_at(diag, VINCI_E_INPUT, reader->position, "not a line of a table of results");
}

/* A line without its end; NULL at the end of the file. */
static char *read_line(struct table_reader *reader, char **line, size_t *size) {
  ssize_t length = getline(line, size, reader->in);
  if (length <= 0)
    return NULL;
  reader->position.line++;
  if ((*line)[length - 1] == '\n')
    (*line)[length - 1] = '\0';
  return *line;
}

static enum vinci_status read_columns(struct table_reader *reader, struct vinci_diag *diag) {
  char *line = read_line(reader, &reader->columns_line, &reader->columns_size);
  if (!line)
    return refuse_row(reader, diag);
  size_t most = 1;
  for (const char *c = line; *c; c++)
    most += *c == ',';
  reader->columns = calloc(most, sizeof *reader->columns);
  reader->cells = calloc(most, sizeof *reader->cells);
  if (!reader->columns || !reader->cells)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  reader->count = cells_split(line, reader->columns, most);
  return reader->count > 0 ? VINCI_OK : refuse_row(reader, diag);
}

enum vinci_status vinci_sweep_read(const char *folder,
                                   bool (*visit)(void *context, const char *const *columns,
                                                 const char *const *cells, size_t count),
                                   void *context, struct vinci_diag *diag) {
  char path[PATH_SIZE];
  struct table_reader reader = {.position = {.path = path}};
  snprintf(path, sizeof path, "%s/results.csv", folder);
  reader.in = fopen(path, "r");
  if (!reader.in)
    return file_error(diag, path, "read");
  enum vinci_status status = read_columns(&reader, diag);
  bool more = status == VINCI_OK;
  while (more && read_line(&reader, &reader.line, &reader.size)) {
    if (cells_split(reader.line, reader.cells, reader.count) != reader.count)
      status = refuse_row(&reader, diag);
    more = status == VINCI_OK && visit(context, (const char *const *)reader.columns,
                                       (const char *const *)reader.cells, reader.count);
  }
  if (status == VINCI_OK && ferror(reader.in))
    status = file_error(diag, path, "read");
  fclose(reader.in);
  free(reader.columns_line);
  free(reader.line);
  free(reader.columns);
  free(reader.cells);
  return status;
}
