/* SPDX-License-Identifier: Apache-2.0 */
/* The table of energies: access by key, overrides, copies. */
#include "core/chip/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"

enum { NOTE_BYTES = 160, VALUE_BYTES = 48 };
/* A millijoule an event and a megawatt catch slips of the pen, and keep all sums below 128 bits. */
#define EVENT_MAX INT64_C(1000000000000)
#define POWER_MAX INT64_C(1000000000)

#define AT(id) (offsetof(struct energy_spec, value) + ENERGY_##id * sizeof(int64_t))
static const struct soc_param params[ENERGY_NUMBERS] = {
#define EVENT(id, key, part, text)                                                                 \
  [ENERGY_##id] = {key, SOC_KIND_ENERGY, AT(id), 0, EVENT_MAX, false, text},
#define POWER(id, key, part, text)                                                                 \
  [ENERGY_##id] = {key, SOC_KIND_POWER, AT(id), 0, POWER_MAX, false, text},
#define TAKEN(id, key, kind, maximum, text)                                                        \
  [ENERGY_##id] = {key, SOC_KIND_##kind, AT(id), 1, maximum, false, text},
#include "core/chip/energy.def"
};

static const struct {
  enum energy_part part;
  bool power;
} priced[ENERGY_COUNT] = {
#define EVENT(id, key, part, text) [ENERGY_##id] = {ENERGY_PART_##part, false},
#define POWER(id, key, part, text) [ENERGY_##id] = {ENERGY_PART_##part, true},
#include "core/chip/energy.def"
};

const struct soc_param *energy_param(size_t index) { return &params[index]; }

size_t energy_find(const char *key) {
  size_t i = 0;
  while (i < ENERGY_NUMBERS && strcmp(params[i].key, key) != 0)
    i++;
  return i;
}

enum energy_part energy_part_of(enum energy_number number) { return priced[number].part; }

bool energy_is_power(enum energy_number number) { return priced[number].power; }

const char *energy_part_key(enum energy_part part) {
  static const char *const keys[] = {
#define X(id, key, text) key,
      ENERGY_PARTS(X)
#undef X
  };
  return keys[part];
}

const char *energy_part_text(enum energy_part part) {
  static const char *const texts[] = {
#define X(id, key, text) text,
      ENERGY_PARTS(X)
#undef X
  };
  return texts[part];
}

enum vinci_status energy_store(struct energy_spec *energy, size_t index, int64_t value, int64_t low,
                               int64_t high, struct soc_provenance provenance,
                               struct vinci_diag *diag) {
  const int64_t values[] = {value, low, high};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    enum vinci_status status = soc_param_check(&params[index], values[i], diag);
    if (status != VINCI_OK)
      return status;
  }
  if (low > value || high < value)
    return diag_error(diag, VINCI_E_USAGE, "%s: the value is outside its own range",
                      params[index].key);
  energy->value[index] = value;
  energy->low[index] = low;
  energy->high[index] = high;
  provenance.given = true;
  energy->provenance[index] = provenance;
  return VINCI_OK;
}

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return params[index].key;
}

static enum vinci_status unknown_key(const char *key, struct vinci_diag *diag) {
  (void)diag_error(diag, VINCI_E_USAGE, "unknown energy '%s'", key);
  const char *nearest = diag_nearest(key, ENERGY_NUMBERS, key_at, NULL);
  if (nearest)
    diag_hint(diag, "did you mean 'energy.%s'?", nearest);
  else
    diag_hint(diag, "`vinci soc show CHIP --energy` lists all of them");
  return VINCI_E_USAGE;
}

/* What the description says, for the note of an override. */
static const char *note_of(struct energy_spec *energy, size_t index) {
  const struct soc_provenance *old = &energy->provenance[index];
  char value[VALUE_BYTES], note[NOTE_BYTES];
  if (old->overridden)
    return old->note;
  soc_format_value(energy->value[index], params[index].kind, value, sizeof value);
  snprintf(note, sizeof note, "instead of %s (%s, %.40s)", value,
           confidence_name((enum confidence)old->confidence), old->source);
  return arena_strdup(&energy->arena, note);
}

enum vinci_status energy_set(struct energy_spec *energy, const char *assignment,
                             struct vinci_diag *diag) {
  const char *equals = strchr(assignment, '=');
  if (!equals) {
    (void)diag_error(diag, VINCI_E_USAGE, "override '%s' has no value", assignment);
    diag_hint(diag, "write key=value, for example energy.mac.fp16=400fJ");
    return VINCI_E_USAGE;
  }
  char *key = arena_strndup(&energy->arena, assignment, (size_t)(equals - assignment));
  if (!key)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  size_t index = energy_find(key);
  if (index == ENERGY_NUMBERS)
    return unknown_key(key, diag);
  int64_t value;
  enum vinci_status status = soc_parse_value(equals + 1, params[index].kind, &value, diag);
  if (status != VINCI_OK)
    return status;
  const char *note = note_of(energy, index);
  if (!note)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  struct soc_provenance provenance = {
      .source = "override", .note = note, .confidence = CONFIDENCE_ASSUMED, .overridden = true};
  return energy_store(energy, index, value, value, value, provenance, diag);
}

uint64_t energy_digest(const struct energy_spec *energy, uint64_t digest) {
  digest = digest_bytes(digest, energy->value, sizeof energy->value);
  digest = digest_bytes(digest, energy->low, sizeof energy->low);
  return digest_bytes(digest, energy->high, sizeof energy->high);
}

void energy_free(struct energy_spec *energy) {
  if (energy)
    arena_free(&energy->arena);
}

static bool copy_text(struct arena *arena, const char **text) {
  *text = arena_strdup(arena, *text);
  return *text != NULL;
}

struct energy_spec *energy_copy(const struct energy_spec *energy) {
  struct energy_spec *copy = malloc(sizeof *copy);
  if (!copy)
    return NULL;
  *copy = *energy;
  copy->arena = (struct arena){0};
  bool ok = copy_text(&copy->arena, &copy->description) &&
            soc_copy_sources(&copy->arena, &copy->sources, copy->source_count);
  ok = ok && soc_copy_provenance(&copy->arena, copy->provenance, ENERGY_NUMBERS);
  if (ok)
    return copy;
  energy_free(copy);
  free(copy);
  return NULL;
}
