/* SPDX-License-Identifier: Apache-2.0 */
/* The flit level: creation, what arrives in a cycle, injection. */
#include "noc/flit_state.h"

#include <string.h>

enum { WORD_BITS = 64 };

/* ---- creation ----------------------------------------------------------------------- */

static uint32_t words_for(uint32_t bits) { return (bits + WORD_BITS - 1) / WORD_BITS; }

static uint32_t power_of_two_above(uint32_t value) {
  uint32_t power = 1;
  while (power <= value)
    power *= 2;
  return power;
}

static uint32_t most_inputs(const struct noc_map *map) {
  uint32_t most = 0;
  for (uint32_t r = 0; r < map->config->graph.router_count; r++)
    if (map->input_base[r + 1] - map->input_base[r] > most)
      most = map->input_base[r + 1] - map->input_base[r];
  return most;
}

static bool create_wheel(struct flit_network *network, struct arena *arena) {
  const struct noc_map *map = network->map;
  const struct noc_config *config = map->config;
  uint32_t terminals = config->graph.terminal_count;
  /* The furthest event is the credit of a flit that leaves: two trips over the link. */
  uint32_t depth = power_of_two_above(3 + 2 * config->link_cycles + config->credit_cycles);
  network->wheel_mask = depth - 1;
  network->wheel = ARENA_ARRAY(arena, struct wheel_slot, depth);
  for (uint32_t s = 0; network->wheel && s < depth; s++) {
    /* Each port and each terminal sends one flit a cycle, each input one credit. */
    struct wheel_slot *slot = &network->wheel[s];
    slot->flits = ARENA_ARRAY(arena, struct flying, map->port_count + terminals);
    slot->credits = ARENA_ARRAY(arena, uint32_t, map->port_count + terminals);
    if (!slot->flits || !slot->credits)
      return false;
  }
  return network->wheel != NULL;
}

static void init_input_vcs(struct flit_network *network) {
  const struct noc_map *map = network->map;
  for (uint32_t r = 0; r < map->config->graph.router_count; r++)
    for (uint32_t input = map->input_base[r]; input < map->input_base[r + 1]; input++)
      for (uint32_t v = 0; v < network->vcs; v++)
        network->input_vcs[input * network->vcs + v] = (struct input_vc){
            .bit = (uint16_t)(((input - map->input_base[r]) << network->stride_shift) + v),
            .router = r,
        };
}

static void init_ports(struct flit_network *network) {
  const struct noc_map *map = network->map;
  uint32_t all = (1u << network->vcs) - 1;
  for (uint32_t p = 0; p < map->port_count; p++) {
    struct output_port *port = &network->ports[p];
    port->free_vcs = port->class_vcs[0] = all;
    if (map->config->graph.routing == NOC_ROUTING_RING && map->port_link[p] != NOC_NO_LINK) {
      port->class_vcs[0] = (1u << network->vcs / 2) - 1;
      port->class_vcs[1] = all & ~port->class_vcs[0];
    }
    for (uint32_t v = 0; v < network->vcs; v++)
      network->output_vcs[p * network->vcs + v] = (struct output_vc){
          .owner = NO_OWNER,
          .credits = (uint16_t)map->config->vc_flits,
      };
  }
  uint32_t terminals = map->config->graph.terminal_count;
  for (uint32_t t = 0; t < terminals; t++)
    network->sources[t].last_vc = network->vcs; /* none: the first packet takes VC 0 */
  for (uint32_t i = 0; i < terminals * network->vcs; i++)
    network->source_credits[i] = (uint16_t)map->config->vc_flits;
}

struct flit_network *flit_create(struct arena *arena, const struct noc_map *map) {
  struct flit_network *network = ARENA_NEW(arena, struct flit_network);
  if (!network)
    return NULL;
  const struct noc_config *config = map->config;
  uint32_t routers = config->graph.router_count, terminals = config->graph.terminal_count;
  uint32_t inputs = most_inputs(map);
  size_t ports = map->port_count, vcs = config->vcs;
  network->map = map;
  network->vcs = config->vcs;
  while (1u << network->stride_shift < config->vcs)
    network->stride_shift++;
  network->words = words_for(inputs << network->stride_shift);
  network->active_words = words_for(routers);
  network->sending_words = words_for(terminals);
  network->input_vcs = ARENA_ARRAY(arena, struct input_vc, ports * vcs);
  network->buffers = ARENA_ARRAY(arena, struct flit_packet *, ports * vcs * config->vc_flits);
  network->ports = ARENA_ARRAY(arena, struct output_port, ports);
  network->output_vcs = ARENA_ARRAY(arena, struct output_vc, ports * vcs);
  network->next_output_vc = ARENA_ARRAY(arena, uint16_t, ports * vcs);
  network->next_output = ARENA_ARRAY(arena, uint16_t, ports);
  network->next_vc = ARENA_ARRAY(arena, uint8_t, ports);
  network->routing = ARENA_ARRAY(arena, uint64_t, (size_t)routers * network->words);
  network->vc_requests = ARENA_ARRAY(arena, uint64_t, ports * VC_CLASSES * network->words);
  network->switch_requests = ARENA_ARRAY(arena, uint64_t, ports * network->words);
  network->work = ARENA_ARRAY(arena, uint32_t, routers);
  network->active = ARENA_ARRAY(arena, uint64_t, network->active_words);
  network->best_output = ARENA_ARRAY(arena, uint16_t, inputs);
  network->granted = ARENA_ARRAY(arena, uint32_t, inputs);
  network->activated = ARENA_ARRAY(arena, uint32_t, inputs * vcs);
  network->sources = ARENA_ARRAY(arena, struct source, terminals);
  network->source_credits = ARENA_ARRAY(arena, uint16_t, terminals * vcs);
  network->sending = ARENA_ARRAY(arena, uint64_t, network->sending_words);
  /* An arena that has failed once may serve smaller requests later: every pointer counts. */
  if (!network->input_vcs || !network->buffers || !network->ports || !network->output_vcs ||
      !network->next_output_vc || !network->next_output || !network->next_vc || !network->routing ||
      !network->vc_requests || !network->switch_requests || !network->work || !network->active ||
      !network->best_output || !network->granted || !network->activated || !network->sources ||
      !network->source_credits || !network->sending || !create_wheel(network, arena))
    return NULL;
  init_input_vcs(network);
  init_ports(network);
  return network;
}

/* ---- arrivals ----------------------------------------------------------------------- */

static void take_credit(struct flit_network *network, uint32_t target) {
  uint32_t port_vcs = network->map->port_count * network->vcs;
  if (target >= port_vcs) {
    network->source_credits[target - port_vcs]++;
    return;
  }
  struct output_vc *out = &network->output_vcs[target];
  if (out->credits++ > 0 || out->owner == NO_OWNER)
    return;
  const struct input_vc *vc = &network->input_vcs[out->owner];
  if (vc->count > 0)
    flit_request_switch(network, vc);
}

static void take_flit(struct flit_network *network, uint32_t target, struct flit_packet *packet) {
  uint32_t size = network->map->config->vc_flits;
  struct input_vc *vc = &network->input_vcs[target];
  uint32_t place = vc->first + vc->count;
  network->buffers[(size_t)target * size + (place < size ? place : place - size)] = packet;
  vc->count++;
  if (vc->state == VC_IDLE)
    flit_start_packet(network, vc, target);
  else if (vc->state == VC_ACTIVE && vc->count == 1 && network->output_vcs[vc->out_vc].credits > 0)
    flit_request_switch(network, vc);
}

struct flit_packet *flit_step_arrivals(struct flit_network *network) {
  struct wheel_slot *slot = flit_slot(network, 0);
  struct flit_packet *arrived = NULL, **tail = &arrived;
  uint32_t router_targets = network->map->port_count * network->vcs;
  for (uint32_t i = 0; i < slot->credit_count; i++)
    take_credit(network, slot->credits[i]);
  for (uint32_t i = 0; i < slot->flit_count; i++) {
    struct flit_packet *packet = slot->flits[i].packet;
    if (slot->flits[i].target < router_targets) {
      take_flit(network, slot->flits[i].target, packet);
      continue;
    }
    network->in_flight--;
    network->counters.flits_arrived++;
    if (++packet->received < packet->flits)
      continue;
    network->counters.packets_arrived++;
    packet->arrival_cycle = network->cycle;
    packet->next = NULL;
    *tail = packet;
    tail = &packet->next;
  }
  slot->flit_count = slot->credit_count = 0;
  return arrived;
}

/* ---- injection ---------------------------------------------------------------------- */

void flit_offer(struct flit_network *network, struct flit_packet *packet) {
  struct source *source = &network->sources[packet->source];
  packet->sent = packet->received = 0;
  packet->next = NULL;
  if (source->head)
    source->tail->next = packet;
  else
    source->head = packet;
  source->tail = packet;
  network->sending[packet->source / WORD_BITS] |= UINT64_C(1) << (packet->source % WORD_BITS);
  network->counters.packets_offered++;
}

bool flit_source_idle(const struct flit_network *network, uint32_t terminal) {
  return network->sources[terminal].head == NULL;
}

/* The next VC, round robin, with room for a flit; last_vc tells which it is. */
static bool choose_vc(struct flit_network *network, uint32_t terminal) {
  struct source *source = &network->sources[terminal];
  uint32_t vcs = network->vcs;
  if (network->map->config->graph.routing == NOC_ROUTING_RING)
    vcs /= 2; /* before the dateline */
  uint32_t vc = source->last_vc;
  for (uint32_t i = 0; i < vcs; i++) {
    vc = vc + 1 < vcs ? vc + 1 : 0;
    if (network->source_credits[terminal * network->vcs + vc] == 0)
      continue;
    source->last_vc = vc;
    return true;
  }
  return false;
}

static void inject(struct flit_network *network, uint32_t terminal) {
  struct source *source = &network->sources[terminal];
  struct flit_packet *packet = source->head;
  if (packet->sent == 0 && !choose_vc(network, terminal))
    return;
  uint16_t *credits = &network->source_credits[terminal * network->vcs + source->last_vc];
  if (*credits == 0)
    return;
  if (packet->sent == 0)
    packet->first_cycle = network->cycle;
  --*credits;
  packet->sent++;
  network->in_flight++;
  network->counters.flits_sent++;
  struct wheel_slot *slot = flit_slot(network, 1 + network->map->config->link_cycles);
  uint32_t input = network->map->terminal_input[terminal];
  slot->flits[slot->flit_count++] = (struct flying){input * network->vcs + source->last_vc, packet};
  if (packet->sent < packet->flits)
    return;
  source->head = packet->next;
  if (!source->head)
    network->sending[terminal / WORD_BITS] &= ~(UINT64_C(1) << (terminal % WORD_BITS));
}

/* ---- a cycle ------------------------------------------------------------------------ */

void flit_step_routers(struct flit_network *network) {
  for (uint32_t w = 0; w < network->sending_words; w++)
    for (uint64_t rest = network->sending[w]; rest; rest &= rest - 1)
      inject(network, w * WORD_BITS + (uint32_t)__builtin_ctzll(rest));
  for (uint32_t w = 0; w < network->active_words; w++)
    for (uint64_t rest = network->active[w]; rest; rest &= rest - 1) {
      uint32_t router = w * WORD_BITS + (uint32_t)__builtin_ctzll(rest);
      flit_router_step(network, router);
      if (network->work[router] == 0)
        network->active[w] &= ~(UINT64_C(1) << (router % WORD_BITS));
    }
  network->cycle++;
}

bool flit_idle(const struct flit_network *network) {
  for (uint32_t w = 0; w < network->sending_words; w++)
    if (network->sending[w])
      return false;
  return network->in_flight == 0;
}

void flit_skip_to(struct flit_network *network, uint64_t cycle) {
  /* Credits may still be on their way: nothing else can happen, so all may arrive at once. */
  for (uint32_t s = 0; s <= network->wheel_mask && cycle > network->cycle; s++) {
    (void)flit_step_arrivals(network);
    network->cycle++;
  }
  if (cycle > network->cycle)
    network->cycle = cycle;
}

uint64_t flit_cycle(const struct flit_network *network) { return network->cycle; }

const struct flit_counters *flit_counters(const struct flit_network *network) {
  return &network->counters;
}

uint64_t flit_port_flits(const struct flit_network *network, uint32_t port) {
  return network->ports[port].flits;
}
