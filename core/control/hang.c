/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run that ended with parts still waiting tells the user: every waiting
 * part, what it waits for and the trace line. Cores that wait in the same way are
 * told once.
 */
#include "core/control/hang.h"

#include <stdio.h>
#include <string.h>

struct hang_wait hang_wait_of(const struct inst *inst, enum pipe pipe, unsigned reason) {
  struct hang_wait waiting = {.pipe = pipe, .reason = reason, .op = inst->op, .line = inst->line};
  if (reason == STALL_WAIT_FLAG) {
    waiting.id = (uint8_t)inst->arg[SET_FLAG_ID];
    waiting.other = (uint8_t)inst->arg[SET_FLAG_SRC];
  } else if (reason == STALL_CROSS_CORE) {
    waiting.id = (uint8_t)inst->arg[CROSS_WAIT_ID];
    waiting.other = (uint8_t)inst->arg[CROSS_WAIT_MODE];
  } else if (reason == STALL_QUEUE_FULL) {
    waiting.other = (uint8_t)inst_pipe(inst);
  }
  return waiting;
}

void hang_add_unit(struct hang_wait *waiting, const struct unit_flags *units, uint32_t unit) {
  if (unit == units->set.units)
    return;
  waiting->from_line = units->unit[unit].line;
  waiting->address = (uint64_t)unit * L0C_FRACTAL_BYTES;
}

static bool same_wait(const struct hang_wait *a, const struct hang_wait *b) {
  return a->pipe == b->pipe && a->reason == b->reason && a->line == b->line && a->id == b->id &&
         a->other == b->other && a->from_line == b->from_line && a->address == b->address;
}

/* Cores that wait exactly like this, and whether `core` is the first. */
static unsigned count_same(const struct hang_view *view, uint32_t core,
                           const struct hang_wait *wanted, bool *first) {
  unsigned same = 0;
  *first = true;
  for (uint32_t i = 0; i < view->placement->core_count; i++) {
    struct hang_wait found[HANG_WAITS_MAX];
    unsigned count = view->find(view->context, i, found);
    for (unsigned w = 0; w < count; w++) {
      if (!same_wait(&found[w], wanted))
        continue;
      same++;
      if (i < core)
        *first = false;
    }
  }
  return same;
}

/* A mad waits for the fixpipe, the fixpipe for a mad. */
static void describe_unit_flag(const struct hang_wait *waiting, char *text, size_t size) {
  const char *name = isa_row((enum isa_op)waiting->op)->name;
  if (waiting->pipe == PIPE_M)
    snprintf(
        text, size,
        "waits in %s for a fixpipe with unit_flag=3 to read L0C at 0x%llx, which line %u handed "
        "over",
        name, (unsigned long long)waiting->address, waiting->from_line);
  else
    snprintf(text, size, "waits in %s for a mad with unit_flag=3 to hand over L0C at 0x%llx", name,
             (unsigned long long)waiting->address);
}

static void describe_reason(const struct hang_wait *waiting, char *text, size_t size) {
  const char *pipe = pipe_name(waiting->pipe);
  switch (waiting->reason) {
  case STALL_WAIT_FLAG:
    snprintf(text, size, "waits for flag %s->%s id %u", pipe_name((enum pipe)waiting->other), pipe,
             waiting->id);
    break;
  case STALL_BARRIER:
    snprintf(text, size, "waits in %s for its earlier instructions",
             isa_row((enum isa_op)waiting->op)->name);
    break;
  case STALL_CROSS_CORE:
    snprintf(text, size, "waits for cross-core flag %u%s", waiting->id,
             waiting->other == CROSS_ONE ? " of mode 4" : "");
    break;
  case STALL_QUEUE_FULL:
    snprintf(text, size, "waits for room in the queue of %s", pipe_name((enum pipe)waiting->other));
    break;
  case STALL_UNIT_FLAG:
    describe_unit_flag(waiting, text, size);
    break;
  default:
    snprintf(text, size, "cannot start %s", isa_row((enum isa_op)waiting->op)->name);
    break;
  }
}

struct report {
  char text[960];
  size_t used;
  unsigned left_out;
  uint32_t first_line;
};

/* A signal of mode 0 stays with its core until the cores of all blocks have given theirs: with more
 * blocks than cores, that is never. */
static void describe_senders(const struct hang_view *view, uint32_t core,
                             const struct hang_wait *waiting, char *text, size_t size) {
  text[0] = '\0';
  if (waiting->reason != STALL_CROSS_CORE || waiting->other == CROSS_ONE)
    return;
  enum core_kind kind = placement_kind(view->placement, core);
  uint32_t sent = signals_waiting(view->signals, kind, waiting->id);
  if (sent > 0)
    snprintf(text, size, "; %u of the %u %s cores of all blocks %s signalled it in mode 0", sent,
             signals_needed(view->signals, kind), core_kind_name(kind), sent == 1 ? "has" : "have");
}

static void report_wait(struct report *report, const struct hang_view *view, uint32_t core,
                        const struct hang_wait *waiting, unsigned same) {
  char name[64], reason[200], line[480], others[48] = "", senders[128];
  placement_core_name(view->placement, core, name, sizeof name);
  describe_reason(waiting, reason, sizeof reason);
  describe_senders(view, core, waiting, senders, sizeof senders);
  if (same > 1)
    snprintf(others, sizeof others, " (and %u more core%s)", same - 1, same > 2 ? "s" : "");
  int length = snprintf(line, sizeof line, "\n  %s %s%s %s, line %u%s", name,
                        pipe_name(waiting->pipe), others, reason, waiting->line, senders);
  if (report->first_line == 0)
    report->first_line = waiting->line;
  if (length < 0 || report->used + (size_t)length >= sizeof report->text) {
    report->left_out++;
    return;
  }
  memcpy(report->text + report->used, line, (size_t)length + 1);
  report->used += (size_t)length;
}

enum vinci_status hang_report(const struct hang_view *view, struct vinci_diag *diag) {
  struct report report = {0};
  for (uint32_t i = 0; i < view->placement->core_count; i++) {
    struct hang_wait waits[HANG_WAITS_MAX];
    unsigned count = view->find(view->context, i, waits);
    for (unsigned w = 0; w < count; w++) {
      bool first;
      unsigned same = count_same(view, i, &waits[w], &first);
      if (first)
        report_wait(&report, view, i, &waits[w], same);
    }
  }
  char more[48] = "";
  if (report.left_out > 0)
    snprintf(more, sizeof more, "\n  and %u more", report.left_out);
  const struct placement *placement = view->placement;
  return diag_error_at(diag, VINCI_E_DEADLOCK,
                       program_position(placement->trace, report.first_line),
                       "the simulated program hangs in kernel \"%s\" after %u of %u blocks:%s%s",
                       placement->kernel->name, placement->blocks_done, placement->kernel->blocks,
                       report.text, more);
}
