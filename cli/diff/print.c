/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: tables of a comparison, for people. */
#include "cli/diff/print.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/decimal.h"
#include "studies/diff/diff.h"

enum { US_DIGITS = 6 };

static struct decimal us_of(uint64_t ps) { return decimal_ratio(ps, 1000000, 3); }

/* "+1.200" us */
static void print_us_change(int64_t ps) {
  uint64_t size = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;
  printf("%s%s us", ps < 0 ? "-" : "+", us_of(size).text);
}

/* "(+12.0 %)"; of nothing to something there is no per cent. */
static const char *percent_text(int64_t change, uint64_t whole, char *text, size_t size) {
  struct decimal percent = decimal_percent(change, whole);
  snprintf(text, size, "%s%s", *percent.text ? percent.text : "-", *percent.text ? " %" : "");
  return text;
}

/* ---- sides and verdict --------------------------------------------------------------------------
 */

static void print_side(char letter, const struct vinci_diff_end *end) {
  printf("%c  %s%s%s\n", letter, end->name, *end->soc ? " on " : "", end->soc);
}

static void print_verdict(const vinci_diff *diff) {
  struct vinci_diff_end a = vinci_diff_end(diff, 0), b = vinci_diff_end(diff, 1);
  int64_t cycles = (int64_t)(b.total_cycles - a.total_cycles);
  int64_t time = (int64_t)(b.duration_ps - a.duration_ps);
  char percent[80];
  print_side('A', &a);
  print_side('B', &b);
  fputs("\nB against A: ", stdout);
  if (time == 0 && cycles == 0) {
    printf("the same time, ");
    if (!vinci_diff_is_list(diff))
      printf("%" PRIu64 " cycles, ", a.total_cycles);
    printf("%s us\n", us_of(a.duration_ps).text);
    return;
  }
  if (!vinci_diff_is_list(diff))
    printf("%+" PRId64 " cycles (%s), %" PRIu64 " -> %" PRIu64 "; ", cycles,
           percent_text(cycles, a.total_cycles, percent, sizeof percent), a.total_cycles,
           b.total_cycles);
  print_us_change(time);
  printf(" (%s), %s -> %s us\n", percent_text(time, a.duration_ps, percent, sizeof percent),
         us_of(a.duration_ps).text, us_of(b.duration_ps).text);
}

static void print_notes(const vinci_diff *diff) {
  const char *note;
  for (size_t i = 0; (note = vinci_diff_note(diff, i)) != NULL; i++)
    printf("note: %s\n", note);
}

/* ---- where the runs part --------------------------------------------------------------------- */

static void print_program_side(char letter, const char *text, unsigned long line) {
  printf("  %c  ", letter);
  if (line > 0)
    printf("line %lu: ", line);
  printf("%s\n", text ? text : "ends");
}

static void print_partings(const vinci_diff *diff) {
  struct vinci_diff_point point;
  bool runs = diff->side[EXPLAIN_A].result && diff->side[EXPLAIN_B].result;
  if (!runs)
    return;
  if (vinci_diff_parting(diff, VINCI_DIFF_PROGRAM, &point)) {
    puts("\nFirst rows of the traces that differ");
    print_program_side('A', point.a, point.a_line);
    print_program_side('B', point.b, point.b_line);
  } else {
    puts("\nThe traces are the same, row by row");
  }
  if (vinci_diff_parting(diff, VINCI_DIFF_TIME, &point)) {
    printf("First instructions at different times, on %s\n", point.core);
    printf("  A  %s\n  B  %s\n", point.a ? point.a : "nothing", point.b ? point.b : "nothing");
  } else {
    puts("No instruction starts or ends at another time");
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

static void print_counter(const struct vinci_diff_row *row) {
  char a[80], b[80], percent[80];
  const char *unit = strcmp(row->unit, "ps") == 0    ? "us"
                     : strcmp(row->unit, "ppm") == 0 ? "share"
                                                     : row->unit;
  bool counts = row->unit[0] == '1' || row->a_word;
  value_text(row, false, a, sizeof a);
  value_text(row, true, b, sizeof b);
  percent_text(row->change, row->a, percent, sizeof percent);
  printf("  %-38s %14s %14s %10s  %s\n", row->name, a, b,
         row->change == 0 || row->a_word ? "" : percent, counts ? "" : unit);
}

static void print_counters(const vinci_diff *diff, bool all) {
  const char *group = "";
  struct vinci_diff_row row;
  size_t equal = 0, printed = 0;
  for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_COUNTERS, i, &row); i++) {
    if (row.change == 0 && !all) {
      equal++;
      continue;
    }
    if (printed++ == 0)
      printf("\n%-40s %14s %14s %10s  %s\n", "counters", "A", "B", "change", "unit");
    if (strcmp(group, row.group) != 0)
      printf("%s\n", row.group);
    group = row.group;
    print_counter(&row);
  }
  if (equal > 0 && printed == 0)
    printf("\nAll %zu counters are equal (--all shows them)\n", equal);
  else if (equal > 0)
    printf("%zu counters are equal (--all shows them)\n", equal);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void print_operator(const struct vinci_diff_row *row) {
  char percent[80];
  printf("%12s %12s ", row->in_a ? us_of(row->a).text : "-", row->in_b ? us_of(row->b).text : "-");
  struct decimal size = us_of(row->change < 0 ? -(uint64_t)row->change : (uint64_t)row->change);
  printf("%s%-11s", row->change < 0 ? "-" : "+", size.text);
  bool named = strcmp(row->group, row->name) != 0 && *row->group;
  printf(" %10s  %s%s%s%s%s\n",
         row->in_a && row->in_b ? percent_text(row->change, row->a, percent, sizeof percent)
         : row->in_a            ? "only in A"
                                : "only in B",
         row->name, named ? ": " : "", named ? row->group : "", *row->text ? " -> " : "",
         row->text);
}

/* Of networks; those that neither has are left out. */
static void print_classes(const vinci_diff *diff) {
  struct vinci_diff_row row;
  char percent[80];
  for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_CLASSES, i, &row); i++) {
    if (i == 0)
      printf("\n%12s %12s %-12s %10s  %s\n", "A us", "B us", "change us", "change", "made of");
    if (row.a == 0 && row.b == 0)
      continue;
    struct decimal size = us_of(row.change < 0 ? -(uint64_t)row.change : (uint64_t)row.change);
    printf("%12s %12s %s%-11s %10s  %-8s %s\n", us_of(row.a).text, us_of(row.b).text,
           row.change < 0 ? "-" : "+", size.text,
           percent_text(row.change, row.a, percent, sizeof percent), row.name, row.text);
  }
}

static void print_operators(const vinci_diff *diff, bool all, uint64_t rows) {
  struct vinci_diff_row row;
  uint64_t printed = 0, equal = 0, folded = 0;
  int64_t folded_change = 0;
  for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_OPERATORS, i, &row); i++) {
    if (row.change == 0 && row.in_a && row.in_b && !all) {
      equal++;
      continue;
    }
    if (rows > 0 && printed == rows) {
      folded++;
      folded_change += row.change;
      continue;
    }
    if (printed++ == 0)
      printf("\n%12s %12s %-12s %10s  %s\n", "A us", "B us", "change us", "change", "operator");
    print_operator(&row);
  }
  if (folded > 0) {
    printf("%" PRIu64 " more operators: ", folded);
    print_us_change(folded_change);
    puts(" together (--rows=0 shows them)");
  }
  if (equal > 0)
    printf("%" PRIu64 " operators take the same time (--all shows them)\n", equal);
}

void diff_print_text(const vinci_diff *diff, bool all, uint64_t rows) {
  print_verdict(diff);
  print_notes(diff);
  if (vinci_diff_is_list(diff)) {
    print_classes(diff);
    print_operators(diff, all, rows);
    return;
  }
  if (diff->explanation.count > 0 &&
      diff->explanation.total[EXPLAIN_A] != diff->explanation.total[EXPLAIN_B]) {
    putchar('\n');
    explain_write(&diff->explanation, "", stdout);
  }
  print_counters(diff, all);
  print_partings(diff);
}
