/* SPDX-License-Identifier: Apache-2.0 */
/* Options of functions that take one table. */
#include "scripts/module/lua_options.h"

#include "scripts/module/lua_vinci.h"

enum { STACK_SLOTS = 64, NAME_SIZE = 64 };

void lua_options_open(struct lua_options *options, lua_State *lua, const char *function,
                      const char *const *names) {
  *options = (struct lua_options){lua, function, 1};
  lua_args_end(lua, function, 1);
  lua_args_options(lua, 1, function, names);
  luaL_checkstack(lua, STACK_SLOTS, NULL);
}

/* "options.KEY", as refusals name an option. */
static const char *option_name(const char *key, char name[NAME_SIZE]) {
  snprintf(name, NAME_SIZE, "options.%s", key);
  return name;
}

const char *lua_options_text(const struct lua_options *options, const char *key) {
  char name[NAME_SIZE];
  return lua_getfield(options->lua, options->at, key) == LUA_TNIL
             ? NULL
             : lua_args_text(options->lua, -1, options->function, option_name(key, name));
}

const char *lua_options_needed(const struct lua_options *options, const char *key) {
  char name[NAME_SIZE];
  const char *text = lua_options_text(options, key);
  if (!text)
    lua_args_refuse(options->lua, options->function, option_name(key, name),
                    "is missing: a string is wanted");
  return text;
}

uint64_t lua_options_whole(const struct lua_options *options, const char *key, lua_Integer most) {
  char name[NAME_SIZE];
  return lua_getfield(options->lua, options->at, key) == LUA_TNIL
             ? 0
             : (uint64_t)lua_args_whole(options->lua, -1, options->function, option_name(key, name),
                                        1, most);
}

bool lua_options_flag(const struct lua_options *options, const char *key) {
  char name[NAME_SIZE];
  int type = lua_getfield(options->lua, options->at, key);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN)
    lua_args_refuse(options->lua, options->function, option_name(key, name),
                    "is not true or false");
  return lua_toboolean(options->lua, -1);
}

struct vinci_overrides lua_options_overrides(const struct lua_options *options) {
  lua_State *lua = options->lua;
  struct vinci_overrides overrides = {
      .soc = lua_options_text(options, "soc"),
      .data_dir = lua_options_text(options, "data"),
      .memory = lua_options_text(options, "memory"),
      .network = lua_options_text(options, "network"),
      .l2 = lua_options_text(options, "l2"),
      .code = lua_options_text(options, "code"),
  };
  if (lua_getfield(lua, options->at, "set") != LUA_TNIL)
    overrides.sets = lua_args_assignments(lua, lua_gettop(lua), options->function, "options.set",
                                          &overrides.set_count);
  return overrides;
}
