/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes a kernel again and again, each time in another order that its flags allow, without and
 * with data caches, and prints a line for each: "consumers 0 1a2b3c", the order, its seed, and a
 * number for the bytes of all outputs, or what has ended the kernel. A correct kernel has one
 * number.
 *
 *   schedules SOC LIBRARY:KERNEL BLOCKS ARG...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/machine/machine.h"
#include "core/machine/values.h"
#include "kernels/source/source.h"

enum { SEEDS = 6 };

static const struct schedule {
  const char *name;
  struct machine_options as;
  bool caches;
} schedules[] = {
    {"program", {.order = MACHINE_PROGRAM_ORDER}, false},
    {"consumers", {.order = MACHINE_CONSUMERS_FIRST}, false},
    {"producers", {.order = MACHINE_PRODUCERS_FIRST}, false},
    {"caches", {.order = MACHINE_CONSUMERS_FIRST}, true},
    {"shuffled", {.order = MACHINE_SHUFFLED}, false},
    {"relaxed", {.order = MACHINE_SHUFFLED, .relaxed = true}, false},
};

static uint64_t outputs(const struct vinci_values *values) {
  uint64_t digest = DIGEST_SEED;
  for (uint32_t i = 0; i < values->trace->tensor_count; i++) {
    const struct program_tensor *tensor = &values->trace->tensors[i];
    if (values_is_output(values, i) && tensor->io != TENSOR_WORKSPACE)
      digest = digest_bytes(digest, values_bytes(values, i), (size_t)tensor->bytes);
  }
  return digest;
}

static void run(const vinci_soc *soc, const struct source_request *request,
                const struct schedule *schedule, uint64_t seed) {
  struct vinci_diag diag = {0};
  struct vinci_trace *trace = NULL;
  struct vinci_values *values = NULL;
  struct source_request own = *request;
  struct machine_options as = schedule->as;
  own.wants_caches = schedule->caches;
  as.seed = seed;
  enum vinci_status status = source_load(soc, &own, &trace, &diag);
  if (status == VINCI_OK)
    status = vinci_values_create(soc, trace, &values, &diag);
  if (status == VINCI_OK) {
    vinci_values_fill(values, 1);
    status = values_run_as(values, &as, &diag);
  }
  printf("%s %llu ", schedule->name, (unsigned long long)seed);
  if (status == VINCI_OK)
    printf("%016llx\n", (unsigned long long)outputs(values));
  else
    printf("%s\n", vinci_status_text(status));
  vinci_values_free(values);
  vinci_trace_free(trace);
}

int main(int argc, char **argv) {
  vinci_soc *soc;
  struct vinci_diag diag = {0};
  char *colon = argc > 3 ? strrchr(argv[2], ':') : NULL;
  if (!colon || vinci_soc_load(argv[1], NULL, &soc, &diag) != VINCI_OK) {
    fprintf(stderr, "usage: schedules SOC LIBRARY:KERNEL BLOCKS ARG...\n");
    return 1;
  }
  *colon = '\0';
  struct source_request request = {.path = argv[2],
                                   .kernel = colon + 1,
                                   .blocks = (uint32_t)strtoul(argv[3], NULL, 10),
                                   .args = (const char *const *)(argv + 4),
                                   .arg_count = (size_t)argc - 4};
  for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
    uint64_t seeds = schedules[i].as.order == MACHINE_SHUFFLED ? SEEDS : 1;
    for (uint64_t seed = 0; seed < seeds; seed++)
      run(soc, &request, &schedules[i], seed);
  }
  vinci_soc_free(soc);
  return 0;
}
