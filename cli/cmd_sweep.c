/* SPDX-License-Identifier: Apache-2.0 */
/* vinci sweep: what-if studies of many points. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sweep/submit.h"
#include "core/base/diag.h"
#include "scripts/sweep/sweep.h"
#include "traces/export/export.h"

struct sweep_settings {
  struct sweep_request request;
  const char *output;
  const char *shard;
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
  OPTION_TEXT_ROW("soc-version", 's', struct sweep_settings, request.soc, "NAME",                  \
                  "the chip, such as Ascend910B4; 'vinci soc list' shows them all"),               \
      OPTION_LIST_ROW(                                                                             \
          "param", 'p', struct sweep_settings, request.params, "KEY=V1,V2,...",                    \
          "a number of the chip, op.KEY of the operator, soc, memory, network or l2, and "         \
          "be repeated: all combinations run"),                                                    \
      OPTION_LIST_ROW("set", 0, struct sweep_settings, request.sets, "KEY=VALUE",                  \
                      "change a number of the chip in all points; may be repeated"),               \
      OPTION_TEXT_ROW("output", 'o', struct sweep_settings, output, "DIR",                         \
                      "where journals and results.csv go; running again goes on there"),           \
      OPTION_NUMBER_ROW("jobs", 'j', struct sweep_settings, jobs, "N", 1, SWEEP_JOBS_MAX,          \
                        "points that run at a time (default: the number of processors)"),          \
      OPTION_TEXT_ROW("memory", 0, struct sweep_settings, request.models.memory, "MODEL",          \
                      "cycle or flat, as for 'vinci run'"),                                        \
      OPTION_TEXT_ROW("network", 0, struct sweep_settings, request.models.network, "LEVEL",        \
                      "packet or flit, as for 'vinci run'"),                                       \
      OPTION_TEXT_ROW("l2", 0, struct sweep_settings, request.models.l2, "STATE",                  \
                      "L2 at the start, as for 'vinci run'"),                                      \
      OPTION_NUMBER_ROW("max-cycles", 0, struct sweep_settings, request.max_cycles, "N", 1,        \
                        UINT64_MAX, "a point that takes more core cycles fails"),                  \
      OPTION_TEXT_ROW("data", 0, struct sweep_settings, request.data, "DIR",                       \
                      "the folder that holds soc/ with the hardware descriptions"),                \
      OPTION_FLAG_ROW("quiet", 'q', struct sweep_settings, quiet, "print errors only")

static const struct option_row run_options[] = {
    STUDY_ROWS,
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

struct shard {
  uint64_t index, count;
  char name[64];
};

static enum vinci_status parse_shard(const char *text, struct shard *shard,
                                     struct vinci_diag *diag) {
  *shard = (struct shard){.count = 1, .name = "local"};
  if (!text)
    return VINCI_OK;
  char *end;
  shard->index = strtoull(text, &end, 10);
  if (end == text || *end != '/' || *text == '-')
    return diag_error(diag, VINCI_E_USAGE, "--shard takes I/N, not '%s'", text);
  char *start = end + 1;
  shard->count = strtoull(start, &end, 10);
  if (end == start || *end != '\0' || *start == '-' || shard->index >= shard->count)
    return diag_error(diag, VINCI_E_USAGE, "--shard takes I/N with I from 0 to N-1, not '%s'",
                      text);
  snprintf(shard->name, sizeof shard->name, "shard-%llu-of-%llu", (unsigned long long)shard->index,
           (unsigned long long)shard->count);
  return VINCI_OK;
}

struct seen_id {
  uint64_t id;
  uint32_t point;
};

static int compare_seen(const void *left, const void *right) {
  const struct seen_id *a = left, *b = right;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  return a->point < b->point ? -1 : a->point > b->point;
}

static int compare_points(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

/* The points of the shard that no record holds, each identity once, in order. */
static enum vinci_status list_todo(const struct sweep_study *study, const struct shard *shard,
                                   const struct sweep_records *records, uint32_t **out,
                                   size_t *count, struct vinci_diag *diag) {
  struct seen_id *seen = calloc(study->point_count + 1, sizeof *seen);
  uint32_t *todo = calloc(study->point_count + 1, sizeof *todo);
  *count = 0;
  *out = todo;
  if (!seen || !todo) {
    free(seen);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  for (size_t i = 0; i < study->point_count; i++)
    seen[i] = (struct seen_id){study->ids[i], (uint32_t)i};
  qsort(seen, study->point_count, sizeof *seen, compare_seen);
  for (size_t i = 0; i < study->point_count; i++) {
    const char *cells = sweep_records_find(records, seen[i].id);
    bool again = i > 0 && seen[i].id == seen[i - 1].id;
    bool crashed = cells && strncmp(cells, "crashed,", strlen("crashed,")) == 0;
    if (!again && (!cells || crashed) && seen[i].point % shard->count == shard->index)
      todo[(*count)++] = seen[i].point;
  }
  qsort(todo, *count, sizeof *todo, compare_points);
  free(seen);
  return VINCI_OK;
}

/* Points that name a state of L2 of their own have said so. */
static void warn_of_l2(const struct sweep_study *study) {
  const char *assumed = study->models.l2;
  for (size_t i = 0; i < study->param_count; i++)
    if (strcmp(study->keys[i], "l2") == 0)
      assumed = "by the study";
  workload_warn_of_l2(study->keys, study->param_count, assumed);
}

static enum vinci_status run_pool(const struct sweep_settings *settings, struct sweep_study *study,
                                  struct chip_cache *chips, const struct shard *shard,
                                  struct sweep_pool *pool, struct vinci_diag *diag) {
  struct sweep_records records;
  uint32_t *todo = NULL;
  size_t count = 0;
  enum vinci_status status = sweep_records_read(settings->output, &records, diag);
  if (status == VINCI_OK)
    status = list_todo(study, shard, &records, &todo, &count, diag);
  sweep_records_free(&records);
  if (settings->limit && count > settings->limit)
    count = (size_t)settings->limit;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  *pool = (struct sweep_pool){
      .study = study,
      .chips = chips,
      .todo = todo,
      .todo_count = count,
      .reused = shard->count == 1 ? study->point_count - count : 0,
      .jobs = settings->jobs   ? (unsigned)settings->jobs
              : processors > 0 ? (unsigned)processors
                               : 1,
      .folder = settings->output,
      .shard = shard->name,
      .quiet = settings->quiet,
  };
  if (status == VINCI_OK && count > 0)
    status = sweep_pool_run(pool, diag);
  free(todo);
  if (status == VINCI_OK && pool->interrupted)
    return diag_error(diag, VINCI_E_LIMIT,
                      "interrupted; what is done is kept in %s, run it again to go on",
                      settings->output);
  return status;
}

/* How well the pool used what the host gave it; nothing of it is in the results. */
static void report_pool(const struct sweep_pool *pool) {
  double given = pool->seconds * pool->jobs - pool->waited_seconds;
  if (pool->done > 0 && given > 0)
    printf("%zu points in %.1f s, %.1f s of CPU; %u processes spent %.0f %% of the time they got "
           "in points\n",
           pool->done, pool->seconds, pool->busy_seconds, pool->jobs,
           100 * pool->busy_seconds / given);
}

/* One line for people; the exit code is that of a failure only when every point failed. */
static int report(const struct sweep_settings *settings, const struct sweep_pool *pool,
                  const struct shard *shard, struct vinci_diag *diag) {
  struct sweep_counts counts;
  if (shard->count > 1) {
    if (!settings->quiet)
      printf("%zu points run, %zu failed\n", pool->todo_count, pool->failed);
    return 0;
  }
  if (sweep_collect(settings->output, true, &counts, diag) != VINCI_OK)
    return cli_fail(diag);
  if (!settings->quiet)
    printf("%zu points: %zu ok, %zu failed, %zu reused; %s/results.csv\n", counts.points,
           counts.points - counts.failed, counts.failed, pool->reused, settings->output);
  if (!settings->quiet)
    report_pool(pool);
  if (counts.failed == 0 || counts.failed < counts.points)
    return 0;
  (void)diag_error(diag, VINCI_E_INPUT,
                   "every point failed; the column error of %s/results.csv "
                   "says why",
                   settings->output);
  return cli_fail(diag);
}

static int run_study(const struct sweep_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  struct sweep_study study = {0};
  struct chip_cache chips = {.data = settings->request.data};
  struct shard shard;
  struct sweep_pool pool = {0};
  int lock = -1;
  enum vinci_status status = parse_shard(settings->shard, &shard, &diag);
  if (status == VINCI_OK && !settings->output)
    status = diag_error(&diag, VINCI_E_USAGE, "where to? --output=DIR is missing");
  if (status == VINCI_OK)
    status = sweep_study_open(&study, &settings->request, arguments, 0, &diag);
  if (status == VINCI_OK && !settings->quiet)
    warn_of_l2(&study);
  if (status == VINCI_OK)
    status = sweep_identify(&study, &chips, &diag);
  if (status == VINCI_OK)
    status = export_make_folder(settings->output, &diag);
  if (status == VINCI_OK)
    status = sweep_lock(settings->output, shard.name, &lock, &diag);
  if (status == VINCI_OK)
    status = sweep_write_manifest(&study, settings->output, shard.count > 1, &diag);
  if (status == VINCI_OK)
    status = run_pool(settings, &study, &chips, &shard, &pool, &diag);
  int exit_code = status == VINCI_OK ? report(settings, &pool, &shard, &diag) : cli_fail(&diag);
  chip_cache_free(&chips);
  sweep_study_free(&study);
  if (lock >= 0)
    close(lock);
  return exit_code;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct sweep_settings settings = {0};
  struct text_list arguments = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &arguments, &exit_code))
    exit_code = run_study(&settings, &arguments);
  text_list_free(&settings.request.sets);
  text_list_free(&settings.request.params);
  text_list_free(&arguments);
  return exit_code;
}

/* ---- submit ---------------------------------------------------------------------------- */

enum { SHARDS_DEFAULT = 8 };

/* The study is opened here only to find its mistakes before a cluster does. */
static enum vinci_status submit_study(const struct sweep_settings *settings,
                                      const struct text_list *arguments, struct vinci_diag *diag) {
  struct sweep_study study = {0};
  struct chip_cache chips = {.data = settings->request.data};
  struct sweep_submit submit = {
      .request = &settings->request,
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
  if (!settings->slurm)
    status = diag_error(diag, VINCI_E_USAGE, "submit to what? --slurm is missing");
  else if (!settings->output)
    status = diag_error(diag, VINCI_E_USAGE, "where to? --output=DIR is missing");
  if (status == VINCI_OK)
    status = sweep_study_open(&study, &settings->request, arguments, 0, diag);
  if (status == VINCI_OK)
    status = sweep_identify(&study, &chips, diag);
  if (status == VINCI_OK)
    status = export_make_folder(settings->output, diag);
  if (status == VINCI_OK)
    status = sweep_write_manifest(&study, settings->output, true, diag);
  if (status == VINCI_OK)
    status = sweep_submit_slurm(&submit, diag);
  chip_cache_free(&chips);
  sweep_study_free(&study);
  return status;
}

static int submit(const struct cli_verb *verb, int argc, char **argv) {
  struct sweep_settings settings = {0};
  struct text_list arguments = {0};
  struct vinci_diag diag = {0};
  struct sweep_counts counts;
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &arguments, &exit_code)) {
    enum vinci_status status = submit_study(&settings, &arguments, &diag);
    /* What the jobs say of themselves is not trusted: the records are counted. */
    if (status == VINCI_OK && settings.wait)
      status = sweep_collect(settings.output, true, &counts, &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
    if (status == VINCI_OK && settings.wait && !settings.quiet)
      printf("%zu points: %zu ok, %zu failed; %s/results.csv\n", counts.points,
             counts.points - counts.failed, counts.failed, settings.output);
  }
  text_list_free(&settings.request.sets);
  text_list_free(&settings.request.params);
  text_list_free(&settings.sbatch);
  text_list_free(&arguments);
  return exit_code;
}

/* ---- status, collect ------------------------------------------------------------------- */

static int look(const struct cli_verb *verb, int argc, char **argv, bool write) {
  struct sweep_settings settings = {0};
  struct text_list arguments = {0};
  struct vinci_diag diag = {0};
  struct sweep_counts counts;
  int exit_code;
  if (!cli_begin(verb, argc, argv, &settings, &arguments, &exit_code)) {
    text_list_free(&arguments);
    return exit_code;
  }
  const char *folder = arguments.count == 1 ? arguments.items[0] : settings.output;
  enum vinci_status status =
      folder && arguments.count <= 1
          ? sweep_collect(folder, write, &counts, &diag)
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
    .arguments = "STUDY.lua | TRACE | OP KEY=VALUE...",
    .summary = "Run all points of a study that have no result yet, then write results.csv",
    .details =
        "A study is a Lua file, or the command line: an operator with its arguments or a trace,\n"
        "and --param for what varies. Points that DIR holds already are not run again, however\n"
        "the last run ended; a point that fails is a row with its error. The table has the same\n"
        "bytes for every number of jobs. Exit code 0 when all points have their row, 3 when all\n"
        "of them failed, 7 when interrupted.\n",
    .options = {run_options, sizeof run_options / sizeof *run_options},
    .run = run,
};

static const struct cli_verb sweep_status = {
    .name = "sweep status",
    .arguments = "DIR",
    .summary = "Count the points of a sweep that are done, failed and missing",
    .options = {look_options, sizeof look_options / sizeof *look_options},
    .run = show_status,
};

static const struct cli_verb sweep_collect_verb = {
    .name = "sweep collect",
    .arguments = "DIR",
    .summary = "Write results.csv from the journals of all shards",
    .details = "Points without a record are an error (exit code 7), and no table is written.\n",
    .options = {look_options, sizeof look_options / sizeof *look_options},
    .run = collect,
};

static const struct cli_verb sweep_submit_verb = {
    .name = "sweep submit",
    .arguments = "--slurm STUDY.lua | TRACE | OP KEY=VALUE...",
    .summary = "Run a study as a Slurm job array, with a canary before and a collector after it",
    .details =
        "DIR must be seen by all hosts of the cluster. A point is done by its record alone, never "
        "by\n"
        "the exit code of a task; submitting again runs what is missing. Scripts and logs are in\n"
        "DIR/slurm. With --wait the exit code is 0 when all points have their row, else 7.\n",
    .options = {submit_options, sizeof submit_options / sizeof *submit_options},
    .run = submit,
};

static const struct cli_verb *const commands[] = {&sweep_run, &sweep_submit_verb, &sweep_status,
                                                  &sweep_collect_verb};

static int sweep(const struct cli_verb *verb, int argc, char **argv) {
  return cli_run_command(verb, commands, sizeof commands / sizeof *commands, argc, argv);
}

const struct cli_verb cli_verb_sweep = {
    .name = "sweep",
    .arguments = "COMMAND",
    .summary = "What-if studies of many points that survive anything",
    .details = "  run      run the points of a study that are missing, write results.csv\n"
               "  submit   run a study as a Slurm job array\n"
               "  status   count what is done, failed and missing\n"
               "  collect  write results.csv from the journals\n\n"
               "'vinci sweep COMMAND --help' explains the options of a command.\n",
    .run = sweep,
};
