/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a SoC as rows: its own, then those of its memory technology. */
#include "cli/soc_rows.h"

#include <stdio.h>
#include <string.h>

enum { PERCENT = 100 };

size_t soc_row_count(const vinci_soc *soc) {
  return soc_param_count() + (soc->memory ? mem_param_count() : 0);
}

struct soc_row soc_row_at(const vinci_soc *soc, size_t index) {
  size_t own = soc_param_count();
  struct soc_row row;
  if (index < own)
    row = (struct soc_row){.param = soc_param(index),
                           .provenance = &soc->provenance[index],
                           .value = soc_get(soc, index)};
  else
    row = (struct soc_row){.param = mem_param(index - own),
                           .provenance = &soc->memory->provenance[index - own],
                           .value = mem_get(soc->memory, index - own)};
  snprintf(row.key, sizeof row.key, "%s%s", index < own ? "" : "memory.", row.param->key);
  return row;
}

struct soc_shares soc_shares_count(const vinci_soc *soc) {
  struct soc_shares shares = {0};
  for (size_t i = 0; i < soc_row_count(soc); i++) {
    const struct soc_provenance *provenance = soc_row_at(soc, i).provenance;
    if (!provenance->given || provenance->overridden)
      continue;
    shares.count[provenance->confidence]++;
    shares.total++;
  }
  return shares;
}

unsigned soc_percent(unsigned part, unsigned whole) {
  return whole ? (part * PERCENT + whole / 2) / whole : 0;
}

void soc_row_value(const struct soc_row *row, char *buffer, size_t size) {
  enum soc_kind kind = row->param->kind;
  soc_format_value(row->value, kind, buffer, size);
  bool bare =
      kind == SOC_KIND_CYCLES || kind == SOC_KIND_MCYCLES || kind == SOC_KIND_MBYTES_PER_CYCLE;
  size_t length = strlen(buffer);
  if (bare && length < size)
    snprintf(buffer + length, size - length, " %s", soc_kind_unit(kind));
}

int text_widest(int width, const char *text) {
  int length = (int)strlen(text);
  return length > width ? length : width;
}
