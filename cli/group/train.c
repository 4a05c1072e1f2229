/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group train: a long training whose devices fail, and its checkpoints. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/group/group.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "core/chip/param.h"
#include "devices/flow/training.h"
#include "devices/jobs/job.h"

enum { RUNS_DEFAULT = 1000, WORD_BYTES_MAX = 64, PS_PER_NS = 1000 };
#define NS_PER_SECOND UINT64_C(1000000000)
#define STEPS_MAX (UINT64_C(1) << 40)

struct train_settings {
  struct group_system_settings system;
  const char *step, *intervals, *mtbf, *save, *bytes, *storage, *blocking, *detect, *restart,
      *repair;
  const char *checkpoint;
  uint64_t steps, units, spares, runs, seed;
  bool shrink, json;
};

static const struct option_row train_options[] = {
    OPTION_TEXT_ROW("step", 0, struct train_settings, step, "TIME",
                    "what a step takes, such as 850ms, when no job says so"),
    OPTION_NUMBER_ROW("steps", 0, struct train_settings, steps, "N", 1, STEPS_MAX,
                      "steps of the training"),
    OPTION_TEXT_ROW("interval", 'i', struct train_settings, intervals, "TIMES",
                    "work between two checkpoints; several with commas between"),
    OPTION_TEXT_ROW("mtbf", 'm', struct train_settings, mtbf, "TIME",
                    "mean time between failures of a unit, such as 5000h; 0s: none fails"),
    OPTION_NUMBER_ROW("units", 'n', struct train_settings, units, "N", 1, TRAINING_UNITS_MAX,
                      "units that fail alone: devices, or servers (the devices of the job, or 1)"),
    OPTION_NUMBER_ROW("spares", 0, struct train_settings, spares, "N", 0, TRAINING_UNITS_MAX,
                      "units that wait to take the place of others (0)"),
    OPTION_FLAG_ROW("shrink", 0, struct train_settings, shrink,
                    "without a spare, go on with fewer units until one is repaired"),
    OPTION_TEXT_ROW("save", 0, struct train_settings, save, "TIME",
                    "what writing a checkpoint takes; or give --bytes and --storage"),
    OPTION_TEXT_ROW("bytes", 'b', struct train_settings, bytes, "SIZE",
                    "bytes of a checkpoint, of all units"),
    OPTION_TEXT_ROW("storage", 0, struct train_settings, storage, "RATE",
                    "what the storage takes from all units, such as 20GB/s"),
    OPTION_TEXT_ROW("blocking", 0, struct train_settings, blocking, "TIME",
                    "units stand still for a checkpoint only so long, and work while it is written "
                    "(as long as writing takes)"),
    OPTION_TEXT_ROW("detect", 0, struct train_settings, detect, "TIME",
                    "from a failure to its detection (collective.timeout of the system)"),
    OPTION_TEXT_ROW("restart", 0, struct train_settings, restart, "TIME",
                    "from the detection to work (0s)"),
    OPTION_TEXT_ROW("repair", 0, struct train_settings, repair, "TIME",
                    "from a failure until the unit is back (0s)"),
    OPTION_NUMBER_ROW("runs", 'r', struct train_settings, runs, "N", 1, TRAINING_RUNS_MAX,
                      "trainings to simulate (1000)"),
    OPTION_NUMBER_ROW("seed", 0, struct train_settings, seed, "N", 0, UINT64_MAX,
                      "of the random failures (1)"),
    OPTION_TEXT_ROW("checkpoint", 0, struct train_settings, checkpoint, "FILE",
                    "keep what has been simulated in FILE, and go on from there after a kill"),
    OPTION_FLAG_ROW("json", 0, struct train_settings, json, "print JSON, a line for each interval"),
    GROUP_SYSTEM_ROWS(struct train_settings, system),
};

/* ---- times ---------------------------------------------------------------------------------- */

static enum vinci_status parse_time(const char *option, const char *text, uint64_t *out_ns,
                                    struct vinci_diag *diag) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}, {"d", 8.64e13}};
  char number[WORD_BYTES_MAX];
  size_t digits = strspn(text, "0123456789.");
  double value;
  snprintf(number, sizeof number, "%.*s", (int)digits, text);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text + digits, units[i].name) == 0 && decimal_parse(number, &value) &&
        value * units[i].ns <= (double)TRAINING_NS_MAX) {
      *out_ns = (uint64_t)(value * units[i].ns + 0.5);
      return VINCI_OK;
    }
  (void)diag_error(diag, VINCI_E_USAGE, "--%s=%s is not a time up to 36 years", option, text);
  diag_hint(diag, "times have a unit: 850ms, 90s, 30min, 5000h, 60d");
  return VINCI_E_USAGE;
}

static enum vinci_status take_time(const char *option, const char *text, uint64_t *out_ns,
                                   struct vinci_diag *diag) {
  return text ? parse_time(option, text, out_ns, diag) : VINCI_OK;
}

static enum vinci_status need(const char *option, const char *given, struct vinci_diag *diag) {
  return given ? VINCI_OK : diag_error(diag, VINCI_E_USAGE, "give --%s", option);
}

/* Bytes by what the storage takes. */
static enum vinci_status take_bytes(const struct train_settings *settings, uint64_t *out_ns,
                                    struct vinci_diag *diag) {
  int64_t bytes = 0, rate = 0;
  enum vinci_status status = soc_parse_value(settings->bytes, SOC_KIND_BYTES, &bytes, diag);
  if (status == VINCI_OK)
    status = soc_parse_value(settings->storage, SOC_KIND_BYTES_PER_SECOND, &rate, diag);
  if (status == VINCI_OK && (bytes < 0 || rate <= 0))
    status = diag_error(diag, VINCI_E_USAGE, "--bytes=%s at --storage=%s takes no time",
                        settings->bytes, settings->storage);
  if (status != VINCI_OK)
    return status;
  uint128 ns = ((uint128)(uint64_t)bytes * NS_PER_SECOND + (uint64_t)rate - 1) / (uint64_t)rate;
  *out_ns = ns < TRAINING_NS_MAX ? (uint64_t)ns : TRAINING_NS_MAX;
  return VINCI_OK;
}

/* What a checkpoint keeps units from work, and what is written beside work. */
static enum vinci_status take_cost(const struct train_settings *settings,
                                   struct group_training *out, struct vinci_diag *diag) {
  uint64_t save_ns = 0;
  enum vinci_status status;
  if (!settings->save == !(settings->bytes && settings->storage))
    return diag_error(diag, VINCI_E_USAGE, "give either --save, or --bytes and --storage");
  status = settings->save ? parse_time("save", settings->save, &save_ns, diag)
                          : take_bytes(settings, &save_ns, diag);
  out->blocking_ns = save_ns;
  if (status != VINCI_OK || !settings->blocking)
    return status;
  out->writing_ns = save_ns;
  return parse_time("blocking", settings->blocking, &out->blocking_ns, diag);
}

/* ---- the step ------------------------------------------------------------------------------- */

/* The time of a job, and how many devices the job has. */
static enum vinci_status run_job(const struct train_settings *settings, const char *path,
                                 uint64_t *out_ns, uint64_t *out_ranks, uint64_t *out_timeout_ns,
                                 struct vinci_diag *diag) {
  struct job job;
  struct group_description *group = NULL;
  struct group_system_settings system = settings->system;
  struct group_work_settings work = {0};
  struct group_result result = {0};
  enum vinci_status status = group_read_job(path, &job, diag);
  if (status != VINCI_OK)
    return status;
  system.name = system.name ? system.name : job.system;
  status = group_load(&system, job.job.ranks, &group, diag);
  if (status == VINCI_OK)
    status = group_time_work(group, &work, system.data, &job, NULL, diag);
  if (status == VINCI_OK) {
    job.job.system = &group->system;
    status = group_run(&job.job, NULL, &job.arena, &result, diag);
    *out_timeout_ns = group->system.timeout_ps / PS_PER_NS;
  }
  *out_ns = (result.end_ps + PS_PER_NS - 1) / PS_PER_NS;
  *out_ranks = job.job.ranks;
  job_free(&job);
  group_host_free(group);
  return status;
}

/* The timeout of the system, when none is given. */
static enum vinci_status default_detect(const struct train_settings *settings,
                                        struct group_training *out, struct vinci_diag *diag) {
  struct group_description *group = NULL;
  if (!settings->system.name)
    return diag_error(diag, VINCI_E_USAGE,
                      "give --detect, or --system, whose collective.timeout detects failures");
  enum vinci_status status = group_load(&settings->system, 1, &group, diag);
  if (status == VINCI_OK)
    out->detect_ns = group->system.timeout_ps / PS_PER_NS;
  group_host_free(group);
  return status;
}

static enum vinci_status take_step(const struct train_settings *settings,
                                   const struct text_list *words, struct group_training *out,
                                   struct vinci_diag *diag) {
  uint64_t step_ns = 0, ranks = 1, timeout_ns = 0;
  enum vinci_status status;
  if (words->count > 1 || (words->count == 1) == (settings->step != NULL))
    return diag_error(diag, VINCI_E_USAGE, "give a step: one job, or --step");
  if (settings->steps == 0)
    return need("steps", NULL, diag);
  status = settings->step ? parse_time("step", settings->step, &step_ns, diag)
                          : run_job(settings, words->items[0], &step_ns, &ranks, &timeout_ns, diag);
  if (status == VINCI_OK && (uint128)step_ns * settings->steps > TRAINING_NS_MAX)
    status = diag_error(diag, VINCI_E_USAGE, "the steps take longer than 36 years");
  if (status != VINCI_OK)
    return status;
  out->work_ns = step_ns * settings->steps;
  out->units = (uint32_t)(settings->units ? settings->units : ranks);
  out->detect_ns = timeout_ns;
  return settings->step && !settings->detect ? default_detect(settings, out, diag) : VINCI_OK;
}

static enum vinci_status take_settings(const struct train_settings *settings,
                                       const struct text_list *words, struct group_training *out,
                                       struct vinci_diag *diag) {
  enum vinci_status status = take_step(settings, words, out, diag);
  if (status == VINCI_OK)
    status = need("interval", settings->intervals, diag);
  if (status == VINCI_OK)
    status = need("mtbf", settings->mtbf, diag);
  if (status == VINCI_OK)
    status = take_cost(settings, out, diag);
  if (status == VINCI_OK)
    status = take_time("mtbf", settings->mtbf, &out->mtbf_ns, diag);
  if (status == VINCI_OK)
    status = take_time("detect", settings->detect, &out->detect_ns, diag);
  if (status == VINCI_OK)
    status = take_time("restart", settings->restart, &out->restart_ns, diag);
  if (status == VINCI_OK)
    status = take_time("repair", settings->repair, &out->repair_ns, diag);
  out->spares = (uint32_t)settings->spares;
  out->shrinks = settings->shrink;
  out->seed = settings->seed;
  return status;
}

/* ---- output --------------------------------------------------------------------------------- */

static struct decimal seconds(uint64_t ns) { return decimal_ratio(ns, NS_PER_SECOND, 3); }

/* Of a run. */
static struct decimal failures_of(const struct group_training_result *result) {
  return decimal_ratio(result->mean.failures, result->runs, 2);
}

/* Before the columns that a narrow terminal has below. */
static const char *beside(void) {
  enum { WIDE = 140 };
  unsigned width = sheet_width(stdout);
  return width > 0 && width < WIDE ? "\n " : "";
}

/* Rows come one at a time, as long runs go on: their widths are fixed, and a narrow terminal gets
 * what the time is made of below. */
static void print_titles(void) {
  printf("%11s %13s %11s %13s %13s %9s%s", "interval s", "time s", "+-95 % s", "5 % s", "95 % s",
         "failures", beside());
#define X(field, name, what) printf(" %8s %%", name);
  GROUP_TRAINING_PART_LIST(X)
#undef X
  printf("\n");
}

static void print_head(const struct group_training *training, uint64_t runs) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "%s s of work on %" PRIu32 " units, a checkpoint of %s s",
          seconds(training->work_ns).text, training->units, seconds(training->blocking_ns).text);
  if (training->writing_ns)
    fprintf(out, " and %s s beside work", seconds(training->writing_ns).text);
  fprintf(out, "; %" PRIu64 " runs\n\n", runs);
  sheet_lines_end(&lines);
  print_titles();
}

static void print_row(const struct group_training *training,
                      const struct group_training_result *result) {
  printf("%11s %13s %11s %13s %13s %9s%s", seconds(training->interval_ns).text,
         seconds(result->mean_ns).text, seconds(result->half_ns).text, seconds(result->p5_ns).text,
         seconds(result->p95_ns).text, failures_of(result).text, beside());
#define X(field, name, what)                                                                       \
  printf(" %8s  ", decimal_ratio((uint128)result->mean.field * 100, result->mean_ns, 2).text);
  GROUP_TRAINING_PART_LIST(X)
#undef X
  printf("\n");
}

static void print_json(const struct group_training *training,
                       const struct group_training_result *result) {
  printf("{\"interval_s\": %s, \"runs\": %" PRIu32
         ", \"time_s\": %s, \"half_s\": %s, \"p5_s\": %s, "
         "\"median_s\": %s, \"p95_s\": %s, \"failures\": %s",
         seconds(training->interval_ns).text, result->runs, seconds(result->mean_ns).text,
         seconds(result->half_ns).text, seconds(result->p5_ns).text,
         seconds(result->median_ns).text, seconds(result->p95_ns).text, failures_of(result).text);
#define X(field, name, what) printf(", \"" name "_s\": %s", seconds(result->mean.field).text);
  GROUP_TRAINING_PART_LIST(X)
#undef X
  printf("}\n");
}

static enum vinci_status train(const struct train_settings *settings, const struct text_list *words,
                               struct vinci_diag *diag) {
  struct group_training training = {0};
  uint64_t best_ns = 0, best_interval_ns = 0, intervals = 0;
  enum vinci_status status = take_settings(settings, words, &training, diag);
  const char *list = settings->intervals;
  if (status == VINCI_OK && settings->checkpoint && strchr(list, ','))
    status = diag_error(diag, VINCI_E_USAGE, "--checkpoint keeps the runs of one interval");
  if (status == VINCI_OK && !settings->json)
    print_head(&training, settings->runs);
  for (const char *end; status == VINCI_OK && *list; list = end + (*end == ',')) {
    char text[WORD_BYTES_MAX];
    struct group_training_result result;
    end = list + strcspn(list, ",");
    snprintf(text, sizeof text, "%.*s", (int)(end - list), list);
    status = parse_time("interval", text, &training.interval_ns, diag);
    if (status == VINCI_OK)
      status =
          group_train(&training, (uint32_t)settings->runs, settings->checkpoint, &result, diag);
    if (status == VINCI_OK && (intervals++ == 0 || result.mean_ns < best_ns)) {
      best_ns = result.mean_ns;
      best_interval_ns = training.interval_ns;
    }
    if (status == VINCI_OK && settings->json)
      print_json(&training, &result);
    else if (status == VINCI_OK)
      print_row(&training, &result);
  }
  if (status != VINCI_OK || settings->json)
    return status;
  sheet_line(
      stdout,
      "\nYoung's interval, sqrt(2 x checkpoint x time between failures of all units): %s s\n",
      seconds(group_training_young_ns(&training)).text);
  cli_summary("group train intervals=%" PRIu64 " best_s=%s time_s=%s", intervals,
              seconds(best_interval_ns).text, seconds(best_ns).text);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct train_settings settings = {.runs = RUNS_DEFAULT, .seed = 1};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = train(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.system.sets);
  text_list_free(&words);
  return exit_code;
}

#define X(field, name, text) "  " name "\n      " text "\n"
const struct cli_verb cli_group_train = {
    .name = "group train",
    .arguments = "[JOB]",
    .summary = "Simulate a long training whose devices fail, with its checkpoints",
    .details =
        "A step takes what JOB takes (GROUP.md), or --step. Failures come at random, with\n"
        "exponential times between them; a failure stops all units, which restart from the last\n"
        "checkpoint. The time of a training is the sum of\n" GROUP_TRAINING_PART_LIST(
            X) "\nTimes are means of all runs, with the 95 % interval of the mean.\n\n"
               "Examples:\n"
               "  vinci group train --step=2s --steps=1000000 -n 128 --mtbf=5000h --save=60s \\\n"
               "    -i 10min,20min,40min,80min --detect=1836s --restart=5min\n"
               "  vinci group train step.job.csv -s atlas_a2_910b4 --steps=100000 --mtbf=20000h "
               "\\\n"
               "    -b 96GiB --storage=4GB/s --blocking=2s -i 15min --spares=1 --repair=1d\n",
    .options = {train_options, sizeof train_options / sizeof *train_options},
    .run = run,
};
#undef X
