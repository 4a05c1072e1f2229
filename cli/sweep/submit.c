/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study as Slurm jobs: a canary that runs one point, an array of shards after it, and a
 * collector after the array, however its tasks ended. Each shard is `vinci sweep run --shard`;
 * a point counts as done by its record alone, so submitting again runs what is missing.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/sweep/submit.h"
#include "core/base/diag.h"
#include "core/base/file.h"

enum { JOB_ID_MAX = 64 };

/* A word as the shell reads it back. */
static void put_word(FILE *out, const char *word) {
  fputs(" '", out);
  for (; *word; word++)
    if (*word == '\'')
      fputs("'\\''", out);
    else
      fputc(*word, out);
  fputc('\'', out);
}

static void put_option(FILE *out, const char *name, const char *value) {
  char text[PATH_MAX + 64];
  if (!value)
    return;
  snprintf(text, sizeof text, "--%s=%.4000s", name, value);
  put_word(out, text);
}

/* The command that runs a shard: the study as it was given here. */
static void put_study(const struct sweep_submit *submit, const char *program, FILE *out) {
  const struct vinci_sweep_options *options = submit->options;
  const struct vinci_overrides *overrides = &options->overrides;
  put_word(out, program);
  fputs(" sweep run", out);
  for (size_t i = 0; i < submit->arguments->count; i++)
    put_word(out, submit->arguments->items[i]);
  for (size_t i = 0; i < options->param_count; i++)
    put_option(out, "param", options->params[i]);
  for (size_t i = 0; i < overrides->set_count; i++)
    put_option(out, "set", overrides->sets[i]);
  put_option(out, "soc-version", overrides->soc);
  put_option(out, "data", overrides->data_dir);
  put_option(out, "memory", overrides->memory);
  put_option(out, "network", overrides->network);
  put_option(out, "l2", overrides->l2);
  put_option(out, "code", overrides->code);
  if (options->max_cycles)
    fprintf(out, " --max-cycles=%llu", (unsigned long long)options->max_cycles);
  put_option(out, "output", submit->folder);
  fprintf(out, " --quiet --jobs=%u", submit->jobs);
}

enum job { JOB_CANARY, JOB_SHARDS, JOB_COLLECT };
static const char *const job_names[] = {"canary", "shards", "collect"};

static enum vinci_status write_script(const struct sweep_submit *submit, enum job job,
                                      const char *program, char *path, size_t size,
                                      struct vinci_diag *diag) {
  snprintf(path, size, "%s/slurm/%s.sh", submit->folder, job_names[job]);
  FILE *out = fopen(path, "w");
  if (!out)
    return file_error(diag, path, "write");
  fputs("#!/bin/sh\nexec", out);
  if (job == JOB_COLLECT) {
    put_word(out, program);
    fputs(" sweep collect", out);
    put_word(out, submit->folder);
  } else {
    put_study(submit, program, out);
    if (job == JOB_CANARY)
      fprintf(out, " --shard=0/%u --limit=1", submit->shards);
    else
      fprintf(out, " --shard=\"$SLURM_ARRAY_TASK_ID\"/%u", submit->shards);
  }
  fputc('\n', out);
  if (fclose(out) != 0)
    return file_error(diag, path, "write");
  return VINCI_OK;
}

/* Runs sbatch, whose one line of output is the id of the job. */
static enum vinci_status call_sbatch(const char *command, char *id, struct vinci_diag *diag) {
  id[0] = '\0';
  FILE *in = popen(command, "r");
  if (!in)
    return diag_error(diag, diag_status_of(errno), "cannot start sbatch: %s", strerror(errno));
  bool got = fgets(id, JOB_ID_MAX, in) != NULL;
  int ended = pclose(in);
  id[strcspn(id, ";\n")] = '\0';
  if (got && id[0] && ended == 0)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_IO, "sbatch failed (exit code %d)",
                   WIFEXITED(ended) ? WEXITSTATUS(ended) : -1);
  diag_hint(diag, "is this a host of a Slurm cluster? the scripts are kept in DIR/slurm");
  return VINCI_E_IO;
}

/* `after` is the job this one waits for, NULL: none. */
static enum vinci_status submit_job(const struct sweep_submit *submit, enum job job,
                                    const char *program, const char *after, char *id,
                                    struct vinci_diag *diag) {
  char script[PATH_MAX], *command = NULL;
  size_t length;
  enum vinci_status status = write_script(submit, job, program, script, sizeof script, diag);
  FILE *out = status == VINCI_OK ? open_memstream(&command, &length) : NULL;
  if (status == VINCI_OK && !out)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (!out)
    return status;
  fprintf(out, "sbatch --parsable --job-name=vinci-%s", job_names[job]);
  for (size_t i = 0; i < submit->sbatch->count; i++)
    put_word(out, submit->sbatch->items[i]);
  char log[PATH_MAX];
  snprintf(log, sizeof log, "--output=%.3900s/slurm/%s-%%j.log", submit->folder, job_names[job]);
  put_word(out, log);
  if (job == JOB_SHARDS) {
    fprintf(out, " --array=0-%u", submit->shards - 1);
    if (submit->at_once)
      fprintf(out, "%%%u", submit->at_once);
  }
  if (after) /* shards wait for a canary that lives; the collector for the end of whatever was */
    fprintf(out,
            job == JOB_SHARDS ? " --kill-on-invalid-dep=yes --dependency=afterok:%s"
                              : " --dependency=afterany:%s",
            after);
  put_word(out, script);
  if (!file_close_text(out, &command))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  status = call_sbatch(command, id, diag);
  free(command);
  return status;
}

enum answer { ANSWER_ENDED, ANSWER_QUEUED, ANSWER_NONE, ANSWER_NO_PROGRAM };

static enum answer ask_queue(const char *id) {
  char line[JOB_ID_MAX];
  bool found = false;
  FILE *in = popen("squeue --noheader --format=%A 2>/dev/null", "r");
  if (!in)
    return ANSWER_NONE;
  while (fgets(line, sizeof line, in)) {
    line[strcspn(line, " \n")] = '\0';
    found |= strcmp(line, id) == 0;
  }
  int ended = pclose(in);
  if (ended == 0)
    return found ? ANSWER_QUEUED : ANSWER_ENDED;
  enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 }; /* says the shell */
  bool runs = !WIFEXITED(ended) ||
              (WEXITSTATUS(ended) != NOT_FOUND && WEXITSTATUS(ended) != NOT_EXECUTABLE);
  return runs ? ANSWER_NONE : ANSWER_NO_PROGRAM;
}

/*
 * By asking: sbatch --wait may take half a minute to see that a job has ended. A controller that
 * does not answer may be back soon, so that it is asked for some minutes more.
 */
static enum vinci_status wait_for_job(const char *id, const char *folder, struct vinci_diag *diag) {
  enum { FIRST_MS = 250, LONGEST_MS = 8000, MS = 1000, NS_PER_MS = 1000000, FAILURES_MAX = 40 };
  unsigned failures = 0;
  long ms = FIRST_MS;
  for (enum answer answer; (answer = ask_queue(id)) != ANSWER_ENDED;) {
    failures = answer == ANSWER_QUEUED ? 0 : failures + 1;
    if (answer == ANSWER_NO_PROGRAM || failures == FAILURES_MAX) {
      (void)(answer == ANSWER_NO_PROGRAM
                 ? diag_error(diag, VINCI_E_IO, "cannot wait for job %s: squeue cannot be run", id)
                 : diag_error(diag, VINCI_E_IO,
                              "cannot wait for job %s: squeue failed %u times in a row", id,
                              failures));
      diag_hint(diag, "the jobs go on; 'vinci sweep status %s' shows how far they are", folder);
      return VINCI_E_IO;
    }
    nanosleep(&(struct timespec){.tv_sec = ms / MS, .tv_nsec = ms % MS * NS_PER_MS}, NULL);
    ms = ms < LONGEST_MS / 2 ? ms + ms / 4 : LONGEST_MS;
  }
  return VINCI_OK;
}

enum vinci_status sweep_submit_slurm(const struct sweep_submit *submit, struct vinci_diag *diag) {
  char program[PATH_MAX], folder[PATH_MAX];
  char canary[JOB_ID_MAX], shards[JOB_ID_MAX], collect[JOB_ID_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0)
    return file_error(diag, "/proc/self/exe", "read");
  program[length] = '\0';
  snprintf(folder, sizeof folder, "%s/slurm", submit->folder);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return file_error(diag, folder, "make the folder");
  enum vinci_status status = submit_job(submit, JOB_CANARY, program, NULL, canary, diag);
  if (status == VINCI_OK)
    status = submit_job(submit, JOB_SHARDS, program, canary, shards, diag);
  if (status == VINCI_OK) {
    if (!submit->quiet)
      printf("canary %s, %u shards %s, collector after them\n", canary, submit->shards, shards);
    fflush(stdout);
    status = submit_job(submit, JOB_COLLECT, program, shards, collect, diag);
  }
  if (status == VINCI_OK && submit->wait)
    status = wait_for_job(collect, submit->folder, diag);
  return status;
}
