/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a SoC as rows: its own, then those of its memory technology. */
#include "cli/soc/rows.h"

#include <stdio.h>
#include <string.h>

enum { PERCENT = 100 };

struct soc_shares soc_shares_count(const vinci_soc *soc) {
  struct soc_shares shares = {0};
  size_t count = soc_number_count(soc);
  for (size_t i = 0; i < count; i++) {
    const struct soc_provenance *provenance = soc_number_at(soc, i).provenance;
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

void soc_row_value(const struct soc_number *row, char *buffer, size_t size) {
  enum soc_kind kind = row->param->kind;
  soc_format_value(row->value, kind, buffer, size);
  bool bare =
      kind == SOC_KIND_CYCLES || kind == SOC_KIND_MCYCLES || kind == SOC_KIND_MBYTES_PER_CYCLE;
  size_t length = strlen(buffer);
  if (bare && length < size)
    snprintf(buffer + length, size - length, " %s", soc_kind_unit(kind));
}
