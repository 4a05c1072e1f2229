/* SPDX-License-Identifier: Apache-2.0 */
/* Results of kernels as numbers of a file. */
#include "traces/graph/net_results.h"

#include <string.h>

#include "core/base/digest.h"
#include "core/base/store.h"

/* In their order; from PIPES on, one for each pipe. */
enum {
  DURATION,
  CORE,
  START,
  KIND,
  BLOCKS,
  BOUND,
  MIXED,
  HBM_BYTES,
  FOUND_BYTES,
  CUBE_PPM,
  PIPES,
  NUMBER_COUNT = PIPES + PIPE_COUNT
};

static const struct store_kind kernel_kind = {
    .head = "vinci-kernel 3", .suffix = "kernel", .count = NUMBER_COUNT};
_Static_assert((int)NUMBER_COUNT <= (int)STORE_NUMBERS_MAX, "a result has more numbers");

struct kept {
  uint64_t number[NUMBER_COUNT];
};

static struct kept kept_of(const struct net_node *node) {
  const struct call_times *times = &node->times;
  struct kept kept = {.number = {[DURATION] = times->duration_ps,
                                 [CORE] = times->core_ps,
                                 [START] = times->start_ps,
                                 [KIND] = times->kind,
                                 [BLOCKS] = times->blocks,
                                 [BOUND] = node->bound,
                                 [MIXED] = node->task.mixed,
                                 [HBM_BYTES] = node->hbm_bytes,
                                 [FOUND_BYTES] = node->found_bytes,
                                 [CUBE_PPM] = times->cube_ppm}};
  memcpy(kept.number + PIPES, times->pipe_ps, sizeof times->pipe_ps);
  return kept;
}

uint64_t net_result_digest(uint64_t seed, const struct net_launch *launch,
                           const struct kept_memory *memory) {
  uint64_t digest = digest_word(digest_word(seed, launch->trace->digest), kept_digest(memory));
  for (size_t i = 0; i < launch->input_count; i++)
    digest = digest_word(digest_word(digest, launch->inputs[i].address), launch->inputs[i].bytes);
  return digest_bytes(digest, launch->addresses,
                      launch->trace->tensor_count * sizeof *launch->addresses);
}

bool net_result_find(const char *folder, uint64_t digest, struct net_node *out) {
  struct kept kept;
  const uint64_t *number = kept.number;
  if (!store_find(&kernel_kind, folder, digest, kept.number) || number[KIND] >= CORE_KIND_COUNT ||
      number[BLOCKS] > UINT32_MAX || number[BOUND] > BOUND_NONE || number[MIXED] > 1)
    return false;
  out->from = NET_SIMULATED;
  out->times = (struct call_times){.duration_ps = number[DURATION],
                                   .core_ps = number[CORE],
                                   .start_ps = number[START],
                                   .kind = (enum core_kind)number[KIND],
                                   .blocks = (unsigned)number[BLOCKS],
                                   .cube_ppm = number[CUBE_PPM]};
  memcpy(out->times.pipe_ps, number + PIPES, sizeof out->times.pipe_ps);
  out->bound = (enum bound)number[BOUND];
  out->hbm_bytes = number[HBM_BYTES];
  out->found_bytes = number[FOUND_BYTES];
  out->task.duration_ps = number[DURATION];
  out->task.mixed = number[MIXED] == 1;
  return true;
}

enum vinci_status net_result_keep(const char *folder, uint64_t digest, const struct net_node *node,
                                  struct vinci_diag *diag) {
  struct kept kept = kept_of(node);
  return store_keep(&kernel_kind, folder, digest, kept.number, diag);
}

bool net_result_equals(const struct net_node *one, const struct net_node *other) {
  struct kept a = kept_of(one), b = kept_of(other);
  return memcmp(&a, &b, sizeof a) == 0;
}
