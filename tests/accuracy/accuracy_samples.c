/* SPDX-License-Identifier: Apache-2.0 */
/* `make accuracy`, whole kernels: the vector-add samples of a real 910B4, as a table. */
#include <math.h>
#include <stdlib.h>

#include "tests/accuracy/accuracy_exceptions.h"
#include "tests/support/samples.h"

static const double speed_up_limit = 0.10;

/* How near each model of memory is to come. */
struct model {
  const char *name;
  enum vinci_memory memory;
  double duration_limit;
};
static const struct model models[] = {
    {"flat memory", VINCI_MEMORY_FLAT, 0.15},
    {"cycle memory", VINCI_MEMORY_CYCLE, 0.08},
};

static int verdict(const struct model *model, const char *what, double error, double limit) {
  char name[128];
  snprintf(name, sizeof name, "%s, %s", model->name, what);
  enum accuracy_verdict verdict = accuracy_judge("accuracy_samples", name, fabs(error), limit);
  printf("  %+6.1f %%  within %.0f %%: %s\n", error * 100, limit * 100,
         fabs(error) > limit ? "NO" : "yes");
  return verdict == ACCURACY_MISSED || verdict == ACCURACY_MENDED;
}

static int compare(const struct model *model) {
  const char *source_folder = getenv("TESTS_SRCDIR");
  struct sample samples[SAMPLE_COUNT];
  samples_run(source_folder ? source_folder : ".", model->memory, samples);
  int missed = 0;
  printf("Vector add of 80 Mi halves on 8 AIV cores, Ascend910B4, %s (tests/reference/"
         "vector_add_910b4.csv)\n%-32s %12s %12s\n",
         model->name, "sample", "measured us", "simulated us");
  for (unsigned i = 0; i < SAMPLE_COUNT; i++) {
    printf("%-32s %12.2f %12.2f", samples[i].trace, samples[i].duration_us,
           sample_duration_us(&samples[i]));
    missed += verdict(model, samples[i].trace, sample_error(&samples[i]), model->duration_limit);
  }
  printf("%-32s %12s %12s\n", "change", "speed-up", "speed-up");
  for (unsigned i = 0; i < SPEED_UP_COUNT; i++) {
    double measured = speed_up_measured(samples, &sample_speed_ups[i]);
    double simulated = speed_up_simulated(samples, &sample_speed_ups[i]);
    printf("%-32s %12.2f %12.2f", sample_speed_ups[i].what, measured, simulated);
    missed += verdict(model, sample_speed_ups[i].what, simulated / measured - 1, speed_up_limit);
  }
  samples_free(samples);
  return missed;
}

int main(void) {
  int missed = 0;
  for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
    missed += compare(&models[i]);
  missed += !accuracy_exceptions_hold("accuracy_samples");
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
