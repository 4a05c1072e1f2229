/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: lists of operators. */
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_vinci.h"

enum { JOBS_MAX = 256 };
#define PS_PER_US 1e6

static void set_number(lua_State *lua, const char *key, uint64_t value) {
  lua_pushinteger(lua, (lua_Integer)value);
  lua_setfield(lua, -2, key);
}

static void set_us(lua_State *lua, const char *key, uint64_t ps) {
  lua_pushnumber(lua, (lua_Number)ps / PS_PER_US);
  lua_setfield(lua, -2, key);
}

static void push_result(lua_State *lua, const struct vinci_ops_result *result, const char *folder,
                        bool sequence) {
  lua_createtable(lua, 0, 10);
  set_number(lua, "operators", result->operators);
  set_number(lua, "known", result->known);
  set_number(lua, "equal", result->equal);
  set_number(lua, "stored", result->stored);
  set_number(lua, "ok", result->ok);
  set_number(lua, "unsupported", result->unsupported);
  set_number(lua, "failed", result->failed + result->limited);
  if (sequence) {
    set_number(lua, "input_bytes", result->input_bytes);
    set_number(lua, "found_bytes", result->found_bytes);
    set_us(lua, "simulated_us", result->simulated_ps);
    set_us(lua, "measured_us", result->measured_ps);
  }
  lua_pushfstring(lua, "%s/op_summary.csv", folder);
  lua_setfield(lua, -2, "file");
}

/* vinci.ops { list =, output =, ... } */
static int ops(lua_State *lua) {
  static const char *const names[] = {"list",    "output", "max_cycles",       "jobs", "sequence",
                                      "results", "exact",  LUA_OVERRIDE_NAMES, NULL};
  struct vinci_diag diag = {0};
  struct lua_options options;
  struct vinci_ops_result result;
  lua_options_open(&options, lua, "vinci.ops", names);
  const char *list = lua_options_needed(&options, "list");
  const char *folder = lua_options_needed(&options, "output");
  struct vinci_ops_options run = {
      .struct_size = sizeof run,
      .overrides = lua_options_overrides(&options),
      .max_cycles = lua_options_whole(&options, "max_cycles", LUA_MAXINTEGER),
      .jobs = (unsigned)lua_options_whole(&options, "jobs", JOBS_MAX),
      .sequence = lua_options_flag(&options, "sequence"),
      .results = lua_options_text(&options, "results"),
      .exact = lua_options_flag(&options, "exact"),
  };
  if (run.sequence && run.jobs > 1)
    lua_args_refuse(lua, "vinci.ops", "options.jobs", "does not apply to a sequence");
  if (vinci_ops_run(list, folder, &run, &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, &result, folder, run.sequence);
  return 1;
}

void lua_ops_open(lua_State *lua) {
  static const luaL_Reg functions[] = {{"ops", ops}, {NULL, NULL}};
  luaL_setfuncs(lua, functions, 0);
}
