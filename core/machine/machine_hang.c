/* SPDX-License-Identifier: Apache-2.0 */
/* What the cores of the abstract machine wait for when nothing can go on. */
#include "core/machine/machine_core.h"
#include "core/sim/hang.h"

/* Only a missing flag or a unit flag holds a pipe of the machine back. */
static struct hang_wait wait_of(const struct machine_core *core, enum pipe pipe,
                                const struct inst *head) {
  struct hang_wait waiting = {.pipe = pipe, .op = head->op, .line = head->line};
  if (head->op == OP_WAIT_FLAG) {
    waiting.reason = STALL_WAIT_FLAG;
    waiting.id = (uint8_t)head->arg[SET_FLAG_ID];
    waiting.other = (uint8_t)head->arg[SET_FLAG_SRC];
    return waiting;
  }
  uint32_t unit = machine_units_blocked(core, head);
  waiting.reason = STALL_UNIT_FLAG;
  waiting.from_line = core->handed_over[unit];
  waiting.address = (uint64_t)unit * L0C_FRACTAL_BYTES;
  return waiting;
}

static unsigned find_waits(const void *context, uint32_t index, struct hang_wait *waits) {
  const struct machine *machine = context;
  const struct machine_core *core = &machine->cores[index];
  unsigned count = 0;
  if (!core->has_block)
    return 0;
  if (core->wait != PIPE_NOT_STALLED)
    waits[count++] = (struct hang_wait){
        .pipe = PIPE_S,
        .reason = core->wait,
        .op = core->inst.op,
        .id = (uint8_t)core->wait_id,
        .other = core->wait_pipe,
        .line = core->inst.line,
    };
  for (unsigned i = 0; i < PIPE_COUNT; i++) {
    const struct machine_pipe *pipe = &core->pipe[i];
    if (pipe->count == 0)
      continue;
    waits[count++] = wait_of(core, (enum pipe)i, &pipe->queue[pipe->head].inst);
  }
  return count;
}

static void name_core(const void *context, uint32_t core, char *buffer, size_t size) {
  machine_core_name(context, core, buffer, size);
}

static struct hang_senders count_senders(const void *context, uint32_t index, uint32_t id) {
  const struct machine *machine = context;
  enum core_kind kind = machine->cores[index].kind;
  struct hang_senders senders = {.kind = kind, .cores = machine->kind_count[kind]};
  for (uint32_t i = 0; i < machine->core_count; i++)
    senders.sent +=
        machine->cores[i].kind == kind && machine->cores[i].cross[id].sent[CROSS_ALL] > 0;
  return senders;
}

enum vinci_status machine_report_hang(const struct machine *machine) {
  struct hang_view view = {
      .context = machine,
      .core_count = machine->core_count,
      .find = find_waits,
      .name = name_core,
      .senders = count_senders,
      .trace = machine->trace,
      .kernel = &machine->trace->kernels[machine->kernel],
      .blocks_done = machine->blocks_done,
  };
  return hang_report(&view, machine->diag);
}
