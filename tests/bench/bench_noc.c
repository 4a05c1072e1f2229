/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of the network on a 4x4 mesh under uniform traffic at 0.4 flits per terminal
 * and cycle, in CPU seconds of this process; the best of several tries counts.
 */
#include <stdlib.h>
#include <time.h>

#include "noc/transport.h"
#include "tests/support/networks.h"

enum { TRIES = 3, SIDE = 4, TERMINALS = SIDE * SIDE, PACKETS = 1000000, CYCLE_PS = 1000 };

struct start {
  uint32_t source;
  uint32_t destination;
  uint64_t cycle;
};

static struct start starts[PACKETS];
static struct noc_config config;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fail(const char *text) {
  fprintf(stderr, "bench_noc: %s\n", text);
  exit(EXIT_FAILURE);
}

/* All packets of a run in order of time, so that only the network is measured. */
static void create_packets(uint32_t flits) {
  enum { LOAD_PER_MILLE = 400, PER_MILLE = 1000 };
  uint32_t random = 1, count = 0;
  for (uint64_t cycle = 0; count < PACKETS; cycle++)
    for (uint32_t source = 0; source < TERMINALS && count < PACKETS; source++) {
      random = random * 1664525u + 1013904223u;
      if ((random >> 16) % (PER_MILLE * flits) >= LOAD_PER_MILLE)
        continue;
      random = random * 1664525u + 1013904223u;
      starts[count++] = (struct start){source, (random >> 16) % TERMINALS, cycle};
    }
}

/* ---- packet level: direct calls ----------------------------------------------------- */

static double move_rate(uint32_t flits) {
  struct arena arena = {0};
  struct noc *noc;
  if (noc_create(&noc, &arena, NULL, &config, NOC_LEVEL_PACKET, 0, NULL) != VINCI_OK)
    fail("no network");
  uint64_t sum = 0;
  double start = cpu_seconds();
  for (uint32_t i = 0; i < PACKETS; i++)
    sum += noc_move_ps(noc, starts[i].source, starts[i].destination,
                       (uint64_t)flits * config.flit_bytes, starts[i].cycle * CYCLE_PS);
  double rate = PACKETS / (cpu_seconds() - start);
  if (sum == 0)
    fail("packets did not move");
  arena_free(&arena);
  return rate;
}

/* ---- messages through the engine ------------------------------------------------------ */

enum { MESSAGES = 4096 };

struct sender {
  struct engine_event event;
  struct engine *engine;
  struct noc *noc;
  struct noc_message messages[MESSAGES];
  struct noc_message *spare[MESSAGES];
  uint32_t spare_count;
  uint32_t next;
  uint64_t done;
  uint32_t flits;
};

static void message_done(struct noc_message *message, uint64_t now_ps) {
  struct sender *sender = message->owner;
  (void)now_ps;
  sender->spare[sender->spare_count++] = message;
  sender->done++;
}

static void fire_sender(struct engine_event *event, uint64_t now_ps) {
  struct sender *sender = (struct sender *)event;
  while (sender->next < PACKETS && starts[sender->next].cycle * CYCLE_PS <= now_ps) {
    if (sender->spare_count == 0)
      fail("more messages under way than expected");
    struct noc_message *message = sender->spare[--sender->spare_count];
    message->source = starts[sender->next].source;
    message->destination = starts[sender->next].destination;
    message->bytes = (uint64_t)sender->flits * config.flit_bytes;
    noc_send(sender->noc, message);
    sender->next++;
  }
  if (sender->next < PACKETS)
    engine_schedule(sender->engine, event, starts[sender->next].cycle * CYCLE_PS);
}

static double send_rate(enum noc_level level, uint32_t flits) {
  struct arena arena = {0};
  struct sender *sender = ARENA_NEW(&arena, struct sender);
  struct engine *engine = engine_create(&arena);
  if (!sender || !engine)
    fail("out of memory");
  sender->engine = engine;
  sender->flits = flits;
  if (noc_create(&sender->noc, &arena, engine, &config, level, 0, NULL) != VINCI_OK)
    fail("no network");
  for (uint32_t i = 0; i < MESSAGES; i++) {
    sender->messages[i] = (struct noc_message){.id = i, .done = message_done, .owner = sender};
    sender->spare[sender->spare_count++] = &sender->messages[i];
  }
  sender->event.key = event_key(PHASE_COMPUTE, 1, 0);
  sender->event.fire = fire_sender;
  double start = cpu_seconds();
  engine_schedule(engine, &sender->event, starts[0].cycle * CYCLE_PS);
  engine_run_until(engine, UINT64_MAX - 1);
  double seconds = cpu_seconds() - start;
  if (sender->done != PACKETS)
    fail("messages were lost");
  arena_free(&arena);
  return PACKETS / seconds;
}

/* ---- flit level --------------------------------------------------------------------- */

static double flit_hop_rate(uint32_t flits) {
  struct noc_stream stream = {.level = NOC_LEVEL_FLIT,
                              .traffic = NOC_TRAFFIC_UNIFORM,
                              .flits = flits,
                              .rate_ppm = 400000,
                              .cycles = 30000,
                              .seed = 1};
  struct noc_stream_result result;
  double start = cpu_seconds();
  if (noc_stream_run(&config, &stream, &result, NULL) != VINCI_OK)
    fail("no stream");
  return (double)result.total_flit_hops / (cpu_seconds() - start);
}

/* ---- report ------------------------------------------------------------------------- */

static bool all_met = true;

static void report(const char *what, uint32_t flits, double rate, const char *unit, double target) {
  double millions = rate / 1e6;
  printf("%-36s %u flit%s %10.2f %-14s", what, flits, flits == 1 ? " " : "s", millions, unit);
  if (target > 0)
    printf(" >= %5.2f  %s", target, millions >= target ? "met" : "MISSED");
  putchar('\n');
  all_met = all_met && millions >= target;
}

static double larger(double a, double b) { return a > b ? a : b; }

int main(void) {
  struct arena arena = {0};
  if (!networks_mesh(&arena, SIDE, SIDE, &config))
    fail("no mesh");
  puts("network, 4x4 mesh, uniform traffic at 0.4 flits per terminal and cycle");
  for (uint32_t flits = 1; flits <= 5; flits += 4) {
    double move = 0, send = 0, hops = 0, flit = 0;
    create_packets(flits);
    for (unsigned i = 0; i < TRIES; i++) {
      move = larger(move, move_rate(flits));
      send = larger(send, send_rate(NOC_LEVEL_PACKET, flits));
      hops = larger(hops, send_rate(NOC_LEVEL_PACKET_HOPS, flits));
      flit = larger(flit, flit_hop_rate(flits));
    }
    report("packet level, calls", flits, move, "M packets/s", 8);
    report("packet level, messages", flits, send, "M packets/s", 0);
    report("packet level hop by hop, messages", flits, hops, "M packets/s", 0);
    report("flit level", flits, flit, "M flit-hops/s", 5);
  }
  arena_free(&arena);
  return all_met ? 0 : EXIT_FAILURE;
}
