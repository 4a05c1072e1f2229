/* SPDX-License-Identifier: Apache-2.0 */
/* Numbering of ports and routing tables of a network. */
#include "noc/noc.h"

static const char *const routing_names[] = {
#define X(id, name, text) name,
    NOC_ROUTING_LIST(X)
#undef X
};

const char *noc_routing_name(enum noc_routing routing) {
  return routing < NOC_ROUTING_COUNT ? routing_names[routing] : "?";
}

static enum vinci_status check_links(const struct noc_graph *graph, struct vinci_diag *diag) {
  uint32_t ports = 0;
  for (uint32_t l = 0; l < graph->link_count; l++) {
    const struct noc_link *link = &graph->links[l];
    if (link->from >= graph->router_count || link->to >= graph->router_count)
      return diag_error(diag, VINCI_E_USAGE, "link %u of the network joins no two routers", l);
    if (l > 0 && link->from < graph->links[l - 1].from)
      return diag_error(diag, VINCI_E_USAGE, "link %u of the network is out of order", l);
    ports = l > 0 && link->from == graph->links[l - 1].from ? ports + 1 : 1;
    if (ports > NOC_PORTS_MAX)
      return diag_error(diag, VINCI_E_USAGE, "router %u has more than %d links", link->from,
                        NOC_PORTS_MAX);
  }
  return VINCI_OK;
}

enum vinci_status noc_graph_check(const struct noc_graph *graph, struct vinci_diag *diag) {
  if (graph->router_count == 0 || graph->router_count > NOC_ROUTERS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "a network has 1 to %d routers, not %u", NOC_ROUTERS_MAX,
                      graph->router_count);
  if (graph->terminal_count == 0 || graph->terminal_count > NOC_TERMINALS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "a network has 1 to %d terminals, not %u",
                      NOC_TERMINALS_MAX, graph->terminal_count);
  for (uint32_t t = 0; t < graph->terminal_count; t++)
    if (graph->terminals[t] >= graph->router_count)
      return diag_error(diag, VINCI_E_USAGE, "terminal %u hangs on no router", t);
  if (graph->routing >= NOC_ROUTING_COUNT)
    return diag_error(diag, VINCI_E_USAGE, "the network has no known routing");
  return check_links(graph, diag);
}

static enum vinci_status check_config(const struct noc_config *config, struct vinci_diag *diag) {
  enum { CYCLES_MAX = 1000, VCS_MAX = 16, VC_FLITS_MAX = 256, FLIT_BYTES_MAX = 1 << 20 };
  if (config->clock_hz == 0 || config->flit_bytes == 0 || config->flit_bytes > FLIT_BYTES_MAX)
    return diag_error(diag, VINCI_E_USAGE, "a network needs a clock and flits of 1 B to 1 MiB");
  if (config->routing_cycles > 1)
    return diag_error(diag, VINCI_E_USAGE, "route computation takes 0 or 1 cycles, not %u",
                      config->routing_cycles);
  if (config->link_cycles == 0 || config->link_cycles > CYCLES_MAX ||
      config->credit_cycles > CYCLES_MAX)
    return diag_error(diag, VINCI_E_USAGE, "links take 1 to %d cycles, credits 0 to %d", CYCLES_MAX,
                      CYCLES_MAX);
  if (config->vcs == 0 || config->vcs > VCS_MAX || config->vc_flits == 0 ||
      config->vc_flits > VC_FLITS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "links have 1 to %d virtual channels of 1 to %d flits",
                      VCS_MAX, VC_FLITS_MAX);
  if (config->graph.routing == NOC_ROUTING_RING && config->vcs < 2)
    return diag_error(diag, VINCI_E_USAGE,
                      "a ring needs 2 virtual channels or more: with one it can deadlock");
  return noc_graph_check(&config->graph, diag);
}

/* Counts ports and lays them out: per router its links, then its terminals. */
static void number_ports(struct noc_map *map) {
  const struct noc_graph *graph = &map->config->graph;
  uint32_t port = 0, input = 0, link = 0;
  map->port_count = graph->link_count + graph->terminal_count;
  for (uint32_t r = 0; r < graph->router_count; r++) {
    map->port_base[r] = port;
    map->input_base[r] = input;
    for (; link < graph->link_count && graph->links[link].from == r; link++) {
      map->link_port[link] = port;
      map->port_link[port++] = link;
    }
    for (uint32_t l = 0; l < graph->link_count; l++)
      if (graph->links[l].to == r)
        map->input_link[input++] = l;
    for (uint32_t t = 0; t < graph->terminal_count; t++) {
      if (graph->terminals[t] != r)
        continue;
      map->port_link[port] = NOC_NO_LINK;
      map->port_input[port] = map->port_count + t;
      map->terminal_output[t] = port++;
      map->input_source[input] = map->port_count + t;
      map->input_link[input] = NOC_NO_LINK;
      map->terminal_input[t] = input++;
    }
  }
  map->port_base[graph->router_count] = port;
  map->input_base[graph->router_count] = input;
  for (uint32_t i = 0; i < input; i++) {
    if (map->input_link[i] == NOC_NO_LINK)
      continue;
    map->input_source[i] = map->link_port[map->input_link[i]];
    map->port_input[map->input_source[i]] = i;
  }
}

/* The router where a packet for router `goal` goes next from router `at`. */
static bool is_next(const struct noc_graph *graph, uint32_t at, uint32_t goal, uint32_t to) {
  const struct noc_router *here = &graph->routers[at], *there = &graph->routers[goal],
                          *next = &graph->routers[to];
  uint32_t count = graph->router_count;
  switch (graph->routing) {
  case NOC_ROUTING_XY:
    if (here->column != there->column)
      return next->row == here->row &&
             next->column == (here->column < there->column ? here->column + 1 : here->column - 1);
    return next->column == here->column &&
           next->row == (here->row < there->row ? here->row + 1 : here->row - 1);
  case NOC_ROUTING_RING: {
    uint32_t ahead = (there->column + count - here->column) % count;
    /* Opposite routers are equally far both ways: even ones send forward. */
    bool forward = 2 * ahead < count || (2 * ahead == count && here->column % 2 == 0);
    return next->column == (here->column + (forward ? 1 : count - 1)) % count;
  }
  default:
    return to == goal;
  }
}

static bool find_route(struct noc_map *map, uint32_t router, uint32_t terminal) {
  const struct noc_graph *graph = &map->config->graph;
  uint16_t *route = &map->route[(size_t)router * graph->terminal_count + terminal];
  uint32_t base = map->port_base[router], goal = graph->terminals[terminal];
  if (goal == router) {
    *route = (uint16_t)(map->terminal_output[terminal] - base);
    return true;
  }
  for (uint32_t port = base; port < map->port_base[router + 1]; port++) {
    uint32_t link = map->port_link[port];
    if (link == NOC_NO_LINK || !is_next(graph, router, goal, graph->links[link].to))
      continue;
    *route = (uint16_t)(port - base);
    return true;
  }
  return false;
}

/* Follows a route; 0 when it leads round in a circle. */
static uint32_t walk(const struct noc_map *map, uint32_t router, uint32_t destination) {
  const struct noc_graph *graph = &map->config->graph;
  for (uint32_t hops = 1; hops <= graph->router_count; hops++) {
    uint32_t link = map->port_link[noc_next_port(map, router, destination)];
    if (link == NOC_NO_LINK)
      return hops;
    router = graph->links[link].to;
  }
  return 0;
}

static enum vinci_status find_routes(struct noc_map *map, struct vinci_diag *diag) {
  const struct noc_graph *graph = &map->config->graph;
  for (uint32_t r = 0; r < graph->router_count; r++)
    for (uint32_t t = 0; t < graph->terminal_count; t++)
      if (!find_route(map, r, t))
        return diag_error(diag, VINCI_E_USAGE, "%s: no %s route from router %u to terminal %u",
                          graph->name, noc_routing_name(graph->routing), r, t);
  for (uint32_t r = 0; r < graph->router_count; r++)
    for (uint32_t t = 0; t < graph->terminal_count; t++)
      map->hops[(size_t)r * graph->terminal_count + t] = (uint16_t)walk(map, r, t);
  for (uint32_t s = 0; s < graph->terminal_count; s++)
    for (uint32_t t = 0; t < graph->terminal_count; t++)
      if (noc_hops(map, s, t) == 0)
        return diag_error(diag, VINCI_E_USAGE, "%s: the route from terminal %u to %u is a circle",
                          graph->name, s, t);
  return VINCI_OK;
}

enum vinci_status noc_map_create(struct noc_map *map, struct arena *arena,
                                 const struct noc_config *config, struct vinci_diag *diag) {
  enum vinci_status status = check_config(config, diag);
  if (status != VINCI_OK)
    return status;
  const struct noc_graph *graph = &config->graph;
  size_t ports = (size_t)graph->link_count + graph->terminal_count;
  *map = (struct noc_map){
      .config = config,
      .port_base = ARENA_ARRAY(arena, uint32_t, graph->router_count + 1),
      .input_base = ARENA_ARRAY(arena, uint32_t, graph->router_count + 1),
      .link_port = ARENA_ARRAY(arena, uint32_t, graph->link_count),
      .port_link = ARENA_ARRAY(arena, uint32_t, ports),
      .port_input = ARENA_ARRAY(arena, uint32_t, ports),
      .input_link = ARENA_ARRAY(arena, uint32_t, ports),
      .input_source = ARENA_ARRAY(arena, uint32_t, ports),
      .terminal_input = ARENA_ARRAY(arena, uint32_t, graph->terminal_count),
      .terminal_output = ARENA_ARRAY(arena, uint32_t, graph->terminal_count),
      .route = ARENA_ARRAY(arena, uint16_t, (size_t)graph->router_count * graph->terminal_count),
      .hops = ARENA_ARRAY(arena, uint16_t, (size_t)graph->router_count * graph->terminal_count),
  };
  if (!map->port_base || !map->input_base || !map->link_port || !map->port_link ||
      !map->port_input || !map->input_link || !map->input_source || !map->terminal_input ||
      !map->terminal_output || !map->route || !map->hops)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  number_ports(map);
  return find_routes(map, diag);
}

uint32_t noc_hops(const struct noc_map *map, uint32_t source, uint32_t destination) {
  const struct noc_graph *graph = &map->config->graph;
  return map->hops[(size_t)graph->terminals[source] * graph->terminal_count + destination];
}

uint64_t noc_idle_cycles(const struct noc_map *map, uint32_t source, uint32_t destination,
                         uint64_t flits) {
  const struct noc_config *config = map->config;
  enum { ALLOCATION_AND_SWITCH = 3 }; /* VC allocation, switch allocation, traversal */
  uint64_t hop = config->routing_cycles + ALLOCATION_AND_SWITCH + config->link_cycles;
  return 1 + config->link_cycles + noc_hops(map, source, destination) * hop + flits - 1;
}

uint64_t noc_flits(const struct noc_config *config, uint64_t bytes) {
  uint64_t flits = (bytes + config->flit_bytes - 1) / config->flit_bytes;
  return flits > 0 ? flits : 1;
}
