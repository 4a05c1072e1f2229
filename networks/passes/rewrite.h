/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a graph of layers: who writes and reads each tensor, nodes taken away, nodes put in
 * before others. Indices of nodes hold until rewrite_finish().
 */
#ifndef VINCI_NETWORKS_PASSES_REWRITE_H
#define VINCI_NETWORKS_PASSES_REWRITE_H

#include <string.h>

#include "core/chip/soc.h"
#include "networks/graph/graph.h"
#include "networks/passes/history.h"

struct inserted;

struct rewrite {
  struct graph *graph;
  const struct vinci_soc *soc;
  uint32_t *writer; /* by tensor: the node, or GRAPH_NONE */
  uint32_t *reader; /* by tensor: its last reader, or GRAPH_NONE */
  uint32_t
      *reads; /* by tensor: how often nodes read the tensor; 1 more for a result of the network */
  bool *constant; /* by tensor: depends on weights alone */
  uint32_t tensor_room;
  bool *gone;          /* by node */
  uint32_t node_count; /* at the start */
  struct inserted *inserted;
  uint32_t inserted_count, inserted_room;
  size_t changed; /* places that the pass changed */
  bool no_memory;
  /* For the record (history.h); history NULL: none is kept. */
  struct history *history;
  unsigned pass;
  struct history_node *before;  /* by node: as it was at the start */
  bool *recorded;               /* by node: is gone, and in the record */
  uint64_t before_ps, after_ps; /* of the place that is being changed, when it was weighed */
};

/* history: what to keep a record in, as the work of that pass; NULL: nothing. False when memory is
 * short; rewrite_finish() is needed all the same. */
bool rewrite_start(struct rewrite *rewrite, struct graph *graph, const struct vinci_soc *soc,
                   struct history *history, unsigned pass);
/* Puts the nodes in their order; false when memory was short. */
bool rewrite_finish(struct rewrite *rewrite);

/* ---- looking ---- */

/* The layer of an operator that writes a tensor; NULL: another writes, or none. op NULL: any. */
struct graph_node *rewrite_writer(const struct rewrite *rewrite, uint32_t tensor, const char *op);
/* The same of the node that alone reads a tensor, which the network does not want itself. */
struct graph_node *rewrite_reader(const struct rewrite *rewrite, uint32_t tensor, const char *op);
/* The writer of what a node reads, when nobody else reads that. */
struct graph_node *rewrite_inner(const struct rewrite *rewrite, const struct graph_node *node,
                                 uint32_t tensor, const char *op);
uint32_t rewrite_index(const struct rewrite *rewrite, const struct graph_node *node);
static inline bool rewrite_is_op(const struct graph_node *node, const char *op) {
  return strcmp(node->op, op) == 0;
}
/* The index-th input of a node; GRAPH_NONE. */
uint32_t rewrite_input(const struct graph_node *node, uint32_t index);
static inline const struct graph_tensor *rewrite_tensor(const struct rewrite *rewrite,
                                                        uint32_t tensor) {
  return &rewrite->graph->tensors[tensor];
}
/* A weight, or computed from weights alone. */
bool rewrite_is_weight(const struct rewrite *rewrite, uint32_t tensor);
/* A tensor that is one known number. */
bool rewrite_number(const struct rewrite *rewrite, uint32_t tensor, double *out);
/* The input of a node of two that is no known number, which goes to *number. */
bool rewrite_with_number(const struct rewrite *rewrite, const struct graph_node *node,
                         uint32_t *input, double *number);

/* ---- changing ---- */

void rewrite_take_away(struct rewrite *rewrite, const struct graph_node *node);
/* A place is changed: `node` now computes what was taken away since the place before. `now`: in
 * which way; NULL: its operator says that. */
void rewrite_done(struct rewrite *rewrite, const struct graph_node *node, const char *now);
/* What the place about to be changed takes before and after, by estimate. */
static inline void rewrite_weighed(struct rewrite *rewrite, uint64_t before_ps, uint64_t after_ps) {
  rewrite->before_ps = before_ps;
  rewrite->after_ps = after_ps;
}
/* The place stays as it is, and would have become `now`; the change was weighed, or is impossible:
 * after_ps 0. */
void rewrite_refused(struct rewrite *rewrite, const struct graph_node *node, const char *now,
                     uint64_t before_ps, uint64_t after_ps);
/* Another operator, inputs and "key=value key=value" for a node, which keeps its results. */
void rewrite_become(struct rewrite *rewrite, struct graph_node *node, const char *op,
                    const uint32_t *inputs, uint32_t input_count, const char *args);
/* The arguments of a node in one text of the arena, with `more` behind these. NULL, and no_memory,
 * when memory is short or these are more than a node can have. */
const char *rewrite_args_text(struct rewrite *rewrite, const struct graph_node *node,
                              const char *more);
/* rewrite_become() with the arguments of another node, and `more` behind these. */
void rewrite_become_like(struct rewrite *rewrite, struct graph_node *node, const char *op,
                         const uint32_t *inputs, uint32_t input_count,
                         const struct graph_node *like, const char *more);
/* One more argument. */
void rewrite_add_arg(struct rewrite *rewrite, struct graph_node *node, const char *arg);
void rewrite_set_output(struct rewrite *rewrite, struct graph_node *node, uint32_t output);
/* A new tensor like another, of a type; GRAPH_NONE when memory is short. */
uint32_t rewrite_new_tensor(struct rewrite *rewrite, const char *base, enum dtype dtype,
                            const uint64_t *shape, unsigned rank);
/* A layer before the node of an index (behind all: node_count) that writes a tensor; its name and
 * origin are made of those of `of`. */
void rewrite_insert_into(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                         const char *op, const uint32_t *inputs, uint32_t input_count,
                         const char *args, uint32_t output);
/* A layer before another; gives its result, a new tensor of that shape. */
uint32_t rewrite_insert(struct rewrite *rewrite, const struct graph_node *before, const char *op,
                        const uint32_t *inputs, uint32_t input_count, const char *args,
                        enum dtype dtype, const uint64_t *shape, unsigned rank);

/* What computes a constant tensor, and what is read for that, stands before the node of an index
 * from now on. */
void rewrite_bring_forward(struct rewrite *rewrite, uint32_t tensor, uint32_t before);

/* Before the node of an index: a tensor that is a part of another's memory, `skip` bytes behind its
 * start. */
void rewrite_insert_view(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                         uint32_t whole, uint32_t part, uint64_t skip);
/* The other way: a tensor is there once its parts are, which lie in its memory one after the
 * other. */
void rewrite_insert_join(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                         const uint32_t *parts, uint32_t part_count, uint32_t whole);

/* A copy before the node of an index, which begins when the node `after` (GRAPH_NONE: none) has
 * ended. Gives a number by which other nodes can follow. */
uint32_t rewrite_insert_copy(struct rewrite *rewrite, uint32_t at, const struct graph_node *of,
                             const char *way, uint32_t from, uint32_t to, uint32_t stream,
                             uint32_t after);
/* The node of an index begins when another has ended: one of an index, or of such a number. */
void rewrite_add_after(struct rewrite *rewrite, uint32_t index, uint32_t after);

#endif
