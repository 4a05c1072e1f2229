/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masked_select and nonzero on coupled cores: what is kept of a tile, by sorting. The 910A has no
 * instruction that packs lanes, and vreduce of the 310P takes the bits of each repeat from a block
 * of their own, where comparisons leave bits one behind the other.
 *
 * What moves elements to places that depend on data on these chips are region proposals. A tile of
 * up to 2048 elements becomes as many proposals, whose score is the negative number of the element
 * where that is kept, and minus infinity elsewhere; sorted, they have what is kept at their begin,
 * in order. A proposal carries 16-bit numbers, so that wider elements travel as halves: squares of
 * 16 blocks are transposed to take these apart, and to put them together again. The sort is most of
 * the time. The scalar unit would move an element at a time, with a wait for the vector unit each.
 */
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/vector/index/compact.h"
#include "lower/vector/index/sort.h"

enum {
  UNIT = 512, /* elements of whole repeats and squares */
  PROPOSAL_BYTES = PROPOSAL_ELEMENTS * COMPACT_HALF,
  SIDE = 16, /* blocks of a square */
  SQUARE_BYTES = SIDE * BLOCK_BYTES,
  LANES = 128, /* of fp16 in a repeat */
};

/* Halves of an element that proposals carry; numbers of elements are their scores. */
static unsigned halves_of(const struct compact *c) {
  if (!c->selects)
    return 0;
  return compact_is_byte(c->packed) ? 1 : vtile_bytes(c->packed) / COMPACT_HALF;
}

void compact_sorted_lay_out(struct vtile *tile) {
  struct compact *c = (struct compact *)tile;
  uint64_t cols = c->chunk = round_up(tile->cols, UNIT), halves = cols * COMPACT_HALF;
  unsigned parts = halves_of(c);
  tile->slot_bytes = compact_lay_out_slot(c, cols);
  uint64_t used = tile->slot_bytes * tile->buffers;
  c->wide = vtile_reserve(&used, cols * COMPACT_WORD);
  c->bits = vtile_reserve(&used, cols / BITS_PER_BYTE + BLOCK_BYTES);
  c->table = vtile_reserve(&used, halves);
  c->scores = vtile_reserve(&used, halves);
  c->parts = vtile_reserve(&used, halves);
  c->last = vtile_reserve(&used, BLOCK_BYTES);
  c->one = vtile_reserve(&used, BLOCK_BYTES);
  c->none = vtile_reserve(&used, BLOCK_BYTES);
  c->ones = vtile_reserve(&used, halves);
  c->sums = vtile_reserve(&used, 2 * BLOCK_BYTES);
  c->kept = vtile_reserve(&used, BLOCK_BYTES);
  c->halves = parts > 0 ? vtile_reserve(&used, parts * halves) : 0;
  c->squares = parts > 1 ? vtile_reserve(&used, parts * halves) : 0;
  for (unsigned i = 0; i < 2; i++)
    c->proposals[i] = vtile_reserve(&used, cols * PROPOSAL_BYTES);
  tile->ub_bytes = used;
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* The negative number of each element of a tile; blocks of one number. UB is cleared, as proposals
 * and squares are whole, of which a tile may have a part. */
void compact_sorted_start(struct emit *e, const struct compact *c) {
  const struct vtable table = vtable_series(c->wide, 1);
  vtables_fill(e, &table, 1, c->chunk);
  emit_barrier(e, PIPE_V);
  vmask_count(e, c->chunk);
  compact_convert(e, DTYPE_INT32, DTYPE_FP32, EXPR(c->wide), EXPR(c->wide));
  compact_convert(e, DTYPE_FP32, DTYPE_FP16, EXPR(c->table), EXPR(c->wide));
  EMIT(e, "vmuls", F("dst", c->table), F("src", c->table), F("scalar", vscalar(DTYPE_FP16, -1)),
       F("repeat", 1), W("type", "fp16"));
  vmask_count(e, SIDE);
  vfill(e, c->one, vscalar(DTYPE_FP16, 1), "fp16");
  vfill(e, c->last, vscalar(DTYPE_FP16, -(double)INFINITY), "fp16");
  emit_barrier(e, PIPE_V);
}

/* Of the elements of the tile with a bit, src, or one block of numbers, and another one elsewhere.
 */
static void put_choice(struct emit *e, const struct compact *c, uint64_t dst, uint64_t src,
                       bool one_block, uint64_t other) {
  EMIT(e, "vsel", F("dst", dst), F("src0", src), F("src1", other), F("mask", c->bits),
       F("repeat", 1), F_IF(one_block, "src0_block", 0), F("src1_block", 0),
       F_IF(one_block, "src0_repeat", 0), F("src1_repeat", 0), W("type", "fp16"));
  emit_barrier(e, PIPE_V);
}

struct expr compact_put_bytes(struct emit *e, const struct compact *c, struct expr x) {
  struct expr count = c->kernel.tile.n_cols;
  vmask_count(e, x_mul(count, 2));
  compact_convert(e, DTYPE_UINT8, DTYPE_FP16, EXPR(c->wide), x);
  EMIT(e, "vcpadd", F("dst", c->ones), F("src", c->wide), F("repeat", 1), W("type", "fp16"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, count);
  return EXPR(c->ones);
}

/* How many elements of the tile are kept; sums up to 2048 are exact in half precision. */
static void put_kept(struct emit *e, const struct compact *c) {
  const uint64_t sum = c->sums + BLOCK_BYTES;
  put_choice(e, c, c->ones, c->one, true, c->none);
  EMIT(e, "vcadd", F("dst", c->sums), F("src", c->ones), F("repeat", 1), W("type", "fp16"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, x_ceil_div(c->kernel.tile.n_cols, LANES));
  EMIT(e, "vcadd", F("dst", sum), F("src", c->sums), F("repeat", 1), W("type", "fp16"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, 1);
  compact_convert(e, DTYPE_FP16, DTYPE_INT32, EXPR(c->kept), EXPR(sum));
}

struct expr compact_read_kept(struct emit *e, const struct compact *c, struct expr expected) {
  return emit_read_word(e, "word", expected, EXPR(c->kept), DTYPE_INT32);
}

/* The scores of the tile. */
static void put_scores(struct emit *e, const struct compact *c) {
  vmask_count(e, c->chunk);
  vfill(e, c->scores, vscalar(DTYPE_FP16, -(double)INFINITY), "fp16");
  emit_barrier(e, PIPE_V);
  vmask_count(e, c->kernel.tile.n_cols);
  put_choice(e, c, c->scores, c->table, false, c->last);
}

/* ---- halves of elements ---------------------------------------------------------------------- */

/* Squares of 16 blocks: block i of repeat r lies at i * step + r * next blocks. */
struct square {
  struct expr at;
  unsigned step, next;
};

static void transpose(struct emit *e, uint64_t repeats, struct square dst, struct square src) {
  bool more = repeats > 1; /* the strides of a single repeat would be added to its addresses */
  EMIT(e, "scatter_vnchwconv_b16", F("dst", dst.at), F("src", src.at), F("repeat", repeats),
       F("dst_step", dst.step), F("src_step", src.step), F("dst_repeat", more ? dst.next : 0),
       F("src_repeat", more ? src.next : 0));
}

/*
 * With N halves in an element, every N-th block is a square. Transposed, row i of it has half i % N
 * of an element of each block. The rows of one half, of N such squares, are a square that is
 * transposed into 256 halves that follow each other. Backwards it is the same.
 */
static void put_halves(struct emit *e, const struct compact *c, struct expr x, bool apart) {
  const unsigned parts = halves_of(c);
  const uint64_t plane = c->chunk * COMPACT_HALF;
  const uint64_t repeats = plane / SQUARE_BYTES;
  for (unsigned stage = 0; stage < 2; stage++) {
    bool elements = (stage == 0) == apart;
    for (unsigned i = 0; i < parts; i++) {
      uint64_t at = i * BLOCK_BYTES;
      struct square whole = {x_add(x, at), parts, parts * SIDE};
      struct square half = {EXPR(c->halves + i * plane), 1, SIDE};
      struct square rows = {EXPR(c->squares + at), parts, parts * SIDE};
      struct square set = {EXPR(c->squares + i * SQUARE_BYTES), 1, parts * SIDE};
      if (elements)
        transpose(e, repeats, apart ? set : whole, apart ? whole : set);
      else
        transpose(e, repeats, apart ? half : rows, apart ? rows : half);
    }
    emit_barrier(e, PIPE_V);
  }
}

/* ---- proposals ------------------------------------------------------------------------------- */

static void put_field(struct emit *e, const struct compact *c, const char *inst, struct expr dst,
                      struct expr src, unsigned field) {
  EMIT(e, inst, F("dst", dst), F("src", src), F("repeat", c->chunk / PROPOSALS), F("field", field),
       W("type", "fp16"));
}

/* Where part i of the elements lies that proposals carry. */
static struct expr part_at(const struct compact *c, unsigned i, struct expr elements) {
  if (halves_of(c) == 1 && !compact_is_byte(c->packed))
    return elements;
  return EXPR(c->halves + i * c->chunk * COMPACT_HALF);
}

/* Proposals of all elements, sorted; returns where. */
static uint64_t put_sorted(struct emit *e, const struct compact *c, struct expr x) {
  const struct sort sort = {.work = DTYPE_FP16,
                            .entry = PROPOSAL_BYTES,
                            .chunk = c->chunk,
                            .a_at = c->proposals[0],
                            .b_at = c->proposals[1]};
  if (c->selects && compact_is_byte(c->packed)) {
    vmask_count(e, c->kernel.tile.n_cols);
    compact_convert(e, c->packed, DTYPE_FP16, EXPR(c->halves), x);
  } else if (halves_of(c) > 1) {
    put_halves(e, c, x, true);
  }
  for (unsigned i = 0; i < halves_of(c); i++)
    put_field(e, c, "vconcat", EXPR(sort.a_at), part_at(c, i, x), i);
  put_field(e, c, "vconcat", EXPR(sort.a_at), EXPR(c->scores), PROPOSAL_SCORE);
  emit_barrier(e, PIPE_V);
  EMIT(e, "vbitsort16", F("dst", sort.b_at), F("src", sort.a_at),
       F("repeat", sort.chunk / PROPOSALS), W("type", "fp16"));
  return sort_put_levels(e, &sort, sort.b_at, PROPOSALS);
}

/* Numbers of elements, of which scores are the negative ones within the tile. */
static void put_numbers(struct emit *e, const struct compact *c, uint64_t list, struct expr out) {
  put_field(e, c, "vextract", EXPR(c->parts), EXPR(list), PROPOSAL_SCORE);
  emit_barrier(e, PIPE_V);
  vmask_count(e, c->chunk);
  EMIT(e, "vmuls", F("dst", c->parts), F("src", c->parts), F("scalar", vscalar(DTYPE_FP16, -1)),
       F("repeat", 1), W("type", "fp16"));
  emit_barrier(e, PIPE_V);
  compact_convert(e, DTYPE_FP16, DTYPE_INT32, EXPR(c->wide), EXPR(c->parts));
  EMIT(e, "vadds", F("dst", out), F("src", c->wide), F("scalar", c->kernel.tile.col),
       F("repeat", 1), W("type", "int32"));
}

void compact_squeeze(struct emit *e, const struct compact *c) {
  const struct vtile *tile = &c->kernel.tile;
  struct expr x = x_add(tile->slot, c->x.address), out = x_add(tile->slot, c->out);
  emit_barrier(e, PIPE_V); /* the tile before reads what follows writes */
  vmask_count(e, tile->n_cols);
  compact_put_bits(e, c);
  put_kept(e, c);
  put_scores(e, c);
  uint64_t list = put_sorted(e, c, x);
  if (!c->selects) {
    put_numbers(e, c, list, out);
    return;
  }
  for (unsigned i = 0; i < halves_of(c); i++)
    put_field(e, c, "vextract", part_at(c, i, out), EXPR(list), i);
  emit_barrier(e, PIPE_V);
  vmask_count(e, c->chunk);
  if (compact_is_byte(c->packed))
    compact_convert(e, DTYPE_FP16, c->packed, out, EXPR(c->halves));
  else if (halves_of(c) > 1)
    put_halves(e, c, out, false);
}
