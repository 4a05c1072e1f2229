/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group run: a job on several devices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/group/group.h"
#include "cli/support/command.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "core/chip/soc.h"
#include "devices/jobs/classes.h"
#include "devices/jobs/energy.h"
#include "devices/jobs/job.h"
#include "devices/jobs/kernels.h"
#include "devices/jobs/loads.h"
#include "devices/jobs/memory.h"
#include "devices/jobs/path.h"
#include "devices/jobs/peaks.h"
#include "devices/jobs/profiler.h"
#include "devices/jobs/rank_table.h"
#include "devices/jobs/result.h"
#include "devices/jobs/turns.h"

#define PS_PER_US UINT64_C(1000000)
enum { US_DIGITS = 6, TEXT_BYTES_MAX = 1 << 30, RANKS_SHOWN = 16, PATH_BYTES = 4096 };

struct run_settings {
  struct cli_command command;
  struct group_system_settings system;
  struct text_list faults;
  struct text_list algorithms;
  const char *memory, *detail, *bucket, *savings;
  const char *output, *profiler, *rank_table;
  bool unfolded, json, quiet;
};

static const struct option_row run_options[] = {
    GROUP_SYSTEM_ROWS(struct run_settings, system),
    OPTION_ENERGY_ROW(struct run_settings, system.sets),
    OPTION_LIST_ROW("fault", 0, struct run_settings, faults, "FAULT",
                    "devices or a link are slow or down, as in a row fault of GROUP.md: "
                    "devices=3,from_us=100,to_us=200,speed=0.5; may be repeated"),
    OPTION_LIST_ROW("algorithm", 0, struct run_settings, algorithms, "WHICH=NAME",
                    "collectives take this algorithm: those of an operation, of OP@GROUP, or of "
                    "a name, as in all_reduce@dp=ring; may be repeated"),
    OPTION_TEXT_ROW("bucket", 0, struct run_settings, bucket, "SIZE",
                    "sums of a group that follow each other in a stream, with nothing but waits "
                    "between, are made together up to this size, such as 25MiB"),
    OPTION_TEXT_ROW("savings", 0, struct run_settings, savings, "WHICH",
                    "all: algorithms of collectives and sizes of buckets, each measured by a run, "
                    "in the order of what they save, with the option that shows it again; none "
                    "(default)"),
    OPTION_TEXT_ROW("memory", 0, struct run_settings, memory, "MODEL",
                    "cycle or flat (default): how operators and networks of the job are simulated"),
    OPTION_TEXT_ROW("detail", 0, struct run_settings, detail, "RANK",
                    "simulate the cores of this rank, and of those of its program, with network, "
                    "L2 slices and DRAM commands, and list its kernels"),
    OPTION_TEXT_ROW("rank-table", 0, struct run_settings, rank_table, "FILE",
                    "rank_table.json: which device of which server each rank is"),
    OPTION_TEXT_ROW("output", 'o', struct run_settings, output, "DIR",
                    "write summary.json, step_trace_time.csv, collectives.csv, trace.json, "
                    "timeline.csv, path.csv, links.csv, memory.csv of a job that says what ranks "
                    "hold, and kernels.csv of what was simulated"),
    OPTION_TEXT_ROW(
        "profiler", 0, struct run_settings, profiler, "DIR",
        "write RANK_ascend_pt folders as the vendor's profiler does: communication.json, "
        "communication_matrix.json, step_trace_time.csv"),
    OPTION_FLAG_ROW("unfolded", 0, struct run_settings, unfolded,
                    "simulate each step of each collective, also of those that are equal; the "
                    "result is the same"),
    OPTION_FLAG_ROW("json", 0, struct run_settings, json, "print summary.json"),
    OPTION_FLAG_ROW("quiet", 'q', struct run_settings, quiet, "print errors only"),
};

struct outcome {
  const struct job *job;
  struct group_result result;
  struct job_profile profile;
  struct job_loads loads;
  struct job_levels levels;
  bool keeps_moves;                /* for --profiler */
  const struct job_energy *energy; /* NULL: nobody has asked */
  const vinci_soc *soc;            /* with energy */
  struct proven_list *levers;      /* NULL: nobody has asked */
  bool short_of_memory;
};

static struct decimal ms(uint64_t ps) { return decimal_ratio(ps, UINT64_C(1000000000), 3); }

static struct decimal percent(uint64_t part, uint64_t whole) {
  return decimal_ratio((uint128)part * 100, whole ? whole : 1, 1);
}

static const struct sheet_column columns[] = {
    {.title = "rank", .left = true},
    {.title = "computing ms"},
    {.title = ""},
    {.title = "exposed ms"},
    {.title = ""},
    {.title = "overlapped", .rank = 1},
    {.title = "idle ms"},
    {.title = ""},
};

static void print_row(const char *name, const struct group_rank_result *rank, uint64_t end_ps,
                      struct sheet *sheet) {
  sheet_text(sheet, name);
  sheet_text(sheet, ms(rank->work_ps).text);
  sheet_cell(sheet, "%s %%", percent(rank->work_ps, end_ps).text);
  sheet_text(sheet, ms(rank->exposed_ps).text);
  sheet_cell(sheet, "%s %%", percent(rank->exposed_ps, end_ps).text);
  sheet_text(sheet, ms(rank->comm_ps - rank->exposed_ps).text);
  sheet_text(sheet, ms(rank->idle_ps).text);
  sheet_cell(sheet, "%s %%", percent(rank->idle_ps, end_ps).text);
}

/* Ranks in order; of many, the first ones and then the one that works least and that works most. */
static void print_ranks(const struct group_job *job, const struct group_result *result,
                        struct sheet *sheet) {
  uint32_t least = 0, most = 0;
  char name[32];
  for (uint32_t i = 0; i < job->ranks; i++) {
    least = result->ranks[i].work_ps < result->ranks[least].work_ps ? i : least;
    most = result->ranks[i].work_ps > result->ranks[most].work_ps ? i : most;
    snprintf(name, sizeof name, "%u", i);
    if (i < RANKS_SHOWN)
      print_row(name, &result->ranks[i], result->end_ps, sheet);
  }
  if (job->ranks <= RANKS_SHOWN)
    return;
  sheet_between(sheet, "%u more ranks; those that work least and most:\n",
                job->ranks - RANKS_SHOWN);
  snprintf(name, sizeof name, "%u least", least);
  print_row(name, &result->ranks[least], result->end_ps, sheet);
  snprintf(name, sizeof name, "%u most", most);
  print_row(name, &result->ranks[most], result->end_ps, sheet);
}

static void print_report(const struct outcome *outcome) {
  const struct group_job *job = &outcome->job->job;
  const struct group_result *result = &outcome->result;
  struct sheet sheet;
  sheet_line(stdout, "%s on %u devices of %s: %s ms, %" PRIu64 " transfers, %s MB moved\n\n",
             *outcome->job->name ? outcome->job->name : "Job", job->ranks, job->system->name,
             ms(result->end_ps).text, result->transfers,
             decimal_ratio(result->transfer_bytes, 1000000, 1).text);
  if (result->folded)
    sheet_line(stdout,
               "%" PRIu64
               " collectives were folded (GROUP.md); --unfolded simulates all of their steps\n\n",
               result->folded);
  SHEET_BEGIN(&sheet, stdout, columns, 0, "step_trace_time.csv of --output");
  while (sheet_pass(&sheet))
    print_ranks(job, result, &sheet);
  job_memory_print(job, result, stdout);
  if (outcome->levers)
    proven_print(outcome->levers, result->end_ps, stdout);
  if (outcome->energy)
    job_energy_print(outcome->job, outcome->soc, result, outcome->energy, stdout);
  cli_summary("group run ranks=%u us=%s bytes=%" PRIu64, job->ranks,
              decimal_exact(result->end_ps, US_DIGITS).text, result->transfer_bytes);
}

static void write_summary(void *context, FILE *out) {
  const struct outcome *outcome = context;
  job_put_summary(outcome->job, &outcome->result, outcome->energy, outcome->levers, out);
}
static void write_step_trace(void *context, FILE *out) {
  const struct outcome *outcome = context;
  job_put_step_trace(&outcome->job->job, &outcome->result, out);
}
static void write_collectives(void *context, FILE *out) {
  const struct outcome *outcome = context;
  job_put_collectives(&outcome->profile.moments, out);
}
static void write_timeline(void *context, FILE *out) {
  const struct outcome *outcome = context;
  job_put_timeline(&outcome->job->job, &outcome->profile.moments, out);
}

static void write_classes(void *context, FILE *out) {
  struct outcome *outcome = context;
  outcome->short_of_memory |=
      !job_put_classes(&outcome->job->job, &outcome->result, &outcome->profile.moments, out);
}

static void write_loads(void *context, FILE *out) {
  const struct outcome *outcome = context;
  job_put_loads(&outcome->loads, outcome->result.end_ps, out);
}

static void write_levels(void *context, FILE *out) {
  struct outcome *outcome = context;
  outcome->short_of_memory |=
      !job_put_levels(&outcome->job->job, &outcome->result, &outcome->levels, out);
}

static void write_path(void *context, FILE *out) {
  struct outcome *outcome = context;
  outcome->short_of_memory |=
      !job_put_path(&outcome->job->job, &outcome->result, &outcome->profile.moments, out);
}

static void write_kernels(void *context, FILE *out) {
  const struct outcome *outcome = context;
  job_put_kernels(outcome->job, out);
}

static enum vinci_status write_files(const char *folder, struct outcome *outcome,
                                     struct vinci_diag *diag) {
  const struct {
    const char *name;
    void (*write)(void *context, FILE *out);
    bool there;
  } files[] = {{"summary.json", write_summary, true},
               {"step_trace_time.csv", write_step_trace, true},
               {"collectives.csv", write_collectives, true},
               {"trace.json", write_timeline, true},
               {"timeline.csv", write_classes, true},
               {"path.csv", write_path, true},
               {"links.csv", write_loads, true},
               {"memory.csv", write_levels, outcome->job->job.memory_count > 0},
               {"kernels.csv", write_kernels, outcome->job->kernels != NULL}};
  enum vinci_status status = folder_remove_command(folder, diag);
  for (size_t i = 0; i < sizeof files / sizeof *files && status == VINCI_OK; i++) {
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", folder, files[i].name) >= (int)sizeof path)
      return diag_error(diag, VINCI_E_USAGE, "the name of the folder is too long");
    status = files[i].there ? file_replace(path, files[i].write, outcome, diag)
                            : folder_remove_file(folder, files[i].name, diag); /* of another job */
  }
  if (status == VINCI_OK && outcome->short_of_memory)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  return status;
}

/* Puts the ranks of the job onto the devices that a table names. */
static enum vinci_status place_ranks(const struct run_settings *settings,
                                     struct group_description *group, struct job *job,
                                     struct vinci_diag *diag) {
  struct rank_table table;
  size_t length;
  uint32_t needed;
  char *text = file_read_text(settings->rank_table, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = rank_table_read(settings->rank_table, text, length, &table, diag);
  free(text);
  if (status != VINCI_OK)
    return status;
  uint32_t *devices = ARENA_ARRAY(&job->arena, uint32_t, job->job.ranks);
  status = devices
               ? rank_table_place(&table, &group->system, job->job.ranks, devices, &needed, diag)
               : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = group_host_fit(group, settings->system.data, needed, diag);
  if (status == VINCI_OK && *table.skipped)
    fprintf(stderr, "warning: %s: not read: %s\n", settings->rank_table, table.skipped);
  job->job.devices = devices;
  rank_table_free(&table);
  return status;
}

static enum vinci_status take_detail(const struct run_settings *settings,
                                     struct group_work_settings *out, struct vinci_diag *diag) {
  char *end = NULL;
  if (!settings->detail)
    return VINCI_OK;
  unsigned long rank = strtoul(settings->detail, &end, 10);
  if (*settings->detail < '0' || *settings->detail > '9' || *end || rank >= GROUP_DEVICES_MAX)
    return diag_error(diag, VINCI_E_USAGE, "--detail is the number of a rank, not '%s'",
                      settings->detail);
  out->detail = rank + 1;
  return VINCI_OK;
}

static uint64_t all_uses_ps(const struct job_kernel *kernel) {
  const struct job_kernel_time *time = &kernel->time[JOB_MODEL_DETAIL];
  return time->duration_ps * time->uses;
}

static int by_time(const void *left, const void *right) {
  const struct job_kernel *a = *(const struct job_kernel *const *)left,
                          *b = *(const struct job_kernel *const *)right;
  if (all_uses_ps(a) != all_uses_ps(b))
    return all_uses_ps(a) > all_uses_ps(b) ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

/* What was simulated for the rank of --detail, the longest in all uses first. */
static enum vinci_status print_kernels(struct job *job, struct vinci_diag *diag) {
  size_t count = 0;
  for (const struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    count += kernel->time[JOB_MODEL_DETAIL].uses > 0;
  const struct job_kernel **kernels =
      ARENA_ARRAY(&job->arena, const struct job_kernel *, count + 1);
  if (!kernels)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  count = 0;
  for (const struct job_kernel *kernel = job->kernels; kernel; kernel = kernel->next)
    if (kernel->time[JOB_MODEL_DETAIL].uses > 0)
      kernels[count++] = kernel;
  qsort(kernels, count, sizeof *kernels, by_time);
  static const struct sheet_column kernel_columns[] = {
      {.title = "work of that rank, one program", .left = true, .fit = SHEET_SHORTEN},
      {.title = "uses"},
      {.title = "us each"},
      {.title = "us in all"},
      {.title = "blocks", .rank = 1},
      {.title = "bound", .left = true, .rank = 2}};
  struct sheet sheet;
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, kernel_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < count; i++) {
      const struct job_kernel_time *time = &kernels[i]->time[JOB_MODEL_DETAIL];
      sheet_text(&sheet, kernels[i]->net ? kernels[i]->net : kernels[i]->op);
      sheet_cell(&sheet, "%" PRIu32, time->uses);
      sheet_text(&sheet, decimal_ratio(time->duration_ps, PS_PER_US, 3).text);
      sheet_text(&sheet, decimal_ratio(all_uses_ps(kernels[i]), PS_PER_US, 3).text);
      sheet_cell(&sheet, "%" PRIu32, time->blocks);
      sheet_text(&sheet, time->bound);
    }
  return VINCI_OK;
}

/* Energies are numbers of the chip, all others are those of the system. */
static enum vinci_status part_sets(const struct text_list *all, struct text_list *system,
                                   struct text_list *chip, struct vinci_diag *diag) {
  *system = (struct text_list){0};
  for (size_t i = 0; i < all->count; i++) {
    const struct text_list alone = {.items = &all->items[i], .count = 1};
    if (!text_list_add(cli_find_energy(&alone) ? chip : system, all->items[i]))
      return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  return VINCI_OK;
}

static void keep_moment(void *context, const struct group_moment *moment) {
  struct outcome *outcome = context;
  profile_keep_moment(&outcome->profile, moment);
}

static void keep_level(void *context, const struct group_held *held) {
  struct outcome *outcome = context;
  job_keep_level(&outcome->levels, held);
}

static void keep_move(void *context, const struct group_transfer *moved) {
  struct outcome *outcome = context;
  job_keep_load(&outcome->loads, moved);
  if (outcome->keeps_moves)
    profile_keep_move(&outcome->profile, moved);
}

/* What the options change of the job. */
static enum vinci_status turn_job(const struct run_settings *settings, struct job *job,
                                  struct vinci_diag *diag) {
  int64_t bytes = 0;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < settings->algorithms.count; i++)
    status = job_turn_algorithm(job, settings->algorithms.items[i], diag);
  if (status != VINCI_OK || !settings->bucket)
    return status;
  struct vinci_diag problem = {0};
  if (soc_parse_value(settings->bucket, SOC_KIND_BYTES, &bytes, &problem) != VINCI_OK)
    return diag_error(diag, VINCI_E_USAGE, "--bucket: %s", problem.text);
  if (bytes > 0)
    (void)job_turn_buckets(job, (uint64_t)bytes);
  return VINCI_OK;
}

static enum vinci_status find_levers(const struct run_settings *settings, struct job *job,
                                     struct outcome *outcome, struct vinci_diag *diag) {
  if (strcmp(settings->savings, "all") != 0)
    return VINCI_OK;
  outcome->levers = ARENA_ARRAY(&job->arena, struct proven_list, 1);
  return outcome->levers ? job_levers_find(job, outcome->result.end_ps, outcome->levers, diag)
                         : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

static enum vinci_status run_job(const struct run_settings *settings, struct job *job,
                                 struct vinci_diag *diag) {
  struct group_description *group = NULL;
  struct group_system_settings system = settings->system;
  struct outcome outcome = {
      .job = job, .loads.job = &job->job, .keeps_moves = settings->profiler != NULL};
  struct group_observer observer = {.context = &outcome,
                                    .op_ended = keep_moment,
                                    .transfer_ended = keep_move,
                                    .memory_held = keep_level};
  bool listens = settings->output || settings->profiler;
  struct text_list chip_sets = {0};
  struct job_kernel_options timed = {0};
  struct job_energy energy;
  struct group_work_settings work = {.memory = settings->memory, .quiet = settings->quiet};
  enum vinci_status status = part_sets(&settings->system.sets, &system.sets, &chip_sets, diag);
  work.chip_sets = chip_sets.count > 0 ? &chip_sets : NULL;
  system.name = system.name ? system.name : job->system;
  if (status == VINCI_OK)
    status = take_detail(settings, &work, diag);
  if (status == VINCI_OK)
    status = group_load(&system, job->job.ranks, &group, diag);
  if (status == VINCI_OK)
    status = group_time_work(group, &work, settings->system.data, job, &timed, diag);
  if (status == VINCI_OK && settings->rank_table)
    status = place_ranks(settings, group, job, diag);
  if (status == VINCI_OK && settings->output)
    status = folder_make(settings->output, diag);
  if (status == VINCI_OK) {
    job->job.system = &group->system;
    job->job.unfolded = settings->unfolded;
    status = turn_job(settings, job, diag);
  }
  if (status == VINCI_OK)
    status = group_run(&job->job, listens ? &observer : NULL, &job->arena, &outcome.result, diag);
  if (status == VINCI_E_INPUT && settings->bucket)
    diag_hint(diag, "--bucket joins sums of one program, and those of all ranks of a group have to "
                    "be joined alike");
  if (status == VINCI_OK && settings->savings)
    status = find_levers(settings, job, &outcome, diag);
  outcome.soc = timed.soc;
  if (status == VINCI_OK && work.chip_sets) {
    outcome.energy = &energy;
    if (!job_energy_sum(job, &timed, &outcome.result, &energy))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  if (status == VINCI_OK && outcome.profile.moments.short_of_memory)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK && settings->output)
    status = write_files(settings->output, &outcome, diag);
  if (status == VINCI_OK && settings->output)
    cli_keep_command(&settings->command, settings->output);
  if (status == VINCI_OK && settings->profiler)
    status = folder_make(settings->profiler, diag);
  if (status == VINCI_OK && settings->profiler)
    status = profile_write(&outcome.profile, settings->profiler, &job->job, &outcome.result, diag);
  if (status == VINCI_OK && settings->json)
    write_summary(&outcome, stdout);
  else if (status == VINCI_OK && !settings->quiet)
    print_report(&outcome);
  if (status == VINCI_OK && !settings->json && !settings->quiet && settings->detail)
    status = print_kernels(job, diag);
  profile_free(&outcome.profile);
  job_levels_free(&outcome.levels);
  vinci_soc_free((vinci_soc *)(uintptr_t)timed.soc);
  text_list_free(&system.sets);
  text_list_free(&chip_sets);
  group_host_free(group);
  return status;
}

enum vinci_status group_read_job(const char *path, struct job *job, struct vinci_diag *diag) {
  size_t length;
  const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
  char *text = file_read_text(file, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = job_read(path, text, length, job, diag);
  free(text);
  return status;
}

static enum vinci_status read_and_run(const struct run_settings *settings,
                                      const struct text_list *words, struct vinci_diag *diag) {
  struct job job;
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one job, not %zu", words->count);
  if (settings->savings && strcmp(settings->savings, "all") != 0 &&
      strcmp(settings->savings, "none") != 0)
    return diag_error(diag, VINCI_E_USAGE, "--savings is all or none, not '%s'", settings->savings);
  enum vinci_status status = group_read_job(words->items[0], &job, diag);
  if (status != VINCI_OK)
    return status;
  for (size_t i = 0; status == VINCI_OK && i < settings->faults.count; i++)
    status = job_add_fault(&job, settings->faults.items[i], diag);
  if (status == VINCI_OK)
    status = run_job(settings, &job, diag);
  job_free(&job);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct run_settings settings = {.command = {verb, argc, argv}};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = read_and_run(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.system.sets);
  text_list_free(&settings.faults);
  text_list_free(&settings.algorithms);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_group_run = {
    .name = "group run",
    .arguments = "JOB",
    .summary = "Simulate a job: work, collectives and events of many devices",
    .details =
        "JOB is a file as GROUP.md describes; '-' is standard input. The system is that of\n"
        "--system, or the one that the job names. Computing, exposed (in collectives and not at\n"
        "work) and idle add up to the time of the job.\n\n"
        "Examples:\n"
        "  vinci group run traces/examples/data_parallel.job.csv\n"
        "  vinci group run step.job.csv -s atlas_a2_910b4 --set hccs.copy=30GB/s --output=out\n",
    .options = {run_options, sizeof run_options / sizeof *run_options},
    .run = run,
};
