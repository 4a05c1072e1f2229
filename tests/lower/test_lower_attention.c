/* SPDX-License-Identifier: Apache-2.0 */
/* Lowered flash attention: traces pass all checks, do their arithmetic once, move the bytes that
 * their tiling says, and signal as often as they wait. Values are in tests/values/attention.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "tests/support/fixture.h"
#include "tests/support/words.h"

static struct vinci_result *run_op(const char *op, const char *text) {
  struct words words;
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  vinci_result *result = NULL;
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  words_split(&words, text);
  if (vinci_compile(fixture_shared, op, words.item, words.count, &trace, &diag) != VINCI_OK ||
      vinci_run(fixture_shared, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s %s: line %lu: %s", op, text, diag.line, diag.text);
  vinci_findings *findings = NULL;
  if (vinci_check(fixture_shared, trace, NULL, &findings, &diag) != VINCI_OK)
    fail_msg("%s %s: %s", op, text, diag.text);
  assert_int_equal(vinci_findings_count(findings), 0);
  vinci_findings_free(findings);
  vinci_trace_free(trace);
  return result;
}

static struct vinci_result *run(const char *text) { return run_op("flash_attention", text); }

static uint64_t operations(const struct vinci_result *result) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < result->core_count; i++)
    sum += result->cores[i].pipe[PIPE_M].operations;
  return sum;
}

static void every_length_passes_the_checks(void **state) {
  (void)state;
  static const unsigned lengths[][2] = {{1, 1},   {1, 129},   {15, 17},   {17, 15},
                                        {127, 1}, {129, 127}, {129, 129}, {257, 1009}};
  static const char *const forms[] = {"head_dim=64", "heads=4 kv_heads=2 head_dim=17 layout=SBH",
                                      "batch=2 heads=3 head_dim=129 layout=BSND dtype=bf16",
                                      "head_dim=256 layout=BSH cores=1",
                                      "heads=2 rows=16 cols=64 panel=64 slice=8 cores=3"};
  char text[256];
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t j = 0; j < sizeof forms / sizeof *forms; j++)
      for (unsigned causal = 0; causal <= (lengths[i][0] <= lengths[i][1]); causal++) {
        snprintf(text, sizeof text, "seq_q=%u seq_k=%u causal=%u %s", lengths[i][0], lengths[i][1],
                 causal, forms[j]);
        vinci_result_free(run(text));
        vinci_result_free(run_op("flash_attention_grad", text));
      }
}

static void both_products_are_computed_once(void **state) {
  (void)state;
  struct vinci_result *result = run("batch=2 heads=3 seq_q=256 seq_k=384 head_dim=64");
  assert_int_equal(operations(result), UINT64_C(2) * 2 * 3 * 256 * 384 * 64);
  vinci_result_free(result);
}

/* Rows of 128 queries see 128, 256, ... keys: nothing beyond the diagonal block is computed. */
static void what_a_causal_mask_hides_is_left_out(void **state) {
  (void)state;
  struct vinci_result *result = run("seq_q=512 head_dim=128 causal=1 rows=128 cols=256");
  assert_int_equal(operations(result), UINT64_C(2) * 128 * (128 + 256 + 384 + 512) * 128);
  vinci_result_free(result);
}

/* Unless told so: then steps are computed whole, two of 256 keys for each second row of blocks. */
static void whole_steps_are_computed_when_told(void **state) {
  (void)state;
  struct vinci_result *result =
      run("seq_q=512 head_dim=128 causal=1 rows=128 cols=256 diagonal=whole");
  assert_int_equal(operations(result), UINT64_C(2) * 128 * (256 + 256 + 512 + 512) * 128);
  vinci_result_free(result);
}

/* Scores go out in fp32 and come back as 16-bit probabilities; K and V are read once per 128
 * queries, and the partial results of each step of 256 keys pass through memory. */
static void bytes_are_those_of_the_tiling(void **state) {
  (void)state;
  struct vinci_result *result = run(
      "heads=4 kv_heads=2 seq_q=256 seq_k=512 head_dim=64 rows=128 cols=256 panel=256 splits=1");
  uint64_t q = 4 * 256 * 64, kv = 4 * 2 * 512 * 64, scores = 4 * 256 * 512, partial = q * 2;
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (q + 2 * kv + scores));
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 4 * (scores + partial));
  assert_int_equal(result_path_bytes(result, PATH_GM_UB), 4 * (scores + partial));
  assert_int_equal(result_path_bytes(result, PATH_UB_GM), 2 * (scores + q));
  vinci_result_free(result);
}

/* Two steps: values of all rows go out once between them, and come back. */
static void carried_values_pass_through_memory(void **state) {
  (void)state;
  struct vinci_result *result = run("heads=4 kv_heads=2 seq_q=256 seq_k=512 head_dim=64 rows=128 "
                                    "cols=256 panel=256 splits=1 carry=gm");
  uint64_t q = 4 * 256 * 64, scores = 4 * 256 * 512, partial = q * 2;
  assert_int_equal(result_path_bytes(result, PATH_GM_UB), 4 * (scores + partial + q));
  assert_int_equal(result_path_bytes(result, PATH_UB_GM), 2 * (scores + q) + 4 * q);
  vinci_result_free(result);
}

/* One query of each head of a group: they are rows of one task, and share what is read. */
static void single_queries_share_keys_and_values(void **state) {
  (void)state;
  struct vinci_result *result =
      run("heads=8 kv_heads=2 seq_q=1 seq_k=1024 head_dim=128 cols=512 panel=256 splits=1");
  uint64_t q = 8 * 128, kv = 2 * 1024 * 128, probabilities = 8 * 1024;
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (q + 2 * kv + probabilities));
  vinci_result_free(result);
}

/* Parts of the keys are tasks: they fill cores that heads alone leave without work. */
static void few_heads_are_split(void **state) {
  (void)state;
  struct vinci_result *result = run("heads=2 seq_q=1 seq_k=16384 head_dim=128 splits=1");
  uint64_t alone = result->total_ps;
  vinci_result_free(result);
  result = run("heads=2 seq_q=1 seq_k=16384 head_dim=128");
  assert_int_equal(result->kernel_count, 2);
  assert_true(result->total_ps * 2 < alone);
  vinci_result_free(result);
  result = run("heads=2 seq_q=1 seq_k=16384 head_dim=128 splits=4 cols=512");
  assert_int_equal(result->kernels[0].blocks, 8);
  /* Values in single precision and two blocks of numbers for each part; then all of it again. */
  uint64_t parts = 2 * 4 * (128 * 4 + 64), values = 2 * 16384 / 512 * 128 * 4;
  assert_int_equal(result_path_bytes(result, PATH_UB_GM), 2 * 16384 * 2 + parts + 2 * 128 * 2);
  assert_int_equal(result_path_bytes(result, PATH_GM_UB), 2 * 16384 * 4 + values + parts);
  vinci_result_free(result);
}

/* The least and the most that a cube core with work does, and the sum of all. */
struct spread {
  uint64_t least, most, sum, cores;
};

static struct spread spread_of(const struct vinci_result *result) {
  struct spread spread = {.least = UINT64_MAX, .sum = operations(result)};
  for (uint32_t i = 0; i < result->core_count; i++) {
    uint64_t work = result->cores[i].pipe[PIPE_M].operations;
    if (work == 0)
      continue;
    spread.least = work < spread.least ? work : spread.least;
    spread.most = work > spread.most ? work : spread.most;
    spread.cores++;
  }
  return spread;
}

/* 80 tasks of 1 to 16 parts on 8 cores, 680 parts in all: a core takes tasks until it has 85. The
 * fullest ends with one task more than that, at most; dealt out, all have about as much. */
static void causal_work_is_shared(void **state) {
  (void)state;
  enum { CORES = 8, PARTS = 680, LARGEST = 16, SHARE = PARTS / CORES };
  const char *text = "heads=5 seq_q=2048 head_dim=64 rows=128 cols=128 causal=1 cores=8";
  struct vinci_result *result = run(text);
  struct spread ranges = spread_of(result);
  vinci_result_free(result);
  assert_int_equal(ranges.cores, CORES);
  assert_true(ranges.most * PARTS > ranges.sum * SHARE);
  assert_true(ranges.most * PARTS <= ranges.sum * (SHARE + LARGEST));
  result = run_op("flash_attention_grad", text);
  struct spread dealt = spread_of(result);
  vinci_result_free(result);
  assert_true(dealt.most * 100 <= dealt.least * 110);
}

/* Five products; scores and dY V^T out, P and dS back, sums of three gradients added. */
static void the_gradient_has_five_products(void **state) {
  (void)state;
  struct vinci_result *result =
      run_op("flash_attention_grad",
             "heads=4 kv_heads=2 seq_q=256 seq_k=512 head_dim=64 rows=128 cols=256 panel=256");
  uint64_t q = 4 * 256 * 64, kv = 4 * 2 * 512 * 64, scores = 4 * 256 * 512, sums = 2 * kv + q * 2;
  assert_int_equal(operations(result), 5 * scores * 64);
  assert_int_equal(result_path_bytes(result, PATH_L0C_GM), 4 * (2 * scores + sums));
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (2 * q + 3 * kv + 2 * scores));
  vinci_result_free(result);
}

/* As in a profile: [S, B, H] of Q and K, a mask, the maxima of rows. */
static void calls_of_profiles_are_understood(void **state) {
  (void)state;
  static const char *const expected[] = {
      "batch=2",      "heads=4",      "kv_heads=2", "seq_q=1024", "seq_k=1024",
      "head_dim=128", "dtype=bf16",   "layout=SBH", "causal=1",   "diagonal=whole",
      "cols=512",     "statistics=1", "carry=gm"};
  enum { EXPECTED = sizeof expected / sizeof *expected };
  struct arena arena = {0};
  struct lower_tensor q = {.dtype = DTYPE_BF16, .rank = 3, .shape = {1024, 2, 512}}, k = q;
  struct lower_tensor mask = {.dtype = DTYPE_UINT8, .rank = 2, .shape = {2048, 2048}};
  struct lower_tensor max = {.dtype = DTYPE_FP32, .rank = 4, .shape = {2, 4, 1024, 8}};
  k.shape[2] = 256;
  struct lower_call call = {.type = "FlashAttentionScore",
                            .input_count = 4,
                            .output_count = 1,
                            .input = {q, k, k, mask},
                            .output = {max},
                            .arena = &arena};
  assert_true(lower_find_vendor(call.type)->from_tensors(&call));
  assert_int_equal(call.arg_count, EXPECTED);
  for (size_t i = 0; i < call.arg_count; i++)
    assert_string_equal(call.args[i], expected[i]);
  struct lower_call grad = {.type = "FlashAttentionScoreGrad",
                            .input_count = 7,
                            .output_count = 1,
                            .input = {q, k, k, q, mask, max, max},
                            .output = {q},
                            .arena = &arena};
  assert_true(lower_find_vendor(grad.type)->from_tensors(&grad));
  assert_int_equal(grad.arg_count, EXPECTED - 2);
  call.input[0].shape[2] = 511;
  assert_false(lower_find_vendor(call.type)->from_tensors(&call));
  assert_string_equal(call.reason, "4 heads do not divide rows of 511 elements");
  arena_free(&arena);
}

static void an_error_on_says(const vinci_soc *soc, const char *op, const char *text,
                             const char *expected) {
  struct words words;
  struct vinci_diag diag = {0};
  char *out;
  words_split(&words, text);
  assert_int_equal(vinci_compile_text(soc, op, words.item, words.count, &out, &diag),
                   VINCI_E_USAGE);
  assert_string_equal(diag.text, expected);
}

static void an_error_says(const char *text, const char *expected) {
  an_error_on_says(fixture_shared, "flash_attention", text, expected);
}

/* Arguments behind those of a short sequence, and what is wrong with them. */
static void errors_on_say(const vinci_soc *soc, const char *op, const char *const (*refused)[2],
                          size_t count) {
  for (size_t i = 0; i < count; i++) {
    char text[128], expected[256];
    const char *begin = strncmp(refused[i][0], "seq_q=", 6) == 0 ? "" : "seq_q=8 ";
    snprintf(text, sizeof text, "%s%s", begin, refused[i][0]);
    snprintf(expected, sizeof expected, "%s: %s", op, refused[i][1]);
    an_error_on_says(soc, op, text, expected);
  }
}

static void chips_may_lack_what_is_needed(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc_coupled();
  assert_non_null(soc);
  static const char *const refused[][2] = {
      {"head_dim=24",
       "on dav-c100 head_dim and v_dim are multiples of 16: copies are of whole blocks"},
      {"seq_k=48 mask=1",
       "on dav-c100 a mask has rows of a multiple of 32 keys: copies are of whole blocks"},
      {"carry=gm", "on dav-c100 there is no window and no carry=gm"},
      {"dtype=bf16", "fixture100 has no data type bf16"},
      {"rows=128", "no legal tiling: rows have to be a multiple of 16, at most 112"},
      {"seq_k=64 cols=24", "no legal tiling: cols have to be a multiple of 16, at most 1024"},
      {"seq_k=300 cols=64 panel=128", "no legal tiling: a panel is the keys of a step, or all, in "
                                      "multiples of 16 and at most 4095"},
      {"splits=2", "no legal tiling: a slice is all rows, and keys are not split"},
  };
  static const char *const gradients_refused[][2] = {
      {"head_dim=24",
       "on dav-c100 head_dim and v_dim are multiples of 16: copies are of whole blocks"},
      {"head_dim=144", "on dav-c100 head_dim of the gradient is at most 128"},
      {"dtype=bf16", "fixture100 has no data type bf16"},
      {"rows=128", "no legal tiling: rows have to be a multiple of 16, at most 112"},
      {"cols=144", "no legal tiling: cols have to be a multiple of 16, at most 128, and a panel is "
                   "that many"},
      {"seq_k=300 cols=64 panel=128", "no legal tiling: cols have to be a multiple of 16, at most "
                                      "128, and a panel is that many"},
      {"rows=16 slice=8", "no legal tiling: a slice is all rows"},
      {"diagonal=whole", "no legal tiling: diagonal is trim"},
      {"seq_q=112 seq_k=128 rows=112 cols=128", "no legal tiling: the products do not fit L0C"},
  };
  errors_on_say(soc, "flash_attention", refused, sizeof refused / sizeof *refused);
  errors_on_say(soc, "flash_attention_grad", gradients_refused,
                sizeof gradients_refused / sizeof *gradients_refused);
  vinci_soc_free(soc);
  soc = fixture_soc();
  assert_non_null(soc);
  soc->vector_cores = 39;
  an_error_on_says(
      soc, "flash_attention", "seq_q=8",
      "flash_attention: a block takes a cube core and two vector cores; fixture220 has 20 "
      "and 39");
  soc->vector_cores = 40;
  soc->flag_ids = 7;
  an_error_on_says(soc, "flash_attention", "seq_q=8",
                   "flash_attention: takes 8 flag ids between two pipes, fixture220 has 7");
  soc->flag_ids = 6;
  an_error_on_says(soc, "flash_attention_grad", "seq_q=8",
                   "flash_attention_grad: takes 7 flag ids between two pipes, fixture220 has 6");
  soc->flag_ids = 8;
  int64_t signals = soc->cross_core_ids, sets = soc->cross_core_sets_max;
  soc->cross_core_sets_max = 15;
  soc->cross_core_ids = 2;
  an_error_on_says(soc, "flash_attention", "seq_q=8",
                   "flash_attention: takes 3 flags between cores, each set once; fixture220 has 2, "
                   "set 15 times");
  soc->cross_core_ids = signals;
  soc->cross_core_sets_max = 0;
  an_error_on_says(soc, "flash_attention_grad", "seq_q=8",
                   "flash_attention_grad: takes 2 flags between cores, each set once; fixture220 "
                   "has 16, set 0 times");
  soc->cross_core_sets_max = sets;
  soc->ub_bytes = 48 << 10;
  an_error_on_says(
      soc, "flash_attention_grad", "seq_q=8 head_dim=256",
      "flash_attention_grad: no legal tiling: UB is too small for rows of 256 elements");
  soc->cube_bf16_mcycles = 0;
  an_error_on_says(soc, "flash_attention", "seq_q=8 dtype=bf16",
                   "flash_attention: the cube of fixture220 does not compute in bf16");
  vinci_soc_free(soc);
}

static void errors_say_what_is_not_possible(void **state) {
  (void)state;
  an_error_says("seq_q=8 heads=3 kv_heads=2",
                "flash_attention: heads have to be a multiple of kv_heads");
  an_error_says("seq_q=8 head_dim=257", "flash_attention: head_dim is at most 256");
  an_error_says("seq_q=8 seq_k=7 causal=1",
                "flash_attention: causal needs at least as many keys as queries");
  an_error_says("seq_q=8 scale=-1", "flash_attention: scale has to be between 1e-06 and 1e+06");
  an_error_says("seq_q=8 heads=512 layout=SBH batch=2",
                "flash_attention: rows of this layout are more than 65535 elements apart");
  an_error_says("seq_q=256 rows=24",
                "flash_attention: no legal tiling: rows have to be a multiple of 16, at most 128");
  an_error_says("seq_q=256 cols=100",
                "flash_attention: no legal tiling: cols have to be a multiple of 64, at most 512");
  an_error_says("seq_q=256 cols=512 panel=192",
                "flash_attention: no legal tiling: cols have to be whole panels, of up to 128 keys "
                "or a multiple of 128");
  an_error_says("seq_q=256 slice=12",
                "flash_attention: no legal tiling: a slice is a multiple of 8 rows, at most half "
                "of the task's");
  an_error_says("seq_q=256 head_dim=256 rows=128 cols=512 panel=512",
                "flash_attention: no legal tiling: the panels do not fit L1");
  an_error_says("seq_q=256 causal=1 splits=2",
                "flash_attention: no legal tiling: keys are split only without causal, window "
                "and statistics");
  an_error_says("seq_q=8 head_dim=700 v_dim=512",
                "flash_attention: head_dim is at most 640, and v_dim at most 512");
  an_error_says("seq_q=8 window=4", "flash_attention: window asks for causal=1, or one query");
  an_error_says("seq_q=1 seq_k=100 cols=64 splits=3",
                "flash_attention: no legal tiling: 100 keys do not make 3 parts of whole steps, "
                "at most 15");
  an_error_says("seq_q=1 seq_k=9999 head_dim=256 splits=9",
                "flash_attention: no legal tiling: 9999 keys do not make 9 parts of whole steps, "
                "at most 7");
  an_error_says("seq_q=256 cores=99",
                "flash_attention: no legal tiling: more cores than the chip has: 99 and 20");
}

/* ---- caches in blocks ---- */

/* Blocks are read once for a group of heads; a sequence's row of the table is whole blocks of 32
 * bytes, 8 entries. */
static void blocks_of_a_cache_are_read_once(void **state) {
  (void)state;
  struct vinci_result *result =
      run_op("paged_attention", "batch=2 heads=8 kv_heads=2 seq_q=1 lengths=512x256 cols=256 "
                                "panel=256 splits=1 block_size=64");
  uint64_t q = 2 * 8 * 128, kv = 2 * (512 + 256) * 128, probabilities = 8 * (512 + 256);
  uint64_t table = 2 * 2 * 8 * 4; /* for each head of the cache */
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (q + 2 * kv + probabilities) + table);
  vinci_result_free(result);
}

/* A window reads the steps in which it lies. */
static void a_window_reads_its_steps(void **state) {
  (void)state;
  struct vinci_result *result =
      run("heads=8 kv_heads=2 seq_q=1 seq_k=1024 head_dim=128 cols=128 panel=128 window=200");
  uint64_t q = 8 * 128, kv = 2 * 256 * 128, probabilities = 8 * 256;
  assert_int_equal(result_path_bytes(result, PATH_GM_L1), 2 * (q + 2 * kv + probabilities));
  vinci_result_free(result);
}

static void paged_errors_say_what_is_not_possible(void **state) {
  static const char *const errors[][2] = {
      {"seq_q=1 seq_k=64 block_size=24", "block_size has to be a multiple of 16"},
      {"seq_q=1 seq_k=64 lengths=64", "seq_k is the longest of lengths: give one of them"},
      {"seq_q=2 lengths=64x65 causal=1", "causal and mask ask for sequences of one length"},
      {"seq_q=1 lengths=64 latent=1 v_dim=256 head_dim=192",
       "v_dim is at most head_dim, as V is a part of K"},
      {"seq_q=1 seq_k=640 block_size=160 cols=128 panel=128",
       "no legal tiling: a panel of 128 keys is neither blocks of 160 keys nor an equal part of "
       "one"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    char expected[200];
    snprintf(expected, sizeof expected, "paged_attention: %s", errors[i][1]);
    an_error_on_says(fixture_shared, "paged_attention", errors[i][0], expected);
  }
}

/* Lengths are no shapes: the row has to say them. */
static void calls_with_a_table_are_understood(void **state) {
  static const char *const expected[] = {"batch=4",    "heads=32",      "kv_heads=8",
                                         "seq_q=1",    "head_dim=128",  "layout=BSND",
                                         "dtype=fp16", "block_size=64", "blocks=500"};
  enum { EXPECTED = sizeof expected / sizeof *expected, TABLE = 13 };
  (void)state;
  struct arena arena = {0};
  struct lower_tensor q = {.dtype = DTYPE_FP16, .rank = 4, .shape = {4, 32, 1, 128}};
  struct lower_tensor cache = {.dtype = DTYPE_FP16, .rank = 4, .shape = {500, 8, 64, 128}};
  struct lower_call call = {.type = "IncreFlashAttention",
                            .input_count = TABLE + 1,
                            .output_count = 1,
                            .input = {q, cache, cache, [TABLE] = {.rank = 2, .shape = {4, 40}}},
                            .output = {q},
                            .given = "",
                            .arena = &arena};
  assert_false(lower_find_vendor(call.type)->from_tensors(&call));
  assert_string_equal(call.reason, "the lengths of sequences are values, which profiles lack; say "
                                   "lengths=... in a column args");
  call.given = "lengths=1000x500";
  assert_true(lower_find_vendor(call.type)->from_tensors(&call));
  assert_ptr_equal(call.op, &lower_paged_attention);
  assert_int_equal(call.arg_count, EXPECTED);
  for (size_t i = 0; i < call.arg_count; i++)
    assert_string_equal(call.args[i], expected[i]);
  call.input[0].shape[2] = 2;
  assert_false(lower_find_vendor(call.type)->from_tensors(&call));
  assert_string_equal(call.reason, "one query of each sequence is needed, with heads apart");
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_length_passes_the_checks),
      cmocka_unit_test(both_products_are_computed_once),
      cmocka_unit_test(blocks_of_a_cache_are_read_once),
      cmocka_unit_test(a_window_reads_its_steps),
      cmocka_unit_test(paged_errors_say_what_is_not_possible),
      cmocka_unit_test(calls_with_a_table_are_understood),
      cmocka_unit_test(what_a_causal_mask_hides_is_left_out),
      cmocka_unit_test(whole_steps_are_computed_when_told),
      cmocka_unit_test(bytes_are_those_of_the_tiling),
      cmocka_unit_test(carried_values_pass_through_memory),
      cmocka_unit_test(single_queries_share_keys_and_values),
      cmocka_unit_test(few_heads_are_split),
      cmocka_unit_test(causal_work_is_shared),
      cmocka_unit_test(the_gradient_has_five_products),
      cmocka_unit_test(calls_of_profiles_are_understood),
      cmocka_unit_test(chips_may_lack_what_is_needed),
      cmocka_unit_test(errors_say_what_is_not_possible),
  };
  return cmocka_run_group_tests_name("lower_attention", tests, fixture_set_up, fixture_tear_down);
}
