/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the measured vector-add samples. */
#include "tests/support/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct speed_up sample_speed_ups[SPEED_UP_COUNT] = {
    {"double buffering", 0, 1},
    {"tile of 20480 instead of 2048", 2, 3},
};

static void give_up(const struct vinci_diag *diag) {
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

static void read_reference(const char *source_folder, struct sample samples[SAMPLE_COUNT]) {
  char path[4096], line[256], vec_us[32];
  snprintf(path, sizeof path, "%s/tests/reference/vector_add_910b4.csv", source_folder);
  FILE *file = fopen(path, "r");
  unsigned count = 0;
  while (file && count < SAMPLE_COUNT && fgets(line, sizeof line, file)) {
    struct sample *sample = &samples[count];
    *sample = (struct sample){0};
    if (line[0] == '#' || strncmp(line, "trace,", 6) == 0)
      continue;
    if (sscanf(line, "%63[^,],%lf,%31[^,],%" SCNu64 ",%" SCNu64, sample->trace,
               &sample->duration_us, vec_us, &sample->mte2_instructions,
               &sample->mte3_instructions) == 5 ||
        sscanf(line, "%63[^,],%lf,,%" SCNu64 ",%" SCNu64, sample->trace, &sample->duration_us,
               &sample->mte2_instructions, &sample->mte3_instructions) == 4)
      count++;
  }
  if (file)
    fclose(file);
  if (count == SAMPLE_COUNT)
    return;
  fprintf(stderr, "%s: %u of %d rows\n", path, count, SAMPLE_COUNT);
  exit(EXIT_FAILURE);
}

void samples_run(const char *source_folder, enum vinci_memory memory,
                 struct sample samples[SAMPLE_COUNT]) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  read_reference(source_folder, samples);
  if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) != VINCI_OK)
    give_up(&diag);
  for (unsigned i = 0; i < SAMPLE_COUNT; i++) {
    char path[4096];
    vinci_trace *trace = NULL;
    snprintf(path, sizeof path, "%s/traces/examples/%s.csv", source_folder, samples[i].trace);
    if (vinci_trace_load(path, soc, &trace, &diag) != VINCI_OK ||
        vinci_run(soc, trace, &options, &samples[i].result, &diag) != VINCI_OK)
      give_up(&diag);
    vinci_trace_free(trace);
  }
  vinci_soc_free(soc);
}

void samples_free(struct sample samples[SAMPLE_COUNT]) {
  for (unsigned i = 0; i < SAMPLE_COUNT; i++)
    vinci_result_free(samples[i].result);
}

double sample_duration_us(const struct sample *sample) {
  return (double)sample->result->total_ps / 1e6;
}

double sample_error(const struct sample *sample) {
  return sample_duration_us(sample) / sample->duration_us - 1;
}

double speed_up_measured(const struct sample *samples, const struct speed_up *speed_up) {
  return samples[speed_up->before].duration_us / samples[speed_up->after].duration_us;
}

double speed_up_simulated(const struct sample *samples, const struct speed_up *speed_up) {
  return sample_duration_us(&samples[speed_up->before]) /
         sample_duration_us(&samples[speed_up->after]);
}
