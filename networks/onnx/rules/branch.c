/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If: the branch that the condition chooses takes its place. Of a condition that is computed in the
 * run the caller says the value.
 */
#include <string.h>

#include "core/base/diag.h"
#include "networks/onnx/rules/rules.h"

/* The condition's name is that of the node: a value that a cast does not change keeps another. */
static enum vinci_status find_condition(const struct onnx_call *call, bool *out) {
  const struct onnx_value *condition = call->inputs[0];
  const char *name = call->node->input[0], *given = onnx_fixed_word(call->import, name);
  if (onnx_known(call, 0) && onnx_elements(condition) == 1) {
    *out = onnx_load_int(condition, 0) != 0;
    return VINCI_OK;
  }
  if (!given) {
    onnx_fail(call, "its condition \"%s\" is not known before a run", name);
    const char *input = onnx_input_of(call, 0);
    if (input)
      diag_hint(call->import->diag,
                "--fix %.80s=VALUE, if that input decides it; --fix %.80s=true takes the "
                "then_branch, =false the else_branch",
                input, name);
    else
      diag_hint(call->import->diag,
                "--fix %.80s=true takes the then_branch, =false the else_branch", name);
    return VINCI_E_INPUT;
  }
  *out = strcmp(given, "true") == 0 || strcmp(given, "1") == 0;
  if (!*out && strcmp(given, "false") != 0 && strcmp(given, "0") != 0)
    return diag_error(call->import->diag, VINCI_E_USAGE,
                      "--fix=%.100s=%.60s: a condition is true or false", name, given);
  return VINCI_OK;
}

enum vinci_status onnx_rule_if(struct onnx_call *call) {
  struct onnx_import *import = call->import;
  bool condition;
  enum vinci_status status = find_condition(call, &condition);
  if (status != VINCI_OK)
    return status;
  const char *which = condition ? "then_branch" : "else_branch";
  const Onnx__AttributeProto *branch = onnx_attribute(call, which);
  if (!branch || !branch->g)
    return onnx_fail(call, "no %s", which);
  if (branch->g->n_output < call->output_count)
    return onnx_fail(call, "%s has %zu outputs, not %u", which, branch->g->n_output,
                     call->output_count);
  struct onnx_scope scope = {.around = call->scope, .depth = call->scope->depth + 1};
  status = onnx_take_initializers(import, &scope, branch->g);
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
