/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operator against something that is not the simulator: a closed form of how fast it could
 * be at best. lower/calls/compared.def has a large shape for each, what its bound is made
 * of, and the largest factor between simulated time and bound. Also, that its trace passes
 * all checks, and that the number of silicon rows in that table is true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "lower/calls/calls.h"
#include "tests/support/words.h"
#include "traces/export/report/expected.h"

static vinci_soc *soc;

static int set_up(void **state) {
  struct vinci_diag diag = {0};
  (void)state;
  return vinci_soc_load("Ascend910B1", NULL, &soc, &diag) == VINCI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  vinci_soc_free(soc);
  return 0;
}

/*
 * As the others, for kernels that only cores of cube and vector unit have: cycles of their
 * instructions for 256 bytes of fp32.
 *
 * - argmax: four passes of 2 cycles. The 910A folds a row of 64 lanes by turns, twice in a row of
 * 64 repeats: 172 instructions that the scalar unit issues in 13 cycles each, and 44 others.
 * - sort, topk: 64 scores, 16 of them sorted in 16 cycles, and merged 4 times, 32 in 16 cycles.
 * - layer_norm_grad: 17 steps of 2 cycles, 3 conversions, two rows added one after the other.
 * - transpose: on the 910A 12 instructions for 1 KiB, issued in 13 cycles each.
 * - nms: 20 turns of a class, each 18 cycles for 64 boxes, as in compared.def. On the 910A 37:
 * 5 instructions of 2 cycles find the score and its place, 9 compare the box, and 7 operands are
 * put into all lanes. Each instruction has 2048 boxes, starts anew, and waits for the one before.
 */
static const struct lower_compared on_310p3[] = {
    {"argmax", "ND", 0, LOWER_BOUND_BYTES, 8, 220, "shape=1024x4096"},
    {"argmax_with_value", "ND", 0, LOWER_BOUND_BYTES, 10, 265, "shape=1024x4096"},
    {"sort", "ND", 0, LOWER_BOUND_BYTES, 192, 140, "shape=512x2048 dtype=fp16"},
    {"topk", "ND", 0, LOWER_BOUND_BYTES, 192, 130, "shape=512x2048 k=256 dtype=fp16"},
    {"layer_norm_grad", "ND", 0, LOWER_BOUND_BYTES, 40, 160, "shape=4096x1024 dtype=fp16"},
    {"nms", "ND", 0, LOWER_BOUND_BYTES, 360, 215, "boxes=2048 classes=96 most=20"}};
static const struct lower_compared on_910a[] = {
    {"argmax", "ND", 0, LOWER_BOUND_BYTES, 52, 170, "shape=1024x4096"},
    {"argmax_with_value", "ND", 0, LOWER_BOUND_BYTES, 69, 150, "shape=1024x4096"},
    {"sort", "ND", 0, LOWER_BOUND_BYTES, 192, 150, "shape=512x2048 dtype=fp16"},
    {"topk", "ND", 0, LOWER_BOUND_BYTES, 192, 135, "shape=512x2048 k=256 dtype=fp16"},
    {"layer_norm_grad", "ND", 0, LOWER_BOUND_BYTES, 40, 190, "shape=4096x1024 dtype=fp16"},
    {"transpose", "ND", 0, LOWER_BOUND_BYTES, 39, 120, "shape=4096x4096 perm=2x1 dtype=fp32"},
    {"nms", "ND", 0, LOWER_BOUND_BYTES, 740, 235, "boxes=2048 classes=96 most=20"}};

static vinci_trace *compiled(const struct lower_compared *row) {
  struct vinci_diag diag = {0};
  struct words words;
  vinci_trace *trace;
  words_split(&words, row->args);
  if (vinci_compile(soc, row->op, words.item, words.count, &trace, &diag) != VINCI_OK)
    fail_msg("%s %s: %s", row->op, row->args, diag.text);
  return trace;
}

/* ---- the bound ------------------------------------------------------------------------------- */

struct traffic {
  uint64_t in, out, elements; /* elements: of the largest tensor */
};

static struct traffic traffic_of(const vinci_trace *trace) {
  struct traffic traffic = {0};
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    uint64_t bits = dtype_bits(tensor->dtype);
    bool again = false; /* another kernel of the trace has named the tensor before */
    for (uint32_t earlier = 0; earlier < i; earlier++)
      again |= strcmp(trace->tensors[earlier].name, tensor->name) == 0;
    if (again)
      continue;
    if (tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT)
      traffic.in += tensor->bytes;
    if (tensor->io == TENSOR_OUT || tensor->io == TENSOR_INOUT)
      traffic.out += tensor->bytes;
    traffic.elements = max_u64(traffic.elements, tensor->bytes * 8 / bits);
  }
  return traffic;
}

static double ps_of_cycles(double cycles) { return cycles * 1e12 / (double)soc->core_hz; }

static double path_ps(enum path path, uint64_t bytes, unsigned cores) {
  double per_cycle = (double)soc->path[path].mbytes_per_cycle / MILLI * cores;
  return ps_of_cycles((double)bytes / per_cycle);
}

/* What the memory, the paths of all cores, and their cubes or vector units need at least. */
static double bound_ps(const struct lower_compared *row, const vinci_trace *trace) {
  struct traffic traffic = traffic_of(trace);
  bool cube = row->kind == LOWER_BOUND_MACS;
  unsigned cores = soc_core_count(soc, cube ? CORE_AIC : emit_vector_core(soc));
  if (row->kind == LOWER_BOUND_RESULT)
    traffic.in = traffic.out;
  double bound = (double)traffic.in * 1e12 / (double)soc_hbm_stream_bytes_per_second(soc);
  double paths[] = {path_ps(cube ? PATH_GM_L1 : PATH_GM_UB, traffic.in, cores),
                    path_ps(cube ? PATH_L0C_GM : PATH_UB_GM, traffic.out, cores)};
  for (size_t i = 0; i < 2; i++)
    bound = bound > paths[i] ? bound : paths[i];
  double work = 0;
  if (cube) {
    double tile = (double)soc->cube_m * (double)soc->cube_n * (double)soc->cube_k_bytes / 2;
    work = row->amount / tile * (double)soc->cube_fp16_mcycles / MILLI;
  } else {
    work = row->amount * (double)traffic.elements * sizeof(float) / REPEAT_BYTES;
  }
  work = ps_of_cycles(work / cores);
  return bound > work ? bound : work;
}

static bool is_near_its_bound(const struct lower_compared *row) {
  struct vinci_diag diag = {0};
  /* Bounds know no wait for code. */
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .memory = VINCI_MEMORY_FLAT,
                                      .code_found_ppm = VINCI_CODE_WARM};
  struct vinci_result *result;
  vinci_trace *trace = compiled(row);
  double bound = bound_ps(row, trace);
  if (vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", row->op, diag.text);
  double times = (double)result->total_ps / bound;
  bool good = times >= 1.0 && times * 100 <= row->percent;
  print_message("%-24s bound %9.2f us, simulated %9.2f us, %5.2f times, limit %5.2f%s\n", row->op,
                bound * 1e-6, (double)result->total_ps * 1e-6, times, row->percent / 100.0,
                good ? "" : "  WRONG");
  vinci_result_free(result);
  vinci_trace_free(trace);
  return good;
}

static void durations_are_near_their_bound(void **state) {
  (void)state;
  unsigned wrong = 0;
  for (size_t i = 0; i < lower_op_count(); i++) {
    const struct lower_compared *row = lower_compared(lower_op(i)->name);
    if (!row)
      fail_msg("%s has no line in compared.def", lower_op(i)->name);
    wrong += !is_near_its_bound(row);
  }
  assert_int_equal(wrong, 0);
}

static void are_near_their_bounds(const char *chip, const struct lower_compared *rows,
                                  size_t count) {
  struct vinci_diag diag = {0};
  vinci_soc *split = soc;
  unsigned wrong = 0;
  assert_int_equal(vinci_soc_load(chip, NULL, &soc, &diag), VINCI_OK);
  print_message("%s\n", chip);
  for (size_t i = 0; i < count; i++)
    wrong += !is_near_its_bound(&rows[i]);
  vinci_soc_free(soc);
  soc = split;
  assert_int_equal(wrong, 0);
}

static void kernels_of_coupled_cores_are_near_theirs(void **state) {
  (void)state;
  are_near_their_bounds("Ascend310P3", on_310p3, sizeof on_310p3 / sizeof *on_310p3);
  are_near_their_bounds("Ascend910A", on_910a, sizeof on_910a / sizeof *on_910a);
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* No hazard, nothing out of range or read before it is written. */
static void traces_pass_all_checks(void **state) {
  (void)state;
  unsigned wrong = 0;
  for (size_t i = 0; i < lower_op_count(); i++) {
    const struct lower_compared *row = lower_compared(lower_op(i)->name);
    struct vinci_diag diag = {0};
    vinci_findings *findings;
    if (!row)
      continue;
    vinci_trace *trace = compiled(row);
    if (vinci_check(soc, trace, NULL, &findings, &diag) != VINCI_OK) {
      print_message("%s %s: %s\n", row->op, row->args, diag.text);
      wrong++;
    }
    vinci_findings_free(findings);
    vinci_trace_free(trace);
  }
  assert_int_equal(wrong, 0);
}

/* ---- expected errors --------------------------------------------------------------------------
 */

/* No operator whose program uses the cube has the error of the vector class. */
static void cube_operators_are_in_no_vector_class(void **state) {
  (void)state;
  for (size_t i = 0; i < lower_op_count(); i++) {
    const struct lower_compared *row = lower_compared(lower_op(i)->name);
    vinci_trace *trace = row ? compiled(row) : NULL;
    bool cube = false;
    for (uint32_t k = 0; trace && k < trace->kernel_count; k++)
      cube |= trace->kernels[k].stream[CORE_AIC].present;
    if (cube && expected_class_of(row->op) == EXPECTED_VECTOR)
      fail_msg("%s uses the cube", row->op);
    if (!cube && row && expected_class_of(row->op) == EXPECTED_CLASS_COUNT)
      fail_msg("%s has no class", row->op);
    vinci_trace_free(trace);
  }
}

/* ---- silicon rows ---------------------------------------------------------------------------- */

static void silicon_rows_are_counted(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct call_list list;
  char path[4096];
  const char *top = getenv("TESTS_SRCDIR");
  static unsigned counts[256];
  vinci_soc *chip = NULL;
  snprintf(path, sizeof path, "%s/tests/reference/silicon_calibration.csv", top ? top : ".");
  if (calls_read(path, &list, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  for (size_t i = 0; i < list.count; i++) {
    struct arena arena = {0};
    struct call_request request;
    const char *name = list.rows[i].cell[CALL_SOC];
    if (!chip || strcmp(vinci_soc_name(chip), name) != 0) {
      vinci_soc_free(chip);
      assert_int_equal(vinci_soc_load(name, NULL, &chip, &diag), VINCI_OK);
    }
    if (calls_resolve(&list, &list.rows[i], chip, &arena, &request))
      for (size_t op = 0; op < lower_op_count(); op++)
        counts[op] += lower_op(op) == request.op;
    arena_free(&arena);
  }
  vinci_soc_free(chip);
  arena_free(&list.arena);
  unsigned wrong = 0;
  for (size_t op = 0; op < lower_op_count(); op++) {
    const struct lower_compared *row = lower_compared(lower_op(op)->name);
    if ((row ? row->silicon_rows : 0) == counts[op])
      continue;
    print_message("%s has %u silicon rows\n", lower_op(op)->name, counts[op]);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(durations_are_near_their_bound),
      cmocka_unit_test(kernels_of_coupled_cores_are_near_theirs),
      cmocka_unit_test(traces_pass_all_checks),
      cmocka_unit_test(cube_operators_are_in_no_vector_class),
      cmocka_unit_test(silicon_rows_are_counted),
  };
  return cmocka_run_group_tests_name("bounds", tests, set_up, tear_down);
}
