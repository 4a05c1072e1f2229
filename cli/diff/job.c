/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: two jobs of several devices, for people. */
#include <inttypes.h>
#include <string.h>

#include "cli/diff/print.h"
#include "core/base/decimal.h"

static struct decimal us_of(uint64_t ps) { return decimal_ratio(ps, 1000000, 3); }

static const struct sheet_column rank_columns[] = {
    {.title = "A us"},
    {.title = "B us"},
    {.title = "change us"},
    {.title = "change"},
    {.title = "each rank of", .left = true, .fit = SHEET_SHORTEN},
    {.title = "made of", .left = true},
    {.title = "", .left = true, .fit = SHEET_BREAK, .rank = 1},
};
static const struct sheet_column collective_columns[] = {
    {.title = "A us"},
    {.title = "B us"},
    {.title = "change us"},
    {.title = "change"},
    {.title = "exposed A"},
    {.title = "exposed B"},
    {.title = "calls", .rank = 2},
    {.title = "bytes", .rank = 1},
    {.title = "ranks", .left = true, .fit = SHEET_SHORTEN},
    {.title = "collective", .left = true, .fit = SHEET_BREAK},
};

/* What stands in the column of per cent. */
static const char *change_text(const struct vinci_diff_row *row, char *text, size_t size) {
  return !row->in_b   ? "only in A"
         : !row->in_a ? "only in B"
                      : diff_percent_text(row->change, row->a, text, size);
}

/* Parts that neither side has are left out. */
static void print_ranks(const vinci_diff *diff) {
  struct vinci_diff_row row;
  struct sheet sheet;
  char percent[80];
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, rank_columns, 0, "the CSV of --csv");
  while (sheet_pass(&sheet))
    for (size_t i = 0; vinci_diff_row(diff, VINCI_DIFF_RANKS, i, &row); i++) {
      if (row.a == 0 && row.b == 0)
        continue;
      diff_print_change(&row, change_text(&row, percent, sizeof percent), &sheet);
      sheet_text(&sheet, row.group);
      sheet_text(&sheet, row.name);
      sheet_text(&sheet, row.text);
    }
}

/* The three rows of a collective. */
struct collective {
  struct vinci_diff_row time, exposed, bytes;
};

static bool take(const vinci_diff *diff, size_t index, struct collective *out) {
  return vinci_diff_row(diff, VINCI_DIFF_COLLECTIVES, index, &out->time) &&
         vinci_diff_row(diff, VINCI_DIFF_EXPOSED, index, &out->exposed) &&
         vinci_diff_row(diff, VINCI_DIFF_BYTES, index, &out->bytes);
}

static bool is_equal(const struct collective *one) {
  return one->time.in_a && one->time.in_b && one->time.change == 0 && one->exposed.change == 0 &&
         one->bytes.change == 0 && one->time.a_count == one->time.b_count;
}

/* "4", or "4 -> 8" where both have a number and these differ. */
static void print_both(const struct vinci_diff_row *row, uint64_t a, uint64_t b,
                       struct sheet *sheet) {
  if (row->in_a && row->in_b && a != b)
    sheet_cell(sheet, "%" PRIu64 " -> %" PRIu64, a, b);
  else
    sheet_cell(sheet, "%" PRIu64, row->in_a ? a : b);
}

static void print_collective(const struct collective *one, struct sheet *sheet) {
  const struct vinci_diff_row *time = &one->time, *exposed = &one->exposed;
  char percent[80];
  diff_print_change(time, change_text(time, percent, sizeof percent), sheet);
  sheet_text(sheet, time->in_a ? us_of(exposed->a).text : "-");
  sheet_text(sheet, time->in_b ? us_of(exposed->b).text : "-");
  print_both(time, time->a_count, time->b_count, sheet);
  print_both(time, one->bytes.a, one->bytes.b, sheet);
  sheet_text(sheet, time->group);
  sheet_cell(sheet, "%s: %s", time->name, time->text);
}

static void print_collectives(const vinci_diff *diff, bool all, uint64_t rows) {
  struct collective one;
  struct sheet sheet;
  uint64_t equal = 0, wanted = 0;
  for (size_t i = 0; take(diff, i, &one); i++)
    *(is_equal(&one) && !all ? &equal : &wanted) += 1;
  uint64_t shown = rows > 0 && rows < wanted ? rows : wanted;
  if (shown > 0) {
    putchar('\n');
    SHEET_BEGIN(&sheet, stdout, collective_columns, 0, "the CSV of --csv");
    while (sheet_pass(&sheet)) {
      uint64_t printed = 0;
      for (size_t i = 0; printed < shown && take(diff, i, &one); i++)
        if (all || !is_equal(&one)) {
          print_collective(&one, &sheet);
          printed++;
        }
    }
  }
  if (wanted > shown)
    printf("%" PRIu64 " more kinds of collectives differ (--rows=0 shows them)\n", wanted - shown);
  if (equal > 0)
    printf("%" PRIu64 " kinds of collectives are equal (--all shows them)\n", equal);
}

void diff_print_job(const vinci_diff *diff, bool all, uint64_t rows) {
  print_ranks(diff);
  print_collectives(diff, all, rows);
}
