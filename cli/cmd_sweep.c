/* SPDX-License-Identifier: Apache-2.0 */
/* vinci sweep: what-if studies of many points. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/support/cli.h"
#include "cli/support/command.h"
#include "cli/support/monitor.h"
#include "cli/sweep/submit.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "scripts/module/lua_steps.h"
#include "studies/sweep/sweep.h"

struct sweep_settings {
  struct cli_command command;
  struct vinci_sweep_options options;
  struct text_list sets;
  struct text_list params;
  const char *output;
  const char *shard;
  const char *ops;
  uint64_t jobs;
  uint64_t limit;
  bool quiet;
  /* submit */
  bool slurm;
  bool wait;
  uint64_t shards;
  uint64_t at_once;
  struct text_list sbatch;
};

#define STUDY_ROWS                                                                                 \
  OPTION_TEXT_ROW("soc-version", 's', struct sweep_settings, options.overrides.soc, "NAME",        \
                  "the chip, such as Ascend910B4; 'vinci soc list' shows them all"),               \
      OPTION_LIST_ROW(                                                                             \
          "param", 'p', struct sweep_settings, params, "KEY=V1,V2,...",                            \
          "a number of the chip or of a job's system, op.KEY of the operator, net.KEY of a "       \
          "network, job.KEY of a job, soc, memory, network or l2; may be repeated: all "           \
          "combinations run"),                                                                     \
      OPTION_LIST_ROW("set", 0, struct sweep_settings, sets, "KEY=VALUE",                          \
                      "change a number of the chip in all points; may be repeated"),               \
      OPTION_ENERGY_ROW(struct sweep_settings, params),                                            \
      OPTION_TEXT_ROW("output", 'o', struct sweep_settings, output, "DIR",                         \
                      "where journals and results.csv go; running again goes on there"),           \
      OPTION_NUMBER_ROW("jobs", 'j', struct sweep_settings, jobs, "N", 1, SWEEP_JOBS_MAX,          \
                        "points that run at a time (default: the number of processors)"),          \
      OPTION_TEXT_ROW("memory", 0, struct sweep_settings, options.overrides.memory, "MODEL",       \
                      "cycle, flat or auto, as for 'vinci run'"),                                  \
      OPTION_TEXT_ROW("network", 0, struct sweep_settings, options.overrides.network, "LEVEL",     \
                      "packet or flit, as for 'vinci run'"),                                       \
      OPTION_TEXT_ROW("l2", 0, struct sweep_settings, options.overrides.l2, "STATE",               \
                      "L2 at the start, as for 'vinci run'"),                                      \
      OPTION_TEXT_ROW("code", 0, struct sweep_settings, options.overrides.code, "STATE",           \
                      "code at the start, as for 'vinci run'"),                                    \
      OPTION_NUMBER_ROW("max-cycles", 0, struct sweep_settings, options.max_cycles, "N", 1,        \
                        UINT64_MAX, "a point that takes more core cycles fails"),                  \
      OPTION_TEXT_ROW("data", 0, struct sweep_settings, options.overrides.data_dir, "DIR",         \
                      "the folder that holds soc/ with the hardware descriptions"),                \
      OPTION_FLAG_ROW("quiet", 'q', struct sweep_settings, quiet, "print errors only")

static const struct option_row run_options[] = {
    STUDY_ROWS,
    OPTION_TEXT_ROW("ops", 0, struct sweep_settings, ops, "LIST",
                    "run all operators of a list, as of 'vinci run --ops', at each point; its "
                    "column weight says how often each counts"),
    OPTION_TEXT_ROW("shard", 0, struct sweep_settings, shard, "I/N",
                    "run only every N-th point, from the I-th (0 to N-1), and make no table"),
    OPTION_NUMBER_ROW("limit", 0, struct sweep_settings, limit, "N", 1, SWEEP_POINTS_MAX,
                      "of a shard, run at most N points"),
};

static const struct option_row submit_options[] = {
    STUDY_ROWS,
    OPTION_FLAG_ROW("slurm", 0, struct sweep_settings, slurm, "submit to Slurm, by sbatch"),
    OPTION_NUMBER_ROW("shards", 0, struct sweep_settings, shards, "N", 1, 100000,
                      "tasks of the job array (default 8)"),
    OPTION_NUMBER_ROW("at-once", 0, struct sweep_settings, at_once, "N", 1, 100000,
                      "tasks that run at a time, at most"),
    OPTION_LIST_ROW("sbatch", 0, struct sweep_settings, sbatch, "OPTION",
                    "hand an option to sbatch, such as --sbatch=--partition=sim; may be repeated"),
    OPTION_FLAG_ROW("wait", 0, struct sweep_settings, wait, "wait until all is collected"),
};

/* ---- run ------------------------------------------------------------------------------- */

/* An I/N; nothing is all points. */
static enum vinci_status parse_shard(const char *text, struct vinci_sweep_run_options *options,
                                     struct vinci_diag *diag) {
  if (!text)
    return VINCI_OK;
  uint64_t index, count;
  const char *end = decimal_digits(text, &index);
  if (!end || *end != '/')
    return diag_error(diag, VINCI_E_USAGE, "--shard takes I/N, not '%s'", text);
  if (!decimal_whole(end + 1, &count) || index >= count)
    return diag_error(diag, VINCI_E_USAGE, "--shard takes I/N with I from 0 to N-1, not '%s'",
                      text);
  options->shard_index = index;
  options->shard_count = count;
  return VINCI_OK;
}

struct shown {
  bool quiet, terminal;
  double seconds; /* of the last line */
  struct vinci_sweep_progress progress;
  bool any;
};

static void show_line(struct shown *shown, bool last) {
  const struct vinci_sweep_progress *progress = &shown->progress;
  char time[MONITOR_TIME_BYTES];
  double rate = (double)progress->done / progress->seconds;
  double left = (double)(progress->points - progress->reused - progress->done) / rate;
  fprintf(stderr, "%s%zu of %zu points, %zu failed, %s%s", shown->terminal ? "\r\033[K" : "",
          progress->done + progress->reused, progress->points, progress->failed,
          monitor_time(progress->seconds, left, time), shown->terminal && !last ? "" : "\n");
  fflush(stderr);
}

static bool show_progress(void *context, const struct vinci_sweep_progress *progress) {
  static const double terminal_seconds = 0.2, file_seconds = 10.0;
  struct shown *shown = context;
  double period = shown->terminal ? terminal_seconds : file_seconds;
  shown->progress = *progress;
  if (shown->quiet || progress->seconds - shown->seconds < period || progress->done == 0)
    return true;
  show_line(shown, false);
  shown->any = true;
  shown->seconds = progress->seconds;
  return true;
}

/* How well the pool used what the host gave it; nothing of it is in the results. */
static void report_pool(const struct vinci_sweep_result *result) {
  double given = result->seconds * result->jobs - result->waited_seconds;
  if (result->done > 0 && given > 0)
    sheet_line(
        stdout,
        "%zu points in %.1f s, %.1f s of CPU; %u processes spent %.0f %% of the time they got "
        "in points\n",
        result->done, result->seconds, result->busy_seconds, result->jobs,
        100 * result->busy_seconds / given);
}

/* ---- what failed ------------------------------------------------------------------------ */

/* The first point of a table that failed: its parameters, and its error. */
struct first_failure {
  size_t rows;  /* that were read */
  size_t point; /* 1-based; 0: none failed */
  char params[256];
  char error[512];
};

/* Whether a column before the status is a parameter. */
static bool is_param(const char *column) {
  static const char *const others[] = {"point", "workload", "network", "job"};
  bool param = true;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    param &= strcmp(column, others[i]) != 0;
  return param;
}

static bool find_failure(void *context, const char *const *columns, const char *const *cells,
                         size_t count) {
  struct first_failure *first = context;
  size_t status = 0, length = 0;
  first->rows++;
  while (status < count && strcmp(columns[status], "status") != 0)
    status++;
  if (status == count || strcmp(cells[status], "ok") == 0)
    return true;
  first->point = first->rows;
  for (size_t i = 0; i < status; i++)
    if (is_param(columns[i]) && *cells[i] && length < sizeof first->params)
      length += (size_t)snprintf(first->params + length, sizeof first->params - length, "%s%s=%s",
                                 length > 0 ? " " : "", columns[i], cells[i]);
  for (size_t i = status; i < count; i++)
    if (strcmp(columns[i], "error") == 0)
      snprintf(first->error, sizeof first->error, "%s", cells[i]);
  return false;
}

/* "point 2 (ub.size=banana): 'banana' is not a number" of the first point of the folder's table
 * that failed; "" when the table does not say. */
static void tell_failure(const char *folder, char *out, size_t size) {
  struct first_failure first = {0};
  struct vinci_diag ignored = {0};
  *out = '\0';
  if (vinci_sweep_read(folder, find_failure, &first, &ignored) != VINCI_OK || first.point == 0)
    return;
  snprintf(out, size, "point %zu%s%s%s: %s", first.point, *first.params ? " (" : "", first.params,
           *first.params ? ")" : "", first.error);
}

/* Tells which points failed and why the first of them did. That all failed is an error; files:
 * those that say why. */
static enum vinci_status report_failures(const struct sweep_settings *settings, size_t failed,
                                         size_t points, const char *files,
                                         struct vinci_diag *diag) {
  char first[1024];
  if (failed == 0 || (failed < points && settings->quiet))
    return VINCI_OK;
  tell_failure(settings->output, first, sizeof first);
  if (failed < points) {
    sheet_line(stderr, "warning: %zu of %zu points failed%s%s\n", failed, points,
               *first ? "; " : "", first);
    return VINCI_OK;
  }
  (void)diag_error(diag, VINCI_E_INPUT, "every point failed%s%s", *first ? "; " : "", first);
  diag_hint(diag, "%s/%s why each of them did", settings->output, files);
  return VINCI_E_INPUT;
}

/* One line for people; the exit code is that of a failure only when every point failed. */
static int report(const struct sweep_settings *settings, const struct vinci_sweep_result *result,
                  bool is_shard, struct vinci_diag *diag) {
  if (is_shard && !settings->quiet)
    printf("%zu points run, %zu failed\n", result->points, result->failed);
  if (is_shard)
    return 0;
  if (!settings->quiet) {
    sheet_line(stdout, "%zu points: %zu ok, %zu failed, %zu reused; %s/results.csv\n",
               result->points, result->points - result->failed, result->failed, result->reused,
               settings->output);
    report_pool(result);
    cli_summary("sweep run points=%zu ok=%zu failed=%zu reused=%zu", result->points,
                result->points - result->failed, result->failed, result->reused);
  }
  enum vinci_status status =
      report_failures(settings, result->failed, result->points, "results.csv says", diag);
  return status == VINCI_OK ? 0 : cli_fail(diag);
}

/* The table of a list at all points. */
static enum vinci_status report_list(const struct sweep_settings *settings,
                                     const struct vinci_sweep_list_result *result,
                                     struct vinci_diag *diag) {
  if (!settings->quiet) {
    printf("%zu points of %zu operators, %zu failed; %s/results.csv, operators.csv\n",
           result->points, result->operators, result->failed, settings->output);
    if (result->best_ps > 0 && result->points > 1)
      printf("shortest: point %zu, %s us\n", result->best + 1,
             decimal_ratio(result->best_ps, 1000000, 3).text);
    cli_summary("sweep run points=%zu ok=%zu failed=%zu operators=%zu", result->points,
                result->points - result->failed, result->failed, result->operators);
  }
  return report_failures(settings, result->failed, result->points,
                         "results.csv and operators.csv say", diag);
}

static int run_list(const struct sweep_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {.warn = cli_warn(settings->quiet)};
  struct vinci_sweep_list list = {.struct_size = sizeof list,
                                  .list = settings->ops,
                                  .folder = settings->output,
                                  .jobs = (unsigned)settings->jobs};
  struct vinci_sweep_list_result result;
  enum vinci_status status = VINCI_OK;
  if (!settings->output)
    status = diag_error(&diag, VINCI_E_USAGE, "where to? --output=DIR is missing");
  else if (arguments->count > 0)
    status = diag_error(&diag, VINCI_E_USAGE, "--ops takes no study, trace or operator, not '%s'",
                        arguments->items[0]);
  else if (cli_refuse_energy(&settings->params, &diag) != VINCI_OK ||
           cli_refuse_energy(&settings->sets, &diag) != VINCI_OK)
    status = VINCI_E_USAGE;
  else if (settings->shard || settings->limit > 0)
    status = diag_error(&diag, VINCI_E_USAGE, "--ops runs all its points: no %s",
                        settings->shard ? "--shard" : "--limit");
  if (status == VINCI_OK)
    status = vinci_sweep_list_run(&list, &settings->options, &result, &diag);
  if (status == VINCI_OK)
    cli_keep_command(&settings->command, settings->output);
  if (status == VINCI_OK)
    status = report_list(settings, &result, &diag);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

static int run_study(struct sweep_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  vinci_sweep *sweep = NULL;
  struct lua_steps steps;
  struct vinci_sweep_result result;
  struct shown shown = {.quiet = settings->quiet, .terminal = isatty(STDERR_FILENO)};
  struct vinci_sweep_run_options options = {.struct_size = sizeof options,
                                            .jobs = (unsigned)settings->jobs,
                                            .max_points = settings->limit,
                                            .progress = show_progress,
                                            .progress_context = &shown};
  lua_steps_open(&steps);
  enum vinci_status status = parse_shard(settings->shard, &options, &diag);
  if (status == VINCI_OK && !settings->output)
    status = diag_error(&diag, VINCI_E_USAGE, "where to? --output=DIR is missing");
  if (status == VINCI_OK)
    status = sweep_open_with(arguments->items, arguments->count, &settings->options, &steps.steps,
                             &sweep, &diag);
  if (status == VINCI_OK && !settings->quiet && vinci_sweep_warning(sweep))
    sheet_line(stderr, "warning: %s\n", vinci_sweep_warning(sweep));
  if (status == VINCI_OK)
    status = vinci_sweep_run(sweep, settings->output, &options, &result, &diag);
  if (sweep && (status == VINCI_OK || status == VINCI_E_LIMIT))
    cli_keep_command(&settings->command, settings->output);
  if (shown.any)
    show_line(&shown, true);
  vinci_sweep_free(sweep);
  lua_steps_close(&steps);
  return status == VINCI_OK ? report(settings, &result, options.shard_count > 1, &diag)
                            : cli_fail(&diag);
}

/* Parses the options of a command that takes a study; free_settings() in any case. */
static bool begin(const struct cli_verb *verb, int argc, char **argv,
                  struct sweep_settings *settings, struct text_list *arguments, int *exit_code) {
  *settings = (struct sweep_settings){.command = {verb, argc, argv},
                                      .options = {.struct_size = sizeof settings->options}};
  bool goes_on = cli_begin(verb, argc, argv, settings, arguments, exit_code);
  settings->options.overrides.sets = settings->sets.items;
  settings->options.overrides.set_count = settings->sets.count;
  settings->options.params = settings->params.items;
  settings->options.param_count = settings->params.count;
  return goes_on;
}

static void free_settings(struct sweep_settings *settings, struct text_list *arguments) {
  text_list_free(&settings->sets);
  text_list_free(&settings->params);
  text_list_free(&settings->sbatch);
  text_list_free(arguments);
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct sweep_settings settings;
  struct text_list arguments = {0};
  int exit_code;
  if (begin(verb, argc, argv, &settings, &arguments, &exit_code))
    exit_code = settings.ops ? run_list(&settings, &arguments) : run_study(&settings, &arguments);
  free_settings(&settings, &arguments);
  return exit_code;
}

/* ---- submit ---------------------------------------------------------------------------- */

enum { SHARDS_DEFAULT = 8 };

/* The study is opened here only to find its mistakes before a cluster does. */
static enum vinci_status submit_study(const struct sweep_settings *settings,
                                      const struct text_list *arguments, struct vinci_diag *diag) {
  vinci_sweep *sweep = NULL;
  struct lua_steps steps;
  struct sweep_submit submit = {
      .options = &settings->options,
      .arguments = arguments,
      .sbatch = &settings->sbatch,
      .folder = settings->output,
      .shards = settings->shards ? (unsigned)settings->shards : SHARDS_DEFAULT,
      .at_once = (unsigned)settings->at_once,
      .jobs = settings->jobs ? (unsigned)settings->jobs : 1,
      .wait = settings->wait,
      .quiet = settings->quiet,
  };
  enum vinci_status status = VINCI_OK;
  lua_steps_open(&steps);
  if (!settings->slurm)
    status = diag_error(diag, VINCI_E_USAGE, "submit to what? --slurm is missing");
  else if (!settings->output)
    status = diag_error(diag, VINCI_E_USAGE, "where to? --output=DIR is missing");
  if (status == VINCI_OK)
    status = sweep_open_with(arguments->items, arguments->count, &settings->options, &steps.steps,
                             &sweep, diag);
  if (status == VINCI_OK)
    status = sweep_identify(&sweep->study, &sweep->chips, diag);
  if (status == VINCI_OK)
    status = folder_make(settings->output, diag);
  if (status == VINCI_OK)
    status = sweep_write_manifest(&sweep->study, settings->output, true, diag);
  if (status == VINCI_OK)
    status = sweep_submit_slurm(&submit, diag);
  vinci_sweep_free(sweep);
  lua_steps_close(&steps);
  return status;
}

static int submit(const struct cli_verb *verb, int argc, char **argv) {
  struct sweep_settings settings;
  struct text_list arguments = {0};
  struct vinci_diag diag = {0};
  struct vinci_sweep_counts counts;
  int exit_code;
  if (begin(verb, argc, argv, &settings, &arguments, &exit_code)) {
    enum vinci_status status = submit_study(&settings, &arguments, &diag);
    /* What the jobs say of themselves is not trusted: the records are counted. */
    if (status == VINCI_OK && settings.wait)
      status = vinci_sweep_collect(settings.output, true, &counts, &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
    if (status == VINCI_OK && settings.wait && !settings.quiet)
      printf("%zu points: %zu ok, %zu failed; %s/results.csv\n", counts.points,
             counts.points - counts.failed, counts.failed, settings.output);
  }
  free_settings(&settings, &arguments);
  return exit_code;
}

/* ---- status, collect ------------------------------------------------------------------- */

static int look(const struct cli_verb *verb, int argc, char **argv, bool write) {
  struct sweep_settings settings = {0};
  struct text_list arguments = {0};
  struct vinci_diag diag = {0};
  struct vinci_sweep_counts counts;
  int exit_code;
  if (!cli_begin(verb, argc, argv, &settings, &arguments, &exit_code)) {
    text_list_free(&arguments);
    return exit_code;
  }
  const char *folder = arguments.count == 1 ? arguments.items[0] : settings.output;
  enum vinci_status status =
      folder && arguments.count <= 1
          ? vinci_sweep_collect(folder, write, &counts, &diag)
          : diag_error(&diag, VINCI_E_USAGE, "takes one folder: %s DIR", verb->name);
  if (status == VINCI_OK && !settings.quiet)
    printf("%zu points: %zu done, %zu of them failed, %zu missing%s%s%s\n", counts.points,
           counts.done, counts.failed, counts.points - counts.done, write ? "; " : "",
           write ? folder : "", write ? "/results.csv" : "");
  text_list_free(&arguments);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

static int show_status(const struct cli_verb *verb, int argc, char **argv) {
  return look(verb, argc, argv, false);
}

static int collect(const struct cli_verb *verb, int argc, char **argv) {
  return look(verb, argc, argv, true);
}

/* ---- the verb -------------------------------------------------------------------------- */

static const struct option_row look_options[] = {
    OPTION_TEXT_ROW("output", 'o', struct sweep_settings, output, "DIR",
                    "the folder of the sweep; the same as naming it alone"),
    OPTION_FLAG_ROW("quiet", 'q', struct sweep_settings, quiet, "print errors only"),
};

static const struct cli_verb sweep_run = {
    .name = "sweep run",
    .arguments = "STUDY.lua | TRACE | GRAPH | JOB | model=MODEL.lua | OP KEY=VALUE...",
    .summary = "Run all points of a study that have no result yet, then write results.csv",
    .details =
        "A study is a Lua file, or the command line: an operator with its arguments, a trace or\n"
        "a graph, a job of several devices (GROUP.md) or a model whose training step is split\n"
        "over devices, with system=NAME and their arguments, and --param for what varies. Points\n"
        "that DIR holds already are not run again, however the last run ended; a point that fails\n"
        "is a row with its error. The table has the same bytes for every number of jobs. Exit "
        "code\n"
        "0 when all points have their row, 3 when all of them failed, 7 when interrupted.\n"
        "Examples:\n"
        "  vinci sweep run matmul m=512 k=512 n=512 -s Ascend910B4 -p l2.size=96MiB,192MiB -o "
        "study\n"
        "  vinci sweep run step.job.csv -p hccs.copy=15GB/s,25GB/s -p job.bucket=8MiB,32MiB -o "
        "links\n"
        "  vinci sweep run model=model.lua system=atlas_a2_910b4 devices=8 -p job.tp=1,2,4 -o "
        "splits\n",
    .options = {run_options, sizeof run_options / sizeof *run_options},
    .run = run,
};

static const struct cli_verb sweep_status = {
    .name = "sweep status",
    .arguments = "DIR",
    .summary = "Count the points of a sweep that are done, failed and missing",
    .details = "Example:\n"
               "  vinci sweep status study\n",
    .options = {look_options, sizeof look_options / sizeof *look_options},
    .run = show_status,
};

static const struct cli_verb sweep_collect_verb = {
    .name = "sweep collect",
    .arguments = "DIR",
    .summary = "Write results.csv from the journals of all shards",
    .details = "Points without a record are an error (exit code 7), and no table is written.\n"
               "Example:\n"
               "  vinci sweep collect study\n",
    .options = {look_options, sizeof look_options / sizeof *look_options},
    .run = collect,
};

static const struct cli_verb sweep_submit_verb = {
    .name = "sweep submit",
    .arguments = "--slurm STUDY.lua | TRACE | GRAPH | JOB | model=MODEL.lua | OP KEY=VALUE...",
    .summary =
        "Run a study as a Slurm job array, with a canary before and a collector after the array",
    .details =
        "DIR must be seen by all hosts of the cluster. A point is done by its record alone, never "
        "by\n"
        "the exit code of a task; submitting again runs what is missing. Scripts and logs are in\n"
        "DIR/slurm. With --wait the exit code is 0 when all points have their row, else 7.\n"
        "Example:\n"
        "  vinci sweep submit --slurm study.lua -o study\n",
    .options = {submit_options, sizeof submit_options / sizeof *submit_options},
    .run = submit,
};

static const struct cli_verb *const commands[] = {&sweep_run, &sweep_submit_verb, &sweep_status,
                                                  &sweep_collect_verb};

const struct cli_verb cli_verb_sweep = {
    .name = "sweep",
    .arguments = "COMMAND",
    .summary = "What-if studies: many chips or shapes at a time, which go on when interrupted",
    .details =
        "  run      run the points of a study that are missing, write results.csv\n"
        "  submit   run a study as a Slurm job array\n"
        "  status   count what is done, failed and missing\n"
        "  collect  write results.csv from the journals\n\n"
        "'vinci sweep COMMAND --help' explains the options of a command.\n"
        "Example:\n"
        "  vinci sweep run matmul m=512 k=512 n=512 -s Ascend910B4 -p l2.size=48MiB,96MiB -o out\n",
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
