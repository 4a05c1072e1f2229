/* SPDX-License-Identifier: Apache-2.0 */
/* vinci gate: regression gating of simulated metrics. */
#include <stdlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "scripts/module/lua_steps.h"
#include "studies/gate/gate.h"
#include "studies/ops/suite.h"

struct gate_settings {
  struct vinci_gate_options options;
  struct text_list sets;
  const char *baseline;
  const char *reason;
  const char *output;
  const char *junit, *tap, *markdown, *gitlab;
  bool github;
  uint64_t jobs;
  uint64_t repeat;
  bool quiet;
};

#define BASELINE_ROW                                                                               \
  OPTION_TEXT_ROW("baseline", 'b', struct gate_settings, baseline, "FILE",                         \
                  "the numbers to compare with (CSV)")
#define SUITE_ROWS                                                                                 \
  OPTION_TEXT_ROW("only", 0, struct gate_settings, options.only, "GLOB",                           \
                  "only the points whose names match, such as 'mm*'"),                             \
      OPTION_TEXT_ROW("soc-version", 's', struct gate_settings, options.overrides.soc, "NAME",     \
                      "another chip than that of the suite, for all points"),                      \
      OPTION_LIST_ROW("set", 0, struct gate_settings, sets, "KEY=VALUE",                           \
                      "change a number of the chip in all points; may be repeated"),               \
      OPTION_TEXT_ROW("memory", 0, struct gate_settings, options.overrides.memory, "MODEL",        \
                      "cycle or flat, for all points"),                                            \
      OPTION_TEXT_ROW("network", 0, struct gate_settings, options.overrides.network, "LEVEL",      \
                      "packet or flit, for all points"),                                           \
      OPTION_TEXT_ROW("l2", 0, struct gate_settings, options.overrides.l2, "STATE",                \
                      "L2 at the start, as for 'vinci run', for all points"),                      \
      OPTION_TEXT_ROW("code", 0, struct gate_settings, options.overrides.code, "STATE",            \
                      "code at the start, as for 'vinci run', for all points"),                    \
      OPTION_TEXT_ROW("data", 0, struct gate_settings, options.overrides.data_dir, "DIR",          \
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
                      "also write a summary in Markdown; '-' as for --tap"),                       \
      OPTION_TEXT_ROW("gitlab", 0, struct gate_settings, gitlab, "FILE",                           \
                      "also write a code quality report for GitLab; '-' as for --tap"),            \
      OPTION_FLAG_ROW("github", 0, struct gate_settings, github,                                   \
                      "also print workflow commands that annotate the change on GitHub")
#define VERBOSE_ROW                                                                                \
  OPTION_FLAG_ROW("verbose", 0, struct gate_settings, options.verbose,                             \
                  "name each metric that is neither better nor worse, also when there are many")

static const struct option_row check_options[] = {
    BASELINE_ROW,
    OPTION_TEXT_ROW("policy", 'p', struct gate_settings, options.policy, "FILE",
                    "what may move how far; without it nothing may get worse"),
    OPTION_FLAG_ROW("strict", 0, struct gate_settings, options.strict,
                    "what is better, or neither better nor worse, fails as well"),
    RUN_ROWS,
    REPORT_ROWS,
    VERBOSE_ROW,
    SUITE_ROWS,
    QUIET_ROW,
};
static const struct option_row explain_options[] = {BASELINE_ROW, RUN_ROWS, VERBOSE_ROW,
                                                    SUITE_ROWS};
static const struct option_row list_options[] = {SUITE_ROWS};
static const struct option_row bless_options[] = {
    BASELINE_ROW,
    OPTION_TEXT_ROW("reason", 'm', struct gate_settings, reason, "TEXT",
                    "why the numbers are right; goes into the log beside the baseline"),
    OPTION_FLAG_ROW("rebase-inputs", 0, struct gate_settings, options.rebase_inputs,
                    "also bless points whose input is another than that of the baseline"),
    OPTION_FLAG_ROW("allow-ci", 0, struct gate_settings, options.allow_ci,
                    "bless although this is a job of continuous integration (CI is set)"),
    RUN_ROWS,
    SUITE_ROWS,
    QUIET_ROW,
};

/* ---- what the commands share ------------------------------------------------------------ */

struct gate {
  struct gate_settings settings;
  struct text_list arguments;
  struct lua_steps steps; /* of points that are models */
};

static enum vinci_status need_suite(struct gate *gate, struct vinci_diag *diag) {
  if (gate->arguments.count == 1)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "one suite is wanted, not %zu", gate->arguments.count);
}

static enum vinci_status need_baseline(const struct gate *gate, struct vinci_diag *diag) {
  return gate->settings.baseline
             ? VINCI_OK
             : diag_error(diag, VINCI_E_USAGE, "which baseline? --baseline=FILE is missing");
}

static int command(const struct cli_verb *verb, int argc, char **argv,
                   int (*body)(struct gate *gate)) {
  struct gate gate = {.settings.options = {.struct_size = sizeof gate.settings.options}};
  struct gate_settings *settings = &gate.settings;
  int exit_code;
  if (cli_begin(verb, argc, argv, settings, &gate.arguments, &exit_code)) {
    settings->options.overrides.sets = settings->sets.items;
    settings->options.overrides.set_count = settings->sets.count;
    settings->options.jobs = (unsigned)settings->jobs;
    settings->options.repeat = (unsigned)settings->repeat;
    lua_steps_open(&gate.steps);
    exit_code = body(&gate);
    lua_steps_close(&gate.steps);
  }
  text_list_free(&settings->sets);
  text_list_free(&gate.arguments);
  return exit_code;
}

/* ---- check, explain ----------------------------------------------------------------------- */

struct report_file {
  const vinci_gate *gate;
  enum vinci_gate_format format;
};

/* What cannot be written stays with the stream: file_replace() and the program's end look there. */
static void write_report(void *context, FILE *out) {
  const struct report_file *file = context;
  if (vinci_gate_write(file->gate, file->format, out, NULL) != VINCI_OK)
    return;
}

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* Readers of a report find nothing else on standard output. */
static enum vinci_status check_outputs(const struct gate_settings *settings,
                                       struct vinci_diag *diag) {
  int taken = is_stdout(settings->junit) + is_stdout(settings->tap) +
              is_stdout(settings->markdown) + is_stdout(settings->gitlab);
  if (taken + (taken && settings->github) <= 1)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "several reports go to standard output");
  diag_hint(diag, "give files to all but one, such as --junit=gate.xml");
  return VINCI_E_USAGE;
}

/* For scripts, behind the report for people. */
static void print_summary(const vinci_gate *gate) {
  struct vinci_gate_point point;
  size_t failed = 0, points = vinci_gate_point_count(gate);
  for (size_t i = 0; vinci_gate_point_info(gate, i, &point); i++)
    failed += point.exit_code != 0;
  cli_summary("gate check points=%zu passed=%zu failed=%zu exit=%d", points, points - failed,
              failed, vinci_gate_exit_code(gate));
}

static enum vinci_status write_reports(const struct gate_settings *settings, const vinci_gate *gate,
                                       struct vinci_diag *diag) {
  const struct {
    const char *path;
    enum vinci_gate_format format;
  } files[] = {{settings->junit, VINCI_GATE_JUNIT},
               {settings->tap, VINCI_GATE_TAP},
               {settings->markdown, VINCI_GATE_MARKDOWN},
               {settings->gitlab, VINCI_GATE_GITLAB}};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof files / sizeof *files; i++) {
    struct report_file file = {.gate = gate, .format = files[i].format};
    if (is_stdout(files[i].path))
      write_report(&file, stdout);
    else if (files[i].path)
      status = file_replace(files[i].path, write_report, &file, diag);
  }
  struct report_file text = {.gate = gate, .format = VINCI_GATE_TEXT};
  bool taken = false;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    taken |= is_stdout(files[i].path);
  if (!taken && !settings->quiet) {
    write_report(&text, stdout);
    print_summary(gate);
  }
  text.format = VINCI_GATE_GITHUB;
  if (settings->github)
    write_report(&text, stdout);
  return status;
}

/* Whether there are verdicts, also those of a gate that fails. */
static bool compare(struct gate *gate, vinci_gate **out, struct vinci_diag *diag) {
  *out = NULL;
  enum vinci_status status = need_baseline(gate, diag);
  if (status == VINCI_OK)
    status = need_suite(gate, diag);
  if (status == VINCI_OK)
    status = gate_check_with(gate->arguments.items[0], gate->settings.baseline,
                             &gate->settings.options, &gate->steps.steps, out, diag);
  return status == VINCI_OK || status == VINCI_E_GATE;
}

static int check_suite(struct gate *gate) {
  struct vinci_diag diag = {0}, unwritten = {0};
  vinci_gate *found;
  if (check_outputs(&gate->settings, &diag) != VINCI_OK || !compare(gate, &found, &diag))
    return cli_fail(&diag);
  bool written = write_reports(&gate->settings, found, &unwritten) == VINCI_OK;
  int exit_code = written ? vinci_gate_exit_code(found) : cli_fail(&unwritten);
  vinci_gate_free(found);
  return exit_code;
}

static int check(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, check_suite);
}

/* Everything that moved, whatever a policy would say; not a gate. */
static int explain_suite(struct gate *gate) {
  struct vinci_diag diag = {0};
  vinci_gate *found;
  if (!compare(gate, &found, &diag))
    return cli_fail(&diag);
  struct report_file text = {.gate = found, .format = VINCI_GATE_TEXT};
  write_report(&text, stdout);
  vinci_gate_free(found);
  return 0;
}

static int explain(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, explain_suite);
}

/* ---- list ---------------------------------------------------------------------------------- */

static void print_point(const struct gate_point *point, struct arena *arena) {
  const char *text = workload_text(&point->spec.workload, arena);
  bool of_devices = point->spec.workload.job || point->spec.workload.model;
  printf("%s: %s", point->name, text ? text : "");
  if (!of_devices) /* a job names its system */
    printf(" on %s", point->spec.soc);
  for (size_t s = 0; s < point->spec.set_count; s++)
    printf(" %s", point->spec.sets[s]);
  putchar('\n');
}

static int list_suite(struct gate *gate) {
  struct vinci_diag diag = {0};
  vinci_gate opened = {0};
  enum vinci_status status = need_suite(gate, &diag);
  if (status == VINCI_OK)
    status = gate_open(&opened, gate->arguments.items[0], NULL, &gate->settings.options,
                       &gate->steps.steps, &diag);
  for (size_t i = 0; status == VINCI_OK && i < opened.suite.count; i++)
    print_point(&opened.suite.points[i], &opened.suite.arena);
  gate_close(&opened);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

static int list(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, list_suite);
}

/* ---- bless --------------------------------------------------------------------------------- */

static int bless_suite(struct gate *gate) {
  const struct gate_settings *settings = &gate->settings;
  struct vinci_diag diag = {0};
  struct vinci_gate_blessed blessed = {0};
  enum vinci_status status = need_baseline(gate, &diag);
  if (status == VINCI_OK)
    status = need_suite(gate, &diag);
  if (status == VINCI_OK)
    status = gate_bless_with(gate->arguments.items[0], settings->baseline, settings->reason,
                             &settings->options, &gate->steps.steps, &blessed, &diag);
  if (status != VINCI_OK) {
    int exit_code = cli_fail(&diag);
    return blessed.exit_code ? blessed.exit_code : exit_code;
  }
  if (!settings->quiet && blessed.changed)
    printf("blessed %zu points in %s\n", blessed.points, settings->baseline);
  else if (!settings->quiet)
    printf("nothing to bless: %s has these numbers already\n", settings->baseline);
  return 0;
}

static int bless(const struct cli_verb *verb, int argc, char **argv) {
  return command(verb, argc, argv, bless_suite);
}

/* ---- import -------------------------------------------------------------------------------- */

static const struct option_row import_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct gate_settings, options.overrides.soc, "NAME",
                    "the chip of rows that name none"),
    OPTION_TEXT_ROW("output", 'o', struct gate_settings, output, "SUITE.lua",
                    "where the suite goes instead of standard output"),
    OPTION_TEXT_ROW("memory", 0, struct gate_settings, options.overrides.memory, "MODEL",
                    "cycle or flat, for all points of the suite"),
    OPTION_TEXT_ROW("network", 0, struct gate_settings, options.overrides.network, "LEVEL",
                    "packet or flit, for all points of the suite"),
    OPTION_TEXT_ROW("data", 0, struct gate_settings, options.overrides.data_dir, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    QUIET_ROW,
};

static int import_list(struct gate *gate) {
  const struct gate_settings *settings = &gate->settings;
  struct vinci_diag diag = {.warn = cli_warn(settings->quiet)};
  const struct vinci_overrides *overrides = &settings->options.overrides;
  struct calls_suite_counts counts;
  struct calls_suite suite = {
      .soc = overrides->soc,
      .data = overrides->data_dir,
      .output = settings->output,
      .out = stdout,
      .models = {.memory = overrides->memory, .network = overrides->network},
  };
  enum vinci_status status = VINCI_OK;
  if (gate->arguments.count == 1)
    suite.list = gate->arguments.items[0];
  else
    status = diag_error(&diag, VINCI_E_USAGE, "one list is wanted, not %zu", gate->arguments.count);
  if (status == VINCI_OK)
    status = calls_write_suite(&suite, &counts, &diag);
  if (status == VINCI_OK && suite.output && !settings->quiet)
    printf("%zu points of %zu rows, %zu rows left out; %s\n", counts.points, counts.rows,
           counts.left_out, suite.output);
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
        "NEW, MISSING (only in the suite, only in the baseline); UNSAFE (the checks of the point "
        "found\n"
        "an error); WRONG (values are not the expected ones); CRASHED.\n"
        "Exit codes: 0 pass; 1 REGRESSED, UNEXPLAINED, or forbidden by the policy; 2 usage or\n"
        "policy; 3 no baseline, or STALE, NEW, MISSING; 4 WRONG; 5 UNSAFE; a point that CRASHED: "
        "that\n"
        "of its run, 2 to 8; 9 repetitions differ.\n"
        "Example:\n"
        "  vinci gate check suite.lua\n",
    .options = {check_options, sizeof check_options / sizeof *check_options},
    .run = check,
};
static const struct cli_verb gate_explain_verb = {
    .name = "gate explain",
    .arguments = "SUITE.lua",
    .summary =
        "Say where every change against the baseline comes from, in parts that sum to the change",
    .details = "Example:\n"
               "  vinci gate explain suite.lua\n",
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
        "continuous integration, where the variable CI is set, unless --allow-ci says so.\n"
        "Example:\n"
        "  vinci gate bless suite.lua --reason=\"why\"\n",
    .options = {bless_options, sizeof bless_options / sizeof *bless_options},
    .run = bless,
};
static const struct cli_verb gate_list = {
    .name = "gate list",
    .arguments = "SUITE.lua",
    .summary = "List the points of a suite",
    .details = "Example:\n"
               "  vinci gate list suite.lua\n",
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
        "are comments at the end. What was measured is a comment beside the point.\n"
        "Example:\n"
        "  vinci gate import op_summary.csv -s Ascend910B4\n",
    .options = {import_options, sizeof import_options / sizeof *import_options},
    .run = import,
};

static const struct cli_verb *const commands[] = {&gate_check, &gate_bless_verb, &gate_explain_verb,
                                                  &gate_list, &gate_import_verb};

const struct cli_verb cli_verb_gate = {
    .name = "gate",
    .arguments = "COMMAND",
    .summary = "Gate regressions: compare a suite of points with a baseline",
    .details =
        "  check    run a suite and compare it with its baseline\n"
        "  bless    make the results of a run the baseline, with a reason\n"
        "  explain  say where every change comes from\n"
        "  list     list the points of a suite\n"
        "  import   make a suite of the operators of a list\n\n"
        "A suite is a file of Lua; the manual, vinci(1), has all its fields and the rules of a "
        "policy:\n"
        "  return { soc = \"Ascend910B4\", points = {\n"
        "    { name = \"mm\", op = \"matmul\", m = 512, k = 512, n = 512 },\n"
        "    { name = \"kernel\", trace = \"kernel.csv\", check = true } } }\n\n"
        "'vinci gate COMMAND --help' explains the options of a command.\n"
        "Examples:\n"
        "  vinci gate check suite.lua --baseline=suite.csv\n"
        "  vinci gate bless suite.lua --baseline=suite.csv --reason=\"larger tiles\"\n",
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
