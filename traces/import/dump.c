/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction logs of the vendor's model (CAModel), one line for each instruction:
 *
 *   [info] [00002009] (PC: 0x10d0d32c) MTE2     : (Binary: 0x711cb788) MOV_OUT_TO_UB ...
 *
 * CORE.instr_popped_log.dump has the ticks of issue, CORE.instr_log.dump those of completion. The
 * n-th line of one with a PC, pipe and ID belongs to the n-th such line of the other. Waits,
 * flags and barriers are no work. Source: msopprof, csrc/op_profiling/parse and test/ut.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "traces/format/growing.h"
#include "traces/import/import.h"

enum { DUMP_BYTES_MAX = INT32_MAX };

struct event {
  uint64_t pc, id, tick;
  uint32_t order;
  bool works;
  enum pipe pipe; /* PIPE_COUNT: one that the table does not have */
};

/* What is read of one line, from a position on. */
struct scan {
  const char *path, *line, *at, *end;
  unsigned long number;
};

static enum vinci_status bad_line(const struct scan *scan, const char *expected,
                                  struct vinci_diag *diag) {
  enum vinci_status status =
      diag_error_at(diag, VINCI_E_INPUT,
                    (struct diag_position){.path = scan->path,
                                           .line = scan->number,
                                           .column = (unsigned long)(scan->at - scan->line) + 1},
                    "expected %s", expected);
  diag_excerpt(diag, scan->line, (size_t)(scan->end - scan->line));
  diag_hint(diag, "a line is \"[info] [TICK] (PC: 0x...) PIPE : (Binary: 0x...) INSTRUCTION\"; a "
                  "dump that was cut short has to be made again");
  return status;
}

static void skip_blanks(struct scan *scan) {
  while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
    scan->at++;
}

static bool skip_text(struct scan *scan, const char *text) {
  size_t length = strlen(text);
  skip_blanks(scan);
  if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, text, length) != 0)
    return false;
  scan->at += length;
  return true;
}

static bool skip_number(struct scan *scan, unsigned base, uint64_t *out) {
  static const char digits[] = "0123456789abcdef";
  const char *start;
  skip_blanks(scan);
  if (base == 16 && !skip_text(scan, "0x"))
    return false;
  for (start = scan->at, *out = 0; scan->at < scan->end; scan->at++) {
    const char *digit = memchr(digits, *scan->at | 0x20, base);
    if (!digit || *out > (UINT64_MAX - 15) / base)
      break;
    *out = *out * base + (uint64_t)(digit - digits);
  }
  return scan->at > start;
}

/* A word of capital letters, digits and '_'. */
static size_t skip_word(struct scan *scan) {
  skip_blanks(scan);
  const char *start = scan->at;
  while (scan->at < scan->end &&
         ((*scan->at | 0x20) >= 'a' || (*scan->at >= '0' && *scan->at <= '9')) &&
         ((*scan->at | 0x20) <= 'z' || *scan->at == '_'))
    scan->at++;
  return (size_t)(scan->at - start);
}

static bool is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static enum pipe pipe_of(const char *text, size_t length) {
  static const struct {
    const char *name;
    enum pipe pipe;
  } names[] = {{"SCALAR", PIPE_S},    {"VEC", PIPE_V},     {"VECTOR", PIPE_V},  {"CUBE", PIPE_M},
               {"MTE1", PIPE_MTE1},   {"MTE2", PIPE_MTE2}, {"MTE3", PIPE_MTE3}, {"FIXP", PIPE_FIX},
               {"FIXPIPE", PIPE_FIX}, {"RVECEX", PIPE_V},  {"RVECLD", PIPE_V},  {"RVECST", PIPE_V}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_word(text, length, names[i].name))
      return names[i].pipe;
  return PIPE_COUNT;
}

static bool is_work(const char *text, size_t length) {
  static const char *const others[] = {"SET_FLAG", "WAIT_FLAG",     "BAR",
                                       "BARRIER",  "WAIT_FLAG_DEV", "SET_CROSS_CORE"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (is_word(text, length, others[i]))
      return false;
  return true;
}

static enum vinci_status read_event(struct scan *scan, struct event *event,
                                    struct vinci_diag *diag) {
  uint64_t binary;
  (void)skip_text(scan, "[info]");
  if (!skip_text(scan, "[") || !skip_number(scan, 10, &event->tick) || !skip_text(scan, "]"))
    return bad_line(scan, "a tick such as [00002009]", diag);
  if (!skip_text(scan, "(PC:") || !skip_number(scan, 16, &event->pc) || !skip_text(scan, ")"))
    return bad_line(scan, "a program counter such as (PC: 0x10d0d32c)", diag);
  size_t length = skip_word(scan);
  if (length == 0)
    return bad_line(scan, "the name of a pipe", diag);
  event->pipe = pipe_of(scan->at - length, length);
  if (!skip_text(scan, ":") || !skip_text(scan, "(Binary:") || !skip_number(scan, 16, &binary) ||
      !skip_text(scan, ")"))
    return bad_line(scan, "': (Binary: 0x...)' behind the pipe", diag);
  event->id = 0;
  if (skip_text(scan, "(ID:") && (!skip_number(scan, 10, &event->id) || !skip_text(scan, ")")))
    return bad_line(scan, "a number such as (ID: 000124)", diag);
  length = skip_word(scan);
  if (length == 0)
    return bad_line(scan, "the name of an instruction", diag);
  event->works = is_work(scan->at - length, length);
  return VINCI_OK;
}

static enum vinci_status read_log(const char *path, struct growing *events,
                                  struct vinci_diag *diag) {
  size_t length;
  char *text = file_read(path, DUMP_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = VINCI_OK;
  struct scan scan = {.path = path, .line = text, .number = 1};
  for (const char *end = text + length; status == VINCI_OK && scan.line < end; scan.number++) {
    const char *next = memchr(scan.line, '\n', (size_t)(end - scan.line));
    scan.at = scan.line;
    scan.end = next ? next : end;
    if (scan.end > scan.line && scan.end[-1] == '\r')
      scan.end--;
    skip_blanks(&scan);
    if (scan.at < scan.end) {
      struct event *event = GROWING_PUSH(events, struct event);
      status = event ? read_event(&scan, event, diag)
                     : diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
      if (event)
        event->order = (uint32_t)events->count;
    }
    scan.line = next ? next + 1 : end;
  }
  free(text);
  return status;
}

static int compare(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int by_instruction(const void *left, const void *right) {
  const struct event *a = left, *b = right;
  int order = compare(a->pc, b->pc);
  order = order ? order : compare(a->pipe, b->pipe);
  order = order ? order : compare(a->id, b->id);
  return order ? order : compare(a->order, b->order);
}

static bool is_same(const struct event *a, const struct event *b) {
  return a->pc == b->pc && a->pipe == b->pipe && a->id == b->id;
}

/* Both are in the order of by_instruction(). What has an end and no start, or no end, was cut off.
 */
static bool pair(const struct growing *starts, const struct growing *ends, const char *core,
                 struct busy *busy) {
  const struct event *start = starts->data, *end = ends->data;
  size_t i = 0, j = 0;
  while (i < starts->count && j < ends->count) {
    if (is_same(&start[i], &end[j])) {
      enum pipe pipe = start[i].works ? start[i].pipe : PIPE_COUNT;
      if (end[j].tick >= start[i].tick && !busy_add(busy, core, pipe, start[i].tick, end[j].tick))
        return false;
      i++;
      j++;
    } else if (by_instruction(&start[i], &end[j]) < 0) {
      i++;
    } else {
      j++;
    }
  }
  return true;
}

static enum vinci_status read_core(const char *folder, const char *popped, struct busy *busy,
                                   struct vinci_diag *diag) {
  static const char middle[] = ".instr_popped_log";
  char core[64], path[PATH_MAX];
  struct growing starts = {0}, ends = {0};
  const char *tail = strstr(popped, middle) + sizeof middle - 1;
  snprintf(core, sizeof core, "%.*s", (int)(tail - popped - (long)sizeof middle + 1), popped);
  snprintf(path, sizeof path, "%s/%s", folder, popped);
  enum vinci_status status = read_log(path, &starts, diag);
  snprintf(path, sizeof path, "%s/%s.instr_log%s", folder, core, tail);
  if (status == VINCI_OK)
    status = read_log(path, &ends, diag);
  if (starts.count > 0 && ends.count > 0) {
    qsort(starts.data, starts.count, sizeof(struct event), by_instruction);
    qsort(ends.data, ends.count, sizeof(struct event), by_instruction);
  }
  if (status == VINCI_OK && !pair(&starts, &ends, core, busy))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
  growing_free(&starts);
  growing_free(&ends);
  return status;
}

static enum vinci_status read_cores(const char *folder, struct busy *busy,
                                    struct vinci_diag *diag) {
  struct dirent **entries;
  int count = scandir(folder, &entries, NULL, NULL);
  struct diag_position at = {.path = folder};
  if (count < 0)
    return diag_error_at(diag, diag_status_of(errno), at, "cannot read the folder: %s",
                         strerror(errno));
  enum vinci_status status = VINCI_OK;
  bool any = false;
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    enum core_kind kind;
    if (status == VINCI_OK && strstr(name, ".instr_popped_log") && strstr(name, ".dump") &&
        import_core_kind(name, &kind)) {
      any = true;
      status = read_core(folder, name, busy, diag);
    }
    free(entries[i]);
  }
  free(entries);
  if (status != VINCI_OK || any)
    return status;
  status = diag_error_at(diag, VINCI_E_INPUT, at, "the folder has no CORE.instr_popped_log.dump");
  diag_hint(diag, "'msprof op simulator --dump=on' keeps the dumps");
  return status;
}

enum vinci_status import_dumps(const char *folder, const struct import_options *options,
                               struct imported *out, struct vinci_diag *diag) {
  out->kind = "CAModel dump";
  if (options->core_hz == 0) {
    enum vinci_status status =
        diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){folder, 0, 0},
                      "a dump has cycles, and times need the chip's clock");
    diag_hint(diag, "name the chip with --soc-version=NAME");
    return status;
  }
  struct busy *busy = busy_new();
  if (!busy)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", folder);
  enum vinci_status status = read_cores(folder, busy, diag);
  if (status == VINCI_OK) {
    const uint64_t ps_per_second = UINT64_C(1000000000000);
    uint64_t cycles;
    busy_report(busy, ps_per_second, options->core_hz, out);
    if (busy_total(busy, CORE_AIC, &cycles))
      import_add(&out->cell[IMPORT_AIC_CYCLES], cycles);
    if (busy_total(busy, CORE_AICORE, &cycles))
      import_add(&out->cell[IMPORT_AIC_CYCLES], cycles);
    if (busy_total(busy, CORE_AIV, &cycles))
      import_add(&out->cell[IMPORT_AIV_CYCLES], cycles);
  }
  busy_free(busy);
  return status;
}
