/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints and watched ranges of `vinci debug`. */
#include "cli/debug/session.h"

#include <inttypes.h>
#include <string.h>

static const char *instruction_at(const void *context, size_t index) {
  (void)context;
  return isa_row((enum isa_op)index)->name;
}

/* Whether a line of a kernel's source has more than the scalar work before its instructions. */
static bool line_has_more(const vinci_trace *trace, uint32_t line) {
  bool more = false;
  for (uint64_t i = 0; trace->source && i < trace->row_count; i++)
    more |= trace->rows[i].line == line && trace->rows[i].op != OP_SCALAR &&
            trace->rows[i].op != OP_CODE_FETCH;
  return more;
}

/* Whether an instruction of the trace stands in a line; *next: the first such line from there on.
 */
static bool line_has_instruction(const vinci_trace *trace, uint32_t line, uint32_t *next) {
  *next = UINT32_MAX;
  for (uint64_t i = 0; i < trace->row_count; i++) {
    const struct program_row *row = &trace->rows[i];
    if (row->kind == ROW_INST && row->line >= line && row->line < *next)
      *next = row->line;
  }
  return *next == line;
}

static enum vinci_status read_line(const struct session *session, const char *word,
                                   struct stop *stop, struct vinci_diag *diag) {
  uint64_t line;
  uint32_t next;
  enum vinci_status status = word_line(session, word, UINT32_MAX - 1, &line, diag);
  if (status != VINCI_OK)
    return status;
  stop->kind = STOP_LINE;
  stop->line = (uint32_t)line;
  stop->past_scalar = line_has_more(session->trace, stop->line);
  if (session->trace->row_count == 0 || line_has_instruction(session->trace, stop->line, &next))
    return VINCI_OK;
  status = diag_error(diag, VINCI_E_USAGE, "line %" PRIu64 " has no instruction", line);
  if (next != UINT32_MAX)
    diag_hint(diag, "the next line that has is %" PRIu32, next);
  else
    diag_hint(diag, "'list' shows the lines");
  return status;
}

static enum vinci_status read_instruction(const char *word, struct stop *stop,
                                          struct vinci_diag *diag) {
  stop->kind = STOP_INSTRUCTION;
  stop->op = isa_find(word, strlen(word));
  if (stop->op < OP_COUNT)
    return VINCI_OK;
  enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "unknown instruction '%s'", word);
  const char *nearest = diag_nearest(word, OP_COUNT, instruction_at, NULL);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag, "a line, an instruction, 'cycle N' or 'flag SRC>DST:ID'");
  return status;
}

static enum vinci_status read_cycle(const struct session *session, const char *word,
                                    struct stop *stop, struct vinci_diag *diag) {
  stop->kind = STOP_CYCLE;
  return word_number(word, "a cycle that is to come",
                     debug_cycle(session->debug, session->core) + 1, UINT64_C(1) << 53,
                     &stop->cycle, diag);
}

static enum vinci_status add(struct session *session, struct stop *stop, const char *core,
                             struct vinci_diag *diag) {
  if (core) {
    enum vinci_status status = word_core(session, core, &stop->core, diag);
    if (status != VINCI_OK)
      return status;
  }
  if (session->stop_count == STOPS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "there are %d breakpoints already", (int)STOPS_MAX);
  stop->number = ++session->last_number;
  session->stops[session->stop_count++] = *stop;
  stop_print(session, stop);
  return VINCI_OK;
}

enum vinci_status command_break(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  struct stop stop = {.core = ALL_CORES};
  const char *word = words->item[1], *second = words->count > 2 ? words->item[2] : NULL;
  bool cycle = strcmp(word, "cycle") == 0, flag = strcmp(word, "flag") == 0;
  const char *core = words->count > 3 ? words->item[3] : NULL;
  enum vinci_status status;
  if (cycle || flag) {
    if (!second)
      return diag_error(diag, VINCI_E_USAGE, "'break %s' lacks its %s", word,
                        cycle ? "number" : "flag, such as MTE2>V:0");
    if (flag)
      stop.kind = STOP_FLAG;
    else
      stop.core = session->core;
    status =
        cycle ? read_cycle(session, second, &stop, diag) : word_flag(session, second, &stop, diag);
  } else {
    if (core)
      return diag_error(diag, VINCI_E_USAGE, "'%s' after a core: only that core counts", core);
    core = second;
    status = (*word >= '0' && *word <= '9') || strchr(word, ':')
                 ? read_line(session, word, &stop, diag)
                 : read_instruction(word, &stop, diag);
  }
  return status == VINCI_OK ? add(session, &stop, core, diag) : status;
}

enum vinci_status command_watch(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  struct place place;
  struct stop stop = {.kind = STOP_WATCH, .core = ALL_CORES};
  enum vinci_status status = word_place(session, words->item[1], &place, diag);
  if (status == VINCI_OK)
    status = word_number(words->item[2], "the number of bytes", 1, place.left, &stop.bytes, diag);
  if (status != VINCI_OK)
    return status;
  stop.space = place.space;
  stop.address = place.address;
  if (place.space != SPACE_GM)
    stop.core = session->core;
  return add(session, &stop, words->count > 3 ? words->item[3] : NULL, diag);
}

enum vinci_status command_delete(struct session *session, const struct words *words,
                                 struct vinci_diag *diag) {
  if (words->count == 1) {
    session->stop_count = 0;
    return VINCI_OK;
  }
  uint64_t number;
  enum vinci_status status =
      word_number(words->item[1], "a breakpoint", 1, UINT32_MAX, &number, diag);
  if (status != VINCI_OK)
    return status;
  for (unsigned i = 0; i < session->stop_count; i++)
    if (session->stops[i].number == number) {
      session->stop_count--;
      memmove(&session->stops[i], &session->stops[i + 1],
              (session->stop_count - i) * sizeof *session->stops);
      return VINCI_OK;
    }
  status = diag_error(diag, VINCI_E_USAGE, "there is no breakpoint %" PRIu64, number);
  diag_hint(diag, "'info breakpoints' lists them");
  return status;
}

void stop_print(const struct session *session, const struct stop *stop) {
  fprintf(session->out, "breakpoint %u: ", stop->number);
  switch (stop->kind) {
  case STOP_LINE:
    if (session->trace->source)
      fprintf(session->out, "%s:%" PRIu32, session_file(session), stop->line);
    else
      fprintf(session->out, "line %" PRIu32, stop->line);
    break;
  case STOP_INSTRUCTION:
    fputs(isa_row(stop->op)->name, session->out);
    break;
  case STOP_CYCLE:
    fprintf(session->out, "cycle %" PRIu64, stop->cycle);
    break;
  case STOP_FLAG:
    fprintf(session->out, "flag %s>%s", pipe_name(stop->from), pipe_name(stop->to));
    if (stop->id != ANY_FLAG_ID)
      fprintf(session->out, ":%" PRIu32, stop->id);
    break;
  case STOP_WATCH:
    fprintf(session->out, "%" PRIu64 " bytes at %s+0x%" PRIx64 " are written", stop->bytes,
            space_name(stop->space), stop->address);
    break;
  }
  if (stop->core != ALL_CORES) {
    const char *core = session_core_name(session, stop->core);
    fprintf(session->out, " on %s", core);
  }
  if (stop->hits > 0)
    fprintf(session->out, ", met %" PRIu64 " time%s", stop->hits, stop->hits == 1 ? "" : "s");
  fputc('\n', session->out);
}

/* A flag is set at the end of its set_flag, and taken when the wait starts to go on. */
static bool is_flag(const struct stop *stop, const struct debug_event *event) {
  const struct inst *inst = &event->inst;
  bool sets = inst->op == OP_SET_FLAG && event->kind == DEBUG_END;
  bool takes = inst->op == OP_WAIT_FLAG && event->kind == DEBUG_START;
  return (sets || takes) && inst->arg[SET_FLAG_SRC] == (int64_t)stop->from &&
         inst->arg[SET_FLAG_DST] == (int64_t)stop->to &&
         (stop->id == ANY_FLAG_ID || inst->arg[SET_FLAG_ID] == (int64_t)stop->id);
}

static bool is_met(const struct session *session, const struct stop *stop,
                   const struct debug_event *event) {
  if ((stop->core != ALL_CORES && stop->core != event->core) || event->kind == DEBUG_BLOCK)
    return false;
  switch (stop->kind) {
  case STOP_LINE:
    return event->kind == DEBUG_START && event->inst.line == stop->line &&
           !(stop->past_scalar && event->inst.op == OP_SCALAR);
  case STOP_INSTRUCTION:
    return event->kind == DEBUG_START && event->inst.op == stop->op;
  case STOP_FLAG:
    return is_flag(stop, event);
  case STOP_WATCH:
    return event->kind == DEBUG_END &&
           debug_writes(session->debug, &event->inst, stop->space, stop->address, stop->bytes);
  case STOP_CYCLE:
    break;
  }
  return false;
}

struct stop *stop_met(struct session *session, const struct debug_event *event) {
  for (unsigned i = 0; i < session->stop_count; i++)
    if (is_met(session, &session->stops[i], event)) {
      session->stops[i].hits++;
      return &session->stops[i];
    }
  return NULL;
}

struct stop *stop_next_cycle(struct session *session, uint64_t *ps) {
  struct stop *next = NULL;
  *ps = UINT64_MAX;
  for (unsigned i = 0; i < session->stop_count; i++) {
    struct stop *stop = &session->stops[i];
    if (stop->kind != STOP_CYCLE || stop->used)
      continue;
    uint64_t at =
        clock_edge_ps(&debug_device(session->debug)->cores[stop->core].clock, stop->cycle);
    if (at < *ps) {
      *ps = at;
      next = stop;
    }
  }
  return next;
}
