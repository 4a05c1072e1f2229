/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study as a Lua file:
 *
 *     return {
 *       soc = "Ascend910B1",
 *       set = { "hbm.bandwidth_scale=2" },        -- for all points
 *       op = "matmul", m = 512, k = 512, n = 512, -- or what is asked of:
 *                    -- trace = "file.csv", net = "graph.csv", job = "step.job.csv",
 *                    -- model = "model.lua"
 *       params = {
 *         { "l2.size", "96MiB", "192MiB" }, { "device.cube_cores", 4, 8, 24 },
 *       },
 *       points = { { ["l2.size"] = "1GiB" }, ... }, -- further points, one by one
 *     }
 *
 * with what studies/files/reader.h reads.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/files/reader.h"
#include "studies/job/point.h"
#include "studies/sweep/sweep.h"

struct reader {
  struct study_reader common;
  struct sweep_study *study;
};

/* ---- params ---------------------------------------------------------------------------- */

/* The list { "key", value, value ... } on top of the stack. */
static enum vinci_status read_axis(struct reader *reader, struct sweep_axis *axis) {
  lua_State *lua = reader->common.file.lua;
  size_t length;
  if (!lua_bounds_list(lua, -1, &length) || length < 2)
    return lua_file_error(&reader->common.file, reader->common.diag,
                          "params: an entry is not { \"key\", value, ... }");
  axis->count = 0;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->common.file, length, sizeof *axis->values, &room, reader->common.diag);
  axis->values = room;
  for (size_t i = 1; status == VINCI_OK && i <= length; i++) {
    const char *text = NULL;
    lua_rawgeti(lua, -1, (lua_Integer)i);
    status =
        lua_file_keep(&reader->common.file, "params: a key or value", &text, reader->common.diag);
    lua_pop(lua, 1);
    if (i == 1)
      axis->key = text;
    else
      axis->values[axis->count++] = text;
  }
  return status;
}

static enum vinci_status read_params(struct reader *reader) {
  lua_State *lua = reader->common.file.lua;
  struct sweep_axis axes[SWEEP_PARAMS_MAX];
  size_t count = 0;
  enum vinci_status status = VINCI_OK;
  lua_getfield(lua, -1, "params");
  if (!lua_isnil(lua, -1)) {
    status = lua_file_list(&reader->common.file, "params", &count, reader->common.diag);
    if (status != VINCI_OK)
      return status;
    if (count == 0 || count > SWEEP_PARAMS_MAX)
      return lua_file_error(&reader->common.file, reader->common.diag,
                            "params: a list of 1 to %d entries { \"key\", value, ... } is wanted",
                            SWEEP_PARAMS_MAX);
  }
  for (size_t i = 0; status == VINCI_OK && i < count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i + 1);
    status = read_axis(reader, &axes[i]);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return status == VINCI_OK ? sweep_expand(reader->study, axes, count, reader->common.diag)
                            : status;
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
  lua_State *lua = reader->common.file.lua;
  struct sweep_study *study = reader->study;
  size_t old_count = study->param_count;
  for (size_t i = 1; i <= count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i);
    if (lua_type(lua, -1) != LUA_TTABLE)
      return lua_file_error(&reader->common.file, reader->common.diag,
                            "points: entry %zu is not a table", i);
    for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
      const char *key = lua_file_key(&reader->common.file, -2);
      if (!key)
        return lua_file_error(&reader->common.file, reader->common.diag,
                              "points: entry %zu has a key that is not a text", i);
      if (find_key(study, key) < study->param_count)
        continue;
      if (study->param_count == SWEEP_PARAMS_MAX)
        return lua_file_error(&reader->common.file, reader->common.diag,
                              "points: more than %d parameters", SWEEP_PARAMS_MAX);
      void *room = NULL;
      enum vinci_status status =
          lua_file_room(&reader->common.file, strlen(key) + 1, 1, &room, reader->common.diag);
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
    return sweep_too_many_cells(reader->common.diag);
  const char **values = calloc(total * count + 1, sizeof *values);
  if (!values)
    return diag_error(reader->common.diag, VINCI_E_NOMEM, "out of memory");
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
    enum vinci_status status =
        lua_file_field(&reader->common.file, study->keys[p], &row[p], reader->common.diag);
    if (status != VINCI_OK)
      return status;
  }
  study->point_count++;
  return VINCI_OK;
}

static enum vinci_status read_points(struct reader *reader) {
  lua_State *lua = reader->common.file.lua;
  struct sweep_study *study = reader->study;
  size_t old_params = study->param_count;
  lua_getfield(lua, -1, "points");
  if (lua_isnil(lua, -1)) {
    lua_pop(lua, 1);
    return VINCI_OK;
  }
  size_t count;
  enum vinci_status status =
      lua_file_list(&reader->common.file, "points", &count, reader->common.diag);
  if (status != VINCI_OK)
    return status;
  if (old_params == 0)
    study->point_count = 0; /* without params there is no other point */
  if (count + study->point_count > SWEEP_POINTS_MAX)
    return lua_file_error(&reader->common.file, reader->common.diag, "more than %d points",
                          SWEEP_POINTS_MAX);
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

/* ---- the file -------------------------------------------------------------------------- */

static enum vinci_status read_table(void *context) {
  struct reader *reader = context;
  struct run_spec *spec = &reader->study->spec;
  enum vinci_status status = study_read_settings(&reader->common, spec);
  if (status == VINCI_OK)
    status = study_read_workload(&reader->common, spec);
  if (status == VINCI_OK)
    status = read_params(reader);
  return status == VINCI_OK ? read_points(reader) : status;
}

enum vinci_status sweep_study_read(struct sweep_study *study, const char *path,
                                   struct vinci_diag *diag) {
  static const char *const others[] = {"params", "points", "name", NULL};
  struct reader reader = {
      .common = {.diag = diag, .others = others, .job_fields = job_point_fields}, .study = study};
  struct lua_file *file = &reader.common.file;
  enum vinci_status status = lua_file_open(file, path, &study->arena, diag);
  if (status == VINCI_OK)
    status = lua_file_read(file, read_table, &reader, diag);
  lua_file_close(file);
  return status;
}
