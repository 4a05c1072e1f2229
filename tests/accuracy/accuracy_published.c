/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, published samples: kernels of the vendor's performance samples as traces, with
 * the durations that their READMEs state for a 910B1 (tests/reference/samples/index.csv), and the
 * lessons that they teach: by how much a change makes a kernel faster or slower.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/result/result.h"
#include "tests/accuracy/accuracy_exceptions.h"

enum { SAMPLES_MAX = 64, NAME_BYTES = 64, LINE_BYTES = 512 };

static const char program[] = "accuracy_published";
static const double mean_limit = 0.08, worst_limit = 0.20, lesson_limit = 0.10;

struct sample {
  char name[NAME_BYTES], soc[NAME_BYTES];
  double measured, flat, cycle; /* us */
};

static const struct {
  const char *before, *after, *what;
} lessons[] = {
    {"addhp_c1", "addhp_c2", "48 cores instead of one"},
    {"addhp_c2", "addhp_c4", "copies of 32 instead of 8 KiB, two buffers"},
    {"addhp_c4", "addhp_c5", "results past L2"},
    {"addhp_c5", "addhp_c6", "operands in different banks of UB"},
    {"dcub_1", "dcub_2", "64 bursts of 128 bytes in a copy instead of one"},
    {"dcub_2", "dcub_3", "bursts of 2 KiB instead of 128 bytes"},
    {"dcub_3", "dcub_4", "rows that are not aligned to 512 bytes"},
    {"dcub_7", "dcub_8", "an offset per core instead of the same rows at the same time"},
    {"dcl1_1", "dcl1_2", "64x256 instead of 64x64 points in a copy with ND to NZ"},
    {"dcl1_4", "dcl1_5", "quarters that fit L2 instead of the whole, four times"},
};

static const char *top(void) {
  const char *folder = getenv("TESTS_SRCDIR");
  return folder ? folder : ".";
}

static void give_up(const struct vinci_diag *diag) {
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

static size_t read_index(struct sample *samples) {
  char path[4096], line[LINE_BYTES];
  size_t count = 0;
  snprintf(path, sizeof path, "%s/tests/reference/samples/index.csv", top());
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  while (count < SAMPLES_MAX && fgets(line, sizeof line, file)) {
    struct sample *sample = &samples[count];
    if (sscanf(line, "%63[^.].csv,%63[^,],%lf", sample->name, sample->soc, &sample->measured) == 3)
      count++;
  }
  fclose(file);
  return count;
}

static double simulate(const struct sample *sample, enum vinci_memory memory) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/reference/samples/%s.csv", top(), sample->name);
  if (vinci_soc_load(sample->soc, NULL, &soc, &diag) != VINCI_OK ||
      vinci_trace_load(path, soc, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
    give_up(&diag);
  double us = (double)result->total_ps * 1e-6;
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return us;
}

/* ---- verdicts ---- */

static unsigned judge(const char *what, double error, double limit) {
  enum accuracy_verdict verdict = accuracy_judge(program, what, fabs(error), limit);
  printf("  within %2.0f %%: %s\n", 100 * limit, fabs(error) <= limit ? "yes" : "NO");
  return verdict == ACCURACY_MISSED;
}

static unsigned print_samples(const struct sample *samples, size_t count) {
  unsigned missed = 0;
  double sum = 0, worst = 0;
  printf("Published samples (tests/reference/samples; us)\n%-12s %10s %22s %22s\n", "sample",
         "measured", "cycle memory", "flat memory");
  for (size_t i = 0; i < count; i++) {
    const struct sample *sample = &samples[i];
    double error = sample->cycle / sample->measured - 1;
    printf("%-12s %10.2f %12.2f %+7.1f %% %12.2f %+7.1f %%", sample->name, sample->measured,
           sample->cycle, 100 * error, sample->flat, 100 * (sample->flat / sample->measured - 1));
    missed += judge(sample->name, error, worst_limit);
    sum += fabs(error);
    worst = fmax(worst, fabs(error));
  }
  printf("cycle memory: mean %.1f %%, worst %.1f %%; mean", 100 * sum / (double)count, 100 * worst);
  return missed + judge("mean", sum / (double)count, mean_limit);
}

static const struct sample *find(const struct sample *samples, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(samples[i].name, name) == 0)
      return &samples[i];
  fprintf(stderr, "error: no sample is called %s\n", name);
  exit(EXIT_FAILURE);
}

static unsigned print_lessons(const struct sample *samples, size_t count) {
  unsigned missed = 0;
  printf("Lessons (duration after over before, cycle memory)\n%-20s %9s %9s\n", "change",
         "measured", "simulated");
  for (size_t i = 0; i < sizeof lessons / sizeof *lessons; i++) {
    const struct sample *before = find(samples, count, lessons[i].before);
    const struct sample *after = find(samples, count, lessons[i].after);
    double measured = after->measured / before->measured, model = after->cycle / before->cycle;
    char name[2 * NAME_BYTES];
    snprintf(name, sizeof name, "%s to %s", lessons[i].before, lessons[i].after);
    printf("%-20s %9.3f %9.3f %+7.1f %%  %-60s", name, measured, model,
           100 * (model / measured - 1), lessons[i].what);
    missed += judge(name, model / measured - 1, lesson_limit);
  }
  return missed;
}

int main(void) {
  static struct sample samples[SAMPLES_MAX];
  size_t count = read_index(samples);
  for (size_t i = 0; i < count; i++) {
    samples[i].cycle = simulate(&samples[i], VINCI_MEMORY_CYCLE);
    samples[i].flat = simulate(&samples[i], VINCI_MEMORY_FLAT);
  }
  unsigned missed = print_samples(samples, count);
  missed += print_lessons(samples, count);
  missed += !accuracy_exceptions_hold(program);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
