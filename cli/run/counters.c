/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --counters: what a run counts. */
#include "cli/run/counters.h"

#include <stdio.h>
#include <string.h>

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

int run_print_counters(void) {
  size_t count;
  char places[64];
  const struct counter *rows = counter_rows(&count);
  printf("%-32s %-5s %-7s %-7s %-38s %s\n", "name (* is a pipe or a path)", "unit", "better",
         "kind", "shown in", "meaning");
  for (size_t i = 0; i < count; i++) {
    const struct counter *row = &rows[i];
    if (*places_text(row, places, sizeof places) == '\0')
      continue;
    printf("%-32s %-5s %-7s %-7s %-38s %s", row->name, counter_unit_name(row->unit),
           counter_better_name(row->better), counter_kind_name(row->kind), places, row->text);
    if (counter_decimals(row->unit) > 0 && strcmp(row->name, row->printed) != 0)
      printf(" (printed as %s)", row->printed);
    putchar('\n');
  }
  return 0;
}
