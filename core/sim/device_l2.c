/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in L2 when the first kernel starts. How much other kernels have written, and that
 * device memory still lacks, does not depend on the size of L2: a larger L2 would otherwise seem to
 * have more to write back, and a smaller one seem quicker, because the kernels before have paid.
 */
#include "core/base/arith.h"
#include "core/sim/device.h"

enum { CHUNK_BYTES = 4096, PPM = 1000000 };

/* Whether an earlier row names the same memory, as when a kernel reads what one before wrote. */
static bool is_repeated(const struct vinci_trace *trace, uint32_t index) {
  for (uint32_t i = 0; i < index; i++)
    if (trace->tensors[i].address == trace->tensors[index].address)
      return true;
  return false;
}

static bool is_input(const struct vinci_trace *trace, uint32_t index) {
  const struct program_tensor *tensor = &trace->tensors[index];
  return !tensor->passes_l2 && tensor->io != TENSOR_OUT && !is_repeated(trace, index);
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

/* What other kernels have written, and device memory still lacks. */
static uint64_t owed_bytes(const struct device *device) {
  uint64_t most = (uint64_t)device->soc->l2_owed_bytes;
  return device->options.l2_written_given ? min_u64(most, device->options.l2_written_bytes) : most;
}

/* ---- inputs that are there ---- */

/* What is left of a tensor that had this room: each byte that found none has pushed out another. */
static uint64_t kept_bytes(uint64_t bytes, uint64_t room) {
  uint64_t beyond = bytes > room ? bytes - room : 0;
  return beyond == 0 ? bytes : beyond < room ? room - beyond : 0;
}

static uint64_t scaled(uint64_t value, uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : (uint64_t)((uint128)value * part / whole);
}

/* Brings `kept` bytes of a tensor, clean, spread over all of it; more include those of less. */
static void bring(struct device *device, const struct program_tensor *tensor, uint64_t kept) {
  uint64_t end = tensor->address + tensor->bytes, next;
  uint64_t limit = kept < tensor->bytes ? scaled(UINT32_MAX, kept, tensor->bytes) : UINT64_MAX;
  for (uint64_t address = tensor->address; address < end; address = next) {
    uint64_t chunk = address / CHUNK_BYTES;
    next = min_u64(end, (chunk + 1) * CHUNK_BYTES);
    if (limit == UINT64_MAX || (chunk * UINT64_C(0x9E3779B97F4A7C15)) >> 32 < limit)
      device->memory_ops->preload(device->memory, device_address(device, address), next - address);
  }
}

/* Inputs in the order of the trace, beside what is written. What is read and written lies in the
 * part that is written. */
static void warm(struct device *device) {
  const struct vinci_trace *trace = device->trace;
  uint64_t all, size = (uint64_t)device->soc->l2_bytes;
  uint64_t written = written_bytes(trace, &all);
  uint64_t written_kept = kept_bytes(written, size), room = size - min_u64(written, size);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (!is_input(trace, i))
      continue;
    uint64_t kept = tensor->io == TENSOR_IN ? kept_bytes(tensor->bytes, room)
                                            : scaled(tensor->bytes, written_kept, written);
    room -= tensor->io == TENSOR_IN ? kept : 0;
    bring(device, tensor, kept);
  }
}

/* Of an input, what is still there when much else came after its last use. */
static uint64_t reused_bytes(const struct device *device, uint32_t index) {
  uint64_t room = scaled((uint64_t)device->soc->l2_bytes, (uint64_t)device->soc->l2_kept_ppm, PPM);
  return is_input(device->trace, index) ? kept_bytes(device->trace->tensors[index].bytes, room) : 0;
}

/* ---- what other kernels have written ---- */

/*
 * Lines of other kernels lie in L2 beside the inputs that are there, and a larger L2 has room
 * beside both. Of these lines, those leave that find the room used up; `part` of `whole` of them
 * are dirty.
 */
static void owe(struct device *device, uint64_t kept, uint64_t lines, uint64_t part,
                uint64_t whole) {
  uint64_t all, size = (uint64_t)device->soc->l2_bytes;
  (void)written_bytes(device->trace, &all);
  uint64_t room = size - min_u64(size, kept + lines), coming = all - min_u64(all, kept);
  uint64_t leaving = room > 0 ? min_u64(lines, coming - min_u64(coming, room)) : lines;
  uint64_t owed = scaled(leaving, part, whole);
  device->result->l2_start_owed_bytes = owed;
  device->memory_ops->owe(device->memory, device->trace->gm_bytes, owed,
                          (uint32_t)scaled(PPM, part, whole));
}

/* As large a share is dirty as the trace's own tensors are written. */
static void stream(struct device *device) {
  uint64_t all, written = written_bytes(device->trace, &all);
  owe(device, 0, owed_bytes(device), written, all);
}

/* A small L2 has no room for all that is owed: the rest has to be written back all the same. */
static void use(struct device *device, bool inputs) {
  uint64_t kept = 0;
  for (uint32_t i = 0; inputs && i < device->trace->tensor_count; i++) {
    uint64_t bytes = reused_bytes(device, i);
    bring(device, &device->trace->tensors[i], bytes);
    kept += bytes;
  }
  owe(device, kept, owed_bytes(device), 1, 1);
}

void device_start_l2(struct device *device) {
  enum vinci_l2 start = device->options.l2_start;
  device->result->l2_start = start;
  if (start == VINCI_L2_WARM)
    warm(device);
  else if (start == VINCI_L2_STREAMING)
    stream(device);
  else if (start != VINCI_L2_EMPTY)
    use(device, start == VINCI_L2_USED);
}
