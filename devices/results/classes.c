/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of ranks, and what one rank of each does. */
#include "devices/results/classes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "devices/results/waits.h"

enum { US_DIGITS = 6 };
#define US(ps) decimal_exact(ps, US_DIGITS).text

static bool same(const struct group_job *job, const struct group_result *result, uint32_t a,
                 uint32_t b) {
  const struct group_rank_result *one = &result->ranks[a], *two = &result->ranks[b];
  return job->programs[a] == job->programs[b] && one->work_ps == two->work_ps &&
         one->comm_ps == two->comm_ps && one->exposed_ps == two->exposed_ps &&
         one->bubble_ps == two->bubble_ps && one->idle_ps == two->idle_ps &&
         one->slowed_ps == two->slowed_ps && one->end_ps == two->end_ps &&
         one->peak_bytes == two->peak_bytes && one->peak_ps == two->peak_ps;
}

bool job_classes_find(const struct group_job *job, const struct group_result *result,
                      struct job_classes *classes) {
  *classes = (struct job_classes){.of = calloc(job->ranks, sizeof *classes->of),
                                  .first = calloc(job->ranks, sizeof *classes->first)};
  if (!classes->of || !classes->first)
    return false;
  for (uint32_t rank = 0; rank < job->ranks; rank++) {
    uint32_t i = 0;
    while (i < classes->count && !same(job, result, classes->first[i], rank))
      i++;
    if (i == classes->count)
      classes->first[classes->count++] = rank;
    classes->of[rank] = i;
  }
  return true;
}

void job_classes_free(struct job_classes *classes) {
  free(classes->of);
  free(classes->first);
}

void job_classes_put_ranks(const struct job_classes *classes, uint32_t ranks, uint32_t class,
                           FILE *out) {
  const char *before = "";
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t last = rank;
    if (classes->of[rank] != class)
      continue;
    while (last + 1 < ranks && classes->of[last + 1] == class)
      last++;
    fprintf(out, last > rank ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32, before, rank, last);
    before = " ";
    rank = last;
  }
}

static void put_row(const struct job_classes *classes, const struct group_job *job,
                    const struct group_moment *moment, uint64_t wait_ps, FILE *out) {
  static const char *const kinds[] = {
      [GROUP_WORK] = "work", [GROUP_COLLECTIVE] = "collective", [GROUP_HOST] = "host"};
  bool collective = moment->op->kind == GROUP_COLLECTIVE;
  uint32_t class = classes->of[moment->rank];
  if (classes->first[class] != moment->rank)
    return;
  fprintf(out, "%" PRIu32 ",", class);
  job_classes_put_ranks(classes, job->ranks, class, out);
  fprintf(out, ",%" PRIu32 ",%s,", moment->stream, kinds[moment->op->kind]);
  cell_write(out, moment->op->name);
  fprintf(out, ",%" PRIu64 ",%s,%s,%s,%s\n", collective ? moment->op->call.bytes : 0,
          US(moment->start_ps), US(wait_ps), US(moment->end_ps - moment->start_ps),
          collective ? collective_op_name(moment->op->call.op) : "");
}

bool job_put_classes(const struct group_job *job, const struct group_result *result,
                     const struct job_moments *moments, FILE *out) {
  struct job_classes classes = {0};
  struct job_waits waits = {0};
  bool enough = job_waits_find(moments, &waits) && job_classes_find(job, result, &classes);
  fputs("class,ranks,stream,kind,name,bytes,start_us,wait_us,duration_us,op\n", out);
  for (size_t i = 0; enough && i < moments->count; i++)
    put_row(&classes, job, &moments->items[i], waits.last_ps[i] - moments->items[i].start_ps, out);
  job_classes_free(&classes);
  job_waits_free(&waits);
  return enough;
}
