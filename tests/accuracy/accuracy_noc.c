/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares both levels of the network with the measurements of BookSim 2 in
 * tests/reference/noc and prints every row with its error and a verdict per target.
 * No constant of the model is fitted to them. The reference's short runs miss the offered rate by
 * up to 9%, so stable rows run at the rate its terminals did reach (its accepted_flit); near
 * saturation latency depends on the length of a run, there errors say little. At the offered rates
 * one row that counts would miss its target: 4x4, 1 VC, hotspot4, 5 flits, 0.1375, by 5.5%.
 */
#include <math.h>
#include <stdlib.h>

#include "noc/flit.h"
#include "noc/packet.h"
#include "tests/support/networks.h"

/* Runs are several times as long as the reference's, so that the noise left is its alone. */
enum { TERMINAL_CYCLES = 1920000, OVERLOAD_CYCLES = 12000, SEED = 1 };

struct target {
  const char *text;
  double limit;
  double worst;
  size_t rows;
};

enum { ZERO_LOAD, FLIT_LATENCY, FLIT_SATURATION, PACKET_LATENCY, TARGETS };

static struct target targets[TARGETS] = {
    [ZERO_LOAD] = {.text = "latency in the idle network, both levels, all pairs (cycles)"},
    [FLIT_LATENCY] = {.text = "flit level, latency up to 80% of saturation", .limit = 0.05},
    [FLIT_SATURATION] = {.text = "flit level, accepted rate under overload", .limit = 0.05},
    [PACKET_LATENCY] = {.text = "packet level, latency up to half of the bound, 4 VCs",
                        .limit = 0.10},
};

static void judge(unsigned target, double error) {
  targets[target].rows++;
  targets[target].worst = fmax(targets[target].worst, fabs(error));
}

static void fail(const char *text) {
  fprintf(stderr, "accuracy_noc: %s\n", text);
  exit(EXIT_FAILURE);
}

/* ---- the idle network ------------------------------------------------------------- */

static uint64_t flit_latency(struct flit_network *network, uint32_t source, uint32_t destination,
                             uint32_t flits) {
  enum { SETTLE_CYCLES = 64 };
  struct flit_packet packet = {.source = source, .destination = destination, .flits = flits};
  flit_skip_to(network, flit_cycle(network) + SETTLE_CYCLES);
  uint64_t created = flit_cycle(network);
  (void)flit_step_arrivals(network);
  flit_offer(network, &packet);
  flit_step_routers(network);
  while (!flit_step_arrivals(network))
    flit_step_routers(network);
  flit_step_routers(network);
  return packet.arrival_cycle - created;
}

/* The law of the reference: 2 + 5 H cycles for a flit, 1 more for each further flit. */
static void idle_network(uint32_t k, uint32_t routing_cycles, uint32_t flits) {
  enum { APART_CYCLES = 1000 };
  struct arena arena = {0};
  struct noc_config config;
  struct noc_map map;
  if (!networks_mesh(&arena, k, k, &config))
    fail("no mesh");
  config.routing_cycles = routing_cycles;
  if (noc_map_create(&map, &arena, &config, NULL) != VINCI_OK)
    fail("no map");
  struct packet_network *packets = packet_create(&arena, &map);
  struct flit_network *network = flit_create(&arena, &map);
  uint64_t now = 0;
  for (uint32_t s = 0; s < k * k; s++)
    for (uint32_t d = 0; d < k * k; d++, now += APART_CYCLES) {
      uint32_t hops =
          (uint32_t)(abs((int)(s % k) - (int)(d % k)) + abs((int)(s / k) - (int)(d / k)) + 1);
      double law = 2 + (4 + routing_cycles) * hops + flits - 1;
      judge(ZERO_LOAD, (double)(packet_walk(packets, s, d, flits, now) - now) - law);
      judge(ZERO_LOAD, (double)flit_latency(network, s, d, flits) - law);
    }
  arena_free(&arena);
}

/* ---- rows ------------------------------------------------------------------------- */

static struct noc_stream_result run(const struct networks_row *row, enum noc_level level,
                                    double rate, bool overload) {
  struct arena arena = {0};
  struct noc_config config;
  struct noc_stream_result result;
  struct vinci_diag diag = {0};
  if (!networks_of_row(&arena, row, &config))
    fail("no mesh");
  struct noc_stream stream = {
      .level = level,
      .traffic = row->traffic,
      .flits = row->flits,
      .rate_ppm = (uint32_t)lround(rate * NOC_RATE_ONE),
      .cycles = overload ? OVERLOAD_CYCLES : TERMINAL_CYCLES / (row->k * row->k),
      .seed = SEED,
      .overload = overload,
  };
  if (noc_stream_run(&config, &stream, &result, &diag) != VINCI_OK)
    fail(diag.text);
  arena_free(&arena);
  return result;
}

static double latency_of(const struct noc_stream_result *result) {
  return result->packets ? (double)result->latency_cycles / (double)result->packets : 0;
}

static double accepted_of(const struct noc_stream_result *result) {
  return (double)result->accepted_flits / (double)(result->cycles * result->terminals);
}

static void print_name(const struct networks_row *row) {
  printf("%-3.2s %ux%u %2u %-9s %2u  %8.6f", row->router, row->k, row->k, row->vcs,
         noc_traffic_name(row->traffic), row->flits, row->offered);
}

static void latency_rows(void) {
  static struct networks_row rows[NETWORKS_ROWS_MAX];
  size_t count = networks_read("booksim_mesh_latency.csv", rows);
  if (count == 0)
    fail("tests/reference/noc/booksim_mesh_latency.csv cannot be read");
  puts("Latency in cycles; * = counts for the level's target\n"
       "        VCs          flits offered   reference      flit            packet");
  for (size_t i = 0; i < count; i++) {
    const struct networks_row *row = &rows[i];
    double rate = row->stable ? row->accepted : row->offered;
    struct noc_stream_result flit = run(row, NOC_LEVEL_FLIT, rate, false);
    struct noc_stream_result packet = run(row, NOC_LEVEL_PACKET, rate, false);
    print_name(row);
    if (!row->stable) {
      printf("   unstable %10s\n", flit.stable ? "STABLE" : "unstable");
      continue;
    }
    double flit_error = latency_of(&flit) / row->latency - 1;
    double packet_error = latency_of(&packet) / row->latency - 1;
    bool flit_counts = row->offered <= 0.8 * networks_saturation(rows, count, row) + 1e-9;
    bool packet_counts = row->vcs == 4 && row->bound_share <= 0.5 + 1e-9;
    if (flit_counts)
      judge(FLIT_LATENCY, flit_error);
    if (packet_counts)
      judge(PACKET_LATENCY, packet_error);
    printf(" %10.2f %8.2f %+6.1f%%%c %8.2f %+6.1f%%%c\n", row->latency, latency_of(&flit),
           100 * flit_error, flit_counts ? '*' : ' ', latency_of(&packet), 100 * packet_error,
           packet_counts ? '*' : ' ');
  }
}

static void overload_rows(void) {
  static struct networks_row rows[NETWORKS_ROWS_MAX];
  size_t count = networks_read("booksim_mesh_overload.csv", rows);
  if (count == 0)
    fail("tests/reference/noc/booksim_mesh_overload.csv cannot be read");
  puts("\nAccepted flits per terminal and cycle under overload\n"
       "        VCs          flits offered   reference      flit");
  for (size_t i = 0; i < count; i++) {
    struct noc_stream_result flit = run(&rows[i], NOC_LEVEL_FLIT, rows[i].offered, true);
    double error = accepted_of(&flit) / rows[i].accepted - 1;
    judge(FLIT_SATURATION, error);
    print_name(&rows[i]);
    printf(" %10.4f %8.4f %+6.1f%%*\n", rows[i].accepted, accepted_of(&flit), 100 * error);
  }
}

int main(void) {
  bool met = true;
  for (uint32_t k = 4; k <= 8; k += 4)
    for (uint32_t routing = 0; routing <= 1; routing++)
      for (uint32_t flits = 1; flits <= 5; flits += 4)
        idle_network(k, routing, flits);
  puts("Network against BookSim 2 (tests/reference/noc)\n");
  latency_rows();
  overload_rows();
  puts("\nTarget                                                        rows   worst   limit");
  for (unsigned t = 0; t < TARGETS; t++) {
    const struct target *target = &targets[t];
    bool ok = target->worst <= target->limit;
    met = met && ok;
    if (target->limit > 0)
      printf("%-60s %5zu  %5.1f%%  %5.1f%%  %s\n", target->text, target->rows, 100 * target->worst,
             100 * target->limit, ok ? "met" : "MISSED");
    else
      printf("%-60s %5zu  %6.0f  %6.0f  %s\n", target->text, target->rows, target->worst, 0.0,
             ok ? "met" : "MISSED");
  }
  return met ? 0 : EXIT_FAILURE;
}
