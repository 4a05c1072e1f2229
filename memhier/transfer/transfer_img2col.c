/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load3d of the first version, which the 910A has and the 310P too: fractals of 16 windows of a
 * feature map, one point of the windows and one block of channels for each. Cost, ranges and
 * values. Left out: few channels that lie packed, the boundary of L1, and the penalty of windows
 * that cross many rows of the map, for which no measurement is public.
 */
#include <string.h>

#include "memhier/transfer/transfer.h"

/* The top left corner of a window in the map, borders being outside. */
struct corner {
  int64_t x, y;
};

/* The corner of the next window. */
static struct corner next_corner(const int64_t *arg, struct corner at) {
  int64_t span = arg[IMG2COL_DILATION_W] * (arg[IMG2COL_FILTER_W] - 1) + 1;
  at.x += arg[IMG2COL_STRIDE_W];
  if (at.x + span <= arg[IMG2COL_L1_W] + arg[IMG2COL_PAD_RIGHT])
    return at;
  return (struct corner){-arg[IMG2COL_PAD_LEFT], at.y + arg[IMG2COL_STRIDE_H]};
}

static struct corner first_corner(const int64_t *arg) {
  return (struct corner){arg[IMG2COL_FIRST_X], arg[IMG2COL_FIRST_Y]};
}

/* The number of a repeat's point, counted over the blocks of channels. */
static int64_t point_of(const int64_t *arg, int64_t repeat) {
  int64_t points = arg[IMG2COL_FILTER_W] * arg[IMG2COL_FILTER_H];
  int64_t first = arg[IMG2COL_POINT_Y] * arg[IMG2COL_FILTER_W] + arg[IMG2COL_POINT_X];
  return arg[IMG2COL_C1] * points + first + repeat;
}

static bool over_points(const int64_t *arg) { return arg[IMG2COL_MODE] == 0; }

/* ---- cost and ranges ---- */

void transfer_img2col_cost(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_cost *cost) {
  transfer_cost_local(soc, transfer_path(inst), (uint64_t)inst->arg[IMG2COL_REPEAT] * FRACTAL_BYTES,
                      cost);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Whole rows of the map, from the first window's to the last window's, of all blocks of channels.
 */
static unsigned touch_map(const struct inst *inst, struct inst_access *access) {
  const int64_t *arg = inst->arg;
  int64_t repeats = arg[IMG2COL_REPEAT], points = arg[IMG2COL_FILTER_W] * arg[IMG2COL_FILTER_H];
  struct corner last = first_corner(arg);
  for (int64_t i = 1; i < FRACTAL_ROWS * (over_points(arg) ? 1 : repeats); i++)
    last = next_corner(arg, last);
  int64_t bottom = arg[IMG2COL_L1_H] - 1;
  int64_t reach = arg[IMG2COL_DILATION_H] * (arg[IMG2COL_FILTER_H] - 1);
  int64_t row_first = clamp(arg[IMG2COL_FIRST_Y], 0, bottom);
  int64_t row_last = clamp(last.y + reach, 0, bottom);
  int64_t c1_first = point_of(arg, 0) / points;
  int64_t c1_last = over_points(arg) ? point_of(arg, repeats - 1) / points : c1_first;
  int64_t row_bytes = arg[IMG2COL_L1_W] * BLOCK_BYTES, map_bytes = arg[IMG2COL_L1_H] * row_bytes;
  int64_t start = c1_first * map_bytes + row_first * row_bytes;
  int64_t run = (row_last - row_first + 1) * row_bytes;
  int64_t bytes = (c1_last - c1_first) * map_bytes + run;
  unsigned count = inst_touch(inst, access, 0, TRANSFER_SRC, (uint64_t)start, (uint64_t)bytes);
  if (c1_last > c1_first)
    inst_set_runs(
        access, 0, count,
        (struct inst_runs){.bytes = (uint64_t)run,
                           .level = {{(uint64_t)(c1_last - c1_first + 1), (uint64_t)map_bytes}}});
  return count;
}

unsigned transfer_img2col_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  (void)soc;
  if (inst->arg[IMG2COL_REPEAT] == 0)
    return 0;
  struct transfer_runs dst = {
      .count = (uint64_t)inst->arg[IMG2COL_REPEAT],
      .bytes = FRACTAL_BYTES,
      .stride_bytes = (uint64_t)inst->arg[IMG2COL_JUMP] * FRACTAL_BYTES,
  };
  return transfer_touch(inst, access, touch_map(inst, access), TRANSFER_DST, 0, &dst, 1);
}

/* ---- values ---- */

/* The channels of a point of the window at a corner, or what the borders hold. */
static void put_block(const struct inst *inst, const uint8_t *map, struct corner at, int64_t number,
                      uint8_t *to) {
  const int64_t *arg = inst->arg;
  int64_t x = at.x + number % arg[IMG2COL_FILTER_W] * arg[IMG2COL_DILATION_W];
  int64_t y =
      at.y + number / arg[IMG2COL_FILTER_W] % arg[IMG2COL_FILTER_H] * arg[IMG2COL_DILATION_H];
  int64_t c1 = number / arg[IMG2COL_FILTER_W] / arg[IMG2COL_FILTER_H];
  bool inside = x >= 0 && y >= 0 && x < arg[IMG2COL_L1_W] && y < arg[IMG2COL_L1_H];
  unsigned element = dtype_bits(inst_dtype(inst)) / BITS_PER_BYTE;
  if (inside)
    memcpy(to, map + ((c1 * arg[IMG2COL_L1_H] + y) * arg[IMG2COL_L1_W] + x) * BLOCK_BYTES,
           BLOCK_BYTES);
  for (unsigned i = 0; i < BLOCK_BYTES && !inside; i++)
    to[i] = (uint8_t)(inst->registers.load3d_padding >> (i % element * BITS_PER_BYTE));
}

/* A fractal of 16-bit elements with its sides changed. */
static void put_transposed(const uint8_t *from, uint8_t *to) {
  enum { BYTES = 2 };
  for (unsigned row = 0; row < FRACTAL_ROWS; row++)
    for (unsigned column = 0; column < BLOCK_BYTES / BYTES; column++)
      memcpy(to + column * BLOCK_BYTES + row * BYTES, from + row * BLOCK_BYTES + column * BYTES,
             BYTES);
}

void transfer_img2col_values(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  const int64_t *arg = inst->arg;
  const uint8_t *map = transfer_bytes(inst, core, TRANSFER_SRC);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  struct corner first = first_corner(arg);
  (void)soc;
  for (int64_t repeat = 0; repeat < arg[IMG2COL_REPEAT]; repeat++) {
    struct corner at = first;
    uint8_t fractal[FRACTAL_BYTES];
    for (unsigned row = 0; row < FRACTAL_ROWS; row++, at = next_corner(arg, at))
      put_block(inst, map, at, point_of(arg, over_points(arg) ? repeat : 0),
                fractal + row * BLOCK_BYTES);
    if (inst->op == OP_IMG2COL_CBUF_TO_CB)
      put_transposed(fractal, to);
    else
      memcpy(to, fractal, sizeof fractal);
    first = over_points(arg) ? first : at;
    to += arg[IMG2COL_JUMP] * FRACTAL_BYTES;
  }
}
