/* SPDX-License-Identifier: Apache-2.0 */
/* What the cores of the device wait for when a run has ended before its last kernel. */
#include "core/control/hang.h"
#include "core/sim/device.h"

static unsigned find_waits(const void *context, uint32_t index, struct hang_wait *waits) {
  const struct aicore *core = &((const struct device *)context)->cores[index];
  unsigned count = 0;
  if (!core->has_block)
    return 0;
  if (core->scalar.stall != NOT_STALLED)
    waits[count++] = hang_wait_of(&core->scalar.inst, PIPE_S, core->scalar.stall);
  for (unsigned i = 0; i < PIPE_COUNT; i++) {
    const struct pipe_unit *pipe = &core->pipe[i];
    if (pipe->count == 0)
      continue;
    const struct pipe_entry *head = &pipe->queue[pipe->head];
    waits[count] = (struct hang_wait){
        .pipe = pipe->id,
        .reason = pipe->stall,
        .op = head->op,
        .id = head->id,
        .other = head->other,
        .line = head->line,
    };
    if (pipe->stall == STALL_UNIT_FLAG)
      hang_add_unit(&waits[count], &core->units, pipe_units_blocked(pipe));
    count++;
  }
  return count;
}

enum vinci_status device_report_hang(const struct device *device, struct vinci_diag *diag) {
  struct hang_view view = {
      .placement = &device->placement,
      .signals = &device->signals,
      .context = device,
      .find = find_waits,
  };
  return hang_report(&view, diag);
}
