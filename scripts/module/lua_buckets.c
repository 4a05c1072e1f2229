/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: which gradients of a step are summed together. */
#include "core/vinci_group.h"
#include "devices/flow/system.h"
#include "scripts/module/lua_vinci.h"

static const char buckets_name[] = "vinci.buckets";
static const char *const plan_names[] = {
#define X(id, name, text) name,
    VINCI_BUCKET_PLAN_LIST(X)
#undef X
};

static void push_bucket(lua_State *lua, const struct vinci_buckets_result *result,
                        const struct vinci_bucket *bucket) {
  lua_createtable(lua, 0, 7);
  lua_set_text(lua, "first", result->names[bucket->first]);
  lua_set_text(lua, "last", result->names[bucket->first + bucket->count - 1]);
  lua_set_number(lua, "gradients", bucket->count);
  lua_set_number(lua, "bytes", bucket->bytes);
  lua_set_us(lua, "ready_us", bucket->ready_ps);
  lua_set_us(lua, "start_us", bucket->start_ps);
  lua_set_us(lua, "end_us", bucket->end_ps);
}

static void push_plan(lua_State *lua, const vinci_buckets *buckets, enum vinci_bucket_plan_id id) {
  const struct vinci_buckets_result *result = vinci_buckets_result(buckets);
  const struct vinci_bucket_plan *plan = &result->plans[id];
  lua_createtable(lua, 0, 6);
  lua_set_us(lua, "us", plan->simulated_ps);
  lua_set_us(lua, "queue_us", plan->end_ps);
  lua_set_us(lua, "exposed_us", plan->exposed_ps);
  lua_set_number(lua, "moved_bytes", plan->moved_bytes);
  lua_set_text(lua, "job", vinci_buckets_job(buckets, id));
  lua_createtable(lua, (int)plan->count, 0);
  for (size_t i = 0; i < plan->count; i++) {
    push_bucket(lua, result, &plan->buckets[i]);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, "buckets");
}

static void push_result(lua_State *lua, const vinci_buckets *buckets) {
  const struct vinci_buckets_result *result = vinci_buckets_result(buckets);
  lua_createtable(lua, 0, 10);
  lua_set_number(lua, "ranks", result->ranks);
  lua_set_number(lua, "gradients", result->gradients);
  lua_set_number(lua, "gradient_bytes", result->gradient_bytes);
  lua_set_number(lua, "closed_bytes", result->closed_bytes);
  lua_set_us(lua, "work_us", result->work_ps);
  lua_set_number(lua, "sizes", result->sizes);
  lua_set_number(lua, "simulated", result->simulated);
  if (result->enumerated_ps > 0)
    lua_set_us(lua, "enumerated_us", result->enumerated_ps);
  lua_set_text(lua, "best", plan_names[result->best]);
  lua_createtable(lua, 0, VINCI_BUCKET_PLANS);
  for (unsigned i = 0; i < VINCI_BUCKET_PLANS; i++)
    if (result->plans[i].there) {
      push_plan(lua, buckets, (enum vinci_bucket_plan_id)i);
      lua_setfield(lua, -2, plan_names[i]);
    }
  lua_setfield(lua, -2, "plans");
}

static lua_Integer take_whole(lua_State *lua, const char *key, lua_Integer low, lua_Integer high) {
  lua_Integer value = 0;
  if (lua_getfield(lua, 2, key) != LUA_TNIL)
    value = lua_args_whole(lua, -1, buckets_name, key, low, high);
  return value;
}

static const char *take_text(lua_State *lua, const char *key) {
  return lua_getfield(lua, 2, key) == LUA_TNIL ? NULL : lua_args_text(lua, -1, buckets_name, key);
}

/* An error of Lua, short of memory, frees what was found too. */
static int collect(lua_State *lua) {
  vinci_buckets **held = lua_touserdata(lua, 1);
  vinci_buckets_free(*held);
  *held = NULL;
  return 0;
}

static vinci_buckets **new_holder(lua_State *lua) {
  vinci_buckets **held = lua_newuserdatauv(lua, sizeof(vinci_buckets *), 0);
  *held = NULL;
  if (luaL_newmetatable(lua, buckets_name)) {
    lua_pushcfunction(lua, collect);
    lua_setfield(lua, -2, "__gc");
  }
  lua_setmetatable(lua, -2);
  return held;
}

/* vinci.buckets(text [, options]): plans of a step, whose table is the text. */
int lua_buckets(lua_State *lua) {
  static const char *const names[] = {"system",       "set",   "data", "ranks",
                                      "bucket_bytes", "exact", NULL};
  struct vinci_diag diag = {0};
  size_t length;
  lua_args_end(lua, buckets_name, 2);
  (void)lua_args_text(lua, 1, buckets_name, "text");
  lua_args_options(lua, 2, buckets_name, names);
  lua_settop(lua, 2);
  const char *text = lua_tolstring(lua, 1, &length);
  struct vinci_buckets_options options = {.struct_size = sizeof options};
  options.system = take_text(lua, "system");
  options.data = take_text(lua, "data");
  options.ranks = (unsigned)take_whole(lua, "ranks", 2, GROUP_DEVICES_MAX);
  options.fixed_bytes = (uint64_t)take_whole(lua, "bucket_bytes", 1, LUA_MAXINTEGER);
  lua_getfield(lua, 2, "exact");
  options.exact = lua_toboolean(lua, -1);
  if (lua_getfield(lua, 2, "set") != LUA_TNIL)
    options.sets =
        lua_args_assignments(lua, lua_gettop(lua), buckets_name, "set", &options.set_count);
  if (options.ranks == 0)
    options.ranks = 8;
  vinci_buckets **held = new_holder(lua);
  if (vinci_buckets_open("step", text, length, &options, held, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, *held);
  vinci_buckets_free(*held);
  *held = NULL;
  return 1;
}
