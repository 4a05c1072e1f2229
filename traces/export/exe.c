/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CORE_code_exe.csv and CORE_instr_exe.csv: times of lines and of instructions of one core. The
 * vendor's columns: cycles are those from start to end, added up; running_time(us) is the time in
 * which at least one ran, in two decimals. A trace has no addresses: addr is the line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "core/isa/isa.h"
#include "traces/export/opprof.h"

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* By line, instruction, pipe, start. */
static int compare_events(const void *left, const void *right) {
  const struct result_event *a = *(const struct result_event *const *)left;
  const struct result_event *b = *(const struct result_event *const *)right;
  int order = compare_u64(a->line, b->line);
  order = order ? order : compare_u64(a->op, b->op);
  order = order ? order : compare_u64(a->pipe, b->pipe);
  order = order ? order : compare_u64(a->start_cycle, b->start_cycle);
  return order ? order : compare_u64(a->end_cycle, b->end_cycle);
}

static bool same_row(const struct exe_row *row, const struct result_event *event) {
  return row->line == event->line && row->op == event->op && row->pipe == event->pipe;
}

/* Events by row and start, so that a union needs only the end so far. */
static void add_rows(struct exe_table *table, const struct result_event **events, size_t count) {
  uint64_t until = 0;
  for (size_t i = 0; i < count; i++) {
    const struct result_event *event = events[i];
    if (table->count == 0 || !same_row(&table->rows[table->count - 1], event)) {
      table->rows[table->count++] =
          (struct exe_row){.line = event->line, .op = event->op, .pipe = event->pipe};
      until = 0;
    }
    struct exe_row *row = &table->rows[table->count - 1];
    uint64_t start = max_u64(event->start_cycle, until);
    row->count++;
    row->cycles += event->end_cycle - event->start_cycle;
    row->union_cycles += event->end_cycle > start ? event->end_cycle - start : 0;
    row->bytes += lanes_orders(event->op) ? 0 : event->bytes;
    until = max_u64(until, event->end_cycle);
  }
}

bool exe_find(struct exe_table *table, const struct vinci_result *result, uint32_t core) {
  size_t count = 0;
  *table = (struct exe_table){0};
  for (uint64_t i = 0; i < result->event_count; i++)
    count += result->events[i].core == core;
  const struct result_event **events = calloc(count + 1, sizeof(const struct result_event *));
  table->rows = calloc(count + 1, sizeof *table->rows);
  if (!events || !table->rows) {
    free(events);
    free(table->rows);
    table->rows = NULL;
    return false;
  }
  count = 0;
  for (uint64_t i = 0; i < result->event_count; i++)
    if (result->events[i].core == core)
      events[count++] = &result->events[i];
  qsort(events, count, sizeof(const struct result_event *), compare_events);
  add_rows(table, events, count);
  free(events);
  return true;
}

static struct decimal running_us(const struct vinci_result *result, uint32_t core,
                                 uint64_t cycles) {
  return decimal_ratio((uint128)cycles * 1000000, result->cores[core].hz, 2);
}

static const char *file_name(const struct vinci_result *result) {
  const char *path = result->trace_path ? result->trace_path : "", *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* A line has one instruction, but for rows that both streams of a mixed kernel execute. */
void exe_write_code(const struct exe_table *table, const struct vinci_result *result, uint32_t core,
                    FILE *out) {
  fputs("code,call_count,cycles,running_time(us)\n", out);
  for (size_t i = 0; i < table->count; i++) {
    const struct exe_row *row = &table->rows[i];
    fprintf(out, "%s:%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s\n", file_name(result), row->line,
            row->count, row->cycles, running_us(result, core, row->union_cycles).text);
  }
}

void exe_write_instructions(const struct exe_table *table, const struct vinci_result *result,
                            uint32_t core, FILE *out) {
  fputs("instr,addr,pipe,call_count,cycles,running_time(us),detail\n", out);
  for (size_t i = 0; i < table->count; i++) {
    const struct exe_row *row = &table->rows[i];
    fprintf(out, "%s,0x%" PRIx32 ",%s,%" PRIu64 ",%" PRIu64 ",%s,",
            isa_row((enum isa_op)row->op)->name, row->line, pipe_lane((enum pipe)row->pipe),
            row->count, row->cycles, running_us(result, core, row->union_cycles).text);
    fprintf(out, "%s:%" PRIu32, file_name(result), row->line);
    if (row->bytes > 0)
      fprintf(out, " bytes: %" PRIu64, row->bytes);
    fputc('\n', out);
  }
}
