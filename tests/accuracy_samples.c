/* SPDX-License-Identifier: Apache-2.0 */
/* `make accuracy`, whole kernels: the vector-add samples of a real 910B4, as a table. */
#include <math.h>
#include <stdlib.h>

#include "tests/samples.h"

/* How near the cycle model is to come. */
static const double duration_limit = 0.08, speed_up_limit = 0.10;

static int verdict(double error, double limit) {
  int missed = fabs(error) > limit;
  printf("  %+6.1f %%  within %.0f %%: %s\n", error * 100, limit * 100, missed ? "NO" : "yes");
  return missed;
}

int main(void) {
  const char *source_folder = getenv("TESTS_SRCDIR");
  struct sample samples[SAMPLE_COUNT];
  samples_run(source_folder ? source_folder : ".", samples);
  int missed = 0;
  printf("Vector add of 80 Mi halves on 8 AIV cores, Ascend910B4 (tests/reference/"
         "vector_add_910b4.csv)\n%-32s %12s %12s\n",
         "sample", "measured us", "simulated us");
  for (unsigned i = 0; i < SAMPLE_COUNT; i++) {
    printf("%-32s %12.2f %12.2f", samples[i].trace, samples[i].duration_us,
           sample_duration_us(&samples[i]));
    missed += verdict(sample_error(&samples[i]), duration_limit);
  }
  printf("%-32s %12s %12s\n", "change", "speed-up", "speed-up");
  for (unsigned i = 0; i < SPEED_UP_COUNT; i++) {
    double measured = speed_up_measured(samples, &sample_speed_ups[i]);
    double simulated = speed_up_simulated(samples, &sample_speed_ups[i]);
    printf("%-32s %12.2f %12.2f", sample_speed_ups[i].what, measured, simulated);
    missed += verdict(simulated / measured - 1, speed_up_limit);
  }
  samples_free(samples);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
