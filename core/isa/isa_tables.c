/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction table for callers of the library (core/vinci_tables.h). */
#include "core/vinci_tables.h"

#include "core/isa/isa.h"

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
