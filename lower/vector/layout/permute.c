/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of strides: merging dimensions, tiles, their cost. */
#include <inttypes.h>

#include "lower/vector/layout/permute.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/result/result.h"
#include "lower/plan/program.h"
#include "lower/select/select.h"

enum {
  ROWS_MAX = 2048,
  ROWS_STRIDED = 64,
  ROW_MIN = 64,     /* elements of a row that is worth a transposition */
  STRIDED_WAYS = 2, /* twice as many rows: longer rows of the result, shorter ones of the source */
  COLS_MAX = 512,
  PIECE_BYTES_MAX = 64,
  COPY_BYTES = 65536, /* of one buffer of plain rows */
  LEAST_BYTES = 4096, /* of a tile that is worth a core of its own */
};

struct permute *permute_new(struct lower_job *job) {
  struct permute *permute = lower_data(job, sizeof *permute);
  if (permute) {
    permute->type = lower_get(job, "dtype")->dtype;
    permute->buffers = 2;
    permute->inputs = 1;
    permute->code = KERNEL_SLICE;
  }
  return permute;
}

void permute_strides(const uint64_t *shape, unsigned rank, uint64_t *strides) {
  uint64_t stride = 1;
  for (unsigned i = rank; i-- > 0; stride *= shape[i])
    strides[i] = stride;
}

/* ---- dimensions ------------------------------------------------------------------------------ */

/* Drops extents of 1 and joins neighbours that both sides walk together. */
static void simplify(const struct pmap *map, struct pmap *out) {
  *out = *map;
  out->count = 0;
  for (unsigned i = 0; i < map->count; i++) {
    unsigned last = out->count - 1;
    if (map->extent[i] == 1)
      continue;
    if (out->count && out->from[last] == map->from[i] * map->extent[i] &&
        out->to[last] == map->to[i] * map->extent[i]) {
      out->extent[last] *= map->extent[i];
      out->from[last] = map->from[i];
      out->to[last] = map->to[i];
      continue;
    }
    out->extent[out->count] = map->extent[i];
    out->from[out->count] = map->from[i];
    out->to[out->count++] = map->to[i];
  }
}

/* The dimension of stride 1; count when there is none. */
static unsigned innermost(const struct pmap *map, bool of_target) {
  unsigned i = 0;
  while (i < map->count && (of_target ? map->to[i] : map->from[i]) != 1)
    i++;
  return i;
}

/* Of the others the one that is nearest in the source: rows of a copy. */
static unsigned nearest(const struct pmap *map, unsigned but) {
  unsigned found = but;
  for (unsigned i = 0; i < map->count; i++)
    if (i != but && (found == but || map->from[i] < map->from[found]))
      found = i;
  return found;
}

/* Pieces of rows that are next to each other in the target: rows are put together in UB. */
static void join_pieces(struct ppass *pass) {
  struct vtile_space *space = &pass->tile.space;
  uint64_t bytes = vtile_bytes(pass->in.dtype), cols = space->cols;
  pass->fan = 1;
  if (cols * bytes % BLOCK_BYTES != 0 || cols * bytes > PIECE_BYTES_MAX ||
      pass->in.row_stride != cols)
    return;
  for (unsigned i = 0; i < space->outers; i++) {
    if (pass->out.outer_stride[i] != cols || space->outer[i] * cols * bytes > COPY_BYTES / 2)
      continue;
    pass->fan = space->outer[i];
    pass->fan_stride = pass->in.outer_stride[i];
    space->cols *= pass->fan;
    space->outer[i] = 1;
    return;
  }
}

/*
 * Blocks of channels whose rows follow each other on both sides: several of them are one tile, as
 * many as half of UB holds, as long as all cores have a tile. In profiles of TransData the time of
 * MTE3 is that of few and long copies.
 */
static void join_groups(const struct lower_job *job, struct ppass *pass) {
  struct vtile_space *space = &pass->tile.space;
  uint64_t bytes = vtile_bytes(pass->in.dtype), pitch = vtile_pitch(space->cols, (unsigned)bytes);
  uint64_t group = (space->rows + PERMUTE_SIDE) * pitch * bytes;
  uint64_t most = vtile_ub_bytes(job->soc) / 2 / group;
  uint64_t cores = soc_core_count(job->soc, emit_vector_core(job->soc)), tiles = 1;
  pass->groups = 1;
  if (permute_side(bytes) != PERMUTE_SIDE || space->rows > PERMUTE_SIDE ||
      pass->out.row_stride != space->rows || pass->padded ||
      pitch * bytes > PERMUTE_REPEATS_MAX * BLOCK_BYTES)
    return;
  for (unsigned i = 0; i < space->outers; i++)
    tiles *= space->outer[i];
  for (unsigned i = 0; i < space->outers; i++) {
    if (pass->in.outer_stride[i] != space->rows * pass->in.row_stride ||
        pass->out.outer_stride[i] != space->cols * space->rows)
      continue;
    for (uint64_t groups = 2; groups <= min_u64(most, space->outer[i]); groups++)
      if (space->outer[i] % groups == 0 && tiles / groups >= cores)
        pass->groups = groups;
    space->outer[i] /= pass->groups;
    pass->in.outer_stride[i] *= pass->groups;
    pass->out.outer_stride[i] *= pass->groups;
    return;
  }
}

static unsigned add_single(struct pmap *map) {
  map->extent[map->count] = map->from[map->count] = map->to[map->count] = 1;
  return map->count++;
}

/*
 * Rows of the copy from the source and of that to the target. Where one side has no neighbours,
 * or elements are of a size that no transposition knows, single elements are copied, by chips that
 * copy less than a block. Padding of
 * more than a block comes from a transposition, even of a single row.
 */
static void choose_sides(const struct vinci_soc *soc, struct pmap *map, unsigned bytes,
                         unsigned *cols, unsigned *target) {
  bool pads = select_has(soc, OP_COPY_GM_TO_UBUF_ALIGN_B8);

  *cols = innermost(map, false);
  *target = innermost(map, true);
  /* A row of one block is padded by its own copy, where copies pad. */
  if (pads && map->padded * bytes == BLOCK_BYTES && *cols == *target && *cols != map->count)
    return;
  if (map->padded) {
    *target = *target == map->count ? add_single(map) : *target;
    if (*cols == map->count || *cols == *target)
      *cols = add_single(map);
    return;
  }
  /* Elements that lie apart become a row: each is the first of a block that is transposed. */
  if (*cols == map->count && *target != map->count && map->extent[*target] >= ROW_MIN &&
      (bytes == sizeof(uint16_t) || (bytes == sizeof(uint32_t) && pads))) {
    *cols = add_single(map);
    return;
  }
  bool narrow_or_wide = pads && bytes != sizeof(uint16_t) && bytes != sizeof(uint32_t);
  if (*cols == map->count || *target == map->count || (*cols != *target && narrow_or_wide))
    *cols = *target = add_single(map);
}

enum vinci_status permute_add(struct lower_job *job, struct permute *permute,
                              const struct pmap *wanted) {
  struct pmap map;
  for (unsigned i = 0; i < wanted->count; i++)
    if (wanted->extent[i] == 0)
      return VINCI_OK;
  simplify(wanted, &map);
  unsigned cols, target;
  enum vinci_status status = permute->whole ? permute_gathers(job, permute, &map) : VINCI_OK;
  if (status != VINCI_OK || permute->gather)
    return status;
  choose_sides(job->soc, &map, vtile_bytes(permute->type), &cols, &target);
  unsigned rows = target;
  if (permute->passes == PERMUTE_PASSES || map.count > VTILE_OUTERS + 2)
    return lower_error(job, "too many dimensions to move");
  struct ppass *pass = &permute->pass[permute->passes++];
  *pass = (struct ppass){
      .transposes = cols != target, .padded = wanted->padded, .fills = wanted->fills};
  if (!pass->transposes)
    rows = nearest(&map, cols);
  const char *source = map.source ? map.source : "x", *name = map.target ? map.target : "y";
  pass->in = (struct vtile_operand){
      .name = source, .dtype = permute->type, .base = map.from_base, .col_stride = 1};
  pass->out = pass->in;
  pass->out.name = name;
  pass->out.base = map.to_base;
  pass->tile.space.cols = map.extent[cols];
  pass->tile.space.rows = rows == cols ? 1 : map.extent[rows];
  pass->in.row_stride = rows == cols ? 0 : map.from[rows];
  pass->out.row_stride = rows == cols ? 0 : map.to[rows];
  if (pass->transposes)
    pass->out.row_stride = map.to[cols];
  for (unsigned i = 0; i < map.count; i++) {
    if (i == rows || i == cols)
      continue;
    unsigned outer = pass->tile.space.outers++;
    pass->tile.space.outer[outer] = map.extent[i];
    pass->in.outer_stride[outer] = map.from[i];
    pass->out.outer_stride[outer] = map.to[i];
  }
  if (pass->transposes)
    join_groups(job, pass);
  else
    join_pieces(pass);
  return VINCI_OK;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void lay_out_pass(const struct permute *permute, struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(permute->type);
  pass->in_pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  uint64_t rows = pass->transposes ? round_up(tile->rows, permute_side(bytes)) : tile->rows;
  uint64_t before = pass->groups > 1 ? pass->groups - 1 : 0; /* groups but the last */
  uint64_t slot = vtile_align((before * tile->rows + rows) * pass->in_pitch * bytes);
  pass->in.pitch = pass->out.pitch = pass->in_pitch;
  pass->in.address = pass->out.address = 0;
  pass->chunks = pass->transposes && bytes == 4 && rows > PERMUTE_SIDE;
  if (pass->transposes) {
    pass->out_pitch = rows;
    pass->out.address = slot;
    slot += vtile_align((before * tile->cols + pass->in_pitch) * rows * bytes);
    pass->wide = slot;
    slot += 2 * vtile_align(rows * pass->in_pitch * permute_wide_bytes(bytes));
  }
  tile->slot_bytes = slot;
  if (pass->places)
    permute_lines_lay_out(pass);
  tile->parts = VTILE_STORES | (pass->fills ? VTILE_COMPUTES : VTILE_LOADS) |
                (pass->transposes ? VTILE_COMPUTES : 0);
  tile->buffers = permute->buffers;
  tile->waits = permute->waits;
}

static void lay_out(struct permute *permute) {
  static const char *const prefixes[PERMUTE_PASSES] = {"", "p", "q", "r", "s", "u"};
  permute->ub_bytes = 0;
  for (unsigned i = 0; i < permute->passes; i++) {
    struct ppass *pass = &permute->pass[i];
    lay_out_pass(permute, pass);
    pass->tile.prefix = prefixes[i];
    permute->ub_bytes = max_u64(permute->ub_bytes, pass->tile.slot_bytes * permute->buffers);
    vtile_counts(&pass->tile);
  }
}

/* Also the part of a row that nobody wants is read: runs of less than a block cost more. */
bool permute_reads_blocks(const struct ppass *pass) {
  uint64_t bytes = vtile_bytes(pass->in.dtype), block = BLOCK_BYTES / bytes;
  bool aligned = pass->in.base % block == 0;
  for (unsigned i = 0; i < pass->tile.space.outers; i++)
    aligned = aligned && pass->in.outer_stride[i] % block == 0;
  return pass->transposes && !pass->fills && aligned && pass->in.row_stride == block &&
         pass->tile.space.cols <= block;
}

/* Whole rows of the source where they follow each other, else as many as are worth a copy each:
 * `strided`. */
static void split_transposed(const struct vinci_soc *soc, const struct permute *permute,
                             uint64_t strided, struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(permute->type);
  uint64_t all_bytes = 2 * (bytes + permute_wide_bytes(bytes)); /* of an element */
  uint64_t budget = vtile_ub_bytes(soc) / permute->buffers / all_bytes;
  bool packed = pass->in.row_stride == tile->space.cols || permute_reads_blocks(pass);
  /* With longer rows of the result, rows of both sides are whole lines of L2. */
  uint64_t unit = strided > ROWS_STRIDED ? L2_GRANULE_BYTES / bytes : PERMUTE_SIDE;
  uint64_t cols_max = strided > ROWS_STRIDED ? budget / strided / unit * unit : COLS_MAX;
  tile->cols = min_u64(tile->space.cols, max_u64(cols_max, PERMUTE_SIDE));
  if (pass->groups > 1) {
    tile->rows = tile->space.rows;
    tile->cols = tile->space.cols;
    return;
  }
  uint64_t pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  uint64_t most = packed && tile->cols == tile->space.cols ? ROWS_MAX : strided;
  tile->rows = min_u64(tile->space.rows,
                       max_u64(budget / pitch / PERMUTE_SIDE * PERMUTE_SIDE, PERMUTE_SIDE));
  tile->rows = pass->padded ? tile->space.rows : min_u64(tile->rows, most);
  uint64_t cols = budget / round_up(tile->rows, PERMUTE_SIDE) / unit * unit;
  uint64_t reach = PERMUTE_REPEATS_MAX * (BLOCK_BYTES / bytes) / PERMUTE_SIDE * PERMUTE_SIDE;
  tile->cols = min_u64(tile->space.cols, max_u64(PERMUTE_SIDE, min_u64(cols, reach)));
}

static void split_copied(const struct permute *permute, struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  uint64_t elements = COPY_BYTES / vtile_bytes(permute->type);
  tile->cols = min_u64(tile->space.cols, elements);
  if (pass->fan > 1)
    tile->cols = tile->space.cols;
  uint64_t pitch = vtile_pitch(tile->cols, vtile_bytes(permute->type));
  tile->rows = min_u64(tile->space.rows, max_u64(1, min_u64(elements / pitch, ROWS_MAX)));
}

/* What cuts a map into tiles. */
struct cut {
  uint64_t cores, strided;
  bool asked;  /* for as many cores, however little there is to do */
  bool blocks; /* the chip copies whole blocks alone: shorter rows are a copy each */
};

/* Rows of the result that are shorter than a block: each is work, so that the cores have equal
 * parts. */
static void share_result(const struct cut *cut, const struct permute *permute, struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  bool is_short = tile->rows * vtile_bytes(permute->type) < BLOCK_BYTES;
  if (!cut->blocks || !pass->transposes || !is_short || tile->row_tiles > 1)
    return;
  uint64_t others = tile->tiles / ceil_div(tile->space.cols, tile->cols);
  uint64_t even = ceil_div(tile->space.cols, ceil_div(cut->cores, others));
  tile->cols = min_u64(tile->cols, round_up(even, PERMUTE_SIDE));
  vtile_counts(tile);
}

/* Rows of a copy that give each core a tile, whatever is worth a core. */
static void share_rows(uint64_t cores, uint64_t cols, struct vtile *tile) {
  struct vtile shared = *tile;
  shared.cols = cols;
  vtile_counts(&shared);
  shared.rows = max_u64(1, tile->space.rows / ceil_div(cores, shared.tiles / shared.row_tiles));
  vtile_counts(&shared);
  if (shared.tiles >= cores)
    *tile = shared;
}

/* Smaller tiles when there are too few for all cores, down to a size still worth a copy. */
static void spread_over_cores(const struct cut *cut, const struct permute *permute,
                              struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  share_result(cut, permute, pass);
  const uint64_t least = LEAST_BYTES / vtile_bytes(permute->type), cols = tile->cols;
  while (tile->tiles < cut->cores && tile->rows * tile->cols > least) {
    bool by_rows =
        tile->rows > PERMUTE_SIDE && (tile->rows >= tile->cols || tile->cols <= PERMUTE_SIDE);
    if (by_rows)
      tile->rows = round_up(tile->rows / 2, PERMUTE_SIDE);
    else if (tile->cols > PERMUTE_SIDE && pass->fan <= 1)
      tile->cols = round_up(tile->cols / 2, PERMUTE_SIDE);
    else
      break;
    vtile_counts(tile);
  }
  if (cut->asked && tile->tiles < cut->cores && !pass->transposes)
    share_rows(cut->cores, cols, tile);
}

/* A tile that became longer gets narrower, until UB holds the tile. */
static void narrow(const struct vinci_soc *soc, const struct permute *permute, struct ppass *pass) {
  uint64_t *side = pass->transposes ? &pass->tile.cols : &pass->tile.rows;
  lay_out_pass(permute, pass);
  while (pass->tile.slot_bytes * permute->buffers > vtile_ub_bytes(soc) && *side > PERMUTE_SIDE) {
    *side = round_up(*side / 2, PERMUTE_SIDE);
    lay_out_pass(permute, pass);
  }
}

static void split(const struct vinci_soc *soc, const struct cut *cut, const struct permute *permute,
                  struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  tile->blocks = 1;
  if (pass->places)
    permute_lines_split(soc, pass);
  else if (pass->transposes)
    split_transposed(soc, permute, cut->strided, pass);
  else
    split_copied(permute, pass);
  vtile_counts(tile);
  if (!pass->places && pass->groups <= 1)
    spread_over_cores(cut, permute, pass);
  uint64_t *run = pass->transposes ? &tile->rows : &tile->cols;
  if (!pass->places && pass->groups <= 1 && pass->fan <= 1) {
    uint64_t before = *run;
    *run = vtile_long_rest(soc, pass->transposes ? tile->space.rows : tile->space.cols, *run,
                           vtile_bytes(permute->type));
    if (*run > before)
      narrow(soc, permute, pass);
  }
  vtile_counts(tile);
  tile->blocks = ceil_div(tile->tiles, ceil_div(tile->tiles, min_u64(tile->tiles, cut->cores)));
}

/* Chips that copy whole blocks alone cannot cut rows anywhere. */
static bool cuts_anywhere(const struct lower_job *job) {
  return select_has(job->soc, OP_COPY_GM_TO_UBUF_ALIGN_B8);
}

static bool is_asked(const struct lower_job *job) {
  const struct lower_value *given = lower_get(job, "blocks");
  return given && given->given && given->size > 0 && cuts_anywhere(job);
}

/* Passes share one kernel: it has the blocks of the pass that takes most. */
bool permute_candidate(struct lower_job *job, size_t index) {
  struct permute *permute = job->data;
  if (permute->gather) {
    job->data = permute->gather;
    bool more = vkernel_candidate(job, index);
    job->data = permute;
    return more;
  }
  struct cut cut = {.cores = job->cores, .asked = is_asked(job), .blocks = !cuts_anywhere(job)};
  uint64_t blocks = 1;
  /* Short rows: a second buffer is one more to clear, and no published tiling asks for two. */
  const bool lines = permute->passes && permute->pass[0].places;
  const bool transposes = permute->passes && permute->pass[0].transposes && !lines;
  if (index >= (lines ? 1 : transposes ? 2 * STRIDED_WAYS : 2))
    return false;
  permute->buffers = index % 2 == 0 && !lines ? 2 : 1;
  for (unsigned i = 0; i < permute->passes; i++) {
    cut.strided = i == 0 ? (uint64_t)ROWS_STRIDED << index / 2 : ROWS_STRIDED;
    split(job->soc, &cut, permute, &permute->pass[i]);
    blocks = max_u64(blocks, permute->pass[i].tile.blocks);
  }
  permute->pass[0].tile.blocks = blocks;
  permute->pass[0].tile.buffers = permute->buffers;
  vtile_give(job, &permute->pass[0].tile);
  return true;
}

void permute_take_tiling(const struct lower_job *job, struct permute *permute) {
  struct vtile *first = &permute->pass[0].tile;
  vtile_take(job, first);
  permute->buffers = first->buffers;
  vtile_counts(first);
  /* Passes are cut as finely as the first one is: what is worth a core was halved once at most. */
  uint64_t bytes = first->rows * first->cols * vtile_bytes(permute->type);
  bool finely = first->tiles > 1 && bytes <= LEAST_BYTES / 2;
  bool anywhere = cuts_anywhere(job);
  struct cut cut = {first->blocks, ROWS_STRIDED, finely && anywhere, !anywhere};
  for (unsigned i = 1; i < permute->passes; i++) {
    split(job->soc, &cut, permute, &permute->pass[i]);
    permute->pass[i].tile.blocks = first->blocks;
  }
  lay_out(permute);
}

/* The keys of the first pass; there are as many blocks as some pass has tiles, or fewer. */
static bool check_given(struct lower_job *job, struct permute *permute) {
  struct vtile given = permute->pass[0].tile;
  vtile_take(job, &given);
  const uint64_t blocks = given.blocks;
  given.blocks = min_u64(blocks, 1);
  if (!vtile_count(job, &given))
    return false;
  permute_take_tiling(job, permute);
  uint64_t most = 0;
  for (unsigned i = 0; i < permute->passes; i++)
    most = max_u64(most, permute->pass[i].tile.tiles);
  if (!lower_has_cores(job, blocks, emit_vector_core(job->soc)))
    return false;
  if (blocks > most && !vtile_too_few(job, most, blocks))
    return false;
  if (permute->pass[0].places && given.rows > PERMUTE_SIDE)
    return lower_refuse(job, "a tile takes up to %d rows", PERMUTE_SIDE);
  if (permute->pass[0].groups > 1 && given.rows != given.space.rows)
    return lower_refuse(job, "a tile takes all %" PRIu64 " rows", given.space.rows);
  if ((permute->pass[0].places || permute->pass[0].fan > 1 || permute->pass[0].groups > 1) &&
      !vtile_has_whole_rows(job, &given))
    return false;
  return vtile_ub_holds(job, "the tile", permute->ub_bytes);
}

/* The result of a pass with what pads its rows. */
static void stored_rows(const struct ppass *pass, struct vtile *view, struct vtile_operand *out) {
  permute_result(pass, view, out);
  if (pass->padded)
    view->space.cols = view->cols = pass->padded;
}

/* Whether the chip can move what the pass moves. */
static bool can_move(struct lower_job *job, const struct permute *permute,
                     const struct ppass *pass) {
  struct vtile view;
  struct vtile_operand out;
  uint64_t row_stride = pass->in.row_stride;
  bool plain = !pass->fills && pass->fan <= 1 && !pass->places && pass->groups <= 1;
  if (plain && pass->tile.rows > 1 && row_stride > 0 && row_stride < pass->tile.cols)
    return lower_refuse(job,
                        "rows of %" PRIu64 " elements that begin %" PRIu64
                        " apart overlap in x, which a copy cannot tell",
                        pass->tile.cols, row_stride);
  stored_rows(pass, &view, &out);
  out.whole = permute->passes == 1;
  return pass->places || vtile_stores(job, &view, &out);
}

bool permute_cost(struct lower_job *job) {
  struct permute *permute = job->data;
  if (permute->gather) {
    job->data = permute->gather;
    bool legal = vkernel_is_legal(job);
    job->data = permute;
    return legal && program_cost(job);
  }
  if (!check_given(job, permute))
    return false;
  for (unsigned i = 0; i < permute->passes; i++)
    if (!can_move(job, permute, &permute->pass[i]))
      return false;
  return program_cost(job);
}
