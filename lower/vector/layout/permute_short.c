/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a result that are shorter than a block of 32 bytes, or put together of such pieces: moved
 * row by row they would take the engines some 50 cycles each (unaligned_cycles). Runs of whole rows
 * come in instead, or the whole blocks of them that are needed; a gather in UB takes the elements
 * that the result has, which leave as one run. Where an element comes from is the same for all
 * tiles, and is computed once.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/plan/plan.h"
#include "lower/select/select.h"
#include "lower/vector/layout/permute.h"
#include "lower/vector/unit.h"

enum {
  WORD_BYTES = 4,
  TABLES = 4,             /* of words, which lie where tiles come in afterwards */
  ELEMENTS_MAX = 1 << 16, /* of a tile; quotients of places are right up to 2^21 */
  RUNS_MAX = 4095,        /* of a copy */
  ROW_BYTES_MAX = 1024,   /* that come in for a row */
  ROWS_MIN = 512          /* what fewer rows take is less than the places of a gather */
};

/* What comes in of a tensor for a row of the result. */
struct part {
  struct vtile_operand in;
  uint64_t row, skip, width; /* elements: of a row, before those that come in, of these */
  uint64_t first;            /* of these, the first that the result has */
  uint64_t start;            /* its column in the result */
};

struct pshort {
  struct vkernel kernel; /* first; columns of its space are rows of the result */
  const struct permute *permute;
  enum dtype type;
  unsigned count;
  struct part part[PERMUTE_PASSES];
  struct vtile_operand out;
  uint64_t out_row; /* elements */
  uint64_t unit;    /* rows of which runs are whole blocks */
  uint64_t table, words[TABLES];
};

static uint64_t elements_of(const struct pshort *own) {
  return own->kernel.tile.cols * own->out_row;
}

static void lay_out(struct vtile *tile) {
  struct pshort *own = (struct pshort *)tile;
  uint64_t bytes = vtile_bytes(own->type), used = 0, words = 0;
  for (unsigned i = 0; i < own->count; i++)
    own->part[i].in.address = vtile_reserve(&used, tile->cols * own->part[i].width * bytes);
  own->out.address = vtile_reserve(&used, elements_of(own) * bytes);
  tile->slot_bytes = used;
  for (unsigned i = 0; i < TABLES; i++)
    own->words[i] = vtile_reserve(&words, elements_of(own) * WORD_BYTES);
  used = max_u64(used * tile->buffers, words);
  own->table = vtile_reserve(&used, elements_of(own) * WORD_BYTES);
  tile->ub_bytes = used;
}

static uint64_t most_rows(const struct pshort *own) {
  return min_u64(RUNS_MAX, ELEMENTS_MAX / own->out_row);
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  const struct pshort *own = (const struct pshort *)kernel;
  struct vtile *tile = &kernel->tile;
  uint64_t all = tile->space.cols, most = max_u64(most_rows(own) / own->unit, 1);
  most = max_u64(vtile_most_cols(job, tile, own->unit, 1, most) >> halvings, 1);
  uint64_t share = ceil_div(ceil_div(all, job->cores), own->unit);
  tile->rows = 1;
  tile->cols = min_u64(all, min_u64(most, share) * own->unit);
  uint64_t tiles = ceil_div(all, tile->cols);
  tile->blocks = ceil_div(tiles, ceil_div(tiles, min_u64(tiles, job->cores)));
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct pshort *own = (const struct pshort *)kernel;
  return kernel->tile.cols <= most_rows(own) ||
         lower_refuse(job, "a tile has at most %d columns", (int)most_rows(own));
}

/* ---- rows of the trace ----------------------------------------------------------------------- */

static void load(struct emit *e, struct vkernel *kernel) {
  const struct pshort *own = (const struct pshort *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t bytes = vtile_bytes(own->type);
  for (unsigned i = 0; i < own->count; i++) {
    const struct part *part = &own->part[i];
    bool whole = part->width == part->row;
    struct expr gm = x_add(vtile_offset(e, tile, &part->in), x_mul(tile->col, part->row * bytes));
    struct expr run = whole ? x_mul(tile->n_cols, part->row * bytes) : EXPR(part->width * bytes);
    EMIT(e, vtile_copy_name(false, own->type), F("dst", x_add(tile->slot, part->in.address)),
         F("src", x_add(gm, part->skip * bytes)), F_IF(!whole, "n_burst", tile->n_cols),
         F("len_burst", run), F_IF(!whole, "src_gap", (part->row - part->width) * bytes),
         F("right_pad", vtile_pad(run, own->type)));
  }
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct pshort *own = (const struct pshort *)kernel;
  const struct vtile *tile = &kernel->tile;
  EMIT(e, "vgather", F("dst", x_add(tile->slot, own->out.address)), F("offset", own->table),
       F("src", tile->slot), F("repeat", 1),
       W("type", vtile_bytes(own->type) == WORD_BYTES ? "uint32" : "uint16"));
}

static void store(struct emit *e, struct vkernel *kernel) {
  const struct pshort *own = (const struct pshort *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t row = own->out_row * vtile_bytes(own->type);
  EMIT(e, vtile_copy_name(true, own->type),
       F("dst", x_add(vtile_offset(e, tile, &own->out), x_mul(tile->col, row))),
       F("src", x_add(tile->slot, own->out.address)), F("len_burst", x_mul(tile->n_cols, row)));
}

/* Bytes from where element 0 of the result would lie if all were of this part. */
static double origin_of(const struct pshort *own, const struct part *part) {
  double bytes = vtile_bytes(own->type);
  return (double)part->in.address + ((double)part->first - (double)part->start) * bytes;
}

/*
 * Of element e in row r of the result: e elements, r times what a row of its part is longer than
 * one of the result, and where the part begins. What differs from part to part is added for the
 * elements at and behind the first column of each, which are told by (e + columns before) / columns
 * - r. Half an element more keeps quotients off whole numbers.
 */
static void put_table(struct emit *e, const struct pshort *own) {
  double bytes = vtile_bytes(own->type), row = (double)own->out_row;
  const struct vtable places = vtable_series(own->words[0], 1);
  struct vunit unit = {.emit = e, .type = DTYPE_INT32, .written = V_ALL};
  unit.reg[X0] = EXPR(own->words[0]);
  unit.reg[T0] = EXPR(own->words[1]);
  unit.reg[T1] = EXPR(own->words[2]);
  unit.reg[T2] = EXPR(own->words[3]);
  unit.reg[Y0] = EXPR(own->table);
  emit_comment(e, "Where each element of a tile comes from.");
  vtables_fill(e, &places, 1, elements_of(own));
  vunit_count(&unit, elements_of(own));
  const struct vstep first[] = {
      S("vmuls", Y0, X0, bytes),
      C("vconv_s322f32", NULL, T0, X0),
      AS(DTYPE_FP32, 1, S_("vadds", T0, T0, 0.5)),
      AS(DTYPE_FP32, 1, S_("vmuls", X0, T0, 1.0 / row)),
      C("vconv_f322s32", "f", T1, X0),
      S("vmuls", X0, T1, ((double)own->part[0].width - row) * bytes),
      S("vadds", X0, X0, origin_of(own, &own->part[0])),
      B("vadd", Y0, Y0, X0),
      END,
  };
  vunit_steps(&unit, first);
  for (unsigned i = 1; i < own->count; i++) {
    const struct part *part = &own->part[i];
    double longer = ((double)part->width - (double)part[-1].width) * bytes;
    const struct vstep steps[] = {
        AS(DTYPE_FP32, 1, S_("vadds", X0, T0, row - (double)part->start)),
        AS(DTYPE_FP32, 1, S_("vmuls", X0, X0, 1.0 / row)),
        C("vconv_f322s32", "f", X0, X0),
        B("vsub", X0, X0, T1),
        S("vmuls", T2, T1, longer),
        S("vadds", T2, T2, origin_of(own, part) - origin_of(own, part - 1)),
        B("vmul", X0, X0, T2),
        B("vadd", Y0, Y0, X0),
        END,
    };
    vunit_steps(&unit, steps);
  }
  emit_barrier(e, PIPE_V);
}

static void rows(struct emit *e, struct vkernel *kernel) {
  const struct vtile *tile = &kernel->tile;
  if (tile->space.cols % tile->cols != 0) {
    emit_comment(e, "What the last tile lacks.");
    vkernel_clear(e, tile);
    emit_barrier(e, PIPE_V);
  }
  put_table(e, (const struct pshort *)kernel);
  vkernel_tiles(e, kernel);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct pshort *own = (const struct pshort *)kernel;
  const struct permute *permute = own->permute;
  enum dtype type = lower_get(kernel->job, "dtype")->dtype;
  for (unsigned i = 0; i < own->count; i++)
    emit_tensor(e, own->part[i].in.name, type, TENSOR_IN,
                own->count > 1 ? permute->in_shapes[i] : permute->in_shape, permute->in_rank, NULL);
  emit_tensor(e, "y", type, TENSOR_OUT, permute->out_shape, permute->out_rank, NULL);
}

/* ---- which rows ------------------------------------------------------------------------------ */

/* What comes in of a row: all of the row, or, where rows begin with blocks, the blocks needed. */
static struct part part_of(const struct permute *permute, const struct pshort_input *input,
                           uint64_t start) {
  uint64_t bytes = vtile_bytes(permute->type), c0 = BLOCK_BYTES / bytes;
  struct part part = {
      .in = {.name = input->name, .dtype = permute->type, .base = input->base},
      .row = input->row,
      .width = input->row,
      .first = input->first,
      .start = start,
  };
  if (input->row * bytes % BLOCK_BYTES == 0) {
    part.skip = input->first / c0 * c0;
    part.first -= part.skip;
    part.width = min_u64(input->row, round_up(input->first + input->columns, c0)) - part.skip;
  }
  return part;
}

static bool is_worth(const struct lower_job *job, const struct permute *permute,
                     const struct pshort_input *inputs, unsigned count, uint64_t all) {
  uint64_t bytes = vtile_bytes(permute->type);
  bool is_short = false;
  for (unsigned i = 0; i < count; i++)
    is_short |= inputs[i].columns * bytes < BLOCK_BYTES;
  return is_short && all >= ROWS_MIN && select_has(job->soc, OP_VGATHER) &&
         select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) &&
         (bytes == sizeof(uint16_t) || bytes == WORD_BYTES);
}

static bool keep_cheapest(struct lower_job *job, void *cycles) {
  *(uint64_t *)cycles = min_u64(*(uint64_t *)cycles, job->cost.total_cycles);
  return true;
}

/* Cycles of the cheapest tiling of what the job is now; UINT64_MAX: none is legal. */
static enum vinci_status cheapest(struct lower_job *job, uint64_t *cycles) {
  struct lower_value given[LOWER_KEYS_MAX];
  memcpy(given, job->value, sizeof given);
  *cycles = UINT64_MAX;
  enum vinci_status status = lower_each_tiling(job, true, keep_cheapest, cycles);
  memcpy(job->value, given, sizeof given);
  job->cost = (struct lower_cost){0};
  return status;
}

/* The gather, where the estimates say that it is cheaper than what there is. */
static enum vinci_status choose(struct lower_job *job, struct permute *permute,
                                struct vkernel *gather) {
  struct vkernel *before = permute->gather;
  uint64_t passes_cycles, gather_cycles = 0;
  enum vinci_status status = cheapest(job, &passes_cycles);
  permute->gather = gather;
  if (status == VINCI_OK)
    status = cheapest(job, &gather_cycles);
  if (passes_cycles <= gather_cycles)
    permute->gather = before;
  return status;
}

enum vinci_status permute_short_rows(struct lower_job *job, struct permute *permute,
                                     const struct pshort_input *inputs, unsigned count,
                                     uint64_t all) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = rows,
                                           .load = load,
                                           .compute = compute,
                                           .store = store};
  uint64_t bytes = vtile_bytes(permute->type), width = 0;
  if (!is_worth(job, permute, inputs, count, all))
    return VINCI_OK;
  struct pshort *own = vkernel_new(job, sizeof *own, &kind);
  job->data = permute;
  if (!own)
    return VINCI_E_NOMEM;
  for (unsigned i = 0; i < count; i++) {
    own->part[i] = part_of(permute, &inputs[i], own->out_row);
    own->out_row += inputs[i].columns;
    width += own->part[i].width;
  }
  own->permute = permute;
  own->type = permute->type;
  own->count = count;
  own->kernel.code = permute->code;
  own->kernel.element_bytes = max_u64(width, own->out_row) * bytes;
  own->out = (struct vtile_operand){.name = "y", .dtype = permute->type};
  own->unit = BLOCK_BYTES;
  while (own->unit > 1 && own->unit / 2 * own->out_row * bytes % BLOCK_BYTES == 0)
    own->unit /= 2;
  own->kernel.tile.space.rows = own->kernel.tile.rows = 1;
  own->kernel.tile.space.cols = all;
  own->kernel.tile.buffers = 1;
  own->kernel.tile.cols = min_u64(all, own->unit);
  if (width * bytes > ROW_BYTES_MAX || !vtile_fits(job, &own->kernel.tile))
    return VINCI_OK;
  return choose(job, permute, &own->kernel);
}
