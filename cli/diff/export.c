/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: a comparison as CSV and JSON, for scripts. */
#include <inttypes.h>
#include <string.h>

#include "cli/diff/print.h"
#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "traces/export/export.h"

static const struct {
  enum vinci_diff_table table;
  const char *name, *plural;
} tables[] = {
    {VINCI_DIFF_GROUPS, "group", "groups"},
    {VINCI_DIFF_CAUSES, "cause", "causes"},
    {VINCI_DIFF_INSTRUCTIONS, "instruction", "instructions"},
    {VINCI_DIFF_COUNTERS, "counter", "counters"},
    {VINCI_DIFF_OPERATORS, "operator", "operators"},
    {VINCI_DIFF_CLASSES, "class", "classes"},
    {VINCI_DIFF_RANKS, "ranks", "ranks"},
    {VINCI_DIFF_COLLECTIVES, "collective", "collectives"},
    {VINCI_DIFF_EXPOSED, "exposed", "exposed"},
    {VINCI_DIFF_BYTES, "bytes", "bytes"},
};
enum { TABLES = sizeof tables / sizeof *tables };

/* Without the plus sign, which no number of JSON has. */
static const char *without_plus(const struct decimal *text) {
  return text->text + (*text->text == '+');
}

static bool is_of_collectives(enum vinci_diff_table table) {
  return table == VINCI_DIFF_COLLECTIVES || table == VINCI_DIFF_EXPOSED ||
         table == VINCI_DIFF_BYTES;
}

/* Whether a kind of comparison has a table. */
static bool has_table(const vinci_diff *diff, enum vinci_diff_table table) {
  if (vinci_diff_is_job(diff))
    return table == VINCI_DIFF_COUNTERS || table == VINCI_DIFF_RANKS || is_of_collectives(table);
  if (table == VINCI_DIFF_RANKS || is_of_collectives(table))
    return false;
  return table == VINCI_DIFF_CLASSES ? vinci_diff_row_count(diff, table) > 0
                                     : (table == VINCI_DIFF_OPERATORS) == vinci_diff_is_list(diff);
}

/* The totals as rows: of a list and of a job the time alone. */
static size_t totals(const vinci_diff *diff, struct vinci_diff_row rows[2]) {
  struct vinci_diff_end a = vinci_diff_end(diff, 0), b = vinci_diff_end(diff, 1);
  rows[0] = (struct vinci_diff_row){.group = "",
                                    .name = "duration_ps",
                                    .unit = "ps",
                                    .in_a = true,
                                    .in_b = true,
                                    .a = a.duration_ps,
                                    .b = b.duration_ps,
                                    .change = (int64_t)(b.duration_ps - a.duration_ps)};
  rows[1] = (struct vinci_diff_row){.group = "",
                                    .name = "total_cycles",
                                    .unit = "cycle",
                                    .in_a = true,
                                    .in_b = true,
                                    .a = a.total_cycles,
                                    .b = b.total_cycles,
                                    .change = (int64_t)(b.total_cycles - a.total_cycles)};
  return vinci_diff_is_list(diff) || vinci_diff_is_job(diff) ? 1 : 2;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void print_value(bool there, uint64_t value, const char *word) {
  if (word)
    fputs(word, stdout);
  else if (there)
    printf("%" PRIu64, value);
  putchar(',');
}

/* "gradients: all_reduce" */
static const char *name_of(const struct vinci_diff_row *row, bool collective, char *text,
                           size_t size) {
  snprintf(text, size, "%s: %s", row->name, row->text);
  return collective ? text : row->name;
}

static void print_row(const char *table, const struct vinci_diff_row *row, bool collective) {
  struct decimal percent = decimal_percent(row->change, row->a);
  char lowered[1200], name[1200];
  bool moved = strcmp(table, "operator") == 0 && *row->text;
  snprintf(lowered, sizeof lowered, "%.590s -> %.590s", row->group, row->text);
  printf("%s,", table);
  cell_write(stdout, moved ? lowered : row->group);
  putchar(',');
  cell_write(stdout, name_of(row, collective, name, sizeof name));
  printf(",%s,", row->unit);
  print_value(row->in_a, row->a, row->a_word);
  print_value(row->in_b, row->b, row->b_word);
  if (!row->a_word)
    printf("%" PRId64 ",%s", row->change, row->in_a ? without_plus(&percent) : "");
  else
    putchar(',');
  if (strcmp(table, "instruction") == 0)
    printf(",%" PRIu64 ",%" PRIu64 ",%" PRId64 "\n", row->a_count, row->b_count, row->count_change);
  else if (collective)
    printf(",%" PRIu64 ",%" PRIu64 ",\n", row->a_count, row->b_count);
  else
    puts(",,,");
}

void diff_print_csv(const vinci_diff *diff) {
  struct vinci_diff_row row, total[2];
  puts("table,group,name,unit,a,b,change,percent,a_count,b_count,count_change");
  for (size_t i = totals(diff, total); i-- > 0;)
    print_row("total", &total[i], false);
  for (unsigned t = 0; t < TABLES; t++)
    for (size_t i = 0; vinci_diff_row(diff, tables[t].table, i, &row); i++)
      print_row(tables[t].name, &row, is_of_collectives(tables[t].table));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_signed(struct json_writer *json, const char *key, int64_t value) {
  struct decimal text;
  snprintf(text.text, sizeof text.text, "%" PRId64, value);
  json_decimal(json, key, text);
}

static void write_value(struct json_writer *json, const char *key, bool there, uint64_t value,
                        const char *word) {
  if (word)
    json_text(json, key, word);
  else if (there)
    json_number(json, key, value);
}

static void write_row(struct json_writer *json, enum vinci_diff_table table,
                      const struct vinci_diff_row *row) {
  struct decimal percent = decimal_percent(row->change, row->a), plain;
  json_object(json, NULL, true);
  if (table == VINCI_DIFF_OPERATORS) {
    json_text(json, "lowered", row->group);
    if (*row->text)
      json_text(json, "lowered_b", row->text);
  } else if (table != VINCI_DIFF_GROUPS)
    json_text(json, "group", row->group);
  json_text(json, "name", row->name);
  json_text(json, "unit", row->unit);
  if (is_of_collectives(table))
    json_text(json, "op", row->text);
  if (table == VINCI_DIFF_COUNTERS)
    json_text(json, "better", row->better);
  write_value(json, "a", row->in_a, row->a, row->a_word);
  write_value(json, "b", row->in_b, row->b, row->b_word);
  if (!row->a_word) {
    write_signed(json, "change", row->change);
    snprintf(plain.text, sizeof plain.text, "%s", without_plus(&percent));
    if (*plain.text && row->in_a)
      json_decimal(json, "percent", plain);
  }
  if (table == VINCI_DIFF_INSTRUCTIONS || is_of_collectives(table)) {
    json_number(json, "a_count", row->a_count);
    json_number(json, "b_count", row->b_count);
  }
  if (table == VINCI_DIFF_INSTRUCTIONS)
    write_signed(json, "count_change", row->count_change);
  json_end(json);
}

static void write_end(struct json_writer *json, const char *key, const vinci_diff *diff,
                      unsigned side) {
  struct vinci_diff_end end = vinci_diff_end(diff, side);
  bool list = vinci_diff_is_list(diff), job = vinci_diff_is_job(diff);
  json_object(json, key, true);
  json_text(json, "name", end.name);
  json_text(json, job ? "system" : "soc", end.soc);
  if (!list && !job)
    json_number(json, "total_cycles", end.total_cycles);
  json_number(json, "duration_ps", end.duration_ps);
  if (list)
    json_number(json, "left_out", end.left_out);
  json_end(json);
}

static void write_parting(struct json_writer *json, const char *key, const vinci_diff *diff,
                          enum vinci_diff_parting which) {
  struct vinci_diff_point point;
  if (!vinci_diff_parting(diff, which, &point))
    return;
  json_object(json, key, false);
  if (point.core)
    json_text(json, "core", point.core);
  if (point.a)
    json_text(json, "a", point.a);
  if (point.a_line > 0)
    json_number(json, "a_line", point.a_line);
  if (point.b)
    json_text(json, "b", point.b);
  if (point.b_line > 0)
    json_number(json, "b_line", point.b_line);
  json_end(json);
}

void diff_print_json(const vinci_diff *diff) {
  struct json_writer json;
  struct vinci_diff_row row, total[2];
  const char *note;
  json_start(&json, stdout);
  json_object(&json, NULL, false);
  write_end(&json, "a", diff, 0);
  write_end(&json, "b", diff, 1);
  json_array(&json, "totals", false);
  for (size_t i = totals(diff, total); i-- > 0;)
    write_row(&json, VINCI_DIFF_GROUPS, &total[i]);
  json_end(&json);
  for (unsigned t = 0; t < TABLES; t++) {
    if (!has_table(diff, tables[t].table))
      continue;
    json_array(&json, tables[t].plural, false);
    for (size_t i = 0; vinci_diff_row(diff, tables[t].table, i, &row); i++)
      write_row(&json, tables[t].table, &row);
    json_end(&json);
  }
  write_parting(&json, "program", diff, VINCI_DIFF_PROGRAM);
  write_parting(&json, "time", diff, VINCI_DIFF_TIME);
  json_array(&json, "notes", false);
  for (size_t i = 0; (note = vinci_diff_note(diff, i)) != NULL; i++)
    json_text(&json, NULL, note);
  json_end(&json);
  json_end(&json);
}
