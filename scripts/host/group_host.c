/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads systems of devices in the sandbox of the hardware descriptions (soc_lua.h): refuses every
 * number without unit, source and confidence, every unknown key and every missing number. A
 * description over a base names the levels whose numbers it changes.
 */
#include "scripts/host/group_host.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/chip/soc.h"
#include "scripts/host/soc_host.h"
#include "scripts/host/soc_lua.h"

enum { BASES_MAX = 8 };

struct loading {
  struct sandbox box;
  struct arena scratch; /* texts of files, and keys */
  struct group_description *group;
  const char *folder, *name;
  unsigned depth; /* of bases */
  bool is_abstract;
};

static void *checked(struct loading *loading, void *memory) {
  if (!memory)
    sandbox_no_memory(&loading->box);
  return memory;
}

static const char *keep(struct loading *loading, const char *text) {
  return checked(loading, arena_strdup(&loading->group->arena, text));
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* prefix: the name of a level, or NULL. */
static void add_number(struct loading *loading, const char *prefix, const char *key,
                       struct group_number number) {
  struct group_description *group = loading->group;
  if (group->number_count == GROUP_NUMBERS_MAX)
    sandbox_refuse(&loading->box, 0, NULL, "more than %d numbers", GROUP_NUMBERS_MAX);
  snprintf(number.key, sizeof number.key, "%.31s%s%.31s", prefix ? prefix : "", prefix ? "." : "",
           key);
  group->numbers[group->number_count++] = number;
}

#define NUMBER(field_, kind_, low, high, sentence)                                                 \
  ((struct group_number){.kind = SOC_KIND_##kind_,                                                 \
                         .minimum = low,                                                           \
                         .maximum = high,                                                          \
                         .text = sentence,                                                         \
                         .value = &field_})

static void add_level_numbers(struct loading *loading, struct group_level *level) {
#define X(field, key, kind, low, high, sentence)                                                   \
  add_number(loading, level->name, key, NUMBER(level->field, kind, low, high, sentence));
  GROUP_LEVEL_LIST(X)
#undef X
}

static void add_system_numbers(struct loading *loading) {
  struct group_system *system = &loading->group->system;
#define X(field, key, kind, low, high, sentence)                                                   \
  add_number(loading, NULL, key, NUMBER(system->field, kind, low, high, sentence));
  GROUP_SYSTEM_LIST(X)
#undef X
}

static const char *key_at(const void *context, size_t index) {
  const struct group_description *group = context;
  return group->numbers[index].key;
}

static struct group_number *find_number(struct group_description *group, const char *key) {
  for (size_t i = 0; i < group->number_count; i++)
    if (strcmp(group->numbers[i].key, key) == 0)
      return &group->numbers[i];
  return NULL;
}

static enum vinci_status unknown_number(const struct group_description *group, const char *key,
                                        struct vinci_diag *diag) {
  const char *nearest = diag_nearest(key, group->number_count, key_at, group);
  (void)diag_error(diag, VINCI_E_USAGE, "unknown number '%s' of system '%s'", key,
                   group->system.name);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  return VINCI_E_USAGE;
}

static enum vinci_status store(struct group_number *number, int64_t value,
                               struct vinci_diag *diag) {
  char low[32], high[32];
  if (value >= number->minimum && value <= number->maximum) {
    *number->value = (uint64_t)value;
    return VINCI_OK;
  }
  soc_format_value(number->minimum, number->kind, low, sizeof low);
  soc_format_value(number->maximum, number->kind, high, sizeof high);
  return diag_error(diag, VINCI_E_USAGE, "%s must be from %s to %s", number->key, low, high);
}

static void store_number(struct loading *loading, const char *key,
                         const struct sandbox_number *given) {
  struct sandbox *box = &loading->box;
  struct group_number *number = find_number(loading->group, key);
  struct vinci_diag problem = {0};
  if (!number) {
    (void)unknown_number(loading->group, key, &problem);
    sandbox_refuse(box, given->line, problem.hint[0] ? problem.hint : NULL, "unknown number '%s'",
                   key);
  }
  if (store(number, sandbox_scale(box, key, given, number->kind), &problem) != VINCI_OK)
    sandbox_refuse(box, given->line, NULL, "%s", problem.text);
  number->provenance = (struct soc_provenance){.source = keep(loading, given->source->id),
                                               .note = keep(loading, given->note),
                                               .confidence = (uint8_t)given->confidence,
                                               .given = true};
}

/* The numbers of the table on top of the stack; `skipped` of its keys are no numbers. */
static void merge_numbers(struct loading *loading, const char *prefix, const char *const *skipped) {
  struct sandbox *box = &loading->box;
  int at = lua_gettop(box->lua);
  size_t count;
  const char **keys = sandbox_keys(box, &loading->scratch, at, &count);
  for (size_t i = 0; i < count; i++) {
    bool skip = false;
    for (const char *const *word = skipped; word && *word; word++)
      skip = skip || strcmp(*word, keys[i]) == 0;
    if (skip)
      continue;
    char key[GROUP_KEY_MAX];
    if (snprintf(key, sizeof key, "%s.%s", prefix, keys[i]) >= (int)sizeof key)
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

/* ---- levels ---------------------------------------------------------------------------------- */

static const char *get_text(struct loading *loading, int at, const char *field) {
  struct sandbox *box = &loading->box;
  bool given = lua_getfield(box->lua, at, field) != LUA_TNIL;
  const char *text = given ? sandbox_text(box, -1, field) : NULL;
  lua_pop(box->lua, 1); /* the table keeps the string */
  return text;
}

static struct group_level *find_level(struct group_system *system, const char *name) {
  for (uint32_t i = 0; i < system->level_count; i++)
    if (strcmp(system->levels[i].name, name) == 0)
      return &system->levels[i];
  return NULL;
}

/* A level that the base has not: with its join and the devices that it joins. */
static void new_level(struct loading *loading, int at, const char *name) {
  struct sandbox *box = &loading->box;
  struct group_system *system = &loading->group->system;
  const char *join = get_text(loading, at, "join");
  if (!join || (strcmp(join, "mesh") != 0 && strcmp(join, "switch") != 0))
    sandbox_refuse(box, sandbox_locate(box, "join"), "join is \"mesh\" or \"switch\"",
                   "level '%s' has no join", name);
  if (system->level_count == GROUP_LEVELS_MAX)
    sandbox_refuse(box, 0, NULL, "more than %d levels", GROUP_LEVELS_MAX);
  struct group_level *level = &system->levels[system->level_count++];
  level->name = keep(loading, name);
  level->join = strcmp(join, "mesh") == 0 ? GROUP_MESH : GROUP_SWITCH;
  lua_getfield(box->lua, at, "devices");
  int is_integer = 0;
  lua_Integer devices = lua_tointegerx(box->lua, -1, &is_integer);
  if (!is_integer || devices < 2 || devices > GROUP_DEVICES_MAX)
    sandbox_refuse(box, sandbox_locate(box, "devices"), NULL,
                   "level '%s': devices must be a whole number from 2 to %d", name,
                   GROUP_DEVICES_MAX);
  level->devices = (uint32_t)devices;
  lua_pop(box->lua, 1);
  add_level_numbers(loading, level);
}

static void merge_levels(struct loading *loading) {
  static const char *const words[] = {"name", "join", "devices", NULL};
  struct sandbox *box = &loading->box;
  int list = lua_gettop(box->lua);
  lua_Integer count = (lua_Integer)lua_rawlen(box->lua, list);
  for (lua_Integer i = 1; i <= count; i++) {
    if (lua_rawgeti(box->lua, list, i) != LUA_TTABLE)
      sandbox_refuse(box, sandbox_locate(box, "levels"), NULL, "levels: entry %d is no table",
                     (int)i);
    int at = lua_gettop(box->lua);
    const char *name = get_text(loading, at, "name");
    if (!name || strlen(name) >= GROUP_KEY_MAX / 2)
      sandbox_refuse(box, sandbox_locate(box, "levels"), NULL, "levels: entry %d has no name",
                     (int)i);
    if (!find_level(&loading->group->system, name))
      new_level(loading, at, name);
    merge_numbers(loading, name, words);
    lua_pop(box->lua, 1);
  }
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static void run_file(struct loading *loading, const char *name) {
  size_t size = strlen(loading->folder) + strlen(name) + sizeof "/group/.lua";
  char *path = checked(loading, arena_alloc(&loading->scratch, size, 1));
  snprintf(path, size, "%s/group/%s.lua", loading->folder, name);
  sandbox_run(&loading->box, &loading->scratch, path);
}

static void load_sources(struct loading *loading) {
  struct sandbox *box = &loading->box;
  run_file(loading, "sources");
  int table = lua_gettop(box->lua);
  size_t count;
  const char **keys = sandbox_keys(box, &loading->scratch, table, &count);
  struct soc_source *sources =
      checked(loading, ARENA_ARRAY(&loading->group->arena, struct soc_source, count + 1));
  for (size_t i = 0; i < count; i++) {
    lua_getfield(box->lua, table, keys[i]);
    sources[i] =
        (struct soc_source){keep(loading, keys[i]), keep(loading, sandbox_text(box, -1, keys[i]))};
    lua_pop(box->lua, 1);
  }
  lua_settop(box->lua, table - 1);
  box->sources = sources;
  box->source_count = count;
  loading->group->sources = sources;
  loading->group->source_count = count;
}

static bool is_word(const char *key) {
  static const char *const words[] = {"name", "base", "description", "abstract", "chip"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], key) == 0)
      return true;
  return false;
}

static void merge(struct loading *loading, int at) {
  struct sandbox *box = &loading->box;
  const char *description = get_text(loading, at, "description");
  const char *chip = get_text(loading, at, "chip");
  if (description)
    loading->group->description = keep(loading, description);
  if (chip)
    loading->group->chip = keep(loading, chip);
  size_t count;
  const char **keys = sandbox_keys(box, &loading->scratch, at, &count);
  for (size_t i = 0; i < count; i++) {
    if (is_word(keys[i]))
      continue;
    luaL_checkstack(box->lua, LUA_MINSTACK, NULL);
    if (lua_getfield(box->lua, at, keys[i]) != LUA_TTABLE)
      sandbox_refuse(box, sandbox_locate(box, keys[i]), NULL, "unknown field '%s'", keys[i]);
    if (strcmp(keys[i], "levels") == 0)
      merge_levels(loading);
    else
      merge_numbers(loading, keys[i], NULL);
    lua_pop(box->lua, 1);
  }
}

/* A description over its bases. */
static void load_description(struct loading *loading, const char *name) {
  struct sandbox *box = &loading->box;
  if (++loading->depth > BASES_MAX)
    sandbox_refuse(box, 0, NULL, "more than %d bases in a row", BASES_MAX - 1);
  run_file(loading, name);
  int at = lua_gettop(box->lua);
  if (!sandbox_is_description(box))
    sandbox_refuse(box, 0, NULL, "does not return group { ... }");
  const char *own = get_text(loading, at, "name");
  if (!own || strcmp(own, name) != 0)
    sandbox_refuse(box, sandbox_locate(box, "name"), NULL,
                   "the name must be '%s', like that of the file", name);
  if (loading->depth == 1) {
    lua_getfield(box->lua, at, "abstract");
    loading->is_abstract = lua_toboolean(box->lua, -1);
    lua_pop(box->lua, 1);
  }
  const char *base = get_text(loading, at, "base"), *path = box->path, *text = box->text;
  if (base && strchr(base, '/'))
    sandbox_refuse(box, sandbox_locate(box, "base"), NULL, "there is no base '%s'", base);
  if (base)
    load_description(loading, base);
  box->path = path;
  box->text = text;
  merge(loading, at);
  lua_settop(box->lua, at - 1);
}

static void check_complete(struct loading *loading) {
  struct group_description *group = loading->group;
  struct vinci_diag problem = {0};
  for (size_t i = 0; i < group->number_count; i++)
    if (!group->numbers[i].provenance.given)
      sandbox_refuse(&loading->box, 0, NULL, "the number '%s' is missing", group->numbers[i].key);
  if (!group->chip)
    sandbox_refuse(&loading->box, 0, NULL, "the chip of the devices is missing");
  group->system.devices = 1;
  if (group_system_check(&group->system, &problem) != VINCI_OK)
    sandbox_refuse(&loading->box, 0, NULL, "%s", problem.text);
}

static void load_body(struct sandbox *box, void *context) {
  struct loading *loading = context;
  (void)box;
  loading->group->system.name = keep(loading, loading->name);
  loading->group->description = "";
  add_system_numbers(loading);
  load_sources(loading);
  load_description(loading, loading->name);
  if (!loading->is_abstract)
    check_complete(loading);
}

void group_host_free(struct group_description *group) {
  if (!group)
    return;
  arena_free(&group->arena);
  free(group);
}

static enum vinci_status load(const char *folder, const char *name, struct group_description **out,
                              bool *is_abstract, struct vinci_diag *diag) {
  struct vinci_diag own = {0};
  struct group_description *group = calloc(1, sizeof *group);
  if (!group)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  struct loading loading = {.group = group, .folder = folder, .name = name};
  loading.box.diag = diag ? diag : &own;
  enum vinci_status status = sandbox_open(&loading.box);
  if (status == VINCI_OK)
    status = sandbox_protect(&loading.box, load_body, &loading);
  sandbox_close(&loading.box);
  arena_free(&loading.scratch);
  *is_abstract = loading.is_abstract;
  if (status == VINCI_OK)
    *out = group;
  else
    group_host_free(group);
  return status;
}

enum vinci_status group_host_list(const char *data_dir, struct soc_names *out,
                                  struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX];
  *out = (struct soc_names){0};
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status == VINCI_OK)
    status = soc_files_list(folder, "group", out, diag);
  size_t kept = 0;
  for (size_t i = 0; status == VINCI_OK && i < out->count; i++) {
    struct group_description *group = NULL;
    bool is_abstract = false;
    bool loads = load(folder, out->items[i], &group, &is_abstract, NULL) == VINCI_OK;
    if (loads && !is_abstract)
      out->items[kept++] = out->items[i];
    if (loads)
      group_host_free(group);
  }
  out->count = status == VINCI_OK ? kept : out->count;
  return status;
}

static const char *name_at(const void *context, size_t index) {
  const struct soc_names *names = context;
  return names->items[index];
}

static enum vinci_status unknown_system(const char *folder, const char *name,
                                        struct vinci_diag *diag) {
  struct soc_names names = {0};
  (void)diag_error(diag, VINCI_E_USAGE, "unknown system '%s'", name);
  if (group_host_list(folder, &names, NULL) == VINCI_OK) {
    const char *nearest = diag_nearest(name, names.count, name_at, &names);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else
      diag_hint(diag, "'vinci group show' lists the systems");
  }
  soc_names_free(&names);
  return VINCI_E_USAGE;
}

enum vinci_status group_host_load(const char *name, const char *data_dir,
                                  struct group_description **out, struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX], path[2 * SOC_PATH_MAX];
  struct stat info;
  bool is_abstract = false;
  *out = NULL;
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  int length = snprintf(path, sizeof path, "%s/group/%s.lua", folder, name);
  if (*name == '\0' || strchr(name, '/') || strcmp(name, "sources") == 0 ||
      length >= (int)sizeof path || lstat(path, &info) != 0)
    return unknown_system(folder, name, diag);
  status = load(folder, name, out, &is_abstract, diag);
  if (status == VINCI_OK && is_abstract) {
    group_host_free(*out);
    *out = NULL;
    status = diag_error(diag, VINCI_E_USAGE, "system '%s' is only a base of others", name);
    diag_hint(diag, "'vinci group show' lists the systems");
  }
  return status;
}

enum vinci_status group_host_fit(struct group_description *group, const char *data_dir,
                                 uint32_t devices, struct vinci_diag *diag) {
  vinci_soc *soc = NULL;
  enum vinci_status status = vinci_soc_load(group->chip, data_dir, &soc, diag);
  if (status == VINCI_OK) {
    group->system.devices = devices;
    group->system.hbm_rate = soc_hbm_bytes_per_second(soc);
    group->system.l2_bytes = (uint64_t)soc->l2_bytes;
    status = group_system_check(&group->system, diag);
  }
  vinci_soc_free(soc);
  return status;
}

enum vinci_status group_host_set(struct group_description *group, const char *assignment,
                                 struct vinci_diag *diag) {
  const char *equals = strchr(assignment, '=');
  char key[GROUP_KEY_MAX];
  if (!equals || (size_t)(equals - assignment) >= sizeof key)
    return diag_error(diag, VINCI_E_USAGE, "'%s' is not of the form KEY=VALUE", assignment);
  memcpy(key, assignment, (size_t)(equals - assignment));
  key[equals - assignment] = '\0';
  struct group_number *number = find_number(group, key);
  if (!number)
    return unknown_number(group, key, diag);
  int64_t value = 0;
  enum vinci_status status = soc_parse_value(equals + 1, number->kind, &value, diag);
  if (status == VINCI_OK)
    status = store(number, value, diag);
  number->provenance.overridden = true;
  return status;
}
