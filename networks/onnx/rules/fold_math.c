/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of constants: numbers. Integers are computed in 64 bits and cut to their type; real
 * numbers in fp64, rounded once to their type. Powers and roots of the C library are rounded again
 * when they are stored, so that all hosts agree for fp32 and below.
 */
#include <math.h>
#include <string.h>

#include "networks/onnx/rules/rules.h"

/* ---- one operand ----------------------------------------------------------------------------- */

static double real_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double real_relu(double x) { return x > 0 ? x : x == x ? 0 : x; }
static double real_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double real_reciprocal(double x) { return 1 / x; }
static double real_neg(double x) { return -x; }
static double real_not(double x) { return x == 0; }
static double real_softplus(double x) { return log1p(exp(-fabs(x))) + (x > 0 ? x : 0); }
static double real_softsign(double x) { return x / (1 + fabs(x)); }
/* To nearest, ties to even, in any rounding mode of the host. */
static double real_round(double x) {
  double whole = floor(x), rest = x - whole;
  return rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0) ? whole + 1 : whole;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? -(uint64_t)x : (uint64_t)x; }
static int64_t int_neg(int64_t x) { return (int64_t) - (uint64_t)x; }
static int64_t int_abs(int64_t x) { return (int64_t)magnitude(x); }
static int64_t int_sign(int64_t x) { return (x > 0) - (x < 0); }
static int64_t int_relu(int64_t x) { return x > 0 ? x : 0; }
static int64_t int_not(int64_t x) { return x == 0; }
static int64_t int_same(int64_t x) { return x; }

static const struct unary {
  const char *op;
  double (*real)(double x);
  int64_t (*whole)(int64_t x); /* NULL: as a real number */
} unaries[] = {
#define OPERATOR(name, read, kernel) {#name, read},
#define READ(inputs_min, rule, fold, stays) NULL, NULL
#define READ_FUNCTION(real, whole) real, whole
#define NOT_READ NULL, NULL
#include "networks/graph/operators.def"
};

bool onnx_fold_unary(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  const struct unary *unary = NULL;
  for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
    if (strcmp(unaries[i].op, call->op) == 0)
      unary = &unaries[i];
  if (!unary || !unary->real)
    return false;
  bool whole = unary->whole && !onnx_type_is_float(x->type);
  void *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++)
    if (whole)
      onnx_store_int(data, y->type, i, unary->whole(onnx_load_int(x, i)));
    else
      onnx_store_real(data, y->type, i, unary->real(onnx_load_real(x, i)));
  return true;
}

/* ---- several operands ------------------------------------------------------------------------ */

/* The element of an operand that broadcasting puts at element `index` of the result. */
static uint64_t broadcast_index(const struct onnx_value *operand, const struct onnx_value *result,
                                uint64_t index) {
  uint64_t at = 0, stride = 1;
  for (unsigned d = result->rank; d-- > 0;) {
    uint64_t coordinate = index % result->shape[d];
    index /= result->shape[d];
    if (d + operand->rank < result->rank)
      continue;
    uint64_t extent = operand->shape[d + operand->rank - result->rank];
    at += extent == 1 ? 0 : coordinate * stride;
    stride *= extent;
  }
  return at;
}

/* Division of integers is towards zero, of Mod towards minus infinity (specification). */
static bool whole_binary(const char *op, bool is_unsigned, int64_t a, int64_t b, int64_t *out) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  bool less = is_unsigned ? x < y : a < b;
  if (strcmp(op, "Add") == 0 || strcmp(op, "Sum") == 0)
    *out = (int64_t)(x + y);
  else if (strcmp(op, "Sub") == 0)
    *out = (int64_t)(x - y);
  else if (strcmp(op, "Mul") == 0)
    *out = (int64_t)(x * y);
  else if (strcmp(op, "Max") == 0)
    *out = less ? b : a;
  else if (strcmp(op, "Min") == 0)
    *out = less ? a : b;
  else if (strcmp(op, "Equal") == 0)
    *out = a == b;
  else if (strcmp(op, "Less") == 0)
    *out = less;
  else if (strcmp(op, "LessOrEqual") == 0)
    *out = less || a == b;
  else if (strcmp(op, "Greater") == 0)
    *out = !less && a != b;
  else if (strcmp(op, "GreaterOrEqual") == 0)
    *out = !less;
  else if (strcmp(op, "And") == 0)
    *out = a && b;
  else if (strcmp(op, "Or") == 0)
    *out = a || b;
  else if (strcmp(op, "Xor") == 0)
    *out = (a != 0) != (b != 0);
  else if (b == 0)
    return false;
  else if (strcmp(op, "Div") == 0)
    *out = is_unsigned ? (int64_t)(x / y) : b == -1 ? int_neg(a) : a / b;
  else if (strcmp(op, "Mod") == 0)
    *out = is_unsigned ? (int64_t)(x % y)
           : b == -1   ? 0
                       : a % b + ((a % b != 0) & ((a < 0) != (b < 0)) ? b : 0);
  else
    return false;
  return true;
}

static bool real_binary(const char *op, double a, double b, double *out) {
  if (strcmp(op, "Add") == 0 || strcmp(op, "Sum") == 0)
    *out = a + b;
  else if (strcmp(op, "Sub") == 0)
    *out = a - b;
  else if (strcmp(op, "Mul") == 0)
    *out = a * b;
  else if (strcmp(op, "Div") == 0)
    *out = a / b;
  else if (strcmp(op, "Pow") == 0)
    *out = pow(a, b);
  else if (strcmp(op, "Max") == 0)
    *out = a != a || a > b ? a : b;
  else if (strcmp(op, "Min") == 0)
    *out = a != a || a < b ? a : b;
  else if (strcmp(op, "Mod") == 0)
    *out = fmod(a, b);
  else if (strcmp(op, "Equal") == 0)
    *out = a == b;
  else if (strcmp(op, "Less") == 0)
    *out = a < b;
  else if (strcmp(op, "LessOrEqual") == 0)
    *out = a <= b;
  else if (strcmp(op, "Greater") == 0)
    *out = a > b;
  else if (strcmp(op, "GreaterOrEqual") == 0)
    *out = a >= b;
  else
    return false;
  return true;
}

static bool is_unsigned(enum onnx_type type) {
  return type == ONNX_UINT8 || type == ONNX_UINT16 || type == ONNX_UINT32 || type == ONNX_UINT64;
}

/* All operators of two operands; Max, Min, Sum of more go on with what they have. */
bool onnx_fold_binary(struct onnx_call *call) {
  struct onnx_value *y = call->outputs[0];
  const struct onnx_value *first = call->inputs[0];
  bool fmod_wanted = strcmp(call->op, "Mod") == 0 && onnx_int(call, "fmod", 0) != 0;
  bool power = strcmp(call->op, "Pow") == 0;
  bool whole = !onnx_type_is_float(first->type) && !power && !fmod_wanted;
  void *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++) {
    uint64_t at = broadcast_index(first, y, i);
    int64_t sum = whole ? onnx_load_int(first, at) : 0;
    double real = whole ? 0 : onnx_load_real(first, at);
    for (uint32_t k = 1; k < call->input_count; k++) {
      const struct onnx_value *next = call->inputs[k];
      at = broadcast_index(next, y, i);
      if (whole ? !whole_binary(call->op, is_unsigned(first->type), sum, onnx_load_int(next, at),
                                &sum)
                : !real_binary(call->op, real, onnx_load_real(next, at), &real))
        return false;
    }
    if (whole)
      onnx_store_int(data, y->type, i, sum);
    else
      onnx_store_real(data, y->type, i, real);
  }
  return true;
}

bool onnx_fold_where(struct onnx_call *call) {
  struct onnx_value *y = call->outputs[0];
  size_t bytes = onnx_element_bytes(y->type);
  uint8_t *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++) {
    bool truth = onnx_load_int(call->inputs[0], broadcast_index(call->inputs[0], y, i)) != 0;
    const struct onnx_value *from = call->inputs[truth ? 1 : 2];
    if (from->type != y->type)
      return false;
    memcpy(data + i * bytes, (const uint8_t *)from->data + broadcast_index(from, y, i) * bytes,
           bytes);
  }
  return true;
}

bool onnx_fold_cast(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  bool whole = !onnx_type_is_float(x->type) && x->type != ONNX_UINT64;
  void *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++)
    if (whole)
      onnx_store_int(data, y->type, i, onnx_load_int(x, i));
    else
      onnx_store_real(data, y->type, i, onnx_load_real(x, i));
  return true;
}

bool onnx_fold_clip(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  double low = call->opset < 11 ? onnx_real(call, "min", -INFINITY) : -INFINITY;
  double high = call->opset < 11 ? onnx_real(call, "max", INFINITY) : INFINITY;
  if (call->opset >= 11 && onnx_known(call, 1))
    low = onnx_load_real(call->inputs[1], 0);
  if (call->opset >= 11 && onnx_known(call, 2))
    high = onnx_load_real(call->inputs[2], 0);
  void *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++) {
    double value = onnx_load_real(x, i);
    value = value < low ? low : value;
    onnx_store_real(data, y->type, i, value > high ? high : value);
  }
  return true;
}

bool onnx_fold_range(struct onnx_call *call) {
  struct onnx_value *y = call->outputs[0];
  const struct onnx_value *start = call->inputs[0], *delta = call->inputs[2];
  void *data = onnx_data(y);
  for (uint64_t i = 0, n = onnx_elements(y); i < n; i++)
    if (onnx_type_is_float(y->type))
      onnx_store_real(data, y->type, i,
                      onnx_load_real(start, 0) + (double)i * onnx_load_real(delta, 0));
    else
      onnx_store_int(
          data, y->type, i,
          (int64_t)((uint64_t)onnx_load_int(start, 0) + i * (uint64_t)onnx_load_int(delta, 0)));
  return true;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* ReduceSum, -Prod, -Max, -Min, -Mean of integers or real numbers. */
static double joined(const char *op, double sum, double next) {
  if (strcmp(op, "ReduceProd") == 0)
    return sum * next;
  if (strcmp(op, "ReduceMax") == 0)
    return next > sum ? next : sum;
  if (strcmp(op, "ReduceMin") == 0)
    return next < sum ? next : sum;
  return sum + next;
}

bool onnx_fold_reduce(struct onnx_call *call) {
  static const char *const known[] = {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin",
                                      "ReduceMean"};
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  uint64_t count = onnx_elements(x), results = onnx_elements(y);
  bool found = false, exact = onnx_type_bits(x->type) <= 32 || onnx_type_is_float(x->type);
  unsigned bits = onnx_reduced_axes(call);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    found = found || strcmp(known[i], call->op) == 0;
  double *sums = ARENA_ARRAY(&call->import->arena, double, results + 1);
  bool *begun = ARENA_ARRAY(&call->import->arena, bool, results + 1);
  if (!found || !sums || !begun || count == 0)
    return false;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t rest = i, at = 0, stride = 1;
    for (unsigned d = x->rank; d-- > 0; rest /= x->shape[d])
      if (!(bits >> d & 1)) {
        at += rest % x->shape[d] * stride;
        stride *= x->shape[d];
      }
    double value = onnx_load_real(x, i);
    exact = exact || fabs(value) < 0x1p40;
    sums[at] = begun[at] ? joined(call->op, sums[at], value) : value;
    begun[at] = true;
  }
  bool mean = strcmp(call->op, "ReduceMean") == 0;
  void *data = onnx_data(y);
  for (uint64_t i = 0; i < results; i++) {
    if (!exact || (!onnx_type_is_float(x->type) && fabs(sums[i]) >= 0x1p53))
      return false;
    onnx_store_real(data, y->type, i, mean ? sums[i] / (double)(count / results) : sums[i]);
  }
  return true;
}

bool onnx_fold_cumsum(struct onnx_call *call) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_value *y = call->outputs[0];
  unsigned axis;
  bool exclusive = onnx_int(call, "exclusive", 0) != 0, reverse = onnx_int(call, "reverse", 0) != 0;
  if (onnx_axis(call, onnx_load_int(call->inputs[1], 0), x->rank, &axis) != VINCI_OK)
    return false;
  uint64_t extent = x->shape[axis], inner = 1, all = onnx_elements(x);
  for (unsigned d = axis + 1; d < x->rank; d++)
    inner *= x->shape[d];
  void *data = onnx_data(y);
  for (uint64_t line = 0; extent > 0 && line < all / extent; line++) {
    uint64_t base = line / inner * inner * extent + line % inner;
    double sum = 0;
    for (uint64_t k = 0; k < extent; k++) {
      uint64_t at = base + (reverse ? extent - 1 - k : k) * inner;
      double value = onnx_load_real(x, at);
      if (!onnx_type_is_float(x->type) && fabs(sum + value) >= 0x1p53)
        return false;
      onnx_store_real(data, y->type, at, exclusive ? sum : sum + value);
      sum += value;
    }
  }
  return true;
}

/* Products of small constant matrices, as they are left by exporters that do not fold. */
bool onnx_fold_matmul(struct onnx_call *call) {
  const struct onnx_value *a = call->inputs[0], *b = call->inputs[1];
  struct onnx_value *y = call->outputs[0];
  if (a->rank != 2 || b->rank != 2 || !onnx_type_is_float(a->type))
    return false;
  uint64_t rows = a->shape[0], inner = a->shape[1], columns = b->shape[1];
  void *data = onnx_data(y);
  if (rows * columns > 0 && inner > ONNX_FOLD_MAX * UINT64_C(16) / (rows * columns))
    return false;
  for (uint64_t i = 0; i < rows * columns; i++) {
    double sum = 0;
    for (uint64_t k = 0; k < inner; k++)
      sum +=
          onnx_load_real(a, i / columns * inner + k) * onnx_load_real(b, k * columns + i % columns);
    onnx_store_real(data, y->type, i, sum);
  }
  return true;
}
