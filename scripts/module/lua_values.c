/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: executing a trace with real bytes; tensors from and to .npy. */
#include <string.h>

#include "scripts/module/lua_vinci.h"

const char lua_values_type[] = "vinci.values";

/* vinci.values(soc, trace) */
static int create(lua_State *lua) {
  static const char function[] = "vinci.values";
  struct vinci_diag diag = {0};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const vinci_trace *trace = lua_args_object(lua, 2, lua_trace_type, function, "trace");
  lua_args_end(lua, function, 2);
  void **object = lua_vinci_object(lua, lua_values_type);
  vinci_values *values = NULL;
  enum vinci_status status = vinci_values_create(soc, trace, &values, &diag);
  if (status != VINCI_OK) {
    diag.status = status;
    lua_vinci_raise(lua, &diag);
  }
  *object = values;
  lua_pushvalue(lua, 1); /* both must outlive the values */
  lua_setiuservalue(lua, -2, 1);
  lua_pushvalue(lua, 2);
  lua_setiuservalue(lua, -2, 2);
  size_t bytes = 0;
  struct vinci_tensor tensor;
  for (size_t i = 0; i < vinci_values_count(values); i++)
    bytes += vinci_values_tensor(values, i, &tensor) ? (size_t)tensor.bytes : 0;
  lua_vinci_weigh(lua, bytes);
  return 1;
}

/* The values; chip and trace must not have been freed by hand. */
static vinci_values *self(lua_State *lua, const char *function) {
  vinci_values *values = lua_args_object(lua, 1, lua_values_type, function, "values");
  lua_getiuservalue(lua, 1, 1);
  (void)lua_args_object(lua, -1, lua_soc_type, function, "values.soc");
  lua_getiuservalue(lua, 1, 2);
  (void)lua_args_object(lua, -1, lua_trace_type, function, "values.trace");
  lua_pop(lua, 2);
  return values;
}

static int return_self(lua_State *lua, enum vinci_status status, struct vinci_diag *diag) {
  if (status != VINCI_OK) {
    diag->status = status;
    lua_vinci_raise(lua, diag);
  }
  lua_settop(lua, 1);
  return 1;
}

/* values:load(tensor, path) */
static int load_tensor(lua_State *lua) {
  static const char function[] = "values:load";
  struct vinci_diag diag = {0};
  vinci_values *values = self(lua, function);
  const char *tensor = lua_args_text(lua, 2, function, "tensor");
  const char *path = lua_args_text(lua, 3, function, "path");
  lua_args_end(lua, function, 3);
  return return_self(lua, vinci_values_load(values, tensor, path, &diag), &diag);
}

static int load_files(lua_State *lua) {
  struct vinci_diag diag = {0};
  vinci_values *values = self(lua, "values:load_files");
  lua_args_end(lua, "values:load_files", 1);
  return return_self(lua, vinci_values_load_files(values, &diag), &diag);
}

/* values:fill([seed]) */
static int fill(lua_State *lua) {
  static const char function[] = "values:fill";
  vinci_values *values = self(lua, function);
  lua_args_end(lua, function, 2);
  lua_Integer seed =
      lua_isnil(lua, 2) ? 1 : lua_args_whole(lua, 2, function, "seed", 0, LUA_MAXINTEGER);
  vinci_values_fill(values, (uint64_t)seed);
  lua_settop(lua, 1);
  return 1;
}

static int execute(lua_State *lua) {
  struct vinci_diag diag = {0};
  vinci_values *values = self(lua, "values:run");
  lua_args_end(lua, "values:run", 1);
  return return_self(lua, vinci_values_run(values, NULL, NULL, &diag), &diag);
}

/* values:save(tensor, path) */
static int save_tensor(lua_State *lua) {
  static const char function[] = "values:save";
  struct vinci_diag diag = {0};
  vinci_values *values = self(lua, function);
  const char *tensor = lua_args_text(lua, 2, function, "tensor");
  const char *path = lua_args_text(lua, 3, function, "path");
  lua_args_end(lua, function, 3);
  return return_self(lua, vinci_values_save(values, tensor, path, &diag), &diag);
}

static lua_Number tolerance(lua_State *lua, const char *function, const char *key,
                            const char *name) {
  if (lua_getfield(lua, 4, key) == LUA_TNIL)
    return 0;
  return lua_args_number(lua, -1, function, name);
}

/* values:expect(tensor, path [, { atol =, rtol = }]): { elements, differing, largest_error } */
static int expect(lua_State *lua) {
  static const char function[] = "values:expect";
  static const char *const names[] = {"atol", "rtol", NULL};
  struct vinci_diag diag = {0};
  struct vinci_comparison found = {0};
  vinci_values *values = self(lua, function);
  const char *tensor = lua_args_text(lua, 2, function, "tensor");
  const char *path = lua_args_text(lua, 3, function, "path");
  lua_args_end(lua, function, 4);
  lua_args_options(lua, 4, function, names);
  lua_Number atol = tolerance(lua, function, "atol", "options.atol");
  lua_Number rtol = tolerance(lua, function, "rtol", "options.rtol");
  enum vinci_status status = vinci_values_expect(values, tensor, path, atol, rtol, &found, &diag);
  if (status != VINCI_OK && status != VINCI_E_MISMATCH) {
    diag.status = status;
    lua_vinci_raise(lua, &diag);
  }
  lua_newtable(lua);
  lua_pushinteger(lua, (lua_Integer)found.elements);
  lua_setfield(lua, -2, "elements");
  lua_pushinteger(lua, (lua_Integer)found.differing);
  lua_setfield(lua, -2, "differing");
  lua_pushnumber(lua, found.largest_error);
  lua_setfield(lua, -2, "largest_error");
  return 1;
}

/* values:bytes(tensor): what it holds, little-endian, for string.unpack. */
static int bytes(lua_State *lua) {
  static const char function[] = "values:bytes";
  struct vinci_tensor tensor;
  vinci_values *values = self(lua, function);
  const char *name = lua_args_text(lua, 2, function, "tensor");
  lua_args_end(lua, function, 2);
  for (size_t i = 0; i < vinci_values_count(values); i++)
    if (vinci_values_tensor(values, i, &tensor) && strcmp(tensor.name, name) == 0) {
      lua_pushlstring(lua, tensor.data, (size_t)tensor.bytes);
      return 1;
    }
  lua_args_refuse(lua, function, "tensor", "is '%.80s', which no tensor is called", name);
}

static int free_values(lua_State *lua) {
  vinci_values_free(lua_vinci_take(lua, lua_values_type));
  return 0;
}

void lua_values_open(lua_State *lua) {
  static const luaL_Reg methods[] = {
      {"load", load_tensor}, {"load_files", load_files}, {"fill", fill},   {"run", execute},
      {"save", save_tensor}, {"expect", expect},         {"bytes", bytes}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"values", create}, {NULL, NULL}};
  lua_vinci_type(lua, lua_values_type, methods, free_values);
  luaL_setfuncs(lua, functions, 0);
}
