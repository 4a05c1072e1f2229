/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter table of a memory technology: access by key, overrides, cross-checks. */
#include "core/chip/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"

enum { BANKS_MAX = 32 };

static const struct soc_param params[] = {
#define PARAM(field, key, kind, minimum, maximum, text)                                            \
  {key, SOC_KIND_##kind, offsetof(struct mem_spec, field), minimum, maximum, false, text},
#include "core/chip/mem.def"
#undef PARAM
};
enum { PARAM_COUNT = sizeof params / sizeof params[0] };
_Static_assert((int)PARAM_COUNT <= (int)MEM_PARAMS_MAX, "MEM_PARAMS_MAX is too small");

size_t mem_param_count(void) { return PARAM_COUNT; }

const struct soc_param *mem_param(size_t index) { return &params[index]; }

size_t mem_param_find(const char *key) {
  size_t i = 0;
  while (i < PARAM_COUNT && strcmp(params[i].key, key) != 0)
    i++;
  return i;
}

int64_t mem_get(const struct mem_spec *mem, size_t index) {
  int64_t value;
  memcpy(&value, (const char *)mem + params[index].offset, sizeof value);
  return value;
}

enum vinci_status mem_store(struct mem_spec *mem, size_t index, int64_t value,
                            struct soc_provenance provenance, struct vinci_diag *diag) {
  const struct soc_param *param = &params[index];
  enum vinci_status status = soc_param_check(param, value, diag);
  if (status != VINCI_OK)
    return status;
  memcpy((char *)mem + param->offset, &value, sizeof value);
  provenance.given = true;
  mem->provenance[index] = provenance;
  return VINCI_OK;
}

static const char *key_at(const void *context, size_t index) {
  (void)context;
  return params[index].key;
}

enum vinci_status mem_set(struct mem_spec *mem, const char *assignment, struct vinci_diag *diag) {
  const char *equals = strchr(assignment, '=');
  if (!equals) {
    (void)diag_error(diag, VINCI_E_USAGE, "override '%s' has no value", assignment);
    diag_hint(diag, "write key=value, for example timing.RP=15");
    return VINCI_E_USAGE;
  }
  char *key = arena_strndup(&mem->arena, assignment, (size_t)(equals - assignment));
  if (!key)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  size_t index = mem_param_find(key);
  if (index == PARAM_COUNT) {
    (void)diag_error(diag, VINCI_E_USAGE, "unknown parameter '%s' of a memory", key);
    const char *nearest = diag_nearest(key, PARAM_COUNT, key_at, NULL);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    return VINCI_E_USAGE;
  }
  int64_t value;
  enum vinci_status status = soc_parse_value(equals + 1, params[index].kind, &value, diag);
  if (status != VINCI_OK)
    return status;
  struct soc_provenance provenance = {
      .source = "override", .note = "", .confidence = CONFIDENCE_ASSUMED, .overridden = true};
  return mem_store(mem, index, value, provenance, diag);
}

static bool is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static enum vinci_status check_geometry(const struct mem_spec *mem, struct vinci_diag *diag) {
  if (!is_power_of_two(mem->groups) || !is_power_of_two(mem->banks_per_group))
    return diag_error(diag, VINCI_E_USAGE,
                      "%s: bank groups and banks of a group must be powers of two", mem->name);
  if (!is_power_of_two(mem->columns) || !is_power_of_two(mem->burst_bytes))
    return diag_error(diag, VINCI_E_USAGE,
                      "%s: bursts of a row and bytes of a burst must be powers of two", mem->name);
  if (mem->pseudo_channels * mem->groups * mem->banks_per_group > BANKS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "%s: more than %d banks behind one controller",
                      mem->name, BANKS_MAX);
  if (mem->stack_channels % mem->pseudo_channels != 0)
    return diag_error(diag, VINCI_E_USAGE,
                      "%s: the stack does not divide into controllers of %d pseudo-channels",
                      mem->name, (int)mem->pseudo_channels);
  return VINCI_OK;
}

enum vinci_status mem_validate(const struct mem_spec *mem, struct vinci_diag *diag) {
  enum vinci_status status = check_geometry(mem, diag);
  if (status != VINCI_OK)
    return status;
  if (mem->rp_cycles < mem->act_bus_cycles || mem->rfc_cycles < mem->act_bus_cycles)
    return diag_error(diag, VINCI_E_USAGE,
                      "%s: timing.RP or timing.RFC is shorter than an ACT on the bus", mem->name);
  if (mem->drain_low > mem->drain_high)
    return diag_error(diag, VINCI_E_USAGE,
                      "%s: controller.drain_low is above controller.drain_high", mem->name);
  if (mem->refi_cycles > 0 && mem->refi_cycles <= 2 * mem->rfc_cycles)
    return diag_error(diag, VINCI_E_USAGE, "%s: timing.REFI leaves no time beside timing.RFC",
                      mem->name);
  return VINCI_OK;
}

const char *mem_map_text(const struct mem_spec *mem, const char *name) {
  for (size_t i = 0; i < mem->map_count; i++)
    if (strcmp(mem->maps[i].name, name) == 0)
      return mem->maps[i].text;
  return NULL;
}

void mem_free(struct mem_spec *mem) {
  if (mem)
    arena_free(&mem->arena);
}

static bool copy_text(struct arena *arena, const char **text) {
  if (*text)
    *text = arena_strdup(arena, *text);
  return *text != NULL;
}

struct mem_spec *mem_copy(const struct mem_spec *mem) {
  struct mem_spec *copy = malloc(sizeof *copy);
  if (!copy)
    return NULL;
  *copy = *mem;
  copy->arena = (struct arena){0};
  bool ok = copy_text(&copy->arena, &copy->description);
  for (size_t i = 0; ok && i < copy->map_count; i++)
    ok = copy_text(&copy->arena, &copy->maps[i].name) &&
         copy_text(&copy->arena, &copy->maps[i].text);
  ok = ok && soc_copy_sources(&copy->arena, &copy->sources, copy->source_count);
  ok = ok && soc_copy_provenance(&copy->arena, copy->provenance, mem_param_count());
  if (ok)
    return copy;
  mem_free(copy);
  free(copy);
  return NULL;
}
