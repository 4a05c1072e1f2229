/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the network: topologies, latency laws, conservation, order, deadlock, accuracy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "noc/flit.h"
#include "noc/packet.h"
#include "tests/support/networks.h"

struct fixture {
  struct arena arena;
  struct noc_config config;
  struct noc_map map;
};

static int set_up(void **state) {
  *state = calloc(1, sizeof(struct fixture));
  return *state ? 0 : -1;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  arena_free(&f->arena);
  free(f);
  return 0;
}

static void use_mesh(struct fixture *f, uint32_t columns, uint32_t rows) {
  assert_true(networks_mesh(&f->arena, columns, rows, &f->config));
}

static void make_map(struct fixture *f) {
  assert_int_equal(noc_map_create(&f->map, &f->arena, &f->config, NULL), VINCI_OK);
}

static uint32_t distance(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

static uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  return x ^ x >> 31;
}

static void assert_near(double value, double expected, double tolerance) {
  if (!(value >= expected - tolerance && value <= expected + tolerance))
    fail_msg("%g is not within %g of %g", value, tolerance, expected);
}

/* ---- topologies ------------------------------------------------------------------- */

static void mesh_of_unequal_sides_has_all_links_both_ways(void **state) {
  struct fixture *f = *state;
  enum { COLUMNS = 6, ROWS = 4 };
  use_mesh(f, COLUMNS, ROWS);
  const struct noc_graph *graph = &f->config.graph;
  assert_int_equal(graph->router_count, COLUMNS * ROWS);
  assert_int_equal(graph->terminal_count, COLUMNS * ROWS);
  assert_int_equal(graph->link_count, 2 * ((COLUMNS - 1) * ROWS + COLUMNS * (ROWS - 1)));
  for (uint32_t l = 0; l < graph->link_count; l++) {
    unsigned back = 0;
    for (uint32_t m = 0; m < graph->link_count; m++)
      back +=
          graph->links[m].from == graph->links[l].to && graph->links[m].to == graph->links[l].from;
    assert_int_equal(back, 1);
  }
}

/* Counts how many of all pairs pass each link. */
static uint32_t *count_routes(struct fixture *f) {
  const struct noc_graph *graph = &f->config.graph;
  uint32_t *passed = ARENA_ARRAY(&f->arena, uint32_t, graph->link_count);
  for (uint32_t s = 0; s < graph->terminal_count; s++)
    for (uint32_t d = 0; d < graph->terminal_count; d++) {
      uint32_t router = graph->terminals[s], link;
      while ((link = f->map.port_link[noc_next_port(&f->map, router, d)]) != NOC_NO_LINK) {
        passed[link]++;
        router = graph->links[link].to;
      }
      assert_int_equal(router, graph->terminals[d]);
    }
  return passed;
}

/* Under XY a link along a row carries what starts before it in its row and ends behind it in
 * any; a link along a column what ends behind it in its column. */
static void xy_routes_load_links_as_counted_by_hand(void **state) {
  struct fixture *f = *state;
  enum { COLUMNS = 6, ROWS = 4 };
  use_mesh(f, COLUMNS, ROWS);
  make_map(f);
  const uint32_t *passed = count_routes(f);
  for (uint32_t l = 0; l < f->config.graph.link_count; l++) {
    uint32_t from = f->config.graph.links[l].from, to = f->config.graph.links[l].to;
    if (from / COLUMNS == to / COLUMNS) {
      uint32_t before = (from < to ? from : to) % COLUMNS + 1;
      assert_int_equal(passed[l], before * (COLUMNS - before) * ROWS);
    } else {
      uint32_t before = (from < to ? from : to) / COLUMNS + 1;
      assert_int_equal(passed[l], before * (ROWS - before) * COLUMNS);
    }
  }
}

static void ring_takes_the_shorter_way(void **state) {
  struct fixture *f = *state;
  for (uint32_t routers = 2; routers <= 9; routers++) {
    assert_true(networks_ring(&f->arena, routers, &f->config));
    make_map(f);
    for (uint32_t s = 0; s < routers; s++)
      for (uint32_t d = 0; d < routers; d++) {
        uint32_t ahead = (d + routers - s) % routers;
        uint32_t steps = ahead < routers - ahead ? ahead : routers - ahead;
        assert_int_equal(noc_hops(&f->map, s, d), steps + 1);
      }
  }
}

static void crossbar_is_one_hop(void **state) {
  struct fixture *f = *state;
  assert_true(networks_crossbar(&f->arena, 40, &f->config));
  make_map(f);
  for (uint32_t s = 0; s < 40; s++)
    for (uint32_t d = 0; d < 40; d++)
      assert_int_equal(noc_hops(&f->map, s, d), 1);
}

static void load_fails(const char *name, const struct noc_parameter *parameters, size_t count,
                       const char *expected) {
  struct arena arena = {0};
  struct noc_graph graph;
  struct vinci_diag diag = {0};
  assert_int_not_equal(noc_graph_load(NULL, name, parameters, count, &arena, &graph, &diag),
                       VINCI_OK);
  if (!strstr(diag.text, expected))
    fail_msg("'%s' does not tell '%s'", diag.text, expected);
  arena_free(&arena);
}

static void wrong_topologies_are_refused(void **state) {
  struct fixture *f = *state;
  struct vinci_diag diag = {0};
  const struct noc_parameter columns[] = {{"columns", 4}};
  const struct noc_parameter zero[] = {{"columns", 4}, {"rows", 0}};
  const struct noc_parameter huge[] = {{"columns", 100}, {"rows", 100}};
  load_fails("torus", NULL, 0, "unknown topology 'torus'");
  load_fails("../soc/sources", NULL, 0, "unknown topology");
  load_fails("mesh", columns, 1, "needs rows");
  load_fails("mesh", zero, 2, "needs rows");
  load_fails("mesh", huge, 2, "routers");
  assert_true(networks_ring(&f->arena, 6, &f->config));
  f->config.vcs = 1;
  assert_int_equal(noc_map_create(&f->map, &f->arena, &f->config, &diag), VINCI_E_USAGE);
  assert_non_null(strstr(diag.text, "deadlock"));
}

/* 910: 6 columns, 4 rows (Hot Chips 31). */
static void network_of_a_soc_follows_its_numbers(void **state) {
  (void)state;
  vinci_soc *soc;
  assert_int_equal(vinci_soc_load("Ascend910A", NULL, &soc, NULL), VINCI_OK);
  assert_int_equal(soc->topology->router_count, 24);
  assert_int_equal(soc->topology->link_count, 2 * (5 * 4 + 3 * 6));
  assert_int_equal(vinci_soc_set(soc, "noc.columns=5", NULL), VINCI_OK);
  assert_int_equal(soc->topology->router_count, 20);
  assert_int_equal(vinci_soc_set(soc, "noc.topology=ring", NULL), VINCI_OK);
  assert_int_equal(soc->topology->link_count, 2 * 20);
  assert_int_equal(vinci_soc_set(soc, "noc.rows=2", NULL), VINCI_OK);
  assert_int_equal(soc->topology->link_count, 2 * 10);
  assert_int_equal(vinci_soc_set(soc, "noc.topology=crossbar", NULL), VINCI_OK);
  assert_int_equal(soc->topology->router_count, 1);
  assert_int_equal(soc->topology->terminal_count, 10);
  vinci_soc_free(soc);
}

/* ---- latency in the idle network ---------------------------------------------------- */

static uint64_t flit_latency(struct flit_network *network, uint32_t source, uint32_t destination,
                             uint32_t flits) {
  struct flit_packet packet = {.source = source, .destination = destination, .flits = flits};
  flit_skip_to(network, flit_cycle(network) + 100);
  uint64_t created = flit_cycle(network);
  (void)flit_step_arrivals(network);
  flit_offer(network, &packet);
  flit_step_routers(network);
  while (!flit_step_arrivals(network))
    flit_step_routers(network);
  flit_step_routers(network);
  return packet.arrival_cycle - created;
}

static void check_law(struct fixture *f, uint32_t columns, uint32_t flits) {
  make_map(f);
  struct packet_network *packets = packet_create(&f->arena, &f->map);
  struct flit_network *network = flit_create(&f->arena, &f->map);
  uint64_t now = 0;
  for (uint32_t s = 0; s < f->config.graph.terminal_count; s++)
    for (uint32_t d = 0; d < f->config.graph.terminal_count; d++, now += 1000) {
      uint32_t hops = distance(s % columns, d % columns) + distance(s / columns, d / columns) + 1;
      uint64_t law = 2 + (4 + f->config.routing_cycles) * hops + flits - 1;
      assert_int_equal(noc_idle_cycles(&f->map, s, d, flits), law);
      assert_int_equal(packet_walk(packets, s, d, flits, now) - now, law);
      assert_int_equal(flit_latency(network, s, d, flits), law);
    }
}

static void idle_latency_is_two_and_five_per_router(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  for (uint32_t flits = 1; flits <= 9; flits += 4) {
    f->config.routing_cycles = 1;
    check_law(f, 6, flits);
    f->config.routing_cycles = 0;
    check_law(f, 6, flits);
  }
}

static void idle_latency_counts_longer_links_once_per_hop(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 4, 1);
  f->config.link_cycles = 3;
  make_map(f);
  struct packet_network *packets = packet_create(&f->arena, &f->map);
  struct flit_network *network = flit_create(&f->arena, &f->map);
  /* 1 + 3 to the first router, (4 + 3) for each of 4 */
  assert_int_equal(packet_walk(packets, 0, 3, 1, 0), 32);
  assert_int_equal(flit_latency(network, 0, 3, 1), 32);
}

/* Packets of a flit from the first of three routers, to the other two in turn. */
static uint64_t alternating_packets(struct fixture *f, uint32_t count) {
  struct flit_packet packets[16] = {0};
  struct flit_network *network = flit_create(&f->arena, &f->map);
  for (uint32_t i = 0; i < count; i++) {
    packets[i] = (struct flit_packet){.destination = 1 + i % 2, .flits = 1};
    flit_offer(network, &packets[i]);
  }
  while (!flit_idle(network)) {
    (void)flit_step_arrivals(network);
    flit_step_routers(network);
  }
  return packets[count - 1].arrival_cycle;
}

/* With buffers of one flit a packet leaves the first router when the credit for the one before is
 * back: each but the first waits for its handling. */
static void flits_wait_for_credits(void **state) {
  struct fixture *f = *state;
  enum { COUNT = 11, FEW = 9, MANY = 21 };
  use_mesh(f, 3, 1);
  f->config.vcs = f->config.vc_flits = 1;
  f->config.credit_cycles = FEW;
  make_map(f);
  uint64_t few = alternating_packets(f, COUNT);
  f->config.credit_cycles = MANY;
  make_map(f);
  assert_int_equal(alternating_packets(f, COUNT), few + (COUNT - 1) * (MANY - FEW));
}

/* The rest behind whole flits takes one of its own; a message of nothing is a header. */
static void bytes_fill_flits(void **state) {
  struct fixture *f = *state;
  static const struct {
    uint32_t flits, rest;
  } cases[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {9, 1}};
  use_mesh(f, 4, 1);
  make_map(f);
  uint64_t flit_bytes = f->config.flit_bytes, cycle_ps = 1000000000000 / f->config.clock_hz;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t bytes = cases[i].flits * flit_bytes + cases[i].rest;
    uint64_t flits = cases[i].flits + cases[i].rest > 0 ? cases[i].flits + cases[i].rest : 1;
    struct packet_network *packets = packet_create(&f->arena, &f->map);
    struct packet_ends ends = {.near = 0, .first_far = 1};
    struct network_leg leg = {.slice = 2, .bytes = (uint32_t)bytes};
    packet_arrivals(packets, &ends, &leg, 1, 0);
    assert_int_equal(noc_flits(&f->config, bytes), flits);
    assert_int_equal(leg.time_ps, noc_idle_cycles(&f->map, 0, 3, flits) * cycle_ps);
  }
}

/* ---- packet level: calendars -------------------------------------------------------- */

static void long_transfers_follow_one_another_without_gaps(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 4, 4);
  make_map(f);
  struct packet_network *packets = packet_create(&f->arena, &f->map);
  enum { FLITS = 5000 }; /* far beyond the window of a calendar */
  uint64_t first = packet_walk(packets, 0, 3, FLITS, 0);
  assert_int_equal(first, noc_idle_cycles(&f->map, 0, 3, FLITS));
  assert_int_equal(packet_walk(packets, 0, 3, FLITS, 0), first + FLITS);
  assert_int_equal(packet_walk(packets, 0, 3, FLITS, 100), first + 2 * FLITS);
  /* A way that shares no port is not touched, nor is the same way afterwards. */
  assert_int_equal(packet_walk(packets, 12, 15, 1, 200), 200 + noc_idle_cycles(&f->map, 12, 15, 1));
  assert_int_equal(packet_walk(packets, 0, 3, 1, 100000),
                   100000 + noc_idle_cycles(&f->map, 0, 3, 1));
}

/* The second packet to one port waits for all flits of the first. Routers take flits in turn, so
 * its last one is later by that wait once more, but for the part of a flit that is not shared. */
static void sharing_a_port_delays_the_last_flit(void **state) {
  struct fixture *f = *state;
  assert_true(networks_crossbar(&f->arena, 40, &f->config));
  make_map(f);
  for (uint64_t flits = 1; flits <= 9; flits++) {
    struct packet_network *packets = packet_create(&f->arena, &f->map);
    uint64_t idle = noc_idle_cycles(&f->map, 0, 2, flits);
    assert_int_equal(packet_walk(packets, 0, 2, flits, 0), idle);
    assert_int_equal(packet_walk(packets, 1, 2, flits, 0), idle + flits + (flits - 1));
  }
}

static void early_packets_use_the_cycles_late_ones_leave_free(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 8, 1);
  make_map(f);
  struct packet_network *packets = packet_create(&f->arena, &f->map);
  /* From the far end to 7: reserves the link 6 -> 7 long before it is there. */
  (void)packet_walk(packets, 0, 7, 4, 0);
  assert_int_equal(packet_walk(packets, 6, 7, 4, 0), noc_idle_cycles(&f->map, 6, 7, 4));
}

static void a_port_never_passes_more_than_a_flit_a_cycle(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 4, 4);
  make_map(f);
  struct packet_network *packets = packet_create(&f->arena, &f->map);
  uint64_t seed = 7, last = 0;
  enum { PACKETS = 4000, FLITS = 3 };
  for (uint32_t i = 0; i < PACKETS; i++) {
    uint64_t arrival = packet_walk(packets, (uint32_t)(random_next(&seed) % 16), 5, FLITS, i / 8);
    last = arrival > last ? arrival : last;
  }
  assert_true(last >= PACKETS * FLITS);
  assert_int_equal(packet_port_flits(packets, f->map.terminal_output[5]), PACKETS * FLITS);
}

/* ---- flit level: conservation and deadlock -------------------------------------------- */

struct load {
  struct flit_packet *packets;
  uint32_t count;
  uint64_t hops; /* flits times routers */
};

static struct load offer_random(struct fixture *f, struct flit_network *network, uint32_t count) {
  struct load load = {.packets = ARENA_ARRAY(&f->arena, struct flit_packet, count), .count = count};
  uint64_t seed = 3;
  uint32_t terminals = f->config.graph.terminal_count;
  for (uint32_t i = 0; i < count; i++) {
    struct flit_packet *packet = &load.packets[i];
    packet->source = (uint32_t)(random_next(&seed) % terminals);
    packet->destination = (uint32_t)(random_next(&seed) % terminals);
    packet->flits = 1 + (uint32_t)(random_next(&seed) % 12);
    load.hops += (uint64_t)packet->flits * noc_hops(&f->map, packet->source, packet->destination);
    flit_offer(network, packet);
  }
  return load;
}

/* Everything is offered at once and must arrive, each flit once. */
static void overload_drains(struct fixture *f) {
  enum { PACKETS = 6000, CYCLES_MAX = 1000000 };
  make_map(f);
  struct flit_network *network = flit_create(&f->arena, &f->map);
  struct load load = offer_random(f, network, PACKETS);
  uint64_t arrived = 0;
  while (!flit_idle(network) && flit_cycle(network) < CYCLES_MAX) {
    for (struct flit_packet *p = flit_step_arrivals(network); p; p = p->next) {
      assert_int_equal(p->received, p->flits);
      assert_true(p->arrival_cycle >=
                  p->first_cycle + noc_idle_cycles(&f->map, p->source, p->destination, p->flits));
      arrived++;
    }
    flit_step_routers(network);
  }
  const struct flit_counters *counters = flit_counters(network);
  assert_int_equal(arrived, PACKETS);
  assert_int_equal(counters->packets_arrived, PACKETS);
  assert_int_equal(counters->flits_sent, counters->flits_arrived);
  assert_int_equal(counters->flit_hops, load.hops);
  uint64_t passed = 0;
  for (uint32_t port = 0; port < f->map.port_count; port++)
    passed += flit_port_flits(network, port);
  assert_int_equal(passed, load.hops);
}

static void overloaded_meshes_drain(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  overload_drains(f);
  f->config.vcs = 1;
  overload_drains(f);
  f->config.vcs = 3;
  f->config.vc_flits = 1;
  overload_drains(f);
}

static void overloaded_rings_drain(void **state) {
  struct fixture *f = *state;
  for (uint32_t routers = 3; routers <= 8; routers++)
    for (uint32_t vcs = 2; vcs <= 4; vcs++) {
      assert_true(networks_ring(&f->arena, routers, &f->config));
      f->config.vcs = vcs;
      f->config.vc_flits = 2;
      overload_drains(f);
    }
}

/* 40 inputs of 4 VCs: request masks of several words. */
static void overloaded_crossbar_drains(void **state) {
  struct fixture *f = *state;
  assert_true(networks_crossbar(&f->arena, 40, &f->config));
  overload_drains(f);
}

/* ---- synthetic traffic ---------------------------------------------------------------- */

static struct noc_stream_result stream(const struct fixture *f, enum noc_level level,
                                       enum noc_traffic traffic, uint32_t flits,
                                       uint32_t rate_ppm) {
  struct noc_stream settings = {.level = level,
                                .traffic = traffic,
                                .flits = flits,
                                .rate_ppm = rate_ppm,
                                .cycles = 12000,
                                .seed = 11,
                                .overload = rate_ppm == NOC_RATE_ONE};
  struct noc_stream_result result;
  assert_int_equal(noc_stream_run(&f->config, &settings, &result, NULL), VINCI_OK);
  return result;
}

static double mean(const struct noc_stream_result *result) {
  return (double)result->latency_cycles / (double)result->packets;
}

static void same_seed_same_result(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  for (unsigned level = 0; level < NOC_LEVEL_COUNT; level++) {
    struct noc_stream_result a = stream(f, (enum noc_level)level, NOC_TRAFFIC_UNIFORM, 3, 300000);
    struct noc_stream_result b = stream(f, (enum noc_level)level, NOC_TRAFFIC_UNIFORM, 3, 300000);
    assert_memory_equal(&a, &b, sizeof a);
  }
}

static void latency_grows_with_load(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  for (unsigned level = 0; level < NOC_LEVEL_COUNT; level++)
    for (uint32_t flits = 1; flits <= 5; flits += 4) {
      double before = 0;
      for (uint32_t rate = 50000; rate <= 450000; rate += 100000) {
        struct noc_stream_result r =
            stream(f, (enum noc_level)level, NOC_TRAFFIC_UNIFORM, flits, rate);
        assert_true(r.stable);
        assert_true(mean(&r) - 5.0 * (double)r.hops / (double)r.packets > before);
        before = mean(&r) - 5.0 * (double)r.hops / (double)r.packets;
      }
    }
}

static void levels_agree_at_low_load(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  for (unsigned traffic = 0; traffic < NOC_TRAFFIC_COUNT; traffic++) {
    if (traffic == NOC_TRAFFIC_TRANSPOSE)
      continue; /* needs a square */
    uint32_t rate = traffic == NOC_TRAFFIC_HOTSPOT1 ? 5000 : 20000;
    struct noc_stream_result flit = stream(f, NOC_LEVEL_FLIT, (enum noc_traffic)traffic, 4, rate);
    struct noc_stream_result packet =
        stream(f, NOC_LEVEL_PACKET, (enum noc_traffic)traffic, 4, rate);
    struct noc_stream_result hops =
        stream(f, NOC_LEVEL_PACKET_HOPS, (enum noc_traffic)traffic, 4, rate);
    assert_int_equal(flit.packets, packet.packets); /* the same packets on every level */
    assert_int_equal(flit.hops, packet.hops);
    assert_near(mean(&packet) / mean(&flit), 1, 0.02);
    assert_near(mean(&hops) / mean(&flit), 1, 0.02);
  }
}

static void accepted_rate_is_the_offered_one_until_saturation(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 4, 4);
  struct noc_stream_result r = stream(f, NOC_LEVEL_FLIT, NOC_TRAFFIC_UNIFORM, 1, 500000);
  assert_near((double)r.accepted_flits / (double)(r.cycles * r.terminals), 0.5, 0.01);
  r = stream(f, NOC_LEVEL_FLIT, NOC_TRAFFIC_HOTSPOT1, 1, NOC_RATE_ONE);
  assert_false(r.stable);
  /* One terminal takes one flit a cycle, no more. */
  assert_true(r.accepted_flits <= r.cycles);
  assert_true(r.accepted_flits >= r.cycles - r.cycles / 100);
}

static void impossible_traffic_is_refused(void **state) {
  struct fixture *f = *state;
  struct noc_stream_result result;
  use_mesh(f, 6, 4);
  struct noc_stream settings = {
      .traffic = NOC_TRAFFIC_TRANSPOSE, .flits = 1, .rate_ppm = 1000, .cycles = 100};
  assert_int_equal(noc_stream_run(&f->config, &settings, &result, NULL), VINCI_E_USAGE);
  settings.traffic = NOC_TRAFFIC_UNIFORM;
  settings.rate_ppm = NOC_RATE_ONE + 1;
  assert_int_equal(noc_stream_run(&f->config, &settings, &result, NULL), VINCI_E_USAGE);
  settings.rate_ppm = 1000;
  settings.flits = 0;
  assert_int_equal(noc_stream_run(&f->config, &settings, &result, NULL), VINCI_E_USAGE);
}

/* Some rows of the reference; `make accuracy` does all. Both levels, with their targets. */
static void reference_rows_are_met(void **state) {
  struct fixture *f = *state;
  static struct networks_row rows[NETWORKS_ROWS_MAX];
  static const struct {
    unsigned vcs, flits;
    enum noc_traffic traffic;
    double offered;
  } wanted[] = {{4, 1, NOC_TRAFFIC_UNIFORM, 0.5},        {4, 5, NOC_TRAFFIC_UNIFORM, 0.4},
                {1, 1, NOC_TRAFFIC_UNIFORM, 0.2},        {1, 5, NOC_TRAFFIC_UNIFORM, 0.3},
                {4, 5, NOC_TRAFFIC_TRANSPOSE, 0.133333}, {4, 1, NOC_TRAFFIC_HOTSPOT4, 0.125}};
  size_t count = networks_read("booksim_mesh_latency.csv", rows), checked = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
      const struct networks_row *row = &rows[i];
      if (strcmp(row->router, "R4") != 0 || row->k != 4 || row->vcs != wanted[w].vcs ||
          row->flits != wanted[w].flits || row->traffic != wanted[w].traffic ||
          row->offered != wanted[w].offered)
        continue;
      assert_true(networks_of_row(&f->arena, row, &f->config));
      uint32_t rate = (uint32_t)(row->accepted * NOC_RATE_ONE);
      struct noc_stream_result flit = stream(f, NOC_LEVEL_FLIT, row->traffic, row->flits, rate);
      assert_near(mean(&flit) / row->latency, 1, 0.05);
      struct noc_stream_result packet = stream(f, NOC_LEVEL_PACKET, row->traffic, row->flits, rate);
      if (row->vcs == 4)
        assert_near(mean(&packet) / row->latency, 1, 0.10);
      checked++;
    }
  assert_int_equal(checked, sizeof wanted / sizeof *wanted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(mesh_of_unequal_sides_has_all_links_both_ways),
      TEST(xy_routes_load_links_as_counted_by_hand),
      TEST(ring_takes_the_shorter_way),
      TEST(crossbar_is_one_hop),
      TEST(wrong_topologies_are_refused),
      TEST(network_of_a_soc_follows_its_numbers),
      TEST(idle_latency_is_two_and_five_per_router),
      TEST(idle_latency_counts_longer_links_once_per_hop),
      TEST(long_transfers_follow_one_another_without_gaps),
      TEST(flits_wait_for_credits),
      TEST(bytes_fill_flits),
      TEST(sharing_a_port_delays_the_last_flit),
      TEST(early_packets_use_the_cycles_late_ones_leave_free),
      TEST(a_port_never_passes_more_than_a_flit_a_cycle),
      TEST(overloaded_meshes_drain),
      TEST(overloaded_rings_drain),
      TEST(overloaded_crossbar_drains),
      TEST(same_seed_same_result),
      TEST(latency_grows_with_load),
      TEST(levels_agree_at_low_load),
      TEST(accepted_rate_is_the_offered_one_until_saturation),
      TEST(impossible_traffic_is_refused),
      TEST(reference_rows_are_met),
  };
  return cmocka_run_group_tests_name("noc", tests, NULL, NULL);
}
