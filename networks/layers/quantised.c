/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers on integers of 8 bits that stand for real numbers: (q - zero) * scale.
 *
 * The cube multiplies signed bytes. Unsigned bytes are used as signed ones that are 128 less, with
 * a zero point that is 128 less, too. Products are computed without zero points, and what these add
 * follows from sums of rows and columns (Jacob et al. 2018, Quantization and Training of Neural
 * Networks for Efficient Integer-Arithmetic-Only Inference, equation 7):
 *   sum (a - za)(b - zb) = sum ab - za sum b - zb sum a + k za zb.
 */
#include "networks/layers/quantised.h"
#include "networks/layers/conv.h"
#include "networks/layers/elementwise.h"

/* What the signed byte of an unsigned one is less. */
enum { SIGN_SHIFT = 128 };

static bool is_byte(enum dtype dtype) { return dtype == DTYPE_INT8 || dtype == DTYPE_UINT8; }

/* An input with a number for all, or for each element along an axis of x: as it broadcasts with x.
 */
static uint32_t along(struct build *build, unsigned input, const struct graph_tensor *x) {
  const struct graph_tensor *row = build_tensor(build, input);
  uint64_t shape[GRAPH_RANK_MAX], count = row ? graph_elements(row) : 0;
  int64_t axis = graph_arg_int(build->layer, "axis", 1);
  if (axis < 0)
    axis += x->rank;
  unsigned at = axis >= 0 && axis < x->rank ? (unsigned)axis : x->rank;
  uint32_t own = build_input(build, input, LAYOUT_ND);
  if (own == GRAPH_NONE || count == 1)
    return own == GRAPH_NONE ? own : build_view(build, own, &count, 1);
  if (at >= x->rank || x->shape[at] != count || row->rank != 1) {
    build_refuse(build, "%llu scales, which is not one for all or one for each of axis %lld",
                 (unsigned long long)count, (long long)axis);
    return GRAPH_NONE;
  }
  for (unsigned d = 0; d < x->rank; d++)
    shape[d] = d == at ? count : 1;
  return build_view(build, own, shape, x->rank);
}

/* Whether a zero point is one number that is known. */
static bool zero_known(const struct build *build, unsigned input, double *out) {
  const struct graph_tensor *own = build_tensor(build, input);
  double other;
  *out = 0;
  if (!own)
    return true;
  if (!build_number(build, input, 0, out))
    return false;
  for (uint64_t i = 1; i < graph_elements(own); i++)
    if (!build_number(build, input, i, &other) || other != *out)
      return false;
  return true;
}

/* Of a product's operand: one number, known or not. */
static bool take_zero(struct build *build, unsigned input, struct zero *out) {
  *out = (struct zero){.input = input};
  out->known = zero_known(build, input, &out->number);
  if (!out->known && graph_elements(build_tensor(build, input)) != 1)
    return build_refuse(build, "zero points that differ");
  return true;
}

/* fp32, one element. */
static uint32_t zero_tensor(struct build *build, const struct zero *zero) {
  uint32_t own = build_view(build, build_input(build, zero->input, LAYOUT_ND), &(uint64_t){1}, 1);
  own = build_cast(build, own, DTYPE_FP32);
  return zero->shift == 0 ? own
                          : elementwise_new(build, "adds", own, alpha_text(-zero->shift).text);
}

uint32_t zero_terms(struct build *build, uint32_t sums, const struct zero *zero) {
  uint32_t whole = build_cast(build, sums, DTYPE_INT32);
  if (zero->known)
    return elementwise_new(build, "muls", whole, alpha_text(-zero->number).text);
  uint32_t factor = elementwise_new(build, "neg", zero_tensor(build, zero), "");
  return elementwise_pair_new(build, "mul", whole, build_cast(build, factor, DTYPE_INT32));
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Constants that both kinds of bytes have in common keep their numbers. */
static bool fits_signed(const struct build *build, unsigned input) {
  const struct graph_tensor *own = build_tensor(build, input);
  double number;
  for (uint64_t i = 0; i < graph_elements(own); i++)
    if (!build_number(build, input, i, &number) || number >= SIGN_SHIFT)
      return false;
  return true;
}

bool bytes_take(struct build *build, unsigned input, unsigned zero, struct bytes *out) {
  const struct graph_tensor *own = build_tensor(build, input);
  if (!own || !is_byte(own->dtype))
    return build_refuse(build, "operands of 8 bits are needed");
  if (!take_zero(build, zero, &out->zero))
    return false;
  out->tensor = build_input(build, input, LAYOUT_ND);
  if (own->dtype == DTYPE_INT8)
    return true;
  uint32_t real = build_cast(build, out->tensor, DTYPE_FP16);
  if (!fits_signed(build, input)) {
    real = elementwise_new(build, "adds", real, alpha_text(-SIGN_SHIFT).text);
    out->zero.number -= SIGN_SHIFT;
    out->zero.shift = SIGN_SHIFT;
  }
  out->tensor = build_cast(build, real, DTYPE_INT8);
  return true;
}

uint32_t bytes_movable(struct build *build, uint32_t tensor) {
  return arch_is_coupled(build->soc->arch) ? build_cast(build, tensor, DTYPE_FP16) : tensor;
}

uint32_t bytes_without_zero(struct build *build, const struct bytes *bytes) {
  uint32_t real = build_cast(build, bytes->tensor, DTYPE_FP16);
  if (zero_is_nought(&bytes->zero))
    return real;
  if (bytes->zero.known)
    return elementwise_new(build, "adds", real, alpha_text(-bytes->zero.number).text);
  return elementwise_pair_new(build, "sub", real,
                              build_cast(build, zero_tensor(build, &bytes->zero), DTYPE_FP16));
}

/* ---- numbers to bytes and back ------------------------------------------------------------- */

/* One kernel, as the vendor's compiler has: the zero point is added before the rounding. */
void quantise(struct build *build, uint32_t x, uint32_t scale, double zero, uint32_t out) {
  if (x == GRAPH_NONE || scale == GRAPH_NONE || out == GRAPH_NONE)
    return;
  uint32_t inverse = elementwise_new(build, "reciprocal", scale, "");
  if (inverse == GRAPH_NONE)
    return;
  build_kernel1(build, "quantize", &BUILD_LIST(x, inverse), out,
                "shape=%s shape1=%s dtype=%s dtype1=%s offset=%g", build_shape(build, x).text,
                build_shape(build, inverse).text, dtype_name(build_at(build, x)->dtype),
                dtype_name(build_at(build, inverse)->dtype), zero);
}

/* Zero points that differ, or that the run computes. */
static void quantise_each(struct build *build, uint32_t x, uint32_t scale, uint32_t zero) {
  enum dtype type = build_result(build, 0)->dtype;
  double low = type == DTYPE_INT8 ? -SIGN_SHIFT : 0, high = low + 2 * SIGN_SHIFT - 1;
  if (x == GRAPH_NONE || scale == GRAPH_NONE || zero == GRAPH_NONE)
    return;
  enum dtype dtype = build_at(build, x)->dtype;
  uint32_t y = elementwise_pair_new(build, "div", x, build_cast(build, scale, dtype));
  zero = build_cast(build, zero, dtype);
  y = elementwise_new(build, "round", y, "");
  y = elementwise_pair_new(build, "add", y, zero);
  y = elementwise_new(build, "maxs", y, alpha_text(low).text);
  y = elementwise_new(build, "mins", y, alpha_text(high).text);
  build_view_output(build, 0, LAYOUT_ND, build_cast(build, y, type));
}

static bool give_bytes(struct build *build, uint32_t x, uint32_t scale, unsigned zero_input) {
  const struct graph_tensor *y = build_result(build, 0);
  double zero;
  if (!y || !is_byte(y->dtype))
    return build_refuse(build, "a result of int8 or uint8 is needed");
  if (!zero_known(build, zero_input, &zero)) {
    quantise_each(build, x, scale, along(build, zero_input, y));
    return true;
  }
  if (y->dtype == DTYPE_INT8) {
    quantise(build, x, scale, zero, build_output(build, 0, LAYOUT_ND));
    return true;
  }
  uint32_t bytes = build_temp(build, DTYPE_INT8, y->shape, y->rank);
  quantise(build, x, scale, zero - SIGN_SHIFT, bytes);
  uint32_t real = elementwise_new(build, "adds", build_cast(build, bytes, DTYPE_FP16),
                                  alpha_text(SIGN_SHIFT).text);
  build_view_output(build, 0, LAYOUT_ND, build_cast(build, real, DTYPE_UINT8));
  return true;
}

bool layer_quantize(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0);
  const struct graph_tensor *y = build_result(build, 0);
  if (!x || !y || !build_tensor(build, 1))
    return build_refuse(build, "an input and a scale are needed");
  if (!is_byte(y->dtype))
    return build_refuse(build, "a result of %s; int8 and uint8 are possible", dtype_name(y->dtype));
  return give_bytes(build, build_input(build, 0, LAYOUT_ND), along(build, 1, x), 2);
}

bool layer_dequantize(struct build *build) {
  const struct graph_tensor *x = build_tensor(build, 0), *y = build_result(build, 0);
  double zero;
  if (!x || !y || !build_tensor(build, 1) || !(is_byte(x->dtype) || x->dtype == DTYPE_INT32))
    return build_refuse(
        build, "integers of 8 or 32 bits, or constants of 4 bits or fp8, and a scale are needed");
  bool known = zero_known(build, 2, &zero);
  uint32_t in = build_input(build, 0, LAYOUT_ND), scale = along(build, 1, x);
  if (x->dtype == DTYPE_INT32) {
    if (!known || zero != 0)
      return build_refuse(build, "a zero point of integers of 32 bits");
    uint32_t sums = build_output(build, 0, LAYOUT_ND);
    scale = build_cast(build, scale, DTYPE_FP32);
    if (in != GRAPH_NONE && scale != GRAPH_NONE)
      build_kernel1(build, "dequantize", &BUILD_LIST(in, scale), sums, "shape=%s shape1=%s out=%s",
                    build_shape(build, in).text, build_shape(build, scale).text,
                    dtype_name(y->dtype));
    return true;
  }
  uint32_t real = build_cast(build, in, y->dtype);
  if (!known)
    real =
        elementwise_pair_new(build, "sub", real, build_cast(build, along(build, 2, x), y->dtype));
  else if (zero != 0)
    real = elementwise_new(build, "adds", real, alpha_text(-zero).text);
  elementwise_pair(build, "mul", real, build_cast(build, scale, y->dtype),
                   build_output(build, 0, LAYOUT_ND));
  return true;
}

/* The scale that takes the numbers of x, and 0, to 0 .. 255 (ONNX operator specification). */
bool layer_dynamic_quantize(struct build *build) {
  enum { STEPS = 255 };
  const struct graph_tensor *x = build_tensor(build, 0);
  uint64_t one = 1;
  if (!x || x->rank == 0)
    return build_refuse(build, "an input of at least one dimension is needed");
  uint64_t count = graph_elements(x);
  uint32_t row = build_view(build, build_input(build, 0, LAYOUT_ND), &count, 1), ends[2];
  row = build_cast(build, row, DTYPE_FP32);
  for (unsigned i = 0; i < 2; i++) {
    uint32_t end = build_temp(build, DTYPE_FP32, &one, 1);
    build_kernel1(build, i ? "reduce_max" : "reduce_min", &BUILD_LIST(row), end,
                  "shape=%llu axis=0 dtype=fp32", (unsigned long long)count);
    ends[i] = elementwise_new(build, i ? "maxs" : "mins", end, alpha_text(0).text);
  }
  uint32_t scale =
      elementwise_new(build, "muls", elementwise_pair_new(build, "sub", ends[1], ends[0]),
                      alpha_text(1.0 / STEPS).text);
  uint32_t zero =
      elementwise_new(build, "neg", elementwise_pair_new(build, "div", ends[0], scale), "");
  zero =
      elementwise_new(build, "maxs", elementwise_new(build, "round", zero, ""), alpha_text(0).text);
  zero = elementwise_new(build, "mins", zero, alpha_text(STEPS).text);
  uint32_t y = elementwise_new(build, "round", elementwise_pair_new(build, "div", row, scale), "");
  y = elementwise_new(build, "maxs", elementwise_pair_new(build, "add", y, zero),
                      alpha_text(0).text);
  y = elementwise_new(build, "mins", y, alpha_text(STEPS).text);
  build_view_output(build, 0, LAYOUT_ND, build_cast(build, y, DTYPE_UINT8));
  if (build_result(build, 1))
    build_view_output(build, 1, LAYOUT_ND, build_cast(build, scale, build_result(build, 1)->dtype));
  if (build_result(build, 2))
    build_view_output(build, 2, LAYOUT_ND, build_cast(build, zero, DTYPE_UINT8));
  return true;
}

/* ---- products ------------------------------------------------------------------------------ */

struct product {
  uint64_t m, k, n;
  bool transpose_b; /* b is [n, k] */
};

/* Rows of a matrix times one other matrix. */
static bool take_product(struct build *build, unsigned a_input, unsigned b_input,
                         struct product *out) {
  const struct graph_tensor *a = build_tensor(build, a_input), *b = build_tensor(build, b_input);
  const struct graph_tensor *y = build_result(build, 0);
  if (!a || !b || !y || a->rank < 2 || b->rank < 2 || build_extent(b, 0, b->rank - 2) != 1)
    return build_refuse(build, "a matrix, or several, times one matrix are possible");
  bool turned = graph_arg_int(build->layer, "trans_b", 0) != 0;
  *out = (struct product){.m = build_extent(a, 0, a->rank - 1),
                          .k = a->shape[a->rank - 1],
                          .n = b->shape[b->rank - (turned ? 2 : 1)],
                          .transpose_b = turned};
  if (b->shape[b->rank - (turned ? 1 : 2)] != out->k || graph_elements(y) != out->m * out->n)
    return build_refuse(build, "operands and a result that do not fit each other");
  return true;
}

uint32_t bytes_sums(struct build *build, uint32_t bytes, uint64_t rows, uint64_t columns,
                    unsigned axis) {
  uint64_t shape[2] = {rows, columns}, sums = axis == 0 ? columns : rows;
  uint32_t real = build_cast(build, build_view(build, bytes, shape, 2), DTYPE_FP32);
  uint32_t out = build_temp(build, DTYPE_FP32, &sums, 1);
  build_kernel1(build, "reduce_sum", &BUILD_LIST(real), out, "shape=%llux%llu axis=%u dtype=fp32",
                (unsigned long long)rows, (unsigned long long)columns, axis);
  return out;
}

uint32_t bytes_terms(struct build *build, uint32_t sums, const struct bytes *x, unsigned bias) {
  uint32_t terms = zero_terms(build, sums, &x->zero);
  return build_tensor(build, bias)
             ? elementwise_pair_new(build, "add", terms, build_input(build, bias, LAYOUT_ND))
             : terms;
}

/* What the zero points add to each column, and the bias: int32, or GRAPH_NONE for nothing. */
static uint32_t column_terms(struct build *build, const struct product *size, const struct bytes *a,
                             const struct bytes *b, unsigned bias) {
  if (zero_is_nought(&a->zero))
    return build_tensor(build, bias) ? build_input(build, bias, LAYOUT_ND) : GRAPH_NONE;
  uint32_t sums = size->transpose_b ? bytes_sums(build, b->tensor, size->n, size->k, 1)
                                    : bytes_sums(build, b->tensor, size->k, size->n, 0);
  if (!zero_is_nought(&b->zero))
    sums = elementwise_new(build, "adds", sums, alpha_text(-(double)size->k * b->zero.number).text);
  return bytes_terms(build, sums, a, bias);
}

/* Takes zb times the sums of the rows of a from a product. */
static uint32_t without_rows(struct build *build, const struct product *size, const struct bytes *a,
                             const struct bytes *b, uint32_t sums) {
  if (zero_is_nought(&b->zero))
    return sums;
  uint64_t column[2] = {size->m, 1};
  uint32_t rows = bytes_sums(build, a->tensor, size->m, size->k, 1);
  rows = zero_terms(build, rows, &b->zero);
  return elementwise_pair_new(build, "add", sums, build_view(build, rows, column, 2));
}

/* The second matrix as this chip multiplies bytes: the coupled cores take [n, k] alone. */
static uint32_t second_matrix(struct build *build, const struct product *size, uint32_t matrix,
                              bool *transposed) {
  static const unsigned turned[] = {1, 0};
  uint64_t own[2] = {size->k, size->n};
  uint32_t moved = bytes_movable(build, matrix);
  *transposed = size->transpose_b || moved != matrix;
  if (size->transpose_b || moved == matrix)
    return matrix;
  return build_cast(build, build_transpose(build, build_view(build, moved, own, 2), turned),
                    DTYPE_INT8);
}

/* How sums leave the cube: times scales, as fp16 or int8; without words as int32. */
struct way_out {
  enum dtype dtype;
  uint32_t words;
};

/* (a - za)(b - zb) + bias, [m, n]. */
static uint32_t product_of(struct build *build, const struct product *size, struct bytes *a,
                           struct bytes *b, unsigned bias, const struct way_out *way) {
  uint64_t shape[2] = {size->m, size->n};
  bool transposed;
  if (!b->zero.known) {
    build_refuse(build, "a zero point of the second matrix that the run computes");
    return GRAPH_NONE;
  }
  struct build_list inputs =
      BUILD_LIST(a->tensor, second_matrix(build, size, b->tensor, &transposed));
  uint32_t terms = column_terms(build, size, a, b, bias);
  if (terms != GRAPH_NONE)
    inputs.items[inputs.count++] = terms;
  bool scaled = way->dtype != DTYPE_INT32;
  if (scaled)
    inputs.items[inputs.count++] = way->words;
  uint32_t sums = build_temp(build, way->dtype, shape, 2);
  build_kernel1(build, "matmul", &inputs, sums,
                "m=%llu k=%llu n=%llu dtype=int8 out_dtype=%s scales=%d transpose_b=%d bias=%d%s",
                (unsigned long long)size->m, (unsigned long long)size->k,
                (unsigned long long)size->n, dtype_name(way->dtype), scaled, transposed,
                terms != GRAPH_NONE, relu_text(build));
  return scaled ? sums : without_rows(build, size, a, b, sums);
}

/* In int32. */
static uint32_t integer_product(struct build *build, const struct product *size, struct bytes *a,
                                struct bytes *b, unsigned bias) {
  static const struct way_out sums = {DTYPE_INT32, GRAPH_NONE};
  return product_of(build, size, a, b, bias, &sums);
}

bool layer_matmul_integer(struct build *build) {
  enum { A, B, A_ZERO, B_ZERO, NONE };
  struct product size;
  struct bytes a, b;
  if (!take_product(build, A, B, &size) || !bytes_take(build, A, A_ZERO, &a) ||
      !bytes_take(build, B, B_ZERO, &b))
    return false;
  build_view_output(build, 0, LAYOUT_ND, integer_product(build, &size, &a, &b, NONE));
  return true;
}

/* A scale as it broadcasts along an axis. */
static uint32_t scale_row(struct build *build, unsigned input, unsigned rank, unsigned axis) {
  uint64_t shape[GRAPH_RANK_MAX], count = graph_elements(build_tensor(build, input));
  for (unsigned d = 0; d < rank; d++)
    shape[d] = d == axis ? count : 1;
  return build_cast(build, build_view(build, build_input(build, input, LAYOUT_ND), shape, rank),
                    DTYPE_FP32);
}

uint32_t scale_product(struct build *build, unsigned first, unsigned second, unsigned rank,
                       unsigned axis) {
  const struct graph_tensor *a = build_tensor(build, first);
  if (!a || (build_tensor(build, second) && graph_elements(a) != 1)) {
    build_refuse(build, "one scale for all of the first operand is possible");
    return GRAPH_NONE;
  }
  uint32_t scale = scale_row(build, first, rank, axis);
  return build_tensor(build, second)
             ? elementwise_pair_new(build, "mul", scale_row(build, second, rank, axis), scale)
             : scale;
}

uint32_t scaled_sums(struct build *build, uint32_t sums, uint32_t scale, enum dtype dtype) {
  if (sums == GRAPH_NONE || scale == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor own = *build_at(build, sums);
  uint32_t out = build_temp(build, dtype, own.shape, own.rank);
  build_kernel1(build, "dequantize", &BUILD_LIST(sums, scale), out, "shape=%s shape1=%s out=%s",
                build_shape(build, sums).text, build_shape(build, scale).text, dtype_name(dtype));
  return out;
}

static uint32_t scale_of_result(struct build *build, unsigned input) {
  const struct graph_tensor *own = build_tensor(build, input);
  if (!own || graph_elements(own) != 1) {
    build_refuse(build, "one scale for all of the result is possible");
    return GRAPH_NONE;
  }
  uint32_t scale = build_view(build, build_input(build, input, LAYOUT_ND), &(uint64_t){1}, 1);
  return build_cast(build, scale, DTYPE_FP32);
}

enum dtype type_of_result(const struct build *build) {
  return build_result(build, 0) ? build_result(build, 0)->dtype : DTYPE_FP32;
}

bool give_real(struct build *build, uint32_t real) {
  if (real != GRAPH_NONE)
    build_view_output(build, 0, LAYOUT_ND, real);
  return real != GRAPH_NONE;
}

bool give_quantised(struct build *build, uint32_t real, unsigned scale, unsigned zero) {
  const struct graph_tensor *y = build_result(build, 0);
  if (real == GRAPH_NONE)
    return false;
  uint32_t factor = scale_of_result(build, scale);
  return give_bytes(build, build_view(build, real, y->shape, y->rank), factor, zero);
}

/* Scaled sums of inputs in the order of QLinearMatMul. */
static uint32_t real_product(struct build *build, unsigned bias, enum dtype dtype) {
  enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO };
  struct product size;
  struct bytes a, b;
  if (!take_product(build, A, B, &size) || !bytes_take(build, A, A_ZERO, &a) ||
      !bytes_take(build, B, B_ZERO, &b))
    return GRAPH_NONE;
  uint32_t scale = scale_product(build, A_SCALE, B_SCALE, 2, 1);
  return scaled_sums(build, integer_product(build, &size, &a, &b, bias), scale, dtype);
}

bool layer_qlinear_matmul(struct build *build) {
  enum { Y_SCALE = 6, Y_ZERO, NONE };
  return give_quantised(build, real_product(build, NONE, DTYPE_FP32), Y_SCALE, Y_ZERO);
}

/* What pass quantised makes. */
bool layer_dequantized_matmul(struct build *build) {
  enum { BIAS = 6 };
  return give_real(build, real_product(build, BIAS, type_of_result(build)));
}

/* ---- what pass requantised makes ----------------------------------------------------------- */

/* A product whose sums the fixpipe scales; scale_input: of a result of bytes. */
static bool scaled_product(struct build *build, unsigned bias, const unsigned *scale_input,
                           double zero) {
  enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO };
  const struct graph_tensor *y = build_result(build, 0);
  struct product size;
  struct bytes a, b;
  if (!take_product(build, A, B, &size) || !bytes_take(build, A, A_ZERO, &a) ||
      !bytes_take(build, B, B_ZERO, &b))
    return false;
  if (!zero_is_nought(&b.zero))
    return build_refuse(build, "a zero point of the second matrix");
  uint32_t scale = scale_product(build, A_SCALE, B_SCALE, 2, 1);
  if (scale_input)
    scale = scale_between(build, scale, *scale_input);
  struct way_out way = {y->dtype, fixpipe_scales(build, scale, size.n, y->dtype, zero)};
  return give_real(build, product_of(build, &size, &a, &b, bias, &way));
}

bool layer_scaled_matmul(struct build *build) {
  enum { BIAS = 6 };
  return scaled_product(build, BIAS, NULL, 0);
}

bool layer_requantized_matmul(struct build *build) {
  enum { BIAS = 6, Y_ZERO = 8 };
  static const unsigned y_scale = 7;
  double zero;
  if (!zero_known(build, Y_ZERO, &zero))
    return build_refuse(build, "a known zero point of the result is needed");
  return scaled_product(build, BIAS, &y_scale, zero);
}
