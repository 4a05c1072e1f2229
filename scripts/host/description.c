/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the data folder as a description over its bases. */
#include "scripts/host/description.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scripts/host/soc_files.h"

enum { BASES_MAX = 8, KEY_BYTES_MAX = 96 };

void *description_checked(struct description *self, void *memory) {
  if (!memory)
    sandbox_no_memory(&self->box);
  return memory;
}

char *description_keep(struct description *self, const char *text) {
  return description_checked(self, arena_strdup(self->kind->kept(self), text));
}

const char *description_text(struct description *self, int at, const char *field) {
  struct sandbox *box = &self->box;
  bool given = lua_getfield(box->lua, at, field) != LUA_TNIL;
  const char *text = given ? sandbox_text(box, -1, field) : NULL;
  lua_pop(box->lua, 1); /* the table keeps the string */
  return text;
}

/* words: NULL, or ends with NULL. */
static bool is_word(const char *const *words, const char *key) {
  for (; words && *words; words++)
    if (strcmp(*words, key) == 0)
      return true;
  return false;
}

void description_numbers(struct description *self, const char *prefix, const char *const *skipped) {
  struct sandbox *box = &self->box;
  int at = lua_gettop(box->lua);
  size_t count;
  const char **keys = sandbox_keys(box, &self->scratch, at, &count);
  for (size_t i = 0; i < count; i++) {
    if (is_word(skipped, keys[i]))
      continue;
    char key[KEY_BYTES_MAX];
    if (snprintf(key, sizeof key, "%s.%s", prefix, keys[i]) >= (int)sizeof key)
      sandbox_refuse(box, 0, NULL, "the name '%.40s...' is too long", key);
    lua_getfield(box->lua, at, keys[i]);
    struct sandbox_number number;
    if (!sandbox_get_number(box, lua_gettop(box->lua), &number))
      sandbox_refuse(box, sandbox_locate(box, key),
                     "write num(value, \"unit\", \"source\", \"confidence\"[, \"note\"])",
                     "%s: must be a num(...)", key);
    self->kind->number(self, key, &number);
    lua_pop(box->lua, 1);
  }
}

/* Runs the file of a name; its table is left on the stack. */
static void run_file(struct description *self, const char *name) {
  const char *below = self->kind->folder;
  size_t size = strlen(self->folder) + strlen(below) + strlen(name) + sizeof "//.lua";
  char *path = description_checked(self, arena_alloc(&self->scratch, size, 1));
  snprintf(path, size, "%s/%s/%s.lua", self->folder, below, name);
  sandbox_run(&self->box, &self->scratch, path);
}

static void load_sources(struct description *self) {
  struct sandbox *box = &self->box;
  struct arena *kept = self->kind->kept(self);
  run_file(self, "sources");
  int table = lua_gettop(box->lua);
  size_t count;
  const char **keys = sandbox_keys(box, &self->scratch, table, &count);
  struct soc_source *sources =
      description_checked(self, ARENA_ARRAY(kept, struct soc_source, count + 1));
  for (size_t i = 0; i < count; i++) {
    lua_getfield(box->lua, table, keys[i]);
    const char *text = sandbox_text(box, -1, keys[i]);
    sources[i].id = description_keep(self, keys[i]);
    sources[i].text = description_keep(self, text);
    lua_pop(box->lua, 1);
  }
  lua_settop(box->lua, table - 1);
  box->sources = sources;
  box->source_count = count;
}

/* The fields of the description at `at` over what its bases have said. */
static void merge(struct description *self, int at) {
  struct sandbox *box = &self->box;
  static const char *const own[] = {"name", "base", "abstract", NULL};
  size_t count;
  const char **keys = sandbox_keys(box, &self->scratch, at, &count);
  for (size_t i = 0; i < count; i++) {
    const char *key = keys[i];
    if (is_word(own, key))
      continue;
    luaL_checkstack(box->lua, LUA_MINSTACK, NULL);
    bool is_table = lua_getfield(box->lua, at, key) == LUA_TTABLE;
    if (is_word(self->kind->texts, key))
      self->kind->text(self, key, sandbox_text(box, -1, key));
    else if (is_table)
      self->kind->table(self, key);
    else
      sandbox_refuse(box, sandbox_locate(box, key), NULL, "unknown field '%s'", key);
    lua_pop(box->lua, 1);
  }
}

static void load_over_bases(struct description *self, const char *name) {
  struct sandbox *box = &self->box;
  if (++self->depth > BASES_MAX)
    sandbox_refuse(box, 0, NULL, "more than %d bases in a row", BASES_MAX - 1);
  run_file(self, name);
  int at = lua_gettop(box->lua);
  if (!sandbox_is_description(box))
    sandbox_refuse(box, 0, NULL, "does not return %s { ... }", self->kind->word);
  const char *own = description_text(self, at, "name");
  if (!own || strcmp(own, name) != 0)
    sandbox_refuse(box, sandbox_locate(box, "name"), NULL,
                   "the name must be '%s', like that of the file", name);
  if (self->depth == 1) {
    lua_getfield(box->lua, at, "abstract");
    self->is_abstract = lua_toboolean(box->lua, -1);
    lua_pop(box->lua, 1);
  }
  const char *base = description_text(self, at, "base"), *path = box->path, *text = box->text;
  if (base && strchr(base, '/'))
    sandbox_refuse(box, sandbox_locate(box, "base"), NULL, "there is no base '%s'", base);
  if (base)
    load_over_bases(self, base);
  box->path = path;
  box->text = text;
  merge(self, at);
  lua_settop(box->lua, at - 1);
}

static void load_body(struct sandbox *box, void *context) {
  struct description *self = context;
  (void)box;
  self->kind->begin(self);
  load_sources(self);
  load_over_bases(self, self->name);
  if (!self->is_abstract)
    self->kind->complete(self);
}

/* Runs the file of a name and those of its bases; *is_abstract tells whether it is only a base.
 * diag may be NULL. */
static enum vinci_status load(const struct description_kind *kind, const char *folder,
                              const char *name, void **out, bool *is_abstract,
                              struct vinci_diag *diag) {
  struct vinci_diag own = {0};
  struct description self = {.kind = kind, .folder = folder, .name = name};
  self.box.diag = diag ? diag : &own;
  self.made = calloc(1, kind->bytes);
  if (!self.made)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = sandbox_open(&self.box);
  if (status == VINCI_OK)
    status = sandbox_protect(&self.box, load_body, &self);
  sandbox_close(&self.box);
  arena_free(&self.scratch);
  *is_abstract = self.is_abstract;
  if (status == VINCI_OK)
    *out = self.made;
  else
    kind->release(self.made);
  return status;
}

/* False also for a file with an error, which is told to those who load the name. */
static bool is_base(const struct description_kind *kind, const char *folder, const char *name) {
  void *made = NULL;
  bool is_abstract = false;
  if (load(kind, folder, name, &made, &is_abstract, NULL) == VINCI_OK)
    kind->release(made);
  return is_abstract;
}

enum vinci_status description_list(const struct description_kind *kind, const char *data_dir,
                                   struct soc_names *out, struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX];
  *out = (struct soc_names){0};
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status == VINCI_OK)
    status = soc_files_list(folder, kind->folder, out, diag);
  size_t kept = 0;
  for (size_t i = 0; status == VINCI_OK && i < out->count; i++)
    if (!is_base(kind, folder, out->items[i]))
      out->items[kept++] = out->items[i];
  out->count = status == VINCI_OK ? kept : out->count;
  return status;
}

static bool exists(const struct description_kind *kind, const char *folder, const char *name) {
  char path[2 * SOC_PATH_MAX];
  struct stat info;
  int length = snprintf(path, sizeof path, "%s/%s/%s.lua", folder, kind->folder, name);
  return *name != '\0' && !strchr(name, '/') && strcmp(name, "sources") != 0 &&
         length < (int)sizeof path && lstat(path, &info) == 0;
}

static enum vinci_status unknown(const struct description_kind *kind, const char *folder,
                                 const char *name, struct vinci_diag *diag) {
  struct soc_names names = {0};
  (void)diag_error(diag, VINCI_E_USAGE, "unknown %s '%s'", kind->noun, name);
  if (description_list(kind, folder, &names, NULL) == VINCI_OK) {
    const char *nearest = soc_names_nearest(&names, name);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else if (names.count > 0)
      diag_hint(diag, "such as '%s'; %s", names.items[0], kind->list);
  }
  soc_names_free(&names);
  return VINCI_E_USAGE;
}

enum vinci_status description_open(const struct description_kind *kind, const char *name,
                                   const char *data_dir, void **out, struct vinci_diag *diag) {
  char folder[SOC_PATH_MAX];
  bool is_abstract = false;
  *out = NULL;
  enum vinci_status status = soc_host_data_dir(data_dir, folder, sizeof folder, diag);
  if (status == VINCI_OK && !exists(kind, folder, name))
    status = unknown(kind, folder, name, diag);
  if (status == VINCI_OK)
    status = load(kind, folder, name, out, &is_abstract, diag);
  if (status != VINCI_OK || !is_abstract)
    return status;
  kind->release(*out);
  *out = NULL;
  (void)diag_error(diag, VINCI_E_USAGE, "%s '%s' is only a base of others", kind->noun, name);
  diag_hint(diag, "%s", kind->list);
  return VINCI_E_USAGE;
}
