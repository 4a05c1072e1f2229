/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of address mappings. */
#include "memhier/hbm_map.h"

#include <ctype.h>
#include <string.h>

#include "core/diag.h"

enum { ROW_BITS_MAX = 32, WIDTH_MAX = 32 };

static const char field_names[HBM_FIELDS][3] = {"ro", "ba", "bg", "co", "ch"};

static enum hbm_field find_field(const char *text) {
  unsigned i = 0;
  while (i < HBM_FIELDS && strncmp(text, field_names[i], 2) != 0)
    i++;
  return (enum hbm_field)i;
}

static enum vinci_status refuse(const char *text, struct vinci_diag *diag, const char *why) {
  (void)diag_error(diag, VINCI_E_USAGE, "address mapping '%s': %s", text, why);
  diag_hint(diag, "from the most significant bit on, such as \"ro ba2 co4 bg2 co1\"");
  return VINCI_E_USAGE;
}

/* Reads "co4" at *next; *width 0 when it has no number. */
static bool read_piece(const char **next, enum hbm_field *field, unsigned *width) {
  *field = find_field(*next);
  if (*field == HBM_FIELDS)
    return false;
  *next += 2;
  *width = 0;
  bool given = isdigit((unsigned char)**next);
  for (; isdigit((unsigned char)**next) && *width <= WIDTH_MAX; ++*next)
    *width = *width * 10 + (unsigned)(**next - '0');
  if (given && (*width == 0 || *width > WIDTH_MAX))
    return false;
  *next += strspn(*next, " ");
  return true;
}

static enum vinci_status read_pieces(struct hbm_map *map, const char *text,
                                     struct vinci_diag *diag) {
  const char *next = text + strspn(text, " ");
  while (*next) {
    enum hbm_field field;
    unsigned width;
    if (map->piece_count == HBM_MAP_PIECES_MAX)
      return refuse(text, diag, "too many pieces");
    if (!read_piece(&next, &field, &width))
      return refuse(text, diag, "not a list of ro, ba, bg, co, ch with numbers of bits");
    if (width == 0 && (field != HBM_FIELD_ROW || map->piece_count > 0))
      return refuse(text, diag, "only a leading ro may leave its number of bits open");
    map->piece[map->piece_count++] = (struct hbm_map_piece){
        .field = (uint8_t)field,
        .mask = width ? (UINT64_C(1) << width) - 1 : (UINT64_C(1) << ROW_BITS_MAX) - 1};
  }
  return map->piece_count ? VINCI_OK : refuse(text, diag, "is empty");
}

/* Gives the pieces their places, from the least significant bit up. */
static void place_pieces(struct hbm_map *map) {
  unsigned from = 0;
  for (unsigned i = map->piece_count; i-- > 0;) {
    struct hbm_map_piece *piece = &map->piece[i];
    unsigned width = (unsigned)__builtin_popcountll(piece->mask);
    piece->from = (uint8_t)(from < 63 ? from : 63);
    piece->to = map->width[piece->field];
    map->width[piece->field] = (uint8_t)(map->width[piece->field] + width);
    from += width;
  }
}

static unsigned log2_of(uint64_t value) { return (unsigned)__builtin_ctzll(value); }

enum vinci_status hbm_map_parse(struct hbm_map *map, const char *text, const struct mem_spec *mem,
                                unsigned channels, struct vinci_diag *diag) {
  *map = (struct hbm_map){.burst_shift = log2_of((uint64_t)mem->burst_bytes)};
  enum vinci_status status = read_pieces(map, text, diag);
  if (status != VINCI_OK)
    return status;
  place_pieces(map);
  if (channels == 0 || (channels & (channels - 1)) != 0)
    return refuse(text, diag, "the number of channels must be a power of two");
  const struct {
    enum hbm_field field;
    unsigned bits;
  } wanted[] = {{HBM_FIELD_BANK, log2_of((uint64_t)mem->banks_per_group)},
                {HBM_FIELD_GROUP, log2_of((uint64_t)mem->groups)},
                {HBM_FIELD_COLUMN, log2_of((uint64_t)mem->columns)},
                {HBM_FIELD_CHANNEL, log2_of(channels)}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (map->width[wanted[i].field] != wanted[i].bits)
      return diag_error(diag, VINCI_E_USAGE,
                        "address mapping '%s': %s has %u bits, %s with %u channels needs %u", text,
                        field_names[wanted[i].field], map->width[wanted[i].field], mem->name,
                        channels, wanted[i].bits);
  if (map->width[HBM_FIELD_ROW] == 0 || map->width[HBM_FIELD_ROW] > ROW_BITS_MAX)
    return refuse(text, diag, "the row must have 1 to 32 bits");
  return VINCI_OK;
}
