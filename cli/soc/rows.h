/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a SoC as the commands of `vinci soc` print them. */
#ifndef VINCI_CLI_SOC_ROWS_H
#define VINCI_CLI_SOC_ROWS_H

#include "core/chip/soc_numbers.h"

enum { SOC_VALUE_TEXT = 64 };

/* The value with its unit; `vinci run --set` accepts this form. */
void soc_row_value(const struct soc_number *row, char *buffer, size_t size);

/* How many numbers are known how well; overrides are left out. */
struct soc_shares {
  unsigned count[CONFIDENCE_COUNT];
  unsigned total;
};

struct soc_shares soc_shares_count(const vinci_soc *soc);
unsigned soc_percent(unsigned part, unsigned whole);

/* `vinci soc show`; all: also the optional numbers that the description does not give. */
void soc_show_text(const vinci_soc *soc, bool all);
void soc_show_json(const vinci_soc *soc);

#endif
