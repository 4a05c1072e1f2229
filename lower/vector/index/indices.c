/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on indices, and rows that indices name: linear_index, index_fill. As for gather, what
 * an index says where an address depends on it is a stated series.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lower/plan/composite.h"
#include "lower/vector/elementwise/elementwise.h"

/* ---- linear_index ---------------------------------------------------------------------------- */

enum { LISTS_MAX = 4 };

static const struct lower_key linear_keys[] = {
    SHAPE_KEY("extents of each list of indices"),
    LOWER_KEY("sizes", SHAPE, NULL, NULL,
              "extents of the indexed dimensions, a list for each: 1 to 4"),
    DTYPE_KEY("int32", "int32", "type of all"), VTILE_KEYS_TABLE};

/* T0 = index, plus the extent where the index is negative. */
#define FROM_END(x_, extent_)                                                                      \
  S("vmuls", T0, x_, -1), S("vmaxs", T0, T0, 0), S("vmins", T0, T0, 1),                            \
      P("vmuls", T0, T0, extent_), B("vadd", T0, T0, x_)
#define NEXT(x_, extent_) P("vmuls", T1, T1, extent_), FROM_END(x_, extent_), B("vadd", T1, T1, T0)
#define FIRST FROM_END(X0, 1), S("vmuls", T1, T0, 1)

static const struct vstep one_list[] = {FROM_END(X0, 1), S("vmuls", Y0, T0, 1), END};
static const struct vstep two_lists[] = {FIRST, NEXT(X1, 2), S("vmuls", Y0, T1, 1), END};
static const struct vstep three_lists[] = {FIRST, NEXT(X1, 2), NEXT(X2, 3), S("vmuls", Y0, T1, 1),
                                           END};
static const struct vstep four_lists[] = {FIRST,       NEXT(X1, 2),           NEXT(X2, 3),
                                          NEXT(X3, 4), S("vmuls", Y0, T1, 1), END};

static enum vinci_status choose_lists(struct lower_job *job, struct vfunc *func) {
  static const struct vstep *const steps[LISTS_MAX] = {one_list, two_lists, three_lists,
                                                       four_lists};
  const struct lower_value *sizes = lower_get(job, "sizes");
  if (sizes->rank > LISTS_MAX)
    return lower_error(job, "at most %d lists of indices are joined", LISTS_MAX);
  if (lower_elements(sizes->shape, sizes->rank) > INT32_MAX)
    return lower_error(job, "the indexed elements are more than int32 can number");
  func->inputs = sizes->rank;
  func->steps = steps[sizes->rank - 1];
  return VINCI_OK;
}

static void extents_as_numbers(const struct lower_job *job, double parameter[VPARAM_MAX]) {
  const struct lower_value *sizes = lower_get(job, "sizes");
  for (unsigned i = 0; i < sizes->rank; i++)
    parameter[i] = (double)sizes->shape[i];
}

/* Lists are the inputs with as many elements as the result; strides and extents are values (ops-nn,
 * index/linear_index). The extents only scale, so that any serve: 1 is not one that costs less. */
static bool call_linear(struct lower_call *call) {
  const struct lower_tensor *y = &call->output[0];
  char sizes[LISTS_MAX * 2 + 1] = "";
  unsigned lists = 0;
  if (call->output_count == 0 || y->rank == 0)
    return lower_cannot(call, "no shapes");
  for (unsigned i = 0; i < call->input_count; i++)
    if (call->input[i].rank > 0 && lower_elements(call->input[i].shape, call->input[i].rank) ==
                                       lower_elements(y->shape, y->rank))
      lists++;
  if (lists == 0 || lists > LISTS_MAX)
    return lower_cannot(call, "1 to %d lists of indices as long as the result are needed",
                        LISTS_MAX);
  for (unsigned i = 0; i < lists; i++)
    strcat(sizes, i ? "x8" : "8");
  const uint64_t elements = lower_elements(y->shape, y->rank);
  lower_arg_shape(call, "shape", &elements, 1);
  lower_arg(call, "sizes=%s", sizes);
  return true;
}

VEW_OPERATOR(linear_index, "LinearIndex|LinearIndexV2",
             "y = (x * size + x1) * size ..: where lists of indices point in a tensor as one row; "
             "negative indices count from the end",
             linear_keys, call_linear, .inputs = 1, .outputs = 1, .types = VTYPES_INT32,
             .steps = one_list, .choose = choose_lists, .numbers = extents_as_numbers)

/* ---- index_fill ------------------------------------------------------------------------------ */

static const struct lower_key fill_keys[] = {
    SHAPE_KEY("extents of x and y: its rows first"),
    LOWER_KEY("count", SIZE, NULL, NULL, "how many rows are filled"),
    LOWER_KEY("first", SIZE, "0", "0", "the first index"),
    LOWER_KEY("step", SIZE, "1", "0", "from one index to the next, modulo the rows"),
    NUMBER_KEY("value", "0", "the number"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32|int16|int32", "type of x and y")};

static enum vinci_status fill_setup(struct lower_job *job) {
  static const struct emit_name copy[] = {{0}};
  char extents[TENSOR_RANK_MAX * 24] = "";
  static const struct emit_name fill[] = {{"y", "filled", true}, {0}};
  static const struct emit_name put[] = {{"x", "filled", true}, {0}};
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t rows = shape->shape[0], cols = lower_elements(shape->shape + 1, shape->rank - 1);
  uint64_t count = lower_get(job, "count")->size;
  const uint64_t filled[] = {count, cols};
  const char *type = dtype_name(lower_get(job, "dtype")->dtype);
  for (unsigned i = 0; i < shape->rank; i++)
    snprintf(extents + strlen(extents), sizeof extents - strlen(extents), "%s%" PRIu64,
             i ? "x" : "", shape->shape[i]);
  if (count > rows)
    return lower_error(job, "there are %" PRIu64 " rows to fill, of %" PRIu64, count, rows);
  enum vinci_status status = lower_bounded(job, filled, 2);
  if (status == VINCI_OK)
    status =
        lower_fits(job, "value", lower_get(job, "dtype")->dtype, lower_get(job, "value")->number);
  if (status == VINCI_OK)
    status = composite_add(job, "copy", copy, "shape=%s dtype=%s", extents, type);
  if (status == VINCI_OK)
    status = composite_add(job, "fill", fill, "shape=%" PRIu64 "x%" PRIu64 " dtype=%s value=%.9g",
                           count, cols, type, lower_get(job, "value")->number);
  if (status == VINCI_OK)
    status = composite_add(job, "scatter_update", put,
                           "shape=%s count=%" PRIu64 " first=%" PRIu64 " step=%" PRIu64 " dtype=%s",
                           extents, count, lower_get(job, "first")->size,
                           lower_get(job, "step")->size, type);
  return status;
}

/* x, indices of a dimension, a value: as if the dimension were the first. */
static bool call_fill(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *index = &call->input[1];
  if (call->input_count < 2 || x->rank == 0 || index->rank == 0)
    return lower_cannot(call, "x and indices are needed");
  lower_arg_tensor(call, x);
  lower_arg(call, "count=%" PRIu64, lower_elements(index->shape, index->rank));
  return true;
}

static const struct lower_template fill_template = COMPOSITE_TEMPLATE(fill_setup);
LOWER_OPERATOR(index_fill, "IndexFill|InplaceIndexFill",
               "y = x, with value in the rows that the indices x1 name, taken to be (first + i * "
               "step) % rows",
               fill_keys, &fill_template, NULL, call_fill)

/* ---- attention_update ------------------------------------------------------------------------ */

static const struct lower_key update_keys[] = {
    LOWER_KEY("tokens", SIZE, NULL, NULL, "rows of a result: tokens, or tokens times heads"),
    LOWER_KEY("depth", SIZE, "128", NULL, "elements of a head"),
    LOWER_KEY("parts", SIZE, "2", NULL, "results of attention over parts of the keys: 2 or 3"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of the results; their sums are fp32"),
    VTILE_KEYS_TABLE};

/* Weights are exp(sum - largest sum), where sums are logarithms. T0 the largest; T2 and T3 what the
 * weighted rows and the weights add up to. */
#define WEIGHT(row_, sum_) B("vsub", T1, sum_, T0), U("vexp", T1, T1)
#define BEGIN(row_, sum_) WEIGHT(row_, sum_), S("vmuls", T3, T1, 1), B("vmul", T2, T1, row_)
#define MORE(row_, sum_)                                                                           \
  WEIGHT(row_, sum_), B("vadd", T3, T3, T1), B("vmul", T1, T1, row_), B("vadd", T2, T2, T1)
static const char *const two_names[] = {"o0", "o1", "sum0", "sum1", "y"};
static const char *const three_names[] = {"o0", "o1", "o2", "sum0", "sum1", "sum2", "y"};
static const struct vstep two_parts[] = {B("vmax", T0, X2, X3), BEGIN(X0, X2), MORE(X1, X3),
                                         B("vdiv", Y0, T2, T3), END};
static const struct vstep three_parts[] = {B("vmax", T0, X3, X4),
                                           B("vmax", T0, T0, X5),
                                           BEGIN(X0, X3),
                                           MORE(X1, X4),
                                           MORE(X2, X5),
                                           B("vdiv", Y0, T2, T3),
                                           END};

static enum vinci_status choose_parts(struct lower_job *job, struct vfunc *func) {
  uint64_t parts = lower_get(job, "parts")->size;
  if (parts < 2 || parts > 3)
    return lower_error(job, "parts is 2 or 3");
  func->inputs = (unsigned)(2 * parts);
  func->names = parts == 2 ? two_names : three_names;
  func->steps = parts == 2 ? two_parts : three_parts;
  return VINCI_OK;
}

static enum vinci_status part_operands(struct lower_job *job, struct vew *ew) {
  const uint64_t rows = lower_get(job, "tokens")->size;
  uint64_t parts = lower_get(job, "parts")->size;
  for (unsigned k = 0; k < ew->func.inputs; k++) {
    ew->in[k].type = k < parts ? lower_get(job, "dtype")->dtype : DTYPE_FP32;
    ew->rank[k] = 2;
    ew->shape[k][0] = rows;
    ew->shape[k][1] = k < parts ? lower_get(job, "depth")->size : 1;
  }
  return VINCI_OK;
}

/* The logarithms of sums of all parts, then the results (ATB and ops-transformer,
 * attention_update): the former have the smaller rank. */
static bool call_update(struct lower_call *call) {
  const struct lower_tensor *y = &call->output[0];
  unsigned parts = call->input_count / 2;
  if (call->output_count == 0 || y->rank < 2 || parts < 2)
    return lower_cannot(call, "sums and results of at least two parts are needed");
  if (parts > 3)
    return lower_cannot(call, "%u parts are joined, of which at most 3 are modelled", parts);
  lower_arg(call, "tokens=%" PRIu64, lower_elements(y->shape, y->rank - 1));
  lower_arg(call, "depth=%" PRIu64, y->shape[y->rank - 1]);
  lower_arg(call, "parts=%u", parts);
  lower_arg_dtype(call, "dtype", y);
  return true;
}

VEW_OPERATOR(
    attention_update, "AttentionUpdate",
    "y = results of attention over parts of the keys, joined by the logarithms of the sums "
    "of each row",
    update_keys, call_update, .inputs = 4, .outputs = 1, .as_first = true, .names = two_names,
    .steps = two_parts, .choose = choose_parts, .operands = part_operands)
