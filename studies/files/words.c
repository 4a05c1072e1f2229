/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of study and suite files. A limit is noticed between two calls (lua_bounds.h), so
 * each function must end soon by itself: its work is at most in proportion to its arguments
 * and its result, which memory bounds.
 */
#include "studies/files/words.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#include "scripts/host/lua_bounds.h"

/* ---- texts ---------------------------------------------------------------------------------- */

/* What has no text of its own would show its address, which differs from run to run. */
static void need_plain(lua_State *lua, int at) {
  int type = lua_type(lua, at);
  luaL_argexpected(
      lua, type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TNIL,
      at, "string, number, boolean or nil");
}

static int to_text(lua_State *lua) {
  luaL_checkany(lua, 1);
  need_plain(lua, 1);
  luaL_tolstring(lua, 1, NULL);
  return 1;
}

/* The library's function of that name, which is the upvalue of ours, with all arguments. */
static int call_library(lua_State *lua) {
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
  return lua_gettop(lua);
}

static int format_text(lua_State *lua) {
  const char *format = luaL_checkstring(lua, 1);
  for (int i = 2; i <= lua_gettop(lua); i++)
    need_plain(lua, i);
  for (const char *at = strchr(format, '%'); at; at = strchr(at, '%')) {
    at++;
    at += strspn(at, "-+ #0123456789.");
    luaL_argcheck(lua, *at != 'p', 1, "%p is an address, which differs from run to run");
    at += *at != '\0';
  }
  return call_library(lua);
}

/* Repeating the empty text takes no memory, and without a limit endless time. */
static int repeat_text(lua_State *lua) {
  size_t length, separator;
  (void)luaL_checklstring(lua, 1, &length);
  lua_Integer count = luaL_checkinteger(lua, 2);
  (void)luaL_optlstring(lua, 3, "", &separator);
  if (length + separator == 0 && count > 0) {
    lua_settop(lua, 1);
    return 1;
  }
  return call_library(lua);
}

/* find(text, what [, from [, plain]]): texts only. What would be a pattern elsewhere is refused
 * unless plain is true, so that nobody takes an answer for that of a pattern. */
static int find_text(lua_State *lua) {
  size_t length, wanted;
  const char *text = luaL_checklstring(lua, 1, &length);
  const char *what = luaL_checklstring(lua, 2, &wanted);
  lua_Integer from = luaL_optinteger(lua, 3, 1);
  luaL_argcheck(lua, lua_toboolean(lua, 4) || strcspn(what, "^$*+?.([%-") == wanted, 2,
                "would be a pattern; find(text, what, 1, true) looks for a text");
  if (from < 0)
    from = from < -(lua_Integer)length ? 1 : (lua_Integer)length + from + 1;
  if (from == 0)
    from = 1;
  const char *start = (size_t)from - 1 <= length ? text + from - 1 : NULL;
  const char *found = start ? memmem(start, length - (size_t)(start - text), what, wanted) : NULL;
  if (!found) {
    lua_pushnil(lua);
    return 1;
  }
  lua_pushinteger(lua, found - text + 1);
  lua_pushinteger(lua, found - text + (lua_Integer)wanted);
  return 2;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* insert and remove move as many entries as the operator # says, which for a table with holes
 * can be any number. */
static int change_list(lua_State *lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_argcheck(lua, lua_rawlen(lua, 1) <= lua_bounds_of(lua)->used_bytes / sizeof(lua_Integer), 1,
                "is not a list: it has holes");
  return call_library(lua);
}

static int is_less(lua_State *lua) {
  lua_pushboolean(lua, lua_compare(lua, 1, 2, LUA_OPLT));
  return 1;
}

/* Always compares with a function: limits are checked when a function is called. */
static int sort_list(lua_State *lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 2);
  if (lua_isnil(lua, 2)) {
    lua_pushcfunction(lua, is_less);
    lua_replace(lua, 2);
  }
  return call_library(lua);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Numbers, then texts, then truths: Lua's own order differs from run to run. */
static int key_comes_first(lua_State *lua) {
  static const int ranks[] = {LUA_TNUMBER, LUA_TSTRING, LUA_TBOOLEAN};
  int first = lua_type(lua, 1), second = lua_type(lua, 2);
  bool less = false;
  if (first == LUA_TBOOLEAN && second == LUA_TBOOLEAN)
    less = lua_toboolean(lua, 1) < lua_toboolean(lua, 2);
  else if (first == second)
    less = lua_compare(lua, 1, 2, LUA_OPLT);
  else
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
      less = less || first == ranks[i];
      if (first == ranks[i] || second == ranks[i])
        break;
    }
  lua_pushboolean(lua, less);
  return 1;
}

/* Upvalues: the table, its keys in order, how many have been given. */
static int next_pair(lua_State *lua) {
  lua_Integer index = lua_tointeger(lua, lua_upvalueindex(3));
  do {
    lua_settop(lua, 0);
    if (lua_rawgeti(lua, lua_upvalueindex(2), ++index) == LUA_TNIL)
      return 1;
    lua_pushvalue(lua, 1);
  } while (lua_rawget(lua, lua_upvalueindex(1)) == LUA_TNIL); /* has gone since */
  lua_pushinteger(lua, index);
  lua_replace(lua, lua_upvalueindex(3));
  return 2;
}

/* Upvalue: table.sort. */
static int sorted_pairs(lua_State *lua) {
  lua_Integer count = 0;
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 1);
  lua_newtable(lua);
  for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
    int type = lua_type(lua, -2);
    if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN)
      return luaL_error(lua, "pairs: a key is a %s; such keys have no order",
                        lua_typename(lua, type));
    lua_pushvalue(lua, -2);
    lua_rawseti(lua, 2, ++count);
  }
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_pushvalue(lua, 2);
  lua_pushcfunction(lua, key_comes_first);
  lua_call(lua, 2, 0);
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, next_pair, 3);
  return 1;
}

/* ---- the libraries -------------------------------------------------------------------------- */

/* Keeps the named fields of the table on top of the stack. */
static void keep_only(lua_State *lua, const char *const *names) {
  lua_newtable(lua);
  for (; *names; names++) {
    lua_getfield(lua, -2, *names);
    lua_setfield(lua, -2, *names);
  }
  for (lua_pushnil(lua); lua_next(lua, -3); lua_pop(lua, 1)) {
    lua_pushvalue(lua, -2); /* a field may be cleared while the table is walked */
    lua_pushvalue(lua, -1);
    lua_rawget(lua, -5);
    lua_rawset(lua, -6);
  }
  lua_pop(lua, 1);
}

/* Puts a function in the place of the library's, which becomes its upvalue. */
static void guard(lua_State *lua, const char *name, lua_CFunction function) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, function, 1);
  lua_setfield(lua, -2, name);
}

int lua_words_open(lua_State *lua) {
  static const char *const base[] = {"_G",       "_VERSION", "assert", "error",  "ipairs", "next",
                                     "pairs",    "rawequal", "rawget", "rawlen", "rawset", "select",
                                     "tonumber", "tostring", "type",   NULL};
  static const char *const string[] = {"byte", "char",    "find", "format", "len", "lower",
                                       "rep",  "reverse", "sub",  "upper",  NULL};
  static const char *const table[] = {"concat", "insert", "pack", "remove", "sort", "unpack", NULL};
  static const char *const math[] = {
      "abs",  "acos", "asin", "atan", "ceil",       "cos",  "deg",        "exp",  "floor",
      "fmod", "huge", "log",  "max",  "maxinteger", "min",  "mininteger", "modf", "pi",
      "rad",  "sin",  "sqrt", "tan",  "tointeger",  "type", "ult",        NULL};
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 1);
  keep_only(lua, base);
  lua_pushcfunction(lua, to_text);
  lua_setfield(lua, -2, "tostring");
  luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
  keep_only(lua, string);
  lua_pushcfunction(lua, find_text);
  lua_setfield(lua, -2, "find");
  guard(lua, "format", format_text);
  guard(lua, "rep", repeat_text);
  luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
  keep_only(lua, table);
  lua_getfield(lua, -1, "sort");
  lua_pushcclosure(lua, sorted_pairs, 1);
  lua_setglobal(lua, "pairs");
  guard(lua, "insert", change_list);
  guard(lua, "remove", change_list);
  guard(lua, "sort", sort_list);
  luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 1);
  keep_only(lua, math);
  lua_settop(lua, 0);
  return 0;
}
