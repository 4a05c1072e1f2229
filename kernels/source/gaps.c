/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behind a tensor that does not end where a page of the host does, there is memory that a store too
 * far reaches without a fault. What lies there stays zero as long as nobody does that, and is
 * looked at when a kernel has ended. The first bytes are allowed: copies and allocations have 32.
 */
#include "core/base/arith.h"
#include "core/machine/values.h"
#include "kernels/source/source.h"

enum { ROUNDING = 32, PAGE = 4096 };

/* Where the memory behind a tensor ends that is nobody's. */
static uint64_t gap_end(const struct source *source, const struct program_tensor *tensor) {
  uint64_t end = tensor->address + tensor->bytes + tensor->tail;
  if (source->enter)
    return round_up(end, PAGE);
  /* Behind the last tensor there are closed pages. */
  return min_u64(round_up(end, PROGRAM_TENSOR_ALIGNMENT), source->trace->gm_bytes);
}

static enum vinci_status report(const struct source *source, const struct program_tensor *tensor,
                                uint64_t at, struct vinci_diag *diag) {
  uint64_t behind = at - tensor->address - tensor->bytes;
  if (source->enter)
    (void)diag_error(diag, VINCI_E_INPUT,
                     "kernel %s has written %llu bytes behind the end of device memory of %llu "
                     "bytes",
                     source->trace->kernels[0].name, (unsigned long long)behind,
                     (unsigned long long)tensor->bytes);
  else
    (void)diag_error(diag, VINCI_E_INPUT,
                     "kernel %s has written %llu bytes behind the end of tensor \"%s\"",
                     source->trace->kernels[0].name, (unsigned long long)behind, tensor->name);
  diag_hint(diag,
            source->enter ? "VINCI_CHECK=memcheck tells the line" : "`vinci check` tells the line");
  return VINCI_E_INPUT;
}

enum vinci_status source_look_at_gaps(const struct source *source, uint8_t *gm,
                                      struct vinci_diag *diag) {
  const struct vinci_trace *trace = source->trace;
  enum vinci_status status = VINCI_OK;
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    uint64_t end = gap_end(source, tensor);
    for (uint64_t at = round_up(tensor->address + tensor->bytes + tensor->tail, ROUNDING); at < end;
         at++) {
      if (gm[at] == 0)
        continue;
      if (status == VINCI_OK)
        status = report(source, tensor, at, diag);
      gm[at] = 0;
    }
  }
  return status;
}
