/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d: y = x * w over windows, NC1HWC0 in and out, weights in FRACTAL_Z. The trace is that of a
 * matmul whose left operand load3d makes out of the map (matmul.h).
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/conv.h"

enum {
  CONV_BIAS = CONV_GROUPED_KEYS,
  CONV_C04,
  CONV_SCALE,
  CONV_SCALES,
  CONV_TILING, /* the keys of matmul_key from MATMUL_TILE on */
  CONV_KEY_COUNT = CONV_TILING + MATMUL_KEY_COUNT - MATMUL_TILE,
};

enum { L1_SLOTS = 2 };

static const struct lower_key keys[CONV_KEY_COUNT] = {
    CONV_KEY_ROWS,
    CONV_GROUPS_ROW,
    [CONV_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|hf32|int8", "type of x and w",
                    false},
    [CONV_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "", "fp16|bf16|fp32|int32|int8",
                        "type of y; default: that of x, fp32 for hf32, int32 for int8", false},
    [CONV_BIAS] = {"bias", LOWER_WORD, "0", "0|1", "adds k fp32 values", false},
    [CONV_C04] = {"c04", LOWER_WORD, "0", "0|1",
                  "1: x and w with 4 channels to a block, NC1HWC0_C04 and FRACTAL_Z_C04", false},
    [CONV_SCALE] = {"scale", LOWER_NUMBER, "1", NULL,
                    "what an int32 sum is multiplied with on its way to fp16 or int8; of its "
                    "fraction the fixpipe keeps 10 bits",
                    false},
    [CONV_SCALES] = {"scales", LOWER_WORD, "0", "0|1",
                     "one scale for each channel of y instead, padding too: words as set_quant_pre "
                     "takes",
                     false},
    [CONV_TILING] = {"tile", LOWER_SHAPE, NULL, NULL,
                     "places x (channels x window) x channels of y of a block in L0", true},
    [CONV_TILING + 1] = {"panel", LOWER_SHAPE, NULL, NULL,
                         "depth of the map's and of the weights' panels in L1", true},
    [CONV_TILING + 2] = {"resident", LOWER_WORD, NULL, "none|a|b",
                         "a: the map, b: the weights stay in L1 from block to block", true},
    [CONV_TILING + 3] = {"band", LOWER_SIZE, NULL, NULL,
                         "rows of blocks that the cores walk through together", true},
    [CONV_TILING + 4] = {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true, false, true},
};

/* ---- arguments ---- */

/* How int32 sums leave, and which types go together. */
static enum vinci_status set_scale(struct lower_job *job, struct matmul *mm) {
  enum { SIGNED_BIT = 46 }; /* of the word: int8 and not uint8 */
  const struct lower_value *one = &job->value[CONV_SCALE], *each = &job->value[CONV_SCALES];
  bool integer = mm->type == DTYPE_INT8;
  bool plain = mm->out_type == DTYPE_INT32;
  bool scaled = mm->out_type == DTYPE_INT8 || (integer && mm->out_type == DTYPE_FP16);
  if (integer ? !plain && !scaled : plain || scaled)
    return lower_error(job, "%s gives no %s", dtype_name(mm->type), dtype_name(mm->out_type));
  if ((one->given || each->word) && !scaled)
    return lower_error(job, "only fp16 and int8 results of int8 have scales");
  if (one->given && each->word)
    return lower_error(job, "either one scale or one for each channel");
  if (!scaled)
    return VINCI_OK;
  mm->scale = each->word ? SCALE_COLUMNS : SCALE_TENSOR;
  mm->scale_word = matmul_scale_word(one->number);
  if (mm->out_type == DTYPE_INT8)
    mm->scale_word |= UINT64_C(1) << SIGNED_BIT;
  return VINCI_OK;
}

/* Few channels lie packed, so that the window's depth is not mostly zeros. */
static enum vinci_status set_c04(struct lower_job *job, const struct matmul *mm,
                                 struct conv *conv) {
  enum { FEW = 4 };
  if (!job->value[CONV_C04].word)
    return VINCI_OK;
  if (job->value[CONV_C].size > FEW || conv->groups > 1)
    return lower_error(job, "c04 is for up to %d channels", FEW);
  conv->block = FEW;
  conv->point_bytes = FEW * mm->element_bytes;
  conv->window = conv->kh * conv->kw * FEW;
  if (conv->w * conv->point_bytes % BLOCK_BYTES)
    return lower_error(job, "c04 is for maps whose rows are a multiple of %d bytes", BLOCK_BYTES);
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  struct conv *conv = ARENA_NEW(job->arena, struct conv);
  if (!mm || !conv)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *mm = (struct matmul){
      .name = "conv2d",
      .a_name = "x",
      .b_name = "w",
      .c_name = "y",
      .first_key = CONV_TILING,
      .conv = conv,
      .batch = value[CONV_N].size,
      .trans_b = true,
      .nz_a = true,
      .nz_b = true,
      .nz_c = true,
      .bias = value[CONV_BIAS].word,
  };
  job->data = mm;
  enum vinci_status status = conv_types(job, mm);
  if (status == VINCI_OK)
    status = set_scale(job, mm);
  if (status == VINCI_OK)
    status = conv_geometry(job, mm->c0, conv);
  uint64_t c;
  if (status == VINCI_OK)
    status = conv_groups(job, mm, conv, &c, &mm->n);
  if (status == VINCI_OK)
    status = set_c04(job, mm, conv);
  if (mm->out_type == DTYPE_INT8) /* weights reach to the end of a block of y */
    mm->n = round_up(mm->n, matmul_out_c0(mm));
  mm->batch *= conv->groups;
  mm->m = conv->ho * conv->wo;
  mm->k = conv->c1 * conv->window;
  return status;
}

/* ---- candidates ---- */

static const uint16_t sides[] = {512, 384, 320, 256, 224, 192, 176, 160, 144,
                                 128, 112, 96,  80,  64,  48,  32,  16};
enum { SIDE_COUNT = sizeof sides / sizeof *sides, KIND_COUNT = 3 };

/* As deep a step as L0 holds twice, dividing the panel into equal ones. */
static uint64_t step_of(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                        uint64_t bn, uint64_t panel) {
  uint64_t a = (uint64_t)soc->l0a_bytes / L1_SLOTS / (bm * mm->element_bytes);
  uint64_t b = (uint64_t)soc->l0b_bytes / L1_SLOTS / (bn * mm->element_bytes);
  uint64_t most = max_u64(min_u64(a, b) / mm->c0 * mm->c0, mm->c0);
  return round_up(ceil_div(panel, ceil_div(panel, most)), mm->c0);
}

/*
 * First layers, with a single block of channels: profiles of the vendor's library tell by the times
 * of MTE2 and cube that a block is a row of the result or so, and that the weights are read for
 * each.
 */
enum { FIRST_POINTS = 64, FIRST_POINTS_MAX = 512 };

static bool is_first_layer(const struct conv *conv) {
  return conv->c1 == 1 && conv->groups == 1 && conv->kh * conv->kw > 1 &&
         conv->wo <= FIRST_POINTS_MAX;
}

static uint64_t l1_room(const struct lower_job *job) {
  const struct matmul *mm = job->data;
  uint64_t room = (uint64_t)job->soc->l1_bytes;
  return room - (mm->bias ? L1_SLOTS * (uint64_t)job->soc->bt_bytes : 0);
}

/* The window's depth for weights of which two panels take at most `room`, evenly. */
static uint64_t weights_depth(const struct matmul *mm, uint64_t bn, uint64_t room) {
  uint64_t fitting = room / L1_SLOTS / (bn * mm->element_bytes);
  uint64_t most = max_u64(mm->c0, min_u64(mm->k, fitting) / mm->c0 * mm->c0);
  return round_up(ceil_div(mm->k, ceil_div(mm->k, most)), mm->c0);
}

static bool first_layer_candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  if (index >= SIDE_COUNT)
    return false;
  uint64_t rows = min_u64(conv->ho, max_u64(1, FIRST_POINTS / conv->wo)), points = rows * conv->wo;
  uint64_t bn = matmul_even(mm->n, sides[index], max_u64(mm->c0, FRACTAL_ROWS));
  uint64_t map = conv_rows(conv, points) * conv->w * conv->point_bytes * L1_SLOTS,
           room = l1_room(job);
  uint64_t kb = weights_depth(mm, bn, map < room ? room - map : 0);
  const uint64_t tile[3] = {points, step_of(job->soc, mm, round_up(points, FRACTAL_ROWS), bn, kb),
                            bn};
  matmul_set_tiling(job, tile, round_up(mm->k, kb), kb, RESIDENT_NONE);
  return true;
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  if (is_first_layer(conv))
    return first_layer_candidate(job, index);
  if (index >= (size_t)SIDE_COUNT * SIDE_COUNT * KIND_COUNT)
    return false;
  uint64_t bm = matmul_even(mm->m, sides[index / KIND_COUNT / SIDE_COUNT], FRACTAL_ROWS);
  uint64_t bn =
      matmul_even(mm->n, sides[index / KIND_COUNT % SIDE_COUNT], max_u64(mm->c0, FRACTAL_ROWS));
  uint64_t room = l1_room(job);
  uint64_t map = conv_rows(conv, bm) * conv->w * conv->point_bytes; /* of a group of channels */
  uint64_t weights = bn * mm->element_bytes;                        /* of an element of k */
  uint64_t ka, kb;
  enum matmul_resident resident = (enum matmul_resident)(index % KIND_COUNT);
  if (resident == RESIDENT_A) {
    uint64_t held = map * conv->c1, left = held < room ? room - held : 0;
    kb = weights_depth(mm, bn, left);
    ka = round_up(mm->k, kb);
  } else if (resident == RESIDENT_B) {
    uint64_t held = weights * mm->k, left = held < room ? room - held : 0;
    ka = conv_groups_in(conv, map * L1_SLOTS, left) * conv->window;
    kb = round_up(mm->k, ka);
  } else {
    ka = conv_groups_in(conv, (map + weights * conv->window) * L1_SLOTS, room) * conv->window;
    kb = ka;
  }
  const uint64_t tile[3] = {bm, step_of(job->soc, mm, bm, bn, min_u64(ka, kb)), bn};
  matmul_set_tiling(job, tile, ka, kb, resident);
  return true;
}

/* ---- from a profile ---- */

static bool from_tensors(struct lower_call *call) {
  if (call->input_count < 2 || call->output_count < 1)
    return lower_cannot(call, "a map, weights and a result are needed");
  if (!conv_from_shapes(call, &call->input[0], &call->input[1], &call->output[0]))
    return false;
  if (call->input[0].shape[4] == 4)
    lower_arg(call, "c04=1");
  lower_arg(call, "bias=%d", call->input_count > 2 && call->input[2].rank > 0);
  return true;
}

static const struct lower_template template = {setup, candidate, matmul_cost, matmul_emit};

LOWER_OPERATOR(conv2d, "Conv2D|DepthwiseConv2D",
               "y[n,k,ho,wo] = windows of x[n,c,h,w] times w[k,c,kh,kw]", keys, &template, NULL,
               from_tensors)
