/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of strides: merging dimensions, tiles, rows. */
#include "traces/lower/vector_permute.h"

#include <string.h>

#include "core/arith.h"
#include "core/isa.h"
#include "core/layout.h"
#include "core/result.h"

typedef unsigned long long ull;

enum {
  SIDE = 16, /* rows that one transposition takes */
  CHUNK = 8, /* rows of 32-bit elements that make half a block row */
  ROWS_MAX = 2048,
  ROWS_STRIDED = 64,
  COLS_MAX = 512,
  REPEATS_MAX = 255,
  PIECE_BYTES_MAX = 64,
  COPY_BYTES = 65536, /* of one buffer of plain rows */
};

struct permute *permute_new(struct lower_job *job, enum dtype type) {
  struct permute *permute = ARENA_NEW(job->arena, struct permute);
  if (permute) {
    permute->type = type;
    permute->buffers = 2;
    permute->inputs = 1;
    permute->code = VTILE_CODE_SMALL;
  }
  job->data = permute;
  return permute;
}

/* ---- dimensions ------------------------------------------------------------------------------ */

/* Drops extents of 1 and joins neighbours that both sides walk as one. */
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

static unsigned add_single(struct pmap *map) {
  map->extent[map->count] = map->from[map->count] = map->to[map->count] = 1;
  return map->count++;
}

/*
 * Rows of the copy from the source and of that to the target. Where one side has no neighbours,
 * or elements are of a size that no transposition knows, single elements are copied. Padding of
 * more than a block comes from a transposition, even of a single row.
 */
static void choose_sides(struct pmap *map, unsigned bytes, unsigned *cols, unsigned *target) {
  *cols = innermost(map, false);
  *target = innermost(map, true);
  /* A row of one block is padded by the copy that brings it. */
  if (map->padded * bytes == BLOCK_BYTES && *cols == *target && *cols != map->count)
    return;
  if (map->padded) {
    *target = *target == map->count ? add_single(map) : *target;
    if (*cols == map->count || *cols == *target)
      *cols = add_single(map);
    return;
  }
  bool narrow_or_wide = bytes != sizeof(uint16_t) && bytes != sizeof(uint32_t);
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
  choose_sides(&map, vtile_bytes(permute->type), &cols, &target);
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
  if (!pass->transposes)
    join_pieces(pass);
  return VINCI_OK;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void lay_out_pass(const struct permute *permute, struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(permute->type);
  pass->in_pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  uint64_t rows = pass->transposes ? round_up(tile->rows, SIDE) : tile->rows;
  uint64_t slot = vtile_align(rows * pass->in_pitch * bytes);
  pass->in.pitch = pass->out.pitch = pass->in_pitch;
  pass->in.address = pass->out.address = 0;
  pass->chunks = pass->transposes && bytes == 4 && rows > SIDE;
  if (pass->transposes) {
    pass->out_pitch = rows;
    pass->out.address = slot;
    slot += vtile_align(pass->in_pitch * rows * bytes);
  }
  tile->slot_bytes = slot;
  tile->parts = VTILE_STORES | (pass->fills ? VTILE_COMPUTES : VTILE_LOADS) |
                (pass->transposes ? VTILE_COMPUTES : 0);
  tile->buffers = permute->buffers;
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

/* Whole rows of the source where they follow each other, else as many as are worth a copy each. */
static void split_transposed(const struct vinci_soc *soc, const struct permute *permute,
                             struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  uint64_t bytes = vtile_bytes(permute->type);
  uint64_t budget = vtile_ub_bytes(soc) / permute->buffers / 2 / bytes;
  bool packed = pass->in.row_stride == tile->space.cols;
  tile->cols = min_u64(tile->space.cols, COLS_MAX);
  uint64_t pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  uint64_t most = packed && tile->cols == tile->space.cols ? ROWS_MAX : ROWS_STRIDED;
  tile->rows = min_u64(tile->space.rows, max_u64(budget / pitch / SIDE * SIDE, SIDE));
  tile->rows = pass->padded ? tile->space.rows : min_u64(tile->rows, most);
  uint64_t cols = budget / round_up(tile->rows, SIDE) / SIDE * SIDE;
  uint64_t reach = REPEATS_MAX * (BLOCK_BYTES / bytes) / SIDE * SIDE;
  tile->cols = min_u64(tile->space.cols, max_u64(SIDE, min_u64(cols, reach)));
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

/* Smaller tiles when there are too few for all cores, down to a size still worth a copy. */
static void spread_over_cores(const struct vinci_soc *soc, const struct permute *permute,
                              struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  uint64_t cores = soc_core_count(soc, emit_vector_core(soc));
  const uint64_t least = 4096 / vtile_bytes(permute->type);
  tile->blocks = 1;
  vtile_counts(tile);
  while (tile->tiles < cores && tile->rows * tile->cols > least) {
    bool by_rows = tile->rows > SIDE && (tile->rows >= tile->cols || tile->cols <= SIDE);
    if (by_rows)
      tile->rows = round_up(tile->rows / 2, SIDE);
    else if (tile->cols > SIDE && pass->fan <= 1)
      tile->cols = round_up(tile->cols / 2, SIDE);
    else
      break;
    vtile_counts(tile);
  }
  tile->blocks = ceil_div(tile->tiles, ceil_div(tile->tiles, min_u64(tile->tiles, cores)));
}

static void split(const struct vinci_soc *soc, const struct permute *permute, struct ppass *pass) {
  if (pass->transposes)
    split_transposed(soc, permute, pass);
  else
    split_copied(permute, pass);
  spread_over_cores(soc, permute, pass);
}

bool permute_candidate(struct lower_job *job, size_t index) {
  struct permute *permute = job->data;
  if (index > 1)
    return false;
  permute->buffers = index == 0 ? 2 : 1;
  for (unsigned i = 0; i < permute->passes; i++)
    split(job->soc, permute, &permute->pass[i]);
  permute->pass[0].tile.buffers = permute->buffers;
  vtile_give(job, job->op->key_count - VTILE_KEYS, &permute->pass[0].tile);
  return true;
}

/* Passes after the first are cut by the rule, whatever was given for the first. */
static void take_tiling(const struct lower_job *job, struct permute *permute) {
  struct vtile *first = &permute->pass[0].tile;
  vtile_take(job, job->op->key_count - VTILE_KEYS, first);
  permute->buffers = first->buffers;
  for (unsigned i = 1; i < permute->passes; i++)
    split(job->soc, permute, &permute->pass[i]);
  lay_out(permute);
}

/* L2 takes and gives lines of 128 bytes; a short row of a transposed tile touches one more. */
static uint64_t beyond(uint64_t rows, uint64_t row_bytes) {
  return row_bytes % L2_GRANULE_BYTES ? rows * L2_GRANULE_BYTES : 0;
}

bool permute_cost(struct lower_job *job) {
  struct permute *permute = job->data;
  struct lower_cost sum = {0};
  if (!(isa_row(OP_COPY_GM_TO_UBUF_ALIGN_B8)->archs & 1u << job->soc->arch))
    return lower_refuse(job, "%s has no copies of single bytes", job->soc->name);
  struct vtile given = permute->pass[0].tile;
  vtile_take(job, job->op->key_count - VTILE_KEYS, &given);
  if (!vtile_count(job, &given))
    return false;
  take_tiling(job, permute);
  if (permute->pass[0].fan > 1 && given.cols != given.space.cols)
    return lower_refuse(job, "a tile takes whole rows, of %llu columns", (ull)given.space.cols);
  if (permute->ub_bytes > vtile_ub_bytes(job->soc))
    return lower_refuse(job, "the tile takes %llu bytes of UB, there are %llu",
                        (ull)permute->ub_bytes, (ull)vtile_ub_bytes(job->soc));
  for (unsigned i = 0; i < permute->passes; i++) {
    const struct ppass *pass = &permute->pass[i];
    uint64_t bytes = pass->tile.rows * pass->tile.cols * vtile_bytes(permute->type);
    struct vtile_work work = {.in_bytes = pass->fills ? 0 : bytes,
                              .out_bytes = bytes,
                              .in_copies = !pass->fills,
                              .out_copies = 1,
                              .code = permute->code,
                              .goes_on = i > 0};
    if (pass->transposes) {
      uint64_t element = vtile_bytes(permute->type);
      work.vector_cycles = ceil_div(pass->tile.rows, SIDE) * ceil_div(pass->tile.cols, CHUNK) * 2;
      work.in_beyond = beyond(pass->tile.rows, pass->tile.cols * element);
      work.out_beyond = beyond(pass->tile.cols, pass->tile.rows * element);
    }
    vtile_cost(job, &pass->tile, &work);
    sum.total_cycles += job->cost.total_cycles;
    sum.vector_cycles += job->cost.vector_cycles;
    sum.mte2_cycles += job->cost.mte2_cycles;
    sum.mte3_cycles += job->cost.mte3_cycles;
    sum.gm_bytes += job->cost.gm_bytes;
    sum.blocks = max_u64(sum.blocks, job->cost.blocks) > sum.blocks ? job->cost.blocks : sum.blocks;
  }
  job->cost = sum;
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_number(const char *text) { return *text >= '0' && *text <= '9'; }

/* A run of rows of 8, `skip` rows of UB apart. */
static void put_chunks(struct emit *e, const struct ppass *pass, const char *first_row,
                       const char *chunks, uint64_t ub_row) {
  const struct vtile *tile = &pass->tile;
  ull bytes = vtile_bytes(pass->in.dtype), row = pass->in_pitch * bytes;
  const char *p = tile->prefix, *from = vtile_offset(e, tile, &pass->in);
  const char *count = emit_text(e, "%schunk%llu", p, (ull)ub_row);
  emit_loop(e, count, "%s", chunks);
  emit_let(e, emit_text(e, "%sleft%llu", p, (ull)ub_row), "min(%d,%s-(%s)-%s*%d)", CHUNK,
           tile->rows_text, first_row, count, CHUNK);
  emit_row(
      e,
      "copy_gm_to_ubuf_align_b32,dst=%s+%llu+%s*%llu,src=%s+(%s+%s*%d)*%llu,n_burst=%sleft%llu,"
      "len_burst=%s*%llu,src_gap=%llu-%s*%llu,dst_gap=%llu-(%s*%llu+31)/32",
      tile->slot_text, (ull)ub_row * row, count, 2 * CHUNK * row, from, first_row, count, CHUNK,
      (ull)pass->in.row_stride * bytes, p, (ull)ub_row, tile->cols_text, bytes,
      (ull)pass->in.row_stride * bytes, tile->cols_text, bytes, row / BLOCK_BYTES, tile->cols_text,
      bytes);
  emit_endloop(e);
}

static void put_pieces(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  ull bytes = vtile_bytes(pass->in.dtype), piece = tile->space.cols / pass->fan * bytes;
  const char *index = emit_text(e, "%spiece", tile->prefix);
  emit_loop(e, index, "%llu", (ull)pass->fan);
  emit_row(e, "%s,dst=%s+%s*%llu,src=%s+%s*%llu,n_burst=%s,len_burst=%llu,dst_gap=%llu",
           vtile_copy_name(false, pass->in.dtype), tile->slot_text, index, piece,
           vtile_offset(e, tile, &pass->in), index, (ull)pass->fan_stride * bytes, tile->rows_text,
           piece, (pass->in_pitch * bytes - piece) / BLOCK_BYTES);
  emit_endloop(e);
}

/* Rows that follow each other on both sides: 8 of them are one burst. */
static void put_packed(struct emit *e, const struct ppass *pass, ull turns, ull chunk_bytes) {
  const struct vtile *tile = &pass->tile;
  const char *rows = tile->rows_text, *slot = tile->slot_text, *p = tile->prefix;
  const char *from = vtile_offset(e, tile, &pass->in);
  ull gap = chunk_bytes / BLOCK_BYTES;
  emit_row(
      e,
      "copy_gm_to_ubuf_align_b32,dst=%s,src=%s,n_burst=min(%llu,%s/%d),len_burst=%llu,dst_gap=%llu",
      slot, from, turns, rows, CHUNK, chunk_bytes, gap);
  emit_loop(e, emit_text(e, "%ssecond", p), "%s/%d>%llu", rows, CHUNK, turns);
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=%s+%llu,src=%s+%llu,n_burst=%s/"
           "%d-%llu,len_burst=%llu,dst_gap=%llu",
           slot, chunk_bytes, from, turns * chunk_bytes, rows, CHUNK, turns, chunk_bytes, gap);
  emit_endloop(e);
  if (tile->rows % CHUNK == 0 && is_number(rows))
    return;
  emit_loop(e, emit_text(e, "%srest", p), "%s%%%d>0", rows, CHUNK);
  const char *chunk = emit_text(e, "%slast_chunk", p);
  emit_let(e, chunk, "%s/%d", rows, CHUNK);
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=%s+(%s%%%llu*2+%s/"
           "%llu)*%llu,src=%s+%s*%llu,len_burst=%s%%%d*%llu",
           slot, chunk, turns, chunk, turns, chunk_bytes, from, chunk, chunk_bytes, rows, CHUNK,
           chunk_bytes / CHUNK);
  emit_endloop(e);
}

/*
 * 32-bit elements leave the transposition as blocks of 8 rows. For the rows of the result to be
 * in order, 8 rows of the first half of the tile alternate in UB with 8 of the second half.
 */
static void put_load(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  if (pass->fan > 1) {
    put_pieces(e, pass);
    return;
  }
  if (!pass->chunks) {
    vtile_load(e, tile, &pass->in);
    return;
  }
  ull half = round_up(tile->rows, SIDE) / 2, turns = half / CHUNK;
  ull bytes = vtile_bytes(pass->in.dtype), row = pass->in_pitch * bytes;
  bool packed = pass->in.row_stride == tile->space.cols && tile->cols == tile->space.cols &&
                pass->in_pitch == tile->cols;
  if (packed) {
    put_packed(e, pass, turns, CHUNK * row);
    return;
  }
  put_chunks(e, pass, "0",
             emit_text(e, "min(%llu,(%s+%d)/%d)", turns, tile->rows_text, CHUNK - 1, CHUNK), 0);
  put_chunks(e, pass, emit_text(e, "%llu", half),
             emit_text(e, "max(0,(%s-%llu+%d)/%d)", tile->rows_text, half, CHUNK - 1, CHUNK),
             CHUNK);
}

/* How many runs of `unit` the tile has, where the last tile may have fewer. */
static const char *runs_of(struct emit *e, const char *extent, uint64_t all, uint64_t unit) {
  if (is_number(extent))
    return emit_text(e, "%llu", (ull)all);
  return emit_text(e, "(%s+%llu)/%llu", extent, (ull)unit - 1, (ull)unit);
}

/* A single repeat takes no strides: they would be added to its addresses. */
static const char *stride_of(struct emit *e, const char *runs, uint64_t blocks) {
  if (is_number(runs))
    return emit_text(e, "%llu", strcmp(runs, "1") == 0 ? 0ull : (ull)blocks);
  return emit_text(e, "(%s>1)*%llu", runs, (ull)blocks);
}

/* Transposes the tile: a loop over one direction, repeats over the other. */
static void put_transpose(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  ull bytes = vtile_bytes(pass->in.dtype), block = BLOCK_BYTES / bytes;
  ull groups = pass->out_pitch / SIDE, columns = pass->in_pitch / block;
  ull in_row = pass->in_pitch / block, out_row = pass->out_pitch / block;
  ull step = bytes == 4 ? out_row / 2 : out_row;
  /* From group to group, from column of blocks to column, in blocks. */
  ull group_in = SIDE * in_row, group_out = 1, column_in = 1, column_out = block * out_row;
  bool over_groups = groups >= columns && groups <= REPEATS_MAX;
  ull turns = over_groups ? columns : groups;
  const char *turn = emit_text(e, "%sturn", tile->prefix);
  const char *group_runs =
      pass->chunks ? emit_text(e, "%llu", groups) : runs_of(e, tile->rows_text, groups, SIDE);
  const char *column_runs = runs_of(e, tile->cols_text, columns, block);
  const char *runs = over_groups ? group_runs : column_runs;
  if (turns > 1)
    emit_loop(e, turn, "%s", over_groups ? column_runs : group_runs);
  const char *in =
      turns > 1 ? emit_text(e, "+%s*%llu", turn, (over_groups ? column_in : group_in) * BLOCK_BYTES)
                : "";
  const char *out = turns > 1 ? emit_text(e, "+%s*%llu", turn,
                                          (over_groups ? column_out : group_out) * BLOCK_BYTES)
                              : "";
  emit_row(e,
           "scatter_vnchwconv_b%llu,dst=%s+%llu%s,src=%s%s,repeat=%s,dst_step=%llu,src_step=%llu,"
           "dst_repeat=%s,src_repeat=%s",
           bytes * BITS_PER_BYTE, tile->slot_text, (ull)pass->out.address, out, tile->slot_text, in,
           runs, step, in_row, stride_of(e, runs, over_groups ? group_out : column_out),
           stride_of(e, runs, over_groups ? group_in : column_in));
  if (turns > 1)
    emit_endloop(e);
}

/* Rows of the result are the columns of the tile. */
static void put_store(struct emit *e, const struct ppass *pass) {
  struct vtile view = pass->tile;
  struct vtile_operand out = pass->out;
  if (!pass->transposes) {
    if (pass->padded) {
      view.space.cols = view.cols = pass->padded;
      view.cols_text = emit_text(e, "%llu", (ull)pass->padded);
    }
    vtile_store(e, &view, &out);
    return;
  }
  view.space.rows = pass->tile.space.cols;
  view.space.cols = pass->tile.space.rows;
  view.rows = pass->tile.cols;
  view.cols = pass->tile.rows;
  view.row_tiles = pass->tile.col_tiles;
  view.col_tiles = pass->tile.row_tiles;
  view.rows_text = pass->tile.cols_text;
  view.cols_text = pass->padded ? emit_text(e, "%llu", (ull)pass->padded) : pass->tile.rows_text;
  view.row_text = pass->tile.col_text;
  view.col_text = pass->tile.row_text;
  out.pitch = pass->out_pitch;
  vtile_store(e, &view, &out);
}

/* Rows and padding that no copy writes are transposed too. */
static bool has_gaps(const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  bool last_is_short = pass->chunks && tile->space.rows % tile->rows != 0;
  return pass->transposes && (tile->space.rows % SIDE != 0 || tile->space.cols % SIDE != 0 ||
                              tile->rows % SIDE != 0 || last_is_short);
}

/* Only before a pass that computes, whose first copy waits for the vector pipe. */
static void put_gaps(struct emit *e, const struct permute *permute) {
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)permute->ub_bytes / sizeof(float));
  emit_row(e, "vector_dup,dst=0,scalar=0,repeat=1,type=fp32");
}

/* All buffers of a pass that fills, before its first turn: turns only store them. */
static void put_fill(struct emit *e, const struct permute *permute, const struct ppass *pass) {
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu",
           (ull)(pass->tile.slot_bytes * pass->tile.buffers / sizeof(uint32_t)));
  emit_row(e, "vector_dup,dst=0,scalar=%llu,repeat=1,type=uint32", (ull)permute->fill);
}

static void put_tensors(struct emit *e, const struct permute *permute) {
  static const char *const names[PERMUTE_PASSES] = {"x", "x1", "x2", "x3", "x4", "x5"};
  for (unsigned i = 0; i < permute->inputs; i++)
    emit_tensor(e, names[i], permute->type, TENSOR_IN,
                permute->inputs > 1 ? permute->in_shapes[i] : permute->in_shape, permute->in_rank,
                permute->in_format);
  emit_tensor(e, "y", permute->type, TENSOR_OUT, permute->out_shape, permute->out_rank,
              permute->out_format);
}

void permute_emit(const struct lower_job *job, struct emit *e) {
  struct permute *permute = job->data;
  uint64_t blocks = 1;
  bool filled = false;
  take_tiling(job, permute);
  for (unsigned i = 0; i < permute->passes; i++)
    blocks = max_u64(blocks, permute->pass[i].tile.blocks);
  for (unsigned i = 0; i < permute->passes; i++) {
    permute->pass[i].tile.blocks = blocks;
    vtile_counts(&permute->pass[i].tile);
  }
  emit_kernel(e, job->op->name, (uint32_t)blocks);
  put_tensors(e, permute);
  emit_buffer(e, "buf", SPACE_UB, permute->ub_bytes);
  emit_stream(e, emit_vector_core(job->soc));
  vtile_prologue(e, permute->code, blocks);
  for (unsigned i = 0; i < permute->passes; i++) {
    struct ppass *pass = &permute->pass[i];
    if (i > 0)
      emit_barrier(e, PIPE_ALL);
    if (has_gaps(pass) && (!filled || pass->padded)) {
      put_gaps(e, permute);
      filled = true;
    }
    if (pass->fills)
      put_fill(e, permute, pass);
    vtile_open(e, &pass->tile);
    if (!pass->fills)
      put_load(e, pass);
    vtile_loaded(e, &pass->tile);
    if (pass->transposes)
      put_transpose(e, pass);
    vtile_computed(e, &pass->tile);
    put_store(e, pass);
    vtile_close(e, &pass->tile);
  }
}
