/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-level memory system: how it is built, and what it reports. */
#include <string.h>

#include "core/base/digest.h"
#include "core/result/result_counters.h"
#include "memhier/l2/cycle_host.h"
#include "memhier/l2/l2_policies.h"

enum { REQUESTS_MAX = 1024 };

/* Requests of a port: the granules of its bytes in flight, at least 1. Most ports never need more
 * than a few requests, so a request is prepared when first taken. */
static bool create_requests(struct memsys *memory, struct arena *arena, struct engine_port *port) {
  uint64_t granules = path_largest_window(memory->soc) / L2_GRANULE_BYTES + 1;
  uint32_t count = granules < REQUESTS_MAX ? (uint32_t)granules : REQUESTS_MAX;
  port->requests = ARENA_ROOM(arena, struct memory_request, count);
  port->known_room = 2 * count; /* so that they are seldom moved to the front */
  port->known = ARENA_ROOM(arena, uint64_t, port->known_room);
  port->request_count = port->unprepared = count;
  port->first_id = memory->request_count;
  memory->request_count += count;
  return port->requests && port->known;
}

/* A line to its slice and back, while nobody else is on the way. */
static void measure_idle(struct engine_port *port) {
  const struct memsys *memory = port->memory;
  uint64_t line = memory->line_bytes.value;
  for (unsigned write = 0; write < 2; write++)
    port->idle_ps[write] = memory->network_ops->idle_trip_ps(memory->network, port->cluster,
                                                             write ? line : 0, write ? 0 : line);
}

static bool create_ports(struct memsys *memory, struct arena *arena,
                         const struct memsys_shape *shape) {
  memory->ports = ARENA_ARRAY(arena, struct engine_port, shape->ports);
  memory->l2_of_core = ARENA_ARRAY(arena, struct l2_counters, shape->ports / PIPE_COUNT);
  if (!memory->ports || !memory->l2_of_core)
    return false;
  for (uint32_t i = 0; i < shape->ports; i++) {
    struct engine_port *port = &memory->ports[i];
    *port = (struct engine_port){
        .memory = memory, .index = i, .cluster = shape->cluster_of_core[i / PIPE_COUNT]};
    port->issue.key = event_key(PHASE_ARBITRATE, memory->part, i);
    port->issue.fire = cycle_issue;
    if (i > 0 && port[-1].cluster == port->cluster)
      memcpy(port->idle_ps, port[-1].idle_ps, sizeof port->idle_ps);
    else
      measure_idle(port);
    enum pipe pipe = (enum pipe)(i % PIPE_COUNT);
    bool moves = pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_FIX;
    if (moves && !create_requests(memory, arena, port))
      return false;
  }
  return true;
}

/* Granules that a slice moves per second. */
static uint64_t slice_hz(const struct vinci_soc *soc) {
  return max_u64(1,
                 (uint64_t)soc->l2_bytes_per_second / (uint64_t)soc->l2_slices / L2_GRANULE_BYTES);
}

static bool create_slices(struct memsys *memory, struct arena *arena, uint64_t gm_bytes) {
  const struct vinci_soc *soc = memory->soc;
  struct l2_geometry geometry = {
      .capacity_bytes = (uint64_t)soc->l2_bytes / memory->slice_count.value,
      .line_bytes = (uint32_t)soc->l2_line_bytes,
      .ways = (uint32_t)soc->l2_ways,
      .policy = l2_policy_find(soc->choices[SOC_L2_POLICY].name),
  };
  memory->slices = ARENA_ARRAY(arena, struct l2_tags, memory->slice_count.value);
  if (!memory->slices)
    return false;
  uint64_t share = gm_bytes / memory->slice_count.value + (uint64_t)soc->l2_line_bytes;
  for (uint32_t i = 0; i < memory->slice_count.value; i++)
    if (!l2_create(&memory->slices[i], arena, geometry, share))
      return false;
  return true;
}

static bool create_channels(struct memsys *memory, struct arena *arena) {
  const struct vinci_soc *soc = memory->soc;
  uint32_t count = (uint32_t)soc->hbm_channels;
  memory->channels_per_slice = count / (uint32_t)memory->slice_count.value;
  memory->channels = ARENA_ARRAY(arena, struct hbm_port, count);
  if (!memory->channels ||
      hbm_map_parse(&memory->layout.map,
                    mem_map_text(soc->memory, soc->choices[SOC_MEMORY_MAP].name), soc->memory, 1,
                    NULL) != VINCI_OK)
    return false;
  hbm_layout_init(&memory->layout, soc->memory, (uint64_t)soc->hbm_interleave_bytes);
  memory->channel_cycle_ps = PS_PER_SECOND / soc_channel_hz(soc);
  for (uint32_t i = 0; i < count; i++)
    if (!hbm_port_create(&memory->channels[i], arena, memory->engine, soc->memory, &memory->layout,
                         soc_channel_hz(soc), memory->part + 1, i))
      return false;
  return true;
}

static struct memsys *cycle_create(struct arena *arena, struct engine *engine,
                                   const struct vinci_soc *soc,
                                   const struct network_ops *network_ops, struct network *network,
                                   const struct memsys_shape *shape) {
  struct memsys *memory = ARENA_NEW(arena, struct memsys);
  if (!memory || !soc->memory)
    return NULL;
  *memory = (struct memsys){
      .engine = engine,
      .soc = soc,
      .network_ops = network_ops,
      .network = network,
      .part = shape->part,
      .port_count = shape->ports,
      .slice_count = divisor_of((uint64_t)soc->l2_slices),
      .line_bytes = divisor_of((uint64_t)soc->l2_line_bytes),
  };
  struct clock_domain core_clock;
  clock_init(&core_clock, (uint64_t)soc->core_hz);
  clock_init(&memory->slice_clock, slice_hz(soc));
  memory->hit_ps = clock_edge_ps(&core_clock, (uint64_t)soc->l2_hit_cycles);
  memory->burst_window_ps =
      network_ops->arrivals ? clock_edge_ps(&core_clock, BURST_WINDOW_CYCLES) : 0;
  memory->round_trip_ps = network_ops->idle_ps(network, 0, false) + memory->hit_ps +
                          network_ops->idle_ps(network, (uint64_t)soc->l2_line_bytes, true);
  memory->last_lines = ARENA_ARRAY(arena, uint64_t, memory->slice_count.value);
  if (!memory->last_lines || !create_ports(memory, arena, shape) ||
      !network_ops->prepare(network, arena, memory->request_count) ||
      !calendars_create(&memory->slice_calendars, arena, (uint32_t)memory->slice_count.value) ||
      !(shape->host ? cycle_host_create(memory, arena, shape->host)
                    : create_channels(memory, arena)))
    return NULL;
  if (shape->tags)
    memory->slices = shape->tags->slices;
  else if (!create_slices(memory, arena, shape->gm_bytes))
    return NULL;
  return memory;
}

static struct memsys *cycle_create_tags(struct arena *arena, const struct vinci_soc *soc,
                                        uint64_t gm_bytes) {
  struct memsys *memory = ARENA_NEW(arena, struct memsys);
  if (!memory)
    return NULL;
  *memory = (struct memsys){.soc = soc,
                            .slice_count = divisor_of((uint64_t)soc->l2_slices),
                            .line_bytes = divisor_of((uint64_t)soc->l2_line_bytes)};
  return create_slices(memory, arena, gm_bytes) ? memory : NULL;
}

static void cycle_pass(struct memsys *memory, uint64_t address, uint64_t bytes, bool write) {
  for (uint64_t end = address + bytes; address < end;) {
    struct line_run run;
    cycle_run_at(memory, address, end - address, &run);
    (void)l2_look_up(&memory->slices[run.slice], &run.place, run.granules, write);
    address += run.bytes;
  }
}

static void cycle_copy(struct memsys *memory, const struct memsys *from) {
  for (uint64_t i = 0; i < memory->slice_count.value; i++)
    l2_copy(&memory->slices[i], &from->slices[i]);
}

static uint64_t cycle_digest(const struct memsys *memory) {
  uint64_t digest = DIGEST_SEED;
  for (uint64_t i = 0; i < memory->slice_count.value; i++)
    digest = l2_digest(&memory->slices[i], digest);
  return digest;
}

static void cycle_clean(struct memsys *memory) {
  for (uint64_t i = 0; i < memory->slice_count.value; i++)
    l2_clean(&memory->slices[i]);
}

static void cycle_preload(struct memsys *memory, uint64_t address, uint64_t bytes) {
  cycle_pass(memory, address, bytes, false);
}

static void cycle_find(const struct memsys *memory, uint64_t address, uint64_t bytes,
                       uint64_t *valid, uint64_t *dirty) {
  for (uint64_t end = address + bytes; address < end;) {
    struct line_run run;
    cycle_run_at(memory, address, end - address, &run);
    l2_find(&memory->slices[run.slice], &run.place, run.granules, valid, dirty);
    address += run.bytes;
  }
}

/* Each slice has its share. */
static void cycle_owe(struct memsys *memory, uint64_t address, uint64_t bytes, uint32_t share_ppm) {
  uint64_t slices = memory->slice_count.value;
  uint64_t group = address / memory->line_bytes.value / slices + 1;
  for (uint64_t i = 0; i < slices; i++)
    l2_owe(&memory->slices[i], group, bytes / slices, share_ppm);
}

/* What a channel did. Writes count when L2 has handed them over. */
static struct hbm_totals channel_totals(const struct hbm_port *port, uint64_t burst_bytes,
                                        uint64_t total_ps) {
  const struct hbm_counters *channel = hbm_port_counters(port, total_ps);
  uint64_t columns = channel->reads + channel->writes;
  return (struct hbm_totals){
      .read_bytes = (channel->reads + channel->forwarded_reads) * burst_bytes,
      .write_bytes = port->written_granules * L2_GRANULE_BYTES,
      .row_misses = channel->activates,
      .row_hits = columns > channel->activates ? columns - channel->activates : 0,
  };
}

static void cycle_report(const struct memsys *memory, uint64_t total_ps,
                         struct vinci_result *result) {
  for (uint32_t i = 0; i < result->core_count; i++) {
    result->cores[i].l2 = memory->l2_of_core[i];
    counters_add(GROUP_L2, &result->l2, &memory->l2_of_core[i]);
  }
  uint64_t burst_bytes = (uint64_t)memory->soc->memory->burst_bytes;
  if (memory->behind)
    result->hbm.read_bytes = cycle_host_read_bytes(memory);
  for (uint32_t i = 0; i < result->channel_count; i++) {
    result->channels[i] = channel_totals(&memory->channels[i], burst_bytes, total_ps);
    counters_add(GROUP_HBM, &result->hbm, &result->channels[i]);
  }
  result->hbm.write_bytes = result->l2.writebacks * L2_GRANULE_BYTES;
  result->hbm_peak_bytes_per_second = soc_channel_hz(memory->soc) /
                                      (uint64_t)memory->soc->memory->burst_cycles * burst_bytes *
                                      (uint64_t)memory->soc->hbm_channels;
  result->traffic = memory->traffic;
  result->gm_read_bytes = memory->read_bytes;
  result->gm_write_bytes = memory->write_bytes;
}

const struct memsys_ops memhier_cycle_ops = {
    .name = "cycle",
    .create = cycle_create,
    .create_tags = cycle_create_tags,
    .find = cycle_find,
    .pass = cycle_pass,
    .copy = cycle_copy,
    .digest = cycle_digest,
    .clean = cycle_clean,
    .preload = cycle_preload,
    .owe = cycle_owe,
    .start = cycle_start,
    .answer = cycle_host_answer,
    .report = cycle_report,
};
