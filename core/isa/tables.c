/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction table, and tensors of traces, for callers of the library (core/vinci_tables.h).
 */
#include "core/vinci_tables.h"

#include "core/isa/isa.h"
#include "core/isa/program.h"

bool vinci_instruction(size_t index, struct vinci_instruction *out) {
  if (index >= OP_COUNT)
    return false;
  const struct isa_row *row = isa_row((enum isa_op)index);
  *out = (struct vinci_instruction){
      .name = row->name,
      .text = row->text,
      .signature = row->signature,
      .source = row->source,
      .pipe = row->pipe == PIPE_COUNT ? NULL : pipe_name(row->pipe),
      .operand_count = row->arg_count,
  };
  return true;
}

bool vinci_instruction_operand(size_t index, size_t operand, char *text, size_t size) {
  if (index >= OP_COUNT || operand >= isa_row((enum isa_op)index)->arg_count)
    return false;
  const struct isa_arg *arg = &isa_row((enum isa_op)index)->arg[operand];
  snprintf(text, size, "%.*s", (int)arg->name_length, arg->name);
  return true;
}

bool vinci_trace_tensor(const vinci_trace *trace, size_t index, struct vinci_trace_tensor *out) {
  static const char *const directions[] = {"in", "out", "inout", "workspace"};
  if (index >= trace->tensor_count)
    return false;
  const struct program_tensor *tensor = &trace->tensors[index];
  *out = (struct vinci_trace_tensor){
      .name = tensor->name,
      .dtype = dtype_name(tensor->dtype),
      .io = directions[tensor->io],
      .file = tensor->file,
      .rank = tensor->rank,
      .bytes = tensor->bytes,
  };
  for (unsigned i = 0; i < tensor->rank; i++)
    out->shape[i] = tensor->shape[i];
  return true;
}
