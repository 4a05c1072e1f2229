/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of what users do, with cycle memory on a 910B4 (`make bench`): evaluations of a tuner, an
 * attention, the 54 layers of a ResNet-50 as a list. CPU seconds, processes included; the best of
 * several tries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/vinci_evaluate.h"
#include "core/vinci_study.h"

enum { TRIES = 3, EVALUATIONS = 500, JOBS = 2 };

static double used_seconds(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double cpu_seconds(void) {
  return used_seconds(RUSAGE_SELF) + used_seconds(RUSAGE_CHILDREN);
}

static void must(enum vinci_status status, const struct vinci_diag *diag) {
  if (status == VINCI_OK)
    return;
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

static void product(const vinci_soc *soc) {
  static const char *const args[] = {"m=256", "k=256", "n=256"};
  static struct vinci_evaluation list[EVALUATIONS];
  const struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = JOBS};
  struct vinci_diag diag = {0};
  for (unsigned i = 0; i < EVALUATIONS; i++)
    list[i] = (struct vinci_evaluation){.op = "matmul", .args = args, .arg_count = 3};
  must(vinci_evaluate(soc, list, EVALUATIONS, &options, &diag), &diag);
  for (unsigned i = 0; i < EVALUATIONS; i++)
    if (list[i].status != VINCI_OK || list[i].total_cycles != list[0].total_cycles)
      exit(EXIT_FAILURE);
}

static void attention(const vinci_soc *soc) {
  static const char *const args[] = {"heads=8", "seq_q=1024"};
  struct vinci_evaluation one = {.op = "flash_attention", .args = args, .arg_count = 2};
  const struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = 1};
  struct vinci_diag diag = {0};
  must(vinci_evaluate(soc, &one, 1, &options, &diag), &diag);
  if (one.status != VINCI_OK)
    exit(EXIT_FAILURE);
}

static const char *list_path;

static void list(const vinci_soc *soc) {
  const struct vinci_ops_options options = {
      .struct_size = sizeof options,
      .overrides = {.soc = vinci_soc_name(soc), .memory = "cycle"},
      .jobs = 1,
  };
  char folder[] = "/tmp/vinci-bench-XXXXXX", table[64];
  struct vinci_ops_result result;
  struct vinci_diag diag = {0};
  if (!mkdtemp(folder))
    exit(EXIT_FAILURE);
  must(vinci_ops_run(list_path, folder, &options, &result, &diag), &diag);
  snprintf(table, sizeof table, "%s/op_summary.csv", folder);
  if (unlink(table) != 0 || rmdir(folder) != 0 || result.ok != result.operators)
    exit(EXIT_FAILURE);
}

static double best_seconds(void (*work)(const vinci_soc *soc), const vinci_soc *soc) {
  double best = 1e9;
  for (unsigned i = 0; i < TRIES; i++) {
    double start = cpu_seconds();
    work(soc);
    double seconds = cpu_seconds() - start;
    best = seconds < best ? seconds : best;
  }
  return best;
}

static bool report(const char *what, double value, const char *unit, double target, bool met) {
  printf("%-52s %10.3f %-10s target %6.1f  %s\n", what, value, unit, target,
         met ? "met" : "MISSED");
  return met;
}

int main(int argc, char **argv) {
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  if (argc != 2) {
    fprintf(stderr, "usage: %s resnet50.csv\n", argv[0]);
    return 2;
  }
  list_path = argv[1];
  must(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), &diag);
  double rate = EVALUATIONS / best_seconds(product, soc);
  double attention_seconds = best_seconds(attention, soc), list_seconds = best_seconds(list, soc);
  bool met = report("evaluations of matmul 256x256x256", rate, "per CPU s", 500, rate >= 500);
  met &= report("flash attention, 8 heads x 1024", attention_seconds, "CPU s", 0.1,
                attention_seconds <= 0.1);
  met &= report("54 layers of ResNet-50, batch 1, as a list", list_seconds, "CPU s", 0.4,
                list_seconds <= 0.4);
  vinci_soc_free(soc);
  return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
