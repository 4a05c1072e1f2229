/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts of energy as tables for people and keys for scripts: of kernels, networks and jobs. */
#ifndef VINCI_TRACES_EXPORT_REPORT_ENERGY_H
#define VINCI_TRACES_EXPORT_REPORT_ENERGY_H

#include "core/result/result_energy.h"
#include "traces/export/export.h"

/* An energy with a unit that fits: "1.23 mJ". */
struct decimal energy_text(uint64_t pj);
/* Headline, a row for each part that is not 0, how well they are known. time_ps: that
 * of the energy. */
void energy_print(const struct energy_spec *spec, const struct energy_counts *counts,
                  uint64_t time_ps, FILE *out);
/* The key "energy". */
void energy_json(struct json_writer *json, const struct energy_spec *spec,
                 const struct energy_counts *counts, uint64_t time_ps);

#endif
