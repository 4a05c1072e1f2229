/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a chip for callers of the library (core/vinci_tables.h). */
#include "core/vinci_tables.h"

#include <stdio.h>

#include "core/chip/soc_numbers.h"

const char *vinci_soc_arch(const vinci_soc *soc) { return arch_name(soc->arch); }

vinci_soc *vinci_soc_copy(const vinci_soc *soc) { return soc_copy(soc); }

bool vinci_soc_number(const vinci_soc *soc, size_t index, struct vinci_soc_number *out) {
  if (index >= soc_number_count(soc))
    return false;
  const struct soc_number number = soc_number_at(soc, index);
  const enum soc_kind kind = number.param->kind;
  *out = (struct vinci_soc_number){
      .value = number.value,
      .scale = soc_kind_scale(kind),
      .unit = soc_kind_unit(kind),
      .text = number.param->text,
      .source = number.provenance->source,
      .note = number.provenance->note,
      .confidence = confidence_name((enum confidence)number.provenance->confidence),
  };
  snprintf(out->key, sizeof out->key, "%s", number.key);
  soc_format_value(number.value, kind, out->value_text, sizeof out->value_text);
  return true;
}
