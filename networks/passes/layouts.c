/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layers compute in NC1HWC0. A layer has one of two layouts; a tensor that layers of both use
 * costs a conversion. The cheapest choice is a minimum cut: layers are vertices, those that have no
 * choice are tied to the source (as the network orders dimensions) or to the sink (blocks), and a
 * tensor is an edge of its cost between two vertices, through which its writer and all its readers
 * go. The cut is found with Dinic's algorithm, so that the choice is exact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/layers/build.h"
#include "networks/passes/pass.h"

#define ENDLESS (UINT64_MAX / 4)

struct edge {
  uint32_t to, next; /* the next edge of the same vertex */
  uint64_t room;
};

struct cut {
  uint32_t *first; /* by vertex: its first edge, or GRAPH_NONE */
  uint32_t *level, *at;
  uint32_t *queue;
  uint32_t vertices;
  struct edge *edges; /* in pairs: there and back */
  uint32_t edge_count, edge_room;
  bool no_memory;
};

enum { SOURCE, SINK, FIRST_LAYER }; /* source: ND, sink: blocks */

static void put_edge(struct cut *cut, uint32_t from, uint32_t to, uint64_t room) {
  struct edge *edge = &cut->edges[cut->edge_count];
  *edge = (struct edge){to, cut->first[from], room};
  cut->first[from] = cut->edge_count++;
}

static void connect(struct cut *cut, uint32_t from, uint32_t to, uint64_t room) {
  if (cut->edge_count + 2 > cut->edge_room) {
    uint32_t larger = cut->edge_room ? 2 * cut->edge_room : 1024;
    struct edge *more = realloc(cut->edges, larger * sizeof *more);
    if (!more) {
      cut->no_memory = true;
      return;
    }
    cut->edges = more;
    cut->edge_room = larger;
  }
  put_edge(cut, from, to, room);
  put_edge(cut, to, from, 0);
}

/* Distances from the source over edges with room; whether the sink is reached. */
static bool levels(struct cut *cut) {
  uint32_t head = 0, tail = 0;
  memset(cut->level, 0xff, cut->vertices * sizeof *cut->level);
  cut->level[SOURCE] = 0;
  cut->queue[tail++] = SOURCE;
  while (head < tail) {
    uint32_t vertex = cut->queue[head++];
    for (uint32_t e = cut->first[vertex]; e != GRAPH_NONE; e = cut->edges[e].next)
      if (cut->edges[e].room > 0 && cut->level[cut->edges[e].to] == UINT32_MAX) {
        cut->level[cut->edges[e].to] = cut->level[vertex] + 1;
        cut->queue[tail++] = cut->edges[e].to;
      }
  }
  return cut->level[SINK] != UINT32_MAX;
}

/* A path of rising levels that still has room: `queue` holds its edges. 0: there is none. */
static uint64_t push_path(struct cut *cut) {
  uint32_t depth = 0, vertex = SOURCE;
  while (vertex != SINK) {
    uint32_t e = cut->at[vertex];
    while (e != GRAPH_NONE &&
           (cut->edges[e].room == 0 || cut->level[cut->edges[e].to] != cut->level[vertex] + 1))
      e = cut->edges[e].next;
    cut->at[vertex] = e;
    if (e != GRAPH_NONE) {
      cut->queue[depth++] = e;
      vertex = cut->edges[e].to;
    } else if (depth > 0) { /* a dead end: back, and past this edge */
      e = cut->queue[--depth];
      vertex = cut->edges[e ^ 1].to;
      cut->at[vertex] = cut->edges[e].next;
    } else {
      return 0;
    }
  }
  uint64_t flow = UINT64_MAX;
  for (uint32_t i = 0; i < depth; i++)
    flow = min_u64(flow, cut->edges[cut->queue[i]].room);
  for (uint32_t i = 0; i < depth; i++) {
    cut->edges[cut->queue[i]].room -= flow;
    cut->edges[cut->queue[i] ^ 1].room += flow;
  }
  return flow;
}

static void find_cut(struct cut *cut) {
  while (levels(cut)) {
    memcpy(cut->at, cut->first, cut->vertices * sizeof *cut->at);
    while (push_path(cut) > 0)
      ;
  }
}

/* ---- costs --------------------------------------------------------------------------------- */

struct choosing {
  const struct graph *graph;
  struct estimates *estimates;
  struct vinci_diag *diag;
  struct cut cut;
  uint32_t *tensor_vertex; /* by tensor: the first of its two vertices; 0: none yet */
  uint32_t next_vertex;
  enum vinci_status status;
};

/* Of bytes: to 16 bits, turned, and back (build_to_blocks()). */
static uint64_t byte_conversion_ps(struct choosing *choosing, const struct image *image,
                                   enum dtype dtype) {
  uint64_t c0 = build_c0(dtype), c1 = ceil_div(image->c, c0), points = image->h * image->w, sum = 0;
  char turned[224], all[48];
  snprintf(turned, sizeof turned, "shape=%s",
           shape_text((uint64_t[]){image->n, c1, c0, points}, 4).text);
  snprintf(all, sizeof all, "shape=%llu", (unsigned long long)(image->n * c1 * c0 * points));
  const char *const args[][3] = {{all, "dtype=int8", "to=fp16"},
                                 {turned, "perm=1x2x4x3", "dtype=fp16"},
                                 {all, "dtype=fp16", "to=int8"}};
  for (unsigned i = 0; i < sizeof args / sizeof *args && choosing->status == VINCI_OK; i++) {
    struct kernel_estimate kernel = {0};
    choosing->status = estimate_kernel(choosing->estimates, i == 1 ? "transpose" : "cast", args[i],
                                       3, &kernel, choosing->diag);
    sum += kernel.ps + (uint64_t)choosing->estimates->soc->launch_gap_ps;
  }
  return sum;
}

/* What a conversion of a tensor takes: the mean of both ways. */
static uint64_t conversion_ps(struct choosing *choosing, const struct graph_tensor *tensor) {
  static const char *const ways[] = {"nchw_to_nc1hwc0", "nc1hwc0_to_nchw"};
  struct image image;
  uint64_t sum = 0;
  if (!build_image(tensor, tensor->rank, &image) || build_same_bytes(&image, tensor->dtype))
    return 0;
  if (dtype_bits(tensor->dtype) == 8)
    return byte_conversion_ps(choosing, &image, tensor->dtype);
  uint64_t extents[4] = {image.n, image.c, image.h, image.w};
  for (unsigned i = 0; i < 2; i++) {
    char shape[224], way[48], dtype[32];
    struct kernel_estimate kernel = {0};
    snprintf(shape, sizeof shape, "shape=%s", shape_text(extents, 4).text);
    snprintf(way, sizeof way, "way=%s", ways[i]);
    snprintf(dtype, sizeof dtype, "dtype=%s", dtype_name(tensor->dtype));
    const char *args[] = {shape, way, dtype};
    if (choosing->status == VINCI_OK)
      choosing->status =
          estimate_kernel(choosing->estimates, "transdata", args, 3, &kernel, choosing->diag);
    sum += kernel.ps;
  }
  return sum / 2 + (uint64_t)choosing->estimates->soc->launch_gap_ps;
}

/* A vertex that writes or reads a tensor. */
static void use(struct choosing *choosing, uint32_t vertex, uint32_t tensor) {
  struct cut *cut = &choosing->cut;
  const struct graph_tensor *own = tensor == GRAPH_NONE ? NULL : &choosing->graph->tensors[tensor];
  if (!own || own->io == GRAPH_WEIGHT || own->data || (own->rank != 3 && own->rank != 4))
    return;
  if (choosing->tensor_vertex[tensor] == 0) {
    choosing->tensor_vertex[tensor] = choosing->next_vertex;
    choosing->next_vertex += 2;
    connect(cut, choosing->tensor_vertex[tensor], choosing->tensor_vertex[tensor] + 1,
            conversion_ps(choosing, own));
  }
  connect(cut, vertex, choosing->tensor_vertex[tensor], ENDLESS);
  connect(cut, choosing->tensor_vertex[tensor] + 1, vertex, ENDLESS);
}

/* Blocks hold more elements than there are: half of what that share of a conversion would take. */
static uint64_t padding_ps(struct choosing *choosing, const struct graph_tensor *tensor) {
  struct image image;
  uint64_t shape[5];
  if (!build_image(tensor, tensor->rank, &image))
    return 0;
  build_block_shape(&image, tensor->dtype, shape);
  uint64_t stored = shape[0] * shape[1] * shape[2] * shape[3] * shape[4],
           own = graph_elements(tensor);
  return stored > own ? conversion_ps(choosing, tensor) * (stored - own) / stored / 2 : 0;
}

/* What a layer of another size takes: single elements are gathered, blocks copied. */
static uint64_t resize_ps(struct choosing *choosing, const struct graph_node *node, bool blocks) {
  const struct graph_tensor *x = &choosing->graph->tensors[node->inputs[0]];
  const struct graph_tensor *y = &choosing->graph->tensors[node->outputs[0]];
  const char *mode = graph_arg(node, "mode");
  struct image from, to;
  if (!build_image(x, x->rank, &from) || !build_image(y, y->rank, &to))
    return 0;
  uint64_t extents[5] = {from.n, from.c, from.h, from.w};
  if (blocks)
    build_block_shape(&from, x->dtype, extents);
  char shape[224], size[64], way[32], dtype[32];
  snprintf(shape, sizeof shape, "shape=%s", shape_text(extents, blocks ? 5 : 4).text);
  snprintf(size, sizeof size, "size=%llux%llu", (unsigned long long)to.h, (unsigned long long)to.w);
  snprintf(way, sizeof way, "mode=%s",
           mode && strcmp(mode, "linear") == 0 ? "bilinear" : "nearest");
  snprintf(dtype, sizeof dtype, "dtype=%s", dtype_name(x->dtype));
  const char *args[] = {shape, size, way, dtype, blocks ? "format=nc1hwc0" : "format=nchw"};
  struct kernel_estimate kernel = {0};
  if (choosing->status == VINCI_OK)
    choosing->status = estimate_kernel(choosing->estimates, "resize", args,
                                       sizeof args / sizeof *args, &kernel, choosing->diag);
  return kernel.possible ? kernel.ps : ENDLESS;
}

static void put_node(struct choosing *choosing, uint32_t index) {
  const struct graph_node *node = &choosing->graph->nodes[index];
  struct cut *cut = &choosing->cut;
  uint32_t vertex = FIRST_LAYER + index;
  unsigned layouts = layer_layouts(choosing->graph, node);
  if (!(layouts & 1 << LAYOUT_5HD))
    connect(cut, SOURCE, vertex, ENDLESS);
  else if (!(layouts & 1 << LAYOUT_ND))
    connect(cut, vertex, SINK, ENDLESS);
  else if (strcmp(node->op, "Resize") == 0) {
    connect(cut, SOURCE, vertex, resize_ps(choosing, node, true));
    connect(cut, vertex, SINK, resize_ps(choosing, node, false));
  } else if (node->output_count > 0)
    connect(cut, SOURCE, vertex, padding_ps(choosing, &choosing->graph->tensors[node->outputs[0]]));
  for (uint32_t i = 0; i < node->input_count; i++)
    use(choosing, vertex, node->inputs[i]);
  for (uint32_t i = 0; i < node->output_count; i++)
    use(choosing, vertex, node->outputs[i]);
}

static bool start(struct choosing *choosing) {
  struct cut *cut = &choosing->cut;
  const struct graph *graph = choosing->graph;
  cut->vertices = FIRST_LAYER + graph->node_count + 2 * graph->tensor_count;
  choosing->next_vertex = FIRST_LAYER + graph->node_count;
  choosing->tensor_vertex = calloc((size_t)graph->tensor_count + 1, sizeof(uint32_t));
  cut->first = malloc(cut->vertices * sizeof(uint32_t));
  cut->level = malloc(cut->vertices * sizeof(uint32_t));
  cut->at = malloc(cut->vertices * sizeof(uint32_t));
  cut->queue = malloc(cut->vertices * sizeof(uint32_t));
  if (!choosing->tensor_vertex || !cut->first || !cut->level || !cut->at || !cut->queue)
    return false;
  memset(cut->first, 0xff, cut->vertices * sizeof(uint32_t));
  return true;
}

static void put_all(struct choosing *choosing) {
  const struct graph *graph = choosing->graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].kind == GRAPH_LAYER)
      put_node(choosing, i);
  for (uint32_t i = 0; i < graph->tensor_count; i++) /* the ends are as the network has them */
    if (choosing->tensor_vertex[i] &&
        (graph->tensors[i].io == GRAPH_IN || graph->tensors[i].io == GRAPH_OUT))
      use(choosing, SOURCE, i);
}

enum vinci_status choose_layouts(const struct graph *graph, struct estimates *estimates,
                                 enum layout *layouts, size_t *changed, struct vinci_diag *diag) {
  struct choosing choosing = {.graph = graph, .estimates = estimates, .diag = diag};
  struct cut *cut = &choosing.cut;
  *changed = 0;
  if (start(&choosing))
    put_all(&choosing);
  else
    cut->no_memory = true;
  if (!cut->no_memory && choosing.status == VINCI_OK) {
    find_cut(cut);
    (void)levels(cut); /* what the source still reaches is on its side */
    for (uint32_t i = 0; i < graph->node_count; i++) {
      layouts[i] = layer_default_layout(graph, &graph->nodes[i]);
      if (layer_layouts(graph, &graph->nodes[i]) != (1u << LAYOUT_ND | 1u << LAYOUT_5HD))
        continue;
      bool nd = cut->level[FIRST_LAYER + i] != UINT32_MAX;
      layouts[i] = nd ? LAYOUT_ND : LAYOUT_5HD;
      *changed += !nd;
    }
  }
  bool no_memory = cut->no_memory;
  free(choosing.tensor_vertex);
  free(cut->first);
  free(cut->level);
  free(cut->at);
  free(cut->queue);
  free(cut->edges);
  return no_memory ? diag_error(diag, VINCI_E_NOMEM, "out of memory for the choice of layouts")
                   : choosing.status;
}
