/* SPDX-License-Identifier: Apache-2.0 */
/* vinci lua: runs a Lua script with the module "vinci" at hand. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "scripts/module/lua_vinci.h"

enum { EXIT_CODE_MAX = 255 };

/* Turns the error into a text with a traceback; the exit code of one of ours is kept. */
static int describe(lua_State *lua) {
  lua_Integer code = vinci_status_exit_code(VINCI_E_USAGE);
  if (lua_type(lua, 1) == LUA_TTABLE && luaL_getmetafield(lua, 1, "__tostring") != LUA_TNIL) {
    lua_pop(lua, 1);
    if (lua_getfield(lua, 1, "exit_code") == LUA_TNUMBER)
      code = lua_tointeger(lua, -1);
    if (code < 1 || code > EXIT_CODE_MAX) /* an error never ends as if all were well */
      code = vinci_status_exit_code(VINCI_E_USAGE);
    lua_pop(lua, 1);
  }
  lua_pushinteger(lua, code);
  lua_setfield(lua, LUA_REGISTRYINDEX, "vinci.exit_code");
  luaL_traceback(lua, lua, luaL_tolstring(lua, 1, NULL), 1);
  return 1;
}

struct script {
  int argc;
  char **argv; /* argv[0] is the script */
};

/* Libraries, the module, and the table arg, as in the stock interpreter. */
static int prepare(lua_State *lua) {
  const struct script *script = lua_touserdata(lua, 1);
  luaL_openlibs(lua);
  luaL_getsubtable(lua, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(lua, luaopen_vinci);
  lua_setfield(lua, -2, "vinci");
  lua_createtable(lua, script->argc, 1);
  for (int i = 0; i < script->argc; i++) {
    lua_pushstring(lua, script->argv[i]);
    lua_rawseti(lua, -2, i);
  }
  lua_setglobal(lua, "arg");
  return 0;
}

static int run_script(lua_State *lua, struct script *script) {
  const char *path = strcmp(script->argv[0], "-") == 0 ? NULL : script->argv[0];
  lua_pushcfunction(lua, describe);
  lua_pushcfunction(lua, prepare);
  lua_pushlightuserdata(lua, script);
  int code = lua_pcall(lua, 1, 0, 1);
  if (code == LUA_OK)
    code = luaL_loadfile(lua, path);
  for (int i = 1; code == LUA_OK && i < script->argc; i++) {
    luaL_checkstack(lua, 1, "too many arguments");
    lua_pushstring(lua, script->argv[i]);
  }
  if (code == LUA_OK)
    code = lua_pcall(lua, script->argc - 1, 0, 1);
  if (code == LUA_OK)
    return 0;
  const char *text = lua_tostring(lua, -1);
  fprintf(stderr, "error: %s\n", text ? text : "an error without a text");
  lua_Integer exit_code = vinci_status_exit_code(VINCI_E_USAGE);
  if (lua_getfield(lua, LUA_REGISTRYINDEX, "vinci.exit_code") == LUA_TNUMBER)
    exit_code = lua_tointeger(lua, -1);
  return (int)exit_code;
}

static int lua_verb(const struct cli_verb *verb, int argc, char **argv) {
  struct vinci_diag diag = {0};
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    cli_print_help(verb, stdout);
    return 0;
  }
  if (argc < 2 || (argv[1][0] == '-' && argv[1][1] != '\0')) {
    if (argc < 2)
      (void)diag_error(&diag, VINCI_E_USAGE, "which script? vinci lua SCRIPT [ARGUMENT]...");
    else
      (void)diag_error(&diag, VINCI_E_USAGE, "unknown option '%s'", argv[1]);
    diag_hint(&diag, "options of the script come after its name");
    return cli_fail(&diag);
  }
  lua_State *lua = luaL_newstate();
  if (!lua) {
    (void)diag_error(&diag, VINCI_E_NOMEM, "out of memory");
    return cli_fail(&diag);
  }
  struct script script = {argc - 1, argv + 1};
  int exit_code = run_script(lua, &script);
  lua_close(lua);
  return exit_code;
}

const struct cli_verb cli_verb_lua = {
    .name = "lua",
    .arguments = "SCRIPT [ARGUMENT]...",
    .summary = "Run a Lua script that loads chips, builds traces, runs them, draws pictures",
    .details =
        "The script says local vinci = require \"vinci\"; LUA.md of the documentation describes\n"
        "the module, experiments/ beside the hardware descriptions has examples. A script may\n"
        "do what its user may do. '-' reads standard input. An error ends with a traceback and\n"
        "the exit code of what failed, 2 for an error of the script itself.\n"
        "Example:\n"
        "  vinci lua question.lua\n",
    .run = lua_verb,
};
