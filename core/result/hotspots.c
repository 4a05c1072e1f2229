/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded instructions, added up by line and instruction. */
#include "core/result/hotspots.h"

#include <stdlib.h>

#include "core/base/diag.h"
#include "core/result/critical.h"
#include "core/result/events.h"

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* By line, instruction, pipe: a line of a mixed kernel belongs to one stream. */
static int compare_places(const void *left, const void *right) {
  const struct hotspot *a = left, *b = right;
  int order = compare_u64(a->line, b->line);
  order = order ? order : compare_u64(a->op, b->op);
  return order ? order : compare_u64(a->pipe, b->pipe);
}

static int compare_heat(const void *left, const void *right) {
  const struct hotspot *a = left, *b = right;
  int order = compare_u64(b->critical_cycles, a->critical_cycles);
  order = order ? order : compare_u64(b->cycles, a->cycles);
  return order ? order : compare_places(left, right);
}

static struct hotspot place_of(const struct result_event *event) {
  return (struct hotspot){.line = event->line, .op = event->op, .pipe = event->pipe};
}

/* Rows of a line are few, and lines are small numbers: a table of the first row of each line. */
struct table {
  struct hotspots *hotspots;
  size_t *first; /* of each line: row + 1 */
  size_t *next;  /* of each row: another of the same line, row + 1 */
  size_t capacity;
  bool failed;
};

static bool grow(struct table *table) {
  size_t capacity = table->capacity ? 2 * table->capacity : 64;
  struct hotspot *rows = realloc(table->hotspots->rows, capacity * sizeof *rows);
  if (rows)
    table->hotspots->rows = rows;
  size_t *next = rows ? realloc(table->next, capacity * sizeof *next) : NULL;
  if (next)
    table->next = next;
  table->failed = table->failed || !rows || !next;
  table->capacity = rows && next ? capacity : table->capacity;
  return rows && next;
}

/* The row of an event, made when there is none; NULL when memory is short. */
static struct hotspot *row_of(struct table *table, const struct result_event *event) {
  struct hotspots *hotspots = table->hotspots;
  struct hotspot place = place_of(event);
  for (size_t row = table->first[event->line]; row; row = table->next[row - 1])
    if (compare_places(&hotspots->rows[row - 1], &place) == 0)
      return &hotspots->rows[row - 1];
  if (hotspots->count == table->capacity && !grow(table))
    return NULL;
  hotspots->rows[hotspots->count] = place;
  table->next[hotspots->count] = table->first[event->line];
  table->first[event->line] = ++hotspots->count;
  return &hotspots->rows[hotspots->count - 1];
}

static enum stall stall_of(uint16_t op) {
  switch (op) {
  case OP_WAIT_FLAG:
    return STALL_WAIT_FLAG;
  case OP_PIPE_BARRIER:
    return STALL_BARRIER;
  case OP_WAIT_FLAG_DEV:
    return STALL_CROSS_CORE;
  default:
    return STALL_COUNT;
  }
}

static void add_event(struct table *table, const struct result_event *event) {
  struct hotspot *row = row_of(table, event);
  if (!row)
    return;
  uint64_t cycles = event->end_cycle - event->start_cycle;
  enum stall stall = stall_of(event->op);
  row->count++;
  row->cycles += cycles;
  if (stall != STALL_COUNT)
    row->stall_cycles[stall] += cycles;
  row->queued_cycles += event->queued_cycles;
  row->held_cycles += event->held_cycles;
  row->bank_cycles += event->bank_cycles;
  row->bytes += event->bytes;
}

static void add_critical(void *context, const struct result_event *event, uint64_t cycles) {
  struct hotspot *row = row_of(context, event);
  if (row)
    row->critical_cycles += cycles;
}

static uint32_t larger_line(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t highest_line(const struct vinci_result *result) {
  uint32_t highest = 0;
  for (uint32_t core = 0; result->logs && core < result->core_count; core++)
    highest = larger_line(highest, result->logs[core].highest_line);
  for (uint64_t i = 0; !result->logs && i < result->event_count; i++)
    highest = larger_line(highest, result->events[i].line);
  return highest;
}

enum vinci_status hotspots_find(const struct vinci_result *result, struct hotspots *out,
                                struct vinci_diag *diag) {
  *out = (struct hotspots){0};
  struct table table = {.hotspots = out,
                        .first = calloc((size_t)highest_line(result) + 1, sizeof *table.first)};
  table.failed = !table.first;
  struct event_walk events = {.result = result, .core = result->core_count};
  const struct result_event *event;
  while (!table.failed && (event = event_walk_next(&events)) != NULL)
    add_event(&table, event);
  enum vinci_status status = table.failed
                                 ? diag_error(diag, VINCI_E_NOMEM, "out of memory")
                                 : critical_each(result, add_critical, &table, &out->core, diag);
  if (status == VINCI_OK && out->count > 0)
    qsort(out->rows, out->count, sizeof *out->rows, compare_heat);
  free(table.first);
  free(table.next);
  if (status != VINCI_OK)
    hotspots_free(out);
  return status;
}

void hotspots_free(struct hotspots *hotspots) {
  free(hotspots->rows);
  *hotspots = (struct hotspots){0};
}
