/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ONNX model: from its bytes to layers, node after node. */
#include "networks/onnx/import.h"

#include <stdlib.h>
#include <string.h>

#include "networks/onnx/unpack.h"
#include "networks/onnx/wire.h"

enum { BRANCH_DEPTH_MAX = 16 };

/* ---- errors ---------------------------------------------------------------------------------- */

static const char *text_or_empty(const char *text) { return text ? text : ""; }

const char *onnx_node_name(const Onnx__NodeProto *node) {
  if (node->name && *node->name)
    return node->name;
  for (size_t i = 0; i < node->n_output; i++)
    if (*text_or_empty(node->output[i]))
      return node->output[i];
  return "";
}

enum vinci_status onnx_fail(const struct onnx_call *call, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return diag_error_at(call->import->diag, VINCI_E_INPUT,
                       (struct diag_position){.path = call->import->name},
                       "node \"%.100s\" (%.40s): %s", onnx_node_name(call->node),
                       text_or_empty(call->node->op_type), text);
}

enum vinci_status onnx_no_memory(struct onnx_import *import) {
  return diag_error(import->diag, VINCI_E_NOMEM, "out of memory reading the model");
}

static enum vinci_status fail(struct onnx_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum vinci_status fail(struct onnx_import *import, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return diag_error_at(import->diag, VINCI_E_INPUT, (struct diag_position){.path = import->name},
                       "%s", text);
}

const char *onnx_input_of(const struct onnx_call *call, uint32_t input) {
  const struct onnx_value *value = call->inputs[input];
  for (uint32_t steps = 0; value && !value->is_input && steps < GRAPH_LIST_MAX; steps++) {
    const struct onnx_value *next = NULL;
    for (uint32_t i = 0; value->writer && i < value->writer->input_count && !next; i++)
      if (value->writer->inputs[i] && !value->writer->inputs[i]->constant)
        next = value->writer->inputs[i];
    value = next;
  }
  return value ? value->name : NULL;
}

void onnx_hint_input(const struct onnx_call *call, uint32_t input) {
  const char *name = onnx_input_of(call, input);
  if (name)
    diag_hint(call->import->diag,
              "it follows from input \"%.80s\", whose value can be fixed: --fix %.80s=VALUE", name,
              name);
}

/* ---- outputs --------------------------------------------------------------------------------- */

struct onnx_value *onnx_new_value(struct onnx_import *import, const char *name) {
  struct onnx_value *value = ARENA_NEW(&import->arena, struct onnx_value);
  if (!value)
    return NULL;
  value->name = name;
  value->tensor = GRAPH_NONE;
  return value;
}

enum vinci_status onnx_output(struct onnx_call *call, uint32_t output, enum onnx_type type,
                              const uint64_t *shape, unsigned rank) {
  uint64_t elements = 1;
  if (output >= call->output_count)
    return VINCI_OK;
  if (rank > GRAPH_RANK_MAX)
    return onnx_fail(call, "its result has %u dimensions; this reader takes up to %d", rank,
                     GRAPH_RANK_MAX);
  struct onnx_value *value = call->outputs[output];
  for (unsigned i = 0; i < rank; i++) {
    if (shape[i] > 0 && elements > ONNX_ELEMENTS_MAX / shape[i])
      return onnx_fail(call, "its result would have more than 2^42 elements");
    elements *= shape[i];
    value->shape[i] = shape[i];
  }
  value->type = type;
  value->rank = rank;
  value->shaped = true;
  return VINCI_OK;
}

enum vinci_status onnx_output_like(struct onnx_call *call, uint32_t output,
                                   const struct onnx_value *like) {
  if (like->shaped)
    return onnx_output(call, output, like->type, like->shape, like->rank);
  if (output < call->output_count)
    call->outputs[output]->type = like->type;
  return VINCI_OK;
}

void onnx_output_is(struct onnx_call *call, struct onnx_value *value) {
  call->outputs[0] = value;
  call->done = true;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static struct onnx_value **copy_values(struct onnx_import *import, struct onnx_value **list,
                                       uint32_t count) {
  struct onnx_value **copy = ARENA_ARRAY(&import->arena, struct onnx_value *, count + 1);
  if (copy && count > 0)
    memcpy(copy, list, count * sizeof *list);
  return copy;
}

enum vinci_status onnx_add_layer(struct onnx_call *call) {
  struct onnx_import *import = call->import;
  struct onnx_layer *layer = ARENA_NEW(&import->arena, struct onnx_layer);
  uint32_t inputs = call->kept_inputs < call->input_count ? call->kept_inputs : call->input_count;
  while (inputs > 0 && !call->inputs[inputs - 1])
    inputs--;
  if (!layer)
    return onnx_no_memory(import);
  if (onnx_int(call, "keep_fp32", 0) != 0)
    onnx_arg_text(call, "keep", "fp32");
  *layer =
      (struct onnx_layer){.op = call->op,
                          .origin = onnx_node_name(call->node),
                          .args = ARENA_ARRAY(&import->arena, const char *, call->arg_count + 1),
                          .inputs = copy_values(import, call->inputs, inputs),
                          .outputs = copy_values(import, call->outputs, call->output_count),
                          .arg_count = call->arg_count,
                          .input_count = inputs,
                          .output_count = call->output_count,
                          .before = import->last};
  if (!layer->args || !layer->inputs || !layer->outputs)
    return onnx_no_memory(import);
  memcpy(layer->args, call->args, call->arg_count * sizeof *call->args);
  for (uint32_t i = 0; i < layer->output_count; i++)
    layer->outputs[i]->writer = layer;
  *(import->last ? &import->last->next : &import->first) = layer;
  import->last = layer;
  if (++import->layer_count > GRAPH_NODES_MAX)
    return fail(import, "more than %d layers", GRAPH_NODES_MAX);
  return VINCI_OK;
}

/* ---- one node -------------------------------------------------------------------------------- */

static enum vinci_status take_operands(struct onnx_call *call) {
  const Onnx__NodeProto *node = call->node;
  struct onnx_import *import = call->import;
  if (node->n_input > GRAPH_LIST_MAX || node->n_output > GRAPH_LIST_MAX)
    return onnx_fail(call, "more than %d inputs or outputs", GRAPH_LIST_MAX);
  call->inputs = ARENA_ARRAY(&import->arena, struct onnx_value *, node->n_input + 1);
  call->outputs = ARENA_ARRAY(&import->arena, struct onnx_value *, node->n_output + 1);
  if (!call->inputs || !call->outputs)
    return onnx_no_memory(import);
  for (size_t i = 0; i < node->n_input; i++) {
    if (!*text_or_empty(node->input[i]))
      continue;
    call->inputs[i] = onnx_look_up(call->scope, node->input[i]);
    if (!call->inputs[i])
      return onnx_fail(call, "input \"%.100s\" is written by no node before", node->input[i]);
  }
  size_t outputs = node->n_output;
  while (outputs > 0 && !*text_or_empty(node->output[outputs - 1]))
    outputs--;
  for (size_t i = 0; i < outputs; i++) {
    const char *name = text_or_empty(node->output[i]);
    call->outputs[i] = onnx_new_value(import, *name ? name : onnx_node_name(node));
    if (!call->outputs[i])
      return onnx_no_memory(import);
  }
  call->input_count = call->kept_inputs = (uint32_t)node->n_input;
  call->output_count = (uint32_t)outputs;
  return VINCI_OK;
}

static bool all_constant(const struct onnx_call *call) {
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i] && !call->inputs[i]->constant)
      return false;
  return true;
}

static bool all_known(const struct onnx_call *call) {
  uint64_t elements = 0;
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i] && !onnx_known(call, i))
      return false;
    elements += call->inputs[i] ? onnx_elements(call->inputs[i]) : 0;
  }
  for (uint32_t i = 0; i < call->output_count; i++) {
    if (!call->outputs[i]->shaped || !onnx_can_store(call->outputs[i]->type))
      return false;
    elements += onnx_elements(call->outputs[i]);
  }
  return elements <= ONNX_FOLD_MAX;
}

/* Whether values of the inputs are at hand from which a kernel computes, before the run, what this
 * reader does not. */
static bool is_for_kernels(const struct onnx_call *call) {
  bool known = !call->row->fold && call->input_count > 0;
  for (uint32_t i = 0; i < call->input_count && known; i++)
    known = !call->inputs[i] || onnx_known(call, i);
  return known;
}

/* Values of constants of 4 bits are there, and no kernel reads them: without values, the result
 * would be asked of the user. */
static enum vinci_status refuse_bits(const struct onnx_call *call) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    const struct onnx_value *x = call->inputs[i];
    if (x && x->bytes && x->bytes->data && onnx_type_bits(x->type) == 4)
      return onnx_fail(call,
                       "its input \"%.80s\" is %s with %llu elements; of constants of 4 bits it is "
                       "computed up to %d elements, where that is possible; Cast, Reshape and "
                       "DequantizeLinear take more",
                       x->name, onnx_type_name(x->type), (unsigned long long)onnx_elements(x),
                       ONNX_FOLD_MAX);
  }
  return VINCI_OK;
}

/* All inputs are constant: the outputs are, too, with values where they can be computed. */
static enum vinci_status fold(struct onnx_call *call) {
  bool computed = call->row->fold && all_known(call);
  for (uint32_t i = 0; i < call->output_count && computed; i++) {
    size_t bytes =
        (size_t)onnx_elements(call->outputs[i]) * onnx_element_bytes(call->outputs[i]->type);
    call->outputs[i]->data = arena_alloc(&call->import->arena, bytes + 1, 1);
    if (!call->outputs[i]->data)
      return onnx_no_memory(call->import);
  }
  computed = computed && call->row->fold(call);
  for (uint32_t i = 0; i < call->output_count; i++) {
    struct onnx_value *out = call->outputs[i];
    out->constant = true;
    if (!computed)
      out->data = NULL;
    else if (!onnx_pack(call->import, out))
      return onnx_no_memory(call->import);
  }
  return computed ? VINCI_OK : refuse_bits(call);
}

static bool has_shapes(const struct onnx_call *call) {
  for (uint32_t i = 0; i < call->row->inputs_min; i++)
    if (!call->inputs[i]->items &&
        (!call->inputs[i]->shaped || call->inputs[i]->type == ONNX_UNKNOWN))
      return false;
  return true;
}

/* The type of outputs when shapes are not known: mostly that of the first input. */
static void take_type(struct onnx_call *call) {
  enum onnx_type type =
      call->input_count > 0 && call->inputs[0] ? call->inputs[0]->type : ONNX_UNKNOWN;
  if (call->row->rule == onnx_op_find("Equal")->rule ||
      call->row->rule == onnx_op_find("IsNaN")->rule)
    type = ONNX_BOOL;
  else if (strcmp(call->op, "Cast") == 0)
    type = (enum onnx_type)onnx_int(call, "to", (int64_t)type);
  else if (strcmp(call->op, "Where") == 0 && call->inputs[1])
    type = call->inputs[1]->type;
  else if (strncmp(call->op, "Arg", 3) == 0)
    type = ONNX_INT64;
  call->outputs[0]->type = type;
}

/* What the rule has not found is as the file notes. */
static enum vinci_status look_at_notes(struct onnx_call *call) {
  enum vinci_status status = VINCI_OK;
  for (uint32_t i = 0; i < call->output_count && status == VINCI_OK; i++) {
    struct onnx_value *value = call->outputs[i];
    const struct onnx_value *note =
        value->shaped ? NULL : onnx_look_up(call->scope->declared, value->name);
    if (!note)
      continue;
    if (value->type == ONNX_UNKNOWN)
      value->type = note->type;
    if (note->shaped)
      status = onnx_output(call, i, value->type, note->shape, note->rank);
  }
  return status;
}

static bool outputs_shaped(const struct onnx_call *call) {
  for (uint32_t i = 0; i < call->output_count; i++)
    if (!call->outputs[i]->shaped)
      return false;
  return true;
}

static bool is_standard(const char *domain) {
  return !*text_or_empty(domain) || strcmp(domain, "ai.onnx") == 0;
}

static enum vinci_status run_rule(struct onnx_call *call) {
  const struct onnx_op *row = call->row;
  for (uint32_t i = 0; i < row->inputs_min; i++)
    if (!onnx_given(call, i))
      return onnx_fail(call, "input %u is missing; the operator needs %u", i, row->inputs_min);
  if (!has_shapes(call)) {
    onnx_arg_all(call);
    take_type(call);
    return VINCI_OK;
  }
  enum vinci_status status = onnx_check_words(call);
  if (status == VINCI_OK)
    status = row->rule(call);
  bool computed = row->fold && all_constant(call), made;
  if (status == VINCI_OK && !call->done && !computed)
    status = onnx_call_standard(call, &made);
  return status;
}

/* The layer says where its operator comes from, for the reason of its refusal. */
static void take_unknown(struct onnx_call *call) {
  if (!is_standard(call->node->domain))
    onnx_arg_text(call, "domain", call->node->domain);
  else if (call->opset > ONNX_LAST_OPSET)
    onnx_arg_int(call, "opset", call->opset);
  onnx_arg_all(call);
}

/* A sequence is read by operators of sequences, and goes through loops, branches and Identity. */
static enum vinci_status check_sequences(const struct onnx_call *call) {
  static const char *const takers[] = {"Loop", "If", "Identity", "ConcatFromSequence"};
  bool takes = strncmp(call->op, "Sequence", strlen("Sequence")) == 0;
  for (size_t i = 0; i < sizeof takers / sizeof *takers && !takes; i++)
    takes = strcmp(call->op, takers[i]) == 0;
  for (uint32_t i = 0; i < call->input_count && !takes; i++)
    if (call->inputs[i] && call->inputs[i]->items)
      return onnx_fail(call, "input %u (\"%.100s\") is a sequence of tensors", i,
                       call->inputs[i]->name);
  return VINCI_OK;
}

static enum vinci_status look_at(struct onnx_call *call) {
  bool known = true;
  enum vinci_status status = take_operands(call);
  if (status != VINCI_OK || call->output_count == 0)
    return status;
  const Onnx__FunctionProto *function = onnx_function(call);
  if (!function && (status = check_sequences(call)) != VINCI_OK)
    return status;
  if (!function && is_standard(call->node->domain))
    call->row = onnx_op_find(call->op);
  if (function)
    status = onnx_call_function(call, function);
  else if (call->row)
    status = run_rule(call);
  else
    status = onnx_call_contrib(call, &known);
  if (!known)
    take_unknown(call);
  if (status != VINCI_OK || call->done)
    return status;
  status = look_at_notes(call);
  if (status != VINCI_OK)
    return status;
  if (call->row && !call->row->stays && all_constant(call) && outputs_shaped(call) &&
      !is_for_kernels(call))
    return fold(call);
  return onnx_add_layer(call);
}

static enum vinci_status bind_outputs(struct onnx_call *call) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < call->output_count && status == VINCI_OK; i++)
    if (*text_or_empty(call->node->output[i]))
      status = onnx_bind(call->import, call->scope, call->node->output[i], call->outputs[i]);
  return status;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

enum vinci_status onnx_take_initializers(struct onnx_import *import, struct onnx_scope *scope,
                                         const Onnx__GraphProto *graph) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < graph->n_initializer && status == VINCI_OK; i++) {
    const char *name = text_or_empty(graph->initializer[i]->name);
    struct onnx_value *value = onnx_new_value(import, name);
    if (!value)
      return onnx_no_memory(import);
    status = onnx_take_tensor(import, graph->initializer[i], value);
    if (status == VINCI_OK)
      status = onnx_bind(import, scope, name, value);
  }
  if (status == VINCI_OK && graph->n_sparse_initializer > 0)
    status = fail(import, "sparse initializers, which this reader does not take");
  return status;
}

enum vinci_status onnx_pass(struct onnx_import *import, struct onnx_scope *scope,
                            const Onnx__GraphProto *graph) {
  enum vinci_status status = VINCI_OK;
  if (scope->depth > BRANCH_DEPTH_MAX)
    return fail(import, "branches and functions are nested more than %d deep", BRANCH_DEPTH_MAX);
  const Onnx__NodeProto **nodes = onnx_ordered(import, graph);
  if (!nodes)
    return onnx_no_memory(import);
  status = onnx_take_declared(import, scope, graph);
  for (size_t i = 0; nodes[i] && status == VINCI_OK; i++) {
    const Onnx__NodeProto *node = nodes[i];
    struct onnx_call call = {.import = import,
                             .node = node,
                             .op = text_or_empty(node->op_type),
                             .opset = import->opset,
                             .scope = scope};
    if (++import->node_count > GRAPH_NODES_MAX)
      return fail(import, "more than %d nodes", GRAPH_NODES_MAX);
    if (!*call.op)
      return onnx_fail(&call, "it has no operator");
    status = look_at(&call);
    if (status == VINCI_OK)
      status = bind_outputs(&call);
  }
  return status;
}

static enum vinci_status take_opset(struct onnx_import *import, const Onnx__ModelProto *model) {
  for (size_t i = 0; i < model->n_opset_import; i++)
    if (is_standard(model->opset_import[i]->domain))
      import->opset = model->opset_import[i]->version;
  if (import->opset < 1)
    import->opset = 1;
  if (import->opset > ONNX_LAST_OPSET + 100)
    return fail(import, "operator set %lld; this reader knows 7 to %d", (long long)import->opset,
                ONNX_LAST_OPSET);
  if (import->opset <= ONNX_LAST_OPSET)
    return VINCI_OK;
  char note[160];
  snprintf(note, sizeof note,
           "operator set %lld; this reader knows 7 to %d, and takes operators for what they are in "
           "set %d",
           (long long)import->opset, ONNX_LAST_OPSET, ONNX_LAST_OPSET);
  import->graph->note = arena_strdup(&import->graph->arena, note);
  return import->graph->note ? VINCI_OK : onnx_no_memory(import);
}

static enum vinci_status read_model(struct onnx_import *import, const Onnx__ModelProto *model) {
  struct onnx_scope scope = {0};
  if (!model->graph)
    return fail(import, "the model has no graph");
  enum vinci_status status = take_opset(import, model);
  import->model = model;
  if (status == VINCI_OK)
    status = onnx_take_initializers(import, &scope, model->graph);
  if (status == VINCI_OK)
    status = onnx_take_inputs(import, &scope, model->graph);
  if (status == VINCI_OK)
    status = onnx_pass(import, &scope, model->graph);
  if (status == VINCI_OK)
    status = onnx_emit(import, &scope, model->graph);
  return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool onnx_available(void) { return true; }

bool onnx_is(const void *bytes, size_t length) { return wire_is_model(bytes, length); }

enum vinci_status onnx_read(const char *name, const void *bytes, size_t length,
                            const struct onnx_options *options, struct graph *out,
                            struct vinci_diag *diag) {
  static const struct onnx_options none;
  struct onnx_import import = {.name = name,
                               .file = bytes,
                               .file_bytes = length,
                               .options = options ? options : &none,
                               .diag = diag,
                               .graph = out};
  struct wire_slim slim;
  *out = (struct graph){0};
  enum vinci_status status = wire_slim_model(name, bytes, length, &slim, diag);
  if (status != VINCI_OK)
    return status;
  struct unpack_memory memory;
  unpack_memory_start(&memory);
  Onnx__ModelProto *model = onnx__model_proto__unpack(&memory.allocator, slim.length, slim.bytes);
  free(slim.bytes);
  if (model)
    status = read_model(&import, model);
  else if (memory.missing)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  else
    status = fail(&import, "the file is damaged, or is not an ONNX model");
  if (model)
    onnx__model_proto__free_unpacked(model, &memory.allocator);
  arena_free(&import.arena);
  if (status == VINCI_OK)
    status = graph_check(out, diag);
  if (status != VINCI_OK)
    graph_free(out);
  return status;
}
