/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of convolutions as a geometry, and profiles' shapes as keys. */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/cube/conv.h"

/* Limits of load3d's operands. */
enum { FILTER_MAX = 511, STRIDE_MAX = 63, DILATION_MAX = 255, PAD_MAX = 255, ROW_MAX = 32767 };

/* ---- arguments ---- */

static bool pair(const struct lower_value *value, uint64_t maximum, uint64_t *a, uint64_t *b) {
  if (value->rank != 2 || value->shape[0] > maximum || value->shape[1] > maximum)
    return false;
  *a = value->shape[0];
  *b = value->shape[1];
  return true;
}

static enum vinci_status read_pads(struct lower_job *job, struct conv *conv) {
  const struct lower_value *pad = &job->value[CONV_PAD];
  bool both = pad->rank == 2;
  if (!pad->present)
    return VINCI_OK;
  if (!both && pad->rank != 4)
    return lower_error(job, "pad is HxW or TOPxBOTTOMxLEFTxRIGHT");
  conv->top = pad->shape[0];
  conv->bottom = pad->shape[both ? 0 : 1];
  conv->left = pad->shape[both ? 1 : 2];
  conv->right = pad->shape[both ? 1 : 3];
  if (max_u64(max_u64(conv->top, conv->bottom), max_u64(conv->left, conv->right)) > PAD_MAX)
    return lower_error(job, "pads are at most %d", PAD_MAX);
  return VINCI_OK;
}

static enum vinci_status conv_geometry(struct lower_job *job, uint64_t c0, struct conv *conv) {
  const struct lower_value *value = job->value;
  *conv = (struct conv){
      .c1 = ceil_div(value[CONV_C].size, c0), .h = value[CONV_H].size, .w = value[CONV_W].size};
  if (!pair(&value[CONV_KERNEL], FILTER_MAX, &conv->kh, &conv->kw))
    return lower_error(job, "kernel is HxW of up to %d", FILTER_MAX);
  if (!pair(&value[CONV_STRIDE], STRIDE_MAX, &conv->sh, &conv->sw))
    return lower_error(job, "stride is HxW of up to %d", STRIDE_MAX);
  if (!pair(&value[CONV_DILATION], DILATION_MAX, &conv->dh, &conv->dw))
    return lower_error(job, "dilation is HxW of up to %d", DILATION_MAX);
  enum vinci_status status = read_pads(job, conv);
  if (status != VINCI_OK)
    return status;
  uint64_t high = conv->h + conv->top + conv->bottom, wide = conv->w + conv->left + conv->right;
  uint64_t window_h = (conv->kh - 1) * conv->dh + 1, window_w = (conv->kw - 1) * conv->dw + 1;
  if (window_h > high || window_w > wide)
    return lower_error(job, "the window is larger than the map");
  conv->ho = (high - window_h) / conv->sh + 1;
  conv->wo = (wide - window_w) / conv->sw + 1;
  if (conv->top >= window_h || conv->bottom >= window_h)
    return lower_error(job, "more padding than window");
  if (conv->w > ROW_MAX)
    return lower_error(job, "rows of the map have more than %d points", ROW_MAX);
  conv->block = c0;
  conv->point_bytes = BLOCK_BYTES;
  conv->window = conv->kh * conv->kw * c0;
  conv->groups = 1;
  conv->channels = value[CONV_K].size;
  return VINCI_OK;
}

/* ---- groups ---- */

static uint64_t least_multiple(uint64_t a, uint64_t b) {
  uint64_t x = a, y = b;
  while (y != 0) {
    uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

/* Whether whole blocks of these channels hold exactly `count` times `part` channels. */
static bool same_blocks(uint64_t channels, uint64_t count, uint64_t part, uint64_t c0) {
  return ceil_div(channels, c0) * c0 == count * part;
}

uint64_t conv_join(uint64_t groups, uint64_t c0, uint64_t out_c0, uint64_t *c, uint64_t *k) {
  uint64_t cg = *c / groups, kg = *k / groups;
  uint64_t unit = least_multiple(least_multiple(cg, c0) / cg,
                                 least_multiple(kg, max_u64(FRACTAL_ROWS, out_c0)) / kg);
  /* Where the last one would be smaller than the others, more are joined. */
  for (uint64_t joined = unit; joined < groups; joined += unit) {
    uint64_t count = ceil_div(groups, joined), cj = joined * cg, kj = joined * kg;
    if (!same_blocks(*c, count, cj, c0) || !same_blocks(*c, count, cj, out_c0) ||
        !same_blocks(*k, count, kj, c0) || !same_blocks(*k, count, kj, out_c0))
      continue;
    *c = cj;
    *k = kj;
    return count;
  }
  return 1;
}

static enum vinci_status conv_groups(struct lower_job *job, const struct matmul *mm,
                                     struct conv *conv, uint64_t *c, uint64_t *k) {
  uint64_t groups = job->value[CONV_GROUPS].size;
  *c = job->value[CONV_C].size;
  *k = job->value[CONV_K].size;
  if (*c % groups || *k % groups)
    return lower_error(job, "c and k have to be multiples of the groups");
  conv->groups = conv_join(groups, mm->c0, matmul_out_c0(mm), c, k);
  if (conv->groups > 1)
    conv->c1 = *c / mm->c0;
  return VINCI_OK;
}

enum vinci_status conv_types(struct lower_job *job, struct matmul *mm) {
  matmul_types(job, mm, &job->value[CONV_DTYPE], &job->value[CONV_OUT_DTYPE]);
  mm->coupled = matmul_is_coupled(job->soc);
  return matmul_check_cube(job, mm);
}

/* ---- a problem of matmul ---- */

struct matmul_tensor conv_map(const char *name, enum dtype type, uint64_t images, uint64_t c1,
                              uint64_t h, uint64_t w, uint64_t c0) {
  return (struct matmul_tensor){name, matmul_stored(type), 5, {images, c1, h, w, c0}, "NC1HWC0"};
}

struct matmul_tensor conv_weights(const char *name, enum dtype type, uint64_t rows,
                                  uint64_t columns, uint64_t c0) {
  uint64_t blocks = ceil_div(columns, FRACTAL_ROWS);
  return (struct matmul_tensor){
      name, matmul_stored(type), 4, {rows, blocks, FRACTAL_ROWS, c0}, "FRACTAL_Z"};
}

enum vinci_status conv_start(struct lower_job *job, const struct matmul *names,
                             struct conv **conv) {
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  *conv = ARENA_NEW(job->arena, struct conv);
  if (!mm || !*conv)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *mm = *names;
  mm->conv = *conv;
  mm->trans_b = mm->nz_a = mm->nz_b = mm->nz_c = true;
  job->data = mm;
  return conv_types(job, mm);
}

enum vinci_status conv_shape(struct lower_job *job, const struct matmul *mm, struct conv *conv,
                             uint64_t *c, uint64_t *k) {
  enum vinci_status status = conv_geometry(job, mm->c0, conv);
  return status == VINCI_OK ? conv_groups(job, mm, conv, c, k) : status;
}

void conv_finish(struct lower_job *job) {
  struct matmul *mm = job->data;
  const struct conv *conv = mm->conv;
  mm->a_batches = mm->batch = job->value[CONV_N].size * conv->groups;
  mm->b_batches = conv->groups;
  mm->m = conv->ho * conv->wo;
  mm->k = conv->c1 * conv->window;
  uint64_t c0 = mm->c0, out_c0 = matmul_out_c0(mm), groups = conv->groups;
  uint64_t images = job->value[CONV_N].size, out_c1 = groups * ceil_div(mm->n, out_c0);
  /* A gradient has the same weights as forward: there k and n have changed places. */
  bool turned = conv->gradient;
  mm->a = conv_map(mm->a.name, mm->type, images, groups * conv->c1,
                   turned ? conv->given_h : conv->h, turned ? conv->given_w : conv->w, conv->block);
  mm->b = turned
              ? conv_weights(mm->b.name, mm->type,
                             groups * ceil_div(mm->n, c0) * conv->kh * conv->kw, conv->c1 * c0, c0)
              : conv_weights(mm->b.name, mm->type, groups * ceil_div(mm->k, c0), mm->n, c0);
  mm->c = conv_map(mm->c.name, mm->out_type, images, out_c1, conv->ho, conv->wo, out_c0);
  mm->r =
      conv_map("residual", mm->type, images, groups * ceil_div(mm->n, c0), conv->ho, conv->wo, c0);
  mm->biases = conv->channels;
  mm->scales = out_c1 * out_c0;
}

/* ---- from a profile ---- */

/*
 * Shapes tell neither window nor padding: the window is taken for square, the padding for what
 * keeps the size (stride 1), or for the smallest that gives the result at the stride the sizes
 * suggest.
 */
static bool window_of(struct lower_call *call, const uint64_t *x, const uint64_t *y,
                      uint64_t points, bool rounded) {
  uint64_t side = 1;
  while ((side + 1) * (side + 1) <= points)
    side++;
  if (side * side != points && !rounded)
    return lower_cannot(call, "the window is not square");
  uint64_t stride = max_u64(1, (x[2] + y[2] / 2) / y[2]);
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

bool conv_from_shapes(struct lower_call *call, const struct lower_tensor *map,
                      const struct lower_tensor *weights, const struct lower_tensor *result) {
  if (map->rank != 5 || weights->rank != 4 || result->rank != 5)
    return lower_cannot(call, "NC1HWC0 maps and FRACTAL_Z weights are needed");
  const uint64_t *x = map->shape, *y = result->shape;
  if (weights->shape[0] % x[1] != 0 || x[4] == 0 || weights->shape[3] % x[4] != 0)
    return lower_cannot(call, "the weights do not fit the map");
  /* Of FRACTAL_Z_C04 a row has several points, the last one perhaps too many. */
  uint64_t in_row = weights->shape[3] / x[4];
  if (!window_of(call, x, y, weights->shape[0] / x[1] * in_row, in_row > 1))
    return false;
  /* The vendor's framework lets convolutions of fp32 compute in hf32, unless the row says no. */
  bool hf32 = map->dtype == DTYPE_FP32 && soc_cube_mcycles(call->soc, DTYPE_HF32) > 0 &&
              call->hf32 != LOWER_HF32_OFF;
  lower_arg(call, "n=%" PRIu64, x[0]);
  lower_arg(call, "c=%" PRIu64, x[1] * x[4]);
  lower_arg(call, "h=%" PRIu64, x[2]);
  lower_arg(call, "w=%" PRIu64, x[3]);
  lower_arg(call, "k=%" PRIu64, y[1] * y[4]);
  /* Weights of one group have a part of all channels of y. */
  uint64_t rows = weights->shape[1] * FRACTAL_ROWS, all = round_up(y[1] * y[4], FRACTAL_ROWS);
  if (rows < all && all % rows == 0)
    lower_arg(call, "groups=%" PRIu64, all / rows);
  struct lower_tensor computed = *map;
  computed.dtype = hf32 ? DTYPE_HF32 : map->dtype;
  lower_arg_dtype(call, "dtype", &computed);
  if (call->blocks > 0)
    lower_arg(call, "cores=%" PRIu64, call->blocks);
  return true;
}

void conv_take_result(struct lower_call *call, const struct lower_tensor *map,
                      const struct lower_tensor *result) {
  enum dtype usual = map->dtype == DTYPE_INT8 ? DTYPE_INT32 : map->dtype;
  if (result->typed && result->dtype != usual)
    lower_arg_dtype(call, "out_dtype", result);
}
