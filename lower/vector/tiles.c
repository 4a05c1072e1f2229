/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of vector and data-movement operators: splitting, the loop, copies. */
#include "lower/vector/tiles.h"

#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/select/select.h"

enum {
  BANKS_BYTES = 512, /* where the banks of UB and fast GM addresses repeat */
  BURSTS_MAX = 4095,
  NAME_BYTES = 32,
};

uint64_t vtile_pitch(uint64_t cols, unsigned element_bytes) {
  uint64_t block = BLOCK_BYTES / element_bytes;
  return ceil_div(cols, block) * block;
}

uint64_t vtile_align(uint64_t bytes) { return round_up(bytes, BANKS_BYTES); }

uint64_t vtile_reserve(uint64_t *used, uint64_t bytes) {
  uint64_t address = *used;
  *used += vtile_align(bytes);
  return address;
}

uint64_t vtile_ub_bytes(const struct vinci_soc *soc) {
  uint64_t ub = (uint64_t)soc->ub_bytes;
  uint64_t reserved = (uint64_t)soc->ub_reserved_bytes + select_ub_bytes(soc);
  return ub > reserved ? ub - reserved : 0;
}

/* ---- what UB holds --------------------------------------------------------------- */

bool vtile_fits(const struct lower_job *job, struct vtile *tile) {
  tile->lay_out(tile);
  return tile->ub_bytes <= vtile_ub_bytes(job->soc);
}

bool vtile_ub_holds(struct lower_job *job, const char *what, uint64_t bytes) {
  return bytes <= vtile_ub_bytes(job->soc) ||
         lower_refuse(job, "%s takes %" PRIu64 " bytes of UB, there are %" PRIu64, what, bytes,
                      vtile_ub_bytes(job->soc));
}

bool vtile_in_ub(struct lower_job *job, struct vtile *tile) {
  tile->lay_out(tile);
  return vtile_ub_holds(job, "the tile", tile->ub_bytes);
}

/* Whether rows follow each other without gaps on both sides. */
static bool is_packed(const struct vtile *tile, const struct vtile_operand *operand) {
  return tile->col_tiles == 1 && operand->pitch == tile->space.cols &&
         operand->row_stride == tile->space.cols;
}

/* Bytes of each run that a tile of N rows and columns stores; *one: in one run. */
static uint64_t run_bytes(const struct vtile *tile, const struct vtile_operand *operand,
                          uint64_t rows, uint64_t cols, bool *one) {
  uint64_t size = vtile_bytes(operand->dtype);
  *one = true;
  if (operand->bits)
    return ceil_div(cols, BITS_PER_BYTE);
  if (operand->col_stride == 0)
    return (operand->row_stride ? rows : 1) * size;
  if (tile->rows == 1 || operand->row_stride == 0)
    return cols * size;
  bool dense = tile->col_tiles == 1 && operand->row_stride == tile->space.cols;
  if (is_packed(tile, operand) || (dense && cols * size < BLOCK_BYTES))
    return rows * cols * size;
  *one = false;
  return cols * size;
}

bool vtile_stores(struct lower_job *job, const struct vtile *tile,
                  const struct vtile_operand *operand) {
  bool one;
  uint64_t rows = (tile->space.rows - 1) % tile->rows + 1;
  uint64_t cols = (tile->space.cols - 1) % tile->cols + 1;
  uint64_t full = run_bytes(tile, operand, tile->rows, tile->cols, &one);
  uint64_t rest = run_bytes(tile, operand, rows, cols, &one);
  if (select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) || rest >= BLOCK_BYTES)
    return true;
  bool in_order = tile->tiles == tile->row_tiles * tile->col_tiles &&
                  (tile->row_tiles == 1 || tile->col_tiles == 1);
  bool end = one && operand->whole && in_order && (tile->tiles == 1 || full >= BLOCK_BYTES);
  return end ||
         lower_refuse(job,
                      "%s copies whole blocks of %d bytes alone, and a tile of \"%s\" has "
                      "runs of %" PRIu64 " bytes with others behind",
                      job->soc->name, BLOCK_BYTES, operand->name ? operand->name : "y", rest);
}

uint64_t vtile_long_rest(const struct vinci_soc *soc, uint64_t extent, uint64_t side,
                         unsigned element_bytes) {
  enum { UNIT = 16 }; /* of transposed tiles too */
  if (select_has(soc, OP_COPY_UBUF_TO_GM_ALIGN_B8))
    return side;
  for (uint64_t less = side; less >= UNIT; less = (less - 1) / UNIT * UNIT)
    if (((extent - 1) % less + 1) * element_bytes >= BLOCK_BYTES)
      return less;
  for (uint64_t more = round_up(side, UNIT); more < extent; more += UNIT)
    if (((extent - 1) % more + 1) * element_bytes >= BLOCK_BYTES)
      return more;
  return extent;
}

bool vtile_has_whole_rows(struct lower_job *job, const struct vtile *tile) {
  return tile->cols == tile->space.cols ||
         lower_refuse(job, "a tile takes whole rows, of %" PRIu64 " columns", tile->space.cols);
}

static uint64_t largest(const struct lower_job *job, struct vtile *tile, uint64_t *extent,
                        uint64_t unit, uint64_t low, uint64_t high) {
  while (low < high) {
    uint64_t middle = low + (high - low + 1) / 2;
    *extent = middle * unit;
    if (vtile_fits(job, tile))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

uint64_t vtile_most_rows(const struct lower_job *job, struct vtile *tile, uint64_t low,
                         uint64_t high) {
  return largest(job, tile, &tile->rows, 1, low, high);
}

uint64_t vtile_most_cols(const struct lower_job *job, struct vtile *tile, uint64_t unit,
                         uint64_t low, uint64_t high) {
  return largest(job, tile, &tile->cols, unit, low, high);
}

void vtile_settle(const struct lower_job *job, struct vtile *tile) {
  vtile_take(job, tile);
  vtile_counts(tile);
  tile->lay_out(tile);
}

/* ---- splitting ---------------------------------------------------------------- */

void vtile_counts(struct vtile *tile) {
  uint64_t outer = 1;
  for (unsigned i = 0; i < tile->space.outers; i++)
    outer *= tile->space.outer[i];
  tile->row_tiles = ceil_div(tile->space.rows, tile->rows);
  tile->col_tiles = ceil_div(tile->space.cols, tile->cols);
  tile->tiles = outer * tile->row_tiles * tile->col_tiles;
  tile->per_block = ceil_div(tile->tiles, tile->blocks);
}

bool vtile_too_few(struct lower_job *job, uint64_t tiles, uint64_t cores) {
  if (lower_get(job, "idle"))
    return true;
  return lower_refuse(job, "more cores than tiles: %" PRIu64 " and %" PRIu64, cores, tiles);
}

bool vtile_count(struct lower_job *job, struct vtile *tile) {
  if (tile->rows == 0 || tile->cols == 0 || tile->blocks == 0)
    return lower_refuse(job, "a tile needs rows, columns and a core");
  if (tile->rows > tile->space.rows || tile->cols > tile->space.cols)
    return lower_refuse(job,
                        "the tile is larger than the %" PRIu64 " x %" PRIu64 " elements to be cut",
                        tile->space.rows, tile->space.cols);
  if (tile->rows > BURSTS_MAX)
    return lower_refuse(job, "a copy has at most %d rows", BURSTS_MAX);
  if (tile->buffers < 1 || tile->buffers > 2)
    return lower_refuse(job, "buffers is 1 or 2");
  vtile_counts(tile);
  return tile->blocks <= tile->tiles || vtile_too_few(job, tile->tiles, tile->blocks);
}

void vtile_split_run(const struct vinci_soc *soc, uint64_t cores, struct vtile *tile,
                     unsigned element_bytes, uint64_t elements_max) {
  uint64_t unit = BANKS_BYTES / element_bytes, all = tile->space.cols;
  uint64_t run = max_u64(ceil_div(all, cores), (uint64_t)soc->kernel_core_bytes / element_bytes);
  run = round_up(run, unit);
  /* What one tile can hold is not cut for the sake of multiples. */
  uint64_t most = min_u64(run, all) <= elements_max ? run : elements_max / unit * unit;
  uint64_t turns = ceil_div(run, max_u64(most, unit));
  tile->rows = 1;
  tile->cols = min_u64(all, round_up(ceil_div(run, turns), unit));
  tile->blocks = ceil_div(ceil_div(all, tile->cols), turns);
}

/* Those of the cores that have enough to do with the elements of a space. */
static uint64_t worthy_cores(const struct vinci_soc *soc, uint64_t cores, const struct vtile *tile,
                             unsigned element_bytes, uint64_t outer) {
  uint64_t bytes = outer * tile->space.rows * tile->space.cols * element_bytes;
  return min_u64(cores, ceil_div(bytes, (uint64_t)soc->kernel_core_bytes));
}

void vtile_split_rows(const struct vinci_soc *soc, uint64_t cores, struct vtile *tile,
                      unsigned element_bytes, uint64_t rows_max) {
  uint64_t outer = 1;
  for (unsigned i = 0; i < tile->space.outers; i++)
    outer *= tile->space.outer[i];
  /* Of chips that copy whole blocks alone a short row is as much work as a block. */
  unsigned moved = element_bytes;
  if (!select_has(soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) && tile->space.rows > 1)
    moved = (unsigned)max_u64(element_bytes, ceil_div(BLOCK_BYTES, tile->space.cols));
  cores = worthy_cores(soc, cores, tile, moved, outer);
  /* Cores that share one outer index; tiles of nearly equal height. */
  uint64_t sharing = max_u64(1, cores / outer);
  uint64_t run = ceil_div(tile->space.rows, min_u64(sharing, tile->space.rows));
  uint64_t turns = ceil_div(run, rows_max);
  tile->rows = ceil_div(run, turns);
  uint64_t tiles =
      outer * ceil_div(tile->space.rows, tile->rows) * ceil_div(tile->space.cols, tile->cols);
  tile->blocks = ceil_div(tiles, ceil_div(tiles, min_u64(tiles, cores)));
}

/* ---- the loop ------------------------------------------------------------------ */

const char *vtile_name(struct emit *e, const struct vtile *tile, const char *name) {
  char text[NAME_BYTES];
  if (!*tile->prefix)
    return name;
  snprintf(text, sizeof text, "%s%s", tile->prefix, name);
  const char *copy = arena_strdup(e->arena, text);
  if (!copy)
    emit_no_memory(e);
  return copy ? copy : name;
}

/* min(tile, all - start); the tile where all are alike. */
static struct expr extent_of(struct emit *e, const char *name, uint64_t tile, uint64_t all,
                             struct expr start) {
  return all % tile == 0 ? EXPR(tile) : emit_named(e, name, x_min(tile, x_sub(all, start)));
}

static struct expr start_of(struct emit *e, const char *name, struct expr index, uint64_t step,
                            uint64_t count) {
  return count == 1 ? EXPR(0) : emit_named(e, name, x_mul(index, step));
}

/* The tile t: its outer indices, where it starts, how large it is. */
static void put_position(struct emit *e, struct vtile *tile, struct expr t) {
  static const char *const outers[VTILE_OUTERS] = {"o0", "o1", "o2", "o3", "o4", "o5"};
  uint64_t inner = tile->row_tiles * tile->col_tiles, outer = tile->tiles / inner;
  struct expr row = x_div(t, tile->col_tiles), col = x_mod(t, tile->col_tiles);
  if (outer > 1 || tile->col_tiles > 1)
    row = x_mod(row, tile->row_tiles);
  if (outer == 1 && tile->row_tiles == 1)
    col = t;
  tile->row = start_of(e, vtile_name(e, tile, "row"), row, tile->rows, tile->row_tiles);
  tile->col = start_of(e, vtile_name(e, tile, "col"), col, tile->cols, tile->col_tiles);
  tile->n_rows = extent_of(e, vtile_name(e, tile, "rows"), tile->rows, tile->space.rows, tile->row);
  tile->n_cols = extent_of(e, vtile_name(e, tile, "cols"), tile->cols, tile->space.cols, tile->col);
  for (unsigned i = tile->space.outers; i-- > 0;) {
    uint64_t extent = tile->space.outer[i];
    struct expr index = x_div(t, inner);
    tile->outer_at[i] = EXPR(0);
    if (extent > 1)
      tile->outer_at[i] =
          emit_named(e, vtile_name(e, tile, outers[i]), i == 0 ? index : x_mod(index, extent));
    inner *= extent;
  }
}

struct flag_pair {
  enum pipe from, to;
};

/* Nothing of a tile overlaps the tile before. */
static bool is_alone(const struct vtile *tile) {
  const unsigned all = VTILE_LOADS | VTILE_COMPUTES | VTILE_STORES;
  return tile->waits && tile->buffers == 1 && (tile->parts & all) == all;
}

/* Who tells whom that a buffer is free, first on the way in, then on the way out. */
static unsigned free_flags(const struct vtile *tile, struct flag_pair pairs[2]) {
  unsigned count = 0;
  bool computes = tile->parts & VTILE_COMPUTES;
  if (tile->parts & VTILE_LOADS)
    pairs[count++] = (struct flag_pair){computes ? PIPE_V : PIPE_MTE3, PIPE_MTE2};
  if (computes && (tile->parts & VTILE_STORES))
    pairs[count++] = (struct flag_pair){PIPE_MTE3, is_alone(tile) ? PIPE_MTE2 : PIPE_V};
  return count;
}

void vtile_ends(struct emit *e, const struct vtile *tile, bool start) {
  struct flag_pair pairs[2];
  unsigned count = free_flags(tile, pairs);
  if (count == 0)
    return;
  struct expr buffer = emit_for(e, vtile_name(e, tile, start ? "first" : "last"), tile->buffers);
  for (unsigned i = 0; i < count; i++)
    emit_flag_of(e, start, pairs[i].from, pairs[i].to, x_add(buffer, tile->flag));
  emit_end(e);
}

void vtile_open(struct emit *e, struct vtile *tile) {
  uint64_t per = tile->per_block;
  struct expr blk = x_name(e, "blk"), first = x_mul(blk, per), mine = EXPR(per);
  emit_comment(e, "Buffers are free at the start.");
  vtile_ends(e, tile, true);
  if (tile->tiles != tile->blocks * per)
    mine = x_min(per, x_sub(tile->tiles, first));
  struct expr i = emit_for(e, vtile_name(e, tile, "i"), mine);
  put_position(e, tile, emit_named(e, vtile_name(e, tile, "t"), x_add(first, i)));
  tile->slot = EXPR(tile->slot_address);
  tile->flag_id = EXPR(tile->flag);
  if (tile->buffers > 1) {
    struct expr half = emit_named(e, vtile_name(e, tile, "half"), x_mod(i, tile->buffers));
    tile->slot = x_add(x_mul(half, tile->slot_bytes), tile->slot_address);
    tile->flag_id = x_add(half, tile->flag);
  }
  if (tile->parts & VTILE_LOADS)
    emit_wait(e, tile->parts & VTILE_COMPUTES ? PIPE_V : PIPE_MTE3, PIPE_MTE2, tile->flag_id);
  if (is_alone(tile))
    emit_wait(e, PIPE_MTE3, PIPE_MTE2, tile->flag_id);
}

void vtile_loaded(struct emit *e, struct vtile *tile) {
  bool computes = tile->parts & VTILE_COMPUTES;
  if (tile->parts & VTILE_LOADS)
    emit_handshake(e, PIPE_MTE2, computes ? PIPE_V : PIPE_MTE3, tile->flag_id);
  if (computes && (tile->parts & VTILE_STORES) && !tile->lends && !is_alone(tile))
    vtile_writes(e, tile);
}

void vtile_writes(struct emit *e, const struct vtile *tile) {
  emit_wait(e, PIPE_MTE3, PIPE_V, tile->flag_id);
}

void vtile_read(struct emit *e, const struct vtile *tile) {
  emit_set(e, PIPE_V, PIPE_MTE2, tile->flag_id);
}

void vtile_computed(struct emit *e, struct vtile *tile) {
  if (!(tile->parts & VTILE_COMPUTES))
    return;
  if ((tile->parts & VTILE_LOADS) && !tile->lends)
    vtile_read(e, tile);
  if (tile->parts & VTILE_STORES)
    emit_handshake(e, PIPE_V, PIPE_MTE3, tile->flag_id);
}

void vtile_close(struct emit *e, struct vtile *tile) {
  if (tile->parts & VTILE_STORES)
    emit_set(e, PIPE_MTE3, tile->parts & VTILE_COMPUTES && !is_alone(tile) ? PIPE_V : PIPE_MTE2,
             tile->flag_id);
  emit_end(e);
  emit_comment(e, "Take back what is left set.");
  vtile_ends(e, tile, false);
}

/* ---- copies -------------------------------------------------------------------- */

const char *vtile_copy_name(bool to_gm, enum dtype dtype) {
  static const char *const names[2][3] = {
      {"copy_gm_to_ubuf_align_b8", "copy_gm_to_ubuf_align_b16", "copy_gm_to_ubuf_align_b32"},
      {"copy_ubuf_to_gm_align_b8", "copy_ubuf_to_gm_align_b16", "copy_ubuf_to_gm_align_b32"},
  };
  unsigned bytes = vtile_bytes(dtype);
  return names[to_gm][bytes >= 4 ? 2 : bytes - 1];
}

struct expr vtile_offset(struct emit *e, const struct vtile *tile,
                         const struct vtile_operand *operand) {
  uint64_t bytes = vtile_bytes(operand->dtype);
  struct expr start = operand->name ? x_name(e, operand->name) : operand->at;
  struct expr sum = x_add(start, operand->base * bytes);
  for (unsigned i = 0; i < tile->space.outers; i++)
    sum = x_add(sum, x_mul(tile->outer_at[i], operand->outer_stride[i] * bytes));
  sum = x_add(sum, x_mul(tile->row, operand->row_stride * bytes));
  return x_add(sum, operand->bits ? x_div(tile->col, BITS_PER_BYTE)
                                  : x_mul(tile->col, operand->col_stride * bytes));
}

struct expr vtile_pad(struct expr bytes, enum dtype dtype) {
  unsigned unit = vtile_bytes(dtype);
  return x_div(x_pad(bytes, BLOCK_BYTES), unit > 4 ? 4 : unit);
}

void vtile_load_run(struct emit *e, enum dtype dtype, struct expr dst, struct expr src,
                    struct expr elements) {
  struct expr bytes = x_mul(elements, vtile_bytes(dtype));
  EMIT(e, vtile_copy_name(false, dtype), F("dst", dst), F("src", src), F("len_burst", bytes),
       F("right_pad", vtile_pad(bytes, dtype)));
}

void vtile_store_run(struct emit *e, enum dtype dtype, struct expr dst, struct expr src,
                     struct expr elements) {
  EMIT(e, vtile_copy_name(true, dtype), F("dst", dst), F("src", src),
       F("len_burst", x_mul(elements, vtile_bytes(dtype))));
}

/* Bursts of one copy: how many (0: one), how many bytes, gaps on both sides. */
struct bursts {
  struct expr count, bytes, gm_gap, ub_gap;
};

static struct bursts bursts_of(const struct vtile *tile, const struct vtile_operand *operand) {
  uint64_t size = vtile_bytes(operand->dtype), pitch = operand->pitch * size;
  struct expr row_bytes = x_mul(tile->n_cols, size);
  bool single_row = tile->rows == 1 || operand->row_stride == 0;
  if (operand->bits)
    return (struct bursts){.bytes = x_ceil_div(tile->n_cols, BITS_PER_BYTE)};
  if (operand->col_stride == 0)
    return (struct bursts){.bytes = operand->row_stride ? x_mul(tile->n_rows, size) : EXPR(size)};
  if (single_row)
    return (struct bursts){.bytes = row_bytes};
  if (is_packed(tile, operand))
    return (struct bursts){.bytes = x_mul(tile->n_rows, size * tile->space.cols)};
  return (struct bursts){.count = tile->n_rows,
                         .bytes = row_bytes,
                         .gm_gap = x_sub(operand->row_stride * size, row_bytes),
                         .ub_gap = x_sub(pitch / BLOCK_BYTES, x_ceil_div(row_bytes, BLOCK_BYTES))};
}

static void put_copy(struct emit *e, const struct vtile *tile, const struct vtile_operand *operand,
                     bool to_gm) {
  struct bursts bursts = bursts_of(tile, operand);
  struct expr in_gm = vtile_offset(e, tile, operand), in_ub = x_add(tile->slot, operand->address);
  struct expr pad = vtile_pad(bursts.bytes, operand->dtype);
  struct expr src_gap = to_gm ? bursts.ub_gap : bursts.gm_gap;
  struct expr dst_gap = to_gm ? bursts.gm_gap : bursts.ub_gap;
  EMIT(e, vtile_copy_name(to_gm, operand->dtype), F("dst", to_gm ? in_gm : in_ub),
       F("src", to_gm ? in_ub : in_gm), F_IF(!x_is(bursts.count, 0), "n_burst", bursts.count),
       F("len_burst", bursts.bytes), F_IF(!x_is(src_gap, 0), "src_gap", src_gap),
       F_IF(!x_is(dst_gap, 0), "dst_gap", dst_gap),
       F_IF(!to_gm && !x_is(pad, 0), "right_pad", pad));
}

void vtile_load(struct emit *e, const struct vtile *tile, const struct vtile_operand *operand) {
  put_copy(e, tile, operand, false);
}

void vtile_store(struct emit *e, const struct vtile *tile, const struct vtile_operand *operand) {
  put_copy(e, tile, operand, true);
}

/* ---- keys ----------------------------------------------------------------------- */

void vtile_take(const struct lower_job *job, struct vtile *tile) {
  tile->rows = lower_get(job, "rows")->size;
  tile->cols = lower_get(job, "cols")->size;
  tile->blocks = lower_get(job, "blocks")->size;
  tile->buffers = lower_get(job, "buffers")->size;
}

void vtile_give(struct lower_job *job, const struct vtile *tile) {
  lower_choose(job, "rows", tile->rows);
  lower_choose(job, "cols", tile->cols);
  lower_choose(job, "blocks", tile->blocks);
  lower_choose(job, "buffers", tile->buffers);
}

void vtile_fit(const struct lower_job *job, struct vtile *tile) {
  const struct lower_value *rows = lower_get(job, "rows"), *cols = lower_get(job, "cols");
  if (rows && rows->given)
    tile->rows = rows->size;
  if (cols && cols->given)
    tile->cols = cols->size;
  vtile_counts(tile);
  tile->blocks = min_u64(tile->blocks, tile->tiles);
}
