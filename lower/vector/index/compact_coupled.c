/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masked_select and nonzero on coupled cores, which cannot wait for each other, and copy whole
 * blocks of 32 bytes alone.
 *
 * The first kernel packs: each block stores what its tiles keep one after the other, each over what
 * the one before has written too much, and leaves a count. The second kernel joins: a core has
 * parts of y, whose pieces it takes from what the blocks of the first kernel have left, puts one
 * behind the other into a place of its own, and stores as one run, so that no two cores write one
 * block of y.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/index/compact.h"
#include "lower/vector/unit.h"

enum {
  JOIN_UNIT = 128, /* elements that become 64-bit at once, and whole blocks of any type */
  JOIN_MAX = 4096,
  JOIN_FLAG = 0,
  PLACE_FLAG = 1,
  BLOCK_WORDS = BLOCK_BYTES / COMPACT_WORD,
};

/* ---- tilings --------------------------------------------------------------------------------- */

static uint64_t lay_out_joining(struct compact *c) {
  uint64_t used = 0, all = round_up(c->joined, JOIN_UNIT), words = all * COMPACT_WORD;
  c->counts = vtile_reserve(&used, COMPACT_PITCH * c->kernel.tile.blocks);
  c->at = vtile_reserve(&used, all * vtile_bytes(c->packed) + BLOCK_BYTES);
  if (!c->selects) {
    c->quotient = vtile_reserve(&used, words);
    c->rest = vtile_reserve(&used, words);
    c->pairs = vtile_reserve(&used, words);
    c->longs = vtile_reserve(&used, all * sizeof(int64_t));
    c->index = vtile_reserve(&used, all * sizeof(int64_t));
  }
  return used;
}

/* Parts of y, each of whole blocks but the last, which has enough of a row of indices for a block.
 */
static void set_parts(struct compact *c) {
  const struct vinci_soc *soc = c->kernel.job->soc;
  uint64_t share = round_up(ceil_div(c->count, c->kernel.job->cores), JOIN_UNIT);
  c->joined = min_u64(share, JOIN_MAX);
  if (!c->selects)
    c->joined = vtile_long_rest(soc, c->count, c->joined, sizeof(int64_t));
  c->joiners = min_u64(c->kernel.job->cores, ceil_div(c->count, c->joined));
}

void compact_coupled_lay_out(struct vtile *tile) {
  struct compact *c = (struct compact *)tile;
  compact_sorted_lay_out(tile);
  set_parts(c);
  tile->ub_bytes = max_u64(tile->ub_bytes, lay_out_joining(c));
}

bool compact_coupled_walks(struct lower_job *job, const struct vkernel *kernel) {
  return kernel->tile.cols <= COMPACT_CHUNK ||
         lower_refuse(job, "a tile has at most %d columns", COMPACT_CHUNK);
}

/* Bytes of the workspace for what a block keeps at most, and what is written too much. */
static uint64_t part_bytes(const struct compact *c) {
  const struct vtile *tile = &c->kernel.tile;
  return tile->per_block * tile->cols * vtile_bytes(c->packed) + BLOCK_BYTES;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Where in the workspace a block's next element goes. */
static struct expr part_end(struct emit *e, const struct compact *c) {
  return x_add(x_at(x_name(e, "work"), x_name(e, "blk"), part_bytes(c)),
               x_mul(x_name(e, "done"), vtile_bytes(c->packed)));
}

/* Whole blocks, the last of which has more; what follows goes there later. */
static void put_blocks(struct emit *e, struct expr to, struct expr from, struct expr bytes) {
  emit_barrier(e, PIPE_MTE3);
  EMIT(e, "copy_ubuf_to_gm", F("dst", to), F("src", from),
       F("len_burst", x_ceil_div(bytes, BLOCK_BYTES)));
}

void compact_put_part(struct emit *e, const struct compact *c, struct expr from, struct expr kept) {
  put_blocks(e, part_end(e, c), from, x_mul(kept, vtile_bytes(c->packed)));
}

/* What all tiles share. Whole blocks leave, of which what is kept may be a part. */
static void put_start(struct emit *e, const struct compact *c) {
  vmask_count(e, c->kernel.tile.ub_bytes / COMPACT_WORD);
  vfill(e, 0, 0, "int32");
  emit_barrier(e, PIPE_V);
  compact_sorted_start(e, c);
}

/* The count of the block; behind what the block keeps something is written, which may be read. */
static void put_count(struct emit *e, const struct compact *c) {
  emit_comment(e, "The count of the block.");
  emit_barrier(e, PIPE_ALL);
  vmask_count(e, BLOCK_WORDS);
  vfill(e, c->kept, x_name(e, "done"), "int32");
  emit_handshake(e, PIPE_V, PIPE_MTE3, COMPACT_MOVE_FLAG);
  put_blocks(e, part_end(e, c), EXPR(c->kept), EXPR(BLOCK_BYTES));
  put_blocks(e, x_at(x_name(e, "counts"), x_name(e, "blk"), COMPACT_PITCH), EXPR(c->kept),
             EXPR(BLOCK_BYTES));
}

static void put_packing(struct emit *e, struct compact *c) {
  const struct vtile *tile = &c->kernel.tile;
  const uint64_t run = tile->per_block * tile->cols;
  c->base = emit_assigned(e, "base", x_min(tile->space.cols, x_mul(x_name(e, "blk"), run)));
  put_start(e, c);
  compact_put_tiles(e, c);
  put_count(e, c);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Elements of y from one to another, which block b of the first kernel has. */
static void put_piece(struct emit *e, const struct compact *c, struct expr b, struct expr from,
                      struct expr to) {
  const uint64_t bytes = vtile_bytes(c->packed);
  struct expr count = compact_read_count(e, c, b), before = x_name(e, "before");
  struct expr low = emit_assigned(e, "low", x_max(from, before));
  struct expr high = emit_assigned(e, "high", x_min(to, x_add(before, count)));
  emit_if(e, "piece", x_gt(high, low));
  struct expr length = x_mul(x_sub(high, low), bytes);
  EMIT(e, "copy_gm_to_ubuf", F("dst", c->at),
       F("src", x_add(x_at(x_name(e, "work"), b, part_bytes(c)), x_mul(x_sub(low, before), bytes))),
       F("len_burst", x_ceil_div(length, BLOCK_BYTES)));
  emit_handshake(e, PIPE_MTE2, PIPE_MTE3, JOIN_FLAG);
  put_blocks(e, x_add(x_name(e, "place"), x_mul(x_sub(low, from), bytes)), EXPR(c->at), length);
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, JOIN_FLAG);
  emit_end(e);
  emit_change(e, "before", x_add(before, count));
}

/* The elements of y from one to another: pieces, which come back as one run. */
static void put_joined(struct emit *e, const struct compact *c, struct expr from, struct expr to) {
  const uint64_t bytes = vtile_bytes(c->packed);
  /* Behind the elements of y something is written, which is read with the last block. */
  put_blocks(e, x_add(x_name(e, "place"), x_mul(x_sub(to, from), bytes)), EXPR(c->at),
             EXPR(BLOCK_BYTES));
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, PLACE_FLAG);
  emit_assigned(e, "before", EXPR(0));
  put_piece(e, c, emit_for(e, "p", c->kernel.tile.blocks), from, to);
  emit_end(e);
  struct expr count = emit_assigned(e, "elements", x_sub(to, from));
  vtile_load_run(e, c->packed, EXPR(c->at), x_name(e, "place"), count);
  compact_put_moved(e, c, from, count, JOIN_FLAG);
}

/* All blocks together have to keep as many elements as y has. */
static void put_total(struct emit *e, const struct compact *c) {
  emit_assigned(e, "elements_of_y", EXPR(0));
  struct expr count = compact_read_count(e, c, emit_for(e, "b", c->kernel.tile.blocks));
  emit_change(e, "elements_of_y", x_add(x_name(e, "elements_of_y"), count));
  emit_end(e);
  emit_expect(e, "elements_of_y", c->count);
}

static void put_joining(struct emit *e, const struct compact *c) {
  const uint64_t parts = ceil_div(c->count, c->joined), per = ceil_div(parts, c->joiners);
  const uint64_t pitch = c->joined * vtile_bytes(c->packed) + BLOCK_BYTES;
  vmask_count(e, c->kernel.tile.ub_bytes / COMPACT_WORD);
  vfill(e, 0, 0, "int32");
  emit_handshake(e, PIPE_V, PIPE_MTE2, JOIN_FLAG);
  compact_load_counts(e, c);
  emit_handshake(e, PIPE_MTE2, PIPE_S, JOIN_FLAG);
  put_total(e, c);
  emit_assigned(e, "place", x_at(x_name(e, "joined"), x_name(e, "blk"), pitch));
  struct expr begin = emit_assigned(e, "begin", x_mul(x_name(e, "blk"), per));
  struct expr part = emit_for(e, "part", x_max(0, x_rest(per, parts, begin)));
  struct expr from = emit_assigned(e, "from", x_mul(x_add(begin, part), c->joined));
  struct expr to = emit_assigned(e, "to", x_min(c->count, x_add(from, c->joined)));
  put_joined(e, c, from, to);
  emit_end(e);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void put_workspace(struct emit *e, const struct compact *c) {
  const uint64_t blocks = c->kernel.tile.blocks;
  emit_vector(e, "work", DTYPE_UINT8, TENSOR_WORKSPACE, blocks * part_bytes(c));
  emit_vector(e, "counts", DTYPE_INT32, TENSOR_WORKSPACE, blocks * COMPACT_PITCH / COMPACT_WORD);
}

static void put_pack_kernel(struct emit *e, struct compact *c) {
  const struct lower_value *shape = lower_get(c->kernel.job, "shape");
  emit_kernel(e, "pack", (uint32_t)c->kernel.tile.blocks);
  emit_tensor(e, "x", c->x.dtype, TENSOR_IN, shape->shape, shape->rank, NULL);
  if (c->selects)
    emit_tensor(e, "mask", DTYPE_UINT8, TENSOR_IN, shape->shape, shape->rank, NULL);
  put_workspace(e, c);
  vkernel_stream(e, c->kernel.tile.ub_bytes, c->kernel.code);
  emit_plain(e, "set_mask_count");
  put_packing(e, c);
}

static void put_join_kernel(struct emit *e, struct compact *c) {
  const uint64_t found[] = {lower_get(c->kernel.job, "shape")->rank, c->count};
  emit_kernel(e, c->kernel.job->op->name, (uint32_t)c->joiners);
  put_workspace(e, c);
  emit_vector(e, "joined", DTYPE_UINT8, TENSOR_WORKSPACE,
              c->joiners * (c->joined * vtile_bytes(c->packed) + BLOCK_BYTES));
  if (c->selects)
    emit_vector(e, "y", c->packed, TENSOR_OUT, c->count);
  else
    emit_tensor(e, "y", DTYPE_INT64, TENSOR_OUT, found, 2, NULL);
  vkernel_stream(e, c->kernel.tile.ub_bytes, c->kernel.code);
  emit_plain(e, "set_mask_count");
  put_joining(e, c);
}

void compact_coupled_emit(const struct lower_job *job, struct emit *e) {
  struct compact *c = job->data;
  e->shared = true;
  vtile_settle(job, &c->kernel.tile);
  put_pack_kernel(e, c);
  put_join_kernel(e, c);
}
