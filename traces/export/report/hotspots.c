/* SPDX-License-Identifier: Apache-2.0 */
/* Hot spots: the lines of a trace that take the time, for people and as a table. */
#include <inttypes.h>
#include <string.h>

#include "core/isa/isa.h"
#include "core/result/events.h"
#include "core/result/hotspots.h"
#include "traces/export/export.h"

enum { TOP_ROWS = 10, LINE_DIGITS = 6 };

/* The place of a line: a number, or "FILE:N" of a kernel's source. */
static void print_line(const struct vinci_result *result, uint32_t line, FILE *out) {
  const char *file = result_source_file(result);
  if (file)
    fprintf(out, "  %s:%-*" PRIu32, file, LINE_DIGITS, line);
  else
    fprintf(out, "  %*" PRIu32, LINE_DIGITS, line);
}

static void print_row(const struct vinci_result *result, const struct hotspot *row, FILE *out) {
  print_line(result, row->line, out);
  fprintf(out, "  %-32s %-5s %10" PRIu64 " %14" PRIu64 " %7s %% %14" PRIu64,
          isa_row((enum isa_op)row->op)->name, pipe_name((enum pipe)row->pipe), row->count,
          row->critical_cycles,
          decimal_ratio((uint128)row->critical_cycles * 100, result->total_cycles, 1).text,
          row->cycles);
  fprintf(out, " %14" PRIu64 " %10" PRIu64 " %14" PRIu64 "\n", row->queued_cycles, row->bank_cycles,
          row->bytes);
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
  const char *file = result_source_file(result);
  fprintf(out, "\nHot spots: %s lines with the most cycles on the critical path, that of %s%s\n",
          file ? "source" : "trace", core,
          result->events_dropped > 0 ? "; only the first instructions of each core were recorded"
                                     : "");
  if (file)
    fprintf(out, "  %-*s", (int)strlen(file) + 1 + LINE_DIGITS, "line");
  else
    fprintf(out, "  %*s", LINE_DIGITS, "line");
  fprintf(out, "  %-32s %-5s %10s %14s %9s %14s %14s %10s %14s\n", "instruction", "pipe", "times",
          "critical", "of run", "cycles", "in queue", "bank loss", "bytes");
  size_t printed = 0;
  for (size_t i = 0; i < hotspots.count && printed < TOP_ROWS; i++) {
    if (hotspots.rows[i].critical_cycles == 0)
      break;
    print_row(result, &hotspots.rows[i], out);
    printed++;
  }
  fputs(
      "  critical  cycles of that one core, each once; cycles, in queue: of all cores, from start "
      "to end and before\n",
      out);
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
