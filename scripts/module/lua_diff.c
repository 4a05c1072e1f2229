/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: comparisons of two runs. */
#include <string.h>

#include "core/vinci_diff.h"
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_vinci.h"

/* Not seen by scripts: frees a comparison that an error has left. */
static const char diff_type[] = "vinci.diff";

enum { JOBS_MAX = 256 };

static void set_whole(lua_State *lua, const char *key, int64_t value) {
  lua_pushinteger(lua, (lua_Integer)value);
  lua_setfield(lua, -2, key);
}

/* ---- what is compared -------------------------------------------------------------------------
 */

/* Option a or b: a text, a path or the name of an operator; or a table { op =, args = ... } or
 * { path = }, with overrides of its own. */
static void read_side(const struct lua_options *options, const char *key,
                      struct vinci_diff_side *out) {
  static const char *const names[] = {"op", "path", "args", LUA_OVERRIDE_NAMES, NULL};
  lua_State *lua = options->lua;
  char name[32];
  const char **words, **args = NULL;
  size_t arg_count = 0;
  luaL_checkstack(lua, 32, NULL);
  snprintf(name, sizeof name, "options.%s", key);
  if (lua_getfield(lua, options->at, key) == LUA_TSTRING) {
    words = lua_newuserdatauv(lua, sizeof *words, 0);
    words[0] = lua_tostring(lua, -2);
    *out = (struct vinci_diff_side){words, 1, lua_options_overrides(options)};
    return;
  }
  if (lua_type(lua, -1) != LUA_TTABLE)
    lua_args_refuse(lua, options->function, name,
                    "is not a path or a table { op =, args = } or { path = }");
  struct lua_options own = {lua, options->function, lua_gettop(lua)};
  lua_args_options(lua, own.at, options->function, names);
  const char *op = lua_options_text(&own, "op"), *path = lua_options_text(&own, "path");
  if ((op != NULL) == (path != NULL))
    lua_args_refuse(lua, options->function, name, "wants one of op and path");
  if (lua_getfield(lua, own.at, "args") != LUA_TNIL)
    args = lua_args_assignments(lua, lua_gettop(lua), options->function, "args", &arg_count);
  words = lua_newuserdatauv(lua, (arg_count + 1) * sizeof *words, 0);
  words[0] = op ? op : path;
  for (size_t i = 0; i < arg_count; i++)
    words[i + 1] = args[i];
  *out = (struct vinci_diff_side){words, arg_count + 1, lua_options_overrides(options)};
  struct vinci_overrides given = lua_options_overrides(&own);
  out->overrides.soc = given.soc ? given.soc : out->overrides.soc;
  out->overrides.data_dir = given.data_dir ? given.data_dir : out->overrides.data_dir;
  out->overrides.memory = given.memory ? given.memory : out->overrides.memory;
  out->overrides.network = given.network ? given.network : out->overrides.network;
  out->overrides.l2 = given.l2 ? given.l2 : out->overrides.l2;
  if (given.set_count > 0) {
    out->overrides.sets = given.sets;
    out->overrides.set_count = given.set_count;
  }
}

/* ---- what was found ---------------------------------------------------------------------------
 */

static void push_end(lua_State *lua, const vinci_diff *diff, unsigned side) {
  struct vinci_diff_end end = vinci_diff_end(diff, side);
  lua_createtable(lua, 0, 5);
  lua_set_text(lua, "name", end.name);
  lua_set_text(lua, vinci_diff_is_job(diff) ? "system" : "soc", *end.soc ? end.soc : NULL);
  if (!vinci_diff_is_list(diff) && !vinci_diff_is_job(diff))
    set_whole(lua, "cycles", (int64_t)end.total_cycles);
  set_whole(lua, "ps", (int64_t)end.duration_ps);
  set_whole(lua, "left_out", (int64_t)end.left_out);
}

static void push_row(lua_State *lua, enum vinci_diff_table table,
                     const struct vinci_diff_row *row) {
  lua_createtable(lua, 0, 10);
  lua_set_text(lua, table == VINCI_DIFF_OPERATORS ? "lowered" : "group", row->group);
  lua_set_text(lua, "lowered_b", table == VINCI_DIFF_OPERATORS && *row->text ? row->text : NULL);
  lua_set_text(lua, "name", row->name);
  lua_set_text(lua, "unit", row->unit);
  if (row->a_word) {
    lua_set_text(lua, "a", row->a_word);
    lua_set_text(lua, "b", row->b_word);
    return;
  }
  if (row->in_a)
    set_whole(lua, "a", (int64_t)row->a);
  if (row->in_b)
    set_whole(lua, "b", (int64_t)row->b);
  set_whole(lua, "change", row->change);
  bool collective =
      table == VINCI_DIFF_COLLECTIVES || table == VINCI_DIFF_EXPOSED || table == VINCI_DIFF_BYTES;
  if (table != VINCI_DIFF_INSTRUCTIONS && !collective)
    return;
  set_whole(lua, "a_count", (int64_t)row->a_count);
  set_whole(lua, "b_count", (int64_t)row->b_count);
  if (collective)
    lua_set_text(lua, "op", row->text);
  else
    set_whole(lua, "count_change", row->count_change);
}

static void push_tables(lua_State *lua, const vinci_diff *diff) {
  static const struct {
    enum vinci_diff_table table;
    const char *name;
  } tables[] = {{VINCI_DIFF_GROUPS, "groups"},
                {VINCI_DIFF_CAUSES, "causes"},
                {VINCI_DIFF_INSTRUCTIONS, "instructions"},
                {VINCI_DIFF_COUNTERS, "counters"},
                {VINCI_DIFF_OPERATORS, "operators"},
                {VINCI_DIFF_CLASSES, "classes"},
                {VINCI_DIFF_RANKS, "ranks"},
                {VINCI_DIFF_COLLECTIVES, "collectives"},
                {VINCI_DIFF_EXPOSED, "exposed"},
                {VINCI_DIFF_BYTES, "bytes"}};
  struct vinci_diff_row row;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    lua_newtable(lua);
    for (size_t i = 0; vinci_diff_row(diff, tables[t].table, i, &row); i++) {
      push_row(lua, tables[t].table, &row);
      lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    lua_setfield(lua, -2, tables[t].name);
  }
}

static void push_parting(lua_State *lua, const vinci_diff *diff, enum vinci_diff_parting which,
                         const char *key) {
  struct vinci_diff_point point;
  if (!vinci_diff_parting(diff, which, &point))
    return;
  lua_createtable(lua, 0, 5);
  lua_set_text(lua, "core", point.core);
  lua_set_text(lua, "a", point.a);
  lua_set_text(lua, "b", point.b);
  if (point.a_line > 0)
    set_whole(lua, "a_line", (int64_t)point.a_line);
  if (point.b_line > 0)
    set_whole(lua, "b_line", (int64_t)point.b_line);
  lua_setfield(lua, -2, key);
}

static void push_result(lua_State *lua, const vinci_diff *diff) {
  const char *note;
  lua_createtable(lua, 0, 10);
  push_end(lua, diff, 0);
  lua_setfield(lua, -2, "a");
  push_end(lua, diff, 1);
  lua_setfield(lua, -2, "b");
  push_tables(lua, diff);
  push_parting(lua, diff, VINCI_DIFF_PROGRAM, "program");
  push_parting(lua, diff, VINCI_DIFF_TIME, "time");
  lua_newtable(lua);
  for (size_t i = 0; (note = vinci_diff_note(diff, i)) != NULL; i++) {
    lua_pushstring(lua, note);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, "notes");
}

/* vinci.diff { a =, b =, soc =, ... } */
static int diff(lua_State *lua) {
  static const char *const names[] = {"a", "b", "max_cycles", "jobs", LUA_OVERRIDE_NAMES, NULL};
  struct vinci_diag diag = {0};
  struct lua_options options;
  struct vinci_diff_side a, b;
  lua_options_open(&options, lua, "vinci.diff", names);
  read_side(&options, "a", &a);
  read_side(&options, "b", &b);
  struct vinci_diff_options given = {
      .struct_size = sizeof given,
      .max_cycles = lua_options_whole(&options, "max_cycles", LUA_MAXINTEGER),
      .jobs = (unsigned)lua_options_whole(&options, "jobs", JOBS_MAX),
  };
  void **object = lua_vinci_object(lua, diff_type);
  vinci_diff *found = NULL;
  enum vinci_status status = vinci_diff_run(&a, &b, &given, &found, &diag);
  *object = found;
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, found);
  return 1;
}

static int free_diff(lua_State *lua) {
  vinci_diff_free(lua_vinci_take(lua, diff_type));
  return 0;
}

void lua_diff_open(lua_State *lua) {
  static const luaL_Reg methods[] = {{NULL, NULL}};
  static const luaL_Reg functions[] = {{"diff", diff}, {NULL, NULL}};
  lua_vinci_type(lua, diff_type, methods, free_diff);
  luaL_setfuncs(lua, functions, 0);
}
