/* SPDX-License-Identifier: Apache-2.0 */
/* The packet level: calendars of ports. */
#include "noc/packet.h"

#include "core/sim/calendar.h"

/* What a router does with a packet for a destination. */
struct step {
  uint32_t port;
  uint32_t next; /* router at the port's far end; NOC_NO_LINK: the destination */
};

struct packet_network {
  const struct noc_map *map;
  uint32_t request_cycles; /* from the arrival of a header to its first chance at the switch */
  uint32_t onward_cycles;  /* from the grant of the switch to the arrival at the next router */
  uint32_t send_cycles;    /* from the source to the first router */
  uint32_t router_count;
  struct calendars calendars; /* of output ports, then of sources */
  struct step *route;         /* [destination][router]; a walk keeps to one row */
  uint32_t *input_router;
  uint64_t *flits;  /* of output ports */
  uint64_t *walked; /* [source][destination]: flits that are not in those of ports yet */
  const uint32_t *first_router; /* of each source */
  struct clock_domain clock;
  struct divisor flit_bytes;
  uint32_t port_count;
  uint32_t terminal_count;
  bool any_walked;
};

/* What a walk looks up, in the order it does. */
static bool create_routes(struct packet_network *network, struct arena *arena) {
  const struct noc_map *map = network->map;
  const struct noc_graph *graph = &map->config->graph;
  size_t terminals = graph->terminal_count;
  network->router_count = graph->router_count;
  network->terminal_count = graph->terminal_count;
  network->route = ARENA_ARRAY(arena, struct step, graph->router_count * terminals);
  network->walked = ARENA_ARRAY(arena, uint64_t, terminals * terminals);
  if (!network->route || !network->walked)
    return false;
  for (uint32_t t = 0; t < terminals; t++)
    for (uint32_t r = 0; r < graph->router_count; r++) {
      uint32_t port = noc_next_port(map, r, t), input = map->port_input[port];
      network->route[(size_t)t * graph->router_count + r] = (struct step){
          .port = port,
          .next = input < map->port_count ? network->input_router[input] : NOC_NO_LINK,
      };
    }
  return true;
}

struct packet_network *packet_create(struct arena *arena, const struct noc_map *map) {
  const struct noc_config *config = map->config;
  struct packet_network *network = ARENA_NEW(arena, struct packet_network);
  if (!network)
    return NULL;
  *network = (struct packet_network){
      .map = map,
      .request_cycles = config->routing_cycles + 1,
      .onward_cycles = 2 + config->link_cycles,
      .send_cycles = 1 + config->link_cycles,
      .first_router = config->graph.terminals,
      .port_count = map->port_count,
      .flit_bytes = divisor_of(config->flit_bytes),
      .flits = ARENA_ARRAY(arena, uint64_t, map->port_count),
      .input_router = ARENA_ARRAY(arena, uint32_t, map->port_count),
  };
  clock_init(&network->clock, config->clock_hz);
  if (!network->flits || !network->input_router ||
      !calendars_create(&network->calendars, arena, map->port_count + config->graph.terminal_count))
    return NULL;
  for (uint32_t r = 0; r < config->graph.router_count; r++)
    for (uint32_t i = map->input_base[r]; i < map->input_base[r + 1]; i++)
      network->input_router[i] = r;
  return create_routes(network, arena) ? network : NULL;
}

static void start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint64_t cycle) {
  struct calendar_span span =
      calendars_take(&network->calendars, network->port_count + source, cycle, head->flits);
  head->first_cycle = span.first + network->send_cycles;
  head->last_cycle = span.last + network->send_cycles;
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

/* Passes an output port where others have taken cycles, or the flits come with gaps. */
static __attribute__((noinline)) void squeeze(struct packet_network *network,
                                              struct packet_head *head, uint32_t port) {
  struct calendars *calendars = &network->calendars;
  uint64_t from = head->first_cycle + network->request_cycles, rest = head->flits - 1;
  uint64_t first = calendars_take_one(calendars, port, from), last = first;
  /* The last flit cannot leave before it has come; those before it fill up. */
  if (rest == 1)
    last = calendars_take_one(calendars, port, max_u64(first + 1, head->last_cycle));
  else if (rest > 1)
    last =
        calendars_take(calendars, port, max_u64(first + rest, head->last_cycle) - (rest - 1), rest)
            .last;
  head->waited_cycles += first - from;
  head->first_cycle = first + network->onward_cycles;
  head->last_cycle = last + network->onward_cycles;
}

/* Passes an output port. */
static void pass(struct packet_network *network, struct packet_head *head, uint32_t port) {
  network->flits[port] += head->flits;
  if (head->last_cycle - head->first_cycle != head->flits - 1 ||
      !calendars_take_run(&network->calendars, port, head->first_cycle + network->request_cycles,
                          head->flits)) {
    squeeze(network, head, port);
    return;
  }
  head->first_cycle += network->request_cycles + network->onward_cycles;
  head->last_cycle += network->request_cycles + network->onward_cycles;
}

/* Passes ports as long as their cycles are free at once, from *router on; true at the end. Copies
 * of what it reads spare the compiler from reading it again after every store. */
static inline bool glide(struct packet_network *network, struct packet_head *head,
                         const struct step *route, uint32_t *router) {
  const struct calendars calendars = network->calendars;
  uint64_t count = head->flits, first = head->first_cycle, start = first;
  uint64_t request_cycles = network->request_cycles, onward_cycles = network->onward_cycles;
  uint32_t at = *router;
  if (head->last_cycle - first == count - 1)
    while (at != NOC_NO_LINK &&
           calendars_take_run(&calendars, route[at].port, first + request_cycles, count)) {
      at = route[at].next;
      first += request_cycles + onward_cycles;
    }
  head->first_cycle = first;
  head->last_cycle += first - start;
  *router = at;
  return at == NOC_NO_LINK;
}

/* `view` is a copy of the calendars for the usual case, which spares the compiler from reading
 * them again after every store. */
static inline uint64_t take_one(struct packet_network *network, const struct calendars *view,
                                uint32_t port, uint64_t from) {
  uint64_t cycle;
  if (calendars_take_near(view, port, from, &cycle))
    return cycle;
  return calendars_search(&network->calendars, port, from, 1).first;
}

/* The first free cycle at or after `from` and the first behind it at or after `last`. */
static inline struct calendar_span take_two(struct packet_network *network,
                                            const struct calendars *view, uint32_t port,
                                            uint64_t from, uint64_t last) {
  struct calendar_span span;
  if (calendars_take_two_near(view, port, from, last, &span))
    return span;
  span.first = calendars_take_one(&network->calendars, port, from);
  span.last = calendars_take_one(&network->calendars, port, max_u64(span.first + 1, last));
  return span;
}

/* One flit takes the first free cycle at each port. */
static inline __attribute__((always_inline)) uint64_t walk_single(struct packet_network *network,
                                                                  const struct step *route,
                                                                  uint32_t source, uint64_t cycle) {
  const struct calendars view = network->calendars;
  uint64_t hop_cycles = network->request_cycles + network->onward_cycles;
  uint32_t at = network->first_router[source];
  uint64_t from = take_one(network, &view, network->port_count + source, cycle);
  from += network->send_cycles + network->request_cycles;
  for (; at != NOC_NO_LINK; at = route[at].next)
    from = take_one(network, &view, route[at].port, from) + hop_cycles;
  return from - network->request_cycles;
}

/* Two flits, as squeeze() does. */
static inline __attribute__((always_inline)) uint64_t walk_pair(struct packet_network *network,
                                                                const struct step *route,
                                                                uint32_t source, uint64_t cycle) {
  const struct calendars view = network->calendars;
  uint64_t request_cycles = network->request_cycles, onward_cycles = network->onward_cycles;
  uint32_t at = network->first_router[source];
  struct packet_head head = {.flits = 2};
  struct calendar_span span = take_two(network, &view, network->port_count + source, cycle, 0);
  span.first += network->send_cycles;
  span.last += network->send_cycles;
  for (; at != NOC_NO_LINK; at = route[at].next) {
    uint64_t from = span.first + request_cycles;
    span = take_two(network, &view, route[at].port, from, span.last);
    head.waited_cycles += span.first - from;
    span.first += onward_cycles;
    span.last += onward_cycles;
  }
  return span.last + sharing_delay(&head);
}

static uint64_t walk_long(struct packet_network *network, const struct step *route, uint32_t source,
                          uint64_t flits, uint64_t cycle) {
  struct packet_head head = {.flits = flits};
  uint32_t at = network->first_router[source];
  start(network, &head, source, cycle);
  while (!glide(network, &head, route, &at)) {
    squeeze(network, &head, route[at].port);
    at = route[at].next;
  }
  return head.last_cycle + sharing_delay(&head);
}

/* Nearly all packets have one or two flits. */
static inline uint64_t walk(struct packet_network *network, uint32_t source, uint32_t destination,
                            uint64_t flits, uint64_t cycle) {
  const struct step *route = &network->route[(size_t)destination * network->router_count];
  network->walked[(size_t)source * network->terminal_count + destination] += flits;
  if (flits == 1)
    return walk_single(network, route, source, cycle);
  if (flits == 2)
    return walk_pair(network, route, source, cycle);
  return walk_long(network, route, source, flits, cycle);
}

static inline uint64_t flits_of(const struct packet_network *network, uint64_t bytes) {
  uint64_t flit_bytes = network->flit_bytes.value;
  return bytes <= flit_bytes ? 1 : divide(bytes + flit_bytes - 1, &network->flit_bytes);
}

void packet_arrivals(struct packet_network *network, const struct packet_ends *ends,
                     struct network_leg *legs, unsigned count, uint64_t now) {
  const struct clock_domain *clock = &network->clock;
  calendars_move(&network->calendars, now);
  network->any_walked = true;
  for (struct network_leg *leg = legs; leg != legs + count; leg++) {
    uint32_t far = ends->first_far + leg->slice;
    uint64_t arrival =
        walk(network, ends->to_near ? far : ends->near, ends->to_near ? ends->near : far,
             flits_of(network, leg->bytes), clock_edge_at(clock, leg->time_ps));
    leg->time_ps = clock_edge_ps(clock, arrival);
  }
}

uint64_t packet_walk(struct packet_network *network, uint32_t source, uint32_t destination,
                     uint64_t flits, uint64_t cycle) {
  calendars_move(&network->calendars, cycle);
  network->any_walked = true;
  return walk(network, source, destination, flits, cycle);
}

void packet_start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint32_t destination, uint64_t flits, uint64_t cycle) {
  *head = (struct packet_head){
      .destination = destination, .input = network->map->terminal_input[source], .flits = flits};
  calendars_move(&network->calendars, cycle);
  start(network, head, source, cycle);
}

void packet_advance(struct packet_network *network, struct packet_head *head) {
  const struct noc_map *map = network->map;
  uint32_t port = noc_next_port(map, network->input_router[head->input], head->destination);
  calendars_move(&network->calendars, head->first_cycle);
  pass(network, head, port);
  head->input = map->port_input[port];
  if (head->input < map->port_count)
    return;
  head->input = NOC_NO_LINK;
  head->last_cycle += sharing_delay(head);
}

/* Counts walks at the ports they passed. */
static void count_walked(struct packet_network *network) {
  const struct noc_graph *graph = &network->map->config->graph;
  uint64_t *walked = network->walked;
  for (uint32_t source = 0; source < network->terminal_count; source++)
    for (uint32_t destination = 0; destination < network->terminal_count; destination++) {
      const struct step *route = &network->route[(size_t)destination * network->router_count];
      if (*walked > 0)
        for (uint32_t at = graph->terminals[source]; at != NOC_NO_LINK; at = route[at].next)
          network->flits[route[at].port] += *walked;
      *walked++ = 0;
    }
  network->any_walked = false;
}

uint64_t packet_port_flits(struct packet_network *network, uint32_t port) {
  if (network->any_walked)
    count_walked(network);
  return network->flits[port];
}
