/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_backprop_input: the gradient of a convolution with respect to its map, dx = dy * w turned;
 * a convolution again (conv_load.c), and so the trace of a matmul. Blocks are whole rows of dx
 * where they fit.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/conv.h"

enum {
  INPUT_TILING = CONV_GROUPED_KEYS,
  INPUT_KEY_COUNT = INPUT_TILING + MATMUL_KEY_COUNT - MATMUL_TILE,
};

enum { L0_SLOTS = 2, L1_SLOTS = 2, PAD_MAX = 255, L1_ROW_MAX = 32767 };

static const struct lower_key keys[INPUT_KEY_COUNT] = {
    CONV_KEY_ROWS,
    CONV_GROUPS_ROW,
    [CONV_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|hf32", "type of dy and w", false},
    [CONV_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "", "fp16|bf16|fp32",
                        "type of dx; default: that of dy, fp32 for hf32", false},
    [INPUT_TILING] = {"tile", LOWER_SHAPE, NULL, NULL,
                      "points of dx x (channels x window) x channels of dx of a block in L0", true},
    [INPUT_TILING + 1] = {"panel", LOWER_SHAPE, NULL, NULL,
                          "depth of dy's and of the weights' panels in L1", true},
    [INPUT_TILING + 2] = {"resident", LOWER_WORD, NULL, "none|a|b",
                          "a: dy, b: the weights stay in L1 from block to block", true},
    [INPUT_TILING + 3] = {"band", LOWER_SIZE, NULL, NULL,
                          "rows of blocks that the cores walk through together", true},
    [INPUT_TILING + 4] = {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true},
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
  /* Rows that no window of the convolution has reached: zeros of the map, as a block may have only
   * such, and there is no padding above one. */
  uint64_t left_over = conv->bottom - min_u64(conv->bottom, reach_h);
  conv->h += left_over;
  conv->bottom -= left_over;
  if (max_u64(max_u64(conv->top, conv->bottom), max_u64(conv->left, conv->right)) > PAD_MAX)
    return lower_error(job, "the gradient would need pads of more than %d", PAD_MAX);
  if (conv->h * conv->w > UINT16_MAX)
    return lower_error(job, "maps of more than %d points are not supported", UINT16_MAX);
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  struct conv *conv = ARENA_NEW(job->arena, struct conv);
  if (!mm || !conv)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *mm = (struct matmul){
      .name = "conv2d_backprop_input",
      .a_name = "dy",
      .b_name = "w",
      .c_name = "dx",
      .first_key = INPUT_TILING,
      .conv = conv,
      .batch = job->value[CONV_N].size,
      .trans_b = true,
      .nz_a = true,
      .nz_b = true,
      .nz_c = true,
  };
  job->data = mm;
  uint64_t k = 0;
  enum vinci_status status = conv_types(job, mm);
  if (status == VINCI_OK)
    status = conv_geometry(job, mm->c0, conv);
  if (status == VINCI_OK)
    status = conv_groups(job, mm, conv, &mm->n, &k);
  if (status == VINCI_OK)
    status = turn(job, ceil_div(k, mm->c0), conv);
  mm->batch *= conv->groups;
  mm->m = conv->ho * conv->wo;
  mm->k = conv->c1 * conv->window;
  if (mm->c0 < FRACTAL_ROWS) { /* a load brings two blocks of k for one */
    mm->b_repeats = 1;
    mm->b_spill = mm->c0;
  }
  if (status == VINCI_OK && conv->c1 * mm->c0 > UINT16_MAX) /* the gap between rows of weights */
    return lower_error(job, "more than %d channels of y are not supported", UINT16_MAX);
  if (status == VINCI_OK && conv->kh * conv->kw * FRACTAL_ROWS > L1_ROW_MAX)
    return lower_error(job, "the window is too large");
  return status;
}

/* ---- candidates ---- */

/*
 * Profiles of the vendor's library tell by the times of cube and MTE1 that its blocks are up to
 * about 128 points of dx, whole rows, and as many channels as fit.
 */
static const uint16_t point_sides[] = {128, 96, 64, 48, 32, 16};
static const uint16_t channel_sides[] = {256, 224, 192, 160, 128, 96, 64, 48, 32, 16};
enum {
  POINT_SIDES = sizeof point_sides / sizeof *point_sides,
  CHANNEL_SIDES = sizeof channel_sides / sizeof *channel_sides,
  KIND_COUNT = 3,
};

/* Rows of dx that make up to `side` points, or a part of a row. */
static uint64_t points_of(const struct matmul *mm, uint64_t side) {
  const struct conv *conv = mm->conv;
  uint64_t rows = side / conv->wo;
  if (rows == 0)
    return matmul_even(mm->m, side, FRACTAL_ROWS);
  rows = min_u64(rows, conv->ho);
  return ceil_div(conv->ho, ceil_div(conv->ho, rows)) * conv->wo;
}

static uint64_t step_of(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                        uint64_t bn, uint64_t panel) {
  uint64_t a = (uint64_t)soc->l0a_bytes / L0_SLOTS / (bm * mm->element_bytes);
  uint64_t b = (uint64_t)soc->l0b_bytes / L0_SLOTS / (bn * mm->element_bytes);
  b -= min_u64(b, mm->b_spill);
  uint64_t most = max_u64(min_u64(a, b) / mm->c0 * mm->c0, mm->c0);
  return round_up(ceil_div(panel, ceil_div(panel, most)), mm->c0);
}

/* Groups of k, evenly, whole fractals of them. */
static uint64_t groups_in(const struct matmul *mm, uint64_t group_bytes, uint64_t room) {
  uint64_t groups = conv_groups_in(mm->conv, group_bytes, room);
  uint64_t unit = max_u64(FRACTAL_ROWS / mm->c0, 1);
  return groups == mm->conv->c1 ? groups : max_u64(round_up(groups, unit), unit);
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  if (index >= (size_t)POINT_SIDES * CHANNEL_SIDES * KIND_COUNT)
    return false;
  uint64_t points = points_of(mm, point_sides[index / KIND_COUNT / CHANNEL_SIDES]);
  uint64_t bm = round_up(points, FRACTAL_ROWS);
  uint64_t bn = matmul_even(mm->n, channel_sides[index / KIND_COUNT % CHANNEL_SIDES], FRACTAL_ROWS);
  uint64_t room = (uint64_t)job->soc->l1_bytes;
  uint64_t map = conv_rows(conv, points) * conv->w * BLOCK_BYTES; /* of a group */
  uint64_t weights = bn * conv->window * mm->element_bytes;       /* of a group */
  uint64_t ka, kb;
  enum matmul_resident resident = (enum matmul_resident)(index % KIND_COUNT);
  if (resident == RESIDENT_A) {
    uint64_t held = map * conv->c1, left = held < room ? room - held : 0;
    kb = groups_in(mm, weights * L1_SLOTS, left) * conv->window;
    ka = round_up(mm->k, kb);
  } else if (resident == RESIDENT_B) {
    uint64_t held = weights * round_up(conv->c1, FRACTAL_ROWS / mm->c0);
    ka = conv_groups_in(conv, map * L1_SLOTS, held < room ? room - held : 0) * conv->window;
    kb = round_up(mm->k, ka);
  } else {
    ka = kb = groups_in(mm, (map + weights) * L1_SLOTS, room) * conv->window;
  }
  const uint64_t tile[3] = {points, step_of(job->soc, mm, bm, bn, min_u64(ka, kb)), bn};
  matmul_set_tiling(job, tile, ka, kb, resident);
  return true;
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
  return conv_from_shapes(call, &dx, weights, dy);
}

const struct lower_op lower_conv2d_backprop_input = {
    .name = "conv2d_backprop_input",
    .vendor_types = "Conv2DBackpropInput|Conv2DBackpropInputD|Conv2DTranspose|Conv2DTransposeD|"
                    "Deconvolution",
    .text = "dx[n,c,h,w]: gradient of conv2d for its map, from dy[n,k,ho,wo] and w[k,c,kh,kw]",
    .keys = keys,
    .key_count = INPUT_KEY_COUNT,
    .setup = setup,
    .candidate = candidate,
    .cost = matmul_cost,
    .emit = matmul_emit,
    .from_tensors = from_tensors,
};
