/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: how they grow, and what can be read from them. */
#include "networks/graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "core/base/digest.h"

enum { FIRST_ROOM = 64, NAME_MORE_BYTES = 16 };
#define WHOLE_MAX 0x1p53 /* up to here a double holds every whole number */

/* ---- growing ------------------------------------------------------------------------------- */

struct graph_kept {
  void *memory;
  size_t bytes;
  void (*release)(void *memory, size_t bytes);
  struct graph_kept *next;
};

bool graph_keep(struct graph *graph, void *memory, size_t bytes,
                void (*release)(void *memory, size_t bytes)) {
  struct graph_kept *kept = ARENA_NEW(&graph->arena, struct graph_kept);
  if (!kept)
    return false;
  *kept = (struct graph_kept){memory, bytes, release, graph->kept};
  graph->kept = kept;
  return true;
}

void graph_free(struct graph *graph) {
  for (const struct graph_kept *kept = graph->kept; kept; kept = kept->next)
    kept->release(kept->memory, kept->bytes);
  arena_free(&graph->arena);
  *graph = (struct graph){0};
}

static void *grown(struct graph *graph, const void *old, uint32_t count, uint32_t *room,
                   size_t element_bytes) {
  uint32_t larger = *room ? 2 * *room : FIRST_ROOM;
  void *data = arena_alloc(&graph->arena, larger, element_bytes);
  if (!data)
    return NULL;
  if (count > 0)
    memcpy(data, old, count * element_bytes);
  *room = larger;
  return data;
}

static bool add_name(struct graph *graph, const char *name, uint32_t tensor) {
  return lookup_add(&graph->names, &graph->arena, digest_string(DIGEST_SEED, name), tensor);
}

uint32_t graph_add_tensor(struct graph *graph, const char *name) {
  if (graph->tensor_count == graph->tensor_room) {
    if (graph->tensor_count >= GRAPH_TENSORS_MAX)
      return GRAPH_NONE;
    void *more = grown(graph, graph->tensors, graph->tensor_count, &graph->tensor_room,
                       sizeof *graph->tensors);
    if (!more)
      return GRAPH_NONE;
    graph->tensors = more;
  }
  const char *copy = arena_strdup(&graph->arena, name);
  uint32_t index = graph->tensor_count;
  if (!copy || !add_name(graph, copy, index))
    return GRAPH_NONE;
  graph->tensors[index] = (struct graph_tensor){
      .name = copy, .dtype = DTYPE_FP16, .format = "ND", .memory = GRAPH_NONE};
  graph->tensor_count++;
  return index;
}

uint32_t graph_find_tensor(const struct graph *graph, const char *name) {
  uint64_t key = digest_string(DIGEST_SEED, name);
  uint32_t newest = GRAPH_NONE;
  size_t looked = 0;
  for (uintptr_t at; (at = lookup_next(&graph->names, key, &looked)) != LOOKUP_NONE;)
    if (strcmp(graph->tensors[at].name, name) == 0)
      newest = (uint32_t)at;
  return newest;
}

/* The entry of the old name stays: what is found there has another name by now. */
bool graph_rename_tensor(struct graph *graph, uint32_t tensor, const char *name) {
  const char *copy = arena_strdup(&graph->arena, name);
  if (!copy || !add_name(graph, copy, tensor))
    return false;
  graph->tensors[tensor].name = copy;
  return true;
}

const char *graph_new_name(struct graph *graph, const char *base) {
  size_t size = strlen(base) + NAME_MORE_BYTES;
  char *name = arena_alloc(&graph->arena, size, 1);
  if (!name)
    return NULL;
  snprintf(name, size, "%s", base);
  for (uint32_t i = 1; graph_find_tensor(graph, name) != GRAPH_NONE; i++)
    snprintf(name, size, "%s_%u", base, i);
  return name;
}

void graph_set_shape(struct graph_tensor *tensor, const uint64_t *shape, unsigned rank) {
  tensor->shaped = true;
  tensor->rank = rank;
  if (rank > 0)
    memcpy(tensor->shape, shape, rank * sizeof *shape);
}

static const uint32_t *copy_list(struct graph *graph, const uint32_t *list, uint32_t count) {
  uint32_t *copy = ARENA_ARRAY(&graph->arena, uint32_t, count + 1);
  if (copy && count > 0)
    memcpy(copy, list, count * sizeof *copy);
  return copy;
}

static bool copy_texts(struct graph *graph, struct graph_node *node) {
  const char **args = ARENA_ARRAY(&graph->arena, const char *, node->arg_count + 1);
  node->name = arena_strdup(&graph->arena, node->name ? node->name : "");
  node->op = arena_strdup(&graph->arena, node->op ? node->op : "");
  node->origin = arena_strdup(&graph->arena, node->origin ? node->origin : "");
  node->source = arena_strdup(&graph->arena, node->source ? node->source : "");
  node->reason = arena_strdup(&graph->arena, node->reason ? node->reason : "");
  if (!args || !node->name || !node->op || !node->origin || !node->source || !node->reason)
    return false;
  for (uint32_t i = 0; i < node->arg_count; i++)
    if (!(args[i] = arena_strdup(&graph->arena, node->args[i])))
      return false;
  node->args = args;
  return true;
}

uint32_t graph_add_node(struct graph *graph, const struct graph_node *node) {
  if (graph->node_count == graph->node_room) {
    if (graph->node_count >= GRAPH_NODES_MAX)
      return GRAPH_NONE;
    void *more =
        grown(graph, graph->nodes, graph->node_count, &graph->node_room, sizeof *graph->nodes);
    if (!more)
      return GRAPH_NONE;
    graph->nodes = more;
  }
  struct graph_node copy = *node;
  copy.inputs = copy_list(graph, node->inputs, node->input_count);
  copy.outputs = copy_list(graph, node->outputs, node->output_count);
  copy.after = copy_list(graph, node->after, node->after_count);
  if (!copy.inputs || !copy.outputs || !copy.after || !copy_texts(graph, &copy))
    return GRAPH_NONE;
  graph->nodes[graph->node_count] = copy;
  return graph->node_count++;
}

bool graph_copy(const struct graph *from, struct graph *out) {
  *out = (struct graph){0};
  out->name = arena_strdup(&out->arena, from->name ? from->name : "");
  if (!out->name)
    return false;
  for (uint32_t i = 0; i < from->tensor_count; i++) {
    uint32_t index = graph_add_tensor(out, from->tensors[i].name);
    if (index == GRAPH_NONE)
      return false;
    const char *name = out->tensors[index].name;
    out->tensors[index] = from->tensors[i];
    out->tensors[index].name = name;
  }
  for (uint32_t i = 0; i < from->node_count; i++)
    if (graph_add_node(out, &from->nodes[i]) == GRAPH_NONE)
      return false;
  return true;
}

/* The nodes that are left in `after`, by their new numbers. */
static void renumber(struct graph_node *node, const uint32_t *number) {
  uint32_t *after = (uint32_t *)(uintptr_t)node->after, kept = 0; /* the arena's, not constant */
  for (uint32_t i = 0; i < node->after_count; i++)
    if (number[after[i]] != GRAPH_NONE)
      after[kept++] = number[after[i]];
  node->after_count = kept;
}

void graph_remove_nodes(struct graph *graph, const bool *gone) {
  uint32_t *number = calloc(graph->node_count + 1, sizeof *number), kept = 0;
  for (uint32_t i = 0; number && i < graph->node_count; i++)
    number[i] = gone[i] ? GRAPH_NONE : kept++;
  kept = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    if (gone[i])
      continue;
    if (number)
      renumber(&graph->nodes[i], number);
    graph->nodes[kept++] = graph->nodes[i];
  }
  graph->node_count = kept;
  free(number);
}

/* ---- reading ------------------------------------------------------------------------------- */

const char *graph_io_name(enum graph_io io) {
  static const char *const names[] = {
#define X(id, name) name,
      GRAPH_IO_LIST(X)
#undef X
  };
  return names[io];
}

const char *graph_kind_name(enum graph_kind kind) {
  static const char *const names[] = {
#define X(id, name) name,
      GRAPH_KIND_LIST(X)
#undef X
  };
  return names[kind];
}

uint64_t graph_elements(const struct graph_tensor *tensor) {
  uint64_t count = 1;
  for (unsigned i = 0; i < tensor->rank; i++)
    count *= tensor->shape[i];
  return count;
}

uint64_t graph_bytes(const struct graph_tensor *tensor) {
  return ceil_div(graph_elements(tensor) * dtype_bits(tensor->dtype), BITS_PER_BYTE);
}

uint64_t graph_skip(const struct graph *graph, uint32_t tensor) {
  uint64_t skip = 0;
  for (; graph->tensors[tensor].memory != GRAPH_NONE; tensor = graph->tensors[tensor].memory)
    skip += graph->tensors[tensor].skip;
  return skip;
}

uint32_t graph_memory(const struct graph *graph, uint32_t tensor) {
  while (graph->tensors[tensor].memory != GRAPH_NONE)
    tensor = graph->tensors[tensor].memory;
  return tensor;
}

uint32_t graph_split_args(char *text, const char **args) {
  uint32_t count = 0;
  char *rest = text;
  for (char *word; count < GRAPH_ARGS_MAX && (word = strtok_r(rest, " ", &rest)) != NULL;)
    args[count++] = word;
  return count;
}

const char *graph_arg(const struct graph_node *node, const char *key) {
  size_t length = strlen(key);
  for (uint32_t i = 0; i < node->arg_count; i++)
    if (strncmp(node->args[i], key, length) == 0 && node->args[i][length] == '=')
      return node->args[i] + length + 1;
  return NULL;
}

bool graph_arg_piece(const char **at, double *out) {
  enum { PIECE_MAX = 40 };
  char piece[PIECE_MAX];
  size_t length = strcspn(*at, "x");
  if (length >= sizeof piece)
    return false;
  memcpy(piece, *at, length);
  piece[length] = '\0';
  *at += length + ((*at)[length] == 'x');
  return decimal_parse(piece, out);
}

unsigned graph_arg_ints(const struct graph_node *node, const char *key, int64_t *out,
                        unsigned most) {
  const char *text = graph_arg(node, key);
  unsigned count = 0;
  while (text && *text) {
    bool negative = *text == '-';
    uint64_t digits;
    double number;
    const char *end = decimal_digits(text + negative, &digits);
    if (end && (*end == 'x' || !*end) && digits <= INT64_MAX)
      text = *end ? end + 1 : end;
    else if (graph_arg_piece(&text, &number) && number == floor(number) && fabs(number) < WHOLE_MAX)
      digits = (uint64_t)fabs(number);
    else
      return 0;
    if (count < most)
      out[count] = negative ? -(int64_t)digits : (int64_t)digits;
    count++;
  }
  return count;
}

int64_t graph_arg_int(const struct graph_node *node, const char *key, int64_t fallback) {
  int64_t value;
  return graph_arg_ints(node, key, &value, 1) > 0 ? value : fallback;
}

double graph_arg_number(const struct graph_node *node, const char *key, double fallback) {
  const char *text = graph_arg(node, key);
  double value;
  return text && decimal_parse(text, &value) ? value : fallback;
}
