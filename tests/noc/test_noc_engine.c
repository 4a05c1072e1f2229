/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the network behind the event engine: calls, messages, order, link loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "noc/transport.h"
#include "tests/support/networks.h"

struct fixture {
  struct arena arena;
  struct noc_config config;
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

static uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  return x ^ x >> 31;
}

/* ---- behind the engine ------------------------------------------------------------------ */

enum { MESSAGES = 600 };

struct exchange {
  struct engine *engine;
  struct noc *noc;
  uint64_t arrival_ps[MESSAGES];
  unsigned done;
};

struct sending {
  struct engine_event event; /* first member */
  struct noc_message message;
};

static void message_done(struct noc_message *message, uint64_t now_ps) {
  struct exchange *exchange = message->owner;
  assert_true(engine_now_ps(exchange->engine) == now_ps);
  exchange->arrival_ps[message->id] = now_ps;
  exchange->done++;
}

static void fire_send(struct engine_event *event, uint64_t now_ps) {
  struct sending *sending = (struct sending *)event;
  struct exchange *exchange = sending->message.owner;
  (void)now_ps;
  noc_send(exchange->noc, &sending->message);
}

/* Random messages; `turn` changes the numbers of parts and the order of calls in an instant. */
static void exchange_messages(struct fixture *f, struct exchange *exchange, enum noc_level level,
                              bool turn) {
  struct sending *sendings = ARENA_ARRAY(&f->arena, struct sending, MESSAGES);
  exchange->engine = engine_create(&f->arena);
  assert_int_equal(noc_create(&exchange->noc, &f->arena, exchange->engine, &f->config, level,
                              turn ? 9000 : 5, NULL),
                   VINCI_OK);
  uint64_t seed = 23;
  for (uint32_t i = 0; i < MESSAGES; i++) {
    uint64_t when_ps = random_next(&seed) % 200 * 700;
    sendings[i].message = (struct noc_message){
        .id = i,
        .source = (uint32_t)(random_next(&seed) % f->config.graph.terminal_count),
        .destination = (uint32_t)(random_next(&seed) % f->config.graph.terminal_count),
        .bytes = random_next(&seed) % 300,
        .done = message_done,
        .owner = exchange,
    };
    sendings[i].event.key = event_key(PHASE_COMPUTE, turn ? MESSAGES - i : 10000 + i, 0);
    sendings[i].event.fire = fire_send;
    engine_schedule(exchange->engine, &sendings[i].event, when_ps);
  }
  engine_run_until(exchange->engine, UINT64_MAX - 1);
  assert_int_equal(exchange->done, MESSAGES);
}

static void numbering_of_parts_changes_nothing(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  f->config.clock_hz = 1650000000; /* no whole number of ps */
  for (unsigned level = 0; level < NOC_LEVEL_COUNT; level++) {
    struct exchange *a = ARENA_NEW(&f->arena, struct exchange);
    struct exchange *b = ARENA_NEW(&f->arena, struct exchange);
    exchange_messages(f, a, (enum noc_level)level, false);
    exchange_messages(f, b, (enum noc_level)level, true);
    assert_memory_equal(a->arrival_ps, b->arrival_ps, sizeof a->arrival_ps);
  }
}

static void messages_of_all_levels_keep_the_idle_law(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 4, 4);
  for (unsigned level = 0; level < NOC_LEVEL_COUNT; level++) {
    struct exchange *exchange = ARENA_NEW(&f->arena, struct exchange);
    struct sending *sending = ARENA_NEW(&f->arena, struct sending);
    exchange->engine = engine_create(&f->arena);
    assert_int_equal(noc_create(&exchange->noc, &f->arena, exchange->engine, &f->config,
                                (enum noc_level)level, 1, NULL),
                     VINCI_OK);
    sending->event.key = event_key(PHASE_COMPUTE, 2, 0);
    sending->event.fire = fire_send;
    for (uint64_t start = 0; start < 3000000; start += 1000000) { /* it sleeps in between */
      sending->message = (struct noc_message){
          .source = 0, .destination = 15, .bytes = 3 * 32, .done = message_done, .owner = exchange};
      engine_schedule(exchange->engine, &sending->event, start);
      engine_run_until(exchange->engine, UINT64_MAX - 1);
      /* 2 + 5 * 7 cycles, 2 more for the further flits, at 1 ns */
      assert_int_equal(exchange->arrival_ps[0], start + 39000);
    }
    assert_int_equal(exchange->done, 3);
    assert_int_equal(
        noc_port_ppm(exchange->noc, noc_map_of(exchange->noc)->terminal_output[15], 3000000),
        9 * 1000000 / 3000);
  }
}

static void calls_and_messages_arrive_alike(void **state) {
  struct fixture *f = *state;
  use_mesh(f, 6, 4);
  struct noc *noc;
  struct exchange *exchange = ARENA_NEW(&f->arena, struct exchange);
  exchange_messages(f, exchange, NOC_LEVEL_PACKET, false);
  assert_int_equal(noc_create(&noc, &f->arena, NULL, &f->config, NOC_LEVEL_PACKET, 0, NULL),
                   VINCI_OK);
  struct {
    uint64_t when_ps;
    uint32_t source, destination;
    uint64_t bytes;
  } calls[MESSAGES];
  uint64_t seed = 23;
  for (uint32_t i = 0; i < MESSAGES; i++) {
    calls[i].when_ps = random_next(&seed) % 200 * 700;
    calls[i].source = (uint32_t)(random_next(&seed) % 24);
    calls[i].destination = (uint32_t)(random_next(&seed) % 24);
    calls[i].bytes = random_next(&seed) % 300;
  }
  /* Messages of one clock edge are served by id, whenever before it they were sent. */
  for (uint64_t edge_ps = 0; edge_ps <= 200 * 700; edge_ps += 1000)
    for (uint32_t i = 0; i < MESSAGES; i++)
      if ((calls[i].when_ps + 999) / 1000 * 1000 == edge_ps)
        assert_int_equal(
            noc_move_ps(noc, calls[i].source, calls[i].destination, calls[i].bytes, edge_ps),
            exchange->arrival_ps[i]);
}

static void busiest_link_is_found(void **state) {
  struct fixture *f = *state;
  struct noc *noc;
  uint32_t link = UINT32_MAX;
  use_mesh(f, 4, 1);
  assert_int_equal(noc_create(&noc, &f->arena, NULL, &f->config, NOC_LEVEL_PACKET, 0, NULL),
                   VINCI_OK);
  assert_int_equal(noc_busiest_link_ppm(noc, 1000000, NULL), 0);
  (void)noc_move_ps(noc, 0, 3, 200 * 32, 0);
  (void)noc_move_ps(noc, 1, 2, 450 * 32, 0);
  assert_int_equal(noc_busiest_link_ppm(noc, 1000000, &link), 650000);
  assert_int_equal(f->config.graph.links[link].from, 1);
  assert_int_equal(f->config.graph.links[link].to, 2);
  assert_true(noc_busiest_link_ppm(noc, 1000000, &link) > NOC_PACKET_LEVEL_MAX_PPM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(numbering_of_parts_changes_nothing),
      TEST(messages_of_all_levels_keep_the_idle_law),
      TEST(calls_and_messages_arrive_alike),
      TEST(busiest_link_is_found),
  };
  return cmocka_run_group_tests_name("noc_engine", tests, NULL, NULL);
}
