/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network between the clusters of cores and the slices of L2, as a topology of
 * routers. Requests and answers travel in two equal networks, which keeps the protocol free of
 * deadlock. Clusters and slices are spread evenly over the routers (where they sit is not
 * published).
 */
#include "core/base/arith.h"
#include "core/sim/memsys.h"
#include "noc/transport.h"

struct network {
  struct engine *engine;
  struct noc_config config;
  uint32_t clusters;
  uint32_t slices;
  struct noc *to_slices;
  struct noc *to_cores;
  enum noc_level level;
  struct carrier *carriers; /* flit level: by message id */
};

/* A message on its way through the flit level. */
struct carrier {
  struct noc_message noc;
  struct network_message *message;
};

/* The number of bits of the least power of two that is not below a count. */
static unsigned index_bits(uint32_t count) {
  unsigned bits = 0;
  while ((UINT32_C(1) << bits) < count)
    bits++;
  return bits;
}

static uint32_t reversed(uint32_t value, unsigned bits) {
  uint32_t out = 0;
  for (unsigned i = 0; i < bits; i++)
    out |= (value >> i & 1) << (bits - 1 - i);
  return out;
}

/*
 * Clusters get routers one after the other, each a router of its own. Each next router halves a
 * gap, so that the first clusters, on which a kernel of few blocks runs, do not crowd in a corner.
 * The place of a cluster does not depend on the number of clusters.
 */
static void place_clusters(uint32_t *router, uint32_t routers, uint32_t clusters) {
  unsigned bits = index_bits(routers);
  for (uint32_t i = 0, turn = 0; i < clusters; turn++) {
    uint32_t place = reversed(turn & ((UINT32_C(1) << bits) - 1), bits);
    if (place < routers)
      router[i++] = place;
  }
}

static const uint32_t *place_terminals(struct arena *arena, const struct noc_graph *graph,
                                       struct network_shape shape) {
  uint32_t *router = ARENA_ARRAY(arena, uint32_t, (size_t)shape.clusters + shape.slices);
  if (router)
    place_clusters(router, graph->router_count, shape.clusters);
  for (uint32_t i = 0; router && i < shape.slices; i++)
    router[shape.clusters + i] = (uint32_t)((uint64_t)i * graph->router_count / shape.slices);
  return router;
}

static struct network *network_create(struct arena *arena, struct engine *engine,
                                      const struct vinci_soc *soc, struct network_shape shape,
                                      enum noc_level level) {
  struct network *network = ARENA_NEW(arena, struct network);
  if (!network || !soc->topology)
    return NULL;
  network->engine = engine;
  network->clusters = shape.clusters;
  network->slices = shape.slices;
  network->level = level;
  network->config = (struct noc_config){
      .graph = *soc->topology,
      .clock_hz = (uint64_t)soc->noc_hz,
      .flit_bytes = (uint32_t)soc->noc_flit_bytes,
      .routing_cycles = (uint32_t)soc->noc_routing_cycles,
      .link_cycles = (uint32_t)soc->noc_link_cycles,
      .credit_cycles = (uint32_t)soc->noc_credit_cycles,
      .vcs = (uint32_t)soc->noc_vcs,
      .vc_flits = (uint32_t)soc->noc_vc_flits,
  };
  network->config.graph.terminals = place_terminals(arena, soc->topology, shape);
  network->config.graph.terminal_count = shape.clusters + shape.slices;
  if (!network->config.graph.terminals ||
      noc_create(&network->to_slices, arena, engine, &network->config, level, shape.part, NULL) !=
          VINCI_OK)
    return NULL;
  network->to_cores = noc_create_like(network->to_slices, arena, shape.part + 1);
  return network->to_cores ? network : NULL;
}

static uint32_t source_of(const struct network *network, const struct network_message *message) {
  return message->to_core ? network->clusters + message->slice : message->cluster;
}

static uint32_t destination_of(const struct network *network,
                               const struct network_message *message) {
  return message->to_core ? message->cluster : network->clusters + message->slice;
}

static void fire_arrival(struct engine_event *event, uint64_t now_ps) {
  struct network_message *message =
      (struct network_message *)((char *)event - offsetof(struct network_message, event));
  message->done(message, now_ps);
}

/* ---- packet level: the whole way in one call --------------------------------------- */

static struct network *create_packet(struct arena *arena, struct engine *engine,
                                     const struct vinci_soc *soc, struct network_shape shape) {
  return network_create(arena, engine, soc, shape, NOC_LEVEL_PACKET);
}

static bool prepare_packet(struct network *network, struct arena *arena, uint32_t messages) {
  (void)network;
  (void)arena;
  (void)messages;
  return true;
}

static void arrivals_of_packets(struct network *network, uint32_t cluster, bool to_core,
                                struct network_leg *legs, unsigned count) {
  struct packet_ends ends = {.near = cluster, .first_far = network->clusters, .to_near = to_core};
  noc_arrivals(to_core ? network->to_cores : network->to_slices, &ends, legs, count,
               engine_now_ps(network->engine));
}

static void send_packet(struct network *network, struct network_message *message) {
  struct network_leg leg = {.slice = message->slice,
                            .bytes = (uint32_t)message->bytes,
                            .time_ps = engine_now_ps(network->engine)};
  arrivals_of_packets(network, message->cluster, message->to_core, &leg, 1);
  message->event.fire = fire_arrival;
  engine_schedule(network->engine, &message->event, leg.time_ps);
}

/* ---- flit level ------------------------------------------------------------------------- */

static struct network *create_flit(struct arena *arena, struct engine *engine,
                                   const struct vinci_soc *soc, struct network_shape shape) {
  return network_create(arena, engine, soc, shape, NOC_LEVEL_FLIT);
}

static bool prepare_flit(struct network *network, struct arena *arena, uint32_t messages) {
  network->carriers = ARENA_ARRAY(arena, struct carrier, messages);
  return network->carriers != NULL;
}

static void carried(struct noc_message *noc_message, uint64_t now_ps) {
  struct carrier *carrier = noc_message->owner;
  carrier->message->done(carrier->message, now_ps);
}

static void send_flits(struct network *network, struct network_message *message) {
  struct carrier *carrier = &network->carriers[message->id];
  *carrier = (struct carrier){
      .noc = {.id = message->id,
              .source = source_of(network, message),
              .destination = destination_of(network, message),
              .bytes = message->bytes,
              .done = carried,
              .owner = carrier},
      .message = message,
  };
  noc_send(message->to_core ? network->to_cores : network->to_slices, &carrier->noc);
}

/* ---- both levels ---------------------------------------------------------------------- */

/* A transfer of several lines is over when that of the farthest slice has come. */
static uint64_t idle_ps(const struct network *network, uint64_t bytes, bool to_core) {
  const struct noc_map *map = noc_map_of(to_core ? network->to_cores : network->to_slices);
  uint64_t flits = noc_flits(&network->config, bytes);
  uint64_t sum = 0;
  for (uint32_t c = 0; c < network->clusters; c++) {
    uint64_t farthest = 0;
    for (uint32_t s = 0; s < network->slices; s++) {
      uint64_t cycles = noc_idle_cycles(map, c, network->clusters + s, flits);
      farthest = cycles > farthest ? cycles : farthest;
    }
    sum += farthest;
  }
  struct clock_domain clock;
  clock_init(&clock, network->config.clock_hz);
  return clock_edge_ps(&clock, sum / network->clusters);
}

static uint64_t idle_trip_ps(const struct network *network, uint32_t cluster, uint64_t there_bytes,
                             uint64_t back_bytes) {
  const struct noc_map *there = noc_map_of(network->to_slices);
  const struct noc_map *back = noc_map_of(network->to_cores);
  uint64_t sum = 0;
  for (uint32_t s = 0; s < network->slices; s++) {
    uint32_t slice = network->clusters + s;
    sum += noc_idle_cycles(there, cluster, slice, noc_flits(&network->config, there_bytes));
    sum += noc_idle_cycles(back, slice, cluster, noc_flits(&network->config, back_bytes));
  }
  return (uint64_t)((uint128)sum * PS_PER_SECOND /
                    ((uint128)network->config.clock_hz * network->slices));
}

static void report(const struct network *network, uint64_t total_ps, struct vinci_result *result) {
  const struct noc_graph *graph = &network->config.graph;
  for (uint32_t i = 0; i < result->link_count; i++) {
    enum noc_way way = i < graph->link_count ? NOC_REQUESTS : NOC_ANSWERS;
    const struct noc *noc = way == NOC_REQUESTS ? network->to_slices : network->to_cores;
    uint32_t link = i % graph->link_count;
    result->links[i] = (struct link_load){
        .way = way,
        .from = graph->links[link].from,
        .to = graph->links[link].to,
        .utilization_ppm = noc_port_ppm(noc, noc_map_of(noc)->link_port[link], total_ps),
        .flits = noc_port_flits(noc, noc_map_of(noc)->link_port[link]),
    };
  }
  uint64_t there = noc_busiest_link_ppm(network->to_slices, total_ps, NULL);
  uint64_t back = noc_busiest_link_ppm(network->to_cores, total_ps, NULL);
  result->noc_max_link_ppm = max_u64(there, back);
  result->noc_past_model =
      network->level == NOC_LEVEL_PACKET && result->noc_max_link_ppm > NOC_PACKET_LEVEL_MAX_PPM;
}

const struct network_ops noc_packet_ops = {
    .name = "packet",
    .create = create_packet,
    .prepare = prepare_packet,
    .send = send_packet,
    .arrivals = arrivals_of_packets,
    .idle_ps = idle_ps,
    .idle_trip_ps = idle_trip_ps,
    .report = report,
};

const struct network_ops noc_flit_ops = {
    .name = "flit",
    .create = create_flit,
    .prepare = prepare_flit,
    .send = send_flits,
    .idle_ps = idle_ps,
    .idle_trip_ps = idle_trip_ps,
    .report = report,
};
