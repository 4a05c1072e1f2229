/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: a family of graphs that serves requests. */
#include <stdlib.h>

#include "core/vinci_net.h"
#include "scripts/module/lua_vinci.h"

#define PS_PER_US 1e6
#define US_MAX 1e12

static const char function[] = "vinci.serve";

/* A number of microseconds of the table on top of the stack. */
static uint64_t field_us(lua_State *lua, const char *key, const char *of) {
  lua_getfield(lua, -1, key);
  lua_Number us = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : -1;
  if (!(us >= 0 && us <= US_MAX))
    lua_args_refuse(lua, function, of, "has no %s from 0 to 1e12", key);
  lua_pop(lua, 1);
  return (uint64_t)(us * PS_PER_US + 0.5);
}

static uint64_t field_whole(lua_State *lua, const char *key, const char *of, lua_Integer fallback) {
  int whole = 1;
  int type = lua_getfield(lua, -1, key);
  lua_Integer value = type == LUA_TNIL ? fallback : lua_tointegerx(lua, -1, &whole);
  if (!whole || value < 1)
    lua_args_refuse(lua, function, of, "has no whole %s of at least 1", key);
  lua_pop(lua, 1);
  return (uint64_t)value;
}

/* The list `key` of the options, on the stack; how long it is. */
static size_t take_list(lua_State *lua, const char *key) {
  if (lua_getfield(lua, 1, key) != LUA_TTABLE)
    lua_args_refuse(lua, function, key, "is not a list");
  return (size_t)lua_rawlen(lua, -1);
}

static void take_row(lua_State *lua, size_t index, const char *key) {
  if (lua_rawgeti(lua, -1, (lua_Integer)index + 1) != LUA_TTABLE)
    lua_args_refuse(lua, function, key, "has an entry that is not a table");
}

/* Memory of the collector, which stays on the stack. */
static struct vinci_net_gear *read_gears(lua_State *lua, size_t *count) {
  *count = take_list(lua, "gears");
  struct vinci_net_gear *gears = lua_newuserdatauv(lua, (*count + 1) * sizeof *gears, 0);
  lua_insert(lua, -2);
  for (size_t i = 0; i < *count; i++) {
    take_row(lua, i, "gears");
    gears[i] = (struct vinci_net_gear){field_whole(lua, "batch", "gears", 0),
                                       field_us(lua, "us", "gears")};
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return gears;
}

static struct vinci_net_request *read_list(lua_State *lua, size_t *count) {
  *count = take_list(lua, "requests");
  struct vinci_net_request *requests = lua_newuserdatauv(lua, (*count + 1) * sizeof *requests, 0);
  lua_insert(lua, -2);
  for (size_t i = 0; i < *count; i++) {
    take_row(lua, i, "requests");
    requests[i] = (struct vinci_net_request){field_us(lua, "arrival_us", "requests"),
                                             field_whole(lua, "size", "requests", 1)};
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

/* Appends to the list on top of the stack. */
static bool add_batch(void *context, const struct vinci_net_batch *batch) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 4);
  lua_set_us(lua, "start_us", batch->start_ps);
  lua_set_us(lua, "end_us", batch->end_ps);
  lua_set_number(lua, "gear", batch->gear + 1);
  lua_set_number(lua, "samples", batch->samples);
  lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
  return true;
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
  lua_args_end(lua, function, 1);
  lua_args_options(lua, 1, function, names);
  struct vinci_net_gear *gears = read_gears(lua, &gear_count);
  struct vinci_net_request *requests = read_requests(lua, &count);
  lua_pushvalue(lua, 1);
  bool waits = lua_getfield(lua, -1, "max_wait_us") != LUA_TNIL;
  lua_pop(lua, 1);
  uint64_t max_wait_ps = waits ? field_us(lua, "max_wait_us", "options") : 0;
  uint64_t *latencies = lua_newuserdatauv(lua, (count + 1) * sizeof *latencies, 0);
  lua_newtable(lua);
  int runs = lua_gettop(lua);
  if (vinci_net_serve(gears, gear_count, requests, count, max_wait_ps, latencies, add_batch, lua,
                      &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, &result, latencies, count);
  lua_pushvalue(lua, runs);
  lua_setfield(lua, -2, "runs");
  return 1;
}
