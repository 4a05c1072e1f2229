/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic traffic and its measurement. */
#include "noc/stream.h"

#include <string.h>

#include "core/base/arith.h"
#include "noc/flit.h"
#include "noc/packet.h"
#include "noc/stream_state.h"

/* ---- names -------------------------------------------------------------------------- */

static const char *const level_names[] = {
#define X(id, name) name,
    NOC_LEVEL_LIST(X)
#undef X
};

static const char *const traffic_names[] = {
#define X(id, name, text) name,
    NOC_TRAFFIC_LIST(X)
#undef X
};

enum noc_level noc_level_by_name(const char *name) {
  unsigned i = 0;
  while (i < NOC_LEVEL_COUNT && strcmp(level_names[i], name) != 0)
    i++;
  return (enum noc_level)i;
}

enum noc_traffic noc_traffic_by_name(const char *name) {
  unsigned i = 0;
  while (i < NOC_TRAFFIC_COUNT && strcmp(traffic_names[i], name) != 0)
    i++;
  return (enum noc_traffic)i;
}

const char *noc_traffic_name(enum noc_traffic traffic) {
  return traffic < NOC_TRAFFIC_COUNT ? traffic_names[traffic] : "?";
}

/* ---- traffic ------------------------------------------------------------------------ */

/* A stream of random numbers per terminal, so that all levels see the same packets. */
static uint32_t random_below(uint64_t *state, uint32_t bound) {
  return (uint32_t)((splitmix64_next(state) >> 32) * bound >> 32);
}

static uint32_t side_of(uint32_t count) {
  uint32_t side = 0;
  while ((side + 1) * (side + 1) <= count)
    side++;
  return side;
}

/* The terminals at the ends of the first and last row; along a line, four at equal distances. */
static void find_corners(struct stream_run *run) {
  const struct noc_graph *graph = &run->map.config->graph;
  uint32_t last = graph->terminal_count - 1, row_end = 0;
  while (row_end < last && graph->routers[graph->terminals[row_end + 1]].row ==
                               graph->routers[graph->terminals[0]].row)
    row_end++;
  if (row_end == last) {
    for (uint32_t i = 0; i < 4; i++)
      run->corners[i] = i * graph->terminal_count / 4;
    return;
  }
  run->corners[1] = row_end;
  run->corners[2] = last - row_end;
  run->corners[3] = last;
}

static uint32_t choose_destination(struct stream_run *run, uint32_t source) {
  uint32_t side = run->side;
  switch (run->stream->traffic) {
  case NOC_TRAFFIC_UNIFORM:
    return random_below(&run->random[source], run->map.config->graph.terminal_count);
  case NOC_TRAFFIC_TRANSPOSE:
    return source % side * side + source / side;
  case NOC_TRAFFIC_HOTSPOT4:
    return run->corners[random_below(&run->random[source], 4)];
  default:
    return 0;
  }
}

bool stream_trial(struct stream_run *run, uint32_t source, uint32_t *destination) {
  if (splitmix64_next(&run->random[source]) >> 32 >= run->threshold)
    return false;
  *destination = choose_destination(run, source);
  return true;
}

/* ---- measurement -------------------------------------------------------------------- */

void stream_created(struct stream_run *run, uint64_t created, bool measured) {
  run->result->total_packets++;
  if (!measured)
    return;
  run->open_packets++;
  run->open_created += created;
}

void stream_arrived(struct stream_run *run, uint32_t source, uint32_t destination, uint64_t created,
                    uint64_t arrival, bool measured) {
  struct noc_stream_result *result = run->result;
  if (arrival >= run->start && arrival < run->end)
    result->accepted_flits += run->stream->flits;
  if (!measured)
    return;
  run->open_packets--;
  run->open_created -= created;
  result->packets++;
  result->latency_cycles += arrival - created;
  result->hops += run->hops[source * result->terminals + destination];
}

bool stream_too_slow(const struct stream_run *run, uint64_t cycle) {
  const struct noc_stream_result *result = run->result;
  uint64_t sum = result->latency_cycles + run->open_packets * cycle - run->open_created;
  return sum > (result->packets + run->open_packets) * NOC_STREAM_UNSTABLE_CYCLES;
}

/* ---- packet level ------------------------------------------------------------------- */

static void run_packets(struct stream_run *run, struct packet_network *network) {
  struct noc_stream_result *result = run->result;
  uint32_t flits = run->stream->flits, terminals = (uint32_t)result->terminals;
  for (uint64_t cycle = 0; cycle < run->end; cycle++) {
    for (uint32_t source = 0; source < terminals; source++) {
      uint32_t destination;
      if (!stream_trial(run, source, &destination))
        continue;
      uint64_t arrival = packet_walk(network, source, destination, flits, cycle);
      stream_created(run, cycle, cycle >= run->start);
      stream_arrived(run, source, destination, cycle, arrival, cycle >= run->start);
      result->total_flit_hops += run->hops[source * terminals + destination] * flits;
    }
  }
  result->stable = !stream_too_slow(run, run->end);
  result->total_cycles = run->end;
  for (uint32_t port = 0; port < run->map.port_count; port++)
    if (packet_port_flits(network, port) > result->busiest_link_flits)
      result->busiest_link_flits = packet_port_flits(network, port);
  if (result->busiest_link_flits > run->end) /* under overload: what will pass after the end */
    result->busiest_link_flits = run->end;
}

/* ---- a run -------------------------------------------------------------------------- */

static enum vinci_status check(const struct noc_config *config, const struct noc_stream *stream,
                               uint32_t side, struct vinci_diag *diag) {
  if (stream->level >= NOC_LEVEL_COUNT || stream->traffic >= NOC_TRAFFIC_COUNT)
    return diag_error(diag, VINCI_E_USAGE, "unknown level or traffic");
  if (stream->flits == 0 || stream->flits > NOC_STREAM_FLITS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "packets have 1 to %d flits, not %u",
                      NOC_STREAM_FLITS_MAX, stream->flits);
  if (stream->rate_ppm == 0 || stream->rate_ppm > NOC_RATE_ONE)
    return diag_error(diag, VINCI_E_USAGE, "the rate is above 0, at most 1");
  if (stream->cycles == 0 || stream->cycles > NOC_STREAM_CYCLES_MAX)
    return diag_error(diag, VINCI_E_USAGE, "a run measures 1 to %lld cycles",
                      (long long)NOC_STREAM_CYCLES_MAX);
  if (stream->traffic == NOC_TRAFFIC_TRANSPOSE && side * side != config->graph.terminal_count)
    return diag_error(diag, VINCI_E_USAGE, "transpose needs a square number of terminals, not %u",
                      config->graph.terminal_count);
  return VINCI_OK;
}

static enum vinci_status prepare(struct stream_run *run, struct arena *arena,
                                 struct vinci_diag *diag) {
  const struct noc_stream *stream = run->stream;
  uint32_t terminals = run->map.config->graph.terminal_count;
  run->random = ARENA_ARRAY(arena, uint64_t, terminals);
  run->hops = ARENA_ARRAY(arena, uint32_t, (size_t)terminals * terminals);
  if (!run->random || !run->hops)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  uint64_t seed = stream->seed;
  for (uint32_t s = 0; s < terminals; s++) {
    run->random[s] = splitmix64_next(&seed);
    for (uint32_t d = 0; d < terminals; d++)
      run->hops[(size_t)s * terminals + d] = noc_hops(&run->map, s, d);
  }
  run->threshold = ((uint64_t)stream->rate_ppm << 32) / ((uint64_t)NOC_RATE_ONE * stream->flits);
  run->start = NOC_STREAM_WARMUP_CYCLES;
  run->end = run->start + stream->cycles;
  find_corners(run);
  return VINCI_OK;
}

enum vinci_status noc_stream_run(const struct noc_config *config, const struct noc_stream *stream,
                                 struct noc_stream_result *result, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct stream_run run = {.stream = stream, .result = result};
  *result = (struct noc_stream_result){.terminals = config->graph.terminal_count,
                                       .cycles = stream->cycles};
  run.side = side_of(config->graph.terminal_count);
  enum vinci_status status = noc_map_create(&run.map, &arena, config, diag);
  if (status == VINCI_OK)
    status = check(config, stream, run.side, diag);
  if (status == VINCI_OK)
    status = prepare(&run, &arena, diag);
  if (status == VINCI_OK && stream->level == NOC_LEVEL_FLIT) {
    status = stream_run_flits(&run, &arena, diag);
  } else if (status == VINCI_OK && stream->level == NOC_LEVEL_PACKET_HOPS) {
    status = stream_run_hops(&run, &arena, diag);
  } else if (status == VINCI_OK) {
    struct packet_network *network = packet_create(&arena, &run.map);
    if (network)
      run_packets(&run, network);
    else
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  arena_free(&arena);
  return status;
}
