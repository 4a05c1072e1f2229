/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps of strides whose innermost rows are shorter than a block of 32 bytes: copied row by row they
 * would take a burst for some bytes each. Tiles come in and leave in long runs instead, and a
 * gather in UB puts their elements in order. A tile takes a part of one dimension, the cut, and all
 * of the dimensions inside; what it gathers from where is the same for all tiles, and is computed
 * once.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/layout/permute.h"
#include "lower/vector/unit.h"

enum {
  WORD_BYTES = 4,
  TABLES = 2,             /* of words, which lie where tiles come in afterwards */
  ELEMENTS_MAX = 1 << 16, /* of a tile; quotients of places are right up to 2^21 */
  RUNS_MAX = 4095,        /* of a copy */
  DIMENSION_INSTRUCTIONS = 5
};

struct pgather {
  struct vkernel kernel; /* first */
  struct vtile_operand in, out;
  const struct permute *permute;
  enum dtype type;
  unsigned count; /* dimensions of a tile, in the order of the target */
  uint64_t extent[PERMUTE_DIMENSIONS], from[PERMUTE_DIMENSIONS], to[PERMUTE_DIMENSIONS];
  unsigned cut;               /* one of them */
  uint64_t others;            /* elements of a tile for each index of the cut */
  uint64_t runs_in, runs_out; /* of a tile; an index of the cut is from[cut], to[cut] elements */
  uint64_t unit;              /* indices of the cut of which runs are whole blocks */
  uint64_t table, words[TABLES];
};

static uint64_t tile_elements(const struct pgather *gather) {
  return gather->kernel.tile.cols * gather->others;
}

/* A tile in UB is as dense as the tensors, with fewer indices of the cut. */
static uint64_t stride_in(const struct pgather *gather, unsigned i) {
  bool outside = gather->from[i] > gather->from[gather->cut];
  return outside ? gather->from[i] / gather->extent[gather->cut] * gather->kernel.tile.cols
                 : gather->from[i];
}

static uint64_t extent_of(const struct pgather *gather, unsigned i) {
  return i == gather->cut ? gather->kernel.tile.cols : gather->extent[i];
}

static void lay_out(struct vtile *tile) {
  struct pgather *gather = (struct pgather *)tile;
  uint64_t elements = tile_elements(gather), used = 0, words = 0;
  uint64_t bytes = elements * vtile_bytes(gather->type);
  gather->in.address = vtile_reserve(&used, bytes);
  gather->out.address = vtile_reserve(&used, bytes);
  tile->slot_bytes = used;
  for (unsigned i = 0; i < TABLES; i++)
    gather->words[i] = vtile_reserve(&words, elements * WORD_BYTES);
  used = max_u64(used * tile->buffers, words);
  gather->table = vtile_reserve(&used, elements * WORD_BYTES);
  tile->ub_bytes = used;
}

/* Whether the last tile has runs that the chip can store. */
static bool rest_is_stored(const struct vinci_soc *soc, const struct pgather *gather,
                           uint64_t cols) {
  uint64_t all = gather->extent[gather->cut], rest = (all - 1) % cols + 1;
  uint64_t run = gather->to[gather->cut] * vtile_bytes(gather->type);
  return select_has(soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) || rest * run >= BLOCK_BYTES ||
         (cols == all && gather->runs_out == 1 && gather->kernel.tile.space.outers == 0);
}

/* Next to N indices of the cut, of which tiles can be; 0: there is no such number. */
static uint64_t tile_of(const struct vinci_soc *soc, const struct pgather *gather, uint64_t cols) {
  uint64_t all = gather->extent[gather->cut], unit = gather->unit;
  for (uint64_t less = cols; less >= unit; less -= unit)
    if (rest_is_stored(soc, gather, less))
      return less;
  for (uint64_t more = cols + unit; more <= all && more * gather->others <= ELEMENTS_MAX;
       more += unit)
    if (rest_is_stored(soc, gather, more))
      return more;
  return 0;
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  const struct pgather *gather = (struct pgather *)kernel;
  struct vtile *tile = &kernel->tile;
  uint64_t all = tile->space.cols, outer = 1, unit = gather->unit;
  for (unsigned i = 0; i < tile->space.outers; i++)
    outer *= tile->space.outer[i];
  uint64_t most = min_u64(ceil_div(all, unit), ELEMENTS_MAX / (gather->others * unit));
  most = vtile_most_cols(job, tile, unit, 1, max_u64(most, 1)) >> halvings;
  uint64_t share = ceil_div(ceil_div(all * outer, job->cores), unit);
  tile->rows = 1;
  tile->cols = max_u64(1, min_u64(most, share)) * unit;
  if (tile->cols < all)
    tile->cols = max_u64(tile_of(job->soc, gather, tile->cols), unit);
  else
    tile->cols = all;
  if (!vtile_fits(job, tile))
    tile->cols = tile_of(job->soc, gather, unit);
  uint64_t tiles = outer * ceil_div(all, tile->cols);
  tile->blocks = ceil_div(tiles, ceil_div(tiles, min_u64(tiles, job->cores)));
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct pgather *gather = (const struct pgather *)kernel;
  const struct vtile *tile = &kernel->tile;
  bool runs = gather->runs_in > 1 || gather->runs_out > 1;
  if (runs && tile->cols % gather->unit != 0)
    return lower_refuse(job, "a tile takes a multiple of %d columns", (int)gather->unit);
  if (tile_elements(gather) > ELEMENTS_MAX)
    return lower_refuse(job, "a tile has at most %d elements", ELEMENTS_MAX);
  return rest_is_stored(job->soc, gather, tile->cols) ||
         lower_refuse(job,
                      "%s copies whole blocks of %d bytes alone, and the last tile has less in a "
                      "row",
                      job->soc->name, BLOCK_BYTES);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_copy(struct emit *e, const struct pgather *gather, bool out) {
  const struct vtile *tile = &gather->kernel.tile;
  const struct vtile_operand *operand = out ? &gather->out : &gather->in;
  const uint64_t *strides = out ? gather->to : gather->from;
  uint64_t one = strides[gather->cut] * vtile_bytes(gather->type);
  uint64_t runs = out ? gather->runs_out : gather->runs_in, pitch = tile->cols * one;
  struct expr bytes = x_mul(tile->n_cols, one), ub = x_add(tile->slot, operand->address);
  struct expr gm = x_add(vtile_offset(e, tile, operand), x_mul(tile->col, one));
  struct expr gm_gap = x_sub(tile->space.cols * one, bytes);
  struct expr ub_gap = x_sub(ceil_div(pitch, BLOCK_BYTES), x_ceil_div(bytes, BLOCK_BYTES));
  bool many = runs > 1;
  EMIT(e, vtile_copy_name(out, gather->type), F("dst", out ? gm : ub), F("src", out ? ub : gm),
       F_IF(many, "n_burst", runs), F("len_burst", bytes),
       F_IF(many, "src_gap", out ? ub_gap : gm_gap), F_IF(many, "dst_gap", out ? gm_gap : ub_gap),
       F_IF(!out, "right_pad", vtile_pad(bytes, gather->type)));
}

static void load(struct emit *e, struct vkernel *kernel) {
  put_copy(e, (const struct pgather *)kernel, false);
}

static void store(struct emit *e, struct vkernel *kernel) {
  put_copy(e, (const struct pgather *)kernel, true);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct pgather *gather = (const struct pgather *)kernel;
  const struct vtile *tile = &kernel->tile;
  EMIT(e, "vgather", F("dst", x_add(tile->slot, gather->out.address)), F("offset", gather->table),
       F("src", x_add(tile->slot, gather->in.address)), F("repeat", 1),
       W("type", vtile_bytes(gather->type) == WORD_BYTES ? "uint32" : "uint16"));
}

/*
 * Where an element comes from, in bytes: place * stride of the innermost dimension, and for each
 * dimension further out, of which d elements are an index, (place / d) * the difference between its
 * stride and that of all indices of the dimension inside. Half a place more keeps quotients off
 * whole numbers.
 */
static void put_table(struct emit *e, const struct pgather *gather) {
  uint64_t elements = tile_elements(gather), below = 1, bytes = vtile_bytes(gather->type);
  const struct vtable places = vtable_series(gather->words[0], 1);
  struct vunit unit = {.emit = e, .type = DTYPE_INT32, .written = V_ALL};
  unit.reg[X0] = EXPR(gather->words[0]);
  unit.reg[T0] = EXPR(gather->words[1]);
  unit.reg[Y0] = EXPR(gather->table);
  emit_comment(e, "Where each element of a tile comes from.");
  vtables_fill(e, &places, 1, elements);
  unsigned inner = gather->count - 1;
  vunit_count(&unit, elements);
  vunit_step(&unit, &(struct vstep)S("vmuls", Y0, X0, (double)(stride_in(gather, inner) * bytes)));
  vunit_step(&unit, &(struct vstep)C("vconv_s322f32", NULL, T0, X0));
  vunit_step(&unit, &(struct vstep)AS(DTYPE_FP32, 1, S_("vadds", T0, T0, 0.5)));
  for (unsigned i = inner; i-- > 0;) {
    below *= extent_of(gather, i + 1);
    double more = (double)stride_in(gather, i) -
                  (double)(stride_in(gather, i + 1) * extent_of(gather, i + 1));
    if (more == 0)
      continue;
    const struct vstep steps[] = {
        AS(DTYPE_FP32, 1, S_("vmuls", X0, T0, 1.0 / (double)below)),
        C("vconv_f322s32", "f", X0, X0),
        S("vmuls", X0, X0, more * (double)bytes),
        B("vadd", Y0, Y0, X0),
        END,
    };
    vunit_steps(&unit, steps);
  }
  emit_barrier(e, PIPE_V);
}

static void rows(struct emit *e, struct vkernel *kernel) {
  const struct pgather *gather = (const struct pgather *)kernel;
  const struct vtile *tile = &kernel->tile;
  if (tile->space.cols % tile->cols != 0) {
    emit_comment(e, "What the last tile lacks.");
    vkernel_clear(e, tile);
    emit_barrier(e, PIPE_V);
  }
  put_table(e, gather);
  vkernel_tiles(e, kernel);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct pgather *gather = (const struct pgather *)kernel;
  const struct permute *permute = gather->permute;
  enum dtype type = lower_get(kernel->job, "dtype")->dtype;
  emit_tensor(e, "x", type, TENSOR_IN, permute->in_shape, permute->in_rank, NULL);
  emit_tensor(e, "y", type, TENSOR_OUT, permute->out_shape, permute->out_rank, NULL);
}

/* ---- which maps ------------------------------------------------------------------------------ */

/* Runs of a side: what its dimensions outside of the cut have. */
static uint64_t runs_of(const struct pgather *gather, const uint64_t *strides) {
  uint64_t runs = 1;
  for (unsigned i = 0; i < gather->count; i++)
    runs *= strides[i] > strides[gather->cut] ? gather->extent[i] : 1;
  return runs;
}

/* Indices of which a run is whole blocks. */
static uint64_t unit_of(uint64_t runs, uint64_t element_bytes) {
  uint64_t unit = 1;
  while (runs > 1 && unit * element_bytes % BLOCK_BYTES != 0)
    unit *= 2;
  return unit;
}

/* Whether UB holds the smallest tile that a dimension is cut into. */
static bool take_cut(const struct lower_job *job, struct pgather *gather, unsigned cut) {
  struct vtile *tile = &gather->kernel.tile;
  uint64_t bytes = vtile_bytes(gather->type);
  gather->cut = cut;
  gather->others = 1;
  for (unsigned i = 0; i < gather->count; i++)
    gather->others *= i == cut ? 1 : gather->extent[i];
  gather->runs_in = runs_of(gather, gather->from);
  gather->runs_out = runs_of(gather, gather->to);
  gather->unit = max_u64(unit_of(gather->runs_in, gather->from[cut] * bytes),
                         unit_of(gather->runs_out, gather->to[cut] * bytes));
  tile->space.rows = tile->rows = 1;
  tile->space.cols = gather->extent[cut];
  tile->buffers = 1;
  tile->cols = gather->unit > gather->extent[cut] ? 0 : tile_of(job->soc, gather, gather->unit);
  return tile->cols > 0 && gather->runs_in <= RUNS_MAX && gather->runs_out <= RUNS_MAX &&
         tile_elements(gather) <= ELEMENTS_MAX && vtile_fits(job, tile);
}

/* All of the tensor as the only index of one dimension more. */
static bool as_one_tile(const struct lower_job *job, struct pgather *gather) {
  uint64_t all = lower_elements(gather->extent, gather->count);
  unsigned count = gather->count++;
  if (count == PERMUTE_DIMENSIONS)
    return false;
  memmove(gather->extent + 1, gather->extent, count * sizeof *gather->extent);
  memmove(gather->from + 1, gather->from, count * sizeof *gather->from);
  memmove(gather->to + 1, gather->to, count * sizeof *gather->to);
  gather->extent[0] = 1;
  gather->from[0] = gather->to[0] = all;
  return take_cut(job, gather, 0);
}

/* Both sides have the first dimension outermost: tiles take some of its indices, or one alone, when
 * the dimensions inside are cut. */
static bool choose_cut(const struct lower_job *job, struct pgather *gather) {
  struct vtile_space *space = &gather->kernel.tile.space;
  uint64_t inside = gather->to[0];
  unsigned best = 0;
  bool possible = false;
  if (gather->from[0] == inside) {
    if (take_cut(job, gather, 0))
      return true;
    space->outers = 1;
    space->outer[0] = gather->extent[0];
    gather->in.outer_stride[0] = gather->out.outer_stride[0] = inside;
    gather->count--;
    for (unsigned i = 0; i < gather->count; i++) {
      gather->extent[i] = gather->extent[i + 1];
      gather->from[i] = gather->from[i + 1];
      gather->to[i] = gather->to[i + 1];
    }
  }
  for (unsigned i = 0; i < gather->count; i++)
    if ((!possible || gather->extent[i] > gather->extent[best]) && take_cut(job, gather, i)) {
      best = i;
      possible = true;
    }
  if (possible)
    return take_cut(job, gather, best);
  return space->outers == 0 && as_one_tile(job, gather);
}

/* Rows of less than a block, on either side. */
static bool has_short_rows(const struct pmap *map, uint64_t bytes) {
  bool is_short = false;
  for (unsigned i = 0; i < map->count; i++)
    is_short |= (map->from[i] == 1 || map->to[i] == 1) && map->extent[i] * bytes < BLOCK_BYTES;
  return is_short;
}

enum vinci_status permute_gathers(struct lower_job *job, struct permute *permute,
                                  const struct pmap *map) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = rows,
                                           .load = load,
                                           .compute = compute,
                                           .store = store};
  uint64_t bytes = vtile_bytes(permute->type);
  if (!select_has(job->soc, OP_VGATHER) || map->count < 2 || !has_short_rows(map, bytes) ||
      (bytes != sizeof(uint16_t) && bytes != WORD_BYTES))
    return VINCI_OK;
  struct pgather *gather = vkernel_new(job, sizeof *gather, &kind);
  job->data = permute;
  if (!gather)
    return VINCI_E_NOMEM;
  gather->permute = permute;
  gather->type = permute->type;
  gather->kernel.code = permute->code;
  gather->kernel.element_bytes = bytes;
  gather->in = (struct vtile_operand){.name = "x", .dtype = permute->type};
  gather->out = (struct vtile_operand){.name = "y", .dtype = permute->type};
  gather->count = map->count;
  for (unsigned i = 0; i < map->count; i++) {
    gather->extent[i] = map->extent[i];
    gather->from[i] = map->from[i];
    gather->to[i] = map->to[i];
  }
  if (choose_cut(job, gather))
    permute->gather = &gather->kernel;
  return VINCI_OK;
}
