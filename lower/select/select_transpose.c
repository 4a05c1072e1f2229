/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Squares of 32-bit elements on a chip that transposes 16-bit elements alone. Two squares of 16
 * rows with 8 words each go together:
 *
 *   rows of half words --transposed--> halves of a column, lower and upper in turn
 *   every second row   --transposed--> rows of lower halves and rows of upper halves, in turn
 *   8 such pairs       --transposed--> 8 whole words of a column
 *
 * The place of each half word then follows from steps between blocks.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"

enum {
  SIDE = 16,
  SQUARE_BYTES = SIDE * BLOCK_BYTES,
  PAIR = 2, /* squares; halves of a word; groups of 8 rows */
  PAIR_BYTES = PAIR * SQUARE_BYTES,
  STAGES = 3,
};

static void transpose(struct emit *e, struct expr dst, struct expr src, struct expr src_step,
                      uint64_t dst_step) {
  EMIT(e, "scatter_vnchwconv_b16", F("dst", dst), F("src", src), F("dst_step", dst_step),
       F("src_step", src_step));
}

void select_put_squares(struct emit *e, const struct select_squares *squares) {
  const uint64_t halves = select_squares(e->soc), planes = halves + PAIR_BYTES;
  const uint64_t words = planes + PAIR_BYTES;
  struct expr pair = emit_for(e, "squares", x_ceil_div(squares->repeat, PAIR));
  struct expr last = x_sub(squares->repeat, 1), single = x_eq(squares->repeat, 1);
  struct expr number[PAIR];
  emit_barrier(e, PIPE_V);
  for (unsigned i = 0; i < PAIR; i++) {
    /* A single repeat starts a stride behind the addresses. */
    number[i] = x_add(x_min(x_add(x_mul(pair, PAIR), i), last), single);
    transpose(e, EXPR(halves + i * SQUARE_BYTES),
              x_add(squares->src, x_mul(x_mul(number[i], squares->src_repeat), BLOCK_BYTES)),
              squares->src_step, 1);
  }
  emit_barrier(e, PIPE_V);
  for (unsigned i = 0; i < PAIR; i++)
    transpose(e, EXPR(planes + i * BLOCK_BYTES), EXPR(halves + i * BLOCK_BYTES), EXPR(PAIR), PAIR);
  emit_barrier(e, PIPE_V);
  for (unsigned i = 0; i < PAIR; i++)
    transpose(e, EXPR(words + i * BLOCK_BYTES), EXPR(planes + i * SQUARE_BYTES), EXPR(1), PAIR);
  emit_barrier(e, PIPE_V);
  for (unsigned i = 0; i < PAIR; i++) {
    /* The last square of an odd number stands for two. */
    bool may_lack = i > 0 && !x_divided_by(squares->repeat, PAIR);
    if (may_lack)
      emit_if(e, "another", x_lt(x_add(x_mul(pair, PAIR), i), squares->repeat));
    EMIT(e, "copy_ubuf_to_ubuf",
         F("dst", x_add(squares->dst, x_mul(x_mul(number[i], squares->dst_repeat), BLOCK_BYTES))),
         F("src", words + i * SQUARE_BYTES), F("n_burst", SIDE), F("len_burst", 1),
         F("dst_gap", x_sub(squares->dst_step, 1)));
    if (may_lack)
      emit_end(e);
  }
  emit_end(e);
  emit_barrier(e, PIPE_V);
}
