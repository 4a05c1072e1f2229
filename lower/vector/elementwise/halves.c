/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators on the halves of rows: gated units, and rotary position embedding where the
 * halves are no whole blocks (rope.c has the others). */
#include <string.h>

#include "core/chip/layout.h"
#include "lower/vector/elementwise/elementwise.h"
#include "lower/vector/rows/rope.h"

#define FLOATS "fp16|bf16|fp32"

static const struct lower_key gate_keys[] = {SHAPE_KEY("extents of x; the last is even"),
                                             DTYPE_KEY("fp16", FLOATS, "type of x and y"),
                                             VTILE_KEYS_TABLE};
static const struct lower_key rope_keys[] = {
    SHAPE_KEY("extents of x: positions first, the even extent of a head last"),
    DTYPE_KEY("fp16", FLOATS, "type of all"),
    WORD_KEY("form", "half", "half|interleaved|sorted",
             "what turns together: halves of a head; neighbours; neighbours, which become halves"),
    LOWER_KEY("rotary", SIZE, "", NULL, "elements of a head that are turned; default: all"),
    LOWER_KEY("sections", SHAPE, "", NULL,
              "parts of half a head that have a position of their own: time x height x width; cos "
              "and sin have an extent of 3 first"),
    VTILE_KEYS_TABLE};
static const struct lower_key rope_grad_keys[] = {
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
               .names = id##_names, .steps = id##_steps, .operands = gate_operands,                \
               .code = KERNEL_FUSED)

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

static bool is_type(const struct lower_call *call, const char *type) {
  return strcmp(call->type, type) == 0;
}

/* Rows of x with the elements of a head last, where cos has a row for each position and may be
 * narrower: what it has no elements for stays. */
static bool call_tokens(struct lower_call *call, uint64_t elements, uint64_t tokens, uint64_t width,
                        uint64_t rotary, const struct lower_tensor *x) {
  if (tokens == 0 || width == 0 || elements % (tokens * width) || rotary > width)
    return lower_cannot(call, "heads cannot be told from the shapes");
  const uint64_t shape[] = {tokens, elements / tokens / width, width};
  lower_arg_shape(call, "shape", shape, 3);
  lower_arg_dtype(call, "dtype", x);
  if (rotary < width)
    lower_arg(call, "rotary=%llu", (unsigned long long)rotary);
  return true;
}

/* positions, queries, keys, rows of cos and sin behind each other (torch_npu, npu_mrope): as if
 * their rows lay in the order of the positions. Heads as wide as what is turned. */
static bool call_cached(struct lower_call *call) {
  enum { IN_PLACES, IN_QUERY, IN_KEY, IN_CACHE };
  const struct lower_tensor *places = &call->input[IN_PLACES], *q = &call->input[IN_QUERY],
                            *k = &call->input[IN_KEY], *cache = &call->input[IN_CACHE];
  if (call->input_count <= IN_CACHE || places->rank == 0 || q->rank == 0 || k->rank == 0 ||
      cache->rank != 2)
    return lower_cannot(call, "positions, queries, keys and a cache of cos and sin are needed");
  uint64_t tokens = places->shape[places->rank - 1], width = cache->shape[1];
  bool many = places->rank == 2 && places->shape[0] == 3;
  uint64_t both = lower_elements(q->shape, q->rank) + lower_elements(k->shape, k->rank);
  if (!call_tokens(call, both, tokens, width, width, q))
    return false;
  if (many && !(call->given && strstr(call->given, "sections=")))
    return lower_cannot(call, "how the sections are cut is an attribute, which profiles lack; say "
                              "sections=... in a column args");
  return true;
}

/* x; or queries and keys, whose heads are turned alike, and cos with the elements of a head last:
 * as one tensor of the heads of both (AtbRopeKernel, ApplyRotaryPosEmb); or x and cos of as many
 * positions. Forms that are attributes are halves unless a column args says more. */
static bool call_rope(struct lower_call *call) {
  enum { IN_QUERY, IN_KEY, IN_COS };
  const struct lower_tensor *q = &call->input[IN_QUERY], *k = &call->input[IN_KEY];
  if (is_type(call, "RopeWithSinCosCache"))
    return call_cached(call);
  bool two = is_type(call, "AtbRopeKernel") || is_type(call, "ApplyRotaryPosEmb");
  bool one = is_type(call, "InterleaveRope") || is_type(call, "_triton_rope_siso");
  if (!two && !one)
    return call_halves(call);
  const struct lower_tensor *cosine = &call->input[two ? IN_COS : IN_COS - 1];
  if (call->input_count <= (two ? IN_COS : IN_COS - 1) || cosine->rank == 0 || q->rank == 0 ||
      (two && k->rank == 0))
    return lower_cannot(call, two ? "queries, keys, cos and sin are needed"
                                  : "x, cos and sin are needed");
  uint64_t turned = cosine->shape[cosine->rank - 1], width = turned;
  uint64_t tokens = lower_elements(cosine->shape, cosine->rank - 1);
  uint64_t elements = lower_elements(q->shape, q->rank);
  if (two)
    elements += lower_elements(k->shape, k->rank);
  else
    width = q->shape[q->rank - 1];
  if (is_type(call, "InterleaveRope"))
    lower_arg(call, "form=sorted");
  return call_tokens(call, elements, tokens, width, turned, q);
}

/* The vendor's kernel where the halves are whole blocks, else the elementwise template. */
static enum vinci_status rope_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *form = lower_get(job, "form");
  const struct lower_value *rotary = lower_get(job, "rotary");
  if (rotary && rotary->size > shape->shape[shape->rank - 1])
    return lower_error(job, "rotary is at most the last extent");
  if (rope_fits(job))
    return rope_template.setup(job);
  if ((form && form->word) || rotary || lower_get(job, "sections"))
    return lower_error(job,
                       "this form needs halves of whole blocks of %d bytes, in what is turned "
                       "and in the rest of a head",
                       BLOCK_BYTES);
  return vew_template.setup(job);
}

static const struct lower_template either_rope = VKERNEL_TEMPLATE(rope_setup);

#define ROPE(id, vendor, summary, call)                                                            \
  LOWER_OPERATOR(id, vendor, summary, id##_keys, &either_rope,                                     \
                 VFUNC(.inputs = 6, .outputs = 2, .names = rope_names, .steps = id##_steps,        \
                       .operands = rope_operands),                                                 \
                 call)

ROPE(rope,
     "RotaryPositionEmbedding|AtbRopeKernel|ApplyRotaryPosEmb|InterleaveRope|_triton_rope_siso|"
     "RopeWithSinCosCache|RotaryMul",
     "y = x * cos + (-b, a) * sin, a and b being the halves of each head; cos, sin by position",
     call_rope)
ROPE(rope_grad, "RotaryPositionEmbeddingGrad", "gradient of rope: y = x * cos + (b, -a) * sin",
     call_halves)
