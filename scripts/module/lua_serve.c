/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: streams of requests, of a family of graphs and of a language model. */
#include <stdlib.h>

#include "core/vinci_net.h"
#include "core/vinci_serving.h"
#include "scripts/module/lua_vinci.h"

#define PS_PER_US 1e6
#define US_MAX 1e12

/* A number of microseconds of the table on top of the stack. */
static uint64_t field_us(lua_State *lua, const char *function, const char *key, const char *of) {
  lua_getfield(lua, -1, key);
  lua_Number us = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : -1;
  if (!(us >= 0 && us <= US_MAX))
    lua_args_refuse(lua, function, of, "has no %s from 0 to 1e12", key);
  lua_pop(lua, 1);
  return (uint64_t)(us * PS_PER_US + 0.5);
}

/* fallback: 0 for none. */
static uint64_t field_whole(lua_State *lua, const char *function, const char *key, const char *of,
                            lua_Integer fallback) {
  int whole = 1;
  int type = lua_getfield(lua, -1, key);
  lua_Integer value = type == LUA_TNIL ? fallback : lua_tointegerx(lua, -1, &whole);
  if (!whole || value < 1)
    lua_args_refuse(lua, function, of, "has no whole %s of at least 1", key);
  lua_pop(lua, 1);
  return (uint64_t)value;
}

/* The list `key` of the options, on the stack; how long it is. */
static size_t take_list(lua_State *lua, const char *function, const char *key) {
  if (lua_getfield(lua, 1, key) != LUA_TTABLE)
    lua_args_refuse(lua, function, key, "is not a list");
  return (size_t)lua_rawlen(lua, -1);
}

static void take_row(lua_State *lua, const char *function, size_t index, const char *key) {
  if (lua_rawgeti(lua, -1, (lua_Integer)index + 1) != LUA_TTABLE)
    lua_args_refuse(lua, function, key, "has an entry that is not a table");
}

/* ---- a family of graphs ----------------------------------------------------------------- */

static const char serve_name[] = "vinci.serve";

/* Memory of the collector, which stays on the stack. */
static struct vinci_net_gear *read_gears(lua_State *lua, size_t *count) {
  *count = take_list(lua, serve_name, "gears");
  struct vinci_net_gear *gears = lua_newuserdatauv(lua, (*count + 1) * sizeof *gears, 0);
  lua_insert(lua, -2);
  for (size_t i = 0; i < *count; i++) {
    take_row(lua, serve_name, i, "gears");
    gears[i] = (struct vinci_net_gear){field_whole(lua, serve_name, "batch", "gears", 0),
                                       field_us(lua, serve_name, "us", "gears")};
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return gears;
}

static struct vinci_net_request *read_list(lua_State *lua, size_t *count) {
  *count = take_list(lua, serve_name, "requests");
  struct vinci_net_request *requests = lua_newuserdatauv(lua, (*count + 1) * sizeof *requests, 0);
  lua_insert(lua, -2);
  for (size_t i = 0; i < *count; i++) {
    take_row(lua, serve_name, i, "requests");
    requests[i] = (struct vinci_net_request){field_us(lua, serve_name, "arrival_us", "requests"),
                                             field_whole(lua, serve_name, "size", "requests", 1)};
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return requests;
}

/* Those of a text are copied to memory of the collector, which an error does not leak. */
static struct vinci_net_request *read_requests(lua_State *lua, size_t *count) {
  struct vinci_net_request *drawn, *requests;
  struct vinci_diag diag = {0};
  if (lua_getfield(lua, 1, "requests") != LUA_TSTRING)
    return read_list(lua, count);
  if (vinci_net_requests(lua_tostring(lua, -1), &drawn, count, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  requests = lua_newuserdatauv(lua, *count * sizeof *requests, 0);
  for (size_t i = 0; i < *count; i++)
    requests[i] = drawn[i];
  free(drawn);
  return requests;
}

/* A list and a pointer to the batch that is appended. */
static int append_batch(lua_State *lua) {
  const struct vinci_net_batch *batch = lua_touserdata(lua, 2);
  lua_createtable(lua, 0, 4);
  lua_set_us(lua, "start_us", batch->start_ps);
  lua_set_us(lua, "end_us", batch->end_ps);
  lua_set_number(lua, "gear", batch->gear + 1);
  lua_set_number(lua, "samples", batch->samples);
  lua_rawseti(lua, 1, (lua_Integer)lua_rawlen(lua, 1) + 1);
  return 0;
}

/* To the list on top of the stack; false: an error is above. It waits until the library has
 * returned. */
static bool add_batch(void *context, const struct vinci_net_batch *batch) {
  lua_State *lua = context;
  lua_pushcfunction(lua, append_batch);
  lua_pushvalue(lua, -2);
  lua_pushlightuserdata(lua, (void *)(uintptr_t)batch);
  return lua_pcall(lua, 2, 0, 0) == LUA_OK;
}

static void push_result(lua_State *lua, const struct vinci_net_served *result,
                        const uint64_t *latencies, size_t count) {
  lua_createtable(lua, 0, 11);
  lua_set_us(lua, "p50_us", result->p50_ps);
  lua_set_us(lua, "p90_us", result->p90_ps);
  lua_set_us(lua, "p99_us", result->p99_ps);
  lua_set_us(lua, "max_us", result->max_ps);
  lua_set_us(lua, "busy_us", result->busy_ps);
  lua_set_us(lua, "span_us", result->span_ps);
  lua_set_number(lua, "samples", result->samples);
  lua_set_number(lua, "slots", result->slots);
  lua_set_number(lua, "batches", result->batches);
  lua_createtable(lua, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushnumber(lua, (lua_Number)latencies[i] / PS_PER_US);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, "latencies_us");
}

/* vinci.serve { gears =, requests = [, max_wait_us =] }: latencies and waste. */
int lua_serve(lua_State *lua) {
  static const char *const names[] = {"gears", "requests", "max_wait_us", NULL};
  struct vinci_diag diag = {0};
  struct vinci_net_served result;
  size_t gear_count, count;
  lua_args_end(lua, serve_name, 1);
  lua_args_options(lua, 1, serve_name, names);
  struct vinci_net_gear *gears = read_gears(lua, &gear_count);
  struct vinci_net_request *requests = read_requests(lua, &count);
  lua_pushvalue(lua, 1);
  bool waits = lua_getfield(lua, -1, "max_wait_us") != LUA_TNIL;
  lua_pop(lua, 1);
  uint64_t max_wait_ps = waits ? field_us(lua, serve_name, "max_wait_us", "options") : 0;
  uint64_t *latencies = lua_newuserdatauv(lua, (count + 1) * sizeof *latencies, 0);
  lua_newtable(lua);
  int runs = lua_gettop(lua);
  if (vinci_net_serve(gears, gear_count, requests, count, max_wait_ps, latencies, add_batch, lua,
                      &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  if (lua_gettop(lua) > runs)
    return lua_error(lua);
  push_result(lua, &result, latencies, count);
  lua_pushvalue(lua, runs);
  lua_setfield(lua, -2, "runs");
  return 1;
}

/* ---- a language model -------------------------------------------------------------------- */

static const char serving_name[] = "vinci.serving_run";

/* What the functions of the options need, which run inside the library. */
struct costs {
  lua_State *lua;
  int step, send; /* where the functions are on the stack; send: 0 for none */
  bool failed;    /* the error is on top of the stack */
};

/* Raises where a function's result, on top of the stack, is not a time. */
static int check_time(lua_State *lua, const char *what) {
  lua_Number us = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : -1;
  if (!(us >= 0 && us <= US_MAX))
    return luaL_error(lua, "%s: %s gives no time from 0 to 1e12 us", serving_name, what);
  return 1;
}

/* The function of the options, and a pointer to the step: gives a time. */
static int ask_step(lua_State *lua) {
  const struct vinci_serving_step *step = lua_touserdata(lua, 2);
  lua_settop(lua, 1);
  lua_createtable(lua, 0, 4);
  lua_set_number(lua, "batch", step->batch);
  lua_set_number(lua, "length", step->length);
  lua_set_number(lua, "ends", step->ends);
  lua_createtable(lua, (int)step->part_count, 0);
  for (size_t i = 0; i < step->part_count; i++) {
    lua_createtable(lua, 2, 0);
    lua_pushinteger(lua, (lua_Integer)step->parts[i].tokens);
    lua_rawseti(lua, -2, 1);
    lua_pushinteger(lua, (lua_Integer)step->parts[i].before);
    lua_rawseti(lua, -2, 2);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, "parts");
  lua_call(lua, 1, 1);
  return check_time(lua, "step");
}

/* The same with a pointer to tokens. */
static int ask_send(lua_State *lua) {
  const uint64_t *tokens = lua_touserdata(lua, 2);
  lua_settop(lua, 1);
  lua_pushinteger(lua, (lua_Integer)*tokens);
  lua_call(lua, 1, 1);
  return check_time(lua, "send");
}

/* Lua's errors, of short memory too, wait until the library has returned, which would lose its own
 * memory otherwise. */
static bool ask(struct costs *costs, lua_CFunction how, int function, const void *what,
                uint64_t *ps) {
  lua_State *lua = costs->lua;
  lua_pushcfunction(lua, how);
  lua_pushvalue(lua, function);
  lua_pushlightuserdata(lua, (void *)(uintptr_t)what);
  costs->failed = lua_pcall(lua, 2, 1, 0) != LUA_OK;
  if (costs->failed)
    return false;
  *ps = (uint64_t)(lua_tonumber(lua, -1) * PS_PER_US + 0.5);
  lua_pop(lua, 1);
  return true;
}

static bool step_cost(void *context, const struct vinci_serving_step *step, uint64_t *ps) {
  struct costs *costs = context;
  return ask(costs, ask_step, costs->step, step, ps);
}

static bool send_cost(void *context, uint64_t tokens, uint64_t *ps) {
  struct costs *costs = context;
  return ask(costs, ask_send, costs->send, &tokens, ps);
}

/* The function `key` of the options, which stays on the stack; 0: there is none. */
static int take_function(lua_State *lua, const char *key, bool needed) {
  int type = lua_getfield(lua, 1, key);
  if (type != LUA_TFUNCTION && (needed || type != LUA_TNIL))
    lua_args_refuse(lua, serving_name, key, "is not a function");
  return type == LUA_TFUNCTION ? lua_gettop(lua) : 0;
}

static struct vinci_serving_request *read_prompts(lua_State *lua, size_t *count) {
  *count = take_list(lua, serving_name, "requests");
  struct vinci_serving_request *requests =
      lua_newuserdatauv(lua, (*count + 1) * sizeof *requests, 0);
  lua_insert(lua, -2);
  for (size_t i = 0; i < *count; i++) {
    take_row(lua, serving_name, i, "requests");
    requests[i] =
        (struct vinci_serving_request){field_us(lua, serving_name, "at_us", "requests"),
                                       field_whole(lua, serving_name, "prompt", "requests", 0),
                                       field_whole(lua, serving_name, "tokens", "requests", 0)};
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return requests;
}

static uint64_t whole_option(lua_State *lua, const char *key) {
  lua_getfield(lua, 1, key);
  bool given = !lua_isnil(lua, -1);
  lua_pop(lua, 1);
  if (!given)
    return 0;
  lua_pushvalue(lua, 1);
  uint64_t value = field_whole(lua, serving_name, key, "options", 0);
  lua_pop(lua, 1);
  return value;
}

static void set_share(lua_State *lua, const char *key, const struct vinci_serving_share *share) {
  lua_createtable(lua, 0, 4);
  lua_set_us(lua, "p50", share->p50_ps);
  lua_set_us(lua, "p90", share->p90_ps);
  lua_set_us(lua, "p99", share->p99_ps);
  lua_set_number(lua, "count", share->count);
  lua_setfield(lua, -2, key);
}

/* vinci.serving_run { requests =, step =, pages = ... }: vinci_serving_run(). */
int lua_serving_run(lua_State *lua) {
  static const char *const names[] = {"requests", "step",  "send",    "batch",  "tokens",
                                      "page",     "pages", "prefill", "decode", NULL};
  struct vinci_diag diag = {0};
  struct vinci_serving_result result;
  struct costs costs = {.lua = lua};
  size_t count;
  lua_args_end(lua, serving_name, 1);
  lua_args_options(lua, 1, serving_name, names);
  const struct vinci_serving_request *requests = read_prompts(lua, &count);
  costs.step = take_function(lua, "step", true);
  costs.send = take_function(lua, "send", false);
  const struct vinci_serving_options options = {.struct_size = sizeof options,
                                                .batch = whole_option(lua, "batch"),
                                                .tokens = whole_option(lua, "tokens"),
                                                .page = whole_option(lua, "page"),
                                                .pages = whole_option(lua, "pages"),
                                                .prefill = whole_option(lua, "prefill"),
                                                .decode = whole_option(lua, "decode"),
                                                .context = &costs,
                                                .step = step_cost,
                                                .send = costs.send ? send_cost : NULL};
  enum vinci_status status = vinci_serving_run(requests, count, &options, NULL, &result, &diag);
  if (costs.failed)
    return lua_error(lua);
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_createtable(lua, 0, 11);
  set_share(lua, "ttft_us", &result.ttft);
  set_share(lua, "tpot_us", &result.tpot);
  set_share(lua, "itl_us", &result.itl);
  lua_set_us(lua, "start_us", result.start_ps);
  lua_set_us(lua, "end_us", result.end_ps);
  lua_set_us(lua, "busy_us", result.busy_ps);
  lua_set_number(lua, "tokens", result.tokens);
  lua_set_number(lua, "steps", result.steps);
  lua_set_number(lua, "preempted", result.preempted);
  lua_set_number(lua, "fullest", result.fullest);
  lua_set_number(lua, "engines", result.engines);
  return 1;
}
