/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: hardware descriptions. */
#include <string.h>

#include "core/chip/soc_numbers.h"
#include "scripts/host/soc_host.h"
#include "scripts/module/lua_choices.h"
#include "scripts/module/lua_vinci.h"

const char lua_soc_type[] = "vinci.soc";

enum { VALUE_SIZE = 64, SOC_WEIGHT_BYTES = 128 * 1024 };

static void apply(lua_State *lua, vinci_soc *soc, int at, const char *function) {
  struct vinci_diag diag = {0};
  size_t count;
  const char **list = lua_args_assignments(lua, at, function, "set", &count);
  for (size_t i = 0; i < count; i++)
    if (vinci_soc_set(soc, list[i], &diag) != VINCI_OK)
      lua_vinci_raise(lua, &diag);
  lua_pop(lua, 1);
}

/* vinci.soc(name [, { set = { key = value }, data = folder }]) */
static int load_soc(lua_State *lua) {
  static const char function[] = "vinci.soc";
  static const char *const names[] = {"set", "data", NULL};
  struct vinci_diag diag = {0};
  lua_args_end(lua, function, 2);
  const char *name = lua_args_text(lua, 1, function, "name");
  lua_args_options(lua, 2, function, names);
  const char *data = NULL;
  if (lua_getfield(lua, 2, "data") != LUA_TNIL)
    data = lua_args_text(lua, -1, function, "options.data");
  void **object = lua_vinci_object(lua, lua_soc_type);
  vinci_soc *soc;
  if (vinci_soc_load(name, data, &soc, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  *object = soc;
  int result = lua_gettop(lua);
  if (lua_getfield(lua, 2, "set") != LUA_TNIL)
    apply(lua, soc, lua_gettop(lua), function);
  lua_settop(lua, result);
  lua_vinci_weigh(lua, SOC_WEIGHT_BYTES);
  return 1;
}

/* vinci.socs() */
static int list_socs(lua_State *lua) {
  struct vinci_diag diag = {0};
  struct soc_names names = {0};
  lua_args_end(lua, "vinci.socs", 0);
  enum vinci_status status = soc_host_list(NULL, &names, &diag);
  lua_newtable(lua);
  for (size_t i = 0; status == VINCI_OK && i < names.count; i++) {
    lua_pushstring(lua, names.items[i]);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  soc_names_free(&names);
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  return 1;
}

static vinci_soc *self(lua_State *lua, const char *function) {
  return lua_args_object(lua, 1, lua_soc_type, function, "soc");
}

static int soc_name(lua_State *lua) {
  lua_pushstring(lua, vinci_soc_name(self(lua, "soc:name")));
  return 1;
}

/* soc:set(key, value), soc:set { key = value } */
static int soc_set(lua_State *lua) {
  static const char function[] = "soc:set";
  struct vinci_diag diag = {0};
  vinci_soc *soc = self(lua, function);
  lua_args_end(lua, function, 3);
  lua_choices_forget(lua, 1);
  if (lua_type(lua, 2) == LUA_TTABLE && lua_isnil(lua, 3)) {
    apply(lua, soc, 2, function);
  } else {
    const char *key = lua_args_text(lua, 2, function, "key");
    const char *value = lua_args_value(lua, 3, function, "value");
    if (!value)
      lua_args_refuse(lua, function, "value", "is neither string nor number");
    if (vinci_soc_set(soc, lua_pushfstring(lua, "%s=%s", key, value), &diag) != VINCI_OK)
      lua_vinci_raise(lua, &diag);
  }
  lua_settop(lua, 1);
  return 1;
}

/* In the unit of the data files. */
static void push_value(lua_State *lua, int64_t value, enum soc_kind kind) {
  int64_t scale = soc_kind_scale(kind);
  if (value % scale == 0)
    lua_pushinteger(lua, value / scale);
  else
    lua_pushnumber(lua, (lua_Number)value / (lua_Number)scale);
}

/* soc:get(key): the number in the unit of the data files, that unit, and the text with suffix; of
 * what a chip names beside its numbers the name alone. */
static int soc_get_value(lua_State *lua) {
  static const char function[] = "soc:get";
  const vinci_soc *soc = self(lua, function);
  lua_args_end(lua, function, 2);
  const char *key = lua_args_text(lua, 2, function, "key");
  enum soc_name name = soc_name_by_key(key);
  if (name != SOC_NAME_COUNT) {
    lua_pushstring(lua, soc->choices[name].name);
    return 1;
  }
  struct soc_number number;
  if (!soc_number_find(soc, key, &number)) {
    const char *nearest = soc_param_nearest(key);
    lua_args_refuse(lua, function, "key", "is '%.80s', which no parameter is called%s%s%s", key,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  }
  char text[VALUE_SIZE];
  soc_format_value(number.value, number.param->kind, text, sizeof text);
  push_value(lua, number.value, number.param->kind);
  lua_pushstring(lua, soc_kind_unit(number.param->kind));
  lua_pushstring(lua, text);
  return 3;
}

static int soc_keys(lua_State *lua) {
  static const char function[] = "soc:keys";
  const vinci_soc *soc = self(lua, function);
  lua_args_end(lua, function, 1);
  lua_Integer count = 0;
  lua_newtable(lua);
  for (size_t i = 0; i < soc_number_count(soc); i++) {
    struct soc_number number = soc_number_at(soc, i);
    lua_pushstring(lua, number.key);
    lua_rawseti(lua, -2, ++count);
  }
  return 1;
}

/* soc:describe(key): what the number means, where it comes from, how well it is known; of energies
 * also between which values the number lies. */
static int soc_describe(lua_State *lua) {
  static const char function[] = "soc:describe";
  const vinci_soc *soc = self(lua, function);
  lua_args_end(lua, function, 2);
  const char *key = lua_args_text(lua, 2, function, "key");
  struct soc_number number;
  if (!soc_number_find(soc, key, &number))
    lua_args_refuse(lua, function, "key", "is '%.80s', which no parameter is called", key);
  const struct soc_provenance *provenance = number.provenance;
  const char *const fields[][2] = {
      {"text", number.param->text},
      {"source", provenance->source},
      {"note", provenance->note},
      {"confidence", confidence_name((enum confidence)provenance->confidence)},
      {"unit", soc_kind_unit(number.param->kind)},
  };
  lua_newtable(lua);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    lua_pushstring(lua, fields[i][1]);
    lua_setfield(lua, -2, fields[i][0]);
  }
  if (number.ranged) {
    push_value(lua, number.low, number.param->kind);
    lua_setfield(lua, -2, "low");
    push_value(lua, number.high, number.param->kind);
    lua_setfield(lua, -2, "high");
  }
  return 1;
}

static int soc_copy_object(lua_State *lua) {
  static const char function[] = "soc:copy";
  const vinci_soc *soc = self(lua, function);
  lua_args_end(lua, function, 1);
  void **object = lua_vinci_object(lua, lua_soc_type);
  *object = soc_copy(soc);
  if (!*object)
    return luaL_error(lua, "out of memory");
  lua_vinci_weigh(lua, SOC_WEIGHT_BYTES);
  return 1;
}

static int free_soc(lua_State *lua) {
  vinci_soc_free(lua_vinci_take(lua, lua_soc_type));
  return 0;
}

void lua_soc_open(lua_State *lua) {
  static const luaL_Reg methods[] = {
      {"name", soc_name}, {"set", soc_set},           {"get", soc_get_value},
      {"keys", soc_keys}, {"describe", soc_describe}, {"copy", soc_copy_object},
      {NULL, NULL}};
  static const luaL_Reg functions[] = {{"soc", load_soc}, {"socs", list_socs}, {NULL, NULL}};
  lua_vinci_type(lua, lua_soc_type, methods, free_soc);
  luaL_setfuncs(lua, functions, 0);
}
