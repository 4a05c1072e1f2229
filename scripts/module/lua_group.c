/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: jobs of several devices. */
#include <string.h>

#include "core/result/proven.h"
#include "devices/flow/text.h"
#include "devices/flow/training.h"
#include "devices/jobs/kernels.h"
#include "scripts/module/lua_vinci.h"
#include "scripts/systems/group_host.h"
#include "studies/ops/order.h"

#define NS_PER_S 1e9

/* What a run needs and holds, in a userdata: an error of Lua frees this too. */
struct run {
  const char *text;
  size_t length;
  struct group_opening opening;
  struct group_text_turns turns;
  struct job_kernel_options timed;
  struct arena arena;
  uint32_t ranks;
  struct group_result result;
};

static void release(struct run *run) {
  group_opening_free(&run->opening);
  arena_free(&run->arena);
  run->arena = (struct arena){0};
}

static int collect(lua_State *lua) {
  release(lua_touserdata(lua, 1));
  return 0;
}

static struct run *new_run(lua_State *lua) {
  struct run *run = lua_newuserdatauv(lua, sizeof *run, 0);
  *run = (struct run){0};
  if (luaL_newmetatable(lua, "vinci.group_run")) {
    lua_pushcfunction(lua, collect);
    lua_setfield(lua, -2, "__gc");
  }
  lua_setmetatable(lua, -2);
  return run;
}

/* Of a rank: its peak, when, and by name what is held then and at most. */
static void set_memory(lua_State *lua, const struct group_result *result, uint32_t rank) {
  lua_set_number(lua, "peak_bytes", result->ranks[rank].peak_bytes);
  lua_set_us(lua, "peak_us", result->ranks[rank].peak_ps);
  lua_createtable(lua, 0, (int)result->memory_count);
  for (uint32_t i = 0; i < result->memory_count; i++) {
    size_t at = (size_t)rank * result->memory_count + i;
    lua_createtable(lua, 0, 2);
    lua_set_number(lua, "peak_bytes", result->peak_held[at]);
    lua_set_number(lua, "most_bytes", result->most_held[at]);
    lua_setfield(lua, -2, result->memories[i]);
  }
  lua_setfield(lua, -2, "held");
}

static void push_result(lua_State *lua, const struct run *run) {
  const struct group_result *result = &run->result;
  lua_createtable(lua, 0, 5);
  lua_set_us(lua, "us", result->end_ps);
  lua_set_number(lua, "transfers", result->transfers);
  lua_set_number(lua, "moved_bytes", result->transfer_bytes);
  lua_createtable(lua, (int)run->ranks, 0);
  for (uint32_t i = 0; i < run->ranks; i++) {
    const struct group_rank_result *rank = &result->ranks[i];
    lua_createtable(lua, 0, 8);
    lua_set_us(lua, "computing_us", rank->work_ps);
    lua_set_us(lua, "exposed_us", rank->exposed_ps);
    lua_set_us(lua, "overlapped_us", rank->comm_ps - rank->exposed_ps);
    lua_set_us(lua, "idle_us", rank->idle_ps);
    lua_set_us(lua, "slowed_us", rank->slowed_ps);
    if (result->memory_count > 0)
      set_memory(lua, result, i);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, "ranks");
  if (result->memory_count > 0)
    lua_set_number(lua, "device_bytes", result->device_bytes);
}

/* Appends to the list on top of the stack. */
static bool add_lever(void *context, const struct vinci_proven *lever) {
  lua_push_proven(context, lever);
  return true;
}

/* Algorithms are a map, {["all_reduce@dp"] = "ring"}, as `set`. */
static void take_turns(lua_State *lua, struct run *run, const char *function) {
  if (lua_getfield(lua, 2, "algorithms") != LUA_TNIL)
    run->turns.algorithms = lua_args_assignments(lua, lua_gettop(lua), function, "algorithms",
                                                 &run->turns.algorithm_count);
  if (lua_getfield(lua, 2, "bucket_bytes") != LUA_TNIL)
    run->turns.bucket_bytes =
        (uint64_t)lua_args_whole(lua, -1, function, "bucket_bytes", 1, LUA_MAXINTEGER);
  if (lua_getfield(lua, 2, "savings") == LUA_TNIL)
    return;
  const char *which = lua_args_text(lua, -1, function, "savings");
  if (strcmp(which, "all") != 0)
    lua_args_refuse(lua, function, "savings", "is \"all\" or left out");
  run->turns.levers = ARENA_ARRAY(&run->arena, struct proven_list, 1);
  if (!run->turns.levers)
    luaL_error(lua, "out of memory");
}

/* How operators of the job are simulated. */
static void take_state(lua_State *lua, struct run *run, const char *function) {
  run->timed = (struct job_kernel_options){.memory = VINCI_MEMORY_FLAT,
                                           .detail = JOB_NO_RANK,
                                           .data = run->opening.data,
                                           .engine = ops_order_run};
  lua_getfield(lua, 2, "sequence");
  run->timed.sequence = lua_toboolean(lua, -1);
  if (lua_getfield(lua, 2, "library") != LUA_TNIL)
    run->timed.library = lua_args_text(lua, -1, function, "options.library");
  run->turns.timed = &run->timed;
}

/* vinci.group_run(text [, options]): the time of a job, and what that of each rank is made of. */
static int group_run_job(lua_State *lua) {
  static const char function[] = "vinci.group_run";
  static const char *const names[] = {"system",     "set",          "data",
                                      "algorithms", "bucket_bytes", "savings",
                                      "sequence",   "library",      NULL};
  struct vinci_diag diag = {0};
  lua_args_end(lua, function, 2);
  (void)lua_args_text(lua, 1, function, "text");
  lua_args_options(lua, 2, function, names);
  lua_settop(lua, 2);
  struct run *run = new_run(lua);
  run->text = lua_tolstring(lua, 1, &run->length);
  if (lua_getfield(lua, 2, "system") != LUA_TNIL)
    run->opening.system = lua_args_text(lua, -1, function, "options.system");
  if (lua_getfield(lua, 2, "data") != LUA_TNIL)
    run->opening.data = lua_args_text(lua, -1, function, "options.data");
  if (lua_getfield(lua, 2, "set") != LUA_TNIL)
    run->opening.sets =
        lua_args_assignments(lua, lua_gettop(lua), function, "set", &run->opening.set_count);
  take_turns(lua, run, function);
  take_state(lua, run, function);
  if (group_run_text("job", run->text, run->length, group_opening_find, &run->opening, &run->turns,
                     &run->arena, &run->ranks, &run->result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, run);
  if (run->turns.levers) {
    lua_newtable(lua);
    proven_visit(run->turns.levers, add_lever, lua);
    lua_setfield(lua, -2, "levers");
  }
  release(run);
  return 1;
}

/* ---- trainings ------------------------------------------------------------------------------ */

static const char train_name[] = "vinci.group_train";

/* Seconds of a key, as nanoseconds; what is left out is 0. */
static uint64_t take_seconds(lua_State *lua, const char *key) {
  lua_Number seconds = 0;
  if (lua_getfield(lua, 1, key) != LUA_TNIL)
    seconds = lua_args_number(lua, -1, train_name, key);
  if (!(seconds >= 0 && seconds * NS_PER_S <= (lua_Number)TRAINING_NS_MAX))
    lua_args_refuse(lua, train_name, key, "is %g s, not 0 s to 36 years", seconds);
  lua_pop(lua, 1);
  return (uint64_t)(seconds * NS_PER_S + 0.5);
}

static lua_Integer take_whole(lua_State *lua, const char *key, lua_Integer fallback,
                              lua_Integer low, lua_Integer high) {
  if (lua_getfield(lua, 1, key) != LUA_TNIL)
    fallback = lua_args_whole(lua, -1, train_name, key, low, high);
  lua_pop(lua, 1);
  return fallback;
}

static void set_seconds(lua_State *lua, const char *key, uint64_t ns) {
  lua_pushnumber(lua, (lua_Number)ns / NS_PER_S);
  lua_setfield(lua, -2, key);
}

static void push_training(lua_State *lua, const struct group_training *training,
                          const struct group_training_result *result) {
  lua_createtable(lua, 0, 16);
  lua_set_number(lua, "runs", result->runs);
  set_seconds(lua, "time_s", result->mean_ns);
  set_seconds(lua, "half_s", result->half_ns);
  set_seconds(lua, "p5_s", result->p5_ns);
  set_seconds(lua, "median_s", result->median_ns);
  set_seconds(lua, "p95_s", result->p95_ns);
  set_seconds(lua, "young_s", group_training_young_ns(training));
  lua_pushnumber(lua, (lua_Number)result->mean.failures / (lua_Number)result->runs);
  lua_setfield(lua, -2, "failures");
#define X(field, name, text) set_seconds(lua, name "_s", result->mean.field);
  GROUP_TRAINING_PART_LIST(X)
#undef X
}

/* vinci.group_train(settings): how long a training takes when its units fail. */
static int group_train_job(lua_State *lua) {
#define X(field, name, minimum, text) name "_s",
  static const char *const names[] = {
      GROUP_TRAINING_TIME_LIST(X) "units", "spares", "shrink", "seed", "runs", "checkpoint", NULL};
#undef X
  struct group_training training = {0};
  struct group_training_result result;
  struct vinci_diag diag = {0};
  lua_args_end(lua, train_name, 1);
  lua_args_options(lua, 1, train_name, names);
#define X(field, name, minimum, text) training.field = take_seconds(lua, name "_s");
  GROUP_TRAINING_TIME_LIST(X)
#undef X
  training.units = (uint32_t)take_whole(lua, "units", 1, 1, TRAINING_UNITS_MAX);
  training.spares = (uint32_t)take_whole(lua, "spares", 0, 0, TRAINING_UNITS_MAX);
  training.seed = (uint64_t)take_whole(lua, "seed", 1, 0, LUA_MAXINTEGER);
  uint32_t runs = (uint32_t)take_whole(lua, "runs", 1000, 1, TRAINING_RUNS_MAX);
  lua_getfield(lua, 1, "shrink");
  training.shrinks = lua_toboolean(lua, -1);
  const char *checkpoint = NULL;
  if (lua_getfield(lua, 1, "checkpoint") != LUA_TNIL)
    checkpoint = lua_args_text(lua, -1, train_name, "checkpoint");
  if (group_train(&training, runs, checkpoint, &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_training(lua, &training, &result);
  return 1;
}

void lua_group_open(lua_State *lua) {
  lua_pushcfunction(lua, group_train_job);
  lua_setfield(lua, -2, "group_train");
  lua_pushcfunction(lua, group_run_job);
  lua_setfield(lua, -2, "group_run");
  lua_pushcfunction(lua, lua_buckets);
  lua_setfield(lua, -2, "buckets");
}
