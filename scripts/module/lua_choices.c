/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: tilings that were chosen before for a chip. Scripts compile the same operator again and
 * again, and the search takes more than half of a small simulation. */
#include <string.h>

#include "lower/plan/choice.h"
#include "scripts/module/lua_choices.h"

/* A chip keeps this many; with one more, all are forgotten. */
enum { CHOICES_MAX = 64, AT_CHOICES = 1 };

static const char choice_type[] = "vinci.choice";

struct kept {
  struct arena arena; /* of the values */
  struct lower_choice choice;
};

static int free_choice(lua_State *lua) {
  struct kept *kept = luaL_checkudata(lua, 1, choice_type);
  arena_free(&kept->arena);
  return 0;
}

/* Leaves a table { request = choice, count = N } on the stack. */
static void push_table(lua_State *lua, int soc) {
  if (lua_getiuservalue(lua, soc, AT_CHOICES) == LUA_TTABLE) {
    lua_getfield(lua, -1, "");
    lua_Integer count = lua_tointeger(lua, -1);
    lua_pop(lua, 1);
    if (count < CHOICES_MAX)
      return;
  }
  lua_pop(lua, 1);
  lua_newtable(lua);
  lua_pushvalue(lua, -1);
  lua_setiuservalue(lua, soc, AT_CHOICES);
}

/* The request as text: no operator and no argument contains the end of a line. */
static void push_request(lua_State *lua, const char *op, const char *const *args, size_t count) {
  luaL_Buffer buffer;
  luaL_buffinit(lua, &buffer);
  luaL_addstring(&buffer, op);
  for (size_t i = 0; i < count; i++) {
    luaL_addchar(&buffer, '\n');
    luaL_addstring(&buffer, args[i]);
  }
  luaL_pushresult(&buffer);
}

/* Chooses for the request on top of the stack, and keeps the choice in the table below. */
static struct kept *choose(lua_State *lua, const vinci_soc *soc, const char *op,
                           const char *const *args, size_t count) {
  struct vinci_diag diag = {0};
  struct kept *kept = lua_newuserdatauv(lua, sizeof *kept, 0);
  *kept = (struct kept){0};
  luaL_setmetatable(lua, choice_type);
  enum vinci_status status =
      lower_choose_tiling(soc, op, args, count, &kept->arena, &kept->choice, &diag);
  if (status != VINCI_OK) {
    diag.status = status;
    lua_vinci_raise(lua, &diag);
  }
  lua_rawset(lua, -3);
  lua_getfield(lua, -1, "");
  lua_pushinteger(lua, lua_tointeger(lua, -1) + 1);
  lua_setfield(lua, -3, "");
  lua_pop(lua, 1);
  return kept;
}

const struct lower_choice *lua_choices_find(lua_State *lua, int soc, const char *op,
                                            const char *const *args, size_t count) {
  push_table(lua, soc);
  push_request(lua, op, args, count);
  lua_pushvalue(lua, -1);
  struct kept *kept = lua_rawget(lua, -3) == LUA_TUSERDATA ? lua_touserdata(lua, -1) : NULL;
  lua_pop(lua, 1);
  if (!kept)
    kept = choose(lua, *(const vinci_soc *const *)lua_touserdata(lua, soc), op, args, count);
  return &kept->choice;
}

void lua_choices_forget(lua_State *lua, int soc) {
  lua_pushnil(lua);
  lua_setiuservalue(lua, soc, AT_CHOICES);
}

void lua_choices_open(lua_State *lua) {
  luaL_newmetatable(lua, choice_type);
  lua_pushcfunction(lua, free_choice);
  lua_setfield(lua, -2, "__gc");
  lua_pop(lua, 1);
}
