/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masked_select and nonzero: results whose size depends on the data. As the vendor's kernel
 * (ops-math, masked_select_v3), each block packs what it keeps of its tiles into its own part of a
 * workspace and leaves its count there; all meet; each adds up the counts of the blocks before its
 * own, and moves its part to where it belongs. On coupled cores, which cannot meet, this is a
 * second kernel (compact_coupled.c). nonzero packs numbers of elements in the same way, and then
 * makes indices of them.
 *
 * How many elements are kept is an argument. Where they are is up to the data: with values the
 * scalar unit reads the counts, and addresses follow. Without values they are taken to be spread
 * evenly: of the first i elements i * count / all are kept, rounded down, at each border of a tile.
 * Data that keep another number in all end the run with an error.
 *
 * The next tile comes in while the scalar unit waits for the count of a tile. What the scalar unit
 * takes to read a count is not published, and left out.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/index/compact.h"
#include "lower/vector/unit.h"

enum {
  SYNC_FLAG = 0,
  COUNT_FLAG = 3,     /* to the scalar unit */
  BIT_PAIR = 0x101,   /* times 0 or 1: a byte of that for each half of 64 bits */
  COLS_MAX = 16384,   /* whose bits, of 64-bit elements, are twice as many */
  UNIT = 512,         /* elements, so that the parts of cores begin at whole lines */
  EXACT_MAX = 1 << 24 /* fp32 numbers that many elements */
};

static const struct lower_key select_keys[] = {
    SHAPE_KEY("extents of x and mask"),
    LOWER_KEY("count", SIZE, NULL, "0",
              "how many elements the mask keeps, which data have to agree with"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int8|uint8|int16|int32|int64", "type of x and y"),
    VTILE_KEYS_TABLE};
static const struct lower_key nonzero_keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("count", SIZE, NULL, "0",
              "how many elements are not 0, which data have to agree with"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int8|uint8|int16|int32", "type of x"), VTILE_KEYS_TABLE};

struct compact_func {
  bool selects; /* elements of x by a mask; else the numbers of elements of x that are not 0 */
};

/* Instructions that pack work on words; 64-bit elements are two. */
static unsigned words_of(const struct compact *c) {
  return c->packed == DTYPE_INT64 && !c->coupled ? 2 : 1;
}

uint64_t compact_lay_out_slot(struct compact *c, uint64_t cols) {
  uint64_t slot = 0;
  c->x.address = vtile_reserve(&slot, cols * vtile_bytes(c->x.dtype));
  c->mask.address = c->selects ? vtile_reserve(&slot, cols) : 0;
  c->out = vtile_reserve(&slot, cols * vtile_bytes(c->packed));
  return slot;
}

static void lay_out(struct vtile *tile) {
  struct compact *c = (struct compact *)tile;
  uint64_t cols = tile->cols;
  tile->slot_bytes = compact_lay_out_slot(c, cols);
  uint64_t used = tile->slot_bytes * tile->buffers;
  c->wide = vtile_reserve(&used, cols * COMPACT_WORD);
  c->bits = vtile_reserve(&used, cols * words_of(c) / BITS_PER_BYTE + BLOCK_BYTES);
  if (!c->selects) {
    c->table = vtile_reserve(&used, cols * COMPACT_WORD);
    c->numbers = vtile_reserve(&used, cols * COMPACT_WORD);
  } else if (vtile_bytes(c->packed) != COMPACT_HALF && vtile_bytes(c->packed) != COMPACT_WORD) {
    c->numbers = vtile_reserve(&used, cols * COMPACT_HALF);
    c->thin = vtile_reserve(&used, cols * COMPACT_HALF);
  }
  uint64_t later = 0;
  c->at = vtile_reserve(&later, cols * vtile_bytes(c->packed));
  if (!c->selects) {
    c->quotient = vtile_reserve(&later, cols * COMPACT_WORD);
    c->rest = vtile_reserve(&later, cols * COMPACT_WORD);
    c->index = vtile_reserve(&later, cols * sizeof(int64_t));
  }
  used = max_u64(used, later);
  c->counts = vtile_reserve(&used, COMPACT_PITCH * (tile->blocks + 1));
  tile->ub_bytes = used;
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  const struct compact *c = (const struct compact *)kernel;
  const uint64_t cols_max = c->coupled ? COMPACT_CHUNK : COLS_MAX;
  struct vtile *tile = &kernel->tile;
  tile->rows = 1;
  tile->blocks = job->cores;
  uint64_t most = UNIT * vtile_most_cols(job, tile, UNIT, 1, cols_max / UNIT);
  vtile_split_run(job->soc, job->cores, tile, (unsigned)kernel->element_bytes,
                  max_u64(most >> halvings, UNIT));
}

/* ---- a tile ---------------------------------------------------------------------------------- */

void compact_convert(struct emit *e, enum dtype from, enum dtype to, struct expr dst,
                     struct expr src) {
  struct vunit unit = {.emit = e};
  vunit_convert(&unit, 0, 0, from, to, dst, src);
  emit_barrier(e, PIPE_V);
}

/* Both bytes of each mask of 16 bits, as two elements of fp16: one for each half of 64 bits. */
static void double_mask(struct emit *e, const struct compact *c, struct expr count) {
  compact_convert(e, DTYPE_FP16, DTYPE_INT16, EXPR(c->wide), EXPR(c->wide));
  EMIT(e, "vmuls", F("dst", c->thin), F("src", c->wide), F("scalar", BIT_PAIR), F("repeat", 1),
       W("type", "int16"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, x_mul(count, 2));
  compact_convert(e, DTYPE_UINT8, DTYPE_FP16, EXPR(c->wide), EXPR(c->thin));
}

void compact_put_bits(struct emit *e, const struct compact *c) {
  struct expr count = c->kernel.tile.n_cols;
  const struct vtile_operand *from = c->selects ? &c->mask : &c->x;
  struct expr at = x_add(c->kernel.tile.slot, from->address);
  enum dtype type = from->dtype;
  if (type == DTYPE_INT16 && c->coupled) {
    at = compact_put_bytes(e, c, at);
    type = DTYPE_FP16;
  } else if (type != DTYPE_FP16 && type != DTYPE_FP32) {
    enum dtype wide = compact_is_byte(type) ? DTYPE_FP16 : DTYPE_FP32;
    compact_convert(e, type, wide, EXPR(c->wide), at);
    at = EXPR(c->wide);
    type = wide;
  }
  if (words_of(c) > 1)
    double_mask(e, c, count);
  EMIT(e, "vcmpvs_ne", F("dst", c->bits), F("src", at), F("scalar", 0), F("repeat", 1),
       W("type", dtype_name(type)));
  emit_barrier(e, PIPE_V);
}

/* dst = those of src that have a bit, one behind the other. */
static void pack(struct emit *e, const struct compact *c, enum dtype type, struct expr dst,
                 struct expr src) {
  EMIT(e, "vreducev2", F("dst", dst), F("src0", src), F("src1", c->bits), F("repeat", 1),
       F("pattern", 0), W("type", dtype_name(type)));
}

static void compute(struct emit *e, const struct compact *c) {
  const struct vtile *tile = &c->kernel.tile;
  struct expr x = x_add(tile->slot, c->x.address), out = x_add(tile->slot, c->out);
  emit_barrier(e, PIPE_V); /* the tile before reads what follows writes */
  vmask_count(e, tile->n_cols);
  if (!c->selects)
    EMIT(e, "vadds", F("dst", c->numbers), F("src", c->table), F("scalar", tile->col),
         F("repeat", 1), W("type", "int32"));
  else if (compact_is_byte(c->packed))
    compact_convert(e, c->packed, DTYPE_FP16, EXPR(c->numbers), x);
  compact_put_bits(e, c);
  if (c->selects && compact_is_byte(c->packed)) {
    pack(e, c, DTYPE_FP16, EXPR(c->thin), EXPR(c->numbers));
    emit_barrier(e, PIPE_V);
    compact_convert(e, DTYPE_FP16, c->packed, out, EXPR(c->thin));
  } else {
    pack(e, c, vtile_bytes(c->packed) == COMPACT_HALF ? DTYPE_UINT16 : DTYPE_UINT32, out,
         c->selects ? x : EXPR(c->numbers));
  }
}

/* How many of the first elements are kept. */
static struct expr kept_before(const struct compact *c, struct expr element) {
  return x_div(x_mul(element, c->count), c->kernel.tile.space.cols);
}

/* How many of the elements between two are taken to be kept. */
static struct expr kept_between(const struct compact *c, struct expr begin, struct expr end) {
  return x_sub(kept_before(c, end), kept_before(c, begin));
}

/* Where tile i of the block is, and in which buffer. */
static void put_position(struct emit *e, struct compact *c, struct expr i) {
  struct vtile *tile = &c->kernel.tile;
  struct expr slot = x_mod(i, tile->buffers), all = EXPR(tile->space.cols);
  tile->col = emit_assigned(e, "col", x_add(c->base, x_mul(i, tile->cols)));
  tile->n_cols = emit_assigned(e, "n_cols", x_rest(tile->cols, all, tile->col));
  tile->slot = emit_named(e, "slot", x_mul(slot, tile->slot_bytes));
  tile->flag_id = emit_named(e, "flag", slot);
  tile->row = EXPR(0);
  tile->n_rows = EXPR(1);
}

static void put_load(struct emit *e, const struct compact *c) {
  const struct vtile *tile = &c->kernel.tile;
  emit_wait(e, PIPE_V, PIPE_MTE2, tile->flag_id);
  vkernel_load(e, &c->kernel);
  emit_set(e, PIPE_MTE2, PIPE_V, tile->flag_id);
}

static void put_compute(struct emit *e, const struct compact *c) {
  const struct vtile *tile = &c->kernel.tile;
  emit_wait(e, PIPE_MTE2, PIPE_V, tile->flag_id);
  emit_wait(e, PIPE_MTE3, PIPE_V, tile->flag_id);
  (c->coupled ? compact_squeeze : compute)(e, c);
  emit_set(e, PIPE_V, PIPE_MTE2, tile->flag_id);
  emit_set(e, PIPE_V, PIPE_MTE3, tile->flag_id);
  emit_set(e, PIPE_V, PIPE_S, COUNT_FLAG);
}

/* What the tile before keeps, behind what those before that have kept. */
static void put_store(struct emit *e, const struct compact *c, struct expr kept, struct expr i) {
  const struct vtile *tile = &c->kernel.tile;
  struct expr done = x_name(e, "done"), slot = x_mod(x_sub(i, 1), tile->buffers);
  struct expr from = x_add(x_mul(slot, tile->slot_bytes), c->out);
  emit_wait(e, PIPE_V, PIPE_MTE3, slot);
  emit_if(e, "some", x_gt(kept, 0));
  if (c->coupled)
    compact_put_part(e, c, from, kept);
  else
    vtile_store_run(e, c->packed,
                    x_at(x_name(e, "work"), x_add(c->base, done), vtile_bytes(c->packed)), from,
                    kept);
  emit_end(e);
  emit_set(e, PIPE_MTE3, PIPE_V, slot);
  emit_change(e, "done", x_add(done, kept));
}

static void put_leaving(struct emit *e, const struct compact *c, struct expr i) {
  emit_if(e, "leaves", x_gt(i, 0));
  put_store(e, c, x_name(e, "kept"), i);
  emit_end(e);
}

static struct expr read_kept(struct emit *e, const struct compact *c, struct expr expected) {
  return x_div(emit_read_taken(e, "taken", x_mul(expected, words_of(c))), words_of(c));
}

/* With one buffer the vector unit waits for the tile before to leave, which is issued behind all
 * that the vector unit is given, unless its queue has no room for that. */
static bool leaves_first(const struct emit *e, const struct compact *c) {
  enum { COMPUTE_ROWS = 24 }; /* at most, of compute() and the flags around its rows */
  return c->kernel.tile.buffers == 1 &&
         (c->coupled || soc_queue_depth(e->soc, PIPE_V) < COMPUTE_ROWS);
}

/* In a turn a tile comes in, the count of the tile before is read, the
 * vector unit goes on, and the tile before leaves. */
void compact_put_tiles(struct emit *e, struct compact *c) {
  struct vtile *tile = &c->kernel.tile;
  const uint64_t per = tile->per_block, cols = tile->cols;
  struct expr mine = x_max(0, x_min(per, x_sub(tile->tiles, x_mul(x_name(e, "blk"), per))));
  mine = emit_assigned(e, "mine", mine);
  emit_assigned(e, "done", EXPR(0));
  vtile_ends(e, tile, true);
  struct expr i = emit_for(e, "i", x_add(mine, 1));
  put_position(e, c, i);
  emit_if(e, "comes", x_lt(i, mine));
  put_load(e, c);
  emit_end(e);
  emit_assigned(e, "kept", EXPR(0));
  emit_if(e, "counted", x_gt(i, 0));
  emit_wait(e, PIPE_V, PIPE_S, COUNT_FLAG);
  struct expr kept = kept_between(c, x_sub(tile->col, cols), x_min(tile->space.cols, tile->col));
  emit_change(e, "kept", c->coupled ? compact_read_kept(e, c, kept) : read_kept(e, c, kept));
  emit_end(e);
  if (leaves_first(e, c))
    put_leaving(e, c, i);
  emit_if(e, "computes", x_lt(i, mine));
  put_compute(e, c);
  emit_end(e);
  if (!leaves_first(e, c))
    put_leaving(e, c, i);
  emit_end(e);
  vtile_ends(e, tile, false);
}

/* ---- the second pass ------------------------------------------------------------------------- */

void compact_load_counts(struct emit *e, const struct compact *c) {
  EMIT(e, vtile_copy_name(false, DTYPE_INT32), F("dst", c->counts), F("src", x_name(e, "counts")),
       F("n_burst", c->kernel.tile.blocks), F("len_burst", BLOCK_BYTES),
       F("src_gap", COMPACT_PITCH - BLOCK_BYTES), F("dst_gap", COMPACT_PITCH / BLOCK_BYTES - 1));
}

/* The count of each block, 64 bytes apart; the block reads those of all. */
static void put_counts(struct emit *e, const struct compact *c) {
  const uint64_t blocks = c->kernel.tile.blocks, mine = c->counts + blocks * COMPACT_PITCH;
  emit_comment(e, "Blocks leave their counts, meet, and read the counts of all.");
  emit_barrier(e, PIPE_ALL);
  vmask_count(e, BLOCK_BYTES / COMPACT_WORD);
  vfill(e, mine, x_name(e, "done"), "int32");
  emit_handshake(e, PIPE_V, PIPE_MTE3, COMPACT_MOVE_FLAG);
  vtile_store_run(e, DTYPE_INT32, x_at(x_name(e, "counts"), x_name(e, "blk"), COMPACT_PITCH),
                  EXPR(mine), EXPR(BLOCK_BYTES / COMPACT_WORD));
  emit_meet(e, SYNC_FLAG);
  compact_load_counts(e, c);
  emit_handshake(e, PIPE_MTE2, PIPE_S, COMPACT_MOVE_FLAG);
}

struct expr compact_read_count(struct emit *e, const struct compact *c, struct expr b) {
  const struct vtile *tile = &c->kernel.tile;
  const uint64_t run = tile->per_block * tile->cols, all = tile->space.cols;
  return emit_read_word(
      e, "count", kept_between(c, x_min(all, x_mul(b, run)), x_min(all, x_mul(x_add(b, 1), run))),
      x_at(c->counts, b, COMPACT_PITCH), DTYPE_INT32);
}

/* How many elements the blocks before this one have kept, and that all together have kept as many
 * as y has. */
static void put_sums(struct emit *e, const struct compact *c) {
  emit_assigned(e, "before", EXPR(0));
  emit_assigned(e, "elements_of_y", EXPR(0));
  struct expr b = emit_for(e, "b", c->kernel.tile.blocks);
  struct expr count = compact_read_count(e, c, b);
  emit_change(e, "before", x_add(x_name(e, "before"), x_mul(count, x_lt(b, x_name(e, "blk")))));
  emit_change(e, "elements_of_y", x_add(x_name(e, "elements_of_y"), count));
  emit_end(e);
  emit_expect(e, "elements_of_y", c->count);
}

void compact_put_moved(struct emit *e, const struct compact *c, struct expr place,
                       struct expr count, uint64_t flag) {
  if (c->selects) {
    emit_handshake(e, PIPE_MTE2, PIPE_MTE3, flag);
    vtile_store_run(e, c->packed, x_at(x_name(e, "y"), place, vtile_bytes(c->packed)), EXPR(c->at),
                    count);
    emit_handshake(e, PIPE_MTE3, PIPE_MTE2, flag);
  } else {
    emit_handshake(e, PIPE_MTE2, PIPE_V, flag);
    compact_put_indices(e, c, place, count);
    emit_handshake(e, PIPE_V, PIPE_MTE2, flag);
  }
}

static void put_moves(struct emit *e, const struct compact *c) {
  const uint64_t cols = c->kernel.tile.cols, bytes = vtile_bytes(c->packed);
  struct expr mine = x_name(e, "done"), before = x_name(e, "before");
  struct expr moved = x_mul(emit_for(e, "m", x_ceil_div(mine, cols)), cols);
  struct expr part = emit_assigned(e, "part", x_rest(cols, mine, moved));
  struct expr place = emit_assigned(e, "place", x_add(before, moved));
  vtile_load_run(e, c->packed, EXPR(c->at), x_at(x_name(e, "work"), x_add(c->base, moved), bytes),
                 part);
  compact_put_moved(e, c, place, part, COMPACT_MOVE_FLAG);
  emit_end(e);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  struct compact *c = (struct compact *)kernel;
  const struct vtile *tile = &kernel->tile;
  const uint64_t run = tile->per_block * tile->cols, all = tile->space.cols;
  c->base = emit_assigned(e, "base", x_min(all, x_mul(x_name(e, "blk"), run)));
  if (!c->selects) {
    const struct vtable table = vtable_series(c->table, 1);
    vtables_fill(e, &table, 1, tile->cols);
    emit_barrier(e, PIPE_V);
  }
  compact_put_tiles(e, c);
  put_counts(e, c);
  put_sums(e, c);
  put_moves(e, c);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct compact *c = (struct compact *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const uint64_t found[] = {shape->rank, c->count}, words = COMPACT_PITCH / COMPACT_WORD;
  emit_tensor(e, "x", c->x.dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  if (c->selects) {
    emit_tensor(e, "mask", DTYPE_UINT8, TENSOR_IN, shape->shape, shape->rank, NULL);
    emit_vector(e, "y", c->packed, TENSOR_OUT, c->count);
  } else {
    emit_tensor(e, "y", DTYPE_INT64, TENSOR_OUT, found, 2, NULL);
  }
  emit_vector(e, "work", c->packed, TENSOR_WORKSPACE, kernel->tile.space.cols);
  emit_vector(e, "counts", DTYPE_INT32, TENSOR_WORKSPACE, kernel->tile.blocks * words);
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum vinci_status check(struct lower_job *job, const struct compact *c, uint64_t all) {
  if (c->count == 0 || c->count > all)
    return lower_error(job, "count is from 1 to the %" PRIu64 " elements", all);
  if (all > INT32_MAX)
    return lower_error(job, "%" PRIu64 " elements are more than int32 can number", all);
  if (!c->selects && lower_get(job, "shape")->rank > 1 && all > EXACT_MAX)
    return lower_error(job, "indices of several dimensions are for up to 2^24 elements");
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind split_cores = {
      .halvings = 3, .lay_out = lay_out, .split = split, .tensors = tensors, .rows = put_rows};
  static const struct vkernel_kind coupled = {.halvings = 3,
                                              .lay_out = compact_coupled_lay_out,
                                              .split = split,
                                              .walks = compact_coupled_walks};
  const struct lower_value *shape = lower_get(job, "shape");
  bool is_coupled = arch_is_coupled(job->soc->arch);
  struct compact *c = vkernel_new(job, sizeof *c, is_coupled ? &coupled : &split_cores);
  if (!c)
    return VINCI_E_NOMEM;
  enum dtype type = lower_get(job, "dtype")->dtype;
  uint64_t all = lower_elements(shape->shape, shape->rank);
  c->coupled = is_coupled;
  c->selects = ((const struct compact_func *)job->op->spec)->selects;
  c->packed = c->selects ? type : DTYPE_INT32;
  c->count = lower_get(job, "count")->size;
  c->x = (struct vtile_operand){.name = "x", .dtype = type, .col_stride = 1};
  c->mask = (struct vtile_operand){.name = "mask", .dtype = DTYPE_UINT8, .col_stride = 1};
  struct vkernel *kernel = &c->kernel;
  kernel->tile.space.rows = 1;
  kernel->tile.space.cols = all;
  kernel->code = KERNEL_SLICE; /* as the other operators on indices */
  kernel->element_bytes = vtile_bytes(type);
  kernel->in[0] = &c->x;
  kernel->in[1] = c->selects ? &c->mask : NULL;
  return check(job, c, all);
}

/* x and mask, of which a profile has y with as many elements as there were, or as there could be.
 */
static bool call_select(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *mask = &call->input[1], *y = &call->output[0];
  if (call->input_count < 2 || call->output_count == 0 || x->rank == 0 || y->rank == 0)
    return lower_cannot(call, "x, a mask and a result are needed");
  if (lower_elements(mask->shape, mask->rank) != lower_elements(x->shape, x->rank))
    return lower_cannot(call, "a mask that is repeated over x is not modelled");
  lower_arg_tensor(call, x);
  lower_arg(call, "count=%" PRIu64, lower_elements(y->shape, y->rank));
  return true;
}

static bool call_nonzero(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || y->rank == 0)
    return lower_cannot(call, "x and a result are needed");
  uint64_t found = lower_elements(y->shape, y->rank);
  if (found % x->rank != 0)
    return lower_cannot(call, "%" PRIu64 " indices are not %u for each element", found, x->rank);
  lower_arg_tensor(call, x);
  lower_arg(call, "count=%" PRIu64, found / x->rank);
  return true;
}

static void emit(const struct lower_job *job, struct emit *e) {
  if (((const struct compact *)job->data)->coupled)
    compact_coupled_emit(job, e);
  else
    vkernel_emit(job, e);
}

static const struct lower_template template = {setup, vkernel_candidate, vkernel_cost, emit};
#define COMPACT(id, vendor, summary, keys, from_tensors, ...)                                      \
  LOWER_OPERATOR(id, vendor, summary, keys, &template,                                             \
                 (&(const struct compact_func){__VA_ARGS__}), from_tensors)

COMPACT(masked_select, "MaskedSelect|MaskedSelectV2|MaskedSelectV3",
        "y = elements of x whose mask, a byte, is not 0; for times, of the first i of all elements "
        "i * count / all are taken to be kept",
        select_keys, call_select, .selects = true)
COMPACT(
    nonzero, "NonZero",
    "y = indices of the elements of x that are not 0, a row for each dimension; for times, of the "
    "first i of all elements i * count / all are taken to be such",
    nonzero_keys, call_nonzero, .selects = false)
