/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a point of a suite has to show beside its numbers:
 *
 *     check = true,                                   -- as 'vinci check'
 *     inputs = { x = "x.npy" }, fill = "random:1",    -- or "zero"
 *     expect = { y = "y.npy" }, atol = 1e-3, rtol = 1e-3,
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/gate/suite_reader.h"

static enum vinci_status read_flag(struct gate_reader *reader, const char *key, bool *out) {
  struct lua_file *file = &reader->common.file;
  int type = lua_getfield(file->lua, -1, key);
  if (type != LUA_TNIL)
    *out = lua_toboolean(file->lua, -1);
  lua_pop(file->lua, 1);
  return type == LUA_TNIL || type == LUA_TBOOLEAN
             ? VINCI_OK
             : lua_file_error(file, reader->common.diag, "%s: '%s' is not true or false",
                              reader->common.who, key);
}

static enum vinci_status read_tolerance(struct gate_reader *reader, const char *key, double *out) {
  struct lua_file *file = &reader->common.file;
  int type = lua_getfield(file->lua, -1, key);
  double value = type == LUA_TNUMBER ? (double)lua_tonumber(file->lua, -1) : -1;
  lua_pop(file->lua, 1);
  if (type == LUA_TNIL)
    return VINCI_OK;
  if (!(value >= 0) || !isfinite(value))
    return lua_file_error(file, reader->common.diag, "%s: '%s' is not a number of at least 0",
                          reader->common.who, key);
  *out = value;
  return VINCI_OK;
}

static int compare_tensors(const void *left, const void *right) {
  const struct gate_tensor *a = left, *b = right;
  return strcmp(a->name, b->name);
}

static enum vinci_status refuse_tensors(struct gate_reader *reader, const char *key) {
  return lua_file_error(&reader->common.file, reader->common.diag,
                        "%s: '%s' is not a table { TENSOR = \"FILE.npy\" }", reader->common.who,
                        key);
}

/* { y = "y.npy" }; paths are relative to the suite. The caller takes the table off the stack. */
static enum vinci_status read_tensors(struct gate_reader *reader, const char *key,
                                      struct gate_tensor **out, size_t *count) {
  struct lua_file *file = &reader->common.file;
  lua_State *lua = file->lua;
  size_t capacity = 1;
  void *room = NULL;
  int type = lua_getfield(lua, -1, key);
  *count = 0;
  if (type == LUA_TNIL)
    return VINCI_OK;
  if (type != LUA_TTABLE)
    return refuse_tensors(reader, key);
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1))
    capacity++;
  enum vinci_status status =
      lua_file_room(file, capacity, sizeof **out, &room, reader->common.diag);
  *out = room;
  for (lua_pushnil(lua); status == VINCI_OK && lua_next(lua, -2); lua_pop(lua, 1)) {
    struct gate_tensor *tensor = &(*out)[(*count)++];
    const char *name = lua_file_key(file, -2);
    if (!name || lua_type(lua, -1) != LUA_TSTRING)
      return refuse_tensors(reader, key);
    tensor->name = arena_strdup(file->arena, name);
    status = tensor->name ? lua_file_keep(file, key, &tensor->path, reader->common.diag)
                          : diag_error(reader->common.diag, VINCI_E_NOMEM, "out of memory");
    if (status == VINCI_OK)
      status = study_resolve(&reader->common, &tensor->path);
  }
  return status;
}

/* "zero", "random:7" */
static enum vinci_status read_fill(struct gate_reader *reader, struct gate_proof *proof) {
  static const char random[] = "random:";
  const char *text = NULL;
  enum vinci_status status =
      lua_file_field(&reader->common.file, "fill", &text, reader->common.diag);
  if (status != VINCI_OK || !text)
    return status;
  char *end = NULL;
  const char *digits = text + strlen(random);
  errno = 0;
  proof->fills = true;
  proof->seed = 0;
  if (strcmp(text, "zero") == 0)
    return VINCI_OK;
  if (strncmp(text, random, strlen(random)) == 0 && *digits >= '0' && *digits <= '9')
    proof->seed = strtoull(digits, &end, 10);
  return end && *end == '\0' && errno == 0 && proof->seed > 0
             ? VINCI_OK
             : lua_file_error(
                   &reader->common.file, reader->common.diag,
                   "%s: fill is \"zero\" or \"random:SEED\" with a seed from 1, not '%s'",
                   reader->common.who, text);
}

enum vinci_status gate_read_proof(struct gate_reader *reader, struct gate_point *point) {
  struct gate_proof *proof = &point->proof;
  lua_State *lua = reader->common.file.lua;
  int top = lua_gettop(lua);
  enum vinci_status status = read_flag(reader, "check", &proof->check);
  if (status == VINCI_OK)
    status = read_tolerance(reader, "atol", &proof->atol);
  if (status == VINCI_OK)
    status = read_tolerance(reader, "rtol", &proof->rtol);
  if (status == VINCI_OK)
    status = read_fill(reader, proof);
  if (status == VINCI_OK)
    status = read_tensors(reader, "inputs", &proof->inputs, &proof->input_count);
  lua_settop(lua, top);
  if (status == VINCI_OK)
    status = read_tensors(reader, "expect", &proof->expected, &proof->expected_count);
  lua_settop(lua, top);
  if (status != VINCI_OK)
    return status;
  if (proof->input_count > 1)
    qsort(proof->inputs, proof->input_count, sizeof *proof->inputs, compare_tensors);
  if (proof->expected_count > 1)
    qsort(proof->expected, proof->expected_count, sizeof *proof->expected, compare_tensors);
  const struct workload *workload = &point->spec.workload;
  const char *what = workload->net     ? "a network"
                     : workload->job   ? "a job of several devices"
                     : workload->model ? "the step of a model"
                                       : NULL;
  if (what && (proof->check || proof->expected_count > 0))
    return lua_file_error(&reader->common.file, reader->common.diag,
                          "%s: %s has no checks and no expected values here", reader->common.who,
                          what);
  return VINCI_OK;
}
