/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flit level: input-queued routers with virtual channels and credits, simulated
 * cycle by cycle. Route computation, virtual channel allocation, switch allocation and
 * switch traversal take a cycle each; both allocators are iSLIP of one iteration
 * (McKeown 1999), round robin with pointers that move on accepted grants only.
 *
 * Only routers with work are visited. All memory is taken at creation.
 */
#ifndef VINCI_NOC_FLIT_H
#define VINCI_NOC_FLIT_H

#include "noc/noc.h"

/* A packet under way; owned by the caller from its offer until its last flit has arrived. */
struct flit_packet {
  uint32_t source;
  uint32_t destination;
  uint32_t flits; /* at least 1 */
  /* ---- owned by the network until arrival */
  uint32_t sent;
  uint32_t received;
  uint64_t first_cycle;   /* first flit left the source */
  uint64_t arrival_cycle; /* last flit arrived */
  struct flit_packet *next;
};

struct flit_counters {
  uint64_t packets_offered;
  uint64_t packets_arrived;
  uint64_t flits_sent; /* from terminals */
  uint64_t flits_arrived;
  uint64_t flit_hops; /* flits times routers passed */
};

struct flit_network;

/* NULL when memory is short. map must outlive the network. */
struct flit_network *flit_create(struct arena *arena, const struct noc_map *map);

/* Puts a packet behind those already waiting at its source; it can leave in the next step. */
void flit_offer(struct flit_network *network, struct flit_packet *packet);
/* Whether a source has sent all it was offered. */
bool flit_source_idle(const struct flit_network *network, uint32_t terminal);

/* The cycle that is simulated next. */
uint64_t flit_cycle(const struct flit_network *network);
/*
 * A cycle in two halves. Packets that are offered between the halves leave in this cycle. The
 * first half returns the packets whose last flit has arrived, linked by `next`.
 */
struct flit_packet *flit_step_arrivals(struct flit_network *network);
void flit_step_routers(struct flit_network *network);
/* No flit is in a router or on a link and no source waits: steps would do nothing. */
bool flit_idle(const struct flit_network *network);
/* Moves an idle network's clock forward. */
void flit_skip_to(struct flit_network *network, uint64_t cycle);

const struct flit_counters *flit_counters(const struct flit_network *network);
/* Flits that have left through an output port (struct noc_map) so far. */
uint64_t flit_port_flits(const struct flit_network *network, uint32_t port);

#endif
