/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows of a trace cost: the same program runs again without a barrier, without the flags of a
 * kind, without the copies of a tensor. Whether a barrier or flags may go is for the checks: they
 * stay as clean as they were. So each lever can be shown again by `vinci run` and `vinci check`
 * with
 * --without. It is not known here whether a neighbour of a kernel can keep a tensor in the core.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/isa/isa.h"
#include "core/isa/program.h"
#include "core/result/hotspots.h"
#include "studies/sweep/measure.h"

enum { LINES_MAX = 24, CANDIDATES_MAX = 6, LEAST_PERCENT = 2, HUNDRED = 100, ROWS_MAX = 1 << 20 };

/* Lines whose instructions are left out together. */
struct lines {
  uint32_t line[LINES_MAX];
  size_t count;
  bool too_many;
};

struct rows {
  struct measuring *measuring;
  struct hotspots hot;
  uint64_t active_cycles; /* of all cores with work */
  struct lines unneeded;  /* by the checks, together */
  bool clean;             /* the checks find nothing in the program as it is */
};

static void add_line(struct lines *lines, uint32_t line) {
  for (size_t i = 0; i < lines->count; i++)
    if (lines->line[i] == line)
      return;
  lines->too_many |= lines->count == LINES_MAX;
  if (!lines->too_many)
    lines->line[lines->count++] = line;
}

static void add_lines(struct lines *lines, const struct lines *more) {
  for (size_t i = 0; i < more->count; i++)
    add_line(lines, more->line[i]);
  lines->too_many |= more->too_many;
}

/* "--without=31,45" */
static void write_change(const struct lines *lines, char *text) {
  size_t used = (size_t)snprintf(text, LEVER_CHANGE_BYTES, "--without=");
  for (size_t i = 0; i < lines->count; i++)
    used += (size_t)snprintf(text + used, LEVER_CHANGE_BYTES - used, "%s%" PRIu32, i ? "," : "",
                             lines->line[i]);
}

/* "line 31" or "lines 31 and 45": all of them, or the first and how many. */
static const char *lines_text(const struct lines *lines, char *text, size_t size) {
  if (lines->count == 1)
    snprintf(text, size, "line %" PRIu32, lines->line[0]);
  else if (lines->count == 2)
    snprintf(text, size, "lines %" PRIu32 " and %" PRIu32, lines->line[0], lines->line[1]);
  else
    snprintf(text, size, "line %" PRIu32 " and %zu more", lines->line[0], lines->count - 1);
  return text;
}

/* ---- runs and checks without lines ------------------------------------------------------------
 */

/* A copy that shares all but its rows; the caller frees these. */
static enum vinci_status leave_out(const struct rows *rows, const struct lines *lines,
                                   struct vinci_trace *out) {
  const vinci_trace *trace = rows->measuring->trace;
  *out = *trace;
  out->rows = malloc(trace->row_count * sizeof *out->rows);
  if (!out->rows)
    return diag_error(rows->measuring->diag, VINCI_E_NOMEM, "out of memory");
  memcpy(out->rows, trace->rows, trace->row_count * sizeof *out->rows);
  for (size_t i = 0; i < lines->count; i++)
    program_leave_out(out, lines->line[i]);
  return VINCI_OK;
}

static enum vinci_status run_without(const struct rows *rows, const struct lines *lines,
                                     uint64_t *cycles) {
  struct vinci_trace trace;
  enum vinci_status status = leave_out(rows, lines, &trace);
  *cycles = 0;
  if (status == VINCI_OK)
    status = measure_run(rows->measuring, rows->measuring->soc, &trace, false, cycles);
  free(trace.rows);
  return status;
}

/* Whether the checks of races and flags find neither errors nor warnings. */
static enum vinci_status check_without(const struct rows *rows, const struct lines *lines,
                                       bool *clean) {
  const struct vinci_check_options options = {
      .struct_size = sizeof options, .checks = VINCI_CHECK_RACECHECK | VINCI_CHECK_SYNCCHECK};
  struct vinci_trace trace;
  struct vinci_diag refused = {0};
  vinci_findings *findings = NULL;
  *clean = false;
  enum vinci_status status = leave_out(rows, lines, &trace);
  if (status == VINCI_OK)
    *clean = vinci_check(rows->measuring->soc, &trace, &options, &findings, &refused) == VINCI_OK &&
             vinci_findings_warnings(findings) == 0;
  vinci_findings_free(findings);
  free(trace.rows);
  return status;
}

/* ---- barriers and flags -----------------------------------------------------------------------
 */

static int64_t operand(const struct rows *rows, const struct program_row *row, const char *name) {
  const struct isa_row *isa = isa_row((enum isa_op)row->op);
  int index = isa_arg_find(isa, name, strlen(name));
  if (index < 0 || (row->expr_mask >> index & 1) != 0)
    return -1; /* computed: like all others that are */
  return rows->measuring->trace->operands[row->first_operand + (uint64_t)index];
}

static const struct program_row *row_at(const struct rows *rows, uint32_t line, enum isa_op op) {
  const vinci_trace *trace = rows->measuring->trace;
  for (uint64_t i = 0; i < trace->row_count; i++)
    if (trace->rows[i].line == line && trace->rows[i].kind == ROW_INST && trace->rows[i].op == op)
      return &trace->rows[i];
  return NULL;
}

static bool is_flag(const struct program_row *row) {
  return row->kind == ROW_INST && (row->op == OP_SET_FLAG || row->op == OP_WAIT_FLAG);
}

/* All rows of the stream that set or wait for the flag of a wait. */
static void lines_of_flag(const struct rows *rows, const struct program_row *wait,
                          struct lines *lines) {
  const vinci_trace *trace = rows->measuring->trace;
  static const char *const names[] = {"src", "dst", "id"};
  for (uint64_t i = 0; i < trace->row_count; i++) {
    const struct program_row *row = &trace->rows[i];
    bool same = is_flag(row);
    for (size_t n = 0; same && n < sizeof names / sizeof *names; n++)
      same = operand(rows, row, names[n]) == operand(rows, wait, names[n]);
    if (same)
      add_line(lines, row->line);
  }
}

static bool is_large(const struct rows *rows, uint64_t waits) {
  return waits * HUNDRED >= rows->active_cycles * LEAST_PERCENT && waits > 0;
}

/* The wait with most cycles below `below`; NULL: none is large. */
static const struct hotspot *next_wait(const struct rows *rows, enum isa_op op, enum stall stall,
                                       const struct hotspot *before) {
  const struct hotspot *found = NULL;
  for (size_t i = 0; i < rows->hot.count; i++) {
    const struct hotspot *spot = &rows->hot.rows[i];
    uint64_t waits = spot->stall_cycles[stall];
    bool later = !before || waits < before->stall_cycles[stall] ||
                 (waits == before->stall_cycles[stall] && spot > before);
    if (spot->op == op && later && is_large(rows, waits) &&
        (!found || waits > found->stall_cycles[stall]))
      found = spot;
  }
  return found;
}

/* Takes the lines out for good where the checks stay clean. */
static enum vinci_status try_lines(struct rows *rows, const struct lines *lines, bool *taken) {
  struct lines with = rows->unneeded;
  add_lines(&with, lines);
  *taken = false;
  if (with.too_many || lines->count == 0)
    return VINCI_OK;
  enum vinci_status status = check_without(rows, &with, taken);
  if (status == VINCI_OK && *taken)
    rows->unneeded = with;
  return status;
}

static enum vinci_status keep_unneeded(struct rows *rows, enum lever_kind kind,
                                       const struct lines *lines) {
  char where[64];
  uint64_t cycles;
  struct lever lever = {.kind = kind,
                        .line = lines->line[0],
                        .origin = "measured; racecheck and synccheck find nothing then"};
  if (lines->count == 0)
    return VINCI_OK;
  snprintf(lever.text, sizeof lever.text, "nothing needs the %s of %s; without",
           kind == LEVER_BARRIERS ? "pipe_barrier" : "flag",
           lines_text(lines, where, sizeof where));
  write_change(lines, lever.change);
  enum vinci_status status = run_without(rows, lines, &cycles);
  return status == VINCI_OK ? measure_keep(rows->measuring, &lever, cycles) : status;
}

/* A barrier that the checks ask for: others may have work between the two sides. */
static enum vinci_status keep_needed(struct rows *rows, const struct hotspot *spot) {
  struct lines lines = {.line = {spot->line}, .count = 1};
  uint64_t cycles = 0;
  struct lever lever = {.kind = LEVER_BARRIERS,
                        .line = spot->line,
                        .origin = "at most: measured without the row, which racecheck needs"};
  snprintf(lever.text, sizeof lever.text,
           "%s drains at pipe_barrier of line %" PRIu32 "; with independent instructions before it",
           spot->pipe < PIPE_COUNT ? pipe_name((enum pipe)spot->pipe) : "a pipe", spot->line);
  write_change(&lines, lever.change);
  /* Of two barriers of which one is enough the checks want neither alone. */
  enum vinci_status status = VINCI_OK;
  bool clean = false;
  if (rows->unneeded.count > 0)
    status = check_without(rows, &lines, &clean);
  if (status == VINCI_OK && !clean)
    status = run_without(rows, &lines, &cycles);
  return status == VINCI_OK && !clean ? measure_keep(rows->measuring, &lever, cycles) : status;
}

static enum vinci_status measure_barriers(struct rows *rows) {
  struct lines unneeded = {0};
  const struct hotspot *spot = NULL;
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; status == VINCI_OK && i < CANDIDATES_MAX; i++) {
    bool taken;
    spot = next_wait(rows, OP_PIPE_BARRIER, STALL_BARRIER, spot);
    if (!spot || !measure_has_steps_left(rows->measuring))
      break;
    struct lines lines = {.line = {spot->line}, .count = 1};
    rows->measuring->result->levers_settled |= 1u << LEVER_BARRIERS;
    status = try_lines(rows, &lines, &taken);
    if (status == VINCI_OK && taken)
      add_lines(&unneeded, &lines);
    else if (status == VINCI_OK)
      status = keep_needed(rows, spot);
  }
  return status == VINCI_OK ? keep_unneeded(rows, LEVER_BARRIERS, &unneeded) : status;
}

static enum vinci_status measure_flags(struct rows *rows) {
  const struct hotspot *spot = NULL;
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; status == VINCI_OK && i < CANDIDATES_MAX; i++) {
    bool taken;
    struct lines lines = {0};
    spot = next_wait(rows, OP_WAIT_FLAG, STALL_WAIT_FLAG, spot);
    if (!spot || !measure_has_steps_left(rows->measuring))
      break;
    const struct program_row *wait = row_at(rows, spot->line, OP_WAIT_FLAG);
    if (!wait)
      continue;
    lines_of_flag(rows, wait, &lines);
    status = try_lines(rows, &lines, &taken);
    if (status == VINCI_OK && taken)
      status = keep_unneeded(rows, LEVER_FLAGS, &lines);
  }
  return status;
}

/* ---- neighbours -------------------------------------------------------------------------------
 */

/* Lines of the copies of a tensor that vector cores hold: elsewhere a neighbour cannot take its
 * place in the core. */
static void lines_of_tensor(const vinci_trace *trace, uint32_t tensor, struct lines *lines) {
  for (uint64_t i = 0; i < trace->row_count; i++) {
    const struct program_row *row = &trace->rows[i];
    if (row->kind != ROW_INST || row->partner != tensor + 1)
      continue;
    enum pipe pipe = isa_row((enum isa_op)row->op)->pipe;
    if (pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_FIX)
      add_line(lines, row->line);
  }
}

static enum vinci_status measure_tensor(struct rows *rows, uint32_t index) {
  const struct program_tensor *tensor = &rows->measuring->trace->tensors[index];
  bool in = tensor->io == TENSOR_IN;
  struct lines lines = {0};
  uint64_t cycles;
  struct lever lever = {.kind = LEVER_FUSION,
                        .origin = "measured without the copies of this kernel; what the other "
                                  "kernel saves comes on top"};
  lines_of_tensor(rows->measuring->trace, index, &lines);
  if (lines.count == 0 || lines.too_many || !measure_has_steps_left(rows->measuring))
    return VINCI_OK;
  lever.line = lines.line[0];
  snprintf(lever.text, sizeof lever.text,
           "fused with the kernel that %s %.64s, which then stays in the core",
           in ? "makes" : "reads", tensor->name);
  write_change(&lines, lever.change);
  enum vinci_status status = run_without(rows, &lines, &cycles);
  return status == VINCI_OK ? measure_keep(rows->measuring, &lever, cycles) : status;
}

/* Of a kernel of vector cores each tensor of at least half of the largest one's size; weights and
 * statistics are smaller. */
static enum vinci_status measure_neighbours(struct rows *rows) {
  const vinci_trace *trace = rows->measuring->trace;
  uint64_t largest = 0;
  enum vinci_status status = VINCI_OK;
  if (trace->kernel_count != 1 || !trace->kernels[0].stream[CORE_AIV].present ||
      trace->kernels[0].mixed)
    return VINCI_OK;
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    if (trace->tensors[i].bytes > largest)
      largest = trace->tensors[i].bytes;
  for (uint32_t i = 0; status == VINCI_OK && i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (tensor->bytes >= largest / 2 && (tensor->io == TENSOR_IN || tensor->io == TENSOR_OUT))
      status = measure_tensor(rows, i);
  }
  return status;
}

enum vinci_status measure_rows(struct measuring *measuring) {
  struct rows rows = {.measuring = measuring};
  const vinci_result *result = measuring->result;
  const struct lines none = {0};
  if (measuring->trace->source || measuring->trace->row_count > ROWS_MAX ||
      result->total_cycles == 0 || !measure_has_steps_left(measuring))
    return VINCI_OK;
  enum vinci_status status = hotspots_find(result, &rows.hot, measuring->diag);
  if (status != VINCI_OK)
    return status;
  for (uint32_t i = 0; i < result->core_count; i++)
    rows.active_cycles += result->cores[i].active_cycles;
  bool waits = next_wait(&rows, OP_PIPE_BARRIER, STALL_BARRIER, NULL) ||
               next_wait(&rows, OP_WAIT_FLAG, STALL_WAIT_FLAG, NULL);
  if (waits)
    status = check_without(&rows, &none, &rows.clean);
  if (status == VINCI_OK && rows.clean)
    status = measure_barriers(&rows);
  if (status == VINCI_OK && rows.clean)
    status = measure_flags(&rows);
  if (status == VINCI_OK)
    status = measure_neighbours(&rows);
  hotspots_free(&rows.hot);
  return status;
}
