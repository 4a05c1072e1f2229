/* SPDX-License-Identifier: Apache-2.0 */
/* The packet level: calendars of ports. */
#include "noc/packet.h"

#include "noc/calendar.h"

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
};

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
  return network;
}

static void start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint64_t now, uint64_t cycle) {
  const struct noc_map *map = network->map;
  struct calendar_span span = calendar_take(&network->sources[source], now, cycle, head->flits);
  head->input = map->terminal_input[source];
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
  return head->waited_cycles * (head->flits - 1) / head->flits;
}

/* now: no later request to a port asks for a cycle before it. */
static void advance(struct packet_network *network, struct packet_head *head, uint64_t now) {
  const struct noc_map *map = network->map;
  uint32_t port = noc_next_port(map, network->input_router[head->input], head->destination);
  struct packet_port *out = &network->ports[port];
  struct calendar_span span =
      calendar_take(&out->calendar, now, head->first_cycle + network->request_cycles, 1);
  head->waited_cycles += span.first - (head->first_cycle + network->request_cycles);
  uint64_t rest = head->flits - 1;
  if (rest > 0) {
    /* The last flit cannot leave before it has come; those before it fill up. */
    uint64_t from = span.first + 1;
    if (head->last_cycle > rest - 1 + from)
      from = head->last_cycle - (rest - 1);
    span.last = calendar_take(&out->calendar, now, from, rest).last;
  }
  out->flits += head->flits;
  head->first_cycle = span.first + network->onward_cycles;
  head->last_cycle = span.last + network->onward_cycles;
  if (map->port_input[port] < map->port_count) {
    head->input = map->port_input[port];
    return;
  }
  head->input = NOC_NO_LINK;
  head->last_cycle += sharing_delay(head);
}

uint64_t packet_walk_later(struct packet_network *network, uint32_t source, uint32_t destination,
                           uint64_t flits, uint64_t now, uint64_t cycle) {
  struct packet_head head = {.destination = destination, .flits = flits};
  start(network, &head, source, now, cycle);
  while (head.input != NOC_NO_LINK)
    advance(network, &head, now);
  return head.last_cycle;
}

uint64_t packet_walk(struct packet_network *network, uint32_t source, uint32_t destination,
                     uint64_t flits, uint64_t cycle) {
  return packet_walk_later(network, source, destination, flits, cycle, cycle);
}

void packet_start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint32_t destination, uint64_t flits, uint64_t cycle) {
  *head = (struct packet_head){.destination = destination, .flits = flits};
  start(network, head, source, cycle, cycle);
}

void packet_advance(struct packet_network *network, struct packet_head *head) {
  advance(network, head, head->first_cycle);
}

uint64_t packet_port_flits(const struct packet_network *network, uint32_t port) {
  return network->ports[port].flits;
}
