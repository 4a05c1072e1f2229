/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory descriptions in the sandbox of the hardware descriptions (soc_lua.h):
 * refuses every number without unit, source and confidence, every unknown key and
 * every missing number.
 */
#include "scripts/host/mem_host.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scripts/host/soc_files.h"
#include "scripts/host/soc_lua.h"

enum { BASES_MAX = 8, KEY_MAX = 96 };

struct loading {
  struct sandbox box;
  struct arena scratch; /* file texts and keys */
  struct mem_spec *mem;
  const char *folder;
  const char *name; /* asked for */
  unsigned depth;   /* of bases */
  bool is_abstract;
};

static void *checked(struct loading *loading, void *memory) {
  if (!memory)
    sandbox_no_memory(&loading->box);
  return memory;
}

static char *keep(struct loading *loading, const char *text) {
  return checked(loading, arena_strdup(&loading->mem->arena, text));
}

/* Runs folder/mem/name.lua; its table is left on the stack. */
static void run_file(struct loading *loading, const char *name) {
  size_t size = strlen(loading->folder) + strlen(name) + sizeof "/mem/.lua";
  char *path = checked(loading, arena_alloc(&loading->scratch, size, 1));
  snprintf(path, size, "%s/mem/%s.lua", loading->folder, name);
  sandbox_run(&loading->box, &loading->scratch, path);
}

static const char **sorted_keys(struct loading *loading, int at, size_t *count) {
  return sandbox_keys(&loading->box, &loading->scratch, at, count);
}

static void load_sources(struct loading *loading) {
  struct sandbox *box = &loading->box;
  run_file(loading, "sources");
  int table = lua_gettop(box->lua);
  size_t count;
  const char **keys = sorted_keys(loading, table, &count);
  struct soc_source *sources =
      checked(loading, ARENA_ARRAY(&loading->scratch, struct soc_source, count + 1));
  for (size_t i = 0; i < count; i++) {
    lua_getfield(box->lua, table, keys[i]);
    const char *text = sandbox_text(box, -1, keys[i]);
    sources[i] =
        (struct soc_source){keys[i], checked(loading, arena_strdup(&loading->scratch, text))};
    lua_pop(box->lua, 1);
  }
  lua_settop(box->lua, table - 1);
  box->sources = sources;
  box->source_count = count;
}

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return mem_param(index)->key;
}

static void store_number(struct loading *loading, const char *key,
                         const struct sandbox_number *number) {
  struct sandbox *box = &loading->box;
  size_t index = mem_param_find(key);
  if (index == mem_param_count()) {
    char hint[KEY_MAX + 32];
    const char *nearest = diag_nearest(key, index, key_at, NULL);
    snprintf(hint, sizeof hint, "did you mean '%s'?", nearest ? nearest : "");
    sandbox_refuse(box, number->line, nearest ? hint : NULL, "unknown parameter '%s'", key);
  }
  int64_t value = sandbox_scale(box, key, number, mem_param(index)->kind);
  struct soc_provenance provenance = {
      .source = keep(loading, number->source->id),
      .note = keep(loading, number->note),
      .confidence = (uint8_t)number->confidence,
  };
  struct vinci_diag range = {0};
  if (mem_store(loading->mem, index, value, provenance, &range) != VINCI_OK)
    sandbox_refuse(box, number->line, NULL, "%s", range.text);
}

/* The numbers of the group on top of the stack. */
static void merge_group(struct loading *loading, const char *group) {
  struct sandbox *box = &loading->box;
  int at = lua_gettop(box->lua);
  size_t count;
  const char **keys = sorted_keys(loading, at, &count);
  for (size_t i = 0; i < count; i++) {
    char key[KEY_MAX];
    if (snprintf(key, sizeof key, "%s.%s", group, keys[i]) >= (int)sizeof key)
      sandbox_refuse(box, 0, NULL, "the name '%.40s...' is too long", key);
    lua_getfield(box->lua, at, keys[i]);
    struct sandbox_number number;
    if (!sandbox_get_number(box, lua_gettop(box->lua), &number))
      sandbox_refuse(box, sandbox_locate(box, key),
                     "write num(value, \"unit\", \"source\", \"confidence\"[, \"note\"])",
                     "%s: must be a num(...)", key);
    store_number(loading, key, &number);
    lua_pop(box->lua, 1);
  }
}

/* Stores a mapping in its sorted place, over one of the same name of the base. */
static void store_map(struct loading *loading, const char *name, const char *text) {
  struct mem_spec *mem = loading->mem;
  size_t at = 0;
  while (at < mem->map_count && strcmp(mem->maps[at].name, name) < 0)
    at++;
  bool same = at < mem->map_count && strcmp(mem->maps[at].name, name) == 0;
  if (!same) {
    if (mem->map_count == MEM_MAPS_MAX)
      sandbox_refuse(&loading->box, 0, NULL, "more than %d maps", MEM_MAPS_MAX);
    memmove(&mem->maps[at + 1], &mem->maps[at], (mem->map_count - at) * sizeof *mem->maps);
    mem->map_count++;
  }
  mem->maps[at] = (struct mem_map_text){keep(loading, name), keep(loading, text)};
}

static void merge_maps(struct loading *loading) {
  struct sandbox *box = &loading->box;
  int at = lua_gettop(box->lua);
  size_t count;
  const char **keys = sorted_keys(loading, at, &count);
  for (size_t i = 0; i < count; i++) {
    char key[KEY_MAX];
    if (snprintf(key, sizeof key, "maps.%s", keys[i]) >= (int)sizeof key)
      sandbox_refuse(box, 0, NULL, "the name '%.40s...' is too long", key);
    lua_getfield(box->lua, at, keys[i]);
    store_map(loading, keys[i], sandbox_text(box, -1, key));
    lua_pop(box->lua, 1);
  }
}

/* A text field of the description at `at`, NULL when it is not there. */
static const char *get_text(struct loading *loading, int at, const char *field) {
  struct sandbox *box = &loading->box;
  bool given = lua_getfield(box->lua, at, field) != LUA_TNIL;
  const char *text = given ? sandbox_text(box, -1, field) : NULL;
  lua_pop(box->lua, 1); /* the table keeps the string */
  return text;
}

static bool is_field(const char *key) {
  static const char *const fields[] = {"name", "base", "description", "abstract"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(fields[i], key) == 0)
      return true;
  return false;
}

static void merge_description(struct loading *loading, int at) {
  struct sandbox *box = &loading->box;
  const char *description = get_text(loading, at, "description");
  if (description)
    loading->mem->description = keep(loading, description);
  size_t count;
  const char **keys = sorted_keys(loading, at, &count);
  for (size_t i = 0; i < count; i++) {
    if (is_field(keys[i]))
      continue;
    luaL_checkstack(box->lua, LUA_MINSTACK, NULL);
    if (lua_getfield(box->lua, at, keys[i]) != LUA_TTABLE)
      sandbox_refuse(box, sandbox_locate(box, keys[i]), NULL, "unknown field '%s'", keys[i]);
    if (strcmp(keys[i], "maps") == 0)
      merge_maps(loading);
    else
      merge_group(loading, keys[i]);
    lua_pop(box->lua, 1);
  }
}

/* Merges a description over its bases. */
static void load_description(struct loading *loading, const char *name) {
  struct sandbox *box = &loading->box;
  if (++loading->depth > BASES_MAX)
    sandbox_refuse(box, 0, NULL, "more than %d bases in a row", BASES_MAX - 1);
  run_file(loading, name);
  int at = lua_gettop(box->lua);
  if (!sandbox_is_description(box))
    sandbox_refuse(box, 0, NULL, "does not return memory { ... }");
  const char *own_name = get_text(loading, at, "name");
  if (!own_name || strcmp(own_name, name) != 0)
    sandbox_refuse(box, sandbox_locate(box, "name"), NULL,
                   "the name must be '%s', like that of the file", name);
  if (loading->depth == 1) {
    lua_getfield(box->lua, at, "abstract");
    loading->is_abstract = lua_toboolean(box->lua, -1);
    lua_pop(box->lua, 1);
  }
  const char *base = get_text(loading, at, "base");
  const char *path = box->path, *text = box->text;
  if (base && strchr(base, '/'))
    sandbox_refuse(box, sandbox_locate(box, "base"), NULL, "there is no base '%s'", base);
  if (base)
    load_description(loading, base);
  box->path = path;
  box->text = text;
  merge_description(loading, at);
  lua_settop(box->lua, at - 1);
}

static void check_complete(struct loading *loading) {
  struct mem_spec *mem = loading->mem;
  for (size_t i = 0; i < mem_param_count(); i++)
    if (!mem->provenance[i].given)
      sandbox_refuse(&loading->box, 0, NULL, "the number '%s' is missing", mem_param(i)->key);
  struct vinci_diag problem = {0};
  if (mem_validate(mem, &problem) != VINCI_OK)
    sandbox_refuse(&loading->box, 0, NULL, "%s", problem.text);
  mem->sources = loading->box.sources;
  mem->source_count = loading->box.source_count;
  if (!soc_copy_sources(&mem->arena, &mem->sources, mem->source_count))
    sandbox_no_memory(&loading->box);
}

static void load_body(struct sandbox *box, void *context) {
  struct loading *loading = context;
  struct mem_spec *mem = loading->mem;
  load_sources(loading);
  if (strlen(loading->name) >= sizeof mem->name)
    sandbox_refuse(box, 0, NULL, "the name is too long");
  strcpy(mem->name, loading->name);
  mem->description = "";
  load_description(loading, loading->name);
  if (!loading->is_abstract)
    check_complete(loading);
}

void mem_host_free(struct mem_spec *mem) {
  mem_free(mem);
  free(mem);
}

/* Loads folder/mem/name.lua; *is_abstract tells whether it is only a base. */
static enum vinci_status load(const char *folder, const char *name, struct mem_spec **out,
                              bool *is_abstract, struct vinci_diag *diag) {
  struct vinci_diag own = {0};
  struct mem_spec *mem = calloc(1, sizeof *mem);
  if (!mem)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  struct loading loading = {.mem = mem, .folder = folder, .name = name};
  loading.box.diag = diag ? diag : &own;
  enum vinci_status status = sandbox_open(&loading.box);
  if (status == VINCI_OK)
    status = sandbox_protect(&loading.box, load_body, &loading);
  sandbox_close(&loading.box);
  arena_free(&loading.scratch);
  *is_abstract = loading.is_abstract;
  if (status == VINCI_OK) {
    *out = mem;
    return VINCI_OK;
  }
  mem_host_free(mem);
  return status;
}

static bool is_abstract_file(const char *folder, const char *name) {
  struct mem_spec *mem = NULL;
  bool is_abstract = false;
  if (load(folder, name, &mem, &is_abstract, NULL) == VINCI_OK)
    mem_host_free(mem);
  return is_abstract;
}

enum vinci_status mem_host_list(const char *data_dir, struct soc_names *out,
                                struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX];
  *out = (struct soc_names){0};
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status == VINCI_OK)
    status = soc_files_list(folder, "mem", out, diag);
  size_t kept = 0;
  for (size_t i = 0; status == VINCI_OK && i < out->count; i++)
    if (!is_abstract_file(folder, out->items[i]))
      out->items[kept++] = out->items[i];
  out->count = kept;
  return status;
}

static const char *name_at(const void *context, size_t index) {
  const struct soc_names *names = context;
  return names->items[index];
}

static enum vinci_status unknown_memory(const char *folder, const char *name,
                                        struct vinci_diag *diag) {
  struct soc_names names = {0};
  (void)diag_error(diag, VINCI_E_USAGE, "unknown memory '%s'", name);
  if (mem_host_list(folder, &names, NULL) == VINCI_OK) {
    const char *nearest = diag_nearest(name, names.count, name_at, &names);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else if (names.count > 0)
      diag_hint(diag, "such as '%s'; see the folder %s/mem", names.items[0], folder);
  }
  soc_names_free(&names);
  return VINCI_E_USAGE;
}

enum vinci_status mem_host_load(const char *name, const char *data_dir, struct mem_spec **out,
                                struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX], path[2 * SOC_PATH_MAX];
  *out = NULL;
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/mem/%s.lua", folder, name);
  if (*name == '\0' || strchr(name, '/') || strcmp(name, "sources") == 0 ||
      length >= (int)sizeof path || lstat(path, &info) != 0)
    return unknown_memory(folder, name, diag);
  bool is_abstract = false;
  status = load(folder, name, out, &is_abstract, diag);
  if (status == VINCI_OK && is_abstract) {
    mem_host_free(*out);
    *out = NULL;
    return diag_error(diag, VINCI_E_USAGE, "'%s' is a base for other descriptions", name);
  }
  return status;
}
