/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group convert: jobs from and to Chakra execution traces. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/group/group.h"
#include "core/base/file.h"
#include "devices/exchange/chakra.h"
#include "devices/jobs/job.h"

struct convert_settings {
  const char *output, *groups, *system;
  uint64_t ranks;
};

static const struct option_row convert_options[] = {
    OPTION_TEXT_ROW("output", 'o', struct convert_settings, output, "FILE",
                    "the job, by default standard output; with TRACES of a job: their name"),
    OPTION_TEXT_ROW("groups", 'g', struct convert_settings, groups, "FILE",
                    "process groups of the traces: {\"NAME\": [RANKS]}, or lists of these; by "
                    "default NAME.groups.json"),
    OPTION_NUMBER_ROW("ranks", 'n', struct convert_settings, ranks, "N", 1, GROUP_DEVICES_MAX,
                      "ranks of the job, when one trace is that of all ranks"),
    OPTION_TEXT_ROW(
        "system", 's', struct convert_settings, system, "NAME",
        "the system of devices that the job names; of a job: on whose chip its operators "
        "are simulated"),
};

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Traces hold durations: what computes is simulated on the chip of the system. */
static enum vinci_status time_work(const struct convert_settings *settings, struct job *job,
                                   struct vinci_diag *diag) {
  struct group_description *group = NULL;
  struct group_system_settings system = {.name = settings->system ? settings->system : job->system};
  enum vinci_status status = group_load(&system, job->job.ranks, &group, diag);
  if (status == VINCI_OK)
    status = group_time_work(group, &(struct group_work_settings){0}, NULL, job, NULL, diag);
  group_host_free(group);
  return status;
}

/* The folder that holds the traces: that of their name. */
static enum vinci_status make_folder(const char *name, struct vinci_diag *diag) {
  const char *slash = strrchr(name, '/');
  char folder[PATH_MAX];
  if (!slash || slash == name)
    return VINCI_OK;
  if (snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name) >= (int)sizeof folder)
    return diag_error(diag, VINCI_E_USAGE, "the name of the traces is too long");
  return folder_make(folder, diag);
}

static enum vinci_status to_traces(const struct convert_settings *settings, const char *path,
                                   struct vinci_diag *diag) {
  struct job job;
  if (!settings->output) {
    (void)diag_error(diag, VINCI_E_USAGE, "the traces of a job need a name");
    diag_hint(diag, "--output=NAME writes NAME.0.et and so on");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = group_read_job(path, &job, diag);
  if (status != VINCI_OK)
    return status;
  status = make_folder(settings->output, diag);
  if (status == VINCI_OK && job.kernels)
    status = time_work(settings, &job, diag);
  if (status == VINCI_OK)
    status = chakra_from_job(settings->output, &job.job, diag);
  if (status == VINCI_OK && job.job.memory_count > 0)
    fprintf(stderr, "warning: %s: rows allocate and free are left out\n", path);
  job_free(&job);
  return status;
}

struct made {
  char *text;
  size_t length;
};

static void write_made(void *context, FILE *out) {
  const struct made *made = context;
  fwrite(made->text, 1, made->length, out);
}

static void print_notes(const char *name, const char *notes) {
  for (const char *line = notes, *end; line && *line; line = end + 1) {
    end = strchr(line, '\n');
    fprintf(stderr, "warning: %s: %.*s\n", name, (int)(end - line), line);
  }
}

static enum vinci_status to_job(const struct convert_settings *settings, const char *name,
                                struct vinci_diag *diag) {
  struct chakra_options options = {
      .ranks = (uint32_t)settings->ranks, .groups = settings->groups, .system = settings->system};
  struct made made = {0};
  char *notes = NULL;
  FILE *out = open_memstream(&made.text, &made.length);
  if (!out)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = chakra_to_job(name, &options, out, &notes, diag);
  if (!file_close_text(out, &made.text) && status == VINCI_OK)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK && settings->output)
    status = file_replace(settings->output, write_made, &made, diag);
  else if (status == VINCI_OK)
    write_made(&made, stdout);
  if (status == VINCI_OK)
    print_notes(name, notes);
  free(made.text);
  free(notes);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct convert_settings settings = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status;
    if (words.count != 1)
      status = diag_error(&diag, VINCI_E_USAGE, "give one job or the name of traces, not %zu",
                          words.count);
    else if (ends_with(words.items[0], ".csv"))
      status = to_traces(&settings, words.items[0], &diag);
    else
      status = to_job(&settings, words.items[0], &diag);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_group_convert = {
    .name = "group convert",
    .arguments = "JOB|TRACES",
    .summary = "Turn Chakra execution traces into a job, or a job into these",
    .details =
        "JOB ends in .csv (GROUP.md). TRACES is what stands before the number of the rank:\n"
        "NAME of NAME.0.et, NAME.1.et and so on (MLCommons Chakra, schema 0.0.4). What a job "
        "cannot\n"
        "hold is left out and counted on standard error.\n\n"
        "Examples:\n"
        "  vinci group convert traces/examples/data_parallel.job.csv --output=et/step\n"
        "  vinci group convert et/step -s atlas_a2_910b4 | vinci group run -\n"
        "  vinci group convert one_rank -n 64 --groups=groups.json -o step.job.csv\n",
    .options = {convert_options, sizeof convert_options / sizeof *convert_options},
    .run = run,
};
