/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the passes did to each node, in the order in which they did it: the record from which
 * `vinci net explain` answers. A node has a name; what is joined to another node, or added because
 * of one, leads to the node that holds it in the end.
 */
#ifndef VINCI_NETWORKS_PASSES_HISTORY_H
#define VINCI_NETWORKS_PASSES_HISTORY_H

#include "networks/graph/graph.h"

/* Id, key in JSON. */
#define HISTORY_KIND_LIST(X)                                                                       \
  X(CHANGED, "changed") /* a node computes in another way */                                       \
  X(JOINED, "joined")   /* a node became a part of `into` */                                       \
  X(ADDED, "added")     /* a new node, because of `into` */                                        \
  X(DROPPED, "dropped") /* nobody reads the node's results any more */                             \
  X(REFUSED, "refused") /* the pass left the node alone, as the change loses or is impossible */
enum history_kind {
#define X(id, key) HISTORY_##id,
  HISTORY_KIND_LIST(X)
#undef X
      HISTORY_KIND_COUNT
};
const char *history_kind_name(enum history_kind kind);

/* A node before a change; texts live as long as the graph's arena. */
struct history_node {
  const char *name, *op, *origin;
};

struct history_event {
  enum history_kind kind;
  unsigned pass;            /* enum pass_id */
  bool kernels;             /* the node is a kernel, whose origin is a layer */
  struct history_node node; /* as it was before */
  const char *into;         /* of JOINED and ADDED: the name of the other node */
  const char *now;          /* its operator afterwards; of REFUSED what it would have become */
  /* By estimate, gaps included: as it was, and changed. Both 0: nothing was weighed; changed 0: no
   * kernel of the chip can do that. */
  uint64_t before_ps, after_ps;
};

/* All zero: empty. */
struct history {
  struct arena arena;
  struct history_event *events;
  size_t count, room;
};

void history_free(struct history *history);
/* Copies `now`; false when memory is short. */
bool history_add(struct history *history, const struct history_event *event);
/* The name of the node that holds a node in the end: of a layer among layers, or of a kernel among
 * kernels. NULL: it was dropped. */
const char *history_holder(const struct history *history, const char *name, bool kernels);

#endif
