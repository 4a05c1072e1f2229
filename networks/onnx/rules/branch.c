/* SPDX-License-Identifier: Apache-2.0 */
/* If: the branch that the condition chooses takes its place. */
#include "networks/onnx/rules/rules.h"

enum vinci_status onnx_rule_if(struct onnx_call *call) {
  struct onnx_import *import = call->import;
  const struct onnx_value *condition = call->inputs[0];
  if (!onnx_known(call, 0) || onnx_elements(condition) != 1) {
    onnx_fail(call, "its condition \"%s\" is not known before a run", condition->name);
    onnx_hint_input(call, 0);
    return VINCI_E_INPUT;
  }
  const char *which = onnx_load_int(condition, 0) ? "then_branch" : "else_branch";
  const Onnx__AttributeProto *branch = onnx_attribute(call, which);
  if (!branch || !branch->g)
    return onnx_fail(call, "no %s", which);
  if (branch->g->n_output < call->output_count)
    return onnx_fail(call, "%s has %zu outputs, not %u", which, branch->g->n_output,
                     call->output_count);
  struct onnx_scope scope = {.around = call->scope, .depth = call->scope->depth + 1};
  enum vinci_status status = onnx_take_initializers(import, &scope, branch->g);
  if (status == VINCI_OK)
    status = onnx_pass(import, &scope, branch->g);
  for (uint32_t i = 0; i < call->output_count && status == VINCI_OK; i++) {
    const char *name = branch->g->output[i]->name;
    call->outputs[i] = onnx_look_up(&scope, name ? name : "");
    if (!call->outputs[i])
      status =
          onnx_fail(call, "output \"%.100s\" of %s is written by no node", name ? name : "", which);
  }
  call->done = true;
  return status;
}
