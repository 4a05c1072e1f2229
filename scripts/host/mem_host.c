/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory descriptions in the sandbox of the hardware descriptions (soc_lua.h):
 * refuses every number without unit, source and confidence, every unknown key and
 * every missing number.
 */
#include "scripts/host/mem_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scripts/host/description.h"
#include "scripts/host/soc_files.h"

enum { KEY_MAX = 96 };

struct loading {
  struct description description; /* first */
  struct mem_spec *mem;
};

static struct loading *loading_of(struct description *description) {
  return (struct loading *)description;
}

static char *keep(struct loading *loading, const char *text) {
  return description_checked(&loading->description, arena_strdup(&loading->mem->arena, text));
}

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return mem_param(index)->key;
}

static void store_number(struct description *description, const char *key,
                         const struct sandbox_number *number) {
  struct loading *loading = loading_of(description);
  struct sandbox *box = &description->box;
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

/* Stores a mapping in its sorted place, over one of the same name of the base. */
static void store_map(struct loading *loading, const char *name, const char *text) {
  struct mem_spec *mem = loading->mem;
  size_t at = 0;
  while (at < mem->map_count && strcmp(mem->maps[at].name, name) < 0)
    at++;
  bool same = at < mem->map_count && strcmp(mem->maps[at].name, name) == 0;
  if (!same) {
    if (mem->map_count == MEM_MAPS_MAX)
      sandbox_refuse(&loading->description.box, 0, NULL, "more than %d maps", MEM_MAPS_MAX);
    memmove(&mem->maps[at + 1], &mem->maps[at], (mem->map_count - at) * sizeof *mem->maps);
    mem->map_count++;
  }
  mem->maps[at] = (struct mem_map_text){keep(loading, name), keep(loading, text)};
}

static void merge_maps(struct loading *loading) {
  struct sandbox *box = &loading->description.box;
  int at = lua_gettop(box->lua);
  size_t count;
  const char **keys = sandbox_keys(box, &loading->description.scratch, at, &count);
  for (size_t i = 0; i < count; i++) {
    char key[KEY_MAX];
    if (snprintf(key, sizeof key, "maps.%s", keys[i]) >= (int)sizeof key)
      sandbox_refuse(box, 0, NULL, "the name '%.40s...' is too long", key);
    lua_getfield(box->lua, at, keys[i]);
    store_map(loading, keys[i], sandbox_text(box, -1, key));
    lua_pop(box->lua, 1);
  }
}

static void take_text(struct description *description, const char *field, const char *text) {
  struct loading *loading = loading_of(description);
  (void)field;
  loading->mem->description = keep(loading, text);
}

static void take_table(struct description *description, const char *field) {
  if (strcmp(field, "maps") == 0)
    merge_maps(loading_of(description));
  else
    description_numbers(description, field, NULL);
}

static void check_complete(struct description *description) {
  struct sandbox *box = &description->box;
  struct mem_spec *mem = loading_of(description)->mem;
  struct vinci_diag problem = {0};
  for (size_t i = 0; i < mem_param_count(); i++)
    if (!mem->provenance[i].given)
      sandbox_refuse(box, 0, NULL, "the number '%s' is missing", mem_param(i)->key);
  if (mem_validate(mem, &problem) != VINCI_OK)
    sandbox_refuse(box, 0, NULL, "%s", problem.text);
  mem->sources = box->sources;
  mem->source_count = box->source_count;
}

static void begin(struct description *description) {
  struct mem_spec *mem = loading_of(description)->mem;
  if (strlen(description->name) >= sizeof mem->name)
    sandbox_refuse(&description->box, 0, NULL, "the name is too long");
  strcpy(mem->name, description->name);
  mem->description = "";
}

static struct arena *kept(struct description *description) {
  return &loading_of(description)->mem->arena;
}

static enum vinci_status load(const char *folder, const char *name, void **out, bool *is_abstract,
                              struct vinci_diag *diag);
static void release(void *made) { mem_host_free(made); }
static const char *const texts[] = {"description", NULL};
static const struct description_kind memory_kind = {
    .folder = "mem",
    .word = "memory",
    .begin = begin,
    .kept = kept,
    .texts = texts,
    .text = take_text,
    .table = take_table,
    .number = store_number,
    .complete = check_complete,
    .noun = "memory",
    .list = "the folder mem of the hardware descriptions has all",
    .load = load,
    .release = release};

void mem_host_free(struct mem_spec *mem) {
  mem_free(mem);
  free(mem);
}

/* Loads folder/mem/name.lua; *is_abstract tells whether it is only a base. */
static enum vinci_status load(const char *folder, const char *name, void **out, bool *is_abstract,
                              struct vinci_diag *diag) {
  struct loading loading = {.description = {.kind = &memory_kind, .folder = folder, .name = name}};
  loading.mem = calloc(1, sizeof *loading.mem);
  if (!loading.mem)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = description_load(&loading.description, diag);
  *is_abstract = loading.description.is_abstract;
  if (status == VINCI_OK)
    *out = loading.mem;
  else
    mem_host_free(loading.mem);
  return status;
}

enum vinci_status mem_host_list(const char *data_dir, struct soc_names *out,
                                struct vinci_diag *diag) {
  return description_list(&memory_kind, data_dir, out, diag);
}

enum vinci_status mem_host_load(const char *name, const char *data_dir, struct mem_spec **out,
                                struct vinci_diag *diag) {
  void *made = NULL;
  enum vinci_status status = description_open(&memory_kind, name, data_dir, &made, diag);
  *out = made;
  return status;
}
