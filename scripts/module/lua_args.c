/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the Lua functions: every refusal names function and argument. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scripts/host/lua_bounds.h"
#include "scripts/module/lua_vinci.h"

enum { TEXT_SIZE = 512 };

void lua_args_refuse(lua_State *lua, const char *function, const char *name, const char *format,
                     ...) {
  char text[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  luaL_error(lua, "%s: argument '%s' %s", function, name, text);
  abort(); /* luaL_error does not return; its prototype cannot say so */
}

/* "vinci.soc" and the like for our objects, the name of the Lua type for others. */
static const char *type_name(lua_State *lua, int at) {
  if (luaL_getmetafield(lua, at, "__name") == LUA_TSTRING)
    return lua_tostring(lua, -1); /* the metatable keeps the string */
  return lua_type(lua, at) == LUA_TNONE ? "missing" : luaL_typename(lua, at);
}

static _Noreturn void refuse_type(lua_State *lua, int at, const char *function, const char *name,
                                  const char *wanted) {
  if (lua_isnoneornil(lua, at))
    lua_args_refuse(lua, function, name, "is missing: %s is wanted", wanted);
  lua_args_refuse(lua, function, name, "is a %.60s, not %s", type_name(lua, at), wanted);
}

void *lua_args_object(lua_State *lua, int at, const char *type, const char *function,
                      const char *name) {
  void **object = luaL_testudata(lua, at, type);
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a %s", type);
  if (!object)
    refuse_type(lua, at, function, name, wanted);
  if (!*object)
    lua_args_refuse(lua, function, name, "is a %s that has been freed", type);
  if (*object == lua_vinci_busy)
    lua_args_refuse(lua, function, name, "is a %s in use by the run that calls this function",
                    type);
  return *object;
}

const char *lua_args_text(lua_State *lua, int at, const char *function, const char *name) {
  size_t length;
  if (lua_type(lua, at) != LUA_TSTRING)
    refuse_type(lua, at, function, name, "a string");
  const char *text = lua_tolstring(lua, at, &length);
  if (strlen(text) != length)
    lua_args_refuse(lua, function, name, "contains a zero byte");
  return text;
}

lua_Integer lua_args_whole(lua_State *lua, int at, const char *function, const char *name,
                           lua_Integer low, lua_Integer high) {
  int is_whole = 0;
  lua_Integer value = 0;
  if (lua_type(lua, at) != LUA_TNUMBER)
    refuse_type(lua, at, function, name, "a whole number");
  value = lua_tointegerx(lua, at, &is_whole);
  if (!is_whole || value < low || value > high)
    lua_args_refuse(lua, function, name, "is not a whole number from %lld to %lld", (long long)low,
                    (long long)high);
  return value;
}

lua_Number lua_args_number(lua_State *lua, int at, const char *function, const char *name) {
  if (lua_type(lua, at) != LUA_TNUMBER)
    refuse_type(lua, at, function, name, "a number");
  return lua_tonumber(lua, at);
}

void lua_args_end(lua_State *lua, const char *function, int count) {
  if (lua_gettop(lua) > count)
    luaL_error(lua, "%s: takes %d arguments, not %d", function, count, lua_gettop(lua));
  lua_settop(lua, count);
}

struct word_list {
  const char *const *words;
};

static const char *word_at(const void *context, size_t index) {
  return ((const struct word_list *)context)->words[index];
}

static size_t count_words(const char *const *words) {
  size_t count = 0;
  while (words[count])
    count++;
  return count;
}

static size_t find_word(const char *const *words, const char *text) {
  size_t i = 0;
  while (words[i] && strcmp(words[i], text) != 0)
    i++;
  return i;
}

void lua_args_options(lua_State *lua, int at, const char *function, const char *const *names) {
  struct word_list list = {names};
  if (lua_isnoneornil(lua, at)) {
    lua_newtable(lua);
    if (at < lua_gettop(lua))
      lua_replace(lua, at);
    return;
  }
  if (lua_type(lua, at) != LUA_TTABLE)
    refuse_type(lua, at, function, "options", "a table");
  for (lua_pushnil(lua); lua_next(lua, at); lua_pop(lua, 1)) {
    const char *key = lua_bounds_text(lua, -2);
    if (!key)
      lua_args_refuse(lua, function, "options", "has a field that is not named");
    if (names[find_word(names, key)])
      continue;
    const char *nearest = diag_nearest(key, count_words(names), word_at, &list);
    if (nearest)
      lua_args_refuse(lua, function, "options", "has an unknown field '%.80s'; did you mean '%s'?",
                      key, nearest);
    lua_args_refuse(lua, function, "options", "has an unknown field '%.80s'", key);
  }
}

int lua_args_word(lua_State *lua, int at, const char *function, const char *name,
                  const char *const *words) {
  const char *text = lua_args_text(lua, at, function, name);
  size_t found = find_word(words, text);
  if (words[found])
    return (int)found;
  char list[TEXT_SIZE] = "";
  size_t length = 0;
  for (size_t i = 0; words[i] && length < sizeof list; i++)
    length +=
        (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", words[i]);
  lua_args_refuse(lua, function, name, "is '%.80s', not one of %s", text, list);
}

/* A list of whole numbers, { 17, 3 }, in its place as "17x3"; NULL for other tables. */
static const char *extents_text(lua_State *lua, int at) {
  enum { EXTENTS_MAX = 64, DIGITS = 24 };
  char text[EXTENTS_MAX * DIGITS] = "";
  lua_Unsigned count = lua_rawlen(lua, at);
  size_t used = 0, fields = 0;
  for (lua_pushnil(lua); lua_next(lua, at); lua_pop(lua, 1))
    fields++;
  if (count == 0 || count > EXTENTS_MAX || fields != count)
    return NULL;
  for (lua_Unsigned i = 1; i <= count; i++) {
    int is_whole = 0;
    bool number = lua_rawgeti(lua, at, (lua_Integer)i) == LUA_TNUMBER;
    lua_Integer extent = number ? lua_tointegerx(lua, -1, &is_whole) : 0;
    lua_pop(lua, 1);
    if (!is_whole)
      return NULL;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s" LUA_INTEGER_FMT,
                             i > 1 ? "x" : "", extent);
  }
  lua_pushstring(lua, text);
  lua_replace(lua, at);
  return lua_tostring(lua, at);
}

const char *lua_args_value(lua_State *lua, int at, const char *function, const char *name) {
  if (lua_type(lua, at) == LUA_TSTRING)
    return lua_args_text(lua, at, function, name);
  if (lua_type(lua, at) == LUA_TTABLE)
    return extents_text(lua, at);
  if (lua_type(lua, at) != LUA_TNUMBER)
    return NULL;
  int is_whole;
  lua_Integer whole = lua_tointegerx(lua, at, &is_whole);
  lua_Number number = lua_tonumber(lua, at);
  char text[64];
  if (is_whole)
    snprintf(text, sizeof text, LUA_INTEGER_FMT, whole);
  else
    snprintf(text, sizeof text, "%.14g", number);
  lua_pushstring(lua, text);
  lua_replace(lua, at);
  return lua_tostring(lua, at);
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const char **lua_args_assignments(lua_State *lua, int at, const char *function, const char *name,
                                  size_t *count) {
  size_t capacity = 1;
  *count = 0;
  if (lua_type(lua, at) != LUA_TTABLE)
    refuse_type(lua, at, function, name, "a table { key = value }");
  for (lua_pushnil(lua); lua_next(lua, at); lua_pop(lua, 1))
    capacity++;
  const char **list = lua_newuserdatauv(lua, capacity * sizeof *list, 1);
  lua_newtable(lua); /* keeps the texts */
  int keeper = lua_gettop(lua);
  for (lua_pushnil(lua); lua_next(lua, at);) {
    int value = lua_gettop(lua);
    if (lua_type(lua, value - 1) != LUA_TSTRING)
      lua_args_refuse(lua, function, name, "has a key that is not a string");
    const char *key = lua_bounds_text(lua, value - 1);
    if (!key)
      lua_args_refuse(lua, function, name, "has a key that contains a zero byte");
    const char *text = lua_args_value(lua, value, function, key);
    if (!text)
      lua_args_refuse(
          lua, function, name,
          "has a value for '%.80s' that is not a string, number or list of whole numbers", key);
    list[(*count)++] = lua_pushfstring(lua, "%s=%s", key, text);
    lua_rawseti(lua, keeper, (lua_Integer)*count);
    lua_pop(lua, 1);
  }
  lua_setiuservalue(lua, -2, 1);
  qsort(list, *count, sizeof *list, compare_texts);
  return list;
}
