/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads energy descriptions in the sandbox of the hardware descriptions (soc_lua.h): refuses every
 * number without unit, source, confidence and range, every unknown key and every missing number.
 */
#include "scripts/host/energy_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scripts/host/description.h"
#include "scripts/host/soc_files.h"

enum { HINT_BYTES = 128 };

struct loading {
  struct description description; /* first */
  struct energy_spec *energy;
};

static struct loading *loading_of(struct description *description) {
  return (struct loading *)description;
}

static char *keep(struct loading *loading, const char *text) {
  return description_checked(&loading->description, arena_strdup(&loading->energy->arena, text));
}

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return energy_param(index)->key;
}

static void store_number(struct description *description, const char *key,
                         const struct sandbox_number *number) {
  struct loading *loading = loading_of(description);
  struct sandbox *box = &description->box;
  size_t index = energy_find(key);
  if (index == ENERGY_NUMBERS) {
    char hint[HINT_BYTES];
    const char *nearest = diag_nearest(key, index, key_at, NULL);
    snprintf(hint, sizeof hint, "did you mean '%s'?", nearest ? nearest : "");
    sandbox_refuse(box, number->line, nearest ? hint : NULL, "unknown energy '%s'", key);
  }
  if (!number->ranged)
    sandbox_refuse(box, number->line,
                   "write num(value, \"unit\", \"source\", \"confidence\", \"note\", low, high)",
                   "%s: an energy needs a range", key);
  enum soc_kind kind = energy_param(index)->kind;
  struct sandbox_number low = *number, high = *number;
  low.amount = number->low;
  high.amount = number->high;
  struct soc_provenance provenance = {.source = keep(loading, number->source->id),
                                      .note = keep(loading, number->note),
                                      .confidence = (uint8_t)number->confidence};
  struct vinci_diag range = {0};
  if (energy_store(loading->energy, index, sandbox_scale(box, key, number, kind),
                   sandbox_scale(box, key, &low, kind), sandbox_scale(box, key, &high, kind),
                   provenance, &range) != VINCI_OK)
    sandbox_refuse(box, number->line, NULL, "%s", range.text);
}

static void take_text(struct description *description, const char *field, const char *text) {
  struct loading *loading = loading_of(description);
  (void)field;
  loading->energy->description = keep(loading, text);
}

static void take_table(struct description *description, const char *field) {
  description_numbers(description, field, NULL);
}

static void check_complete(struct description *description) {
  struct sandbox *box = &description->box;
  struct energy_spec *energy = loading_of(description)->energy;
  for (size_t i = 0; i < ENERGY_NUMBERS; i++)
    if (!energy->provenance[i].given)
      sandbox_refuse(box, 0, NULL, "the number '%s' is missing", energy_param(i)->key);
  energy->sources = box->sources;
  energy->source_count = box->source_count;
}

static void begin(struct description *description) {
  struct energy_spec *energy = loading_of(description)->energy;
  if (strlen(description->name) >= sizeof energy->name)
    sandbox_refuse(&description->box, 0, NULL, "the name is too long");
  strcpy(energy->name, description->name);
  energy->description = "";
  description->box.ranges = true;
}

static struct arena *kept(struct description *description) {
  return &loading_of(description)->energy->arena;
}

static enum vinci_status load(const char *folder, const char *name, void **out, bool *is_abstract,
                              struct vinci_diag *diag);
static void release(void *made) { energy_host_free(made); }
static const char *const texts[] = {"description", NULL};
static const struct description_kind energy_kind = {
    .folder = "energy",
    .word = "energy",
    .begin = begin,
    .kept = kept,
    .texts = texts,
    .text = take_text,
    .table = take_table,
    .number = store_number,
    .complete = check_complete,
    .noun = "energy description",
    .list = "the folder energy of the hardware descriptions has all",
    .load = load,
    .release = release};

void energy_host_free(struct energy_spec *energy) {
  energy_free(energy);
  free(energy);
}

/* Loads folder/energy/name.lua; *is_abstract tells whether it is only a base. */
static enum vinci_status load(const char *folder, const char *name, void **out, bool *is_abstract,
                              struct vinci_diag *diag) {
  struct loading loading = {.description = {.kind = &energy_kind, .folder = folder, .name = name}};
  loading.energy = calloc(1, sizeof *loading.energy);
  if (!loading.energy)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = description_load(&loading.description, diag);
  *is_abstract = loading.description.is_abstract;
  if (status == VINCI_OK)
    *out = loading.energy;
  else
    energy_host_free(loading.energy);
  return status;
}

enum vinci_status energy_host_load(const char *name, const char *data_dir, struct energy_spec **out,
                                   struct vinci_diag *diag) {
  void *made = NULL;
  enum vinci_status status = description_open(&energy_kind, name, data_dir, &made, diag);
  *out = made;
  return status;
}
