/* SPDX-License-Identifier: Apache-2.0 */
/* All that an override reaches, by its key: numbers of a SoC, of its memory technology and, when
 * these are loaded, of its energies; names. */
#ifndef VINCI_CORE_CHIP_SOC_NUMBERS_H
#define VINCI_CORE_CHIP_SOC_NUMBERS_H

#include "core/chip/energy.h"
#include "core/chip/mem.h"
#include "core/chip/soc.h"

enum { SOC_KEY_MAX = 80 };

/* A number of a SoC or, behind those, of its memory technology, then of its energies. */
struct soc_number {
  char key[SOC_KEY_MAX]; /* as in an override */
  const struct soc_param *param;
  const struct soc_provenance *provenance;
  int64_t value;
  bool ranged; /* of energies: the value lies in low to high */
  int64_t low, high;
};

size_t soc_number_count(const struct vinci_soc *soc);
struct soc_number soc_number_at(const struct vinci_soc *soc, size_t index);
/* Finds a number by its key; false when there is none. */
bool soc_number_find(const struct vinci_soc *soc, const char *key, struct soc_number *out);
/* What an override of that key would replace, a number or a name, as text it takes; false when
 * there is no such key. */
bool soc_setting_text(const struct vinci_soc *soc, const char *key, char *buffer, size_t size);

#endif
