/* SPDX-License-Identifier: Apache-2.0 */
/* From layers to kernels: the rows, and the walk over a network. */
#include "networks/layers/layers.h"

#include <stdio.h>
#include <stdlib.h>

#include "networks/layers/build.h"

static const struct layer_row rows[] = {
#define OPERATOR(name, read, kernel) {#name, kernel},
#define KERNEL(lower, op, flags) layer_##lower, op, flags
#define NO_KERNEL NULL, "", 0
#include "networks/graph/operators.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const struct layer_row *find_row(const char *op) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (strcmp(rows[i].op, op) == 0)
      return rows[i].lower ? &rows[i] : NULL;
  return NULL;
}

/* ---- which layouts a layer can compute in --------------------------------------------------- */

enum { ND = 1 << LAYOUT_ND, BLOCKS = 1 << LAYOUT_5HD };

static const struct graph_tensor *tensor_of(const struct graph *graph, const uint32_t *list,
                                            uint32_t count, uint32_t index) {
  return index < count && list[index] != GRAPH_NONE ? &graph->tensors[list[index]] : NULL;
}

static const struct graph_tensor *input_of(const struct graph *graph, const struct graph_node *node,
                                           uint32_t index) {
  return tensor_of(graph, node->inputs, node->input_count, index);
}

static const struct graph_tensor *output_of(const struct graph *graph,
                                            const struct graph_node *node, uint32_t index) {
  return tensor_of(graph, node->outputs, node->output_count, index);
}

static bool whole_blocks(const struct graph_tensor *tensor, unsigned rank) {
  struct image image;
  return build_image(tensor, rank, &image) && image.c % build_c0(tensor->dtype) == 0;
}

/* Each input has the extents of the result, or one number for each channel, or one number. */
static bool same_or_channels(const struct graph *graph, const struct graph_node *node) {
  const struct graph_tensor *y = output_of(graph, node, 0);
  struct image all, own;
  if (!y || !build_image(y, y->rank, &all))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const struct graph_tensor *x = input_of(graph, node, i);
    if (!x || (graph_elements(x) == 1 && i > 0))
      continue;
    if (build_c0(x->dtype) != build_c0(y->dtype) || !build_image(x, y->rank, &own))
      return false;
    bool same = own.n == all.n && own.c == all.c && own.h == all.h && own.w == all.w;
    bool channels = own.c == all.c && own.h * own.w == 1 && (own.n == all.n || own.n == 1);
    if (!same && !channels)
      return false;
  }
  return true;
}

static bool spatial_axes(const struct graph_node *node, unsigned rank) {
  int64_t axes[3];
  return rank == 4 && graph_arg_ints(node, "axes", axes, 3) == 2 && axes[0] == 2 && axes[1] == 3 &&
         graph_arg_int(node, "keepdims", 1) != 0;
}

/* Parts and joins: along channels only by whole blocks. */
static bool whole_parts(const struct graph *graph, const struct graph_node *node) {
  const struct graph_tensor *x = input_of(graph, node, 0);
  int64_t numbers[2 * GRAPH_RANK_MAX] = {0};
  if (!x || (x->rank != 3 && x->rank != 4))
    return false;
  if (strcmp(node->op, "Slice") == 0) {
    int64_t steps[GRAPH_RANK_MAX];
    unsigned count = graph_arg_ints(node, "steps", steps, GRAPH_RANK_MAX);
    for (unsigned i = 0; i < count && i < GRAPH_RANK_MAX; i++)
      if (steps[i] != 1)
        return false;
    (void)graph_arg_ints(node, "starts", numbers, GRAPH_RANK_MAX);
  }
  if (strcmp(node->op, "Pad") == 0) {
    (void)graph_arg_ints(node, "pads", numbers, 2 * GRAPH_RANK_MAX);
    return numbers[1] == 0 && numbers[x->rank + 1] == 0 && graph_arg_number(node, "value", 0) == 0;
  }
  bool along = graph_arg_int(node, "axis", strcmp(node->op, "Slice") == 0 ? 1 : 0) == 1;
  if (!along)
    return true;
  if (numbers[1] % (int64_t)build_c0(x->dtype) != 0)
    return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (input_of(graph, node, i) && !whole_blocks(input_of(graph, node, i), x->rank))
      return false;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (output_of(graph, node, i) && !whole_blocks(output_of(graph, node, i), x->rank))
      return false;
  return true;
}

static bool can_block_channels(const struct graph *graph, const struct graph_node *node) {
  const struct graph_tensor *x = input_of(graph, node, 0);
  if (!x)
    return false;
  if (strncmp(node->op, "Global", 6) == 0 || strcmp(node->op, "Resize") == 0)
    return x->rank == 4;
  if (strncmp(node->op, "Reduce", 6) == 0)
    return spatial_axes(node, x->rank);
  if (strcmp(node->op, "BatchNormalization") == 0)
    return (x->rank == 3 || x->rank == 4) && whole_blocks(x, x->rank);
  return whole_parts(graph, node);
}

unsigned layer_layouts(const struct graph *graph, const struct graph_node *node) {
  const struct layer_row *row = node->kind == GRAPH_LAYER ? find_row(node->op) : NULL;
  const struct graph_tensor *y = output_of(graph, node, 0);
  if (!row || !y || !y->shaped)
    return ND;
  if (row->flags & LAYER_BLOCKS)
    return BLOCKS;
  if (row->flags & LAYER_CHANNELS)
    return can_block_channels(graph, node) ? ND | BLOCKS : ND;
  if (!(row->flags & LAYER_ANYWHERE) || !same_or_channels(graph, node))
    return ND;
  return (row->flags & LAYER_POLES) && !whole_blocks(y, y->rank) ? ND : ND | BLOCKS;
}

enum layout layer_default_layout(const struct graph *graph, const struct graph_node *node) {
  return layer_layouts(graph, node) & ND ? LAYOUT_ND : LAYOUT_5HD;
}

/* ---- the walk ------------------------------------------------------------------------------ */

/* Tensors that exist without a layer. */
static bool add_given(struct build *build) {
  const struct graph *from = build->from;
  for (uint32_t i = 0; i < from->tensor_count; i++) {
    const struct graph_tensor *own = &from->tensors[i];
    build->versions[i][LAYOUT_ND] = build->versions[i][LAYOUT_5HD] = GRAPH_NONE;
    if (own->io != GRAPH_IN && own->io != GRAPH_WEIGHT && !own->data)
      continue;
    uint32_t index = build_given(build, own);
    if (index == GRAPH_NONE)
      return false;
    build->versions[i][LAYOUT_ND] = index;
  }
  return true;
}

/* A node that is no layer stays, on the tensors of the result. */
static void keep_node(struct build *build, const struct graph_node *node) {
  uint32_t lists[2][BUILD_INPUTS_MAX];
  const uint32_t *from[] = {node->inputs, node->outputs};
  uint32_t counts[] = {node->input_count, node->output_count};
  for (unsigned side = 0; side < 2; side++)
    for (uint32_t i = 0; i < counts[side] && i < BUILD_INPUTS_MAX; i++) {
      if (from[side][i] == GRAPH_NONE)
        lists[side][i] = GRAPH_NONE;
      else
        lists[side][i] =
            side == 0 ? build_input(build, i, LAYOUT_ND) : build_output(build, i, LAYOUT_ND);
    }
  struct graph_node copy = *node;
  copy.inputs = lists[0];
  copy.outputs = lists[1];
  copy.after_count = 0;
  if (!build->no_memory && !build->refused && graph_add_node(build->to, &copy) == GRAPH_NONE)
    build->no_memory = true;
}

/* What stays a layer, with its reason; results have their shapes, so that the rest can go on. */
static void keep_refused(struct build *build, const char *reason) {
  uint32_t inputs[BUILD_INPUTS_MAX], outputs[BUILD_INPUTS_MAX];
  struct graph_node copy = *build->layer;
  char text[BUILD_REASON_BYTES];
  snprintf(text, sizeof text, "%s", reason);
  build->refused = false;
  copy.input_count = copy.output_count = 0;
  for (uint32_t i = 0; i < build->layer->input_count && i < BUILD_INPUTS_MAX; i++) {
    if (!build_tensor(build, i))
      continue;
    const uint32_t *versions = build->versions[build->layer->inputs[i]];
    uint32_t one = versions[versions[LAYOUT_ND] != GRAPH_NONE ? LAYOUT_ND : LAYOUT_5HD];
    if (one != GRAPH_NONE)
      inputs[copy.input_count++] = one;
  }
  for (uint32_t i = 0; i < build->layer->output_count && i < BUILD_INPUTS_MAX; i++)
    if (build_result(build, i) && build_result(build, i)->shaped)
      outputs[copy.output_count++] = build_output(build, i, LAYOUT_ND);
  copy.inputs = inputs;
  copy.outputs = outputs;
  copy.reason = text;
  copy.after_count = 0;
  if (!build->no_memory && graph_add_node(build->to, &copy) == GRAPH_NONE)
    build->no_memory = true;
  build->refused = false;
}

/* Tensors of kernels that are taken back stand for nothing. */
static void forget_versions(struct build *build, const uint32_t *list, uint32_t count,
                            uint32_t first) {
  for (uint32_t i = 0; i < count; i++)
    for (unsigned layout = 0; list[i] != GRAPH_NONE && layout < LAYOUT_COUNT; layout++)
      if (build->versions[list[i]][layout] >= first)
        build->versions[list[i]][layout] = GRAPH_NONE;
}

static bool shapes_known(struct build *build) {
  for (uint32_t i = 0; i < build->layer->input_count; i++)
    if (build_tensor(build, i) && !build_tensor(build, i)->shaped)
      return build_refuse(build, "the shape of \"%s\" is not known", build_tensor(build, i)->name);
  for (uint32_t i = 0; i < build->layer->output_count; i++)
    if (build_result(build, i) && !build_result(build, i)->shaped)
      return build_refuse(build,
                          "the shape of \"%s\" is not known; --dim gives extents that have names",
                          build_result(build, i)->name);
  return true;
}

/* An operator without a row. A reader of models says in arguments where such a one comes from. */
static bool refuse_unknown(struct build *build) {
  const char *domain = graph_arg(build->layer, "domain"), *opset = graph_arg(build->layer, "opset");
  if (domain && graph_arg(build->layer, "lacks"))
    return build_refuse(build, "%.160s", graph_arg(build->layer, "lacks"));
  if (domain)
    return build_refuse(build,
                        "an operator of domain \"%.80s\"; known are those of ONNX itself, and "
                        "functions whose nodes are in the model",
                        domain);
  if (opset)
    return build_refuse(build,
                        "no kernel of this type is known; operator set %.20s is newer than "
                        "those that are read (GRAPH.md)",
                        opset);
  return build_refuse(build, "no kernel of this type is known");
}

/* Results of the network that no kernel of the layer gives, such as the mean of a norm. */
static bool gives_results(struct build *build) {
  for (uint32_t i = 0; i < build->layer->output_count; i++) {
    const struct graph_tensor *y = build_result(build, i);
    const uint32_t *versions = y ? build->versions[build->layer->outputs[i]] : NULL;
    if (y && y->io == GRAPH_OUT && versions[LAYOUT_ND] == GRAPH_NONE &&
        versions[LAYOUT_5HD] == GRAPH_NONE)
      return build_refuse(build, "no kernel gives result %u, \"%s\"", i, y->name);
  }
  return true;
}

static bool is_empty(const struct build *build) {
  const struct graph_tensor *y = build_result(build, 0);
  return y && graph_elements(y) == 0;
}

static void lower_layer(struct build *build, enum layout layout, struct layers_counts *counts) {
  const struct graph_node *node = build->layer;
  uint32_t before = build->to->node_count, first = build->to->tensor_count;
  build->row = find_row(node->op);
  build->layout = layout;
  counts->layers++;
  counts->inserted += node->inserted;
  bool good = build->row ? shapes_known(build) : refuse_unknown(build);
  if (good && is_empty(build))
    good = build_refuse(build, "a result without elements");
  if (good)
    good = build->row->lower(build);
  if (good)
    good = gives_results(build);
  if (build->no_memory)
    return;
  if (!good || build->refused) {
    build->to->node_count = before;
    forget_versions(build, node->inputs, node->input_count, first);
    forget_versions(build, node->outputs, node->output_count, first);
    keep_refused(build, build->reason);
    counts->refused++;
    return;
  }
  bool kernels = false;
  for (uint32_t i = before; i < build->to->node_count; i++)
    kernels = kernels || build->to->nodes[i].kind == GRAPH_KERNEL;
  counts->lowered += kernels;
  counts->views += !kernels;
}

/* The name of a result of the network, taken from an intermediate tensor that has the name. */
static void take_name(struct build *build, uint32_t tensor, const char *name) {
  struct graph *to = build->to;
  uint32_t other = graph_find_tensor(to, name);
  if (other == tensor)
    return;
  if (other != GRAPH_NONE) {
    char base[128];
    snprintf(base, sizeof base, "%.100s.part", name);
    const char *free_name = graph_new_name(to, base);
    build->no_memory = build->no_memory || !free_name || !graph_rename_tensor(to, other, free_name);
  }
  build->no_memory = build->no_memory || !graph_rename_tensor(to, tensor, name);
}

/* A result that is an input, a weight or another result too: a copy has memory of its own. */
static uint32_t copy_result(struct build *build, uint32_t tensor, const struct graph_tensor *own) {
  uint32_t copy = graph_add_tensor(build->to, graph_new_name(build->to, own->name));
  if (copy == GRAPH_NONE) {
    build->no_memory = true;
    return GRAPH_NONE;
  }
  build->to->tensors[copy].dtype = own->dtype;
  graph_set_shape(&build->to->tensors[copy], own->shape, own->rank);
  char name[128];
  snprintf(name, sizeof name, "%.100s.copy", own->name);
  struct graph_node node = {.name = name,
                            .kind = GRAPH_COPY,
                            .op = "d2d",
                            .inputs = &tensor,
                            .outputs = &copy,
                            .input_count = 1,
                            .output_count = 1};
  build->no_memory = graph_add_node(build->to, &node) == GRAPH_NONE;
  return copy;
}

/* The network's results as the network orders and names them; what computing offline gives are
 * weights. */
static void finish(struct build *build, struct layers_counts *counts) {
  static const struct graph_node last = {.name = "results", .op = ""};
  const struct graph *from = build->from;
  struct graph *to = build->to;
  for (uint32_t i = 0; i < from->tensor_count && !build->no_memory; i++) {
    if (from->tensors[i].io != GRAPH_OUT)
      continue;
    struct graph_node node = last;
    node.inputs = &i;
    node.input_count = 1;
    build->layer = &node;
    build->refused = false;
    uint32_t out = build_input(build, 0, LAYOUT_ND);
    if (out != GRAPH_NONE && to->tensors[graph_memory(to, out)].io != GRAPH_LOCAL)
      out = copy_result(build, out, &from->tensors[i]);
    if (out == GRAPH_NONE)
      continue;
    take_name(build, out, from->tensors[i].name);
    to->tensors[out].io = GRAPH_OUT;
  }
  for (uint32_t i = 0; i < to->node_count; i++)
    for (uint32_t j = 0; to->nodes[i].offline && j < to->nodes[i].output_count; j++) {
      struct graph_tensor *tensor = &to->tensors[to->nodes[i].outputs[j]];
      if (tensor->memory == GRAPH_NONE && tensor->io == GRAPH_LOCAL)
        tensor->io = GRAPH_WEIGHT;
    }
  layers_count_kernels(to, counts);
}

void layers_count_kernels(const struct graph *graph, struct layers_counts *counts) {
  counts->kernels = counts->offline = counts->transdata = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    counts->kernels += node->kind == GRAPH_KERNEL && !node->offline;
    counts->offline += node->kind != GRAPH_VIEW && node->offline;
    counts->transdata +=
        node->kind == GRAPH_KERNEL && !node->offline && strcmp(node->op, "transdata") == 0;
  }
}

enum vinci_status layers_lower(const struct graph *from, const struct vinci_soc *soc,
                               const enum layout *layouts, struct graph *out,
                               struct layers_counts *counts, struct vinci_diag *diag) {
  struct build build = {.from = from, .to = out, .soc = soc};
  *out = (struct graph){0};
  *counts = (struct layers_counts){0};
  out->name = arena_strdup(&out->arena, from->name ? from->name : "");
  build.versions = calloc((size_t)from->tensor_count + 1, sizeof *build.versions);
  if (!build.versions || !out->name || !add_given(&build))
    build.no_memory = true;
  for (uint32_t i = 0; i < from->node_count && !build.no_memory; i++) {
    build.layer = &from->nodes[i];
    build.refused = false;
    build.reason[0] = '\0';
    if (build.layer->kind == GRAPH_LAYER && !build.layer->offline)
      lower_layer(&build, layouts ? layouts[i] : layer_default_layout(from, build.layer), counts);
    else
      keep_node(&build, build.layer);
  }
  if (!build.no_memory)
    finish(&build, counts);
  free(build.versions);
  free(build.offline);
  return build.no_memory ? diag_error(diag, VINCI_E_NOMEM, "out of memory for the network")
                         : VINCI_OK;
}
