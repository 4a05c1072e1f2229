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

static struct mem_spec *made_of(struct description *description) { return description->made; }

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return mem_param(index)->key;
}

static void store_number(struct description *description, const char *key,
                         const struct sandbox_number *number) {
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
      .source = description_keep(description, number->source->id),
      .note = description_keep(description, number->note),
      .confidence = (uint8_t)number->confidence,
  };
  struct vinci_diag range = {0};
  if (mem_store(made_of(description), index, value, provenance, &range) != VINCI_OK)
    sandbox_refuse(box, number->line, NULL, "%s", range.text);
}

/* Stores a mapping in its sorted place, over one of the same name of the base. */
static void store_map(struct description *description, const char *name, const char *text) {
  struct mem_spec *mem = made_of(description);
  size_t at = 0;
  while (at < mem->map_count && strcmp(mem->maps[at].name, name) < 0)
    at++;
  bool same = at < mem->map_count && strcmp(mem->maps[at].name, name) == 0;
  if (!same) {
    if (mem->map_count == MEM_MAPS_MAX)
      sandbox_refuse(&description->box, 0, NULL, "more than %d maps", MEM_MAPS_MAX);
    memmove(&mem->maps[at + 1], &mem->maps[at], (mem->map_count - at) * sizeof *mem->maps);
    mem->map_count++;
  }
  mem->maps[at] = (struct mem_map_text){description_keep(description, name),
                                        description_keep(description, text)};
}

static void merge_maps(struct description *description) {
  struct sandbox *box = &description->box;
  int at = lua_gettop(box->lua);
  size_t count;
  const char **keys = sandbox_keys(box, &description->scratch, at, &count);
  for (size_t i = 0; i < count; i++) {
    char key[KEY_MAX];
    if (snprintf(key, sizeof key, "maps.%s", keys[i]) >= (int)sizeof key)
      sandbox_refuse(box, 0, NULL, "the name '%.40s...' is too long", key);
    lua_getfield(box->lua, at, keys[i]);
    store_map(description, keys[i], sandbox_text(box, -1, key));
    lua_pop(box->lua, 1);
  }
}

static void take_text(struct description *description, const char *field, const char *text) {
  (void)field;
  made_of(description)->description = description_keep(description, text);
}

static void take_table(struct description *description, const char *field) {
  if (strcmp(field, "maps") == 0)
    merge_maps(description);
  else
    description_numbers(description, field, NULL);
}

static void check_complete(struct description *description) {
  struct sandbox *box = &description->box;
  struct mem_spec *mem = made_of(description);
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
  struct mem_spec *mem = made_of(description);
  if (strlen(description->name) >= sizeof mem->name)
    sandbox_refuse(&description->box, 0, NULL, "the name is too long");
  strcpy(mem->name, description->name);
  mem->description = "";
}

static struct arena *kept(struct description *description) { return &made_of(description)->arena; }

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
    .bytes = sizeof(struct mem_spec),
    .release = release};

void mem_host_free(struct mem_spec *mem) {
  mem_free(mem);
  free(mem);
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
