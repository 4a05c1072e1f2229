/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCHW of 32-bit elements and FRACTAL_Z with blocks of 8 channels, where rows of H x W elements are
 * too short for a copy each: the 8 channels of a block lie together in NCHW, and are one burst per
 * n; in FRACTAL_Z the N of a tile lie together, and are one burst per place of H x W. Both
 * follow from the durations of MTE2 and MTE3 in profiles of TransData, and from its published
 * schedules (CANN 8.1, tbe/dsl/unify_schedule/vector/transdata), which read short rows without
 * gaps and align them in UB.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/layout/permute.h"

enum {
  LINES = PERMUTE_SIDE, /* n of a tile */
  HALF = LINES / 2,
  CHANNELS = BLOCK_BYTES / sizeof(uint32_t),
  REGIONS = 3, /* of UB, LINES x H x W blocks each; what comes in lies in the first */
  OUT_REGION = REGIONS - 1,
  COMMON_TENSORS = 3, /* of 128 rows each, which tilings reserve to align short rows */
  COMMON_ROWS = 128,
  BLOCK_SHARE_BYTES = 12288,
};

uint64_t permute_lines_rows(uint64_t n, uint64_t n_bytes, uint64_t cores) {
  return max_u64(ceil_div(n, max_u64(cores - 1, 1)), ceil_div(BLOCK_SHARE_BYTES, n_bytes));
}

static uint64_t region_bytes(uint64_t places) { return LINES * places * BLOCK_BYTES; }

bool permute_lines_fit(const struct lower_job *job, const struct permute *permute, uint64_t c0,
                       uint64_t places) {
  uint64_t ub = vtile_ub_bytes(job->soc);
  return select_has(job->soc, OP_COPY_GM_TO_UBUF_ALIGN_B32) &&
         vtile_bytes(permute->type) == sizeof(uint32_t) && c0 == CHANNELS && places > 1 &&
         places <= PERMUTE_REPEATS_MAX &&
         COMMON_TENSORS * COMMON_ROWS * round_up(places, CHANNELS) * sizeof(uint32_t) < ub &&
         REGIONS * region_bytes(places) <= ub;
}

enum vinci_status permute_lines_add(struct lower_job *job, struct permute *permute,
                                    const struct plines *lines) {
  if (lines->blocks == 0 || lines->channels == 0)
    return VINCI_OK;
  if (permute->passes == PERMUTE_PASSES)
    return lower_error(job, "too many dimensions to move");
  uint64_t places = lines->places, plain_row = lines->all_channels * places;
  uint64_t column = round_up(lines->n, FRACTAL_ROWS) * CHANNELS;
  struct ppass *pass = &permute->pass[permute->passes++];
  *pass = (struct ppass){.transposes = true, .places = places, .back = lines->back};
  pass->padded = lines->back || lines->channels == CHANNELS ? 0 : CHANNELS * places;
  pass->column_bytes = column * sizeof(uint32_t);
  pass->tile.space = (struct vtile_space){
      .outers = 1, .outer = {lines->blocks}, .rows = lines->n, .cols = lines->channels * places};
  struct vtile_operand plain = {.dtype = permute->type,
                                .base = lines->first_block * CHANNELS * places,
                                .outer_stride = {CHANNELS * places},
                                .row_stride = plain_row,
                                .col_stride = 1};
  struct vtile_operand blocked = {.dtype = permute->type,
                                  .base = lines->first_block * places * column,
                                  .outer_stride = {places * column},
                                  .row_stride = CHANNELS,
                                  .col_stride = 1};
  pass->in = lines->back ? blocked : plain;
  pass->out = lines->back ? plain : blocked;
  pass->in.name = "x";
  pass->out.name = "y";
  return VINCI_OK;
}

void permute_lines_lay_out(struct ppass *pass) {
  pass->in.address = 0;
  pass->out.address = OUT_REGION * region_bytes(pass->places);
  pass->tile.slot_bytes = vtile_align(REGIONS * region_bytes(pass->places));
}

void permute_lines_split(const struct vinci_soc *soc, struct ppass *pass) {
  struct vtile *tile = &pass->tile;
  const struct vtile_operand *plain = pass->back ? &pass->out : &pass->in;
  uint64_t cores = soc_core_count(soc, emit_vector_core(soc));
  uint64_t rows = permute_lines_rows(tile->space.rows, plain->row_stride * sizeof(uint32_t), cores);
  tile->cols = tile->space.cols;
  tile->rows = min_u64(min_u64(rows, tile->space.rows), LINES);
}

/* ---- rows of the trace ----------------------------------------------------------------------- */

/* A burst for each n, a line of UB each. */
static void load_lines(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  uint64_t row = pass->in.row_stride * sizeof(uint32_t);
  uint64_t bytes = tile->space.cols * sizeof(uint32_t);
  EMIT(e, vtile_copy_name(false, pass->in.dtype), F("dst", tile->slot),
       F("src", vtile_offset(e, tile, &pass->in)), F("n_burst", tile->n_rows),
       F("len_burst", bytes), F("src_gap", row - bytes),
       F("dst_gap", pass->places - ceil_div(bytes, BLOCK_BYTES)),
       F("right_pad", vtile_pad(EXPR(bytes), pass->in.dtype)));
}

/* Lines of both halves alternate in UB. */
static void store_lines(struct emit *e, const struct ppass *pass, unsigned half) {
  const struct vtile *tile = &pass->tile;
  uint64_t row = pass->out.row_stride * sizeof(uint32_t);
  uint64_t bytes = tile->space.cols * sizeof(uint32_t);
  struct expr rows = half ? x_sub(tile->n_rows, HALF) : x_min(tile->n_rows, HALF);
  struct expr from = x_add(tile->slot, pass->out.address + half * pass->places * BLOCK_BYTES);
  EMIT(e, vtile_copy_name(true, pass->out.dtype),
       F("dst", x_add(vtile_offset(e, tile, &pass->out), half * HALF * row)), F("src", from),
       F("n_burst", rows), F("len_burst", bytes),
       F("src_gap", 2 * pass->places - ceil_div(bytes, BLOCK_BYTES)), F("dst_gap", row - bytes));
}

/* Columns of FRACTAL_Z: a burst for each place of H x W. */
static void copy_columns(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  struct expr bytes = x_mul(tile->n_rows, BLOCK_BYTES);
  struct expr gm_gap = x_sub(pass->column_bytes, bytes), ub_gap = x_sub(LINES, tile->n_rows);
  bool in = pass->back;
  const struct vtile_operand *gm = in ? &pass->in : &pass->out;
  struct expr in_gm = vtile_offset(e, tile, gm), in_ub = x_add(tile->slot, gm->address);
  EMIT(e, vtile_copy_name(!in, gm->dtype), F("dst", in ? in_ub : in_gm),
       F("src", in ? in_gm : in_ub), F("n_burst", pass->places), F("len_burst", bytes),
       F("src_gap", in ? gm_gap : ub_gap), F("dst_gap", in ? ub_gap : gm_gap));
}

void permute_lines_load(struct emit *e, const struct ppass *pass) {
  if (pass->back)
    copy_columns(e, pass);
  else
    load_lines(e, pass);
}

void permute_lines_store(struct emit *e, const struct ppass *pass) {
  if (!pass->back) {
    copy_columns(e, pass);
    return;
  }
  store_lines(e, pass, 0);
  if (pass->tile.rows <= HALF)
    return;
  emit_if(e, vtile_name(e, &pass->tile, "upper"), x_gt(pass->tile.n_rows, HALF));
  store_lines(e, pass, 1);
  emit_end(e);
}

/* 16 lines of blocks: block i of repeat r lies at i * step + r * next. */
struct walk {
  uint64_t step, next;
};

static void put_squares(struct emit *e, const struct ppass *pass, unsigned to, unsigned from,
                        struct walk dst, struct walk src) {
  uint64_t region = region_bytes(pass->places);
  EMIT(e, "scatter_vnchwconv_b32", F("dst", x_add(pass->tile.slot, to * region)),
       F("src", x_add(pass->tile.slot, from * region)), F("repeat", pass->places),
       F("dst_step", dst.step), F("src_step", src.step), F("dst_repeat", dst.next),
       F("src_repeat", src.next));
  emit_barrier(e, PIPE_V);
}

struct blocks {
  uint64_t count, length, src_gap, dst_gap, src_half, dst_half;
};

/* Both halves of the lines; they begin src_half and dst_half blocks apart. */
static void put_blocks(struct emit *e, const struct ppass *pass, unsigned to, unsigned from,
                       const struct blocks *blocks) {
  uint64_t region = region_bytes(pass->places);
  for (unsigned half = 0; half < 2; half++)
    EMIT(e, "copy_ubuf_to_ubuf",
         F("dst", x_add(pass->tile.slot, to * region + half * blocks->dst_half * BLOCK_BYTES)),
         F("src", x_add(pass->tile.slot, from * region + half * blocks->src_half * BLOCK_BYTES)),
         F("n_burst", blocks->count), F("len_burst", blocks->length), F("src_gap", blocks->src_gap),
         F("dst_gap", blocks->dst_gap));
  emit_barrier(e, PIPE_V);
}

/*
 * The blocks of N x places, each with an instruction of its own, to the order of the other side.
 * Published schedules move them with dma_copy. Profiles show one instruction for each: the scalar
 * unit takes 300 cycles per tile and 13.4 per block, which is what it takes to issue an
 * instruction, over tiles of 54, 81 and 125 blocks.
 */
static void put_order(struct emit *e, const struct ppass *pass, unsigned to, unsigned from) {
  const struct vtile *tile = &pass->tile;
  uint64_t region = region_bytes(pass->places);
  struct expr n = emit_for(e, vtile_name(e, tile, "n"), tile->n_rows);
  struct expr place = emit_for(e, vtile_name(e, tile, "place"), pass->places);
  /* Squares leave lines 0 to 7 in even blocks, 8 to 15 in odd ones. */
  struct expr paired = x_add(x_mul(x_mod(n, HALF), 2), x_div(n, HALF));
  struct expr column = x_mul(place, LINES);
  struct expr dst = pass->back ? x_add(x_mul(n, pass->places), place) : x_add(column, n);
  struct expr src = x_add(column, pass->back ? n : paired);
  struct expr block = x_add(x_add(tile->slot, from * region), x_mul(src, BLOCK_BYTES));
  EMIT(e, "copy_ubuf_to_ubuf",
       F("dst", x_add(x_add(tile->slot, to * region), x_mul(dst, BLOCK_BYTES))), F("src", block),
       F("len_burst", 1));
  emit_end(e);
  emit_end(e);
  emit_barrier(e, PIPE_V);
}

/*
 * A square of 16 lines by 8 elements leaves as 8 pairs of blocks: lines 0 to 7 and lines 8 to 15 of
 * an element. Forward: elements of both halves of the lines, sorted by half, then squares of 8
 * channels of each half at a place. Back: the same the other way.
 */
void permute_lines_compute(struct emit *e, const struct ppass *pass) {
  uint64_t places = pass->places, half = HALF * places;
  struct walk packed = {1, LINES}, lines = {places, 1};
  if (!pass->back) {
    put_squares(e, pass, 1, 0, packed, lines);
    put_blocks(e, pass, 2, 1,
               &(struct blocks){
                   .count = half, .length = 1, .src_gap = 1, .src_half = 1, .dst_half = half});
    put_squares(e, pass, 1, 2, packed, lines);
    put_order(e, pass, OUT_REGION, 1);
    return;
  }
  put_order(e, pass, 1, 0);
  put_squares(e, pass, 0, 1, lines, lines);
  put_blocks(e, pass, 1, 0,
             &(struct blocks){.count = CHANNELS,
                              .length = places,
                              .src_gap = places,
                              .src_half = places,
                              .dst_half = half});
  put_blocks(
      e, pass, 0, 1,
      &(struct blocks){
          .count = places, .length = HALF, .dst_gap = HALF, .src_half = half, .dst_half = HALF});
  put_squares(e, pass, OUT_REGION, 0, lines, packed);
}
