/* SPDX-License-Identifier: Apache-2.0 */
/* All that an override reaches, by its key. */
#include "core/chip/soc_numbers.h"

#include <stdio.h>
#include <string.h>

size_t soc_number_count(const struct vinci_soc *soc) {
  return soc_param_count() + (soc->memory ? mem_param_count() : 0);
}

/* A key behind its prefix, as far as there is room. */
static void put_key(struct soc_number *number, const char *prefix, const char *key) {
  size_t before = strlen(prefix), length = strlen(key), room = sizeof number->key - 1 - before;
  memcpy(number->key, prefix, before);
  memcpy(number->key + before, key, length < room ? length : room);
}

struct soc_number soc_number_at(const struct vinci_soc *soc, size_t index) {
  size_t own = soc_param_count();
  struct soc_number number;
  if (index < own)
    number = (struct soc_number){.param = soc_param(index),
                                 .provenance = &soc->provenance[index],
                                 .value = soc_get(soc, index)};
  else
    number = (struct soc_number){.param = mem_param(index - own),
                                 .provenance = &soc->memory->provenance[index - own],
                                 .value = mem_get(soc->memory, index - own)};
  put_key(&number, index < own ? "" : "memory.", number.param->key);
  return number;
}

bool soc_number_find(const struct vinci_soc *soc, const char *key, struct soc_number *out) {
  static const char prefix[] = "memory.";
  size_t index = soc_param_find(key), own = soc_param_count();
  if (index == own) {
    if (!soc->memory || strncmp(key, prefix, sizeof prefix - 1) != 0)
      return false;
    index += mem_param_find(key + sizeof prefix - 1);
  }
  if (index == soc_number_count(soc))
    return false;
  *out = soc_number_at(soc, index);
  return true;
}

bool soc_setting_text(const struct vinci_soc *soc, const char *key, char *buffer, size_t size) {
  struct soc_number number;
  enum soc_name name = soc_name_by_key(key);
  if (name != SOC_NAME_COUNT)
    snprintf(buffer, size, "%s", soc->choices[name].name);
  else if (soc_number_find(soc, key, &number))
    soc_format_value(number.value, number.param->kind, buffer, size);
  else
    return false;
  return true;
}
