/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of `vinci debug` that show the state of a core, of the session and of the trace. */
#include "cli/debug/session.h"

#include <inttypes.h>
#include <string.h>

/* ---- rows of the trace ---- */

/* Start and length of a line of the trace; NULL when there is none. */
static const char *line_text(const struct session *session, uint32_t line, size_t *length) {
  const char *text = session->text;
  for (uint32_t i = 1; text && i < line; i++) {
    text = strchr(text, '\n');
    text = text ? text + 1 : NULL;
  }
  if (!text || !*text)
    return NULL;
  *length = strcspn(text, "\r\n");
  return text;
}

void session_print_row(const struct session *session, const struct inst *inst) {
  size_t length = 0;
  const char *text = line_text(session, inst->line, &length);
  const char *name = isa_row((enum isa_op)inst->op)->name;
  if (session->trace->source && inst->line > 0)
    fprintf(session->out, "%s:%" PRIu32 " %s%s", session_file(session), inst->line, name,
            text ? ": " : "");
  else
    fprintf(session->out, "line %" PRIu32 ": %s", inst->line, text ? "" : name);
  if (!text)
    return;
  size_t blanks = strspn(text, " \t");
  fprintf(session->out, "%.*s", (int)(length - blanks), text + blanks);
}

void session_print_cause(const struct session *session, const struct inst *inst, unsigned stall) {
  static const char *const texts[] = {
#define X(id, key, text, mostly) text,
      STALL_LIST(X)
#undef X
  };
  if (stall >= STALL_COUNT)
    return;
  fprintf(session->out, ", %s", texts[stall]);
  if (inst->op == OP_WAIT_FLAG)
    fprintf(session->out, ": %s>%s:%" PRId64, pipe_name((enum pipe)inst->arg[SET_FLAG_SRC]),
            pipe_name((enum pipe)inst->arg[SET_FLAG_DST]), inst->arg[SET_FLAG_ID]);
  else if (inst->op == OP_WAIT_FLAG_DEV)
    fprintf(session->out, ": signal %" PRId64 "%s", inst->arg[CROSS_WAIT_ID],
            inst->arg[CROSS_WAIT_MODE] == CROSS_ONE ? " of mode 4" : "");
}

/* "dst=UB+0x200 src=GM+0x1000 dtype=fp16", as evaluated. */
static void print_operands(const struct inst *inst, FILE *out) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  for (unsigned i = 0; i < row->arg_count; i++) {
    const struct isa_arg *arg = &row->arg[i];
    char word[32];
    if (arg->archs && !(arg->archs & 1u << inst->arch))
      continue;
    if (arg->has_default && inst->arg[i] == arg->default_value)
      continue;
    fprintf(out, " %s=", arg->name);
    switch (arg->kind) {
    case ARG_ADDRESS:
      fprintf(out, "%s+0x%" PRIx64, space_name((enum space)arg->space), (uint64_t)inst->arg[i]);
      break;
    case ARG_WORD:
      isa_word_text(arg, inst->arg[i], word, sizeof word);
      fputs(word, out);
      break;
    case ARG_DTYPE:
      fputs(dtype_name((enum dtype)inst->arg[i]), out);
      break;
    case ARG_PIPE:
      fputs(pipe_name((enum pipe)inst->arg[i]), out);
      break;
    default:
      fprintf(out, "%" PRId64, inst->arg[i]);
      break;
    }
  }
}

/* ---- a core ---- */

static void print_place(const struct session *session) {
  const struct aicore *core = &debug_device(session->debug)->cores[session->core];
  const char *name = session_core_name(session, session->core);
  fprintf(session->out, "cycle %" PRIu64 "  %s  ", debug_cycle(session->debug, session->core),
          name);
  if (core->has_block)
    fprintf(session->out, "kernel %s, block %" PRId64 " of %" PRIu32, session_kernel(session)->name,
            core->stream.variables[VAR_BLK], session_kernel(session)->blocks);
  else
    fputs("no block", session->out);
  if (core->has_block && core->stream.variables[VAR_SUB] > 0)
    fprintf(session->out, ", sub-block %" PRId64, core->stream.variables[VAR_SUB]);
  fputc('\n', session->out);
}

/* Whether an instruction is being executed now: of the scalar unit some may lie ahead. */
static bool executes(const struct debug_slot *slot, uint64_t now) {
  return slot->started && !slot->ended && slot->start_cycle <= now;
}

static void print_execution(const struct session *session, enum pipe pipe,
                            const struct debug_slot *slot) {
  fprintf(session->out, "  %-4s executes ", pipe_name(pipe));
  session_print_row(session, &slot->inst);
  fprintf(session->out, " since %" PRIu64, slot->start_cycle);
  if (slot->end_cycle == OBSERVER_LATER)
    fputs(", end not known yet\n", session->out);
  else
    fprintf(session->out, " until %" PRIu64 "\n", slot->end_cycle);
}

/* What a pipe executes or waits for; with operands: their values too. Whether there is something.
 */
static bool print_pipe(const struct session *session, enum pipe pipe, bool operands) {
  uint64_t now = debug_cycle(session->debug, session->core);
  struct debug_wait wait = debug_wait(session->debug, session->core, pipe);
  bool any = false;
  const struct debug_slot *slot;
  for (size_t i = 0; (slot = debug_slot(session->debug, session->core, pipe, i)); i++) {
    if (!executes(slot, now))
      continue;
    any = true;
    print_execution(session, pipe, slot);
    if (operands) {
      fprintf(session->out, "      ");
      print_operands(&slot->inst, session->out);
      fputc('\n', session->out);
    }
  }
  if (wait.stall == NOT_STALLED || any)
    return any;
  fprintf(session->out, "  %-4s waits in ", pipe_name(pipe));
  session_print_row(session, &wait.inst);
  fprintf(session->out, " since %" PRIu64, wait.since_cycle);
  session_print_cause(session, &wait.inst, wait.stall);
  fputc('\n', session->out);
  return true;
}

enum vinci_status command_pipes(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  (void)words;
  (void)diag;
  const struct aicore *core = &debug_device(session->debug)->cores[session->core];
  print_place(session);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (core_has_pipe(core->kind, (enum pipe)pipe) && !print_pipe(session, (enum pipe)pipe, false))
      fprintf(session->out, "  %-4s idle\n", pipe_name((enum pipe)pipe));
  return VINCI_OK;
}

enum vinci_status command_where(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  (void)words;
  (void)diag;
  print_place(session);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    (void)print_pipe(session, (enum pipe)pipe, true);
  return VINCI_OK;
}

static void print_queue(const struct session *session, enum pipe pipe) {
  const struct aicore *core = &debug_device(session->debug)->cores[session->core];
  uint64_t now = debug_cycle(session->debug, session->core), count = 0;
  const struct debug_slot *slot;
  for (size_t i = 0; (slot = debug_slot(session->debug, session->core, pipe, i)); i++)
    count += !slot->started && slot->issue_cycle <= now;
  fprintf(session->out, "  %-4s %" PRIu64 " of %u\n", pipe_name(pipe), count,
          core->pipe[pipe].depth);
  for (size_t i = 0; (slot = debug_slot(session->debug, session->core, pipe, i)); i++) {
    if (slot->started || slot->issue_cycle > now)
      continue;
    fprintf(session->out, "         issued %" PRIu64 "  ", slot->issue_cycle);
    session_print_row(session, &slot->inst);
    fputc('\n', session->out);
  }
}

enum vinci_status command_queues(struct session *session, const struct words *words,
                                 struct vinci_diag *diag) {
  const struct aicore *core = &debug_device(session->debug)->cores[session->core];
  enum pipe only = PIPE_COUNT;
  if (words->count > 1) {
    enum vinci_status status = word_pipe(session, words->item[1], &only, diag);
    if (status != VINCI_OK)
      return status;
    if (only == PIPE_S)
      return diag_error(diag, VINCI_E_USAGE, "the scalar unit issues into queues and has none");
  }
  print_place(session);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (pipe != PIPE_S && core_has_pipe(core->kind, (enum pipe)pipe) &&
        (only == PIPE_COUNT || only == pipe))
      print_queue(session, (enum pipe)pipe);
  return VINCI_OK;
}

enum vinci_status command_flags(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  (void)words;
  (void)diag;
  const struct device *device = debug_device(session->debug);
  const struct aicore *core = &device->cores[session->core];
  unsigned set = 0;
  print_place(session);
  for (size_t flag = 0; flag < flags_count(session->soc); flag++) {
    if (!core->has_block || !flag_is_set(&core->flags, flag))
      continue;
    size_t pair = flag / core->flags.ids;
    fprintf(session->out, "  %s>%s:%zu set at %" PRIu64 " by line %" PRIu32 "\n",
            pipe_name((enum pipe)(pair / PIPE_COUNT)), pipe_name((enum pipe)(pair % PIPE_COUNT)),
            flag % core->flags.ids, core->flag_cycle[flag], core->flags.line[flag]);
    set++;
  }
  for (uint32_t flag = 0; flag < device->signals.flags; flag++) {
    const struct signal_counts *counts = signals_at(&device->signals, session->core, flag);
    if (counts->arrived > 0)
      fprintf(session->out, "  signal %" PRIu32 "%s has arrived %" PRIu32 " time%s\n",
              signals_id(session->soc, flag),
              signals_is_one(session->soc, flag) ? " of mode 4" : "", counts->arrived,
              counts->arrived == 1 ? "" : "s");
    set += counts->arrived > 0;
  }
  if (set == 0)
    fputs("  no flag is set\n", session->out);
  return VINCI_OK;
}

enum vinci_status command_core(struct session *session, const struct words *words,
                               struct vinci_diag *diag) {
  const struct device *device = debug_device(session->debug);
  if (words->count > 1) {
    uint32_t core;
    enum vinci_status status = word_core(session, words->item[1], &core, diag);
    if (status != VINCI_OK)
      return status;
    session->core = core;
    print_place(session);
    return VINCI_OK;
  }
  for (uint32_t i = 0; i < device->placement.core_count; i++) {
    const char *name = session_core_name(session, i);
    fprintf(session->out, "%c %3" PRIu32 "  %-18s ", i == session->core ? '*' : ' ', i, name);
    if (device->cores[i].has_block)
      fprintf(session->out, "block %" PRId64 "\n", device->cores[i].stream.variables[VAR_BLK]);
    else
      fputs("no block\n", session->out);
  }
  return VINCI_OK;
}

/* ---- the trace and the session ---- */

/* The line that the core executes: that of the oldest instruction under way, or 1. */
static uint32_t present_line(const struct session *session) {
  uint64_t now = debug_cycle(session->debug, session->core), oldest = UINT64_MAX;
  uint32_t line = 1;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    const struct debug_slot *slot;
    for (size_t i = 0; (slot = debug_slot(session->debug, session->core, (enum pipe)pipe, i)); i++)
      if (executes(slot, now) && slot->start_cycle < oldest) {
        oldest = slot->start_cycle;
        line = slot->inst.line;
      }
  }
  return line;
}

enum vinci_status command_list(struct session *session, const struct words *words,
                               struct vinci_diag *diag) {
  enum { AROUND = 5 };
  uint64_t line = present_line(session);
  if (words->count > 1) {
    enum vinci_status status = word_line(session, words->item[1], UINT32_MAX - AROUND, &line, diag);
    if (status != VINCI_OK)
      return status;
  }
  size_t length;
  if (!line_text(session, (uint32_t)line, &length))
    return diag_error(diag, VINCI_E_USAGE,
                      session->text ? "%s has no line %" PRIu64
                                    : "the text of %s is not there, nor its line %" PRIu64,
                      session->trace->source ? session_file(session) : "the trace", line);
  for (uint64_t i = line > AROUND ? line - AROUND : 1; i <= line + AROUND; i++) {
    const char *text = line_text(session, (uint32_t)i, &length);
    if (text)
      fprintf(session->out, "%c%5" PRIu64 "  %.*s\n", i == line ? '>' : ' ', i, (int)length, text);
  }
  return VINCI_OK;
}

static void print_stops(const struct session *session) {
  for (unsigned i = 0; i < session->stop_count; i++)
    stop_print(session, &session->stops[i]);
  if (session->stop_count == 0)
    fputs("no breakpoints\n", session->out);
}

static void print_buffers(const struct session *session) {
  const struct program_kernel *kernel = session_kernel(session);
  for (unsigned space = 0; space < SPACE_COUNT; space++)
    if (space != SPACE_GM && session_core_has(session, (enum space)space))
      fprintf(session->out, "  %-12s %" PRIu64 " bytes\n", space_name((enum space)space),
              soc_space_bytes(session->soc, (enum space)space));
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const struct program_buffer *buffer = &session->trace->buffers[kernel->first_buffer + i];
    fprintf(session->out, "  %-12s %" PRIu64 " bytes at %s+0x%" PRIx64 "\n", buffer->name,
            buffer->bytes, space_name(buffer->space), buffer->address);
  }
  for (uint32_t i = 0; i < kernel->tensor_count; i++) {
    const struct program_tensor *tensor = &session->trace->tensors[kernel->first_tensor + i];
    fprintf(session->out, "  %-12s %" PRIu64 " bytes at GM+0x%" PRIx64 ", %s\n", tensor->name,
            tensor->bytes, tensor->address, dtype_name(tensor->dtype));
  }
}

enum vinci_status command_info(struct session *session, const struct words *words,
                               struct vinci_diag *diag) {
  const char *word = words->count > 1 ? words->item[1] : "";
  size_t length = strlen(word);
  if (length > 0 && strncmp("breakpoints", word, length) == 0) {
    print_stops(session);
  } else if (length > 0 && strncmp("buffers", word, length) == 0) {
    print_buffers(session);
  } else if (length > 0) {
    enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "no information on '%s'", word);
    diag_hint(diag, "'info', 'info breakpoints' or 'info buffers'");
    return status;
  } else {
    fprintf(session->out, "%s on %s, values are %s\n", session->trace->path, session->soc->name,
            session->values ? "computed" : "not computed (--values)");
    print_place(session);
    print_stops(session);
  }
  return VINCI_OK;
}
