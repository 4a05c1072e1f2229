/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In front of a tensor that does not begin with a page of the host, and behind one that does not
 * end with a page, there is memory that a wrong store reaches without a fault. What lies there
 * stays zero as long as nobody does that, and is looked at when a kernel has ended. The first bytes
 * behind are allowed: copies and allocations have 32.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/machine/values.h"
#include "core/machine/values_unknown.h"
#include "kernels/source/source.h"

enum { ROUNDING = 32, PAGE = 4096 };

/* Where the memory in front of a tensor begins that is nobody's: tensors of a kernel that runs
 * alone follow each other, and what is in front of one lies behind another. */
static uint64_t gap_begin(const struct source *source, const struct program_tensor *tensor) {
  return source->enter ? tensor->address - tensor->address % PAGE : tensor->address;
}

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
  bool in_front = at < tensor->address;
  uint64_t behind = in_front ? tensor->address - at : at - tensor->address - tensor->bytes;
  if (source->enter)
    (void)diag_error(
        diag, VINCI_E_INPUT, "kernel %s has written %llu bytes %s device memory of %llu bytes",
        source->trace->kernels[0].name, (unsigned long long)behind,
        in_front ? "in front of" : "behind the end of", (unsigned long long)tensor->bytes);
  else
    (void)diag_error(diag, VINCI_E_INPUT,
                     "kernel %s has written %llu bytes behind the end of tensor \"%s\"",
                     source->trace->kernels[0].name, (unsigned long long)behind, tensor->name);
  diag_hint(diag,
            source->enter ? "VINCI_CHECK=memcheck tells the line" : "`vinci check` tells the line");
  return VINCI_E_INPUT;
}

/* The first byte that somebody has written; `end`: nobody has. Zeros afterwards. Programs with many
 * pieces of memory come here for each of them in each launch: zeros are told by one comparison. */
static uint64_t take_written(uint8_t *gm, uint64_t begin, uint64_t end) {
  uint64_t first = end;
  if (begin >= end || (gm[begin] == 0 && memcmp(gm + begin, gm + begin + 1, end - begin - 1) == 0))
    return end;
  for (uint64_t at = begin; at < end; at++) {
    if (gm[at] == 0)
      continue;
    first = min_u64(first, at);
    gm[at] = 0;
  }
  return first;
}

enum vinci_status source_look_at_gaps(const struct source *source, struct vinci_values *values,
                                      struct vinci_diag *diag) {
  const struct vinci_trace *trace = source->trace;
  enum vinci_status status = VINCI_OK;
  /* Pages with values that nobody has computed are closed until then. */
  if (values->unknown && !unknown_pages_close(values->unknown->gm, false))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory after a run without values");
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    uint64_t behind = round_up(tensor->address + tensor->bytes + tensor->tail, ROUNDING);
    uint64_t end = gap_end(source, tensor);
    uint64_t in_front = take_written(values->gm, gap_begin(source, tensor), tensor->address);
    uint64_t too_far = take_written(values->gm, behind, end);
    if (status == VINCI_OK && in_front < tensor->address)
      status = report(source, tensor, in_front, diag);
    else if (status == VINCI_OK && too_far < end)
      status = report(source, tensor, too_far, diag);
  }
  return status;
}
