/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: energy. An account that a run keeps only when it is asked for, from counts of the run and
 * energies of the chip's description. Every energy has an interval: all numbers of
 * the description at the low ends of their ranges, and all at the high ends.
 *
 *     struct vinci_energy energy;
 *     if (vinci_soc_load_energy(soc, &diag) == VINCI_OK &&
 *         vinci_run(soc, trace, NULL, &result, &diag) == VINCI_OK &&
 *         vinci_result_energy(result, &energy))
 *       printf("%" PRIu64 " pJ\n", energy.pj);
 */
#ifndef VINCI_ENERGY_H
#define VINCI_ENERGY_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Picojoules: a value, and what it lies between. */
struct vinci_energy {
  uint64_t pj, low_pj, high_pj;
};

/* Runs on this chip keep an account from now on. VINCI_E_USAGE for a chip of which no energies are
 * known. So do runs after vinci_soc_set() of a number energy.*. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_soc_load_energy(vinci_soc *soc,
                                                                   struct vinci_diag *diag);
/* False, and zeros, for a result without an account. */
VINCI_API bool vinci_result_energy(const vinci_result *result, struct vinci_energy *out);

/* What an energy is made of: parts that add up to the whole. */
struct vinci_energy_part {
  const char *name; /* "cube", "memory" ... */
  const char *text; /* in a few words */
  struct vinci_energy energy;
};
VINCI_API size_t vinci_energy_part_count(void);
/* False behind the last part, and for a result without an account. */
VINCI_API bool vinci_result_energy_part(const vinci_result *result, size_t index,
                                        struct vinci_energy_part *out);

#ifdef __cplusplus
}
#endif

#endif
