/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products and convolutions with what the vendor's graph fuses behind them, as several kernels
 * (composite.h): elementwise steps on the result of a product; sums of channels of a convolution's
 * result; what a gradient of a map is added to and masked with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/plan/composite.h"
#include "lower/vector/elementwise/chain.h"

#define BOOLEAN "0|1"
#define FORMAT "ND|NZ"

enum { TEXT_BYTES = 256, MORE = 3 };

static uint64_t size_of(const struct lower_job *job, const char *key) {
  return lower_get(job, key)->size;
}

static const char *type_of(const struct lower_job *job, const char *key, const char *otherwise) {
  const struct lower_value *value = lower_get(job, key);
  return dtype_name((value ? value : lower_get(job, otherwise))->dtype);
}

/* ---- matmul_chain ---------------------------------------------------------------------------- */

static const struct lower_key matmul_keys[] = {
    LOWER_KEY("m", SIZE, NULL, NULL, "rows of A and of the result"),
    LOWER_KEY("k", SIZE, NULL, NULL, "columns of A, rows of B"),
    LOWER_KEY("n", SIZE, NULL, NULL, "columns of B and of the result"),
    DTYPE_KEY("fp16", "fp16", "type of A, B and their product"),
    WORD_KEY("transpose_a", "0", BOOLEAN, "A is given as [k,m]"),
    WORD_KEY("transpose_b", "0", BOOLEAN, "B is given as [n,k]"),
    WORD_KEY("bias", "0", BOOLEAN, "adds a row of n fp32 values"),
    LOWER_KEY("batch", SIZE, "1", NULL, "independent products"),
    WORD_KEY("format_a", "ND", FORMAT, "layout of A"),
    WORD_KEY("format_b", "ND", FORMAT, "layout of B"),
    WORD_KEY("format_c", "ND", FORMAT, "layout of the product and of y"),
    LOWER_KEY("steps", TEXT, NULL, NULL, "of the operator chain, whose x is the product"),
    LOWER_KEY("shape", SHAPE, "", NULL, "extents of the product as the steps see them; elements"),
    LOWER_KEY("shape1", SHAPE, "", NULL, "extents of x1; those of the product"),
    LOWER_KEY("shape2", SHAPE, "", NULL, "extents of x2; those of the product"),
    LOWER_KEY("shape3", SHAPE, "", NULL, "extents of x3; those of the product"),
    LOWER_KEY("dtype1", DTYPE, "", "fp16|fp32", "type of x1; that of the product"),
    LOWER_KEY("dtype2", DTYPE, "", "fp16|fp32", "type of x2; that of the product"),
    LOWER_KEY("dtype3", DTYPE, "", "fp16|fp32", "type of x3; that of the product")};

/* Adds " key=8x128" of a shape, or of the elements. */
static void add_shape(char *text, const char *key, const struct lower_value *shape,
                      uint64_t elements) {
  size_t length = strlen(text);
  length += (size_t)snprintf(text + length, TEXT_BYTES - length, " %s=", key);
  if (!shape)
    snprintf(text + length, TEXT_BYTES - length, "%" PRIu64, elements);
  for (unsigned i = 0; shape && i < shape->rank && length < TEXT_BYTES; i++)
    length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s%" PRIu64, i ? "x" : "",
                               shape->shape[i]);
}

static void add_operands(const struct lower_job *job, uint64_t elements, char *text) {
  char shape[] = "shape0", type[] = "dtype0";
  add_shape(text, "shape", lower_get(job, "shape"), elements);
  for (unsigned k = 1; k <= MORE; k++) {
    char name[] = "x0";
    shape[sizeof shape - 2] = type[sizeof type - 2] = name[1] = (char)('0' + k);
    if (!strstr(lower_get(job, "steps")->text, name))
      continue;
    add_shape(text, shape, lower_get(job, shape), elements);
    size_t length = strlen(text);
    snprintf(text + length, TEXT_BYTES - length, " %s=%s", type, type_of(job, type, "dtype"));
  }
}

static enum vinci_status matmul_chain_setup(struct lower_job *job) {
  NAMES(product, BETWEEN("c", "product"));
  NAMES(chain, BETWEEN("x", "product"));
  uint64_t m = size_of(job, "m"), n = size_of(job, "n");
  bool nz = lower_get(job, "format_c")->word;
  uint64_t c0 = BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(lower_get(job, "dtype")->dtype);
  uint64_t one = nz ? round_up(m, FRACTAL_ROWS) * round_up(n, c0) : m * n;
  char text[TEXT_BYTES] = "";
  static const char *const formats[] = {"ND", "NZ"};
  enum vinci_status status = composite_add(
      job, "batch_matmul", product,
      "m=%" PRIu64 " k=%" PRIu64 " n=%" PRIu64
      " dtype=%s transpose_a=%u transpose_b=%u bias=%u batch=%" PRIu64
      " format_a=%s format_b=%s format_c=%s",
      m, size_of(job, "k"), n, type_of(job, "dtype", "dtype"), lower_get(job, "transpose_a")->word,
      lower_get(job, "transpose_b")->word, lower_get(job, "bias")->word, size_of(job, "batch"),
      formats[lower_get(job, "format_a")->word], formats[lower_get(job, "format_b")->word],
      formats[nz]);
  add_operands(job, one * size_of(job, "batch"), text);
  if (status == VINCI_OK)
    status = composite_add(job, "chain", chain, "steps=%s dtype=%s%s", lower_get(job, "steps")->text,
                           type_of(job, "dtype", "dtype"), text);
  return status;
}

/* An operand of the steps: as large as the result, a number, or in ND a row of columns for each
 * product, which lies in blocks of columns beside a result in NZ. */
static void add_operand(struct lower_call *call, unsigned number, const struct lower_tensor *input) {
  const struct lower_tensor *y = &call->output[0];
  char shape[16], type[16];
  uint64_t extents[TENSOR_RANK_MAX];
  snprintf(shape, sizeof shape, "shape%u", number);
  snprintf(type, sizeof type, "dtype%u", number);
  bool nz = strstr(y->format, "NZ") && !strstr(input->format, "NZ");
  if (nz && input->rank >= 2 && input->shape[input->rank - 2] == 1 && y->rank == input->rank + 2) {
    unsigned lead = input->rank - 2;
    memcpy(extents, input->shape, lead * sizeof *extents);
    extents[lead] = y->shape[lead];
    extents[lead + 1] = extents[lead + 2] = 1;
    extents[lead + 3] = y->shape[lead + 3];
    lower_arg_shape(call, shape, extents, y->rank);
  } else {
    lower_arg_shape(call, shape, input->shape, input->rank);
  }
  lower_arg_dtype(call, type, input);
}

/* The product's inputs, then those of the steps. A row of biases, as long as the product has
 * columns, is the product's. */
static bool call_matmul_chain(struct lower_call *call) {
  static const struct lower_tensor none = {.rank = 0};
  const char *names = strstr(call->type, "MatMul_");
  struct lower_call product = *call;
  struct chain_members members;
  const struct lower_tensor *y = &call->output[0], *third = &call->input[2];
  if (!names || call->input_count < 2 || call->output_count == 0)
    return lower_cannot(call, "two matrices and a result are needed");
  uint64_t columns = y->rank < 4 ? 0 : y->shape[y->rank - 4] * y->shape[y->rank - 1];
  bool bias = call->input_count > 2 && third->rank == 1 && third->shape[0] <= columns &&
              third->shape[0] > 1;
  unsigned first = bias ? 3 : 2, more = call->input_count - first;
  if (!chain_read_members(call, names + strlen("MatMul_"), more, &members))
    return false;
  if (members.inputs > more || members.inputs > MORE)
    return lower_cannot(call, "the members of the fusion take %u more inputs, the row has %u",
                        members.inputs, more);
  snprintf(product.type, sizeof product.type, "BatchMatMul");
  product.input_count = first;
  product.output[0].dtype = product.input[0].dtype;
  product.blocks = 0;
  if (!bias)
    product.input[2] = none;
  if (!lower_find("batch_matmul")->from_tensors(&product))
    return lower_cannot(call, "%s", product.reason);
  for (size_t i = 0; i < product.arg_count; i++)
    if (strncmp(product.args[i], "out_dtype", strlen("out_dtype")) != 0)
      lower_arg(call, "%s", product.args[i]);
  lower_arg(call, "steps=%s", members.steps);
  lower_arg_shape(call, "shape", y->shape, y->rank);
  for (unsigned k = 1; k <= members.inputs; k++)
    add_operand(call, k, &call->input[first + k - 1]);
  return true;
}

static const struct lower_template matmul_template = COMPOSITE_TEMPLATE(matmul_chain_setup);
LOWER_OPERATOR(matmul_chain, "", "y = elementwise steps on A[m,k] B[k,n]", matmul_keys,
               &matmul_template, NULL, call_matmul_chain)
