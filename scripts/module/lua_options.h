/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of functions that take one table. What is read stays on the stack, so that texts live
 * up to the end of the call, whatever a function that is called back does to the table.
 */
#ifndef VINCI_SCRIPTS_MODULE_LUA_OPTIONS_H
#define VINCI_SCRIPTS_MODULE_LUA_OPTIONS_H

#include <lua.h>

#include "core/vinci_study.h"

struct lua_options {
  lua_State *lua;
  const char *function; /* for refusals */
  int at;               /* of the table on the stack */
};

/* The table is the only argument; every key must be among names. */
void lua_options_open(struct lua_options *options, lua_State *lua, const char *function,
                      const char *const *names);
/* NULL when the option is absent; the second one refuses that. */
const char *lua_options_text(const struct lua_options *options, const char *key);
const char *lua_options_needed(const struct lua_options *options, const char *key);
/* From 1; 0 when the option is absent. */
uint64_t lua_options_whole(const struct lua_options *options, const char *key, lua_Integer most);
/* false when the option is absent. */
bool lua_options_flag(const struct lua_options *options, const char *key);

#define LUA_OVERRIDE_NAMES "soc", "data", "set", "memory", "network", "l2"
struct vinci_overrides lua_options_overrides(const struct lua_options *options);

#endif
