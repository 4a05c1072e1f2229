/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the vendor's profilers: op_summary and kernel_details, a row for each launch; the
 * tables of `msprof op`, a row for each core. */
#include <limits.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/base/words.h"
#include "traces/format/call_columns.h"
#include "traces/format/known_files.h"
#include "traces/import/table.h"

enum { PS_DECIMALS = 6 }; /* microseconds as picoseconds */

struct column_row {
  const char *names;
  enum import_row row;
};

static const struct column_row profile_columns[] = {
    {"Task Duration(us)|Duration(us)|task_time(us)|Avg Time(us)|Device Total Duration(us)",
     IMPORT_DURATION},
    {"Block Num|Block Dim", IMPORT_BLOCKS},
    {"aicore_time(us)|aic_time(us)", IMPORT_AIC_TIME},
    {"aic_total_cycles|total_cycles", IMPORT_AIC_CYCLES},
    {"aic_mac_time(us)|mac_time(us)", IMPORT_AIC_CUBE},
    {"aic_scalar_time(us)|scalar_time(us)", IMPORT_AIC_SCALAR},
    {"aic_mte1_time(us)|mte1_time(us)", IMPORT_AIC_MTE1},
    {"aic_mte2_time(us)|mte2_time(us)", IMPORT_AIC_MTE2},
    {"aic_mte3_time(us)|mte3_time(us)", IMPORT_AIC_MTE3},
    {"aic_fixpipe_time(us)", IMPORT_AIC_FIXPIPE},
    {"vec_time(us)", IMPORT_AIC_VEC},
    {"aiv_time(us)", IMPORT_AIV_TIME},
    {"aiv_total_cycles", IMPORT_AIV_CYCLES},
    {"aiv_vec_time(us)", IMPORT_AIV_VEC},
    {"aiv_scalar_time(us)", IMPORT_AIV_SCALAR},
    {"aiv_mte2_time(us)", IMPORT_AIV_MTE2},
    {"aiv_mte3_time(us)", IMPORT_AIV_MTE3},
};

/* Tables that know durations alone. */
static const struct {
  const char *column, *kind;
} profile_kinds[] = {
    {"Avg Time(us)", "op_statistic"},
    {"task_time(us)", "task_time"},
    {"Device Total Duration(us)", "operator_details"},
};

static const struct column_row basic_columns[] = {
    {"Task Duration(us)", IMPORT_DURATION},
    {"Block Dim", IMPORT_BLOCKS},
};

static const struct column_row pipe_columns[] = {
    {"aic_time(us)", IMPORT_AIC_TIME},          {"aic_total_cycles", IMPORT_AIC_CYCLES},
    {"aic_cube_time(us)", IMPORT_AIC_CUBE},     {"aic_scalar_time(us)", IMPORT_AIC_SCALAR},
    {"aic_mte1_time(us)", IMPORT_AIC_MTE1},     {"aic_mte2_time(us)", IMPORT_AIC_MTE2},
    {"aic_mte3_time(us)", IMPORT_AIC_MTE3},     {"aic_fixpipe_time(us)", IMPORT_AIC_FIXPIPE},
    {"aic_vec_time(us)", IMPORT_AIC_VEC},       {"aiv_time(us)", IMPORT_AIV_TIME},
    {"aiv_total_cycles", IMPORT_AIV_CYCLES},    {"aiv_vec_time(us)", IMPORT_AIV_VEC},
    {"aiv_scalar_time(us)", IMPORT_AIV_SCALAR}, {"aiv_mte2_time(us)", IMPORT_AIV_MTE2},
    {"aiv_mte3_time(us)", IMPORT_AIV_MTE3},
};

static const struct column_row memory_columns[] = {
    {"read_main_memory_datas(KB)", IMPORT_READ}, {"write_main_memory_datas(KB)", IMPORT_WRITTEN},
    {"GM_to_L1_datas(KB)", IMPORT_GM_L1},        {"L0C_to_GM_datas(KB)", IMPORT_L0C_GM},
    {"GM_to_UB_datas(KB)", IMPORT_GM_UB},        {"UB_to_GM_datas(KB)", IMPORT_UB_GM},
};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const struct {
  enum import_unit unit;
  bool sums;
} row_forms[] = {
#define MEAN false
#define SUM true
#define ROW(id, key, unit, join, text) {IMPORT_##unit, join},
#include "traces/import/rows.def"
#undef MEAN
#undef SUM
};

/* Kilobytes of the vendor are of 1024 bytes, with six decimals here. */
static uint64_t in_unit(enum import_row row, uint64_t value) {
  enum { KIB = 1024, SIX_DECIMALS = 1000000 };
  if (row_forms[row].unit != IMPORT_BYTES)
    return value;
  return (uint64_t)(((uint128)value * KIB + SIX_DECIMALS / 2) / SIX_DECIMALS);
}

/* Joins the cells of a column; weight: how many launches each row stands for, NULL: one each.
 * means: also of what cores sum. */
static enum vinci_status join_column(const struct table *table, const struct column_row *column,
                                     const uint64_t *weight, bool means, struct imported *out,
                                     struct vinci_diag *diag) {
  int index = table_column(table, column->names);
  unsigned decimals = row_forms[column->row].unit == IMPORT_COUNT ? 0 : PS_DECIMALS;
  uint128 sum = 0, count = 0;
  for (size_t row = 0; index >= 0 && row < table->rows; row++) {
    struct import_cell cell;
    uint64_t launches = weight ? weight[row] : 1;
    if (launches == 0)
      continue;
    enum vinci_status status = table_number(table, row, (size_t)index, decimals, &cell, diag);
    if (status != VINCI_OK)
      return status;
    sum += (uint128)in_unit(column->row, cell.value) * launches;
    count += cell.known ? launches : 0;
  }
  if (count > 0)
    import_add(&out->cell[column->row],
               (uint64_t)(means || !row_forms[column->row].sums ? sum / count : sum));
  return VINCI_OK;
}

static enum vinci_status join_columns(const struct table *table, const struct column_row *columns,
                                      size_t count, const uint64_t *weight, bool means,
                                      struct imported *out, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < count; i++)
    status = join_column(table, &columns[i], weight, means, out, diag);
  return status;
}

/* ---- columns that are not read ---- */

/* Columns of these tables that are known and not joined, beyond those of lists of operators. */
static const char needless[] =
    "kernelname|kerneltype|coretype|count|mintime(us)|maxtime(us)|ratio(%)|taskstart(us)|"
    "taskstop(us)|callstack|hostselfduration(us)|hosttotalduration(us)|deviceselfduration(us)|"
    "deviceselfdurationwithaicore(us)|devicetotaldurationwithaicore(us)|blockid|subblockid|"
    "currentfreq|ratedfreq|pid";

/* Tables of `msprof op` name each path, conflict and wait: metrics by how their names end. Times,
 * cycles and amounts that are joined end otherwise, so that none of them can be misspelt so. */
static bool is_metric(const char *name) {
  static const char *const ends[] = {
      "ratio",          "bw(gb/s)",     "usagerate(%)",   "instructions",      "instrnumber",
      "fops",           "hitrate(%)",   "(estimate)",     "stalltime(us)",     "waittime(us)",
      "waitibtime(us)", "dualtime(us)", "singletime(us)", "stallbyubtime(us)", "hit",
      "miss",           "victim",       "allocate"};
  size_t length = strlen(name);
  for (size_t i = 0; i < COUNT_OF(ends); i++)
    if (length > strlen(ends[i]) && strcmp(name + length - strlen(ends[i]), ends[i]) == 0)
      return true;
  return false;
}

static bool is_known(const struct table *table, const struct column_row *columns, size_t count,
                     size_t index) {
  char plain[CALL_NAME_MAX];
  const char *name = table->header[index].text;
  for (size_t i = 0; i < count; i++)
    if (table_column(table, columns[i].names) == (int)index)
      return true;
  calls_plain_name(name, strlen(name), plain);
  return calls_is_needless(plain) || calls_find_column(plain) != CALL_COLUMN_COUNT ||
         words_have(needless, plain) || is_metric(plain);
}

static const char *joined_at(const void *context, size_t index) {
  const struct column_row *columns = context;
  return columns[index].names;
}

static enum vinci_status note_unread(const struct table *table, const struct column_row *columns,
                                     size_t count, struct imported *out, struct vinci_diag *diag) {
  for (size_t i = 0; i < table->columns; i++) {
    const struct table_cell *cell = &table->header[i];
    struct unread_found found = {.kind = UNREAD_COLUMN,
                                 .at = {table->path, cell->line, cell->column},
                                 .name = cell->text,
                                 .length = strlen(cell->text)};
    if (is_known(table, columns, count, i))
      continue;
    found.meant = diag_nearest(cell->text, count, joined_at, columns);
    if (!unread_add(&out->unread, out->arena, &found))
      return diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", table->path);
  }
  return VINCI_OK;
}

/* ---- op_summary, kernel_details ---- */

/* The names of the rows, then their types: for suggestions. */
struct row_names {
  const struct table *table;
  int name, type;
};

static const char *row_name_at(const void *context, size_t index) {
  const struct row_names *names = context;
  int column = index < names->table->rows ? names->name : names->type;
  return column < 0 ? NULL
                    : table_at(names->table, index % names->table->rows, (size_t)column)->text;
}

static bool is_called(const struct row_names *names, size_t row, const char *op) {
  const char *name = row_name_at(names, row), *type = row_name_at(names, row + names->table->rows);
  return (name && strcmp(name, op) == 0) || (type && strcmp(type, op) == 0);
}

/* Rows of op_statistic stand for all launches of a type. */
static enum vinci_status launches_of(const struct table *table, size_t row, uint64_t *out,
                                     struct vinci_diag *diag) {
  int column = table_column(table, "Avg Time(us)") < 0 ? -1 : table_column(table, "Count");
  struct import_cell cell = {.known = true, .value = 1};
  enum vinci_status status =
      column < 0 ? VINCI_OK : table_number(table, row, (size_t)column, 0, &cell, diag);
  *out = cell.known ? cell.value : 1;
  return status;
}

static enum vinci_status choose_rows(const struct table *table, const char *op, uint64_t *weight,
                                     struct imported *out, struct vinci_diag *diag) {
  struct row_names names = {table, table_column(table, "Op Name|Name|kernel_name"),
                            table_column(table, "OP Type|Op Type|Type|kernel_type")};
  struct diag_position at = {.path = table->path};
  out->samples = 0;
  if (!op && table->rows > 1) {
    enum vinci_status status = diag_error_at(
        diag, VINCI_E_INPUT, at, "the profile has %zu rows, of which one is wanted", table->rows);
    diag_hint(diag, "--op=NAME chooses rows by name or type, such as %.60s",
              names.type >= 0 ? row_name_at(&names, table->rows) : "MatMulV2");
    return status;
  }
  for (size_t row = 0; row < table->rows; row++) {
    if (op && !is_called(&names, row, op))
      continue;
    enum vinci_status status = launches_of(table, row, &weight[row], diag);
    if (status != VINCI_OK)
      return status;
    out->samples += weight[row];
    if (op || names.name >= 0)
      snprintf(out->name, sizeof out->name, "%s", op ? op : row_name_at(&names, row));
  }
  if (out->samples > 0)
    return VINCI_OK;
  if (!op)
    return diag_error_at(diag, VINCI_E_INPUT, at, "the row has 0 launches (\"Count\")");
  enum vinci_status status = diag_error_at(diag, VINCI_E_INPUT, at, "no row is called '%s'", op);
  const char *nearest = diag_nearest(op, 2 * table->rows, row_name_at, &names);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  return status;
}

enum vinci_status import_profile(const char *path, const struct import_options *options,
                                 struct imported *out, struct vinci_diag *diag) {
  struct table table;
  enum vinci_status status = table_read(path, &table, diag);
  uint64_t *weight = NULL;
  out->kind = "op_summary";
  bool timed = status == VINCI_OK && table_column(&table, profile_columns[0].names) >= 0;
  if (status == VINCI_OK && !timed &&
      known_file_refuse(path, "a table of times of kernels", diag)) {
    status = VINCI_E_INPUT;
  } else if (status == VINCI_OK && !timed) {
    status = diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){path, 1, 1},
                           "the header has no column \"Task Duration(us)\" or \"Duration(us)\"");
    diag_hint(
        diag,
        "known are op_summary*.csv, kernel_details.csv, op_statistic*.csv, task_time*.csv and "
        "operator_details.csv, and folders of 'msprof op' and of vinci");
  }
  if (status == VINCI_OK) {
    weight = ARENA_ARRAY(&table.arena, uint64_t, table.rows);
    status = weight ? choose_rows(&table, options->op, weight, out, diag)
                    : diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
  }
  for (size_t i = 0; status == VINCI_OK && i < COUNT_OF(profile_kinds); i++)
    if (table_column(&table, profile_kinds[i].column) >= 0)
      out->kind = profile_kinds[i].kind;
  if (status == VINCI_OK)
    status =
        join_columns(&table, profile_columns, COUNT_OF(profile_columns), weight, true, out, diag);
  if (status == VINCI_OK)
    status = note_unread(&table, profile_columns, COUNT_OF(profile_columns), out, diag);
  table_free(&table);
  return status;
}

/* ---- msprof op ---- */

static enum vinci_status join_file(const char *folder, const char *name,
                                   const struct column_row *columns, size_t count,
                                   struct imported *out, struct vinci_diag *diag) {
  char path[PATH_MAX];
  struct table table;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  enum vinci_status status = table_read(path, &table, diag);
  if (status == VINCI_OK)
    status = join_columns(&table, columns, count, NULL, false, out, diag);
  if (status == VINCI_OK)
    status = note_unread(&table, columns, count, out, diag);
  int op = status == VINCI_OK ? table_column(&table, "Op Name") : -1;
  if (op >= 0)
    snprintf(out->name, sizeof out->name, "%s", table_at(&table, 0, (size_t)op)->text);
  table_free(&table);
  return status;
}

/* Some of the tables may be missing: the user chose others. */
static enum vinci_status join_if_there(const char *folder, const char *name,
                                       const struct column_row *columns, size_t count,
                                       struct imported *out, struct vinci_diag *diag) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (!file)
    return VINCI_OK;
  fclose(file);
  return join_file(folder, name, columns, count, out, diag);
}

enum vinci_status import_tables(const char *folder, struct imported *out, struct vinci_diag *diag) {
  out->kind = "op tables";
  enum vinci_status status =
      join_file(folder, "PipeUtilization.csv", pipe_columns, COUNT_OF(pipe_columns), out, diag);
  if (status == VINCI_OK)
    status =
        join_if_there(folder, "OpBasicInfo.csv", basic_columns, COUNT_OF(basic_columns), out, diag);
  if (status == VINCI_OK)
    status =
        join_if_there(folder, "Memory.csv", memory_columns, COUNT_OF(memory_columns), out, diag);
  return status;
}
