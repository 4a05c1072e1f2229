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

/* Of an operand of the steps: a number, or as large as the product; false: neither. */
static bool is_number(const struct lower_job *job, unsigned k, bool *number) {
  char key[] = "shape0";
  key[sizeof key - 2] = (char)('0' + k);
  const struct lower_value *own = lower_get(job, key), *all = lower_get(job, "shape");
  uint64_t elements = own ? lower_elements(own->shape, own->rank) : 0;
  *number = own && elements == 1;
  return !own || *number ||
         (all ? elements == lower_elements(all->shape, all->rank) : own->rank == 1);
}

/* "fp16,one:fp32": what the steps take beside the product; false when blocks of the result do not
 * show what that is. */
static bool operands_of(const struct lower_job *job, char *text) {
  size_t length = 0;
  for (unsigned k = 1; k <= MORE; k++) {
    char name[] = "x0", type[] = "dtype0";
    bool number;
    name[1] = type[sizeof type - 2] = (char)('0' + k);
    if (!strstr(lower_get(job, "steps")->text, name))
      continue;
    if (!is_number(job, k, &number))
      return false;
    length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s%s%s", length ? "," : "",
                               number ? "one:" : "", type_of(job, type, "dtype"));
  }
  return true;
}

/* There the vector unit works on blocks on their way out of the cube (steps of matmul). */
static bool is_coupled(const struct vinci_soc *soc) {
  return emit_cube_core(soc) == emit_vector_core(soc);
}

static enum vinci_status matmul_chain_setup(struct lower_job *job) {
  NAMES(joined, {"c", "y", EMIT_FLAT}, {"x1", "x1", EMIT_FLAT}, {"x2", "x2", EMIT_FLAT},
        {"x3", "x3", EMIT_FLAT});
  NAMES(product, BETWEEN("c", "product"));
  NAMES(chain, BETWEEN("x", "product"));
  uint64_t m = size_of(job, "m"), n = size_of(job, "n");
  bool nz = lower_get(job, "format_c")->word;
  uint64_t c0 = BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(lower_get(job, "dtype")->dtype);
  uint64_t one = nz ? round_up(m, FRACTAL_ROWS) * round_up(n, c0) : m * n;
  char text[TEXT_BYTES] = "";
  static const char *const formats[] = {"ND", "NZ"};
  char product_text[TEXT_BYTES], operands[TEXT_BYTES] = "";
  snprintf(product_text, sizeof product_text,
           "m=%" PRIu64 " k=%" PRIu64 " n=%" PRIu64
           " dtype=%s transpose_a=%u transpose_b=%u bias=%u batch=%" PRIu64
           " format_a=%s format_b=%s format_c=%s",
           m, size_of(job, "k"), n, type_of(job, "dtype", "dtype"),
           lower_get(job, "transpose_a")->word, lower_get(job, "transpose_b")->word,
           lower_get(job, "bias")->word, size_of(job, "batch"),
           formats[lower_get(job, "format_a")->word], formats[lower_get(job, "format_b")->word],
           formats[nz]);
  if (is_coupled(job->soc) && operands_of(job, operands) &&
      composite_try(job, "batch_matmul", joined, "%s steps=%s%s%s", product_text,
                    lower_get(job, "steps")->text, operands[0] ? " operands=" : "", operands))
    return VINCI_OK;
  enum vinci_status status = composite_add(job, "batch_matmul", product, "%s", product_text);
  add_operands(job, one * size_of(job, "batch"), text);
  if (status == VINCI_OK)
    status = composite_add(job, "chain", chain, "steps=%s dtype=%s%s",
                           lower_get(job, "steps")->text, type_of(job, "dtype", "dtype"), text);
  return status;
}

/* An operand of the steps: as large as the result, a number, or in ND a row of columns for each
 * product, which lies in blocks of columns beside a result in NZ. */
static void add_operand(struct lower_call *call, unsigned number,
                        const struct lower_tensor *input) {
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

/* ---- convolutions ---------------------------------------------------------------------------- */

#define CONV_ROWS(types)                                                                           \
  LOWER_KEY("n", SIZE, "1", NULL, "images"),                                                       \
      LOWER_KEY("c", SIZE, NULL, NULL, "channels of the map"),                                     \
      LOWER_KEY("h", SIZE, NULL, NULL, "rows of the map"),                                         \
      LOWER_KEY("w", SIZE, NULL, NULL, "columns of the map"),                                      \
      LOWER_KEY("k", SIZE, NULL, NULL, "channels of the result of the convolution"),               \
      LOWER_KEY("kernel", SHAPE, NULL, NULL, "window, such as 3x3"),                               \
      LOWER_KEY("stride", SHAPE, "1x1", NULL, "distance of windows"),                              \
      LOWER_KEY("pad", SHAPE, "", "0", "padding, as conv2d has it; default none"),                 \
      LOWER_KEY("dilation", SHAPE, "1x1", NULL, "distance of a window's points"),                  \
      DTYPE_KEY("fp16", types, "type of the maps and weights")
enum { CONV_ROW_COUNT = 10, PADS = 4 };

static const struct lower_key moments_keys[] = {CONV_ROWS("fp16")};
static const struct lower_key masked_keys[] = {
    CONV_ROWS("fp16"), WORD_KEY("residual", "0", BOOLEAN, "adds a map r before the mask")};
static const struct lower_key filter_keys[] = {
    CONV_ROWS("fp16"), NUMBER_KEY("epsilon", "1e-5", "added to the variance"),
    WORD_KEY("accumulate", "0", BOOLEAN,
             "1: adds to what dw holds; 0: a kernel clears dw first, if the work is split")};

/* The keys of the convolution, "n=1 c=16 ...". */
static void conv_text(const struct lower_job *job, char *text) {
  size_t length = 0;
  for (unsigned i = 0; i < CONV_ROW_COUNT && length < TEXT_BYTES; i++) {
    char arg[TEXT_BYTES];
    if (lower_format_arg(&job->op->keys[i], &job->value[i], arg, sizeof arg))
      length +=
          (size_t)snprintf(text + length, TEXT_BYTES - length, "%s%s", length ? " " : "", arg);
  }
}

/* Extents of the result, as far as the convolution takes them. */
static uint64_t places(const struct lower_job *job, unsigned side) {
  const struct lower_value *pad = lower_get(job, "pad");
  uint64_t extent = size_of(job, side ? "w" : "h"), padding = 0;
  uint64_t reach =
      (lower_get(job, "kernel")->shape[side] - 1) * lower_get(job, "dilation")->shape[side] + 1;
  if (pad)
    padding =
        pad->rank == PADS ? pad->shape[2 * side] + pad->shape[2 * side + 1] : 2 * pad->shape[side];
  return extent + padding < reach
             ? 0
             : (extent + padding - reach) / lower_get(job, "stride")->shape[side] + 1;
}

static uint64_t blocks_of(uint64_t channels) { return ceil_div(channels, FRACTAL_ROWS); }

static enum vinci_status moments_setup(struct lower_job *job) {
  NAMES(same, MINE("y", "y"));
  NAMES(sum, MINE("x", "y"), {"y", "sum", EMIT_FLAT});
  NAMES(squares, MINE("x", "y"), {"y", "square_sum", EMIT_FLAT});
  char text[TEXT_BYTES], map[TEXT_BYTES];
  conv_text(job, text);
  snprintf(map, sizeof map,
           "shape=%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64
           "x%d axis=2 axes=2 axis2=0 dtype=fp16 out=fp32",
           size_of(job, "n"), blocks_of(size_of(job, "k")), places(job, 0), places(job, 1),
           FRACTAL_ROWS);
  enum vinci_status status = composite_add(job, "conv2d", same, "%s", text);
  if (status == VINCI_OK)
    status = composite_add(job, "reduce_sum", sum, "%s", map);
  if (status == VINCI_OK)
    status = composite_add(job, "lp_norm_reduce", squares, "%s", map);
  return status;
}

static enum vinci_status masked_setup(struct lower_job *job) {
  NAMES(gradient, BETWEEN("dx", "gradient"));
  NAMES(mask, MINE("x", "mask"), BETWEEN("x1", "gradient"), MINE("y", "dx"));
  NAMES(mask_sum, MINE("mask", "mask"), BETWEEN("x", "gradient"), MINE("r", "r"), MINE("y", "dx"));
  uint64_t elements = size_of(job, "n") * blocks_of(size_of(job, "c")) * FRACTAL_ROWS *
                      size_of(job, "h") * size_of(job, "w");
  bool adds = lower_get(job, "residual")->word;
  char text[TEXT_BYTES];
  conv_text(job, text);
  enum vinci_status status = composite_add(job, "conv2d_backprop_input", gradient, "%s", text);
  if (status == VINCI_OK && adds)
    status = composite_add(job, "masked_sum", mask_sum, "shape=%" PRIu64, elements);
  if (status == VINCI_OK && !adds)
    status = composite_add(job, "dropout", mask, "shape=%" PRIu64 " dtype1=fp16 keep=1", elements);
  return status;
}

/* The gradient of the normalised map becomes that of the convolution's result, a result too. */
static enum vinci_status filter_setup(struct lower_job *job) {
  NAMES(factors, BETWEEN("a", "a"), BETWEEN("b", "b"), BETWEEN("c", "c"));
  NAMES(apply, BETWEEN("a", "a"), BETWEEN("b", "b"), BETWEEN("c", "c"), MINE("x", "y"),
        MINE("dx", "dz"));
  NAMES(gradient, MINE("dy", "dz"));
  uint64_t n = size_of(job, "n"), h = places(job, 0), w = places(job, 1);
  uint64_t channels = blocks_of(size_of(job, "k"));
  char text[TEXT_BYTES];
  conv_text(job, text);
  enum vinci_status status = composite_add(
      job, "batch_norm_factors", factors, "shape=%" PRIu64 " count=%" PRIu64 " epsilon=%.9g",
      channels * FRACTAL_ROWS, n * h * w, lower_get(job, "epsilon")->number);
  PART(status, job, "batch_norm_apply", apply,
       "shape=%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%d format=nc1hwc0 dtype=fp16", n,
       channels, h, w, FRACTAL_ROWS);
  PART(status, job, "conv2d_backprop_filter", gradient, "%s accumulate=%u", text,
       lower_get(job, "accumulate")->word);
  return status;
}

/* The convolution's own inputs; the other arguments are those of its operator. */
static bool call_conv(struct lower_call *call, const char *type, unsigned inputs) {
  struct lower_call conv = *call;
  const struct lower_op *op = lower_find_vendor(type);
  snprintf(conv.type, sizeof conv.type, "%s", type);
  conv.input_count = inputs;
  conv.blocks = 0;
  if (call->input_count < inputs)
    return lower_cannot(call, "%u inputs are needed", inputs);
  if (!op->from_tensors(&conv))
    return lower_cannot(call, "%s", conv.reason);
  for (size_t i = 0; i < conv.arg_count; i++)
    for (unsigned k = 0; k < CONV_ROW_COUNT; k++)
      if (strncmp(conv.args[i], moments_keys[k].name, strlen(moments_keys[k].name)) == 0 &&
          conv.args[i][strlen(moments_keys[k].name)] == '=')
        lower_arg(call, "%s", conv.args[i]);
  return true;
}

static bool call_moments(struct lower_call *call) { return call_conv(call, "Conv2D", 2); }

/* x, dy, what was normalised, five numbers for each channel; results: the map, then dw. */
static bool call_filter(struct lower_call *call) {
  struct lower_call conv = *call;
  if (call->output_count < 2)
    return lower_cannot(call, "a map and dw are results");
  conv.output[0] = call->output[1];
  if (!call_conv(&conv, "Conv2DBackpropFilter", 2))
    return lower_cannot(call, "%s", conv.reason);
  memcpy(call->args, conv.args, sizeof call->args);
  call->arg_count = conv.arg_count;
  lower_arg(call, "accumulate=1");
  return true;
}

/* dy and weights, perhaps a map that is added, and the mask. */
static bool call_masked(struct lower_call *call) {
  if (!call_conv(call, "Conv2DBackpropInput", 2))
    return false;
  lower_arg(call, "residual=%d", strstr(call->type, "AddN") || strstr(call->type, "_Add_"));
  return true;
}

static const struct lower_template moments_template = COMPOSITE_TEMPLATE(moments_setup);
static const struct lower_template masked_template = COMPOSITE_TEMPLATE(masked_setup);
static const struct lower_template filter_template = COMPOSITE_TEMPLATE(filter_setup);
LOWER_OPERATOR(conv2d_moments, "FusionOp_Conv2D_BNTrainingReduce",
               "conv2d, with sum and square_sum of each channel of y", moments_keys,
               &moments_template, NULL, call_moments)
LOWER_OPERATOR(
    conv2d_input_masked,
    "FusionOp_Conv2DBackpropInput_ReluGradV2|"
    "FusionOp_Conv2DBackpropInput_AddN_ReluGradV2|FusionOp_Conv2DBackpropInput_Add_ReluGradV2",
    "conv2d_backprop_input [+ r] where the bit of mask is set, else 0", masked_keys,
    &masked_template, NULL, call_masked)
LOWER_OPERATOR(conv2d_filter_norm, "FusedDbnDw",
               "dz = batch_norm_reduce_grad of dy and y; dw = conv2d_backprop_filter of x and dz",
               filter_keys, &filter_template, NULL, call_filter)
