/* SPDX-License-Identifier: Apache-2.0 */
/* The packet level: calendars of ports. */
#include "noc/packet.h"

#include "core/calendar.h"

struct packet_port {
  struct calendar calendar;
  uint64_t flits;
};

struct packet_network {
  const struct noc_map *map;
  uint32_t terminal_count;
  uint32_t request_cycles; /* from the arrival of a header to its first chance at the switch */
  uint32_t onward_cycles;  /* from the grant of the switch to the arrival at the next router */
  struct packet_port *ports;
  struct calendar *sources; /* of terminals */
  uint32_t *input_router;
  uint32_t *route;       /* [destination][router]: output port; a walk keeps to one row */
  uint32_t *next_router; /* at the far end of an output port; NOC_NO_LINK: a terminal */
  uint32_t router_count;
};

/* What a walk looks up, in the order it does. */
static bool create_routes(struct packet_network *network, struct arena *arena) {
  const struct noc_map *map = network->map;
  const struct noc_graph *graph = &map->config->graph;
  network->router_count = graph->router_count;
  network->route =
      ARENA_ARRAY(arena, uint32_t, (size_t)graph->router_count * graph->terminal_count);
  network->next_router = ARENA_ARRAY(arena, uint32_t, map->port_count);
  if (!network->route || !network->next_router)
    return false;
  for (uint32_t t = 0; t < graph->terminal_count; t++)
    for (uint32_t r = 0; r < graph->router_count; r++)
      network->route[(size_t)t * graph->router_count + r] = noc_next_port(map, r, t);
  for (uint32_t port = 0; port < map->port_count; port++)
    network->next_router[port] = map->port_input[port] < map->port_count
                                     ? network->input_router[map->port_input[port]]
                                     : NOC_NO_LINK;
  return true;
}

struct packet_network *packet_create(struct arena *arena, const struct noc_map *map) {
  const struct noc_config *config = map->config;
  struct packet_network *network = ARENA_NEW(arena, struct packet_network);
  if (!network)
    return NULL;
  *network = (struct packet_network){
      .map = map,
      .terminal_count = config->graph.terminal_count,
      .request_cycles = config->routing_cycles + 1,
      .onward_cycles = 2 + config->link_cycles,
      .ports = ARENA_ARRAY(arena, struct packet_port, map->port_count),
      .sources = ARENA_ARRAY(arena, struct calendar, config->graph.terminal_count),
      .input_router = ARENA_ARRAY(arena, uint32_t, map->port_count),
  };
  if (!network->ports || !network->sources || !network->input_router)
    return NULL;
  for (uint32_t r = 0; r < config->graph.router_count; r++)
    for (uint32_t i = map->input_base[r]; i < map->input_base[r + 1]; i++)
      network->input_router[i] = r;
  return create_routes(network, arena) ? network : NULL;
}

static void start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint64_t now, uint64_t cycle) {
  const struct noc_map *map = network->map;
  struct calendar *calendar = &network->sources[source];
  struct calendar_span span = {cycle, cycle + head->flits - 1};
  if (!calendar_take_run(calendar, now, cycle, head->flits))
    span = calendar_take(calendar, now, cycle, head->flits);
  head->first_cycle = span.first + 1 + map->config->link_cycles;
  head->last_cycle = span.last + 1 + map->config->link_cycles;
}

/*
 * Calendars serve packet after packet, routers take flits of waiting packets in turn.
 * Under such sharing the mean wait for service of equal length is twice as long (M/D/1,
 * processor sharing against first come first served; Kleinrock, Queueing Systems II, 1976), less
 * the part of a single flit, which cannot be shared: so the last flit comes later by the wait once
 * more. Nobody else is delayed by that.
 */
static uint64_t sharing_delay(const struct packet_head *head) {
  if (head->waited_cycles == 0)
    return 0;
  return head->waited_cycles * (head->flits - 1) / head->flits;
}

/* Cycles at an output port; now: no later request to it asks for a cycle before that. */
static struct calendar_span take_port(struct calendar *calendar, const struct packet_head *head,
                                      uint64_t now, uint64_t from) {
  uint64_t rest = head->flits - 1;
  struct calendar_span span = {from, from + rest};
  if (head->last_cycle - head->first_cycle == rest &&
      calendar_take_run(calendar, now, from, head->flits))
    return span;
  span = calendar_take(calendar, now, from, 1);
  if (rest > 0) {
    /* The last flit cannot leave before it has come; those before it fill up. */
    uint64_t next = span.first + 1;
    if (head->last_cycle > rest - 1 + next)
      next = head->last_cycle - (rest - 1);
    span.last = calendar_take(calendar, now, next, rest).last;
  }
  return span;
}

/* Passes an output port. */
static void pass(struct packet_network *network, struct packet_head *head, uint32_t port,
                 uint64_t now) {
  struct packet_port *out = &network->ports[port];
  uint64_t from = head->first_cycle + network->request_cycles;
  struct calendar_span span = take_port(&out->calendar, head, now, from);
  out->flits += head->flits;
  head->waited_cycles += span.first - from;
  head->first_cycle = span.first + network->onward_cycles;
  head->last_cycle = span.last + network->onward_cycles;
}

uint64_t packet_walk_later(struct packet_network *network, uint32_t source, uint32_t destination,
                           uint64_t flits, uint64_t now, uint64_t cycle) {
  struct packet_head head = {.flits = flits};
  const uint32_t *route = &network->route[(size_t)destination * network->router_count];
  uint32_t router = network->map->config->graph.terminals[source];
  start(network, &head, source, now, cycle);
  do {
    uint32_t port = route[router];
    pass(network, &head, port, now);
    router = network->next_router[port];
  } while (router != NOC_NO_LINK);
  return head.last_cycle + sharing_delay(&head);
}

uint64_t packet_walk(struct packet_network *network, uint32_t source, uint32_t destination,
                     uint64_t flits, uint64_t cycle) {
  return packet_walk_later(network, source, destination, flits, cycle, cycle);
}

void packet_start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint32_t destination, uint64_t flits, uint64_t cycle) {
  *head = (struct packet_head){
      .destination = destination, .input = network->map->terminal_input[source], .flits = flits};
  start(network, head, source, cycle, cycle);
}

void packet_advance(struct packet_network *network, struct packet_head *head) {
  const struct noc_map *map = network->map;
  uint32_t port = noc_next_port(map, network->input_router[head->input], head->destination);
  pass(network, head, port, head->first_cycle);
  head->input = map->port_input[port];
  if (head->input < map->port_count)
    return;
  head->input = NOC_NO_LINK;
  head->last_cycle += sharing_delay(head);
}

uint64_t packet_port_flits(const struct packet_network *network, uint32_t port) {
  return network->ports[port].flits;
}
