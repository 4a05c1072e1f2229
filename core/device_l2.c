/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in L2 when the first kernel starts. */
#include "core/arith.h"
#include "core/device.h"

enum { CHUNK_BYTES = 4096 };

/* Whether an earlier row names the same memory, as when a kernel reads what one before wrote. */
static bool is_repeated(const struct vinci_trace *trace, uint32_t index) {
  for (uint32_t i = 0; i < index; i++)
    if (trace->tensors[i].address == trace->tensors[index].address)
      return true;
  return false;
}

/* Of the tensors' bytes, those that kernels write. */
static uint64_t written_bytes(const struct vinci_trace *trace, uint64_t *all) {
  uint64_t written = 0;
  *all = 0;
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    if (is_repeated(trace, i))
      continue;
    *all += trace->tensors[i].bytes;
    if (trace->tensors[i].io != TENSOR_IN)
      written += trace->tensors[i].bytes;
  }
  return written;
}

/* Inputs in the order of the trace, each if it has room beside what is written. */
static void warm(struct device *device) {
  const struct vinci_trace *trace = device->trace;
  uint64_t all, room = (uint64_t)device->soc->l2_bytes;
  uint64_t written = written_bytes(trace, &all);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    bool input = !tensor->passes_l2 && (tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT);
    /* What is read and written lies in the part that is written. */
    uint64_t more = tensor->io == TENSOR_IN ? tensor->bytes : 0;
    if (!input || is_repeated(trace, i) || written > room || more > room - written)
      continue;
    room -= more;
    device->memory_ops->preload(device->memory, tensor->address, tensor->bytes, false);
  }
}

/* Lines above all tensors, as many as L2 holds; `written` of `all` bytes are dirty, evenly
 * spread. */
static void fill(struct device *device, uint64_t written, uint64_t all) {
  uint64_t sum = 0;
  uint64_t address = ceil_div(device->trace->gm_bytes, CHUNK_BYTES) * CHUNK_BYTES;
  uint64_t end = address + (uint64_t)device->soc->l2_bytes;
  for (; address < end; address += CHUNK_BYTES) {
    sum += written;
    bool dirty = all > 0 && sum >= all;
    sum -= dirty ? all : 0;
    device->memory_ops->preload(device->memory, address, CHUNK_BYTES, dirty);
  }
}

static void stream(struct device *device) {
  uint64_t all, written = written_bytes(device->trace, &all);
  fill(device, written, all);
}

/* Inputs of at most half of L2, behind the lines that are there already. */
static void bring_inputs(struct device *device) {
  const struct vinci_trace *trace = device->trace;
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    bool input = !tensor->passes_l2 && (tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT);
    if (input && !is_repeated(trace, i) && tensor->bytes <= (uint64_t)device->soc->l2_bytes / 2)
      device->memory_ops->preload(device->memory, tensor->address, tensor->bytes, false);
  }
}

void device_start_l2(struct device *device) {
  device->result->l2_start = device->options.l2_start;
  if (device->options.l2_start == VINCI_L2_WARM)
    warm(device);
  else if (device->options.l2_start == VINCI_L2_STREAMING)
    stream(device);
  else if (device->options.l2_start != VINCI_L2_EMPTY)
    fill(device, 1, 1);
  if (device->options.l2_start == VINCI_L2_USED)
    bring_inputs(device);
}
