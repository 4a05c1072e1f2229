/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of several devices: run here, or kept in a result folder of `vinci group run`, of which
 * summary.json and timeline.csv are read. Either way the same operations of the first ranks of
 * classes are shared out, so that a run and its folder are equal.
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
#include "devices/results/classes.h"
#include "devices/results/waits.h"
#include "studies/diff/job.h"
#include "studies/job/point.h"

enum { PATH_SIZE = 4096, CELLS_MAX = 64, TEXT_BYTES_MAX = 1 << 30 };

/* ---- the summary ------------------------------------------------------------------------- */

static void visit_summary(void *context, const char *way, const char *text) {
  struct job_reading *reading = context;
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

/* The number of ranks is known: none has a class yet. */
static enum vinci_status begin_ranks(struct job_reading *reading, struct vinci_diag *diag) {
  struct diff_job *job = reading->job;
  reading->side->duration_ps = reading->end_ps;
  job->class_of = ARENA_ARRAY(&reading->diff->arena, uint32_t, job->ranks);
  reading->taken = ARENA_ARRAY(&reading->diff->arena, bool, job->ranks);
  if (!job->class_of || !reading->taken || reading->short_of_memory)
    return diff_no_memory(diag);
  for (uint32_t i = 0; i < job->ranks; i++) {
    job->class_of[i] = DIFF_JOB_NO_CLASS;
    reading->taken[i] = false;
  }
  return VINCI_OK;
}

static enum vinci_status read_summary(struct job_reading *reading, const char *path, char *text,
                                      size_t length, struct vinci_diag *diag) {
  enum { KEYS = 4 };
  enum vinci_status status = json_read(path, text, length, visit_summary, reading, diag);
  if (status == VINCI_OK && (reading->found != KEYS || reading->job->ranks == 0))
    return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                         "is not a summary of 'vinci group run'");
  if (status != VINCI_OK)
    return status;
  return begin_ranks(reading, diag);
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

static bool find_kind(const char *text, enum job_span_kind *out) {
  static const char *const kinds[SPAN_KINDS] = {
      [SPAN_WORK] = "work", [SPAN_COLLECTIVE] = "collective", [SPAN_HOST] = "host"};
  for (unsigned i = 0; i < SPAN_KINDS; i++)
    if (strcmp(text, kinds[i]) == 0)
      return *out = (enum job_span_kind)i, true;
  return false;
}

/* A row whose cells are there; false when one of them is wrong. */
static bool read_span(struct job_reading *reading, char *const *cell, const size_t *index,
                      struct job_span *out) {
  struct diff_job *job = reading->job;
  uint64_t class, wait_ps, duration_ps;
  *out = (struct job_span){.place = reading->count};
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

static bool make_room(struct job_reading *reading) {
  if (reading->count < reading->capacity)
    return true;
  size_t capacity = reading->capacity ? 2 * reading->capacity : 256;
  struct job_span *grown = realloc(reading->spans, capacity * sizeof *grown);
  if (!grown)
    return false;
  reading->spans = grown;
  reading->capacity = capacity;
  return true;
}

static enum vinci_status read_timeline(struct job_reading *reading, const char *path, FILE *in,
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

/* ---- a result folder --------------------------------------------------------------------- */

static bool begin(struct vinci_diff *diff, struct diff_side *side, struct job_reading *reading) {
  side->job = ARENA_ARRAY(&diff->arena, struct diff_job, 1);
  if (side->job)
    *side->job = (struct diff_job){0};
  *reading = (struct job_reading){.diff = diff, .side = side, .job = side->job};
  return side->job != NULL;
}

enum vinci_status diff_job_read(struct vinci_diff *diff, enum explain_side which,
                                struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct job_reading reading;
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
    status = diff_job_share(&reading, path, diag);
  free(reading.spans);
  return status;
}

/* ---- a run ------------------------------------------------------------------------------- */

/* An operation as a row of timeline.csv has it; ranks that are not the first of their class have
 * none. False when memory is short. */
static bool take_moment(struct job_reading *reading, const struct job_classes *classes,
                        const struct group_moment *moment, uint64_t come_ps) {
  static const enum job_span_kind kinds[] = {
      [GROUP_WORK] = SPAN_WORK, [GROUP_COLLECTIVE] = SPAN_COLLECTIVE, [GROUP_HOST] = SPAN_HOST};
  struct arena *arena = &reading->diff->arena;
  bool collective = moment->op->kind == GROUP_COLLECTIVE;
  uint32_t class = classes->of[moment->rank];
  if (classes->first[class] != moment->rank)
    return true;
  if (!make_room(reading))
    return false;
  struct job_span *span = &reading->spans[reading->count];
  *span = (struct job_span){.class = class,
                            .kind = kinds[moment->op->kind],
                            .name = arena_strdup(arena, moment->op->name),
                            .op = collective ? collective_op_name(moment->op->call.op) : "",
                            .bytes = collective ? moment->op->call.bytes : 0,
                            .start_ps = moment->start_ps,
                            .come_ps = come_ps,
                            .end_ps = moment->end_ps,
                            .place = reading->count++};
  reading->job->class_count = max_u64(reading->job->class_count, class + 1);
  reading->taken[class] = true;
  return span->name != NULL;
}

/* What a run did, without the files that `vinci group run --output` would write. */
static enum vinci_status take_run(struct job_reading *reading, const struct job *job,
                                  const struct group_result *found,
                                  const struct job_moments *moments, struct vinci_diag *diag) {
  struct job_classes classes = {0};
  struct job_waits waits = {0};
  struct diff_job *out = reading->job;
  out->ranks = job->job.ranks;
  out->transfers = found->transfers;
  out->moved_bytes = found->transfer_bytes;
  reading->end_ps = found->end_ps;
  reading->side->soc_name = arena_strdup(&reading->diff->arena, job->job.system->name);
  reading->short_of_memory = !reading->side->soc_name;
  enum vinci_status status = begin_ranks(reading, diag);
  bool enough = status == VINCI_OK && job_waits_find(moments, &waits) &&
                job_classes_find(&job->job, found, &classes);
  for (size_t i = 0; enough && i < moments->count; i++)
    enough = take_moment(reading, &classes, &moments->items[i], waits.last_ps[i]);
  for (uint32_t i = 0; enough && i < out->ranks; i++)
    out->class_of[i] = reading->taken[classes.of[i]] ? classes.of[i] : DIFF_JOB_NO_CLASS;
  job_classes_free(&classes);
  job_waits_free(&waits);
  return enough ? diff_job_share(reading, job->path, diag) : diff_no_memory(diag);
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

static enum vinci_status run_point(struct job_reading *reading, struct job_point *point,
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
    status = take_run(reading, &job, &found, &moments, diag);
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
  struct job_reading reading;
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
