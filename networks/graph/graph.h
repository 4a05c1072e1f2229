/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network as data: tensors, and nodes in the order in which they are launched. No reader, no
 * operator and no time is known here. Nodes are of these kinds:
 *
 *   layer   what a framework asks for ("Conv", "Softmax"), not yet an operator of the chip
 *   kernel  an operator of `vinci compile` with its arguments
 *   view    gives a tensor another shape; moves nothing
 *   copy    between host and device, or within the device
 *   task    anything with a duration that is given: AI CPU, unknown kernels
 *
 * Indices stay valid while the graph grows; pointers to tensors and nodes do not. All texts belong
 * to the arena of the graph.
 */
#ifndef VINCI_NETWORKS_GRAPH_GRAPH_H
#define VINCI_NETWORKS_GRAPH_GRAPH_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/lookup.h"
#include "core/chip/arch.h"

enum { GRAPH_RANK_MAX = 8, GRAPH_ARGS_MAX = 24, GRAPH_FORMAT_BYTES = 24 };
/* Tensors lie at multiples of this, at which transfers of all chips are fastest. */
enum { GRAPH_ALIGNMENT_BYTES = 512 };
enum { GRAPH_NODES_MAX = 1 << 20, GRAPH_TENSORS_MAX = 1 << 22, GRAPH_LIST_MAX = 4096 };
#define GRAPH_NONE UINT32_MAX

/* Id, word in the text form. */
#define GRAPH_IO_LIST(X)                                                                           \
  X(LOCAL, "local")   /* written and read by nodes */                                              \
  X(IN, "in")         /* there before the first node */                                            \
  X(OUT, "out")       /* wanted after the last node */                                             \
  X(WEIGHT, "weight") /* there before the first node, the same at each run */                      \
  X(HOST, "host")     /* in memory of the host: copies alone read and write this */
enum graph_io {
#define X(id, name) GRAPH_##id,
  GRAPH_IO_LIST(X)
#undef X
      GRAPH_IO_COUNT
};

#define GRAPH_KIND_LIST(X)                                                                         \
  X(LAYER, "layer")                                                                                \
  X(KERNEL, "kernel")                                                                              \
  X(VIEW, "view")                                                                                  \
  X(COPY, "copy")                                                                                  \
  X(TASK, "task")
enum graph_kind {
#define X(id, name) GRAPH_##id,
  GRAPH_KIND_LIST(X)
#undef X
      GRAPH_KIND_COUNT
};

struct graph_tensor {
  const char *name; /* unique */
  enum dtype dtype;
  enum graph_io io;
  bool shaped; /* the shape is known; a scalar is of rank 0 */
  unsigned rank;
  uint64_t shape[GRAPH_RANK_MAX];  /* as stored: of NC1HWC0 five extents */
  char format[GRAPH_FORMAT_BYTES]; /* "ND", "NC1HWC0", "FRACTAL_Z", "NZ" */
  /* The tensor whose memory this one uses, as a view or in place; GRAPH_NONE: its own. */
  uint32_t memory;
  uint64_t skip; /* bytes of that memory before this tensor's; a multiple of 512 */
  bool placed;   /* a planner outside gave the offset */
  uint64_t offset;
  /* The values, graph_bytes() long, in order of the shape, of tensors that are constant; NULL:
   * not known. Types of less than a byte have one byte for each element. */
  const void *data;
};

struct graph_node {
  const char *name; /* unique */
  enum graph_kind kind;
  const char *op;    /* of layers and kernels; of copies "h2d", "d2h" or "d2d"; of tasks the unit */
  const char **args; /* "m=4"; of layers its attributes: "strides=2x2", "axis=-1", "mode=linear" */
  uint32_t arg_count;
  const uint32_t *inputs, *outputs; /* tensors; an input may be GRAPH_NONE: left out */
  uint32_t input_count, output_count;
  const uint32_t *after; /* nodes that have to end before, beside those that write its inputs */
  uint32_t after_count;
  uint32_t stream;
  const char *origin;   /* the node of the network that it comes from; "" */
  const char *source;   /* of kernels: the origin of that node; "" also when read from text */
  uint64_t duration_ps; /* of tasks; of kernels what was measured, 0: nothing */
  uint64_t host_ps;     /* that the host takes before its launch; 0: as the run's host has */
  uint64_t tiling_ps;   /* and beside that, as the shapes are known only then; of any host */
  bool offline;         /* computed once, when the network is loaded: reads weights alone */
  bool inserted;        /* of layers: a pass has put the layer in, the network has none */
  const char *reason;   /* of a layer that could not become kernels; "" */
};

struct graph {
  struct arena arena;
  const char *name;
  struct graph_tensor *tensors;
  struct graph_node *nodes;
  uint32_t tensor_count, tensor_room, node_count, node_room;
  struct lookup names;     /* of tensors */
  struct graph_kept *kept; /* memory outside the arena in which data of tensors lie */
  /* Of kernels: layers of the network that they come from, and layers that passes put in; 0, 0: not
   * known. */
  size_t model_layers, inserted_layers;
  const char *note; /* what whoever reads the file should be told; NULL: nothing */
};

/* ---- making one (graph.c) ---- */

/* An all-zero graph is empty. */
void graph_free(struct graph *graph);
/* Gives memory in which data of tensors lie to the graph: graph_free() calls release(). False when
 * memory is short; then it is still the caller's. */
bool graph_keep(struct graph *graph, void *memory, size_t bytes,
                void (*release)(void *memory, size_t bytes));
/* Adds a tensor of io LOCAL, ND, fp16, without a shape; GRAPH_NONE when memory is short. */
uint32_t graph_add_tensor(struct graph *graph, const char *name);
/* The tensor of a name, or GRAPH_NONE. */
uint32_t graph_find_tensor(const struct graph *graph, const char *name);
/* A new name that no tensor has: "base", "base_1" ...; NULL when memory is short. */
const char *graph_new_name(struct graph *graph, const char *base);
/* Gives a tensor a name that no tensor has; false when memory is short. */
bool graph_rename_tensor(struct graph *graph, uint32_t tensor, const char *name);
void graph_set_shape(struct graph_tensor *tensor, const uint64_t *shape, unsigned rank);
/* Adds a copy of a node with all its lists and texts; GRAPH_NONE when memory is short. */
uint32_t graph_add_node(struct graph *graph, const struct graph_node *node);
/* A graph with the same tensors and nodes, in an arena of its own; it refers to the same values of
 * tensors. False when memory is short. */
bool graph_copy(const struct graph *from, struct graph *out);
/* Takes the nodes away for which `gone` is true; `after` follows. */
void graph_remove_nodes(struct graph *graph, const bool *gone);

/* ---- reading one ---- */

const char *graph_io_name(enum graph_io io);
const char *graph_kind_name(enum graph_kind kind);
uint64_t graph_elements(const struct graph_tensor *tensor);
uint64_t graph_bytes(const struct graph_tensor *tensor);
/* An element of a tensor whose values are known; false of one whose values are not, and of types of
 * less than a byte. The other way: writes an element into memory; false of such types. */
bool graph_number(const struct graph_tensor *tensor, uint64_t index, double *out);
bool graph_put_number(enum dtype dtype, void *data, uint64_t index, double number);
/* How far behind the start of the memory that it uses a tensor lies. */
uint64_t graph_skip(const struct graph *graph, uint32_t tensor);
/* The tensor whose memory a tensor uses in the end. */
uint32_t graph_memory(const struct graph *graph, uint32_t tensor);
/* Cuts "a=1 b=2" at its blanks, in place, into at most GRAPH_ARGS_MAX arguments; how many. */
uint32_t graph_split_args(char *text, const char **args);
/* The value of an argument "key=value", or NULL. */
const char *graph_arg(const struct graph_node *node, const char *key);
/* The number at *at, up to the next x of a list or to the end; *at moves behind that x. False when
 * it is not a number. */
bool graph_arg_piece(const char **at, double *out);
/* An argument as whole numbers "3x-1"; how many there are, 0 when it is absent or is something
 * else. Those behind `most` are not kept. */
unsigned graph_arg_ints(const struct graph_node *node, const char *key, int64_t *out,
                        unsigned most);
int64_t graph_arg_int(const struct graph_node *node, const char *key, int64_t fallback);
double graph_arg_number(const struct graph_node *node, const char *key, double fallback);

/*
 * Whether the graph can run: no input is read before a node has written the tensor, no tensor is
 * written twice unless in place, none is read once another has been written over it, all tensors of
 * kernels have a shape, `after` names earlier nodes.
 * VINCI_E_INPUT names the node and what to mend.
 */
VINCI_MUST_CHECK enum vinci_status graph_check(const struct graph *graph, struct vinci_diag *diag);

/* ---- memory (plan.c) ---- */

/* Id, name, what the policy does. */
#define GRAPH_PLAN_LIST(X)                                                                         \
  X(NONE, "none", "each tensor has memory of its own")                                             \
  X(FIRST, "first", "in order of launch, the first gap that is large enough")                      \
  X(BEST, "best", "in order of launch, the smallest gap that is large enough")                     \
  X(PACK, "pack", "the largest first, at the lowest offset free all its life; 16 rounds")
enum graph_plan_policy {
#define X(id, name, text) GRAPH_PLAN_##id,
  GRAPH_PLAN_LIST(X)
#undef X
      GRAPH_PLAN_COUNT
};
const char *graph_plan_name(enum graph_plan_policy policy);
const char *graph_plan_text(enum graph_plan_policy policy);

/* When memory is needed: from the launch of the first node to that of the last, both included. */
struct graph_life {
  bool used; /* some node uses it, or io says that it is wanted */
  uint32_t first, last;
};
/* Of each tensor that has memory of its own, views and tensors in place counted with theirs; into
 * tensor_count entries. */
void graph_lives(const struct graph *graph, struct graph_life *lives);

struct graph_plan {
  uint64_t *offsets;    /* by tensor, of its own memory; multiples of 512 */
  uint64_t bytes;       /* of all memory, weights included */
  uint64_t live_bytes;  /* the most that is alive at once: no plan needs less */
  uint64_t fixed_bytes; /* of weights, inputs and outputs, whose memory is nobody else's */
};
/* Memory for all tensors, in the arena of the graph. Weights, inputs and outputs never share.
 * Offsets that a planner outside gave are kept; VINCI_E_INPUT when two such tensors overlap while
 * both are alive. */
VINCI_MUST_CHECK enum vinci_status graph_plan(struct graph *graph, enum graph_plan_policy policy,
                                              struct graph_plan *out, struct vinci_diag *diag);

#endif
