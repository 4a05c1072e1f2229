/* SPDX-License-Identifier: Apache-2.0 */
/* The vector-add samples measured on a real 910B4, and what the model makes of them. */
#ifndef VINCI_TESTS_SUPPORT_SAMPLES_H
#define VINCI_TESTS_SUPPORT_SAMPLES_H

#include "core/result/result.h"

enum { SAMPLE_COUNT = 4, SAMPLE_NAME_BYTES = 64 };

struct sample {
  char trace[SAMPLE_NAME_BYTES];
  double duration_us;         /* measured */
  uint64_t mte2_instructions; /* of one core */
  uint64_t mte3_instructions;
  vinci_result *result; /* simulated, owned */
};

/* Changes from one sample to another, as the vendor's examples present them. */
struct speed_up {
  const char *what;
  unsigned before, after; /* indices of samples */
};
enum { SPEED_UP_COUNT = 2 };
extern const struct speed_up sample_speed_ups[SPEED_UP_COUNT];

/* Reads tests/reference/vector_add_910b4.csv and runs traces/examples; ends the program when a
 * file is missing or a run fails. */
void samples_run(const char *source_folder, enum vinci_memory memory,
                 struct sample samples[SAMPLE_COUNT]);
void samples_free(struct sample samples[SAMPLE_COUNT]);
/* Simulated duration, and simulated over measured. */
double sample_duration_us(const struct sample *sample);
double sample_error(const struct sample *sample);
double speed_up_measured(const struct sample *samples, const struct speed_up *speed_up);
double speed_up_simulated(const struct sample *samples, const struct speed_up *speed_up);

#endif
