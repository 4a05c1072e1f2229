/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of serving engines: how calls of profiles become arguments, what is refused and why,
 * and bytes that follow from the way an operator works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/calls/calls.h"
#include "tests/support/words.h"

enum { TENSORS = 22 };

static vinci_soc *soc;

static int set_up(void **state) {
  struct vinci_diag diag = {0};
  (void)state;
  return vinci_soc_load("Ascend910B4", NULL, &soc, &diag) == VINCI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  vinci_soc_free(soc);
  return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Shapes as profiles write them, "" for a tensor that is not there; the arguments, or the reason.
 */
struct expected {
  const char *type, *inputs[TENSORS], *output;
  const char *op, *args;
  enum dtype first, second, result;
  const char *given;
};

static struct lower_tensor tensor_of(const char *text, enum dtype dtype) {
  struct lower_tensor tensor = {.dtype = dtype, .format = "ND"};
  for (const char *next = text; *next; next += *next == ',') {
    char *end;
    tensor.shape[tensor.rank++] = strtoull(next, &end, 10);
    next = end;
  }
  return tensor;
}

static void check_call(const struct expected *row) {
  struct arena arena = {0};
  struct lower_call call = {.arena = &arena, .given = row->given ? row->given : ""};
  const char *order;
  char text[512] = "";
  assert_true(calls_take_name(row->type, &call, &order));
  for (; call.input_count < TENSORS && row->inputs[call.input_count]; call.input_count++)
    call.input[call.input_count] =
        tensor_of(row->inputs[call.input_count], call.input_count == 0 ? row->first : row->second);
  call.output_count = 1;
  call.output[0] = tensor_of(row->output, row->result);
  const struct lower_op *op = lower_find_vendor(call.type);
  if (!op)
    fail_msg("no operator stands for %s", row->type);
  bool good = op->from_tensors(&call);
  for (size_t i = 0; good && i < call.arg_count; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", call.args[i]);
  assert_string_equal(call.op ? call.op->name : op->name, row->op);
  assert_string_equal(good ? text : call.reason, row->args);
  arena_free(&arena);
}

static void calls_become_arguments(void **state) {
  static const struct expected rows[] = {
      {"WeightQuantBatchMatmulV2",
       {"4,256", "256,96", "2,96", "", "", "", "96"},
       "4,96",
       "weight_quant_matmul",
       "m=4 k=256 n=96 dtype=fp16 bits=8 group=128 offsets=0 transpose_b=0 "
       "bias=1",
       DTYPE_FP16,
       DTYPE_INT8,
       DTYPE_FP16,
       NULL},
      {"QuantBatchMatmulV3",
       {"4,256", "96,256", "96", "", "", "4"},
       "4,96",
       "quant_matmul",
       "m=4 k=256 n=96 out_dtype=bf16 tokens=1 transpose_b=1 format_b=ND bias=0",
       DTYPE_INT8,
       DTYPE_INT8,
       DTYPE_BF16,
       NULL},
      {"GroupedMatmul",
       {"12,64", "3,64,48"},
       "12,48",
       "grouped_matmul",
       "rows=4 groups=3 k=64 n=48 dtype=bf16 out_dtype=bf16 transpose_b=0",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       NULL},
      {"GroupedMatmul",
       {"12,64", "3,48,64"},
       "12,48",
       "grouped_matmul",
       "groups=3 k=64 n=48 dtype=bf16 out_dtype=bf16 transpose_b=1",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       "rows=10x0x2"},
      {"ReshapeAndCacheNdKernel",
       {"5,2,64", "5,2,64", "10,128,2,64", "10,128,2,64", "5"},
       "",
       "scatter_update",
       "shape=2560x128 count=10 dtype=bf16 dtype1=int32",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       NULL},
      {"PagedCacheLoadNdKernel",
       {"10,128,2,64", "10,128,2,64", "2,4"},
       "300,2,64",
       "gather",
       "shape=20x16384 count=6 dtype=bf16 dtype1=int32",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       NULL},
      {"Index",
       {"9,7", "", "", "4"},
       "4,7",
       "gather",
       "shape=9x7 count=4 dtype=fp16 dtype1=int32 rows=1",
       DTYPE_FP16,
       DTYPE_INT32,
       DTYPE_FP16,
       NULL},
      {"ScatterNdUpdate",
       {"9,7", "4,1", "4,7"},
       "9,7",
       "scatter_update",
       "shape=9x7 count=4 dtype=int32 dtype1=int32",
       DTYPE_FP16,
       DTYPE_INT32,
       DTYPE_FP16,
       NULL},
      {"ScatterNdUpdateAiCore",
       {"9,7", "4,2", "4"},
       "9,7",
       "scatter_update",
       "only whole rows of a table can be scattered",
       DTYPE_FP16,
       DTYPE_INT32,
       DTYPE_FP16,
       NULL},
      {"AtbRopeKernel",
       {"6,512", "6,128", "6,64", "6,64"},
       "6,512",
       "rope",
       "shape=6x10x64 dtype=fp16",
       DTYPE_FP16,
       DTYPE_FP16,
       DTYPE_FP16,
       NULL},
      {"AddRmsNormBias",
       {"6,32", "6,32", "32", "32"},
       "6,32",
       "add_rms_norm",
       "a row that is added to the norm is not modelled",
       DTYPE_FP16,
       DTYPE_FP16,
       DTYPE_FP16,
       NULL},
      {"AddRmsNormDynamicQuantAiCore",
       {"6,32", "6,32", "32", ""},
       "6,32",
       "add_rms_norm_dynamic_quant",
       "shape=6x32 dtype=fp16",
       DTYPE_FP16,
       DTYPE_FP16,
       DTYPE_INT8,
       NULL},
      {"MoeGatingTopKSoftmax",
       {"6,32"},
       "6,4",
       "moe_gating_top_k_softmax",
       "shape=6x32 dtype=fp16 k=4",
       DTYPE_FP16,
       DTYPE_FP16,
       DTYPE_FP16,
       NULL},
      {"MoeInitRoutingV2",
       {"6,32", "6,4"},
       "24,32",
       "moe_init_routing",
       "tokens=6 hidden=32 k=4 dtype=fp16",
       DTYPE_FP16,
       DTYPE_INT32,
       DTYPE_FP16,
       NULL},
      {"MoeTokenUnpermute",
       {"24,32", "24", "6,4"},
       "6,32",
       "moe_finalize_routing",
       "tokens=6 hidden=32 k=4 x_rows=24 dtype=fp16",
       DTYPE_FP16,
       DTYPE_INT32,
       DTYPE_FP16,
       NULL},
      {"KvRmsNormRopeCache",
       {"6,1,1,576", "512", "6,64", "6,64", "6", "9,128,1,64", "9,128,1,512"},
       "",
       "kv_rms_norm_rope_cache",
       "tokens=6 slots=1152 latent=512 rope=64 dtype=bf16",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       NULL},
      {"mla_preprocess_0_mix_aic",
       {"6,7168", "7168", "7168",       "1",           "1",          "2112,7168", "2112", "2112",
        "1536",   "1536", "1",          "1",           "3072,1536",  "3072",      "3072", "512",
        "6,64",   "6,64", "16,128,512", "9,128,1,512", "9,128,1,64", "6"},
       "6,16,512",
       "mla_preprocess",
       "tokens=6 hidden=7168 heads=16 slots=1152 q_rank=1536 latent=512 nope=128 rope=64 "
       "dtype=bf16",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       NULL},
      {"mla_preprocess_0_mix_aic",
       {"6,7168", "7168", "7168",       "1",           "1",          "2112,7168", "2112", "2112",
        "1536",   "1536", "1",          "1",           "3072,1536",  "3072",      "3072", "512",
        "6,64",   "6,64", "16,128,512", "9,128,1,512", "9,128,1,64", "6"},
       "6,16,512",
       "mla_preprocess",
       "weights of 8 bits are not modelled",
       DTYPE_BF16,
       DTYPE_INT8,
       DTYPE_BF16,
       NULL},
      {"MlaProlog",
       {"2,3,7168", "7168,1536", "1536,3072", "16,128,512", "7168,576", "1536", "512", "2,3,64",
        "2,3,64", "2,3", "9,128,1,512", "9,128,1,64"},
       "2,3,16,512",
       "mla_preprocess",
       "norm=0 form=interleaved tokens=6 hidden=7168 heads=16 slots=1152 q_rank=1536 latent=512 "
       "nope=128 rope=64 dtype=bf16",
       DTYPE_BF16,
       DTYPE_BF16,
       DTYPE_BF16,
       NULL},
      {"MaskedFillAiCore",
       {"6,32", "1,32"},
       "6,32",
       "masked_fill",
       "shape=1x32 shape1=6x32 dtype=fp16",
       DTYPE_FP16,
       DTYPE_UINT8,
       DTYPE_FP16,
       NULL},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_call(&rows[i]);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void errors_say_what_is_not_possible(void **state) {
  static const char *const errors[][2] = {
      {"weight_quant_matmul m=1 k=64 n=64 group=48", "group has to be a multiple of 64"},
      {"weight_quant_matmul m=1 k=64 n=63 bits=4", "rows of 4-bit elements have to be whole bytes"},
      {"grouped_matmul rows=0x0 k=64 n=64", "a group with rows is needed"},
      {"grouped_matmul rows=4 k=64 n=64 tokens=1", "tokens are for int8"},
      {"grouped_matmul rows=4 k=64 n=64 out_dtype=bf16", "fp16 gives no bf16"},
      {"grouped_matmul rows=40 k=64 n=64 resident=b",
       "no legal tiling: with groups no operand stays in L1"},
      {"swiglu_quant shape=4x7", "the last extent of x is even"},
      {"rms_norm_dynamic_quant shape=4x8 eps=-1", "eps is at least 0, not -1"},
      {"add_rms_norm_quant shape=4x20000",
       "no legal tiling: the tile takes 425984 bytes of UB, there are 188160"},
      {"mla_preprocess tokens=4 heads=100000 slots=64 nope=100000",
       "a row of all heads is too long"},
      {"mla_preprocess tokens=65 heads=4 slots=64",
       "65 tokens need a row each of a cache, which has 64"},
      {"grouped_matmul_swiglu_quant rows=0 k=64 n=64",
       "a group with rows is needed, and at most 2147483647 rows"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    struct vinci_diag diag = {0};
    struct words words;
    char *text, expected[300];
    words_split(&words, errors[i][0]);
    assert_int_equal(
        vinci_compile_text(soc, words.item[0], words.item + 1, words.count - 1, &text, &diag),
        VINCI_E_USAGE);
    snprintf(expected, sizeof expected, "%s: %s", words.item[0], errors[i][1]);
    assert_string_equal(diag.text, expected);
  }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static struct vinci_result *run(const char *request) {
  struct vinci_diag diag = {0};
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  struct words words;
  vinci_trace *trace;
  struct vinci_result *result;
  words_split(&words, request);
  if (vinci_compile(soc, words.item[0], words.item + 1, words.count - 1, &trace, &diag) !=
          VINCI_OK ||
      vinci_run(soc, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  vinci_trace_free(trace);
  return result;
}

/* Vector cores read bytes of weights once, and hand the cube cores twice as many. */
static void weights_of_bytes_are_read_once(void **state) {
  (void)state;
  struct vinci_result *result =
      run("weight_quant_matmul m=16 k=512 n=1024 tile=16x64x128 panel=128x128 cores=8");
  uint64_t weights = 512 * 1024, scales = 2 * 1024 * (512 / 32); /* for each tile of 32 rows */
  assert_int_equal(result_path_bytes(result, PATH_GM_UB), weights + scales);
  assert_int_equal(result_path_bytes(result, PATH_UB_GM), 2 * weights);
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (weights + 8 * 16 * 512));
  vinci_result_free(result);
}

/* Empty groups read nothing: neither rows nor weights. */
static void empty_groups_are_left_out(void **state) {
  (void)state;
  struct vinci_result *result = run("grouped_matmul rows=16x0x0x32 groups=8 k=128 n=64 "
                                    "tile=32x64x64 panel=128x128");
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (2 * 48 * 128 + 4 * 128 * 64));
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 2 * 2 * 48 * 64);
  vinci_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_become_arguments),
      cmocka_unit_test(errors_say_what_is_not_possible),
      cmocka_unit_test(weights_of_bytes_are_read_once),
      cmocka_unit_test(empty_groups_are_left_out),
  };
  return cmocka_run_group_tests_name("lower_serving", tests, set_up, tear_down);
}
