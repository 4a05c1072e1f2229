/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators on the halves of rows: gated units, rotary position embedding. */
#include <string.h>

#include "traces/lower/vector/elementwise.h"

#define FLOATS "fp16|bf16|fp32"

enum { KEY_SHAPE, KEY_DTYPE, KEY_TILING, HALVES_KEYS = KEY_TILING + VTILE_KEYS };

static const struct lower_key gate_keys[HALVES_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL, "extents of x; the last is even", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", FLOATS, "type of x and y", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

static const struct lower_key rope_keys[HALVES_KEYS] = {
    [KEY_SHAPE] = {"shape", LOWER_SHAPE, NULL, NULL,
                   "extents of x: positions first, the even extent of a head last", false},
    [KEY_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", FLOATS, "type of all", false},
    VTILE_KEY_ROWS_TABLE(KEY_TILING),
};

/* An operand of half a row, at a stride from row to row. */
static void set_operand(struct vew_operand *operand, const char *name, enum dtype dtype,
                        uint64_t base, uint64_t outer_stride, uint64_t row_stride) {
  operand->type = dtype;
  operand->kind = row_stride ? VKIND_FULL : VKIND_ROW;
  operand->tile = (struct vtile_operand){.name = name,
                                         .dtype = dtype,
                                         .base = base,
                                         .outer_stride = {outer_stride},
                                         .row_stride = row_stride,
                                         .col_stride = 1};
}

static void set_tensor(struct vew *ew, unsigned input, const uint64_t *shape, unsigned rank) {
  ew->rank[input] = rank;
  memcpy(ew->shape[input], shape, rank * sizeof *shape);
}

static enum vinci_status even_rows(struct lower_job *job, uint64_t *half) {
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  *half = shape->shape[shape->rank - 1] / 2;
  if (shape->shape[shape->rank - 1] % 2 != 0)
    return lower_error(job, "the last extent of x is even");
  return VINCI_OK;
}

static bool call_halves(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_dtype(call, "dtype", x);
  return true;
}

/* ---- swiglu ---------------------------------------------------------------------------------- */

static const struct vstep swiglu_steps[] = {S("vmuls", T0, X0, -1), U("vexp", T0, T0),
                                            S("vadds", T0, T0, 1),  B("vdiv", T0, X0, T0),
                                            B("vmul", Y0, T0, X1),  END};

static enum vinci_status swiglu_setup(struct lower_job *job) {
  static const struct vfunc func = {.inputs = 2, .outputs = 1, .steps = swiglu_steps};
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  enum dtype dtype = job->value[KEY_DTYPE].dtype;
  struct vew *ew = vew_new(job, &func);
  uint64_t half;
  if (!ew)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = even_rows(job, &half);
  if (status != VINCI_OK)
    return status;
  for (unsigned k = 0; k < func.inputs; k++)
    set_operand(&ew->in[k], "x", dtype, k * half, 0, 2 * half);
  set_operand(&ew->out[0], "y", dtype, 0, 0, half);
  set_tensor(ew, 0, shape->shape, shape->rank);
  memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
  ew->out_rank = shape->rank;
  ew->out_shape[shape->rank - 1] = half;
  ew->tile.space =
      (struct vtile_space){.rows = lower_elements(shape->shape, shape->rank - 1), .cols = half};
  return vew_program(job, ew);
}

VEW_OP(swiglu, "SwiGlu", "y = a / (1 + exp(-a)) * b, a and b being the halves of each row of x",
       gate_keys, HALVES_KEYS, call_halves, swiglu_setup, NULL)

/* ---- rotary position embedding --------------------------------------------------------------- */

/* X0, X1: halves of x; X2, X3: of cos; X4, X5: of sin. */
static const struct vstep rope_steps[] = {B("vmul", T0, X0, X2),
                                          B("vmul", T1, X1, X4),
                                          B("vsub", Y0, T0, T1),
                                          B("vmul", T0, X1, X3),
                                          B("vmul", T1, X0, X5),
                                          B("vadd", Y1, T0, T1),
                                          END};
static const struct vstep rope_grad_steps[] = {B("vmul", T0, X0, X2),
                                               B("vmul", T1, X1, X5),
                                               B("vadd", Y0, T0, T1),
                                               B("vmul", T0, X1, X3),
                                               B("vmul", T1, X0, X4),
                                               B("vsub", Y1, T0, T1),
                                               END};

static enum vinci_status rope_setup(struct lower_job *job) {
  const struct lower_value *shape = &job->value[KEY_SHAPE];
  enum dtype dtype = job->value[KEY_DTYPE].dtype;
  struct vew *ew = vew_new(job, job->op->spec);
  uint64_t half;
  if (!ew)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = even_rows(job, &half);
  if (status != VINCI_OK)
    return status;
  uint64_t positions = shape->rank > 1 ? shape->shape[0] : 1;
  uint64_t heads = lower_elements(shape->shape, shape->rank - 1) / positions;
  const uint64_t table[] = {positions, 2 * half};
  for (unsigned h = 0; h < 2; h++) {
    set_operand(&ew->in[h], "x", dtype, h * half, heads * 2 * half, 2 * half);
    set_operand(&ew->in[2 + h], "cos", dtype, h * half, 2 * half, 0);
    set_operand(&ew->in[4 + h], "sin", dtype, h * half, 2 * half, 0);
    set_operand(&ew->out[h], "y", dtype, h * half, heads * 2 * half, 2 * half);
  }
  set_tensor(ew, 0, shape->shape, shape->rank);
  set_tensor(ew, 2, table, 2);
  set_tensor(ew, 4, table, 2);
  memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
  ew->out_rank = shape->rank;
  ew->tile.space =
      (struct vtile_space){.outers = 1, .outer = {positions}, .rows = heads, .cols = half};
  return vew_program(job, ew);
}

#define ROPE(id, vendor, summary)                                                                  \
  VEW_OP(id, vendor, summary, rope_keys, HALVES_KEYS, call_halves, rope_setup,                     \
         VFUNC(.inputs = 6, .outputs = 2, .steps = id##_steps))

ROPE(rope, "RotaryPositionEmbedding",
     "y = x * cos + (-b, a) * sin, a and b being the halves of each head; cos, sin by position")
ROPE(rope_grad, "RotaryPositionEmbeddingGrad", "gradient of rope: y = x * cos + (b, -a) * sin")
