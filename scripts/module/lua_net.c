/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: whole networks. */
#include <string.h>

#include "core/vinci_net.h"
#include "scripts/module/lua_vinci.h"

enum { DEPTH_MAX = 65535, REPEAT_MAX = 1000 };
#define PS_PER_US 1e6

static void set_us(lua_State *lua, const char *key, uint64_t ps) {
  lua_pushnumber(lua, (lua_Number)ps / PS_PER_US);
  lua_setfield(lua, -2, key);
}

static void set_number(lua_State *lua, const char *key, uint64_t value) {
  lua_pushinteger(lua, (lua_Integer)value);
  lua_setfield(lua, -2, key);
}

static void set_text(lua_State *lua, const char *key, const char *text) {
  lua_pushstring(lua, text);
  lua_setfield(lua, -2, key);
}

/* Appends to the list on top of the stack. */
static bool add_node(void *context, const struct vinci_net_node *node) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 14);
  set_text(lua, "name", node->name);
  set_text(lua, "op", node->op);
  set_text(lua, "origin", node->origin);
  set_text(lua, "from", node->from);
  set_text(lua, "bound", node->bound);
  set_text(lua, "reason", node->reason);
  set_number(lua, "stream", node->stream);
  set_number(lua, "blocks", node->blocks);
  set_number(lua, "input_bytes", node->input_bytes);
  set_number(lua, "l2_found_bytes", node->l2_found_bytes);
  set_us(lua, "start_us", node->start_ps);
  set_us(lua, "us", node->duration_ps);
  set_us(lua, "gap_us", node->gap_ps);
  set_us(lua, "host_wait_us", node->host_wait_ps);
  set_us(lua, "other_wait_us", node->other_wait_ps);
  lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
  return true;
}

static const char *option_text(lua_State *lua, const char *function, const char *key) {
  int type = lua_getfield(lua, 3, key);
  if (type != LUA_TNIL && type != LUA_TSTRING)
    lua_args_refuse(lua, function, key, "is not a text");
  return type == LUA_TNIL ? NULL : lua_tostring(lua, -1);
}

static unsigned option_whole(lua_State *lua, const char *function, const char *key,
                             lua_Integer most) {
  if (lua_getfield(lua, 3, key) == LUA_TNIL)
    return 0;
  return (unsigned)lua_args_whole(lua, -1, function, key, 1, most);
}

static struct vinci_net_options read_options(lua_State *lua, const char *function) {
  static const char *const names[] = {"memory", "network", "plan",  "host",
                                      "depth",  "repeat",  "exact", NULL};
  struct vinci_run_options run = {0};
  lua_args_options(lua, 3, function, names);
  lua_vinci_models(lua, 3, function, &run);
  struct vinci_net_options options = {.struct_size = sizeof options,
                                      .memory = run.memory,
                                      .network = run.network,
                                      .plan = option_text(lua, function, "plan"),
                                      .host = option_text(lua, function, "host"),
                                      .depth = option_whole(lua, function, "depth", DEPTH_MAX),
                                      .repeat = option_whole(lua, function, "repeat", REPEAT_MAX)};
  lua_getfield(lua, 3, "exact");
  options.exact = lua_toboolean(lua, -1);
  return options;
}

/* vinci.net(soc, text [, options]): times of a network, and a list of its nodes. */
static int net(lua_State *lua) {
  static const char function[] = "vinci.net";
  struct vinci_diag diag = {0};
  struct vinci_net_result result;
  size_t length;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  lua_args_end(lua, function, 3);
  if (lua_type(lua, 2) != LUA_TSTRING)
    lua_args_refuse(lua, function, "text", "is not the text of a graph");
  const char *text = lua_tolstring(lua, 2, &length);
  struct vinci_net_options options = read_options(lua, function);
  lua_newtable(lua);
  if (vinci_net_run(soc, "graph", text, length, &options, add_node, lua, &result, &diag) !=
      VINCI_OK)
    lua_vinci_raise(lua, &diag);
  int nodes = lua_gettop(lua);
  lua_createtable(lua, 0, 12);
  set_us(lua, "us", result.end_ps);
  set_us(lua, "first_us", result.first_end_ps);
  set_us(lua, "core_us", result.core_ps);
  set_us(lua, "host_bound_us", result.host_bound_ps);
  set_us(lua, "gap_us", result.gap_ps);
  set_us(lua, "wait_us", result.wait_ps);
  set_number(lua, "memory_bytes", result.memory_bytes);
  set_number(lua, "live_bytes", result.live_bytes);
  set_number(lua, "fixed_bytes", result.fixed_bytes);
  set_number(lua, "refused", result.refused);
  set_number(lua, "simulated", result.simulated);
  lua_pushvalue(lua, nodes);
  lua_setfield(lua, -2, "nodes");
  return 1;
}

void lua_net_open(lua_State *lua) {
  static const luaL_Reg functions[] = {{"net", net}, {NULL, NULL}};
  luaL_setfuncs(lua, functions, 0);
}
