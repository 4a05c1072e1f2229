/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps, gates and lists of operators as users of the library see them: linked to libvinci alone,
 * with the installed headers alone. The first two tests are the examples at the head of
 * vinci_study.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/vinci_gate.h"
#include "core/vinci_study.h"

static const char study_text[] =
    "return { soc = 'Ascend910B4', memory = 'flat', op = 'copy', shape = { 256, 64 },\n"
    "  params = { { 'hbm.bandwidth_scale', 0.5, 1 } } }\n";
static const char suite_text[] = "return { soc = 'Ascend910B4', memory = 'flat', points = {\n"
                                 "  { name = 'small', op = 'copy', shape = 64 },\n"
                                 "  { name = 'large', op = 'copy', shape = { 512, 512 } } } }\n";

static void write_file(const char *name, const char *text) {
  FILE *out = fopen(name, "w");
  assert_non_null(out);
  assert_true(fputs(text, out) >= 0);
  assert_int_equal(fclose(out), 0);
}

/* A folder of its own, which is the working folder from there on. */
static int make_folder(void **state) {
  static char folder[] = "test_study.XXXXXX";
  /* The test may run where bless refuses to. */
  static const char *const variables[] = {
      "CI",       "GITHUB_ACTIONS", "GITLAB_CI",       "JENKINS_URL",
      "TF_BUILD", "BUILDKITE",      "TEAMCITY_VERSION"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    unsetenv(variables[i]);
  *state = folder;
  if (!mkdtemp(folder) || chdir(folder) != 0)
    return -1;
  write_file("study.lua", study_text);
  write_file("suite.lua", suite_text);
  return 0;
}

static int remove_folder(void **state) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
  return chdir("..") == 0 ? system(command) : -1;
}

/* ---- sweeps -------------------------------------------------------------------------------- */

struct table {
  size_t rows;
  unsigned long long cycles[4];
};

static bool add_row(void *context, const char *const *columns, const char *const *cells,
                    size_t count) {
  struct table *table = context;
  for (size_t i = 0; i < count; i++)
    if (strcmp(columns[i], "total_cycles") == 0)
      table->cycles[table->rows] = strtoull(cells[i], NULL, 10);
  return ++table->rows < 4;
}

static void a_study_becomes_a_table(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  const char *study[] = {"study.lua"};
  vinci_sweep *sweep = NULL;
  struct vinci_sweep_result result;
  if (vinci_sweep_open(study, 1, NULL, &sweep, &diag) != VINCI_OK ||
      vinci_sweep_run(sweep, "out", NULL, &result, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_int_equal(vinci_sweep_point_count(sweep), 2);
  assert_null(vinci_sweep_warning(sweep));
  assert_int_equal(result.points, 2);
  assert_int_equal(result.done, 2);
  assert_int_equal(result.failed + result.reused, 0);
  struct table table = {0};
  assert_int_equal(vinci_sweep_read("out", add_row, &table, &diag), VINCI_OK);
  assert_int_equal(table.rows, 2);
  assert_true(table.cycles[0] > 0 && table.cycles[0] >= table.cycles[1]);
  /* The same sweep again has nothing to do. */
  assert_int_equal(vinci_sweep_run(sweep, "out", NULL, &result, &diag), VINCI_OK);
  assert_int_equal(result.reused, 2);
  vinci_sweep_free(sweep);
}

static bool stop_at_once(void *context, const struct vinci_sweep_progress *progress) {
  ++*(size_t *)context;
  assert_true(progress->done <= progress->points);
  return false;
}

static void an_operator_is_swept_and_stopped(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  const char *work[] = {"matmul", "m=2048", "k=2048", "n=2048"};
  const char *params[] = {"l2.size=96MiB,192MiB", "op.dtype=fp16,bf16"};
  const char *sets[] = {"hbm.bandwidth_scale=2"};
  struct vinci_sweep_options options = {
      .struct_size = sizeof options,
      .overrides = {.soc = "Ascend910B1", .l2 = "warm", .sets = sets, .set_count = 1},
      .params = params,
      .param_count = 2,
  };
  size_t calls = 0;
  struct vinci_sweep_run_options run = {
      .struct_size = sizeof run, .jobs = 1, .progress = stop_at_once, .progress_context = &calls};
  vinci_sweep *sweep;
  struct vinci_sweep_result result;
  assert_int_equal(vinci_sweep_open(work, 4, &options, &sweep, &diag), VINCI_OK);
  params[0] = sets[0] = work[1] = "gone"; /* nothing of them is needed any more */
  assert_int_equal(vinci_sweep_point_count(sweep), 4);
  assert_non_null(strstr(vinci_sweep_warning(sweep), "l2.size is varied"));
  assert_int_equal(vinci_sweep_run(sweep, "stopped", &run, &result, &diag), VINCI_E_LIMIT);
  assert_true(calls > 0);
  run.progress = NULL;
  run.shard_count = 4; /* one of the points */
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_sweep_run(sweep, "stopped", &run, &result, &diag), VINCI_OK);
  assert_true(result.points <= 1 && result.failed == 0);
  run.shard_count = 1;
  run.max_points = 1; /* what a limit leaves out is not reused */
  assert_int_equal(vinci_sweep_run(sweep, "limited", &run, &result, &diag), VINCI_E_LIMIT);
  diag = (struct vinci_diag){0};
  assert_int_equal(result.reused, 0);
  struct vinci_sweep_counts counts;
  assert_int_equal(vinci_sweep_collect("stopped", false, &counts, &diag), VINCI_OK);
  assert_int_equal(counts.points, 4);
  assert_true(counts.done >= 1 && counts.failed == 0);
  vinci_sweep_free(sweep);
}

static void errors_of_sweeps(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  const char *unknown[] = {"coyp"};
  struct vinci_sweep_options options = {.struct_size = sizeof options,
                                        .overrides = {.soc = "Ascend910B4"}};
  vinci_sweep *sweep = NULL;
  assert_int_equal(vinci_sweep_open(unknown, 1, &options, &sweep, &diag), VINCI_E_USAGE);
  assert_null(sweep);
  assert_non_null(strstr(diag.hint, "copy"));
  options.struct_size--;
  assert_int_equal(vinci_sweep_open(unknown, 1, &options, &sweep, NULL), VINCI_E_USAGE);
  const char *study[] = {"study.lua"};
  struct vinci_sweep_run_options run = {.struct_size = sizeof run, .jobs = 257};
  struct vinci_sweep_result result;
  assert_int_equal(vinci_sweep_open(study, 1, NULL, &sweep, NULL), VINCI_OK);
  assert_int_equal(vinci_sweep_run(sweep, "none", &run, &result, NULL), VINCI_E_USAGE);
  run = (struct vinci_sweep_run_options){
      .struct_size = sizeof run, .shard_index = 2, .shard_count = 2};
  assert_int_equal(vinci_sweep_run(sweep, "none", &run, &result, NULL), VINCI_E_USAGE);
  assert_int_equal(vinci_sweep_run(sweep, "suite.lua/in", NULL, &result, NULL), VINCI_E_IO);
  vinci_sweep_free(sweep);
  vinci_sweep_free(NULL);
  struct table table = {0};
  struct vinci_sweep_counts counts;
  assert_int_equal(vinci_sweep_read("none", add_row, &table, NULL), VINCI_E_IO);
  assert_int_equal(vinci_sweep_collect("none", true, &counts, NULL), VINCI_E_USAGE);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static void a_suite_passes_what_it_has_blessed(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct vinci_gate_blessed blessed;
  if (vinci_gate_bless("suite.lua", "base.csv", "first", NULL, &blessed, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_true(blessed.changed && blessed.points == 2 && blessed.exit_code == 0);
  assert_int_equal(vinci_gate_bless("suite.lua", "base.csv", "again", NULL, &blessed, &diag),
                   VINCI_OK);
  assert_false(blessed.changed);
  FILE *out = tmpfile();
  assert_non_null(out);
  vinci_gate *gate = NULL;
  enum vinci_status status = vinci_gate_check("suite.lua", "base.csv", NULL, &gate, &diag);
  if (gate)
    status = vinci_gate_write(gate, VINCI_GATE_TEXT, out, &diag);
  assert_int_equal(status, VINCI_OK);
  assert_int_equal(vinci_gate_exit_code(gate), 0);
  vinci_gate_free(gate);
  char line[80];
  rewind(out);
  assert_non_null(fgets(line, sizeof line, out));
  assert_ptr_equal(strstr(line, "PASS        small: "), line);
  fclose(out);
}

/* Of a gate that fails: its only point that fails. */
static void look_at_regression(const vinci_gate *gate) {
  struct vinci_gate_point small, large;
  struct vinci_gate_change change;
  assert_int_equal(vinci_gate_point_count(gate), 2);
  assert_true(vinci_gate_point_info(gate, 0, &small) && vinci_gate_point_info(gate, 1, &large));
  assert_false(vinci_gate_point_info(gate, 2, &small));
  assert_string_equal(large.name, "large");
  assert_string_equal(large.verdict, "REGRESSED");
  assert_true(large.exit_code == 1 && large.total_cycles > large.baseline_cycles);
  bool total = false;
  for (size_t i = 0; vinci_gate_change_info(gate, 1, i, &change); i++)
    if (strcmp(change.metric, "total_cycles") == 0)
      total = change.fails && change.value == large.total_cycles &&
              change.baseline_value == large.baseline_cycles;
  assert_true(total);
}

static void a_regression_is_found(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  const char *sets[] = {"hbm.bandwidth_scale=0.1"};
  struct vinci_gate_options options = {.struct_size = sizeof options,
                                       .overrides = {.sets = sets, .set_count = 1}};
  vinci_gate *gate;
  /* A process of the caller's is not taken from the caller. */
  pid_t other = fork();
  if (other == 0)
    _exit(7);
  assert_int_equal(vinci_gate_check("suite.lua", "base.csv", &options, &gate, &diag), VINCI_E_GATE);
  int ended;
  assert_int_equal(waitpid(other, &ended, 0), other);
  assert_int_equal(WEXITSTATUS(ended), 7);
  assert_int_equal(diag.status, VINCI_E_GATE);
  assert_int_equal(vinci_gate_exit_code(gate), 1);
  look_at_regression(gate);
  vinci_gate_free(gate);
  options.only = "small";
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_gate_check("suite.lua", "base.csv", &options, &gate, &diag), VINCI_OK);
  assert_int_equal(vinci_gate_point_count(gate), 1);
  vinci_gate_free(gate);
}

static void bless_is_guarded(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct vinci_gate_blessed blessed;
  struct vinci_gate_options options = {.struct_size = sizeof options};
  setenv("BUILDKITE", "true", 1);
  assert_int_equal(vinci_gate_bless("suite.lua", "ci.csv", "first", NULL, &blessed, &diag),
                   VINCI_E_USAGE);
  assert_string_equal(diag.text, "bless is not for continuous integration (BUILDKITE is set)");
  assert_int_equal(vinci_gate_bless("suite.lua", "ci.csv", "first", &options, &blessed, NULL),
                   VINCI_E_USAGE);
  assert_int_not_equal(access("ci.csv", F_OK), 0);
  options.allow_ci = true;
  assert_int_equal(vinci_gate_bless("suite.lua", "ci.csv", "first", &options, &blessed, NULL),
                   VINCI_OK);
  setenv("BUILDKITE", "false", 1);
  assert_int_equal(vinci_gate_bless("suite.lua", "ci.csv", "first", NULL, &blessed, NULL),
                   VINCI_OK);
  unsetenv("BUILDKITE");
}

/* What bless would not heed is an error. */
static void bless_takes_no_policy(void **state) {
  (void)state;
  struct vinci_gate_blessed blessed;
  struct vinci_gate_options policy = {.struct_size = sizeof policy, .policy = "policy"};
  struct vinci_gate_options strict = {.struct_size = sizeof strict, .strict = true};
  assert_int_equal(vinci_gate_bless("suite.lua", "none.csv", "why", &policy, &blessed, NULL),
                   VINCI_E_USAGE);
  assert_int_equal(vinci_gate_bless("suite.lua", "none.csv", "why", &strict, &blessed, NULL),
                   VINCI_E_USAGE);
  assert_int_not_equal(access("none.csv.inputs", F_OK), 0);
}

static void errors_of_gates(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct vinci_gate_options options = {.struct_size = sizeof options, .only = "none"};
  struct vinci_gate_blessed blessed;
  vinci_gate *gate;
  assert_int_equal(vinci_gate_check("gone.lua", "base.csv", NULL, &gate, &diag), VINCI_E_IO);
  assert_null(gate);
  assert_string_equal(diag.path, "gone.lua");
  assert_int_equal(vinci_gate_check("suite.lua", "gone.csv", NULL, &gate, NULL), VINCI_E_INPUT);
  assert_int_equal(vinci_gate_check("suite.lua", "base.csv", &options, &gate, NULL), VINCI_E_USAGE);
  options = (struct vinci_gate_options){.struct_size = sizeof options, .repeat = 101};
  assert_int_equal(vinci_gate_check("suite.lua", "base.csv", &options, &gate, NULL), VINCI_E_USAGE);
  options =
      (struct vinci_gate_options){.struct_size = sizeof options, .overrides = {.memory = "fast"}};
  assert_int_equal(vinci_gate_check("suite.lua", "base.csv", &options, &gate, NULL), VINCI_E_USAGE);
  assert_int_equal(vinci_gate_bless("suite.lua", "other.csv", "  ", NULL, &blessed, NULL),
                   VINCI_E_USAGE);
  assert_int_equal(blessed.exit_code, 2);
  assert_int_not_equal(access("other.csv.inputs", F_OK), 0);
  vinci_gate_free(NULL);
}

/* ---- lists of operators ------------------------------------------------------------------------
 */

static bool count_calls(void *context, const struct vinci_ops_progress *progress) {
  ++*(size_t *)context;
  assert_true(progress->done_permille <= 1000 * progress->operators);
  return true;
}

static bool refuse(void *context, const struct vinci_ops_progress *progress) {
  (void)context;
  (void)progress;
  return false;
}

static bool check_growth(void *context, const struct vinci_ops_progress *progress) {
  uint64_t *before = context;
  assert_true(progress->done_permille >= *before);
  *before = progress->done_permille;
  return true;
}

/* The launches of a loop are parts of its rows, also where they take most of the time. */
static void progress_of_a_sequence_never_falls(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct vinci_ops_result result;
  uint64_t reached = 0;
  struct vinci_ops_options options = {.struct_size = sizeof options,
                                      .overrides = {.soc = "Ascend910B4"},
                                      .sequence = true,
                                      .repeat = 2,
                                      .progress = check_growth,
                                      .progress_context = &reached};
  write_file("loop.csv", "op,args,weight\nmatmul,m=2048 k=2048 n=2048,12\nrelu,shape=64,12\n");
  assert_int_equal(vinci_ops_run("loop.csv", "loop", &options, &result, &diag), VINCI_OK);
  assert_int_equal(result.ok, 2);
  assert_true(reached > 1000);
}

static void a_list_becomes_a_table(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct vinci_ops_result result;
  size_t calls = 0;
  struct vinci_ops_options options = {.struct_size = sizeof options,
                                      .overrides = {.soc = "Ascend910B4"},
                                      .jobs = 2,
                                      .progress = refuse};
  write_file("list.csv", "op,args\ncopy,shape=64\ncopy,shape=128\nfold,shape=1\n");
  assert_int_equal(vinci_ops_run("list.csv", "table", &options, &result, &diag), VINCI_E_LIMIT);
  assert_int_equal(result.operators, 3);
  assert_int_equal(result.done, 0);
  options.progress = count_calls;
  options.progress_context = &calls;
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_ops_run("list.csv", "table", &options, &result, &diag), VINCI_OK);
  assert_true(calls > 0 && result.done == 3 && result.ok == 2 && result.unsupported == 1);
  assert_int_equal(access("table/op_summary.csv", F_OK), 0);
  options.jobs = 257;
  assert_int_equal(vinci_ops_run("list.csv", "table", &options, &result, NULL), VINCI_E_USAGE);
  assert_int_equal(vinci_ops_run("gone.csv", "table", NULL, &result, NULL), VINCI_E_IO);
  assert_int_equal(result.operators, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_study_becomes_a_table),
      cmocka_unit_test(an_operator_is_swept_and_stopped),
      cmocka_unit_test(errors_of_sweeps),
      cmocka_unit_test(a_suite_passes_what_it_has_blessed),
      cmocka_unit_test(a_regression_is_found),
      cmocka_unit_test(errors_of_gates),
      cmocka_unit_test(bless_is_guarded),
      cmocka_unit_test(bless_takes_no_policy),
      cmocka_unit_test(a_list_becomes_a_table),
      cmocka_unit_test(progress_of_a_sequence_never_falls),
  };
  return cmocka_run_group_tests_name("study", tests, make_folder, remove_folder);
}
