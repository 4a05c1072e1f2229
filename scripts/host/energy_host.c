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

static struct energy_spec *made_of(struct description *description) { return description->made; }

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return energy_param(index)->key;
}

static void store_number(struct description *description, const char *key,
                         const struct sandbox_number *number) {
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
  struct soc_provenance provenance = {.source = description_keep(description, number->source->id),
                                      .note = description_keep(description, number->note),
                                      .confidence = (uint8_t)number->confidence};
  struct vinci_diag range = {0};
  if (energy_store(made_of(description), index, sandbox_scale(box, key, number, kind),
                   sandbox_scale(box, key, &low, kind), sandbox_scale(box, key, &high, kind),
                   provenance, &range) != VINCI_OK)
    sandbox_refuse(box, number->line, NULL, "%s", range.text);
}

static void take_text(struct description *description, const char *field, const char *text) {
  (void)field;
  made_of(description)->description = description_keep(description, text);
}

static void take_table(struct description *description, const char *field) {
  description_numbers(description, field, NULL);
}

static void check_complete(struct description *description) {
  struct sandbox *box = &description->box;
  struct energy_spec *energy = made_of(description);
  for (size_t i = 0; i < ENERGY_NUMBERS; i++)
    if (!energy->provenance[i].given)
      sandbox_refuse(box, 0, NULL, "the number '%s' is missing", energy_param(i)->key);
  energy->sources = box->sources;
  energy->source_count = box->source_count;
}

static void begin(struct description *description) {
  struct energy_spec *energy = made_of(description);
  if (strlen(description->name) >= sizeof energy->name)
    sandbox_refuse(&description->box, 0, NULL, "the name is too long");
  strcpy(energy->name, description->name);
  energy->description = "";
  description->box.ranges = true;
}

static struct arena *kept(struct description *description) { return &made_of(description)->arena; }

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
    .bytes = sizeof(struct energy_spec),
    .release = release};

void energy_host_free(struct energy_spec *energy) {
  energy_free(energy);
  free(energy);
}

enum vinci_status energy_host_load(const char *name, const char *data_dir, struct energy_spec **out,
                                   struct vinci_diag *diag) {
  void *made = NULL;
  enum vinci_status status = description_open(&energy_kind, name, data_dir, &made, diag);
  *out = made;
  return status;
}
