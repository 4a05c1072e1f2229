/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: traces, operators, the instruction table, checks. */
#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"
#include "core/isa/program.h"
#include "core/vinci_kernel.h"
#include "core/vinci_tables.h"
#include "lower/plan/choice.h"
#include "scripts/module/lua_choices.h"
#include "scripts/module/lua_vinci.h"

const char lua_trace_type[] = "vinci.trace";

static void **new_trace(lua_State *lua) { return lua_vinci_object(lua, lua_trace_type); }

static int keep_trace(lua_State *lua, void **object, vinci_trace *trace, enum vinci_status status,
                      struct vinci_diag *diag) {
  if (status != VINCI_OK) {
    diag->status = status;
    lua_vinci_raise(lua, diag);
  }
  *object = trace;
  lua_vinci_weigh(lua, trace->arena.total_bytes);
  return 1;
}

/* vinci.load(soc, path) */
static int load_trace(lua_State *lua) {
  static const char function[] = "vinci.load";
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const char *path = lua_args_text(lua, 2, function, "path");
  lua_args_end(lua, function, 2);
  void **object = new_trace(lua);
  return keep_trace(lua, object, trace, vinci_trace_load(path, soc, &trace, &diag), &diag);
}

/* vinci.parse(soc, text [, name]) */
static int parse_trace(lua_State *lua) {
  static const char function[] = "vinci.parse";
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  size_t length;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  if (lua_type(lua, 2) != LUA_TSTRING)
    (void)lua_args_text(lua, 2, function, "text");
  const char *text = lua_tolstring(lua, 2, &length);
  const char *name = lua_isnoneornil(lua, 3) ? "trace" : lua_args_text(lua, 3, function, "name");
  lua_args_end(lua, function, 3);
  void **object = new_trace(lua);
  enum vinci_status status = vinci_trace_parse(name, text, length, soc, &trace, &diag);
  return keep_trace(lua, object, trace, status, &diag);
}

/* vinci.compile(soc, op, { m = 512, ... }) */
static int compile_trace(lua_State *lua) {
  static const char function[] = "vinci.compile";
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  size_t count;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const char *op = lua_args_text(lua, 2, function, "op");
  lua_args_end(lua, function, 3);
  const char **args = lua_args_assignments(lua, 3, function, "args", &count);
  const struct lower_choice *choice = lua_choices_find(lua, 1, op, args, count);
  void **object = new_trace(lua);
  enum vinci_status status = lower_compile(soc, op, args, count, choice, &trace, &diag);
  return keep_trace(lua, object, trace, status, &diag);
}

/* vinci.load_kernel(soc, { library =, name =, args = { "name=x,...", "value=7" } [, blocks =] }) */
static int load_kernel(lua_State *lua) {
  static const char function[] = "vinci.load_kernel";
  static const char *const names[] = {"library", "name", "args", "blocks", NULL};
  enum { BLOCKS_MAX = 65535 };
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  struct vinci_kernel kernel = {.struct_size = sizeof kernel, .blocks = 1};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  lua_args_end(lua, function, 2);
  lua_args_options(lua, 2, function, names);
  lua_getfield(lua, 2, "library");
  kernel.library = lua_args_text(lua, -1, function, "options.library");
  lua_getfield(lua, 2, "name");
  kernel.name = lua_args_text(lua, -1, function, "options.name");
  if (lua_getfield(lua, 2, "blocks") != LUA_TNIL)
    kernel.blocks = (uint32_t)lua_args_whole(lua, -1, function, "options.blocks", 1, BLOCKS_MAX);
  if (lua_getfield(lua, 2, "args") != LUA_TTABLE)
    lua_args_refuse(lua, function, "options.args", "is not a list of texts");
  int list = lua_gettop(lua);
  kernel.arg_count = lua_rawlen(lua, list);
  const char **args = lua_newuserdatauv(lua, (kernel.arg_count + 1) * sizeof *args, 0);
  for (size_t i = 0; i < kernel.arg_count; i++) {
    lua_rawgeti(lua, list, (lua_Integer)i + 1);
    args[i] = lua_args_text(lua, -1, function, "options.args");
    lua_pop(lua, 1); /* the list keeps the text */
  }
  kernel.args = args;
  void **object = new_trace(lua);
  enum vinci_status status = vinci_kernel_load(soc, &kernel, &trace, &diag);
  return keep_trace(lua, object, trace, status, &diag);
}

static void push_tiling(lua_State *lua, const struct vinci_tiling *found) {
  lua_createtable(lua, 0, 4);
  lua_pushstring(lua, found->args);
  lua_setfield(lua, -2, "args");
  lua_pushinteger(lua, found->blocks);
  lua_setfield(lua, -2, "blocks");
  lua_pushinteger(lua, (lua_Integer)found->total_cycles);
  lua_setfield(lua, -2, "total_cycles");
  lua_pushinteger(lua, (lua_Integer)found->gm_bytes);
  lua_setfield(lua, -2, "gm_bytes");
}

/* vinci.tiling(soc, op, args): the tiling that compile would take, with its estimate. */
static int tiling(lua_State *lua) {
  static const char function[] = "vinci.tiling";
  struct vinci_diag diag = {0};
  struct vinci_tiling found;
  char text[512];
  size_t count;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const char *op = lua_args_text(lua, 2, function, "op");
  lua_args_end(lua, function, 3);
  const char **args = lua_args_assignments(lua, 3, function, "args", &count);
  if (vinci_op_tiling(soc, op, args, count, text, sizeof text, &found, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  push_tiling(lua, &found);
  return 1;
}

/* Appends to the list on top of the stack. */
static bool add_tiling(void *context, const struct vinci_tiling *found) {
  lua_State *lua = context;
  push_tiling(lua, found);
  lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
  return true;
}

/* vinci.tilings(soc, op, args): all legal tilings with their estimates. */
static int tilings(lua_State *lua) {
  static const char function[] = "vinci.tilings";
  struct vinci_diag diag = {0};
  size_t count;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const char *op = lua_args_text(lua, 2, function, "op");
  lua_args_end(lua, function, 3);
  const char **args = lua_args_assignments(lua, 3, function, "args", &count);
  lua_newtable(lua);
  if (vinci_op_tilings(soc, op, args, count, add_tiling, lua, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  return 1;
}

/* ---- methods ---------------------------------------------------------------------------- */

static vinci_trace *self(lua_State *lua, const char *function) {
  vinci_trace *trace = lua_args_object(lua, 1, lua_trace_type, function, "trace");
  return trace;
}

static enum vinci_status write_trace(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_trace_write(object, out, diag);
}

static int trace_text(lua_State *lua) {
  const vinci_trace *trace = self(lua, "trace:text");
  lua_args_end(lua, "trace:text", 1);
  lua_vinci_push_text(lua, write_trace, trace);
  return 1;
}

/* Names, types and shapes of the tensors in order. */
static int trace_tensors(lua_State *lua) {
  static const char *const directions[] = {"in", "out", "inout", "workspace"};
  const vinci_trace *trace = self(lua, "trace:tensors");
  lua_args_end(lua, "trace:tensors", 1);
  lua_newtable(lua);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    lua_newtable(lua);
    lua_pushstring(lua, tensor->name);
    lua_setfield(lua, -2, "name");
    lua_pushstring(lua, dtype_name(tensor->dtype));
    lua_setfield(lua, -2, "dtype");
    lua_pushstring(lua, directions[tensor->io]);
    lua_setfield(lua, -2, "io");
    lua_pushinteger(lua, (lua_Integer)tensor->bytes);
    lua_setfield(lua, -2, "bytes");
    lua_newtable(lua);
    for (unsigned d = 0; d < tensor->rank; d++) {
      lua_pushinteger(lua, (lua_Integer)tensor->shape[d]);
      lua_rawseti(lua, -2, (lua_Integer)d + 1);
    }
    lua_setfield(lua, -2, "shape");
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* trace:leave_out(line, ...): the trace without the instructions of these lines. */
static int leave_out(lua_State *lua) {
  static const char function[] = "trace:leave_out";
  vinci_trace *trace = self(lua, function);
  struct vinci_diag diag = {0};
  for (int i = 2; i <= lua_gettop(lua); i++) {
    uint64_t line = (uint64_t)lua_args_whole(lua, i, function, "line", 1, UINT32_MAX);
    if (vinci_trace_leave_out(trace, &line, 1, &diag) != VINCI_OK)
      lua_vinci_raise(lua, &diag);
  }
  lua_settop(lua, 1);
  return 1;
}

static int free_trace(lua_State *lua) {
  vinci_trace_free(lua_vinci_take(lua, lua_trace_type));
  return 0;
}

/* ---- checks ----------------------------------------------------------------------------- */

static enum vinci_status write_findings(const void *object, FILE *out, struct vinci_diag *diag) {
  return vinci_findings_write_text(object, out, diag);
}

struct finding_text {
  const vinci_findings *findings;
  char *text;
  size_t length;
};

/* vinci.check(soc, trace [, { checks = { "memcheck", ... } }]): count of findings, report. */
static int check_trace(lua_State *lua) {
  static const char function[] = "vinci.check";
  static const char *const names[] = {"checks", NULL};
  static const char *const words[] = {"memcheck", "racecheck", "initcheck", "synccheck", NULL};
  struct vinci_diag diag = {0};
  struct vinci_check_options options = {.struct_size = sizeof options};
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  const vinci_trace *trace = lua_args_object(lua, 2, lua_trace_type, function, "trace");
  lua_args_end(lua, function, 3);
  lua_args_options(lua, 3, function, names);
  if (lua_getfield(lua, 3, "checks") != LUA_TNIL) {
    if (lua_type(lua, -1) != LUA_TTABLE)
      lua_args_refuse(lua, function, "options.checks", "is not a list");
    int list = lua_gettop(lua);
    for (lua_Integer i = 1; lua_rawgeti(lua, list, i) != LUA_TNIL; i++) {
      options.checks |= 1u << lua_args_word(lua, -1, function, "options.checks", words);
      lua_pop(lua, 1);
    }
  }
  vinci_findings *findings = NULL;
  enum vinci_status status = vinci_check(soc, trace, &options, &findings, &diag);
  if (status != VINCI_OK && status != VINCI_E_CHECK) {
    vinci_findings_free(findings);
    diag.status = status;
    lua_vinci_raise(lua, &diag);
  }
  struct finding_text text = {.findings = findings};
  FILE *out = open_memstream(&text.text, &text.length);
  if (out && findings)
    status = write_findings(findings, out, &diag);
  if (out)
    fclose(out);
  lua_pushinteger(lua, findings ? (lua_Integer)vinci_findings_count(findings) : 0);
  vinci_findings_free(findings);
  lua_pushlstring(lua, text.text ? text.text : "", text.text ? text.length : 0);
  free(text.text);
  return 2;
}

/* ---- tables ----------------------------------------------------------------------------- */

/* vinci.operators(): { name = { text =, keys = { { name =, kind =, ... } } } } */
static int operators(lua_State *lua) {
  struct vinci_op op;
  struct vinci_op_key key;
  lua_args_end(lua, "vinci.operators", 0);
  lua_newtable(lua);
  for (size_t i = 0; vinci_op_info(i, &op); i++) {
    lua_newtable(lua);
    lua_set_text(lua, "text", op.text);
    lua_newtable(lua);
    for (size_t k = 0; vinci_op_key(i, k, &key); k++) {
      lua_newtable(lua);
      lua_set_text(lua, "name", key.name);
      lua_set_text(lua, "kind", key.kind);
      lua_set_text(lua, "choices", key.choices);
      lua_set_text(lua, "default", key.fallback);
      lua_set_text(lua, "text", key.text);
      lua_pushboolean(lua, key.tiling);
      lua_setfield(lua, -2, "tiling");
      lua_rawseti(lua, -2, (lua_Integer)k + 1);
    }
    lua_setfield(lua, -2, "keys");
    lua_setfield(lua, -2, op.name);
  }
  return 1;
}

/* vinci.instructions(): { vadd = { text =, pipe =, operands = { "dst", ... } } } */
static int instructions(lua_State *lua) {
  lua_args_end(lua, "vinci.instructions", 0);
  lua_createtable(lua, 0, OP_COUNT);
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    lua_newtable(lua);
    lua_set_text(lua, "text", row->text);
    lua_set_text(lua, "signature", row->signature);
    lua_set_text(lua, "source", row->source);
    if (row->pipe != PIPE_COUNT)
      lua_set_text(lua, "pipe", pipe_name(row->pipe));
    lua_newtable(lua);
    for (unsigned a = 0; a < row->arg_count; a++) {
      lua_pushlstring(lua, row->arg[a].name, row->arg[a].name_length);
      lua_rawseti(lua, -2, (lua_Integer)a + 1);
    }
    lua_setfield(lua, -2, "operands");
    lua_setfield(lua, -2, row->name);
  }
  return 1;
}

static int arch_of(lua_State *lua) {
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, "vinci.arch", "soc");
  lua_pushstring(lua, arch_name(soc->arch));
  return 1;
}

void lua_trace_open(lua_State *lua) {
  lua_choices_open(lua);
  static const luaL_Reg methods[] = {
      {"text", trace_text}, {"tensors", trace_tensors}, {"leave_out", leave_out}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"load", load_trace},
                                       {"parse", parse_trace},
                                       {"compile", compile_trace},
                                       {"tiling", tiling},
                                       {"tilings", tilings},
                                       {"load_kernel", load_kernel},
                                       {"check", check_trace},
                                       {"operators", operators},
                                       {"arch", arch_of},
                                       {"instructions", instructions},
                                       {NULL, NULL}};
  lua_vinci_type(lua, lua_trace_type, methods, free_trace);
  luaL_setfuncs(lua, functions, 0);
}
