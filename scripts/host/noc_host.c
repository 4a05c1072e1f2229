/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads network topologies: runs a file of scripts/noc in the sandbox of the hardware
 * descriptions and turns the routers and links it returns into a graph. A file returns
 * its routing, the names of its parameters and build(p), which returns
 *   routers: list of { column, row, terminals }, numbered from 0 in this order
 *   links:   list of { from, to, dateline }, by rising `from`, in the order of ports
 */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/chip/noc_config.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_host.h"
#include "scripts/host/soc_lua.h"

enum { LINKS_MAX = NOC_ROUTERS_MAX * 64, HINT_MAX = 256 };

/* One loading. Places of its values on the Lua stack. */
enum { AT_FILE = 1, AT_PARAMETERS, AT_ROUTERS, AT_LINKS };

struct loading {
  struct sandbox box;
  struct arena scratch;
  struct arena *arena; /* for the graph */
  const char *path;
  const struct noc_parameter *given;
  size_t given_count;
  struct noc_graph *graph;
};

static void *checked(struct loading *loading, void *memory) {
  if (!memory)
    sandbox_no_memory(&loading->box);
  return memory;
}

static void read_routing(struct loading *loading) {
  struct sandbox *box = &loading->box;
  lua_getfield(box->lua, AT_FILE, "routing");
  const char *name = sandbox_text(box, -1, "routing");
  unsigned routing = 0;
  while (routing < NOC_ROUTING_COUNT &&
         strcmp(noc_routing_name((enum noc_routing)routing), name) != 0)
    routing++;
  if (routing == NOC_ROUTING_COUNT)
    sandbox_refuse(box, sandbox_locate(box, "routing"), "xy, ring or direct",
                   "unknown routing '%s'", name);
  loading->graph->routing = (enum noc_routing)routing;
  lua_pop(box->lua, 1);
}

/* ---- parameters --------------------------------------------------------------------- */

/* The name of a parameter of the topology, NULL behind the last. */
static const char *parameter_name(struct loading *loading, int at, size_t index) {
  lua_State *lua = loading->box.lua;
  lua_rawgeti(lua, at, (lua_Integer)index + 1);
  bool behind = lua_isnil(lua, -1);
  const char *name = behind ? NULL : sandbox_text(&loading->box, -1, "parameters");
  lua_pop(lua, 1); /* the table keeps the string */
  return name;
}

static const struct noc_parameter *find_given(const struct loading *loading, const char *name) {
  for (size_t i = 0; i < loading->given_count; i++)
    if (strcmp(loading->given[i].name, name) == 0)
      return &loading->given[i];
  return NULL;
}

/* Leaves a table with the values of all parameters at AT_PARAMETERS. */
static void push_parameters(struct loading *loading) {
  struct sandbox *box = &loading->box;
  lua_State *lua = box->lua;
  lua_newtable(lua);
  if (lua_getfield(lua, AT_FILE, "parameters") != LUA_TTABLE)
    sandbox_refuse(box, 0, NULL, "has no list of parameters");
  int names = lua_gettop(lua);
  const char *name;
  for (size_t i = 0; (name = parameter_name(loading, names, i)) != NULL; i++) {
    const struct noc_parameter *given = find_given(loading, name);
    if (!given || given->value == 0 || given->value > NOC_ROUTERS_MAX)
      sandbox_refuse(box, 0, NULL, "the topology needs %s from 1 to %d", name, NOC_ROUTERS_MAX);
    lua_pushinteger(lua, given->value);
    lua_setfield(lua, AT_PARAMETERS, name);
  }
  lua_settop(lua, AT_PARAMETERS);
}

/* ---- the graph ---------------------------------------------------------------------- */

static size_t list_length(struct loading *loading, int at, size_t maximum, const char *what) {
  lua_State *lua = loading->box.lua;
  size_t length = lua_type(lua, at) == LUA_TTABLE ? lua_rawlen(lua, at) : maximum + 1;
  if (length > maximum)
    sandbox_refuse(&loading->box, 0, NULL, "build() returns no list of at most %zu %s", maximum,
                   what);
  return length;
}

/* A whole number of the list entry on top of the stack. */
static uint32_t number_field(struct loading *loading, const char *what, size_t index,
                             const char *field) {
  lua_State *lua = loading->box.lua;
  int is_integer = 0;
  lua_getfield(lua, -1, field);
  lua_Integer value = lua_tointegerx(lua, -1, &is_integer);
  if (!is_integer || value < 0 || value > LINKS_MAX)
    sandbox_refuse(&loading->box, 0, NULL, "%s %zu: '%s' is not a number in range", what, index,
                   field);
  lua_pop(lua, 1);
  return (uint32_t)value;
}

static void get_entry(struct loading *loading, int at, size_t index, const char *what) {
  lua_State *lua = loading->box.lua;
  if (lua_rawgeti(lua, at, (lua_Integer)index + 1) != LUA_TTABLE)
    sandbox_refuse(&loading->box, 0, NULL, "%s %zu is not a table", what, index);
}

static void read_routers(struct loading *loading) {
  lua_State *lua = loading->box.lua;
  struct noc_graph *graph = loading->graph;
  size_t count = list_length(loading, AT_ROUTERS, NOC_ROUTERS_MAX, "routers");
  struct noc_router *routers =
      checked(loading, ARENA_ARRAY(loading->arena, struct noc_router, count));
  uint32_t *terminals = checked(loading, ARENA_ARRAY(loading->arena, uint32_t, NOC_TERMINALS_MAX));
  for (size_t i = 0; i < count; i++) {
    get_entry(loading, AT_ROUTERS, i, "router");
    routers[i].column = number_field(loading, "router", i, "column");
    routers[i].row = number_field(loading, "router", i, "row");
    uint32_t own = number_field(loading, "router", i, "terminals");
    if (own > NOC_TERMINALS_MAX - graph->terminal_count)
      sandbox_refuse(&loading->box, 0, NULL, "more than %d terminals", NOC_TERMINALS_MAX);
    for (uint32_t t = 0; t < own; t++)
      terminals[graph->terminal_count++] = (uint32_t)i;
    lua_pop(lua, 1);
  }
  graph->routers = routers;
  graph->router_count = (uint32_t)count;
  graph->terminals = terminals;
}

static void read_links(struct loading *loading) {
  lua_State *lua = loading->box.lua;
  struct noc_graph *graph = loading->graph;
  size_t count = list_length(loading, AT_LINKS, LINKS_MAX, "links");
  struct noc_link *links = checked(loading, ARENA_ARRAY(loading->arena, struct noc_link, count));
  for (size_t i = 0; i < count; i++) {
    get_entry(loading, AT_LINKS, i, "link");
    links[i].from = number_field(loading, "link", i, "from");
    links[i].to = number_field(loading, "link", i, "to");
    lua_getfield(lua, -1, "dateline");
    links[i].dateline = lua_toboolean(lua, -1);
    lua_pop(lua, 2);
  }
  graph->links = links;
  graph->link_count = (uint32_t)count;
}

static void load_body(struct sandbox *box, void *context) {
  struct loading *loading = context;
  sandbox_run(box, &loading->scratch, loading->path);
  read_routing(loading);
  push_parameters(loading);
  if (lua_getfield(box->lua, AT_FILE, "build") != LUA_TFUNCTION)
    sandbox_refuse(box, 0, NULL, "has no function build");
  lua_pushvalue(box->lua, AT_PARAMETERS);
  lua_call(box->lua, 1, 2);
  read_routers(loading);
  read_links(loading);
  struct vinci_diag problem = {0};
  if (noc_graph_check(loading->graph, &problem) != VINCI_OK)
    sandbox_refuse(box, 0, NULL, "%s", problem.text);
}

static enum vinci_status unknown_topology(const char *folder, const char *name,
                                          struct vinci_diag *diag) {
  struct soc_names names = {0};
  char list[HINT_MAX] = "";
  (void)diag_error(diag, VINCI_E_USAGE, "unknown topology '%s'", name);
  if (soc_files_list(folder, "noc", &names, NULL) == VINCI_OK) {
    for (size_t i = 0, at = 0; i < names.count && at < sizeof list; i++)
      at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", names.items[i]);
    diag_hint(diag, "there are %s", list);
  }
  soc_names_free(&names);
  return VINCI_E_USAGE;
}

enum vinci_status noc_graph_load(const char *data_dir, const char *name,
                                 const struct noc_parameter *parameters, size_t parameter_count,
                                 struct arena *arena, struct noc_graph *out,
                                 struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX], path[SOC_PATH_MAX];
  *out = (struct noc_graph){0};
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/noc/%s.lua", folder, name);
  if (*name == '\0' || strchr(name, '/') || length >= (int)sizeof path || stat(path, &info) != 0)
    return unknown_topology(folder, name, diag);
  struct vinci_diag own = {0};
  struct loading loading = {.box.diag = diag ? diag : &own,
                            .arena = arena,
                            .path = path,
                            .given = parameters,
                            .given_count = parameter_count,
                            .graph = out};
  out->name = arena_strdup(arena, name);
  status =
      out->name ? sandbox_open(&loading.box) : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = sandbox_protect(&loading.box, load_body, &loading);
  sandbox_close(&loading.box);
  arena_free(&loading.scratch);
  return status;
}
