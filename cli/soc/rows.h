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

/* What `vinci soc show` shows. */
struct soc_shown {
  bool all;                /* also the optional numbers that the description does not give */
  const char *const *keys; /* these numbers and names alone, given or not; a group such as l2 or
                            * path.GM_L1 is all of its keys */
  size_t key_count;        /* 0: everything */
};

/* Errors: VINCI_E_USAGE when a key is neither a number, nor a name, nor a group of these. */
VINCI_MUST_CHECK enum vinci_status
soc_shown_check(const vinci_soc *soc, const struct soc_shown *shown, struct vinci_diag *diag);
void soc_show_text(const vinci_soc *soc, const struct soc_shown *shown);
void soc_show_json(const vinci_soc *soc, const struct soc_shown *shown);

#endif
