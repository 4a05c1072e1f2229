/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What collectives bring to whom, for every operation, algorithm, random ranks, roots, sizes and
 * systems: bytes by the definition of the operation, sums by the count of summands, and whether
 * what a rank has at the end can depend on all that it has to depend on, transfer by transfer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "tests/support/devices.h"

enum { MOVES_MAX = 20000, MOVES_RANKS = 16, ROUNDS = 40 };

struct move {
  struct group_step step;
  uint32_t from, to;
  uint64_t start_ps, end_ps;
};

/* What an observer has seen of one collective, in the order of the ends. */
struct moves {
  struct move move[MOVES_MAX];
  size_t count;
  uint64_t received[MOVES_RANKS], sent[MOVES_RANKS], added;
};

static void note(void *context, const struct group_transfer *transfer) {
  struct moves *moves = context;
  assert_true(moves->count < MOVES_MAX);
  moves->move[moves->count++] = (struct move){*transfer->step, transfer->from, transfer->to,
                                              transfer->start_ps, transfer->end_ps};
  bool travels = transfer->step->kind == STEP_EXCHANGE;
  if (travels) {
    moves->received[transfer->to] += transfer->step->bytes;
    moves->sent[transfer->from] += transfer->step->bytes;
  }
  if (travels ? transfer->step->adds : transfer->step->kind == STEP_ADD)
    moves->added += transfer->step->bytes;
}

static uint64_t draw(uint64_t *seed, uint64_t below) { return splitmix64_next(seed) % below; }

/* A mesh or a switch, alone or as servers of several devices in a switch. */
static struct group_system random_system(uint64_t *seed) {
  uint32_t inner = 2 + (uint32_t)draw(seed, 3), servers = 1 + (uint32_t)draw(seed, 4);
  struct group_system system = simple_system(inner * servers);
  system.inline_reduce = draw(seed, 2);
  system.slice_bytes = (uint64_t[]){1, 128}[draw(seed, 2)];
  system.notify_ps = draw(seed, 2) * US;
  system.notify_issue_ps = draw(seed, 3) * 1000;
  system.notify_wait_ps = draw(seed, 3) * 700;
  if (draw(seed, 2))
    return system;
  system.levels[0].devices = inner;
  system.levels[1] = system.levels[0];
  system.levels[1].name = "far";
  system.levels[1].join = GROUP_SWITCH;
  system.levels[1].devices = inner * servers;
  system.levels[1].latency_ps = 5 * US;
  system.level_count = servers > 1 ? 2 : 1;
  return system;
}

/* ---- what has to come ------------------------------------------------------------------------ */

static bool is_sum(enum collective_op op) {
  return op == COLLECTIVE_ALL_REDUCE || op == COLLECTIVE_REDUCE_SCATTER || op == COLLECTIVE_REDUCE;
}

/* Bytes that a rank receives at least; more only where it gives others what it then gets back. */
static uint64_t has_to_receive(const struct collective_call *call, uint32_t rank) {
  uint64_t part = collective_part(call, rank), ranks = call->ranks;
  switch (call->op) {
  case COLLECTIVE_ALL_GATHER:
    return call->bytes - part;
  case COLLECTIVE_BROADCAST:
    return rank == call->root ? 0 : call->bytes;
  case COLLECTIVE_SCATTER:
    return rank == call->root ? 0 : part;
  case COLLECTIVE_GATHER:
    return rank == call->root ? call->bytes - part : 0;
  case COLLECTIVE_ALL_TO_ALL:
    return (ranks - 1) * part;
  case COLLECTIVE_SEND_RECV:
    return rank == 1 ? call->bytes : 0;
  default:
    return 0;
  }
}

/* Bytes between devices in all; UINT64_MAX: more than one number is right. */
static uint64_t moved_by(const struct collective_call *call) {
  uint64_t ranks = call->ranks, others = ranks - 1, sum = 0;
  bool power = (ranks & others) == 0, rooted_mesh = strcmp(call->algorithm->name, "mesh") == 0;
  for (uint32_t i = 0; i < ranks; i++)
    sum += has_to_receive(call, i);
  switch (call->op) {
  case COLLECTIVE_ALL_REDUCE:
    return strcmp(call->algorithm->name, "rhd") == 0 && !power ? UINT64_MAX
                                                               : 2 * others * call->bytes;
  case COLLECTIVE_REDUCE_SCATTER:
    return others * call->bytes;
  case COLLECTIVE_REDUCE:
    return rooted_mesh ? UINT64_MAX : others * call->bytes;
  case COLLECTIVE_BROADCAST: /* in a mesh the root gets back what it has spread */
    return rooted_mesh ? sum + call->bytes - collective_part(call, call->root) : sum;
  default:
    return sum;
  }
}

/* Whose data a rank's result is made of: bit i for rank i. */
static uint32_t depends_on(const struct collective_call *call, uint32_t rank) {
  uint32_t all = (UINT32_C(1) << call->ranks) - 1, own = UINT32_C(1) << rank;
  switch (call->op) {
  case COLLECTIVE_BROADCAST:
  case COLLECTIVE_SCATTER:
    return own | UINT32_C(1) << call->root;
  case COLLECTIVE_REDUCE:
  case COLLECTIVE_GATHER:
    return rank == call->root ? all : own;
  case COLLECTIVE_SEND_RECV:
    return rank == 1 ? all : own;
  default:
    return all;
  }
}

/* ---- what has come --------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b) {
  const struct move *one = a, *other = b;
  return (one->start_ps > other->start_ps) - (one->start_ps < other->start_ps);
}

/* What can have reached each rank: a transfer carries what its sender had when it began. */
static void spread(struct moves *moves, uint32_t *known) {
  static uint32_t carried[MOVES_MAX];
  qsort(moves->move, moves->count, sizeof *moves->move, by_start);
  for (uint32_t i = 0; i < MOVES_RANKS; i++)
    known[i] = UINT32_C(1) << i;
  for (size_t i = 0; i < moves->count; i++) {
    const struct move *move = &moves->move[i];
    carried[i] = UINT32_C(1) << move->from;
    for (size_t k = 0; k < i; k++)
      if (moves->move[k].to == move->from && moves->move[k].end_ps <= move->start_ps)
        carried[i] |= carried[k];
    known[move->to] |= carried[i];
  }
}

/* Of algorithms with one plane, a rank adds what has come to it last. */
static void check_sums(const struct collective_call *call, const struct moves *moves) {
  if (call->algorithm->planes(call) != 1)
    return;
  for (size_t i = 0; i < moves->count; i++) {
    const struct move *sum = &moves->move[i];
    uint64_t came_ps = 0, bytes = 0;
    for (size_t k = 0; sum->step.kind == STEP_ADD && k < moves->count; k++) {
      const struct move *move = &moves->move[k];
      if (move->step.kind == STEP_EXCHANGE && move->to == sum->to &&
          move->end_ps <= sum->start_ps && move->end_ps >= came_ps) {
        came_ps = move->end_ps;
        bytes = move->step.bytes;
      }
    }
    if (sum->step.kind == STEP_ADD)
      assert_int_equal(sum->step.bytes, bytes);
  }
}

static void check_call(const struct group_system *system, struct collective_call *call) {
  static struct moves moves;
  uint32_t known[MOVES_RANKS];
  struct arena arena = {0};
  struct group_result result;
  struct vinci_diag diag = {0};
  const struct group_observer observer = {.context = &moves, .transfer_ended = note};
  moves = (struct moves){0};
  if (run_call(system, call, &observer, &arena, &result, &diag) != VINCI_OK) {
    arena_free(&arena); /* an algorithm may ask for powers of two, or whole servers */
    assert_int_equal(diag.status, VINCI_E_INPUT);
    return;
  }
  uint64_t total = 0;
  for (uint32_t i = 0; i < call->ranks; i++) {
    /* Within servers and between them parts are cut in two steps, so that they may differ by a
     * slice. */
    if (!call->algorithm->outer && moves.received[i] < has_to_receive(call, i))
      fail_msg("%s by %s of %u ranks: rank %u receives %llu bytes, not %llu",
               collective_op_name(call->op), call->algorithm->name, call->ranks, i,
               (unsigned long long)moves.received[i], (unsigned long long)has_to_receive(call, i));
    total += moves.received[i];
  }
  assert_int_equal(total, result.transfer_bytes);
  if (moved_by(call) != UINT64_MAX && total != moved_by(call))
    fail_msg("%s by %s of %u ranks moves %llu bytes, not %llu", collective_op_name(call->op),
             call->algorithm->name, call->ranks, (unsigned long long)total,
             (unsigned long long)moved_by(call));
  if (is_sum(call->op))
    assert_int_equal(moves.added, (call->ranks - 1) * call->bytes);
  else
    assert_int_equal(moves.added, 0);
  check_sums(call, &moves);
  spread(&moves, known);
  for (uint32_t i = 0; i < call->ranks; i++)
    assert_int_equal(known[i] & depends_on(call, i), depends_on(call, i));
  arena_free(&arena);
}

static void each_rank_gets_what_it_has_to_get(void **state) {
  (void)state;
  size_t count;
  uint64_t seed = 11;
  const struct collective_algorithm *algorithms = collective_algorithms(&count);
  for (unsigned round = 0; round < ROUNDS; round++)
    for (size_t a = 0; a < count; a++)
      for (unsigned op = 0; op < COLLECTIVE_OPS; op++) {
        struct group_system system = random_system(&seed);
        struct collective_call call = {.op = (enum collective_op)op, .algorithm = &algorithms[a]};
        if (!collective_can(&algorithms[a], (enum collective_op)op))
          continue;
        if (op == COLLECTIVE_SEND_RECV)
          system.devices = 2;
        call.bytes = op == COLLECTIVE_BARRIER ? 0 : 1 + draw(&seed, 100000);
        call.root = op == COLLECTIVE_SEND_RECV ? 0 : (uint32_t)draw(&seed, system.devices);
        call.ranks = system.devices;
        call.slice_bytes = system.slice_bytes;
        check_call(&system, &call);
      }
}

/* Unequal parts: from each to each what the table says, and nothing to itself. */
static void all_to_all_moves_the_parts_of_its_table(void **state) {
  (void)state;
  static struct moves moves;
  static const char *const names[] = {"mesh", "pairwise"};
  enum { RANKS = 5 };
  uint64_t counts[RANKS * RANKS], seed = 3;
  struct group_system system = simple_system(RANKS);
  for (size_t i = 0; i < RANKS * RANKS; i++)
    counts[i] = draw(&seed, 9) * 1000 + i;
  for (size_t n = 0; n < 2; n++) {
    struct arena arena = {0};
    struct group_result result;
    struct vinci_diag diag = {0};
    const struct group_observer observer = {.context = &moves, .transfer_ended = note};
    struct collective_call call = {.op = COLLECTIVE_ALL_TO_ALL, .bytes = 1, .counts = counts};
    moves = (struct moves){0};
    assert_int_equal(collective_find(call.op, names[n], &call.algorithm, &diag), VINCI_OK);
    assert_int_equal(run_call(&system, &call, &observer, &arena, &result, &diag), VINCI_OK);
    uint64_t found[RANKS][RANKS] = {{0}};
    for (size_t i = 0; i < moves.count; i++)
      if (moves.move[i].step.kind == STEP_EXCHANGE)
        found[moves.move[i].from][moves.move[i].to] += moves.move[i].step.bytes;
    for (uint32_t from = 0; from < RANKS; from++)
      for (uint32_t to = 0; to < RANKS; to++)
        assert_int_equal(found[from][to], from == to ? 0 : counts[from * RANKS + to]);
    arena_free(&arena);
  }
}

/*
 * As the manual of the vendor's library has the rules: a mesh within a server; between servers NHR,
 * within and between both; NB for a barrier, a tree for a broadcast, pairs for an all-to-all.
 */
static void the_library_chooses_by_servers(void **state) {
  (void)state;
  static const struct {
    enum collective_op op;
    const char *one_server, *servers_of_one, *servers_of_four;
  } rows[] = {
      {COLLECTIVE_ALL_REDUCE, "mesh", "nhr", "mesh+nhr"},
      {COLLECTIVE_REDUCE_SCATTER, "mesh", "nhr", "mesh+nhr"},
      {COLLECTIVE_ALL_GATHER, "mesh", "nhr", "mesh+nhr"},
      {COLLECTIVE_BARRIER, "mesh", "nb", "nb"},
      {COLLECTIVE_BROADCAST, "mesh", "tree", "tree"},
      {COLLECTIVE_ALL_TO_ALL, "mesh", "pairwise", "pairwise"},
      {COLLECTIVE_SEND_RECV, "direct", "direct", "direct"},
      {COLLECTIVE_GATHER, "star", "star", "star"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct collective_call call = {.op = rows[i].op, .ranks = 8, .inner = 8};
    assert_string_equal(collective_choose(&call)->name, rows[i].one_server);
    call.inner = 1;
    assert_string_equal(collective_choose(&call)->name, rows[i].servers_of_one);
    call.inner = 4;
    assert_string_equal(collective_choose(&call)->name, rows[i].servers_of_four);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rank_gets_what_it_has_to_get),
      cmocka_unit_test(all_to_all_moves_the_parts_of_its_table),
      cmocka_unit_test(the_library_chooses_by_servers),
  };
  return cmocka_run_group_tests_name("group moves", tests, NULL, NULL);
}
