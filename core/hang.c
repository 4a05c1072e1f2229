/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run that ended with parts still waiting tells the user: every waiting
 * part, what it waits for and the trace line. Cores that wait in the same way are
 * told once.
 */
#include "core/device.h"

#include <stdio.h>
#include <string.h>

/* What one part of a core waits for. */
struct waiting {
  enum pipe pipe;
  unsigned reason; /* enum stall */
  uint16_t op;
  uint8_t id;
  uint8_t other;
  uint32_t line;
};

enum { WAITING_MAX = PIPE_COUNT };

static void describe_scalar(const struct scalar_unit *scalar, struct waiting *waiting) {
  *waiting = (struct waiting){
      .pipe = PIPE_S,
      .reason = scalar_wait_reason(scalar),
      .op = scalar->inst.op,
      .id = (uint8_t)scalar->wait_id,
      .other = (uint8_t)scalar->wait_pipe,
      .line = scalar->inst.line,
  };
}

static unsigned find_waiting(const struct aicore *core, struct waiting *waiting) {
  unsigned count = 0;
  if (!core->has_block)
    return 0;
  if (scalar_wait_reason(&core->scalar) != PIPE_NOT_STALLED)
    describe_scalar(&core->scalar, &waiting[count++]);
  for (unsigned i = 0; i < PIPE_COUNT; i++) {
    const struct pipe_unit *pipe = &core->pipe[i];
    if (pipe->count == 0)
      continue;
    const struct pipe_entry *head = &pipe->queue[pipe->head];
    waiting[count++] = (struct waiting){
        .pipe = pipe->id,
        .reason = pipe->stall,
        .op = head->op,
        .id = head->id,
        .other = head->other,
        .line = head->line,
    };
  }
  return count;
}

static bool same_wait(const struct waiting *a, const struct waiting *b) {
  return a->pipe == b->pipe && a->reason == b->reason && a->line == b->line && a->id == b->id &&
         a->other == b->other;
}

/* Cores of the device that wait exactly like this, and whether `core` is the first. */
static unsigned count_same(const struct device *device, const struct aicore *core,
                           const struct waiting *wanted, bool *first) {
  unsigned same = 0;
  *first = true;
  for (uint32_t i = 0; i < device->core_count; i++) {
    struct waiting found[WAITING_MAX + 1];
    unsigned count = find_waiting(&device->cores[i], found);
    for (unsigned w = 0; w < count; w++) {
      if (!same_wait(&found[w], wanted))
        continue;
      same++;
      if (i < core->index)
        *first = false;
    }
  }
  return same;
}

static void describe_reason(const struct waiting *waiting, char *text, size_t size) {
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
    snprintf(text, size, "waits for cross-core flag %u", waiting->id);
    break;
  case STALL_QUEUE_FULL:
    snprintf(text, size, "waits for room in the queue of %s", pipe_name((enum pipe)waiting->other));
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

/* A signal of mode 0 stays with its core until all physical cores of the kind have given
 * theirs: with fewer blocks than cores, that is never. */
static void describe_senders(const struct aicore *core, const struct waiting *waiting, char *text,
                             size_t size) {
  const struct device *device = core->device;
  unsigned sent = 0;
  text[0] = '\0';
  if (waiting->reason != STALL_CROSS_CORE)
    return;
  for (uint32_t i = 0; i < device->core_count; i++)
    sent += device->cores[i].kind == core->kind &&
            device->cores[i].cross[waiting->id].sent[CROSS_ALL] > 0;
  if (sent > 0)
    snprintf(text, size, "; %u of %u %s cores %s signalled it in mode 0, which needs all", sent,
             device->kind_count[core->kind], core_kind_name(core->kind),
             sent == 1 ? "has" : "have");
}

static void report_wait(struct report *report, const struct aicore *core,
                        const struct waiting *waiting, unsigned same) {
  char name[64], reason[128], line[400], others[48] = "", senders[128];
  result_core_name(core->result, name, sizeof name);
  describe_reason(waiting, reason, sizeof reason);
  describe_senders(core, waiting, senders, sizeof senders);
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

enum vinci_status device_report_hang(const struct device *device, struct vinci_diag *diag) {
  struct report report = {0};
  for (uint32_t i = 0; i < device->core_count; i++) {
    struct waiting waiting[WAITING_MAX + 1];
    const struct aicore *core = &device->cores[i];
    unsigned count = find_waiting(core, waiting);
    for (unsigned w = 0; w < count; w++) {
      bool first;
      unsigned same = count_same(device, core, &waiting[w], &first);
      if (first)
        report_wait(&report, core, &waiting[w], same);
    }
  }
  char more[48] = "";
  if (report.left_out > 0)
    snprintf(more, sizeof more, "\n  and %u more", report.left_out);
  diag_error_at(diag, VINCI_E_DEADLOCK, program_position(device->trace, report.first_line),
                "the simulated program hangs in kernel \"%s\" after %llu of %u blocks:%s%s",
                device->trace->kernels[device->kernel].name,
                (unsigned long long)device->blocks_done,
                device->trace->kernels[device->kernel].blocks, report.text, more);
  return VINCI_E_DEADLOCK;
}
