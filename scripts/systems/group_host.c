/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads systems of devices in the sandbox of the hardware descriptions (soc_lua.h): refuses every
 * number without unit, source and confidence, every unknown key and every missing number. A
 * description over a base names the levels whose numbers it changes.
 */
#include "scripts/systems/group_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/chip/soc.h"
#include "scripts/host/description.h"
#include "scripts/host/soc_host.h"

static struct group_description *made_of(struct description *description) {
  return description->made;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* prefix: the name of a level, or NULL. */
static void add_number(struct description *description, const char *prefix, const char *key,
                       struct group_number number) {
  struct group_description *group = made_of(description);
  if (group->number_count == GROUP_NUMBERS_MAX)
    sandbox_refuse(&description->box, 0, NULL, "more than %d numbers", GROUP_NUMBERS_MAX);
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

static void add_level_numbers(struct description *description, struct group_level *level) {
#define X(field, key, kind, low, high, sentence)                                                   \
  add_number(description, level->name, key, NUMBER(level->field, kind, low, high, sentence));
  GROUP_LEVEL_LIST(X)
#undef X
}

static void add_system_numbers(struct description *description) {
  struct group_system *system = &made_of(description)->system;
#define X(field, key, kind, low, high, sentence)                                                   \
  add_number(description, NULL, key, NUMBER(system->field, kind, low, high, sentence));
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

const char *group_host_nearest(const struct group_description *group, const char *key) {
  return diag_nearest(key, group->number_count, key_at, group);
}

static enum vinci_status unknown_number(const struct group_description *group, const char *key,
                                        struct vinci_diag *diag) {
  const char *nearest = group_host_nearest(group, key);
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

static void store_number(struct description *description, const char *key,
                         const struct sandbox_number *given) {
  struct sandbox *box = &description->box;
  struct group_number *number = find_number(made_of(description), key);
  struct vinci_diag problem = {0};
  if (!number) {
    (void)unknown_number(made_of(description), key, &problem);
    sandbox_refuse(box, given->line, problem.hint[0] ? problem.hint : NULL, "unknown number '%s'",
                   key);
  }
  if (store(number, sandbox_scale(box, key, given, number->kind), &problem) != VINCI_OK)
    sandbox_refuse(box, given->line, NULL, "%s", problem.text);
  number->provenance =
      (struct soc_provenance){.source = description_keep(description, given->source->id),
                              .note = description_keep(description, given->note),
                              .confidence = (uint8_t)given->confidence,
                              .given = true};
}

/* ---- levels ---------------------------------------------------------------------------------- */

static struct group_level *find_level(struct group_system *system, const char *name) {
  for (uint32_t i = 0; i < system->level_count; i++)
    if (strcmp(system->levels[i].name, name) == 0)
      return &system->levels[i];
  return NULL;
}

/* A level that the base has not: with its join and the devices that it joins. */
static void new_level(struct description *description, int at, const char *name) {
  struct sandbox *box = &description->box;
  struct group_system *system = &made_of(description)->system;
  const char *join = description_text(description, at, "join");
  if (!join || (strcmp(join, "mesh") != 0 && strcmp(join, "switch") != 0))
    sandbox_refuse(box, sandbox_locate(box, "join"), "join is \"mesh\" or \"switch\"",
                   "level '%s' has no join", name);
  if (system->level_count == GROUP_LEVELS_MAX)
    sandbox_refuse(box, 0, NULL, "more than %d levels", GROUP_LEVELS_MAX);
  struct group_level *level = &system->levels[system->level_count++];
  level->name = description_keep(description, name);
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
  add_level_numbers(description, level);
}

static void merge_levels(struct description *description) {
  static const char *const words[] = {"name", "join", "devices", NULL};
  struct sandbox *box = &description->box;
  int list = lua_gettop(box->lua);
  lua_Integer count = (lua_Integer)lua_rawlen(box->lua, list);
  for (lua_Integer i = 1; i <= count; i++) {
    if (lua_rawgeti(box->lua, list, i) != LUA_TTABLE)
      sandbox_refuse(box, sandbox_locate(box, "levels"), NULL, "levels: entry %d is not a table",
                     (int)i);
    int at = lua_gettop(box->lua);
    const char *name = description_text(description, at, "name");
    if (!name || strlen(name) >= GROUP_KEY_MAX / 2)
      sandbox_refuse(box, sandbox_locate(box, "levels"), NULL, "levels: entry %d has no name",
                     (int)i);
    if (!find_level(&made_of(description)->system, name))
      new_level(description, at, name);
    description_numbers(description, name, words);
    lua_pop(box->lua, 1);
  }
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static void take_text(struct description *description, const char *field, const char *text) {
  struct group_description *group = made_of(description);
  *(strcmp(field, "chip") == 0 ? &group->chip : &group->description) =
      description_keep(description, text);
}

static void take_table(struct description *description, const char *field) {
  if (strcmp(field, "levels") == 0)
    merge_levels(description);
  else
    description_numbers(description, field, NULL);
}

static void check_complete(struct description *description) {
  struct sandbox *box = &description->box;
  struct group_description *group = made_of(description);
  struct vinci_diag problem = {0};
  for (size_t i = 0; i < group->number_count; i++)
    if (!group->numbers[i].provenance.given)
      sandbox_refuse(box, 0, NULL, "the number '%s' is missing", group->numbers[i].key);
  if (!group->chip)
    sandbox_refuse(box, 0, NULL, "the chip of the devices is missing");
  group->sources = box->sources;
  group->source_count = box->source_count;
  group->system.devices = 1;
  if (group_system_check(&group->system, &problem) != VINCI_OK)
    sandbox_refuse(box, 0, NULL, "%s", problem.text);
}

static void begin(struct description *description) {
  struct group_description *group = made_of(description);
  group->system.name = description_keep(description, description->name);
  group->description = "";
  add_system_numbers(description);
}

static struct arena *kept(struct description *description) { return &made_of(description)->arena; }

static void release(void *made) { group_host_free(made); }
static const char *const texts[] = {"description", "chip", NULL};
static const struct description_kind group_kind = {.folder = "group",
                                                   .word = "group",
                                                   .begin = begin,
                                                   .kept = kept,
                                                   .texts = texts,
                                                   .text = take_text,
                                                   .table = take_table,
                                                   .number = store_number,
                                                   .complete = check_complete,
                                                   .noun = "system",
                                                   .list = "'vinci group show' lists the systems",
                                                   .bytes = sizeof(struct group_description),
                                                   .release = release};

void group_host_free(struct group_description *group) {
  if (!group)
    return;
  arena_free(&group->arena);
  free(group);
}

enum vinci_status group_host_list(const char *data_dir, struct soc_names *out,
                                  struct vinci_diag *diag) {
  return description_list(&group_kind, data_dir, out, diag);
}

enum vinci_status group_host_load(const char *name, const char *data_dir,
                                  struct group_description **out, struct vinci_diag *diag) {
  void *made = NULL;
  enum vinci_status status = description_open(&group_kind, name, data_dir, &made, diag);
  *out = made;
  return status;
}

enum vinci_status group_host_fit(struct group_description *group, const char *data_dir,
                                 uint32_t devices, struct vinci_diag *diag) {
  vinci_soc *soc = NULL;
  enum vinci_status status = vinci_soc_load(group->chip, data_dir, &soc, diag);
  if (status == VINCI_OK)
    status = group_host_fit_chip(group, soc, devices, diag);
  vinci_soc_free(soc);
  return status;
}

enum vinci_status group_host_fit_chip(struct group_description *group, const vinci_soc *soc,
                                      uint32_t devices, struct vinci_diag *diag) {
  group->system.devices = devices;
  group->system.hbm_rate = soc_hbm_bytes_per_second(soc);
  group->system.hbm_bytes = (uint64_t)soc->hbm_bytes;
  group->system.l2_bytes = (uint64_t)soc->l2_bytes;
  return group_system_check(&group->system, diag);
}

bool group_host_has(const struct group_description *group, const char *key) {
  for (size_t i = 0; i < group->number_count; i++)
    if (strcmp(group->numbers[i].key, key) == 0)
      return true;
  return false;
}

uint64_t group_host_digest(const struct group_description *group) {
  uint64_t digest = digest_word(DIGEST_SEED, group->system.devices);
  digest = digest_word(digest_word(digest, group->system.hbm_rate), group->system.l2_bytes);
  for (size_t i = 0; i < group->number_count; i++)
    digest = digest_word(digest_string(digest, group->numbers[i].key), *group->numbers[i].value);
  return digest;
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

enum vinci_status group_host_open(const char *name, const char *data_dir, const char *const *sets,
                                  size_t set_count, uint32_t devices,
                                  struct group_description **out, struct vinci_diag *diag) {
  enum vinci_status status = group_host_load(name, data_dir, out, diag);
  for (size_t i = 0; status == VINCI_OK && i < set_count; i++)
    status = group_host_set(*out, sets[i], diag);
  return status == VINCI_OK ? group_host_fit(*out, data_dir, devices, diag) : status;
}

enum vinci_status group_opening_find(void *context, const char *name, uint32_t devices,
                                     const struct group_system **out, const vinci_soc **soc,
                                     struct vinci_diag *diag) {
  struct group_opening *opening = context;
  const char *wanted = opening->system ? opening->system : name;
  if (!wanted) {
    (void)diag_error(diag, VINCI_E_USAGE, "the job names no system of devices");
    diag_hint(diag, "give the option system, or system=NAME in the row job");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = group_host_open(wanted, opening->data, opening->sets,
                                             opening->set_count, devices, &opening->group, diag);
  if (status == VINCI_OK && soc)
    status = vinci_soc_load(opening->group->chip, opening->data, &opening->soc, diag);
  if (status != VINCI_OK)
    return status;
  *out = &opening->group->system;
  if (soc)
    *soc = opening->soc;
  return VINCI_OK;
}

void group_opening_free(struct group_opening *opening) {
  group_host_free(opening->group);
  opening->group = NULL;
  vinci_soc_free(opening->soc);
  opening->soc = NULL;
}
