/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a SoC as the commands of `vinci soc` print them. */
#ifndef VINCI_CLI_SOC_ROWS_H
#define VINCI_CLI_SOC_ROWS_H

#include "core/mem.h"
#include "core/soc.h"

enum { SOC_KEY_TEXT = 80, SOC_VALUE_TEXT = 64 };

/* A number of a SoC or, behind those, of its memory technology. */
struct soc_row {
  char key[SOC_KEY_TEXT]; /* as `vinci run --set` takes it */
  const struct soc_param *param;
  const struct soc_provenance *provenance;
  int64_t value;
};

size_t soc_row_count(const vinci_soc *soc);
struct soc_row soc_row_at(const vinci_soc *soc, size_t index);
/* The value with its unit; `vinci run --set` accepts this form. */
void soc_row_value(const struct soc_row *row, char *buffer, size_t size);

/* How many numbers are known how well; overrides are left out. */
struct soc_shares {
  unsigned count[CONFIDENCE_COUNT];
  unsigned total;
};

struct soc_shares soc_shares_count(const vinci_soc *soc);
unsigned soc_percent(unsigned part, unsigned whole);
/* The width a column needs that is `width` wide so far. */
int text_widest(int width, const char *text);

/* `vinci soc show`; all: also the optional numbers that the description does not give. */
void soc_show_text(const vinci_soc *soc, bool all);
void soc_show_json(const vinci_soc *soc);

#endif
