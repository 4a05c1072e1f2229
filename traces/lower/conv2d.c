/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d: y = x * w over windows, NC1HWC0 in and out, weights in FRACTAL_Z. The trace is that of a
 * matmul whose left operand load3d makes out of the map (matmul.h).
 */
#include "core/arith.h"
#include "core/layout.h"
#include "traces/lower/conv.h"

enum {
  CONV_BIAS = CONV_GROUPED_KEYS,
  CONV_TILING, /* the keys of matmul_key from MATMUL_TILE on */
  CONV_KEY_COUNT = CONV_TILING + MATMUL_KEY_COUNT - MATMUL_TILE,
};

enum { L1_SLOTS = 2 };

static const struct lower_key keys[CONV_KEY_COUNT] = {
    CONV_KEY_ROWS,
    CONV_GROUPS_ROW,
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
    status = conv_geometry(job, mm->c0, conv);
  uint64_t c;
  if (status == VINCI_OK)
    status = conv_groups(job, mm, conv, &c, &mm->n);
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
  lower_arg(call, "bias=%d", call->input_count > 2 && call->input[2].rank > 0);
  return true;
}

const struct lower_op lower_conv2d = {
    .name = "conv2d",
    .vendor_types = "Conv2D|DepthwiseConv2D",
    .text = "y[n,k,ho,wo] = windows of x[n,c,h,w] times w[k,c,kh,kw]",
    .keys = keys,
    .key_count = CONV_KEY_COUNT,
    .setup = setup,
    .candidate = candidate,
    .cost = matmul_cost,
    .emit = matmul_emit,
    .from_tensors = from_tensors,
};
