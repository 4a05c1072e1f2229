/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: sweeps, and sensitivity to numbers of the chip. */
#include <stdlib.h>
#include <string.h>

#include "core/vinci_sensitivity.h"
#include "scripts/module/lua_options.h"
#include "scripts/module/lua_steps.h"
#include "scripts/module/lua_vinci.h"

/* Not seen by scripts: frees a sweep that an error has left. */
static const char sweep_type[] = "vinci.sweep", sensitivity_type[] = "vinci.sensitivity";

enum { JOBS_MAX = 256 };

/* ---- what is run ------------------------------------------------------------------------ */

/* An entry { key, value, ... } of params on top of the stack as "key=value,...", in its place. */
static const char *param_text(const struct lua_options *options) {
  static const char name[] = "options.params";
  lua_State *lua = options->lua;
  int entry = lua_gettop(lua);
  luaL_Buffer text;
  lua_Unsigned count = lua_type(lua, entry) == LUA_TTABLE ? lua_rawlen(lua, entry) : 0;
  if (count < 2)
    lua_args_refuse(lua, options->function, name, "has an entry that is not { key, value, ... }");
  luaL_buffinit(lua, &text);
  for (lua_Unsigned i = 1; i <= count; i++) {
    lua_rawgeti(lua, entry, (lua_Integer)i);
    const char *word =
        lua_args_value(lua, lua_gettop(lua), options->function, name); /* in its place */
    if (!word || strchr(word, ','))
      lua_args_refuse(lua, options->function, name,
                      "has a value that is not a string, number or list of whole numbers, or that "
                      "has a comma");
    luaL_addvalue(&text);
    if (i < count)
      luaL_addchar(&text, i == 1 ? '=' : ',');
  }
  luaL_pushresult(&text);
  lua_replace(lua, entry);
  return lua_tostring(lua, entry);
}

/* params = { { "l2.size", "96MiB", "192MiB" }, ... }; kept alive by a value on the stack. */
static const char **read_params(const struct lua_options *options, size_t *count) {
  enum { PARAMS_MAX = 64 };
  lua_State *lua = options->lua;
  *count = 0;
  if (lua_getfield(lua, options->at, "params") == LUA_TNIL)
    return NULL;
  int list = lua_gettop(lua);
  if (lua_type(lua, list) != LUA_TTABLE || lua_rawlen(lua, list) > PARAMS_MAX)
    lua_args_refuse(lua, options->function, "options.params",
                    "is not a list of at most %d entries { key, value, ... }", PARAMS_MAX);
  const char **texts = lua_newuserdatauv(lua, (PARAMS_MAX + 1) * sizeof *texts, 1);
  lua_newtable(lua); /* keeps the texts */
  for (; lua_rawgeti(lua, list, (lua_Integer)*count + 1) != LUA_TNIL; (*count)++) {
    texts[*count] = param_text(options);
    lua_rawseti(lua, -2, (lua_Integer)*count + 1);
  }
  lua_pop(lua, 1);
  lua_setiuservalue(lua, -2, 1);
  return texts;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Work that arguments follow: an operator, a job of a file, a model; NULL: none. */
static const char *read_named(const struct lua_options *options) {
  lua_State *lua = options->lua;
  const char *op = lua_options_text(options, "op"), *job = lua_options_text(options, "job"),
             *model = lua_options_text(options, "model");
  if (op && strpbrk(op, "./"))
    lua_args_refuse(lua, options->function, "options.op", "is not a name of an operator");
  if ((op != NULL) + (job != NULL) + (model != NULL) > 1)
    lua_args_refuse(lua, options->function, "options", "wants one of op, job and model");
  if (model)
    return lua_pushfstring(lua, "model=%s", model);
  return !job || strchr(job, '/') ? (job ? job : op) : lua_pushfstring(lua, "./%s", job);
}

/* One of study and trace, or what arguments follow, as arguments of vinci_sweep_open(). */
static const char **read_work(const struct lua_options *options, size_t *count) {
  lua_State *lua = options->lua;
  const char *study = lua_options_text(options, "study"), *op = read_named(options);
  const char *trace = lua_options_text(options, "trace");
  const char **args = NULL;
  size_t arg_count = 0;
  if ((study != NULL) + (trace != NULL) + (op != NULL) != 1)
    lua_args_refuse(lua, options->function, "options",
                    strcmp(options->function, "vinci.sweep") == 0
                        ? "wants one of study, trace, op, job and model"
                        : "wants one of study, trace and op");
  if (study && !ends_with(study, ".lua"))
    lua_args_refuse(lua, options->function, "options.study", "does not end in .lua");
  if (trace && !strchr(trace, '/') && !ends_with(trace, ".csv"))
    trace = lua_pushfstring(lua, "./%s", trace); /* a path, which no operator is */
  if (lua_getfield(lua, options->at, "args") != LUA_TNIL)
    args =
        lua_args_assignments(lua, lua_gettop(lua), options->function, "options.args", &arg_count);
  if (!op && args)
    lua_args_refuse(lua, options->function, "options.args",
                    "goes neither with study nor with trace");
  const char **work = lua_newuserdatauv(lua, (arg_count + 1) * sizeof *work, 0);
  work[0] = study ? study : trace ? trace : op;
  for (size_t i = 0; i < arg_count; i++)
    work[i + 1] = args[i];
  *count = arg_count + 1;
  return work;
}

/* ---- the run ---------------------------------------------------------------------------- */

/* The function `progress`, at an index of the stack; 0: none. */
struct calling {
  lua_State *lua;
  int function;
  bool failed; /* its error is on top of the stack */
};

/* Goes on unless the function returns false or fails. */
static bool call_progress(void *context, const struct vinci_sweep_progress *progress) {
  struct calling *calling = context;
  lua_State *lua = calling->lua;
  if (calling->failed)
    return false;
  lua_pushvalue(lua, calling->function);
  lua_pushinteger(lua, (lua_Integer)(progress->done + progress->reused));
  lua_pushinteger(lua, (lua_Integer)progress->points);
  lua_pushinteger(lua, (lua_Integer)progress->failed);
  calling->failed = lua_pcall(lua, 3, 1, 0) != LUA_OK;
  if (calling->failed)
    return false;
  bool stop = lua_isboolean(lua, -1) && !lua_toboolean(lua, -1);
  lua_pop(lua, 1);
  return !stop;
}

static void read_progress(const struct lua_options *options, struct calling *calling,
                          struct vinci_sweep_run_options *run) {
  lua_State *lua = options->lua;
  if (lua_getfield(lua, options->at, "progress") == LUA_TNIL)
    return;
  if (lua_type(lua, -1) != LUA_TFUNCTION)
    lua_args_refuse(lua, options->function, "options.progress", "is not a function");
  *calling = (struct calling){.lua = lua, .function = lua_gettop(lua)};
  run->progress = call_progress;
  run->progress_context = calling;
}

struct row {
  lua_State *lua;
  const char *const *columns;
  const char *const *cells;
  size_t count;
  lua_Integer number;
  bool failed; /* the error is on top of the stack */
};

/* Puts a row at the end of the list of rows: what comes after the status is a number if it can be,
 * what comes before is as the study says. */
static int push_row(lua_State *lua) {
  const struct row *row = lua_touserdata(lua, 2);
  bool after_status = false;
  lua_createtable(lua, 0, (int)row->count);
  for (size_t i = 0; i < row->count; i++) {
    const char *cell = row->cells[i];
    if (*cell && (!after_status || lua_stringtonumber(lua, cell) == 0))
      lua_pushstring(lua, cell);
    if (*cell)
      lua_setfield(lua, 3, row->columns[i]);
    after_status = after_status || strcmp(row->columns[i], "status") == 0;
  }
  lua_rawseti(lua, 1, row->number);
  return 0;
}

static bool visit_row(void *context, const char *const *columns, const char *const *cells,
                      size_t count) {
  struct row *row = context;
  lua_State *lua = row->lua;
  *row = (struct row){lua, columns, cells, count, row->number + 1, false};
  lua_pushcfunction(lua, push_row);
  lua_pushvalue(lua, -2);
  lua_pushlightuserdata(lua, row);
  row->failed = lua_pcall(lua, 2, 0, 0) != LUA_OK;
  return !row->failed;
}

static void push_rows(lua_State *lua, const char *folder) {
  struct vinci_diag diag = {0};
  struct row row = {.lua = lua};
  lua_newtable(lua);
  enum vinci_status status = vinci_sweep_read(folder, visit_row, &row, &diag);
  if (row.failed)
    lua_error(lua);
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
}

/* A sweep with who makes steps of its models. */
struct swept {
  struct lua_steps steps;
  vinci_sweep *sweep;
};

static int free_sweep(lua_State *lua) {
  struct swept *swept = lua_vinci_take(lua, sweep_type);
  if (!swept)
    return 0;
  vinci_sweep_free(swept->sweep);
  lua_steps_close(&swept->steps);
  free(swept);
  return 0;
}

static void push_result(lua_State *lua, const struct vinci_sweep_result *result,
                        const char *warning, const char *folder) {
  lua_createtable(lua, 0, 8);
  lua_set_number(lua, "points", result->points);
  lua_set_number(lua, "done", result->done);
  lua_set_number(lua, "failed", result->failed);
  lua_set_number(lua, "reused", result->reused);
  lua_pushnumber(lua, result->seconds);
  lua_setfield(lua, -2, "seconds");
  lua_pushstring(lua, warning); /* nil for NULL */
  lua_setfield(lua, -2, "warning");
  lua_pushfstring(lua, "%s/results.csv", folder);
  lua_setfield(lua, -2, "file");
  push_rows(lua, folder);
  lua_setfield(lua, -2, "rows");
}

/* A list of operators at each point. */
static int sweep_list(lua_State *lua, const struct lua_options *options) {
  static const char *const others[] = {"study", "trace", "op", "job", "model", "args", "progress"};
  struct vinci_diag diag = {0};
  struct vinci_sweep_list_result result;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (lua_getfield(lua, options->at, others[i]) != LUA_TNIL)
      lua_args_refuse(lua, options->function, "options.ops", "does not go with %s", others[i]);
  struct vinci_sweep_list list = {.struct_size = sizeof list};
  list.list = lua_options_needed(options, "ops");
  list.folder = lua_options_needed(options, "output");
  list.jobs = (unsigned)lua_options_whole(options, "jobs", JOBS_MAX);
  struct vinci_sweep_options study = {.struct_size = sizeof study,
                                      .overrides = lua_options_overrides(options)};
  study.params = read_params(options, &study.param_count);
  study.max_cycles = lua_options_whole(options, "max_cycles", LUA_MAXINTEGER);
  if (vinci_sweep_list_run(&list, &study, &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_createtable(lua, 0, 7);
  lua_set_number(lua, "points", result.points);
  lua_set_number(lua, "operators", result.operators);
  lua_set_number(lua, "failed", result.failed);
  if (result.best_ps > 0) {
    lua_set_number(lua, "best", result.best + 1);
    lua_set_us(lua, "best_us", result.best_ps);
  }
  lua_pushfstring(lua, "%s/results.csv", list.folder);
  lua_setfield(lua, -2, "file");
  push_rows(lua, list.folder);
  lua_setfield(lua, -2, "rows");
  return 1;
}

/* vinci.sweep { study =, output =, ... } */
static int sweep(lua_State *lua) {
  static const char *const names[] = {
      "study",      "trace", "op",       "args", "params",           "output",
      "max_cycles", "jobs",  "progress", "ops",  LUA_OVERRIDE_NAMES, "job",
      "model",      NULL};
  struct vinci_diag diag = {0};
  struct calling calling = {0};
  struct lua_options options;
  struct vinci_sweep_result result;
  size_t count;
  lua_options_open(&options, lua, "vinci.sweep", names);
  if (lua_getfield(lua, options.at, "ops") != LUA_TNIL)
    return sweep_list(lua, &options);
  const char **work = read_work(&options, &count);
  const char *folder = lua_options_needed(&options, "output");
  struct vinci_sweep_options study = {.struct_size = sizeof study,
                                      .overrides = lua_options_overrides(&options)};
  study.params = read_params(&options, &study.param_count);
  study.max_cycles = lua_options_whole(&options, "max_cycles", LUA_MAXINTEGER);
  struct vinci_sweep_run_options run = {.struct_size = sizeof run};
  run.jobs = (unsigned)lua_options_whole(&options, "jobs", JOBS_MAX);
  read_progress(&options, &calling, &run);
  void **object = lua_vinci_object(lua, sweep_type);
  struct swept *swept = calloc(1, sizeof *swept);
  if (!swept)
    return luaL_error(lua, "out of memory");
  lua_steps_open(&swept->steps);
  *object = swept;
  enum vinci_status status =
      sweep_open_with(work, count, &study, &swept->steps.steps, &swept->sweep, &diag);
  if (status == VINCI_OK)
    status = vinci_sweep_run(swept->sweep, folder, &run, &result, &diag);
  if (calling.failed)
    return lua_error(lua);
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_result(lua, &result, vinci_sweep_warning(swept->sweep), folder);
  return 1;
}

/* ---- sensitivity ------------------------------------------------------------------------ */

static int free_sensitivity(lua_State *lua) {
  vinci_sensitivity_free(lua_vinci_take(lua, sensitivity_type));
  return 0;
}

/* A list of rows, with the cycles of the run as it is. */
static void push_sensitivity(lua_State *lua, const vinci_sensitivity *result) {
  size_t count = vinci_sensitivity_count(result);
  lua_createtable(lua, (int)count, 1);
  lua_set_number(lua, "cycles", vinci_sensitivity_cycles(result));
  for (size_t i = 0; i < count; i++) {
    const struct vinci_sensitivity_row *row = vinci_sensitivity_row(result, i);
    lua_createtable(lua, 0, 9);
    lua_set_text(lua, "key", row->key);
    lua_set_text(lua, "value", row->value);
    lua_set_text(lua, "half", row->half);
    lua_set_text(lua, "twice", row->twice);
    lua_set_number(lua, "half_cycles", row->half_cycles);
    lua_set_number(lua, "twice_cycles", row->twice_cycles);
    lua_set_number(lua, "effect_cycles", row->effect_cycles);
    lua_set_number(lua, "half_kept_cycles", row->half_kept_cycles);
    lua_set_number(lua, "twice_kept_cycles", row->twice_kept_cycles);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
}

/* The names in the list `params`. */
static const char **read_names(const struct lua_options *options, size_t *count) {
  lua_State *lua = options->lua;
  *count = 0;
  if (lua_getfield(lua, options->at, "params") == LUA_TNIL)
    return NULL;
  if (lua_type(lua, -1) != LUA_TTABLE)
    lua_args_refuse(lua, options->function, "options.params", "is not a list of names");
  size_t length = lua_rawlen(lua, -1);
  int list = lua_gettop(lua);
  const char **names = lua_newuserdatauv(lua, (length + 1) * sizeof *names, 0);
  for (; *count < length; (*count)++) {
    if (lua_rawgeti(lua, list, (lua_Integer)*count + 1) != LUA_TSTRING)
      lua_args_refuse(lua, options->function, "options.params", "is not a list of names");
    names[*count] = lua_tostring(lua, -1); /* the list keeps the text */
    lua_pop(lua, 1);
  }
  return names;
}

/* vinci.sensitivity { op =, args =, soc =, ... } */
static int sensitivity(lua_State *lua) {
  static const char *const names[] = {
      "study", "trace", "op", "args", "params", "output", "jobs", LUA_OVERRIDE_NAMES, NULL};
  struct vinci_diag diag = {0};
  struct lua_options options;
  size_t count;
  lua_options_open(&options, lua, "vinci.sensitivity", names);
  const char **work = read_work(&options, &count);
  struct vinci_sensitivity_options given = {.struct_size = sizeof given,
                                            .overrides = lua_options_overrides(&options),
                                            .folder = lua_options_text(&options, "output")};
  given.params = read_names(&options, &given.param_count);
  given.jobs = (unsigned)lua_options_whole(&options, "jobs", JOBS_MAX);
  void **object = lua_vinci_object(lua, sensitivity_type);
  vinci_sensitivity *result = NULL;
  enum vinci_status status = vinci_sensitivity_run(work, count, &given, &result, &diag);
  *object = result;
  if (status != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_sensitivity(lua, result);
  return 1;
}

void lua_sweep_open(lua_State *lua) {
  static const luaL_Reg methods[] = {{NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"sweep", sweep}, {"sensitivity", sensitivity}, {NULL, NULL}};
  lua_vinci_type(lua, sensitivity_type, methods, free_sensitivity);
  lua_vinci_type(lua, sweep_type, methods, free_sweep);
  luaL_setfuncs(lua, functions, 0);
}
