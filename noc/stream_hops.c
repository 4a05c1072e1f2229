/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic traffic over the packet level, hop by hop. */
#include "noc/packet.h"
#include "noc/stream_state.h"

struct hop_packet {
  struct packet_head head;
  uint32_t source;
  uint64_t created;
  struct hop_packet *next;
};

/*
 * Headers by the cycle they are due: a ring of lists. A header that is due later than
 * the ring reaches comes round again.
 */
enum { RING_CYCLES = 4096 };

struct hop_run {
  struct stream_run *run;
  struct packet_network *network;
  struct hop_packet *due[RING_CYCLES];
  struct hop_packet *spare;
  struct arena *arena;
};

/* Sorted by input port: the order of those due in one cycle is the ports', not history's. */
static void enqueue(struct hop_run *hop, struct hop_packet *packet) {
  struct hop_packet **place = &hop->due[packet->head.first_cycle % RING_CYCLES];
  while (*place && (*place)->head.input < packet->head.input)
    place = &(*place)->next;
  packet->next = *place;
  *place = packet;
}

static void retire(struct hop_run *hop, struct hop_packet *packet) {
  struct stream_run *run = hop->run;
  stream_arrived(run, packet->source, packet->head.destination, packet->created,
                 packet->head.last_cycle, packet->created >= run->start);
  packet->next = hop->spare;
  hop->spare = packet;
}

static void advance_due(struct hop_run *hop, uint64_t cycle) {
  struct hop_packet **place = &hop->due[cycle % RING_CYCLES];
  while (*place) {
    struct hop_packet *packet = *place;
    if (packet->head.first_cycle != cycle) {
      place = &packet->next;
      continue;
    }
    *place = packet->next;
    packet_advance(hop->network, &packet->head);
    if (packet->head.input == NOC_NO_LINK)
      retire(hop, packet);
    else
      enqueue(hop, packet);
  }
}

static struct hop_packet *new_packet(struct hop_run *hop) {
  struct hop_packet *packet = hop->spare;
  if (!packet)
    return ARENA_NEW(hop->arena, struct hop_packet);
  hop->spare = packet->next;
  return packet;
}

static bool create_traffic(struct hop_run *hop, uint64_t cycle) {
  struct stream_run *run = hop->run;
  struct noc_stream_result *result = run->result;
  for (uint32_t source = 0; source < result->terminals; source++) {
    uint32_t destination;
    if (!stream_trial(run, source, &destination))
      continue;
    struct hop_packet *packet = new_packet(hop);
    if (!packet)
      return false;
    packet->source = source;
    packet->created = cycle;
    packet_start(hop->network, &packet->head, source, destination, run->stream->flits, cycle);
    stream_created(run, cycle, cycle >= run->start);
    result->total_flit_hops +=
        (uint64_t)run->hops[source * result->terminals + destination] * run->stream->flits;
    enqueue(hop, packet);
  }
  return true;
}

enum vinci_status stream_run_hops(struct stream_run *run, struct arena *arena,
                                  struct vinci_diag *diag) {
  struct noc_stream_result *result = run->result;
  struct hop_run *hop = ARENA_NEW(arena, struct hop_run);
  if (hop)
    *hop = (struct hop_run){.run = run, .network = packet_create(arena, &run->map), .arena = arena};
  if (!hop || !hop->network)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  uint64_t cycle = 0;
  for (; cycle < run->end || run->open_packets > 0; cycle++) {
    advance_due(hop, cycle);
    if (cycle < run->end && !create_traffic(hop, cycle))
      return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  result->stable = result->latency_cycles <= result->packets * NOC_STREAM_UNSTABLE_CYCLES;
  result->total_cycles = cycle;
  for (uint32_t port = 0; port < run->map.port_count; port++)
    if (packet_port_flits(hop->network, port) > result->busiest_link_flits)
      result->busiest_link_flits = packet_port_flits(hop->network, port);
  return VINCI_OK;
}
