/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of both memory models: L2 tags, and the shared HBM resource of the flat model. */
#ifndef VINCI_MEMHIER_MEMHIER_H
#define VINCI_MEMHIER_MEMHIER_H

#include "core/base/arena.h"
#include "core/base/arith.h"
#include "core/chip/soc.h"
#include "core/result/result.h"
#include "core/sim/memsys.h"

/* ---- what both models do with a transfer ---- */

/* How long the engine that reorders needs for its lines, at least. */
static inline uint64_t transfer_lines_ps(const struct gm_transfer *transfer, uint64_t lines) {
  return (uint64_t)((uint128)lines * transfer->line_mcycles * (PS_PER_SECOND / MILLI) /
                    transfer->core_hz);
}

/* What the first read of a kernel that L2 lacks takes longer on a core. */
static inline uint64_t transfer_first_miss_ps(const struct gm_transfer *transfer,
                                              const struct vinci_soc *soc) {
  if (!transfer->reached_memory || *transfer->reached_memory || !transfer->missed)
    return 0;
  *transfer->reached_memory = true;
  return (uint64_t)((uint128)soc->l2_miss_cycles * PS_PER_SECOND / transfer->core_hz);
}

/* How long the engine needs for bytes at a rate. */
static inline uint64_t transfer_ps(const struct gm_transfer *transfer, uint64_t bytes,
                                   uint64_t mbytes_per_cycle) {
  return (uint64_t)((uint128)bytes * MILLI * PS_PER_SECOND /
                    ((uint128)mbytes_per_cycle * transfer->core_hz));
}

/* Bytes in flight on a path: what it moves in window_cycles at its full rate; the most of GM. */
static inline uint64_t path_window_bytes(const struct vinci_soc *soc, enum path path) {
  return (uint64_t)soc->path[path].mbytes_per_cycle * (uint64_t)soc->window_cycles / MILLI;
}
static inline uint64_t path_largest_window(const struct vinci_soc *soc) {
  uint64_t largest = L2_GRANULE_BYTES;
  for (unsigned i = 0; i < PATH_COUNT; i++)
    if (path_from((enum path)i) == SPACE_GM || path_to((enum path)i) == SPACE_GM)
      largest = max_u64(largest, path_window_bytes(soc, (enum path)i));
  return largest;
}

/* Address of the next byte to move. */
static inline uint64_t transfer_position(const struct gm_transfer *transfer) {
  return transfer->address + transfer->burst * transfer->stride_bytes + transfer->offset;
}

/*
 * Engines cut a run of bytes into requests of a line from the first byte on. Where that is not the
 * first byte of a granule, requests meet inside granules, and both ask for the granule at nearly
 * the same time. Returns how many granules of the next bytes are asked for twice.
 */
static inline uint64_t transfer_shared_granules(const struct gm_transfer *transfer, uint64_t bytes,
                                                uint64_t request_bytes) {
  if ((transfer_position(transfer) - transfer->offset) % L2_GRANULE_BYTES == 0)
    return 0;
  return (transfer->offset + bytes - 1) / request_bytes - transfer->offset / request_bytes;
}

/* Moves the position on inside a run of bytes, and from its end to the next run. */
static inline void transfer_advance(struct gm_transfer *transfer, uint64_t bytes) {
  transfer->offset += bytes;
  if (transfer->offset < transfer->burst_bytes)
    return;
  transfer->offset = 0;
  transfer->burst++;
}

/*
 * L2 tags: set-associative, with one of several replacement policies, write-back,
 * allocating on reads and writes, with one valid and one dirty bit per 128 bytes (the
 * granule of the vendor's hit and miss counters). The cycle model has the lines of the
 * hardware; the flat model lines of 4 KiB, so that one look-up serves a long run of bytes.
 */
struct l2_policy; /* memhier/l2/l2_policies.h */
struct l2_geometry {
  uint64_t capacity_bytes;
  uint32_t line_bytes; /* up to 32 granules */
  uint32_t ways;       /* up to 255 */
  const struct l2_policy *policy;
};
enum { L2_FLAT_LINE_BYTES = 4096, L2_FLAT_WAYS = 16 };

/* What is in a way; granules of the line are a bit each. */
struct l2_way {
  uint32_t tag; /* line + 1; 0 = empty; hbm.size is at most 2^43 bytes */
  uint32_t valid;
  uint32_t dirty;
};

struct l2_tags {
  struct l2_geometry geometry;
  struct divisor set_count; /* 0: a cache without room */
  struct l2_way *ways;      /* [set][way] */
  uint64_t *marks;          /* [set][mark_words]: a byte of each way's tag, to find it by */
  uint32_t mark_words;
  uint8_t *hints;  /* [set][mark % L2_HINTS]: the way that such a line came to last */
  uint8_t *orders; /* [set][order_bytes]: what the policy keeps */
  uint32_t order_bytes;
  bool hits_are_plain;    /* there is a cache, and its policy does not ask what hits */
  uint64_t owed_granules; /* of kernels before, to be written back */
  uint64_t owed_line;     /* the next of them */
  uint32_t owed_ppm;      /* lines that go back by line that comes in */
  int64_t due_ppm;        /* of a line, by now */
  uint64_t *held;         /* a bit for each line that has been here */
  uint64_t held_lines;    /* lines with such a bit */
  struct l2_counters counters;
};

enum { L2_HINTS = 32 };

/* Where a line is looked for. */
struct l2_place {
  uint64_t line;
  uint32_t set;
  uint16_t mark;
  uint16_t way; /* the first to try */
};

/*
 * As many lines in a row as there are sets take each set once. Each such round begins at a set of
 * its own, so that rows of a pitch which divides their number of sets do not gather in few sets.
 * (How the hardware chooses sets is not published.)
 */
static inline struct l2_place l2_place_of(const struct l2_tags *l2, uint64_t line) {
  uint64_t sets = l2->set_count.value;
  if (sets == 0)
    return (struct l2_place){.line = line};
  uint64_t round = divide(line, &l2->set_count);
  uint64_t first = ((uint64_t)((uint32_t)round * UINT32_C(0x9E3779B1)) * sets) >> 32;
  uint64_t set = line - round * sets + first;
  return (struct l2_place){
      .line = line, .set = (uint32_t)(set < sets ? set : set - sets), .mark = round & UINT8_MAX};
}

/* The tags of a large L2 lie in the host's memory. These calls fetch what later look-ups need into
 * the host's cache: first the hint, then the way. They change no outcome. */
static inline uint8_t *l2_hint(const struct l2_tags *l2, const struct l2_place *place) {
  return &l2->hints[(size_t)place->set * L2_HINTS + place->mark % L2_HINTS];
}
static inline void l2_prefetch_hint(const struct l2_tags *l2, const struct l2_place *place) {
  if (l2->set_count.value != 0)
    __builtin_prefetch(l2_hint(l2, place));
}
static inline void l2_prefetch_way(const struct l2_tags *l2, struct l2_place *place) {
  if (l2->set_count.value == 0)
    return;
  place->way = *l2_hint(l2, place);
  __builtin_prefetch(&l2->ways[(size_t)place->set * l2->geometry.ways + place->way], 1);
}

/* What an access found; masks have a bit per granule of a line. */
struct l2_outcome {
  uint32_t hits;         /* granules asked for that were there */
  uint32_t misses;       /* that were not */
  uint32_t written_back; /* dirty granules of the line that had to leave */
  uint64_t victim;       /* number of that line */
  bool again;            /* the line comes in, and has been here before */
};

/* A cache of capacity 0 never hits. gm_bytes bounds the addresses. */
bool l2_create(struct l2_tags *l2, struct arena *arena, struct l2_geometry geometry,
               uint64_t gm_bytes);
/* Lines from `line` on are owed: while lines come in, this share of them pushes an owed line out.
 */
static inline void l2_owe(struct l2_tags *l2, uint64_t line, uint64_t bytes, uint32_t share_ppm) {
  l2->owed_ppm = share_ppm;
  l2->owed_line = line;
  l2->owed_granules = bytes / L2_GRANULE_BYTES;
}
/* Reads or writes at least 1 granule of a line; counts nothing. */
struct l2_outcome l2_look_up(struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
                             bool write);
/* Tries the way where the line was last: true, and the access is done, when all granules hit
 * there and the policy need not know. Otherwise the caller goes on with l2_look_up() or l2_pass().
 */
static inline bool l2_hit(struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
                          bool write) {
  if (!l2->hits_are_plain)
    return false;
  struct l2_way *way = &l2->ways[(size_t)place->set * l2->geometry.ways + place->way];
  if (way->tag != (uint32_t)place->line + 1 || (granules & ~way->valid) != 0)
    return false;
  way->dirty |= write ? granules : 0;
  return true;
}
/* The same for an access that takes no room in L2: granules that are there hit, the rest passes. */
struct l2_outcome l2_pass(struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
                          bool write);
/* Adds the bytes of these granules that are in L2, and of these the dirty ones. */
void l2_find(const struct l2_tags *l2, const struct l2_place *place, uint32_t granules,
             uint64_t *valid, uint64_t *dirty);
/* Lets a cache of the same geometry hold what another does. */
void l2_copy(struct l2_tags *l2, const struct l2_tags *from);
/* Writes all dirty lines back; they stay. */
void l2_clean(struct l2_tags *l2);
/* Bits of the granules that [offset, offset + bytes) of a line touches. */
uint32_t l2_granules(uint64_t offset, uint64_t bytes);
/* One of both lookups for a run inside one line, bytes > 0, with the cache's own counters. */
struct l2_outcome l2_access(struct l2_tags *l2, uint64_t address, uint64_t bytes, bool write,
                            bool passes);

/* Bits of a mask. */
static inline unsigned l2_count(uint32_t granules) { return (unsigned)count_bits(granules); }

/* Adds an outcome to counters. */
static inline void l2_count_outcome(struct l2_counters *counters, const struct l2_outcome *outcome,
                                    bool write) {
  *(write ? &counters->write_hits : &counters->read_hits) += l2_count(outcome->hits);
  if (!(outcome->misses | outcome->written_back))
    return;
  counters->refetches += outcome->again && !write ? l2_count(outcome->misses) : 0;
  *(write ? &counters->write_misses : &counters->read_misses) += l2_count(outcome->misses);
  counters->writebacks += l2_count(outcome->written_back);
}

/* The same in bytes for the step of a traffic that holds the access. */
static inline void l2_count_traffic(uint64_t step[TRAFFIC_COUNT],
                                    const struct l2_outcome *outcome) {
  step[TRAFFIC_L2_HIT] += (uint64_t)l2_count(outcome->hits) * L2_GRANULE_BYTES;
  step[TRAFFIC_L2_MISS] += (uint64_t)l2_count(outcome->misses) * L2_GRANULE_BYTES;
}

/*
 * Device memory as one resource of a given bandwidth less refresh, first come first served. When
 * reads and writes mix, bus turnarounds and row conflicts cost a share of that:
 * among the last 64 accesses, once a quarter goes the other way, only
 * hbm.mixed_efficiency is left; fewer cost in proportion.
 */
struct hbm_flat {
  uint64_t bytes_per_second;        /* peak */
  uint64_t stream_bytes_per_second; /* less refresh */
  uint64_t mixed_loss_ppm;
  uint64_t free_ps;
  uint64_t writes; /* the last 64 accesses, 1 = write */
  uint64_t read_bytes;
  uint64_t write_bytes;
  struct memory_traffic traffic;
};

void hbm_flat_create(struct hbm_flat *hbm, const struct vinci_soc *soc);
/* Moves bytes at or after now_ps; returns when they are through. */
uint64_t hbm_flat_move_ps(struct hbm_flat *hbm, uint64_t bytes, bool write, uint64_t now_ps);

#endif
