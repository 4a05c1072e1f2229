/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of each class of a job is made of, and its collectives, from its operations. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "devices/jobs/job.h"
#include "studies/diff/job.h"

enum { SPAN_POINTS = 3 };

/* ---- what the time is made of ------------------------------------------------------------ */

static int compare_starts(const void *left, const void *right) {
  const struct job_span *a = left, *b = right;
  if (a->class != b->class)
    return a->class < b->class ? -1 : 1;
  if (a->start_ps != b->start_ps)
    return a->start_ps < b->start_ps ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static int compare_times(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* What runs at a time: of each stream one at most. */
struct active {
  const struct job_span *spans[JOB_STREAMS_MAX];
  size_t count;
};

/* Gives the time from one point to the next to what runs then. */
static void give_time(struct diff_job_class *class, const struct active *active, uint64_t from_ps,
                      uint64_t to_ps, bool ended) {
  const struct job_span *first[SPAN_KINDS] = {NULL};
  for (size_t i = 0; i < active->count; i++) {
    const struct job_span **best = &first[active->spans[i]->kind];
    if (!*best || compare_starts(active->spans[i], *best) < 0)
      *best = active->spans[i];
  }
  const struct job_span *in = first[SPAN_COLLECTIVE];
  enum diff_job_part part = first[SPAN_WORK] ? DIFF_JOB_COMPUTING
                            : in ? in->come_ps > from_ps ? DIFF_JOB_WAITING : DIFF_JOB_MOVING
                            : first[SPAN_HOST] ? DIFF_JOB_HOST
                            : ended            ? DIFF_JOB_ENDED
                                               : DIFF_JOB_EVENTS;
  class->part_ps[part] += to_ps - from_ps;
  if (in && !first[SPAN_WORK])
    in->collective->exposed_ps += to_ps - from_ps;
}

/* Takes what begins until a time to what runs, and what has ended away. False: more at a time than
 * a rank has streams. */
static bool step_to(struct active *active, const struct job_span *spans, size_t count, size_t *next,
                    uint64_t now_ps) {
  size_t kept = 0;
  for (size_t i = 0; i < active->count; i++)
    if (active->spans[i]->end_ps > now_ps)
      active->spans[kept++] = active->spans[i];
  active->count = kept;
  for (; *next < count && spans[*next].start_ps <= now_ps; (*next)++) {
    if (spans[*next].end_ps <= now_ps)
      continue;
    if (active->count == JOB_STREAMS_MAX)
      return false;
    active->spans[active->count++] = &spans[*next];
  }
  return true;
}

/* points: room for SPAN_POINTS times of each span and two more. */
static bool share_time(struct diff_job_class *class, const struct job_span *spans, size_t count,
                       uint64_t end_ps, uint64_t *points) {
  struct active active = {.count = 0};
  size_t n = 0, next = 0;
  uint64_t last_ps = 0;
  points[n++] = 0;
  points[n++] = end_ps;
  for (size_t i = 0; i < count; i++) {
    points[n++] = spans[i].start_ps;
    points[n++] = spans[i].come_ps;
    points[n++] = spans[i].end_ps;
    last_ps = max_u64(last_ps, spans[i].end_ps);
  }
  qsort(points, n, sizeof *points, compare_times);
  for (size_t i = 0; i + 1 < n; i++) {
    if (points[i] == points[i + 1])
      continue;
    if (!step_to(&active, spans, count, &next, points[i]))
      return false;
    give_time(class, &active, points[i], points[i + 1], points[i] >= last_ps);
  }
  return true;
}

/* ---- collectives ------------------------------------------------------------------------- */

static int compare_collectives(const void *left, const void *right) {
  const struct job_span *a = *(struct job_span *const *)left, *b = *(struct job_span *const *)right;
  int order = strcmp(a->name, b->name);
  order = order ? order : strcmp(a->op, b->op);
  return order ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Joins the collectives of a class that are alike. room: for pointers to all spans. */
static bool join_collectives(struct arena *arena, struct diff_job_class *class,
                             struct job_span *spans, size_t count, struct job_span **room) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    if (spans[i].kind == SPAN_COLLECTIVE)
      room[n++] = &spans[i];
  qsort(room, n, sizeof *room, compare_collectives);
  class->collectives = ARENA_ARRAY(arena, struct diff_collective, n + 1);
  for (size_t i = 0; class->collectives && i < n; i++) {
    if (i == 0 || compare_collectives(&room[i - 1], &room[i]) != 0)
      class->collectives[class->collective_count++] = (struct diff_collective){
          .name = room[i]->name, .op = room[i]->op, .bytes = room[i]->bytes};
    struct diff_collective *one = &class->collectives[class->collective_count - 1];
    one->count++;
    one->time_ps += room[i]->end_ps - room[i]->start_ps;
    room[i]->collective = one;
  }
  return class->collectives != NULL;
}

enum vinci_status diff_job_share(struct job_reading *reading, const char *path,
                                 struct vinci_diag *diag) {
  struct diff_job *job = reading->job;
  size_t used = job->class_count, from = 0;
  uint64_t *points = calloc(SPAN_POINTS * reading->count + 2, sizeof *points);
  struct job_span **room = calloc(reading->count + 1, sizeof *room);
  bool fits = true;
  job->classes = ARENA_ARRAY(&reading->diff->arena, struct diff_job_class, used + 1);
  bool enough = points && room && job->classes;
  if (enough && reading->count > 0)
    qsort(reading->spans, reading->count, sizeof *reading->spans, compare_starts);
  for (size_t c = 0; enough && fits && c < used; c++) {
    struct job_span *spans = reading->spans + from;
    size_t count = 0;
    while (from + count < reading->count && spans[count].class == c)
      count++;
    job->classes[c] = (struct diff_job_class){0};
    enough = join_collectives(&reading->diff->arena, &job->classes[c], spans, count, room);
    fits = !enough || share_time(&job->classes[c], spans, count, reading->end_ps, points);
    from += count;
  }
  if (enough) {
    job->classes[used] = (struct diff_job_class){.part_ps[DIFF_JOB_ENDED] = reading->end_ps};
    job->class_count = used + 1;
    for (uint32_t i = 0; i < job->ranks; i++)
      job->class_of[i] = job->class_of[i] == DIFF_JOB_NO_CLASS ? (uint32_t)used : job->class_of[i];
  }
  free(points);
  free(room);
  if (!enough)
    return diff_no_memory(diag);
  return fits ? VINCI_OK
              : diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                              "has more operations of a rank at a time than the %d streams of a "
                              "rank",
                              JOB_STREAMS_MAX);
}
