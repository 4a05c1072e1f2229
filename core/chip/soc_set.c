/* SPDX-License-Identifier: Apache-2.0 */
/* What-if: overrides of the numbers of a SoC, of the descriptions that it names, and of names. */
#include "core/chip/soc.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/chip/energy.h"
#include "core/chip/mem.h"
#include "core/chip/soc_numbers.h"
#include "core/vinci_energy.h"

enum { VALUE_TEXT = 48 };

/* The note of an override: what the description says. */
static char *override_note(struct vinci_soc *soc, size_t index) {
  const struct soc_provenance *old = &soc->provenance[index];
  if (old->overridden)
    return arena_strdup(&soc->arena, old->note);
  if (!old->given)
    return arena_strdup(&soc->arena, "not given in the description");
  char value[VALUE_TEXT], note[2 * VALUE_TEXT + 64];
  soc_format_value(soc_get(soc, index), soc_param(index)->kind, value, sizeof value);
  snprintf(note, sizeof note, "instead of %s (%s, %.40s)", value,
           confidence_name((enum confidence)old->confidence), old->source);
  return arena_strdup(&soc->arena, note);
}

/* Keys of other descriptions than the SoC's own: of its memory technology, of its topology. */
static const char memory_prefix[] = "memory.";
static const char network_prefix[] = "noc.";
static const char energy_prefix[] = "energy.";

static bool is_overridden(const struct soc_provenance *provenance, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (provenance[i].overridden)
      return true;
  return false;
}

/* Whether the description behind a name has been changed. */
static bool has_overrides(const struct vinci_soc *soc, enum soc_name name) {
  if (name == SOC_MEMORY)
    return is_overridden(soc->memory->provenance, mem_param_count());
  return name == SOC_ENERGY && soc->energy &&
         is_overridden(soc->energy->provenance, ENERGY_NUMBERS);
}

/* Lets another description stand behind a name; a failure leaves the one there was. */
static enum vinci_status set_name(struct vinci_soc *soc, enum soc_name name, const char *value,
                                  struct vinci_diag *diag) {
  struct soc_choice *choice = &soc->choices[name], old = *choice;
  if (!soc->load_named)
    return diag_error(diag, VINCI_E_USAGE, "%s: this SoC comes from no description files",
                      soc_name_key(name));
  if (strlen(value) >= sizeof choice->name)
    return diag_error(diag, VINCI_E_USAGE, "%s: the name is too long", soc_name_key(name));
  if (has_overrides(soc, name)) {
    const char *what = name == SOC_MEMORY ? "memory" : "energy";
    (void)diag_error(diag, VINCI_E_USAGE, "another %s would undo the numbers %s.* set before", what,
                     what);
    diag_hint(diag, "set %s.name=%s first", what, value);
    return VINCI_E_USAGE;
  }
  *choice = (struct soc_choice){.overridden = true};
  strcpy(choice->name, value);
  enum vinci_status status = soc->load_named(soc, name, diag);
  if (status != VINCI_OK)
    *choice = old;
  return status;
}

enum vinci_status vinci_soc_load_energy(vinci_soc *soc, struct vinci_diag *diag) {
  if (soc->energy)
    return VINCI_OK;
  if (!soc->load_named)
    return diag_error(diag, VINCI_E_USAGE, "%s comes from no description files", soc->name);
  return soc->load_named(soc, SOC_ENERGY, diag);
}

/* "energy=on", which asks for the account as vinci_soc_load_energy() does, and "energy=off". */
static enum vinci_status switch_energy(struct vinci_soc *soc, const char *value,
                                       struct vinci_diag *diag) {
  if (strcmp(value, "on") == 0)
    return vinci_soc_load_energy(soc, diag);
  if (strcmp(value, "off") != 0)
    return diag_error(diag, VINCI_E_USAGE, "energy is 'on' or 'off', not '%s'", value);
  energy_free(soc->energy);
  free(soc->energy);
  soc->energy = NULL;
  return VINCI_OK;
}

static enum vinci_status set_energy(struct vinci_soc *soc, const char *assignment,
                                    struct vinci_diag *diag) {
  enum vinci_status status = vinci_soc_load_energy(soc, diag);
  return status == VINCI_OK ? energy_set(soc->energy, assignment, diag) : status;
}

static enum vinci_status assign(vinci_soc *soc, const char *assignment, struct vinci_diag *diag) {
  const char *equals = strchr(assignment, '=');
  if (!equals) {
    (void)diag_error(diag, VINCI_E_USAGE, "override '%s' has no value", assignment);
    diag_hint(diag, "write key=value, for example l2.size=96MiB");
    return VINCI_E_USAGE;
  }
  char *key = arena_strndup(&soc->arena, assignment, (size_t)(equals - assignment));
  if (!key)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum soc_name name = soc_name_by_key(key);
  if (name != SOC_NAME_COUNT)
    return set_name(soc, name, equals + 1, diag);
  if (soc->memory && strncmp(assignment, memory_prefix, sizeof memory_prefix - 1) == 0)
    return mem_set(soc->memory, assignment + sizeof memory_prefix - 1, diag);
  if (strcmp(key, "energy") == 0)
    return switch_energy(soc, equals + 1, diag);
  if (strncmp(assignment, energy_prefix, sizeof energy_prefix - 1) == 0)
    return set_energy(soc, assignment + sizeof energy_prefix - 1, diag);
  size_t index = soc_param_find(key);
  if (index == soc_param_count()) {
    (void)diag_error(diag, VINCI_E_USAGE, "unknown parameter '%s'", key);
    const char *nearest = soc_param_nearest(key);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else
      diag_hint(diag, "`vinci soc show %s` lists all parameters", soc->name);
    return VINCI_E_USAGE;
  }
  int64_t value;
  enum vinci_status status = soc_parse_value(equals + 1, soc_param(index)->kind, &value, diag);
  if (status != VINCI_OK)
    return status;
  const char *note = override_note(soc, index);
  if (!note)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  struct soc_provenance provenance = {
      .source = "override", .note = note, .confidence = CONFIDENCE_ASSUMED, .overridden = true};
  status = soc_store(soc, index, value, provenance, diag);
  if (status == VINCI_OK && soc->load_named &&
      strncmp(key, network_prefix, sizeof network_prefix - 1) == 0)
    status = soc->load_named(soc, SOC_TOPOLOGY, diag);
  return status;
}

/* An error of a value gets the name of its number: one of many assignments may be wrong. */
static void name_number(const vinci_soc *soc, const char *assignment, struct vinci_diag *diag) {
  size_t length = strcspn(assignment, "=");
  char key[SOC_KEY_MAX], text[sizeof diag->text];
  struct soc_number number;
  int64_t ignored;
  if (length >= sizeof key || !assignment[length])
    return;
  memcpy(key, assignment, length);
  key[length] = '\0';
  if (!soc_number_find(soc, key, &number) ||
      soc_parse_value(assignment + length + 1, number.param->kind, &ignored, NULL) == VINCI_OK)
    return;
  snprintf(text, sizeof text, "%s: %.900s", key, diag->text);
  strcpy(diag->text, text);
}

enum vinci_status vinci_soc_set(vinci_soc *soc, const char *assignment, struct vinci_diag *diag) {
  bool first = diag && diag->status == VINCI_OK; /* the first error stays as it is */
  enum vinci_status status = assign(soc, assignment, diag);
  if (status == VINCI_E_USAGE && first)
    name_number(soc, assignment, diag);
  return status;
}
