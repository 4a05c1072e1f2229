/* SPDX-License-Identifier: Apache-2.0 */
/* Shortage of memory, as shortage_cases.h says: readers of chips and traces; lowering, runs, checks
 * and values; what of a result is written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/vinci_energy.h"
#include "core/vinci_sensitivity.h"
#include "core/vinci_tables.h"
#include "core/vinci_timeline.h"
#include "tests/core/shortage.h"
#include "tests/core/shortage_cases.h"
#include "traces/import/import.h"

/* ---- chips ------------------------------------------------------------------------------- */

static enum vinci_status read_chip(struct vinci_diag *diag) {
  vinci_soc *soc = NULL;
  enum vinci_status status = vinci_soc_load("Ascend910B4", NULL, &soc, diag);
  if (status == VINCI_OK)
    status = vinci_soc_set(soc, "l2.size=96MiB", diag);
  if (status == VINCI_OK)
    status = vinci_soc_load_energy(soc, diag);
  vinci_soc_free(soc);
  return status;
}

static const char mine[] =
    "return soc {\n  name = 'Mine', base = 'Ascend910B4', description = 'a larger L2',\n"
    "  l2 = { size = num(96 * MiB, 'B', 'INI', 'assumed', 'tried') },\n}\n";

static enum vinci_status read_own_chip(struct vinci_diag *diag) {
  vinci_soc *soc = NULL, *copy = NULL;
  enum vinci_status status = vinci_soc_load("Mine.lua", NULL, &soc, diag);
  if (status == VINCI_OK && !(copy = vinci_soc_copy(soc)))
    status = shortage_without(diag);
  vinci_soc_free(copy);
  vinci_soc_free(soc);
  return status;
}

/* ---- traces, operators, values ----------------------------------------------------------- */

static enum vinci_status read_traces(struct vinci_diag *diag) {
  static const char *const names[] = {
      "tests/fuzz/corpus/kernels.csv", "tests/fuzz/corpus/loops.csv",
      "tests/fuzz/corpus/tensors.csv", "tests/fuzz/corpus/expressions.csv",
      "tests/mutate/mixed_atomic.csv"};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof names / sizeof *names; i++) {
    vinci_trace *trace = NULL;
    status = vinci_trace_load(shortage_source(names[i]), shortage_chip, &trace, diag);
    if (status == VINCI_OK)
      status = vinci_trace_write(trace, shortage_nowhere, diag);
    vinci_trace_free(trace);
  }
  return status;
}

static const char *const product[] = {"m=96", "k=128", "n=80"}, *const rows[] = {"shape=17x260"};
static const char *const image[] = {"n=1", "c=16", "h=14", "w=14", "k=32", "kernel=3x3"};

static bool see_tiling(void *context, const struct vinci_tiling *tiling) {
  *(uint64_t *)context += tiling->blocks;
  return true;
}

static enum vinci_status lower(struct vinci_diag *diag) {
  static const struct {
    const char *op;
    const char *const *args;
    size_t count;
  } asked[] = {
      {"matmul", product, 3}, {"softmax", rows, 1}, {"conv2d", image, 6}, {"gelu", rows, 1}};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof asked / sizeof *asked; i++) {
    char *text = NULL;
    status =
        vinci_compile_text(shortage_chip, asked[i].op, asked[i].args, asked[i].count, &text, diag);
    vinci_text_free(text);
  }
  uint64_t blocks = 0;
  if (status == VINCI_OK)
    status = vinci_op_tilings(shortage_chip, "matmul", product, 3, see_tiling, &blocks, diag);
  return status;
}

static enum vinci_status run_all(enum vinci_memory memory, struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  const struct vinci_run_options options = {.struct_size = sizeof options,
                                            .memory = memory,
                                            .max_events = 4096,
                                            .repeat = memory == VINCI_MEMORY_AUTO ? 1 : 2};
  enum vinci_status status = vinci_compile(shortage_chip, "matmul", product, 3, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(shortage_chip, trace, &options, &result, diag);
  if (status == VINCI_OK)
    status = vinci_result_write_text(result, shortage_nowhere, diag);
  if (status == VINCI_OK)
    status = vinci_result_write_json(result, shortage_nowhere, diag);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

static enum vinci_status run_flat(struct vinci_diag *diag) {
  return run_all(VINCI_MEMORY_FLAT, diag);
}
static enum vinci_status run_cycle(struct vinci_diag *diag) {
  return run_all(VINCI_MEMORY_CYCLE, diag);
}
static enum vinci_status run_auto(struct vinci_diag *diag) {
  return run_all(VINCI_MEMORY_AUTO, diag);
}

static bool see_saving(void *context, const struct vinci_saving *saving) {
  *(uint64_t *)context += saving->cycles;
  return true;
}
static bool see_lever(void *context, const struct vinci_lever *lever) {
  *(uint64_t *)context += lever->saved_cycles;
  return true;
}

static enum vinci_status save(struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  uint64_t cycles = 0;
  const struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT, .max_events = 4096};
  const struct vinci_savings_options savings = {.struct_size = sizeof savings,
                                                .run = options,
                                                .op = "matmul",
                                                .args = product,
                                                .arg_count = 3};
  enum vinci_status status = vinci_compile(shortage_chip, "matmul", product, 3, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(shortage_chip, trace, &options, &result, diag);
  if (status == VINCI_OK)
    status = vinci_savings_measure(result, shortage_chip, trace, &savings, diag);
  if (status == VINCI_OK)
    status = vinci_result_savings(result, see_saving, &cycles, diag);
  if (status == VINCI_OK)
    status = vinci_result_levers(result, see_lever, &cycles, diag);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

static enum vinci_status write_results(struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  const struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT, .max_events = 4096};
  const struct vinci_timeline_options timeline = {.struct_size = sizeof timeline,
                                                  .formats = "perfetto,chrome,msprof,vcd"};
  enum vinci_status status = vinci_compile(shortage_chip, "softmax", rows, 1, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(shortage_chip, trace, &options, &result, diag);
  if (status == VINCI_OK)
    status = vinci_result_write_folder_with(result, "out", &timeline, diag);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

static enum vinci_status check(struct vinci_diag *diag) {
  static const char *const names[] = {"tests/check/exchange.csv", "tests/check/tail.csv"};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof names / sizeof *names; i++) {
    vinci_trace *trace = NULL;
    vinci_findings *findings = NULL;
    status = vinci_trace_load(shortage_source(names[i]), shortage_chip, &trace, diag);
    if (status == VINCI_OK)
      status = vinci_check(shortage_chip, trace, NULL, &findings, diag);
    if (status == VINCI_OK)
      status = vinci_findings_write_json(findings, shortage_nowhere, diag);
    vinci_findings_free(findings);
    vinci_trace_free(trace);
  }
  return status;
}

/* The last one reads what the first has written. */
static enum vinci_status compute(struct vinci_diag *diag) {
  vinci_trace *trace = NULL;
  vinci_values *values = NULL;
  enum vinci_status status = vinci_compile(shortage_chip, "add", rows, 1, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_values_create(shortage_chip, trace, &values, diag);
  if (status == VINCI_OK) {
    vinci_values_fill(values, 7);
    status = vinci_values_run(values, NULL, NULL, diag);
  }
  struct vinci_tensor tensor;
  if (status == VINCI_OK && vinci_values_tensor(values, 0, &tensor)) {
    status = vinci_values_save(values, tensor.name, "tensor.npy", diag);
    if (status == VINCI_OK)
      status = vinci_values_load(values, tensor.name, "tensor.npy", diag);
  }
  vinci_values_free(values);
  vinci_trace_free(trace);
  return status;
}

/* ---- what others have measured ----------------------------------------------------------- */

static enum vinci_status read_others(struct vinci_diag *diag) {
  static const char *const paths[] = {"kept", "one.csv"};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof paths / sizeof *paths; i++) {
    struct arena arena = {0};
    struct imported imported;
    const struct import_options options = {0};
    status = import_read(paths[i], &options, &arena, &imported, diag);
    arena_free(&arena);
  }
  return status;
}

static enum vinci_status write_page(struct vinci_diag *diag) {
  return vinci_report_write("kept", NULL, "page.html", diag);
}

static bool has_page(void) {
  struct vinci_diag diag = {0};
  return write_page(&diag) != VINCI_E_USAGE;
}

/* ---- the table of cases ------------------------------------------------------------------ */

#define CASES(X)                                                                                   \
  X(read_others)                                                                                   \
  X(check)                                                                                         \
  X(read_chip) X(read_own_chip) X(read_traces) X(lower) X(compute) X(run_flat) X(run_cycle)        \
      X(run_auto) X(write_results) X(save)

#define CASE(name)                                                                                 \
  static void shortage_of_##name(void **state) {                                                   \
    (void)state;                                                                                   \
    shortage_each(name);                                                                           \
  }
CASES(CASE)

static void shortage_of_write_page(void **state) {
  (void)state;
  if (!has_page())
    skip();
  shortage_each(write_page);
}

static int set_up(void **state) {
  struct vinci_diag diag = {0};
  if (shortage_set_up(state) != 0)
    return -1;
  shortage_file("Mine.lua", mine);
  shortage_file(
      "one.csv",
      "Op Name,OP Type,Task Duration(us),Block Dim,aiv_vec_time(us)\na,Relu,5.5,20,2.25\n");
  if (write_results(&diag) != VINCI_OK || rename("out", "kept") != 0)
    return print_error("%s\n", diag.text), -1;
  return 0;
}

#define ROW(name) cmocka_unit_test(shortage_of_##name),

int main(void) {
  if (!shortage_possible()) {
    puts("1..0 # SKIP sanitizers have allocations of their own");
    return 0;
  }
  const struct CMUnitTest tests[] = {CASES(ROW) ROW(write_page)};
  return cmocka_run_group_tests_name("shortage", tests, set_up, shortage_tear_down);
}
