/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: gates. */
#include <stdlib.h>
#include <string.h>

#include "core/vinci_gate.h"
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_steps.h"
#include "scripts/module/lua_vinci.h"
#include "studies/gate/gate.h"

const char lua_gate_type[] = "vinci.gate";

enum { JOBS_MAX = 256, REPEATS_MAX = 100 };

/* ---- functions ------------------------------------------------------------------------------ */

static struct vinci_gate_options read_gate(const struct lua_options *options) {
  return (struct vinci_gate_options){
      .struct_size = sizeof(struct vinci_gate_options),
      .overrides = lua_options_overrides(options),
      .only = lua_options_text(options, "only"),
      .jobs = (unsigned)lua_options_whole(options, "jobs", JOBS_MAX),
      .repeat = (unsigned)lua_options_whole(options, "repeats", REPEATS_MAX),
  };
}

/* vinci.gate { suite =, baseline =, ... } */
static int gate(lua_State *lua) {
  static const char *const names[] = {"suite", "baseline", "policy",  "strict",           "only",
                                      "jobs",  "repeats",  "verbose", LUA_OVERRIDE_NAMES, NULL};
  struct vinci_diag diag = {0};
  struct lua_options options;
  lua_options_open(&options, lua, "vinci.gate", names);
  const char *suite = lua_options_needed(&options, "suite");
  const char *baseline = lua_options_needed(&options, "baseline");
  struct vinci_gate_options given = read_gate(&options);
  given.policy = lua_options_text(&options, "policy");
  given.strict = lua_options_flag(&options, "strict");
  given.verbose = lua_options_flag(&options, "verbose");
  void **object = lua_vinci_object(lua, lua_gate_type);
  vinci_gate *found = NULL;
  struct lua_steps steps;
  lua_steps_open(&steps);
  enum vinci_status status = gate_check_with(suite, baseline, &given, &steps.steps, &found, &diag);
  lua_steps_close(&steps);
  *object = found;
  if (status != VINCI_OK && status != VINCI_E_GATE)
    lua_vinci_raise(lua, &diag);
  return 1;
}

/* vinci.bless { suite =, baseline =, reason =, ... } */
static int bless(lua_State *lua) {
  static const char *const names[] = {
      "suite", "baseline", "reason",  "rebase_inputs",    "allow_ci",
      "only",  "jobs",     "repeats", LUA_OVERRIDE_NAMES, NULL};
  struct vinci_diag diag = {0};
  struct lua_options options;
  struct vinci_gate_blessed blessed;
  lua_options_open(&options, lua, "vinci.bless", names);
  const char *suite = lua_options_needed(&options, "suite");
  const char *baseline = lua_options_needed(&options, "baseline");
  const char *reason = lua_options_needed(&options, "reason");
  struct vinci_gate_options given = read_gate(&options);
  given.rebase_inputs = lua_options_flag(&options, "rebase_inputs");
  given.allow_ci = lua_options_flag(&options, "allow_ci");
  struct lua_steps steps;
  lua_steps_open(&steps);
  enum vinci_status status =
      gate_bless_with(suite, baseline, reason, &given, &steps.steps, &blessed, &diag);
  lua_steps_close(&steps);
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_createtable(lua, 0, 2);
  lua_set_number(lua, "points", blessed.points);
  lua_pushboolean(lua, blessed.changed);
  lua_setfield(lua, -2, "changed");
  return 1;
}

/* ---- methods -------------------------------------------------------------------------------- */

static const vinci_gate *self(lua_State *lua, const char *function) {
  const vinci_gate *found = lua_args_object(lua, 1, lua_gate_type, function, "gate");
  lua_args_end(lua, function, 1);
  return found;
}

/* gate:passes() */
static int passes(lua_State *lua) {
  lua_pushboolean(lua, vinci_gate_exit_code(self(lua, "gate:passes")) == 0);
  return 1;
}

/* gate:exit_code() */
static int exit_code(lua_State *lua) {
  lua_pushinteger(lua, vinci_gate_exit_code(self(lua, "gate:exit_code")));
  return 1;
}

static void push_changes(lua_State *lua, const vinci_gate *found, size_t point) {
  struct vinci_gate_change change;
  lua_newtable(lua);
  for (size_t i = 0; vinci_gate_change_info(found, point, i, &change); i++) {
    lua_createtable(lua, 0, 7);
    lua_set_text(lua, "metric", change.metric);
    lua_set_text(lua, "unit", change.unit);
    lua_set_number(lua, "baseline", change.baseline_value);
    lua_set_number(lua, "value", change.value);
    lua_set_text(lua, "verdict", change.verdict);
    lua_pushboolean(lua, change.fails);
    lua_setfield(lua, -2, "fails");
    lua_set_text(lua, "note", change.note);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
}

/* gate:points(): { { name =, verdict =, ..., changes = { ... } } } */
static int points(lua_State *lua) {
  const vinci_gate *found = self(lua, "gate:points");
  struct vinci_gate_point point;
  lua_newtable(lua);
  for (size_t i = 0; vinci_gate_point_info(found, i, &point); i++) {
    lua_createtable(lua, 0, 7);
    lua_set_text(lua, "name", point.name);
    lua_set_text(lua, "verdict", point.verdict);
    lua_set_number(lua, "exit_code", (uint64_t)point.exit_code);
    lua_set_text(lua, "text", point.text);
    lua_set_number(lua, "baseline_cycles", point.baseline_cycles);
    lua_set_number(lua, "total_cycles", point.total_cycles);
    push_changes(lua, found, i);
    lua_setfield(lua, -2, "changes");
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static enum vinci_status write_text(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_gate_write(object, VINCI_GATE_TEXT, out, diag);
}

static enum vinci_status write_junit(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_gate_write(object, VINCI_GATE_JUNIT, out, diag);
}

static enum vinci_status write_tap(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_gate_write(object, VINCI_GATE_TAP, out, diag);
}

static enum vinci_status write_markdown(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_gate_write(object, VINCI_GATE_MARKDOWN, out, diag);
}

static enum vinci_status write_github(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_gate_write(object, VINCI_GATE_GITHUB, out, diag);
}

static enum vinci_status write_gitlab(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_gate_write(object, VINCI_GATE_GITLAB, out, diag);
}

static int text(lua_State *lua) {
  lua_vinci_push_text(lua, write_text, self(lua, "gate:text"));
  return 1;
}

static int junit(lua_State *lua) {
  lua_vinci_push_text(lua, write_junit, self(lua, "gate:junit"));
  return 1;
}

static int tap(lua_State *lua) {
  lua_vinci_push_text(lua, write_tap, self(lua, "gate:tap"));
  return 1;
}

static int markdown(lua_State *lua) {
  lua_vinci_push_text(lua, write_markdown, self(lua, "gate:markdown"));
  return 1;
}

static int github(lua_State *lua) {
  lua_vinci_push_text(lua, write_github, self(lua, "gate:github"));
  return 1;
}

static int gitlab(lua_State *lua) {
  lua_vinci_push_text(lua, write_gitlab, self(lua, "gate:gitlab"));
  return 1;
}

static int free_gate(lua_State *lua) {
  vinci_gate_free(lua_vinci_take(lua, lua_gate_type));
  return 0;
}

void lua_gate_open(lua_State *lua) {
  static const luaL_Reg methods[] = {{"passes", passes},     {"exit_code", exit_code},
                                     {"points", points},     {"text", text},
                                     {"junit", junit},       {"tap", tap},
                                     {"markdown", markdown}, {"github", github},
                                     {"gitlab", gitlab},     {NULL, NULL}};
  static const luaL_Reg functions[] = {{"gate", gate}, {"bless", bless}, {NULL, NULL}};
  lua_vinci_type(lua, lua_gate_type, methods, free_gate);
  luaL_setfuncs(lua, functions, 0);
}
