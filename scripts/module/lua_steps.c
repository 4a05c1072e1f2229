/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training steps of models for sweeps, in a state of Lua of their own. A process of a sweep has its
 * copy of the state, and with that the times of operators that it has simulated.
 */
#include "scripts/module/lua_steps.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "scripts/module/lua_vinci.h"

/* What a function of the state is asked, and its answer. */
struct question {
  const char *key;
  const struct model_step_request *request;
  struct model_step *step;
  struct vinci_diag *diag;
  enum vinci_status status;
};

static int load_module(lua_State *lua) {
  luaL_openlibs(lua);
  luaL_requiref(lua, "vinci", luaopen_vinci, 1);
  return 0;
}

/* Calls a function with the question as its only argument; errors become diagnostics. */
static enum vinci_status ask(struct lua_steps *steps, lua_CFunction function,
                             struct question *question) {
  if (!steps->lua) {
    steps->lua = luaL_newstate();
    if (!steps->lua)
      return diag_error(question->diag, VINCI_E_NOMEM, "out of memory");
    lua_pushcfunction(steps->lua, load_module);
    if (lua_pcall(steps->lua, 0, 0, 0) != LUA_OK)
      return lua_vinci_take_error(steps->lua, question->diag);
  }
  lua_pushcfunction(steps->lua, function);
  lua_pushlightuserdata(steps->lua, question);
  if (lua_pcall(steps->lua, 1, 0, 0) != LUA_OK)
    return lua_vinci_take_error(steps->lua, question->diag);
  return question->status;
}

/* Pushes vinci.transformer_point[name]. */
static void push_function(lua_State *lua, const char *name) {
  lua_getglobal(lua, "vinci");
  lua_getfield(lua, -1, "transformer_point");
  lua_getfield(lua, -1, name);
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char *name_at(const void *context, size_t index) {
  lua_State *lua = (lua_State *)(uintptr_t)context;
  lua_rawgeti(lua, -1, (lua_Integer)index + 1);
  const char *name = lua_tostring(lua, -1); /* the list keeps the text */
  lua_pop(lua, 1);
  return name;
}

static int check_name(lua_State *lua) {
  struct question *question = lua_touserdata(lua, 1);
  push_function(lua, "names");
  lua_call(lua, 0, 1);
  size_t count = lua_rawlen(lua, -1);
  for (size_t i = 0; i < count; i++)
    if (strcmp(name_at(lua, i), question->key) == 0)
      return 0;
  const char *nearest = diag_nearest(question->key, count, name_at, lua);
  question->status = diag_error(question->diag, VINCI_E_USAGE,
                                "neither model nor split has a field '%s'", question->key);
  if (nearest)
    diag_hint(question->diag, "did you mean '%s'?", nearest);
  else
    diag_hint(question->diag, "LUA.md lists the fields of models and splits; 'devices' is all "
                              "of them, and system, bucket, fault and algorithm.WHICH are of "
                              "the job");
  return 0;
}

static enum vinci_status check(void *context, const char *key, struct vinci_diag *diag) {
  struct question question = {.key = key, .diag = diag};
  return ask(context, check_name, &question);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void set_list(lua_State *lua, const char *key, const char *const *items, size_t count) {
  lua_createtable(lua, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushstring(lua, items[i]);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, key);
}

static int make_step(lua_State *lua) {
  struct question *question = lua_touserdata(lua, 1);
  const struct model_step_request *request = question->request;
  push_function(lua, "step");
  lua_createtable(lua, 0, 6);
  lua_set_text(lua, "model", request->model);
  lua_set_text(lua, "data", request->data);
  lua_set_text(lua, "soc", request->soc);
  lua_set_text(lua, "memory", request->memory);
  set_list(lua, "set", request->sets, request->set_count);
  set_list(lua, "args", request->args, request->arg_count);
  lua_call(lua, 1, 2);
  const char *text = lua_tolstring(lua, -2, &question->step->length);
  question->step->memory_bytes = (uint64_t)lua_tonumber(lua, -1);
  question->step->text = malloc(question->step->length + 1);
  if (question->step->text)
    memcpy(question->step->text, text, question->step->length + 1);
  else
    question->status = diag_error(question->diag, VINCI_E_NOMEM, "out of memory");
  return 0;
}

static enum vinci_status make(void *context, const struct model_step_request *request,
                              struct model_step *out, struct vinci_diag *diag) {
  struct question question = {.request = request, .step = out, .diag = diag};
  *out = (struct model_step){0};
  return ask(context, make_step, &question);
}

void lua_steps_open(struct lua_steps *steps) {
  *steps = (struct lua_steps){.steps = {.context = steps, .check = check, .make = make}};
}

void lua_steps_close(struct lua_steps *steps) {
  if (steps->lua)
    lua_close(steps->lua);
  steps->lua = NULL;
}
