/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: tables of a comparison, for people. */
#include "cli/diff/print.h"

#include <inttypes.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/decimal.h"
#include "core/base/sheet.h"
#include "studies/diff/diff.h"

enum { US_DIGITS = 6 };

static struct decimal us_of(uint64_t ps) { return decimal_ratio(ps, 1000000, 3); }

/* "+1.200" us */
static void print_us_change(int64_t ps, FILE *out) {
  uint64_t size = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;
  fprintf(out, "%s%s us", ps < 0 ? "-" : "+", us_of(size).text);
}

/* "(+12.0 %)"; of nothing to something there is no per cent. */
const char *diff_percent_text(int64_t change, uint64_t whole, char *text, size_t size) {
  struct decimal percent = decimal_percent(change, whole);
  snprintf(text, size, "%s%s", *percent.text ? percent.text : "-", *percent.text ? " %" : "");
  return text;
}

/* ---- sides and verdict --------------------------------------------------------------------------
 */

static void print_side(char letter, const struct vinci_diff_end *end, FILE *out) {
  fprintf(out, "%c  %s%s%s\n", letter, end->name, *end->soc ? " on " : "", end->soc);
}

static bool has_cycles(const vinci_diff *diff) {
  return !vinci_diff_is_list(diff) && !vinci_diff_is_job(diff);
}

static void print_verdict(const vinci_diff *diff, FILE *out) {
  struct vinci_diff_end a = vinci_diff_end(diff, 0), b = vinci_diff_end(diff, 1);
  int64_t cycles = (int64_t)(b.total_cycles - a.total_cycles);
  int64_t time = (int64_t)(b.duration_ps - a.duration_ps);
  char percent[80];
  print_side('A', &a, out);
  print_side('B', &b, out);
  fputs("\nB against A: ", out);
  if (time == 0 && cycles == 0) {
    fprintf(out, "the same time, ");
    if (has_cycles(diff))
      fprintf(out, "%" PRIu64 " cycles, ", a.total_cycles);
    fprintf(out, "%s us\n", us_of(a.duration_ps).text);
    return;
  }
  if (has_cycles(diff))
    fprintf(out, "%+" PRId64 " cycles (%s), %" PRIu64 " -> %" PRIu64 "; ", cycles,
            diff_percent_text(cycles, a.total_cycles, percent, sizeof percent), a.total_cycles,
            b.total_cycles);
  print_us_change(time, out);
  fprintf(out, " (%s), %s -> %s us\n",
          diff_percent_text(time, a.duration_ps, percent, sizeof percent),
          us_of(a.duration_ps).text, us_of(b.duration_ps).text);
}

static void print_notes(const vinci_diff *diff, FILE *out) {
  const char *note;
  for (size_t i = 0; (note = vinci_diff_note(diff, i)) != NULL; i++)
    fprintf(out, "note: %s\n", note);
}

/* ---- where the runs part --------------------------------------------------------------------- */

static void print_program_side(char letter, const char *text, unsigned long line, FILE *out) {
  fprintf(out, "  %c  ", letter);
  if (line > 0)
    fprintf(out, "line %lu: ", line);
  fprintf(out, "%s\n", text ? text : "ends");
}

static void print_partings(const vinci_diff *diff, FILE *out) {
  struct vinci_diff_point point;
  bool runs = diff->side[EXPLAIN_A].result && diff->side[EXPLAIN_B].result;
  if (!runs)
    return;
  if (vinci_diff_parting(diff, VINCI_DIFF_PROGRAM, &point)) {
    fputs("\nFirst rows of the traces that differ\n", out);
    print_program_side('A', point.a, point.a_line, out);
    print_program_side('B', point.b, point.b_line, out);
  } else {
    fputs("\nThe traces are the same, row by row\n", out);
  }
  if (vinci_diff_parting(diff, VINCI_DIFF_TIME, &point)) {
    fprintf(out, "First instructions at different times, on %s\n", point.core);
    fprintf(out, "  A  %s\n  B  %s\n", point.a ? point.a : "nothing",
            point.b ? point.b : "nothing");
  } else {
    fputs("No instruction starts or ends at another time\n", out);
  }
}

/* ---- counters -------------------------------------------------------------------------------- */

/* As it is printed elsewhere: times in us, shares as decimals, words. */
static const char *value_text(const struct vinci_diff_row *row, bool b, char *text, size_t size) {
  uint64_t value = b ? row->b : row->a;
  const char *word = b ? row->b_word : row->a_word;
  if (word)
    snprintf(text, size, "%s", word);
  else if (strcmp(row->unit, "ps") == 0 || strcmp(row->unit, "ppm") == 0)
    snprintf(text, size, "%s", decimal_exact(value, US_DIGITS).text);
  else
    snprintf(text, size, "%" PRIu64, value);
  return text;
}

static void print_counter(const struct vinci_diff_row *row, struct sheet *sheet) {
  char a[80], b[80], percent[80];
  const char *unit = strcmp(row->unit, "ps") == 0    ? "us"
                     : strcmp(row->unit, "ppm") == 0 ? "share"
                                                     : row->unit;
  bool counts = row->unit[0] == '1' || row->a_word;
  value_text(row, false, a, sizeof a);
  value_text(row, true, b, sizeof b);
  diff_percent_text(row->change, row->a, percent, sizeof percent);
  sheet_cell(sheet, "  %s", row->name);
  sheet_text(sheet, a);
  sheet_text(sheet, b);
  sheet_text(sheet, row->change == 0 || row->a_word ? "" : percent);
  sheet_text(sheet, counts ? "" : unit);
}

static const struct sheet_column counter_columns[] = {
    {.title = "counters", .left = true, .fit = SHEET_SHORTEN},
    {.title = "A"},
    {.title = "B"},
    {.title = "change"},
    {.title = "unit", .left = true, .rank = 1},
};

static void print_counters(const vinci_diff *diff, bool all) {
  struct vinci_diff_row row;
  struct sheet sheet;
  size_t equal = 0, shown = 0;
  for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_COUNTERS, i, &row); i++)
    *(row.change == 0 && !all ? &equal : &shown) += 1;
  if (equal > 0 && shown == 0)
    printf("\nAll %zu counters are equal (--all shows them)\n", equal);
  if (shown == 0)
    return;
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, counter_columns, 0, "the CSV of --csv");
  while (sheet_pass(&sheet)) {
    const char *group = "";
    for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_COUNTERS, i, &row); i++) {
      if (row.change == 0 && !all)
        continue;
      if (strcmp(group, row.group) != 0)
        sheet_between(&sheet, "%s\n", row.group);
      group = row.group;
      print_counter(&row, &sheet);
    }
  }
  if (equal > 0)
    printf("%zu counters are equal (--all shows them)\n", equal);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct sheet_column change_columns[] = {
    {.title = "A us"},
    {.title = "B us"},
    {.title = "change us"},
    {.title = "change"},
    {.title = "operator", .left = true, .fit = SHEET_BREAK},
};
static const struct sheet_column class_columns[] = {
    {.title = "A us"},
    {.title = "B us"},
    {.title = "change us"},
    {.title = "change"},
    {.title = "made of", .left = true},
    {.title = "", .left = true, .fit = SHEET_BREAK, .rank = 1},
};

/* The first columns of these tables; per cent is of A. */
void diff_print_change(const struct vinci_diff_row *row, const char *percent, struct sheet *sheet) {
  struct decimal size = us_of(row->change < 0 ? -(uint64_t)row->change : (uint64_t)row->change);
  sheet_text(sheet, row->in_a ? us_of(row->a).text : "-");
  sheet_text(sheet, row->in_b ? us_of(row->b).text : "-");
  sheet_cell(sheet, "%s%s", row->change < 0 ? "-" : "+", size.text);
  sheet_text(sheet, percent);
}

static void print_operator(const struct vinci_diff_row *row, struct sheet *sheet) {
  char percent[80];
  bool named = strcmp(row->group, row->name) != 0 && *row->group;
  diff_print_change(row,
                    row->in_a && row->in_b
                        ? diff_percent_text(row->change, row->a, percent, sizeof percent)
                    : row->in_a ? "only in A"
                                : "only in B",
                    sheet);
  sheet_cell(sheet, "%s%s%s%s%s", row->name, named ? ": " : "", named ? row->group : "",
             *row->text ? " -> " : "", row->text);
}

/* Of networks; those that neither has are left out. */
static void print_classes(const vinci_diff *diff) {
  struct vinci_diff_row row;
  struct sheet sheet;
  char percent[80];
  if (!vinci_diff_row(diff, VINCI_DIFF_CLASSES, 0, &row))
    return;
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, class_columns, 0, "the CSV of --csv");
  while (sheet_pass(&sheet))
    for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_CLASSES, i, &row); i++) {
      if (row.a == 0 && row.b == 0)
        continue;
      row.in_a = row.in_b = true;
      diff_print_change(&row, diff_percent_text(row.change, row.a, percent, sizeof percent),
                        &sheet);
      sheet_text(&sheet, row.name);
      sheet_text(&sheet, row.text);
    }
}

static void print_operators(const vinci_diff *diff, bool all, uint64_t rows) {
  struct vinci_diff_row row;
  struct sheet sheet;
  uint64_t shown = 0, equal = 0, folded = 0;
  int64_t folded_change = 0;
  for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_OPERATORS, i, &row); i++) {
    if (row.change == 0 && row.in_a && row.in_b && !all) {
      equal++;
    } else if (rows > 0 && shown == rows) {
      folded++;
      folded_change += row.change;
    } else {
      shown++;
    }
  }
  if (shown > 0) {
    putchar('\n');
    SHEET_BEGIN(&sheet, stdout, change_columns, 0, NULL);
    while (sheet_pass(&sheet)) {
      uint64_t printed = 0;
      for (size_t i = 0; printed < shown && vinci_diff_row(diff, VINCI_DIFF_OPERATORS, i, &row);
           i++)
        if (row.change != 0 || !row.in_a || !row.in_b || all) {
          print_operator(&row, &sheet);
          printed++;
        }
    }
  }
  if (folded > 0) {
    printf("%" PRIu64 " more operators: ", folded);
    print_us_change(folded_change, stdout);
    puts(" together (--rows=0 shows them)");
  }
  if (equal > 0)
    printf("%" PRIu64 " operators take the same time (--all shows them)\n", equal);
}

static void sum_up(const vinci_diff *diff) {
  struct vinci_diff_end a = vinci_diff_end(diff, 0), b = vinci_diff_end(diff, 1);
  struct decimal percent = decimal_percent((int64_t)(b.duration_ps - a.duration_ps), a.duration_ps);
  cli_summary("diff a_us=%s b_us=%s change_percent=%s",
              decimal_exact(a.duration_ps, US_DIGITS).text,
              decimal_exact(b.duration_ps, US_DIGITS).text, *percent.text ? percent.text : "-");
}

static void print_runs(const vinci_diff *diff, bool all) {
  struct sheet_lines lines;
  if (diff->explanation.count > 0 &&
      diff->explanation.total[EXPLAIN_A] != diff->explanation.total[EXPLAIN_B]) {
    putchar('\n');
    explain_write(&diff->explanation, "", sheet_lines_begin(&lines, stdout));
    sheet_lines_end(&lines);
  }
  print_counters(diff, all);
  print_partings(diff, sheet_lines_begin(&lines, stdout));
  sheet_lines_end(&lines);
}

void diff_print_text(const vinci_diff *diff, bool all, uint64_t rows) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  print_verdict(diff, out);
  print_notes(diff, out);
  sheet_lines_end(&lines);
  if (vinci_diff_is_list(diff)) {
    print_classes(diff);
    print_operators(diff, all, rows);
  } else if (vinci_diff_is_job(diff)) {
    diff_print_job(diff, all, rows);
    print_counters(diff, all);
  } else {
    print_runs(diff, all);
  }
  sum_up(diff);
}
