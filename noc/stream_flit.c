/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic traffic over the flit level. */
#include "noc/flit.h"
#include "noc/stream_state.h"

struct stream_packet {
  struct flit_packet packet; /* first member */
  uint64_t created;
  bool measured;
};

struct flit_run {
  struct stream_run *run;
  struct flit_network *network;
  struct flit_packet *spare;
  uint64_t *next_trial; /* cycle of each terminal's next trial: lags while its queue is long */
};

/* More packets than buffers, links and sources can hold. */
static bool create_packets(struct flit_run *flit, struct arena *arena) {
  const struct noc_map *map = &flit->run->map;
  const struct noc_config *config = map->config;
  size_t per_port = (size_t)config->vcs * config->vc_flits + config->link_cycles + 2;
  size_t count = map->port_count * per_port + 2 * (size_t)config->graph.terminal_count;
  struct stream_packet *packets = ARENA_ARRAY(arena, struct stream_packet, count);
  for (size_t i = 0; packets && i < count; i++) {
    packets[i].packet.next = flit->spare;
    flit->spare = &packets[i].packet;
  }
  return packets != NULL;
}

static void take_arrivals(struct flit_run *flit) {
  struct flit_packet *packet = flit_step_arrivals(flit->network);
  while (packet) {
    struct flit_packet *next = packet->next;
    const struct stream_packet *held = (const struct stream_packet *)packet;
    stream_arrived(flit->run, packet->source, packet->destination, held->created,
                   packet->arrival_cycle, held->measured);
    packet->next = flit->spare;
    flit->spare = packet;
    packet = next;
  }
}

/*
 * A source with an empty queue catches up with its trials until one succeeds: the same
 * as an endless queue, without its memory. A packet counts as measured when it leaves
 * that queue in the measured cycles or was created in them.
 */
static void create_traffic(struct flit_run *flit, uint32_t source, uint64_t cycle) {
  struct stream_run *run = flit->run;
  uint32_t destination;
  while (flit->next_trial[source] <= cycle) {
    uint64_t created = flit->next_trial[source]++;
    if (!stream_trial(run, source, &destination))
      continue;
    struct stream_packet *held = (struct stream_packet *)flit->spare;
    flit->spare = held->packet.next;
    held->packet.source = source;
    held->packet.destination = destination;
    held->packet.flits = run->stream->flits;
    held->created = created;
    held->measured = cycle >= run->start && created < run->end;
    stream_created(run, created, held->measured);
    flit_offer(flit->network, &held->packet);
    return;
  }
}

static void step(struct flit_run *flit) {
  uint64_t cycle = flit_cycle(flit->network);
  take_arrivals(flit);
  for (uint32_t s = 0; s < flit->run->result->terminals; s++)
    if (flit_source_idle(flit->network, s))
      create_traffic(flit, s, cycle);
  flit_step_routers(flit->network);
}

/* Whether a packet created in the measured cycles may still wait at a source. */
static bool sources_behind(const struct flit_run *flit) {
  for (uint32_t s = 0; s < flit->run->result->terminals; s++)
    if (flit->next_trial[s] < flit->run->end)
      return true;
  return false;
}

static bool drain(struct flit_run *flit) {
  enum { CHECK_CYCLES = 1000 };
  for (uint64_t cycle = 1; flit->run->open_packets > 0 || sources_behind(flit); cycle++) {
    step(flit);
    if (cycle % CHECK_CYCLES == 0 && stream_too_slow(flit->run, flit_cycle(flit->network)))
      return false;
  }
  return true;
}

enum vinci_status stream_run_flits(struct stream_run *run, struct arena *arena,
                                   struct vinci_diag *diag) {
  struct noc_stream_result *result = run->result;
  struct flit_run flit = {.run = run, .network = flit_create(arena, &run->map)};
  flit.next_trial = ARENA_ARRAY(arena, uint64_t, result->terminals);
  if (!flit.network || !flit.next_trial || !create_packets(&flit, arena))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  result->stable = true;
  while (flit_cycle(flit.network) < run->end && (result->stable || run->stream->overload)) {
    step(&flit);
    uint64_t cycle = flit_cycle(flit.network);
    if (cycle % NOC_STREAM_SAMPLE_CYCLES == 0 && stream_too_slow(run, cycle))
      result->stable = false;
  }
  result->cycles =
      flit_cycle(flit.network) > run->start ? flit_cycle(flit.network) - run->start : 0;
  if (result->stable && !run->stream->overload)
    result->stable = drain(&flit);
  result->total_cycles = flit_cycle(flit.network);
  result->total_flit_hops = flit_counters(flit.network)->flit_hops;
  for (uint32_t port = 0; port < run->map.port_count; port++)
    if (flit_port_flits(flit.network, port) > result->busiest_link_flits)
      result->busiest_link_flits = flit_port_flits(flit.network, port);
  return VINCI_OK;
}
