/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what a row says of its results goes with its inputs: the trace that was lowered knows
 * what comes out of the inputs. Numbers of elements are compared, not extents, since traces join
 * those that lie one behind the other; and one that agrees is enough, since tables name some of
 * several results. Left out: rows without outputs, and lists of tensors (Foreach...), of which
 * tables name the first.
 */
#include <string.h>

#include "core/base/arith.h"
#include "lower/calls/calls.h"

static bool writes_elements(const struct vinci_trace *trace, uint64_t elements) {
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (tensor->io != TENSOR_IN &&
        tensor->bytes * BITS_PER_BYTE / dtype_bits(tensor->dtype) == elements)
      return true;
  }
  return false;
}

bool calls_check_outputs(const struct call_row *row, const struct vinci_trace *trace, char *reason,
                         size_t size) {
  const char *shapes = row->cell[CALL_OUT_SHAPES];
  struct lower_call call = {0};
  if (!row->profiled || *shapes == '\0' || !calls_parse(row, &call) || call.output_count == 0 ||
      strncmp(call.type, "Foreach", strlen("Foreach")) == 0)
    return true;
  for (unsigned i = 0; i < call.output_count; i++)
    if (writes_elements(trace, lower_elements(call.output[i].shape, call.output[i].rank)))
      return true;
  snprintf(reason, size, "%s: the output shape '%.60s' contradicts the inputs '%.80s'", call.type,
           shapes, row->cell[CALL_IN_SHAPES]);
  return false;
}

unsigned calls_other_type(const struct call_row *row, const struct vinci_trace *trace) {
  struct lower_call call = {0};
  if (!row->profiled || *row->cell[CALL_OUT_TYPES] == '\0' || !calls_parse(row, &call))
    return 0;
  for (unsigned i = 0; i < call.output_count; i++) {
    const struct lower_tensor *output = &call.output[i];
    bool same = !output->typed, any = false;
    for (uint32_t t = 0; t < trace->tensor_count && !same; t++) {
      const struct program_tensor *tensor = &trace->tensors[t];
      if (tensor->io == TENSOR_IN || tensor->io == TENSOR_WORKSPACE ||
          tensor->bytes * BITS_PER_BYTE / dtype_bits(tensor->dtype) !=
              lower_elements(output->shape, output->rank))
        continue;
      any = true;
      same = tensor->dtype == output->dtype;
    }
    if (any && !same)
      return i + 1;
  }
  return 0;
}
