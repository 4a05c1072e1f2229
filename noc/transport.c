/* SPDX-License-Identifier: Apache-2.0 */
/* The network behind the event engine. */
#include "noc/transport.h"

#include <stddef.h>

struct noc {
  struct noc_map map;
  enum noc_level level;
  struct engine *engine;
  struct clock_domain clock;
  uint32_t part;
  struct packet_network *packets;
  struct flit_network *flits;
  uint64_t now_ps; /* of the latest move, and its cycle */
  uint64_t now_cycle;
  /* flit level: the two halves of a cycle */
  struct engine_event arrivals;
  struct engine_event routers;
  bool running;
};

#define MEMBER_OF(pointer, type, member)                                                           \
  ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static uint64_t edge_ps(const struct noc *noc, uint64_t cycle) {
  return clock_edge_ps(&noc->clock, cycle);
}

static void schedule(struct noc *noc, struct engine_event *event, enum engine_phase phase,
                     uint32_t sequence, uint64_t cycle,
                     void (*fire)(struct engine_event *event, uint64_t now_ps)) {
  event->key = event_key(phase, noc->part, sequence);
  event->fire = fire;
  engine_schedule(noc->engine, event, edge_ps(noc, cycle));
}

/* ---- packet level ------------------------------------------------------------------- */

static uint64_t now_cycle(struct noc *noc, uint64_t now_ps) {
  if (noc->now_ps != now_ps) {
    noc->now_ps = now_ps;
    noc->now_cycle = clock_edge_at(&noc->clock, now_ps);
  }
  return noc->now_cycle;
}

void noc_arrivals(struct noc *noc, const struct packet_ends *ends, struct network_leg *legs,
                  unsigned count, uint64_t now_ps) {
  packet_arrivals(noc->packets, ends, legs, count, now_cycle(noc, now_ps));
}

uint64_t noc_move_ps(struct noc *noc, uint32_t source, uint32_t destination, uint64_t bytes,
                     uint64_t now_ps) {
  uint64_t flits = noc_flits(noc->map.config, bytes);
  return edge_ps(noc,
                 packet_walk(noc->packets, source, destination, flits, now_cycle(noc, now_ps)));
}

static void fire_delivery(struct engine_event *event, uint64_t now_ps) {
  struct noc_message *message = MEMBER_OF(event, struct noc_message, event);
  message->done(message, now_ps);
}

static void deliver_at(struct noc_message *message, uint64_t cycle) {
  schedule(message->noc, &message->event, PHASE_DELIVER, message->id, cycle, fire_delivery);
}

/* Routers come behind the messages that start in the same instant. */
enum { ROUTER_SEQUENCES = INT32_MAX };

static void fire_hop(struct engine_event *event, uint64_t now_ps);

static void next_hop(struct noc_message *message) {
  struct noc *noc = message->noc;
  if (message->head.input == NOC_NO_LINK)
    deliver_at(message, message->head.last_cycle);
  else
    schedule(noc, &message->event, PHASE_ARBITRATE,
             (uint32_t)ROUTER_SEQUENCES + 1 + message->head.input, message->head.first_cycle,
             fire_hop);
}

static void fire_hop(struct engine_event *event, uint64_t now_ps) {
  struct noc_message *message = MEMBER_OF(event, struct noc_message, event);
  (void)now_ps;
  packet_advance(message->noc->packets, &message->head);
  next_hop(message);
}

/* ---- flit level --------------------------------------------------------------------- */

static void fire_routers(struct engine_event *event, uint64_t now_ps);

static void fire_arrivals(struct engine_event *event, uint64_t now_ps) {
  struct noc *noc = MEMBER_OF(event, struct noc, arrivals);
  schedule(noc, &noc->routers, PHASE_ACCOUNT, 0, flit_cycle(noc->flits), fire_routers);
  for (struct flit_packet *packet = flit_step_arrivals(noc->flits); packet;) {
    struct flit_packet *next = packet->next;
    struct noc_message *message = MEMBER_OF(packet, struct noc_message, packet);
    message->done(message, now_ps);
    packet = next;
  }
}

static void fire_routers(struct engine_event *event, uint64_t now_ps) {
  struct noc *noc = MEMBER_OF(event, struct noc, routers);
  (void)now_ps;
  flit_step_routers(noc->flits);
  noc->running = !flit_idle(noc->flits);
  if (noc->running)
    schedule(noc, &noc->arrivals, PHASE_DELIVER, 0, flit_cycle(noc->flits), fire_arrivals);
}

/* A sleeping network catches up with the clock; nothing but credits can be under way. */
static void wake(struct noc *noc, uint64_t cycle) {
  if (noc->running)
    return;
  noc->running = true;
  if (flit_cycle(noc->flits) > cycle) { /* this cycle is over: a start after PHASE_ACCOUNT */
    schedule(noc, &noc->arrivals, PHASE_DELIVER, 0, flit_cycle(noc->flits), fire_arrivals);
    return;
  }
  flit_skip_to(noc->flits, cycle);
  (void)flit_step_arrivals(noc->flits);
  schedule(noc, &noc->routers, PHASE_ACCOUNT, 0, cycle, fire_routers);
}

/* ---- messages ----------------------------------------------------------------------- */

static void fire_start(struct engine_event *event, uint64_t now_ps) {
  struct noc_message *message = MEMBER_OF(event, struct noc_message, event);
  struct noc *noc = message->noc;
  uint64_t cycle = clock_edge_at(&noc->clock, now_ps);
  uint64_t flits = noc_flits(noc->map.config, message->bytes);
  switch (noc->level) {
  case NOC_LEVEL_FLIT:
    wake(noc, cycle);
    message->packet.source = message->source;
    message->packet.destination = message->destination;
    message->packet.flits = (uint32_t)flits;
    flit_offer(noc->flits, &message->packet);
    break;
  case NOC_LEVEL_PACKET_HOPS:
    packet_start(noc->packets, &message->head, message->source, message->destination, flits, cycle);
    next_hop(message);
    break;
  default:
    deliver_at(message,
               packet_walk(noc->packets, message->source, message->destination, flits, cycle));
  }
}

void noc_send(struct noc *noc, struct noc_message *message) {
  message->noc = noc;
  uint64_t cycle = clock_edge_at(&noc->clock, engine_now_ps(noc->engine));
  schedule(noc, &message->event, PHASE_ARBITRATE, message->id, cycle, fire_start);
}

/* ---- creation and counters ---------------------------------------------------------- */

static bool create_level(struct noc *noc, struct arena *arena) {
  if (noc->level == NOC_LEVEL_FLIT)
    noc->flits = flit_create(arena, &noc->map);
  else
    noc->packets = packet_create(arena, &noc->map);
  return noc->flits || noc->packets;
}

enum vinci_status noc_create(struct noc **out, struct arena *arena, struct engine *engine,
                             const struct noc_config *config, enum noc_level level, uint32_t part,
                             struct vinci_diag *diag) {
  struct noc *noc = ARENA_NEW(arena, struct noc);
  *out = NULL;
  if (!noc)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  noc->level = level;
  noc->engine = engine;
  noc->part = part;
  enum vinci_status status = noc_map_create(&noc->map, arena, config, diag);
  if (status != VINCI_OK)
    return status;
  clock_init(&noc->clock, config->clock_hz);
  if (!create_level(noc, arena))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  *out = noc;
  return VINCI_OK;
}

struct noc *noc_create_like(const struct noc *other, struct arena *arena, uint32_t part) {
  struct noc *noc = ARENA_NEW(arena, struct noc);
  if (!noc)
    return NULL;
  noc->map = other->map;
  noc->level = other->level;
  noc->engine = other->engine;
  noc->clock = other->clock;
  noc->part = part;
  return create_level(noc, arena) ? noc : NULL;
}

const struct noc_map *noc_map_of(const struct noc *noc) { return &noc->map; }

uint64_t noc_port_flits(const struct noc *noc, uint32_t port) {
  return noc->flits ? flit_port_flits(noc->flits, port) : packet_port_flits(noc->packets, port);
}

uint64_t noc_port_ppm(const struct noc *noc, uint32_t port, uint64_t total_ps) {
  enum { PPM = 1000000 };
  uint64_t cycles = clock_edge_at(&noc->clock, total_ps);
  return cycles > 0 ? (uint64_t)((uint128)noc_port_flits(noc, port) * PPM / cycles) : 0;
}

uint64_t noc_busiest_link_ppm(const struct noc *noc, uint64_t total_ps, uint32_t *link) {
  uint64_t most = 0;
  for (uint32_t l = 0; l < noc->map.config->graph.link_count; l++) {
    uint64_t ppm = noc_port_ppm(noc, noc->map.link_port[l], total_ps);
    if (ppm <= most)
      continue;
    most = ppm;
    if (link)
      *link = l;
  }
  return most;
}
