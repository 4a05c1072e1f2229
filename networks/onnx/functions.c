/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a model: the nodes of a function take the place of a call. */
#include <string.h>

#include "networks/onnx/import.h"

static const char *text_or_empty(const char *text) { return text ? text : ""; }

const Onnx__FunctionProto *onnx_function(const struct onnx_call *call) {
  const Onnx__ModelProto *model = call->import->model;
  for (size_t i = 0; i < model->n_functions; i++)
    if (strcmp(text_or_empty(model->functions[i]->name), call->op) == 0 &&
        strcmp(text_or_empty(model->functions[i]->domain), text_or_empty(call->node->domain)) == 0)
      return model->functions[i];
  return NULL;
}

/* Names of inputs that the caller leaves out stand for nothing inside. */
static enum vinci_status bind_inputs(const struct onnx_call *call,
                                     const Onnx__FunctionProto *function,
                                     struct onnx_scope *scope) {
  enum vinci_status status = VINCI_OK;
  if (call->input_count > function->n_input || call->output_count > function->n_output)
    return onnx_fail(call, "the function has %zu inputs and %zu outputs, the node %u and %u",
                     function->n_input, function->n_output, call->input_count, call->output_count);
  for (uint32_t i = 0; i < call->input_count && status == VINCI_OK; i++)
    if (call->inputs[i])
      status = onnx_bind(call->import, scope, text_or_empty(function->input[i]), call->inputs[i]);
  return status;
}

/* The name that the caller gives an output; "": none. */
static const char *given_name(const struct onnx_call *call, uint32_t output) {
  return output < call->node->n_output ? text_or_empty(call->node->output[output]) : "";
}

/* The value has the name that the caller gives, unless the function hands an input on. */
static void take_name(const struct onnx_call *call, uint32_t output) {
  const char *name = given_name(call, output);
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i] == call->outputs[output])
      return;
  if (call->outputs[output] && *name)
    call->outputs[output]->name = name;
}

enum vinci_status onnx_call_function(struct onnx_call *call, const Onnx__FunctionProto *function) {
  struct onnx_import *import = call->import;
  int64_t opset = import->opset;
  struct onnx_scope scope = {.caller = call, .depth = call->scope->depth + 1};
  Onnx__GraphProto body = ONNX__GRAPH_PROTO__INIT;
  body.node = function->node;
  body.n_node = function->n_node;
  for (size_t i = 0; i < function->n_opset_import; i++)
    if (!*text_or_empty(function->opset_import[i]->domain) &&
        function->opset_import[i]->version > 0)
      import->opset = function->opset_import[i]->version;
  enum vinci_status status = bind_inputs(call, function, &scope);
  if (status == VINCI_OK)
    status = onnx_pass(import, &scope, &body);
  import->opset = opset;
  for (uint32_t i = 0; i < call->output_count && status == VINCI_OK; i++) {
    const char *name = text_or_empty(function->output[i]);
    call->outputs[i] = onnx_look_up(&scope, name);
    if (!call->outputs[i] && *given_name(call, i))
      status = onnx_fail(call, "output \"%.100s\" of the function is written by no node", name);
    take_name(call, i);
  }
  call->done = true;
  return status;
}

const Onnx__AttributeProto *onnx_refer(const struct onnx_call *call,
                                       const Onnx__AttributeProto *attribute) {
  const struct onnx_scope *scope = call->scope;
  if (!*text_or_empty(attribute->ref_attr_name))
    return attribute;
  while (scope && !scope->caller)
    scope = scope->around;
  return scope ? onnx_attribute(scope->caller, attribute->ref_attr_name) : NULL;
}
