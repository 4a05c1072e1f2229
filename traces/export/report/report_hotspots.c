/* SPDX-License-Identifier: Apache-2.0 */
/* report.json: the hottest lines of a trace with their text. */
#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"
#include "core/result/hotspots.h"
#include "traces/export/report/report.h"

enum {
  ROWS_MAX = 200,
  LINE_BYTES_MAX = 400
}; /* more rows are in hotspots.csv, longer lines in the
      trace; the report says so */

static int by_line(const void *left, const void *right) {
  const struct hotspot *const *a = left, *const *b = right;
  return (*a)->line < (*b)->line ? -1 : (*a)->line > (*b)->line;
}

/* Where the line of each row begins in the text, in one walk over the text; NULL: not there. */
static bool find_lines(const struct hotspots *hotspots, size_t count, const char *source,
                       const char **text) {
  const struct hotspot **order = malloc((count + 1) * sizeof *order);
  if (!order)
    return false;
  for (size_t i = 0; i < count; i++)
    order[i] = &hotspots->rows[i];
  qsort(order, count, sizeof *order, by_line);
  uint32_t line = 1;
  for (size_t i = 0; i < count && source; i++) {
    for (; source && line < order[i]->line; line++) {
      source = strchr(source, '\n');
      source = source ? source + 1 : NULL;
    }
    if (source && *source && order[i]->line > 0)
      text[order[i] - hotspots->rows] = source;
  }
  free(order);
  return true;
}

static void write_line(struct json_writer *json, const char *text) {
  char line[LINE_BYTES_MAX + 8];
  size_t length = text ? strcspn(text, "\r\n") : 0;
  size_t kept = length < LINE_BYTES_MAX ? length : LINE_BYTES_MAX;
  snprintf(line, sizeof line, "%.*s%s", (int)kept, text ? text : "", kept < length ? " ..." : "");
  json_text(json, "text", line);
}

static void write_row(struct json_writer *json, const struct hotspot *row, const char *text) {
  json_object(json, NULL, true);
  json_number(json, "line", row->line);
  json_text(json, "instruction", isa_row((enum isa_op)row->op)->name);
  json_text(json, "pipe", pipe_name((enum pipe)row->pipe));
  json_number(json, "count", row->count);
  json_number(json, "critical_cycles", row->critical_cycles);
  json_number(json, "cycles", row->cycles);
  json_number(json, "queued_cycles", row->queued_cycles);
  json_number(json, "bank_cycles", row->bank_cycles);
  json_number(json, "bytes", row->bytes);
  json_object(json, "stalls", true);
  for (unsigned i = 0; i < STALL_COUNT; i++)
    if (row->stall_cycles[i] > 0)
      json_number(json, stall_key((enum stall)i), row->stall_cycles[i]);
  json_end(json);
  write_line(json, text);
  json_end(json);
}

enum vinci_status report_hotspots(struct json_writer *json, const struct vinci_result *result,
                                  const char *source, struct vinci_diag *diag) {
  struct hotspots hotspots;
  const char *text[ROWS_MAX] = {NULL};
  enum vinci_status status = hotspots_find(result, &hotspots, diag);
  if (status != VINCI_OK)
    return status;
  size_t count = min_u64(hotspots.count, ROWS_MAX);
  if (find_lines(&hotspots, count, source, text)) {
    json_number(json, "hotspots_left_out", hotspots.count - count);
    json_bool(json, "has_source", source != NULL);
    json_array(json, "hotspots", false);
    for (size_t i = 0; i < count; i++)
      write_row(json, &hotspots.rows[i], text[i]);
    json_end(json);
  } else {
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  hotspots_free(&hotspots);
  return status;
}
