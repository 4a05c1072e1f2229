/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A suite: a Lua file that returns
 *
 *     { soc = "Ascend910B4", set = { "l2.size=96MiB" }, memory = "cycle",
 *       points = { { name = "mm", op = "matmul", m = 512, k = 512, n = 512, dtype = "fp16" },
 *                  { name = "t", trace = "file.csv", soc = "Ascend910B1", max_cycles = 100000 },
 *                  { name = "step", model = "model.lua", system = "atlas_a2_910b4", tp = 2, dp = 4
 * }, { folder = "kernels", check = true } } }
 *
 * What a point does not say, the suite says.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/gate/suite_reader.h"
#include "studies/job/point.h"

enum { WHO_MAX = 600, KEY_MAX = 128 };

static const char *const other_words[] = {"name",   "folder", "check", "inputs", "fill",
                                          "expect", "atol",   "rtol",  NULL};

/* ---- points ------------------------------------------------------------------------------- */

/* Names are keys of the baseline and words of the policy. */
static enum vinci_status check_name(struct gate_reader *reader, const struct gate_point *point,
                                    size_t index) {
  if (!point->name || !*point->name) {
    enum vinci_status status = lua_file_error(&reader->common.file, reader->common.diag,
                                              "points: entry %zu has no name", index + 1);
    lua_file_hint_key(&reader->common.file, "name", reader->common.diag);
    return status;
  }
  for (const char *c = point->name; *c; c++)
    if ((unsigned char)*c <= ' ' || strchr(",\"*?[]\\#", *c))
      return lua_file_error(&reader->common.file, reader->common.diag,
                            "point '%s': a name has no blanks and none of , \" * ? [ ] \\ #",
                            point->name);
  return VINCI_OK;
}

static int compare_names(const void *left, const void *right) {
  const struct gate_point *const *first = left, *const *second = right;
  int order = strcmp((*first)->name, (*second)->name);
  return order ? order : (*first > *second) - (*first < *second);
}

/* Two points of one name: the first of them in the file is told. */
static enum vinci_status check_twice(struct gate_reader *reader) {
  const struct gate_suite *suite = reader->suite;
  const struct gate_point *twice = NULL;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->common.file, suite->count, sizeof twice, &room, reader->common.diag);
  if (status != VINCI_OK)
    return status;
  const struct gate_point **sorted = room;
  for (size_t i = 0; i < suite->count; i++)
    sorted[i] = &suite->points[i];
  qsort(sorted, suite->count, sizeof *sorted, compare_names);
  for (size_t i = 1; i < suite->count; i++)
    if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0 && (!twice || sorted[i] < twice))
      twice = sorted[i];
  return twice ? lua_file_error(&reader->common.file, reader->common.diag,
                                "point '%s' is there twice", twice->name)
               : VINCI_OK;
}

/* A gate compares counters with a baseline, and those of auto are now of one model of memory, now
 * of the other. */
static enum vinci_status choose_exact(struct gate_reader *reader, struct gate_point *point) {
  enum vinci_status status =
      workload_choose(&point->spec.models, &point->options, reader->common.diag);
  if (status == VINCI_OK && point->options.memory == VINCI_MEMORY_AUTO)
    status = lua_file_error(&reader->common.file, reader->common.diag,
                            "memory of a gate is cycle or flat, not auto: its points are exact");
  return status;
}

/* What suite and points may both say; a model that the file misspells is told even when the caller
 * asks for another model. */
static enum vinci_status read_settings(struct gate_reader *reader, struct gate_point *point) {
  enum vinci_status status = study_read_settings(&reader->common, &point->spec);
  return status == VINCI_OK ? choose_exact(reader, point) : status;
}

/* What the caller says wins over the file. */
static enum vinci_status override(struct gate_reader *reader, struct gate_point *point) {
  struct arena *arena = &reader->suite->arena;
  if (!spec_override(&point->spec, &reader->overrides, arena))
    return diag_error(reader->common.diag, VINCI_E_NOMEM, "out of memory");
  point->options.max_cycles = point->spec.max_cycles;
  bool of_devices = point->spec.workload.job || point->spec.workload.model;
  if (!point->spec.soc && !of_devices) /* a job has a system of devices */
    return lua_file_error(&reader->common.file, reader->common.diag,
                          "point '%s' names no chip: soc = ...", point->name);
  return choose_exact(reader, point);
}

/* Names of arguments that a model has not are told before anything runs. */
static enum vinci_status check_model(struct gate_reader *reader, const struct gate_point *point) {
  const struct workload *workload = &point->spec.workload;
  const struct model_steps *steps = reader->steps;
  struct vinci_diag problem = {0};
  enum vinci_status status = VINCI_OK;
  if (!workload->model)
    return VINCI_OK;
  if (!steps)
    status = job_point_lacks_steps(&problem);
  for (size_t i = 0; status == VINCI_OK && i < workload->arg_count; i++) {
    struct vinci_diag ignored = {0};
    char key[KEY_MAX];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(workload->args[i], "="), workload->args[i]);
    if (job_point_check_argument(key, &ignored) != VINCI_OK)
      status = steps->check(steps->context, key, &problem);
  }
  if (status == VINCI_OK)
    return VINCI_OK;
  status = lua_file_error(&reader->common.file, reader->common.diag, "point '%s': %s", point->name,
                          problem.text);
  if (*problem.hint)
    diag_hint(reader->common.diag, "%s", problem.hint);
  return status;
}

static enum vinci_status read_point(struct gate_reader *reader, const struct gate_point *defaults,
                                    size_t index) {
  struct gate_point *point = &reader->suite->points[index];
  struct study_reader *common = &reader->common;
  char who[WHO_MAX];
  *point = *defaults;
  enum vinci_status status = lua_file_field(&common->file, "name", &point->name, common->diag);
  if (status == VINCI_OK)
    status = check_name(reader, point, index);
  if (status == VINCI_OK)
    status = read_settings(reader, point);
  if (status != VINCI_OK)
    return status;
  snprintf(who, sizeof who, "point '%s'", point->name);
  common->who = who;
  status = study_read_workload(common, &point->spec);
  if (status == VINCI_OK)
    status = gate_read_proof(reader, point);
  common->who = NULL;
  if (status == VINCI_OK)
    status = check_model(reader, point);
  return status == VINCI_OK ? override(reader, point) : status;
}

/* ---- folders -------------------------------------------------------------------------------- */

/* "NAME/stem", or "stem" without a name. */
static const char *join(struct gate_reader *reader, const char *before, const char *between,
                        const char *text, size_t length) {
  size_t head = before ? strlen(before) + strlen(between) : 0;
  char *joined = arena_alloc(&reader->suite->arena, head + length + 1, 1);
  if (!joined)
    return NULL;
  if (before)
    stpcpy(stpcpy(joined, before), between);
  memcpy(joined + head, text, length);
  return joined;
}

static enum vinci_status check_folder_fields(struct gate_reader *reader) {
  struct lua_file *file = &reader->common.file;
  for (lua_pushnil(file->lua); lua_next(file->lua, -2); lua_pop(file->lua, 1)) {
    const char *key = lua_file_key(file, -2);
    bool known = key && (strcmp(key, "name") == 0 || strcmp(key, "folder") == 0 ||
                         strcmp(key, "check") == 0 || study_is_setting(key));
    if (!known)
      return lua_file_error(file, reader->common.diag, "an entry with a folder has no field '%s'",
                            key ? key : "[1]");
  }
  return VINCI_OK;
}

/* Makes a point of each trace of the folder that the entry on top of the stack names. */
static enum vinci_status read_folder(struct gate_reader *reader, const struct gate_point *defaults,
                                     const char *path, const struct gate_folder *folder,
                                     size_t first) {
  struct vinci_diag *diag = reader->common.diag;
  struct gate_point model = *defaults;
  const char *name = NULL;
  enum vinci_status status = check_folder_fields(reader);
  if (status == VINCI_OK)
    status = lua_file_field(&reader->common.file, "name", &name, diag);
  if (status == VINCI_OK)
    status = read_settings(reader, &model);
  reader->common.who = "folder";
  if (status == VINCI_OK)
    status = gate_read_proof(reader, &model);
  reader->common.who = NULL;
  for (size_t i = 0; status == VINCI_OK && i < folder->count; i++) {
    struct gate_point *point = &reader->suite->points[first + i];
    const char *file = folder->names[i];
    *point = model;
    point->name = join(reader, name, "/", file, strlen(file) - strlen(".csv"));
    point->spec.workload.trace = join(reader, path, "/", file, strlen(file));
    if (!point->name || !point->spec.workload.trace)
      return diag_error(diag, VINCI_E_NOMEM, "out of memory");
    status = check_name(reader, point, first + i);
    if (status == VINCI_OK)
      status = override(reader, point);
  }
  return status;
}

/* ---- the suite ------------------------------------------------------------------------------ */

static enum vinci_status check_fields(struct gate_reader *reader) {
  static const char *const suite_words[] = {"points", NULL};
  struct lua_file *file = &reader->common.file;
  for (lua_pushnil(file->lua); lua_next(file->lua, -2); lua_pop(file->lua, 1)) {
    const char *key = lua_file_key(file, -2);
    if (key && (strcmp(key, "points") == 0 || study_is_setting(key)))
      continue;
    enum vinci_status status = lua_file_error(file, reader->common.diag,
                                              "unknown field '%s' of the suite", key ? key : "[1]");
    if (key)
      study_hint_field(key, suite_words, reader->common.diag);
    return status;
  }
  return VINCI_OK;
}

/* Room for points behind those that there are. */
static enum vinci_status add_points(struct gate_reader *reader, size_t count) {
  struct gate_suite *suite = reader->suite;
  void *room = NULL;
  if (suite->count + count <= reader->capacity) {
    suite->count += count;
    return VINCI_OK;
  }
  size_t capacity =
      suite->count + count > 2 * reader->capacity ? suite->count + count : 2 * reader->capacity;
  enum vinci_status status = lua_file_room(&reader->common.file, capacity, sizeof *suite->points,
                                           &room, reader->common.diag);
  if (status != VINCI_OK)
    return status;
  if (suite->count > 0)
    memcpy(room, suite->points, suite->count * sizeof *suite->points);
  suite->points = room;
  suite->count += count;
  reader->capacity = capacity;
  return VINCI_OK;
}

/* The entry on top of the stack: a point, or a folder of them. */
static enum vinci_status read_entry(struct gate_reader *reader, const struct gate_point *defaults,
                                    size_t index) {
  struct lua_file *file = &reader->common.file;
  struct gate_folder folder;
  const char *path = NULL;
  size_t first = reader->suite->count;
  if (lua_type(file->lua, -1) != LUA_TTABLE)
    return lua_file_error(file, reader->common.diag, "points: entry %zu is not a table", index + 1);
  enum vinci_status status = lua_file_field(file, "folder", &path, reader->common.diag);
  if (status == VINCI_OK && !path) {
    status = add_points(reader, 1);
    return status == VINCI_OK ? read_point(reader, defaults, first) : status;
  }
  if (status == VINCI_OK)
    status = study_resolve(&reader->common, &path);
  if (status == VINCI_OK)
    status = gate_folder_open(reader, path, &folder);
  if (status != VINCI_OK)
    return status;
  status = add_points(reader, folder.count);
  if (status == VINCI_OK)
    status = read_folder(reader, defaults, path, &folder, first);
  gate_folder_close(&folder);
  return status;
}

static enum vinci_status read_suite(void *context) {
  struct gate_reader *reader = context;
  struct lua_file *file = &reader->common.file;
  struct gate_point defaults = {.options = {.struct_size = sizeof defaults.options}};
  enum vinci_status status = read_settings(reader, &defaults);
  if (status == VINCI_OK)
    status = check_fields(reader);
  if (status != VINCI_OK)
    return status;
  lua_getfield(file->lua, -1, "points");
  size_t entries = 0;
  if (!lua_bounds_list(file->lua, -1, &entries) || entries < 1)
    return lua_file_error(file, reader->common.diag, "has no points");
  void *room = NULL;
  status = lua_file_room(file, entries, sizeof *reader->suite->points, &room, reader->common.diag);
  reader->suite->points = room;
  reader->capacity = entries;
  for (size_t i = 0; status == VINCI_OK && i < entries; i++) {
    lua_rawgeti(file->lua, -1, (lua_Integer)i + 1);
    status = read_entry(reader, &defaults, i);
    lua_pop(file->lua, 1);
  }
  return status == VINCI_OK ? check_twice(reader) : status;
}

static bool name_suite(struct gate_suite *suite, const char *path) {
  const char *slash = strrchr(path, '/');
  suite->path = arena_strdup(&suite->arena, path);
  char *name = arena_strdup(&suite->arena, slash ? slash + 1 : path);
  if (!suite->path || !name)
    return false;
  size_t length = strlen(name);
  if (length > 4 && strcmp(name + length - 4, ".lua") == 0)
    name[length - 4] = '\0';
  suite->name = name;
  return true;
}

enum vinci_status gate_suite_open(struct gate_suite *suite, const char *path,
                                  const struct vinci_overrides *overrides,
                                  const struct model_steps *steps, struct vinci_diag *diag) {
  *suite = (struct gate_suite){0};
  struct gate_reader reader = {
      .common = {.diag = diag, .others = other_words, .job_fields = job_point_fields},
      .suite = suite,
      .steps = steps};
  if (!name_suite(suite, path) || !overrides_keep(overrides, &suite->arena, &reader.overrides))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = lua_file_open(&reader.common.file, path, &suite->arena, diag);
  if (status == VINCI_OK)
    status = lua_file_read(&reader.common.file, read_suite, &reader, diag);
  lua_file_close(&reader.common.file);
  return status;
}

void gate_suite_free(struct gate_suite *suite) {
  arena_free(&suite->arena);
  *suite = (struct gate_suite){0};
}
