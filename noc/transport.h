/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network behind the event engine, for the memory system. Two ways in:
 *
 * - noc_move_ps: a call that answers with the time of arrival. Packet level only. The
 *   caller calls by rising (time, its own number), which makes results the same
 *   whatever the numbering of parts.
 * - noc_send: a message whose done() is called in PHASE_DELIVER at its arrival. Any
 *   level, calls in any order; those of one instant are served by rising id.
 *
 * Times are rounded up to edges of the network's clock. A long transfer to one
 * destination is one message of many flits.
 */
#ifndef VINCI_NOC_TRANSPORT_H
#define VINCI_NOC_TRANSPORT_H

#include "core/base/clock.h"
#include "core/sim/engine.h"
#include "noc/flit.h"
#include "noc/packet.h"
#include "noc/stream.h"

/* Owned by the caller; the fields below the line belong to the network until done(). */
struct noc_message {
  uint32_t id; /* unique among those under way, < 2^31; orders messages of one instant */
  uint32_t source;
  uint32_t destination;
  uint64_t bytes;
  void (*done)(struct noc_message *message, uint64_t now_ps);
  void *owner;
  /* ---- */
  struct engine_event event;
  struct noc *noc;
  struct packet_head head;
  struct flit_packet packet;
};

struct noc;

/*
 * A network of one level. It takes one part of the engine. config must outlive the network;
 * engine may be NULL when only noc_move_ps is used.
 */
VINCI_MUST_CHECK enum vinci_status noc_create(struct noc **out, struct arena *arena,
                                              struct engine *engine,
                                              const struct noc_config *config, enum noc_level level,
                                              uint32_t part, struct vinci_diag *diag);

/* Another network like one that is there; both share its map. NULL when memory is short. */
struct noc *noc_create_like(const struct noc *other, struct arena *arena, uint32_t part);

/* Arrival of the last byte of a transfer that starts at now_ps. NOC_LEVEL_PACKET only. */
uint64_t noc_move_ps(struct noc *noc, uint32_t source, uint32_t destination, uint64_t bytes,
                     uint64_t now_ps);

/* The same for messages that start at their time_ps, after now_ps, which becomes that of their
 * arrival. */
void noc_arrivals(struct noc *noc, const struct packet_ends *ends, struct network_leg *legs,
                  unsigned count, uint64_t now_ps);

/* Sends a message at the present time of the engine. */
void noc_send(struct noc *noc, struct noc_message *message);

const struct noc_map *noc_map_of(const struct noc *noc);

/* The packet level keeps within 10% of the flit level while no link is busier than this. */
enum { NOC_PACKET_LEVEL_MAX_PPM = 600000 };

/* What an output port (struct noc_map) has sent. */
uint64_t noc_port_flits(const struct noc *noc, uint32_t port);
/* Share of the cycles up to total_ps in which an output port (struct noc_map) sent a flit. */
uint64_t noc_port_ppm(const struct noc *noc, uint32_t port, uint64_t total_ps);
/* The busiest link between routers, ports to terminals left out; 0 when there is none. */
uint64_t noc_busiest_link_ppm(const struct noc *noc, uint64_t total_ps, uint32_t *link);

#endif
