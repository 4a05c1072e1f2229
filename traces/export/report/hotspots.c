/* SPDX-License-Identifier: Apache-2.0 */
/* Hot spots: the lines of a trace that take the time, for people and as a table. */
#include <inttypes.h>
#include <string.h>

#include "core/base/sheet.h"
#include "core/isa/isa.h"
#include "core/result/events.h"
#include "core/result/hotspots.h"
#include "traces/export/export.h"

enum { TOP_ROWS = 10 };

static const struct sheet_column columns[] = {
    {.title = "line"},
    {.title = "instruction", .left = true},
    {.title = "pipe", .left = true},
    {.title = "times", .rank = 1},
    {.title = "critical"},
    {.title = "of run"},
    {.title = "cycles", .rank = 2},
    {.title = "in queue", .rank = 3},
    {.title = "bank loss", .rank = 5},
    {.title = "bytes", .rank = 4},
};

/* The place of a line is a number, or "FILE:N" of a kernel's source. */
static void print_row(const struct vinci_result *result, const struct hotspot *row,
                      struct sheet *sheet) {
  const char *file = result_source_file(result);
  sheet_cell(sheet, "%s%s%" PRIu32, file ? file : "", file ? ":" : "", row->line);
  sheet_text(sheet, isa_row((enum isa_op)row->op)->name);
  sheet_text(sheet, pipe_name((enum pipe)row->pipe));
  sheet_cell(sheet, "%" PRIu64, (uint64_t)row->count);
  sheet_cell(sheet, "%" PRIu64, row->critical_cycles);
  sheet_cell(sheet, "%s %%",
             decimal_ratio((uint128)row->critical_cycles * 100, result->total_cycles, 1).text);
  sheet_cell(sheet, "%" PRIu64, row->cycles);
  sheet_cell(sheet, "%" PRIu64, row->queued_cycles);
  sheet_cell(sheet, "%" PRIu64, row->bank_cycles);
  sheet_cell(sheet, "%" PRIu64, row->bytes);
}

enum vinci_status export_hotspots_text(const struct vinci_result *result, FILE *out,
                                       struct vinci_diag *diag) {
  struct hotspots hotspots;
  enum vinci_status status = VINCI_OK;
  if (event_total(result) == 0 || result->total_cycles == 0)
    return VINCI_OK;
  status = hotspots_find(result, &hotspots, diag);
  if (status != VINCI_OK)
    return status;
  char core[48];
  result_core_name(&result->cores[hotspots.core], core, sizeof core);
  struct sheet sheet;
  sheet_line(out, "\nHot spots: %s lines with the most cycles on the critical path, that of %s%s\n",
             result_source_file(result) ? "source" : "trace", core,
             result->events_dropped > 0 ? "; only the first instructions of each core were recorded"
                                        : "");
  SHEET_BEGIN(&sheet, out, columns, 2, "hotspots.csv");
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < hotspots.count && i < TOP_ROWS && hotspots.rows[i].critical_cycles > 0;
         i++)
      print_row(result, &hotspots.rows[i], &sheet);
  sheet_line(out, "  critical  cycles of that one core, each once; cycles, in queue: of all cores, "
                  "from start to end and before\n");
  hotspots_free(&hotspots);
  return VINCI_OK;
}

enum vinci_status export_hotspots_csv(const struct vinci_result *result, FILE *out,
                                      struct vinci_diag *diag) {
  struct hotspots hotspots;
  enum vinci_status status = hotspots_find(result, &hotspots, diag);
  if (status != VINCI_OK)
    return status;
  fputs("line,instruction,pipe,count,critical_cycles,cycles,queued_cycles,held_cycles,bank_cycles,"
        "bytes",
        out);
  for (unsigned stall = 0; stall < STALL_COUNT; stall++)
    if (stall == STALL_WAIT_FLAG || stall == STALL_BARRIER || stall == STALL_CROSS_CORE)
      fprintf(out, ",%s_cycles", stall_key((enum stall)stall));
  fputc('\n', out);
  for (size_t i = 0; i < hotspots.count; i++) {
    const struct hotspot *row = &hotspots.rows[i];
    fprintf(out,
            "%" PRIu32 ",%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRIu64,
            row->line, isa_row((enum isa_op)row->op)->name, pipe_name((enum pipe)row->pipe),
            row->count, row->critical_cycles, row->cycles, row->queued_cycles, row->held_cycles,
            row->bank_cycles, row->bytes);
    for (unsigned stall = 0; stall < STALL_COUNT; stall++)
      if (stall == STALL_WAIT_FLAG || stall == STALL_BARRIER || stall == STALL_CROSS_CORE)
        fprintf(out, ",%" PRIu64, row->stall_cycles[stall]);
    fputc('\n', out);
  }
  hotspots_free(&hotspots);
  return VINCI_OK;
}
