/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of standard operators: those of the domain com.microsoft (contrib.def), and standard
 * operators that no layer stands for (standard.def). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"

enum { WORDS_MAX = 16, NODES_MAX = 1024, NAME_MAX_BYTES = 32, STANDARD_OPSET = 21 };

struct contrib {
  const char *name, *inputs, *outputs, *body;
  uint32_t inputs_min;
  enum vinci_status (*make)(struct onnx_call *call, bool *known); /* NULL: the body is that above */
};

static const struct contrib contribs[] = {
#define CONTRIB(name, inputs, outputs, body) {#name, inputs, outputs, body, 1, NULL},
#define CONTRIB_MADE(name, inputs_min, function)                                                   \
  {#name, NULL, NULL, NULL, inputs_min, onnx_made_##function},
#include "networks/onnx/functions/contrib.def"
#undef CONTRIB
#undef CONTRIB_MADE
};

static const struct contrib standards[] = {
#define STANDARD(name, inputs, outputs, body) {#name, inputs, outputs, body, 1, NULL},
#define STANDARD_MADE(name, function) {#name, NULL, NULL, NULL, 1, onnx_made_##function},
#include "networks/onnx/functions/standard.def"
#undef STANDARD
#undef STANDARD_MADE
};

/* A function that grows for one call. */
struct making {
  const struct onnx_call *call;
  const struct onnx_list *lists;
  struct arena *arena;
  char *inputs[WORDS_MAX], *outputs[WORDS_MAX];
  size_t input_count, output_count;
  Onnx__NodeProto *nodes[NODES_MAX];
  size_t node_count;
  bool no_memory;
};

static void *made(struct making *making, void *memory) {
  making->no_memory |= !memory;
  return memory;
}

static char *copied(struct making *making, const char *text) {
  return made(making, arena_strdup(making->arena, text));
}

/* The words of a text, in the arena. */
static size_t words(struct making *making, const char *text, char *out[WORDS_MAX]) {
  char *copy = copied(making, text), *rest = copy, *word;
  size_t count = 0;
  while (copy && (word = strtok_r(rest, " ", &rest))) {
    if (count == WORDS_MAX)
      vinci_bug("\"%s\" has more than %d words", text, WORDS_MAX);
    out[count++] = word;
  }
  return count;
}

/* The number of the input of that name; input_count: none has that name. */
static size_t input_of(const struct making *making, const char *name) {
  size_t i = 0;
  while (i < making->input_count && strcmp(making->inputs[i], name) != 0)
    i++;
  return i;
}

/* Whether the call has an input of that name, or an attribute that is not 0 (or, of reals, not 1).
 */
static bool is_given(const struct making *making, const char *name) {
  size_t input = input_of(making, name);
  if (input < making->input_count)
    return onnx_given(making->call, (uint32_t)input);
  const Onnx__AttributeProto *attribute = onnx_attribute(making->call, name);
  return attribute && (attribute->has_f ? attribute->f != 1.0F : attribute->i != 0);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* "4,8" or "4,": whole numbers; "": none. */
static void set_list(struct making *making, Onnx__AttributeProto *out, const char *text) {
  char *end = NULL;
  out->ints = made(making, ARENA_ARRAY(making->arena, int64_t, strlen(text) + 1));
  while (out->ints && *text) {
    out->ints[out->n_ints++] = strtoll(text, &end, 10);
    text = end + (*end == ',');
  }
}

static void set_number(struct making *making, Onnx__AttributeProto *out, const char *text) {
  char *end;
  if (*text == '$') {
    const struct onnx_list *list = &making->lists[text[1] - '0'];
    out->ints = list->ints;
    out->floats = list->reals;
    out->n_ints = list->ints ? list->count : 0;
    out->n_floats = list->reals ? list->count : 0;
  } else if (!*text || strchr(text, ',')) {
    set_list(making, out, text);
  } else if (strchr(text, '.')) {
    out->has_f = true;
    out->f = strtof(text, &end);
  } else if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-') {
    out->has_i = true;
    out->i = strtoll(text, &end, 10);
  } else {
    out->has_s = true;
    out->s = (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)text, .len = strlen(text)};
  }
}

/* The dimensions of an input in order, the last two exchanged. */
static void set_exchanged(struct making *making, Onnx__AttributeProto *out, uint32_t input) {
  size_t rank = making->call->inputs[input]->rank;
  out->ints = made(making, ARENA_ARRAY(making->arena, int64_t, rank + 1));
  out->n_ints = out->ints ? rank : 0;
  for (size_t i = 0; i < out->n_ints; i++)
    out->ints[i] = (int64_t)(rank < 2 || i + 2 < rank ? i : 2 * rank - 3 - i);
}

static Onnx__AttributeProto *attribute(struct making *making, char *word) {
  Onnx__AttributeProto *out = made(making, ARENA_NEW(making->arena, Onnx__AttributeProto));
  char *value = strchr(word, '=');
  if (!out)
    return NULL;
  *value++ = '\0';
  onnx__attribute_proto__init(out);
  if (*value == '@') { /* "@name:other" */
    char *other = strchr(value, ':');
    *other++ = '\0';
    const Onnx__AttributeProto *own = onnx_attribute(making->call, value + 1);
    if (own)
      *out = *own;
    else
      set_number(making, out, other);
  } else if (*value == '~') {
    set_exchanged(making, out, (uint32_t)(value[1] - '0'));
  } else {
    set_number(making, out, value);
  }
  out->name = word;
  out->ref_attr_name = NULL;
  return out;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* "OPERATOR results = inputs attribute=value"; inputs that the call leaves out are left out, and
 * "-". Errors name the node as the call. */
static Onnx__NodeProto *node(struct making *making, const char *text) {
  char *word[WORDS_MAX];
  size_t count = words(making, text, word);
  Onnx__NodeProto *out = made(making, ARENA_NEW(making->arena, Onnx__NodeProto));
  char **names = made(making, ARENA_ARRAY(making->arena, char *, 2 * WORDS_MAX));
  Onnx__AttributeProto **attributes =
      made(making, ARENA_ARRAY(making->arena, Onnx__AttributeProto *, WORDS_MAX));
  if (!out || !names || !attributes || count == 0)
    return NULL;
  onnx__node_proto__init(out);
  *out = (Onnx__NodeProto){.base = out->base,
                           .op_type = word[0],
                           .name = (char *)(uintptr_t)onnx_node_name(making->call->node)};
  out->output = names;
  out->input = names + WORDS_MAX;
  out->attribute = attributes;
  bool results = true;
  for (size_t i = 1; i < count; i++) {
    if (strcmp(word[i], "=") == 0) {
      results = false;
    } else if (results) {
      out->output[out->n_output++] = word[i];
    } else if (strchr(word[i], '=')) {
      out->attribute[out->n_attribute++] = attribute(making, word[i]);
    } else {
      static char none[] = "";
      bool own = input_of(making, word[i]) < making->input_count;
      bool absent = strcmp(word[i], "-") == 0 || (own && !is_given(making, word[i]));
      out->input[out->n_input++] = absent ? none : word[i];
    }
  }
  return out;
}

static void take_body(struct making *making, const char *body) {
  char *copy = copied(making, body), *rest = copy, *text;
  while (copy && !making->no_memory && (text = strtok_r(rest, ";", &rest))) {
    text += strspn(text, " ");
    if (*text == '?' || *text == '!') {
      char name[NAME_MAX_BYTES];
      size_t length = strcspn(text, " ");
      snprintf(name, sizeof name, "%.*s", (int)length - 1, text + 1);
      if (is_given(making, name) != (*text == '?'))
        continue;
      text += length;
    }
    if (making->node_count == NODES_MAX)
      vinci_bug("the body of %s has more than %d nodes", making->call->op, NODES_MAX);
    making->nodes[making->node_count++] = node(making, text);
  }
}

bool onnx_is_contributed(const struct onnx_call *call) {
  return call->node->domain && strcmp(call->node->domain, "com.microsoft") == 0;
}

static const struct contrib *find(const struct onnx_call *call) {
  bool standard = !call->node->domain || !*call->node->domain;
  for (size_t i = 0; i < sizeof contribs / sizeof *contribs; i++)
    if (strcmp(contribs[i].name, call->op) == 0 &&
        (onnx_is_contributed(call) || (standard && !onnx_op_find(call->op))))
      return &contribs[i];
  return NULL;
}

/* Results of training and of nobody, which the body does not compute, are left out. */
static size_t computed_outputs(const struct making *making) {
  size_t count = making->call->output_count;
  return count < making->output_count ? count : making->output_count;
}

/* Attributes of other meanings that the definitions do not have; epsilon and axis of norms are
 * theirs. */
static bool changes_meaning(const struct onnx_call *call) {
  static const char *const names[] = {"unidirectional", "transBatchA", "transBatchB",
                                      "channels_last"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (onnx_int(call, names[i], 0) != 0)
      return true;
  return false;
}

/* Whether the definition has a place for each input that the call gives, and the second, whose
 * dimensions it may turn, is there. */
static bool takes_inputs(const struct contrib *contrib, const struct onnx_call *call) {
  uint32_t places = 1;
  if (strstr(contrib->body, "~1") && !onnx_given(call, 1))
    return false;
  for (const char *at = contrib->inputs; *at; at++)
    places += *at == ' ';
  for (uint32_t i = places; i < call->input_count; i++)
    if (onnx_given(call, i))
      return false;
  return true;
}

enum vinci_status onnx_call_body(struct onnx_call *call, const struct onnx_body *body) {
  struct making making = {.call = call, .lists = body->lists, .arena = &call->import->arena};
  Onnx__FunctionProto function = ONNX__FUNCTION_PROTO__INIT;
  Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
  making.input_count = words(&making, body->inputs, making.inputs);
  making.output_count = words(&making, body->outputs, making.outputs);
  take_body(&making, body->text);
  if (call->input_count > making.input_count) /* those behind were arguments */
    call->input_count = (uint32_t)making.input_count;
  if (making.no_memory)
    return onnx_no_memory(call->import);
  opset.has_version = true;
  opset.version = body->opset;
  function.opset_import = opsets;
  function.n_opset_import = body->opset != 0;
  function.input = making.inputs;
  function.n_input = making.input_count;
  function.output = making.outputs;
  function.n_output = computed_outputs(&making);
  function.node = making.nodes;
  function.n_node = making.node_count;
  return onnx_call_function(call, &function);
}

void onnx_say(struct onnx_text *body, const char *format, ...) {
  va_list arguments;
  size_t room = sizeof body->text - body->used;
  va_start(arguments, format);
  int length = vsnprintf(body->text + body->used, room, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= room)
    vinci_bug("the body of an operator has more than %zu bytes", sizeof body->text);
  body->used += (size_t)length;
}

void onnx_say_ints(struct onnx_text *body, const char *name, const int64_t *list, unsigned count) {
  onnx_say(body, "Constant %s = value_ints=", name);
  for (unsigned i = 0; i < count; i++)
    onnx_say(body, "%lld,", (long long)list[i]);
  onnx_say(body, ";");
}

void onnx_say_shape(struct onnx_text *body, const char *name, const uint64_t *shape,
                    unsigned rank) {
  onnx_say(body, "Constant %s = value_ints=", name);
  for (unsigned d = 0; d < rank; d++)
    onnx_say(body, "%llu,", (unsigned long long)shape[d]);
  onnx_say(body, ";");
}

static struct onnx_list *next_list(struct onnx_text *body, size_t count) {
  if (body->list_count == ONNX_LISTS_MAX)
    vinci_bug("the body of an operator has more than %d lists", ONNX_LISTS_MAX);
  struct onnx_list *list = &body->lists[body->list_count++];
  list->count = count;
  return list;
}

int64_t *onnx_say_list(struct onnx_call *call, struct onnx_text *body, size_t count) {
  return next_list(body, count)->ints = ARENA_ARRAY(&call->import->arena, int64_t, count + 1);
}

float *onnx_say_reals(struct onnx_call *call, struct onnx_text *body, size_t count) {
  return next_list(body, count)->reals = ARENA_ARRAY(&call->import->arena, float, count + 1);
}

enum vinci_status onnx_call_text(struct onnx_call *call, const char *inputs, const char *outputs,
                                 const struct onnx_text *body) {
  struct onnx_body made = {inputs, outputs, body->text, STANDARD_OPSET, body->lists};
  return onnx_call_body(call, &made);
}

/* Whether all inputs have shapes, which a body may need, and those that have to be there are. */
static bool has_operands(const struct contrib *contrib, const struct onnx_call *call) {
  for (uint32_t i = 0; i < contrib->inputs_min; i++)
    if (!onnx_given(call, i))
      return false;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i] && !call->inputs[i]->shaped)
      return false;
  return true;
}

enum vinci_status onnx_call_contrib(struct onnx_call *call, bool *known) {
  const struct contrib *contrib = find(call);
  *known = contrib && has_operands(contrib, call);
  if (*known && contrib->make)
    return contrib->make(call, known);
  *known = *known && takes_inputs(contrib, call) && !changes_meaning(call);
  if (!*known)
    return VINCI_OK;
  struct onnx_body body = {contrib->inputs, contrib->outputs, contrib->body, 0, NULL};
  return onnx_call_body(call, &body);
}

/* ---- standard operators ---------------------------------------------------------------------- */

enum vinci_status onnx_call_standard(struct onnx_call *call, bool *known) {
  const struct contrib *row = NULL;
  for (size_t i = 0; i < sizeof standards / sizeof *standards && !row; i++)
    if (strcmp(standards[i].name, call->op) == 0)
      row = &standards[i];
  *known = row && has_operands(row, call) && call->output_count == 1 && call->outputs[0]->shaped;
  if (!*known)
    return VINCI_OK;
  if (row->make)
    return row->make(call, known);
  struct onnx_body body = {row->inputs, row->outputs, row->body, STANDARD_OPSET, NULL};
  return onnx_call_body(call, &body);
}

static struct graph_node shown(const struct onnx_call *call) {
  return (struct graph_node){.args = (const char **)(uintptr_t)call->args,
                             .arg_count = call->arg_count};
}

unsigned onnx_put_ints(const struct onnx_call *call, const char *key, int64_t *out, unsigned most) {
  struct graph_node node = shown(call);
  return graph_arg_ints(&node, key, out, most);
}

int64_t onnx_put_int(const struct onnx_call *call, const char *key, int64_t fallback) {
  struct graph_node node = shown(call);
  return graph_arg_int(&node, key, fallback);
}

double onnx_put_real(const struct onnx_call *call, const char *key, double fallback) {
  struct graph_node node = shown(call);
  return graph_arg_number(&node, key, fallback);
}

const char *onnx_put_text(const struct onnx_call *call, const char *key) {
  struct graph_node node = shown(call);
  return graph_arg(&node, key);
}
