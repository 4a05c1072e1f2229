/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpositions of single bytes and of 64-bit elements, of which the vector unit has none.
 *
 * Bytes go as 16-bit numbers, which hold all of them exactly: converted, transposed, converted.
 *
 * Of 64-bit elements, the 16-bit quarters are transposed. Squares of 16 rows with 4 elements each,
 * of which square s has the rows s, s + 4, s + 8 .., go together:
 *
 *   rows of quarters         --transposed--> 16 lines, 4 for each column, of 16 rows each
 *   lines of a column, of all four squares --transposed--> 16 blocks of 4 whole elements
 *
 * The blocks are 64 rows of the column in their order.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/layout/permute.h"
#include "lower/vector/unit.h"

enum {
  HALF_BYTES = 2,
  SQUARES = 4, /* also quarters of an element, and elements of a block */
  SQUARE_BLOCKS = 16,
  QUAD_ROWS = SQUARES * PERMUTE_SIDE,
  BYTE_ROWS = BLOCK_BYTES /* of bytes, a block */
};

uint64_t permute_side(uint64_t bytes) {
  return bytes == sizeof(uint64_t) ? QUAD_ROWS : bytes == 1 ? BYTE_ROWS : PERMUTE_SIDE;
}

uint64_t permute_wide_bytes(uint64_t bytes) { return bytes == 1 ? HALF_BYTES : 0; }

static void transpose(struct emit *e, struct expr dst, struct expr src, struct expr dst_step,
                      struct expr src_step) {
  EMIT(e, "scatter_vnchwconv_b16", F("dst", dst), F("src", src), F("dst_step", dst_step),
       F("src_step", src_step));
}

/* 64 rows of 4 columns. */
static void put_quads(struct emit *e, const struct ppass *pass, struct expr dst, struct expr src) {
  const uint64_t lines = select_squares(e->soc), column = SQUARE_BLOCKS * BLOCK_BYTES;
  const uint64_t columns = lines + SQUARES * column, row = pass->in_pitch * sizeof(uint64_t);
  for (unsigned s = 0; s < SQUARES; s++)
    transpose(e, EXPR(lines + s * column), x_add(src, s * row), EXPR(1),
              EXPR(SQUARES * row / BLOCK_BYTES));
  emit_barrier(e, PIPE_V);
  for (unsigned j = 0; j < SQUARES; j++)
    EMIT(e, "copy_ubuf_to_ubuf", F("dst", columns + j * column),
         F("src", lines + j * SQUARES * BLOCK_BYTES), F("n_burst", SQUARES),
         F("len_burst", SQUARES), F("src_gap", SQUARE_BLOCKS - SQUARES));
  emit_barrier(e, PIPE_V);
  for (unsigned j = 0; j < SQUARES; j++)
    transpose(e, x_add(dst, j * pass->out_pitch * sizeof(uint64_t)), EXPR(columns + j * column),
              EXPR(1), EXPR(1));
  emit_barrier(e, PIPE_V);
}

static void transpose_quads(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  const uint64_t bytes = sizeof(uint64_t);
  struct expr group =
      emit_for(e, vtile_name(e, tile, "group"), x_ceil_div(tile->n_rows, QUAD_ROWS));
  struct expr quad = emit_for(e, vtile_name(e, tile, "quad"), x_ceil_div(tile->n_cols, SQUARES));
  struct expr from = x_add(tile->slot, x_mul(group, QUAD_ROWS * pass->in_pitch * bytes));
  struct expr to = x_add(tile->slot, pass->out.address);
  put_quads(e, pass,
            x_add(x_add(to, x_mul(quad, SQUARES * pass->out_pitch * bytes)),
                  x_mul(group, QUAD_ROWS * bytes)),
            x_add(from, x_mul(quad, BLOCK_BYTES)));
  emit_end(e);
  emit_end(e);
}

/* All of the tile, with what lies behind its rows. */
static void transpose_bytes(struct emit *e, const struct ppass *pass) {
  const struct vtile *tile = &pass->tile;
  const uint64_t rows = pass->out_pitch, cols = pass->in_pitch, side = PERMUTE_SIDE;
  struct vunit unit = {.emit = e};
  struct expr wide = x_add(tile->slot, pass->wide), turned = x_add(wide, rows * cols * HALF_BYTES);
  emit_plain(e, "set_mask_count");
  vmask_count(e, rows * cols);
  vunit_convert(&unit, V(X0), V(X0), pass->in.dtype, DTYPE_FP16, wide, tile->slot);
  emit_barrier(e, PIPE_V);
  struct expr group = emit_for(e, vtile_name(e, tile, "group"), rows / side);
  EMIT(e, "scatter_vnchwconv_b16", F("dst", x_add(turned, x_mul(group, BLOCK_BYTES))),
       F("src", x_add(wide, x_mul(group, side * cols * HALF_BYTES))), F("repeat", cols / side),
       F("dst_step", rows / side), F("src_step", cols / side), F("dst_repeat", rows),
       F("src_repeat", 1));
  emit_end(e);
  emit_barrier(e, PIPE_V);
  vunit_convert(&unit, V(X0), V(Y0), DTYPE_FP16, pass->in.dtype,
                x_add(tile->slot, pass->out.address), turned);
}

void permute_transpose_sizes(struct emit *e, const struct ppass *pass) {
  if (vtile_bytes(pass->in.dtype) == 1)
    transpose_bytes(e, pass);
  else
    transpose_quads(e, pass);
}
