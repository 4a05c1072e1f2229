/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of a DRAM channel: granules of one line of L2, which the controller takes burst after
 * burst as its queues have room. Where the bursts of a line lie is worked out once for all
 * channels.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_OP_H
#define VINCI_MEMHIER_DRAM_HBM_OP_H

#include "memhier/dram/hbm_map.h"

enum { HBM_LINE_BURSTS_MAX = 512 }; /* 4 KiB in bursts of 8 bytes */

/* Where a burst lies, in the terms of a controller. */
struct hbm_spot {
  uint32_t row;
  uint16_t column;
  uint16_t bank; /* of all banks behind the controller */
};

/* Where the bursts of lines lie in a channel; the same for all channels. */
struct hbm_layout {
  struct hbm_map map;
  uint32_t bank_shift; /* bank >> bank_shift = its group */
  uint32_t bank_mask;  /* banks of a group and groups are powers of two */
  uint32_t group_mask;
  uint32_t bursts_per_granule;
  struct hbm_spot offset[HBM_LINE_BURSTS_MAX]; /* of each burst of a line */
  uint16_t neighbours[HBM_LINE_BURSTS_MAX];    /* from it on, side by side in a row */
};

/* For operations of `bytes` at most; layout->map must be set. */
void hbm_layout_init(struct hbm_layout *layout, const struct mem_spec *mem, uint64_t bytes);

/* Where an address lies, before banks are permuted. */
static inline struct hbm_spot hbm_spot_at(const struct hbm_layout *layout, uint64_t address) {
  struct hbm_place place = hbm_map_decode(&layout->map, address);
  return (struct hbm_spot){
      .row = place.row,
      .column = place.column,
      .bank = (uint16_t)((unsigned)place.group << layout->bank_shift | place.bank),
  };
}

/* Why an operation took its time, in cycles of the channel. What the fields leave is the
 * wait behind others. The channel's own sums stand there until the end.
 */
struct hbm_delay {
  uint64_t refresh_cycles; /* refreshes in this time */
  uint64_t turn_cycles;    /* changes of direction in this time */
  uint32_t row_cycles;     /* to open the last row that was opened for its reads */
};

/* Bursts of one line to be read or written. Owned by the caller until done() is called. */
struct hbm_op {
  uint64_t address;  /* of the line, within the channel; a multiple of the bytes there */
  uint32_t granules; /* bit per 128 bytes still to be taken by the controller */
  bool write;
  /* A read: its data are there at end_ps, now or later. A write: the controller has taken the data.
   * In PHASE_ARBITRATE. */
  void (*done)(struct hbm_op *op, uint64_t end_ps);
  /* ---- of the channel ---- */
  const struct hbm_layout *layout;
  struct hbm_op *next;
  struct hbm_spot spot; /* of the address */
  uint16_t spread;      /* bits by which banks of its row are permuted */
  uint32_t burst;       /* next burst of the lowest granule */
  uint32_t waiting;     /* reads that the controller has taken and not done */
  uint64_t end_cycle;   /* of the reads done */
  struct hbm_delay delay;
};

/*
 * Streams that lie a power of two apart would often meet in the same bank in other rows; bits of
 * the row spread them (Zhang, Zhu and Zhang, "A permutation-based page interleaving scheme", MICRO
 * 2000). How real parts do this is not published.
 */
static inline uint16_t hbm_spread(const struct hbm_layout *layout, uint32_t row) {
  uint32_t spread = row * UINT32_C(0x9E3779B1) >> 24;
  return (uint16_t)((spread >> 4 & layout->group_mask) << layout->bank_shift |
                    (spread & layout->bank_mask));
}

/* Where a burst of an operation lies, by its place in the line. */
static inline struct hbm_spot hbm_op_spot(const struct hbm_op *op, const struct hbm_spot *offset) {
  /* Line address and burst number share no bit, so OR joins them. */
  uint32_t row = op->spot.row | offset->row;
  uint16_t spread = offset->row == 0 ? op->spread : hbm_spread(op->layout, row);
  return (struct hbm_spot){
      .row = row,
      .column = (uint16_t)(op->spot.column | offset->column),
      .bank = (uint16_t)((op->spot.bank | offset->bank) ^ spread),
  };
}

#endif
