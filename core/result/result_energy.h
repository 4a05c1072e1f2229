/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of energy: how often each event of core/chip/energy.def has happened, times its
 * price. Counts add up over kernels, devices and jobs. Prices come last, so that the interval of a
 * sum is that of its parts.
 */
#ifndef VINCI_CORE_RESULT_ENERGY_H
#define VINCI_CORE_RESULT_ENERGY_H

#include "core/base/arith.h"
#include "core/chip/energy.h"
#include "core/result/result.h"
#include "core/vinci_energy.h"

/* Events; of powers picoseconds, for each thing that is there. */
struct energy_counts {
  uint64_t of[ENERGY_COUNT];
};

/* What the cores, L2, network and memory of a run have done, and what they took while they had
 * blocks. */
void energy_count_work(const struct vinci_result *result, struct energy_counts *counts);
/* What a chip takes in a time whatever it does: idle and static powers, refreshes. */
void energy_count_time(const struct vinci_soc *soc, uint64_t time_ps, struct energy_counts *counts);
void energy_add(struct energy_counts *sum, const struct energy_counts *counts);

/* One number's share of an energy, in fJ. */
struct energy_sum {
  uint128 fj, low_fj, high_fj;
};
struct energy_sum energy_of(const struct energy_spec *spec, const struct energy_counts *counts,
                            enum energy_number number);
/* Picojoules of a part, rounded: value to the nearest, low down, high up. */
struct vinci_energy energy_part(const struct energy_spec *spec, const struct energy_counts *counts,
                                enum energy_part part);
/* The sum of the parts as they are rounded. */
struct vinci_energy energy_total(const struct energy_spec *spec,
                                 const struct energy_counts *counts);
void energy_join(struct vinci_energy *sum, struct vinci_energy more);

/* Both counts of a run; false for a result without an account. */
bool energy_counts_of(const struct vinci_result *result, struct energy_counts *counts);

/* Milliwatts of an energy in a time; 0 in no time. */
uint64_t energy_mw(uint64_t pj, uint64_t time_ps);
/* The share of a sum that comes from numbers of one confidence, in millionths; overridden numbers
 * count as none of them. */
uint64_t energy_share_ppm(const struct energy_spec *spec, const struct energy_counts *counts,
                          enum confidence confidence);
/* Multiply-accumulates of the cubes, all types. */
uint64_t energy_macs(const struct energy_counts *counts);

#endif
