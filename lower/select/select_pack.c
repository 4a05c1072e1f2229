/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short rows that follow each other in device memory, and lie at a pitch of blocks in UB, on a chip
 * that copies whole blocks alone: they move as one run, and the vector unit puts them together or
 * takes them apart. Of a group of 16 * STRIDE rows with `halves` 16-bit elements each:
 *
 *   rows        in blocks, those that are STRIDE apart 16 at a time --transposed-->
 *   slices      a block for each element of STRIDE rows, 16 rows in a block --transposed-->
 *   the run     16 lines of STRIDE rows, which are whole blocks
 *
 * and back the other way.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"

enum { SIDE = 16, HALF_BYTES = 2, GAP_MAX = 255 };

struct pack {
  uint64_t halves, blocks; /* of a row */
  uint64_t stride;         /* rows of a line of the run */
  uint64_t rows;           /* of a group */
  uint64_t line;           /* blocks of STRIDE rows that follow each other */
  uint64_t whole, slices;  /* addresses: of the rows, then the run; of the slices */
  uint64_t end;            /* behind the slices, in blocks from `whole` on */
};

static struct pack pack_of(const struct vinci_soc *soc, uint64_t bytes) {
  struct pack p = {.halves = bytes / HALF_BYTES, .stride = 1};
  while (p.stride < SIDE && p.halves * p.stride % SIDE)
    p.stride *= 2;
  p.blocks = ceil_div(p.halves, SIDE);
  p.rows = SIDE * p.stride;
  p.line = p.halves * p.stride / SIDE;
  uint64_t area = max_u64(p.rows * p.blocks, SIDE * p.line);
  p.whole = select_squares(soc);
  p.slices = p.whole + area * BLOCK_BYTES;
  p.end = area + SIDE * p.line + SIDE;
  return p;
}

uint64_t select_packed_rows(const struct vinci_soc *soc, uint64_t bytes) {
  struct pack p = pack_of(soc, bytes);
  bool fits = p.end * BLOCK_BYTES <= SELECT_SQUARES_BYTES;
  return bytes % HALF_BYTES == 0 && fits ? p.rows : 0;
}

/* A transposition of 16 blocks for each repeat; a single one has no strides of repeats. */
static void transpose(struct emit *e, struct expr dst, struct expr src, uint64_t dst_step,
                      uint64_t src_step, uint64_t repeat, uint64_t dst_repeat,
                      uint64_t src_repeat) {
  bool several = repeat > 1;
  EMIT(e, "scatter_vnchwconv_b16", F("dst", dst), F("src", src), F_IF(several, "repeat", repeat),
       F("dst_step", dst_step), F("src_step", src_step), F_IF(several, "dst_repeat", dst_repeat),
       F_IF(several, "src_repeat", src_repeat));
}

/* Between rows at their pitch and rows in as few blocks as they need. */
static void move(struct emit *e, const struct pack *p, struct expr dst, struct expr src,
                 struct expr count, uint64_t dst_blocks, uint64_t src_blocks) {
  bool dense = dst_blocks == p->blocks && src_blocks == p->blocks;
  EMIT(e, "copy_ubuf_to_ubuf", F("dst", dst), F("src", src), F_IF(!dense, "n_burst", count),
       F("len_burst", dense ? x_mul(count, p->blocks) : EXPR(p->blocks)),
       F_IF(!dense, "src_gap", src_blocks - p->blocks),
       F_IF(!dense, "dst_gap", dst_blocks - p->blocks));
}

static struct expr block_at(uint64_t address, struct expr block) {
  return x_add(address, x_mul(block, BLOCK_BYTES));
}

uint64_t select_pack(struct emit *e, const struct select_rows *rows) {
  struct pack p = pack_of(e->soc, rows->bytes);
  move(e, &p, EXPR(p.whole), rows->ub, rows->count, p.blocks, rows->pitch / BLOCK_BYTES);
  emit_barrier(e, PIPE_V);
  /* What a row has less than whole blocks, the next one writes over. */
  struct expr row = emit_for(e, "packed", p.stride);
  for (uint64_t i = 0; i < p.blocks; i++)
    transpose(e, block_at(p.slices, x_add(x_mul(row, p.halves), i * SIDE)),
              block_at(p.whole, x_add(x_mul(row, p.blocks), i)), 1, p.stride * p.blocks, 1, 0, 0);
  emit_barrier(e, PIPE_V);
  emit_end(e);
  transpose(e, EXPR(p.whole), EXPR(p.slices), p.line, 1, p.line, 1, SIDE);
  return p.whole;
}

uint64_t select_run(const struct vinci_soc *soc, uint64_t bytes) {
  return pack_of(soc, bytes).whole;
}

void select_unpack(struct emit *e, const struct select_rows *rows) {
  struct pack p = pack_of(e->soc, rows->bytes);
  transpose(e, EXPR(p.slices), EXPR(p.whole), 1, p.line, p.line, SIDE, 1);
  emit_barrier(e, PIPE_V);
  struct expr row = emit_for(e, "unpacked", p.stride);
  for (uint64_t i = 0; i < p.blocks; i++)
    transpose(e, block_at(p.whole, x_add(x_mul(row, p.blocks), i)),
              block_at(p.slices, x_add(x_mul(row, p.halves), i * SIDE)), p.stride * p.blocks, 1, 1,
              0, 0);
  emit_end(e);
  emit_barrier(e, PIPE_V);
  move(e, &p, rows->ub, EXPR(p.whole), rows->count, rows->pitch / BLOCK_BYTES, p.blocks);
  emit_barrier(e, PIPE_V);
}
