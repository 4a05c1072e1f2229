/* SPDX-License-Identifier: Apache-2.0 */
/* one_hot: a row for each index, with one number at that column and another number elsewhere. Each
 * column compares its own number with the index of its row. Losses of classes, nll_loss_rows and
 * its gradient, take the element of a row at its class in the same way. */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/plan/composite.h"
#include "lower/vector/elementwise/elementwise.h"

enum { WORD_BYTES = 4, LANES = 64 };
enum { MEAN, SUM, NONE }; /* of the key reduction */

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of the indices x"),
    LOWER_KEY("depth", SIZE, NULL, NULL, "columns of y, at most 2^24"),
    LOWER_KEY("dtype", DTYPE, "int32", "int32|int64", "type of x; int64 by way of int32"),
    LOWER_KEY("out", DTYPE, "fp32", "fp16|bf16|fp32|int32", "type of y"),
    NUMBER_KEY("on", "1", "the number in the column of the index"),
    NUMBER_KEY("off", "0", "the number in all others"),
    WORD_KEY("wrap", "0", "0|1", "1: indices below 0 count from the last column"),
    VTILE_KEYS_TABLE};

/* T0: the columns as int32. Indices and columns are exact in single precision. */
enum { ON = T1, OFF = T2, COLUMNS = T3, BITS };
enum { NUMBER_DEPTH = 1 };
#define WHERE_EQUAL                                                                                \
  HELD(ON), HELD(OFF), HELD(COLUMNS), C("vconv_s322f32", NULL, T0, T0),                            \
      B("vcmpv_eq", BITS, X0, T0), SELECT(Y0, ON, OFF, BITS)
static const struct vstep steps[] = {WHERE_EQUAL, END};
static const struct vstep wrap_steps[] = {WHERE_EQUAL, P("vadds", T0, T0, NUMBER_DEPTH),
                                          B("vcmpv_eq", BITS, X0, T0), SELECT(Y0, ON, Y0, BITS),
                                          END};

static void set_depth(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  parameter[NUMBER_DEPTH - 1] = -(double)lower_get(job, "depth")->size;
}

static enum vinci_status choose(struct lower_job *job, struct vfunc *func) {
  if (lower_get(job, "wrap")->word)
    func->steps = wrap_steps;
  for (unsigned i = 0; i < 2; i++) {
    const char *key = i ? "off" : "on";
    enum vinci_status status =
        lower_fits(job, key, lower_get(job, "out")->dtype, lower_get(job, key)->number);
    if (status != VINCI_OK)
      return status;
  }
  return VINCI_OK;
}

/* 0, 1, 2 ... in each row of a tile, of which there are no more than repeats of an instruction, as
 * classes are spread over them. */
static void put_columns(struct emit *e, const struct vew *ew) {
  struct vtable table = vtable_series(ew->temp[COLUMNS], 1);
  emit_comment(e, "0, 1, 2 ... in each row");
  vtables_fill(e, &table, 1, ew->pitch);
  emit_barrier(e, PIPE_V);
  if (ew->kernel.tile.rows == 1)
    return;
  struct vunit unit = {.emit = e};
  for (uint64_t column = 0; column < ew->pitch; column += LANES) {
    struct expr first = EXPR(ew->temp[COLUMNS] + column * WORD_BYTES);
    vunit_lanes(&unit, (unsigned)min_u64(LANES, ew->pitch - column));
    EMIT(e, "vadds", F("dst", x_add(first, ew->pitch * WORD_BYTES)), F("src", first),
         F("scalar", 0), F("repeat", ew->kernel.tile.rows - 1),
         F("dst_repeat", ew->pitch * WORD_BYTES / BLOCK_BYTES), F("src_repeat", 0),
         W("type", "int32"));
  }
  vunit_rest(&unit);
  emit_barrier(e, PIPE_V);
}

/* Both numbers in tiles of their own, and the columns. */
static void put_start(struct emit *e, const struct vew *ew) {
  vmask_count(e, ew->kernel.tile.rows * ew->pitch);
  vfill(e, ew->temp[ON], vscalar(DTYPE_FP32, lower_get(ew->kernel.job, "on")->number), "fp32");
  vfill(e, ew->temp[OFF], vscalar(DTYPE_FP32, lower_get(ew->kernel.job, "off")->number), "fp32");
  put_columns(e, ew);
}

static enum vinci_status operands(struct lower_job *job, struct vew *ew) {
  const uint64_t depth_max = 1 << 24;
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t depth = lower_get(job, "depth")->size;
  uint64_t rows = lower_elements(shape->shape, shape->rank);
  struct vtile_space *space = &ew->kernel.tile.space;
  if (shape->rank == TENSOR_RANK_MAX)
    return lower_error(job, "the indices have at most %d dimensions", TENSOR_RANK_MAX - 1);
  if (depth > depth_max)
    return lower_error(job, "depth is at most 2^24, which single precision counts up to");
  *space = (struct vtile_space){.rows = rows, .cols = depth};
  ew->rank[0] = shape->rank;
  memcpy(ew->shape[0], shape->shape, sizeof ew->shape[0]);
  memcpy(ew->out_shape, shape->shape, sizeof ew->out_shape);
  ew->out_shape[shape->rank] = depth;
  ew->out_rank = shape->rank + 1;
  ew->in[0].type = ew->in[0].tile.dtype = lower_get(job, "dtype")->dtype;
  ew->in[0].kind = VKIND_COLUMN;
  ew->in[0].tile.row_stride = 1;
  ew->out[0].kind = VKIND_FULL;
  ew->out[0].tile.dtype = lower_get(job, "out")->dtype;
  ew->out[0].tile.row_stride = depth;
  ew->out[0].tile.col_stride = 1;
  ew->out[0].tile.whole = true;
  return lower_bounded(job, ew->out_shape, ew->out_rank);
}

/* x, depth, on, off, the last three being numbers; the depth is that of the result. */
static bool call_one_hot(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || y->rank != x->rank + 1)
    return lower_cannot(call, "indices, and a result with one dimension more, are needed");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "depth=%llu", (unsigned long long)y->shape[y->rank - 1]);
  lower_arg_dtype(call, "dtype", x);
  if (y->typed)
    lower_arg_dtype(call, "out", y);
  return true;
}

VEW_OPERATOR(one_hot, "OneHot|OneHotD",
             "y = a row for each x, with `on` in column x and `off` in all others", keys,
             call_one_hot, .inputs = 1, .outputs = 1, .indexed = true, .steps = steps,
             .choose = choose, .numbers = set_depth, .operands = operands, .start = put_start)

/* ---- losses of classes ----------------------------------------------------------------------- */

#define CLASSES_KEYS(dtype_text_)                                                                  \
  SHAPE_KEY("rows and classes of x"), DTYPE_KEY("fp32", "fp16|bf16|fp32", dtype_text_),            \
      LOWER_KEY("dtype1", DTYPE, "int32", "int32|int64", "type of the class of each row"),         \
      WORD_KEY("reduction", "mean", "mean|sum|none", "what becomes of the losses of the rows")
static const struct lower_key rows_keys[] = {CLASSES_KEYS("type of all others"), VTILE_KEYS_TABLE};

/* BITS = where the column is the class of the row; T0: columns. No class is in no column. */
#define AT_CLASS(class_)                                                                           \
  HELD(COLUMNS), C("vconv_s322f32", NULL, T0, T0), B("vcmpv_eq", BITS, class_, T0), FILL(T1, 0)
static const char *const rows_names[] = {"x", "target", "weight", "terms", "weights"};
static const struct vstep rows_steps[] = {
    AT_CLASS(X1),          SELECT(Y1, X2, T1, BITS), SELECT(T2, X0, T1, BITS),
    B("vmul", Y0, T2, Y1), S("vmuls", Y0, Y0, -1),   END};
static const char *const grad_names[] = {"weight", "target", "dy", "total_weight", "dx"};
#define SCALED AT_CLASS(X1), SELECT(T2, X0, T1, BITS), B("vmul", T2, T2, X2)
static const struct vstep mean_grad_steps[] = {SCALED, B("vdiv", T2, T2, X3),
                                               S("vmuls", Y0, T2, -1), END};
static const char *const sum_grad_names[] = {"weight", "target", "dy", "dx"};
static const struct vstep sum_grad_steps[] = {SCALED, S("vmuls", Y0, T2, -1), END};

static enum vinci_status check_classes(struct lower_job *job, const struct lower_value *shape) {
  if (shape->rank != 2)
    return lower_error(job, "shape has 2 extents: rows and classes");
  if (shape->shape[1] > 1 << 24)
    return lower_error(job, "there are at most 2^24 classes, which single precision counts up to");
  return VINCI_OK;
}

static void set_operand(struct vew *ew, unsigned k, enum dtype type, uint64_t rows,
                        uint64_t columns) {
  ew->in[k].type = type;
  ew->rank[k] = 2;
  ew->shape[k][0] = rows;
  ew->shape[k][1] = columns;
}

/* x, the classes, a weight for each class. */
static enum vinci_status rows_operands(struct lower_job *job, struct vew *ew) {
  const struct lower_value *shape = lower_get(job, "shape");
  enum dtype type = lower_get(job, "dtype")->dtype;
  set_operand(ew, 0, type, shape->shape[0], shape->shape[1]);
  set_operand(ew, 1, lower_get(job, "dtype1")->dtype, shape->shape[0], 1);
  set_operand(ew, 2, type, 1, shape->shape[1]);
  return check_classes(job, shape);
}

/* A weight for each class, the classes, the gradient of the loss or of each row, and what the
 * weights add up to. */
static enum vinci_status grad_operands(struct lower_job *job, struct vew *ew) {
  const struct lower_value *shape = lower_get(job, "shape");
  enum dtype type = lower_get(job, "dtype")->dtype;
  set_operand(ew, 0, type, 1, shape->shape[1]);
  set_operand(ew, 1, lower_get(job, "dtype1")->dtype, shape->shape[0], 1);
  set_operand(ew, 2, type, lower_get(job, "reduction")->word == NONE ? shape->shape[0] : 1, 1);
  if (ew->func.inputs > 3)
    set_operand(ew, 3, type, 1, 1);
  return check_classes(job, shape);
}

static enum vinci_status choose_grad(struct lower_job *job, struct vfunc *func) {
  if (lower_get(job, "reduction")->word != MEAN) {
    func->inputs = 3;
    func->names = sum_grad_names;
    func->steps = sum_grad_steps;
  }
  return VINCI_OK;
}

/* x, gradient of the loss, classes, weights, their sum. */
static bool call_grad(struct lower_call *call) {
  enum { IN_DY = 1, IN_TARGET };
  const struct lower_tensor *x = &call->input[0], *dy = &call->input[IN_DY];
  if (call->input_count <= IN_TARGET || x->rank != 2)
    return lower_cannot(call, "x of rows and classes, a gradient and classes are needed");
  lower_arg_tensor(call, x);
  lower_arg_dtype(call, "dtype1", &call->input[IN_TARGET]);
  if (lower_elements(dy->shape, dy->rank) > 1)
    lower_arg(call, "reduction=none");
  return true;
}

VEW_OPERATOR(nll_loss_rows, "",
             "terms = -weight * x in the column of the class of each row, and 0 elsewhere; weights "
             "= weight there",
             rows_keys, NULL, .inputs = 3, .outputs = 2, .as_first = true, .indexed = true,
             .names = rows_names, .steps = rows_steps, .operands = rows_operands,
             .start = put_columns)
VEW_OPERATOR(nll_loss_grad, "NLLLossGrad",
             "gradient of nll_loss: dx = -weight * dy / total_weight in the column of the class of "
             "each row; without the division unless the loss is a mean",
             rows_keys, call_grad, .inputs = 4, .outputs = 1, .as_first = true, .indexed = true,
             .names = grad_names, .steps = mean_grad_steps, .choose = choose_grad,
             .operands = grad_operands, .start = put_columns)

static enum vinci_status loss_setup(struct lower_job *job) {
  static const struct emit_name rows[] = {
      {"terms", "terms", EMIT_HIDDEN}, {"weights", "weights", EMIT_HIDDEN}, {0}};
  static const struct emit_name mean[] = {
      {"x", "terms", EMIT_HIDDEN}, {"y", "sum", EMIT_HIDDEN}, {0}};
  static const struct emit_name loss[] = {{"x", "terms", EMIT_HIDDEN}, {"y", "loss", false}, {0}};
  static const struct emit_name total[] = {
      {"x", "weights", EMIT_HIDDEN}, {"y", "total_weight", EMIT_FLAT}, {0}};
  static const struct emit_name quotient[] = {
      {"x", "sum", EMIT_HIDDEN}, {"x1", "total_weight", EMIT_FLAT}, {"y", "loss", false}, {0}};
  const struct lower_value *shape = lower_get(job, "shape");
  const unsigned long long n = shape->shape[0], classes = shape->shape[1];
  const char *type = dtype_name(lower_get(job, "dtype")->dtype);
  unsigned reduction = lower_get(job, "reduction")->word;
  enum vinci_status status = check_classes(job, shape);
  if (status == VINCI_OK)
    status = composite_add(job, "nll_loss_rows", rows, "shape=%llux%llu dtype=%s dtype1=%s", n,
                           classes, type, dtype_name(lower_get(job, "dtype1")->dtype));
  if (status == VINCI_OK)
    status = composite_add(job, "reduce_sum", total, "shape=%llux%llu axis=0 axes=2 dtype=%s", n,
                           classes, type);
  if (status == VINCI_OK)
    status = composite_add(job, "reduce_sum", reduction == MEAN ? mean : loss,
                           "shape=%llux%llu axis=%d axes=%d dtype=%s", n, classes,
                           reduction == NONE ? 1 : 0, reduction == NONE ? 1 : 2, type);
  if (status == VINCI_OK && reduction == MEAN)
    status = composite_add(job, "div", quotient, "shape=1 dtype=%s", type);
  return status;
}

/* x, classes, weights; results are the loss and what the weights add up to. */
static bool call_loss(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count < 2 || call->output_count == 0 || x->rank != 2)
    return lower_cannot(call, "x of rows and classes, and the classes are needed");
  lower_arg_tensor(call, x);
  lower_arg_dtype(call, "dtype1", &call->input[1]);
  if (lower_elements(y->shape, y->rank) > 1)
    lower_arg(call, "reduction=none");
  return true;
}

static const struct lower_key loss_keys[] = {CLASSES_KEYS("type of all others")};
static const struct lower_template loss_template = COMPOSITE_TEMPLATE(loss_setup);
LOWER_OPERATOR(nll_loss, "NLLLoss",
               "loss = sum of -weight * x at the class of each row, x being the log_softmax; "
               "total_weight = sum of those weights, by which a mean is divided",
               loss_keys, &loss_template, NULL, call_loss)
