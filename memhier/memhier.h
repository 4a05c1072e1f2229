/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the flat memory model: coarse L2 tags and the shared HBM resource. */
#ifndef VINCI_MEMHIER_MEMHIER_H
#define VINCI_MEMHIER_MEMHIER_H

#include "core/arena.h"
#include "core/result.h"
#include "core/soc.h"

/*
 * L2 tags. A line here is 4 KiB with one valid and one dirty bit per 128 bytes (the
 * granule of the vendor's hit and miss counters), 16 ways, first in first out: one
 * look-up serves a long run of bytes, and hits, misses and written-back bytes are
 * still counted per granule.
 */
enum { L2_LINE_BYTES = 4096, L2_WAYS = 16 };

struct l2_line {
  uint32_t tag; /* address / L2_LINE_BYTES + 1; 0 = empty; hbm.size is at most 2^43 bytes */
  uint32_t valid;
  uint32_t dirty;
};

struct l2_tags {
  struct l2_line *lines; /* [set][way] */
  uint8_t *oldest;       /* by set: the way to replace next */
  uint64_t set_count;
  struct l2_counters counters;
};

/* What an access found, in granules. */
struct l2_outcome {
  unsigned hits;
  unsigned misses;
  unsigned written_back;
};

/* Tags for capacity_bytes; 0 makes a cache that never hits. gm_bytes bounds the address range. */
bool l2_create(struct l2_tags *l2, struct arena *arena, uint64_t capacity_bytes, uint64_t gm_bytes);
/* Reads or writes a run inside one line; bytes > 0. */
struct l2_outcome l2_access(struct l2_tags *l2, uint64_t address, uint64_t bytes, bool write);

/*
 * Device memory as one resource of a given bandwidth, first come first served. When
 * reads and writes mix, bus turnarounds and row conflicts cost a share of it:
 * among the last 64 accesses, once a quarter goes the other way, only
 * hbm.mixed_efficiency of the peak is left; fewer cost in proportion.
 */
struct hbm {
  uint64_t bytes_per_second;
  uint64_t mixed_loss_ppm;
  uint64_t free_ps;
  uint64_t writes; /* the last 64 accesses, 1 = write */
  uint64_t read_bytes;
  uint64_t write_bytes;
};

void hbm_create(struct hbm *hbm, const struct vinci_soc *soc);
/* Moves bytes at or after now_ps; returns when they are through. */
uint64_t hbm_move_ps(struct hbm *hbm, uint64_t bytes, bool write, uint64_t now_ps);

#endif
