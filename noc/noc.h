/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network on chip at two levels over one configuration (core/chip/noc_config.h):
 *
 * - packet: every port of every router has a calendar of the cycles it is taken; a
 *   packet reserves its cycles hop by hop. Knows queueing, not finite buffers. Fast;
 *   within 10% of a flit-accurate model up to half of the network's capacity.
 * - flit: routers with virtual channels and credits, cycle by cycle.
 *
 * Time is in cycles of the network's clock, counted from 0; transport.h puts either
 * level behind the event engine.
 */
#ifndef VINCI_NOC_NOC_H
#define VINCI_NOC_NOC_H

#include "core/base/diag.h"
#include "core/chip/noc_config.h"
#include "core/chip/soc.h"

/* Router and port numbers worked out from a configuration; read-only afterwards. */
struct noc_map {
  const struct noc_config *config;
  uint32_t port_count;      /* output ports of all routers, and as many input ports */
  uint32_t *port_base;      /* first output port of each router, and one past the last; */
  uint32_t *input_base;     /* input ports; in both, a router's links come before its terminals */
  uint32_t *link_port;      /* output port of each link */
  uint32_t *port_link;      /* link of each output port, NOC_NO_LINK at terminals */
  uint32_t *input_link;     /* link of each input port, likewise */
  uint32_t *port_input;     /* input port at the far end of an output port; port_count + terminal */
  uint32_t *input_source;   /* output port at the near end of an input; port_count + terminal */
  uint32_t *terminal_input; /* input port that a terminal sends into */
  uint32_t *terminal_output; /* output port that leads to a terminal */
  uint16_t *route;           /* [router][terminal]: output port, counted from the router's first */
  uint16_t *hops; /* [router][terminal]: routers on the way; 0: it leads round in a circle */
};

enum { NOC_NO_LINK = UINT32_MAX };

/* Unsound graphs and numbers out of range are errors; config must outlive the map. */
VINCI_MUST_CHECK enum vinci_status noc_map_create(struct noc_map *map, struct arena *arena,
                                                  const struct noc_config *config,
                                                  struct vinci_diag *diag);

/* Routers that a packet visits, those at both ends included. */
uint32_t noc_hops(const struct noc_map *map, uint32_t source, uint32_t destination);

/* Cycles from the creation of a packet to the arrival of its last flit in an idle network. */
uint64_t noc_idle_cycles(const struct noc_map *map, uint32_t source, uint32_t destination,
                         uint64_t flits);

/* Flits of a packet of N bytes, at least 1. */
uint64_t noc_flits(const struct noc_config *config, uint64_t bytes);

/* Output port of a router on the way to a terminal. */
static inline uint32_t noc_next_port(const struct noc_map *map, uint32_t router,
                                     uint32_t destination) {
  return map->port_base[router] +
         map->route[(size_t)router * map->config->graph.terminal_count + destination];
}

#endif
