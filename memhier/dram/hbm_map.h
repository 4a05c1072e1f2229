/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address mappings as data: which bits of a burst's number (address / burst bytes) give
 * its row, bank, bank group, column and channel. A mapping is written from the most to
 * the least significant bit, each field with its number of bits; a field may come in
 * several pieces, and a leading "ro" without a number takes all bits that are left:
 *
 *     "ro bg2 ba2 co5"          a row is contiguous
 *     "ro ba2 co4 bg2 co1"      the bank group changes every two bursts
 *     "ro ba2 co4 ch4 bg2 co1"  the same, and the channel every eight bursts
 *
 * Fields: ro row, ba bank of its group, bg bank group, co column (burst of the row),
 * ch channel (pseudo-channel of the stack).
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_MAP_H
#define VINCI_MEMHIER_DRAM_HBM_MAP_H

#include "core/chip/mem.h"

enum hbm_field {
  HBM_FIELD_ROW,
  HBM_FIELD_BANK,
  HBM_FIELD_GROUP,
  HBM_FIELD_COLUMN,
  HBM_FIELD_CHANNEL,
  HBM_FIELDS
};

enum { HBM_FIELD_PIECES_MAX = 4 };

/* Where a burst lies. */
struct hbm_place {
  uint32_t channel;
  uint32_t row;
  uint16_t column;
  uint8_t group;
  uint8_t bank; /* of its group */
};

/* The bits of `mask` of the burst's number >> `from` are those of the field from `to` on. */
struct hbm_map_piece {
  uint64_t mask;
  uint32_t from;
  uint32_t to;
};

struct hbm_map_field {
  uint32_t width;
  uint32_t piece_count;
  struct hbm_map_piece piece[HBM_FIELD_PIECES_MAX];
};

struct hbm_map {
  uint32_t burst_shift; /* log2 of the bytes of a burst */
  struct hbm_map_field field[HBM_FIELDS];
};

/* Parses a mapping and checks its widths against the geometry and the channel count. */
VINCI_MUST_CHECK enum vinci_status hbm_map_parse(struct hbm_map *map, const char *text,
                                                 const struct mem_spec *mem, unsigned channels,
                                                 struct vinci_diag *diag);

static inline uint64_t hbm_map_gather(const struct hbm_map_field *field, uint64_t burst) {
  uint64_t value = 0;
  for (unsigned i = 0; i < field->piece_count; i++)
    value |= ((burst >> field->piece[i].from) & field->piece[i].mask) << field->piece[i].to;
  return value;
}

static inline struct hbm_place hbm_map_decode(const struct hbm_map *map, uint64_t address) {
  uint64_t burst = address >> map->burst_shift;
  return (struct hbm_place){
      .channel = (uint32_t)hbm_map_gather(&map->field[HBM_FIELD_CHANNEL], burst),
      .row = (uint32_t)hbm_map_gather(&map->field[HBM_FIELD_ROW], burst),
      .column = (uint16_t)hbm_map_gather(&map->field[HBM_FIELD_COLUMN], burst),
      .group = (uint8_t)hbm_map_gather(&map->field[HBM_FIELD_GROUP], burst),
      .bank = (uint8_t)hbm_map_gather(&map->field[HBM_FIELD_BANK], burst),
  };
}

#endif
