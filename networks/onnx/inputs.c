/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of ONNX models: their sizes from the file and from the caller, and fixed values. */
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "networks/onnx/import.h"
#include "networks/onnx/unpack.h"
#include "networks/onnx/wire.h"

struct inputs {
  struct onnx_import *import;
  const Onnx__GraphProto *graph;
  const Onnx__ValueInfoProto *input; /* that is looked at */
};

/* The value of "NAME=VALUE" for a name, or NULL. Names may have '=' inside: the last counts. */
static const char *word_of(const struct onnx_words *words, const char *name) {
  for (size_t i = 0; i < words->count; i++) {
    const char *equals = strrchr(words->items[i], '=');
    if (equals && (size_t)(equals - words->items[i]) == strlen(name) &&
        strncmp(words->items[i], name, strlen(name)) == 0)
      return equals + 1;
  }
  return NULL;
}

static struct diag_position place(const struct inputs *inputs) {
  return (struct diag_position){.path = inputs->import->name};
}

static const Onnx__TensorShapeProto *shape_of(const Onnx__ValueInfoProto *input) {
  bool tensor = input->type && input->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  return tensor ? input->type->tensor_type->shape : NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *input_at(const void *context, size_t index) {
  const Onnx__GraphProto *graph = context;
  return graph->input[index]->name;
}

const char *onnx_fixed_word(const struct onnx_import *import, const char *name) {
  return word_of(&import->options->inputs, name);
}

/* Whether an If of the graph, or within, has the value as its condition. */
static bool chooses_branch(const Onnx__GraphProto *graph, const char *name) {
  for (size_t i = 0; i < graph->n_node; i++) {
    const Onnx__NodeProto *node = graph->node[i];
    if (node->op_type && strcmp(node->op_type, "If") == 0 && node->n_input > 0 &&
        strcmp(node->input[0], name) == 0)
      return true;
    for (size_t j = 0; j < node->n_attribute; j++)
      if (node->attribute[j]->g && chooses_branch(node->attribute[j]->g, name))
        return true;
  }
  return false;
}

/* "--shape" and "--fix" name an input; "--fix" may name what chooses the branch of an If. */
static enum vinci_status check_words(const struct inputs *inputs, const char *option,
                                     const struct onnx_words *words) {
  struct vinci_diag *diag = inputs->import->diag;
  for (size_t i = 0; i < words->count; i++) {
    const char *word = words->items[i], *equals = strrchr(word, '=');
    bool found = false;
    if (!equals || equals == word)
      return diag_error(diag, VINCI_E_USAGE, "--%s=%s is not NAME=VALUE", option, word);
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    for (size_t j = 0; j < inputs->graph->n_input; j++)
      found = found || strcmp(input_at(inputs->graph, j), name) == 0;
    if (found || (words == &inputs->import->options->inputs && chooses_branch(inputs->graph, name)))
      continue;
    diag_error_at(diag, VINCI_E_USAGE, place(inputs), "no input \"%s\" for --%s", name, option);
    const char *nearest = diag_nearest(name, inputs->graph->n_input, input_at, inputs->graph);
    if (nearest)
      diag_hint(diag, "did you mean %s?", nearest);
    else if (inputs->graph->n_input > 0)
      diag_hint(diag, "the first input is \"%.100s\"", input_at(inputs->graph, 0));
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

static bool parse_size(const char *text, const char **end, uint64_t *out) {
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9' && value <= ONNX_ELEMENTS_MAX; at++)
    value = value * 10 + (uint64_t)(*at - '0');
  *end = at;
  *out = value;
  return at > text && value > 0 && value <= ONNX_ELEMENTS_MAX;
}

static bool any_has_dim(Onnx__ValueInfoProto *const *list, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    const Onnx__TensorShapeProto *shape = shape_of(list[i]);
    for (size_t j = 0; shape && j < shape->n_dim; j++)
      if (shape->dim[j]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
          strcmp(shape->dim[j]->dim_param, name) == 0)
        return true;
  }
  return false;
}

/* Of results too: how many elements NonZero finds is the user's to say. */
static bool has_dim(const Onnx__GraphProto *graph, const char *name) {
  return any_has_dim(graph->input, graph->n_input, name) ||
         any_has_dim(graph->output, graph->n_output, name) ||
         any_has_dim(graph->value_info, graph->n_value_info, name);
}

static enum vinci_status check_dims(const struct inputs *inputs) {
  const struct onnx_words *words = &inputs->import->options->dims;
  struct vinci_diag *diag = inputs->import->diag;
  for (size_t i = 0; i < words->count; i++) {
    const char *word = words->items[i], *equals = strrchr(word, '='), *end = "";
    uint64_t value;
    char name[256];
    if (!equals || equals == word || !parse_size(equals + 1, &end, &value) || *end)
      return diag_error(diag, VINCI_E_USAGE, "--dim=%s is not NAME=SIZE, such as batch=4", word);
    snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    if (!has_dim(inputs->graph, name))
      return diag_error_at(diag, VINCI_E_USAGE, place(inputs),
                           "no tensor has a dimension named \"%s\" for --dim", name);
  }
  return VINCI_OK;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static enum vinci_status shape_given(const struct inputs *inputs, const char *text,
                                     struct onnx_value *out) {
  const char *name = out->name;
  for (const char *at = text; *at;) {
    if (out->rank == GRAPH_RANK_MAX || !parse_size(at, &at, &out->shape[out->rank]) ||
        (*at && *at != 'x') || (*at == 'x' && !at[1]))
      return diag_error(inputs->import->diag, VINCI_E_USAGE,
                        "--shape=%s=%s: extents of at least 1, such as 1x3x224x224, up to %d", name,
                        text, GRAPH_RANK_MAX);
    out->rank++;
    at += *at == 'x';
  }
  const Onnx__TensorShapeProto *declared = shape_of(inputs->input);
  if (declared && declared->n_dim != out->rank)
    return diag_error_at(inputs->import->diag, VINCI_E_USAGE, place(inputs),
                         "--shape=%s=%s has %u dimensions, the model's input %zu", name, text,
                         out->rank, declared->n_dim);
  for (unsigned d = 0; declared && d < out->rank; d++)
    if (declared->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
        (uint64_t)declared->dim[d]->dim_value != out->shape[d])
      inputs->import->declared_shapes = false;
  out->shaped = true;
  return VINCI_OK;
}

/* Adds " NAME" or " ?" to a text. */
static void note(char *text, size_t size, const char *format, const char *what) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, format, what);
}

/* The error of an input with open dimensions: it shows the shape and what to give. */
static enum vinci_status open_shape(const struct inputs *inputs,
                                    const Onnx__TensorShapeProto *shape) {
  char shown[160] = "", open[160] = "", example[120] = "", number[24];
  bool named = false, unnamed = false, zero = false;
  for (size_t i = 0; shape && i < shape->n_dim; i++) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    bool has_name = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    bool given = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    bool fixed = given && dim->dim_value > 0, none = given && dim->dim_value == 0;
    unnamed |= !fixed && !(has_name && *dim->dim_param);
    zero |= none;
    snprintf(number, sizeof number, "%lld", fixed ? (long long)dim->dim_value : 0LL);
    note(example, sizeof example, i ? "x%s" : "%s", fixed ? number : "N");
    note(shown, sizeof shown, i ? " x %.30s" : "%.30s",
         fixed || none                 ? number
         : has_name && *dim->dim_param ? dim->dim_param
                                       : "?");
    if (has_name && *dim->dim_param && !word_of(&inputs->import->options->dims, dim->dim_param)) {
      note(open, sizeof open, " --dim %.40s=N", dim->dim_param);
      named = true;
    }
  }
  diag_error_at(inputs->import->diag, VINCI_E_INPUT, place(inputs),
                zero ? "input \"%.80s\" has an extent of 0, a tensor without elements: %s"
                     : "input \"%.80s\" has no fixed shape: %s",
                inputs->input->name, shape ? shown : "not even the number of dimensions");
  if (named && !unnamed) /* else sizes of names alone would not do */
    diag_hint(inputs->import->diag, "give%s, or --shape %.60s=%s", open, inputs->input->name,
              example);
  else
    diag_hint(inputs->import->diag, "give --shape %.60s=%s", inputs->input->name,
              shape ? example : "NxN");
  return VINCI_E_INPUT;
}

/* The shape of the file, with the sizes of --dim; false: something is open. */
static bool close_shape(const struct onnx_import *import, const Onnx__TensorShapeProto *shape,
                        struct onnx_value *out) {
  if (!shape || shape->n_dim > GRAPH_RANK_MAX)
    return false;
  for (size_t i = 0; i < shape->n_dim; i++) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    const char *end, *size = NULL;
    out->shape[i] = 0;
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      out->shape[i] = dim->dim_value > 0 ? (uint64_t)dim->dim_value : 0;
    else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
      size = word_of(&import->options->dims, dim->dim_param);
    if (size)
      (void)parse_size(size, &end, &out->shape[i]);
    if (out->shape[i] == 0)
      return false;
  }
  out->rank = (unsigned)shape->n_dim;
  out->shaped = true;
  return true;
}

static enum vinci_status shape_declared(const struct inputs *inputs, struct onnx_value *out) {
  const Onnx__TensorShapeProto *shape = shape_of(inputs->input);
  if (shape && shape->n_dim > GRAPH_RANK_MAX)
    return diag_error_at(inputs->import->diag, VINCI_E_INPUT, place(inputs),
                         "input \"%.80s\" has %zu dimensions; this reader takes up to %d",
                         inputs->input->name, shape->n_dim, GRAPH_RANK_MAX);
  return close_shape(inputs->import, shape, out) ? VINCI_OK : open_shape(inputs, shape);
}

static enum vinci_status check_elements(const struct inputs *inputs,
                                        const struct onnx_value *value) {
  uint64_t elements = 1;
  for (unsigned i = 0; i < value->rank; i++) {
    if (value->shape[i] > 0 && elements > ONNX_ELEMENTS_MAX / value->shape[i])
      return diag_error_at(inputs->import->diag, VINCI_E_INPUT, place(inputs),
                           "input \"%.100s\" would have more than 2^42 elements", value->name);
    elements *= value->shape[i];
  }
  return VINCI_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static enum vinci_status fix_value(const struct inputs *inputs, const char *text,
                                   struct onnx_value *value) {
  struct onnx_import *import = inputs->import;
  uint64_t elements = onnx_elements(value);
  unsigned bits = onnx_type_bits(value->type);
  double number = 0;
  bool truth = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
  if (truth ? value->type != ONNX_BOOL : !decimal_parse(text, &number))
    return diag_error(import->diag, VINCI_E_USAGE,
                      "--fix=%s=%s: the value is a number; of bool inputs true or false",
                      value->name, text);
  if (!onnx_can_store(value->type) || bits % 8 != 0 || elements > ONNX_FOLD_MAX)
    return diag_error(import->diag, VINCI_E_USAGE,
                      "--fix=%s: an input of up to %d elements can be fixed, not of type %s "
                      "with %llu",
                      value->name, ONNX_FOLD_MAX, onnx_type_name(value->type),
                      (unsigned long long)elements);
  void *data = arena_alloc(&import->arena, (size_t)elements * bits / 8 + 1, 1);
  if (!data)
    return onnx_no_memory(import);
  for (uint64_t i = 0; i < elements; i++)
    onnx_store_real(data, value->type, i, truth ? strcmp(text, "true") == 0 : number);
  value->data = data;
  value->constant = true;
  return VINCI_OK;
}

/* An input that the caller knows as a whole tensor. Files for tests declare bits, such as those of
 * bf16 as uint16: the type is that of the model. */
static enum vinci_status take_known(const struct inputs *inputs, const struct onnx_known *known,
                                    struct onnx_value *value) {
  struct wire_slim slim;
  struct onnx_import *import = inputs->import;
  enum vinci_status status =
      wire_slim_tensor(known->input, known->bytes, known->length, &slim, import->diag);
  if (status != VINCI_OK)
    return status;
  struct unpack_memory memory;
  unpack_memory_start(&memory);
  Onnx__TensorProto *tensor =
      onnx__tensor_proto__unpack(&memory.allocator, slim.length, slim.bytes);
  const uint8_t *file = import->file;
  import->file = known->bytes;
  status = tensor ? onnx_take_tensor(import, tensor, value)
           : memory.missing
               ? diag_error(import->diag, VINCI_E_NOMEM, "out of memory")
               : diag_error(import->diag, VINCI_E_INPUT, "%s: not a tensor", known->input);
  import->file = file;
  enum onnx_type type = (enum onnx_type)inputs->input->type->tensor_type->elem_type;
  if (onnx_type_bits(type) == onnx_type_bits(value->type))
    value->type = type;
  if (tensor)
    onnx__tensor_proto__free_unpacked(tensor, &memory.allocator);
  free(slim.bytes);
  return status;
}

static const struct onnx_known *known_of(const struct onnx_options *options, const char *name) {
  for (size_t i = 0; i < options->known_count; i++)
    if (strcmp(options->known[i].input, name) == 0)
      return &options->known[i];
  return NULL;
}

/* ---- all ------------------------------------------------------------------------------------- */

static enum vinci_status take_input(const struct inputs *inputs, struct onnx_scope *scope) {
  struct onnx_import *import = inputs->import;
  const Onnx__ValueInfoProto *input = inputs->input;
  struct onnx_value *value = onnx_new_value(import, input->name);
  const char *shape = word_of(&import->options->shapes, input->name);
  const char *fixed = word_of(&import->options->inputs, input->name);
  const struct onnx_known *known = known_of(import->options, input->name);
  if (!value)
    return onnx_no_memory(import);
  enum vinci_status status = onnx_bind(import, scope, input->name, value);
  if (status != VINCI_OK)
    return status;
  value->is_input = true;
  if (!input->type || input->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return diag_error_at(import->diag, VINCI_E_INPUT, place(inputs),
                         "input \"%.100s\" is not a tensor (a sequence, a map, or nothing)",
                         input->name);
  if (known)
    return take_known(inputs, known, value);
  value->type = (enum onnx_type)input->type->tensor_type->elem_type;
  status = shape ? shape_given(inputs, shape, value) : shape_declared(inputs, value);
  if (status == VINCI_OK)
    status = check_elements(inputs, value);
  if (status == VINCI_OK && fixed)
    status = fix_value(inputs, fixed, value);
  return status;
}

enum vinci_status onnx_take_inputs(struct onnx_import *import, struct onnx_scope *scope,
                                   const Onnx__GraphProto *graph) {
  struct inputs inputs = {.import = import, .graph = graph};
  import->declared_shapes = true;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < graph->n_input && status == VINCI_OK; i++)
    if (!graph->input[i]->name || !*graph->input[i]->name)
      status =
          diag_error_at(import->diag, VINCI_E_INPUT, place(&inputs), "input %zu has no name", i);
  if (status == VINCI_OK)
    status = check_words(&inputs, "shape", &import->options->shapes);
  if (status == VINCI_OK)
    status = check_words(&inputs, "fix", &import->options->inputs);
  if (status == VINCI_OK)
    status = check_dims(&inputs);
  for (size_t i = 0; i < graph->n_input && status == VINCI_OK; i++) {
    inputs.input = graph->input[i];
    /* Old files list initializers as inputs, too. */
    if (!onnx_look_up(scope, inputs.input->name))
      status = take_input(&inputs, scope);
  }
  return status;
}

/* A name that stands twice keeps its first entry: the notes are hints. */
static enum vinci_status declare(struct onnx_import *import, struct onnx_scope *declared,
                                 Onnx__ValueInfoProto *const *list, size_t count) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < count && status == VINCI_OK; i++) {
    const char *name = list[i]->name ? list[i]->name : "";
    if (!list[i]->type || list[i]->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
        onnx_look_up(declared, name))
      continue;
    struct onnx_value *value = onnx_new_value(import, name);
    if (!value)
      return onnx_no_memory(import);
    value->type = (enum onnx_type)list[i]->type->tensor_type->elem_type;
    value->shaped = import->declared_shapes && close_shape(import, shape_of(list[i]), value);
    status = onnx_bind(import, declared, name, value);
  }
  return status;
}

enum vinci_status onnx_take_declared(struct onnx_import *import, struct onnx_scope *scope,
                                     const Onnx__GraphProto *graph) {
  scope->declared = ARENA_NEW(&import->arena, struct onnx_scope);
  if (!scope->declared)
    return onnx_no_memory(import);
  enum vinci_status status =
      declare(import, scope->declared, graph->value_info, graph->n_value_info);
  return status == VINCI_OK ? declare(import, scope->declared, graph->output, graph->n_output)
                            : status;
}
