/* SPDX-License-Identifier: Apache-2.0 */
/* vinci gate: regression gating of simulated metrics. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/base/diag.h"
#include "scripts/gate/bless.h"
#include "scripts/gate/gate.h"
#include "traces/lower/calls/suite.h"

struct gate_settings {
  struct gate_overrides overrides;
  const char *baseline;
  const char *policy;
  const char *only;
  const char *reason;
  const char *output;
  const char *junit, *tap, *markdown;
  uint64_t jobs;
  uint64_t repeat;
  bool strict;
  bool rebase_inputs;
  bool allow_ci;
  bool quiet;
};

#define BASELINE_ROW                                                                               \
  OPTION_TEXT_ROW("baseline", 'b', struct gate_settings, baseline, "FILE",                         \
                  "the numbers to compare with (CSV)")
#define SUITE_ROWS                                                                                 \
  OPTION_TEXT_ROW("only", 0, struct gate_settings, only, "GLOB",                                   \
                  "only the points whose names match, such as 'mm*'"),                             \
      OPTION_TEXT_ROW("soc-version", 's', struct gate_settings, overrides.soc, "NAME",             \
                      "another chip than that of the suite, for all points"),                      \
      OPTION_LIST_ROW("set", 0, struct gate_settings, overrides.sets, "KEY=VALUE",                 \
                      "change a number of the chip in all points; may be repeated"),               \
      OPTION_TEXT_ROW("memory", 0, struct gate_settings, overrides.models.memory, "MODEL",         \
                      "cycle or flat, for all points"),                                            \
      OPTION_TEXT_ROW("network", 0, struct gate_settings, overrides.models.network, "LEVEL",       \
                      "packet or flit, for all points"),                                           \
      OPTION_TEXT_ROW("l2", 0, struct gate_settings, overrides.models.l2, "STATE",                 \
                      "L2 at the start, as for 'vinci run', for all points"),                      \
      OPTION_TEXT_ROW("data", 0, struct gate_settings, overrides.data, "DIR",                      \
                      "the folder that holds soc/ with the hardware descriptions")
#define RUN_ROWS                                                                                   \
  OPTION_NUMBER_ROW("jobs", 'j', struct gate_settings, jobs, "N", 1, GATE_JOBS_MAX,                \
                    "points that run at a time (default: the number of processors)"),              \
      OPTION_NUMBER_ROW("repeat", 0, struct gate_settings, repeat, "N", 1, GATE_REPEAT_MAX,        \
                        "run every point N times; results that differ are exit code 9")
#define QUIET_ROW OPTION_FLAG_ROW("quiet", 'q', struct gate_settings, quiet, "print errors only")
#define REPORT_ROWS                                                                                \
  OPTION_TEXT_ROW("junit", 0, struct gate_settings, junit, "FILE", "also write JUnit XML"),        \
      OPTION_TEXT_ROW("tap", 0, struct gate_settings, tap, "FILE",                                 \
                      "also write TAP; '-' is standard output, in place of the report"),           \
      OPTION_TEXT_ROW("markdown", 0, struct gate_settings, markdown, "FILE",                       \
                      "also write a summary in Markdown; '-' as for --tap")

static const struct option_row check_options[] = {
    BASELINE_ROW,
    OPTION_TEXT_ROW("policy", 'p', struct gate_settings, policy, "FILE",
                    "what may move how far; without it nothing may get worse"),
    OPTION_FLAG_ROW("strict", 0, struct gate_settings, strict,
                    "what is better, or neither better nor worse, fails as well"),
    RUN_ROWS,
    REPORT_ROWS,
    SUITE_ROWS,
    QUIET_ROW,
};
static const struct option_row explain_options[] = {BASELINE_ROW, RUN_ROWS, SUITE_ROWS};
static const struct option_row list_options[] = {SUITE_ROWS};
static const struct option_row bless_options[] = {
    BASELINE_ROW,
    OPTION_TEXT_ROW("reason", 'm', struct gate_settings, reason, "TEXT",
                    "why the numbers are right; goes into the log beside the baseline"),
    OPTION_FLAG_ROW("rebase-inputs", 0, struct gate_settings, rebase_inputs,
                    "also bless points whose input is another than that of the baseline"),
    OPTION_FLAG_ROW("allow-ci", 0, struct gate_settings, allow_ci,
                    "bless although this is a job of continuous integration (CI is set)"),
    RUN_ROWS,
    SUITE_ROWS,
    QUIET_ROW,
};

/* ---- what the commands share ------------------------------------------------------------ */

struct gate {
  struct gate_settings settings;
  struct text_list arguments;
  struct gate_suite suite;
  struct chip_cache chips;
  struct gate_run run;
  struct gate_rows baseline;
  struct gate_policy policy;
  struct gate_verdicts verdicts;
};

static void gate_free(struct gate *gate) {
  gate_verdicts_free(&gate->verdicts);
  gate_policy_free(&gate->policy);
  gate_rows_free(&gate->baseline);
  gate_run_free(&gate->run);
  chip_cache_free(&gate->chips);
  gate_suite_free(&gate->suite);
  text_list_free(&gate->settings.overrides.sets);
  text_list_free(&gate->arguments);
}

/* Leaves the points that --only names. */
static enum vinci_status select_points(struct gate *gate, struct vinci_diag *diag) {
  struct gate_suite *suite = &gate->suite;
  const char *only = gate->settings.only;
  size_t kept = 0;
  for (size_t i = 0; i < suite->count; i++)
    if (!only || fnmatch(only, suite->points[i].name, 0) == 0)
      suite->points[kept++] = suite->points[i];
  if (kept == 0)
    return diag_error(diag, VINCI_E_USAGE, "no point of %s matches '%s'", suite->path, only);
  suite->count = kept;
  return VINCI_OK;
}

static enum vinci_status open_suite(struct gate *gate, struct vinci_diag *diag) {
  if (gate->arguments.count != 1)
    return diag_error(diag, VINCI_E_USAGE, "one suite is wanted, not %zu", gate->arguments.count);
  enum vinci_status status =
      gate_suite_open(&gate->suite, gate->arguments.items[0], &gate->settings.overrides, diag);
  return status == VINCI_OK ? select_points(gate, diag) : status;
}

static enum vinci_status need_baseline(const struct gate *gate, struct vinci_diag *diag) {
  return gate->settings.baseline
             ? VINCI_OK
             : diag_error(diag, VINCI_E_USAGE, "which baseline? --baseline=FILE is missing");
}

static enum vinci_status run_points(struct gate *gate, struct vinci_diag *diag) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  gate->chips.data = gate->settings.overrides.data;
  gate->run.suite = &gate->suite;
  gate->run.chips = &gate->chips;
  gate->run.jobs = gate->settings.jobs ? (unsigned)gate->settings.jobs
                   : processors > 0    ? (unsigned)processors
                                       : 1;
  gate->run.jobs = gate->run.jobs > GATE_JOBS_MAX ? GATE_JOBS_MAX : gate->run.jobs;
  gate->run.repeat = gate->settings.repeat ? (unsigned)gate->settings.repeat : 1;
  const char *soc = gate->settings.overrides.soc;
  const vinci_soc *chip;
  enum vinci_status status = soc ? chip_cache_get(&gate->chips, soc, &chip, diag) : VINCI_OK;
  return status == VINCI_OK ? gate_run_all(&gate->run, diag) : status;
}

/* Everything up to the verdicts; what can be said without running is said first. */
static enum vinci_status compare(struct gate *gate, struct vinci_diag *diag) {
  enum vinci_status status = need_baseline(gate, diag);
  if (status == VINCI_OK)
    status = open_suite(gate, diag);
  if (status == VINCI_OK)
    status = gate_policy_open(&gate->policy, gate->settings.policy, diag);
  if (status == VINCI_OK)
    status = gate_rows_read(&gate->baseline, gate->settings.baseline, diag);
  if (status == VINCI_OK)
    status = run_points(gate, diag);
  if (status == VINCI_OK)
    status = gate_compare(&gate->run, &gate->baseline, &gate->policy, gate->settings.strict,
                          gate->settings.only, &gate->verdicts, diag);
  return status;
}

/* ---- check, explain ----------------------------------------------------------------------- */

struct report_file {
  const struct gate_report *report;
  void (*writer)(const struct gate_report *report, FILE *out);
};

static void write_report(void *context, FILE *out) {
  const struct report_file *file = context;
  file->writer(file->report, out);
}

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

static enum vinci_status write_reports(const struct gate *gate, const struct gate_report *report,
                                       struct vinci_diag *diag) {
  const struct gate_settings *settings = &gate->settings;
  const struct {
    const char *path;
    void (*writer)(const struct gate_report *report, FILE *out);
  } files[] = {{settings->junit, gate_report_junit},
               {settings->tap, gate_report_tap},
               {settings->markdown, gate_report_markdown}};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof files / sizeof *files; i++) {
    struct report_file file = {report, files[i].writer};
    if (is_stdout(files[i].path))
      files[i].writer(report, stdout);
    else if (files[i].path)
      status = gate_replace_file(files[i].path, write_report, &file, diag);
  }
  bool taken =
      is_stdout(settings->junit) || is_stdout(settings->tap) || is_stdout(settings->markdown);
  if (!taken && !settings->quiet)
    gate_report_text(report, stdout);
  return status;
}

static int check_suite(struct gate *gate) {
  struct vinci_diag diag = {0};
  enum vinci_status status = compare(gate, &diag);
  struct gate_report report = {&gate->run, &gate->baseline, gate->settings.baseline,
                               &gate->verdicts, true};
  if (status == VINCI_OK)
    status = write_reports(gate, &report, &diag);
  return status == VINCI_OK ? gate->verdicts.exit_code : cli_fail(&diag);
}

static int command(const struct cli_verb *verb, int argc, char **argv,
                   int (*body)(struct gate *gate)) {
  struct gate gate = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &gate.settings, &gate.arguments, &exit_code))
    exit_code = body(&gate);
  gate_free(&gate);
  return exit_code;
}

static int check(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, check_suite);
}

/* Everything that moved, whatever a policy would say; not a gate. */
static int explain_suite(struct gate *gate) {
  struct vinci_diag diag = {0};
  if (compare(gate, &diag) != VINCI_OK)
    return cli_fail(&diag);
  struct gate_report report = {&gate->run, &gate->baseline, gate->settings.baseline,
                               &gate->verdicts, true};
  gate_report_text(&report, stdout);
  return 0;
}

static int explain(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, explain_suite);
}

/* ---- list ---------------------------------------------------------------------------------- */

static int list_suite(struct gate *gate) {
  struct vinci_diag diag = {0};
  if (open_suite(gate, &diag) != VINCI_OK)
    return cli_fail(&diag);
  for (size_t i = 0; i < gate->suite.count; i++) {
    const struct gate_point *point = &gate->suite.points[i];
    const char *text = workload_text(&point->workload, &gate->suite.arena);
    printf("%s: %s on %s", point->name, text ? text : "", point->soc);
    for (size_t s = 0; s < point->set_count; s++)
      printf(" %s", point->sets[s]);
    putchar('\n');
  }
  return 0;
}

static int list(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, list_suite);
}

/* ---- bless --------------------------------------------------------------------------------- */

static enum vinci_status check_reason(const struct gate *gate, struct vinci_diag *diag) {
  const char *reason = gate->settings.reason;
  if (reason && reason[strspn(reason, " \t\n")] != '\0')
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "why are the numbers right? --reason=TEXT is missing");
}

/* A gate that blesses what it finds holds nothing back: people bless. */
static enum vinci_status check_ci(const struct gate *gate, struct vinci_diag *diag) {
  static const char *const names[] = {
      "CI",       "GITHUB_ACTIONS", "GITLAB_CI",       "JENKINS_URL",
      "TF_BUILD", "BUILDKITE",      "TEAMCITY_VERSION"};
  for (size_t i = 0; !gate->settings.allow_ci && i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (!value || !*value || strcmp(value, "0") == 0 || strcasecmp(value, "false") == 0)
      continue;
    (void)diag_error(diag, VINCI_E_USAGE, "bless is not for continuous integration (%s is set)",
                     names[i]);
    diag_hint(diag, "bless where the change is made and commit the baseline; or say --allow-ci");
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

static int bless_suite(struct gate *gate) {
  struct vinci_diag diag = {0};
  bool changed;
  enum vinci_status status = check_ci(gate, &diag);
  if (status == VINCI_OK)
    status = need_baseline(gate, &diag);
  if (status == VINCI_OK)
    status = check_reason(gate, &diag);
  if (status == VINCI_OK)
    status = open_suite(gate, &diag);
  bool locks = status == VINCI_OK;
  if (status == VINCI_OK)
    status = gate_lock_inputs(gate->settings.baseline, &diag);
  if (status == VINCI_OK && access(gate->settings.baseline, F_OK) == 0)
    status = gate_rows_read(&gate->baseline, gate->settings.baseline, &diag);
  if (status == VINCI_OK)
    status = run_points(gate, &diag);
  if (status == VINCI_OK)
    status = gate_compare(&gate->run, &gate->baseline, &gate->policy, false, gate->settings.only,
                          &gate->verdicts, &diag);
  struct gate_bless request = {&gate->run,
                               &gate->baseline,
                               &gate->verdicts,
                               gate->settings.baseline,
                               gate->settings.reason,
                               gate->settings.only,
                               gate->settings.rebase_inputs};
  if (status == VINCI_OK)
    status = gate_bless_write(&request, &changed, &diag);
  if (status != VINCI_OK) {
    int code = cli_fail(&diag);
    if (locks)
      gate_drop_inputs(gate->settings.baseline);
    bool crashed = diag.status == VINCI_E_INTERNAL && gate->verdicts.exit_code > 0;
    return crashed ? gate->verdicts.exit_code : code;
  }
  if (!gate->settings.quiet && changed)
    printf("blessed %zu points in %s\n", gate->suite.count, gate->settings.baseline);
  else if (!gate->settings.quiet)
    printf("nothing to bless: %s has these numbers already\n", gate->settings.baseline);
  return 0;
}

static int bless(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, bless_suite);
}

/* ---- import -------------------------------------------------------------------------------- */

static const struct option_row import_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct gate_settings, overrides.soc, "NAME",
                    "the chip of rows that name none"),
    OPTION_TEXT_ROW("output", 'o', struct gate_settings, output, "SUITE.lua",
                    "where the suite goes; standard output without it"),
    OPTION_TEXT_ROW("memory", 0, struct gate_settings, overrides.models.memory, "MODEL",
                    "cycle or flat, for all points of the suite"),
    OPTION_TEXT_ROW("network", 0, struct gate_settings, overrides.models.network, "LEVEL",
                    "packet or flit, for all points of the suite"),
    OPTION_TEXT_ROW("data", 0, struct gate_settings, overrides.data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    QUIET_ROW,
};

static int import_list(struct gate *gate) {
  struct vinci_diag diag = {0};
  const struct gate_settings *settings = &gate->settings;
  struct gate_import import = {
      .soc = settings->overrides.soc,
      .data = settings->overrides.data,
      .output = settings->output,
      .models = settings->overrides.models,
      .quiet = settings->quiet,
  };
  enum vinci_status status = VINCI_OK;
  if (gate->arguments.count == 1)
    import.list = gate->arguments.items[0];
  else
    status = diag_error(&diag, VINCI_E_USAGE, "one list is wanted, not %zu", gate->arguments.count);
  if (status == VINCI_OK)
    status = gate_import_list(&import, &diag);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

static int import(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, import_list);
}

/* ---- the verb ------------------------------------------------------------------------------- */

static const struct cli_verb gate_check = {
    .name = "gate check",
    .arguments = "SUITE.lua",
    .summary = "Run a suite and compare it with its baseline",
    .details =
        "Verdicts: PASS; IMPROVED; DRIFTED (moved, neither better nor worse); REGRESSED; "
        "UNEXPLAINED\n"
        "(moved although chip, program and model revision are the same); STALE (another input);\n"
        "NEW, MISSING (only in the suite, only in the baseline); CRASHED.\n"
        "Exit codes: 0 pass; 1 REGRESSED, UNEXPLAINED, or forbidden by the policy; 2 usage or\n"
        "policy; 3 no baseline, or STALE, NEW, MISSING; a point that CRASHED: that of its run, 2 "
        "to\n"
        "8; 9 repetitions differ.\n",
    .options = {check_options, sizeof check_options / sizeof *check_options},
    .run = check,
};
static const struct cli_verb gate_explain_verb = {
    .name = "gate explain",
    .arguments = "SUITE.lua",
    .summary = "Say where every change against the baseline comes from, in parts that sum to it",
    .options = {explain_options, sizeof explain_options / sizeof *explain_options},
    .run = explain,
};
static const struct cli_verb gate_bless_verb = {
    .name = "gate bless",
    .arguments = "SUITE.lua",
    .summary = "Run a suite and make its results the baseline",
    .details =
        "Writes the baseline, FILE.changes with the reason and what moved, and FILE.inputs/ with\n"
        "chips and programs for later explanations. Never touches a policy. Refuses to run in\n"
        "continuous integration, where the variable CI is set, unless --allow-ci says so.\n",
    .options = {bless_options, sizeof bless_options / sizeof *bless_options},
    .run = bless,
};
static const struct cli_verb gate_list = {
    .name = "gate list",
    .arguments = "SUITE.lua",
    .summary = "List the points of a suite",
    .options = {list_options, sizeof list_options / sizeof *list_options},
    .run = list,
};

static const struct cli_verb gate_import_verb = {
    .name = "gate import",
    .arguments = "LIST.csv",
    .summary = "Make a suite of the operators of a list, such as a profiler's op_summary.csv",
    .details =
        "The lists are those of 'vinci run --ops'. Rows that ask for the same are one point; l2 "
        "of\n"
        "each is what the operator most likely finds in a network; rows that cannot be compiled\n"
        "are comments at the end. What was measured is a comment beside the point.\n",
    .options = {import_options, sizeof import_options / sizeof *import_options},
    .run = import,
};

static const struct cli_verb *const commands[] = {&gate_check, &gate_bless_verb, &gate_explain_verb,
                                                  &gate_list, &gate_import_verb};

static int gate_verb(const struct cli_verb *verb, int argc, char **argv) {
  return cli_run_command(verb, commands, sizeof commands / sizeof *commands, argc, argv);
}

const struct cli_verb cli_verb_gate = {
    .name = "gate",
    .arguments = "COMMAND",
    .summary = "Gate regressions: compare a suite of points with a baseline",
    .details = "  check    run a suite and compare it with its baseline\n"
               "  bless    make the results of a run the baseline, with a reason\n"
               "  explain  say where every change comes from\n"
               "  list     list the points of a suite\n"
               "  import   make a suite of the operators of a list\n\n"
               "'vinci gate COMMAND --help' explains the options of a command.\n",
    .run = gate_verb,
};
