/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet level: a packet takes cycles in the calendar of each output port on its
 * way. Buffers are endless, allocators perfect.
 *
 * Two forms over the same calendars:
 * - walk: the whole way in one call. Calls come by rising cycle; at a port far away a
 *   packet created earlier goes before one that would be there earlier, unless that one
 *   finds free cycles between. This is the fast form. Over the 4-VC rows of
 *   tests/reference/noc up to 90% of the bound its mean latency is within 1.6% of that of
 *   the other form, 0.2% on average, and as near to the reference.
 * - hop by hop: the caller comes back at each cycle that packet_advance returns, in order
 *   of time, so that ports serve in order of arrival.
 */
#ifndef VINCI_NOC_PACKET_H
#define VINCI_NOC_PACKET_H

#include "core/sim/memsys.h"
#include "noc/noc.h"

struct packet_network;

/* NULL when memory is short. map must outlive the network. */
struct packet_network *packet_create(struct arena *arena, const struct noc_map *map);

/* Sends a packet created at a cycle, not before those of earlier calls; returns the cycle at
 * which its last flit arrives. */
uint64_t packet_walk(struct packet_network *network, uint32_t source, uint32_t destination,
                     uint64_t flits, uint64_t cycle);

/* Packets between one terminal and others, which are slices numbered from first_far on. */
struct packet_ends {
  uint32_t near;
  uint32_t first_far;
  bool to_near;
};

/* The same for a message per leg, one after the other, each starting at its time, at or after the
 * cycle `now`. */
void packet_arrivals(struct packet_network *network, const struct packet_ends *ends,
                     struct network_leg *legs, unsigned count, uint64_t now);

/* A packet on its way hop by hop. */
struct packet_head {
  uint32_t destination;
  uint32_t input; /* port at which the header arrives; NOC_NO_LINK: the packet is through */
  uint64_t flits;
  uint64_t first_cycle;   /* of the header there; at the end, of the last flit at its terminal */
  uint64_t last_cycle;    /* of the last flit */
  uint64_t waited_cycles; /* for switches */
};

/* Leaves the source at or after a cycle; head->first_cycle tells when to advance. */
void packet_start(struct packet_network *network, struct packet_head *head, uint32_t source,
                  uint32_t destination, uint64_t flits, uint64_t cycle);
/* Passes the router the header is at; called at head->first_cycle, in order of time. */
void packet_advance(struct packet_network *network, struct packet_head *head);

/* Flits that have passed an output port (struct noc_map), in the future of their calls. */
uint64_t packet_port_flits(struct packet_network *network, uint32_t port);

#endif
