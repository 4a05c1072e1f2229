/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of several devices: run here, or kept in a result folder of `vinci group run`. Both are
 * read from the same texts, summary.json and timeline.csv, so that a run and its folder are equal.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "devices/jobs/classes.h"
#include "studies/diff/diff.h"
#include "studies/job/point.h"

enum { PATH_SIZE = 4096, CELLS_MAX = 64, TEXT_BYTES_MAX = 1 << 30, SPAN_POINTS = 3 };
#define NO_CLASS UINT32_MAX

enum span_kind { SPAN_WORK, SPAN_COLLECTIVE, SPAN_HOST, SPAN_KINDS };

/* An operation of the first rank of a class. */
struct span {
  uint32_t class;
  enum span_kind kind;
  const char *name, *op;
  uint64_t bytes, start_ps, come_ps, end_ps; /* come: all ranks of the collective are there */
  size_t place;                              /* in the file */
  struct diff_collective *collective;
};

struct reading {
  struct vinci_diff *diff;
  struct diff_side *side;
  struct diff_job *job;
  struct span *spans; /* for free() */
  size_t count, capacity;
  uint64_t end_ps;
  bool *taken;    /* by class: its ranks are known */
  unsigned found; /* keys of the summary */
  bool short_of_memory;
};

/* ---- the summary ------------------------------------------------------------------------- */

static void visit_summary(void *context, const char *way, const char *text) {
  struct reading *reading = context;
  struct diff_job *job = reading->job;
  const char *dot = strrchr(way, '.');
  if (strcmp(way, "system") == 0) {
    reading->side->soc_name = arena_strdup(&reading->diff->arena, text);
    reading->short_of_memory |= !reading->side->soc_name;
    reading->found++;
  } else if (strcmp(way, "time_us") == 0) {
    reading->found += diff_list_us(text, &reading->end_ps);
  } else if (strcmp(way, "transfers") == 0) {
    reading->found += decimal_whole(text, &job->transfers);
  } else if (strcmp(way, "moved_bytes") == 0) {
    reading->found += decimal_whole(text, &job->moved_bytes);
  } else if (strncmp(way, "ranks.", 6) == 0 && dot && strcmp(dot, ".rank") == 0) {
    job->ranks++;
  }
}

static enum vinci_status read_summary(struct reading *reading, const char *path, char *text,
                                      size_t length, struct vinci_diag *diag) {
  enum { KEYS = 4 };
  struct diff_job *job = reading->job;
  enum vinci_status status = json_read(path, text, length, visit_summary, reading, diag);
  if (status == VINCI_OK && (reading->found != KEYS || job->ranks == 0))
    return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                         "is not a summary of 'vinci group run'");
  if (status != VINCI_OK)
    return status;
  reading->side->duration_ps = reading->end_ps;
  job->class_of = ARENA_ARRAY(&reading->diff->arena, uint32_t, job->ranks);
  reading->taken = ARENA_ARRAY(&reading->diff->arena, bool, job->ranks);
  if (!job->class_of || !reading->taken || reading->short_of_memory)
    return diff_no_memory(diag);
  for (uint32_t i = 0; i < job->ranks; i++) {
    job->class_of[i] = NO_CLASS;
    reading->taken[i] = false;
  }
  return VINCI_OK;
}

/* ---- the timeline ------------------------------------------------------------------------ */

enum { CLASS, RANKS, KIND, NAME, BYTES, START, WAIT, DURATION, OP, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "class", "ranks", "kind", "name", "bytes", "start_us", "wait_us", "duration_us", "op"};

/* "0-3 8": gives the ranks to a class. */
static bool take_ranks(struct diff_job *job, const char *text, uint32_t class) {
  while (*text) {
    uint64_t from, to;
    text = decimal_digits(text, &from);
    to = from;
    if (text && *text == '-')
      text = decimal_digits(text + 1, &to);
    if (!text || (*text && *text != ' ') || from > to || to >= job->ranks)
      return false;
    for (uint64_t i = from; i <= to; i++)
      job->class_of[i] = class;
    text += *text == ' ';
  }
  return true;
}

static bool find_kind(const char *text, enum span_kind *out) {
  static const char *const kinds[SPAN_KINDS] = {
      [SPAN_WORK] = "work", [SPAN_COLLECTIVE] = "collective", [SPAN_HOST] = "host"};
  for (unsigned i = 0; i < SPAN_KINDS; i++)
    if (strcmp(text, kinds[i]) == 0)
      return *out = (enum span_kind)i, true;
  return false;
}

/* A row whose cells are there; false when one of them is wrong. */
static bool read_span(struct reading *reading, char *const *cell, const size_t *index,
                      struct span *out) {
  struct diff_job *job = reading->job;
  uint64_t class, wait_ps, duration_ps;
  *out = (struct span){.place = reading->count};
  if (!decimal_whole(cell[index[CLASS]], &class) || class >= job->ranks ||
      !find_kind(cell[index[KIND]], &out->kind) ||
      !decimal_whole(cell[index[BYTES]], &out->bytes) ||
      !diff_list_us(cell[index[START]], &out->start_ps) ||
      !diff_list_us(cell[index[WAIT]], &wait_ps) ||
      !diff_list_us(cell[index[DURATION]], &duration_ps) ||
      __builtin_add_overflow(out->start_ps, duration_ps, &out->end_ps) || wait_ps > duration_ps ||
      out->end_ps > reading->end_ps)
    return false;
  out->class = (uint32_t) class;
  out->come_ps = out->start_ps + wait_ps;
  job->class_count = max_u64(job->class_count, class + 1);
  if (!reading->taken[class] && !take_ranks(job, cell[index[RANKS]], out->class))
    return false;
  reading->taken[class] = true;
  out->name = arena_strdup(&reading->diff->arena, cell[index[NAME]]);
  out->op = arena_strdup(&reading->diff->arena, cell[index[OP]]);
  reading->short_of_memory |= !out->name || !out->op;
  return true;
}

static bool make_room(struct reading *reading) {
  if (reading->count < reading->capacity)
    return true;
  size_t capacity = reading->capacity ? 2 * reading->capacity : 256;
  struct span *grown = realloc(reading->spans, capacity * sizeof *grown);
  if (!grown)
    return false;
  reading->spans = grown;
  reading->capacity = capacity;
  return true;
}

static enum vinci_status read_timeline(struct reading *reading, const char *path, FILE *in,
                                       struct vinci_diag *diag) {
  char *line = NULL, *cell[CELLS_MAX];
  size_t index[COLUMNS], room = 0, last = 0;
  struct diag_position position = {.path = path};
  enum vinci_status status = VINCI_OK;
  if (getline(&line, &room, in) <= 0 || !cells_find(line, column_names, COLUMNS, index)) {
    status = diag_error_at(diag, VINCI_E_INPUT, position,
                           "lacks one of the columns class, ranks, kind, name, bytes, start_us, "
                           "wait_us, duration_us, op");
    diag_hint(diag, "older versions wrote no op: 'vinci group run --output=DIR' writes it anew");
  }
  for (size_t i = 0; status == VINCI_OK && i < COLUMNS; i++)
    last = max_u64(last, index[i]);
  for (position.line = 2; status == VINCI_OK && getline(&line, &room, in) > 0; position.line++) {
    line[strcspn(line, "\r\n")] = '\0';
    size_t count = cells_split(line, cell, CELLS_MAX);
    if (!make_room(reading))
      status = diff_no_memory(diag);
    else if (count > CELLS_MAX || count <= last ||
             !read_span(reading, cell, index, &reading->spans[reading->count]))
      status = diag_error_at(diag, VINCI_E_INPUT, position,
                             "is not a row of 'vinci group run': cells are missing or wrong");
    else
      reading->count++;
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  if (status == VINCI_OK && reading->short_of_memory)
    status = diff_no_memory(diag);
  free(line);
  return status;
}

/* ---- what the time is made of ------------------------------------------------------------ */

static int compare_starts(const void *left, const void *right) {
  const struct span *a = left, *b = right;
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
  const struct span *spans[JOB_STREAMS_MAX];
  size_t count;
};

/* Gives the time from one point to the next to what runs then. */
static void give_time(struct diff_job_class *class, const struct active *active, uint64_t from_ps,
                      uint64_t to_ps, bool ended) {
  const struct span *first[SPAN_KINDS] = {NULL};
  for (size_t i = 0; i < active->count; i++) {
    const struct span **best = &first[active->spans[i]->kind];
    if (!*best || compare_starts(active->spans[i], *best) < 0)
      *best = active->spans[i];
  }
  const struct span *in = first[SPAN_COLLECTIVE];
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
static bool step_to(struct active *active, const struct span *spans, size_t count, size_t *next,
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
static bool share_time(struct diff_job_class *class, const struct span *spans, size_t count,
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
  const struct span *a = *(struct span *const *)left, *b = *(struct span *const *)right;
  int order = strcmp(a->name, b->name);
  order = order ? order : strcmp(a->op, b->op);
  return order ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Joins the collectives of a class that are alike. room: for pointers to all spans. */
static bool join_collectives(struct arena *arena, struct diff_job_class *class, struct span *spans,
                             size_t count, struct span **room) {
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

/* Classes are numbered by their first ranks, and the last of all is of ranks that do nothing. */
static enum vinci_status make_classes(struct reading *reading, const char *path,
                                      struct vinci_diag *diag) {
  struct diff_job *job = reading->job;
  size_t used = job->class_count, from = 0;
  uint64_t *points = calloc(SPAN_POINTS * reading->count + 2, sizeof *points);
  struct span **room = calloc(reading->count + 1, sizeof *room);
  bool fits = true;
  job->classes = ARENA_ARRAY(&reading->diff->arena, struct diff_job_class, used + 1);
  bool enough = points && room && job->classes;
  if (enough && reading->count > 0)
    qsort(reading->spans, reading->count, sizeof *reading->spans, compare_starts);
  for (size_t c = 0; enough && fits && c < used; c++) {
    struct span *spans = reading->spans + from;
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
      job->class_of[i] = job->class_of[i] == NO_CLASS ? (uint32_t)used : job->class_of[i];
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

/* ---- a result folder --------------------------------------------------------------------- */

static bool begin(struct vinci_diff *diff, struct diff_side *side, struct reading *reading) {
  side->job = ARENA_ARRAY(&diff->arena, struct diff_job, 1);
  if (side->job)
    *side->job = (struct diff_job){0};
  *reading = (struct reading){.diff = diff, .side = side, .job = side->job};
  return side->job != NULL;
}

enum vinci_status diff_job_read(struct vinci_diff *diff, enum explain_side which,
                                struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct reading reading;
  char path[PATH_SIZE];
  size_t length;
  if (!begin(diff, side, &reading))
    return diff_no_memory(diag);
  snprintf(path, sizeof path, "%s/summary.json", side->name);
  char *text = file_read(path, TEXT_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = read_summary(&reading, path, text, length, diag);
  free(text);
  snprintf(path, sizeof path, "%s/timeline.csv", side->name);
  FILE *in = status == VINCI_OK ? fopen(path, "r") : NULL;
  if (status == VINCI_OK && !in)
    status = file_error(diag, path, "open");
  if (status == VINCI_OK)
    status = read_timeline(&reading, path, in, diag);
  if (in)
    fclose(in);
  if (status == VINCI_OK)
    status = make_classes(&reading, path, diag);
  free(reading.spans);
  return status;
}

/* ---- a run ------------------------------------------------------------------------------- */

/* The texts that `vinci group run --output` writes, read as it would be from a folder. */
static enum vinci_status read_run(struct reading *reading, const struct job *job,
                                  const struct group_result *found,
                                  const struct job_moments *moments, struct vinci_diag *diag) {
  char *texts[2] = {NULL, NULL};
  size_t length = 0, rows_length = 0;
  FILE *summary = open_memstream(&texts[0], &length);
  FILE *rows = open_memstream(&texts[1], &rows_length);
  bool enough = summary && rows;
  if (enough) {
    job_put_summary(job, found, NULL, NULL, summary);
    enough = job_put_classes(&job->job, found, moments, rows);
  }
  enough = (summary && file_close_text(summary, &texts[0])) && enough;
  enough = (rows && file_close_text(rows, &texts[1])) && enough;
  enum vinci_status status = enough ? VINCI_OK : diff_no_memory(diag);
  if (status == VINCI_OK)
    status = read_summary(reading, job->path, texts[0], length, diag);
  FILE *in = status == VINCI_OK ? fmemopen(texts[1], rows_length, "r") : NULL;
  if (status == VINCI_OK)
    status = in ? read_timeline(reading, job->path, in, diag) : diff_no_memory(diag);
  if (in)
    fclose(in);
  free(texts[0]);
  free(texts[1]);
  return status == VINCI_OK ? make_classes(reading, job->path, diag) : status;
}

/* Those of the side, and the arguments that are numbers of system or chip. */
static enum vinci_status open_job(struct vinci_diff *diff, struct diff_side *side,
                                  struct job_point *point, struct chip_cache *chips,
                                  struct vinci_diag *diag) {
  const struct run_spec *spec = &side->spec;
  size_t count = spec->set_count;
  const char **sets =
      ARENA_ARRAY(&diff->arena, const char *, spec->set_count + point->arg_count + 1);
  if (!sets)
    return diff_no_memory(diag);
  if (count > 0)
    memcpy(sets, spec->sets, count * sizeof *sets);
  for (size_t i = 0; i < point->arg_count; i++)
    sets[count++] = point->args[i];
  return job_point_open(point, sets, count, chips, diag);
}

static enum vinci_status run_point(struct reading *reading, struct job_point *point,
                                   struct vinci_diag *diag) {
  struct job_moments moments = {0};
  const struct group_observer observer = {.context = &moments, .op_ended = job_keep_moment};
  struct vinci_run_options models = {.struct_size = sizeof models, .memory = VINCI_MEMORY_FLAT};
  struct arena arena = {0};
  struct group_result found;
  struct job job;
  enum vinci_status status = job_point_read(point, &job, diag);
  if (status != VINCI_OK)
    return status;
  status = workload_choose(&reading->side->spec.models, &models, diag);
  const struct job_kernel_options timed = {
      .soc = point->soc, .memory = models.memory, .detail = JOB_NO_RANK};
  if (status == VINCI_OK)
    status = job_point_run(point, &job, &timed, &observer, &arena, &found, diag);
  if (status == VINCI_OK && moments.short_of_memory)
    status = diff_no_memory(diag);
  if (status == VINCI_OK)
    status = read_run(reading, &job, &found, &moments, diag);
  free(moments.items);
  arena_free(&arena);
  job_free(&job);
  return status;
}

static enum vinci_status check_spec(const struct run_spec *spec, struct vinci_diag *diag) {
  const struct workload_models *models = &spec->models;
  if (spec->soc) {
    (void)diag_error(diag, VINCI_E_USAGE,
                     "a job runs on the chips of its system, not on one of --soc-version");
    diag_hint(diag, "--system chooses the system; 'vinci group show' lists them with their chips");
    return VINCI_E_USAGE;
  }
  if (models->network || models->l2 || models->code)
    return diag_error(diag, VINCI_E_USAGE, "a job takes memory alone, not network, l2 or code");
  return spec->max_cycles
             ? diag_error(diag, VINCI_E_USAGE, "a job of several devices has no limit of cycles")
             : VINCI_OK;
}

enum vinci_status diff_job_run(struct vinci_diff *diff, enum explain_side which,
                               struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct chip_cache chips = {.data = side->data};
  struct reading reading;
  struct job_point point = {0};
  enum vinci_status status = check_spec(&side->spec, diag);
  if (status == VINCI_OK &&
      (!begin(diff, side, &reading) || !job_point_begin(&point, &side->spec.workload, side->data)))
    status = diff_no_memory(diag);
  if (status == VINCI_OK)
    status = open_job(diff, side, &point, &chips, diag);
  if (status == VINCI_OK) {
    status = run_point(&reading, &point, diag);
    free(reading.spans);
  }
  job_point_free(&point);
  chip_cache_free(&chips);
  return status;
}
