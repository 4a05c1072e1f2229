/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study as a Lua file:
 *
 *     return {
 *       soc = "Ascend910B1",
 *       set = { "hbm.bandwidth_scale=2" },              -- for all points
 *       op = "matmul", m = 512, k = 512, n = 512,       -- or trace = "file.csv"
 *       params = { { "l2.size", "96MiB", "192MiB" }, { "device.cube_cores", 4, 8, 24 } },
 *       points = { { ["l2.size"] = "1GiB" }, ... },     -- further points, one by one
 *       memory = "cycle", network = "packet", l2 = "warm", max_cycles = 1000000,
 *     }
 *
 * All other fields are arguments of the operator. Paths are relative to the file.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "scripts/study/file.h"
#include "scripts/sweep/sweep.h"

struct reader {
  struct lua_file file;
  struct sweep_study *study;
  struct vinci_diag *diag;
};

static enum vinci_status no_memory(struct reader *reader) {
  return diag_error(reader->diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- params ---------------------------------------------------------------------------- */

/* The list { "key", value, value ... } on top of the stack. */
static enum vinci_status read_axis(struct reader *reader, struct sweep_axis *axis) {
  lua_State *lua = reader->file.lua;
  size_t length;
  if (!lua_bounds_list(lua, -1, &length) || length < 2)
    return lua_file_error(&reader->file, reader->diag,
                          "params: an entry is not { \"key\", value, ... }");
  axis->count = 0;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->file, length, sizeof *axis->values, &room, reader->diag);
  axis->values = room;
  for (size_t i = 1; status == VINCI_OK && i <= length; i++) {
    const char *text = NULL;
    lua_rawgeti(lua, -1, (lua_Integer)i);
    status = lua_file_keep(&reader->file, "params: a key or value", &text, reader->diag);
    lua_pop(lua, 1);
    if (i == 1)
      axis->key = text;
    else
      axis->values[axis->count++] = text;
  }
  return status;
}

static enum vinci_status read_params(struct reader *reader) {
  lua_State *lua = reader->file.lua;
  struct sweep_axis axes[SWEEP_PARAMS_MAX];
  size_t count = 0;
  enum vinci_status status = VINCI_OK;
  lua_getfield(lua, -1, "params");
  if (!lua_isnil(lua, -1)) {
    status = lua_file_list(&reader->file, "params", &count, reader->diag);
    if (status != VINCI_OK)
      return status;
    if (count == 0 || count > SWEEP_PARAMS_MAX)
      return lua_file_error(&reader->file, reader->diag,
                            "params: a list of 1 to %d entries { \"key\", value, ... } is wanted",
                            SWEEP_PARAMS_MAX);
  }
  for (size_t i = 0; status == VINCI_OK && i < count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i + 1);
    status = read_axis(reader, &axes[i]);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return status == VINCI_OK ? sweep_expand(reader->study, axes, count, reader->diag) : status;
}

/* ---- points ---------------------------------------------------------------------------- */

static size_t find_key(const struct sweep_study *study, const char *key) {
  size_t i = 0;
  while (i < study->param_count && strcmp(study->keys[i], key) != 0)
    i++;
  return i;
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* All keys of the tables in points become parameters, sorted: tables have no order. */
static enum vinci_status gather_keys(struct reader *reader, size_t count) {
  lua_State *lua = reader->file.lua;
  struct sweep_study *study = reader->study;
  size_t old_count = study->param_count;
  for (size_t i = 1; i <= count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i);
    if (lua_type(lua, -1) != LUA_TTABLE)
      return lua_file_error(&reader->file, reader->diag, "points: entry %zu is not a table", i);
    for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
      const char *key = lua_file_key(&reader->file, -2);
      if (!key)
        return lua_file_error(&reader->file, reader->diag,
                              "points: entry %zu has a key that is not a text", i);
      if (find_key(study, key) < study->param_count)
        continue;
      if (study->param_count == SWEEP_PARAMS_MAX)
        return lua_file_error(&reader->file, reader->diag, "points: more than %d parameters",
                              SWEEP_PARAMS_MAX);
      void *room = NULL;
      enum vinci_status status =
          lua_file_room(&reader->file, strlen(key) + 1, 1, &room, reader->diag);
      if (status != VINCI_OK)
        return status;
      study->keys[study->param_count++] = strcpy(room, key);
    }
    lua_pop(lua, 1);
  }
  qsort(study->keys + old_count, study->param_count - old_count, sizeof *study->keys,
        compare_texts);
  return VINCI_OK;
}

/* Room for the further points; those of params move to the wider rows. */
static enum vinci_status widen(struct reader *reader, size_t old_params, size_t more) {
  struct sweep_study *study = reader->study;
  size_t count = study->param_count, total = study->point_count + more;
  if (count > 0 && total > SWEEP_CELLS_MAX / count)
    return sweep_too_many_cells(reader->diag);
  const char **values = calloc(total * count + 1, sizeof *values);
  if (!values)
    return no_memory(reader);
  for (size_t i = 0; i < study->point_count; i++)
    for (size_t p = 0; p < old_params; p++)
      values[i * count + p] = study->values[i * old_params + p];
  free(study->values);
  study->values = values;
  return VINCI_OK;
}

static enum vinci_status read_point(struct reader *reader) {
  struct sweep_study *study = reader->study;
  const char **row = study->values + study->point_count * study->param_count;
  for (size_t p = 0; p < study->param_count; p++) {
    enum vinci_status status = lua_file_field(&reader->file, study->keys[p], &row[p], reader->diag);
    if (status != VINCI_OK)
      return status;
  }
  study->point_count++;
  return VINCI_OK;
}

static enum vinci_status read_points(struct reader *reader) {
  lua_State *lua = reader->file.lua;
  struct sweep_study *study = reader->study;
  size_t old_params = study->param_count;
  lua_getfield(lua, -1, "points");
  if (lua_isnil(lua, -1)) {
    lua_pop(lua, 1);
    return VINCI_OK;
  }
  size_t count;
  enum vinci_status status = lua_file_list(&reader->file, "points", &count, reader->diag);
  if (status != VINCI_OK)
    return status;
  if (old_params == 0)
    study->point_count = 0; /* without params there is no other point */
  if (count + study->point_count > SWEEP_POINTS_MAX)
    return lua_file_error(&reader->file, reader->diag, "more than %d points", SWEEP_POINTS_MAX);
  status = gather_keys(reader, count);
  if (status == VINCI_OK)
    status = widen(reader, old_params, count);
  for (size_t i = 1; status == VINCI_OK && i <= count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i);
    status = read_point(reader);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return status;
}

/* ---- the rest -------------------------------------------------------------------------- */

static enum vinci_status read_sets(struct reader *reader) {
  lua_State *lua = reader->file.lua;
  enum vinci_status status = VINCI_OK;
  lua_getfield(lua, -1, "set");
  size_t count = 0;
  if (!lua_isnil(lua, -1) && !lua_bounds_list(lua, -1, &count))
    return lua_file_error(&reader->file, reader->diag, "set is not a list of \"key=value\"");
  for (size_t i = 1; status == VINCI_OK && i <= count; i++) {
    const char *text = NULL;
    lua_rawgeti(lua, -1, (lua_Integer)i);
    status = lua_file_keep(&reader->file, "set: an entry", &text, reader->diag);
    lua_pop(lua, 1);
    if (status == VINCI_OK && !text_list_add(&reader->study->sets, text))
      status = no_memory(reader);
  }
  lua_pop(lua, 1);
  return status;
}

static bool is_reserved(const char *key) {
  static const char *const words[] = {"soc",    "set",     "op", "trace", "params",    "points",
                                      "memory", "network", "l2", "name",  "max_cycles"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], key) == 0)
      return true;
  return false;
}

/* All fields that are not reserved, sorted, as key=value. */
static enum vinci_status read_operator(struct reader *reader) {
  lua_State *lua = reader->file.lua;
  struct workload *workload = &reader->study->workload;
  size_t capacity = 0;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1))
    capacity++;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->file, capacity + 1, sizeof *workload->args, &room, reader->diag);
  if (status != VINCI_OK)
    return status;
  workload->args = room;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
    const char *key = lua_file_key(&reader->file, -2);
    if (!key)
      return lua_file_error(&reader->file, reader->diag, "has a field that is not named");
    if (is_reserved(key))
      continue;
    if (!workload->op)
      return lua_file_error(&reader->file, reader->diag, "unknown field '%s'", key);
    status =
        lua_file_argument(&reader->file, key, &workload->args[workload->arg_count], reader->diag);
    if (status != VINCI_OK)
      return status;
    workload->arg_count++;
  }
  qsort(workload->args, workload->arg_count, sizeof *workload->args, compare_texts);
  return VINCI_OK;
}

/* A path of the file, relative to the folder it lies in. */
static enum vinci_status resolve_trace(struct reader *reader) {
  struct workload *workload = &reader->study->workload;
  const char *slash = strrchr(reader->file.path, '/');
  if (!workload->trace || *workload->trace == '/' || !slash)
    return VINCI_OK;
  size_t folder = (size_t)(slash - reader->file.path) + 1;
  char *path = arena_alloc(&reader->study->arena, folder + strlen(workload->trace) + 1, 1);
  if (!path)
    return no_memory(reader);
  memcpy(path, reader->file.path, folder);
  strcpy(path + folder, workload->trace);
  workload->trace = path;
  return VINCI_OK;
}

static enum vinci_status read_field(struct reader *reader, const char *key, const char **out) {
  return lua_file_field(&reader->file, key, out, reader->diag);
}

static enum vinci_status refuse_workload(struct reader *reader) {
  enum vinci_status status =
      lua_file_error(&reader->file, reader->diag, "wants one of op and trace");
  if (!reader->study->workload.op) {
    lua_file_hint_key(&reader->file, "op", reader->diag);
    lua_file_hint_key(&reader->file, "trace", reader->diag);
  }
  return status;
}

static enum vinci_status read_table(void *context) {
  struct reader *reader = context;
  struct sweep_study *study = reader->study;
  enum vinci_status status = read_field(reader, "soc", &study->soc);
  if (status == VINCI_OK)
    status = read_field(reader, "op", &study->workload.op);
  if (status == VINCI_OK)
    status = read_field(reader, "trace", &study->workload.trace);
  if (status == VINCI_OK)
    status = read_field(reader, "memory", &study->models.memory);
  if (status == VINCI_OK)
    status = read_field(reader, "network", &study->models.network);
  if (status == VINCI_OK)
    status = read_field(reader, "l2", &study->models.l2);
  if (status == VINCI_OK)
    status = lua_file_whole(&reader->file, "max_cycles", &study->options.max_cycles, reader->diag);
  if (status == VINCI_OK && !study->workload.op == !study->workload.trace)
    status = refuse_workload(reader);
  if (status == VINCI_OK)
    status = resolve_trace(reader);
  if (status == VINCI_OK)
    status = read_operator(reader);
  if (status == VINCI_OK)
    status = read_sets(reader);
  if (status == VINCI_OK)
    status = read_params(reader);
  return status == VINCI_OK ? read_points(reader) : status;
}

enum vinci_status sweep_study_read(struct sweep_study *study, const char *path,
                                   struct vinci_diag *diag) {
  struct reader reader = {.study = study, .diag = diag};
  enum vinci_status status = lua_file_open(&reader.file, path, &study->arena, diag);
  if (status == VINCI_OK)
    status = lua_file_read(&reader.file, read_table, &reader, diag);
  lua_file_close(&reader.file);
  return status;
}
