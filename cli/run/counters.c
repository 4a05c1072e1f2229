/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --counters: what a run counts. */
#include "cli/run/counters.h"

#include <stdio.h>
#include <string.h>

#include "core/base/sheet.h"
#include "core/result/result_counters.h"

/* "summary, gate" */
static const char *places_text(const struct counter *row, char *text, size_t size) {
  static const struct {
    unsigned place;
    const char *name;
  } names[] = {{IN_SUMMARY, "summary.json"},
               {IN_GATE | IN_DETAIL, "gate"},
               {IN_SWEEP | IN_SWEEP_END, "sweep"},
               {IN_METRICS | IN_OVERVIEW | IN_CORES, "Lua"}};
  size_t used = (size_t)snprintf(text, size, "%s", *row->report ? "report" : "");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (row->places & names[i].place)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[i].name);
  return text;
}

static const struct sheet_column columns[] = {
    {.title = "name (* is a pipe or a path)", .left = true},
    {.title = "unit", .left = true},
    {.title = "better", .left = true},
    {.title = "kind", .left = true, .rank = 1},
    {.title = "shown in", .left = true, .rank = 2},
    {.title = "meaning", .left = true, .fit = SHEET_BREAK},
};

static void print_counter(const struct counter *row, const char *places, struct sheet *sheet) {
  bool renamed = counter_decimals(row->unit) > 0 && strcmp(row->name, row->printed) != 0;
  sheet_text(sheet, row->name);
  sheet_text(sheet, counter_unit_name(row->unit));
  sheet_text(sheet, counter_better_name(row->better));
  sheet_text(sheet, counter_kind_name(row->kind));
  sheet_text(sheet, places);
  sheet_cell(sheet, "%s%s%s%s", row->text, renamed ? " (printed as " : "",
             renamed ? row->printed : "", renamed ? ")" : "");
}

int run_print_counters(void) {
  struct sheet sheet;
  size_t count;
  char places[64];
  const struct counter *rows = counter_rows(&count);
  SHEET_BEGIN(&sheet, stdout, columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < count; i++)
      if (*places_text(&rows[i], places, sizeof places))
        print_counter(&rows[i], places, &sheet);
  return 0;
}
