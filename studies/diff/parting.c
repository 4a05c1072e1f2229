/* SPDX-License-Identifier: Apache-2.0 */
/* Where two runs part: the first rows of their traces that differ, the first times that do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/diff/diff.h"

/* ---- programs -------------------------------------------------------------------------------- */

/* A trace in canonical form, walked line by line. */
struct lines {
  const struct vinci_trace *trace;
  char *text, *rest;
  char *line;   /* NULL behind the last */
  uint64_t row; /* of the instructions and loops */
};

static void next_line(struct lines *lines) { lines->line = strtok_r(NULL, "\n", &lines->rest); }

static enum vinci_status lines_open(struct lines *lines, const struct vinci_trace *trace,
                                    struct vinci_diag *diag) {
  size_t length = 0;
  *lines = (struct lines){.trace = trace};
  FILE *out = open_memstream(&lines->text, &length);
  if (!out)
    return diff_no_memory(diag);
  enum vinci_status status = vinci_trace_write(trace, out, diag);
  if (!file_close_text(out, &lines->text) && status == VINCI_OK)
    status = diff_no_memory(diag);
  if (status == VINCI_OK)
    lines->line = strtok_r(lines->text, "\n", &lines->rest);
  return status;
}

/* Rows that describe what follows; what else there is are rows of the program. */
static bool is_header(const char *line) {
  static const char *const words[] = {"trace,", "kernel,", "tensor,", "buffer,", "stream,"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strncmp(line, words[i], strlen(words[i])) == 0)
      return true;
  return false;
}

/* The line of the trace as it was read; 0 of headers. Rows lie in the order of the text. */
static unsigned long line_of(const struct lines *lines) {
  return lines->line && !is_header(lines->line) && lines->row < lines->trace->row_count
             ? lines->trace->rows[lines->row].line
             : 0;
}

static enum vinci_status compare_programs(struct vinci_diff *diff, struct vinci_diag *diag) {
  struct lines a, b = {0};
  enum vinci_status status = lines_open(&a, diff->side[EXPLAIN_A].trace, diag);
  if (status == VINCI_OK)
    status = lines_open(&b, diff->side[EXPLAIN_B].trace, diag);
  while (status == VINCI_OK && a.line && b.line && strcmp(a.line, b.line) == 0) {
    a.row += !is_header(a.line);
    b.row += !is_header(b.line);
    next_line(&a);
    next_line(&b);
  }
  if (status == VINCI_OK && (a.line || b.line)) {
    diff->program_parts = true;
    diff->program = (struct vinci_diff_point){
        .a = a.line ? arena_strdup(&diff->arena, a.line) : NULL,
        .b = b.line ? arena_strdup(&diff->arena, b.line) : NULL,
        .a_line = line_of(&a),
        .b_line = line_of(&b),
    };
    if ((a.line && !diff->program.a) || (b.line && !diff->program.b))
      status = diff_no_memory(diag);
  }
  free(a.text);
  free(b.text);
  return status;
}

/* ---- times ----------------------------------------------------------------------------------- */

static const char *event_text(struct vinci_diff *diff, const struct result_event *event) {
  char text[160];
  if (!event)
    return NULL;
  divergence_event_text(event, text, sizeof text);
  return arena_strdup(&diff->arena, text);
}

static enum vinci_status compare_times(struct vinci_diff *diff, struct vinci_diag *diag) {
  struct divergence first;
  char name[48];
  enum vinci_status status =
      divergence_find(diff->side[EXPLAIN_A].result, diff->side[EXPLAIN_B].result, &first, diag);
  if (status != VINCI_OK || !first.core)
    return status;
  result_core_name(first.core, name, sizeof name);
  diff->time_parts = true;
  diff->time = (struct vinci_diff_point){
      .core = arena_strdup(&diff->arena, name),
      .a = event_text(diff, first.a),
      .b = event_text(diff, first.b),
      .a_line = first.a ? first.a->line : 0,
      .b_line = first.b ? first.b->line : 0,
  };
  return diff->time.core && (!first.a || diff->time.a) && (!first.b || diff->time.b)
             ? VINCI_OK
             : diff_no_memory(diag);
}

enum vinci_status diff_find_partings(struct vinci_diff *diff, struct vinci_diag *diag) {
  if (!diff->side[EXPLAIN_A].result || !diff->side[EXPLAIN_B].result)
    return VINCI_OK;
  enum vinci_status status = compare_programs(diff, diag);
  return status == VINCI_OK ? compare_times(diff, diag) : status;
}
