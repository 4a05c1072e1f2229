/* SPDX-License-Identifier: Apache-2.0 */
/* What the cores of the abstract machine wait for when nothing can go on. */
#include "core/control/hang.h"
#include "core/machine/machine_core.h"

/* Only a missing flag, a signal or a unit flag holds a pipe of the machine back. */
static struct hang_wait wait_of(const struct machine_core *core, enum pipe pipe,
                                const struct inst *head) {
  enum stall reason = head->op == OP_WAIT_FLAG       ? STALL_WAIT_FLAG
                      : head->op == OP_WAIT_FLAG_DEV ? STALL_CROSS_CORE
                                                     : STALL_UNIT_FLAG;
  struct hang_wait waiting = hang_wait_of(head, pipe, reason);
  if (reason == STALL_UNIT_FLAG)
    hang_add_unit(&waiting, &core->units, machine_blocked_unit(core, head));
  return waiting;
}

static unsigned find_waits(const void *context, uint32_t index, struct hang_wait *waits) {
  const struct machine *machine = context;
  const struct machine_core *core = &machine->cores[index];
  unsigned count = 0;
  if (!core->has_block)
    return 0;
  if (core->wait != NOT_STALLED)
    waits[count++] = hang_wait_of(&core->inst, PIPE_S, core->wait);
  for (unsigned i = 0; i < PIPE_COUNT; i++) {
    const struct machine_pipe *pipe = &core->pipe[i];
    if (pipe->count == 0)
      continue;
    waits[count++] = wait_of(core, (enum pipe)i, &pipe->queue[pipe->head].inst);
  }
  return count;
}

enum vinci_status machine_report_hang(const struct machine *machine) {
  struct hang_view view = {
      .placement = &machine->placement,
      .signals = &machine->signals,
      .context = machine,
      .find = find_waits,
  };
  return hang_report(&view, machine->diag);
}
