/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of operators from shape to result: square matrix products in fp16 on the 24 cores of a
 * 910B1, each lowered and run in a process of its own. Besides the targets, how the time with cycle
 * memory grows: least squares, of relative errors, of seconds = a x lines asked of L2 + b x lines
 * moved to and from device memory. Instructions grow with the former.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/result/result.h"

struct size {
  unsigned side;
  unsigned tries;
  double target_seconds; /* 0: none */
};

/* 4096 x 4096 x 4096 takes the vendor's simulator about 1500 s. */
static const struct size sizes[] = {
    {512, 5, 0.02}, {1024, 5, 0}, {2048, 3, 0.08}, {4096, 2, 0.5}, {8192, 1, 4}};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };
static const double mebibytes_target = 128, lowering_target = 2e6;

/* What one process measured. */
struct measured {
  double lower_seconds, flat_seconds, cycle_seconds;
  double mebibytes;
  double instructions;
  double lines;        /* of 128 bytes, asked of L2 */
  double device_lines; /* moved to and from device memory */
};

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(enum vinci_status status, const struct vinci_diag *diag) {
  if (status == VINCI_OK)
    return;
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

/* CPU seconds of a run; its result's counts. */
static double run(const vinci_soc *soc, const vinci_trace *trace, enum vinci_memory memory,
                  struct measured *measured) {
  struct vinci_diag diag = {0};
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  vinci_result *result;
  double start = cpu_seconds();
  must(vinci_run(soc, trace, &options, &result, &diag), &diag);
  double seconds = cpu_seconds() - start;
  measured->instructions = (double)result->executed_instructions;
  struct hits l2 = l2_hits(&result->l2, L2_ALL);
  measured->lines = (double)(l2.hits + l2.misses);
  measured->device_lines = (double)hbm_bytes(&result->hbm) / L2_GRANULE_BYTES;
  vinci_result_free(result);
  return seconds;
}

static struct measured measure(unsigned side) {
  struct measured measured = {0};
  struct vinci_diag diag = {0};
  struct rusage usage;
  char text[3][16];
  const char *const args[] = {text[0], text[1], text[2], "dtype=fp16"};
  for (unsigned i = 0; i < 3; i++)
    snprintf(text[i], sizeof text[i], "%c=%u", "kmn"[i], side);
  vinci_soc *soc;
  vinci_trace *trace;
  must(vinci_soc_load("Ascend910B1", NULL, &soc, &diag), &diag);
  double start = cpu_seconds();
  must(vinci_compile(soc, "matmul", args, sizeof args / sizeof *args, &trace, &diag), &diag);
  measured.lower_seconds = cpu_seconds() - start;
  measured.flat_seconds = run(soc, trace, VINCI_MEMORY_FLAT, &measured);
  measured.cycle_seconds = run(soc, trace, VINCI_MEMORY_CYCLE, &measured);
  getrusage(RUSAGE_SELF, &usage);
  measured.mebibytes = (double)usage.ru_maxrss / 1024;
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return measured;
}

/* In a process of its own, so that memory is that of one product. */
static struct measured measure_apart(unsigned side) {
  struct measured measured;
  int channel[2], status;
  if (pipe(channel) != 0)
    abort();
  pid_t child = fork();
  if (child == 0) {
    measured = measure(side);
    _exit(write(channel[1], &measured, sizeof measured) == sizeof measured ? 0 : 1);
  }
  close(channel[1]);
  if (child < 0 || read(channel[0], &measured, sizeof measured) != sizeof measured)
    exit(EXIT_FAILURE);
  close(channel[0]);
  waitpid(child, &status, 0);
  return measured;
}

static double least(double a, double b) { return a < b ? a : b; }

static struct measured best_of(const struct size *size) {
  struct measured best = measure_apart(size->side);
  for (unsigned i = 1; i < size->tries; i++) {
    struct measured other = measure_apart(size->side);
    best.lower_seconds = least(best.lower_seconds, other.lower_seconds);
    best.flat_seconds = least(best.flat_seconds, other.flat_seconds);
    best.cycle_seconds = least(best.cycle_seconds, other.cycle_seconds);
  }
  return best;
}

/* Weights of both kinds of lines that make the relative errors small; none below 0. */
static void fit(const struct measured *rows, double weights[2]) {
  double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    double x = rows[i].lines / rows[i].cycle_seconds;
    double y = rows[i].device_lines / rows[i].cycle_seconds;
    xx += x * x;
    xy += x * y;
    yy += y * y;
    x1 += x;
    y1 += y;
  }
  double determinant = xx * yy - xy * xy;
  weights[0] = (x1 * yy - y1 * xy) / determinant;
  weights[1] = (y1 * xx - x1 * xy) / determinant;
  if (weights[0] < 0 || weights[1] < 0) {
    weights[0] = weights[1] < 0 ? x1 / xx : 0;
    weights[1] = weights[1] < 0 ? 0 : y1 / yy;
  }
}

int main(void) {
  struct measured rows[SIZE_COUNT];
  double weights[2];
  bool all_met = true;
  for (unsigned i = 0; i < SIZE_COUNT; i++)
    rows[i] = best_of(&sizes[i]);
  fit(rows, weights);
  printf("matmul fp16, 910B1: CPU s\n%6s %8s %8s %8s %7s %7s %6s %9s %9s %9s %6s\n", "side",
         "lower", "flat", "cycle", "target", "", "MiB", "k instr", "k lines", "k device", "of fit");
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    const struct measured *row = &rows[i];
    double expected = weights[0] * row->lines + weights[1] * row->device_lines;
    bool met = sizes[i].target_seconds == 0 || row->cycle_seconds <= sizes[i].target_seconds;
    all_met = all_met && met && row->mebibytes <= mebibytes_target;
    printf("%6u %8.4f %8.4f %8.4f %7.2f %7s %6.1f %9.0f %9.0f %9.0f %6.2f\n", sizes[i].side,
           row->lower_seconds, row->flat_seconds, row->cycle_seconds, sizes[i].target_seconds,
           sizes[i].target_seconds == 0 ? "-"
           : met                        ? "met"
                                        : "MISSED",
           row->mebibytes, row->instructions / 1e3, row->lines / 1e3, row->device_lines / 1e3,
           row->cycle_seconds / expected);
  }
  const struct measured *largest = &rows[SIZE_COUNT - 1];
  double lowering = largest->instructions / largest->lower_seconds;
  printf("fit: %.3f us a line of L2, %.3f us a line of device memory\n", weights[0] * 1e6,
         weights[1] * 1e6);
  printf("lowering: %.0f M executed instructions described per CPU s, target %.0f: %s\n",
         lowering / 1e6, lowering_target / 1e6, lowering >= lowering_target ? "met" : "MISSED");
  return all_met && lowering >= lowering_target ? EXIT_SUCCESS : EXIT_FAILURE;
}
