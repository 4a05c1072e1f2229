/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: lists of operators, and evaluations. */
#include <limits.h>
#include <string.h>

#include "core/vinci_evaluate.h"
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_vinci.h"

enum { JOBS_MAX = 256, REPEAT_MAX = 1000000 };
#define PS_PER_US 1e6
#define GIVEN_US_MAX 1e9

static void push_result(lua_State *lua, const struct vinci_ops_result *result, const char *folder,
                        bool sequence) {
  lua_createtable(lua, 0, 12);
  lua_set_number(lua, "operators", result->operators);
  lua_set_number(lua, "known", result->known);
  lua_set_number(lua, "equal", result->equal);
  lua_set_number(lua, "stored", result->stored);
  lua_set_number(lua, "ok", result->ok);
  lua_set_number(lua, "unsupported", result->unsupported);
  lua_set_number(lua, "failed", result->failed + result->limited);
  lua_set_number(lua, "of_library", result->origins[VINCI_OPS_OF_LIBRARY].rows);
  if (sequence) {
    lua_set_number(lua, "input_bytes", result->input_bytes);
    lua_set_number(lua, "found_bytes", result->found_bytes);
    lua_set_us(lua, "simulated_us", result->simulated_ps);
    lua_set_us(lua, "measured_us", result->measured_ps);
    lua_set_number(lua, "launches", result->launches);
    lua_set_number(lua, "skipped", result->skipped);
  }
  lua_pushfstring(lua, "%s/op_summary.csv", folder);
  lua_setfield(lua, -2, "file");
}

/* vinci.ops { list =, output =, ... } */
static int ops(lua_State *lua) {
  static const char *const names[] = {
      "list",    "output", "max_cycles", "jobs",   "sequence",         "repeat", "interval",
      "results", "exact",  "library",    "device", LUA_OVERRIDE_NAMES, NULL};
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
      .repeat = (unsigned)lua_options_whole(&options, "repeat", REPEAT_MAX),
      .interval = lua_options_flag(&options, "interval"),
      .results = lua_options_text(&options, "results"),
      .exact = lua_options_flag(&options, "exact"),
      .library = lua_options_text(&options, "library"),
      .device = lua_options_text(&options, "device"),
  };
  if (run.sequence && run.jobs > 1)
    lua_args_refuse(lua, "vinci.ops", "options.jobs", "does not apply to a sequence");
  if (vinci_ops_run(list, folder, &run, &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, &result, folder, run.sequence);
  return 1;
}

/* ---- evaluations ------------------------------------------------------------------------ */

/* The time on top of the stack, in microseconds, of an operator that is not simulated. */
static uint64_t read_given(lua_State *lua, const char *function, const char *name) {
  lua_Number us = lua_args_number(lua, -1, function, name);
  if (!(us > 0 && us <= GIVEN_US_MAX))
    lua_args_refuse(lua, function, name,
                    "has us = %f, not a time above 0 of at most 1e9 microseconds", us);
  uint64_t ps = (uint64_t)(us * PS_PER_US + 0.5);
  return ps > 0 ? ps : 1;
}

/* Reads question number `index` of the list at 2; what it refers to is kept by the table `keeper`.
 */
static void read_question(lua_State *lua, const char *function, int keeper, lua_Integer index,
                          struct vinci_evaluation *out) {
  char name[64];
  snprintf(name, sizeof name, "list[" LUA_INTEGER_FMT "]", index);
  if (lua_rawgeti(lua, 2, index) != LUA_TTABLE)
    lua_args_refuse(lua, function, name, "is not a table { op =, args = { key = value } }");
  int at = lua_gettop(lua);
  lua_getfield(lua, at, "communication");
  if (lua_toboolean(lua, -1)) {
    lua_settop(lua, at - 1);
    return;
  }
  if (lua_getfield(lua, at, "us") != LUA_TNIL)
    out->given_ps = read_given(lua, function, name);
  if (lua_getfield(lua, at, "op") != LUA_TSTRING)
    lua_args_refuse(lua, function, name, "has no op, the name of an operator");
  out->op = lua_tostring(lua, -1);
  lua_rawseti(lua, keeper, 2 * index - 1);
  if (lua_getfield(lua, at, "args") == LUA_TNIL) {
    lua_newtable(lua);
    lua_replace(lua, -2);
  }
  out->args = lua_args_assignments(lua, lua_gettop(lua), function, name, &out->arg_count);
  lua_rawseti(lua, keeper, 2 * index);
  lua_settop(lua, at - 1);
}

static void push_answer(lua_State *lua, const struct vinci_evaluation *answer) {
  lua_createtable(lua, 0, 3);
  if (answer->status == VINCI_OK) {
    lua_set_number(lua, "cycles", answer->total_cycles);
    lua_set_us(lua, "us", answer->duration_ps);
    lua_pushstring(lua, answer->program);
    lua_setfield(lua, -2, "program");
    return;
  }
  lua_pushstring(lua, lua_vinci_status(answer->status));
  lua_setfield(lua, -2, "status");
  lua_pushstring(lua, answer->text);
  lua_setfield(lua, -2, "text");
}

static struct vinci_evaluate_options read_evaluate_options(lua_State *lua, const char *function) {
  static const char *const names[] = {"jobs",       "memory",   "network", "l2", "code",
                                      "max_cycles", "sequence", "library", NULL};
  struct vinci_evaluate_options options = {.struct_size = sizeof options};
  struct vinci_run_options run = {0};
  lua_args_options(lua, 3, function, names);
  lua_vinci_models(lua, 3, function, &run);
  options.memory = run.memory;
  options.network = run.network;
  options.l2_start = run.l2_start;
  options.code_found_ppm = run.code_found_ppm;
  options.max_cycles = run.max_cycles;
  lua_getfield(lua, 3, "sequence");
  options.sequence = lua_toboolean(lua, -1);
  if (lua_getfield(lua, 3, "library") != LUA_TNIL)
    options.library = lua_args_text(lua, -1, function, "options.library");
  if (lua_getfield(lua, 3, "jobs") != LUA_TNIL)
    options.jobs = (unsigned)lua_args_whole(lua, -1, function, "options.jobs", 1, JOBS_MAX);
  return options;
}

/* vinci.evaluate(soc, list [, options]): a table { cycles =, us =, program = } or { status =, text
 * = } each.
 */
static int evaluate(lua_State *lua) {
  static const char function[] = "vinci.evaluate";
  struct vinci_diag diag = {0};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  lua_args_end(lua, function, 3);
  if (lua_type(lua, 2) != LUA_TTABLE)
    lua_args_refuse(lua, function, "list", "is not a list of tables { op =, args = }");
  struct vinci_evaluate_options options = read_evaluate_options(lua, function);
  size_t count = lua_rawlen(lua, 2);
  struct vinci_evaluation *list = lua_newuserdatauv(lua, (count + 1) * sizeof *list, 0);
  lua_newtable(lua);
  int keeper = lua_gettop(lua);
  memset(list, 0, (count + 1) * sizeof *list);
  for (size_t i = 0; i < count; i++)
    read_question(lua, function, keeper, (lua_Integer)i + 1, &list[i]);
  if (vinci_evaluate(soc, list, count, &options, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_createtable(lua, (int)(count < INT_MAX ? count : 0), 0);
  for (size_t i = 0; i < count; i++) {
    push_answer(lua, &list[i]);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  return 1;
}

void lua_ops_open(lua_State *lua) {
  static const luaL_Reg functions[] = {{"ops", ops}, {"evaluate", evaluate}, {NULL, NULL}};
  luaL_setfuncs(lua, functions, 0);
}
