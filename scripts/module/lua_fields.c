/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: fields of the tables that functions give. */
#include "scripts/module/lua_vinci.h"

#define PS_PER_US 1e6

void lua_set_number(lua_State *lua, const char *key, uint64_t value) {
  lua_pushinteger(lua, (lua_Integer)value);
  lua_setfield(lua, -2, key);
}

void lua_set_us(lua_State *lua, const char *key, uint64_t ps) {
  lua_pushnumber(lua, (lua_Number)ps / PS_PER_US);
  lua_setfield(lua, -2, key);
}

void lua_set_text(lua_State *lua, const char *key, const char *text) {
  lua_pushstring(lua, text);
  lua_setfield(lua, -2, key);
}

void lua_set_flag(lua_State *lua, const char *key, bool value) {
  lua_pushboolean(lua, value);
  lua_setfield(lua, -2, key);
}

void lua_push_proven(lua_State *lua, const struct vinci_proven *lever) {
  lua_createtable(lua, 0, 6);
  lua_set_text(lua, "lever", lever->lever);
  lua_set_text(lua, "text", lever->text);
  lua_set_text(lua, "change", lever->change);
  lua_set_text(lua, "origin", lever->origin);
  lua_pushnumber(lua, (lua_Number)lever->saved_ps / PS_PER_US);
  lua_setfield(lua, -2, "saved_us");
  lua_pushboolean(lua, true);
  lua_setfield(lua, -2, "measured");
  lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
}
