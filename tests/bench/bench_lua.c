/* SPDX-License-Identifier: Apache-2.0 */
/* What Lua costs: the same compile, run and reading of counters in C and through the module. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/result/metrics.h"
#include "scripts/module/lua_vinci.h"

enum { RUNS = 60, ROUNDS = 5, LIMIT_PERCENT = 5 };

static const char script[] =
    "local vinci = require 'vinci'\n"
    "local soc = vinci.soc 'Ascend910B1'\n"
    "local args = { m = 512, k = 512, n = 512, dtype = 'fp16' }\n"
    "return function(runs)\n"
    "  for _ = 1, runs do\n"
    "    local trace <close> = vinci.compile(soc, 'matmul', args)\n"
    "    local result <close> = vinci.run(soc, trace, { memory = 'flat' })\n"
    "    assert(result:counters().total_cycles.value > 0)\n"
    "  end\n"
    "end\n";

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char *text) {
  fprintf(stderr, "bench_lua: %s\n", text);
  exit(1);
}

static void run_in_c(const vinci_soc *soc) {
  static const char *const args[] = {"dtype=fp16", "k=512", "m=512", "n=512"};
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT};
  struct metric_list list;
  struct vinci_diag diag = {0};
  for (unsigned i = 0; i < RUNS; i++) {
    vinci_trace *trace;
    vinci_result *result;
    if (vinci_compile(soc, "matmul", args, 4, &trace, &diag) != VINCI_OK ||
        vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
      fail(diag.text);
    metrics_collect(result, &list);
    vinci_result_free(result);
    vinci_trace_free(trace);
  }
}

static void run_in_lua(lua_State *lua) {
  lua_pushvalue(lua, 1);
  lua_pushinteger(lua, RUNS);
  if (lua_pcall(lua, 1, 0, 0) != LUA_OK)
    fail(luaL_tolstring(lua, -1, NULL));
}

/* The least of several rounds of each, taken in turns: what the rest of the machine does is left
 * out as far as can be. */
int main(void) {
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  lua_State *lua = luaL_newstate();
  if (!lua || vinci_soc_load("Ascend910B1", NULL, &soc, &diag) != VINCI_OK)
    fail(diag.text);
  luaL_openlibs(lua);
  luaL_requiref(lua, "vinci", luaopen_vinci, 0);
  lua_settop(lua, 0);
  if (luaL_dostring(lua, script) != LUA_OK)
    fail(luaL_tolstring(lua, -1, NULL));
  double c_seconds = 1e9, lua_seconds = 1e9;
  for (unsigned round = 0; round < ROUNDS; round++) {
    double start = cpu_seconds();
    run_in_c(soc);
    double middle = cpu_seconds();
    run_in_lua(lua);
    double end = cpu_seconds();
    c_seconds = middle - start < c_seconds ? middle - start : c_seconds;
    lua_seconds = end - middle < lua_seconds ? end - middle : lua_seconds;
  }
  double percent = 100 * (lua_seconds / c_seconds - 1);
  printf("runs through Lua            %6.1f %% more than in C (%.2f ms a run; target < %d %%)\n",
         percent, 1e3 * c_seconds / RUNS, LIMIT_PERCENT);
  vinci_soc_free(soc);
  lua_close(lua);
  return percent < LIMIT_PERCENT ? 0 : 1;
}
