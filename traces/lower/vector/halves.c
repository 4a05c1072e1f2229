/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators on the halves of rows: gated units, and rotary position embedding where the
 * halves are no whole blocks (rope.c has the others). */
#include <string.h>

#include "traces/lower/vector/elementwise.h"
#include "traces/lower/vector/rope.h"

#define FLOATS "fp16|bf16|fp32"

static const struct lower_key gate_keys[] = {SHAPE_KEY("extents of x; the last is even"),
                                             DTYPE_KEY("fp16", FLOATS, "type of x and y"),
                                             VTILE_KEYS_TABLE};
static const struct lower_key rope_keys[] = {
    SHAPE_KEY("extents of x: positions first, the even extent of a head last"),
    DTYPE_KEY("fp16", FLOATS, "type of all"), VTILE_KEYS_TABLE};

/* Half a row of an operand, at a stride from row to row; 0: the same for all rows. */
static void set_operand(struct vew_operand *operand, enum dtype dtype, uint64_t base,
                        uint64_t outer_stride, uint64_t row_stride) {
  operand->type = operand->tile.dtype = dtype;
  operand->kind = row_stride ? VKIND_FULL : VKIND_ROW;
  operand->tile.base = base;
  operand->tile.outer_stride[0] = outer_stride;
  operand->tile.row_stride = row_stride;
  operand->tile.col_stride = 1;
}

static void set_tensor(struct vew *ew, unsigned input, const uint64_t *shape, unsigned rank) {
  ew->rank[input] = rank;
  memcpy(ew->shape[input], shape, rank * sizeof *shape);
}

/* The extents of whole rows, whose last one is even; half of that. */
static enum vinci_status even_rows(struct lower_job *job, const struct lower_value **shape,
                                   uint64_t *half) {
  *shape = lower_get(job, "shape");
  *half = (*shape)->shape[(*shape)->rank - 1] / 2;
  if ((*shape)->shape[(*shape)->rank - 1] % 2 != 0)
    return lower_error(job, "the last extent of x is even");
  return VINCI_OK;
}

static bool call_halves(struct lower_call *call) {
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

/* ---- gated units ----------------------------------------------------------------------------- */

/* Whether operands k and k + 1, inputs first, are the halves of one tensor. */
static bool are_halves(const struct vfunc *func, unsigned k) {
  return k + 1 < func->inputs + func->outputs && strcmp(func->names[k], func->names[k + 1]) == 0;
}

/* A name that stands twice is a tensor of whole rows, as both of its halves; others have half of
 * each row. */
static enum vinci_status gate_operands(struct lower_job *job, struct vew *ew) {
  const struct vfunc *func = &ew->func;
  const struct lower_value *shape;
  uint64_t half, extents[TENSOR_RANK_MAX];
  enum vinci_status status = even_rows(job, &shape, &half);
  if (status != VINCI_OK)
    return status;
  memcpy(extents, shape->shape, sizeof extents);
  for (unsigned k = 0; k < func->inputs + func->outputs; k++) {
    bool is_in = k<func->inputs, second = k> 0 && are_halves(func, k - 1);
    uint64_t row = second || are_halves(func, k) ? 2 * half : half;
    extents[shape->rank - 1] = row;
    set_operand(is_in ? &ew->in[k] : &ew->out[k - func->inputs], lower_get(job, "dtype")->dtype,
                second ? half : 0, 0, row);
    if (is_in && !second)
      set_tensor(ew, k, extents, shape->rank);
  }
  memcpy(ew->out_shape, extents, sizeof extents);
  ew->out_rank = shape->rank;
  ew->kernel.tile.space =
      (struct vtile_space){.rows = lower_elements(shape->shape, shape->rank - 1), .cols = half};
  return VINCI_OK;
}

static const char *const swiglu_names[] = {"x", "x", "y"};
static const struct vstep swiglu_steps[] = {S("vmuls", T0, X0, -1), U("vexp", T0, T0),
                                            S("vadds", T0, T0, 1),  B("vdiv", T0, X0, T0),
                                            B("vmul", Y0, T0, X1),  END};

/* s = 1 / (1 + exp(-a)): da = dy * b * (s + a * s * (1 - s)), db = dy * a * s. */
static const char *const swiglu_grad_names[] = {"dy", "x", "x", "dx", "dx"};
static const struct vstep swiglu_grad_steps[] = {S("vmuls", T0, X1, -1),
                                                 U("vexp", T0, T0),
                                                 S("vadds", T0, T0, 1),
                                                 FILL(T1, 1),
                                                 B("vdiv", T0, T1, T0),
                                                 B("vmul", T1, X1, T0),
                                                 B("vmul", Y1, X0, T1),
                                                 B("vmul", T2, T1, T0),
                                                 B("vsub", T1, T1, T2),
                                                 B("vadd", T1, T1, T0),
                                                 B("vmul", T0, X0, X2),
                                                 B("vmul", Y0, T0, T1),
                                                 END};

/* dy, x. */
static bool call_gradient(struct lower_call *call) {
  if (call->input_count < 2)
    return lower_cannot(call, "two inputs are needed");
  lower_arg_tensor(call, &call->input[1]);
  return true;
}

#define GATE(id, vendor, summary, call, inputs_, outputs_)                                         \
  VEW_OPERATOR(id, vendor, summary, gate_keys, call, .inputs = inputs_, .outputs = outputs_,       \
               .names = id##_names, .steps = id##_steps, .operands = gate_operands)

GATE(swiglu, "SwiGlu", "y = a / (1 + exp(-a)) * b, a and b being the halves of each row of x",
     call_halves, 2, 1)
GATE(swiglu_grad, "SwiGluGrad", "gradient of swiglu: dx from dy and x, whose extents are the shape",
     call_gradient, 3, 2)

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

static const char *const rope_names[] = {"x", "x", "cos", "cos", "sin", "sin", "y", "y"};

static enum vinci_status rope_operands(struct lower_job *job, struct vew *ew) {
  enum dtype dtype = lower_get(job, "dtype")->dtype;
  const struct lower_value *shape;
  uint64_t half;
  enum vinci_status status = even_rows(job, &shape, &half);
  if (status != VINCI_OK)
    return status;
  uint64_t positions = shape->rank > 1 ? shape->shape[0] : 1;
  uint64_t heads = lower_elements(shape->shape, shape->rank - 1) / positions;
  const uint64_t table[] = {positions, 2 * half};
  for (unsigned h = 0; h < 2; h++) {
    set_operand(&ew->in[h], dtype, h * half, heads * 2 * half, 2 * half);
    set_operand(&ew->in[2 + h], dtype, h * half, 2 * half, 0);
    set_operand(&ew->in[4 + h], dtype, h * half, 2 * half, 0);
    set_operand(&ew->out[h], dtype, h * half, heads * 2 * half, 2 * half);
  }
  set_tensor(ew, 0, shape->shape, shape->rank);
  set_tensor(ew, 2, table, 2);
  set_tensor(ew, 4, table, 2);
  memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
  ew->out_rank = shape->rank;
  ew->kernel.tile.space =
      (struct vtile_space){.outers = 1, .outer = {positions}, .rows = heads, .cols = half};
  return VINCI_OK;
}

/* The vendor's kernel where the halves are whole blocks, else the elementwise template. */
static enum vinci_status rope_setup(struct lower_job *job) {
  return rope_fits(job) ? rope_template.setup(job) : vew_template.setup(job);
}

static const struct lower_template either_rope = VKERNEL_TEMPLATE(rope_setup);

#define ROPE(id, vendor, summary)                                                                  \
  LOWER_OPERATOR(id, vendor, summary, rope_keys, &either_rope,                                     \
                 VFUNC(.inputs = 6, .outputs = 2, .names = rope_names, .steps = id##_steps,        \
                       .operands = rope_operands),                                                 \
                 call_halves)

ROPE(rope, "RotaryPositionEmbedding",
     "y = x * cos + (-b, a) * sin, a and b being the halves of each head; cos, sin by position")
ROPE(rope_grad, "RotaryPositionEmbeddingGrad", "gradient of rope: y = x * cos + (b, -a) * sin")
