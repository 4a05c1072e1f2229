/* SPDX-License-Identifier: Apache-2.0 */
/* Chips, instructions, counters, results and jobs as tables, by libvinci and its headers alone. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/vinci_group.h"
#include "core/vinci_tables.h"

enum { CHIPS_MIN = 10, OPS_MIN = 200 };

struct found {
  unsigned count, wanted;
  uint64_t sum;
};

static vinci_soc *chip(void) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  return soc;
}

static bool see_name(void *context, const char *name) {
  struct found *found = context;
  found->count++;
  found->wanted += strcmp(name, "Ascend910B4") == 0;
  return true;
}

static bool see_one(void *context, const char *name) {
  ((struct found *)context)->count++;
  return name == NULL;
}

static void chips_have_names_and_numbers(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct found found = {0}, first = {0};
  struct vinci_soc_number number;
  assert_int_equal(vinci_soc_each(NULL, see_name, &found, &diag), VINCI_OK);
  assert_true(found.count >= CHIPS_MIN);
  assert_int_equal(found.wanted, 1);
  assert_int_equal(vinci_soc_each(NULL, see_one, &first, &diag), VINCI_OK);
  assert_int_equal(first.count, 1);

  vinci_soc *soc = chip(), *copy = vinci_soc_copy(soc);
  assert_string_equal(vinci_soc_arch(soc), "dav-c220");
  assert_int_equal(vinci_soc_set(copy, "l2.size=48MiB", &diag), VINCI_OK);
  bool there = false;
  for (size_t i = 0; vinci_soc_number(copy, i, &number); i++)
    if (strcmp(number.key, "l2.size") == 0) {
      there = true;
      assert_string_equal(number.value_text, "48MiB");
      assert_int_equal(number.value / number.scale, 48 << 20);
      assert_string_equal(number.unit, "B");
      assert_string_equal(number.confidence, "assumed");
    }
  assert_true(there);
  vinci_soc_free(copy);
  vinci_soc_free(soc);
}

static void instructions_have_operands(void **state) {
  (void)state;
  struct vinci_instruction row;
  char operand[64];
  size_t index = 0;
  bool there = false;
  for (; vinci_instruction(index, &row); index++)
    if (strcmp(row.name, "vadd") == 0) {
      there = true;
      assert_string_equal(row.pipe, "V");
      assert_true(vinci_instruction_operand(index, 0, operand, sizeof operand));
      assert_string_equal(operand, "dst");
      assert_false(vinci_instruction_operand(index, row.operand_count, operand, sizeof operand));
    }
  assert_true(there && index >= OPS_MIN);
}

/* ---- a result ------------------------------------------------------------------------------ */

static bool see_counter(void *context, const struct vinci_counter *counter, uint64_t value) {
  struct found *found = context;
  found->count++;
  if (strcmp(counter->name, "total_cycles") == 0) {
    assert_string_equal(counter->unit, "cycle");
    assert_string_equal(counter->better, "lower");
    found->sum = value;
  }
  return true;
}

static bool see_field(void *context, const char *pipe, const char *name, uint64_t value) {
  struct found *found = context;
  if (pipe && strcmp(name, "instructions") == 0)
    found->sum += value;
  return true;
}

static bool see_hotspot(void *context, const struct vinci_hotspot *hotspot) {
  struct found *found = context;
  assert_true(hotspot->line > 0 && hotspot->stall_count > 0);
  found->sum += hotspot->count;
  return true;
}

static bool see_saving(void *context, const struct vinci_saving *saving) {
  struct found *found = context;
  assert_non_null(saving->cause);
  assert_true(!saving->number == !saving->turn);
  found->count++;
  return true;
}

static bool see_lever(void *context, const struct vinci_lever *lever) {
  struct found *found = context;
  assert_true(*lever->lever && *lever->text && *lever->origin && lever->saved_cycles > 0);
  assert_false(lever->measured);
  found->count++;
  return true;
}

static vinci_result *run(const vinci_soc *soc) {
  static const char *const args[] = {"shape=64x1024"};
  struct vinci_diag diag = {0};
  struct vinci_run_options options = {.struct_size = sizeof options, .max_events = 100000};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  assert_int_equal(vinci_compile(soc, "copy", args, 1, &trace, &diag), VINCI_OK);
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_OK);
  vinci_trace_free(trace);
  return result;
}

static void a_result_has_tables_that_agree(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct found counters = {0}, instructions = {0}, hot = {0}, savings = {0}, levers = {0};
  struct vinci_event event;
  struct vinci_core core;
  vinci_soc *soc = chip();
  vinci_result *result = run(soc);
  vinci_result_counters(result, see_counter, &counters);
  assert_true(counters.count > 0);
  assert_int_equal(counters.sum, vinci_result_total_cycles(result));
  size_t cores = 0;
  for (; vinci_result_core(result, cores, &core); cores++)
    vinci_result_core_counters(result, cores, see_field, &instructions);
  assert_int_equal(cores, vinci_result_core_count(result));
  size_t events = 0;
  for (; vinci_result_event(result, events, &event); events++)
    assert_true(event.core < cores && event.end_cycle >= event.start_cycle && event.line > 0);
  assert_int_equal(events, vinci_result_event_count(result));
  assert_int_equal(vinci_result_hotspots(result, see_hotspot, &hot, &diag), VINCI_OK);
  assert_int_equal(hot.sum, events);
  assert_true(instructions.sum >= events);
  assert_int_equal(vinci_result_savings(result, see_saving, &savings, &diag), VINCI_OK);
  assert_true(savings.count > 0);
  assert_int_equal(vinci_result_levers(result, see_lever, &levers, &diag), VINCI_OK);
  assert_true(levers.count > 0);
  vinci_result_free(result);
  vinci_soc_free(soc);
}

static void tensors_are_given_their_bytes(void **state) {
  (void)state;
  static const char *const args[] = {"shape=64", "dtype=fp32"};
  struct vinci_diag diag = {0}, wrong = {0};
  vinci_soc *soc = chip();
  vinci_trace *trace = NULL;
  vinci_values *values = NULL;
  struct vinci_tensor tensor;
  float in[64];
  for (size_t i = 0; i < sizeof in / sizeof *in; i++)
    in[i] = (float)i;
  assert_int_equal(vinci_compile(soc, "copy", args, 2, &trace, &diag), VINCI_OK);
  assert_int_equal(vinci_values_create(soc, trace, &values, &diag), VINCI_OK);
  assert_int_equal(vinci_values_set(values, "x", in, sizeof in - 1, &wrong), VINCI_E_INPUT);
  assert_string_equal(wrong.text, "tensor \"x\" has 256 bytes, and is given 255");
  assert_int_equal(vinci_values_set(values, "x", in, sizeof in, &diag), VINCI_OK);
  assert_int_equal(vinci_values_run(values, NULL, NULL, &diag), VINCI_OK);
  for (size_t i = 0; i < vinci_values_count(values); i++)
    if (vinci_values_tensor(values, i, &tensor) && tensor.output)
      assert_memory_equal(tensor.data, in, sizeof in);
  vinci_values_free(values);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

static void tensors_are_told_without_values(void **state) {
  (void)state;
  static const char *const args[] = {"shape=17x3", "dtype=fp32"};
  struct vinci_diag diag = {0};
  vinci_soc *soc = chip();
  vinci_trace *trace = NULL;
  struct vinci_trace_tensor x, y;
  assert_int_equal(vinci_compile(soc, "copy", args, 2, &trace, &diag), VINCI_OK);
  assert_true(vinci_trace_tensor(trace, 0, &x) && vinci_trace_tensor(trace, 1, &y));
  assert_string_equal(x.name, "x");
  assert_string_equal(x.dtype, "fp32");
  assert_string_equal(x.io, "in");
  assert_string_equal(y.io, "out");
  assert_int_equal(x.rank, 2);
  assert_true(x.shape[0] == 17 && x.shape[1] == 3);
  assert_int_equal(x.bytes, 17 * 3 * sizeof(float));
  assert_false(vinci_trace_tensor(trace, 2, &x));
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

/* ---- several devices ------------------------------------------------------------------------- */

static bool see_rank(void *context, const struct vinci_group_rank *rank) {
  struct found *found = context;
  found->count++;
  found->sum = rank->computing_ps + rank->exposed_ps + rank->idle_ps;
  return true;
}

static void jobs_run(void **state) {
  (void)state;
  static const char job[] = "job,version=1,ranks=2\ngroup,name=all,ranks=0-1\n"
                            "program,ranks=0-1\nwork,us=1000\n"
                            "collective,op=all_reduce,group=all,bytes=1048576\n";
  struct vinci_diag diag = {0}, none = {0};
  struct vinci_group_options options = {.struct_size = sizeof options, .system = "atlas_a2_910b4"};
  struct vinci_group_result result;
  struct found ranks = {0};
  assert_int_equal(
      vinci_group_run("job", job, sizeof job - 1, &options, see_rank, &ranks, &result, &diag),
      VINCI_OK);
  assert_int_equal(result.ranks, 2);
  assert_int_equal(ranks.count, 2);
  assert_int_equal(ranks.sum, result.end_ps);
  assert_int_equal(vinci_group_run("job", job, sizeof job - 1, NULL, NULL, NULL, &result, &none),
                   VINCI_E_USAGE);
  assert_string_equal(none.text, "the job names no system of devices");
}

static void trainings_run(void **state) {
  (void)state;
  struct vinci_diag diag = {0}, wrong = {0};
  struct vinci_training training = {.struct_size = sizeof training,
                                    .work_ns = 2000000000000000,
                                    .interval_ns = 2400000000000,
                                    .blocking_ns = 60000000000,
                                    .mtbf_ns = 18000000000000000,
                                    .units = 128,
                                    .runs = 100,
                                    .seed = 1};
  struct vinci_trained trained;
  assert_int_equal(vinci_group_train(&training, &trained, &diag), VINCI_OK);
  assert_true(trained.time_ns > trained.work_ns && trained.failures > 0);
  assert_int_equal(trained.work_ns, training.work_ns);
  training.units = 0;
  assert_int_equal(vinci_group_train(&training, &trained, &wrong), VINCI_E_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chips_have_names_and_numbers),
      cmocka_unit_test(instructions_have_operands),
      cmocka_unit_test(a_result_has_tables_that_agree),
      cmocka_unit_test(tensors_are_given_their_bytes),
      cmocka_unit_test(tensors_are_told_without_values),
      cmocka_unit_test(jobs_run),
      cmocka_unit_test(trainings_run),
  };
  return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
