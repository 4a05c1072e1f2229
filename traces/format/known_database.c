/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a profiler's database, as the vendor documents them: TASK has the times of each task,
 * COMPUTE_TASK_INFO what a kernel is, TASK_PMU_INFO what the units of its cores have counted,
 * COMMUNICATION_OP the collectives; texts are numbers of STRING_IDS. Later versions call blocks
 * blockNum.
 */
#include "traces/format/known_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/diag.h"
#include "core/base/file.h"

static const char magic[] = "SQLite format 3";

bool known_is_database(const char *path) {
  char head[sizeof magic] = "";
  FILE *file = fopen(path, "rb");
  bool is = file && fread(head, 1, sizeof head, file) == sizeof head &&
            memcmp(head, magic, sizeof head) == 0;
  if (file)
    fclose(file);
  return is;
}

#ifdef HAVE_SQLITE
#include <dlfcn.h>
#include <sqlite3.h>

/* SQLite is loaded when a database is opened: all other starts of the program do without. */
#define SQLITE_FUNCTIONS(X)                                                                        \
  X(open_v2)                                                                                       \
  X(close)                                                                                         \
  X(errmsg)                                                                                        \
  X(prepare_v2)                                                                                    \
  X(bind_text)                                                                                     \
  X(step)                                                                                          \
  X(finalize)                                                                                      \
  X(column_int64)                                                                                  \
  X(column_text)
struct sqlite {
  void *library;
#define X(name) __typeof__(sqlite3_##name) *name;
  SQLITE_FUNCTIONS(X)
#undef X
};

static bool load(struct sqlite *sqlite) {
  *sqlite = (struct sqlite){.library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_LOCAL)};
  if (!sqlite->library)
    return false;
#define X(name)                                                                                    \
  void *name##_at = dlsym(sqlite->library, "sqlite3_" #name);                                      \
  memcpy(&sqlite->name, &name##_at, sizeof name##_at);                                             \
  if (!name##_at)                                                                                  \
    return false;
  SQLITE_FUNCTIONS(X)
#undef X
  return true;
}

bool known_databases_are_read(void) { return true; }

/* Texts of the columns from the third on; the names of the columns in the file come first. */
static const struct column {
  const char *names[2], *head;
  bool is_number;
} columns[] = {
    {{"name"}, "Name", false},
    {{"opType"}, "Type", false},
    {{"taskType"}, "Accelerator Core", false},
    {{"blockDim", "blockNum"}, "Block Dim", true},
    {{"mixBlockDim", "mixBlockNum"}, "Mix Block Dim", true},
    {{"hf32Eligible"}, "HF32 Eligible", false},
    {{"inputShapes"}, "Input Shapes", false},
    {{"inputDataTypes"}, "Input Data Types", false},
    {{"inputFormats"}, "Input Formats", false},
    {{"outputShapes"}, "Output Shapes", false},
    {{"outputDataTypes"}, "Output Data Types", false},
    {{"outputFormats"}, "Output Formats", false},
};
enum { COLUMNS = sizeof columns / sizeof *columns, START = 0, DURATION, DEVICE, FIRST_TEXT };

/* Names of the profiler's groups of metrics have less than 32 bytes, and a group less than 32. */
enum { METRICS_MAX = 64, METRIC_NAME_MAX = 64 };
struct metric {
  sqlite3_int64 id;
  char name[METRIC_NAME_MAX];
};

struct database {
  const char *path;
  struct sqlite sqlite;
  sqlite3 *file;
  struct vinci_diag *diag;
  unsigned metrics;
  struct metric metric[METRICS_MAX];
};

static enum vinci_status failed(const struct database *database) {
  return diag_error_at(database->diag, VINCI_E_INPUT,
                       (struct diag_position){.path = database->path},
                       "the database cannot be read: %s", database->sqlite.errmsg(database->file));
}

/* Whether a query of two texts, of which the second may be NULL, has a row. */
static bool finds(const struct database *database, const char *query, const char *table,
                  const char *column) {
  sqlite3_stmt *found = NULL;
  bool there =
      database->sqlite.prepare_v2(database->file, query, -1, &found, NULL) == SQLITE_OK &&
      database->sqlite.bind_text(found, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
      (!column || database->sqlite.bind_text(found, 2, column, -1, SQLITE_STATIC) == SQLITE_OK) &&
      database->sqlite.step(found) == SQLITE_ROW;
  database->sqlite.finalize(found);
  return there;
}

/* Whether a table, or a column of a table, is there. */
static bool has(const struct database *database, const char *table, const char *column) {
  return finds(database,
               "SELECT 1 FROM sqlite_master m WHERE m.type = 'table' AND m.rootpage > 0 AND "
               "m.name = ?1 COLLATE NOCASE AND (?2 IS NULL OR EXISTS "
               "(SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = ?2))",
               table, column);
}

/* Whether a view or a virtual table has the name, which may have rows without end. */
static bool is_view(const struct database *database, const char *table) {
  return finds(database,
               "SELECT 1 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND ?2 IS NULL AND "
               "(type = 'view' OR (type = 'table' AND rootpage = 0))",
               table, NULL);
}

/*
 * What the units of a core have counted (TASK_PMU_INFO), a row for each name: times are
 * microseconds, as ratios and cycles of the vendor's own tests of this table show. A file may
 * launch the same task again and again; later versions have a time in each row, which says of which
 * launch it is.
 */
static enum vinci_status find_metrics(struct database *database) {
  sqlite3_stmt *row = NULL;
  int step = SQLITE_DONE;
  if (!has(database, "TASK_PMU_INFO", "value"))
    return VINCI_OK;
  if (database->sqlite.prepare_v2(database->file,
                                  "SELECT DISTINCT s.id, s.value FROM TASK_PMU_INFO p "
                                  "JOIN STRING_IDS s ON s.id = p.name ORDER BY s.value",
                                  -1, &row, NULL) != SQLITE_OK)
    return failed(database);
  bool fits = true;
  while (fits && (step = database->sqlite.step(row)) == SQLITE_ROW) {
    const char *name = (const char *)database->sqlite.column_text(row, 1);
    struct metric *metric = &database->metric[database->metrics];
    fits = database->metrics < METRICS_MAX && name && strlen(name) < METRIC_NAME_MAX;
    if (!fits)
      break;
    metric->id = database->sqlite.column_int64(row, 0);
    memcpy(metric->name, name, strlen(name) + 1);
    database->metrics++;
  }
  database->sqlite.finalize(row);
  if (!fits)
    return diag_error_at(database->diag, VINCI_E_INPUT,
                         (struct diag_position){.path = database->path},
                         "TASK_PMU_INFO has more than %d names, or one of %d bytes or more, which "
                         "no profiler writes",
                         METRICS_MAX, METRIC_NAME_MAX);
  return step == SQLITE_DONE ? VINCI_OK : failed(database);
}

/* The name of a metric as in tables of the profiler. */
static void put_metric_head(FILE *out, const char *name) {
  size_t length = strlen(name);
  if (strcmp(name, "aic_total_time") == 0)
    fputs("aicore_time(us)", out);
  else if (strcmp(name, "aiv_total_time") == 0)
    fputs("aiv_time(us)", out);
  else {
    cell_put(out, name);
    if (length > 5 && strcmp(name + length - 5, "_time") == 0)
      fputs("(us)", out);
  }
}

/* Joins the metrics of a launch in one row at most. Where a launch has several rows of a name, or a
 * task several launches and no row says of which launch it is, the name is left empty. */
static void put_metrics(const struct database *database, FILE *out) {
  bool timed = has(database, "TASK_PMU_INFO", "timestampNs");
  if (database->metrics == 0)
    return;
  fputs(" LEFT JOIN (SELECT l.globalTaskId AS task, l.startNs AS began", out);
  for (unsigned i = 0; i < database->metrics; i++)
    fprintf(out,
            ", CASE WHEN sum(p.name = %lld) = 1 "
            "THEN max(CASE WHEN p.name = %lld THEN p.value END) END AS m%u",
            (long long)database->metric[i].id, (long long)database->metric[i].id, i);
  fprintf(out,
          " FROM TASK l JOIN TASK_PMU_INFO p ON p.globalTaskId = l.globalTaskId%s"
          " GROUP BY l.globalTaskId%s) m ON m.task = t.globalTaskId%s",
          timed ? " AND p.timestampNs BETWEEN l.startNs AND l.endNs" : "",
          timed ? ", l.startNs" : "", timed ? " AND m.began = t.startNs" : "");
}

/* The query of launches; columns that the file does not have are empty. */
static char *query_of(const struct database *database) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  fputs("SELECT t.startNs AS start, t.endNs - t.startNs, t.deviceId", out);
  for (unsigned i = 0; i < COLUMNS; i++) {
    const struct column *column = &columns[i];
    const char *name = NULL;
    for (unsigned k = 0; k < 2 && !name; k++)
      if (column->names[k] && has(database, "COMPUTE_TASK_INFO", column->names[k]))
        name = column->names[k];
    if (!name)
      fputs(", ''", out);
    else if (column->is_number)
      fprintf(out, ", c.%s", name);
    else
      fprintf(out, ", (SELECT value FROM STRING_IDS WHERE id = c.%s)", name);
  }
  for (unsigned i = 0; i < database->metrics; i++)
    fprintf(out, ", m.m%u", i);
  fputs(" FROM COMPUTE_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId", out);
  put_metrics(database, out);
  if (has(database, "COMMUNICATION_OP", "opName")) {
    fputs(" UNION ALL SELECT o.startNs, o.endNs - o.startNs, ", out);
    fputs(has(database, "COMMUNICATION_OP", "deviceId") ? "o.deviceId" : "''", out);
    fputs(", (SELECT value FROM STRING_IDS WHERE id = o.opName)"
          ", (SELECT value FROM STRING_IDS WHERE id = o.opType), 'HCCL'",
          out);
    for (unsigned i = 3; i < COLUMNS + database->metrics; i++)
      fputs(", ''", out);
    fputs(" FROM COMMUNICATION_OP o", out);
  }
  fputs(" ORDER BY start", out);
  return file_close_text(out, &text) ? text : NULL;
}

/* Microseconds of nanoseconds. */
static void put_us(FILE *out, sqlite3_int64 ns) {
  fprintf(out, "%lld.%03lld", (long long)(ns / 1000),
          (long long)(ns < 0 ? -(ns % 1000) : ns % 1000));
}

/* Some versions keep the quotes that shapes have in tables as text. */
static void put_text(FILE *out, const char *text) {
  size_t length = text ? strlen(text) : 0;
  char *inner = length > 1 && text[0] == '"' && text[length - 1] == '"'
                    ? strndup(text + 1, length - 2)
                    : NULL;
  const char *cell = inner ? inner : text ? text : "";
  bool quoted = cell_wants_quotes(cell);
  fputs(quoted ? "\"" : "", out);
  cell_put(out, cell);
  fputs(quoted ? "\"" : "", out);
  free(inner);
}

static void put_row(const struct database *database, FILE *out, sqlite3_stmt *row) {
  const struct sqlite *sqlite = &database->sqlite;
  put_us(out, sqlite->column_int64(row, START));
  fputc(',', out);
  put_us(out, sqlite->column_int64(row, DURATION));
  fputc(',', out);
  put_text(out, (const char *)sqlite->column_text(row, DEVICE));
  for (int i = 0; i < COLUMNS + (int)database->metrics; i++) {
    fputc(',', out);
    put_text(out, (const char *)sqlite->column_text(row, FIRST_TEXT + i));
  }
  fputc('\n', out);
}

static enum vinci_status write_rows(const struct database *database, sqlite3_stmt *rows,
                                    FILE *out) {
  int step;
  fputs("Start Time(us),Duration(us),Device_id", out);
  for (unsigned i = 0; i < COLUMNS; i++)
    fprintf(out, ",%s", columns[i].head);
  for (unsigned i = 0; i < database->metrics; i++) {
    fputc(',', out);
    put_metric_head(out, database->metric[i].name);
  }
  fputc('\n', out);
  while ((step = database->sqlite.step(rows)) == SQLITE_ROW)
    put_row(database, out, rows);
  return step == SQLITE_DONE ? VINCI_OK : failed(database);
}

static enum vinci_status check_tables(const struct database *database) {
  enum { NEEDED = 3, TABLES = 5 };
  static const char *const tables[TABLES] = {"TASK", "COMPUTE_TASK_INFO", "STRING_IDS",
                                             "TASK_PMU_INFO", "COMMUNICATION_OP"};
  sqlite3_stmt *any = NULL;
  bool whole = database->sqlite.prepare_v2(database->file, "SELECT count(*) FROM sqlite_master", -1,
                                           &any, NULL) == SQLITE_OK &&
               database->sqlite.step(any) == SQLITE_ROW;
  database->sqlite.finalize(any);
  if (!whole)
    return failed(database);
  for (size_t i = 0; i < TABLES; i++)
    if (is_view(database, tables[i]))
      return diag_error_at(database->diag, VINCI_E_INPUT,
                           (struct diag_position){.path = database->path},
                           "%s is a view, which may have rows without end; that of a profiler is "
                           "a table",
                           tables[i]);
  for (size_t i = 0; i < NEEDED; i++)
    if (!has(database, tables[i], NULL)) {
      (void)diag_error_at(database->diag, VINCI_E_INPUT,
                          (struct diag_position){.path = database->path},
                          "the database has no table %s, which that of a profiler has", tables[i]);
      diag_hint(database->diag,
                "give ascend_pytorch_profiler*.db, msprof_*.db or kernel_details.csv");
      return VINCI_E_INPUT;
    }
  return VINCI_OK;
}

static enum vinci_status take_text(struct database *database, char **text, size_t *length) {
  enum vinci_status status = check_tables(database);
  if (status == VINCI_OK)
    status = find_metrics(database);
  if (status != VINCI_OK)
    return status;
  char *query = query_of(database);
  sqlite3_stmt *rows = NULL;
  FILE *out = query ? open_memstream(text, length) : NULL;
  if (!out)
    status = diag_error(database->diag, VINCI_E_NOMEM, "out of memory reading a database");
  else if (database->sqlite.prepare_v2(database->file, query, -1, &rows, NULL) != SQLITE_OK)
    status = failed(database);
  else
    status = write_rows(database, rows, out);
  database->sqlite.finalize(rows);
  free(query);
  if (out && !file_close_text(out, text) && status == VINCI_OK)
    status = diag_error(database->diag, VINCI_E_NOMEM, "out of memory reading a database");
  return status;
}

enum vinci_status known_database_text(const char *path, char **text, size_t *length,
                                      struct vinci_diag *diag) {
  struct database database = {.path = path, .diag = diag};
  enum vinci_status status = VINCI_OK;
  *text = NULL;
  if (!load(&database.sqlite)) {
    if (database.sqlite.library)
      dlclose(database.sqlite.library);
    (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                        "is a database, and libsqlite3.so.0 cannot be loaded");
    diag_hint(diag, "install libsqlite3-0, or give kernel_details.csv of the same profile");
    return VINCI_E_USAGE;
  }
  if (database.sqlite.open_v2(path, &database.file, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
    status = failed(&database);
  if (status == VINCI_OK)
    status = take_text(&database, text, length);
  database.sqlite.close(database.file);
  dlclose(database.sqlite.library);
  if (status != VINCI_OK) {
    free(*text);
    *text = NULL;
  }
  return status;
}

#else

bool known_databases_are_read(void) { return false; }

enum vinci_status known_database_text(const char *path, char **text, size_t *length,
                                      struct vinci_diag *diag) {
  *text = NULL;
  *length = 0;
  (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                      "is a database, and this vinci was built without libsqlite3-dev");
  diag_hint(diag, "kernel_details.csv of the same profile has these rows");
  return VINCI_E_USAGE;
}

#endif
