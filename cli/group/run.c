/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group run: a job on several devices. */
#include <stdlib.h>
#include <string.h>

#include "cli/group/outcome.h"
#include "cli/support/command.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "devices/exchange/rank_table.h"
#include "devices/jobs/kernels.h"
#include "devices/jobs/turns.h"
#include "devices/results/energy.h"

enum { TEXT_BYTES_MAX = 1 << 30 };

struct run_settings {
  struct cli_command command;
  struct group_system_settings system;
  struct text_list faults;
  struct text_list algorithms;
  const char *memory, *library, *detail, *bucket, *savings;
  const char *output, *profiler, *rank_table;
  bool sequence, unfolded, json, quiet;
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
    OPTION_FLAG_ROW("sequence", 0, struct run_settings, sequence,
                    "operators of a program run in the order of the file on one chip, and find in "
                    "L2 and in the instruction caches what those before have left; a collective "
                    "has L2 write back what is dirty; without: each alone, with nothing there"),
    OPTION_TEXT_ROW("library", 0, struct run_settings, library, "DIR",
                    "operators that a library with sources has run its kernels, the others are "
                    "lowered; DIR:DIR of several (default: $VINCI_LIBRARY, for names that no "
                    "operator of vinci has)"),
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
  struct group_outcome *outcome = context;
  profile_keep_moment(&outcome->profile, moment);
}

static void keep_level(void *context, const struct group_held *held) {
  struct group_outcome *outcome = context;
  job_keep_level(&outcome->levels, held);
}

static void keep_move(void *context, const struct group_transfer *moved) {
  struct group_outcome *outcome = context;
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
                                     struct group_outcome *outcome, struct vinci_diag *diag) {
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
  struct group_outcome outcome = {
      .job = job, .loads.job = &job->job, .keeps_moves = settings->profiler != NULL};
  struct group_observer observer = {.context = &outcome,
                                    .op_ended = keep_moment,
                                    .transfer_ended = keep_move,
                                    .memory_held = keep_level};
  bool listens = settings->output || settings->profiler;
  struct text_list chip_sets = {0};
  struct job_kernel_options timed = {0};
  struct job_energy energy;
  struct group_work_settings work = {.memory = settings->memory,
                                     .library = settings->library,
                                     .sequence = settings->sequence,
                                     .quiet = settings->quiet};
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
    status = group_outcome_write(settings->output, &outcome, diag);
  if (status == VINCI_OK && settings->output)
    cli_keep_command(&settings->command, settings->output);
  if (status == VINCI_OK && settings->profiler)
    status = folder_make(settings->profiler, diag);
  if (status == VINCI_OK && settings->profiler)
    status = profile_write(&outcome.profile, settings->profiler, &job->job, &outcome.result, diag);
  if (status == VINCI_OK && settings->json)
    job_put_summary(job, &outcome.result, outcome.energy, outcome.levers, stdout);
  else if (status == VINCI_OK && !settings->quiet)
    group_outcome_print(&outcome);
  if (status == VINCI_OK && !settings->json && !settings->quiet && settings->detail)
    status = group_kernels_print(job, diag);
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
