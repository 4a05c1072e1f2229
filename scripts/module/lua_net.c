/* SPDX-License-Identifier: Apache-2.0 */
/* Lua: whole networks. */
#include <stdlib.h>

#include "core/vinci_cuts.h"
#include "scripts/module/lua_vinci.h"

enum { DEPTH_MAX = 65535, REPEAT_MAX = 1000, BATCH_MAX = 1 << 20, HOST_WAIT_US_MAX = 1000000000 };

/* Appends to the list on top of the stack. */
static bool add_node(void *context, const struct vinci_net_node *node) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 14);
  lua_set_text(lua, "name", node->name);
  lua_set_text(lua, "op", node->op);
  lua_set_text(lua, "origin", node->origin);
  lua_set_text(lua, "from", node->from);
  lua_set_text(lua, "bound", node->bound);
  lua_set_text(lua, "reason", node->reason);
  lua_set_number(lua, "stream", node->stream);
  lua_set_number(lua, "blocks", node->blocks);
  lua_set_number(lua, "input_bytes", node->input_bytes);
  lua_set_number(lua, "l2_found_bytes", node->l2_found_bytes);
  lua_set_number(lua, "hbm_bytes", node->hbm_bytes);
  lua_set_us(lua, "start_us", node->start_ps);
  lua_set_us(lua, "us", node->duration_ps);
  lua_set_us(lua, "gap_us", node->gap_ps);
  lua_set_us(lua, "host_wait_us", node->host_wait_ps);
  lua_set_us(lua, "other_wait_us", node->other_wait_ps);
  lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
  return true;
}

/* Appends to the list on top of the stack. */
static bool add_lever(void *context, const struct vinci_proven *lever) {
  lua_push_proven(context, lever);
  return true;
}

static const char *option_text(lua_State *lua, const char *function, const char *key) {
  int type = lua_getfield(lua, 3, key);
  if (type != LUA_TNIL && type != LUA_TSTRING)
    lua_args_refuse(lua, function, key, "is not a text");
  return type == LUA_TNIL ? NULL : lua_tostring(lua, -1);
}

static unsigned option_whole(lua_State *lua, const char *function, const char *key,
                             lua_Integer most) {
  if (lua_getfield(lua, 3, key) == LUA_TNIL)
    return 0;
  return (unsigned)lua_args_whole(lua, -1, function, key, 1, most);
}

/* A list of texts in the options at `at`; the strings belong to the table, the list to Lua. */
static const char *const *option_list(lua_State *lua, int at, const char *function, const char *key,
                                      size_t *count) {
  *count = 0;
  int type = lua_getfield(lua, at, key);
  if (type == LUA_TNIL)
    return NULL;
  if (type != LUA_TTABLE)
    lua_args_refuse(lua, function, key, "is not a list of texts");
  *count = (size_t)lua_rawlen(lua, -1);
  int list = lua_gettop(lua);
  const char **texts = lua_newuserdatauv(lua, (*count + 1) * sizeof *texts, 0);
  for (size_t i = 0; i < *count; i++) {
    if (lua_rawgeti(lua, list, (lua_Integer)i + 1) != LUA_TSTRING)
      lua_args_refuse(lua, function, key, "is not a list of texts");
    texts[i] = lua_tostring(lua, -1);
    lua_pop(lua, 1);
  }
  return texts;
}

static struct vinci_net_model read_model(lua_State *lua, int at, const char *function) {
  struct vinci_net_model model = {.struct_size = sizeof model};
  model.shapes = option_list(lua, at, function, "shapes", &model.shape_count);
  model.dims = option_list(lua, at, function, "dims", &model.dim_count);
  model.inputs = option_list(lua, at, function, "inputs", &model.input_count);
  return model;
}

/* A network: the text of a graph, the bytes of a model, or {file = PATH}. */
struct network {
  const char *name, *bytes; /* bytes NULL: the file of that name */
  size_t length;
};

static struct network read_network(lua_State *lua, int at, const char *function) {
  struct network network = {.name = "graph"};
  if (lua_type(lua, at) == LUA_TSTRING) {
    network.bytes = lua_tolstring(lua, at, &network.length);
    return network;
  }
  if (lua_type(lua, at) != LUA_TTABLE || lua_getfield(lua, at, "file") != LUA_TSTRING)
    lua_args_refuse(lua, function, "network",
                    "is neither a text (a graph, the bytes of a model) nor {file = PATH}");
  network.name = lua_tostring(lua, -1);
  return network;
}

static struct vinci_net_options read_options(lua_State *lua, const char *function) {
  static const char *const names[] = {"memory", "network", "plan",    "host",         "depth",
                                      "repeat", "exact",   "results", "batch",        "passes",
                                      "shapes", "dims",    "inputs",  "memory_limit", NULL};
  struct vinci_run_options run = {0};
  lua_args_options(lua, 3, function, names);
  lua_vinci_models(lua, 3, function, &run);
  struct vinci_net_options options = {.struct_size = sizeof options,
                                      .memory = run.memory,
                                      .network = run.network,
                                      .plan = option_text(lua, function, "plan"),
                                      .host = option_text(lua, function, "host"),
                                      .batch = option_whole(lua, function, "batch", BATCH_MAX),
                                      .results = option_text(lua, function, "results"),
                                      .passes = option_text(lua, function, "passes"),
                                      .memory_limit = option_text(lua, function, "memory_limit"),
                                      .depth = option_whole(lua, function, "depth", DEPTH_MAX),
                                      .repeat = option_whole(lua, function, "repeat", REPEAT_MAX)};
  lua_getfield(lua, 3, "exact");
  options.exact = lua_toboolean(lua, -1);
  return options;
}

/* The arguments soc, network, options. */
struct asked {
  const vinci_soc *soc;
  struct network network;
  struct vinci_net_options options; /* with `model` */
  struct vinci_net_model model;
};

static void read_asked(lua_State *lua, const char *function, struct asked *out) {
  out->soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  lua_args_end(lua, function, 3);
  out->network = read_network(lua, 2, function);
  out->options = read_options(lua, function);
  out->model = read_model(lua, 3, function);
  out->options.model = &out->model;
}

/* vinci.net(soc, network [, options]): times of a network, and a list of its nodes. */
static int net(lua_State *lua) {
  static const char function[] = "vinci.net";
  struct vinci_diag diag = {0};
  struct vinci_net_result result;
  struct asked asked;
  read_asked(lua, function, &asked);
  lua_newtable(lua);
  if (vinci_net_run(asked.soc, asked.network.name, asked.network.bytes, asked.network.length,
                    &asked.options, add_node, lua, &result, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  int nodes = lua_gettop(lua);
  lua_createtable(lua, 0, 32);
  lua_set_us(lua, "us", result.end_ps);
  lua_set_us(lua, "first_us", result.first_end_ps);
  lua_set_us(lua, "core_us", result.core_ps);
  lua_set_us(lua, "host_bound_us", result.host_bound_ps);
  lua_set_us(lua, "gap_us", result.gap_ps);
  lua_set_us(lua, "wait_us", result.wait_ps);
  lua_set_us(lua, "cube_us", result.cube_ps);
  lua_set_us(lua, "vector_us", result.vector_ps);
  lua_set_us(lua, "memory_us", result.memory_ps);
  lua_set_us(lua, "latency_us", result.latency_ps);
  lua_set_us(lua, "scalar_us", result.scalar_ps);
  lua_set_us(lua, "task_us", result.task_ps);
  lua_set_us(lua, "tail_us", result.tail_ps);
  lua_set_us(lua, "slowed_us", result.slowed_ps);
  lua_set_text(lua, "bound", result.bound);
  lua_set_number(lua, "kernels", result.kernels);
  lua_set_number(lua, "launches", result.launches);
  lua_set_number(lua, "input_bytes", result.input_bytes);
  lua_set_number(lua, "output_bytes", result.output_bytes);
  lua_set_number(lua, "l2_found_bytes", result.l2_found_bytes);
  lua_set_number(lua, "hbm_bytes", result.hbm_bytes);
  lua_set_number(lua, "h2d_bytes", result.h2d_bytes);
  lua_set_number(lua, "d2h_bytes", result.d2h_bytes);
  lua_set_number(lua, "d2d_bytes", result.d2d_bytes);
  lua_set_number(lua, "memory_bytes", result.memory_bytes);
  lua_set_number(lua, "live_bytes", result.live_bytes);
  lua_set_number(lua, "fixed_bytes", result.fixed_bytes);
  lua_set_number(lua, "refused", result.refused);
  lua_set_number(lua, "simulated", result.simulated);
  lua_set_number(lua, "stored", result.stored);
  if (result.energy_high_pj > 0) { /* of a chip that keeps an account */
    lua_set_number(lua, "energy_pj", result.energy_pj);
    lua_set_number(lua, "energy_low_pj", result.energy_low_pj);
    lua_set_number(lua, "energy_high_pj", result.energy_high_pj);
  }
  lua_pushvalue(lua, nodes);
  lua_setfield(lua, -2, "nodes");
  return 1;
}

/* vinci.net_levers(soc, network [, options]): passes, cuts and the host, by what they save. */
static int net_levers(lua_State *lua) {
  static const char function[] = "vinci.net_levers";
  struct vinci_diag diag = {0};
  struct asked asked;
  read_asked(lua, function, &asked);
  lua_newtable(lua);
  if (vinci_net_levers(asked.soc, asked.network.name, asked.network.bytes, asked.network.length,
                       &asked.options, add_lever, lua, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  return 1;
}

/* ---- cuts by L2 ------------------------------------------------------------------------------ */

static void push_figures(lua_State *lua, const struct vinci_net_figures *figures) {
  lua_createtable(lua, 0, 6);
  lua_set_us(lua, "us", figures->ps);
  lua_set_us(lua, "launch_us", figures->launch_ps);
  lua_set_number(lua, "launches", figures->launches);
  lua_set_number(lua, "hbm_bytes", figures->hbm_bytes);
}

/* Appends to the list on top of the stack. */
static bool add_cut(void *context, const struct vinci_net_cut *cut) {
  lua_State *lua = context;
  lua_createtable(lua, 0, 13);
  lua_set_text(lua, "first", cut->first);
  lua_set_text(lua, "last", cut->last);
  lua_set_text(lua, "axis", cut->axis);
  lua_set_text(lua, "verdict", cut->verdict);
  lua_set_text(lua, "reason", cut->reason);
  lua_set_number(lua, "kernels", cut->kernels);
  lua_set_number(lua, "rows", cut->rows);
  lua_set_number(lua, "parts", cut->parts);
  lua_set_number(lua, "between_bytes", cut->between_bytes);
  lua_set_number(lua, "held_bytes", cut->held_bytes);
  lua_set_number(lua, "whole_bytes", cut->whole_bytes);
  lua_set_number(lua, "closed_bytes", cut->closed_bytes);
  lua_createtable(lua, (int)cut->trial_count, 0);
  for (size_t i = 0; i < cut->trial_count; i++) {
    push_figures(lua, &cut->trials[i].figures);
    lua_set_number(lua, "parts", cut->trials[i].parts);
    lua_set_number(lua, "rows", cut->trials[i].rows);
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
  lua_setfield(lua, -2, "trials");
  lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
  return true;
}

/* vinci.net_cuts(soc, network [, options]): chains of a network in parts, by simulation. */
static int net_cuts(lua_State *lua) {
  static const char function[] = "vinci.net_cuts";
  struct vinci_diag diag = {0};
  struct vinci_net_cuts result;
  char *graph;
  size_t length;
  struct asked asked;
  read_asked(lua, function, &asked);
  lua_newtable(lua);
  if (vinci_net_cuts(asked.soc, asked.network.name, asked.network.bytes, asked.network.length,
                     &asked.options, add_cut, lua, &result, &graph, &length, &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  int chains = lua_gettop(lua);
  lua_createtable(lua, 0, 5);
  lua_pushlstring(lua, graph, length);
  free(graph);
  lua_setfield(lua, -2, "graph");
  push_figures(lua, &result.whole);
  lua_setfield(lua, -2, "whole");
  push_figures(lua, &result.estimate);
  lua_setfield(lua, -2, "estimate");
  push_figures(lua, &result.tuned);
  lua_setfield(lua, -2, "tuned");
  lua_pushvalue(lua, chains);
  lua_setfield(lua, -2, "chains");
  return 1;
}

/* vinci.net_import(network [, options]): a model as the text of a graph of layers. */
static int net_import(lua_State *lua) {
  static const char function[] = "vinci.net_import";
  static const char *const names[] = {"shapes", "dims", "inputs", NULL};
  struct vinci_diag diag = {0};
  char *text;
  size_t length;
  lua_args_end(lua, function, 2);
  struct network network = read_network(lua, 1, function);
  lua_args_options(lua, 2, function, names);
  struct vinci_net_model model = read_model(lua, 2, function);
  if (vinci_net_import(network.name, network.bytes, network.length, &model, &text, &length,
                       &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_pushlstring(lua, text, length); /* short of memory, Lua ends with the text */
  free(text);
  return 1;
}

/* vinci.net_profile(soc, path [, options]): the rows of a profile as the text of a graph. */
static int net_profile(lua_State *lua) {
  static const char function[] = "vinci.net_profile";
  static const char *const names[] = {"host_costs", "host_wait_us", "device", NULL};
  struct vinci_diag diag = {0};
  char *text;
  size_t length;
  const vinci_soc *soc = lua_args_object(lua, 1, lua_soc_type, function, "soc");
  lua_args_end(lua, function, 3);
  if (lua_type(lua, 2) != LUA_TSTRING)
    lua_args_refuse(lua, function, "path", "is not a text");
  lua_args_options(lua, 3, function, names);
  const char *host_costs = option_text(lua, function, "host_costs");
  unsigned host_wait_us = option_whole(lua, function, "host_wait_us", HOST_WAIT_US_MAX);
  const char *device = option_text(lua, function, "device");
  if (vinci_net_profile(soc, lua_tostring(lua, 2), host_costs, host_wait_us, device, &text, &length,
                        &diag) != VINCI_OK)
    lua_vinci_raise(lua, &diag);
  lua_pushlstring(lua, text, length); /* short of memory, Lua ends with the text */
  free(text);
  return 1;
}

void lua_net_open(lua_State *lua) {
  static const luaL_Reg functions[] = {{"net", net},
                                       {"net_cuts", net_cuts},
                                       {"net_import", net_import},
                                       {"net_levers", net_levers},
                                       {"net_profile", net_profile},
                                       {"serve", lua_serve},
                                       {"serving_run", lua_serving_run},
                                       {NULL, NULL}};
  luaL_setfuncs(lua, functions, 0);
}
