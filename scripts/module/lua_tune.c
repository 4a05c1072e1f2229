/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: the schedules of an operator, searches among them, and what was found. */
#include <limits.h>
#include <string.h>

#include "core/vinci_tune.h"
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_vinci.h"

enum { JOBS_MAX = 256, ROBUST_MAX = 16 };

/* ---- spaces --------------------------------------------------------------------------------- */

/* Values as texts, as arguments have them. */
static void push_knobs(lua_State *lua, const vinci_space *space) {
  char text[64];
  size_t count = vinci_space_knob_count(space);
  lua_createtable(lua, (int)count, 0);
  for (size_t k = 0; k < count; k++) {
    size_t values = vinci_space_value_count(space, k);
    lua_createtable(lua, 0, 2);
    lua_set_text(lua, "name", vinci_space_knob_name(space, k));
    lua_createtable(lua, (int)values, 0);
    for (size_t v = 0; v < values; v++) {
      vinci_space_value(space, k, v, text, sizeof text);
      lua_pushstring(lua, text);
      lua_rawseti(lua, -2, (lua_Integer)v + 1);
    }
    lua_setfield(lua, -2, "values");
    lua_rawseti(lua, -2, (lua_Integer)k + 1);
  }
}

static void push_schedules(lua_State *lua, const vinci_space *space) {
  char text[VINCI_TUNE_SCHEDULE_BYTES];
  size_t count = vinci_space_count(space);
  lua_createtable(lua, count < INT_MAX ? (int)count : 0, 0);
  for (size_t i = 0; i < count; i++) {
    vinci_space_schedule(space, i, text, sizeof text);
    lua_createtable(lua, 0, 2);
    lua_set_text(lua, "schedule", text);
    lua_set_number(lua, "estimate_cycles", vinci_space_estimate(space, i));
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
}

/* vinci.space(soc, op, args [, most]) */
static int space(lua_State *lua) {
  static const char function[] = "vinci.space";
  struct vinci_diag diag = {0};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const char *op = lua_args_text(lua, 2, function, "op");
  lua_args_end(lua, function, 4);
  size_t count, most = 0;
  const char **args = lua_args_assignments(lua, 3, function, "args", &count);
  if (!lua_isnoneornil(lua, 4))
    most = (size_t)lua_args_whole(lua, 4, function, "most", 1, INT_MAX);
  vinci_space *found;
  if (vinci_space_open(soc, op, args, count, most, &found, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_createtable(lua, 0, 4);
  lua_set_number(lua, "default", vinci_space_default(found) + 1);
  lua_set_flag(lua, "closed", vinci_space_is_closed(found));
  push_knobs(lua, found);
  lua_setfield(lua, -2, "knobs");
  push_schedules(lua, found);
  lua_setfield(lua, -2, "schedules");
  vinci_space_free(found);
  return 1;
}

/* ---- searches ------------------------------------------------------------------------------- */

static uint64_t whole_option(lua_State *lua, const char *function, const char *key,
                             lua_Integer most) {
  char name[64];
  uint64_t value = 0;
  snprintf(name, sizeof name, "options.%s", key);
  if (lua_getfield(lua, 4, key) != LUA_TNIL)
    value = (uint64_t)lua_args_whole(lua, -1, function, name, 0, most);
  return value;
}

/* What a text option refers to stays on the stack. */
static const char *text_option(lua_State *lua, const char *function, const char *key) {
  char name[64];
  snprintf(name, sizeof name, "options.%s", key);
  return lua_getfield(lua, 4, key) == LUA_TNIL ? NULL : lua_args_text(lua, -1, function, name);
}

static struct vinci_tune_options read_options(lua_State *lua, const char *function) {
  static const char *const names[] = {"strategy", "evaluations", "schedules",  "seed",
                                      "robust",   "jobs",        "memory",     "network",
                                      "l2",       "max_cycles",  "repository", NULL};
  struct vinci_tune_options options = {.struct_size = sizeof options};
  struct vinci_run_options run = {0};
  lua_args_options(lua, 4, function, names);
  lua_vinci_models(lua, 4, function, &run);
  options.memory = run.memory;
  options.network = run.network;
  options.l2_start = run.l2_start;
  options.strategy = text_option(lua, function, "strategy");
  options.evaluations = whole_option(lua, function, "evaluations", INT_MAX);
  options.schedules = whole_option(lua, function, "schedules", INT_MAX);
  options.seed = whole_option(lua, function, "seed", LUA_MAXINTEGER);
  options.robust = (unsigned)whole_option(lua, function, "robust", ROBUST_MAX);
  options.jobs = (unsigned)whole_option(lua, function, "jobs", JOBS_MAX);
  return options;
}

static void push_tuned(lua_State *lua, const struct vinci_tuned *tuned) {
  lua_createtable(lua, 0, 10);
  lua_set_text(lua, "schedule", tuned->schedule);
  lua_set_number(lua, "cycles", tuned->cycles);
  lua_set_text(lua, "default_schedule", tuned->default_schedule);
  lua_set_number(lua, "default_cycles", tuned->default_cycles);
  lua_set_number(lua, "schedules", tuned->schedules);
  lua_set_flag(lua, "closed", tuned->closed);
  lua_set_number(lua, "evaluations", tuned->evaluations);
  lua_set_number(lua, "failed", tuned->failed);
  lua_set_number(lua, "neighbours", tuned->neighbours);
  lua_set_number(lua, "worst_permille", tuned->worst_permille);
}

/* Adds what was found to a file of tunings. */
static enum vinci_status keep(const char *path, const vinci_soc *soc, const char *op,
                              const char *const *args, size_t count,
                              const struct vinci_tune_options *options,
                              const struct vinci_tuned *tuned, struct vinci_diag *diag) {
  vinci_tunings *tunings;
  enum vinci_status status = vinci_tunings_open(path, &tunings, diag);
  if (status == VINCI_OK)
    status = vinci_tunings_add(tunings, soc, op, args, count, options, tuned, diag);
  if (status == VINCI_OK)
    status = vinci_tunings_save(tunings, path, diag);
  vinci_tunings_free(tunings);
  return status;
}

/* vinci.tune(soc, op, args [, options]) */
static int tune(lua_State *lua) {
  static const char function[] = "vinci.tune";
  struct vinci_diag diag = {0};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const char *op = lua_args_text(lua, 2, function, "op");
  lua_args_end(lua, function, 4);
  struct vinci_tune_options options = read_options(lua, function);
  struct vinci_tuned tuned;
  size_t count;
  const char *repository = text_option(lua, function, "repository");
  const char **args = lua_args_assignments(lua, 3, function, "args", &count);
  if (vinci_tune(soc, op, args, count, &options, &tuned, &diag) != VINCI_OK ||
      (repository && keep(repository, soc, op, args, count, &options, &tuned, &diag) != VINCI_OK))
    lua_vinci_raise(lua, &diag);
  push_tuned(lua, &tuned);
  return 1;
}

void lua_tune_open(lua_State *lua) {
  static const luaL_Reg functions[] = {{"space", space}, {"tune", tune}, {NULL, NULL}};
  luaL_setfuncs(lua, functions, 0);
}
