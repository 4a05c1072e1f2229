/* SPDX-License-Identifier: Apache-2.0 */
/* All that an override reaches, by its key. */
#include "core/chip/soc_numbers.h"

#include <stdio.h>
#include <string.h>

/* The descriptions that have numbers, in their order. */
enum part { OWN, MEMORY, ENERGY, PARTS };
static const char *const prefixes[PARTS] = {"", "memory.", "energy."};

static size_t count_of(const struct vinci_soc *soc, enum part part) {
  if (part == OWN)
    return soc_param_count();
  if (part == MEMORY)
    return soc->memory ? mem_param_count() : 0;
  return soc->energy ? ENERGY_NUMBERS : 0;
}

size_t soc_number_count(const struct vinci_soc *soc) {
  return count_of(soc, OWN) + count_of(soc, MEMORY) + count_of(soc, ENERGY);
}

/* A key behind its prefix, as far as there is room. */
static void put_key(struct soc_number *number, const char *prefix, const char *key) {
  size_t before = strlen(prefix), length = strlen(key), room = sizeof number->key - 1 - before;
  memcpy(number->key, prefix, before);
  memcpy(number->key + before, key, length < room ? length : room);
}

struct soc_number soc_number_at(const struct vinci_soc *soc, size_t index) {
  struct soc_number number;
  size_t own = soc_param_count(), behind = own + count_of(soc, MEMORY);
  enum part part = index < own ? OWN : index < behind ? MEMORY : ENERGY;
  if (part == OWN) {
    number = (struct soc_number){.param = soc_param(index),
                                 .provenance = &soc->provenance[index],
                                 .value = soc_get(soc, index)};
  } else if (part == MEMORY) {
    index -= own;
    number = (struct soc_number){.param = mem_param(index),
                                 .provenance = &soc->memory->provenance[index],
                                 .value = mem_get(soc->memory, index)};
  } else {
    index -= behind;
    number = (struct soc_number){.param = energy_param(index),
                                 .provenance = &soc->energy->provenance[index],
                                 .value = soc->energy->value[index],
                                 .ranged = true,
                                 .low = soc->energy->low[index],
                                 .high = soc->energy->high[index]};
  }
  put_key(&number, prefixes[part], number.param->key);
  return number;
}

static size_t find_in(enum part part, const char *key) {
  return part == OWN      ? soc_param_find(key)
         : part == MEMORY ? mem_param_find(key)
                          : energy_find(key);
}

bool soc_number_find(const struct vinci_soc *soc, const char *key, struct soc_number *out) {
  size_t before = 0;
  for (unsigned part = 0; part < PARTS; part++) {
    size_t count = count_of(soc, (enum part)part), length = strlen(prefixes[part]);
    size_t found =
        strncmp(key, prefixes[part], length) == 0 ? find_in((enum part)part, key + length) : count;
    if (found < count) {
      *out = soc_number_at(soc, before + found);
      return true;
    }
    before += count;
  }
  return false;
}

bool soc_setting_text(const struct vinci_soc *soc, const char *key, char *buffer, size_t size) {
  struct soc_number number;
  enum soc_name name = soc_name_by_key(key);
  if (name != SOC_NAME_COUNT)
    snprintf(buffer, size, "%s", soc->choices[name].name);
  else if (soc_number_find(soc, key, &number))
    soc_format_value(number.value, number.param->kind, buffer, size);
  else if (strcmp(key, "energy") == 0)
    snprintf(buffer, size, "%s", soc->energy ? "on" : "off");
  else if (strncmp(key, prefixes[ENERGY], strlen(prefixes[ENERGY])) == 0 &&
           energy_find(key + strlen(prefixes[ENERGY])) < ENERGY_NUMBERS)
    snprintf(buffer, size, "not loaded");
  else
    return false;
  return true;
}
