/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CORE_code_exe.csv and CORE_instr_exe.csv: times of lines and of instructions of one core. The
 * vendor's columns: cycles are those from start to end, added up; running_time(us) is the time in
 * which at least one ran, in two decimals. A trace has no addresses: addr is the line. Of a
 * compiled kernel the lines are those of its source.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/isa/isa.h"
#include "traces/export/opprof/opprof.h"

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

/* By line, start. */
static int compare_starts(const void *left, const void *right) {
  const struct result_event *a = *(const struct result_event *const *)left;
  const struct result_event *b = *(const struct result_event *const *)right;
  int order = compare_u64(a->line, b->line);
  order = order ? order : compare_u64(a->start_cycle, b->start_cycle);
  return order ? order : compare_events(left, right);
}

static bool same_instruction(const struct exe_row *row, const struct result_event *event) {
  return row->line == event->line && row->op == event->op && row->pipe == event->pipe;
}

static bool same_line(const struct exe_row *row, const struct result_event *event) {
  return row->line == event->line;
}

/* Events by row and start, so that a union needs only the end so far. */
static void add_rows(struct exe_rows *rows, const struct result_event **events, size_t count,
                     bool (*same)(const struct exe_row *row, const struct result_event *event)) {
  uint64_t until = 0;
  for (size_t i = 0; i < count; i++) {
    const struct result_event *event = events[i];
    if (rows->count == 0 || !same(&rows->items[rows->count - 1], event)) {
      rows->items[rows->count++] =
          (struct exe_row){.line = event->line, .op = event->op, .pipe = event->pipe};
      until = 0;
    }
    struct exe_row *row = &rows->items[rows->count - 1];
    uint64_t start = max_u64(event->start_cycle, until);
    row->count++;
    row->cycles += event->end_cycle - event->start_cycle;
    row->union_cycles += event->end_cycle > start ? event->end_cycle - start : 0;
    row->bytes += lanes_orders(event->op) ? 0 : event->bytes;
    until = max_u64(until, event->end_cycle);
  }
}

void exe_free(struct exe_table *table) {
  free(table->instructions.items);
  free(table->lines.items);
  *table = (struct exe_table){0};
}

bool exe_find(struct exe_table *table, const struct vinci_result *result, uint32_t core) {
  size_t count = 0;
  *table = (struct exe_table){0};
  for (uint64_t i = 0; i < result->event_count; i++)
    count += result->events[i].core == core;
  const struct result_event **events = calloc(count + 1, sizeof(const struct result_event *));
  table->instructions.items = calloc(count + 1, sizeof *table->instructions.items);
  table->lines.items = calloc(count + 1, sizeof *table->lines.items);
  bool enough = events && table->instructions.items && table->lines.items;
  if (enough) {
    count = 0;
    for (uint64_t i = 0; i < result->event_count; i++)
      if (result->events[i].core == core)
        events[count++] = &result->events[i];
    qsort(events, count, sizeof(const struct result_event *), compare_events);
    add_rows(&table->instructions, events, count, same_instruction);
    qsort(events, count, sizeof(const struct result_event *), compare_starts);
    add_rows(&table->lines, events, count, same_line);
  } else {
    exe_free(table);
  }
  free(events);
  return enough;
}

static struct decimal running_us(const struct vinci_result *result, uint32_t core,
                                 uint64_t cycles) {
  return decimal_ratio((uint128)cycles * 1000000, result->cores[core].hz, 2);
}

static const char *file_name(const struct vinci_result *result) {
  const char *path = result->trace_path ? result->trace_path : "", *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* "FILE:LINE", with the bytes of an instruction that moves some. */
static void put_place(FILE *out, const struct vinci_result *result, uint32_t line, uint64_t bytes) {
  enum { NAME_SHOWN_MAX = 400 };
  char text[NAME_SHOWN_MAX + 64], moved[48] = "";
  if (bytes > 0)
    snprintf(moved, sizeof moved, " bytes: %" PRIu64, bytes);
  snprintf(text, sizeof text, "%.*s:%" PRIu32 "%s", NAME_SHOWN_MAX, file_name(result), line, moved);
  cell_write(out, text);
}

/* A line of a trace has one instruction, but for rows that both streams of a mixed kernel execute;
 * a line of a kernel's source has any number. */
void exe_write_code(const struct exe_table *table, const struct vinci_result *result, uint32_t core,
                    FILE *out) {
  fputs("code,call_count,cycles,running_time(us)\n", out);
  for (size_t i = 0; i < table->lines.count; i++) {
    const struct exe_row *row = &table->lines.items[i];
    put_place(out, result, row->line, 0);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%s\n", row->count, row->cycles,
            running_us(result, core, row->union_cycles).text);
  }
}

void exe_write_instructions(const struct exe_table *table, const struct vinci_result *result,
                            uint32_t core, FILE *out) {
  fputs("instr,addr,pipe,call_count,cycles,running_time(us),detail\n", out);
  for (size_t i = 0; i < table->instructions.count; i++) {
    const struct exe_row *row = &table->instructions.items[i];
    fprintf(out, "%s,0x%" PRIx32 ",%s,%" PRIu64 ",%" PRIu64 ",%s,",
            isa_row((enum isa_op)row->op)->name, row->line, pipe_lane((enum pipe)row->pipe),
            row->count, row->cycles, running_us(result, core, row->union_cycles).text);
    put_place(out, result, row->line, row->bytes);
    fputc('\n', out);
  }
}
