/* SPDX-License-Identifier: Apache-2.0 */
/* What is told when a program ends: its kernels, copies and simulated time. */
#include <stdlib.h>
#include <string.h>

#include "acl/runtime.h"
#include "core/base/cells.h"
#include "core/check/check.h"

#define PS_PER_US 1e6

/* Tasks of one name together. */
struct sum {
  const struct acl_task *first;
  uint64_t count, duration_ps, bytes;
  bool waits_left_out;
  struct program_scalar unchecked;
};

static bool is_same(const struct acl_task *a, const struct acl_task *b) {
  return a->kind == b->kind && a->blocks == b->blocks && strcmp(a->name, b->name) == 0;
}

static size_t sum_tasks(struct sum *sums) {
  size_t count = 0;
  for (size_t i = 0; i < acl_runtime.task_count; i++) {
    const struct acl_task *task = &acl_runtime.tasks[i];
    size_t at = 0;
    while (at < count && !is_same(sums[at].first, task))
      at++;
    if (at == count)
      sums[count++] = (struct sum){.first = task};
    sums[at].count++;
    sums[at].duration_ps += task->end_ps - task->start_ps;
    sums[at].bytes += task->bytes;
    sums[at].waits_left_out |= task->waits_left_out;
    sums[at].unchecked.uncounted |= task->unchecked.uncounted;
    sums[at].unchecked.gm += task->unchecked.checked ? 0 : task->unchecked.gm;
    sums[at].unchecked.ub += task->unchecked.checked ? 0 : task->unchecked.ub;
  }
  return count;
}

static uint64_t end_of_all(void) {
  uint64_t end = acl_runtime.host_ps;
  for (size_t i = 0; i < acl_runtime.task_count; i++)
    end = acl_runtime.tasks[i].end_ps > end ? acl_runtime.tasks[i].end_ps : end;
  return end;
}

static void print_sums(const struct sum *sums, size_t count) {
  fprintf(stderr, "%-32s %7s %9s %12s %12s  %s\n", "task", "blocks", "times", "total us", "mean us",
          "bound, bytes");
  for (size_t i = 0; i < count; i++) {
    const struct sum *sum = &sums[i];
    double us = (double)sum->duration_ps / PS_PER_US;
    if (sum->first->kind == ACL_TASK_KERNEL)
      fprintf(stderr, "%-32s %7u %9llu %12.3f %12.3f  %s\n", sum->first->name, sum->first->blocks,
              (unsigned long long)sum->count, us, us / (double)sum->count, sum->first->bound);
    else
      fprintf(stderr, "%-32s %7s %9llu %12.3f %12.3f  %llu bytes\n", sum->first->name, "",
              (unsigned long long)sum->count, us, us / (double)sum->count,
              (unsigned long long)sum->bytes);
  }
}

/* Of which kernels the time is not whole. */
static void print_waits(const struct sum *sums, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (sums[i].waits_left_out)
      fprintf(stderr,
              "vinci: warning: scalar code of %s waits for other cores through memory (dcci); the "
              "time of these waits is left out\n",
              sums[i].first->name);
}

/* What the checks of the kernels stand not for. */
static void print_unchecked(const struct sum *sums, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char text[PROGRAM_SCALAR_BYTES];
    program_scalar_text(&sums[i].unchecked, sums[i].first->name, text, sizeof text);
    if (*text)
      fprintf(stderr, "vinci: checks of %s: %s\n", sums[i].first->name, text);
  }
  char left_out[128];
  check_names_not_run(acl_runtime.checks, "vinci: checks not run: ", left_out, sizeof left_out);
  if (*left_out)
    fprintf(stderr, "%s\n", left_out);
}

/* OUTPUT/tasks.csv: a row each, in the order of the program. */
static void write_tasks(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/tasks.csv", acl_runtime.output);
  FILE *out = fopen(path, "w");
  if (!out) {
    fprintf(stderr, "vinci: cannot write %s\n", path);
    return;
  }
  fputs("Task,Stream Id,Task Type,Block Dim,Bytes,Start(us),Duration(us)\n", out);
  for (size_t i = 0; i < acl_runtime.task_count; i++) {
    const struct acl_task *task = &acl_runtime.tasks[i];
    cell_write_quoted(out, task->name);
    fprintf(out, ",%u,%s,%u,%llu,%.6f,%.6f\n", task->stream,
            task->kind == ACL_TASK_KERNEL ? "KERNEL" : "MEMCPY", task->blocks,
            (unsigned long long)task->bytes, (double)task->start_ps / PS_PER_US,
            (double)(task->end_ps - task->start_ps) / PS_PER_US);
  }
  fclose(out);
}

void acl_report(void) {
  struct sum *sums = calloc(acl_runtime.task_count + 1, sizeof *sums);
  if (acl_runtime.output)
    write_tasks();
  size_t count = sums && !acl_runtime.silent ? sum_tasks(sums) : 0;
  if (count > 0 && acl_runtime.timed) {
    fprintf(stderr, "vinci: %s, %.3f us simulated, calls of the host included\n",
            vinci_soc_name(acl_runtime.soc), (double)end_of_all() / PS_PER_US);
    print_sums(sums, count);
    print_waits(sums, count);
  }
  if (count > 0 && acl_runtime.checks)
    print_unchecked(sums, count);
  free(sums);
}
