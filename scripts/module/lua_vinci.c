/* SPDX-License-Identifier: Apache-2.0 */
/* The Lua module "vinci": what all its objects share, and the parts written in Lua. */
#include "scripts/module/lua_vinci.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "scripts/host/soc_host.h"

static const char error_type[] = "vinci.error";

/* ---- errors --------------------------------------------------------------------------------- */

/* The status as a word: "usage", "input", "deadlock". */
const char *lua_vinci_status(enum vinci_status status) {
  switch (status) {
#define X(name, value, exit_code, text)                                                            \
  case VINCI_##name:                                                                               \
    return #name;
    VINCI_STATUS_LIST(X)
#undef X
  }
  return "E_INTERNAL";
}

void lua_vinci_raise(lua_State *lua, const struct vinci_diag *diag) {
  char message[sizeof diag->path + sizeof diag->text + sizeof diag->hint + 96];
  int length = 0;
  if (diag->path[0] && diag->line > 0)
    length = snprintf(message, sizeof message, "%s:%lu: ", diag->path, diag->line);
  else if (diag->path[0])
    length = snprintf(message, sizeof message, "%s: ", diag->path);
  snprintf(message + length, sizeof message - (size_t)length, "%s%s%s%s", diag->text,
           diag->hint[0] ? " (" : "", diag->hint, diag->hint[0] ? ")" : "");
  lua_createtable(lua, 0, 8);
  lua_set_text(lua, "message", message);
  lua_set_text(lua, "text", diag->text);
  lua_set_text(lua, "hint", diag->hint);
  lua_set_text(lua, "path", diag->path);
  lua_set_text(lua, "status", lua_vinci_status(diag->status));
  luaL_where(lua, 1);
  lua_setfield(lua, -2, "where");
  lua_pushinteger(lua, (lua_Integer)diag->line);
  lua_setfield(lua, -2, "line");
  lua_pushinteger(lua, vinci_status_exit_code(diag->status));
  lua_setfield(lua, -2, "exit_code");
  luaL_setmetatable(lua, error_type);
  lua_error(lua);
  abort(); /* lua_error does not return */
}

enum vinci_status lua_vinci_take_error(lua_State *lua, struct vinci_diag *diag) {
  static const enum vinci_status all[] = {
#define X(name, value, exit_code, text) VINCI_##name,
      VINCI_STATUS_LIST(X)
#undef X
  };
  lua_Integer code = vinci_status_exit_code(VINCI_E_USAGE);
  size_t i = 0;
  int error = lua_gettop(lua);
  if (lua_type(lua, error) == LUA_TTABLE && lua_getfield(lua, error, "exit_code") == LUA_TNUMBER)
    code = lua_tointeger(lua, -1);
  while (i + 1 < sizeof all / sizeof *all && vinci_status_exit_code(all[i]) != code)
    i++;
  (void)diag_error(diag, all[i], "%s", luaL_tolstring(lua, error, NULL));
  lua_settop(lua, error - 1);
  return all[i];
}

static int error_text(lua_State *lua) {
  lua_settop(lua, 1);
  if (lua_type(lua, 1) != LUA_TTABLE)
    return luaL_error(lua, "not an error of vinci");
  lua_getfield(lua, 1, "where");
  lua_getfield(lua, 1, "message");
  const char *where = lua_tostring(lua, -2), *message = lua_tostring(lua, -1);
  lua_pushfstring(lua, "%s%s", where ? where : "", message ? message : "");
  return 1;
}

static int error_concat(lua_State *lua) {
  lua_settop(lua, 2);
  luaL_tolstring(lua, 1, NULL);
  luaL_tolstring(lua, 2, NULL);
  lua_concat(lua, 2);
  return 1;
}

/* ---- objects -------------------------------------------------------------------------------- */

void **lua_vinci_object(lua_State *lua, const char *type) {
  void **object = lua_newuserdatauv(lua, sizeof *object, 2);
  *object = NULL;
  luaL_setmetatable(lua, type);
  return object;
}

const char lua_vinci_busy[] = "busy";

void *lua_vinci_take(lua_State *lua, const char *type) {
  void **object = luaL_checkudata(lua, 1, type);
  void *held = *object;
  if (held == lua_vinci_busy)
    luaL_error(lua, "free: the %s is in use by the run that calls this function", type);
  *object = NULL;
  return held;
}

void lua_vinci_type(lua_State *lua, const char *type, const luaL_Reg *methods,
                    lua_CFunction free_object) {
  luaL_newmetatable(lua, type);
  lua_newtable(lua);
  luaL_setfuncs(lua, methods, 0);
  lua_pushcfunction(lua, free_object);
  lua_setfield(lua, -2, "free");
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, free_object);
  lua_setfield(lua, -2, "__gc");
  lua_pushcfunction(lua, free_object);
  lua_setfield(lua, -2, "__close");
  lua_pushliteral(lua, "protected");
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 1);
}

/* The collector sees a userdata of one pointer: a step in proportion to the bytes it points to. */
void lua_vinci_weigh(lua_State *lua, size_t bytes) {
  size_t kib = bytes >> 10;
  lua_gc(lua, LUA_GCSTEP, kib < INT_MAX ? (int)kib : INT_MAX);
}

void lua_vinci_push_text(lua_State *lua,
                         enum vinci_status (*writer)(const void *object, FILE *out,
                                                     struct vinci_diag *diag),
                         const void *object) {
  struct vinci_diag diag = {0};
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  enum vinci_status status =
      out ? writer(object, out, &diag) : diag_error(&diag, VINCI_E_NOMEM, "out of memory");
  if (out && !file_close_text(out, &text) && status == VINCI_OK)
    status = diag_error(&diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    lua_pushlstring(lua, text, length);
  free(text);
  if (status != VINCI_OK) {
    diag.status = status;
    lua_vinci_raise(lua, &diag);
  }
}

/* ---- parts written in Lua -------------------------------------------------------------------- */

/*
 * vinci.kernel, vinci.plot, vinci.transformer and its parts lie in lib/ beside the hardware
 * descriptions and are loaded at first use: __index of the module.
 */
static int load_part(lua_State *lua) {
  static const char *const parts[] = {"kernel",
                                      "plot",
                                      "transformer",
                                      "transformer_operators",
                                      "transformer_job",
                                      "transformer_layers",
                                      "transformer_memory",
                                      "transformer_clock",
                                      "transformer_sequence",
                                      "transformer_point",
                                      "planner_bounds",
                                      "planner_report",
                                      "tables",
                                      "tables_serving",
                                      "tables_training",
                                      "planner",
                                      "serving",
                                      "serving_costs",
                                      NULL};
  struct vinci_diag diag = {0};
  char folder[3072], path[4096];
  const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
  size_t i = 0;
  while (parts[i] && strcmp(parts[i], name) != 0)
    i++;
  if (!parts[i])
    return 0;
  if (soc_host_data_dir(NULL, folder, sizeof folder, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  snprintf(path, sizeof path, "%s/lib/%s.lua", folder, name);
  if (luaL_loadfilex(lua, path, "t") != LUA_OK)
    return lua_error(lua);
  lua_pushvalue(lua, 1);
  lua_call(lua, 1, 1);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, 1, name);
  return 1;
}

int luaopen_vinci(lua_State *lua) {
  luaL_newmetatable(lua, error_type);
  lua_pushcfunction(lua, error_text);
  lua_setfield(lua, -2, "__tostring");
  lua_pushcfunction(lua, error_concat);
  lua_setfield(lua, -2, "__concat");
  lua_pop(lua, 1);
  lua_newtable(lua);
  lua_set_text(lua, "version", vinci_version());
  lua_set_text(lua, "model_revision", vinci_model_revision());
  lua_set_text(lua, "commit", vinci_commit());
  lua_soc_open(lua);
  lua_trace_open(lua);
  lua_result_open(lua);
  lua_values_open(lua);
  lua_sweep_open(lua);
  lua_ops_open(lua);
  lua_net_open(lua);
  lua_diff_open(lua);
  lua_gate_open(lua);
  lua_group_open(lua);
  lua_tune_open(lua);
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, load_part);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
  return 1;
}
