/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a graph of layers (rewrite.h). */
#include "networks/passes/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"

enum { FIRST_INSERTED = 32 };

struct inserted {
  uint32_t before;
  uint32_t serial;
  struct graph_node node; /* its lists and texts lie in the arena of the graph */
};

static bool grow_tensors(struct rewrite *rewrite) {
  uint32_t room = 2 * rewrite->graph->tensor_count + FIRST_INSERTED, old = rewrite->tensor_room;
  uint32_t **lists[] = {&rewrite->writer, &rewrite->reader, &rewrite->reads};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    uint32_t *more = realloc(*lists[i], room * sizeof *more);
    if (!more)
      return false;
    *lists[i] = more;
    memset(more + old, i == 2 ? 0 : 0xff, (room - old) * sizeof *more);
  }
  bool *more = realloc(rewrite->constant, room * sizeof *more);
  if (!more)
    return false;
  memset(more + old, 0, (room - old) * sizeof *more);
  rewrite->constant = more;
  rewrite->tensor_room = room;
  return true;
}

static bool all_constant(const struct rewrite *rewrite, const uint32_t *inputs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (inputs[i] != GRAPH_NONE && !rewrite->constant[inputs[i]])
      return false;
  return count > 0;
}

static void note_node(struct rewrite *rewrite, uint32_t index, const struct graph_node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    rewrite->writer[node->outputs[i]] = index;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == GRAPH_NONE)
      continue;
    rewrite->reader[node->inputs[i]] = index;
    rewrite->reads[node->inputs[i]]++;
  }
}

/* Nodes as they are now, for the record. */
static bool keep_before(struct rewrite *rewrite) {
  size_t count = (size_t)rewrite->node_count + 1;
  if (!rewrite->history)
    return true;
  rewrite->before = calloc(count, sizeof *rewrite->before);
  rewrite->recorded = calloc(count, sizeof *rewrite->recorded);
  if (!rewrite->before || !rewrite->recorded)
    return false;
  for (uint32_t i = 0; i < rewrite->node_count; i++) {
    const struct graph_node *node = &rewrite->graph->nodes[i];
    rewrite->before[i] = (struct history_node){node->name, node->op, node->origin};
  }
  return true;
}

bool rewrite_start(struct rewrite *rewrite, struct graph *graph, const struct vinci_soc *soc,
                   struct history *history, unsigned pass) {
  *rewrite = (struct rewrite){.graph = graph,
                              .soc = soc,
                              .node_count = graph->node_count,
                              .history = history,
                              .pass = pass};
  rewrite->gone = calloc((size_t)graph->node_count + 1, sizeof *rewrite->gone);
  if (!rewrite->gone || !grow_tensors(rewrite) || !keep_before(rewrite)) {
    rewrite->no_memory = true;
    return false;
  }
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    rewrite->constant[i] = graph->tensors[i].io == GRAPH_WEIGHT;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    note_node(rewrite, i, node);
    bool constant = all_constant(rewrite, node->inputs, node->input_count);
    for (uint32_t j = 0; j < node->output_count; j++)
      rewrite->constant[node->outputs[j]] |= constant;
  }
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    rewrite->reads[i] += graph->tensors[i].io == GRAPH_OUT;
  return true;
}

/* ---- looking ------------------------------------------------------------------------------- */

static struct graph_node *layer_at_index(const struct rewrite *rewrite, uint32_t index,
                                         const char *op) {
  if (index == GRAPH_NONE || index >= rewrite->node_count || rewrite->gone[index])
    return NULL;
  struct graph_node *node = &rewrite->graph->nodes[index];
  return node->kind == GRAPH_LAYER && (!op || strcmp(node->op, op) == 0) ? node : NULL;
}

struct graph_node *rewrite_writer(const struct rewrite *rewrite, uint32_t tensor, const char *op) {
  return tensor == GRAPH_NONE ? NULL : layer_at_index(rewrite, rewrite->writer[tensor], op);
}

struct graph_node *rewrite_reader(const struct rewrite *rewrite, uint32_t tensor, const char *op) {
  if (tensor == GRAPH_NONE || rewrite->reads[tensor] != 1)
    return NULL;
  return layer_at_index(rewrite, rewrite->reader[tensor], op);
}

struct graph_node *rewrite_inner(const struct rewrite *rewrite, const struct graph_node *node,
                                 uint32_t tensor, const char *op) {
  struct graph_node *writer = rewrite_writer(rewrite, tensor, op);
  return writer && rewrite_reader(rewrite, tensor, NULL) == node ? writer : NULL;
}

uint32_t rewrite_index(const struct rewrite *rewrite, const struct graph_node *node) {
  return (uint32_t)(node - rewrite->graph->nodes);
}

uint32_t rewrite_input(const struct graph_node *node, uint32_t index) {
  return index < node->input_count ? node->inputs[index] : GRAPH_NONE;
}

bool rewrite_is_weight(const struct rewrite *rewrite, uint32_t tensor) {
  return tensor != GRAPH_NONE && rewrite->constant[tensor];
}

bool rewrite_number(const struct rewrite *rewrite, uint32_t tensor, double *out) {
  return tensor != GRAPH_NONE && graph_elements(rewrite_tensor(rewrite, tensor)) == 1 &&
         graph_number(rewrite_tensor(rewrite, tensor), 0, out);
}

bool rewrite_with_number(const struct rewrite *rewrite, const struct graph_node *node,
                         uint32_t *input, double *number) {
  for (uint32_t i = 0; node->input_count == 2 && i < 2; i++)
    if (rewrite_number(rewrite, node->inputs[1 - i], number)) {
      *input = node->inputs[i];
      return true;
    }
  return false;
}

/* ---- changing ------------------------------------------------------------------------------ */

static void forget(struct rewrite *rewrite, const struct graph_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE)
      rewrite->reads[node->inputs[i]]--;
}

void rewrite_take_away(struct rewrite *rewrite, const struct graph_node *node) {
  uint32_t index = rewrite_index(rewrite, node);
  if (!rewrite->gone[index])
    forget(rewrite, node);
  rewrite->gone[index] = true;
}

/* ---- the record ---------------------------------------------------------------------------- */

static void record(struct rewrite *rewrite, enum history_kind kind, const struct graph_node *node,
                   const struct history_node *before, const char *into, const char *now) {
  bool weighed = kind != HISTORY_ADDED; /* the place, not what is added there */
  struct history_event event = {.kind = kind,
                                .pass = rewrite->pass,
                                .kernels = node->kind == GRAPH_KERNEL,
                                .node = *before,
                                .into = into,
                                .now = now,
                                .before_ps = weighed ? rewrite->before_ps : 0,
                                .after_ps = weighed ? rewrite->after_ps : 0};
  if (!history_add(rewrite->history, &event))
    rewrite->no_memory = true;
}

/* Of a node that became a part of another, or of that node itself. */
static void record_part(struct rewrite *rewrite, uint32_t index, const struct graph_node *whole,
                        const char *now) {
  const struct history_node *before = &rewrite->before[index];
  bool same = strcmp(before->name, whole->name) == 0;
  record(rewrite, same ? HISTORY_CHANGED : HISTORY_JOINED, &rewrite->graph->nodes[index], before,
         same ? NULL : whole->name, now ? now : whole->op);
}

void rewrite_done(struct rewrite *rewrite, const struct graph_node *node, const char *now) {
  rewrite->changed++;
  for (uint32_t i = 0; rewrite->history && i < rewrite->node_count; i++)
    if (rewrite->gone[i] && !rewrite->recorded[i]) {
      rewrite->recorded[i] = true;
      record_part(rewrite, i, node, now);
    }
  if (rewrite->history)
    record_part(rewrite, rewrite_index(rewrite, node), node, now);
  rewrite_weighed(rewrite, 0, 0);
}

void rewrite_refused(struct rewrite *rewrite, const struct graph_node *node, const char *now,
                     uint64_t before_ps, uint64_t after_ps) {
  rewrite_weighed(rewrite, before_ps, after_ps);
  if (rewrite->history)
    record(rewrite, HISTORY_REFUSED, node, &rewrite->before[rewrite_index(rewrite, node)], NULL,
           now);
  rewrite_weighed(rewrite, 0, 0);
}

/* What went without becoming a part of anything. */
static void record_dropped(struct rewrite *rewrite) {
  rewrite_weighed(rewrite, 0, 0);
  for (uint32_t i = 0; rewrite->history && i < rewrite->node_count; i++)
    if (rewrite->gone[i] && !rewrite->recorded[i])
      record(rewrite, HISTORY_DROPPED, &rewrite->graph->nodes[i], &rewrite->before[i], NULL, "");
}

static bool own_list(struct rewrite *rewrite, const uint32_t *list, uint32_t count,
                     const uint32_t **out) {
  uint32_t *copy = ARENA_ARRAY(&rewrite->graph->arena, uint32_t, count + 1);
  if (!copy)
    return false;
  memcpy(copy, list, count * sizeof *list);
  *out = copy;
  return true;
}

/* "a=1 b=2" as texts of the arena. */
static bool own_args(struct rewrite *rewrite, const char *text, struct graph_node *node) {
  struct arena *arena = &rewrite->graph->arena;
  const char **args = ARENA_ARRAY(arena, const char *, GRAPH_ARGS_MAX);
  char *copy = arena_strdup(arena, text);
  if (!args || !copy)
    return false;
  node->arg_count = graph_split_args(copy, args);
  node->args = args;
  return true;
}

void rewrite_become(struct rewrite *rewrite, struct graph_node *node, const char *op,
                    const uint32_t *inputs, uint32_t input_count, const char *args) {
  struct graph_node next = *node;
  next.op = arena_strdup(&rewrite->graph->arena, op);
  next.input_count = input_count;
  if (!next.op || !own_list(rewrite, inputs, input_count, &next.inputs) ||
      !own_args(rewrite, args, &next)) {
    rewrite->no_memory = true;
    return;
  }
  forget(rewrite, node);
  *node = next;
  note_node(rewrite, rewrite_index(rewrite, node), node);
}

static uint32_t words_of(const char *text) {
  uint32_t count = *text != '\0';
  for (; *text; text++)
    count += *text == ' ';
  return count;
}

const char *rewrite_args_text(struct rewrite *rewrite, const struct graph_node *node,
                              const char *more) {
  size_t size = strlen(more) + 1, used = 0;
  for (uint32_t i = 0; i < node->arg_count; i++)
    size += strlen(node->args[i]) + 1;
  char *text = arena_alloc(&rewrite->graph->arena, size, 1);
  if (!text || node->arg_count + words_of(more) > GRAPH_ARGS_MAX) {
    rewrite->no_memory = true;
    return NULL;
  }
  for (uint32_t i = 0; i < node->arg_count; i++)
    used += (size_t)snprintf(text + used, size - used, "%s ", node->args[i]);
  snprintf(text + used, size - used, "%s", more);
  return text;
}

void rewrite_become_like(struct rewrite *rewrite, struct graph_node *node, const char *op,
                         const uint32_t *inputs, uint32_t input_count,
                         const struct graph_node *like, const char *more) {
  const char *args = rewrite_args_text(rewrite, like, more);
  if (args)
    rewrite_become(rewrite, node, op, inputs, input_count, args);
}

void rewrite_add_arg(struct rewrite *rewrite, struct graph_node *node, const char *arg) {
  const char **args = ARENA_ARRAY(&rewrite->graph->arena, const char *, node->arg_count + 2);
  char *copy = arena_strdup(&rewrite->graph->arena, arg);
  if (!args || !copy || node->arg_count >= GRAPH_ARGS_MAX) {
    rewrite->no_memory = true;
    return;
  }
  if (node->arg_count > 0)
    memcpy(args, node->args, node->arg_count * sizeof *args);
  args[node->arg_count] = copy;
  node->args = args;
  node->arg_count++;
}

void rewrite_set_output(struct rewrite *rewrite, struct graph_node *node, uint32_t output) {
  if (!own_list(rewrite, &output, 1, &node->outputs))
    rewrite->no_memory = true;
  node->output_count = 1;
  rewrite->writer[output] = rewrite_index(rewrite, node);
}

uint32_t rewrite_new_tensor(struct rewrite *rewrite, const char *base, enum dtype dtype,
                            const uint64_t *shape, unsigned rank) {
  const char *name = graph_new_name(rewrite->graph, base);
  uint32_t index = name ? graph_add_tensor(rewrite->graph, name) : GRAPH_NONE;
  if (index == GRAPH_NONE || (index >= rewrite->tensor_room && !grow_tensors(rewrite))) {
    rewrite->no_memory = true;
    return GRAPH_NONE;
  }
  rewrite->graph->tensors[index].dtype = dtype;
  graph_set_shape(&rewrite->graph->tensors[index], shape, rank);
  return index;
}

static bool grow_inserted(struct rewrite *rewrite) {
  if (rewrite->inserted_count < rewrite->inserted_room)
    return true;
  uint32_t room = rewrite->inserted_room ? 2 * rewrite->inserted_room : FIRST_INSERTED;
  struct inserted *more = realloc(rewrite->inserted, room * sizeof *more);
  if (!more)
    return false;
  rewrite->inserted = more;
  rewrite->inserted_room = room;
  return true;
}

static void insert(struct rewrite *rewrite, enum graph_kind kind, uint32_t at,
                   const struct graph_node *of, const char *op, const uint32_t *inputs,
                   uint32_t input_count, const char *args, uint32_t output) {
  char name[160];
  struct graph_node node = {.kind = kind,
                            .origin = of->origin,
                            .source = of->source ? of->source : "",
                            .reason = "",
                            .stream = of->stream,
                            .inserted = kind == GRAPH_LAYER,
                            .input_count = input_count,
                            .output_count = 1};
  if (kind == GRAPH_VIEW && output != GRAPH_NONE) /* several passes put views behind one node */
    snprintf(name, sizeof name, "%.150s.view", rewrite_tensor(rewrite, output)->name);
  else
    snprintf(name, sizeof name, "%.120s.%s%u", of->name, op, rewrite->inserted_count);
  node.name = arena_strdup(&rewrite->graph->arena, name);
  node.op = arena_strdup(&rewrite->graph->arena, op);
  if (output == GRAPH_NONE || !node.name || !node.op || !grow_inserted(rewrite) ||
      !own_list(rewrite, inputs, input_count, &node.inputs) ||
      !own_list(rewrite, &output, 1, &node.outputs) || !own_args(rewrite, args, &node)) {
    rewrite->no_memory = true;
    return;
  }
  for (uint32_t i = 0; i < input_count; i++)
    if (inputs[i] != GRAPH_NONE)
      rewrite->reads[inputs[i]]++;
  rewrite->constant[output] = all_constant(rewrite, inputs, input_count);
  if (kind == GRAPH_KERNEL && rewrite->constant[output]) {
    node.offline = true;
    rewrite->graph->tensors[output].io = GRAPH_WEIGHT;
  }
  if (rewrite->history && kind != GRAPH_VIEW)
    record(rewrite, HISTORY_ADDED, &node, &(struct history_node){node.name, node.op, node.origin},
           of->name, node.op);
  rewrite->inserted[rewrite->inserted_count] = (struct inserted){at, rewrite->inserted_count, node};
  rewrite->inserted_count++;
}

void rewrite_insert_into(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                         const char *op, const uint32_t *inputs, uint32_t input_count,
                         const char *args, uint32_t output) {
  insert(rewrite, of->kind, at, of, op, inputs, input_count, args, output);
}

static void lie_in(struct rewrite *rewrite, uint32_t part, uint32_t whole, uint64_t skip) {
  if (part == GRAPH_NONE)
    return;
  rewrite->graph->tensors[part].memory = whole;
  rewrite->graph->tensors[part].skip = skip;
}

void rewrite_insert_view(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                         uint32_t whole, uint32_t part, uint64_t skip) {
  insert(rewrite, GRAPH_VIEW, at, of, "view", &whole, 1, "", part);
  lie_in(rewrite, part, whole, skip);
}

void rewrite_insert_join(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                         const uint32_t *parts, uint32_t part_count, uint32_t whole) {
  uint64_t skip = 0;
  insert(rewrite, GRAPH_VIEW, at, of, "view", parts, part_count, "", whole);
  for (uint32_t i = 0; i < part_count; i++) {
    lie_in(rewrite, parts[i], whole, skip);
    if (parts[i] != GRAPH_NONE)
      skip += graph_bytes(&rewrite->graph->tensors[parts[i]]);
  }
}

uint32_t rewrite_insert_copy(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                             const char *way, uint32_t from, uint32_t to, uint32_t stream,
                             uint32_t after) {
  insert(rewrite, GRAPH_COPY, at, of, way, &from, 1, "", to);
  if (rewrite->no_memory)
    return GRAPH_NONE;
  struct graph_node *node = &rewrite->inserted[rewrite->inserted_count - 1].node;
  node->stream = stream;
  node->after_count = after != GRAPH_NONE;
  rewrite->no_memory = !own_list(rewrite, &after, 1, &node->after);
  return rewrite->node_count + rewrite->inserted_count - 1;
}

void rewrite_add_after(struct rewrite *rewrite, uint32_t index, uint32_t after) {
  struct graph_node *node = &rewrite->graph->nodes[index];
  uint32_t *list = ARENA_ARRAY(&rewrite->graph->arena, uint32_t, node->after_count + 1);
  if (!list || after == GRAPH_NONE) {
    rewrite->no_memory = true;
    return;
  }
  if (node->after_count > 0)
    memcpy(list, node->after, node->after_count * sizeof *list);
  list[node->after_count] = after;
  node->after = list;
  node->after_count++;
}

uint32_t rewrite_insert(struct rewrite *rewrite, const struct graph_node *before, const char *op,
                        const uint32_t *inputs, uint32_t input_count, const char *args,
                        enum dtype dtype, const uint64_t *shape, unsigned rank) {
  char name[160];
  snprintf(name, sizeof name, "%.120s.%s%u", before->name, op, rewrite->inserted_count);
  uint32_t out = rewrite_new_tensor(rewrite, name, dtype, shape, rank);
  rewrite_insert_into(rewrite, rewrite_index(rewrite, before), before, op, inputs, input_count,
                      args, out);
  return rewrite->no_memory ? GRAPH_NONE : out;
}

/* The same node at another place: nothing that the record tells of. Constants depend on constants
 * alone, and nothing waits for their time. */
void rewrite_bring_forward(struct rewrite *rewrite, uint32_t tensor, uint32_t before) {
  uint32_t writer = tensor == GRAPH_NONE ? GRAPH_NONE : rewrite->writer[tensor];
  if (writer == GRAPH_NONE || writer < before || rewrite->gone[writer])
    return;
  const struct graph_node *node = &rewrite->graph->nodes[writer];
  for (uint32_t i = 0; i < node->input_count; i++)
    rewrite_bring_forward(rewrite, node->inputs[i], before);
  if (!grow_inserted(rewrite)) {
    rewrite->no_memory = true;
    return;
  }
  rewrite->inserted[rewrite->inserted_count] =
      (struct inserted){before, rewrite->inserted_count, *node};
  rewrite->inserted_count++;
  rewrite->gone[writer] = true;
  if (rewrite->recorded)
    rewrite->recorded[writer] = true;
}

/* ---- the new order ------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const struct inserted *one = a, *other = b;
  if (one->before != other->before)
    return one->before < other->before ? -1 : 1;
  return one->serial < other->serial ? -1 : 1;
}

static void put_inserted(const struct rewrite *rewrite, uint32_t index, struct graph_node *nodes,
                         uint32_t *number, uint32_t *used) {
  number[rewrite->node_count + rewrite->inserted[index].serial] = *used;
  nodes[(*used)++] = rewrite->inserted[index].node;
}

static bool order_nodes(struct rewrite *rewrite) {
  struct graph *graph = rewrite->graph;
  uint32_t room = rewrite->node_count + rewrite->inserted_count, used = 0, next = 0;
  struct graph_node *nodes = ARENA_ARRAY(&graph->arena, struct graph_node, room + 1);
  uint32_t *number = calloc((size_t)room + 1, sizeof *number);
  if (!nodes || !number) {
    free(number);
    return false;
  }
  if (rewrite->inserted_count > 0)
    qsort(rewrite->inserted, rewrite->inserted_count, sizeof *rewrite->inserted, by_place);
  for (uint32_t i = 0; i < rewrite->node_count; i++) {
    for (; next < rewrite->inserted_count && rewrite->inserted[next].before == i; next++)
      put_inserted(rewrite, next, nodes, number, &used);
    number[i] = rewrite->gone[i] ? GRAPH_NONE : used;
    if (!rewrite->gone[i])
      nodes[used++] = graph->nodes[i];
  }
  for (; next < rewrite->inserted_count; next++)
    put_inserted(rewrite, next, nodes, number, &used);
  for (uint32_t i = 0; i < used; i++) {
    uint32_t *after = (uint32_t *)(uintptr_t)nodes[i].after, kept = 0; /* the arena's */
    for (uint32_t j = 0; j < nodes[i].after_count; j++)
      if (number[after[j]] != GRAPH_NONE)
        after[kept++] = number[after[j]];
    nodes[i].after_count = kept;
  }
  graph->nodes = nodes;
  graph->node_count = used;
  graph->node_room = room + 1;
  free(number);
  return true;
}

bool rewrite_finish(struct rewrite *rewrite) {
  if (!rewrite->no_memory)
    record_dropped(rewrite);
  bool good = !rewrite->no_memory && order_nodes(rewrite);
  free(rewrite->writer);
  free(rewrite->reader);
  free(rewrite->reads);
  free(rewrite->constant);
  free(rewrite->gone);
  free(rewrite->inserted);
  free(rewrite->before);
  free(rewrite->recorded);
  return good;
}
