/* SPDX-License-Identifier: Apache-2.0 */
/* From layers to a graph: what no output needs is left out, names become safe for the text form. */
#include <string.h>

#include "core/base/utf8.h"
#include "networks/onnx/import.h"

enum { NAME_BYTES_MAX = 512 };

/* Replaces what graphs as text have a meaning for: in names also blanks, quotes and commas. */
static void make_safe(const char *name, bool is_name, char safe[static NAME_BYTES_MAX + 1]) {
  size_t used = 0;
  for (const char *at = name; *at && used + UTF8_BYTES_MAX <= NAME_BYTES_MAX;) {
    size_t length = utf8_length(at, UTF8_BYTES_MAX);
    bool bad =
        length == 0 || (unsigned char)*at < ' ' || *at == 0x7f || (is_name && strchr(" \",", *at));
    length = length ? length : 1;
    if (bad)
      safe[used++] = '_';
    else
      memcpy(safe + used, at, length);
    used += bad ? 0 : length;
    at += length;
  }
  safe[used] = '\0';
}

/* A name that no tensor has. Of many that are equal, the number of tensors tells them apart. */
static const char *new_name(struct onnx_import *import, const char *name) {
  char safe[NAME_BYTES_MAX + 1], more[NAME_BYTES_MAX + 16];
  make_safe(name, true, safe);
  if (!*safe || strcmp(safe, "-") == 0)
    snprintf(safe, sizeof safe, "unnamed");
  if (graph_find_tensor(import->graph, safe) == GRAPH_NONE)
    return graph_new_name(import->graph, safe);
  snprintf(more, sizeof more, "%s_%u", safe, import->graph->tensor_count);
  return graph_new_name(import->graph, more);
}

static enum vinci_status give_data(struct onnx_import *import, const struct onnx_value *value,
                                   struct graph_tensor *tensor) {
  size_t bytes = (size_t)graph_bytes(tensor);
  if (onnx_type_bits(value->type) == 4 && value->bytes)
    value = value->bytes;
  tensor->data = value->data;
  if (!value->data || value->borrowed)
    return VINCI_OK;
  void *copy = arena_alloc(&import->graph->arena, bytes + 1, 1);
  if (!copy)
    return onnx_no_memory(import);
  memcpy(copy, value->data, bytes);
  tensor->data = copy;
  return VINCI_OK;
}

/* The tensor of a value, made when it is first needed. */
static enum vinci_status tensor_of(struct onnx_import *import, struct onnx_value *value,
                                   const char *reader) {
  if (value->tensor != GRAPH_NONE)
    return VINCI_OK;
  enum dtype dtype = onnx_type_dtype(value->type);
  struct diag_position place = {.path = import->name};
  if (dtype == DTYPE_COUNT && value->type != ONNX_UNKNOWN) {
    diag_error_at(import->diag, VINCI_E_INPUT, place,
                  "tensor \"%.80s\" of node \"%.80s\" is of type %s (%d), which the chip does not "
                  "have",
                  value->name, reader, onnx_type_name(value->type), (int)value->type);
    diag_hint(import->diag, "convert the model to types such as float, float16, int32 or int8");
    return VINCI_E_INPUT;
  }
  if (value->shaped && onnx_elements(value) == 0)
    return diag_error_at(import->diag, VINCI_E_INPUT, place,
                         "tensor \"%.80s\" of node \"%.80s\" has no elements", value->name, reader);
  const char *name = new_name(import, value->name);
  uint32_t index = name ? graph_add_tensor(import->graph, name) : GRAPH_NONE;
  if (index == GRAPH_NONE)
    return onnx_no_memory(import);
  struct graph_tensor *tensor = &import->graph->tensors[index];
  if (value->type != ONNX_UNKNOWN)
    tensor->dtype = dtype;
  if (value->shaped)
    graph_set_shape(tensor, value->shape, value->rank);
  tensor->io = value->constant    ? GRAPH_WEIGHT
               : value->is_output ? GRAPH_OUT
               : value->is_input  ? GRAPH_IN
                                  : GRAPH_LOCAL;
  value->tensor = index;
  return value->constant ? give_data(import, value, tensor) : VINCI_OK;
}

/* Outputs that no node writes (inputs, constants, other outputs) are written by a Reshape. */
static enum vinci_status take_outputs(struct onnx_import *import, const struct onnx_scope *scope,
                                      const Onnx__GraphProto *graph, struct onnx_value **outputs) {
  for (size_t i = 0; i < graph->n_output; i++) {
    const char *name = graph->output[i]->name ? graph->output[i]->name : "";
    struct onnx_value *value = onnx_look_up(scope, name);
    struct onnx_value *written = value;
    if (!value)
      return diag_error_at(import->diag, VINCI_E_INPUT,
                           (struct diag_position){.path = import->name},
                           "output \"%.100s\" is written by no node", name);
    if (value->items)
      return diag_error_at(import->diag, VINCI_E_INPUT,
                           (struct diag_position){.path = import->name},
                           "output \"%.100s\" is a sequence of tensors", name);
    if (value->constant || value->is_input || value->is_output) {
      Onnx__NodeProto node = ONNX__NODE_PROTO__INIT;
      written = onnx_new_value(import, name);
      struct onnx_call call = {.import = import,
                               .node = &node,
                               .op = "Reshape",
                               .inputs = &value,
                               .outputs = &written,
                               .input_count = 1,
                               .output_count = 1,
                               .kept_inputs = 1};
      if (!written)
        return onnx_no_memory(import);
      enum vinci_status status = onnx_output_like(&call, 0, value);
      if (status == VINCI_OK)
        status = onnx_add_layer(&call);
      if (status != VINCI_OK)
        return status;
      import->last->origin = name;
    } else {
      value->name = name; /* the name of the output, not of what it is an alias of */
    }
    written->is_output = written->live = true;
    outputs[i] = written;
  }
  return VINCI_OK;
}

static void find_live(struct onnx_import *import) {
  for (struct onnx_layer *layer = import->last; layer; layer = layer->before) {
    for (uint32_t i = 0; i < layer->output_count; i++)
      layer->live = layer->live || layer->outputs[i]->live;
    for (uint32_t i = 0; i < layer->input_count && layer->live; i++)
      if (layer->inputs[i])
        layer->inputs[i]->live = true;
  }
}

static enum vinci_status emit_layer(struct onnx_import *import, const struct onnx_layer *layer) {
  enum vinci_status status = VINCI_OK;
  uint32_t *lists =
      ARENA_ARRAY(&import->arena, uint32_t, layer->input_count + layer->output_count + 1);
  uint32_t *outputs = lists + layer->input_count;
  if (!lists)
    return onnx_no_memory(import);
  for (uint32_t i = 0; i < layer->input_count && status == VINCI_OK; i++) {
    lists[i] = GRAPH_NONE;
    if (layer->inputs[i])
      status = tensor_of(import, layer->inputs[i], layer->origin);
    if (layer->inputs[i])
      lists[i] = layer->inputs[i]->tensor;
  }
  for (uint32_t i = 0; i < layer->output_count && status == VINCI_OK; i++) {
    status = tensor_of(import, layer->outputs[i], layer->origin);
    outputs[i] = layer->outputs[i]->tensor;
  }
  if (status != VINCI_OK)
    return status;
  char origin[NAME_BYTES_MAX + 1], op[NAME_BYTES_MAX + 1];
  make_safe(layer->origin, false, origin);
  make_safe(layer->op, true, op);
  struct graph_node node = {.name = import->graph->tensors[outputs[0]].name,
                            .kind = GRAPH_LAYER,
                            .op = op,
                            .args = layer->args,
                            .arg_count = layer->arg_count,
                            .inputs = lists,
                            .outputs = outputs,
                            .input_count = layer->input_count,
                            .output_count = layer->output_count,
                            .origin = origin};
  return graph_add_node(import->graph, &node) == GRAPH_NONE ? onnx_no_memory(import) : VINCI_OK;
}

/* Inputs and outputs first: they keep their names. */
enum vinci_status onnx_emit(struct onnx_import *import, const struct onnx_scope *scope,
                            const Onnx__GraphProto *graph) {
  char name[NAME_BYTES_MAX + 1];
  make_safe(graph->name ? graph->name : "", false, name);
  import->graph->name = arena_strdup(&import->graph->arena, name);
  struct onnx_value **outputs =
      ARENA_ARRAY(&import->arena, struct onnx_value *, graph->n_output + 1);
  if (!outputs || !import->graph->name)
    return onnx_no_memory(import);
  enum vinci_status status = take_outputs(import, scope, graph, outputs);
  find_live(import);
  for (size_t i = 0; i < graph->n_input && status == VINCI_OK; i++) {
    struct onnx_value *value = onnx_look_up(scope, graph->input[i]->name);
    if (value->is_input && !value->constant && value->live)
      status = tensor_of(import, value, graph->input[i]->name);
  }
  for (size_t i = 0; i < graph->n_output && status == VINCI_OK; i++)
    status = tensor_of(import, outputs[i], graph->output[i]->name);
  for (const struct onnx_layer *layer = import->first; layer && status == VINCI_OK;
       layer = layer->next)
    if (layer->live)
      status = emit_layer(import, layer);
  return status;
}
