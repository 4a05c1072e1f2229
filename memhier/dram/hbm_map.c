/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of address mappings. */
#include "memhier/dram/hbm_map.h"

#include <ctype.h>
#include <string.h>

#include "core/base/diag.h"

enum { PIECES_MAX = 16, WIDTH_MAX = 32, ADDRESS_BITS = 64 };

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

/* A mapping as written: fields and widths from the most significant piece on. */
struct written {
  unsigned count;
  enum hbm_field field[PIECES_MAX];
  unsigned width[PIECES_MAX];
};

static enum vinci_status read_pieces(struct written *written, const char *text,
                                     struct vinci_diag *diag) {
  const char *next = text + strspn(text, " ");
  for (; *next; written->count++) {
    unsigned i = written->count;
    if (i == PIECES_MAX)
      return refuse(text, diag, "too many pieces");
    if (!read_piece(&next, &written->field[i], &written->width[i]))
      return refuse(text, diag, "not a list of ro, ba, bg, co, ch with numbers of bits");
    if (written->width[i] == 0 && (written->field[i] != HBM_FIELD_ROW || i > 0))
      return refuse(text, diag, "only a leading ro may leave its number of bits open");
  }
  return written->count ? VINCI_OK : refuse(text, diag, "is empty");
}

/* Gives the pieces their places, from the least significant bit up. */
static enum vinci_status place_pieces(struct hbm_map *map, const struct written *written,
                                      const char *text, struct vinci_diag *diag) {
  unsigned from = 0;
  for (unsigned i = written->count; i-- > 0;) {
    struct hbm_map_field *field = &map->field[written->field[i]];
    unsigned width = written->width[i] ? written->width[i] : WIDTH_MAX - field->width;
    if (field->piece_count == HBM_FIELD_PIECES_MAX || field->width + width > WIDTH_MAX ||
        from >= ADDRESS_BITS)
      return refuse(text, diag, "too many bits, or a field in too many pieces");
    field->piece[field->piece_count++] = (struct hbm_map_piece){
        .mask = (UINT64_C(1) << width) - 1, .from = from, .to = field->width};
    field->width += width;
    from += width;
  }
  return VINCI_OK;
}

static unsigned log2_of(uint64_t value) { return (unsigned)__builtin_ctzll(value); }

enum vinci_status hbm_map_parse(struct hbm_map *map, const char *text, const struct mem_spec *mem,
                                unsigned channels, struct vinci_diag *diag) {
  *map = (struct hbm_map){.burst_shift = log2_of((uint64_t)mem->burst_bytes)};
  struct written written = {0};
  enum vinci_status status = read_pieces(&written, text, diag);
  if (status == VINCI_OK)
    status = place_pieces(map, &written, text, diag);
  if (status != VINCI_OK)
    return status;
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
    if (map->field[wanted[i].field].width != wanted[i].bits)
      return diag_error(diag, VINCI_E_USAGE,
                        "address mapping '%s': %s has %u bits, %s with %u channels needs %u", text,
                        field_names[wanted[i].field], map->field[wanted[i].field].width, mem->name,
                        channels, wanted[i].bits);
  if (map->field[HBM_FIELD_ROW].width == 0)
    return refuse(text, diag, "the row has no bits");
  return VINCI_OK;
}
