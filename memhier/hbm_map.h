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
#ifndef VINCI_MEMHIER_HBM_MAP_H
#define VINCI_MEMHIER_HBM_MAP_H

#include "core/mem.h"

enum hbm_field {
  HBM_FIELD_ROW,
  HBM_FIELD_BANK,
  HBM_FIELD_GROUP,
  HBM_FIELD_COLUMN,
  HBM_FIELD_CHANNEL,
  HBM_FIELDS
};

enum { HBM_MAP_PIECES_MAX = 16 };

/* Where a burst lies. */
struct hbm_place {
  uint32_t channel;
  uint32_t row;
  uint16_t column;
  uint8_t group;
  uint8_t bank; /* of its group */
};

/* `width` bits of the burst's number from bit `from` on are bits `to`... of the field. */
struct hbm_map_piece {
  uint8_t field;
  uint8_t from;
  uint8_t to;
  uint64_t mask;
};

struct hbm_map {
  unsigned piece_count;
  unsigned burst_shift; /* log2 of the bytes of a burst */
  uint8_t width[HBM_FIELDS];
  struct hbm_map_piece piece[HBM_MAP_PIECES_MAX];
};

/* Parses a mapping and checks its widths against the geometry and the channel count. */
VINCI_MUST_CHECK enum vinci_status hbm_map_parse(struct hbm_map *map, const char *text,
                                                 const struct mem_spec *mem, unsigned channels,
                                                 struct vinci_diag *diag);

static inline struct hbm_place hbm_map_decode(const struct hbm_map *map, uint64_t address) {
  uint64_t burst = address >> map->burst_shift;
  uint64_t field[HBM_FIELDS] = {0};
  for (unsigned i = 0; i < map->piece_count; i++) {
    const struct hbm_map_piece *piece = &map->piece[i];
    field[piece->field] |= ((burst >> piece->from) & piece->mask) << piece->to;
  }
  return (struct hbm_place){
      .channel = (uint32_t)field[HBM_FIELD_CHANNEL],
      .row = (uint32_t)field[HBM_FIELD_ROW],
      .column = (uint16_t)field[HBM_FIELD_COLUMN],
      .group = (uint8_t)field[HBM_FIELD_GROUP],
      .bank = (uint8_t)field[HBM_FIELD_BANK],
  };
}

#endif
