/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: runs and their results. */
#include <string.h>

#include "core/base/diag.h"
#include "core/isa/isa.h"
#include "core/result/metrics.h"
#include "core/result/result.h"
#include "core/result/result_energy.h"
#include "core/vinci_auto.h"
#include "core/vinci_sensitivity.h"
#include "core/vinci_tables.h"
#include "core/vinci_timeline.h"
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_vinci.h"

const char lua_result_type[] = "vinci.result";

enum { EVENTS_MAX = 100000000, REPEAT_MAX = 1000000 };

/* ---- runs ------------------------------------------------------------------------------- */

/* The function `progress` of the options, at an index of the stack; 0: none. */
struct calling {
  lua_State *lua;
  int function;
  bool failed; /* its error is on top of the stack */
};

/* Goes on unless the function returns false or fails. */
static bool call_progress(void *context, uint64_t cycles, unsigned done_permille) {
  enum { SLOTS = 8 };
  struct calling *calling = context;
  lua_State *lua = calling->lua;
  if (!lua_checkstack(lua, SLOTS))
    return false;
  lua_pushvalue(lua, calling->function);
  lua_pushinteger(lua, (lua_Integer)cycles);
  lua_pushnumber(lua, done_permille / 1000.0);
  calling->failed = lua_pcall(lua, 2, 1, 0) != LUA_OK;
  if (calling->failed)
    return false;
  bool stop = lua_isboolean(lua, -1) && !lua_toboolean(lua, -1);
  lua_pop(lua, 1);
  return !stop;
}

void lua_vinci_models(lua_State *lua, int at, const char *function,
                      struct vinci_run_options *options) {
  static const char *const memories[] = {"cycle", "flat", "auto", NULL}; /* as enum vinci_memory */
  static const char *const networks[] = {"packet", "flit", NULL};
  static const char *const l2_starts[] = {"empty", "warm", "streaming", "used", "dirty", NULL};
  static const char *const codes[] = {"cold", "warm", "device", NULL};
  static const uint32_t found[] = {0, VINCI_CODE_WARM, VINCI_CODE_DEVICE};
  int top = lua_gettop(lua);
  if (lua_getfield(lua, at, "memory") != LUA_TNIL)
    options->memory =
        (enum vinci_memory)lua_args_word(lua, -1, function, "options.memory", memories);
  if (lua_getfield(lua, at, "network") != LUA_TNIL)
    options->network = lua_args_word(lua, -1, function, "options.network", networks) == 0
                           ? VINCI_NETWORK_PACKET
                           : VINCI_NETWORK_FLIT;
  if (lua_getfield(lua, at, "l2") != LUA_TNIL)
    options->l2_start = (enum vinci_l2)lua_args_word(lua, -1, function, "options.l2", l2_starts);
  if (lua_getfield(lua, at, "code") != LUA_TNIL)
    options->code_found_ppm = found[lua_args_word(lua, -1, function, "options.code", codes)];
  if (lua_getfield(lua, at, "max_cycles") != LUA_TNIL)
    options->max_cycles =
        (uint64_t)lua_args_whole(lua, -1, function, "options.max_cycles", 1, LUA_MAXINTEGER);
  lua_settop(lua, top);
}

/* What the options say besides those of the run. */
struct asked {
  bool partial; /* takes a partial result */
  bool savings; /* measures what turning numbers saves */
};

static void read_flag(lua_State *lua, const char *function, const char *name, bool *flag) {
  if (lua_getfield(lua, 3, name) != LUA_TNIL) {
    if (lua_type(lua, -1) != LUA_TBOOLEAN)
      lua_args_refuse(lua, function, lua_pushfstring(lua, "options.%s", name),
                      "is not true or false");
    *flag = lua_toboolean(lua, -1);
  }
  lua_pop(lua, 1);
}

static void read_options(lua_State *lua, const char *function, struct vinci_run_options *options,
                         struct asked *asked, struct calling *calling) {
  static const char *const names[] = {
      "memory",          "network", "l2",       "code",    "max_cycles",    "max_events", "repeat",
      "part_order_seed", "partial", "progress", "savings", "error_bar_ppm", NULL};
  lua_args_options(lua, 3, function, names);
  lua_vinci_models(lua, 3, function, options);
  if (lua_getfield(lua, 3, "max_events") != LUA_TNIL)
    options->max_events =
        (uint64_t)lua_args_whole(lua, -1, function, "options.max_events", 0, EVENTS_MAX);
  if (lua_getfield(lua, 3, "repeat") != LUA_TNIL)
    options->repeat = (uint32_t)lua_args_whole(lua, -1, function, "options.repeat", 1, REPEAT_MAX);
  if (lua_getfield(lua, 3, "error_bar_ppm") != LUA_TNIL)
    options->error_bar_ppm =
        (uint32_t)lua_args_whole(lua, -1, function, "options.error_bar_ppm", 0, UINT32_MAX);
  if (lua_getfield(lua, 3, "part_order_seed") != LUA_TNIL)
    options->part_order_seed =
        (uint64_t)lua_args_whole(lua, -1, function, "options.part_order_seed", 0, LUA_MAXINTEGER);
  read_flag(lua, function, "partial", &asked->partial);
  read_flag(lua, function, "savings", &asked->savings);
  if (asked->savings && options->max_events == 0)
    lua_args_refuse(lua, function, "options.savings", "needs max_events");
  if (lua_getfield(lua, 3, "progress") == LUA_TNIL)
    return;
  if (lua_type(lua, -1) != LUA_TFUNCTION)
    lua_args_refuse(lua, function, "options.progress", "is not a function");
  *calling = (struct calling){.lua = lua, .function = lua_gettop(lua)};
  options->progress = call_progress;
  options->progress_context = calling;
}

/* With a function that is called back, nobody else has chip and trace meanwhile. */
static void set_busy(lua_State *lua, const struct calling *calling, const vinci_soc *soc,
                     const vinci_trace *trace, bool busy) {
  if (!calling->function)
    return;
  *(const void **)lua_touserdata(lua, 1) = busy ? (const void *)lua_vinci_busy : soc;
  *(const void **)lua_touserdata(lua, 2) = busy ? (const void *)lua_vinci_busy : trace;
}

/* vinci.run(soc, trace [, options]) */
static int run(lua_State *lua) {
  static const char function[] = "vinci.run";
  struct vinci_diag diag = {0};
  struct vinci_run_options options = {.struct_size = sizeof options};
  struct asked asked = {0};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const vinci_trace *trace = lua_args_object(lua, 2, lua_trace_type, function, "trace");
  lua_args_end(lua, function, 3);
  struct calling calling = {0};
  read_options(lua, function, &options, &asked, &calling);
  void **object = lua_vinci_object(lua, lua_result_type);
  vinci_result *result = NULL;
  set_busy(lua, &calling, soc, trace, true);
  enum vinci_status status = vinci_run(soc, trace, &options, &result, &diag);
  struct vinci_savings_options measured = {.struct_size = sizeof measured, .run = options};
  measured.run.max_cycles = 0; /* a number may make the run longer */
  if (status == VINCI_OK && asked.savings)
    status = vinci_savings_measure(result, soc, trace, &measured, &diag);
  set_busy(lua, &calling, soc, trace, false);
  *object = result;
  if (calling.failed)
    return lua_error(lua);
  if (status != VINCI_OK && !(asked.partial && result)) {
    diag.status = status;
    lua_vinci_raise(lua, &diag);
  }
  lua_vinci_weigh(lua, result->arena.total_bytes + sizeof(struct vinci_soc) +
                           result->event_count * sizeof *result->events);
  return 1;
}

/* ---- results ------------------------------------------------------------------------------ */

static const vinci_result *self(lua_State *lua, const char *function) {
  return lua_args_object(lua, 1, lua_result_type, function, "result");
}

/* result:counters(): { name = { value =, unit =, better = } } */
static int counters(lua_State *lua) {
  struct metric_list list;
  const vinci_result *result = self(lua, "result:counters");
  lua_args_end(lua, "result:counters", 1);
  metrics_collect(result, &list);
  lua_createtable(lua, 0, (int)list.count);
  for (size_t i = 0; i < list.count; i++) {
    const struct counter *row = list.item[i].counter;
    if (!(row->places & IN_METRICS))
      continue;
    lua_createtable(lua, 0, 3);
    lua_set_number(lua, "value", list.item[i].value);
    lua_set_text(lua, "unit", counter_unit_name(row->unit));
    lua_set_text(lua, "better", counter_better_name(row->better));
    lua_setfield(lua, -2, list.item[i].name);
  }
  return 1;
}

/* vinci.counters(): { name = { unit =, better =, kind =, text = } } */
static int counter_table(lua_State *lua) {
  size_t count;
  const struct counter *rows = counter_rows(&count);
  lua_args_end(lua, "vinci.counters", 0);
  lua_createtable(lua, 0, (int)count);
  for (size_t i = 0; i < count; i++) {
    lua_createtable(lua, 0, 4);
    lua_set_text(lua, "unit", counter_unit_name(rows[i].unit));
    lua_set_text(lua, "better", counter_better_name(rows[i].better));
    lua_set_text(lua, "kind", counter_kind_name(rows[i].kind));
    lua_set_text(lua, "text", rows[i].text);
    lua_setfield(lua, -2, rows[i].name);
  }
  return 1;
}

/* result:get(name): the value of one counter and its unit. */
static int get(lua_State *lua) {
  static const char function[] = "result:get";
  struct metric_list list;
  const vinci_result *result = self(lua, function);
  const char *name = lua_args_text(lua, 2, function, "name");
  lua_args_end(lua, function, 2);
  metrics_collect(result, &list);
  for (size_t i = 0; i < list.count; i++)
    if (list.item[i].counter->places & IN_METRICS && strcmp(list.item[i].name, name) == 0) {
      lua_pushinteger(lua, (lua_Integer)list.item[i].value);
      lua_pushstring(lua, counter_unit_name(list.item[i].counter->unit));
      return 2;
    }
  lua_args_refuse(lua, function, "name", "is '%.80s', which no counter is called", name);
}

/* As it is printed. */
static void push_value(lua_State *lua, const struct metric *metric) {
  if (metric->counter->unit == UNIT_WORD)
    lua_pushstring(lua, bound_name((enum bound)metric->value));
  else if (counter_decimals(metric->counter->unit) > 0)
    lua_pushnumber(lua, (lua_Number)metric->value / 1e6);
  else
    lua_pushinteger(lua, (lua_Integer)metric->value);
}

/* "l2.hit_rate" is the field l2_hit_rate, "utilization.M" the field M of the table utilization. */
static void set_metric(lua_State *lua, const struct metric *metric) {
  char name[METRIC_NAME_MAX];
  snprintf(name, sizeof name, "%s", metric->printed);
  char *dot = strchr(name, '.');
  if (dot)
    *dot = metric->member ? '\0' : '_';
  if (!metric->member) {
    push_value(lua, metric);
    lua_setfield(lua, -2, name);
    return;
  }
  if (lua_getfield(lua, -1, name) == LUA_TNIL) {
    lua_pop(lua, 1);
    lua_newtable(lua);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, name);
  }
  push_value(lua, metric);
  lua_setfield(lua, -2, metric->member);
  lua_pop(lua, 1);
}

/* result:summary(): what one looks at first. */
static int summary(lua_State *lua) {
  struct metric_list list;
  const vinci_result *result = self(lua, "result:summary");
  struct vinci_auto_bar bar;
  lua_args_end(lua, "result:summary", 1);
  metrics_collect(result, &list);
  lua_newtable(lua);
  lua_set_text(lua, "soc", result->soc->name);
  lua_pushboolean(lua, result->partial);
  lua_setfield(lua, -2, "partial");
  for (size_t i = 0; i < list.count; i++)
    if (list.item[i].counter->places & IN_OVERVIEW)
      set_metric(lua, &list.item[i]);
  if (vinci_result_auto(result, &bar)) {
    lua_pushstring(lua, vinci_auto_from_name(bar.from));
    lua_setfield(lua, -2, "duration_from");
    lua_pushinteger(lua, (lua_Integer)bar.error_bar_ppm);
    lua_setfield(lua, -2, "error_bar_ppm");
  }
  return 1;
}

/* The fields of a group, by the last word of their names. */
static void set_fields(lua_State *lua, enum counter_group group, const void *part) {
  const struct counter *row = NULL;
  while ((row = counter_next(row, group)))
    if (row->places & IN_CORES)
      lua_set_number(lua, strrchr(row->name, '.') + 1, counter_value(row, part));
}

/* result:cores(): each core with its pipes. */
static int cores(lua_State *lua) {
  const vinci_result *result = self(lua, "result:cores");
  lua_args_end(lua, "result:cores", 1);
  lua_newtable(lua);
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    char name[48];
    result_core_name(core, name, sizeof name);
    lua_newtable(lua);
    lua_set_text(lua, "name", name);
    lua_set_number(lua, "clock_hz", core->hz);
    lua_set_number(lua, "total_cycles", core->total_cycles);
    set_fields(lua, GROUP_CORE, core);
    lua_set_number(lua, "blocks", core->blocks_run);
    lua_newtable(lua);
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
      lua_newtable(lua);
      set_fields(lua, GROUP_PIPE, &core->pipe[pipe]);
      lua_setfield(lua, -2, pipe_name((enum pipe)pipe));
    }
    lua_setfield(lua, -2, "pipes");
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static void set_energy(lua_State *lua, struct vinci_energy energy) {
  lua_set_number(lua, "pj", energy.pj);
  lua_set_number(lua, "low_pj", energy.low_pj);
  lua_set_number(lua, "high_pj", energy.high_pj);
}

/* result:energy(): pj, low_pj, high_pj, macs, parts by name, events by key with how often, and the
 * price of each; nil for a chip that keeps no account. */
static int energy(lua_State *lua) {
  const vinci_result *result = self(lua, "result:energy");
  struct energy_counts counts;
  lua_args_end(lua, "result:energy", 1);
  if (!energy_counts_of(result, &counts)) {
    lua_pushnil(lua);
    return 1;
  }
  const struct energy_spec *spec = result->soc->energy;
  lua_newtable(lua);
  set_energy(lua, energy_total(spec, &counts));
  lua_set_number(lua, "macs", energy_macs(&counts));
  lua_newtable(lua);
  for (unsigned i = 0; i < ENERGY_PART_COUNT; i++) {
    lua_newtable(lua);
    set_energy(lua, energy_part(spec, &counts, (enum energy_part)i));
    lua_setfield(lua, -2, energy_part_key((enum energy_part)i));
  }
  lua_setfield(lua, -2, "parts");
  lua_newtable(lua);
  for (unsigned i = 0; i < ENERGY_COUNT; i++) {
    lua_newtable(lua);
    lua_set_number(lua, energy_is_power((enum energy_number)i) ? "ps" : "count", counts.of[i]);
    lua_set_number(lua, energy_is_power((enum energy_number)i) ? "mw" : "fj",
                   (uint64_t)spec->value[i]);
    lua_setfield(lua, -2, energy_param(i)->key);
  }
  lua_setfield(lua, -2, "events");
  return 1;
}

/* Adds the table on top of the stack to the list below. */
static void add_row(lua_State *lua) { lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1); }

/* result:events(): what max_events of the run has kept; cores as indexes into result:cores(). */
static int events(lua_State *lua) {
  const vinci_result *result = self(lua, "result:events");
  lua_args_end(lua, "result:events", 1);
  lua_newtable(lua);
  struct vinci_event event;
  for (size_t i = 0; vinci_result_event(result, i, &event); i++) {
    lua_createtable(lua, 0, 7);
    lua_set_text(lua, "op", event.op);
    lua_set_text(lua, "pipe", event.pipe);
    lua_set_number(lua, "core", event.core + 1);
    lua_set_number(lua, "line", event.line);
    lua_set_number(lua, "start_cycle", event.start_cycle);
    lua_set_number(lua, "end_cycle", event.end_cycle);
    lua_set_number(lua, "bytes", event.bytes);
    add_row(lua);
  }
  return 1;
}

static enum vinci_status write_json(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_result_write_json(object, out, diag);
}

static enum vinci_status write_text(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_result_write_text(object, out, diag);
}

static int json(lua_State *lua) {
  const vinci_result *result = self(lua, "result:json");
  lua_args_end(lua, "result:json", 1);
  lua_vinci_push_text(lua, write_json, result);
  return 1;
}

static int text(lua_State *lua) {
  const vinci_result *result = self(lua, "result:text");
  lua_args_end(lua, "result:text", 1);
  lua_vinci_push_text(lua, write_text, result);
  return 1;
}

static bool add_hotspot(void *context, const struct vinci_hotspot *row) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 13);
  if (row->file)
    lua_set_text(lua, "file", row->file);
  lua_set_text(lua, "op", row->op);
  lua_set_text(lua, "pipe", row->pipe);
  lua_set_number(lua, "line", row->line);
  lua_set_number(lua, "count", row->count);
  lua_set_number(lua, "critical_cycles", row->critical_cycles);
  lua_set_number(lua, "cycles", row->cycles);
  lua_set_number(lua, "queued_cycles", row->queued_cycles);
  lua_set_number(lua, "held_cycles", row->held_cycles);
  lua_set_number(lua, "bank_cycles", row->bank_cycles);
  lua_set_number(lua, "bytes", row->bytes);
  lua_newtable(lua);
  for (size_t stall = 0; stall < row->stall_count; stall++)
    if (row->stall_cycles[stall] > 0)
      lua_set_number(lua, row->stalls[stall], row->stall_cycles[stall]);
  lua_setfield(lua, -2, "stall_cycles");
  add_row(lua);
  return true;
}

/* result:hotspots(): lines of the trace, those with most cycles on the critical path first. */
static int hotspots(lua_State *lua) {
  const vinci_result *result = self(lua, "result:hotspots");
  struct vinci_diag diag = {0};
  lua_args_end(lua, "result:hotspots", 1);
  lua_newtable(lua);
  if (vinci_result_hotspots(result, add_hotspot, lua, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  return 1;
}

static bool add_saving(void *context, const struct vinci_saving *row) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 6);
  lua_set_text(lua, "cause", row->cause);
  lua_set_number(lua, "cycles", row->cycles);
  if (row->number) {
    lua_set_text(lua, "number", row->number);
    lua_set_text(lua, "turn", row->turn);
    lua_pushinteger(lua, (lua_Integer)row->saved_cycles);
    lua_setfield(lua, -2, "saved_cycles");
    lua_pushboolean(lua, row->measured);
    lua_setfield(lua, -2, "measured");
  }
  add_row(lua);
  return true;
}

/* result:savings(): causes on the critical path, and what turning their numbers saves. */
static int savings(lua_State *lua) {
  const vinci_result *result = self(lua, "result:savings");
  struct vinci_diag diag = {0};
  lua_args_end(lua, "result:savings", 1);
  lua_newtable(lua);
  if (vinci_result_savings(result, add_saving, lua, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  return 1;
}

static bool add_lever(void *context, const struct vinci_lever *row) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 7);
  lua_set_text(lua, "lever", row->lever);
  lua_set_text(lua, "text", row->text);
  lua_set_text(lua, "change", row->change);
  lua_set_text(lua, "origin", row->origin);
  lua_set_number(lua, "line", row->line);
  lua_set_number(lua, "saved_cycles", row->saved_cycles);
  lua_pushboolean(lua, row->measured);
  lua_setfield(lua, -2, "measured");
  add_row(lua);
  return true;
}

/* result:levers(): what the kernel can do, the largest saving first. */
static int levers(lua_State *lua) {
  const vinci_result *result = self(lua, "result:levers");
  struct vinci_diag diag = {0};
  lua_args_end(lua, "result:levers", 1);
  lua_newtable(lua);
  if (vinci_result_levers(result, add_lever, lua, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  return 1;
}

/* vinci.report { folder =, other =, output = }: the page of a result folder. */
static int report(lua_State *lua) {
  static const char *const names[] = {"folder", "other", "output", NULL};
  struct vinci_diag diag = {0};
  struct lua_options options;
  lua_options_open(&options, lua, "vinci.report", names);
  const char *folder = lua_options_needed(&options, "folder");
  const char *other = lua_options_text(&options, "other");
  const char *output = lua_options_text(&options, "output");
  if (vinci_report_write(folder, other, output, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  if (output)
    lua_pushstring(lua, output);
  else
    lua_pushfstring(lua, "%s/report.html", folder);
  return 1;
}

/* The texts stay on the stack, as fields of the table that was given. */
static void read_timeline(lua_State *lua, const char *function,
                          struct vinci_timeline_options *timeline) {
  static const char *const names[] = {"timeline", "core_id", "window", "min_cycles", NULL};
  const char **texts[] = {&timeline->formats, &timeline->core_id, &timeline->window};
  lua_args_options(lua, 3, function, names);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (lua_getfield(lua, 3, names[i]) != LUA_TNIL)
      *texts[i] = lua_args_text(lua, -1, function, names[i]);
    lua_pop(lua, 1);
  }
  if (lua_getfield(lua, 3, "min_cycles") != LUA_TNIL)
    timeline->min_cycles =
        (uint64_t)lua_args_whole(lua, -1, function, "options.min_cycles", 0, LUA_MAXINTEGER);
  lua_pop(lua, 1);
}

static int write_folder(lua_State *lua) {
  static const char function[] = "result:write_folder";
  struct vinci_diag diag = {0};
  const vinci_result *result = self(lua, function);
  const char *folder = lua_args_text(lua, 2, function, "folder");
  struct vinci_timeline_options timeline = {.struct_size = sizeof timeline};
  lua_args_end(lua, function, 3);
  read_timeline(lua, function, &timeline);
  if (vinci_result_write_folder_with(result, folder, &timeline, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_settop(lua, 1);
  return 1;
}

static int free_result(lua_State *lua) {
  vinci_result_free(lua_vinci_take(lua, lua_result_type));
  return 0;
}

void lua_result_open(lua_State *lua) {
  static const luaL_Reg methods[] = {{"counters", counters},
                                     {"get", get},
                                     {"summary", summary},
                                     {"cores", cores},
                                     {"energy", energy},
                                     {"events", events},
                                     {"hotspots", hotspots},
                                     {"savings", savings},
                                     {"levers", levers},
                                     {"json", json},
                                     {"text", text},
                                     {"write_folder", write_folder},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"run", run}, {"counters", counter_table}, {"report", report}, {NULL, NULL}};
  lua_vinci_type(lua, lua_result_type, methods, free_result);
  luaL_setfuncs(lua, functions, 0);
}
