/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network on chip as data: its graph (from scripts/noc) and the numbers of its
 * routers and links. Both levels of the model in noc/ run on the same configuration.
 *
 * Routers are joined by links, each in one direction. Terminals (cores, L2 slices,
 * memory controllers) hang on routers; packets go from terminal to terminal, also to
 * the one they came from.
 */
#ifndef VINCI_CORE_CHIP_NOC_CONFIG_H
#define VINCI_CORE_CHIP_NOC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/vinci.h"

/* How packets find their way: id, name in topology files, what it is. */
#define NOC_ROUTING_LIST(X)                                                                        \
  X(XY, "xy", "along the row to the column, then along the column; free of deadlock")              \
  X(RING, "ring", "the shorter way round; virtual channels change class at the dateline")          \
  X(DIRECT, "direct", "one link from each router to each other one, or a single router")

enum noc_routing {
#define X(id, name, text) NOC_ROUTING_##id,
  NOC_ROUTING_LIST(X)
#undef X
      NOC_ROUTING_COUNT
};

/* Place of a router: column and row in a mesh, column alone along a ring. */
struct noc_router {
  uint32_t column;
  uint32_t row;
};

/* One direction of a link; its output port is its rank among the links from `from`. */
struct noc_link {
  uint32_t from;
  uint32_t to;
  bool dateline; /* of a ring: packets that take it change to the upper virtual channels */
};

enum { NOC_ROUTERS_MAX = 1024, NOC_TERMINALS_MAX = 1024, NOC_PORTS_MAX = 256 };

struct noc_graph {
  const char *name;
  enum noc_routing routing;
  const struct noc_router *routers;
  uint32_t router_count;
  const struct noc_link *links; /* by rising `from`, then in the order of their ports */
  uint32_t link_count;
  const uint32_t *terminals; /* router of each terminal */
  uint32_t terminal_count;
};

/*
 * The numbers of routers and links. A header spends in each router routing_cycles,
 * one cycle each in virtual channel allocation, switch allocation and switch
 * traversal, and then link_cycles on the way to the next.
 */
struct noc_config {
  struct noc_graph graph;
  uint64_t clock_hz;
  uint32_t flit_bytes;
  uint32_t routing_cycles; /* 1, or 0 when the router before computes the route */
  uint32_t link_cycles;
  uint32_t credit_cycles; /* handling of a credit that has come back over its link */
  uint32_t vcs;           /* virtual channels per link */
  uint32_t vc_flits;      /* buffer of each */
};

/* A parameter of a topology, such as columns. */
struct noc_parameter {
  const char *name;
  uint32_t value;
};

const char *noc_routing_name(enum noc_routing routing);

/*
 * Builds the graph of scripts/noc/<name>.lua for the given parameters; all memory
 * from the arena. data_dir as in vinci_soc_load. The file takes the parameters it
 * names; one that is missing and a graph that is not sound are errors. (scripts/host/noc_host.c)
 */
VINCI_MUST_CHECK enum vinci_status noc_graph_load(const char *data_dir, const char *name,
                                                  const struct noc_parameter *parameters,
                                                  size_t parameter_count, struct arena *arena,
                                                  struct noc_graph *out, struct vinci_diag *diag);

/* Whether a graph is sound: indices, order of links, links per router. */
enum vinci_status noc_graph_check(const struct noc_graph *graph, struct vinci_diag *diag);

#endif
