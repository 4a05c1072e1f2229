/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d: y = x * w over windows, NC1HWC0 in and out, weights in FRACTAL_Z. The trace is that of a
 * matmul whose left operand load3d makes out of the map (matmul.h).
 */
#include <inttypes.h>
#include <string.h>

#include "core/arith.h"
#include "core/layout.h"
#include "traces/lower/matmul.h"

enum {
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
  CONV_BIAS,
  CONV_TILING, /* the keys of matmul_key from MATMUL_TILE on */
  CONV_KEY_COUNT = CONV_TILING + MATMUL_KEY_COUNT - MATMUL_TILE,
};

/* Limits of load3d's operands. */
enum { FILTER_MAX = 511, STRIDE_MAX = 63, DILATION_MAX = 255, PAD_MAX = 255, L1_SLOTS = 2 };

static const struct lower_key keys[CONV_KEY_COUNT] = {
    [CONV_N] = {"n", LOWER_SIZE, "1", NULL, "images", false},
    [CONV_C] = {"c", LOWER_SIZE, NULL, NULL, "channels of the map", false},
    [CONV_H] = {"h", LOWER_SIZE, NULL, NULL, "rows of the map", false},
    [CONV_W] = {"w", LOWER_SIZE, NULL, NULL, "columns of the map", false},
    [CONV_K] = {"k", LOWER_SIZE, NULL, NULL, "channels of the result", false},
    [CONV_KERNEL] = {"kernel", LOWER_SHAPE, NULL, NULL, "window, such as 3x3", false},
    [CONV_STRIDE] = {"stride", LOWER_SHAPE, "1x1", NULL, "distance of windows", false},
    [CONV_PAD] = {"pad", LOWER_SHAPE, "", "0",
                  "padding: rows x columns, or top x bottom x left x right; default none", false},
    [CONV_DILATION] = {"dilation", LOWER_SHAPE, "1x1", NULL, "distance of a window's points",
                       false},
    [CONV_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|fp32|hf32", "type of x and w", false},
    [CONV_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "", "fp16|bf16|fp32",
                        "type of y; default: that of x, fp32 for hf32", false},
    [CONV_BIAS] = {"bias", LOWER_WORD, "0", "0|1", "adds k fp32 values", false},
    [CONV_TILING] = {"tile", LOWER_SHAPE, NULL, NULL,
                     "places x (channels x window) x channels of y of a block in L0", true},
    [CONV_TILING + 1] = {"panel", LOWER_SHAPE, NULL, NULL,
                         "depth of the map's and of the weights' panels in L1", true},
    [CONV_TILING + 2] = {"resident", LOWER_WORD, NULL, "none|a|b",
                         "a: the map, b: the weights stay in L1 from block to block", true},
    [CONV_TILING + 3] = {"band", LOWER_SIZE, NULL, NULL,
                         "rows of blocks that the cores walk through together", true},
    [CONV_TILING + 4] = {"cores", LOWER_SIZE, NULL, NULL, "cores to use", true},
};

/* ---- arguments ---- */

static bool pair(const struct lower_value *value, uint64_t maximum, uint64_t *a, uint64_t *b) {
  if (value->rank != 2 || value->shape[0] > maximum || value->shape[1] > maximum)
    return false;
  *a = value->shape[0];
  *b = value->shape[1];
  return true;
}

static enum vinci_status read_geometry(struct lower_job *job, struct conv *conv) {
  const struct lower_value *value = job->value, *pad = &value[CONV_PAD];
  if (!pair(&value[CONV_KERNEL], FILTER_MAX, &conv->kh, &conv->kw))
    return lower_error(job, "kernel is HxW of up to %d", FILTER_MAX);
  if (!pair(&value[CONV_STRIDE], STRIDE_MAX, &conv->sh, &conv->sw))
    return lower_error(job, "stride is HxW of up to %d", STRIDE_MAX);
  if (!pair(&value[CONV_DILATION], DILATION_MAX, &conv->dh, &conv->dw))
    return lower_error(job, "dilation is HxW of up to %d", DILATION_MAX);
  bool both = pad->rank == 2;
  if (pad->present && !both && pad->rank != 4)
    return lower_error(job, "pad is HxW or TOPxBOTTOMxLEFTxRIGHT");
  if (pad->present) {
    conv->top = pad->shape[0];
    conv->bottom = pad->shape[both ? 0 : 1];
    conv->left = pad->shape[both ? 1 : 2];
    conv->right = pad->shape[both ? 1 : 3];
  }
  if (max_u64(max_u64(conv->top, conv->bottom), max_u64(conv->left, conv->right)) > PAD_MAX)
    return lower_error(job, "pads are at most %d", PAD_MAX);
  uint64_t high = conv->h + conv->top + conv->bottom, wide = conv->w + conv->left + conv->right;
  uint64_t window_h = (conv->kh - 1) * conv->dh + 1, window_w = (conv->kw - 1) * conv->dw + 1;
  if (window_h > high || window_w > wide)
    return lower_error(job, "the window is larger than the map");
  conv->ho = (high - window_h) / conv->sh + 1;
  conv->wo = (wide - window_w) / conv->sw + 1;
  if (conv->top >= window_h || conv->bottom >= window_h)
    return lower_error(job, "more padding than window");
  if (conv->h * conv->w > UINT16_MAX)
    return lower_error(job, "maps of more than %d points are not supported", UINT16_MAX);
  return VINCI_OK;
}

static enum dtype default_out(enum dtype type) { return type == DTYPE_HF32 ? DTYPE_FP32 : type; }

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  struct conv *conv = ARENA_NEW(job->arena, struct conv);
  if (!mm || !conv)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  enum dtype type = value[CONV_DTYPE].dtype;
  uint64_t c0 = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(type);
  *conv = (struct conv){
      .c1 = ceil_div(value[CONV_C].size, c0), .h = value[CONV_H].size, .w = value[CONV_W].size};
  enum vinci_status status = read_geometry(job, conv);
  if (status != VINCI_OK)
    return status;
  conv->window = conv->kh * conv->kw * c0;
  *mm = (struct matmul){
      .name = "conv2d",
      .a_name = "x",
      .b_name = "w",
      .c_name = "y",
      .first_key = CONV_TILING,
      .conv = conv,
      .batch = value[CONV_N].size,
      .m = conv->ho * conv->wo,
      .k = conv->c1 * conv->window,
      .n = value[CONV_K].size,
      .type = type,
      .out_type = value[CONV_OUT_DTYPE].present ? value[CONV_OUT_DTYPE].dtype : default_out(type),
      .element_bytes = dtype_bits(type) / BITS_PER_BYTE,
      .c0 = c0,
      .trans_b = true,
      .nz_a = true,
      .nz_b = true,
      .nz_c = true,
      .bias = value[CONV_BIAS].word,
      .cube_mcycles = (uint64_t)soc_cube_mcycles(job->soc, type),
  };
  mm->out_bytes = dtype_bits(mm->out_type) / BITS_PER_BYTE;
  job->data = mm;
  if (mm->cube_mcycles == 0)
    return lower_error(job, "the cube of %s does not compute in %s", job->soc->name,
                       dtype_name(type));
  if (job->soc->arch == ARCH_C100 || job->soc->arch == ARCH_M200)
    return lower_error(job, "not for %s", arch_name(job->soc->arch));
  return VINCI_OK;
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

/* Groups of channels, evenly, so that a panel of so many takes at most `room`. */
static uint64_t groups_in(const struct conv *conv, uint64_t group_bytes, uint64_t room) {
  uint64_t most = max_u64(1, min_u64(conv->c1, room / group_bytes));
  return ceil_div(conv->c1, ceil_div(conv->c1, most));
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  if (index >= (size_t)SIDE_COUNT * SIDE_COUNT * KIND_COUNT)
    return false;
  uint64_t bm = matmul_even(mm->m, sides[index / KIND_COUNT / SIDE_COUNT], FRACTAL_ROWS);
  uint64_t bn =
      matmul_even(mm->n, sides[index / KIND_COUNT % SIDE_COUNT], max_u64(mm->c0, FRACTAL_ROWS));
  uint64_t room = (uint64_t)job->soc->l1_bytes;
  room -= mm->bias ? L1_SLOTS * (uint64_t)job->soc->bt_bytes : 0;
  uint64_t map = conv_rows(conv, bm) * conv->w * BLOCK_BYTES; /* of a group of channels */
  uint64_t weights = bn * mm->element_bytes;                  /* of an element of k */
  uint64_t ka, kb;
  enum matmul_resident resident = (enum matmul_resident)(index % KIND_COUNT);
  if (resident == RESIDENT_A) {
    uint64_t held = map * conv->c1, left = held < room ? room - held : 0;
    uint64_t most = max_u64(mm->c0, min_u64(mm->k, left / L1_SLOTS / weights) / mm->c0 * mm->c0);
    kb = round_up(ceil_div(mm->k, ceil_div(mm->k, most)), mm->c0);
    ka = round_up(mm->k, kb);
  } else if (resident == RESIDENT_B) {
    uint64_t held = weights * mm->k, left = held < room ? room - held : 0;
    ka = groups_in(conv, map * L1_SLOTS, left) * conv->window;
    kb = round_up(mm->k, ka);
  } else {
    ka = groups_in(conv, (map + weights * conv->window) * L1_SLOTS, room) * conv->window;
    kb = ka;
  }
  const uint64_t tile[3] = {bm, step_of(job->soc, mm, bm, bn, min_u64(ka, kb)), bn};
  matmul_set_tiling(job, tile, ka, kb, resident);
  return true;
}

/* ---- from a profile ---- */

/*
 * NC1HWC0 maps and FRACTAL_Z weights [c1 * kh * kw, n1, 16, c0] tell neither window nor padding:
 * the window is taken for square, the padding for what keeps the size (stride 1), or for the
 * smallest that gives the result at the stride the sizes suggest.
 */
static bool geometry(struct lower_call *call, const uint64_t *x, const uint64_t *y,
                     uint64_t points) {
  uint64_t side = 1;
  while (side * side < points)
    side++;
  if (side * side != points)
    return lower_cannot(call, "the window is not square");
  uint64_t stride = (x[2] + y[2] / 2) / y[2];
  uint64_t needed = (y[2] - 1) * stride + side;
  uint64_t all = needed > x[2] ? needed - x[2] : 0, pad = (all + 1) / 2;
  if ((x[2] + 2 * pad - side) / stride + 1 != y[2] || (x[3] + 2 * pad - side) / stride + 1 != y[3])
    return lower_cannot(call, "stride and padding cannot be told from the shapes");
  lower_arg(call, "kernel=%" PRIu64 "x%" PRIu64, side, side);
  lower_arg(call, "stride=%" PRIu64 "x%" PRIu64, stride, stride);
  if (pad > 0)
    lower_arg(call, "pad=%" PRIu64 "x%" PRIu64, pad, pad);
  return true;
}

static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *in = &call->input[0], *weights = &call->input[1];
  const struct lower_tensor *out = &call->output[0];
  if (call->input_count < 2 || call->output_count < 1 || in->rank != 5 || weights->rank != 4 ||
      out->rank != 5)
    return lower_cannot(call, "NC1HWC0 maps and FRACTAL_Z weights are needed");
  const uint64_t *x = in->shape, *y = out->shape;
  if (weights->shape[0] % x[1] != 0)
    return lower_cannot(call, "groups are not supported");
  if (!geometry(call, x, y, weights->shape[0] / x[1]))
    return false;
  /* The vendor's framework lets convolutions of fp32 compute in hf32. */
  bool hf32 = in->dtype == DTYPE_FP32 && soc_cube_mcycles(call->soc, DTYPE_HF32) > 0;
  lower_arg(call, "n=%" PRIu64, x[0]);
  lower_arg(call, "c=%" PRIu64, x[1] * x[4]);
  lower_arg(call, "h=%" PRIu64, x[2]);
  lower_arg(call, "w=%" PRIu64, x[3]);
  lower_arg(call, "k=%" PRIu64, y[1] * y[4]);
  lower_arg(call, "dtype=%s", dtype_name(hf32 ? DTYPE_HF32 : in->dtype));
  lower_arg(call, "bias=%d", call->input_count > 2 && call->input[2].rank > 0);
  if (call->blocks > 0)
    lower_arg(call, "cores=%" PRIu64, call->blocks);
  return true;
}

const struct lower_op lower_conv2d = {
    .name = "conv2d",
    .vendor_types = "Conv2D",
    .text = "y[n,k,ho,wo] = windows of x[n,c,h,w] times w[k,c,kh,kw]",
    .keys = keys,
    .key_count = CONV_KEY_COUNT,
    .setup = setup,
    .candidate = candidate,
    .cost = matmul_cost,
    .emit = matmul_emit,
    .from_tensors = from_tensors,
};
