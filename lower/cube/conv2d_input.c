/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_backprop_input: the gradient of a convolution with respect to its map, dx = dy * w turned;
 * a convolution again (conv_load.c), and so the trace of a matmul. Blocks are whole rows of dx
 * where they fit.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/cube/conv.h"

enum {
  INPUT_OWN_KNOBS = CONV_KEYS,
  INPUT_SPLIT = INPUT_OWN_KNOBS + CONV_KNOBS,
  INPUT_TILING,
  INPUT_KEY_COUNT = INPUT_TILING + MATMUL_TILING_KEYS
};

enum { PAD_MAX = 255, L1_ROW_MAX = 32767, BURSTS_MAX = 4095 };

static const struct lower_key keys[INPUT_KEY_COUNT] = {
    CONV_KEY_ROWS("fp16|bf16|fp32|hf32", "type of dy and w", "fp16|bf16|fp32", "",
                  "type of dx; default: that of dy, fp32 for hf32"),
    CONV_KNOB_ROWS(INPUT_OWN_KNOBS),
    [INPUT_SPLIT] = MATMUL_SPLIT_ROW,
    MATMUL_TILING_ROWS(INPUT_TILING,
                       "points of dx x (channels x window) x channels of dx of a block in L0",
                       "depth of dy's and of the weights' panels in L1",
                       "a: dy, b: the weights stay in L1 from block to block"),
};

/* ---- arguments ---- */

/* The convolution that has dx for its result, of the one that has dx's map. */
static enum vinci_status turn(struct lower_job *job, uint64_t c1, struct conv *conv) {
  struct conv from = *conv;
  uint64_t reach_h = (from.kh - 1) * from.dh, reach_w = (from.kw - 1) * from.dw;
  if (from.left > reach_w || from.right > reach_w)
    return lower_error(job, "more padding than window");
  conv->gradient = true;
  conv->given_h = from.ho;
  conv->given_w = from.wo;
  conv->spread_h = from.sh;
  conv->spread_w = from.sw;
  conv->c1 = c1;
  conv->h = (from.ho - 1) * from.sh + 1;
  conv->w = (from.wo - 1) * from.sw + 1;
  conv->ho = from.h;
  conv->wo = from.w;
  conv->sh = conv->sw = 1;
  conv->top = reach_h - from.top;
  conv->left = reach_w - from.left;
  conv->bottom = from.h + reach_h - conv->h - conv->top;
  conv->right = from.w + reach_w - conv->w - conv->left;
  /* Rows that no window of the convolution has reached are zeros of the map: a block may have no
   * others, and padding alone makes no block. */
  uint64_t left_over = conv->bottom - min_u64(conv->bottom, reach_h);
  conv->h += left_over;
  conv->bottom -= left_over;
  if (max_u64(max_u64(conv->top, conv->bottom), max_u64(conv->left, conv->right)) > PAD_MAX)
    return lower_error(job, "the gradient would need pads of more than %d", PAD_MAX);
  if (conv->w > L1_ROW_MAX)
    return lower_error(job, "the gradient would need rows of more than %d points", L1_ROW_MAX);
  if (conv->spread_w > 1 && conv->given_w > BURSTS_MAX)
    return lower_error(job, "rows of dy have more than %d points", BURSTS_MAX);
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct matmul names = {.name = "conv2d_backprop_input",
                                      .a.name = "dy",
                                      .b.name = "w",
                                      .c.name = "dx",
                                      .first_key = INPUT_TILING};
  struct conv *conv;
  uint64_t k = 0;
  enum vinci_status status = conv_start(job, &names, &conv);
  struct matmul *mm = job->data;
  if (status == VINCI_OK)
    status = conv_shape(job, mm, conv, &mm->n, &k);
  if (status == VINCI_OK)
    status = turn(job, ceil_div(k, mm->c0), conv);
  if (status != VINCI_OK)
    return status;
  conv_finish(job);
  if (mm->c0 < FRACTAL_ROWS) { /* a load brings two blocks of k where one is wanted */
    mm->b_repeats = 1;
    mm->b_spill = mm->c0;
  }
  if (conv->c1 * mm->c0 > UINT16_MAX) /* the gap between rows of weights */
    return lower_error(job, "more than %d channels of y are not supported", UINT16_MAX);
  if (conv->kh * conv->kw * FRACTAL_ROWS > L1_ROW_MAX)
    return lower_error(job, "the window is too large");
  return mm->coupled ? matmul_coupled_check(job, mm) : VINCI_OK;
}

/* ---- from a profile ---- */

/* Inputs: weights and dy, in the order of the type; the shape of dx may be one more. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *weights = NULL, *dy = NULL;
  for (unsigned i = 0; i < call->input_count; i++) {
    const struct lower_tensor *input = &call->input[i];
    if (input->rank == 4 && !weights)
      weights = input;
    if (input->rank == 5 && !dy)
      dy = input;
  }
  if (!weights || !dy || call->output_count < 1)
    return lower_cannot(call, "NC1HWC0 maps and FRACTAL_Z weights are needed");
  struct lower_tensor dx = call->output[0];
  dx.dtype = dy->dtype;
  if (!conv_from_shapes(call, &dx, weights, dy))
    return false;
  conv_take_result(call, dy, &call->output[0]);
  return true;
}

static const struct lower_template template = MATMUL_TEMPLATE(conv_candidate);
LOWER_OPERATOR(
    conv2d_backprop_input,
    "Conv2DBackpropInput|Conv2DBackpropInputD|Conv2DTranspose|Conv2DTransposeD|Deconvolution",
    "dx[n,c,h,w]: gradient of conv2d for its map, from dy[n,k,ho,wo] and w[k,c,kh,kw]", keys,
    &template, NULL, from_tensors)
