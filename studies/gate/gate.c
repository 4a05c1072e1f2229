/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of the public interface. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "studies/gate/gate.h"

/* ---- opening ------------------------------------------------------------------------------ */

static enum vinci_status check_options(const struct vinci_gate_options *options,
                                       struct vinci_diag *diag) {
  if (!options)
    return VINCI_OK;
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the gate options is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->jobs > GATE_JOBS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "jobs is at most %d, not %u", GATE_JOBS_MAX,
                      options->jobs);
  if (options->repeat > GATE_REPEAT_MAX)
    return diag_error(diag, VINCI_E_USAGE, "repeat is at most %d, not %u", GATE_REPEAT_MAX,
                      options->repeat);
  return VINCI_OK;
}

/* An absent text stays absent. */
static bool keep_text(vinci_gate *gate, const char *text, const char **out) {
  *out = text ? arena_strdup(&gate->arena, text) : NULL;
  return !text || *out;
}

static bool keep_options(vinci_gate *gate, const char *baseline,
                         const struct vinci_gate_options *options) {
  gate->strict = options->strict;
  gate->rebase_inputs = options->rebase_inputs;
  gate->verbose = options->verbose;
  gate->run.suite = &gate->suite;
  gate->run.chips = &gate->chips;
  gate->run.jobs = workload_jobs(options->jobs, GATE_JOBS_MAX);
  gate->run.repeat = options->repeat ? options->repeat : 1;
  return keep_text(gate, baseline, &gate->baseline_path) &&
         keep_text(gate, options->only, &gate->only) &&
         keep_text(gate, options->policy, &gate->policy) &&
         keep_text(gate, options->overrides.data_dir, &gate->chips.data);
}

/* Leaves the points that `only` names. */
static enum vinci_status select_points(vinci_gate *gate, struct vinci_diag *diag) {
  struct gate_suite *suite = &gate->suite;
  const char *only = gate->only;
  size_t kept = 0;
  for (size_t i = 0; i < suite->count; i++)
    if (!only || fnmatch(only, suite->points[i].name, 0) == 0)
      suite->points[kept++] = suite->points[i];
  if (kept == 0)
    return diag_error(diag, VINCI_E_USAGE, "no point of %s matches '%s'", suite->path, only);
  suite->count = kept;
  return VINCI_OK;
}

enum vinci_status gate_open(vinci_gate *gate, const char *suite, const char *baseline,
                            const struct vinci_gate_options *options,
                            const struct model_steps *steps, struct vinci_diag *diag) {
  static const struct vinci_gate_options defaults = {.struct_size = sizeof defaults};
  *gate = (vinci_gate){0};
  enum vinci_status status = check_options(options, diag);
  options = options ? options : &defaults;
  if (status == VINCI_OK && !keep_options(gate, baseline, options))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = gate_suite_open(&gate->suite, suite, &options->overrides, steps, diag);
  gate->run.steps = steps;
  return status == VINCI_OK ? select_points(gate, diag) : status;
}

void gate_close(vinci_gate *gate) {
  gate_verdicts_free(&gate->verdicts);
  gate_policy_free(&gate->rules);
  gate_rows_free(&gate->baseline);
  gate_run_free(&gate->run);
  chip_cache_free(&gate->chips);
  gate_suite_free(&gate->suite);
  arena_free(&gate->arena);
}

void vinci_gate_free(vinci_gate *gate) {
  if (gate)
    gate_close(gate);
  free(gate);
}

/* ---- check -------------------------------------------------------------------------------- */

/* A chip that the caller asks for has to be there; one that a point names may fail the point. */
static enum vinci_status run_points(vinci_gate *gate, const struct vinci_gate_options *options,
                                    struct vinci_diag *diag) {
  const char *soc = options ? options->overrides.soc : NULL;
  const vinci_soc *chip;
  enum vinci_status status = soc ? chip_cache_get(&gate->chips, soc, &chip, diag) : VINCI_OK;
  return status == VINCI_OK ? gate_run_all(&gate->run, diag) : status;
}

static enum vinci_status compare(vinci_gate *gate, struct vinci_diag *diag) {
  return gate_compare(&gate->run, &gate->baseline, &gate->rules, gate->strict, gate->only,
                      &gate->verdicts, diag);
}

static enum vinci_status judge(const vinci_gate *gate, struct vinci_diag *diag) {
  size_t failing = 0;
  for (size_t i = 0; i < gate->verdicts.count; i++)
    failing += gate->verdicts.items[i].exit_code != 0;
  if (gate->verdicts.exit_code == 0)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_GATE, "%zu of %zu points fail the gate", failing,
                    gate->verdicts.count);
}

/* What can be said without running is said first. */
enum vinci_status gate_check_with(const char *suite, const char *baseline,
                                  const struct vinci_gate_options *options,
                                  const struct model_steps *steps, vinci_gate **out,
                                  struct vinci_diag *diag) {
  *out = NULL;
  vinci_gate *gate = calloc(1, sizeof *gate);
  if (!gate)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = gate_open(gate, suite, baseline, options, steps, diag);
  if (status == VINCI_OK)
    status = gate_policy_open(&gate->rules, gate->policy, diag);
  if (status == VINCI_OK)
    status = gate_rows_read(&gate->baseline, gate->baseline_path, diag);
  if (status == VINCI_OK)
    status = run_points(gate, options, diag);
  if (status == VINCI_OK)
    status = compare(gate, diag);
  if (status != VINCI_OK) {
    vinci_gate_free(gate);
    return status;
  }
  *out = gate;
  return judge(gate, diag);
}

enum vinci_status vinci_gate_check(const char *suite, const char *baseline,
                                   const struct vinci_gate_options *options, vinci_gate **out,
                                   struct vinci_diag *diag) {
  return gate_check_with(suite, baseline, options, NULL, out, diag);
}

/* ---- what was found ------------------------------------------------------------------------- */

int vinci_gate_exit_code(const vinci_gate *gate) { return gate->verdicts.exit_code; }

size_t vinci_gate_point_count(const vinci_gate *gate) { return gate->verdicts.count; }

bool vinci_gate_point_info(const vinci_gate *gate, size_t index, struct vinci_gate_point *out) {
  if (index >= gate->verdicts.count)
    return false;
  const struct gate_outcome *outcome = &gate->verdicts.items[index];
  *out = (struct vinci_gate_point){
      .name = outcome->point,
      .verdict = gate_verdict_name(outcome->verdict),
      .exit_code = outcome->exit_code,
      .text = outcome->text,
      .baseline_cycles = gate_rows_value(&gate->baseline, outcome->point, "total_cycles"),
      .total_cycles = gate_rows_value(&gate->run.rows, outcome->point, "total_cycles"),
      .change_count = outcome->change_count,
  };
  return true;
}

bool vinci_gate_change_info(const vinci_gate *gate, size_t index, size_t change_index,
                            struct vinci_gate_change *out) {
  if (index >= gate->verdicts.count || change_index >= gate->verdicts.items[index].change_count)
    return false;
  const struct gate_change *change = &gate->verdicts.items[index].changes[change_index];
  *out = (struct vinci_gate_change){
      .metric = change->metric,
      .unit = change->unit,
      .baseline_value = change->old_value,
      .value = change->new_value,
      .verdict = gate_verdict_name(change->verdict),
      .fails = change->fails,
      .note = change->note,
  };
  return true;
}

enum vinci_status vinci_gate_write(const vinci_gate *gate, enum vinci_gate_format format, FILE *out,
                                   struct vinci_diag *diag) {
  static void (*const writers[])(const struct gate_report *report, FILE *out) = {
      [VINCI_GATE_TEXT] = gate_report_text,     [VINCI_GATE_JUNIT] = gate_report_junit,
      [VINCI_GATE_TAP] = gate_report_tap,       [VINCI_GATE_MARKDOWN] = gate_report_markdown,
      [VINCI_GATE_GITHUB] = gate_report_github, [VINCI_GATE_GITLAB] = gate_report_gitlab,
  };
  const struct gate_report report = {&gate->run, &gate->baseline, gate->baseline_path,
                                     &gate->verdicts, gate->verbose};
  if ((size_t)format >= sizeof writers / sizeof *writers)
    return diag_error(diag, VINCI_E_USAGE, "there is no report of format %d", (int)format);
  writers[format](&report, out);
  return ferror(out) ? diag_error(diag, VINCI_E_IO, "cannot write the report") : VINCI_OK;
}

/* ---- bless ---------------------------------------------------------------------------------- */

/* The variable that says that this is a job of continuous integration; NULL when there is none. */
static const char *ci_variable(void) {
  static const char *const names[] = {
      "CI",       "GITHUB_ACTIONS", "GITLAB_CI",       "JENKINS_URL",
      "TF_BUILD", "BUILDKITE",      "TEAMCITY_VERSION"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value && *value && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0)
      return names[i];
  }
  return NULL;
}

/* A gate that blesses what it finds holds nothing back: people bless. */
static enum vinci_status may_bless(const char *reason, const struct vinci_gate_options *options,
                                   struct vinci_diag *diag) {
  const char *variable = options && options->allow_ci ? NULL : ci_variable();
  if (variable) {
    (void)diag_error(diag, VINCI_E_USAGE, "bless is not for continuous integration (%s is set)",
                     variable);
    diag_hint(diag, "allow_ci blesses nevertheless; better bless where the change is made, and "
                    "commit the baseline");
    return VINCI_E_USAGE;
  }
  if (!reason || reason[strspn(reason, " \t\n")] == '\0') {
    (void)diag_error(diag, VINCI_E_USAGE, "a reason is needed: why are the numbers right?");
    diag_hint(diag, "reason goes into the log beside the baseline");
    return VINCI_E_USAGE;
  }
  if (options && (options->policy || options->strict))
    return diag_error(diag, VINCI_E_USAGE, "bless compares nothing: %s is not for it",
                      options->policy ? "policy" : "strict");
  return VINCI_OK;
}

static enum vinci_status bless(vinci_gate *gate, const struct vinci_gate_options *options,
                               const char *reason, bool *changed, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  if (access(gate->baseline_path, F_OK) == 0)
    status = gate_rows_read(&gate->baseline, gate->baseline_path, diag);
  if (status == VINCI_OK)
    status = run_points(gate, options, diag);
  if (status == VINCI_OK)
    status = compare(gate, diag);
  const struct gate_bless request = {&gate->run,          &gate->baseline, &gate->verdicts,
                                     gate->baseline_path, reason,          gate->only,
                                     gate->rebase_inputs};
  return status == VINCI_OK ? gate_bless_write(&request, changed, diag) : status;
}

enum vinci_status gate_bless_with(const char *suite, const char *baseline, const char *reason,
                                  const struct vinci_gate_options *options,
                                  const struct model_steps *steps, struct vinci_gate_blessed *out,
                                  struct vinci_diag *diag) {
  vinci_gate gate = {0};
  int lock = -1;
  *out = (struct vinci_gate_blessed){0};
  enum vinci_status status = check_options(options, diag);
  if (status == VINCI_OK)
    status = may_bless(reason, options, diag);
  if (status == VINCI_OK)
    status = gate_open(&gate, suite, baseline, options, steps, diag);
  if (status == VINCI_OK)
    status = gate_lock_inputs(baseline, &lock, diag);
  if (status == VINCI_OK)
    status = bless(&gate, options, reason, &out->changed, diag);
  out->points = gate.suite.count;
  out->exit_code = vinci_status_exit_code(status);
  if (status == VINCI_E_INTERNAL && gate.verdicts.exit_code > 0) /* a point has crashed */
    out->exit_code = gate.verdicts.exit_code;
  if (lock >= 0) {
    if (status != VINCI_OK)
      gate_drop_inputs(baseline);
    close(lock);
  }
  gate_close(&gate);
  return status;
}

enum vinci_status vinci_gate_bless(const char *suite, const char *baseline, const char *reason,
                                   const struct vinci_gate_options *options,
                                   struct vinci_gate_blessed *out, struct vinci_diag *diag) {
  return gate_bless_with(suite, baseline, reason, options, NULL, out, diag);
}
