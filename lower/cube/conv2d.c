/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d: y = x * w over windows, NC1HWC0 in and out, weights in FRACTAL_Z. The trace is that of a
 * matmul whose left operand load3d makes out of the map (matmul.h).
 */
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/cube/conv.h"
#include "lower/cube/matmul_tail.h"
#include "lower/select/select.h"

enum {
  CONV_BIAS = CONV_KEYS,
  CONV_C04,
  CONV_SCALE,
  CONV_SCALES,
  CONV_PAD_VALUE,
  CONV_RELU,
  CONV_RESIDUAL,
  CONV_OWN_KNOBS,
  CONV_SPLIT = CONV_OWN_KNOBS + CONV_KNOBS,
  CONV_TILING, /* the keys of matmul_key from MATMUL_TILE on */
  CONV_KEY_COUNT = CONV_TILING + MATMUL_TILING_KEYS,
};

static const struct lower_key keys[CONV_KEY_COUNT] = {
    CONV_KEY_ROWS("fp16|bf16|fp32|hf32|int8", "type of x and w", "fp16|bf16|fp32|int32|int8", "",
                  "type of y; default: that of x, fp32 for hf32, int32 for int8"),
    [CONV_BIAS] = {"bias", LOWER_WORD, "0", "0|1", "adds k fp32 values"},
    [CONV_C04] = {"c04", LOWER_WORD, "0", "0|1",
                  "1: x and w with 4 channels to a block, NC1HWC0_C04 and FRACTAL_Z_C04"},
    [CONV_SCALE] = {"scale", LOWER_NUMBER, "1", NULL,
                    "what an int32 sum is multiplied with on its way to fp16 or int8; of its "
                    "fraction the fixpipe keeps 10 bits"},
    [CONV_SCALES] = {"scales", LOWER_WORD, "0", "0|1",
                     "one scale for each channel of y instead, padding too: words as set_quant_pre "
                     "takes"},
    [CONV_PAD_VALUE] = {"pad_value", LOWER_NUMBER, "0", NULL,
                        "what padding holds, of int8 maps whose 0 is another number"},
    [CONV_RELU] = {"relu", LOWER_WORD, "0", "0|1", MATMUL_RELU_TEXT},
    [CONV_RESIDUAL] = {"residual", LOWER_WORD, "0", "0|1", MATMUL_RESIDUAL_TEXT},
    CONV_KNOB_ROWS(CONV_OWN_KNOBS),
    [CONV_SPLIT] = MATMUL_SPLIT_ROW,
    MATMUL_TILING_ROWS(CONV_TILING, "places x (channels x window) x channels of y of a block in L0",
                       "depth of the map's and of the weights' panels in L1",
                       "a: the map, b: the weights stay in L1 from block to block"),
};

/* ---- arguments ---- */

/* How int32 sums leave, and which types go together. */
static enum vinci_status set_scale(struct lower_job *job, struct matmul *mm) {
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
  matmul_set_scale(mm, one->number, each->word);
  return VINCI_OK;
}

/* Padding of quantised maps is their zero point (offset_x of the vendor's Conv2D). */
static enum vinci_status set_pad_value(struct lower_job *job, struct conv *conv) {
  const struct matmul *mm = job->data;
  double value = job->value[CONV_PAD_VALUE].number;
  if (value == 0)
    return VINCI_OK;
  if (mm->type != DTYPE_INT8 || value != rint(value) || value < INT8_MIN || value > INT8_MAX)
    return lower_error(job, "pad_value is a whole number from %d to %d, for maps of int8", INT8_MIN,
                       INT8_MAX);
  conv->pad_bits = (uint8_t)(int8_t)value;
  return VINCI_OK;
}

/* Few channels lie packed, so that the window's depth is not mostly zeros. */
static enum vinci_status set_c04(struct lower_job *job, struct conv *conv) {
  enum { FEW = 4 };
  const struct matmul *mm = job->data;
  if (!job->value[CONV_C04].word)
    return VINCI_OK;
  if (!select_has(job->soc, OP_IMG2COLV2_CBUF_TO_CA))
    return lower_error(job, "c04 is not for %s: its load3d takes whole blocks of channels",
                       arch_name(job->soc->arch));
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
  static const struct matmul names = {
      .name = "conv2d", .a.name = "x", .b.name = "w", .c.name = "y", .first_key = CONV_TILING};
  struct conv *conv;
  enum vinci_status status = conv_start(job, &names, &conv);
  struct matmul *mm = job->data;
  uint64_t c;
  if (status == VINCI_OK)
    status = set_scale(job, mm);
  if (status == VINCI_OK)
    status = conv_shape(job, mm, conv, &c, &mm->n);
  if (status == VINCI_OK)
    status = set_c04(job, conv);
  if (status == VINCI_OK)
    status = set_pad_value(job, conv);
  if (status != VINCI_OK)
    return status;
  mm->bias = job->value[CONV_BIAS].word;
  mm->relu = job->value[CONV_RELU].word;
  if (mm->coupled && (status = matmul_coupled_check(job, mm)) != VINCI_OK)
    return status;
  if (mm->out_type == DTYPE_INT8) /* weights reach to the end of a block of y */
    mm->n = round_up(mm->n, matmul_out_c0(mm));
  mm->residual = job->value[CONV_RESIDUAL].word;
  conv_finish(job);
  return mm->coupled && mm->residual ? matmul_tail_residual(job) : matmul_residual_check(job, mm);
}

/* ---- from a profile ---- */

static bool from_tensors(struct lower_call *call) {
  if (call->input_count < 2 || call->output_count < 1)
    return lower_cannot(call, "a map, weights and a result are needed");
  if (!conv_from_shapes(call, &call->input[0], &call->input[1], &call->output[0]))
    return false;
  conv_take_result(call, &call->input[0], &call->output[0]);
  if (call->input[0].shape[4] == 4)
    lower_arg(call, "c04=1");
  lower_arg(call, "bias=%d", call->input_count > 2 && call->input[2].rank > 0);
  return true;
}

static const struct lower_template template = MATMUL_TEMPLATE(conv_candidate);
LOWER_OPERATOR(conv2d, "Conv2D|DepthwiseConv2D",
               "y[n,k,ho,wo] = windows of x[n,c,h,w] times w[k,c,kh,kw]", keys, &template, NULL,
               from_tensors)
