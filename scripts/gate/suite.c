/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A suite: a Lua file that returns
 *
 *     { soc = "Ascend910B4", set = { "l2.size=96MiB" }, memory = "cycle",
 *       points = { { name = "mm", op = "matmul", m = 512, k = 512, n = 512, dtype = "fp16" },
 *                  { name = "t", trace = "file.csv", soc = "Ascend910B1", max_cycles = 100000 } } }
 *
 * What a point does not say it has from the suite; its other fields are arguments of the
 * operator. Paths are relative to the file.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "scripts/gate/gate.h"
#include "scripts/study/file.h"

struct reader {
  struct lua_file file;
  struct gate_suite *suite;
  const struct gate_overrides *overrides;
  struct vinci_diag *diag;
};

static enum vinci_status no_memory(struct reader *reader) {
  return diag_error(reader->diag, VINCI_E_NOMEM, "out of memory");
}

/* Leaves *out as it is when the field is nil. */
static enum vinci_status read_field(struct reader *reader, const char *key, const char **out) {
  return lua_file_field(&reader->file, key, out, reader->diag);
}

/* ---- overrides ---------------------------------------------------------------------------- */

/* Room for more overrides behind those a point has. */
static enum vinci_status widen_sets(struct reader *reader, struct gate_point *point, size_t more) {
  void *room = NULL;
  enum vinci_status status = lua_file_room(&reader->file, point->set_count + more,
                                           sizeof *point->sets, &room, reader->diag);
  if (status == VINCI_OK && point->set_count > 0)
    memcpy(room, point->sets, point->set_count * sizeof *point->sets);
  point->sets = room;
  return status;
}

/* The list `set` of the table on top of the stack: "key=value" each. */
static enum vinci_status read_sets(struct reader *reader, struct gate_point *point) {
  lua_State *lua = reader->file.lua;
  enum vinci_status status = VINCI_OK;
  size_t count = 0;
  lua_getfield(lua, -1, "set");
  if (!lua_isnil(lua, -1) && !lua_bounds_list(lua, -1, &count))
    return lua_file_error(&reader->file, reader->diag,
                          "set is not a list: write { \"key=value\", ... }");
  if (count > 0)
    status = widen_sets(reader, point, count);
  for (size_t i = 1; status == VINCI_OK && i <= count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i);
    status =
        lua_file_keep(&reader->file, "set: an entry", &point->sets[point->set_count], reader->diag);
    point->set_count++;
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return status;
}

/* The overrides of the command line. */
static enum vinci_status add_sets(struct reader *reader, struct gate_point *point) {
  const struct text_list *sets = &reader->overrides->sets;
  if (sets->count == 0)
    return VINCI_OK;
  enum vinci_status status = widen_sets(reader, point, sets->count);
  for (size_t i = 0; status == VINCI_OK && i < sets->count; i++) {
    char *copy = arena_strdup(&reader->suite->arena, sets->items[i]);
    if (!copy)
      return no_memory(reader);
    point->sets[point->set_count++] = copy;
  }
  return status;
}

/* ---- points ------------------------------------------------------------------------------- */

/* What suite and points may both say. */
static enum vinci_status read_common(struct reader *reader, struct gate_point *point) {
  struct workload_models models = {0};
  enum vinci_status status = read_field(reader, "soc", &point->soc);
  if (status == VINCI_OK)
    status = read_field(reader, "memory", &models.memory);
  if (status == VINCI_OK)
    status = read_field(reader, "network", &models.network);
  if (status == VINCI_OK)
    status = read_field(reader, "l2", &models.l2);
  if (status == VINCI_OK)
    status = lua_file_whole(&reader->file, "max_cycles", &point->options.max_cycles, reader->diag);
  if (status == VINCI_OK)
    status = workload_choose(&models, &point->options, reader->diag);
  return status == VINCI_OK ? read_sets(reader, point) : status;
}

/* Fields that suite and points may both have. */
static bool is_common(const char *key) {
  static const char *const words[] = {"soc", "memory", "network", "l2", "max_cycles", "set"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], key) == 0)
      return true;
  return false;
}

static bool is_reserved(const char *key) {
  return is_common(key) || strcmp(key, "name") == 0 || strcmp(key, "op") == 0 ||
         strcmp(key, "trace") == 0;
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* All other fields, sorted, as key=value. */
static enum vinci_status read_arguments(struct reader *reader, struct gate_point *point) {
  lua_State *lua = reader->file.lua;
  struct workload *workload = &point->workload;
  size_t capacity = 1;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1))
    capacity++;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->file, capacity, sizeof *workload->args, &room, reader->diag);
  if (status != VINCI_OK)
    return status;
  workload->args = room;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
    const char *key = lua_file_key(&reader->file, -2);
    if (key && is_reserved(key))
      continue;
    if (!key || !workload->op)
      return lua_file_error(&reader->file, reader->diag, "point '%s': unknown field '%s'",
                            point->name, key ? key : "[1]");
    status =
        lua_file_argument(&reader->file, key, &workload->args[workload->arg_count], reader->diag);
    if (status != VINCI_OK)
      return status;
    workload->arg_count++;
  }
  qsort(workload->args, workload->arg_count, sizeof *workload->args, compare_texts);
  return VINCI_OK;
}

static enum vinci_status resolve_trace(struct reader *reader, struct workload *workload) {
  const char *slash = strrchr(reader->suite->path, '/');
  if (!workload->trace || *workload->trace == '/' || !slash)
    return VINCI_OK;
  size_t folder = (size_t)(slash - reader->suite->path) + 1;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->file, folder + strlen(workload->trace) + 1, 1, &room, reader->diag);
  if (status != VINCI_OK)
    return status;
  char *path = room;
  memcpy(path, reader->suite->path, folder);
  strcpy(path + folder, workload->trace);
  workload->trace = path;
  return VINCI_OK;
}

/* Names are keys of the baseline and words of the policy. */
static enum vinci_status check_name(struct reader *reader, const struct gate_point *point,
                                    size_t index) {
  if (!point->name || !*point->name)
    return lua_file_error(&reader->file, reader->diag, "points: entry %zu has no name", index + 1);
  for (const char *c = point->name; *c; c++)
    if ((unsigned char)*c <= ' ' || strchr(",\"*?[]\\#", *c))
      return lua_file_error(&reader->file, reader->diag,
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
static enum vinci_status check_twice(struct reader *reader) {
  const struct gate_suite *suite = reader->suite;
  const struct gate_point *twice = NULL;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->file, suite->count, sizeof twice, &room, reader->diag);
  if (status != VINCI_OK)
    return status;
  const struct gate_point **sorted = room;
  for (size_t i = 0; i < suite->count; i++)
    sorted[i] = &suite->points[i];
  qsort(sorted, suite->count, sizeof *sorted, compare_names);
  for (size_t i = 1; i < suite->count; i++)
    if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0 && (!twice || sorted[i] < twice))
      twice = sorted[i];
  return twice
             ? lua_file_error(&reader->file, reader->diag, "point '%s' is there twice", twice->name)
             : VINCI_OK;
}

static enum vinci_status read_point(struct reader *reader, const struct gate_point *defaults,
                                    size_t index) {
  struct gate_point *point = &reader->suite->points[index];
  *point = *defaults;
  if (lua_type(reader->file.lua, -1) != LUA_TTABLE)
    return lua_file_error(&reader->file, reader->diag, "points: entry %zu is not a table",
                          index + 1);
  enum vinci_status status = read_field(reader, "name", &point->name);
  if (status == VINCI_OK)
    status = check_name(reader, point, index);
  if (status == VINCI_OK)
    status = read_field(reader, "op", &point->workload.op);
  if (status == VINCI_OK)
    status = read_field(reader, "trace", &point->workload.trace);
  if (status == VINCI_OK)
    status = read_common(reader, point);
  if (status != VINCI_OK)
    return status;
  if (!point->workload.op == !point->workload.trace) {
    status = lua_file_error(&reader->file, reader->diag, "point '%s' wants one of op and trace",
                            point->name);
    if (!point->workload.op) {
      lua_file_hint_key(&reader->file, "op", reader->diag);
      lua_file_hint_key(&reader->file, "trace", reader->diag);
    }
    return status;
  }
  if (reader->overrides->soc)
    point->soc = reader->overrides->soc;
  status = workload_choose(&reader->overrides->models, &point->options, reader->diag);
  if (status != VINCI_OK)
    return status;
  if (!point->soc)
    return lua_file_error(&reader->file, reader->diag, "point '%s' names no chip: soc = ...",
                          point->name);
  status = add_sets(reader, point);
  if (status == VINCI_OK)
    status = resolve_trace(reader, &point->workload);
  return status == VINCI_OK ? read_arguments(reader, point) : status;
}

/* ---- the suite ------------------------------------------------------------------------------ */

static enum vinci_status read_suite(void *context) {
  struct reader *reader = context;
  lua_State *lua = reader->file.lua;
  struct gate_suite *suite = reader->suite;
  struct gate_point defaults = {.options = {.struct_size = sizeof defaults.options}};
  enum vinci_status status = read_common(reader, &defaults);
  if (status != VINCI_OK)
    return status;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
    const char *key = lua_file_key(&reader->file, -2);
    if (!key || (strcmp(key, "points") != 0 && !is_common(key)))
      return lua_file_error(&reader->file, reader->diag, "unknown field '%s' of the suite",
                            key ? key : "[1]");
  }
  lua_getfield(lua, -1, "points");
  if (!lua_bounds_list(lua, -1, &suite->count) || suite->count < 1)
    return lua_file_error(&reader->file, reader->diag, "has no points");
  void *room = NULL;
  status = lua_file_room(&reader->file, suite->count, sizeof *suite->points, &room, reader->diag);
  suite->points = room;
  for (size_t i = 0; status == VINCI_OK && i < suite->count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i + 1);
    status = read_point(reader, &defaults, i);
    lua_pop(lua, 1);
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
                                  const struct gate_overrides *overrides, struct vinci_diag *diag) {
  *suite = (struct gate_suite){.data = overrides->data};
  struct reader reader = {.suite = suite, .overrides = overrides, .diag = diag};
  if (!name_suite(suite, path))
    return no_memory(&reader);
  enum vinci_status status = lua_file_open(&reader.file, path, &suite->arena, diag);
  if (status == VINCI_OK)
    status = lua_file_read(&reader.file, read_suite, &reader, diag);
  lua_file_close(&reader.file);
  return status;
}

void gate_suite_free(struct gate_suite *suite) {
  arena_free(&suite->arena);
  *suite = (struct gate_suite){0};
}
