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
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gate.h"
#include "cli/lua_file.h"
#include "core/diag.h"

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
static enum vinci_status keep_field(struct reader *reader, const char *key, const char **out) {
  const char *text = NULL;
  enum vinci_status status = lua_file_field(&reader->file, key, &text, reader->diag);
  if (status != VINCI_OK || !text)
    return status;
  *out = arena_strdup(&reader->suite->arena, text);
  return *out ? VINCI_OK : no_memory(reader);
}

/* ---- overrides ---------------------------------------------------------------------------- */

static enum vinci_status add_set(struct reader *reader, struct gate_point *point,
                                 const char *text) {
  const char **sets = ARENA_ARRAY(&reader->suite->arena, const char *, point->set_count + 1);
  char *copy = arena_strdup(&reader->suite->arena, text);
  if (!sets || !copy)
    return no_memory(reader);
  if (point->set_count > 0)
    memcpy(sets, point->sets, point->set_count * sizeof *sets);
  sets[point->set_count++] = copy;
  point->sets = sets;
  return VINCI_OK;
}

/* The list `set` of the table on top of the stack: "key=value" each. Its keys are 1 to count;
 * another form would be passed over. */
static enum vinci_status read_sets(struct reader *reader, struct gate_point *point) {
  lua_State *lua = reader->file.lua;
  enum vinci_status status = VINCI_OK;
  int top = lua_gettop(lua);
  lua_getfield(lua, -1, "set");
  if (!lua_isnil(lua, -1) && lua_type(lua, -1) != LUA_TTABLE)
    return lua_file_error(&reader->file, reader->diag, "set is not a list of \"key=value\"");
  lua_Integer count = lua_isnil(lua, -1) ? 0 : luaL_len(lua, -1);
  lua_pushnil(lua);
  if (count == 0 && lua_istable(lua, -2) && lua_next(lua, -2))
    return lua_file_error(&reader->file, reader->diag,
                          "set is not a list: write { \"key=value\", ... }");
  lua_settop(lua, top + 1);
  for (lua_Integer i = 1; status == VINCI_OK && i <= count; i++) {
    lua_rawgeti(lua, -1, i);
    const char *text = lua_file_text(&reader->file);
    status = text ? add_set(reader, point, text)
                  : lua_file_error(&reader->file, reader->diag, "set: an entry is not a text");
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return status;
}

/* ---- points ------------------------------------------------------------------------------- */

/* What suite and points may both say. */
static enum vinci_status read_common(struct reader *reader, struct gate_point *point) {
  struct workload_models models = {0};
  enum vinci_status status = keep_field(reader, "soc", &point->soc);
  if (status == VINCI_OK)
    status = keep_field(reader, "memory", &models.memory);
  if (status == VINCI_OK)
    status = keep_field(reader, "network", &models.network);
  if (status == VINCI_OK)
    status = keep_field(reader, "l2", &models.l2);
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
  workload->args = ARENA_ARRAY(&reader->suite->arena, const char *, capacity);
  if (!workload->args)
    return no_memory(reader);
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
    const char *key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : NULL;
    if (key && is_reserved(key))
      continue;
    if (!key || !workload->op)
      return lua_file_error(&reader->file, reader->diag, "point '%s': unknown field '%s'",
                            point->name, key ? key : "[1]");
    const char *value = lua_file_text(&reader->file);
    if (!value)
      return lua_file_error(&reader->file, reader->diag,
                            "point '%s': '%s' is neither a text nor a number nor a list of whole "
                            "numbers",
                            point->name, key);
    char *text = arena_alloc(&reader->suite->arena, strlen(key) + strlen(value) + 2, 1);
    if (!text)
      return no_memory(reader);
    stpcpy(stpcpy(stpcpy(text, key), "="), value);
    workload->args[workload->arg_count++] = text;
  }
  qsort(workload->args, workload->arg_count, sizeof *workload->args, compare_texts);
  return VINCI_OK;
}

static enum vinci_status resolve_trace(struct reader *reader, struct workload *workload) {
  const char *slash = strrchr(reader->suite->path, '/');
  if (!workload->trace || *workload->trace == '/' || !slash)
    return VINCI_OK;
  size_t folder = (size_t)(slash - reader->suite->path) + 1;
  char *path = arena_alloc(&reader->suite->arena, folder + strlen(workload->trace) + 1, 1);
  if (!path)
    return no_memory(reader);
  memcpy(path, reader->suite->path, folder);
  strcpy(path + folder, workload->trace);
  workload->trace = path;
  return VINCI_OK;
}

/* Names are keys of the baseline and words of the policy. */
static enum vinci_status check_name(struct reader *reader, const struct gate_point *point,
                                    size_t index) {
  const struct gate_suite *suite = reader->suite;
  if (!point->name || !*point->name)
    return lua_file_error(&reader->file, reader->diag, "points: entry %zu has no name", index + 1);
  for (const char *c = point->name; *c; c++)
    if ((unsigned char)*c <= ' ' || strchr(",\"*?[]\\#", *c))
      return lua_file_error(&reader->file, reader->diag,
                            "point '%s': a name has no blanks and none of , \" * ? [ ] \\ #",
                            point->name);
  for (size_t i = 0; i < index; i++)
    if (strcmp(suite->points[i].name, point->name) == 0)
      return lua_file_error(&reader->file, reader->diag, "point '%s' is there twice", point->name);
  return VINCI_OK;
}

static enum vinci_status read_point(struct reader *reader, const struct gate_point *defaults,
                                    size_t index) {
  struct gate_point *point = &reader->suite->points[index];
  *point = *defaults;
  if (lua_type(reader->file.lua, -1) != LUA_TTABLE)
    return lua_file_error(&reader->file, reader->diag, "points: entry %zu is not a table",
                          index + 1);
  enum vinci_status status = keep_field(reader, "name", &point->name);
  if (status == VINCI_OK)
    status = check_name(reader, point, index);
  if (status == VINCI_OK)
    status = keep_field(reader, "op", &point->workload.op);
  if (status == VINCI_OK)
    status = keep_field(reader, "trace", &point->workload.trace);
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
  for (size_t i = 0; status == VINCI_OK && i < reader->overrides->sets.count; i++)
    status = add_set(reader, point, reader->overrides->sets.items[i]);
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
    const char *key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "[1]";
    if (strcmp(key, "points") != 0 && !is_common(key))
      return lua_file_error(&reader->file, reader->diag, "unknown field '%s' of the suite", key);
  }
  lua_getfield(lua, -1, "points");
  if (lua_type(lua, -1) != LUA_TTABLE || luaL_len(lua, -1) < 1)
    return lua_file_error(&reader->file, reader->diag, "has no points");
  suite->count = (size_t)luaL_len(lua, -1);
  suite->points = ARENA_ARRAY(&suite->arena, struct gate_point, suite->count);
  if (!suite->points)
    return no_memory(reader);
  for (size_t i = 0; status == VINCI_OK && i < suite->count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i + 1);
    status = read_point(reader, &defaults, i);
    lua_pop(lua, 1);
  }
  return status;
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
  enum vinci_status status = lua_file_open(&reader.file, path, diag);
  if (status == VINCI_OK)
    status = lua_file_read(&reader.file, read_suite, &reader, diag);
  lua_file_close(&reader.file);
  return status;
}

void gate_suite_free(struct gate_suite *suite) {
  arena_free(&suite->arena);
  *suite = (struct gate_suite){0};
}
