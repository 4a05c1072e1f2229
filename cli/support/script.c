/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/support/script.h"

#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

#include "core/base/diag.h"
#include "scripts/module/lua_vinci.h"

void script_set_text(lua_State *lua, const char *key, const char *value) {
  if (!value)
    return;
  lua_pushstring(lua, value);
  lua_setfield(lua, -2, key);
}

void script_set_integer(lua_State *lua, const char *key, uint64_t value) {
  lua_pushinteger(lua, (lua_Integer)value);
  lua_setfield(lua, -2, key);
}

void script_set_flag(lua_State *lua, const char *key, bool value) {
  lua_pushboolean(lua, value);
  lua_setfield(lua, -2, key);
}

void script_set_list(lua_State *lua, const char *key, const struct text_list *list) {
  lua_createtable(lua, (int)list->count, 0);
  for (size_t i = 0; i < list->count; i++) {
    lua_pushstring(lua, list->items[i]);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, key);
}

void script_set_pairs(lua_State *lua, const char *key, const struct text_list *list) {
  lua_createtable(lua, 0, (int)list->count);
  for (size_t i = 0; i < list->count; i++) {
    size_t length = strcspn(list->items[i], "=");
    lua_pushlstring(lua, list->items[i], length);
    lua_pushstring(lua, list->items[i] + length + (list->items[i][length] == '='));
    lua_settable(lua, -3);
  }
  lua_setfield(lua, -2, key);
}

/* Leaves the results of the call. */
static int call_function(lua_State *lua) {
  const struct script_call *call = lua_touserdata(lua, 1);
  luaL_openlibs(lua);
  luaL_requiref(lua, "vinci", luaopen_vinci, 0);
  lua_getfield(lua, -1, call->part);
  lua_getfield(lua, -1, call->function);
  lua_createtable(lua, 0, 16);
  call->fill(lua, call->question);
  lua_call(lua, 1, call->results);
  return call->results;
}

enum vinci_status script_call(const struct script_call *call, lua_State **lua,
                              struct vinci_diag *diag) {
  lua_State *state = luaL_newstate();
  *lua = NULL;
  if (!state)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  lua_pushcfunction(state, call_function);
  lua_pushlightuserdata(state, (void *)(uintptr_t)call);
  if (lua_pcall(state, 1, call->results, 0) == LUA_OK) {
    *lua = state;
    return VINCI_OK;
  }
  enum vinci_status status = lua_vinci_take_error(state, diag);
  lua_close(state);
  return status;
}
