/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graphs: rows of a word and key=value fields. */
#include "networks/graph/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/format/text_fields.h"

static enum vinci_status graph_row(struct text_reader *reader) {
  static const char *const keys[] = {"version", "name"};
  uint64_t version = 0;
  const char *name;
  bool given;
  if (reader->begun)
    return text_fail(reader, 0, "second graph row; a file has one, the first");
  enum vinci_status status = text_take_number(reader, "version", UINT32_MAX, &given, &version);
  if (status == VINCI_OK && version != GRAPH_TEXT_VERSION)
    status = text_fail(reader, given ? text_find_key(reader, "version") : 0,
                       "this program reads graph,version=%d", GRAPH_TEXT_VERSION);
  if (status == VINCI_OK)
    status = text_take(reader, "name", "", &name);
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  reader->begun = true;
  reader->graph->name = arena_strdup(&reader->graph->arena, name);
  return reader->graph->name ? VINCI_OK : text_no_memory(reader);
}

/* ---- nodes --------------------------------------------------------------------------------- */

static const char *tensor_at(const void *context, size_t index) {
  const struct graph *graph = context;
  return graph->tensors[index].name;
}

struct numbers {
  uint32_t list[GRAPH_LIST_MAX];
  uint32_t count;
};

static enum vinci_status take_tensors(struct text_reader *reader, const char *key,
                                      struct numbers *out) {
  size_t field = text_find_key(reader, key);
  const char *at = field ? text_value_of(reader, field) : "", *word;
  for (out->count = 0; (word = text_next_word(reader, &at));) {
    uint32_t index = strcmp(word, "-") == 0 ? GRAPH_NONE : graph_find_tensor(reader->graph, word);
    if (out->count == GRAPH_LIST_MAX)
      return text_fail(reader, field, "more than %d tensors", GRAPH_LIST_MAX);
    if (index == GRAPH_NONE && strcmp(word, "-") != 0) {
      text_fail(reader, field, "no tensor \"%s\" stands before this row", word);
      const char *nearest =
          diag_nearest(word, reader->graph->tensor_count, tensor_at, reader->graph);
      if (nearest)
        diag_hint(reader->diag, "did you mean %s?", nearest);
      return VINCI_E_INPUT;
    }
    out->list[out->count++] = index;
  }
  return VINCI_OK;
}

static uint32_t find_node(const struct graph *graph, const char *name) {
  for (uint32_t i = graph->node_count; i-- > 0;) /* most control edges lead to a near node */
    if (strcmp(graph->nodes[i].name, name) == 0)
      return i;
  return GRAPH_NONE;
}

static enum vinci_status take_after(struct text_reader *reader, struct numbers *out) {
  size_t field = text_find_key(reader, "after");
  const char *at = field ? text_value_of(reader, field) : "", *word;
  for (out->count = 0; (word = text_next_word(reader, &at));) {
    uint32_t index = find_node(reader->graph, word);
    if (out->count == GRAPH_LIST_MAX)
      return text_fail(reader, field, "more than %d nodes", GRAPH_LIST_MAX);
    if (index == GRAPH_NONE)
      return text_fail(reader, field, "no node \"%s\" stands before this row", word);
    out->list[out->count++] = index;
  }
  return VINCI_OK;
}

/* What begins as a number is one, or a list such as 3x3; kernels look at theirs themselves. */
static bool is_well_formed(const char *value) {
  double number;
  if (value[*value == '-'] < '0' || value[*value == '-'] > '9')
    return true;
  while (*value)
    if (!graph_arg_piece(&value, &number))
      return false;
  return value[-1] != 'x';
}

static enum vinci_status take_args(struct text_reader *reader, bool layer, const char **args,
                                   uint32_t *count) {
  size_t field = text_find_key(reader, "args");
  const char *at = field ? text_value_of(reader, field) : "", *word;
  for (*count = 0; (word = text_next_word(reader, &at));) {
    if (*count == GRAPH_ARGS_MAX)
      return text_fail(reader, field, "more than %d arguments", GRAPH_ARGS_MAX);
    if (!strchr(word, '='))
      return text_fail(reader, field, "arguments are key=value with blanks between, not \"%s\"",
                       word);
    if (layer && !is_well_formed(strchr(word, '=') + 1))
      return text_fail(reader, field, "\"%s\" is neither a number nor a list of numbers", word);
    args[(*count)++] = word;
  }
  return VINCI_OK;
}

static enum vinci_status take_op(struct text_reader *reader, struct graph_node *node) {
  static const char *const ways[] = {"h2d", "d2h", "d2d"};
  size_t way;
  enum vinci_status status;
  switch (node->kind) {
  case GRAPH_TASK:
    status = text_take(reader, "unit", "AI_CPU", &node->op);
    return status == VINCI_OK ? text_take_us(reader, "duration_us", NULL, &node->duration_ps)
                              : status;
  case GRAPH_COPY:
    status = text_take_word(reader, "way", NULL, (struct text_words){ways, 3}, &way);
    node->op = status == VINCI_OK ? ways[way] : "";
    return status;
  case GRAPH_VIEW:
    node->op = "view";
    return VINCI_OK;
  default:
    status = text_take_us(reader, "measured_us", "0", &node->duration_ps);
    return status == VINCI_OK ? text_take(reader, "op", NULL, &node->op) : status;
  }
}

/* Parts that lie in the memory of the output, which is there when all of them are. */
static enum vinci_status make_join(struct text_reader *reader, const struct graph_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] == GRAPH_NONE ||
        reader->graph->tensors[node->inputs[i]].memory != node->outputs[0])
      return text_fail(reader, text_find_key(reader, "in"),
                       "a view of several tensors has parts of the one out, with memory=%s",
                       reader->graph->tensors[node->outputs[0]].name);
  return VINCI_OK;
}

/* The output of a view lies in the memory of its input. */
static enum vinci_status make_view(struct text_reader *reader, const struct graph_node *node) {
  if (node->input_count > 1 && node->output_count == 1)
    return make_join(reader, node);
  if (node->input_count != 1 || node->output_count != 1 || node->inputs[0] == GRAPH_NONE)
    return text_fail(reader, 0, "a view has one tensor in and one out");
  struct graph_tensor *in = &reader->graph->tensors[node->inputs[0]];
  struct graph_tensor *out = &reader->graph->tensors[node->outputs[0]];
  bool part = out->memory == node->inputs[0] && graph_bytes(out) < graph_bytes(in);
  if (in->shaped && out->shaped && graph_bytes(in) != graph_bytes(out) && !part)
    return text_fail(reader, text_find_key(reader, "out"),
                     "a view keeps its bytes: %llu in, %llu out",
                     (unsigned long long)graph_bytes(in), (unsigned long long)graph_bytes(out));
  if (out->memory == GRAPH_NONE && graph_memory(reader->graph, node->inputs[0]) != node->outputs[0])
    out->memory = node->inputs[0];
  return VINCI_OK;
}

static enum vinci_status read_node(struct text_reader *reader, struct graph_node *node,
                                   struct numbers lists[3]) {
  static const char *const keys[] = {"name",   "op",      "in",          "out",     "args",
                                     "stream", "origin",  "after",       "unit",    "duration_us",
                                     "way",    "host_us", "measured_us", "offline", "tiling_us"};
  const char *args[GRAPH_ARGS_MAX];
  uint64_t stream = 0, offline = 0;
  bool given;
  enum vinci_status status = text_take(reader, "name", NULL, &node->name);
  if (status == VINCI_OK && strpbrk(node->name, text_not_in_names))
    status =
        text_fail(reader, text_find_key(reader, "name"), "a name has no blanks, commas or quotes");
  if (status == VINCI_OK)
    status = take_op(reader, node);
  if (status == VINCI_OK)
    status = take_tensors(reader, "in", &lists[0]);
  if (status == VINCI_OK)
    status = take_tensors(reader, "out", &lists[1]);
  if (status == VINCI_OK)
    status = take_after(reader, &lists[2]);
  if (status == VINCI_OK)
    status = take_args(reader, node->kind == GRAPH_LAYER, args, &node->arg_count);
  if (status == VINCI_OK)
    status = text_take_number(reader, "stream", UINT16_MAX, &given, &stream);
  if (status == VINCI_OK)
    status = text_take_number(reader, "offline", 1, &given, &offline);
  if (status == VINCI_OK)
    status = text_take_us(reader, "host_us", "0", &node->host_ps);
  if (status == VINCI_OK)
    status = text_take_us(reader, "tiling_us", "0", &node->tiling_ps);
  if (status == VINCI_OK)
    status = text_take(reader, "origin", "", &node->origin);
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  for (uint32_t i = 0; i < lists[1].count; i++)
    if (lists[1].list[i] == GRAPH_NONE)
      return text_fail(reader, text_find_key(reader, "out"), "an output cannot be left out");
  node->stream = (uint32_t)stream;
  node->offline = offline != 0;
  node->args = args;
  node->inputs = lists[0].list;
  node->input_count = lists[0].count;
  node->outputs = lists[1].list;
  node->output_count = lists[1].count;
  node->after = lists[2].list;
  node->after_count = lists[2].count;
  if (node->kind == GRAPH_VIEW)
    status = make_view(reader, node);
  if (status == VINCI_OK && graph_add_node(reader->graph, node) == GRAPH_NONE)
    status = text_no_memory(reader);
  return status;
}

static enum vinci_status node_row(struct text_reader *reader, enum graph_kind kind) {
  struct graph_node node = {.kind = kind};
  struct numbers *lists = calloc(3, sizeof *lists);
  enum vinci_status status = lists ? read_node(reader, &node, lists) : text_no_memory(reader);
  free(lists);
  return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static enum vinci_status read_row(struct text_reader *reader) {
  static const char *const rows[] = {
#define X(id, name) name,
      GRAPH_KIND_LIST(X)
#undef X
          "graph",
      "tensor"};
  struct text_words words = {rows, sizeof rows / sizeof *rows};
  const char *word = reader->fields[0];
  if (strcmp(word, "graph") == 0)
    return graph_row(reader);
  if (!reader->begun)
    return text_fail(reader, 0, "the first row is \"graph,version=%d\"", GRAPH_TEXT_VERSION);
  if (strcmp(word, "tensor") == 0)
    return text_tensor_row(reader);
  for (unsigned kind = 0; kind < GRAPH_KIND_COUNT; kind++)
    if (strcmp(word, rows[kind]) == 0)
      return node_row(reader, (enum graph_kind)kind);
  return text_unknown_row(reader, words);
}

bool graph_text_is(const char *text, size_t length) {
  static const char head[] = "graph,";
  size_t at = 0;
  while (at < length && (text[at] == '#' || text[at] == '\n')) {
    const char *newline = memchr(text + at, '\n', length - at);
    at = newline ? (size_t)(newline - text) + 1 : length;
  }
  return length - at >= sizeof head - 1 && memcmp(text + at, head, sizeof head - 1) == 0;
}

enum vinci_status graph_text_read(const char *name, const char *text, size_t length,
                                  struct graph *out, struct vinci_diag *diag) {
  struct text_reader reader = {.graph = out, .arena = &out->arena, .diag = diag, .path = name};
  *out = (struct graph){0};
  enum vinci_status status = text_read_rows(&reader, text, length, "graph,version=1", read_row);
  if (status == VINCI_OK)
    status = graph_check(out, diag);
  if (status != VINCI_OK && diag && !*diag->path)
    snprintf(diag->path, sizeof diag->path, "%s", name);
  if (status != VINCI_OK)
    graph_free(out);
  return status;
}
