/* SPDX-License-Identifier: Apache-2.0 */
/* One cycle of a router: VC allocation, route computation, switch allocation. */
#include "noc/flit_state.h"

enum { WORD_BITS = 64 };

static bool mask_empty(const uint64_t *mask, uint32_t words) {
  uint64_t any = 0;
  for (uint32_t w = 0; w < words; w++)
    any |= mask[w];
  return any == 0;
}

/* The first bit at or after start, going round; the mask is not empty. */
static uint32_t mask_next(const uint64_t *mask, uint32_t words, uint32_t start) {
  uint32_t word = start / WORD_BITS;
  if (word >= words)
    word = start = 0;
  uint64_t rest = mask[word] >> (start % WORD_BITS);
  if (rest)
    return start + (uint32_t)__builtin_ctzll(rest);
  do
    word = word + 1 < words ? word + 1 : 0;
  while (mask[word] == 0);
  return word * WORD_BITS + (uint32_t)__builtin_ctzll(mask[word]);
}

static void mask_set(uint64_t *mask, uint32_t bit) {
  mask[bit / WORD_BITS] |= UINT64_C(1) << (bit % WORD_BITS);
}

static void mask_clear(uint64_t *mask, uint32_t bit) {
  mask[bit / WORD_BITS] &= ~(UINT64_C(1) << (bit % WORD_BITS));
}

static uint64_t *vc_requests(struct flit_network *network, uint32_t port, uint32_t vc_class) {
  return network->vc_requests + ((size_t)port * VC_CLASSES + vc_class) * network->words;
}

static uint64_t *switch_requests(struct flit_network *network, uint32_t port) {
  return network->switch_requests + (size_t)port * network->words;
}

/* ---- requests --------------------------------------------------------------------- */

void flit_request_switch(struct flit_network *network, const struct input_vc *vc) {
  mask_set(switch_requests(network, vc->port), vc->bit);
  flit_wake(network, vc->router);
}

static void withdraw_switch(struct flit_network *network, const struct input_vc *vc) {
  mask_clear(switch_requests(network, vc->port), vc->bit);
  network->work[vc->router]--;
}

/* Route computation: the output port, and on a ring the class of virtual channels. */
static void compute_route(struct flit_network *network, struct input_vc *vc, uint32_t index) {
  const struct noc_map *map = network->map;
  const struct flit_packet *packet =
      network->buffers[(size_t)index * map->config->vc_flits + vc->first];
  vc->port = noc_next_port(map, vc->router, packet->destination);
  vc->state = VC_ALLOCATION;
  vc->vc_class = 0;
  if (map->config->graph.routing == NOC_ROUTING_RING) {
    uint32_t link = map->port_link[vc->port];
    bool upper = index % network->vcs >= network->vcs / 2;
    bool crossed = link != NOC_NO_LINK && map->config->graph.links[link].dateline;
    vc->vc_class = link != NOC_NO_LINK && (upper || crossed);
  }
  mask_set(vc_requests(network, vc->port, vc->vc_class), vc->bit);
  flit_wake(network, vc->router);
}

void flit_start_packet(struct flit_network *network, struct input_vc *vc, uint32_t index) {
  vc->left = network->buffers[(size_t)index * network->map->config->vc_flits + vc->first]->flits;
  if (network->map->config->routing_cycles == 0) {
    compute_route(network, vc, index);
    return;
  }
  vc->state = VC_ROUTING;
  mask_set(network->routing + (size_t)vc->router * network->words, vc->bit);
  flit_wake(network, vc->router);
}

static uint32_t index_of_bit(const struct flit_network *network, uint32_t router, uint32_t bit) {
  uint32_t input = network->map->input_base[router] + (bit >> network->stride_shift);
  return input * network->vcs + (bit & ((1u << network->stride_shift) - 1));
}

static void route_packets(struct flit_network *network, uint32_t router) {
  uint64_t *mask = network->routing + (size_t)router * network->words;
  for (uint32_t w = 0; w < network->words; w++) {
    while (mask[w]) {
      uint32_t bit = w * WORD_BITS + (uint32_t)__builtin_ctzll(mask[w]);
      mask[w] &= mask[w] - 1;
      network->work[router]--;
      uint32_t index = index_of_bit(network, router, bit);
      compute_route(network, &network->input_vcs[index], index);
    }
  }
}

/* ---- VC allocation ---------------------------------------------------------------- */

/* An output VC's offer to an input VC. */
struct vc_grant {
  uint32_t bit;
  uint32_t vc;
  uint32_t rank; /* how far behind the input VC's priority; the smallest is accepted */
};

/* Each free output VC offers itself to one request; each request keeps its best offer. */
static uint32_t collect_grants(const struct flit_network *network, uint32_t router, uint32_t port,
                               const uint64_t *requests, uint32_t free_vcs,
                               struct vc_grant *grants) {
  uint32_t count = 0, base = (port - network->map->port_base[router]) * network->vcs;
  for (; free_vcs; free_vcs &= free_vcs - 1) {
    uint32_t vc = (uint32_t)__builtin_ctz(free_vcs);
    const struct output_vc *out = &network->output_vcs[port * network->vcs + vc];
    uint32_t bit = mask_next(requests, network->words, out->first);
    uint32_t start = network->next_output_vc[index_of_bit(network, router, bit)] - base;
    uint32_t rank = start < network->vcs && vc < start ? vc + network->vcs : vc;
    uint32_t g = 0;
    while (g < count && grants[g].bit != bit)
      g++;
    if (g == count)
      grants[count++] = (struct vc_grant){bit, vc, rank};
    else if (rank < grants[g].rank)
      grants[g] = (struct vc_grant){bit, vc, rank};
  }
  return count;
}

static uint32_t wrap(uint32_t value, uint32_t count) { return value < count ? value : 0; }

static void accept_vc(struct flit_network *network, uint32_t router, uint32_t port,
                      const struct vc_grant *grant) {
  const struct noc_map *map = network->map;
  uint32_t index = index_of_bit(network, router, grant->bit);
  struct input_vc *in = &network->input_vcs[index];
  uint32_t out_vc = port * network->vcs + grant->vc;
  mask_clear(vc_requests(network, port, in->vc_class), in->bit);
  network->work[router]--;
  in->state = VC_ACTIVE;
  in->out_vc = out_vc;
  network->ports[port].free_vcs &= ~(1u << grant->vc);
  network->output_vcs[out_vc].owner = index;
  network->output_vcs[out_vc].first = (uint16_t)(grant->bit + 1); /* beyond the last: wraps */
  uint32_t outputs = map->port_base[router + 1] - map->port_base[router];
  network->next_output_vc[index] = (uint16_t)wrap(
      (port - map->port_base[router]) * network->vcs + grant->vc + 1, outputs * network->vcs);
}

/* Returns how many input VCs got an output VC; they stand in network->activated. */
static uint32_t allocate_vcs(struct flit_network *network, uint32_t router) {
  const struct noc_map *map = network->map;
  uint32_t activated = 0;
  for (uint32_t port = map->port_base[router]; port < map->port_base[router + 1]; port++) {
    for (uint32_t c = 0; c < VC_CLASSES; c++) {
      const struct output_port *out = &network->ports[port];
      const uint64_t *requests = vc_requests(network, port, c);
      uint32_t free_vcs = out->free_vcs & out->class_vcs[c];
      if (free_vcs == 0 || mask_empty(requests, network->words))
        continue;
      struct vc_grant grants[sizeof free_vcs * 8];
      uint32_t count = collect_grants(network, router, port, requests, free_vcs, grants);
      for (uint32_t g = 0; g < count; g++) {
        network->activated[activated++] = index_of_bit(network, router, grants[g].bit);
        accept_vc(network, router, port, &grants[g]);
      }
    }
  }
  return activated;
}

/* ---- switch allocation ------------------------------------------------------------ */

/* A credit for the place that a flit has left goes back to where the flit came from. */
static void return_credit(struct flit_network *network, uint32_t index) {
  const struct noc_map *map = network->map;
  uint32_t source = map->input_source[index / network->vcs];
  uint32_t ahead = map->config->link_cycles + 1;
  if (source < map->port_count) /* terminals take credits at once */
    ahead += map->config->credit_cycles;
  struct wheel_slot *slot = flit_slot(network, ahead);
  slot->credits[slot->credit_count++] = source * network->vcs + index % network->vcs;
}

/* The flit crosses the switch in the next cycle and then the link. */
static void launch(struct flit_network *network, uint32_t port, uint32_t out_vc,
                   struct flit_packet *packet) {
  const struct noc_map *map = network->map;
  const struct noc_config *config = map->config;
  uint32_t ahead = 2 + config->link_cycles, input = map->port_input[port];
  struct wheel_slot *slot = flit_slot(network, ahead);
  slot->flits[slot->flit_count++] = (struct flying){(input - port) * network->vcs + out_vc, packet};
  if (input < map->port_count)
    return;
  /* The terminal takes the flit at once: its credit is back after a second trip. */
  slot = flit_slot(network, ahead + config->link_cycles + 1 + config->credit_cycles);
  slot->credits[slot->credit_count++] = out_vc;
}

static void finish_packet(struct flit_network *network, struct input_vc *vc, uint32_t index) {
  struct output_port *port = &network->ports[vc->port];
  port->free_vcs |= 1u << (vc->out_vc - vc->port * network->vcs);
  network->output_vcs[vc->out_vc].owner = NO_OWNER;
  if (vc->count > 0)
    flit_start_packet(network, vc, index);
  else
    vc->state = VC_IDLE;
}

static void send_flit(struct flit_network *network, uint32_t index) {
  struct input_vc *vc = &network->input_vcs[index];
  struct output_vc *out = &network->output_vcs[vc->out_vc];
  uint32_t size = network->map->config->vc_flits;
  struct flit_packet *packet = network->buffers[(size_t)index * size + vc->first];
  vc->first = (uint16_t)wrap(vc->first + 1u, size);
  vc->count--;
  vc->left--;
  out->credits--;
  network->ports[vc->port].flits++;
  network->counters.flit_hops++;
  return_credit(network, index);
  launch(network, vc->port, vc->out_vc, packet);
  if (vc->left == 0 || vc->count == 0 || out->credits == 0)
    withdraw_switch(network, vc);
  if (vc->left == 0)
    finish_packet(network, vc, index);
}

/* Each output offers itself to one input; each input keeps the offer nearest its priority. */
static uint32_t offer_outputs(struct flit_network *network, uint32_t router) {
  const struct noc_map *map = network->map;
  uint32_t base = map->port_base[router], count = 0;
  uint32_t outputs = map->port_base[router + 1] - base;
  for (uint32_t o = 0; o < outputs; o++) {
    const uint64_t *requests = switch_requests(network, base + o);
    if (mask_empty(requests, network->words))
      continue;
    uint32_t start = (uint32_t)network->ports[base + o].first_input << network->stride_shift;
    uint32_t input = mask_next(requests, network->words, start) >> network->stride_shift;
    uint32_t priority = network->next_output[map->input_base[router] + input];
    uint32_t held = network->best_output[input];
    if (held == 0)
      network->granted[count++] = input;
    /* Outputs come in rising order: the first at or after the priority wins, else the first. */
    if (held == 0 || (held - 1 < priority && o >= priority))
      network->best_output[input] = (uint16_t)(o + 1);
  }
  return count;
}

static void allocate_switch(struct flit_network *network, uint32_t router) {
  const struct noc_map *map = network->map;
  uint32_t count = offer_outputs(network, router);
  uint32_t inputs = map->input_base[router + 1] - map->input_base[router];
  uint32_t outputs = map->port_base[router + 1] - map->port_base[router];
  for (uint32_t g = 0; g < count; g++) {
    uint32_t local = network->granted[g], input = map->input_base[router] + local;
    uint32_t output = network->best_output[local] - 1u;
    network->best_output[local] = 0;
    uint32_t port = map->port_base[router] + output, bit = local << network->stride_shift;
    uint64_t vcs = switch_requests(network, port)[bit / WORD_BITS] >> (bit % WORD_BITS);
    vcs &= (1u << network->vcs) - 1;
    uint64_t later = vcs >> network->next_vc[input] << network->next_vc[input];
    uint32_t vc = (uint32_t)__builtin_ctzll(later ? later : vcs);
    network->next_vc[input] = (uint8_t)wrap(vc + 1, network->vcs);
    network->ports[port].first_input = (uint16_t)wrap(local + 1, inputs);
    network->next_output[input] = (uint16_t)wrap(output + 1, outputs);
    send_flit(network, input * network->vcs + vc);
  }
}

void flit_router_step(struct flit_network *network, uint32_t router) {
  /* All stages see the state at the start of the cycle: VC allocation comes before route
   * computation and the switch, whose results it may use in the next cycle only, and its
   * own results join the switch requests at the end. */
  uint32_t activated = allocate_vcs(network, router);
  route_packets(network, router);
  allocate_switch(network, router);
  for (uint32_t a = 0; a < activated; a++) {
    const struct input_vc *vc = &network->input_vcs[network->activated[a]];
    if (network->output_vcs[vc->out_vc].credits > 0)
      flit_request_switch(network, vc);
  }
}
