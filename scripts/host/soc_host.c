/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads hardware descriptions: runs the Lua files in a sandbox and fills struct
 * vinci_soc, refusing every number that does not say its unit, source and
 * confidence, every unknown key and every missing number.
 */
#include "scripts/host/soc_host.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/chip/soc_digest.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_lua.h"
#include "scripts/host/soc_packed.h"

enum { BASES_MAX = 8, KEY_MAX = 128, GROUP_DEPTH_MAX = 2 };

/* One loading: the sandbox, the SoC being filled, the files now being merged. */
struct loading {
  struct sandbox box;
  struct arena scratch; /* file texts, paths, key lists */
  struct vinci_soc *soc;
  const char *folder;
  const char *name;             /* asked for */
  const char *file;             /* of that name, when the caller gives its path; NULL */
  const char *beside;           /* the folder of that file */
  bool own;                     /* the one asked for is none of folder */
  const char *chain[BASES_MAX]; /* descriptions being loaded: the one asked for, its base, ... */
  unsigned depth;
  bool arch_given;
  bool is_abstract; /* of the one asked for */
};

/* What a description may hold beside groups of numbers. */
static const char *const fields[] = {"name",         "base", "arch", "description", "abstract",
#define NAME(id, field, key, text) field,
                                     SOC_NAMES(NAME)
#undef NAME
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

static const char *field_at(const void *context, size_t index) {
  (void)context;
  return fields[index];
}

static bool is_field(const char *key) {
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (strcmp(fields[i], key) == 0)
      return true;
  return false;
}

/* Memory for texts: NULL ends the loading. */
static void *checked(struct loading *loading, void *memory) {
  if (!memory)
    sandbox_no_memory(&loading->box);
  return memory;
}

static char *keep(struct loading *loading, const char *text) {
  return checked(loading, arena_strdup(&loading->soc->arena, text));
}

static const char *description_path(struct loading *loading, const char *name) {
  char path[SOC_PATH_MAX];
  bool own, asked = strcmp(name, loading->name) == 0;
  if (asked && loading->file)
    return loading->file;
  if (!soc_file_find(loading->folder, loading->beside, name, path, sizeof path, &own))
    snprintf(path, sizeof path, "%s/soc/%s.lua", loading->folder, name);
  return checked(loading, arena_strdup(&loading->scratch, path));
}

static void run_file(struct loading *loading, const char *path) {
  sandbox_run(&loading->box, &loading->scratch, path);
}

static const char **sorted_keys(struct loading *loading, int at, size_t *count) {
  return sandbox_keys(&loading->box, &loading->scratch, at, count);
}

static void load_sources(struct loading *loading) {
  struct sandbox *box = &loading->box;
  lua_State *lua = box->lua;
  run_file(loading, description_path(loading, "sources"));
  int table = lua_gettop(lua);
  size_t count;
  const char **keys = sorted_keys(loading, table, &count);
  struct soc_source *sources =
      checked(loading, ARENA_ARRAY(&loading->scratch, struct soc_source, count + 1));
  for (size_t i = 0; i < count; i++) {
    lua_getfield(lua, table, keys[i]);
    const char *text = sandbox_text(box, -1, keys[i]);
    sources[i] =
        (struct soc_source){keys[i], checked(loading, arena_strdup(&loading->scratch, text))};
    lua_pop(lua, 1);
  }
  lua_settop(lua, table - 1);
  if (loading->own) /* numbers of one's own have a source that no installed number has */
    sources[count++] = (struct soc_source){
        "OWN", "a description of one's own; its notes say where the numbers come from"};
  box->sources = sources;
  box->source_count = count;
}

static void refuse_key(struct loading *loading, const char *key, unsigned long line) {
  char hint[KEY_MAX + 32];
  const char *nearest = soc_param_nearest(key);
  if (nearest)
    snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
  sandbox_refuse(&loading->box, line, nearest ? hint : NULL, "unknown parameter '%s'", key);
}

static void store_number(struct loading *loading, const char *key,
                         const struct sandbox_number *number) {
  size_t index = soc_param_find(key);
  if (index == soc_param_count())
    refuse_key(loading, key, number->line);
  int64_t value = sandbox_scale(&loading->box, key, number, soc_param(index)->kind);
  struct soc_provenance provenance = {
      .source = number->source->id,
      .note = keep(loading, number->note),
      .confidence = (uint8_t)number->confidence,
  };
  struct vinci_diag range = {0};
  if (soc_store(loading->soc, index, value, provenance, &range) != VINCI_OK)
    sandbox_refuse(&loading->box, number->line, NULL, "%s", range.text);
}

static void merge_value(struct loading *loading, const char *key, unsigned depth);

/* Stores the numbers of the table at `at`; prefix is its dotted name. */
static void merge_group(struct loading *loading, int at, const char *prefix, unsigned depth) {
  size_t count;
  const char **keys = sorted_keys(loading, at, &count);
  for (size_t i = 0; i < count; i++) {
    char key[KEY_MAX];
    if (snprintf(key, sizeof key, "%s.%s", prefix, keys[i]) >= (int)sizeof key)
      sandbox_refuse(&loading->box, 0, NULL, "the name '%.40s...' is too long", key);
    lua_getfield(loading->box.lua, at, keys[i]);
    merge_value(loading, key, depth);
    lua_pop(loading->box.lua, 1);
  }
}

/* The value on top of the stack: a number with its provenance, or a group of them. */
static void merge_value(struct loading *loading, const char *key, unsigned depth) {
  struct sandbox *box = &loading->box;
  int at = lua_gettop(box->lua);
  struct sandbox_number number;
  luaL_checkstack(box->lua, LUA_MINSTACK, NULL);
  if (sandbox_get_number(box, at, &number)) {
    store_number(loading, key, &number);
  } else if (lua_type(box->lua, at) == LUA_TTABLE && depth < GROUP_DEPTH_MAX) {
    merge_group(loading, at, key, depth + 1);
  } else if (lua_type(box->lua, at) == LUA_TNUMBER) {
    sandbox_refuse(box, sandbox_locate(box, key),
                   "write num(value, \"unit\", \"source\", \"confidence\"[, \"note\"])",
                   "%s: a bare number has no unit, source and confidence", key);
  } else {
    sandbox_refuse(box, sandbox_locate(box, key), NULL, "%s: must be a num(...)", key);
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

static bool get_abstract(struct loading *loading, int at) {
  lua_getfield(loading->box.lua, at, "abstract");
  bool is_abstract = lua_toboolean(loading->box.lua, -1);
  lua_pop(loading->box.lua, 1);
  return is_abstract;
}

static void merge_arch(struct loading *loading, const char *name) {
  struct sandbox *box = &loading->box;
  enum arch arch = arch_by_name(name);
  if (arch == ARCH_COUNT)
    sandbox_refuse(box, sandbox_locate(box, "arch"), "dav-c100, dav-m200, dav-c220, dav-c310",
                   "unknown architecture '%s'", name);
  if (loading->arch_given && loading->soc->arch != arch)
    sandbox_refuse(box, sandbox_locate(box, "arch"), NULL,
                   "arch '%s' differs from that of the base, '%s'", name,
                   arch_name(loading->soc->arch));
  loading->soc->arch = arch;
  loading->arch_given = true;
}

/* A field that names another description; kept in place, SOC_TEXT_MAX bytes. */
static void merge_name(struct loading *loading, int at, const char *field, char *kept) {
  const char *text = get_text(loading, at, field);
  if (!text)
    return;
  if (strlen(text) >= SOC_TEXT_MAX)
    sandbox_refuse(&loading->box, sandbox_locate(&loading->box, field), NULL,
                   "%s: the name is too long", field);
  strcpy(kept, text);
}

/* Merges the table at `at` over what the base has given. */
static void merge_description(struct loading *loading, int at) {
  struct sandbox *box = &loading->box;
  const char *arch = get_text(loading, at, "arch");
  if (arch)
    merge_arch(loading, arch);
  const char *description = get_text(loading, at, "description");
  if (description)
    loading->soc->description = keep(loading, description);
#define NAME(id, field, key, text)                                                                 \
  merge_name(loading, at, field, loading->soc->choices[SOC_##id].name);
  SOC_NAMES(NAME)
#undef NAME
  size_t count;
  const char **keys = sorted_keys(loading, at, &count);
  for (size_t i = 0; i < count; i++) {
    if (is_field(keys[i]))
      continue;
    lua_getfield(box->lua, at, keys[i]);
    if (lua_type(box->lua, -1) != LUA_TTABLE) {
      const char *nearest = diag_nearest(keys[i], FIELD_COUNT, field_at, NULL);
      char hint[64];
      snprintf(hint, sizeof hint, "did you mean '%s'?", nearest ? nearest : "");
      sandbox_refuse(box, sandbox_locate(box, keys[i]), nearest ? hint : NULL, "unknown field '%s'",
                     keys[i]);
    }
    merge_value(loading, keys[i], 0);
    lua_pop(box->lua, 1);
  }
}

static void load_description(struct loading *loading, const char *name);

/* Loads the base named in the description that runs now, then goes on with the description itself.
 */
static void load_base(struct loading *loading, const char *base) {
  struct sandbox *box = &loading->box;
  unsigned long line = sandbox_locate(box, "base");
  for (unsigned i = 0; i < loading->depth; i++)
    if (strcmp(loading->chain[i], base) == 0)
      sandbox_refuse(box, line, NULL, "base '%s' leads back to itself", base);
  if (loading->depth == BASES_MAX)
    sandbox_refuse(box, line, NULL, "more than %d bases in a row", BASES_MAX - 1);
  struct stat info;
  if (strchr(base, '/') || lstat(description_path(loading, base), &info) != 0)
    sandbox_refuse(box, line, NULL, "there is no base '%s'", base);
  const char *path = box->path, *text = box->text;
  load_description(loading, base);
  box->path = path;
  box->text = text;
}

static void load_description(struct loading *loading, const char *name) {
  struct sandbox *box = &loading->box;
  loading->chain[loading->depth++] = name;
  run_file(loading, description_path(loading, name));
  int at = lua_gettop(box->lua);
  if (!sandbox_is_description(box))
    sandbox_refuse(box, 0, NULL, "does not return soc { ... }");
  const char *own_name = get_text(loading, at, "name");
  if (!own_name || strcmp(own_name, name) != 0)
    sandbox_refuse(box, sandbox_locate(box, "name"), NULL,
                   "the name must be '%s', like that of the file", name);
  if (loading->depth == 1)
    loading->is_abstract = get_abstract(loading, at);
  const char *base = get_text(loading, at, "base");
  if (base)
    load_base(loading, base);
  if (base && loading->depth == 1)
    loading->soc->base = keep(loading, base);
  merge_description(loading, at);
  loading->depth--;
  lua_settop(box->lua, at - 1);
}

static void check_complete(struct loading *loading) {
  const struct vinci_soc *soc = loading->soc;
  const char *first = NULL;
  unsigned missing = 0;
  for (size_t i = 0; i < soc_param_count(); i++)
    if (!soc_param(i)->optional && !soc->provenance[i].given && missing++ == 0)
      first = soc_param(i)->key;
  if (missing == 1)
    sandbox_refuse(&loading->box, 0, NULL, "the number '%s' is missing", first);
  if (missing > 1)
    sandbox_refuse(&loading->box, 0, NULL, "the number '%s' is missing, and %u more", first,
                   missing - 1);
  if (!loading->arch_given)
    sandbox_refuse(&loading->box, 0, NULL, "the field 'arch' is missing");
  struct vinci_diag problem = {0};
  if (soc_validate(soc, &problem) != VINCI_OK)
    sandbox_refuse(&loading->box, 0, *problem.hint ? problem.hint : NULL, "%s", problem.text);
}

/* Keeps the sources that numbers refer to, and points the numbers at the kept copies. */
static void keep_sources(struct loading *loading) {
  struct vinci_soc *soc = loading->soc;
  const struct sandbox *box = &loading->box;
  struct soc_source *kept =
      checked(loading, ARENA_ARRAY(&soc->arena, struct soc_source, box->source_count));
  for (size_t s = 0; s < box->source_count; s++) {
    const char *id = NULL;
    for (size_t i = 0; i < soc_param_count(); i++) {
      struct soc_provenance *provenance = &soc->provenance[i];
      if (!provenance->given || provenance->source != box->sources[s].id)
        continue;
      if (!id)
        id = keep(loading, box->sources[s].id);
      provenance->source = id;
    }
    if (id)
      kept[soc->source_count++] = (struct soc_source){id, keep(loading, box->sources[s].text)};
  }
  soc->sources = kept;
}

static void load_body(struct sandbox *box, void *context) {
  struct loading *loading = context;
  struct vinci_soc *soc = loading->soc;
  load_sources(loading);
  soc->base = soc->description = "";
  for (size_t i = 0; i < soc_param_count(); i++)
    soc->provenance[i] = (struct soc_provenance){.source = "", .note = ""};
  if (strlen(loading->name) >= sizeof soc->name)
    sandbox_refuse(box, 0, NULL, "the name is too long");
  strcpy(soc->name, loading->name);
  load_description(loading, loading->name);
  if (loading->is_abstract) {
    box->status = diag_error(box->diag, VINCI_E_USAGE, "'%s' is a base for other descriptions",
                             loading->name);
    diag_hint(box->diag, "`vinci soc list` shows the SoCs");
    return;
  }
  check_complete(loading);
  keep_sources(loading);
}

static void abstract_body(struct sandbox *box, void *context) {
  struct loading *loading = context;
  load_sources(loading);
  run_file(loading, description_path(loading, loading->name));
  loading->is_abstract = get_abstract(loading, lua_gettop(box->lua));
}

/* Runs a body over one description; frees all but the SoC. */
static enum vinci_status load(struct loading *loading, struct vinci_diag *diag,
                              void (*body)(struct sandbox *box, void *context)) {
  struct vinci_diag own = {0};
  loading->box.diag = diag ? diag : &own;
  enum vinci_status status = sandbox_open(&loading->box);
  if (status == VINCI_OK)
    status = sandbox_protect(&loading->box, body, loading);
  sandbox_close(&loading->box);
  arena_free(&loading->scratch);
  return status;
}

bool soc_file_is_abstract(const char *folder, const char *name) {
  struct loading loading = {.folder = folder, .name = name};
  return load(&loading, NULL, abstract_body) == VINCI_OK && loading.is_abstract;
}

enum vinci_status vinci_soc_load(const char *name, const char *data_dir, vinci_soc **out,
                                 struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX];
  *out = NULL;
  if (!name)
    return diag_error(diag, VINCI_E_USAGE, "no SoC is named");
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  struct soc_own own;
  char path[SOC_PATH_MAX], chip[SOC_NAME_BYTES];
  bool by_file = soc_own_is_file(name), is_own = by_file;
  if (by_file)
    status = soc_own_open(folder, name, &own, diag);
  else if (strcmp(name, "sources") != 0 &&
           soc_file_find(folder, NULL, name, path, sizeof path, &is_own))
    status = VINCI_OK;
  else if (soc_also_named(folder, name, chip, sizeof chip))
    name = chip;
  else
    status = soc_unknown(folder, name, diag);
  if (status != VINCI_OK)
    return status;
  struct vinci_soc *soc = calloc(1, sizeof *soc);
  if (!soc || !soc_keep_digest(soc)) {
    free(soc);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  struct loading loading = {.folder = folder,
                            .name = by_file ? own.name : name,
                            .file = by_file ? name : NULL,
                            .beside = by_file ? own.folder : NULL,
                            .own = is_own,
                            .soc = soc};
  const struct soc_packed *packed = is_own ? NULL : soc_packed_find(folder, name);
  if (packed) {
    status = soc_packed_fill(packed, soc) ? soc_named_attach(soc, folder, diag)
                                          : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  } else {
    status = load(&loading, diag, load_body);
    if (status == VINCI_OK)
      status = soc_named_load(soc, folder, diag);
  }
  if (status == VINCI_OK)
    *out = soc;
  else
    vinci_soc_free(soc);
  return status;
}
