/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flat memory system: every engine moves its transfer in pieces of up to 4 KiB,
 * one after the other. A piece takes as long as the slowest of the engine itself
 * (bytes per cycle of its path, less when the bytes come from device memory), the
 * network, and device memory. Shared resources serve pieces in the order of time,
 * then port. Models start-up, per-core and chip-level bandwidth and L2 residency;
 * leaves out banks, queues of single requests and their latency.
 */
#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "memhier/l2/l2_policies.h"
#include "memhier/memhier.h"

#include "core/sim/memsys.h"

enum { PIECE_BYTES = L2_FLAT_LINE_BYTES };

/* The transfers of one engine, in order; the first moves. */
struct port {
  struct gm_transfer *first;
  struct gm_transfer *last;
};

struct memsys {
  struct engine *engine;
  const struct vinci_soc *soc;
  const struct network_ops *network_ops;
  struct network *network;
  uint32_t part;
  struct port *ports;
  struct l2_tags l2;
  struct hbm_flat hbm;
  uint64_t read_bytes;
  uint64_t write_bytes;
};

/* A piece about to move. */
struct piece {
  uint64_t bytes;
  uint64_t lines;        /* of the hardware's L2, whole or in part, where the engine counts them */
  uint64_t shared_bytes; /* that two requests of the engine ask for: moved twice */
  uint64_t miss_bytes;   /* of them to be fetched from device memory */
  uint64_t device_bytes; /* what device memory delivers for them: whole granules */
  uint64_t again_bytes;  /* of miss_bytes, those that L2 has held before */
  uint64_t written_back_bytes;
};

static bool create_l2(struct memsys *memory, struct arena *arena, uint64_t gm_bytes) {
  const char *policy = memory->soc->choices[SOC_L2_POLICY].name;
  struct l2_geometry geometry = {.capacity_bytes = (uint64_t)memory->soc->l2_bytes,
                                 .line_bytes = L2_FLAT_LINE_BYTES,
                                 .ways = L2_FLAT_WAYS,
                                 .policy = l2_policy_find(policy)};
  return l2_create(&memory->l2, arena, geometry, gm_bytes);
}

static struct memsys *flat_create(struct arena *arena, struct engine *engine,
                                  const struct vinci_soc *soc,
                                  const struct network_ops *network_ops, struct network *network,
                                  const struct memsys_shape *shape) {
  struct memsys *memory = ARENA_NEW(arena, struct memsys);
  if (!memory)
    return NULL;
  *memory = (struct memsys){
      .engine = engine,
      .soc = soc,
      .network_ops = network_ops,
      .network = network,
      .part = shape->part,
      .ports = ARENA_ARRAY(arena, struct port, shape->ports),
  };
  hbm_flat_create(&memory->hbm, soc);
  if (!memory->ports)
    return NULL;
  if (shape->tags)
    memory->l2 = shape->tags->l2;
  else if (!create_l2(memory, arena, shape->gm_bytes))
    return NULL;
  return memory;
}

static struct memsys *flat_create_tags(struct arena *arena, const struct vinci_soc *soc,
                                       uint64_t gm_bytes) {
  struct memsys *memory = ARENA_NEW(arena, struct memsys);
  if (!memory)
    return NULL;
  *memory = (struct memsys){.soc = soc};
  return create_l2(memory, arena, gm_bytes) ? memory : NULL;
}

/* Lines that the next bytes of a run begin on: one that is cut by the end of a piece counts once.
 */
static uint64_t new_lines(const struct gm_transfer *transfer, uint64_t bytes) {
  if (transfer->line_mcycles == 0)
    return 0;
  uint64_t address = transfer_position(transfer), line_bytes = transfer->line_bytes;
  bool begins = transfer->offset == 0 || address % line_bytes == 0;
  return (address + bytes - 1) / line_bytes - address / line_bytes + begins;
}

/* Looks up the bytes of one run that lie in one L2 line, and moves the position past them. */
static uint64_t take_line(struct memsys *memory, struct gm_transfer *transfer, uint64_t room,
                          uint64_t *traffic, struct piece *piece) {
  uint64_t address = transfer_position(transfer);
  uint64_t bytes = transfer->burst_bytes - transfer->offset;
  uint64_t in_line = L2_FLAT_LINE_BYTES - address % L2_FLAT_LINE_BYTES;
  if (bytes > in_line)
    bytes = in_line;
  if (bytes > room)
    bytes = room;
  struct l2_outcome outcome =
      l2_access(&memory->l2, address, bytes, transfer->write, transfer->passes_l2);
  l2_count_traffic(traffic, &outcome);
  traffic[transfer->write ? TRAFFIC_NETWORK_WRITE : TRAFFIC_NETWORK_READ] += bytes;
  piece->bytes += bytes;
  piece->lines += new_lines(transfer, bytes);
  uint64_t line_bytes = (uint64_t)memory->soc->l2_line_bytes;
  uint64_t shared = transfer_shared_granules(transfer, bytes, line_bytes) * L2_GRANULE_BYTES;
  piece->shared_bytes += shared;
  piece->written_back_bytes += (uint64_t)l2_count(outcome.written_back) * L2_GRANULE_BYTES;
  uint64_t misses = l2_count(outcome.misses);
  if (!transfer->write && misses > 0) {
    piece->miss_bytes += bytes * misses / (misses + l2_count(outcome.hits));
    piece->again_bytes += outcome.again ? bytes * misses / (misses + l2_count(outcome.hits)) : 0;
    piece->device_bytes +=
        misses * L2_GRANULE_BYTES + shared * misses / (misses + l2_count(outcome.hits));
  }
  transfer_advance(transfer, bytes);
  return bytes;
}

static struct piece take_piece(struct memsys *memory, struct gm_transfer *transfer,
                               uint64_t now_ps) {
  struct piece piece = {0};
  uint64_t room = PIECE_BYTES, *traffic = traffic_at(&memory->hbm.traffic, now_ps);
  while (room > 0 && transfer->burst < transfer->bursts)
    room -= take_line(memory, transfer, room, traffic, &piece);
  return piece;
}

/* Time that device memory adds to a piece; bytes that come again have a part of their own. */
static void wait_for_memory(struct gm_transfer *transfer, const struct piece *piece,
                            enum gm_part part, uint64_t wait_ps) {
  uint64_t again_ps = 0;
  if (piece->again_bytes > 0)
    again_ps = (uint64_t)((uint128)wait_ps * piece->again_bytes / piece->miss_bytes);
  transfer->part_ps[GM_REFETCH] += again_ps;
  transfer->part_ps[part] += wait_ps - again_ps;
}

/* How long the engine itself needs for a piece: for its bytes, those that miss at a rate of their
 * own, or for its lines. */
static uint64_t engine_ps(const struct memsys *memory, struct gm_transfer *transfer,
                          const struct piece *piece) {
  const struct path_cost *path = &memory->soc->path[transfer->path];
  uint64_t hit_rate = (uint64_t)path->mbytes_per_cycle;
  uint64_t miss_rate =
      path->hbm_mbytes_per_cycle > 0 ? (uint64_t)path->hbm_mbytes_per_cycle : hit_rate;
  uint64_t hit_bytes = piece->bytes + piece->shared_bytes - piece->miss_bytes;
  uint64_t bytes_ps = transfer_ps(transfer, hit_bytes, hit_rate), miss_ps = 0;
  if (piece->miss_bytes > 0) {
    miss_ps = transfer_ps(transfer, piece->miss_bytes, miss_rate);
    uint64_t as_hit_ps = min_u64(miss_ps, transfer_ps(transfer, piece->miss_bytes, hit_rate));
    miss_ps -= as_hit_ps;
    bytes_ps += as_hit_ps;
  }
  uint64_t lines_ps = piece->lines == 0 ? 0 : transfer_lines_ps(transfer, piece->lines);
  if (lines_ps > bytes_ps + miss_ps) {
    transfer->part_ps[GM_REORDER] += lines_ps;
    return lines_ps;
  }
  transfer->part_ps[GM_RATE] += bytes_ps;
  if (miss_ps > 0)
    wait_for_memory(transfer, piece, GM_ACCESS, miss_ps);
  return bytes_ps + miss_ps;
}

/* When device memory is through with a piece; 0: it has nothing to do. */
static uint64_t move_device(struct memsys *memory, const struct gm_transfer *transfer,
                            const struct piece *piece, uint64_t now_ps) {
  uint64_t end_ps = 0;
  if (piece->device_bytes > 0)
    end_ps = hbm_flat_move_ps(&memory->hbm, piece->device_bytes, false, now_ps);
  /* Incoming bytes need the room of written-back bytes: a full L2 moves at HBM's rate. */
  if (piece->written_back_bytes > 0)
    end_ps =
        max_u64(end_ps, hbm_flat_move_ps(&memory->hbm, piece->written_back_bytes, true, now_ps));
  /* A store passes no miss of a slice, and misses lie on all slices: the store ends behind those.
   */
  if (transfer->write)
    end_ps = max_u64(end_ps, memory->hbm.free_ps);
  return end_ps;
}

/* The first piece that misses waits longer. */
static uint64_t first_miss_ps(const struct memsys *memory, struct gm_transfer *transfer,
                              const struct piece *piece) {
  transfer->missed = piece->miss_bytes > 0;
  uint64_t wait_ps = transfer_first_miss_ps(transfer, memory->soc);
  if (wait_ps == 0)
    return 0;
  transfer->moved_ps += wait_ps;
  wait_for_memory(transfer, piece, GM_ACCESS, wait_ps);
  return wait_ps;
}

/* Moves one piece from now_ps on; returns when it has arrived. What binds a piece longer than its
 * engine is the resource that ends last. */
static uint64_t move_piece(struct memsys *memory, struct gm_transfer *transfer, uint64_t now_ps) {
  struct piece piece = take_piece(memory, transfer, now_ps);
  uint64_t own_end_ps = now_ps + engine_ps(memory, transfer, &piece);
  uint64_t network_end_ps = memory->network_ops->move_ps(memory->network, transfer->port,
                                                         piece.bytes + piece.shared_bytes, now_ps);
  uint64_t device_end_ps = move_device(memory, transfer, &piece, now_ps);
  uint64_t end_ps = max_u64(own_end_ps, max_u64(network_end_ps, device_end_ps));
  transfer->moved_ps += end_ps - now_ps;
  if (end_ps == network_end_ps)
    transfer->part_ps[GM_SLICE] += end_ps - own_end_ps;
  else if (end_ps > own_end_ps)
    wait_for_memory(transfer, &piece, GM_QUEUE, end_ps - own_end_ps);
  *(transfer->write ? &memory->write_bytes : &memory->read_bytes) += piece.bytes;
  return end_ps + first_miss_ps(memory, transfer, &piece);
}

static void fire_move(struct engine_event *event, uint64_t now_ps);

static struct gm_transfer *transfer_of(struct engine_event *event) {
  return (struct gm_transfer *)((char *)event - offsetof(struct gm_transfer, event));
}

static void begin(struct memsys *memory, struct gm_transfer *transfer, uint64_t at_ps) {
  transfer->event.fire = fire_move;
  transfer->event.key = event_key(PHASE_ARBITRATE, memory->part, transfer->port);
  engine_schedule(memory->engine, &transfer->event, max_u64(at_ps, transfer->start_ps));
}

static void fire_done(struct engine_event *event, uint64_t now_ps) {
  struct gm_transfer *transfer = transfer_of(event);
  struct memsys *memory = transfer->memory;
  struct port *port = &memory->ports[transfer->port];
  port->first = transfer->next;
  if (port->first)
    begin(memory, port->first, now_ps);
  transfer->done(transfer, now_ps);
}

static void fire_move(struct engine_event *event, uint64_t now_ps) {
  struct gm_transfer *transfer = transfer_of(event);
  struct memsys *memory = transfer->memory;
  uint64_t end_ps =
      transfer->burst < transfer->bursts ? move_piece(memory, transfer, now_ps) : now_ps;
  if (transfer->burst == transfer->bursts) {
    event->fire = fire_done;
    /* Arrivals come before other events of an instant; those of the present instant are over. */
    if (end_ps > now_ps)
      event->key = event_key(PHASE_DELIVER, memory->part, transfer->port);
  }
  engine_schedule(memory->engine, event, end_ps);
}

static void flat_start(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps) {
  struct port *port = &memory->ports[transfer->port];
  transfer->memory = memory;
  transfer->next = NULL;
  transfer->start_ps = start_ps;
  transfer->burst = transfer->offset = 0;
  if (transfer->burst_bytes == 0)
    transfer->bursts = 0;
  if (port->first) {
    port->last->next = transfer;
  } else {
    port->first = transfer;
    begin(memory, transfer, start_ps);
  }
  port->last = transfer;
}

/* The place of the first bytes of a range, up to the end of their line; returns how many. */
static uint64_t place_at(const struct memsys *memory, uint64_t address, uint64_t bytes,
                         struct l2_place *place, uint32_t *granules) {
  uint64_t offset = address % L2_FLAT_LINE_BYTES;
  uint64_t in_line = min_u64(bytes, L2_FLAT_LINE_BYTES - offset);
  *place = l2_place_of(&memory->l2, address / L2_FLAT_LINE_BYTES);
  *granules = l2_granules(offset, in_line);
  return in_line;
}

static void flat_pass(struct memsys *memory, uint64_t address, uint64_t bytes, bool write) {
  struct l2_place place;
  uint32_t granules;
  for (uint64_t end = address + bytes; address < end;) {
    address += place_at(memory, address, end - address, &place, &granules);
    (void)l2_look_up(&memory->l2, &place, granules, write);
  }
}

static void flat_copy(struct memsys *memory, const struct memsys *from) {
  l2_copy(&memory->l2, &from->l2);
}

static uint64_t flat_digest(const struct memsys *memory) {
  return l2_digest(&memory->l2, DIGEST_SEED);
}

static void flat_clean(struct memsys *memory) { l2_clean(&memory->l2); }

static void flat_preload(struct memsys *memory, uint64_t address, uint64_t bytes) {
  flat_pass(memory, address, bytes, false);
}

static void flat_find(const struct memsys *memory, uint64_t address, uint64_t bytes,
                      uint64_t *valid, uint64_t *dirty) {
  struct l2_place place;
  uint32_t granules;
  for (uint64_t end = address + bytes; address < end;) {
    address += place_at(memory, address, end - address, &place, &granules);
    l2_find(&memory->l2, &place, granules, valid, dirty);
  }
}

static void flat_owe(struct memsys *memory, uint64_t address, uint64_t bytes, uint32_t share_ppm) {
  l2_owe(&memory->l2, address / L2_FLAT_LINE_BYTES + 1, bytes, share_ppm);
}

static void flat_report(const struct memsys *memory, uint64_t total_ps,
                        struct vinci_result *result) {
  (void)total_ps;
  result->l2 = memory->l2.counters;
  result->hbm.read_bytes = memory->hbm.read_bytes;
  result->hbm.write_bytes = memory->hbm.write_bytes;
  result->hbm_peak_bytes_per_second = memory->hbm.bytes_per_second;
  result->traffic = memory->hbm.traffic;
  result->gm_read_bytes = memory->read_bytes;
  result->gm_write_bytes = memory->write_bytes;
}

const struct memsys_ops memhier_flat_ops = {
    .name = "flat",
    .create = flat_create,
    .create_tags = flat_create_tags,
    .find = flat_find,
    .pass = flat_pass,
    .copy = flat_copy,
    .digest = flat_digest,
    .clean = flat_clean,
    .preload = flat_preload,
    .owe = flat_owe,
    .start = flat_start,
    .report = flat_report,
};
