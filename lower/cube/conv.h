/* SPDX-License-Identifier: Apache-2.0 */
/* What the convolution and its two gradients share: keys, geometry, shapes of profiles. */
#ifndef VINCI_LOWER_CUBE_CONV_H
#define VINCI_LOWER_CUBE_CONV_H

#include "lower/cube/matmul.h"

/*
 * A convolution is a matmul of the windows of a feature map, which load3d makes out of the map on
 * its way to L0A: m counts the places of the window in one image, k is (c1, kh, kw, c0), images
 * are the batch, and they share the weights. Extents and distances in points of the map.
 */
struct conv {
  uint64_t c1, h, w; /* of the map, NC1HWC0 */
  uint64_t ho, wo;   /* of the result */
  uint64_t kh, kw, sh, sw, dh, dw;
  uint64_t top, bottom, left, right; /* padding */
  uint64_t block, point_bytes;       /* channels of the map that lie together, and their bytes */
  uint64_t window;                   /* k of one c1: kh * kw * block */
  /* Products in a batch that have channels and weights of their own: batch index z is image
   * z / groups, channels z % groups; c1 counts the channels of a product. All have `channels`
   * results. */
  uint64_t groups, channels;
  unsigned pad_bits; /* what padding holds, as set_padding takes an element; 0: zeros */
  /* The gradient of the map (conv_load.c): its map is the gradient of the result, with
   * given_h x given_w points, spread_h and spread_w apart, zeros between them. */
  bool gradient;
  uint64_t given_h, given_w, spread_h, spread_w;
};

/* The first keys of each operator of the family: x[n,c,h,w], y[n,k,ho,wo]. */
enum conv_key {
  CONV_N,
  CONV_C,
  CONV_H,
  CONV_W,
  CONV_K,
  CONV_KERNEL,
  CONV_STRIDE,
  CONV_PAD,
  CONV_DILATION,
  CONV_DTYPE,
  CONV_OUT_DTYPE,
  CONV_GROUPS,
  CONV_KEYS
};

/*
 * Tiling keys of convolutions alone, in front of MATMUL_SPLIT_ROW. The default never takes but the
 * first word of each; tuners do.
 */
enum conv_knob { CONV_EARLY, CONV_COPIES, CONV_KNOBS };

/* clang-format off */
#define CONV_KNOB_ROWS(first_)                                                                     \
  [(first_) + CONV_EARLY] = {                                                                      \
      .name = "early", .kind = LOWER_WORD, .choices = "0|1", .tiling = true, .for_tuners = true,   \
      .text = "1: a core reads 32 bytes ahead of the scalar work of its start, so that the wait "  \
              "of its first read is over when the panels come"},                                   \
  [(first_) + CONV_COPIES] = {                                                                     \
      .name = "copies", .kind = LOWER_WORD, .choices = "bursts|rows", .tiling = true,              \
      .for_tuners = true,                                                                          \
      .text = "rows: panels come to L1 with the copy that is for rows of matrices, a block of "    \
              "channels as a row; one starts up while the one before moves its bytes"}
#define CONV_KEY_ROWS(types, types_text, out_types, out_default, out_text)                         \
  [CONV_N] = {"n", LOWER_SIZE, "1", NULL, "images"},                                               \
  [CONV_C] = {"c", LOWER_SIZE, NULL, NULL, "channels of the map"},                                 \
  [CONV_H] = {"h", LOWER_SIZE, NULL, NULL, "rows of the map"},                                     \
  [CONV_W] = {"w", LOWER_SIZE, NULL, NULL, "columns of the map"},                                  \
  [CONV_K] = {"k", LOWER_SIZE, NULL, NULL, "channels of the result"},                              \
  [CONV_KERNEL] = {"kernel", LOWER_SHAPE, NULL, NULL, "window, such as 3x3"},                      \
  [CONV_STRIDE] = {"stride", LOWER_SHAPE, "1x1", NULL, "distance of windows"},                     \
  [CONV_PAD] = {"pad", LOWER_SHAPE, "", "0",                                                       \
                "padding: rows x columns, or top x bottom x left x right; default none"},          \
  [CONV_DILATION] = {"dilation", LOWER_SHAPE, "1x1", NULL, "distance of a window's points"},       \
  [CONV_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", types, types_text},                                \
  [CONV_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, out_default, out_types, out_text},                 \
  [CONV_GROUPS] = {"groups", LOWER_SIZE, "1", NULL,                                                \
                   "of channels, which see only channels of their own; c: depthwise"}
/* clang-format on */

/* Whether one copy cannot have several blocks of channels: the gap between them has 16 bits.
 * `blocks` of 32 bytes is what a map takes for one block of channels. */
static inline bool conv_is_large(uint64_t blocks) { return blocks > UINT16_MAX; }
/* Blocks of 32 bytes of a block of channels of the map that is given. */
uint64_t conv_map_blocks(const struct conv *conv);
/* Rows of the map under some rows of the result; most of them under the windows of bm places. */
uint64_t conv_map_rows(const struct conv *conv, uint64_t out_rows);
uint64_t conv_rows(const struct conv *conv, uint64_t bm);
/* The types of a convolution and its cube; refuses what the chip cannot. */
VINCI_MUST_CHECK enum vinci_status conv_types(struct lower_job *job, struct matmul *mm);

/* Tensors in NC1HWC0, and in FRACTAL_Z: rows are c1 * kh * kw, columns are channels of y. */
struct matmul_tensor conv_map(const char *name, enum dtype type, uint64_t images, uint64_t c1,
                              uint64_t h, uint64_t w, uint64_t c0);
struct matmul_tensor conv_weights(const char *name, enum dtype type, uint64_t rows,
                                  uint64_t columns, uint64_t c0);
/* How the vendor's library joins groups of channels: the number of joined groups, 1: all are
 * joined. *c, *k: channels of x and y, on return those of a joined group; c0, out_c0: of a block of
 * each. */
uint64_t conv_join(uint64_t groups, uint64_t c0, uint64_t out_c0, uint64_t *c, uint64_t *k);
/*
 * Fills the geometry of the forward convolution, with c1 and window as they follow from c0, and its
 * groups of channels. The vendor's library joins as many groups as make whole blocks of c and of k,
 * with zeros in the weights between them; what is joined is a convolution of its own, in FRACTAL_Z
 * behind the one before. *c, *k: channels of x and y of a joined group.
 */
VINCI_MUST_CHECK enum vinci_status conv_shape(struct lower_job *job, const struct matmul *mm,
                                              struct conv *conv, uint64_t *c, uint64_t *k);
/*
 * The setup of a convolution as a problem of matmul: conv_start() allocates job->data, a struct
 * matmul, with names and types; conv_finish() fills the sides and tensors that follow from the
 * shape.
 */
VINCI_MUST_CHECK enum vinci_status conv_start(struct lower_job *job, const struct matmul *names,
                                              struct conv **conv);
void conv_finish(struct lower_job *job);
/* Whether blocks of channels can come as rows of a matrix; else with a reason. */
bool conv_rows_fit(struct lower_job *job);
/* A tiling key of convolutions alone. */
static inline struct lower_value *conv_knob(struct lower_job *job, enum conv_knob knob) {
  const struct matmul *mm = job->data;
  return &job->value[mm->first_key - 1 - CONV_KNOBS + knob];
}
bool conv_candidate(struct lower_job *job, size_t index);

/*
 * Arguments for a call with the map x and the result y, both NC1HWC0, and weights in FRACTAL_Z,
 * [c1 * kh * kw, n1, 16, c0]; false, with a reason, when the shapes do not tell.
 */
bool conv_from_shapes(struct lower_call *call, const struct lower_tensor *x,
                      const struct lower_tensor *weights, const struct lower_tensor *y);
/* The type of a result, where the row gives one that does not follow from the map's. */
void conv_take_result(struct lower_call *call, const struct lower_tensor *map,
                      const struct lower_tensor *result);

#endif
