/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Lua module "vinci" (scripts/LUA.md): SoCs, traces, runs, values, checks, sweeps,
 * gates. Internal to
 * scripts/; the program and the loadable module use luaopen_vinci alone.
 *
 * Objects are full userdata that hold one pointer; it is NULL once the object was freed. A
 * userdata is made before what it holds, so that an error on the way leaks nothing.
 */
#ifndef VINCI_SCRIPTS_MODULE_LUA_VINCI_H
#define VINCI_SCRIPTS_MODULE_LUA_VINCI_H

#include <lauxlib.h>
#include <lua.h>

#include "core/base/diag.h"
#include "core/vinci_tables.h"

__attribute__((visibility("default"))) int luaopen_vinci(lua_State *lua);

extern const char lua_soc_type[];
extern const char lua_trace_type[];
extern const char lua_result_type[];
extern const char lua_values_type[];
extern const char lua_gate_type[];

/* ---- fields of the table on top of the stack (lua_fields.c) ------------------------------ */

void lua_set_number(lua_State *lua, const char *key, uint64_t value);
void lua_set_us(lua_State *lua, const char *key, uint64_t ps);
/* Appends a lever of a network or a job to the list on top of the stack. */
void lua_push_proven(lua_State *lua, const struct vinci_proven *lever);
void lua_set_text(lua_State *lua, const char *key, const char *text); /* NULL: nil */
void lua_set_flag(lua_State *lua, const char *key, bool value);

/* ---- arguments (lua_args.c) ------------------------------------------------------------- */

/* Leaves with "FUNCTION: argument 'NAME' TEXT". */
_Noreturn void lua_args_refuse(lua_State *lua, const char *function, const char *name,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The object of an argument; refuses other types, freed ones and those that a run uses. */
void *lua_args_object(lua_State *lua, int at, const char *type, const char *function,
                      const char *name);
const char *lua_args_text(lua_State *lua, int at, const char *function, const char *name);
lua_Integer lua_args_whole(lua_State *lua, int at, const char *function, const char *name,
                           lua_Integer low, lua_Integer high);
lua_Number lua_args_number(lua_State *lua, int at, const char *function, const char *name);
/* No more than `count` arguments. */
void lua_args_end(lua_State *lua, const char *function, int count);
/* An optional table of options: nil gives an empty one; every key must be among names. */
void lua_args_options(lua_State *lua, int at, const char *function, const char *const *names);
/* A word of a list ending in NULL; its index. */
int lua_args_word(lua_State *lua, int at, const char *function, const char *name,
                  const char *const *words);
/* A string or number on the stack as text of a value: 512, 0.5, "96MiB". NULL for others. */
const char *lua_args_value(lua_State *lua, int at, const char *function, const char *name);
/*
 * A table { key = value } as an array of "key=value", sorted, kept alive by a value that is
 * pushed on the stack.
 */
const char **lua_args_assignments(lua_State *lua, int at, const char *function, const char *name,
                                  size_t *count);

/* ---- errors and objects (lua_vinci.c) --------------------------------------------------- */

/* Leaves with an error object of a status: fields message, status, exit_code, hint, path, line. */
_Noreturn void lua_vinci_raise(lua_State *lua, const struct vinci_diag *diag);
/* The error on the stack, which is taken away, as a diagnostic; those of the module have a status,
 * others are VINCI_E_USAGE. Returns that status. */
enum vinci_status lua_vinci_take_error(lua_State *lua, struct vinci_diag *diag);
/* The name of a status in Lua: "E_USAGE". */
const char *lua_vinci_status(enum vinci_status status);
/* Reads memory, network, l2 and max_cycles from the table of options at an index. */
void lua_vinci_models(lua_State *lua, int at, const char *function,
                      struct vinci_run_options *options);
/* Pushes a userdata that will hold a pointer of the type. */
void **lua_vinci_object(lua_State *lua, const char *type);
/* Stands in an object for what a run uses that calls back: nobody may change or free the object. */
extern const char lua_vinci_busy[];
/* For free_object: what the object on the stack holds, which it then holds no more. */
void *lua_vinci_take(lua_State *lua, const char *type);
/* Makes the metatable of a type: methods, __gc and __close by free_object. */
void lua_vinci_type(lua_State *lua, const char *type, const luaL_Reg *methods,
                    lua_CFunction free_object);
/* Tells the collector of memory that it cannot see. */
void lua_vinci_weigh(lua_State *lua, size_t bytes);
/* Pushes what a writer prints, or raises its error. */
void lua_vinci_push_text(lua_State *lua,
                         enum vinci_status (*writer)(const void *object, FILE *out,
                                                     struct vinci_diag *diag),
                         const void *object);

/* Each adds its types and functions to the module table on top of the stack. */
void lua_soc_open(lua_State *lua);
void lua_trace_open(lua_State *lua);
void lua_result_open(lua_State *lua);
void lua_values_open(lua_State *lua);
void lua_sweep_open(lua_State *lua);
void lua_ops_open(lua_State *lua);
void lua_net_open(lua_State *lua);
int lua_serve(lua_State *lua);       /* a function of lua_net_open() */
int lua_serving_run(lua_State *lua); /* the same */
int lua_buckets(lua_State *lua);     /* a function of lua_group_open() */
void lua_diff_open(lua_State *lua);
void lua_gate_open(lua_State *lua);
void lua_group_open(lua_State *lua);
void lua_tune_open(lua_State *lua);

#endif
