/* SPDX-License-Identifier: Apache-2.0 */
/* matmul and batch_matmul: their keys, and how profiles name their shapes. */
#include "lower/cube/matmul.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/chip/layout.h"
#include "lower/cube/matmul_tail.h"

#define BOOLEAN "0|1"
#define MATMUL_TYPES "fp16|bf16|fp32|hf32|int8"

static const struct lower_key keys[MATMUL_KEY_COUNT] = {
    [MATMUL_M] = {"m", LOWER_SIZE, NULL, NULL, "rows of A and of the result"},
    [MATMUL_K] = {"k", LOWER_SIZE, NULL, NULL, "columns of A, rows of B"},
    [MATMUL_N] = {"n", LOWER_SIZE, NULL, NULL, "columns of B and of the result"},
    [MATMUL_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", MATMUL_TYPES, "type of A and B"},
    [MATMUL_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "", "fp16|bf16|fp32|int32|int8",
                          "type of the result; default: that of A, fp32 for hf32, int32 for int8"},
    [MATMUL_TRANSPOSE_A] = {"transpose_a", LOWER_WORD, "0", BOOLEAN, "A is given as [k,m]"},
    [MATMUL_TRANSPOSE_B] = {"transpose_b", LOWER_WORD, "0", BOOLEAN, "B is given as [n,k]"},
    [MATMUL_BIAS] = {"bias", LOWER_WORD, "0", "0|1|each",
                     "adds a row of n fp32 (int32) values; each: a row of its own to each product"},
    [MATMUL_BATCH] = {"batch", LOWER_SIZE, "1", NULL, "independent products"},
    [MATMUL_SHARED] = {"shared", LOWER_WORD, "none", "none|a|b",
                       "operand that all products have in common"},
    [MATMUL_FORMAT_A] = {"format_a", LOWER_WORD, "ND", "ND|NZ", "layout of A"},
    [MATMUL_FORMAT_B] = {"format_b", LOWER_WORD, "ND", "ND|NZ", "layout of B"},
    [MATMUL_FORMAT_C] = {"format_c", LOWER_WORD, "ND", "ND|NZ", "layout of the result"},
    [MATMUL_SCALE] =
        {"scale", LOWER_NUMBER, "1", NULL,
         "what an int32 sum is multiplied with on its way to fp16 or int8; of its fraction "
         "the fixpipe keeps 10 bits"},
    [MATMUL_SCALES] = {"scales", LOWER_WORD, "0", BOOLEAN,
                       "one scale for each column instead: a row of n words as set_quant_pre takes",
                       false},
    [MATMUL_RELU] = {"relu", LOWER_WORD, "0", BOOLEAN, MATMUL_RELU_TEXT},
    [MATMUL_RESIDUAL] = {"residual", LOWER_WORD, "0", BOOLEAN, MATMUL_RESIDUAL_TEXT},
    [MATMUL_STEPS] = {"steps", LOWER_TEXT, "", NULL,
                      "of the operator chain on the result, on coupled cores: x is the product"},
    [MATMUL_OPERANDS] = {"operands", LOWER_TEXT, "", NULL,
                         "what x1, x2 ... of the steps are, such as fp16,one:fp32: tensors in the "
                         "shape of the result, or of one number"},
    [MATMUL_MIXED] = {"mixed", LOWER_WORD, "0", BOOLEAN,
                      "A is given as [m,batch,k], and the result is [m,batch,n]"},
    [MATMUL_GENERATION] = {"generation", LOWER_WORD, "3", "3|2|library",
                           "which tilings are tried: as MatMulV3 of the vendor's library has them, "
                           "or as MatMulV2, with panels of at most four steps; library: as "
                           "MatMulV3, and panels are loaded in its order too"},
    [MATMUL_SPLIT] = MATMUL_SPLIT_ROW,
    MATMUL_TILING_ROWS(MATMUL_TILE, "m x k x n of a block in L0",
                       "k of A's and of B's panels in L1; one is a multiple of the other",
                       "operand that stays in L1 from block to block"),
};

enum { SHARED_A = 1, SHARED_B, BIAS_EACH = 2 };
enum { GENERATION_2 = 1, GENERATION_LIBRARY };

void matmul_types(const struct lower_job *job, struct matmul *mm, const struct lower_value *in,
                  const struct lower_value *out) {
  enum dtype type = in->dtype;
  mm->type = type;
  mm->out_type = out->present         ? out->dtype
                 : type == DTYPE_HF32 ? DTYPE_FP32
                 : type == DTYPE_INT8 ? DTYPE_INT32
                                      : type;
  mm->element_bytes = dtype_bits(type) / BITS_PER_BYTE;
  mm->out_bytes = dtype_bits(mm->out_type) / BITS_PER_BYTE;
  mm->c0 = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(type);
  mm->cube_mcycles = (uint64_t)soc_cube_mcycles(job->soc, type);
}

enum vinci_status matmul_check_cube(struct lower_job *job, const struct matmul *mm) {
  if (mm->cube_mcycles == 0)
    return lower_error(job, "the cube of %s does not compute in %s", job->soc->name,
                       dtype_name(mm->type));
  return VINCI_OK;
}

/* Rows of the products in turn are rows of one matrix with as many times the columns. */
static enum vinci_status check_mixed(struct lower_job *job, const struct matmul *mm) {
  if (mm->coupled)
    return lower_error(job, "mixed=1 is not for %s", arch_name(job->soc->arch));
  const struct lower_value *split = &job->value[MATMUL_SPLIT];
  if (mm->trans_a || mm->nz_a || mm->nz_c || mm->residual || mm->a_batches != mm->batch ||
      (split->given && split->size > 1))
    return lower_error(job, "mixed=1 asks for A and the result in ND, as they are read, an A for "
                            "each product, k in one part, and no residual");
  if (mm->batch * mm->n > UINT16_MAX)
    return lower_error(job,
                       "with mixed=1 rows of the result are %" PRIu64 " elements apart; the "
                       "fixpipe knows at most %d",
                       mm->batch * mm->n, UINT16_MAX);
  return VINCI_OK;
}

static enum vinci_status check(struct lower_job *job, const struct matmul *mm) {
  enum vinci_status status = matmul_check_cube(job, mm);
  if (status != VINCI_OK)
    return status;
  bool integer = mm->type == DTYPE_INT8, out_integer = mm->out_type == DTYPE_INT32;
  bool out_byte = mm->out_type == DTYPE_INT8;
  if (integer ? !out_integer && !out_byte && mm->out_type != DTYPE_FP16 : out_integer || out_byte)
    return lower_error(job, "%s gives no %s", dtype_name(mm->type), dtype_name(mm->out_type));
  if ((out_integer || out_byte) && mm->nz_c)
    return lower_error(job, "an %s result is ND only", dtype_name(mm->out_type));
  bool scaled = job->value[MATMUL_SCALE].given || job->value[MATMUL_SCALES].word;
  if (scaled && mm->scale == SCALE_NONE)
    return lower_error(job, "only fp16 and int8 results of int8 have scales");
  if (job->value[MATMUL_SCALE].given && mm->scale == SCALE_COLUMNS)
    return lower_error(job, "either one scale or one for each column");
  if (mm->mixed && (status = check_mixed(job, mm)) != VINCI_OK)
    return status;
  if (mm->bias_each && mm->coupled)
    return lower_error(job, "bias=each is not for %s", arch_name(job->soc->arch));
  return mm->coupled ? matmul_coupled_check(job, mm) : matmul_residual_check(job, mm);
}

/* The word that set_quant_pre takes for a scale: the upper bits of an fp32. */
static uint64_t matmul_scale_word(double scale) {
  enum { LOST_BITS = 13 };
  return fp32_bits((float)scale) >> LOST_BITS << LOST_BITS;
}

void matmul_set_scale(struct matmul *mm, double scale, bool columns) {
  enum { SIGNED_BIT = 46 }; /* of the word: int8 and not uint8 */
  mm->scale = columns ? SCALE_COLUMNS : SCALE_TENSOR;
  mm->scale_word = matmul_scale_word(scale);
  if (mm->out_type == DTYPE_INT8)
    mm->scale_word |= UINT64_C(1) << SIGNED_BIT;
}

static void set_scale(struct matmul *mm, const struct lower_value *value) {
  if (mm->type == DTYPE_INT8 && (mm->out_type == DTYPE_FP16 || mm->out_type == DTYPE_INT8))
    matmul_set_scale(mm, value[MATMUL_SCALE].number, value[MATMUL_SCALES].word);
}

struct matmul_tensor matmul_operand(const char *name, enum dtype type, uint64_t batches,
                                    uint64_t rows, uint64_t columns, bool nz) {
  uint64_t c0 = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(type);
  const uint64_t nd_shape[] = {batches, rows, columns};
  const uint64_t nz_shape[] = {batches, ceil_div(columns, c0), ceil_div(rows, FRACTAL_ROWS),
                               FRACTAL_ROWS, c0};
  struct matmul_tensor tensor = {.name = name, .type = matmul_stored(type)};
  unsigned skip = batches == 1;
  tensor.rank = (nz ? 5 : 3) - skip;
  tensor.format = nz ? "FRACTAL_NZ" : NULL;
  memcpy(tensor.shape, (nz ? nz_shape : nd_shape) + skip, tensor.rank * sizeof *nz_shape);
  return tensor;
}

/* [batch,m,columns] as [m,batch,columns]. */
static void mix(struct matmul_tensor *tensor) {
  if (tensor->rank < 3)
    return;
  uint64_t batches = tensor->shape[0];
  tensor->shape[0] = tensor->shape[1];
  tensor->shape[1] = batches;
}

static void set_tensors(struct matmul *mm) {
  uint64_t m = mm->m, k = mm->k, n = mm->n;
  bool a = mm->trans_a, b = mm->trans_b;
  mm->a = matmul_operand("a", mm->type, mm->a_batches, a ? k : m, a ? m : k, mm->nz_a);
  mm->b = matmul_operand("b", mm->type, mm->b_batches, b ? n : k, b ? k : n, mm->nz_b);
  /* Sums of coupled cores leave in fractals of 16 x 16, whatever their type. */
  enum dtype fractal = mm->coupled && mm->out_type == DTYPE_FP32 ? DTYPE_FP16 : mm->out_type;
  mm->c = matmul_operand("c", fractal, mm->batch, m, n, mm->nz_c);
  mm->c.type = matmul_stored(mm->out_type);
  mm->r = matmul_operand("residual", mm->type, mm->batch, m, n, mm->nz_c);
  if (mm->mixed) {
    mix(&mm->a);
    mix(&mm->c);
  }
  mm->scales = n;
  mm->biases = mm->bias_each ? mm->batch * n : n;
}

/* What the vector unit of a coupled core does with blocks of the result. */
static enum vinci_status set_tail(struct lower_job *job, const struct matmul *mm) {
  const struct lower_value *steps = &job->value[MATMUL_STEPS];
  const struct lower_value *operands = &job->value[MATMUL_OPERANDS];
  if (!steps->given && operands->given)
    return lower_error(job, "operands are those of steps, of which there are none");
  if (!steps->given)
    return mm->coupled && mm->residual ? matmul_tail_residual(job) : VINCI_OK;
  if (mm->residual)
    return lower_error(job, "either a residual or steps: add:x1 is a step");
  return matmul_tail_set(job, steps->text, operands->given ? operands->text : "");
}

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  if (!mm)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *mm = (struct matmul){
      .name = "matmul",
      .first_key = MATMUL_TILE,
      .batch = value[MATMUL_BATCH].size,
      .m = value[MATMUL_M].size,
      .k = value[MATMUL_K].size,
      .n = value[MATMUL_N].size,
      .trans_a = value[MATMUL_TRANSPOSE_A].word,
      .trans_b = value[MATMUL_TRANSPOSE_B].word,
      .nz_a = value[MATMUL_FORMAT_A].word,
      .nz_b = value[MATMUL_FORMAT_B].word,
      .nz_c = value[MATMUL_FORMAT_C].word,
      .bias = value[MATMUL_BIAS].word != 0,
      .bias_each = value[MATMUL_BIAS].word == BIAS_EACH,
      .relu = value[MATMUL_RELU].word,
      .residual = value[MATMUL_RESIDUAL].word,
      .mixed = value[MATMUL_MIXED].word,
      .alone = value[MATMUL_MIXED].word,
      .shallow = value[MATMUL_GENERATION].word == GENERATION_2,
      .library_loads = value[MATMUL_GENERATION].word == GENERATION_LIBRARY,
      .coupled = matmul_is_coupled(job->soc),
  };
  matmul_types(job, mm, &value[MATMUL_DTYPE], &value[MATMUL_OUT_DTYPE]);
  mm->a_batches = value[MATMUL_SHARED].word == SHARED_A ? 1 : mm->batch;
  mm->b_batches = value[MATMUL_SHARED].word == SHARED_B ? 1 : mm->batch;
  set_scale(mm, value);
  set_tensors(mm);
  mm->library_block = matmul_has_library_block(job->soc, mm);
  job->data = mm;
  enum vinci_status status = check(job, mm);
  if (status == VINCI_OK)
    status = set_tail(job, mm);
  if (status == VINCI_OK)
    matmul_set_sides(job->soc, mm);
  return status;
}

/* ---- from a profile ---- */

/* Rows, columns and batches of a tensor; NZ is [.., columns / c0, rows / 16, 16, c0]. */
static bool matrix(const struct lower_tensor *tensor, uint64_t *batch, uint64_t *rows,
                   uint64_t *columns) {
  unsigned tail = strstr(tensor->format, "NZ") ? 4 : 2;
  if (tensor->rank < tail)
    return false;
  const uint64_t *end = tensor->shape + tensor->rank;
  *batch = lower_elements(tensor->shape, tensor->rank - tail);
  *rows = tail == 2 ? end[-2] : end[-3] * end[-2];
  *columns = tail == 2 ? end[-1] : end[-4] * end[-1];
  return true;
}

/* NZ fills up rows to 16 and columns to a block. */
static bool is_padded(uint64_t side, uint64_t extent, bool nz) {
  return side == extent || (nz && side > extent && side - extent < BLOCK_BYTES);
}

struct call_shape {
  bool nz_a, nz_b;
  uint64_t batch_a, batch_b, batch, rows_a, columns_a, rows_b, columns_b, m, n;
};

/* Which way round the operands lie follows from the sides that fit the result. Of several ways
 * the first; but with a bias it is a linear layer, whose weights are [n,k]. */
static bool orient(const struct call_shape *s, bool bias, uint64_t *k, bool *trans_a,
                   bool *trans_b) {
  for (unsigned way = 0; way < 4; way++) {
    *trans_a = way >= 2;
    *trans_b = (way % 2 == 1) != bias;
    uint64_t m = *trans_a ? s->columns_a : s->rows_a, ka = *trans_a ? s->rows_a : s->columns_a;
    uint64_t n = *trans_b ? s->rows_b : s->columns_b, kb = *trans_b ? s->columns_b : s->rows_b;
    *k = min_u64(ka, kb);
    if (is_padded(m, s->m, s->nz_a) && is_padded(n, s->n, s->nz_b) && is_padded(ka, *k, s->nz_a) &&
        is_padded(kb, *k, s->nz_b))
      return true;
  }
  return false;
}

/* x1 [m,batch,k], x2 [batch,k,n], y [m,batch,n]: how the vendor's kernel is used for latent
 * attention. */
static bool call_mixed(struct lower_call *call) {
  const struct lower_tensor *a = &call->input[0], *b = &call->input[1], *y = &call->output[0];
  if (call->input_count < 2 || call->output_count < 1 || a->rank != 3 || b->rank != 3 ||
      y->rank != 3)
    return lower_cannot(call, "two operands and a result of three dimensions are needed");
  if (a->shape[1] != b->shape[0] || y->shape[1] != b->shape[0] || a->shape[0] != y->shape[0] ||
      a->shape[2] != b->shape[1] || y->shape[2] != b->shape[2])
    return lower_cannot(call,
                        "only the orders [m,batch,k], [batch,k,n] and [m,batch,n] are modelled");
  lower_arg(call, "m=%" PRIu64, a->shape[0]);
  lower_arg(call, "k=%" PRIu64, a->shape[2]);
  lower_arg(call, "n=%" PRIu64, b->shape[2]);
  lower_arg(call, "batch=%" PRIu64, b->shape[0]);
  lower_arg(call, "mixed=1");
  lower_arg_dtype(call, "dtype", a);
  return true;
}

/* The vendor's framework computes products of fp32 in fp32, unless the row says otherwise. */
static void take_types(struct lower_call *call) {
  struct lower_tensor computed = call->input[0];
  if (call->hf32 == LOWER_HF32_ON && computed.dtype == DTYPE_FP32 &&
      soc_cube_mcycles(call->soc, DTYPE_HF32) > 0)
    computed.dtype = DTYPE_HF32;
  lower_arg_dtype(call, "dtype", &computed);
  lower_arg_dtype(call, "out_dtype", &call->output[0]);
}

static bool from_tensors(struct lower_call *call) {
  if (strcmp(call->type, "TransposeBatchMatMul") == 0)
    return call_mixed(call);
  struct call_shape s;
  uint64_t k;
  bool trans_a, trans_b;
  if (call->input_count < 2 || call->output_count < 1 ||
      !matrix(&call->input[0], &s.batch_a, &s.rows_a, &s.columns_a) ||
      !matrix(&call->input[1], &s.batch_b, &s.rows_b, &s.columns_b) ||
      !matrix(&call->output[0], &s.batch, &s.m, &s.n))
    return lower_cannot(call, "two matrices and a result are needed");
  s.nz_a = strstr(call->input[0].format, "NZ");
  s.nz_b = strstr(call->input[1].format, "NZ");
  bool bias = call->input_count > 2 && call->input[2].rank > 0;
  if (!orient(&s, bias, &k, &trans_a, &trans_b))
    return lower_cannot(call, "the shapes do not fit together");
  bool shared_a = s.batch > 1 && s.batch_a == 1, shared_b = s.batch > 1 && s.batch_b == 1;
  if ((s.batch_a != s.batch && !shared_a) || (s.batch_b != s.batch && !shared_b) ||
      (shared_a && shared_b))
    return lower_cannot(call, "batches differ");
  /* Rows of all batches are rows of one product, where they follow each other. */
  bool folded = shared_b && !trans_a && !s.nz_a && !strstr(call->output[0].format, "NZ");
  lower_arg(call, "m=%" PRIu64, folded ? s.m * s.batch : s.m);
  lower_arg(call, "k=%" PRIu64, k);
  lower_arg(call, "n=%" PRIu64, s.n);
  take_types(call);
  lower_arg(call, "transpose_a=%d", trans_a);
  lower_arg(call, "transpose_b=%d", trans_b);
  lower_arg(call, "bias=%d", bias);
  lower_arg(call, "batch=%" PRIu64, folded ? 1 : s.batch);
  if (!folded && (shared_a || shared_b))
    lower_arg(call, "shared=%s", shared_a ? "a" : "b");
  lower_arg(call, "format_a=%s", s.nz_a ? "NZ" : "ND");
  lower_arg(call, "format_b=%s", s.nz_b ? "NZ" : "ND");
  lower_arg(call, "format_c=%s", strstr(call->output[0].format, "NZ") ? "NZ" : "ND");
  if (strstr(call->type, "MatMulV2"))
    lower_arg(call, "generation=2");
  else if (strcmp(call->type, "MatMulV3") == 0 && call->soc->arch == ARCH_C220)
    lower_arg(call, "generation=library");
  if (call->blocks > 0)
    lower_arg(call, "cores=%" PRIu64, call->blocks);
  return true;
}

static const struct lower_template template = MATMUL_TEMPLATE(matmul_candidate);
LOWER_OPERATOR(matmul, "MatMul|MatMulV2|MatMulV3|Gemm|MatMulCommon",
               "C[m,n] = A[m,k] B[k,n], fp32 or int32 accumulation", keys, &template, NULL,
               from_tensors)

/* The same, under the name that people look for. */
LOWER_OPERATOR(batch_matmul,
               "BatchMatMul|BatchMatMulV2|BatchMatMulV3|BatchMatMulNd|TransposeBatchMatMul",
               "C[batch,m,n] = A[batch,m,k] B[batch,k,n], as matmul", keys, &template, NULL,
               from_tensors)
